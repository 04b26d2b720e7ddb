"""A made folder of papers as they are collected from arXiv: feeds, e-prints in every packing, and works."""

import gzip
import io
import tarfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

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
    """An e-print of several files, and members of other kinds."""
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
    """A folder with one feed, and e-prints by id with version."""
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
