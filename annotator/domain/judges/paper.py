"""Papers: the definitions of each one that the program uses."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from annotator.domain.common import FrozenRecord, grouped
from annotator.domain.judges.protocol import Composite, Extraction, Protocol, ScoreAim, Value
from annotator.domain.material.item import QUESTION_TYPES
from annotator.domain.texts.estimate import Estimate


class Spread(StrEnum):
    """The addition to a figure: nothing, its interval as distances, or the standard deviation over runs."""

    NONE, OFFSETS, DEVIATION = "", "offsets", "deviation"


class Down(StrEnum):
    """The rows of each system: one, one with a cut-off and one without, one for recent items and one for all, or one
    for each mode in which it was run.
    """

    SYSTEMS, LIMITED, PUBLISHED, MODES = "systems", "limited", "published", "modes"


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column of a metric: of its mean over items, of the sum over them, or of the best of so many runs."""

    title: str
    metric: str
    total: bool = False
    best_of: int = 0


@dataclass(frozen=True, slots=True)
class TablePart:
    """Rows under one heading, with the metrics in their columns; all parts of a table have the same titles."""

    title: str
    columns: tuple[TableColumn, ...]


@dataclass(frozen=True, slots=True)
class TableReading:
    """Another way to count in a table, with a name and a title: which metrics replace which."""

    name: str
    title: str
    instead: Mapping[str, str]


# The name and title of a reading that several papers have.
RELEASED = ("released", "As the public code counts")


@dataclass(frozen=True, slots=True)
class SystemsTable:
    """Systems in rows and metrics in columns, once for each group of items that `across` names, last for all items.

    `mode` names the mode of responses that count, empty for the default; `average` heads the columns over all items,
    and is empty if there are none. Without a `title` it has that of the paper's table.
    """

    parts: tuple[TablePart, ...]
    across: str = ""
    average: str = "Avg."
    spread: Spread = Spread.NONE
    mode: str = ""
    down: Down = Down.SYSTEMS
    title: str = ""
    readings: tuple[TableReading, ...] = ()
    note: str = ""

    def read(self, name: str) -> "SystemsTable":
        """The same counted by one of its readings; unchanged if there is none of that name."""
        chosen = next((reading for reading in self.readings if reading.name == name), None)
        if chosen is None:
            return self
        instead = chosen.instead
        parts = tuple(
            replace(
                part, columns=tuple(replace(c, metric=instead.get(c.metric, c.metric)) for c in part.columns)
            )
            for part in self.parts
        )
        return replace(self, parts=parts, note=f"{chosen.title}: {', '.join(instead.values())}.")


