"""When agreement is frozen, from what, and that nothing ever changes it again."""

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from annotator import __version__
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.comparing import matcher
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.experts.adjudication import Agreement
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.texts.canonical import canonical_json, derived_id, new_id, sha256
from annotator.storage.tables import ARTIFACT, ASSIGNMENT
from tests.projects.paired_project import in_order, labels, paired_project, person, rubric, sealed_by
from tests.storage import sql

COPIED = ("person", "item", "artifact", "revision")


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return paired_project(tmp_path, annotators=3)


def item(project: Project) -> str:
    return items.ids(project)[0]


def frozen(project: Project) -> Agreement | None:
    return next(iter(assignments.of_item(project, item(project))), None)


def kept(project: Project) -> list[tuple[Any, ...]]:
    return sql.rows(project, "SELECT * FROM agreement ORDER BY id")


def assign(project: Project, alias: str, stage: Stage = Stage.RUBRIC, trial: int = 1) -> None:
    row = {"item_id": item(project), "person_id": person(project, alias).id, "stage": stage.value}
    with project.store.write() as db:
        db.execute(insert(ASSIGNMENT).values(id=new_id(), trial=trial, purpose="work", **row))


def go_on(project: Project, alias: str, artifact_id: str, weight: int) -> None:
    """The person reopens, changes the first weight and seals again."""
    project.work_as(person(project, alias))
    assignments.reopen(project, artifact_id)
    first = artifacts.read(project, artifact_id).document.units[0].id
    artifacts.change_unit(project, artifact_id, first, weight=weight)
    assignments.seal(project, artifact_id)


def test_the_second_seal_freezes_what_was_sealed_in_the_order_of_ids(project: Project) -> None:
    sealed = {sealed_by(project, "B", rubric(1, 2, 2))}
    assert frozen(project) is None
    sealed.add(sealed_by(project, "A", rubric(1, 2, 3)))
    result = frozen(project)
    assert (result.stage, result.matcher, result.program, result.id) == (
        Stage.RUBRIC, matcher(), __version__, derived_id("agreement", item(project), "rubric"),
    )  # fmt: skip
    (pair,) = result.pairs
    assert pair.values == {"weight": ((1, 1), (2, 2), in_order(project, 3, 2))}
    assert pair.a < pair.b
    assert [given.person_id for given in result.inputs] == [pair.a, pair.b]
    assert {given.artifact_id for given in result.inputs} == sealed
    for given in result.inputs:
        (revision,) = artifacts.revisions(project, given.artifact_id, (given.revision,))
        assert (revision.sealed, revision.sha256, revision.chain) == (True, given.sha256, given.chain)
        assert (given.sealed_at, given.guideline, given.form) == (revision.at, "1", "1")
    assert result.frozen_at == max(given.sealed_at for given in result.inputs)


def test_a_frozen_record_has_its_hash_is_audited_once_and_never_changes(project: Project) -> None:
    first, _ = (sealed_by(project, alias, rubric(1, 2)) for alias in "AB")
    before = kept(project)
    assert len(before) == 1
    record_id, content, digest = sql.first(project, "SELECT id, content, sha256 FROM agreement")
    assert digest == sha256(content)
    assert content.encode() == canonical_json(json.loads(content))
    assert Agreement.model_validate_json(content).id == record_id
    audited = sql.rows(
        project, "SELECT verb, before, json_extract(after, '$.sha256') FROM audit WHERE kind = 'agreement'"
    )
    assert audited == [("freeze", None, digest)]
    go_on(project, "A", first, weight=3)
    sealed_by(project, "C", rubric(3, 3))
    assert kept(project) == before
    assert checking.check(project).problems == []
    altered = content.replace('"value":1.0', '"value":0.5', 1)
    assert altered != content
    # Through the store, so that the witness of the row is renewed: the record's own hash must tell.
    sql.alter(project, "UPDATE agreement SET content = ?", [altered])
    (problem,) = checking.check(project).problems
    assert problem.table == "agreement"
    assert "was altered" in problem.happened


def test_the_first_seal_counts_even_when_its_author_went_on(project: Project) -> None:
    first = sealed_by(project, "A", rubric(1, 2, 3))
    go_on(project, "A", first, weight=3)
    assignments.reopen(project, first)
    sealed_by(project, "B", rubric(1, 2, 3))
    result = frozen(project)
    # The first sealed revision follows that of starting; the weights in it are equal.
    assert ({given.revision for given in result.inputs}, result.pairs[0].values["weight"]) == (
        {2}, ((1, 1), (2, 2), (3, 3)),
    )  # fmt: skip


def test_a_third_who_has_begun_is_waited_for(project: Project) -> None:
    project.work_as(person(project, "C"))
    artifacts.start(project, item(project), Kind.RUBRIC, rubric(1))
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
    assert frozen(project) is None


def test_three_raters_make_three_pairs_and_a_figure_over_all(project: Project) -> None:
    for alias in "ABC":
        assign(project, alias)
    for alias in "ABC":
        assert frozen(project) is None
        sealed_by(project, alias, rubric(1, 2, 3))
    result = frozen(project)
    one, two, three = sorted(person(project, alias).id for alias in "ABC")
    assert [(pair.a, pair.b) for pair in result.pairs] == [(one, two), (one, three), (two, three)]
    assert {figure.name: figure.value for figure in result.figures} == {"match_f1": 1, "weight_alpha": 1}


def test_only_the_people_assigned_are_waited_for_and_counted(project: Project) -> None:
    assign(project, "A")
    assign(project, "B")
    sealed_by(project, "A", rubric(1, 2))
    sealed_by(project, "C", rubric(3, 3))
    assert frozen(project) is None
    sealed_by(project, "B", rubric(1, 2))
    result = frozen(project)
    assert {given.person_id for given in result.inputs} == {person(project, alias).id for alias in "AB"}


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
    for alias, becomes in (("A", {"author_id": ""}), ("C", {"state": State.CONSENSUS.value})):
        sealed = sealed_by(project, alias, rubric(1, 2))
        with project.store.write() as db:
            db.execute(ARTIFACT.update().where(ARTIFACT.c.id == sealed).values(**becomes))
    sealed_by(project, "B", rubric(1, 2))
    assert frozen(project) is None


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
            assignments.freeze_when_ready(other, db, items.ids(other)[0], Stage.RUBRIC)
        contents.add(kept(other)[0][3])
        other.close()
    assert len(contents) == 1


def test_a_seal_that_is_taken_back_takes_its_agreement_along(project: Project) -> None:
    sealed_by(project, "A", rubric(1, 2))
    with suppress(InterruptedError), project.store.write():
        sealed_by(project, "B", rubric(1, 2))
        assert frozen(project) is not None
        raise InterruptedError
    assert frozen(project) is None
    assert len(sql.rows(project, "SELECT 1 FROM artifact")) == 1


def test_all_frozen_agreements_are_read_in_one_transaction(project: Project) -> None:
    for alias in "AB":
        sealed_by(project, alias, rubric(1, 2))
        sealed_by(project, alias, labels("yn"))
    with project.store.write() as db:
        assert assignments.freeze_when_ready(project, db, item(project), Stage.ADJUDICATION) is None
        result = assignments.all_frozen(project, db)
    assert result == assignments.all_frozen(project)
    assert {agreement.stage for agreement in result} == {Stage.RUBRIC, Stage.LABELLING}
