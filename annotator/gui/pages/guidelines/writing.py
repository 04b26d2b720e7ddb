"""Editor of a guideline's next version: text, preview and changes."""

from html import escape

from PySide6.QtCore import QSettings, Signal
from PySide6.QtGui import QFont, QFontDatabase
from PySide6.QtWidgets import (
    QButtonGroup,
    QHBoxLayout,
    QToolButton,
    QWidget,
)

from annotator.actions.items import renderings
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.difference import differences
from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.widgets.basics import PlainLabel, horizontal, push_button, stacked, vertical
from annotator.gui.widgets.fields.typed import TextBox
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.report_view import ReportView

VIEWS = ("Write", "Preview", "What changes")
WRITE, PREVIEW, CHANGES = range(3)
PAUSE_MS = 500
HINT = (
    "Markdown. A heading named after a field, such as “## text” or “## note”, is shown beside that field "
    "while it is edited."
)


class GuidelineEditor(QWidget):
    """Keeps the text on this computer until it is published; nobody else sees it before."""

    edited = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._stage, self._in_force = Stage.RUBRIC, ""
        self.edit, self.look = TextBox(), ReportView()
        self.edit.setAccessibleName("The next version")
        self.edit.setTabChangesFocus(True)
        self.edit.setFont(_even_letters())
        self.look.setAccessibleName("Preview")
        self._pause = later(self, self.keep, PAUSE_MS)
        self.edit.textChanged.connect(self._typed)
        self.body = stacked(self.edit, self.look)
        self.discard = push_button("Discard the draft", self._discard, "quiet")
        vertical(
            self._head(),
            (self.body, 1),
            PlainLabel(HINT, "hint", wrap=True),
            on=self,
            margins=(6, 0, 0, 0),
            spacing=6,
        )
        self.rebind()
        theme.watch(self, self._dress)

    def _head(self) -> QHBoxLayout:
        self._group = QButtonGroup(self)
        row = horizontal(PlainLabel("Next version", "strong"), 10, spacing=0)
        for place, words in enumerate(VIEWS):
            button = QToolButton()
            button.setText(words)
            button.setCheckable(True)
            button.setProperty("role", "segment")
            button.setProperty("position", ("first", "", "last")[place])
            self._group.addButton(button, place)
            row.addWidget(button)
        self._group.button(WRITE).setChecked(True)
        self._group.idClicked.connect(self.show_view)
        row.addStretch(1)
        row.addWidget(self.discard)
        return row

    def rebind(self) -> None:
        for button in self._group.buttons():
            button.setToolTip(f"{button.text()} ({keys.shown('preview')} shows the next)")

    def show_stage(self, stage: Stage, in_force: str) -> None:
        """Write on the draft of a stage, or on what is in force."""
        self.keep()
        self._stage, self._in_force = stage, in_force
        self._put(str(QSettings().value(self._key(), in_force)))
        self.show_view(WRITE)

    def take_up(self, text: str) -> None:
        self._put(text)
        self.keep()
        self.show_view(WRITE)
        self.edit.setFocus()

    def text(self) -> str:
        return self.edit.toPlainText()

    def changed(self) -> bool:
        """Whether that is something else than what is in force."""
        return self.text() != self._in_force

    def keep(self) -> None:
        """Keep the draft on this computer, or forget one that says what is in force."""
        self._pause.stop()
        if self.changed() and self.text():
            QSettings().setValue(self._key(), self.text())
        else:
            QSettings().remove(self._key())

    def published(self, text: str) -> None:
        self._in_force = text
        self.keep()
        self.edited.emit()

    def turn(self) -> None:
        self.show_view((self._group.checkedId() + 1) % len(VIEWS))

    def show_view(self, view: int) -> None:
        """Show the words, how they will look, or what changes."""
        self._group.button(view).setChecked(True)
        self.body.setCurrentWidget(self.edit if view == WRITE else self.look)
        if view == PREVIEW:
            self._show_preview()
        elif view == CHANGES:
            self.look.show_html(_marked(self._in_force, self.text()))

    def _show_preview(self) -> None:
        rendered = self._desk.ask(renderings.html, self.text())
        if rendered is None:
            return
        if rendered.plain:
            self.look.show_plain(self.text())
        else:
            self.look.show_html(rendered.html)

    def _put(self, text: str) -> None:
        blocked = self.edit.blockSignals(True)
        self.edit.setPlainText(text)
        self.edit.blockSignals(blocked)
        self._tell()

    def _typed(self) -> None:
        self._pause.start()
        self._tell()

    def _tell(self) -> None:
        self.discard.setVisible(self.changed())
        self.edited.emit()

    def _discard(self) -> None:
        """Back to what is in force; the editor's own undo brings the draft back."""
        cursor = self.edit.textCursor()
        cursor.select(cursor.SelectionType.Document)
        cursor.insertText(self._in_force)
        self.show_view(WRITE)
        self.edit.setFocus()

    def _dress(self) -> None:
        self.edit.setFont(_even_letters())
        if self._group.checkedId() == CHANGES:
            self.show_view(CHANGES)

    def _key(self) -> str:
        return f"guidelines/{self._desk.project.get('id', '')}/{self._stage.value}"


def _even_letters() -> QFont:
    font = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont)
    font.setPointSizeF(theme.current().points)
    return font


def _marked(old: str, new: str) -> str:
    """Both wordings in one: what goes struck out, what comes underlined; all of it plain text made safe."""
    looks = {
        "removed": f'<s style="background:{theme.token("state-disagree-soft").name()}">{{}}</s>',
        "added": f'<u style="background:{theme.token("state-agreed-soft").name()}">{{}}</u>',
        "same": "{}",
    }
    pieces = (
        looks[piece.kind].format(escape(piece.text).replace("\n", "<br>")) for piece in differences(old, new)
    )
    return "".join(pieces) if old != new else "<i>Nothing has changed yet.</i>"
