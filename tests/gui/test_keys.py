"""The bindings: unique as shipped, changed by the person, never in each other's way."""

import pytest

from annotator.gui import keys
from annotator.gui.steps import ASIDE, STEPS


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
