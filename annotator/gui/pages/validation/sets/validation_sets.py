"""Qt model of validation sets: content, raters, progress, looks at the test part."""

from collections.abc import Sequence

from annotator.actions.sets.set_status import SetStatus
from annotator.domain.texts.counting import counted
from annotator.gui.tables.cells import Column


def state(row: SetStatus) -> str:
    """How far a set is, in words."""
    if row.set.locked_at is not None:
        return f"locked {row.set.locked_at:%d %b %Y}"
    return f"{counted(len(row.lacking), 'share')} of work open" if row.lacking else "complete: lock it"


def _look(row: SetStatus) -> tuple[str, str] | None:
    if row.locked:
        return ("lock", "state-agreed")
    return ("clock", "text-muted") if row.lacking else ("check", "state-unconfirmed")


SETS: Sequence[Column[SetStatus]] = (
    Column("Set", lambda row: row.set.name, 150),
    Column("What", lambda row: row.title, 120),
    Column("Responses", lambda row: f"{len(row.set.content.responses):,}", 84, number=True),
    Column(
        "People",
        lambda row: ", ".join(row.raters),
        110,
        tip=lambda row: "\n".join(f"{alias}: {counted(many, 'item')}" for alias, many in row.raters.items()),
    ),
    Column(
        "Labels",
        state,
        178,
        tip=lambda row: "\n".join(row.lacking[:30]) or "Nothing is missing.",
        look=_look,
        firm=True,
    ),
    Column(
        "Test views",
        lambda row: f"{len(row.openings):,}" if row.locked else "–",
        84,
        number=True,
        about="Number of times the test part was viewed. It is shown on every card.",
    ),
)
