"""Qt model of each person's progress: a row for everybody together, then one per person."""

from collections.abc import Mapping, Sequence

from annotator.actions.labelling.board import StatusTotal
from annotator.gui.desk.naming import named
from annotator.gui.pages.people.board import time_words
from annotator.gui.tables.cells import Column

PERSON, HANDED_IN, LATE, TIME, PROGRAM = range(5)
EVERYBODY = "Everybody"
VERSION = "The version of Goldsmith that a person's newest returned work was made with"


def columns(
    aliases: Mapping[str, str], programs: Mapping[str, str] | None = None
) -> Sequence[Column[StatusTotal]]:
    """What is shown of each person's work, and in each tip how much of it is in which state.

    `programs` are the versions that people worked with, by their ids.
    """
    worked_with = programs or {}

    def person(total: StatusTotal) -> str:
        return named(aliases.get(total.key) or total.name, total.name)

    def states(total: StatusTotal) -> str:
        program = worked_with.get(total.key, "")
        told = [f"works with Goldsmith {program}"] if program else []
        counts = (f"{state}: {count}" for state, count in total.states.items())
        return "\n".join((person(total), *counts, *told))

    return (
        Column("Person", person, 150, tip=states),
        Column("Handed in", lambda total: f"{total.handed_in:,} of {total.assignments:,}", 92, tip=states),
        Column(
            "Late",
            lambda total: str(total.overdue or ""),
            68,
            tip=states,
            look=lambda total: ("warning", "state-disagree") if total.overdue else None,
        ),
        Column("Time", lambda total: time_words(total.seconds), 66, tip=states, number=True),
        Column("Goldsmith", lambda total: worked_with.get(total.key, ""), 92, tip=states, about=VERSION),
    )


def with_everybody(totals: Sequence[StatusTotal]) -> list[StatusTotal]:
    """What they come to together, then the totals in the order given; the first has an empty key."""
    return [_together(totals), *totals] if totals else []


def _together(totals: Sequence[StatusTotal]) -> StatusTotal:
    return StatusTotal(
        key="",
        name=EVERYBODY,
        assignments=sum(total.assignments for total in totals),
        states=_states(totals),
        handed_in=sum(total.handed_in for total in totals),
        overdue=sum(total.overdue for total in totals),
        units=sum(total.units for total in totals),
        seconds=sum(total.seconds for total in totals),
    )


def _states(totals: Sequence[StatusTotal]) -> dict[str, int]:
    found: dict[str, int] = {}
    for total in totals:
        for state, count in total.states.items():
            found[state] = found.get(state, 0) + count
    return found
