"""How the program bears being killed: it is, at random moments, and what it had acknowledged is looked for.

A child works through the actions on a project file and tells of each edit only after its verb has returned; every
second child has a rival that writes judgements into the same file. Both are killed after 20 to 250 ms. Then the file
is opened again, checked whole, and every edit ever acknowledged must be in it.
"""

import json
import multiprocessing
import random
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from annotator.actions.authoring import artifacts
from annotator.actions.labelling import labels
from annotator.actions.project import backups
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.domain.common import Change, Refusal
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from tests.projects.filled_project import add_judgement
from tests.projects.small_projects import small_project
from tests.storage import sql

FRESH_AFTER = 20
PATIENCE = 60.0
Ack = dict[str, Any]


@dataclass
class Tally:
    kills: int = 0
    acknowledged: int = 0
    lost: list[str] = field(default_factory=list)
    corrupt: list[str] = field(default_factory=list)


def prepare(folder: Path) -> Path:
    """A project with insights to edit, a plan to draft in, and reports to label."""
    project = small_project(folder)
    item = _one(project, "SELECT id FROM item WHERE key = '1'")
    # They are there from the first revision, so that undoing everything leaves them to be edited.
    artifacts.start(project, item, Kind.PLAN, Plan(units=(Subtask(id="typed"),)))
    units = tuple(Insight(id=f"unit-{number}") for number in range(4))
    artifacts.start(project, item, Kind.INSIGHTS, Insights(units=units))
    project.close()
    return project.path


def _one(project: Project, question: str, *values: Any) -> Any:
    return sql.first(project, question, values)[0]


def work(path: Path, seed: int, told: Connection) -> None:
    """Edit for ever, telling of each edit once its verb has returned."""
    project, chance = Project.open(path), random.Random(seed)
    insights = _one(project, "SELECT id FROM artifact WHERE kind = 'insights'")
    plan = _one(project, "SELECT id FROM artifact WHERE kind = 'plan'")
    response, judged = sql.first(
        project,
        "SELECT r.id, v.content FROM response r JOIN artifact a ON a.item_id = r.item_id AND a.kind = 'rubric' "
        "JOIN revision v ON v.artifact_id = a.id AND v.number = a.revision LIMIT 1",
    )
    units = [unit["id"] for unit in json.loads(judged)["units"]]
    told.send("ready")
    for number in count():
        words = f"{seed}-{number}"
        match chance.choices(("change", "add", "draft", "label", "undo", "backup"), (40, 8, 25, 20, 5, 2))[0]:
            case "change":
                unit = f"unit-{chance.randrange(4)}"
                _tell(told, artifacts.change_unit(project, insights, unit, text=words * 20), words)
            case "add":
                _tell(told, artifacts.add_unit(project, insights, id=words, text=words), words)
                _tell(told, artifacts.remove_unit(project, insights, words), "")
            case "draft":
                artifacts.save_draft(project, plan, "typed", "text", words)
                told.send({"draft": words})
            case "label":
                value = chance.choice(("yes", "no"))
                _tell(told, labels.set_label(project, response, chance.choice(units), value), value)
            case "undo":
                # There may be nothing to undo, or it has moved on; then nothing was acknowledged either.
                with suppress(Refusal):
                    _tell(told, history.undo(project), "")
            case "backup":
                told.send({"backup": backups.make(project, words).name})


def _tell(told: Connection, change: Change, words: str) -> None:
    if change.seq:
        told.send({"seq": change.seq, "verb": change.verb, "words": words})


def rival(path: Path, seed: int, told: Connection) -> None:
    """Write judgements for ever, as a judge run does."""
    project = Project.open(path)
    item, response = sql.first(project, "SELECT item_id, id FROM response LIMIT 1")
    artifact = _one(project, "SELECT id FROM artifact WHERE kind = 'rubric' AND item_id = ?", item)
    unit = json.loads(_one(project, "SELECT content FROM revision WHERE artifact_id = ?", artifact))["units"][
        0
    ]
    told.send("ready")
    for number in count(1):
        trial = seed * 100_000 + number
        add_judgement(
            project, item_id=item, response_id=response, artifact_id=artifact, unit_id=unit["id"], trial=trial
        )
        told.send({"trial": trial})


