"""Collections of works to search without a network: a table of titles, abstracts and dates."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.csv_tables import read_table

TABLE = "works.csv"
WANTED = ("identifier", "title")


@dataclass(frozen=True, slots=True)
class Corpus:
    """The works of a file, each once; `name` says which file, with the beginning of the hash of what it holds."""

    name: str
    works: tuple[CatalogueWork, ...]


def read(path: Path) -> Corpus:
    """The works of a file, or of `works.csv` in a folder, with abstract, day (published or date) and authors.

    Refusal when it cannot be read, or holds no work.
    """
    file = path / TABLE if path.is_dir() else path
    found: dict[str, CatalogueWork] = {}
    for row in read_table(file, WANTED).rows:
        work = _work(row)
        if work.title or work.identifier:
            found.setdefault(work.key, work)
    if not found:
        raise Refusal(
            f"“{file.name}” holds no works.", "Choose a table with identifier, title, abstract and published."
        )
    told = "\n".join(
        f"{work.key}\t{work.title}\t{work.abstract}\t{work.published}" for work in found.values()
    )
    # Where a report says how it came about, semicolons part what it says.
    return Corpus(f"{file.name.replace(';', ',')} {sha256(told)[:8]}", tuple(found.values()))


def _work(row: Mapping[str, str]) -> CatalogueWork:
    title, authors = (" ".join(row.get(name, "").split()) for name in ("title", "authors"))
    published = (row.get("published") or row.get("date") or row.get("year", "")).removesuffix(".0")
    return CatalogueWork(row.get("identifier", ""), title, row.get("abstract", ""), published[:10], authors)
