"""Letters and not boxes: a font of our own where the system has none, and a line where a script has no font."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from annotator.actions.items import items
from annotator.actions.project.people import new_project
from annotator.gui.shell import fonts
from annotator.gui.shell.starting import Goldsmith

ON_A_BARE_MACHINE = """
import json, sys
from pathlib import Path
from PySide6.QtWidgets import QApplication
from annotator.gui.shell import fonts

application = QApplication([])
found = {"before": fonts.seen()}
fonts.ensure(application)
found |= {"after": fonts.seen(), "latin": fonts.lacking("abc, é, Ж, Ω"), "chinese": fonts.lacking("a 界 b")}
from annotator.gui.shell.starting import Goldsmith, make_application
window = Goldsmith(make_application()).show(Path(sys.argv[1]))
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
        env=os.environ | {"FONTCONFIG_FILE": str(tmp_path / "fonts.conf"), "QT_QPA_PLATFORM": "offscreen"},
    )
    found = json.loads(done.stdout)
    assert (found["before"], found["after"]) == ("", "DejaVu Sans")
    assert (found["latin"], found["chinese"]) == ("", "Chinese, Japanese or Korean")
    assert "no font for Chinese, Japanese or Korean" in found["told"]
    assert "fonts-noto-cjk" in found["told"]


def test_a_script_without_letters_is_told_once_in_the_window(
    qtbot: QtBot, chinese: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []
    monkeypatch.setattr(fonts, "lacking", lambda text: read.append(text) or "Thai")
    window = Goldsmith(_application()).show(chinese)
    assert read == ["为什么会下雨?"]
    assert "This system has no font for Thai" in window.messages.text()
    window.close()


def test_what_every_font_has_is_never_lacking(qtbot: QtBot) -> None:
    assert fonts.lacking("") == ""
    assert fonts.lacking("Plain words, é, Ж, Ω — “quoted” ≤ 3 → 4 \U0001f600") == ""


def test_letters_are_told_from_boxes(qtbot: QtBot, monkeypatch: pytest.MonkeyPatch) -> None:
    assert fonts.seen()
    box = fonts._drawn("a", _application().font())
    monkeypatch.setattr(fonts, "_drawn", lambda letter, font: box)
    assert fonts.seen() == ""
    assert fonts.lacking("ส") == "Thai"


def _application():
    from PySide6.QtWidgets import QApplication

    return QApplication.instance()
