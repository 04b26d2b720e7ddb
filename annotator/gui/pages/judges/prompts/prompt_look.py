"""Preview of a prompt filled for a real unit, its differences from others, and its versions."""

from collections.abc import Mapping, Sequence
from html import escape

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QPushButton,
    QTabWidget,
    QTextBrowser,
    QToolButton,
    QWidget,
)

from annotator.actions.judges import prompts
from annotator.actions.judging import filled_prompts
from annotator.actions.judging.filled_prompts import PromptPreview
from annotator.actions.project.file import Project
from annotator.domain.judges.prompt import SHIPPED, PromptVersion
from annotator.domain.texts.difference import differences
from annotator.gui import theme
from annotator.gui.desk.desk import Desk
from annotator.gui.review.judge_words import when
from annotator.gui.review.stacked import column
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets import icons
from annotator.gui.widgets.basics import StretchSpace, horizontal
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.later import later
from annotator.gui.widgets.reading.raw_text import RawText

PAUSE_MS = 80
NO_UNIT = "No unit in this project uses this prompt yet."
FAULTY = "It cannot be filled in until it is fixed."
NEXT = "current text"


class PromptLook(QTabWidget):
    """Three tabs: as sent, what changes, versions."""

    taken_up = Signal(str)
    """The words of a version, to be written on from."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._name, self._text, self._number = "", "", 0
        self._versions: Sequence[PromptVersion] = ()
        self._names: Mapping[str, str] = {}
        self._stopped = False
        self.setDocumentMode(True)
        self.tabBar().setDrawBase(False)
        self.about = ElidedLabel("", "hint")
        self.sent = RawText("As it would be sent")
        self.old, self.new = ChoiceBox(), ChoiceBox()
        self.changes = QTextBrowser()
        self.changes.setProperty("role", "side")
        self.changes.setAccessibleName("What changes")
        self.model = CellsModel[PromptVersion](self._columns(), self)
        self.table = CellsTable("Versions", self.model, stretched=3)
        self._soon = later(self, self._preview, PAUSE_MS)
        for words, pane in (
            ("As sent", self._sent_pane()),
            ("What changes", self._changes_pane()),
            ("Versions", self._versions_pane()),
        ):
            self.addTab(pane, words)
        self.currentChanged.connect(lambda _: self._show())
        theme.watch(self, self._compare)

    def _columns(self) -> tuple[Column[PromptVersion], ...]:
        return (
            Column("No.", lambda one: str(one.version), 40, number=True),
            Column("When", lambda one: when(one.at) if one.at else "as shipped", 118),
            Column("Who", lambda one: self._names.get(one.by, "–"), 90),
            Column("Note", lambda one: one.note or "–", 120),
        )

    def _sent_pane(self) -> QWidget:
        head = QHBoxLayout()
        for name, picture, by in (("The unit before", "left", -1), ("The next unit", "right", 1)):
            button = QToolButton()
            icons.put(button, picture)
            button.setToolTip(name)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _=False, by=by: self.step(by))
            head.addWidget(button)
        head.addWidget(self.about, 1)
        return column(head, self.sent, grows=self.sent, above=6)

    def _changes_pane(self) -> QWidget:
        head = QHBoxLayout()
        for combo, name in ((self.old, "From version"), (self.new, "To version")):
            combo.setAccessibleName(name)
            combo.keep_short(10)
            combo.currentIndexChanged.connect(lambda _: self._compare())
            head.addWidget(combo, 1)
        return column(head, self.changes, grows=self.changes, above=6)

    def _versions_pane(self) -> QWidget:
        take, compare = QPushButton("Edit from this version"), QPushButton("What changed since")
        take.clicked.connect(self._take_up)
        compare.clicked.connect(self._compare_since)
        self.table.activated.connect(lambda _: self._compare_since())
        foot = horizontal(StretchSpace(1), compare, take)
        return column(self.table, foot, grows=self.table, above=6)

    def show_prompt(self, name: str, versions: Sequence[PromptVersion], names: Mapping[str, str]) -> None:
        """Show another prompt with its versions, the shipped one first; `names` by the id of who wrote it."""
        if name != self._name:
            self._number = 0
        self._name, self._versions, self._names = name, versions, names
        self.model.show(list(reversed(versions)))
        self.table.setCurrentIndex(self.model.index(0, 0))
        for combo in (self.old, self.new):
            combo.blockSignals(True)
            combo.clear()
        for one in reversed(versions):
            for combo in (self.old, self.new):
                combo.addItem(self._title(one), one.version)
        self.new.insertItem(0, NEXT, 0)
        self.new.setCurrentIndex(0)
        self.old.setCurrentIndex(0)
        for combo in (self.old, self.new):
            combo.blockSignals(False)

    def _title(self, one: PromptVersion) -> str:
        last = one is self._versions[-1]
        name = "1, as shipped" if one.version == SHIPPED else str(one.version)
        return f"version {name}{', in force' if last else ''}"

    def show_text(self, text: str) -> None:
        self._text = text
        self._soon.start()

    def step(self, by: int) -> None:
        self.setCurrentIndex(0)
        self._number = max(0, self._number + by)
        self._soon.stop()
        self._preview()

    def turn(self) -> None:
        self.setCurrentIndex((self.currentIndex() + 1) % self.count())

    def stop(self) -> None:
        self._stopped = True
        self._soon.stop()

    def _show(self) -> None:
        if self.currentIndex() == 0:
            self._preview()
        elif self.currentIndex() == 1:
            self._compare()

    def _preview(self) -> None:
        if self.currentIndex() == 1:
            self._compare()
        elif self.currentIndex() == 0 and self._name:
            self.about.setText("Filling it in…")
            self._desk.ask_later(self._previewed, _filled, self._name, self._text, self._number)

    def _previewed(self, found: tuple[str, str, int, PromptPreview | None]) -> None:
        name, text, number, made = found
        if self._stopped or (name, text, number) != (self._name, self._text, self._number):
            return
        faulty = made is None and bool(prompts.faults(name, text))
        if made is None and not faulty and number > 0:
            # Beyond the last unit: back to it.
            self._number = number - 1
            self._preview()
            return
        if made is None:
            self.about.setText("")
            self.sent.setPlainText(FAULTY if faulty else NO_UNIT)
            return
        where = " · ".join(part for part in (f"item {made.item_key}", made.system, made.unit) if part)
        self.about.setText(f"{number + 1}: about {made.tokens:,} tokens · {where}")
        self.sent.setPlainText(f"# system\n\n{made.system_part}\n\n# user\n\n{made.user_part}")

    def _compare(self) -> None:
        if self.currentIndex() != 1:
            return
        texts = {one.version: one.text for one in self._versions} | {0: self._text}
        old, new = texts.get(self.old.currentData(), ""), texts.get(self.new.currentData(), "")
        if old == new:
            self.changes.setHtml("<p>No differences.</p>")
            return
        self.changes.setHtml(f"<pre style='white-space:pre-wrap'>{marked(old, new)}</pre>")

    def _chosen(self) -> PromptVersion | None:
        return self.model.at(self.table.currentIndex().row())

    def _take_up(self) -> None:
        one = self._chosen()
        if one is not None:
            self.taken_up.emit(one.text)

    def _compare_since(self) -> None:
        one = self._chosen()
        if one is not None:
            self.old.setCurrentIndex(max(0, self.old.findData(one.version)))
            self.setCurrentIndex(1)
            self._compare()


def marked(old: str, new: str) -> str:
    """Both wordings as HTML: what was taken out struck through, what was put in underlined."""
    out, put = theme.token("state-disagree-soft").name(), theme.token("state-agreed-soft").name()
    styles = {
        "removed": f"background:{out};text-decoration:line-through",
        "added": f"background:{put};text-decoration:underline",
    }
    parts = []
    for piece in differences(old, new):
        words = escape(piece.text)
        parts.append(words if piece.kind == "same" else f"<span style='{styles[piece.kind]}'>{words}</span>")
    return "".join(parts)


def _filled(
    project: Project, name: str, text: str, number: int
) -> tuple[str, str, int, PromptPreview | None]:
    return name, text, number, filled_prompts.preview(project, name, text, number)
