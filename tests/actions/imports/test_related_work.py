"""DeepScholar's files imported and written back: every join, every quirk of what was published."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.imports import imports
from annotator.actions.items import summaries
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import releases
from annotator.actions.research import work_sources
from annotator.actions.results import results
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats.deepscholar import tables as published
from annotator.exchange.table_files import read_table
from annotator.exchange.texts import latex
from annotator.storage.tables import ARTIFACT, EXTRACT, ITEM, PAGE, RESPONSE, REVISION, SOURCE, SYSTEM
from tests.material import related_work as made
from tests.material.related_work import FIRST, SECOND, SHARED

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
        select(REVISION.c.content)
        .join(ARTIFACT, ARTIFACT.c.id == REVISION.c.artifact_id)
        .join(ITEM, ITEM.c.id == ARTIFACT.c.item_id)
        .where(ARTIFACT.c.kind == kind, ITEM.c.key == key)
    )
    with project.store.read() as db:
        return list(json.loads(db.execute(question).scalar_one())["units"])


def works_of(project: Project, system: str) -> list[tuple[str, str, str]]:
    return [(one["note"], one["identifier"], one["text"]) for one in listed(project, system)]


def listed(project: Project, system: str) -> list[dict[str, Any]]:
    response = responses(project)[FIRST, system]
    with project.store.read() as db:
        content = db.execute(
            select(EXTRACT.c.content).where(EXTRACT.c.response_id == response.id)
        ).scalar_one()
    return list(json.loads(content)["units"])


def hashes(project: Project) -> dict[str, set[Any]]:
    """Everything that a layout carries, by what it is known and compared by."""
    wanted = {
        "items": select(ITEM.c.id, ITEM.c.key, ITEM.c.sha256),
        "sources": select(SOURCE.c.id, SOURCE.c.sha256),
        "systems": select(SYSTEM.c.id, SYSTEM.c.name),
        "responses": select(RESPONSE.c.id, RESPONSE.c.mode, RESPONSE.c.sha256),
        "revisions": select(REVISION.c.artifact_id, REVISION.c.sha256),
        "extracts": select(EXTRACT.c.id, EXTRACT.c.sha256),
        "pages": select(PAGE.c.url, PAGE.c.sha256),
    }
    with project.store.read() as db:
        return {name: {tuple(row) for row in db.execute(question)} for name, question in wanted.items()}


def test_papers_become_items_with_their_task_and_sources(project: Project, folder: Path) -> None:
    take(project, folder)
    with project.store.read() as db:
        rows = {row.key: row for row in db.execute(select(ITEM))}
        sources = [(row.title, row.text) for row in db.execute(select(SOURCE).order_by(SOURCE.c.position))]
    assert list(rows) == [FIRST, SECOND]
    assert (rows[FIRST].subject, rows[SECOND].subject) == ("cs.AI", "physics.geo-ph")
    assert "before 2025-06-03" in rows[FIRST].question
    assert rows[FIRST].question.startswith("On trees in towns: write the related-work section")
    assert ("On trees in towns", made.ABSTRACTS[FIRST]) in sources
    assert any(text.startswith("Shade matters \\cite{oak}") for _, text in sources)


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


def test_references_are_gold_evidence_under_their_keys(project: Project, folder: Path) -> None:
    take(project, folder)
    found = {one["note"]: one for one in units(project, "evidence")}
    assert list(found) == ["oak", "elm", "ash"]
    assert (found["oak"]["year"], found["oak"]["authors"]) == (2020, "Li, A, Mo, B")
    assert (found["elm"]["year"], found["elm"]["text"]) == (None, "Elms and ash")
    # A work without a title is known by its key.
    assert (found["ash"]["text"], found["ash"]["identifier"]) == ("ash", "https://ash.example.org/a")
    assert all("importance" not in one for one in found.values())


def test_who_is_important_is_said_where_the_files_say_it(project: Project, folder: Path) -> None:
    made.table(folder / "important_citations.csv", made.CITATIONS[:1])
    take(project, folder)
    assert {one["note"]: one["importance"] for one in units(project, "evidence")} == {
        "oak": "important",
        "elm": "not_important",
        "ash": "not_important",
    }


def test_of_a_paper_that_the_list_of_important_ones_leaves_out_nothing_is_said(
    project: Project, folder: Path
) -> None:
    fir = made.cited(SECOND, "fir", "Firs")
    made.table(folder / "citations.csv", [*made.CITATIONS, fir])
    made.table(folder / "important_citations.csv", [fir])
    take(project, folder)
    assert all("importance" not in one for one in units(project, "evidence"))


def test_who_is_taken_as_unimportant_because_a_list_leaves_them_out_is_told(
    project: Project, folder: Path
) -> None:
    made.table(folder / "important_citations.csv", [made.CITATIONS[0], made.cited(SECOND, "fir", "Firs")])
    found = imports.preview(project, LAYOUT, [folder])
    told = {str(one) for one in (*found.problems, *found.notes) if "important_citations.csv" in str(one)}
    assert told == {
        "important_citations.csv[1]: “fir” is no citation of paper 2506.00002v1",
        "important_citations.csv: 2 citations of its papers are not listed and so taken as not important",
    }


def test_a_work_is_kept_once_with_the_abstract_that_came_first(project: Project, folder: Path) -> None:
    take(project, folder)
    with project.store.read() as db:
        pages = [(row.url, row.title, row.text) for row in db.execute(select(PAGE))]
    assert pages == [("arxiv:2001.00001", "Oaks", "About oaks.")]


def test_nuggets_are_joined_by_paper_however_folders_nest(project: Project, folder: Path) -> None:
    take(project, folder)
    assert [(one["text"], one["importance"], one["support"]) for one in units(project, "nuggets")] == [
        ("Shade cools", "vital", "support"),
        ("Elms grow", "okay", "partial_support"),
        ("Water matters", "vital", "not_support"),
    ]
    told = summaries.counts(project)
    assert (told["nuggets"], told["nuggets_vital"]) == (1, 1)
    assert (told["nuggets_drawn"], told["nuggets_drawn_vital"]) == (3, 2)


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
    found = responses(project)[FIRST, system]
    assert found.text.startswith(text)
    assert (found.latency_s, found.run_tokens, found.cost_usd) == (latency, run_tokens, cost)
    # No file says how long the report itself is.
    assert found.tokens is None
    assert works_of(project, system) == works


def test_passages_are_kept_and_the_addresses_they_came_with_are_told(project: Project, folder: Path) -> None:
    report = take(project, folder)
    assert [one.get("passage") for one in listed(project, "scholar")] == ["elms", "oak trees"]
    told = "was shown 2 passages with the address of a work, which counts only where the report names it"
    assert any(f"scholar/0: {told}" in str(note) for note in report.notes)


def test_old_ids_of_arxiv_are_works(project: Project, folder: Path) -> None:
    text = "Grammars [1].\n\n## References\n\n[1] A. cs/0112017. [2] B. arXiv:math.GT/0309136v2"
    made.text(folder / "systems" / "old" / "0" / "intro.md", text)
    take(project, folder)
    assert [one for _, one, _ in works_of(project, "old")] == ["cs/0112017", "arXiv:math.GT/0309136v2"]


def test_settings_of_a_system_are_never_opened(project: Project, folder: Path) -> None:
    take(project, folder)
    assert b"a-secret-of-somebody" not in project.path.read_bytes()


def test_a_report_goes_to_the_paper_that_was_asked_about(project: Project, folder: Path) -> None:
    (folder / "systems" / "search").rename(folder / "systems" / "moved")
    (folder / "systems" / "moved" / "0").rename(folder / "systems" / "moved" / "1")
    report = take(project, folder)
    assert (FIRST, "moved") in responses(project)
    assert any(f"was asked about {FIRST}, not about row 1" in str(note) for note in report.notes)


def test_folders_are_not_joined_by_the_order_of_another_file(project: Project, folder: Path) -> None:
    other = [{**paper, "clean_latex_related_works": ""} for paper in reversed(made.PAPERS)]
    made.table(folder / "related_works_combined.csv", other)
    take(project, folder)
    assert all(key == FIRST for key, system in responses(project) if not system.startswith("Human"))
    alone = new_project(project.path.with_name("alone.goldsmith"), "T")
    (folder / "papers_with_related_works.csv").unlink()
    with pytest.raises(Refusal, match="storm/0: no paper is known for row 0"):
        take(alone, folder)


def test_systems_and_nuggets_can_come_later(project: Project, folder: Path) -> None:
    take(project, folder / "papers_with_related_works.csv", folder / "citations.csv")
    report = take(project, folder / "systems" / "search", folder / "gt_nuggets_outputs")
    assert (report.counts["responses"].new, report.counts["artifacts"].new) == (1, 1)


def test_a_second_import_adds_nothing(project: Project, folder: Path) -> None:
    take(project, folder)
    before = hashes(project)
    assert take(project, folder).new == 0
    assert hashes(project) == before


IDENTIFIED = ("cited_paper_arxiv_link", "bib_paper_doi", "bib_paper_url", "cited_paper_abstract")


def told_of(folder: Path, *names: str) -> list[list[str]]:
    rows = read_table(folder / "citations.csv", ()).rows
    keys = ("parent_paper_arxiv_id", "citation_shorthand", *names)
    return sorted([row.get(name, "") for name in keys] for row in rows)


def test_every_identifier_and_abstract_that_came_in_goes_out(
    project: Project, folder: Path, tmp_path: Path
) -> None:
    yew = made.cited(FIRST, "yew", "Yews", bib_paper_doi="10.1000/yew", cited_paper_abstract="About yews.")
    made.table(folder / "citations.csv", [*made.CITATIONS[:3], yew])
    take(project, folder)
    releases.export(project, tmp_path / "out", LAYOUT, page_texts=True)
    assert told_of(tmp_path / "out", *IDENTIFIED) == told_of(folder, *IDENTIFIED)
    without = releases.export(project, tmp_path / "without", LAYOUT)
    assert "Left out: 2 abstracts; they leave with the texts of cited pages." in without.notes


def test_what_is_written_back_is_read_as_the_same(project: Project, folder: Path, tmp_path: Path) -> None:
    take(project, folder)
    made.table(folder / "important_citations.csv", made.CITATIONS[:1])
    releases.export(project, tmp_path / "out", LAYOUT, page_texts=True)
    again = new_project(tmp_path / "again.goldsmith", "T")
    take(again, tmp_path / "out")
    assert hashes(again) == hashes(project)


@pytest.mark.parametrize(
    ("file", "content", "reason"),
    [
        ("papers_with_related_works.csv", "title,abstract\na,b\n", "has no column “arxiv_id”"),
        (
            "papers_with_related_works.csv",
            "arxiv_id,title,abstract\nx,T,A\n",
            "has no arXiv id, title or abstract",
        ),
        ("papers_with_related_works.csv", 'arxiv_id,title,abstract\n"x', "is not a table in CSV"),
        ("citations.csv", "a,b\n", "has no column “parent_paper_arxiv_id”"),
        ("gt_nuggets_outputs/3/res.json", '{"qid": 3}', "does not hold the nuggets of one paper"),
        (
            "gt_nuggets_outputs/3/res.json",
            '{"qid": "2501.00001v1", "nuggets": []}',
            "is not among the papers",
        ),
        ("systems/base/0/helper_data.json", "{", "line 1"),
    ],
)
def test_bad_files_are_named_and_keep_everything_out(
    project: Project, folder: Path, file: str, content: str, reason: str
) -> None:
    made.text(folder / file, content)
    with pytest.raises(Refusal) as refused:
        take(project, folder)
    assert reason in " ".join((str(refused.value), *refused.value.details))
    assert summaries.counts(project)["items"] == 0


def test_a_folder_of_something_else_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "other").mkdir()
    with pytest.raises(Refusal, match="neither papers, citations, nuggets nor systems"):
        take(project, tmp_path / "other")


needs_shared = pytest.mark.skipif(
    not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there"
)


@needs_shared
def test_the_public_data_come_in_whole_and_go_round(project: Project, tmp_path: Path) -> None:
    report = take(project, SHARED)
    assert not report.problems
    told = summaries.counts(project)
    assert {name: told[name] for name in TOLD} == TOLD
    systems = {system for key, system in responses(project) if key == "2506.02838v1"}
    assert len(systems) == len(list((SHARED / "systems").iterdir())) + 1
    assert take(project, SHARED).new == 0
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
    spent = {
        "lotus": {"total_tokens": 400, "total_cost": 0.0},
        "helper": {"total_tokens": 20, "total_cost": 0.25},
    }
    made.tree(folder / "systems" / "base" / "0" / "usage.json", spent)
    shutil.rmtree(folder / "systems" / "search")
    take(project, folder)
    found = responses(project)[FIRST, "base"]
    assert (found.run_tokens, found.cost_usd, found.cost_part_usd) == (420, None, 0.25)
    rows = {
        row.metric: row.estimate
        for row in results.rows(project, protocol="adra.efficiency")
        if (row.system, row.group) == ("base", "all")
    }
    assert (rows["run_tokens"].value, rows.get("tokens")) == (420, None)
    assert (rows["cost"].floor, rows["cost"].note) == (0.25, "at least US$ 0.25: the rest has no price")


@needs_shared
def test_the_public_runs_tell_what_they_took(project: Project) -> None:
    take(project, SHARED)
    told = {
        system: (row.run_tokens, row.cost_usd, row.cost_part_usd)
        for (_, system), row in responses(project).items()
        if row.run_tokens is not None
    }
    # Added up by hand from the files: of two models the first has no price; STORM's has none, nor OpenScholar's.
    assert told == {
        "deepscholar_base_gpt_4.1": (470_824 + 11_904, None, pytest.approx(0.027156)),
        "search_ai_gpt_4.1": (28_807, 0.069602, None),
        "openscholar": (279_193, None, None),
        "deepresearcher": (8_785, None, None),
        "storm": (57_602 + 7_473 + 3_072 + 1_699, None, None),
    }


@needs_shared
def test_reports_of_the_public_data_are_as_published(project: Project) -> None:
    take(project, SHARED)
    found = [row.text for (_, system), row in responses(project).items() if system.startswith("deepscholar")]
    assert sorted(found) == sorted(path.read_text("utf-8").strip() for path in (SHARED / "reports").iterdir())


@needs_shared
def test_keys_of_the_public_sections_are_those_of_the_citations() -> None:
    rows = published.citations_of(read_table(SHARED / "citations.csv", ()))
    table_ = read_table(SHARED / "papers_with_related_works.csv", ())
    for _, paper in published.papers_of(table_):
        assert paper is not None
        listed = {one.key for one in rows if one.paper == paper.arxiv_id}
        found = set(latex.cited_keys(paper.section))
        # One section switches words off by \\iffalse; the published list counts them as set.
        off = set(latex.cited_keys(paper.section.replace("\\iffalse", "").replace("\\fi", ""))) - found
        assert found <= listed <= found | off


def test_file_names_with_odd_bytes_are_read(project: Project, folder: Path) -> None:
    own = folder / "systems" / "search" / "0"
    shutil.move(own / "Your task is.md", own / "Your task is\nwritten ü.md")
    take(project, folder)
    assert responses(project)[FIRST, "search"].text.startswith("Oaks [1].")


def test_citations_of_works_come_in_from_a_file_and_count(
    project: Project, folder: Path, tmp_path: Path
) -> None:
    take(project, folder)
    rows = [
        {
            "identifier": "arXiv:2001.00001v3",
            "title": "Oaks",
            "cited_by_count": "7",
            "counted_on": "2026-01-02",
        },
        {
            "identifier": "10.48550/arXiv.2001.00001",
            "title": "",
            "cited_by_count": "5",
            "counted_on": "2025-01-02",
        },
        {"identifier": "arXiv:1999.00001", "title": "", "cited_by_count": "1", "counted_on": "2026-01-02"},
        {"identifier": "arXiv:2001.00001", "title": "", "cited_by_count": "many", "counted_on": "2026-01-02"},
    ]
    made.table(tmp_path / "works.csv", rows)
    found = work_sources.from_place(project, tmp_path / "works.csv")
    assert (found.citations, found.elsewhere, len(found.problems)) == (1, 1, 1)
    assert found.problems[0].startswith("works.csv: row 5: ")
    with project.store.read() as db:
        (page,) = db.execute(select(PAGE))
    assert (page.citations, page.citations_on.isoformat()) == (7, "2026-01-02")
    board = results.rows(project, protocol="deepscholar.references")
    (own,) = [row for row in board if row.system.startswith("Human") and row.metric == "document_importance"
              and row.group == "all"]  # fmt: skip
    assert own.estimate.value == 1.0
