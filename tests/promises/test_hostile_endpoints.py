"""What an endpoint may send: nothing of it stops a run, becomes a verdict, or takes away what was stored before."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.judging.batches import batching
from annotator.judging.calls import limits
from annotator.judging.calls.breaker import LIKE_FAILURES, Breaker
from tests.actions.contests.contest_project import add_seminar, task
from tests.cli.test_project import goldsmith
from tests.judging.batch_server import BatchServer, Results, answered
from tests.judging.odd_server import Odd, completion, error, streamed
from tests.projects.small_project import small_project
from tests.servers import drafting_server
from tests.servers.served import JUDGE, answering, serving_batches
from tests.storage import sql
from tests.templates import once

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}
COMPARED = {"first": SCORES, "second": SCORES, "reason": "So.", "better": "first", "confidence": 0.8}
REPORT = "# Report\n\nResidual connections help."
# A command, what it can bring at most, and what of it is in the project.
COMMANDS: dict[str, tuple[str, int, str]] = {
    "run": (
        "judge run {file} --judge distant --system Alpha --system Beta",
        12,
        "SELECT count(*) FROM judgement WHERE value IS NOT NULL AND trial = 1",
    ),
    "batch": (
        "judge run {file} --judge distant --system Alpha --system Beta --trials 2 --batch",
        12,
        "SELECT count(*) FROM judgement WHERE value IS NOT NULL AND trial = 2",
    ),
    "respond": (
        "respond {file} --system Scribe --judge distant --trials 2",
        20,
        "SELECT count(*) FROM response WHERE mode = 'end-to-end' AND text LIKE '# Report%'",
    ),
    "draft": (
        "draft ask {file} --judge distant --kind classification "
        + " ".join(f"--item {key}" for key in (1, 2, *(f"s{number}" for number in range(8)))),
        10,
        "SELECT count(*) FROM extract WHERE state = 'proposed'",
    ),
    "contest": (
        "contest run {file} --judge distant --rounds 1",
        16,
        "SELECT count(*) FROM contest WHERE status = 'ok'",
    ),
    # Last: a judge that failed its test is not run.
    "test": ("judge test {file} distant", 0, "SELECT 0"),
}
# So many questions of the first run are answered well before a server turns hostile.
BEFORE = 3


def good(body: dict[str, Any]) -> Odd:
    """What a well-behaved server replies to any of the commands."""
    system, user = (message["content"] for message in body["messages"][:2])
    if "You are being tested" in system:
        first, last = re.findall(r"at the (?:beginning|end) is (\S+)\.", user)
        return completion(json.dumps({"first_word": first, "last_word": last}))
    if "The criterion:\n\n" in user:
        return answering(lambda _: "yes")(body, 0)
    if "The second task:" in user:
        return completion(json.dumps(COMPARED))
    if "response_format" in body or "JSON" in system:
        return drafting_server.answer(body, 0)
    return completion(REPORT)


@dataclass(frozen=True)
class Mode:
    """A way to be hostile: what it makes of a good reply, and whether that can be used, if only as text of a report."""

    name: str
    change: Callable[[Odd, int], Odd]
    usable: bool = False
    as_report: bool = False

    def line(self, request: dict[str, Any]) -> str:
        """What it makes of a request in a batch."""
        odd = self.change(good(request["body"]), 0)
        try:
            return answered(request["custom_id"], odd)
        except ValueError:
            return str(odd.body)


def always(odd: Odd) -> Callable[[Odd, int], Odd]:
    """The same for every request."""
    return lambda _, number: odd


def altered(change: Callable[[dict[str, Any]], Any]) -> Callable[[Odd, int], Odd]:
    """A good reply whose tree is changed."""

    def answer(odd: Odd, _: int) -> Odd:
        tree = json.loads(odd.body)
        change(tree)
        return Odd(json.dumps(tree))

    return answer


def content(change: Callable[[str], Any]) -> Callable[[Odd, int], Odd]:
    """A good reply whose content is changed."""

    def put(tree: dict[str, Any]) -> None:
        message = tree["choices"][0]["message"]
        message["content"] = change(message["content"])

    return altered(put)


def message(**fields: Any) -> Callable[[Odd, int], Odd]:
    """A good reply with further fields beside its content."""
    return altered(lambda tree: tree["choices"][0]["message"].update(fields))


def usage(**counts: Any) -> Callable[[Odd, int], Odd]:
    """A good reply whose usage is changed."""
    return altered(lambda tree: tree["usage"].update(counts))


def raw(body: str | bytes, status: int = 200, **headers: str) -> Callable[[Odd, int], Odd]:
    """The same body for every request."""
    return always(Odd(body, status, {name.replace("_", "-"): value for name, value in headers.items()}))


def refusing(word: str) -> Callable[[Odd, int], Odd]:
    """A 400 that blames a part of the request by name, whether it is there or not."""
    return always(error(400, f"Unsupported parameter: {word}", param=word))


REPLIED = json.dumps({"choices": [{"message": {"content": "x"}}]})
MODES = (
    Mode("well-behaved", lambda odd, _: odd, usable=True),
    *(
        Mode(f"counts of {name}", usage(prompt_tokens=count, completion_tokens=count), usable=True)
        for name, count in {
            "2^64": 2**64, "10^25": 10**25, "half a token": 12.5, "minus one": -1, "null": None, "words": "12",
            "not a number": float("nan"), "a list": [1],
        }.items()
    ),
    Mode("a count within the details of 2^64", usage(prompt_tokens_details={"cached_tokens": 2**64}), usable=True),
    Mode("usage missing", altered(lambda tree: tree.pop("usage")), usable=True),
    Mode("half of a surrogate pair in the model", altered(lambda tree: tree.update(model="m\ud83d")), usable=True),
    Mode("NUL in the fingerprint", altered(lambda tree: tree.update(system_fingerprint="f\0")), usable=True),
    Mode("half of a surrogate pair in the content", content(lambda text: text[:-1] + "\ud83d" + text[-1:])),
    Mode("NUL in the content", content(lambda text: text[:-1] + "\0" + text[-1:])),
    Mode("content that is a number", content(lambda _: 10**25)),
    Mode("content that is nothing", content(lambda _: None)),
    Mode("content that is empty", content(lambda _: "")),
    Mode("content that is blank", content(lambda _: " \n\t ")),
    Mode("content that is nested without end", content(lambda _: "[" * 100_000), as_report=True),
    *(
        Mode(f"thinking {name}", content(change), usable=True)
        for name, change in {
            "in tags": lambda text: f"<think>Hm.</think>{text}",
            "in tags of another name": lambda text: f"<seed:think>Hm.</seed:think>{text}",
            "that only ends": lambda text: f"I begin.\n</think>\n{text}",
            "in channels": lambda text: f"<|channel|>analysis<|message|>Hm.<|end|><|channel|>final<|message|>{text}",
            "behind it": lambda text: f"{text}\n<think>Done.</think>",
        }.items()
    ),
    Mode("thinking beside the content", message(reasoning_content="Hm."), usable=True),
    Mode("sources beside the content", altered(lambda tree: tree.update(citations=["https://a.example"])), usable=True),
    Mode("broken sources", altered(lambda tree: tree.update(citations=[None, 5, {"url": "\ud83d"}])), usable=True),
    Mode("a stream", lambda odd, _: streamed(odd), usable=True),
    Mode("a stream that breaks off", lambda odd, _: streamed(odd, done=False)),
    Mode("an unclosed thought", content(lambda text: f"<think>{text}"), as_report=True),
    Mode("a refusal", altered(lambda tree: tree["choices"][0]["message"].update(content=None, refusal="No."))),
    Mode("a filtered reply", altered(lambda tree: tree["choices"][0].update(finish_reason="content_filter"))),
    Mode("a reply that is always cut", altered(lambda tree: tree["choices"][0].update(finish_reason="length"))),
    Mode("a call of a tool", altered(lambda tree: tree["choices"][0].update(message={"tool_calls": [{}]}))),
    Mode("no choices", altered(lambda tree: tree.update(choices=[]))),
    Mode("no message", altered(lambda tree: tree.update(choices=[{}]))),
    Mode("an empty body", raw("")),
    Mode("a page of HTML", raw("<html>Sign in</html>", content_type="text/html")),
    Mode("JSON that is cut", raw(REPLIED[:-5])),
    Mode("a body that is no UTF-8", raw(b"\xff\xfe\x00")),
    Mode("a body that is not compressed as said", raw(REPLIED, content_encoding="gzip")),
    Mode("a connection that breaks off", always(Odd(REPLIED, cut=True))),
    Mode("an error under status 200", always(error(200, "overloaded"))),
    Mode("an error with a code of superscripts", raw(json.dumps({"error": {"message": "no", "code": "⁴⁰⁰"}}))),
    Mode("half of a surrogate pair in the error", always(error(400, "no \ud83d", code="\ud83d", param="\ud83d"))),
    *(Mode(f"constant {status}", always(error(status, "no"))) for status in (400, 401, 402, 404, 413, 422, 500, 503)),
    Mode("a constant 400 on the context", always(error(400, "too many tokens", code="context_length_exceeded"))),
    Mode("a constant 429 on the size", always(error(429, "Request too large for m: Limit 10, Requested 99"))),
    Mode("a wait without end", raw("{}", 429, retry_after="1e300")),
    Mode("the format refused for ever", refusing("response_format")),
    Mode("the messages refused for ever", refusing("messages")),
)  # fmt: skip


@once
def endless_project(folder: Path) -> Project:
    """A project with something to ask for each of the commands."""
    project = small_project(folder)
    for number in range(8):
        add_seminar(project, f"s{number}", (task(2 * number + 1), task(2 * number + 2)))
    return project


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(batching, "FIRST_LOOK_S", 0.01)
    with serving_batches() as server:
        yield server


@pytest.fixture
def file(tmp_path: Path, server: BatchServer, monkeypatch: pytest.MonkeyPatch) -> Path:
    project = endless_project(tmp_path)
    judges.add(project, JUDGE, base_url=server.url, model="gpt-4o-mini")
    project.close()
    # Only the waiting between attempts is shortened.
    backoff = limits.backoff
    monkeypatch.setattr(limits, "backoff", lambda *how: backoff(*how) / 100)
    monkeypatch.setattr(limits, "Breaker", partial(Breaker, rest_s=0.01, short_rest_s=0.01))
    return project.path


def stored(file: Path, question: str) -> int:
    project = Project.open(file, readonly=True)
    (count,) = sql.first(project, question)
    project.close()
    return int(count)


@pytest.mark.parametrize("mode", MODES, ids=lambda mode: mode.name)
def test_nothing_that_an_endpoint_sends_stops_a_run_or_becomes_an_answer(
    mode: Mode, file: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.work = lambda requests: Results([mode.line(each) for each in requests])
    for name, (words, all_of_it, question) in COMMANDS.items():
        first, before = len(server.bodies), BEFORE if name == "run" else 0
        server.answer = lambda body, number, first=first + before: (
            good(body) if number < first else mode.change(good(body), number)
        )
        code, out, err = goldsmith(capsys, *words.format(file=file).split(), "--json")
        told = json.loads(out) if out else {}
        if name == "respond" and mode.as_report:
            continue
        # Where a server turns hostile in the middle of a run, so many requests may be out.
        calls, out_then = len(server.bodies) - first - before, 8 if before else 0
        assert mode.usable or calls <= 2 * LIKE_FAILURES + out_then, (name, calls, told, err)
        assert code in ((0,) if mode.usable else (1, 3)), (name, out, err)
        assert stored(file, question) == (all_of_it if mode.usable else before), (name, out, err)
        assert mode.usable or told.get("cause") or told.get("missing") or told.get("words") or err


@pytest.mark.parametrize("table", ["call", "judgement"])
def test_a_failure_to_store_ends_a_run_in_words_and_leaves_nobody_waiting(
    table: str, file: Path, server: BatchServer
) -> None:
    server.answer = lambda body, number: replace(good(body), delay=0.03)
    project = Project.open(file)
    try:
        full = f"CREATE TRIGGER full AFTER INSERT ON {table} WHEN (SELECT count(*) FROM {table}) > 4"
        with project.store.write() as db:
            db.exec_driver_sql(f"{full} BEGIN SELECT RAISE(ABORT, 'the shelf is full'); END")
        with pytest.raises(Refusal, match="the shelf is full") if table == "judgement" else nullcontext():
            ended = asyncio.run(judge_runs.run(project, RunRequest(JUDGE, concurrency=2)))
            assert (ended["state"], "the shelf is full" in ended["cause"]) == ("interrupted", True)
        with project.store.write() as db:
            db.exec_driver_sql("DROP TRIGGER full")
        asked = len(server.bodies)
        ended = asyncio.run(judge_runs.run(project, RunRequest(JUDGE, concurrency=2)))
        assert (ended["state"], ended["done"]) == ("done", 12)
        # What was answered before is not asked for again, but for what was under way.
        assert len(server.bodies) - asked <= 12 - 4 + 2
    finally:
        project.close()
