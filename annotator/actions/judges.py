"""What judges a project has: the baseline that is always there, those behind endpoints, and those derived."""

import json
from functools import cache
from typing import Any

from pydantic import ValidationError
from sqlalchemy import func, insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions import endpoint_memory, judge_keys, judge_prices
from annotator.actions.project import Project
from annotator.actions.recording import record
from annotator.domain.change import Change
from annotator.domain.identity import derived_id, new_id
from annotator.domain.judge import Asking, Judge, JudgeFields, JudgeKind
from annotator.domain.refusal import Refusal
from annotator.storage.tables import JudgementRow, JudgeRow, ResponseRow, table

JUDGE, JUDGEMENT, RESPONSE = table(JudgeRow), table(JudgementRow), table(ResponseRow)
BASELINE = Judge(id=derived_id("judge", "baseline"), name="baseline", kind=JudgeKind.BASELINE)


def all_of(project: Project) -> list[Judge]:
    """The judges in use, the baseline first; it is there even before it has judged anything."""
    in_use = JUDGE.c.retired.is_(False) & (JUDGE.c.kind != JudgeKind.WRITER.value)
    with project.store.read() as db:
        rows = db.execute(select(JUDGE).where(in_use).order_by(JUDGE.c.name)).mappings().all()
    found = [Judge(**row) for row in rows]
    if not any(judge.kind == JudgeKind.BASELINE for judge in found):
        found.append(BASELINE)
    return sorted(found, key=lambda judge: (judge.kind != JudgeKind.BASELINE, judge.name))


def named(project: Project, name: str) -> Judge:
    """The judge of that name; Refusal lists the names there are."""
    known = all_of(project)
    for judge in known:
        if judge.name == name:
            return judge
    names = ", ".join(f"“{judge.name}”" for judge in known)
    raise Refusal(f"There is no judge “{name}” in this project.", f"Use one of {names}, or add it first.")


def kept(project: Project, judge: Judge) -> Judge:
    """The judge, made sure to be in the file as it is (the baseline enters it with its first run)."""
    with project.store.write() as db:
        row = db.execute(select(JUDGE).where(JUDGE.c.id == judge.id)).mappings().first()
        if row is None:
            refuse_taken(project, judge.name, judge.id)
            db.execute(insert(JUDGE).values(**judge.model_dump()))
        elif Judge(**row) != judge:
            db.execute(update(JUDGE).where(JUDGE.c.id == judge.id).values(**judge.model_dump(exclude={"id"})))
    return judge


def refuse_taken(project: Project, name: str, judge_id: str = "") -> None:
    """Refuse a name that another judge has, be it retired, a writer, or the baseline before it is in the file."""
    with project.store.read() as db:
        rows = db.execute(select(JUDGE.c.id, JUDGE.c.retired).where(JUDGE.c.name == name)).all()
    taken: dict[str, bool] = {row.id: row.retired for row in rows if row.id != judge_id}
    if taken and all(taken.values()):
        raise Refusal(f"A retired judge is called “{name}”.", "Choose another name, or bring that one back.")
    if taken or (name == BASELINE.name and judge_id != BASELINE.id):
        raise Refusal(f"There already is a judge “{name}”.", "Choose another name.")


def add(
    project: Project,
    name: str,
    *,
    base_url: str,
    model: str,
    key_env: str = "",
    parameters: str = "{}",
    asking: str = "{}",
) -> Change:
    """A judge behind an endpoint. No key is asked for here, and none is ever kept in the project.

    `parameters` is a JSON object of what is sent with each request, `asking` one of how the judge is asked.
    """
    judge = checked(
        new_id(),
        name=name,
        base_url=base_url,
        model=model,
        key_env=key_env,
        parameters=parameters,
        asking=asking,
    )
    refuse_taken(project, name)
    with project.store.write() as db:
        db.execute(insert(JUDGE).values(**judge.model_dump()))
        return record(
            project, db, Change("judge", judge.id, "add judge", None, judge.model_dump(mode="json"))
        )


