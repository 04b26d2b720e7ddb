"""The pages that claims cite: fetched once from a real server, kept, and read as plain text."""

import threading

import pytest

from annotator.actions.items import cited_pages, pages
from annotator.actions.project.people import new_project
from annotator.domain.material.page import PageState
from tests.exchange.pages.page_server import Given, article
from tests.projects.material_project import FIRST, keep_claims
from tests.windows.labelling_keys import press
from tests.windows.run_keys import run_panel


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
        for one in cited_pages.cited(project).pages
    }


def fetched(page, qtbot, start) -> None:
    with qtbot.waitSignal(page.pages.fetching.run.ended):
        start()
    qtbot.waitUntil(lambda: not page.desk._errands and not page._later.isActive())


def test_cited_pages_are_listed_before_they_are_fetched(page, project):
    assert states(project) == {"a": "never", "b": "never"}
    assert "2 of 2 cited pages are to be fetched" in page.pages.fetching.words.text()
    assert page.pages.model.index(0, 0).data() == "never fetched"
    assert [page.pages.claims.topLevelItem(0).text(column) for column in (0, 1, 2)] == ["1", "Alpha", FIRST]


@pytest.mark.usefixtures("real_children")
def test_pages_are_fetched_in_a_process_of_its_own_and_read_as_plain_text(page, project, qtbot):
    page.pages.fetching.private.setChecked(True)
    fetched(page, qtbot, lambda: press("Ctrl+Shift+Return"))
    assert states(project) == {"a": "ok", "b": "dead"}
    page.pages.go_to(next(one.url for one in cited_pages.cited(project).pages if one.state is PageState.OK))
    assert "Residual connections let gradients pass" in page.pages.text.text()
    assert page.pages.title.text() == "A study"
    assert page.pages.state.words()[0] == "read"


def test_a_page_that_cannot_be_read_says_why(page, project, qtbot):
    page.pages.fetching.private.setChecked(True)
    fetched(page, qtbot, page.pages.fetching.start)
    page.pages.shown.hold(type(page.pages.shown.held).UNREADABLE)
    assert page.pages.model.rowCount() == 1
    assert "There is no such page any more (404)." in page.pages.cause.text()
    assert "supports and contradicts nothing" in page.pages.cause.text()


def test_private_addresses_are_asked_only_when_that_is_allowed(page, project, pages_server, qtbot):
    fetched(page, qtbot, page.pages.fetching.start)
    assert states(project) == {"a": "forbidden", "b": "forbidden"}
    assert pages_server.asked == []


def test_a_text_that_was_read_outlives_its_page(page, project, pages_server, qtbot):
    page.pages.fetching.private.setChecked(True)
    fetched(page, qtbot, page.pages.fetching.start)
    pages_server.pages.clear()
    page.pages.fetching.refresh.setChecked(True)
    fetched(page, qtbot, page.pages.fetching.start)
    assert states(project) == {"a": "ok", "b": "dead"}
    assert "the earlier text was kept" in page.pages.fetching.answer.text()


@pytest.mark.usefixtures("real_children")
def test_pages_can_be_taken_from_a_folder(page, project, pages_server, tmp_path, qtbot):
    folder = tmp_path / "saved"
    folder.mkdir()
    (folder / "a.html").write_text(article("From the folder").body, "utf-8")
    (folder / "pages.csv").write_text(f"url,file\n{pages_server.url('/a')},a.html\n", "utf-8")
    fetched(page, qtbot, lambda: page.pages.fetching.take_in(folder))
    assert states(project) == {"a": "ok", "b": "never"}
    assert pages.page(project, pages_server.url("/a")).title == "From the folder"


def test_fetching_is_paused_and_goes_on(page, project, pages_server, qtbot):
    let_go = threading.Event()

    def late(_number):
        let_go.wait(60)
        return article("A study")

    pages_server.pages |= {"/a": late, "/b": late}
    page.pages.fetching.private.setChecked(True)
    run = page.pages.fetching.run
    page.pages.fetching.start()
    qtbot.waitUntil(lambda: len(pages_server.asked) >= 2)
    press("Ctrl+H")
    panel = run_panel(page, run)
    assert (run.held, panel.hold.text().split("\u2003")[0]) == (True, "Resume")
    press("Ctrl+H")
    assert not run.held
    with qtbot.waitSignal(run.ended):
        let_go.set()
    assert states(project) == {"a": "ok", "b": "ok"}
    assert panel.isHidden()


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
    assert page.tabs.currentWidget() is page.parts
    assert page.parts.editor.unit.text == FIRST


def test_a_claims_page_is_shown_from_the_claim(page, pages_server, qtbot):
    page.tabs.setCurrentWidget(page.parts)
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    page.parts.editor.cited.click()
    qtbot.waitUntil(lambda: page.pages.address.text() != "")
    assert page.tabs.currentWidget() is page.pages
    assert page.pages._url == pages.normal(pages_server.url("/a"))


def test_an_empty_project_says_what_comes_first(tmp_path, show, qtbot):

    page = show(new_project(tmp_path / "empty.goldsmith"), "Cited pages")
    assert page.pages._body.currentWidget() is page.pages._nothing
    assert "No claim of this project cites an address yet" in page.pages.fetching.words.text()
    assert not page.pages.fetching.begin.isEnabled()
