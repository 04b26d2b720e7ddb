"""A tiny protocol, and real servers on loopback that misbehave on request: of questions, and of batches."""

import asyncio
import json
import logging
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from annotator.domain.judges.judge import Call, Price, Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Metric, Protocol, Verdicts, missing_verdicts, plain
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.estimate import Estimate
from annotator.judging import runner
from annotator.judging.batches.batch_results import DECLINED, BatchStage, BatchState
from annotator.judging.batches.batching import Batched, through
from annotator.judging.calls.asking import Asker
from annotator.judging.calls.client import Client, Endpoint, Sender
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.prices import Budget, Prices, PriceTable

KEY = "sk-test-9f8e7d6c5b4a"
YES_JSON = '{"reason": "Section 2 says so.", "covered": "yes"}'
NO_JSON = '{"reason": "Nothing on it.", "covered": "no"}'


class Reply(BaseModel):
    """What the judge of these tests replies."""

    model_config = ConfigDict(extra="forbid")
    TEXT_FORM: ClassVar[str] = "Begin with yes or no."
    reason: str
    covered: Literal["yes", "no"]

    @classmethod
    def from_text(cls, text: str) -> "Reply":
        first, _, rest = text.partition("\n")
        return cls.model_validate({"covered": first.strip(), "reason": rest})


async def tiny_judge(case: Case, ask: Ask) -> Verdicts:
    fields = {"criterion": case.units[0].text, "report": case.response.text}
    answer = await ask("tiny", fields, Reply, fenced=("report",))
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    verdict = Verdict(value=answer.reply.covered, rationale=answer.reply.reason)
    return {unit.id: verdict for unit in case.units}


def _baseline(case: Case) -> Verdicts:
    return {unit.id: Verdict(value="yes" if unit.text in case.response.text else "no") for unit in case.units}


TINY = Protocol(
    name="tiny",
    title="Tiny",
    citation="",
    needs=(Kind.RUBRIC,),
    metrics=(Metric("share", "Share", "", lambda scored, over_valid: Estimate(None)),),
    scale=plain("yes", "no"),
    judge=tiny_judge,
    baseline=_baseline,
    prompts=("tiny",),
)


REPORT = "A report on Bayesian analysis."


def case(number: int = 1, report: str = REPORT, trial: int = 1) -> Case:
    item = Item(id="item", key="item", question="Which method?")
    response = Response(id=f"response-{number}", item_id="item", system_id="system", text=report)
    return Case("tiny", item, response, "rubric", (Criterion(id="c1", text=f"Criterion {number}"),), trial)


class LogLines(logging.Handler):
    def __init__(self) -> None:
        super().__init__()
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


@dataclass
class Odd:
    """What the odd server sends for one request: any body under any status and headers, late, cut, or never."""

    body: str | bytes = ""
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    cut: bool = False
    held: bool = False


