"""Every page fits its window: nothing is clipped, overlaps or lies off screen, at any size and zoom that is offered."""

import gc
import re
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import combinations
from threading import Event

import pytest
from PySide6.QtCore import QAbstractItemModel, QObject, QPoint, QRect, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QAbstractScrollArea,
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QHeaderView,
    QKeySequenceEdit,
    QLabel,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QTabBar,
    QWidget,
)
from shiboken6 import delete, isValid

from annotator.actions.items import items
from annotator.domain.common import Change
from annotator.gui import theme
from annotator.gui.pages.guidelines import SetDrafting
from annotator.gui.pages.people.page import PlanPreview
from annotator.gui.parts import below
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.page import Page
from annotator.gui.session.session import TaskCallbacks
from annotator.gui.session.shared_folder import FolderLine
from annotator.gui.shell.frame import Frame
from annotator.gui.shell.window import Window
from annotator.gui.views.view_pane import ViewPane
from annotator.gui.widgets.bars import ActsBar, Command
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import LinesTable
from annotator.gui.widgets.message_bar import MessageBar
from tests.gui.shell.test_window import parts
from tests.projects.small_projects import small_sample
from tests.windows.using import be_active, focus, in_view, owned, press, settle, type_words

CONTROLS = (QAbstractButton, QComboBox, QLineEdit, QAbstractSpinBox, QAbstractScrollArea, QTabBar)
OFF = Qt.ScrollBarPolicy.ScrollBarAlwaysOff
SMALL, LAPTOP, LARGE = (960, 600), (1366, 768), (1920, 1080)
# These have so much to choose above their figures that they scroll there, too.
HIGH, HIGH_AT = ("Validate Figures", "Validate Disagreements"), (LAPTOP, 150)

# At most so many controls in view; what is needed once a study stands behind a fold or “More”.
MOST = 12
# What opens another form on a tab.
OPENS = {("Judges", "Judges"): ("new_judge", "new_vote"), ("Validate", "Sets"): ("new_set", "labels_in")}
# The tabs that show what a benchmark writes, labels and counts; the others are the same whatever a project uses.
OF_A_BENCHMARK = {
    "Seminars", "Extracts", "Tasks", "Write", "Label", "Rank tasks", "Rounds", "Replies", "Compare", "Answer",
    "Disagreements", "Reviews", "Results",
}  # fmt: skip
# Pages of several parts, between which F6 leads.
OF_SEVERAL = (
    "Author", "Label", "Judges", "Agreement", "Validate", "Exchange", "Material", "People", "Guidelines",
)  # fmt: skip
# What jobs tell of themselves when they end.
TOLD = ("import", "parcel", "judge_run", "attack", "response", "extract", "page", "release")
# What is said there is part of what is shown: why a text is plain, why a plan cannot be met, how drafting ended, whose
# key is to be compared.
SAID_WITHIN = (TextPane, PlanPreview, SetDrafting, FolderLine)


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
    if not isinstance(widget, QAbstractButton | QComboBox | QLineEdit | QAbstractSpinBox):
        return False
    low = widget.height() + 1 < min(need.height(), widget.maximumHeight())
    narrow = widget.width() + 1 < min(need.width(), widget.maximumWidth())
    return low or (narrow and isinstance(widget, QAbstractButton))


def faults(window: Window) -> Iterator[str]:
    seen = list(in_view(window))
    usable = controls(seen)
    for widget in usable:
        if by := cut(widget, window):
            yield f"{named(widget)} is cut off by {by}"
        if squeezed(widget):
            need = widget.minimumSizeHint().toTuple()
            yield f"{named(widget)} has {widget.size().toTuple()} and needs {need}"
    yield from cut_words(seen)
    placed = [(each, each.parent(), each.geometry()) for each in usable]
    for (one, above, here), (other, beside, there) in combinations(placed, 2):
        if above is beside and here.adjusted(2, 2, -2, -2).intersects(there):
            yield f"{named(one)} overlaps {named(other)}"


