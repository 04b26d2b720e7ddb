"""Reviews of a judge's verdicts by experts: the queue, their answers, and acceptance rates."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache, cached_property
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, delete, insert, select

from annotator.actions.adjudication import ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus
from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_cases, label_rows, label_sealing
from annotator.actions.project import file, people
from annotator.actions.project.file import Project, cached, record
from annotator.actions.results import result_sheets
from annotator.actions.results.result_sheets import columns
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import validation_figures
from annotator.actions.sets.validation_figures import ALL, Key, UnitPlace, figure_cell
from annotator.domain.common import (
    Change,
    Refusal,
    counted,
    derived_id,
    grouped,
    nested,
    now,
    refuse_other,
    sha256,
    well_formed,
)
from annotator.domain.experts.adjudication import AdjudicationState, Reason
from annotator.domain.experts.assignment import Role, Stage, stage_of
from annotator.domain.judges.judge import Fault, Informed, JudgeKind, RaterKind, Review, Status
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.kinds.artifact import Artifact, Kind, State, Unit
from annotator.domain.stored import InformedFields, InformedKind
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ADJUDICATION, ASSIGNMENT, INFORMED, ITEM, JUDGEMENT, RESPONSE, SYSTEM


def say(project: Project, fields: InformedFields, verb: str) -> Change:
    """Store a review or a ruling, replacing the one on the same verdict; each expert has their own review."""
    by = fields.by if fields.kind is InformedKind.REVIEW else ""
    about = fields.protocol, fields.response_id, fields.unit_id, fields.judge_id, fields.label_of, by
    new = Informed(id=derived_id(fields.kind.value, *about), **fields.model_dump())
    # Units and verdicts do not change, and take long to read if there are many.
    with (
        file.unmoved(project, validation_figures.places, validation_figures.of_judges),
        project.store.write() as db,
    ):
        before = _image(_stored(db, new.id))
        _put(db, new)
        return record(project, db, Change("informed", new.id, verb, before, _image(new)))


def informed_labels(
    project: Project, kind: InformedKind, protocol: str, *narrowed: ColumnElement[bool]
) -> list[Informed]:
    """All reviews or rulings under a protocol, by time."""
    i = INFORMED.c
    question = select(INFORMED).where(i.kind == kind.value, i.protocol == protocol, *narrowed)
    rows: Iterable[Any] = project.query(question.order_by(i.at, i.id)).mappings().all()
    return [Informed(**row) for row in rows]


def standing(
    project: Project, kind: InformedKind, protocol: str, *narrowed: ColumnElement[bool]
) -> list[Informed]:
    """The same without those on an earlier wording of their unit."""
    result = informed_labels(project, kind, protocol, *narrowed)
    reviewed = {(one.item_id, one.unit_id, one.at) for one in result}
    with project.store.read() as db:
        gone = label_rows.overtaken(db, PROTOCOLS[protocol].unit_kind, reviewed)
    return [one for one in result if (one.item_id, one.unit_id, one.at) not in gone]


def _stored(db: Connection, informed_id: str) -> Informed | None:
    row = db.execute(select(INFORMED).where(INFORMED.c.id == informed_id)).mappings().first()
    return Informed(**row) if row else None


def _put(db: Connection, one: Informed) -> None:
    db.execute(delete(INFORMED).where(INFORMED.c.id == one.id))
    db.execute(insert(INFORMED).values(**one.model_dump()))


def _image(one: Informed | None) -> dict[str, Any]:
    return Informed.model_validate(one.model_dump()).model_dump(mode="json") if one else {}


def restore(_project: Project, db: Connection, informed_id: str, present: Any, goal: Any) -> None:
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    if _image(_stored(db, informed_id)) != present:
        raise Refusal("This was ruled on again since.", "Look at it again; nothing was undone.")
    db.execute(delete(INFORMED).where(INFORMED.c.id == informed_id))
    if goal:
        _put(db, Informed.model_validate(goal))


class ReviewOrder(StrEnum):
    UNCERTAINTY = "uncertainty"
    WEIGHT = "weight"
    RANDOM = "random"
    ERRORS = "errors"
    """Verdicts that need the kind of an error, in responses sampled for errors, report by report."""


def due(project: Project, protocol: str, order: ReviewOrder) -> Callable[[Key, str], bool]:
    """Whether a verdict on a unit is to be reviewed: every one, or errors in the sampled responses."""
    if order is not ReviewOrder.ERRORS:
        return lambda _key, _value: True
    sample = label_sealing.sample(project)
    sampled = set(sample.responses if sample else ())

    def asks(key: Key, value: str) -> bool:
        result = label_sealing.after(protocol, value) if key[0] in sampled else None
        return result is not None and result.whole

    return asks


def ordered(
    places: Mapping[Key, UnitPlace],
    keys: Sequence[Key],
    uncertainties: Sequence[float],
    weights: Sequence[float],
    order: ReviewOrder,
    person_id: str,
) -> Sequence[Key]:
    """Keys in the requested order, with ties broken at random for each person; errors are sorted by report."""
    if order is ReviewOrder.ERRORS:
        return sorted(keys, key={key: number for number, key in enumerate(places)}.__getitem__)
    import numpy as np

    chance = np.array([int(sha256("/".join((person_id, *key)))[:13], 16) for key in keys])
    ranks = [-np.array(uncertainties), -np.array(weights)]
    sorting = {ReviewOrder.UNCERTAINTY: ranks[::-1], ReviewOrder.WEIGHT: ranks, ReviewOrder.RANDOM: []}
    return [keys[at] for at in np.lexsort([chance, *sorting[order]]).tolist()] if keys else []


BY = (ALL, "type", "criterion")
# The index of the person's answer among the fields of a case from its flags on.
_RULING_AT = 2
# The number of rows read together.
_ROWS_AT_ONCE = 5000
# Nobody reads more lines than these in one picture.
MOST_SAMPLED = 60
PAIR = "Which report is better?"
# A judge, a response, a unit, and the person whose label it is, empty in a review.
CaseKey = tuple[str, ...]


class VerdictCase(NamedTuple):
    """A judge's verdict on a unit, to rule on or to review, with the answer to it; `ruling` is empty while it is open.

    To rule on, `alias` is the person whose label differs, or “consensus” if that is compared with. To review, the
    answer is this person's own, and the system is not named. `uncertainty` is the share of other judges' and trials'
    verdicts that differ, plus one if the judgement is flagged (such as for a quote that was not found); `kind` is that
    of the error or source.
    """

    place: UnitPlace
    protocol: str
    judge: str
    judge_id: str
    judge_value: str
    flags: str = ""
    uncertainty: float = 0.0
    ruling: str = ""
    reason: str = ""
    note: str = ""
    kind: str = ""
    person_id: str = ""
    alias: str = ""
    label_value: str = ""
    prompt: str = ""

    @property
    def key(self) -> CaseKey:
        return self.judge_id, self.place.response_id, self.place.unit_id, self.person_id

    @property
    def words(self) -> str:
        return self.place.words or PAIR

    @property
    def taxonomy(self) -> Taxonomy | None:
        """The kinds to choose from in a review, if the verdict asks for one."""
        return None if self.person_id else label_sealing.after(self.protocol, self.judge_value)


class CaseList(Sequence[VerdictCase]):
    """Cases in the order of `keys`, each made when it is accessed: there may be very many, and few are looked at.

    `rulings` are the answers, `numbers` the positions by key; `made` returns the case at a position.
    """

    def __init__(
        self, places: Mapping[Key, UnitPlace], keys: Sequence[CaseKey], rulings: Sequence[str],
        made: Callable[[Any], Any],
    ) -> None:  # fmt: skip
        self._places, self._keys, self.rulings, self._made = places, keys, rulings, made
        self.numbers: dict[CaseKey, int] = {key: number for number, key in enumerate(keys)}

    def __getitem__(self, number: Any) -> Any:
        return self._made(number)

    def __len__(self) -> int:
        return len(self._keys)

    @cached_property
    def texts(self) -> Sequence[str]:
        """The searchable text of each; reports of one item share its criteria."""
        text = cache(lambda item, words: f"{item} {words or PAIR}".casefold())
        places = (self._places[response_id, unit_id] for _, response_id, unit_id, _person in self._keys)
        return [text(place.item_key, place.words) for place in places]


@dataclass(frozen=True, slots=True)
class CaseOutlook:
    """The cases of a person in order, and whether a judge judged any of this.

    `held_back` are on items that the person still has to label blind, which `blind` names.
    """

    lines: CaseList
    judged: bool
    held_back: int
    blind: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class ReviewableJudge:
    judge: str
    protocol: str


@dataclass(frozen=True, slots=True)
class AcceptanceRate:
    """Acceptance of a judge by experts within a group: agree over agree and disagree; unsure is separate.

    `outdated` counts reviews of verdicts that the judge has since replaced; they count for nothing else.
    """

    group: str
    judge: str
    accepted: Estimate
    said: Mapping[str, int]
    reasons: Mapping[str, int]
    outdated: int


def offers(project: Project) -> list[ReviewableJudge]:
    """The judges whose verdicts can be reviewed, in the order of the protocols, the baseline last."""
    _expert(project)
    j = JUDGEMENT.c
    question = select(j.rater_id, j.protocol).where(
        j.rater_kind == RaterKind.JUDGE.value, j.status == Status.OK.value
    )
    known = {judge.id: judge for judge in judges.all_of(project)}
    place = {name: number for number, name in enumerate(PROTOCOLS)}
    rows = project.query(question.distinct()).all()
    result = [row for row in rows if row[0] in known and row[1] in PROTOCOLS]
    result.sort(key=lambda row: (place[row[1]], known[row[0]].kind == JudgeKind.BASELINE, known[row[0]].name))
    return [ReviewableJudge(known[row[0]].name, row[1]) for row in result]


def queue(
    project: Project, judge: str, protocol: str = USUAL, order: ReviewOrder = ReviewOrder.UNCERTAINTY,
    experts: int = 1,
) -> list[VerdictCase]:  # fmt: skip
    """A judge's verdicts that neither this person nor `experts` others have reviewed.

    Items that they still have to label blind are excluded. Raises Refusal for anyone who is no expert of the project.
    """
    return [line for line in outlook(project, judge, protocol, order, experts).lines if not line.ruling]


@cached
def outlook(
    project: Project, judge: str, protocol: str = USUAL, order: ReviewOrder = ReviewOrder.UNCERTAINTY,
    experts: int = 1,
) -> CaseOutlook:  # fmt: skip
    """The same with this person's reviews, each in its place, and with the number of verdicts hidden from them."""
    me = _expert(project)
    judge_id = judges.named(project, judge).id
    places = validation_figures.places(project, label_cases.protocol_of(project, protocol))
    blind = still_blind(project, me)
    reviewed = nested(
        ((one.response_id, one.unit_id), one.by, one)
        for one in standing(project, InformedKind.REVIEW, protocol, INFORMED.c.judge_id == judge_id)
    )
    values, flags, differing = _verdicts(project, protocol, judge_id)
    keys, weights, beside = list[Key](), list[float](), dict[Key, tuple[Any, ...]]()
    counts, kept_back = Counter[str](), set[str]()
    kinds, waiting = label_sealing.kinds_given(project, protocol), due(project, protocol, order)
    for key, value in values.items():
        place, answers = places.get(key), reviewed.get(key, {})
        if place is None or not waiting(key, value):
            continue
        mine = answers.get(me)
        if place.item_id in blind:
            counts["blind"] += 1
            kept_back.add(place.item_key)
        elif mine is not None or len(answers) < experts:
            # A review of a verdict that was replaced since does not apply to the new one.
            own = (mine.said, mine.reason, mine.note) if mine and mine.judge_value == value else ("", "", "")
            uncertainty = differing.get(key, 0.0) + (key in flags)
            if answers or uncertainty or key in kinds:
                beside[key] = flags.get(key, ""), uncertainty, *own, kinds.get(key, "")
            keys.append(key)
            weights.append(abs(place.weight))
        else:
            counts["full"] += 1
    uncertainties = [beside[key][1] if key in beside else 0.0 for key in keys]
    sequence = ordered(places, keys, uncertainties, weights, order, me)

    def made(number: int) -> VerdictCase:
        key = sequence[number]
        return VerdictCase(places[key], protocol, judge, judge_id, values[key], *beside.get(key, ()))

    rulings = [beside[key][_RULING_AT] if key in beside else "" for key in sequence]
    lines = CaseList(places, [(judge_id, *key, "") for key in sequence], rulings, made)
    return CaseOutlook(lines, bool(lines or counts), counts["blind"], sorted(kept_back))


