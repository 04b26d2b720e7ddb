"""The records read from a set of files, the problems in the rest, and the differences of two releases."""

import re
import tempfile
import weakref
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, TypeVar

import orjson
from pydantic import BaseModel, ValidationError

from annotator.domain.common import Refusal, counted, derived_id, grouped, nested
from annotator.domain.judges.contest import showing_id
from annotator.domain.judges.judge import RaterKind, Status
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.documents import KINDS
from annotator.domain.material.extract import Funnel
from annotator.exchange.folders import AT_ONCE, Pieces, stretches
from annotator.exchange.release.records import (
    AdjudicationRecord,
    AgreementRecord,
    ArtifactRecord,
    AssistedRecord,
    DecisionRecord,
    ExtractRecord,
    GuidelineRecord,
    InformedRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    Manifest,
    MatchRecord,
    MetricRecord,
    PageRecord,
    PersonRecord,
    PromptRecord,
    RatingRecord,
    Record,
    ResponseRecord,
    RevisionRecord,
    RunRecord,
    ScoreRecord,
    SourceRecord,
    SystemRecord,
    ValidationSetRecord,
)

Model = TypeVar("Model", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem of one entry of a file. A note is reported, but does not exclude the entry.

    `index` counts from 0 in the file's list, `row` of a table of labels from 1; without either it concerns the whole
    file. `trouble` is its kind; `labels` counts those with the same problem, of which this is the first.
    """

    file: str
    index: int | None
    reason: str
    note: bool = False
    row: int | None = None
    trouble: str = ""
    labels: int = 1

    def __str__(self) -> str:
        place = f"{self.file}[{self.index}]" if self.index is not None else self.file
        place += "" if self.row is None else f", row {self.row}"
        return f"{place}{f' and {self.labels - 1:,} more' if self.labels > 1 else ''}: {self.reason}"


NO_MANIFEST = Manifest.model_construct(title="", number=0, app_version="", counts={}, files=[])


@dataclass(slots=True)
class Bundle:
    """The records of a release or of another benchmark's files; its `manifest` holds the facts about the whole.

    `places` maps an id to its file and index, `funnel` is the fate of collected papers, and `report_scores` are a
    report's scores by metric, for a layout that holds them.
    """

    people: list[PersonRecord] = field(default_factory=list)
    items: list[ItemRecord] = field(default_factory=list)
    sources: list[SourceRecord] = field(default_factory=list)
    systems: list[SystemRecord] = field(default_factory=list)
    responses: list[ResponseRecord] = field(default_factory=list)
    guidelines: list[GuidelineRecord] = field(default_factory=list)
    artifacts: list[ArtifactRecord] = field(default_factory=list)
    revisions: list[RevisionRecord] = field(default_factory=list)
    agreements: list[AgreementRecord] = field(default_factory=list)
    adjudications: list[AdjudicationRecord] = field(default_factory=list)
    judges: list[JudgeRecord] = field(default_factory=list)
    runs: list[RunRecord] = field(default_factory=list)
    extracts: list[ExtractRecord] = field(default_factory=list)
    pages: list[PageRecord] = field(default_factory=list)
    prompts: list[PromptRecord] = field(default_factory=list)
    judgements: Collection[JudgementRecord] = field(default_factory=list)
    validation_sets: list[ValidationSetRecord] = field(default_factory=list)
    informed: list[InformedRecord] = field(default_factory=list)
    matches: list[MatchRecord] = field(default_factory=list)
    ratings: list[RatingRecord] = field(default_factory=list)
    decisions: list[DecisionRecord] = field(default_factory=list)
    metrics: list[MetricRecord] = field(default_factory=list)
    scores: list[ScoreRecord] = field(default_factory=list)
    report_scores: Mapping[tuple[str, str], float] = field(default_factory=dict)
    places: dict[tuple[str, str], tuple[str, int]] = field(default_factory=dict)
    manifest: Manifest = NO_MANIFEST
    rubric_set: str = ""
    funnel: Funnel | None = None

    @property
    def pairings(self) -> list[AssistedRecord]:
        return [record for agreement in self.agreements for record in agreement.assisted]

    def place(self, thing: str, record_id: str) -> tuple[str, int | None]:
        return self.places.get((thing, record_id), (thing, None))

    def counts(self) -> dict[str, int]:
        """The number of records of each thing; those of a contest are left out if there was none."""
        many = {name: len(getattr(self, name)) for name in THINGS}
        return {name: count for name, count in many.items() if count or name not in CONTEST}


class BundleReader:
    """The common base of readers of files: it collects records, each with its place, and problems, file by file."""

    def __init__(self) -> None:
        self.bundle = Bundle()
        self.problems: list[Problem] = []

    def add(self, thing: str, record: Record, file: str, index: int) -> None:
        getattr(self.bundle, thing).append(record)
        self.bundle.places[thing, record_id(record)] = (file, index)

    def problem(self, file: str, index: int | None, reason: str) -> None:
        self.problems.append(Problem(file, index, reason))

    def note(self, file: str, reason: str, index: int | None = None) -> None:
        self.problems.append(Problem(file, index, reason, note=True))

    @contextmanager
    def reporting(self, file: str, index: int | None = None) -> Iterator[None]:
        """Turn errors of reading or validation into problems of the file or of its entry."""
        try:
            yield
        except Refusal as refusal:
            self.problems.append(of_file(file, refusal))
        except ValidationError as error:
            self.problem(file, index, in_words(error))


def settled(documents: Iterable[ArtifactRecord]) -> ArtifactRecord | None:
    """The agreed one of an item's documents of a kind, an adjudicator's before an imported one; else the only one."""
    own = sorted(
        documents, key=lambda record: (record.state is not State.CONSENSUS, not record.author_id, record.id)
    )
    return own[0] if len(own) == 1 or (own and own[0].state is State.CONSENSUS) else None


# Every thing of a release and the class of its records, each after those it refers to.
CLASSES: dict[str, type[Record]] = {
    "people": PersonRecord,
    "items": ItemRecord,
    "sources": SourceRecord,
    "systems": SystemRecord,
    "responses": ResponseRecord,
    "guidelines": GuidelineRecord,
    "artifacts": ArtifactRecord,
    "revisions": RevisionRecord,
    "agreements": AgreementRecord,
    "adjudications": AdjudicationRecord,
    "judges": JudgeRecord,
    "runs": RunRecord,
    "extracts": ExtractRecord,
    "pages": PageRecord,
    "prompts": PromptRecord,
    "judgements": JudgementRecord,
    "validation_sets": ValidationSetRecord,
    "informed": InformedRecord,
    "matches": MatchRecord,
    "ratings": RatingRecord,
    "decisions": DecisionRecord,
    "metrics": MetricRecord,
    "scores": ScoreRecord,
}
THINGS = tuple(CLASSES)
CONTEST = ("matches", "ratings", "decisions")


def revision_key(artifact_id: str, number: int) -> str:
    return f"{artifact_id}\x1f{number}"


def judgement_key(
    protocol: str, response_id: str, unit_id: str, rater_kind: str, rater_id: str, trial: int
) -> str:
    return "\x1f".join((protocol, response_id, unit_id, rater_kind, rater_id, str(trial)))


# For records without an id in a release, one derived from their identifying fields.
_IDS: dict[type[Record], Callable[[Any], str]] = {
    RevisionRecord: lambda r: revision_key(r.artifact_id, r.revision),
    GuidelineRecord: lambda r: derived_id("guideline", r.stage.value, r.version),
    PageRecord: lambda r: derived_id("page", r.url),
    PromptRecord: lambda r: derived_id("prompt", r.name),
    MatchRecord: lambda r: showing_id(r.rater, r.round, r.first, r.second),
    DecisionRecord: lambda r: derived_id("decision", r.task_id),
    JudgementRecord: lambda r: judgement_key(
        r.protocol, r.response_id, r.unit_id, r.rater_kind.value, r.rater_id, r.trial
    ),
}


def record_id(record: Record) -> str:
    return _IDS.get(type(record), lambda one: str(getattr(one, "id", "")))(record)


def of_file(file: str, refusal: Refusal) -> Problem:
    return Problem(file, None, str(refusal))


def in_words(error: ValueError) -> str:
    """What is wrong, of a failed validation field by field, in one sentence part."""
    if not isinstance(error, ValidationError):
        return str(error)
    parts = []
    for result in error.errors(include_url=False, include_input=False, include_context=False)[:5]:
        where = ".".join(str(part) for part in result["loc"])
        parts.append(f"“{where}” {_plain(result['type'], result['msg'])}" if where else result["msg"])
    rest = error.error_count() - len(parts)
    return "; ".join(parts) + (f"; and {rest} more" if rest > 0 else "")


def fitting(model: type[Model], tree: Any, happened: str, todo: str) -> Model:
    """The model of a tree; Refusal unless it fits, which says after `happened` what does not."""
    try:
        return model.model_validate(tree)
    except ValidationError as error:
        raise Refusal(f"{happened}: {in_words(error)}.", todo) from None


def _plain(kind: str, message: str) -> str:
    known = {"missing": "is missing", "extra_forbidden": "is not a field of this format"}
    message = re.sub(r" after validation, not (\d+)$", r", and has \1", message.removeprefix("Value error, "))
    return known.get(kind) or re.sub(r"^[A-Z][a-z]+ should", "should", message)


def retyped(raw: Any, made: Any, path: str = "") -> str:
    """The path of a value that validation retyped, true for 1 or 1.0 for 1; empty if there is none.

    Pydantic compares the values of a Literal by ==, even in strict mode.
    """
    if isinstance(raw, dict) and isinstance(made, dict):
        pairs: Iterable[tuple[str, Any, Any]] = (
            (f"{path}.{key}", raw[key], made[key]) for key in raw if key in made
        )
    elif isinstance(raw, list) and isinstance(made, Sequence) and not isinstance(made, str):
        pairs = ((f"{path}[{n}]", *pair) for n, pair in enumerate(zip(raw, made, strict=False)))
    else:
        wrong = isinstance(raw, bool) is not isinstance(made, bool)
        wrong = wrong or (isinstance(raw, float) and isinstance(made, int))
        return path.lstrip(".") if wrong else ""
    return next((result for where, a, b in pairs if (result := retyped(a, b, where))), "")


# Protocol, kind of rater, rater, and status of judgements.
TallyKey = tuple[str, RaterKind, str, Status]


def laid_aside(pieces: Iterable[bytes], what: str) -> Pieces:
    """The same pieces from an unnamed file, so that they are produced once; Refusal if the disk has no room
    for them.
    """
    file, lengths = tempfile.TemporaryFile(), list[int]()  # noqa: SIM115 - as long as what reads it

    def read() -> Iterator[bytes]:
        for length, end in zip(lengths, accumulate(lengths), strict=True):
            # Two readers may alternate.
            file.seek(end - length)
            yield file.read(length)

    made = Pieces(read)
    weakref.finalize(made, file.close)
    try:
        lengths += map(file.write, pieces)
        file.flush()
    except OSError as error:
        raise Refusal(
            f"The {what} could not be laid aside for the release: {error.strerror or error}.",
            "Free some space in the temporary folder and try again.",
        ) from error
    return made


class Spool(Collection[JudgementRecord]):
    """Judgements stored in a temporary file, in order; each reading starts at the first."""

    def __init__(self, records: Iterable[JudgementRecord]) -> None:
        self.tally = Counter[TallyKey]()
        self._pieces = laid_aside(map(self._lines, stretches(records, AT_ONCE)), "judgements")

    def _lines(self, records: Sequence[JudgementRecord]) -> bytes:
        self.tally.update(map(_tally_key, records))
        return b"".join(record.model_dump_json().encode() + b"\n" for record in records)

    def trees(self) -> Iterator[dict[str, Any]]:
        return (orjson.loads(line) for piece in self._pieces for line in piece.splitlines())

    def __iter__(self) -> Iterator[JudgementRecord]:
        return (JudgementRecord(**tree) for tree in self.trees())

    def __len__(self) -> int:
        return self.tally.total()

    def __contains__(self, record: object) -> bool:
        return any(each == record for each in self)


def trees(records: Iterable[Record]) -> Iterator[dict[str, Any]]:
    return (
        records.trees()
        if isinstance(records, Spool)
        else (record.model_dump(mode="json") for record in records)
    )


def tally(judgements: Iterable[JudgementRecord]) -> Counter[TallyKey]:
    """The number of judgements by protocol, kind of rater, rater and status."""
    return judgements.tally if isinstance(judgements, Spool) else Counter(map(_tally_key, judgements))


def _tally_key(record: JudgementRecord) -> TallyKey:
    return record.protocol, record.rater_kind, record.rater_id, record.status


# The length of the quotation of a text where it changed.
_QUOTED = 80


def differences(old: Bundle, new: Bundle) -> dict[str, list[str]]:
    """The changes from one release to another, by kind, each as a sentence; a kind without changes is left out."""
    made = {"items": list(_changed_items(old, new))}
    made |= {spec.table: list(_changed_units(old, new, kind)) for kind, spec in KINDS.items()}
    made |= {"judgements": list(_changed_judgements(old, new)), "scores": list(_changed_scores(old, new))}
    return {kind: sentences for kind, sentences in made.items() if sentences}


def _quoted(text: str) -> str:
    words = " ".join(text.split())
    return f"“{words[: _QUOTED - 1]}…”" if len(words) > _QUOTED else f"“{words}”"


def _changed_items(old: Bundle, new: Bundle) -> Iterator[str]:
    before, after = ({item.id: item for item in bundle.items} for bundle in (old, new))
    for own, item in sorted((before | after).items(), key=lambda one: one[1].key):
        if own not in after:
            yield f"Item {item.key} was retired."
        elif own not in before:
            yield f"Item {item.key} was added: {_quoted(item.question)}."
        elif before[own].question != item.question:
            yield f"Item {item.key} was reworded: {_quoted(item.question)}, before {_quoted(before[own].question)}."
        elif fields := [
            name for name in ItemRecord.model_fields if getattr(before[own], name) != getattr(item, name)
        ]:
            yield f"Item {item.key}: {', '.join(fields).replace('_', ' ')} changed."


def _gold(bundle: Bundle, kind: Kind) -> dict[str, dict[str, dict[str, Any]]]:
    """By item the units of its settled document of a kind; if none is settled, those of all."""
    documents = grouped((record.item_id, record) for record in bundle.artifacts if record.kind is kind)
    chosen = {item_id: [gold] if (gold := settled(those)) else those for item_id, those in documents.items()}
    return {
        item_id: {unit["id"]: unit for one in those for unit in one.document["units"]}
        for item_id, those in chosen.items()
    }


def _changed_units(old: Bundle, new: Bundle, kind: Kind) -> Iterator[str]:
    """The changed units; a unit is matched by its id, or else by its words."""
    keys = {item.id: item.key for bundle in (old, new) for item in bundle.items}
    before, after, name = _gold(old, kind), _gold(new, kind), KINDS[kind].unit
    for item_id in sorted(before.keys() | after.keys(), key=lambda own: keys[own]):
        was, now = before.get(item_id, {}), after.get(item_id, {})
        by_words = {unit["text"]: unit for own, unit in was.items() if own not in now}
        pairs = [(was.get(own) or by_words.pop(unit["text"], None), unit) for own, unit in now.items()]
        head = f"Item {keys[item_id]}: the {name}"
        for known, unit in pairs:
            yield from _changed_unit(head, known, unit)
        for unit in by_words.values():
            yield f"{head} {_quoted(unit['text'])} was removed."


def _changed_unit(head: str, known: Mapping[str, Any] | None, unit: Mapping[str, Any]) -> Iterator[str]:
    words = _quoted(unit["text"])
    if known is None:
        yield f"{head} {words} was added."
        return
    if known["text"] != unit["text"]:
        yield f"{head} {_quoted(known['text'])} was reworded: {words}."
    for name, value in unit.items():
        if name not in ("id", "text", "note", "anchor", "more_anchors") and known.get(name) != value:
            yield f"{head} {words}: {name.replace('_', ' ')} changed from {known.get(name)} to {value}."


def _changed_judgements(old: Bundle, new: Bundle) -> Iterator[str]:
    before, after = (
        {record_id(record): record.value for record in bundle.judgements} for bundle in (old, new)
    )
    changes = Counter[tuple[str, str]]()
    for own in before.keys() | after.keys():
        protocol, _, _, rater_kind, *_ = own.split("\x1f")
        what = "added" if own not in before else "removed" if own not in after else "changed"
        if what != "changed" or before[own] != after[own]:
            changes[f"{protocol}, by a {rater_kind}", what] += 1
    for (of, what), many in sorted(changes.items()):
        yield f"{counted(many, 'judgement')} {'was' if many == 1 else 'were'} {what} ({of})."


def _changed_scores(old: Bundle, new: Bundle) -> Iterator[str]:
    """The number of changed figures, and which systems changed ranks in a figure over all items."""
    named = ("protocol", "metric", "rater", "group", "group_by", "system")
    before, after = (
        {tuple(getattr(record, name) for name in named): record.value for record in bundle.scores}
        for bundle in (old, new)
    )
    changed = sum(before.get(own) != after.get(own) for own in before.keys() | after.keys())
    if changed:
        yield f"{counted(changed, 'figure')} of {len(before.keys() | after.keys()):,} changed."
    ranks, then = _ranks(new), _ranks(old)
    for of in sorted(ranks.keys() & then.keys()):
        moved = [
            f"{system} from {then[of][system]} to {rank}"
            for system, rank in ranks[of].items()
            if then[of].get(system, rank) != rank
        ]
        if moved:
            yield f"Ranks by {of[1]} ({of[0]}, {of[2]}): {', '.join(moved)}."


def _ranks(bundle: Bundle) -> dict[tuple[str, str, str], dict[str, int]]:
    """The rank of each system by protocol, metric and rater, the best first; equal values share theirs."""
    lower = {(one.protocol, one.metric) for one in bundle.metrics if not one.higher_is_better}
    values = nested(
        ((record.protocol, record.metric, record.rater), record.system, record.value)
        for record in bundle.scores
        if record.group == "all" and record.system and record.value is not None
    )
    return {
        of: {
            system: 1
            + sum((other < value) if of[:2] in lower else (other > value) for other in systems.values())
            for system, value in systems.items()
        }
        for of, systems in values.items()
    }
