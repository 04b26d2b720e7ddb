"""Papers' sources are collected, and items built of them."""

import gzip
import json
import re
import tarfile
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

import pytest

from annotator.domain.common import Refusal, now
from annotator.domain.material.extract import CollectedPaper, Funnel
from annotator.exchange.eprints import assembling, building
from annotator.exchange.eprints.building import Rules
from annotator.exchange.eprints.collecting import (
    ArxivHosts,
    Collected,
    CollectionQuery,
    Collector,
    polite_fetcher,
)
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.formats.deepscholar import tables as published
from annotator.exchange.pages.fetching import HostTurns
from annotator.exchange.table_files import read_table
from annotator.exchange.texts import latex
from tests.common import expect_refusal, failing
from tests.exchange.pages.page_server import Given, PageServer, serving
from tests.material import related_work as made
from tests.material.related_work import BIB, CITED, KEYS, SECTION, SHARED, WORDS, compressed

pytestmark = pytest.mark.anyio


ONE = "2506.00001v1"


def built(tmp_path: Path, content: bytes, rules: Rules | None = None, **told: Any) -> Funnel:
    place = made.folder(tmp_path / "papers", {ONE: content}, [made.entry(ONE, **told)])
    made.works(place)
    return building.build(place, rules or Rules(), lambda *_: None)


def kept(tmp_path: Path, content: bytes) -> CollectedPaper:
    result = built(tmp_path, content)
    assert result.refused == ()
    return result.passed[0]


def keys(paper: CollectedPaper) -> tuple[str, ...]:
    return tuple(one.key for one in paper.cited)


def linked(name: str, kind: bytes, to: str = "") -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, to
    return member


def related(cited: str, **more: str) -> bytes:
    return made.whole(rf"\section{{Related Work}} {WORDS} {cited}", **more)


MAIN = made.paper()
APART = {
    "several files": made.packed({
        "main.tex": made.paper(r"\input{parts/related}"), "parts/related.tex": SECTION, "refs.bib": BIB}),
    "two levels, as a folder": made.packed({
        "main.tex": made.paper(r"\import{parts/}{outer}"), "refs.bib": BIB,
        "parts/outer.tex": r"\input inner ", "parts/inner.tex": SECTION}),
    "a file that includes itself": made.packed({
        "main.tex": made.paper(r"\include{a}"), "refs.bib": BIB,
        "a.tex": SECTION + r"\input{b}", "b.tex": r"\input{a}"}),
    "a part with a document of its own": made.packed({
        "main.tex": made.paper(r"\subfile{part}"), "refs.bib": BIB,
        "part.tex": rf"\documentclass[main]{{subfiles}}\begin{{document}}{SECTION}\end{{document}}"}),
    "a part that ends in a comment": made.packed({
        "main.tex": made.paper(r"\section{Related work}\input{a}, \cite{yew}"), "refs.bib": BIB,
        "a.tex": WORDS + r" \cite{oak,elm,ash,fir} % that is all"}),
    "two files of one name": made.packed({
        "main.tex": made.paper(r"\input{parts/main}"), "parts/main.tex": SECTION, "refs.bib": BIB}),
    "the main file as arXiv names it": made.packed({
        "paper.tex": MAIN, "a.tex": "b", "refs.bib": BIB,
        "sample.tex": made.paper(r"\input{a}\section{Related Work} Other words."),
        "00README.json": '{"sources": [{"filename": "paper.tex", "usage": "toplevel"}]}'}),
    "an input that is commented out": made.packed({
        "main.tex": made.paper("% \\input{old}\n" + SECTION), "refs.bib": BIB,
        "old.tex": r"\section{Related Work} Old."}),
    "a single file": made.single(MAIN),
    "no packing": MAIN.encode(),
    "a plain tar": gzip.decompress(made.packed({"main.tex": MAIN, "refs.bib": BIB})),
    "a link beside the files": made.packed(
        {"main.tex": MAIN, "refs.bib": BIB}, linked("passwd", tarfile.SYMTYPE, "/etc/passwd"),
        linked("pipe", tarfile.FIFOTYPE)),
    "a percent sign in words": made.whole(rf"\section{{Related Work}} 50\% of it. {WORDS} {CITED}"),
    "macro for a citation": related(
        r"\work{oak,elm} \see{ash} and \citet{fir}, \see{yew}",
        before=r"\newcommand{\work}{\citep}\newcommand{\see}[1]{(see~\cite{#1})}"),
    "natbib": related(r"\citep[e.g.,][]{oak, elm} \citealp{ash} \citeauthor{fir} \citet*{yew}"),
    "biblatex": related(r"\autocites{oak}{elm} \textcite{ash} \parencite[3]{fir}\footcite{yew}"),
    "a subsection": made.whole(rf"\section{{Background}} Old. \subsection{{Related Work}} {WORDS} {CITED}"),
    "the appendix": made.whole("Words.", after=rf"\appendix \section{{More related work}} {WORDS} {CITED}"),
    "words around the title": made.whole(rf"\section*{{\textbf{{2. Background and Related Works}}}} {WORDS} {CITED}"),
    "a title for bookmarks": made.whole(
        rf"\section[RW]{{\texorpdfstring{{\textsc{{Related}}~Work}}{{Related Work}}\label{{rw}}}} {WORDS} {CITED}"),
    "an end by the bibliography": made.whole(SECTION + r"\bibliography{refs} \cite{late}", after=""),
    "switched-off words": related(rf"\iffalse \cite{{off}} \fi {CITED} % \cite{{out}}"),
}  # fmt: skip


