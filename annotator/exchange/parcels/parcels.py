"""The content of task files and work files, entry by entry: an allow-list, so nothing else can leave by accident."""

import operator
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Annotated, Any, ClassVar, Self, TypeVar

import orjson
from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    Field,
    ValidationError,
    model_validator,
)
from sqlmodel import SQLModel

from annotator.domain.common import Refusal, Text, canonical_json, sha256
from annotator.domain.experts.adjudication import LETTERS, Agreement, DraftReview, Ruling, StageDigest
from annotator.domain.kinds.documents import document_of
from annotator.domain.kinds.kind import Kind, Stage
from annotator.domain.material.extract import PARTS, ResponsePart
from annotator.domain.stored import (
    GuidelineFields,
    ItemFields,
    PageFields,
    PageState,
    PersonFields,
    SourceFields,
    SourceFormat,
    SourceKind,
)
from annotator.exchange.parcels.packages import ADJUDICATIONS, AGAIN, Package
from annotator.exchange.release.bundle import fitting, in_words

PDFS = "sources/"
FIRST_YEAR, LAST_YEAR = 1970, 2999
# Leaves room to count on from there in the integers of any database.
Count = Annotated[int, Field(ge=0, le=10**9)]
ID_LENGTH = 36
Id = Annotated[Text, Field(min_length=1, max_length=ID_LENGTH)]
Hash = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]


def _in_utc(moment: datetime) -> datetime:
    """The same moment in UTC; ValueError outside the range that every system can show."""
    if not FIRST_YEAR < moment.year <= LAST_YEAR:
        raise ValueError(f"should lie between {FIRST_YEAR} and {LAST_YEAR}")
    return moment.astimezone(UTC)


Moment = Annotated[AwareDatetime, AfterValidator(_in_utc)]


class _Entry(BaseModel, frozen=True, extra="allow", allow_inf_nan=False, defer_build=True):
    """A record of a package; fields that a later minor version added are kept.

    `ROW` is the class that its row must fit, and no two records of an entry are equal in any of `DISTINCT`.
    """

    ROW: ClassVar[type[SQLModel] | None] = None
    DISTINCT: ClassVar[tuple[tuple[str, ...], ...]] = ()

    def __init_subclass__(
        cls, row: type[SQLModel] | None = None, distinct: tuple[tuple[str, ...], ...] = (), **how: Any
    ) -> None:
        super().__init_subclass__(**how)
        cls.ROW, cls.DISTINCT = row, distinct


class _Known(_Entry):
    """A record with an id of its own."""

    id: Id


class _OfItem(_Entry):
    """A record of an item."""

    item_id: Id


class TaskPerson(_Known, row=PersonFields, distinct=(("id",),)):
    """The recipient of a task."""

    name: Text
    alias: Text


class TaskItem(_Known, row=ItemFields, distinct=(("id",), ("key",))):
    """An item as its annotator sees it."""

    key: Text
    question: Text
    question_type: Text = ""
    subject: Text = ""
    language: str = "en"
    position: Count = 0
    traits: dict[str, Text] = {}


class TaskSource(_OfItem, _Known, row=SourceFields, distinct=(("id",),)):
    """A source; the bytes of a PDF are beside it under `sources/`."""

    title: Text
    format: SourceFormat
    text: Text = ""
    identifier: Text = ""
    position: Count = 0
    drafted: Text = ""
    kind: SourceKind = SourceKind.UNKNOWN
    published: Text = ""
    transcript: Text = Field(default="", exclude_if=operator.not_)


class TaskReport(_OfItem, _Known, distinct=(("id",),)):
    """A report to be labelled, under an alias that only the coordinator can resolve."""

    text: Text
    group: int = Field(
        default=1, ge=1, le=10**6, description="Reports of one group are compared with one another"
    )
    exemplar: bool = Field(
        default=False, exclude_if=operator.not_, description="Written by people, to compare reports with"
    )


