"""How a test kills another process at a chosen moment."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

PATIENCE_S = 120.0


def killed(act: Callable[[], object], now: Callable[[], bool]) -> bool:
    """Do something in a process of its own and kill that once `now` says so; False when it had ended by then."""
    if not hasattr(os, "fork"):
        pytest.skip("this system cannot fork")
    child = os.fork()
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


def killed_at_first_sight(act: Callable[[], object], place: Path) -> bool:
    """Do something in a process of its own and kill that as soon as something lies at a place."""
    return killed(act, place.exists)


def killed_after(seconds: float, act: Callable[[], object]) -> bool:
    """Do something in a process of its own and kill that after some time."""
    end = time.monotonic() + seconds
    return killed(act, lambda: time.monotonic() >= end)
