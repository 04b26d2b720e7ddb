"""DeepScholar's files imported and written back: every join, every quirk of what was published, and odd files."""

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import releases
from annotator.actions.results import results
from annotator.exchange.formats.deepscholar import tables as published
from annotator.exchange.table_files import read_table
from annotator.exchange.texts import latex
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM
from tests.material import related_work as made
from tests.material.related_work import FIRST, SECOND, SHARED
from tests.projects.refusals import expect_refusal
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
    return new_project(tmp_path / "project.goldsmith", "T")


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
    response = responses(project)[FIRST, system]
    (content,) = sql.first(project, "SELECT content FROM extract WHERE response_id = ?", [response.id])
    return list(json.loads(content)["units"])


def hashes(project: Project) -> list[set[tuple[Any, ...]]]:
    """Everything that a layout carries, by what it is known and compared by."""
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
    first = works_of(project, "Human-written exemplar")[0]
    assert first == ("[1]", "http://arxiv.org/abs/2001.00001v2", "Oaks")


def test_who_is_important_is_said_where_the_files_say_it(project: Project, folder: Path) -> None:
    fir = made.cited(SECOND, "fir", "Firs")
    made.table(folder / "citations.csv", [*made.CITATIONS, fir])
    made.table(folder / "important_citations.csv", made.CITATIONS[:1])
    take(project, folder)
    said = {unit["note"]: unit["importance"] for unit in units(project, "evidence")}
    assert said == {"oak": "important", "elm": "not_important", "ash": "not_important"}
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
    alone = new_project(project.path.with_name("alone.goldsmith"), "T")
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
    without = releases.export(project, tmp_path / "without", LAYOUT)
    assert "Left out: 2 abstracts; they leave with the texts of cited pages." in without.notes
    again = new_project(tmp_path / "again.goldsmith", "T")
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
    again = new_project(tmp_path / "again.goldsmith", "T")
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
            whole = set(latex.cited_keys(paper.section.replace("\\iffalse", "").replace("\\fi", "")))
            assert result <= listed <= result | whole


def test_file_names_with_odd_bytes_are_read(project: Project, folder: Path) -> None:
    own = folder / "systems" / "search" / "0"
    shutil.move(own / "Your task is.md", own / "Your task is\nwritten ü.md")
    take(project, folder)
    assert responses(project)[FIRST, "search"].text.startswith("Oaks [1].")


PAPERS, CITATIONS, NUGGETS = "papers_with_related_works.csv", "citations.csv", "gt_nuggets_outputs/0/res.json"
MORE_NUGGETS, HEAD = "gt_nuggets_outputs/3/res.json", "arxiv_id,title,abstract\n"
CITED = f"parent_paper_arxiv_id,citation_shorthand,cited_paper_title,bib_paper_url,bib_paper_authors\n{made.FIRST},"


def written(place: str, content: str | bytes) -> Callable[[Path], None]:
    """Write the file, or every file that the pattern finds."""

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
