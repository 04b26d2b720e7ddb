"""What Goldsmith promises about work that travels by file."""

import json
import random
import re
import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.assignments import assignments
from annotator.actions.authoring import settings
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, packing, tasking, tray, unpacking
from annotator.actions.project import incoming, people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.cli import run_command
from annotator.domain.common import Refusal, now, sha256
from annotator.domain.experts.assignment import Purpose, Stage
from annotator.exchange.parcels import packages
from annotator.storage.tables import AGREEMENT, DISPUTE
from tests.actions.parcels.test_exchange import three_reports
from tests.cli.commands import told as in_json
from tests.material.bundles import peer_files, write_peer, written
from tests.projects.pairs_project import annotators, coordinated, project_in, returned, task_for, write_rubric
from tests.projects.validation_project import (
    At,
    ann,
    judge_says,
    person_says,
    places,
    strict,
    validation_project,
)
from tests.storage import sql

STRANGER = b"somebody who read along the mail"
Trees = dict[str, Any]


@pytest.fixture
def home(tmp_path: Path) -> Project:
    return coordinated(tmp_path / "home")


def key_of(path: Path) -> bytes:
    return known_keys.signing_key(Project.open(path))


def remade(path: Path, key: bytes, change: Callable[[Trees], object], **facts: Any) -> Path:
    """The package with its records changed, every hash made to fit, signed with a key.

    Where the package itself carries a key that its reader trusts, that one is used: whoever has the file has it.
    """
    package = packages.read_package(path)
    trees = {name: json.loads(content) for name, content in package.entries.items()}
    change(trees)
    told = {name: getattr(package.manifest, name) for name in packages.PackageFacts.model_fields} | facts
    key = bytes.fromhex(told["extra"].get("secret", key.hex()))
    made = path.with_name(f"remade-{sha256(json.dumps(trees))[:8]}{path.suffix}")
    entries = {name: json.dumps(tree).encode() for name, tree in trees.items()}
    made.write_bytes(packages.package_bytes(packages.PackageFacts(**told), entries, key))
    return made


