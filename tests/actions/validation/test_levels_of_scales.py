"""Figures follow what values are to one another: ratings of 0 to 10 as an order and as numbers, page by page."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score

from annotator.actions.attacks import biases, consistency
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.validation import (
    disagreements,
    judge_choice,
    judge_comparing,
    stand_in,
    validation,
    validation_sheets,
    validation_views,
    validity_cards,
)
from annotator.domain.experts.person import Role
from annotator.domain.judges.level_figures import FIGURES
from annotator.domain.judges.scale import Level, numbers
from annotator.domain.texts.refusal import Refusal
from tests.projects.validation_project import COVERAGE, At, judge_says, places, rated, validation_project
from tests.promises.labelled_at_once import labelled_at_once
from tests.stats.intraclass import icc

ITEMS, CRITERIA = 12, 3
OF = validation.ValidationQuery()


def true(at: At) -> int:
    """What R2 says: from 1 to 9, by item and criterion."""
    return 1 + (at[0] * 5 + at[2] * 3) % 9


def near(at: At) -> str:
    return str(true(at) + (at[2] == 1))


def far(at: At) -> str:
    return str(10 - true(at))


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = validation_project(tmp_path, ITEMS, ("Alpha",), (1, 2, 3))
    yield project
    project.close()


@pytest.fixture(params=[Level.ORDINAL, Level.INTERVAL])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, project: Project) -> Level:
    """Two judges and two people, of whom R3 says one more on the second criterion."""
    rated(monkeypatch, numbers(0, 10, level=request.param))
    labelled_at_once(project, "R2", lambda at: str(true(at)))
    labelled_at_once(project, "R3", lambda at: str(true(at) + (at[2] == 2)))
    judge_says(project, "near", near)
    judge_says(project, "far", far)
    level: Level = request.param
    return level


def named(sheets: tuple[ResultSheet, ...], title: str) -> ResultSheet:
    return next(sheet for sheet in sheets if sheet.title == title)


def test_each_rater_has_the_figures_of_the_level(project: Project, level: Level) -> None:
    found = validation.report(project, replace(OF, against=("R2",)))
    expected = {"accuracy" if name == "agreement" else name for name in FIGURES[level]}
    for rater in ("near", "far", "people", "R3"):
        told = found.of(rater).told
        assert told.plain.keys() == expected
        # A perfect order has no interval of ρ.
        assert all(one.value == -1 or one.low is not None for one in told.plain.values())
        assert "kappa" not in told.plain
    truth, said = ([of(at) for at in places(project)] for of in (true, lambda at: int(near(at))))
    plain = found.of("near").told.plain
    if level is Level.ORDINAL:
        peer = cohen_kappa_score(truth, said, labels=range(11), weights="quadratic")
        assert plain["kappa_quadratic"].value == pytest.approx(peer)
        assert "quadratic weights" in plain["kappa_quadratic"].method
        assert plain["accuracy"].value == pytest.approx(2 / 3)
    else:
        assert plain["icc"].value == pytest.approx(icc([truth, said], "2,1"))
        assert plain["icc"].method.startswith("ICC(2,1)")
        # One above on one criterion of three.
        assert plain["mean_difference"].value == pytest.approx(1 / 3)
        assert plain["absolute_difference"].value == pytest.approx(1 / 3)
        # By weight that criterion is one of six.
        weighted = found.of("near").told.weighted
        assert weighted.keys() == {"kappa_quadratic", "absolute_difference", "mean_difference"}
        assert weighted["mean_difference"].value == pytest.approx(1 / 6)
    alpha = krippendorff.alpha([truth, said], level_of_measurement=level.value)
    assert plain["alpha"].value == pytest.approx(alpha)


def test_the_confusion_is_in_the_order_of_the_scale_or_left_out_with_a_reason(
    project: Project, level: Level
) -> None:
    found = validation.report(project, replace(OF, against=("R2",), judge="near"))
    titles = [sheet.title for sheet in validation_sheets.sheets(found)]
    if level is Level.INTERVAL:
        assert "Confusion" not in titles
        assert any("Confusion: No table: the scale has 11 values" in note for note in found.notes)
        return
    lines = named(validation_sheets.sheets(found), "Confusion").lines
    of_judge = [line for line in lines if line.cells[0].words == "near"]
    assert [line.cells[2].words for line in of_judge[::11]] == [str(value) for value in range(11)]
    assert [line.cells[3].words for line in of_judge[:11]] == [str(value) for value in range(11)]
    assert sum(line.cells[4].value for line in of_judge) == ITEMS * CRITERIA


def test_two_judges_differ_by_the_figures_of_the_level(project: Project, level: Level) -> None:
    found = validation.report(project, replace(OF, against=("R2",)))
    (contrast,) = found.contrasts
    assert (contrast.first.name, contrast.second.name) == ("far", "near")
    plain = contrast.gap.plain
    main = "kappa_quadratic" if level is Level.ORDINAL else "icc"
    values = [found.of(rater).told.plain[main].value for rater in ("far", "near")]
    assert plain[main].value == pytest.approx(values[0] - values[1])
    assert contrast.gap.verdict(main) == "the second is better"
    if level is Level.INTERVAL:
        # Less is better here, and of a lean neither is.
        assert plain["absolute_difference"].value > 0
        assert contrast.gap.verdict("absolute_difference") == "the second is better"
        assert "better" not in contrast.gap.verdict("mean_difference")
    else:
        assert plain["accuracy"].value == pytest.approx(
            found.of("far").told.plain["accuracy"].value - found.of("near").told.plain["accuracy"].value
        )
    whole, pairs, *_ = validation_sheets.brief(found)
    assert all(line.cells for line in whole.lines)
    assert pairs.columns[4].title.startswith("Difference of ")
    for sheet in validation_sheets.sheets(found):
        for picture in sheet.pictures:
            assert picture.draw() is not None


def test_a_judge_is_held_against_people_by_the_main_figure(project: Project, level: Level) -> None:
    main = "kappa_quadratic" if level is Level.ORDINAL else "icc"
    found = stand_in.report(project, stand_in.StandInQuery(OF))
    assert found.query.figure == main
    answers = {one.rater.name: one for one in found.answers}
    assert answers["far"].verdict is stand_in.StandInVerdict.NO
    assert answers["near"].difference.value == pytest.approx(
        answers["near"].judge.value - answers["near"].human.value
    )
    chosen = judge_choice.choose(project, judge_choice.JudgeChoiceQuery(OF, reference="best"))
    assert (chosen.query.figure, chosen.reference) == (main, "near")
    assert [sheet.title for sheet in judge_choice.sheets(chosen)] == ["Agreement against cost"]


@pytest.mark.parametrize("figure", ["kappa", "f1", "spearman", "mean_difference", "lower_limit"])
def test_a_figure_that_does_not_fit_is_refused_with_those_that_do(
    project: Project, level: Level, figure: str
) -> None:
    with pytest.raises(Refusal) as refused:
        stand_in.report(project, stand_in.StandInQuery(OF, figure))
    assert FIGURES[level][0] in refused.value.todo


def test_what_can_be_chosen_by_fits_the_level(project: Project, level: Level) -> None:
    offered = [one for one in validation_views._of_answers(project) if one.name == "figure"]
    of_protocol = [one for one in offered if one.only_if is None or COVERAGE in one.only_if[1]]
    assert [one.values[0][1] for one in of_protocol] == [FIGURES[level][0]]
    assert "alpha" in dict((name, words) for words, name in of_protocol[0].values)
    assert "mean_difference" not in dict((name, words) for words, name in of_protocol[0].values)


def test_closeness_of_ordered_values_is_how_far_off_they_are(project: Project, level: Level) -> None:
    people.add_person(project, "Rater R4", (Role.ANNOTATOR,))
    labelled_at_once(project, "R4", lambda at: str(max(0, true(at) - 1)))
    # Never equal to two of three, and never further off than a person is from the others.
    judge_says(project, "between", lambda at: str(true(at)))
    found = stand_in.report(project, stand_in.StandInQuery(OF))
    answer = next(one for one in found.answers if one.rater.name == "between")
    far_off = next(one for one in found.answers if one.rater.name == "far")
    assert (answer.alt.winning_rate.value, far_off.alt.winning_rate.value) == (1, 0)
    assert found.scoring == "neg_rmse"
    assert "root mean squared distance" in " ".join(stand_in.sheets(found)[0].told)


def test_a_card_tells_the_figures_of_the_level(project: Project, level: Level) -> None:
    card = validity_cards.card(project, validity_cards.CardQuery("near"))
    names = [one.name for one in card.definitions]
    assert set(FIGURES[level]) - {"agreement"} <= set(names)
    assert (card.of("judge").confusion == ()) is (level is Level.INTERVAL)
    assert validity_cards.brief(card).lines[0].cells[0].words in ("κ quadratic", "ICC")


def test_first_labels_and_rulings_have_them_too(project: Project, level: Level) -> None:
    ruled = {one.rater.name: one for one in disagreements.report(project, OF)}
    assert FIGURES[level][0] in ruled["near"].first.plain
    assert len(disagreements.sheets(list(ruled.values()))[0].lines) == 2 * len(FIGURES[level])


def test_judges_are_compared_with_one_another_and_with_people(project: Project, level: Level) -> None:
    compared = judge_comparing.compare(project, COVERAGE)
    for one in compared.pairings:
        assert [figure.name for figure in one.figures] == list(FIGURES[level])
    among = next(one for one in compared.pairings if one.a is one.b)
    if level is Level.INTERVAL:
        assert among.figure("icc").method.startswith("ICC(1,1)")
        # Which of two people stands first says nothing.
        assert among.figure("mean_difference").value == pytest.approx(0)
        low, high = (among.figure(f"{end}_limit").value for end in ("lower", "upper"))
        assert low == pytest.approx(-high)
        assert high > 0
    between = consistency.between(project, "near", "far")
    assert list(between.more) == [name for name in FIGURES[level] if name != "agreement"]
    assert between.tree().keys() >= {"agreement", *between.more}
    told = next(one for one in compared.pairings if {one.a.name, one.b.name} == {"near", "far"})
    main = FIGURES[level][0]
    assert told.figure(main).value == pytest.approx(between.more[main].value)


def test_a_bias_of_ordered_values_is_a_signed_mean_difference(project: Project, level: Level) -> None:
    told = {one.name: one for one in biases.report(project, judge="near")}
    # One above on a third of the units, and half of the labels beside it are one above on another third.
    assert told["Leans to higher values"].figure.value == pytest.approx(1 / 3 - 1 / 6)
    assert told["Leans to higher values"].figure.low is not None
    assert not any("people disagree" in name for name in told)
    assert COVERAGE in [value for one in biases.choices(project) for _, value in one.values]
