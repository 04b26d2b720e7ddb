"""Standard form fields from a kind's table: buttons, a list, a share, or a line of text."""

from annotator.domain.kinds.spec import UnitField
from annotator.gui.forms.fields import ChoiceButtons, PickList, ShareField, TextLine
from annotator.gui.forms.marks import MarkMenu, ToggleButtons

# The keys that choose from a unit's first choice wherever the focus is in it.
CHOOSING = ("weight_1", "weight_2", "weight_3")
LIST_LETTERS = 20
# More would not stand side by side in a small window.
BUTTONS = 11
# Each of the first is chosen by its digit, the others by the arrows.
DIGITS = 9

StandardField = ChoiceButtons | MarkMenu | PickList | ShareField | TextLine


def made(field: UnitField, *, keyed: bool) -> StandardField:
    """The widget of a field; the buttons of a `keyed` one have keys of the page, others are chosen by a digit."""
    if field.asks:
        pick = PickList(field.title, field.asks, letters=LIST_LETTERS)
        pick.offer([(value, words) for value, words, _ in field.options])
        return pick
    if len(field.options) > BUTTONS:
        # Typed digits choose from a list of numbers.
        pick = PickList(field.title, "")
        pick.offer([(value, words or str(value)) for value, words, _ in field.options])
        return pick
    if field.options:
        buttons = [_button(place, keyed, *option) for place, option in enumerate(field.options)]
        return (ToggleButtons if field.several else ChoiceButtons)(field.title, buttons)
    return ShareField() if field.level == "interval" else TextLine(field.title, field.title)


def _button(place: int, keyed: bool, value: object, words: str, hint: str) -> tuple[object, str, str]:
    """The value, what its button says, and its tooltip; a number stands before its words."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    label = f"{value} {words}".strip() if number else words
    meaning = hint or f"{words[:1].upper()}{words[1:]}" or label
    key = f"{{{CHOOSING[place]}}}" if keyed and place < len(CHOOSING) else f"press {place + 1}"
    return value, label, f"{meaning} ({key})" if place < DIGITS else meaning
