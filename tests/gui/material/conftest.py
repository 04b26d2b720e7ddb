"""A project with reports, claims and cited pages, and the coordinator's page over it."""

from collections.abc import Iterator

import pytest

from annotator.actions.project.file import Project
from tests.exchange.pages.page_server import Given, PageServer, article, serving
from tests.judging.odd_server import OddServer
from tests.projects.material_project import keep_claims
from tests.projects.small_projects import small_project
from tests.servers.writing_server import writing


@pytest.fixture
def pages_server() -> Iterator[PageServer]:
    with serving() as running:
        running.pages |= {"/a": article("A study"), "/b": Given(status=404)}
        yield running


@pytest.fixture
def writer() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def project(tmp_path) -> Project:
    """Items “1” and “2”, systems Alpha and Beta, four reports; two claims of the first."""
    made = small_project(tmp_path)
    keep_claims(made, "https://a.example/x", "")
    return made


@pytest.fixture
def show(page_over, qtbot):
    """The page at one of its parts, once it has read what is there."""

    def make(over: Project, part: str, **place: object):
        page = page_over(over, "Material", part=part, **place)
        qtbot.waitUntil(lambda: not page.session._tasks_behind)
        return page

    return make