@pytest.mark.parametrize("name", APART)
def test_the_section_is_found_whatever_it_is_packed_in(tmp_path: Path, name: str) -> None:
    paper = kept(tmp_path, APART[name])
    assert keys(paper) == KEYS
    assert latex.markdown(paper.section, lambda _: "").startswith(("This line of work", "50% of it"))


@pytest.mark.parametrize(("name", "note"), [("a subsection", "subsection"), ("the appendix", "appendix")])
def test_an_unusual_place_is_noted(tmp_path: Path, name: str, note: str) -> None:
    assert any(note in one for one in kept(tmp_path, APART[name]).notes)


def test_latin_1_is_read(tmp_path: Path) -> None:
    text = made.paper(SECTION.replace("trees", "Bäume"))
    assert "Bäume" in kept(tmp_path, compressed(text.encode("latin-1"))).section


def test_figures_and_labels_go_and_comments_stay_in_the_latex(tmp_path: Path) -> None:
    extra = "\\label{sec:rw}\n% \\cite{out}\n\\begin{figure}\\caption{See \\cite{shown}}\\end{figure}\nMore."
    paper = kept(tmp_path, made.whole(f"{SECTION}{extra}"))
    assert keys(paper) == KEYS
    assert "% \\cite{out}" in paper.section
    assert not re.search(r"figure|\\label", paper.section)


LISTED = r"""
\begin{thebibliography}{5}
\bibitem[Li and Mo(2020)Li, Mo, {and}~others]{oak} Ann Li and Bo Mo. \newblock Oaks in \emph{Towns}.
\newblock \emph{arXiv preprint arXiv:2001.00001}, 2020.
\bibitem{elm}%
C. Ro, ``Elms,'' in \emph{Proc. of Trees}, 2021. \url{https://doi.org/10.1000/elm}
\bibitem{Ash} Di Su, \emph{Ash trees}, 2019, abs/1901.00002.
\bibitem{fir} Ta, E.: no words stand out, 2018
\end{thebibliography}
"""
BIBLATEX = r"""
\entry{oak}{article}{}{}
  \name{author}{2}{}{%
    {{hash=1}{family={Li},familyi={L},given={Ann},giveni={A}}}%
    {{hash=2}{family={Mo},familyi={M},given={Bo},giveni={B}}}%
  }
  \field{title}{Oaks in {Towns}}
  \field{year}{2020}
  \verb{eprint}
  \verb 2001.00001
  \endverb
\endentry
\entry{elm}{inproceedings}{}{}
  \field{title}{Elms}
  \verb{doi}
  \verb 10.1000/elm
  \endverb
\endentry
"""


