"""The sample project: its shipped release is imported like any other, then assigned and worked on.

What it ships holds the same content whenever it is made; what it adds to be worked in is dated from today.
"""

import asyncio
import json
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, insert, select

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating
from annotator.actions.consensus import consensus
from annotator.actions.contests import contest_rows
from annotator.actions.imports import imports, practice
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.labelling.label_rows import WAITS, submitted, to_submit
from annotator.actions.material import extracting
from annotator.actions.parcels import tray
from annotator.actions.project import backups, people
from annotator.actions.project.file import SAMPLE, TITLE, Progress, Project, is_sample, settings_of
from annotator.actions.research import research
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.adjudication import Confidence, Reason
from annotator.domain.experts.assignment import (
    Arrival,
    ParcelOutcome,
    Person,
    Purpose,
    ReturnedPiece,
    Role,
    Stage,
)
from annotator.domain.experts.publication import CANARY, canary_of
from annotator.domain.judges.judge import RaterKind
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.canonical import canonical_json, derived_id, sha256
from annotator.domain.texts.refusal import Refusal
from annotator.places import resources
from annotator.protocols import papers
from annotator.protocols.profiles import HELD
from annotator.storage.tables import ARTIFACT, JUDGEMENT, PARCEL, REVISION, TIME

WRITING = (
    Stage.SELECTION, Stage.QUERY, Stage.INSIGHTS, Stage.RUBRIC, Stage.PLAN, Stage.EVIDENCE, Stage.DIAGNOSTICS,
)  # fmt: skip
FIRST, SECOND, THIRD = "norm-placement", "early-warning", "desalination-plan"
A, B, C, SENIOR = "Annotator A", "Annotator B", "Annotator C", "Adjudicator"
# What everybody wrote before the rest was handed out.
PILOT = FIRST, Stage.INSIGHTS
# Item, who, stages, and the day in 2026 by which they are due.
HANDED_OUT: tuple[tuple[str, tuple[str, ...], tuple[Stage, ...], tuple[int, int]], ...] = (
    (FIRST, (A, B), WRITING, (2, 27)),
    (SECOND, (A, B), WRITING, (3, 6)),
    (THIRD, (B, C), WRITING, (3, 13)),
    (FIRST, (A, B), (Stage.LABELLING,), (3, 20)),
    (SECOND, (A, B), (Stage.LABELLING,), (3, 27)),
    (SECOND, (A, B), (Stage.NUGGETS,), (4, 30)),
    (THIRD, (B, C), (Stage.CHECKLIST,), (4, 30)),
    (FIRST, (SENIOR,), (Stage.ADJUDICATION,), (3, 13)),
    (SECOND, (SENIOR,), (Stage.ADJUDICATION,), (4, 17)),
    # Of the third item the coordinator has written nothing and may adjudicate it.
    (THIRD, (A,), (Stage.ADJUDICATION,), (4, 24)),
)
# Active seconds that a document took: to begin, and for each unit.
BEGUN, EACH = 140.0, 85.5
# The step of a plan as its author reworded it after the consensus was closed.
LATE_STEP = "Examine why unbalanced gradients alone cannot explain the failure of deep models."


# The small samples, by their names.
RELATED_WORK, SEMINAR = "related-work", "seminar"


def create(path: Path, progress: Progress | None = None, *, to_work_in: bool = True) -> Project:
    """A new project file with the sample in it, opened as its coordinator; Refusal when it exists.

    Without what is `to_work_in` it holds what is shipped and released, and nothing of today.
    """
    fill = partial(_fill, progress=progress, to_work_in=to_work_in)
    return Project.create(path, practice.TITLE if to_work_in else TITLE, uses=HELD, fill=fill)


def create_small(path: Path, name: str, progress: Progress | None = None) -> Project:
    """A new project file with a small sample of a paper in it, labelled by two people and judged by two judges.

    Refusal when it exists.
    """
    paper, sample = next((one, one.sample) for one in papers() if one.sample and one.sample.name == name)
    folder = resources() / name

    def fill(project: Project) -> None:
        people.someone(project)
        imports.run(project, sample.layout, [folder / sample.layout], progress=progress)

    project = Project.create(path, sample.title, uses=sample.uses, fill=fill)
    baseline = judges.BASELINE.name
    if (works := folder / "works.csv").is_file():
        research.from_place(project, works)
    for matches in folder.glob("matches.csv"):
        contest_rows.import_matches(project, matches)
    for extraction in paper.extractions:
        if extraction.baseline is not None:
            asyncio.run(extracting.run(project, RunRequest(baseline, extraction.name)))
    judged = [protocol.name for protocol in paper.protocols if protocol.baseline is not None]
    for protocol in judged:
        asyncio.run(judge_runs.run(project, RunRequest(baseline, protocol)))
    practice.label_small(project, folder / "labels.json")
    practice.record_model(project, *judged)
    return project


def reset(path: Path, progress: Progress | None = None) -> Path:
    """Put a new sample in the place of the present one and set that aside; where it was set aside.

    Refusal when another project lies there, or when it is open; nothing is moved then.
    """
    result = settings_of(path)
    if result.get("id") and not is_sample(result):
        raise Refusal(f"“{path.name}” is not the sample project.", "Name the file of the sample.")
    with backups.replaced(path) as (fresh, aside):
        create(fresh, progress).close()
    return aside


