"""Tables that are filled when they are first looked into."""

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from functools import cached_property
from typing import TypeVar

K = TypeVar("K")
V = TypeVar("V")


class LateTable(MutableMapping[K, V]):
    """What `read` finds, once somebody asks for any of it: a window opens and shows its first page without."""

    def __init__(self, read: Callable[[], Mapping[K, V]]) -> None:
        self._read = read

    @cached_property
    def _held(self) -> dict[K, V]:
        return dict(self._read())

    def __getitem__(self, key: K) -> V:
        return self._held[key]

    def __setitem__(self, key: K, one: V) -> None:
        self._held[key] = one

    def __delitem__(self, key: K) -> None:
        del self._held[key]

    def __iter__(self) -> Iterator[K]:
        return iter(self._held)

    def __len__(self) -> int:
        return len(self._held)

    def __contains__(self, key: object) -> bool:
        return key in self._held
