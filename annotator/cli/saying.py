"""Shared by all commands: opening a project, progress bars, output in words or JSON."""

import io
import json
import sys
import traceback
from collections.abc import Callable, Collection, Iterator
from contextlib import closing, contextmanager
from contextvars import ContextVar
from dataclasses import asdict
from functools import cache, partial, wraps
from importlib import import_module
from inspect import Parameter, signature
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperArgument, TyperCommand, TyperGroup, TyperOption
from typer.main import get_command, get_group

from annotator import __version__, loading
from annotator.domain.common import Refusal, RoleNeeded, counted, visible
from annotator.domain.texts.redaction import held, redact

if TYPE_CHECKING:
    from rich.progress import Progress

As = Annotated[
    str,
    typer.Option("--as", help="Person at work in this command: an id or an alias; by default the last one"),
]
# The person who is at work in the running command; read whenever it opens a project.
AT_WORK = ContextVar("at_work", default="")
File = Annotated[Path, typer.Argument(help="The project file, name.goldsmith", show_default=False)]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of words")]
# The exit codes of commands: done, refused, wrong usage, and incomplete (missing, budget, interrupted).
DONE, REFUSED, USAGE, NOT_ALL = range(4)


class Terminal(Console):
    """The console of every command: control characters in names and in servers' messages have no effect on the
    terminal.
    """

    def print(self, *objects: Any, **how: Any) -> None:
        """Print with control characters and direction overrides written out."""
        super().print(*(visible(one) if isinstance(one, str) else one for one in objects), **how)


console, error_console = (
    Terminal(highlight=False, soft_wrap=True),
    Terminal(stderr=True, highlight=False, soft_wrap=True),
)


def speak_everywhere() -> None:
    """Make piped streams UTF-8 whatever the machine's code page is, and terminals replace characters they cannot
    show.
    """
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        # A bundled program without a terminal has none of them.
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding=None if stream.isatty() else "utf-8", errors="backslashreplace")


@contextmanager
def opened(file: Path, *, readonly: bool = False, person: str = "", unchecked: bool = False) -> Iterator[Any]:
    """The open project; `person` is the id or alias of the person at work, by default that of `--as`, or the last one.

    `unchecked` opens a file with unreadable values, to name them all.
    """
    from annotator.actions.project.file import Project

    with closing(Project.open(file, readonly=readonly, unchecked=unchecked)) as project:
        if not readonly and (warning := Project.warning_about(file)):
            error_console.print(f"Note: {warning}", markup=False)
        if at_work := person or AT_WORK.get():
            from annotator.actions.project import people

            # For this command only: the window's own person at work stays the same.
            project.person = people.known(project, at_work)
        try:
            yield project
        except RoleNeeded as error:
            error.details += tuple(_remedies(project, file, error.roles))
            raise


def _remedies(project: Any, file: Path, roles: Collection[str]) -> Iterator[str]:
    """The options or commands that would allow the action that was refused for the person's role."""
    from annotator.actions.project import people

    me, everybody = people.someone(project), people.people(project)
    if able := [person.alias for person in everybody if person.active and {*person.roles.split()} & {*roles}]:
        yield f"For this command alone add --as {' or --as '.join(able[:3])}."
    all_roles = sorted({*me.roles.split(), next(iter(roles))})
    given = " ".join(f"--role {role}" for role in all_roles)
    if me in everybody:
        yield f"Give {me.alias} the role: goldsmith people role {file} {me.alias} {given}"


def changing(command: Callable[..., None], *, by: Collection[str] | None = None) -> Callable[..., None]:
    """A command on a file, made from one on a project, which is open during the call.

    It is opened read-only in a dry run, and if none of the options in `by` is given; without `by` the command always
    changes the project. A `Protocol` that is not named is the project's default. A command that refuses options by
    itself opens the project itself, after them.
    """
    on_project = signature(command)
    _, *options = on_project.parameters.values()
    of_protocol = any(one.annotation is Protocol for one in options)

    @wraps(command)
    def on_file(file: Path, **given: Any) -> None:
        changes = by is None or any(given[one.name] != one.default for one in options if one.name in by)
        with opened(file, readonly=not changes or given.get("dry_run", False)) as project:
            if of_protocol and not given["protocol"]:
                from annotator.actions.labelling import label_cases

                given["protocol"] = label_cases.usual(project)
            command(project, **given)

    parameters = [Parameter("file", Parameter.POSITIONAL_OR_KEYWORD, annotation=File), *options]
    on_file.__signature__ = on_project.replace(parameters=parameters)  # type: ignore[attr-defined]
    return on_file


