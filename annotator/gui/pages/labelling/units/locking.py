"""Disabled state of controls, with the reason."""

from PySide6.QtWidgets import QWidget

from annotator.actions.labelling.labels import LabelSheet
from annotator.gui.widgets.bars.key_button import KeyButton

LOCKED = "This file is read-only; labels cannot be changed."
SEALED = "Your labels of this item are submitted; reopen them to change any."


def why_locked(sheet: LabelSheet | None, unit_id: str = "") -> str:
    """Why a unit's label cannot be changed now; empty when it can."""
    if sheet is None or sheet.sealed:
        return SEALED if sheet else ""
    given = sheet.given.get(unit_id, "")
    return f"This label was {given}: it is finished, and counts." if given else ""


def lock(widget: QWidget, why: str) -> None:
    """Disable a control and say why; an empty reason leaves it as it is."""
    if not why:
        return
    widget.setEnabled(False)
    if isinstance(widget, KeyButton):
        widget.set_hint(why)
    else:
        widget.setToolTip(why)
