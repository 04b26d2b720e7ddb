"""What a test needs of the system that it runs on, or it is skipped and says why; and calls to it that fail."""

import os
import tempfile
import tracemalloc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def _can_link() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            (Path(folder) / "link").symlink_to(folder, target_is_directory=True)
        except OSError:
            return False
    return True


def failing(error: BaseException) -> Callable[..., Any]:
    """What stands for a call to the system that fails."""

    def fail(*_: object, **__: object) -> None:
        raise error

    return fail


@contextmanager
def within_memory(most: int) -> Iterator[None]:
    """Python takes no more bytes at once meanwhile."""
    tracemalloc.start()
    try:
        yield
        assert tracemalloc.get_traced_memory()[1] < most
    finally:
        tracemalloc.stop()


posix = pytest.mark.skipif(os.name != "posix", reason="paths, signals, open files and rights as on POSIX")
links = pytest.mark.skipif(not _can_link(), reason="this account may make no symbolic links")
