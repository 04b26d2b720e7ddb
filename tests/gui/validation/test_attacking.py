"""Attacks in the window: the cost is said first, the run is a child that can be stopped, and every case can be read."""

import time
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from annotator.actions.project.file import Project
from annotator.domain.judges.validation import PlantedText
from annotator.gui.pages.validation.attack_part import READER, WORK, ShownPlaces
from tests.judging.odd_server import OddServer
from tests.projects.attacked_project import attacked, firm, gullible, judged
from tests.servers.served import JUDGE, add_judge
from tests.windows.judges_window import cells
from tests.windows.run_keys import run_panel
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