def _processes() -> Any:
    # Children that start from a warm process spare a second each; Windows has to start them cold.
    ways = multiprocessing.get_all_start_methods()
    context = multiprocessing.get_context("forkserver" if "forkserver" in ways else "spawn")
    if "forkserver" in ways:
        context.set_forkserver_preload([__name__])
    return context


def kill_once(context: Any, path: Path, seed: int) -> list[Ack]:
    """Let a child (and every second time a rival) work and be killed; what they acknowledged."""
    tasks: list[Callable[..., None]] = [work, rival] if seed % 2 else [work]
    pipes = [context.Pipe(duplex=False) for _ in tasks]
    children = [
        context.Process(target=task, args=(path, seed, told))
        for task, (_, told) in zip(tasks, pipes, strict=True)
    ]
    for child, (_, told) in zip(children, pipes, strict=True):
        child.start()
        told.close()
    for heard, _ in pipes:
        if not heard.poll(PATIENCE) or heard.recv() != "ready":
            raise RuntimeError("a child did not start")
    time.sleep(random.Random(seed).uniform(0.020, 0.250))
    if any(child.exitcode is not None for child in children):
        raise RuntimeError("a child ended by itself, so that killing it shows nothing")
    for child in children:
        child.kill()
    for child in children:
        child.join()
    return [acknowledged for heard, _ in pipes for acknowledged in _drained(heard)]


def _drained(heard: Connection) -> Iterator[Ack]:
    with heard:
        while True:
            try:
                yield heard.recv()
            except (EOFError, OSError):
                # Told to the end, or killed in the middle of telling.
                return


def look(path: Path, ledger: list[Ack], tally: Tally) -> None:
    """Open the file as the program does, check it whole, and look for every acknowledged edit."""
    try:
        project = Project.open(path)
    except Refusal as refusal:
        tally.corrupt.append(f"{path}: {refusal}")
        return
    tally.corrupt += [f"{path}: {finding}" for finding in checking.check(project).problems]
    tally.lost += [f"{path}: {ack}" for ack in ledger if not _is_there(project, ack)]
    for backup in backups.listing(path):
        if not backup.ok:
            tally.corrupt.append(f"{backup.path}: {backup.problem}")
    project.close()


def _is_there(project: Project, ack: Ack) -> bool:
    match ack:
        case {"seq": seq, "verb": verb, "words": words}:
            return _change_is_there(project, seq, verb, words)
        case {"trial": trial}:
            return bool(_one(project, "SELECT count(*) FROM judgement WHERE trial = ?", trial))
        case {"draft": words}:
            kept = _one(project, "SELECT text FROM draft")
            seed, number = words.split("-")
            return bool((int(kept.split("-")[0]), int(kept.split("-")[1])) >= (int(seed), int(number)))
        case {"backup": name}:
            # A later backup may have taken its place within the half hour.
            return name <= max(file.path.name for file in backups.listing(project.path))
    raise ValueError(ack)


def _change_is_there(project: Project, seq: int, verb: str, words: str) -> bool:
    row = sql.first(project, "SELECT subject, verb, after FROM audit WHERE seq = ?", [seq])
    if row is None or row[1] != verb:
        return False
    after = json.loads(row[2])
    if "revision" not in after:
        return words in row[2]
    newest = _one(project, "SELECT max(number) FROM revision WHERE artifact_id = ?", row[0])
    content = sql.first(
        project,
        "SELECT content FROM revision WHERE artifact_id = ? AND number = ?",
        [row[0], after["revision"]],
    )
    return content is not None and words in content[0] and newest >= after["revision"]


def run(kills: int, folder: Path, seed: int) -> Tally:
    """Kill so many times, on a fresh project every now and then."""
    context, tally = _processes(), Tally()
    path, ledger = Path(), list[Ack]()
    for number in range(kills):
        if number % FRESH_AFTER == 0:
            path, ledger = prepare(folder / f"project-{number}"), []
        acknowledged = kill_once(context, path, seed + number)
        ledger += acknowledged
        tally.kills += 1
        tally.acknowledged += len(acknowledged)
        look(path, ledger, tally)
    return tally