@pytest.mark.parametrize(
    "content",
    [
        made.whole(),
        made.packed({"main.tex": MAIN, "main.bbl": LISTED, "other.bbl": r"\bibitem{oak} ``Wrong,'' 1999"}),
        made.packed({"main.tex": MAIN.replace(r"\bibliography{refs}", LISTED)}),
        made.packed({"main.tex": MAIN, "main.bbl": BIBLATEX}),
        made.packed({"main.tex": MAIN, "other.bib": BIB}),
        made.packed({"main.tex": MAIN, "refs.bib": BIB, "other.bib": "@misc{oak, title={Wrong}}"}),
    ],
    ids=["bibtex", "set list", "embedded", "biblatex", "unnamed bib", "named bib"],
)
def test_entries_come_from_every_kind_of_bibliography(tmp_path: Path, content: bytes) -> None:
    result = {one.key: one for one in kept(tmp_path, content).cited}
    oak, elm = result["oak"], result["elm"]
    assert (oak.title, oak.link, oak.year) == ("Oaks in Towns", "http://arxiv.org/abs/2001.00001", 2020)
    assert re.search("Li.*Mo", oak.authors)
    assert (elm.title, elm.doi) == ("Elms", "10.1000/elm")


def test_a_set_list_gives_titles_by_quotes_blocks_and_emphasis(tmp_path: Path) -> None:
    paper = kept(tmp_path, made.packed({"main.tex": MAIN, "main.bbl": LISTED}))
    result = {one.key: one for one in paper.cited}
    assert (result["ash"].title, result["ash"].link) == ("Ash trees", "http://arxiv.org/abs/1901.00002")
    assert result["yew"].title == ""
    assert any("“yew” stands in no bibliography" in note for note in paper.notes)


def test_works_are_found_by_id_by_title_and_by_similar_title(tmp_path: Path) -> None:
    paper = kept(tmp_path, made.whole())
    result = {one.key: one for one in paper.cited}
    assert result["oak"].abstract == "About oaks."
    # Four of five words are shared, and the author and the year.
    assert (result["fir"].link, result["fir"].abstract) == ("http://arxiv.org/abs/1801.00003", "About firs.")
    # It appeared after the paper: a match by title is none.
    assert (result["elm"].link, result["elm"].doi) == ("", "10.1000/elm")
    assert any("2026-01-09, after the paper" in note for note in paper.notes)


@pytest.mark.parametrize(
    ("authors", "year"), [("Xu, Fei", "2018"), ("Ta, Ed", "2014")], ids=["another author", "another time"]
)
def test_a_similar_title_alone_is_no_match(tmp_path: Path, authors: str, year: str) -> None:
    bib = BIB.replace("author={Ta, Ed}, year={2018}", f"author={{{authors}}}, year={{{year}}}")
    paper = kept(tmp_path, made.packed({"main.tex": MAIN, "refs.bib": bib}))
    assert {one.key: one.link for one in paper.cited}["fir"] == ""


