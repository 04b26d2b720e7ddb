"""Systems in pairs: the table of wins, how far the order decides, and what did not come; counted by hand."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.studies import duels
from tests.projects import adra_project as adra

PAIRWISE = "researcherbench.pairwise"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Four items: Alpha wins, the order decides, a tie, and one order that did not come."""
    project = adra.adra_project(tmp_path, 4, ("Alpha", "Beta"))
    said = (("first", "second"), ("first", "first"), ("tie", "tie"), ("first", None))
    for item, (shown_first, shown_second) in zip(items.ids(project), said, strict=True):
        a, b = adra.response_of(item), adra.response_of(item, "Beta")
        adra.say(project, PAIRWISE, item, a, {b: shown_first})
        adra.say(project, PAIRWISE, item, b, {a: shown_second})
    yield project
    project.close()


def test_wins_are_counted_over_pairs_judged_in_both_orders(project: Project) -> None:
    found = duels.report(project)
    alpha = found.standings[0]
    assert (alpha.system, alpha.win, alpha.loss, alpha.tie, alpha.inconsistent, alpha.error) == (
        "Alpha",
        1,
        0,
        1,
        1,
        1,
    )
    assert found.win_rates["Alpha"].value == pytest.approx(1 / 3)
    assert found.win_rates["Beta"].value == 0


@pytest.mark.usefixtures("small_cases")
def test_the_order_decides_one_of_three_and_the_first_place_three_of_four(project: Project) -> None:
    found = duels.report(project)
    assert (found.flip_rate.value, found.flip_rate.missing) == (pytest.approx(1 / 3), 1)
    # Wilson's interval over three items: Var = ((2/3)² + 2 (1/3)²) / 3² · 3/2 = 1/9, so that they are worth
    # 2/9 / (1/9) = 2 units, and t = 4.30265 with 2 degrees of freedom stands for z.
    square = 4.30265**2
    centre = (1 / 3 + square / 4) / (1 + square / 2)
    half = 4.30265 / (1 + square / 2) * (1 / 9 + square / 16) ** 0.5
    assert (found.flip_rate.low, found.flip_rate.high) == pytest.approx(
        (centre - half, centre + half), abs=1e-5
    )
    # Verdicts that name a winner: first, second; first, first.
    assert found.first_slot_rate.value == pytest.approx(3 / 4)


def test_a_pair_that_did_not_come_is_missing_and_no_tie(project: Project) -> None:
    table, biases, pairs = duels.sheets(duels.report(project))
    assert [line.cells[3].words for line in pairs.lines] == [
        "Alpha wins",
        "the order decides",
        "a tie",
        "missing",
    ]
    assert [line.cells[0].words for line in biases.lines[:2]] == ["Order decides", "First one named"]
    missing = [column.title for column in table.columns].index("Missing")
    assert [line.cells[missing].value for line in table.lines] == [1, 1]
    assert any(
        "1 pair was not judged in both orders; of 0 of them nobody was asked" in one for one in table.told
    )


def test_a_pair_leads_to_both_of_its_judgements(project: Project) -> None:
    *_, pairs = duels.sheets(duels.report(project))
    source = pairs.lines[0].source
    item = items.ids(project)[0]
    assert source is not None
    assert (source.response_id, source.unit_id) == (adra.response_of(item), adra.response_of(item, "Beta"))


def test_pairs_that_nobody_was_asked_about_are_missing_too(project: Project) -> None:
    adra.answer(project, items.ids(project)[0], "Gamma")
    found = duels.report(project)
    assert found.never_asked == 2
    gamma = next(row for row in found.standings if row.system == "Gamma")
    assert (gamma.error, gamma.win_rate.value) == (2, None)


def test_without_comparisons_there_is_nothing_to_show(tmp_path: Path) -> None:
    project = adra.adra_project(tmp_path, 1, ("Alpha", "Beta"))
    assert duels.sheets(duels.report(project)) == ()
    project.close()
