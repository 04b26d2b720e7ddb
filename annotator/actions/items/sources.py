"""Sources of an item, and adding a paper or page to it."""

from pathlib import Path

from sqlalchemy import func, insert, select
from sqlalchemy.engine import Connection

from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import source_hash
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.material.source import EXEMPLAR_TITLE, LATEX, Source, SourceFormat
from annotator.domain.texts.canonical import sha256, storable
from annotator.domain.texts.change import Change, new_id
from annotator.exchange.texts import documents
from annotator.storage.tables import (
    ITEM,
    RESPONSE,
    SOURCE,
    SOURCE_FILE,
)

FORMATS = {".md": SourceFormat.MARKDOWN, ".markdown": SourceFormat.MARKDOWN, ".pdf": SourceFormat.PDF}


def sources(project: Project, item_id: str) -> list[Source]:
    question = select(SOURCE).where(SOURCE.c.item_id == item_id).order_by(SOURCE.c.position, SOURCE.c.id)
    with project.store.read() as db:
        rows = db.execute(question).mappings().all()
    return [Source(**{name: value for name, value in row.items() if name != "sha256"}) for row in rows]


def beside(project: Project, item_id: str) -> list[Source]:
    """What people read beside an item: its sources, and its exemplar as text before the LaTeX that it was made of."""
    own = sources(project, item_id)
    question = (
        select(RESPONSE.c.id, RESPONSE.c.text)
        .filter_by(item_id=item_id, mode=EXEMPLAR)
        .order_by(RESPONSE.c.trial, RESPONSE.c.id)
    )
    with project.store.read() as db:
        rows = db.execute(question.order_by(RESPONSE.c.trial, RESPONSE.c.id)).all()
    made = [Source(id=row.id, item_id=item_id, title=EXEMPLAR_TITLE, text=row.text) for row in rows]
    return sorted([*own, *made], key=lambda one: bool(made) and one.title.endswith(LATEX))


def file_bytes(project: Project, source_id: str) -> bytes | None:
    """The PDF of a source; None when it is a text, or came without its file."""
    with project.store.read() as db:
        question = select(SOURCE_FILE.c.content).where(SOURCE_FILE.c.source_id == source_id)
        return db.execute(question).scalar()


def add_source(project: Project, item_id: str, path: Path, title: str = "") -> Change:
    """Put a Markdown, plain-text or PDF file beside an item; Refusal when it cannot be read as what it is.

    A PDF is kept as it is, and its text beside it, so that quotations can be marked and searched. Words that the item
    has under the title already make no change; the title is the file's name unless one is given.
    """
    from annotator.exchange.pages import worker

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
        if there := db.execute(same).scalar():
            return Change("source", there, "add source", by=project.by)
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
    """Write a source behind the others of its item, whose id is to be known; the caller records the change."""
    if not db.execute(select(ITEM.c.id).where(ITEM.c.id == item_id)).first():
        raise KeyError(item_id)
    last = db.execute(select(func.max(SOURCE.c.position)).where(SOURCE.c.item_id == item_id)).scalar()
    source = Source(
        id=new_id(), item_id=item_id, title=title, format=form, text=text, drafted=drafted,
        position=0 if last is None else last + 1,
    )  # fmt: skip
    db.execute(insert(SOURCE), {**source.model_dump(), "sha256": source_hash(text)})
    return source
