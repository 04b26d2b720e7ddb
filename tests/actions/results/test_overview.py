"""All figures side by side, how they are said, how tables leave, and what a floor is.

The table in which systems contend: stars by hand, the exemplar's own row. Figures made of others: their values by
hand and by the published table, their intervals by hand. Results of every protocol, of people, and of many responses
together; figures counted by hand.
"""

import asyncio
import csv
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod
from pathlib import Path
from statistics import fmean, median
from types import SimpleNamespace

import numpy as np
import pytest

from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import labels
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import (
    overview,
    result_pictures,
    result_raters,
    results,
    results_behind,
    scoring,
)
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    columns,
    count,
    figure,
    in_words,
    key_of,
    number,
    or_why,
    percent,
    text,
)
from annotator.actions.results.scoring import ALL, JudgedResponse, Score
from annotator.actions.runs import judge_cases
from annotator.actions.studies import result_views
from annotator.actions.validation import validation_views
from annotator.domain.common import Refusal
from annotator.domain.judges.judge import Verdict
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import (
    Case,
    Composite,
    Material,
    Metric,
    Over,
    Protocol,
    RatedResponse,
    Verdicts,
)
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Rubric
from annotator.domain.material.item import END_TO_END, EXEMPLAR, Item, Response
from annotator.domain.texts.estimate import Estimate, settled
from annotator.protocols import COMPOSITES, PROTOCOLS, USUAL
from annotator.protocols.deepscholar.overall import METRICS, WITHOUT_VERIFIABILITY
from annotator.protocols.researcherbench.coverage import COVERAGE
from annotator.stats.intervals.clustered import geometric_mean, rates
from annotator.stats.intervals.coding import Floats
from annotator.stats.intervals.student import bounds_of
from tests.cli.commands import told
from tests.common import expect_refusal, fixture_of
from tests.material.labelled_sections import rated_tasks
from tests.projects import adra_project as adra
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


@pytest.fixture
def planned(tmp_path: Path) -> Project:
    """Two items of two subjects; Alpha's plan finds 3 of 4 and 1 of 4, one of its 16 cells is missing."""
    planned = adra.adra_project(tmp_path, 2)
    one, two = items.ids(planned)
    adra.fill_matrix(planned, one, adra.response_of(one), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
    adra.fill_matrix(planned, two, adra.response_of(two), [[1, 0, 0, 0], [0, 0, 0, None]])
    return planned


def cell(sheet: ResultSheet, column: str, row: int = 0) -> SheetCell:
    return sheet.lines[row].cells[[one.title for one in sheet.columns].index(column)]


def shown(planned: Project, **how: str) -> ResultSheet:
    (sheet,) = overview.sheets(overview.report(planned), **how)
    return sheet


def test_all_metrics_stand_beside_one_another_with_n_and_what_is_missing(planned: Project) -> None:
    sheet = shown(planned)
    recall = cell(sheet, "Plan recall (one-to-one)")
    # Of the second plan the whole row alone counts: 1 of 4; 3 of 4 in the first.
    assert recall.estimate.value == pytest.approx((3 / 4 + 1 / 4) / 2)
    assert (recall.estimate.n, recall.estimate.missing) == (2, 1)
    (column,) = (column for column in sheet.columns if column.title == "Plan recall (one-to-one)")
    assert column.beside == "n = 2"
    assert "1 judgement is missing behind these figures; none is counted as an answer." in sheet.notes
    assert (recall.source.metric, recall.source.rater_id) == ("plan.recall", adra.JUDGE)
    assert recall.picture in {one.name for one in sheet.pictures}
    # 1 of 20 cells is 5 %, not more than the limit of 5 %.
    assert recall.state == "incomplete"
    results.set_limit(planned, 0.04)
    sheet = shown(planned)
    result = cell(sheet, "Plan recall (one-to-one)")
    assert result.state == "unfit"
    assert "5.0 % of the judgements are missing, more than 4.0 %" in result.tip
    assert any("8 figures are not publishable" in words for words in sheet.notes)


def test_one_metric_is_set_out_with_everything_that_belongs_to_it(planned: Project) -> None:
    sheet = shown(planned, metric="plan.recall", by="subject")
    rows = [[one.words for one in line.cells] for line in sheet.lines]
    assert [column.title for column in sheet.columns] == [
        "Subject", "System", "Plan recall (one-to-one)", "95 % interval", "Items", "Missing", "Share missing",
        "At least", "At most", "Publishable",
    ]  # fmt: skip
    # Item 1 is on NLP, item 2 on Vision: 1 of 8 cells missing; a second match would make it 2 of 4.
    assert rows == [
        ["NLP", "Alpha", "0.750", "–", "1", "0", "0.0 %", "–", "–", "yes"],
        ["Vision", "Alpha", "0.250", "–", "1", "1", "12.5 %", "0.250", "0.500", "no"],
    ]


def test_aspects_are_told_apart_and_a_rater_who_judged_nothing_leaves_only_what_is_computed(
    planned: Project,
) -> None:
    one = items.ids(planned)[0]
    adra.say(
        planned,
        "adra.reasoning",
        one,
        adra.response_of(one),
        {"s1": "true", "s2": "true", "s3": "true", "s4": "false"},
    )
    sheet = shown(planned, metric="reasoning.accuracy", by="facet")
    result = {line.cells[0].words: line.cells[2].value for line in sheet.lines}
    # Background: 1 of 1 right; problem: 0 of 1; results: 2 of 2.
    assert result == {"background": 1.0, "problem": 0.0, "results": 1.0}
    of_results = next(line.cells[2].source for line in sheet.lines if line.cells[0].words == "results")
    assert [line.judgement.value for line in results_behind.of_source(planned, of_results)] == [
        "true",
        "false",
    ]
    adra.answer(planned, one, "Timed", latency_s=3.0)
    assert {row.metric for row in overview.report(planned, "nobody").rows} == {"latency"}


FOUND = Estimate(0.5, 0.4, 0.65, n=10, missing=2, floor=0.45, ceiling=0.6, method="mean")
SHEET = ResultSheet(
    "figures",
    "Figures",
    columns(
        ("system", "System"),
        SheetColumn("coverage", "Coverage", "About", "of 1"),
        ("wins", "Wins"),
        ("system", "Other"),
    ),
    (
        SheetLine((text("=1+1"), figure(FOUND), count(1234), text("Report 10"))),
        SheetLine(
            (text("باحث 深度"), figure(Estimate(None, note="nobody judged")), count(None), text("Report 9"))
        ),
    ),
    ("What holds of all.",),
)


def test_figures_are_said_with_their_interval_and_gaps() -> None:
    assert in_words(FOUND) == "0.500  [0.400, 0.650]  2 missing; with them 0.450 to 0.600"
    assert in_words(Estimate(None, missing=3)) == "–  3 missing"
    cell = figure(FOUND)
    assert cell.tip == "n = 10\nmean\n2 judgements missing; with them 0.450 to 0.600"
    assert "\n1 judgement missing" in figure(Estimate(0.5, missing=1, method="mean")).tip
    assert (cell.state, figure(Estimate(None)).state) == ("incomplete", "missing")
    few = settled(Estimate(0.15, 0.1, 0.2, n=9, method="mean over 3 clusters"), 3, "clusters")
    assert "3 clusters are too few" in few.note
    assert figure(few).tip == "n = 9\nmean over 3 items\n3 items are too few for an interval, which takes 5"
    assert (
        or_why(replace(few, value=None)) == "undefined (3 items are too few for an interval, which takes 5)"
    )
    assert (percent(0.125, 1), percent(1)) == ("12.5 %", "100 %")
    assert (
        sorted([text("Report 10"), text("Report 9")], key=lambda cell: str(cell.worth))[0].words == "Report 9"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.1234, "0.123"), (-3.0, "−3.000"), (12.345, "12.35"), (123.45, "123.5"), (12345.6, "12,346")],
)
def test_large_values_have_fewer_places(value: float, said: str) -> None:
    assert number(value) == said


