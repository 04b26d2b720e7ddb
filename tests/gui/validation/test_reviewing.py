"""Verdicts reviewed openly by the keyboard alone, and what whoever labels blind is told instead."""

from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.sets.reviews import ReviewOrder
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.judges.informed import Review
from annotator.gui.pages.validation.cases.verdict_cases import CASE_ROLE, CaseFilter
from tests.projects.verdicts_project import JUDGE, verdicts_project
from tests.windows.judges_window import choose
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle

VERDICTS = 14


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """R3, who labels nothing, works; the window over it closes it."""
    project = verdicts_project(tmp_path)
    project.work_as(people.known(project, "R3"))
    return project


@pytest.fixture
def opened(page_over: Any, monkeypatch: pytest.MonkeyPatch) -> Any:

    def open_(project: Project) -> Any:
        page = page_over(project, "Validate", part="Reviews")
        settle(page)
        page.focus_first()
        return page

    return open_


def said(project: Project) -> list[tuple[str, str, str]]:
    found = reviews.outlook(project, JUDGE).lines
    return sorted((one.said, one.reason, one.note) for one in found if one.said)


def test_an_expert_sees_reviews_alone(opened: Any, project: Project) -> None:
    page = opened(project)
    tabs = page.tabs
    assert [tabs.tabText(n) for n in range(tabs.count()) if tabs.isTabVisible(n)] == ["Reviews"]
    assert page.part is page.reviewing
    assert "accept" not in page.reviewing.told.text()


def test_one_key_reviews_and_goes_on_and_a_reason_is_for_what_was_answered_last(
    opened: Any, project: Project
) -> None:
    opened(project)
    for key in "129-":
        press(key)
    assert said(project) == [("agree", "", ""), ("disagree", "too lenient", ""), ("unsure", "", "")]


def test_whoever_wishes_stays_until_a_reason_is_given(opened: Any, project: Project) -> None:
    page = opened(project)
    bench = page.reviewing.bench
    bench.card.waiting.setChecked(True)
    press("1")
    at = bench.key
    press("2")
    assert (bench.key, bench.card.reasons.asks()) == (at, True)
    press("1")
    assert (bench.key, bench.case.said) == (at, "disagree")
    assert "waits for a reason" in page.reviewing.answer.text()
    press("9")
    assert bench.key != at
    press("-")
    assert said(project) == [("agree", "", ""), ("disagree", "too lenient", ""), ("unsure", "", "")]
    assert bench.pane.left.text() == f"3 of {VERDICTS} reviewed"


def test_a_note_goes_with_a_review(opened: Any, project: Project) -> None:
    page = opened(project)
    press("1")
    press("Ctrl+PgUp")
    press("Ctrl+M")
    type_words("Seen on page 3")
    press("Ctrl+J")
    assert said(project) == [("agree", "", "Seen on page 3")]
    assert page.reviewing.bench.case.said == ""


def test_undo_takes_a_review_back(opened: Any, project: Project) -> None:
    page = opened(project)
    first = page.reviewing.bench.key
    press("1")
    press("Ctrl+Z")
    settle(page)
    assert (page.reviewing.bench.key, said(project)) == (first, [])


def test_no_system_is_named(opened: Any, project: Project) -> None:
    page = opened(project)
    bench = page.reviewing.bench
    listed = [bench.cases.index(row).data() for row in range(bench.cases.rowCount())]
    shown = [bench.card.where.text(), bench.card.unit.text(), bench.reading.first.report.accessibleName()]
    assert not any("Canary" in words for words in (*listed, *shown))


def test_the_order_is_chosen(opened: Any, project: Project) -> None:
    page = opened(project)
    choose(page.reviewing.choices.boxes["order"], "weight")
    page.reviewing.choices.changed.emit()
    settle(page)
    cases = page.reviewing.bench.cases
    weights = [cases.index(row).data(CASE_ROLE).place.weight for row in range(cases.rowCount())]
    assert weights == sorted(weights, reverse=True)


def test_whoever_is_still_to_label_blind_is_told_so(opened: Any, project: Project) -> None:
    project.work_as(people.known(project, "R1"))
    ben = people.known(project, "R3").id
    assignments.assign(
        project, AssignmentPlan((Stage.LABELLING,), 1, (ben,), items=tuple(items.ids(project)), seed=1)
    )
    project.work_as(people.known(project, "R3"))
    page = opened(project)
    assert "still have to label these reports" in page.reviewing.nothing._headline.text()
    press("Space")
    assert page.window().page.NAME == "Label"


def test_what_others_have_reviewed_comes_up_where_two_are_wanted(opened: Any, project: Project) -> None:
    project.work_as(people.known(project, "R2"))
    for one in reviews.queue(project, JUDGE):
        reviews.review(project, JUDGE, *one.place.key, Review.AGREE)
    project.work_as(people.known(project, "R3"))
    page = opened(project)
    assert "Others have reviewed" in page.reviewing.nothing._headline.text()
    choose(page.reviewing.choices.boxes["experts"], "2")
    page.reviewing.choices.changed.emit()
    settle(page)
    assert page.reviewing.bench.cases.counted(CaseFilter.ALL) == VERDICTS


def test_a_coordinator_is_told_how_much_is_accepted(opened: Any, project: Project) -> None:
    project.work_as(people.known(project, "R1"))
    page = opened(project)
    press("1", times=3)
    settle(page)
    assert "Experts accept 1.000" in page.reviewing.told.text()
    assert "3 reviewed verdicts" in page.reviewing.told.text()


def test_letter_15_a_key_names_the_error_of_a_drawn_report(opened: Any, project: Project) -> None:
    project.work_as(people.known(project, "R1"))
    page = opened(project)
    page.reviewing.go({"order": "errors"})
    settle(page)
    part = page.reviewing
    assert (part.drawing.isVisible(), part.nothing.isVisible()) == (True, True)
    part.drawing.many.setValue(1)
    part.drawing.button.click()
    settle(page)
    assert part.drawing.told.text() == "2 reports drawn."
    part.focus_first()
    first = part.bench.key
    assert [one.text().split("\u2003")[0] for one in part.bench.card.kinds.buttons if one.isVisible()] == [
        "All of it", "A part",
    ]  # fmt: skip
    press("S")
    settle(page)
    assert part.bench.key != first
    kinds = {one.kind: one.said for one in reviews.outlook(project, JUDGE, order=ReviewOrder.ERRORS).lines}
    assert kinds == {"partial_missing": "agree", "": ""}
    press("2")
    assert not part.bench.card.kinds.isVisible()
    press("Ctrl+Z")
    settle(page)
    press("Ctrl+Z")
    settle(page)
    kept = [one.kind for one in reviews.outlook(project, JUDGE, order=ReviewOrder.ERRORS).lines]
    assert (kept, page.isVisible()) == (["", ""], True)
