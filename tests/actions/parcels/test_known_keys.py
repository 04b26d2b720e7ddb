"""By whose key work and tasks are known, where a package belongs, and what becomes of malformed work.

Tasks and work through a shared folder: sealed, taken once and whole, the project never in it."""

import base64
import json
import logging
import os
import random
import shutil
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import settings
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, shared_folder, tasking, tray, unpacking
from annotator.actions.project import backups, people, shared
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.domain.common import Refusal
from annotator.domain.experts.assignment import Arrival, ParcelOutcome, Person, Role, Signed, Stage
from annotator.exchange.parcels import packages
from annotator.places import user_data
from tests.common import content_hash, expect_refusal
from tests.exchange.parcels.hostile_packages import forged, of_format_1, with_manifest
from tests.projects.pairs_project import (
    annotators,
    coordinated,
    edit_rubric,
    project_in,
    returned,
    task_for,
    write_rubric,
)
from tests.storage import sql


@pytest.fixture
def home(tmp_path: Path) -> Project:
    return coordinated(tmp_path / "home")


@pytest.fixture
def silva(home: Project) -> Person:
    return annotators(home)[0]


def take(home: Project, path: Path) -> Arrival:
    (arrival,) = unpacking.take_in(home, [path])
    return arrival


def key_in(folder: Path) -> bytes:
    return known_keys.signing_key(Project.open(project_in(folder)))


def test_the_first_file_pins_its_key_and_a_look_at_it_does_not(
    home: Project, silva: Person, tmp_path: Path
) -> None:
    work = returned(home, silva.id, tmp_path / "ana")
    (looked,) = unpacking.preview(home, [work])
    assert (looked.signed, known_keys.words_of(home, silva.id)) == (Signed.FIRST, "")
    words = packages.fingerprint(packages.public_key(key_in(tmp_path / "ana")))
    first, second = take(home, work), take(home, work)
    assert (first.signed, first.words, second.signed) == (Signed.FIRST, words, Signed.KNOWN)
    assert known_keys.words_of(home, silva.alias) == words


def test_one_persons_content_under_anothers_name_is_refused(home: Project, tmp_path: Path) -> None:
    ana, ming = annotators(home)
    work = returned(home, ana.id, tmp_path / "ana")
    take(home, work)
    mine_as_hers = tmp_path / "as-ming.goldsmith-work"
    mine_as_hers.write_bytes(with_manifest(work.read_bytes(), key_in(tmp_path / "ana"), person_id=ming.id))
    arrival = take(home, mine_as_hers)
    assert (arrival.outcome, f"signed by {ana.name}" in arrival.reason) == (ParcelOutcome.DAMAGED, True)
    mine_as_hers.write_bytes(with_manifest(work.read_bytes(), packages.new_key(), person_id=ming.id))
    arrival = take(home, mine_as_hers)
    assert (arrival.outcome, "of another person" in arrival.reason) == (ParcelOutcome.DAMAGED, True)
    assert known_keys.words_of(home, ming.id) == ""


def test_a_replaced_key_counts_from_then_on_and_what_came_before_stays(
    home: Project, silva: Person, tmp_path: Path
) -> None:
    first = returned(home, silva.id, tmp_path / "lost")
    take(home, first)
    again = returned(home, silva.id, tmp_path / "new", "Explains it once more")
    result = known_keys.replacement(home, again, silva.alias)
    assert (result.before, result.words in result.meaning) == (known_keys.words_of(home, silva.id), True)
    before = content_hash(home)
    result.make(home)
    assert (known_keys.words_of(home, silva.id), content_hash(home)) == (result.words, before)
    assert take(home, again).signed is Signed.KNOWN
    assert take(home, first).outcome is ParcelOutcome.OTHER_KEY
    taken = packages.public_key(key_in(tmp_path / "new"))
    expect_refusal("someone's already", known_keys.replace, home, annotators(home)[1].id, taken)
    home.work_as(silva)
    expect_refusal("Only a coordinator can replace keys", known_keys.replace, home, silva.id, taken)


