"""The table in which systems contend: stars by hand, the overall by draws, the exemplar's own row."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.results import overview, result_pictures, results
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.results.scoring import ALL, Score
from annotator.actions.studies import result_views
from annotator.domain.material.item import END_TO_END, EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import COMPOSITES, PROTOCOLS
from annotator.protocols.deepscholar.overall import METRICS, WITHOUT_VERIFIABILITY

HERE = [
    metric.name for protocol in PROTOCOLS.values() for metric in protocol.metrics if metric.name in METRICS
]
ME = ResultRater("me", "me", 1)
HUMAN = (0.5, 1.0, 0.585, 1.0, 1.0)


@dataclass
class Board:
    """Scores by hand: of each system on each item, the same for all metrics but those that are given."""

    scores: dict[str, dict[str, Sequence[float | None]]]
    exemplar: Sequence[float] = HUMAN

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
            _score(metric, system, place, value)
            for system, of in self.scores.items()
            for place, value in enumerate(of.get(metric, of["*"]))
        ]
        if metric in WITHOUT_VERIFIABILITY:
            value = self.exemplar[WITHOUT_VERIFIABILITY.index(metric)]
            given += [_score(metric, "human", place, value, EXEMPLAR) for place in range(len(given) and 6)]
        return given


def _score(metric: str, system: str, item: int, value: float | None, mode: str = END_TO_END) -> Score:
    estimate = Estimate(value, n=int(value is not None))
    return Score(f"i{item}", system, metric, ((ALL, ALL),), estimate, f"{system}{item}", 1, mode, 1)


@pytest.fixture(autouse=True)
def at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    paper, overall = COMPOSITES["overall"]
    monkeypatch.setitem(COMPOSITES, "overall", (paper, replace(overall, of=tuple(HERE))))


@pytest.fixture
def show(monkeypatch: pytest.MonkeyPatch, project: Project):

    def made(board: Board) -> tuple[ResultSheet, ...]:
        systems = {
            name: paper_tables.systems_tables.SystemName(name, "", "") for name in (*board.scores, "human")
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


def test_the_exemplars_overall_is_of_five_figures() -> None:
    _, overall = COMPOSITES["overall"]
    result = Board({"a": {"*": [0.5] * 6}}).counted()
    rows = [row for one in result.values() for row in results.rows_of(one)]
    made = {row.system_id: row for row in overview.made_of(result, rows)}
    assert overall.of_exemplar == METRICS[:5]
    assert made["human"].estimate.value == pytest.approx(0.7820, abs=0.00005)
    assert made["a"].estimate.value == pytest.approx(0.5)


def test_differences_of_one_two_and_three_tenths_are_not_beyond_chance(show) -> None:
    better, worse = {"*": [0.4, 0.5, 0.6]}, {"*": [0.3, 0.3, 0.3]}
    table, pairs = show(Board({"a": better, "b": worse}))
    own = long(table, "a", "nugget_coverage")
    assert (own["value"], own["star"], round(own["p"], 4)) == (pytest.approx(0.5), False, 0.0742)
    first = result_pictures.rows(pairs)[0]
    assert (first["better"], first["other"], first["df"], first["apart"]) == ("a", "b", 2, "too few items")
    assert (round(first["t"], 4), first["difference"]) == (3.4641, pytest.approx(0.2))


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
    a = {"*": [0.9, 0.4, 0.5, 0.6], "organization": [None, 0.4, 0.5, 0.6]}
    table, pairs = show(Board({"a": a, "b": {"*": [0.1, 0.3, 0.3, 0.3]}}))
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
    b = [*(0.5 + wave for wave in reversed(waves)), *[None] * 6]
    table, pairs = show(Board({"a": {"*": a}, "b": {"*": b}}))
    first = result_pictures.rows(pairs)[0]
    assert first["difference"] < 0
    assert first["p"] < 0.05
    assert long(table, "a", "organization")["star"] is False
    assert "a" in first["better"]


def test_what_is_undefined_is_named_in_the_overall_and_one_item_gives_no_test(show) -> None:
    systems = {"a": {"*": [0.5] * 6, "document_importance": [None] * 6}, "b": {"*": [0.0] * 6}}
    (table, _) = show(Board(systems))
    result = long(table, "a", "overall")
    assert (result["value"], result["reason"]) == (None, "Document importance is undefined")
    assert long(table, "b", "overall")["value"] == 0.0
    (table,) = show(Board({"a": {"*": [0.5]}, "b": {"*": [0.25]}}))
    assert long(table, "a", "overall")["value"] == pytest.approx(0.5)
    assert {row["p"] for row in result_pictures.as_tree(table)["rows"]} == {None}


def test_people_read_it_wide_and_machines_long(project: Project, show, tmp_path: Path) -> None:
    table, _ = show(Board({"a": {"*": [0.5] * 6}, "b": {"*": [0.25] * 6}}))
    assert table.columns[0].title == "System"
    assert len(table.columns) == 2 + len(HERE)
    rows = json.loads(result_pictures.as_json(table))["rows"]
    assert len(rows) == 3 * (len(HERE) + 1)
    assert {row["metric"] for row in rows} == {*HERE, "overall"}
    # Every item differs alike, which has an infinite t.
    assert long(table, "a", "organization")["star"] is True
