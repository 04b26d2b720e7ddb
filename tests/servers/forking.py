"""A process with the program loaded, of which is forked what stands for `python -m annotator` (`windows/children`)."""

import array
import atexit
import gc
import io
import json
import os
import runpy
import select
import socket
import sys
import threading
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from signal import SIGKILL

import annotator
from annotator.exchange.pages.fetching import HostTurns
from annotator.judging.calls import probe
from annotator.judging.calls.limits import Breaker, Limits

# What commands load beside the program's own modules; nothing of Qt.
LOADED = (
    "aiohttp", "alembic.command", "h11", "httpcore2", "importlib_metadata", "matplotlib.figure", "numpy", "openai",
    "pandas", "truststore",
)  # fmt: skip


def hurry() -> None:
    """What has failed is asked again, and the next page of a host asked for, sooner than in the program."""
    probe.BACKOFF_S = Limits.__init__.__kwdefaults__["backoff_s"] = 0.02
    at_once, _, *clock = HostTurns.__init__.__defaults__  # type: ignore[misc]
    HostTurns.__init__.__defaults__ = (at_once, 0.02, *clock)


def serve(listener: socket.socket) -> None:
    """Fork for each that calls, tell it how its child ended, and end the child of one that is gone."""
    poll = select.poll()
    poll.register(0, select.POLLIN)
    poll.register(listener, select.POLLIN)
    callers: dict[int, tuple[socket.socket, int, int]] = {}
    while True:
        # One event at a time: the number of a stream that was closed is soon another's.
        number, _ = poll.poll()[0]
        if number == 0:
            for _, pid, _ in callers.values():
                os.kill(pid, SIGKILL)
            return
        if number == listener.fileno():
            caller, _ = listener.accept()
            if (pid := os.fork()) == 0:
                listener.close()
                become(caller)
            ended = os.pidfd_open(pid)
            callers[caller.fileno()] = callers[ended] = (caller, pid, ended)
            # Of a caller only its end is looked for: what it says is for the child.
            poll.register(caller, 0)
            poll.register(ended, select.POLLIN)
            continue
        caller, pid, ended = callers[number]
        if number == caller.fileno():
            os.kill(pid, SIGKILL)
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        for one in (caller.fileno(), ended):
            poll.unregister(one)
            del callers[one]
        with suppress(OSError):
            caller.sendall(str(code).encode())
        caller.close()
        os.close(ended)


def become(caller: socket.socket) -> None:
    """Be the process that the caller stands for, until it ends."""
    streams = array.array("i")
    head, ancillary, _, _ = caller.recvmsg(65536, socket.CMSG_SPACE(3 * streams.itemsize))
    if not ancillary:
        # It was ended before it could say anything.
        os._exit(1)
    streams.frombytes(ancillary[0][2])
    while not head.endswith(b"\n"):
        head += caller.recv(65536)
    caller.close()
    asked = json.loads(head)
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    os.chdir(asked["folder"])
    os.environ.clear()
    os.environ.update(asked["environment"])
    at_once = bool(os.environ.get("PYTHONUNBUFFERED"))
    sys.stdin, sys.stdout, sys.stderr = (
        io.TextIOWrapper(os.fdopen(number, mode), "utf-8", line_buffering=number == 2, write_through=at_once)
        for number, mode in enumerate(("rb", "wb", "wb"))
    )
    try:
        code = run(asked["words"])
    except BaseException:  # noqa: BLE001 - as Python itself ends
        sys.excepthook(*sys.exc_info())
        code = 1
    # What a process does at its end, without taking apart all that is loaded.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def run(words: list[str]) -> int:
    """Run the program, or the module that is named behind `-m`."""
    if words[:1] != ["-m"]:
        sys.argv = ["annotator", *words]
        program = sys.modules["__main__"] = sys.modules["annotator.__main__"]
        return int(program.main())
    sys.argv = words[1:]
    try:
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else bool(end.code)
    return 0


if __name__ == "__main__":
    within = Path(annotator.__file__).parents[1]
    modules = (path.relative_to(within).with_suffix("").parts for path in within.glob("annotator/**/*.py"))
    for name in (*LOADED, *(".".join(parts) for parts in modules if parts[1] != "gui")):
        import_module(name.removesuffix(".__init__"))
    assert "PySide6" not in sys.modules
    hurry()
    threshold, _, rests, _ = Breaker.__init__.__defaults__  # type: ignore[misc]
    Breaker.__init__.__defaults__ = (threshold, 0.1, rests, 0.1)
    # Collecting in a child must not copy what is loaded.
    gc.collect()
    gc.freeze()
    serve(socket.socket(fileno=int(sys.argv[1])))
