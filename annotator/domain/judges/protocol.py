"""Protocols: how a paper says that a report is judged and scored, and what is published beside that."""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol as Shape, TypeVar

from pydantic import BaseModel, Field

from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.kinds.artifact import USUAL, Document, Kind, Unit, Weights
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.material.extract import PIECE_WORDS, Matching, ResponsePart, WriterAid
from annotator.domain.material.item import Item, Page, Response, Source, by_set
from annotator.domain.texts.canonical import Text, sha256
from annotator.domain.texts.estimate import SHARE, Estimate
from annotator.domain.texts.words import counted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


from annotator.domain.kinds.artifact import cell_id

# Rows of cells: a match or none, None where the judgement is missing.
Matrix = tuple[tuple[bool | None, ...], ...]
# How many rows are right and how many of so many columns are found.
Counting = Callable[[Matrix, int], tuple[int, int]]


@dataclass(frozen=True, slots=True)
class MatrixSpec:
    """The rows and columns of a matrix, the two values of a cell, and its named ways of counting.

    The id of a cell is that of its two units, as `cell_id` makes it.
    """

    rows: ResponsePart
    columns: Kind
    match: str
    none: str
    readings: Mapping[str, Counting]
    about: str

    def cell(self, value: str | None) -> bool | None:
        """Whether a verdict is a match, None where there is none; ValueError for another value."""
        if value not in (self.match, self.none, None):
            raise ValueError(f"a cell is {self.match} or {self.none}, not {value!r}")
        return None if value is None else value == self.match

    def cells(self, rows: Sequence[Unit], columns: Sequence[Unit], values: Mapping[str, str]) -> Matrix:
        """The matrix that verdicts make, by the ids of cells."""
        return tuple(
            tuple(self.cell(values.get(cell_id(row.id, column.id))) for column in columns) for row in rows
        )


class Level(StrEnum):
    """What values are to one another, by Krippendorff's names; a rank is a place in a list."""

    NOMINAL = "nominal"
    ORDINAL = "ordinal"
    INTERVAL = "interval"
    RANK = "rank"


class ValueLook(StrEnum):
    """What a value stands for; the window has an icon and a colour for each."""

    GOOD = "good"
    BAD = "bad"
    NEITHER = "neither"
    NONE = "none"
    FIRST = "first"
    SECOND = "second"
    STEP = "step"


@dataclass(frozen=True, slots=True)
class Value:
    """A value as it is stored and as people read it; `hint` says what it means."""

    name: str
    words: str
    hint: str = ""
    look: ValueLook = ValueLook.STEP


@dataclass(frozen=True, slots=True)
class Scale:
    """The values a rater may give; none where a protocol is computed.

    Values without an order are declared from the best to the worst, ordered ones from the lowest up.
    With `of_numbers` each value is named by its number; the number of any other ordered value is its place, from 0.
    `positive` counts as positive where a figure needs one. Of pairs `mirrored` says what a value becomes when the
    two change places.
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
        """The values in the order in which people are offered them: the best first; numbers from the lowest up."""
        rising = self.level is not Level.NOMINAL and not self.of_numbers
        return self.names[::-1] if rising else self.names

    def value(self, name: str) -> Value:
        """The value of that name; one that is not known, as in a file of a later version, is shown as it is stored."""
        return next((value for value in self.values if value.name == name), Value(name, name))

    def agreed(self, values: Sequence[str]) -> str | None:
        """What several verdicts on one unit come to: the value that more than half give, of ordered values the median.

        None where there is none: a tie, or a median that is no value.
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
        """The number that a value counts as; ValueError where values have no order, and for one that is not known."""
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
    """Numbers from `low` to `high`; `hints` says what those of a range mean."""
    result = [low + place * step for place in range(round((high - low) / step) + 1)]
    meanings = {one: next((words for of, words in (hints or {}).items() if one in of), "") for one in result}
    return Scale(
        level, tuple(Value(f"{one:g}", f"{one:g}", meanings[one]) for one in result), of_numbers=True
    )


