"""That a judge is tried out on a page as long as the longest report it would have to read."""

import asyncio

import pytest
from sqlalchemy import select, update

from annotator.actions.judges import endpoint_memory
from annotator.actions.judges.judges import named
from annotator.actions.judging import judge_planning, judge_probes
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.probe import FILLER_CHARACTERS
from annotator.storage.tables import RESPONSE
from tests.judging.odd_server import OddServer, error
from tests.projects.adra_project import say
from tests.servers.served import JUDGE

pytestmark = pytest.mark.usefixtures("distant_judge")


def page(project: Project, server: OddServer) -> int:
    server.script(error(404, "The model does not exist"))
    asyncio.run(judge_probes.test(project, JUDGE))
    return len(server.bodies[0]["messages"][1]["content"])


def test_the_page_is_never_shorter_than_usual(project: Project, server: OddServer) -> None:
    assert page(project, server) >= FILLER_CHARACTERS


def test_the_page_is_as_long_as_the_longest_report(project: Project, server: OddServer) -> None:
    with project.store.write() as db:
        db.execute(update(RESPONSE).values(text="x" * 90_000))
    assert page(project, server) >= 90_000


def test_a_judge_that_failed_its_test_runs_only_when_told_to_and_its_figures_say_so(
    project: Project, server: OddServer
) -> None:
    page(project, server)
    asked, order = len(server.bodies), RunRequest(JUDGE, together=1)
    with pytest.raises(Refusal, match="failed its last test") as refusal:
        asyncio.run(orders.carry_out(project, order))
    assert "--use-anyway" in refusal.value.todo
    assert judge_planning.look(project, order).refused
    assert len(server.bodies) == asked
    with project.store.write() as db:
        item_id, response_id = db.execute(select(RESPONSE.c.item_id, RESPONSE.c.id)).first() or ("", "")
    say(
        project,
        "researcherbench.coverage",
        item_id,
        response_id,
        {"c": "yes"},
        rater_id=named(project, JUDGE).id,
    )
    endpoint_memory.accept(project, named(project, JUDGE))
    assert not judge_planning.look(project, order).refused
    (rater,) = result_raters.raters(project, "researcherbench.coverage")
    assert rater.remark.startswith(f"{JUDGE} failed its test: ")
    endpoint_memory.keep_test(project, named(project, JUDGE), "")
    assert result_raters.raters(project, "researcherbench.coverage")[0].remark == ""
