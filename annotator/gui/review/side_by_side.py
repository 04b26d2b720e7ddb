"""Two wordings of the same things side by side as safe HTML, line by line, with differing words marked."""

from collections.abc import Iterable, Sequence
from html import escape

from annotator.domain.texts.difference import differences
from annotator.gui import theme

SAME, OTHERWISE, CAME, WENT = "=", "≠", "+", "−"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], *, new_is_left: bool = True) -> str:
    """Rows as a table with a sign before each; what stands in a row beyond the two wordings is a column more.

    A sign of what is only on one side says whether it came or went: the newer wording is left, or right.
    """
    widths = (47, 47) if len(heads) == 2 else (37, 37, 20)
    head = "".join(
        f'<th width="{width}%" align="left">{escape(words)}</th>'
        for width, words in zip(widths, heads, strict=True)
    )
    lines = "".join(_line(*row, new_is_left=new_is_left) for row in rows)
    return f'<table width="98%" cellpadding="6" border="1"><tr><th width="6%"></th>{head}</tr>{lines}</table>'


def _line(left: str, right: str, *more: str, new_is_left: bool) -> str:
    sign = _sign(left, right) if new_is_left else _sign(right, left)
    cells = "".join(f"<td>{cell}</td>" for cell in (*_marked(left, right), *map(lines, more)))
    return f'<tr><td align="center">{sign}</td>{cells}</tr>'


def _sign(new: str, old: str) -> str:
    """A sign beside the colour: the same, another wording, only on one side."""
    if new == old:
        return SAME
    return OTHERWISE if new and old else CAME if new else WENT


def _marked(left: str, right: str) -> tuple[str, str]:
    if not left or not right or left == right:
        return lines(left), lines(right)
    pieces = differences(right, left)
    return (
        "".join(_piece(one.text, marked=one.kind == "added") for one in pieces if one.kind != "removed"),
        "".join(_piece(one.text, marked=one.kind == "removed") for one in pieces if one.kind != "added"),
    )


def _piece(text: str, *, marked: bool) -> str:
    if not marked:
        return lines(text)
    back, fore = theme.token("mark-evidence").name(), theme.token("on-mark").name()
    return (
        f'<span style="background-color:{back};color:{fore};text-decoration:underline">{lines(text)}</span>'
    )


def lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")
