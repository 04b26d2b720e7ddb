"""Where keys are found, and that they are seen nowhere."""

import logging
import re
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import keyring
import keyring.backends.fail
import keyring.errors
import pytest

from annotator.actions.judges import kept_keys
from annotator.domain.texts.canonical import redact, without_keys
from annotator.judging.calls.keys import (
    GRANTS,
    KeyGrant,
    KeyPlace,
    Keys,
    LocatedKey,
    address_of,
    guard,
    handing_over,
)
from annotator.places import user_config
from tests.judging.odd_server import LogLines
from tests.projects.refusals import expect_refusal
from tests.systems import posix

KEY = "sk-abcdef-123456"


class Ring:
    """A keyring in memory."""

    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self.kept[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


class NoRing:
    """What the keyring package does on a machine without one."""

    def __init__(self, error: type[Exception] = keyring.errors.NoKeyringError) -> None:
        self.error = error

    def get_password(self, service: str, name: str) -> str | None:
        raise self.error("no ring")

    def set_password(self, service: str, name: str, key: str) -> None:
        raise self.error("no ring")


class NullRing(Ring):
    """A ring that takes every key and keeps none."""

    def set_password(self, service: str, name: str, key: str) -> None:
        pass


def test_the_keyring_comes_before_the_environment() -> None:
    keys = Keys({"MY_KEY": "from-environment"}, Ring())
    keys.grants.put(KeyGrant("MY_KEY", "judge"))
    keys.keep("judge", KEY)
    assert keys.find("judge", "MY_KEY") == LocatedKey(KEY, KeyPlace.KEYRING)
    keys.forget("judge")
    assert keys.find("judge", "MY_KEY") == LocatedKey("from-environment", KeyPlace.ENVIRONMENT)


@pytest.mark.parametrize(
    "ring",
    [NoRing(), NoRing(keyring.errors.KeyringLocked), NoRing(RuntimeError), NoRing(OSError), NullRing()],
    ids=["none", "locked", "runtime", "bus", "null"],
)
def test_without_a_keyring_a_key_lives_in_this_session_only(ring: object) -> None:
    keys = Keys({}, ring)
    assert keys.keep("judge", f"  {KEY}\n") is KeyPlace.SESSION
    assert keys.find("judge") == LocatedKey(KEY, KeyPlace.SESSION)
    assert Keys({}, ring).find("judge") is None


def test_the_real_keyring_package_without_a_ring_is_lived_with() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    try:
        keys = Keys({})
        assert (keys.find("judge"), keys.keep("judge", KEY)) == (None, KeyPlace.SESSION)
        keys.forget("judge")
        assert keys.find("judge") is None
    finally:
        keyring.set_keyring(before)


def test_a_key_that_windows_ring_does_not_take_is_kept_for_this_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pywintypes = ModuleType("win32ctypes.pywin32.pywintypes")
    pywintypes.error = type("error", (Exception,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, pywintypes.__name__, pywintypes)
    keys = Keys({"MY_KEY": "from-environment"}, NoRing(pywintypes.error))
    keys.grants.put(KeyGrant("MY_KEY", "judge"))
    assert keys.find("judge", "MY_KEY") == LocatedKey("from-environment", KeyPlace.ENVIRONMENT)
    assert keys.keep("judge", "k" * 1300) is KeyPlace.SESSION
    assert keys.find("judge") == LocatedKey("k" * 1300, KeyPlace.SESSION)


def test_a_keyring_that_will_not_let_go_says_so() -> None:
    class Stubborn(Ring):
        def delete_password(self, service: str, name: str) -> None:
            raise keyring.errors.PasswordDeleteError

    keys = Keys({}, Stubborn())
    keys.keep("judge", KEY)
    expect_refusal("keyring", keys.forget, "judge")


def test_only_the_variable_a_judge_names_is_read_and_only_for_the_address_it_is_allowed_for() -> None:
    keys = Keys({"OPENAI_API_KEY": KEY}, NoRing())
    keys.grants.put(KeyGrant("OPENAI_API_KEY", "judge"))
    assert keys.find("judge") is None
    assert keys.find("judge", "OPENAI_API_KEY") is not None
    assert keys.find("other", "OPENAI_API_KEY") is None
    assert keys.look("other", "OPENAI_API_KEY", "") == (None, "OPENAI_API_KEY")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": 1}', '{"keys": [{"key": 1}]}', "\xff"])
def test_what_cannot_be_read_of_the_allowed_keys_allows_nothing_and_is_refused_in_words(content: str) -> None:
    keys = Keys({"MY_KEY": KEY}, NoRing())
    keys.grants.put(KeyGrant("MY_KEY", "judge"))
    (user_config() / GRANTS).write_text(content, "latin-1")
    expect_refusal(r"keys\.json cannot be read.*No key was sent", keys.find, "judge", "MY_KEY")


def test_the_allowed_keys_are_read_although_another_process_puts_them_in_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys, held = Keys({"MY_KEY": KEY}, NoRing()), [True, True]
    keys.grants.put(KeyGrant("MY_KEY", "judge"))
    read_text = Path.read_text

    def read(place: Path, *how: str) -> str:
        if place.name == GRANTS and held:
            held.pop()
            raise PermissionError(13, "The process cannot access the file")
        return read_text(place, *how)

    monkeypatch.setattr(Path, "read_text", read)
    assert keys.find("judge", "MY_KEY") is not None


@posix
def test_what_is_allowed_is_for_its_owner_alone_and_no_word_is_lost_when_two_allow_at_once() -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda number: Keys().grants.put(KeyGrant(f"KEY_{number}", "judge")), range(20)))
    assert {one.key for one in Keys().grants.all()} == {f"KEY_{number}" for number in range(20)}
    assert (user_config() / GRANTS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("base_url", "is_its"),
    [
        ("https://host.example:443", True),
        ("https://Host.example/other/", True),
        ("http://host.example/v1", False),
        ("https://host.example:8443/v1", False),
        ("https://other.example/v1", False),
    ],
)
def test_a_key_that_was_handed_over_goes_to_scheme_host_and_port_and_to_no_other_address(
    base_url: str, is_its: bool
) -> None:
    keys = Keys(handing_over("https://host.example/v1", KEY), NoRing())
    handed = LocatedKey(KEY, KeyPlace.ENVIRONMENT) if is_its else None
    assert keys.find(address_of(base_url), "UNSET") == handed


