"""The work in pairs comes back from a release as it was, once, and only where it hangs together."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.consensus import ruling_rows
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.incoming import ImportCount
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking
from annotator.domain.experts.adjudication import AdjudicationState
from annotator.domain.experts.assignment import Role, Stage
from annotator.domain.kinds.artifact import Kind, State
from annotator.storage.tables import REVISION
from tests.actions.releases.released_pairs import paired_project, released, taken_in
from tests.material.bundles import change_json, found, without_manifest
from tests.projects.pairs_project import item
from tests.projects.refusals import expect_refusal
from tests.storage import sql


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A release of the project; nothing in it is changed."""
    folder = tmp_path_factory.mktemp("pairs")
    return released(paired_project(folder), folder / "release")


def by_hand(release: Path, folder: Path, name: str, spoil: Callable[[Any], Any]) -> Path:
    """A copy of the release in which one of its files was changed."""
    shutil.copytree(release, folder)
    change_json(folder / name, spoil)
    return without_manifest(folder)


def work_as(project: Project, alias: str) -> Project:
    project.work_as(people.known(project, alias))
    return project


def test_a_release_of_pairs_comes_back_once(release, tmp_path):
    project = taken_in(tmp_path, release)
    assert found(released(project, tmp_path / "again")) == found(release)
    assert checking.check(project).problems == []
    counted = items.content_counts(project)
    assert [counted[name] for name in ("assignments", "agreements", "adjudications")] == [0, 3, 1]
    labelled = assignments.of_item(project, item(project))[-1]
    sealed = [artifacts.read(project, given.artifact_id) for given in labelled.inputs]
    assert [(one.kind, one.state, one.revision) for one in sealed] == [(Kind.LABELS, State.SEALED, 2)] * 2
    before = project.path.read_bytes()
    change, report = imports.run(project, "goldsmith", [release])
    assert (str(report), report.problems, change.verb) == ("nothing new", (), "nothing new")
    assert report.counts["adjudications"] == ImportCount(same=2)
    assert project.path.read_bytes() == before
    # No answer is taken for one under an older guideline.
    people.add_person(project, "Me", (Role.COORDINATOR,), "M")
    assert [one.version for one in settings.versions(work_as(project, "M"), Stage.RUBRIC)] == [2]
    assert settings.stale(project) == []


def test_adjudication_can_be_looked_at_and_gone_on_with(release, tmp_path):
    project = work_as(taken_in(tmp_path, release), "R4")
    lines = {line.stage: line for line in adjudicating.queue(project)}
    assert {stage: line.state for stage, line in lines.items()} == {
        Stage.RUBRIC: "closed", Stage.DIAGNOSTICS: "not begun", Stage.LABELLING: "not begun",
    }  # fmt: skip
    sheet = adjudicating.sheet(project, lines[Stage.RUBRIC].adjudication_id)
    assert (sheet.version, len(sheet.rows), len(sheet.consensus.units)) == (2, 7, 7)
    assert adjudicating.open_(project, item(project), Stage.LABELLING).state is AdjudicationState.OPEN


def test_annotators_learn_what_became_of_their_work(release, tmp_path):
    project = work_as(taken_in(tmp_path, release), "R2")
    (stage,) = feedback.digest(project, item(project)).stages
    changes = {row.own["id"]: row.change for row in stage.rows if row.own}
    assert (stage.version, changes["a1"], changes["a5"]) == (2, "kept", "reworded")
    assert stage.dispute.answered_version == 2


def test_what_was_sealed_keeps_its_chain_when_it_goes_on(release, tmp_path):
    project = work_as(taken_in(tmp_path, release), "R2")
    with project.store.read() as db:
        question = select(REVISION.c.artifact_id).where(REVISION.c.reason == "meant so")
        artifact_id = db.execute(question).scalar_one()
    assert [one.number for one in artifacts.revisions(project, artifact_id)] == [5, 2]
    assignments.reopen(project, artifact_id)
    assignments.seal(project, artifact_id)
    assert artifacts.read(project, artifact_id).revision == 7
    assert checking.check(project).problems == []
    assert len(assignments.of_item(project, item(project))) == 3


