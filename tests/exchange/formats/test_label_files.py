"""Labels in files: what a table or a peer's file says, what is refused with its row, and what comes back as it left."""

import csv
import io
import json
import re
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotator.exchange import table_files
from annotator.exchange.folders import read_bytes
from annotator.exchange.formats import human_files, label_files
from annotator.exchange.formats.human_files import AnnotatorSheet, RatedCriterion
from annotator.exchange.formats.label_files import COLUMNS, FORMAT, READ, as_csv, as_json, guarded
from annotator.exchange.formats.layout import EntryTrouble, LabelEntry, LabelFileContent
from tests.material.bundles import REAL
from tests.material.hostile import HOSTILE
from tests.projects.refusals import expect_refusal
from tests.systems import within_memory

HEAD = "item,system,unit,rater,value\n"
FORMULAS = [
    "=cmd|' /C calc'!A0",
    "+1",
    "-1",
    "@SUM(A1)",
    "\t=1",
    "\r=1",
    "＝1",
    "＋1",
    "－1",
    "＠A1",
    "'＝1",
    "'=1",
    "''+1",
    "'tis",
    "'",
]


def found(folder: Path, content: str | bytes, name: str = "labels.csv") -> LabelFileContent:
    file = folder / name
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return label_files.read([file])


def the_reason(folder: Path, content: str | bytes, name: str = "labels.csv") -> str:
    """Why the whole file is unreadable; no entry of it is taken."""
    read = found(folder, content, name)
    (finding,) = read.problems
    assert (finding.trouble, finding.row, read.entries) == (EntryTrouble.UNREADABLE, None, [])
    return str(finding)


# Tables


def test_a_row_is_one_label_and_knows_its_row_in_the_sheet(tmp_path: Path) -> None:
    read = found(tmp_path, HEAD + "1,Alpha,Names the cause,A,yes\n\n2,Beta,Both,B,no\n")
    assert read.entries == [
        LabelEntry("labels.csv", 2, "yes", rater="A", item="1", system="Alpha", unit="Names the cause"),
        LabelEntry("labels.csv", 4, "no", rater="B", item="2", system="Beta", unit="Both"),
    ]


@pytest.mark.parametrize(
    "head", ["Item Key,System,Criterion,Annotator,Label", " item ;system; point;rater;VALUE"]
)
def test_columns_are_known_by_other_names_and_other_delimiters(tmp_path: Path, head: str) -> None:
    row = "1,Alpha,Both,A,yes".replace(",", ";" if ";" in head else ",")
    (entry,) = found(tmp_path, f"{head}\r\n{row}\r\n").entries
    assert entry == LabelEntry("labels.csv", 2, "yes", rater="A", item="1", system="Alpha", unit="Both")


def test_files_of_odd_line_ends_are_read(tmp_path: Path) -> None:
    content = "\ufeff" + (HEAD.strip() + ",note\r\n") + '1,Alpha,"Two ""lines""\r\nof words",A,yes,"a\nb"\r\n'
    (entry,) = found(tmp_path, content).entries
    assert (entry.unit, entry.note, entry.row) == ('Two "lines"\r\nof words', "a\nb", 2)
    assert len(found(tmp_path, HEAD.replace("\n", "\r") + "1,A,B,C,yes\r1,A,D,C,no\r").entries) == 2


def test_what_is_in_no_column_of_ours_is_said(tmp_path: Path) -> None:
    read = found(tmp_path, "item,system,unit,rater,value,mood,at\n1,A,B,C,yes,good,2020\n")
    assert read.notes == ["labels.csv: not read are “mood”"]


