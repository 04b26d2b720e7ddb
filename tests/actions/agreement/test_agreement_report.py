"""What the coordinator looks at: every section, second figures named as such, and what each row stands on."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.adjudication import closing, openings, pairing, ruling, voting
from annotator.actions.agreement import agreement_figures, agreement_report
from annotator.actions.agreement.agreement_figures import FigureRow
from annotator.actions.agreement.agreement_report import AgreementReport
from annotator.actions.consensus import consensus_versions, ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import BOTH, Reason
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs

# The first is the same. The second means the same in words that no matcher by likeness brings together.
ADA = (("Explains how carbon is priced", 1), ("Discusses what checking by people costs", 2))
BEN = (("Explains how carbon is priced", 1), ("Analyses expenses of manual review", 3))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two items with the rubrics above; Cora works."""
    project = pairs.pairs_project(tmp_path, 2)
    for place in range(2):
        pairs.submit(
            project, {"Ada": pairs.rubric(ADA, f"a{place}"), "Ben": pairs.rubric(BEN, f"b{place}")}, place
        )
    yield pairs.work_as(project, "Cora")
    project.close()


def adjudicated(project: Project, votes: bool = False) -> None:
    """Cleo joins what the matcher left apart in the first item, and closes it."""
    found = pairs.opened(project)
    with project.store.read() as db:
        same, *lone = ruling_rows.rulings(db, found)
    pairing.pair(project, lone[0].id, lone[1].id)
    if votes:
        voting.vote(project, lone[0].id, "2")
    ruling.rule(project, same.id, BOTH)
    ruling.rule(project, lone[0].id, pairs.letter_of(project, found, "Ada"), reason=Reason.WORDING)
    closing.close(project, found)
    pairs.work_as(project, "Cora")


def row(report: AgreementReport, field: str) -> FigureRow:
    return next(each for each in report.rows if each.field == field)


def second(report: AgreementReport, of: FigureRow) -> tuple[FigureRow, FigureRow]:
    pair = report.seconds[0].of(of)
    assert pair is not None
    return pair


def figure(of: FigureRow | None, name: str) -> Figure:
    found = of.figure(name) if of else None
    assert found is not None, of
    return found


def test_a_report_has_the_frozen_rows(project: Project) -> None:
    report = agreement_report.report(project)
    assert list(report.rows) == agreement_figures.rows(project)
    (by_hand,) = report.seconds
    assert (by_hand.rows, report.repeats, report.votes, report.stages) == ({}, (), (), (Stage.RUBRIC,))


def test_the_adjudicators_pairing_gives_a_second_figure_and_leaves_the_first(project: Project) -> None:
    before = agreement_figures.rows(project)
    adjudicated(project)
    report = agreement_report.report(project)
    assert list(report.rows) == before
    # Frozen: of two units each has one partner, 2·1/4. As paired: all of them.
    units = row(report, "units")
    assert (figure(units, "match_f1").value, figure(units, "match_f1").n) == (0.5, 2)
    again, _ = second(report, units)
    assert (figure(again, "match_f1").value, figure(again, "match_f1").n) == (1, 1)
    assert again.items == (pairs.item(project),)


def test_beside_a_second_figure_stands_the_frozen_one_over_the_same_items(project: Project) -> None:
    adjudicated(project)
    report = agreement_report.report(project)
    weight = row(report, "weight")
    # Frozen pairs of weights of the first item: 1 1. As paired 1 1 and 2 3: half of them agree.
    again, beside = second(report, weight)
    assert (figure(beside, "agreement").value, beside.n) == (1, 1)
    assert (figure(again, "agreement").value, again.n) == (0.5, 2)


def test_the_second_figure_is_the_one_that_was_kept_when_the_adjudication_was_closed(
    project: Project,
) -> None:
    adjudicated(project)
    report = agreement_report.report(project)
    with project.store.read() as db:
        (closed,) = consensus_versions.versions(db, openings.id_of(pairs.item(project), Stage.RUBRIC))
    kept = {found.name: found.value for found in closed.repaired}
    for field, name in (("units", "match_f1"), ("weight", "weight_agreement"), ("weight", "weight_kappa")):
        again = figure(second(report, row(report, field))[0], name.removeprefix("weight_"))
        assert again.value == pytest.approx(kept[f"repaired_{name}"])


def test_first_votes_are_a_section_of_their_own(project: Project) -> None:
    adjudicated(project, votes=True)
    (votes,) = agreement_report.report(project).votes
    # The senior said 2 where Ada had 2 and Ben 3.
    assert (votes.stage, votes.field, votes.n, figure(votes, "agreement").value) == (
        Stage.RUBRIC,
        "weight",
        2,
        0.5,
    )
    assert agreement_report.inputs_of(agreement_report.report(project), votes) == []


def test_a_row_says_what_it_stands_on(project: Project) -> None:
    report = agreement_report.report(project)
    found = agreement_report.provenance(report, row(report, "weight"))
    assert found is not None
    assert (found.records, found.guidelines, found.forms, found.matchers) == (2, ("1",), ("1",), ("2",))
    assert [report.alias(person) for person in found.raters] == [
        pairs.person(project, name).alias for name in ("Ada", "Ben")
    ]
    assert dict(found.said) == {(1, 1): 2}


def test_what_was_said_is_counted_from_the_persons_side(project: Project) -> None:
    report = agreement_report.report(project, "person")
    ben = pairs.person(project, "Ben").id
    units = next(each for each in report.rows if each.group == (ben,) and each.field == "units")
    found = agreement_report.provenance(report, units)
    assert found is not None
    # In each of two items: one of both, one of Ben's alone, one of Ada's alone.
    assert dict(found.said) == {(1, 1): 2, (1, 0): 2, (0, 1): 2}


def test_what_waits_for_a_second_seal_is_counted(tmp_path: Path) -> None:
    project = pairs.pairs_project(tmp_path)
    assert agreement_report.half_sealed(project) == 0
    pairs.submit(project, {"Ada": pairs.rubric(ADA, "a")})
    assert agreement_report.half_sealed(pairs.work_as(project, "Cora")) == 1
    pairs.submit(project, {"Ben": pairs.rubric(BEN, "b")})
    assert agreement_report.half_sealed(pairs.work_as(project, "Cora")) == 0
    project.close()


def test_one_stage_alone(project: Project) -> None:
    report = agreement_report.report(project, stage=Stage.PLAN)
    assert (report.rows, report.stages) == ((), (Stage.RUBRIC,))


@pytest.mark.parametrize("name", ["Ada", "Cleo"])
def test_whoever_does_not_coordinate_sees_none_of_it(project: Project, name: str) -> None:
    pairs.work_as(project, name)
    for question in (agreement_report.report, agreement_report.half_sealed):
        with pytest.raises(Refusal, match="coordinator"):
            question(project)


def test_an_unknown_grouping_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="cannot be grouped by “moon”"):
        agreement_report.report(project, "moon")


def test_people_keep_their_ids_when_they_are_renamed(project: Project) -> None:
    ada = pairs.person(project, "Ada")
    people.rename_person(project, ada.id, "Ada Lovelace")
    people.set_roles(project, ada.id, (Role.ANNOTATOR,))
    report = agreement_report.report(project)
    assert report.people[ada.id].name == "Ada Lovelace"
    assert report.alias(ada.id) == ada.alias
