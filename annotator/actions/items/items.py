"""Items: listing, searching and creating them."""

import json
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

from pydantic import ValidationError
from sqlalchemy import (
    Boolean,
    ColumnElement,
    TextClause,
    and_,
    bindparam,
    func,
    insert,
    literal_column,
    not_,
    select,
    text,
    update,
)
from sqlalchemy.engine import Connection

from annotator.actions.authoring import annotating
from annotator.actions.project import people
from annotator.actions.project.file import Project, item_hash, record, source_hash
from annotator.domain.common import Change, Refusal, counted, new_id, sha256, storable
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.kind import FOLLOWS, ItemRole, Kind, Stage
from annotator.domain.material.item import (
    EXEMPLAR,
    EXEMPLAR_TITLE,
    LATEX,
    SEMINARS,
    Item,
    Source,
    SourceFormat,
    free_key,
)
from annotator.domain.stored import ItemFields
from annotator.domain.texts import identifier
from annotator.storage import store
from annotator.storage.tables import ITEM, RESPONSE, SOURCE, SOURCE_FILE

FORMATS = {".md": SourceFormat.MARKDOWN, ".markdown": SourceFormat.MARKDOWN, ".pdf": SourceFormat.PDF}


def sources(project: Project, item_id: str) -> list[Source]:
    rows = (
        project.query(
            select(SOURCE).where(SOURCE.c.item_id == item_id).order_by(SOURCE.c.position, SOURCE.c.id)
        )
        .mappings()
        .all()
    )
    return [Source(**{name: value for name, value in row.items() if name != "sha256"}) for row in rows]


def beside(project: Project, item_id: str) -> list[Source]:
    """The sources to read beside an item, including its exemplar as text, before the LaTeX it was made from."""
    own = sources(project, item_id)
    question = (
        select(RESPONSE.c.id, RESPONSE.c.text)
        .filter_by(item_id=item_id, mode=EXEMPLAR)
        .order_by(RESPONSE.c.trial, RESPONSE.c.id)
    )
    rows = project.query(question.order_by(RESPONSE.c.trial, RESPONSE.c.id)).all()
    made = [Source(id=row.id, item_id=item_id, title=EXEMPLAR_TITLE, text=row.text) for row in rows]
    return sorted([*own, *made], key=lambda source: bool(made) and source.title.endswith(LATEX))


def file_bytes(project: Project, source_id: str) -> bytes | None:
    """The PDF of a source; None if it is a text, or was imported without its file."""
    return project.query(select(SOURCE_FILE.c.content).where(SOURCE_FILE.c.source_id == source_id)).scalar()


def add_source(project: Project, item_id: str, path: Path, title: str = "") -> Change:
    """Add a Markdown, plain-text or PDF file as a source of an item; raises Refusal if it cannot be read as such.

    A PDF is stored unchanged, with its text beside it for marking and searching quotations. A text that the item
    already has under the title makes no change; the title defaults to the file's name.
    """
    from annotator.exchange.pages import worker
    from annotator.exchange.texts import documents

    form = FORMATS.get(path.suffix.lower(), SourceFormat.PLAIN)
    content = documents.read(path)
    text = (
        worker.pdf_text(content, path.name)
        if form is SourceFormat.PDF
        else documents.plain_text(content, path.name)
    )
    title = storable(title.strip() or path.stem)[:1000]
    with project.store.write() as db:
        same = select(SOURCE.c.id).filter_by(item_id=item_id, title=title, sha256=source_hash(text))
        if source_id := db.execute(same).scalar():
            return Change("source", source_id, "add source", by=project.by)
        source = put(db, item_id, title, text, form)
        if form is SourceFormat.PDF:
            db.execute(
                insert(SOURCE_FILE),
                {"source_id": source.id, "content": content, "sha256": sha256(content)},
            )
        image = source.model_dump(mode="json", exclude={"text"})
        return record(project, db, Change("source", source.id, "add source", after=image))


