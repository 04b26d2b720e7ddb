"""The commands for sources, cited pages, evidence and items."""

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.items.extracts import NewExtract
from annotator.actions.material import lookups
from annotator.actions.project.file import Project
from annotator.cli.sources import app, evidence_app
from annotator.domain.material.extract import Claim, Claims, ResponsePart
from annotator.domain.material.item import IMPORT
from annotator.storage.tables import RESPONSE
from tests.cli.commands import goldsmith, invoked, printed, refused, told
from tests.exchange.pages.page_server import Given, PageServer, article, serving
from tests.gui.authoring.small_pdf import pdf
from tests.material import drawn_extracts
from tests.projects import pairs_project as pairs
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project, small_sample


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        running.pages |= {"/a": article("A"), "/b": Given(status=404)}
        yield running


@pytest.fixture
def file(tmp_path: Path, server: PageServer) -> Path:
    """A project with claims that cite two pages, each under another name of loopback, so that none waits."""
    project = small_project(tmp_path)
    with project.store.read() as db:
        row = db.execute(RESPONSE.select().order_by(RESPONSE.c.id)).mappings().all()[0]
    urls = (server.url("/a"), server.url("/b", "localhost"))
    claims = Claims(units=tuple(Claim(text=f"Claim on {url}.", url=url) for url in urls))
    drawn_extracts.keep(project, NewExtract(row["item_id"], row["id"], ResponsePart.CLAIMS, claims, IMPORT))
    return project.path


def run(*words: str) -> tuple[int, str]:
    return invoked(app, *words)


def told_of(*words: str) -> dict[str, Any]:
    return json.loads(run(*words, "--json")[1])


def test_nothing_private_is_fetched_by_itself(file: Path, server: PageServer) -> None:
    cited = sorted([server.url("/a"), server.url("/b", "localhost")])
    assert run("list", str(file))[1].splitlines() == [f"not fetched  {url}" for url in cited]
    listed = [(one["url"], one["state"], one["claims"]) for one in told_of("list", str(file))["pages"]]
    assert listed == [(url, "not fetched", 1) for url in cited]
    assert (told_of("fetch", str(file))["by_state"], server.asked) == ({"forbidden": 2}, [])
    code, words = run("fetch", str(file), "--progress", "json", "--reader", "nonsense")
    assert (code, json.loads(words.splitlines()[-1])["event"]) == (1, "refused")


def test_fetched_pages_are_listed_with_their_states(file: Path, server: PageServer) -> None:
    result = told_of("fetch", str(file), "--allow-private")
    assert (result["state"], result["by_state"]) == ("done", {"ok": 1, "dead": 1})
    listed = {line["url"]: line["state"] for line in told_of("list", str(file))["pages"]}
    assert listed == {server.url("/a"): "ok", server.url("/b", "localhost"): "dead"}
    assert "There is no such page any more (404)." in run("list", str(file))[1]


def test_a_reader_service_is_asked_instead(file: Path, server: PageServer) -> None:
    for path, host in (("/a", "127.0.0.1"), ("/b", "localhost")):
        server.pages[f"/read/{server.url(path, host)}"] = article("Through the reader")
    result = told_of("fetch", str(file), "--allow-private", "--reader", server.url("/read/"))
    assert result["by_state"] == {"ok": 2}
    expect_refusal("reader service", run, "fetch", str(file), "--reader", "nonsense")


def test_pages_come_from_a_folder(file: Path, server: PageServer, tmp_path: Path) -> None:
    (folder := tmp_path / "saved").mkdir()
    (folder / "b.txt").write_text("What stood there.", "utf-8")
    (folder / "pages.csv").write_text(f"url,file\n{server.url('/b', 'localhost')},b.txt\n,x\n", "utf-8")
    code, words = run("import", str(file), str(folder))
    assert (code, words.splitlines()[:2]) == (3, ["1 of 1 pages (done).", "1 page: 1 read."])
    assert "pages.csv, row 3: the address or the name of the file is missing." in words


