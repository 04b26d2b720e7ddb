"""That a fault of the program shows no key, in the window or in the terminal."""

import re
from types import TracebackType

import pytest

from annotator.cli import saying
from annotator.domain.texts import redaction
from annotator.judging.calls.keys import Keys, decide

KEY = "canary-7d1f9e4b"


def fault() -> tuple[type[BaseException], BaseException, TracebackType | None]:
    try:
        raise ValueError(f"the server knows {KEY}, and sk-1234567890")
    except ValueError as error:
        return type(error), error, error.__traceback__


@pytest.fixture(autouse=True)
def held(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(redaction, "_held", set())
    keys = Keys({"CANARY": KEY})
    decide("CANARY", "judge of this test", True)
    assert keys.look("judge of this test", "CANARY")[0] is not None


def test_the_terminal_prints_a_fault_without_the_key(capsys: pytest.CaptureFixture[str]) -> None:
    saying.report(*fault())
    said = capsys.readouterr().err
    assert KEY not in said
    assert re.search(
        r"Traceback.*ValueError: the server knows \[key removed\], and \[key removed\]", said, re.DOTALL
    )


def test_the_page_of_a_fault_shows_no_key(qtbot, monkeypatch: pytest.MonkeyPatch) -> None:
    from PySide6.QtWidgets import QPlainTextEdit

    from annotator.gui.shell import menus

    monkeypatch.setattr(menus, "_shown", [])
    menus.report(*fault())
    (page,) = menus._shown
    qtbot.addWidget(page)
    text = page.findChild(QPlainTextEdit).toPlainText()
    assert KEY not in text
    assert "ValueError" in text


def test_a_key_that_is_typed_in_is_known_too(monkeypatch: pytest.MonkeyPatch) -> None:
    Keys({}).keep("judge of this test", "another-canary", session_only=True)
    assert redaction.redact("it was another-canary", redaction.held()) == "it was [key removed]"
