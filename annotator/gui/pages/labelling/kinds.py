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

    def all_asked(self, unit_id: str) -> list[tuple[Taxonomy, str]]:
        """By what a person may look again at what they said of a unit, and what they said then, or nothing."""
        value = self._said(unit_id)
        offered = [(TAXONOMIES[name], given) for name, given in self._given.items()]
        return [(one, given.get(unit_id, "")) for one, given in offered if value in one.after]

    def asked(self, unit_id: str) -> Taxonomy | None:
        return next((one for one, _ in self.all_asked(unit_id)), None)

    def of(self, unit_id: str) -> str:
        return next((given for _, given in self.all_asked(unit_id)), "")

    def waits(self, unit_id: str) -> bool:
        """Whether something that must be said at a second look is not said yet."""
        return any(one.whole and not given for one, given in self.all_asked(unit_id))

    def give(self, unit_id: str, place: int) -> bool:
        """Give a label the kind of a place in the order of the keys, or take that back; whether it was done."""
        known = [(one, given, value) for one, given in self.all_asked(unit_id) for value in one.values]
        if place >= len(known):
            return False
        asked, given, value = known[place]
        verb: Callable[..., Change] = second_looks.give
        return self._do(verb, unit_id, asked.name, "" if given == value else value)

    def take_in(self, name: str, unit_id: str, after: Mapping[str, Any]) -> None:
        """Take over what is now said under a taxonomy; nothing takes it away."""
        given = self._given.setdefault(name, {})
        given.pop(unit_id, None)
        if after:
            given[unit_id] = str(after["value"])
