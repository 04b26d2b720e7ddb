"""Counts and durations in words, for a window, a data card or a terminal."""

from dataclasses import dataclass
from typing import Generic, TypeVar

T = TypeVar("T")


def counted(number: int, one: str, many: str = "") -> str:
    """“1 item”, “12 items”, “1,200 units”; `many` where the plural is not `one` and an s."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def usd(amount: float) -> str:
    """US dollars, with as many places as a small sum needs."""
    if 0 < amount < 0.0001:
        return "< $0.0001"
    return f"${amount:,.4f}" if 0 < amount < 0.1 else f"${amount:,.2f}"


def lasting(seconds: float) -> str:
    """A length of time in a word or two."""
    if seconds < 1:
        return "under a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} min"
    hours, minutes = divmod(round(seconds / 60), 60)
    return f"{hours} h {minutes:02} min"


@dataclass(frozen=True, slots=True)
class CutList(Generic[T]):
    """A list cut to what can be shown, and its full length."""

    rows: tuple[T, ...]
    total: int

    @property
    def words(self) -> str:
        """How many there are: “12”, or “first 2,000 of 2,295” where it is cut."""
        shown = len(self.rows)
        return f"{self.total:,}" if shown == self.total else f"first {shown:,} of {self.total:,}"