def refuse_blind(project: Project, item_id: str) -> None:
    """Raise Refusal for anyone who is no expert, or still has to label an item blind to its judges' verdicts."""
    if item_id in still_blind(project, _expert(project)):
        raise Refusal("You still have to label this item blind.", "Submit your labels of it first.")


def review(
    project: Project, judge: str, response_id: str, unit_id: str, opinion: Review, *, reason: str = "",
    note: str = "", kind: str = "", protocol: str = USUAL,
) -> Change:  # fmt: skip
    """Store whether the expert accepts a verdict, with the judge's fault if not, or the kind of error."""
    me = _expert(project)
    if reason and reason not in list(Fault):
        raise Refusal(f"“{reason}” is not a valid reason.", f"Use one of {', '.join(Fault)}.")
    judge_id = judges.named(project, judge).id
    j = JUDGEMENT.c
    where = j.rater_id == judge_id, j.response_id == response_id, j.unit_id == unit_id
    value, verdict = next(
        (one for _, *one in _aggregated(protocol, _rows(project, protocol, *where))), (None, None)
    )
    if value is None or verdict is None:
        raise Refusal("The judge no longer has a verdict there.", "Continue with the next one.")
    refuse_blind(project, verdict.item_id)
    fields = well_formed(InformedFields, dict(
        kind=InformedKind.REVIEW, protocol=protocol, item_id=verdict.item_id, response_id=response_id, unit_id=unit_id,
        judge_id=judge_id, judge_value=value, said=opinion.value, reason=reason, note=note, by=me, at=now(),
    ))  # fmt: skip
    if not kind:
        return say(project, fields, "review")
    taxonomy = label_sealing.after(protocol, value)
    if taxonomy is None or opinion is not Review.AGREE:
        raise Refusal("This takes no kind.", "Give one where you agree with a verdict that asks for it.")
    with project.store.write():
        say(project, fields, "review")
        return label_sealing.give(project, response_id, unit_id, taxonomy.name, kind, judge_id)


