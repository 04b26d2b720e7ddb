"""The choice of a judge, by hand: sixteen units, judges that err on none, two, or eight, at known costs."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.results import publishing
from annotator.actions.validation import judge_choice, validation
from annotator.actions.validation.judge_choice import JudgeChoiceQuery
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import CALL, JUDGEMENT
from tests.projects.validation_project import At, judge_says, noisy, person_says, validation_project
from tests.promises.labelled_at_once import labelled_at_once


def ann(at: At) -> str:
    return "yes" if at[1] == "Alpha" else "no"


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


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """“dear” errs nowhere, “fair” on two of sixteen, “cheap” on the whole of Alpha's."""
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    for name, says, cost in (
        ("dear", ann, 0.25),
        ("fair", missing_two, 0.02),
        ("cheap", lambda _: "no", 0.001),
    ):
        judge_says(project, name, says)
        price(project, name, cost)
    yield project
    project.close()


def choose(project: Project, **more: object) -> judge_choice.JudgeChoice:
    of = validation.ValidationQuery(against=("R2",))
    return judge_choice.choose(
        project, replace(JudgeChoiceQuery(of, figure="accuracy", reference="best"), **more)
    )


@pytest.mark.usefixtures("small_cases")
def test_the_cheapest_that_is_not_too_much_worse_is_chosen_with_its_reason(project: Project) -> None:
    # “fair” is right on 2 of 4 units less on items 1 and 2: by item 3/4, 3/4, 1, 1, so .36 below at the worst of 95 %.
    wide = choose(project, delta=0.4)
    assert (wide.reference, wide.chosen and wide.chosen.name) == ("dear", "fair")
    assert wide.reason[0].startswith("“fair” is the cheapest judge, at 0.080")
    assert "“cheap” is not chosen: it may be 0.500 worse." in wide.reason
    narrow = choose(project, delta=0.1)
    assert narrow.chosen is None
    assert "“dear” is the best choice among judges; this says nothing about people." in narrow.reason[0]
    assert any(line.startswith("“fair” is not chosen: it may be 0.3") for line in narrow.reason)


def test_a_judge_is_never_held_against_itself(project: Project) -> None:
    (dear,) = (one for one in choose(project, delta=1.0, reference="dear").offers if one.rater.name == "dear")
    assert (dear.fits, dear.difference.value, dear.why_not) == (False, None, "it is the reference")
    alone = choose(project, of=validation.ValidationQuery(judge="dear", against=("R2",)), reference="dear")
    assert alone.chosen is None
    assert alone.reason == (
        "“dear” is the only judge here and cannot be compared with itself. Compare it with people, or run "
        "another judge on the same reports.",
    )


def test_people_are_the_reference_unless_another_is_named(tmp_path: Path) -> None:
    project = validation_project(tmp_path, 30, ("Alpha",), (1, 1, 1))
    for alias, seed in (("R2", 1), ("R3", 2)):
        labelled_at_once(project, alias, noisy(project, 0.1, seed))
    for name, errs, cost in (("dear", 0.01, 0.25), ("fair", 0.1, 0.02)):
        judge_says(project, name, noisy(project, errs, 9))
        price(project, name, cost)
    found = judge_choice.choose(project, JudgeChoiceQuery(validation.ValidationQuery()))
    assert found.reference == "people"
    # “dear” errs less than people; “fair” is cheaper, errs as they do, and 30 items do not show that.
    assert (found.chosen and found.chosen.name) == "dear"
    assert found.reason[0].startswith(
        "“dear” is the cheapest judge, at 0.750 USD a question, that may stand in for"
    )
    assert found.reason[1].startswith("“dear”: Yes, because Δ Cohen's κ")
    assert found.reason[2].startswith("“fair” is not chosen: Not yet known, because")
    project.close()


def test_with_the_labels_of_one_person_nothing_can_be_said_and_what_to_do_is(project: Project) -> None:
    found = judge_choice.choose(project, JudgeChoiceQuery(validation.ValidationQuery()))
    assert found.chosen is None
    assert {one.answer and one.answer.verdict for one in found.offers} == {"Not yet known"}
    assert any("Have a second person label some of the same reports" in words for words in found.reason)


@pytest.mark.usefixtures("small_cases")
def test_agreement_cost_and_front_are_counted(project: Project) -> None:
    found = {one.rater.name: one for one in choose(project).offers}
    # Four judgements a question.
    assert {name: one.cost.value for name, one in found.items()} == {
        "dear": pytest.approx(1.0), "fair": pytest.approx(0.08), "cheap": pytest.approx(0.004),
    }  # fmt: skip
    assert found["fair"].agreement.value == pytest.approx(14 / 16)
    assert found["fair"].difference.value == pytest.approx(-2 / 16)
    assert {name for name, one in found.items() if one.on_front} == {"fair", "cheap"}
    # Four items that are all right bound less from below than four of which two are half right: 4 of 4 units.
    assert found["dear"].agreement.low == pytest.approx(4 / (4 + 3.18245**2), abs=1e-5)
    judge_says(project, "beaten", lambda _: "no")
    price(project, "beaten", 0.01)
    assert not next(one for one in choose(project).offers if one.rater.name == "beaten").on_front


@pytest.mark.usefixtures("small_cases")
def test_a_judge_of_unknown_cost_is_never_the_cheapest(project: Project) -> None:
    judge_says(project, "secret", ann)
    price(project, "secret", None)
    found = choose(project, delta=0.1)
    assert found.chosen is None
    assert "“secret” is not chosen: its cost is not known." in found.reason


@pytest.mark.usefixtures("small_cases")
def test_a_judge_of_which_too_much_is_missing_is_not_chosen(project: Project) -> None:
    judge_says(project, "gappy", lambda at: "-" if at[0] == 1 else ann(at))
    price(project, "gappy", 0.001)
    (gappy,) = (one for one in choose(project).offers if one.rater.name == "gappy")
    assert gappy.why_not == "25.0 % of its judgements are missing, more than 5.0 %"
    publishing.set_limit(project, 0.3)
    assert (choose(project).chosen or gappy.rater).name == "gappy"


@pytest.mark.usefixtures("small_cases")
def test_people_may_be_the_reference_and_are_the_band(project: Project) -> None:
    # Ben differs from Ann on eight of sixteen: people agree on a half, and four items say too little of judges.
    person_says(project, "R3", lambda at: "no" if ann(at) == "yes" else "yes" if at[0] < 1 else "no")
    found = choose(project, reference="people")
    assert (found.human and found.human.value) == pytest.approx(0.5)
    assert (found.chosen, found.offers[0].answer and found.offers[0].answer.verdict) == (
        None,
        "Not yet known",
    )
    (sheet,) = judge_choice.sheets(found)
    assert [line.cells[0].words for line in sheet.lines] == ["cheap", "dear", "fair", "people"]
    assert [picture.name for picture in sheet.pictures] == ["choice"]


def test_what_cannot_be_chosen_by_is_refused(project: Project) -> None:
    for more, words in (
        ({"figure": "beauty"}, "cannot be chosen by"), ({"delta": -1.0}, "not be negative"),
        ({"reference": "nobody"}, "has no judgements"),
    ):  # fmt: skip
        with pytest.raises(Refusal, match=words):
            choose(project, **more)
