"""The files of a release, and their tables."""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from annotator.actions.releases import releases
from annotator.exchange import folders
from annotator.exchange.release import release, tables_csv
from annotator.exchange.release.bundle import Bundle, laid_aside
from annotator.exchange.release.data_card import ReleaseFacts
from tests.actions.releases.released_pairs import paired_project
from tests.material.bundles import change_json, found, rich_bundle, without_manifest, write_release
from tests.projects.refusals import expect_refusal


def test_what_was_written_is_read_again_and_written_the_same(tmp_path: Path) -> None:
    first = write_release(tmp_path / "a")
    bundle, problems = release.read([first])
    assert (problems, bundle.counts()) == ([], rich_bundle().counts())
    assert found(write_release(tmp_path / "b", bundle)) == found(first)


def test_files_are_the_same_in_any_order(tmp_path: Path) -> None:
    bundle = rich_bundle()
    for thing in bundle.counts():
        getattr(bundle, thing).reverse()
    files = found(write_release(tmp_path / "a"))
    assert found(write_release(tmp_path / "b", bundle)) == files
    assert {"responses/alpha.json", "responses/nul_.json", "artifacts/rubric.json"} <= files.keys()
    for path, content in files.items():
        assert content.endswith(b"\n")
        if path.endswith(".json"):
            tree = json.loads(content)
            assert content.decode() == json.dumps(tree, indent=2, sort_keys=True, ensure_ascii=False) + "\n"
    listed = {file["path"]: file for file in json.loads(files["manifest.json"])["files"]}
    assert listed.keys() == files.keys() - {"manifest.json", "SHA256SUMS"}
    assert all(len(files[path]) == file["bytes"] for path, file in listed.items())
    assert listed["judgements.json"]["records"] == 3
    other = rich_bundle()
    other.items[0] = other.items[0].model_copy(update={"question": "Why does it snow?"})
    first, third, changed = (
        release.content_sha256(release.content(bundle, ReleaseFacts(title="T", number=number))[1])
        for bundle, number in ((rich_bundle(), 1), (rich_bundle(), 3), (other, 1))
    )
    assert first == third != changed


def test_what_is_made_once_is_read_twice_and_in_turns() -> None:
    made = laid_aside(iter([b"one\n", b"", b"two and three\n"]), "rows")
    assert [*zip(made, made, strict=True)] == [
        (piece, piece) for piece in (b"one\n", b"", b"two and three\n")
    ]


def test_files_written_by_hand_need_no_manifest(tmp_path: Path) -> None:
    folder = without_manifest(write_release(tmp_path / "a"))
    (folder / "runs.json").unlink()
    (folder / "notes.json").write_text("[]", "utf-8")
    bundle, (problem,) = release.read([folder])
    assert (bundle.counts()["items"], problem.file, problem.note) == (2, "notes.json", True)


def test_units_written_without_ids_get_the_same_ids_every_time(tmp_path: Path) -> None:
    folder = without_manifest(write_release(tmp_path / "a"))

    def unnamed(tree: Any) -> None:
        for unit in tree[0]["document"]["units"]:
            del unit["id"]
        tree[0]["sha256"] = release.sha256(release.canonical_json(tree[0]["document"]))

    change_json(folder / "artifacts" / "rubric.json", unnamed)
    ids = [[u["id"] for u in release.read([folder])[0].artifacts[1].document["units"]] for _ in range(2)]
    assert (ids[0], len(set(ids[0]))) == (ids[1], 2)


@pytest.mark.parametrize(
    ("spoil", "reason"),
    [
        (
            lambda f: (f / "items.json").write_bytes((f / "items.json").read_bytes() + b" "),
            "checksum differs",
        ),
        (lambda f: (f / "judgements.json").unlink(), "There is no file"),
        (lambda f: (f / "responses" / "extra.json").write_text("[]", "utf-8"), "is not listed"),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t.update(format_version="2.0")),
            "needs a newer Goldsmith",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t.update(format="zip")),
            "not that of a Goldsmith",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t.update(format_version="one")),
            "not a format version",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t["files"][0].update(path="../evil")),
            "no file of a release",
        ),
        (
            lambda f: change_json(f / "manifest.json", lambda t: t["files"].append(t["files"][0])),
            "lists a file twice",
        ),
        (lambda f: change_json(f / "manifest.json", lambda t: t.pop("files")), "“files” is missing"),
    ],
)
def test_a_release_that_is_not_as_its_manifest_says_is_refused(
    tmp_path: Path, spoil: Callable[[Path], None], reason: str
) -> None:
    folder = write_release(tmp_path / "a")
    spoil(folder)
    expect_refusal(reason, release.read, [folder])


def test_a_newer_minor_format_is_read_without_its_new_fields(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "a")
    change_json(folder / "items.json", lambda tree: tree[0].update(mood="calm"))
    content = (folder / "items.json").read_bytes()

    def newer(tree: Any) -> None:
        entry = next(file for file in tree["files"] if file["path"] == "items.json")
        entry.update(bytes=len(content), sha256=release.sha256(content))
        tree.update(format_version="1.7", colour="blue")

    change_json(folder / "manifest.json", newer)
    bundle, (problem,) = release.read([folder])
    assert (len(bundle.items), problem.file, problem.index, problem.note) == (2, "items.json", 0, True)


