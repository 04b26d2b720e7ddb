"""When agreement is frozen, from what, and that nothing ever changes it again."""

import json
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select

from annotator import __version__
from annotator.actions.assignments import agreements, submitting
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.comparing import matcher
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.experts.agreement import Agreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import derived_id, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import ArtifactRow, AssignmentRow, AuditRow, table
from tests.projects.paired_project import in_order, labels, paired_project, person, rubric, sealed_by
from tests.storage import sql

COPIED = ("person", "item", "artifact", "revision")


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = paired_project(tmp_path, annotators=3)
    yield project
    project.close()


def item(project: Project) -> str:
    return items.ids(project)[0]


def frozen(project: Project) -> Agreement | None:
    return next(iter(agreements.of_item(project, item(project))), None)


def kept(project: Project) -> list[tuple[Any, ...]]:
    return sql.rows(project, "SELECT * FROM agreement ORDER BY id")


def assign(project: Project, alias: str, stage: Stage = Stage.RUBRIC, trial: int = 1) -> None:
    row = {"item_id": item(project), "person_id": person(project, alias).id, "stage": stage.value}
    with project.store.write() as db:
        db.execute(insert(table(AssignmentRow)).values(id=new_id(), trial=trial, purpose="work", **row))


def go_on(project: Project, alias: str, artifact_id: str, weight: int) -> None:
    """The person reopens, changes the first weight and seals again."""
    project.work_as(person(project, alias))
    submitting.reopen(project, artifact_id)
    first = artifacts.read(project, artifact_id).document.units[0].id
    artifacts.change_unit(project, artifact_id, first, weight=weight)
    submitting.seal(project, artifact_id)


def test_one_seal_freezes_nothing(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 2, 3))
    assert frozen(project) is None


def test_the_second_seal_freezes_the_agreement(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 2, 3))
    sealed_by(project, "B", rubric(1, 2, 2))
    found = frozen(project)
    assert found is not None
    assert (found.stage, found.matcher, found.program) == (Stage.RUBRIC, matcher(), __version__)
    assert found.id == derived_id("agreement", item(project), "rubric")
    assert found.pairs[0].values == {"weight": ((1, 1), (2, 2), in_order(project, 3, 2))}


def test_raters_stand_in_the_order_of_their_ids(project: Project) -> None:
    sealed_by(project, "B", rubric(2))
    sealed_by(project, "A", rubric(1))
    found = frozen(project)
    assert found is not None
    (pair,) = found.pairs
    assert pair.a < pair.b
    assert pair.values["weight"] == (in_order(project, 1, 2),)
    assert [given.person_id for given in found.inputs] == [pair.a, pair.b]


def test_the_inputs_name_the_sealed_revisions(project: Project) -> None:
    sealed = {sealed_by(project, alias, rubric(1, 2)) for alias in "AB"}
    found = frozen(project)
    assert found is not None
    assert {given.artifact_id for given in found.inputs} == sealed
    for given in found.inputs:
        revision = next(
            r for r in artifacts.revisions(project, given.artifact_id) if r.number == given.revision
        )
        assert (revision.sealed, revision.sha256, revision.chain) == (True, given.sha256, given.chain)
        assert (given.sealed_at, given.guideline, given.form) == (revision.at, "1", "1")
    assert found.frozen_at == max(given.sealed_at for given in found.inputs)


