"""Storage and lookup of judges' keys, which never leave in a file."""

from collections.abc import Iterable
from functools import cache
from typing import Any

from sqlalchemy import select

from annotator.actions.judges import judge_keys
from annotator.actions.judges.judges import JUDGE, named
from annotator.actions.project.file import Project
from annotator.actions.project.recording import record
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.change import Change
from annotator.domain.texts.redaction import held, looks_like_key
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.folders import Files, pieces_of
from annotator.storage.tables import JudgeRow, table

# What is shorter may be any word.
_SHORTEST = 8


def remember_key(project: Project, name: str, key: str, *, session_only: bool = False) -> str:
    """Keep the key of a judge's address in the system's keyring, or for this session only where that is asked for or
    there is none.

    Says which. Never in the project, which only learns that a person gave the judge one.
    """
    from annotator.judging.calls.keys import KeyPlace, address_of

    judge = named(project, name)
    place = _keys().keep(address_of(judge.base_url), key, session_only=session_only)
    if not judge_keys.given(project, judge):
        with project.store.write() as db:
            record(
                project, db, Change("judge", judge.id, judge_keys.GAVE, None, judge.model_dump(mode="json"))
            )
    if place is KeyPlace.KEYRING:
        return f"The key is in your system's keyring, for {address_of(judge.base_url)}."
    if session_only:
        return "The key is kept until Goldsmith is closed, and asked for again then."
    return "No keyring here took the key: it is kept until Goldsmith is closed, and asked for again then."


def forget_key(project: Project, name: str) -> str:
    """Take the key of a judge's address out of the keyring and of this session; a variable of the environment stays."""
    from annotator.judging.calls.keys import address_of

    judge = named(project, name)
    _keys().forget(address_of(judge.base_url), judge.name)
    return "The key is forgotten."


def key_place(project: Project, judge: Judge) -> str:
    """Where the judge's key is found now, in a sentence; the key itself is never told."""
    from annotator.judging.calls.keys import KeyPlace, address_of

    found = _found_key(project, judge)
    if found is None and not judge_keys.given(project, _asked_for(project, judge)):
        return f"This judge was imported: add a key for {address_of(judge.base_url)} before using it."
    if found is None:
        return "No key is stored; an endpoint on this machine usually needs none."
    return {
        KeyPlace.KEYRING: f"The key for {address_of(judge.base_url)} is in your system's keyring.",
        KeyPlace.ENVIRONMENT: f"The key is in the environment variable {judge.key_env or 'that was handed over'}.",
        KeyPlace.SESSION: "The key is kept until Goldsmith is closed.",
    }[found.place]


def key_of(project: Project, judge: Judge) -> str | None:
    """The judge's key, from the keyring, the environment or this session; None when there is none.

    A key is bound to an address, and only a judge that a person made or gave a key here has one. One that was made
    from another judge has that judge's key.
    """
    found = _found_key(project, judge)
    return found.value if found else None


def key_to_ask_with(project: Project, judge: Judge) -> str | None:
    """The same for a judge that is about to be asked; Refusal where a key that it wants is not at hand."""
    found = _found_key(project, judge)
    if found is None:
        judge_keys.refuse_without(project, _asked_for(project, judge))
    return found.value if found else None


def _found_key(project: Project, judge: Judge) -> Any:
    from annotator.judging.calls.keys import address_of

    of, address = _asked_for(project, judge), address_of(judge.base_url)
    if address_of(of.base_url) != address or not judge_keys.given(project, of):
        return None
    former = of.name if judge_keys.made_at(project, of) else ""
    return _keys().find(address, of.key_env, former)


def _asked_for(project: Project, judge: Judge) -> Judge:
    """The judge whose key is asked for."""
    if not judge.asked.of:
        return judge
    with project.store.read() as db:
        row = db.execute(select(JUDGE).where(JUDGE.c.id == judge.asked.of)).mappings().first()
    # An imported one may have come without the judge that it was made from.
    return Judge(**row) if row is not None else judge


def handed_over(project: Project, judge: Judge) -> dict[str, str]:
    """The environment in which a child process finds the judge's key; empty when there is none to hand over."""
    from annotator.judging.calls.keys import handing_over

    key = key_of(project, judge) if judge.kind == JudgeKind.ENDPOINT else None
    return handing_over(judge.base_url, key) if key else {}


def in_use(project: Project) -> list[str]:
    """The values of all keys that are at hand here: those of the project's judges, and those used before."""
    with project.store.read() as db:
        rows = [Judge(**row) for row in db.execute(select(table(JudgeRow))).mappings()]
    found = {key_of(project, judge) for judge in rows if judge.base_url} | set(held())
    return sorted(key for key in found if key)


def refuse_in_files(project: Project, files: Files, settings: Iterable[str] = ()) -> None:
    """Refuse to write files in which a key that is in use stands, or, in those of `settings`, what looks like one."""
    keys = [key for key in in_use(project) if len(key) >= _SHORTEST]
    for path in sorted(files):
        texts = (piece.decode("utf-8", "replace") for piece in pieces_of(files[path]))
        strict = path in settings
        if any(_holds_key(text, keys, strict=strict) for text in texts):
            raise Refusal(
                f"{path} would contain a key; nothing was written.",
                "Remove it from the text or settings it came from, and replace the key at its provider.",
            )


def _holds_key(text: str, keys: Iterable[str], *, strict: bool) -> bool:
    return any(key in text for key in keys) or (strict and looks_like_key(text))


@cache
def _keys() -> Any:
    from annotator.judging.calls.keys import Keys

    return Keys()
