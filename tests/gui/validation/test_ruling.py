"""Disagreements ruled on by the keyboard alone: one key each, reasons, notes, undo, and criteria reworded."""

from pathlib import Path
from typing import Any

import pytest
from PySide6.QtTest import QTest

from annotator.actions.judging import judge_queue
from annotator.actions.labelling import label_sealing, label_tasks, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets, verdict_readings
from annotator.actions.validation import disagreements, validation
from annotator.gui.pages.validation.cases.case_bench import CaseBench
from annotator.gui.pages.validation.cases.verdict_cases import CASE_ROLE, CaseFilter, VerdictCase
from tests.projects.small_project import empty_project
from tests.projects.verdicts_project import CLAIMS, JUDGE, PAIRS, PLAN, protocols_project, verdicts_project
from tests.windows.judges_window import choose
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle

CASES = 9


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return verdicts_project(tmp_path)


@pytest.fixture
def page(project: Project, page_over: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    page = page_over(project, "Validate", part="Disagreements", judge=JUDGE)
    settle(page)
    page.focus_first()
    return page


def person_says_all(project: Project, alias: str) -> None:
    """Yes of everything dealt to somebody, submitted."""
    project.work_as(people.known(project, alias))
    for task in label_tasks.queue(project):
        sheet = labels.sheet(project, task.response_id)
        labels.set_labels(project, task.response_id, [unit.id for unit in sheet.units], "yes")
    for item_id in dict.fromkeys(task.item_id for task in label_tasks.queue(project)):
        label_sealing.submit(project, item_id)
    project.work_as(people.known(project, "R1"))


def shown_in(bench: CaseBench) -> list[VerdictCase]:
    return [bench.cases.index(row).data(CASE_ROLE) for row in range(bench.cases.rowCount())]


def ruled(project: Project) -> list[tuple[str, str, str]]:
    query = validation.ValidationQuery(judge=JUDGE)
    return [(one.ruling, one.reason, one.note) for one in disagreements.queue(project, query) if one.ruling]


def test_one_key_rules_and_the_next_open_one_comes(page: Any, project: Project) -> None:
    first = page.ruling.bench.key
    press("1")
    assert page.ruling.bench.key != first
    press("2")
    press("3")
    assert [ruling for ruling, _, _ in ruled(project)] == [
        "judge wrong", "person wrong", "criterion unclear",
    ]  # fmt: skip
    assert page.ruling.bench.pane.left.text() == f"3 of {CASES} ruled"


def test_everything_is_ruled_on_with_nothing_but_digits(page: Any, project: Project) -> None:
    for _ in range(CASES):
        press("1")
    assert len(ruled(project)) == CASES
    assert "All disagreements of this selection are ruled on: 9 disagreements." in page.ruling.answer.text()


def test_a_reason_before_or_after_goes_with_the_ruling(page: Any, project: Project) -> None:
    press("8")
    press("1")
    press("1")
    press("Ctrl+PgUp")
    press("5")
    assert [reason for _, reason, _ in ruled(project)] == ["too strict", "saw what the report does not say"]


def test_who_waits_for_a_reason_stays_until_it_is_given(page: Any) -> None:
    bench = page.ruling.bench
    bench.card.waiting.setChecked(True)
    first = bench.key
    press("1")
    assert (bench.key, bench.card.reasons.asks()) == (first, True)
    press("4")
    assert bench.key != first
    press("2")
    assert bench.cases.counted(CaseFilter.DONE) == 2


def test_the_same_key_again_goes_on_without_a_reason(page: Any, project: Project) -> None:
    page.ruling.bench.card.waiting.setChecked(True)
    press("1", times=2)
    assert (ruled(project)[0], page.ruling.bench.case.said) == (("judge wrong", "", ""), "")


def test_a_note_takes_digits_and_goes_with_the_ruling(page: Any, project: Project) -> None:
    press("Ctrl+M")
    type_words("Page 12 says 3")
    assert ruled(project) == []
    press("Esc")
    QTest.qWait(5)
    page.focus_first()
    press("2")
    assert ruled(project) == [("person wrong", "", "Page 12 says 3")]


def test_a_note_stays_with_its_case_when_the_next_is_gone_on_to(page: Any, project: Project) -> None:
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
    press("Esc")
    press("2")
    assert ruled(project) == [("person wrong", "", "Of the second")]


@pytest.mark.parametrize("told", [True, False])
def test_a_note_stays_with_its_case_when_undo_brings_another(page: Any, project: Project, told: bool) -> None:
    bench, first = page.ruling.bench, page.ruling.bench.key
    press("3")
    second = bench.key
    press("Ctrl+M")
    type_words("Of the second")
    if told:
        bench.card.note.tell()
    page.desk.undo()
    settle(page)
    assert (bench.key, bench.card.note.toPlainText()) == (first, "")
    bench.open(second)
    assert bench.card.note.toPlainText() == "Of the second"


def test_undo_brings_back_the_case(page: Any, project: Project) -> None:
    first = page.ruling.bench.key
    press("3")
    press("Ctrl+Z")
    settle(page)
    assert (page.ruling.bench.key, page.ruling.bench.case.said, ruled(project)) == (first, "", [])
    press("Ctrl+Shift+Z")
    settle(page)
    assert (page.ruling.bench.key, page.ruling.bench.case.said) == (first, "criterion unclear")


def test_both_passages_are_marked_and_what_both_mark_is_told_apart(page: Any) -> None:
    report = page.ruling.bench.reading.first.report
    assert {mark.kind for mark in report.marks()} == {"judge", "evidence", "other"}
    (judge,), (person,), (both,) = (report.marks(kind) for kind in ("judge", "evidence", "other"))
    assert (both.start, both.end) == (max(judge.start, person.start), min(judge.end, person.end))
    legend = page.ruling.bench.reading.legend.accessibleName()
    assert legend == f"Marked: {JUDGE}, R2, both"


def test_a_place_leads_to_its_case(page: Any) -> None:
    bench = page.ruling.bench
    wanted = bench.cases.index(4).data(CASE_ROLE).key
    page.desk.go("Validate", part="Disagreements", case=wanted)
    settle(page)
    assert bench.key == wanted


def test_a_key_that_is_held_down_rules_once(page: Any, project: Project) -> None:
    shortcuts = [one for act in ("say_first", "fault_other") for one in page._shortcuts[act]]
    assert not any(shortcut.autoRepeat() for shortcut in shortcuts)


def test_the_test_part_is_asked_for_before_it_is_shown(page: Any, project: Project) -> None:
    whose = tuple(people.known(project, one).id for one in ("R1", "R2"))
    validation_sets.make(project, validation_sets.SetRequest("spring", whose, size=6, test_share=0.5))
    person_says_all(project, "R1")
    validation_sets.lock(project, "spring")
    part = page.ruling
    part.fill()
    settle(page)
    choose(part.choices.boxes["labels"], "spring|test")
    part.choices.changed.emit()
    settle(page)
    assert part.gate.isVisible()
    assert validation_sets.named(project, "spring").openings == 0
    part.gate.open.click()
    settle(page)
    assert part.bench.isVisible()
    assert validation_sets.named(project, "spring").openings == 1
    part.fill()
    settle(page)
    assert validation_sets.named(project, "spring").openings == 1


def test_no_system_is_named(page: Any) -> None:
    bench = page.ruling.bench
    said = " ".join(widget.text() for widget in (bench.card.unit, bench.card.where, bench.reading.question))
    assert "Canary" not in said + bench.reading.first.report.accessibleName()


def test_the_key_of_an_item_keeps_its_own_direction(page: Any) -> None:
    """An Arabic key would otherwise draw the words beside it over to its side."""
    bench = page.ruling.bench
    key = bench.case.place.item_key
    assert bench.card.where.text().startswith(f"Item \u2068{key}\u2069 · weight")


def test_the_two_columns_are_told_and_only_the_second_moves(page: Any) -> None:
    before = page.ruling.strip.words.text()
    assert "First labels stay the metric" in page.ruling.strip.rule.text()
    press("2", times=3)
    settle(page)
    after = page.ruling.strip.words.text()
    # Five of fourteen agree; three that were ruled for the judge make it eight.
    assert "first labels: accuracy 0.36 ·" in before
    assert "accuracy 0.36 → 0.57" in after
    assert "6 disagreements not ruled on" in after


@pytest.mark.parametrize("high", [600, 768])
def test_in_a_low_window_what_is_read_once_leaves_its_room_to_the_verdict(page: Any, high: int) -> None:
    page.window().resize(960, high)
    settle(page)
    card, strip = page.ruling.bench.card, page.ruling.strip
    assert [part.isVisible() for part in (strip.rule, card.waiting)] == [high == 768] * 2
    assert strip.words.height() >= strip.words.heightForWidth(strip.words.width())
    assert "First labels stay the metric" in strip.words.toolTip()


def test_the_list_is_narrowed_to_what_is_open_and_keeps_the_place(page: Any) -> None:
    bench = page.ruling.bench
    press("1")
    bench.pane.show_only(CaseFilter.DONE)
    # One is done; the one at hand stays.
    assert bench.cases.rowCount() == 2
    bench.pane.show_only(CaseFilter.OPEN)
    assert bench.cases.rowCount() == CASES - 1


def test_digits_rule_on_nothing_while_a_choice_has_the_keyboard(page: Any, project: Project) -> None:
    page.ruling.choices.boxes["judge"].setFocus()
    press("1")
    assert ruled(project) == []


def test_another_judge_shows_its_own_disagreements(page: Any) -> None:
    choose(page.ruling.choices.boxes["judge"], "*")
    page.ruling.choices.changed.emit()
    settle(page)
    assert page.ruling.bench.cases.counted(CaseFilter.ALL) == 14


def test_an_answer_to_the_choice_before_does_not_take_the_new_one_back(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, answers = page.ruling, []
    with monkeypatch.context() as slow:
        slow.setattr(page.desk, "ask_later", lambda answer, *_: answers.append(answer))
        part.look()
        choose(part.choices.boxes["judge"], "*")
        part.choices.changed.emit()
        answers[0](part._found)
    settle(page)
    assert part.choices.value("judge") == "*"
    assert part.bench.cases.counted(CaseFilter.ALL) == 14


def test_a_criterion_is_worded_anew_and_ordered_by_the_keyboard(page: Any, project: Project) -> None:
    press("3")
    unit = page.ruling._found.outlook.shown[0].place.unit_id
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
    waiting = judge_queue.waiting(project)
    assert {one.order.judge for one in waiting} == {"small-judge", "other-judge"}
    assert {one.order.items for one in waiting} == {("1",)}
    press("Ctrl+U")
    settle(page)
    assert unit not in {one.place.unit_id for one in shown_in(page.ruling.bench)}


def test_unclear_criteria_are_read_when_they_are_looked_at_and_their_cases_at_once(
    page: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    choose(page.ruling.choices.boxes["judge"], "*")
    page.ruling.choices.changed.emit()
    settle(page)
    page.focus_first()
    press("3", times=14)
    page.ruling.fill()
    settle(page)
    panel, asked, sides = page.ruling.unclear, [], verdict_readings.sides
    assert (bool(page.ruling._found.unclear), panel.list.count()) == (True, 0)
    press("Ctrl+U")
    settle(page)
    many = [one.times for one in panel._unclear]
    assert max(many) > 1
    monkeypatch.setattr(verdict_readings, "sides", lambda *of: asked.append(of) or sides(*of))
    for row in range(len(many)):
        panel.list.setCurrentRow(-1)
        asked.clear()
        panel.list.setCurrentRow(row)
        assert (len(asked), len(panel.cases.text().splitlines())) == (1, many[row])
        assert "says “Met”" in panel.cases.text()


def test_who_has_no_labels_to_hold_judges_against_is_told_what_to_do(tmp_path: Path, page_over: Any) -> None:
    project = verdicts_project(tmp_path, label=False)
    page = page_over(project, "Validate", part="Disagreements", judge=JUDGE)
    settle(page)
    assert "Nobody has submitted labels" in page.ruling.nothing._headline.text()
    page.focus_first()
    press("Space")
    assert page.part is page.sets


@pytest.mark.parametrize(
    ("part", "tab", "headline"),
    [("Disagreements", "ruling", "No judge has"), ("Reviews", "reviewing", "No verdicts to review")],
)
def test_where_no_judge_has_judged_one_is_led_to_the_runs(
    part: str, tab: str, headline: str, tmp_path: Path, page_over: Any
) -> None:
    page = page_over(empty_project(tmp_path), "Validate", part=part)
    settle(page)
    shown = getattr(page, tab)
    assert headline in shown.nothing._headline.text()
    assert not shown.choices.isVisible()
    window = page.window()
    page.focus_first()
    press("Space")
    assert window.page.NAME == "Judges"


@pytest.mark.parametrize(
    ("protocol", "beside"), [(CLAIMS, "Cited page"), (PAIRS, "Second report"), (PLAN, "")]
)
def test_the_cited_page_or_the_second_report_stands_beside(
    tmp_path: Path, page_over: Any, protocol: str, beside: str
) -> None:
    page = page_over(protocols_project(tmp_path), "Validate", part="Disagreements", protocol=protocol)
    settle(page)
    reading = page.ruling.bench.reading
    assert reading.beside.isVisible() is bool(beside)
    assert reading.beside.head.text().startswith(beside)
    if protocol == CLAIMS:
        assert [mark.kind for mark in reading.beside.report.marks()] == ["judge"]
        assert reading.legend.accessibleName() == f"Marked: {JUDGE}, the claim"
    page.focus_first()
    press("3")
    press("Ctrl+U")
    settle(page)
    panel = page.ruling.unclear
    assert panel.settle_button.isEnabled() is (protocol == PLAN)
    assert ("come from the reports" in panel.refused.text()) is (protocol != PLAN)
