"""The command that has a model write: what it says in words and in JSON, and that nothing is paid twice."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.material import response_journal
from annotator.actions.project.file import Project
from annotator.cli.commands import app as every_command
from annotator.cli.respond import app, systems_app
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import KEY, Odd, OddServer, completion, error
from tests.projects.small_project import small_project
from tests.servers.writing_server import QUESTIONS, answering, asking_project, question_of, writing, written
from tests.storage import sql
from tests.systems import posix

HERE = Path(__file__).parents[2]


@pytest.fixture
def server() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path) -> Path:
    project = asking_project(tmp_path)
    project.close()
    return project.path


def words(file: Path, server: OddServer, *more: str) -> list[str]:
    return [str(file), "--system", "Scribe", "--base-url", server.url, "--model", "test-model", *more]


def run(*said: str) -> tuple[int, str]:
    """The exit code and what was said; a refusal is raised."""
    found = CliRunner().invoke(app, list(said))
    if isinstance(found.exception, Refusal):
        raise found.exception
    return found.exit_code, found.stdout


def started(file: Path, server: OddServer, *more: str) -> subprocess.Popen[bytes]:
    code = "from annotator.cli.respond import app; app()"
    command = [sys.executable, "-c", code, *words(file, server, *more)]
    environment = os.environ | {"PYTHONPATH": str(HERE), "WRITING_KEY": KEY}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment)


def reports(file: Path) -> list[tuple[str, int]]:
    project = Project.open(file, readonly=True)
    question = "SELECT i.key, r.trial FROM response r JOIN item i ON i.id = r.item_id ORDER BY 1, 2"
    rows = sql.rows(project, question)
    project.close()
    return rows


def committed(file: Path, wanted: int) -> None:
    """Wait until so many reports are in the file: what comes within 50 ms is committed together."""
    patience = time.monotonic() + 60
    while len(reports(file)) < wanted:
        assert time.monotonic() < patience
        time.sleep(0.02)


def test_a_report_has_no_thinking_and_the_servers_sources_and_both_stay_with_the_reply(
    file: Path, server: OddServer
) -> None:
    found = ["https://a.example/one"]
    server.answer = answering(
        lambda question, _: completion(f"Hm. I begin.</think># Report\n\nOn: {question} [1]", citations=found)
    )
    code, out = run(*words(file, server))
    assert code == 0
    assert out.splitlines()[-2:] == [
        "2 reports: The model's thinking was taken off; the reply as it came still has it.",
        "2 reports: The reference list is made of the sources that the server named beside the text.",
    ]
    project = Project.open(file, readonly=True)
    texts = {text for (text,) in sql.rows(project, "SELECT text FROM response")}
    assert texts == {f"# Report\n\nOn: {one} [1]\n\n## References\n\n- [1] {found[0]}" for one in QUESTIONS}
    raws = [raw for (raw,) in sql.rows(project, "SELECT raw FROM call")]
    project.close()
    assert len(raws) == 2
    assert all(raw.startswith("Hm. I begin.</think># Report") and found[0] in raw for raw in raws)


def test_what_was_written_and_what_failed_is_said(file: Path, server: OddServer) -> None:
    server.answer = answering(
        lambda question, _: error(400, "No.") if question == QUESTIONS[1] else written(question)
    )
    code, out = run(*words(file, server))
    assert code == 3
    assert out.splitlines()[0].startswith("1 of 2 reports written (done")
    assert "1 report failed. Run the same command again" in out
    assert "Item 2, trial 1: api error. The server answered 400: No." in out


def test_the_same_is_told_as_json(file: Path, server: OddServer) -> None:
    server.answer = answering(lambda *_: error(400, "No."))
    _, out = run(*words(file, server, "--item", "1", "--trials", "2", "--json"))
    found = json.loads(out)
    assert (found["done"], found["total"], found["missing"]) == (0, 2, {"api_error": 2})
    assert [(one["item"], one["trial"], one["status"]) for one in found["failed"]] == [
        ("1", 1, "api_error"),
        ("1", 2, "api_error"),
    ]


def test_the_writer_of_last_time_goes_on_without_being_named(file: Path, server: OddServer) -> None:
    run(*words(file, server, "--item", "1"))
    _, out = run(str(file), "--system", "Scribe", "--json")
    assert (json.loads(out)["done"], reports(file)) == (2, [("1", 1), ("2", 1)])


def test_modes_and_plans_are_chosen_by_option(file: Path, server: OddServer) -> None:
    run(*words(file, server, "--item", "1", "--mode", "gold-plan-injection"))
    run(*words(file, server, "--item", "1", "--plan"))
    assert len(server.bodies) == 3
    with pytest.raises(Refusal, match="the gold plan is given"):
        run(*words(file, server, "--mode", "isolated", "--plan"))


def test_after_a_kill_no_finished_report_is_paid_again(file: Path, server: OddServer) -> None:
    third = threading.Event()

    def slow(question: str, number: int) -> Odd:
        if number == 2:
            third.set()
            return Odd(held=True)
        return written(question)

    server.answer = answering(slow)
    process = started(file, server, "--trials", "2", "--concurrency", "1")
    assert third.wait(60)
    committed(file, 2)
    process.kill()
    process.communicate()
    assert len(reports(file)) == 2
    server.over.set()
    server.answer = answering()
    _, out = run(*words(file, server, "--trials", "2"))
    assert (
        json.loads(run(*words(file, server, "--trials", "2", "--json"))[1])["done"],
        len(reports(file)),
    ) == (4, 4)
    # The one that was under way when the process died is the only one asked twice.
    assert Counter(map(question_of, server.bodies)).total() == 5
    assert "4 of 4 reports written" in out


@posix
def test_an_interrupt_stops_it_in_order(file: Path, server: OddServer) -> None:
    begun = threading.Event()

    def held(question: str, number: int) -> Odd:
        if number == 1:
            begun.set()
            return Odd(held=True)
        return written(question)

    server.answer = answering(held)
    process = started(file, server, "--concurrency", "1", "--json")
    assert begun.wait(60)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 3, err.decode()
    found: dict[str, Any] = json.loads(out)
    assert (found["state"], found["done"], len(reports(file))) == ("cancelled", 1, 1)


def test_no_key_is_in_the_file_or_in_what_is_said(file: Path, server: OddServer) -> None:
    server.script(error(401, f"Incorrect API key provided: {KEY}"))
    process = started(file, server, "--key-env", "WRITING_KEY")
    out, err = process.communicate(timeout=60)
    assert any(KEY in value for value in server.headers[0].values())
    assert KEY.encode() not in out + err + file.read_bytes()
    assert reports(file) == []


def test_a_report_that_is_empty_is_asked_for_once_more(file: Path, server: OddServer) -> None:
    server.script(completion(""), written(QUESTIONS[0]))
    run(*words(file, server, "--item", "1"))
    assert "Write the whole report." in server.bodies[1]["messages"][-1]["content"]
    assert reports(file) == [("1", 1)]


def test_what_it_would_take_is_told_and_nobody_is_asked(file: Path, server: OddServer) -> None:
    with closing(Project.open(file)) as project:
        judges.add(project, "pen", base_url=server.url, model="test-model")
    _, out = run(str(file), "--system", "Scribe", "--judge", "pen", "--trials", "3", "--estimate", "--json")
    told = json.loads(out)
    assert (told["units"], told["calls"], told["things"]) == (6, 6, "reports")
    assert (server.bodies, reports(file)) == ([], [])


def test_letter_11_reports_get_their_origin_from_the_command_line(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    project.close()
    file = str(project.path)
    run = CliRunner().invoke
    told = ["--system", "Alpha", "--collected-on", "2025-03-24", "--settings", "defaults"]
    said = run(every_command, ["responses", "set", file, *told])
    assert said.stdout.strip() == "2 responses changed."
    said = run(systems_app, ["set", file, "--system", "Alpha", "--group", "deep research"])
    assert said.stdout.strip() == "1 system changed."
    said = run(systems_app, ["list", file, "--json"])
    assert json.loads(said.stdout)["systems"][0]["group"] == "deep research"
    said = run(every_command, ["results", file, "--view", "collection", "--json"])
    assert "2025-03-24/2025-03-24" in said.stdout


def test_a_seminar_is_left_out_and_told(file: Path, server: OddServer) -> None:
    server.answer = answering(lambda question, _: written(question) if question else error(400))
    with closing(Project.open(file)) as project:
        (file.parent / "talk.txt").write_text("Ann: Salt is old.\n\nBen: It is cheap, too.\n", "utf-8")
        imports.run(project, imports.TRANSCRIPTS, [file.parent / "talk.txt"])
        seminar = items.change(project, items.ids(project)[-1], dataset="").subject
        code, lacking = run(*words(file, server))[0], response_journal.lacking(project)
        assert (code, [one.item for one in lacking]) == (3, ["talk"])
        items.change(project, seminar, dataset="seminars")
        assert response_journal.lacking(project) == []
    before, (code, said) = len(server.bodies), run(*words(file, server, "--trials", "2"))
    assert (code, len(server.bodies) - before, "1 seminar is left out: a " in said) == (0, 2, True)
    for mode in ("end-to-end", "continuation"):
        with pytest.raises(Refusal, match="Item talk is a seminar"):
            run(*words(file, server, "--item", "talk", "--system", mode, "--mode", mode))
