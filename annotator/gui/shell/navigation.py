"""The navigation on the left (places with icon, key and count of waiting work), their tabs, and recent projects."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QSettings, QSignalBlocker, QSize, Qt, Signal
from PySide6.QtGui import (
    QKeySequence,
    QPainter,
    QPaintEvent,
    QResizeEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QButtonGroup,
    QGridLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QStackedWidget,
    QTabBar,
    QToolButton,
    QWidget,
)

from annotator import files
from annotator.actions.project import people, profile
from annotator.actions.project.file import Project, is_cut_short
from annotator.domain.kinds.kind import Kind, Stage
from annotator.gui import keys, theme
from annotator.gui.session.session import Tell
from annotator.gui.shell.frame import GEOMETRY
from annotator.gui.widgets.basics import (
    KeylessArea,
    Refitting,
    RoleFrame,
    check_only,
    horizontal,
    least_size,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import put, tool_button
from annotator.places import user_data

# The places where work may wait for the person.
COUNTED = ("Author", "Label", "Adjudicate", "Send", "People")
HOME = "Home"


class Navigation(RoleFrame):
    """Buttons for the places; Alt+Home and Ctrl+1 … Ctrl+9 go to them, Ctrl+, to the settings."""

    chosen = Signal(str)

    def __init__(self, offered: "Sequence[Place]", parent: QWidget | None = None) -> None:
        super().__init__("navigation", parent)
        self._buttons: dict[str, _Step] = {}
        self._keys: dict[str, str] = {}
        self._group = QButtonGroup(self)
        self._folded = False
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Ignored)
        column = vertical(on=self, margins=(8, 10, 8, 10), spacing=2)
        for number, place in enumerate(offered, start=0 if offered[0].name == HOME else 1):
            column.addWidget(self._button(place, f"Ctrl+{number}" if number else "Alt+Home"))
        column.addStretch(1)
        column.addWidget(self._button(SETTINGS, ""))
        self.person = with_properties(
            QLabel(self), role="hint", textFormat=Qt.TextFormat.PlainText, wordWrap=True
        )
        # A long name wraps instead of widening the sidebar.
        self.person.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        column.addWidget(self.person)

    def _button(self, place: "Place", written: str) -> "_Step":
        name = place.name
        button = with_properties(
            _Step(self),
            role="navigation",
            text=f" {name}",
            checkable=True,
            accessibleName=name,
            toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon,
        )
        self._group.addButton(button)
        button.widest = f" {name}  88" if name in COUNTED else ""
        put(button, place.icon, 16)
        button.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        # Not the button's own shortcut: that is lost whenever its text changes.
        if written:
            key = QKeySequence(written)
            QShortcut(key, self).activated.connect(lambda: self.chosen.emit(name))
            self._keys[name] = keys.written(key)
            button.setToolTip(f"{name} ({self._keys[name]})")
        else:
            keys.tell(button, "toolTip", f"{name} ({{settings}})")
        button.clicked.connect(lambda: self.chosen.emit(name))
        self._buttons[name] = button
        return button

    def key(self, name: str) -> str:
        """The key of a place in this system's notation; empty for a place that is not offered."""
        return self._keys.get(name, "")

    def show_chosen(self, name: str) -> None:
        """Check the place in view; none for a page that is reached from a menu."""
        check_only(self._group, self._buttons.get(name))

    def show_waiting(self, name: str, count: int) -> None:
        """Show how many things wait at a place for the person working, if the place is offered."""
        if button := self._buttons.get(name):
            button.waiting = count
            button.setText(f" {name}  {count}" if count else f" {name}")
            button.setAccessibleName(f"{name}, {count} waiting" if count else name)
            button.update()

    def fold(self, width: int) -> None:
        """Show icons only, with a dot where something waits, if the window is too narrow for names."""
        folded = width < theme.current().px(NAMED)
        if folded == self._folded:
            return
        self._folded = folded
        icon, both = Qt.ToolButtonStyle.ToolButtonIconOnly, Qt.ToolButtonStyle.ToolButtonTextBesideIcon
        for button in self._buttons.values():
            button.setToolButtonStyle(icon if folded else both)
            theme.set_role(button, folded=folded)
        self.person.setVisible(not folded)


