"""The end of a job leaves the page, the focus and what is being typed as they are."""

import ast
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QPushButton, QTabWidget, QWidget

import annotator.gui
from annotator.actions.items import items
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.change import Change
from annotator.gui.desk.child import Child
from annotator.gui.shell.steps import ASIDE, STEPS
from annotator.gui.shell.window import Window
from tests.windows.labelling_keys import be_active, focus, type_words
from tests.windows.settling import settle

# What jobs tell of themselves when they end.
TOLD = ("import", "parcel", "judge_run", "attack", "response", "extract", "page", "release")
LINE = json.dumps({"event": "progress"})
PAGES = [name for name, *_ in (*STEPS, *ASIDE)]


@pytest.fixture
def window(small, window_over, qtbot):
    made = window_over(small)
    be_active(made, qtbot)
    return made


def test_an_answer_that_comes_late_does_not_take_the_focus(window, qtbot):
    search, table = window.page.search, window.page.table
    search.setFocus()
    window.desk.ask_later(lambda _: table.setFocus(), items.count)
    qtbot.waitUntil(lambda: not window.desk._errands)
    assert focus() is search


def test_where_the_field_itself_goes_the_focus_may_go_on(window, qtbot):
    search, table = window.page.search, window.page.table
    search.setFocus()

    def turn(_: int) -> None:
        search.hide()
        table.setFocus()

    window.desk.ask_later(turn, items.count)
    qtbot.waitUntil(lambda: not window.desk._errands)
    assert focus() is table


def test_a_click_on_what_goes_with_it_leaves_the_focus_on_something_seen(window, qtbot):
    page = window.page
    part, other = QWidget(page), QPushButton("Other", page)
    button = QPushButton("Done with it", part)
    for widget in (part, other):
        widget.show()
    button.clicked.connect(part.deleteLater)
    button.setFocus()
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    qtbot.wait(20)
    held = window.focusWidget()
    assert held is not None
    assert held.isVisible()
    assert page.isAncestorOf(held)


def test_a_process_that_ends_does_not_take_the_focus(window, qtbot, monkeypatch):
    monkeypatch.setattr(
        "annotator.gui.desk.child.command", lambda: (sys.executable, ["-c", f"print({LINE!r})"])
    )
    search, table, child = window.page.search, window.page.table, Child(window.desk, window)
    child.progressed.connect(lambda _: table.setFocus())
    child.ended.connect(lambda *_: table.setFocus())
    search.setFocus()
    with qtbot.waitSignal(child.ended):
        child.start(RunRequest("baseline"))
    assert focus() is search


@pytest.fixture
def pressed(window, qtbot):
    """A button of the page in view, pressed for a job and out of use until that has ended."""
    button = QPushButton("Do it", window.page)
    button.show()
    button.setFocus()
    assert focus() is button
    return button


def work_out(window: Window, button: QPushButton, then: Callable[[], None]) -> None:
    """Put the button out of use and run a job that ends with `then`."""
    button.setEnabled(False)
    window.desk.do_later(lambda _: then(), lambda *_: None, lambda _project, progress: progress("", 0, 0))


def ended(window: Window, qtbot) -> None:
    qtbot.waitUntil(lambda: not window.desk._errands)


def test_the_button_that_was_pressed_hands_the_keyboard_to_its_answer(window, pressed, qtbot):
    table = window.page.table
    work_out(window, pressed, table.setFocus)
    assert focus() not in (pressed, table)
    ended(window, qtbot)
    assert focus() is table


def test_the_button_that_was_pressed_has_the_keyboard_back_once_it_can_be_used(window, pressed, qtbot):
    work_out(window, pressed, lambda: pressed.setEnabled(True))
    assert focus() is not pressed
    ended(window, qtbot)
    assert focus() is pressed


def test_whoever_went_on_from_the_button_meanwhile_is_left_where_they_are(window, pressed, qtbot):
    search, table = window.page.search, window.page.table
    work_out(window, pressed, table.setFocus)
    search.setFocus()
    type_words("w")
    ended(window, qtbot)
    assert (focus(), search.text()) == (search, "w")


def test_the_end_of_a_job_is_said_with_a_way_to_it(window):
    window.desk.tell_end("It is done.", "Release")
    assert (window.page.NAME, window.messages.text()) == ("Items", "It is done.")
    window.messages._act.click()
    assert (window.page.NAME, window.messages.text()) == ("Release", "")


def test_what_says_so_itself_and_is_in_view_needs_no_word_of_the_window(window):
    window.desk.tell_end("It is done.", "Items", window.page)
    assert window.messages.text() == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", PAGES)
def test_what_is_typed_anywhere_outlives_the_end_of_any_job(name, sample, window_over, qtbot):
    window = window_over(sample, name)
    be_active(window, qtbot)
    for field in fields(window.page, lambda: settle(window.page)):
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        if focus() is not field:
            continue
        type_words("wx")
        typed = text_of(field)
        for kind in TOLD:
            window.desk.tell(Change(kind, "", "end", by="another"))
        settle(window.page)
        assert (focus(), text_of(field), window.page.NAME) == (field, typed, name), field.accessibleName()


def fields(page: QWidget, settled: Callable[[], None]) -> Iterator[QWidget]:
    """Every field of a page that can be typed into, tab by tab."""
    tabs = page.findChild(QTabWidget)
    for place in range(tabs.count() if tabs else 1):
        if tabs:
            tabs.setCurrentIndex(place)
        settled()
        found = [*page.findChildren(QLineEdit), *page.findChildren(QPlainTextEdit)]
        yield from (each for each in found if each.isVisible() and each.isEnabled() and not each.isReadOnly())


def text_of(field: QWidget) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()


def test_nothing_that_hears_of_an_end_goes_to_another_page():
    """Read in the code: whatever hears an answer, a verb or a process calls for no page."""
    went = [
        f"{path.name}: {method.name}"
        for path in sorted(Path(annotator.gui.__file__).parent.rglob("*.py"))
        for tree in [ast.parse(path.read_text("utf-8"))]
        for heard in [hearers(tree)]
        for method in ast.walk(tree)
        if isinstance(method, ast.FunctionDef) and method.name in heard and goes(method)
    ]
    assert went == []


def hearers(tree: ast.Module) -> set[str]:
    """The names of the methods and functions that are handed over to hear of an end."""
    names: set[str] = set()
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call) or not isinstance(call.func, ast.Attribute):
            continue
        later = call.func.attr in ("ask_later", "do_later")
        ended = call.func.attr == "connect" and ast.unparse(call.func.value).endswith((".ended", ".came"))
        if later or ended:
            names |= {node.attr for node in ast.walk(call.args[0]) if isinstance(node, ast.Attribute)}
            names |= {node.id for node in ast.walk(call.args[0]) if isinstance(node, ast.Name)}
    return names


def goes(method: ast.FunctionDef) -> bool:
    """Whether it calls for a page itself; what it hands on to be pressed may."""
    inside = [node for node in method.body if not isinstance(node, ast.FunctionDef)]
    lambdas = {id(node) for each in inside for part in ast.walk(each) if isinstance(part, ast.Lambda)
               for node in ast.walk(part)}  # fmt: skip
    calls = [node for each in inside for node in ast.walk(each) if isinstance(node, ast.Call)]
    names = {ast.unparse(call.func) for call in calls if id(call) not in lambdas}
    return any(name.endswith(("desk.go", "show_page", "activateWindow", "raise_")) for name in names)
