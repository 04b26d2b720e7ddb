"""The commands for items, sources, cited pages and evidence, and models that write: reports, drafts, related work."""

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

from annotator.actions.authoring import artifacts
from annotator.actions.imports import samples
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.material import lookups
from annotator.actions.project.file import Project
from annotator.cli.sources import evidence_app
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from tests.cli.commands import goldsmith, printed, refused, told
from tests.exchange.pages.page_server import Given, PageServer, article, serving
from tests.judging.odd_server import OddServer, completion, error
from tests.material import related_work as made
from tests.material.labelled_sections import keep_claims
from tests.projects import pairs_project as pairs
from tests.projects.small_projects import small_project, small_sample
from tests.servers.writing_server import (
    ADDED,
    DRAFTER as JUDGE,
    FILED,
    QUESTIONS,
    REASON,
    RESEARCHER,
    SAID,
    SYSTEM,
    answering,
    asking_project,
    drafting,
    drafting_project,
    first_item,
    research_project,
    researching,
    step_of,
    write_corpus,
    writing,
    written,
)
from tests.storage import sql


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        running.pages |= {"/a": article("A"), "/b": Given(status=404)}
        yield running


@pytest.fixture
def file(tmp_path: Path, server: PageServer) -> Path:
    """A project with claims that cite two pages, each under another name of loopback, so that none waits."""
    project = small_project(tmp_path)
    keep_claims(project, server.url("/a"), server.url("/b", "localhost"))
    return project.path


def test_nothing_private_is_fetched_by_itself(file: Path, server: PageServer, capsys: Any) -> None:
    cited = sorted([server.url("/a"), server.url("/b", "localhost")])
    assert printed(capsys, "sources", "list", file).splitlines() == [f"not fetched  {url}" for url in cited]
    assert (told(capsys, "sources", "fetch", file)["by_state"], server.asked) == ({"forbidden": 2}, [])
    code, words, _ = goldsmith(capsys, "sources", "fetch", file, "--progress", "json", "--reader", "nonsense")
    assert (code, json.loads(words.splitlines()[-1])["event"]) == (1, "refused")


def test_fetched_pages_are_listed_with_their_states(file: Path, server: PageServer, capsys: Any) -> None:
    assert told(capsys, "sources", "fetch", file, "--allow-private")["by_state"] == {"ok": 1, "dead": 1}
    assert "There is no such page any more (404)." in printed(capsys, "sources", "list", file)


def test_a_reader_service_is_asked_instead(file: Path, server: PageServer, capsys: Any) -> None:
    for path, host in (("/a", "127.0.0.1"), ("/b", "localhost")):
        server.pages[f"/read/{server.url(path, host)}"] = article("Through the reader")
    result = told(capsys, "sources", "fetch", file, "--allow-private", "--reader", server.url("/read/"))
    assert result["by_state"] == {"ok": 2}
    assert "reader service" in refused(capsys, "sources", "fetch", file, "--reader", "nonsense")


