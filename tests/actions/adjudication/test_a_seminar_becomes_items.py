"""A seminar becomes inspirations of two experts, then tasks, then items: a model helps one, words alone the other."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.adjudication import adjudication_sheets, closing, kept_tasks, ruling
from annotator.actions.assignments import submitting
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.items import items, sources
from annotator.actions.judges import judges
from annotator.actions.material import draft_runs, drafting_by_model
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.adjudication import Reason
from annotator.domain.kinds.artifact import Kind, State, stage_of
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

MODEL = "mock"
OPEN = "The blind zone around the epicentre is still an unsolved problem for every network."
NEW = "We propose a new framework that listens to the motion sensors of phones near the fault."
TALK = f"Ann: Good morning to all of you on this fine day.\n\nBen: {OPEN}\n\nAnn: {NEW}\n"
INSPIRATIONS = [
    {"quotes": [OPEN], "text": OPEN, "type": "limitation", "qualities": ["challenge", "explorability"]},
    {"quotes": [NEW], "text": NEW, "type": "transdisciplinary", "qualities": ["novelty", "explorability"]},
]
FAMILIES = (
    ("synthesize", "Literature Survey"), ("synthesize", "Trend / Market Scan"),
    ("design", "Prototype / System Specification"), ("design", "Hypothesis Generation"),
    ("evaluate", "Comparative Analysis"),
)  # fmt: skip


def tasks() -> list[dict[str, Any]]:
    return [
        {"inspirations": ["i1"], "phase": phase, "family": family, "difficulty": "basic",
         "task": f"Write a {family.lower()} on blind zones near epicentres and deliver a table."}
        for phase, family in FAMILIES
    ]  # fmt: skip


@pytest.fixture
def project(tmp_path: Path, llmock: LLMock) -> Project:
    project = pairs.pairs_project(tmp_path)
    seminar = pairs.item(project)
    items.change(project, seminar, key="s012", dataset="seminars", subject="Seismology")
    talk = tmp_path / "talk.txt"
    talk.write_text(TALK, "utf-8")
    sources.add_source(project, seminar, talk)
    judges.add(project, MODEL, base_url=llmock.base_url(), model="gpt-4o-mini")
    return project


def told_of(project: Project, kind: Kind, judge: str, **how: Any) -> Any:
    order = RunRequest(judge, draft_runs.protocol_name(kind), items=("s012",), **how)
    return order, asyncio.run(draft_runs.run(project, order))


def taken(project: Project, kind: Kind, judge: str) -> str:
    """The draft of a judge for the person working, all of it taken; the id of the document."""
    _, line = told_of(project, kind, judge)
    assert line["failed"] == []
    (draft,) = drafting_by_model.proposals(project, pairs.item(project), kind)
    return drafting_by_model.take(project, draft.id).subject


def settle(project: Project, kind: Kind, differing: set[tuple[str, ...]]) -> tuple[Any, ...]:
    """The two documents adjudicated by taking Ben's where they differ; the settled units."""
    adjudication_id = pairs.opened(project, stage_of(kind))
    letter = pairs.letter_of(project, adjudication_id, "Ben")
    rows = [row for row in adjudication_sheets.sheet(project, adjudication_id).rows if row.contested]
    assert {row.differing for row in rows} == differing
    for row in rows:
        ruling.rule(project, row.ruling.id, letter if letter in row.units else "drop", reason=Reason.ERROR)
    closing.close(project, adjudication_id)
    found = annotating.artifacts_of(project, pairs.item(project))
    return next(one for one in found if one.kind is kind and one.state is State.CONSENSUS).document.units


def test_a_seminar_becomes_inspirations_tasks_and_an_item(project: Project, llmock: LLMock) -> None:
    seminar = pairs.item(project)
    pairs.work_as(project, "Ada")
    with pytest.raises(Refusal, match="Pieces have 100 to"):
        told_of(project, Kind.INSPIRATIONS, "baseline", piece_words=5)
    ada = taken(project, Kind.INSPIRATIONS, "baseline")
    assert [unit.type for unit in artifacts.read(project, ada).document.units] == [
        "limitation",
        "methodology",
    ]
    pairs.work_as(project, "Ben")
    order = RunRequest(MODEL, draft_runs.protocol_name(Kind.INSPIRATIONS), items=("s012",), piece_words=1000)
    assert orders.forecast(project, order).calls == 1
    llmock.reply(json.dumps({"inspirations": INSPIRATIONS}))
    ben = taken(project, Kind.INSPIRATIONS, MODEL)
    assert set(drafting_by_model.drafted(project, ben)) == {
        unit.id for unit in artifacts.read(project, ben).document.units
    }
    for name, artifact_id in (("Ada", ada), ("Ben", ben)):
        submitting.seal(pairs.work_as(project, name), artifact_id)
    settled = settle(project, Kind.INSPIRATIONS, {("type",)})
    assert [unit.type for unit in settled] == ["limitation", "transdisciplinary"]
    pairs.work_as(project, "Ada")
    first = taken(project, Kind.TASKS, "baseline")
    standing = {unit.id for unit in settled}
    assert all(set(unit.inspirations) <= standing for unit in artifacts.read(project, first).document.units)
    pairs.work_as(project, "Ben")
    llmock.reply(json.dumps({"tasks": tasks()}))
    second = taken(project, Kind.TASKS, MODEL)
    for name, artifact_id in (("Ada", first), ("Ben", second)):
        submitting.seal(pairs.work_as(project, name), artifact_id)
    adjudication_id = pairs.opened(project, stage_of(Kind.TASKS))
    letter = pairs.letter_of(project, adjudication_id, "Ben")
    for row in adjudication_sheets.sheet(project, adjudication_id).rows:
        if row.contested:
            ruling.rule(
                project, row.ruling.id, letter if letter in row.units else "drop", reason=Reason.ERROR
            )
    closing.close(project, adjudication_id)
    pairs.work_as(project, "Cora")
    found = kept_tasks.settled(project)[seminar]
    assert [task.family for task in found] == [family for _, family in FAMILIES]
    assert {task.inspirations for task in found} == {(settled[0].id,)}
    made = items.read(project, kept_tasks.keep(project, seminar, found[4].id).subject)
    assert (made.key, made.subject, made.traits["phase"]) == ("s012-t05", "Seismology", "evaluate")
