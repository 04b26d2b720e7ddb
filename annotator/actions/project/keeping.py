"""Cache of slow queries, valid until the project's file changes."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from threading import RLock
from typing import Any, Concatenate, ParamSpec, TypeVar

from annotator.actions.project.file import Project
from annotator.storage.tables import JUDGEMENT
from annotator.storage.watching import ChangeWatch

P = ParamSpec("P")
T = TypeVar("T")
# So many answers are kept at once, of large projects fewer: an answer takes some hundred bytes for each judgement there
# is, all together less than a gigabyte. The one that was not asked for longest goes first.
MOST, ROOM = 32, 3_000_000

_answers: OrderedDict[Any, tuple[Any, Any]] = OrderedDict()
_watches: dict[Path, ChangeWatch] = {}
_lock = RLock()


def kept(question: Callable[Concatenate[Project, P], T]) -> Callable[Concatenate[Project, P], T]:
    """The same question, whose answer is looked up where nothing was written since; nobody may change an answer.

    Each person is answered on their own. In a transaction that may have written it is always asked.
    """

    @wraps(question)
    def asked(project: Project, /, *args: P.args, **kwargs: P.kwargs) -> T:
        key = _key(question, project, args, kwargs)
        if not _may_be_known(project, key):
            return question(project, *args, **kwargs)
        state = _state(project)
        there, answer = _looked_up(key, state)
        if not there:
            answer = question(project, *args, **kwargs)
            if _state(project) == state:
                _keep(project, key, state, answer)
        return answer  # type: ignore[no-any-return]

    return asked


def known(
    question: Callable[Concatenate[Project, P], T], project: Project, /, *args: P.args, **kwargs: P.kwargs
) -> T | None:
    """What is kept of such a question, which is not asked; None where nothing is."""
    key = _key(question, project, args, kwargs)
    return _looked_up(key, _state(project))[1] if _may_be_known(project, key) else None


def watch(path: Path) -> None:
    """Keep answers about a file whichever connection asks, until `forget`; otherwise each has its own."""
    with _lock:
        if path not in _watches:
            _watches[path] = ChangeWatch.over(path)


def forget(path: Path) -> None:
    """Keep nothing about a watched file any more."""
    with _lock:
        watch = _watches.pop(path, None)
        if watch is not None:
            for key in [key for key, (state, _) in _answers.items() if state[0] is watch]:
                del _answers[key]
            watch.close()


@contextmanager
def unmoved(project: Project, *questions: Callable[..., Any]) -> Iterator[None]:
    """What is written within moves no answer to these questions, or to any where none is named: what was kept stays,
    unless someone else wrote meanwhile.
    """
    # Another thread that writes through the same connection would not show in its version.
    with project.store.held():
        others, before = project.store.watch.by_others(), _state(project)
        yield
        after = _state(project)
        if project.store.watch.by_others() != others:
            return
        names = {(question.__module__, question.__qualname__) for question in questions}
        with _lock:
            for key, (state, answer) in _answers.items():
                if state == before and (not names or key[:2] in names):
                    _answers[key] = after, answer


def _key(question: Any, project: Project, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    return (question.__module__, question.__qualname__, project.path, project.by, args, *kwargs.items())


def _may_be_known(project: Project, key: Any) -> bool:
    if project.store.in_transaction and not project.readonly:
        return False
    try:
        hash(key)
    except TypeError:
        return False
    return True


def _state(project: Project) -> Any:
    with _lock:
        return _watches.get(project.path, project.store.watch).token()


def _looked_up(key: Any, state: Any) -> tuple[bool, Any]:
    with _lock:
        before, answer = _answers.get(key, (None, None))
        if before != state:
            return False, None
        _answers.move_to_end(key)
        return True, answer


def _keep(project: Project, key: Any, state: Any, answer: Any) -> None:
    judgements = project.store.at_most(JUDGEMENT)
    if judgements is None:
        return
    with _lock:
        _answers[key] = state, answer
        _answers.move_to_end(key)
        while len(_answers) > max(1, min(MOST, ROOM // (judgements or 1))):
            _answers.popitem(last=False)