def test_tables_leave_as_text_csv_and_json() -> None:
    first, second = result_pictures.rows(SHEET)
    assert first == {
        "system": "=1+1", "coverage": 0.5, "coverage_low": 0.4, "coverage_high": 0.65, "coverage_n": 10,
        "coverage_missing": 2, "coverage_floor": 0.45, "coverage_ceiling": 0.6, "coverage_note": "",
        "wins": 1234, "system_2": "Report 10",
    }  # fmt: skip
    assert (second["coverage"], second["coverage_note"], second["wins"]) == (None, "nobody judged", None)
    assert result_pictures.as_text(SHEET).splitlines()[0].split("\t")[:3] == [
        "System",
        "Coverage",
        "Coverage, low",
    ]
    written = result_pictures.as_csv(SHEET).decode("utf-8-sig")
    assert written.splitlines()[1].startswith("'=1+1,0.5,0.4")
    assert result_pictures.as_text(SHEET).splitlines()[1].startswith("'=1+1\t0.5\t0.4")
    assert "باحث 深度" in written
    tree = json.loads(result_pictures.as_json(SHEET))
    assert (tree["title"], tree["told"], len(tree["rows"])) == ("Figures", ["What holds of all."], 2)
    assert tree["rows"][1]["coverage"] is None
    empty = ResultSheet("none", "None", SHEET.columns, ())
    assert (result_pictures.as_csv(empty), result_pictures.as_text(empty)) == (b"", "")


def test_keys_of_columns_are_their_own() -> None:
    assert (key_of("system", "GPT-4o (mini)"), key_of("plan.f1")) == ("system_gpt_4o_mini", "plan_f1")
    assert (key_of("system", "深度 研究"), key_of("system", "!?")) == ("system_深度_研究", "system")
    (row,) = result_pictures.rows(
        ResultSheet(
            "x", "X", columns(("a", "A"), ("a_low", "A low")), (SheetLine((figure(FOUND), count(7))),)
        )
    )
    assert (row["a_low"], row["a_low_2"]) == (0.4, 7)
    tree = result_pictures.as_tree(SHEET, offsets=True)
    assert [one["key"] for one in tree["columns"]] == list(tree["rows"][0])
    told_by = {one["key"]: (one["title"], one["unit"], one["about"]) for one in tree["columns"]}
    assert told_by["coverage"] == ("Coverage", "of 1", "About")
    assert told_by["coverage_low"] == ("Coverage, low", "of 1", "About")
    assert told_by["coverage_n"] == ("Coverage, n", "", "About")
    assert told_by["coverage_plus"][0] == "Coverage, plus"
    assert tree["rows"][0]["coverage_plus"] == pytest.approx(0.15)
    sheet = ResultSheet(
        "x",
        "X",
        columns(("a", "A"), ("b", "B")),
        (SheetLine((SheetCell("–"), SheetCell("on the front", 0.0))),),
    )
    assert result_pictures.rows(sheet) == [{"a": None, "b": "on the front"}]


