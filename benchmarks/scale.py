"""A made DeepScholar run of any size, offline: planned, judged by the baseline, stored, and scored.

    python -m benchmarks.scale [--judgements N ...] [--systems N] [--protocols N] [--quick]

Each step is a command in a process of its own, under all protocols of the paper that the baseline judges; its processor
time counts, and the most memory it holds. Goals: no process holds more than 1 GB, and a judgement at the largest size
takes at most 1.3 times as long as at the smallest.
"""

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from random import Random

from annotator.actions.imports import imports
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.protocols import papers
from benchmarks.judging_project import HERE, environment
from benchmarks.measuring import parser, verdict
from tests.material import related_work

SENTENCES, NUGGETS, WORKS = 60, 20, 2_000
MOST_MB, MOST_GROWTH = 1_000, 1.3
WORDS = "trees shade cool streets summer roots water soil leaves birds towns heat walls light rain".split()  # noqa: SIM905
COMMAND = """
import resource, sys
from annotator.cli import run_command
code = run_command(sys.argv[1:])
used = resource.getrusage(resource.RUSAGE_SELF)
most = used.ru_maxrss // (1024 if sys.platform == "linux" else 1024 ** 2)
print(used.ru_utime + used.ru_stime, most, file=sys.stderr)
sys.exit(code)
"""


@dataclass
class Spent:
    """What commands took together: processor seconds, and the most memory that one of them held, in MB."""

    seconds: float = 0.0
    most: int = 0

    def run(self, *words: str) -> str:
        """What a command prints; its error ends the benchmark."""
        done = subprocess.run(
            [sys.executable, "-c", COMMAND, *words], check=False, capture_output=True, encoding="utf-8",
            env=environment(), cwd=HERE,
        )  # fmt: skip
        if done.returncode:
            raise SystemExit(done.stderr or done.stdout)
        seconds, most = done.stderr.split()[-2:]
        self.seconds += float(seconds)
        self.most = max(self.most, int(most))
        return done.stdout


def protocols(most: int | None = None) -> list[str]:
    """What the baseline judges of the paper, or the first of it."""
    (paper,) = (one for one in papers() if one.name == "deepscholar")
    return [protocol.name for protocol in paper.protocols if protocol.baseline is not None][:most]


def made(folder: Path, items: int, systems: int) -> Path:
    path = folder / "scale.goldsmith"
    project = new_project(path, "Scale")
    imports.run(project, "deepscholar", [benchmark(folder / "made", items, systems)], warm=False)
    asyncio.run(extracting.run(project, RunRequest("baseline", "deepscholar.sentences")))
    project.close()
    return path


def benchmark(folder: Path, items: int, systems: int) -> Path:
    """Papers, citations, nuggets and reports in the published layout; every sentence of a report cites a work."""
    chance = Random(7)
    keys = [f"{2501 + number // 10_000}.{number % 10_000:05}v1" for number in range(1, items + 1)]
    related_work.table(folder / "papers_with_related_works.csv", [
        {"arxiv_id": key, "title": f"Paper {place}", "abstract": f"{said(chance)} {place}.", "categories": "cs.AI",
         "published_date": "2025-06-03T13:06:19+00:00", "clean_latex_related_works": f"{said(chance)} \\cite{{w0,w1}}."}
        for place, key in enumerate(keys)
    ])  # fmt: skip
    works = [{"id": f"1901.{number:05}v1", "title": f"Work {number}", "url": f"http://arxiv.org/abs/1901.{number:05}v1",
              "snippet": said(chance)} for number in range(1, WORKS + 1)]  # fmt: skip
    related_work.table(folder / "citations.csv", [
        related_work.cited(key, f"w{number}", work["title"], cited_paper_arxiv_link=work["url"],
                           cited_paper_abstract=work["snippet"])
        for place, key in enumerate(keys)
        for number, work in enumerate(works[place * 10 % WORKS :][:10])
    ])  # fmt: skip
    for place, key in enumerate(keys):
        nuggets = [
            {"text": f"{said(chance, 5)} {number}", "importance": ("vital", "okay")[number % 2],
             "assignment": "support"}
            for number in range(NUGGETS)
        ]  # fmt: skip
        gold = {"qid": key, "query": "Write.", "nuggets": nuggets}
        related_work.tree(folder / "gt_nuggets_outputs" / str(place) / "res.json", gold)
        for system in range(systems):
            _report(
                folder / "systems" / f"system-{system}" / str(place), chance.sample(works, SENTENCES), chance
            )
    return folder


