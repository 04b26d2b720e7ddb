"""Tables that papers print, as data: which figures stand in their rows and columns, or which view has them."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum


class Spread(StrEnum):
    """What stands beside a figure: nothing, its interval as distances, or the standard deviation over runs."""

    NONE, OFFSETS, DEVIATION = "", "offsets", "deviation"


class Down(StrEnum):
    """What rows there are of each system: one, one with a cut-off and one without, one for recent items and one for
    all, or one for each mode in which it was asked.
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
    """Another way to count in a table, under a name and a title: which metrics take the place of which."""

    name: str
    title: str
    instead: Mapping[str, str]


# The name and title of one that several papers have.
RELEASED = ("released", "As the public code counts")


@dataclass(frozen=True, slots=True)
class SystemsTable:
    """Systems down and metrics across, once for each group of items that `across` names, last for all items.

    `mode` names the mode of responses that count, empty for the usual one; `average` heads what is over all items, and
    is empty where nothing is. Without a `title` it has that of the paper's table.
    """

    parts: tuple[TablePart, ...]
    across: str = ""
    average: str = "Avg."
    spread: Spread = Spread.NONE
    mode: str = ""
    down: Down = Down.SYSTEMS
    title: str = ""
    readings: tuple[TableReading, ...] = ()
    told: str = ""

    def read(self, name: str) -> "SystemsTable":
        """The same counted by one of its readings; as it is where there is none of that name."""
        chosen = next((one for one in self.readings if one.name == name), None)
        if chosen is None:
            return self
        instead = chosen.instead
        parts = tuple(
            replace(
                part, columns=tuple(replace(c, metric=instead.get(c.metric, c.metric)) for c in part.columns)
            )
            for part in self.parts
        )
        return replace(self, parts=parts, told=f"{chosen.title}: {', '.join(instead.values())}.")


@dataclass(frozen=True, slots=True)
class ViewTable:
    """A table of a view with these choices made; some of its columns by key, under the paper's titles.

    `turned` makes its columns rows under the first of its titles; the lines that the others name become columns first.
    Without columns all are taken.
    """

    view: str
    sheet: str
    columns: tuple[tuple[str, str], ...] = ()
    chosen: tuple[tuple[str, str], ...] = ()
    title: str = ""
    turned: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class DuelTable:
    """Systems down and metrics across, exemplars first; a star where the best system is better beyond chance.

    The metric of its last column is made of the others. `board` has the columns of the paper's leaderboard file, each
    with its metric, or without one where it names the system.
    """

    columns: tuple[TableColumn, ...]
    readings: tuple[TableReading, ...] = ()
    board: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True)
class PaperTable:
    """A table or a figure of a paper by a name of its own; `printed` says where it stands there.

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
    """Tables and figures of a paper that no project has the data for, with the reason."""

    printed: tuple[str, ...]
    why: str
