"""DeepScholar's files imported and written back: every join, every quirk of what was published, and odd files.

Transcripts come in as seminars and are corrected; what systems once wrote on one enters nothing.
"""

import asyncio
import json
import os
import shutil
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.imports.imports import TRANSCRIPTS, ImportOptions
from annotator.actions.items import items, seminars
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_cases, labels
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history, undo_places
from annotator.cli import run_command
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.extract import pieces
from annotator.domain.material.item import Source, SourceFormat
from annotator.domain.material.transcript import LEFT_OUT, of_source
from annotator.exchange.formats.deepscholar import tables as published
from annotator.exchange.table_files import read_table
from annotator.exchange.texts import latex
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM
from tests.common import expect_refusal
from tests.material import related_work as made
from tests.material.related_work import FIRST, SECOND, SHARED
from tests.projects.small_projects import add_report, small_sample
from tests.storage import sql

LAYOUT = "deepscholar"
TOLD = {
    "items": 32,
    "exemplars": 32,
    "references": 784,
    "references_arxiv": 491,
    "nuggets": 220,
    "nuggets_vital": 93,
    "nuggets_drawn": 245,
    "nuggets_drawn_vital": 116,
}


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return people.new_project(tmp_path / "project.goldsmith", "T")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return made.write(tmp_path / "benchmark")


def take(project: Project, *paths: Path, **more: Any) -> Any:
    return imports.run(project, LAYOUT, paths, warm=False, **more)[1]


def works_of(project: Project, system: str) -> list[tuple[str, str, str]]:
    return [(one["note"], one["identifier"], one["text"]) for one in listed(project, system)]


def responses(project: Project) -> dict[tuple[str, str], Any]:
    question = (
        select(ITEM.c.key.label("item"), SYSTEM.c.name.label("system"), RESPONSE)
        .join(RESPONSE, RESPONSE.c.item_id == ITEM.c.id)
        .join(SYSTEM, SYSTEM.c.id == RESPONSE.c.system_id)
    )
    with project.store.read() as db:
        return {(row.item, row.system): row for row in db.execute(question)}


def units(project: Project, kind: str, key: str = FIRST) -> list[dict[str, Any]]:
    question = (
        "SELECT r.content FROM revision r JOIN artifact a ON a.id = r.artifact_id JOIN item i ON i.id = a.item_id "
        "WHERE a.kind = ? AND i.key = ?"
    )
    return list(json.loads(sql.first(project, question, [kind, key])[0])["units"])


def listed(project: Project, system: str) -> list[dict[str, Any]]:
    (content,) = sql.first(
        project, "SELECT content FROM extract WHERE response_id = ?", [responses(project)[FIRST, system].id]
    )
    return list(json.loads(content)["units"])


def hashes(project: Project) -> list[set[tuple[Any, ...]]]:
    asked = (
        "id, key, sha256 FROM item", "id, sha256 FROM source", "id, name FROM system",
        "id, mode, sha256 FROM response", "artifact_id, sha256 FROM revision", "id, sha256 FROM extract",
        "url, sha256 FROM page",
    )  # fmt: skip
    return [set(sql.rows(project, f"SELECT {columns}")) for columns in asked]


def test_papers_and_references_come_in_once(project: Project, folder: Path) -> None:
    report = take(project, folder)
    rows = {row[0]: row[1:] for row in sql.rows(project, "SELECT key, subject, question FROM item")}
    assert {key: subject for key, (subject, _) in rows.items()} == {FIRST: "cs.AI", SECOND: "physics.geo-ph"}
    question = rows[FIRST][1]
    assert question.startswith("On trees in towns: write the related-work section")
    assert "before 2025-06-03" in question
    sources = sql.rows(project, "SELECT title, text FROM source ORDER BY position")
    assert ("On trees in towns", made.ABSTRACTS[FIRST]) in sources
    assert any(text.startswith("Shade matters \\cite{oak}") for _, text in sources)
    result = {unit["note"]: unit for unit in units(project, "evidence")}
    assert (list(result), result["oak"]["year"], result["oak"]["authors"]) == (
        ["oak", "elm", "ash"], 2020, "Li, A, Mo, B",
    )  # fmt: skip
    assert (result["elm"]["year"], result["elm"]["text"]) == (None, "Elms and ash")
    # A work without a title is known by its key.
    assert (result["ash"]["text"], result["ash"]["identifier"]) == ("ash", "https://ash.example.org/a")
    assert all("importance" not in one for one in result.values())
    assert [(unit["text"], unit["importance"], unit["support"]) for unit in units(project, "nuggets")] == [
        ("Shade cools", "vital", "support"),
        ("Elms grow", "okay", "partial_support"),
        ("Water matters", "vital", "not_support"),
    ]
    told = items.content_counts(project)
    assert (told["nuggets"], told["nuggets_vital"]) == (1, 1)
    assert (told["nuggets_drawn"], told["nuggets_drawn_vital"]) == (3, 2)
    assert b"a-secret-of-somebody" not in project.path.read_bytes()
    assert sql.rows(project, "SELECT url, title, text FROM page") == [
        ("arxiv:2001.00001", "Oaks", "About oaks.")
    ]
    assert [one.get("passage") for one in listed(project, "scholar")] == ["elms", "oak trees"]
    told = "was shown 2 passages with the address of a work, which counts only where the report names it"
    assert any(f"scholar/0: {told}" in str(note) for note in report.notes)
    before = hashes(project)
    assert take(project, folder).new == 0
    assert hashes(project) == before


