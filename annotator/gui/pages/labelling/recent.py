"""Recent labels, one click away for a look or a correction."""

from collections.abc import Callable, Sequence

from PySide6.QtWidgets import QMenu, QWidget

from annotator.actions.labelling.label_tasks import LabelDecision
from annotator.gui import theme
from annotator.gui.review.verdicts import face
from annotator.gui.widgets.icons import icon

SHOWN_CHARACTERS = 60


def recent_menu(
    decisions: Sequence[LabelDecision],
    protocol: str,
    go: Callable[[str, str], object],
    parent: QWidget,
) -> QMenu:
    """A menu of labels, newest first; choosing one goes to its unit."""
    menu = QMenu(parent)
    for decision in decisions:
        shown = face(decision.said, protocol)
        words = " ".join(decision.words.split())
        short = words if len(words) <= SHOWN_CHARACTERS else f"{words[: SHOWN_CHARACTERS - 1].rstrip()}…"
        place = f"item {decision.item_key}, {decision.name}"
        action = menu.addAction(f"{shown.words} — {short}  ({place})".replace("&", "&&"))
        action.setIcon(icon(shown.icon, theme.current().px(16), f"state-{shown.state}"))
        action.triggered.connect(lambda _=False, d=decision: go(d.task_id, d.unit_id))
    if not decisions:
        menu.addAction("No labels yet").setEnabled(False)
    return menu
