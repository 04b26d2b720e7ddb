"""What enters and leaves: a release with one of everything, a peer's folder, files of labels, JSON to be refused."""

import csv
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.imports import label_files
from annotator.actions.imports.label_files import LabelImportOptions, LabelImportPreview
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal
from annotator.domain.judges.judge import JudgeKind, RaterKind, RunState, Status
from annotator.domain.kinds.artifact import Anchor, Document, State
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.exchange import folders
from annotator.exchange.release import release
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.data_card import ReleaseFacts
from annotator.exchange.release.records import (
    ArtifactRecord,
    ItemRecord,
    JudgementRecord,
    JudgeRecord,
    PersonRecord,
    ResponseRecord,
    RunRecord,
    SourceRecord,
    SystemRecord,
)
from annotator.storage.tables import JUDGEMENT
from tests.projects.small_projects import CRITERIA, small_project
from tests.storage import sql

REAL = Path(__file__).parents[2] / "../shared/data/researcherbench"
AT = datetime(2025, 3, 1, 12, 30, tzinfo=UTC)
RUBRIC = Rubric(
    units=(
        Criterion(
            id="c1", text="Names the cause", weight=3, anchor=Anchor(quote="the cause", start=0, end=9)
        ),
        Criterion(id="c2", text="=Compares “two”, with commas", weight=1, note="二つ"),
    )
)
STATEMENTS = Diagnostics(
    units=(Statement(id="s1", text="It rains.", label=True, aspect=Aspect.RESULTS),), remark="short"
)


def artifact(name: str, item: str, document: Document[Any], author: str, state: State) -> ArtifactRecord:
    return ArtifactRecord(
        id=name, item_id=item, kind=document.KIND, author_id=author, state=state, revision=2, at=AT,
        sha256=document.sha256(), document=document.tree(),
    )  # fmt: skip


def judgement(unit: str, rater: tuple[RaterKind, str], value: str | None, **more: Any) -> JudgementRecord:
    fields = {
        "protocol": "researcherbench.coverage",
        "item_id": "item-1",
        "response_id": "response-1",
        "artifact_id": "rubric-1",
        "unit_id": unit,
        "rater_kind": rater[0],
        "rater_id": rater[1],
        "value": value,
        "status": Status.OK if value else Status.TIMEOUT,
        "at": AT,
    }
    return JudgementRecord(**{**fields, **more})


def rich_bundle() -> Bundle:
    """Two people, two items, a source, two systems, three responses, two artifacts, a judge's run, judgements."""
    person, judge = (RaterKind.PERSON, "person-1"), (RaterKind.JUDGE, "judge-1")
    return Bundle(
        people=[
            PersonRecord(id="person-1", alias="R1", roles=["annotator"]),
            PersonRecord(id="person-2", alias="R2", roles=["adjudicator", "annotator"]),
        ],
        items=[
            ItemRecord(id="item-1", key="one", question="Why does it rain?", question_type="Open Consulting"),
            ItemRecord(id="item-2", key="two", dataset="d", question="なぜ?", language="ja", position=1),
        ],
        sources=[SourceRecord(id="source-1", item_id="item-1", title="Rain", text="the cause of rain")],
        systems=[SystemRecord(id="system-1", name="Alpha"), SystemRecord(id="system-2", name="NUL")],
        responses=[
            ResponseRecord(id="response-1", item_id="item-1", system_id="system-1", text="Rain.\r\nAnd\u2028more"),
            ResponseRecord(id="response-2", item_id="item-2", system_id="system-1", text="雨", tokens=2, latency_s=1.5),
            ResponseRecord(id="response-3", item_id="item-1", system_id="system-2", text="# No"),
        ],
        artifacts=[
            artifact("rubric-1", "item-1", RUBRIC, "", State.CONSENSUS),
            artifact("statements-1", "item-1", STATEMENTS, "person-2", State.SEALED),
        ],
        judges=[JudgeRecord(id="judge-1", name="J", kind=JudgeKind.ENDPOINT, model="m", parameters={"t": 0.5})],
        runs=[
            RunRecord(
                id="run-1", judge_id="judge-1", protocol="researcherbench.coverage", state=RunState.DONE,
                total=2, done=2, started_at=AT,
            )
        ],
        judgements=[
            judgement("c1", person, "yes", seconds=4.0, flags=["flagged"]),
            judgement("c1", judge, "no", run_id="run-1", rationale="not said"),
            judgement("c2", judge, None, run_id="run-1", cause="no answer in 60 s"),
        ],
    )  # fmt: skip


