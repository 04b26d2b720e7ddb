"""What an endpoint may send: nothing of it stops a run, becomes a verdict, or takes away what was stored before."""

import asyncio
import json
import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.judging import forecasts, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import Refusal
from annotator.judging.batches import batching
from annotator.judging.calls import limits
from annotator.judging.calls.limits import LIKE_FAILURES, Breaker
from tests.actions.contests.contest_project import add_seminar, task
from tests.cli.commands import goldsmith
from tests.common import once
from tests.judging.calls.test_asking import THINKING, harmony
from tests.judging.odd_server import (
    BatchServer,
    Odd,
    Results,
    Used,
    answered,
    at_work,
    completion,
    error,
    streamed,
)
from tests.projects.small_projects import small_project
from tests.servers import writing_server
from tests.servers.served import JUDGE, answering, serving_batches
from tests.storage import sql

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]

SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}
COMPARED = {"first": SCORES, "second": SCORES, "reason": "So.", "better": "first", "confidence": 0.8}
REPORT = "# Report\n\nResidual connections help."
SOURCE = "https://a.example/one"
# What `completion` counts, and so what a reply costs at the prices of the judge unless its mode says otherwise.
USED = Used(100, 40, 15, 5)
# A command, what it can bring at most, and what of it is in the project.
COMMANDS: dict[str, tuple[str, int, str]] = {
    "run": (
        "judge run {file} --judge distant --protocol researcherbench.coverage --item 1 --item 2",
        12,
        "SELECT count(*) FROM judgement WHERE value IS NOT NULL AND trial = 1",
    ),
    "batch": (
        "judge run {file} --judge distant --protocol researcherbench.coverage --item 1 --item 2 --trials 2 --batch",
        12,
        "SELECT count(*) FROM judgement WHERE value IS NOT NULL AND trial = 2",
    ),
    "respond": (
        "respond {file} --system Scribe --judge distant --trials 2",
        20,
        "SELECT count(*) FROM response WHERE mode = 'end-to-end' AND text = '{report}'",
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
# What is read for every command in one place is tried where one reply is read, and as a line of a file of them.
BOTH_WAYS = ("run", "batch")
# A report is text as it came: what a text may be is tried with reports, too.
OF_TEXTS = (*BOTH_WAYS, "respond")
# So many questions of the first run are answered well before a server turns hostile.
BEFORE = 3


def good(body: dict[str, Any]) -> Odd:
    first, last = body["messages"][0], body["messages"][-1]
    body = body | {"messages": [first, last]}
    system, user = first["content"], last["content"]
    if "You are being tested" in system:
        ends = re.findall(r"at the (?:beginning|end) is (\S+)\.", user)
        return completion(json.dumps(dict(zip(("first_word", "last_word"), ends, strict=True))))
    if "The criterion:\n\n" in user:
        return answering(lambda _: "yes")(body, 0)
    if "The second task:" in user:
        return completion(json.dumps(COMPARED))
    if "response_format" in body or "JSON" in system:
        return writing_server.drafted(body, 0)
    return completion(REPORT)


@dataclass(frozen=True)
class Mode:
    """A way to be hostile: what it makes of a good reply, whether that can be used, and the commands where it matters.

    `bill_usd` is what a reply costs, None where the server leaves it unknown; `refusal` answers some requests instead.
    """

    name: str
    change: Callable[[Odd, int], Odd]
    usable: bool = False
    commands: Iterable[str] = BOTH_WAYS
    bill_usd: float | None = USED.cost_usd
    report: str = REPORT
    refusal: Callable[[dict[str, Any]], Odd | None] = lambda body: None

    def answer(self, body: dict[str, Any], number: int) -> Odd:
        return self.refusal(body) or self.change(good(body), number)

    def line(self, request: dict[str, Any], number: int) -> str:
        odd = self.answer(request["body"], number)
        try:
            return answered(request["custom_id"], odd)
        except ValueError:
            return str(odd.body)


def always(odd: Odd) -> Callable[[Odd, int], Odd]:
    return lambda _, number: odd


def altered(change: Callable[[dict[str, Any]], Any]) -> Callable[[Odd, int], Odd]:

    def answer(odd: Odd, _: int) -> Odd:
        tree = json.loads(odd.body)
        change(tree)
        return Odd(json.dumps(tree))

    return answer


def content(change: Callable[[str], Any]) -> Callable[[Odd, int], Odd]:

    def put(tree: dict[str, Any]) -> None:
        message = tree["choices"][0]["message"]
        message["content"] = change(message["content"])

    return altered(put)


def usage(**counts: Any) -> Callable[[Odd, int], Odd]:
    return altered(lambda tree: tree["usage"].update(counts))


def raw(body: str | bytes, status: int = 200, **headers: str) -> Callable[[Odd, int], Odd]:
    return always(Odd(body, status, {name.replace("_", "-"): value for name, value in headers.items()}))


def refusing(word: str) -> Callable[[Odd, int], Odd]:
    """A 400 that blames a part of the request by name, whether it is there or not."""
    return always(error(400, f"Unsupported parameter: {word}", param=word))


def in_turn(*ways: Callable[[str], str | Odd]) -> Callable[[Odd, int], Odd]:
    """Good replies whose content is changed in each of these ways in turn."""

    def answer(odd: Odd, number: int) -> Odd:
        made = ways[number % len(ways)](json.loads(odd.body)["choices"][0]["message"]["content"])
        return completion(made) if isinstance(made, str) else made

    return answer


def refused(words: str, right: Callable[[dict[str, Any]], bool]) -> Callable[[dict[str, Any]], Odd | None]:
    return lambda body: None if right(body) else error(400, words)


REPLIED = json.dumps({"choices": [{"message": {"content": "x"}}]})
MODES = (
    Mode("well-behaved", lambda odd, _: odd, usable=True, commands=COMMANDS),
    *(
        Mode(f"counts of {name}", usage(prompt_tokens=count, completion_tokens=count), usable=True, bill_usd=None,
             commands=COMMANDS if name == "2^64" else BOTH_WAYS)
        for name, count in {
            "2^64": 2**64, "10^25": 10**25, "half a token": 12.5, "minus one": -1, "null": None, "words": "12",
            "not a number": float("nan"), "a list": [1],
        }.items()
    ),
    Mode("a count within the details of 2^64", usage(prompt_tokens_details={"cached_tokens": 2**64}), usable=True,
         bill_usd=None),
    *(
        Mode(f"usage: {way}", altered(lambda tree, told=USED.told[way]: tree.update(usage=told)), usable=True,
             commands=("run",), bill_usd=bill)
        for way, bill in (("missing", None), ("charge alone", USED.cost_usd))
    ),
    *(
        Mode(f"sources in {name} of the {place}", altered(change), usable=True, commands=("run", "respond"),
             report=f"{REPORT}\n\n## References\n\n- [1] {SOURCE}")
        for name, place, change in (
            ("citations", "reply", lambda tree: tree.update(citations=[SOURCE])),
            ("search_results", "reply", lambda tree: tree.update(search_results=[{"url": SOURCE}])),
            ("annotations", "message", lambda tree: tree["choices"][0]["message"].update(
                annotations=[{"type": "url_citation", "url_citation": {"url": SOURCE}}])),
        )
    ),
    Mode("thinking of every kind", in_turn(*THINKING.values()), usable=True, commands=COMMANDS),
    Mode("thinking alone, of every kind", in_turn(
        "<think>{}".format, "{}</think>".format, "<seed:think>{}</seed:think>".format,
        "<think>a<think>{}</think>".format, lambda text: harmony(text).partition("<|end|>")[0],
        lambda text: completion("", reasoning_content=text),
    ), commands=OF_TEXTS),
    Mode("a stream that nobody asked for", lambda odd, _: streamed(odd), usable=True, commands=("run",)),
    Mode("streams only", lambda odd, _: streamed(odd), usable=True, commands=set(COMMANDS) - {"batch"},
         refusal=refused("stream must be true", lambda body: body.get("stream") is True)),
    Mode("no role but the user's", lambda odd, _: odd, usable=True, commands=COMMANDS,
         refusal=refused("System role not supported", lambda body: body["messages"][0]["role"] == "user")),
    Mode("a mark of byte order", lambda odd, _: replace(odd, body=f"\ufeff{odd.body}"), usable=True,
         commands=("run",)),
    Mode("marks without width around the content", content("\ufeff\u200b{}\u2060".format), usable=True,
         commands=OF_TEXTS),
    Mode("half of a surrogate pair in the model", altered(lambda tree: tree.update(model="m\ud83d")), usable=True),
    Mode("NUL in the fingerprint", altered(lambda tree: tree.update(system_fingerprint="f\0")), usable=True),
    Mode("half of a surrogate pair in the content", content(lambda text: text[:-1] + "\ud83d" + text[-1:]),
         commands=OF_TEXTS),
    Mode("NUL in the content", content(lambda text: text[:-1] + "\0" + text[-1:]),
         commands=OF_TEXTS),
    Mode("content that is a number", content(lambda _: 10**25)),
    Mode("content that is nothing", content(lambda _: None), commands=OF_TEXTS),
    Mode("content that is empty", content(lambda _: ""),
         commands=OF_TEXTS),
    Mode("content that is blank", content(lambda _: " \n\t "), commands=OF_TEXTS),
    Mode("content that is nested without end", content(lambda _: "[" * 100_000)),
    Mode("a refusal", altered(lambda tree: tree["choices"][0]["message"].update(content=None, refusal="No.")),
         commands=COMMANDS),
    Mode("a filtered reply", altered(lambda tree: tree["choices"][0].update(finish_reason="content_filter"))),
    Mode("a reply that is always cut", altered(lambda tree: tree["choices"][0].update(finish_reason="length")),
         commands=OF_TEXTS),
    Mode("a call of a tool", altered(lambda tree: tree["choices"][0].update(message={"tool_calls": [{}]}))),
    Mode("no choices", altered(lambda tree: tree.update(choices=[]))),
    Mode("no message", altered(lambda tree: tree.update(choices=[{}]))),
    Mode("an empty body", raw(""), commands=OF_TEXTS),
    Mode("a page of HTML", raw("<html>Sign in</html>", content_type="text/html")),
    Mode("JSON that is cut", raw(REPLIED[:-5])),
    Mode("a body that is no UTF-8", raw(b"\xff\xfe\x00")),
    Mode("a body that is not compressed as said", raw(REPLIED, content_encoding="gzip")),
    Mode("a connection that breaks off", always(Odd(REPLIED, cut=True)), commands=COMMANDS),
    Mode("an error under status 200", always(error(200, "overloaded"))),
    Mode("an error with a code of superscripts", raw(json.dumps({"error": {"message": "no", "code": "⁴⁰⁰"}}))),
    Mode("half of a surrogate pair in the error", always(error(400, "no \ud83d", code="\ud83d", param="\ud83d"))),
    *(
        Mode(f"constant {status}", always(error(status, "no")),
             commands=COMMANDS if status in (401, 500) else BOTH_WAYS)
        for status in (400, 401, 402, 404, 413, 422, 500, 503)
    ),
    Mode("a constant 400 on the context", always(error(400, "too many tokens", code="context_length_exceeded"))),
    Mode("a constant 429 on the size", always(error(429, "Request too large for m: Limit 10, Requested 99"))),
    Mode("a wait without end", raw("{}", 429, retry_after="1e300")),
    Mode("the format refused for ever", refusing("response_format")),
    Mode("the messages refused for ever", refusing("messages")),
)  # fmt: skip
# Lines of as many kinds as a batch has questions; what every command has to bear may be all that a batch holds.
LINES = [mode for mode in MODES if "batch" in mode.commands and mode.commands is not COMMANDS]


@once
def endless_project(folder: Path) -> Project:
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
    judges.add(project, JUDGE, base_url=server.url, model="gpt-4o-mini", price=("1000", "2000", "100"))
    project.close()
    # Only the waiting between attempts is shortened.
    backoff = limits.backoff
    monkeypatch.setattr(limits, "backoff", lambda *how: backoff(*how) / 100)
    monkeypatch.setattr(limits, "Breaker", partial(Breaker, rest_s=0.01, short_rest_s=0.01))
    return project.path


def stored(file: Path, question: str) -> int:
    (count,) = sql.first(Project.open(file, readonly=True), question)
    return int(count)


def tried(mode: Mode, file: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]) -> Iterator[str]:
    server.work = lambda requests: Results([mode.line(each, number) for number, each in enumerate(requests)])
    for name in (name for name in COMMANDS if name in mode.commands):
        words, all_of_it, question = COMMANDS[name]
        bills: list[float | None] = []
        first, before = len(server.bodies), BEFORE if name == "run" else 0

        def answer(body: dict[str, Any], number: int, start: int = first + before, bills: Any = bills) -> Odd:
            if number < start:
                bills.append(USED.cost_usd)
                return good(body)
            bills += [mode.bill_usd] * (mode.refusal(body) is None)
            return mode.answer(body, number)

        server.answer = answer
        code, out, err = goldsmith(capsys, *words.format(file=file).split(), "--json")
        told = json.loads(out) if out else {}
        # Where a server turns hostile in the middle of a run, so many may be out, each asked twice like the others.
        calls, out_then = len(server.bodies) - first - before, 8 if before else 0
        assert mode.usable or calls <= 2 * (LIKE_FAILURES + out_then), (name, calls, told, err)
        assert code in ((0,) if mode.usable else (1, 3)), (name, out, err)
        done = stored(file, question.format(report=mode.report))
        assert done == (all_of_it if mode.usable else before), (name, out, err)
        assert mode.usable or told.get("cause") or told.get("missing") or told.get("words") or err
        if name != "batch":
            cost, unknown = (
                charged(file, told.get("run", "")) if name != "test" else (told.get("cost_usd"), 0)
            )
            known = [bill for bill in bills if bill is not None]
            if mode.usable:
                assert (cost or 0, unknown) == (
                    pytest.approx(sum(known)), (len(bills) - len(known)) * (name != "test")
                ), (name, out)  # fmt: skip
                assert (told["cost_usd"] is None) == (mode.bill_usd is None), (name, out)
            else:
                assert (cost or 0) <= USED.cost_usd * len(bills) + 1e-9, (name, out)
        yield f"{out}{err}"


def charged(file: Path, run: str) -> tuple[float | None, int]:
    """What the stored calls of a run cost, and how many are of unknown cost."""
    lines = forecasts.costs(Project.open(file, readonly=True), forecasts.OF_RUN, run=run) if run else []
    return forecasts.total(lines), sum(line.unpriced for line in lines)


@pytest.mark.parametrize(
    "mode",
    [replace(mode, commands={*mode.commands} - {"batch"}) if mode in LINES else mode for mode in MODES],
    ids=lambda mode: mode.name,
)
def test_nothing_that_an_endpoint_sends_stops_a_run_becomes_an_answer_or_makes_a_bill(
    mode: Mode, file: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    assert len(list(tried(mode, file, server, capsys))) == len(set(mode.commands))


@pytest.mark.parametrize("turn", range(4))
def test_every_line_of_a_batch_is_read_for_itself(
    turn: int, file: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    """Each question of a batch is answered in another way, the same in both trials."""
    modes, whose = LINES[turn::4], dict[str, Mode]()

    def line(request: dict[str, Any], number: int) -> str:
        # What sets texts apart is drawn anew for each question.
        asked = re.sub("[0-9a-f]{8,}", "", request["body"]["messages"][-1]["content"])
        return whose.setdefault(asked, modes[len(whose) % len(modes)]).line(request, number)

    server.work = lambda requests: Results([line(each, number) for number, each in enumerate(requests)])
    # What cannot be read is asked for once more, by itself.
    server.answer = lambda body, number: error(400, "no")
    words, all_of_it, question = COMMANDS["batch"]
    code, out, err = goldsmith(capsys, *words.format(file=file).split(), "--json")
    assert (code, bool(json.loads(out)["missing"])) == (3, True), (out, err)
    assert (len(whose), {mode.name for mode in whose.values()}) == (all_of_it, {mode.name for mode in modes})
    assert stored(file, question) == sum(mode.usable for mode in whose.values()), (out, err)


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_no_command_follows_a_redirect(
    status: int, file: Path, server: BatchServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with at_work(BatchServer()) as elsewhere:
        away = Odd("", status, {"location": f"{elsewhere.url}/chat/completions"})
        server.fault = lambda *_: away
        commands = COMMANDS if status == 307 else BOTH_WAYS
        for said in tried(Mode("away", always(away), commands=commands), file, server, capsys):
            assert elsewhere.url in said
        assert elsewhere.headers == []


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
