import pytest

from annotator.gui.widgets.reading.pdf_view import Caret, CaretStep

LETTERS = "Gold is soft.\r\nIt melts at 1064 °C\r\nin air"


def head(at: int, step: CaretStep, way: int) -> int:
    return Caret(0, at, at).moved(LETTERS, step, way, extend=False).head


@pytest.mark.parametrize(
    ("at", "step", "way", "place"),
    [
        (0, CaretStep.LETTER, 1, 1),
        (0, CaretStep.LETTER, -1, 0),
        (0, CaretStep.WORD, 1, 4),
        (4, CaretStep.WORD, 1, 7),
        (7, CaretStep.WORD, -1, 5),
        (2, CaretStep.LINE, 1, 17),
        (17, CaretStep.LINE, -1, 2),
        (30, CaretStep.LINE, 1, 42),
        (2, CaretStep.LINE, -1, 0),
        (38, CaretStep.LINE, 1, 42),
        (2, CaretStep.EDGE, 1, 13),
        (20, CaretStep.EDGE, -1, 15),
        (42, CaretStep.LETTER, 1, 42),
    ],
)
def test_the_caret_goes_by_letters_words_and_lines(at, step, way, place):
    assert head(at, step, way) == place


def test_extending_keeps_the_anchor_whichever_way_it_goes():
    back = Caret(0, 8, 8).moved(LETTERS, CaretStep.WORD, -1, extend=True)
    assert (back.anchor, back.span) == (8, (5, 8))
    assert back.moved(LETTERS, CaretStep.WORD, 1, extend=True).span == (7, 8)
