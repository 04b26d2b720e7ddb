"""Undo and redo: across items and restarts, for one's own changes, and only where nothing moved on."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items, seminars
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history, undo_places
from annotator.domain.kinds.kind import Kind, Role
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.common import expect_refusal
from tests.projects.small_projects import empty_project
from tests.storage import sql

PROJECT = empty_project
ACTIONS = Path(history.__file__).parents[1]


@pytest.fixture
def rubric(project: Project) -> str:
    rubric = artifacts.start(
        project,
        items.add(project, "How?").subject,
        Kind.RUBRIC,
        Rubric(units=(Criterion(id="a", text="zero"),)),
    ).subject
    for text in ("one", "two"):
        artifacts.change_unit(project, rubric, "a", text=text)
    return rubric


def text(project: Project, rubric: str) -> str:
    return artifacts.read(project, rubric).document.unit("a").text


def test_changes_are_taken_back_without_end(project: Project, rubric: str) -> None:
    seen = []
    for _ in range(4):
        for step in (history.undo, history.undo, history.redo, history.undo, history.redo, history.redo):
            step(project)
            seen.append(text(project, rubric))
    assert seen == ["one", "zero", "one", "zero", "one", "two"] * 4
    expect_refusal("nothing to redo", history.redo, project)
    history.undo(project)
    history.undo(project)
    expect_refusal("nothing to undo", history.undo, project)


def test_undo_reaches_across_a_restart(project: Project, rubric: str) -> None:
    for step, expected in ((history.undo, "one"), (history.redo, "two")):
        project.close()
        project = Project.open(project.path)
        step(project)
        assert text(project, rubric) == expected


def test_undo_reaches_across_items_and_nobodys_else(project: Project, rubric: str) -> None:
    item = items.add(project, "And why?").subject
    items.change(project, item, subject="Physics")
    assert [history.undo(project).subject for _ in range(2)] == [item, rubric]
    assert (items.read(project, item).subject, text(project, rubric)) == ("", "one")
    project.work_as(people.known(project, people.add_person(project, "Other").subject))
    expect_refusal("nothing to undo", history.undo, project)


def test_what_moved_on_is_not_taken_back(project: Project, rubric: str) -> None:
    sql.alter(project, "UPDATE artifact SET state = 'consensus'")
    first = people.someone(project)
    other = people.add_person(project, "Other", (Role.ADJUDICATOR,)).subject
    project.work_as(people.known(project, other))
    assignments.reopen(project, rubric)
    artifacts.change_unit(project, rubric, "a", text="settled otherwise")
    project.work_as(first)
    expect_refusal("changed elsewhere since", history.undo, project)
    assert text(project, rubric) == "settled otherwise"


def test_a_new_change_cuts_what_could_be_done_again(project: Project, rubric: str) -> None:
    history.undo(project)
    artifacts.change_unit(project, rubric, "a", text="three")
    expect_refusal("nothing to redo", history.redo, project)
    for expected in ("one", "zero"):
        history.undo(project)
        assert text(project, rubric) == expected


def test_taking_back_is_a_revision_and_an_audited_change_called_by_its_field_and_number(
    project: Project, rubric: str
) -> None:
    change = history.undo(project)
    seen = undo_places.seen(project, change)
    assert (seen.words, seen.page, seen.place["unit_id"]) == ("text of criterion 1, item 1", "Author", "a")
    newest = artifacts.revisions(project, rubric)[0]
    assert (newest.number, newest.verb, newest.by) == (4, "restore", project.by)
    undoes, undone = sql.first(
        project,
        "SELECT undoes, (SELECT undone FROM audit b WHERE b.seq = a.undoes) FROM audit a WHERE seq = ?",
        [change.seq],
    )
    assert (undoes, undone) == (change.seq - 1, 1)


def test_a_refused_undo_changes_nothing(project: Project, rubric: str) -> None:
    assignments.seal(project, rubric)
    before = sql.rows(project, "SELECT * FROM audit")
    expect_refusal("is submitted", history.undo, project)
    assert (sql.rows(project, "SELECT * FROM audit"), text(project, rubric)) == (before, "two")


def test_looking_for_the_latest_change_reads_no_further_than_it_must(project: Project, rubric: str) -> None:
    steps: list[int] = []
    with project.store.write():
        sql.connection(project).executemany(
            "INSERT INTO audit(kind, subject, verb, before, by, at, undone, sha256) "
            "VALUES ('artifact', 's', 'v', '{}', ?, '2026-01-01 00:00:00', 0, '')",
            [(project.by,)] * 20_000,
        )
    sql.connection(project).set_progress_handler(lambda: steps.append(1), 1000)
    expect_refusal("nothing to redo", history.redo, project)
    with pytest.raises(KeyError):  # found at once, though there is no such artifact
        history.undo(project)
    sql.connection(project).set_progress_handler(None, 0)
    assert len(steps) < 5


def test_every_kind_whose_audit_keeps_what_was_before_can_be_taken_back() -> None:
    """Read in the code: each `Change` with a before-image is of a kind in the table, or the work of a run."""
    kinds = {kind for path in ACTIONS.rglob("*.py") if path.name != "history.py" for kind in audited(path)}
    assert {"item", "artifact", seminars.KIND} <= kinds
    assert kinds - {*history.RESTORERS, *(kind for kind, _ in history.OF_RUNS)} == set()


def audited(path: Path) -> Iterator[str]:
    """The kind of every change in a module that holds a before-image."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "Change":
            named = {word.arg: word.value for word in call.keywords}
            before = call.args[3] if len(call.args) > 3 else named.get("before")
            if before is not None and ast.unparse(before) != "None":
                kind = call.args[0]
                yield seminars.KIND if ast.unparse(kind) == "KIND" else ast.literal_eval(kind)


@pytest.mark.parametrize("kind", history.RESTORERS)
def test_every_kind_in_the_table_has_what_puts_it_back_and_a_place_where_it_is_seen(kind: str) -> None:
    assert callable(history.restorer(kind))
    assert kind in undo_places._SEEN


def test_a_judges_settings_are_taken_back_and_come_again(project: Project) -> None:
    judge = judges.add(project, "one", base_url="http://127.0.0.1:1/v1", model="m1").subject
    judges.change(project, judge, {"model": "m2"})
    for step, model in ((history.undo, "m1"), (history.redo, "m2")):
        step(project)
        assert judges.named(project, "one").model == model
