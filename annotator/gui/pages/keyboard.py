"""The Keyboard page: all key bindings, and how to change them."""

from PySide6.QtWidgets import (
    QGridLayout,
    QKeySequenceEdit,
    QLabel,
    QWidget,
)

from annotator.gui import keys, theme
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.basics import PlainLabel, horizontal, push_button, vertical
from annotator.gui.widgets.plain_area import PlainArea

WIDEST, FIELD = 720, 190
HINT = "Click a key and press another to change it. Single letters and digits do nothing while you type."


class KeyboardPage(Page):
    """All bindings by page; a key in use is refused with the name of its act."""

    NAME = "Keys"
    ICON = "keyboard"

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        title = PlainLabel("Keys", "title")
        hint = PlainLabel(HINT, "hint", wrap=True)
        self.answer = PlainLabel(wrap=True)
        restore = push_button("Restore the default keys", self._restore)
        foot = horizontal((self.answer, 1), restore)
        area = PlainArea("Keys", self._table())
        vertical(title, hint, (area, 1), foot, on=self, margins=(20, 16, 20, 12))

    def _table(self) -> QWidget:
        self.fields: dict[str, QKeySequenceEdit] = {}
        content = QWidget()
        # A key stands near what it does, however wide the window is.
        theme.scale(content.setMaximumWidth, WIDEST)
        grid = QGridLayout(content)
        grid.setContentsMargins(0, 0, 12, 0)
        grid.setColumnStretch(0, 1)
        grid.setHorizontalSpacing(24)
        row = 0
        for page in (keys.EVERYWHERE, *keys.PAGES):
            bindings = [binding for binding in keys.BINDINGS if binding.page == page]
            if not bindings:
                continue
            head = QLabel(page)
            head.setProperty("role", "subtitle")
            grid.addWidget(head, row, 0)
            row += 1
            for binding in bindings:
                grid.addWidget(PlainLabel(binding.title, wrap=True), row, 0)
                grid.addWidget(self._field(binding.act, binding.title), row, 1)
                row += 1
        grid.setRowStretch(row, 1)
        return content

    def _field(self, act: str, title: str) -> QKeySequenceEdit:
        field = QKeySequenceEdit(keys.sequences(act)[0])
        field.setMaximumSequenceLength(1)
        field.setAccessibleName(f"Key for {title}")
        theme.scale(field.setFixedWidth, FIELD)
        field.editingFinished.connect(lambda: self._change(act))
        self.fields[act] = field
        return field

    def _change(self, act: str) -> None:
        field = self.fields[act]
        wanted = field.keySequence().toString()
        if not wanted or wanted == keys.sequences(act)[0].toString():
            field.setKeySequence(keys.sequences(act)[0])
            return
        taken = keys.rebind(act, wanted)
        if taken is not None:
            self.answer.setText(f"{keys.written(wanted)} already does “{taken.title}”; nothing was changed.")
            field.setKeySequence(keys.sequences(act)[0])
            return
        self.answer.setText(f"Changed to {keys.shown(act)}.")
        self._take_over()

    def _restore(self) -> None:
        keys.restore_all()
        for act, field in self.fields.items():
            field.setKeySequence(keys.sequences(act)[0])
        self.answer.setText("All keys are reset to their defaults.")
        self._take_over()

    def _take_over(self) -> None:
        window = self.window()
        if hasattr(window, "rebind"):
            window.rebind()