def change(project: Project, judge_id: str, fields: dict[str, str]) -> Change:
    """Give a judge other settings. One that has judged keeps its model and endpoint: add another instead."""
    old = next((judge for judge in all_of(project) if judge.id == judge_id), None)
    if old is None or old.kind != JudgeKind.ENDPOINT:
        raise Refusal("This judge has no settings of an endpoint.", "Add a judge behind an endpoint.")
    if old.asked.of:
        raise Refusal(f"“{old.name}” follows the judge it was made from.", "Change that one.")
    with project.store.write() as db:
        if has_judged(project, judge_id) and any(
            fields.get(name, getattr(old, name)) != getattr(old, name) for name in ("base_url", "model")
        ):
            raise Refusal(
                f"“{old.name}” has already judged with {old.model}.", "Add a new judge for another model."
            )
        judge = checked(judge_id, **old.model_dump(exclude={"id", "kind", "retired"}) | fields)
        refuse_taken(project, judge.name, judge_id)
        db.execute(update(JUDGE).where(JUDGE.c.id == judge_id).values(**judge.model_dump(exclude={"id"})))
        after = judge.model_dump(mode="json")
        return record(
            project, db, Change("judge", judge_id, "change judge", old.model_dump(mode="json"), after)
        )


def restore(project: Project, db: Connection, judge_id: str, present: Any, goal: Any) -> None:
    """Put a judge's settings back; Refusal when they were changed since, or it has judged by them."""
    kept = {"id", "kind", "retired"}
    row = db.execute(select(JUDGE).where(JUDGE.c.id == judge_id)).mappings().one()
    there = Judge(**row).model_dump(mode="json", exclude=kept)
    if any(there[name] != value for name, value in present.items() if name not in kept):
        raise Refusal("This judge was changed elsewhere since.", "Look at it again; nothing was undone.")
    if has_judged(project, judge_id) and any(goal[name] != there[name] for name in ("base_url", "model")):
        raise Refusal("It has judged with these settings.", "Add a new judge for others.")
    refuse_taken(project, goal["name"], judge_id)
    wanted = Judge.model_validate(goal).model_dump(exclude=kept)
    db.execute(update(JUDGE).where(JUDGE.c.id == judge_id).values(**wanted))


def has_judged(project: Project, judge_id: str) -> bool:
    """Whether there is any judgement of a judge."""
    question = select(JUDGEMENT.c.id).where(JUDGEMENT.c.rater_id == judge_id).limit(1)
    with project.store.read() as db:
        return db.execute(question).first() is not None


def retire(project: Project, judge_id: str) -> Change:
    """Take a judge out of the lists; its judgements stay."""
    with project.store.write() as db:
        db.execute(update(JUDGE).where(JUDGE.c.id == judge_id).values(retired=True))
        return record(project, db, Change("judge", judge_id, "retire judge", None, {"retired": True}))


def bring_back(project: Project, judge_id: str) -> Change:
    """Put a judge that was retired into the lists again."""
    with project.store.write() as db:
        db.execute(update(JUDGE).where(JUDGE.c.id == judge_id).values(retired=False))
        return record(project, db, Change("judge", judge_id, "bring judge back", None, {"retired": False}))


def checked(judge_id: str, **values: Any) -> Judge:
    """The endpoint of these settings under an id; Refusal names the one that does not fit."""
    from annotator.judging.client import checked_url

    try:
        judge = Judge(id=judge_id, **JudgeFields.model_validate(values).model_dump())
        Asking.model_validate_json(judge.asking)
        if not isinstance(json.loads(judge.parameters), dict):
            raise ValueError
    except ValidationError as error:
        first = error.errors()[0]
        what = first["loc"][0] if first["loc"] else "asking"
        raise Refusal(
            f"The judge's {what} does not fit: {first['msg'].lower()}.", "Correct it; nothing was changed."
        ) from None
    except ValueError:
        raise Refusal(
            "The request parameters are not a JSON object.", 'Write for example {"temperature": 0}.'
        ) from None
    if not judge.base_url.startswith(("http://", "https://")):
        raise Refusal(
            "The endpoint is not an http address.", "It begins with https:// and mostly ends in /v1."
        )
    # Before it is kept: a password in it would stay in the file.
    checked_url(judge.base_url)
    judge_keys.refuse_among_settings(judge)
    if not judge.model.strip():
        raise Refusal("The model's name is missing.", "Write it as the endpoint lists it.")
    return judge