# Of what is computed.
NO_VALUES = Scale()
# Which of two reports is better.
PAIR = nominal(
    Value("first", "First", "The first report is better", ValueLook.FIRST),
    Value("second", "Second", "The second report is better", ValueLook.SECOND),
    Value("tie", "Tie", "You would be content with either", ValueLook.NEITHER),
    mirrored={"first": "second", "second": "first"},
)


# What evidence is quoted from: what a system wrote, or what it cites.
REPORT, CITED_PAGE = "report", "page"


class CaseLayout(StrEnum):
    """How what is asked stands on the page: one below the other, gold against drawn units, or below two reports."""

    LIST = "list"
    MATRIX = "matrix"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Presentation:
    """The names and the layout of a protocol on the Label page.

    `tab` names it, `about` says what is asked, `one` and `many` are its units. `ask` is the question where units have
    no words, `heading` stands over them, `line` is what a line of the queue is, `read` what evidence is quoted from,
    `text` the name of what is given that people read in the place of the report, `called` what stands over a text that
    is no report, and `rest` the value that may be given to all that is open at once. `waits` says why some units cannot
    be asked about yet; `lacking` is the headline and sentence where none can, `mended_on` the page where that is made
    good.
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


# Of what people are not asked.
UNSHOWN = Presentation("", "", "unit", "units")


# Unit id → what a rater says of it.
Verdicts = Mapping[str, Verdict]


@dataclass(frozen=True, slots=True)
class Material:
    """Everything known about one response: its item, gold, extracts and rivals.

    `documents` and `artifact_ids` hold the artifacts that are judged by; `parts` and `part_ids` what the response
    is made of beside its text (its plan, its references, its claims); `pages` the cited pages by normal address;
    `others` the other systems' responses of the same trial and mode; `facing` the item's exemplars, or of an exemplar
    the systems' responses. `sources` are the item's; only an extraction from an item is given them and the project's
    question types and subjects in use, and its `response` is one without id and text. The project allows the `weights`.
    Of a protocol for which pairs were drawn, `drawn` holds the ids of the others with which this response was. A
    sentence is asked about with the sources of so many sentences on either side as `window` says. A long source is read
    in pieces of about `piece_words`.
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
        """The others that this response is compared with under a protocol: all of them, or those drawn."""
        known = self.extracts.get(protocol)
        return [other for other in self.others if known is None or other.id in known]

    def units(self, of: Kind | ResponsePart) -> tuple[Any, ...]:
        """The units of an artifact or a part; empty when there is none."""
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

    Of a pair, `response` is shown first and `other` second. `given` holds what else there is to read, by name. Where
    values are `allowed`, people may give no other, and `why` says so. With `weights_shown` the judge is to be told how
    much each unit weighs, of the `weights` that there are.
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
    """The answer of a model: a parsed reply when status is ok, otherwise the cause in words."""

    status: Status
    reply: Any = None
    raw: str = ""
    cause: str = ""
    flags: tuple[str, ...] = ()

    def verdict(self) -> Verdict:
        return Verdict(value=None, status=self.status, cause=self.cause, flags=" ".join(self.flags))


class Ask(Shape):
    """The interface by which a protocol asks a model, whatever endpoint or cache is behind it.

    `prompt` names a file of `resources/prompts`; `fields` fill its placeholders in a single pass; the fields
    named in `fenced` are foreign text and are set between delimiters they cannot forge; `reply` is the
    class the answer must validate against.
    """

    def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Awaitable[Answer]: ...


@dataclass(frozen=True, slots=True)
class RatedResponse:
    """The input of a score: one rater's values on one response, and its material.

    `values` holds those that came, by unit id. For pairs the unit id is that of the response shown second, and
    `reverse` holds, by the id of the response shown first, the values where this one was shown second.
    """

    material: Material
    values: Mapping[str, str]
    reverse: Mapping[str, str] = field(default_factory=dict)


