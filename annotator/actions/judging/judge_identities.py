"""Identity of a judge: as it judged, according to its runs and calls, and as it is now."""

import ipaddress
import json
import os
import re
from collections.abc import Iterable, Sequence
from itertools import islice, product
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import select

from annotator import __version__
from annotator.actions.judges import endpoint_memory, prompts
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import units_a_call
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.validity_card import Identity, Reach, Wording, differences
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.redaction import held, redact
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import CALL, JUDGE, JUDGEMENT, RUN

FORM, TEXT = "response_format", "text"
# So many ways of putting versions of several prompts together are tried to find one by its hash.
MOST_TRIED = 4096
HIDDEN, ADDRESS = "[key removed]", "[address removed]"
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
# A whole path, with spaces too; and one that stands within a text.
_PATH = re.compile(r"(?:[A-Za-z]:|~)?[\\/](?:[^\n]*[\\/])?([^\n\\/]+)[\\/]?")
_PATH_WITHIN = re.compile(r"(?<![\w:/.\\-])(?:[A-Za-z]:|~)?(?:[\\/][^\s\\/\"']+)+[\\/]([^\s\\/\"']+)")
_SECRET = re.compile(r"key|secret|password|passwd|authorization|token|cookie|credential", re.IGNORECASE)


# How units are weighed where a protocol says nothing of it.
_ALIKE = Protocol.__dataclass_fields__["weight"].default


def as_judged(project: Project, judge: Judge, shape: Protocol, prompt: str | None = None) -> Identity:
    """The judge as it was when it gave its verdicts under a wording (by hash); None takes the only one there is.

    Refusal where it judged by several settings, or by several wordings and none is named.
    """
    runs = _runs(project, judge, shape.name, prompt)
    wordings = sorted({row.prompt_sha256 or "" for row in runs})
    if prompt is None and len(wordings) > 1:
        raise Refusal(
            f"“{judge.name}” judged by {len(wordings):,} wordings of its prompt.",
            "Have it judge by one of them.",
        )
    whose = prompt if prompt is not None else next(iter(wordings), "")
    forms, models = _seen(project, JUDGEMENT.c.run_id.in_([row.id for row in runs]), judge, shape.name)
    found = [
        _identity(project, one, shape, whose, forms, models, now=False) for one in _settings(judge, runs)
    ]
    for other in found[1:]:
        if differing := differences(found[0], other):
            raise Refusal(
                f"“{judge.name}” gave its verdicts with different settings: {differing[0].part}.",
                "Add a judge with one of them and have it judge all of this.",
                tuple(f"{one.part}: {one.on_card}; later {one.now}" for one in differing),
            )
    return found[0]


def as_now(project: Project, judge: Judge, shape: Protocol) -> Identity:
    """The judge as it would judge if it were asked now; what its last run showed of its calls belongs to it."""
    last = _runs(project, judge, shape.name, None)[-1:]
    forms, models = _seen(project, CALL.c.run_id.in_([row.id for row in last]), judge, shape.name)
    learned = endpoint_memory.form_of(project, judge) if judge.kind == JudgeKind.ENDPOINT else ""
    asked_by = _together(one.sha256 for one in [prompts.in_force(project, name) for name in shape.prompts])
    return _identity(project, judge, shape, asked_by, (learned,) if learned else forms, models, now=True)


