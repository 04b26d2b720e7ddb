"""Every protocol that people answer is validated, by the level of its scale."""

from dataclasses import replace
from pathlib import Path

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score
from sqlalchemy import insert

from annotator.actions.attacks import biases
from annotator.actions.judges import judges
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.sets import validation_figures
from annotator.actions.validation import disagreements, stand_in, validation, validation_views, validity_cards
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.protocol import FIGURES, PAIR, Level, numbers
from annotator.domain.texts.canonical import derived_id, now
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import JUDGEMENT
from tests.projects import pairs_project as pairs
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import ALL, CLAIMS, PAIRS, REASONING, one_item, submit_labels
from tests.projects.validation_project import (
    COVERAGE,
    At,
    judge_says as judge_rates,
    places as rated_places,
    rated,
    validation_project,
)
from tests.promises.labelled_at_once import labelled_at_once
from tests.stats.agreement_oracles import icc

FEW = 100


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = one_item(tmp_path, reports=3)
    judges.add(project, "small", base_url="http://127.0.0.1:1/v1", model="m")
    return project


def places(project: Project, protocol: str) -> list[validation_figures.UnitPlace]:
    return list(validation_figures.places(project, PROTOCOLS[protocol]).values())


def judge_says(
    project: Project, protocol: str, place: validation_figures.UnitPlace, value: str, *, turned: bool = False
) -> None:
    first, second = place.key[::-1] if turned else place.key
    with project.store.write() as db:
        db.execute(
            insert(JUDGEMENT).values(
                id=derived_id(first, second), protocol=protocol, item_id=place.item_id, response_id=first,
                unit_id=second, rater_kind="judge", rater_id=judges.named(project, "small").id, trial=1, at=now(),
                sha256="h", value=value, status="ok",
            )
        )  # fmt: skip


def person_says(project: Project, protocol: str, value: str) -> int:
    """The first value that may be said of every unit that the person working is asked about; how many there are."""
    said = 0
    for task in labels.queue(project, protocol):
        for group in labels.sheet(project, task.response_id, protocol, task.other_id).groups:
            for unit in group.units:
                labels.set_label(
                    project,
                    task.response_id,
                    unit.id,
                    value if value in group.values else group.values[0],
                    protocol=protocol,
                )
                said += 1
    submit_labels(project)
    return said


@pytest.mark.parametrize("protocol", ALL)
def test_every_protocol_is_validated(project: Project, protocol: str) -> None:
    definition = PROTOCOLS[protocol]
    asked = person_says(project, protocol, definition.values[0])
    for place in places(project, protocol):
        judge_says(project, protocol, place, definition.values[0])
    result = validation.report(project, ValidationQuery(protocol))
    line = result.of("small")
    assert line.units == asked == len(places(project, protocol))
    assert set(line.result.plain) >= {"accuracy", "kappa", "ac1"}
    assert bool(result.positive) == (len(definition.values) == 2)
    assert validation.sheets(result)


def test_more_than_two_values_have_agreement_and_a_named_positive_has_all(project: Project) -> None:
    """Two statements a report, three reports: people say true of all six; the judge errs once, and cannot tell once."""
    units = places(project, REASONING)
    person_says(project, REASONING, "true")
    for n, place in enumerate(units):
        judge_says(
            project,
            REASONING,
            place,
            "false" if n == 0 else PROTOCOLS[REASONING].values[2] if n == 1 else "true",
        )
    line = validation.report(project, ValidationQuery(REASONING)).of("small")
    assert (set(line.result.plain), set(line.result.weighted)) == ({"accuracy", "kappa", "ac1"}, {"accuracy"})
    assert line.result.plain["accuracy"].value == pytest.approx(1 - 2 / len(units))
    assert "one category" not in line.result.plain["accuracy"].note
    named = validation.report(project, ValidationQuery(REASONING, positive="true")).of("small")
    assert named.result.plain["recall"].value == pytest.approx(1 - 2 / len(units))
    assert named.result.confusion["true", "false"] == 1


def test_a_page_that_could_not_be_read_is_unknown_to_both(project: Project) -> None:
    person_says(project, CLAIMS, "yes")
    for place in places(project, CLAIMS):
        judge_says(project, CLAIMS, place, "yes")
    line = validation.report(project, ValidationQuery(CLAIMS)).of("small")
    # Of three claims one cites a page that is gone, of which people can only say that it is unknown.
    assert line.result.confusion == {("yes", "yes"): 2, ("unknown", "yes"): 1}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_pairs_are_compared_in_one_order(
    project: Project, monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]
) -> None:
    """People asked in the other order are turned, in whichever order the values stand: the better report stays it."""
    (first, second, _), protocol = PAIR.names, PROTOCOLS[PAIRS]
    scale = replace(PAIR, values=tuple(PAIR.values[place] for place in order))
    monkeypatch.setitem(PROTOCOLS, PAIRS, replace(protocol, scale=scale))
    asked = {(task.response_id, task.other_id) for task in labels.queue(project, PAIRS)}
    for response_id, other_id in asked:
        # Always the report whose id sorts first.
        labels.set_label(
            project, response_id, other_id, first if response_id < other_id else second, protocol=PAIRS
        )
    submit_labels(project)
    for place in places(project, PAIRS):
        judge_says(project, PAIRS, place, first)
        judge_says(project, PAIRS, place, first, turned=True)
    line = validation.report(project, ValidationQuery(PAIRS)).of("small")
    assert (line.units, line.result.confusion) == (3, {(first, first): 3})


