"""A chat endpoint on loopback that answers at once, or after a set delay, and says when its first and last call came.

    python -m benchmarks.peers.chat_server

prints its port. Replies fit the schema asked for, so that any judge's reply class takes them. A run is timed here, from
its first request to its last answer, so that the start of an interpreter counts for nobody. It speaks no more HTTP than
its callers need: what it takes of the machine, they lack.
"""

import asyncio
import json
import time
from functools import lru_cache
from typing import Any

USAGE = {"prompt_tokens": 1500, "completion_tokens": 40, "total_tokens": 1540}


class ProjectSession:
    """What the server remembers of a run."""

    def __init__(self) -> None:
        self.begin({})

    def begin(self, told: dict[str, Any]) -> None:
        """Forget the run before and set the delay of the next; `keep` has its requests remembered."""
        self.delay = float(told.get("delay", 0.0))
        self.keep: list[bytes] | None = [] if told.get("keep") else None
        self.first = self.last = 0.0
        self.count = 0

    def came(self, body: bytes) -> None:
        self.first = self.first or time.perf_counter()
        if self.keep is not None:
            self.keep.append(body)

    def answered(self) -> None:
        self.count += 1
        self.last = time.perf_counter()

    def reply(self, path: str, body: bytes) -> bytes:
        if path == "/begin":
            self.begin(json.loads(body))
            return b"{}"
        if path == "/kept":
            return b"\n".join(self.keep or [])
        return json.dumps({"count": self.count, "seconds": self.last - self.first}).encode()


class Line(asyncio.Protocol):
    """One connection: requests with a Content-Length, one after the other."""

    def __init__(self, session: ProjectSession) -> None:
        self._session = session
        self._buffer = bytearray()

    def connection_made(self, transport: Any) -> None:
        """Remember where to answer."""
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        """Take what came; answer when a request is whole."""
        self._buffer += data
        while (end := self._buffer.find(b"\r\n\r\n")) >= 0:
            head = bytes(self._buffer[:end])
            whole = end + 4 + _length(head)
            if len(self._buffer) < whole:
                return
            body = bytes(self._buffer[end + 4 : whole])
            del self._buffer[:whole]
            self._answer(head.split(b" ", 2)[1].decode(), body)

    def _answer(self, path: str, body: bytes) -> None:
        if not path.endswith("/chat/completions"):
            self._say(self._session.reply(path, body))
            return
        self._session.came(body)
        said = answer(form_of(body))
        if self._session.delay:
            asyncio.get_running_loop().call_later(self._session.delay, self._told, said)
        else:
            self._told(said)

    def _told(self, said: bytes) -> None:
        self._session.answered()
        self._say(said)

    def _say(self, said: bytes) -> None:
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(said)
        self._transport.write(head + said)


def _length(head: bytes) -> int:
    for line in head.split(b"\r\n"):
        if line[:15].lower() == b"content-length:":
            return int(line[15:])
    return 0


def form_of(body: bytes) -> str:
    """The response format of a request, as JSON; “null” where there is none."""
    return json.dumps(json.loads(body).get("response_format"))


@lru_cache(maxsize=64)
def answer(form: str) -> bytes:
    """A completion whose content fits a response format, given as JSON; without one the content is "yes"."""
    asked = json.loads(form) or {}
    schema = asked.get("json_schema", {}).get("schema")
    content = json.dumps(fitting(schema)) if schema else "yes"
    message = {"role": "assistant", "content": content}
    tree = {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "test-model",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": USAGE,
    }
    return json.dumps(tree).encode()


def fitting(schema: dict[str, Any]) -> Any:
    """A value that fits a JSON Schema of the strict subset."""
    if "enum" in schema:
        return schema["enum"][0]
    if "anyOf" in schema:
        return fitting(schema["anyOf"][0])
    plain: dict[str, Any] = {
        "string": "",
        "integer": 1,
        "number": 1,
        "boolean": True,
        "array": [],
        "null": None,
    }
    if schema.get("type") == "object":
        return {name: fitting(part) for name, part in schema["properties"].items()}
    return plain[schema["type"]]


async def serve() -> None:
    """Serve until ended."""
    session = ProjectSession()
    server = await asyncio.get_running_loop().create_server(lambda: Line(session), "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(serve())
