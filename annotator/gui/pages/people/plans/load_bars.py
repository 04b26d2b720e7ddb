"""Bars of each person's load: current, added by the plan, to adjudicate."""

from collections.abc import Sequence

from PySide6.QtCore import QRect, QRectF, QSize, Qt
from PySide6.QtGui import QPainter, QPaintEvent
from PySide6.QtWidgets import QSizePolicy, QWidget

from annotator.actions.assignments.planning import Load
from annotator.domain.texts.counting import counted
from annotator.domain.texts.ordering import natural
from annotator.gui import theme
from annotator.gui.desk.naming import named

ROW, BAR, GAP = 24, 10, 10
NAMES, WORDS = 0.25, 0.47
START = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
BEFORE, ADDED, JUDGED = "bar-1", "bar-2", "bar-3"


class LoadBars(QWidget):
    """A line for each person: name, bar, and the same in words."""

    def __init__(self) -> None:
        super().__init__()
        self._load: list[Load] = []
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        theme.watch(self, self.updateGeometry)

    def show_load(self, load: Sequence[Load]) -> None:
        """Show these people's load, by alias."""
        self._load = sorted(load, key=lambda each: natural(each.alias))
        self.setAccessibleName("Load by person")
        self.setAccessibleDescription(
            "; ".join(f"{named(each.alias, each.name)}: {words(each)}" for each in self._load)
        )
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line for each person and one for what the colours mean."""
        return QSize(theme.current().px(360), (len(self._load) + 1) * self._row() if self._load else 0)

    def minimumSizeHint(self) -> QSize:
        """As high as it is, narrower."""
        return QSize(theme.current().px(200), self.sizeHint().height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        """Draw the lines."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        most = max((each.assignments for each in self._load), default=1)
        for place, each in enumerate(self._load):
            self._draw(painter, QRect(0, place * self._row(), self.width(), self._row()), each, most)
        if self._load:
            self._draw_key(painter, QRect(0, len(self._load) * self._row(), self.width(), self._row()))

    def _row(self) -> int:
        return max(theme.current().px(ROW), self.fontMetrics().height() + theme.current().px(6))

    def _draw(self, painter: QPainter, line: QRect, each: Load, most: int) -> None:
        gap, metrics = theme.current().px(GAP), self.fontMetrics()
        names, said = int(line.width() * NAMES), int(line.width() * WORDS)
        painter.setPen(theme.token("text"))
        name = metrics.elidedText(named(each.alias, each.name), Qt.TextElideMode.ElideRight, names)
        painter.drawText(QRect(0, line.top(), names, line.height()), START, name)
        painter.setPen(theme.token("text-muted"))
        short = metrics.elidedText(words(each), Qt.TextElideMode.ElideRight, said)
        painter.drawText(QRect(line.width() - said, line.top(), said, line.height()), START, short)
        bar = QRect(names + gap, line.top(), line.width() - names - said - 2 * gap, line.height())
        self._draw_bar(painter, bar, each, most)

    def _draw_bar(self, painter: QPainter, room: QRect, each: Load, most: int) -> None:
        height = theme.current().px(BAR)
        top = room.top() + (room.height() - height) / 2
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(theme.token("sunken"))
        painter.drawRect(QRectF(room.left(), top, room.width(), height))
        left = float(room.left())
        for count, colour in parts(each):
            wide = room.width() * count / most
            painter.setBrush(theme.token(colour))
            painter.drawRect(QRectF(left, top, max(0.0, wide - 1), height))
            left += wide

    def _draw_key(self, painter: QPainter, line: QRect) -> None:
        px, metrics = theme.current().px, self.fontMetrics()
        left, dot = px(0), px(9)
        for said, colour in (
            ("already assigned", BEFORE),
            ("added by this plan", ADDED),
            ("to adjudicate", JUDGED),
        ):
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token(colour))
            painter.drawRect(QRect(left, line.center().y() - dot // 2, dot, dot))
            painter.setPen(theme.token("text-muted"))
            painter.drawText(QRect(left + dot + px(5), line.top(), line.width(), line.height()), START, said)
            left += dot + px(20) + metrics.horizontalAdvance(said)


def parts(each: Load) -> tuple[tuple[int, str], ...]:
    """A person's load cut up: what they had, what is added, and what of both is adjudication."""
    writing = each.assignments - each.adjudications
    added = min(each.new, writing)
    return (writing - added, BEFORE), (added, ADDED), (each.adjudications, JUDGED)


def words(each: Load) -> str:
    """A person's load in words."""
    said = [counted(each.items, "item")] if each.items else []
    if each.assignments > each.adjudications:
        said.append(counted(each.assignments - each.adjudications, "piece"))
    if each.adjudications:
        said.append(f"{each.adjudications:,} to adjudicate")
    if each.repeats:
        said.append(counted(each.repeats, "repeat"))
    return " · ".join(said)
