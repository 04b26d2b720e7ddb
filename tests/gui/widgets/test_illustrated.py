"""Drawings in help: shown where a text names them, within the page, and nothing else is ever opened."""

import pytest
from pytestqt.qtbot import QtBot

from annotator.exchange.texts.rendering import render
from annotator.gui.pages.help import IllustratedView
from annotator.places import resources

WORDS = "First.\n\n![Two “windows” & a button.](pictures/smartscreen.svg)\n\nThen `![no](pictures/x.svg)`.\n"
IMAGE = 2


@pytest.fixture
def view(qtbot: QtBot) -> IllustratedView:
    made = IllustratedView(resources() / "help" / "pictures")
    qtbot.addWidget(made)
    made.resize(900, 500)
    made.show()
    made.show_with_drawings(render(WORDS).html, WORDS)
    return made


def test_a_drawing_is_as_large_as_it_was_made_and_never_wider_than_the_page(view: IllustratedView) -> None:
    drawing = view.document().resource(IMAGE, "drawing:smartscreen")
    assert (drawing.width(), drawing.height()) == (600, 232)
    assert drawing.pixelColor(20, 150).name() == "#1c5a96"
    view.resize(400, 500)
    assert view.document().resource(IMAGE, "drawing:smartscreen").width() < view.viewport().width()
    assert view.horizontalScrollBar().maximum() == 0


@pytest.mark.parametrize(
    "address", ["drawing:gatekeeper", "drawing:../../icons/goldsmith", "/etc/hosts", "file:x"]
)
def test_what_the_text_does_not_name_is_not_opened(view: IllustratedView, address: str) -> None:
    assert view.loadResource(IMAGE, address).width() == 1
