"""Colours of pictures in the window, light or dark."""

from dataclasses import replace

from annotator.actions.results.result_pictures import Ink
from annotator.gui import theme

_TOKENS = ("window", "text", "text-muted", "border", "accent")


def ink(width: float | None = None) -> Ink:
    """The window's own colours, for a picture so many inches wide."""
    paper, text, faint, grid, mark = (theme.token(name).name() for name in _TOKENS)
    made = Ink(paper, text, faint, grid, mark)
    return made if width is None else replace(made, width=width)
