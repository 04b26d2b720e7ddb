"""The sample project: its shipped release is imported like any other, then assigned and worked on.

The shipped content is the same whenever it is created; the practice work added to it is dated from today.
"""

import asyncio
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any
from zlib import crc32

from sqlalchemy import Connection, insert, select, update

from annotator.actions import research
from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.consensus import consensus
from annotator.actions.contests import contest_rows
from annotator.actions.imports import imports
from annotator.actions.items import extracts, items, materials, pages
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.labelling.label_rows import WAITS, submitted, to_submit
from annotator.actions.material import extracting
from annotator.actions.parcels import tray
from annotator.actions.project import backups, people
from annotator.actions.project.file import (
    SAMPLE,
    TITLE,
    Progress,
    Project,
    is_sample,
    response_hash,
    settings_of,
)
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.runs.journal import RunJournal
from annotator.domain.common import Refusal, canonical_json, derived_id, new_id, now, sha256
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
from annotator.domain.experts.sharing import assignment_id
from annotator.domain.judges.judge import Call, Judge, Price, RaterKind, RunState, Status, Verdict
from annotator.domain.judges.protocol import Case, Scale, Verdicts
from annotator.domain.kinds.artifact import Anchor, Kind, State, Unit
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import ResponsePart, by_judge
from annotator.domain.material.item import Page, PageState, Response
from annotator.judging.runner import Finished
from annotator.places import resources
from annotator.protocols import EXTRACTIONS, PROTOCOLS, USUAL, papers
from annotator.protocols.profiles import HELD
from annotator.storage.tables import ARTIFACT, ASSIGNMENT, JUDGEMENT, PARCEL, RESPONSE, REVISION, SYSTEM, TIME

WRITING = (
    Stage.SELECTION, Stage.QUERY, Stage.INSIGHTS, Stage.RUBRIC, Stage.PLAN, Stage.EVIDENCE, Stage.DIAGNOSTICS,
)  # fmt: skip
FIRST, SECOND, THIRD = "norm-placement", "early-warning", "desalination-plan"
A, B, C, SENIOR = "Annotator A", "Annotator B", "Annotator C", "Adjudicator"
# What everybody wrote before the rest was handed out.
PILOT = FIRST, Stage.INSIGHTS
# Item, people, stages, and the day in 2026 by which they are due.
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
    # The coordinator has written nothing for the third item and may adjudicate it.
    (THIRD, (A,), (Stage.ADJUDICATION,), (4, 24)),
)
# Active seconds for a document: for its start, and for each unit.
BEGUN, EACH = 140.0, 85.5
# The step of a plan as reworded by its author after the consensus was closed.
LATE_STEP = "Examine why unbalanced gradients alone cannot explain the failure of deep models."


# The names of the small samples.
RELATED_WORK, SEMINAR = "related-work", "seminar"


def create(path: Path, progress: Progress | None = None, *, to_work_in: bool = True) -> Project:
    """A new project file with the sample in it, opened as its coordinator; raises Refusal if it exists.

    Without `to_work_in` it contains only what is shipped and released, and nothing dated today.
    """
    fill = partial(_fill, progress=progress, to_work_in=to_work_in)
    return Project.create(path, TITLE_TO_WORK_IN if to_work_in else TITLE, uses=HELD, fill=fill)


