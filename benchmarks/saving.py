"""How fast one human decision is saved, durably: alone, and while a judge writes into the same file at full speed.

    python -m benchmarks.saving [--quick]
    python -m benchmarks.saving --label-studio PATH   # a virtual environment with label-studio in it

Goal 7: the median is at most a twentieth of a Label Studio save, and the 99th percentile beside the judge is below one
such save. Label Studio's save is timed in the same run over its own interface when its environment is given;
otherwise the ratio is to the 29 ms recorded on the machine the goal was set on, and is printed as such.
"""

import http.client
import json
import multiprocessing
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import count, cycle
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import judged_artifact
from annotator.actions.items import items
from annotator.actions.labelling import labels
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import RunJournal
from annotator.domain.common import new_id
from annotator.domain.judges.judge import Call, Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.item import Response
from annotator.judging.runner import Finished
from annotator.storage.connection import raw_connection
from benchmarks.measuring import parser, verdict
from tests.projects.filled_project import filled_project
from tests.storage import sql

RECORDED_MS = 29.0
PROTOCOL = "researcherbench.coverage"
SHARE, BATCH, EVERY = 20, 64, 0.05
# A person pauses longer; this only keeps a run short.
PAUSE = 0.002
PEER, BARE = "Label Studio saves an annotation", "a bare commit on this disk"
Save = Callable[[], object]


def main() -> int:
    """Time, print, and say whether the goal is met."""
    known = parser(__doc__, saves=(500, 5))
    known.add_argument("--label-studio", type=Path, help="a virtual environment with label-studio in it")
    options = known.parse_args()
    with tempfile.TemporaryDirectory(prefix="goldsmith-bench-") as folder, ExitStack() as stack:
        # Opened as on any morning: who made the project wrote into every table.
        made = filled_project(Path(folder))
        made.close()
        project = Project.open(made.path)
        ours = _saves(project)
        peers = {BARE: _bare_commit(Path(folder))}
        if options.label_studio:
            peers[PEER] = stack.enter_context(_label_studio(options.label_studio, options.saves))
        alone = _timed(ours | peers, options.saves)
        stack.close()
        with _judge(project.path, EVERY):
            beside = _timed({f"{name}, a judge writing": save for name, save in ours.items()}, options.saves)
        with _judge(project.path, 0.0):
            _timed(
                {f"{name}, another writing without a pause": save for name, save in ours.items()},
                options.saves,
            )
        project.close()
    peer = alone[PEER][0] if options.label_studio else RECORDED_MS
    medians, p99 = {name: alone[name][0] for name in ours}, max(p99 for _, p99 in beside.values())
    return verdict(options, _judged(medians, p99, peer, measured=bool(options.label_studio)))


def _judged(medians: dict[str, float], p99: float, peer: float, *, measured: bool) -> dict[str, bool]:
    print(f"A Label Studio save: {peer:.1f} ms, {'timed in this run' if measured else 'recorded elsewhere'}")
    for name, p50 in medians.items():
        print(f"  {name}, median alone: 1/{peer / p50:.0f} of it (goal: at most 1/{SHARE})")
    print(f"  99th percentile beside a judge: {p99 / peer:.2f} of it (goal: below 1)")
    return {
        "goal 7 for the median": max(medians.values()) * SHARE <= peer,
        "for the 99th percentile": p99 < peer,
    }


def _saves(project: Project) -> dict[str, Save]:
    """The two decisions people make all day: to change a criterion's words, and to label one."""
    item = items.ids(project)[0]
    with project.store.read() as db:
        rubric = judged_artifact(db, items.ids(project)[1], Kind.RUBRIC)
    mine = sql.first(project, "SELECT id FROM artifact WHERE item_id = ?", [item])[0]
    unit, numbers = artifacts.read(project, mine).document.units[0].id, count()
    assert rubric
    response = sql.first(project, "SELECT id FROM response WHERE item_id = ? LIMIT 1", [rubric.item_id])[0]
    units, values = cycle(each.id for each in rubric.document.units), cycle(("yes", "no"))
    return {
        "change a criterion": lambda: artifacts.change_unit(
            project, mine, unit, text=f"Explains point {next(numbers)}"
        ),
        "set a label": lambda: labels.set_label(project, response, next(units), next(values)),
    }


def _bare_commit(folder: Path) -> Save:
    """One row written durably with the program's settings: what this disk asks of any save."""
    path = folder / "bare.db"
    path.touch()
    raw, numbers = raw_connection(path), count()
    raw.execute("CREATE TABLE t (n INTEGER)")
    return lambda: raw.execute("INSERT INTO t VALUES (?)", [next(numbers)])


def _timed(saves: dict[str, Save], times: int) -> dict[str, tuple[float, float]]:
    """Median and 99th percentile in ms of each; they take turns, so that a busy disk is busy for all of them."""
    spent: dict[str, list[float]] = {name: [] for name in saves}
    turns = list(saves.items())
    # Whoever comes first after another program wrote pays for the disk; everybody is first in turn.
    for first in range(times):
        for name, save in turns[first % len(turns) :] + turns[: first % len(turns)]:
            started = time.perf_counter()
            save()
            spent[name].append((time.perf_counter() - started) * 1000)
            time.sleep(PAUSE)
    return {name: _told(name, those) for name, those in spent.items()}


