"""Items: listing, searching and creating them."""

from array import array
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from sqlalchemy import TextClause, bindparam, func, insert, select, text, update
from sqlalchemy.engine import Connection

from annotator.actions.authoring import asked
from annotator.actions.items import roles
from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import item_hash
from annotator.domain.experts.assignment import Stage
from annotator.domain.material.item import FOLLOWS, Item, ItemFields, ItemRole, free_key
from annotator.domain.texts.change import Change, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage import search
from annotator.storage.tables import ITEM

STATES = ("new", "in progress", "submitted", "settled")
# Under which a change of several items keeps what each had and got, by id.
SEVERAL = "items"
# So many unknown keys are named.
NAMED = 8


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of the item list; empty values match everything.

    `mine` leaves what is assigned to the person working, of `stages` alone when any are named; it does not narrow
    for anyone who has no assignment at all.
    """

    words: str = ""
    question_type: str = ""
    subject: str = ""
    state: str = ""
    retired: bool = False
    mine: bool = False
    stages: tuple[Stage, ...] = ()


@dataclass(frozen=True, slots=True)
class ItemLine:
    """A line of the item list, with the progress of this person and of the project; reports on a seminar are none."""

    id: str
    key: str
    question: str
    question_type: str
    subject: str
    language: str
    state: str
    artifacts: int
    responses: int
    labelled: int
    role: ItemRole


def ids(project: Project, narrowed: Filter = Filter()) -> list[str]:
    """The ids of the items that match, in the project's order."""
    question, values = _search(project, narrowed, "item.id")
    with project.store.read() as db:
        return list(db.execute(question, values).scalars())


def questions(project: Project, most: int) -> list[str]:
    question, values = _search(project, Filter(), "item.question", most)
    with project.store.read() as db:
        return list(db.execute(question, values).scalars())


def numbers(project: Project, narrowed: Filter = Filter(), most: int = -1) -> "array[int]":
    """The row numbers of the items that match, in the project's order: eight bytes each, for lists of any length.

    With `most` only so many, fast enough for every keystroke.
    """
    question, values = _search(project, narrowed, search.NUMBER, most)
    with project.store.read() as db:
        # SQLAlchemy's own rows take twice as long, of a million items.
        found: Any = db.execute(question, values).cursor
        return array("q", (row[0] for row in found))


def number(project: Project, item_id: str) -> int:
    """The row number of an item; 0 when there is none of that id."""
    question = text(f"SELECT {search.NUMBER} FROM item WHERE id = :id")  # noqa: S608 - our own words only
    with project.store.read() as db:
        return db.execute(question, {"id": item_id}).scalar() or 0


def _search(
    project: Project, narrowed: Filter, column: str, most: int = -1
) -> tuple[TextClause, dict[str, Any]]:
    """The question for a column of the items that match, and the values it names."""
    source, conditions, values = search.matching(narrowed.words)
    conditions, values = ["item.retired = :retired", *conditions], {**values, "retired": narrowed.retired}
    for name, value in (("question_type", narrowed.question_type), ("subject", narrowed.subject)):
        if value:
            conditions.append(f"item.{name} = :{name}")
            values[name] = value
    if narrowed.state or narrowed.mine:
        values["me"] = people.someone(project).id
    if narrowed.state:
        conditions.append(f"({_STATE}) = :state")
        values["state"] = narrowed.state
    if narrowed.mine and _is_assigned(project, values["me"]):
        stages = {f"stage{place}": stage for place, stage in enumerate(narrowed.stages)}
        conditions.append(_MINE.format(f" AND stage IN (:{', :'.join(stages)})" if stages else ""))
        values |= stages
    limit = f" LIMIT {most}" if most >= 0 else ""
    question = text(
        f"SELECT {column} FROM {source} WHERE {' AND '.join(conditions)} "  # noqa: S608 - our own words only
        f"ORDER BY item.position, item.key, item.id{limit}"
    )
    return question, values


def _is_assigned(project: Project, person_id: str) -> bool:
    """Whether anything is assigned to a person at all."""
    with project.store.read() as db:
        question = text("SELECT 1 FROM assignment WHERE person_id = :me LIMIT 1")
        return db.execute(question, {"me": person_id}).first() is not None


# What the person working is offered.
_MINE = "item.id IN (SELECT item_id FROM assignment WHERE person_id = :me AND trial = 1{})"


# Labels count for none of it: how far they are is told report by report.
# How far an item is for one person: consensus or imported gold, all of theirs sealed, something begun, or nothing.
_STATE = """
CASE
 WHEN EXISTS (SELECT 1 FROM artifact a WHERE a.item_id = item.id AND a.kind <> 'labels'
  AND a.state = 'consensus') THEN 'settled'
 WHEN EXISTS (SELECT 1 FROM artifact a WHERE a.item_id = item.id AND a.kind <> 'labels'
  AND a.author_id = :me AND a.state = 'draft')
  THEN 'in progress'
 WHEN EXISTS (SELECT 1 FROM artifact a WHERE a.item_id = item.id AND a.kind <> 'labels'
  AND a.author_id = :me) THEN 'submitted'
 ELSE 'new'
END
"""


