"""Progress of a run, counted as it happens."""

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from annotator.domain.judges.judge import Call
from annotator.domain.judges.protocol import Case, Verdicts
from annotator.judging.calls.cache import Key, keys_of


@dataclass(frozen=True, slots=True)
class Finished:
    """A finished case: verdicts of its units, calls made and reused, and the call that was read.

    When `judged` is False the run ended in the middle of the case: its calls are to be journalled, its verdicts are
    not to be stored, and the case is asked again on resuming.
    """

    case: Case
    verdicts: Verdicts
    calls: tuple[Call, ...] = ()
    reused: tuple[Call, ...] = ()
    call_id: str | None = None
    judged: bool = True


@dataclass(frozen=True, slots=True)
class RunningCase:
    """A case with a request in flight, by the judgements it is to give, and for how many seconds."""

    keys: tuple[Key, ...]
    seconds: float


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a run in judgements. `latest` was recorded before this was announced.

    `spent_usd` sums the calls whose cost is known, `unpriced` counts the others; `saved_usd` is what the reused
    calls had cost. `models` are the names the server returned: more than one is a warning.
    """

    done: int
    by_status: dict[str, int]
    skipped: int
    calls: int
    reused: int
    repaired: int
    spent_usd: float
    unpriced: int
    saved_usd: float
    models: tuple[str, ...]
    running: tuple[RunningCase, ...]
    waiting_until: datetime | None
    seconds: float
    latest: tuple[Finished, ...] = ()


@dataclass
class ProgressTally:
    """The counters behind a Progress."""

    clock: Callable[[], float] = time.monotonic
    by_status: Counter[str] = field(default_factory=Counter)
    skipped: int = 0
    calls: int = 0
    reused: int = 0
    repaired: int = 0
    spent_usd: float = 0.0
    unpriced: int = 0
    saved_usd: float = 0.0
    models: dict[str, None] = field(default_factory=dict)
    running: dict[tuple[Key, ...], Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._began = self.clock()

    def count(self, finished: Finished) -> None:
        """Add one recorded case."""
        if finished.judged:
            self.by_status.update(verdict.status.value for verdict in finished.verdicts.values())
        self.reused += len(finished.reused)
        self.saved_usd += sum(call.bill_usd or 0.0 for call in finished.reused)
        for call in finished.calls:
            self.calls += 1
            self.repaired += call.repaired
            self.spent_usd += call.bill_usd or 0.0
            self.unpriced += call.bill_usd is None
            if call.returned_model:
                self.models[call.returned_model] = None

    def begin(self, case: Case, ask: Any) -> None:
        """Note that a case is in progress; `ask` knows whether a request of it is out."""
        self.running[keys_of(case)] = ask

    def end(self, case: Case) -> None:
        """Note that a case is in progress no longer."""
        self.running.pop(keys_of(case), None)

    def told(self, latest: tuple[Finished, ...], waiting_until: datetime | None) -> Progress:
        """The counters as they stand."""
        now = self.clock()
        out = ((keys, ask.asking_since) for keys, ask in self.running.items())
        return Progress(
            done=self.by_status.total(),
            by_status=dict(self.by_status),
            skipped=self.skipped,
            calls=self.calls,
            reused=self.reused,
            repaired=self.repaired,
            spent_usd=self.spent_usd,
            unpriced=self.unpriced,
            saved_usd=self.saved_usd,
            models=tuple(self.models),
            running=tuple(RunningCase(keys, now - since) for keys, since in out if since is not None),
            waiting_until=waiting_until,
            seconds=now - self._began,
            latest=latest,
        )
