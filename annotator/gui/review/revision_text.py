"""A revision as plain text: numbered units with their fields."""

from annotator.actions.authoring.artifacts import RevisionLine
from annotator.domain.kinds.artifact import Kind, Revision, Unit
from annotator.domain.kinds.documents import KINDS, document_of
from annotator.gui.review.moments import moment

# What is not worth a line: ids, and what is distinguished.
UNTOLD = frozenset(("id", "text", "anchor", "more_anchors", "insight_id", "inspirations"))

# What was done, said as it reads in a list.
DONE = {
    "start": "begun",
    "add unit": "one added",
    "retire unit": "one retired",
    "move unit": "order changed",
    "change anchor, more_anchors": "quotation changed",
    "restore": "undone or redone",
    "reopen": "reopened",
    "note": "remark changed",
}


def as_text(kind: Kind, revision: Revision) -> str:
    document = document_of(kind, revision.content)
    return "\n\n".join(_unit(kind, number, unit) for number, unit in enumerate(document.units, start=1))


def line(revision: RevisionLine, alias: str) -> str:
    """A revision on one line: its number, what was done, by whom and when."""
    done = (
        "sealed" if revision.sealed else DONE.get(revision.verb, revision.verb.replace("change", "changed"))
    )
    return f"{revision.number} · {done}\n{moment(revision.at)} · {alias or 'imported'}"


def _unit(kind: Kind, number: int, unit: Unit) -> str:
    values = unit.model_dump(mode="json", exclude=set(UNTOLD))
    told = [
        f"{KINDS[kind].called(name)}: {', '.join(value) if isinstance(value, list) else value}"
        for name, value in values.items()
        if value not in (None, "", [])
    ]
    return "\n".join(
        [f"{number}. {unit.text or '(empty)'}", *(f"    {one}" for one in (*told, *quotations(unit)))]
    )


def quotations(unit: Unit) -> list[str]:
    return [f"Quotation: “{' '.join(anchor.quote.split())}”" for anchor in unit.anchors]
