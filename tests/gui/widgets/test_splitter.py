"""How the parts of a page share its width, and what is kept of it."""

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from annotator.gui import theme
from annotator.gui.widgets.bars.splitter import Splitter


def splitter_of(qtbot, name: str) -> Splitter:
    made = Splitter(name)
    qtbot.addWidget(made)
    for _ in range(2):
        made.addWidget(QWidget())
    made.resize(609, 200)
    made.show()
    return made


def test_a_splitter_remembers_its_place_under_its_name(qtbot):
    first = splitter_of(qtbot, "somewhere")
    first.moveSplitter(150, 1)
    assert splitter_of(qtbot, "somewhere").sizes() == first.sizes()
    assert splitter_of(qtbot, "elsewhere").sizes() != first.sizes()


def test_what_parts_above_each_other_need_has_room_for_the_handles_between_them(qtbot):
    made = Splitter("stacked")
    qtbot.addWidget(made)
    theme.wear(made)
    for _ in range(3):
        part = QWidget()
        part.setMinimumSize(300, 200)
        made.addWidget(part)
    made.resize(400, 10)
    made.show()
    assert made.orientation() == Qt.Orientation.Vertical
    made.resize(400, made.minimumSizeHint().height())
    assert made.sizes() == [200, 200, 200]


def with_a_list(qtbot, name: str) -> Splitter:
    made = Splitter(name)
    qtbot.addWidget(made)
    for _ in range(2):
        made.addWidget(QWidget())
    made.setSizes([150, 400])
    made.setStretchFactor(1, 1)
    made.grow(made.widget(0), 150)
    made.resize(1600, 200)
    made.show()
    return made


def test_a_list_beside_the_work_grows_with_the_zoom_and_back(qtbot):
    splitter = with_a_list(qtbot, "grows")
    for percent, width in ((100, 150), (200, 300), (100, 150)):
        theme.zoom_to(percent)
        assert splitter.sizes()[0] == width


def test_parts_that_lack_room_side_by_side_are_stacked_until_there_is_room(qtbot):
    around, parts = QWidget(), Splitter("test")
    qtbot.addWidget(around)
    parts.setParent(around)
    for _ in range(2):
        part = QWidget()
        part.setMinimumSize(300, 50)
        parts.addWidget(part)
    parts.resize(700, 400)
    around.show()
    assert parts.orientation() == Qt.Orientation.Horizontal
    parts.resize(500, 400)
    assert parts.orientation() == Qt.Orientation.Vertical
    assert parts.minimumSizeHint().width() == 300
    parts.widget(0).setMinimumWidth(100)
    qtbot.waitUntil(lambda: parts.orientation() == Qt.Orientation.Horizontal)


def test_a_list_that_was_made_wider_stays_wider_at_every_zoom_and_at_the_next_start(qtbot):
    splitter = with_a_list(qtbot, "wider")
    splitter.moveSplitter(170, 1)
    theme.zoom_to(200)
    assert splitter.sizes()[0] == 340
    assert with_a_list(qtbot, "wider").sizes()[0] == 340
    theme.zoom_to(100)
    assert with_a_list(qtbot, "wider").sizes()[0] == 170


def test_a_splitter_moves_by_the_arrow_keys(qtbot):
    splitter = splitter_of(qtbot, "keys")
    before = splitter.sizes()[0]
    qtbot.keyClick(splitter.handle(1), Qt.Key.Key_Right)
    assert splitter.sizes()[0] == before + 24
    qtbot.keyClick(splitter.handle(1), Qt.Key.Key_Left)
    assert splitter.sizes()[0] == before
