"""The page of judges over small projects, with judges behind a real server on loopback."""

from typing import Any

import pytest

from annotator.actions.project.file import Project
from tests.judging.odd_server import OddServer
from tests.servers.served import add_judge, replies
from tests.windows.using import settle


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = replies
    return server


@pytest.fixture
def served(small: Project, server: OddServer) -> Project:
    add_judge(small, server)
    return small


@pytest.fixture
def show(page_over):
    """The page over a project at one of its parts, with all that it asks for at rest."""

    def make(project: Project, part: str = "Judges", **place: Any):
        page = page_over(project, "Judges", part=part, **place)
        page.focus_first()
        settle(page)
        return page

    return make
