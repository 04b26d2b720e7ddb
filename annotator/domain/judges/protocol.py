"""Protocols: how a paper defines the judging and scoring of reports, with its published figures."""

from collections import Counter
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import wraps
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol as Shape, TypeVar

from pydantic import BaseModel, Field

from annotator.domain.common import Text, counted, sha256
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.kinds.artifact import USUAL, Document, Kind, Unit, Weights
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.material.extract import PIECE_WORDS, Matching, ResponsePart, WriterAid
from annotator.domain.material.item import Item, Page, Response, Source, by_set
from annotator.domain.texts.estimate import SHARE, Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


from annotator.domain.kinds.artifact import cell_id

# Rows of cells: a match or none, None if the judgement is missing.
Matrix = tuple[tuple[bool | None, ...], ...]
# The numbers of right rows and of found columns, from a matrix and its number of columns.
Counting = Callable[[Matrix, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class MatrixSpec:
    """The rows and columns of a matrix, the two values of a cell, and its named ways of counting.

    The id of a cell is made from those of its two units by `cell_id`.
    """

    rows: ResponsePart
    columns: Kind
    match: str
    none: str
    readings: Mapping[str, Counting]
    about: str

    def cell(self, value: str | None) -> bool | None:
        """Whether a verdict is a match, None if there is none; ValueError for another value."""
        if value not in (self.match, self.none, None):
            raise ValueError(f"a cell is {self.match} or {self.none}, not {value!r}")
        return None if value is None else value == self.match

    def cells(self, rows: Sequence[Unit], columns: Sequence[Unit], values: Mapping[str, str]) -> Matrix:
        """The matrix of verdicts by cell id."""
        return tuple(
            tuple(self.cell(values.get(cell_id(row.id, column.id))) for column in columns) for row in rows
        )


class Level(StrEnum):
    """The level of measurement, by Krippendorff's names; a rank is a position in a list."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RANK = "rank"


class ValueLook(StrEnum):
    """The meaning of a value; the window has an icon and a colour for each."""

    GOOD = "good"
    BAD = "bad"
    NEITHER = "neither"
    NONE = "none"
    FIRST = "first"
    SECOND = "second"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it is stored and as people read it; `hint` explains it."""

    name: str
    words: str
    hint: str = ""
    look: ValueLook = ValueLook.STEP


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a rater may give; none if a protocol is computed.

    Values without an order are declared from the best to the worst, ordered ones from the lowest up. With
    `of_numbers` each value is named by its number; the number of any other ordered value is its position, from 0.
    `positive` counts as positive if a figure needs one. For pairs, `mirrored` maps a value to the one after the two
    change places.
    """

    level: Level = Level.NOMINAL
    values: tuple[Value, ...] = ()
    of_numbers: bool = False
    positive: str = ""
    mirrored: Mapping[str, str] = field(default_factory=dict, hash=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(value.name for value in self.values)

    @property
    def best_first(self) -> tuple[str, ...]:
        """The values in the order in which people see them: the best first; numbers from the lowest up."""
        rising = self.level is not Level.NOMINAL and not self.of_numbers
        return self.names[::-1] if rising else self.names

    def value(self, name: str) -> Value:
        """The value of that name; an unknown one, as in a file of a later version, is shown as stored."""
        return next((value for value in self.values if value.name == name), Value(name, name))

    def agreed(self, values: Sequence[str]) -> str | None:
        """The agreed value of several verdicts on one unit: that of more than half, for ordered values the median.

        None if there is none: a tie, or a median that is no value.
        """
        # Nearly always there is one verdict, or all are alike.
        if len(set(values)) == 1 and (self.level is Level.NOMINAL or values[0] in self.names):
            return values[0]
        if self.level is Level.NOMINAL:
            value, most = Counter(values).most_common(1)[0] if values else ("", 0)
            return value if 2 * most > len(values) else None
        names = sorted((value for value in values if value in self.names), key=self.number)
        low, high = (names[(len(names) - 1) // 2], names[len(names) // 2]) if names else ("", "")
        if low == high or self.level is not Level.INTERVAL:
            return low if low == high and low else None
        between = (self.number(low) + self.number(high)) / 2
        return next((name for name in self.names if self.number(name) == between), None)

    def number(self, name: str) -> float:
        """The number of a value; ValueError if values have no order, and for an unknown one."""
        if self.level is Level.NOMINAL or name not in self.names:
            raise ValueError(f"{name!r} is none of the ordered values of this scale")
        return float(name) if self.of_numbers else float(self.names.index(name))


def nominal(*values: Value, positive: str = "", mirrored: Mapping[str, str] | None = None) -> Scale:
    """Values without an order; of two the first counts as positive, unless another is named."""
    first = values[0].name if len(values) == 2 else ""
    return Scale(Level.NOMINAL, values, positive=positive or first, mirrored=mirrored or {})


def plain(*names: str) -> Scale:
    return nominal(*(Value(name, name) for name in names))


def numbers(
    low: float, high: float, step: float = 1, level: Level = Level.INTERVAL,
    hints: Mapping[range, str] | None = None,
) -> Scale:  # fmt: skip
    """Numbers from `low` to `high`; `hints` explains those of a range."""
    result = [low + place * step for place in range(round((high - low) / step) + 1)]
    meanings = {one: next((words for of, words in (hints or {}).items() if one in of), "") for one in result}
    return Scale(
        level, tuple(Value(f"{one:g}", f"{one:g}", meanings[one]) for one in result), of_numbers=True
    )


# The scale of computed protocols.
NO_VALUES = Scale()
# The scale of comparisons of two reports.
PAIR = nominal(
    Value("first", "First", "The first report is better", ValueLook.FIRST),
    Value("second", "Second", "The second report is better", ValueLook.SECOND),
    Value("tie", "Tie", "You would be content with either", ValueLook.NEITHER),
    mirrored={"first": "second", "second": "first"},
)


# The source of quoted evidence: a system's report, or a page that it cites.
REPORT, CITED_PAGE = "report", "page"


class CaseLayout(StrEnum):
    """The layout of the page: one below the other, gold against extracted units, or below two reports."""

    LIST = "list"
    MATRIX = "matrix"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Presentation:
    """The names and the layout of a protocol on the Label page.

    `tab` names it, `about` explains the task, `one` and `many` are its units. `ask` is the question if units have no
    words, `heading` is above them, `line` is what a line of the queue is, `read` the source of quoted evidence,
    `text` the name of the given text that people read in place of the report, `called` the heading of a text that is
    no report, and `rest` the value that may be given to all open units at once. `waits` says why some units cannot be
    asked about yet; `lacking` is the headline and sentence if none can, `mended_on` the page to remedy that.
    """

    tab: str
    about: str
    one: str
    many: str
    ask: str = ""
    heading: str = ""
    line: str = REPORT
    layout: CaseLayout = CaseLayout.LIST
    read: str = REPORT
    text: str = ""
    called: str = ""
    rest: str = ""
    waits: str = "not all is there that the question needs"
    lacking: tuple[str, str] = ("Nothing can be asked yet", "No report has anything that this asks about.")
    mended_on: str = "Material"

    @property
    def title(self) -> str:
        return self.heading or self.ask or self.many.capitalize()

    def counted(self, number: int) -> str:
        return counted(number, self.one, self.many)


# The presentation of protocols that people do not label by.
UNSHOWN = Presentation("", "", "unit", "units")


# Unit id → a rater's verdict.
Verdicts = Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class Material:
    """Everything known about one response: its item, gold, extracts and rivals.

    `documents` and `artifact_ids` hold the gold artifacts; `parts` and `part_ids` the parts of the response beside
    its text (its plan, its references, its claims); `pages` the cited pages by normalised address; `others` the other
    systems' responses of the same trial and mode; `facing` the item's exemplars, or for an exemplar the systems'
    responses. `sources` are the item's; only an extraction from an item gets them and the project's question types
    and subjects in use, and its `response` is one without id and text. The project allows the `weights`. For
    protocols with sampled pairs, `extracts` holds the ids of the others that this response was paired with. A
    sentence is asked about with the sources of `window` sentences on either side. A long source is read in pieces of
    about `piece_words`.
    """

    item: Item
    response: Response
    documents: Mapping[Kind, Document[Any]] = field(default_factory=dict)
    artifact_ids: Mapping[Kind, str] = field(default_factory=dict)
    parts: Mapping[ResponsePart, Document[Any]] = field(default_factory=dict)
    part_ids: Mapping[ResponsePart, str] = field(default_factory=dict)
    pages: Mapping[str, Page] = field(default_factory=dict)
    others: Sequence[Response] = ()
    facing: Sequence[Response] = ()
    sources: Sequence[Source] = ()
    weights: Weights = USUAL
    types: Sequence[QuestionType] = ()
    subjects: Sequence[str] = ()
    extracts: Mapping[str, frozenset[str]] = field(default_factory=dict)
    window: int = 1
    piece_words: int = PIECE_WORDS

    def rivals(self, protocol: str) -> list[Response]:
        """The others that this response is compared with under a protocol: all of them, or the sampled ones."""
        known = self.extracts.get(protocol)
        return [other for other in self.others if known is None or other.id in known]

    def units(self, of: Kind | ResponsePart) -> tuple[Any, ...]:
        """The units of an artifact or a part; empty if there is none."""
        result = self.documents.get(of) if isinstance(of, Kind) else self.parts.get(of)
        return result.units if result is not None else ()

    def case(
        self,
        protocol: str,
        of: Kind | ResponsePart,
        *units: Unit,
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> "Case":
        artifact_id = self.artifact_ids.get(of, "") if isinstance(of, Kind) else self.part_ids.get(of, "")
        return Case(protocol, self.item, self.response, artifact_id, units, given=given, weights=self.weights)


@dataclass(frozen=True, slots=True)
class Case:
    """One question to a rater: about one or several units of one response on an item.

    For a pair, `response` is shown first and `other` second. `given` holds further texts to read, by name. If values
    are `allowed`, people may give no other, and `why` is the reason. With `weights_shown` the judge sees each unit's
    weight, one of the `weights`.
    """

    protocol: str
    item: Item
    response: Response
    artifact_id: str
    units: tuple[Unit, ...]
    trial: int = 1
    other: Response | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    allowed: tuple[str, ...] = ()
    why: str = ""
    weights_shown: bool = False
    weights: Weights = USUAL

    @property
    def unit(self) -> Unit:
        """The unit of a case that has one; ValueError otherwise."""
        (unit,) = self.units
        return unit


R = TypeVar("R", bound=BaseModel)


class CitedSource(NamedTuple):
    """A source that a server names beside a report; `number` is that of its marker in the text, if it has one."""

    number: int | None
    title: str
    url: str


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a model: a parsed reply if the status is ok, otherwise the cause in words."""

    status: Status
    reply: Any = None
    raw: str = ""
    cause: str = ""
    flags: tuple[str, ...] = ()

    def verdict(self) -> Verdict:
        return Verdict(value=None, status=self.status, cause=self.cause, flags=" ".join(self.flags))

    def needed(self) -> Any:
        """The reply; `NoReply` if there is none."""
        if self.status is not Status.OK:
            raise NoReply(self)
        return self.reply


class NoReply(Exception):
    """An answer without a reply that can be used, where one is needed; an `extracting` function returns its cause."""

    def __init__(self, answer: Answer) -> None:
        super().__init__(answer.cause)
        self.answer = answer


class Ask(Shape):
    """The interface through which a protocol asks a model, whatever endpoint or cache is behind it.

    `prompt` names a file of `resources/prompts`; `fields` fill its placeholders in a single pass; the fields named in
    `fenced` are foreign text and are set between delimiters they cannot forge; `reply` is the class the answer must
    validate against.
    """

    def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Awaitable[Answer]: ...


@dataclass(frozen=True, slots=True)
class RatedResponse:
    """The input of a score: one rater's values on one response, and its material.

    `values` holds the existing ones by unit id. For pairs the unit id is that of the response shown second, and
    `reverse` holds, by the id of the response shown first, the values with this one shown second.
    """

    material: Material
    values: Mapping[str, str]
    reverse: Mapping[str, str] = field(default_factory=dict)


class Over(StrEnum):
    """The scope of a figure: a response (a system's is the mean over its items), all of a system's, the project."""

    RESPONSE, SYSTEM, PROJECT = "response", "system", "project"


def _of_many(_scored: RatedResponse, _over_valid: bool) -> Estimate:
    raise TypeError("a figure of many responses together is none of a single one")


@dataclass(frozen=True)
class Metric:
    """A figure of one response on one item, of all of a system's responses together, or of the whole project.

    Exactly one of three is set. `score` is called response by response, and a system's figure is the mean over its
    items; `pooled` once for all responses of a system; `table` once for the project, and returns figures by system
    id, with "" for the project as a whole. Each returns estimates without an interval, with `floor` and `ceiling` if
    judgements are missing; the last argument says whether those are left out (True) or leave the value undefined
    (False). `resampled` gives a pooled figure its interval at once: from the number of times each draw (row) includes
    each response (column) it returns the figure of every draw, NaN if undefined; without it `pooled` is called draw
    by draw if there are few responses.

    `definition` is Markdown: the formula in the paper's symbols, its section, and the meaning of undefined. `unit` is
    empty for shares, `within` the bounds of the figure. A `cost` measures the resources of a report, not its quality.
    """

    name: str
    title: str
    definition: str
    score: Callable[[RatedResponse, bool], Estimate] = _of_many
    higher_is_better: bool = True
    unit: str = ""
    parts: tuple[ResponsePart, ...] = ()
    """The parts of a response that it needs beside the text."""
    pooled: Callable[[Sequence[RatedResponse], bool], Estimate] | None = None
    table: Callable[[Sequence[RatedResponse], bool], Mapping[str, Estimate]] | None = None
    resampled: (
        Callable[[Sequence[RatedResponse], bool, "NDArray[np.float64]"], "NDArray[np.float64]"] | None
    ) = None
    fitted: "Callable[[Sequence[RatedResponse]], Metric] | None" = None
    """For a pooled figure that depends on everything compared, such as the rarity of words: the metric with that
    known.
    """
    within: tuple[float, float] = SHARE
    cost: bool = False
    by_window: Callable[[RatedResponse, bool, int], Estimate] | None = None
    """The same within a window of so many units on either side, if it has one."""
    credit: Callable[[str], float] | None = None
    """The credit of a verdict, if the score is Σ w · credit / Σ w over the units: then people's labels can correct
    it.
    """

    @property
    def over(self) -> Over:
        """The scope, by which of the three is set."""
        if self.pooled is not None:
            return Over.SYSTEM
        return Over.RESPONSE if self.table is None else Over.PROJECT


@dataclass(frozen=True)
class Composite:
    """A system's figure composed of other figures; undefined if one of them is, and its note says which.

    `of` names metrics of any protocols of the paper, `of_exemplar` those that count for an exemplar if these are
    fewer. `combine` takes their values in that order, each a number or an array of draws, and is increasing in each:
    their floors give its floor, their ceilings its ceiling.
    """

    name: str
    title: str
    definition: str
    of: tuple[str, ...]
    combine: Callable[[Sequence[Any]], Any]
    within: tuple[float, float] = SHARE
    higher_is_better: bool = True
    unit: str = ""
    departures: tuple[str, ...] = ()
    of_exemplar: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Aim:
    """A published figure of agreement, by its name on Validate; `place` is where the paper prints it.

    It is of a judge with people, or of people with one another if no `judge` is named.
    """

    figure: str
    value: float
    place: str
    judge: str = ""

    @property
    def whose(self) -> str:
        return f"{self.judge} with people" if self.judge else "people with one another"


@dataclass(frozen=True, slots=True)
class ScoreAim:
    """Published correlations of a metric's automatic scores with people's, and where the paper prints them."""

    metric: str
    spearman: float
    pearson: float
    kendall: float
    place: str


@dataclass(frozen=True, slots=True)
class OtherRule:
    """Another published way to read a judge's replies; no score uses it unless it is chosen.

    `read` returns the value of a reply, which is None for a call that brought none; `failed` says in words what that
    counts as.
    """

    citation: str
    read: Callable[[str | None], str]
    failed: str


@dataclass(frozen=True)
class Extraction:
    """A document that a model extracts from a response or an item's sources, or drafts for experts.

    `extract` may ask several times; it returns the document, or a status other than ok with its cause. An extract for
    a `rubric_set` belongs to that set. Without `sources` the question alone is enough, or with `exemplar` the section
    that people wrote on the item. `cites` returns the normalised addresses of the pages that it reads.
    """

    name: str
    title: str
    citation: str
    makes: ResponsePart | Kind | WriterAid
    prompts: tuple[str, ...]
    extract: Callable[[Material, Ask], Awaitable["Extracted"]]
    baseline: Callable[[Material], "Extracted"] | None = None
    needs: tuple[Kind, ...] = ()
    rubric_set: str = ""
    sources: bool = True
    exemplar: bool = False
    cites: Callable[[Material], Iterable[str]] | None = None
    departures: tuple[str, ...] = ()

    @property
    def key(self) -> str:
        """The key by which an existing extract is recognised."""
        return by_set(self.rubric_set) if self.rubric_set else self.makes.value


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document that a model wrote, or why there is none."""

    document: Document[Any] | None
    status: Status = Status.OK
    cause: str = ""
    flags: tuple[str, ...] = ()


Extract = Callable[["Material", Ask], Coroutine[Any, Any, Extracted]]


def extracting(extract: Extract) -> Extract:
    """The extraction, returning the cause if `NoReply` ends it."""

    @wraps(extract)
    async def ended(material: Material, ask: Ask) -> Extracted:
        try:
            return await extract(material, ask)
        except NoReply as end:
            return Extracted(None, end.answer.status, end.answer.cause, end.answer.flags)

    return ended


@dataclass(frozen=True, slots=True)
class Target:
    """The demand of an instruction planted in a report: a value, and the reply's field for it."""

    value: str
    field: str


def equal_weight(_: Unit) -> float:
    """The weight of every unit where a protocol defines none."""
    return 1.0


@dataclass(frozen=True)
class Protocol:
    """A way of judging, as one paper defines it.

    `cases` turns the material of a response into questions to a rater, none if something is missing; `scale` holds
    the values a rater may give, `presentation` the words for people who give them; `judge` answers for every unit of
    a case; `judge_together` replaces it for cases combined from units that it takes one at a time. A protocol without
    values is computed from the material, and has no cases. `facet` names the part of a report that a unit is about
    (an aspect, a section), by which results can be grouped. `matrix` is set if units are the cells of one, `exemplar`
    if an item must have one, `mode` if it asks about the responses of one mode and not about those that count in the
    results, `works` if it reads the works that its gold names, `matching` if references are compared with gold ones,
    `target` if the judge reads the report itself, which may address it. `aims` are published agreement, `other_rule`
    another published way to read replies, and `settles` is the field of its gold's units that its labels can become.

    Labels of a `submitted` protocol are assigned, travel in packages and count once their rater has submitted them;
    then each unit of its one kind of gold is asked about each report. Others are submitted report by report if they
    were not assigned.
    """

    name: str
    title: str
    citation: str
    needs: tuple[Kind, ...]
    metrics: tuple[Metric, ...]
    scale: Scale = NO_VALUES
    presentation: Presentation = UNSHOWN
    cases: Callable[[Material], Iterable[Case]] = lambda _: ()
    judge: Callable[[Case, Ask], Awaitable[Verdicts]] | None = None
    judge_together: Callable[[Case, Ask], Awaitable[Verdicts]] | None = None
    units_a_call: int = 1
    """The default number of units that a judge takes in one call."""
    baseline: Callable[[Case], Verdicts] | None = None
    prompts: tuple[str, ...] = ()
    parts: tuple[ResponsePart, ...] = ()
    paired: bool = False
    exemplar: bool = False
    mode: str = ""
    works: bool = False
    settles: str = ""
    weight: Callable[[Unit], float] = equal_weight
    facet: Callable[[Unit], str] = lambda _: ""
    matrix: MatrixSpec | None = field(default=None, hash=False)
    matching: Matching | None = None
    target: Target | None = None
    aims: tuple[Aim, ...] = ()
    other_rule: OtherRule | None = None
    submitted: bool = False
    departures: tuple[str, ...] = ()
    steps: Mapping[str, str] = field(default_factory=dict, hash=False)
    """The reason why a figure has no value, as in its note → the step after which it has one."""
    floor: str = ""
    """A caveat on its baseline's figures, shown wherever they are."""
    stops: bool = False
    """Whether the units of a case are asked in turn until one decides, so that the others need not be asked."""

    @property
    def values(self) -> tuple[str, ...]:
        return self.scale.names

    @property
    def unit_kind(self) -> Kind | None:
        """The artifact whose units are judged; None if they come from the response."""
        return self.needs[0] if self.needs and self.values else None

    @property
    def by_people(self) -> bool:
        return bool(self.values) and self.judge is None and self.baseline is None

    def lacks(
        self,
        documents: Mapping[Kind, Document[Any]],
        responses: int,
        parts: Iterable[ResponsePart] | None = None,
        exemplars: int = 0,
    ) -> list[str]:
        """The things an item still needs before this protocol can judge it, in words; empty if there are none."""
        missing = [f"a {kind.value}" for kind in self.needs if not getattr(documents.get(kind), "units", ())]
        if not responses:
            missing.append("a response")
        if self.exemplar and responses and not exemplars:
            missing.append("an exemplar")
        if self.paired and not self.exemplar and responses == 1:
            missing.append("a second response")
        if responses and parts is not None:
            missing += [f"the {part.value} of a response" for part in self.parts if part not in set(parts)]
        return missing


def missing_verdicts(case: Case, answer: Answer) -> dict[str, Verdict]:
    """A missing judgement for each unit of a case, with the cause of an answer without a reply."""
    return {unit.id: answer.verdict() for unit in case.units}


# The shipped text of every prompt is version 1; the first that a coordinator writes is version 2.
SHIPPED = 1


class PromptVersion(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """One version of one prompt; versions are only ever added. The shipped one has no author and no date."""

    name: str = Field(max_length=120)
    version: int = Field(ge=SHIPPED)
    text: Text = Field(
        min_length=1, max_length=100_000, description="Markdown: a part “# system”, a part “# user”"
    )
    note: Text = Field(default="", max_length=2_000, description="Why it was written")
    by: str = Field(default="", max_length=36)
    at: datetime | None = None

    @property
    def sha256(self) -> str:
        """The hash that is part of the cache key of every answer to it."""
        return sha256(self.text)


# Level → its figures; the first represents all if there is room for one only.
FIGURES: Mapping[Level, tuple[str, ...]] = {
    Level.NOMINAL: ("kappa", "ac1", "agreement"),
    Level.ORDINAL: ("kappa_quadratic", "kappa_linear", "ac2", "alpha", "spearman", "agreement"),
    Level.INTERVAL: (
        "icc",
        "kappa_quadratic",
        "alpha",
        "absolute_difference",
        "mean_difference",
        "lower_limit",
        "upper_limit",
    ),
}
# Figures of ordered values: a title, and an explanation.
WORDS: Mapping[str, tuple[str, str]] = {
    "kappa_quadratic": (
        "κ quadratic",
        "Cohen's κ of ordered values: a disagreement counts by the square of how far apart the two values are, in "
        "steps or, of numbers, by their difference",
    ),
    "kappa_linear": (
        "κ linear",
        "Cohen's κ of ordered values: a disagreement counts by how many steps apart the two values are",
    ),
    "icc": (
        "ICC",
        "the share of the variance that lies between units, raters differing in level counting as disagreement: "
        "ICC(2,1) of two raters, ICC(1,1) where units have raters of their own",
    ),
    "ac2": (
        "AC2",
        "Gwet's AC1 with quadratic weights: agreement beyond a chance that stays small when one value prevails",
    ),
    "alpha": (
        "α",
        "Krippendorff's: one minus the disagreement seen over the disagreement expected, by ranks where values are "
        "ordered and by squared differences where they are numbers",
    ),
    "spearman": ("ρ", "Spearman's: how far the ranks of the two sides rise together; they need not be equal"),
    "absolute_difference": ("Mean |Δ|", "the mean absolute difference, in units of the scale; 0 is none"),
    "mean_difference": (
        "Mean Δ",
        "the second side's values less the first's, averaged, in units of the scale (Bland & Altman's bias)",
    ),
    "lower_limit": (
        "Lower limit",
        "mean difference − 1.96 standard deviations (Bland & Altman): 97.5 % lie above",
    ),
    "upper_limit": (
        "Upper limit",
        "mean difference + 1.96 standard deviations (Bland & Altman): 97.5 % lie below",
    ),
}
# In units of the scale: they need not lie between −1 and 1.
IN_UNITS = frozenset({"absolute_difference", "mean_difference", "lower_limit", "upper_limit"})
# A table of more values than this is unreadable.
MOST_CROSSED: Mapping[Level, int] = {Level.ORDINAL: 20, Level.INTERVAL: 10}


def uncrossed(scale: Scale) -> str:
    """Why values are not cross-tabulated, true by predicted; empty if they are."""
    values = len(scale.values)
    if values <= MOST_CROSSED.get(scale.level, values):
        return ""
    return f"No table: the scale has {values} values. The differences tell how far apart they lie."