class Over(StrEnum):
    """What a figure ranges over: a response (a system's is the mean over its items), all of a system's, the project."""

    RESPONSE, SYSTEM, PROJECT = "response", "system", "project"


def _of_many(_scored: RatedResponse, _over_valid: bool) -> Estimate:
    raise TypeError("a figure of many responses together is none of a single one")


@dataclass(frozen=True)
class Metric:
    """A figure of one response on one item, of all of a system's responses together, or of the whole project.

    One of three is given. `score` is asked response by response, and a system's figure is the mean over its items;
    `pooled` is asked once for all responses of a system; `table` once for the project, and answers by system id, with
    "" for the project as a whole. Each gives estimates without an interval, with `floor` and `ceiling` where judgements
    are missing; the last argument says whether those are left out (True) or leave the value undefined (False).
    `drawn` gives a pooled figure its interval at once: from how often each draw (row) took each response (column) the
    figure of every draw, NaN where it is undefined; without it `pooled` is asked draw by draw where responses are few.

    `definition` is Markdown: the formula in the paper's symbols, its section, and what undefined means. `unit` is empty
    for shares, `within` the bounds of the figure. A `cost` tells what a report took, and nothing of how good it is.
    """

    name: str
    title: str
    definition: str
    score: Callable[[RatedResponse, bool], Estimate] = _of_many
    higher_is_better: bool = True
    unit: str = ""
    parts: tuple[ResponsePart, ...] = ()
    """What of a response it needs beside its text."""
    pooled: Callable[[Sequence[RatedResponse], bool], Estimate] | None = None
    table: Callable[[Sequence[RatedResponse], bool], Mapping[str, Estimate]] | None = None
    resampled: (
        Callable[[Sequence[RatedResponse], bool, "NDArray[np.float64]"], "NDArray[np.float64]"] | None
    ) = None
    fitted: "Callable[[Sequence[RatedResponse]], Metric] | None" = None
    """Of a pooled figure that hangs on everything compared, such as how rare a word is: the same, knowing all of it."""
    within: tuple[float, float] = SHARE
    cost: bool = False
    by_window: Callable[[RatedResponse, bool, int], Estimate] | None = None
    """The same within a window of so many units on either side, where it has one."""
    credit: Callable[[str], float] | None = None
    """What a verdict is worth, where the score is Σ w · credit / Σ w over the units: people's labels can correct it."""

    @property
    def over(self) -> Over:
        """What it ranges over, by which of the three is given."""
        if self.pooled is not None:
            return Over.SYSTEM
        return Over.RESPONSE if self.table is None else Over.PROJECT


@dataclass(frozen=True)
class Composite:
    """A system's figure made of other figures; undefined where one of them is, and its note says which.

    `of` names metrics of any protocols of the paper, `of_exemplar` those that count of an exemplar where these are
    fewer. `combine` takes their values in that order, each a number or an array of draws, and grows with each: their
    floors give its floor, their ceilings its ceiling.
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
    """A published figure of agreement, by the name it has on Validate; `place` is where the paper prints it.

    It is of a judge with people, or of people with one another where no `judge` is named.
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
    """Another published way to read a judge's replies; no score goes by it unless it is chosen.

    `read` gives the value of a reply, None standing for a call that brought none; `failed` says in words what that
    counts as.
    """

    citation: str
    read: Callable[[str | None], str]
    failed: str


@dataclass(frozen=True)
class Extraction:
    """A document that a model extracts from a response or an item's sources, or drafts for experts.

    `extract` may ask several times; it gives the document, or a status other than ok with its cause. What is drawn
    for a `rubric_set` belongs to that set. Without `sources` the question alone is enough, or with `exemplar` what
    people wrote on the item. `cites` gives the normal addresses of the pages that it reads.
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
        """By what it is told whether something was drawn already."""
        return by_set(self.rubric_set) if self.rubric_set else self.makes.value


@dataclass(frozen=True, slots=True)
class Extracted:
    """A document that a model wrote, or why there is none."""

    document: Document[Any] | None
    status: Status = Status.OK
    cause: str = ""
    flags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Target:
    """What an instruction planted in a report demands of its judge: a value, and the reply's field for it."""

    value: str
    field: str


