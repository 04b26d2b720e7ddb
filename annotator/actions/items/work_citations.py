"""How often the works have been cited that reports and the gold evidence name, from a file."""

from dataclasses import dataclass
from datetime import date
from pathlib import Path

from sqlalchemy import select, update

from annotator.actions.items.materials import PAGE
from annotator.actions.project.file import Project
from annotator.actions.project.recording import record
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.identifier import work_named
from annotator.domain.texts.identity import new_id
from annotator.exchange.csv_tables import read_table

COLUMNS = ("identifier", "cited_by_count", "counted_on")


@dataclass(frozen=True, slots=True)
class CitationsTaken:
    """How many works got their citations, how many rows name none of this project's, and what is wrong with others."""

    taken: int
    elsewhere: int
    problems: tuple[str, ...]

    def words(self) -> list[str]:
        """The same in sentences."""
        said = [f"Citations of {counted(self.taken, 'work')} are in."]
        said += [f"{counted(self.elsewhere, 'row')} left out: not a work of this project."] * bool(
            self.elsewhere
        )
        return [*said, *self.problems]


def take_in(project: Project, path: Path) -> CitationsTaken:
    """Take in citations by arXiv id or DOI, the newest count of each work; Refusal where the file is no such table."""
    found: dict[str, tuple[int, date]] = {}
    problems = []
    for place, row in enumerate(read_table(path, COLUMNS).rows, 2):
        try:
            named = str(work_named(row["identifier"]) or row["identifier"])
            told = int(float(row["cited_by_count"])), date.fromisoformat(row["counted_on"])
            if told[0] < 0:
                raise ValueError
        except ValueError:
            problems.append(f"Line {place} has no number of citations with its day; it is left out.")
            continue
        found[named] = max(found.get(named, told), told, key=lambda one: one[1])
    with project.store.write() as db:
        here = set(db.execute(select(PAGE.c.url)).scalars())
        taken = {url: told for url, told in found.items() if url in here}
        for url, (citations, on) in taken.items():
            db.execute(update(PAGE).where(PAGE.c.url == url).values(citations=citations, citations_on=on))
        if taken:
            image = {"file": path.name, "works": len(taken)}
            record(project, db, Change("page", new_id(), "citations", after=image))
    return CitationsTaken(len(taken), len(found) - len(taken), tuple(problems))
