"""The shared folder of a project on this computer: stored beside the project, never in it."""

from contextlib import suppress
from pathlib import Path

from annotator import files, places
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, sha256

MARK = "About this folder.txt"
ABOUT = """\
This folder belongs to Goldsmith: tasks go out through it and returned work comes in.
Nobody without the right key can read a .goldsmith-sealed file.
Do not keep a project (.goldsmith) in here: projects stay on each person's own computer.
"""


def folder_of(project: Project) -> Path | None:
    """The shared folder of a project; None if none was chosen on this computer."""
    try:
        chosen = _settings_file(project).read_text("utf-8")
    except (OSError, ValueError):
        return None
    return Path(chosen) if chosen else None


def keep(project: Project, folder: Path | None) -> None:
    """Store the shared folder of a project, or that it has none; raises Refusal if it cannot be stored."""
    place = _settings_file(project)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
    files.save(place, str(folder or "").encode())


def mark(folder: Path) -> None:
    """Mark a folder as shared, with a note for anyone who looks into it."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MARK).exists():
        files.save(folder / MARK, ABOUT.encode())


def is_shared(folder: Path) -> bool:
    """Whether a folder or its parent is marked as shared."""
    return any((each / MARK).is_file() for each in (folder, folder.parent))


def refuse_inside(path: Path, folder: Path) -> None:
    """Raise Refusal if a project lies, or would lie, in a shared folder."""
    if files.real(path).is_relative_to(files.real(folder)):
        raise Refusal(
            f"“{path.name}” would lie in the shared folder “{folder.name}”, where others and the program that "
            "syncs it reach it.",
            "Keep the project in a folder of your own, or choose another shared folder; nothing was changed.",
        )


def _settings_file(project: Project) -> Path:
    return places.user_config() / "shared" / f"{sha256(str(project.get('id')))[:32]}.txt"
