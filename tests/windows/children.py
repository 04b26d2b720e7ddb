"""Children of windows in tests: on Linux each is forked from one process that has the program loaded.

What a child is told, its streams, environment and folder, its exit and its end by force are those of a process that is
started as in the program, for which a test asks by `real_children`. Each kind of order has one such test.
"""

import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import cache
from pathlib import Path

from annotator.gui.session import run

SERVERS = Path(__file__).parents[1] / "servers"
COMMAND = run.command


def started(*words: object, module: str = "") -> list[str]:
    """The command line of a child as a window would start it, or of another module with what the program loads."""
    program, first = run.command()
    if module:
        first = ["-m", module] if (program, first) == COMMAND() else [*first, "-m", module]
    return [program, *first, *map(str, words)]


@contextmanager
def forked() -> Iterator[Callable[[], tuple[str, list[str]]]]:
    """Gives the command for children; the process that they are forked from is started with the first of them."""
    with ExitStack() as rest:
        yield cache(lambda: rest.enter_context(_forking()) if sys.platform == "linux" else COMMAND())


@contextmanager
def _forking() -> Iterator[tuple[str, list[str]]]:
    with socket.socket(socket.AF_UNIX) as listener:
        # The system chooses a name, which is no file.
        listener.bind("")
        listener.listen(64)
        name = listener.getsockname().decode().removeprefix("\0")
        words = [sys.executable, "-m", "tests.servers.forking", str(listener.fileno())]
        # It ends when its standard input does.
        with subprocess.Popen(
            words, stdin=subprocess.PIPE, cwd=SERVERS.parents[1], pass_fds=[listener.fileno()]
        ):
            yield sys.executable, ["-I", "-S", str(SERVERS / "forked.py"), name]