def lines(project: Project, item_ids: Sequence[str]) -> list[ItemLine]:
    """The list's lines for some items, in the order of the ids; ask for a screenful, not for all."""
    found = {line.id: line for _, line in _lines(project, "item.id", item_ids)}
    return [found[item_id] for item_id in item_ids if item_id in found]


def lines_at(project: Project, row_numbers: Sequence[int]) -> list[ItemLine]:
    """The list's lines for some rows, in the order of their numbers; ask for a screenful, not for all."""
    found = dict(_lines(project, search.NUMBER, row_numbers))
    return [found[number] for number in row_numbers if number in found]


def _lines(project: Project, column: str, values: Sequence[str | int]) -> Iterator[tuple[int, ItemLine]]:
    me = people.someone(project).id
    question = text(f"""
        SELECT {search.NUMBER}, item.id, item.key, item.question, item.question_type, item.subject, item.language,
         {_STATE},
         (SELECT count(*) FROM artifact a WHERE a.item_id = item.id AND a.kind <> 'labels'
           AND (a.author_id IN (:me, '') OR a.state = 'consensus')),
         (SELECT count(*) FROM response r WHERE r.item_id = item.id),
         (SELECT count(*) FROM judgement j WHERE j.item_id = item.id AND j.rater_id = :me)
        FROM item WHERE {column} IN :wanted""").bindparams(bindparam("wanted", expanding=True))  # noqa: S608 - our own words only
    with project.store.read() as db:
        rows = db.execute(question, {"me": me, "wanted": list(values)}).all()
        of = roles.among(db, [row[1] for row in rows])
    for row in rows:
        counts = row[9:] if FOLLOWS[of[row[1]]].answered else (0, 0)
        yield row[0], ItemLine(*(*row[1:9], *counts, of[row[1]]))


def read(project: Project, item_id: str) -> Item:
    """An item; KeyError when there is none of that id."""
    with project.store.read() as db:
        row = db.execute(select(ITEM).where(ITEM.c.id == item_id)).mappings().first()
    if row is None:
        raise KeyError(item_id)
    return item_of(dict(row))


def item_of(row: dict[str, Any]) -> Item:
    return Item(**{key: value for key, value in row.items() if key != "sha256"})


def choices(project: Project) -> tuple[list[str], list[str]]:
    """The question types and the subjects that occur, each in alphabetical order."""
    with project.store.read() as db:
        types = (
            db.execute(select(ITEM.c.question_type).distinct().where(ITEM.c.question_type != ""))
            .scalars()
            .all()
        )
        subjects = db.execute(select(ITEM.c.subject).distinct().where(ITEM.c.subject != "")).scalars().all()
    return sorted(types), sorted(subjects)


def add(
    project: Project,
    question: str,
    question_type: str = "",
    subject: str = "",
    language: str = "en",
    more: Mapping[str, object] = MappingProxyType({}),
) -> Change:
    """A new item at the end of the project, with the next free number as its key; `more` says what is known of it.

    A key that is wanted gives way to the next one like it where it is taken.
    """
    with project.store.write() as db:
        position = (db.execute(select(func.max(ITEM.c.position))).scalar() or 0) + 1
        # Over all datasets: a key is how people and commands call an item.
        keys = set(db.execute(select(ITEM.c.key)).scalars())
        key = next(str(n) for n in range(len(keys) + 1, 2 * len(keys) + 2) if str(n) not in keys)
        if "key" in more:
            key = free_key(str(more["key"]), keys)
        item = _checked(
            {
                "question": question.strip(),
                "question_type": question_type.strip(),
                "subject": subject.strip(),
                "language": language,
                "position": position,
                **more,
                "key": key,
            },
            new_id(),
        )
        db.execute(insert(ITEM), {**item.model_dump(), "sha256": item_hash(item.model_dump())})
        search.index(db, [item])
        return record(project, db, Change("item", item.id, "add item", None, item.model_dump()))


def add_once(project: Project, key: str, question: str, more: Mapping[str, object]) -> tuple[Item, bool]:
    """The item of a key, or without one of a question, and whether it is new; one that is there stays as it is.

    Refusal where the key has another question, and in a project made from a task.
    """
    _refuse_task(project)
    known = ITEM.c.key == key if key else func.trim(ITEM.c.question, " \t\r\n") == question
    with project.store.write() as db:
        row = db.execute(select(ITEM).where(known).order_by(ITEM.c.retired)).mappings().first()
        if row is None:
            made = add(project, question, more={**more, **({"key": key} if key else {})})
            return read(project, made.subject), True
    if question not in {row["question"].strip(), row["working_title"].strip()} - {""}:
        raise Refusal(
            f"The key “{key}” is taken by another question.",
            "Choose another key, or change that item with items edit; nothing was added.",
        )
    return item_of(dict(row)), False


