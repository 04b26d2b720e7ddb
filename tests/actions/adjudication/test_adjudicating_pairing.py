"""An adjudicator may pair units otherwise than the matcher did; the frozen figure stays what it was."""

from pathlib import Path

import pytest

from annotator.actions.adjudication import adjudication_sheets, closing, pairing, ruling
from annotator.actions.consensus import consensus_versions
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.adjudication import Reason, Ruling
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.refusal import Refusal
from tests.projects import pairs_project as pairs
from tests.projects.pairs_project import adjudication
from tests.storage import sql

SUBJECTS = (
    "attribution", "retrieval", "citation accuracy", "synthetic questions", "human verification", "multilingual data",
    "long documents", "table reading", "numerical claims", "temporal reasoning", "conflicting sources",
    "abstention", "prompt injection",
)  # fmt: skip
# Two ideas that each words in its own way: no matcher by likeness brings them together.
ADA_ALONE = ("Discusses what checking by people costs", "Outlines where the field should go next")
BEN_ALONE = ("Analyses expenses of manual review", "Identifies promising future directions")
BEN_MORE = ("Names a public leaderboard", "Provides licence terms")


@pytest.fixture
def project(tmp_path: Path):
    """Ada has 15 criteria and Ben 17: thirteen are the same, two more mean the same in other words."""
    project = pairs.pairs_project(tmp_path)
    shared = tuple((f"Explains the role of {subject}", 2) for subject in SUBJECTS)
    ada = shared + tuple((text, weight) for text, weight in zip(ADA_ALONE, (1, 3), strict=True))
    ben = shared + tuple((text, weight) for text, weight in zip(BEN_ALONE, (1, 2), strict=True))
    ben += tuple((text, 1) for text in BEN_MORE)
    pairs.submit(project, {"Ada": pairs.rubric(ada, "a"), "Ben": pairs.rubric(ben, "b")})
    pairs.opened(project)
    yield project
    project.close()


def row(project: Project, unit_id: str) -> Ruling:
    return pairs.row(project, unit_id).ruling


def units(found: Ruling) -> list[str]:
    return sorted(found.members.values())


def frozen(project: Project) -> tuple[dict[str, Figure], list[tuple[object, ...]]]:
    sheet = adjudication_sheets.sheet(project, adjudication(project))
    rows = sql.rows(project, "SELECT * FROM agreement")
    return {figure.name: figure for figure in sheet.figures}, rows


def test_the_matcher_alone_finds_thirteen_of_fifteen(project: Project):
    figures, _ = frozen(project)
    assert figures["match_f1"].value == pytest.approx(26 / 32)
    assert len(adjudication_sheets.sheet(project, adjudication(project)).rows) == 19


def test_two_pairings_give_a_second_figure_and_leave_the_frozen_one(project: Project):
    _, before = frozen(project)
    pairing.pair(project, row(project, "a14").id, row(project, "b14").id)
    pairing.pair(project, row(project, "b15").id, row(project, "a15").id)
    assert units(row(project, "a14")) == ["a14", "b14"]
    assert units(row(project, "a15")) == ["a15", "b15"]
    for each in adjudication_sheets.sheet(project, adjudication(project)).rows:
        ruling.rule(project, each.ruling.id, next(iter(each.units)), reason=Reason.WORDING)
    closing.close(project, adjudication(project))
    with project.store.read() as db:
        (version,) = consensus_versions.versions(db, adjudication(project))
    repaired = {figure.name: figure for figure in version.repaired}
    assert repaired["repaired_match_f1"].value == pytest.approx(30 / 32)
    # 14 of 15 pairs have equal weights; linear weights, marginals 1: (1, 1), 2: (13, 14), 3: (1, 0) of 15 each.
    observed, expected = 1 / 15, (1 * 14 + 13 * 1 + 1 * 14 + 2 * 1 * 1) / 15**2
    assert repaired["repaired_weight_kappa"].value == pytest.approx(1 - observed / expected)
    assert all(name.startswith("repaired_") for name in repaired)
    figures, after = frozen(project)
    assert after == before
    assert figures["match_f1"].value == pytest.approx(26 / 32)


