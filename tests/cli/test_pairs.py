"""The work in pairs from the command line: people, plans, tasks out, work back, labels in files, adjudication."""

import json
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.labelling import board
from annotator.actions.parcels import known_keys
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.cli.saying import MAKING, opened
from annotator.domain.common import RoleNeeded
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.kind import Kind, Role, Stage
from tests.cli.commands import goldsmith, printed, refused, told
from tests.material.bundles import every, project_of_two, stored, written
from tests.projects.pairs_project import (
    ADA,
    coordinated,
    item,
    pairs_project,
    person,
    rubric,
    work_as,
    write_rubric,
)
from tests.promises.test_departures import COMMANDS
from tests.storage import sql


@pytest.fixture
def file(tmp_path: Path) -> str:
    """A project of one item that Ada is to write a rubric for."""
    project = pairs_project(tmp_path)
    assignments.assign_one(project, item(project), person(project, "Ada").id, Stage.RUBRIC)
    return str(project.path)


def test_people_are_added_and_listed(file, capsys):
    added = told(capsys, "people", "add", file, "--name", "李明", "--role", "annotator")
    *_, last = told(capsys, "people", "list", file)["people"]
    assert last == added | {"alias": "R6"}


def test_nothing_submitted_is_nothing_to_send(file, tmp_path, capsys):
    task, theirs = tmp_path / "t.goldsmith-task", tmp_path / "a.goldsmith"
    printed(capsys, "pack", file, "--person", "R2", "--to", task)
    printed(capsys, "unpack", theirs, task)
    assert "Nothing is submitted yet" in refused(capsys, "pack", theirs, "--to", tmp_path)


@pytest.fixture
def study(tmp_path: Path) -> str:
    """A project of a coordinator, R1, and an annotator, R2, who was the last at work."""
    return str(work_as(pairs_project(tmp_path), "Ada").path)


def test_every_verb_on_a_project_takes_who_is_at_work():
    options = {
        verb: {spelling for one in command.params for spelling in one.opts}
        for verb, command in COMMANDS.items()
    }
    on_projects = [verb for verb, taken in options.items() if "file" in taken and verb not in MAKING]
    assert len(on_projects) > 50
    assert [verb for verb in on_projects if "--as" not in options[verb]] == []


@pytest.mark.parametrize(
    ("command", "why"),
    [
        ("share {} --off --send", "--off stands alone."),
        ("pack {} --to out/ --all --person R2", "--all and --person cannot be combined."),
        ("adjudicate {} --item 1 --take x=A", "“x=A” decides nothing."),
        ("systems set {} --system A", "Nothing is to be changed."),
        ("responses set {} --system A", "Nothing is to be changed."),
        ("sources describe {} --item 1", "Nothing is to be changed."),
        ("rubrics keep {} mine", "A set is either copied or read from a file."),
        ("judge confirm {} --extraction none", "There is no extraction “none”."),
        ("bias {} --family Alpha=A --family Beta", "“Beta” does not name a developer."),
        ("results {} --by none", "Figures cannot be grouped by “none”."),
        ("results {} --choose none", "“none” is not a choice."),
    ],
)
def test_a_wrong_option_is_refused_before_the_project_is_looked_for(command, why, tmp_path, capsys):
    assert why in refused(capsys, *command.format(tmp_path / "none.goldsmith").split())


def test_the_person_named_is_at_work_in_that_command_alone(study, capsys):
    allow = ("weights", study, "--allow", "1 to 5")
    assert "Only a coordinator" in refused(capsys, *allow)
    printed(capsys, *allow, "--as", "r1")
    assert "Only a coordinator" in refused(capsys, "weights", study, "--allow", "1 to 4")
    with closing(Project.open(Path(study))) as project:
        assert project.person.alias == "R2"
        newest = sql.first(project, 'SELECT kind, "by" FROM audit ORDER BY seq DESC')
        assert newest == ("setting", people.known(project, "R1").id)


def test_an_unknown_person_changes_nothing_and_a_coordinator_stays(study, capsys):
    assert "“R9” is not an id or alias" in refused(
        capsys, "weights", study, "--allow", "1 to 5", "--as", "R9"
    )
    assert "No active coordinator" in refused(capsys, "people", "role", study, "R1", "--role", "annotator")
    assert people.known(Project.open(Path(study)), "R1").has(Role.COORDINATOR)
    with pytest.raises(RoleNeeded) as needed, opened(Path(study)):
        raise RoleNeeded("You are not an adjudicator.", "Ask for that role.", Role.ADJUDICATOR)
    given = f"goldsmith people role {study} R2 --role adjudicator --role annotator"
    assert needed.value.details[-1] == f"Give R2 the role: {given}"