@people.for_coordinators("can see how judges were reviewed")
def report(project: Project, protocol: str = USUAL, judge: str = "", by: str = ALL) -> list[AcceptanceRate]:
    """The share of each judge's reviewed verdicts that experts accept, by one of `BY`; intervals are clustered by item.

    Each expert's review of a verdict counts as one. These are informed labels: they enter no blind figure.
    """
    refuse_other(by, BY, f"Reviews cannot be broken down by “{by}”.")
    definition = label_cases.protocol_of(project, protocol)
    names = {one.id: one.name for one in judges.all_of(project)}
    whose = [INFORMED.c.judge_id == judges.named(project, judge).id] if judge else []
    result = informed_labels(project, InformedKind.REVIEW, protocol, *whose)
    reviewed = {one.item_id for one in result}
    items = [item_id for item_id in materials.item_ids(project) if item_id in reviewed]
    places = validation_figures.places(project, definition, items) if items else {}
    rows = _rows(project, protocol, JUDGEMENT.c.item_id.in_(items))
    present = {unit: value for unit, value, _ in _aggregated(protocol, rows)}
    group_of = validation_figures.BY[by]
    groups = grouped(
        ((names[one.judge_id], group_of(places[one.response_id, one.unit_id])), one)
        for one in result
        if (one.response_id, one.unit_id) in places
    )
    shown = validation_figures.named({group for _, group in groups})
    return [
        _line(shown[group], name, groups[name, group], present)
        for name in sorted({name for name, _ in groups})
        for group in shown
        if (name, group) in groups
    ]