def test_the_exemplar_is_a_response_with_its_references_numbered(project: Project, folder: Path) -> None:
    take(project, folder)
    exemplar = responses(project)[FIRST, "Human-written exemplar"]
    assert exemplar.mode == "exemplar"
    body, listed = exemplar.text.split("\n\n## References\n\n")
    assert body == "Shade matters [1]. Others [2][3]."
    assert listed.split("\n\n") == [
        "[1] Li, A, Mo, B. Oaks. 2020. http://arxiv.org/abs/2001.00001v2",
        "[2] Elms and ash. doi:10.1000/elm",
        "[3] ash. https://ash.example.org/a",
    ]
    assert works_of(project, "Human-written exemplar")[0] == (
        "[1]",
        "http://arxiv.org/abs/2001.00001v2",
        "Oaks",
    )


def test_who_is_important_is_said_where_the_files_say_it(project: Project, folder: Path) -> None:
    made.table(folder / "citations.csv", [*made.CITATIONS, made.cited(SECOND, "fir", "Firs")])
    made.table(folder / "important_citations.csv", made.CITATIONS[:1])
    take(project, folder)
    assert {unit["note"]: unit["importance"] for unit in units(project, "evidence")} == {
        "oak": "important",
        "elm": "not_important",
        "ash": "not_important",
    }
    # Of a paper that the list leaves out nothing is said.
    assert all("importance" not in unit for unit in units(project, "evidence", SECOND))


def test_who_is_taken_as_unimportant_because_a_list_leaves_them_out_is_told(
    project: Project, folder: Path
) -> None:
    made.table(folder / "important_citations.csv", [made.CITATIONS[0], made.cited(SECOND, "fir", "Firs")])
    result = imports.preview(project, LAYOUT, [folder])
    told = {str(one) for one in (*result.problems, *result.notes) if "important_citations.csv" in str(one)}
    assert told == {
        "important_citations.csv[1]: “fir” is no citation of paper 2506.00002v1",
        "important_citations.csv: 2 citations of its papers are not listed and so taken as not important",
    }


@pytest.mark.parametrize(
    ("system", "text", "latency", "run_tokens", "cost", "works"),
    [
        # Steps contain each other: the pipeline's time counts. Equal usage under two names counts once.
        ("base", "Shade", 484.5, 9, 0.5, [("", "http://arxiv.org/abs/2001.00001v2", "Oaks")]),
        ("storm", "Trees [1].", 3.5, 15, None, [("[1]", "http://arxiv.org/abs/2001.00001v1", "http://arxiv.org/abs/2001.00001v1")]),
        ("search", "Oaks [1].", 4.5, 11, 0.25, [("", "http://arxiv.org/abs/2001.00001v2", "Oaks")]),
        # What is cited by its place is a passage, not a work, whatever address it came with.
        ("scholar", "Elms [0, 1].", None, 7, None, [("[0]", "", "[0]"), ("[1]", "", "Oaks")]),
        # What a system was shown and did not name is not its own.
        ("research", "Cut off [3", 46.5, 8785, None, []),
    ],
)  # fmt: skip
def test_each_systems_folder_is_read(
    project: Project,
    folder: Path,
    system: str,
    text: str,
    latency: Any,
    run_tokens: Any,
    cost: Any,
    works: Any,
) -> None:
    take(project, folder)
    result = responses(project)[FIRST, system]
    assert result.text.startswith(text)
    # No file says how long the report itself is.
    assert (result.latency_s, result.run_tokens, result.cost_usd, result.tokens) == (
        latency, run_tokens, cost, None,
    )  # fmt: skip
    assert works_of(project, system) == works