def test_the_consensus_may_be_what_is_true(tmp_path: Path) -> None:
    """Two criteria, of which adjudication settled a yes and a no; the judge says yes of both."""
    project = pairs.settled_labels(tmp_path)
    judges.add(project, "small", base_url="http://127.0.0.1:1/v1", model="m")
    for place in places(project, USUAL):
        judge_says(project, USUAL, place, "yes")
    result = validation.report(project, ValidationQuery(against=("consensus",)))
    assert result.against == "consensus"
    told = result.of("small").result
    assert (told.plain["accuracy"].value, told.weighted["accuracy"].value) == (0.5, 0.75)
    assert any("flatters the people" in note for note in result.notes)


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
def scaled(tmp_path: Path) -> Project:
    return validation_project(tmp_path, ITEMS, ("Alpha",), (1, 2, 3))


@pytest.fixture(params=[Level.ORDINAL, Level.INTERVAL])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, scaled: Project) -> Level:
    """Two judges and two people, of whom R3 says one more on the second criterion."""
    rated(monkeypatch, numbers(0, 10, level=request.param))
    labelled_at_once(scaled, "R2", lambda at: str(true(at)))
    labelled_at_once(scaled, "R3", lambda at: str(true(at) + (at[2] == 2)))
    judge_rates(scaled, "near", near)
    judge_rates(scaled, "far", far)
    level: Level = request.param
    return level


def named(sheets: tuple[ResultSheet, ...], title: str) -> ResultSheet:
    return next(sheet for sheet in sheets if sheet.title == title)


def test_each_rater_has_the_figures_of_the_level(scaled: Project, level: Level) -> None:
    result = validation.report(scaled, replace(OF, against=("R2",)))
    expected = {"accuracy" if name == "agreement" else name for name in FIGURES[level]}
    for rater in ("near", "far", "people", "R3"):
        told = result.of(rater).result
        assert told.plain.keys() == expected
        # A perfect order has no interval of ρ.
        assert all(one.value == -1 or one.low is not None for one in told.plain.values())
        assert "kappa" not in told.plain
    truth, said = ([of(at) for at in rated_places(scaled)] for of in (true, lambda at: int(near(at))))
    plain = result.of("near").result.plain
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
        weighted = result.of("near").result.weighted
        assert weighted.keys() == {"kappa_quadratic", "absolute_difference", "mean_difference"}
        assert weighted["mean_difference"].value == pytest.approx(1 / 6)
    alpha = krippendorff.alpha([truth, said], level_of_measurement=level.value)
    assert plain["alpha"].value == pytest.approx(alpha)


def test_the_confusion_is_in_the_order_of_the_scale_or_left_out_with_a_reason(
    scaled: Project, level: Level
) -> None:
    card = validity_cards.card(scaled, validity_cards.CardQuery(judge="near"))
    assert set(FIGURES[level]) - {"agreement"} <= {definition.name for definition in card.definitions}
    assert (card.of("judge").confusion == ()) is (level is Level.INTERVAL)
    assert validity_cards.brief(card).lines[0].cells[0].words in ("κ quadratic", "ICC")
    result = validation.report(scaled, replace(OF, against=("R2",), judge="near"))
    titles = [sheet.title for sheet in validation.sheets(result)]
    if level is Level.INTERVAL:
        assert "Confusion" not in titles
        assert any("Confusion: No table: the scale has 11 values" in note for note in result.notes)
        return
    lines = named(validation.sheets(result), "Confusion").lines
    of_judge = [line for line in lines if line.cells[0].words == "near"]
    assert [line.cells[2].words for line in of_judge[::11]] == [str(value) for value in range(11)]
    assert [line.cells[3].words for line in of_judge[:11]] == [str(value) for value in range(11)]
    assert sum(line.cells[4].value for line in of_judge) == ITEMS * CRITERIA


def test_two_judges_differ_by_the_figures_of_the_level(scaled: Project, level: Level) -> None:
    result = validation.report(scaled, replace(OF, against=("R2",)))
    (contrast,) = result.contrasts
    assert (contrast.first.name, contrast.second.name) == ("far", "near")
    plain = contrast.gap.plain
    main = "kappa_quadratic" if level is Level.ORDINAL else "icc"
    values = [result.of(rater).result.plain[main].value for rater in ("far", "near")]
    assert plain[main].value == pytest.approx(values[0] - values[1])
    assert contrast.gap.verdict(main) == "the second is better"
    if level is Level.INTERVAL:
        # Less is better here, and of a lean neither is.
        assert plain["absolute_difference"].value > 0
        assert contrast.gap.verdict("absolute_difference") == "the second is better"
        assert "better" not in contrast.gap.verdict("mean_difference")
    else:
        assert plain["accuracy"].value == pytest.approx(
            result.of("far").result.plain["accuracy"].value - result.of("near").result.plain["accuracy"].value
        )
    whole, pairs, *_ = validation.brief(result)
    assert all(line.cells for line in whole.lines)
    assert pairs.columns[4].title.startswith("Difference of ")
    for sheet in validation.sheets(result):
        for picture in sheet.pictures:
            assert picture.draw() is not None


