"""Attacks in the window: the cost is said first, the run is a child that can be stopped, and every case can be read."""

import time
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from annotator.actions.attacks import families
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.domain.judges.attack import PlantedText
from annotator.gui.pages.validation.attacks.attack_reader import ShownPlaces
from annotator.gui.pages.validation.attacks.part import EMPTY, FAMILIES, READER, WORK
from tests.judging.odd_server import Odd, OddServer
from tests.projects.attacked_project import attacked, firm, gullible, judged
from tests.servers.served import JUDGE, add_judge
from tests.windows.judges_window import cells
from tests.windows.labelling_keys import press
from tests.windows.run_keys import paused_and_resumed, run_panel
from tests.windows.settling import settle

VERDICTS = 12


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = firm
    return server


@pytest.fixture
def project(small: Project, server: OddServer) -> Project:
    add_judge(small, server)
    judged(small)
    server.bodies.clear()
    return small


@pytest.fixture
def show(page_over):
    """The part over a project, with all that it asks for at rest."""

    def make(project: Project) -> Any:
        page = page_over(project, "Validate", part="Attacks")
        settle(page)
        return page.attacking

    return make


def until(part: Any, true: Any) -> None:
    deadline = time.monotonic() + 60
    while not true() and time.monotonic() < deadline:
        QTest.qWait(20)
    assert true()
    settle(part.window().page)


def counted(part: Any) -> None:
    """Wait until the questions were counted."""
    until(part, lambda: "Counting" not in part.form.cost.text() and bool(part.form.told.text()))


def test_where_nobody_has_judged_it_says_what_to_do(small: Project, show) -> None:
    part = show(small)
    assert part.body.currentIndex() == EMPTY
    assert "No judge has judged a report yet" in [
        label.text() for label in part.empty.findChildren(object) if hasattr(label, "text")
    ]
    assert not part.bar.buttons["submit"].isVisible()


def test_the_cost_is_said_before_anything_is_asked(project: Project, server: OddServer, show) -> None:
    part = show(project)
    counted(part)
    assert (
        part.form.cost.text()
        == f"{3 * VERDICTS} verdicts on copies by {3 * VERDICTS} calls; at an unknown price."
    )
    assert "each is used for 3 attacks" in part.form.told.text()
    assert server.bodies == []
    assert part.bar.buttons["submit"].isEnabled()


def test_what_a_judge_cannot_be_put_to_says_why(project: Project, show) -> None:
    part = show(project)
    entries = {
        part.form.attacks.item(row).text(): part.form.attacks.item(row)
        for row in range(part.form.attacks.count())
    }
    lacking = {words for words, one in entries.items() if not one.flags() & Qt.ItemFlag.ItemIsEnabled}
    assert lacking == {"Criteria in another order"}
    assert "asked several together" in entries["Criteria in another order"].toolTip()


def test_without_an_attack_nothing_can_be_started(project: Project, show) -> None:
    part = show(project)
    for row in range(part.form.attacks.count()):
        entry = part.form.attacks.item(row)
        if entry.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            entry.setCheckState(Qt.CheckState.Unchecked)
    assert part.form.told.text() == "Tick an attack."
    assert not part.bar.buttons["submit"].isEnabled()


def only(part: Any, *names: str) -> None:
    for row in range(part.form.attacks.count()):
        entry = part.form.attacks.item(row)
        if entry.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            wanted = entry.data(Qt.ItemDataRole.UserRole) in names
            entry.setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)


@pytest.mark.usefixtures("real_children")
def test_a_run_ends_in_rates_and_cases(project: Project, server: OddServer, show) -> None:
    server.answer = gullible
    part = show(project)
    only(part, "injection", "padding.filler")
    part.start()
    assert run_panel(part.window().page, part.run).isVisible()
    until(part, lambda: not part.run.running)
    assert cells(part.rates, 0) == ["An order to the judge", "Padding by sentences on nothing"]
    assert [words.split(" [")[0] for words in cells(part.rates, 2)] == ["100 %", "0 %"]
    until(part, lambda: part.cases.rowCount() == VERDICTS)
    assert part.count.text() == "An order to the judge, distant: 12 of 12 verdicts changed"
    assert set(cells(part.list, 5)) == {"Met, changed"}


