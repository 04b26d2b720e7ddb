"""Comparisons of two reports shown in both orders: the combined outcome, for a judge and for a person."""

from enum import StrEnum
from typing import Literal

Choice = Literal["first", "second", "tie"]
FIRST: Choice = "first"
SECOND: Choice = "second"
TIE: Choice = "tie"


class PairOutcome(StrEnum):
    """What both orders together say of a response against another."""

    WIN = "win"
    LOSS = "loss"
    TIE = "tie"
    INCONSISTENT = "inconsistent"
    ERROR = "error"


def outcome(shown_first: str | None, shown_second: str | None) -> PairOutcome:
    """What a response's verdicts make: of the order in which it is shown first, and of that in which it is second.

    The same verdict in both orders is the outcome; another one is inconsistent; a verdict that did not come (None)
    makes an error. ValueError for anything but first, second, tie.
    """
    one, two = _as_seen(shown_first, FIRST), _as_seen(shown_second, SECOND)
    if one is None or two is None:
        return PairOutcome.ERROR
    return one if one is two else PairOutcome.INCONSISTENT


def may_win(shown_first: str | None, shown_second: str | None) -> bool:
    """Whether a response has won, or still can once what is missing has come."""
    seen = {_as_seen(shown_first, FIRST), _as_seen(shown_second, SECOND)}
    return seen <= {PairOutcome.WIN, None}


def _as_seen(value: str | None, own: str) -> PairOutcome | None:
    """One order's verdict as the response sees it that stood in the place named."""
    if value not in (FIRST, SECOND, TIE, None):
        raise ValueError(f"a comparison's verdict is first, second or tie, not {value!r}")
    if value is None or value == TIE:
        return PairOutcome.TIE if value else None
    return PairOutcome.WIN if value == own else PairOutcome.LOSS


def preferred(shown_first: str | None, shown_second: str | None) -> Choice | None:
    """Which report someone prefers, seen from that response: by what was said with it first, and with it second.

    FIRST is that response, SECOND the other. None when nothing was said in either order; one order alone counts.
    ValueError on another value.
    """
    turned: dict[str | None, str] = {FIRST: SECOND, SECOND: FIRST}
    said = [shown_first, turned.get(shown_second, shown_second)]
    if odd := set(said) - {FIRST, SECOND, TIE, None}:
        raise ValueError(f"a preference is first, second or tie, not {odd.pop()!r}")
    known = {value for value in said if value is not None}
    if not known:
        return None
    if len(known) > 1 or TIE in known:
        return TIE
    return FIRST if FIRST in known else SECOND
