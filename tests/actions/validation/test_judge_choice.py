"""The choice of a judge, judges compared, and whether one may stand in for people: by hand.

Every protocol that people answer is validated, by the level of its scale. Validity cards: the judge as it judged, where
the labels come from, every figure with its ceiling, and no secret."""

from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from random import Random

import krippendorff
import pytest
from sqlalchemy import insert, update

from annotator.actions.attacks import biases
from annotator.actions.judges import judges, prompts
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_sheets, results
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.sets import reviews, validation_figures, validation_sets
from annotator.actions.validation import disagreements, stand_in, validation, validation_views, validity_cards
from annotator.actions.validation.stand_in import JudgeChoiceQuery, StandInQuery, StandInVerdict
from annotator.domain.common import derived_id, now
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Review
from annotator.domain.judges.protocol import FIGURES, PAIR, Level, numbers
from annotator.domain.judges.validation import Figure, Reach
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import CALL, JUDGEMENT
from tests.common import expect_refusal, fixture_of, once
from tests.judging.odd_server import OddServer
from tests.projects import pairs_project as pairs
from tests.projects.small_projects import ALL, CLAIMS, PAIRS, REASONING, one_item, submit_labels
from tests.projects.validation_project import (
    COVERAGE,
    At,
    ann,
    judge_says,
    labelled_at_once,
    noisy,
    person,
    person_says,
    places as unit_places,
    rated,
    strict,
    validation_project,
)
from tests.servers.served import (
    JUDGE,
    MODEL,
    PLANTED,
    PLANTED_KEY as KEY,
    attacked,
    card_of,
    carded_project,
    judged,
    label,
    places,
    say,
    submit,
    two_judges,
)
from tests.storage import sql


def missing_two(at: At) -> str:
    return "no" if at in ((1, "Alpha", 2), (2, "Alpha", 2)) else ann(at)


def price(project: Project, judge: str, cost: float | None) -> None:
    judge_id = judges.named(project, judge).id
    mine = JUDGEMENT.c.rater_id == judge_id
    with project.store.write() as db:
        for place, row in enumerate(db.execute(JUDGEMENT.select().where(mine)).all()):
            call = {
                "id": f"{judge}-{place}",
                "cache_key": f"{judge}-{place}",
                "judge_id": judge_id,
                "status": "ok",
                "tokens_output": 9,
            }
            db.execute(insert(CALL).values(**call, cost_usd=cost, at=now(), sha256="h"))
            db.execute(update(JUDGEMENT).where(JUDGEMENT.c.id == row.id).values(call_id=call["id"]))


@once
def priced_project(folder: Path) -> Project:
    """“dear” errs nowhere, “fair” on two of sixteen, “cheap” on the whole of Alpha's."""
    project = validation_project(folder)
    person_says(project, "R2", ann)
    for name, says, cost in (
        ("dear", ann, 0.25),
        ("fair", missing_two, 0.02),
        ("cheap", lambda _: "no", 0.001),
    ):
        judge_says(project, name, says)
        price(project, name, cost)
    return project


PROJECT = priced_project


def choose(project: Project, **more: object) -> stand_in.JudgeChoice:
    return stand_in.choose(
        project,
        replace(
            JudgeChoiceQuery(
                validation.ValidationQuery(against=("R2",)), figure="accuracy", reference="best"
            ),
            **more,
        ),
    )


def test_the_cheapest_that_fits_is_chosen_and_its_cost_counted(project: Project, small_cases: None) -> None:
    # “fair” is right on 2 of 4 units less on items 1 and 2: by item 3/4, 3/4, 1, 1, so .36 below at the worst of 95 %.
    wide = choose(project, delta=0.4)
    assert (wide.reference, wide.chosen and wide.chosen.name) == ("dear", "fair")
    assert wide.reason[0].startswith("“fair” is the cheapest judge, at 0.080")
    assert "“cheap” is not chosen: it may be 0.500 worse." in wide.reason
    narrow = choose(project, delta=0.1)
    assert narrow.chosen is None
    assert "“dear” is the best choice among judges; this says nothing about people." in narrow.reason[0]
    assert any(line.startswith("“fair” is not chosen: it may be 0.3") for line in narrow.reason)
    result = {offer.rater.name: offer for offer in choose(project).offers}
    # Four judgements a question.
    assert {name: one.cost.value for name, one in result.items()} == {
        "dear": pytest.approx(1.0), "fair": pytest.approx(0.08), "cheap": pytest.approx(0.004),
    }  # fmt: skip
    assert result["fair"].agreement.value == pytest.approx(14 / 16)
    assert result["fair"].difference.value == pytest.approx(-2 / 16)
    assert {name for name, one in result.items() if one.on_front} == {"fair", "cheap"}
    # Four items that are all right bound less from below than four of which two are half right: 4 of 4 units.
    assert result["dear"].agreement.low == pytest.approx(4 / (4 + 3.18245**2), abs=1e-5)
    judge_says(project, "beaten", lambda _: "no")
    price(project, "beaten", 0.01)
    assert not next(offer for offer in choose(project).offers if offer.rater.name == "beaten").on_front


