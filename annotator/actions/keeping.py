"""What takes long to count is kept until the project's file changes, for whoever asks the same again."""

import os
import time
from collections import OrderedDict
from collections.abc import Callable
from functools import wraps
from threading import Lock
from typing import Any, Concatenate, ParamSpec, TypeVar

from annotator.actions.project import Project

P = ParamSpec("P")
T = TypeVar("T")
# So many answers are kept at once; the one that was not asked for longest goes first.
MOST = 16
# A file that was written this short a time ago may be written again without its time showing it.
SETTLED_NS = 1_000_000_000
_NEWEST = "SELECT (SELECT max(rowid) FROM audit), (SELECT max(rowid) FROM judgement)"

_answers: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()
_lock = Lock()


def kept(question: Callable[Concatenate[Project, P], T]) -> Callable[Concatenate[Project, P], T]:
    """The same question, whose answer is looked up where nothing was written since; nobody may change an answer.

    Each person is answered on their own. In a transaction that may have written it is always asked.
    """

    @wraps(question)
    def asked(project: Project, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = (question.__module__, question.__qualname__, project.path, project.by, args, *kwargs.items())
        if not _may_be_known(project, key):
            return question(project, *args, **kwargs)
        state, settled = _state(project)
        with _lock:
            known = _answers.get(key)
            if known is not None and known[0] == state:
                _answers.move_to_end(key)
                return known[1]  # type: ignore[no-any-return]
        answer = question(project, *args, **kwargs)
        if settled and _state(project)[0] == state:
            _keep(key, state, answer)
        return answer

    return asked


def _keep(key: Any, state: Any, answer: Any) -> None:
    with _lock:
        _answers[key] = state, answer
        _answers.move_to_end(key)
        while len(_answers) > MOST:
            _answers.popitem(last=False)


def _may_be_known(project: Project, key: Any) -> bool:
    if project.store.raw.in_transaction and not project.readonly:
        return False
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _state(project: Project) -> tuple[Any, bool]:
    """What changes with every commit, and whether the next one is sure to change it."""
    file = os.stat(project.path)
    newest = project.store.raw.execute(_NEWEST).fetchone()
    settled = abs(time.time_ns() - file.st_mtime_ns) > SETTLED_NS
    return (file.st_ino, file.st_size, file.st_mtime_ns, newest), settled
