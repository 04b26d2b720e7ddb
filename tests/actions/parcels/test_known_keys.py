"""By whose key work and tasks are known: pinned once, told from another's, replaced only by an act."""

import base64
import logging
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.parcels import known_keys, origins, parcel_secrets, returning, tasking, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.domain.experts.parcel import Arrival, ParcelOutcome, Signed
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages
from tests.exchange.parcels.hand_made_zip import of_format_1, with_manifest
from tests.material.content_hash import content_hash
from tests.material.sent_apart import (
    annotators,
    coordinated,
    edit_rubric,
    project_in,
    returned,
    task_for,
    write_rubric,
)


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Project]:
    project = coordinated(tmp_path / "home")
    yield project
    project.close()


def take(home: Project, path: Path) -> Arrival:
    (arrival,) = unpacking.take_in(home, [path])
    return arrival


def key_in(folder: Path) -> bytes:
    with closing(Project.open(project_in(folder))) as theirs:
        return parcel_secrets.signing_key(theirs)


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
    found = known_keys.replacement(home, again, ana.alias)
    assert (found.before, found.words in found.meaning) == (known_keys.words_of(home, ana.id), True)
    before = content_hash(home)
    found.make(home)
    assert (known_keys.words_of(home, ana.id), content_hash(home)) == (found.words, before)
    assert take(home, again).signed is Signed.KNOWN
    assert take(home, first).outcome is ParcelOutcome.OTHER_KEY
    with pytest.raises(Refusal, match="someone's already"):
        known_keys.replace(home, annotators(home)[1].id, packages.public_key(key_in(tmp_path / "new")))


def test_only_a_coordinator_replaces_keys(home: Project) -> None:
    ana = annotators(home)[0]
    home.work_as(ana)
    with pytest.raises(Refusal, match="Only a coordinator can replace keys"):
        known_keys.replace(home, ana.id, packages.public_key(packages.new_key()))


def test_work_of_the_first_format_is_taken_in_and_marked_until_a_signed_file_has_come(
    home: Project, tmp_path: Path
) -> None:
    ana = annotators(home)[0]
    work = returned(home, ana.id, tmp_path / "ana")
    old = tmp_path / "old.goldsmith-work"
    old.write_bytes(of_format_1(work.read_bytes(), parcel_secrets.of_person(home, ana.id)))
    assert take(home, old).signed is Signed.NOBODY
    old.write_bytes(of_format_1(work.read_bytes(), b"a guess"))
    assert take(home, old).outcome is ParcelOutcome.DAMAGED
    assert take(home, work).signed is Signed.FIRST
    old.write_bytes(of_format_1(work.read_bytes(), parcel_secrets.of_person(home, ana.id)))
    arrival = take(home, old)
    assert (arrival.outcome, "an older form" in arrival.reason) == (ParcelOutcome.DAMAGED, True)


def test_a_task_of_the_first_format_opens_until_a_signed_one_has_come(home: Project, tmp_path: Path) -> None:
    ana = annotators(home)[0]
    task = task_for(home, ana.id, tmp_path / "ana")
    secret = parcel_secrets.of_person(home, ana.id)
    extra = {"title": "Study of gold", "secret": secret.hex()}
    old = tmp_path / "old.goldsmith-task"
    old.write_bytes(of_format_1(task.read_bytes(), secret, extra=extra))
    opened = tasking.take_task(old)
    opened.project.close()
    assert (opened.words, "not signed by a person" in tasking.signed_words(opened)) == ("", True)
    path = opened.project.path
    signed = tasking.take_task(task, path)
    signed.project.close()
    assert (signed.pinned, signed.words) == (True, parcel_secrets.own_words(home))
    with pytest.raises(Refusal, match="an older format without a personal signature"):
        tasking.take_task(old, path)


def test_a_lost_project_key_is_replaced_in_an_annotators_file_by_an_act(
    home: Project, tmp_path: Path
) -> None:
    ana = annotators(home)[0]
    path = tasking.take_task(task_for(home, ana.id, tmp_path / "ana")).project.path
    lost = parcel_secrets.own_words(home)
    home.set(parcel_secrets.SIGNING_KEY, packages.new_key().hex())
    task = task_for(home, ana.id, tmp_path / "later")
    with pytest.raises(Refusal, match="signed with a different key than earlier tasks"):
        tasking.take_task(task, path)
    with closing(Project.open(path)) as theirs:
        found = origins.replacement(theirs, task)
        assert (found.before, found.words) == (lost, parcel_secrets.own_words(home))
        found.make(theirs)
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
            facts = origins.TaskFacts.model_validate({"number": number, "at": at})
            try:
                after = origins.followed(theirs, package, facts)
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
        edit_rubric_of(tmp_path / "ana", tmp_path / "more.goldsmith-work")
    left = [task, tmp_path / "more.goldsmith-work", *(tmp_path / "out").rglob("*.*")]
    content = b"".join(path.read_bytes() for path in left if path.is_file()) + caplog.text.encode()
    assert len(left) > 3
    for path in (task, tmp_path / "more.goldsmith-work"):
        content += b"".join(packages.read_package(path).entries.values())
    for key in (parcel_secrets.signing_key(home), key_in(tmp_path / "ana")):
        for spelling in (key, key.hex().encode(), base64.b64encode(key), base64.urlsafe_b64encode(key)):
            assert spelling not in content


def edit_rubric_of(folder: Path, work: Path) -> None:
    """Word a rubric anew in the one project of a folder and write what goes back."""
    with closing(Project.open(project_in(folder))) as theirs:
        edit_rubric(theirs, items.ids(theirs)[0], "Explains it in other words")
        returning.work(theirs, work)


def test_a_persons_own_revisions_survive_a_document_of_the_same_item(home: Project, tmp_path: Path) -> None:
    ana = annotators(home)[0]
    theirs = tasking.take_task(task_for(home, ana.id, tmp_path / "ana")).project
    own = write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    before = artifacts.revisions(theirs, own)
    theirs.close()
    people.rename_person(home, ana.id, "Ana S.")
    with closing(tasking.take_task(task_for(home, ana.id, tmp_path / "ana")).project) as theirs:
        assert artifacts.revisions(theirs, own) == before