def _report(folder: Path, works: list[dict[str, str]], chance: Random) -> None:
    sentences = (f"{said(chance).capitalize()} \\[[{work['title']}]({work['url']})\\]." for work in works)
    related_work.text(folder / "intro.md", "\n\n".join(sentences))
    related_work.table(folder / "paper.csv", works)


def said(chance: Random, words: int = 12) -> str:
    return " ".join(chance.choices(WORDS, k=words))


def judgements_of(path: Path) -> int:
    with closing(Project.open(path)) as project:
        return sum(judge_runs.plan(project, RunRequest("baseline", name)).total for name in protocols())


def measured(folder: Path, items: int, systems: int, names: list[str]) -> tuple[int, dict[str, Spent]]:
    """What each step of a size takes, and over how many judgements."""
    # In a process of its own: what it held would count as held by each process that is begun after it.
    made_apart = "import sys; from pathlib import Path; from benchmarks import scale; "
    made_apart += "print(scale.made(Path(sys.argv[1]), *map(int, sys.argv[2:])))"
    words = [sys.executable, "-c", made_apart, str(folder), str(items), str(systems)]
    done = subprocess.run(
        words, check=True, capture_output=True, encoding="utf-8", env=environment(), cwd=HERE
    )
    path = done.stdout.splitlines()[-1]
    planned, stored, scored = Spent(), Spent(), Spent()
    total = 0
    for name in names:
        judge = ("--judge", "baseline", "--protocol", name)
        total += json.loads(planned.run("judge", "estimate", path, *judge, "--json"))["units"]
        ended = json.loads(stored.run("judge", "run", path, *judge, "--json"))
        if ended["done"] != ended["total"]:
            raise SystemExit(f"the run left something out: {ended}")
    scored.run("results", path, "--view", "deepscholar", "--judge", "baseline", "--json")
    return total, {"plan": planned, "store": stored, "score": scored}


def whole(options: argparse.Namespace) -> dict[str, bool | None]:
    """All sizes, and what they say of the goals."""
    with tempfile.TemporaryDirectory() as folder:
        each = judgements_of(made(Path(folder), 1, options.systems))
    rates: list[dict[str, float]] = []
    most = 0
    for size in options.judgements:
        with tempfile.TemporaryDirectory() as folder:
            items = max(1, round(size / each))
            total, steps = measured(Path(folder), items, options.systems, protocols(options.protocols))
        rates.append({name: spent.seconds / total * 1e6 for name, spent in steps.items()})
        most = max(most, *(spent.most for spent in steps.values()))
        told = (f"{name} {spent.seconds:.0f} s, {spent.most} MB" for name, spent in steps.items())
        print(f"{total:,} judgements: {'; '.join(told)}", flush=True)
    growth = max(rates[-1][name] / rates[0][name] for name in rates[0])
    print(
        f"a judgement at the largest size takes at most {growth:.2f} times that of the smallest (goal ≤ {MOST_GROWTH})"
    )
    print(f"at most {most} MB (goal ≤ {MOST_MB:,})")
    return {"linear": growth <= MOST_GROWTH, "memory": most <= MOST_MB}


def main() -> int:
    """Exit code 1 when a goal is missed."""
    sizes = (250_000, 500_000, 1_000_000, 2_000_000)
    options = parser(
        __doc__, judgements=(sizes, (100,)), systems=(14, 1), protocols=(len(protocols()), 1)
    ).parse_args()
    return verdict(options, whole(options))


if __name__ == "__main__":
    sys.exit(main())
