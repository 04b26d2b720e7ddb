"""Claims with their pages, statements, plans and pairs go to two people, are labelled offline and come home."""

import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from annotator.actions.agreement import agreement_figures
from annotator.actions.assignments import assignments
from annotator.actions.items import items
from annotator.actions.labelling import label_cases, label_sealing, label_tasks, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.sets import validation_figures
from annotator.actions.studies import error_counts
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ARTIFACT
from tests.material.content_hash import content_hash
from tests.material.sent_apart import annotators, edit_rubric, task_for, write_rubric
from tests.projects.labelled_protocols import CLAIMS, PAGE, PAIRS, PLAN, REASONING, one_item
from tests.projects.labelling_project import SYSTEMS
from tests.storage import sql

APART = (CLAIMS, PAIRS, PLAN, REASONING)
KIND = "researcherbench.citation_errors"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """One item with settled gold of every kind and three reports; two people may label it."""
    project = one_item(tmp_path, 3, 2)
    with project.store.write() as db:
        db.execute(ARTIFACT.update().values(author_id="", state="consensus"))
    yield project
    project.close()


def raters(project: Project) -> list[str]:
    return [one.id for one in people.people(project) if one.name.startswith("Rater")]


def hand_out(project: Project, *protocols: str) -> None:
    plan = AssignmentPlan(
        (Stage.LABELLING,), 2, tuple(raters(project)), items=tuple(items.ids(project)), protocols=protocols
    )
    assignments.assign(project, plan)


def say(theirs: Project, protocol: str, place: int) -> None:
    """The first value everywhere, but at one place the last that is allowed."""
    for task in label_tasks.queue(theirs, protocol):
        sheet = labels.sheet(theirs, task.response_id, protocol, task.other_id)
        for group in sheet.groups:
            for unit in group.units:
                value = group.values[-1 if unit is sheet.units[min(place, len(sheet.units) - 1)] else 0]
                labels.set_label(theirs, task.response_id, unit.id, value, protocol=protocol)


def labelled_apart(project: Project, person: str, folder: Path, place: int) -> Path:
    """The work of one person, who opened their task and labelled everything in it."""
    theirs = tasking.take_task(packing.task(project, person, folder).path).project
    for protocol in label_cases.offered(theirs):
        say(theirs, protocol, place)
    no_ = sql.rows(
        theirs, "SELECT response_id, unit_id FROM judgement WHERE protocol = ? AND value = 'no'", (CLAIMS,)
    )
    for response_id, unit_id in no_:
        label_sealing.give(theirs, response_id, unit_id, KIND, label_sealing.TAXONOMIES[KIND].values[0])
    label_sealing.submit(theirs, items.ids(theirs)[0], CLAIMS)
    work = tray.work(theirs, folder).path
    theirs.close()
    return work


def test_letter_10_labels_of_every_kind_are_given_apart_and_come_home(
    project: Project, tmp_path: Path
) -> None:
    hand_out(project, *APART)
    first, second = raters(project)
    work = [
        labelled_apart(project, first, tmp_path / "a", 0),
        labelled_apart(project, second, tmp_path / "b", 1),
    ]
    arrived = unpacking.take_in(project, work)
    assert {one.outcome for one in arrived} == {ParcelOutcome.NEW}
    with project.store.read() as db:
        said = {name: validation_figures.of_people(db, PROTOCOLS[name], submitted=True) for name in APART}
    # Three claims, three statements in three reports, 2 × 3 cells, three pairs; both spoke of every one.
    counts = {name: {len(said[name][person]) for person in (first, second)} for name in APART}
    assert counts == {CLAIMS: {3}, REASONING: {9}, PLAN: {6}, PAIRS: {3}}
    assert said[CLAIMS][first].keys() == said[CLAIMS][second].keys()
    assert said[PAIRS][first].keys() == said[PAIRS][second].keys()
    fields = {row.field for row in agreement_figures.rows(project) if row.figure("kappa") is not None}
    assert set(APART) <= fields
    errors = next(one for one in error_counts.report(project, "people") if one.taxonomy.name == KIND)
    assert sum(own.value or 0 for means in errors.means.values() for own in means.values()) > 0