def test_rows_without_a_value_say_nothing_and_are_counted(tmp_path: Path) -> None:
    read = found(tmp_path, HEAD + "1,A,B,C,\n1,A,D,C, \n1,A,E,C,no\n")
    assert [entry.value for entry in read.entries] == ["no"]
    assert read.notes == ["labels.csv: 2 rows have no value: nothing was said there"]


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ("1,Alpha,Both,A,yes,and more", "it has 6 cells, the head has 5"),
        (f"1,Alpha,{'x' * 200_000},A,yes", "its unit has 200,000 characters"),
    ],
)
def test_a_row_that_does_not_fit_is_named_with_its_reason(tmp_path: Path, row: str, reason: str) -> None:
    read = found(tmp_path, HEAD + "1,A,B,C,yes\n" + row + "\n")
    (finding,) = read.problems
    assert str(finding).replace("csv: row", "csv, row").startswith(f"labels.csv, row 3: {reason}")
    assert len(read.entries) == 1


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "holds no row"),
        (b"\xef\xbb\xbf", "holds no row"),
        (HEAD.encode("utf-16-le"), "UTF-16"),
        (HEAD.encode() + b'1,A,"B,C,yes\n1,A,D,C,no\n', "line 3: unexpected end of data"),
        (HEAD.encode() + b'1,A,"B"x,C,yes\n', "line 2"),
        (b"item,system,unit,rater\n1,A,B,C\n", "no column for value"),
        (b"system,unit,rater,value\nA,B,C,yes\n", "no column for item or item_id"),
        (b"item,system,unit,rater,value,unit\n1,A,B,C,yes,D\n", "two columns “unit”"),
        (b"PK\x03\x04\x14\x00\x00\x00", "holds no row"),
    ],
    ids=lambda value: value[:12] if isinstance(value, str) else "",
)
def test_a_table_that_cannot_be_read_for_sure_is_left_whole(
    tmp_path: Path, content: bytes, reason: str
) -> None:
    assert reason in the_reason(tmp_path, content)


def test_a_table_that_is_too_large_is_not_read_into_memory(tmp_path: Path) -> None:
    with (tmp_path / "labels.csv").open("wb") as file:
        file.truncate(200 * 2**20)
    with within_memory(70 * 2**20):
        read = label_files.read([tmp_path / "labels.csv"])
    assert "larger than 64 MB" in str(read.problems[0])


def test_many_rows_take_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A file is read into as much room as the largest may take.
    monkeypatch.setattr(table_files, "read_bytes", partial(read_bytes, cap=2**20))
    rows = [
        f"{n % 65},System {n % 10},Criterion {n % 15} of the rubric,R{n % 7},yes\n" for n in range(10_000)
    ]
    (tmp_path / "labels.csv").write_text(HEAD + "".join(rows), "utf-8")
    with within_memory(8 * 2**20):
        read = label_files.read([tmp_path / "labels.csv"])
    assert len(read.entries) == 10_000


@pytest.mark.parametrize("name", ["labels.xlsx", "labels.txt", "labels"])
def test_other_kinds_of_files_are_named(tmp_path: Path, name: str) -> None:
    assert re.search("no workbook|not a table", the_reason(tmp_path, "x", name))


# JSON


def test_json_says_the_same_as_a_table(tmp_path: Path) -> None:
    told = {"item": 1, "system": "Alpha", "criterion": "Both", "rater": "A", "value": "yes", "number": 2}
    (entry,) = found(tmp_path, json.dumps([told]), "labels.json").entries
    assert (entry.row, entry.item, entry.unit, entry.number) == (1, "1", "Both", 2)


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"unit": True}, "its unit should be a text"),
        ({"value": 0.5}, "its value should be a text"),
        ({"number": "two"}, "its number should be a whole number"),
        ({"number": 1.5}, "its number should be a whole number"),
        ({"note": ["a", "b"]}, "its note should be a text"),
        ("yes", "record 2: no object"),
    ],
    ids=str,
)
def test_an_entry_of_the_wrong_type_is_named(tmp_path: Path, told: Any, reason: str) -> None:
    first = {"item": "1", "unit": "Both", "rater": "A", "value": "no", "note": ""}
    (finding,) = found(tmp_path, json.dumps([first, told]), "labels.json").problems
    assert (finding.row or "record 2", reason in finding.reason) in ((2, True), ("record 2", True))


def test_json_of_a_newer_form_is_left_whole(tmp_path: Path) -> None:
    assert "a newer form" in the_reason(
        tmp_path, json.dumps({"format": FORMAT, "version": 9, "labels": [{}]}), "labels.json"
    )


