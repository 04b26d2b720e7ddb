"""Tasks made elsewhere come in as the settled tasks of their seminars, and leave again."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import kept_tasks
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.domain.texts.refusal import Refusal

FIRST = {
    "id": "t1", "task": "Survey layouts; deliver a table.", "phase": "Synthesize", "family": "literature survey",
    "difficulty": "Basic", "seminar": "s012", "subject": "Seismology",
}  # fmt: skip
SECOND = {"id": "t2", "task": "Write a protocol.", "task_type": "Method Blueprint", "seminar": "s012"}
LOOSE = {
    "id": "t3",
    "task": "比较两种预警方法，并提交表格。",
    "phase": "evaluation",
    "family": "Comparative Analysis",
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return new_project(tmp_path / "p.goldsmith", "Cora")


def lines(path: Path, *entries: Any) -> Path:
    path.write_text(
        "".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in entries), "utf-8"
    )
    return path


def test_tasks_come_in_under_their_seminars_and_are_settled(project: Project, tmp_path: Path) -> None:
    file = lines(tmp_path / "tasks.jsonl", FIRST, "", LOOSE, SECOND)
    _, report = imports.run(project, "arena", [file])
    assert not report.problems
    assert [note.reason for note in report.notes] == ["2 tasks without difficulty"]
    seminar, elsewhere = (items.read(project, item_id) for item_id in items.ids(project))
    assert (seminar.key, seminar.dataset, seminar.subject) == ("s012", "seminars", "Seismology")
    assert (elsewhere.key, elsewhere.question) == ("tasks", "Tasks of no known seminar")
    settled = kept_tasks.settled(project)
    assert [(one.id, one.phase, one.family) for one in settled[seminar.id]] == [
        ("t1", "synthesize", "Literature Survey"),
        ("t2", "design", "Method / Experiment Blueprint"),
    ]
    assert [(one.text, one.phase) for one in settled[elsewhere.id]] == [(LOOSE["task"], "evaluate")]
    item = items.read(project, kept_tasks.keep(project, seminar.id, "t2").subject)
    assert (item.key, item.traits) == ("s012-t02", {"phase": "design"})
    assert checking.check(project).problems == []


def test_a_second_import_adds_nothing_and_an_export_is_the_same_again(
    project: Project, tmp_path: Path
) -> None:
    file = lines(tmp_path / "tasks.jsonl", FIRST, SECOND, LOOSE)
    imports.run(project, "arena", [file])
    change, _ = imports.run(project, "arena", [file])
    assert (change.verb, items.count(project)) == ("nothing new", 2)
    releases.export(project, tmp_path / "out", "arena")
    written = tmp_path / "out" / "tasks.jsonl"
    told = [json.loads(line) for line in written.read_text("utf-8").splitlines()]
    assert [one["id"] for one in told] == ["t1", "t2", "t3"]
    assert told[0] == FIRST | {"phase": "synthesize", "family": "Literature Survey", "difficulty": "basic"}
    other = new_project(tmp_path / "other.goldsmith", "Cora")
    imports.run(other, "arena", [written])
    releases.export(other, tmp_path / "again", "arena")
    assert (tmp_path / "again" / "tasks.jsonl").read_bytes() == written.read_bytes()


def test_a_release_keeps_what_an_item_was_made_from(project: Project, tmp_path: Path) -> None:
    imports.run(project, "arena", [lines(tmp_path / "tasks.jsonl", FIRST)])
    (seminar,) = items.ids(project)
    kept_tasks.keep(project, seminar, "t1")
    releases.export(project, tmp_path / "out", "goldsmith")
    other = new_project(tmp_path / "other.goldsmith", "Cora")
    imports.run(other, "goldsmith", [tmp_path / "out"])
    (found,) = (one for one in map(lambda each: items.read(other, each), items.ids(other)) if one.made_from)
    assert (found.key, found.made_from, found.traits) == (
        "s012-t01", "t1", {"phase": "synthesize", "difficulty": "basic"}
    )  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (
            FIRST | {"family": "Essay Writing"},
            "line 2: “Essay Writing” is no family; there are: Literature Survey",
        ),
        (FIRST | {"phase": "plan"}, "line 2: “plan” is no phase; there are: synthesize, design, evaluate"),
        (
            FIRST | {"phase": "design"},
            "line 2: Literature Survey belongs to the phase synthesize, not design",
        ),
        (FIRST | {"task": " "}, "line 2: there is no task"),
        (FIRST | {"task": ["a"]}, "line 2: “task” is not a text"),
        ([1], "line 2: no object with fields"),
        ("{broken", "line 2: "),
        (LOOSE, "line 2: the id t3 stands before, in tasks.jsonl, line 1"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_reason(
    project: Project, tmp_path: Path, entry: Any, reason: str
) -> None:
    file = lines(tmp_path / "tasks.jsonl", LOOSE, entry, SECOND)
    with pytest.raises(Refusal) as refused:
        imports.run(project, "arena", [file])
    assert f"tasks.jsonl: {reason}" in str(refused.value)
    assert items.count(project) == 0
    imports.run(project, "arena", [file], skip_bad=True)
    assert sorted(len(tasks) for tasks in kept_tasks.settled(project).values()) == [1, 1]


def test_tables_and_long_tasks_are_read(project: Project, tmp_path: Path) -> None:
    with (tmp_path / "tasks.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIRST)
        table.writeheader()
        table.writerows([FIRST, FIRST | {"id": "t9", "task": "word " * 101}])
    _, report = imports.run(project, "arena", [tmp_path / "tasks.csv"])
    assert [note.reason for note in report.notes] == ["row 3: 101 words; at most 100 are asked for"]
    ((_, tasks),) = kept_tasks.settled(project).items()
    assert len(tasks) == 2


def test_a_seminar_that_is_there_gets_the_tasks(project: Project, tmp_path: Path) -> None:
    more = {"key": "s012", "dataset": "seminars"}
    seminar = items.add(project, "Early warning of earthquakes", subject="Geology", more=more).subject
    imports.run(project, "arena", [lines(tmp_path / "tasks.jsonl", FIRST)])
    assert items.count(project) == 1
    assert items.read(project, seminar).question == "Early warning of earthquakes"
    assert [task.id for task in kept_tasks.settled(project)[seminar]] == ["t1"]


def test_an_id_is_one_task_whatever_the_seminar(project: Project, tmp_path: Path) -> None:
    file = lines(tmp_path / "tasks.jsonl", FIRST, SECOND)
    imports.run(project, "arena", [file])
    other = lines(
        tmp_path / "other.jsonl", {**FIRST, "seminar": "s013"}, {**SECOND, "id": "t9", "seminar": "s014"}
    )
    report = imports.preview(project, "arena", [other])
    assert [one.reason for one in report.problems] == [
        "its task t1 is another one of seminar s012 here: give it another id"
    ]
    with pytest.raises(Refusal, match="Nothing was imported"):
        imports.run(project, "arena", [other])
    imports.run(project, "arena", [other], skip_bad=True)
    settled = [task.id for tasks in kept_tasks.settled(project).values() for task in tasks]
    assert sorted(settled) == ["t1", "t2", "t9"]
    assert not imports.preview(project, "arena", [file]).problems
