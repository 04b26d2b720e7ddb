"""API keys: from the system keyring, an environment variable, or this session's memory."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from annotator.domain.texts.redaction import hold
from annotator.domain.texts.refusal import Refusal

SERVICE = "goldsmith"
_PORTS = {"http": 80, "https": 443}
# The window gives a judging child its key in this variable, behind its address, never on the command line.
HANDED_OVER = "GOLDSMITH_JUDGE_KEY"


class KeyPlace(StrEnum):
    """Where a key lies."""

    KEYRING = "keyring"
    ENVIRONMENT = "environment"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class FoundKey:
    """A key and where it lay. Its text form leaves the key out."""

    value: str = field(repr=False)
    place: KeyPlace


class Keys:
    """The keys of all endpoints, each bound to its address. A key is written into the system's own keyring, or nowhere.

    `ring` has the keyring package's get_password, set_password and delete_password; by default it is that package.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, ring: Any = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._ring = ring
        self._session: dict[str, str] = {}

    def find(self, address: str, variable: str = "", former: str = "") -> FoundKey | None:
        """The key kept for an address, or in the variable the judge names; None when there is none.

        `former` is the name of a judge under which an earlier version may have kept it.
        """
        places = (
            (KeyPlace.KEYRING, self._from_ring(address)),
            (KeyPlace.KEYRING, self._from_ring(former) if former else None),
            (KeyPlace.ENVIRONMENT, self._environment.get(variable) if variable else None),
            (KeyPlace.ENVIRONMENT, self._handed_over(address)),
            (KeyPlace.SESSION, self._session.get(address)),
        )
        found = next((FoundKey(checked_key(value), place) for place, value in places if value), None)
        if found is not None:
            hold(found.value)
        return found

    def keep(self, address: str, key: str, *, session_only: bool = False) -> KeyPlace:
        """Keep a key in the system keyring, or in this session's memory when there is none; says which."""
        key = checked_key(key)
        hold(key)
        if not session_only and self._into_ring(address, key):
            self._session.pop(address, None)
            return KeyPlace.KEYRING
        self._session[address] = key
        return KeyPlace.SESSION

    def forget(self, *names: str) -> None:
        """Take keys out of the keyring and of this session's memory; Refusal when the keyring keeps one."""
        for name in names:
            self._session.pop(name, None)
            if not self._from_ring(name):
                continue
            try:
                self._keyring().delete_password(SERVICE, name)
            except _no_ring():
                raise Refusal(
                    "The system keyring did not delete the key.",
                    f"Remove the entry {SERVICE} in the keyring's own program.",
                ) from None

    def _handed_over(self, address: str) -> str | None:
        to, _, key = self._environment.get(HANDED_OVER, "").partition(" ")
        return key if to == address else None

    def _keyring(self) -> Any:
        if self._ring is None:
            import keyring

            self._ring = keyring
        return self._ring

    def _from_ring(self, name: str) -> str | None:
        found: str | None
        try:
            found = self._keyring().get_password(SERVICE, name)
        except _no_ring():
            return None
        return found

    def _into_ring(self, name: str, key: str) -> bool:
        try:
            self._keyring().set_password(SERVICE, name, key)
            # The null backend takes every key and keeps none.
            return bool(self._keyring().get_password(SERVICE, name) == key)
        except _no_ring():
            return False


def address_of(base_url: str) -> str:
    """What a key is bound to: the scheme, host and port of an endpoint."""
    parts = urlsplit(base_url.strip())
    return f"{parts.scheme}://{parts.hostname or ''}:{parts.port or _PORTS.get(parts.scheme, 0)}"


def handing_over(base_url: str, key: str) -> dict[str, str]:
    """The environment in which a child process finds a key for an endpoint."""
    return {HANDED_OVER: f"{address_of(base_url)} {key}"}


def checked_key(key: str) -> str:
    """A key that can stand in an HTTP header, without the blanks a copy brought along; Refusal otherwise."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Refusal(
            "The key contains invalid characters.",
            "Copy it again from the provider's page and paste it whole.",
        )
    return key


def _no_ring() -> tuple[type[Exception], ...]:
    """What the keyring package and its backends raise when there is no ring, or it stays locked."""
    from keyring.errors import KeyringError

    # What Windows answers passes through the package as it is: a key too long for its ring, a session without one.
    windows = (sys.modules.get(name) for name in ("win32ctypes.pywin32.pywintypes", "pywintypes"))
    return (KeyringError, RuntimeError, OSError, *(each.error for each in windows if each))