@pytest.mark.parametrize(
    ("tree", "lacking"),
    [
        ([], "holds no row"),
        ("labels", "no list of entries"),
        ({"labels": {}}, "no column for criterion or unit_id"),
        ([{"text": "Great price.", "label": "positive"}], "no column for item or item_id"),
        ([{"item": 1, "criterion": "Both", "label": "yes"}], "no column for rater or rater_id"),
    ],
    ids=str,
)
def test_json_without_labels_names_what_it_needs(tmp_path: Path, tree: Any, lacking: str) -> None:
    needs = "Each label needs an item, a criterion or another unit, a rater" if "no column" in lacking else ""
    assert re.search(f"{lacking}.*{needs}", the_reason(tmp_path, json.dumps(tree), "labels.json"))


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_json_is_left_whole_with_its_reason(tmp_path: Path, name: str) -> None:
    content, reason = HOSTILE[name]
    assert reason in the_reason(tmp_path, content, "labels.json")


# Leaving, and coming back


def row(**more: Any) -> dict[str, Any]:
    return {"item": "1", "system": "Alpha", "unit": "Both", "rater": "R1", "value": "yes", **more}


def test_the_table_starts_with_the_mark_that_spreadsheets_need() -> None:
    content = b"".join(as_csv([row(note="二つ, “and” more\nlines")]))
    head, line = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    assert (content[:3], tuple(head)) == (b"\xef\xbb\xbf", COLUMNS)
    assert dict(zip(head, line, strict=True))["note"] == "二つ, “and” more\nlines"


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_table_is_a_formula_and_each_comes_back_as_it_was(tmp_path: Path, text: str) -> None:
    content = b"".join(as_csv([row(note=text, quote=text)]))
    _, cells = csv.reader(io.StringIO(content.decode("utf-8-sig"), newline=""))
    assert not any(
        cell.startswith(("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")) for cell in cells
    )
    (entry,) = found(tmp_path, content).entries
    assert (entry.note, entry.quote) == (text, text)


def test_guarding_keeps_texts_apart() -> None:
    assert len({guarded(text) for text in FORMULAS}) == len(FORMULAS)
    assert [guarded(cell) for cell in ("plain", None)] == ["plain", None]


@pytest.mark.parametrize("ending", [".csv", ".json"])
def test_what_is_written_is_read_back(tmp_path: Path, ending: str) -> None:
    told = {name: f"{name} – «二つ»" for name in READ} | {"trial": 2, "number": 3, "value": "yes"}
    rows = [told, row(weight=2.0, state="submitted", at="2025-01-01")]
    content = b"".join(as_csv(rows)) if ending == ".csv" else as_json(rows)
    read = found(tmp_path, content, f"labels{ending}")
    assert (read.problems, read.notes) == ([], [])
    first, second = read.entries
    assert {name: getattr(first, name) for name in READ} == told
    assert (second.unit, second.rater, second.value, second.trial) == ("Both", "R1", "yes", None)


def test_the_same_labels_give_the_same_bytes() -> None:
    assert ([*as_csv([row()])], as_json([row()])) == ([*as_csv([row()])], as_json([row()]))


# ResearcherBench's files of human labels


def human(folder: Path, name: str, tree: Any) -> Path:
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(tree if isinstance(tree, str) else json.dumps(tree), "utf-8")
    return folder / name


def test_a_human_file_is_one_annotator_on_one_question(tmp_path: Path) -> None:
    lines = [{"point": "Both", "covered": True}, {"point": "Point 1", "covered": False, "comment": "half"}]
    human(tmp_path, "Q12_result_A.json", {"rubric_eval": lines, "time": "1.5 h"})
    read = label_files.read([tmp_path])
    assert [(e.row, e.unit, e.value, e.number) for e in read.entries] == [
        (1, "Both", "yes", 1),
        (2, "Point 1", "no", 2),
    ]
    assert {(e.item, e.dataset, e.rater, e.system, e.peer) for e in read.entries} == {
        ("12", "researcherbench", "A", "", True)
    }


@pytest.mark.parametrize("covered", [None, "yes", 1, 0, "false"], ids=str)
def test_what_is_neither_covered_nor_not_is_never_taken_for_no(tmp_path: Path, covered: Any) -> None:
    read = label_files.read(
        [human(tmp_path, "Q1_result_A.json", {"rubric_eval": [{"point": "Both", "covered": covered}]})]
    )
    assert (read.entries, read.problems[0].trouble) == ([], EntryTrouble.BAD_VALUE)