def test_a_judge_is_never_chosen_against_itself(project: Project) -> None:
    (dear,) = (
        offer for offer in choose(project, delta=1.0, reference="dear").offers if offer.rater.name == "dear"
    )
    assert (dear.fits, dear.difference.value, dear.why_not) == (False, None, "it is the reference")
    alone = choose(project, of=validation.ValidationQuery(judge="dear", against=("R2",)), reference="dear")
    assert alone.chosen is None
    assert alone.reason == (
        "“dear” is the only judge here and cannot be compared with itself. Compare it with people, or run "
        "another judge on the same reports.",
    )
    for more, words in (
        ({"figure": "beauty"}, "cannot be chosen by"), ({"delta": -1.0}, "not be negative"),
        ({"reference": "nobody"}, "has no judgements"),
    ):  # fmt: skip
        expect_refusal(words, choose, project, **more)
    result = stand_in.choose(project, JudgeChoiceQuery(validation.ValidationQuery()))
    assert result.chosen is None
    assert {offer.answer and offer.answer.verdict for offer in result.offers} == {"Not yet known"}
    assert any("Have a second person label some of the same reports" in words for words in result.reason)


def test_people_are_the_reference_unless_another_is_named(tmp_path: Path) -> None:
    project = validation_project(tmp_path, 30, ("Alpha",), (1, 1, 1))
    for alias, seed in (("R2", 1), ("R3", 2)):
        labelled_at_once(project, alias, noisy(project, 0.1, seed))
    for name, errs, cost in (("dear", 0.01, 0.25), ("fair", 0.1, 0.02)):
        judge_says(project, name, noisy(project, errs, 9))
        price(project, name, cost)
    result = stand_in.choose(project, JudgeChoiceQuery(validation.ValidationQuery()))
    assert result.reference == "people"
    # “dear” errs less than people; “fair” is cheaper, errs as they do, and 30 items do not show that.
    assert (result.chosen and result.chosen.name) == "dear"
    assert result.reason[0].startswith(
        "“dear” is the cheapest judge, at 0.750 USD a question, that may stand in for"
    )
    assert result.reason[1].startswith("“dear”: Yes, because Δ Cohen's κ")
    assert result.reason[2].startswith("“fair” is not chosen: Not yet known, because")


def test_a_judge_of_unknown_cost_or_of_which_too_much_is_missing_is_not_chosen(
    project: Project, small_cases: None
) -> None:
    judge_says(project, "secret", ann)
    price(project, "secret", None)
    result = choose(project, delta=0.1)
    assert result.chosen is None
    assert "“secret” is not chosen: its cost is not known." in result.reason
    judge_says(project, "gappy", lambda at: "-" if at[0] == 1 else ann(at))
    price(project, "gappy", 0.001)
    (gappy,) = (offer for offer in choose(project).offers if offer.rater.name == "gappy")
    assert gappy.why_not == "25.0 % of its judgements are missing, more than 5.0 %"
    results.set_limit(project, 0.3)
    assert (choose(project).chosen or gappy.rater).name == "gappy"


def test_people_may_be_the_reference_and_are_the_band(project: Project, small_cases: None) -> None:
    # Ben differs from Ann on eight of sixteen: people agree on a half, and four items say too little of judges.
    person_says(project, "R3", lambda at: "no" if ann(at) == "yes" else "yes" if at[0] < 1 else "no")
    result = choose(project, reference="people")
    assert (result.human and result.human.value) == pytest.approx(0.5)
    assert (result.chosen, result.offers[0].answer and result.offers[0].answer.verdict) == (
        None,
        "Not yet known",
    )
    (sheet,) = stand_in.choice_sheets(result)
    assert [line.cells[0].words for line in sheet.lines] == ["cheap", "dear", "fair", "people"]


two = fixture_of(two_judges)


def pairing(two: Project, a: str, b: str, **how: bool) -> disagreements.RaterPair:
    return next(
        one
        for one in disagreements.compare(two, COVERAGE, **how).pairings
        if (one.a.name, one.b.name) == (a, b)
    )


def as_another(two: Project, name: str, role: Role) -> None:
    two.work_as(people.known(two, people.add_person(two, name, (role,)).subject))


def test_judges_are_compared_where_both_judged(two: Project) -> None:
    say(two, "a", "yyynn-")
    say(two, "b", "yynnyy")
    result = pairing(two, "a", "b")
    assert (result.units, result.pairs) == (5, 5)
    # Same on units 1, 2 and 4. Chance by the shares of yes, 3/5 and 3/5: 9/25 + 4/25 = 13/25.
    assert result.figure("agreement").value == pytest.approx(3 / 5)
    assert result.figure("kappa").value == pytest.approx((3 / 5 - 13 / 25) / (12 / 25))
    as_another(two, "Ada", Role.ANNOTATOR)
    expect_refusal("Only a coordinator", disagreements.compare, two, COVERAGE)
    expect_refusal("Only a coordinator", disagreements.differing, two, COVERAGE, "x", "y")


def test_people_count_once_they_have_submitted_and_are_held_against_one_another(two: Project) -> None:
    say(two, "a", "yyynnn")
    label(two, "yyynny")
    assert [rater.name for rater in disagreements.raters(two, COVERAGE)] == ["a"]
    submit(two)
    assert [rater.name for rater in disagreements.raters(two, COVERAGE)] == ["a", "people"]
    assert pairing(two, "a", "people").figure("agreement").value == pytest.approx(5 / 6)
    as_another(two, "Ada", Role.ANNOTATOR)
    label(two, "yyynyy")
    submit(two)
    two.work_as(people.people(two)[0])
    with_people, among = pairing(two, "a", "people"), pairing(two, "people", "people")
    # Five of six with the one, four of six with the other.
    assert (with_people.units, with_people.pairs) == (6, 12)
    assert with_people.figure("agreement").value == pytest.approx(9 / 12)
    # They differ on one of the six; of Beta's six they say the same.
    assert (among.units, among.figure("agreement").value) == (12, pytest.approx(11 / 12))