def put(
    db: Connection,
    item_id: str,
    title: str,
    text: str,
    form: SourceFormat = SourceFormat.MARKDOWN,
    drafted: str = "",
) -> Source:
    """Write a source after the others of its item, whose id must exist; the caller records the change."""
    if not db.execute(select(ITEM.c.id).where(ITEM.c.id == item_id)).first():
        raise KeyError(item_id)
    last = db.execute(select(func.max(SOURCE.c.position)).where(SOURCE.c.item_id == item_id)).scalar()
    source = Source(
        id=new_id(), item_id=item_id, title=title, format=form, text=text, drafted=drafted,
        position=0 if last is None else last + 1,
    )  # fmt: skip
    db.execute(insert(SOURCE), {**source.model_dump(), "sha256": source_hash(text)})
    return source


# The SQL condition of each item role: the first that holds applies; otherwise the item is a question.
_HOLDS: dict[ItemRole, str] = {
    ItemRole.TASK: "item.made_from <> ''",
    ItemRole.SEMINAR: f"""item.made_from = '' AND item.dataset = '{SEMINARS}' AND (
 EXISTS (SELECT 1 FROM source WHERE source.item_id = item.id AND source.transcript <> '')
 OR EXISTS (SELECT 1 FROM artifact WHERE artifact.item_id = item.id
  AND artifact.kind IN ('{Kind.INSPIRATIONS}', '{Kind.TASKS}')))""",  # noqa: S608 - our own words only
    ItemRole.PAPER: f"""EXISTS (SELECT 1 FROM response
 WHERE response.item_id = item.id AND response.mode = '{EXEMPLAR}')""",  # noqa: S608 - our own words only
}  # fmt: skip
_CASES = [f"WHEN {holds} THEN '{role}'" for role, holds in _HOLDS.items()]
_ROLE: ColumnElement[str] = literal_column(f"CASE {' '.join(_CASES)} ELSE '{ItemRole.QUESTION}' END")
# Whether systems answer an item, for queries that read items; and the ids of the others, for those that do not.
ANSWERED = and_(
    *(literal_column(f"(NOT ({_HOLDS[role]}))", Boolean) for role in _HOLDS if not FOLLOWS[role].answered)
)
SOURCES_ONLY = select(ITEM.c.id).where(not_(ANSWERED))


def among(db: Connection, item_ids: Iterable[str]) -> dict[str, ItemRole]:
    rows = db.execute(select(ITEM.c.id, _ROLE).where(ITEM.c.id.in_(item_ids)))
    return {item_id: ItemRole(role) for item_id, role in rows}


def of(project: Project, item_id: str) -> ItemRole:
    with project.store.read() as db:
        return among(db, [item_id])[item_id]


def counts(db: Connection) -> dict[str, int]:
    result = Counter(db.execute(select(_ROLE).where(ITEM.c.retired.is_(False))).scalars())
    return {role.value: result[role.value] for role in ItemRole if result[role.value]}


def words(role_counts: Mapping[str, int]) -> str:
    roles = ", ".join(counted(many, role) for role, many in role_counts.items())
    return f" ({roles})" if role_counts.keys() - {ItemRole.QUESTION.value} else ""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """The seminars in use, and the reports on them, which stay in the file but are not used."""

    seminars: int = 0
    reports: int = 0

    @property
    def sentence(self) -> str:
        """A sentence saying that nobody is asked about the seminars; empty if there are none."""
        what = counted(self.seminars, "seminar is", "seminars are")
        return f"{what} left out: {_WHY}" if self.seminars else ""

    @property
    def not_counted(self) -> str:
        """A sentence saying that reports on them do not count; empty if there are none."""
        what = counted(self.reports, "report on a seminar is", "reports on seminars are")
        return f"{what} left out: {_WHY}" if self.reports else ""


_WHY = "a seminar is what tasks are made of, and no task itself."


def left_out(project: Project) -> LeftOut:
    """The seminars and reports left out wherever items are answered, labelled, judged and counted."""
    sources = SOURCES_ONLY.where(ITEM.c.retired.is_(False))
    reports = select(func.count()).select_from(RESPONSE).where(RESPONSE.c.item_id.in_(sources))
    with project.store.read() as db:
        many = db.execute(select(func.count()).select_from(sources.subquery())).scalar_one()
        return LeftOut(many, db.execute(reports).scalar_one() if many else 0)


