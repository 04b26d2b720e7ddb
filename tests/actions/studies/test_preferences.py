"""Whether scores prefer what people prefer, and how their comparisons are read."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.items import items, materials
from annotator.actions.labelling import label_cases
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.studies import preferences
from annotator.cli import run_command
from annotator.protocols import PROTOCOLS
from tests.projects import adra_project as adra
from tests.storage import sql

PAIRWISE, PREFERENCE = "researcherbench.pairwise", "adra.preference"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Four items on which Alpha's plan finds more than Beta's, but on the last, where both find as much."""
    project = adra.adra_project(tmp_path, 4, ("Alpha", "Beta"))
    for place, item in enumerate(items.ids(project)):
        both = [[1, 0, 0, 0], [0, 1, 0, 0]]
        adra.fill_matrix(project, item, adra.response_of(item), both)
        adra.fill_matrix(project, item, adra.response_of(item, "Beta"), both if place == 3 else both[:1])
    yield project
    project.close()


def prefer(
    project: Project, place: int, value: str, protocol: str = PREFERENCE, turned: bool = False
) -> None:
    """What the person working says of Alpha's report shown first, or of Beta's."""
    item = items.ids(project)[place]
    a, b = adra.response_of(item), adra.response_of(item, "Beta")
    first, second = (b, a) if turned else (a, b)
    me = people.someone(project).id
    adra.say(project, protocol, item, first, {second: value}, rater_kind="person", rater_id=me)


def test_agreement_is_counted_over_pairs_where_neither_ties(project: Project) -> None:
    for place, value in enumerate(("first", "second", "tie", "first")):
        prefer(project, place, value)
    found = preferences.report(project, metric="plan.recall").agreements["plan.recall"]
    assert (found.agreed, found.disagreed, found.tied_preferences, found.tied_scores) == (1, 1, 1, 1)
    assert found.share.value == pytest.approx(1 / 2)


def test_both_protocols_in_which_people_compare_count(project: Project) -> None:
    prefer(project, 0, "first", PAIRWISE)
    prefer(project, 1, "first", PREFERENCE)
    assert preferences.report(project, metric="plan.recall").agreements["plan.recall"].agreed == 2


def test_whoever_is_asked_both_ways_round_has_one_preference(project: Project) -> None:
    prefer(project, 0, "first")
    prefer(project, 0, "second", turned=True)
    prefer(project, 1, "first")
    prefer(project, 1, "first", turned=True)
    report = preferences.report(project, metric="plan.recall")
    assert [one.preferred for one in report.compared] == ["first", "tie"]


def test_a_score_with_gaps_is_left_out(project: Project) -> None:
    prefer(project, 0, "first")
    prefer(project, 1, "first")
    of_alpha = adra.response_of(items.ids(project)[0])
    lost = "UPDATE judgement SET value = NULL, status = 'timeout' WHERE unit_id = 'p1~g1'"
    sql.alter(project, f"{lost} AND response_id = ?", [of_alpha])
    found = preferences.report(project, metric="plan.recall").agreements["plan.recall"]
    assert (found.agreed, found.left_out) == (1, 1)
    # With a gap in every report there is no score to hold against anybody's preference.
    sql.alter(project, lost)
    assert "plan.recall" not in preferences.report(project, metric="plan.recall").agreements


def test_every_pair_is_listed_with_what_came_of_it(project: Project) -> None:
    prefer(project, 0, "first")
    prefer(project, 1, "second")
    summary, pairs = preferences.sheets(preferences.report(project, metric="plan.recall"))
    assert [line.cells[-1].words for line in pairs.lines] == ["agrees", "disagrees"]
    assert summary.pictures[0].name == "agreement"


def test_nobody_compared_anything(tmp_path: Path) -> None:
    project = adra.adra_project(tmp_path)
    assert preferences.sheets(preferences.report(project)) == ()
    project.close()


def test_letter_17_respects_are_counted_beside_the_overall_choice(project: Project) -> None:
    for place, (value, factuality) in enumerate(
        (("first", "first"), ("first", "second"), ("tie", "tie"), ("second", "tie"))
    ):
        prefer(project, place, value)
        prefer(project, place, factuality, "adra.preference.factuality")
    found = preferences.report(project, metric="plan.recall")
    assert found.respects["Factuality"] == {"same": 2, "other": 1, "tie": 1}
    sheet = next(one for one in preferences.sheets(found) if one.key == "respects")
    assert [cell.value for cell in sheet.lines[0].cells] == ["Factuality", 2, 1, 1, 4]


def test_letter_17_so_many_pairs_are_drawn_and_only_those_are_asked(project: Project) -> None:
    shape = PROTOCOLS[PREFERENCE]

    def asked() -> list[frozenset[str]]:
        found = materials.each(project, materials.for_asking(shape), materials.item_ids(project))
        cases = (case for one in found for material in one.responses for case in shape.cases(material))
        return [frozenset((case.response.id, case.unit.id)) for case in cases]

    assert len(set(asked())) == 4
    label_cases.draw_pairs(project, PREFERENCE, 2, 7)
    pairs = {frozenset(pair) for pair in label_cases.drawn(project, PREFERENCE)["pairs"]}
    assert (len(pairs), set(asked()), len(asked())) == (2, pairs, 4)
    again = label_cases.draw_pairs(project, PREFERENCE, 2, 7).after[PREFERENCE]["pairs"]
    assert {frozenset(pair) for pair in again} == pairs
    file = str(project.path)
    assert run_command(["labels", "pairs", file, "--draw", "0"]) == 0
    with closing(Project.open(project.path)) as opened:
        assert label_cases.drawn(opened, PREFERENCE) == {}