def test_a_table_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    assert result_pictures.save_exports(SHEET, tmp_path / "a.csv").read_bytes() == result_pictures.as_csv(
        SHEET
    )
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    expect_refusal(r"cannot be saved as “\.xls”", result_pictures.save_exports, SHEET, tmp_path / "a.xls")
    expect_refusal(
        "could not be written", result_pictures.save_exports, SHEET, tmp_path / "no folder" / "a.csv"
    )


SET_BY, NEVER_FALSE = "five public systems average the 0.52", "It never says False"


def told_by(planned: Project, view: str, **chosen: str) -> str:
    sheets = result_views.show(
        planned, view, chosen, among=(*paper_tables.VIEWS, *validation_views.VIEWS)
    ).sheets
    return " ".join(words for sheet in sheets for words in sheet.notes)


@pytest.mark.parametrize(
    ("view", "chosen"),
    [
        ("overview", {"metric": "coverage"}), ("items", {"metric": "coverage"}), ("domains", {"metric": "coverage"}),
        ("efficiency", {"metric": "coverage"}), ("length", {"metric": "coverage"}), ("pilot", {}),
        ("tables", {"table": "systems"}), ("judges", {}),
    ],
)  # fmt: skip
def test_letter_22_where_coverage_stands_its_threshold_is_told(
    sample: Project, view: str, chosen: dict[str, str]
) -> None:
    assert SET_BY in told_by(sample, view, **chosen)


def test_letter_22_a_figure_of_the_baseline_is_a_floor_and_never_publishable(sample: Project) -> None:
    assert NEVER_FALSE in told_by(sample, "overview", metric="reasoning.accuracy")
    assert NEVER_FALSE in told_by(sample, "tables", table="end-to-end")
    assert SET_BY not in told_by(sample, "items", metric="reasoning.accuracy")
    (sheet,) = result_views.show(
        sample, "overview", {"metric": "coverage", "judge": _baseline(sample)}
    ).sheets
    assert {row["publishable"] for row in result_pictures.rows(sheet)} == {"floor"}
    (wide,) = result_views.show(sample, "overview", {"judge": _baseline(sample)}).sheets
    place = wide.keys.index("coverage")
    assert all(
        line.cells[place].words.endswith("floor")
        for line in wide.lines
        if line.cells[0].words != "The whole project"
    )


def _baseline(planned: Project) -> str:
    (judge,) = result_views.named("overview").choices(planned)[:1]
    return next(value for name, value in judge.values if name == "baseline")


@pytest.mark.slow
def test_letter_22_no_view_shows_a_baseline_as_publishable(sample: Project) -> None:
    judge = _baseline(sample)
    tables = [{"table": name} for name in paper_tables.TABLES]
    for view in paper_tables.VIEWS:
        offered = {choice.name for choice in view.choices(sample)}
        for chosen in tables if view.name == "tables" else [{}]:
            whole = chosen | ({"judge": judge} if "judge" in offered else {})
            try:
                sheets = result_views.show(sample, view.name, whole, among=paper_tables.VIEWS).sheets
            except Refusal:
                continue
            rows = [row for sheet in sheets for row in result_pictures.rows(sheet)]
            assert not any(row.get("publishable") in ("yes", 0.0) for row in rows)


