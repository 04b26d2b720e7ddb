"""Disagreements ruled on and verdicts reviewed by the keyboard alone: one key each, reasons, notes, undo."""

from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.validation import disagreements, validation
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.gui.pages.validation.case_bench import LINE_ROLE, CaseBench
from annotator.gui.pages.validation.case_cards import CaseFilter, VerdictCase
from tests.projects.judged_project import judge_everything
from tests.projects.small_projects import empty_project
from tests.projects.validation_project import CLAIMS, JUDGE, PAIRS, PLAN, protocols_project, verdicts_project
from tests.windows.judges_window import choose
from tests.windows.using import press, settle, type_words

CASES = 9


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return verdicts_project(tmp_path)


@pytest.fixture
def page(project: Project, page_at_rest: Any) -> Any:
    return page_at_rest(project, "Validate", part="Disagreements", judge=JUDGE)


def shown_in(bench: CaseBench) -> list[VerdictCase]:
    return [bench.cases.index(row).data(LINE_ROLE) for row in range(bench.cases.rowCount())]


def ruled(project: Project) -> list[tuple[str, str, str]]:
    query = validation.ValidationQuery(judge=JUDGE)
    return [(one.ruling, one.reason, one.note) for one in disagreements.queue(project, query) if one.ruling]


def test_one_key_rules_the_next_open_one_comes_and_undo_brings_the_case_back(
    page: Any, project: Project
) -> None:
    bench, first = page.ruling.bench, page.ruling.bench.key
    press("3")
    assert bench.key != first
    press("Ctrl+Z")
    settle(page)
    assert (bench.key, bench.case.ruling, ruled(project)) == (first, "", [])
    press("Ctrl+Shift+Z")
    settle(page)
    assert (bench.key, bench.case.ruling) == (first, "criterion unclear")
    bench.next_open()
    press("8", "1", "1", "Ctrl+PgUp", "5")
    assert sorted(ruled(project)) == [
        ("criterion unclear", "", ""), ("judge wrong", "saw what the report does not say", ""),
        ("judge wrong", "too strict", ""),
    ]  # fmt: skip
    assert bench.pane.left.text() == f"3 of {CASES} ruled"


def test_a_note_stays_with_its_case_and_a_choice_is_not_taken_back_by_an_answer_to_the_one_before(
    page: Any, project: Project
) -> None:
    card, first = page.ruling.bench.card, page.ruling.bench.key
    press("Ctrl+M")
    type_words("Of the first")
    press("Ctrl+J")
    assert page.ruling.bench.key != first
    assert card.note.toPlainText() == ""
    type_words("Of the second")
    page.ruling.bench.open(first)
    assert card.note.toPlainText() == "Of the first"
    page.ruling.bench.next_open()
    press("Esc", "2")
    assert ruled(project) == [("person wrong", "", "Of the second")]
    part = page.ruling
    part.look()
    choose(part.choices.lists["judge"], "*")
    settle(page)
    assert part.choices.values()["judge"] == "*"
    assert part.bench.cases.counted(CaseFilter.ALL) == 14


@pytest.mark.parametrize("told", [True, False])
def test_a_note_stays_with_its_case_when_undo_brings_another(page: Any, project: Project, told: bool) -> None:
    bench, first = page.ruling.bench, page.ruling.bench.key
    press("3")
    second = bench.key
    press("Ctrl+M")
    type_words("Of the second")
    if told:
        bench.card.note.tell()
    page.session.undo()
    settle(page)
    assert (bench.key, bench.card.note.toPlainText()) == (first, "")
    bench.open(second)
    assert bench.card.note.toPlainText() == "Of the second"


def test_both_passages_are_marked_no_system_is_named_and_only_the_second_column_moves(page: Any) -> None:
    bench = page.ruling.bench
    report = bench.reading.first.report
    assert {mark.kind for mark in report.marks()} == {"judge", "evidence", "other"}
    (judge,), (person,), (both,) = (report.marks(kind) for kind in ("judge", "evidence", "other"))
    assert (both.start, both.end) == (max(judge.start, person.start), min(judge.end, person.end))
    assert bench.reading.legend.accessibleName() == f"Marked: {JUDGE}, R2, both"
    said = " ".join(widget.text() for widget in (bench.card.unit, bench.card.where, bench.reading.question))
    assert "Canary" not in said + report.accessibleName()
    # An Arabic key would otherwise draw the words beside it over to its side.
    assert bench.card.where.text().startswith(f"Item \u2068{bench.case.place.item_key}\u2069 · weight")
    before = page.ruling.strip.words.text()
    assert "First labels stay the metric" in page.ruling.strip.rule.text()
    press("2", 3)
    settle(page)
    after = page.ruling.strip.words.text()
    # Five of fourteen agree; three that were ruled for the judge make it eight.
    assert "first labels: accuracy 0.36 ·" in before
    assert "accuracy 0.36 → 0.57" in after
    assert "6 disagreements not ruled on" in after