def test_who_is_refused_for_their_role_reads_which_command_helps(study, capsys):
    words = refused(capsys, "weights", study, "--allow", "1 to 5")
    assert "add --as R1." in words
    role = ("people", "role", study, "R2", "--role", "annotator", "--role", "coordinator")
    assert f"goldsmith {' '.join(role)}" in words
    printed(capsys, *role)
    printed(capsys, "weights", study, "--allow", "1 to 5")


@pytest.fixture
def labelled(tmp_path: Path) -> str:
    return str(project_of_two(tmp_path).path)


def labels_in(labelled: str) -> list[dict[str, Any]]:
    return stored(Project.open(Path(labelled)))


def test_labels_go_in_and_leave_by_the_ending_of_the_path(
    labelled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("labels", "import", labelled, str(written(tmp_path, *every())), "--as", "Ann=R2")
    assert (told(capsys, *words, "--dry-run")["new"], labels_in(labelled)) == (12, [])
    assert (told(capsys, *words)["new"], len(labels_in(labelled))) == (12, 12)
    for name in ("out.csv", "out.json"):
        assert "Wrote 12 labels of R2" in printed(
            capsys, "labels", "export", labelled, "--to", str(tmp_path / name), "--person", "R2"
        )
    assert len(json.loads((tmp_path / "out.json").read_text("utf-8"))["labels"]) == 12


def test_a_label_takes_the_place_of_another_only_when_told_to(
    labelled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("labels", "import", labelled)
    told(capsys, *words, str(written(tmp_path, {})), "--as", "Ann=R2")
    other = str(written(tmp_path, {"value": "no"}))
    refused(capsys, *words, other, "--as", "Ann=R2")
    told(capsys, *words, other, "--as", "Ann=R2", "--replace")
    assert [row["value"] for row in labels_in(labelled)] == ["no"]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--as", "R1", "--as", "R2"), "Only one person can be at work."),
        (("--as", "Ann="), "does not identify a rater"),
        (("--system", "Alpha", "--system", "Beta"), "Only one system can be named for all reports."),
        (("--as", "R2"), "Only a coordinator can import other people's labels."),
        ((), "choose who that is, as in --as “Ann=ALIAS”"),
    ],
    ids=str,
)
def test_what_is_said_unclearly_is_refused(
    labelled: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, "labels", "import", labelled, str(written(tmp_path, {})), *words)
    assert labels_in(labelled) == []