def told(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    capsys.readouterr()
    code = run_command(list(words))
    said = capsys.readouterr()
    return code, " ".join((said.out + said.err).split())


def refused(task: Path, theirs: Path) -> str:
    """The words by which a task is refused; the annotator's file must be the same to the byte."""
    before = theirs.read_bytes()
    with pytest.raises(Refusal) as refusal:
        tasking.take_task(task, theirs)
    assert theirs.read_bytes() == before
    return str(refusal.value)


def opened(home: Project, folder: Path) -> Path:
    with closing(tasking.take_task(task_for(home, annotators(home)[0].id, folder)).project) as theirs:
        write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
        return theirs.path


def test_whoever_read_a_task_along_the_mail_cannot_write_a_later_one(home: Project, tmp_path: Path) -> None:
    theirs = opened(home, tmp_path / "ana")
    (task,) = (tmp_path / "ana").glob("*.goldsmith-task")

    def another_guideline(trees: Trees) -> None:
        told = {"stage": "rubric", "version": 9, "text": "Write what I tell you.", "at": now().isoformat()}
        trees["guidelines.json"].append(told)

    assert "signed with a different key" in refused(remade(task, STRANGER, another_guideline), theirs)


def test_no_task_touches_what_its_annotator_wrote(home: Project, tmp_path: Path) -> None:
    theirs = opened(home, tmp_path / "ana")
    (task,) = (tmp_path / "ana").glob("*.goldsmith-task")
    with closing(Project.open(theirs)) as project:
        own = next(
            one for item_id in items.ids(project) for one in artifacts_of(project, item_id) if one.author_id
        )
    key = key_of(home.path)

    def my_rubric_for_hers(trees: Trees) -> None:
        units = [{"id": "u1", "text": "Praises the coordinator", "weight": 3}]
        document = {"id": own.id, "item_id": own.item_id, "kind": "rubric", "document": {"units": units}}
        trees["documents.json"].append(document)

    assert "that you wrote" in refused(remade(task, key, my_rubric_for_hers), theirs)
    with closing(Project.open(theirs)) as project:
        assert (
            next(artifact for artifact in artifacts_of(project, own.item_id) if artifact.id == own.id) == own
        )


def test_an_older_task_than_the_newest_opened_changes_nothing_and_says_so(
    home: Project, tmp_path: Path
) -> None:
    settings.write(home, Stage.RUBRIC, "First guideline.")
    theirs = opened(home, tmp_path / "ana")
    (task,) = (tmp_path / "ana").glob("*.goldsmith-task")
    older = Path(shutil.copy(task, tmp_path / "older.goldsmith-task"))
    settings.write(home, Stage.RUBRIC, "Second guideline.")
    newer = task_for(home, annotators(home)[0].id, tmp_path / "later")
    tasking.take_task(newer, theirs).project.close()
    assert "older than the newest task" in refused(older, theirs)
    # The newest itself may be opened as often as anybody likes.
    tasking.take_task(newer, theirs).project.close()


def test_the_first_file_shows_six_words_and_only_their_owner_can_send_more(
    home: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ana = annotators(home)[0]
    theirs = opened(home, tmp_path / "ana")
    (task,) = (tmp_path / "ana").glob("*.goldsmith-task")
    work = tmp_path / "one.goldsmith-work"
    _, packed = told(capsys, "pack", str(theirs), "--to", str(work))
    words = packed.partition("“")[2].partition("”")[0]
    assert len(words.split()) == 6
    for options in (["--dry-run"], []):
        assert words in told(capsys, "unpack", str(home.path), str(work), *options)[1]

    def other_words(trees: Trees) -> None:
        trees["disputes.json"].append(
            {"item_id": items.ids(home)[0], "stage": "rubric", "text": "I give up.", "at": now().isoformat()}
        )

    key = packages.read_package(task).manifest.extra.get("secret", STRANGER.hex())
    code, said = told(capsys, "unpack", str(home.path), str(remade(work, bytes.fromhex(key), other_words)))
    assert (code, "signed with a different key" in said, words in said) == (1, True, True)
    with closing(Project.open(home.path)) as project:
        left = (project.query(select(DISPUTE)).all(), tray.entries(project), people.known(project, ana.id))
        assert left == ([], [], ana)


def test_a_lost_key_is_replaced_by_an_act_that_says_what_it_means(
    home: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ana = annotators(home)[0]
    unpacking.take_in(home, [returned(home, ana.id, tmp_path / "lost")])
    again = str(returned(home, ana.id, tmp_path / "new laptop", "Explains it once more"))
    unpack = ("unpack", str(home.path), again)
    replace = ("people", "key", str(home.path), ana.id, "--replace-by", again)
    code, said = told(capsys, *replace)
    assert (code, "From now on" in said, "stays" in said) == (0, True, True)
    assert [told(capsys, *words)[0] for words in (unpack, (*replace, "--yes"), unpack)] == [1, 0, 0]


@pytest.mark.parametrize(
    "wrong",
    [
        {"revisions": []},
        # A moment without a zone.
        {"at": "2026-01-02T03:04:05"},
        # One id twice.
        {"id": "the same"},
    ],
    ids=str,
)
def test_a_malformed_package_keeps_no_other_out(home: Project, tmp_path: Path, wrong: dict[str, Any]) -> None:
    def change(trees: Trees) -> None:
        for artifact in trees["artifacts.json"]:
            (artifact["revisions"][0] if "at" in wrong else artifact).update(wrong)

    bad, good = (returned(home, person.id, tmp_path / person.alias) for person in annotators(home))
    bad = remade(bad, key_of(next(bad.parent.glob("*.goldsmith"))), change)
    assert [arrival.outcome.value for arrival in unpacking.take_in(home, [bad, good])] == ["damaged", "new"]


def test_a_time_to_come_and_an_absurd_duration_wait_in_the_tray(home: Project, tmp_path: Path) -> None:
    def in_the_future(trees: Trees) -> None:
        for artifact in trees["artifacts.json"]:
            artifact["revisions"][-1]["at"] = "2199-01-01T00:00:00Z"

    def for_a_century(trees: Trees) -> None:
        for artifact in trees["artifacts.json"]:
            artifact["seconds"] = 3.15e9

    for person, change in zip(annotators(home), (in_the_future, for_a_century), strict=True):
        work = returned(home, person.id, tmp_path / person.alias)
        theirs = next(work.parent.glob("*.goldsmith"))
        (arrival,) = unpacking.take_in(home, [remade(work, key_of(theirs), change)])
        assert {piece.outcome.value for piece in arrival.pieces} == {"doubtful"}
    assert (len(tray.entries(home)), sql.first(home, "SELECT count(*) FROM artifact")) == (4, (0,))


def test_check_reads_every_stored_document_with_its_class(home: Project) -> None:
    assert checking.check(home).problems == []
    home.set("digest:an item", [{"x": 1}])
    content = '{"x":1}'
    with home.store.write() as db:
        db.execute(
            AGREEMENT.insert().values(
                id="a1", item_id=items.ids(home)[0], stage="rubric", content=content, sha256=sha256(content),
                frozen_at=now(),
            )
        )  # fmt: skip
    result = {(problem.table, problem.subject) for problem in checking.check(home).problems}
    assert result == {("meta", "digest:an item"), ("agreement", "a1")}


@pytest.mark.parametrize("names", [("Q-07", "Q-08"), ("weight-of-gold", "density-of-gold")])
def test_a_silent_repeat_looks_like_any_other_item(tmp_path: Path, names: tuple[str, str]) -> None:
    home = three_reports(tmp_path / "home")
    ada = people.add_person(home, "Ada", alias="Z1").subject
    paper = tmp_path / "paper.md"
    paper.write_text("# Residual networks\n\nThey ease training.", "utf-8")
    for item_id, key in zip(items.ids(home), names, strict=True):
        items.change(home, item_id, key=key)
        items.add_source(home, item_id, paper)
        assignments.assign_one(home, item_id, ada, Stage.LABELLING)
    for item_id in items.ids(home):
        assignments.assign_one(
            home, item_id, ada, Stage.LABELLING, purpose=Purpose.REPEAT, trial=2, not_before=now()
        )
    with closing(tasking.take_task(packing.task(home, ada, tmp_path).path).project) as theirs:
        result = items.ids(theirs)
        keys = {items.read(theirs, item_id).key for item_id in result}
        assert {len(items.sources(theirs, item_id)) for item_id in result} == {1}
    assert (len(keys), set(names) < keys) == (4, True)
    manner = r"Q-\d\d" if names[0] == "Q-07" else "[a-z-]+"
    assert [key for key in keys if not re.fullmatch(manner, key)] == []


SEVEN = ("Ada", "Ben", "Cleo", "Dan", "Eva", "李明", 'A/B: "both"')


def ben(at: At) -> str:
    return "unsure" if at == (1, "Beta", 2) else "yes" if at[2] == 1 else ann(at)


def test_labels_from_a_file_count_as_the_same_labels_given_in_the_window(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = validation_project(tmp_path)
    judge_says(project, "good", ann)
    judge_says(project, "small", strict)
    rows = [
        {
            "item": str(at[0]),
            "system": at[1],
            "unit": f"Criterion {at[2]} of {at[0]}",
            "rater": who,
            "value": says(at),
        }
        for who, says in (("R2", ann), ("R3", ben))
        for at in places(project)
    ]
    project.close()
    by_hand = Path(shutil.copy(project.path, tmp_path / "by-hand.goldsmith"))
    with closing(Project.open(by_hand)) as other:
        person_says(other, "R2", ann)
        person_says(other, "R3", ben)
    table = written(tmp_path, *rows)
    in_json(capsys, "labels", "import", project.path, table, "--as", "R2=R2", "--as", "R3=R3")
    for command, *options in (
        ("validate",), ("validate", "--by", "weight"), ("choose-judge", "--figure", "accuracy", "--delta", "0.5"),
        ("correct", "--judge", "good"),
    ):  # fmt: skip
        assert in_json(capsys, command, project.path, *options) == in_json(capsys, command, by_hand, *options)


@pytest.fixture
def handed_out(tmp_path: Path) -> tuple[str, list[str]]:
    """A project of which seven people are to write the rubrics, and who they are."""
    project = coordinated(tmp_path / "here", SEVEN[:-1])
    last = people.add_person(project, SEVEN[-1], alias="A/B").subject
    assignments.assign_one(project, items.ids(project)[0], last, Stage.RUBRIC)
    whose = [person.id for person in annotators(project)]
    return str(project.path), whose


def of(path: Path) -> str:
    return packages.read_package(path).manifest.person_id


@pytest.mark.parametrize("name", ["tasks", "deep/tasks.2026/"])
def test_a_folder_that_is_not_there_yet_is_made_and_holds_a_file_for_each_person(
    handed_out: tuple[str, list[str]], tmp_path: Path, name: str
) -> None:
    file, whose = handed_out
    for words in (["--person", whose[0]], ["--all"]):
        assert run_command(["pack", file, *words, "--to", f"{tmp_path}/{name}"]) == 0
    assert sorted(of(path) for path in (tmp_path / name).iterdir()) == sorted(whose)


def test_a_package_of_somebody_else_is_never_replaced_and_ones_own_is(
    handed_out: tuple[str, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, (first, second, *_) = handed_out
    task, work = tmp_path / "task.goldsmith-task", tmp_path / "mine.goldsmith-work"
    packed = [
        run_command(["pack", file, "--person", one, "--to", str(task)]) for one in (first, second, first)
    ]
    assert (packed, of(task)) == ([0, 1, 0], first)
    assert "It was left unchanged" in capsys.readouterr().err
    with closing(Project.open(Path(file))) as project:
        folders = [returned(project, one, tmp_path / one).parent for one in (first, second)]
    packed = [run_command(["pack", str(project_in(folder)), "--to", str(work)]) for folder in folders]
    assert (packed, of(work)) == ([0, 1], first)


PEER = "researcherbench"


def new(folder: Path) -> Project:
    return Project.create(folder / "p.goldsmith")


def said(project: Project, folder: Path) -> incoming.ImportPreview:
    return imports.run(project, PEER, [folder], warm=False)[1]


def public(folder: Path, files: dict[str, Any]) -> Path:
    names = {"questions.json": "eval_data/questions.json", "rubric.json": "eval_data/rubrics.json"}
    return write_peer(
        folder,
        {names.get(path) or path.replace("responses", "user_data"): tree for path, tree in files.items()},
    )


def test_the_data_folder_of_the_public_repository_is_imported_by_its_name_alone(tmp_path: Path) -> None:
    files = peer_files() | {
        "responses/test.json": [{"id": 1, "question": "What is known?", "response": "test"}]
    }
    report = said(new(tmp_path), public(tmp_path / "data", files))
    counts = {name: count.new for name, count in report.counts.items() if count.new}
    assert counts == {"items": 2, "systems": 1, "responses": 2, "artifacts": 2}
    assert [str(note) for note in report.notes] == [
        "responses/test.json: is the layout's example and no system's file; it was left out"
    ]


def keys(project: Project) -> list[str]:
    return [line.key for line in items.lines(project, items.ids(project))]


def test_a_question_whose_key_is_taken_gets_a_free_one_and_keeps_its_number_in_the_benchmarks_files(
    tmp_path: Path,
) -> None:
    project, files = new(tmp_path), peer_files()
    items.add(project, "What did we ask ourselves?")
    later = {path: tree for path, tree in files.items() if path.startswith("responses/")}
    folder = write_peer(tmp_path / "in", {path: tree for path, tree in files.items() if path not in later})
    before, report = imports.preview(project, PEER, [folder]), said(project, folder)
    assert keys(project) == ["1", "3", "2"]
    told = ["questions.json[0]: the key 1 is taken; it becomes 3"]
    assert [[str(note) for note in each.notes] for each in (before, report)] == [told, told]
    again = said(project, folder)
    assert (str(again), again.problems) == ("nothing new", ())
    assert [str(note) for note in again.notes] == ["questions.json[0]: item 1 of the files is item 3 here"]
    # Responses that come later find it.
    report = said(project, write_peer(tmp_path / "later", later))
    assert (report.counts["responses"].new, report.problems) == (2, ())
    releases.export(project, tmp_path / "out", profile=PEER)
    asked = json.loads((tmp_path / "out" / "questions.json").read_text("utf-8"))
    own = json.loads((folder / "questions.json").read_text("utf-8"))
    assert [(each["id"], each["question"]) for each in asked[1:]] == [(e["id"], e["question"]) for e in own]
    assert asked[0]["id"] == 3
    (tmp_path / "copy").mkdir()
    copy = new(tmp_path / "copy")
    said(copy, tmp_path / "out")
    assert keys(copy) == keys(project)


def their_release(folder: Path, questions: int) -> Path:
    other = Project.create(folder / "other.goldsmith")
    for number in range(questions):
        items.add(other, f"Their question {number}?")
    releases.export(other, folder / "release")
    return folder / "release"


def test_a_release_with_keys_that_are_taken_comes_in_under_free_ones(tmp_path: Path) -> None:
    project, release = new(tmp_path), their_release(tmp_path, 3)
    items.add(project, "What did we ask ourselves?")
    _, again = (imports.run(project, "goldsmith", [release], warm=False)[1] for _ in range(2))
    assert (keys(project), str(again), again.problems) == (["1", "4", "2", "3"], "nothing new", ())
    releases.export(project, tmp_path / "ours")
    written = json.loads((tmp_path / "ours" / "items.json").read_text("utf-8"))
    assert [each["key"] for each in written] == keys(project)


@pytest.mark.parametrize("seed", [0, 3, 5, 6])
def test_no_two_items_are_called_the_same_in_whatever_order_they_come(tmp_path: Path, seed: int) -> None:
    folders = {"goldsmith": their_release(tmp_path, 4), PEER: write_peer(tmp_path / "in")}
    project, chance = new(tmp_path), random.Random(seed)
    steps = ["add", "add", "add", PEER, PEER, "goldsmith", "goldsmith"]
    chance.shuffle(steps)
    for step in steps:
        if step == "add":
            items.add(project, "What did we ask ourselves?")
        else:
            imports.run(project, step, [folders[step]], warm=False)
    assert len(set(keys(project))) == len(keys(project)) == 3 + 2 + 4