def test_on_shared_units_only_what_all_judged_is_counted(two: Project) -> None:
    judges.add(two, "c", base_url="http://127.0.0.1:1/v1", model="m")
    for name, values in (("a", "yyyyyy"), ("b", "yynnnn"), ("c", "yyn---")):
        say(two, name, values)
    result = disagreements.compare(two, COVERAGE, shared=True)
    assert (result.shared, {one.units for one in result.pairings}) == (3, {3})
    assert pairing(two, "a", "b", shared=True).figure("agreement").value == pytest.approx(2 / 3)


def test_what_two_raters_differ_on_is_listed_with_their_grounds(two: Project) -> None:
    say(two, "a", "yyyyyy", rationale="It says so.")
    say(two, "b", "yynyyy", rationale="Nothing on it.")
    ids = [judges.named(two, name).id for name in ("a", "b")]
    (result,) = disagreements.differing(two, COVERAGE, *ids).rows
    assert (result.item_key, result.system, result.unit) == ("1", "Alpha", "Names one dataset")
    assert (result.value_a, result.why_a, result.value_b, result.why_b) == (
        "yes", "It says so.", "no", "Nothing on it.",
    )  # fmt: skip
    _, response, unit = places(two)[2]
    assert (result.id_a, result.id_b) == tuple(derived_id(name, 1, response, unit) for name in ("a", "b"))


thirty = fixture_of(validation_project, 30, ("Alpha",), (1, 1, 1))


def labelled(thirty: Project, persons: int) -> None:
    for number in range(persons):
        alias = f"R{number + 2}"
        if number > 1:
            people.add_person(thirty, f"Rater {alias}", (Role.ANNOTATOR,))
        labelled_at_once(thirty, alias, noisy(thirty, 0.1, number + 1))


@once
def labelled_thirty(folder: Path, persons: int) -> Project:
    thirty = validation_project(folder, 30, ("Alpha",), (1, 1, 1))
    labelled(thirty, persons)
    return thirty


by_two = fixture_of(labelled_thirty, 2)
by_three = fixture_of(labelled_thirty, 3)


def answer(thirty: Project, **more: object) -> stand_in.StandInAnswer:
    (result,) = stand_in.report(thirty, replace(StandInQuery(validation.ValidationQuery()), **more)).answers
    return result


def test_a_judge_better_than_people_may_stand_in_by_both_tests(by_three: Project) -> None:
    judge_says(by_three, "good", noisy(by_three, 0.01, 9))
    result = answer(by_three)
    assert (result.verdict, result.people, result.items) == (StandInVerdict.YES, 3, 30)
    assert "stays above −0.05, so it is not worse than people with one another" in result.because
    alternative = "the alternative annotator test is passed: ω 1.00 of 3 people, at least 0.5; ρ 0.9"
    assert alternative in result.because
    assert result.difference.value == pytest.approx((result.judge.value or 0) - (result.human.value or 0))
    _, persons = stand_in.sheets(stand_in.report(by_three, StandInQuery(validation.ValidationQuery())))
    assert [line.cells[1].words for line in persons.lines] == ["R2", "R3", "R4"]
    for wish, words in (
        ({"delta": -0.1}, "not be negative"),
        ({"epsilon": -0.1}, "not be negative"),
        ({"figure": "beauty"}, "cannot be chosen by"),
        ({"least": -0.1}, "least agreement"),
    ):
        expect_refusal(words, answer, by_three, **wish)


VERDICTS = {
    "a coin may not": (
        3, 0.5, {}, StandInVerdict.NO, False,
        ("stays below −0.05, so it is worse than people with one another", "(n = 270, 30 items, p 0.000)",
         "test is not passed: ω 0.00 of 3 people, below 0.5"),
    ),
    "few labels leave it open": (
        3, 0.1, {}, StandInVerdict.UNKNOWN, ...,
        ("reaches to both sides of −0.05", "Have more items labelled, each by two people or more."),
    ),
    "a margin that allows as much": (3, 0.1, {"delta": 0.5}, StandInVerdict.YES, ..., ()),
    "two people are too few for the test alone": (
        2, 0.01, {}, StandInVerdict.YES, None,
        ("the alternative annotator test takes 3 people, and 2 people labelled",),
    ),
    "one person leaves nothing to say": (
        1, 0.01, {}, StandInVerdict.UNKNOWN, ...,
        ("only one person labelled", "Have a second person label some of the same reports."),
    ),
    "a failed test within the margin leaves it open": (
        3, 0.3, {"delta": 0.9, "epsilon": 0.0}, StandInVerdict.UNKNOWN, False, ()
    ),
    "the least agreement is passed": (2, 0.01, {"least": 0.5}, StandInVerdict.YES, ..., ()),
    "the least agreement is not shown": (
        2, 0.01, {"least": 0.9}, StandInVerdict.UNKNOWN, ...,
        ("its own agreement beyond chance is not shown to be above 0.9",),
    ),
}  # fmt: skip


