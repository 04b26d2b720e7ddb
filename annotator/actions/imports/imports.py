"""Import of foreign files: previewed first, then everything in one transaction or nothing."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.engine import Connection

from annotator.actions.adjudication import kept_tasks
from annotator.actions.authoring import annotating, asked, criterion_weights, gold
from annotator.actions.imports import collected_papers
from annotator.actions.imports.intake import PERSON, WRITTEN, BundleIntake
from annotator.actions.imports.intake_drawn import PAGE_TEXTS, SETTINGS
from annotator.actions.items import final_pass, items, renderings
from annotator.actions.items.items import ITEM, item_of
from annotator.actions.items.materials import PAGE, PAIRS
from annotator.actions.labelling import second_looks
from annotator.actions.project import backups
from annotator.actions.project.bulk import Progress, insert_rows
from annotator.actions.project.file import Project
from annotator.actions.project.incoming import ImportPreview, Incoming, Row
from annotator.actions.project.recording import record
from annotator.actions.releases import gathering
from annotator.actions.transcripts import seminars
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import document_of
from annotator.domain.kinds.rubric import Rubric, not_allowed
from annotator.domain.texts.change import Change
from annotator.domain.texts.identity import new_id
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.eprints.rules import Rules
from annotator.exchange.formats import layouts, tables
from annotator.exchange.formats.layout import ExistingItems, FileLayout, KnownItem
from annotator.exchange.formats.layouts import LAYOUTS
from annotator.exchange.formats.tables import TablesMapping
from annotator.exchange.release import release
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.release.records import ArtifactRecord, ItemRecord
from annotator.exchange.transcripts import reader
from annotator.storage import search
from annotator.storage.tables import SystemRow, table

SYSTEM = table(SystemRow)
GOLDSMITH, COLLECTED, TRANSCRIPTS, TABLES = "goldsmith", "collected", "transcripts", tables.NAME
TRANSCRIPT_ENDINGS = reader.ENDINGS
SHOWN_PROBLEMS = 1000
# Of a release one of these lies in its folder; no table ends in what transcripts do.
RELEASED = {"manifest.json", "items.json"}
SPOKEN = {".vtt", ".srt", ".docx", ".pdf"}
# Items of one's own tables are known by their keys, whatever collection they came with.
OWN_TABLES = FileLayout(
    TABLES, "", "", read=lambda _, __: (Bundle(), []), files=lambda _: ({}, []), numbers=lambda _: {}
)
FILED = (ITEM.c.question_type, ITEM.c.subject)


def offered() -> dict[str, str]:
    """What can be read, by name, in words to choose by: benchmarks' own layouts, and releases."""
    own = {name: f"{layout.title} ({layout.holds})" for name, layout in LAYOUTS.items()}
    return own | {
        TABLES: "Tables and reports of your own",
        GOLDSMITH: "Goldsmith release",
        COLLECTED: "Papers collected from arXiv (feeds and eprints)",
        TRANSCRIPTS: "Transcripts of seminars (WebVTT, SRT, JSON, text, Word, PDF)",
    }


def usual(project: Project) -> str:
    """The format to choose first: that of most items that came in by one, in a project without any the first of all."""
    of = {layout.dataset or name: name for name, layout in LAYOUTS.items()} | {seminars.DATASET: TRANSCRIPTS}
    c = ITEM.c
    held = (
        select(c.dataset)
        .where(c.dataset.in_(of))
        .group_by(c.dataset)
        .order_by(func.count().desc(), c.dataset)
    )
    with project.store.read() as db:
        found = db.execute(held.limit(1)).scalar()
    return of[found] if found is not None else next(iter(offered()))


def format_of(paths: Sequence[Path]) -> str:
    """What files hold, by their content: a release, a benchmark's own folder, transcripts, or else tables."""
    if are_collected(paths):
        return COLLECTED
    if paths and {path.suffix.lower() for path in paths} <= SPOKEN:
        return TRANSCRIPTS
    names = {one.name for path in paths if path.is_dir() for one in path.iterdir()}
    names |= {path.name for path in paths}
    if RELEASED & names:
        return GOLDSMITH
    marked = (name for name, one in LAYOUTS.items() if any(names.issuperset(mark) for mark in one.marks))
    return next(marked, TABLES)


