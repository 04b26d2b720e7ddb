"""Colours and sizes that can be read, letters and languages where a machine lacks them, pictures of the manual."""

import json
import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QObject, QSettings, Qt
from PySide6.QtGui import QImage
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QLabel,
    QRadioButton,
    QStyle,
    QStyleOptionButton,
    QWidget,
)
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from annotator.actions.items import items
from annotator.actions.project.people import new_project
from annotator.gui import theme
from annotator.gui.shell import menus
from annotator.gui.shell.start import StartPage
from annotator.gui.shell.window_trial import dated, in_order, steps
from annotator.gui.widgets.reading.find_bar import ask_to_open
from annotator.places import resources
from tests.house import reading
from tests.windows import readme_pictures
from tests.windows.using import in_view, owned

PAIRS = [
    *[("text", ground) for ground in ("window", "surface", "sunken", "hover", "accent-soft")],
    *[("text-muted", ground) for ground in ("window", "surface", "sunken", "hover")],
    *[("link", ground) for ground in ("window", "surface")],
    *[(f"level-{level}", f"level-{level}-soft") for level in ("info", "warning", "error", "success")],
    *[("text", f"level-{level}-soft") for level in ("info", "warning", "error", "success")],
    *[(f"state-{state}", f"state-{state}-soft")
      for state in ("agreed", "unconfirmed", "disagree", "incomplete", "missing")],
    *[("on-mark", f"mark-{kind}") for kind in ("evidence", "kept", "judge", "other", "find", "find-current")],
    ("on-accent", "accent"), ("on-accent", "accent-hover"), ("on-accent", "accent-pressed"),
    ("on-selection", "selection"), ("on-tooltip", "tooltip"), ("text", "code"),
]  # fmt: skip
# Edges of controls and the ring of the focus: WCAG 2.2, 1.4.11, three to one.
EDGES = [(edge, ground) for edge in ("focus", "border-strong") for ground in ("window", "surface", "sunken")]


def luminance(colour: str) -> float:
    """Relative luminance by WCAG 2.2."""
    parts = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_contrast_is_computed_as_published():
    assert contrast("#000000", "#FFFFFF") == pytest.approx(21.0)
    assert contrast("#777777", "#FFFFFF") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_every_text_can_be_read_and_edges_and_the_focus_ring_be_seen(scheme):
    colours = theme.colours(scheme)
    assert [pair for pair in PAIRS if contrast(*map(colours.get, pair)) < 4.5] == []
    assert [pair for pair in EDGES if contrast(*map(colours.get, pair)) < 3.0] == []


def test_both_schemes_name_the_same_colours():
    light, dark = (
        json.loads((resources() / "themes" / f"{s}.json").read_text("utf-8")) for s in ("light", "dark")
    )
    assert light.keys() == dark.keys()
    assert all(re.fullmatch(r"#[0-9A-F]{6}", value) for value in [*light.values(), *dark.values()])


def test_nothing_in_the_style_sheet_is_left_unwritten():
    sheet = theme.style_sheet(theme.current())
    assert "${" not in sheet
    assert not re.search(r"\d(dp|fs)\b", sheet)


def test_a_chosen_scheme_is_worn_and_kept(qapp):
    theme.choose("dark")
    assert theme.current().scheme == "dark"
    assert theme.token("window").name().upper() == theme.colours("dark")["window"]
    assert qapp.palette().window().color() == theme.token("window")
    theme.current().choice = "light"
    theme.apply(qapp)
    assert theme.current().scheme == "dark"


def test_the_system_is_followed_where_nothing_is_chosen(qapp, monkeypatch):
    hints = qapp.styleHints()
    for change in (partial(hints.setColorScheme, Qt.ColorScheme.Dark), hints.unsetColorScheme):
        change()
        assert (theme.current().scheme == "dark") == (hints.colorScheme() == Qt.ColorScheme.Dark)


def test_zoom_grows_the_font_and_keeps_its_bounds(qapp: QApplication):
    before = qapp.font().pointSizeF()
    theme.zoom_to(150)
    assert (qapp.font().pointSizeF(), theme.current().px(10)) == (pytest.approx(before * 1.5), 15)
    for asked, zoom in ((900, 200), (1, 80)):
        theme.zoom_to(asked)
        assert theme.current().zoom == zoom
    theme.zoom(0)
    assert qapp.font().pointSizeF() == pytest.approx(before)