@pytest.mark.parametrize(
    ("persons", "errs", "more", "verdict", "passed", "because"), VERDICTS.values(), ids=VERDICTS
)
def test_a_verdict_says_what_it_rests_on(
    tmp_path: Path, persons: int, errs: float, more: dict[str, float], verdict: StandInVerdict,
    passed: object, because: tuple[str, ...],
) -> None:  # fmt: skip
    thirty = labelled_thirty(tmp_path, persons)
    judge_says(thirty, "judge", noisy(thirty, errs, 9))
    result = answer(thirty, **more)
    assert result.verdict is verdict
    assert not [words for words in because if words not in result.because]
    assert passed in (..., result.alt and result.alt.passed)
    assert (result.difference.value is None) == (persons == 1)


def test_a_judge_of_which_too_much_is_missing_is_not_yet_known(by_three: Project) -> None:
    says = noisy(by_three, 0.01, 9)
    judge_says(by_three, "gappy", lambda at: "-" if at[0] < 4 else says(at))
    result = answer(by_three)
    assert result.verdict is StandInVerdict.UNKNOWN
    assert result.because.startswith("10.0 % of its judgements are missing")
    results.set_limit(by_three, 0.2)
    assert answer(by_three).verdict is StandInVerdict.YES


def test_judge_and_people_are_held_against_people_on_the_same_units(thirty: Project) -> None:
    labelled_at_once(thirty, "R2", lambda _: "yes")
    labelled_at_once(
        thirty,
        "R3",
        lambda at: "yes" if at[2] < 3 else "no",
        [at for at in unit_places(thirty) if at[0] < 11],
    )
    judge_says(thirty, "some", lambda at: ("yes" if at[2] == 1 else "no") if at[0] < 6 else "")
    result = answer(thirty, figure="accuracy")
    # Items 1 to 5: R2 says 3 yes, R3 2, the judge 1. It agrees with R2 on 1 of 3, with R3 on 2 of 3.
    assert (result.items, result.judge.value, result.human.value) == (
        5,
        pytest.approx(1 / 2),
        pytest.approx(2 / 3),
    )


def test_a_unit_of_three_people_weighs_no_more_among_people_than_beside_the_judge(thirty: Project) -> None:
    people.add_person(thirty, "Cleo", (Role.ANNOTATOR,))
    where = list(unit_places(thirty))
    labelled_at_once(thirty, "R2", lambda _: "yes", where[:9])
    labelled_at_once(thirty, "R3", lambda at: "yes" if at[0] == 1 else "no", where[:9])
    labelled_at_once(thirty, "R4", lambda _: "yes", where[:3])
    judge_says(thirty, "kind", lambda _: "yes")
    result = answer(thirty, figure="accuracy")
    # Item 1: nine pairs with the judge, all alike. Items 2 and 3: twelve, half of them; of people nine, and none of 12.
    assert (result.judge.value, result.human.value) == (pytest.approx((9 + 6) / 21), pytest.approx(9 / 21))


def test_a_yes_by_itself_is_none_among_ten_judges(by_two: Project) -> None:
    judge_says(by_two, "j0", noisy(by_two, 0.1, 20))
    # The margin at which chance would say Yes to a judge that is so much worse once in sixty times.
    low, high = 0.0, 1.0
    for _ in range(30):
        margin = (low + high) / 2
        p = answer(by_two, delta=margin).p or 0.0
        low, high = (margin, high) if p > 1 / 60 else (low, margin)
    assert answer(by_two, delta=high).verdict is StandInVerdict.YES
    for number in range(1, 10):
        judge_says(by_two, f"j{number}", noisy(by_two, 0.5, number + 20))
    query = StandInQuery(validation.ValidationQuery(), delta=high)
    best = next(one for one in stand_in.report(by_two, query).answers if one.rater.name == "j0")
    assert (best.verdict, best.p) == (StandInVerdict.UNKNOWN, pytest.approx(10 / 60, abs=1e-6))
    assert "by itself, which may be chance" in best.because
    assert "p 0.167, of 10 judges" in best.because
    # Asked about alone, it stands among the same ten.
    (alone,) = stand_in.report(by_two, replace(query, of=validation.ValidationQuery(judge="j0"))).answers
    assert replace(alone, query=best.query) == best


def test_looks_at_a_test_part_count_as_judges_do(by_two: Project) -> None:
    judge_says(by_two, "j0", noisy(by_two, 0.1, 20))
    result = validation.ground_of(by_two, validation.ValidationQuery())
    once, thrice = (
        stand_in.decided(result, StandInQuery(delta=0.3), looks=looks).answers[0] for looks in (1, 3)
    )
    assert once.p is not None
    assert (thrice.p, "of 3 looks" in thrice.because) == (pytest.approx(min(1.0, 3 * once.p)), True)


def test_nothing_follows_from_few_items_or_from_no_spread(tmp_path: Path) -> None:
    thirty = validation_project(tmp_path, 9, ("Alpha",), (1, 1, 1))
    labelled(thirty, 2)
    judge_says(thirty, "perfect", noisy(thirty, 0.0, 1))
    result = answer(thirty, delta=0.9)
    assert (result.verdict, "says too little (" in result.because) == (StandInVerdict.UNKNOWN, True)
    assert "items only: the interval is rough)" in result.because


