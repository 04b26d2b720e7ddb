"""How a test acts in another process at the same time, and kills it at a chosen moment."""

import os
import signal
import time
import traceback
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

PATIENCE_S = 120.0


def _forked() -> int:
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    return os.fork()


def killed(act: Callable[[], object], now: Callable[[], bool]) -> bool:
    """Do something in a process of its own and kill that once `now` says so; False when it had ended by then."""
    child = _forked()
    if child == 0:
        try:
            act()
        finally:
            os._exit(0)
    give_up = time.monotonic() + PATIENCE_S
    while not now() and time.monotonic() < give_up:
        if os.waitpid(child, os.WNOHANG)[0]:
            return False
        time.sleep(0.0002)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return True


def begun_apart(act: Callable[[], str]) -> Callable[[], str]:
    """Begin something in a process of its own; what waits for its end and gives what it returned."""
    answer, question = os.pipe()
    child = _forked()
    if child == 0:
        try:
            os.write(question, act().encode())
        except Exception:  # noqa: BLE001 - what went wrong there is to be read here
            os.write(question, traceback.format_exc().encode())
        finally:
            os._exit(0)
    os.close(question)

    def end() -> str:
        with os.fdopen(answer, "rb") as told:
            words = told.read().decode()
        os.waitpid(child, 0)
        return words

    return end


def killed_at_first_sight(act: Callable[[], object], place: Path) -> bool:
    return killed(act, place.exists)


def killed_after(seconds: float, act: Callable[[], object]) -> bool:
    end = time.monotonic() + seconds
    return killed(act, lambda: time.monotonic() >= end)


# What processes of `ReadingProcess` do in tests. Each child loads this module, so that it loads nothing of the program.

READY = b"ready"


def answers_by_word(line: Connection) -> None:
    """Hangs, breaks down or answers with its process's number, as the document says."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line.send_bytes(READY)
    while True:
        try:
            line.recv_bytes()
            word = line.recv_bytes()
        except EOFError:
            return
        if word == b"hang":
            time.sleep(3600)
        if word == b"crash":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        line.send_bytes(b'{"text": "%d"}' % os.getpid())


def breaks_down(line: Connection) -> None:
    line.send_bytes(READY)
    line.recv_bytes()
    os._exit(1)


def never_starts(line: Connection) -> None:
    line.close()
