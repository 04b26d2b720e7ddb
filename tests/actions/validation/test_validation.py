"""Judges held against people, by hand: four items, two systems, criteria of weight 3 and 1, sixteen units."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.actions.validation import validation
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.texts.refusal import Refusal
from tests.projects.validation_project import (
    At,
    judge_says,
    negative,
    person,
    person_says,
    places,
    validation_project,
)

PROJECT = validation_project
FEW = 200


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


def ben(at: At) -> str:
    """As Ann, but no of Alpha's light criterion on items 1 and 2."""
    return "no" if at in ((1, "Alpha", 2), (2, "Alpha", 2)) else ann(at)


def judge(at: At) -> str:
    """As Ann, but no of Alpha's heavy criterion on item 1, and yes of Beta's light ones on items 1 and 2."""
    if at == (1, "Alpha", 1):
        return "no"
    return "yes" if at in ((1, "Beta", 2), (2, "Beta", 2)) else ann(at)


def labelled(project: Project) -> None:
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    judge_says(project, "small", judge)


def report(project: Project, **more: object) -> validation.Validation:
    return validation.report(project, replace(ValidationQuery(), **more))


def test_a_judge_against_one_person_by_hand(project: Project) -> None:
    labelled(project)
    line = report(project, against=("R2",)).of("small")
    # TP 7, FN 1, FP 2, TN 6. Weights: of Alpha's 16, 3 are missed; of Beta's 16, 2 are called covered.
    assert line.told.confusion == {("yes", "yes"): 7, ("yes", "no"): 1, ("no", "yes"): 2, ("no", "no"): 6}
    assert line.told.confusion_weighted == {
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
        assert line.told.plain[name].value == pytest.approx(float(value)), name
    assert line.told.plain["mcc"].value == pytest.approx((7 * 6 - 2 * 1) / (9 * 7 * 8 * 8) ** 0.5)


def test_by_weight_the_sign_of_a_weight_is_left_out(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    negative(monkeypatch)
    labelled(project)
    found = report(project, against=("R2",))
    assert found.of("small").told.confusion_weighted == {
        ("yes", "yes"): 13, ("yes", "no"): 3, ("no", "yes"): 2, ("no", "no"): 14,
    }  # fmt: skip
    assert found.of("small").told.weighted["accuracy"].value == pytest.approx(27 / 32)
    assert any("whose weight is negative" in note for note in found.notes)


def test_researcherbenchs_own_formula_gives_the_same_figures(project: Project) -> None:
    """§4.3.1: every pair of response and criterion, once each or by the criterion's weight, “covered” positive."""
    labelled(project)
    said = {at: (ann(at) == "yes", judge(at) == "yes", (3, 1)[at[2] - 1]) for at in places(project)}
    line = report(project, against=("R2",)).of("small")
    for found, weight_of in ((line.told.plain, lambda w: 1), (line.told.weighted, lambda w: w)):
        tp = sum(weight_of(w) for h, j, w in said.values() if h and j)
        fp = sum(weight_of(w) for h, j, w in said.values() if not h and j)
        fn = sum(weight_of(w) for h, j, w in said.values() if h and not j)
        tn = sum(weight_of(w) for h, j, w in said.values() if not h and not j)
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        assert found["accuracy"].value == pytest.approx((tp + tn) / (tp + fp + fn + tn))
        assert found["precision"].value == pytest.approx(precision)
        assert found["recall"].value == pytest.approx(recall)
        assert found["f1"].value == pytest.approx(2 * precision * recall / (precision + recall))


def test_against_several_people_each_label_is_one_true_value(project: Project) -> None:
    labelled(project)
    line = report(project).of("small")
    # 16 labels each. Ben differs from Ann on two units, on which the judge says yes: two more FP, two TP fewer.
    assert line.told.confusion == {("yes", "yes"): 12, ("yes", "no"): 2, ("no", "yes"): 6, ("no", "no"): 12}
    assert (line.units, line.missing) == (16, {})


def test_people_stand_beside_the_judge_on_the_same_labels(project: Project) -> None:
    labelled(project)
    found = report(project)
    # Ann is right of Ben on 14 of 16, and he of her: both ways round, precision and recall are 12 / 14.
    among = found.of("people").told.plain
    assert among["accuracy"].value == pytest.approx(14 / 16)
    assert among["precision"].value == among["recall"].value == pytest.approx(12 / 14)
    # Ben against Ann alone: 6 of her 8 found, nothing wrongly.
    one = report(project, against=("R2",))
    assert one.of("R3").told.plain["recall"].value == pytest.approx(6 / 8)
    assert one.of("R3").told.plain["precision"].value == 1.0
    assert [line.rater.name for line in one.lines] == ["small", "people", "R3"]


def test_what_did_not_come_is_counted_by_cause_and_enters_no_figure(project: Project) -> None:
    person_says(project, "R2", ann)
    judge_says(project, "small", lambda at: {(1, "Alpha", 1): "-", (1, "Beta", 1): ""}.get(at, ann(at)))
    line = report(project).of("small")
    assert line.missing == {"invalid": 1, "not asked": 1}
    assert line.missing_rate == pytest.approx(2 / 16)
    assert (line.told.plain["accuracy"].value, line.told.plain["accuracy"].n) == (1.0, 14)
    assert line.told.plain["accuracy"].missing == 2


def test_unsure_people_are_left_out(project: Project) -> None:
    person_says(project, "R2", lambda at: "unsure" if at[0] == 1 else ann(at))
    judge_says(project, "small", ann)
    line = report(project).of("small")
    assert (line.units, line.told.plain["accuracy"].n, line.missing) == (12, 12, {})


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
    found = report(project, by=by, against=("R2",))
    assert {line.group: line.units for line in found.lines if line.rater.is_judge} == groups
    right = sum(
        (line.told.plain["accuracy"].value or 0) * line.units for line in found.lines if line.rater.is_judge
    )
    assert right == pytest.approx(13)


def test_all_groups_together_hold_each_unit_once_however_many_groups_there_are(project: Project) -> None:
    labelled(project)
    ground = validation.ground_of(project, ValidationQuery(by="criterion", against=("R2",)))
    held = [len(units) for units in validation.groups(ground, "criterion").values()]
    assert (len(held), sum(held)) == (8, 16)


def test_units_are_walked_through_once_however_many_groups_there_are(project: Project) -> None:
    labelled(project)
    ground = validation.ground_of(project, ValidationQuery(by="criterion", against=("R2",)))
    walks = []

    class Places(dict):
        def __iter__(self):
            walks.append(1)
            return super().__iter__()

    found = validation.of_ground(
        project,
        replace(ground, places=Places(ground.places)),
        ValidationQuery(by="criterion", against=("R2",)),
    )
    assert len({line.group for line in found.lines}) == 8
    assert len(walks) < 8


def test_two_criteria_of_an_item_in_the_same_words_are_both_counted(project: Project) -> None:
    labelled(project)
    ground = validation.ground_of(project, ValidationQuery(by="criterion", against=("R2",)))
    alike = {key: place._replace(words="Names gold") for key, place in ground.places.items()}
    found = validation.groups(replace(ground, places=alike), "criterion")
    assert {name: len(units) for name, units in found.items()} == {
        f"item {item}: Names gold{again}": 2 for item in (1, 2, 3, 4) for again in ("", " (2)")
    }


def test_a_judge_is_told_apart_by_the_wording_it_judged_by(project: Project) -> None:
    person_says(project, "R2", ann)
    judge_says(project, "small", lambda at: ann(at) if at[0] < 3 else "")
    judge_says(project, "small", lambda at: "no" if at[0] > 2 else "", prompt="p2")
    found = [line for line in report(project).lines if line.rater.is_judge]
    assert [(line.rater.prompt, line.told.plain["accuracy"].value) for line in found] == [
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
    found = {(one.first.name, one.second.name): one for one in report(project).contrasts}
    same, apart = found["as good", "good"], found["bad", "good"]
    # Of eight items, none of which differs, nothing follows.
    assert same.gap.verdict("accuracy").startswith("nothing can be said: ")
    assert (same.gap.only_right, apart.gap.only_right) == ((0, 0), (0, 32))
    assert apart.gap.plain["accuracy"].value == -1.0
    assert apart.gap.verdict("accuracy") == "the second is better"
    project.close()


def test_one_class_leaves_kappa_undefined_with_its_reason(project: Project) -> None:
    person_says(project, "R2", lambda _: "yes")
    judge_says(project, "small", lambda _: "yes")
    told = report(project).of("small").told.plain
    assert (told["kappa"].value, told["specificity"].value) == (None, None)
    assert "one class only" in told["kappa"].note
    assert "one category" in told["accuracy"].note


def test_only_submitted_labels_count(project: Project) -> None:
    person_says(project, "R2", ann, submit=False)
    judge_says(project, "small", ann)
    with pytest.raises(Refusal, match="Nobody has submitted"):
        report(project)


def drawn(project: Project) -> str:
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    person_says(project, "R2", ann)
    person_says(project, "R3", ben)
    judge_says(project, "small", judge)
    return "Spring"


def test_a_set_shows_no_judge_before_its_labels_are_locked(project: Project) -> None:
    name = drawn(project)
    with pytest.raises(Refusal, match="until then no judge is shown"):
        report(project, set_name=name)
    validation_sets.lock(project, name)
    assert report(project, set_name=name).of("small").units == 8


def test_the_test_part_is_shown_only_by_a_counted_look(project: Project) -> None:
    name = drawn(project)
    validation_sets.lock(project, name)
    for part in ("test", "whole"):
        with pytest.raises(Refusal, match="each view is counted"):
            report(project, set_name=name, part=part)
    opening = validation_sets.open_test(project, name, ["small"]).id
    dev, test, whole = (
        report(project, set_name=name, part=part, opening=opening) for part in ("dev", "test", "whole")
    )
    assert dev.of("small").units + test.of("small").units == whole.of("small").units == 16
    assert "1 time" in " ".join(test.viewed)


def test_without_a_set_nothing_that_sets_hold_back_is_shown(project: Project) -> None:
    name = drawn(project)
    with pytest.raises(Refusal, match="Nobody has submitted"):
        report(project)
    validation_sets.lock(project, name)
    opening = validation_sets.open_test(project, name, ["small"]).id
    dev = report(project, set_name=name, opening=opening).of("small")
    assert report(project).of("small").told.confusion == dev.told.confusion


def test_an_annotator_is_not_shown_judges_beside_people(project: Project) -> None:
    labelled(project)
    project.work_as(people.known(project, "R2"))
    with pytest.raises(Refusal, match="Only a coordinator"):
        report(project)