def test_letter_22_the_command_and_a_release_say_floor(
    sample: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    releases.export(sample, tmp_path / "release")
    result = told(capsys, "results", sample.path, "--rater", "baseline")
    assert ({row["publishable"] for row in result["rows"]}, SET_BY in result["told"][0]) == ({False}, True)
    scores = json.loads((tmp_path / "release" / "scores.json").read_text("utf-8"))
    assert {
        score["unfit"] for score in scores if score["rater"] == "baseline" and score["value"] is not None
    } == {results.FLOOR}
    card = " ".join((tmp_path / "release" / "README.md").read_text("utf-8").split())
    assert SET_BY in card
    assert NEVER_FALSE in card


by_language = fixture_of(rated_tasks)


def test_each_language_has_its_columns_and_each_system_its_row(by_language: Project) -> None:
    sheet, leakage = result_views.show(
        by_language, "tables", {"table": "arena"}, among=paper_tables.VIEWS
    ).sheets
    assert [line.cells[0].words for line in leakage.lines] == ["Alpha again", "Average"]
    titles = [column.title for column in sheet.columns]
    assert [title for title in titles if title.startswith("en")][-3:] == [
        "en: ACE",
        "en: Avg. Token",
        "en: Avg. references",
    ]
    assert len([title for title in titles if title.startswith("zh")]) == len(titles) // 2
    of = {line.cells[0].words: dict(zip(titles, line.cells, strict=True)) for line in sheet.lines}
    # .5 · 8 + .3 · 6 + .2 · 1; .5 · 5 + .3 · 5; .5 · 2 + .2 · 10.
    assert of["Alpha"]["en: ACE"].value == pytest.approx(6.0)
    assert of["Alpha"]["zh: ACE"].value == pytest.approx(4.0)
    assert (of["Beta"]["en: ACE"].value, of["Beta"]["zh: ACE"].value) == (pytest.approx(3.0), None)
    assert (of["Alpha"]["en: Avg. Token"].value, of["Alpha"]["en: Avg. references"].value) == (1000, 2)
    shown = result_views.show(by_language, "tables", {"table": "ace-length"}, among=paper_tables.VIEWS)
    assert [sheet.title for sheet in shown.sheets if "characters" in sheet.title]
    assert {line.cells[0].words for line in shown.sheets[0].lines} == {"Alpha", "Beta"}


def test_every_figure_of_every_group_can_be_asked_where_it_comes_from(by_language: Project) -> None:
    for place, item_id in enumerate(items.ids(by_language)):
        items.change(
            by_language,
            item_id,
            traits={"phase": ("Design", "Evaluate")[place], "difficulty": "Basic"},
            question_type="Survey",
            subject="Physics",
        )
    rater = result_raters.raters(by_language, "arena.checklist")[0].id
    (sheet, _) = result_views.show(by_language, "tables", {"table": "arena"}, among=paper_tables.VIEWS).sheets
    asked = [(cell, 1) for line in sheet.lines for cell in line.cells if cell.metric == "ace"]
    for _, by in overview.GROUPED:
        for one in result_views.show(
            by_language, "overview", {"metric": "ace", "by": by, "judge": rater}
        ).sheets:
            asked += [(cell, 0) for line in one.lines for cell in line.cells if cell.metric == "ace"]
    there = [(cell, many) for cell, many in asked if cell.estimate and cell.estimate.value is not None]
    assert {cell.source.group_by for cell, _ in there} >= {
        "language",
        "phase",
        "difficulty",
        "subject",
        "all",
    }
    for cell, many in there:
        lines = results_behind.behind(by_language, cell.source).lines
        assert len(lines) == (many or cell.estimate.n), cell.source
        assert all(results_behind.of_source(by_language, line.source) for line in lines)
        assert results_behind.of_source(by_language, cell.source)


HERE = [
    metric.name for protocol in PROTOCOLS.values() for metric in protocol.metrics if metric.name in METRICS
]
ME = result_raters.ResultRater("me", "me", 1)


@dataclass
class Board:
    """Scores by hand: of each system on each item, the same for all metrics but those that are given."""

    scores: dict[str, dict[str, Sequence[float | None]]]
    exemplar: Sequence[float] = (0.5, 1.0, 0.585, 1.0, 1.0)

    def counted(self) -> dict[str, results.Counted]:
        result = {}
        for protocol in PROTOCOLS.values():
            own = [metric.name for metric in protocol.metrics if metric.name in METRICS]
            if own:
                made = [one for name in own for one in self._scores(name)]
                names = {one.system_id: one.system_id for one in made}
                result[protocol.name] = results.Counted(protocol, ME, made, (), names)
        return result

    def _scores(self, metric: str) -> list[Score]:
        given = [
            score(metric, place, value, system)
            for system, of in self.scores.items()
            for place, value in enumerate(of.get(metric, of["*"]))
        ]
        if metric in WITHOUT_VERIFIABILITY:
            value = self.exemplar[WITHOUT_VERIFIABILITY.index(metric)]
            given += [score(metric, place, value, "human", EXEMPLAR) for place in range(len(given) and 6)]
        return given


def score(
    metric: str,
    item: int,
    value: float | None,
    system: str = "s",
    mode: str = END_TO_END,
    **bounds: float,
) -> Score:
    estimate = Estimate(value, n=int(value is not None), **bounds)  # type: ignore[arg-type]
    return Score(f"i{item}", system, metric, ((ALL, ALL),), estimate, f"{system}{item}", 1, mode, 1)


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    paper, overall = COMPOSITES["overall"]
    monkeypatch.setitem(COMPOSITES, "overall", (paper, replace(overall, of=tuple(HERE))))


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, project: Project, at_hand: None):

    def made(board: Board) -> tuple[ResultSheet, ...]:
        systems = {
            name: SimpleNamespace(name=name, group="", footnote="") for name in (*board.scores, "human")
        }
        monkeypatch.setattr(overview, "gathered", lambda *_, **__: board.counted())
        monkeypatch.setattr(paper_tables.systems_tables, "systems_of", lambda _: systems)
        return result_views.show(
            project, *paper_tables.view_of("deepscholar"), among=paper_tables.VIEWS
        ).sheets

    return made


def long(sheet: ResultSheet, system: str, metric: str) -> dict:
    (result,) = (
        row
        for row in result_pictures.as_tree(sheet)["rows"]
        if (row["system"], row["metric"]) == (system, metric)
    )
    return result