REFUSED = [
    ("filter", "Version 2 is the latest", made.whole(), {"key": "2506.00001v2"}),
    ("filter", "“under review”", made.whole(), {"comment": "Accepted? No: under review"}),
    ("filter", "no comment", made.whole(), {"comment": ""}),
    ("filter", "does not say that it was accepted", made.whole(), {"comment": "12 pages"}),
    ("filter", "withdrawn", made.whole(), {"comment": "This paper has been withdrawn"}),
    ("filter", "not in English", made.whole(), {"summary": "Wir fragen, wie Bäume die Straßen der Städte kühlen."}),
    ("source", "Only a PDF", b"%PDF-1.5 x", {}),
    ("source", "Only a PDF", compressed(b"%PDF-1.5 x"), {}),
    ("source", "Only PostScript", b"%!PS-Adobe", {}),
    ("source", "withdrawn", made.single("%auto-ignore\n\\documentclass{a}"), {}),
    ("source", "withdrawn", b"This paper has been withdrawn by its author.", {}),
    ("source", "no LaTeX", b"<html>busy</html>", {}),
    ("source", "no LaTeX", b"", {}),
    ("source", "damaged", made.whole()[:200], {}),
    ("source", "lie outside", made.packed({"../../evil.tex": MAIN}), {}),
    ("source", "lie outside", made.packed({"/etc/evil.tex": MAIN}), {}),
    ("source", "lie outside", made.packed({"C:\\evil.tex": MAIN}), {}),
    ("assemble", "no main file", made.packed({"refs.txt": "\\x", "a.bib": BIB}), {}),
    ("section", "no section on related work", made.whole(r"\section{Prior art} Words \cite{oak}."), {}),
    ("section", "no section on related work", made.whole(r"% \section{Related Work}" + "\nWords."), {}),
    ("section", "fewer than 100 characters", made.whole(r"\section{Related Work} See \cite{oak}."), {}),
    ("clean", "more than 1,000", made.whole(SECTION + " word" * 1000), {}),
    ("clean", "not in English", made.whole(r"\section{Related Work} " + "Wie Bäume kühlen. " * 9 + CITED), {}),
    ("cite", "cites 1 works, fewer than 5", related(r"\cite{oak}"), {}),
]  # fmt: skip


@pytest.mark.parametrize(("stage", "reason", "content", "told"), REFUSED)
def test_each_refusal_has_its_stage_and_reason(
    tmp_path: Path, stage: str, reason: str, content: bytes, told: dict[str, Any]
) -> None:
    key = told.get("key", ONE)
    place = made.folder(tmp_path / "papers", {key: content}, [made.entry(**{"key": ONE} | told)])
    before = sorted(tmp_path.rglob("*"))
    result = building.build(place, Rules(), lambda *_: None)
    (refused,) = result.refused
    assert (result.passed, refused.id, refused.stage.value) == ((), key, stage)
    assert reason in refused.reason
    assert (sorted(tmp_path.rglob("*")), min(result.left().values())) == (before, 0)


def test_a_bomb_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.exchange.eprints.assembling.MOST_BYTES", 50_000)
    assert "larger than" in built(tmp_path, compressed(b"\\a" * 50_000)).refused[0].reason


def test_files_that_multiply_are_refused(tmp_path: Path) -> None:
    files = {f"f{n}.tex": rf"\input{{f{n + 1}}}\input{{f{n + 1}}}" for n in range(30)}
    paper = made.packed({"main.tex": made.paper(r"\input{f0}"), "f30.tex": "word " * 100, **files})
    (refused,) = built(tmp_path, paper).refused
    assert (refused.stage.value, "longer than" in refused.reason) == ("assemble", True)


def test_rules_let_more_in(tmp_path: Path) -> None:
    loose, journals = (
        Rules(any_comment=True, any_version=True, least_references=1),
        Rules(journal_counts=True),
    )
    known = Rules(least_h=20, h_indices={"ann li": 21})
    assert built(tmp_path / "a", related(r"\cite{oak}"), loose, comment="").passed
    assert built(tmp_path / "b", made.whole(), journals, comment="", journal="J. Trees 3").passed
    assert built(tmp_path / "c", made.whole(), known).passed
    (refused,) = built(tmp_path / "d", made.whole(), known, authors=("Bo Mo",)).refused
    assert "h-index of 20" in refused.reason


