"""A release says what Results says, figure by figure, whatever state the project is in.

`python -m tests.promises.test_released_figures 500` tries as many states and lists why a release was refused.
"""

import asyncio
import csv
import io
import json
import shutil
import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from contextlib import closing, redirect_stdout
from itertools import count, islice
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any

from annotator.actions.authoring import criterion_weights, gold
from annotator.actions.imports import imports
from annotator.actions.items import items, named_rubrics
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.labelling import label_sealing
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import result_raters
from annotator.actions.results.result_raters import CONSENSUS, PERSON_KEY
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import validation_sets
from annotator.actions.sets.validation_sets import SetRequest
from annotator.cli import run_command
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.release import release, tables_csv
from annotator.protocols import COMPOSITES, PROTOCOLS
from tests.judging.odd_server import OddServer
from tests.projects import generated_project as generated
from tests.projects.pairs_project import add_report, item, pairs_project, work_as
from tests.projects.small_project import small_project
from tests.servers.served import add_judge, answering, serving

COVERAGE = "researcherbench.coverage"
WEIGHTS = ("", "", "-3 to 3", "-2.5, -0.5, 0.25, 1, 4")
# What a figure is by, and what must be the same of it wherever it stands.
NAMED = ("protocol", "metric", "rater", "system", "group")
SAME = ("value", "low", "high", "n", "missing", "floor", "ceiling", "method", "note", "gold")
OTHERS = [kind for kind in generated.KINDS if kind is not Kind.RUBRIC]
Figures = dict[tuple[str, ...], dict[str, Any]]


def states(begun: Path, folder: Path, seed: int, server: OddServer) -> Iterator[Project]:
    """The project of a seed after each of its acts, from a copy of one with people alone: they write, judge, take back
    and begin anew.
    """
    rng = Random(seed)
    many = rng.randint(2, 6)
    project = Project.open(Path(shutil.copy(begun, folder / f"{seed}.goldsmith")))
    work_as(project, "Cora")
    for number in range(1, many):
        items.add(project, f"Question {number + 1}?", rng.choice(("Literature Review", "")))
    criterion_weights.allow(project, rng.choice(WEIGHTS))
    for place in range(many):
        if rng.random() < 0.5:
            items.change(project, item(project, place), subject=rng.choice(("Law", "Maths", "all")))
        for system in ("Alpha", "Beta/β")[: rng.randint(1, 2)]:
            add_report(project, system, place)
        generated.write(rng, project, place, Kind.RUBRIC, rng.choice((("Dan",), ("Dan",), ())))
        if rng.random() < 0.4:
            generated.write(rng, project, place, rng.choice(OTHERS))
        work_as(project, "Cora")
    acts = [_judge, _judge, _label, _label, *rng.choices(ACTS, k=6), *rng.choices(generated.LATER, k=3)]
    rng.shuffle(acts)
    server.answer = answering(lambda _: rng.choice(("yes", "no")))
    add_judge(project, server)
    for act in acts:
        try:
            act(rng, work_as(project, "Cora"))
        except (Refusal, IndexError):
            # Where there is nothing left to do it to, it is not done.
            continue
        yield work_as(project, "Cora")
    project.close()


def _judge(rng: Random, project: Project) -> None:
    order = rng.choice((
        RunRequest("baseline", COVERAGE), RunRequest("distant", COVERAGE), RunRequest("distant", COVERAGE, trials=3),
        RunRequest("baseline", rng.choice(("adra.reasoning", "adra.plan", "researcherbench.pairwise"))),
    ))  # fmt: skip
    asyncio.run(judge_runs.run(project, order))


def _vote(rng: Random, project: Project) -> None:
    members = rng.choice((("distant",), ("distant", "baseline")))
    if not any(one.name == "vote" for one in judges.all_of(project)):
        derived_judges.add(project, "vote", members)
    asyncio.run(judge_runs.run(project, RunRequest("vote", COVERAGE)))


