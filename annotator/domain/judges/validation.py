"""Validation sets: responses sampled at random and labelled by people, to compare judges with."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from itertools import pairwise
from typing import Annotated, Any, Literal, Self

from pydantic import Field

from annotator.domain.common import FrozenRecord, Text, canonical_json, sha256
from annotator.domain.stored import JudgeKind, OpeningFields, Stored
from annotator.domain.texts.estimate import Estimate


class Split(StrEnum):
    """The two parts of a set: one to choose and mend judges by, one to report."""

    DEV = "dev"
    TEST = "test"


class Sampled(FrozenRecord):
    """A response that was drawn, with what it was drawn by and the part that its item belongs to."""

    response_id: str
    item_id: str
    question_type: str = ""
    system_id: str
    quartile: int = Field(
        ge=1, le=4, description="1 for the shortest quarter of all reports, 4 for the longest"
    )
    split: Split


class Draw(FrozenRecord):
    """How a set was drawn. `units` is what was wanted for an interval so wide, `effect` its design effect."""

    seed: int
    test_share: Annotated[float, Field(ge=0, le=1)]
    width: float | None = Field(default=None, description="The wanted width of a share's 95 % interval")
    share: float = Field(default=0.5, description="The share for which the width was wanted")
    likeness: float = Field(default=0.1, description="How alike units of one item were taken to be, 0 to 1")
    effect: float | None = None
    units: int | None = None
    raters: int = Field(ge=2, description="How many people label each item")


class Content(FrozenRecord):
    """What a set holds: its draw, the responses, who labels which item, and who labels nothing else of it."""

    draw: Draw
    responses: tuple[Sampled, ...]
    dealt: dict[str, tuple[str, ...]] = Field(description="Item → the people who label it, by id")
    narrowed: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="Item → those of them who are dealt the responses that were drawn, and no other of it",
    )


class FirstLabel(FrozenRecord):
    """What a person said of a unit when the set was locked; that stays the metric. None: unsure."""

    response_id: str
    unit_id: str
    person_id: str
    value: str | None


class Opening(Stored, OpeningFields):
    """An opening as plain data, outside the database."""


# A span of the report in characters, half-open; or inserted words.
Piece = tuple[int, int] | str
Pieces = tuple[Piece, ...]
# An unchanged report has no pieces.
UNTOUCHED: Pieces = ()


@dataclass(frozen=True, slots=True)
class PlantedText:
    """Characters [start, end) of a copy that the report does not have there: `moved` ones are elsewhere in it."""

    start: int
    end: int
    moved: bool = False


def copied(report: str, pieces: Pieces) -> str:
    return "".join(words for words, _ in _laid(report, pieces)) if pieces else report


def planted(report: str, pieces: Pieces) -> tuple[PlantedText, ...]:
    """The differences of a copy from the report: inserted words, and passages in another place."""
    result, at, end = [], 0, 0
    for words, start in _laid(report, pieces):
        if start is None and words.strip():
            result.append(PlantedText(at, at + len(words)))
        elif start is not None and start < end:
            result.append(PlantedText(at, at + len(words), moved=True))
        end = max(end, start + len(words)) if start is not None else end
        at += len(words)
    return tuple(result)


def left_out(report: str, pieces: Pieces) -> tuple[PlantedText, ...]:
    spans = sorted(piece for piece in pieces if not isinstance(piece, str))
    edges = [(0, 0), *spans, (len(report), len(report))] if pieces else []
    result, reached = [], 0
    for (_, end), (start, _) in pairwise(edges):
        reached = max(reached, end)
        if report[reached:start].strip():
            result.append(PlantedText(reached, start))
    return tuple(result)


def _laid(report: str, pieces: Pieces) -> Iterator[tuple[str, int | None]]:
    """The words of each piece, and their offset in the report; None for inserted words."""
    for piece in pieces:
        yield (piece, None) if isinstance(piece, str) else (report[slice(*piece)], piece[0])


class AttackedQuestion(FrozenRecord):
    """A question that is asked again over attacked copies: its units in the order asked, and the judge's own
    verdicts.
    """

    item_id: str
    response_id: str
    asked: tuple[str, ...]
    own: dict[str, str] = Field(description="Unit → the verdict on the report as it is")


class AttackContent(FrozenRecord):
    """The order of a test, and its random sample."""

    attacks: tuple[str, ...]
    size: int | None = None
    width: float = 0.2
    seed: int = 1
    writer_id: str = Field(
        default="", description="In earlier versions: the judge whose model reworded reports"
    )
    trial: int = Field(default=1, description="The trial under which unchanged reports are asked about again")
    drawn: tuple[AttackedQuestion, ...] = ()
    unfit: dict[str, tuple[str, ...]] = Field(
        default_factory=dict,
        description="In earlier versions: attack → the responses of which it made no copy",
    )
    available: int = Field(default=0, description="How many verdicts could have been drawn")


FORMAT: Literal["goldsmith-validity-card"] = "goldsmith-validity-card"
FORMAT_VERSION = "1.0"
NO_HASH = "0" * 64


class Reach(StrEnum):
    """Where a judge's endpoint lies; its address is never on a card."""

    NONE = "no endpoint"
    HERE = "this machine"
    NEAR = "a private network"
    FAR = "the internet"


