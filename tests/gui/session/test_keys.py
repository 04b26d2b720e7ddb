"""The bindings: unique as shipped, changed by the person, never in each other's way."""

import re

import pytest
from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from annotator.domain.kinds.artifact import Kind
from annotator.gui import keys
from annotator.gui.forms import forms
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.shell.navigation import PAGES
from annotator.gui.widgets.bars import KeyButton
from annotator.places import resources
from tests.gui.shell.test_window import EVERY_PAGE
from tests.windows.using import be_active, owned


def test_every_act_is_bound_once_and_no_key_as_shipped_clashes_or_is_a_letter_that_means_opposites():
    acts = [binding.act for binding in keys.BINDINGS]
    assert len(acts) == len(set(acts))
    for binding in keys.BINDINGS:
        assert [keys.clash(binding.act, key) for key in binding.keys] == [None] * len(binding.keys)
        assert not {"I", "U", "R", "E", "Space"} & set(binding.keys), binding.act


def test_bindings_belong_to_pages_there_are():
    pages = {binding.page for binding in keys.BINDINGS} - {keys.EVERYWHERE}
    assert pages <= PAGES.keys()


def test_a_taken_key_is_refused_with_the_name_of_what_has_it_and_a_free_one_taken_over():
    taken = keys.rebind("flag", "Ctrl+M")
    assert taken is not None
    assert taken.title == "Note"
    assert keys.shown("flag") == "Ctrl+G"
    assert keys.rebind("flag", "Ctrl+Alt+G") is None
    assert keys.shown("flag") == "Ctrl+Alt+G"
    keys.restore_all()
    assert keys.shown("flag") == "Ctrl+G"


def printed(window) -> set[str]:
    """All that the window says in words, hints and prompts, on every page that was made."""
    names = ("text", "toolTip", "placeholderText", "accessibleName")
    return {
        f"{type(each).__name__}.{name}: {words}"
        for each in window.findChildren(QObject)
        for name in names
        if isinstance(words := each.property(name), str) and words
    }


def test_keys_stand_in_tooltips_which_follow_a_change_and_on_buttons_only_as_digits_of_answers(
    sample, window_over, qtbot
):
    window = window_over(sample)

    for name in EVERY_PAGE:
        if name != "Keys":
            window.show_page(name)
            window.session.wait()
            qtbot.wait(20)
    # These are said of other things too.
    old = {keys.shown(binding.act) for binding in keys.BINDINGS} - {
        *"0123456789",
        *"ASDF",
        "Up",
        "Down",
        "F1",
        *"=-",
    }
    named = re.compile(rf"(?<![\w+])({'|'.join(map(re.escape, sorted(old)))})(?![\w+])")
    assert any(named.search(words) for words in printed(window))
    printed_on = [button.text() for button in window.findChildren(QAbstractButton)]
    a_key = re.compile(rf"{named.pattern}|\b(Esc|Enter|Del)\b|↵")
    assert [text for text in printed_on if a_key.search(text)] == []
    bound = [button for button in window.findChildren(KeyButton) if button.key]
    assert len(bound) > 50
    assert [button.text() for button in bound if f"({button.key})" not in button.toolTip()] == []
    for binding in keys.BINDINGS:
        QSettings().setValue(f"keys/{binding.act}", "Ctrl+Alt+F35")
    window.bar.show_help(("What the help says of items", ""))
    window.rebind()
    assert window.bar.help.toolTip() == "What the help says of items"
    assert "\n".join(sorted(words for words in printed(window) if named.search(words))) == ""
    follow = [button for button in window.findChildren(KeyButton) if "Ctrl+Alt+F35" in button.toolTip()]
    assert len(follow) > 50


@pytest.fixture
def mac(monkeypatch):
    """The keys as macOS has them; Qt still writes them as on this system."""
    monkeypatch.setattr(keys, "MAC", True)


# What the system does there, whatever program is in front, and what Qt leaves to the menu that it makes by itself.
OF_MACOS = {
    *(
        "Ctrl+Tab",
        "Ctrl+Shift+Tab",
        "Ctrl+H",
        "Ctrl+Alt+H",
        "Ctrl+Alt+D",
        "Ctrl+Space",
        "Ctrl+Alt+Esc",
        "Ctrl+Shift+Q",
    ),
    *(
        "Ctrl+Shift+3",
        "Ctrl+Shift+4",
        "Ctrl+Shift+5",
        "Meta+Up",
        "Meta+Down",
        "Meta+Left",
        "Meta+Right",
        "Meta+Space",
    ),
}


def test_on_macos_no_key_clashes_belongs_to_the_system_or_types_a_character(mac):
    for binding in keys.BINDINGS:
        for sequence in keys.sequences(binding.act):
            key = sequence.toString()
            assert keys.clash(binding.act, key) is None
            assert key not in OF_MACOS
            assert not re.fullmatch(r"Alt\+(Shift\+)?.", key)
            # In a text the Control key with a letter moves the cursor or deletes.
            assert not re.fullmatch(r"Meta\+[A-Z]", key)