def test_letter_10_a_task_holds_no_gold_label_and_no_system(project: Project, tmp_path: Path) -> None:
    hand_out(project, *APART)
    package = packages.read_package(packing.task(project, raters(project)[0], tmp_path).path, packages.TASK)
    whole = b"\n".join(package.entries.values()).decode()
    assert PAGE.splitlines()[0] in whole
    assert not [name for name in SYSTEMS if name in whole]
    statements = next(
        load["document"]["units"]
        for load in orjson.loads(package.entries["documents.json"])
        if load["kind"] == "diagnostics"
    )
    assert [statement["label"] for statement in statements] == [None] * 3


def test_letter_10_more_may_be_asked_of_those_who_label_an_item_already(project: Project) -> None:
    hand_out(project)
    hand_out(project, USUAL, REASONING)
    asked = [one.protocols for one in assignments.of_person(project, raters(project)[0])]
    assert asked == [f"{USUAL} {REASONING}"]
    history.undo(project)
    assert [one.protocols for one in assignments.of_person(project, raters(project)[0])] == [""]


def test_letter_10_an_item_without_anything_to_ask_is_not_packed(project: Project, tmp_path: Path) -> None:
    with project.store.write() as db:
        db.exec_driver_sql("DELETE FROM page")
    hand_out(project, CLAIMS)
    with pytest.raises(Refusal, match="nothing to label yet"):
        packing.task(project, raters(project)[0], tmp_path)


PEOPLE = 10
ORDERS = int(os.environ.get("GOLDSMITH_ORDERS", "8"))
TOPICS = (
    "residual connections",
    "gold's weight",
    "the treaty on quotas",
    "地震预警的评价",
    "تكلفة تخزين الهيدروجين",
)


def ring(folder: Path) -> Project:
    """A coordinator's project of as many people and items, in which each item is two neighbours' to write."""
    folder.mkdir()
    project = new_project(folder / "study.goldsmith")
    for number in range(PEOPLE):
        items.add(project, f"Question {number} of many?")
        people.add_person(project, f"Expert {number}")
    experts = annotators(project)
    for place, item_id in enumerate(items.ids(project)):
        for person in (experts[place], experts[place - 1]):
            assignments.assign_one(project, item_id, person.id, Stage.RUBRIC)
    return project


def returned_twice(project: Project, person_id: str, folder: Path, random_: random.Random) -> list[Path]:
    """What one person sends back: a first package, and for every other person a second with one rubric reworded."""
    theirs = tasking.take_task(task_for(project, person_id, folder)).project
    for item_id in items.ids(theirs):
        write_rubric(theirs, item_id, *(f"Explains {topic}" for topic in random_.sample(TOPICS, 3)))
    sent = [tray.work(theirs, folder / "first.goldsmith-work").path]
    if random_.random() < 0.5:
        edit_rubric(theirs, items.ids(theirs)[0], "Compares two ways of measuring density")
        sent.append(tray.work(theirs, folder / "second.goldsmith-work").path)
    theirs.close()
    return sent


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_order_of_arrival_gives_one_project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chance = random.Random(20)
    home = ring(tmp_path / "home")
    sent = [
        path
        for person in annotators(home)
        for path in returned_twice(home, person.id, tmp_path / person.alias, chance)
    ]
    home.close()
    # Backups and reading the same files again, thousands of times, would test the disk and not the order.
    monkeypatch.setattr(backups, "make", lambda *_: None)
    read = {path: packages.read_package(path) for path in sent}
    monkeypatch.setattr(packages, "read_package", lambda path, *_: read[path])
    hashes = set()
    for number in range(ORDERS):
        copy = tmp_path / "copy.goldsmith"
        shutil.copy(home.path, copy)
        project = Project.open(copy)
        order = chance.sample(sent, len(sent)) + chance.sample(sent, 3)
        batches = chance.randint(1, 4)
        for start in range(batches):
            unpacking.take_in(project, order[start::batches])
        hashes.add(content_hash(project))
        project.close()
        assert len(hashes) == 1, f"order {number} came out otherwise"
