"""The pages that claims cite: fetched once from a real server, kept, and read as plain text."""

import pytest

from annotator.actions.items import pages
from annotator.domain.material.item import PageState
from tests.exchange.pages.page_server import Given
from tests.projects.material_project import FIRST, keep_claims
from tests.windows.using import press


@pytest.fixture
def project(project, pages_server):
    # Each under another name of loopback, so that none waits for the other.
    keep_claims(project, pages_server.url("/a"), pages_server.url("/b", "localhost"))
    return project


@pytest.fixture
def page(project, show, qtbot):
    page = show(project, "Cited pages")
    qtbot.waitUntil(lambda: page.pages.model.rowCount() == 2)
    return page


def states(project) -> dict[str, str]:
    return {
        one.url.rsplit("/", 1)[1]: one.state.value if one.state else "never"
        for one in pages.cited_states(project).pages
    }


def fetched(page, qtbot, start) -> None:
    with qtbot.waitSignal(page.pages.fetching.run.ended):
        start()
    qtbot.waitUntil(lambda: not page.session._tasks_behind and not page._later.isActive())


@pytest.mark.usefixtures("real_children")
def test_pages_are_fetched_by_key_and_read_as_plain_text(page, project, qtbot):
    page.pages.fold.open()
    page.pages.fetching.private.setChecked(True)
    fetched(page, qtbot, lambda: press("Ctrl+Shift+Return"))
    assert states(project) == {"a": "ok", "b": "dead"}
    page.pages.go(
        {"url": next(one.url for one in pages.cited_states(project).pages if one.state is PageState.OK)}
    )
    assert "Residual connections let gradients pass" in page.pages.text.text()
    assert page.pages.title.text() == "A study"
    assert page.pages.state.words()[0] == "read"


def test_fetching_is_stopped_by_the_key_and_keeps_what_came(page, project, pages_server, qtbot):
    pages_server.pages |= {"/b": Given(held=True)}
    page.pages.fetching.private.setChecked(True)
    with qtbot.waitSignal(page.pages.fetching.run.progressed):
        page.pages.fetching.start()
    with qtbot.waitSignal(page.pages.fetching.run.ended):
        press("Ctrl+.")
    assert states(project) == {"a": "ok", "b": "never"}
    assert "(cancelled)" in page.pages.fetching.answer.text()


def test_a_claim_that_cites_the_page_is_shown_in_its_report(page, qtbot):
    page.pages.claims.setCurrentItem(page.pages.claims.topLevelItem(0))
    page.pages._ask_claim()
    qtbot.waitUntil(lambda: page.parts.editor.unit is not None)
    assert page.part is page.parts
    assert page.parts.editor.unit.text == FIRST
