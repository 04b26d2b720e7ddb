"""Import of foreign files: previewed first, then everything in one transaction or nothing."""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from sqlalchemy import Connection, select, update

from annotator import files
from annotator.actions.agreement import final_pass
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.contests import contest_standings
from annotator.actions.imports import label_files
from annotator.actions.imports.intake import PAGE_TEXTS, SETTINGS, WRITTEN, BundleIntake
from annotator.actions.items import items, materials, seminars
from annotator.actions.labelling import label_cases, label_sealing
from annotator.actions.project import backups, people, profile
from annotator.actions.project.file import SUFFIX, Progress, Project, insert_rows, record, silent
from annotator.actions.project.incoming import (
    ForeignFiles,
    ImportCount,
    ImportPreview,
    Incoming,
    Row,
    refuse_bad,
)
from annotator.actions.releases import releases
from annotator.actions.results import scoring
from annotator.domain.common import Change, Refusal, counted, nested, new_id
from annotator.domain.experts.publication import CANARY_MARK
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.domain.kinds.rubric import Rubric, not_allowed
from annotator.domain.material.item import END_TO_END, EXEMPLAR, KNOWN_MODES, spelled
from annotator.exchange import transcripts
from annotator.exchange.eprints.building import Rules, build
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.folders import pretty
from annotator.exchange.formats import layouts, tables
from annotator.exchange.formats.label_files import of_table
from annotator.exchange.formats.layout import ExistingItems, FileLayout, LabelFileContent
from annotator.exchange.formats.layouts import LAYOUTS
from annotator.exchange.formats.mappings import (
    FIELDS,
    FILE,
    HOW,
    REPORT,
    TableMapping,
    TablesMapping,
    column_of,
    matched,
    own_columns,
    says_something,
)
from annotator.exchange.release import release, runnable, tables_csv
from annotator.exchange.release.bundle import Bundle, Problem
from annotator.exchange.release.encryption import MARK
from annotator.exchange.release.records import ArtifactRecord, ItemRecord
from annotator.exchange.table_files import READERS, Table, read_table, values
from annotator.places import resources
from annotator.storage import store
from annotator.storage.tables import ARTIFACT, ITEM, JUDGE, PAGE, PERSON, RESPONSE, SYSTEM

__all__ = ["Rules", "read", "with_authors"]


def read(paths: Sequence[Path], rules: Rules, tell: Progress) -> tuple[Bundle, list[Problem]]:
    if len(paths) != 1 or not paths[0].is_dir():
        raise Refusal("Collected papers come from one folder.", "Choose the folder that was collected.")
    funnel = build(paths[0], rules, tell)
    made = layouts.of_papers().of_papers
    assert made is not None
    bundle, problems = made(funnel.passed)
    keys = {item.id: item.key for item in bundle.items}
    shown = {
        keys[response.item_id]: response.text for response in bundle.responses if response.mode == EXEMPLAR
    }
    thresholds = {name: value for name, value in asdict(rules).items() if isinstance(value, int)}
    bundle.funnel = replace(funnel, exemplars=shown, rules=thresholds)
    return bundle, problems


def with_authors(rules: Rules, path: Path, least_h: int) -> Rules:
    """Rules that also require a minimal h-index of an author, from a table with the columns author and h."""
    rows = read_table(path, ("author", "h")).rows
    known = {row["author"].casefold(): int(row["h"]) for row in rows if row.get("h", "").isdecimal()}
    return replace(rules, least_h=least_h, h_indices=known)


GOLDSMITH, COLLECTED, TRANSCRIPTS, TABLES = "goldsmith", "collected", "transcripts", tables.NAME
INSPECT = "inspect"
TRANSCRIPT_ENDINGS = transcripts.ENDINGS
# The folder of a release has one of these files; no table has an extension of transcripts.
RELEASED = {"manifest.json", "items.json"}
CAPTIONS = {".vtt", ".srt"}
SPOKEN = {".vtt", ".srt", ".txt", ".docx", ".pdf"}
# Items of the user's own tables are matched by key, whichever dataset they came with.
OWN_TABLES = FileLayout(
    TABLES, "", "", read=lambda _, __: (Bundle(), []), files=lambda _: ({}, []), numbers=lambda _: {}
)
FILED = (ITEM.c.question_type, ITEM.c.subject)
# A record is rarely longer than the part of a file that is searched.
CANARIES, LOOKED_AT = re.compile(CANARY_MARK.encode() + rb"[0-9a-f-]{36}"), 1_000_000


