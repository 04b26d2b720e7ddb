"""The open project: its file, the person working in it, and the record of every change to it."""

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from sqlalchemy import delete, insert, select
from sqlalchemy.engine import Connection

from annotator import __version__, files
from annotator.actions.project.unfinished import is_sample
from annotator.domain.experts.person import Person
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change, new_id, now
from annotator.domain.texts.refusal import Refusal
from annotator.storage import upserts
from annotator.storage.glancing import UnreadableProject, glance
from annotator.storage.location import warning_about
from annotator.storage.opening import (
    RESTORE,
    SCHEMA,
    UNHARMED,
    Damaged,
    Unwritable,
    file_at,
    is_known,
    recognise,
    remember,
)
from annotator.storage.store import Store
from annotator.storage.tables import AUDIT, META, PERSON

if TYPE_CHECKING:
    from annotator.storage.holding import ProjectHold


__all__ = ["Project", "Unwritable", "record", "row_hash"]
_ADD = insert(AUDIT)
# Settings of an annotator's project, one for each version of the program that changed it.
CHANGED_WITH = "changed with "
SUFFIX = ".goldsmith"
# The setting that a project made from a task has, and no other.
ORIGIN = "task"
# The files whose contents this process has checked or made, once for each time that one is open.
_checked: list[Path] = []


class Project:
    """An open project: the first argument of every action and query."""

    def __init__(self, store: Store, copied: TemporaryDirectory[str] | None = None) -> None:
        self.store = store
        self._copied = copied
        self._hold: ProjectHold | None = None
        self._settings: dict[str, Any] = {}
        self.reread()
        store.taken_back = self.reread
        self.person: Person | None = self._last_person()
        self._file = file_at(self.path)
        _checked.append(self.path)

    @classmethod
    def create(
        cls,
        path: Path,
        title: str = "",
        *,
        fill: Callable[["Project"], object] | None = None,
    ) -> "Project":
        """A new project with what `fill` puts into it; without, an empty one that nobody works in yet.

        It gets its name once it is whole. Refusal when it cannot be made, or when something lies there.
        """
        from annotator.storage import migrating

        path = path if path.suffix in (SUFFIX, files.UNFINISHED) else path.with_name(path.name + SUFFIX)
        path = files.real(path)
        with migrating.created(path) as unfinished, closing(cls(Store(unfinished))) as project:
            with project.store.write():
                project.set("id", new_id())
                project.set("title", title or path.stem)
                project.set("made_with", __version__)
            if fill is not None:
                fill(project)
        return cls(Store(path))

    @classmethod
    def open(
        cls,
        path: Path,
        *,
        readonly: bool | Refusal = False,
        busy_seconds: float = 30.0,
        unchecked: bool = False,
    ) -> "Project":
        """An existing project, brought up to date on the way when it is older; Refusal when it cannot be had.

        One that may not be written is opened to read, an older one as a copy. `readonly` may be why it is to be so. A
        file that this machine's program did not leave as it is, is checked first: Damaged names the row and field that
        cannot be read, and with `unchecked` it is opened all the same, to look for all of them.
        """
        path, copied = files.real(path), None
        # The pages of a file that this process has open were looked over when it was opened.
        if recognise(path, thorough=path not in _checked) < SCHEMA:
            path, copied, readonly = _brought_up_to_date(path, readonly)
        if not unchecked and path not in _checked and not is_known(path):
            # Most projects are known, and what reads every kind of document takes a while to load.
            from annotator.actions.project.document_checks import check_contents

            check_contents(path)
        store = Store(path, readonly=readonly, busy_seconds=busy_seconds)
        try:
            project = cls(store, copied)
            if unchecked:
                _checked.remove(path)
            return project
        except ValueError as error:
            store.close()
            raise Damaged(f"“{path.name}” is damaged ({error}). {UNHARMED}", RESTORE) from error
        except Refusal:
            store.close()
            raise

    @staticmethod
    def warning_about(path: Path) -> str:
        """Why a project should not lie at `path` (a network disk, a folder that syncs itself); empty when it may."""
        return warning_about(path)

    def hold(self) -> None:
        """Keep other windows from working in this file until it is closed; Busy names who holds it already."""
        if self._hold is None and not self.readonly:
            from annotator.storage.holding import ProjectHold

            self._hold = ProjectHold.take(self.path)

    @property
    def path(self) -> Path:
        return self.store.path

    @property
    def readonly(self) -> bool:
        """Whether nothing may be changed."""
        return self.store.readonly

    @property
    def why_readonly(self) -> Refusal | None:
        """Why nothing may be changed; None when it may."""
        return self.store.why_readonly

    @property
    def title(self) -> str:
        return str(self.get("title", self.path.stem))

    @property
    def from_task(self) -> bool:
        """Whether this is an annotator's project, made from a task that came by file."""
        return bool(self.get(ORIGIN))

    @property
    def is_sample(self) -> bool:
        """Whether this is the sample project."""
        return is_sample(self._settings)

    @property
    def by(self) -> str:
        """The id of the person working, or an empty text for the program itself."""
        return self.person.id if self.person else ""

    def get(self, key: str, default: Any = None) -> Any:
        return self._settings.get(key, default)

    def reread(self) -> None:
        """Take the settings from the file, where another connection may have written them."""
        with self.store.read() as db:
            rows = db.execute(select(META.c.key, META.c.value)).all()
        self._settings = {key: json.loads(value) for key, value in rows}

    def set(self, key: str, value: Any) -> None:
        with self.store.write() as db:
            db.execute(delete(META).where(META.c.key == key))
            db.execute(insert(META), {"key": key, "value": json.dumps(value, ensure_ascii=False)})
        self._settings[key] = value

    def work_as(self, person: Person) -> None:
        """From now on changes are this person's; remembered for the next start unless the file is read-only."""
        self.person = person
        if not self.readonly and self.get("person") != person.id:
            self.set("person", person.id)

    def _last_person(self) -> Person | None:
        wanted = self.get("person")
        if not wanted:
            return None
        with self.store.read() as db:
            row = db.execute(select(PERSON).where(PERSON.c.id == wanted)).mappings().first()
        return Person(**row) if row else None

    def remember(self) -> None:
        """Note that the file is this program's own as it lies there now: a child need not check it again."""
        if self._copied is None and self.path.suffix == SUFFIX:
            remember(self.path, self._file)

    def close(self) -> None:
        """Give the file back."""
        if not self.store.closed:
            self.store.close()
            if self.path in _checked:
                _checked.remove(self.path)
                if self.path not in _checked:
                    self.remember()
        if self._hold is not None:
            self._hold.release()
        if self._copied is not None:
            self._copied.cleanup()