def test_a_judge_that_says_yes_to_everything_is_not_taken_for_one_that_agrees(thirty: Project) -> None:
    for alias, chance in zip(("R2", "R3"), (Random(3), Random(4)), strict=True):
        labelled_at_once(thirty, alias, lambda _, chance=chance: "no" if chance.random() < 0.03 else "yes")
    judge_says(thirty, "kind", lambda _: "yes")
    for figure in ("kappa", "ac1", "accuracy", "f1"):
        result = answer(thirty, figure=figure, delta=0.2)
        assert result.verdict is StandInVerdict.UNKNOWN, figure
    assert "people are no reference" in result.because
    (remark,) = result.remarks
    assert remark.endswith("% of people's labels are “yes”: agreement beyond chance rests on the few others.")


def test_a_judge_that_copies_one_person_is_remarked(thirty: Project) -> None:
    for number, alias in enumerate(("R2", "R3")):
        labelled_at_once(thirty, alias, noisy(thirty, 0.2, number + 1))
    judge_says(thirty, "honest", noisy(thirty, 0.05, 9))
    judge_says(thirty, "copy", noisy(thirty, 0.2, 1))
    result = {one.rater.name: one.remarks for one in stand_in.report(thirty, StandInQuery()).answers}
    assert result["honest"] == ()
    (remark,) = result["copy"]
    assert remark.startswith("It agrees with R2 (1.000")
    assert "copied from" in remark


@pytest.fixture
def asked(tmp_path: Path) -> Project:
    asked = one_item(tmp_path, reports=3)
    judges.add(asked, "small", base_url="http://127.0.0.1:1/v1", model="m")
    return asked


def places_under(asked: Project, protocol: str) -> list[validation_figures.UnitPlace]:
    return list(validation_figures.places(asked, PROTOCOLS[protocol]).values())


def judge_says_of(
    asked: Project, protocol: str, place: validation_figures.UnitPlace, value: str, *, turned: bool = False
) -> None:
    first, second = place.key[::-1] if turned else place.key
    with asked.store.write() as db:
        db.execute(
            insert(JUDGEMENT).values(
                id=derived_id(first, second), protocol=protocol, item_id=place.item_id, response_id=first,
                unit_id=second, rater_kind="judge", rater_id=judges.named(asked, "small").id, trial=1, at=now(),
                sha256="h", value=value, status="ok",
            )
        )  # fmt: skip


def person_says_all(asked: Project, protocol: str, value: str) -> int:
    said = 0
    for task in labels.queue(asked, protocol):
        for group in labels.sheet(asked, task.response_id, protocol, task.other_id).groups:
            for unit in group.units:
                labels.set_label(
                    asked,
                    task.response_id,
                    unit.id,
                    value if value in group.values else group.values[0],
                    protocol=protocol,
                )
                said += 1
    submit_labels(asked)
    return said


@pytest.mark.parametrize("protocol", ALL)
def test_every_protocol_is_validated(asked: Project, protocol: str) -> None:
    definition = PROTOCOLS[protocol]
    number = person_says_all(asked, protocol, definition.values[0])
    for place in places_under(asked, protocol):
        judge_says_of(asked, protocol, place, definition.values[0])
    result = validation.report(asked, validation.ValidationQuery(protocol))
    line = result.of("small")
    assert line.units == number == len(places_under(asked, protocol))
    assert set(line.result.plain) >= {"accuracy", "kappa", "ac1"}
    assert bool(result.positive) == (len(definition.values) == 2)
    assert validation.sheets(result)


def test_more_than_two_values_have_agreement_and_a_named_positive_has_all(asked: Project) -> None:
    """Two statements a report, three reports: people say true of all six; the judge errs once, and cannot tell once."""
    units = places_under(asked, REASONING)
    person_says_all(asked, REASONING, "true")
    for n, place in enumerate(units):
        judge_says_of(
            asked,
            REASONING,
            place,
            "false" if n == 0 else PROTOCOLS[REASONING].values[2] if n == 1 else "true",
        )
    line = validation.report(asked, validation.ValidationQuery(REASONING)).of("small")
    assert (set(line.result.plain), set(line.result.weighted)) == ({"accuracy", "kappa", "ac1"}, {"accuracy"})
    assert line.result.plain["accuracy"].value == pytest.approx(1 - 2 / len(units))
    assert "one category" not in line.result.plain["accuracy"].note
    named = validation.report(asked, validation.ValidationQuery(REASONING, positive="true")).of("small")
    assert named.result.plain["recall"].value == pytest.approx(1 - 2 / len(units))
    assert named.result.confusion["true", "false"] == 1


def test_a_page_that_could_not_be_read_is_unknown_to_both(asked: Project) -> None:
    person_says_all(asked, CLAIMS, "yes")
    for place in places_under(asked, CLAIMS):
        judge_says_of(asked, CLAIMS, place, "yes")
    line = validation.report(asked, validation.ValidationQuery(CLAIMS)).of("small")
    # Of three claims one cites a page that is gone, of which people can only say that it is unknown.
    assert line.result.confusion == {("yes", "yes"): 2, ("unknown", "yes"): 1}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_pairs_are_compared_in_one_order(
    asked: Project, monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]
) -> None:
    """People asked in the other order are turned, in whichever order the values stand: the better report stays it."""
    (first, second, _), protocol = PAIR.names, PROTOCOLS[PAIRS]
    monkeypatch.setitem(
        PROTOCOLS,
        PAIRS,
        replace(protocol, scale=replace(PAIR, values=tuple(PAIR.values[place] for place in order))),
    )
    for response_id, other_id in [(task.response_id, task.other_id) for task in labels.queue(asked, PAIRS)]:
        # Always the report whose id sorts first.
        labels.set_label(
            asked, response_id, other_id, first if response_id < other_id else second, protocol=PAIRS
        )
    submit_labels(asked)
    for place in places_under(asked, PAIRS):
        judge_says_of(asked, PAIRS, place, first)
        judge_says_of(asked, PAIRS, place, first, turned=True)
    line = validation.report(asked, validation.ValidationQuery(PAIRS)).of("small")
    assert (line.units, line.result.confusion) == (3, {(first, first): 3})


