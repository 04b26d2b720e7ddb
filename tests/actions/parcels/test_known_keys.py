"""By whose key work and tasks are known, where a package belongs, and what becomes of malformed work."""

import base64
import json
import logging
import random
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.authoring import settings
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, tasking, tray, unpacking
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking, releases
from annotator.domain.experts.assignment import Arrival, ParcelOutcome, Signed, Stage
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages
from tests.exchange.parcels.hand_made_zip import forged, of_format_1, with_manifest
from tests.material.content_hash import content_hash
from tests.material.sent_apart import (
    annotators,
    coordinated,
    edit_rubric,
    project_in,
    returned,
    task_for,
)
from tests.projects.refusals import expect_refusal


@pytest.fixture
def home(tmp_path: Path) -> Project:
    return coordinated(tmp_path / "home")


def take(home: Project, path: Path) -> Arrival:
    (arrival,) = unpacking.take_in(home, [path])
    return arrival


def key_in(folder: Path) -> bytes:
    return known_keys.signing_key(Project.open(project_in(folder)))


def test_the_first_file_pins_its_key_and_a_look_at_it_does_not(home: Project, tmp_path: Path) -> None:
    ana = annotators(home)[0]
    work = returned(home, ana.id, tmp_path / "ana")
    (looked,) = unpacking.preview(home, [work])
    assert (looked.signed, known_keys.words_of(home, ana.id)) == (Signed.FIRST, "")
    words = packages.fingerprint(packages.public_key(key_in(tmp_path / "ana")))
    first, second = take(home, work), take(home, work)
    assert (first.signed, first.words, second.signed) == (Signed.FIRST, words, Signed.KNOWN)
    assert known_keys.words_of(home, ana.alias) == words


def test_a_second_computer_with_a_key_of_its_own_is_refused_and_nothing_is_changed(
    home: Project, tmp_path: Path
) -> None:
    ana = annotators(home)[0]
    take(home, returned(home, ana.id, tmp_path / "laptop"))
    before = content_hash(home)
    arrival = take(home, returned(home, ana.id, tmp_path / "office", "Explains something else"))
    assert (arrival.outcome, arrival.signed, arrival.pieces) == (ParcelOutcome.OTHER_KEY, Signed.OTHER, ())
    assert arrival.words in arrival.reason
    assert content_hash(home) == before


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


def test_a_replaced_key_counts_from_then_on_and_what_came_before_stays(home: Project, tmp_path: Path) -> None:
    ana = annotators(home)[0]
    first = returned(home, ana.id, tmp_path / "lost")
    take(home, first)
    again = returned(home, ana.id, tmp_path / "new", "Explains it once more")
    result = known_keys.replacement(home, again, ana.alias)
    assert (result.before, result.words in result.meaning) == (known_keys.words_of(home, ana.id), True)
    before = content_hash(home)
    result.make(home)
    assert (known_keys.words_of(home, ana.id), content_hash(home)) == (result.words, before)
    assert take(home, again).signed is Signed.KNOWN
    assert take(home, first).outcome is ParcelOutcome.OTHER_KEY
    taken = packages.public_key(key_in(tmp_path / "new"))
    expect_refusal("someone's already", known_keys.replace, home, annotators(home)[1].id, taken)
    home.work_as(ana)
    expect_refusal("Only a coordinator can replace keys", known_keys.replace, home, ana.id, taken)


def test_work_of_the_first_format_is_taken_in_and_marked_until_a_signed_file_has_come(
    home: Project, tmp_path: Path
) -> None:
    ana = annotators(home)[0]
    work = returned(home, ana.id, tmp_path / "ana")
    old = tmp_path / "old.goldsmith-work"
    old.write_bytes(of_format_1(work.read_bytes(), known_keys.of_person(home, ana.id)))
    assert take(home, old).signed is Signed.NOBODY
    old.write_bytes(of_format_1(work.read_bytes(), b"a guess"))
    assert take(home, old).outcome is ParcelOutcome.DAMAGED
    assert take(home, work).signed is Signed.FIRST
    old.write_bytes(of_format_1(work.read_bytes(), known_keys.of_person(home, ana.id)))
    arrival = take(home, old)
    assert (arrival.outcome, "an older form" in arrival.reason) == (ParcelOutcome.DAMAGED, True)


def test_a_task_of_the_first_format_opens_until_a_signed_one_has_come(home: Project, tmp_path: Path) -> None:
    ana = annotators(home)[0]
    task = task_for(home, ana.id, tmp_path / "ana")
    secret = known_keys.of_person(home, ana.id)
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
    home: Project, tmp_path: Path
) -> None:
    ana = annotators(home)[0]
    path = tasking.take_task(task_for(home, ana.id, tmp_path / "ana")).project.path
    lost = known_keys.own_words(home)
    home.set(known_keys.SIGNING_KEY, packages.new_key().hex())
    task = task_for(home, ana.id, tmp_path / "later")
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
        with theirs.store.write() as db:
            db.exec_driver_sql("DELETE FROM parcel")
        opened = {}
        for number, month in ((4, "04"), (5, "04"), (4, "05"), (6, "04"), (4, "06"), (6, "06")):
            at = f"2026-{month}-05T00:00:00+00:00"
            facts = tasking.TaskFacts.model_validate({"number": number, "at": at})
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
    home: Project, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.DEBUG):
        ana = annotators(home)[0]
        take(home, returned(home, ana.id, tmp_path / "ana"))
        task = task_for(home, ana.id, tmp_path / "again")
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
    """The tree with one value changed, taken away, or put in twice."""
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
    """A coordinator's project, and the folder in which Ana has hers and what she sent."""
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
    project = new_project(tmp_path / "study.goldsmith")
    with suppress(KeyError), project.store.write():
        lost = known_keys.of_person(project, "ana")
        raise KeyError
    kept = known_keys.of_person(project, "ana")
    assert kept != lost
    assert kept == known_keys.of_person(Project.open(project.path), "ana")
