"""The choice of a judge, judges compared, and whether one may stand in for people: by hand.

Every protocol that people answer is validated, by the level of its scale."""

from dataclasses import replace
from pathlib import Path
from random import Random

import krippendorff
import pytest
from sklearn.metrics import cohen_kappa_score
from sqlalchemy import insert, update

from annotator.actions.attacks import biases
from annotator.actions.judges import judges
from annotator.actions.labelling import labels
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.sets import validation_figures
from annotator.actions.validation import disagreements, stand_in, validation, validation_views, validity_cards
from annotator.actions.validation.stand_in import JudgeChoiceQuery, StandInQuery, StandInVerdict
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.protocol import FIGURES, PAIR, Level, numbers
from annotator.domain.texts.canonical import derived_id, now
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import CALL, JUDGEMENT
from tests.projects import pairs_project as pairs
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import ALL, CLAIMS, PAIRS, REASONING, one_item, submit_labels
from tests.projects.validation_project import (
    COVERAGE,
    At,
    ann,
    judge_says,
    noisy,
    person_says,
    places as unit_places,
    rated,
    validation_project,
)
from tests.promises.labelled_at_once import labelled_at_once
from tests.servers.said_by_judges import label, places, say, submit, two_judges
from tests.stats.agreement_oracles import icc
from tests.templates import fixture_of, once


def missing_two(at: At) -> str:
    return "no" if at in ((1, "Alpha", 2), (2, "Alpha", 2)) else ann(at)


def price(project: Project, judge: str, cost: float | None) -> None:
    """One call at this cost behind each of a judge's judgements."""
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
    of = validation.ValidationQuery(against=("R2",))
    return stand_in.choose(
        project, replace(JudgeChoiceQuery(of, figure="accuracy", reference="best"), **more)
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
    assert [picture.name for picture in sheet.pictures] == ["choice"]


two = fixture_of(two_judges)


def pairing(two: Project, a: str, b: str, **how: bool) -> disagreements.RaterPair:
    result = disagreements.compare(two, COVERAGE, **how)
    return next(one for one in result.pairings if (one.a.name, one.b.name) == (a, b))


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


def test_units_nobody_shares_leave_figures_undefined_with_a_reason(two: Project) -> None:
    say(two, "a", "yyy---")
    say(two, "b", "---yyy")
    result = pairing(two, "a", "b")
    assert (result.units, result.figure("kappa").value) == (0, None)
    assert "no unit was judged by both raters" in result.figure("kappa").note


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


def test_every_answer_stands_in_words_above_its_figures(by_three: Project) -> None:
    judge_says(by_three, "good", noisy(by_three, 0.01, 9))
    judge_says(by_three, "coin", noisy(by_three, 0.5, 8))
    first, persons = stand_in.sheets(stand_in.report(by_three, StandInQuery(validation.ValidationQuery())))
    assert [[cell.words for cell in line.cells[:2]] for line in first.lines] == [
        ["good", "Yes"],
        ["coin", "No"],
    ]
    assert first.notes[0].startswith("“good”: Yes, because Δ Cohen's κ")
    assert [line.cells[6].words for line in first.lines] == ["3 of 3", "0 of 3"]
    assert [picture.name for picture in first.pictures] == ["difference"]
    assert [line.cells[1].words for line in persons.lines] == ["R2", "R3", "R4"] * 2


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
    assert alone == best


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


FEW = 100


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
    """The first value that may be said of every unit that the person working is asked about; how many there are."""
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
    result = validation.report(asked, ValidationQuery(protocol))
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
    line = validation.report(asked, ValidationQuery(REASONING)).of("small")
    assert (set(line.result.plain), set(line.result.weighted)) == ({"accuracy", "kappa", "ac1"}, {"accuracy"})
    assert line.result.plain["accuracy"].value == pytest.approx(1 - 2 / len(units))
    assert "one category" not in line.result.plain["accuracy"].note
    named = validation.report(asked, ValidationQuery(REASONING, positive="true")).of("small")
    assert named.result.plain["recall"].value == pytest.approx(1 - 2 / len(units))
    assert named.result.confusion["true", "false"] == 1


def test_a_page_that_could_not_be_read_is_unknown_to_both(asked: Project) -> None:
    person_says_all(asked, CLAIMS, "yes")
    for place in places_under(asked, CLAIMS):
        judge_says_of(asked, CLAIMS, place, "yes")
    line = validation.report(asked, ValidationQuery(CLAIMS)).of("small")
    # Of three claims one cites a page that is gone, of which people can only say that it is unknown.
    assert line.result.confusion == {("yes", "yes"): 2, ("unknown", "yes"): 1}


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 1, 0)])
def test_pairs_are_compared_in_one_order(
    asked: Project, monkeypatch: pytest.MonkeyPatch, order: tuple[int, ...]
) -> None:
    """People asked in the other order are turned, in whichever order the values stand: the better report stays it."""
    (first, second, _), protocol = PAIR.names, PROTOCOLS[PAIRS]
    scale = replace(PAIR, values=tuple(PAIR.values[place] for place in order))
    monkeypatch.setitem(PROTOCOLS, PAIRS, replace(protocol, scale=scale))
    orders = [(task.response_id, task.other_id) for task in labels.queue(asked, PAIRS)]
    for response_id, other_id in orders:
        # Always the report whose id sorts first.
        labels.set_label(
            asked, response_id, other_id, first if response_id < other_id else second, protocol=PAIRS
        )
    submit_labels(asked)
    for place in places_under(asked, PAIRS):
        judge_says_of(asked, PAIRS, place, first)
        judge_says_of(asked, PAIRS, place, first, turned=True)
    line = validation.report(asked, ValidationQuery(PAIRS)).of("small")
    assert (line.units, line.result.confusion) == (3, {(first, first): 3})


def test_the_consensus_may_be_what_is_true(tmp_path: Path) -> None:
    """Two criteria, of which adjudication settled a yes and a no; the judge says yes of both."""
    asked = pairs.settled_labels(tmp_path)
    judges.add(asked, "small", base_url="http://127.0.0.1:1/v1", model="m")
    for place in places_under(asked, USUAL):
        judge_says_of(asked, USUAL, place, "yes")
    result = validation.report(asked, ValidationQuery(against=("consensus",)))
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


scaled = fixture_of(validation_project, ITEMS, ("Alpha",), (1, 2, 3))


@pytest.fixture(params=[Level.ORDINAL, Level.INTERVAL])
def level(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, scaled: Project) -> Level:
    """Two judges and two people, of whom R3 says one more on the second criterion."""
    rated(monkeypatch, numbers(0, 10, level=request.param))
    labelled_at_once(scaled, "R2", lambda at: str(true(at)))
    labelled_at_once(scaled, "R3", lambda at: str(true(at) + (at[2] == 2)))
    judge_says(scaled, "near", near)
    judge_says(scaled, "far", far)
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
    truth, said = ([of(at) for at in unit_places(scaled)] for of in (true, lambda at: int(near(at))))
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
    judge_says(scaled, "between", lambda at: str(true(at)))
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