def test_the_consensus_may_be_what_is_true(tmp_path: Path) -> None:
    """Two criteria, of which adjudication settled a yes and a no; the judge says yes of both."""
    asked = pairs.settled_labels(tmp_path)
    judges.add(asked, "small", base_url="http://127.0.0.1:1/v1", model="m")
    for place in places_under(asked, USUAL):
        judge_says_of(asked, USUAL, place, "yes")
    result = validation.report(asked, validation.ValidationQuery(against=("consensus",)))
    assert result.against == "consensus"
    told = result.of("small").result
    assert (told.plain["accuracy"].value, told.weighted["accuracy"].value) == (0.5, 0.75)
    assert any("flatters the people" in note for note in result.notes)


ITEMS, CRITERIA = 12, 3
OF = validation.ValidationQuery()


def true(at: At) -> int:
    return 1 + (at[0] * 5 + at[2] * 3) % 9


def near(at: At) -> str:
    return str(true(at) + (at[2] == 1))


scaled = fixture_of(validation_project, ITEMS, ("Alpha",), (1, 2, 3))


@pytest.fixture(params=[Level.ORDINAL, Level.INTERVAL])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, scaled: Project) -> Level:
    """Two judges and two people, of whom R3 says one more on the second criterion."""
    rated(monkeypatch, numbers(0, 10, level=request.param))
    labelled_at_once(scaled, "R2", lambda at: str(true(at)))
    labelled_at_once(scaled, "R3", lambda at: str(true(at) + (at[2] == 2)))
    judge_says(scaled, "near", near)
    judge_says(scaled, "far", lambda at: str(10 - true(at)))
    level: Level = request.param
    return level


def named(sheets: tuple[result_sheets.ResultSheet, ...], title: str) -> result_sheets.ResultSheet:
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
    truth, said = ([of(at) for at in unit_places(scaled)] for of in (true, lambda at: int(near(at))))
    alpha = krippendorff.alpha([truth, said], level_of_measurement=level.value)
    assert result.of("near").result.plain["alpha"].value == pytest.approx(alpha)
    if level is Level.INTERVAL:
        weighted = result.of("near").result.weighted
        assert weighted.keys() == {"kappa_quadratic", "absolute_difference", "mean_difference"}
        # One above on one criterion of three, which by weight is one of six.
        assert weighted["mean_difference"].value == pytest.approx(1 / 6)


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
    of_judge = [
        line for line in named(validation.sheets(result), "Confusion").lines if line.cells[0].words == "near"
    ]
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
    assert validation.brief(result)[1].columns[4].title.startswith("Difference of ")
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
    offered = [of_answer for of_answer in validation_views._of_answers(scaled) if of_answer.name == "figure"]
    (own,) = (one for one in offered if one.only_if is None or COVERAGE in one.only_if[1])
    names = [name for _, name in own.values]
    assert (names[0], "alpha" in names, "mean_difference" in names) == (FIGURES[level][0], True, False)
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
        assert (
            FIGURES[level][0]
            in expect_refusal("", stand_in.report, scaled, stand_in.StandInQuery(OF, figure)).todo
        ), figure


def test_closeness_of_ordered_values_is_how_far_off_they_are(scaled: Project, level: Level) -> None:
    people.add_person(scaled, "Rater R4", (Role.ANNOTATOR,))
    labelled_at_once(scaled, "R4", lambda at: str(max(0, true(at) - 1)))
    # Never equal to two of three, and never further off than a person is from the others.
    judge_says(scaled, "between", lambda at: str(true(at)))
    result = stand_in.report(scaled, stand_in.StandInQuery(OF))
    answer = next(one for one in result.answers if one.rater.name == "between")
    assert (
        answer.alt.winning_rate.value,
        next(one for one in result.answers if one.rater.name == "far").alt.winning_rate.value,
    ) == (1, 0)
    assert any("root mean squared distance" in note for note in stand_in.sheets(result)[0].notes)


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
    assert {*FIGURES[level], "agreement", "over_runs", "spread"} == between.figures.keys()
    assert between.tree().keys() >= between.figures.keys()
    told = next(
        pairing for pairing in compared.pairings if {pairing.a.name, pairing.b.name} == {"near", "far"}
    )
    main = FIGURES[level][0]
    assert told.figure(main).value == pytest.approx(between.figures[main].value)


@once
def labelled_units(tmp_path: Path) -> Project:
    """Sixteen units; Ann says yes of Alpha, Ben too but for one, the judge misses Alpha's light criteria."""
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    person_says(project, "R3", lambda at: "no" if at == (1, "Alpha", 2) else ann(at))
    judge_says(project, "small", strict)
    return project


sixteen = fixture_of(labelled_units)


