"""DeepScholar-Bench's files found in folders, and sorted by what they hold."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.formats.deepscholar import system_folders, tables
from annotator.exchange.formats.layout import MAPPING

_NOTHING = Refusal(
    f"There are neither papers, citations, nuggets nor systems' reports there; {tables.PAPERS} is the first of them.",
    "Choose the folder that holds them, or the files themselves.",
)


@dataclass(slots=True)
class PublishedFiles:
    """The given files by their role."""

    papers: list[Path] = field(default_factory=list)
    citations: list[Path] = field(default_factory=list)
    important: list[Path] = field(default_factory=list)
    nuggets: list[Path] = field(default_factory=list)
    folders: list[Path] = field(default_factory=list)
    loose: list[Path] = field(default_factory=list)
    names: list[Path] = field(default_factory=list)

    @classmethod
    def among(cls, paths: Sequence[Path]) -> "PublishedFiles":
        found = cls()
        for path in paths:
            if path.is_dir():
                found._look_through(path)
            else:
                found._add(path)
        # Where both are there, the file with the most columns speaks for the papers and fixes their rows.
        named = {path.name: path for path in reversed(found.papers)}
        found.papers = [named[name] for name in tables.OF_PAPERS if name in named][:1]
        if not any(
            (found.papers, found.citations, found.important, found.nuggets, found.folders, found.loose)
        ):
            raise _NOTHING
        return found

    def _look_through(self, folder: Path) -> None:
        if system_folders.is_numbered(folder):
            self.folders.append(folder)
            return
        self.folders += system_folders.folders_in(folder)
        inside = set(self.folders)
        for path in sorted(folder.rglob("*")):
            if path.is_file() and not inside.intersection(path.parents):
                self._add(path, sought=False)

    def _add(self, path: Path, *, sought: bool = True) -> None:
        """Sort a file by its name; one that was not chosen itself is passed over where it is none of these."""
        if path.name in tables.OF_PAPERS:
            self.papers.append(path)
        elif path.name in (tables.CITATIONS, tables.RECOVERED):
            self.citations.append(path)
        elif path.name == tables.IMPORTANT:
            self.important.append(path)
        elif path.name == MAPPING:
            self.names.append(path)
        elif path.suffix == ".json" and (
            sought or path.stem.isdigit() or path.name == system_folders.NUGGETS
        ):
            self.nuggets.append(path)
        elif system_folders.is_loose(path):
            self.loose.append(path)
        elif sought:
            raise Refusal(f"“{path.name}” is no file of this layout.", "Choose the file as it was published.")