def test_work_of_the_first_format_is_taken_in_and_marked_until_a_signed_file_has_come(
    home: Project, silva: Person, tmp_path: Path
) -> None:
    work = returned(home, silva.id, tmp_path / "ana")
    old = tmp_path / "old.goldsmith-work"
    old.write_bytes(of_format_1(work.read_bytes(), known_keys.of_person(home, silva.id)))
    assert take(home, old).signed is Signed.NOBODY
    old.write_bytes(of_format_1(work.read_bytes(), b"a guess"))
    assert take(home, old).outcome is ParcelOutcome.DAMAGED
    assert take(home, work).signed is Signed.FIRST
    old.write_bytes(of_format_1(work.read_bytes(), known_keys.of_person(home, silva.id)))
    arrival = take(home, old)
    assert (arrival.outcome, "an older form" in arrival.reason) == (ParcelOutcome.DAMAGED, True)


def test_a_task_of_the_first_format_opens_until_a_signed_one_has_come(
    home: Project, silva: Person, tmp_path: Path
) -> None:
    task = task_for(home, silva.id, tmp_path / "ana")
    secret = known_keys.of_person(home, silva.id)
    extra = {"title": "Study of gold", "secret": secret.hex()}
    old = tmp_path / "old.goldsmith-task"
    old.write_bytes(of_format_1(task.read_bytes(), secret, extra=extra))
    opened = tasking.take_task(old)
    opened.project.close()
    assert (opened.words, "not signed by a person" in tasking.signed_words(opened)) == ("", True)
    path = opened.project.path
    signed = tasking.take_task(task, path)
    signed.project.close()
    assert (signed.pinned, signed.words) == (True, known_keys.own_words(home))
    expect_refusal("an older format without a personal signature", tasking.take_task, old, path)


def test_a_lost_project_key_is_replaced_in_an_annotators_file_by_an_act(
    home: Project, silva: Person, tmp_path: Path
) -> None:
    path = tasking.take_task(task_for(home, silva.id, tmp_path / "ana")).project.path
    lost = known_keys.own_words(home)
    home.set(known_keys.SIGNING_KEY, packages.new_key().hex())
    task = task_for(home, silva.id, tmp_path / "later")
    expect_refusal("signed with a different key than earlier tasks", tasking.take_task, task, path)
    with closing(Project.open(path)) as theirs:
        result = tasking.replacement(theirs, task)
        assert (result.before, result.words) == (lost, known_keys.own_words(home))
        result.make(theirs)
    tasking.take_task(task, path).project.close()


def test_a_clock_set_back_or_a_backup_taken_up_again_stops_no_task(home: Project, tmp_path: Path) -> None:
    path = tasking.take_task(task_for(home, annotators(home)[0].id, tmp_path / "ana")).project.path
    package = packages.read_package(next((tmp_path / "ana").glob("*.goldsmith-task")))
    with closing(Project.open(path)) as theirs:
        known = theirs.get("task") | {"newest": "another", "number": 5, "at": "2026-05-05T00:00:00+00:00"}
        theirs.set("task", known)
        sql.alter(theirs, "DELETE FROM parcel")
        opened = {}
        for number, month in ((4, "04"), (5, "04"), (4, "05"), (6, "04"), (4, "06"), (6, "06")):
            facts = tasking.TaskFacts.model_validate(
                {"number": number, "at": f"2026-{month}-05T00:00:00+00:00"}
            )
            try:
                after = tasking.followed(theirs, package, facts)
                opened[number, month] = (after.number, after.at[5:7])
            except Refusal:
                opened[number, month] = None
    assert opened == {
        (4, "04"): None, (5, "04"): None, (4, "05"): None, (6, "04"): (6, "05"), (4, "06"): (5, "06"),
        (6, "06"): (6, "06"),
    }  # fmt: skip


