"""The tables: inert in a spreadsheet, exact in pandas, the same bytes every time."""

import csv
import io
from typing import Any

import pandas as pd
import pytest

from annotator.exchange.release import tables_csv
from annotator.exchange.release.tables_csv import guard
from tests.material.bundles import rich_bundle


def table(name: str) -> Any:
    return pd.read_csv(io.BytesIO(bytes(tables_csv.files(rich_bundle())[name])))


@pytest.mark.parametrize(
    "cell", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠A1"]
)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell: str) -> None:
    assert guard(cell) == f"'{cell}"
    written = tables_csv.csv([{"a": cell, "b": 1}]).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(written, newline="")))[1] == [f"'{cell}", "1"]


@pytest.mark.parametrize("cell", [-1, -0.5, 0, True, None, "a=b", "", "'quoted"])
def test_numbers_and_harmless_texts_stay_as_they_are(cell: Any) -> None:
    assert guard(cell) is cell


def test_files_start_with_the_mark_that_excel_needs_and_pandas_skips() -> None:
    content = tables_csv.files(rich_bundle())["items.csv"]
    assert content.startswith(b"\xef\xbb\xbfid,")
    assert list(table("items.csv")["question"]) == ["Why does it rain?", "なぜ?"]


def test_there_is_one_line_for_each_unit_with_its_item() -> None:
    criteria = table("criteria.csv")
    assert list(criteria["item_key"]) == ["one", "one"]
    assert list(criteria["weight"]) == [3, 1]
    assert list(criteria["text"]) == ["Names the cause", "'=Compares “two”, with commas"]
    assert criteria["quote"][0] == "the cause"


def test_authors_appear_by_their_alias() -> None:
    statements = table("statements.csv")
    assert (statements["author"][0], statements["label"][0], statements["aspect"][0]) == (
        "R2",
        True,
        "results",
    )


def test_a_missing_judgement_has_an_empty_value_and_its_cause() -> None:
    judgements = table("judgements.csv").set_index(["rater_id", "unit_id"])
    missing = judgements.loc[("judge-1", "c2")]
    assert (pd.isna(missing["value"]), missing["status"], missing["cause"]) == (
        True,
        "timeout",
        "no answer in 60 s",
    )


def test_whole_numbers_with_gaps_stay_whole() -> None:
    lines = tables_csv.files(rich_bundle())["responses.csv"].decode("utf-8-sig").splitlines()
    assert (
        lines[0]
        == "id,item_key,system,trial,mode,characters,latency_s,tokens,cost_usd,run_tokens,cost_part_usd"
    )
    # "Rain.", CR, LF, "And", U+2028, "more": 5 + 2 + 3 + 1 + 4 characters.
    assert lines[1] == "response-1,one,Alpha,1,end-to-end,15,,,,,"
    assert "response-2,two,Alpha,1,end-to-end,1,1.5,2,,," in lines


def test_line_ends_and_odd_characters_inside_a_cell_survive() -> None:
    cell = 'a\r\nb\u2028c,"d"\n\x0b' + "x" * 40_000
    (row,) = csv.DictReader(io.StringIO(tables_csv.csv([{"a": cell}]).decode("utf-8-sig"), newline=""))
    assert row["a"] == cell


def test_the_same_content_gives_the_same_bytes_in_any_order() -> None:
    bundle = rich_bundle()
    for thing in bundle.counts():
        getattr(bundle, thing).reverse()
    made, again = (tables_csv.files(each) for each in (bundle, rich_bundle()))
    assert {name: bytes(made[name]) for name in made} == {name: bytes(again[name]) for name in again}


def test_a_table_is_written_as_pandas_writes_it() -> None:
    cells = [
        1,
        -0.5,
        1e-7,
        1e22,
        True,
        None,
        float("nan"),
        "",
        "a,b",
        'a"b',
        "a\nb",
        "a\r",
        " a ",
        "界",
        "0.10",
    ]
    rows = [{"first": cell, "second, third": n if n % 3 else None} for n, cell in enumerate(cells)]
    expected = pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\r\n")
    assert tables_csv.csv(rows).decode("utf-8-sig") == expected
    alone = [{"a": None}, {"a": ""}, {"a": 2}]
    expected = pd.DataFrame(alone, dtype=object).to_csv(index=False, lineterminator="\r\n")
    assert tables_csv.csv(alone).decode("utf-8-sig") == expected


def test_a_table_made_piece_by_piece_is_the_same_table() -> None:
    rows = [
        {"a": n, "b": None if n % 7 else n / 3, "c": f'"{n}", =x'} for n in range(2 * tables_csv.AT_ONCE + 1)
    ]
    head, *lines = tables_csv.csv(rows).decode("utf-8-sig").splitlines(keepends=True)
    assert head == "a,b,c\r\n"
    assert lines == [tables_csv.csv([row]).decode("utf-8-sig").splitlines(keepends=True)[1] for row in rows]
