"""Theme: named colours and sizes, one style sheet, light or dark like the system."""

import json
import re
from collections.abc import Callable
from functools import cache, lru_cache
from types import BuiltinMethodType, MethodType
from typing import Literal, cast
from weakref import WeakKeyDictionary, WeakMethod, ref

from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QWidget
from shiboken6 import isValid

from annotator import places

Choice = Literal["system", "light", "dark"]
Scheme = Literal["light", "dark"]
ZOOM_MIN, ZOOM_MAX, ZOOM_STEP = 80, 200, 10

_LENGTH = re.compile(r"\b(\d+)dp\b")
_FONT = re.compile(r"\b(\d+(?:\.\d+)?)fs\b")
_NAME = re.compile(r"\$\{([a-z0-9-]+)\}")
_PICTURE = re.compile(r"\$\{picture:([a-z]+)\}")
_USUAL_POINTS = 10.0
_ROLES = {
    QPalette.ColorRole.Window: "window",
    QPalette.ColorRole.WindowText: "text",
    QPalette.ColorRole.Base: "surface",
    QPalette.ColorRole.AlternateBase: "window",
    QPalette.ColorRole.Text: "text",
    QPalette.ColorRole.Button: "surface",
    QPalette.ColorRole.ButtonText: "text",
    QPalette.ColorRole.BrightText: "on-accent",
    QPalette.ColorRole.Highlight: "selection",
    QPalette.ColorRole.HighlightedText: "on-selection",
    QPalette.ColorRole.Link: "link",
    QPalette.ColorRole.LinkVisited: "link",
    QPalette.ColorRole.PlaceholderText: "text-muted",
    QPalette.ColorRole.ToolTipBase: "tooltip",
    QPalette.ColorRole.ToolTipText: "on-tooltip",
    QPalette.ColorRole.Light: "surface",
    QPalette.ColorRole.Midlight: "hover",
    QPalette.ColorRole.Mid: "border",
    QPalette.ColorRole.Dark: "border-strong",
    QPalette.ColorRole.Shadow: "border-strong",
    QPalette.ColorRole.Accent: "accent",
}
_DISABLED = (QPalette.ColorRole.WindowText, QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText)


class Theme:
    """The current theme and everything derived from it."""

    def __init__(self) -> None:
        self.choice: Choice = "system"
        self.zoom = 100
        self._points = 0.0
        self._applied: object = None
        self.watchers: WeakKeyDictionary[_Watcher, None] = WeakKeyDictionary()
        """Notified of every change, in order. A signal would take longer: most, out of view, have been notified before.
        """
        self.behind: list[_SheetWatcher] = []
        """Widgets that were out of view at a change and still have the old style."""

    @property
    def scheme(self) -> Scheme:
        if self.choice != "system":
            return self.choice
        hints = QGuiApplication.styleHints() if QGuiApplication.instance() else None
        return "dark" if hints and hints.colorScheme() == Qt.ColorScheme.Dark else "light"

    def px(self, length: int) -> int:
        return round(length * self.zoom / 100)

    @property
    def points(self) -> float:
        """The size of plain text at the current zoom, in points."""
        return (self._points or _USUAL_POINTS) * self.zoom / 100

    def begin(self, app: QApplication) -> None:
        """Attach to an application: remember its font size and follow the system's colour scheme."""
        if not self._points:
            self._points = max(app.font().pointSizeF(), 0.0) or _USUAL_POINTS
            app.styleHints().colorSchemeChanged.connect(self.dress)
            # Pictures are rendered for the screens in use.
            app.screenAdded.connect(self.tell)

    def dress(self) -> None:
        """Apply colours and sizes to visible widgets, if they have changed.

        Pages have the style sheet, not the application: Qt would restyle every widget once for each of its ancestors,
        which takes seconds after some pages were visited.
        """
        app = QApplication.instance()
        look = (self.scheme, self.zoom, self._points)
        if not isinstance(app, QApplication) or look == self._applied:
            return
        self._applied = look
        font = app.font()
        font.setPointSizeF(self.points)
        app.setFont(font)
        # Windows get the font now: a page built before the next event loop iteration takes its font from them.
        app.sendPostedEvents(None, QEvent.Type.ApplicationFontChange.value)
        app.setPalette(palette())
        self.tell()

    def tell(self) -> None:
        """Notify the watchers; those with a style sheet first, because font sizes are known only afterwards."""
        for watcher in sorted(self.watchers, key=lambda each: not isinstance(each, _SheetWatcher)):
            watcher.follow()