def test_a_report_goes_to_the_paper_that_was_asked_about(project: Project, folder: Path) -> None:
    (folder / "systems" / "search").rename(folder / "systems" / "moved")
    (folder / "systems" / "moved" / "0").rename(folder / "systems" / "moved" / "1")
    # Old ids of arXiv are works too.
    text = "Grammars [1].\n\n## References\n\n[1] A. cs/0112017. [2] B. arXiv:math.GT/0309136v2"
    made.text(folder / "systems" / "old" / "0" / "intro.md", text)
    report = take(project, folder)
    assert (FIRST, "moved") in responses(project)
    assert any(f"was asked about {FIRST}, not about row 1" in str(note) for note in report.notes)
    assert [one for _, one, _ in works_of(project, "old")] == ["cs/0112017", "arXiv:math.GT/0309136v2"]


def test_folders_are_not_joined_by_the_order_of_another_file(project: Project, folder: Path) -> None:
    other = [{**paper, "clean_latex_related_works": ""} for paper in reversed(made.PAPERS)]
    made.table(folder / "related_works_combined.csv", other)
    take(project, folder)
    assert all(key == FIRST for key, system in responses(project) if not system.startswith("Human"))
    alone = people.new_project(project.path.with_name("alone.goldsmith"), "T")
    (folder / "papers_with_related_works.csv").unlink()
    expect_refusal("storm/0: no paper is known for row 0", take, alone, folder)


def test_systems_and_nuggets_can_come_later(project: Project, folder: Path) -> None:
    take(project, folder / "papers_with_related_works.csv", folder / "citations.csv")
    report = take(project, folder / "systems" / "search", folder / "gt_nuggets_outputs")
    assert (report.counts["responses"].new, report.counts["artifacts"].new) == (1, 1)


IDENTIFIED = ("cited_paper_arxiv_link", "bib_paper_doi", "bib_paper_url", "cited_paper_abstract")


def told_of(folder: Path, *names: str) -> list[list[str]]:
    rows = read_table(folder / "citations.csv", ()).rows
    keys = ("parent_paper_arxiv_id", "citation_shorthand", *names)
    return sorted([row.get(name, "") for name in keys] for row in rows)


def test_every_identifier_and_abstract_that_came_in_goes_out_and_is_read_as_the_same(
    project: Project, folder: Path, tmp_path: Path
) -> None:
    yew = made.cited(FIRST, "yew", "Yews", bib_paper_doi="10.1000/yew", cited_paper_abstract="About yews.")
    made.table(folder / "citations.csv", [*made.CITATIONS[:3], yew])
    made.table(folder / "important_citations.csv", made.CITATIONS[:1])
    take(project, folder)
    releases.export(project, tmp_path / "out", LAYOUT, page_texts=True)
    assert told_of(tmp_path / "out", *IDENTIFIED) == told_of(folder, *IDENTIFIED)
    assert (
        "Left out: 2 abstracts; they leave with the texts of cited pages."
        in releases.export(project, tmp_path / "without", LAYOUT).notes
    )
    again = people.new_project(tmp_path / "again.goldsmith", "T")
    take(again, tmp_path / "out")
    assert hashes(again) == hashes(project)


def test_a_folder_of_something_else_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    expect_refusal("neither papers, citations, nuggets nor systems", take, project, tmp_path / "other")


needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there"
)


@needs_shared
def test_the_public_data_come_in_whole_and_go_round(project: Project, tmp_path: Path) -> None:
    assert not take(project, SHARED).problems
    told = items.content_counts(project)
    assert {name: told[name] for name in TOLD} == TOLD
    reports = responses(project)
    systems = {system for key, system in reports if key == "2506.02838v1"}
    assert len(systems) == len(list((SHARED / "systems").iterdir())) + 1
    published = [path.read_text("utf-8").strip() for path in (SHARED / "reports").iterdir()]
    texts = [row.text for (_, system), row in reports.items() if system.startswith("deepscholar")]
    assert sorted(texts) == sorted(published)
    # Added up by hand from the files: of two models the first has no price; STORM's has none, nor OpenScholar's.
    assert {
        system: (row.run_tokens, row.cost_usd, row.cost_part_usd)
        for (_, system), row in reports.items()
        if row.run_tokens is not None
    } == {
        "deepscholar_base_gpt_4.1": (470_824 + 11_904, None, pytest.approx(0.027156)),
        "search_ai_gpt_4.1": (28_807, 0.069602, None),
        "openscholar": (279_193, None, None),
        "deepresearcher": (8_785, None, None),
        "storm": (57_602 + 7_473 + 3_072 + 1_699, None, None),
    }
    releases.export(project, tmp_path / "out", LAYOUT, page_texts=True)
    again = people.new_project(tmp_path / "again.goldsmith", "T")
    take(again, tmp_path / "out")
    assert hashes(again) == hashes(project)
    out = tmp_path / "out"
    assert told_of(out, "cited_paper_abstract") == told_of(SHARED, "cited_paper_abstract")
    dois = [one for one in told_of(SHARED, "bib_paper_doi") if one[-1]]
    assert len(dois) == 131
    assert [one for one in told_of(out, "bib_paper_doi") if one in dois] == dois


