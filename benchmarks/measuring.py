"""What benchmarks share: sizes as options, `--quick`, the least of several times, and what is said at the end."""

import argparse
import time
from collections.abc import Callable, Mapping
from typing import Any

NO_FIGURES = "quick: small sizes, once; this shows that the script runs, and its figures are no figures"
_WORDS = {True: "reached", False: "MISSED", None: "not measured"}


class _Quick(argparse.Action):
    """Sets every size to what a quick run takes; an option behind it still has its way."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: Any = None) -> None:
        vars(namespace).update(self.const, quick=True)


def parser(doc: str | None, **sizes: tuple[Any, Any]) -> argparse.ArgumentParser:
    """An option for each size, given as it is measured and as a quick run takes it, and `--quick`."""
    result = argparse.ArgumentParser(description=(doc or "").splitlines()[0])
    for name, (measured, _) in sizes.items():
        many = "+" if isinstance(measured, tuple) else None
        result.add_argument(
            f"--{name}", type=int, nargs=many, default=measured, help=f"{measured} unless given"
        )
    small = {name: least for name, (_, least) in sizes.items()}
    result.add_argument("--quick", action=_Quick, nargs=0, const=small, default=False, help="small and once")
    return result


def verdict(options: argparse.Namespace, goals: Mapping[str, bool | None]) -> int:
    """Say which goals are reached (None: not measured); the exit code is 1 when one is missed.

    A quick run reaches and misses none.
    """
    if options.quick:
        print(NO_FIGURES)
        return 0
    print("; ".join(f"{goal} {_WORDS[met]}" for goal, met in goals.items()))
    return 1 if False in goals.values() else 0


def timed(call: Callable[[], object]) -> tuple[float, float]:
    processor, wall = time.process_time(), time.perf_counter()
    call()
    return time.process_time() - processor, time.perf_counter() - wall


def best(of: int, call: Callable[[], object]) -> tuple[float, float]:
    """The least processor time and the least wall time of several calls, in seconds."""
    processors, walls = zip(*(timed(call) for _ in range(of)), strict=True)
    return min(processors), min(walls)