def test_a_card_says_what_the_judge_was_when_it_judged(tmp_path: Path, server: OddServer) -> None:
    project = carded_project(tmp_path, server, parameters='{"temperature": 0}')
    card = card_of(project)
    judge = card.judge
    assert (card.name, judge.kind, judge.model, judge.parameters) == (
        JUDGE,
        "endpoint",
        "test-model",
        {"temperature": 0},
    )
    assert (judge.protocol, judge.values, judge.weighting) == (COVERAGE, ("yes", "no"), "by weight")
    assert (judge.together, judge.weights_shown, judge.forms) == (1, False, ("json_schema",))
    assert judge.prompt_sha256 == run_records.prompts_hash(project, judge_cases.protocol_of(COVERAGE).prompts)
    assert [(prompt.name, prompt.version) for prompt in judge.prompts] == [
        ("researcherbench.coverage", 1), ("researcherbench.coverage.together", 1),
    ]  # fmt: skip
    assert card.reach is Reach.HERE


def test_figures_are_those_of_the_validation_beside_the_human_ceiling_and_told_apart(
    sixteen: Project,
) -> None:
    card = card_of(sixteen, "small", against=("R2",))
    judge = card.of("judge")
    result = validation.report(sixteen, validation.ValidationQuery(judge="small", against=("R2",))).of(
        "small"
    )
    assert judge.plain == {name: Figure.of(one) for name, one in result.result.plain.items()}
    assert {definition.name for definition in card.definitions} == set(judge.plain)
    assert {line.by for line in card.lines} == {"all", "type", "weight", "system", "length"}
    heavy, light = (card.of("judge", "weight", f"weight {weight}") for weight in (3, 1))
    assert (heavy.plain["accuracy"].value, light.plain["accuracy"].value) == (1.0, 0.5)
    # Everything of Beta's is no: where nobody says yes, recall is undefined and says why.
    beta = card.of("judge", "system", "Beta")
    assert beta.plain["recall"].value is None
    assert beta.plain["recall"].note != ""


def test_labels_are_told_by_alias_with_a_hash_and_what_is_missing_makes_a_card_unfit(
    sixteen: Project,
) -> None:
    small = card_of(sixteen, "small")
    labels = small.labels
    assert (labels.source, labels.units, labels.responses, labels.items, labels.systems) == (
        "submitted",
        16,
        8,
        4,
        2,
    )
    assert [(labeller.alias, labeller.labels) for labeller in labels.labellers] == [("R2", 16), ("R3", 16)]
    assert labels.labels_sha256 != card_of(sixteen, "small", against=("R2",)).labels.labels_sha256
    judge_says(sixteen, "broken", lambda at: "-" if at[0] == 1 else "" if at[0] == 2 else ann(at))
    card = card_of(sixteen, "broken")
    line = card.of("judge")
    assert (line.missing, line.missing_rate, card.unfit) == ({"invalid": 4, "not asked": 4}, 0.5, True)
    assert not small.unfit


def test_a_set_is_told_with_its_draw_its_lock_and_every_look(tmp_path: Path) -> None:
    project = validation_project(tmp_path)
    validation_sets.make(
        project,
        validation_sets.SetRequest(
            "Spring", (person(project, "R2").id, person(project, "R3").id), size=8, seed=7
        ),
    )
    for alias in ("R2", "R3"):
        person_says(project, alias, ann)
    judge_says(project, "small", strict)
    validation_sets.lock(project, "Spring")
    dev = card_of(project, "small", set_name="Spring")
    assert (dev.labels.part, dev.labels.opened_at) == ("dev", ())
    assert "the alternative annotator test takes 3 people, and 2 people labelled" in dev.notes[0]
    opening = validation_sets.open_test(project, "Spring", ["small"])
    labels = card_of(project, "small", set_name="Spring", part="test", opening=opening.id).labels
    result = validation_sets.named(project, "Spring")
    assert (labels.set_name, labels.part, labels.opened_at) == ("Spring", "test", (opening.at,))
    assert (labels.draw.seed, labels.locked_at, labels.locked_sha256) == (
        7,
        result.locked_at,
        result.labels_sha256,
    )
    assert sum(labels.set_responses.values()) == 8
    expect_refusal("opened explicitly", card_of, project, "small", set_name="Spring", part="test")


def test_no_key_no_address_and_no_path_is_on_a_card(tmp_path: Path, server: OddServer) -> None:
    # What an earlier version let into its parameters; today it is refused on entry.
    project = carded_project(tmp_path, server)
    sql.alter(project, "UPDATE judge SET parameters = ?, key_env = 'PLANTED_KEY'", (PLANTED,))
    plant = "UPDATE run SET snapshot = json_set(snapshot, '$.parameters', ?, '$.key_env', 'PLANTED_KEY')"
    sql.alter(project, plant, (PLANTED,))
    sql.alter(project, "UPDATE judge SET model = ?", (MODEL,))
    sql.alter(project, "UPDATE run SET snapshot = replace(snapshot, 'test-model', ?)", (MODEL,))
    sql.alter(project, "UPDATE call SET returned_model = ?", (MODEL,))
    card = card_of(project)
    assert card.judge.parameters["temperature"] == 0
    assert (card.judge.model, card.judge.returned_models) == ("judge-7b.gguf", ("judge-7b.gguf",))
    for ending in (".json", ".html"):
        text = validity_cards.save(card, tmp_path / f"card{ending}").read_text("utf-8")
        for secret in (
            KEY,
            "secret.example",
            "abcd1234efgh",
            "/home/",
            "/srv/",
            "127.0.0.1",
            "PLANTED_KEY",
            str(tmp_path),
        ):
            assert secret not in text


