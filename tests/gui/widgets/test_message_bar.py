import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QToolButton, QVBoxLayout, QWidget

from annotator.gui.pages.guidelines import SetDrafting
from annotator.gui.pages.people.page import PlanPreview
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.shared_folder import FolderLine
from annotator.gui.shell.navigation import PAGES
from annotator.gui.widgets import message_bar
from annotator.gui.widgets.message_bar import MessageBar


@pytest.fixture
def bar(qtbot) -> MessageBar:
    made = MessageBar()
    qtbot.addWidget(made)
    return made


def test_markup_in_a_message_is_shown_as_text(bar):
    bar.show_message("error", "The file <img src='/dev/zero'> is damaged.", "Take <b>another</b>.")
    assert bar.text() == "The file <img src='/dev/zero'> is damaged. Take <b>another</b>."
    assert all(label.textFormat() == Qt.TextFormat.PlainText for label in (bar._happened, bar._todo))
    assert bar.accessibleName().startswith("Error: ")


def test_a_message_is_dismissed_by_its_button_and_by_escape(bar, qtbot):
    bar.show_message("warning", "One.")
    bar.findChild(QToolButton).click()
    assert bar.isHidden()
    bar.show_message("warning", "Two.")
    qtbot.keyClick(bar, Qt.Key.Key_Escape)
    assert bar.isHidden()


def test_a_lasting_message_cannot_be_dismissed(bar, qtbot):
    bar.show_message("error", "The disk is full.", lasting=True)
    qtbot.keyClick(bar, Qt.Key.Key_Escape)
    assert not bar.findChild(QToolButton).isVisible()
    assert bar.isVisible()


def test_an_act_is_offered_and_goes_with_its_message(bar):
    done: list[str] = []
    bar.show_message("error", "It is damaged.")
    bar.set_action("Restore & go on", lambda: done.append("restored"))
    act = bar.findChild(QPushButton)
    assert act.text() == "Restore && go on"
    act.click()
    assert done == ["restored"]
    bar.show_message("info", "Another.")
    assert act.isHidden()


@pytest.fixture
def floating(qtbot):
    """A bar over a host that fills a window, and the window."""
    window = QWidget()
    host = QWidget()
    column = QVBoxLayout(window)
    column.addWidget(host)
    bar = MessageBar()
    bar.float_over(host)
    window.resize(900, 500)
    qtbot.addWidget(window)
    window.show()
    qtbot.waitExposed(window)
    return bar, host, window


def test_a_passing_message_lies_over_the_page_and_moves_nothing(floating, qtbot):
    bar, host, window = floating
    before = host.contentsRect()
    bar.show_message("warning", "It cannot be done. " * 12, "Do something else.")
    assert host.contentsRect() == before
    assert host.geometry().contains(bar.geometry())
    window.resize(500, 400)
    qtbot.waitUntil(lambda: host.width() < 500)
    assert host.geometry().contains(bar.geometry())


def test_what_only_informs_goes_away_after_a_while_and_a_refusal_stays(bar, qtbot, monkeypatch):
    monkeypatch.setattr(message_bar, "INFO_MS", 1)
    monkeypatch.setattr(message_bar, "READ_MS", 0)
    bar.show_message("info", "Row 3: no reason.")
    qtbot.waitUntil(bar.isHidden)
    bar.show_message("warning", "It cannot be done.")
    assert not bar._timer.isActive()


def test_a_message_expires_with_its_act_unless_it_lasts_or_offers_a_way_on(bar):
    bar.show_message("warning", "It cannot be done.")
    bar.expire()
    assert bar.isHidden()
    bar.show_message("warning", "The disk is shared.", lasting=True)
    bar.expire()
    assert not bar.isHidden()
    bar.show_message("warning", "Make the sample anew?")
    bar.set_action("Reset", lambda: None)
    bar.expire()
    assert not bar.isHidden()


@pytest.mark.parametrize("level", ["success", "info"])
def test_a_message_that_offers_an_act_goes_with_its_page_and_after_its_time(bar, qtbot, monkeypatch, level):
    bar.show_message(level, "The import is done.")
    bar.set_action("Show", lambda: None)
    bar.expire()
    assert not bar.isHidden()
    bar.expire(left=True)
    assert bar.isHidden()
    monkeypatch.setattr(message_bar, "ACT_MS", 1)
    bar.show_message(level, "The import is done.")
    bar.set_action("Show", lambda: None)
    qtbot.waitUntil(bar.isHidden)


def test_a_message_of_any_page_lies_over_what_is_there(sample, window_over):
    window = window_over(sample)
    for name in PAGES:
        window.show_page(name)
        window.session.wait()
    pushing = [bar for bar in window.findChildren(MessageBar) if bar._host is None]
    # What is said there is part of what is shown: why a text is plain, why a plan cannot be met, how drafting ended,
    # whose key is to be compared.
    own = {TextPane, PlanPreview, SetDrafting, FolderLine}
    assert [type(bar.parent()) for bar in pushing if type(bar.parent()) not in own] == []