def _label(rng: Random, project: Project) -> None:
    generated.label(rng, project, rng.choice((COVERAGE, COVERAGE, "adra.reasoning")))
    if rng.random() < 0.7:
        whose = [one.id for one in people.people(work_as(project, "Cora"))]
        label_sealing.submit_all(project, whose, partial=True)


def _reopen_labels(rng: Random, project: Project) -> None:
    label_sealing.reopen(work_as(project, rng.choice(("Dan", "Eve"))), rng.choice(items.ids(project)))


def _keep_set(rng: Random, project: Project) -> None:
    weights = criterion_weights.allowed(project).values
    rubrics = {
        key: Rubric(
            units=tuple(
                Criterion(text=text, weight=rng.choice(weights))
                for text in rng.sample(generated.WORDS, rng.randint(1, 3))
            )
        )
        for key in (str(place + 1) for place in range(len(items.ids(project))))
        if rng.random() < 0.8
    }
    named_rubrics.keep(project, rng.choice(("lax", "strict")), rubrics)


def _use_set(rng: Random, project: Project) -> None:
    named_rubrics.use(project, rng.choice(("lax", "lax", "strict", "")))


def _retire(rng: Random, project: Project) -> None:
    # One item stays in use: of none there is nothing to release.
    items.change(project, rng.choice(items.ids(project)[1:]), retired=True)


def _unadjudicated(rng: Random, project: Project) -> None:
    gold.count_unadjudicated(project, rng.random() < 0.5)


def _draw_set(rng: Random, project: Project) -> None:
    labellers = tuple(one.id for one in people.people(project) if one.name in ("Dan", "Eve"))
    validation_sets.make(project, SetRequest("set", labellers, size=2))
    validation_sets.lock(project, "set")


ACTS = (
    _judge, _vote, _label, _reopen_labels, _keep_set, _use_set, _keep_set, _use_set, _retire, _unadjudicated, _draw_set
)  # fmt: skip


def differences(project: Project, folder: Path) -> Iterator[str]:
    """Every figure that Results, `scores.json` and `scores.csv` do not say alike; Refusal where nothing is released."""
    releases.export(project, folder / "release")
    scores = _scores(folder / "release")
    bundle, _ = release.read([folder / "release"])
    if scores:
        lines = csv.DictReader(tables_csv.files(bundle)["scores.csv"].decode("utf-8-sig").splitlines())
        yield from _apart("scores.csv", _by_name(scores), _by_name(map(_typed, lines)))
    there = result_raters.everybody_under(project)
    whose = {
        name: [one.name for one in of if one.id != CONSENSUS and not one.id.startswith(PERSON_KEY)]
        for name, of in there.items()
    }
    parts = {one.name: one.of for _, one in COMPOSITES.values()}
    asked = [("--protocol", name, rater) for name, of in whose.items() for rater in of]
    protocol_of = {metric.name: shape.name for shape in PROTOCOLS.values() for metric in shape.metrics}
    asked += [("--metric", name, rater) for name, of in parts.items() for rater in whose[protocol_of[of[0]]]]
    shown = [row for option, name, rater in asked for row in _shown(project, option, name, rater)]
    yield from _apart("scores.json", _by_name(shown), _by_name(scores))


def _shown(project: Project, option: str, name: str, rater: str) -> list[dict[str, Any]]:
    with redirect_stdout(io.StringIO()) as out:
        assert run_command(["results", str(project.path), option, name, "--rater", rater, "--json"]) == 0
    return json.loads(out.getvalue())["rows"]


def _typed(line: dict[str, str]) -> dict[str, Any]:
    """A line of a table with its numbers, as JSON has them."""
    return {
        name: value if name not in SAME[:7] else float(value) if value else None
        for name, value in line.items()
    }


