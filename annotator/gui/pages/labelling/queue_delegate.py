"""Drawing of a line in the label queue: an item's question, or a report with its progress."""

from PySide6.QtCore import QRect, QSize
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from annotator.actions.labelling.label_tasks import LabelTask
from annotator.gui import theme
from annotator.gui.pages.labelling.label_queue import ROW_ROLE, ItemGroup, state_of
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

# State of a report → icon and colour.
STATES = {
    "new": ("new", "state-missing"),
    "begun": ("clock", "state-incomplete"),
    "unsure": ("question", "state-unconfirmed"),
    "done": ("check", "state-agreed"),
    "submitted": ("lock", "state-agreed"),
}


class LabellingQueueDelegate(QStyledItemDelegate):
    """Lines of one height, so that a list of thousands is laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        """The same height for every line; the width is the list's."""
        return QSize(theme.current().px(120), option.fontMetrics.height() + theme.current().px(12))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        row = index.data(ROW_ROLE)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if isinstance(row, ItemGroup):
            self._paint_group(painter, option, row)
        elif isinstance(row, LabelTask):
            self._paint_task(painter, option, row)
        painter.restore()

    def _paint_group(self, painter: QPainter, option: QStyleOptionViewItem, group: ItemGroup) -> None:
        px, area = theme.current().px, option.rect
        painter.setPen(theme.token("text"))
        rest = paint_key(painter, option, area.adjusted(px(8), 0, -px(8), 0), group.item_key)
        painter.setPen(theme.token("text-muted"))
        painter.drawText(rest, START, elided(option, group.question, rest.width()))

    def _paint_task(self, painter: QPainter, option: QStyleOptionViewItem, task: LabelTask) -> None:
        px, area = (
            theme.current().px,
            option.rect.adjusted(theme.current().px(4), 1, -theme.current().px(4), -1),
        )
        paint_ground(painter, option, area)
        name, colour = STATES[state_of(task)]
        size = px(16)
        top = area.top() + (area.height() - size) // 2
        ratio = painter.device().devicePixelRatioF()
        painter.drawPixmap(area.left() + px(10), top, pixmap(name, size, colour, ratio))
        ink = theme.token("on-selection" if is_chosen(option) else "text")
        painter.setPen(ink)
        inner = area.adjusted(px(34), 0, -px(8), 0)
        painter.drawText(inner, START, task.name)
        if task.units == 1:
            # Open or done: the icon says it.
            return
        metrics = option.fontMetrics
        left = inner.left() + metrics.horizontalAdvance(task.name) + px(10)
        right = inner.right() - metrics.horizontalAdvance(f"{task.units:,} of {task.units:,}") - px(10)
        # In a narrow list the bar goes first, then the words; the icon and the tooltip stay.
        if right >= left - px(10):
            painter.drawText(inner, END, f"{task.labelled:,} of {task.units:,}")
        if right - left >= px(16):
            bar = QRect(left, area.center().y() - px(2), min(right - left, px(90)), px(5))
            bar.moveRight(right)
            share = task.labelled / task.units if task.units and task.labelled else None
            paint_bar(painter, bar, share, theme.token(colour))