@cache
def current() -> Theme:
    return Theme()


def apply(app: QApplication) -> None:
    """Style the application as last chosen, by default like the system."""
    settings, theme = QSettings(), current()
    stored = str(settings.value("theme/colours", "system"))
    theme.choice = "dark" if stored == "dark" else "light" if stored == "light" else "system"
    theme.zoom = _within(settings.value("theme/zoom", 100))
    _tell_system(theme.choice)
    theme.begin(app)
    theme.dress()


def choose(choice: Choice) -> None:
    """Follow the system, or always be light or dark; stored for the next start."""
    current().choice = choice
    _tell_system(choice)
    QSettings().setValue("theme/colours", choice)
    current().dress()


def _tell_system(choice: Choice) -> None:
    """Make the system draw title bars and its own dialogs in the chosen scheme."""
    schemes = {"light": Qt.ColorScheme.Light, "dark": Qt.ColorScheme.Dark}
    QGuiApplication.styleHints().setColorScheme(schemes.get(choice, Qt.ColorScheme.Unknown))


def zoom(step: int) -> None:
    """Enlarge (1) or reduce (-1) everything by one step, or restore 100 % (0); stored for the next start."""
    zoom_to(current().zoom + step * ZOOM_STEP if step else 100)


def zoom_to(percent: int) -> None:
    """Zoom everything to between 80 and 200 %; stored for the next start."""
    current().zoom = _within(percent)
    QSettings().setValue("theme/zoom", current().zoom)
    current().dress()


class _Watcher(QObject):
    """Restyles its owner: at once if visible, otherwise when it is next shown."""

    def __init__(self, owner: QObject, dress: Callable[[], object]) -> None:
        super().__init__(owner)
        self._owner, self.dress, self._late = ref(owner), dress, False
        current().watchers[self] = None

    def follow(self) -> None:
        if self._late or (owner := self._owner()) is None or not isValid(owner):
            return
        if not isinstance(owner, QWidget) or owner.isVisible():
            self.dress()
        else:
            self.wait()

    def wait(self) -> None:
        """Restyle when the owner is next shown."""
        self._late = True
        cast(QObject, self.parent()).installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Restyle a widget that is about to be shown, after its ancestors, which determine the font size."""
        if event.type() == QEvent.Type.Show and isinstance(watched, QWidget):
            for watcher in [each for each in current().behind if each.covers(watched)]:
                watcher.catch_up()
            self.catch_up()
        return False

    def catch_up(self) -> None:
        owner = self._owner()
        if self._late and owner is not None and isValid(owner):
            self._late = False
            owner.removeEventFilter(self)
            self.dress()


class _SheetWatcher(_Watcher):
    """Keeps a style sheet on its owner and the owner's children."""

    def wait(self) -> None:
        super().wait()
        current().behind.append(self)

    def covers(self, widget: QWidget) -> bool:
        """Whether a widget is inside the owner of this sheet; False if the owner is deleted."""
        owner = self._owner()
        return isinstance(owner, QWidget) and isValid(owner) and owner.isAncestorOf(widget)

    def catch_up(self) -> None:
        current().behind = [each for each in current().behind if each is not self and isValid(each)]
        super().catch_up()


def watch(owner: QObject, dress: Callable[[], object]) -> None:
    """Call a function after each change of colours or sizes, for as long as its owner lives.

    While a widget is out of view, the call waits until it is shown. Methods, Qt's own too, are held by weak references:
    watching keeps no widget alive.
    """
    _Watcher(owner, _weakly(dress))


