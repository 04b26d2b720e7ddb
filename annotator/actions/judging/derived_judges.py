"""Judges derived from others: several units per call, votes; and judges bound to validity cards."""

import ipaddress
import json
import os
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from itertools import islice, product
from typing import Any
from urllib.parse import urlsplit

from sqlalchemy import func, insert, select

from annotator import __version__
from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judges.judges import named
from annotator.actions.labelling import label_cases, label_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.runs import judge_cases
from annotator.actions.runs.journal import RunJournal
from annotator.domain.common import (
    Change,
    Refusal,
    canonical_json,
    derived_id,
    grouped,
    new_id,
    required,
    sha256,
    usd,
)
from annotator.domain.judges.judge import Asking, Judge, JudgeKind, RaterKind, Status, Verdict
from annotator.domain.judges.protocol import Case, Level, Protocol, Scale, Verdicts, equal_weight
from annotator.domain.judges.validation import (
    SEEN,
    Difference,
    Identity,
    Reach,
    ValidityCard,
    Wording,
    differences,
)
from annotator.domain.stored import JudgeFields
from annotator.domain.texts.redaction import held, redact
from annotator.judging.calls.prices import prices
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import CALL, JUDGE, JUDGEMENT, RESPONSE, RUN

_ROOM_FOR_A_NAME = 100


def judge_of(project: Project, order: judge_cases.RunRequest) -> Judge:
    """The judge of an order; raises Refusal if it cannot be asked that way. It need not be stored yet."""
    judge = judges.named(project, order.judge)
    if judge.kind != JudgeKind.ENDPOINT and (order.together > 1 or order.trials > 1):
        raise Refusal(
            f"“{judge.name}” calls no model: it always gives the same verdict, unit by unit.",
            "Choose a judge with an endpoint.",
        )
    units = judge_cases.units_a_call(judge, order.protocol)
    # Orders stored before judges had a usual number of units have 1 for “as the judge is set”.
    if order.together in (0, units) or (order.together == 1 and judge.settings.together):
        return judge
    if judge.settings.of:
        raise Refusal(
            f"“{judge.name}” is asked {units} together.",
            "Use the judge that it derives from.",
        )
    return together(judge, order.together)


def together(judge: Judge, units: int) -> Judge:
    """The same model asked this many units per call: a judge of its own, so that the two can be compared."""
    asking = judge.settings.model_copy(update={"together": units, "of": judge.id})
    return Judge(
        **judge.model_dump(exclude={"id", "name", "asking"}),
        id=derived_id("judge", judge.id, "together", units),
        name=f"{judge.name[:_ROOM_FOR_A_NAME]}, {units} together",
        asking=Asking.model_dump_json(asking, exclude_defaults=True),
    )


JUDGES, TRIALS = "judges", "trials"
# As long as any judge's name may be.
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class MemberVote:
    """One member's, or one trial's, value on a unit; without a value it abstained."""

    who: str
    value: str | None
    quote: str = ""
    quote_start: int | None = None
    quote_end: int | None = None

    def words(self) -> str:
        return f"{self.who} {self.value or 'nothing'}"


def add(project: Project, name: str, members: Sequence[str]) -> Change:
    """Add a judge that is the majority of several (by name), or of the trials of one; the median for ordered values."""
    known = required(
        [judges.named(project, member) for member in dict.fromkeys(members)],
        "A vote needs members.",
        "Name one judge for its trials, or several for a panel.",
    )
    if any(judge.kind == JudgeKind.DERIVED for judge in known):
        raise Refusal("A vote counts judges, not other votes.", "Name the judges themselves.")
    if not 0 < len(name.strip()) <= LONGEST_NAME:
        raise Refusal("A vote needs a name of one line at most.", "Give it another; nothing was added.")
    judges.refuse_taken(project, name)
    over = JUDGES if len(known) > 1 else TRIALS
    parameters = canonical_json({"members": [judge.id for judge in known], "over": over}).decode()
    fields = JudgeFields.model_validate({"name": name, "kind": JudgeKind.DERIVED, "parameters": parameters})
    judge = Judge(id=new_id(), **fields.model_dump())
    with project.store.write() as db:
        for member in known:
            judges.stored(project, member)
        db.execute(insert(JUDGE).values(**judge.model_dump()))
        after = judge.model_dump(mode="json")
        return record(project, db, Change("judge", judge.id, "add judge", None, after))