@pytest.mark.usefixtures("at_hand")
def test_the_exemplars_overall_is_of_five_figures() -> None:
    _, overall = COMPOSITES["overall"]
    result = Board({"a": {"*": [0.5] * 6}}).counted()
    rows = [row for one in result.values() for row in results.rows_of(one)]
    made = {row.system_id: row for row in overview.made_of(result, rows)}
    assert overall.of_exemplar == METRICS[:5]
    assert made["human"].estimate.value == pytest.approx(0.7820, abs=0.00005)
    assert made["a"].estimate.value == pytest.approx(0.5)


def test_only_the_best_has_a_star_and_the_other_pairs_are_corrected(show) -> None:
    base = [0.10, 0.12, 0.11, 0.13, 0.10, 0.12]
    systems = {
        name: {"*": [value + step + wave for value, wave in zip(base, waves, strict=True)]}
        for name, step, waves in (
            ("a", 0.5, (0.01, 0, 0.02, 0, 0.01, 0)),
            ("b", 0.3, (0, 0.01, 0, 0.02, 0, 0.01)),
            ("c", 0.295, (0.0, 0.02, 0.01, 0.0, 0.01, 0.0)),
        )
    }
    table, pairs = show(Board(systems))
    cells = {line.cells[0].words: [cell.words for cell in line.cells[1:]] for line in table.lines}
    assert list(cells) == ["human", "a", "b", "c"]
    assert all(words.endswith("*") for words in cells["a"])
    assert not any("*" in words for name in ("human", "b", "c") for words in cells[name])
    own = [row for row in result_pictures.rows(pairs) if row["metric"] == "Organization"]
    assert [(row["better"], row["other"]) for row in own] == [("a", "b"), ("a", "c"), ("b", "c")]
    assert own[0]["p_holm"] is None
    # Two others: the smaller p counts twice, the larger once.
    assert own[1]["p_holm"] == pytest.approx(2 * own[1]["p"])
    assert own[2]["p_holm"] == pytest.approx(max(own[2]["p"], own[1]["p_holm"]))
    overall = [row for row in result_pictures.rows(pairs) if row["metric"] == "Overall"]
    assert overall[0]["difference_low"] > 0
    assert "human" not in {row[name] for row in result_pictures.rows(pairs) for name in ("better", "other")}


def test_an_item_without_a_figure_of_one_is_left_out_of_the_pair(show) -> None:
    table, pairs = show(
        Board(
            {
                "a": {"*": [0.9, 0.4, 0.5, 0.6], "organization": [None, 0.4, 0.5, 0.6]},
                "b": {"*": [0.1, 0.3, 0.3, 0.3]},
            }
        )
    )
    organization = next(row for row in result_pictures.rows(pairs) if row["metric"] == "Organization")
    assert (organization["df"], round(organization["t"], 4)) == (2, 3.4641)
    assert long(table, "a", "organization")["value"] == pytest.approx(0.5)


@pytest.mark.parametrize(("items", "starred"), [(2, False), (4, False), (5, True)])
def test_items_that_differ_alike_are_beyond_chance_only_where_there_are_enough(show, items, starred) -> None:
    table, pairs = show(Board({"a": {"*": [0.5] * items}, "b": {"*": [0.0] * items}}))
    assert long(table, "a", "organization")["star"] is starred
    assert result_pictures.rows(pairs)[0]["apart"] == ("yes" if starred else "too few items")


def test_no_star_stands_on_items_where_the_other_is_ahead(show) -> None:
    # The best by its mean answered the easy items only; on those that both have the other is clearly ahead.
    easy, waves = [0.9] * 6, [0.01, 0.0, 0.02, 0.0, 0.01, 0.0]
    a = [*(0.3 + wave for wave in waves), *easy]
    table, pairs = show(
        Board({"a": {"*": a}, "b": {"*": [*(0.5 + wave for wave in reversed(waves)), *[None] * 6]}})
    )
    first = result_pictures.rows(pairs)[0]
    assert first["difference"] < 0
    assert first["p"] < 0.05
    assert long(table, "a", "organization")["star"] is False
    assert "a" in first["better"]


def test_what_is_undefined_is_named_in_the_overall_and_one_item_gives_no_test(show) -> None:
    (table, _) = show(
        Board({"a": {"*": [0.5] * 6, "document_importance": [None] * 6}, "b": {"*": [0.0] * 6}})
    )
    result = long(table, "a", "overall")
    assert (result["value"], result["reason"]) == (None, "Document importance is undefined")
    assert long(table, "b", "overall")["value"] == 0.0
    (table,) = show(Board({"a": {"*": [0.5]}, "b": {"*": [0.25]}}))
    assert long(table, "a", "overall")["value"] == pytest.approx(0.5)
    assert {row["p"] for row in result_pictures.as_tree(table)["rows"]} == {None}