def write_release(folder: Path, bundle: Bundle | None = None, title: str = "T") -> Path:
    made = release.content(bundle or rich_bundle(), ReleaseFacts(title=title))
    folders.write(folder, release.complete(*made))
    return folder


def tree(folder: Path, path: str) -> Any:
    return json.loads((folder / path).read_text("utf-8"))


def change_json(path: Path, change: Any) -> None:
    tree = json.loads(path.read_text("utf-8"))
    change(tree)
    path.write_text(json.dumps(tree), "utf-8")


def found(folder: Path) -> dict[str, bytes]:
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def without_manifest(folder: Path) -> Path:
    for name in ("manifest.json", "SHA256SUMS"):
        (folder / name).unlink()
    return folder


def peer_files() -> dict[str, Any]:
    """Two questions, one rubric each, one system that answers both: the trees of the files by path."""
    asked = {1: "What is known?", 2: "Who knew it?"}
    return {
        "questions.json": [
            {"id": n, "question": q, "category": "Literature Review", "Subject": "S"}
            for n, q in asked.items()
        ],
        "rubric.json": [
            {
                "id": n,
                "question": q,
                "rubric": [{"point": f"Point {n}", "weight": 2}, {"point": "Both", "weight": 1}],
            }
            for n, q in asked.items()
        ],
        "responses/Sys.json": [{"id": n, "question": q, "response": f"Report {n}"} for n, q in asked.items()],
    }


def write_peer(folder: Path, files: dict[str, Any] | None = None) -> Path:
    for path, tree in (files or peer_files()).items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(json.dumps(tree), "utf-8")
    return folder


# What a publisher answers before a release may be strict.
ANSWERS = {
    "description": "Two questions on deep learning.",
    "licence": "cc by 4.0",
    "authors": "Ada Lovelace, 0000-0002-1825-0097, Analytical Society\nCharles Babbage",
    "contact": "ada@example.org",
    "collection": "Written by experts.",
    "annotators": "Two experts.",
    "consent": "Both hold a doctorate, were paid by the hour and consented.",
    "uses": "To compare research agents.",
    "limits": "Two questions show little.",
    "biases": "English only.",
    "personal": "None.",
    "social_impact": "Better reports.",
    "maintenance": "Mistakes are corrected until 2028.",
}


HOSTILE = {
    "NaN": (b"[1,\n NaN]", "line 2, column 2: NaN is not a number"),
    "Infinity": (b'{"a": -Infinity}', "line 1, column 7: -Infinity is not a number"),
    "1e999": (b'{"a": "1e999", "b": 1e999}', "line 1, column 21: 1e999 is too large"),
    "duplicate keys": (b'{"a": {"x": 1},\n "b": 2, "a": 3}', "line 2, column 10: the key “a” stands twice"),
    "duplicate keys, one escaped": (b'[{"a": 1, "\\u0061": 2}]', "the key “a” stands twice"),
    "5,000-digit whole number": (b"[" + b"7" * 5000 + b"]", "a whole number of 5,000 digits is too large"),
    "whole number of 64 bits": (b"[9223372036854775808]", "a whole number of 19 digits is too large"),
    "depth 900": (b"[" * 900 + b"]" * 900, "nested more than 64 levels"),
    "depth 100,000": (b"[" * 100_000 + b"]" * 100_000, "nested more than 64 levels"),
    "depth 100,000 of objects": (b'{"a":' * 100_000 + b"1" + b"}" * 100_000, "nested more than 64 levels"),
    "lone surrogate": (b'[{"a": "x\\ud800"}]', "[0].a contains half of a surrogate pair"),
    "lone surrogate as a key": (b'{"\\udfff": 1}', "contains half of a surrogate pair"),
    "NUL": (b'{"a": ["b\\u0000"]}', ".a[0] contains a NUL character"),
    "raw control character": (b'["a\x01b"]', "line 1, column 4: invalid control character"),
    "UTF-16": ('{"a": 1}'.encode("utf-16"), "written in UTF-16"),
    "UTF-16 without a mark": ('{"a": 1}'.encode("utf-16-le"), "written in UTF-16"),
    "invalid UTF-8": (b'["ok",\n "\xff"]', "not valid UTF-8 on line 2"),
    "overlong UTF-8": (b'["\xc0\xaf"]', "not valid UTF-8 on line 1"),
    # Python 3.13 points at the comma, earlier ones at what follows it.
    "trailing comma": (b"[1,\n2,]", "line 2, column "),
    "comment": (b"[1] // all", "line 1, column 5: something follows"),
    "two documents": (b"[1]\n[2]", "line 2, column 1: something follows the end"),
    "empty": (b" \n", "is empty"),
    "truncated": (b'[{"a": "b"', "line 1, column 11"),
    "single quotes": (b"{'a': 1}", "line 1, column 2"),
    "HTML": (b"<!doctype html>", "line 1, column 1"),
}