def members(project: Project, judge: Judge) -> list[str]:
    """The names of the judges whose verdicts a vote counts; a single one is counted over its trials."""
    ids: list[str] = json.loads(judge.parameters)["members"]
    names = {
        row.id: row.name for row in project.query(select(JUDGE.c.id, JUDGE.c.name).where(JUDGE.c.id.in_(ids)))
    }
    return [names.get(member, "a judge that is not here") for member in ids]


def counting(project: Project, judge: Judge, protocol: str) -> Callable[[Case], Verdicts]:
    """A function from a case to the majority verdict on each unit, by the present votes.

    The median if values are ordered.
    """
    scale = PROTOCOLS[protocol].scale
    votes = _votes(project, judge, protocol)
    panel = json.loads(judge.parameters)
    size = len(panel["members"]) if panel["over"] == JUDGES else 0

    def count(case: Case) -> Verdicts:
        cast = {unit.id: votes.get((case.response.id, unit.id), ()) for unit in case.units}
        return {unit_id: _counted(result, max(size, len(result)), scale) for unit_id, result in cast.items()}

    return count


def _counted(votes: Sequence[MemberVote], members: int, scale: Scale) -> Verdict:
    return majority(votes, members) if scale.level is Level.NOMINAL else middle(votes, members, scale)


