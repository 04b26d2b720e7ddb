"""Storage and lookup of judges' keys, which never leave in a file, and the addresses each may go to."""

import json
import re
import shlex
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from sqlalchemy import select

from annotator.actions.judges.judges import VARIABLE, named
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting, commit
from annotator.domain.common import Change, KeyNotAllowed, Refusal, now, visible
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.redaction import held, looks_like_key
from annotator.exchange.folders import Files, pieces_of
from annotator.judging.calls.keys import (
    RING,
    KeyGrant,
    KeyPlace,
    Keys,
    LocatedKey,
    address_of,
    all_grants,
    allow as allow_key,
    decide,
    handing_over,
    is_granted,
)
from annotator.storage.tables import AUDIT, JUDGE

if TYPE_CHECKING:
    from annotator.judging.calls.client import Sender

GAVE = "give key"
_MADE = ("add judge", "set writer")
_CHANGED = "change judge"
_HERE = ("localhost", "127.0.0.1", "::1")
# Anything shorter may be an ordinary word.
_SHORTEST = 8


def remember_key(project: Project, judge: Judge, key: str, *, session_only: bool = False) -> str:
    """Store the key of a judge's address in the system's keyring, or for this session only if asked or without one.

    Returns a sentence saying which. The address is the one shown when the key was asked for. The key is never stored in
    the project, which only records that a person gave the judge one.
    """
    place = _keys().keep(address_of(judge.base_url), key, session_only=session_only)
    if not _given(project, judge):
        commit(project, Change("judge", judge.id, GAVE, None, judge.model_dump(mode="json")))
    if place is KeyPlace.KEYRING:
        return f"The key is in your system's keyring, for {address_of(judge.base_url)}."
    if session_only:
        return "The key is kept until Goldsmith is closed, and asked for again then."
    return "No keyring here took the key: it is kept until Goldsmith is closed, and asked for again then."


def forget_key(project: Project, name: str) -> str:
    """Remove the key of a judge's address from the keyring and this session; an environment variable stays."""
    judge, keys = named(project, name), _keys()
    address = address_of(judge.base_url)
    # An entry under the judge's name may belong to another judge, unless it was allowed for this address.
    former = [judge.name] if is_granted(RING + judge.name, address) else []
    keys.forget(address, *former)
    for entry in (address, *former):
        decide(RING + entry, address, None)
    return "The key is forgotten."


def key_place(project: Project, judge: Judge) -> str:
    """Where the judge's key is, in a sentence; the key itself is never shown."""
    result, why = _looked_for(project, judge)
    if why is not None:
        return f"{why.happened} Allow it if both are right."
    if result is None and not _given(project, _checked(project, judge)):
        return f"This judge was imported: add a key for {address_of(judge.base_url)} before using it."
    if result is None:
        return "No key is stored; an endpoint on this machine usually needs none."
    return {
        KeyPlace.KEYRING: f"The key for {address_of(judge.base_url)} is in your system's keyring.",
        KeyPlace.ENVIRONMENT: f"The key is in the environment variable {judge.key_env or 'that was handed over'}.",
        KeyPlace.SESSION: "The key is kept until Goldsmith is closed.",
    }[result.place]


def not_allowed(project: Project, judge: Judge) -> KeyNotAllowed | None:
    """The refusal of a key that a judge asks for and that nobody at this machine has allowed for its address."""
    return _looked_for(project, judge)[1]


def _looked_for(project: Project, judge: Judge) -> tuple[LocatedKey | None, KeyNotAllowed | None]:
    """The judge's key, or the refusal of one that is available but may not go to its address.

    Nothing in the project's file counts for this, not even its history.
    """
    of, address = _checked(project, judge), address_of(judge.base_url)
    if address_of(of.base_url) != address:
        return None, None
    keys = _keys()
    result, key = keys.look(address, of.key_env, of.name)
    key = key or next((name for name in _other_secrets(of) if not is_granted(name, address)), "")
    if not key:
        return result, None
    return None, KeyNotAllowed(
        f"“{visible(judge.name)}” asks for {_words(key)}, which is not allowed for {address} on this machine.",
        f"Nothing was sent. If both are right, allow it: goldsmith keys allow {shlex.quote(visible(key))} {address}",
        key,
        address,
    )


