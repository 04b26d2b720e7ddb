"""Raters of a file as people: named by a coordinator, or known by id, alias or name."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pydantic import ValidationError
from sqlalchemy import insert
from sqlalchemy.engine import Connection

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.project.incoming import ID
from annotator.domain.experts.person import Person, PersonFields, Role
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats.label_entries import LabelEntry
from annotator.storage.tables import PERSON


@dataclass(frozen=True, slots=True)
class NamedRater:
    """The person that a name in the files stands for; `new` when the import creates them."""

    name: str
    person: Person
    new: bool = False


class Raters:
    """The raters of some files, matched with the project in this transaction."""

    def __init__(self, project: Project, wanted: Mapping[str, str], *, add_unknown: bool = False) -> None:
        """`wanted` says which name in the files is whose id or alias; an alias that nobody has makes a person.

        With `add_unknown` so does a name that nobody has.
        """
        self._wanted, self._add_unknown = wanted, add_unknown
        self._people = {person.id: person for person in people.people(project)}
        self.met: dict[tuple[str, str, bool], NamedRater | str] = {}

    def of(self, entry: LabelEntry) -> NamedRater | str:
        """The rater of an entry, or the reason why nobody is."""
        key = (entry.rater, entry.rater_id, entry.peer)
        if key not in self.met:
            self.met[key] = self._found(*key)
        return self.met[key]

    def unmet(self) -> list[str]:
        """The names that were said to be someone's, and stand in none of the files."""
        return sorted(set(self._wanted) - {name for name, *_ in self.met})

    def strangers(self) -> set[str]:
        """The names in the files of whom nobody has said who they are."""
        return {name for (name, *_), rater in self.met.items() if name and isinstance(rater, str)}

    def new(self) -> list[NamedRater]:
        found = {
            rater.person.id: rater
            for rater in self.met.values()
            if isinstance(rater, NamedRater) and rater.new
        }
        return list(found.values())

    def _found(self, name: str, rater_id: str, peer: bool) -> NamedRater | str:
        if name in self._wanted:
            return self._told(name, self._wanted[name])
        if rater_id in self._people:
            return self._known(name or rater_id, rater_id)
        if rater_id:
            if not ID.fullmatch(rater_id):
                return f"“{rater_id[:40]}” is no id of a person"
            alias = name if name and name not in self._aliases() else self._free()
            return self._made(name or rater_id, rater_id, alias)
        # In a benchmark's own files a letter of the file's name stands for someone, which is no name.
        called = [] if peer else self._called(name)
        if len(called) == 1:
            return self._known(name, called[0])
        if name and not called and self._add_unknown:
            return self._made(name, new_id(), self._free())
        who = f"“{name[:40]}”" if name else "nobody"
        several = f", which {len(called):,} people here are called" if called else ""
        return f"the rater is {who}{several}: choose who that is, as in --as “{name[:40]}=ALIAS”"

    def _called(self, name: str) -> list[str]:
        """Who here has that alias or name, by id: as it is written, or else whatever its letters' case."""
        words = {person.id: (person.alias, person.name) for person in self._people.values()}
        exact = [one for one, said in words.items() if name in said]
        folded = name.casefold()
        alike = [one for one, said in words.items() if folded in map(str.casefold, said)]
        return (exact or alike) if name else []

    def _told(self, name: str, wanted: str) -> NamedRater | str:
        if wanted in self._people:
            return self._known(name, wanted)
        folded = wanted.casefold()
        alike = [person for person in self._people.values() if person.alias.casefold() == folded]
        exact = [person for person in alike if person.alias == wanted] or alike
        if len(exact) > 1:
            return f"“{wanted[:40]}” may be {len(exact):,} people: write the alias as they have it"
        if exact:
            return self._known(name, exact[0].id)
        return self._made(name, new_id(), wanted)

    def _known(self, name: str, person_id: str) -> NamedRater:
        new = any(rater.person.id == person_id for rater in self.new())
        return NamedRater(name, self._people[person_id], new)

    def _made(self, name: str, person_id: str, alias: str) -> NamedRater | str:
        try:
            fields = PersonFields.model_validate(
                {"name": name[:200], "alias": alias, "roles": Role.ANNOTATOR.value}
            )
        except ValidationError as error:
            return f"“{alias[:40]}” cannot be an alias: {error.errors()[0]['msg'].lower()}"
        made = NamedRater(name, Person(id=person_id, **fields.model_dump()), new=True)
        self._people[person_id] = made.person
        return made

    def _aliases(self) -> set[str]:
        return {person.alias for person in self._people.values()}

    def _free(self) -> str:
        taken = self._aliases()
        return next(f"R{n}" for n in range(1, len(taken) + 2) if f"R{n}" not in taken)


def add(project: Project, db: Connection, raters: Iterable[NamedRater]) -> None:
    """Make the people that are new, each a change of its own."""
    for rater in raters:
        values = rater.person.model_dump()
        db.execute(insert(PERSON).values(**values))
        record(project, db, Change("person", rater.person.id, "add person", after=values))


def told(words: Iterable[str]) -> dict[str, str]:
    """Name → alias, from texts like “A=R3”; Refusal for one that says neither, or one name twice."""
    found: dict[str, str] = {}
    for one in words:
        name, sign, alias = one.rpartition("=")
        if not (sign and name.strip() and alias.strip()):
            raise Refusal(
                f"“{one}” does not identify a rater.", "Write NAME=ALIAS, with a name from the files."
            )
        if found.setdefault(name.strip(), alias.strip()) != alias.strip():
            raise Refusal(f"“{name.strip()}” is assigned to two people.", "Assign each rater once.")
    return found
