"""Results of protocols with several metrics, facets, pairs, or nothing to judge; figures counted by hand."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace

import pytest

from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.results import result_raters, results, results_behind
from annotator.actions.results.result_sheets import FigureSource
from annotator.actions.runs import judge_cases
from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Case, Material, Metric, Protocol, RatedResponse, Verdicts
from annotator.domain.judges.scale import PAIR
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench.coverage import COVERAGE
from tests.storage import sql

HEAVY, LIGHT = "heavy", "light"


def facet(unit: Unit) -> str:
    return HEAVY if isinstance(unit, Criterion) and unit.weight == 3 else LIGHT


def count(scored: RatedResponse, over_valid: bool) -> Estimate:
    said = [scored.values.get(unit.id) for unit in scored.material.units(Kind.RUBRIC)]
    return Estimate(float(said.count("yes")), n=len(said), missing=said.count(None))


FACETED = replace(
    COVERAGE,
    name="faceted",
    cases=lambda material: (replace(case, protocol="faceted") for case in COVERAGE.cases(material)),
    metrics=(*COVERAGE.metrics, Metric("covered", "Covered criteria", "", count, unit="criteria")),
    facet=facet,
)


def compare(case: Case) -> Verdicts:
    """Alpha's report is the better one, whatever the order, but on the second item the first shown wins."""
    if case.item.key == "2":
        return {case.unit.id: Verdict(value="first")}
    better = "first" if case.response.text.startswith("# Alpha") else "second"
    return {case.unit.id: Verdict(value=better)}


def pairs(material: Material) -> Iterator[Case]:
    for other in material.others:
        yield Case("pairs", material.item, material.response, "", (Unit(id=other.id),), other=other)


def wins(scored: RatedResponse, over_valid: bool) -> Estimate:
    others = [other.id for other in scored.material.others]
    won = [scored.values.get(o) == "first" and scored.reverse.get(o) == "second" for o in others]
    missing = sum(o not in scored.values or o not in scored.reverse for o in others)
    return Estimate(sum(won) / len(won), n=len(won), missing=missing)


PAIRS = Protocol(
    name="pairs", title="Pairs", citation="", needs=(), metrics=(Metric("wins", "Wins", "", wins),),
    scale=PAIR, cases=pairs, baseline=compare, paired=True,
)  # fmt: skip


def latency(scored: RatedResponse, over_valid: bool) -> Estimate:
    return Estimate(scored.material.response.latency_s, n=1, note="")


COMPUTED = Protocol(
    name="computed", title="Time", citation="", needs=(),
    metrics=(
        Metric("latency", "Latency", "", latency, higher_is_better=False, unit="s"),
        Metric("nothing", "Nothing known", "", lambda scored, over_valid: Estimate(None, note="unknown")),
    ),
)  # fmt: skip


def judged(project: Project, shape: Protocol, monkeypatch: pytest.MonkeyPatch) -> list[results.ResultRow]:
    monkeypatch.setitem(PROTOCOLS, shape.name, shape)
    if shape.values:
        asyncio.run(judge_runs.run(project, judge_cases.RunRequest("baseline", shape.name)))
    return results.rows(project, protocol=shape.name)


def values(
    rows: list[results.ResultRow], metric: str, group_by: str = "all"
) -> dict[tuple[str, str], float | None]:
    chosen = (row for row in rows if row.metric == metric and row.group_by == group_by)
    return {(row.system, row.group): row.estimate.value for row in chosen}


def test_every_metric_of_a_protocol_has_its_rows(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_only(case: Case) -> Verdicts:
        return {case.unit.id: Verdict(value="yes" if "residual" in case.unit.text else "no")}

    rows = judged(project, replace(FACETED, baseline=first_only), monkeypatch)
    # The criterion of weight 3 of 3, 2 and 1.
    assert values(rows, "coverage") == {("Alpha", "all"): 0.5, ("Beta", "all"): 0.5}
    assert values(rows, "covered") == {("Alpha", "all"): 1.0, ("Beta", "all"): 1.0}
    assert {(row.metric, row.title, row.unit) for row in rows} == {
        ("coverage", "Coverage", ""), ("covered", "Covered criteria", "criteria"),
    }  # fmt: skip


def test_units_are_told_apart_by_their_facet(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def first_only(case: Case) -> Verdicts:
        return {case.unit.id: Verdict(value="yes" if "residual" in case.unit.text else "no")}

    rows = judged(project, replace(FACETED, baseline=first_only), monkeypatch)
    assert values(rows, "coverage", "facet") == {
        ("Alpha", HEAVY): 1.0, ("Alpha", LIGHT): 0.0, ("Beta", HEAVY): 1.0, ("Beta", LIGHT): 0.0,
    }  # fmt: skip
    assert values(rows, "covered", "facet")["Alpha", LIGHT] == 0.0
    rater = result_raters.raters(project, "faceted")[0].id
    lines = results_behind.of_source(project, FigureSource("faceted", rater, group_by="facet", group=LIGHT))
    assert {line.unit for line in lines} == {"Compares training stability", "Names one dataset"}
    assert len(lines) == 8


def test_without_facets_nothing_is_told_apart(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = judged(project, replace(FACETED, facet=lambda unit: ""), monkeypatch)
    assert {row.group_by for row in rows} == {"all", "question_type", "subject"}


def test_a_pair_is_scored_from_both_orders(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = judged(project, PAIRS, monkeypatch)
    # Alpha wins the first item in both orders; on the second the verdict flips with the order, a win for nobody.
    assert values(rows, "wins") == {("Alpha", "all"): 0.5, ("Beta", "all"): 0.0}
    assert all(row.estimate.missing == 0 for row in rows)
    assert len(results_behind.of_source(project, FigureSource("pairs", rows[0].rater_id))) == 4


def test_a_pair_of_which_one_order_is_missing_is_counted_as_missing(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judged(project, PAIRS, monkeypatch)
    sql.alter(project, "DELETE FROM judgement WHERE rowid = 1")
    rows = results.rows(project, protocol="pairs")
    assert [row.estimate.missing for row in rows if row.group == "all"] == [1, 1]


def test_pairs_of_chosen_systems_are_asked_in_both_orders(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(PROTOCOLS, "pairs", PAIRS)
    for systems, wanted in (((), 4), (("Alpha", "Beta"), 4), (("Alpha",), 4)):
        assert judge_runs.plan(project, judge_cases.RunRequest("baseline", "pairs", systems)).total == wanted


def test_what_is_computed_needs_no_judge(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    sql.alter(project, "UPDATE response SET latency_s = 2 * rowid")
    rows = judged(project, COMPUTED, monkeypatch)
    # Responses 1 and 2 are Alpha's, 3 and 4 Beta's.
    assert values(rows, "latency") == {("Alpha", "all"): 3.0, ("Beta", "all"): 7.0}
    assert {(row.metric, row.rater, row.unit) for row in rows} == {("latency", "computed", "s")}
    with pytest.raises(Refusal, match="is computed"):
        judge_runs.plan(project, judge_cases.RunRequest("baseline", "computed"))


def test_what_nothing_is_known_of_is_left_out(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    assert judged(project, COMPUTED, monkeypatch) == []