def test_a_cross_listed_paper_is_one_candidate_in_its_latest_version(tmp_path: Path) -> None:
    place = made.folder(tmp_path / "papers", {ONE: made.whole()})
    later = made.feed([made.entry("2506.00001v2"), made.entry("math/0601001v1")])
    (place / "feeds" / "2.xml").write_bytes(later)
    result = building.build(place, Rules(), lambda *_: None)
    assert result.candidates == 2
    assert [(one.id, one.reason[:9]) for one in result.refused] == [
        ("2506.00001v2", "Version 2"),
        ("math/0601001v1", "Its e-pri"),
    ]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"<!DOCTYPE x [<!ENTITY a 'b'>]><feed/>", "has a doctype"),
        (b"<html></html>", "is not a feed"),
        (b"\xff\xfe", "is not a feed"),
        (made.feed([made.entry("x").replace("org/abs/x", "org/api/errors#1")]), "refused the query"),
    ],
)  # fmt: skip
def test_what_is_no_feed_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    place = made.folder(tmp_path / "papers", {})
    (place / "feeds" / "2.xml").write_bytes(content)
    expect_refusal(reason, building.build, place, Rules(), lambda *_: None)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
def test_the_public_sections_give_their_keys_back() -> None:
    table = read_table(SHARED / "papers_with_related_works.csv", ())
    distinct = set()
    for number, (_, paper) in enumerate(published.papers_of(table)):
        assert paper is not None
        text = made.paper(f"\\section{{Related Work}}\n{paper.section}\n")
        files = assembling.files_of(made.packed({"main.tex": text, "refs.bib": BIB}))
        section = latex.without_floats(building.related_work(assembling.assembled(files).text)[0])
        result = latex.cited_keys(section)
        assert result == latex.cited_keys(paper.section)
        if number % 4 == 0:
            assert latex.markdown(section, str) == latex.markdown(paper.section, str)
        if "\\iffalse" in paper.section:
            # One section switches a citation off, which the published list counts as set.
            result += latex.cited_keys(paper.section.replace("\\iffalse", "").replace("\\fi", ""))
        distinct |= {(paper.arxiv_id, key) for key in result}
    assert len(distinct) == 784


def test_a_file_that_was_changed_since_is_refused(tmp_path: Path) -> None:
    place = made.folder(tmp_path / "papers", {ONE: made.whole()})
    Collection.at(place).keep("http://x/e-print/" + ONE, 200, now(), f"eprints/{ONE}.tar.gz", made.whole())
    (place / "eprints" / f"{ONE}.tar.gz").write_bytes(made.whole(before="% changed"))
    (refused,) = building.build(place, Rules(), lambda *_: None).refused
    assert "its hash is another" in refused.reason


def test_no_file_is_written_by_a_name_in_a_tar(tmp_path: Path) -> None:
    built(tmp_path, made.packed({"main.tex": MAIN}, linked("main2.tex", tarfile.LNKTYPE, "../../x")))
    names = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert names == {"1.xml", f"{ONE}.tar.gz", "works.csv"}


FIRST, SECOND, LATER, GONE = "2506.00001v1", "2506.00002v1", "2506.00003v2", "2506.00004v1"
LISTED_PAPERS = [
    made.entry(FIRST), made.entry(SECOND), made.entry(LATER), made.entry(GONE, comment="withdrawn by its author"),
]  # fmt: skip
OAK = made.entry("2001.00001v3", title="Oaks in Towns", published="2020-01-02T00:00:00Z")


class Clock:
    """A clock that moves when somebody sleeps."""

    def __init__(self) -> None:
        self.at, self.slept = 100.0, list[float]()

    def now(self) -> float:
        return self.at

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.at += seconds


