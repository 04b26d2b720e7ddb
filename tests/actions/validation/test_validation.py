"""Judges held against people, by hand; the views of it, and what lies behind its figures."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import result_pictures, results_behind
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.sets import reviews, validation_sets
from annotator.actions.studies import result_views
from annotator.actions.validation import disagreements, validation
from annotator.actions.validation.validation import HeldRater, ValidationQuery
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import InformedRuling, Review
from annotator.protocols import USUAL
from tests.actions.validation.test_judge_choice import price
from tests.projects.refusals import expect_refusal
from tests.projects.validation_project import (
    At,
    ann,
    judge_says,
    nearly_ann,
    negative,
    person,
    person_says,
    places,
    validation_project,
)
from tests.templates import once

PROJECT = validation_project


def ben(at: At) -> str:
    """As Ann, but no of Alpha's light criterion on items 1 and 2."""
    return "no" if at in ((1, "Alpha", 2), (2, "Alpha", 2)) else ann(at)


def labelled(project: Project) -> None:
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    judge_says(project, "small", nearly_ann)


def report(project: Project, **more: object) -> validation.Validation:
    return validation.report(project, replace(ValidationQuery(), **more))


def test_a_judge_against_people_by_hand(project: Project) -> None:
    labelled(project)
    line = report(project, against=("R2",)).of("small")
    # TP 7, FN 1, FP 2, TN 6. Weights: of Alpha's 16, 3 are missed; of Beta's 16, 2 are called covered.
    assert line.result.confusion == {("yes", "yes"): 7, ("yes", "no"): 1, ("no", "yes"): 2, ("no", "no"): 6}
    assert line.result.confusion_weighted == {
        ("yes", "yes"): 13, ("yes", "no"): 3, ("no", "yes"): 2, ("no", "no"): 14,
    }  # fmt: skip
    wanted = {
        "accuracy": Fraction(13, 16), "precision": Fraction(7, 9), "recall": Fraction(7, 8), "f1": Fraction(14, 17),
        "specificity": Fraction(6, 8), "balanced_accuracy": Fraction(13, 16),
        # Chance: 1/2 of each class on one side, so it agrees on a half.
        "kappa": (Fraction(13, 16) - Fraction(1, 2)) * 2,
        # q = 17/32 of both sides' judgements: chance 2 q (1 − q) = 510/1024.
        "ac1": (Fraction(13, 16) - Fraction(510, 1024)) / (1 - Fraction(510, 1024)),
    }  # fmt: skip
    for name, value in wanted.items():
        assert line.result.plain[name].value == pytest.approx(float(value)), name
    assert line.result.plain["mcc"].value == pytest.approx((7 * 6 - 2 * 1) / (9 * 7 * 8 * 8) ** 0.5)
    weighted = {
        "accuracy": Fraction(27, 32), "precision": Fraction(13, 15), "recall": Fraction(13, 16), "f1": Fraction(26, 31),
    }  # fmt: skip
    for name, value in weighted.items():
        assert line.result.weighted[name].value == pytest.approx(float(value)), name


def test_by_weight_the_sign_of_a_weight_is_left_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    labelled(project)
    result = report(project, against=("R2",))
    assert result.of("small").result.confusion_weighted == {
        ("yes", "yes"): 13, ("yes", "no"): 3, ("no", "yes"): 2, ("no", "no"): 14,
    }  # fmt: skip
    assert result.of("small").result.weighted["accuracy"].value == pytest.approx(27 / 32)
    assert any("whose weight is negative" in note for note in result.notes)


def test_against_several_people_each_label_is_true_and_people_stand_beside_the_judge(
    project: Project,
) -> None:
    labelled(project)
    line = report(project).of("small")
    # 16 labels each. Ben differs from Ann on two units, on which the judge says yes: two more FP, two TP fewer.
    assert line.result.confusion == {("yes", "yes"): 12, ("yes", "no"): 2, ("no", "yes"): 6, ("no", "no"): 12}
    assert (line.units, line.missing) == (16, {})
    result = report(project)
    # Ann is right of Ben on 14 of 16, and he of her: both ways round, precision and recall are 12 / 14.
    among = result.of("people").result.plain
    assert among["accuracy"].value == pytest.approx(14 / 16)
    assert among["precision"].value == among["recall"].value == pytest.approx(12 / 14)
    # Ben against Ann alone: 6 of her 8 found, nothing wrongly.
    one = report(project, against=("R2",))
    assert one.of("R3").result.plain["recall"].value == pytest.approx(6 / 8)
    assert one.of("R3").result.plain["precision"].value == 1.0
    assert [line.rater.name for line in one.lines] == ["small", "people", "R3"]


