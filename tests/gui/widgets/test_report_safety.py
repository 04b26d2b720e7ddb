"""What a report must never be able to do: open a file, a device or a socket."""

import builtins
import os
from pathlib import Path

import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QTextDocument

from annotator.exchange.texts.rendering import render
from annotator.gui.widgets.reading.report_view import ReportView

TARGETS = ("https://example.invalid/x.png", "file:///etc/hostname", "/dev/zero", "\\\\host\\x", "file://host/x",
           "FILE:////host/x", "data:image/png;base64,AAAA", "x.png", "qrc:/x")  # fmt: skip


@pytest.fixture
def view(qtbot) -> ReportView:
    made = ReportView()
    qtbot.addWidget(made)
    made.show()
    return made


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("kind", [kind.value for kind in QTextDocument.ResourceType])
def test_whatever_is_asked_for_is_one_transparent_dot(view, target, kind):
    answer = view.loadResource(kind, QUrl(target))
    assert (answer.width(), answer.height()) == (1, 1)
    assert answer.pixelColor(0, 0).alpha() == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes in folders here")
@pytest.mark.timeout(20)
def test_raw_html_that_got_past_every_guard_still_opens_no_file(view, tmp_path: Path):
    """A pipe nobody writes to would hang whoever opens it."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    style = f"<style>@import url('{pipe}'); body {{ background: url('{pipe}'); }}</style>"
    table = f"<table background='{pipe}'><tr><td>x</td></tr></table>"
    images = f"<img src='{pipe}'><img src='file://{pipe}'><img src='/dev/zero'>{table}"
    head = f"<head>{style}<link rel='stylesheet' href='{pipe}'></head>"
    view.show_html(f"<html>{head}<body background='{pipe}'>{images}</body></html>")
    view.grab()
    assert "x" in view.text()


@pytest.mark.timeout(20)
def test_a_report_with_every_kind_of_image_asks_for_nothing(view, monkeypatch):
    asked: list[str] = []
    monkeypatch.setattr(ReportView, "loadResource", lambda self, kind, name: asked.append(str(name)))
    monkeypatch.setattr(builtins, "open", lambda *_: pytest.fail("a file was opened"))
    view.show_html(render("\n\n".join(f"![alt]({target}) [a]({target})" for target in TARGETS)).html)
    view.grab()
    assert asked == []
    assert view.text().count("[image: alt] a") == len(TARGETS)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    "text",
    ["a" * 1_000_000, "[" * 50_000, "> " * 10_000 + "a", "words of it " * 870_000, "a" + "\u0301" * 100_000,
     "\u202ea" * 50_000, "👩‍👩‍👧" * 20_000, "a\r\u2028\u2029\r\nb"],
    ids=["1 MB without a space", "brackets", "quotations", "10 MB", "zalgo", "overrides", "emoji", "line ends"],
)  # fmt: skip
def test_hostile_text_is_shown_plain_with_every_letter(view, text):
    view.show_plain(text)
    view.grab()
    seen = view.text().replace("\u200b", "")
    assert seen == text.replace("\r\n", "\n").replace("\r", "\n")


def test_noncharacters_do_not_pass_for_frames(view):
    view.show_html(render("a\ufdd0b\ufdd1c\n\nd").html)
    assert view.text() == "a\ufffdb\ufffdc\nd"