def test_private_keys_are_in_no_package_export_or_log(
    home: Project, silva: Person, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        take(home, returned(home, silva.id, tmp_path / "ana"))
        task = task_for(home, silva.id, tmp_path / "again")
        releases.export(home, tmp_path / "out")
        with closing(Project.open(project_in(tmp_path / "ana"))) as theirs:
            edit_rubric(theirs, items.ids(theirs)[0], "Explains it in other words")
            tray.work(theirs, tmp_path / "more.goldsmith-work")
    left = [task, tmp_path / "more.goldsmith-work", *(tmp_path / "out").rglob("*.*")]
    content = b"".join(path.read_bytes() for path in left if path.is_file()) + caplog.text.encode()
    assert len(left) > 3
    for path in (task, tmp_path / "more.goldsmith-work"):
        content += b"".join(packages.read_package(path).entries.values())
    for key in (known_keys.signing_key(home), key_in(tmp_path / "ana")):
        for spelling in (key, key.hex().encode(), base64.b64encode(key), base64.urlsafe_b64encode(key)):
            assert spelling not in content


ROUNDS = 75
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**62, 1e308, "", "x" * 5000, "\u202e", [], {}, [[]], {"a": 1}, "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "rubric", "labelling", "0" * 64,
)  # fmt: skip


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def spoiled(tree: Any, chance: random.Random) -> Any:
    *way, last = chance.choice(list(places(tree)))
    parent = tree
    for key in way:
        parent = parent[key]
    act = chance.randrange(3)
    if act == 0:
        del parent[last]
    elif act == 1 and isinstance(parent, list):
        parent.append(parent[last])
    else:
        parent[last] = chance.choice(ODD)
    return tree


def spoil(good: bytes, key: bytes, entry: str, chance: random.Random) -> bytes:

    def change(entries: dict[str, bytes]) -> None:
        entries[entry] = json.dumps(spoiled(json.loads(entries[entry]), chance)).encode()

    return forged(good, key, change)


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Path]]:
    folder = tmp_path_factory.mktemp("malformed")
    project = coordinated(folder / "home")
    settings.write(project, Stage.RUBRIC, "One claim each.")
    returned(project, annotators(project)[0].id, folder / "ana")
    yield project, folder / "ana"
    project.close()


def test_no_change_of_a_value_ends_an_intake(sent: tuple[Project, Path], tmp_path: Path) -> None:
    project, folder = sent
    key = known_keys.signing_key(Project.open(project_in(folder)))
    good, chance = next(folder.glob("*.goldsmith-work")).read_bytes(), random.Random(23)
    paths = []
    for number in range(ROUNDS):
        paths.append(tmp_path / f"{number}.goldsmith-work")
        paths[-1].write_bytes(spoil(good, key, "artifacts.json", chance))
    result = unpacking.take_in(project, paths)
    outcomes = {arrival.outcome for arrival in result}
    assert (len(result), ParcelOutcome.DAMAGED in outcomes, ParcelOutcome.OTHER_KEY in outcomes) == (
        ROUNDS,
        True,
        False,
    )
    assert checking.check(project).problems == []


def test_work_whose_revisions_do_not_follow_one_another_is_refused(
    sent: tuple[Project, Path], tmp_path: Path
) -> None:
    project, folder = sent
    good, path = next(folder.glob("*.goldsmith-work")).read_bytes(), tmp_path / "broken.goldsmith-work"

    def break_chain(entries: dict[str, bytes]) -> None:
        artifacts = json.loads(entries["artifacts.json"])
        artifacts[0]["revisions"][-1]["chain"] = "0" * 64
        entries["artifacts.json"] = json.dumps(artifacts).encode()

    path.write_bytes(forged(good, known_keys.signing_key(Project.open(project_in(folder))), break_chain))
    (arrival,) = unpacking.take_in(project, [path])
    assert arrival.outcome is ParcelOutcome.DAMAGED
    assert "does not follow from what it says" in arrival.reason


