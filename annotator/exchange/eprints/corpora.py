"""Collections of works to search without a network: a table, or a folder of collected papers."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.csv_tables import read_table
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.eprints.known_works import of_rows


@dataclass(frozen=True, slots=True)
class Corpus:
    """The works of a place, each once; `name` says which, with the beginning of the hash of what it holds."""

    name: str
    works: tuple[CatalogueWork, ...]


def read(path: Path) -> Corpus:
    """The works of a table, or of a folder with `works.csv`, replies of services or lists of arXiv.

    Refusal when it cannot be read, or holds no work.
    """
    found: dict[str, CatalogueWork] = {}
    for work in _works(path):
        found.setdefault(work.key, work)
    if not found:
        raise Refusal(
            f"“{path.name}” holds no works.",
            "Choose a table with identifier, title, abstract and published, or a folder that was collected.",
        )
    told = "\n".join(
        f"{work.key}\t{work.title}\t{work.abstract}\t{work.published}" for work in found.values()
    )
    # Where a report says how it came about, semicolons part what it says.
    return Corpus(f"{path.name.replace(';', ',')} {sha256(told)[:8]}", tuple(found.values()))


def _works(path: Path) -> Iterator[CatalogueWork]:
    if path.is_dir():
        yield from Collection.at(path).all_works()
    else:
        yield from of_rows(read_table(path, ("identifier", "title")).rows)