def refuse_seminars(project: Project, keys: Iterable[str]) -> None:
    """Refuse keys of items for which nothing can be answered or judged."""
    question = select(ITEM.c.key).where(ITEM.c.key.in_(list(keys)), not_(ANSWERED))
    if key := project.query(question.order_by(ITEM.c.position)).scalar():
        raise Refusal(
            f"Item {key} is a seminar: {_WHY} Nothing was asked.",
            "Keep one of its tasks (Items → Seminars → Tasks), and name that item.",
        )


def refuse_kind(project: Project, keys: Iterable[str], kind: object) -> None:
    """Refuse keys of items for which a kind of document is not written; anything but a kind is allowed for all."""
    question = select(ITEM.c.key, _ROLE).where(ITEM.c.key.in_(list(keys)), ITEM.c.retired.is_(False))
    for key, role in project.query(question.order_by(ITEM.c.position)):
        if isinstance(kind, Kind) and kind not in FOLLOWS[ItemRole(role)].kinds:
            raise Refusal(
                f"Item {key} is a {role}: “{KINDS[kind].title}” is not written for it. Nothing was asked.",
                "Choose other items.",
            )


STATES = ("new", "in progress", "submitted", "settled")
# The key under which a change of several items stores their images, by id.
SEVERAL = "items"
# At most this many unknown keys are named.
NAMED = 8


@dataclass(frozen=True, slots=True)
class Filter:
    """A filter of the item list; empty values match everything.

    `mine` selects what is assigned to the person working, only of `stages` if any are named; it does not filter for
    anyone without assignments.
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
    """A line of the item list, with the progress of this person and of the project; 0 for reports on a seminar."""

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
    question, values = _search(project, narrowed, "item.id")
    with project.store.read() as db:
        return list(db.execute(question, values).scalars())


def questions(project: Project, most: int) -> list[str]:
    question, values = _search(project, Filter(), "item.question", most)
    with project.store.read() as db:
        return list(db.execute(question, values).scalars())


def numbers(project: Project, narrowed: Filter = Filter(), most: int = -1) -> "array[int]":
    """The row numbers of the matching items, in the project's order: eight bytes each, for lists of any length.

    `most` limits their number, fast enough for every keystroke.
    """
    question, values = _search(project, narrowed, store.NUMBER, most)
    with project.store.read() as db:
        # SQLAlchemy's own rows take twice as long for a million items.
        result: Any = db.execute(question, values).cursor
        return array("q", (row[0] for row in result))


def number(project: Project, item_id: str) -> int:
    question = text(f"SELECT {store.NUMBER} FROM item WHERE id = :id")  # noqa: S608 - our own words only
    with project.store.read() as db:
        return db.execute(question, {"id": item_id}).scalar() or 0


def _search(
    project: Project, narrowed: Filter, column: str, most: int = -1
) -> tuple[TextClause, dict[str, Any]]:
    source, conditions, values = store.matching(narrowed.words)
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
    with project.store.read() as db:
        return (
            db.execute(
                text("SELECT 1 FROM assignment WHERE person_id = :me LIMIT 1"), {"me": person_id}
            ).first()
            is not None
        )


# The condition for what is assigned to the person working.
_MINE = "item.id IN (SELECT item_id FROM assignment WHERE person_id = :me AND trial = 1{})"


# The state of an item for one person: consensus or imported gold, all of theirs sealed, something begun, or nothing.
# Labels do not count: their progress is shown report by report.
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
    result = {line.id: line for _, line in _lines(project, "item.id", item_ids)}
    return [result[item_id] for item_id in item_ids if item_id in result]


def lines_at(project: Project, row_numbers: Sequence[int]) -> list[ItemLine]:
    """The list's lines for some rows, in the order of their numbers; ask for a screenful, not for all."""
    result = dict(_lines(project, store.NUMBER, row_numbers))
    return [result[number] for number in row_numbers if number in result]


