"""That a judge is tried out on a page as long as the longest report it would have to read."""

import asyncio

import pytest
from sqlalchemy import update

from annotator.actions.items.materials import RESPONSE
from annotator.actions.judging import judge_probes
from annotator.actions.project.file import Project
from annotator.judging.calls.probe import FILLER_CHARACTERS
from tests.judging.odd_server import OddServer, error
from tests.servers.served import JUDGE

pytestmark = pytest.mark.usefixtures("distant_judge")


def page(project: Project, server: OddServer) -> int:
    """How many characters the endpoint was given to read."""
    server.script(error(404, "The model does not exist"))
    asyncio.run(judge_probes.test(project, JUDGE))
    return len(server.bodies[0]["messages"][1]["content"])


def test_the_page_is_never_shorter_than_usual(project: Project, server: OddServer) -> None:
    assert page(project, server) >= FILLER_CHARACTERS


def test_the_page_is_as_long_as_the_longest_report(project: Project, server: OddServer) -> None:
    with project.store.write() as db:
        db.execute(update(RESPONSE).values(text="x" * 90_000))
    assert page(project, server) >= 90_000
