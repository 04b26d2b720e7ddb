"""The command palette: a search over acts, pages, items, people and texts."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPointF, QSize, Qt
from PySide6.QtGui import (
    QFocusEvent,
    QFont,
    QFontMetrics,
    QKeyEvent,
    QPainter,
    QTextCharFormat,
    QTextLayout,
    QTextOption,
)
from PySide6.QtWidgets import (
    QListView,
    QStyleOptionViewItem,
    QWidget,
)
from shiboken6 import isValid

from annotator.actions import search
from annotator.actions.items import items
from annotator.actions.search import SearchIndex
from annotator.gui import keys, theme
from annotator.gui.parts import focused
from annotator.gui.review.queues import LINE_ROLE, LinesModel, PaintingDelegate
from annotator.gui.review.sheets import Index, resetting
from annotator.gui.shell import menus
from annotator.gui.widgets.basics import PlainLabel, RoleFrame, direction_of, vertical, with_properties
from annotator.gui.widgets.columns import END, START, is_chosen, paint_ground
from annotator.gui.widgets.fields import LineField
from annotator.gui.widgets.reading.marked_text import format_ranges

if TYPE_CHECKING:
    from annotator.gui.shell.window import Window

ACTS, PAGES, RECENT = "Acts", "Pages", "Recent"
# At 100 %: maximum width, distance to the window's edges, and the share of a row that the title may take.
WIDEST, EDGE, TITLE = 760, 24, 0.34
MOST_RECENT = 6
# Reasons for a loss of focus after which the focus returns by itself.
PASSING = (Qt.FocusReason.ActiveWindowFocusReason, Qt.FocusReason.PopupFocusReason)
MOVED = ("check_card", "keep_task")
"""Acts that had the palette's key in earlier versions; each is announced once, on its page."""
MOVES = {
    Qt.Key.Key_Down: (1, False),
    Qt.Key.Key_Up: (-1, False),
    Qt.Key.Key_Tab: (1, False),
    Qt.Key.Key_Backtab: (-1, False),
    Qt.Key.Key_PageDown: (8, True),
    Qt.Key.Key_PageUp: (-8, True),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """A line of the palette: its kind, its words with the matches marked, and what choosing it does."""

    kind: str
    words: str
    do: Callable[[], object]
    title: str = ""
    key: str = ""
    marks: tuple[tuple[int, int], ...] = ()

    def meets(self, typed: Sequence[str]) -> bool:
        return all(word in search.fold(f"{self.title} {self.words}") for word in typed)


class ChoicesModel(LinesModel):
    """Choices in groups, each below a heading, which is plain text."""

    def words(self, line: Choice | str) -> str:
        if isinstance(line, str):
            return line
        return " ".join(filter(None, (line.title, line.words, line.key)))

    spoken = words

    def flags(self, index: Index) -> Qt.ItemFlag:
        return Qt.ItemFlag.NoItemFlags if isinstance(self.line_at(index.row()), str) else super().flags(index)

    def places(self) -> list[int]:
        """The rows that can be chosen."""
        return [row for row, line in enumerate(self._rows) if isinstance(line, Choice)]

    def show(self, rows: Sequence[Choice | str]) -> None:
        with resetting(self):
            self._rows = rows


class Palette(RoleFrame):
    """An overlay of the window, open until something is chosen, Esc is pressed, or the focus moves elsewhere."""

    def __init__(self, window: "Window") -> None:
        super().__init__("palette", window)
        self._window, self._session = window, window.session
        self._index: SearchIndex | None = None
        self._recent: list[Choice] = []
        self._known: list[Choice] = []
        self._held: QWidget | None = None
        self._person = ""
        self._waits = self._enters = False
        """Whether texts are being gathered, and whether Enter was pressed before they were there."""
        self.field = LineField(
            placeholderText="Find an act, a page, an item or words in any text…",
            clearButtonEnabled=True,
            accessibleName="Find an act, a page, an item or words in any text",
            textChanged=lambda: self._narrow(),
        )
        self.list = with_properties(
            QListView(),
            accessibleName="What was found",
            uniformItemSizes=True,
            focusPolicy=Qt.FocusPolicy.NoFocus,
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
            mouseTracking=True,
        )
        self.choices = ChoicesModel(self.list)
        self.list.setModel(self.choices)
        self.list.setItemDelegate(_Lines(self.list))
        self.news = PlainLabel(role="hint", wrap=True)
        vertical(self.field, (self.list, 1), self.news, on=self, margins=(8, 8, 8, 8), spacing=6)
        self.field.installEventFilter(self)
        self.list.clicked.connect(self._choose)
        self.list.selectionModel().currentChanged.connect(
            lambda index, _: self.field.setAccessibleDescription(index.data() or "")
        )
        window.installEventFilter(self)
        theme.apply_theme(self)
        theme.watch(self, self._reposition)
        self.hide()

    def turn(self) -> None:
        """Open the palette, or close it if it is open."""
        if self.isVisible():
            self.dismiss()
            return
        if self._person != self._session.project.by:
            self._person, self._index, self._recent = self._session.project.by, None, []
        self._held, self._waits = focused(self._window), False
        self._known = [*self._acts(), *self._pages()]
        self.field.clear()
        self._reposition()
        self.show()
        self.raise_()
        self.field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self._narrow()
        moved = [act for act in MOVED if act in self._window.page.bound() and keys.is_news(f"key of {act}")]
        self.news.show_words(
            " ".join(f"“{keys.named(act).title}” has the key {keys.shown(act)} now." for act in moved)
        )

    def dismiss(self) -> None:
        """Close the palette and restore the focus."""
        held = self._held
        if held is not None and isValid(held) and held.isVisible():
            held.setFocus(Qt.FocusReason.OtherFocusReason)
        self.hide()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if watched is self._window:
            if event.type() == QEvent.Type.Resize:
                self._reposition()
        elif isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress:
            return self._press(event.key())
        elif isinstance(event, QFocusEvent) and event.lostFocus() and event.reason() not in PASSING:
            self.hide()
        return super().eventFilter(watched, event)

    def _press(self, key: int) -> bool:
        if key == Qt.Key.Key_Escape:
            self.dismiss()
        elif key in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            # An Enter typed before the results are there takes effect once they are.
            self._enters = not self._choose(self.list.currentIndex())
        elif key in MOVES:
            self._step(*MOVES[Qt.Key(key)])
        else:
            return False
        return True

    def _step(self, by: int, stops: bool) -> None:
        rows = self.choices.places()
        here = self.list.currentIndex().row()
        if here in rows:
            place = rows.index(here) + by
            last = len(rows) - 1
            self._go(rows[max(0, min(place, last)) if stops else place % len(rows)])

    def _go(self, row: int) -> None:
        self.list.setCurrentIndex(self.choices.index(row))

    def _choose(self, index: Index) -> bool:
        """Trigger a row's choice; whether the row can be chosen."""
        choice = index.data(LINE_ROLE)
        if isinstance(choice, Choice):
            self._recent = [choice, *(one for one in self._recent if one.words != choice.words)][:MOST_RECENT]
            self.dismiss()
            self._session.attempt(choice.do)
        return isinstance(choice, Choice)

    def _narrow(self) -> None:
        """Show the matches; after a change in the project, gather the texts again on another thread."""
        self._enters = False
        if self._index is None or self._index.moment != self._session.ask(search.moment):
            self._index = None
            if not self._waits:
                self._session.ask_newest(self._search, search.gather)
            self._waits = True
        self._show()

    def _search(self, index: SearchIndex) -> None:
        self._index, self._waits = index, False
        if self.isVisible():
            self._show(keep=True)
            if self._enters:
                self._choose(self.list.currentIndex())

    def _show(self, *, keep: bool = False) -> None:
        """List the matches by kind; `keep` the current row, because new ones are added below it."""
        words = search.fold(self.field.text()).split()
        here = self.list.currentIndex().row() if keep else -1
        rows = list[Choice | str]()
        for kind, group in groupby(self._listed(words), key=lambda one: one.kind):
            of_kind = list(group)
            most = search.MOST if words else len(of_kind)
            rows += [f"{kind} · the first {most}" if len(of_kind) > most else kind, *of_kind[:most]]
        if not rows or not self._index:
            rows.append("Nothing found" if self._index else "Searching texts…")
        self.choices.show(rows)
        self._go(here if 0 < here < len(rows) else min(1, len(rows) - 1))
        self._reposition()
        if not keep:
            self.list.scrollToTop()

    def _listed(self, words: Sequence[str]) -> Iterator[Choice]:
        if not words:
            yield from self._recent_places()
            yield from (one for one in self._known if one.kind == ACTS)
            return
        first = search.fold(" ".join(words))
        met = [one for one in self._known if one.meets(words)]
        met.sort(key=lambda one: (one.kind, not search.fold(one.words).startswith(first)))
        for choice in met:
            yield replace(choice, marks=search.marks(choice.words, words))
        go = self._session.go
        for hit in self._index.hits(self.field.text()) if self._index else ():
            yield Choice(hit.kind, hit.words, partial(go, hit.page, **hit.place), hit.title, marks=hit.marks)

    def _acts(self) -> Iterator[Choice]:
        """The acts of the page in view, then the menu entries."""
        page, titles = self._window.page, set[str]()
        for act in page.bound():
            binding = keys.named(act)
            titles.add(binding.title)
            yield Choice(ACTS, binding.title, partial(page.press, act), page.NAME, keys.shown(act))
        for menu, entries in menus.menus(self._window):
            for act, words, do in filter(None, entries):
                plain, _, key = keys.with_keys(words).replace("&", "").removesuffix("…").partition("\t")
                if act != "palette" and plain not in titles:
                    yield Choice(ACTS, plain, do, menu.replace("&", ""), keys.shown(act) if act else key)

    def _pages(self) -> Iterator[Choice]:
        for place, tab in self._window.offered():
            go = partial(self._window.show_part, tab.page, tab.part)
            first = tab == place.tabs[0]
            key = self._window.navigation.key(place.name) if first else ""
            yield Choice(PAGES, place.name if first else tab.words, go, "" if first else place.name, key)

    def _recent_places(self) -> Iterator[Choice]:
        """The latest choices, then the pages visited last, each at the location where it was left."""
        here = {(one.title, one.words) for one in self._known}
        for choice in self._recent:
            # An act of a page is offered only while that page is in view.
            if choice.kind != ACTS or (choice.title, choice.words) in here:
                yield Choice(RECENT, choice.words, choice.do, choice.title, choice.key)
        for page in self._window.visited()[1:MOST_RECENT]:
            at = page.place()
            lines = self._session.ask(items.lines, [at["item_id"]] if "item_id" in at else []) or []
            words = [f"{line.key}  {' '.join(line.question.split())}" for line in lines] or [page.NAME]
            go = partial(self._window.show_page, page.NAME, **at)
            yield Choice(RECENT, words[0], go, page.NAME if lines else "")

    def _reposition(self) -> None:
        """Lie below the menu bar, as wide as there is room for and as high as the lines need."""
        px, window = theme.current().px, self._window
        edge = px(EDGE)
        wide, top = min(px(WIDEST), window.width() - 2 * edge), window.menuBar().height() + edge // 2
        row, many = max(0, self.list.sizeHintForRow(0)), self.choices.rowCount()
        self.list.setFixedHeight(max(row, min(row * many + px(6), window.height() - top - px(120))))
        self.setGeometry((window.width() - wide) // 2, top, wide, self.sizeHint().height())


class _Lines(PaintingDelegate):
    """Paints title, words in the direction of their script, and the key on the right."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        return QSize(theme.current().px(200), option.fontMetrics.height() + theme.current().px(10))

    def paint_line(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        choice: Choice | str = index.data(LINE_ROLE)
        px = theme.current().px
        area = option.rect.adjusted(px(10), 0, -px(10), 0)
        if isinstance(choice, str):
            small = QFont(option.font)
            small.setWeight(QFont.Weight.DemiBold)
            painter.setFont(small)
            painter.setPen(theme.token("text-muted"))
            painter.drawText(area.adjusted(0, px(4), 0, 0), START, choice)
        else:
            paint_ground(painter, option, option.rect.adjusted(px(2), 1, -px(2), -1))
            metrics = option.fontMetrics
            painter.setPen(theme.token("on-selection" if is_chosen(option) else "text-muted"))
            painter.drawText(area, END, choice.key)
            area.adjust(0, 0, -(metrics.horizontalAdvance(choice.key) + px(12)) if choice.key else 0, 0)
            title = metrics.elidedText(
                choice.title, Qt.TextElideMode.ElideMiddle, round(area.width() * TITLE)
            )
            painter.drawText(area, START, title)
            area.adjust(metrics.horizontalAdvance(title) + px(10) if title else 0, 0, 0, 0)
            painter.setPen(theme.token("on-selection" if is_chosen(option) else "text"))
            layout = _line_of(choice, option.font, area.width())
            spare = area.height() - layout.boundingRect().height()
            layout.draw(painter, QPointF(area.left(), area.top() + spare / 2))


def _line_of(choice: Choice, font: QFont, width: int) -> QTextLayout:
    """The words in one line of this width, with the matches in bold."""
    bold = QFont(font)
    bold.setWeight(QFont.Weight.Bold)
    shown = QFontMetrics(bold).elidedText(choice.words, Qt.TextElideMode.ElideRight, width)
    layout, option = QTextLayout(shown, font), QTextOption()
    right = direction_of(choice.words) == Qt.LayoutDirection.RightToLeft
    option.setTextDirection(Qt.LayoutDirection.RightToLeft if right else Qt.LayoutDirection.LeftToRight)
    option.setAlignment(Qt.AlignmentFlag.AlignRight if right else Qt.AlignmentFlag.AlignLeft)
    option.setWrapMode(QTextOption.WrapMode.NoWrap)
    layout.setTextOption(option)
    heavy = QTextCharFormat()
    heavy.setFontWeight(QFont.Weight.Bold)
    layout.setFormats(format_ranges(choice.words, choice.marks, heavy))
    layout.beginLayout()
    layout.createLine().setLineWidth(width)
    layout.endLayout()
    return layout