def cut_words(seen: Sequence[QWidget]) -> Iterator[str]:
    """What is seen in part: titles of columns, labels that break into lines, areas that cannot be scrolled across."""
    for part in seen:
        if isinstance(part, QHeaderView) and part.orientation() == Qt.Orientation.Horizontal:
            for place in range(part.count()):
                if not part.isSectionHidden(place) and part.sectionSize(place) < part.sectionSizeHint(place):
                    title = part.model().headerData(place, Qt.Orientation.Horizontal)
                    yield f"the title “{title}” is cut off in {part.parent().accessibleName()}"
        elif isinstance(part, QLabel) and part.wordWrap():
            need = part.heightForWidth(part.width())
            if part.height() + 1 < need:
                yield f"“{part.text()}” has {part.height()} of {need}"
        elif isinstance(part, QScrollArea) and part.horizontalScrollBarPolicy() == OFF:
            held = part.widget()
            if held and held.width() > part.viewport().width():
                yield f"the right edge of {named(part)} is cut off"


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
    # Here a page may be higher than its room, and scroll up and down.
    may = (size, percent) == (SMALL, 200) or (name in HIGH and (size, percent) == HIGH_AT)
    if area.horizontalScrollBar().maximum() or (area.verticalScrollBar().maximum() and not may):
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
    for _ in range(12):
        settle(window.page)
        # What came last may need more room.
        if not (left := list(amiss(window, size, percent, name))):
            break
        QTest.qWait(100)
    return left


def called_empty(window: Window) -> set[str]:
    seen = [*in_view(window.page)]
    states = {state.findChildren(QLabel)[1].text() for state in seen if isinstance(state, EmptyState)}
    labels = {label.text() for label in seen if isinstance(label, QLabel)}
    return states | {words for words in labels if re.match(r"No matches|(No|Nothing)\b.* yet\b", words)}


def called_empty_early(window: Window, qtbot) -> dict[str, set[str]]:
    """What every part calls empty while the other thread answers nothing."""
    answers, result = Event(), {}
    window.session._tasks_behind.send(lambda _tell: answers.wait(), TaskCallbacks(None))
    try:
        for place in parts(window):
            qtbot.wait(20)
            result[place] = called_empty(window)
    finally:
        answers.set()
    qtbot.waitUntil(lambda: not len(window.session._tasks_behind))
    return result


def counted(page: QWidget) -> set[object]:
    """What a person can use on a page by keyboard or mouse, scrolled out of view or not.

    Tabs are one control, as a list that drops down is. What every row has counts once. The window's own navigation and
    the tabs of a place, rows and lists of rows, texts to be read and dividers between parts are no controls.
    """
    return {
        in_row(widget, page) or widget
        for widget in controls(list(in_view(page)))
        if widget.isEnabled() and widget.focusPolicy().value
        and (not isinstance(widget, QAbstractScrollArea)
             or (isinstance(widget, QPlainTextEdit) and not widget.isReadOnly()))
    }  # fmt: skip


def in_row(widget: QWidget, page: QWidget) -> tuple[str, int] | None:
    """The kind of row that a control stands in, with its place there; None outside of rows."""
    row = widget.parentWidget()
    while row is not None and row is not page:
        alike = [each for each in row.parent().children() if type(each) is type(row)]
        if type(row) is not QWidget and len(alike) > 1:
            return type(row).__name__, controls(list(in_view(row))).index(widget)
        row = row.parentWidget()
    return None


def too_many(window: Window, name: str) -> Iterator[str]:
    if len(met := counted(window.page)) > MOST:
        yield f"{name}: {len(met)} controls"


def amiss_by_keyboard(page: Page) -> Iterator[str]:
    """Whether F6 leads on a page to another part that is seen, and Enter presses what has the focus."""
    met = {focus()}
    for _ in range(2):
        press("F6")
        settle(page)
        met.add(focus())
        if not focus().isVisible():
            yield f"{page.NAME}: F6 leads to {named(focus())}, which is not seen"
    if len(met) == 1 and page.NAME in OF_SEVERAL:
        yield f"{page.NAME}: F6 leads nowhere"
    shown = [one for one in in_view(page) if isinstance(one, QPushButton)]
    button, pressed = QPushButton("Tried", shown[-1].parentWidget() if shown else page), []
    button.clicked.connect(lambda: pressed.append("Tried"))
    button.show()
    press("Return", "Enter", at=button)
    if len(pressed) != 2:
        yield f"{page.NAME}: Return and Enter press {len(pressed)} times"
    delete(button)


def written_into(widget: QWidget) -> list[QLineEdit | QPlainTextEdit]:
    """The fields into which somebody may write, those of forms that are not shown among them."""
    return [
        field
        for field in (*widget.findChildren(QLineEdit), *widget.findChildren(QPlainTextEdit))
        if not field.isReadOnly() and not isinstance(field.parentWidget(), QKeySequenceEdit)
    ]


