"""Editor for reference material drafted by a model, in its two parts."""

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QApplication, QWidget

from annotator.actions.material import reference_material
from annotator.actions.material.reference_material import EditedDraft
from annotator.domain.material import writer_aid as reference
from annotator.gui import keys
from annotator.gui.desk.desk import Desk
from annotator.gui.forms.text_field import TextField
from annotator.gui.review.moments import moment
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.layouts import StretchSpace, horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.plain_area import PlainArea

# One text scrolls, not two in one another.
EVERY_LINE = 100_000
NOT_YOU = "Work is handed out in this project: only a coordinator can add it to the item."
ABOUT = {
    reference_material.FROM_SOURCES: (reference.FROM_SOURCES, "What the sources say about the question."),
    reference_material.BEYOND: (reference.BEYOND_SOURCES, "What the model added. Check it or remove it."),
}


class ReferenceMaterialEditor(QWidget):
    """Both parts, one above the other; text is stored as a draft until confirmed."""

    confirmed = Signal()
    """Put it beside the item."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self.draft_id = ""
        self._kept: dict[str, str] = {}
        self.head, self.why = PlainLabel(role="hint", wrap=True), PlainLabel(role="hint", wrap=True)
        self.fields = {part: TextField(title, most=EVERY_LINE) for part, (title, _) in ABOUT.items()}
        self._inner = QWidget()
        self.area = PlainArea("The draft", self._inner)
        self.confirm = KeyButton("Add to the item", keys.shown("take_unit"), "primary")
        self.confirm.set_hint("Make it a source of this item for everyone, marked as drafted by a model")
        self.confirm.clicked.connect(self.confirmed)
        self._lay_out()

    def _lay_out(self) -> None:
        inside = vertical(on=self._inner, margins=(0, 0, 4, 0), spacing=4)
        for part, (title, hint) in ABOUT.items():
            field = self.fields[part]
            field.edited.connect(self._keep)
            field.cursorPositionChanged.connect(self._follow)
            inside.addWidget(PlainLabel(title, "strong"))
            inside.addWidget(PlainLabel(hint, "hint", wrap=True))
            inside.addWidget(field, 0, Qt.AlignmentFlag.AlignTop)
        inside.addStretch(1)
        # The panel's own colour shows between the fields.
        for ground in (self.area.viewport(), self._inner):
            ground.setAutoFillBackground(False)
        vertical(
            self.head,
            (self.area, 1),
            self.why,
            horizontal(StretchSpace(1), self.confirm),
            on=self,
            margins=0,
            spacing=8,
        )

    def show_draft(self, waiting: EditedDraft | None) -> None:
        """Show a draft as it was edited so far, or nothing; of the one shown already nothing is put again."""
        known, shown = self.draft_id, waiting.proposal.id if waiting else ""
        if known != shown:
            # What was typed a moment ago belongs to the draft that goes.
            self.tell()
        self.draft_id = shown
        self.setVisible(waiting is not None)
        if waiting is None:
            return
        source = waiting.proposal.source
        self.head.setText(f"Drafted by {source.name} on {moment(waiting.proposal.at)}. Only you see it.")
        allowed = self._desk.ask(reference_material.may_confirm) is True
        self.why.setText("" if allowed else NOT_YOU)
        self.why.setHidden(allowed)
        self.confirm.setEnabled(allowed and not self._desk.project.readonly)
        if known == self.draft_id:
            return
        for part, words in zip(self.fields, (waiting.from_sources, waiting.beyond), strict=True):
            self.fields[part].setReadOnly(self._desk.project.readonly)
            self.fields[part].show_value(words)
            self._kept[part] = words
        self.area.verticalScrollBar().setValue(0)

    def tell(self) -> None:
        """Keep at once what was typed and not kept yet."""
        for field in self.fields.values():
            field.tell()

    def enter(self) -> None:
        """Take the focus, in the first part."""
        self.fields[reference_material.FROM_SOURCES].setFocus(Qt.FocusReason.ShortcutFocusReason)

    def rebind(self) -> None:
        """Print the key as it now is."""
        self.confirm.set_key(keys.shown("take_unit"))

    def _keep(self) -> None:
        """Keep what differs from what was kept last."""
        for part, field in self.fields.items():
            text = field.toPlainText()
            if self.draft_id and not self._desk.project.readonly and text != self._kept.get(part):
                self._kept[part] = text
                self._desk.ask(reference_material.edit, self.draft_id, part, text)

    def _follow(self) -> None:
        """Keep the cursor in view."""
        field = QApplication.focusWidget()
        if isinstance(field, TextField) and field in self.fields.values():
            at = field.mapTo(self._inner, field.viewport().mapToParent(field.cursorRect().center()))
            self.area.ensureVisible(at.x(), at.y(), 0, 2 * field.fontMetrics().lineSpacing())
