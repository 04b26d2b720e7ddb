"""A separate process for reading documents from outside, so that none can hang or crash this one."""

import asyncio
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import asdict
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess

import orjson

from annotator.domain.common import Refusal
from annotator.exchange.pages import reading
from annotator.exchange.pages.states import PageReading
from annotator.exchange.texts.documents import OTHER

READ_S = 10.0
LONGEST_PDF_S = 60.0
START_S = 60.0
MEMORY = 512 * 2**20
_PROGRAM = 96 * 2**20
# If the system enforces no such limit, the process checks itself this often.
_LOOK_S = 0.05
_OVER = 70
_ANSWER = 256 * 2**20
READY = b"ready"

TOO_MUCH = PageReading(unreadable="Reading it takes more memory than is allowed.", too_much=True)

Serve = Callable[[Connection], None]


class ReadingProcess:
    """A process that reads documents one after another, restarted if one is too much for it.

    Use as an async context manager, in one event loop. `serve` is the function of the process; tests pass another.
    """

    def __init__(self, seconds: float = READ_S, serve: Serve | None = None) -> None:
        self._seconds = seconds
        self._serve = serve or serve_readings
        self._turn = asyncio.Lock()
        self._process: SpawnProcess | None = None
        self._line: Connection | None = None

    async def __aenter__(self) -> "ReadingProcess":
        return self

    async def __aexit__(self, *_: object) -> None:
        self._end()

    async def read(self, content: bytes, content_type: str) -> PageReading:
        """The reading of the document by `reading.read`; unreadable if that took too long or crashed."""
        async with self._turn:
            line, fresh = self._line or self._begin(), self._line is None
            whole = False
            try:
                answer = await reading.aside(lambda: _ask(line, fresh, content, content_type, self._seconds))
                self._line, whole = line, True
            except (EOFError, OSError) as error:
                return self._failure(error)
            finally:
                # Also if nobody waits any more: a late answer must not be taken for the next one's.
                if not whole:
                    self._end()
            return PageReading(**orjson.loads(answer))

    def read_once(self, content: bytes, content_type: str = "") -> PageReading:
        """The process's reading of a single document, without an event loop; the process ends afterwards."""
        line = self._begin()
        try:
            return PageReading(**orjson.loads(_ask(line, True, content, content_type, self._seconds)))
        except (EOFError, OSError) as error:
            return self._failure(error)
        finally:
            self._end()

    def _failure(self, error: Exception) -> PageReading:
        """Why there is no answer: too long, too much memory (as far as can be told), or a crash."""
        if isinstance(error, TimeoutError):
            return PageReading(unreadable=f"Reading it took longer than {self._seconds:g} s.", too_much=True)
        process = self._process
        if process is not None:
            process.join(1.0)
            if process.exitcode == _OVER:
                return TOO_MUCH
        return PageReading(unreadable="The program that reads documents broke down over it.")

    def _begin(self) -> Connection:
        context = multiprocessing.get_context("spawn")
        ours, theirs = context.Pipe()
        self._process = context.Process(target=self._serve, args=(theirs,), daemon=True)
        self._process.start()
        theirs.close()
        return ours

    def _end(self) -> None:
        process, self._process = self._process, None
        # Not closed here: a thread may still listen to it, and notices the end of the process.
        self._line = None
        if process is not None:
            process.kill()
            process.join()
            process.close()


def _ask(line: Connection, fresh: bool, content: bytes, content_type: str, seconds: float) -> bytes:
    """The answer of the process at the other end; TimeoutError or EOFError if there is none."""
    # Starting is not reading: the time of the first document runs only once the process is there.
    if fresh and (not line.poll(START_S) or line.recv_bytes(len(READY)) != READY):
        raise EOFError
    line.send_bytes(content_type.encode("utf-8", "replace"))
    line.send_bytes(content)
    if not line.poll(seconds):
        raise TimeoutError
    return line.recv_bytes(_ANSWER)


def pdf_text(content: bytes, name: str, *, layout: bool = False) -> str:
    """The words of a PDF as read by a process of its own, page by page with a form feed between.

    With `layout` the lines of its columns, as `documents.parse_pdf` describes them. Refusal if it is encrypted or
    damaged, or too much for that process.
    """
    result = ReadingProcess(LONGEST_PDF_S, serve_pdfs).read_once(content, reading.LAYOUT if layout else "")
    if not result.unreadable:
        return result.text
    if result.unreadable.startswith("It "):
        raise Refusal(f"“{name}”{result.unreadable.removeprefix('It')}", OTHER)
    raise Refusal(f"“{name}” could not be read. {result.unreadable}", OTHER)


def serve_readings(line: Connection) -> None:
    _serve(line, reading.read)


def serve_pdfs(line: Connection) -> None:
    """The same for PDFs only, whose text is returned unchanged, including empty pages."""
    _serve(line, reading.pdf)


def _serve(line: Connection, read: Callable[[bytes, str], PageReading]) -> None:
    # Ctrl+C goes to all processes of a terminal; this one is ended by its parent.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _limit_memory()
    line.send_bytes(READY)
    while True:
        try:
            content_type, content = line.recv_bytes().decode(), line.recv_bytes()
        except (EOFError, OSError):
            return
        try:
            result = read(content, content_type)
        except MemoryError:
            result = TOO_MUCH
        line.send_bytes(orjson.dumps(asdict(result)))


def _limit_memory() -> None:
    """Keep this process within MEMORY: by the system if it enforces the limit, otherwise by checking."""
    if sys.platform == "linux":
        import resource

        # The memory of the program itself and its libraries is not counted in it.
        resource.setrlimit(resource.RLIMIT_DATA, (MEMORY - _PROGRAM, MEMORY - _PROGRAM))
    else:
        threading.Thread(target=_watch_memory, daemon=True).start()


def _watch_memory() -> None:
    while _memory() <= MEMORY:
        time.sleep(_LOOK_S)
    os._exit(_OVER)


def _memory() -> int:
    """The peak memory of this process, in bytes."""
    if sys.platform == "win32":
        return _memory_on_windows()
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _memory_on_windows() -> int:
    import ctypes

    counters = (ctypes.c_size_t * 10)()
    kernel = ctypes.windll.kernel32  # type: ignore[attr-defined,unused-ignore]
    kernel.GetCurrentProcess.restype = ctypes.c_void_p
    handle = ctypes.c_void_p(kernel.GetCurrentProcess())
    # The second word is the peak working set; the first holds the structure's size.
    counters[0] = ctypes.sizeof(counters)
    kernel.K32GetProcessMemoryInfo(handle, ctypes.byref(counters), ctypes.sizeof(counters))
    return int(counters[1])
