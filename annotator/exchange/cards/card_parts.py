"""HTML building blocks of a validity card: words, figures and tables, escaped and with their own direction."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from functools import partial
from html import escape

from annotator.domain.judges.validity_card import Figure, ValidityCard
from annotator.domain.texts.estimate import decimal, interval

UNDEFINED = "–"
# What stands between these keeps its own direction, also where a reader knows no <bdi>.
_OPEN, _CLOSE = "\u2068", "\u2069"


class Reasons:
    """Reasons why figures of a table are undefined: each once, numbered in order of appearance."""

    def __init__(self) -> None:
        self._known: list[str] = []

    def mark(self, reason: str) -> str:
        """What stands in the cell in place of a value."""
        if not reason:
            return UNDEFINED
        if reason not in self._known:
            self._known.append(reason)
        return f"{UNDEFINED}<sup>{self._known.index(reason) + 1}</sup>"

    def html(self) -> str:
        """The reasons, to stand below the table."""
        if not self._known:
            return ""
        listed = "; ".join(f"<sup>{place}</sup> {say(one)}" for place, one in enumerate(self._known, 1))
        return f"<p><small>{UNDEFINED} is undefined: {listed}.</small></p>\n"


def say(text: str) -> str:
    """A text as it is: never read as markup, and of its own direction."""
    return f"<bdi>{_OPEN}{escape(text)}{_CLOSE}</bdi>"


def plain(text: str) -> str:
    """Words of ours, as they are."""
    return escape(text)


def cell(figure: Figure | None, reasons: Reasons, *, count: bool = False, places: int = 3) -> str:
    """A figure as it stands in a table: its value, below it its interval and, if asked for, its n."""
    if figure is None:
        return UNDEFINED
    if figure.value is None:
        return reasons.mark(figure.note)
    below = [interval(figure, partial(decimal, places=places)), f"n\u00a0{figure.n:,}" if count else ""]
    small = "<br>".join(plain(one) for one in below if one)
    return f"<b>{decimal(figure.value)}</b>" + (f"<br><small>{small}</small>" if small else "")


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], about: str) -> str:
    """A table of cells that are HTML already; the first cell of a row is its head. `about` is what it is called.

    A row of one cell is the heading of those below it.
    """
    first = "".join(f'<th scope="col" align="left">{head}</th>' for head in heads)
    body = "".join(_row(row, len(heads)) for row in rows)
    return (
        f'<table border="1" cellspacing="0" cellpadding="4" aria-label="{escape(about)}">\n'
        f"<thead><tr>{first}</tr></thead>\n<tbody>\n{body}</tbody></table>\n"
    )


def _row(row: Sequence[str], width: int) -> str:
    if len(row) == 1:
        return f'<tr><th scope="colgroup" colspan="{width}" align="left">{row[0]}</th></tr>\n'
    rest = "".join(f"<td>{one}</td>" for one in row[1:])
    return f'<tr><th scope="row" align="left">{row[0]}</th>{rest}</tr>\n'


def facts(rows: Iterable[tuple[str, str]], about: str) -> str:
    """A table of what is told (ours) and what it is (HTML); what is empty is left out."""
    body = "".join(
        f'<tr><th scope="row" align="left">{plain(name)}</th><td>{value}</td></tr>\n'
        for name, value in rows
        if value
    )
    return (
        f'<table border="1" cellspacing="0" cellpadding="4" class="facts" aria-label="{escape(about)}">\n'
        f"<tbody>\n{body}</tbody></table>\n"
    )


def moment(at: datetime) -> str:
    """A moment, in universal time."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def digest(found: str) -> str:
    """A hash."""
    return f"<small><code>{plain(found or 'not known')}</code></small>"


def brief(figure: Figure | None, *, begun: bool = False) -> str:
    """A figure in a line of text; of a card that is only `begun` its interval is still to come."""
    if figure is None:
        return UNDEFINED
    if figure.value is None:
        return f"{UNDEFINED} ({say(figure.note)})"
    bounds = "[…]" if begun else interval(figure) or "no interval"
    return f"<b>{decimal(figure.value)}</b> {bounds}, n\u00a0{figure.n:,}"


def dollars(cost: Figure) -> str:
    """What a question costs."""
    note = f" ({say(cost.note)})" if cost.note else ""
    return (
        f"not known{note}"
        if cost.value is None
        else f"US$ {decimal(cost.value, 4)} {interval(cost, partial(decimal, places=4))}".rstrip() + note
    )


def lost(card: ValidityCard) -> str:
    """How many verdicts are missing, in words."""
    judge = card.of("judge")
    rate = judge.missing_rate if judge else None
    if judge is None or rate is None:
        return "There is no unit that people labelled."
    limit = f"publishable up to {100 * card.missing_limit:.1f} %"
    return f"{sum(judge.missing.values()):,} of {judge.units:,} ({100 * rate:.1f} %; {limit})"


def listed(lines: Iterable[str]) -> str:
    """Sentences, each a point of a list; nothing for none."""
    points = "".join(f"<li>{say(line)}</li>\n" for line in lines)
    return f"<ul>\n{points}</ul>\n" if points else ""
