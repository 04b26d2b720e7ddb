"""A scroll area whose content needs more height in a wider room: it comes to rest, with its bar."""

from PySide6.QtCore import QSize
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QWidget

from annotator.gui.widgets.plain_area import PlainArea
from tests.house import reading

HIGH, LOW, FROM, ROOM = 500, 100, 300, 200


class Contrary(QWidget):
    """Higher the wider: with the bar it would need none, without it, it would."""

    asked = 0
    high = LOW

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        high = HIGH if self.width() >= FROM else LOW
        if high != self.high:
            self.high = high
            self.updateGeometry()

    def minimumSizeHint(self) -> QSize:
        self.asked += 1
        return QSize(50, HIGH if self.width() >= FROM else LOW)


def test_a_bar_that_would_come_and_go_for_ever_comes_to_rest(qtbot):
    inside = Contrary()
    area = PlainArea("Contrary", inside)
    qtbot.addWidget(area)
    area.show()
    for width in range(FROM - 3, FROM + 40):
        inside.asked = 0
        area.resize(width, ROOM)
        qtbot.wait(5)
        assert inside.asked < 50, width
        bar = area.verticalScrollBar()
        assert bar.isVisible() or inside.height() <= ROOM, width
        assert inside.width() == area.viewport().width(), width


def test_a_bar_goes_once_there_is_room(qtbot):
    area = PlainArea("Contrary", Contrary())
    qtbot.addWidget(area)
    area.show()
    for width in range(FROM - 3, FROM + 40):
        area.resize(width, ROOM)
        area.resize(width, HIGH + 10)
        qtbot.wait(5)
        assert not area.verticalScrollBar().isVisible(), width


def test_every_part_of_a_page_that_scrolls_is_such_an_area():
    using = {
        reading.name(path) for path in reading.files("annotator") if "QScrollArea" in path.read_text("utf-8")
    }
    assert using == {
        "annotator/gui/views/picture_pane.py",
        "annotator/gui/widgets/plain_area.py",
    }
