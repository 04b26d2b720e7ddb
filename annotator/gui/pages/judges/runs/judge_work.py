"""Qt models of a run in progress: systems and running calls."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotator.actions.runs.run_watching import SystemStatus
from annotator.domain.texts.counting import lasting
from annotator.gui.review.judge_words import causes_words
from annotator.gui.tables.cells import Column

# A call that takes longer than this is marked.
LONG_S = 30.0


@dataclass(frozen=True, slots=True)
class SystemProgress:
    """A system's part of the run; `wanted` is 0 until it is counted."""

    standing: SystemStatus
    wanted: int


@dataclass(frozen=True, slots=True)
class CallProgress:
    """A running call: subject, attempt, and seconds so far."""

    item_key: str
    system: str
    unit: str
    trial: int
    seconds: float


PARTS: Sequence[Column[SystemProgress]] = (
    Column("System", lambda part: part.standing.system, 150),
    Column("Came", lambda part: f"{part.standing.came:,}", 66, number=True),
    Column(
        "Of",
        lambda part: f"{part.wanted:,}" if part.wanted else "",
        66,
        number=True,
        about="All questions of this run about the system, including those answered before.",
    ),
    Column(
        "Missing, by cause",
        lambda part: causes_words(part.standing.missing) or "none",
        150,
        look=lambda part: ("warning", "state-unconfirmed") if part.standing.missing else None,
    ),
)
CALLS: Sequence[Column[CallProgress]] = (
    Column(
        "Since",
        lambda call: lasting(call.seconds),
        96,
        number=True,
        look=lambda call: ("clock", "state-unconfirmed") if call.seconds > LONG_S else None,
    ),
    Column("Item", lambda call: call.item_key or "…", 48, fitted=True),
    Column("System", lambda call: call.system, 110),
    Column("Asked about", lambda call: call.unit, 160),
)