def test_a_criterion_is_worded_anew_and_ordered_by_the_keyboard(page: Any, project: Project) -> None:
    press("3")
    unit = page.ruling._look.outlook.shown[0].place.unit_id
    press("Ctrl+U")
    settle(page)
    panel = page.ruling.unclear
    assert panel.list.count() == 1
    assert f"{JUDGE} says “Met”" in panel.cases.text()
    press("Ctrl+A")
    type_words("Explains the role of the identity path")
    press("Ctrl+Return")
    settle(page)
    assert "reworded" in page.ruling.answer.text()
    assert (panel.list.count(), disagreements.unclear(project)) == (0, [])
    assert "2 judgements of “small-judge” on 1 unit reworded" in panel.again.text()
    press("Ctrl+Shift+U")
    waiting = judge_runs.waiting(project)
    assert {one.order.judge for one in waiting} == {"small-judge", "other-judge"}
    assert {one.order.items for one in waiting} == {("1",)}
    press("Ctrl+U")
    settle(page)
    assert unit not in {one.place.unit_id for one in shown_in(page.ruling.bench)}


def test_where_no_judge_has_judged_one_is_led_to_the_runs(tmp_path: Path, page_at_rest: Any) -> None:
    page = page_at_rest(empty_project(tmp_path), "Validate", part="Disagreements")
    window = page.window()
    for part, shown, headline in (
        ("Disagreements", page.ruling, "No judge has"),
        ("Reviews", page.reviewing, "No verdicts to review"),
    ):
        settle(window.show_page("Validate", part=part))
        page.focus_first()
        assert headline in shown.nothing._headline.text()
        assert not shown.choices.isVisible()
        press("Space")
        assert window.page.NAME == "Judges"


def test_what_is_lacking_is_told_in_words_of_the_window(small: Project, page_at_rest: Any) -> None:
    judge_everything(small, 1)
    told = page_at_rest(small, "Validate", part="Disagreements").ruling.nothing._words.text()
    assert "Label page" in told
    assert "goldsmith " not in told


@pytest.mark.parametrize(
    ("protocol", "beside"), [(CLAIMS, "Cited page"), (PAIRS, "Second report"), (PLAN, "")]
)
def test_the_cited_page_or_the_second_report_stands_beside(
    tmp_path: Path, page_at_rest: Any, protocol: str, beside: str
) -> None:
    page = page_at_rest(protocols_project(tmp_path), "Validate", part="Disagreements", protocol=protocol)
    reading = page.ruling.bench.reading
    assert reading.beside.isVisible() is bool(beside)
    assert reading.beside.head.text().startswith(beside)
    if protocol == CLAIMS:
        assert [mark.kind for mark in reading.beside.report.marks()] == ["judge"]
        assert reading.legend.accessibleName() == f"Marked: {JUDGE}, the claim"
    press("3", "Ctrl+U")
    settle(page)
    panel = page.ruling.unclear
    assert panel.settle_button.isEnabled() is (protocol == PLAN)
    assert ("come from the reports" in panel.refused.text()) is (protocol != PLAN)


@pytest.fixture
def reviewed(tmp_path: Path) -> Project:
    """R3, who labels nothing, works; the window over it closes it."""
    project = verdicts_project(tmp_path)
    project.work_as(people.known(project, "R3"))
    return project


def said(project: Project) -> list[tuple[str, str, str]]:
    result = reviews.outlook(project, JUDGE).lines
    return sorted((one.verdict, one.reason, one.note) for one in result if one.verdict)


def test_an_expert_sees_reviews_alone_names_no_system_and_answers_each_by_one_key(
    page_at_rest: Any, reviewed: Project
) -> None:
    page = page_at_rest(reviewed, "Validate", part="Reviews")
    tabs = page.tabs
    assert [tabs.tabText(n) for n in range(tabs.count()) if tabs.isTabVisible(n)] == ["Reviews"]
    assert page.part is page.reviewing
    assert "accept" not in page.reviewing.note.text()
    bench = page.reviewing.bench
    listed = [bench.cases.index(row).data() for row in range(bench.cases.rowCount())]
    shown = [bench.card.where.text(), bench.card.unit.text(), bench.reading.first.report.accessibleName()]
    assert not any("Canary" in words for words in (*listed, *shown))
    # A reason is for what was answered last.
    for key in "129-":
        press(key)
    assert said(reviewed) == [("agree", "", ""), ("disagree", "too lenient", ""), ("unsure", "", "")]


def test_whoever_is_still_to_label_blind_is_told_so(page_at_rest: Any, reviewed: Project) -> None:
    reviewed.work_as(people.known(reviewed, "R1"))
    ben = people.known(reviewed, "R3").id
    assignments.assign(
        reviewed, AssignmentPlan((Stage.LABELLING,), 1, (ben,), items=tuple(items.ids(reviewed)), seed=1)
    )
    reviewed.work_as(people.known(reviewed, "R3"))
    page = page_at_rest(reviewed, "Validate", part="Reviews")
    assert "still have to label these reports" in page.reviewing.nothing._headline.text()
    press("Space")
    assert page.window().page.NAME == "Label"