def offered(project: Project | None = None) -> dict[str, str]:
    """The formats that can be read, by name, with titles to choose from; for a project, those of its profile."""
    kinds = profile.profile(project).kinds if project else frozenset(Kind)
    own = {
        name: f"{layout.title} ({layout.holds})"
        for name, layout in LAYOUTS.items()
        if layout.kind in (None, *kinds)
    }
    own |= {TABLES: "Tables and reports of your own", GOLDSMITH: "Goldsmith release"}
    own |= {INSPECT: "Logs of Inspect AI, from the task of a release"} if Kind.RUBRIC in kinds else {}
    if layouts.of_papers().kind in kinds:
        own[COLLECTED] = "Papers collected from arXiv (feeds and eprints)"
    if Kind.INSPIRATIONS in kinds:
        own[TRANSCRIPTS] = "Transcripts of seminars (WebVTT, SRT, JSON, text, Word, PDF)"
    return own


def format_of(paths: Sequence[Path]) -> str:
    """The format of files, by their content: a release, a benchmark's own folder, transcripts, or else tables."""
    if len(paths) == 1 and Collection.is_at(paths[0]):
        return COLLECTED
    if paths and all(map(runnable.is_log, paths)):
        return INSPECT
    inside = [one for path in paths if path.is_dir() and os.access(path, os.R_OK) for one in path.iterdir()]
    if paths and {path.suffix.lower() for path in paths} <= SPOKEN:
        return TRANSCRIPTS
    endings = {path.suffix.lower() for path in (*paths, *inside)} - {""}
    if endings and endings <= CAPTIONS:
        return TRANSCRIPTS
    names = {path.name for path in (*paths, *inside)}
    if RELEASED & names:
        return GOLDSMITH
    marked = (
        name for name, layout in LAYOUTS.items() if any(names.issuperset(mark) for mark in layout.marks)
    )
    return next(marked, TABLES)


@dataclass(frozen=True, slots=True)
class ImportOptions:
    """Facts that the files do not state.

    `rules` select collected papers; with `pseudonyms` speakers of transcripts become S1, S2 …; a `mapping` names the
    columns of tables; with `allow_weights` the project comes to allow the weights of the files' criteria. Criteria and
    other units of tables are drafts of an `author` (an alias or an id), or settled gold from outside.
    """

    rules: Rules = field(default_factory=Rules)
    pseudonyms: bool = False
    mapping: TablesMapping | None = None
    allow_weights: bool = False
    author: str = ""


def preview(
    project: Project,
    format: str,  # noqa: A002
    paths: Sequence[Path],
    options: ImportOptions = ImportOptions(),
    progress: Progress | None = None,
) -> ImportPreview:
    """The effect of importing these files; writes nothing. Raises Refusal if they cannot be read at all.

    Without a format it is detected from the content (`format_of`).
    """
    format = format or format_of(paths)  # noqa: A001
    tell = progress or silent
    files = _in_modes(project, _read(project, format, paths, options, tell))
    if files.labels is None:
        with project.store.read() as db:
            return _compare(project, db, format, files, options)[1]
    # The items of the labels may come with them: only a trial on a copy shows what becomes of them.
    with TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        path = backups.save_copy(project, Path(folder) / f"trial{SUFFIX}")
        with closing(Project.open(path)) as copy, copy.store.write() as db:
            copy.person = project.person
            return _take(copy, db, format, files, options, tell)


