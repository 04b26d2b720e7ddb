"""Shared by all commands: opening a project, progress bars, output in words or JSON."""

import io
import json
import sys
from collections.abc import Callable, Collection, Iterator
from contextvars import ContextVar
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console

from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal, RoleNeeded
from annotator.domain.texts.well_formed import visible

if TYPE_CHECKING:
    from rich.progress import Progress

As = Annotated[
    str,
    typer.Option("--as", help="Person at work in this command: an id or an alias; by default the last one"),
]
# Who is at work in a command whose own code does not read it.
AT_WORK = ContextVar("at_work", default="")
File = Annotated[Path, typer.Argument(help="The project file, name.goldsmith", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of words")]
# How commands end: all done, refused, wrong usage, and not all of it (missing, budget, interrupted).
DONE, REFUSED, USAGE, NOT_ALL = range(4)


class Terminal(Console):
    """Where every command prints: what stands in names and in servers' messages does nothing to the terminal."""

    def print(self, *objects: Any, **how: Any) -> None:
        """Print with control characters and overrides of direction written out."""
        super().print(*(visible(one) if isinstance(one, str) else one for one in objects), **how)


said, warned = (
    Terminal(highlight=False, soft_wrap=True),
    Terminal(stderr=True, highlight=False, soft_wrap=True),
)


def speak_everywhere() -> None:
    """Let what is piped or kept be UTF-8 whatever the machine's code page is, and a terminal show what it can."""
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A bundled program without a terminal has none of them.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


class opened:  # noqa: N801 - reads as a verb in a with statement
    """A project, opened for the length of a command."""

    def __init__(
        self, file: Path, *, readonly: bool = False, person: str = "", unchecked: bool = False
    ) -> None:
        """`person` is the id or alias of anyone who is to be at work; by default the person who was last.

        `unchecked` opens a file with values that cannot be read, to name them all.
        """
        self._file, self._readonly, self._unchecked = file, readonly, unchecked
        self._person = person or AT_WORK.get()

    def __enter__(self) -> Any:
        from annotator.actions.project.file import Project

        self._project = Project.open(self._file, readonly=self._readonly, unchecked=self._unchecked)
        if not self._readonly and (warning := Project.warning_about(self._file)):
            warned.print(f"Note: {warning}", markup=False)
        if self._person:
            self._work_as()
        return self._project

    def _work_as(self) -> None:
        from annotator.actions.project import people

        try:
            # For this command only: who works in the window stays as it was.
            self._project.person = people.known(self._project, self._person)
        except Refusal:
            self._project.close()
            raise

    def __exit__(self, _kind: object, error: object, _trace: object) -> None:
        if isinstance(error, RoleNeeded):
            error.details += tuple(self._remedies(error.roles))
        self._project.close()

    def _remedies(self, roles: Collection[str]) -> Iterator[str]:
        """Which words or which command would have let the person do what was refused for their role."""
        from annotator.actions.project import people

        me, everybody = people.someone(self._project), people.people(self._project)
        if able := [one.alias for one in everybody if one.active and {*one.roles.split()} & {*roles}]:
            yield f"For this command alone add --as {' or --as '.join(able[:3])}."
        wanted = sorted({*me.roles.split(), next(iter(roles))})
        given = " ".join(f"--role {role}" for role in wanted)
        if me in everybody:
            yield f"Give {me.alias} the role: goldsmith people role {self._file} {me.alias} {given}"


def progress_bars() -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=warned, transient=True)


def bar(progress: "Progress") -> Callable[[str, int, int], None]:
    tasks: dict[str, Any] = {}

    def show(what: str, done: int, total: int) -> None:
        if what not in tasks:
            tasks[what] = progress.add_task(visible(what), total=total)
        progress.update(tasks[what], completed=done, total=total)

    return show


def say_made(project: Any, json_: bool) -> None:
    path = project.path
    project.close()
    say({"file": path.name, "title": project.title}, json_, [f"Made {path}"])


def say(found: dict[str, Any], json_: bool, words: list[str]) -> None:
    if json_:
        print_json(found)
        return
    for line in words:
        said.print(line, markup=False)


def print_json(found: Any) -> None:
    # As an escape of JSON it is the same text to whoever reads it.
    sys.stdout.write(
        visible(json.dumps(found, ensure_ascii=False, indent=2, default=str), "\\u{:04x}") + "\n"
    )


def lines(found: dict[str, Any]) -> list[str]:
    return [
        f"{name.replace('_', ' ')}: {_words(value)}"
        for name, value in found.items()
        if value not in (None, "", [], {})
    ]


def _words(value: Any) -> str:
    """A value as a person reads it: what belongs together in one line, yes and no for what is so or not."""
    if isinstance(value, dict):
        return ", ".join(f"{name}: {_words(each)}" for name, each in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(map(_words, value))
    if isinstance(value, bool):
        return "yes" if value else "no"
    return f"{value:,}" if isinstance(value, int) else str(value)


def public(report: Any) -> dict[str, Any]:
    return {name: value for name, value in asdict(report).items() if name != "folder"}


def given_of(**values: Any) -> dict[str, Any]:
    """The values that were given; Refusal when there is none."""
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in values)
        raise Refusal("Nothing is to be changed.", f"Give at least one of {names}.")
    return given


def say_changed(change: Any, json_: bool) -> None:
    """How many things have new values."""
    words = f"{counted(len(change.after), change.subject)} changed." if change.after else "Nothing new."
    say({"changed": change.after}, json_, [words])