def test_a_newer_minor_format_may_hold_files_that_are_left_unread_but_not_unchecked(tmp_path: Path) -> None:
    folder = write_release(tmp_path / "a")
    (folder / "moods.json").write_text("[]", "utf-8")
    entry = {"path": "moods.json", "sha256": release.sha256("[]"), "bytes": 2, "records": 0}
    change_json(folder / "manifest.json", lambda t: t.update(files=[*t["files"], entry]))
    expect_refusal("no file of a release", release.read, [folder])
    change_json(folder / "manifest.json", lambda t: t.update(format_version="1.7"))
    assert [(p.file, p.note) for p in release.read([folder])[1]] == [("moods.json", True)]
    (folder / "moods.json").write_text("{}", "utf-8")
    expect_refusal("checksum differs", release.read, [folder])


def first_unit(tree: Any) -> dict[str, Any]:
    unit: dict[str, Any] = tree[0]["document"]["units"][0]
    return unit


BAD_RECORDS: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "text as number": (
        "responses/alpha.json",
        lambda t: t[0].update(trial="1"),
        "“trial” should be a valid integer",
    ),
    "true as number": (
        "responses/alpha.json",
        lambda t: t[0].update(tokens=True),
        "“tokens” should be a valid integer",
    ),
    "foreign field": (
        "items.json",
        lambda t: t[0].update(__proto__={}),
        "“__proto__” is not a field of this format",
    ),
    "missing field": ("items.json", lambda t: t[0].pop("question"), "“question” is missing"),
    "unknown state": ("artifacts/rubric.json", lambda t: t[0].update(state="gold"), "“state” should be"),
    "true as weight": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(weight=True),
        "“units.0.weight” should be a valid number",
    ),
    "fraction as weight": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(weight=3.0),
        "“document.units[0].weight” is of the wrong",
    ),
    "weight out of scale": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(weight=5000),
        "“units.0.weight” should",
    ),
    "changed document": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(text="Mine"),
        "not the one its checksum",
    ),
    "repeated unit": (
        "artifacts/rubric.json",
        lambda t: first_unit(t).update(id="c2"),
        "two units have the same id",
    ),
    "wrong file": ("artifacts/rubric.json", lambda t: t[0].update(kind="plan"), "“units.0."),
    "value without ok": (
        "judgements.json",
        lambda t: t[0].update(status="timeout"),
        "has a value when its status is ok",
    ),
    "ok without value": (
        "judgements.json",
        lambda t: t[0].update(value=None),
        "has a value when its status is ok",
    ),
    "not a list": ("items.json", lambda t: t[0].update(key=[1]), "“key” should be a valid string"),
}


@pytest.mark.parametrize("name", BAD_RECORDS)
def test_a_bad_record_is_listed_by_file_index_and_reason(tmp_path: Path, name: str) -> None:
    path, spoil, reason = BAD_RECORDS[name]
    folder = without_manifest(write_release(tmp_path / "a"))
    change_json(folder / path, spoil)
    _, (problem,) = release.read([folder])
    assert (problem.file, problem.index, reason in problem.reason) == (path, 0, True)


def test_shares_that_do_not_sum_to_one_are_a_problem(tmp_path: Path) -> None:
    folder = tmp_path / "a" / "artifacts"
    folder.mkdir(parents=True)
    units = [{"id": "p1", "text": "Depth", "share": 0.5}, {"id": "p2", "text": "Breadth", "share": 0.4}]
    document = {"units": units}
    record = {
        "id": "a", "item_id": "i", "kind": "checklist", "author_id": "", "state": "sealed", "revision": 1,
        "at": "2025-01-01T00:00:00Z", "document": document,
        "sha256": release.sha256(release.canonical_json(document)),
    }  # fmt: skip
    (folder / "checklist.json").write_text(json.dumps([record]), "utf-8")
    assert [p.reason for p in release.read([folder.parent])[1]] == [
        "The shares of the checklist sum to 0.90 and not to 1."
    ]


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "photo.json").write_text("{}", "utf-8")
    expect_refusal("holds no file of a Goldsmith release", release.read, [tmp_path])


def table(name: str) -> Any:
    return pd.read_csv(io.BytesIO(bytes(tables_csv.files(rich_bundle())[name])))


@pytest.mark.parametrize(
    "cell", ["=cmd|' /C calc'!A0", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "＝1", "＋1", "－1", "＠A1"]
)
def test_a_cell_that_a_spreadsheet_would_run_gets_an_apostrophe(cell: str) -> None:
    assert tables_csv.guard(cell) == f"'{cell}"
    written = tables_csv.csv([{"a": cell, "b": 1}]).decode("utf-8-sig")
    assert list(csv.reader(io.StringIO(written, newline="")))[1] == [f"'{cell}", "1"]


@pytest.mark.parametrize("cell", [-1, -0.5, 0, True, None, "a=b", "", "'quoted"])
def test_numbers_and_harmless_texts_stay_as_they_are(cell: Any) -> None:
    assert tables_csv.guard(cell) is cell


