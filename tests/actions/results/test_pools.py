"""Figures of many responses together: of a system's pool and of the whole project, from judging to the release."""

import asyncio
import csv
import json
from collections.abc import Sequence
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
    metrics,
    overview,
    pools,
    response_scores,
    result_exports,
    result_items,
    results,
)
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.results.scoring import ALL, JudgedResponse
from annotator.actions.runs import judge_cases
from annotator.actions.studies import result_views
from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Case, Material, Metric, Over, RatedResponse, Verdicts
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench.coverage import COVERAGE
from annotator.stats.intervals.clustered import rates
from annotator.stats.intervals.coding import Floats
from annotator.stats.intervals.student import bounds_of
from tests.projects.labelling_project import submit_labels


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


HEAVY, SHARES = (
    Metric("heavy", "Median weight met", "", unit="of 3", pooled=median_of_all, within=(0, 3)),
    Metric("shares", "Of all that is met", "", unit="", table=table, within=(0, 100)),
)
POOLED = replace(
    COVERAGE,
    name="pooled",
    cases=lambda material: (replace(case, protocol="pooled") for case in COVERAGE.cases(material)),
    metrics=(*COVERAGE.metrics, HEAVY, SHARES),
)


def baseline(case: Case) -> Verdicts:
    """Alpha meets the weight 3 on the first item, 2 and 1 on the second; Beta all on the first and nothing else."""
    alpha, first = case.response.text.startswith("# Alpha"), case.item.key == "1"
    weight = getattr(case.unit, "weight", 0)
    met = (weight == 3) is first if alpha else first
    return {case.unit.id: Verdict(value="yes" if met else "no")}


@pytest.fixture
def judged(project: Project, monkeypatch: pytest.MonkeyPatch) -> Project:
    monkeypatch.setitem(PROTOCOLS, "pooled", replace(POOLED, baseline=baseline))
    asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline", "pooled")))
    return project


def by_system(project: Project, metric: str) -> dict[str, Estimate]:
    rows = results.rows(project, protocol="pooled")
    return {row.system: row.estimate for row in rows if row.metric == metric and row.group == ALL}


def test_the_median_of_a_pool_is_not_the_mean_of_medians(judged: Project) -> None:
    found = by_system(judged, "heavy")
    # Alpha: 3, 2, 1; the mean of both medians were 2.25. Beta: 3, 2, 1 on one item, nothing on the other.
    assert {name: (one.value, one.n) for name, one in found.items()} == {"Alpha": (2.0, 3), "Beta": (2.0, 3)}
    assert found["Alpha"].low is None
    assert found["Alpha"].note == "2 items are too few for an interval, which takes 5"


def test_a_figure_of_the_project_stands_beside_those_of_its_systems(judged: Project) -> None:
    found = by_system(judged, "shares")
    assert {name: one.value for name, one in found.items()} == {"Alpha": 0.5, "Beta": 0.5, "": 6.0}
    assert found[""].note == pools.OF_PROJECT
    rows = [row for row in results.rows(judged, protocol="pooled") if row.metric == "shares"]
    assert {row.over for row in rows} == {Over.PROJECT}
    # All twelve judgements stand behind the project's figure, six behind a system's.
    assert {row.system: row.judged for row in rows if row.group == ALL} == {"Alpha": 6, "Beta": 6, "": 12}


def test_each_persons_pool_makes_a_figure_and_these_are_averaged(judged: Project) -> None:
    task = next(one for one in labels.queue(judged, "pooled"))
    sheet = labels.sheet(judged, task.response_id, "pooled")
    for unit in (unit for group in sheet.groups for unit in group.units):
        labels.set_label(judged, task.response_id, unit.id, "yes", protocol="pooled")
    labels.set_label(judged, task.response_id, unit.id, labels.UNSURE, protocol="pooled")
    submit_labels(judged)
    (row,) = (
        row for row in results.rows(judged, "people", "pooled") if row.metric == "heavy" and row.group == ALL
    )
    assert (row.estimate.missing, row.judged) == (1, 2)
    assert (row.estimate.floor, row.estimate.ceiling) == (1.0, 3.0)


def shown(project: Project, metric: str = "") -> ResultSheet:
    (sheet,) = overview.sheets(overview.report(project), metric=metric)
    return sheet


def lines(sheet: ResultSheet) -> dict[str, dict[str, str]]:
    heads = [column.title for column in sheet.columns]
    return {
        line.cells[0].words: dict(zip(heads, (cell.words for cell in line.cells), strict=True))
        for line in sheet.lines
    }


