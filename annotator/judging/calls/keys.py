"""API keys: from the system keyring, an environment variable, or this session's memory, and the addresses each may go
to.
"""

import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any
from urllib.parse import urlsplit

from annotator import files
from annotator.domain.common import Refusal
from annotator.domain.texts.redaction import hold, redact
from annotator.places import user_config

SERVICE = "goldsmith"
_PORTS = {"http": 80, "https": 443}
# The prefix that distinguishes the name of a keyring entry from that of an environment variable.
RING = "keyring:"
GRANTS = "keys.json"
# The window passes a judging child process its key in this variable, after its address, never on the command line.
HANDED_OVER = "GOLDSMITH_JUDGE_KEY"


class KeyPlace(StrEnum):
    KEYRING = "keyring"
    ENVIRONMENT = "environment"
    SESSION = "session"


@dataclass(frozen=True, slots=True)
class LocatedKey:
    """A key and its location. Its repr leaves the key out."""

    value: str = field(repr=False)
    place: KeyPlace


@dataclass(frozen=True, slots=True)
class KeyGrant:
    """A person's decision at this machine whether a key may go to an address.

    `key` is the name of an environment variable, or `keyring:` and the name of a keyring entry.
    """

    key: str
    address: str
    allowed: bool = True


def all_grants() -> list[KeyGrant]:
    """Which key may go to which scheme, host and port: stored per machine and user, and in no project.

    Refusal if the file cannot be read.
    """
    place = user_config() / GRANTS
    unreadable = Refusal(
        f"{place} cannot be read: which key may go to which address is not known.",
        "No key was sent. Remove that file and allow the keys again.",
    )
    try:
        # On Windows it cannot be read while another process replaces it.
        rows = json.loads(files.patiently(lambda: place.read_text("utf-8"), seconds=1.0))["keys"]
        result = [KeyGrant(row["key"], row["address"], row["allowed"]) for row in rows]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        raise unreadable from None
    if not all(type(grant.allowed) is bool for grant in result):
        raise unreadable
    return result


def is_granted(key: str, address: str) -> bool | None:
    """Whether a key may go to an address; None if undecided."""
    return next(
        (grant.allowed for grant in all_grants() if (grant.key, grant.address) == (key, address)), None
    )


def decide(key: str, address: str, allowed: bool | None) -> bool:
    """Store whether a key may go to an address, or forget that with None; whether it was decided before."""
    from filelock import FileLock

    place = user_config() / GRANTS
    added = [] if allowed is None else [KeyGrant(key, address, allowed)]
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(place.with_name(f"{GRANTS}.lock")):
            before = all_grants()
            rest = [grant for grant in before if (grant.key, grant.address) != (key, address)]
            tree = {"keys": [asdict(grant) for grant in (*rest, *added)]}
            files.save(place, json.dumps(tree, indent=1).encode(), private=True)
    except OSError as error:
        raise Refusal(
            f"{place} could not be written: {error.strerror or error}.",
            f"{files.advice(error)}; no key was sent.",
        ) from error
    return len(rest) < len(before)