def _no_facet(_: Unit) -> str:
    return ""


def _equal(_: Unit) -> float:
    return 1.0


@dataclass(frozen=True)
class Protocol:
    """A way of judging, as one paper defines it.

    `cases` turns what is at hand about a response into what a rater is asked, none when something is lacking;
    `scale` holds the values a rater may give, `presentation` the words for people who give them; `judge` answers for
    every unit of a case; `judge_together` takes its place where cases were put together of units that it takes one at
    a time. A protocol without values is computed from what is at hand, and has no cases. `facet` names the part of
    a report that a unit speaks of (an aspect, a section), by which results can be distinguished. `matrix` is given
    where units are the cells of one, `exemplar` where an item must have one, `mode` where it asks about the responses
    of one mode and not about those that count in the results, `works` where it reads the works that its gold names,
    `matching` where references are compared with gold ones, `target` where the judge reads the report itself, which may
    address it. `aims` are published agreement, `other_rule` another published way to read replies, and `settles` is
    the field of its gold's units that its labels can become.

    Labels of a `submitted` protocol are handed out by assignment, travel in packages and count once their rater has
    submitted them; then each unit of its one kind of gold is asked about each report. Others are submitted report by
    report where they were not handed out.
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
    """How many units a judge takes in one call that is not set to another number."""
    baseline: Callable[[Case], Verdicts] | None = None
    prompts: tuple[str, ...] = ()
    parts: tuple[ResponsePart, ...] = ()
    paired: bool = False
    exemplar: bool = False
    mode: str = ""
    works: bool = False
    settles: str = ""
    weight: Callable[[Unit], float] = _equal
    facet: Callable[[Unit], str] = _no_facet
    matrix: MatrixSpec | None = field(default=None, hash=False)
    matching: Matching | None = None
    target: Target | None = None
    aims: tuple[Aim, ...] = ()
    other_rule: OtherRule | None = None
    submitted: bool = False
    departures: tuple[str, ...] = ()
    steps: Mapping[str, str] = field(default_factory=dict, hash=False)
    """Why a figure has no value, as its note says it → the step after which it has one."""
    floor: str = ""
    """What must be known of its baseline's figures, wherever they stand."""
    stops: bool = False
    """Whether the units of a case are asked in turn until one decides: of the others nobody need be asked."""

    @property
    def values(self) -> tuple[str, ...]:
        return self.scale.names

    @property
    def unit_kind(self) -> Kind | None:
        """The artifact whose units are judged; None where they come from the response."""
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
        """What an item still needs before this protocol can judge it, in words; empty when nothing."""
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
    """What an answer without a reply leaves of each unit of a case: a judgement that did not come, with its cause."""
    return {unit.id: answer.verdict() for unit in case.units}


# What the program ships is version 1 of every prompt; the first that a coordinator writes is version 2.
SHIPPED = 1


class PromptVersion(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """One version of one prompt; versions are only ever added. The shipped one has no author and no moment."""

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
        """The hash that goes into the key of every answer given to it."""
        return sha256(self.text)


# Level → its figures; the first stands for all where there is room for one.
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
# Figures of values that are ordered: a title, and what the figure is.
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
# A table of more values than this is not read.
MOST_CROSSED: Mapping[Level, int] = {Level.ORDINAL: 20, Level.INTERVAL: 10}


def uncrossed(scale: Scale) -> str:
    """Why values are not crossed in a table, true by said; empty where they are."""
    values = len(scale.values)
    if values <= MOST_CROSSED.get(scale.level, values):
        return ""
    return f"No table: the scale has {values} values. The differences tell how far apart they lie."
