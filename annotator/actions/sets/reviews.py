"""Reviews of a judge's verdicts by experts: the queue, their answers, and acceptance rates."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, literal, select

from annotator.actions.items import materials
from annotator.actions.judges import judges
from annotator.actions.labelling import label_cases, second_looks, wordings
from annotator.actions.labelling.label_rows import come_to
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.keeping import kept
from annotator.actions.results import result_pictures, result_sheets
from annotator.actions.results.result_sheets import columns
from annotator.actions.sets import informed, review_orders, validation_units
from annotator.actions.sets.review_orders import ReviewOrder as ReviewOrder
from annotator.actions.sets.validation_figures import told
from annotator.actions.sets.validation_units import ALL, Group, Key, UnitPlace
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.judges.informed import Fault, Informed, InformedFields, InformedKind, Review
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.judgement import RaterKind, Status
from annotator.domain.texts.change import Change, now
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.domain.texts.well_formed import well_formed
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ASSIGNMENT, INFORMED, JUDGEMENT

BY = (ALL, "type", "criterion")
# What stands beside most verdicts, from their flags on; and where in it is what the person said.
NOTHING = ("", 0.0, 0, "", "", "", "")
_SAID_AT = 3
# So many rows are read together.
_ROWS_AT_ONCE = 5000
# More lines than these in one picture are read by nobody.
MOST_DRAWN = 60


class ReviewCase(NamedTuple):
    """A verdict to review: question, verdict, and the reason for its rank.

    `uncertainty` is the share of other judges' and trials' verdicts that differ, plus one where the judgement is
    flagged (a quote that stands nowhere …). The system is not named. `said`, `reason`, `note` and `kind`, that of the
    error or of the source, are what this person said of it, empty while they have not.
    """

    place: UnitPlace
    judge_id: str
    value: str
    flags: str
    uncertainty: float
    reviews: int
    said: str = ""
    reason: str = ""
    note: str = ""
    kind: str = ""


class ReviewCases(Sequence[ReviewCase]):
    """A judge's verdicts in the order of `keys`; each is built when it is accessed."""

    def __init__(
        self, places: Mapping[Key, UnitPlace], judge_id: str, keys: Sequence[Key], values: Mapping[Key, str],
        beside: Mapping[Key, tuple[Any, ...]],
    ) -> None:  # fmt: skip
        """`beside` has the fields from `flags` on, of those units where there is anything."""
        self.keys = keys
        self._of = places, judge_id, values, beside

    def __getitem__(self, number: Any) -> Any:
        places, judge_id, values, beside = self._of
        if isinstance(number, slice):
            return ReviewCases(places, judge_id, self.keys[number], values, beside)
        key = self.keys[number]
        return ReviewCase(places[key], judge_id, values[key], *beside.get(key, NOTHING))

    def __len__(self) -> int:
        return len(self.keys)

    def place(self, number: int) -> UnitPlace:
        """The unit of a verdict, which is all that is sought by."""
        return self._of[0][self.keys[number]]

    def said(self) -> list[str]:
        beside = self._of[-1]
        return [beside.get(key, NOTHING)[_SAID_AT] for key in self.keys]


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    """Verdicts of a judge that a person may review, those in `lines`, in order.

    `blind` names the items that they are still to label themselves, with `kept_back` verdicts on them; `full` counts
    verdicts that enough others have reviewed.
    """

    lines: ReviewCases
    verdicts: int
    blind: Sequence[str]
    kept_back: int
    full: int


@dataclass(frozen=True, slots=True)
class ReviewableJudge:
    """A judge with verdicts under a protocol."""

    judge: str
    protocol: str
    verdicts: int


@dataclass(frozen=True, slots=True)
class AcceptanceRate:
    """Acceptance of a judge by experts within a group: agree over agree and disagree; unsure is separate.

    `outdated` counts reviews of verdicts that the judge has since replaced; they enter nothing.
    """

    group: str
    judge: str
    accepted: Estimate
    said: Mapping[str, int]
    reasons: Mapping[str, int]
    outdated: int