def change(project: Project, item_id: str, **fields: object) -> Change:
    return change_all(project, {item_id: fields})


def change_all(project: Project, values: Mapping[str, Mapping[str, object]], verb: str = "") -> Change:
    """Give items new values, by id and field, in one act that can be undone. What is said already makes no change.

    Refusal for anyone but a coordinator, for a value that does not fit, and for the question of a settled query.
    """
    people.refuse_others(project, "can change items")
    _refuse_task(project)
    before, after = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
    with project.store.write() as db:
        for item_id, fields in values.items():
            old = _row(db, item_id)
            new = {name: value for name, value in fields.items() if old[name] != value}
            if "question" in new and asked.settled(db, [item_id]):
                raise Refusal(
                    f"The query of item {old['key']} is settled, and its first wording is the question.",
                    "Reopen the query on the Adjudicate page and close it with other words; nothing was changed.",
                )
            if new:
                _write(db, old, new)
                before[item_id], after[item_id] = {name: old[name] for name in new}, new
        verb = verb or _verb(after)
        if len(after) == 1:
            ((item_id, only),) = after.items()
            return record(project, db, Change("item", item_id, verb, before[item_id], only))
        if after:
            return record(project, db, Change("item", "", verb, {SEVERAL: before}, {SEVERAL: after}))
    return Change("item", next(iter(values), ""), verb, None, None, by=project.by)


def _refuse_task(project: Project) -> None:
    if project.from_task:
        raise Refusal("The items came with the task.", "Ask who sent you the task.")


def changed_by(change: Change) -> dict[str, dict[str, Any]]:
    """What a change of items gave each of them, by id."""
    if not change.seq:
        return {}
    several: dict[str, dict[str, Any]] = change.after.get(SEVERAL, {change.subject: change.after})
    return several


def _verb(after: Mapping[str, Mapping[str, object]]) -> str:
    """What is done to items, in words."""
    done = list(after.values())
    if all(fields == {"retired": True} for fields in done):
        return "retire items" if len(done) > 1 else "retire item"
    if all(fields == {"retired": False} for fields in done):
        return "bring items back" if len(done) > 1 else "bring item back"
    return f"change {', '.join(dict.fromkeys(name for fields in done for name in fields))}"


def ids_of(project: Project, keys: Sequence[str], *, in_use: bool = False) -> list[str]:
    """The ids of the items with these keys, retired ones too unless they are to be in use; Refusal names other keys."""
    question = select(ITEM.c.key, ITEM.c.id).where(
        ITEM.c.key.in_(keys), ITEM.c.retired.in_({False, not in_use})
    )
    with project.store.read() as db:
        known = dict(db.execute(question).all())
    if missing := [f"“{key}”" for key in keys if key not in known]:
        raise Refusal(
            f"There is no item {', '.join(missing[:NAMED])}.", "Check the key; nothing was changed."
        )
    return [known[key] for key in keys]


def _row(db: Connection, item_id: str) -> dict[str, Any]:
    return dict(db.execute(select(ITEM).where(ITEM.c.id == item_id)).mappings().one())


def _write(db: Connection, old: dict[str, Any], values: dict[str, object]) -> None:
    item = _checked(old | values, old["id"])
    if item.question != old["question"]:
        asked.keep_answers(db, item.id, old["question"])
    fields = item.model_dump(exclude={"id"})
    db.execute(update(ITEM).where(ITEM.c.id == item.id).values(**fields, sha256=item_hash(item.model_dump())))
    search.index(db, [item])


def _checked(values: dict[str, object], item_id: str) -> Item:
    try:
        fields = ItemFields.model_validate({k: v for k, v in values.items() if k in ItemFields.model_fields})
    except ValidationError as error:
        first = error.errors()[0]
        raise Refusal(
            f"The item's {first['loc'][0]} does not fit: {first['msg'].lower()}.", "Nothing was changed."
        ) from None
    return Item(id=item_id, **fields.model_dump())


def restore(_project: Project, db: Connection, item_id: str, present: Any, goal: Any) -> None:
    """Put the subject of a change from one image to another; Refusal when it has moved on."""
    there, wanted = present.get(SEVERAL, {item_id: present}), goal.get(SEVERAL, {item_id: goal})
    for each, image in there.items():
        old = _row(db, each)
        if any(old[name] != value for name, value in image.items()):
            raise Refusal("This item was changed elsewhere since.", "Look at it again; nothing was undone.")
        _write(db, old, wanted[each])


def count(project: Project) -> int:
    with project.store.read() as db:
        return int(db.execute(text("SELECT count(*) FROM item WHERE retired = 0")).scalar_one())