def _fill(project: Project, progress: Progress | None, to_work_in: bool) -> None:
    if to_work_in:
        practice.ask(project)
    imports.run(project, "goldsmith", [resources() / "sample"], progress=progress)
    # Each page has something to show before all is adjudicated; the figures say whose gold it is.
    project.set(annotating.UNADJUDICATED, True)
    everybody = {person.alias: person for person in people.people(project)}
    keys = {items.read(project, item_id).key: item_id for item_id in items.ids(project)}
    with project.store.write() as db:
        _hand_out(project, everybody, keys)
        due = JUDGEMENT.c.rater_kind == RaterKind.PERSON.value, to_submit(), ~submitted()
        for row in db.execute(select(JUDGEMENT).where(*due)).mappings().all():
            given = {name: value for name, value in row.items() if name != "sha256"}
            labels.put(db, {**given, "flags": WAITS}, given)
        _spend(db)
        _receive(db, everybody[B], keys)
    if to_work_in:
        practice.set_out(project, everybody, keys)
    project.work_as(everybody[SENIOR])
    _begin_adjudicating(project, keys[SECOND])
    project.work_as(next(person for person in everybody.values() if person.has(Role.COORDINATOR)))
    project.set(SAMPLE, True)
    # Its releases are the same on every machine.
    project.set(CANARY, canary_of("sample"))


def _hand_out(project: Project, everybody: dict[str, Person], keys: dict[str, str]) -> None:
    for key, who, stages, due in HANDED_OUT:
        for alias in who:
            for stage in stages:
                purpose = Purpose.PILOT if (key, stage) == PILOT else Purpose.WORK
                assignments.assign_one(
                    project, keys[key], everybody[alias].id, stage, due=_day(*due), purpose=purpose
                )
    assignments.assign_one(
        project, keys[FIRST], everybody[B].id, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT,
        not_before=_day(4, 20), due=_day(5, 8),
    )  # fmt: skip


def _day(month: int, day: int) -> datetime:
    return datetime(2026, month, day, 17, tzinfo=UTC)


def _spend(db: Connection) -> None:
    """The active time behind each document; that of labels is kept with the labels."""
    rows = []
    for row in _documents(db):
        seconds = BEGUN + EACH * len(json.loads(row.content)["units"])
        made = {
            "id": derived_id("time", row.author_id, row.id),
            "person_id": row.author_id,
            "subject": row.id,
        }
        rows.append({**made, "seconds": seconds, "at": row.at})
    db.execute(insert(TIME), rows)


def _documents(db: Connection, *conditions: Any) -> Iterator[Any]:
    newest = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
    own = (ARTIFACT.c.state != State.CONSENSUS.value, ARTIFACT.c.kind != Kind.LABELS.value)
    question = select(ARTIFACT, REVISION.c.content, REVISION.c.at).join(REVISION, newest)
    yield from db.execute(question.where(*own, *conditions).order_by(ARTIFACT.c.id))


def _receive(db: Connection, person: Person, keys: dict[str, str]) -> None:
    """A file that came back: labels that went in, and a plan that came too late and waits in the tray."""
    from annotator.exchange.parcels import packages

    (plan,) = _documents(
        db,
        ARTIFACT.c.item_id == keys[FIRST],
        ARTIFACT.c.kind == Kind.PLAN.value,
        ARTIFACT.c.author_id == person.id,
    )
    tree = json.loads(plan.content)
    tree["units"][4]["text"] = LATE_STEP
    content, number = canonical_json(tree).decode(), plan.revision + 2
    tray.put(
        db, ParcelOutcome.LATE, person.id, content, item_id=plan.item_id, stage=Stage.PLAN, revision=number
    )
    digest = sha256(content)
    pieces = (
        ReturnedPiece(
            outcome=ParcelOutcome.NEW, item_key=SECOND, stage=Stage.LABELLING, revision=1, words="It will be added."
        ),
        ReturnedPiece(
            outcome=ParcelOutcome.LATE, item_key=FIRST, stage=Stage.PLAN, revision=number,
            words="The consensus was closed before it arrived.",
        ),
    )  # fmt: skip
    arrival = Arrival(
        file="sample-work.goldsmith-work", outcome=ParcelOutcome.LATE, person_id=person.id, person_name=person.name,
        receipt=packages.receipt_code(digest), pieces=pieces,
    )  # fmt: skip
    db.execute(
        insert(PARCEL).values(
            sha256=digest, direction="in", person_id=person.id, receipt=arrival.receipt,
            package_id=derived_id("work", digest), content=arrival.model_dump_json(), at=_day(3, 18),
        )
    )  # fmt: skip


def _begin_adjudicating(project: Project, item_id: str) -> None:
    """A plan half ruled on, so that the page shows how far one is."""
    adjudication = adjudicating.open_(project, item_id, Stage.PLAN).id
    shared = [
        row for row in adjudicating.sheet(project, adjudication).rows if len(row.units) > 1 and row.contested
    ]
    rationales = ("What is forecast from is what tells the families apart.", "“Past” goes without saying.")
    for row, words in zip(shared, rationales, strict=False):
        ruling.rule(
            project, row.ruling.id, "B", reason=Reason.WORDING, rationale=words, confidence=Confidence.HIGH
        )
    consensus.remark(
        project, adjudication, "Does a plan have to name the events by which services are judged?"
    )
