"""What closed adjudications settled, what an empty queue lacks, and what waits for an adjudicator."""

import pytest

from annotator.actions.adjudication import closing, ruling, settled
from annotator.actions.adjudication.adjudication_sheets import sheet
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.domain.experts.adjudication import Origin, Reason
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from tests.projects.pairs_project import (
    ADA,
    BEN,
    opened,
    pairs_project,
    person,
    rubric,
    rubrics_project,
    submit,
    work_as,
)


def closed(project) -> str:
    """The adjudication with what all wrote confirmed, one row dropped and the others taken; its id."""
    adjudication_id = opened(project)
    contested = [row for row in sheet(project, adjudication_id).rows if row.contested]
    for row in contested[:-1]:
        ruling.rule(project, row.ruling.id, next(iter(row.units)), reason=Reason.WORDING)
    ruling.rule(project, contested[-1].ruling.id, "drop", reason=Reason.SCOPE)
    closing.close(project, adjudication_id)
    return adjudication_id


def test_a_version_says_where_its_units_come_from(tmp_path):
    project = rubrics_project(tmp_path)
    (version,) = settled.versions(project, closed(project))
    assert (version.version, version.units, version.dropped) == (1, 6, 1)
    assert version.origins == {Origin.BOTH: 1, Origin.ONE: 5}
    # Four of five and six are paired: 2·4/11.
    assert version.repaired[0].value == pytest.approx(8 / 11)


def test_whoever_answered_may_not_ask(tmp_path):
    project = rubrics_project(tmp_path)
    adjudication_id = closed(project)
    with pytest.raises(Refusal, match="yourself"):
        settled.versions(work_as(project, "Ada"), adjudication_id)


def test_every_reason_for_an_empty_queue_is_told_apart(tmp_path):
    project = pairs_project(tmp_path)
    assert settled.lacking(work_as(project, "Dan")) == "role"
    assert settled.lacking(work_as(project, "Cleo")) == "answers"
    submit(project, {"Ada": rubric(ADA, "a")})
    assert settled.lacking(work_as(project, "Cleo")) == "seals"


def test_frozen_work_of_ones_own_is_told_from_that_of_others(tmp_path):
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Cleo": rubric(BEN, "b")})
    assert settled.lacking(work_as(project, "Cleo")) == "own"
    work_as(project, "Cora")
    people.set_roles(project, person(project, "Dan").id, (Role.ADJUDICATOR,))
    assert settled.lacking(work_as(project, "Dan")) == "others"


def test_conflicts_wait_for_adjudicators_alone(tmp_path):
    project = rubrics_project(tmp_path)
    assert waiting.counts(project)["Adjudicate"] == 1
    assert waiting.counts(work_as(project, "Ada"))["Adjudicate"] == 0
    closed(project)
    assert waiting.counts(project)["Adjudicate"] == 0