def run(
    project: Project,
    format: str,  # noqa: A002
    paths: Sequence[Path],
    options: ImportOptions = ImportOptions(),
    *,
    skip_bad: bool = False,
    progress: Progress | None = None,
    warm: bool = True,
) -> tuple[Change, ImportPreview]:
    """Import the files. Unless `skip_bad`, one bad entry stops the import, and the Refusal names it.

    Existing records are never overwritten: equal ones are skipped, different ones are problems. `warm` renders the new
    reports after the import, which takes much longer than the import itself; a caller that must not wait does that
    later.
    """
    tell = progress or silent
    tell("reading files", 0, len(paths))
    format = format or format_of(paths)  # noqa: A001
    files = _in_modes(project, _read(project, format, paths, options, tell))
    if files.labels is None:
        with project.store.read() as db:
            report = _compare(project, db, format, files, options)[1]
        refuse_bad(report.problems, skip_bad)
        if not report.new:
            return Change("import", format, "nothing new", after=_image(report, paths)), report
    if items.count(project):
        backups.make(project, "before an import")
    used = profile.profile(project)
    with project.store.write() as db:
        report = _take(project, db, format, files, options, tell)
        refuse_bad(report.problems, skip_bad)
        if not report.new:
            return Change("import", format, "nothing new", after=_image(report, paths)), report
        if new := profile.profile(project).kinds - used.kinds:
            titles = " and ".join(spec.title.lower() for kind, spec in KINDS.items() if kind in new)
            note = Problem("profile", None, f"this project uses {titles} from now on", note=True)
            report = replace(report, notes=(*report.notes, note))
        change = record(project, db, Change("import", new_id(), "import", after=_image(report, paths)))
    if warm:
        materials.warm(project, tell)
    return change, report


def _take(
    project: Project,
    db: Connection,
    format: str,  # noqa: A002
    files: ForeignFiles,
    options: ImportOptions,
    tell: Progress,
) -> ImportPreview:
    """Write what fits, records first and then the labels on them; the rest is listed."""
    incoming, report = _compare(project, db, format, files, options)
    if report.new:
        if options.allow_weights and files.weights:
            settings.allow(project, files.weights)
        _write(project, db, incoming, tell)
        for source_id, of_source in files.names.items():
            project.set(seminars.NAMES + source_id, of_source)
    if files.labels is None:
        return report
    import_options = label_files.LabelImportOptions(protocol=label_cases.usual(project), new_raters=True)
    labels = label_files.take(project, db, files.labels, import_options, tell)
    counts = report.counts | {"labels": ImportCount(labels.changes, labels.same)}
    notes = [Problem("labels", None, note, note=True) for note in (*labels.notes, *labels.raters_in_words())]
    return replace(
        report, counts=counts, problems=(*report.problems, *labels.problems), notes=(*report.notes, *notes)
    )


def _read(
    project: Project,
    format: str,  # noqa: A002
    paths: Sequence[Path],
    options: ImportOptions,
    tell: Progress,
) -> ForeignFiles:
    for path in paths:
        if not path.exists():
            raise Refusal(
                f"There is no “{path.name}” in {path.absolute().parent}.", "Check the name or choose another."
            )
    if format == TRANSCRIPTS:
        return seminars.read(project, paths, tell, pseudonyms=options.pseudonyms)
    if format == GOLDSMITH:
        bundle, problems = release.read(paths)
        if canary := bundle.manifest.publication.canary:
            words = f"is release {bundle.manifest.number} of {_whose(project, canary)}"
            problems.append(Problem(paths[0].name, None, words, note=True))
        return _weighed(project, bundle, problems, options, whole=True)
    if format == TABLES:
        author = people.known(project, options.author).id if options.author else ""
        bundle, problems, tables_of_labels = tables.read(
            paths, _known_things(project), options.mapping, author
        )
        files = _weighed(project, bundle, [*problems, *_copies(project, paths)], options)
        if not tables_of_labels:
            return files
        content = LabelFileContent()
        for table, how in tables_of_labels:
            content.add(of_table(table, how))
        return files._replace(labels=content)
    if format == COLLECTED:
        return ForeignFiles(*read(paths, options.rules, tell))
    if format == INSPECT:
        return ForeignFiles(*runnable.read_logs(paths, _known_task(project)))
    if format in LAYOUTS:
        files = _weighed(project, *LAYOUTS[format].read(paths, _known(project, LAYOUTS[format])), options)
        return _without_shared_ids(project, files)
    raise Refusal(f"“{format}” is not a format that can be read.", f"Choose one of {', '.join(offered())}.")


def _copies(project: Project, paths: Sequence[Path]) -> Iterator[Problem]:
    """Notes on files with the canary of a release: flat rows have it in each record."""
    for path in paths:
        for file in sorted(path.rglob("*.jsonl")) if path.is_dir() else (path,):
            with file.open("rb") as content:
                head = content.read(LOOKED_AT)
            if known := CANARIES.search(head):
                words = f"is from a release of {_whose(project, known[0].decode())}"
                yield Problem(file.name, None, words, note=True)
            if MARK.encode() in head:
                words = "is encrypted: import the whole folder of the release, or what its decode.py writes"
                yield Problem(file.name, None, words)


