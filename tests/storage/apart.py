"""How a test acts in a process of its own: without the superuser's rights, or on a disk that is as good as full."""

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from annotator.domain.texts.refusal import Refusal
from tests.crashes.killing import begun_apart

NOBODY = 65534


@contextmanager
def shared_folder() -> Iterator[Path]:
    """A folder that anybody may look into; pytest's own are for their owner alone."""
    with tempfile.TemporaryDirectory(prefix="goldsmith-tests-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        yield folder
        folder.chmod(0o755)


def refusal_of(act: Callable[[], object]) -> str:
    """What an act says where it refuses, and nothing where it does not."""
    try:
        act()
    except Refusal as refusal:
        return str(refusal)
    return ""


def as_nobody(act: Callable[[], str]) -> str:
    """What `act` returns when somebody does it for whom mode bits count; its modules must be imported already."""

    def become_nobody() -> None:
        if os.geteuid() == 0:
            os.setgid(NOBODY)
            os.setuid(NOBODY)

    return _apart(become_nobody, act)


def with_files_no_larger_than(size: int, act: Callable[[], str]) -> str:
    """What `act` returns when no file may grow beyond `size` bytes."""

    def limit() -> None:
        import resource

        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return _apart(limit, act)


def _apart(prepare: Callable[[], None], act: Callable[[], str]) -> str:
    def prepared() -> str:
        prepare()
        return act()

    return begun_apart(prepared)()