def text_of(field: QLineEdit | QPlainTextEdit) -> str:
    return field.text() if isinstance(field, QLineEdit) else field.toPlainText()


def amiss_when_typed(window: Window, page: Page, name: str) -> Iterator[str]:
    """Typed words that do not outlive the end of a job; the first field of each kind is typed into."""
    seen = [field for field in written_into(page) if field.isVisible() and field.isEnabled()]
    for field in {type(field): field for field in reversed(seen)}.values():
        field.setFocus(Qt.FocusReason.OtherFocusReason)
        if focus() is not field:
            continue
        type_words("wx")
        typed = text_of(field)
        for kind in TOLD:
            window.session.tell(Change(kind, "", "end", by="another"))
        settle(page)
        if (focus(), text_of(field), window.page) != (field, typed, page):
            yield f"{name}: {named(field)} {typed!r} does not outlive the end of a job"


def amiss_when_pasted(page: Page) -> Iterator[str]:
    QApplication.clipboard().setText("a\x00b")
    for field in written_into(page):
        field.paste()
        if "\x00" in text_of(field):
            yield f"{page.NAME}: {named(field)} takes what cannot be stored"


def amiss_at_rest(
    window: Window, early: dict[str, set[str]], models: dict[type, QAbstractItemModel]
) -> Iterator[str]:
    """What is wrong on a part that has all that it asked for; its models are added to those that were met."""
    offered = {(tab.page, tab.part) for _, tab in window.offered()}
    tried = None
    for name in parts(window):
        page = settle(window.page)
        # What is known at once stays.
        known = set() if page.NAME in ("Judges", "Validate", "Material", "Results") else called_empty(window)
        if not early[name] <= known:
            yield f"{name}: called empty before the answer came: {early[name] - known}"
        held = window.focusWidget()
        if held is None or not held.isVisible():
            yield f"{name}: {type(held).__name__} has the keyboard and is not seen"
        if (page.NAME, page.part_name()) in offered:
            yield from too_many(window, name)
        for model in (view.model() for view in below(page, QAbstractItemView)):
            if type(model).__module__.startswith("annotator"):
                models.setdefault(type(model), model)
        yield from amiss_when_typed(window, page, name)
        if page is not tried:
            yield from amiss_by_keyboard(page)
            yield from amiss_when_pasted(page)
        tried = page


def opened_forms(window: Window) -> Iterator[str]:
    for (page, part), acts in OPENS.items():
        for act in acts:
            window.show_part(page, part)
            window.page.press(act)
            settle(window.page)
            yield from too_many(window, f"{page} {part}, {act}")


def undressed(window: Window) -> list[str]:
    """What opens over the window in other colours, and messages that push their page down."""
    popups = [each for each in window.findChildren(QWidget) if each.windowType() == Qt.WindowType.Popup]
    assert any(isinstance(each, QMenu) for each in popups)
    plain = [each for each in popups if each.style().metaObject().className() != "QStyleSheetStyle"]
    pushing = (type(bar.parent()) for bar in window.findChildren(MessageBar) if bar._host is None)
    return [*map(named, plain), *(each.__name__ for each in pushing if each not in SAID_WITHIN)]


def alive() -> dict[int, str]:
    """Everything of Qt's that the window's own code has made and that is still there."""
    result = (o for o in gc.get_objects() if issubclass(type(o), QObject) and isValid(o))
    return {id(o): type(o).__name__ for o in result if type(o).__module__.startswith("annotator.gui")}


@pytest.mark.timeout(600)
@pytest.mark.usefixtures("nothing_older")
def test_every_page_of_the_sample_fits_at_any_zoom_is_in_order_at_rest_and_goes_with_its_window(
    whole_sample, window_over, qtbot, qtmodeltester
):
    before = alive()
    window = be_active(window_over(whole_sample, "Help"), qtbot)
    theme.zoom_to(200)
    window.resize(*SMALL)
    early = called_empty_early(window, qtbot)
    # Half as much room as at the smallest size without a zoom, and a little less than that; and all of it for those who
    # scroll where there is less.
    result = check(window, SMALL, 200) + check(window, LAPTOP, 150)
    result += check(window, LARGE, 200, partial(parts, pages=["Validate"]))
    theme.zoom_to(100)
    window.resize(*LAPTOP)
    models: dict[type, QAbstractItemModel] = {}
    result += amiss_at_rest(window, early, models)
    for model in models.values():
        qtmodeltester.check(model)
    assert len(models) == 11
    qtmodeltester._cleanup()
    result += opened_forms(window)
    result += check(window, SMALL, 100, side_panels)
    result += undressed(window)
    assert not result, "\n".join(result)
    models.clear()
    window.close()

    def left() -> list[str]:
        gc.collect()
        return [name for which, name in alive().items() if which not in before]

    qtbot.waitUntil(lambda: not left())
    assert left() == []


