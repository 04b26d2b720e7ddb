"""Two documents side by side as safe HTML, unit by unit, with differing words marked."""

from html import escape

from annotator.actions.parcels.tray import TraySheet
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.kinds.unit import Unit
from annotator.domain.texts.difference import differences
from annotator.gui import theme
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
    head = "".join(f'<th width="47%" align="left">{escape(words)}</th>' for words in heads)
    lines = "".join(_line(came, here) for came, here in found)
    return f'<table width="98%" cellpadding="6" border="1"><tr><th width="6%"></th>{head}</tr>{lines}</table>'


def _line(came: str, here: str) -> str:
    left, right = _marked(came, here)
    return f'<tr><td align="center">{_sign(came, here)}</td><td>{left}</td><td>{right}</td></tr>'


def _sign(came: str, here: str) -> str:
    """A sign beside the colour: the same, another wording, only on one side."""
    if came == here:
        return "="
    return "≠" if came and here else "+" if came else "−"


def _marked(came: str, here: str) -> tuple[str, str]:
    if not came or not here or came == here:
        return _lines(came), _lines(here)
    pieces = differences(here, came)
    left = "".join(_piece(one.text, marked=one.kind == "added") for one in pieces if one.kind != "removed")
    right = "".join(_piece(one.text, marked=one.kind == "removed") for one in pieces if one.kind != "added")
    return left, right


def _piece(text: str, *, marked: bool) -> str:
    if not marked:
        return _lines(text)
    back, fore = theme.token("mark-evidence").name(), theme.token("on-mark").name()
    return (
        f'<span style="background-color:{back};color:{fore};text-decoration:underline">{_lines(text)}</span>'
    )


def _lines(text: str) -> str:
    return escape(text).replace("\n", "<br>")


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