class Arxiv(dict[str, Any]):
    """What the server gives for any path; `odd` are replies that come first, by a word in the path."""

    def __init__(self, clock: Clock) -> None:
        super().__init__()
        self.clock, self.times, self.paths = clock, list[float](), list[str]()
        self.odd: dict[str, list[Given]] = {}
        self.eprints = {FIRST: made.whole(), SECOND: made.single(made.paper())}

    def get(self, path: str, default: Any = None) -> Any:
        self.times.append(self.clock.at)
        self.paths.append(path)
        waiting = next((result for word, result in self.odd.items() if word in path and result), None)
        return waiting.pop(0) if waiting else self._usual(path)

    def _usual(self, path: str) -> Given:
        parts = urlsplit(path)
        asked = {name: values[0] for name, values in parse_qs(parts.query).items()}
        if parts.path.startswith("/e-print/"):
            content = self.eprints.get(parts.path.rpartition("/")[2])
            return Given(content, content_type="application/x-eprint-tar") if content else Given(status=404)
        if "id_list" in asked:
            wanted = asked["id_list"].split(",")
            if "1901.00002" in wanted:
                return Given(
                    made.feed([made.entry("x").replace("org/abs/x", "org/api/errors#1")]), status=400
                )
            return Given(made.feed([OAK] if "2001.00001" in wanted else []))
        if asked["search_query"].startswith("ti:"):
            return Given(made.feed([]))
        start, most = int(asked["start"]), int(asked["max_results"])
        return Given(made.feed(LISTED_PAPERS[start : start + most], len(LISTED_PAPERS)))


@pytest.fixture
def server() -> Iterator[PageServer]:
    with serving() as running:
        running.pages = Arxiv(Clock())
        yield running


async def collected(server: PageServer, place: Path, *categories: str, titles: bool = False) -> Collected:
    clock = server.pages.clock  # type: ignore[attr-defined]
    hosts = ArxivHosts(server.url("/api/query"), server.url("/e-print"))
    query = CollectionQuery(categories or ("cs.CL",), date(2025, 6, 1), date(2025, 6, 30), titles)
    async with polite_fetcher(
        HostTurns(1, 3.0, clock.now, clock.sleep, together=True), allow_private=True
    ) as fetcher:
        collector = Collector(Collection.at(place), fetcher, lambda *_: None, hosts, page=2)
        return await collector.collect(query, Rules())


async def test_pages_eprints_and_works_come_three_seconds_apart(server: PageServer, tmp_path: Path) -> None:
    result = await collected(server, tmp_path / "papers", "cs.CL", "cs.IR", titles=True)
    asked = server.pages
    assert (result.candidates, result.fitting, result.eprints, result.missing) == (4, 2, 2, [])
    assert min(b - a for a, b in pairwise(asked.times)) >= 3.0
    listing = [parse_qs(urlsplit(path).query) for path in asked.paths[:4]]
    assert [one["start"] for one in listing] == [["0"], ["2"]] * 2
    assert listing[0]["search_query"] == ["cat:cs.CL AND submittedDate:[202506010000 TO 202506302359]"]
    # A paper of two categories, a later version and what was withdrawn cost no further request.
    eprints = [path for path in asked.paths if path.startswith("/e-print/")]
    assert eprints == [f"/e-print/{FIRST}", f"/e-print/{SECOND}"]
    assert any('ti:"Elms"' in unquote(path) for path in asked.paths)
    assert len(asked.paths) == len(set(asked.paths)) == result.asked
    files = {path.name for path in (tmp_path / "papers" / "eprints").iterdir()}
    assert files == {f"{FIRST}.tar.gz", f"{SECOND}.gz"}
    assert all("3 seconds" in header["User-Agent"] for header in server.headers)


