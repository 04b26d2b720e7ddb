"""Validate's parts over some thousand verdicts: each shows what it counted, and counts it once."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items, materials
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.validation import disagreements
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.judges.informed import Review
from annotator.gui.pages.validation.cards.card_view import MAKING
from annotator.gui.pages.validation.page import ValidatePage
from annotator.gui.widgets.reading.report_view import ReportView
from tests.projects import judged_project
from tests.templates import once
from tests.windows.labelling_keys import press
from tests.windows.settling import settle

PARTS = ("Figures", "Disagreements", "Reviews", "Cards")
ITEMS, CRITERIA, SYSTEMS = 30, 15, 5
VERDICTS = ITEMS * CRITERIA * SYSTEMS


@once
def labelled_and_judged(folder: Path) -> Project:
    """A judge judged everything, two people labelled most of it."""
    source = judged_project.peer_folder(folder / "peer", ITEMS, CRITERIA, SYSTEMS, 200)
    project = judged_project.imported(folder / "many.goldsmith", source)
    people.someone(project)
    judged_project.judge_everything(project, 1)
    for name, alike in (("Ann", 0.9), ("Ben", 0.8)):
        judged_project.label_everything(project, name, 0.6, alike)
    return project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return labelled_and_judged(tmp_path)


@pytest.fixture
def visit(page_over: Any, project: Project) -> Callable[[str], ValidatePage]:
    """Goes to a part, as a click on its tab does, and lets everything come home."""
    page = page_over(project, "Validate")

    def to(part: str) -> ValidatePage:
        page.tabs.setCurrentIndex(page.TABS.index(part))
        settle(page)
        return page

    return to


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    read, each = list[object](), materials.each
    monkeypatch.setattr(materials, "each", lambda *of: read.append(of) or each(*of))
    return read


def test_figures_show_every_judge(visit: Any) -> None:
    viewer = visit("Figures").figures.viewer
    assert viewer.view.model.rowCount() == 1
    assert viewer.hint.text() == viewer.named("answer").about


def test_disagreements_show_every_case_and_then_their_figures(visit: Any, project: Project) -> None:
    part = visit("Disagreements").ruling
    found = disagreements.outlook(project, ValidationQuery(judge="judge 000")).shown
    assert part.bench.cases.rowCount() == len(found) > 100
    assert f"{len(found):,} disagreements not ruled on" in part.strip.words.text()


def test_reviews_show_every_verdict(visit: Any) -> None:
    part = visit("Reviews").reviewing
    assert part.bench.cases.rowCount() == VERDICTS
    assert part.bench.pane.left.text() == f"0 of {VERDICTS:,} reviewed"


def test_a_card_is_told_at_once_and_then_whole(visit: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    shown, show = list[str](), ReportView.show_html
    monkeypatch.setattr(ReportView, "show_html", lambda view, html: (shown.append(html), show(view, html)))
    view = visit("Cards").cards.view
    first, last = shown
    assert "It is still being made" in first
    assert "SHA-256" not in first
    assert view.card.sha256 in last
    assert view.state.text() != MAKING
    kappa = f"<b>{view.card.of('judge').plain['kappa'].value:.3f}</b>"
    assert kappa in first
    assert kappa in last


def test_what_was_counted_is_not_counted_again(visit: Any, readings: list[object]) -> None:
    for part in PARTS:
        visit(part)
    readings.clear()
    for part in PARTS:
        visit(part)
    assert readings == []


def test_reading_other_reports_moves_no_figure(visit: Any, readings: list[object]) -> None:
    page = visit("Reviews")
    page.focus_first()
    visit("Cards")
    visit("Reviews")
    readings.clear()
    before = page.reviewing.bench.case.place.response_id
    for _ in range(3):
        press("Ctrl+PgDown")
    assert page.reviewing.bench.case.place.response_id != before
    visit("Cards")
    visit("Reviews")
    assert readings == []


def test_what_is_said_is_counted_at_the_next_look(visit: Any, project: Project) -> None:
    for part in PARTS:
        visit(part)
    one = reviews.queue(project, "judge 000")[0]
    page = visit("Sets")
    page.desk.do(reviews.review, "judge 000", *one.place.key, Review.AGREE)
    page = visit("Reviews")
    assert page.reviewing.bench.pane.left.text() == f"1 of {VERDICTS:,} reviewed"
    assert visit("Cards").cards.view.card.reviews.said == {"agree": 1}


def test_a_ruling_moves_no_unit(visit: Any, readings: list[object]) -> None:
    page = visit("Disagreements")
    page.focus_first()
    readings.clear()
    press("1")
    settle(page)
    visit("Sets")
    assert "after the rulings" in visit("Disagreements").ruling.strip.words.text()
    assert readings == []


def test_what_is_worded_anew_is_read_anew(visit: Any, readings: list[object]) -> None:
    page = visit("Disagreements")
    readings.clear()
    page.desk.do(items.change, page.ruling.bench.case.place.item_id, retired=True)
    settle(page)
    assert readings != []