def test_a_folder_of_which_nothing_could_be_taken_is_a_failure(file: Path, tmp_path: Path) -> None:
    (tmp_path / "nameless.html").write_text("<p>words", "utf-8")
    code, words = run("import", str(file), str(tmp_path))
    assert (code, "nameless.html: it does not say which address" in words) == (1, True)


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_a_polite_end_keeps_what_came(file: Path, server: PageServer) -> None:
    server.pages["/b"] = Given(held=True)
    code = "import sys; from annotator.cli.sources import app; app(sys.argv[1:])"
    words = [sys.executable, "-c", code, "fetch", str(file), "--allow-private", "--progress", "json"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as child:
        child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        assert json.loads(child.stdout.readline())["state"] == "cancelled"
        assert child.wait(10) == 3
    Project.open(file, readonly=True).close()
    assert [line["state"] for line in told_of("list", str(file))["pages"]] == ["ok", "not fetched"]


def evidence(file: Path, *words: str, listed: str = "") -> str:
    """What the command says that takes references of item 1 from a file, or from a list that is typed in."""
    result = CliRunner().invoke(evidence_app, ["import", str(file), "--item", "1", *words], input=listed)
    return result.stdout


def test_letter_7_references_come_in_from_a_file_or_from_input(file: Path, tmp_path: Path) -> None:
    (path := tmp_path / "works.ris").write_text(
        "TY  - JOUR\nTI  - Deep rivers of the north\nDO  - 10.1234/a\nER  - \n", "utf-8"
    )
    assert evidence(file, str(path)) == "1 entry (RIS): 1 new.\n"
    result = json.loads(evidence(file, "-", "--json", listed="10.1234/A\n10.1234/b\nsee above\n"))
    repeats = [entry["repeats"] for entry in result["entries"]]
    assert (result["taken"], repeats) == (1, ["reference 1", "", ""])
    assert result["entries"][2]["why"].startswith("Neither a title nor an identifier")


def test_doubtful_references_stay_out_of_the_evidence_until_they_are_asked_for(file: Path) -> None:
    listed = "J. Smith. Deep rivers of the north. Water, 2019.\nJane Doe, John Roe, and Ann Lee.\n"
    assert evidence(file, "-", listed=listed).splitlines() == [
        "2 entries (a list): 1 new, 1 doubtful.",
        "doubtful, the title looks like names (line 2): Jane Doe, John Roe, and Ann Lee",
    ]
    assert json.loads(evidence(file, "-", "--doubtful", "--json", listed=listed))["taken"] == 1


def test_letter_7_lacking_titles_are_filled_in_from_a_file(file: Path, tmp_path: Path) -> None:
    evidence(file, "-", listed="10.1234/a\n10.1234/b\n")
    (path := tmp_path / "replies.json").write_text('{"DOI": "10.1234/a", "title": ["Rivers"]}', "utf-8")
    looked_up = invoked(evidence_app, "look-up", file, "--item", "1", "--from", path)
    assert looked_up == (0, "1 work found.\n")
    project = Project.open(file, readonly=True)
    own = lookups.own_evidence(project, items.ids(project)[0])
    assert [unit.text for unit in own.document.units] == ["Rivers", ""]


def test_letter_7_it_must_be_clear_what_to_import(file: Path) -> None:
    expect_refusal("not clear what to import", invoked, evidence_app, "import", file, "--item", "1")
    expect_refusal("no item “none”", invoked, evidence_app, "import", file, "--item", "none", "-")


def test_files_are_put_beside_an_item_once_and_all_of_them_or_none(file: Path, tmp_path: Path) -> None:
    rivers, lakes, odd = (tmp_path / name for name in ("Rivers.md", "Lakes.pdf", "odd.txt"))
    for path, content in ((rivers, b"Words."), (lakes, pdf([["Lakes are deep"]])), (odd, b"\xff\xfe")):
        path.write_bytes(content)
    for wrong, words in ((str(odd), "“odd.txt” is not UTF-8"), ("https://a.example/b", "Sources are files")):
        expect_refusal(words, run, "add", str(file), "1", str(rivers), wrong)
    added = [{"file": str(rivers), "added": True}, {"file": str(lakes), "added": True}]
    assert told_of("add", str(file), "1", str(rivers))["sources"] == added[:1]
    assert told_of("add", str(file), "1", str(rivers), str(lakes))["sources"] == [
        added[0] | {"added": False},
        added[1],
    ]
    assert run("add", str(file), "1", str(rivers), "--title", "On rivers") == (0, f"Added: {rivers}\n")
    project = Project.open(file, readonly=True)
    result = {source.title: source.text for source in items.sources(project, items.ids(project)[0])}
    assert result == {"Rivers": "Words.", "Lakes": "Lakes are deep", "On rivers": "Words."}


def test_letter_8_sources_are_described_from_the_command_line(file: Path, tmp_path: Path) -> None:
    (path := tmp_path / "Rivers.md").write_text("Words.", "utf-8")
    project = Project.open(file)
    first = items.ids(project)[0]
    items.add_source(project, first, path)
    described = ("--kind", "review", "--published", "2024-05", "--citations", "12")
    assert run("describe", str(file), "--item", "1", *described) == (0, "1 source changed.\n")
    (one,) = items.sources(Project.open(file, readonly=True), first)
    assert (one.kind, one.published, one.citations) == ("review", "2024-05", 12)
    assert one.citations_on is not None


def candidates_file(folder: Path) -> str:
    project = pairs.pairs_project(folder, 0)
    pairs.candidates(project, (5, 5), (4, 4), (2, 2))
    return str(project.path)


def test_letter_2_items_are_listed_edited_retired_and_restored(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert "2 items changed." in printed(
        capsys, "items", "edit", file, "1", "2", "--subject", "NLP", "--type", "Survey"
    )
    printed(capsys, "items", "retire", file, "3")
    listed = told(capsys, "items", "list", file)["items"]
    assert [(one["key"], one["subject"], one["origin"]) for one in listed] == [
        ("1", "NLP", "laboratory"), ("2", "NLP", "interviews"),
    ]  # fmt: skip
    printed(capsys, "items", "edit", file, "1", "--phase", "Design", "--difficulty", "basic")
    printed(capsys, "items", "edit", file, "1", "--difficulty", "")
    assert "“sleep” is no phase." in refused(capsys, "items", "edit", file, "1", "--phase", "sleep")
    assert told(capsys, "items", "list", file)["items"][0]["traits"] == {"phase": "design"}
    printed(capsys, "items", "restore", file, "3")
    assert "There is no item “9”." in refused(capsys, "items", "retire", file, "9")
    assert items.count(Project.open(Path(file))) == 3


def test_an_item_is_added_once_under_its_key(tmp_path: Path, capsys, monkeypatch) -> None:
    file, filed = (
        candidates_file(tmp_path),
        ["--type", "Survey", "--subject", "Rivers", "--language", "en-GB"],
    )
    monkeypatch.setattr("sys.stdin", io.StringIO("河流为何弯曲？\n  Two lines.\n"))
    for words, code, said in (
        (["Why do rivers meander?", "--key", "R-007", *filed], 0, "Added item R-007."),
        (["Why do rivers meander?", "--key", "R-007"], 0, "Item R-007 has this question: nothing was added."),
        (["Why do rivers meander?"], 0, "Item R-007 has this question: nothing was added."),
        (["Why not?", "--key", "R-007"], 1, "The key “R-007” is taken by another question."),
        (["-"], 0, "Added item 5."),
    ):
        ended, *words_of = goldsmith(capsys, "items", "add", file, "--question", *words)
        assert (ended, said in "".join(words_of)) == (code, True)
    first, second = told(capsys, "items", "list", file)["items"][3:]
    filed_of = [first[name] for name in ("key", "question_type", "subject", "language")]
    assert filed_of == ["R-007", *filed[1::2]]
    assert second["question"] == "河流为何弯曲？\n  Two lines."


def test_letter_2_selection_is_applied_and_the_funnel_printed(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert told(capsys, "items", "apply-selection", file) == {"retired": ["2", "3"], "in_use": 1}
    refused(capsys, "items", "apply-selection", file)
    whole = told(capsys, "items", "funnel", file)["funnel"][-1]
    assert (whole["collected"], whole["reached"], whole["in_use"]) == (3, 1, 1)
    assert "laboratory" in printed(capsys, "items", "funnel", file)


def test_letter_4_the_bar_is_shown_and_set(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert "kept at 4 or more" in printed(capsys, "items", "bar", file, "--set", "4")
    assert told(capsys, "items", "apply-selection", file) == {"retired": ["3"], "in_use": 2}
    refused(capsys, "items", "bar", file, "--set", "many")
    assert told(capsys, "items", "bar", file) == {"bar": 4.0}


IN_THE_SAMPLE = {
    "items": 10, "systems": 3, "responses": 23, "people": 4, "runs": 10, "assignments": 85, "agreements": 29,
    "adjudications": 12,
}  # fmt: skip


@pytest.fixture
def sample(whole_sample: Project) -> Path:
    whole_sample.close()
    return whole_sample.path


def test_the_sample_has_something_for_every_page_and_its_backup_checks_out(sample, capsys):
    result = told(capsys, "info", sample)
    assert result["labels"] > 0
    assert {name: result[name] for name in IN_THE_SAMPLE} == IN_THE_SAMPLE
    assert {row["rater"] for row in told(capsys, "results", sample)["rows"]} == {"baseline"}
    result = told(capsys, "backup", sample)
    assert told(capsys, "check", (sample.parent / result["folder"] / result["backup"]))["problems"] == []
    assert told(capsys, "check", sample)["problems"] == []


def test_a_dry_run_of_an_import_changes_nothing(tmp_path, capsys):
    release, file = tmp_path / "release", tmp_path / "other.goldsmith"
    told(capsys, "export", small_project(tmp_path).path, "--to", release)
    printed(capsys, "new", file)
    assert told(capsys, "import", file, release, "--dry-run")["new"] > 0
    assert told(capsys, "info", file)["items"] == 0


def test_the_weights_of_criteria_are_shown_and_set(tmp_path, capsys):
    file = tmp_path / "new.goldsmith"
    printed(capsys, "new", file)
    assert told(capsys, "weights", file) == {"weights": "1 to 3", "values": [1, 2, 3]}
    assert told(capsys, "weights", file, "--allow", "-5, 1, 3")["values"] == [-5, 1, 3]
    assert printed(capsys, "weights", file) == "Criteria may have these weights: -5, 1, 3\n"
    assert "does not say which weights are allowed" in refused(capsys, "weights", file, "--allow", "heavy")


@pytest.mark.parametrize("profile", ["researcherbench", "csv"])
def test_the_other_profiles_are_written(profile, tmp_path, capsys):
    words = ("--to", tmp_path / profile, "--profile", profile)
    assert told(capsys, "export", small_project(tmp_path).path, *words)["profile"] == profile
    assert any((tmp_path / profile).iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("info", "nowhere.goldsmith"),
        ("judge", "run", "nowhere.goldsmith", "--judge", "baseline"),
        ("export", "nowhere.goldsmith", "--to", "x"),
    ],
)
def test_a_refusal_is_one_plain_sentence_and_exit_code_1(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = goldsmith(capsys, *words)
    assert (code, out, "Traceback" in err) == (1, "", False)
    assert err.startswith("There is no file “nowhere.goldsmith”")


# Commands, one after the other, in a process of their own.
PIPED = """
import json, sys
from annotator.__main__ import main
for words in json.loads(sys.argv[1]):
    sys.argv = ["goldsmith", *words]
    assert main() == 0
"""


def test_what_is_piped_is_utf_8_whatever_the_code_page_is(sample):
    words = (["results", str(sample), "--json"], ["agreement", str(sample)], ["validate", "--help"])
    alike = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", PIPED, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, env=alike, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    for said in ("水资源工程", "κ", "│"):
        assert said in done.stdout.decode()


@pytest.mark.parametrize(("which", "table"), [("related-work", "deepscholar"), ("seminar", "arena")])
def test_another_sample_is_made_once_and_opens_on_its_papers_table(
    which, table, tmp_path, capsys, monkeypatch
):
    """What makes it is tested where it stands; here a copy of what it made is taken for it."""
    made, asked = small_sample(tmp_path, which), []
    file = made.path
    monkeypatch.setattr(samples, "create_small", lambda *given: asked.append(given[:2]) or made)
    refused(capsys, "sample", file, "--seminar", "--related-work")
    printed(capsys, "sample", file, f"--{which}")
    refused(capsys, "sample", file, f"--{which}", "--reset")
    assert asked == [(made.path, which)]
    assert told(capsys, "results", file, "--view", "tables")["chosen"]["table"] == table
    # Asked for figures that nobody made, it names those there are.
    assert f"Choose another --protocol: {table}." in printed(
        capsys, "results", file, "--protocol", "researcherbench.coverage"
    )


def test_a_strict_export_refuses_what_is_open_and_a_usual_one_tells_it(capsys, tmp_path):
    file = small_project(tmp_path).path
    notes = told(capsys, "export", file, "--to", tmp_path / "told")["notes"]
    assert "The final pass is not signed for 2 items" in notes[0]
    why = refused(capsys, "export", file, "--to", tmp_path / "strict", "--strict")
    assert "Nothing was released" in " ".join(why.split())
    assert not (tmp_path / "strict").exists()


# A windowed program, which Windows gives no streams.
WINDOWED = """
import sys
from annotator.__main__ import main
codes = []
for words in (["--help"], ["judge", "list", "no.goldsmith"], ["child"], ["x"]):
    sys.argv = ["goldsmith", *words]
    sys.stdin = sys.stdout = sys.stderr = None
    codes.append(main())
open("told", "w", encoding="utf-8").write(f"{codes}")
"""


def test_a_command_without_any_stream_ends_as_it_does_with_them(tmp_path) -> None:
    done = subprocess.run([sys.executable, "-c", WINDOWED], capture_output=True, check=False, cwd=tmp_path)
    assert (done.stderr, (tmp_path / "told").read_text("utf-8")) == (b"", "[0, 1, 1, 2]")