@pytest.mark.parametrize(
    "tree",
    ["", "[", "[]", {}, {"rubric_eval": {}}, {"rubric_eval": [{"covered": True}]}, {"rubric_eval": ["Both"]},
     {"rubric_eval": [{"point": "x" * 20_001, "covered": True}]}],
)  # fmt: skip
def test_a_broken_human_file_is_named_and_the_next_is_read(tmp_path: Path, tree: Any) -> None:
    human(tmp_path, "Q1_result_A.json", tree)
    human(tmp_path, "Q2_result_A.json", {"rubric_eval": [{"point": "Both", "covered": True}]})
    read = label_files.read([tmp_path])
    assert [entry.item for entry in read.entries] == ["2"]
    assert "Q1_result_A.json" in read.problems[0].file


@pytest.mark.parametrize(
    "name", ["Q1_result_.json", "result_A.json", "Qx_result_A.json", "Q1_result_A.json.bak"]
)
def test_files_of_other_names_are_none_of_them(tmp_path: Path, name: str) -> None:
    human(tmp_path, name, {"rubric_eval": []})
    expect_refusal("holds no files of labels", label_files.read, [tmp_path])


def test_a_numbering_that_is_broken_keeps_its_files_out(tmp_path: Path) -> None:
    human(tmp_path, "Q1_result_A.json", {"rubric_eval": [{"point": "Both", "covered": True}]})
    human(tmp_path, "goldsmith.json", {"items": [{"id": 1}]})
    read = label_files.read([tmp_path])
    assert (read.entries, "goldsmith.json" in read.problems[0].reason) == ([], True)


SHEET = AnnotatorSheet(
    7,
    "Why?",
    "Sys_1/x",
    "R_1",
    "id-1",
    (RatedCriterion("Both", 2, True), RatedCriterion("Left", 1), RatedCriterion("Not", 3, False)),
)


def test_what_nobody_said_is_left_out_of_a_human_file() -> None:
    files = human_files.write([SHEET], [], {7: SHEET}, [])
    (name,) = [name for name in files if "_result_" in name]
    # An underscore in the annotator's name would end it there.
    assert name == "Sys_1-x/Q7_result_R-1.json"
    points = [{"point": "Both", "covered": True}, {"point": "Not", "covered": False}]
    told = {"rubric_eval": points, "model": "Sys_1/x", "annotator": "R_1", "annotator_id": "id-1"}
    assert json.loads(files[name]).items() >= told.items()
    assert [line["weight"] for line in json.loads(files["rubric.json"])[0]["rubric"]] == [2, 1, 3]


def test_two_annotators_whose_names_look_alike_have_a_file_each() -> None:
    other = AnnotatorSheet(7, "Why?", "Sys_1/x", "R-1", "id-2", SHEET.points)
    names = [name for name in human_files.write([SHEET, other], [], {7: SHEET}, []) if "_result_" in name]
    assert len(set(names)) == 2


def test_the_judges_side_is_a_file_for_each_system() -> None:
    files = human_files.write([], [SHEET], {7: SHEET}, [])
    (result,) = json.loads(files["Sys_1-x/meta_eval.json"])["detailed_results"]
    assert [line["point"] for line in result["result"]["coverage_results"]] == ["Both", "Not"]
    # Two of five weights are covered.
    assert (result["id"], result["evaluator"], result["result"]["recall"]) == (7, "R_1", 0.4)


def test_points_that_share_enough_words_are_taken_for_one_another_there() -> None:
    # The third shares two of five words with the first, 0.4; the second one of seven.
    points = ["explains the cost model", "names two datasets the", "explains the dataset"]
    assert human_files.mistaken(points) == [(2, 0)]


@pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")
def test_most_published_points_are_told_apart_there() -> None:
    """Of the 931 published criteria a few are compared with another one; the share is small, and it is said."""
    rubrics = [
        [line["point"] for line in load["rubric"]]
        for load in json.loads((REAL / "rubric.json").read_text("utf-8"))
    ]
    assert sum(map(len, rubrics)) == 931
    assert 0 < sum(len(human_files.mistaken(points)) for points in rubrics) < 0.05 * 931
