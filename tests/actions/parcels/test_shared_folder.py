"""Tasks and work through a shared folder: sealed, taken once and whole, the project never in it."""

import json
import os
import random
import shutil
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, shared_folder, tasking, tray, unpacking
from annotator.actions.project import backups, people, shared
from annotator.actions.project.file import Project
from annotator.domain.experts.assignment import ParcelOutcome, Role, Stage
from annotator.exchange.parcels import packages, sealing
from annotator.places import user_data
from tests.exchange.parcels.hand_made_zip import with_manifest
from tests.material.content_hash import content_hash
from tests.material.sent_apart import (
    annotators,
    coordinated,
    edit_rubric,
    returned,
    task_for,
    write_rubric,
)
from tests.projects.refusals import expect_refusal
from tests.storage import sql


@pytest.fixture
def home(tmp_path: Path) -> Project:
    project = coordinated(tmp_path / "home")
    (tmp_path / "synced").mkdir()
    shared_folder.choose(project, tmp_path / "synced")
    return project


def everyone(home: Project) -> list[str]:
    return [person.id for person in annotators(home)]


def opened(home: Project, alias: str, own: Path) -> Project:
    """The project of a person who opened the task that lies in their subfolder."""
    folder = shared.folder_of(home)
    assert folder is not None
    (task,) = (folder / alias).glob("*.goldsmith-task")
    return tasking.take_task(task, folder=own).project


@pytest.fixture
def ana(home: Project, tmp_path: Path) -> Project:
    """Ana's project, whose key is known and whose whole task came sealed."""
    shared_folder.send(home, everyone(home))
    theirs = opened(home, "R2", tmp_path / "ana's own")
    shared_folder.sync(theirs)
    shared_folder.trust(home, known_keys.own_words(theirs).upper())
    shared_folder.sync(home)
    shared_folder.sync(theirs)
    return theirs


def rubrics(home: Project) -> list[str]:
    """The criteria of every newest revision."""
    question = (
        "SELECT r.content FROM revision r JOIN artifact a ON a.id = r.artifact_id AND a.revision = r.number"
    )
    return sorted(
        unit["text"] for (content,) in sql.rows(home, question) for unit in json.loads(content)["units"]
    )


