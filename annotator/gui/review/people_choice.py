"""Choices of people and of kinds of error, and tables that compare wordings."""

from collections.abc import Iterable, Sequence
from html import escape

from PySide6.QtCore import QSignalBlocker, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QLayout,
    QTextBrowser,
    QWidget,
)

from annotator.domain.experts.assignment import Person
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.texts.difference import differences
from annotator.gui import keys, theme
from annotator.gui.session.session import named
from annotator.gui.widgets import chips
from annotator.gui.widgets.bars import FlowRow, KeyButton
from annotator.gui.widgets.basics import (
    PlainLabel,
    RoleFrame,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.columns import TickList

FEWEST, MOST = 2, 6
# The button's label while everybody is ticked.
NOBODY = "None"


class PeopleChoice(QWidget):
    """Check boxes for the people of a role; ticks survive a refresh of the list."""

    changed = Signal()

    def __init__(self, title: str, nobody: str) -> None:
        super().__init__()
        self.count = PlainLabel("", "hint")
        self.empty = PlainLabel(nobody, "hint", wrap=True)
        self.list = TickList(f"{title}; Space ticks one")
        self.list.ticked_anew.connect(self._tell)
        self._usual: frozenset[str] = frozenset()
        self._title, self.all = title, push_button("All", self._tick_all, "quiet")
        head = horizontal(PlainLabel(title, "strong"), self.count, StretchSpace(1), self.all, spacing=2)
        vertical(head, self.list, self.empty, StretchSpace(1), on=self, margins=0, spacing=2)

    def fill(self, everybody: Sequence[Person], ticked: frozenset[str]) -> None:
        """Offer these people; once ticks were set by hand, `ticked` applies only to people not offered before."""
        known, selected = self.list.values(), self.chosen()
        by_hand, self._usual = set(selected) != self._usual, ticked
        with QSignalBlocker(self.list):
            self.list.clear()
            for person in everybody:
                name = named(person.alias, person.name)
                on = selected if by_hand and person.id in known else ticked
                self.list.add(person.id, name, name, ticked=person.id in on)
        for part in (self.list, self.all, self.count):
            part.setVisible(bool(everybody))
        self.empty.setVisible(not everybody)
        rows = min(MOST, max(FEWEST, self.list.count()))
        row = self.list.sizeHintForRow(0) if self.list.count() else theme.current().px(26)
        self.list.setFixedHeight(rows * row + 2 * self.list.frameWidth() + theme.current().px(4))
        self._count()

    def chosen(self) -> tuple[str, ...]:
        return self.list.ticked()

    def _tick_all(self) -> None:
        """Tick everybody, or nobody if everybody is ticked."""
        self.list.tick(() if self.all.text() == NOBODY else self.list.values())
        self._tell()

    def _tell(self) -> None:
        self._count()
        self.changed.emit()

    def _count(self) -> None:
        words = NOBODY if len(self.chosen()) == self.list.count() else "All"
        self.all.setText(words)
        self.all.setAccessibleName(f"{words}: {self._title}")
        self.count.setText(f"{len(self.chosen()):,} of {self.list.count()}")

    def sizeHint(self) -> QSize:
        return QSize(theme.current().px(200), super().sizeHint().height())


ACTS = tuple(f"kind_{number}" for number in range(1, 10))
USUAL_ACTS = 4
# The acts used while reviewing a judge's verdict.
OF_VERDICT = ("verdict_kind_1", "verdict_kind_2", "verdict_kind_3", "verdict_kind_4")


class KindRow(QWidget):
    given = Signal(int)
    """A kind, by its index in the order of the keys."""

    def __init__(self, *, readonly: bool, acts: Sequence[str] = ACTS[:USUAL_ACTS]) -> None:
        super().__init__()
        self._readonly = readonly
        self.head = PlainLabel("", "hint")
        self.buttons: list[KeyButton] = []
        row = FlowRow(self, gap=4)
        row.addWidget(self.head)
        for place, act in enumerate(acts):
            button = with_properties(
                KeyButton(
                    "", act=act, role="quiet", press=lambda _=False, place=place: self.given.emit(place)
                ),
                checkable=True,
                focusPolicy=Qt.FocusPolicy.NoFocus,
            )
            self.buttons.append(button)
            row.addWidget(button)
        self.hide()

    def show_kind(self, taxonomy: Taxonomy | None, kind: str, suggested: str) -> None:
        """Offer the kinds of a taxonomy, with `kind` checked and the one `suggested` by the label itself marked."""
        self.setVisible(taxonomy is not None and not (self._readonly and not kind))
        if taxonomy is None:
            return
        self.head.setText(taxonomy.head)
        for button, value in zip(self.buttons, taxonomy.kinds, strict=False):
            by_itself = value.name == suggested
            button.set_words(f"{value.words}?" if by_itself and not kind else value.words)
            button.set_hint(f"{value.hint}. Suggested by the label itself." if by_itself else value.hint)
            button.setChecked(value.name == kind)
            button.setEnabled(not self._readonly)
        for place, button in enumerate(self.buttons):
            button.setVisible(place < len(taxonomy.kinds))
        self.updateGeometry()


# Display names of the fields after which the guideline's sections are named.
FIELDS = {"value": "The label", "quote": "Evidence", "note": "Note", "flags": "Flag"}


def with_names(words: str) -> str:
    """A guideline's text with the display names of its fields."""
    for field, name in FIELDS.items():
        words = words.replace(f"\n## {field}\n", f"\n## {name}\n")
    return words


class GuidelinePanel(RoleFrame):
    def __init__(self) -> None:
        super().__init__("side")
        self.text = with_properties(QTextBrowser(), role="side", openLinks=False, accessibleName="Guideline")
        self.leave = chips.tool_button("Hide the guideline", "close", size=14)
        vertical(
            horizontal((PlainLabel("Guideline", "subtitle"), 1), self.leave),
            (self.text, 1),
            on=self,
            margins=(10, 8, 8, 8),
        )
        self._shown = ""

    def show_words(self, words: str) -> None:
        if words != self._shown:
            self._shown = words
            self.text.setMarkdown(keys.in_words(with_names(words)))


SAME, OTHERWISE, CAME, WENT = "=", "≠", "+", "−"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, new_is_left: bool = True) -> str:
    """Rows as an HTML table with a sign before each; a third cell of a row becomes a third column.

    The sign of a wording that is only on one side says whether it was added or removed: the newer one is left, or
    right.
    """
    widths = (47, 47) if len(heads) == 2 else (37, 37, 20)
    head = "".join(
        f'<th width="{width}%" align="left">{escape(words)}</th>'
        for width, words in zip(widths, heads, strict=True)
    )
    lines = "".join(_line(*row, new_is_left=new_is_left) for row in rows)
    return f'<table width="98%" cellpadding="6" border="1"><tr><th width="6%"></th>{head}</tr>{lines}</table>'