def test_a_key_of_the_environment_is_taken_out_wherever_it_stands(
    tmp_path: Path, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "quite-plain-words")
    project = carded_project(
        tmp_path, server, key_env="PLANTED_KEY", parameters='{"user": "quite-plain-words, 127.0.0.1"}'
    )
    told = str(card_of(project).judge.parameters)
    assert [secret in told for secret in ("quite-plain", "127.0.0.1")] == [False, False]


def test_the_same_content_gives_the_same_card_and_the_hash_covers_all_of_it(sixteen: Project) -> None:
    query = validity_cards.CardQuery(judge="small")
    one, other = (
        validity_cards.card(sixteen, query, made_at=datetime(2026, 10, 2, tzinfo=UTC)) for _ in range(2)
    )
    later = validity_cards.card(sixteen, query)
    assert (one == other, one.sha256 == later.sha256) == (True, False)
    assert {**later.tree(), "made_at": 0, "sha256": 0} == {**one.tree(), "made_at": 0, "sha256": 0}
    for other in (
        {"notes": ()},
        {"app_version": "0"},
        {"labels": one.labels.model_copy(update={"units": 1})},
    ):
        assert one.model_copy(update=other).sealed().sha256 != one.sha256


def test_settings_changed_after_judging_leave_the_card_as_it_was_and_on_the_way_make_none(
    tmp_path: Path, server: OddServer
) -> None:
    project = carded_project(tmp_path, server)
    before = card_of(project).judge
    judges.change(project, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})
    assert card_of(project).judge == before
    sql.alter(
        project, "DELETE FROM judgement WHERE rater_kind = 'judge' AND item_id = (SELECT min(id) FROM item)"
    )
    judged(project)
    assert expect_refusal("different settings: request parameters", card_of, project).details == (
        'request parameters: {}; later {"temperature":1}',
    )


@pytest.mark.parametrize(("first", "named"), [("p1", "p1"), ("", "none")])
def test_a_judge_that_judged_by_two_wordings_needs_one_named(
    sixteen: Project, first: str, named: str
) -> None:
    judge_says(sixteen, "two", lambda at: ann(at) if at[0] < 3 else "", prompt=first)
    judge_says(sixteen, "two", lambda at: ann(at) if at[0] > 2 else "", prompt="q2")
    expect_refusal(
        rf"judged with 2 prompts, and a card covers one\. Choose one of its prompts: {named}, q2\.",
        card_of,
        sixteen,
        "two",
    )
    card = card_of(sixteen, "two", prompt="q")
    assert (card.judge.prompt_sha256, card.of("judge").missing) == ("q2", {"not asked": 8})
    assert card_of(sixteen, "two", prompt=named).judge.prompt_sha256 == first
    expect_refusal("no prompt that begins with z", card_of, sixteen, "two", prompt="z")
    (offered,) = [choice.values for choice in validity_cards.choices(sixteen) if choice.name == "prompt"]
    assert [value for _, value in offered] == [named, "q2"]


def test_reviews_stand_apart_and_corrected_scores_beside(sixteen: Project) -> None:
    assert card_of(sixteen, "small").reviews is None
    waiting = reviews.queue(sixteen, "small")[0]
    reviews.review(sixteen, "small", waiting.place.response_id, waiting.place.unit_id, Review.AGREE)
    card = card_of(sixteen, "small", against=("R2",))
    assert (card.reviews.accepted.value, card.reviews.said) == (1.0, {"agree": 1})
    systems = {system.system: system for system in card.corrected.systems}
    # The judge misses a light criterion of each of Alpha's items: 3/4 raw, by people everything.
    assert (systems["Alpha"].raw.value, systems["Alpha"].corrected.value) == (0.75, 1.0)


def test_a_card_tells_of_the_attacks_that_its_judge_was_put_to(sample: Project) -> None:
    query = validity_cards.CardQuery(judge="baseline")
    assert validity_cards.card(sample, query).attacks == ()
    attacked(sample, "baseline", "padding", size=6)
    (told,) = validity_cards.card(sample, query).attacks
    assert (told.name, told.failures.n) == ("padding.filler", 6)


def test_without_labels_or_verdicts_there_is_no_card_and_none_but_for_a_coordinator(sixteen: Project) -> None:
    expect_refusal("has no judgements of this kind", card_of, sixteen, "baseline")
    expect_refusal("There is no judge “nobody”", card_of, sixteen, "nobody")
    sixteen.work_as(person(sixteen, "R2"))
    expect_refusal("Only a coordinator", card_of, sixteen, "small")


def test_a_wording_of_ours_is_told_by_its_version(tmp_path: Path, server: OddServer) -> None:
    project = carded_project(tmp_path, server)
    prompts.write(project, COVERAGE, prompts.shipped(COVERAGE).replace("# user", "Be strict.\n\n# user"))
    sql.alter(project, "DELETE FROM judgement WHERE rater_kind = 'judge'")
    judged(project)
    (ours, shipped) = card_of(project).judge.prompts
    assert (ours.name, ours.version, shipped.version) == (COVERAGE, 2, 1)
