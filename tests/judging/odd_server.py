"""A tiny protocol, and a real server on loopback that misbehaves on request."""

import json
import logging
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeVar

from pydantic import BaseModel, ConfigDict

from annotator.domain.judges.judge import Price, Status, Verdict
from annotator.domain.judges.protocol import Ask, Case, Metric, Protocol, Verdicts, missing_verdicts, plain
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.estimate import Estimate
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
    """Keeps every line of a log as it would be written."""

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
        """The response_format of each request, "text" where none was sent."""
        return [body.get("response_format", {"type": "text"})["type"] for body in self.bodies]


@contextmanager
def at_work(opened: AnyServer) -> Iterator[AnyServer]:
    """A server on a thread of its own, until a test is over."""
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
    """What answers one connection."""

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
        """Send an answer as it is, late, cut or never."""
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
