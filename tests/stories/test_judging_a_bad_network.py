"""Judging goes wrong: a bad network, a kill at any moment (nothing acknowledged is lost); and three sets of rubrics."""

import json
import os
import subprocess
import time
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from tests.crashes import crash
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.small_projects import answer, small_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql
from tests.windows import children

KEY = "sk-canary-4f1d2c3b5a69"
YES = json.dumps({"quote": "", "rationale": "It says so.", "covered": "yes"})
ITEMS, CRITERIA, SYSTEMS = 4, 6, ("Alpha", "Beta")
CASES = ITEMS * CRITERIA * len(SYSTEMS)


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    project = people.new_project(tmp_path / "bad network.goldsmith")
    people.someone(project)
    for number in range(ITEMS):
        item = items.add(project, f"Question {number}: what is shown?").subject
        units = tuple(Criterion(text=f"Explains matter <{number}.{place}>") for place in range(CRITERIA))
        assignments.seal(project, artifacts.start(project, item, Kind.RUBRIC, Rubric(units=units)).subject)
    for name in SYSTEMS:
        answer(project, name)
    judges.add(project, "distant", base_url=server.url, model="test-model", key_env="CANARY_KEY")
    return project.path


def run(file: Path, *words: str) -> subprocess.Popen[bytes]:
    command = children.started("judge", "run", file, "--judge", "distant", "--json", *words)
    environment = os.environ | {"CANARY_KEY": KEY}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def finished(process: subprocess.Popen[bytes], code: int = 0) -> dict[str, Any]:
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, err.decode()
    return dict(json.loads(out))


def stored(file: Path) -> list[tuple[str, str | None, str, str]]:
    """(question and criterion, value, status, cause) of each judgement of the judge, and its system."""
    project = Project.open(file, readonly=True)
    question = (
        "SELECT s.name || unit_id, value, status, cause FROM judgement j "
        "JOIN response r ON r.id = j.response_id JOIN system s ON s.id = r.system_id"
    )
    rows = sql.rows(project, question)
    project.close()
    return rows


def named(body: dict[str, Any]) -> str:
    """The case that a request is about: its criterion's mark and its report's title."""
    text = "\n".join(str(message["content"]) for message in body["messages"])
    mark = text[text.index("Explains matter <") :].split(">")[0]
    return f"{mark} {next(name for name in SYSTEMS if f'# {name}' in text)}"


FAULTS: tuple[tuple[str, Odd], ...] = (
    ("rate limit", Odd(json.dumps({"error": {"message": "slow down"}}), 429, {"retry-after": "0.05"})),
    ("server error", error(500, "boom")),
    ("late", Odd(completion(YES).body, delay=3.0)),
    ("cut", Odd(completion(YES).body, cut=True)),
    ("malformed", Odd('{"choices": [{"mess')),
    ("refusal", completion(None, refusal="I will not judge this.")),
    ("prose", completion("No, the report never mentions the Bayesian analysis, I am afraid. Or maybe.")),
    ("ten of ten", completion("10/10")),
)


def test_every_fault_ends_as_a_verdict_or_a_cause(file: Path, server: OddServer) -> None:
    sick = {f"Explains matter <0.{place}": fault for place, (_, fault) in enumerate(FAULTS[:CRITERIA])}
    sick |= {"Explains matter <1.0": FAULTS[6][1], "Explains matter <1.1": FAULTS[7][1]}

    def reply(body: dict[str, Any], number: int) -> Odd:
        return sick.get(named(body).split(" Alpha")[0], completion(YES))

    server.answer = reply
    ended = finished(run(file, "--concurrency", "6", "--timeout", "0.5"), code=3)
    rows = stored(file)
    assert ended["done"] == ended["total"] == len(rows) == CASES
    assert all(
        (value is None) == (status != "ok") and (status == "ok" or cause) for _, value, status, cause in rows
    )
    assert {value for _, value, _, _ in rows} == {"yes", None}
    assert sum(status != "ok" for _, _, status, _ in rows) == sum(ended["missing"].values())
    assert {"refused", "invalid", "timeout", "api_error"} <= set(ended["missing"])


def test_a_killed_run_is_gone_on_with_and_repeats_no_finished_call(file: Path, server: OddServer) -> None:
    finished_calls, in_flight = CASES // 3, 3
    server.answer = lambda body, number: replace(completion(YES), held=number >= finished_calls)
    process = run(file, "--concurrency", str(in_flight), "--timeout", "60")
    wait_until(lambda: len(server.bodies) == finished_calls + in_flight)
    wait_until(lambda: len(stored(file)) == finished_calls)
    process.kill()
    process.communicate()
    asked = [named(body) for body in server.bodies]
    server.answer = lambda body, number: completion(YES)
    ended = finished(run(file, "--concurrency", str(in_flight), "--timeout", "10"))
    again = Counter(named(body) for body in server.bodies[len(asked) :])
    assert ended["done"] == CASES
    assert len(again) == again.total() == CASES - finished_calls
    assert set(again) & set(asked) == set(asked[finished_calls:])  # what was in flight, and nothing else