def _whose(project: Project, canary: str) -> str:
    own = releases.published(project).canary
    return "this project" if canary == own else "a benchmark, which is for testing and not for training"


def _in_modes(project: Project, files: ForeignFiles) -> ForeignFiles:
    """Respell modes as here. A report of an unknown mode must state how it was produced, as the program's own do."""
    respelled = [
        response.model_copy(update={"mode": spelled(response.mode)}) for response in files.bundle.responses
    ]
    known = dict.fromkeys((*KNOWN_MODES, *scoring.modes_of(project)))
    odd = {
        record.id: record.mode
        for record in respelled
        if record.mode not in known and not (record.cutoff or record.settings)
    }
    problems = [
        Problem(
            *files.bundle.place("responses", own),
            f"there is no mode “{mode[:80]}”; there are: {', '.join(known)}. A release tells of one of "
            "your own in “settings” or “cutoff” how it was asked for; a mapping leaves a column out",
        )
        for own, mode in odd.items()
    ]
    bundle = replace(files.bundle, responses=[record for record in respelled if record.id not in odd])
    return files._replace(bundle=bundle, problems=[*files.problems, *problems])


def _weighed(
    project: Project, bundle: Bundle, problems: list[Problem], options: ImportOptions, *, whole: bool = False
) -> ForeignFiles:
    """The bundle without criteria whose weights the project does not allow; without the whole rubric if they are
    `whole`, as their hash is signed or their criteria are judged.
    """
    weights = settings.after_import(project, bundle.manifest.weights)
    made = {
        artifact.id: document_of(artifact.kind, artifact.document)
        for artifact in bundle.artifacts
        if artifact.kind is Kind.RUBRIC
    }
    rubrics = {own: document for own, document in made.items() if isinstance(document, Rubric)}
    odd = {own: units for own, rubric in rubrics.items() if (units := not_allowed(rubric, weights))}
    needed = settings.beside(weights, rubrics.values()) if odd else ""
    if not odd or (options.allow_weights and needed):
        return ForeignFiles(bundle, problems, weights=needed)
    many, (first, units) = sum(map(len, odd.values())), next(iter(odd.items()))
    reason = f"{settings.has_weight(units[0], weights)}"
    reason += f", and so {counted(many - 1, 'criterion', 'criteria')} more" if many > 1 else ""
    reason += "; such a rubric comes in as a whole or not at all" if whole else ""
    way = (
        f"Allow {needed} in this project, and all fit." if needed else "No project can have so many weights."
    )
    problems = [*problems, Problem(*bundle.place("artifacts", first), f"{reason}. {way}")]
    left = [
        ArtifactRecord.settled(artifact.id, artifact.item_id, Rubric(units=fits), artifact.at).model_copy(
            update={"author_id": artifact.author_id, "state": artifact.state}
        )
        for artifact in bundle.artifacts
        if artifact.id in odd
        and not whole
        and (fits := tuple(u for u in rubrics[artifact.id].units if u not in odd[artifact.id]))
    ]
    rest = [artifact for artifact in bundle.artifacts if artifact.id not in odd]
    return ForeignFiles(replace(bundle, artifacts=[*rest, *left]), problems, weights=needed)


def _without_shared_ids(project: Project, files: ForeignFiles) -> ForeignFiles:
    """The bundle without lists with an id of another seminar's task: a contest could not tell the two tasks apart."""
    lists = [artifact for artifact in files.bundle.artifacts if artifact.kind is Kind.TASKS]
    if not lists:
        return files
    existing = {
        task.id: item_id for item_id, tasks in contest_standings.settled(project).items() for task in tasks
    }
    bad = {}
    for task_list in lists:
        own = (unit["id"] for unit in task_list.document["units"])
        item_id = task_list.item_id
        taken = next((unit for unit in own if existing.get(unit, item_id) != item_id), None)
        if taken is not None:
            key = items.read(project, existing[taken]).key
            reason = f"its task {taken} is another one of seminar {key} here: give it another id"
            bad[task_list.id] = Problem(*files.bundle.place("artifacts", task_list.id), reason)
    rest = [artifact for artifact in files.bundle.artifacts if artifact.id not in bad]
    return files._replace(
        bundle=replace(files.bundle, artifacts=rest), problems=[*files.problems, *bad.values()]
    )


