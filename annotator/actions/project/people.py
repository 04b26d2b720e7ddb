"""People of the project, and the one this window works as."""

import json
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from sqlalchemy import insert, select, update
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal, RoleNeeded, new_id, well_formed
from annotator.domain.experts.assignment import Person, Role
from annotator.domain.stored import PersonFields
from annotator.protocols.profiles import ALL, parsed
from annotator.storage.tables import PARCEL, PERSON

P = ParamSpec("P")
T = TypeVar("T")
Act = Callable[Concatenate[Project, P], T]
# The reader of a read-only file in which nobody works; never stored.
VISITOR = Person(id="visitor", name="Visitor", alias="visitor", roles="")


def new_project(path: Path, title: str = "", uses: str = ALL) -> Project:
    """A new project with one coordinator, named “Me”; `uses` is its profile (see `protocols.profiles`).

    Raises Refusal if it cannot be created, if the path is taken, or for an unknown profile.
    """
    return Project.create(path, title, uses=parsed(uses).text, fill=someone)


def people(project: Project) -> list[Person]:
    rows = project.query(select(PERSON).order_by(PERSON.c.alias)).mappings().all()
    return [Person(**row) for row in rows]


def programs(project: Project) -> dict[str, str]:
    """The program versions that made the newest returned work, by person id."""
    question = select(PARCEL.c.person_id, PARCEL.c.content).where(PARCEL.c.direction == "in")
    rows = project.query(question.order_by(PARCEL.c.at, PARCEL.c.sha256)).all()
    newest = {person_id: str(json.loads(content).get("program", "")) for person_id, content in rows}
    return {person_id: program for person_id, program in newest.items() if program}


def add_person(
    project: Project, name: str, roles: tuple[Role, ...] = (Role.ANNOTATOR,), alias: str = ""
) -> Change:
    """Add a person. Without an alias the next free one is taken (R1, R2 …), so that no name is ever exported."""
    with project.store.write() as db:
        taken = {person.alias for person in people(project)}
        alias = alias or next(f"R{n}" for n in range(1, len(taken) + 2) if f"R{n}" not in taken)
        if alias in taken:
            raise Refusal(f"The alias “{alias}” is already someone's.", "Choose another alias.")
        person = _checked(
            {
                "id": new_id(),
                "name": name.strip(),
                "alias": alias,
                "roles": " ".join(sorted(role.value for role in roles)),
            }
        )
        db.execute(insert(PERSON).values(**person.model_dump()))
        return record(project, db, Change("person", person.id, "add person", after=person.model_dump()))


def names(text: str) -> list[str]:
    """The names in a text, separated by semicolons or line breaks."""
    return [name for part in text.replace(";", "\n").splitlines() if (name := part.strip())]


def rename_person(project: Project, person_id: str, name: str) -> Change:
    """Change the displayed name of a person, not their identity."""
    return _change(project, person_id, "rename", name=name.strip())


def set_roles(project: Project, person_id: str, roles: tuple[Role, ...]) -> Change:
    """Replace a person's roles; raises Refusal if no coordinator would be left."""
    return _change(project, person_id, "set roles", roles=" ".join(sorted({role.value for role in roles})))


def deactivate(project: Project, person_id: str) -> Change:
    """Let a person leave: they are offered and assigned nothing more, and all they made stays.

    Raises Refusal for the person working and for the last active coordinator.
    """
    if person_id == someone(project).id:
        raise Refusal("You are working as this person.", "Work as somebody else first.")
    return _change(project, person_id, "deactivate", active=False)


def reactivate(project: Project, person_id: str) -> Change:
    return _change(project, person_id, "reactivate", active=True)


def known(project: Project, name: str) -> Person:
    """The person with an id or an alias, ignoring the alias's case; names, which may be shared, are not matched."""
    everybody, folded = people(project), name.casefold()
    alike = [person for person in everybody if person.alias.casefold() == folded]
    exact = [person for person in everybody if name in (person.id, person.alias)]
    for result in (exact, alike):
        if len(result) == 1:
            return result[0]
    aliases = tuple(person.alias for person in everybody)
    raise Refusal(
        f"“{name}” is not an id or alias in this project.", "Use one of the aliases.", details=aliases
    )


def _checked(values: dict[str, Any]) -> Person:
    fields = well_formed(PersonFields, {k: v for k, v in values.items() if k != "id"})
    return Person(id=values["id"], **fields.model_dump())


def _change(project: Project, person_id: str, verb: str, **fields: Any) -> Change:
    with project.store.write() as db:
        old = _read(db, person_id)
        new = _checked(old.model_dump() | fields)
        _write(project, db, old, new)
        before, after = (who.model_dump(include=set(fields)) for who in (old, new))
        return record(project, db, Change("person", person_id, verb, before, after))


def _read(db: Connection, person_id: str) -> Person:
    return Person(**db.execute(select(PERSON).where(PERSON.c.id == person_id)).mappings().one())


def _write(project: Project, db: Connection, old: Person, new: Person) -> None:
    db.execute(update(PERSON).where(PERSON.c.id == new.id).values(**new.model_dump()))
    if _can_coordinate(old) and not any(map(_can_coordinate, people(project))):
        raise Refusal(
            "No active coordinator would be left.", "Give somebody else the role of coordinator first."
        )
    if project.person is not None and project.person.id == new.id:
        project.person = new


def refuse_others(project: Project, what: str) -> None:
    """Refuse, as “Only a coordinator `what`”, if the person working is not a coordinator."""
    if project.person is not None and not project.person.has(Role.COORDINATOR):
        raise RoleNeeded(
            f"Only a coordinator {what}.", "Work as a coordinator of this project.", Role.COORDINATOR
        )


def for_coordinators(what: str) -> Callable[[Act[P, T]], Act[P, T]]:
    """Restrict an action to coordinators: others are refused before it begins, as “Only a coordinator `what`”."""

    def only(act: Act[P, T]) -> Act[P, T]:
        @wraps(act)
        def guarded(project: Project, /, *args: P.args, **kwargs: P.kwargs) -> T:
            refuse_others(project, what)
            return act(project, *args, **kwargs)

        return guarded

    return only


def answerable(project: Project) -> list[str]:
    """The ids of those the person working may act for: everybody for a coordinator, otherwise only themselves."""
    me = someone(project)
    return [person.id for person in people(project)] if me.has(Role.COORDINATOR) else [me.id]


def coordinates(project: Project) -> bool:
    return someone(project).has(Role.COORDINATOR)


def _can_coordinate(person: Person) -> bool:
    return person.active and person.has(Role.COORDINATOR)


def restore(project: Project, db: Connection, person_id: str, present: Any, goal: Any) -> None:
    """Set a person back from one image to another; raises Refusal if they have changed since."""
    current = _read(db, person_id)
    if current.model_dump(include=set(present)) != present:
        raise Refusal("This person was changed elsewhere since.", "Look again; nothing was undone.")
    _write(project, db, current, _checked(current.model_dump() | goal))


def someone(project: Project) -> Person:
    """The person working; on the first start of a project, a coordinator is made for them.

    A visitor for a read-only file in which nobody works.
    """
    if project.person is None:
        existing = [person for person in people(project) if person.active]
        if not existing:
            if project.readonly:
                return VISITOR
            add_person(project, "Me", (Role.ANNOTATOR, Role.COORDINATOR))
            existing = people(project)
        chosen = next((person for person in existing if person.has(Role.COORDINATOR)), existing[0])
        project.work_as(chosen)
        return chosen
    return project.person
