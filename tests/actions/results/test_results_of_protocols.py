"""Results of protocols with several metrics, of people, and of many responses together; figures counted by hand."""

import asyncio
import csv
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import median

import numpy as np
import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import (
    overview,
    result_raters,
    results,
    results_behind,
    scoring,
)
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.results.scoring import ALL, JudgedResponse
from annotator.actions.runs import judge_cases
from annotator.actions.studies import result_views
from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.protocol import (
    Case,
    Material,
    Metric,
    Over,
    RatedResponse,
    Verdicts,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, USUAL
from annotator.protocols.researcherbench.coverage import COVERAGE
from annotator.stats.intervals.clustered import rates
from annotator.stats.intervals.coding import Floats
from annotator.stats.intervals.student import bounds_of
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import (
    CLAIMS,
    PAIRS as PAIRWISE,
    PLAN,
    PREFERENCE,
    REASONING,
    one_item,
    reports,
    submit_labels,
)
from tests.storage import sql
from tests.templates import fixture_of


def test_what_is_computed_needs_no_judge_and_what_nothing_is_known_of_is_left_out(project: Project) -> None:
    assert results.rows(project, protocol="adra.efficiency") == []
    sql.alter(project, "UPDATE response SET latency_s = 2 * rowid")
    rows = [row for row in results.rows(project, protocol="adra.efficiency") if row.metric != "throughput"]
    # Responses 1 and 2 are Alpha's, 3 and 4 Beta's.
    assert {row.system: row.estimate.value for row in rows if row.group == ALL} == {"Alpha": 3.0, "Beta": 7.0}
    assert {(row.metric, row.rater, row.unit) for row in rows} == {("latency", "computed", "s")}
    expect_refusal(
        "is computed", judge_runs.plan, project, judge_cases.RunRequest("baseline", "adra.efficiency")
    )


# Response by its place, unit → what is said; of pairs the better one by its place, or None for neither.
COVERED = {0: {"c1": "yes", "c2": "no"}, 1: {"c1": "no", "c2": "no"}, 2: {"c1": "yes", "c2": "yes"}}
CLAIMED = {0: {"c1": "yes", "c2": "no", "c3": "unknown"}}
CELLS = {0: {"p1~g1": "relevant", "p1~g2": "not", "p1~g3": "not",
             "p2~g1": "not", "p2~g2": "relevant", "p2~g3": "relevant"}}  # fmt: skip
STATED = {
    0: {"s1": "true", "s2": "true", "s3": "cannot-tell"},
    1: {"s1": "false", "s2": "false", "s3": "false"},
    2: {"s1": "true", "s2": "false", "s3": "true"},
}
BETTER = {(0, 1): 0, (0, 2): 0, (1, 2): None}
Said = Mapping[tuple[str, str], str]
# Metric → system → what it must be.
EXPECTED = {
    # Both criteria weigh 2: S_c = 2·covered / 4.
    USUAL: {"coverage": (0.5, 0.0, 1.0)},
    # 1 yes, 1 no, 1 unknown: 1 / (1 + 1); all three claims cite.
    CLAIMS: {"faithfulness": (0.5, None, None), "groundedness": (1.0, None, None)},
    # The first wins both of its two comparisons; the others tie with each other and lose to it.
    PAIRWISE: {"win_rate": (1.0, 0.0, 0.0)},
    PREFERENCE: {"preference": (1.0, 0.0, 0.0)},
    # One-to-one 2 of 2 predicted, 2 of 3 gold; any-match 2 of 2 and 3 of 3.
    PLAN: {
        "plan.precision": (1.0, None, None), "plan.recall": (2 / 3, None, None), "plan.f1": (0.8, None, None),
        "plan.jaccard": (2 / 3, None, None), "plan_any.recall": (1.0, None, None), "plan_any.f1": (1.0, None, None),
    },
    # Gold true, false, true. First: TP 1, FP 1, FN 1. Second: TN 1, FN 2. Third: all right.
    REASONING: {
        "reasoning.accuracy": (1 / 3, 1 / 3, 1.0), "reasoning.precision": (0.5, None, 1.0),
        "reasoning.recall": (0.5, 0.0, 1.0), "reasoning.f1": (0.5, 0.0, 1.0),
    },
}  # fmt: skip
SAID = {USUAL: COVERED, CLAIMS: CLAIMED, PLAN: CELLS, REASONING: STATED}


labelled = fixture_of(one_item, reports=3)


def verdicts(labelled: Project, protocol: str) -> Said:
    """(response, unit) → what is said of it, of pairs in both orders."""
    ids = reports(labelled)
    if protocol in SAID:
        item_id = labels.queue(labelled)[0].item_id
        prefix = f"{item_id}/" if protocol == USUAL else ""
        return {
            (ids[n], f"{prefix}{unit}"): value
            for n, row in SAID[protocol].items()
            for unit, value in row.items()
        }
    result = {}
    for (one, other), best in BETTER.items():
        for first, second in ((one, other), (other, one)):
            value = "tie" if best is None else "first" if best == first else "second"
            result[ids[first], ids[second]] = value
    return result


def label_all(labelled: Project, protocol: str) -> None:
    said = verdicts(labelled, protocol)
    for task in labels.queue(labelled, protocol):
        for unit in labels.sheet(labelled, task.response_id, protocol, task.other_id).units:
            value = said[task.response_id, unit.id]
            labels.set_label(labelled, task.response_id, unit.id, value, protocol=protocol)
    submit_labels(labelled)


def figures(labelled: Project, protocol: str, rater_id: str = "") -> dict[str, tuple]:
    """Metric → its values in the order of the reports' systems."""
    result: dict[str, list] = {}
    for row in results.rows(labelled, rater_id, protocol):
        if row.group_by == "all":
            result.setdefault(row.metric, []).append((row.system, row.estimate.value))
    order = ("Canary-Alpha-9000", "Canary-Beta-9000", "Canary-Gamma-9000")
    return {name: tuple(dict(values).get(system) for system in order) for name, values in result.items()}


@pytest.mark.parametrize("protocol", EXPECTED)
def test_labels_by_hand_give_the_figures_worked_out_by_hand(labelled, protocol):
    label_all(labelled, protocol)
    result = figures(labelled, protocol, result_raters.PEOPLE)
    for metric, values in EXPECTED[protocol].items():
        assert result[metric] == pytest.approx(values), metric


def test_a_pair_asked_in_one_order_stands_for_both_until_the_other_is_asked(labelled):
    ids = reports(labelled)
    task = labels.queue(labelled, PAIRWISE)[0]
    labels.set_label(labelled, task.response_id, task.other_id, "first", protocol=PAIRWISE)
    submit_labels(labelled)
    order = dict(zip(ids, figures(labelled, PAIRWISE, result_raters.PEOPLE)["win_rate"], strict=True))
    assert (order[task.response_id], order[task.other_id]) == (1.0, 0.0)
    # Of a system that is chosen both its pairs are asked about, in both orders.
    alone = judge_cases.RunRequest("baseline", PAIRWISE, systems=("Canary-Alpha-9000",))
    assert judge_runs.plan(labelled, alone).total == 4


def test_a_mean_of_raters_counts_whom_it_is_over_and_says_why_there_is_none() -> None:
    one, open_ = (
        Estimate(0.4, n=1, floor=0.4, ceiling=0.4),
        Estimate(None, floor=0.0, ceiling=1.0, note="2 of 2 missing"),
    )
    some = scoring.mean_of_raters({"a": one, "b": one, "c": open_})
    assert (some.value, some.n, some.note) == (pytest.approx(0.4), 2, "1 of 3 left out: no defined score")
    none = scoring.mean_of_raters({"a": open_, "b": open_})
    assert (none.value, none.n, none.note) == (None, 0, "2 of 2 missing")


def covered(scored: RatedResponse) -> list[float]:
    units = scored.material.units(Kind.RUBRIC)
    return [float(unit.weight) for unit in units if scored.values.get(unit.id) == "yes"]


def median_of_all(scored: Sequence[RatedResponse], over_valid: bool) -> Estimate:
    pool = [weight for one in scored for weight in covered(one)]
    missing = sum(unit.id not in one.values for one in scored for unit in one.material.units(Kind.RUBRIC))
    bounds = (1.0, 3.0) if missing else (None, None)
    value = median(pool) if pool and (over_valid or not missing) else None
    return Estimate(value, n=len(pool), missing=missing, floor=bounds[0], ceiling=bounds[1], method="median")


def table(scored: Sequence[RatedResponse], over_valid: bool) -> dict[str, Estimate]:
    met = {one.material.response.id: len(covered(one)) for one in scored}
    whole = sum(met.values())
    of = {"": Estimate(float(whole), n=len(met))}
    for one in scored:
        name = one.material.response.system_id
        before = of.get(name, Estimate(0.0)).value or 0.0
        of[name] = Estimate(before + met[one.material.response.id] / whole, n=whole)
    return of


HEAVY_METRIC, SHARES = (
    Metric("heavy", "Median weight met", "", unit="of 3", pooled=median_of_all, within=(0, 3)),
    Metric("shares", "Of all that is met", "", unit="", table=table, within=(0, 100)),
)
POOLED = replace(
    COVERAGE,
    name="pooled",
    cases=lambda material: (replace(case, protocol="pooled") for case in COVERAGE.cases(material)),
    metrics=(*COVERAGE.metrics, HEAVY_METRIC, SHARES),
)


def baseline(case: Case) -> Verdicts:
    """Alpha meets the weight 3 on the first item, 2 and 1 on the second; Beta all on the first and nothing else."""
    alpha, first = case.response.text.startswith("# Alpha"), case.item.key == "1"
    met = (getattr(case.unit, "weight", 0) == 3) is first if alpha else first
    return {case.unit.id: Verdict(value="yes" if met else "no")}


@pytest.fixture
def pooled(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(PROTOCOLS, "pooled", replace(POOLED, baseline=baseline))
    asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline", "pooled")))
    return project


def by_system(project: Project, metric: str) -> dict[str, Estimate]:
    rows = results.rows(project, protocol="pooled")
    return {row.system: row.estimate for row in rows if row.metric == metric and row.group == ALL}


def test_a_pool_has_its_median_and_the_project_its_figure_with_reports_behind_them(pooled: Project) -> None:
    result = by_system(pooled, "heavy")
    # Alpha: 3, 2, 1; the mean of both medians were 2.25. Beta: 3, 2, 1 on one item, nothing on the other.
    assert {name: (one.value, one.n) for name, one in result.items()} == {"Alpha": (2.0, 3), "Beta": (2.0, 3)}
    assert result["Alpha"].low is None
    assert result["Alpha"].note == "2 items are too few for an interval, which takes 5"
    result = by_system(pooled, "shares")
    assert {name: one.value for name, one in result.items()} == {"Alpha": 0.5, "Beta": 0.5, "": 6.0}
    assert result[""].note == results.OF_PROJECT
    rows = [row for row in results.rows(pooled, protocol="pooled") if row.metric == "shares"]
    assert {row.over for row in rows} == {Over.PROJECT}
    # All twelve judgements stand behind the project's figure, six behind a system's.
    assert {row.system: row.judged for row in rows if row.group == ALL} == {"Alpha": 6, "Beta": 6, "": 12}
    source = shown(pooled, "heavy").lines[0].source
    assert source is not None
    sheet = results_behind.behind(pooled, source)
    assert [column.title for column in sheet.columns] == [
        "Item", "Question", "System", "Run", "Judged", "Missing", "Range",
    ]  # fmt: skip
    assert [line.cells[4].words for line in sheet.lines] == ["3", "3"]
    assert sheet.notes == ("A figure of all reports of a system together; 0 judgements are missing.",)
    whole = shown(pooled, "shares").lines[-1].source
    assert whole is not None
    assert len(results_behind.behind(pooled, whole).lines) == 4


def test_each_persons_pool_makes_a_figure_and_these_are_averaged(pooled: Project) -> None:
    task = next(one for one in labels.queue(pooled, "pooled"))
    sheet = labels.sheet(pooled, task.response_id, "pooled")
    for unit in (unit for group in sheet.groups for unit in group.units):
        labels.set_label(pooled, task.response_id, unit.id, "yes", protocol="pooled")
    labels.set_label(pooled, task.response_id, unit.id, labels.UNSURE, protocol="pooled")
    submit_labels(pooled)
    (row,) = (
        row for row in results.rows(pooled, "people", "pooled") if row.metric == "heavy" and row.group == ALL
    )
    assert (row.estimate.missing, row.judged, row.estimate.floor, row.estimate.ceiling) == (1, 2, 1.0, 3.0)


def shown(project: Project, metric: str = "") -> ResultSheet:
    (sheet,) = overview.sheets(overview.report(project), metric=metric)
    return sheet


def lines(sheet: ResultSheet) -> dict[str, dict[str, str]]:
    heads = [column.title for column in sheet.columns]
    return {
        line.cells[0].words: dict(zip(heads, (cell.words for cell in line.cells), strict=True))
        for line in sheet.lines
    }


def test_all_stand_side_by_side_the_project_last(pooled: Project) -> None:
    sheet = shown(pooled)
    result = lines(sheet)
    assert list(result) == ["Alpha", "Beta", overview.WHOLE]
    assert result["Alpha"]["Median weight met"] == "2.000  floor"
    assert result[overview.WHOLE]["Of all that is met"] == "6.000  floor  n 4"
    assert result[overview.WHOLE]["Coverage"] == "–"
    assert sheet.lines[-1].cells[-2].tip == "A figure of all reports of a system together"
    column = next(one for one in sheet.columns if one.title.startswith("Median"))
    assert column.tip.endswith(", of all reports of a system together")
    assert [column.title for column in shown(pooled, "heavy").columns][3] == "n"
    assert lines(shown(pooled, "coverage"))["Alpha"]["Items"] == "2"


def test_views_of_single_reports_offer_only_what_a_report_scores(pooled: Project) -> None:
    assert {"heavy", "shares"}.isdisjoint(info.name for info in scoring.qualities(pooled))
    for view in ("items", "efficiency", "length", "domains", "modes", "runs", "preferences"):
        offered = next(
            choice for choice in result_views.named(view).choices(pooled) if choice.name == "metric"
        )
        assert {"heavy", "shares"}.isdisjoint(value for _, value in offered.values)
    assert {"latency", "tokens"}.isdisjoint(value for _, value in results.metric_choice(pooled).values)


def test_they_leave_in_a_release(pooled: Project, tmp_path: Path) -> None:
    releases.export(pooled, tmp_path / "out")
    scores = json.loads((tmp_path / "out/scores.json").read_bytes())
    over = {
        (score["metric"], score["system"]): score.get("over") for score in scores if score["group"] == ALL
    }
    assert over["coverage", "Alpha"] is None
    assert (over["heavy", "Alpha"], over["shares", ""]) == ("system", "project")
    releases.export(pooled, tmp_path / "tables", "csv")
    with (tmp_path / "tables/scores.csv").open(encoding="utf-8-sig") as file:
        lines_ = list(csv.DictReader(file))
    assert {line["over"] for line in lines_} == {"", "system", "project"}


def pool(values: Sequence[Sequence[int]], system: str = "s") -> list[JudgedResponse]:
    made = []
    for place, weights in enumerate(values):
        units = [{"id": f"u{place}-{i}", "text": "x", "weight": weight} for i, weight in enumerate(weights)]
        material = Material(
            Item(id=f"i{place}", key=str(place), question="?", position=place),
            Response(id=f"r{place}", item_id=f"i{place}", system_id=system, text="x"),
            {Kind.RUBRIC: Rubric.model_validate({"units": units})},
        )
        made.append(
            JudgedResponse(
                ((ALL, ALL),), {"me": RatedResponse(material, {unit["id"]: "yes" for unit in units})}
            )
        )
    return made


VALUES = ((1, 3), (2,), (3, 3, 3), (1,), (1, 2), (2, 3))


def mean_of_all(scored: Sequence[RatedResponse], over_valid: bool) -> Estimate:
    weights = [weight for one in scored for weight in covered(one)]
    return Estimate(float(np.mean(weights)), n=len(weights), method="mean")


def means(scored: Sequence[RatedResponse], over_valid: bool, times: Floats) -> Floats:
    return rates([sum(covered(one)) for one in scored], [len(covered(one)) for one in scored], times)


MEAN = replace(HEAVY_METRIC, pooled=mean_of_all, within=(0.0, 10.0))


@pytest.mark.parametrize("metric", [MEAN, replace(MEAN, resampled=means)], ids=["asked", "at once"])
def test_an_interval_leaves_each_item_out_in_turn(metric: Metric) -> None:
    (estimate, pooled) = results.figures(POOLED, metric, pool(VALUES), ["s"])["s"]
    left = [np.mean([w for at, own in enumerate(VALUES) if at != out for w in own]) for out in range(6)]
    low, high = bounds_of(estimate.value or 0, 5 / 6 * 6 * float(np.var(left)), 6, (0.0, 10.0))
    assert (estimate.value, pooled) == (pytest.approx(24 / 11), 11)
    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    assert estimate.method == "mean; 95% Wilson score interval, jackknife over 6 items"
    assert estimate.note == "6 items only: the interval is rough"


def test_of_many_reports_an_interval_takes_a_quick_way() -> None:
    many = pool([(1, 2, 3)] * (results.MOST_REPORTS + 1))
    assert results.figures(POOLED, MEAN, many, ["s"])["s"][0].note == results.TOO_LONG
    quick = results.figures(POOLED, replace(MEAN, resampled=means), many, ["s"])["s"][0]
    assert (quick.low, quick.high) == (2.0, 2.0)


def test_a_figure_of_many_is_none_of_one_nor_of_no_report() -> None:
    result = results.figures(POOLED, HEAVY_METRIC, pool(VALUES), ["s", "other"])
    assert result["other"] == (Estimate(None, note="no report to count"), 0)
    (one,) = pool([(1,)])
    with pytest.raises(TypeError, match="none of a single one"):
        HEAVY_METRIC.score(one.ratings["me"], True)
    assert [metric.over for metric in POOLED.metrics] == [Over.RESPONSE, Over.SYSTEM, Over.PROJECT]
