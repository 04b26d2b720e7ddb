"""Which shared folder a project goes by on this computer: kept beside the project, never in it."""

from contextlib import suppress
from pathlib import Path

from annotator import files, places
from annotator.actions.project.file import Project
from annotator.domain.texts.canonical import sha256
from annotator.domain.texts.refusal import Refusal

MARK = "About this folder.txt"
ABOUT = """\
This folder belongs to Goldsmith: tasks go out through it and returned work comes in.
Nobody without the right key can read a .goldsmith-sealed file.
Do not keep a project (.goldsmith) in here: projects stay on each person's own computer.
"""


def folder_of(project: Project) -> Path | None:
    """The shared folder of a project; None where none was chosen on this computer."""
    try:
        chosen = _settings_file(project).read_text("utf-8")
    except (OSError, ValueError):
        return None
    return Path(chosen) if chosen else None


def keep(project: Project, folder: Path | None) -> None:
    """Go by this folder from now on, or by none; Refusal where this computer cannot keep it."""
    place = _settings_file(project)
    with suppress(OSError):
        place.parent.mkdir(parents=True, exist_ok=True)
    files.save(place, str(folder or "").encode())


def mark(folder: Path) -> None:
    """Make a folder a shared one, with a word for whoever looks into it."""
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / MARK).exists():
        files.save(folder / MARK, ABOUT.encode())


def is_shared(folder: Path) -> bool:
    """Whether a folder, or the one it is in, was made a shared one."""
    return any((each / MARK).is_file() for each in (folder, folder.parent))


def refuse_inside(path: Path, folder: Path) -> None:
    """Refusal where a project lies, or would lie, in a shared folder."""
    if files.real(path).is_relative_to(files.real(folder)):
        raise Refusal(
            f"“{path.name}” would lie in the shared folder “{folder.name}”, where others and the program that "
            "syncs it reach it.",
            "Keep the project in a folder of your own, or choose another shared folder; nothing was changed.",
        )


def _settings_file(project: Project) -> Path:
    return places.user_config() / "shared" / f"{sha256(str(project.get('id')))[:32]}.txt"