def test_cells_are_harmless_and_numbers_stay() -> None:
    assert tables_csv.files(rich_bundle())["items.csv"].startswith(b"\xef\xbb\xbfid,")
    assert list(table("items.csv")["question"]) == ["Why does it rain?", "なぜ?"]
    lines = tables_csv.files(rich_bundle())["responses.csv"].decode("utf-8-sig").splitlines()
    # "Rain.", CR, LF, "And", U+2028, "more": 5 + 2 + 3 + 1 + 4 characters.
    assert lines[:2] == [
        "id,item_key,system,trial,mode,characters,latency_s,tokens,cost_usd,run_tokens,cost_part_usd",
        "response-1,one,Alpha,1,end-to-end,15,,,,,",
    ]
    assert "response-2,two,Alpha,1,end-to-end,1,1.5,2,,," in lines
    cell = 'a\r\nb\u2028c,"d"\n\x0b' + "x" * 40_000
    (row,) = csv.DictReader(io.StringIO(tables_csv.csv([{"a": cell}]).decode("utf-8-sig"), newline=""))
    assert row["a"] == cell


def test_there_is_one_line_for_each_unit_with_its_item() -> None:
    criteria = table("criteria.csv")
    lines = list(zip(criteria["item_key"], criteria["weight"], criteria["text"], strict=True))
    assert lines == [("one", 3, "Names the cause"), ("one", 1, "'=Compares “two”, with commas")]
    assert criteria["quote"][0] == "the cause"
    # Authors appear by their alias.
    statement = table("statements.csv").iloc[0]
    assert (statement["author"], statement["label"], statement["aspect"]) == ("R2", True, "results")
    # A missing judgement has an empty value and its cause.
    missing = table("judgements.csv").set_index(["rater_id", "unit_id"]).loc[("judge-1", "c2")]
    assert (missing["status"], missing["cause"]) == ("timeout", "no answer in 60 s")
    assert pd.isna(missing["value"])


def test_the_same_content_gives_the_same_bytes_in_any_order() -> None:
    bundle = rich_bundle()
    for thing in bundle.counts():
        getattr(bundle, thing).reverse()
    made, again = (tables_csv.files(each) for each in (bundle, rich_bundle()))
    assert {name: bytes(made[name]) for name in made} == {name: bytes(again[name]) for name in again}


def test_tables_are_as_pandas_writes_them() -> None:
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
    pairs = [{"first": cell, "second, third": n if n % 3 else None} for n, cell in enumerate(cells)]
    for rows in (pairs, [{"a": None}, {"a": ""}, {"a": 2}]):
        expected = pd.DataFrame(rows, dtype=object).to_csv(index=False, lineterminator="\r\n")
        assert tables_csv.csv(rows).decode("utf-8-sig") == expected
    rows = [
        {"a": n, "b": None if n % 7 else n / 3, "c": f'"{n}", =x'} for n in range(2 * folders.AT_ONCE + 1)
    ]
    head, *lines = tables_csv.csv(rows).decode("utf-8-sig").splitlines(keepends=True)
    assert head == "a,b,c\r\n"
    assert lines == [tables_csv.csv([row]).decode("utf-8-sig").splitlines(keepends=True)[1] for row in rows]


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Bundle:
    return releases.gather(paired_project(tmp_path_factory.mktemp("pairs")))[0]


def test_frozen_figures_and_versions_have_lines(bundle: Bundle, tmp_path: Path) -> None:
    tables = tables_csv.pair_tables(bundle)
    lines = tables["agreement"]
    assert len(lines) == sum(len(pair.figures) for one in bundle.agreements for pair in one.pairs)
    (f1,) = [line for line in lines if line["stage"] == "rubric" and line["figure"] == "match_f1"]
    # 4 pairs of 5 and 6 criteria.
    assert f1["value"] == pytest.approx(8 / 11)
    assert (sorted((f1["rater_a"], f1["rater_b"])), f1["item_key"], f1["matcher"]) == (["R2", "R3"], "1", "2")
    lines = tables["provenance"]
    versions = [(line["version"], line["adjudicator"]) for line in lines]
    assert versions == [(1, "R4")] * 6 + [(2, "R4")] * 7
    (edited,) = [line for line in lines if line["origin"] == "edited"]
    assert (edited["written_by"], edited["wording_of"], edited["reason"]) == ("R2", "", "wording")
    assert {line["written_by"] for line in lines if line["origin"] == "both"} == {"R2 and R3"}
    (line,) = tables["disputes"]
    assert line.items() >= {"person": "R2", "version": 1, "state": "answered", "answered_version": 2}.items()
    ids = {person.id for person in bundle.people}
    assert not any(
        str(value) in ids for lines in tables.values() for line in lines for value in line.values()
    )


def test_the_tables_are_files_like_the_others_and_absent_where_there_is_nothing(bundle: Bundle) -> None:
    names = {"agreement.csv", "provenance.csv", "disputes.csv"}
    assert names <= tables_csv.files(bundle).keys()
    assert not names & tables_csv.files(rich_bundle()).keys()