class TaskPart(_Entry, distinct=(("report_id", "part"),)):
    """A part extracted from a report: its claims, its plan, its references."""

    report_id: Id
    part: ResponsePart
    document: dict[str, Any]

    @model_validator(mode="after")
    def _fits(self) -> "TaskPart":
        try:
            PARTS[self.part].model_validate(self.document)
        except ValidationError as error:
            raise ValueError(f"its document does not fit: {in_words(error)}") from None
        return self


class TaskPage(_Entry, row=PageFields, distinct=(("url",),)):
    """A page that claims cite, or why it could not be read."""

    url: Text
    state: PageState
    text: Text = ""
    title: Text = ""
    cause: Text = ""
    fetched_at: Moment


class _ItemDocument(_OfItem):
    """A document of one kind on an item."""

    kind: Kind
    document: dict[str, Any]

    @model_validator(mode="after")
    def _fits(self) -> Self:
        refuse_unfit(self.kind, self.document)
        return self


class TaskDocument(_ItemDocument, distinct=(("id",), ("item_id", "kind"))):
    """A settled document that reports are labelled by, without notes."""

    id: Id


class TaskAssignment(_OfItem, distinct=(("item_id", "stage"),)):
    """An assignment with its due date. A silent repeat looks like any other."""

    stage: Stage
    pilot: bool = False
    due: Moment | None = None
    protocols: Text = Field(default="", max_length=400, description="Of labelling; empty for the usual")
    review: bool = False


class TaskDraft(_ItemDocument, distinct=(("item_id", "kind"),)):
    """A submitted draft that this person reviews, openly."""

    author: Text
    revision: int = Field(ge=1, le=10**9)


class TaskReview(_Entry, distinct=(("artifact_id",),)):
    """A review of this person's draft, for them to answer."""

    artifact_id: Id
    item_id: Id
    review: DraftReview
    document: dict[str, Any]

    @model_validator(mode="after")
    def _fits(self) -> "TaskReview":
        refuse_unfit(self.review.kind, self.document)
        refuse_unfit(self.review.kind, self.review.draft)
        return self


class TaskGuideline(_Entry, row=GuidelineFields, distinct=(("stage",),)):
    """The guideline in force for a stage."""

    stage: Stage
    version: int = Field(ge=1, le=10**9)
    text: Text
    at: Moment


class TaskFeedback(_OfItem, distinct=(("item_id",),)):
    """The fate of this person's work on an item."""

    digest: tuple[StageDigest, ...]

    @model_validator(mode="after")
    def _of_one_item(self) -> "TaskFeedback":
        if any(each.item_id != self.item_id for each in self.digest):
            raise ValueError("it tells of another item")
        return self


class TaskAdjudication(_OfItem, distinct=(("item_id", "stage"),)):
    """An adjudication of a stage of an item: sealed documents under masks, and their frozen agreement.

    The agreement names masks in place of people, and its id is known to the coordinator alone.
    """

    stage: Stage
    agreement: Agreement
    documents: dict[Id, dict[str, Any]] = Field(min_length=2, description="By mask")

    @model_validator(mode="after")
    def _hangs_together(self) -> Self:
        frozen, hashes = self.agreement, {mask: hash_of(tree) for mask, tree in self.documents.items()}
        if (frozen.item_id, frozen.stage) != (self.item_id, self.stage):
            raise ValueError("its agreement is of another item or stage")
        if {one.person_id: one.sha256 for one in frozen.inputs} != hashes:
            raise ValueError("its documents are not those of its agreement")
        for tree in self.documents.values():
            refuse_unfit(_adjudicated(self.stage), tree)
        units = {mask: Counter(unit["id"] for unit in tree["units"]) for mask, tree in self.documents.items()}
        for pair in frozen.pairs:
            a = Counter([*pair.only_a, *(each.a for each in pair.matched)])
            b = Counter([*pair.only_b, *(each.b for each in pair.matched)])
            if (a, b) != (units.get(pair.a), units.get(pair.b)):
                raise ValueError("its agreement is not over all units of its documents")
        return self