def test_the_known_part_of_a_cost_is_kept_and_told(project: Project, folder: Path) -> None:
    lotus, helper = {"total_tokens": 400, "total_cost": 0.0}, {"total_tokens": 20, "total_cost": 0.25}
    made.tree(folder / "systems" / "base" / "0" / "usage.json", {"lotus": lotus, "helper": helper})
    shutil.rmtree(folder / "systems" / "search")
    take(project, folder)
    result = responses(project)[FIRST, "base"]
    assert (result.run_tokens, result.cost_usd, result.cost_part_usd) == (420, None, 0.25)
    rows = {
        row.metric: row.estimate
        for row in results.rows(project, protocol="adra.efficiency")
        if (row.system, row.group) == ("base", "all")
    }
    assert (rows["run_tokens"].value, rows.get("tokens"), rows["cost"].floor, rows["cost"].note) == (
        420, None, 0.25, "at least US$ 0.25: the rest has no price",
    )  # fmt: skip


@needs_shared
def test_keys_of_the_public_sections_are_those_of_the_citations() -> None:
    rows = published.citations_of(read_table(SHARED / "citations.csv", ()))
    for _, paper in published.papers_of(read_table(SHARED / "papers_with_related_works.csv", ())):
        listed = {row.key for row in rows if row.paper == paper.arxiv_id}
        result = set(latex.cited_keys(paper.section))
        if listed != result:
            # One section switches words off by \\iffalse; the published list counts them as set.
            assert (
                result
                <= listed
                <= result | set(latex.cited_keys(paper.section.replace("\\iffalse", "").replace("\\fi", "")))
            )


def test_file_names_with_odd_bytes_are_read(project: Project, folder: Path) -> None:
    own = folder / "systems" / "search" / "0"
    shutil.move(own / "Your task is.md", own / "Your task is\nwritten ü.md")
    take(project, folder)
    assert responses(project)[FIRST, "search"].text.startswith("Oaks [1].")


PAPERS, CITATIONS, NUGGETS = "papers_with_related_works.csv", "citations.csv", "gt_nuggets_outputs/0/res.json"
MORE_NUGGETS, HEAD = "gt_nuggets_outputs/3/res.json", "arxiv_id,title,abstract\n"
CITED = f"parent_paper_arxiv_id,citation_shorthand,cited_paper_title,bib_paper_url,bib_paper_authors\n{made.FIRST},"