def _known(project: Project, layout: FileLayout) -> ExistingItems:
    columns = (*(ITEM.c[name] for name in ("id", "key", "dataset", "question", "working_title")), *FILED)
    with project.store.read() as db:
        items = db.execute(select(*columns).where(ITEM.c.dataset == (layout.dataset or layout.name))).all()
        systems = dict(db.execute(select(SYSTEM.c.name, SYSTEM.c.id)).all())
    # A benchmark's own files identify a question by its first wording.
    known = {
        row.id: ItemRecord(
            id=row.id, key=row.key, question=row.working_title or row.question, question_type=row.question_type,
            subject=row.subject,
        )
        for row in items
    }  # fmt: skip
    numbers = layout.numbers(items)
    return ExistingItems({number: known[result] for result, number in numbers.items()}, systems)


def _known_things(project: Project) -> tables.KnownThings:
    with project.store.read() as db:
        rows = db.execute(select(ITEM).order_by(ITEM.c.position.desc())).mappings().all()
        systems = dict(db.execute(select(SYSTEM.c.name, SYSTEM.c.id)).all())
        r, a = RESPONSE.c, ARTIFACT.c
        reports = {(row[0], row[1], row[2]) for row in db.execute(select(r.item_id, r.system_id, r.trial))}
        rubrics = set(db.execute(select(a.item_id).where(a.kind == Kind.RUBRIC.value)).scalars())
    fields = ItemRecord.model_fields
    known = {row["key"]: ItemRecord(**{name: row[name] for name in fields}) for row in rows}
    return tables.KnownThings(known, systems, reports, rubrics)


def _known_task(project: Project) -> runnable.KnownTask:
    known, r = _known_things(project), RESPONSE.c
    with project.store.read() as db:
        judges = set(db.execute(select(JUDGE.c.id)).scalars())
        rows = db.execute(select(r.item_id, r.system_id, r.id, r.trial).where(r.mode == END_TO_END))
        trials = nested(((row.item_id, row.system_id), row.id, row.trial) for row in rows)
        rubrics = map(artifacts.artifact_of, annotating.judged_rows(db, Kind.RUBRIC).values())
        criteria = {
            artifact.item_id: {unit.id: (artifact.id, unit.text) for unit in artifact.document.units}
            for artifact in rubrics
        }
    by_id = {item.id: item for item in known.items.values()}
    return runnable.KnownTask({**known.items, **by_id}, criteria, known.systems, trials, judges)


def _compare(
    project: Project,
    db: Connection,
    format: str,  # noqa: A002
    files: ForeignFiles,
    options: ImportOptions,
) -> tuple[Incoming, ImportPreview]:
    """What the files bring beside what is here, and the preview of it."""
    guideline = str(project.get("guideline", "1"))
    layout = (
        layouts.of_papers()
        if format == COLLECTED
        else OWN_TABLES
        if format == TABLES
        else LAYOUTS.get(format)
    )
    decided = contest_standings.decisions(project) if files.bundle.decisions else {}
    intake = BundleIntake(db, files.bundle, project.by, guideline, layout=layout, decided=decided)
    incoming = intake.compare()
    every = (*files.problems, *incoming.problems)
    bad = tuple(problem for problem in every if not problem.note)
    notes = [problem for problem in every if problem.note]
    if files.weights and options.allow_weights:
        notes.append(Problem("weights", None, f"this project allows {files.weights} from now on", note=True))
    weights = "" if options.allow_weights else files.weights
    return incoming, ImportPreview(
        format, incoming.counts, bad, tuple(notes), incoming.units, incoming.bundle.funnel, weights
    )


def _image(report: ImportPreview, paths: Sequence[Path]) -> dict[str, Any]:
    counts = {thing: count.new for thing, count in report.counts.items() if count.new}
    funnel_rules = {"rules": dict(report.funnel.rules)} if report.funnel else {}
    return {
        "format": report.format,
        "files": sorted(path.name for path in paths),
        "new": counts,
        **funnel_rules,
    }