def test_a_run_can_be_stopped_and_gone_on_with(project: Project, server: OddServer, show) -> None:
    server.answer = lambda body, number: firm(body, number) if number < 3 else Odd(held=True)
    part = show(project)
    only(part, "control", "padding.filler")
    part.form.concurrency.setValue(1)
    part.start()
    until(part, lambda: len(server.bodies) == 4)
    press("Ctrl+.")
    until(part, lambda: not part.run.running)
    assert len(server.bodies) == 4
    server.answer = firm
    part.start()
    until(part, lambda: not part.run.running)
    # What was under way when it was stopped is asked for again.
    assert len(server.bodies) == 2 * VERDICTS + 1
    assert set(cells(part.rates, 3)) == {str(VERDICTS)}


def test_a_run_is_paused_and_resumed(project: Project, server: OddServer, show, qtbot) -> None:
    part = show(project)
    only(part, "padding.filler")
    part.form.concurrency.setValue(1)
    paused_and_resumed(part.window().page, qtbot, server, part.run, part.start)
    shown = {str(VERDICTS)}
    until(part, lambda: set(cells(part.rates, 3)) == shown)
    assert set(cells(part.rates, 3)) == shown


def test_a_case_is_read_beside_its_report_with_what_was_planted_marked(
    project: Project, server: OddServer, show
) -> None:
    server.answer = gullible
    attacked(project, JUDGE, "injection")
    part = show(project)
    part.list.setFocus()
    QTest.keyClick(part.list, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    until(part, lambda: part.body.currentIndex() == READER)
    reader = part.reader
    (mark,) = reader.copy.marks()
    copy = reader.copy.text()
    assert copy[: mark.start] + copy[mark.end :] == reader.report.text()
    assert "yes" in copy[mark.start : mark.end]
    assert "It demands the verdict “yes”." in reader.done.text()
    assert "another verdict" in reader.again.toPlainText()
    assert "inserted in the copy" in reader.legend.text()
    before = reader.unit.text()
    part.acts["next_item"]()
    until(part, lambda: reader.unit.text() != before or reader.head.text() != "")
    part.acts["attack_back"]()
    assert part.body.currentIndex() == WORK


def test_families_are_put_right_and_taken_back(project: Project, show) -> None:
    part = show(project)
    part.acts["attack_families"]()
    assert part.body.currentIndex() == FAMILIES
    box = part.families.boxes["Alpha"]
    assert box.currentText() == "by its name: none known"
    box.setCurrentIndex(box.findData("Anthropic"))
    box.activated.emit(box.currentIndex())
    assert {one.name: one.family for one in families.members(project)}["Alpha"] == "Anthropic"
    part.desk.undo()
    settle(part.window().page)
    assert {one.name: one.family for one in families.members(project)}["Alpha"] == ""
    box = part.families.boxes["Beta"]
    box.setEditText("Our own house")
    QTest.keyClick(box.lineEdit(), Qt.Key.Key_Return)
    assert {one.name: one.family for one in families.members(project)}["Beta"] == "Our own house"


def test_a_file_that_may_only_be_read_is_not_attacked(project: Project, show) -> None:
    path = project.path
    project.close()
    part = show(Project.open(path, readonly=True))
    assert part.body.currentIndex() == WORK
    assert not part.bar.buttons["submit"].isEnabled()


def test_every_field_says_what_it_is(project: Project, show) -> None:
    form = show(project).form
    fields = (
        form.judge,
        form.what,
        form.attacks,
        form.many,
        form.span,
        form.seed,
        form.concurrency,
        form.budget,
    )
    assert all(field.accessibleName() for field in fields)
    assert judges.named(project, JUDGE).name in [
        form.judge.itemText(row) for row in range(form.judge.count())
    ]


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
    places = ShownPlaces(text, shown)
    for place, letter in enumerate(text):
        start, end = places.span(PlantedText(place, place + 1))
        if letter not in "\r\n":
            assert shown[start:end].strip("\u200b") in (letter, "") or letter == "\u200b"
