"""Tables of one's own and of other tools, taken in without a script.

`python -m tests.exchange.formats.test_tables 10000` imports as many mutated tables.
"""

import csv
import io
import json
import random
import re
import sqlite3
import sys
import zipfile
from collections import Counter
from contextlib import closing
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import openpyxl
import pytest

from annotator.actions.authoring import settings
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.domain.common import Refusal
from annotator.exchange import table_files
from annotator.exchange.folders import read_bytes
from annotator.exchange.formats import human_files, label_files, mappings, tables
from annotator.exchange.formats.human_files import AnnotatorSheet
from annotator.exchange.formats.label_files import COLUMNS, FORMAT, READ, as_csv, as_json, guarded
from annotator.exchange.formats.layout import (
    EntryTrouble,
    GivenLabel,
    LabelEntry,
    LabelFileContent,
    LabelledReport,
    LabelledUnit,
)
from annotator.exchange.release.records import ItemRecord
from tests.cli.commands import printed, refused, told
from tests.common import expect_refusal, within_memory
from tests.material.bundles import HOSTILE, REAL

LAYOUTS = Path(__file__).parents[3] / "../shared/data/layouts"
ONE_ITEM = {"items": 1, "systems": 1, "responses": 1, "artifacts": 1}
OF_LABELS = {
    "bom_bool.csv": 2, "bools.json": 2, "labelstudio.csv": 1, "labelstudio.json": 1, "potato.jsonl": 1, "rows.jsonl": 2,
    "sep.csv": 1,
}  # fmt: skip
needs_layouts = pytest.mark.skipif(
    not LAYOUTS.is_dir(), reason="the files of other tools lie outside the project"
)


def written(path: Path, text: str, encoding: str = "utf-8") -> Path:
    path.write_bytes(text.encode(encoding))
    return path