def _line(left: str, right: str, *more: str, new_is_left: bool) -> str:
    sign = _sign(left, right) if new_is_left else _sign(right, left)
    cells = "".join(f"<td>{cell}</td>" for cell in (*_marked(left, right), *map(lines, more)))
    return f'<tr><td align="center">{sign}</td>{cells}</tr>'


def _sign(new: str, old: str) -> str:
    """The sign shown in addition to the colour: unchanged, reworded, added or removed."""
    if new == old:
        return SAME
    return OTHERWISE if new and old else CAME if new else WENT


def _marked(left: str, right: str) -> tuple[str, str]:
    if not left or not right or left == right:
        return lines(left), lines(right)
    pieces = differences(right, left)
    return (
        "".join(
            _piece(piece.text, marked=piece.kind == "added") for piece in pieces if piece.kind != "removed"
        ),
        "".join(
            _piece(piece.text, marked=piece.kind == "removed") for piece in pieces if piece.kind != "added"
        ),
    )


def _piece(text: str, *, marked: bool) -> str:
    if not marked:
        return lines(text)
    back, fore = theme.token("mark-evidence").name(), theme.token("on-mark").name()
    return (
        f'<span style="background-color:{back};color:{fore};text-decoration:underline">{lines(text)}</span>'
    )


def lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


def column(*parts: QWidget | QLayout, grows: QWidget, above: int = 4) -> QWidget:
    """Parts in one column; the one in `grows` takes the remaining space."""
    shares = ((part, int(part is grows)) for part in parts)
    # While that one is hidden, the others stay at the top.
    return column_of(*shares, StretchSpace(0), margins=(0, above, 0, 0), spacing=4)
