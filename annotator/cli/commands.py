"""All commands, put together; the module of each is loaded when it is asked for."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

from annotator import __version__, loading
from annotator.cli.saying import AT_WORK, As, said

# The commands of each app, or the group that it is, in the order of the help.
NAMES = {
    "project.app": "sample new import weights info export check backup selftest",
    "judging.judge.app": "judge",
    "judging.judge.keys_app": "keys",
    "items.app": "items",
    "items.final_app": "final",
    "items.pilot_app": "pilot",
    "sources.app": "sources",
    "sources.evidence_app": "evidence",
    "drafting.app": "draft",
    "drafting.rubrics_app": "rubrics",
    "labels.authoring_app": "authoring",
    "respond.app": "respond",
    "respond.systems_app": "systems",
    "respond.responses_app": "responses",
    "research.research.app": "research",
    "judging.contests.app": "contest",
    "results.app": "results gold",
    "pairs.people_app": "people",
    "pairs.app": "pack unpack adjudicate status",
    "agreement.app": "agreement",
    "labels.app": "labels",
    "validation.app": "validate choose-judge correct sets",
    "ruling.app": "rule review error-sample rulings",
    "attacks.app": "attack bias",
    "cards.app": "card",
    "handing_out.app": "assign",
    "handing_out.reviews_app": "reviews",
    "carrying.app": "child",
}
APPS = {name: app for app, names in NAMES.items() for name in names.split()}
# What makes a project, in which nobody is at work yet.
MAKING = ("sample", "new")


class CommandsAskedFor(Mapping[str, Any]):
    """Every command or group by name; only those that are looked at are loaded."""

    def __getitem__(self, name: str) -> Any:
        return _loaded(name, APPS[name])

    def __iter__(self) -> Iterator[str]:
        return iter(APPS)

    def __len__(self) -> int:
        return len(APPS)


@cache
def _loaded(name: str, place: str) -> Any:
    module, _, app = place.rpartition(".")
    with loading():
        group = get_group(getattr(import_module(f"annotator.cli.{module}"), app))
    group.name = name
    found = group.commands.get(name, group)
    _let_be_at_work(found)
    return found


def _let_be_at_work(command: Any) -> None:
    """Let whatever opens a project take `--as`, whether its own code reads it or not."""
    for one in getattr(command, "commands", {}).values():
        _let_be_at_work(one)
    taken = {spelling for one in command.params for spelling in one.opts}
    if "file" in taken and "--as" not in taken and command.name not in MAKING:
        command.params.append(_at_work())
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
    """The group of all commands."""

    def __init__(self, **said_of_it: Any) -> None:
        super().__init__(**said_of_it | {"commands": CommandsAskedFor()})


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
        said.print(__version__)
        raise typer.Exit


@app.callback()
def version(
    show: Annotated[
        bool, typer.Option("--version", help="Print the version", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Goldsmith."""