def _words(key: str) -> str:
    entry = visible(key.removeprefix(RING))
    return f"the keyring entry “{entry}”" if key.startswith(RING) else f"the environment variable {entry}"


def allow(key: str, address: str, *, allowed: bool = True) -> str:
    """Allow or forbid a key to go to an address from this machine; return a sentence saying so.

    `key` is the name of an environment variable, or `keyring:` and an entry's name; raises Refusal for anything else.
    """
    if not re.match(r"https?://[^:]", address_of(address)):
        raise Refusal("This is not the address of an endpoint.", "Write one like https://host/v1.")
    if not key.removeprefix(RING) or not (key.startswith(RING) or VARIABLE.fullmatch(key)):
        raise Refusal(
            "This is neither the name of an environment variable nor “keyring:” with the name of an entry.",
            "Name the key by where it is, never the key itself.",
        )
    to = allow_key(key, address, allowed=allowed)
    words = f"{_words(key)} {'may' if allowed else 'may not'} go to {to}."
    return words[0].upper() + words[1:]


def grants() -> list[KeyGrant]:
    return all_grants()


def withdraw(key: str, address: str) -> str:
    """Withdraw the decision on a key and an address; raises Refusal if there is none."""
    if not any(decide(key, one, None) for one in (address, address_of(address))):
        raise Refusal("Nothing is kept of this key and address.", "See: goldsmith keys list.")
    words = f"{_words(key)} is no longer allowed for {visible(address)}."
    return words[0].upper() + words[1:]


def key_to_ask_with(project: Project, judge: Judge) -> str | None:
    """The key of a judge that is about to be asked, from the keyring, the environment or this session; None if none.

    A key is bound to an address, and goes there only if a person at this machine allowed it. A judge derived from
    another has that judge's key. Raises Refusal if a key that it needs is missing or may not go to its address, or if
    a judge that came from elsewhere needs one.
    """
    result, why = _looked_for(project, judge)
    if why is not None:
        raise why
    if result is not None:
        return result.value
    of = _checked(project, judge)
    if of.key_env:
        raise Refusal(
            f"The environment variable {of.key_env}, which “{of.name}” names for its key, is not set.",
            "Set it and start again, or give the judge a key; nothing was sent.",
        )
    if not _given(project, of) and urlsplit(of.base_url).hostname not in _HERE:
        raise Refusal(
            f"“{of.name}” came from elsewhere, and has no key here.",
            f"Check that {of.base_url} is the right address, then add a key with: judge key; nothing was sent.",
        )
    return None


def endpoint_to_ask(project: Project, judge: Judge, timeout_s: float = 180.0) -> Any:
    """The endpoint of a judge that is about to be asked, with its key and the secrets named in its headers.

    Raises Refusal if one of these is missing, or may not go to the judge's address.
    """
    from annotator.judging.calls.client import Endpoint

    endpoint = Endpoint.of(judge, key_to_ask_with(project, judge), timeout_s)
    of = _checked(project, judge)
    if address_of(of.base_url) != address_of(judge.base_url):
        return endpoint
    values = {name: _keys().variable(name) for name in _other_secrets(of)}
    if lacking := [name for name, value in values.items() if not value]:
        raise Refusal(
            f"The environment variable {lacking[0]}, which a header of “{of.name}” names, is not set.",
            "Set it and start again; nothing was sent.",
        )
    return replace(endpoint, headers=of.settings.headers, query=of.settings.query, values=values)


def _other_secrets(judge: Judge) -> list[str]:
    return [name for name in judge.settings.secrets if name != "key"]