def _expert(project: Project) -> str:
    person = people.someone(project)
    if not any(person.has(role) for role in Role):
        raise Refusal("Only experts of this project can review.", "Work as one of them.")
    return person.id


def still_blind(project: Project, person_id: str) -> set[str]:
    """The items that a person was asked to label and has not submitted."""
    a = ASSIGNMENT.c
    question = select(a.item_id).where(
        a.person_id == person_id, a.stage == Stage.LABELLING.value, a.submitted_at.is_(None)
    )
    return set(project.query(question).scalars())


def _rows(project: Project, protocol: str, *narrowed: ColumnElement[bool]) -> Iterator[Any]:
    """The judges' valid verdicts on the present wording, at every trial unless narrowed."""
    j = JUDGEMENT.c
    conditions = j.protocol == protocol, label_rows.BY_JUDGES, j.status == Status.OK.value, *narrowed
    columns = j.id, j.rater_id, j.trial, j.item_id, j.response_id, j.unit_id, j.value, j.flags, j.status
    with project.store.read() as db:
        gone = label_rows.outdated(db, *conditions)
        for rows in db.execute(select(*columns).where(*conditions).order_by(j.trial)).partitions(
            _ROWS_AT_ONCE
        ):
            yield from (row for row in rows if row.id not in gone) if gone else rows


