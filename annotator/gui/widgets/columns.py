"""How wide the columns of a table are: titles whole, and one column takes what is left, but never too little."""

from collections.abc import Collection, Mapping

from PySide6.QtWidgets import QHeaderView

from annotator.gui import theme

# The least the stretched column gets, and from which width on another column can spare some.
LEAST, WIDE = 120, 88
# How much of it at most: for what the stretched column would like, and for its least.
GLADLY, AT_MOST = 0.3, 0.45


class Columns:
    """The widths of a table's columns. What a person moved stays until the zoom or the room changes."""

    def __init__(self, stretched: int) -> None:
        """`stretched` is the column that takes what is left; -1 for none."""
        self._stretched = stretched
        self._given: tuple[dict[int, int], bool, int] | None = None

    def fit(
        self, header: QHeaderView, widths: Mapping[int, int], room: int, firm: Collection[int] = ()
    ) -> None:
        """Give the columns their widths, less where there is no room for all; `firm` ones spare nothing.

        The header is asked of its table each time: kept, it can be taken for dead while it lives.
        """
        px = theme.current().px
        stretches = self._stretched >= 0 and not header.isSectionHidden(self._stretched)
        least = max(px(LEAST), header.sectionSizeHint(self._stretched)) if stretches else 0
        shown = (place for place in widths if place != self._stretched and not header.isSectionHidden(place))
        titles = {place: header.sectionSizeHint(place) for place in shown}
        fixed = {place: max(title, widths[place]) for place, title in titles.items()}
        wide = {place: fixed[place] for place in fixed.keys() - set(firm) if fixed[place] > px(WIDE)}
        over = sum(fixed.values()) - room
        liked = max(least, widths.get(self._stretched, 0)) if stretches else 0
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