def test_a_first_task_lies_open_a_key_joins_and_from_then_on_all_is_sealed(
    home: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "synced"
    assert [one.problem for one in shared_folder.send(home, everyone(home))] == [None, None]
    assert sorted(path.name for path in (folder / "R2").iterdir()) == [
        shared.MARK, "study-R2-task.goldsmith-task",
    ]  # fmt: skip
    theirs = opened(home, "R2", tmp_path / "own")
    assert (shared.folder_of(theirs), people.someone(theirs).name) == (folder / "R2", "R2")
    assert shared_folder.sync(theirs).receipt == ""

    (key,) = shared_folder.look(home).keys
    assert (key.alias, key.words, key.before) == ("R2", known_keys.own_words(theirs), "")
    assert not shared_folder.look(home).due
    expect_refusal("No key that waits", shared_folder.trust, home, "some other words")
    shared_folder.trust(home, f"  {key.words} ")
    (again,) = shared_folder.sync(home).sent
    assert again.packed is not None
    assert (again.packed.path.suffix, list((folder / "R2").glob("*-task"))) == (sealing.SUFFIX, [])
    assert len(list((folder / "R3").glob("*.goldsmith-task"))) == 1

    assert shared_folder.sync(theirs).new_items == 0
    assert people.people(theirs)[0].name == "Ana Silva"
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    receipt = shared_folder.sync(theirs).receipt
    (arrival,) = shared_folder.sync(home).arrivals
    assert (arrival.outcome, arrival.receipt, arrival.person_name) == (
        ParcelOutcome.NEW,
        receipt,
        "Ana Silva",
    )
    assert rubrics(home) == ["Explains the weight of gold"]
    assert (shared_folder.look(home).due, shared_folder.look(theirs).due) == (False, False)


def test_work_of_a_key_that_nobody_compared_waits(home: Project, tmp_path: Path) -> None:
    shared_folder.send(home, everyone(home))
    theirs = opened(home, "R2", tmp_path / "own")
    write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    shared_folder.sync(theirs)
    before = content_hash(home)
    assert shared_folder.sync(home).arrivals == ()
    assert content_hash(home) == before
    shared_folder.trust(home, known_keys.own_words(theirs))
    assert [one.outcome for one in shared_folder.sync(home).arrivals] == [ParcelOutcome.NEW]


def test_a_new_laptop_waits_until_its_words_are_compared(home: Project, ana: Project, tmp_path: Path) -> None:
    before = known_keys.own_words(ana)
    task = task_for(home, annotators(home)[0].id, tmp_path / "mailed")
    with closing(tasking.take_task(task, tmp_path / "laptop.goldsmith").project) as laptop:
        shared_folder.choose(laptop, tmp_path / "synced")
        write_rubric(laptop, items.ids(laptop)[0], "Explains it on a new laptop")
        shared_folder.sync(laptop)
        (key,) = shared_folder.look(home).keys
        assert (key.before, key.words) == (before, known_keys.own_words(laptop))
        shared_folder.trust(home, key.words)
        report = shared_folder.sync(home)
        assert [one.outcome for one in report.arrivals] == [ParcelOutcome.NEW]
        # The task lies there for the new key.
        (again,) = report.sent
        assert again.packed is not None
        content = again.packed.path.read_bytes()
        assert sealing.unsealed(content, known_keys.signing_key(laptop)) is not None
        assert sealing.unsealed(content, known_keys.signing_key(ana)) is None


def test_what_is_submitted_later_takes_the_place_of_what_lay_there(
    home: Project, ana: Project, tmp_path: Path
) -> None:
    for text in ("Explains the weight of gold", "Explains its price"):
        write_rubric(ana, items.ids(ana)[text.endswith("price")], text)
        shared_folder.sync(ana)
    own = sorted((tmp_path / "synced/R2").glob(f"*{sealing.SUFFIX}"))
    # A task to her, and one return.
    assert len(own) == 2
    assert f"{tray.outlook(ana).sent[0].receipt}{sealing.SUFFIX}" in [path.name for path in own]
    shared_folder.sync(home)
    assert len(rubrics(home)) == 2


def test_what_was_deleted_or_cut_off_in_the_folder_is_put_there_again(
    home: Project, ana: Project, tmp_path: Path
) -> None:
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    place = tmp_path / "synced/R2" / f"{shared_folder.sync(ana).receipt}{sealing.SUFFIX}"
    whole = place.read_bytes()
    for harm in (place.unlink, lambda: place.write_bytes(whole[:100])):
        harm()
        assert shared_folder.look(ana).due
        shared_folder.sync(ana)
        assert sealing.is_whole(place.read_bytes())
    assert len(tray.outlook(ana).sent) == 1


def test_every_file_is_taken_once_and_whole_whatever_becomes_of_it_on_the_way(
    home: Project, ana: Project, tmp_path: Path
) -> None:
    """Versions of work arrive half-written, under other names, twice, in any order; so does the task."""
    chance, folder = random.Random(40), tmp_path / "synced"
    key = packages.public_key(known_keys.signing_key(home))
    versions = []
    write_rubric(ana, items.ids(ana)[0], "Explains version 0")
    for number in range(1, 8):
        edit_rubric(ana, items.ids(ana)[0], f"Explains version {number}")
        path = tray.work(ana, tmp_path / f"{number}.goldsmith-work").path
        versions.append(sealing.sealed(path.read_bytes(), key))
    arriving = [content for content in versions for _ in range(2)]
    chance.shuffle(arriving)
    before, taken = len(backups.listing(home.path)), []
    for number, content in enumerate(arriving):
        place = chance.choice((folder, folder / "R2", folder / "R3", folder / "odd ünd 名")) / chance.choice(
            (f"{number}{sealing.SUFFIX}", f"work ({number} conflicted copy).tmp", f"{number}")
        )
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content[: chance.randrange(len(content))])
        assert shared_folder.sync(home).arrivals == ()
        place.write_bytes(content)
        place = place.rename(place.with_name(f"renamed {number}"))
        taken += shared_folder.sync(home).arrivals
    receipts = [one.receipt for one in taken]
    assert (len(receipts), len({*receipts})) == (7, 7)
    # One backup for each package, and none for one that is there already.
    assert len(unpacking.received(home)) == 7
    assert len(backups.listing(home.path)) <= before + 7
    assert rubrics(home) == ["Explains version 7"]