def follow(owner: QObject, dress: Callable[[], object]) -> None:
    """Call a function now and after each change of colours or sizes, as `watch` does."""
    dress()
    watch(owner, dress)


def apply_theme(widget: QWidget, *, hidden: bool = False) -> None:
    """Style a window, a page or a part of one, with its children, now and after each change.

    A widget that is `hidden` at first, and may never be seen, is styled when it is shown.
    """
    put_on = _weakly(widget.setStyleSheet)
    watcher = _SheetWatcher(widget, lambda: put_on(_sheet_now()))
    watcher.wait() if hidden else watcher.dress()


def scale(set_length: Callable[[int], None], length: int) -> None:
    """Set a design length now and after each zoom: `scale(area.setMinimumWidth, 340)`."""
    put_on, owner = _weakly(set_length), cast(BuiltinMethodType, set_length).__self__
    put_on(current().px(length))
    _Watcher(cast(QObject, owner), lambda: put_on(current().px(length)))


def _weakly(act: Callable[..., object]) -> Callable[..., object]:
    """The same function without a strong reference to its owner."""
    if isinstance(act, MethodType):
        bound = WeakMethod(act)
        return lambda *of: result(*of) if (result := bound()) is not None else None
    if isinstance(act, BuiltinMethodType) and isinstance(act.__self__, QObject):
        owner, name = ref(act.__self__), act.__name__
        return lambda *of: getattr(result, name)(*of) if (result := owner()) is not None else None
    return act


def _sheet_now() -> str:
    theme = current()
    return _sheet(theme.scheme, theme.zoom, theme.points)


@lru_cache(maxsize=4)
def _sheet(_scheme: Scheme, _zoom: int, _points: float) -> str:
    return style_sheet(current())


def token(name: str) -> QColor:
    """A colour of the current scheme by its name in `resources/themes`; KeyError if unknown."""
    return QColor(colours(current().scheme)[name])


def ratios() -> tuple[float, ...]:
    """The device pixel ratios of the screens that a window may be moved to."""
    return tuple(sorted({screen.devicePixelRatio() for screen in QGuiApplication.screens()})) or (1.0,)


@cache
def colours(scheme: Scheme) -> dict[str, str]:
    tree: dict[str, str] = json.loads((places.resources() / "themes" / f"{scheme}.json").read_text("utf-8"))
    return tree


def style_sheet(theme: Theme) -> str:
    """The style sheet with this theme's colours and sizes filled in."""
    values = colours(theme.scheme)
    sheet = _NAME.sub(lambda name: values[name[1]], _template())
    sheet = _PICTURE.sub(lambda name: f'"{_picture(theme.scheme, name[1])}"', sheet)
    sheet = _LENGTH.sub(lambda length: f"{theme.px(int(length[1]))}px", sheet)
    return _FONT.sub(lambda size: f"{float(size[1]) * theme.points:.2f}pt", sheet)


def set_role(widget: QWidget, **properties: object) -> None:
    """Set properties used by the style sheet, and restyle the widget if it was styled before."""
    for name, value in properties.items():
        widget.setProperty(name, value)
    if widget.testAttribute(Qt.WidgetAttribute.WA_WState_Polished):
        widget.style().unpolish(widget)
        widget.style().polish(widget)


def palette() -> QPalette:
    """The colours of everything no style sheet covers."""
    made = QPalette()
    for role, name in _ROLES.items():
        made.setColor(role, token(name))
    for role in _DISABLED:
        made.setColor(QPalette.ColorGroup.Disabled, role, token("text-disabled"))
    return made


@cache
def _template() -> str:
    return (places.resources() / "themes" / "window.qss").read_text("utf-8")


def _picture(scheme: Scheme, name: str) -> str:
    return (places.resources() / "themes" / f"{scheme}-{name}.png").as_posix()


def _within(percent: object) -> int:
    number = int(percent) if isinstance(percent, int | str) and str(percent).isdigit() else 100
    return min(ZOOM_MAX, max(ZOOM_MIN, number))
