"""Backups: making one, inspecting one, restoring one."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from sqlalchemy import func, select

from annotator import files
from annotator.actions.project.file import Project
from annotator.domain.common import Refusal, now
from annotator.storage import backup as copies, opening
from annotator.storage.tables import AUDIT, META, metadata

EVERY = timedelta(minutes=30)


@dataclass(frozen=True, slots=True)
class BackupSummary:
    """The content of a backup, shown before it is restored. `last_change` is None for an unchanged project."""

    title: str
    items: int
    artifacts: int
    judgements: int
    last_change: datetime | None
    why: str
    problem: str


def make(project: Project, why: str) -> Path:
    """A verified backup of the project as it stands, with the reason it was made; older ones are thinned out.

    Raises Refusal if it cannot be written; the project and its earlier backups are then unchanged.
    """
    folder, stem = copies.folder_of(project.path), project.path.stem
    path = copies.backup(project.store, folder, stem, why)
    copies.prune(folder, stem, now())
    return path


def save_copy(project: Project, path: Path) -> Path:
    """Copy the open project to another path, even if its own file was moved away meanwhile."""
    exists = Refusal(f"“{path.name}” already exists.", "Choose another name; nothing was changed.")
    if path.exists():
        raise exists
    try:
        copies.copy_project(project.store, path, new=True)
    except FileExistsError:
        raise exists from None
    except (OSError, copies.NotCopied) as error:
        raise Refusal(f"The copy could not be written: {error}.", "Choose another folder or disk.") from error
    return path


def due(project: Project) -> bool:
    """Whether the oldest change that no backup holds is half an hour old.

    “Not held” goes by a change's number, not the clock; a clock set back makes a backup due at once.
    """
    first = select(AUDIT.c.at).where(AUDIT.c.seq > _newest_seq(project)).order_by(AUDIT.c.seq).limit(1)
    changed_at = project.query(first).scalar()
    if changed_at is None:
        return False
    age = now() - changed_at
    return bool(age >= EVERY or age < timedelta(0))


def _newest_seq(project: Project) -> int:
    """The number of the last change in the newest readable backup; 0 if there is none."""
    for file in listing(project.path):
        # A copy with altered rows counts as well: otherwise another one would be made every minute.
        with suppress(opening.UnreadableProject), opening.glance(file.path) as db:
            return db.execute(select(func.max(AUDIT.c.seq))).scalar() or 0
    return 0


def listing(path_of_project: Path) -> list[copies.BackupFile]:
    """The backups of a project, newest first, even if the project itself is damaged or gone."""
    path = files.real(path_of_project)
    return copies.backups(copies.folder_of(path), path.stem)


def peek(backup: Path) -> BackupSummary:
    """A summary of a backup, read without changing a byte of it; raises Refusal if it cannot be read."""
    opening.recognise(backup, thorough=False)
    label = copies.label_of(backup)
    try:
        with opening.glance(backup) as db:
            title = db.execute(select(META.c.value).where(META.c.key == "title")).scalar()
            last = db.execute(select(AUDIT.c.at).order_by(AUDIT.c.seq.desc()).limit(1)).scalar()
            items, artifacts, judgements = (
                db.execute(select(func.count()).select_from(metadata.tables[name])).scalar_one()
                for name in ("item", "artifact", "judgement")
            )
            return BackupSummary(
                title=str(json.loads(title)) if title else backup.stem,
                items=items,
                artifacts=artifacts,
                judgements=judgements,
                last_change=last,
                why=label.get("why", ""),
                problem=label.get("problem", ""),
            )
    except opening.UnreadableProject as error:
        raise error.refusal() from None
    except ValueError as error:
        raise opening.Damaged(f"“{backup.name}” is damaged ({error}).", "Choose another backup.") from None


def restore(path_of_project: Path, backup: Path) -> Path:
    """Put a copy of a backup in the project's place; return the path to which the present file was set aside.

    The project must be closed. Raises Refusal, moving nothing, if the backup is incomplete or the project in use. The
    returned path does not exist if there was no file to set aside.
    """
    problem = copies.verify(backup)
    if problem:
        raise opening.Damaged(f"This backup is incomplete:  {problem}", "Choose another backup.")
    with replaced(path_of_project) as (fresh, aside):
        copies.copy_project(backup, fresh)
    return aside


@contextmanager
def replaced(path: Path) -> Iterator[tuple[Path, Path]]:
    """Paths for a new project to replace the one at `path`, and for the present file once set aside.

    Raises Refusal if the project is in use; nothing is moved unless the new file is complete.
    """
    path = files.real(path)
    _refuse_in_use(path)
    moment = files.stamp(datetime.now(UTC))
    aside = files.free_name(path.with_name(f"{path.stem}.set-aside-{moment}{path.suffix}"))
    try:
        with files.whole(path) as fresh:
            yield fresh, aside
            _set_aside(path, aside)
    except (OSError, copies.NotCopied) as error:
        raise Refusal(
            f"“{path.name}” could not be replaced: {getattr(error, 'strerror', None) or error}.",
            f"Your files are still there; look for “{path.name}” and “{aside.name}”.",
        ) from error
    finally:
        # Only if putting back failed: a live project with two names would get two journals.
        if aside.exists() and path.exists() and aside.samefile(path):
            with suppress(OSError):
                aside.unlink()


def _refuse_in_use(path: Path) -> None:
    from annotator.storage.store import ProjectHold

    if not path.exists():
        return
    ProjectHold.take(path).release()
    try:
        # Also rolls back what a crash cut short, so that no journal is left that belongs to the file set aside.
        opening.recognise(path)
    except opening.Busy:
        raise
    except Refusal:
        # A broken file is what restoring is for.
        return


def _set_aside(path: Path, aside: Path) -> None:
    if path.exists():
        try:
            # A hard link, so that there is a project at its path at every moment.
            os.link(path, aside)
        except OSError:
            files.move(path, aside)
    left = files.journal(path)
    if left.exists() and left.stat().st_size > 0:
        # Beside the restored file SQLite would take the journal for its own and play it back.
        files.move(left, files.journal(aside))