def _aggregated(protocol: str, rows: Iterable[Any]) -> Iterator[tuple[tuple[str, str, str], str, Any]]:
    """Judge and unit, the aggregate of the trials, and the first row with that value."""
    of = grouped(((row.rater_id, row.response_id, row.unit_id), row) for row in rows)
    scale = PROTOCOLS[protocol].scale
    for unit, each in of.items():
        value, row = label_rows.come_to(scale, each)
        if value is not None:
            yield unit, value, row


def _verdicts(
    project: Project, protocol: str, judge_id: str
) -> tuple[dict[Key, str], dict[Key, str], dict[Key, float]]:
    """By unit: the aggregate of a judge's trials, its flags if any, and the share of other verdicts that differ, if
    any; further trials of the judge count as others.
    """
    mine, others = list[Any](), list[tuple[Key, str]]()
    for row in _rows(project, protocol):
        if row.rater_id == judge_id:
            mine.append(row)
        if row.rater_id != judge_id or row.trial > 1:
            others.append(((row.response_id, row.unit_id), row.value))
    current = {unit[1:]: (value, row.flags) for unit, value, row in _aggregated(protocol, mine)}
    own = {key: value for key, (value, _) in current.items()}
    marked = {key: flags for key, (_, flags) in current.items() if flags}
    totals = Counter(key for key, _ in others)
    differing = Counter(key for key, value in others if own.get(key, value) != value)
    return own, marked, {key: many / totals[key] for key, many in differing.items()}


def _line(
    group: str, judge: str, answers: Iterable[Informed], present: Mapping[tuple[str, str, str], str]
) -> AcceptanceRate:
    from annotator.stats.intervals.clustered import clustered_wilson

    listed = list(answers)
    current = [
        one for one in listed if present.get((one.judge_id, one.response_id, one.unit_id)) == one.judge_value
    ]
    decided = [one for one in current if one.said != Review.UNSURE.value]
    accepted = clustered_wilson(
        [one.said == Review.AGREE.value for one in decided], [one.item_id for one in decided]
    )
    reasons = Counter(one.reason for one in decided if one.reason and one.said == Review.DISAGREE.value)
    return AcceptanceRate(
        group, judge, accepted, Counter(one.said for one in current), dict(reasons.most_common()),
        len(listed) - len(current),
    )  # fmt: skip


def sheets(rates: Sequence[AcceptanceRate]) -> tuple[result_sheets.ResultSheet, ...]:
    heads = columns(
        ("group", "Group"), result_sheets.JUDGE_COLUMN,
        ("accepted", "Accepted", "Share of agree among agree and disagree; informed reviews, not blind labels"),
        ("n", "n", "Reviews that agree or disagree"),
        *((result_sheets.key_of(review.value), review.value.capitalize()) for review in Review),
        ("outdated", "Outdated", "Reviews of verdicts that were replaced since"),
        ("faults", "Faults", "Why verdicts were not accepted"),
    )  # fmt: skip
    lines = tuple(
        result_sheets.SheetLine((
            result_sheets.text(rate.group), result_sheets.text(rate.judge), figure_cell(rate.accepted),
            result_sheets.count(rate.accepted.n),
            *(result_sheets.count(rate.said.get(review.value, 0)) for review in Review),
            result_sheets.count(rate.outdated),
            result_sheets.text(", ".join(f"{reason}: {many}" for reason, many in rate.reasons.items()) or "–"),
        ))
        for rate in rates
    )  # fmt: skip
    whole = result_sheets.ResultSheet(
        "reviews",
        "Reviews of judges",
        heads,
        lines,
        (
            "Experts saw the verdict, its reasons and its quote: these are informed labels, "
            "kept apart from blind ones.",
        ),
        (_picture(rates),),
    )
    return (whole,) if lines else ()


