"""Projects: recent ones, creating one by dialog, and the sample."""

from contextlib import closing
from pathlib import Path

from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QFileDialog, QWidget

from annotator import files
from annotator.actions.project import unfinished
from annotator.actions.project.people import new_project
from annotator.gui.desk.errands import Tell
from annotator.places import user_data

RECENT, SAMPLE = 8, "sample.goldsmith"
FILES = "Goldsmith projects (*.goldsmith)"


def recent() -> list[Path]:
    """The projects opened last that are still there, newest first."""
    stored = QSettings().value("recent", [])
    names = [stored] if isinstance(stored, str) else stored if isinstance(stored, list) else []
    return [Path(name) for name in names if Path(name).is_file()]


def remember(path: Path) -> None:
    """Put a project at the head of the recent ones."""
    names = [str(path.resolve())] + [str(p) for p in recent() if not files.same(p, path)]
    QSettings().setValue("recent", names[:RECENT])


def create_by_dialog(parent: QWidget) -> Path | None:
    """Ask where a new project is to lie and make it; None when the person thinks better of it."""
    folder = user_data() / "projects"
    name, _ = QFileDialog.getSaveFileName(parent, "New project", str(folder / "project.goldsmith"), FILES)
    if not name:
        return None
    with closing(new_project(Path(name))) as made:
        return made.path


def finished_sample() -> Path | None:
    """Where the sample lies; None where it has to be made first."""
    path = user_data() / SAMPLE
    return path if _is_whole(path) else None


def sample(progress: Tell) -> Path:
    """The sample project, made when it is not there yet, or not whole."""
    path = user_data() / SAMPLE
    if not _is_whole(path):
        from annotator.actions.imports import samples

        if path.exists():
            samples.reset(path, progress)
        else:
            samples.create(path, progress).close()
    return path


def related_sample(progress: Tell) -> Path:
    """The sample of related-work sections, made when it is not there yet."""
    from annotator.actions.imports import samples

    return _small(samples.RELATED_WORK, progress)


def seminar_sample(progress: Tell) -> Path:
    """The sample of a seminar, made when it is not there yet."""
    from annotator.actions.imports import samples

    return _small(samples.SEMINAR, progress)


def _small(name: str, progress: Tell) -> Path:
    from annotator.actions.imports import samples

    path = user_data() / f"{name}.goldsmith"
    if not path.exists():
        samples.create_small(path, name, progress).close()
    return path


def _is_whole(path: Path) -> bool:
    return path.exists() and not unfinished.is_cut_short(path)