def test_of_several_tasks_the_newest_whole_one_is_taken(home: Project, ana: Project, tmp_path: Path) -> None:
    folder, kept = tmp_path / "synced/R2", []
    for number in range(3):
        person = annotators(home)[0]
        item_id = items.add(home, f"Question {number} of later?").subject
        assignments.assign_one(home, item_id, person.id, Stage.RUBRIC)
        shared_folder.send(home, [person.id])
        kept.append((folder.parent / home.get(shared_folder.SENT)[person.id]["file"]).read_bytes())
    for path in folder.glob(f"*{sealing.SUFFIX}"):
        path.unlink()
    (folder / "a").write_bytes(kept[1])
    (folder / "b").write_bytes(kept[2][:-9])
    assert shared_folder.sync(ana).new_items == 2
    (folder / "c").write_bytes(kept[0])
    assert shared_folder.sync(ana).new_items is None
    (folder / "b").write_bytes(kept[2])
    assert shared_folder.sync(ana).new_items == 1


def test_the_live_project_never_lies_in_the_folder(home: Project, tmp_path: Path) -> None:
    folder = tmp_path / "synced"
    expect_refusal("would lie in the shared folder", shared_folder.choose, home, home.path.parent)
    shared_folder.send(home, everyone(home))
    (task,) = (folder / "R2").glob("*.goldsmith-task")
    expect_refusal("would lie in the shared folder", tasking.take_task, task, folder / "R2/mine.goldsmith")
    with closing(tasking.take_task(task).project) as theirs:
        assert theirs.path.parent == user_data() / "projects"
    theirs.path.unlink()
    assert list(folder.rglob("*.goldsmith")) == []
    home.close()
    moved = Path(shutil.move(home.path, folder / "study.goldsmith"))
    with closing(Project.open(moved)) as project:
        (problem,) = shared_folder.look(project).problems
        assert "would lie in the shared folder" in problem
        assert shared_folder.sync(project).sent == ()


def test_a_folder_that_is_gone_is_told_of_and_nothing_is_lost(
    home: Project, ana: Project, tmp_path: Path
) -> None:
    (tmp_path / "synced").rename(tmp_path / "unplugged")
    expect_refusal("There is no folder", shared_folder.choose, home, tmp_path / "synced")
    assert "cannot be reached" in shared_folder.look(home).problems[0]
    assert "cannot be reached" in shared_folder.sync(ana).left.problems[0]
    (tmp_path / "unplugged").rename(tmp_path / "synced")
    assert shared_folder.look(home).problems == ()


def test_only_a_coordinator_sees_or_changes_what_lies_there(home: Project, ana: Project) -> None:
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    shared_folder.sync(ana)
    home.work_as(annotators(home)[1])
    assert not shared_folder.look(home).due
    expect_refusal("Only a coordinator", shared_folder.choose, home, None)
    expect_refusal("Only a coordinator", shared_folder.send, home, everyone(home))
    expect_refusal("Only a coordinator", shared_folder.trust, home, known_keys.own_words(ana))