def hash_of(tree: dict[str, Any]) -> str:
    return sha256(canonical_json(tree))


def _adjudicated(stage: Stage) -> Kind:
    """The kind of document that an adjudication is about; ValueError for stages adjudicated only by the coordinator."""
    if stage.kind is None or stage is Stage.LABELLING:
        raise ValueError("this stage is not adjudicated by file")
    return stage.kind


class WorkRevision(_Entry):
    """A sealed revision. `skipped` holds the hashes of the unsealed ones between it and the sealed one before."""

    number: int = Field(ge=1, le=10**9)
    content: dict[str, Any]
    sha256: Hash
    chain: Hash
    skipped: tuple[Hash, ...] = ()
    guideline: Text = Field(max_length=40)
    form: Text = Field(max_length=40)
    reason: Text = ""
    at: Moment


class DraftedUnit(_Entry):
    """A unit that its author adopted from a model's draft: of which draft, judge and model."""

    unit_id: Text = Field(min_length=1, max_length=80)
    draft: Text = Field(max_length=80)
    judge: Text = Field(default="", max_length=120)
    model: Text = Field(default="", max_length=400)


class WorkArtifact(_OfItem, _Known, distinct=(("id",), ("item_id", "kind"))):
    """All sealed revisions of one of the person's artifacts, the active seconds spent on it, and its drafted units."""

    kind: Kind
    revisions: tuple[WorkRevision, ...] = Field(min_length=1)
    seconds: float = Field(default=0.0, ge=0)
    drafted: tuple[DraftedUnit, ...] = ()
    review: DraftReview | None = Field(
        default=None, description="Of a review: its form, and the draft it began with"
    )

    @model_validator(mode="after")
    def _fits(self) -> "WorkArtifact":
        for revision in self.revisions:
            refuse_unfit(self.kind, revision.content)
        return self


class WorkDispute(_OfItem, distinct=(("item_id",),)):
    """The person's objection to the consensus of an item."""

    stage: Stage
    text: Text = Field(min_length=1, max_length=20_000)
    at: Moment


class WorkAnswer(_Entry, distinct=(("artifact_id",),)):
    """The person's answer to a review of their draft."""

    artifact_id: Id
    agreed: bool
    text: Text = Field(default="", max_length=20_000)
    at: Moment


class WorkVersion(_Entry):
    """A closed version of an adjudication: the ruling on each row, and the resulting consensus."""

    rulings: tuple[Ruling, ...] = Field(min_length=1)
    consensus: dict[str, Any]
    at: Moment


class WorkRemark(_Known):
    """A note of the adjudicator on an adjudication or one of its rulings."""

    subject: Id
    text: Text = Field(min_length=1, max_length=20_000)
    at: Moment


class WorkAdjudication(_OfItem, distinct=(("item_id", "stage"),)):
    """All closed versions of an adjudication, the first one first, and their inputs.

    `agreement` is its id in the task; `letters` maps each letter of the rulings to its mask, `documents` each mask to
    the hash of its document.
    """

    stage: Stage
    agreement: Id
    letters: dict[str, Id]
    documents: dict[Id, Hash]
    versions: tuple[WorkVersion, ...] = Field(min_length=1)
    remarks: tuple[WorkRemark, ...] = ()

    @model_validator(mode="after")
    def _fits(self) -> Self:
        known = sorted(self.letters) == list(LETTERS[: len(self.letters)])
        if not known or sorted(self.letters.values()) != sorted(self.documents):
            raise ValueError("its letters do not stand for its documents")
        for version in self.versions:
            refuse_unfit(_adjudicated(self.stage), version.consensus)
            if len({ruling.id for ruling in version.rulings if len(ruling.id) <= ID_LENGTH}) < len(
                version.rulings
            ):
                raise ValueError("its rulings have no ids of their own")
            places = [ruling.position for ruling in version.rulings]
            if places != sorted(set(places)):
                raise ValueError("its rulings are not in their order")
            if any(not ruling.members.keys() <= self.letters.keys() for ruling in version.rulings):
                raise ValueError("a ruling speaks of a letter that nobody stands for")
        return self