@pytest.mark.parametrize("parted", [",", ";", "\t", "|"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_text_of_a_table_stays_text_whatever_parts_and_encodes_it(
    tmp_path: Path, parted: str, encoding: str
) -> None:
    cells = ["007", "NA", "None", "12345678901234567890", "2026-01-02", 'é, "said"; a|b\tc\nd']
    out = io.StringIO()
    csv.writer(out, delimiter=parted).writerows([["a", "b", "c", "d", "e", "f"], cells])
    (table,), problems = table_files.read_tables([written(tmp_path / "t.csv", out.getvalue(), encoding)])
    assert problems == []
    (row,) = table.rows
    assert list(row.values()) == [cell.replace("\r\n", "\n") for cell in cells]


def test_excel_gives_what_its_cells_hold_and_of_a_formula_what_is_stored(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["ID", "Question", "Number", "Formula"])
    book.active.append(["007", "What is it?", 3.0, "=1+1"])
    book.save(tmp_path / "t.xlsx")
    (table,), problems = tables.read_tables([tmp_path / "t.xlsx"])
    assert (list(table.rows[0].values()), problems) == (["007", "What is it?", 3, ""], [])
    assert [note.split(":")[0] for note in table.notes] == ["no value is stored of the formula in D2"]
    # As a spreadsheet saves them: one with its value, one whose value is no text at all.
    with (
        zipfile.ZipFile(tmp_path / "t.xlsx") as before,
        zipfile.ZipFile(tmp_path / "kept.xlsx", "w") as after,
    ):
        for part in before.namelist():
            stored = b'<f>1+1</f><v>2</v></c><c r="E2" t="str"><f>A9</f><v></v>'
            after.writestr(part, before.read(part).replace(b"<f>1+1</f><v />", stored))
    (table,), _ = tables.read_tables([tmp_path / "kept.xlsx"])
    assert (table.rows[0]["Formula"], table.notes) == (2, ())
    (tmp_path / "bad.xlsx").write_bytes(b"PK\x03\x04 no book")
    result, (problem,) = table_files.read_tables([tmp_path / "bad.xlsx"])
    assert (result, "no workbook that can be read" in str(problem)) == ([], True)


def test_rows_are_numbered_as_a_spreadsheet_counts_them_whatever_is_empty(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    for row in ([None], ["id", None, "question"], [None], [1, None, "Why?"], [2, "x", "How?"]):
        book.active.append(row)
    book.create_sheet("notes")["A1"] = "nothing of this"
    book.save(tmp_path / "t.xlsx")
    text = '\n"id",,question\n,,\n1,,"Wh\ny?"\n2,x,How?,\n'
    for path in (tmp_path / "t.xlsx", written(tmp_path / "t.csv", text)):
        table, raw = table_files.read_table(path, ("id", "question")), tables.read_tables([path])[0][0].rows
        assert (list(map(table.place, range(2))), table.columns) == (["row 4", "row 5"], ["id", "question"])
        assert ([row["id"] for row in table.rows], raw[1]["column 2"], len(raw[0])) == (["1", "2"], "x", 3)


@pytest.mark.parametrize(
    ("name", "text", "encoding", "words"),
    [
        ("t.csv", "id,question\n1,Why?,\n2,Why, then?\n", "utf-8", "row 3: it has 3 cells, the head has 2"),
        ("t.csv", "id,id\n1,2\n", "utf-8", "has two columns “id”"),
        ("t.csv", 'id,question\n1,"Why?\n2,How?\n', "utf-8", "line 3: unexpected end of data"),
        ("t.csv", 'id,question\n1,"Why?\n2,"How?"\n', "utf-8", "line 3: ',' expected after '\"'"),
        ("t.tsv", "id\ttask\n1\tWhy?\n", "utf-8", "has no column “question”"),
        ("t.csv", "", "utf-8", "has no column “id”"),
        ("t.csv", "id,question\n1,né\n", "cp1252", "not valid UTF-8 on line 2"),
        ("t.csv", "id,question\n1,né\n", "utf-16-be", "UTF-16 or UTF-32"),
        ("t.jsonl", '{"id": 1, "question": ""}\n[2]\n', "utf-8", "line 2: no object with fields"),
        ("t.json", '{"data": [{"id": 1, "question": ""}], "meta": [1]}', "utf-8", "left out beside it: meta"),
    ],
)
def test_what_cannot_be_read_whole_is_refused_with_its_place(
    tmp_path: Path, name: str, text: str, encoding: str, words: str
) -> None:
    expect_refusal(
        re.escape(words), table_files.read_table, written(tmp_path / name, text, encoding), ("id", "question")
    )


@pytest.mark.parametrize(
    ("name", "text", "cells"),
    [
        # What parts cells is not taken from within quotes.
        ("t.csv", '"a;b;c;d",e\n1,2\n', ["1", "2"]),
        ("t.csv", 'e,"a;b\n;c;;d"\n1,2\n', ["1", "2"]),
        ("t.csv", "sep=,\na;b;c;d,e\n1,2\n", ["1", "2"]),
        ("t.tsv", "e\ta\tb\tc\tf\r" + "x" * 10_000_000 + "\tp\0q\t N/A \tnan\r", ["x" * 10_000_000, "pq", "", "", ""]),
        ("t.json", '{"n": 1, "data": [{"e": null, "f": [1], "g": 2.0}]}', ["", "[1]", "2.0"]),
        ("t.json", '{"question": "Why?", "e": 1, "links": [{"url": "u"}]}', ["Why?", "1", '[{"url": "u"}]']),
    ],
    ids=range(6),
)  # fmt: skip
def test_cells_come_in_as_texts(tmp_path: Path, name: str, text: str, cells: list[str]) -> None:
    (row,) = table_files.read_table(written(tmp_path / name, text), ("e",)).rows
    assert list(row.values()) == cells


def test_reports_lie_however_deep_beside_what_systems_hide(tmp_path: Path) -> None:
    (tmp_path / "2026/Alder").mkdir(parents=True)
    for name in ("2026/Alder/01.md", "2026/Alder/._01.md", "2026/.DS_Store", "~$q.xlsx"):
        written(tmp_path / name, "Bäume", "cp1252")
    (table,), problems = tables.read_tables([tmp_path])
    assert (table.rows, problems) == ([{"system": "Alder", "item": "01", "report": "Bäume"}], [])
    assert table.notes == ("“01.md” is not valid UTF-8 on line 1 (byte 1); as Windows-1252 it can be read",)


def test_a_reports_file_is_known_by_the_key_that_its_name_begins_or_ends_with(tmp_path: Path) -> None:
    questions = written(tmp_path / "q.csv", "id,question\nq1,Why?\nq1-b,How?\n夜间,何?\n")
    folder = tmp_path / "reports"
    (folder / "Alder").mkdir(parents=True)
    of = {
        "q1_OpenDeep v2.md": ("q1", "OpenDeep v2"),
        "Q1-b 深研.txt": ("q1-b", "深研"),
        "Brook - 夜间.md": ("夜间", "Brook"),
        "Q1__Cedar.md": ("q1", "Cedar"),
        "Alder/q1 final.md": ("q1", "Alder"),
        "q12_Brook.md": None,
    }
    for name in of:
        written(folder / name, f"# {name}")
    read = tables.read([questions, folder])
    keys = {record.id: record.key for record in read.bundle.items}
    systems = {record.id: record.name for record in read.bundle.systems}
    made = {
        one.text.removeprefix("# "): (keys[one.item_id], systems[one.system_id])
        for one in read.bundle.responses
    }
    assert made == {name: known for name, known in of.items() if known}
    (refused,) = (problem for problem in read.problems if not problem.note)
    assert "q12_Brook" in refused.reason
    assert "ITEM__SYSTEM.md" in refused.reason


def test_paths_reach_into_lists_and_objects() -> None:
    row = {"a": [{"b": 1}, {"b": 2}], "c": {"x": ["p"], "y": ["q", "r"]}, "d.e": 4}
    assert table_files.values(row, "a[].b") == [1, 2]
    assert (table_files.values(row, "c.*[]"), table_files.values(row, "d.e")) == (["p", "q", "r"], [4])


@pytest.mark.parametrize(
    ("head", "row", "expected"),
    [
        ("ID,Question,Topic,Type", "q1,What?,Law,Open", {"item": "ID", "question": "Question", "subject": "Topic",
                                                        "question_type": "Type"}),
        ("prompt_id,prompt,model,response", "1,What?,m,It is.", {"item": "prompt_id", "question": "prompt",
                                                                 "system": "model", "report": "response"}),
        ("question_id,criterion,points", "1,Says it,2", {"item": "question_id", "criterion": "criterion",
                                                         "weight": "points"}),
    ],
)  # fmt: skip
def test_columns_are_matched_by_what_the_trade_calls_them(
    tmp_path: Path, head: str, row: str, expected: dict[str, str]
) -> None:
    (table,), _ = table_files.read_tables([written(tmp_path / "t.csv", f"{head}\n{row}\n")])
    assert dict(mappings.proposed(table).columns) == expected


def test_questions_reports_and_criteria_of_a_lab_come_in_by_one_command_each_and_once(
    tmp_path: Path, capsys
) -> None:
    file = tmp_path / "new.goldsmith"
    questions = written(tmp_path / "questions.csv", "ID,Question,Topic,Budget\n01,Why?,Law,9\n02,How?,Art,\n")
    for system in ("Alder", "Brook"):
        (tmp_path / "reports" / system).mkdir(parents=True)
        for key in ("01", "02"):
            written(tmp_path / "reports" / system / f"{key}.md", f"# {system} on {key}")
    rubrics = [
        {"question_id": "01", "criteria": [{"text": "Says why", "points": 3}, {"text": "Cites", "points": 1}]}
    ]
    criteria = written(tmp_path / "criteria.json", json.dumps(rubrics))
    words = printed(capsys, "import", file, questions)
    assert ("New: 2 items" in words, "kept with new items: Budget" in words) == (True, True)
    others = (tmp_path / "reports", criteria)
    assert "2 systems, 4 responses, 1 artifact, 2 units" in printed(capsys, "import", file, *others)
    assert "Nothing is new." in printed(capsys, "import", file, questions, *others)
    with closing(Project.open(file)) as project:
        first = items.read(project, items.ids(project)[0])
        filed = (first.key, first.question, first.subject, first.traits)
        assert filed == ("01", "Why?", "Law", {"Budget": "9"})
    # What is worded otherwise now never overwrites what is there.
    written(questions, "ID,Question,Topic,Budget\n01,Why not?,Law,9\n")
    assert "differs from what the project holds" in refused(capsys, "import", file, questions)


def test_every_row_that_cannot_be_taken_is_named_and_nothing_comes_in(tmp_path: Path, capsys) -> None:
    file = tmp_path / "new.goldsmith"
    bad = "id,question,criterion,weight\n1,Why?,Says,much\n2,,Says,1\n3,How?,Cites,2\n"
    twice = written(tmp_path / "r.csv", "id,model,response\n3,m,So.\n3,m,Otherwise.\n")
    words = refused(capsys, "import", file, written(tmp_path / "t.csv", bad), twice)
    for reason in (
        "row 2: criterion 1: “much” is no weight",
        "row 3: its question is empty",
        "row 3: another report of m on item 3 stands in these files",
    ):
        assert reason in words
    # A project that nothing came into is not left behind.
    assert not file.exists()


def test_a_mapping_says_what_columns_hold_and_a_wrong_one_what_is_wrong(tmp_path: Path) -> None:
    table = written(tmp_path / "t.csv", "nr,Frage,Thema\n1,Warum,Recht\n")
    assert "none of its columns is known" in str(tables.read([table]).problems[0])
    how = written(
        tmp_path / "m.json", json.dumps({"tables": [{"columns": {"item": "nr", "question": "Frage"}}]})
    )
    bundle, (problem,), _ = tables.read([table], mapping=mappings.TablesMapping.at(how))
    (item,) = bundle.items
    assert (item.key, item.question, problem.note) == ("1", "Warum", True)
    written(how, json.dumps({"tables": [{"columns": {"Frage": "question"}}]}))
    expect_refusal("no field", mappings.TablesMapping.at, how)


@needs_layouts
@pytest.mark.parametrize(
    ("names", "mapping", "expected"),
    [
        (("own",), "", {"items": 20, "systems": 2, "responses": 40, "artifacts": 6}),
        (
            ("deepresearch_bench/query.jsonl", "deepresearch_bench/claude-3-7-sonnet-latest.jsonl"), "",
            {"items": 6, "systems": 1, "responses": 4},
        ),
        (("deepresearch_bench_2/tasks_and_rubrics.jsonl",), "deepresearch_bench_2", {"items": 4, "artifacts": 4}),
        (("scholarqa",), "", {"items": 3}),
        (("deepresearch_bench",), "", {"items": 6, "systems": 1, "responses": 4, "artifacts": 6}),
        (("made/hb",), "", {"items": 1, "systems": 1, "responses": 1, "artifacts": 1}),
        *((("doccano/text_classification." + ending,), "doccano", {"items": 3}) for ending in ("csv", "json", "jsonl")),
        *(((f"made/{name}",), "", ONE_ITEM | {"labels": labels}) for name, labels in OF_LABELS.items()),
    ],
)  # fmt: skip
def test_public_files_come_in_whole_into_a_new_project(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], names: Any, mapping: str, expected: dict[str, int]
) -> None:
    file, how = tmp_path / "new.goldsmith", ("--mapping", mapping) if mapping else ()
    paths = [LAYOUTS / name for name in names]
    # Of tables with labels one shows that they come in once.
    for again in (False, True)[: 1 if "labels" in expected and names != ("made/bools.json",) else 2]:
        report = told(capsys, "import", file, *paths, *how)
        new = {thing: count["new"] for thing, count in report["counts"].items() if count["new"]}
        assert (new, report["problems"]) == ({} if again else expected, [])


OF_UNITS: dict[str, tuple[str, list[dict[str, Any]]]] = {
    "insights": ("insight\nRoots hold soil\nRain moves it\n", [{}, {}]),
    "plan": ("subtask\nFind the causes\nCompare them\n", [{}, {}]),
    "evidence": (
        "reference,doi,authors,year,importance\nOn soil,10.1/x,A. Pol,2021,not important\nOn rain,,,,\n",
        [
            {"identifier": "10.1/x", "authors": "A. Pol", "year": 2021, "importance": "not_important"},
            {"year": None},
        ],
    ),
    "diagnostics": (
        "statement,gold,aspect\nRain is named,TRUE,Results\nWind is not,0,\n",
        [{"label": True, "aspect": "results"}, {"label": False, "aspect": None}],
    ),
    "rubric": ("criterion,points\nNames rain,3\nNames wind,1\n", [{"weight": 3}, {"weight": 1}]),
    "checklist": ("checkpoint\nNames rain\nNames wind\n", [{"share": 0.5}, {"share": 0.5}]),
    "nuggets": (
        "nugget,importance\nRain\u2019s part,Vital\nWind,\n",
        [{"importance": "vital"}, {"importance": "okay"}],
    ),
}


@pytest.mark.parametrize("kind", OF_UNITS)
def test_units_of_every_kind_come_in_as_settled_gold_or_as_a_persons_drafts(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    text, expected = OF_UNITS[kind]
    head, *lines = text.splitlines()
    table = written(
        tmp_path / "t.csv", "\n".join((f"id,question,{head}", *(f"1,Why?,{line}" for line in lines)))
    )
    for name, more, state in (("a", (), "consensus"), ("b", ("--author", "R1"), "draft")):
        file = tmp_path / f"{name}.goldsmith"
        new_project(file).close()
        assert "1 artifact, 2 units" in printed(capsys, "import", file, table, *more)
        with closing(sqlite3.connect(file)) as db:
            (result,) = db.execute("SELECT a.kind, a.state, r.content FROM artifact a JOIN revision r ON "
                                  "r.artifact_id = a.id").fetchall()  # fmt: skip
        units = json.loads(result[2])["units"]
        texts = [unit["text"] for unit in units]
        assert (*result[:2], texts) == (kind, state, [line.split(",")[0] for line in lines])
        fields = [{field: unit[field] for field in of} for unit, of in zip(units, expected, strict=True)]
        assert fields == expected
    if kind == "diagnostics":
        written(table, "id,question,statement,gold\n1,Why?,Rain,perhaps\n")
        words = refused(capsys, "import", tmp_path / "c.goldsmith", table)
        assert "“perhaps” is neither true nor false" in words


POINT_FILES = {
    "weights.csv": "id,question,title,checkpoint,weight\n1,Why?,Rigour,Is it sound?,0.4\n1,Why?,Clarity,Is it clear?,\n"
    "1,Why?,,Is it new?,\n",
    "weights.json": json.dumps([{"id": "1", "question": "Why?", "evaluation_criteria": [
        {"title": "Rigour", "weight": 0.4, "description": "Is it sound?"},
        {"title": "Clarity", "description": "Is it clear?"},
        {"title": "", "weight": None, "description": "Is it new?"},
    ]}]),
}  # fmt: skip


@pytest.mark.parametrize("name", POINT_FILES)
def test_points_have_title_description_and_weight_and_those_without_share_the_rest(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    file = tmp_path / "a.goldsmith"
    new_project(file).close()
    printed(capsys, "import", file, written(tmp_path / name, POINT_FILES[name]))
    with closing(sqlite3.connect(file)) as db:
        (content,) = db.execute("SELECT content FROM revision").fetchone()
    units = json.loads(content)["units"]
    assert [(unit.get("title", ""), unit["text"], round(unit["share"], 4)) for unit in units] == [
        ("Rigour", "Is it sound?", 0.4), ("Clarity", "Is it clear?", 0.3), ("", "Is it new?", 0.3),
    ]  # fmt: skip


def test_labels_are_looked_at_before_they_come_in_and_add_to_what_is_there(tmp_path: Path, capsys) -> None:
    file = tmp_path / "new.goldsmith"
    rows = "id,question,system,report,criterion,weight\n1,Why?,A,# It is.,Says why,3\n"
    printed(capsys, "import", file, written(tmp_path / "t.csv", rows))
    labels = written(
        tmp_path / "labels.csv",
        "item,system,criterion,annotator,label\n1,A,Says why,Ana,TRUE\n1,A,Says why,Bo,0\n",
    )
    for dry, new in (("--dry-run", 2), ("", 2), ("", 0)):
        assert told(capsys, "import", file, labels, *filter(None, [dry]))["counts"]["labels"]["new"] == new
    with closing(Project.open(file, readonly=True)) as project:
        preview = imports.preview(project, "", [labels])
        assert (preview.counts["labels"].same, preview.problems) == (2, ())
    # An item that nobody has is named, and nothing is made up for it beside what is there.
    written(labels, "item,system,criterion,annotator,label\n2,A,Says why,Ana,TRUE\n1,A,Says how,Ana,1\n")
    words = refused(capsys, "import", file, labels)
    assert ("there is no item “2”" in words, "reads “Says how”" in words) == (True, True)


WEBANNO = """#FORMAT=WebAnno TSV 3.3
#T_SP=webanno.custom.Verdict|criterion|value
#T_RL=webanno.custom.Link|label|BT_webanno.custom.Verdict


#Text=Rain moves soil .
1-1\t0-4\tRain\tNames the cause[1]\tyes[1]\t_\t_\t
1-2\t5-10\tmoves\tNames the cause[1]\tyes[1]\t_\t_\t
1-3\t11-15\tsoil\tNames a \\[place\\]\tno\tx\t1-1[0_1]\t
1-4\t16-17\t.\t_\t_\t_\t_\t
"""


def test_spans_of_inception_are_labels_with_their_quotes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "report 1").mkdir()
    written(tmp_path / "report 1" / "ana.tsv", WEBANNO)
    file = tmp_path / "new.goldsmith"
    assert "2 labels" in printed(capsys, "import", file, tmp_path / "report 1", "--mapping", "inception")
    with closing(sqlite3.connect(file)) as db:
        labels = db.execute("SELECT value, quote FROM judgement ORDER BY value").fetchall()
        assert labels == [("no", "soil"), ("yes", "Rain moves")]
        assert db.execute("SELECT text FROM response").fetchall() == [("Rain moves soil .",)]
        assert "Names a [place]" in db.execute("SELECT content FROM revision").fetchone()[0]


def test_an_import_that_is_refused_leaves_no_setting_behind(tmp_path: Path) -> None:
    rows = "id,question,criterion,weight\n1,Why?,Says why,9\n2,How?,Guesses,much\n"
    labels = "item,system,criterion,rater,value\n1,A,Says why,Ana,perhaps\n"
    paths = [written(tmp_path / "t.csv", rows), written(tmp_path / "l.csv", labels)]
    with closing(Project.create(tmp_path / "p.goldsmith")) as project:
        expect_refusal("", imports.run, project, "", paths, imports.ImportOptions(allow_weights=True))
        assert settings.allowed(project).usual
        assert items.count(project) == 0


# What tables hold that are mutated: questions, reports, criteria and labels, flat and nested.
PLAIN = (
    [{"id": "1", "question": "Why, then?", "topic": "Law"}, {"id": "2", "question": "“How”?", "topic": ""}],
    [{"id": "1", "question": "Why?", "system": "A", "report": "# One\nIt is."}],
    [
        {
            "id": "1",
            "question": "Why?",
            "rubrics": [{"criterion": "Says why", "points": 2}, {"criterion": "Cites"}],
        }
    ],
    [
        {
            "id": "1",
            "question": "Why?",
            "reference": "On it",
            "year": 2020,
            "doi": "10.1/x",
            "weight": "important",
        }
    ],
    [
        {
            "id": "1",
            "question": "Why?",
            "statement": "It is",
            "gold": True,
            "checkpoint": "Names it",
            "share": 1,
        }
    ],
    [{"item": "1", "system": "A", "criterion": f"Says {n}", "rater": "R", "value": "yes"} for n in range(3)],
)
CELLS: tuple[Any, ...] = (
    "", None, 7, -1.5, 10**30, True, "=1+1", "x" * 300_000, "NA", "\u202eevil", "a\nb", "'", '"', ["a", ["b"]],
    {"a": {"b": [1]}}, "1e999", "\x00", "٣", float("nan"),
)  # fmt: skip
BYTES = (
    b"\x00",
    b'"',
    b",",
    b"\n",
    b"\r",
    b"\xff",
    b"\xef\xbb\xbf",
    b";",
    b"\t",
    b"=1+1",
    b"{",
    b"]",
    b"\xff\xfe",
)


def mutated(rng: random.Random, path: Path) -> Path:
    """A table of any kind with cells, columns and bytes changed at random."""
    rows = [dict(row) for row in rng.choice(PLAIN)]
    for _ in range(rng.randint(0, 3)):
        row = rng.choice(rows)
        row[rng.choice([*row, "more", "ID", "label"])] = rng.choice(CELLS)
    if rng.random() < 0.2:
        rows *= rng.randint(2, 40)
    kind = rng.choice(("csv", "csv", "tsv", "json", "jsonl", "xlsx"))
    path = path.with_suffix(f".{kind}")
    if kind == "xlsx":
        book = pytest.importorskip("openpyxl").Workbook()
        for cells in (list(rows[0]), *(row.values() for row in rows)):
            book.active.append([str(cell)[:30_000].replace("\x00", "") for cell in cells])
        book.save(path)
        content = path.read_bytes()
    elif kind in ("csv", "tsv"):
        out = io.StringIO()
        sheet = csv.writer(out, delimiter=rng.choice(",;\t|"))
        sheet.writerow([*rows[0], *rng.choice(([], [], [next(iter(rows[0]))], [""]))])
        sheet.writerows(list(row.values())[: rng.choice((99, 99, 2))] for row in rows)
        content = out.getvalue().encode(
            rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16", "cp1252")), "replace"
        )
    else:
        lines = [json.dumps(row) for row in rows]
        text = "\n".join(lines) if kind == "jsonl" else f"[{','.join(lines)}]"
        content = text.encode(rng.choice(("utf-8", "utf-8", "utf-8-sig", "utf-16")))
    if rng.random() < 0.4:
        changed = bytearray(content)
        for _ in range(rng.randint(1, 4)):
            place = rng.randrange(len(changed) + 1)
            changed[place : place + rng.randint(0, 3)] = rng.choice(BYTES)
        content = bytes(changed)
    path.write_bytes(content)
    return path


def imported(folder: Path, many: int, seed: int = 3) -> Counter[str]:
    """How many mutated tables came in whole, were refused in words, or did neither; of those the first stands named."""
    rng, outcomes = random.Random(seed), Counter[str]()
    empty = folder / "empty.goldsmith"
    Project.create(empty).close()
    project, clean = Project.open(empty), counts(empty)
    for _ in range(many):
        path = mutated(rng, folder / "table")
        try:
            _, report = imports.run(project, "", [path], warm=False)
            outcome = "came in" if report.new and not report.problems else "nothing new"
        except Refusal as refusal:
            outcome = "refused" if refusal.happened and refusal.todo else "refused without words"
        after = counts(empty)
        if (after != clean) != (outcome == "came in"):
            outcome = f"half of {path.read_bytes()[:300]!r}"
        if after != clean:
            project.close()
            for left in folder.glob("empty.goldsmith*"):
                left.unlink()
            Project.create(empty).close()
            project = Project.open(empty)
        outcomes[outcome] += 1
        path.unlink()
    project.close()
    return outcomes


def counts(file: Path) -> list[int]:
    names = ("item", "system", "response", "artifact", "revision", "judgement", "person", "audit")
    with closing(sqlite3.connect(file)) as db:
        return [db.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in names]


def test_mutated_tables_come_in_whole_or_not_at_all(tmp_path: Path) -> None:
    outcomes = imported(tmp_path, 30)
    assert outcomes.keys() <= {"came in", "nothing new", "refused"}, outcomes
    assert min(outcomes["came in"], outcomes["refused"]) > 3


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
    read = found(folder, content, name)
    (finding,) = read.problems
    assert (finding.trouble, finding.row, read.entries) == (EntryTrouble.UNREADABLE, None, [])
    return str(finding)


# Tables


def test_a_row_is_one_label_and_knows_its_row_in_the_sheet(tmp_path: Path) -> None:
    assert found(tmp_path, HEAD + "1,Alpha,Names the cause,A,yes\n\n2,Beta,Both,B,no\n").entries == [
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
    assert found(tmp_path, "item,system,unit,rater,value,mood,at\n1,A,B,C,yes,good,2020\n").notes == [
        "labels.csv: not read are “mood”"
    ]


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
    read = found(tmp_path, b"".join(as_csv(rows)) if ending == ".csv" else as_json(rows), f"labels{ending}")
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
    LabelledReport(
        ItemRecord(id="item-7", key="7", question="Why?"), "Sys_1/x", 1, "end-to-end",
        [LabelledUnit("a", "Both", 2.0), LabelledUnit("b", "Left", 1.0), LabelledUnit("c", "Not", 3.0)],
    ),
    "R_1", "id-1",
    {"a": GivenLabel("report", "a", "R_1", "id-1", "yes"), "c": GivenLabel("report", "c", "R_1", "id-1", "no")},
)  # fmt: skip


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
    other = AnnotatorSheet(7, SHEET.report, "R-1", "id-2", SHEET.labels)
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
    assert human_files.mistaken(
        ["explains the cost model", "names two datasets the", "explains the dataset"]
    ) == [(2, 0)]


@pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")
def test_most_published_points_are_told_apart_there() -> None:
    """Of the 931 published criteria a few are compared with another one; the share is small, and it is said."""
    rubrics = [
        [line["point"] for line in load["rubric"]]
        for load in json.loads((REAL / "rubric.json").read_text("utf-8"))
    ]
    assert sum(map(len, rubrics)) == 931
    assert 0 < sum(len(human_files.mistaken(points)) for points in rubrics) < 0.05 * 931


if __name__ == "__main__":
    with TemporaryDirectory() as place:
        print(
            *(f"{count:,} × {outcome}" for outcome, count in imported(Path(place), int(sys.argv[1])).items()),
            sep="\n",
        )