def settings_of(path: Path) -> dict[str, Any]:
    """What a project says of itself, read without opening it; empty for one that cannot be read."""
    try:
        recognise(path, thorough=False)
        with glance(path) as db:
            return {key: json.loads(value) for key, value in db.execute(select(META.c.key, META.c.value))}
    except (Refusal, UnreadableProject, ValueError):
        return {}


def _brought_up_to_date(
    path: Path, readonly: bool | Refusal
) -> tuple[Path, "TemporaryDirectory[str] | None", bool | Refusal]:
    from annotator.storage import migrating

    if not readonly:
        try:
            migrating.bring_up_to_date(path)
        except Unwritable as refusal:
            readonly = refusal
        else:
            return path, None, False
    folder = TemporaryDirectory(prefix="goldsmith-", ignore_cleanup_errors=True)
    copy = Path(folder.name) / path.name
    migrating.copy_up_to_date(path, copy)
    why = f"{readonly.happened} " if isinstance(readonly, Refusal) else ""
    older = f"“{path.name}” has an older format: you see a read-only copy in the current format."
    where = "where it may be written" if why else "in the window, or change it by any command,"
    return copy, folder, Refusal(why + older, f"Open it {where} to bring it up to date.")


def restore(project: Project, _db: Connection, name: str, present: Any, goal: Any) -> None:
    """Give a setting its other value, unless someone has chosen a third one since."""
    if project.get(name, present) != present:
        raise Refusal("That setting was changed since.", "Set it again if needed.")
    project.set(name, goal)


def record(project: Project, db: Connection, change: Change, *, undoes: int | None = None) -> Change:
    """Write the change to the audit and give it back with its number, author and time."""
    at = now()
    row = {
        "kind": change.kind,
        "subject": change.subject,
        "verb": change.verb,
        "before": _packed(change.before),
        "after": _packed(change.after),
        "by": project.by,
        "at": at,
        "undoes": undoes,
        "undone": False,
    }
    row["sha256"] = row_hash(row)
    if project.from_task:
        upserts.add_missing(db, META, {"key": f"{CHANGED_WITH}{__version__}", "value": "true"})
    return replace(change, by=project.by, at=at, seq=db.execute(_ADD, row).lastrowid)


def row_hash(row: dict[str, Any]) -> str:
    """The hash of an audit row: all its values but its number, its moment, and whether it is taken back now.

    Works on what is about to be written and on the stored row alike.
    """
    left_out = ("sha256", "at", "undone", "seq")
    return sha256(canonical_json({key: value for key, value in row.items() if key not in left_out}))


def _packed(image: Any) -> str | None:
    return None if image is None else canonical_json(image).decode()
