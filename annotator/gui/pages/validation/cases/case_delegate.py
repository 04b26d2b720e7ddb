"""Drawing of a line in the list of verdicts: item, unit, both sides."""

from PySide6.QtCore import QRect, QSize, Qt
from PySide6.QtGui import QFontMetrics, QPainter
from PySide6.QtWidgets import QStyledItemDelegate, QStyleOptionViewItem

from annotator.gui import theme
from annotator.gui.pages.validation.cases.verdict_cases import CASE_ROLE, VerdictCase, VerdictCases
from annotator.gui.review.verdicts import face
from annotator.gui.tables.rows import Index
from annotator.gui.widgets.fields.growing_edit import direction_of
from annotator.gui.widgets.icons import pixmap
from annotator.gui.widgets.lists.row_painting import START, elided, is_chosen, paint_ground, paint_key

OPEN = ("open", "new", "missing")


class CaseDelegate(QStyledItemDelegate):
    """Two short lines of one height each, so that a long list is laid out at once."""

    def sizeHint(self, option: QStyleOptionViewItem, _index: Index) -> QSize:
        """The same height for every line; the width is the list's."""
        return QSize(theme.current().px(120), height(option.fontMetrics))

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        """Draw a line."""
        case, model = index.data(CASE_ROLE), index.model()
        assert isinstance(case, VerdictCase)
        assert isinstance(model, VerdictCases)
        px = theme.current().px
        area = option.rect.adjusted(px(3), 1, -px(3), -1)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        paint_ground(painter, option, area)
        high = option.fontMetrics.height()
        inner = area.adjusted(px(8), px(4), -px(8), 0)
        above = QRect(inner.left(), inner.top(), inner.width(), high)
        below = above.translated(0, high + px(1))
        size = px(15)
        _, icon, state = model.faces.get(case.said, OPEN)
        picture = pixmap(icon, size, f"state-{state}", painter.device().devicePixelRatioF())
        painter.drawPixmap(above.left(), above.center().y() - size // 2, picture)
        ink, muted = ("on-selection", "on-selection") if is_chosen(option) else ("text", "text-muted")
        left = size + px(6)
        _paint_unit(painter, option, above.adjusted(left, 0, 0, 0), case, ink)
        painter.setPen(theme.token(muted))
        painter.drawText(
            below.adjusted(left, 0, 0, 0), START, elided(option, _sides(case), below.width() - left)
        )
        painter.restore()


def height(metrics: QFontMetrics) -> int:
    """How high a line is."""
    return 2 * metrics.height() + theme.current().px(12)


def _paint_unit(
    painter: QPainter, option: QStyleOptionViewItem, row: QRect, case: VerdictCase, ink: str
) -> None:
    painter.setPen(theme.token(ink))
    rest, words = paint_key(painter, option, row, case.place.item_key, 3), case.words
    painter.setLayoutDirection(direction_of(words))
    room = rest.width() - theme.current().px(4)
    painter.drawText(rest, START | Qt.AlignmentFlag.AlignAbsolute, elided(option, words, room))
    painter.setLayoutDirection(Qt.LayoutDirection.LayoutDirectionAuto)


def _sides(case: VerdictCase) -> str:
    """What the judge says, and what the person who differs says."""
    judge, *others = case.voices
    said = [face(judge.value, case.protocol).words]
    return " · ".join([*said, *(f"{one.who}: {face(one.value, case.protocol).words}" for one in others)])