def test_a_damaged_setting_counts_as_100_percent(qapp):
    QSettings().setValue("theme/zoom", "wide")
    theme.apply(qapp)
    assert theme.current().zoom == 100


def test_a_watcher_hears_of_changes_while_its_owner_lives(qtbot):
    heard: list[str] = []
    owner = QObject()
    theme.watch(owner, lambda: heard.append("dressed"))
    theme.choose("dark")
    owner.deleteLater()
    qtbot.waitUntil(lambda: not heard or not isValid(owner))
    theme.choose("light")
    assert heard == ["dressed"]


def test_a_role_given_late_is_styled(qtbot):
    label = owned(qtbot, QLabel("✓ Agreed"))
    theme.apply_theme(label)
    label.show()
    theme.set_role(label, role="chip", state="agreed")
    assert label.palette().windowText().color() == theme.token("state-agreed")


class Restyled(QObject):
    """Counts how often widgets are told to dress anew."""

    def __init__(self, widgets: list[QWidget]) -> None:
        super().__init__()
        self.count: dict[QObject, int] = dict.fromkeys(widgets, 0)
        for widget in widgets:
            widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count[watched] += event.type() == QEvent.Type.StyleChange
        return False


def test_a_step_dresses_what_is_in_view_once_and_what_is_hidden_when_it_is_shown(small, window_over):
    window = window_over(small, "Validate")
    labels = [label for label in in_view(window.page) if isinstance(label, QLabel)]
    title = next(label for label in labels if label.property("role") in ("subtitle", "strong"))
    before, hidden = title.font().pointSizeF(), Restyled(window.page.findChildren(QLabel))
    window.show_page("Display")
    window.show_page("Items")
    shown = Restyled([label for label in in_view(window) if isinstance(label, QLabel)])
    theme.zoom_to(200)
    theme.choose("dark")
    assert set(hidden.count.values()) == {0}
    assert max(shown.count.values()) <= 4
    assert window.show_page("Display").schemes["dark"].isChecked()
    # A page that is visited for the first time has the new letters, too.
    assert window.show_page("Release").font().pointSizeF() == pytest.approx(theme.current().points)
    window.show_page("Validate")
    assert title.font().pointSizeF() == pytest.approx(2 * before)
    assert title.palette().windowText().color() == theme.token("text")
    assert window.page.sets.styleSheet() == theme.style_sheet(theme.current())


def test_a_watcher_that_is_hidden_hears_once_when_it_is_shown(qtbot):
    outer, heard = owned(qtbot, QWidget()), []
    owner = QLabel(outer)
    theme.apply_theme(outer)
    theme.watch(owner, lambda: heard.append(outer.styleSheet() == theme.style_sheet(theme.current())))
    theme.choose("dark")
    theme.zoom(1)
    assert heard == []
    outer.show()
    # What it stands in is dressed before it, for its sizes come from there.
    assert heard == [True]


def test_every_window_of_its_own_is_dressed(small, window_over, qtbot, monkeypatch):
    monkeypatch.setattr(menus, "_shown", [])
    window, first = window_over(small, "Items"), StartPage([])
    first._restore(small.path)
    menus._show("a fault")
    question = ask_to_open(window.page, "https://example.org/")
    window.messages.show_message("info", "It is dressed when it is shown.")
    first.show()
    own = [window, first, first._backups, *menus._shown, question]
    for widget in own[1:]:
        qtbot.addWidget(widget)
    shown = [widget for widget in QApplication.topLevelWidgets() if widget.isVisible()]
    assert {*own} <= {*shown}
    buttons = [button for widget in shown for button in widget.findChildren(QAbstractButton)]
    plain = [each.text() for each in buttons if each.style().metaObject().className() != "QStyleSheetStyle"]
    assert plain == []


def test_what_may_be_chosen_alone_is_round_at_every_zoom(qtbot):
    box = owned(qtbot, QRadioButton("One of several"))
    theme.apply_theme(box)
    for percent in range(theme.ZOOM_MIN, theme.ZOOM_MAX + 1, theme.ZOOM_STEP):
        theme.zoom_to(percent)
        for checked in (False, True):
            box.setChecked(checked)
            theme.apply_theme(box)
            box.ensurePolished()
            box.resize(box.sizeHint())
            option = QStyleOptionButton()
            box.initStyleOption(option)
            mark = box.style().subElementRect(QStyle.SubElement.SE_RadioButtonIndicator, option, box)
            assert mark.width() > 10
            seen = box.grab().toImage()
            assert seen.pixelColor(mark.topLeft()) == seen.pixelColor(mark.right() + 3, mark.top()), percent