def _write(project: Project, db: Connection, incoming: Incoming, tell: Progress) -> None:
    for person_id, alias in incoming.new_aliases.items():
        db.execute(update(PERSON).where(PERSON.c.id == person_id).values(alias=alias))
    made = incoming.rows.get("artifact", [])
    for row in made:
        annotating.keep_scoring(project, db, Kind(row["kind"]), row["item_id"])
    write_rows(db, incoming.rows, tell)
    new = {row["id"] for row in made}
    for artifact in incoming.bundle.artifacts:
        if artifact.drafted and artifact.id in new:
            artifacts.remember(project, db, artifact.id, artifact.drafted)
    for page in incoming.rows.get(PAGE_TEXTS, []):
        db.execute(update(PAGE).where(PAGE.c.url == page["url"]), {"text": page["text"]})
    manifest = incoming.bundle.manifest
    settings.take(project, settings.after_import(project, manifest.weights).text)
    theirs = {item.id for item in incoming.bundle.items}
    alone = theirs.issuperset(db.execute(select(ITEM.c.id)).scalars())
    pairs = {name: of.model_dump(mode="json") for name, of in manifest.drawn_pairs.items()}
    sample = manifest.error_sample.model_dump(mode="json") if manifest.error_sample else None
    decided = {one["task"]: one for one in incoming.rows.get(contest_standings.DECISIONS, [])}
    # Setting → its value; nothing where the files bring none, or the project's own stands.
    brought = {
        materials.PAIRS: pairs if not project.get(materials.PAIRS) else None,
        label_sealing.SAMPLE: sample if not label_sealing.sample(project) else None,
        annotating.UNADJUDICATED: manifest.unadjudicated,
        # Existing items are scored as before.
        annotating.RUBRIC_SET: alone and incoming.bundle.rubric_set,
        annotating.AWAITED: manifest.awaited and {**project.get(annotating.AWAITED, {}), **manifest.awaited},
        contest_standings.DECISIONS: decided and {**project.get(contest_standings.DECISIONS, {}), **decided},
        **{setting["key"]: setting["value"] for setting in incoming.rows.get(SETTINGS, [])},
    }
    for key, value in brought.items():
        if value:
            project.set(key, value)
    releases.keep(project, manifest.publication, alone=alone)
    final_pass.take(project, manifest.final_pass)
    store.index(db, [items.item_of(row) for row in incoming.rows.get("item", [])])
    queries = {row["item_id"] for row in made if row["kind"] == Kind.QUERY.value}
    annotating.take(project, db, sorted(queries))


def write_rows(db: Connection, rows_of: Mapping[str, list[Row]], tell: Progress) -> None:
    for written in WRITTEN:
        insert_rows(db, written, rows_of.get(written.name, []), tell)


ENDINGS = tuple(READERS)
# The title of every field.
WORDS = {field: field.replace("_", " ").capitalize() for field in FIELDS}
KEEP, LEFT_OUT = "Keep with the item", "Leave out"
load_mapping = TablesMapping.at
# The number of rows shown of a table.
SHOWN = 6
# File, row and reason.
Refused = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class TableMatch:
    """The first rows of a table and the meaning of its columns, some in nested data; `plain` ones can be kept."""

    table: Table
    size: str
    paths: tuple[str, ...]
    plain: frozenset[str]
    how: TableMapping

    def unmatched(self, path: str) -> str:
        beside = says_something(self.how) and not self.how.of_labels
        return KEEP if beside and self.plain & {path, column_of(path)} else LEFT_OUT

    def words(self, path: str) -> str:
        fields = (WORDS[field] for field, of in self.how.columns.items() if of == path)
        return ", ".join(fields) or self.unmatched(path)

    def cell(self, index: int, path: str) -> str:
        return " · ".join(str(value) for value in values(self.table.rows[index], path) if value is not None)

    def match(self, path: str, field: str) -> "TableMatch":
        """The same with another field for a column, or none; for reports without a system it is the file's name."""
        columns = {
            **{one: of for one, of in self.how.columns.items() if one != field and of != path},
            **({field: path} if field else {}),
        }
        constants = {one: value for one, value in self.how.constants.items() if one not in columns}
        if REPORT in columns and "system" not in columns:
            constants = {"system": Path(self.table.name).stem} | constants
        return replace(self, how=self.how.model_copy(update={"columns": columns, "constants": constants}))

    @property
    def constants(self) -> str:
        return "; ".join(f"{WORDS[field]} = {value}" for field, value in self.how.constants.items())

    def with_constants(self, typed: str) -> "TableMatch":
        parts = [part.partition("=") for part in typed.split(";") if part.strip()]
        constants = {name.strip().casefold().replace(" ", "_"): value.strip() for name, _, value in parts}
        if constants.keys() - FIELDS.keys() or not all(constants.values()):
            raise Refusal(
                f"“{typed}” does not say which field is what in every row.",
                f"Write it as “System = Alder; Language = en”; fields are {', '.join(WORDS.values())}.",
            )
        return replace(self, how=self.how.model_copy(update={"constants": constants}))


