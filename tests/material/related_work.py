"""Papers as DeepScholar has them: a made benchmark in its layout, and a folder as it is collected from arXiv."""

import csv
import gzip
import io
import json
import tarfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

SHARED = Path(__file__).parents[2] / "../shared/data/deepscholar"
FIRST, SECOND = "2506.00001v1", "2506.00002v1"
ABSTRACTS = {FIRST: "Trees cool\nstreets in summer.", SECOND: "Quakes are found early."}
PAPERS = [
    {
        "arxiv_id": FIRST,
        "title": "On trees\nin towns",
        "abstract": ABSTRACTS[FIRST],
        "categories": "cs.AI, econ.GN",
        "published_date": "2025-06-03T13:06:19+00:00",
        "clean_latex_related_works": "Shade matters \\cite{oak}. Others \\citep{elm,ash}. % \\cite{birch}\n",
    },
    {
        "arxiv_id": SECOND,
        "title": "Early warning",
        "abstract": ABSTRACTS[SECOND],
        "categories": "physics.geo-ph",
        "published_date": "2025-06-04T00:00:00+00:00",
        "clean_latex_related_works": "Waves \\citet{wave} travel.",
    },
]


def cited(paper: str, key: str, title: str, **more: Any) -> dict[str, Any]:
    return {"parent_paper_arxiv_id": paper, "citation_shorthand": key, "cited_paper_title": title, **more}


CITATIONS = [
    cited(FIRST, "oak", "Oaks", cited_paper_arxiv_link="http://arxiv.org/abs/2001.00001v2",
          cited_paper_abstract="About oaks.", bib_paper_authors="Li, A; Mo, B", bib_paper_year="2020.0",
          bib_paper_doi="10.1000/oak", bib_paper_url="https://oak.example.org/a"),
    cited(FIRST, "elm", "Elms\nand ash", bib_paper_doi="10.1000/elm", bib_paper_year="nan",
          bib_paper_url="https://doi.org/10.1000/elm"),
    cited(FIRST, "ash", "", bib_paper_url="https://ash.example.org/a"),
    cited(SECOND, "wave", "Waves", cited_paper_arxiv_link="http://arxiv.org/abs/2001.00001v1",
          cited_paper_abstract="About oaks, again."),
]  # fmt: skip
NUGGETS = [
    {"text": "Shade cools", "importance": "vital", "assignment": "support"},
    {"text": "Elms grow", "importance": "okay", "assignment": "partial_support"},
    {"text": "Water matters", "importance": "vital", "assignment": "not_support"},
]


def table(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(dict.fromkeys(name for row in rows for name in row)))
        writer.writeheader()
        writer.writerows(rows)


