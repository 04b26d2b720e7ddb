"""Endpoints that write reports, one per system, stored beside the judges."""

import json
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.judges import judges
from annotator.actions.project.file import Project, record
from annotator.domain.judges.judge import Judge, JudgeKind, PricedAsking
from annotator.domain.material.response import CONTINUATION
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import JUDGE, RESPONSE, SYSTEM

_ROOM_FOR_A_NAME = 100
_SAID = ("base_url", "model", "key_env", "parameters")
OTHER = "Give the system another name; a name stands for one model with one set of parameters."


@dataclass(frozen=True, slots=True)
class WriterSettings:
    """The endpoint that writes reports: a judge's (by name), or one of its own; empty keeps the last one.

    `parameters`, a JSON object, take the place of the judge's.
    """

    judge: str = ""
    base_url: str = ""
    model: str = ""
    key_env: str = ""
    parameters: str = ""
    preset: str = ""
    """Request parameters, a JSON object, that go beside the others and before them."""


def prepared(
    project: Project, system: str, settings: WriterSettings = WriterSettings(), mode: str = ""
) -> Judge:
    """The writer of a system, made or brought up to date by the settings.

    What continues tasks is asked by parameters of its own, and is a writer beside that of the system's reports, at the
    same endpoint unless the settings say otherwise. Refusal when the system's reports came from elsewhere, from another
    model, or were asked for with other parameters.
    """
    wanted = system.strip()
    if not wanted:
        raise Refusal("The system has no name.", "Name the system: --system NAME.")
    with project.store.write() as db:
        of_reports, there = _named(db, _name(wanted)), _has_reports(db, wanted, mode)
        old = _named(db, _name(wanted, mode)) or (of_reports if there else None)
        writer = _as_wanted(project, _name(wanted, mode), settings, old, of_reports)
        if there:
            _refuse_another(wanted, old, writer)
        if settings.key_env and settings.base_url:
            from annotator.judging.calls import keys

            keys.allow(settings.key_env, settings.base_url)
        return _kept(project, db, old, writer)


def named(project: Project, name: str) -> Judge | None:
    """The writer of that name, if there is one."""
    with project.store.read() as db:
        return _named(db, name)


def of_system(project: Project, system: str, judge: str, preset: str = "", mode: str = "") -> Judge:
    """Who writes a system's reports: its writer of last time, where it is named, or one at the endpoint of a judge."""
    known = {_name(system.strip(), mode), _name(system.strip())}
    return prepared(project, system, WriterSettings("" if judge in known else judge, preset=preset), mode)


def as_endpoint(writer: Judge) -> Judge:
    """The writer for what only sends: an endpoint like any other."""
    return writer.model_copy(update={"kind": JudgeKind.ENDPOINT})


def _name(system: str, mode: str = "") -> str:
    """Under which name a system's writer stands among the judges, where no two are alike."""
    system = f"{system} ({mode})" if mode == CONTINUATION else system
    if len(system) <= _ROOM_FOR_A_NAME:
        return f"writer of {system}"
    return f"writer of {system[: _ROOM_FOR_A_NAME - 9]} {sha256(system)[:8]}"


def _named(db: Connection, name: str) -> Judge | None:
    question = select(JUDGE).where(JUDGE.c.name == name, JUDGE.c.kind == JudgeKind.WRITER.value)
    row = db.execute(question).mappings().first()
    return Judge(**row) if row is not None else None


def _has_reports(db: Connection, system: str, mode: str) -> bool:
    """Whether it has continuations, if that is the mode, or else any reports."""
    answers = select(RESPONSE.c.id).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    alike = (RESPONSE.c.mode == CONTINUATION) == (mode == CONTINUATION)
    return db.execute(answers.where(SYSTEM.c.name == system, alike).limit(1)).first() is not None


def _as_wanted(
    project: Project, name: str, settings: WriterSettings, old: Judge | None, of_reports: Judge | None
) -> Judge:
    """The writer as the settings have it, under the id it has or a new one."""
    if settings == WriterSettings() and old is not None:
        return old
    given: dict[str, Any] = {"name": old.name if old else name, "kind": JudgeKind.WRITER}
    given |= _from_judge(project, settings) if settings.judge else _by_itself(settings, old or of_reports)
    if settings.preset:
        own = json.loads(given.get("parameters") or "{}")
        given["parameters"] = json.dumps({**own, **json.loads(settings.preset)})
    return judges.checked(old.id if old else new_id(), **given)


def _from_judge(project: Project, settings: WriterSettings) -> dict[str, str]:
    if settings.base_url or settings.model or settings.key_env:
        raise Refusal(
            "Both a judge and an endpoint of its own are named.", "Give --judge, or --base-url and --model."
        )
    judge = judges.named(project, settings.judge)
    if judge.kind != JudgeKind.ENDPOINT:
        raise Refusal(f"“{judge.name}” has no endpoint to write with.", "Choose a judge behind an endpoint.")
    # The key is looked for where that judge has it.
    of, price = judge.asked.of or judge.id, judge.asked.price
    asking = PricedAsking(of=of, price=price).model_dump_json(exclude_defaults=True)
    kept = {name: getattr(judge, name) for name in ("base_url", "model", "key_env")}
    return kept | {"asking": asking, "parameters": settings.parameters or judge.parameters}


def _by_itself(settings: WriterSettings, old: Judge | None) -> dict[str, str]:
    known = {name: getattr(old, name) for name in ("asking", *_SAID)} if old else {}
    said = {name: value for name in _SAID if (value := getattr(settings, name))}
    if "base_url" in said or "key_env" in said:
        # The key is no longer the judge's that it was made from.
        known.pop("asking", None)
    given = known | said
    if not given.get("base_url") or not given.get("model"):
        raise Refusal(
            "No writer is given for the reports.",
            "Name a judge (--judge), or an endpoint and a model (--base-url and --model).",
        )
    return given


def _refuse_another(system: str, old: Judge | None, writer: Judge) -> None:
    if old is None:
        raise Refusal(f"The reports of “{system}” were not written in this project.", OTHER)
    if old.model != writer.model:
        raise Refusal(f"The reports of “{system}” were written by {old.model}, not {writer.model}.", OTHER)
    if old.parameters != writer.parameters:
        raise Refusal(
            f"The reports of “{system}” were asked for with the parameters {old.parameters}, "
            f"not {writer.parameters}.",
            OTHER,
        )


def _kept(project: Project, db: Connection, old: Judge | None, writer: Judge) -> Judge:
    if old == writer:
        return writer
    if old is None:
        judges.refuse_taken(project, writer.name)
        db.execute(insert(JUDGE).values(**writer.model_dump()))
    else:
        db.execute(update(JUDGE).where(JUDGE.c.id == old.id).values(**writer.model_dump(exclude={"id"})))
    before = old.model_dump(mode="json") if old else None
    record(project, db, Change("judge", writer.id, "set writer", before, writer.model_dump(mode="json")))
    return writer
