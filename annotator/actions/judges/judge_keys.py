"""Checks on keys: only a person enters one, and none is part of a judge's settings."""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.actions.project.recording import AUDIT
from annotator.domain.judges.judge import Judge
from annotator.domain.texts.redaction import key_in_settings, looks_like_key
from annotator.domain.texts.refusal import Refusal

GAVE = "give key"
_MADE = ("add judge", "set writer")
_CHANGED = "change judge"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_HERE = ("localhost", "127.0.0.1", "::1")


def given(project: Project, judge: Judge) -> bool:
    """Whether a person made this judge at its present address here, moved it there, or gave it a key there."""
    return any(
        verb in (*_MADE, GAVE) or _told_anew(before, after)
        for verb, before, after in _history(project, judge)
        if _address(after) == _address(judge.model_dump())
    )


def made_at(project: Project, judge: Judge) -> bool:
    """Whether the judge was made here, at the address that it has had ever since."""
    told = list(_history(project, judge))
    addresses = {_address(after) for _, _, after in told} | {_address(judge.model_dump())}
    return len(addresses) == 1 and any(verb in _MADE for verb, _, _ in told)


def refuse_without(project: Project, judge: Judge) -> None:
    """Refuse to ask a judge that has no key here and cannot be meant to do without."""
    if judge.key_env and given(project, judge):
        raise Refusal(
            f"The environment variable {judge.key_env}, which “{judge.name}” names for its key, is not set.",
            "Set it and start again, or give the judge a key; nothing was sent.",
        )
    if not given(project, judge) and urlsplit(judge.base_url).hostname not in _HERE:
        raise Refusal(
            f"“{judge.name}” came from elsewhere, and has no key here.",
            f"Check that {judge.base_url} is the right address, then add a key with: judge key; nothing was "
            "sent.",
        )


def refuse_among_settings(judge: Judge) -> None:
    """Refuse settings with a key in them: they are kept in the project, and leave with it."""
    right = (
        "Enter keys only with “judge key”, in the field “Key”, or by naming a variable. Nothing was saved."
    )
    if judge.key_env and (not _VARIABLE.fullmatch(judge.key_env) or looks_like_key(judge.key_env)):
        raise Refusal("That is not the name of an environment variable; it may be a key.", right)
    found = key_in_settings(json.loads(judge.parameters))
    if found:
        raise Refusal(f"The request parameters seem to hold a key ({found}).", right)
    if key_in_settings([judge.base_url, *judge.base_url.split("/")]):
        raise Refusal("The address of the endpoint seems to hold a key.", right)
    if key_in_settings([judge.name, judge.model]):
        raise Refusal("The judge's name or model seems to be a key.", right)


def _history(project: Project, judge: Judge) -> Iterator[tuple[str, Mapping[str, Any], Mapping[str, Any]]]:
    """What persons did to a judge here: the verb, and its settings before and after."""
    verbs = (*_MADE, _CHANGED, GAVE)
    question = (
        select(AUDIT.c.verb, AUDIT.c.before, AUDIT.c.after)
        .where(AUDIT.c.kind == "judge", AUDIT.c.subject == judge.id, AUDIT.c.verb.in_(verbs))
        .order_by(AUDIT.c.seq)
    )
    with project.store.read() as db:
        rows = db.execute(question).all()
    for verb, before, after in rows:
        yield verb, json.loads(before or "null") or {}, json.loads(after or "null") or {}


def _told_anew(before: Mapping[str, Any], after: Mapping[str, Any]) -> bool:
    """Whether someone typed another address, or the variable that holds the key."""
    return _address(before) != _address(after) or (
        bool(after.get("key_env")) and before.get("key_env") != after["key_env"]
    )


def _address(settings: Mapping[str, Any]) -> str:
    from annotator.judging.calls.keys import address_of

    return address_of(str(settings.get("base_url", "")))
