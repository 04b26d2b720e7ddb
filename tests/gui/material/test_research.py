"""The reference system among the ways in which reports are written: what it asks for, and that it runs."""

import pytest

from annotator.actions.items import report_lines
from annotator.gui.pages.material import research_fields
from tests.servers.research_server import JUDGE, research_project, researching, write_corpus


@pytest.fixture
def server():
    with researching() as server:
        yield server


@pytest.fixture
def corpus(tmp_path) -> str:
    return str(write_corpus(tmp_path / "corpus"))


@pytest.fixture
def form(tmp_path, server, show):
    page = show(research_project(tmp_path, server.url), "Reports")
    form = page.reports.form
    form.system.setText("Searcher")
    choose(form, research_fields.SEARCHES)
    return form


def choose(form, wanted: str) -> None:
    form.mode.setCurrentIndex(form.mode.findData(wanted))


def test_what_the_system_needs_takes_the_place_of_prompt_and_plan(form):
    assert form.research.corpus.isVisible()
    assert not any(field.isVisible() for field in (form.planned, form.condition, form.cutoff, form.filed_as))
    choose(form, research_fields.ON_ARXIV)
    assert not form.research.corpus.isVisible()
    choose(form, "end-to-end")
    assert form.condition.isVisible()


def test_the_baseline_is_offered_where_it_can_write(form):
    assert [form.judge.itemText(row) for row in range(form.judge.count())] == [JUDGE, "baseline"]
    choose(form, "end-to-end")
    assert [form.judge.itemText(row) for row in range(form.judge.count())] == [JUDGE]


def test_an_order_says_what_the_fields_say(form, corpus):
    form.research.corpus.setText(corpus)
    form.research.rounds.setValue(1)
    form.research.keep.setValue(3)
    assert form.order().protocol == "respond.research|rounds=1|keep=3"
    assert form.order().corpus == corpus
    choose(form, research_fields.ALL_IMPORTANT)
    assert form.order().protocol == "respond.research|oracle=all"


@pytest.mark.parametrize("place", ["/nowhere at all", "x" * 3000, "a\x00b"])
def test_what_cannot_be_searched_is_said_before_the_start(place, form):
    form.research.corpus.setText(place)
    assert form.words.text() == "There is no such file or folder of works."
    assert not form.begin.isEnabled()
    form.research.corpus.clear()
    assert form.order().corpus == ""
    form.judge.setCurrentIndex(1)
    assert "asks nobody" in form.words.text()
    assert form.order() is None


def test_the_calls_are_estimated_before_the_start(form, server, corpus, qtbot):
    form.research.corpus.setText(corpus)
    qtbot.waitUntil(lambda: "at most" in form.estimate.text())
    assert server.bodies == []


@pytest.mark.parametrize("judge", [0, 1])
def test_a_report_is_written(form, corpus, qtbot, judge):
    form.research.corpus.setText(corpus)
    form.judge.setCurrentIndex(judge)
    with qtbot.waitSignal(form.came, timeout=60_000):
        form.start()
    assert "1 of 1 reports are there" in form.answer.text()
    found = report_lines.reports(form._desk.project)
    assert found.columns == (("Searcher", "end-to-end"),)
