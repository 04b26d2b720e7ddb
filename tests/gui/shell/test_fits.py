"""Every page fits its window: nothing is clipped, overlaps or lies off screen, at any size and zoom that is offered."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QComboBox,
    QHeaderView,
    QLabel,
    QLineEdit,
    QScrollArea,
    QTabBar,
    QWidget,
)

from annotator.actions.items import items
from annotator.gui import theme
from annotator.gui.shell.frame import Frame
from annotator.gui.shell.window import Window
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.bars import ActsBar, Command
from annotator.gui.widgets.columns import LinesTable
from tests.gui.shell.test_window import parts
from tests.projects.small_projects import small_sample
from tests.windows.using import in_view, owned, settle

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QAbstractScrollArea, QTabBar)
PATIENCE = 12
OFF = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
SMALL, LAPTOP, LARGE = (960, 600), (1366, 768), (1920, 1080)
# Here a page may be higher than its room, and scroll up and down.
CROWDED = ((SMALL, 200),)
# These have so much to choose above their figures that they scroll there, too.
HIGH, HIGH_AT = ("Validate Figures", "Validate Disagreements"), (LAPTOP, 150)


def named(widget: QWidget) -> str:
    words = getattr(widget, "text", str)() or widget.accessibleName() or type(widget.parent()).__name__
    return f"{type(widget).__name__} “{words}”"


def controls(seen: Sequence[QWidget]) -> list[QWidget]:
    """What can be used; the parts of a control belong to it."""
    return [
        each for each in seen
        if isinstance(each, CONTROLS)
        and not isinstance(each.parent(), QAbstractSpinBox | QComboBox | QTabBar | QLineEdit)
        and not any(isinstance(above, QAbstractItemView) for above in (each.parent(), each.parent().parent()))
    ]  # fmt: skip


def cut(widget: QWidget, window: Window) -> str:
    """By what a control is cut off without a way to scroll there; empty when by nothing."""
    inner, place = widget, QRect(QPoint(0, 0), widget.size())
    while inner is not window:
        above = inner.parentWidget()
        place = place.translated(inner.pos())
        area = above.parentWidget()
        if isinstance(area, QScrollArea) and area.widget() is inner:
            if area.horizontalScrollBarPolicy() != OFF:
                return ""
            # Up and down it scrolls; across it must be seen.
            place = QRect(place.left(), 0, place.width(), 1)
        if not above.rect().adjusted(-1, -1, 1, 1).contains(place):
            return f"{type(above).__name__} {above.size().toTuple()}"
        inner = above
    return ""


def squeezed(widget: QWidget) -> bool:
    """Whether a control has less room than its own words need."""
    need = widget.minimumSizeHint() * 0.9
    if isinstance(widget, QAbstractButton | QComboBox | QLineEdit | QAbstractSpinBox):
        return widget.height() + 1 < min(need.height(), widget.maximumHeight()) or (
            isinstance(widget, QAbstractButton)
            and widget.width() + 1 < min(need.width(), widget.maximumWidth())
        )
    return False


def faults(window: Window) -> Iterator[str]:
    """What cannot be seen or used as it should."""
    seen = list(in_view(window))
    usable = controls(seen)
    for widget in usable:
        if by := cut(widget, window):
            yield f"{named(widget)} is cut off by {by}"
        if squeezed(widget):
            need = widget.minimumSizeHint().toTuple()
            yield f"{named(widget)} has {widget.size().toTuple()} and needs {need}"
    yield from cut_words(seen)
    yield from cut_edges(seen)
    placed = [(each, each.parent(), each.geometry()) for each in usable]
    for (one, above, here), (other, beside, there) in combinations(placed, 2):
        if above is beside and here.adjusted(2, 2, -2, -2).intersects(there):
            yield f"{named(one)} overlaps {named(other)}"


def cut_words(seen: Sequence[QWidget]) -> Iterator[str]:
    """Words of which a part is not seen: titles of columns, and labels that break into lines."""
    for header in seen:
        if isinstance(header, QHeaderView) and header.orientation() == Qt.Orientation.Horizontal:
            for place in range(header.count()):
                if not header.isSectionHidden(place) and header.sectionSize(place) < header.sectionSizeHint(
                    place
                ):
                    title = header.model().headerData(place, Qt.Orientation.Horizontal)
                    yield f"the title “{title}” is cut off in {header.parent().accessibleName()}"
    for label in seen:
        if isinstance(label, QLabel) and label.wordWrap():
            need = label.heightForWidth(label.width())
            if label.height() + 1 < need:
                yield f"“{label.text()}” has {label.height()} of {need}"


def cut_edges(seen: Sequence[QWidget]) -> Iterator[str]:
    """Areas that lose their right edge and cannot be scrolled there."""
    for area in seen:
        held = isinstance(area, QScrollArea) and area.horizontalScrollBarPolicy() == OFF and area.widget()
        if held and held.width() > area.viewport().width():
            yield f"the right edge of {named(area)} is cut off"


def side_panels(window: Window) -> Iterator[str]:
    """What stands beside the work only when it is asked for, one after the other."""
    author, label = window.show_page("Author"), window.show_page("Label")
    for page, panel, opens in (
        ("Author", "guideline", partial(author.press, "guideline")),
        ("Author", "history", author.sheet.strip.history.trigger),
        ("Author", "model", partial(author.press, "model_draft")),
        ("Label", "queue", lambda: label.queue_pane.isVisible() or label.press("queue")),
    ):
        window.show_page(page)
        opens()
        yield f"{page} with its {panel}"
    figures = window.show_page("Results").findChild(ViewPane)
    yield "Results"
    figures.table.activated.emit(figures.table.currentIndex())
    yield "Results with what lies behind a figure"


def amiss(window: Window, size: tuple[int, int], percent: int, name: str) -> Iterator[str]:
    if window.size().toTuple() != size:
        yield f"the window grew to {window.size().toTuple()}"
    area = window.centralWidget().area
    may = (size, percent) in CROWDED or (name in HIGH and (size, percent) == HIGH_AT)
    higher = area.verticalScrollBar().maximum() and not may
    if area.horizontalScrollBar().maximum() or higher:
        yield f"{window.page.minimumSizeHint().toTuple()} does not fit {area.size().toTuple()}"
    yield from faults(window)


def check(
    window: Window,
    size: tuple[int, int],
    percent: int,
    shown: Callable[[Window], Iterator[str]] = parts,
) -> list[str]:
    """What is amiss in a window that shows one after the other."""
    theme.zoom_to(percent)
    window.resize(*size)
    return [
        f"{name} at {size}: {fault}"
        for name in shown(window)
        for fault in at_rest(window, size, percent, name)
    ]


def at_rest(window: Window, size: tuple[int, int], percent: int, name: str) -> list[str]:
    """What is amiss once all has come that was asked for."""
    for _ in range(PATIENCE):
        settle(window.page)
        # What came last may need more room.
        if not (left := list(amiss(window, size, percent, name))):
            break
        QTest.qWait(100)
    return left


@pytest.mark.timeout(600)
def test_every_page_fits_at_the_largest_zoom_and_after_it_was_zoomed(whole_sample, window_over):
    window = window_over(whole_sample)
    # Half as much room as at the smallest size without a zoom, and a little less than that; and all of it for those who
    # scroll where there is less.
    result = check(window, SMALL, 200) + check(window, LAPTOP, 150)
    result += check(window, LARGE, 200, partial(parts, pages=["Validate"]))
    assert not result, "\n".join(result)


def test_pages_fit_with_their_side_panels_open(sample, window_over):
    window = window_over(sample)
    result = check(window, SMALL, 100, side_panels)
    assert not result, "\n".join(result)


@pytest.mark.parametrize(
    ("page", "part"),
    [("People", "Progress"), ("Judges", "Judges"), ("Judges", "Runs"), ("Material", "Sources")],
)
def test_a_list_in_a_small_window_leaves_columns_out_before_it_scrolls_across(
    sample, window_over, qtbot, page, part
):
    window = window_over(sample, page, part=part)
    window.resize(*SMALL)
    lists = [table for table in window.page.findChildren(LinesTable) if table.isVisible()]
    assert lists
    qtbot.waitUntil(lambda: not any(table.horizontalScrollBar().maximum() for table in lists))


def test_long_names_push_nothing_away(small, window_over, qtbot):
    item = items.ids(small)[0]
    items.change(small, item, key="a-long-key-" * 8, subject="解释反渗透海水淡化的能耗主要来自哪些环节" * 4)
    theme.zoom_to(150)
    window = window_over(small)
    window.resize(*LAPTOP)
    window.show_page("Author", item_id=item)
    across = window.centralWidget().area.horizontalScrollBar()
    qtbot.waitUntil(lambda: window.page.header.about.text() != "")
    QTest.qWait(60)
    assert across.maximum() == 0
    grid = window.show_page("Material", part="Reports").reports.grid
    qtbot.waitUntil(lambda: grid.model().rowCount() > 0)
    QTest.qWait(60)
    assert grid.verticalHeader().width() < 0.3 * grid.width()


def test_a_window_is_put_where_it_was_kept_and_never_off_the_screen(qapp):
    window = Frame()
    screen = window.screen().availableGeometry()
    assert not window.testAttribute(Qt.WidgetAttribute.WA_Moved)
    assert screen.contains(window.frameGeometry())
    window.move(20, 30)
    place = window.pos()
    window.close()
    other = Frame()
    assert other.testAttribute(Qt.WidgetAttribute.WA_Moved)
    assert other.pos() == place
    other.setGeometry(5000, 4000, 3000, 2000)
    other.close()
    lost = Frame()
    assert screen.contains(lost.frameGeometry())
    lost.close()


def test_a_narrow_window_stays_so_at_any_zoom_and_shows_the_steps_by_their_icons(small, window_over, qtbot):
    window = window_over(small, "Author")
    window.resize(1400, 800)
    wide, author = window.navigation.width(), window.navigation._buttons["Author"]
    assert window.navigation.person.isVisible()
    window.resize(*SMALL)
    qtbot.waitUntil(lambda: window.navigation.width() < wide / 2)
    assert author.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
    plain = author.grab().toImage()
    window.navigation.show_waiting("Author", 3)
    assert author.accessibleName() == "Author, 3 waiting"
    assert author.grab().toImage() != plain
    for percent in (80, 130, 200, 100):
        theme.zoom_to(percent)
        qtbot.wait(20)
        assert window.size().toTuple() == SMALL
        least = window.minimumSizeHint().expandedTo(window.minimumSize())
        assert least.width() <= SMALL[0]
        assert least.height() <= SMALL[1]
    window.resize(1400, 800)
    qtbot.waitUntil(lambda: window.navigation.width() == wide)


def test_what_a_bar_has_no_room_for_is_behind_its_last_button(qtbot):
    bar = ActsBar(
        [Command("test_judge", "Try it on something long"), Command("new_judge", "Something else as long")],
        [Command("find", "Look for something in here"), Command("submit", "The main deed of all")],
    )
    # In a window of its own it could not be narrower than its buttons.
    around = owned(qtbot, QWidget())
    bar.setParent(around)
    asked: list[str] = []
    bar.asked.connect(asked.append)
    bar.resize(1600, 50)
    around.show()
    bar.show()
    assert not bar.more.isVisible()
    bar.resize(bar.buttons["submit"].sizeHint().width() + 80, 50)
    assert bar.buttons["submit"].isVisible()
    assert bar.more.isVisible()
    bar.more.menu().aboutToShow.emit()
    hidden = [action.text().split("\t")[0] for action in bar.more.menu().actions()]
    assert hidden == ["Look for something in here", "Try it on something long", "Something else as long"]
    bar.more.menu().actions()[1].trigger()
    assert asked == ["test_judge"]


def test_in_a_small_window_the_source_gives_way_to_the_guideline_until_it_is_read_again(
    sample, window_over, qtbot
):
    window = window_over(sample, "Author")
    window.resize(*SMALL)
    page = window.page
    page.press("guideline")
    qtbot.waitUntil(page.source.isHidden)
    assert page.side.isVisible()
    page.press("find")
    assert page.source.isVisible()
    assert page.source.finder.isVisible()
    assert not page.side.isVisible()


# Of the samples of single papers, what the large one lacks.
THEIR_OWN = {
    "related-work": ("Author", "Label", "Results", "Guidelines"),
    "seminar": ("Author", "Label", "Material", "Contest"),
}


@pytest.mark.parametrize("name", THEIR_OWN)
def test_pages_of_the_sample_of_a_paper_fit(name, tmp_path, window_over):
    window = window_over(small_sample(tmp_path, name))
    result = check(window, LAPTOP, 150, partial(parts, pages=THEIR_OWN[name]))
    assert not result, "\n".join(result)