def _picture(rates: Sequence[AcceptanceRate]) -> result_sheets.SheetPicture:
    left = (
        f"; {counted(len(rates) - MOST_SAMPLED, 'more is', 'more are')} not drawn"
        if len(rates) > MOST_SAMPLED
        else ""
    )
    return result_sheets.picture(
        "accepted",
        "Verdicts that experts accept, having seen them",
        pictures.intervals,
        [
            (rate.judge if rate.group == ALL else f"{rate.judge}, {rate.group}", rate.accepted)
            for rate in rates[:MOST_SAMPLED]
        ],
        f"Share of agree among agree and disagree; 95 % interval; informed, not blind{left}",
    )


@dataclass(frozen=True, slots=True)
class StaleJudgements:
    """A judge's judgements under a protocol that no longer count, and the order that requests them again, without those
    that still count; it also requests whatever else is missing for those items.
    """

    judgements: int
    units: int
    order: RunRequest

    def words(self) -> str:
        return (
            f"{counted(self.judgements, 'judgement')} of “{self.order.judge}” on "
            f"{counted(self.units, 'unit')} reworded, in {counted(len(self.order.items), 'item')}."
        )


@people.for_coordinators("can start judges")
def waiting(project: Project, protocol: str = "", judge: str = "") -> list[StaleJudgements]:
    """The judgements each judge (or the one of that name) is to repeat, under every protocol or one."""
    conditions = [JUDGEMENT.c.protocol == protocol] if protocol else []
    conditions += [JUDGEMENT.c.rater_id == judges.named(project, judge).id] if judge else []
    with project.store.read() as db:
        rows = label_rows.outdated(db, label_rows.BY_JUDGES, *conditions).values()
        gone = [row for row in rows if row.protocol in PROTOCOLS]
        judged = {
            (kind, item_id): row.id
            for kind in {PROTOCOLS[row.protocol].unit_kind for row in gone}
            if kind is not None
            for item_id, row in annotating.judged_rows(db, kind, {row.item_id for row in gone}).items()
        }
        keys = select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))
        items = dict(db.execute(keys.order_by(ITEM.c.position, ITEM.c.key, ITEM.c.id)).all() if gone else ())
        systems = dict(
            db.execute(
                select(RESPONSE.c.id, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
            ).all()
            if gone
            else ()
        )
    known = {one.id: one for one in judges.all_of(project)}
    result = grouped(
        ((known[row.rater_id].name, row.protocol), row)
        for row in gone
        if (kind := PROTOCOLS[row.protocol].unit_kind) is not None
        and judged.get((kind, row.item_id)) == row.artifact_id
        and row.rater_id in known
        and row.item_id in items
    )
    asks = {one.name: one.kind == JudgeKind.ENDPOINT for one in known.values()}
    return [
        _again(name, of, rows, items, systems, several=asks[name])
        for (name, of), rows in sorted(result.items())
    ]


def order(project: Project, judge: str, protocol: str) -> RunRequest:
    """The order that asks a judge again; raises Refusal if all of its judgements still count."""
    for judgements in waiting(project, protocol, judge):
        return judgements.order
    raise Refusal(
        f"All verdicts of “{judge}” are on the current wording.", "Nothing needs to be judged again."
    )


def queue_up(project: Project, judge: str, protocol: str) -> RunRequest:
    """Put that order into the queue of runs; raises Refusal if it is queued already."""
    return judge_runs.add(project, order(project, judge, protocol)).order


def _again(
    judge: str,
    protocol: str,
    rows: list[Any],
    items: dict[str, str],
    systems: dict[str, str],
    *,
    several: bool,
) -> StaleJudgements:
    concerned = {row.item_id for row in rows}
    keys = tuple(key for item_id, key in items.items() if item_id in concerned)
    names = tuple(sorted({systems[row.response_id] for row in rows}))
    trials = max(row.trial for row in rows) if several else 1
    units = len({(row.artifact_id, row.unit_id) for row in rows})
    return StaleJudgements(len(rows), units, RunRequest(judge, protocol, names, keys, trials=trials))


FROM_REPORTS = Refusal("These units come from the reports.", "It was not written by anyone.")
WHY = "Judge and people disagree about it, and it was ruled unclear."


@dataclass(frozen=True, slots=True)
class RewordingPlace:
    """The page and place where a unit can be reworded; `refused` is why this person may not."""

    page: str
    place: dict[str, Any]
    refused: str = ""


def way(project: Project, protocol: str, item_id: str, unit_id: str) -> RewordingPlace:
    """Where an item's gold is reworded, and whether the person working may do it; no page if nobody words it."""
    kind = PROTOCOLS[protocol].unit_kind
    if kind is None:
        return RewordingPlace("", {}, str(FROM_REPORTS))
    with project.store.read() as db:
        artifact = annotating.judged_artifact(db, item_id, kind)
        if artifact is None:
            return RewordingPlace(
                "Author", {"item_id": item_id, "kind": kind.value}, "It is no longer used for judging."
            )
        result = _adjudication(db, artifact)
        if result is not None:
            objection = assignments.competence(project, db, item_id).objection(item_id, result.adjudicator_id)
            return RewordingPlace(
                "Adjudicate", {"item_id": item_id, "stage": stage_of(kind).value}, str(objection or "")
            )
    unit = label_rows.unit_of(artifact.document.units, unit_id)
    place = {"item_id": item_id, "kind": kind.value, "unit_id": unit.id if unit else ""}
    return RewordingPlace("Author", place, str(_objection(project, artifact) or ""))


@people.for_coordinators("can reword criteria ruled unclear")
def word(project: Project, protocol: str, item_id: str, unit_id: str, text: str, why: str = WHY) -> Change:
    """Reword a unit in a new sealed version; every other unit stays unchanged, ids included.

    A consensus is reopened and closed as its next version. Raises Refusal for anyone who may not, and if nothing
    changes.
    """
    with project.store.write() as db:
        artifact = annotating.judged_artifact(db, item_id, _kind(protocol))
        unit = label_rows.unit_of(artifact.document.units, unit_id) if artifact else None
        if artifact is None or unit is None:
            raise Refusal("That criterion is no longer used.", "Read the list again.")
        if text.strip() in ("", unit.text.strip()):
            raise Refusal("That is its current wording.", "Change the wording first.")
        result = _adjudication(db, artifact)
        if result is not None:
            return _in_consensus(project, db, (result, artifact.kind), unit, text.strip(), why.strip() or WHY)
        return _in_artifact(project, artifact, unit.id, text.strip(), why)


def _kind(protocol: str) -> Kind:
    kind = PROTOCOLS[protocol].unit_kind
    if kind is None:
        raise FROM_REPORTS
    return kind


def _adjudication(db: Connection, artifact: Artifact) -> Any:
    if artifact.state is not State.CONSENSUS:
        return None
    question = select(ADJUDICATION.c.id, ADJUDICATION.c.state, ADJUDICATION.c.adjudicator_id)
    return db.execute(question.where(ADJUDICATION.c.consensus_id == artifact.id)).first()


def _objection(project: Project, artifact: Artifact) -> Refusal | None:
    if artifacts.refusal_of_others(project, artifact) is None:
        return None
    aliases = {person.id: person.alias for person in people.people(project)}
    who = aliases.get(artifact.author_id, "Somebody else")
    return Refusal(f"{who} wrote this {artifact.kind.value}.", f"Ask {who} to reopen it and reword it.")


def _in_artifact(project: Project, artifact: Artifact, unit_id: str, text: str, why: str) -> Change:
    if objection := _objection(project, artifact):
        raise objection
    closed = not artifacts.is_open(project, artifact)
    if closed:
        assignments.reopen(project, artifact.id)
    change = artifacts.change_unit(project, artifact.id, unit_id, text=text)
    return assignments.seal(project, artifact.id, why) if closed else change


def _in_consensus(
    project: Project, db: Connection, settled: tuple[Any, Kind], unit: Unit, text: str, why: str
) -> Change:
    result, kind = settled
    if result.state != AdjudicationState.CLOSED.value:
        raise Refusal("The adjudication of this is open.", "Reword it there, and close it.")
    newest = consensus.versions(db, result.id)[-1]
    of = next(each.ruling_id for each in newest.provenance if each.unit_id == unit.id)
    if sum(each.ruling_id == of for each in newest.provenance) > 1:
        raise Refusal("Its row keeps several wordings.", "Reword it on the Adjudicate page.")
    ruling.reopen(project, result.id, why)
    given = unit.model_dump(mode="json", include=set(consensus.writable(kind)))
    ruling.write_own(project, of, **{**given, "text": text})
    ruling.explain(project, of, reason=Reason.WORDING, rationale=why)
    return ruling.close(project, result.id)