# DeepScholar, Table 2: organization, nuggets, relevance, references, importance, precision, claims → overall.
PUBLISHED = {
    (0.206, 0.230, 0.385, 0.047, 0.008, 0.312, 0.396): 0.137,
    (0.119, 0.183, 0.218, 0.003, 0.006, 0.238, 0.586): 0.073,
    (0.309, 0.278, 0.017, 0.008, 0.013, 0.010, 0.138): 0.042,
    (0.151, 0.193, 0.445, 0.060, 0.009, 0.316, 0.368): 0.135,
    (0.556, 0.265, 0.490, 0.050, 0.009, 0.498, 0.470): 0.186,
    (0.849, 0.348, 0.610, 0.165, 0.026, 0.425, 0.495): 0.287,
    (0.698, 0.307, 0.583, 0.131, 0.008, 0.701, 0.760): 0.256,
    (0.706, 0.277, 0.583, 0.061, 0.010, 0.415, 0.398): 0.196,
    (0.857, 0.392, 0.629, 0.187, 0.124, 0.399, 0.138): 0.309,
    (0.206, 0.241, 0.436, 0.103, 0.008, 0.674, 0.851): 0.195,
    (0.809, 0.348, 0.590, 0.166, 0.008, 0.788, 0.899): 0.285,
    (0.857, 0.384, 0.645, 0.167, 0.007, 0.824, 0.760): 0.285,
    (0.698, 0.307, 0.610, 0.152, 0.009, 0.944, 0.895): 0.286,
    (0.770, 0.331, 0.590, 0.181, 0.006, 0.904, 0.937): 0.282,
}


def sums(pool: Sequence[RatedResponse], over_valid: bool) -> Estimate:
    said = [float(value) for one in pool for value in one.values.values()]
    return Estimate(sum(said) / len(said), n=len(said)) if said else Estimate(None, note="nothing")


def protocol(name: str, *of: Metric) -> Protocol:
    return Protocol(name=name, title=name, citation="", needs=(), metrics=of)


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> None:
    for one in (
        protocol(
            "first", Metric("one", "One", "x"), Metric("pool", "Pool", "x", pooled=sums, within=(0, 10))
        ),
        protocol(
            "second",
            Metric("two", "Two", "x"),
            Metric("whole", "Whole", "x", table=lambda pool, _: {"s": Estimate(0.5)}),
        ),
    ):
        monkeypatch.setitem(PROTOCOLS, one.name, one)
    declare(monkeypatch, ("one", "two"))


def declare(monkeypatch: pytest.MonkeyPatch, of: tuple[str, ...]) -> None:
    made = Composite("overall", "Overall", "The root of the product.", of, geometric_mean, within=(0, 10))
    monkeypatch.setitem(COMPOSITES, "overall", (Paper("ours", "Our paper", ()), made))


def heard(item: int, said: Sequence[float], system: str = "s") -> JudgedResponse:
    material = Material(
        Item(id=f"i{item}", key=str(item), question="?", position=item),
        Response(id=f"r{item}", item_id=f"i{item}", system_id=system, text="x"),
    )
    values = {str(place): str(one) for place, one in enumerate(said)}
    return JudgedResponse(((ALL, ALL),), {"me": RatedResponse(material, values)})


def counted(
    first: Sequence[Score],
    second: Sequence[Score],
    members: Sequence[JudgedResponse] = (),
    systems: str = "s",
) -> dict[str, results.Counted]:
    names = {name: f"System {name}" for name in systems}
    return {
        "first": results.Counted(PROTOCOLS["first"], ME, tuple(first), tuple(members), names),
        "second": results.Counted(PROTOCOLS["second"], ME, tuple(second), tuple(members), names),
    }


def made(found: Mapping[str, results.Counted]) -> dict[str, results.ResultRow]:
    rows = [row for one in found.values() for row in results.rows_of(one)]
    return {row.system_id: row for row in overview.made_of(found, rows)}


@pytest.mark.parametrize(("parts", "overall"), PUBLISHED.items())
def test_the_published_rows_come_out(parts: tuple[float, ...], overall: float) -> None:
    # The paper computes from means that it does not print: each may be off by half a thousandth.
    low, high = (geometric_mean([part + off for part in parts]) for off in (-0.0005, 0.0005))
    assert low - 0.0005 <= overall <= high + 0.0005


def test_one_nothing_makes_nothing_and_below_nothing_there_is_no_root() -> None:
    assert geometric_mean((0.5, 0.0, 1.0)) == 0.0
    assert np.isnan(geometric_mean((0.5, -0.1)))
    assert geometric_mean((4.0, 9.0)) == pytest.approx(6.0)
    assert geometric_mean((np.array([4.0, 0.0]), np.array([9.0, 1.0]))).tolist() == pytest.approx([6.0, 0.0])


@pytest.mark.usefixtures("tables")
def test_undefined_parts_and_floors_are_told() -> None:
    row = made(counted([score("one", 1, 0.5)], [score("two", 1, None)]))["s"]
    assert (row.estimate.value, row.estimate.note) == (None, "Two is undefined")
    assert (
        made({"first": counted([score("one", 1, 0.5)], [])["first"]})["s"].estimate.note == "Two is undefined"
    )
    assert (
        made(counted([score("one", 1, None)], [score("two", 1, None)]))["s"].estimate.note
        == "One, Two are undefined"
    )
    assert made({}) == {}
    row = made(counted([score("one", 1, 0.5, missing=2, floor=0.25, ceiling=1.0)], [score("two", 1, 1.0)]))[
        "s"
    ]
    assert (row.estimate.floor, row.estimate.ceiling, row.estimate.missing, row.judged) == (0.5, 1.0, 2, 2)
    result = counted([score("one", 1, 0.5)], [score("two", 1, 0.5)])
    result["second"] = replace(result["second"], rater=result_raters.ResultRater("you", "you", 1))
    row = made(result)["s"]
    assert (row.rater_id, row.rater) == ("", "me and you")
    row = made(
        counted([score("one", 1, 0.0), score("one", 2, 0.5)], [score("two", 1, 1.0), score("two", 2, 0.0)])
    )["s"]
    # Of means .25 and .5; item by item both products were 0.
    assert row.estimate.value == pytest.approx(0.125**0.5)
    assert (row.metric, row.protocol, row.rater) == ("overall", "ours", "me")
    assert row.estimate.note == "2 items are too few for an interval, which takes 5"