@pytest.mark.parametrize("entry", ["person.json", "items.json", "assignments.json", "guidelines.json"])
def test_no_change_of_a_value_leaves_a_task_half_taken(
    entry: str, sent: tuple[Project, Path], tmp_path: Path
) -> None:
    project, folder = sent
    task, key = next(folder.glob("*.goldsmith-task")), known_keys.signing_key(project)
    chance, good = random.Random(entry), task.read_bytes()
    for number in range(8):
        bad = tmp_path / f"{number}.goldsmith-task"
        bad.write_bytes(spoil(good, key, entry, chance))
        try:
            theirs = tasking.take_task(bad, tmp_path / f"{number}.goldsmith").project
        except Refusal:
            assert not (tmp_path / f"{number}.goldsmith").exists()
            continue
        assert checking.check(theirs).problems == []
        theirs.close()


def test_returned_work_belongs_to_the_project_whose_task_it_answers(tmp_path: Path) -> None:
    study, other = coordinated(tmp_path / "study"), coordinated(tmp_path / "other")
    work = returned(study, annotators(study)[0].id, tmp_path / "ana")
    own, junk = project_in(tmp_path / "ana"), tmp_path / "junk.goldsmith"
    junk.write_text("junk", "utf-8")
    result = tasking.owner_of_work(work, [junk, tmp_path / "gone.goldsmith", other.path, own, study.path])
    assert (result.project, result.title, result.sent_from_here) == (study.path, "Study of gold", False)
    assert tasking.owner_of_work(work, [own]).sent_from_here
    assert tasking.owner_of_work(work, []).project is None
    expect_refusal("junk", tasking.owner_of_work, junk, [])


def test_a_secret_that_was_taken_back_is_not_used(tmp_path: Path) -> None:
    project = people.new_project(tmp_path / "study.goldsmith")
    with suppress(KeyError), project.store.write():
        lost = known_keys.of_person(project, "ana")
        raise KeyError
    kept = known_keys.of_person(project, "ana")
    assert kept != lost
    assert kept == known_keys.of_person(Project.open(project.path), "ana")


@pytest.fixture
def coordinator(tmp_path: Path) -> Project:
    project = coordinated(tmp_path / "home")
    (tmp_path / "synced").mkdir()
    shared_folder.choose(project, tmp_path / "synced")
    return project


def everyone(coordinator: Project) -> list[str]:
    return [person.id for person in annotators(coordinator)]


def opened(coordinator: Project, alias: str, own: Path) -> Project:
    (task,) = shared.folder_of(coordinator).glob(f"{alias}/*.goldsmith-task")
    return tasking.take_task(task, folder=own).project


@pytest.fixture
def ana(coordinator: Project, tmp_path: Path) -> Project:
    """Ana's project, whose key is known and whose whole task came sealed."""
    shared_folder.send(coordinator, everyone(coordinator))
    theirs = opened(coordinator, "R2", tmp_path / "ana's own")
    shared_folder.sync(theirs)
    shared_folder.trust(coordinator, known_keys.own_words(theirs).upper())
    shared_folder.sync(coordinator)
    shared_folder.sync(theirs)
    return theirs


def rubrics(coordinator: Project) -> list[str]:
    newest = (
        "SELECT r.content FROM revision r JOIN artifact a ON a.id = r.artifact_id AND a.revision = r.number"
    )
    documents = [json.loads(content) for (content,) in sql.rows(coordinator, newest)]
    return sorted(unit["text"] for document in documents for unit in document["units"])


