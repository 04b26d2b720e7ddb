"""Letters and languages: a font of our own where there is none, and what a smaller bundle must still know."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from annotator.actions.items import items
from annotator.actions.project.people import new_project
from annotator.gui.shell import menus
from annotator.gui.shell.start import Goldsmith

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


def test_a_script_without_letters_is_told_once_in_the_window(
    qtbot: QtBot, chinese: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(menus, "lacking", lambda text: read.append(text) or "Thai")
    window = Goldsmith(_application()).show(chinese)
    qtbot.waitUntil(lambda: read == ["为什么会下雨?"])
    assert "This system has no font for Thai" in window.messages.text()
    window.close()


def test_what_every_font_has_is_never_lacking(qtbot: QtBot) -> None:
    assert menus.lacking("") == ""
    assert menus.lacking("Plain words, é, Ж, Ω — “quoted” ≤ 3 → 4 \U0001f600") == ""


def test_letters_are_told_from_boxes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    assert menus.seen()
    box = menus._image_of("a", _application().font())
    monkeypatch.setattr(menus, "_image_of", lambda letter, font: box)
    assert menus.seen() == ""
    assert menus.lacking("ส") == "Thai"


def _application():
    from PySide6.QtWidgets import QApplication

    return QApplication.instance()


def test_names_are_sorted_with_accents_beside_their_letters_and_numbers_by_value() -> None:
    assert menus.in_order(["Zoo", "été 10", "eta", "été 9", "甲"]) == ["eta", "été 9", "été 10", "Zoo", "甲"]


def test_a_caret_does_not_stop_inside_a_letter() -> None:
    assert [menus.steps(text) for text in ("", "ab", "e\u0301", "👩\u200d👧", "界面")] == [0, 2, 1, 1, 2]


def test_a_month_is_named_in_each_language() -> None:
    # 2 678 400 s are the 31 days of January.
    assert menus.dated(2_678_400, "de") == "Februar 1970"
    assert menus.dated(2_678_400, "zh") == "二月 1970"