VALUES = {"one": (0.1, 0.9, 0.4, 0.6, 0.2, 0.7), "two": (0.9, 0.2, 0.8, 0.1, 0.5, 0.3)}


def spread_by_hand(of_choice: Callable[[list[int]], float]) -> float:
    """The jackknife variance over six items of what a choice of them makes."""
    left = [of_choice([item for item in range(6) if item != out]) for out in range(6)]
    return 5 / 6 * sum((one - fmean(left)) ** 2 for one in left)


@pytest.mark.usefixtures("tables")
def test_an_item_is_left_out_of_all_parts_at_once() -> None:
    result = counted(
        *([score(name, place, value) for place, value in enumerate(own)] for name, own in VALUES.items())
    )
    own = made(result)["s"].estimate

    def of_both(items: list[int]) -> float:
        return prod(fmean(column[i] for i in items) for column in VALUES.values()) ** 0.5

    assert (own.low, own.high) == pytest.approx(
        bounds_of(of_both([*range(6)]), spread_by_hand(of_both), 6, (0.0, 10.0))
    )
    assert own.note == "6 items only: the interval is rough"


@pytest.mark.usefixtures("tables")
def test_an_item_is_left_out_of_a_pooled_part_with_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, ("pool", "two"))
    said = ((1, 2), (3,), (4, 4, 4), (5,), (9, 1), (2,))
    second = [score("two", place, value) for place, value in enumerate(VALUES["two"])]
    row = made(counted([], second, [heard(place, one) for place, one in enumerate(said)]))["s"].estimate

    def of_both(items: list[int]) -> float:
        return (fmean(v for i in items for v in said[i]) * fmean(VALUES["two"][i] for i in items)) ** 0.5

    assert (row.low, row.high) == pytest.approx(
        bounds_of(of_both([*range(6)]), spread_by_hand(of_both), 6, (0.0, 10.0))
    )
    assert "jackknife over 6 items" in row.method


@pytest.mark.usefixtures("tables")
def test_a_figure_of_the_project_leaves_it_without_an_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    declare(monkeypatch, ("one", "whole"))
    first = [score("one", place, value) for place, value in enumerate(VALUES["one"])]
    row = made(counted(first, [], [heard(place, [1]) for place in range(6)]))["s"]
    assert row.estimate.value is not None
    assert (row.estimate.low, row.estimate.note) == (None, overview.NO_PARTS)


@pytest.mark.usefixtures("tables")
def test_systems_lose_the_same_item_so_that_they_can_be_compared() -> None:
    both = [
        [
            score(name, place, value / (1 if system == "s" else 2), system)
            for system in "st"
            for place, value in enumerate(own)
        ]
        for name, own in VALUES.items()
    ]
    result = counted(*both, systems="st")
    left = overview.without_each(COMPOSITES["overall"][1], result, (ALL, ALL), ["s", "t"])
    assert left is not None
    assert left[:, 0] == pytest.approx(2 * left[:, 1])
    assert {row.system for row in made(result).values()} == {"System s", "System t"}


@pytest.mark.usefixtures("tables")
def test_it_is_described_and_offered_with_the_paper(project: Project) -> None:
    info = scoring.named("overall")
    assert (info.protocol, info.protocol_title, info.of) == ("ours", "Our paper", ("one", "two"))
    assert "overall" not in {quality.name for quality in scoring.qualities(project)}
    offered = next(choice for choice in overview.choices(project) if choice.name == "metric")
    assert "overall" in {value for _, value in offered.values}


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
BETTER = {(0, 1): 0, (0, 2): 0, (1, 2): None}
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
SAID = {
    USUAL: {0: {"c1": "yes", "c2": "no"}, 1: {"c1": "no", "c2": "no"}, 2: {"c1": "yes", "c2": "yes"}},
    CLAIMS: {0: {"c1": "yes", "c2": "no", "c3": "unknown"}},
    PLAN: {
        0: {
            "p1~g1": "relevant",
            "p1~g2": "not",
            "p1~g3": "not",
            "p2~g1": "not",
            "p2~g2": "relevant",
            "p2~g3": "relevant",
        }
    },
    REASONING: {
        0: {"s1": "true", "s2": "true", "s3": "cannot-tell"},
        1: {"s1": "false", "s2": "false", "s3": "false"},
        2: {"s1": "true", "s2": "false", "s3": "true"},
    },
}


labelled = fixture_of(one_item, reports=3)