def test_an_adjudication_that_was_opened_here_is_kept(release, tmp_path):
    folder = by_hand(release, tmp_path / "in", "adjudications.json", lambda tree: tree.clear())
    project = work_as(taken_in(tmp_path, folder), "R4")
    opened = adjudicating.open_(project, item(project), Stage.RUBRIC)
    report = imports.run(project, "goldsmith", [release], skip_bad=True, warm=False)[1]
    assert report.counts["adjudications"].new == 0
    assert "which is kept as it is" in str(report.problems[0])
    with project.store.read() as db:
        assert ruling_rows.adjudication(db, opened.id).state is AdjudicationState.OPEN


def test_what_a_consensus_leads_back_to_comes_in_with_it_or_not_at_all(release, tmp_path):
    folder = by_hand(release, tmp_path / "in", "agreement.json", lambda tree: tree.clear())
    project = Project.create(tmp_path / "p.goldsmith", "T")
    report = imports.run(project, "goldsmith", [folder], skip_bad=True, warm=False)[1]
    assert (report.counts["artifacts"].new, report.counts["adjudications"].new) == (5, 0)
    assert sql.first(project, "SELECT * FROM dispute") is None
    assert checking.check(project).problems == []


def test_an_adjudicator_who_answered_something_else_of_the_item_is_named(release, tmp_path):
    (report,) = json.loads((release / "responses" / "canary-system-9000.json").read_text("utf-8"))
    adjudications = json.loads((release / "adjudications.json").read_text("utf-8"))
    label = {
        "protocol": "researcherbench.coverage", "item_id": report["item_id"], "response_id": report["id"],
        "unit_id": "a1", "rater_kind": "person", "rater_id": adjudications[0]["adjudicator_id"], "value": "yes",
        "status": "ok", "at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    folder = by_hand(release, tmp_path / "in", "judgements.json", lambda tree: tree.append(label))
    report = imports.run(new_project(tmp_path / "p.goldsmith", "T"), "goldsmith", [folder], warm=False)[1]
    assert (report.counts["adjudications"].new, report.problems) == (2, ())
    assert "its adjudicator has answered something else of the item" in {note.reason for note in report.notes}


def rulings(tree: Any) -> Any:
    return tree[0]["rulings"]


def adas(tree: Any) -> tuple[Any, Any]:
    """The two revisions of Ada's rubric: what agreement rests on, and what she sealed later."""
    later = next(one for one in tree if one["reason"] == "meant so")
    return next(one for one in tree if one["artifact_id"] == later["artifact_id"] and one is not later), later


SPOILT: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "a broken chain": ("revisions.json", lambda t: adas(t)[1].update(chain="0" * 64), "does not follow from the one"),
    "a gap in a chain": ("revisions.json", lambda t: adas(t)[1].update(skipped=[]), "does not follow from the one"),
    "no document": ("revisions.json", lambda t: adas(t)[0].update(document=None), "has no document"),
    "no hash": ("revisions.json", lambda t: adas(t)[1].update(skipped=["x y", "z"]), "are no hashes"),
    "another document": (
        "revisions.json",
        lambda t: adas(t)[0]["document"]["units"][0].update(text="Mine"),
        "not the one its checksum",
    ),
    "another end": ("revisions.json", lambda t: t.remove(adas(t)[1]), "does not end with the document that is here"),
    "labels without a person": ("revisions.json", lambda t: t[2].update(author_id="x"), "its person x was not"),
    "one rater": ("agreement.json", lambda t: t[0]["inputs"].pop(), "not between two raters"),
    "a forgotten unit": ("agreement.json", lambda t: t[2]["pairs"][0]["only_a"].pop(), "not over all units"),
    "a lost value": (
        "agreement.json",
        lambda t: t[2]["pairs"][0]["values"]["weight"].pop(),
        "not those of its matched units",
    ),
    "another input": ("agreement.json", lambda t: t[0]["inputs"][0].update(sha256="0"), "is not what it was made of"),
    "a list as value": (
        "agreement.json",
        lambda t: t[2]["pairs"][0]["values"]["weight"].__setitem__(0, [[1], 2]),
        "not single values",
    ),
    "labels of nothing": (
        "agreement.json",
        lambda t: t[1]["pairs"][0]["values"].pop("unit_id"),
        "does not say what its labels are about",
    ),
    "a rater as adjudicator": (
        "adjudications.json",
        lambda t: [one.update(adjudicator_id=one["letters"]["A"]) for one in t],
        "its adjudicator is one of the raters",
    ),
    "a letter too many": (
        "adjudications.json",
        lambda t: [one["letters"].update(C=one["letters"]["A"]) for one in t],
        "do not stand for the raters",
    ),
    "a unit of nobody": (
        "adjudications.json",
        lambda t: [
            row["members"].update(dict.fromkeys(row["members"], "x")) for one in t for row in one["rulings"][1:2]
        ],
        "speaks of a unit that nobody wrote",
    ),
    "a stranger's wording": (
        "adjudications.json",
        lambda t: rulings(t)[1]["members"].update(x="a1"),
        "not one of its raters",
    ),
    "a take of nothing": ("adjudications.json", lambda t: rulings(t)[0].update(take="Z"), "takes what nobody wrote"),
    "an own wording that does not fit": (
        "adjudications.json",
        lambda t: next(row for row in rulings(t[1:]) if row["own"])["own"].update(weight=9999),
        "“weight” should",
    ),
    "a missing version": ("adjudications.json", lambda t: t.pop(0), "do not count from 1 on"),
    "contradiction": ("adjudications.json", lambda t: t[0].update(seed=7), "contradict one another"),
    "a unit from nowhere": ("adjudications.json", lambda t: t[0]["provenance"].pop(), "does not say of every unit"),
    "an objection of a stranger": (
        "adjudications.json",
        lambda t: t[0]["disputes"][0].update(person_id=t[0]["adjudicator_id"]),
        "somebody objects who answered nothing",
    ),
    "two objections": (
        "adjudications.json",
        lambda t: t[0]["disputes"].append({**t[0]["disputes"][0], "id": "other"}),
        "objects to this item more than once",
    ),
    "the same id twice": (
        "adjudications.json",
        lambda t: rulings(t)[1].update(id=rulings(t)[0]["id"]),
        "have no ids of their own",
    ),
    "another artifact": (
        "adjudications.json",
        lambda t: [one.update(revision=one["revision"] + 7) for one in t],
        "was not imported and is not in the project",
    ),
    "a guideline of version 1": ("guidelines.json", lambda t: t[0].update(version=1), "“version” should"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_what_does_not_hang_together_is_refused_by_name_and_what_is_left_is_sound(release, tmp_path, name):
    path, spoil, reason = SPOILT[name]
    folder = by_hand(release, tmp_path / "in", path, spoil)
    project = Project.create(tmp_path / "p.goldsmith", "T")
    before = project.path.read_bytes()
    refused = expect_refusal("", imports.run, project, "goldsmith", [folder], warm=False)
    assert reason in "\n".join(refused.details)
    assert project.path.read_bytes() == before
    imports.run(project, "goldsmith", [folder], skip_bad=True, warm=False)
    assert checking.check(project).problems == []
    for person in people.people(project):
        project.work_as(person)
        for line in adjudicating.queue(project):
            if line.adjudication_id:
                assert adjudicating.sheet(project, line.adjudication_id).rows
        assert feedback.items_with_digest(project) is not None