def _by_name(rows: Iterable[dict[str, Any]]) -> Figures:
    """Figures by what they are called; groups by two things may have one name, and nothing missing leaves no bounds."""
    listed = list(rows)
    alike = defaultdict(set)
    for row in listed:
        alike[tuple(row[name] for name in NAMED)].add(row.get("group_by"))
    found: Figures = {}
    for row in listed:
        name = tuple(row[name] for name in NAMED)
        by = row.get("group_by") if len(alike[name]) > 1 else ""
        bounds = {} if row["missing"] else {"floor": None, "ceiling": None}
        said = {part: row.get(part) for part in SAME} | bounds
        found[*name, by] = {part: None if value == "" else value for part, value in said.items()}
    return found


def _apart(where: str, one: Figures, other: Figures) -> Iterator[str]:
    for name in one.keys() | other.keys():
        if one.get(name) != other.get(name):
            yield f"{where}, {name}: {one.get(name)} and {other.get(name)}"


def tried(many: int) -> tuple[list[str], Counter[str]]:
    """What is not said alike in so many states, and how often a release was refused, by the reason."""
    found, refused, tries = list[str](), Counter[str](), count()
    with serving() as server, TemporaryDirectory() as start:
        with closing(pairs_project(Path(start))) as begun:
            people.add_person(begun, "Eve", (Role.ANNOTATOR, Role.ADJUDICATOR))
        every = (one for seed in count() for one in states(begun.path, Path(start), seed, server))
        for project in islice(every, many):
            folder = Path(start) / f"{next(tries)}"
            try:
                found += [f"{folder.name}: {words}" for words in differences(project, folder)]
            except Refusal as refusal:
                refused[refusal.happened] += 1
    return found, refused


QUICK = 25


def test_a_release_says_what_results_say_in_any_state() -> None:
    found, refused = tried(QUICK)
    assert found == []
    assert sum(refused.values()) <= QUICK / 50, refused


def test_a_release_counts_the_chosen_rubric_set_and_says_so_here_and_where_it_is_imported(
    tmp_path: Path,
) -> None:
    project = small_project(tmp_path)
    named_rubrics.keep(project, "lax", {"1": Rubric(units=(Criterion(text="Is a report", weight=1),))})
    named_rubrics.use(project, "lax")
    asyncio.run(judge_runs.run(project, RunRequest("baseline", COVERAGE)))
    releases.export(project, tmp_path / "out")
    scores = [
        row for row in _scores(tmp_path / "out") if (row["metric"], row["group"]) == ("coverage", "all")
    ]
    assert {row["n"] for row in scores} == {1}
    assert {row["gold"] for row in scores} == {"Rubric: rubric set “lax” (1 item)"}
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["rubric_set"] == "lax"
    assert "the rubric set “lax”" in (tmp_path / "out" / "data_card.md").read_text("utf-8")
    for here, chosen in (("empty", "lax"), ("begun", "")):
        other = Project.create(tmp_path / f"{here}.goldsmith")
        if here == "begun":
            items.add(other, "A question of one's own?")
        imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
        assert named_rubrics.in_force(other) == chosen
        other.close()
    note = releases.export(project, tmp_path / "papers", "researcherbench").notes[-1]
    assert "not the set “lax”" in note
    releases.export(project, tmp_path / "tables", "csv")
    lines = csv.DictReader((tmp_path / "tables" / "scores.csv").read_text("utf-8-sig").splitlines())
    assert list(_apart("scores.csv", _by_name(_scores(tmp_path / "out")), _by_name(map(_typed, lines)))) == []


def _scores(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "scores.json").read_bytes())


if __name__ == "__main__":
    many = int(sys.argv[1])
    differing, reasons = tried(many)
    print(*differing, sep="\n")
    print(f"{many} states, {len(differing)} figures differ, {sum(reasons.values())} releases refused:")
    print(*(f"{count} × {reason}" for reason, count in reasons.most_common()), sep="\n")
