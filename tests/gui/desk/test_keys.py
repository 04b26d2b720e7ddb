"""The bindings: unique as shipped, changed by the person, never in each other's way."""

import re

import pytest
from PySide6.QtCore import QObject, QSettings

from annotator.gui import keys
from annotator.gui.shell.steps import ASIDE, STEPS
from tests.gui.shell.test_window import EVERY_PAGE


def test_every_act_is_bound_once():
    acts = [binding.act for binding in keys.BINDINGS]
    assert len(acts) == len(set(acts))


@pytest.mark.parametrize("binding", keys.BINDINGS, ids=lambda binding: binding.act)
def test_no_key_as_shipped_clashes(binding):
    assert [keys.clash(binding.act, key) for key in binding.keys] == [None] * len(binding.keys)


def test_bindings_belong_to_pages_there_are():
    pages = {binding.page for binding in keys.BINDINGS} - {keys.EVERYWHERE}
    assert pages <= {step[0] for step in STEPS} | {aside[0] for aside in ASIDE}


def test_a_taken_key_is_refused_with_the_name_of_what_has_it():
    taken = keys.rebind("flag", "Ctrl+M")
    assert taken is not None
    assert taken.title == "Note"
    assert keys.shown("flag") == "Ctrl+G"


def test_a_free_key_is_taken_over_and_given_back():
    assert keys.rebind("flag", "Ctrl+Alt+G") is None
    assert keys.shown("flag") == "Ctrl+Alt+G"
    keys.restore_all()
    assert keys.shown("flag") == "Ctrl+G"


@pytest.mark.parametrize("letter", ["I", "U", "R", "E", "Space"])
def test_letters_that_mean_opposites_elsewhere_decide_nothing(letter):
    assert all(letter not in binding.keys for binding in keys.BINDINGS)


def printed(window) -> set[str]:
    """All that the window says in words, hints and prompts, on every page that was made."""
    names = ("text", "toolTip", "placeholderText", "accessibleName")
    return {
        f"{type(each).__name__}.{name}: {words}"
        for each in window.findChildren(QObject)
        for name in names
        if isinstance(words := each.property(name), str) and words
    }


def test_a_key_that_was_changed_is_named_nowhere_by_its_old_name(sample, window_over, qtbot):
    window = window_over(sample)

    def look_at_all() -> set[str]:
        for name in EVERY_PAGE:
            if name != "Keys":
                window.show_page(name)
                window.desk.wait()
                qtbot.wait(20)
        return printed(window)

    # These are said of other things too.
    old = {keys.shown(binding.act) for binding in keys.BINDINGS} - {
        *"0123456789",
        *"ASDF",
        "Up",
        "Down",
        "F1",
    }
    named = re.compile(rf"(?<![\w+])({'|'.join(map(re.escape, sorted(old)))})(?![\w+])")
    assert any(named.search(words) for words in look_at_all())
    for binding in keys.BINDINGS:
        QSettings().setValue(f"keys/{binding.act}", "Ctrl+Alt+F35")
    window.rebind()
    assert "\n".join(sorted(words for words in look_at_all() if named.search(words))) == ""