def _lines(project: Project, column: str, values: Sequence[str | int]) -> Iterator[tuple[int, ItemLine]]:
    me = people.someone(project).id
    question = text(f"""
        SELECT {store.NUMBER}, item.id, item.key, item.question, item.question_type, item.subject, item.language,
         {_STATE},
         (SELECT count(*) FROM artifact a WHERE a.item_id = item.id AND a.kind <> 'labels'
           AND (a.author_id IN (:me, '') OR a.state = 'consensus')),
         (SELECT count(*) FROM response r WHERE r.item_id = item.id),
         (SELECT count(*) FROM judgement j WHERE j.item_id = item.id AND j.rater_id = :me),
         {_ROLE}
        FROM item WHERE {column} IN :wanted""").bindparams(bindparam("wanted", expanding=True))  # noqa: S608 - our own words only
    with project.store.read() as db:
        rows = db.execute(question, {"me": me, "wanted": list(values)}).all()
    for number, *fields, responses, labelled, role in rows:
        counts = (responses, labelled) if FOLLOWS[role].answered else (0, 0)
        yield number, ItemLine(*(*fields, *counts, ItemRole(role)))


def read(project: Project, item_id: str) -> Item:
    """An item; raises KeyError if there is none with that id."""
    row = project.query(select(ITEM).where(ITEM.c.id == item_id)).mappings().first()
    if row is None:
        raise KeyError(item_id)
    return item_of(dict(row))


def item_of(row: dict[str, Any]) -> Item:
    return Item(**{key: value for key, value in row.items() if key != "sha256"})


def choices(project: Project) -> tuple[list[str], list[str]]:
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
    """Add an item at the end of the project, with the next free number as its key; `more` are its other fields.

    A requested key that is taken is replaced by the next free one like it.
    """
    with project.store.write() as db:
        position = (db.execute(select(func.max(ITEM.c.position))).scalar() or 0) + 1
        # Over all datasets: people and commands name an item by its key.
        keys = set(db.execute(select(ITEM.c.key)).scalars())
        key = free_key(str(more.get("key", len(keys) + 1)), keys)
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
        store.index(db, [item])
        return record(project, db, Change("item", item.id, "add item", None, item.model_dump()))