def reach(judge: Judge) -> Reach:
    """Where its endpoint lies, without its address."""
    if judge.kind != JudgeKind.ENDPOINT:
        return Reach.NONE
    host = urlsplit(judge.base_url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        if host == "localhost" or host.endswith(".localhost"):
            return Reach.HERE
        near = "." not in host or host.endswith((".local", ".lan", ".internal", ".intern", ".home.arpa"))
        return Reach.NEAR if near else Reach.FAR
    return Reach.HERE if address.is_loopback else Reach.NEAR if address.is_private else Reach.FAR


def harmless(text: str, judge: Judge | None = None) -> str:
    keys = [*held(), os.environ.get(judge.key_env, "")] if judge and judge.key_env else [*held()]
    text = _ADDRESS.sub(ADDRESS, redact(text, [key for key in keys if key]))
    host = (urlsplit(judge.base_url).hostname or "") if judge else ""
    return re.sub(rf"(?<![\w.-]){re.escape(host)}(?![\w-])", ADDRESS, text) if host else text


def nameless(text: str) -> str:
    """A path by its last name only, also within a text; anything else as it is."""
    found = _PATH.fullmatch(text)
    return found[1] if found else _PATH_WITHIN.sub(r"\1", text)


def _identity(
    project: Project, judge: Judge, shape: Protocol, prompt: str, forms: tuple[str, ...], models: tuple[str, ...],
    *, now: bool,
) -> Identity:  # fmt: skip
    asked, vote, asks = judge.asked, judge.kind == JudgeKind.DERIVED, judge.kind == JudgeKind.ENDPOINT
    settings = json.loads(judge.parameters or "{}")
    return Identity(
        kind=JudgeKind(judge.kind), model=nameless(harmless(judge.model, judge)),
        parameters={} if vote else _without_secrets(settings, judge), protocol=shape.name, values=shape.values,
        weighting="alike" if shape.weight is _ALIKE else "by weight", prompt_sha256=prompt if asks else "",
        prompts=_wordings(project, shape, prompt) if asks else (), together=units_a_call(judge, shape.name),
        weights_shown=asked.weights_shown, forms=forms,
        returned_models=tuple(sorted({nameless(harmless(one, judge)) for one in models})),
        program=__version__ if judge.kind == JudgeKind.BASELINE else "", over=settings["over"] if vote else "",
        members=_members(project, settings, shape, now=now) if vote else (),
    )  # fmt: skip


def _members(
    project: Project, settings: dict[str, Any], shape: Protocol, *, now: bool
) -> tuple[Identity, ...]:
    """Those that a vote counts; what it counts are the verdicts that they gave, so that these tell what they are."""
    ids: list[str] = settings["members"]
    with project.store.read() as db:
        rows = db.execute(select(JUDGE).where(JUDGE.c.id.in_(ids))).mappings().all()
    known = {row["id"]: Judge(**row) for row in rows}
    there = [known[one] for one in ids if one in known]
    found = [as_now(project, one, shape) if now else as_judged(project, one, shape) for one in there]
    return tuple(sorted(found, key=lambda one: (one.kind.value, one.model, one.model_dump_json())))


def _runs(project: Project, judge: Judge, protocol: str, prompt: str | None) -> Sequence[Any]:
    """The runs behind a judge's verdicts, the first one first."""
    j = JUDGEMENT.c
    mine = select(j.run_id).where(
        j.protocol == protocol, j.rater_kind == RaterKind.JUDGE.value, j.rater_id == judge.id
    )
    question = select(RUN.c.id, RUN.c.snapshot, RUN.c.prompt_sha256).where(RUN.c.id.in_(mine))
    if prompt is not None:
        question = question.where(RUN.c.prompt_sha256 == prompt)
    with project.store.read() as db:
        return db.execute(question.order_by(RUN.c.started_at, RUN.c.id)).all()


def _settings(judge: Judge, runs: Iterable[Any]) -> list[Judge]:
    """The settings it had in its runs, each once; what came from elsewhere has none, and counts as it is here."""
    found = dict.fromkeys(row.snapshot for row in runs if row.snapshot not in ("", "{}"))
    return [Judge.model_validate_json(text) for text in found] or [judge]


def _seen(
    project: Project, which: Any, judge: Judge, protocol: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The forms of the answers behind a judge's verdicts, and the models that gave them."""
    j = JUDGEMENT.c
    question = (
        select(CALL.c.parameters, CALL.c.returned_model)
        .join(JUDGEMENT, j.call_id == CALL.c.id)
        .where(which, j.rater_id == judge.id, j.protocol == protocol, j.status == Status.OK.value)
        .distinct()
    )
    with project.store.read() as db:
        rows = db.execute(question).all()
    forms = {str(json.loads(row.parameters or "{}").get(FORM, TEXT)) for row in rows}
    return tuple(sorted(forms)), tuple(sorted({row.returned_model for row in rows} - {""}))


def _together(hashes: Iterable[str]) -> str:
    """The hash by which a run knows its prompts: of one its own, of several that of their hashes."""
    listed = list(hashes)
    return listed[0] if len(listed) == 1 else sha256("\n".join(listed)) if listed else ""


def _wordings(project: Project, shape: Protocol, prompt: str) -> tuple[Wording, ...]:
    """The wordings of that hash, the ones in force tried first; none where they are not among the versions here."""
    known = [prompts.versions(project, name)[::-1] for name in shape.prompts]
    for chosen in islice(product(*known), MOST_TRIED):
        if chosen and _together(one.sha256 for one in chosen) == prompt:
            return tuple(Wording(name=one.name, sha256=one.sha256, version=one.version) for one in chosen)
    return ()


def _without_secrets(value: Any, judge: Judge, name: str = "") -> Any:
    """Request parameters without keys, addresses and paths."""
    if isinstance(value, dict):
        return {key: _without_secrets(one, judge, key) for key, one in value.items()}
    if isinstance(value, list):
        return [_without_secrets(one, judge, name) for one in value]
    if not isinstance(value, str):
        return value
    return HIDDEN if _SECRET.search(name) else nameless(harmless(value, judge))
