"""A real server on loopback with a provider's Files and Batches interfaces, which misbehaves on request."""

import asyncio
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from annotator.domain.judges.judge import Call, Status
from annotator.judging import runner
from annotator.judging.batches.batch_results import DECLINED, BatchStage, BatchState
from annotator.judging.batches.batching import Batched, through
from tests.judging.odd_server import (
    REPORT,
    TINY,
    YES_JSON,
    Odd,
    OddHandler,
    OddServer,
    asker,
    case,
    completion,
    tiny_judge,
)

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
    """A batch at the provider."""

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
        super().__init__(_Handler)
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
        """What a request to the two interfaces is answered with."""
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


class _Handler(OddHandler):
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