def test_work_of_another_project_and_under_anothers_name_is_left_alone(
    home: Project, ana: Project, tmp_path: Path
) -> None:
    other = coordinated(tmp_path / "other")
    shutil.copy(
        returned(other, annotators(other)[0].id, tmp_path / "x"), tmp_path / "synced/x.goldsmith-work"
    )
    other.close()
    assert not shared_folder.look(home).due
    # Ming signs work in Ana's name with the key that is known for her alone.
    known_keys.replace(home, annotators(home)[1].id, packages.public_key(key := packages.new_key()))
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    package = packages.read_package(tray.work(ana, tmp_path / "w.goldsmith-work").path)
    facts = packages.PackageFacts(
        **package.manifest.model_dump(include=set(packages.PackageFacts.model_fields))
    )
    forged = packages.package_bytes(facts, package.entries, key)
    public = packages.public_key(known_keys.signing_key(home))
    (tmp_path / "synced/forged").write_bytes(sealing.sealed(forged, public))
    report = shared_folder.sync(home)
    assert report.arrivals == ()
    assert "signed by 李明" in report.left.problems[0]
    assert not shared_folder.look(home).due


def test_work_of_a_later_version_is_told_of_and_unsealed_work_comes_in_too(
    home: Project, ana: Project, tmp_path: Path
) -> None:
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    content = tray.work(ana, tmp_path / "synced/R2/by hand.goldsmith-work").path.read_bytes()
    public = packages.public_key(known_keys.signing_key(home))
    later = with_manifest(content, packages.new_key(), format_version="4.0", app_version="9.9")
    (tmp_path / "synced/later").write_bytes(sealing.sealed(later, public))
    assert "needs Goldsmith ≥ 9.9" in shared_folder.look(home).problems[0]
    (arrival,) = shared_folder.sync(home).arrivals
    assert arrival.outcome is ParcelOutcome.NEW


def test_what_others_must_not_read_waits_for_the_key(home: Project, tmp_path: Path) -> None:
    """Whom only labelling or adjudication was given gets a task that holds nothing but whom it is for."""
    ming, (first, second) = annotators(home)[1], items.ids(home)
    sue = people.add_person(home, "Sue", (Role.ANNOTATOR, Role.ADJUDICATOR)).subject
    assignments.assign_one(home, first, ming.id, Stage.LABELLING)
    assignments.assign_one(home, first, sue, Stage.ADJUDICATION)
    assignments.assign_one(home, second, sue, Stage.LABELLING)
    _, to_ming, to_sue = shared_folder.send(home)
    assert (to_ming.packed.pieces, to_sue.packed.pieces) == (2, 0)
    assert to_ming.packed.notes == ("1 piece of work waits until the key of R3 is known.",)
    assert to_sue.packed.notes == ("2 pieces of work wait until the key of R4 is known.",)
    theirs = opened(home, "R4", tmp_path / "own")
    assert (items.ids(theirs), shared_folder.look(home).open) == ([], ("R2", "R3", "R4"))
    shared_folder.sync(theirs)
    shared_folder.trust(home, known_keys.own_words(theirs))
    # It is sent once its key is known; what is not settled yet is told of once, and then only when it is sent again.
    (told,) = shared_folder.sync(home).sent
    assert "has no settled rubric to label by" in str(told.problem)
    assert not shared_folder.look(home).due


@pytest.mark.skipif(os.name == "nt", reason="makes a pipe and a link")
def test_other_files_in_the_folder_are_left_unread(home: Project, ana: Project, tmp_path: Path) -> None:
    """Documents, links, pipes and projects lie there like stones; only what begins like a package is looked at."""
    folder = tmp_path / "synced"
    with zipfile.ZipFile(folder / "minutes.docx", "w") as document:
        document.writestr("[Content_Types].xml", "<xml/>")
    (folder / "notes.txt").write_text("PK is no package", "utf-8")
    (folder / "old.goldsmith").write_bytes(sealing.MAGIC)
    os.symlink(home.path, folder / "link")
    os.mkfifo(folder / "pipe")
    news = shared_folder.look(home)
    assert (news.unfinished, news.due, news.problems) == (0, False, ())
    for number, start in enumerate((b"", bytes(900), sealing.MAGIC, b"PK\x03\x04" + bytes(26) + b"manif")):
        (folder / f"half {number}").write_bytes(start)
        assert shared_folder.look(home).unfinished == number + 1