def _told(name: str, spent: list[float]) -> tuple[float, float]:
    p50, p99 = median(spent), quantiles(spent, n=100)[98]
    print(
        f"{name}: median {p50:.2f} ms, 99th percentile {p99:.2f} ms, longest {max(spent):.1f} ms", flush=True
    )
    return p50, p99


@contextmanager
def _judge(path: Path, pause: float) -> Iterator[None]:
    """A process that journals calls and judgements as a judge run does, in batches with `pause` seconds between."""
    context = multiprocessing.get_context("spawn")
    heard, told = context.Pipe(duplex=False)
    child = context.Process(target=_judge_on, args=(path, pause, told), daemon=True)
    child.start()
    heard.recv()
    started = time.perf_counter()
    try:
        yield
    finally:
        child.terminate()
        child.join()
        written = 0
        while heard.poll():
            written = heard.recv()
        print(
            f"  the judge wrote {written / (time.perf_counter() - started):.0f} judgements a second meanwhile"
        )


def _judge_on(path: Path, pause: float, told: Any) -> None:
    project = Project.open(path)
    journal = RunJournal(project, "run-1", "judge-1", PROTOCOL)
    row = sql.first(project, "SELECT id, item_id, system_id, text FROM response LIMIT 1")
    response = Response(id=row[0], item_id=row[1], system_id=row[2], text=row[3])
    item = items.read(project, response.item_id)
    rubric = sql.first(project, "SELECT artifact_id FROM judgement LIMIT 1")[0]
    unit = artifacts.read(project, rubric).document.units[0]
    told.send(0)
    for batch in count(1):
        size = BATCH if pause else 1
        journal.record(
            [
                _finished(Case(PROTOCOL, item, response, rubric, (unit,), trial=batch * BATCH + number))
                for number in range(size)
            ]
        )
        told.send(batch * size)
        time.sleep(pause)


def _finished(case: Case) -> Finished:
    call = Call(
        id=new_id(), run_id="run-1", judge_id="judge-1", cache_key=secrets.token_hex(32), status=Status.OK,
        raw='{"met": true, "quote": "residual connections", "reason": "It says so in its first section."}',
        requested_model="m", returned_model="m", tokens_input=900, tokens_output=40, latency_s=0.4,
    )  # fmt: skip
    verdict = Verdict(value="yes", quote="residual connections", rationale="It says so in its first section.")
    return Finished(case, {case.unit.id: verdict}, calls=(call,), call_id=call.id)


@contextmanager
def _label_studio(environment: Path, tasks: int) -> Iterator[Save]:
    """An annotation saved over Label Studio's own interface, on its own SQLite file."""
    with (
        tempfile.TemporaryDirectory(prefix="goldsmith-bench-", ignore_cleanup_errors=True) as folder,
        _server(environment, folder) as ask,
    ):
        choices = '<Choices name="c" toName="t"><Choice value="yes"/></Choices>'
        config = f'<View><Text name="t" value="$text"/>{choices}</View>'
        project = ask("/api/projects", {"title": "bench", "label_config": config})["id"]
        questions = [{"text": f"Question {number}"} for number in range(tasks)]
        made = iter(ask(f"/api/projects/{project}/import?return_task_ids=true", questions)["task_ids"])
        value = {"from_name": "c", "to_name": "t", "type": "choices", "value": {"choices": ["yes"]}}
        annotation = {"result": [value], "lead_time": 3.0}
        yield lambda: ask(f"/api/tasks/{next(made)}/annotations/", annotation)


@contextmanager
def _server(environment: Path, folder: str) -> Iterator[Callable[[str, Any], Any]]:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    token = secrets.token_hex(20)
    binaries = environment / ("Scripts" if os.name == "nt" else "bin")
    command = [
        str(binaries / "label-studio"), "start", "--no-browser", "--internal-host", "127.0.0.1", "--port", str(port),
        "--data-dir", folder, "--username", "bench@example.org", "--password", token, "--user-token", token,
    ]  # fmt: skip
    settings = {
        "LABEL_STUDIO_ENABLE_LEGACY_API_TOKEN": "true",
        "COLLECT_ANALYTICS": "false",
        "LATEST_VERSION_CHECK": "false",
        "SENTRY_DSN": "",
    }
    silent = subprocess.DEVNULL
    with subprocess.Popen(command, env=os.environ | settings, stdout=silent, stderr=silent) as server:
        try:
            _wait_for(port)
            yield lambda path, body: _posted(port, token, path, body)
        finally:
            server.terminate()


def _wait_for(port: int, patience: float = 240.0) -> None:
    give_up = time.monotonic() + patience
    while time.monotonic() < give_up:
        try:
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("Label Studio did not start.")


def _posted(port: int, token: str, path: str, body: Any) -> Any:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(
        "POST",
        path,
        json.dumps(body),
        {"Authorization": f"Token {token}", "Content-Type": "application/json"},
    )
    answer = connection.getresponse()
    content = answer.read()
    if answer.status not in (200, 201):
        raise SystemExit(f"Label Studio answered {answer.status}: {content[:200]!r}")
    return json.loads(content)


if __name__ == "__main__":
    sys.exit(main())
