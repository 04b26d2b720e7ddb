"""Drawing of a line in the adjudication queue: question, stage, agreement."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from annotator.actions.adjudication.adjudicating import QueueLine
from annotator.domain.experts.agreement import Figure
from annotator.gui import theme
from annotator.gui.review.adjudication_queue import LINE_ROLE, agreement_words, level, state_of
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.icons import pixmap
from annotator.gui.widgets.lists.row_painting import (
    END,
    START,
    elided,
    is_chosen,
    paint_bar,
    paint_ground,
    paint_key,
)

LEVEL_COLOURS = {"low": "state-disagree", "middling": "state-unconfirmed", "high": "state-agreed"}
BAR = 34


class AdjudicationQueueDelegate(QStyledItemDelegate):
    """Three short lines of one height each, so that a long list is laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        """The same height for every line; the width is the list's."""
        px = theme.current().px
        return QSize(px(120), 3 * option.fontMetrics.height() + px(16))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        line = index.data(LINE_ROLE)
        px = theme.current().px
        area = option.rect.adjusted(px(3), 1, -px(3), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option, area)
        high = option.fontMetrics.height()
        inner = area.adjusted(px(8), px(5), -px(8), 0)
        rows = [QRect(inner.left(), inner.top() + n * (high + px(2)), inner.width(), high) for n in range(3)]
        ink, muted = ("on-selection", "on-selection") if is_chosen(option) else ("text", "text-muted")
        self._paint_question(painter, option, rows[0], line, ink)
        self._paint_state(painter, option, rows[1], line, muted)
        self._paint_agreement(painter, option, rows[2], line.agreement, muted)
        painter.restore()

    def _paint_question(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, line: QueueLine, ink: str
    ) -> None:
        px = theme.current().px
        icon, colour, _ = state_of(line)
        size = px(15)
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(
            row.left(), row.center().y() - size // 2, pixmap(icon, size, f"state-{colour}", ratio)
        )
        painter.setPen(theme.token(ink))
        rest = paint_key(painter, option, row.adjusted(size + px(6), 0, 0, 0), line.item_key)
        painter.drawText(rest, START, elided(option, line.question, rest.width()))

    def _paint_state(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, line: QueueLine, ink: str
    ) -> None:
        painter.setPen(theme.token(ink))
        decided = f"{line.decided:,} of {line.rows:,}"
        painter.drawText(row, END, decided)
        room = row.width() - option.fontMetrics.horizontalAdvance(decided) - theme.current().px(8)
        words = f"{line.stage.value.capitalize()} · {state_of(line)[2]}"
        painter.drawText(row, START, elided(option, words, room))

    def _paint_agreement(
        self, painter: QPainter, option: QStyleOptionViewItem, row: QRect, figure: Figure | None, ink: str
    ) -> None:
        px = theme.current().px
        value = figure.value if figure else None
        left = row.left()
        if value is not None:
            bar = QRect(row.left(), row.center().y() - px(2), px(BAR), px(5))
            paint_bar(painter, bar, min(1.0, max(0.0, value)), theme.token(LEVEL_COLOURS[level(value)]))
            left += px(BAR) + px(7)
        painter.setPen(theme.token(ink))
        rest = row.adjusted(left - row.left(), 0, 0, 0)
        painter.drawText(rest, START, elided(option, agreement_words(figure), rest.width()))