@pytest.mark.parametrize(
    "base_url", ["https://host.example/v1", "http://[::1]:8000/v1", "http://[fd00::1]/v1"]
)
def test_an_address_is_allowed_as_it_is_shown(base_url: str) -> None:
    shown = address_of(base_url)
    assert shown == address_of(shown)
    kept_keys.allow("MY_KEY", shown)
    assert Keys({"MY_KEY": KEY}, NoRing()).find(shown, "MY_KEY") == LocatedKey(KEY, KeyPlace.ENVIRONMENT)


@pytest.mark.parametrize(
    "host", ["\u0430pi.example", "a\u03c1i.example", "ap\u0131.example", "api\u200d.example"]
)
def test_no_letter_of_an_address_passes_for_another(host: str) -> None:
    assert address_of("https://fa\u00df.example/v1") != address_of("https://fass.example/v1")
    assert address_of(f"https://{host}/v1") != address_of("https://api.example/v1")
    assert address_of(f"https://{host}/v1").isascii()


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "line\nbreak"])
def test_what_cannot_be_a_key_is_refused(key: str) -> None:
    expect_refusal("", Keys({}, NoRing()).keep, "judge", key)


def test_a_found_key_does_not_print_itself() -> None:
    assert KEY not in repr(LocatedKey(KEY, KeyPlace.SESSION))


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Authorization: Bearer {KEY}",
        f"{{'authorization': 'Bearer {KEY}'}}",
        f"X-API-Key: {KEY}",
        f"https://host/v1?api_key={KEY}&x=1",
        f"bearer {KEY}",
        "Cannot connect to proxy http://someone:abcdef@proxy:8080",
        f"the key {KEY[:-2]}**",
    ],
)
def test_a_key_is_redacted_even_when_it_is_not_known(text: str) -> None:
    assert "abcdef" not in redact(text)


def test_a_known_key_of_any_shape_is_redacted() -> None:
    assert redact("refused hunter2hunter2!", ("hunter2hunter2",)) == "refused [key removed]!"


def test_a_reply_loses_the_key_and_nothing_else() -> None:
    text = f"The paper writes Authorization: Bearer tokens, sk-learn and {KEY}"
    assert without_keys(text, (KEY,)) == text.replace(KEY, "[key removed]")


def test_log_lines_arguments_and_tracebacks_are_redacted() -> None:
    handler = LogLines()
    guard([handler], ["hunter2hunter2"])
    logger = logging.getLogger("test.keys.child")
    logger.addHandler(handler)
    try:
        raise ValueError("401 for hunter2hunter2")
    except ValueError:
        logger.exception("header %s", {"Authorization": f"Bearer {KEY}"})
    logger.removeHandler(handler)
    (line,) = handler.lines
    assert "ValueError: 401 for [key removed]" in line
    assert not re.search(f"hunter2|{KEY}", line)


def test_where_no_grant_can_be_kept_it_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text("a file where the folder should be", "utf-8")
    monkeypatch.setattr("annotator.judging.calls.keys.user_config", lambda: tmp_path / "config")
    expect_refusal("no key was sent", kept_keys.allow, "MY_KEY", "https://host.example/v1")
