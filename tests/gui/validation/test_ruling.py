"""Disagreements ruled on and verdicts reviewed by key; cards; attacks whose cost is said first."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import reviews
from annotator.actions.validation import disagreements, validation, validity_cards
from annotator.domain.experts.assignment import Stage
from annotator.domain.judges.validation import ValidityCard
from annotator.gui import theme
from annotator.gui.pages.validation.attack_part import READER, WORK, shown_places
from annotator.gui.pages.validation.case_bench import LINE_ROLE
from annotator.gui.pages.validation.case_cards import CaseFilter
from tests.judging.odd_server import OddServer
from tests.projects.filled_project import judge_everything
from tests.projects.small_projects import empty_project
from tests.projects.validation_project import (
    CLAIMS,
    JUDGE,
    PAIRS,
    PLAN,
    protocols_project,
    validation_project,
    verdicts_project,
)
from tests.servers.served import (
    JUDGE as SERVED,
    add_judge,
    attacked,
    card_of,
    carded_project,
    firm,
    gullible,
    judged,
)
from tests.windows.judges_window import cells, choose, run_panel
from tests.windows.using import Typed, drop, focus, inks, press, settle, type_words


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return verdicts_project(tmp_path)


@pytest.fixture
def page(project: Project, page_at_rest: Any) -> Any:
    return page_at_rest(project, "Validate", part="Disagreements", judge=JUDGE)


def ruled(project: Project) -> list[tuple[str, str, str]]:
    cases = disagreements.queue(project, validation.ValidationQuery(judge=JUDGE))
    return [(each.ruling, each.reason, each.note) for each in cases if each.ruling]


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
    assert bench.pane.left.text() == "3 of 9 ruled"


def test_a_note_stays_with_its_case_and_a_choice_is_not_taken_back_by_an_answer_to_the_one_before(
    page: Any, project: Project
) -> None:
    part, bench = page.ruling, page.ruling.bench
    first = bench.key
    press("Ctrl+M", Typed("Of the first"), "Ctrl+J")
    assert (bench.key == first, bench.card.note.toPlainText()) == (False, "")
    type_words("Of the second")
    bench.open(first)
    assert bench.card.note.toPlainText() == "Of the first"
    bench.next_open()
    press("Esc", "2")
    assert ruled(project) == [("person wrong", "", "Of the second")]
    part.look()
    choose(part.choices.lists["judge"], "*")
    settle(page)
    assert (part.choices.values()["judge"], part.bench.cases.counted(CaseFilter.ALL)) == ("*", 14)


@pytest.mark.parametrize("told", [True, False])
def test_a_note_stays_with_its_case_when_undo_brings_another(page: Any, project: Project, told: bool) -> None:
    bench, first = page.ruling.bench, page.ruling.bench.key
    press("3")
    second = bench.key
    press("Ctrl+M", Typed("Of the second"))
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
    for widget in (bench.card.unit, bench.card.where, bench.reading.question):
        assert "Canary" not in widget.text() + report.accessibleName()
    # An Arabic key would otherwise draw the words beside it over to its side.
    assert bench.card.where.text().startswith(f"Item \u2068{bench.case.place.item_key}\u2069 · weight")
    before = page.ruling.strip.words.text()
    press("2", 3)
    settle(page)
    after = page.ruling.strip.words.text()
    # Five of fourteen agree; three that were ruled for the judge make it eight.
    assert ("first labels: accuracy 0.36 ·" in before, "accuracy 0.36 → 0.57" in after) == (True, True)


def test_a_criterion_is_worded_anew_and_ordered_by_the_keyboard(page: Any, project: Project) -> None:
    press("3")
    unit = page.ruling._look.outlook.lines[0].place.unit_id
    press("Ctrl+U")
    settle(page)
    panel = page.ruling.unclear
    assert (panel.list.count(), f"{JUDGE} says “Met”" in panel.cases.text()) == (1, True)
    press("Ctrl+A", Typed("Explains the role of the identity path"), "Ctrl+Return")
    settle(page)
    assert (panel.list.count(), disagreements.unclear(project)) == (0, [])
    press("Ctrl+Shift+U")
    waiting = {(each.order.judge, each.order.items) for each in judge_runs.waiting(project)}
    assert waiting == {("small-judge", ("1",)), ("other-judge", ("1",))}
    press("Ctrl+U")
    settle(page)
    cases = page.ruling.bench.cases
    shown = [cases.index(row).data(LINE_ROLE) for row in range(cases.rowCount())]
    assert unit not in {each.place.unit_id for each in shown}


def test_where_no_judge_has_judged_one_is_led_to_the_runs(tmp_path: Path, page_at_rest: Any) -> None:
    page = page_at_rest(empty_project(tmp_path), "Validate", part="Disagreements")
    window = page.window()
    for part, shown in (("Disagreements", page.ruling), ("Reviews", page.reviewing)):
        settle(window.show_page("Validate", part=part))
        page.focus_first()
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
    press("3", "Ctrl+U")
    settle(page)
    panel = page.ruling.unclear
    assert panel.settle_button.isEnabled() is (protocol == PLAN)
    assert ("come from the reports" in panel.refused.text()) is (protocol != PLAN)


@pytest.fixture
def reviewed(project: Project) -> Project:
    """R3, who labels nothing, works; the window over it closes it."""
    project.work_as(people.known(project, "R3"))
    return project


def test_an_expert_sees_reviews_alone_names_no_system_and_answers_each_by_one_key(
    page_at_rest: Any, reviewed: Project
) -> None:
    page = page_at_rest(reviewed, "Validate", part="Reviews")
    tabs = page.tabs
    assert [tabs.tabText(n) for n in range(tabs.count()) if tabs.isTabVisible(n)] == ["Reviews"]
    assert "accept" not in page.reviewing.note.text()
    bench = page.reviewing.bench
    words = [bench.cases.index(row).data() for row in range(bench.cases.rowCount())]
    words += [bench.card.where.text(), bench.card.unit.text(), bench.reading.first.report.accessibleName()]
    assert "Canary" not in str(words)
    # A reason is for what was answered last.
    press(*"129-")
    given = [(each.ruling, each.reason) for each in reviews.outlook(reviewed, JUDGE).lines if each.ruling]
    assert sorted(given) == [("agree", ""), ("disagree", "too lenient"), ("unsure", "")]


def test_whoever_is_still_to_label_blind_is_told_so(page_at_rest: Any, reviewed: Project) -> None:
    reviewed.work_as(people.known(reviewed, "R1"))
    ben = people.known(reviewed, "R3")
    for item_id in items.ids(reviewed):
        assignments.assign_one(reviewed, item_id, ben.id, Stage.LABELLING)
    reviewed.work_as(ben)
    page = page_at_rest(reviewed, "Validate", part="Reviews")
    press("Space")
    assert page.window().page.NAME == "Label"


@pytest.fixture
def carded(tmp_path: Path, server: OddServer) -> Project:
    return carded_project(tmp_path / "one", server)


@pytest.fixture
def show(page_at_rest):
    return partial(page_at_rest, page="Validate", part="Cards")


def saved(folder: Path, card: ValidityCard) -> Path:
    return validity_cards.save(card.sealed(), folder / "held.json")


def test_the_card_is_seen_as_it_would_leave_a_dropped_one_can_be_read_and_one_that_holds_binds_its_judge(
    carded, show, tmp_path, qtbot
):
    page = show(carded)
    part = page.cards
    for words in (f"Validity card: \u2068{SERVED}\u2069", "test-model", "Cohen's κ", part.view.card.sha256):
        assert words in part.view.page.toPlainText()
    assert part.view.choosers.lists["judge"].currentData() == SERVED
    # Everything has a name for those who do not see it.
    widgets = (
        part.view.page, part.check.table, part.check.judge, part.check.bound, part.check.define.name,
        part.check.define.address, part.check.define.variable, *part.view.choosers.lists.values(),
    )  # fmt: skip
    assert all(widget.accessibleName() for widget in widgets)
    for ending in ("json", "html"):
        with qtbot.waitSignal(page.session.refused) as told:
            part.save(tmp_path / "nowhere" / f"card.{ending}")
        assert "could not be written" in told.args[0].happened
    drop(part.check, saved(tmp_path, card_of(carded).model_copy(update={"name": "from afar"})))
    settle(page)
    part.check.look.click()
    assert "from afar" in part.view.page.toPlainText()
    part.view.back.click()
    settle(page)
    assert part.view.card.name == SERVED
    page.window().show_page("Validate", part="Cards", card=str(saved(tmp_path, card_of(carded))))
    settle(page)
    check = part.check
    assert (check.table.isVisible(), part.bar.buttons["bind_card"].isEnabled()) == (False, True)
    part.acts["bind_card"]()
    settle(page)
    assert [one.sha256 for one in derived_judges.bound(carded)] == [check.checked.card.sha256]
    check.release.click()
    assert (derived_judges.bound(carded), check.bound.isVisible()) == ([], False)


def test_a_judge_that_is_not_here_is_defined_from_its_card(carded, small, show, tmp_path, server):
    page = show(small)
    check = page.cards.check
    check.look_at(saved(tmp_path, card_of(carded)))
    settle(page)
    assert (check.define.isVisible(), check.define.name.text()) == (True, SERVED)
    check.define.address.setText(server.url)
    QTest.keyClick(check.define.address, Qt.Key.Key_Return)
    settle(page)
    assert judges.named(small, SERVED).model == "test-model"
    assert (check.verdict.text(), check.define.isVisible()) == (
        f"The card “{SERVED}” matches “{SERVED}”.",
        False,
    )


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = firm
    return server


@pytest.fixture
def judged_here(small: Project, server: OddServer) -> Project:
    add_judge(small, server)
    judged(small)
    server.bodies.clear()
    return small


def test_a_run_whose_cost_is_said_before_ends_in_rates_and_cases(
    judged_here: Project, server: OddServer, page_at_rest, qtbot
) -> None:
    server.answer = gullible
    part = page_at_rest(judged_here, "Validate", part="Attacks").attacking
    qtbot.waitUntil(lambda: "Counting" not in part.form.cost.text() and bool(part.form.summary.text()))
    assert part.form.cost.text() == "36 verdicts on copies by 36 calls; at an unknown price."
    assert (server.bodies, part.bar.buttons["submit"].isEnabled()) == ([], True)
    attacks = part.form.attacks
    for entry in map(attacks.item, range(attacks.count())):
        if entry.data(Qt.ItemDataRole.UserRole) not in ("injection", "padding.filler"):
            entry.setCheckState(Qt.CheckState.Unchecked)
    part.start()
    assert run_panel(part.window().page, part.run).isVisible()
    qtbot.waitUntil(lambda: not part.run.running)
    settle(part.window().page)
    assert [words.split(" [")[0] for words in cells(part.rates, 2)] == ["100 %", "0 %"]
    qtbot.waitUntil(lambda: part.cases.rowCount() == 12)
    settle(part.window().page)
    assert set(cells(part.list, 5)) == {"Met, changed"}


def test_a_case_is_read_beside_its_report_and_an_attack_that_cannot_be_made_is_grey_in_every_scheme(
    judged_here: Project, server: OddServer, page_at_rest
) -> None:
    server.answer = gullible
    attacked(judged_here, SERVED, "injection")
    part = page_at_rest(judged_here, "Validate", part="Attacks").attacking
    part.list.setFocus()
    QTest.keyClick(part.list, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    settle(part.window().page)
    assert part.body.currentIndex() == READER
    reader = part.reader
    (mark,) = reader.copy.marks()
    copy = reader.copy.text()
    assert copy[: mark.start] + copy[mark.end :] == reader.report.text()
    assert "another verdict" in reader.again.toPlainText()
    before = reader.head.text()
    part.acts["next_item"]()
    settle(part.window().page)
    assert reader.head.text() != before
    part.acts["attack_back"]()
    assert part.body.currentIndex() == WORK
    attacks = part.form.attacks
    lines = map(attacks.item, range(attacks.count()))
    off = next(line for line in lines if not line.flags() & Qt.ItemFlag.ItemIsEnabled)
    for scheme in ("light", "dark"):
        theme.choose(scheme)
        assert theme.token("text-disabled").name() in inks(
            attacks.viewport().grab(attacks.visualItemRect(off))
        ), scheme


def test_from_the_families_one_comes_back_to_the_settings_before_anything_was_attacked(
    judged_here: Project, page_at_rest
) -> None:
    part = page_at_rest(judged_here, "Validate", part="Attacks").attacking
    part.show_families()
    part.back()
    assert focus() is part.form.judge


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "abc"),
        ("a\r\nb\r\nc", "a\nb\nc"),
        ("ab\u200bc", "ab\u200bc"),
        ("abcd", "ab\u200bcd"),
        ("a\rb", "a\nb"),
    ],
)
def test_marks_stand_where_their_words_are_shown(text: str, shown: str) -> None:
    places = shown_places(text, shown)
    for place, letter in enumerate(text):
        start, end = places[place], places[place + 1]
        if letter not in "\r\n":
            assert shown[start:end].strip("\u200b") in (letter, "") or letter == "\u200b"


def test_a_file_that_holds_no_labels_is_refused_in_its_place(page_at_rest, tmp_path):
    project, file = validation_project(tmp_path), tmp_path / "labels.csv"
    file.write_text("nothing\n", "utf-8")
    page = page_at_rest(project, "Validate", part="Sets")
    page.sets.acts["labels_in"]()
    page.sets.files.look_at([file])
    settle(page)
    assert page.sets.files.preview.toPlainText()
    assert not page.sets.bar.buttons["submit"].isEnabled()