def create_small(path: Path, name: str, progress: Progress | None = None) -> Project:
    """A new project file with a small sample of a paper in it, labelled by two people and judged by two judges.

    Raises Refusal if it exists.
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
            asyncio.run(extracting.run(project, judge_cases.RunRequest(baseline, extraction.name)))
    judged = [protocol.name for protocol in paper.protocols if protocol.baseline is not None]
    for protocol in judged:
        asyncio.run(judge_runs.run(project, judge_cases.RunRequest(baseline, protocol)))
    label_small(project, folder / "labels.json")
    record_model(project, *judged)
    return project


def reset(path: Path, progress: Progress | None = None) -> Path:
    """Replace the present sample with a new one and set the old one aside; return its new path.

    Raises Refusal if the file is another project or is open; nothing is moved then.
    """
    result = settings_of(path)
    if result.get("id") and not is_sample(result):
        raise Refusal(f"“{path.name}” is not the sample project.", "Name the file of the sample.")
    with backups.replaced(path) as (fresh, aside):
        create(fresh, progress).close()
    return aside


def _fill(project: Project, progress: Progress | None, to_work_in: bool) -> None:
    if to_work_in:
        ask(project)
    imports.run(project, "goldsmith", [resources() / "sample"], progress=progress)
    # Each page has something to show before everything is adjudicated; the figures say whose gold it is.
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
        set_out(project, everybody, keys)
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
    """Store the active time spent on each document; that of labels is stored with the labels."""
    rows = [
        {
            "id": derived_id("time", row.author_id, row.id), "person_id": row.author_id, "subject": row.id,
            "seconds": BEGUN + EACH * len(json.loads(row.content)["units"]), "at": row.at,
        }
        for row in _documents(db)
    ]  # fmt: skip
    db.execute(insert(TIME), rows)


def _documents(db: Connection, *conditions: Any) -> Iterator[Any]:
    newest = (REVISION.c.artifact_id == ARTIFACT.c.id) & (REVISION.c.number == ARTIFACT.c.revision)
    own = (ARTIFACT.c.state != State.CONSENSUS.value, ARTIFACT.c.kind != Kind.LABELS.value)
    question = select(ARTIFACT, REVISION.c.content, REVISION.c.at).join(REVISION, newest)
    yield from db.execute(question.where(*own, *conditions).order_by(ARTIFACT.c.id))


def _receive(db: Connection, person: Person, keys: dict[str, str]) -> None:
    """Store a returned file: labels that were accepted, and a late plan that waits in the tray."""
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
    """Rule on half a plan, so that the page shows progress."""
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


TITLE_TO_WORK_IN = "Sample: ten questions, three systems"
# The setting with the id of the person whom the sample shows what to try, until they dismiss it.
TRYING = "trying"
WRITE, LABEL, RULE = "street-trees", "school-start", "night-trains"
QUESTIONS = {
    WRITE: (
        "How far do street trees lower summer heat for people on foot, what does that depend on, and what do "
        "the trees cost a town to plant and to keep?",
        "Literature Review",
        "Urban climate",
    ),
    LABEL: (
        "Should secondary schools begin later in the morning? Say what happens to sleep and to learning, what the "
        "change costs, and what is not known.",
        "Open Consulting",
        "Education",
    ),
    RULE: (
        "What did the trial of a night train between Larkhaven and Osterby show about demand, delays and costs?",
        "Technical Details",
        "Transport",
    ),
}
Criteria = tuple[tuple[str, int], ...]
QUOTE = "Shade, not cool air, is what a walker notices."
DRAFTED: Criteria = (
    ("Explains that shade, more than cooler air, is what people on foot feel", 3),
    ("States what a town pays to plant a tree and to keep it in its first years", 2),
)
OTHERS: Criteria = (
    ("Explains that people feel the shade of trees far more than the cooler air", 3),
    ("Compares the effect in narrow streets with that in wide ones", 2),
    ("Identifies open soil as what keeps trees cooling through dry weeks", 2),
    ("States the cost of planting and of keeping a street tree", 2),
    ("Mentions that trees can keep the air of a street slightly warmer at night", 1),
)
AGREED: Criteria = (
    ("States by how many minutes pupils slept longer after the change", 3),
    ("Says whether pupils went to bed later after the change", 2),
    ("Reports what happened to marks and whether that exceeds their usual variation", 3),
    ("Names what the later start costs in buses or drivers", 2),
    ("Mentions the need for supervision before the first lesson", 1),
    ("Says what no study has shown yet", 2),
)
ONE: Criteria = (
    ("Reports how many of the berths were taken on average and in winter", 3),
    ("Explains where most of the delays began", 2),
    ("States what a journey cost the operator and what it brought in", 3),
)
OTHER: Criteria = (
    ("Reports how many of the berths were taken on average", 3),
    ("Explains where and why most of the delays began", 3),
    ("States what one journey cost the operator and how much it brought in", 2),
    ("Says how many passengers would have flown instead", 2),
)
STEPS = (
    "Describe how long and how well pupils of this age sleep before and after the change.",
    "Compare what happened to marks, lateness and absence with how much they vary anyway.",
    "Estimate what the later start costs a town in buses, drivers and supervision.",
    "Identify which pupils and families gain and which lose by the later start.",
    "State what no study has shown yet, and what would settle it.",
)
# Where the questions of the sample come from, and when they were collected.
ORIGIN = {"origin": "forums", "collected": "2025-12"}
# The systems with reports, and the labels given to the first criteria of the report that a rater is shown first.
REPORTS = {"Larkmoor": ("yes", "yes", "yes"), "Quarrow": ("yes", "no", "no")}
PAGES = (
    ("https://schools.example.org/later-start/survey", "page-survey"),
    ("https://transport.example.org/school-buses", "page-buses"),
)
# When the reports were collected.
COLLECTED = date(2026, 1, 12)
# The number of cases covered by the run, of the twelve verdicts on the two reports.
JUDGED = 8
# An invented model: its “replies” are made up, and recorded like any run's calls.
RECORDED = "recorded-model"
WHY = {"yes": "The report says so.", "no": "Nothing in the report says so."}
PRICE = Price(input=0.40, output=1.60)
# An address of this machine where no server answers: a run of this judge fails at once, and nothing leaves the machine.
NOWHERE = "http://127.0.0.1:9/v1"
# The earliest due date in the shipped part is moved to this time from now; all others keep their distance from it.
AHEAD = timedelta(days=7)


def ask(project: Project) -> None:
    finished = {one["key"]: (one["question"], one["type"], one["subject"]) for one in _finished_questions()}
    for key, (question, kind, subject) in (QUESTIONS | finished).items():
        items.change(project, items.add(project, question, kind, subject).subject, key=key, **ORIGIN)


def _finished_questions() -> list[dict[str, Any]]:
    questions: list[dict[str, Any]] = json.loads((resources() / "practice/finished.json").read_bytes())
    return questions


def set_out(project: Project, everybody: dict[str, Person], keys: dict[str, str]) -> None:
    """Create the work on the questions, each piece by its author; dates are counted from today."""
    a, b, c, senior = (
        everybody[alias] for alias in ("Annotator A", "Annotator B", "Annotator C", "Adjudicator")
    )
    due = _hand_out_practice(project, keys, a, b, c)
    # So that the person who opens the sample sees one conflict, in words they can read.
    assignments.reassign(project, assignment_id(keys[THIRD], a.id, Stage.ADJUDICATION), senior.id)
    with project.store.write() as db:
        for key in (WRITE, RULE):
            items.put(db, keys[key], *_titled(key))
        reports = {
            _report(db, keys[LABEL], system, _text(f"{LABEL}.{system.lower()}")): values
            for system, values in REPORTS.items()
        }
    for person, key, criteria in ((b, WRITE, OTHERS), (b, RULE, ONE), (c, RULE, OTHER)):
        _write(project, person, keys[key], criteria)
    for person in (b, c):
        _write(project, person, keys[LABEL], AGREED)
    project.work_as(b)
    plan = Plan(units=tuple(Subtask(text=text) for text in STEPS))
    assignments.seal(project, artifacts.start(project, keys[LABEL], Kind.PLAN, plan).subject)
    project.work_as(senior)
    ruling.close(project, adjudicating.open_(project, keys[LABEL], Stage.RUBRIC).id)
    project.work_as(a)
    _cite(project, reports)
    _finish(project, keys, (a, b, c), senior, due)
    project.work_as(a)
    _judge(project)
    _begin(project, keys[WRITE], reports)
    project.set(TRYING, a.id)


def _text(name: str) -> str:
    return (resources() / "practice" / f"{name}.md").read_text(encoding="utf-8")


def _titled(name: str) -> tuple[str, str]:
    """The title of a text, which is its first line, and the whole text."""
    text = _text(name)
    return text.split("\n", 1)[0].lstrip("# "), text


def _hand_out_practice(project: Project, keys: dict[str, str], a: Person, b: Person, c: Person) -> datetime:
    """Assign the exercises; return the day by which everything is due."""
    with project.store.write() as db:
        by = _move_dates(db)
        for key, stage, people_asked, purpose in (
            (WRITE, Stage.RUBRIC, (a, b), Purpose.WORK),
            (LABEL, Stage.RUBRIC, (b, c), Purpose.WORK),
            (LABEL, Stage.LABELLING, (a, b), Purpose.WORK),
            (RULE, Stage.RUBRIC, (b, c), Purpose.WORK),
            (RULE, Stage.ADJUDICATION, (a,), Purpose.WORK),
            (LABEL, Stage.PLAN, (b,), Purpose.WORK),
            (LABEL, Stage.PLAN, (a,), Purpose.REVIEW),
        ):
            for person in people_asked:
                assignments.assign_one(project, keys[key], person.id, stage, due=by, purpose=purpose)
    return by


def _move_dates(db: Connection) -> datetime:
    """Move all dates so that the first due date is soon, and return it."""
    first = db.execute(select(ASSIGNMENT.c.due).order_by(ASSIGNMENT.c.due).limit(1)).scalar_one()
    by = datetime.combine(now().date() + AHEAD, first.timetz())
    for row in db.execute(select(ASSIGNMENT.c.id, ASSIGNMENT.c.due, ASSIGNMENT.c.not_before)).all():
        begins = row.not_before and row.not_before + (by - first)
        dates = {"due": row.due + (by - first), "not_before": begins}
        db.execute(update(ASSIGNMENT).where(ASSIGNMENT.c.id == row.id).values(**dates))
    return by


def _report(db: Connection, item_id: str, system: str, text: str) -> str:
    response_id = derived_id("response", item_id, system)
    result = select(SYSTEM.c.id).where(SYSTEM.c.name == system)
    db.execute(
        insert(RESPONSE).values(
            id=response_id, item_id=item_id, system_id=db.execute(result).scalar_one(), text=text, trial=1,
            mode="end-to-end", sha256=response_hash(text), collected_on=COLLECTED,
        )
    )  # fmt: skip
    return response_id


def _write(project: Project, person: Person, item_id: str, criteria: Criteria) -> None:
    project.work_as(person)
    assignments.seal(project, _started(project, item_id, criteria))


def _started(project: Project, item_id: str, criteria: Criteria, anchor: Anchor | None = None) -> str:
    units = tuple(
        Criterion(text=text, weight=weight, anchor=None if n else anchor)
        for n, (text, weight) in enumerate(criteria)
    )
    return artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject


def _cite(project: Project, reports: Iterable[str]) -> None:
    extraction = next(one for one in EXTRACTIONS.values() if one.makes is ResponsePart.CLAIMS)
    judge = judges.named(project, "baseline")
    for url, name in PAGES:
        title, text = _titled(name)
        pages.take_in(
            project,
            Page(
                url=pages.normal(url),
                state=PageState.OK,
                text=text,
                title=title,
                final_url=url,
                fetched_at=now(),
            ),
        )
    for response_id in reports:
        material = materials.of_response(project, materials.for_extracting(extraction), response_id)
        extracted = extraction.baseline(material) if material and extraction.baseline else None
        if material is None or extracted is None or extracted.document is None:
            raise ValueError(f"nothing was drawn from the report {response_id}")
        with project.store.write() as db:
            subject, origin = (material.item.id, response_id), by_judge(judge.id)
            _, row = extracts.keep_row(db, subject, extraction.makes, extracted.document, origin)
        extracts.confirm(project, row["id"])


def _finish(
    project: Project, keys: dict[str, str], raters: Sequence[Person], senior: Person, due: datetime
) -> None:
    """Create questions with all of their work done: gold by two people and labels by three."""
    first, *writers = raters
    for question in _finished_questions():
        item_id, criteria = keys[question["key"]], [(text, weight) for text, weight in question["criteria"]]
        with project.store.write() as db:
            if "source" in question:
                items.put(db, item_id, *question["source"])
            for system, text in question["reports"].items():
                _report(db, item_id, system, text)
        project.work_as(first)
        for person in writers:
            assignments.assign_one(project, item_id, person.id, Stage.RUBRIC, due=due)
        for person in raters:
            assignments.assign_one(project, item_id, person.id, Stage.LABELLING, due=due)
        # One of them omits the last criterion; the adjudicator keeps it.
        for person, written in zip(writers, (criteria, criteria[:-1]), strict=True):
            _write(project, person, item_id, tuple(written))
        project.work_as(senior)
        adjudication = adjudicating.open_(project, item_id, Stage.RUBRIC).id
        for row in adjudicating.sheet(project, adjudication).rows:
            if not row.ruling.take:
                ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.SCOPE)
        ruling.close(project, adjudication)
    for person in raters:
        project.work_as(person)
        for question in _finished_questions():
            own = {system: by_person[person.alias] for system, by_person in question["labels"].items()}
            _label(project, USUAL, {question["key"]: own})
            label_sealing.submit(project, keys[question["key"]])


def _label(project: Project, protocol: str, digits_of: Mapping[str, Mapping[str, str]]) -> None:
    """Give labels as the person working: by item and system one hexadecimal digit per unit, the value's index in the
    scale.

    For a pair it is the value if the system's report is shown first.
    """
    scale = PROTOCOLS[protocol].scale
    report_systems = select(RESPONSE.c.id, SYSTEM.c.name).join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    systems = dict(project.query(report_systems).all())
    for task in labels.queue(project, protocol):
        of_item = digits_of.get(task.item_key, {})
        shown = systems[task.response_id]
        digits = of_item.get(shown) or of_item.get(systems.get(task.other_id, ""), "")
        if not digits:
            continue
        alike = dict[str, list[str]]()
        units = labels.sheet(project, task.response_id, protocol, task.other_id).units
        for unit, digit in zip(units, digits, strict=True):
            value = scale.names[int(digit, 16)]
            seen = value if shown in of_item else scale.mirrored.get(value, value)
            alike.setdefault(seen, []).append(unit.id)
        for value, unit_ids in alike.items():
            labels.set_labels(project, task.response_id, unit_ids, value, protocol=protocol)


def label_small(project: Project, path: Path) -> None:
    """Assign, give and submit people's labels of a small sample, read from a file by person and protocol."""
    coordinator, due = people.someone(project), now() + AHEAD
    keys = {items.read(project, item_id).key: item_id for item_id in items.ids(project)}
    for alias, of_protocols in json.loads(path.read_bytes()).items():
        with project.store.write():
            if alias not in {person.alias for person in people.people(project)}:
                people.add_person(project, alias, alias=alias)
            rater = next(person for person in people.people(project) if person.alias == alias)
            asked = dict.fromkeys(keys[key] for digits_of in of_protocols.values() for key in digits_of)
            for item_id in asked:
                assignments.assign_one(
                    project, item_id, rater.id, Stage.LABELLING, due=due, protocols=tuple(of_protocols)
                )
            project.work_as(rater)
            for protocol, digits_of in of_protocols.items():
                _label(project, protocol, digits_of)
            for item_id in asked:
                label_sealing.submit(project, item_id, next(iter(of_protocols)))
            project.work_as(coordinator)


