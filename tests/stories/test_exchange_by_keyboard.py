"""One round of exchange by keyboard alone: hand out, work apart, send back, take in, tell the code."""

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from annotator.actions.assignments import submitting
from annotator.actions.items import items
from annotator.actions.parcels import unpacking
from annotator.gui import keys
from annotator.gui.shell.starting import Goldsmith
from annotator.gui.shell.window import Window
from tests.material.sent_apart import coordinated, write_rubric

PATIENCE_MS = 30_000


@pytest.fixture
def goldsmith(qapp, monkeypatch):
    """The running program; folders of tests count as folders that last."""
    monkeypatch.setattr("annotator.actions.parcels.tasking.is_passing", lambda folder: False)
    running = Goldsmith(qapp)
    yield running
    running.packages.wait()
    running.close()


def opened(goldsmith: Goldsmith, path: Path, qtbot) -> Window:
    before = goldsmith._shown
    goldsmith.show(path)
    qtbot.waitUntil(
        lambda: isinstance(goldsmith._shown, Window) and goldsmith._shown is not before, timeout=PATIENCE_MS
    )
    with qtbot.waitActive(goldsmith._shown):
        goldsmith._shown.activateWindow()
    return goldsmith._shown


def press(qtbot, window: QWidget, act: str, times: int = 1) -> None:
    """Press an act's key where the focus is."""
    key = keys.sequences(act)[0][0]
    for _ in range(times):
        qtbot.keyClick(window.focusWidget() or window, key.key(), key.keyboardModifiers())


def test_a_round_of_exchange_by_keyboard_alone(goldsmith, tmp_path, qtbot, monkeypatch):
    study = coordinated(tmp_path / "study", ["Ana"])
    study.close()
    mail = tmp_path / "mail"
    mail.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(mail))
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(mail / "back"), ""))
    monkeypatch.setattr(QFileDialog, "getOpenFileNames", lambda *_: ([str(mail / "back.goldsmith-work")], ""))

    window = opened(goldsmith, study.path, qtbot)
    press(qtbot, window, "exchange")
    press(qtbot, window, "other_pane", times=3)
    press(qtbot, window, "submit")
    qtbot.waitUntil(lambda: "Wrote 1 task" in window.page.out.answer.text(), timeout=PATIENCE_MS)

    window = opened(goldsmith, next(mail.iterdir()), qtbot)
    theirs = window.desk.project
    rubric = write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold", seal=False)
    submitting.seal(theirs, rubric)
    press(qtbot, window, "exchange")
    assert window.page.NAME == "Send"
    press(qtbot, window, "submit")
    qtbot.waitUntil(window.page.receipt.isVisible, timeout=PATIENCE_MS)
    code = window.page.receipt.code.text()
    # What is done moves nobody from the table; the receipt stands right before it.
    assert window.focusWidget() is window.page.table
    for _ in range(2):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Backtab)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Space)
    assert QGuiApplication.clipboard().text() == code

    window = opened(goldsmith, study.path, qtbot)
    press(qtbot, window, "exchange")
    press(qtbot, window, "choose_work")
    qtbot.waitUntil(window.page.intake.go.isEnabled, timeout=PATIENCE_MS)
    qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Right)
    assert window.page.intake.tree.topLevelItem(0).isExpanded()
    press(qtbot, window, "submit")
    qtbot.waitUntil(
        lambda: "Imported: 1 piece of work." in window.page.intake.answer.text(), timeout=PATIENCE_MS
    )
    QGuiApplication.clipboard().clear()
    qtbot.keyClick(window.page.intake.tree, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert QGuiApplication.clipboard().text() == code
    assert [one.receipt for one in unpacking.received(window.desk.project)] == [code]
