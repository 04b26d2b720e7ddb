"""Details of a validation set: how it was drawn, what is left before locking, looks at its test part."""

import json

from PySide6.QtWidgets import QListWidget, QWidget

from annotator.actions.project import people
from annotator.actions.sets.set_status import SetStatus
from annotator.domain.judges.validation import Draw, Split
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.review.judge_words import when
from annotator.gui.widgets.layouts import StretchSpace, vertical
from annotator.gui.widgets.plain import PlainLabel

WAITING = "No judge is shown on these reports before their labels are locked."
LOCKED = (
    "These first labels stay the metric: no ruling or later label changes them. Figures are on the dev "
    "part; each view of the test part is counted."
)


class SetView(QWidget):
    """The chosen set in words, with a list of open work or of looks at its test part."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.title = PlainLabel("", "subtitle", wrap=True)
        self.about, self.state = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.heading, self.lines = PlainLabel("", "strong", wrap=True), QListWidget()
        vertical(
            self.title,
            self.about,
            self.state,
            self.heading,
            (self.lines, 1),
            StretchSpace(0),
            on=self,
            margins=0,
            spacing=10,
        )

    def show_set(self, row: SetStatus) -> None:
        """Show a set."""
        self.title.setText(row.set.name)
        self.about.setText(_about(row))
        self.state.setText(LOCKED if row.locked else WAITING)
        if row.locked:
            self._show("Views of the test part", self._looks(row), "Nobody has viewed the test part yet.")
        else:
            self._show("Still to be done", list(row.lacking), "All labels are submitted: they can be locked.")

    def _show(self, heading: str, lines: list[str], nothing: str) -> None:
        self.heading.setText(f"{heading}: {len(lines):,}" if lines else nothing)
        self.lines.setAccessibleName(heading)
        self.lines.clear()
        self.lines.addItems(lines)
        self.lines.setVisible(bool(lines))

    def _looks(self, row: SetStatus) -> list[str]:
        aliases = {one.id: one.alias for one in people.people(self._desk.project)}
        return [
            f"{when(one.at)}, {aliases.get(one.by, 'somebody')}: {', '.join(json.loads(one.judges)) or 'all judges'}"
            for one in row.openings
        ]


def _about(row: SetStatus) -> str:
    """How the set was drawn, and what it holds, in lines."""
    content = row.set.content
    test = [one for one in content.responses if one.split is Split.TEST]
    tested = len({one.item_id for one in test})
    types = ", ".join(f"{name} {many}" for name, many in row.types.items())
    lines = [
        f"{row.title}: {counted(len(content.responses), 'response')} of {counted(len(content.dealt), 'item')} "
        f"({types}).",
        f"Test part: {counted(len(test), 'response')} of {counted(tested, 'item')}. {_draw(content.draw)}",
        f"Drawn {when(row.set.at)}, labelled by {', '.join(row.raters)}.",
    ]
    if row.set.locked_at is not None:
        short = row.set.labels_sha256[:12]
        lines.append(
            f"Locked {when(row.set.locked_at)}: {counted(len(row.set.first_labels), 'label')}, SHA-256 {short}…"
        )
    return "\n".join(lines)


def _draw(draw: Draw) -> str:
    if draw.width is None:
        return f"Drawn with seed {draw.seed}, {draw.raters} people per item."
    effect = f"{draw.effect:.2f}" if draw.effect is not None else "not known"
    return (
        f"Drawn with seed {draw.seed}, {draw.raters} people per item, for an interval {draw.width:g} wide "
        "about "
        f"{draw.share:g} (design effect {effect})."
    )