def test_what_did_not_come_is_counted_by_cause_and_enters_no_figure(project: Project) -> None:
    person_says(project, "R2", ann)
    judge_says(project, "small", lambda at: {(1, "Alpha", 1): "-", (1, "Beta", 1): ""}.get(at, ann(at)))
    line = report(project).of("small")
    assert line.missing == {"invalid": 1, "not asked": 1}
    assert line.missing_rate == pytest.approx(2 / 16)
    assert (line.result.plain["accuracy"].value, line.result.plain["accuracy"].n) == (1.0, 14)
    assert line.result.plain["accuracy"].missing == 2


def test_only_submitted_labels_count_and_unsure_people_are_left_out(project: Project) -> None:
    person_says(project, "R2", lambda at: "unsure" if at[0] == 1 else ann(at), submit=False)
    judge_says(project, "small", ann)
    expect_refusal("Nobody has submitted", report, project)
    person_says(project, "R2", lambda at: "unsure" if at[0] == 1 else ann(at))
    line = report(project).of("small")
    assert (line.units, line.result.plain["accuracy"].n, line.missing) == (12, 12, {})
    project.work_as(people.known(project, "R2"))
    expect_refusal("Only a coordinator", report, project)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("type", {"Literature Review": 4, "Open Consulting": 4, "Technical Details": 8}),
        ("weight", {"weight 3": 8, "weight 1": 8}),
        ("system", {"Alpha": 8, "Beta": 8}),
        # Lengths 100, 110, 200, 210, 300, 310, 400, 410: two reports to a quarter.
        ("length", {f"length quartile {n}": 4 for n in (1, 2, 3, 4)}),
        ("criterion", {f"item {i}: Criterion {n} of {i}": 2 for i in (1, 2, 3, 4) for n in (1, 2)}),
    ],
)
def test_figures_are_told_apart(project: Project, by: str, groups: dict[str, int]) -> None:
    labelled(project)
    result = report(project, by=by, against=("R2",))
    assert {line.group: line.units for line in result.lines if line.rater.is_judge} == groups
    right = sum(
        (line.result.plain["accuracy"].value or 0) * line.units
        for line in result.lines
        if line.rater.is_judge
    )
    assert right == pytest.approx(13)


def test_groups_hold_each_unit_once_and_are_walked_through_once(project: Project) -> None:
    labelled(project)
    ground = validation.ground_of(project, ValidationQuery(by="criterion", against=("R2",)))
    held = [len(units) for units in validation.groups(ground, "criterion").values()]
    assert (len(held), sum(held)) == (8, 16)
    walks = []

    class Places(dict):
        def __iter__(self):
            walks.append(1)
            return super().__iter__()

    result = validation.of_ground(
        project,
        replace(ground, places=Places(ground.places)),
        ValidationQuery(by="criterion", against=("R2",)),
    )
    assert len({line.group for line in result.lines}) == 8
    assert len(walks) < 8
    alike = {key: place._replace(words="Names gold") for key, place in ground.places.items()}
    result = validation.groups(replace(ground, places=alike), "criterion")
    assert {name: len(units) for name, units in result.items()} == {
        f"item {item}: Names gold{again}": 2 for item in (1, 2, 3, 4) for again in ("", " (2)")
    }


def test_a_judge_is_told_apart_by_the_wording_it_judged_by(project: Project) -> None:
    person_says(project, "R2", ann)
    judge_says(project, "small", lambda at: ann(at) if at[0] < 3 else "")
    judge_says(project, "small", lambda at: "no" if at[0] > 2 else "", prompt="p2")
    result = [line for line in report(project).lines if line.rater.is_judge]
    assert [(line.rater.prompt, line.result.plain["accuracy"].value) for line in result] == [
        ("p1", 1),
        ("p2", 0.5),
    ]


@pytest.mark.usefixtures("small_cases")
def test_two_judges_are_told_to_differ_or_not(tmp_path: Path) -> None:
    project = validation_project(tmp_path, questions=8)
    person_says(project, "R2", ann)
    judge_says(project, "good", ann)
    judge_says(project, "as good", ann)
    judge_says(project, "bad", lambda at: "no" if ann(at) == "yes" else "yes")
    result = {(contrast.first.name, contrast.second.name): contrast for contrast in report(project).contrasts}
    same, apart = result["as good", "good"], result["bad", "good"]
    # Of eight items, none of which differs, nothing follows.
    assert same.gap.verdict("accuracy").startswith("nothing can be said: ")
    assert (same.gap.only_right, apart.gap.only_right) == ((0, 0), (0, 32))
    assert apart.gap.plain["accuracy"].value == -1.0
    assert apart.gap.verdict("accuracy") == "the second is better"