def are_collected(paths: Sequence[Path]) -> bool:
    """Whether these are one folder of papers collected from arXiv."""
    return len(paths) == 1 and Collection.is_at(paths[0])


def preview(
    project: Project,
    format: str,  # noqa: A002
    paths: Sequence[Path],
    rules: Rules | None = None,
    progress: Progress | None = None,
    *,
    pseudonyms: bool = False,
    mapping: TablesMapping | None = None,
) -> ImportPreview:
    """What an import of these files would do; writes nothing. Refusal when they cannot be read at all.

    By `rules` collected papers are kept or left out; with `pseudonyms` speakers of transcripts become S1, S2 …; a
    `mapping` says what the columns of tables hold. Without a format the content tells it (`format_of`).
    """
    format = format or format_of(paths)  # noqa: A001
    read = _read(project, format, paths, rules, progress or _silent, pseudonyms=pseudonyms, mapping=mapping)
    bundle, problems, _ = read
    with project.store.read() as db:
        return _preview(format, problems, _compare(project, db, format, bundle))


def run(
    project: Project,
    format: str,  # noqa: A002
    paths: Sequence[Path],
    *,
    skip_bad: bool = False,
    progress: Progress | None = None,
    warm: bool = True,
    rules: Rules | None = None,
    pseudonyms: bool = False,
    mapping: TablesMapping | None = None,
) -> tuple[Change, ImportPreview]:
    """Take the files in. Unless `skip_bad`, one bad entry keeps everything out, and the Refusal names it.

    What the project has already is never overwritten: alike it is passed over, different it is a problem.
    `warm` renders the new reports once they are in, which takes much longer than the import itself; a caller
    that must not wait does that later.
    """
    tell = progress or _silent
    tell("reading files", 0, len(paths))
    format = format or format_of(paths)  # noqa: A001
    read = _read(project, format, paths, rules, tell, pseudonyms=pseudonyms, mapping=mapping)
    bundle, problems, names = read
    with project.store.read() as db:
        incoming, seen = _compare(project, db, format, bundle), project.store.watch.token()
    report = _preview(format, problems, incoming)
    _refuse_bad(report, skip_bad)
    if not report.new:
        return Change("import", format, "nothing new", after=_image(report, paths)), report
    if items.count(project):
        backups.make(project, "before an import")
    with project.store.write() as db:
        if seen != project.store.watch.token():
            # Someone has written since the first look.
            incoming = _compare(project, db, format, bundle)
            report = _preview(format, problems, incoming)
            _refuse_bad(report, skip_bad)
        _write(project, db, incoming, tell)
        for source_id, of_source in names.items():
            project.set(seminars.NAMES + source_id, of_source)
        change = record(project, db, Change("import", new_id(), "import", after=_image(report, paths)))
    if warm:
        renderings.warm(project, tell)
    return change, report


