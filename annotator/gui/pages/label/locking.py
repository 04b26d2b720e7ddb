"""How controls that can change nothing now are shown: disabled, and saying why."""

from PySide6.QtWidgets import QWidget

from annotator.gui.widgets.key_button import KeyButton

LOCKED = "This file may only be read; labels cannot be changed."
SEALED = "Your labels of this item are submitted; reopen them to change any."


def lock(widget: QWidget, why: str) -> None:
    """Disable a control and say why; an empty reason leaves it as it is."""
    if not why:
        return
    widget.setEnabled(False)
    if isinstance(widget, KeyButton):
        widget.set_hint(why)
    else:
        widget.setToolTip(why)