def test_the_row_carries_the_hash_of_its_canonical_json(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    row = sql.first(project, "SELECT id, content, sha256 FROM agreement")
    assert row[2] == sha256(row[1])
    assert row[1].encode() == canonical_json(json.loads(row[1]))
    assert Agreement.model_validate_json(row[1]).id == row[0]


def test_reopening_and_sealing_again_leaves_the_row_byte_for_byte(project: Project) -> None:
    first = sealed_by(project, "A", rubric(1, 2, 3))
    sealed_by(project, "B", rubric(1, 2, 3))
    before = kept(project)
    go_on(project, "A", first, weight=3)
    assert kept(project) == before
    assert len(before) == 1


def test_the_first_seal_counts_even_when_its_author_went_on(project: Project) -> None:
    first = sealed_by(project, "A", rubric(1, 2, 3))
    go_on(project, "A", first, weight=3)
    project.work_as(person(project, "A"))
    submitting.reopen(project, first)
    sealed_by(project, "B", rubric(1, 2, 3))
    found = frozen(project)
    assert found is not None
    # The first sealed revision follows that of starting; the weights in it are equal.
    assert {given.revision for given in found.inputs} == {2}
    assert found.pairs[0].values["weight"] == ((1, 1), (2, 2), (3, 3))


def test_a_third_who_has_begun_is_waited_for(project: Project) -> None:
    project.work_as(person(project, "C"))
    artifacts.start(project, item(project), Kind.RUBRIC, rubric(1))
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert frozen(project) is None


def test_whoever_comes_after_the_freeze_changes_nothing(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    before = kept(project)
    sealed_by(project, "C", rubric(3, 3))
    assert kept(project) == before


def test_three_raters_make_three_pairs_and_a_figure_over_all(project: Project) -> None:
    for alias in "ABC":
        assign(project, alias)
    for alias in "ABC":
        assert frozen(project) is None
        sealed_by(project, alias, rubric(1, 2, 3))
    found = frozen(project)
    assert found is not None
    ids = sorted(person(project, alias).id for alias in "ABC")
    assert [(pair.a, pair.b) for pair in found.pairs] == [
        (ids[0], ids[1]), (ids[0], ids[2]), (ids[1], ids[2]),
    ]  # fmt: skip
    assert {figure.name: figure.value for figure in found.figures} == {"match_f1": 1, "weight_alpha": 1}


def test_only_the_people_assigned_are_waited_for_and_counted(project: Project) -> None:
    assign(project, "A")
    assign(project, "B")
    sealed_by(project, "A", rubric(1, 2))
    sealed_by(project, "C", rubric(3, 3))
    assert frozen(project) is None
    sealed_by(project, "B", rubric(1, 2))
    found = frozen(project)
    assert found is not None
    assert {given.person_id for given in found.inputs} == {person(project, alias).id for alias in "AB"}


def test_assignments_of_other_stages_and_repeats_are_not_waited_for(project: Project) -> None:
    assign(project, "C", Stage.PLAN)
    assign(project, "C", trial=2)
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert frozen(project) is not None


def test_a_single_person_assigned_freezes_nothing(project: Project) -> None:
    assign(project, "A")
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert frozen(project) is None


def test_imported_gold_and_a_consensus_are_nobodys_answer(project: Project) -> None:
    artifact = table(ArtifactRow)
    for alias, becomes in (("A", {"author_id": ""}), ("C", {"state": State.CONSENSUS.value})):
        sealed = sealed_by(project, alias, rubric(1, 2))
        with project.store.write() as db:
            db.execute(artifact.update().where(artifact.c.id == sealed).values(**becomes))
    sealed_by(project, "B", rubric(1, 2))
    assert frozen(project) is None


def test_labels_are_frozen_as_the_labelling_stage(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, labels("yn"))
    found = frozen(project)
    assert found is not None
    assert found.stage is Stage.LABELLING


def test_adjudication_has_no_agreement_of_its_own(project: Project) -> None:
    with project.store.write() as db:
        assert agreements.freeze_when_ready(project, db, item(project), Stage.ADJUDICATION) is None


def test_the_order_of_sealing_moves_nothing(tmp_path: Path) -> None:
    """The same revisions in another file, written in the other order, make the same record byte for byte."""
    made = paired_project(tmp_path)
    for alias in "AB":
        sealed_by(made, alias, rubric(1, 2, 3))
    rows = {name: sql.rows(made, f"SELECT * FROM {name}") for name in COPIED}
    contents = {kept(made)[0][3]}
    made.close()
    for turn in (1, -1):
        other = Project.create(tmp_path / f"other{turn}.goldsmith")
        with other.store.write() as db:
            for name in COPIED:
                places = ", ".join("?" * len(rows[name][0]))
                sql.connection(other).executemany(f"INSERT INTO {name} VALUES ({places})", rows[name][::turn])
            agreements.freeze_when_ready(other, db, items.ids(other)[0], Stage.RUBRIC)
        contents.add(kept(other)[0][3])
        other.close()
    assert len(contents) == 1


def seal_and_stop(project: Project) -> None:
    with project.store.write():
        sealed_by(project, "B", rubric(1, 2))
        assert frozen(project) is not None
        raise InterruptedError


def test_a_seal_that_is_taken_back_takes_its_agreement_along(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 2))
    with pytest.raises(InterruptedError):
        seal_and_stop(project)
    assert frozen(project) is None
    assert len(sql.rows(project, "SELECT 1 FROM artifact")) == 1


def test_freezing_is_told_to_the_audit_once_and_cannot_be_undone(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    audit = table(AuditRow)
    with project.store.read() as db:
        found = db.execute(select(audit).where(audit.c.kind == "agreement")).all()
    assert [(row.verb, row.before, json.loads(row.after)["sha256"]) for row in found] == [
        ("freeze", None, kept(project)[0][4])
    ]


def test_all_frozen_agreements_are_read_in_one_transaction(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
        sealed_by(project, alias, labels("yn"))
    with project.store.read() as db:
        found = agreements.all_frozen(project, db)
    assert found == agreements.all_frozen(project)
    assert {agreement.stage for agreement in found} == {Stage.RUBRIC, Stage.LABELLING}


def test_check_finds_a_frozen_agreement_that_was_altered(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert checking.check(project).problems == []
    content = kept(project)[0][3].replace('"value":1.0', '"value":0.5', 1)
    assert content != kept(project)[0][3]
    with project.store.write():
        # Through the store, so that the witness of the row is renewed: the record's own hash must tell.
        sql.alter(project, "UPDATE agreement SET content = ?", [content])
    (problem,) = checking.check(project).problems
    assert (problem.table, "was altered" in problem.happened) == ("agreement", True)


def test_a_sealed_document_is_still_refused_while_sealed(project: Project) -> None:
    first = sealed_by(project, "A", rubric(1, 2))
    project.work_as(person(project, "A"))
    with pytest.raises(Refusal, match="sealed"):
        submitting.seal(project, first)


def test_moments_are_kept_in_utc(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    found = frozen(project)
    assert found is not None
    assert found.frozen_at.utcoffset() == timedelta(0)