def test_the_key_is_in_no_file_and_no_output(file: Path, server: OddServer) -> None:
    server.answer = lambda body, number: error(401, f"Incorrect API key provided: {KEY}")
    out, err = run(file, "--concurrency", "2", "--timeout", "5").communicate(timeout=60)
    assert KEY.encode() not in out + err
    assert all(KEY.encode() not in path.read_bytes() for path in file.parent.iterdir() if path.is_file())
    assert any(
        header.get("authorization", header.get("Authorization", "")).endswith(KEY)
        for header in server.headers
    )


def wait_until(true: Any, seconds: float = 30) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


# `GOLDSMITH_KILLS=200 python -m pytest -s tests/stories/test_judging_a_bad_network.py` kills so many times, and prints
# what came of it.
KILLS = int(os.environ.get("GOLDSMITH_KILLS", "8"))


@pytest.mark.slow
def test_no_kill_loses_anything(tmp_path: Path) -> None:
    tally = crash.run(KILLS, tmp_path, seed=11)
    print(tally)
    assert (tally.kills, tally.lost, tally.corrupt) == (KILLS, [], [])
    # Work was going on: otherwise nothing could have been lost.
    assert tally.acknowledged > 2 * KILLS


def test_an_edit_that_is_not_there_is_called_lost(tmp_path: Path) -> None:
    tally = crash.Tally()
    path = crash.prepare(tmp_path)
    crash.look(path, [{"seq": 9999, "verb": "change text", "words": "x"}, {"trial": 77}], tally)
    assert (len(tally.lost), tally.corrupt) == (2, [])


DIMENSIONS, REFERENCE = "researcherbench.rubric.dimensions", "researcherbench.rubric.reference"
DRAFTED = (("Compares the stability of training", 3),)
REVIEWED = (*DRAFTED, ("Names the dataset that was used", 2))


def rubric_answer(body: dict[str, Any], number: int) -> Odd:
    """Criteria by dimensions, or by reference: first drafted, then reviewed."""
    system, user = (message["content"] for message in body["messages"])
    if "four general dimensions" in system:
        criteria = (("Explains residual connections well", 1), ("Is easy to read", 1))
    else:
        criteria = REVIEWED if "Hand in the final rubric." in user else DRAFTED
    trees = [{"basis": "readability", "text": text, "weight": weight} for text, weight in criteria]
    return completion(json.dumps({"criteria": trees}))


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    server.answer = rubric_answer
    project = small_project(tmp_path)
    paper = tmp_path / "paper.md"
    paper.write_text("# A paper\n\nTraining is stable with residual connections on ImageNet.", "utf-8")
    for item_id in items.ids(project):
        items.add_source(project, item_id, paper)
    add_judge(project, server)
    return project


def test_letter_18_rubric_sets_are_drafted_judged_and_compared(
    project: Project, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(project.path)

    def told(*words: str) -> Any:
        capsys.readouterr()
        assert run_command([*words, "--json"]) == 0
        return json.loads(capsys.readouterr().out)

    told("judge", "run", file, "--judge", "baseline")
    for extraction in (DIMENSIONS, REFERENCE):
        told("judge", "extract", file, "--judge", JUDGE, "--extraction", extraction)
    # One call for each item by dimensions; a draft and its review by reference.
    assert len(server.bodies) == 2 + 4
    assert [(one["set"], one["criteria"], one["in_force"]) for one in told("rubrics", "list", file)["sets"]] == [
        ("settled", 6, True), ("by dimensions", 4, False), ("by reference", 4, False), ("R1", 6, False),
    ]  # fmt: skip
    before = told("results", file, "--metric", "coverage", "--by", "all")["rows"]
    for name in ("by dimensions", "by reference"):
        told("rubrics", "use", file, name)
        told("judge", "run", file, "--judge", "baseline")
        overview = told("results", file, "--view", "overview", "--judge", "baseline")["sheets"][0]
        assert f"Rubrics in force: “{name}”, not the experts' own." in overview["told"]
    told("rubrics", "use", file, "settled")
    assert told("results", file, "--metric", "coverage", "--by", "all")["rows"] == before
    result = {
        sheet["title"]: sheet
        for sheet in told("results", file, "--view", "rubrics", "--judge", "baseline")["sheets"]
    }
    assert {"Scores", "Weights", "Criteria"} <= set(result)
    weights = {row["weight"]: row for row in result["Weights"]["rows"]}
    assert [weights[weight]["set_by_dimensions"] for weight in (1, 2, 3)] == [1.0, 0.0, 0.0]
    assert [weights[weight]["set_by_reference"] for weight in (1, 2, 3)] == [0.0, 0.5, 0.5]