def completion(content: str | None, finish: str = "stop", **message: Any) -> Odd:
    tree = {
        "model": "test-model-2026",
        "system_fingerprint": "fp_1",
        "choices": [
            {"message": {"role": "assistant", "content": content, **message}, "finish_reason": finish}
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "prompt_tokens_details": {"cached_tokens": 40},
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }
    return Odd(json.dumps(tree))


def streamed(odd: Odd, *, done: bool = True) -> Odd:
    """The same completion as events of a stream, a few characters each."""
    tree = json.loads(str(odd.body))
    message, usage = tree["choices"][0]["message"], tree.pop("usage")
    finish = tree["choices"][0]["finish_reason"]
    deltas: list[Any] = [{"role": "assistant", "content": ""}]
    for name in ("reasoning_content", "content"):
        text = message.get(name) or ""
        deltas += [{name: text[start : start + 7]} for start in range(0, len(text), 7)]
    events = [tree | {"choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    if done:
        events += [
            tree | {"choices": [{"delta": {}, "finish_reason": finish}]},
            tree | {"choices": [], "usage": usage},
        ]
    lines = [f"data: {json.dumps(event, ensure_ascii=False)}\r\n\r\n" for event in events]
    return Odd(
        ": begun\n\n" + "".join(lines) + "data: [DONE]\n\n" * done,
        headers={"content-type": "text/event-stream"},
    )


class Used:
    """Tokens of a call as a server knows them, its charge at the prices of these tests, and how it may tell of them.

    `asked` holds the `cached` ones; `said` and `thought` are apart.
    """

    UNTOLD = ("missing", "zero", "thinking without a total", "less in all than in parts", "cached beyond all")

    def __init__(self, asked: int, cached: int, said: int, thought: int) -> None:
        self.cost_usd = (asked - cached + 0.1 * cached + 2 * (said + thought)) / 1000
        written = said + thought
        counted = {"prompt_tokens": asked, "completion_tokens": written, "total_tokens": asked + written}
        hidden = {"completion_tokens_details": {"reasoning_tokens": thought}}
        held = {"prompt_tokens_details": {"cached_tokens": cached}}
        beside = counted | held | {"completion_tokens": said}
        self.told: dict[str, Any] = {
            "thinking inside": counted | held | hidden,
            "thinking beside": beside | hidden,
            "thinking in the total alone": beside,
            "hits of the cache": counted | {"prompt_cache_hit_tokens": cached},
            "cached at the top": counted | {"cached_tokens": cached},
            "cached beside": counted | held | {"prompt_tokens": asked - cached},
            "charge alone": {"cost": self.cost_usd, "completion_tokens": written},
            "charge beside other counts": beside | {"total_tokens": 3, "cost": self.cost_usd},
            "charge in parts": counted | {"cost": {"total_cost": self.cost_usd}},
            "ticks": counted | {"cost_in_usd_ticks": round(self.cost_usd * 1e10)},
            "own key": counted
            | {"cost": self.cost_usd / 20, "is_byok": True}
            | {"cost_details": {"upstream_inference_cost": self.cost_usd * 19 / 20}},
            "no own key": counted
            | {"cost": self.cost_usd, "is_byok": False}
            | {"cost_details": {"upstream_inference_cost": self.cost_usd}},
            "missing": None,
            "zero": dict.fromkeys(counted, 0),
            "thinking without a total": {name: beside[name] for name in beside if name != "total_tokens"}
            | hidden,
            "less in all than in parts": counted | {"total_tokens": 3},
            "cached beyond all": counted | {"cached_tokens": asked + 1},
        }


WAYS_OF_TELLING = tuple(Used(1, 0, 1, 0).told)


def error(status: int, message: str, **rest: Any) -> Odd:
    return Odd(json.dumps({"error": {"message": message, **rest}}), status)


AnyServer = TypeVar("AnyServer", bound="OddServer")


class OddServer(ThreadingHTTPServer):
    """Answers each request by a function of its body and its number (from 0); remembers what came."""

    # More callers at once than wait in line by default are turned away, and come again a second later.
    request_queue_size = 128

    def __init__(self, handler: type[BaseHTTPRequestHandler] | None = None) -> None:
        super().__init__(("127.0.0.1", 0), handler or OddHandler)
        self.answer: Callable[[dict[str, Any], int], Odd] = lambda body, number: completion(YES_JSON)
        self.bodies: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.lock = threading.Lock()
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}/v1"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of clients that left; the tests of cancelling and time-outs do."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def script(self, *answers: Odd) -> None:
        self.answer = lambda body, number: answers[min(number, len(answers) - 1)]

    def forms(self) -> list[str]:
        return [body.get("response_format", {"type": "text"})["type"] for body in self.bodies]


@contextmanager
def at_work(opened: AnyServer) -> Iterator[AnyServer]:
    with opened as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()
            thread.join()


class OddHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Head and body leave in two pieces: the second would wait 40 ms for the first one's acknowledgement.
    disable_nagle_algorithm = True
    server: OddServer

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        with self.server.lock:
            number = len(self.server.bodies)
            self.server.bodies.append(body)
            self.server.headers.append({name.lower(): value for name, value in self.headers.items()})
            self.server.paths.append(self.path)
        self.send(self.server.answer(body, number))

    def send(self, odd: Odd) -> None:
        if odd.held:
            self.server.over.wait()
        time.sleep(odd.delay)
        content = odd.body.encode() if isinstance(odd.body, str) else odd.body
        try:
            self.send_response(odd.status)
            headers = {"content-type": "application/json", "content-length": str(len(content)), **odd.headers}
            for name, value in headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if odd.cut else content)
        except (BrokenPipeError, ConnectionResetError):
            pass  # the client of a time-out or cancel test has left
        self.close_connection = self.close_connection or odd.cut

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing."""


def prices(model: str = "test-model") -> Prices:
    """One dollar per thousand tokens in, two per thousand out, a tenth for cached ones: easy to count by hand."""
    return Prices(PriceTable(as_of="2026-01-01", models={model: Price(input=1000, output=2000, cached=100)}))


@asynccontextmanager
async def asker(
    url: str,
    folder: Path,
    *,
    concurrency: int = 4,
    timeout_s: float = 5.0,
    parameters: dict[str, Any] | None = None,
    budget: Budget | None = None,
    limits: Limits | None = None,
    **rest: Any,
) -> AsyncIterator[Asker]:
    endpoint = Endpoint(url, "test-model", KEY, parameters or {}, timeout_s)
    limits = limits or Limits(concurrency)
    async with Client(endpoint) as client:
        yield Asker(Sender(client, limits, prices(), budget), "judge-1", folder=folder, **rest)


_FILE = re.compile(
    rb'name="file"; filename="(?P<name>[^"]*)"\r\n.*?\r\n\r\n(?P<content>.*?)\r\n--', re.DOTALL
)


def answered(name: str, odd: Odd | None = None) -> str:
    """The line of an output file on a question; a yes unless told otherwise."""
    odd = odd or completion(YES_JSON)
    response = {"status_code": odd.status, "request_id": "r", "body": json.loads(odd.body)}
    return json.dumps({"id": "b", "custom_id": name, "response": response, "error": None})


def failed(name: str, code: str = "server_error") -> str:
    error = {"code": code, "message": f"no reply: {code}"}
    return json.dumps({"id": "b", "custom_id": name, "response": None, "error": error})


@dataclass
class Made:
    tree: dict[str, Any]
    requests: list[dict[str, Any]]
    looks: int = 0


@dataclass
class Results:
    """What a batch ends in: its status, its lines, and the files' ends as they are to be cut."""

    output: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    status: str = "completed"
    causes: list[dict[str, str]] = field(default_factory=list)


class BatchServer(OddServer):
    """Ends each batch after `looks` looks in what `work` makes of its requests.

    `fault` may answer any request instead; what was asked for is not done then, or `done_all_the_same`.
    """

    def __init__(self) -> None:
        super().__init__(BatchHandler)
        self.looks = 1
        self.work: Callable[[list[dict[str, Any]]], Results] = lambda requests: Results(
            [answered(request["custom_id"]) for request in requests]
        )
        self.fault: Callable[[str, str, int], Odd | None] = lambda method, path, number: None
        self.files: dict[str, bytes] = {}
        self.made: dict[str, Made] = {}
        self.seen: list[tuple[str, str]] = []
        self.deleted: list[str] = []
        self.done_all_the_same = False

    def named(self) -> list[str]:
        """The custom ids of all requests that were put into batches, in the order they came."""
        return [request["custom_id"] for made in self.made.values() for request in made.requests]

    def posts(self, path: str) -> int:
        return self.seen.count(("POST", f"/v1/{path}"))

    def handled(self, method: str, path: str, content: bytes) -> Odd:
        number = self.seen.count((method, path))
        self.seen.append((method, path))
        fault = self.fault(method, path, number)
        if fault is not None and not self.done_all_the_same:
            return fault
        done = self._done(method, path.removeprefix("/v1/").split("?")[0].split("/"), content)
        return fault or done

    def _done(self, method: str, parts: list[str], content: bytes) -> Odd:
        if method == "POST" and parts == ["files"]:
            return self._filed(content)
        if method == "POST" and parts == ["batches"]:
            return self._made(json.loads(content))
        if parts[0] == "files" and parts[1] in self.files:
            return self._file(method, parts[1])
        if method == "GET" and parts == ["batches"]:
            return Odd(
                json.dumps(
                    {"object": "list", "data": [m.tree for m in self.made.values()], "has_more": False}
                )
            )
        if parts[0] == "batches" and parts[1] in self.made:
            return self._shown(self.made[parts[1]], withdraw=parts[2:] == ["cancel"])
        return Odd(json.dumps({"error": {"message": f"no such {parts[0]}"}}), 404)

    def _filed(self, content: bytes) -> Odd:
        result = _FILE.search(content)
        assert result
        name = self._keep(result["content"])
        return Odd(json.dumps({"id": name, "object": "file", "bytes": 1, "purpose": "batch"}))

    def _keep(self, content: bytes) -> str:
        name = f"file-{len(self.files) + 1}"
        self.files[name] = content
        return name

    def _file(self, method: str, name: str) -> Odd:
        if method == "DELETE":
            self.deleted.append(name)
            return Odd(json.dumps({"id": name, "object": "file", "deleted": True}))
        return Odd(self.files[name], headers={"content-type": "application/octet-stream"})

    def _made(self, asked: dict[str, Any]) -> Odd:
        lines = self.files[asked["input_file_id"]].splitlines()
        name = f"batch_{len(self.made) + 1}"
        tree = {
            **asked,
            "id": name,
            "object": "batch",
            "created_at": 1,
            "status": "validating",
            "expires_at": 4e9,
        }
        self.made[name] = Made(tree, [json.loads(line) for line in lines])
        return Odd(json.dumps(tree))

    def _shown(self, made: Made, *, withdraw: bool) -> Odd:
        made.looks += 1
        if withdraw:
            made.tree["status"] = "cancelling"
        elif made.looks >= self.looks and "output_file_id" not in made.tree:
            self._end(made)
        return Odd(json.dumps(made.tree))

    def _end(self, made: Made) -> None:
        result = self.work(made.requests)
        cancelled = made.tree["status"] == "cancelling"
        files = [
            self._keep("\n".join(lines).encode()) if lines else None
            for lines in (result.output, result.errors)
        ]
        made.tree |= {
            "status": "cancelled" if cancelled else result.status,
            "output_file_id": files[0],
            "error_file_id": files[1],
            "errors": {"object": "list", "data": result.causes} if result.causes else None,
            "request_counts": {
                "total": len(made.requests), "completed": len(result.output), "failed": len(result.errors)
            },
        }  # fmt: skip


class BatchHandler(OddHandler):
    server: BatchServer

    def do_GET(self) -> None:
        self._handle("GET")

    def do_DELETE(self) -> None:
        self._handle("DELETE")

    def do_POST(self) -> None:
        if self.path.endswith("/chat/completions"):
            super().do_POST()
        else:
            self._handle("POST")

    def _handle(self, method: str) -> None:
        content = self.rfile.read(int(self.headers.get("content-length") or 0))
        with self.server.lock:
            self.server.headers.append(dict(self.headers.items()))
            odd = self.server.handled(method, self.path, content)
        self.send(odd)


class Shelf:
    """Batches and calls in memory, as a project's file would keep them."""

    def __init__(self) -> None:
        self.states: dict[str, str] = {}
        self.calls: dict[str, Call] = {}
        self.stages: list[BatchStage] = []

    def batches(self) -> list[BatchState]:
        result = [BatchState.model_validate_json(text) for text in self.states.values()]
        return [state for state in result if state.stage is not BatchStage.SETTLED]

    def keep_batch(self, state: BatchState) -> None:
        self.stages.append(state.stage)
        self.states[state.id] = state.model_dump_json()

    def keep_calls(self, calls: list[Call]) -> None:
        for call in calls:
            self.calls.setdefault(call.id, call)

    def find(self, cache_key: str) -> Call | None:
        result = [c for c in self.calls.values() if c.cache_key == cache_key and c.status is Status.OK]
        return result[-1] if result else None

    def finished(self, run: str) -> set[Any]:
        return set()

    def declined(self) -> list[Call]:
        return [call for call in self.calls.values() if call.status in DECLINED]


async def soon(seconds: float) -> None:
    await asyncio.sleep(0)


class Naps(list[float]):
    """Waits that take no time, and how long each would have been."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def batched(
    provider: BatchServer, folder: Path, shelf: Shelf, cases: int = 6, report: str = REPORT, **rest: Any
) -> tuple[Batched, runner.RunEnd, list[runner.Finished]]:
    """The whole way: the batches, then the ordinary run over what came of them."""
    finished: list[runner.Finished] = []
    of_asker = {name: rest.pop(name) for name in ("budget", "parameters") if name in rest}
    of_run = partial(map, partial(case, report=report), range(cases))
    async with asker(provider.url, folder, journal=shelf, run_id="run-1", **of_asker) as factory:
        rest.setdefault("nap", soon)
        result = await through(tiny_judge, of_run, factory, shelf, **rest)
        cases_left = result.in_order(of_run)
        ended = await runner.run(
            TINY, cases_left, result.asker, asks=result, record=finished.extend, cancel=rest.get("cancel")
        )
    return result, ended, finished


async def stopped(provider: BatchServer, folder: Path, shelf: Shelf, **rest: Any) -> None:
    """A run that is cancelled while its batch is with the provider, which is ready with it from now on."""
    cancel, provider.looks = asyncio.Event(), 10**9

    async def nap(seconds: float) -> None:
        cancel.set()
        await asyncio.sleep(0.001)

    await batched(provider, folder, shelf, nap=nap, cancel=cancel, **rest)
    provider.looks = 0


def values(finished: list[runner.Finished]) -> dict[str, str | None]:
    return {each.case.response.id: each.verdicts["c1"].value for each in finished}
