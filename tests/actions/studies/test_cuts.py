"""Every cut in every mode: views narrowed to one mode and to the items of one type or subject."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.results import response_scores, result_exports
from annotator.actions.studies import result_views
from annotator.domain.material.part import ResponsePart
from annotator.stats.agreement.correlation import p_of, pearson
from tests.projects import adra_project as adra
from tests.storage import sql

ALONE, INJECTED = "end-to-end", "gold-plan injection"
TRUE, FALSE = "true", "false"
# Of the four statements s1 and s3 are true.
ALL_RIGHT = {"s1": TRUE, "s2": FALSE, "s3": TRUE, "s4": FALSE}
HALF_RIGHT = {"s1": TRUE, "s2": TRUE, "s3": TRUE, "s4": TRUE}
NONE_RIGHT = {"s1": FALSE, "s2": TRUE, "s3": FALSE, "s4": TRUE}


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Two research papers and two reviews; given a plan, Alpha is right on both reviews, else on half of a paper."""
    made = adra.adra_project(tmp_path, 4, ("Alpha", "Beta"))
    for place, item in enumerate(items.ids(made)):
        kind = "Research" if place < 2 else "Review"
        sql.alter(made, f"UPDATE item SET question_type = '{kind}' WHERE id = '{item}'")
        given = adra.answer(made, item, "Alpha", mode=INJECTED, tokens=100 * (place + 1), latency_s=10.0)
        adra.say(made, "adra.reasoning", item, given, ALL_RIGHT if kind == "Review" else HALF_RIGHT)
        adra.say(made, "adra.reasoning", item, adra.response_of(item), HALF_RIGHT)
        adra.say(made, "adra.reasoning", item, adra.response_of(item, "Beta"), NONE_RIGHT)
    yield made
    made.close()


def rows(project: Project, view: str, sheet: int = 0, **chosen: str) -> list[dict]:  # type: ignore[type-arg]
    return result_exports.rows(result_views.show(project, view, chosen).sheets[sheet])


def test_letter_16_every_mode_has_every_cut(project: Project) -> None:
    found = rows(project, "overview", metric="reasoning.accuracy", by="question_type", mode=INJECTED)
    assert {(row["group"], row["system"]): row["reasoning_accuracy"] for row in found} == {
        ("Research", "Alpha"): 0.5,
        ("Review", "Alpha"): 1.0,
    }
    of_all = rows(project, "overview", metric="reasoning.accuracy", by="question_type")
    assert {row["reasoning_accuracy"] for row in of_all if row["system"] == "Alpha"} == {0.5}


def test_letter_16_a_figure_of_another_mode_opens_that_modes_judgements(project: Project) -> None:
    chosen = {"metric": "reasoning.accuracy", "by": "question_type", "mode": INJECTED}
    sheet = result_views.show(project, "overview", chosen).sheets[0]
    source = next(cell.source for cell in sheet.lines[-1].cells if cell.source is not None)
    assert source.mode == INJECTED


@pytest.mark.parametrize(
    "view", ["items", "domains", "efficiency", "length", "runs", "errors", "wins", "pilot", "rubrics"]
)
def test_letter_16_every_view_of_systems_is_cut_by_mode_type_and_subject(project: Project, view: str) -> None:
    offered = {
        one.name: [value for _, value in one.values] for one in result_views.named(view).choices(project)
    }
    assert offered["mode"] == [ALONE, INJECTED]
    assert offered["among"] == [
        "",
        "question_type:Research",
        "question_type:Review",
        "subject:NLP",
        "subject:Vision",
    ]


def test_letter_16_domains_stand_over_all_systems_the_best_first(project: Project) -> None:
    found = rows(project, "domains", metric="reasoning.accuracy", by="question_type", mode=INJECTED)
    assert [(row["domain"], row["all_systems"], row["items"]) for row in found] == [
        ("Review", 1.0, 2),
        ("Research", 0.5, 2),
    ]
    alone = rows(project, "domains", metric="reasoning.accuracy", by="question_type")
    # Alpha's 0.5 and Beta's 0.
    assert [row["all_systems"] for row in alone] == [0.25, 0.25]


def test_letter_16_best_of_runs_is_cut_by_type(project: Project) -> None:
    second = {"Research": NONE_RIGHT, "Review": ALL_RIGHT}
    for item, name in response_scores.items_named(project).items():
        run = adra.answer(project, item, "Alpha", trial=2)
        adra.say(project, "adra.reasoning", item, run, second[name.question_type])
    for kind, one_run, best in (("Research", 0.25, 0.5), ("Review", 0.75, 1.0)):
        found = rows(project, "runs", metric="reasoning.accuracy", among=f"question_type:{kind}")
        alpha = next(row for row in found if row["system"] == "Alpha")
        assert (alpha["best_of_1"], alpha["best_of_2"]) == (one_run, best)


def test_letter_16_tokens_stand_beside_time_and_plans_beside_scores(project: Project) -> None:
    found = rows(project, "length", of="tokens", metric="latency", mode=INJECTED)
    assert [(row["system"], row["mean_length"], row["latency"]) for row in found] == [("Alpha", 250.0, 10.0)]
    plans = rows(project, "length", of="plan", metric="reasoning.accuracy", mode=INJECTED)
    assert (plans[0]["mean_length"], plans[0]["reports"]) == (4.0, 4)
    over = [row["over"] for row in rows(project, "length", 1, of="plan")]
    assert over[-1] == "means of subjects"


def test_letter_16_retrieval_accuracy_is_hit_for_one_source_and_jaccard_for_several(project: Project) -> None:
    review = items.ids(project)[0]
    paper = items.add(project, "What is new?", "Research").subject
    adra.answer(project, paper, "Alpha")
    adra.seal_evidence(project, paper, adra.GOLD_WORKS[:1])
    found = adra.works([*adra.GOLD_WORKS[:1], ("10.1000/other", "Another work of some length")])
    for item in (paper, review):
        adra.give(project, item, adra.response_of(item), ResponsePart.REFERENCES, adra.Evidence(units=found))
    scored = response_scores.of_metric(project, "retrieval.accuracy")
    # One of two retrieved is the one source; one of three gold works is among two: 1 / (3 + 2 − 1).
    assert {score.item_id: score.estimate.value for score in scored.of_mode() if score.estimate.value is not None} == {
        paper: 1.0, review: 0.25,
    }  # fmt: skip


def test_letter_19_p_stands_beside_r() -> None:
    # n = 4 and r = 0.8: t = 0.8 √(2 / 0.36) = 1.8856; beyond ±t lies 1 − t / √(2 + t²) = 0.2 with 2 degrees of freedom.
    assert p_of(pearson([1, 2, 3, 4], [1, 3, 2, 4])) == pytest.approx(0.2)
    assert p_of(pearson([1, 2, 3], [1, 1, 1])) is None