def _given(project: Project, judge: Judge) -> bool:
    """Whether a person created this judge at its present address here, moved it there, or gave it a key there.

    By its history, which may be somebody else's: no key is sent because of it.
    """
    verbs = (*_MADE, _CHANGED, GAVE)
    rows = project.query(
        select(AUDIT.c.verb, AUDIT.c.before, AUDIT.c.after).where(
            AUDIT.c.kind == "judge", AUDIT.c.subject == judge.id, AUDIT.c.verb.in_(verbs)
        )
    )
    changes = [
        (verb, json.loads(before or "null") or {}, json.loads(after or "null") or {})
        for verb, before, after in rows
    ]
    return any(
        verb in (*_MADE, GAVE)
        or (
            _address(before) != _address(after)
            or (bool(after.get("key_env")) and before.get("key_env") != after["key_env"])
        )
        for verb, before, after in changes
        if _address(after) == _address(judge.model_dump())
    )


def _address(settings: Mapping[str, Any]) -> str:
    return address_of(str(settings.get("base_url", "")))


def _checked(project: Project, judge: Judge) -> Judge:
    if not judge.settings.of:
        return judge
    row = project.query(select(JUDGE).where(JUDGE.c.id == judge.settings.of)).mappings().first()
    # An imported judge may have come without the one it was made from.
    return Judge(**row) if row is not None else judge


def handed_over(project: Project, judge: Judge) -> dict[str, str]:
    """The environment in which a child process finds the judge's key; empty if there is none to hand over.

    Raises Refusal if there is one that may not go to the judge's address.
    """
    if judge.kind != JudgeKind.ENDPOINT:
        return {}
    result, why = _looked_for(project, judge)
    if why is not None:
        raise why
    return handing_over(judge.base_url, result.value) if result else {}


def in_use(project: Project) -> list[str]:
    """The values of all available secrets, allowed or not: those of the project's judges, and those used before."""
    rows = [Judge(**row) for row in project.query(select(JUDGE)).mappings()]
    result = set(held())
    for judge in rows:
        for name in (judge.key_env, *_other_secrets(judge)) if judge.base_url else ():
            at_hand = _keys().at_hand(address_of(judge.base_url), name, judge.name)
            result.update(value.strip() for _, _, value in at_hand)
    return sorted(filter(None, result))


def refuse_in_files(project: Project, files: Files, settings: Iterable[str] = ()) -> None:
    """Refuse to write files that contain a key in use or, in those of `settings`, anything that looks like one."""
    keys = [key for key in in_use(project) if len(key) >= _SHORTEST]
    for path in sorted(files):
        texts = (piece.decode("utf-8", "replace") for piece in pieces_of(files[path]))
        strict = path in settings
        if any((any(key in text for key in keys) or (strict and looks_like_key(text))) for text in texts):
            raise Refusal(
                f"{path} would contain a key; nothing was written.",
                "Remove it from the text or settings it came from, and replace the key at its provider.",
            )


@cache
def _keys() -> Keys:
    return Keys()


SETTING, LATENCIES, FAILED = "endpoints", "endpoint latencies", "failed judge tests"
# Servers are updated: what they rejected a month ago is worth another try.
LIFETIME = timedelta(days=30)


def recall(project: Project, sender: "Sender") -> None:
    """Start a sender with what earlier ones learned about the same endpoint and model."""
    from annotator.judging.calls.reply_parts import ReplyForm

    known = project.get(SETTING, {}).get(_name(sender))
    if known is None or now() - datetime.fromisoformat(known["since"]) > LIFETIME:
        return
    sender.learned.dropped.update(known["dropped"])
    sender.learned.renamed.update(known["renamed"])
    sender.ladder.top = ReplyForm(known["form"])
    sender.budget.beside = known.get("thinking beside the cap")