async def test_what_was_collected_is_built_without_a_socket(
    server: PageServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    await collected(server, tmp_path / "papers")

    monkeypatch.setattr("socket.socket.connect", failing(AssertionError("a socket was opened")))
    result = building.build(tmp_path / "papers", Rules(), lambda *_: None)
    assert [(one.id, one.stage.value) for one in result.refused] == [(LATER, "filter"), (GONE, "filter")]
    oak = result.passed[0].cited[0]
    assert (oak.link, oak.abstract) == ("http://arxiv.org/abs/2001.00001", made.ABSTRACT)


async def test_a_second_time_asks_for_nothing_but_a_file_that_is_gone(
    server: PageServer, tmp_path: Path
) -> None:
    await collected(server, tmp_path / "papers", titles=True)
    many, manifest = len(server.asked), (tmp_path / "papers" / "manifest.json").read_bytes()
    again = await collected(server, tmp_path / "papers", titles=True)
    assert (len(server.asked), again.asked, again.eprints) == (many, 0, 2)
    assert (tmp_path / "papers" / "manifest.json").read_bytes() == manifest
    (tmp_path / "papers" / "eprints" / f"{FIRST}.tar.gz").unlink()
    again = await collected(server, tmp_path / "papers", titles=True)
    assert (again.asked, server.asked[-1]) == (1, f"/e-print/{FIRST}")


@pytest.mark.parametrize(
    ("status", "told", "rest"), [(503, "40", 40.0), (429, "7", 7.0), (503, "", 5.0), (503, "9" * 9, 600.0)]
)
async def test_a_busy_server_gets_the_rest_it_asks_for(
    server: PageServer, tmp_path: Path, status: int, told: str, rest: float
) -> None:
    server.pages.odd["start=0"] = [Given(status=status, headers={"Retry-After": told})]
    result = await collected(server, tmp_path / "papers")
    assert (result.candidates, result.missing) == (4, [])
    first, second = server.pages.times[:2]
    assert second - first == pytest.approx(rest)


async def test_what_never_comes_is_told_and_asked_for_the_next_time(
    server: PageServer, tmp_path: Path
) -> None:
    server.pages.odd[f"e-print/{FIRST}"] = [Given(status=503)] * 5
    assert (await collected(server, tmp_path / "papers")).missing == [f"the e-print of {FIRST}: status 503"]
    assert (await collected(server, tmp_path / "papers")).missing == []


async def test_an_empty_page_before_the_end_comes_again(server: PageServer, tmp_path: Path) -> None:
    server.pages.odd["start=2"] = [Given(made.feed([], 4))]
    assert (await collected(server, tmp_path / "papers")).candidates == 4
    server.pages.odd["start=2"] = [Given(made.feed([], 4))] * 5
    result = await collected(server, tmp_path / "other")
    assert (result.candidates, result.missing) == (2, ["the list of cs.CL from 2 on"])


async def test_a_missing_eprint_is_known_as_such(server: PageServer, tmp_path: Path) -> None:
    del server.pages.eprints[SECOND]
    result = await collected(server, tmp_path / "papers")
    assert (result.eprints, result.missing) == (1, [])
    refused = building.build(tmp_path / "papers", Rules(), lambda *_: None).refused
    assert {one.id: one.reason for one in refused}[SECOND] == "arXiv gave no e-print (404)."
    assert (await collected(server, tmp_path / "papers")).asked == 0


async def test_too_long_a_list_is_refused(server: PageServer, tmp_path: Path) -> None:
    server.pages.odd["start=0"] = [Given(made.feed(LISTED_PAPERS[:2], 30_001))]
    with pytest.raises(Refusal, match=r"30,001 papers of cs\.CL"):
        await collected(server, tmp_path / "papers")


async def test_the_list_of_requests_tells_time_hash_and_status(server: PageServer, tmp_path: Path) -> None:
    await collected(server, tmp_path / "papers")
    told = json.loads((tmp_path / "papers" / "manifest.json").read_text("utf-8"))["requests"]
    assert set(told) >= {server.url(f"/e-print/{FIRST}"), server.url(f"/e-print/{SECOND}")}
    assert all(one["status"] == 400 or (len(one["sha256"]) == 64 and one["at"]) for one in told.values())
    (tmp_path / "papers" / "manifest.json").write_text('{"requests": 3}', "utf-8")
    with pytest.raises(Refusal, match="not a list of requests"):
        await collected(server, tmp_path / "papers")