@dataclass(frozen=True, slots=True)
class ImportLook:
    paths: Sequence[Path]
    format: str
    tables: tuple[TableMatch, ...]
    preview: ImportPreview
    refused: list[Refused]


def look(project: Project, chosen: str, paths: Sequence[Path], options: ImportOptions) -> ImportLook:
    """The effect of importing these files; raises Refusal if a mapping is for other tables."""
    format_ = chosen or format_of(paths)
    plan, mapping = preview(project, format_, paths, options), options.mapping
    shown = tuple(_shown(*one) for one in matched(paths, mapping)) if format_ == TABLES else ()
    given = [table.columns for table in mapping.tables] if mapping else []
    if given and shown and not any(match.how.columns in given for match in shown):
        raise Refusal(
            "The mapping names columns that none of these tables has.",
            "Choose another mapping, or say above the columns what they hold.",
        )
    return ImportLook(paths, format_, shown, plan, [_placed(problem, shown) for problem in plan.problems])


def _shown(table: Table, how: TableMapping) -> TableMatch:
    paths = tuple(dict.fromkeys([*table.paths(), *how.columns.values()]))
    size = counted(len(table.rows), table.unit)
    return TableMatch(replace(table, rows=table.rows[:SHOWN]), size, paths, own_columns(table), how)


def _placed(problem: Problem, shown: Sequence[TableMatch]) -> Refused:
    """A problem as file, row and reason, to be fixed in the window."""
    reason = problem.reason.replace(HOW, "Choose above its columns what they hold.")
    if problem.row is not None:
        return problem.file, f"row {problem.row}", reason
    if problem.index is not None:
        of = next((match.table for match in shown if match.table.name == problem.file), None)
        return problem.file, of.place(problem.index) if of else f"entry {problem.index + 1}", reason
    row, _, rest = reason.partition(": ")
    # As in “row 12: its question is empty”.
    return (
        (problem.file, row, rest)
        if row.count(" ") == 1 and row[-1:].isdecimal()
        else (problem.file, "", reason)
    )


def exactly(shown: Sequence[TableMatch]) -> TablesMapping:
    """The mapping by which exactly these tables are read as shown."""
    return TablesMapping(
        tables=tuple(match.how.model_copy(update={"table": match.table.name}) for match in shown)
    )


def save_mapping(place: Path, shown: Sequence[TableMatch]) -> Path:
    """Save the mapping as a file for `--mapping`: for tables of any name, unless these would be confused."""
    free = sorted(map(_free, shown), key=lambda mapping: -len(mapping.columns))
    # Each table is read by the first mapping whose columns it has.
    first = [next(one for one in free if set(one.columns.values()) <= set(table.paths)) for table in shown]
    sure = all(one.columns for one in free) and first == [*map(_free, shown)]
    made = TablesMapping(tables=tuple({str(one): one for one in free}.values())) if sure else exactly(shown)
    return files.save(place, pretty(made.model_dump(exclude_defaults=True)))


def _free(shown: TableMatch) -> TableMapping:
    stem = Path(shown.table.name).stem
    constants = {field: FILE if value == stem else value for field, value in shown.how.constants.items()}
    return shown.how.model_copy(update={"constants": constants, "table": ""})


def shipped() -> list[str]:
    return sorted(path.stem for path in (resources() / "mappings").glob("*.json"))


def save_problems(place: Path, refused: Sequence[Refused]) -> Path:
    heads = ("file", "row", "reason")
    return files.save(place, tables_csv.csv([dict(zip(heads, one, strict=True)) for one in refused]))