def _judge(project: Project) -> None:
    """Run the recorded model on everything; the baseline on what is finished, and on a part of one more question."""
    baseline = judges.named(project, judges.BASELINE.name)
    finished = tuple(question["key"] for question in _finished_questions())
    _record(project, baseline, judge_cases.RunRequest(baseline.name, items=finished))
    record_model(project, USUAL)
    # The last of the runs, which the person who opened the sample may finish.
    _record(project, baseline, judge_cases.RunRequest(baseline.name, items=(LABEL,)), most=JUDGED)


def record_model(project: Project, *protocols: str) -> None:
    """Add runs of a judge with made-up replies: people's label or the baseline's, in one of seven cases another."""
    judges.add(
        project, RECORDED, base_url=NOWHERE, model=RECORDED, price=(f"{PRICE.input}", f"{PRICE.output}")
    )
    recorded = judges.named(project, RECORDED)
    of_people = select(JUDGEMENT).where(JUDGEMENT.c.rater_kind == RaterKind.PERSON.value)
    people_say = dict[tuple[str, str, str], str | None]()
    for row in project.query(of_people):
        people_say[row.protocol, row.response_id, row.unit_id] = row.value
        if turned := PROTOCOLS[row.protocol].scale.mirrored:
            people_say[row.protocol, row.unit_id, row.response_id] = turned.get(row.value, row.value)

    def replied(case: Case, run_id: str, usual: Verdicts) -> Finished:
        verdicts = dict(usual)
        for unit in case.units:
            value = people_say.get((case.protocol, case.response.id, unit.id)) or usual[unit.id].value
            if value is not None:
                verdicts[unit.id] = _turned(PROTOCOLS[case.protocol].scale, value, unit, case.response)
        tokens = 260 + len(case.response.text.split()) * 4 // 3
        call = Call(
            id=new_id(), run_id=run_id, judge_id=recorded.id, status=Status.OK,
            cache_key=sha256(f"{RECORDED} {case.protocol} {' '.join(verdicts)} {case.response.id}"),
            raw=canonical_json({unit_id: verdict.value for unit_id, verdict in verdicts.items()}).decode(),
            requested_model=RECORDED, returned_model=RECORDED, tokens_input=tokens, tokens_output=30, latency_s=0.8,
            cost_usd=PRICE.cost(tokens, 30),
        )  # fmt: skip
        return Finished(case, verdicts, (call,), call_id=call.id)

    for protocol in protocols:
        _record(project, recorded, judge_cases.RunRequest(RECORDED, protocol), replied)


