"""Running orders: with a progress bar for a person, or JSON lines for the window."""

import asyncio
import io
import json
import os
import sys
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, TextIO
from typing import Protocol as Shape

import typer

from annotator import loading
from annotator.cli.saying import DONE, NOT_ALL, REFUSED, bar, opened, print_json, progress_bars, said, say
from annotator.cli.tables import print_table
from annotator.domain.texts.refusal import Refusal

app = typer.Typer()
Shown = Annotated[str, typer.Option("--progress", help="bar or json")]
Line = dict[str, Any]
FOR_A_WINDOW = "json"
# How far a child stands back behind the window where both want the processor; on Windows by its class.
NICENESS, BELOW_NORMAL = 5, 0x4000


def order_carried_out(
    file: Path,
    order: Any,
    *,
    progress: str,
    json_: bool,
    person: str = "",
    after: Callable[[], None] | None = None,
) -> None:
    """Have an order carried out whose project need not be looked at before."""
    from annotator.actions.orders import orders

    kind = orders.kind_of(order.protocol)
    carried_out(
        file, partial(orders.carry_out, order=order), kind.words, doing=kind.doing, progress=progress, json_=json_,
        person=person, after=after,
    )  # fmt: skip


def say_forecast(file: Path, order: Any, *, json_: bool, person: str = "") -> None:
    """Say what an order would take, and ask nobody."""
    from annotator.actions.orders import orders

    with opened(file, readonly=True, person=person) as project:
        if of_paper := orders.of_paper(project, order):
            from annotator.actions.judging import judge_runs

            _say_forecasts(of_paper, json_, judge_runs.left_out(project, order))
            return
        found = orders.forecast(project, order)
    say(found.tree(), json_, found.words())


def _say_forecasts(found: Sequence[Any], json_: bool, left_out: str) -> None:
    """Say what each protocol of a paper would take, by its metrics, and all of them together."""
    from annotator.actions.judging import forecasts

    whole = forecasts.summed(found)
    if json_:
        print_json({"protocols": [one.tree() for one in found], "sum": whole, "left_out": left_out})
        return
    heads = ("Protocol", "For", "Judgements", "Calls", "Tokens in", "Tokens out", "Cost, US$")
    rows = [(one.protocol, forecasts.figure_of(one), *_amounts(one.tree())) for one in found]
    print_table("What it would take", heads, [*rows, ("all", "", *_amounts(whole))])
    if left_out:
        said.print(left_out, markup=False)


def _amounts(tree: Mapping[str, Any]) -> tuple[str, ...]:
    cost = tree["cost_usd"]
    counts = (f"{tree[name]:,}" for name in ("units", "calls", "tokens_input", "tokens_output"))
    return (*counts, "not known" if cost is None else f"{cost:,.2f}")


class Run(Shape):
    """A run over an open project; it reports batches and can be cancelled by a line “cancel”."""

    def __call__(
        self, project: Any, *, tell: Callable[[Line], None], listen: TextIO | None = None
    ) -> Coroutine[Any, Any, Line]: ...


def carried_out(
    file: Path,
    run: Run,
    words: Callable[[Line], list[str]],
    *,
    doing: str,
    progress: str = "bar",
    json_: bool = False,
    person: str = "",
    after: Callable[[], None] | None = None,
) -> None:
    """Open the project, let the run go and say how it ended; `doing` stands before the bar, `person` is at work.

    `after` is done for a person once that is said. Exit code 3 where not all of it came.
    """
    found = gone_through(file, run, doing=doing, progress=progress, person=person)
    if progress != FOR_A_WINDOW:
        say(found, json_, words(found))
        if after is not None and not json_:
            after()
    end(found)


@app.command("child", hidden=True)
def child() -> None:
    """Do what the window asks in a line of JSON; what comes of it is told in lines of JSON."""
    with loading():
        from annotator.actions.orders import requests

    stand_back()
    said = own_input()
    asked = requests.read(said.readline())
    end(_for_a_window(asked.file, partial(requests.answer, asked), asked.by, said, readonly=asked.readonly))


def stand_back() -> None:
    """Take a lower priority than the window has; it does not know the right process where a launcher started it."""
    if sys.platform == "win32":
        import ctypes

        kernel = ctypes.windll.kernel32
        kernel.GetCurrentProcess.restype = ctypes.c_void_p
        kernel.SetPriorityClass(ctypes.c_void_p(kernel.GetCurrentProcess()), BELOW_NORMAL)
    else:
        os.nice(NICENESS)


def own_input() -> TextIO:
    """Standard input on a descriptor of its own, and nothing in its old place.

    While a thread waits for a line from a pipe, Windows stops whoever asks about that descriptor, as a child process
    does that inherits it.
    """
    try:
        copy = os.dup(sys.stdin.fileno())
    except (AttributeError, io.UnsupportedOperation):
        # What stands in for it has no descriptor, and nothing to inherit.
        return sys.stdin
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, sys.stdin.fileno())
    os.close(nothing)
    return open(copy, encoding="utf-8", errors="backslashreplace")


def gone_through(file: Path, run: Run, *, doing: str, progress: str, person: str) -> Line:
    """Open the project and let the run go: its last line, which a window was told already."""
    if progress == FOR_A_WINDOW:
        return _for_a_window(file, run, person, own_input())
    with opened(file, person=person) as project, progress_bars() as bars:
        return asyncio.run(run(project, tell=shown(bar(bars), doing)))


def end(found: Line) -> None:
    """End the command with the code of how a run ended."""
    if code := _ending(found):
        raise typer.Exit(code)


def _ending(found: Line) -> int:
    """Whether a run did all it was to do, was stopped or lacks something, or found nothing that it could take."""
    if "problems" in found and not found["by_state"]:
        return REFUSED
    whole = found.get("state", "done") == "done" and not found.get("missing") and not found.get("problems")
    return DONE if whole else NOT_ALL


def shown(show: Callable[[str, int, int], None], doing: str) -> Callable[[Line], None]:
    """What moves a bar along with the lines of a run."""
    return lambda line: show(doing, int(line["done"]), int(line["total"])) if line.get("total") else None


def _for_a_window(file: Path, run: Run, person: str, listen: TextIO, *, readonly: bool = False) -> Line:
    """JSON lines out, `cancel` as a line in, a refusal as the last line."""

    def tell(line: Line) -> None:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()

    try:
        with opened(file, readonly=readonly, person=person) as project:
            return asyncio.run(run(project, tell=tell, listen=listen))
    except Refusal as refusal:
        tell({"event": "refused", "error": refusal.happened, "todo": refusal.todo})
        raise typer.Exit(REFUSED) from None