def test_a_list_in_a_small_window_leaves_columns_out_before_it_scrolls_across(sample, window_over, qtbot):
    window = window_over(sample)
    window.resize(*SMALL)
    for page, part in (
        ("People", "Progress"),
        ("Judges", "Judges"),
        ("Judges", "Runs"),
        ("Material", "Sources"),
    ):
        window.show_part(page, part)
        lists = [table for table in window.page.findChildren(LinesTable) if table.isVisible()]
        assert lists, (page, part)
        qtbot.waitUntil(lambda lists=lists: not any(table.horizontalScrollBar().maximum() for table in lists))


def test_long_names_push_nothing_away(small, window_over, qtbot):
    item = items.ids(small)[0]
    items.change(small, item, key="a-long-key-" * 8, subject="解释反渗透海水淡化的能耗主要来自哪些环节" * 4)
    theme.zoom_to(150)
    window = window_over(small)
    window.resize(*LAPTOP)
    window.show_page("Author", item_id=item)
    qtbot.waitUntil(lambda: window.page.header.about.text() != "")
    QTest.qWait(60)
    assert window.centralWidget().area.horizontalScrollBar().maximum() == 0
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
    window.close()
    other = Frame()
    assert (other.testAttribute(Qt.WidgetAttribute.WA_Moved), other.pos().toTuple()) == (True, (20, 30))
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
        least = window.minimumSizeHint().expandedTo(window.minimumSize())
        assert (window.size().toTuple(), least.boundedTo(window.size())) == (SMALL, least)
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
    assert (bar.buttons["submit"].isVisible(), bar.more.isVisible()) == (True, True)
    bar.more.menu().aboutToShow.emit()
    hidden = [action.text().split("\t")[0] for action in bar.more.menu().actions()]
    assert hidden == ["Look for something in here", "Try it on something long", "Something else as long"]
    bar.more.menu().actions()[1].trigger()
    assert asked == ["test_judge"]


def test_a_guideline_opens_and_closes_with_the_room_until_it_is_turned_by_hand_or_the_source_is_searched(
    sample, window_over
):
    window = window_over(sample, "Author")
    page = settle(window.page)

    def shown(width: int) -> tuple[bool, bool]:
        window.resize(width, 800)
        settle(page)
        return page.side.isVisible(), page.source.isVisible()

    assert [shown(width) for width in (1900, SMALL[0], 1900)] == [(True, True), (False, True), (True, True)]
    theme.zoom_to(theme.ZOOM_MAX)
    assert shown(1900) == (False, True)
    theme.zoom_to(100)
    page.press("guideline")
    assert shown(1900) == (False, True)
    page.press("guideline")
    assert shown(SMALL[0]) == (True, False)
    page.press("find")
    assert (page.side.isVisible(), page.source.isVisible(), page.source.pane.find_bar.isVisible()) == (
        False,
        True,
        True,
    )
    page.press("guideline")
    # Another day it is there again, but only beside the source.
    other = window_over(sample, "Author")
    other.resize(*SMALL)
    assert not settle(other.page).side.isVisible()
    other.resize(LAPTOP[0], 800)
    assert settle(other.page).side.isVisible()


# Of the samples of single papers, what the large one lacks.
THEIR_OWN = {
    "related-work": ("Author", "Label", "Results", "Guidelines"),
    "seminar": ("Author", "Label", "Material", "Contest"),
}


@pytest.mark.parametrize("name", THEIR_OWN)
def test_pages_of_the_sample_of_a_paper_fit_and_have_no_more_controls(name, tmp_path, window_over):
    window = window_over(small_sample(tmp_path, name))
    window.resize(*LAPTOP)
    result = []
    for tab in [tab for _, tab in window.offered() if tab.words in OF_A_BENCHMARK]:
        window.show_part(tab.page, tab.part)
        settle(window.page)
        result += too_many(window, tab.words)
    result += check(window, LAPTOP, 150, partial(parts, pages=THEIR_OWN[name]))
    assert not result, "\n".join(result)