def _turned(scale: Scale, usual: str, unit: Unit, response: Response) -> Verdict:
    """The value, or in one of seven cases the one beside it."""
    turns = crc32(f"{unit.text} {response.text}".encode()) % 7 == 0
    value = scale.names[abs(scale.names.index(usual) - 1)] if turns else usual
    return Verdict(value=value, rationale=WHY.get(value) or scale.value(value).hint)


def _record(
    project: Project,
    judge: Judge,
    order: judge_cases.RunRequest,
    reply: Callable[[Case, str, Verdicts], Finished] | None = None,
    most: int | None = None,
) -> None:
    """Record a run in which the baseline answers, or `reply` given the run's id and the baseline's verdicts.

    It is cancelled after `most` of the cases.
    """
    protocol = PROTOCOLS[order.protocol]
    if protocol.baseline is None:
        raise ValueError(f"{protocol.name} has no baseline")
    cases = list(judge_cases.cases(project, order))
    run = run_records.open_run(project, judge, order, protocol.prompts)
    run_records.set_counts(project, run.id, sum(len(case.units) for case in cases), 0)
    usual_verdicts = [(case, protocol.baseline(case)) for case in cases[:most]]
    answers = [
        reply(case, run.id, usual) if reply is not None else Finished(case, usual)
        for case, usual in usual_verdicts
    ]
    RunJournal(project, run.id, judge.id, protocol.name).record(answers)
    run_records.close_run(project, run.id, RunState.DONE if most is None else RunState.CANCELLED)