def form_of(project: Project, judge: Judge) -> str:
    """The form in which a judge's endpoint answers, if learned; empty if only the usual one is known."""
    known = project.get(SETTING, {}).get(_endpoint_memory_address(judge))
    return (
        ""
        if known is None or now() - datetime.fromisoformat(known["since"]) > LIFETIME
        else str(known["form"])
    )


def keep(project: Project, sender: "Sender") -> None:
    """Store what a sender has learned, if anything is new."""
    known: dict[str, Any] = dict(project.get(SETTING, {}))
    before, learned = known.get(_name(sender)), _learned(sender)
    if learned == ({} if before is None else {key: before[key] for key in before if key != "since"}):
        return
    known.pop(_name(sender), None)
    if learned:
        known[_name(sender)] = {**learned, "since": now().isoformat()}
    project.set(SETTING, known)


def keep_latency(project: Project, judge: Judge, seconds: float | None) -> None:
    """Store the latency of a judge's endpoint in a test, unless the project is read-only."""
    if seconds is not None and not project.readonly:
        project.set(LATENCIES, {**project.get(LATENCIES, {}), _endpoint_memory_address(judge): seconds})


def latency(project: Project, judge: Judge) -> float | None:
    result = project.get(LATENCIES, {}).get(_endpoint_memory_address(judge))
    return None if result is None else float(result)


def keep_test(project: Project, judge: Judge, failure: str) -> None:
    """Store why a judge's test failed until it passes one, unless the project is read-only."""
    known: dict[str, Any] = dict(project.get(FAILED, {}))
    before = known.pop(judge.id, None)
    if failure:
        known[judge.id] = {"why": failure, "of": _tested(judge), "at": now().isoformat(), "accepted": False}
    if not project.readonly and (failure or before):
        project.set(FAILED, known)


def failed_tests(project: Project) -> dict[str, str]:
    return {judge_id: one["why"] for judge_id, one in project.get(FAILED, {}).items()}


@people.for_coordinators("can let a judge run that failed its test")
def accept(project: Project, judge: Judge) -> Change:
    """Let a judge run although its test failed, which its figures still say. Raises Refusal if none failed."""
    before = dict(project.get(FAILED, {}))
    if judge.id not in before:
        raise Refusal(f"“{judge.name}” has not failed a test.", "It can run as it is.")
    after = before | {judge.id: before[judge.id] | {"accepted": True}}
    return change_setting(project, FAILED, "use a judge that failed its test", before, after)


def refuse_failed(project: Project, judge: Judge) -> None:
    """Refuse a judge whose test failed with its present settings, unless a person allowed it to run."""
    known = project.get(FAILED, {}).get(judge.id)
    if known is not None and known["of"] == _tested(judge) and not known["accepted"]:
        raise Refusal(
            f"“{judge.name}” failed its last test: {known['why']}",
            "Nothing was asked. Change it and test it again. To use it as it is: “Use it all the same” beside its test "
            f"on the Judges page. Run: goldsmith judge test FILE {judge.name} --use-anyway",
        )


def _tested(judge: Judge) -> str:
    return " ".join((_endpoint_memory_address(judge), judge.parameters, judge.key_env))


def _endpoint_memory_address(judge: Judge) -> str:
    return f"{judge.base_url.strip().rstrip('/')} {judge.model}"


def _learned(sender: "Sender") -> dict[str, Any]:
    """What was learned that differs from the initial assumptions about an endpoint; empty if nothing does."""
    from annotator.judging.calls.reply_parts import ReplyForm

    learned, form, beside = sender.learned, sender.ladder.top, sender.budget.beside
    if not learned.dropped and not learned.renamed and form is ReplyForm.SCHEMA and not beside:
        return {}
    usual = {"dropped": sorted(learned.dropped), "renamed": dict(learned.renamed), "form": form.value}
    return usual | ({"thinking beside the cap": beside} if beside else {})


def _name(sender: "Sender") -> str:
    endpoint = sender.client.endpoint
    return f"{endpoint.base_url} {endpoint.model}"