reading = partial(changing, by=())


def changing_by(*options: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """As `changing`, for a command that only reads unless one of these options is given."""
    return partial(changing, by=options)


def progress_bars() -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=error_console, transient=True)


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


def say(
    tree: dict[str, Any], json_: bool, words: list[str], *, lacking: object = None, code: int = NOT_ALL
) -> None:
    """Print JSON or words; if something is lacking, exit with the code."""
    if json_:
        print_json(tree)
    for line in () if json_ else words:
        console.print(line, markup=False)
    if lacking:
        raise typer.Exit(code)


def print_json(tree: Any) -> None:
    # An escape in JSON stands for the same text.
    sys.stdout.write(visible(json.dumps(tree, ensure_ascii=False, indent=2, default=str), "\\u{:04x}") + "\n")


def lines(tree: dict[str, Any]) -> list[str]:
    return [
        f"{name.replace('_', ' ')}: {_words(value)}"
        for name, value in tree.items()
        if value not in (None, "", [], {})
    ]


def _words(value: Any) -> str:
    """A value as a person reads it: lists in one line, yes and no for booleans."""
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
    """The options that were given; Refusal if there is none."""
    given = {name: value for name, value in values.items() if value is not None}
    if not given:
        names = ", ".join(f"--{name.replace('_', '-')}" for name in values)
        raise Refusal("Nothing is to be changed.", f"Give at least one of {names}.")
    return given


def say_changed(change: Any, json_: bool) -> None:
    words = f"{counted(len(change.after), change.subject)} changed." if change.after else "Nothing new."
    say({"changed": change.after}, json_, [words])