def test_one_class_leaves_kappa_undefined_with_its_reason(project: Project) -> None:
    person_says(project, "R2", lambda _: "yes")
    judge_says(project, "small", lambda _: "yes")
    told = report(project).of("small").result.plain
    assert (told["kappa"].value, told["specificity"].value) == (None, None)
    assert "one class only" in told["kappa"].note
    assert "one category" in told["accuracy"].note


def drawn(project: Project) -> str:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    judge_says(project, "small", nearly_ann)
    return "Spring"


def test_a_set_shows_no_judge_before_its_labels_are_locked_and_its_test_part_by_a_counted_look_alone(
    project: Project,
) -> None:
    name = drawn(project)
    expect_refusal("until then no judge is shown", report, project, set_name=name)
    expect_refusal("Nobody has submitted", report, project)
    validation_sets.lock(project, name)
    assert report(project, set_name=name).of("small").units == 8
    for part in ("test", "whole"):
        expect_refusal("each view is counted", report, project, set_name=name, part=part)
    opening = validation_sets.open_test(project, name, ["small"]).id
    dev, test, whole = (
        report(project, set_name=name, part=part, opening=opening) for part in ("dev", "test", "whole")
    )
    assert dev.of("small").units + test.of("small").units == whole.of("small").units == 16
    assert "1 time" in " ".join(test.viewed)
    # Without a set nothing is shown that sets hold back.
    assert report(project).of("small").result.confusion == dev.of("small").result.confusion


@pytest.fixture
def judged_twice(tmp_path: Path) -> Project:
    """Sixteen units, half of them covered by R2's word; “small” says yes to all, and nothing of (4, Beta, 2)."""
    judged_twice = validation_project(tmp_path)
    person_says(judged_twice, "R2", ann)
    judge_says(judged_twice, "small", lambda at: "-" if at == (4, "Beta", 2) else "yes")
    judge_says(judged_twice, "good", ann)
    return judged_twice


def table(judged_twice: Project, title: str, **chosen: str) -> ResultSheet:
    shown = result_views.show(judged_twice, "judges", chosen, among=VIEWS)
    return next(sheet for sheet in shown.sheets if sheet.title == title)


def behind(judged_twice: Project, sheet: ResultSheet, head: str, *says: str) -> ResultSheet:
    """The units behind the cell below a head, in the first line that says all this."""
    place = [column.title for column in sheet.columns].index(head)
    for line in sheet.lines:
        if set(says) <= {cell.words for cell in line.cells}:
            return validation.units(judged_twice, line.cells[place].source or line.source)
    raise AssertionError(says)


def test_cells_gaps_and_groups_lead_to_their_units(judged_twice: Project) -> None:
    sheet = table(judged_twice, "Confusion")
    place = [column.title for column in sheet.columns].index("True value")
    line = next(
        one for one in sheet.lines
        if one.cells[0].words == "small" and (one.cells[place].words, one.cells[place + 1].words) == ("no", "yes")
    )  # fmt: skip
    units = validation.units(judged_twice, line.cells[0].source)
    # Of Beta's eight units one has no judgement.
    assert len(units.lines) == 7 == line.cells[place + 2].value
    assert {one.cells[1].words for one in units.lines} == {"Beta"}
    assert {one.cells[6].state for one in units.lines} == {"disagree"}
    empty = [line for line in table(judged_twice, "Confusion").lines if line.cells[4].words == "0"]
    assert empty
    assert all(line.cells[4].source is None for line in empty)
    result = behind(judged_twice, table(judged_twice, "Missing by cause"), "Units", "small")
    assert [line.cells[2].words for line in result.lines] == ["Criterion 2 of 4"]
    assert result.lines[0].cells[6].tip == "invalid"
    result = behind(judged_twice, table(judged_twice, "Two judges"), "Only first right", "good", "small")
    assert len(result.lines) == 7
    assert result.columns[-1].title == "small"
    result = behind(
        judged_twice, table(judged_twice, "Judges beside people", by="system"), "Accuracy", "small", "Beta"
    )
    assert {line.cells[1].words for line in result.lines} == {"Beta"}
    result = behind(judged_twice, table(judged_twice, "Judges beside people"), "Accuracy", "small")
    judgements = results_behind.of_source(judged_twice, result.lines[0].source)
    assert sorted(judgement.rater for judgement in judgements) == ["R2", "good", "small"]


@pytest.mark.parametrize(
    ("figure", "units"), [("Accuracy", 15), ("Precision", 15), ("Recall", 8), ("Specificity", 7)]
)
def test_a_figure_leads_to_the_units_that_it_is_counted_over(
    judged_twice: Project, figure: str, units: int
) -> None:
    result = behind(judged_twice, table(judged_twice, "Judges beside people"), figure, "small")
    assert len(result.lines) == units