def test_judges_are_held_against_people_by_figures_that_fit_the_level(scaled: Project, level: Level) -> None:
    main = "kappa_quadratic" if level is Level.ORDINAL else "icc"
    result = stand_in.report(scaled, stand_in.StandInQuery(OF))
    assert result.query.figure == main
    answers = {answer.rater.name: answer for answer in result.answers}
    assert answers["far"].verdict is stand_in.StandInVerdict.NO
    assert answers["near"].difference.value == pytest.approx(
        answers["near"].judge.value - answers["near"].human.value
    )
    chosen = stand_in.choose(scaled, stand_in.JudgeChoiceQuery(OF, reference="best"))
    assert (chosen.query.figure, chosen.reference) == (main, "near")
    assert [sheet.title for sheet in stand_in.choice_sheets(chosen)] == ["Agreement against cost"]
    offered = [of_answer for of_answer in validation_views._of_answers(scaled) if of_answer.name == "figure"]
    of_protocol = [one for one in offered if one.only_if is None or COVERAGE in one.only_if[1]]
    assert [one.values[0][1] for one in of_protocol] == [FIGURES[level][0]]
    assert "alpha" in dict((name, words) for words, name in of_protocol[0].values)
    assert "mean_difference" not in dict((name, words) for words, name in of_protocol[0].values)
    ruled = {one.rater.name: one for one in disagreements.report(scaled, OF)}
    assert FIGURES[level][0] in ruled["near"].first.plain
    assert len(disagreements.sheets(list(ruled.values()))[0].lines) == 2 * len(FIGURES[level])
    told = {one.name: one for one in biases.report(scaled, judge="near")}
    # One above on a third of the units, and half of the labels beside it are one above on another third.
    assert told["Leans to higher values"].figure.value == pytest.approx(1 / 3 - 1 / 6)
    assert told["Leans to higher values"].figure.low is not None
    assert not any("people disagree" in name for name in told)
    assert COVERAGE in [value for one in biases.choices(scaled) for _, value in one.values]


def test_a_figure_that_does_not_fit_is_refused_with_those_that_do(scaled: Project, level: Level) -> None:
    for figure in ("kappa", "f1", "spearman", "mean_difference", "lower_limit"):
        refused = expect_refusal("", stand_in.report, scaled, stand_in.StandInQuery(OF, figure))
        assert FIGURES[level][0] in refused.todo, figure


def test_closeness_of_ordered_values_is_how_far_off_they_are(scaled: Project, level: Level) -> None:
    people.add_person(scaled, "Rater R4", (Role.ANNOTATOR,))
    labelled_at_once(scaled, "R4", lambda at: str(max(0, true(at) - 1)))
    # Never equal to two of three, and never further off than a person is from the others.
    judge_rates(scaled, "between", lambda at: str(true(at)))
    result = stand_in.report(scaled, stand_in.StandInQuery(OF))
    answer = next(one for one in result.answers if one.rater.name == "between")
    far_off = next(one for one in result.answers if one.rater.name == "far")
    assert (answer.alt.winning_rate.value, far_off.alt.winning_rate.value) == (1, 0)
    assert result.scoring == "neg_rmse"
    assert "root mean squared distance" in " ".join(stand_in.sheets(result)[0].notes)


def test_judges_are_compared_with_one_another_and_with_people(scaled: Project, level: Level) -> None:
    compared = disagreements.compare(scaled, COVERAGE)
    for pairing in compared.pairings:
        assert [figure.name for figure in pairing.figures] == list(FIGURES[level])
    among = next(pairing for pairing in compared.pairings if pairing.a is pairing.b)
    if level is Level.INTERVAL:
        assert among.figure("icc").method.startswith("ICC(1,1)")
        # Which of two people stands first says nothing.
        assert among.figure("mean_difference").value == pytest.approx(0)
        low, high = (among.figure(f"{end}_limit").value for end in ("lower", "upper"))
        assert low == pytest.approx(-high)
        assert high > 0
    between = biases.between(scaled, "near", "far")
    assert list(between.more) == [name for name in FIGURES[level] if name != "agreement"]
    assert between.tree().keys() >= {"agreement", *between.more}
    told = next(
        pairing for pairing in compared.pairings if {pairing.a.name, pairing.b.name} == {"near", "far"}
    )
    main = FIGURES[level][0]
    assert told.figure(main).value == pytest.approx(between.more[main].value)
