"""How fast a judge run is, durably: beside peers at once, against the clock at 50 ms, and beside a window that lives.

    python -m benchmarks.judging [--quick]
    python -m benchmarks.judging --rounds 5 --peers FOLDER

Goal 4: at 0 ms and 32 calls at once at least twice the judgements a second of `openai` in a thread pool, and 8 times
promptfoo's or 15 times inspect_ai's. Goal 5: at 50 ms at least 85 % of 32 ÷ 50 ms. Goal 6: the timer of a real window
is late by at most 16 ms (95th percentile) and its longest stall is below 50 ms while `judge run` works beside it.

Ours is the command `judge run`, as anyone would start it, on a project of 2 000 judgements to be made; every one is
committed to the file. The peers send the very requests that ours sent, and keep what comes in memory or as they do by
themselves. They are installed into FOLDER when they are not there; one that cannot be is left out, with the reason. The
server times each run from the first request to the last answer; the sides take turns and the best of each counts.
"""

import json
import os
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from shutil import copyfile
from subprocess import PIPE, Popen

from benchmarks.judging_project import AT_ONCE, HERE, called, judge_words, made_project
from benchmarks.judging_window import beside_a_window
from benchmarks.measuring import parser, verdict
from benchmarks.peers.judging_peers import INSPECT, PROMPTFOO, THREADS, peers

DELAY_S = 0.05
GOALS = {THREADS: 2.0, PROMPTFOO: 8.0, INSPECT: 15.0}
Sides = dict[str, Callable[[], object]]


@dataclass(frozen=True)
class Server:
    """The chat endpoint, in a process of its own."""

    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def begin(self, delay: float = 0.0, *, keep: bool = False) -> None:
        self._asked("begin", json.dumps({"delay": delay, "keep": keep}).encode())

    def rate(self) -> tuple[float, int]:
        """Answers a second since `begin`, and how many."""
        told = json.loads(self._asked("told"))
        return told["count"] / max(told["seconds"], 1e-9), told["count"]

    def kept(self) -> bytes:
        """The requests since `begin`, one a line."""
        return self._asked("kept")

    def _asked(self, path: str, body: bytes | None = None) -> bytes:
        headers = {"content-type": "application/json"}
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}/{path}", body, headers)
        with urllib.request.urlopen(request, timeout=60) as answer:
            return bytes(answer.read())


@contextmanager
def server() -> Iterator[Server]:
    words = [sys.executable, "-m", "benchmarks.peers.chat_server"]
    with Popen(words, cwd=HERE, stdout=PIPE) as process:
        try:
            assert process.stdout
            yield Server(int(process.stdout.readline()))
        finally:
            process.terminate()


def ours(project: Path) -> Callable[[], object]:
    """A whole run on a fresh copy of the project."""

    def judge() -> object:
        with tempfile.TemporaryDirectory(prefix="goldsmith-bench-") as folder:
            copy = Path(folder) / project.name
            copyfile(project, copy)
            ended = json.loads(called(*judge_words(copy), "--json"))
            if ended["missing"] or ended["done"] != ended["total"]:
                raise SystemExit(f"the run left something out: {ended}")
            return ended

    return judge


def in_turns(at: Server, sides: Sides, rounds: int, delay: float, expected: int) -> dict[str, float]:
    """Each side's best rate, in answers a second; its processor time, start and all, is printed."""
    best: dict[str, float] = dict.fromkeys(sides, 0.0)
    spent: dict[str, float] = dict.fromkeys(sides, float("inf"))
    for _ in range(rounds):
        for name, run in sides.items():
            at.begin(delay)
            before = of_children()
            run()
            spent[name] = min(spent[name], of_children() - before)
            rate, count = at.rate()
            if count != expected:
                raise SystemExit(f"{name} made {count} calls, not {expected}")
            best[name] = max(best[name], rate)
    words = (f"{name} {seconds / expected * 1e3:.2f}" for name, seconds in spent.items())
    print(f"  judgements a second: {', '.join(f'{name} {rate:.0f}' for name, rate in best.items())}")
    print(f"  processor ms a judgement: {', '.join(words)}")
    return best


def of_children() -> float:
    times = os.times()
    return times.children_user + times.children_system


def goal_4(at: Server, sides: Sides, rounds: int, expected: int) -> bool:
    """Beside the peers at 0 ms."""
    print(f"goal 4: {expected:,} judgements at 0 ms, {AT_ONCE} at once")
    best = in_turns(at, sides, rounds, 0.0, expected)
    met = {name: _told(name, best["ours"] / best[name], GOALS[name]) for name in best if name != "ours"}
    others = [reached for name, reached in met.items() if name != THREADS]
    return met[THREADS] and (any(others) or not others)


def goal_5(at: Server, sides: Sides, rounds: int, expected: int) -> bool:
    """Against the clock at 50 ms."""
    most = AT_ONCE / DELAY_S
    print(f"goal 5: {expected:,} judgements at {DELAY_S * 1e3:.0f} ms, {AT_ONCE} at once")
    best = in_turns(at, sides, rounds, DELAY_S, expected)
    shares = ", ".join(f"{name} {rate / most:.2f}" for name, rate in best.items())
    print(f"  of {most:.0f}, which is concurrency ÷ delay: {shares} (goal for ours ≥ 0.85)")
    return best["ours"] >= 0.85 * most


def goal_6(at: Server, project: Path, rounds: int, beats: int) -> bool:
    """Beside a window."""
    seen = []
    for _ in range(rounds):
        at.begin()
        seen.append(beside_a_window(project, beats) | {"rate": at.rate()[0]})
    p95, longest = (min(each["judging"][name] for each in seen) for name in ("p95", "longest"))
    alone = (min(each["alone"][name] for each in seen) for name in ("p95", "longest"))
    print(f"goal 6: a window of ours while judging at {max(each['rate'] for each in seen):.0f} a second")
    print(f"  its timer is late by {p95:.1f} ms (95th percentile; goal ≤ 16)")
    print(f"  its longest stall is {longest:.1f} ms (goal < 50)")
    print("  alone: late by {:.1f} ms, longest stall {:.1f} ms".format(*alone))
    return bool(p95 <= 16 and longest < 50)


def _told(beside: str, ratio: float, goal: float) -> bool:
    """Print a ratio beside its goal; whether the goal is met."""
    print(f"  {ratio:.1f} times {beside} (goal ≥ {goal:.0f})")
    return ratio >= goal


def main() -> int:
    """All three; exit code 1 when a goal is missed."""
    known = parser(__doc__, items=(50, 1), beats=(300, 20), rounds=(3, 1))
    where = Path(tempfile.gettempdir()) / "goldsmith-peers"
    known.add_argument(
        "--peers", type=Path, default=where, help="where promptfoo and inspect_ai are installed"
    )
    options = known.parse_args()
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    with tempfile.TemporaryDirectory(prefix="goldsmith-bench-") as folder, server() as at:
        project, requests = made_project(Path(folder), at.url, options.items), Path(folder) / "requests.jsonl"
        at.begin(keep=True)
        ours(project)()
        requests.write_bytes(at.kept())
        expected = len(requests.read_bytes().splitlines())
        others = peers(requests, at.url, AT_ONCE, None if options.quick else options.peers)
        sides = {"ours": ours(project)} | others
        goals = {
            "goal 4": goal_4(at, sides, options.rounds, expected),
            "goal 5": goal_5(at, sides, options.rounds, expected),
            "goal 6": goal_6(at, project, options.rounds, options.beats),
        }
    return verdict(options, goals)


if __name__ == "__main__":
    sys.exit(main())