def _begin(project: Project, item_id: str, reports: Mapping[str, tuple[str, ...]]) -> None:
    (source,) = items.sources(project, item_id)
    at = source.text.index(QUOTE)
    _started(project, item_id, DRAFTED, Anchor.at(source.text, at, at + len(QUOTE), source.id))
    report = next(task.response_id for task in labels.queue(project) if task.item_key == LABEL)
    for unit, value in zip(labels.sheet(project, report).units, reports[report], strict=False):
        labels.set_label(project, report, unit.id, value)


@dataclass(frozen=True, slots=True)
class PracticeStep:
    words: str
    page: str
    place: dict[str, str]


def tries(project: Project) -> list[PracticeStep]:
    """What the person who opened the sample may try, in order; empty if dismissed, or for someone else."""
    if not project.get(TRYING) or project.by != project.get(TRYING) or project.readonly:
        return []
    keys = {items.read(project, item_id).key: item_id for item_id in items.ids(project)}
    if not keys.keys() >= QUESTIONS.keys():
        return []
    rubric = {"item_id": keys[WRITE], "kind": Kind.RUBRIC.value}
    conflict = {"item_id": keys[RULE], "stage": Stage.RUBRIC.value}
    return [
        PracticeStep("Write a criterion", "Author", rubric),
        PracticeStep("Quote the source", "Author", rubric),
        PracticeStep("Label a report", "Label", {"item_id": keys[LABEL], "protocol": USUAL}),
        PracticeStep("Settle a conflict", "Adjudicate", conflict),
        PracticeStep("Finish the judge's run", "Judges", {"part": "Runs"}),
    ]


def stop_trying(project: Project) -> None:
    project.set(TRYING, "")
