"""Refusals: a request that cannot be met, with the remedy."""

from collections.abc import Collection, Mapping
from typing import TypeVar

Known = TypeVar("Known")


class Refusal(Exception):
    """A request that cannot be met, in one sentence of what happened and one of what to do."""

    def __init__(self, happened: str, todo: str = "", details: tuple[str, ...] = ()) -> None:
        super().__init__(happened if not todo else f"{happened} {todo}")
        self.happened = happened
        self.todo = todo
        self.details = details


def in_window(words: str) -> str:
    """The text of a refusal for the window: the command at the end is for the command line alone."""
    return words.partition(" Run: ")[0]


class RoleNeeded(Refusal):
    """A request that only people with one of some `roles` may make."""

    def __init__(self, happened: str, todo: str, *roles: str) -> None:
        super().__init__(happened, todo)
        self.roles = roles


class KeyNotAllowed(Refusal):
    """A key that is available for an address, but that nobody at this machine has allowed to go there.

    `key` and `address` are written as the command `keys allow` takes them.
    """

    def __init__(self, happened: str, todo: str, key: str, address: str) -> None:
        super().__init__(happened, todo)
        self.key, self.address = key, address


def refuse_other(name: object, known: Collection[str], happened: str, offer: str = "Use one of") -> None:
    """Refusal of a name that is not among the known, which it lists."""
    if name not in known:
        raise Refusal(happened, f"{offer} {', '.join(known) or 'none'}.")


def one_of(name: str, known: Mapping[str, Known], happened: str, offer: str = "Use one of") -> Known:
    """The thing of that name; Refusal lists the names there are."""
    refuse_other(name, known, happened, offer)
    return known[name]


def required(value: Known | None, happened: str, todo: str = "") -> Known:
    """A value that must exist; Refusal if it is missing or empty."""
    if not value:
        raise Refusal(happened, todo)
    return value