def test_a_folder_of_which_nothing_could_be_taken_is_a_failure(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    (tmp_path / "nameless.html").write_text("<p>words", "utf-8")
    code, words, _ = goldsmith(capsys, "sources", "import", file, tmp_path)
    assert (code, "nameless.html: it does not say which address" in words) == (1, True)
    (tmp_path / "pages.csv").write_text("url,file\n,x\n", "utf-8")
    words = printed(capsys, "sources", "import", file, tmp_path, code=1)
    assert "pages.csv, row 2: the address or the name of the file is missing." in words


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
def test_a_polite_end_keeps_what_came(file: Path, server: PageServer, capsys: Any) -> None:
    server.pages["/b"] = Given(held=True)
    code = "import sys; from annotator.cli.sources import app; app(sys.argv[1:])"
    words = [sys.executable, "-c", code, "fetch", str(file), "--allow-private", "--progress", "json"]
    with subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8") as child:
        child.stdout.readline()
        child.send_signal(signal.SIGTERM)
        assert (json.loads(child.stdout.readline())["state"], child.wait(10)) == ("cancelled", 3)
    Project.open(file, readonly=True).close()
    assert [line["state"] for line in told(capsys, "sources", "list", file)["pages"]] == ["ok", "not fetched"]


def evidence(file: Path, *words: str, listed: str = "") -> str:
    """What the command says that takes references of item 1 from a file, or from a list that is typed in."""
    return CliRunner().invoke(evidence_app, ["import", str(file), "--item", "1", *words], input=listed).stdout


def test_letter_7_references_come_in_from_a_file_or_from_input(file: Path, tmp_path: Path) -> None:
    (path := tmp_path / "works.ris").write_text(
        "TY  - JOUR\nTI  - Deep rivers of the north\nDO  - 10.1234/a\nER  - \n", "utf-8"
    )
    assert evidence(file, str(path)) == "1 entry (RIS): 1 new.\n"
    listed = "10.1234/A\nJane Doe, John Roe, and Ann Lee.\n"
    # One is there already, the other doubtful, and taken where that is asked for.
    assert json.loads(evidence(file, "-", "--json", listed=listed))["taken"] == 0
    assert json.loads(evidence(file, "-", "--doubtful", "--json", listed=listed))["taken"] == 1


def test_letter_7_lacking_titles_are_filled_in_from_a_file(file: Path, tmp_path: Path, capsys: Any) -> None:
    evidence(file, "-", listed="10.1234/a\n10.1234/b\n")
    (path := tmp_path / "replies.json").write_text('{"DOI": "10.1234/a", "title": ["Rivers"]}', "utf-8")
    assert printed(capsys, "evidence", "look-up", file, "--item", "1", "--from", path) == "1 work found.\n"
    project = Project.open(file, readonly=True)
    own = lookups.own_evidence(project, items.ids(project)[0])
    assert [unit.text for unit in own.document.units] == ["Rivers", ""]


def test_letter_7_it_must_be_clear_what_to_import(file: Path, capsys: Any) -> None:
    assert "not clear what to import" in refused(capsys, "evidence", "import", file, "--item", "1")
    assert "no item “none”" in refused(capsys, "evidence", "import", file, "--item", "none", "-")


def test_files_are_put_beside_an_item_once_and_all_of_them_or_none(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    rivers, odd = tmp_path / "Rivers.md", tmp_path / "odd.txt"
    for path, content in ((rivers, b"Words."), (odd, b"\xff\xfe")):
        path.write_bytes(content)
    for wrong, words in ((str(odd), "“odd.txt” is not UTF-8"), ("https://a.example/b", "Sources are files")):
        assert words in refused(capsys, "sources", "add", file, "1", rivers, wrong)
    for added in (True, False):
        assert told(capsys, "sources", "add", file, "1", str(rivers))["sources"] == [
            {"file": str(rivers), "added": added}
        ]
    assert (
        printed(capsys, "sources", "add", file, "1", rivers, "--title", "On rivers") == f"Added: {rivers}\n"
    )
    project = Project.open(file, readonly=True)
    result = {source.title: source.text for source in items.sources(project, items.ids(project)[0])}
    assert result == {"Rivers": "Words.", "On rivers": "Words."}


def test_letter_8_sources_are_described_from_the_command_line(
    file: Path, tmp_path: Path, capsys: Any
) -> None:
    (path := tmp_path / "Rivers.md").write_text("Words.", "utf-8")
    project = Project.open(file)
    first = items.ids(project)[0]
    items.add_source(project, first, path)
    described = ("--kind", "review", "--published", "2024-05", "--citations", "12")
    assert printed(capsys, "sources", "describe", file, "--item", "1", *described) == "1 source changed.\n"
    (one,) = items.sources(Project.open(file, readonly=True), first)
    assert (one.kind, one.published, one.citations) == ("review", "2024-05", 12)


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
    assert (filed_of, second["question"]) == (["R-007", *filed[1::2]], "河流为何弯曲？\n  Two lines.")


def test_letter_2_selection_is_applied_and_the_funnel_printed(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert told(capsys, "items", "apply-selection", file) == {"retired": ["2", "3"], "in_use": 1}
    assert "laboratory" in printed(capsys, "items", "funnel", file)


def test_letter_4_the_bar_is_shown_and_set(tmp_path: Path, capsys) -> None:
    file = candidates_file(tmp_path)
    assert "kept at 4 or more" in printed(capsys, "items", "bar", file, "--set", "4")
    refused(capsys, "items", "bar", file, "--set", "many")
    assert told(capsys, "items", "bar", file) == {"bar": 4.0}


def test_a_dry_run_of_an_import_changes_nothing(tmp_path, capsys):
    release, file = tmp_path / "release", tmp_path / "other.goldsmith"
    told(capsys, "export", small_project(tmp_path).path, "--to", release)
    printed(capsys, "new", file)
    assert told(capsys, "import", file, release, "--dry-run")["new"] > 0
    assert told(capsys, "info", file)["items"] == 0


def test_the_weights_of_criteria_are_shown_and_set(tmp_path, capsys):
    file = tmp_path / "new.goldsmith"
    printed(capsys, "new", file)
    assert told(capsys, "weights", file, "--allow", "-5, 1, 3")["values"] == [-5, 1, 3]
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


def test_what_is_piped_is_utf_8_whatever_the_code_page_is(whole_sample_file):
    file = str(whole_sample_file)
    words = (["results", file, "--json"], ["agreement", file], ["validate", "--help"])
    alike = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    command = [sys.executable, "-c", PIPED, json.dumps(words)]
    done = subprocess.run(command, capture_output=True, env=alike, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    for said in ("水资源工程", "κ", "│"):
        assert said in done.stdout.decode()


@pytest.mark.parametrize(("which", "table"), [("related-work", "deepscholar"), ("seminar", "arena")])
def test_another_sample_is_made_once_and_names_what_it_has_figures_of(
    which, table, tmp_path, capsys, monkeypatch
):
    made, asked = small_sample(tmp_path, which), []
    file = made.path
    monkeypatch.setattr(samples, "create_small", lambda *given: asked.append(given[:2]) or made)
    refused(capsys, "sample", file, "--seminar", "--related-work")
    printed(capsys, "sample", file, f"--{which}")
    refused(capsys, "sample", file, f"--{which}", "--reset")
    assert asked == [(made.path, which)]
    # Asked for figures that nobody made, it names those there are.
    assert f"Choose another --protocol: {table}." in printed(
        capsys, "results", file, "--protocol", "researcherbench.coverage"
    )


def test_a_strict_export_refuses_what_is_open_and_a_usual_one_does_not(capsys, tmp_path):
    file = small_project(tmp_path).path
    printed(capsys, "export", file, "--to", tmp_path / "usual")
    refused(capsys, "export", file, "--to", tmp_path / "strict", "--strict")
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


@pytest.fixture
def writer() -> Iterator[OddServer]:
    with writing() as writer:
        yield writer


@pytest.fixture
def asking(tmp_path: Path) -> Path:
    return asking_project(tmp_path).path


def options(asking: Path, writer: OddServer, *more: str) -> list[str]:
    return [
        "respond", "--system", "Scribe", "--model", "test-model", "--base-url", writer.url, str(asking), *more,
    ]  # fmt: skip


def reports(asking: Path) -> list[tuple[str, int]]:
    question = "SELECT i.key, r.trial FROM response r JOIN item i ON i.id = r.item_id ORDER BY 1, 2"
    return sql.rows(Project.open(asking, readonly=True), question)


def test_what_was_written_and_what_failed_is_said(asking: Path, writer: OddServer, capsys: Any) -> None:
    writer.answer = answering(
        lambda question, _: error(400, "No.") if question == QUESTIONS[1] else written(question)
    )
    code, out, _ = goldsmith(capsys, *options(asking, writer))
    assert code == 3
    assert "1 report failed. Run the same command again" in out
    result = told(capsys, *options(asking, writer, "--trials", "2"), code=3)
    failed = [(one["item"], one["trial"], one["status"]) for one in result["failed"]]
    assert failed == [("2", trial, "api_error") for trial in (1, 2)]


def test_the_writer_of_last_time_goes_on_without_being_named(
    asking: Path, writer: OddServer, capsys: Any
) -> None:
    printed(capsys, *options(asking, writer, "--item", "1"))
    done = told(capsys, "respond", asking, "--system", "Scribe")["done"]
    assert (done, reports(asking)) == (2, [("1", 1), ("2", 1)])


def test_modes_and_plans_are_chosen_by_option(asking: Path, writer: OddServer, capsys: Any) -> None:
    printed(capsys, *options(asking, writer, "--item", "1", "--mode", "gold-plan-injection"))
    printed(capsys, *options(asking, writer, "--item", "1", "--plan"))
    assert len(writer.bodies) == 3
    assert "the gold plan is given" in refused(
        capsys, *options(asking, writer, "--mode", "isolated", "--plan")
    )


def test_a_report_that_is_empty_is_asked_for_once_more(asking: Path, writer: OddServer, capsys: Any) -> None:
    writer.script(completion(""), written(QUESTIONS[0]))
    printed(capsys, *options(asking, writer, "--item", "1"))
    assert "Write the whole report." in writer.bodies[1]["messages"][-1]["content"]
    assert reports(asking) == [("1", 1)]


def test_what_it_would_take_is_told_and_nobody_is_asked(asking: Path, writer: OddServer, capsys: Any) -> None:
    judges.add(Project.open(asking), "pen", base_url=writer.url, model="test-model")
    result = told(
        capsys, "respond", asking, "--system", "Scribe", "--judge", "pen", "--trials", "3", "--estimate"
    )
    assert (result["units"], result["calls"], result["things"]) == (6, 6, "reports")
    assert (writer.bodies, reports(asking)) == ([], [])


def test_letter_11_reports_get_their_origin_from_the_command_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = small_project(tmp_path).path
    origin = ("--system", "Alpha", "--collected-on", "2025-03-24", "--settings", "defaults")
    printed(capsys, "responses", "set", file, *origin)
    printed(capsys, "systems", "set", file, "--system", "Alpha", "--group", "deep research")
    assert told(capsys, "systems", "list", file)["systems"][0]["group"] == "deep research"
    assert "2025-03-24/2025-03-24" in printed(capsys, "results", file, "--view", "collection", "--json")


@pytest.fixture
def insightful(tmp_path: Path) -> Iterator[Path]:
    with drafting() as server:
        project = drafting_project(tmp_path, server)
        mine = Insights(units=(Insight(text="A block adds its input."),))
        artifacts.start(project, first_item(project), Kind.INSIGHTS, mine)
        yield project.path


def asked(capsys: Any, insightful: Path) -> dict[str, Any]:
    printed(
        capsys,
        "draft",
        "ask",
        insightful,
        "--judge",
        JUDGE,
        "--kind",
        "reference",
        "--item",
        "1",
        "--progress",
        "none",
    )
    (draft,) = told(capsys, "draft", "list", insightful)["drafts"]
    return dict(draft)


def beside(insightful: Path) -> list[str]:
    project = Project.open(insightful)
    return [source.text for source in items.sources(project, first_item(project))][1:]


def test_reference_material_is_listed_in_its_parts_and_taken_as_drafted(
    insightful: Path, capsys: Any
) -> None:
    draft = asked(capsys, insightful)
    assert [(one["text"], one["beyond"]) for one in draft["units"]] == [(SAID, False), (ADDED, True)]
    assert beside(insightful) == []
    assert "is now a source of the item" in printed(capsys, "draft", "take", insightful, draft["id"][:8])
    assert beside(insightful) == [f"## From the sources\n\n{SAID}\n\n## Beyond the sources\n\n{ADDED}"]


def test_it_is_taken_as_it_was_edited_in_files(insightful: Path, tmp_path: Path, capsys: Any) -> None:
    for name, words in (("said.md", "在我的话里。\n"), ("beyond.md", "")):
        (tmp_path / name).write_text(words, "utf-8")
    draft = asked(capsys, insightful)["id"]
    printed(
        capsys,
        "draft",
        "take",
        insightful,
        draft,
        "--text",
        tmp_path / "said.md",
        "--beyond",
        tmp_path / "beyond.md",
    )
    assert beside(insightful) == ["## From the sources\n\n在我的话里。"]


def test_drafts_are_taken_as_what_they_are(insightful: Path, capsys: Any) -> None:
    whole = ("draft", "take", insightful, asked(capsys, insightful)["id"], "--unit", "1")
    assert "taken as a whole" in refused(capsys, *whole)
    printed(
        capsys,
        "draft",
        "ask",
        insightful,
        "--judge",
        JUDGE,
        "--kind",
        "rubric",
        "--item",
        "1",
        "--progress",
        "none",
    )
    result = told(capsys, "draft", "list", insightful)["drafts"]
    rubric = next(one["id"] for one in result if one["kind"] == "rubric")
    assert "Only reference material" in refused(
        capsys, "draft", "take", insightful, rubric, "--text", insightful
    )
    assert beside(insightful) == []


def test_letter_3_a_classification_is_listed_with_its_reason_and_taken_with_another_subject(
    insightful: Path, capsys: Any
) -> None:
    printed(
        capsys,
        "draft",
        "ask",
        insightful,
        "--judge",
        JUDGE,
        "--kind",
        "classification",
        "--item",
        "1",
        "--progress",
        "none",
    )
    assert f"{FILED[0]}, {FILED[1]}: {REASON}" in printed(capsys, "draft", "list", insightful)
    (draft,) = told(capsys, "draft", "list", insightful)["drafts"]
    assert f"Item 1: {FILED[0]}, Networks." in printed(
        capsys, "draft", "take", insightful, draft["id"], "--subject", "Networks"
    )


FIRST, SECOND = "2506.00001v1", "2506.00002v1"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    place = made.folder(tmp_path / "papers", {FIRST: made.whole(), SECOND: b"%PDF-1.5"})
    made.works(place)
    return place


def test_papers_are_built_once_and_refusals_are_told(
    tmp_path: Path, place: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "p.goldsmith")
    printed(capsys, "new", file)
    wanted = {"candidates": 2, "kept": 1, "items": 1, "references": 5, "works": 2}
    refused = [{"id": SECOND, "stage": "source", "reason": "Only a PDF was submitted, no LaTeX."}]
    for words in (["--dry-run"], []):
        result = told(capsys, "research", "build", file, str(place), *words)
        assert ({name: result[name] for name in wanted}, result["refused"]) == (wanted, refused)
    assert told(capsys, "research", "build", file, str(place))["items"] == 0
    said = printed(capsys, "research", "build", file, str(place))
    assert f"{SECOND}  source: Only a PDF was submitted" in said


def test_what_is_no_collected_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = str(tmp_path / "p.goldsmith")
    printed(capsys, "new", file)
    assert "has no folder “feeds”" in refused(capsys, "research", "build", file, str(tmp_path))


def test_research_is_estimated_and_written_with_its_works(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    corpus = ("--keep", "3", "--corpus", write_corpus(tmp_path / "corpus"))
    with researching() as server:
        file = research_project(tmp_path, server.url).path
        words = ("research", "write", file, "--judge", RESEARCHER, "--system")
        assert "1 report by at most " in printed(capsys, *words, SYSTEM, *corpus, "--estimate")
        assert server.bodies == []
        out = printed(capsys, *words, SYSTEM, *corpus)
        assert "Item 1, trial 1: works 9 found, 5 filtered, 3 given, 2 false numbers removed." in out
        assert "There is no oracle “best”" in refused(capsys, *words, "Given", "--oracle", "best")
        asked = len(server.bodies)
        printed(capsys, *words, "Given", "--oracle", "arxiv")
        assert [step_of(body) for body in server.bodies[asked:]] == ["section"]