class _Step(QToolButton):
    """A button of the navigation; reduced to its icon, it shows waiting work as a dot."""

    waiting = 0
    widest = ""

    def sizeHint(self) -> QSize:
        """Reserve room for a two-digit count, so that nothing moves when one appears."""
        folded = self.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly
        # As Qt measures a button's text: the advance width of its letters may be a pixel less.
        shown, widest = (
            self.fontMetrics().size(Qt.TextFlag.TextShowMnemonic, text).width()
            for text in (self.text(), self.widest)
        )
        return super().sizeHint() + QSize(0 if folded else max(0, widest - shown), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self.waiting and self.toolButtonStyle() == Qt.ToolButtonStyle.ToolButtonIconOnly:
            px = theme.current().px
            painter = QPainter(self)
            painter.setRenderHint(QPainter.RenderHint.Antialiasing)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(theme.token("accent"))
            painter.drawEllipse(self.width() - px(13), px(5), px(7), px(7))


# The setting that records that people were told about moved keys (since the window has ten places).
MOVED = "places/moved"
# Below this width, in pixels at 100 %, the navigation shows icons only.
NAMED = 1180


class Pages(QWidget):
    """A stack of pages; only the one in view determines the minimum size."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = QStackedWidget(self)

    def minimumSizeHint(self) -> QSize:
        return least_size(self.stack.currentWidget())

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.stack.setGeometry(self.rect())

    def event(self, event: QEvent) -> bool:
        """Update the geometry when the page in view needs more or less room."""
        if event.type() == QEvent.Type.LayoutRequest:
            self.updateGeometry()
        return super().event(event)


class PageRoom(Refitting, QWidget):
    """The navigation beside the current page (`stack`), with messages above it (`above`)."""

    def __init__(self, navigation: Navigation) -> None:
        super().__init__()
        self._navigation = navigation
        pages = Pages()
        self.stack = pages.stack
        self.area = with_properties(
            KeylessArea("Current page", pages), horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAsNeeded
        )
        # Not the area itself: that would restyle every page.
        for bar in (self.area.horizontalScrollBar(), self.area.verticalScrollBar()):
            theme.apply_theme(bar, hidden=True)
        self.work = QWidget()
        """The area of the page in view; widgets that lie over it may make it give way."""
        vertical(self.area, on=self.work, margins=0, spacing=0)
        self.above = vertical((self.work, 1), margins=0, spacing=0)
        horizontal(navigation, (self.above, 1), on=self, margins=0, spacing=0)
        self.stack.currentChanged.connect(lambda _: pages.updateGeometry())
        theme.watch(self, self.refit)

    def say_above(self, widget: QWidget) -> None:
        """Add a widget above the page, below those already there."""
        self.above.insertWidget(self.above.count() - 1, widget)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.refit()

    def refit(self) -> None:
        # Before it is shown, its width is meaningless.
        if self.isVisible():
            self._navigation.fold(self.width())


def keys_moved() -> bool:
    """Whether to tell a user of earlier versions that keys have moved; True at most once."""
    settings = QSettings()
    if settings.contains(MOVED):
        return False
    settings.setValue(MOVED, True)
    return settings.contains(GEOMETRY)


# Name → module and class of each page; a page is imported when it is first visited.
PAGES: dict[str, tuple[str, str]] = {
    "Home": ("annotator.gui.pages.home", "HomePage"),
    "Items": ("annotator.gui.pages.items", "ItemsPage"),
    "Material": ("annotator.gui.pages.material.page", "MaterialPage"),
    "Author": ("annotator.gui.pages.authoring.page", "AuthorPage"),
    "Reviews": ("annotator.gui.pages.reviewing", "ReviewsPage"),
    "Feedback": ("annotator.gui.pages.feedback", "FeedbackPage"),
    "Label": ("annotator.gui.pages.labelling.page", "LabelPage"),
    "Contest": ("annotator.gui.pages.contest", "ContestPage"),
    "Adjudicate": ("annotator.gui.pages.adjudication.page", "AdjudicatePage"),
    "Judges": ("annotator.gui.pages.judges.page", "JudgesPage"),
    "Validate": ("annotator.gui.pages.validation.page", "ValidatePage"),
    "Results": ("annotator.gui.pages.results", "ResultsPage"),
    "Agreement": ("annotator.gui.pages.agreement", "AgreementPage"),
    "People": ("annotator.gui.pages.people.page", "PeoplePage"),
    "Exchange": ("annotator.gui.pages.inbox.page", "ExchangePage"),
    "Release": ("annotator.gui.pages.release", "ReleasePage"),
    "Final pass": ("annotator.gui.pages.release", "FinalPassPage"),
    "Send": ("annotator.gui.pages.sending", "SendPage"),
    "Import": ("annotator.gui.pages.importing", "ImportPage"),
    "Project": ("annotator.gui.pages.settings", "ProjectPage"),
    "Display": ("annotator.gui.pages.settings", "DisplayPage"),
    "Guidelines": ("annotator.gui.pages.guidelines", "GuidelinesPage"),
    "Backups": ("annotator.gui.pages.backups", "BackupsPage"),
    "Check": ("annotator.gui.pages.backups", "CheckPage"),
    "Keys": ("annotator.gui.pages.help", "KeyboardPage"),
    "Help": ("annotator.gui.pages.help", "HelpPage"),
}


@dataclass(frozen=True, slots=True)
class PlaceTab:
    """A tab of a place: a page or a part of one; `beside` are others, one switch away.

    `among` is its title among those, if different. It is offered only if the project uses the `kind` of document and
    `when` holds, if given.
    """

    words: str
    page: str
    part: str = ""
    beside: "tuple[PlaceTab, ...]" = ()
    kind: Kind | None = None
    when: Callable[[Project], bool] | None = None
    among: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """A place of the window; rarely used tabs are behind `more`."""

    name: str
    icon: str
    tabs: tuple[PlaceTab, ...]
    more: tuple[PlaceTab, ...] = ()


PLACES = (
    Place(HOME, "home", (PlaceTab("Home", "Home"),)),
    Place(
        "Items",
        "items",
        (
            PlaceTab("Items", "Items"),
            PlaceTab(
                "Reports",
                "Material",
                "Reports",
                beside=(
                    PlaceTab("Extracts", "Material", "Extracts"),
                    PlaceTab("Cited pages", "Material", "Cited pages"),
                ),
            ),
            PlaceTab("Sources", "Material", "Sources"),
            PlaceTab(
                "Seminars",
                "Material",
                "Transcripts",
                beside=(PlaceTab("Tasks", "Contest", "Keep"),),
                kind=Kind.INSPIRATIONS,
            ),
        ),
    ),
    Place(
        "Author",
        "author",
        (
            PlaceTab("Write", "Author"),
            PlaceTab("Review of a draft", "Reviews", when=profile.has_reviews),
            PlaceTab("Feedback", "Feedback", when=profile.has_settled),
        ),
    ),
    Place(
        "Label",
        "label",
        (
            PlaceTab("Label", "Label"),
            PlaceTab(
                "Rank tasks",
                "Contest",
                "Rank",
                beside=(PlaceTab("Rounds", "Contest", "Compare"),),
                kind=Kind.TASKS,
            ),
        ),
    ),
    Place("Adjudicate", "adjudicate", (PlaceTab("Adjudicate", "Adjudicate"),)),
    Place(
        "Judges",
        "judges",
        (
            PlaceTab("Judges", "Judges", "Judges"),
            PlaceTab("Runs", "Judges", "Runs"),
            PlaceTab("Prompts", "Judges", "Prompts"),
        ),
        more=(
            PlaceTab("Replies", "Judges", "Replies"),
            PlaceTab("Compare", "Judges", "Compare"),
            PlaceTab("Costs", "Judges", "Costs"),
        ),
    ),
    Place(
        "Validate",
        "validate",
        (
            PlaceTab("Answer", "Validate", "Figures"),
            PlaceTab(
                "Disagreements",
                "Validate",
                "Disagreements",
                beside=(PlaceTab("Reviews", "Validate", "Reviews"),),
            ),
            PlaceTab("Sets", "Validate", "Sets"),
        ),
        more=(PlaceTab("Attacks", "Validate", "Attacks"), PlaceTab("Cards", "Validate", "Cards")),
    ),
    Place(
        "Results",
        "results",
        (PlaceTab("Results", "Results"), PlaceTab("Agreement", "Agreement")),
    ),
    Place(
        "People",
        "annotator",
        (
            PlaceTab("Team", "People", "Team"),
            PlaceTab("Assign", "People", "Hand out"),
            PlaceTab(
                "Send & receive",
                "Exchange",
                "Hand out",
                beside=(
                    PlaceTab("Returned work", "Exchange", "Import"),
                    PlaceTab("Needs attention", "Exchange", "Tray"),
                    PlaceTab("Received", "Exchange", "Received"),
                ),
                among="Tasks",
                when=people.coordinates,
            ),
            PlaceTab("Progress", "People", "Progress"),
        ),
    ),
    Place(
        "Release",
        "release",
        (PlaceTab("Release", "Release"), PlaceTab("Final pass", "Final pass")),
    ),
)
SETTINGS = Place(
    "Settings",
    "settings",
    (
        PlaceTab("Project", "Project"),
        PlaceTab("Guidelines", "Guidelines"),
        PlaceTab("Keyboard", "Keys"),
        PlaceTab("Backups", "Backups", beside=(PlaceTab("Check", "Check"),)),
        PlaceTab("Display", "Display"),
    ),
)
SEND = Place("Send", "export", (PlaceTab("Send", "Send"),))
# The places of a project made from a task: an annotator's or an adjudicator's, plus Send.
OF_A_TASK, RULED_ON = ("Author", "Label"), "Adjudicate"


def places(project: Project) -> list[Place]:
    """The places offered in a project's window."""
    if not project.from_task:
        return list(PLACES)
    stages = profile.assigned_stages(project)
    writes, rules = stages != {Stage.ADJUDICATION}, Stage.ADJUDICATION in stages
    # A shared folder may still bring either kind of work to someone who has none yet.
    names = [*(OF_A_TASK if writes else ()), *((RULED_ON,) if rules or not stages else ())]
    return [*(place for place in PLACES if place.name in names), SEND]


def standing(page: str, part: str) -> tuple[Place | None, PlaceTab | None]:
    """The place and tab of a page or its part; (None, None) if it belongs to no place."""
    known = [
        (place, each)
        for place in (*PLACES, SEND, SETTINGS)
        for tab in (*place.tabs, *place.more)
        for each in (tab, *tab.beside)
        if each.page == page
    ]
    exact = [(place, tab) for place, tab in known if tab.part == part]
    return next(iter([*exact, *known]), (None, None))


# The margin beside the tabs of a place, in pixels.
SIDE = 20


class PlaceBar(Refitting, QWidget):
    """The tabs of the place in view, the menu “More”, and on the right the pages beside the current tab."""

    chosen = Signal(str, str)
    """A page and its part."""
    help_wanted = Signal(str)
    """A help topic."""

    def __init__(self) -> None:
        super().__init__()
        self.tabs, self.beside = _tab_bar("Tabs of this place"), _tab_bar("Beside this tab")
        self.more = with_properties(
            QToolButton(), role="quiet", text="More", popupMode=QToolButton.ToolButtonPopupMode.InstantPopup
        )
        self.more.setMenu(QMenu(self.more))
        self.help = tool_button("About this page", "question", lambda: self.help_wanted.emit(self._topic))
        self._topic = ""
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(SIDE, 8, SIDE, 0)
        self._grid.setColumnStretch(2, 1)
        for column, part in ((0, self.tabs), (1, self.more), (3, self.beside), (4, self.help)):
            self._grid.addWidget(part, 0, column)
        self._is_under = False
        for bar in (self.tabs, self.beside):
            bar.currentChanged.connect(partial(self._turn, bar))

    def show_tabs(
        self, tabs: Mapping[PlaceTab, str], more: Mapping[PlaceTab, str], shown: PlaceTab | None
    ) -> None:
        """Show the tabs of a place with their titles; `shown` is the one in view, or one beside or behind them.

        A tab of “More” is shown among the tabs while it is in view.
        """
        tabs = {**tabs, **{tab: words for tab, words in more.items() if tab == shown}}
        current = next((tab for tab in tabs if shown in (tab, *tab.beside)), None)
        self._fill(self.tabs, tabs, current)
        beside = (current, *current.beside) if current and current.beside else ()
        self._fill(self.beside, {tab: tab.among or tab.words for tab in beside}, shown)
        self.more.setVisible(bool(more))
        self.more.menu().clear()
        for tab, words in more.items():
            self.more.menu().addAction(words, partial(self.chosen.emit, tab.page, tab.part))
        self.setVisible(len(tabs) > 1)
        self.refit()

    def refit(self) -> None:
        """Move the pages beside a tab below the tabs if one line is too narrow for both."""
        shown = [part for part in (self.tabs, self.more, self.beside, self.help) if not part.isHidden()]
        under = sum(part.sizeHint().width() for part in shown) > self.width() - 2 * SIDE
        if under != self._is_under:
            self._is_under = under
            self._grid.addWidget(self.beside, *((1, 0, 1, 5) if under else (0, 3)))

    def show_help(self, about: tuple[str, str] | None) -> None:
        """Show the help button with the page's tip and topic, or hide it if there are none."""
        words, self._topic = about or ("", "")
        with_properties(self.help, toolTip=words, accessibleName=words)
        self.help.setVisible(bool(about))

    def _fill(self, bar: QTabBar, tabs: Mapping[PlaceTab, str], current: PlaceTab | None) -> None:
        with QSignalBlocker(bar):
            while bar.count() > len(tabs):
                bar.removeTab(bar.count() - 1)
            for number, (tab, words) in enumerate(tabs.items()):
                if number == bar.count():
                    bar.addTab(words)
                bar.setTabText(number, words.replace("&", "&&"))
                bar.setTabData(number, tab)
                if tab == current:
                    bar.setCurrentIndex(number)
        bar.setVisible(bool(tabs))
        # A hidden bar that was asked for its size does not report a changed size later.
        bar.updateGeometry()

    def _turn(self, bar: QTabBar, number: int) -> None:
        if isinstance(tab := bar.tabData(number), PlaceTab):
            self.chosen.emit(tab.page, tab.part)


def _tab_bar(name: str) -> QTabBar:
    return with_properties(
        QTabBar(), drawBase=False, expanding=False, accessibleName=name, usesScrollButtons=True
    )


RECENT, SAMPLE = 8, "sample.goldsmith"
FILES = "Goldsmith projects (*.goldsmith)"


def recent() -> list[Path]:
    """The recently opened projects that still exist, latest first."""
    stored = QSettings().value("recent", [])
    names = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
    return [Path(name) for name in names if Path(name).is_file()]


def remember(path: Path) -> None:
    known = recent()
    paths = [path.resolve(), *(other for other in known if not files.same(other, path))][:RECENT]
    # Writing settings blocks until they are on disk, so write only changes.
    if paths != known:
        QSettings().setValue("recent", [str(each) for each in paths])


def create_by_dialog(parent: QWidget | None) -> Path | None:
    """Ask for a new project's document kinds and location, and create it; None if cancelled."""
    from annotator.gui.forms.profile_form import NewProjectDialog

    folder = user_data() / "projects"
    folder.mkdir(parents=True, exist_ok=True)
    dialog = NewProjectDialog(parent, folder)
    dialog.exec()
    dialog.deleteLater()
    return dialog.path


def finished_sample() -> Path | None:
    """The path of the sample; None if it has to be created first."""
    path = user_data() / SAMPLE
    return path if _is_whole(path) else None


def sample(progress: Tell) -> Path:
    """The sample project, created if it is missing or incomplete."""
    path = user_data() / SAMPLE
    if not _is_whole(path):
        from annotator.actions.imports import samples

        if path.exists():
            samples.reset(path, progress)
        else:
            samples.create(path, progress).close()
    return path


def small_sample(name: str, progress: Tell) -> Path:
    """A paper's sample by its name, created if missing."""
    from annotator.actions.imports import samples

    path = user_data() / f"{name}.goldsmith"
    if not path.exists():
        samples.create_small(path, name, progress).close()
    return path


def _is_whole(path: Path) -> bool:
    return path.exists() and not is_cut_short(path)
