"""Protocols: how a paper says that a report is judged and scored."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar
from typing import Protocol as Shape

from pydantic import BaseModel

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.matrix import MatrixSpec
from annotator.domain.judges.presentation import UNSHOWN, Presentation
from annotator.domain.judges.published import Aim, OtherRule
from annotator.domain.judges.scale import NO_VALUES, Scale
from annotator.domain.kinds.artifact import Document, Kind, Unit
from annotator.domain.kinds.question_types import QuestionType
from annotator.domain.kinds.weights import USUAL, Weights
from annotator.domain.material.extract import by_set
from annotator.domain.material.item import Item
from annotator.domain.material.matches import Matching
from annotator.domain.material.page import Page
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.pieces import PIECE_WORDS
from annotator.domain.material.response import Response
from annotator.domain.material.source import Source
from annotator.domain.material.writer_aid import WriterAid
from annotator.domain.texts.estimate import SHARE, Estimate

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

Verdicts = Mapping[str, Verdict]
"""Unit id → what a rater says of it."""


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
    drawn: Mapping[str, frozenset[str]] = field(default_factory=dict)
    window: int = 1
    piece_words: int = PIECE_WORDS

    def rivals(self, protocol: str) -> list[Response]:
        """The others that this response is compared with under a protocol: all of them, or those drawn."""
        known = self.drawn.get(protocol)
        return [other for other in self.others if known is None or other.id in known]

    def units(self, of: Kind | ResponsePart) -> tuple[Any, ...]:
        """The units of an artifact or a part; empty when there is none."""
        found = self.documents.get(of) if isinstance(of, Kind) else self.parts.get(of)
        return found.units if found is not None else ()

    def case(
        self,
        protocol: str,
        of: Kind | ResponsePart,
        *units: Unit,
        given: Mapping[str, str] = MappingProxyType({}),
    ) -> "Case":
        """One question to a rater about units of an artifact or a part."""
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
        """The missing judgement that an answer without a reply is."""
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
    drawn: Callable[[Sequence[RatedResponse], bool, "NDArray[np.float64]"], "NDArray[np.float64]"] | None = (
        None
    )
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
        """The values a rater may give, in the order of their keys."""
        return self.scale.names

    @property
    def unit_kind(self) -> Kind | None:
        """The artifact whose units are judged; None where they come from the response."""
        return self.needs[0] if self.needs and self.values else None

    @property
    def by_people(self) -> bool:
        """Whether people alone are asked: nobody else has a say in it."""
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