class Figure(FrozenRecord):
    """A number with its 95 % interval. Without a value `note` says why; `n` is what it was computed over."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int = 0
    missing: int = 0
    floor: float | None = Field(default=None, description="With what is missing, it would not be less")
    ceiling: float | None = Field(default=None, description="With what is missing, it would not be more")
    method: str = ""
    note: str = ""

    @classmethod
    def of(cls, estimate: Estimate) -> Self:
        return cls(**{name: getattr(estimate, name) for name in cls.model_fields})


class Wording(FrozenRecord):
    """A prompt by name, and the hash of its text."""

    name: str
    sha256: str
    version: int = Field(description="Its number in the project where the card was made; 1 is as shipped")


class Identity(FrozenRecord):
    """What makes a judge this judge: every field is pinned, but for the versions of its wordings.

    `forms` and `returned_models` are as its calls show them; they are empty where no call was made.
    """

    kind: JudgeKind
    model: Text = Field(default="", description="As it is asked for; of a path only the last name")
    parameters: dict[str, Any] = Field(
        default_factory=dict, description="What is sent with each request, without keys, addresses and paths"
    )
    protocol: str
    values: tuple[str, ...] = Field(description="The verdicts that it may give")
    weighting: Literal["by weight", "alike"] = Field(description="How units count in weighted figures")
    prompt_sha256: str = Field(default="", description="The hash of its prompt; of several, of their hashes")
    prompts: tuple[Wording, ...] = Field(
        default=(), description="Each of them; empty where they are not known"
    )
    together: int = Field(default=1, ge=1, description="Units in one call")
    weights_shown: bool = Field(default=False, description="Whether it is told what a unit weighs")
    forms: tuple[str, ...] = Field(
        default=(), description="In which form it answered: json_schema, json_object, text"
    )
    returned_models: tuple[Text, ...] = Field(
        default=(), description="The models that the server said it was"
    )
    program: str = Field(
        default="", description="Of the baseline, the version of the program that it is part of"
    )
    over: str = Field(default="", description="Of a vote: whether judges are counted, or trials of one")
    members: tuple["Identity", ...] = Field(
        default=(), description="Of a vote: those whose verdicts it counts"
    )


class Labeller(FrozenRecord):
    """Somebody whose labels count as true, by alias, and how many labels; what is unsure is none."""

    alias: Text
    labels: int


class Labels(FrozenRecord):
    """Where the labels come from that a judge was held against."""

    source: Literal["set", "submitted"] = Field(description="A drawn set, or all labels that were submitted")
    set_name: Text = ""
    part: Literal["", "dev", "test", "whole"] = ""
    draw: Draw | None = None
    drawn_at: datetime | None = None
    locked_at: datetime | None = None
    locked_sha256: str = Field(default="", description="The hash of all first labels of the set")
    opened_at: tuple[datetime, ...] = Field(default=(), description="Every look at the test part so far")
    labels_sha256: str = Field(description="The hash of the labels that these figures were computed on")
    against: Text = Field(description="Who counts as true, in words")
    labellers: tuple[Labeller, ...]
    units: int
    responses: int
    items: int
    systems: int
    set_responses: dict[Split, int] = Field(default_factory=dict, description="Part → responses in it")


class Confused(FrozenRecord):
    """How often a true value was called something."""

    truth: str
    said: str
    units: float
    weight: float


class Line(FrozenRecord):
    """Somebody held against the truth within a group: the judge, all people together, or a person by alias.

    `plain` and `weighted` hold the figures by name, each unit counting one, or its weight.
    """

    by: str = Field(description="What groups are told apart by; “all” for everything at once")
    group: Text
    who: Literal["judge", "people", "person"]
    name: Text
    units: int = Field(description="Units with a true value")
    plain: dict[str, Figure]
    weighted: dict[str, Figure]
    confusion: tuple[Confused, ...] = ()
    missing: dict[str, int] = Field(default_factory=dict, description="Cause → units without a verdict")

    @property
    def missing_rate(self) -> float | None:
        return sum(self.missing.values()) / self.units if self.units else None


class Definition(FrozenRecord):
    """What a figure of a name is."""

    name: str
    title: str
    words: str


class Reviews(FrozenRecord):
    """What experts said who were shown the judge's verdicts: informed labels, which enter no other figure."""

    accepted: Figure
    said: dict[str, int]
    reasons: dict[str, int] = Field(default_factory=dict, description="Why verdicts were not accepted")
    outdated: int = Field(default=0, description="Reviews of verdicts that were replaced since")