def middle(votes: Sequence[MemberVote], members: int, scale: Scale) -> Verdict:
    """The median of the votes if more than half of the members voted; otherwise unclear.

    If the middle two of an even number differ, their mean if values are numbers and it is one of them; otherwise
    unclear.
    """
    given = [vote for vote in votes if vote.value in scale.names]
    if lack := _lack(votes, given, members):
        return lack
    words = ", ".join(vote.words() for vote in votes)
    value = scale.agreed([str(vote.value) for vote in given])
    if value is None:
        names = sorted((str(vote.value) for vote in given), key=scale.number)
        low, high = names[(len(names) - 1) // 2], names[len(names) // 2]
        return Verdict(status=Status.UNCLEAR, cause=f"The middle lies between {low} and {high}: {words}.")
    return _by_votes(value, given, f"median of {len(given):,}: {words}")


def majority(votes: Sequence[MemberVote], members: int) -> Verdict:
    """The value of more than half of the votes if more than half of the members voted; otherwise unclear."""
    given = [vote for vote in votes if vote.value is not None]
    if lack := _lack(votes, given, members):
        return lack
    words = ", ".join(vote.words() for vote in votes)
    (value, most), *others = Counter(vote.value for vote in given).most_common()
    if 2 * most <= len(given):
        tied = bool(others) and others[0][1] == most
        return Verdict(status=Status.UNCLEAR, cause=f"{'A tie' if tied else 'No majority'}: {words}.")
    return _by_votes(str(value), given, f"{most:,} of {len(given):,}: {words}")


def _lack(votes: Sequence[MemberVote], given: Sequence[MemberVote], members: int) -> Verdict | None:
    """The verdict that too few have voted; None if enough have."""
    if not given:
        return Verdict(status=Status.SKIPPED, cause="No member has given a verdict.")
    if 2 * len(given) > members:
        return None
    words = ", ".join(vote.words() for vote in votes)
    return Verdict(
        status=Status.UNCLEAR, cause=f"Only {len(given):,} of {members:,} members gave a verdict: {words}."
    )


def _by_votes(value: str, given: Sequence[MemberVote], rationale: str) -> Verdict:
    """The verdict with the quotation of the first vote for it, if any."""
    first = next((vote for vote in given if vote.value == value), MemberVote("", value))
    return Verdict(
        value=value,
        rationale=rationale,
        quote=first.quote,
        quote_start=first.quote_start,
        quote_end=first.quote_end,
    )


def _votes(project: Project, judge: Judge, protocol: str) -> Mapping[tuple[str, str], list[MemberVote]]:
    """(response, unit) → the votes, in the order of the members or of the trials."""
    panel = json.loads(judge.parameters)
    members: list[str] = panel["members"]
    over_trials = panel["over"] == TRIALS
    question = select(JUDGEMENT).where(JUDGEMENT.c.rater_id.in_(members), JUDGEMENT.c.protocol == protocol)
    result: dict[tuple[str, str], list[MemberVote]] = defaultdict(list)
    with project.store.read() as db:
        names: dict[str, str] = dict(
            db.execute(select(JUDGE.c.id, JUDGE.c.name).where(JUDGE.c.id.in_(members))).all()
        )
        gone = label_rows.outdated(db, *(JUDGEMENT.c.rater_id.in_(members), JUDGEMENT.c.protocol == protocol))
        cast = grouped(
            ((row.response_id, row.unit_id, row.trial if over_trials else members.index(row.rater_id)), row)
            for row in db.execute(question.order_by(JUDGEMENT.c.trial))
            if row.id not in gone
        )
    for (response_id, unit_id, place), rows in sorted(cast.items()):
        who = f"trial {place}" if over_trials else names[rows[0].rater_id]
        value, row = label_rows.come_to(PROTOCOLS[protocol].scale, rows)
        result[response_id, unit_id].append(MemberVote(who, value, row.quote, row.quote_start, row.quote_end))
    return result


FORMS = {
    "json_schema": "JSON with a schema",
    "json_object": "JSON without a schema",
    "text": "plain text only",
}


@dataclass(frozen=True, slots=True)
class ProbeRequest:
    """A request for a test call to a judge's endpoint, by name."""

    judge: str


async def test(project: Project, name: str) -> dict[str, Any]:
    """Make one call to the judge's endpoint: whether and how it answers, how fast and at what price, also in words.

    The page to read is as long as the longest report, so that an endpoint that truncates long prompts is detected.
    """
    judge = named(project, name)
    if judge.kind == JudgeKind.BASELINE:
        return {"ok": True, "words": "The baseline judge needs no endpoint; it is always ready."}
    if judge.kind == JudgeKind.DERIVED:
        return {"ok": True, "words": "A vote is counted from its members' verdicts; it makes no calls."}
    from annotator.judging.calls.probe import FILLER_CHARACTERS, probe

    length = max(
        FILLER_CHARACTERS, int(project.query(select(func.max(func.length(RESPONSE.c.text)))).scalar() or 0)
    )
    result = await probe(kept_keys.endpoint_to_ask(project, judge), prices(judge), judge.id, length)
    kept_keys.keep_latency(project, judge, result.latency_s if result.ok else None)
    kept_keys.keep_test(project, judge, "" if result.ok else result.sentence)
    if not project.store.readonly:
        RunJournal(project, "", judge.id, "").keep_calls(result.calls)
    return {
        "ok": result.ok,
        "words": result.sentence,
        "status": result.status.value,
        "form": result.form.value if result.form else None,
        "enforced": result.enforced,
        "first_arrived": result.first_arrived,
        "last_arrived": result.last_arrived,
        "model": result.returned_model,
        "latency_s": result.latency_s,
        "tokens_input": result.tokens_input,
        "cost_usd": result.cost_usd,
        "rejected_parameters": list(result.rejected),
        "attempts": sum(call.attempts for call in result.calls),
        "raw": result.calls[-1].raw if result.calls else "",
        "price": price_words(project, judge),
    }


def facts(details: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The result as (name, words) pairs; unknown values are left out, never 0."""
    seconds, cost, tokens = (details.get(name) for name in ("latency_s", "cost_usd", "tokens_input"))
    form = FORMS.get(str(details.get("form")), "")
    descriptions = {
        "Replies in": f"{form}{'' if details.get('enforced') else ', which it did not keep to at once'}"
        if form
        else "",
        "Long prompts": _ends([details.get("first_arrived"), details.get("last_arrived")]) if form else "",
        "Answered as": str(details.get("model") or ""),
        "Took": f"{seconds:.1f} s" if seconds is not None else "",
        "Prompt": f"{tokens:,} tokens" if tokens is not None else "",
        "This call": usd(cost) if cost is not None else "",
        "Price": str(details.get("price") or ""),
        "Turned down": ", ".join(details.get("rejected_parameters") or ()),
        "Attempts": str(details["attempts"]) if details.get("attempts", 1) > 1 else "",
    }
    return [(name, words) for name, words in descriptions.items() if words]


def _ends(arrived: list[Any]) -> str:
    if all(arrived):
        return "both ends arrive"
    lost = [end for end, reached in zip(("beginning", "end"), arrived, strict=True) if not reached]
    return f"the {' and the '.join(lost)} of a long prompt is cut off silently"


def price_words(_project: Project, judge: Judge) -> str:
    """A judge's price with its date; if unknown, where to enter it."""
    known = prices(judge).of(judge.model)
    if known is None:
        return "not known; enter it, or its runs have no budget and their cost is unknown"
    where = f"as of {known.as_of} ({known.table})" if known.as_of else "as entered for this judge"
    return f"{known.price.words()}, {where}"


FORM, TEXT = "response_format", "text"
# The number of combinations of versions of several prompts tried to find one by its hash.
MOST_TRIED = 4096
HIDDEN, ADDRESS = "[key removed]", "[address removed]"
_ADDRESS = re.compile(r"\b[a-z][a-z0-9+.-]*://\S+", re.IGNORECASE)
# A whole path, with spaces too; and a path within a text.
_PATH = re.compile(r"(?:[A-Za-z]:|~)?[\\/](?:[^\n]*[\\/])?([^\n\\/]+)[\\/]?")
_PATH_WITHIN = re.compile(r"(?<![\w:/.\\-])(?:[A-Za-z]:|~)?(?:[\\/][^\s\\/\"']+)+[\\/]([^\s\\/\"']+)")
_SECRET = re.compile(r"key|secret|password|passwd|authorization|token|cookie|credential", re.IGNORECASE)


def as_judged(project: Project, judge: Judge, protocol: Protocol, prompt: str | None = None) -> Identity:
    """The identity of the judge when it gave its verdicts under a prompt (by hash); None takes the only one.

    Raises Refusal if it judged with several settings, or with several prompts and none is named.
    """
    runs = _runs(project, judge, protocol.name, prompt)
    wordings = sorted({row.prompt_sha256 or "" for row in runs})
    if prompt is None and len(wordings) > 1:
        raise Refusal(
            f"“{judge.name}” judged by {len(wordings):,} wordings of its prompt.",
            "Have it judge by one of them.",
        )
    whose = prompt if prompt is not None else next(iter(wordings), "")
    forms, models = _seen(project, JUDGEMENT.c.run_id.in_([row.id for row in runs]), judge, protocol.name)
    result = [
        _identity(project, setting, protocol, whose, forms, models, now=False)
        for setting in _settings(judge, runs)
    ]
    for other in result[1:]:
        if differing := differences(result[0], other):
            raise Refusal(
                f"“{judge.name}” gave its verdicts with different settings: {differing[0].part}.",
                "Add a judge with one of them and have it judge all of this.",
                tuple(
                    f"{difference.part}: {difference.on_card}; later {difference.now}"
                    for difference in differing
                ),
            )
    return result[0]


def as_now(project: Project, judge: Judge, protocol: Protocol) -> Identity:
    """The identity of the judge if it were asked now, including what its last run's calls revealed."""
    last = _runs(project, judge, protocol.name, None)[-1:]
    forms, models = _seen(project, CALL.c.run_id.in_([row.id for row in last]), judge, protocol.name)
    learned = kept_keys.form_of(project, judge) if judge.kind == JudgeKind.ENDPOINT else ""
    asked_by = _together(
        version.sha256 for version in [prompts.in_force(project, name) for name in protocol.prompts]
    )
    return _identity(project, judge, protocol, asked_by, (learned,) if learned else forms, models, now=True)


def reach(judge: Judge) -> Reach:
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
    """A path reduced to its last name, also within a text; anything else unchanged."""
    result = _PATH.fullmatch(text)
    return result[1] if result else _PATH_WITHIN.sub(r"\1", text)


def _identity(
    project: Project, judge: Judge, protocol: Protocol, prompt: str, forms: tuple[str, ...], models: tuple[str, ...],
    *, now: bool,
) -> Identity:  # fmt: skip
    asking, vote, asks = judge.settings, judge.kind == JudgeKind.DERIVED, judge.kind == JudgeKind.ENDPOINT
    settings = json.loads(judge.parameters or "{}")
    return Identity(
        kind=JudgeKind(judge.kind), model=nameless(harmless(judge.model, judge)),
        parameters={} if vote else _without_secrets(settings, judge), protocol=protocol.name, values=protocol.values,
        weighting="alike" if protocol.weight is equal_weight else "by weight", prompt_sha256=prompt if asks else "",
        prompts=_wordings(project, protocol, prompt) if asks else (),
        together=judge_cases.units_a_call(judge, protocol.name),
        weights_shown=asking.weights_shown, forms=forms,
        returned_models=tuple(sorted({nameless(harmless(model, judge)) for model in models})),
        program=__version__ if judge.kind == JudgeKind.BASELINE else "", over=settings["over"] if vote else "",
        members=_members(project, settings, protocol, now=now) if vote else (),
    )  # fmt: skip


def _members(
    project: Project, settings: dict[str, Any], protocol: Protocol, *, now: bool
) -> tuple[Identity, ...]:
    """The members of a vote: as they are now, or as they were when they gave the verdicts it counts."""
    ids: list[str] = settings["members"]
    rows = project.query(select(JUDGE).where(JUDGE.c.id.in_(ids))).mappings().all()
    known = {row["id"]: Judge(**row) for row in rows}
    members_here = [known[one] for one in ids if one in known]
    result = [
        as_now(project, judge, protocol) if now else as_judged(project, judge, protocol)
        for judge in members_here
    ]
    return tuple(
        sorted(result, key=lambda identity: (identity.kind.value, identity.model, identity.model_dump_json()))
    )


def _runs(project: Project, judge: Judge, protocol: str, prompt: str | None) -> Sequence[Any]:
    j = JUDGEMENT.c
    mine = select(j.run_id).where(
        j.protocol == protocol, j.rater_kind == RaterKind.JUDGE.value, j.rater_id == judge.id
    )
    question = select(RUN.c.id, RUN.c.snapshot, RUN.c.prompt_sha256).where(RUN.c.id.in_(mine))
    if prompt is not None:
        question = question.where(RUN.c.prompt_sha256 == prompt)
    return project.query(question.order_by(RUN.c.started_at, RUN.c.id)).all()


def _settings(judge: Judge, runs: Iterable[Any]) -> list[Judge]:
    """The distinct settings in its runs; imported runs have none, and count as the judge is here."""
    result = dict.fromkeys(row.snapshot for row in runs if row.snapshot not in ("", "{}"))
    return [Judge.model_validate_json(text) for text in result] or [judge]


def _seen(
    project: Project, which: Any, judge: Judge, protocol: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    j = JUDGEMENT.c
    question = (
        select(CALL.c.parameters, CALL.c.returned_model)
        .join(JUDGEMENT, j.call_id == CALL.c.id)
        .where(which, j.rater_id == judge.id, j.protocol == protocol, j.status == Status.OK.value)
        .distinct()
    )
    rows = project.query(question).all()
    forms = {str(json.loads(row.parameters or "{}").get(FORM, TEXT)) for row in rows}
    return tuple(sorted(forms)), tuple(sorted({row.returned_model for row in rows} - {""}))


def _together(hashes: Iterable[str]) -> str:
    """The hash that identifies a run's prompts: that of a single one, or the hash of several hashes."""
    listed = list(hashes)
    return listed[0] if len(listed) == 1 else sha256("\n".join(listed)) if listed else ""


def _wordings(project: Project, protocol: Protocol, prompt: str) -> tuple[Wording, ...]:
    """The wordings with that hash, the ones in force tried first; empty if they are not among the versions here."""
    known = [prompts.versions(project, name)[::-1] for name in protocol.prompts]
    for chosen in islice(product(*known), MOST_TRIED):
        if chosen and _together(version.sha256 for version in chosen) == prompt:
            return tuple(
                Wording(name=version.name, sha256=version.sha256, version=version.version)
                for version in chosen
            )
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


# The setting with the cards judges are bound to: judge id and protocol → the pinned part of a card.
SETTING = "cards"


@dataclass(frozen=True, slots=True)
class CardComparison:
    """A card compared with a judge of the project; `judge` is empty if none matches.

    `remarks` are differences that do not make it another judge, and what cannot be known yet.
    """

    card: ValidityCard
    judge: str
    differences: tuple[Difference, ...]
    remarks: tuple[str, ...]

    @property
    def holds(self) -> bool:
        return bool(self.judge) and not self.differences

    def words(self) -> list[str]:
        sentences = [_verdict(self), *(difference.words() for difference in self.differences), *self.remarks]
        return sentences if self.judge else [*sentences, to_define(self.card)]


@dataclass(frozen=True, slots=True)
class BoundCard:
    judge_id: str
    protocol: str
    name: str
    made_at: datetime
    sha256: str
    pinned: Identity


def check(project: Project, card: ValidityCard, name: str = "") -> CardComparison:
    """Compare the card with the judge of that name or, without one, with the most similar judge of this project."""
    if card.judge.protocol not in PROTOCOLS:
        raise Refusal(
            f"The card is about “{card.judge.protocol}”, a protocol that this Goldsmith does not know.",
            "Use the version that the card names.",
        )
    protocol = label_cases.protocol_of(project, card.judge.protocol)
    judges_here = [_derived(card, judges.named(project, name))] if name else _candidates(project, card)
    result = [
        (differences(card.judge, now), place, judge, now)
        for place, judge in enumerate(judges_here)
        for now in [as_now(project, judge, protocol)]
    ]
    if not result:
        return CardComparison(card, "", (), ())
    differing, _, judge, now = min(result, key=lambda one: (len(one[0]), one[1]))
    return CardComparison(card, judge.name, differing, tuple(_remarks(card, judge, now)))


def refuse_order(project: Project, card: ValidityCard, order: judge_cases.RunRequest) -> None:
    """Refuse an order unless its judge, as it would be asked now, is the one of the card. Makes no call."""
    judge = judge_of(project, order)
    protocol = judge_cases.protocol_of(order.protocol)
    _refuse(judge.name, card.name, differences(card.judge, as_now(project, judge, protocol)))


def refuse_verdicts(project: Project, card: ValidityCard, name: str, protocol: str) -> None:
    """Refuse unless a judge's verdicts in this project were given by the judge of the card."""
    judge, definition = judges.named(project, name), judge_cases.protocol_of(protocol)
    _refuse(judge.name, card.name, differences(card.judge, as_judged(project, judge, definition)))


@people.for_coordinators("can bind a judge to a card")
def bind(project: Project, card: ValidityCard, name: str) -> Change:
    """Bind a judge to its card: a run with another model, prompt … is refused before any call.

    Raises Refusal if it is not the judge of the card now.
    """
    result = check(project, card, name)
    _refuse(result.judge, card.name, result.differences)
    judge = _derived(card, judges.named(project, name))
    binding = {
        "name": card.name, "made_at": card.made_at.isoformat(), "sha256": card.sha256,
        "pinned": card.judge.model_dump(mode="json"),
    }  # fmt: skip
    with project.store.write() as db:
        project.set(SETTING, dict(project.get(SETTING, {})) | {_key(judge.id, card.judge.protocol): binding})
        after = {"card": card.sha256, "protocol": card.judge.protocol}
        return record(project, db, Change("judge", judge.id, "bind to card", None, after))


def define(project: Project, card: ValidityCard, base_url: str, name: str = "", key_env: str = "") -> Change:
    """Add the judge that a card is about, at an address that the card does not contain; by default under its name."""
    identity = card.judge
    if identity.kind != JudgeKind.ENDPOINT:
        raise Refusal(
            f"The card is about a {identity.kind.value}, not a model.", "Add it on the Judges page."
        )
    if HIDDEN in str(identity.parameters) or ADDRESS in str(identity.parameters):
        raise Refusal(
            "A key or address was left out of the card's parameters.",
            "Add the judge by hand on the Judges page.",
        )
    asking = Asking(weights_shown=identity.weights_shown).model_dump_json(exclude_defaults=True)
    return judges.add(
        project, name or card.name, base_url=base_url, model=identity.model, key_env=key_env,
        parameters=canonical_json(identity.parameters).decode(), asking=asking,
    )  # fmt: skip


@people.for_coordinators("can release a judge from its card")
def release(project: Project, judge_id: str, protocol: str) -> Change:
    """Let a judge run with its settings, whatever a card says; raises Refusal if it is bound to none."""
    known = dict(project.get(SETTING, {}))
    if known.pop(_key(judge_id, protocol), None) is None:
        raise Refusal("This judge is not bound to a card.", "Nothing was changed.")
    with project.store.write() as db:
        project.set(SETTING, known)
        after = {"card": "", "protocol": protocol}
        return record(project, db, Change("judge", judge_id, "release from card", None, after))


def bound(project: Project) -> list[BoundCard]:
    cards = [
        BoundCard(
            judge_id, protocol, binding["name"], datetime.fromisoformat(binding["made_at"]), binding["sha256"],
            Identity.model_validate(binding["pinned"]),
        )
        for key, binding in project.get(SETTING, {}).items()
        for judge_id, _, protocol in [key.partition("/")]
    ]  # fmt: skip
    return sorted(cards, key=lambda card: (card.name, card.protocol))


def refuse_unbound(project: Project, judge: Judge, protocol: str) -> None:
    """Refuse a judge that is bound to a card under a protocol and differs from it."""
    for card in bound(project):
        if (card.judge_id, card.protocol) == (judge.id, protocol):
            now = as_now(project, judge, judge_cases.protocol_of(protocol))
            _refuse(judge.name, card.name, differences(card.pinned, now))


def refused_models(project: Project, judge: Judge, order: judge_cases.RunRequest) -> Callable[[str], str]:
    """A function that says why a model may not answer for a judge, by its card or the order; empty if it may."""
    pinned = [
        card.pinned for card in bound(project) if (card.judge_id, card.protocol) == (judge.id, order.protocol)
    ]
    named = {*order.models, *(model for identity in pinned for model in identity.returned_models)}

    @cache
    def why(returned: str) -> str:
        shown = nameless(harmless(returned, judge))
        if not named or not returned or shown in named:
            return ""
        return f"The endpoint answered as “{shown}”; the card of “{judge.name}” is about {_listed(named)}."

    return why


def _listed(names: Iterable[str]) -> str:
    return " or ".join(f"“{name}”" for name in sorted(names))


def to_define(card: ValidityCard) -> str:
    identity = card.judge
    if identity.kind != JudgeKind.ENDPOINT:
        kind = "vote" if identity.kind == JudgeKind.DERIVED else identity.kind.value
        return f"The card is about a {kind} that is not here."
    parameters = (
        ", ".join(f"{name} {value}" for name, value in identity.parameters.items()) or "no parameters"
    )
    return f"Define a judge that asks for “{identity.model}” with {parameters}; the card does not say at which address."


def _key(judge_id: str, protocol: str) -> str:
    return f"{judge_id}/{protocol}"


def _candidates(project: Project, card: ValidityCard) -> list[Judge]:
    """The judges that the card could be about: of its kind, the one with its name first."""
    alike = [judge for judge in judges.all_of(project) if judge.kind == card.judge.kind]
    if card.judge.kind == JudgeKind.ENDPOINT:
        alike = [
            judge
            for judge in alike
            if judge.name == card.name or nameless(harmless(judge.model, judge)) == card.judge.model
        ]
    result = {judge.id: judge for judge in (*alike, *(_derived(card, judge) for judge in alike))}
    return sorted(result.values(), key=lambda judge: (judge.name != card.name, judge.name))


def _derived(card: ValidityCard, judge: Judge) -> Judge:
    """The judge, or the one derived from it if the card is about several units per call."""
    at_once = card.judge.together
    as_now = judge_cases.units_a_call(judge, card.judge.protocol)
    if (
        judge.kind != JudgeKind.ENDPOINT
        or at_once == as_now
        or judge.settings.together > 1
        or judge.settings.of
    ):
        return judge
    return together(judge, at_once)


def _remarks(card: ValidityCard, judge: Judge, now: Identity) -> list[str]:
    remarks = []
    for part in SEEN:
        if getattr(card.judge, part) and not getattr(now, part):
            what = "which model answers" if part == "returned_models" else "in which form it answers"
            remarks.append(f"It is not known yet {what}: “{judge.name}” was not asked here.")
    now_on = reach(judge)
    if now_on != card.reach:
        remarks.append(
            f"Its endpoint is on {now_on.value}, that of the card on {card.reach.value}: whether both serve "
            "the same model cannot be checked."
        )
    if card.app_version != __version__:
        remarks.append(f"The card was made with Goldsmith {card.app_version}; this is {__version__}.")
    if card.unfit:
        remarks.append(
            "By its own count the figures of this card are not publishable: too many verdicts are missing."
        )
    return sorted(remarks)


def _refuse(judge: str, card: str, differences: tuple[Difference, ...]) -> None:
    if not differences:
        return
    parts = ", ".join(difference.part for difference in differences)
    raise Refusal(
        f"“{judge}” is not the judge of the card “{card}”: {parts}.",
        differences[0].todo if len(differences) == 1 else "No call was made.",
        tuple(difference.words() for difference in differences),
    )


def _verdict(comparison: CardComparison) -> str:
    if not comparison.judge:
        return f"No judge of this project matches the card “{comparison.card.name}”."
    if comparison.differences:
        return f"“{comparison.judge}” differs from the card “{comparison.card.name}”."
    return f"The card “{comparison.card.name}” matches “{comparison.judge}”."