def test_a_first_task_lies_open_a_key_joins_and_from_then_on_all_is_sealed(
    coordinator: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "synced"
    assert [one.problem for one in shared_folder.send(coordinator, everyone(coordinator))] == [None, None]
    assert sorted(path.name for path in (folder / "R2").iterdir()) == [
        shared.MARK, "study-R2-task.goldsmith-task",
    ]  # fmt: skip
    theirs = opened(coordinator, "R2", tmp_path / "own")
    assert (shared.folder_of(theirs), people.someone(theirs).name) == (folder / "R2", "R2")
    assert shared_folder.sync(theirs).receipt == ""

    (key,) = shared_folder.look(coordinator).keys
    assert (key.alias, key.words, key.before) == ("R2", known_keys.own_words(theirs), "")
    assert not shared_folder.look(coordinator).due
    expect_refusal("No key that waits", shared_folder.trust, coordinator, "some other words")
    shared_folder.trust(coordinator, f"  {key.words} ")
    (again,) = shared_folder.sync(coordinator).sent
    assert again.packed is not None
    assert (again.packed.path.suffix, list((folder / "R2").glob("*-task"))) == (known_keys.SEALED_SUFFIX, [])
    assert len(list((folder / "R3").glob("*.goldsmith-task"))) == 1

    assert (shared_folder.sync(theirs).new_items, people.people(theirs)[0].name) == (0, "Ana Silva")


def test_a_new_laptop_waits_until_its_words_are_compared(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    before = known_keys.own_words(ana)
    task = task_for(coordinator, annotators(coordinator)[0].id, tmp_path / "mailed")
    with closing(tasking.take_task(task, tmp_path / "laptop.goldsmith").project) as laptop:
        shared_folder.choose(laptop, tmp_path / "synced")
        write_rubric(laptop, items.ids(laptop)[0], "Explains it on a new laptop")
        shared_folder.sync(laptop)
        (key,) = shared_folder.look(coordinator).keys
        assert (key.before, key.words) == (before, known_keys.own_words(laptop))
        shared_folder.trust(coordinator, key.words)
        report = shared_folder.sync(coordinator)
        assert [one.outcome for one in report.arrivals] == [ParcelOutcome.NEW]
        # The task lies there for the new key.
        (again,) = report.sent
        assert again.packed is not None
        content = again.packed.path.read_bytes()
        assert known_keys.unsealed(content, known_keys.signing_key(laptop)) is not None
        assert known_keys.unsealed(content, known_keys.signing_key(ana)) is None


def test_what_is_submitted_later_takes_the_place_of_what_lay_there(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    for text in ("Explains the weight of gold", "Explains its price"):
        write_rubric(ana, items.ids(ana)[text.endswith("price")], text)
        shared_folder.sync(ana)
    own = sorted((tmp_path / "synced/R2").glob(f"*{known_keys.SEALED_SUFFIX}"))
    # A task to her, and one return.
    assert len(own) == 2
    assert f"{tray.outlook(ana).sent[0].receipt}{known_keys.SEALED_SUFFIX}" in [path.name for path in own]
    shared_folder.sync(coordinator)
    assert len(rubrics(coordinator)) == 2


def test_what_was_deleted_or_cut_off_in_the_folder_is_put_there_again(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    place = tmp_path / "synced/R2" / f"{shared_folder.sync(ana).receipt}{known_keys.SEALED_SUFFIX}"
    whole = place.read_bytes()
    for harm in (place.unlink, lambda: place.write_bytes(whole[:100])):
        harm()
        assert shared_folder.look(ana).due
        shared_folder.sync(ana)
        assert known_keys.is_whole(place.read_bytes())
    assert len(tray.outlook(ana).sent) == 1


def test_every_file_is_taken_once_and_whole_whatever_becomes_of_it_on_the_way(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    chance, folder = random.Random(40), tmp_path / "synced"
    key = packages.public_key(known_keys.signing_key(coordinator))
    versions = []
    write_rubric(ana, items.ids(ana)[0], "Explains version 0")
    for number in range(1, 8):
        edit_rubric(ana, items.ids(ana)[0], f"Explains version {number}")
        versions.append(
            known_keys.sealed(tray.work(ana, tmp_path / f"{number}.goldsmith-work").path.read_bytes(), key)
        )
    arriving = [content for content in versions for _ in range(2)]
    chance.shuffle(arriving)
    before, taken = len(backups.listing(coordinator.path)), []
    for number, content in enumerate(arriving):
        place = chance.choice((folder, folder / "R2", folder / "R3", folder / "odd ünd 名")) / chance.choice(
            (f"{number}{known_keys.SEALED_SUFFIX}", f"work ({number} conflicted copy).tmp", f"{number}")
        )
        place.parent.mkdir(exist_ok=True)
        place.write_bytes(content[: chance.randrange(len(content))])
        assert shared_folder.sync(coordinator).arrivals == ()
        place.write_bytes(content)
        place = place.rename(place.with_name(f"renamed {number}"))
        taken += shared_folder.sync(coordinator).arrivals
    receipts = [one.receipt for one in taken]
    assert (len(receipts), len({*receipts})) == (7, 7)
    # One backup for each package, and none for one that is there already.
    assert len(unpacking.received(coordinator)) == 7
    assert len(backups.listing(coordinator.path)) <= before + 7
    assert rubrics(coordinator) == ["Explains version 7"]


def test_of_several_tasks_the_newest_whole_one_is_taken(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    folder, kept = tmp_path / "synced/R2", []
    for number in range(3):
        person = annotators(coordinator)[0]
        assignments.assign_one(
            coordinator,
            items.add(coordinator, f"Question {number} of later?").subject,
            person.id,
            Stage.RUBRIC,
        )
        shared_folder.send(coordinator, [person.id])
        kept.append((folder.parent / coordinator.get(shared_folder.SENT)[person.id]["file"]).read_bytes())
    for path in folder.glob(f"*{known_keys.SEALED_SUFFIX}"):
        path.unlink()
    (folder / "a").write_bytes(kept[1])
    (folder / "b").write_bytes(kept[2][:-9])
    assert shared_folder.sync(ana).new_items == 2
    (folder / "c").write_bytes(kept[0])
    assert shared_folder.sync(ana).new_items is None
    (folder / "b").write_bytes(kept[2])
    assert shared_folder.sync(ana).new_items == 1


def test_the_live_project_never_lies_in_the_folder(coordinator: Project, tmp_path: Path) -> None:
    folder = tmp_path / "synced"
    expect_refusal(
        "would lie in the shared folder", shared_folder.choose, coordinator, coordinator.path.parent
    )
    shared_folder.send(coordinator, everyone(coordinator))
    (task,) = (folder / "R2").glob("*.goldsmith-task")
    expect_refusal("would lie in the shared folder", tasking.take_task, task, folder / "R2/mine.goldsmith")
    with closing(tasking.take_task(task).project) as theirs:
        assert theirs.path.parent == user_data() / "projects"
    theirs.path.unlink()
    assert list(folder.rglob("*.goldsmith")) == []
    coordinator.close()
    with closing(Project.open(Path(shutil.move(coordinator.path, folder / "study.goldsmith")))) as project:
        (problem,) = shared_folder.look(project).problems
        assert "would lie in the shared folder" in problem
        assert shared_folder.sync(project).sent == ()


def test_a_folder_that_is_gone_is_told_of_and_nothing_is_lost(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    (tmp_path / "synced").rename(tmp_path / "unplugged")
    expect_refusal("There is no folder", shared_folder.choose, coordinator, tmp_path / "synced")
    assert "cannot be reached" in shared_folder.look(coordinator).problems[0]
    assert "cannot be reached" in shared_folder.sync(ana).left.problems[0]
    (tmp_path / "unplugged").rename(tmp_path / "synced")
    assert shared_folder.look(coordinator).problems == ()


def test_only_a_coordinator_sees_or_changes_what_lies_there(coordinator: Project, ana: Project) -> None:
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    shared_folder.sync(ana)
    coordinator.work_as(annotators(coordinator)[1])
    assert not shared_folder.look(coordinator).due
    expect_refusal("Only a coordinator", shared_folder.choose, coordinator, None)
    expect_refusal("Only a coordinator", shared_folder.send, coordinator, everyone(coordinator))
    expect_refusal("Only a coordinator", shared_folder.trust, coordinator, known_keys.own_words(ana))


def test_work_of_another_project_and_under_anothers_name_is_left_alone(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    other = coordinated(tmp_path / "other")
    shutil.copy(
        returned(other, annotators(other)[0].id, tmp_path / "x"), tmp_path / "synced/x.goldsmith-work"
    )
    other.close()
    assert not shared_folder.look(coordinator).due
    # Ming signs work in Ana's name with the key that is known for her alone.
    key = packages.new_key()
    known_keys.replace(coordinator, annotators(coordinator)[1].id, packages.public_key(key))
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    signed = with_manifest(tray.work(ana, tmp_path / "w.goldsmith-work").path.read_bytes(), key)
    public = packages.public_key(known_keys.signing_key(coordinator))
    (tmp_path / "synced/forged").write_bytes(known_keys.sealed(signed, public))
    report = shared_folder.sync(coordinator)
    assert (report.arrivals, "signed by 李明" in report.left.problems[0]) == ((), True)
    assert not shared_folder.look(coordinator).due


def test_work_of_a_later_version_is_told_of_and_unsealed_work_comes_in_too(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    write_rubric(ana, items.ids(ana)[0], "Explains the weight of gold")
    content = tray.work(ana, tmp_path / "synced/R2/by hand.goldsmith-work").path.read_bytes()
    public = packages.public_key(known_keys.signing_key(coordinator))
    later = with_manifest(content, packages.new_key(), format_version="4.0", app_version="9.9")
    (tmp_path / "synced/later").write_bytes(known_keys.sealed(later, public))
    assert "needs Goldsmith ≥ 9.9" in shared_folder.look(coordinator).problems[0]
    (arrival,) = shared_folder.sync(coordinator).arrivals
    assert arrival.outcome is ParcelOutcome.NEW


def test_what_others_must_not_read_waits_for_the_key(coordinator: Project, tmp_path: Path) -> None:
    ming, (first, second) = annotators(coordinator)[1], items.ids(coordinator)
    sue = people.add_person(coordinator, "Sue", (Role.ANNOTATOR, Role.ADJUDICATOR)).subject
    assignments.assign_one(coordinator, first, ming.id, Stage.LABELLING)
    assignments.assign_one(coordinator, first, sue, Stage.ADJUDICATION)
    assignments.assign_one(coordinator, second, sue, Stage.LABELLING)
    _, to_ming, to_sue = shared_folder.send(coordinator)
    assert (to_ming.packed.pieces, to_sue.packed.pieces) == (2, 0)
    assert to_ming.packed.notes == ("1 piece of work waits until the key of R3 is known.",)
    assert to_sue.packed.notes == ("2 pieces of work wait until the key of R4 is known.",)
    theirs = opened(coordinator, "R4", tmp_path / "own")
    assert (items.ids(theirs), shared_folder.look(coordinator).open) == ([], ("R2", "R3", "R4"))
    shared_folder.sync(theirs)
    shared_folder.trust(coordinator, known_keys.own_words(theirs))
    # It is sent once its key is known; what is not settled yet is told of once, and then only when it is sent again.
    (told,) = shared_folder.sync(coordinator).sent
    assert "has no settled rubric to label by" in str(told.problem)
    assert not shared_folder.look(coordinator).due


@pytest.mark.skipif(os.name == "nt", reason="makes a pipe and a link")
def test_other_files_in_the_folder_are_left_unread(
    coordinator: Project, ana: Project, tmp_path: Path
) -> None:
    folder = tmp_path / "synced"
    with zipfile.ZipFile(folder / "minutes.docx", "w") as document:
        document.writestr("[Content_Types].xml", "<xml/>")
    (folder / "notes.txt").write_text("PK is no package", "utf-8")
    (folder / "old.goldsmith").write_bytes(known_keys.SEALED_MAGIC)
    os.symlink(coordinator.path, folder / "link")
    os.mkfifo(folder / "pipe")
    news = shared_folder.look(coordinator)
    assert (news.unfinished, news.due, news.problems) == (0, False, ())
    for number, start in enumerate(
        (b"", bytes(900), known_keys.SEALED_MAGIC, b"PK\x03\x04" + bytes(26) + b"manif")
    ):
        (folder / f"half {number}").write_bytes(start)
        assert shared_folder.look(coordinator).unfinished == number + 1
