"""Second looks at labels of the open report: the kind of each."""

from collections.abc import Callable, Mapping
from typing import Any

from annotator.actions.labelling import second_looks
from annotator.actions.labelling.second_looks import TAXONOMIES
from annotator.domain.judges.taxonomy import Taxonomy
from annotator.domain.texts.change import Change
from annotator.gui.desk.desk import Desk

Do = Callable[..., bool]


class Kinds:
    """Empty where second looks are not asked for."""

    def __init__(self, desk: Desk, do: Do, said: Callable[[str], str]) -> None:
        """`do` does a verb about the open report, `said` tells what is said of a unit."""
        self._desk, self._do, self._said = desk, do, said
        self._given: dict[str, dict[str, str]] = {}

    def look_up(self, protocol: str, response_id: str) -> None:
        """Take over what is kept about another report."""
        self._given = {}
        if self._desk.ask(second_looks.offered, protocol):
            for name, taxonomy in TAXONOMIES.items():
                if taxonomy.of == protocol:
                    self._given[name] = self._desk.ask(second_looks.of_report, response_id, name) or {}

    def asked(self, unit_id: str) -> Taxonomy | None:
        """By what a person may look again at what they said of a unit, if by anything."""
        value = self._said(unit_id)
        offered = (TAXONOMIES[name] for name in self._given)
        return next((taxonomy for taxonomy in offered if value in taxonomy.after), None)

    def of(self, unit_id: str) -> str:
        """The kind that was given, or nothing."""
        asked = self.asked(unit_id)
        return self._given[asked.name].get(unit_id, "") if asked else ""

    def give(self, unit_id: str, place: int) -> bool:
        """Give a label the kind of a place in the order of the keys, or take that back; whether it was done."""
        asked = self.asked(unit_id)
        if asked is None or place >= len(asked.values):
            return False
        value = asked.values[place]
        verb: Callable[..., Change] = second_looks.give
        return self._do(verb, unit_id, asked.name, "" if self.of(unit_id) == value else value)

    def take_in(self, name: str, unit_id: str, after: Mapping[str, Any]) -> None:
        """Take over what is now said under a taxonomy; nothing takes it away."""
        given = self._given.setdefault(name, {})
        given.pop(unit_id, None)
        if after:
            given[unit_id] = str(after["value"])