def test_pairing_opens_the_row_again_and_keeps_what_was_said(project: Project):
    ruling.rule(
        project, row(project, "a14").id, "drop", reason=Reason.SCOPE, rationale="Costs are out of scope"
    )
    ruling.explain(project, row(project, "b14").id, gap="Are costs in scope?")
    pairing.pair(project, row(project, "a14").id, row(project, "b14").id)
    joined = row(project, "a14")
    assert joined.open
    assert (joined.rationale, joined.gap) == ("Costs are out of scope", "Are costs in scope?")


def test_a_single_unit_changes_places_with_the_one_in_its_way(project: Project):
    pairing.pair(project, row(project, "a1").id, row(project, "b16").id)
    assert units(row(project, "a1")) == ["a1", "b16"]
    assert units(row(project, "b1")) == ["b1"]
    assert not row(project, "a1").unanimous


def test_only_what_a_row_lacks_is_taken_from_a_full_one(project: Project):
    pairing.pair(project, row(project, "a14").id, row(project, "b2").id)
    assert units(row(project, "a14")) == ["a14", "b2"]
    assert units(row(project, "a2")) == ["a2"]


def test_two_full_rows_are_not_paired(project: Project):
    with pytest.raises(Refusal, match="every letter already"):
        pairing.pair(project, row(project, "a1").id, row(project, "a2").id)
    with pytest.raises(Refusal, match="another of the same item"):
        pairing.pair(project, row(project, "a1").id, row(project, "a1").id)


def test_splitting_gives_a_unit_a_row_of_its_own_below(project: Project):
    ben = pairs.letter_of(project, adjudication(project), "Ben")
    pairing.split(project, row(project, "a1").id, ben)
    rows = [units(each.ruling) for each in adjudication_sheets.sheet(project, adjudication(project)).rows]
    place = rows.index(["a1"])
    assert rows[place + 1] == ["b1"]
    assert not row(project, "a1").unanimous
    with pytest.raises(Refusal, match="is not paired"):
        pairing.split(project, row(project, "b1").id, ben)


def test_what_was_split_can_be_paired_again_and_is_confirmed_where_all_agree(project: Project):
    ben = pairs.letter_of(project, adjudication(project), "Ben")
    pairing.split(project, row(project, "a1").id, ben)
    assert row(project, "a1").open
    pairing.pair(project, row(project, "a1").id, row(project, "b1").id)
    assert row(project, "a1").unanimous
    assert row(project, "a1").take == "both"


def test_pairing_and_splitting_are_undone(project: Project):
    before = adjudication_sheets.sheet(project, adjudication(project))
    pairing.pair(project, row(project, "a14").id, row(project, "b14").id)
    pairing.split(project, row(project, "a1").id, "A")
    for _ in range(2):
        history.undo(project)
    assert adjudication_sheets.sheet(project, adjudication(project)) == before


def test_rows_of_labels_are_given(project: Project):
    report = pairs.add_report(project)
    pairs.submit(
        project, {"Ada": pairs.labels(report, {"u": "yes"}), "Ben": pairs.labels(report, {"u": "no"})}
    )
    adjudication_id = pairs.opened(project, Stage.LABELLING)
    (only,) = adjudication_sheets.sheet(project, adjudication_id).rows
    with pytest.raises(Refusal, match="rows of labels are fixed"):
        pairing.split(project, only.ruling.id, "A")
    with pytest.raises(Refusal, match="rows of labels are fixed"):
        ruling.add_row(project, adjudication_id, value="yes")
    with pytest.raises(Refusal, match="cannot both be kept"):
        ruling.rule(project, only.ruling.id, "both")