def offers(project: Project) -> list[ReviewableJudge]:
    """The judges whose verdicts can be reviewed, protocol by protocol in the order of the table, the baseline last."""
    _expert(project)
    j = JUDGEMENT.c
    units = func.count(func.distinct(j.response_id + literal(" ") + j.unit_id))
    question = select(j.rater_id, j.protocol, units).where(
        j.rater_kind == RaterKind.JUDGE.value, j.status == Status.OK.value
    )
    known = {one.id: one for one in judges.all_of(project)}
    place = {name: number for number, name in enumerate(PROTOCOLS)}
    with project.store.read() as db:
        rows = db.execute(question.group_by(j.rater_id, j.protocol)).all()
    found = [row for row in rows if row[0] in known and row[1] in PROTOCOLS]
    found.sort(key=lambda row: (place[row[1]], known[row[0]].kind == JudgeKind.BASELINE, known[row[0]].name))
    return [ReviewableJudge(known[row[0]].name, row[1], row[2]) for row in found]


def queue(
    project: Project, judge: str, protocol: str = USUAL, order: ReviewOrder = ReviewOrder.UNCERTAINTY,
    experts: int = 1,
) -> list[ReviewCase]:  # fmt: skip
    """A judge's verdicts that this person has not reviewed, and fewer than `experts` have.

    What they are still to label blind is not among them. Refusal for anyone who is no expert of the project.
    """
    return [one for one in outlook(project, judge, protocol, order, experts).lines if not one.said]


@kept
def outlook(
    project: Project, judge: str, protocol: str = USUAL, order: ReviewOrder = ReviewOrder.UNCERTAINTY,
    experts: int = 1,
) -> ReviewQueue:  # fmt: skip
    """The same with what this person has reviewed, each in its place, and with what they are not shown."""
    me = _expert(project)
    shape = label_cases.shape_of(project, protocol)
    judge_id = judges.named(project, judge).id
    places = validation_units.places(project, shape)
    blind, reviewed = still_blind(project, me), dict[Key, dict[str, Informed]]()
    for one in informed.standing(project, InformedKind.REVIEW, protocol, INFORMED.c.judge_id == judge_id):
        reviewed.setdefault((one.response_id, one.unit_id), {})[one.by] = one
    values, flags, differing = _verdicts(project, protocol, judge_id)
    keys, weights, beside = list[Key](), list[float](), dict[Key, tuple[Any, ...]]()
    counts, kept_back = Counter[str](), set[str]()
    kinds, due = second_looks.kept(project, protocol), review_orders.due(project, protocol, order)
    for key, value in values.items():
        place, said = places.get(key), reviewed.get(key, {})
        if place is None or not due(key, value):
            continue
        mine = said.get(me)
        if place.item_id in blind:
            counts["blind"] += 1
            kept_back.add(place.item_key)
        elif mine is not None or len(said) < experts:
            # A review of a verdict that was replaced since says nothing of this one.
            own = (mine.said, mine.reason, mine.note) if mine and mine.judge_value == value else ("", "", "")
            uncertainty = differing.get(key, 0.0) + (key in flags)
            if said or uncertainty or key in kinds:
                beside[key] = flags.get(key, ""), uncertainty, len(said), *own, kinds.get(key, "")
            keys.append(key)
            weights.append(abs(place.weight))
        else:
            counts["full"] += 1
    uncertainties = [beside[key][1] if key in beside else 0.0 for key in keys]
    ordered = review_orders.ordered(places, keys, uncertainties, weights, order, me)
    lines = ReviewCases(places, judge_id, ordered, values, beside)
    verdicts = len(lines) + counts.total()
    return ReviewQueue(lines, verdicts, sorted(kept_back), counts["blind"], counts["full"])


def refuse_blind(project: Project, item_id: str) -> None:
    """Refuse anyone who is no expert, or is still to label an item without knowing what judges say of it."""
    if item_id in still_blind(project, _expert(project)):
        raise Refusal("You still have to label this item blind.", "Submit your labels of it first.")