class CorrectedSystem(FrozenRecord):
    """A system's coverage by the judge alone, and corrected by people's labels."""

    system: Text
    raw: Figure
    corrected: Figure
    tuning: float | None = Field(description="How far the judge is trusted, λ: 0 not at all, 1 fully")
    labels: int
    units: int


class Corrected(FrozenRecord):
    """The corrected leaderboard; where there is none, `notes` say why."""

    systems: tuple[CorrectedSystem, ...] = ()
    notes: tuple[Text, ...] = ()


class Attacked(FrozenRecord):
    """An attack on copies of reports: how often the judge fell for it."""

    name: str
    title: Text
    failures: Figure
    note: Text = ""


class ValidityCard(FrozenRecord):
    """One judge under one wording, validated on one body of labels. `made_at` alone changes where nothing else did."""

    format: Literal["goldsmith-validity-card"] = FORMAT
    format_version: str = FORMAT_VERSION
    app_version: str
    made_at: datetime
    project: Text = Field(default="", description="The title of the project in which it was made")
    name: Text = Field(description="The judge's name there")
    protocol_title: Text
    citation: Text = ""
    reach: Reach
    judge: Identity
    labels: Labels
    positive: str = Field(default="", description="The value that precision and recall are of")
    definitions: tuple[Definition, ...]
    lines: tuple[Line, ...]
    cost: Figure = Field(description="Of a question, in US dollars, the mean")
    missing_limit: float = Field(
        description="The share of missing verdicts above which figures are not publishable"
    )
    reviews: Reviews | None = None
    corrected: Corrected = Corrected()
    attacks: tuple[Attacked, ...] = ()
    notes: tuple[Text, ...] = ()
    sha256: str = Field(
        default=NO_HASH, description="SHA-256 of the card's canonical JSON without this field: no signature"
    )

    def tree(self) -> dict[str, Any]:
        return self.model_dump(mode="json")

    def sealed(self) -> Self:
        return self.model_copy(update={"sha256": tree_sha256(self.tree())})

    @property
    def is_sealed(self) -> bool:
        return self.sha256 != NO_HASH

    def of(self, who: str, by: str = "all", group: str = "all") -> Line | None:
        """The judge's line or people's within a group; None if there is none."""
        return next(
            (line for line in self.lines if (line.who, line.by, line.group) == (who, by, group)), None
        )

    @property
    def unfit(self) -> bool:
        """Whether too much is missing for the figures to be published."""
        line = self.of("judge")
        return line is not None and (line.missing_rate or 0.0) > self.missing_limit


