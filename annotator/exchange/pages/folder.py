"""Cited pages from a folder: files listed in an index, or saved pages that name their own address."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

from annotator.domain.common import Refusal, required, sha256, storable
from annotator.domain.material.item import Page, PageState
from annotator.exchange.folders import read_json
from annotator.exchange.pages.fetching import LONGEST
from annotator.exchange.pages.reading import too_large
from annotator.exchange.pages.states import UnreadablePage, check_reading, is_address, normal
from annotator.exchange.pages.worker import ReadingProcess
from annotator.exchange.release.bundle import Problem
from annotator.exchange.table_files import read_table

INDEX_CSV, INDEX_JSON = "pages.csv", "pages.json"
MOST_FILES = 20_000
LARGEST = 32 * 2**20
# By file name extension; for any other, the content decides.
_TYPES = {
    ".html": "text/html",
    ".htm": "text/html",
    ".xhtml": "application/xhtml+xml",
    ".pdf": "application/pdf",
    ".txt": "text/plain",
    ".md": "text/markdown",
    ".json": "application/json",
    ".xml": "application/xml",
}
_SAVED = (".html", ".htm", ".xhtml")


@dataclass(frozen=True, slots=True)
class FolderEntry:
    """A file of the folder and its address; without an index, the page itself must name it.

    `place` is its origin for messages; `fetched_at` when it was saved, if the index says so.
    """

    place: str
    path: Path
    url: str = ""
    title: str = ""
    fetched_at: datetime | None = None


class _Bad(Exception):
    """The reason why an entry cannot be imported, as a sentence."""


def entries(folder: Path) -> tuple[list[FolderEntry], list[Problem]]:
    """The entries of a folder, by its index `pages.csv` or `pages.json`, or else its saved pages.

    Refusal if it is no folder, cannot be read, or its index is invalid.
    """
    if not folder.is_dir():
        raise Refusal(f"“{folder.name}” is not a folder.", "Choose the folder in which the pages lie.")
    indexes = [name for name in (INDEX_CSV, INDEX_JSON) if (folder / name).is_file()]
    if len(indexes) > 1:
        raise Refusal(f"“{folder.name}” has two indexes, {' and '.join(indexes)}.", "Keep one of them.")
    if not indexes:
        return _saved(folder), []
    (index,) = indexes
    if index == INDEX_JSON and isinstance(tree := read_json(folder / index), dict):
        pairs = enumerate(tree.items(), start=1)
        return _indexed(
            folder, [(f"{index}, entry {at}", {"url": url, "file": file}) for at, (url, file) in pairs]
        )
    table = read_table(folder / index, ("url", "file"))
    return _indexed(folder, [(f"{index}, {table.place(at)}", row) for at, row in enumerate(table.rows)])


async def page_of(entry: FolderEntry, worker: ReadingProcess) -> Page | Problem:
    """The page that a file holds, in its state; a problem if its address is unknown."""
    state, cause = PageState.OK, ""
    content_type = _TYPES.get(entry.path.suffix.lower(), "")
    try:
        content, saved_at = _content(entry.path)
    except OSError as error:
        return Problem(entry.place, None, f"it cannot be read ({error.strerror}).")
    result = await worker.read(content[:LARGEST], content_type)
    url = normal(entry.url or result.canonical)
    if not is_address(url):
        return Problem(
            entry.place, None, "it does not say which address it was saved from; name it in pages.csv."
        )
    if len(url) > LONGEST:
        return Problem(entry.place, None, f"its address is longer than {LONGEST:,} characters.")
    text = result.text
    try:
        if len(content) > LARGEST:
            raise too_large(LARGEST)
        check_reading(result, by_a_person=True)
    except UnreadablePage as why:
        state, cause, text = why.state, why.cause, ""
    return Page(
        url=storable(url),
        state=state,
        text=text,
        title=entry.title or result.title,
        content_type=content_type,
        cause=cause,
        fetched_at=entry.fetched_at or saved_at,
        sha256=sha256(text),
    )


def _content(path: Path) -> tuple[bytes, datetime]:
    with path.open("rb") as file:
        return file.read(LARGEST + 1), datetime.fromtimestamp(path.stat().st_mtime, UTC)


def _saved(folder: Path) -> list[FolderEntry]:
    result = required(
        sorted(path for path in folder.rglob("*") if path.suffix.lower() in _SAVED and _inside(folder, path)),
        f"“{folder.name}” holds neither {INDEX_CSV} nor {INDEX_JSON}, and no saved pages (.html).",
        "Put an index with the columns url and file into it.",
    )
    _check_number(folder, len(result))
    return [FolderEntry(path.relative_to(folder).as_posix(), path) for path in result]


def _indexed(
    folder: Path, rows: list[tuple[str, Mapping[str, Any]]]
) -> tuple[list[FolderEntry], list[Problem]]:
    _check_number(folder, len(rows))
    result: dict[str, FolderEntry] = {}
    problems = []
    for place, row in rows:
        try:
            entry = _entry(folder, place, row)
            if normal(entry.url) in result:
                raise _Bad(f"{entry.url} stands there already.")
            result[normal(entry.url)] = entry
        except _Bad as bad:
            problems.append(Problem(place, None, str(bad)))
    return list(result.values()), problems


def _entry(folder: Path, place: str, row: Mapping[str, Any]) -> FolderEntry:
    values = {
        name: storable(str(row.get(name) or "")).strip() for name in ("url", "file", "title", "fetched_at")
    }
    if not values["url"] or not values["file"]:
        raise _Bad("the address or the name of the file is missing.")
    if not is_address(values["url"]):
        raise _Bad(f"“{values['url'][:200]}” is no address.")
    if len(values["url"]) > LONGEST:
        raise _Bad(f"the address is longer than {LONGEST:,} characters.")
    name = PurePosixPath(values["file"].replace("\\", "/"))
    path = folder / name
    if name.is_absolute() or ":" in values["file"] or not _inside(folder, path):
        raise _Bad(f"“{name}” is no file in this folder.")
    return FolderEntry(place, path, values["url"], values["title"][:1000], _moment(values["fetched_at"]))


def _inside(folder: Path, path: Path) -> bool:
    """Whether it is an ordinary file inside the folder, after following links."""
    try:
        whole = path.resolve()
        return whole.is_file() and whole.is_relative_to(folder.resolve())
    except (OSError, ValueError, RuntimeError):
        return False


def _moment(text: str) -> datetime | None:
    if not text:
        return None
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise _Bad(f"“{text}” is no moment like 2026-01-31 or 2026-01-31T12:00:00Z.") from None
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)


def _check_number(folder: Path, number: int) -> None:
    if number > MOST_FILES:
        raise Refusal(f"“{folder.name}” holds more than {MOST_FILES:,} pages.", "Import it in parts.")
