import pytest
from PySide6.QtCore import QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget

from annotator.gui.widgets.reading.link_question import ask_to_open


@pytest.fixture
def opened(monkeypatch) -> list[str]:
    addresses: list[str] = []
    monkeypatch.setattr(QDesktopServices, "openUrl", lambda url: addresses.append(url.toString()))
    return addresses


@pytest.fixture
def parent(qtbot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    made.show()
    return made


def test_the_whole_address_is_shown_before_anything_is_opened(parent, opened):
    address = "https://example.org/" + "a" * 300 + "?b=<i>1</i>"
    question = ask_to_open(parent, address)
    assert question
    assert question.findChild(QPlainTextEdit).toPlainText() == QUrl(address).toString(
        QUrl.ComponentFormattingOption.FullyEncoded
    )
    assert opened == []
    question.opening.click()
    assert len(opened) == 1


def test_a_host_of_look_alike_letters_is_shown_as_it_is_asked_for(parent):
    question = ask_to_open(parent, "https://аpple.example/")
    assert question
    assert any("xn--" in label.text() for label in question.findChildren(QLabel))
    question.reject()


def test_cancel_is_what_enter_does(parent, opened):
    question = ask_to_open(parent, "https://example.org")
    assert question
    (cancel,) = [b for b in question.findChildren(QPushButton) if b.isDefault()]
    assert cancel.text() == "Cancel"
    cancel.click()
    assert opened == []


@pytest.mark.parametrize(
    "address",
    ["file:///etc/passwd", "javascript:alert(1)", "ftp://x.y", "smb://x/y", "//x", "", "https://", "x"],
)
def test_only_addresses_of_the_web_are_asked_about(parent, opened, address):
    assert ask_to_open(parent, address) is None
    assert opened == []