def tree_sha256(tree: dict[str, Any]) -> str:
    """The hash of a card's tree, ignoring the hash in it."""
    return sha256(canonical_json({name: value for name, value in tree.items() if name != "sha256"}))


class Difference(FrozenRecord):
    """A pinned part that differs from the card: its value there, its present value, and the remedy."""

    part: str
    on_card: str
    now: str
    todo: str

    def words(self) -> str:
        return f"{self.part}: {self.on_card} on the card, {self.now} now. {self.todo}"


AGAIN = "Validate the judge again."
# Pinned part → its name, and the remedy if it differs.
PINNED: dict[str, tuple[str, str]] = {
    "kind": ("kind of judge", "Choose a judge of that kind."),
    "model": ("model", "Define a judge with that model, or validate this one."),
    "parameters": ("request parameters", "Give the judge these parameters, or validate it again."),
    "protocol": ("protocol", "Judge by that protocol: the card says nothing of another."),
    "values": ("verdicts", f"The protocol is another since. {AGAIN}"),
    "weighting": ("how units count", f"The protocol is another since. {AGAIN}"),
    "prompt_sha256": ("prompt", "Use the prompt with that hash, or validate the judge with the current one."),
    "together": ("units in one call", "Ask it so many at once, or validate it again."),
    "weights_shown": ("told what units weigh", "Change that in the judge's settings, or validate it again."),
    "forms": ("form of its answers", f"Have the endpoint answer in that form. {AGAIN[:-1]} where it cannot."),
    "returned_models": ("model that answers", f"The server has another model under this name. {AGAIN}"),
    "program": ("version of the program", f"The baseline may read otherwise. {AGAIN}"),
    "over": ("what the vote counts", "Choose the vote that counts these."),
    "members": ("members of the vote", "Choose the vote of these members."),
}  # fmt: skip
# Known from calls only: without any, they cannot be compared.
SEEN = frozenset({"forms", "returned_models"})


def differences(card: Identity, now: Identity) -> tuple[Difference, ...]:
    """Every pinned part of a judge that differs from its card, except parts known from calls if there are none."""
    return tuple(_differing(card, now))


def _differing(card: Identity, now: Identity, whose: str = "") -> Iterator[Difference]:
    for part, (title, todo) in PINNED.items():
        before, after = getattr(card, part), getattr(now, part)
        if part == "members" and len(before) == len(after):
            for place, identity, other in _paired(before, after):
                yield from _differing(identity, other, f"{whose}member {place}, ")
        elif part in SEEN and (not before or set(after) <= set(before)):
            continue
        elif before != after:
            yield Difference(
                part=whose + title, on_card=_words(part, before), now=_words(part, after), todo=todo
            )


def _paired(
    before: tuple[Identity, ...], after: tuple[Identity, ...]
) -> Iterator[tuple[int, Identity, Identity]]:
    """The differing members of two votes, paired in their order; equal ones are left out."""
    rest, alone = list(after), []
    for place, identity in enumerate(before, 1):
        same = next((other for other in rest if not any(_differing(identity, other))), None)
        if same is None:
            alone.append((place, identity))
        else:
            rest.remove(same)
    for (place, identity), other in zip(alone, rest, strict=True):
        yield place, identity, other


def _words(part: str, value: Any) -> str:
    if part == "members":
        return ", ".join(one.model or one.kind.value for one in value) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return canonical_json(value).decode()
    if isinstance(value, tuple):
        return ", ".join(value) or "not known"
    return str(value) or "none"
