"""The choice of a judge, judges compared, and whether one may stand in for people: by hand."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import insert, update

from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.validation import disagreements, stand_in, validation
from annotator.actions.validation.stand_in import JudgeChoiceQuery, StandInQuery, StandInVerdict
from annotator.domain.experts.assignment import Role
from annotator.domain.texts.canonical import derived_id, now
from annotator.storage.tables import CALL, JUDGEMENT
from tests.projects.refusals import expect_refusal
from tests.projects.validation_project import (
    At,
    ann,
    judge_says,
    noisy,
    person_says,
    places as unit_places,
    validation_project,
)
from tests.promises.labelled_at_once import labelled_at_once
from tests.servers.said_by_judges import COVERAGE, label, places, say, submit, two_judges
from tests.templates import once


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


@pytest.fixture
def two(tmp_path: Path) -> Project:
    return two_judges(tmp_path)


def pairing(two: Project, a: str, b: str, **how: bool) -> disagreements.RaterPair:
    result = disagreements.compare(two, COVERAGE, **how)
    return next(one for one in result.pairings if (one.a.name, one.b.name) == (a, b))


def as_another(two: Project, name: str, role: Role) -> None:
    people.add_person(two, name, (role,))
    two.work_as(next(person for person in people.people(two) if person.name == name))


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
    say(two, "a", "yyyyyy")
    say(two, "b", "yynnnn")
    judges.add(two, "c", base_url="http://127.0.0.1:1/v1", model="m")
    say(two, "c", "yyn---")
    result = disagreements.compare(two, COVERAGE, shared=True)
    assert result.shared == 3
    assert {one.units for one in result.pairings} == {3}
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


@pytest.fixture
def thirty(tmp_path: Path) -> Project:
    return validation_project(tmp_path, 30, ("Alpha",), (1, 1, 1))


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


def answer(thirty: Project, **more: object) -> stand_in.StandInAnswer:
    (result,) = stand_in.report(thirty, replace(StandInQuery(validation.ValidationQuery()), **more)).answers
    return result


def test_a_judge_better_than_people_may_stand_in_by_both_tests(tmp_path: Path) -> None:
    thirty = labelled_thirty(tmp_path, 3)
    judge_says(thirty, "good", noisy(thirty, 0.01, 9))
    result = answer(thirty)
    assert (result.verdict, result.people, result.items) == (StandInVerdict.YES, 3, 30)
    assert "stays above −0.05, so it is not worse than people with one another" in result.because
    assert (
        "the alternative annotator test is passed: ω 1.00 of 3 people, at least 0.5; ρ 0.9" in result.because
    )
    assert result.difference.value == pytest.approx((result.judge.value or 0) - (result.human.value or 0))
    expect_refusal("not be negative", answer, thirty, delta=-0.1)
    expect_refusal("not be negative", answer, thirty, epsilon=-0.1)
    expect_refusal("cannot be chosen by", answer, thirty, figure="beauty")
    expect_refusal("least agreement", answer, thirty, least=-0.1)


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


def test_a_judge_of_which_too_much_is_missing_is_not_yet_known(tmp_path: Path) -> None:
    thirty = labelled_thirty(tmp_path, 3)
    says = noisy(thirty, 0.01, 9)
    judge_says(thirty, "gappy", lambda at: "-" if at[0] < 4 else says(at))
    result = answer(thirty)
    assert result.verdict is StandInVerdict.UNKNOWN
    assert result.because.startswith("10.0 % of its judgements are missing")
    results.set_limit(thirty, 0.2)
    assert answer(thirty).verdict is StandInVerdict.YES


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


def test_every_answer_stands_in_words_above_its_figures(tmp_path: Path) -> None:
    thirty = labelled_thirty(tmp_path, 3)
    judge_says(thirty, "good", noisy(thirty, 0.01, 9))
    judge_says(thirty, "coin", noisy(thirty, 0.5, 8))
    first, persons = stand_in.sheets(stand_in.report(thirty, StandInQuery(validation.ValidationQuery())))
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
    assert result.judge.value == pytest.approx((9 + 6) / 21)
    assert result.human.value == pytest.approx(9 / 21)


def test_a_yes_by_itself_is_none_among_ten_judges(tmp_path: Path) -> None:
    thirty = labelled_thirty(tmp_path, 2)
    judge_says(thirty, "j0", noisy(thirty, 0.1, 20))
    # The margin at which chance would say Yes to a judge that is so much worse once in sixty times.
    low, high = 0.0, 1.0
    for _ in range(30):
        margin = (low + high) / 2
        p = answer(thirty, delta=margin).p or 0.0
        low, high = (margin, high) if p > 1 / 60 else (low, margin)
    assert answer(thirty, delta=high).verdict is StandInVerdict.YES
    for number in range(1, 10):
        judge_says(thirty, f"j{number}", noisy(thirty, 0.5, number + 20))
    query = StandInQuery(validation.ValidationQuery(), delta=high)
    best = next(one for one in stand_in.report(thirty, query).answers if one.rater.name == "j0")
    assert (best.verdict, best.p) == (StandInVerdict.UNKNOWN, pytest.approx(10 / 60, abs=1e-6))
    assert "by itself, which may be chance" in best.because
    assert "p 0.167, of 10 judges" in best.because
    # Asked about alone, it stands among the same ten.
    (alone,) = stand_in.report(thirty, replace(query, of=validation.ValidationQuery(judge="j0"))).answers
    assert alone == best


def test_looks_at_a_test_part_count_as_judges_do(tmp_path: Path) -> None:
    thirty = labelled_thirty(tmp_path, 2)
    judge_says(thirty, "j0", noisy(thirty, 0.1, 20))
    result = validation.ground_of(thirty, validation.ValidationQuery())
    once, thrice = (
        stand_in.decided(result, StandInQuery(delta=0.3), looks=looks).answers[0] for looks in (1, 3)
    )
    assert once.p is not None
    assert thrice.p == pytest.approx(min(1.0, 3 * once.p))
    assert "of 3 looks" in thrice.because


def test_nothing_follows_from_few_items_or_from_no_spread(tmp_path: Path) -> None:
    thirty = validation_project(tmp_path, 9, ("Alpha",), (1, 1, 1))
    labelled(thirty, 2)
    judge_says(thirty, "perfect", noisy(thirty, 0.0, 1))
    result = answer(thirty, delta=0.9)
    assert result.verdict is StandInVerdict.UNKNOWN
    assert "says too little (" in result.because
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