def written(place: str, content: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        for path in list(folder.glob(place)) if "*" in place else [folder / place]:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


def everywhere(system: str, content: bytes) -> Callable[[Path], None]:
    return written(f"systems/{system}/**/*.json", content)


def renamed(old: str, new: bytes) -> Callable[[Path], None]:
    def move(folder: Path) -> None:
        try:
            os.rename(os.fsencode(folder / "systems" / old), os.fsencode(folder / "systems") + b"/" + new)
        except OSError:
            pytest.skip("this file system refuses the name")

    return move


COMES_IN = {
    "a NUL in a title": written(PAPERS, f"{HEAD}{made.FIRST},T\x00x,A\n{made.SECOND},T,A\n"),
    "a byte order mark": written(PAPERS, f"\ufeff{HEAD}{made.FIRST},T,A\n{made.SECOND},T,A\n"),
    "a table with semicolons": written(PAPERS, f"{HEAD}{made.FIRST},T,A\n{made.SECOND},T,A\n".replace(",", ";")),
    "UTF-16": written(PAPERS, f"{HEAD}{made.FIRST},T,A\n{made.SECOND},T,A\n".encode("utf-16")),
    "an address beyond all length": written(CITATIONS, f"{CITED}k,T,http://a.org/{'x' * 5_000},\n"),
    "a title beyond all length": written(CITATIONS, f"{CITED}k,{'x ' * 30_000},,\n"),
    "authors beyond all length": written(CITATIONS, f'{CITED}k,T,,"{"Li A, " * 3_000}"\n'),
    "a key beyond all length": written(CITATIONS, f"{CITED}{'k' * 30_000},T,,\n"),
    "lists for objects, base": everywhere("base", b"[1, 2]"),
    "lists for objects, storm": everywhere("storm", b"[1, 2]"),
    "lists for objects, search": everywhere("search", b"[1, 2]"),
    "words for objects": everywhere("storm", b'"x"'),
    "contexts of other kinds": everywhere("search", b'{"ctxs": [1, null, {"url": 3}], "usage": [], "latency": "x"}'),
    "odd times": written("systems/base/0/execution_time.csv", 'a,b\n,x_pipeline,nan,{}\n,y_pipeline,-3,{}\n"'),
    "odd usage": written("systems/base/0/usage.json", '{"lotus": {"total_cost": "many"}, "h": 3}'),
    "a raised digit as row": renamed("search/0", "search/²".encode()),
    "a name that is no text": renamed("search", b"sea\xff"),
}  # fmt: skip
IS_REFUSED = {
    "half of UTF-16": (written(PAPERS, HEAD.encode("utf-16")[:-1]), "begins as UTF-16 and does not go on so"),
    "a cell too many": (written(PAPERS, f"{HEAD}{made.FIRST},T,A, B\n"), "row 2: it has 4 cells, the head has 3"),
    "Latin-1": (written(PAPERS, f"{HEAD}{made.FIRST},Bäume,A\n".encode("latin-1")), "not valid UTF-8 on line 2"),
    "an empty table": (written(PAPERS, ""), "has no column"),
    "a paper twice": (written(PAPERS, f"{HEAD}{made.FIRST},T,A\n{made.FIRST},T,A\n"), "stands in this file before"),
    "brackets without end": (written(NUGGETS, "[" * 100_000), "levels deep"),
    "no number": (written(NUGGETS, '{"qid": NaN, "nuggets": []}'), "NaN is not a number"),
    "bytes that are no text": (written("systems/base/0/intro.md", b"Trees \xff"), "base/0: “intro.md” is not valid"),
    "NULs in contexts": (everywhere("search", b'{"ctxs": [{"title": "\\u0000"}]}'), "contains a NUL"),
    "an empty file": (everywhere("base", b""), "is empty"),
    "papers without a column": (written(PAPERS, "title,abstract\na,b\n"), "has no column “arxiv_id”"),
    "a paper without a title": (written(PAPERS, f"{HEAD}{made.FIRST},,A\n"), "has no arXiv id, title or abstract"),
    "a quotation without end": (written(PAPERS, f'{HEAD}"x'), "is not a table in CSV"),
    "citations without a column": (written(CITATIONS, "a,b\n"), "has no column “parent_paper_arxiv_id”"),
    "nuggets of no paper": (written(MORE_NUGGETS, '{"qid": 3}'), "does not hold the nuggets of one paper"),
    "nuggets of another": (written(MORE_NUGGETS, '{"qid": "2501.00001v1", "nuggets": []}'), "is not among the papers"),
    "a broken file": (written("systems/base/0/helper_data.json", "{"), "line 1"),
}  # fmt: skip


@pytest.mark.parametrize("name", COMES_IN)
def test_what_can_be_read_comes_in(project: Project, folder: Path, name: str) -> None:
    if name == "a name that is no text" and sys.platform != "linux":
        pytest.skip("names are text on this system")
    COMES_IN[name](folder)
    report = take(project, folder)
    assert report.counts["items"].new == 2
    # Whatever is told can be printed.
    assert all(str(note).encode("utf-8") for note in report.notes)
    assert take(project, folder).new == 0


def test_what_cannot_be_read_is_named(project: Project, tmp_path: Path) -> None:
    for name, (spoil, reason) in IS_REFUSED.items():
        folder = made.write(tmp_path / name)
        spoil(folder)
        refused = expect_refusal("", take, project, folder)
        assert reason in " ".join((str(refused), *refused.details)), name
    assert items.count(project) == 0


VTT = """WEBVTT

00:01.000 --> 00:02.000
<v Ann Lee>Salt is old.

00:02.000 --> 00:04.000
<v Bob>Thank you, Ann Lee.
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talks" / "salt 1.vtt"
    path.parent.mkdir()
    path.write_text(VTT, "utf-8")
    return path


def sources_of(project: Project) -> list[Source]:
    return [source for item in items.ids(project) for source in items.sources(project, item)]


def test_a_seminar_is_an_item_and_comes_back_with_its_times(
    project: Project, file: Path, tmp_path: Path
) -> None:
    imports.run(project, TRANSCRIPTS, [file])
    (item_id,) = items.ids(project)
    item = items.read(project, item_id)
    assert (item.key, item.dataset, item.question) == ("salt 1", seminars.DATASET, "salt 1")
    (source,) = items.sources(project, item_id)
    assert source.format is SourceFormat.TRANSCRIPT
    assert source.text == "Ann Lee: Salt is old.\n\nBob: Thank you, Ann Lee."
    assert checking.check(project).problems == []
    releases.export(project, tmp_path / "out", "goldsmith")
    other = Project.create(tmp_path / "other.goldsmith")
    imports.run(other, imports.GOLDSMITH, [tmp_path / "out"])
    assert sources_of(other) == sources_of(project)
    (tmp_path / "empty").mkdir()
    expect_refusal("There is no transcript", imports.preview, project, TRANSCRIPTS, [tmp_path / "empty"])


def test_a_second_import_adds_nothing_whatever_was_changed_since(project: Project, file: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file.parent])
    items.change(project, items.ids(project)[0], subject="Chemistry")
    _, report = imports.run(project, TRANSCRIPTS, [file.parent], ImportOptions(pseudonyms=True))
    assert (report.new, report.counts["sources"].same, report.problems) == (0, 1, ())
    file.write_text(VTT.replace("old", "new"), "utf-8")
    (problem,) = imports.preview(project, TRANSCRIPTS, [file]).problems
    assert "imported from a file with other content" in str(problem)


def test_pseudonyms_stay_with_the_project(project: Project, file: Path, tmp_path: Path) -> None:
    _, report = imports.run(project, TRANSCRIPTS, [file], ImportOptions(pseudonyms=True))
    (source,) = sources_of(project)
    assert source.text == "S1: Salt is old.\n\nS2: Thank you, Ann Lee."
    assert project.get(seminars.NAMES + source.id) == {"S1": "Ann Lee", "S2": "Bob"}
    assert "1 speaker named in what is said too" in str(report.notes[-1])
    releases.export(project, tmp_path / "out", "goldsmith")
    assert b"Bob" not in b"".join(
        path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()
    )


def test_bad_lines_keep_everything_out_unless_skipped(project: Project, file: Path) -> None:
    (file.parent / "b.vtt").write_text(VTT.replace("00:02.000 -->", "soon -->"), "utf-8")
    (file.parent / "c.json").write_text("{", "utf-8")
    (file.parent / "salt 1.srt").write_bytes(b"")
    refused = expect_refusal("", imports.run, project, TRANSCRIPTS, [file.parent])
    assert {detail.split(": ")[0] for detail in refused.details} == {"b.vtt", "c.json", "salt 1.srt"}
    assert any("line 6: “soon” is not a time" in detail for detail in refused.details)
    assert items.ids(project) == []
    imports.run(project, TRANSCRIPTS, [file, file.parent / "b.vtt"], skip_bad=True)
    assert sorted(source.text for source in sources_of(project)) == [
        "Ann Lee: Salt is old.", "Ann Lee: Salt is old.\n\nBob: Thank you, Ann Lee.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("Salt is old.", "en"),
        ("我们想知道为什么检索在长文档上失败。", "zh"),
        ("私たちはなぜ検索が失敗するのかを知りたい。", "ja"),
        ("검색이 왜 실패하는지 알고 싶습니다.", "und"),
    ],
)
def test_the_language_is_that_of_the_script(
    project: Project, tmp_path: Path, words: str, language: str
) -> None:
    (tmp_path / "talk.txt").write_text(f"A: {words}\n\nB: {words}\n", "utf-8")
    imports.run(project, TRANSCRIPTS, [tmp_path / "talk.txt"])
    (item_id,) = items.ids(project)
    assert items.read(project, item_id).language == language


KAE = RunRequest("baseline", "arena.keypoints")
REPORT = "# Audits\n\nSong detectors are audited by hour [1].\n\n1. https://listening.example/audit-2024"
ONE_LEFT_OUT = "1 report on a seminar is left out: a seminar is what tasks are made of, and no task itself."


@pytest.fixture
def answered(tmp_path: Path) -> Project:
    """The sample of a seminar, on which a system wrote and was judged before it was known for one."""
    project = small_sample(tmp_path, "seminar")
    with closing(project):
        shutil.copyfile(project.path, tmp_path / "fresh.goldsmith")
    project = Project.open(project.path)
    items.change(project, items.ids(project)[0], dataset="", question="How are song detectors audited?")
    add_report(project, items.ids(project)[0], "Pendrel", REPORT)
    for order in (RunRequest("baseline", f"{KAE.protocol}.extract"), KAE):
        asyncio.run(orders.carry_out(project, order))
    return project


def test_a_role_is_what_the_file_tells(project: Project, file: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file])
    for more in ({"dataset": seminars.DATASET}, {}, {"key": "t", "made_from": "t1"}):
        items.add(project, "What is salt?", more=more)
    add_report(project, items.ids(project)[2], "Written by people", mode="exemplar")
    assert [items.of(project, one) for one in items.ids(project)] == ["seminar", "question", "paper", "task"]
    for key, kind in (("salt 1", Kind.CHECKLIST), ("t", Kind.TASKS)):
        expect_refusal(
            f"Item {key} is a (seminar|task): “{kind.title()}” is not written",
            items.refuse_kind,
            project,
            [key],
            kind,
        )


def test_reports_on_a_seminar_are_kept_and_told_and_enter_nothing(
    answered: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(project: Project, *words: str) -> dict:
        run_command([words[0], str(project.path), *words[1:], "--json"])
        return json.loads(capsys.readouterr().out)

    with_it, without = (
        told(one, "results", "--view", "arena")["sheets"][0]["rows"]
        for one in (answered, Project.open(tmp_path / "fresh.goldsmith"))
    )
    assert with_it != without
    items.change(answered, items.ids(answered)[0], dataset=seminars.DATASET)
    (after,), counted = told(answered, "results", "--view", "arena")["sheets"], told(answered, "info")
    assert after["rows"] == without
    assert after["told"].count(ONE_LEFT_OUT) == told(answered, "results")["told"].count(ONE_LEFT_OUT) == 1
    assert (counted["roles"], counted["responses"], counted["left_out"]) == ({"seminar": 1, "task": 5}, 11, 1)
    assert [(line.role, line.responses) for line in items.lines(answered, items.ids(answered))] == [
        ("seminar", 0), *[("task", 2)] * 5,
    ]  # fmt: skip
    assert ONE_LEFT_OUT in releases.export(answered, tmp_path / "out").notes
    assert f"| seminar | 1 | 16.7 % |\n| task | 5 | 83.3 % |\n\n{ONE_LEFT_OUT}" in (
        tmp_path / "out" / "README.md"
    ).read_text("utf-8")


def test_nothing_about_a_seminar_is_judged_or_labelled(answered: Project) -> None:
    assert judge_runs.look(answered, KAE).total > 45
    items.change(answered, items.ids(answered)[0], dataset=seminars.DATASET)
    plan, estimate = judge_runs.look(answered, KAE), asyncio.run(orders.foreseen(answered, KAE))
    assert (plan.total, plan.words.endswith(ONE_LEFT_OUT), estimate.total, estimate.words()[-1]) == (
        45, True, 45, ONE_LEFT_OUT,
    )  # fmt: skip
    assert judge_runs.look(
        answered, RunRequest("baseline", KAE.protocol, items=("listening-to-birds",))
    ).words.startswith("Item listening-to-birds is a seminar: a ")
    assert {offer.items for offer in judge_runs.offers(answered)} == {5}
    assert len(labels.queue(answered, KAE.protocol)) == 10
    sql.alter(answered, "DELETE FROM extract WHERE item_id != ?", items.ids(answered)[:1])
    assert KAE.protocol not in label_cases.offered(answered)


TALK = """WEBVTT

00:01.000 --> 00:02.000
<v Ann Lee>Salt is very old.

00:02.000 --> 00:04.000
<v Bob>Off the record, my boss is a fool.

00:05.000 --> 00:06.000
<v ann lee>Salt is cheap.
"""
TEXT = "Ann Lee: Salt is very old.\n\nBob: Off the record, my boss is a fool.\n\nann lee: Salt is cheap."
SECRET = "my boss is a fool"


@pytest.fixture
def salted(tmp_path: Path) -> Project:
    salted = Project.create(tmp_path / "p.goldsmith")
    (tmp_path / "salt.vtt").write_text(TALK, "utf-8")
    imports.run(salted, imports.TRANSCRIPTS, [tmp_path / "salt.vtt"])
    return salted


def working_as(salted: Project, name: str, role: Role) -> None:
    salted.person = people.known(salted, people.add_person(salted, name, (role,)).subject)


def source_id(salted: Project) -> str:
    (line,) = seminars.lines(salted)
    return line.source_id


def text_of(salted: Project) -> str:
    return seminars.opened(salted, source_id(salted)).source.text


def span(words: str, within: str = TEXT) -> tuple[int, int]:
    return within.index(words), within.index(words) + len(words)


def test_a_corrected_word_keeps_the_original_in_the_history_and_segments_follow_it(salted: Project) -> None:
    seminars.correct(salted, source_id(salted), *span("very"), "terribly")
    result = seminars.opened(salted, source_id(salted))
    assert result.source.text == TEXT.replace("very", "terribly")
    assert of_source(result.source) == result.transcript
    said = [result.source.text[segment.first : segment.last] for segment in result.transcript.segments]
    assert said == ["Salt is terribly old.", "Off the record, my boss is a fool.", "Salt is cheap."]
    (act,) = result.history
    assert (act.verb, act.before, act.after) == (
        "correct words",
        "Salt is very old.",
        "Salt is terribly old.",
    )
    assert checking.check(salted).problems == []
    seen = undo_places.seen(salted, history.undo(salted))
    assert (seen.words, seen.page, seen.place) == ("correct words", "Material", {"part": "Transcripts"})
    assert text_of(salted) == TEXT
    assert seminars.opened(salted, source_id(salted)).history[0].undone
    history.redo(salted)
    assert text_of(salted) == TEXT.replace("very", "terribly")
    expect_refusal("There is no such transcript", seminars.opened, salted, "gone")


def test_what_is_left_out_is_nowhere_but_here(salted: Project, tmp_path: Path) -> None:
    seminars.leave_out(salted, source_id(salted), *span(SECRET))
    (source,) = items.sources(salted, items.ids(salted)[0])
    assert source.text == TEXT.replace(f"{SECRET}.", f"{LEFT_OUT}.")
    assert all(SECRET not in piece.text and LEFT_OUT not in piece.text for piece in pieces(source))
    releases.export(salted, tmp_path / "out", "goldsmith")
    released = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert SECRET.encode() not in released
    assert LEFT_OUT.encode() in released


def test_a_passage_is_taken_back_after_other_corrections(salted: Project) -> None:
    seminars.leave_out(salted, source_id(salted), *span(SECRET))
    seminars.correct(salted, source_id(salted), *span("very"), "terribly")
    expect_refusal("Nothing is left out here", seminars.take_back, salted, source_id(salted), 0)
    seminars.take_back(salted, source_id(salted), text_of(salted).index(LEFT_OUT))
    assert text_of(salted) == TEXT.replace("very", "terribly")
    assert [act.verb for act in seminars.opened(salted, source_id(salted)).history] == [
        "take passage back",
        "correct words",
        "leave out passage",
    ]


def test_speakers_are_merged_and_named_anew(salted: Project) -> None:
    seminars.rename(salted, source_id(salted), {"ann lee": "Ann Lee"})
    assert text_of(salted) == TEXT.replace("ann lee", "Ann Lee")
    seminars.pseudonyms(salted, source_id(salted))
    assert text_of(salted) == TEXT.replace("ann lee", "S1").replace("Ann Lee", "S1").replace("Bob", "S2")
    assert salted.get(seminars.NAMES + source_id(salted)) == {"S1": "Ann Lee", "S2": "Bob"}
    history.undo(salted)
    history.undo(salted)
    assert text_of(salted) == TEXT
    expect_refusal(
        "cannot be a speaker's name", seminars.rename, salted, source_id(salted), {"Bob": "Bob: x"}
    )


def quoting(salted: Project, *quotes: str) -> None:
    item_id, source = items.ids(salted)[0], source_id(salted)
    units = tuple(
        Insight(text=f"about {quote}", anchor=Anchor.at(TEXT, *span(quote), source)) for quote in quotes
    )
    artifacts.start(salted, item_id, Kind.INSIGHTS, Insights(units=units))


def test_quotations_that_no_longer_stand_are_named(salted: Project) -> None:
    working_as(salted, "Ida", Role.COORDINATOR)
    quoting(salted, "Salt is cheap", "the record, my boss")
    assert seminars.correct(salted, source_id(salted), *span("very"), "terribly, awfully").after["lost"] == []
    assert seminars.leave_out(salted, source_id(salted), *span(SECRET, text_of(salted))).after["lost"] == [
        "the record, my boss"
    ]


def test_a_change_that_was_overtaken_is_not_undone(salted: Project) -> None:
    seminars.correct(salted, source_id(salted), *span("very"), "terribly")
    other = Project.open(salted.path)
    working_as(other, "Ida", Role.COORDINATOR)
    seminars.correct(other, source_id(other), *span("terribly", text_of(other)), "awfully")
    expect_refusal("changed since", history.undo, salted)
    assert text_of(salted) == TEXT.replace("very", "awfully")


def test_only_a_coordinator_corrects(salted: Project) -> None:
    working_as(salted, "Ann", Role.ANNOTATOR)
    for act in (
        lambda: seminars.correct(salted, "x", 0, 1, "x"),
        lambda: seminars.lines(salted),
        lambda: seminars.pseudonyms(salted, "x"),
    ):
        expect_refusal("Only a coordinator", act)
