"""How figures are said, and how tables leave."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from annotator.actions.results import result_exports
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
from annotator.domain.texts.estimate import Estimate, settled
from annotator.domain.texts.refusal import Refusal

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


def test_a_figure_is_said_with_its_interval_and_what_is_missing() -> None:
    assert in_words(FOUND) == "0.500  [0.400, 0.650]  2 missing; with them 0.450 to 0.600"
    assert in_words(Estimate(None, missing=3)) == "–  3 missing"
    cell = figure(FOUND)
    assert cell.tip == "n = 10\nmean\n2 judgements missing; with them 0.450 to 0.600"
    assert "\n1 judgement missing" in figure(Estimate(0.5, missing=1, method="mean")).tip
    assert (cell.state, figure(Estimate(None)).state) == ("incomplete", "missing")


def test_a_figure_of_few_clusters_speaks_of_items() -> None:
    few = settled(Estimate(0.15, 0.1, 0.2, n=9, method="mean over 3 clusters"), 3, "clusters")
    assert "3 clusters are too few" in few.note
    assert figure(few).tip == "n = 9\nmean over 3 items\n3 items are too few for an interval, which takes 5"
    assert (
        or_why(replace(few, value=None)) == "undefined (3 items are too few for an interval, which takes 5)"
    )


@pytest.mark.parametrize(
    ("value", "said"),
    [(0.1234, "0.123"), (-3.0, "−3.000"), (12.345, "12.35"), (123.45, "123.5"), (12345.6, "12,346")],
)
def test_large_values_have_fewer_places(value: float, said: str) -> None:
    assert number(value) == said


def test_a_share_is_said_in_hundredths() -> None:
    assert (percent(0.125, 1), percent(1)) == ("12.5 %", "100 %")


def test_words_are_sorted_with_their_numbers_by_size() -> None:
    assert (
        sorted([text("Report 10"), text("Report 9")], key=lambda cell: str(cell.worth))[0].words == "Report 9"
    )


def test_a_figure_leaves_with_its_interval_n_and_gaps_in_columns_of_their_own() -> None:
    first, second = result_exports.rows(SHEET)
    assert first == {
        "system": "=1+1", "coverage": 0.5, "coverage_low": 0.4, "coverage_high": 0.65, "coverage_n": 10,
        "coverage_missing": 2, "coverage_floor": 0.45, "coverage_ceiling": 0.6, "coverage_note": "",
        "wins": 1234, "system_2": "Report 10",
    }  # fmt: skip
    assert (second["coverage"], second["coverage_note"], second["wins"]) == (None, "nobody judged", None)


def test_a_key_is_made_of_any_name() -> None:
    assert key_of("system", "GPT-4o (mini)") == "system_gpt_4o_mini"
    assert key_of("plan.f1") == "plan_f1"
    assert key_of("system", "深度 研究") == "system_深度_研究"
    assert key_of("system", "!?") == "system"


def test_no_part_of_a_figure_takes_the_key_of_another_column() -> None:
    heads = columns(("a", "A"), ("a_low", "A low"))
    (row,) = result_exports.rows(ResultSheet("x", "X", heads, (SheetLine((figure(FOUND), count(7))),)))
    assert (row["a_low"], row["a_low_2"]) == (0.4, 7)


def test_every_key_of_a_row_has_a_title_and_only_values_a_unit() -> None:
    tree = result_exports.as_tree(SHEET, offsets=True)
    assert [one["key"] for one in tree["columns"]] == list(tree["rows"][0])
    told = {one["key"]: (one["title"], one["unit"], one["about"]) for one in tree["columns"]}
    assert told["coverage"] == ("Coverage", "of 1", "About")
    assert told["coverage_low"] == ("Coverage, low", "of 1", "About")
    assert told["coverage_n"] == ("Coverage, n", "", "About")
    assert told["coverage_plus"][0] == "Coverage, plus"
    assert tree["rows"][0]["coverage_plus"] == pytest.approx(0.15)


def test_a_copied_table_has_titles() -> None:
    head = result_exports.as_text(SHEET).splitlines()[0].split("\t")
    assert head[:3] == ["System", "Coverage", "Coverage, low"]


def test_no_cell_becomes_a_formula() -> None:
    written = result_exports.as_csv(SHEET).decode("utf-8-sig")
    assert written.splitlines()[1].startswith("'=1+1,0.5,0.4")
    assert result_exports.as_text(SHEET).splitlines()[1].startswith("'=1+1\t0.5\t0.4")
    assert "باحث 深度" in written


def test_json_holds_the_words_and_never_nan() -> None:
    tree = json.loads(result_exports.as_json(SHEET))
    assert (tree["title"], tree["told"], len(tree["rows"])) == ("Figures", ["What holds of all."], 2)
    assert tree["rows"][1]["coverage"] is None


def test_a_table_is_saved_whole_or_not_at_all(tmp_path: Path) -> None:
    assert result_exports.save(SHEET, tmp_path / "a.csv").read_bytes() == result_exports.as_csv(SHEET)
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    with pytest.raises(Refusal, match=r"cannot be saved as “\.xls”"):
        result_exports.save(SHEET, tmp_path / "a.xls")
    with pytest.raises(Refusal, match="could not be written"):
        result_exports.save(SHEET, tmp_path / "no folder" / "a.csv")


def test_a_table_without_lines_leaves_nothing() -> None:
    empty = ResultSheet("none", "None", SHEET.columns, ())
    assert (result_exports.as_csv(empty), result_exports.as_text(empty)) == (b"", "")


def test_a_cell_that_says_nothing_leaves_empty() -> None:
    sheet = ResultSheet(
        "x",
        "X",
        columns(("a", "A"), ("b", "B")),
        (SheetLine((SheetCell("–"), SheetCell("on the front", 0.0))),),
    )
    assert result_exports.rows(sheet) == [{"a": None, "b": "on the front"}]