def tree(path: Path, content: Any) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def text(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def write(folder: Path) -> Path:
    """The whole benchmark in a folder: each system's layout once, all on the first paper."""
    table(folder / "papers_with_related_works.csv", PAPERS)
    table(folder / "citations.csv", CITATIONS)
    nuggets = {"qid": FIRST, "query": "Write.", "nuggets": NUGGETS}
    # Folders of nuggets nest and their numbers mean nothing.
    tree(folder / "gt_nuggets_outputs" / "14" / "20" / "res.json", nuggets)
    base = folder / "systems" / "base" / "0"
    text(base / "intro.md", "Shade \\[[Oak](http://arxiv.org/abs/2001.00001v2)\\].")
    table(base / "paper.csv", [{"id": "2001.00001v2", "title": "Oaks", "url": "http://arxiv.org/abs/2001.00001v2",
                                "snippet": "About oaks."}])  # fmt: skip
    tree(base / "helper_data.json", {"query": f"Your task … {ABSTRACTS[FIRST]}"})
    text(base / "execution_time.csv", "a, sem_topk, 365.2, {}\na, base_pipeline, 484.5, {'x': 1}\n")
    same = {"total_tokens": 9, "total_cost": 0.5}
    tree(base / "usage.json", {"lotus": same, "helper": dict(same)})
    text(base / "config.json", json.dumps({"api_key": "a-secret-of-somebody"}))
    storm = folder / "systems" / "storm" / "0" / "2025-06-10_Your_task"
    text(storm / "storm_gen_article.md", "Trees [1].\n\n[1] Oaks")
    tree(storm / "url_to_info.json", {"url_to_unified_index": {"http://arxiv.org/abs/2001.00001v1": 1},
                                      "url_to_info": {}})  # fmt: skip
    tree(
        storm / "usage.json",
        {
            "time": {"plan": 1.5, "write": 2.0},
            "lm_cost": {one: {"llama": {"total_tokens": 5, "cost": 0}} for one in "abc"},
        },
    )
    search = folder / "systems" / "search" / "0"
    text(search / "Your task is.md", "Oaks [1].\n\nReferences\n[1] Oaks http://arxiv.org/abs/2001.00001v2")
    context = {"title": "Oaks", "url": "http://arxiv.org/abs/2001.00001v2", "text": "About oaks."}
    tree(search / "Your task is.json", {"query": ABSTRACTS[FIRST], "latency": 4.5, "ctxs": [context],
                                        "usage": {"total_tokens": 11, "total_cost_usd_dollar": 0.25}})  # fmt: skip
    scholar = folder / "systems" / "scholar" / "0"
    tree(scholar / "On trees.json", {"abstract": ABSTRACTS[FIRST], "output": "Elms [0, 1].", "ranked_results": {},
                                     "cost": {"physical tokens": 7, "physical cost": 0.0},
                                     "ctxs": [{"id": "13141470", "title": "", "text": "elms"},
                                              {**context, "text": "oak trees"}, context]})  # fmt: skip
    research = folder / "systems" / "research" / "0"
    tree(research / "1_Trees.json", {"abstract": ABSTRACTS[FIRST], "output": "Cut off [3", "latency": "46.5",
                                     "token_count": "8785", "ctxs": [context]})  # fmt: skip
    return folder


ABSTRACT = (
    "We study how trees cool the streets of towns in summer, and what this means for those who live there."
)
# Long enough to be a section, and with enough works.
WORDS = "This line of work asks how the shade of trees cools a street in the summer, and for whom it does so."
CITED = r"\cite{oak,elm} and \citep[see][p.~2]{ash}, \citet{fir}; \cite{yew}."
SECTION = rf"\section{{Related Work}} {WORDS} {CITED}"
KEYS = ("oak", "elm", "ash", "fir", "yew")
BIB = """
@article{oak, title={Oaks in {Towns}}, author={Li, Ann and Mo, Bo}, year={2020},
  journal={arXiv preprint arXiv:2001.00001}}
@inproceedings{elm, title={Elms}, author={Ro, Cy}, year=2021, doi={10.1000/elm}}
@misc{ASH, title={Ash trees}, author={Su, Di}, year={2019}, eprint={1901.00002}, archivePrefix={arXiv}}
@misc{fir, title={Firs of the far north}, author={Ta, Ed}, year={2018}}
"""


def compressed(content: bytes) -> bytes:
    """The same bytes at any time: they are part of what tests are called."""
    return gzip.compress(content, mtime=0)


def paper(section: str = SECTION, after: str = r"\section{Method} Ours.", before: str = "") -> str:
    return (
        f"\\documentclass{{article}}\n{before}\n\\begin{{document}}\n\\section{{Introduction}} We begin.\n"
        f"{section}\n{after}\n\\bibliography{{refs}}\n\\end{{document}}\n"
    )


def packed(files: Mapping[str, str | bytes], *more: tarfile.TarInfo) -> bytes:
    held = io.BytesIO()
    with tarfile.open(fileobj=held, mode="w:gz") as archive:
        for name, content in files.items():
            raw = content.encode() if isinstance(content, str) else content
            member = tarfile.TarInfo(name)
            member.size = len(raw)
            archive.addfile(member, io.BytesIO(raw))
        for one in more:
            archive.addfile(one)
    return held.getvalue()


def whole(section: str = SECTION, **more: str) -> bytes:
    return packed({"main.tex": paper(section, **more), "refs.bib": BIB})


def single(text: str) -> bytes:
    return compressed(text.encode())


def entry(key: str, **told: Any) -> str:
    """A paper in a feed; the id has its version."""
    given = {
        "title": f"On trees {key}", "summary": ABSTRACT, "published": "2025-06-03T13:06:19Z",
        "comment": "Accepted to Trees 2025",
        "category": "cs.CL", "authors": ("Ann Li",), **told,
    }  # fmt: skip
    names = "".join(f"<author><name>{escape(name)}</name></author>" for name in given["authors"])
    comment = f"<arxiv:comment>{escape(given['comment'])}</arxiv:comment>" if given["comment"] else ""
    journal = (
        f"<arxiv:journal_ref>{escape(given['journal'])}</arxiv:journal_ref>" if "journal" in given else ""
    )
    return (
        f"<entry><id>http://arxiv.org/abs/{key}</id><published>{given['published']}</published>"
        f"<title>{escape(given['title'])}</title><summary>{escape(given['summary'])}</summary>{names}{comment}{journal}"
        f'<arxiv:primary_category term="{given["category"]}"/></entry>'
    )


def feed(entries: Iterable[str], total: int | None = None) -> bytes:
    entries = list(entries)
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom" '
        'xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/" xmlns:arxiv="http://arxiv.org/schemas/atom">'
        f"<opensearch:totalResults>{len(entries) if total is None else total}</opensearch:totalResults>"
        f"{''.join(entries)}</feed>"
    ).encode()


def folder(place: Path, eprints: Mapping[str, bytes], entries: Iterable[str] | None = None) -> Path:
    (place / "feeds").mkdir(parents=True)
    (place / "eprints").mkdir()
    told = [entry(key) for key in eprints] if entries is None else entries
    (place / "feeds" / "1.xml").write_bytes(feed(told))
    for key, content in eprints.items():
        (place / "eprints" / f"{key.replace('/', '_')}.tar.gz").write_bytes(content)
    return place


def works(place: Path) -> None:
    """A table of works: two of those that the sections cite, one under its title, and one that came too late."""
    (place / "works.csv").write_text(
        "identifier,title,abstract,published,authors\n"
        'arxiv:2001.00001,Oaks in towns,About oaks.,2020-01-02,"Ann Li, Bo Mo"\n'
        "arxiv:1801.00003,Firs of the far and cold north,About firs.,2018-01-05,Ed Ta\n"
        "arxiv:2601.00009,Elms,About elms.,2026-01-09,Cy Ro\n",
        encoding="utf-8",
    )