def _read(
    project: Project,
    format: str,  # noqa: A002
    paths: Sequence[Path],
    rules: Rules | None,
    tell: Progress,
    *,
    pseudonyms: bool,
    mapping: TablesMapping | None = None,
) -> seminars.Seminars:
    for path in paths:
        if not path.exists():
            raise Refusal(
                f"There is no “{path.name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
    if format == TRANSCRIPTS:
        return seminars.read(project, paths, tell, pseudonyms=pseudonyms)
    if format == GOLDSMITH:
        return seminars.Seminars(*_weighed(project, *release.read(paths), whole=True), {})
    if format == TABLES:
        read = tables.read(paths, _known_things(project), mapping)
        return seminars.Seminars(*_weighed(project, *read), {})
    if format == COLLECTED:
        return seminars.Seminars(*collected_papers.read(paths, rules or Rules(), tell), {})
    if format in LAYOUTS:
        known = _known(project, LAYOUTS[format])
        read = _weighed(project, *LAYOUTS[format].read(paths, known))
        return seminars.Seminars(*_told_apart(project, *read), {})
    raise Refusal(f"“{format}” is not a format that can be read.", f"Choose one of {', '.join(offered())}.")


def _weighed(
    project: Project, bundle: Bundle, problems: list[Problem], *, whole: bool = False
) -> tuple[Bundle, list[Problem]]:
    """The bundle without criteria of weights that the project does not allow; of rubrics that are `whole`, since their
    hash is signed or their criteria are judged, without each that has one.
    """
    weights = criterion_weights.after_import(project, bundle.weights)
    made = {
        one.id: document_of(one.kind, one.document) for one in bundle.artifacts if one.kind is Kind.RUBRIC
    }
    rubrics = {own: one for own, one in made.items() if isinstance(one, Rubric)}
    problems, kept, way = [*problems], [], criterion_weights.way_to_allow(weights, rubrics.values())
    for one in bundle.artifacts:
        rubric = rubrics.get(one.id, Rubric())
        odd = not_allowed(rubric, weights)
        for unit in odd[:1] if whole else odd:
            reason = f"{criterion_weights.has_weight(unit, weights)} ({way})"
            reason += "; its rubric comes in as a whole or not at all" if whole else ""
            problems.append(Problem(*bundle.place("artifacts", one.id), reason))
        left = tuple(unit for unit in rubric.units if unit not in odd)
        if odd and left and not whole:
            kept.append(ArtifactRecord.settled(one.id, one.item_id, Rubric(units=left), one.at))
        elif not odd:
            kept.append(one)
    return replace(bundle, artifacts=kept), problems


def _told_apart(project: Project, bundle: Bundle, problems: list[Problem]) -> tuple[Bundle, list[Problem]]:
    """The bundle without lists of tasks of which one has the id of another seminar's task: a contest could not tell
    the two apart."""
    lists = [one for one in bundle.artifacts if one.kind is Kind.TASKS]
    if not lists:
        return bundle, problems
    there = {task.id: item_id for item_id, tasks in kept_tasks.settled(project).items() for task in tasks}
    bad = {}
    for one in lists:
        own = (unit["id"] for unit in one.document["units"])
        taken = next((unit for unit in own if there.get(unit, one.item_id) != one.item_id), None)
        if taken is not None:
            key = items.read(project, there[taken]).key
            reason = f"its task {taken} is another one of seminar {key} here: give it another id"
            bad[one.id] = Problem(*bundle.place("artifacts", one.id), reason)
    kept = [one for one in bundle.artifacts if one.id not in bad]
    return replace(bundle, artifacts=kept), [*problems, *bad.values()]


def _known(project: Project, layout: FileLayout) -> ExistingItems:
    columns = (*(ITEM.c[name] for name in ("id", "key", "dataset", "question", "working_title")), *FILED)
    question = select(*columns).where(ITEM.c.dataset == (layout.dataset or layout.name))
    with project.store.read() as db:
        items = db.execute(question).all()
        systems = dict(db.execute(select(SYSTEM.c.name, SYSTEM.c.id)).all())
    # A benchmark's own files know a question by its first wording.
    known = {
        row.id: KnownItem(row.id, row.working_title or row.question, row.key, row.question_type, row.subject)
        for row in items
    }
    numbers = layout.numbers(items)
    return ExistingItems({number: known[found] for found, number in numbers.items()}, systems)


def _known_things(project: Project) -> tables.KnownThings:
    """Items by key, where two collections have the same key the first, and systems by name."""
    with project.store.read() as db:
        rows = db.execute(select(ITEM).order_by(ITEM.c.position.desc())).mappings().all()
        systems = dict(db.execute(select(SYSTEM.c.name, SYSTEM.c.id)).all())
    fields = ItemRecord.model_fields
    return tables.KnownThings(
        {row["key"]: ItemRecord(**{name: row[name] for name in fields}) for row in rows}, systems
    )


def _compare(project: Project, db: Connection, format: str, bundle: Bundle) -> Incoming:  # noqa: A002
    guideline = str(project.get("guideline", "1"))
    layout = (
        layouts.of_papers()
        if format == COLLECTED
        else OWN_TABLES
        if format == TABLES
        else LAYOUTS.get(format)
    )
    return BundleIntake(db, bundle, project.by, guideline, layout=layout).compare()


def _preview(format: str, problems: list[Problem], incoming: Incoming) -> ImportPreview:  # noqa: A002
    found = (*problems, *incoming.problems)
    bad = tuple(problem for problem in found if not problem.note)
    notes = tuple(problem for problem in found if problem.note)
    return ImportPreview(format, incoming.counts, bad, notes, incoming.units, incoming.bundle.funnel)


def _refuse_bad(report: ImportPreview, skip_bad: bool) -> None:
    bad = report.problems
    if bad and not skip_bad:
        more = f" (and {len(bad) - 1:,} more)" if len(bad) > 1 else ""
        raise Refusal(
            f"{str(bad[0]).rstrip('.')}{more}. Nothing was imported.",
            "Correct the files, or import only the valid records.",
            tuple(str(problem) for problem in bad[:SHOWN_PROBLEMS]),
        )


def _image(report: ImportPreview, paths: Sequence[Path]) -> dict[str, Any]:
    counts = {thing: count.new for thing, count in report.counts.items() if count.new}
    kept = {"rules": dict(report.funnel.rules)} if report.funnel else {}
    return {"format": report.format, "files": sorted(path.name for path in paths), "new": counts, **kept}


def _write(project: Project, db: Connection, incoming: Incoming, tell: Progress) -> None:
    for person_id, alias in incoming.new_aliases.items():
        db.execute(update(PERSON).where(PERSON.c.id == person_id).values(alias=alias))
    for row in incoming.rows.get("artifact", []):
        annotating.keep_scoring(project, db, Kind(row["kind"]), row["item_id"])
    write_rows(db, incoming.rows, tell)
    for page in incoming.rows.get(PAGE_TEXTS, []):
        db.execute(update(PAGE).where(PAGE.c.url == page["url"]), {"text": page["text"]})
    criterion_weights.take(project, criterion_weights.after_import(project, incoming.bundle.weights).text)
    for name in gathering.STATED:
        if not project.get(name, "") and (text := getattr(incoming.bundle, name)):
            project.set(name, text)
    if incoming.bundle.drawn_pairs and not project.get(PAIRS):
        pairs = {name: of.model_dump(mode="json") for name, of in incoming.bundle.drawn_pairs.items()}
        project.set(PAIRS, pairs)
    if incoming.bundle.error_sample is not None and not second_looks.sample(project):
        project.set(second_looks.SAMPLE, incoming.bundle.error_sample.model_dump(mode="json"))
    if incoming.bundle.unadjudicated:
        project.set(gold.UNADJUDICATED, True)
    theirs = {item.id for item in incoming.bundle.items}
    # What is here already is scored as it was.
    if incoming.bundle.rubric_set and theirs.issuperset(db.execute(select(ITEM.c.id)).scalars()):
        project.set(annotating.RUBRIC_SET, incoming.bundle.rubric_set)
    final_pass.take(project, incoming.bundle.final_pass)
    if incoming.bundle.awaited:
        project.set(gold.AWAITED, {**project.get(gold.AWAITED, {}), **incoming.bundle.awaited})
    for setting in incoming.rows.get(SETTINGS, []):
        project.set(setting["key"], setting["value"])
    search.index(db, [item_of(row) for row in incoming.rows.get("item", [])])
    queries = (row for row in incoming.rows.get("artifact", []) if row["kind"] == Kind.QUERY.value)
    asked.take(project, db, sorted({row["item_id"] for row in queries}))


def write_rows(db: Connection, rows_of: Mapping[str, list[Row]], tell: Progress) -> None:
    """Insert rows by table, parents first."""
    for written in WRITTEN:
        insert_rows(db, written, rows_of.get(written.name, []), tell)


def _silent(_stage: str, _done: int, _total: int) -> None:
    """Progress that nobody listens to."""