FIRST, SECOND, THIRD = (text for text, _ in CRITERIA)
ANN = "R2"
TOLD = LabelImportOptions({"Ann": ANN})


def project_of_two(folder: Path) -> Project:
    """Two items with three criteria, Alpha's and Beta's reports on both, a coordinator and R2."""
    project = small_project(folder)
    people.add_person(project, "Ann Other")
    return project


def written(folder: Path, *rows: dict[str, Any], name: str = "labels.csv") -> Path:
    """A table of labels; what a row does not say is Ann's yes to the first criterion of Alpha's report on item 1."""
    usual = {"item": "1", "system": "Alpha", "unit": FIRST, "rater": "Ann", "value": "yes"}
    full = [usual | row for row in rows]
    names = list(dict.fromkeys(name for row in full for name in row))
    with (folder / name).open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, names)
        table.writeheader()
        table.writerows(full)
    return folder / name


def every(value: str = "yes", **more: str) -> list[dict[str, Any]]:
    return [
        {"item": item, "system": system, "unit": unit, "value": value, **more}
        for item in "12"
        for system in ("Alpha", "Beta")
        for unit in (FIRST, SECOND, THIRD)
    ]


def take(project: Project, path: Path, options: LabelImportOptions = TOLD) -> LabelImportPreview:
    return label_files.run(project, [path], options)[1]


def look(project: Project, path: Path, options: LabelImportOptions = TOLD) -> LabelImportPreview:
    return label_files.preview(project, [path], options)


def refused(project: Project, path: Path, options: LabelImportOptions = TOLD) -> str:
    """Why nothing was imported; nothing was."""
    before = project.path.read_bytes()
    with pytest.raises(Refusal, match="Nothing was imported") as caught:
        label_files.run(project, [path], options)
    assert project.path.read_bytes() == before
    return caught.value.happened


def stored(project: Project) -> list[dict[str, Any]]:
    with project.store.read() as db:
        return [dict(row) for row in db.execute(select(JUDGEMENT).order_by(JUDGEMENT.c.id)).mappings()]


def ann(project: Project) -> None:
    project.work_as(people.known(project, ANN))


def me(project: Project) -> None:
    project.work_as(people.known(project, "R1"))


def report_of(project: Project, system: str = "Alpha") -> str:
    question = "SELECT r.id FROM response r JOIN system s ON s.id = r.system_id WHERE s.name = ? ORDER BY r.item_id = ?"
    return str(sql.first(project, question, [system, items.ids(project)[1]])[0])


def unit_of(project: Project, response_id: str, words: str = FIRST) -> str:
    sheet = labels.sheet(project, response_id)
    return next(unit.id for unit in sheet.units if unit.text == words)


def ann_says(project: Project, value: str, **more: Any) -> str:
    """Ann labels the first criterion of Alpha's report on item 1 herself; the unit's id."""
    ann(project)
    response_id = report_of(project)
    unit_id = unit_of(project, response_id)
    labels.set_label(project, response_id, unit_id, value)
    if more:
        labels.set_note(project, response_id, unit_id, more["note"])
    me(project)
    return unit_id
