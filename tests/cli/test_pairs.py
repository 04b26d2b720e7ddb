"""The work in pairs from the command line: people, tasks out, work back, agreement, adjudication."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.cli import run_command
from annotator.cli.commands import MAKING, CommandsAskedFor
from annotator.cli.saying import opened
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import RoleNeeded
from annotator.storage.tables import AUDIT
from tests.material.sent_apart import write_rubric

CRITERIA = ("Explains the weight of gold", "Names two alloys of gold")


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A project of one item that two people are to write a rubric for."""
    project = new_project(tmp_path / "study.goldsmith")
    people.someone(project)
    item_id = items.add(project, "What is the weight of gold?").subject
    for name in ("Ada", "Ben"):
        person = people.add_person(project, name)
        assignments.assign_one(project, item_id, person.subject, Stage.RUBRIC)
    people.add_person(project, "Sue", (Role.ADJUDICATOR,))
    project.close()
    return str(project.path)


def told(capsys: pytest.CaptureFixture[str], *words: str) -> dict:
    assert run_command([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def sent_back(file: str, alias: str, folder: Path) -> str:
    """What the person of that alias returns: the same rubric as everybody."""
    assert (
        run_command(["pack", file, "--person", alias, "--to", str(folder / f"{alias}.goldsmith-task")]) == 0
    )
    theirs = str(folder / f"{alias}.goldsmith")
    assert run_command(["unpack", theirs, str(folder / f"{alias}.goldsmith-task")]) == 0
    project = Project.open(Path(theirs))
    write_rubric(project, items.ids(project)[0], *CRITERIA)
    project.close()
    assert run_command(["pack", theirs, "--to", str(folder / f"{alias}.goldsmith-work")]) == 0
    return str(folder / f"{alias}.goldsmith-work")


def test_people_are_added_and_listed(file, capsys):
    added = told(capsys, "people", "add", file, "--name", "李明", "--role", "annotator")
    listed = told(capsys, "people", "list", file)["people"]
    assert added in listed
    assert [one["alias"] for one in listed] == ["R1", "R2", "R3", "R4", "R5"]


def test_a_pair_goes_from_task_to_consensus(file, tmp_path, capsys):
    works = [sent_back(file, alias, tmp_path) for alias in ("R2", "R3")]
    capsys.readouterr()
    tried = told(capsys, "unpack", file, *works, "--dry-run")
    assert [one["outcome"] for one in tried["arrivals"]] == ["new", "new"]
    taken = told(capsys, "unpack", file, *works)
    assert [one["outcome"] for one in taken["arrivals"]] == ["new", "new"]
    assert [one["outcome"] for one in told(capsys, "unpack", file, *works)["arrivals"]] == ["duplicate"] * 2
    waiting = told(capsys, "adjudicate", file, "--as", "R4")["rows"]
    assert [(row["agreement"], row["contested"], row["conflict"]) for row in waiting] == [(1.0, 0, False)]
    closed = told(capsys, "adjudicate", file, "--auto-unanimous", "--as", "R4")
    # One item alone is the sample itself: nothing is closed that nobody has looked at.
    assert (len(closed["closed"]), len(closed["spot_check"])) == (0, 1)
    states = {row["state"] for row in told(capsys, "status", file)["rows"]}
    assert states <= {"frozen", "in adjudication"}


def test_a_damaged_package_is_said_and_the_exit_code_tells(file, tmp_path, capsys):
    (tmp_path / "x.goldsmith-work").write_bytes(b"<html>Not found</html>")
    assert run_command(["unpack", file, str(tmp_path / "x.goldsmith-work")]) == 1
    assert "x.goldsmith-work" in capsys.readouterr().out


def test_nothing_submitted_is_nothing_to_send(file, tmp_path, capsys):
    assert run_command(["pack", file, "--person", "R2", "--to", str(tmp_path / "t.goldsmith-task")]) == 0
    assert run_command(["unpack", str(tmp_path / "a.goldsmith"), str(tmp_path / "t.goldsmith-task")]) == 0
    assert run_command(["pack", str(tmp_path / "a.goldsmith"), "--to", str(tmp_path)]) == 1
    assert "Nothing is submitted yet" in capsys.readouterr().err


def test_an_unknown_person_is_refused_in_words(file, tmp_path, capsys):
    assert run_command(["pack", file, "--person", "nobody", "--to", str(tmp_path)]) == 1
    assert "nobody" in capsys.readouterr().err


def test_a_receipt_is_printed_for_the_annotator(file, tmp_path, capsys):
    work = sent_back(file, "R2", tmp_path)
    out = capsys.readouterr().out
    arrivals = told(capsys, "unpack", file, work)["arrivals"]
    assert arrivals[0]["receipt"] in out


# Who is at work in a command, and what would help whoever may not do it.


def verbs(command: Any, *names: str) -> Iterator[tuple[str, set[str]]]:
    """Every command by its words, with how its arguments and options are spelled."""
    for name, one in getattr(command, "commands", {}).items():
        yield from verbs(one, *names, name)
    if not hasattr(command, "commands"):
        yield " ".join(names), {spelling for one in command.params for spelling in one.opts}


FAMILY = dict(found for name, one in CommandsAskedFor().items() for found in verbs(one, name))
ON_PROJECTS = sorted(name for name, taken in FAMILY.items() if "file" in taken and name not in MAKING)


@pytest.fixture
def study(tmp_path: Path) -> str:
    """A project of a coordinator, R1, and an annotator, R2, who was the last at work."""
    project = new_project(tmp_path / "study.goldsmith")
    people.someone(project)
    added = people.add_person(project, "Ada").subject
    project.work_as(people.known(project, added))
    project.close()
    return str(project.path)


def err(capsys: pytest.CaptureFixture[str], code: int, *words: str) -> str:
    assert run_command([*words]) == code
    return capsys.readouterr().err


@pytest.mark.parametrize("verb", ON_PROJECTS)
def test_every_verb_on_a_project_takes_who_is_at_work(study, capsys, verb):
    assert "--as" in FAMILY[verb]
    assert run_command([*verb.split(), "--help"]) == 0
    assert capsys.readouterr().out.count("--as ") >= 1


def test_the_person_named_is_at_work_in_that_command_alone(study, capsys):
    allow = ("weights", study, "--allow", "1 to 5")
    assert "Only a coordinator" in err(capsys, 1, *allow)
    assert err(capsys, 0, *allow, "--as", "r1") == ""
    assert "Only a coordinator" in err(capsys, 1, "weights", study, "--allow", "1 to 4")
    with closing(Project.open(Path(study))) as project:
        assert project.person is not None
        assert project.person.alias == "R2"
        with project.store.read() as db:
            newest = db.execute(AUDIT.select().order_by(AUDIT.c.seq.desc())).mappings().first()
        assert newest is not None
        assert (newest["kind"], newest["by"]) == ("setting", people.known(project, "R1").id)


def test_a_person_nobody_knows_changes_nothing(study, capsys):
    assert "“R9” is not an id or alias" in err(capsys, 1, "weights", study, "--allow", "1 to 5", "--as", "R9")


def test_who_is_refused_for_their_role_reads_which_command_helps(study, capsys):
    words = err(capsys, 1, "weights", study, "--allow", "1 to 5")
    assert "add --as R1." in words
    assert f"goldsmith people role {study} R2 --role annotator --role coordinator" in words
    assert err(capsys, 0, "people", "role", study, "R2", "--role", "annotator", "--role", "coordinator") == ""
    assert err(capsys, 0, "weights", study, "--allow", "1 to 5") == ""


def test_where_nobody_has_the_role_it_can_be_given(study):
    with pytest.raises(RoleNeeded) as refused, opened(Path(study)):
        raise RoleNeeded("You are not an adjudicator.", "Ask for that role.", Role.ADJUDICATOR)
    given = f"goldsmith people role {study} R2 --role adjudicator --role annotator"
    assert refused.value.details == (f"Give R2 the role: {given}",)


def test_the_last_coordinator_stays_one(study, capsys):
    assert "No active coordinator" in err(capsys, 1, "people", "role", study, "R1", "--role", "annotator")
    with closing(Project.open(Path(study))) as project:
        assert people.known(project, "R1").has(Role.COORDINATOR)
