"""Odd files of related work: the import ends in what came in, or in a sentence about the file."""

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.project.people import new_project
from annotator.domain.texts.refusal import Refusal
from tests.material import related_work as made

PAPERS, CITATIONS, NUGGETS = "papers_with_related_works.csv", "citations.csv", "gt_nuggets_outputs/0/res.json"
HEAD = "arxiv_id,title,abstract\n"
CITED = f"parent_paper_arxiv_id,citation_shorthand,cited_paper_title,bib_paper_url,bib_paper_authors\n{made.FIRST},"


def written(place: str, content: str | bytes) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        path = folder / place
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())

    return write


def everywhere(system: str, content: bytes) -> Callable[[Path], None]:

    def write(folder: Path) -> None:
        for path in (folder / "systems" / system).rglob("*.json"):
            path.write_bytes(content)

    return write


def renamed(name: bytes) -> Callable[[Path], None]:
    def move(folder: Path) -> None:
        try:
            os.rename(
                os.fsencode(folder / "systems" / "search"), os.fsencode(folder / "systems") + b"/" + name
            )
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
    "a raised digit as row": lambda folder: (folder / "systems/search/0").rename(folder / "systems/search/²"),
    "a name that is no text": renamed(b"sea\xff"),
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
}  # fmt: skip


@pytest.mark.parametrize("name", COMES_IN)
def test_what_can_be_read_comes_in(tmp_path: Path, name: str) -> None:
    if name == "a name that is no text" and sys.platform != "linux":
        pytest.skip("names are text on this system")
    folder = made.write(tmp_path / "benchmark")
    COMES_IN[name](folder)
    project = new_project(tmp_path / "project.goldsmith", "T")
    report = imports.run(project, "deepscholar", [folder], warm=False)[1]
    assert report.counts["items"].new == 2
    # Whatever is told can be printed.
    assert all(str(note).encode("utf-8") for note in report.notes)
    assert imports.run(project, "deepscholar", [folder], warm=False)[1].new == 0


@pytest.mark.parametrize("name", IS_REFUSED)
def test_what_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    spoil, reason = IS_REFUSED[name]
    folder = made.write(tmp_path / "benchmark")
    spoil(folder)
    project = new_project(tmp_path / "project.goldsmith", "T")
    with pytest.raises(Refusal) as refused:
        imports.run(project, "deepscholar", [folder], warm=False)
    assert reason in " ".join((str(refused.value), *refused.value.details))
