"""Which questions the journal may hold an answer to: told from eight bytes a call, so that a fresh run asks no file."""

from array import array
from bisect import bisect_left
from collections.abc import Iterable


class KnownCalls:
    """The cache keys of answered calls, by their hash; in one of 2⁶⁴ times it knows a key that is not there."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._before = array("q", sorted(map(hash, keys)))
        self._since: set[int] = set()

    def add(self, key: str) -> None:
        """Know a key from now on."""
        self._since.add(hash(key))

    def __contains__(self, key: object) -> bool:
        wanted = hash(key)
        place = bisect_left(self._before, wanted)
        found = place < len(self._before) and self._before[place] == wanted
        return found or wanted in self._since