def test_units_behind_figures_are_read_by_coordinators(judged_twice: Project) -> None:
    expect_refusal(
        "no longer among those compared", validation.units, judged_twice, HeldRater(USUAL, "x", rater="x")
    )
    held = HeldRater(USUAL, "x", rater="x")
    judged_twice.work_as(person(judged_twice, "R2"))
    assert not person(judged_twice, "R2").has(Role.COORDINATOR)
    expect_refusal("", validation.units, judged_twice, held)


def test_what_one_is_still_to_label_blind_is_only_counted(sample: Project) -> None:
    units = behind(sample, table(sample, "Judges beside people"), "Accuracy", "baseline")
    # The coordinator has labels of the second item still to submit.
    assert {line.cells[0].words for line in units.lines} == {"norm-placement"}
    every = sum(
        validation.report(sample, validation.ValidationQuery()).of("baseline").result.confusion.values()
    )
    assert (
        f"{every - len(units.lines):,.0f} more are on items that you still have to label blind."
        in units.notes
    )


@once
def ruled_project(folder: Path) -> Project:
    """A locked set of half of the reports, two people, two judges, a review and a ruling."""
    ruled = validation_project(folder)
    both = (person(ruled, "R2").id, person(ruled, "R3").id)
    validation_sets.make(ruled, validation_sets.SetRequest("Spring", both, size=4))
    for alias in ("R2", "R3"):
        person_says(ruled, alias, ann)
    judge_says(ruled, "large", ann)
    judge_says(ruled, "small", lambda at: "yes" if at[2] == 1 else ann(at))
    price(ruled, "small", 0.01)
    validation_sets.lock(ruled, "Spring")
    _, response, unit = places(ruled)[1, "Alpha", 1]
    reviews.review(ruled, "small", response, unit, Review.AGREE)
    for one in disagreements.queue(ruled, validation.ValidationQuery())[:1]:
        disagreements.rule(ruled, one, InformedRuling.JUDGE_WRONG)
    return ruled


@pytest.fixture
def ruled(tmp_path: Path) -> Project:
    return ruled_project(tmp_path)


# Of runs that were asked again nothing is shown before there is one: `actions/judging/test_drift` has some.
@pytest.mark.parametrize("name", [view.name for view in VIEWS if view.name != "again"])
def test_every_view_shows_something_by_its_first_choices(ruled: Project, name: str) -> None:
    shown = result_views.show(ruled, name, {}, among=VIEWS)
    assert shown.sheets
    assert all(len(line.cells) == len(sheet.columns) for sheet in shown.sheets for line in sheet.lines)
    assert all(choice.values for choice in shown.choices)


def test_sets_their_parts_and_whom_to_hold_against_can_be_chosen(ruled: Project) -> None:
    ann_id = person(ruled, "R2").id
    choices = {choice.name: choice.values for choice in VIEWS[0].choices(ruled)}
    assert ("Spring", "Spring") in choices["set"]
    assert ("R2", ann_id) in choices["against"]
    shown = result_views.show(
        ruled, "judges", {"set": "Spring", "against": ann_id, "by": "system"}, among=VIEWS
    )
    assert shown.count.query.set_name == "Spring"
    assert shown.count.against == "R2"
    assert {line.group for line in shown.count.lines} <= {"Alpha", "Beta"}
    assert "part" not in offered(ruled)
    assert "part" in offered(ruled, set="Spring")
    assert "part" not in result_views.show(ruled, "judges", {"set": "", "part": "test"}, among=VIEWS).chosen
    both = (person(ruled, "R2").id, person(ruled, "R3").id)
    validation_sets.make(ruled, validation_sets.SetRequest("Autumn", both, size=2))
    choices = {choice.name: choice.values for choice in VIEWS[0].choices(ruled)}
    assert [value for _, value in choices["set"]] == ["", "Spring"]


def offered(ruled: Project, **chosen: str) -> list[str]:
    choices, _ = result_views.offered(ruled, "judges", chosen, VIEWS)
    return [choice.name for choice in choices]


def test_figures_leave_with_pictures(ruled: Project, tmp_path: Path) -> None:
    shown = result_views.show(ruled, "judges", {}, among=VIEWS)
    table = next(sheet for sheet in shown.sheets if sheet.title == "By weight")
    rows = result_pictures.rows(table)
    assert {"accuracy", "accuracy_low", "accuracy_high", "accuracy_n", "f1"} <= set(rows[0])
    result_pictures.save_exports(table, tmp_path / "weight.csv")
    assert b"accuracy_high" in (tmp_path / "weight.csv").read_bytes()
    shown = result_views.show(ruled, "judges", {"by": "system"}, among=VIEWS)
    for sheet in shown.sheets[:2]:
        names = {cell.picture for line in sheet.lines for cell in line.cells if cell.picture}
        assert names
        assert names <= {picture.name for picture in sheet.pictures}