def add_once(project: Project, key: str, question: str, more: Mapping[str, object]) -> tuple[Item, bool]:
    """The item with a key, or without one with a question, and whether it is new; an existing one is not changed.

    Raises Refusal if the key has another question, and in a project made from a task.
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


@people.for_coordinators("can change items")
def change_all(project: Project, values: Mapping[str, Mapping[str, object]], verb: str = "") -> Change:
    """Change fields of items, by id and field, in one undoable change. Unchanged values make no change.

    Raises Refusal for anyone but a coordinator, for a value that does not fit, and for the question of a settled query.
    """
    _refuse_task(project)
    before, after = dict[str, dict[str, Any]](), dict[str, dict[str, Any]]()
    with project.store.write() as db:
        for item_id, fields in values.items():
            old = _row(db, item_id)
            new = {name: value for name, value in fields.items() if old[name] != value}
            if "question" in new and annotating.settled(db, [item_id]):
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
    if not change.seq:
        return {}
    return dict(change.after.get(SEVERAL, {change.subject: change.after}))


def _verb(after: Mapping[str, Mapping[str, object]]) -> str:
    done = list(after.values())
    for retired, verb in ((True, "retire {}"), (False, "bring {} back")):
        if all(fields == {"retired": retired} for fields in done):
            return verb.format("items" if len(done) > 1 else "item")
    return f"change {', '.join(dict.fromkeys(name for fields in done for name in fields))}"


def ids_of(project: Project, keys: Sequence[str], *, in_use: bool = False) -> list[str]:
    """The ids of the items with these keys, including retired ones unless `in_use`; the Refusal names unknown keys."""
    known = dict(
        project.query(
            select(ITEM.c.key, ITEM.c.id).where(ITEM.c.key.in_(keys), ITEM.c.retired.in_({False, not in_use}))
        ).all()
    )
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
        annotating.keep_answers(db, item.id, old["question"])
    fields = item.model_dump(exclude={"id"})
    db.execute(update(ITEM).where(ITEM.c.id == item.id).values(**fields, sha256=item_hash(item.model_dump())))
    store.index(db, [item])


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
    """Restore the subject of a change from one image to another; raises Refusal if it has changed since."""
    images, target = present.get(SEVERAL, {item_id: present}), goal.get(SEVERAL, {item_id: goal})
    for each, image in images.items():
        old = _row(db, each)
        if any(old[name] != value for name, value in image.items()):
            raise Refusal("This item was changed elsewhere since.", "Look at it again; nothing was undone.")
        _write(db, old, target[each])


def count(project: Project) -> int:
    with project.store.read() as db:
        return int(db.execute(text("SELECT count(*) FROM item WHERE retired = 0")).scalar_one())


COUNTED = {
    "items": "SELECT count(*) FROM item WHERE retired = 0",
    "systems": "SELECT count(*) FROM system",
    "responses": "SELECT count(*) FROM response",
    "sources": "SELECT count(*) FROM source",
    "people": "SELECT count(*) FROM person",
    "judges": "SELECT count(*) FROM judge",
    "runs": "SELECT count(*) FROM run",
    "judgements": "SELECT count(*) FROM judgement",
    "labels": "SELECT count(*) FROM judgement WHERE rater_kind = 'person'",
    "assignments": "SELECT count(*) FROM assignment",
    "agreements": "SELECT count(*) FROM agreement",
    "adjudications": "SELECT count(*) FROM adjudication",
    "exemplars": "SELECT count(*) FROM response WHERE mode = 'exemplar'",
    "works": "SELECT count(*) FROM page WHERE url LIKE 'arxiv:%' OR url LIKE 'doi:%'",
}


def content_counts(project: Project) -> dict[str, Any]:
    """Counts of everything; criteria, references and nuggets are those that reports are judged by.

    `roles` counts the items by role, `left_out` the responses that are not used.
    """
    with project.store.read() as db:
        item_ids = set(db.execute(select(ITEM.c.id).where(ITEM.c.retired.is_(False))).scalars())
        criteria, references, nuggets = (
            _units(db, kind, item_ids) for kind in (Kind.RUBRIC, Kind.EVIDENCE, Kind.NUGGETS)
        )
        on_arxiv = set(db.execute(text("SELECT url FROM page WHERE url LIKE 'arxiv:%'")).scalars())
        result: dict[str, Any] = {
            name: db.execute(text(question)).scalar_one() for name, question in COUNTED.items()
        }
        artifacts: dict[str, int] = dict(
            db.execute(text("SELECT kind, count(*) FROM artifact GROUP BY kind ORDER BY kind")).all()
        )
        of_roles = counts(db)
        types: dict[str, int] = dict(
            db.execute(
                text(
                    "SELECT question_type, count(*) FROM item WHERE retired = 0 AND question_type != '' "
                    "GROUP BY question_type ORDER BY question_type"
                )
            ).all()
        )
    weights = Counter(unit["weight"] for unit in criteria)
    gold = [unit for unit in nuggets if unit.get("support", "support") == "support"]
    return {
        "title": project.title,
        **result,
        "roles": of_roles,
        "left_out": left_out(project).reports,
        "criteria": sum(weights.values()),
        "references": len(references),
        "references_arxiv": sum(str(identifier.parse(unit["identifier"])) in on_arxiv for unit in references),
        "nuggets": len(gold),
        "nuggets_vital": _vital(gold),
        "nuggets_drawn": len(nuggets),
        "nuggets_drawn_vital": _vital(nuggets),
        "criterion_weights": {str(weight): weights[weight] for weight in sorted(weights)},
        "question_types": types,
        "artifacts": artifacts,
    }


def _units(db: Connection, kind: Kind, item_ids: Collection[str]) -> list[dict[str, Any]]:
    rows = annotating.judged_rows(db, kind).items()
    return [unit for item_id, row in rows if item_id in item_ids for unit in json.loads(row.content)["units"]]


def _vital(nuggets: Iterable[dict[str, Any]]) -> int:
    return sum(unit["importance"] == "vital" for unit in nuggets)
