"""Two documents side by side as safe HTML, unit by unit, with differing words marked."""

from annotator.actions.parcels.tray import TraySheet
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.kinds.unit import Unit
from annotator.gui.review import side_by_side
from annotator.gui.review.revision_text import UNTOLD, quotations

# What came, and what is here, in words; empty where there is nothing.
Row = tuple[str, str]


def rows(sheet: TraySheet) -> list[Row]:
    """The units of both documents in words, those that belong together in one row; remarks come last."""
    found = [(_words(sheet, came), _words(sheet, here)) for came, here in sheet.rows]
    remarks = [f"Remark: {one.remark}" if one and one.remark else "" for one in (sheet.came, sheet.here)]
    return [*found, (remarks[0], remarks[1])] if any(remarks) else found


def table(sheet: TraySheet, found: list[Row]) -> str:
    """Rows as a table with a sign before each; a paragraph when there are none."""
    if not found:
        return "<p>No differences.</p>"
    heads = (
        f"In the returned file, revision {sheet.entry.revision}",
        f"Here, revision {sheet.here_revision}"
        if sheet.here_revision
        else "Here: no work by this person yet",
    )
    return side_by_side.table(heads, found)


def _words(sheet: TraySheet, unit: Unit | None) -> str:
    if unit is None or sheet.came is None:
        return ""
    if isinstance(unit, Label):
        return _label(sheet, unit)
    values = unit.model_dump(mode="json", exclude=set(UNTOLD))
    kind = sheet.came.KIND
    told = [
        f"{KINDS[kind].called(name)}: {value}" for name, value in values.items() if value not in (None, "")
    ]
    return "\n".join([unit.text or "(empty)", *told, *quotations(unit)])


def _label(sheet: TraySheet, label: Label) -> str:
    heading = sheet.headings.get(label.unit_id, "A criterion that is no longer there")
    parts = [f"Report {sheet.reports.get(label.response_id, '?')} · {heading}", f"Label: {label.value}"]
    parts += [f"Evidence: “{label.quote}”"] if label.quote else []
    return "\n".join(parts + ([f"Note: {label.note}"] if label.note else []))