def review(
    project: Project, judge: str, response_id: str, unit_id: str, said: Review, *, reason: str = "",
    note: str = "", kind: str = "", protocol: str = USUAL,
) -> Change:  # fmt: skip
    """Say whether one accepts a verdict, with the judge's fault where one does not, or the kind of error."""
    me = _expert(project)
    if reason and reason not in list(Fault):
        raise Refusal(f"“{reason}” is not a valid reason.", f"Use one of {', '.join(Fault)}.")
    judge_id = judges.named(project, judge).id
    j = JUDGEMENT.c
    where = j.rater_id == judge_id, j.response_id == response_id, j.unit_id == unit_id
    value, verdict = next(
        (one for _, *one in _standing(protocol, _rows(project, protocol, *where))), (None, None)
    )
    if value is None or verdict is None:
        raise Refusal("The judge no longer has a verdict there.", "Continue with the next one.")
    refuse_blind(project, verdict.item_id)
    fields = well_formed(InformedFields, dict(
        kind=InformedKind.REVIEW, protocol=protocol, item_id=verdict.item_id, response_id=response_id, unit_id=unit_id,
        judge_id=judge_id, judge_value=value, said=said.value, reason=reason, note=note, by=me, at=now(),
    ))  # fmt: skip
    if not kind:
        return informed.say(project, fields, "review")
    asked = second_looks.after(protocol, value)
    if asked is None or said is not Review.AGREE:
        raise Refusal("This takes no kind.", "Give one where you agree with a verdict that asks for it.")
    with project.store.write():
        informed.say(project, fields, "review")
        return second_looks.give(project, response_id, unit_id, asked.name, kind, judge_id)


def report(project: Project, protocol: str = USUAL, judge: str = "", by: str = ALL) -> list[AcceptanceRate]:
    """How much of each judge's reviewed verdicts experts accept, by one of `BY`; intervals are clustered by item.

    Each expert's review of a verdict counts as one. These are informed labels: they enter no blind figure.
    """
    people.refuse_others(project, "can see how judges were reviewed")
    if by not in BY:
        raise Refusal(f"Reviews cannot be broken down by “{by}”.", f"Use one of {', '.join(BY)}.")
    shape = label_cases.shape_of(project, protocol)
    names = {one.id: one.name for one in judges.all_of(project)}
    whose = [INFORMED.c.judge_id == judges.named(project, judge).id] if judge else []
    found = informed.kept(project, InformedKind.REVIEW, protocol, *whose)
    reviewed = {one.item_id for one in found}
    items = [item_id for item_id in materials.item_ids(project) if item_id in reviewed]
    places = validation_units.places(project, shape, items) if items else {}
    rows = _rows(project, protocol, JUDGEMENT.c.item_id.in_(items))
    present = {unit: value for unit, value, _ in _standing(protocol, rows)}
    groups: dict[tuple[str, Group], list[Informed]] = defaultdict(list)
    for one in found:
        place = places.get((one.response_id, one.unit_id))
        if place is not None:
            groups[names[one.judge_id], validation_units.BY[by](place)].append(one)
    shown = validation_units.named({group for _, group in groups})
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
    """The items that a person was asked to label and has not."""
    a = ASSIGNMENT.c
    question = select(a.item_id).where(
        a.person_id == person_id, a.stage == Stage.LABELLING.value, a.submitted_at.is_(None)
    )
    with project.store.read() as db:
        return set(db.execute(question).scalars())


def _rows(project: Project, protocol: str, *narrowed: ColumnElement[bool]) -> Iterator[Any]:
    """The judges' verdicts that came on the present wording, at every trial unless it is narrowed."""
    j = JUDGEMENT.c
    wanted = j.protocol == protocol, wordings.BY_JUDGES, j.status == Status.OK.value, *narrowed
    columns = j.id, j.rater_id, j.trial, j.item_id, j.response_id, j.unit_id, j.value, j.flags, j.status
    with project.store.read() as db:
        gone = wordings.outdated(db, *wanted)
        for rows in db.execute(select(*columns).where(*wanted).order_by(j.trial)).partitions(_ROWS_AT_ONCE):
            yield from (row for row in rows if row.id not in gone) if gone else rows


def _standing(protocol: str, rows: Iterable[Any]) -> Iterator[tuple[tuple[str, str, str], str, Any]]:
    """Judge and unit, what the trials come to, and the first row that says so."""
    of: dict[tuple[str, str, str], list[Any]] = defaultdict(list)
    for row in rows:
        of[row.rater_id, row.response_id, row.unit_id].append(row)
    for unit, each in of.items():
        value, row = come_to(PROTOCOLS[protocol].scale, each)
        if value is not None:
            yield unit, value, row