Judge = Annotated[str, typer.Option("--judge", help="The judge's name")]
OfJudge = Annotated[str, typer.Option("--judge", help="Only this judge")]
Protocol = Annotated[
    str,
    typer.Option(
        "--protocol",
        help="What is judged; by default what a judge or people judged here, or what there is gold for",
        show_default=False,
    ),
]
Systems = Annotated[list[str] | None, typer.Option("--system", help="Only this system; repeatable")]
Items = Annotated[list[str] | None, typer.Option("--item", help="Only this item, by key; repeatable")]
KeyEnv = Annotated[str, typer.Option(help="Environment variable that holds the endpoint's key")]
Concurrency = Annotated[int, typer.Option(min=1, max=512, help="Concurrent calls")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Timeout of one call, in seconds")]
Budget = Annotated[
    float | None, typer.Option(min=0, help="Budget in US dollars; every reply gets a token cap")
]
RequestsPerMinute = Annotated[
    float | None, typer.Option("--rpm", min=0.1, help="Rate limit: calls per minute")
]
TokensPerMinute = Annotated[float | None, typer.Option("--tpm", min=1, help="Rate limit: tokens per minute")]
InputPrice = Annotated[
    float | None, typer.Option(min=0, help="US dollars per million tokens in; by default as listed")
]
OutputPrice = Annotated[float | None, typer.Option(min=0, help="US dollars per million tokens out")]
CachedPrice = Annotated[float | None, typer.Option(min=0, help="US dollars per million cached tokens in")]
Together = Annotated[
    int,
    typer.Option(
        min=0,
        max=100,
        help="Units per call, shuffled; 0 as the judge is set, any other number is a separate judge",
    ),
]
Card = Annotated[
    Path | None,
    typer.Option(help="Validity card: no call is made unless the judge matches it", show_default=False),
]
Trials = Annotated[int, typer.Option(min=1, max=100, help="Trials per unit")]
Batch = Annotated[
    bool,
    typer.Option("--batch", help="Use the provider's batch API: answers within a day, usually at half price"),
]


class NamingLayouts(TyperCommand):
    """A command whose help names benchmarks' layouts, which are loaded when the help is shown."""

    def format_help(self, *where: Any) -> None:
        """Fill the layouts' names into the placeholders of the help."""
        from annotator.exchange.formats.layouts import LAYOUTS, of_labels

        names = {
            "layouts": " or ".join(LAYOUTS),
            "layouts_listed": ", ".join(LAYOUTS),
            "label_layouts": " or ".join(of_labels()),
            "label_files": " or ".join(
                f"{title}'s ({layout.example} …)" for title, layout in of_labels().values()
            ),
        }
        for param in self.params:
            if isinstance(param, TyperOption | TyperArgument) and param.help:
                param.help = param.help.format(**names)
        super().format_help(*where)


def protocol_of(file: Path, named: str, set_name: str = "") -> str:
    """The named protocol, else that of the validation set, else the project's default."""
    if named:
        return named
    from annotator.actions.labelling import label_cases

    with opened(file, readonly=True) as project:
        if set_name:
            from annotator.actions.sets import validation_sets

            return validation_sets.named(project, set_name).protocol
        return label_cases.usual(project)


def reach(systems: list[str] | None, items: list[str] | None) -> dict[str, Any]:
    return {"systems": tuple(systems or ()), "items": tuple(items or ())}


def how(
    concurrency: int, timeout: float, budget: float | None, rpm: float | None, tpm: float | None
) -> dict[str, Any]:
    return {
        "concurrency": concurrency,
        "timeout_s": timeout,
        "budget_usd": budget,
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
    }


def report(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    sys.stderr.write(visible(redact("".join(traceback.format_exception(kind, error, trace)), held())))


# The commands of each app, or its group, in the order of the help.
NAMES = (
    ("project.app", "sample new import uses weights info export check backup selftest"),
    ("judge.judge_app", "judge"),
    ("judge.keys_app", "keys"),
    ("items.app", "items"),
    ("items.final_app", "final"),
    ("items.pilot_app", "pilot"),
    ("sources.app", "sources"),
    ("sources.evidence_app", "evidence"),
    ("ruling.drafting_app", "draft"),
    ("ruling.rubrics_app", "rubrics"),
    ("labels.authoring_app", "authoring"),
    ("items.respond_app", "respond"),
    ("items.systems_app", "systems"),
    ("items.responses_app", "responses"),
    ("sources.research_app", "research"),
    ("judge.contests_app", "contest"),
    ("results.app", "results gold"),
    ("results.release_app", "release"),
    ("people.people_app", "people"),
    ("people.app", "pack unpack share adjudicate status"),
    ("agreement.app", "agreement"),
    ("labels.app", "labels"),
    ("validation.app", "validate choose-judge correct sets"),
    ("ruling.app", "rule review error-sample rulings"),
    ("validation.app", "attack bias"),
    ("validation.app", "card"),
    ("labels.handing_out_app", "assign"),
    ("labels.reviews_app", "reviews"),
    ("project.app", "child"),
)
APPS = {name: app for app, names in NAMES for name in names.split()}
# Commands that make a project, in which nobody is at work yet.
MAKING = ("sample", "new")


@cache
def _loaded(name: str, place: str) -> Any:
    module, _, app = place.rpartition(".")
    with loading():
        group = get_group(getattr(import_module(f"annotator.cli.{module}"), app))
    group.name = name
    result = group.commands.get(name, group)
    _let_be_at_work(result)
    return result


def _let_be_at_work(command: Any) -> None:
    """Add `--as` to every command on a project, before `--json`; `opened` uses it."""
    for one in getattr(command, "commands", {}).values():
        _let_be_at_work(one)
    taken = {spelling for param in command.params for spelling in param.opts}
    if "file" in taken and "--as" not in taken and command.name not in MAKING:
        last = next(
            (at for at, one in enumerate(command.params) if "--json" in one.opts), len(command.params)
        )
        command.params.insert(last, _at_work())
        command.callback = partial(_worked, command.callback)


@cache
def _at_work() -> Any:
    app = typer.Typer(add_completion=False)

    @app.command()
    def command(as_: As = "") -> None:
        pass

    return get_command(app).params[0]


def _worked(command: Callable[..., Any], as_: str = "", **given: Any) -> Any:
    before = AT_WORK.set(as_)
    try:
        return command(**given)
    finally:
        AT_WORK.reset(before)


class Commands(TyperGroup):
    """The group of all commands, each loaded when it is asked for."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options | {"commands": dict.fromkeys(APPS)})

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        return _loaded(cmd_name, APPS[cmd_name]) if cmd_name in APPS else None


app = typer.Typer(
    cls=Commands,
    help="Make, label, judge and release expert gold for deep-research benchmarks.",
    epilog="Exit codes: 0 success · 1 refused, nothing was changed except as stated · 2 wrong usage · 3 "
    "incomplete: something is missing, the budget is spent, or the command was interrupted; finished work "
    "is kept.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _print_version(show: bool) -> None:
    if show:
        console.print(__version__)
        raise typer.Exit


@app.callback()
def version(
    show: Annotated[
        bool, typer.Option("--version", help="Print the version", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Goldsmith."""
