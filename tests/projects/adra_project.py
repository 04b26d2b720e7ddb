"""A project of ADRA's kind, made by hand: gold plans, evidence and statements, and what systems gave for them."""

from collections.abc import Mapping, Sequence
from datetime import date
from pathlib import Path

from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.items.extracts import NewExtract
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash, response_hash
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.kinds.artifact import Document
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import IMPORT
from annotator.domain.texts.canonical import derived_id, now
from annotator.storage import tables
from annotator.storage.tables import JUDGEMENT, RESPONSE, SYSTEM
from tests.material import drawn_extracts
from tests.templates import once

JUDGE = "judge-of-tests"
GOLD_PLAN = ("Frame the question", "Search the literature", "Compare the methods", "Name the open problems")
GOLD_WORKS = (
    ("10.1000/one", "A study of retrieval in long answers"),
    ("arXiv:2401.00002v2", "Planning with language models"),
    ("", "On the evaluation of reports by experts"),
)
STATEMENTS = (
    ("Retrieval helps", True, Aspect.BACKGROUND),
    ("Plans are always right", False, Aspect.PROBLEM),
    ("Reports are long", True, Aspect.RESULTS),
    ("Experts agree fully", False, Aspect.RESULTS),
)


@once
def adra_project(folder: Path, questions: int = 1, systems: Sequence[str] = ("Alpha",)) -> Project:
    """Items with gold of every kind, each answered once by each system; one judge, who has said nothing yet."""
    project = people.new_project(folder / "adra.goldsmith", "ADRA")
    people.someone(project)
    for number in range(1, questions + 1):
        item_id = items.add(
            project, f"Question {number}?", "Technical Details", "NLP" if number % 2 else "Vision"
        ).subject
        for document in gold():
            assignments.seal(project, artifacts.start(project, item_id, document.KIND, document).subject)
        for system in systems:
            answer(project, item_id, system)
    add_judge(project)
    return project


def add_judge(project: Project, judge_id: str = JUDGE, name: str = "tested") -> None:
    """A judge that is asked nothing; what it says is written by `say`."""
    with project.store.write() as db:
        db.execute(
            insert(tables.JUDGE).values(
                id=judge_id, name=name, kind=JudgeKind.ENDPOINT.value, base_url="http://localhost:1/v1", model="m",
                key_env="", parameters="{}", retired=False,
            )
        )  # fmt: skip


def gold() -> tuple[Document, ...]:  # type: ignore[type-arg]
    """The gold plan, evidence and statements; units are named g1, w1, s1 …"""
    return (
        Plan(units=tuple(Subtask(id=f"g{n}", text=text) for n, text in enumerate(GOLD_PLAN, start=1))),
        Evidence(units=works(GOLD_WORKS)),
        Diagnostics(
            units=tuple(
                Statement(id=f"s{n}", text=text, label=label, aspect=aspect)
                for n, (text, label, aspect) in enumerate(STATEMENTS, start=1)
            )
        ),
    )


def works(pairs: Sequence[tuple[str, str]]) -> tuple[Reference, ...]:
    """References of (identifier, title), named w1, w2 …"""
    return tuple(
        Reference(id=f"w{n}", identifier=i, text=title) for n, (i, title) in enumerate(pairs, start=1)
    )


def answer(
    project: Project,
    item_id: str,
    system: str,
    trial: int = 1,
    mode: str = "end-to-end",
    text: str = "",
    **took: float | date,
) -> str:
    """A system's response, the system being added when it is new; the response's id."""
    system_id = derived_id("system", system)
    response_id = derived_id("response", item_id, system, trial, mode)
    words = text or f"# {system}\n\nRetrieval helps. Reports are long."
    with project.store.write() as db:
        db.execute(insert(SYSTEM).prefix_with("OR IGNORE").values(id=system_id, name=system, notes=""))
        row = {"id": response_id, "item_id": item_id, "system_id": system_id, "text": words, "trial": trial}
        db.execute(insert(RESPONSE).values(**row, mode=mode, sha256=response_hash(words), **took))
    return response_id


def response_of(item_id: str, system: str = "Alpha", trial: int = 1, mode: str = "end-to-end") -> str:
    return derived_id("response", item_id, system, trial, mode)


def give(project: Project, item_id: str, response_id: str, part: ResponsePart, document: Document) -> None:  # type: ignore[type-arg]
    drawn_extracts.keep(project, NewExtract(item_id, response_id, part, document, IMPORT))


def plan(texts: Sequence[str]) -> Plan:
    """A predicted plan; its sub-tasks are named p1, p2 …"""
    return Plan(units=tuple(Subtask(id=f"p{n}", text=text) for n, text in enumerate(texts, start=1)))


def say(
    project: Project,
    protocol: str,
    item_id: str,
    response_id: str,
    values: Mapping[str, str | None],
    **more: object,
) -> None:
    """What the judge says of the units of a response; None is a judgement that did not come."""
    rows = []
    for unit_id, value in values.items():
        row = {
            "id": derived_id(JUDGE, protocol, response_id, unit_id, *map(str, more.values())), "protocol": protocol,
            "item_id": item_id, "response_id": response_id, "artifact_id": "", "unit_id": unit_id, "trial": 1,
            "rater_kind": "judge", "rater_id": JUDGE, "at": now(), "value": value, "rationale": "", "quote": "",
            "status": "ok" if value is not None else "timeout", "note": "", "flags": "", "cause": "",
            "quote_start": None, "quote_end": None, "run_id": None, "call_id": None, "seconds": None, **more,
        }  # fmt: skip
        rows.append(row | {"sha256": judgement_hash(row)})
    with project.store.write() as db:
        db.execute(insert(JUDGEMENT), rows)


def fill_matrix(
    project: Project, item_id: str, response_id: str, rows: Sequence[Sequence[int | None]]
) -> None:
    """A plan with a sub-task for each row, and the judge's matrix against the gold plan; None is missing."""
    give(
        project,
        item_id,
        response_id,
        ResponsePart.PLAN,
        plan([f"Step {n}" for n, _ in enumerate(rows, start=1)]),
    )
    words = {1: "relevant", 0: "not", None: None}
    values = {
        f"p{i}~g{j}": words[cell]
        for i, row in enumerate(rows, start=1)
        for j, cell in enumerate(row, start=1)
    }
    say(project, "adra.plan", item_id, response_id, values)