def _verdicts(
    project: Project, protocol: str, judge_id: str
) -> tuple[dict[Key, str], dict[Key, str], dict[Key, float]]:
    """What a judge's trials come to by unit, their flags where there are some, and the share of all other verdicts on
    it that differ, where some do; further trials of its own are others.
    """
    mine, others = list[Any](), list[tuple[Key, str]]()
    for row in _rows(project, protocol):
        if row.rater_id == judge_id:
            mine.append(row)
        if row.rater_id != judge_id or row.trial > 1:
            others.append(((row.response_id, row.unit_id), row.value))
    standing = {unit[1:]: (value, row.flags) for unit, value, row in _standing(protocol, mine)}
    own = {key: value for key, (value, _) in standing.items()}
    marked = {key: flags for key, (_, flags) in standing.items() if flags}
    there = Counter(key for key, _ in others)
    differing = Counter(key for key, value in others if own.get(key, value) != value)
    return own, marked, {key: many / there[key] for key, many in differing.items()}


def _line(
    group: str, judge: str, found: Iterable[Informed], present: Mapping[tuple[str, str, str], str]
) -> AcceptanceRate:
    from annotator.stats.intervals.cluster_means import clustered_wilson

    listed = list(found)
    standing = [
        one for one in listed if present.get((one.judge_id, one.response_id, one.unit_id)) == one.judge_value
    ]
    decided = [one for one in standing if one.said != Review.UNSURE.value]
    accepted = clustered_wilson(
        [one.said == Review.AGREE.value for one in decided], [one.item_id for one in decided]
    )
    reasons = Counter(one.reason for one in decided if one.reason and one.said == Review.DISAGREE.value)
    return AcceptanceRate(
        group, judge, accepted, Counter(one.said for one in standing), dict(reasons.most_common()),
        len(listed) - len(standing),
    )  # fmt: skip


def sheets(found: Sequence[AcceptanceRate]) -> tuple[result_sheets.ResultSheet, ...]:
    """A row for each judge and group."""
    heads = columns(
        ("group", "Group"), result_sheets.JUDGE_COLUMN,
        ("accepted", "Accepted", "Share of agree among agree and disagree; informed reviews, not blind labels"),
        ("n", "n", "Reviews that agree or disagree"),
        *((result_sheets.key_of(said.value), said.value.capitalize()) for said in Review),
        ("outdated", "Outdated", "Reviews of verdicts that were replaced since"),
        ("faults", "Faults", "Why verdicts were not accepted"),
    )  # fmt: skip
    lines = tuple(
        result_sheets.SheetLine((
            result_sheets.text(one.group), result_sheets.text(one.judge), told(one.accepted),
            result_sheets.count(one.accepted.n),
            *(result_sheets.count(one.said.get(said.value, 0)) for said in Review), result_sheets.count(one.outdated),
            result_sheets.text(", ".join(f"{reason}: {many}" for reason, many in one.reasons.items()) or "–"),
        ))
        for one in found
    )  # fmt: skip
    about = (
        "Experts saw the verdict, its reasons and its quote: these are informed labels, kept apart from blind ones.",
    )
    whole = result_sheets.ResultSheet("reviews", "Reviews of judges", heads, lines, about, (_picture(found),))
    return (whole,) if lines else ()


def _picture(found: Sequence[AcceptanceRate]) -> result_sheets.SheetPicture:
    """What share of each judge's verdicts is accepted."""
    rows = [
        (one.judge if one.group == ALL else f"{one.judge}, {one.group}", one.accepted)
        for one in found[:MOST_DRAWN]
    ]
    left = (
        f"; {counted(len(found) - MOST_DRAWN, 'more is', 'more are')} not drawn"
        if len(found) > MOST_DRAWN
        else ""
    )
    title = "Verdicts that experts accept, having seen them"
    axis = f"Share of agree among agree and disagree; 95 % interval; informed, not blind{left}"
    return result_sheets.SheetPicture("accepted", title, partial(result_pictures.shares, rows, title, axis))