def test_all_stand_side_by_side_the_project_last(judged: Project) -> None:
    sheet = shown(judged)
    found = lines(sheet)
    assert list(found) == ["Alpha", "Beta", overview.WHOLE]
    assert found["Alpha"]["Median weight met"] == "2.000  floor"
    assert found[overview.WHOLE]["Of all that is met"] == "6.000  floor  n 4"
    assert found[overview.WHOLE]["Coverage"] == "–"
    assert sheet.lines[-1].cells[-2].tip == "A figure of all reports of a system together"
    column = next(one for one in sheet.columns if one.title.startswith("Median"))
    assert column.tip.endswith(", of all reports of a system together")
    narrow = shown(judged, "heavy")
    assert [column.title for column in narrow.columns][3] == "n"
    assert lines(shown(judged, "coverage"))["Alpha"]["Items"] == "2"


def test_behind_a_pooled_figure_stand_its_reports_without_a_score(judged: Project) -> None:
    found = shown(judged, "heavy")
    source = found.lines[0].source
    assert source is not None
    sheet = result_items.behind(judged, source)
    assert [column.title for column in sheet.columns] == [
        "Item", "Question", "System", "Run", "Judged", "Missing", "Range",
    ]  # fmt: skip
    assert [line.cells[4].words for line in sheet.lines] == ["3", "3"]
    assert sheet.told == ("A figure of all reports of a system together; 0 judgements are missing.",)
    whole = shown(judged, "shares").lines[-1].source
    assert whole is not None
    assert len(result_items.behind(judged, whole).lines) == 4


def test_views_of_single_reports_offer_only_what_a_report_scores(judged: Project) -> None:
    assert {"heavy", "shares"}.isdisjoint(info.name for info in metrics.qualities(judged))
    for view in ("items", "efficiency", "length", "domains", "modes", "runs", "preferences"):
        offered = next(one for one in result_views.named(view).choices(judged) if one.name == "metric")
        assert {"heavy", "shares"}.isdisjoint(value for _, value in offered.values)
    assert {"latency", "tokens"}.isdisjoint(
        value for _, value in response_scores.metric_choice(judged).values
    )


def test_they_leave_as_csv_json_and_in_a_release(judged: Project, tmp_path: Path) -> None:
    sheet = shown(judged)
    rows = list(csv.DictReader(result_exports.as_csv(sheet).decode("utf-8-sig").splitlines()))
    assert [row["heavy"] for row in rows] == ["2.0", "2.0", ""]
    tree = json.loads(result_exports.as_json(sheet))
    assert tree["rows"][-1]["shares"] == 6.0
    releases.export(judged, tmp_path / "out")
    scores = json.loads((tmp_path / "out/scores.json").read_bytes())
    over = {(one["metric"], one["system"]): one.get("over") for one in scores if one["group"] == ALL}
    assert over["coverage", "Alpha"] is None
    assert (over["heavy", "Alpha"], over["shares", ""]) == ("system", "project")
    releases.export(judged, tmp_path / "tables", "csv")
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


MEAN = replace(HEAVY, pooled=mean_of_all, within=(0.0, 10.0))


@pytest.mark.parametrize("metric", [MEAN, replace(MEAN, drawn=means)], ids=["asked", "at once"])
def test_an_interval_leaves_each_item_out_in_turn(metric: Metric) -> None:
    (estimate, judged) = pools.figures(POOLED, metric, pool(VALUES), ["s"])["s"]
    left = [np.mean([w for at, own in enumerate(VALUES) if at != out for w in own]) for out in range(6)]
    low, high = bounds_of(estimate.value or 0, 5 / 6 * 6 * float(np.var(left)), 6, (0.0, 10.0))
    assert (estimate.value, judged) == (pytest.approx(24 / 11), 11)
    assert (estimate.low, estimate.high) == pytest.approx((low, high))
    assert estimate.method == "mean; 95% Wilson score interval, jackknife over 6 items"
    assert estimate.note == "6 items only: the interval is rough"


def test_of_many_reports_an_interval_takes_a_quick_way() -> None:
    many = pool([(1, 2, 3)] * (pools.ASKED + 1))
    assert pools.figures(POOLED, MEAN, many, ["s"])["s"][0].note == pools.TOO_LONG
    quick = pools.figures(POOLED, replace(MEAN, drawn=means), many, ["s"])["s"][0]
    assert (quick.low, quick.high) == (2.0, 2.0)


def test_a_system_without_a_report_in_a_group_has_no_figure() -> None:
    found = pools.figures(POOLED, HEAVY, pool(VALUES), ["s", "other"])
    assert found["other"] == (Estimate(None, note="no report to count"), 0)


def test_a_figure_of_many_is_none_of_one() -> None:
    (one,) = pool([(1,)])
    with pytest.raises(TypeError, match="none of a single one"):
        HEAVY.score(one.said["me"], True)
    assert [metric.over for metric in POOLED.metrics] == [Over.RESPONSE, Over.SYSTEM, Over.PROJECT]