ON_A_BARE_MACHINE = """
import json, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from annotator.gui.shell import menus

application = QApplication([])
found = {"before": menus.seen()}
menus.ensure(application)
found |= {"after": menus.seen(), "latin": menus.lacking("abc, é, Ж, Ω"), "chinese": menus.lacking("a 界 b")}
from annotator.gui.shell.start import Goldsmith, make_application
window = Goldsmith(make_application()).show(Path(sys.argv[1]))
while not window.messages.text():
    application.processEvents()
found["told"] = window.messages.text()
window.close()
print(json.dumps(found))
"""
NO_FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig><dir>{0}/none</dir><cachedir>{0}/cache</cachedir></fontconfig>"""


@pytest.fixture
def chinese(tmp_path: Path) -> Path:
    project = new_project(tmp_path / "fonts.goldsmith")
    items.add(project, "为什么会下雨?", language="zh")
    project.close()
    return tmp_path / "fonts.goldsmith"


@pytest.mark.skipif(sys.platform != "linux", reason="only there can fonts be hidden from a program")
def test_on_a_machine_without_fonts_letters_are_drawn_and_missing_scripts_named(
    chinese: Path, tmp_path: Path
) -> None:
    (tmp_path / "fonts.conf").write_text(NO_FONTS.format(tmp_path), "utf-8")
    done = subprocess.run(
        [sys.executable, "-c", ON_A_BARE_MACHINE, chinese],
        capture_output=True,
        encoding="utf-8",
        check=True,
        timeout=60,
        env=os.environ | {"FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "QT_QPA_PLATFORM": "offscreen"},
    )
    result = json.loads(done.stdout)
    assert (result["before"], result["after"]) == ("", "DejaVu Sans")
    assert (result["latin"], result["chinese"]) == ("", "Chinese, Japanese or Korean")
    assert "no font for Chinese, Japanese or Korean" in result["told"]
    assert "fonts-noto-cjk" in result["told"]


def test_what_every_font_has_is_never_lacking(qtbot: QtBot) -> None:
    assert menus.lacking("Plain words, é, Ж, Ω — “quoted” ≤ 3 → 4 \U0001f600") == ""


def test_letters_are_told_from_boxes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    assert menus.seen()
    box = menus._image_of("a", QApplication.font())
    monkeypatch.setattr(menus, "_image_of", lambda letter, font: box)
    assert (menus.seen(), menus.lacking("ส")) == ("", "Thai")


def test_names_are_sorted_with_accents_beside_their_letters_and_numbers_by_value() -> None:
    assert in_order(["Zoo", "été 10", "eta", "été 9", "甲"]) == ["eta", "été 9", "été 10", "Zoo", "甲"]


def test_a_caret_does_not_stop_inside_a_letter() -> None:
    assert [steps(text) for text in ("", "ab", "e\u0301", "👩\u200d👧", "界面")] == [0, 2, 1, 1, 2]


def test_a_month_is_named_in_each_language() -> None:
    # 2 678 400 s are the 31 days of January.
    assert (dated(2_678_400, "de"), dated(2_678_400, "zh")) == ("Februar 1970", "二月 1970")


def test_the_manual_shows_every_picture_that_is_made() -> None:
    shown = re.findall(r"pictures/(\w+)\.png", (reading.HERE / "docs/tour.md").read_text("utf-8"))
    assert sorted(shown) == sorted(readme_pictures.PICTURES)


@pytest.mark.slow
@pytest.mark.usefixtures("sample_at_once")
@pytest.mark.qt_log_ignore("This plugin does not support")
def test_pictures_of_the_manual_are_made_in_their_size(qtbot, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(theme.current(), "choice", "light")
    # What is in them is looked at by nobody here.
    monkeypatch.setattr(readme_pictures, "SETTLE_MS", 50)
    # The usual place, where the strip leads, an act before, a judge's place.
    some = {name: readme_pictures.PICTURES[name] for name in ("home", "label", "adjudicate", "judges")}
    monkeypatch.setattr(readme_pictures, "PICTURES", some)
    made = readme_pictures.make(tmp_path)
    assert [path.stem for path in made] == list(some)
    sizes = {QImage(str(path)).size().toTuple() for path in made}
    assert (sizes, len({path.read_bytes() for path in made})) == ({readme_pictures.SIZE}, len(made))