class Keys:
    """The keys of all endpoints, each bound to its address. A key is written only into the system's own keyring.

    `ring` has the keyring package's get_password, set_password and delete_password; by default it is that package.
    """

    def __init__(self, environment: Mapping[str, str] | None = None, ring: Any = None) -> None:
        self._environment = os.environ if environment is None else environment
        self._ring = ring
        self._session: dict[str, str] = {}

    def look(self, address: str, variable: str = "", former: str = "") -> tuple[LocatedKey | None, str]:
        """The key that may go to an address, from the keyring or the variable named by the judge.

        If there is none, also the name of an available key whose grant for this address is undecided; a variable is
        named even after a no, since the judge cannot do without it. `former` is the name of a judge under which an
        earlier version may have stored the key.
        """
        held_back = ""
        for key, place, value in self.at_hand(address, variable, former):
            allowed = is_granted(key, address) if key else True
            if allowed:
                result = LocatedKey(checked_key(value), place)
                hold(result.value)
                return result, ""
            if allowed is None or key == variable:
                held_back = held_back or key
        return None, held_back

    def variable(self, name: str) -> str:
        """A secret from an environment variable, which may go where its grant says; empty if there is none."""
        value = self._environment.get(name, "").strip()
        if value:
            hold(checked_key(value))
        return value

    def at_hand(self, address: str, variable: str, former: str) -> Iterator[tuple[str, KeyPlace, str]]:
        """Each available key: its name, its place, and its value. An empty name means that it is bound to this
        address alone.
        """
        if value := self._from_ring(address):
            yield RING + address, KeyPlace.KEYRING, value
        if former and (value := self._from_ring(former)):
            yield RING + former, KeyPlace.KEYRING, value
        if variable and (value := self._environment.get(variable)):
            yield variable, KeyPlace.ENVIRONMENT, value
        to, _, handed_over = self._environment.get(HANDED_OVER, "").partition(" ")
        if to == address and handed_over:
            yield "", KeyPlace.ENVIRONMENT, handed_over
        if value := self._session.get(address):
            yield "", KeyPlace.SESSION, value

    def keep(self, address: str, key: str, *, session_only: bool = False) -> KeyPlace:
        """Store a key in the system keyring, or in this session's memory if there is none; returns the place."""
        key = checked_key(key)
        hold(key)
        if not session_only and self._into_ring(address, key):
            self._session.pop(address, None)
            decide(RING + address, address, True)
            return KeyPlace.KEYRING
        self._session[address] = key
        return KeyPlace.SESSION

    def forget(self, *names: str) -> None:
        """Delete keys from the keyring and this session's memory; Refusal if the keyring does not delete one."""
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

    def _keyring(self) -> Any:
        if self._ring is None:
            if sys.platform != "darwin":
                # The backend of macOS looks for its libraries on import: on Linux, by starting compilers.
                sys.modules.setdefault("keyring.backends.macOS.api", None)  # type: ignore[arg-type]
            import keyring

            self._ring = keyring
        return self._ring

    def _from_ring(self, name: str) -> str | None:
        result: str | None
        try:
            result = self._keyring().get_password(SERVICE, name)
        except _no_ring():
            return None
        return result

    def _into_ring(self, name: str, key: str) -> bool:
        try:
            self._keyring().set_password(SERVICE, name, key)
            # The null backend accepts every key and stores none.
            return bool(self._keyring().get_password(SERVICE, name) == key)
        except _no_ring():
            return False


def address_of(base_url: str) -> str:
    """The address a key is bound to: the scheme, host and port of an endpoint, in ASCII: no letter passes for
    another.
    """
    try:
        parts = urlsplit(base_url.strip())
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise Refusal(
            "The address of the endpoint cannot be used.", "Write one like https://host/v1."
        ) from None
    # Escaped and never mapped: which letters become which host is the client's matter, and a rule that differs from
    # its own would let “faß.example” pass for “fass.example”.
    host = host.encode("ascii", "backslashreplace").decode()
    host = f"[{host}]" if ":" in host else host
    return f"{parts.scheme}://{host}:{_PORTS.get(parts.scheme, 0) if port is None else port}"


def allow(key: str, base_url: str, *, allowed: bool = True) -> str:
    """Store the decision whether a key may go to an endpoint's address; returns the address."""
    address = address_of(base_url)
    decide(key, address, allowed)
    return address


def handing_over(base_url: str, key: str) -> dict[str, str]:
    """The environment variables that pass a child process the key of an endpoint."""
    return {HANDED_OVER: f"{address_of(base_url)} {key}"}


def checked_key(key: str) -> str:
    """A key that fits into an HTTP header, stripped of copied whitespace; Refusal otherwise."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise Refusal(
            "The key contains invalid characters.",
            "Copy it again from the provider's page and paste it whole.",
        )
    return key


def _no_ring() -> tuple[type[Exception], ...]:
    """The exceptions of the keyring package and its backends if there is no keyring, or it stays locked."""
    from keyring.errors import KeyringError

    # Windows' own errors pass through the package unchanged: a key too long for its keyring, a session without one.
    windows = (sys.modules.get(name) for name in ("win32ctypes.pywin32.pywintypes", "pywintypes"))
    return (KeyringError, RuntimeError, OSError, *(each.error for each in windows if each))


class Redaction(logging.Filter):
    """A log filter that removes secrets from a record's message, arguments and traceback."""

    def __init__(self, keys: Iterable[str] = ()) -> None:
        super().__init__()
        self.keys = tuple(keys)

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = redact(record.getMessage(), self.keys), ()
        if record.exc_info and not record.exc_text:
            record.exc_text = logging.Formatter().formatException(record.exc_info)
        if record.exc_text:
            # Otherwise the handler's formatter would print the traceback again from exc_info, keys included.
            record.exc_text, record.exc_info = redact(record.exc_text, self.keys), None
        if record.stack_info:
            record.stack_info = redact(record.stack_info, self.keys)
        return True


def guard(handlers: Iterable[logging.Handler], keys: Iterable[str] = ()) -> Redaction:
    """Add one redacting filter to log handlers: a filter on a logger would miss its children's records."""
    redaction = Redaction(keys)
    for handler in handlers:
        handler.addFilter(redaction)
    return redaction