def verdicts(labelled: Project, protocol: str) -> Mapping[tuple[str, str], str]:
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
            labels.set_label(
                labelled, task.response_id, unit.id, said[task.response_id, unit.id], protocol=protocol
            )
    submit_labels(labelled)


def figures(labelled: Project, protocol: str, rater_id: str = "") -> dict[str, tuple]:
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
    assert (
        judge_runs.plan(
            labelled, judge_cases.RunRequest("baseline", PAIRWISE, systems=("Canary-Alpha-9000",))
        ).total
        == 4
    )


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
    return {
        row.system: row.estimate
        for row in results.rows(project, protocol="pooled")
        if row.metric == metric and row.group == ALL
    }


def test_a_pool_has_its_median_and_the_project_its_figure_with_reports_behind_them(pooled: Project) -> None:
    result = by_system(pooled, "heavy")
    # Alpha: 3, 2, 1; the mean of both medians were 2.25. Beta: 3, 2, 1 on one item, nothing on the other.
    assert {name: (one.value, one.n) for name, one in result.items()} == {"Alpha": (2.0, 3), "Beta": (2.0, 3)}
    assert result["Alpha"].note == "2 items are too few for an interval, which takes 5"
    result = by_system(pooled, "shares")
    assert {name: one.value for name, one in result.items()} == {"Alpha": 0.5, "Beta": 0.5, "": 6.0}
    assert result[""].note == results.OF_PROJECT
    rows = [row for row in results.rows(pooled, protocol="pooled") if row.metric == "shares"]
    assert {row.over for row in rows} == {Over.PROJECT}
    # All twelve judgements stand behind the project's figure, six behind a system's.
    assert {row.system: row.judged for row in rows if row.group == ALL} == {"Alpha": 6, "Beta": 6, "": 12}
    sheet = results_behind.behind(pooled, shown(pooled, metric="heavy").lines[0].source)
    assert [line.cells[4].words for line in sheet.lines] == ["3", "3"]
    assert len(results_behind.behind(pooled, shown(pooled, metric="shares").lines[-1].source).lines) == 4


def test_each_persons_pool_makes_a_figure_and_these_are_averaged(pooled: Project) -> None:
    task = next(one for one in labels.queue(pooled, "pooled"))
    for unit in (
        unit for group in labels.sheet(pooled, task.response_id, "pooled").groups for unit in group.units
    ):
        labels.set_label(pooled, task.response_id, unit.id, "yes", protocol="pooled")
    labels.set_label(pooled, task.response_id, unit.id, labels.UNSURE, protocol="pooled")
    submit_labels(pooled)
    (row,) = (
        row for row in results.rows(pooled, "people", "pooled") if row.metric == "heavy" and row.group == ALL
    )
    assert (row.estimate.missing, row.judged, row.estimate.floor, row.estimate.ceiling) == (1, 2, 1.0, 3.0)


def lines(sheet: ResultSheet) -> dict[str, dict[str, str]]:
    heads = [column.title for column in sheet.columns]
    return {
        line.cells[0].words: dict(zip(heads, (cell.words for cell in line.cells), strict=True))
        for line in sheet.lines
    }


def test_all_stand_side_by_side_the_project_last(pooled: Project) -> None:
    result = lines(shown(pooled))
    assert list(result) == ["Alpha", "Beta", overview.WHOLE]
    assert result["Alpha"]["Median weight met"] == "2.000  floor"
    assert result[overview.WHOLE]["Of all that is met"] == "6.000  floor  n 4"
    assert result[overview.WHOLE]["Coverage"] == "–"
    assert [column.title for column in shown(pooled, metric="heavy").columns][3] == "n"
    assert lines(shown(pooled, metric="coverage"))["Alpha"]["Items"] == "2"


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


WEIGHTS = ((1, 3), (2,), (3, 3, 3), (1,), (1, 2), (2, 3))


def mean_of_all(scored: Sequence[RatedResponse], over_valid: bool) -> Estimate:
    weights = [weight for one in scored for weight in covered(one)]
    return Estimate(float(np.mean(weights)), n=len(weights), method="mean")


def means(scored: Sequence[RatedResponse], over_valid: bool, times: Floats) -> Floats:
    return rates([sum(covered(one)) for one in scored], [len(covered(one)) for one in scored], times)


MEAN = replace(HEAVY_METRIC, pooled=mean_of_all, within=(0.0, 10.0))


@pytest.mark.parametrize("metric", [MEAN, replace(MEAN, resampled=means)], ids=["asked", "at once"])
def test_an_interval_leaves_each_item_out_in_turn(metric: Metric) -> None:
    (estimate, pooled) = results.figures(POOLED, metric, pool(WEIGHTS), ["s"])["s"]
    left = [np.mean([w for at, own in enumerate(WEIGHTS) if at != out for w in own]) for out in range(6)]
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
    assert results.figures(POOLED, HEAVY_METRIC, pool(WEIGHTS), ["s", "other"])["other"] == (
        Estimate(None, note="no report to count"),
        0,
    )
    (one,) = pool([(1,)])
    with pytest.raises(TypeError, match="none of a single one"):
        HEAVY_METRIC.score(one.ratings["me"], True)
    assert [metric.over for metric in POOLED.metrics] == [Over.RESPONSE, Over.SYSTEM, Over.PROJECT]