def remember_key(project: Project, name: str, key: str, *, session_only: bool = False) -> str:
    """Keep the key of a judge's address in the system's keyring, or for this session only where that is asked for or
    there is none.

    Says which. Never in the project, which only learns that a person gave the judge one.
    """
    from annotator.judging.keys import KeyPlace, address_of

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
    return "This system has no keyring: the key is kept until Goldsmith is closed, and asked for again then."


def forget_key(project: Project, name: str) -> str:
    """Take the key of a judge's address out of the keyring and of this session; a variable of the environment stays."""
    from annotator.judging.keys import address_of

    judge = named(project, name)
    _keys().forget(address_of(judge.base_url), judge.name)
    return "The key is forgotten."


def key_place(project: Project, judge: Judge) -> str:
    """Where the judge's key is found now, in a sentence; the key itself is never told."""
    from annotator.judging.keys import KeyPlace, address_of

    found = _found_key(project, judge)
    if found is None and not judge_keys.given(project, _asked_for(project, judge)):
        return f"It came from elsewhere: give it a key for {address_of(judge.base_url)} before it is asked."
    if found is None:
        return "No key is at hand; an endpoint on this machine mostly wants none."
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
    from annotator.judging.keys import address_of

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
    from annotator.judging.keys import handing_over

    key = key_of(project, judge) if judge.kind == JudgeKind.ENDPOINT else None
    return handing_over(judge.base_url, key) if key else {}


async def test(project: Project, name: str) -> dict[str, Any]:
    """One call to the judge's endpoint: whether and how it answers, how fast, at what price, in words too.

    The page it is to read is as long as the longest report, so that an endpoint that cuts what is long is found out.
    """
    judge = named(project, name)
    if judge.kind == JudgeKind.BASELINE:
        return {"ok": True, "words": "The baseline judge needs no endpoint; it is always ready."}
    if judge.kind == JudgeKind.DERIVED:
        return {"ok": True, "words": "A vote is counted from what its members said; it asks nobody."}
    from annotator.judging.client import Endpoint
    from annotator.judging.prices import prices
    from annotator.judging.probe import FILLER_CHARACTERS, probe

    length = max(FILLER_CHARACTERS, _longest_report(project))
    found = await probe(Endpoint.of(judge, key_to_ask_with(project, judge)), prices(), judge.id, length)
    endpoint_memory.keep_latency(project, judge, found.latency_s if found.ok else None)
    if not project.store.readonly:
        # Imported here: the journal is for those who ask.
        from annotator.actions.journal import Journal

        Journal(project, "", judge.id, "").record_calls(found.calls)
    return {
        "ok": found.ok,
        "words": found.sentence,
        "status": found.status.value,
        "form": found.form.value if found.form else None,
        "enforced": found.enforced,
        "first_arrived": found.first_arrived,
        "last_arrived": found.last_arrived,
        "model": found.returned_model,
        "latency_s": found.latency_s,
        "tokens_input": found.tokens_input,
        "cost_usd": found.cost_usd,
        "rejected_parameters": list(found.rejected),
        "attempts": sum(call.attempts for call in found.calls),
        "raw": found.calls[-1].raw if found.calls else "",
        "price": judge_prices.words(project, judge.model),
    }


def _longest_report(project: Project) -> int:
    """The characters of the longest report; 0 without any."""
    with project.store.read() as db:
        return int(db.execute(select(func.max(func.length(RESPONSE.c.text)))).scalar() or 0)


@cache
def _keys() -> Any:
    from annotator.judging.keys import Keys

    return Keys()
