"""A stage's guideline in its current or any earlier version."""

from collections.abc import Sequence

from PySide6.QtCore import QSignalBlocker, Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.authoring import guidelines
from annotator.actions.items import renderings
from annotator.actions.project import people
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.guideline import Guideline
from annotator.gui.desk.desk import Desk
from annotator.gui.review.moments import moment
from annotator.gui.widgets.fields.choices import ChoiceBox
from annotator.gui.widgets.layouts import horizontal, vertical
from annotator.gui.widgets.plain import PlainLabel
from annotator.gui.widgets.push_button import push_button
from annotator.gui.widgets.reading.link_question import ask_to_open
from annotator.gui.widgets.reading.report_view import ReportView


class VersionsView(QWidget):
    """The newest version unless another is chosen."""

    taken_up = Signal(str)
    """The words of a version, to be written on from."""

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._texts: list[str] = []
        self._writable = False
        self.next_version = 1
        """The number that a version published now would get."""
        self.title, self.versions = PlainLabel("", "strong"), ChoiceBox()
        self.versions.setAccessibleName("Version to read")
        self.versions.keep_short(12)
        self.versions.currentIndexChanged.connect(self._show)
        self.take_up = push_button(
            "Edit from this version",
            lambda: self.taken_up.emit(self._texts[self.versions.currentIndex()]),
            "quiet",
        )
        self.text = ReportView()
        self.text.setAccessibleName("Guideline")
        self.text.link_clicked.connect(lambda url: ask_to_open(self, url))
        vertical(
            horizontal(self.title, (self.versions, 1), self.take_up, spacing=8),
            (self.text, 1),
            on=self,
            margins=(0, 0, 6, 0),
            spacing=6,
        )

    def show_stage(self, stage: Stage, written: Sequence[Guideline], *, writable: bool) -> None:
        """Show a stage's newest version, and offer those before it."""
        names = {person.id: person.name for person in self._desk.ask(people.people) or []}
        shipped = guidelines.shipped(stage)
        self._texts = [*(each.text for each in reversed(written)), shipped]
        self._writable = writable
        self.next_version = (written[-1].version if written else guidelines.SHIPPED) + 1
        with QSignalBlocker(self.versions):
            self.versions.clear()
            for each in reversed(written):
                by = f" · {names[each.by]}" if each.by in names else ""
                self.versions.addItem(f"Version {each.version} · {moment(each.at)}{by}")
            self.versions.addItem("Version 1 · as shipped" if shipped else "Version 1 · no text")
            self.versions.setCurrentIndex(0)
        self._show()

    def _show(self) -> None:
        place = self.versions.currentIndex()
        self.title.setText("In force" if place == 0 else "Was in force")
        self.take_up.setVisible(self._writable and place > 0)
        rendered = self._desk.ask(renderings.html, self._texts[place])
        if rendered is None:
            return
        if rendered.plain:
            self.text.show_plain(self._texts[place])
        else:
            self.text.show_html(rendered.html)
