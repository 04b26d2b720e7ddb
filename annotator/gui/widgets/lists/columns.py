"""Column widths of a table: whole titles, and one column that takes the rest."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QHeaderView

from annotator.gui import theme

# The least the stretched column gets, and from which width on another column can spare some.
LEAST, WIDE = 120, 88
# How much of it at most: for what the stretched column would like, and for its least.
GLADLY, AT_MOST = 0.3, 0.45
# What stands in the first rows is measured, no further than so far; around it, and for a picture before it.
MEASURED, LETTERS, MOST, PAD, PICTURE = 60, 60, 240, 24, 22


@dataclass(frozen=True, slots=True)
class ColumnNeeds:
    """Widths of the columns' content in pixels, and columns that show a state as an icon."""

    widths: Mapping[int, int]
    states: frozenset[int]


NOTHING = ColumnNeeds({}, frozenset())


class Columns:
    """Column widths of a table. Manual widths stay until zoom or room changes."""

    def __init__(self, stretched: int, least: int = LEAST) -> None:
        """`stretched` is the column that takes what is left, and `least` at 100 %; -1 for none."""
        self._stretched, self._least = stretched, least
        self._given: tuple[dict[int, int], bool, int] | None = None

    def fit(
        self,
        header: QHeaderView,
        widths: Mapping[int, int],
        room: int,
        firm: Collection[int] = (),
        wanted: ColumnNeeds = NOTHING,
    ) -> None:
        """Give the columns their widths, less where there is no room for all; `firm` ones spare nothing.

        By what stands in them (`wanted`), who has more than that gives first, who has less gets what is over, and
        states are whole.
        The header is asked of its table each time: kept, it can be taken for dead while it lives.
        """
        px = theme.current().px
        stretches = self._stretched >= 0 and not header.isSectionHidden(self._stretched)
        least = max(px(self._least), header.sectionSizeHint(self._stretched)) if stretches else 0
        shown = (place for place in widths if place != self._stretched and not header.isSectionHidden(place))
        titles = {place: header.sectionSizeHint(place) for place in shown}
        fixed = {place: max(title, widths[place]) for place, title in titles.items()}
        liked = max(least, widths.get(self._stretched, 0)) if stretches else 0
        needed_by = {place: max(titles[place], wanted.widths.get(place, fixed[place])) for place in fixed}
        fixed |= {place: needed_by[place] for place in fixed.keys() & wanted.states}
        fixed = _shared(fixed, needed_by, room - liked)
        spares = fixed.keys() - set(firm) - wanted.states
        wide = {place: fixed[place] for place in spares if fixed[place] > px(WIDE)}
        over = sum(fixed.values()) - room
        if over + liked > 0 and wide:
            gladly, needed = ((over + room_of_it) / sum(wide.values()) for room_of_it in (liked, least))
            share = max(min(GLADLY, gladly), min(AT_MOST, needed))
            fixed |= {place: max(titles[place], round(width * (1 - share))) for place, width in wide.items()}
        tight = room - sum(fixed.values()) < least
        if self._given != (fixed, tight, header.count()):
            self._given = fixed, tight, header.count()
            for place, width in fixed.items():
                header.resizeSection(place, width)
            if stretches:
                mode = QHeaderView.ResizeMode
                header.setSectionResizeMode(self._stretched, mode.Interactive if tight else mode.Stretch)
                if tight:
                    # What has no room is scrolled to.
                    header.resizeSection(self._stretched, least)


def _shared(fixed: dict[int, int], needed: Mapping[int, int], room: int) -> dict[int, int]:
    """Columns of which more than they need goes to those that have less, as far as there is no room for all."""
    spare = {place: width - needed[place] for place, width in fixed.items() if width > needed[place]}
    short = {place: needed[place] - width for place, width in fixed.items() if width < needed[place]}
    lacking = sum(fixed.values()) + sum(short.values()) - room
    if lacking > 0 and spare:
        share = min(1.0, lacking / sum(spare.values()))
        fixed = fixed | {place: fixed[place] - round(more * share) for place, more in spare.items()}
    left = room - sum(fixed.values())
    if left > 0 and short:
        share = min(1.0, left / sum(short.values()))
        fixed = fixed | {place: fixed[place] + int(less * share) for place, less in short.items()}
    return fixed


def wanted(view: QAbstractItemView) -> ColumnNeeds:
    """What the first rows of a table ask for; nothing is read before it is seen."""
    if not view.isVisible():
        return NOTHING
    model, px, measure = view.model(), theme.current().px, view.fontMetrics().horizontalAdvance
    widths, states = dict[int, int](), set[int]()
    for place in range(model.columnCount()):
        cells = [model.index(row, place, QModelIndex()) for row in range(min(MEASURED, model.rowCount()))]
        words = {str(cell.data() or "")[:LETTERS] for cell in cells}
        if any(cell.data(Qt.ItemDataRole.DecorationRole) for cell in cells):
            states.add(place)
        widest = max(map(measure, words), default=0) + px(PICTURE if place in states else 0)
        widths[place] = min(px(MOST), widest + px(PAD))
    return ColumnNeeds(widths, frozenset(states))