def test_a_person_submits_their_own_documents_and_hears_what_keeps_others_back(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project, told = pairs_project(tmp_path, 3), []
    asking = (("Is this a criterion that asks about the residual stream?", 3), *ADA[1:])
    for place, name, criteria in ((0, "Ben", ADA), (1, "Ada", asking), (2, "Ada", ()), (0, "Ada", ADA)):
        begun = artifacts.start(
            work_as(project, name), item(project, place), Kind.RUBRIC, rubric(criteria, "a")
        ).subject
    artifacts.save_draft(project, begun, "a1", "text", "Explains how attribution works")
    work_as(project, "Cora").close()
    for words in ("R2 2 --kind plan", "R2", "R2 1 2", "R2 2 --reason Wanted", "R3"):
        code, out, _ = goldsmith(
            capsys, "authoring", "submit", project.path, "--json", "--as", *words.split()
        )
        found = json.loads(out)
        told.append((code, found["submitted"], [one["reasons"][0][:13] for one in found["not_submitted"]]))
    first, second = ([{"item": key, "kind": "rubric"}] for key in "12")
    assert told == [
        (3, [], ["You have no o"]),
        (3, first, ["Criterion 1: ", "Whole documen"]),
        (3, [], ["You have no o", "Criterion 1: "]),
        (0, second, []),
        (0, first, []),
    ]
    project = Project.open(project.path)
    assert artifacts.read(project, begun).document.units[0].text == "Explains how attribution works"


def test_points_of_ones_own_checklist_share_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = pairs_project(tmp_path, 1)
    points = tuple(
        CheckPoint(title=f"T{n}", text="Is it so?", share=share) for n, share in enumerate((0.4, 0, 0))
    )
    begun = artifacts.start(
        work_as(project, "Ada"), item(project, 0), Kind.CHECKLIST, Checklist(units=points)
    ).subject
    work_as(project, "Cora").close()
    command = ("authoring", "share-rest", str(project.path), "1")
    assert "You have no checklist for item 1." in refused(capsys, *command)
    assert printed(capsys, *command, "--as", "R2").splitlines() == [
        "0.4000  T0: Is it so?", "0.3000  T1: Is it so?", "0.3000  T2: Is it so?",
    ]  # fmt: skip
    project = Project.open(project.path)
    assert [unit.share for unit in artifacts.read(project, begun).document.units] == pytest.approx(
        [0.4, 0.3, 0.3]
    )


TWO = ("--annotator", "R2", "--annotator", "R3", "--adjudicator", "R4")


@pytest.fixture
def four(tmp_path: Path) -> Path:
    """Ada R2, Ben R3 and Dan R5 annotate, Cleo R4 adjudicates, Cora R1 coordinates; four items."""
    return pairs_project(tmp_path, 4).path


def test_plans_are_drawn_evenly_and_refused_in_words(four, capsys):
    words = ("--stage", "plan", "--annotator", "R2", "--annotator", "r3", "--annotator", "R5", "--seed", "7")
    assert told(capsys, "assign", four, *words, "--dry-run") == told(
        capsys, "assign", four, *words, "--dry-run"
    )
    alone = ("--stage", "rubric", "--annotator", "R2")
    words = printed(capsys, "assign", four, *alone, "--dry-run", code=1)
    assert "Each stage is to be done by 2 people, but the plan names 1 annotator." in words
    assert "cannot be met" in refused(capsys, "assign", four, *alone)
    assert board.board(Project.open(four, readonly=True)) == []
    assert "cannot be handed out as a stage" in refused(
        capsys, "assign", four, "--stage", "adjudication", *TWO
    )
    assert "“Ada” is not an id or alias in this project" in refused(
        capsys, "assign", four, "--stage", "rubric", "--annotator", "Ada"
    )
    assert "no item “nowhere”" in refused(
        capsys, "assign", four, "--stage", "rubric", *TWO, "--item", "nowhere"
    )


def test_items_get_a_date_and_a_pilot_goes_to_everybody(four, capsys):
    people = ("--annotator", "R2", "--annotator", "R3", "--annotator", "R5")
    printed(capsys, "assign", four, "--stage", "rubric", *people, "--pilot", "1")
    printed(
        capsys, "assign", four, "--stage", "plan", *TWO, "--item", "2", "--item", "3", "--due", "2031-05-04"
    )
    lines = board.board(Project.open(four, readonly=True))
    assert {(line.item_key, line.alias, line.purpose.value) for line in lines if line.stage is Stage.RUBRIC} == {
        ("1", "R2", "pilot"), ("1", "R3", "pilot"), ("1", "R5", "pilot"),
    }  # fmt: skip
    written = [line for line in lines if line.stage is Stage.PLAN]
    assert {line.item_key for line in written} == {"2", "3"}
    assert {line.due.astimezone().date() for line in written if line.due} == {date(2031, 5, 4)}


def test_repeats_come_back_after_so_many_days(four, capsys):
    labelling = "--stage labelling --annotator R2 --annotator R3 --due 2031-05-04"
    assert (
        told(capsys, "assign", four, *f"{labelling} --repeat-share 0.25 --repeat-after 14".split())["new"]
        == 10
    )
    project = Project.open(four, readonly=True)
    again = [one for one in assignments.of_person(project, person(project, "Ada").id) if one.trial == 2]
    assert [one.not_before.astimezone().date() for one in again if one.not_before] == [date(2031, 5, 18)]


def test_a_study_goes_round_through_a_folder(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with closing(coordinated(tmp_path / "home")) as project:
        file = str(project.path)
    folder, theirs = tmp_path / "synced", str(tmp_path / "own.goldsmith")
    assert "no folder" in refused(capsys, "share", file, folder)
    folder.mkdir()
    assert len(told(capsys, "share", file, folder, "--send")["packages"]) == 2

    (task,) = (folder / "R2").glob("*.goldsmith-task")
    printed(capsys, "unpack", theirs, task)
    with closing(Project.open(Path(theirs))) as project:
        write_rubric(project, items.ids(project)[0], "Explains the weight of gold")
        words = known_keys.own_words(project)
    receipt = told(capsys, "share", theirs)["receipt"]

    waits = told(capsys, "share", file)
    assert (waits["arrivals"], waits["keys"][0]["words"]) == ([], words)
    refused(capsys, "share", file, "--trust", "not these")
    assert told(capsys, "share", file, "--trust", words)["arrivals"][0]["receipt"] == receipt
    assert told(capsys, "share", file, "--off") == {"folder": None}
    refused(capsys, "share", file)