def test_macos_has_other_keys_for_what_would_type_or_belongs_to_it(mac):
    wanted = {
        "weight_1": "Meta+1", "sure_high": "Meta+Shift+3", "accept_work": "Ctrl+Alt+A", "next_kind": "Meta+Tab",
        "hold_run": "Ctrl+Shift+H", "unit_up": "Alt+Up", "submit": "Ctrl+Return",
    }  # fmt: skip
    assert {act: keys.sequences(act)[0].toString() for act in wanted} == wanted


def test_a_key_that_a_person_chose_is_left_as_chosen_on_macos(mac):
    assert keys.rebind("flag", "Alt+Y") is None
    assert keys.shown("flag") == "Alt+Y"
    # As on the buttons, and on the key itself.
    assert keys.shown("submit").endswith("Enter")
    keys.restore_all()


def test_help_names_the_keys_of_the_system(mac, monkeypatch):
    symbols = {"Ctrl": "⌘", "Meta": "⌃", "Alt": "⌥", "Shift": "⇧"}

    def native(key) -> str:
        return re.sub(r"(Ctrl|Meta|Alt|Shift)\+", lambda one: symbols[one[1]], QKeySequence(key).toString())

    monkeypatch.setattr(keys, "written", native)
    said = "Use Alt+1 to Alt+4, right after; Ctrl+Enter, Ctrl+PgDown, Ctrl+Z, Ctrl+H · Ctrl+. and Ctrl+Tab. F1 lists."
    shown = "Use ⌃1 to ⌃4, right after; ⌘Return, ⌘PgDown, ⌘Z, ⌘⇧H · ⌘. and ⌃Tab. F1 lists."
    assert keys.in_words(said) == shown
    monkeypatch.setattr(keys, "MAC", False)
    assert keys.in_words(said) == said


def test_every_key_in_the_help_texts_is_one_that_qt_knows(mac):
    texts = [path.read_text("utf-8") for path in (resources() / "help").glob("*.md")]
    named = {key for text in texts for key in keys._IN_WORDS.findall(text)}
    assert {"Ctrl+Enter", "Alt+1", "Ctrl+."} <= named
    assert [key for key in named if "Unknown" in keys.in_words(key) or not keys.in_words(key)] == []


class OnePage(Page):
    """A page of one field, on which Alt+1 and Ctrl+Backspace do something."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.done: list[str] = []
        self.field = QLineEdit("two words", self)
        for act in ("weight_1", "retire_unit"):
            self.bind(act, lambda act=act: self.done.append(act) or True)


@pytest.mark.parametrize(("on_mac", "done"), [(True, []), (False, ["retire_unit"])])
def test_on_macos_the_key_that_deletes_a_line_retires_nothing_from_within_a_field(
    small, qtbot, monkeypatch, on_mac, done
):
    monkeypatch.setattr(keys, "MAC", on_mac)
    monkeypatch.setattr(OnePage, "keeps_words", lambda *_: False)
    page = owned(qtbot, OnePage(ProjectSession(small)))
    page.show()
    be_active(page, qtbot)
    page.field.setFocus()
    QTest.keyClick(page.field, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert page.done == done


@pytest.mark.parametrize(
    ("windows", "pad", "done"), [(True, True, []), (True, False, ["weight_1"]), (False, True, ["weight_1"])]
)
def test_on_windows_the_number_pad_under_alt_types_a_code_into_a_field_and_does_nothing_else(
    small, qtbot, monkeypatch, windows, pad, done
):
    monkeypatch.setattr("annotator.gui.session.page.WINDOWS", windows)
    page = owned(qtbot, OnePage(ProjectSession(small)))
    page.show()
    be_active(page, qtbot)
    page.field.setFocus()
    keypad = Qt.KeyboardModifier.KeypadModifier if pad else Qt.KeyboardModifier.NoModifier
    QTest.keyClick(page.field, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier | keypad)
    assert page.done == done
    QTest.keyClick(page.field, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert (page.done, page.field.text().startswith("two words")) == (done, False)


@pytest.mark.parametrize(("key", "asked"), [(Qt.Key.Key_Down, "next"), (Qt.Key.Key_Up, "previous")])
def test_arrows_go_from_unit_to_unit_also_where_they_belong_to_the_number_pad(qtbot, key, asked):
    """As all of them do on macOS."""
    editor = owned(qtbot, forms.editor(Kind.PLAN))
    editor.show()
    be_active(editor, qtbot)
    editor.setFocus()
    with qtbot.waitSignal(editor.asked) as told:
        QTest.keyClick(editor, key, Qt.KeyboardModifier.KeypadModifier)
    assert told.args[1] == asked