@dataclass(frozen=True, slots=True)
class ViewTable:
    """A table of a view with these choices; some of its columns by key, under the paper's titles.

    `turned` makes its columns rows under the first of its titles; the lines that the others name become columns
    first. Without `columns` all are used.
    """

    view: str
    sheet: str
    columns: tuple[tuple[str, str], ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    title: str = ""
    turned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DuelTable:
    """Systems in rows and metrics in columns, exemplars first; a star if the best system is better beyond chance.

    The metric of its last column is composed of the others. `board` has the columns of the paper's leaderboard file,
    each with its metric, or without one if it is the system's name.
    """

    columns: tuple[TableColumn, ...]
    readings: tuple[TableReading, ...] = ()
    board: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or a figure of a paper under its own name; `printed` says where the paper has it.

    `data` says in Markdown where its figures come from.
    """

    name: str
    title: str
    printed: tuple[str, ...]
    made_of: tuple[SystemsTable | ViewTable | DuelTable, ...]
    departures: tuple[str, ...] = ()
    data: str = ""


@dataclass(frozen=True, slots=True)
class Unprinted:
    """Tables and figures of a paper for which no project has the data, with the reason."""

    printed: tuple[str, ...]
    why: str


SUBTOTAL = "subtotal"


class ErrorSample(FrozenRecord):
    """Responses drawn at random, so many of each system, whose verdicts people look at again."""

    seed: int
    per_system: int
    responses: tuple[str, ...]


class DrawnPairs(FrozenRecord):
    """Pairs of responses drawn at random to be compared."""

    seed: int
    pairs: tuple[tuple[str, str], ...]


def _nothing(_value: str, _flags: str) -> str:
    return ""


@dataclass(frozen=True, slots=True)
class Taxonomy:
    """Labels for the units with certain verdicts of a protocol, such as kinds of error.

    `name` takes the place of a protocol's name in a label; `of` names the protocol whose verdicts are reviewed,
    `after` the verdicts that need a label. `head` is the heading of its `kinds`, at most four; `suggested` proposes
    one of them from a verdict's value and flags, empty if it has none. `whole` says whether each of those verdicts
    must get one, `printed` where the paper prints their numbers, `departures` what is counted otherwise here. A label
    `beside` a verdict is no kind of it, and a verdict may have several.
    """

    name: str
    title: str
    of: str
    after: tuple[str, ...]
    head: str
    kinds: tuple[Value, ...]
    whole: bool = True
    printed: str = ""
    departures: tuple[str, ...] = ()
    suggested: Callable[[str, str], str] = _nothing
    beside: bool = False

    @property
    def values(self) -> tuple[str, ...]:
        """The stored names of the kinds, in the order of their keys."""
        return tuple(kind.name for kind in self.kinds)

    def words(self, kind: str) -> str:
        """The words for a kind; an unknown one, as in a file of a later version, is returned as stored."""
        return next((value.words for value in self.kinds if value.name == kind), kind)


@dataclass(frozen=True, slots=True)
class LabelledResponse:
    """One reviewed response: its question's type, and the label of each unit that needs one.

    `labels` holds every unit whose verdict needs a label, None if it has none yet.
    """

    response_id: str
    question_type: str
    labels: Mapping[str, str | None]


def due(taxonomy: Taxonomy, verdicts: Mapping[str, str]) -> list[str]:
    """The units whose verdict needs a label, in the order of the verdicts."""
    return [unit_id for unit_id, value in verdicts.items() if value in taxonomy.after]


def mean_counts(looked: Sequence[LabelledResponse], taxonomy: Taxonomy) -> dict[str, dict[str, Estimate]]:
    """For each question type, the mean number of each label per response, and their subtotal.

    Types come in the order of the menu, then others by name. `n` counts responses, `missing` the units without a
    label, which leave the means undefined if each must have one; floor and ceiling bound them. ValueError on a label
    outside the taxonomy.
    """
    groups = grouped((response.question_type, response) for response in looked)
    place = {kind: number for number, kind in enumerate(QUESTION_TYPES)}
    kinds = sorted(groups, key=lambda kind: (place.get(kind, len(place)), kind))
    return {kind: _means(groups[kind], taxonomy) for kind in kinds}


def _means(group: Sequence[LabelledResponse], taxonomy: Taxonomy) -> dict[str, Estimate]:
    counts = Counter(label for response in group for label in response.labels.values())
    if odd := set(counts) - {*taxonomy.values, None}:
        raise ValueError(f"{odd.pop()!r} is no label of {taxonomy.name}")
    n, missing = len(group), counts[None] if taxonomy.whole else 0
    means = {label: _mean(counts[label], missing, n) for label in taxonomy.values}
    if taxonomy.whole:
        means[SUBTOTAL] = _mean(sum(counts.values()), 0, n)
    return means


def _mean(count: int, missing: int, n: int) -> Estimate:
    """The mean number per response; units without a label may or may not be of this kind."""
    return Estimate(
        None if missing else count / n,
        n=n,
        missing=missing,
        floor=count / n,
        ceiling=(count + missing) / n,
        method="mean number per response",
        note=f"{missing} units have no label" if missing else "",
    )


@dataclass(frozen=True)
class PaperSample:
    """A small sample of a paper: its shipped folder, its project's title, its layout and its profile."""

    name: str
    title: str
    layout: str
    uses: str


@dataclass(frozen=True)
class Paper:
    """A paper: its protocols, extractions, drafts, figures, taxonomies, tables, published agreement and sample.

    `tables_about` holds notes on its tables in Markdown.
    """

    name: str
    title: str
    protocols: tuple[Protocol, ...]
    extractions: tuple[Extraction, ...] = ()
    drafts: tuple[Extraction, ...] = ()
    composites: tuple[Composite, ...] = ()
    taxonomies: tuple[Taxonomy, ...] = ()
    tables: tuple[PaperTable, ...] = ()
    score_aims: tuple[ScoreAim, ...] = ()
    sample: PaperSample | None = None
    unprinted: tuple[Unprinted, ...] = ()
    tables_about: str = ""