def refuse_unfit(kind: Kind, tree: dict[str, Any]) -> None:
    """ValueError unless a document is one of its kind and no two of its units have the same id."""
    try:
        units = document_of(kind, tree).units
    except ValidationError as error:
        raise ValueError(f"its document does not fit: {in_words(error)}") from None
    if len({unit.id for unit in units}) < len(units):
        raise ValueError("two units of a document have the same id")


TASK_ENTRIES: dict[str, type[_Entry]] = {
    "person.json": TaskPerson,
    "items.json": TaskItem,
    "sources.json": TaskSource,
    "reports.json": TaskReport,
    "parts.json": TaskPart,
    "pages.json": TaskPage,
    "documents.json": TaskDocument,
    "assignments.json": TaskAssignment,
    "guidelines.json": TaskGuideline,
    "feedback.json": TaskFeedback,
    "drafts.json": TaskDraft,
    "reviews.json": TaskReview,
    ADJUDICATIONS: TaskAdjudication,
}
WORK_ENTRIES: dict[str, type[_Entry]] = {
    "artifacts.json": WorkArtifact,
    "disputes.json": WorkDispute,
    "answers.json": WorkAnswer,
    ADJUDICATIONS: WorkAdjudication,
}
E = TypeVar("E", bound=_Entry)


def packed(records: Mapping[str, list[_Entry]]) -> dict[str, bytes]:
    """The entries of a package: each list as JSON with sorted keys, one record a line."""
    return {name: _lines([r.model_dump(mode="json") for r in listed]) for name, listed in records.items()}


def _lines(trees: list[dict[str, Any]]) -> bytes:
    return b"[\n" + b",\n".join(orjson.dumps(tree, option=orjson.OPT_SORT_KEYS) for tree in trees) + b"\n]\n"


def task(package: Package) -> dict[str, list[Any]]:
    """The records of a task by entry; Refusal names the entry, the record and the fault."""
    records = _unpacked(package, TASK_ENTRIES)
    if len(records["person.json"]) != 1:
        raise Refusal(f"“{package.name}” does not say whom it is for.", AGAIN)
    known = {item.id for item in records["items.json"]}
    for entry in (
        "sources.json",
        "reports.json",
        "documents.json",
        "assignments.json",
        "drafts.json",
        "reviews.json",
        ADJUDICATIONS,
    ):
        if any(record.item_id not in known for record in records[entry]):
            raise Refusal(f"“{package.name}”: “{entry}” tells of an item that is not in the task.", AGAIN)
    reports = {report.id for report in records["reports.json"]}
    if any(part.report_id not in reports for part in records["parts.json"]):
        raise Refusal(f"“{package.name}”: “parts.json” tells of a report that is not in the task.", AGAIN)
    return records


def work(package: Package) -> dict[str, list[Any]]:
    """The records of returned work by entry; Refusal names the entry, the record and the fault."""
    return _unpacked(package, WORK_ENTRIES)


def _unpacked(package: Package, classes: Mapping[str, type[_Entry]]) -> dict[str, list[Any]]:
    trees = package.trees()
    return {name: _records(package.name, name, trees.get(name, []), cls) for name, cls in classes.items()}


def _records(file: str, entry: str, trees: Any, cls: type[E]) -> list[E]:
    if not isinstance(trees, list):
        raise Refusal(f"“{file}”: “{entry}” is not a list.", AGAIN)
    made = []
    for place, tree in enumerate(trees):
        where = f"“{file}”: {entry}[{place}]"
        made.append(fitting(cls, tree, where, AGAIN))
        if cls.ROW is not None:
            fitting(cls.ROW, tree, where, AGAIN)
    for names in cls.DISTINCT:
        if len({tuple(getattr(one, name) for name in names) for one in made}) < len(made):
            raise Refusal(f"“{file}”: two records of “{entry}” have the same {' and '.join(names)}.", AGAIN)
    return made
