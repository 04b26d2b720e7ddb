"""Validation sets tab: draw, assign, label and lock sets; import and export labels."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from PySide6.QtWidgets import QFileDialog, QListWidget, QWidget

from annotator.actions.imports import label_exports
from annotator.actions.project import people
from annotator.actions.sets import set_status, validation_sets
from annotator.actions.sets.set_status import SetStatus
from annotator.domain.judges.validation import Draw, Split
from annotator.domain.texts.counting import counted
from annotator.gui.desk.desk import Desk
from annotator.gui.desk.part import PagePart
from annotator.gui.pages.validation.sets.labels_in import LabelsIn
from annotator.gui.pages.validation.sets.set_form import SetForm
from annotator.gui.review.judge_words import when
from annotator.gui.tables.cells import CellsModel, Column
from annotator.gui.tables.cells_table import CellsTable
from annotator.gui.widgets.bars.acts_bar import ActsBar, Command
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, column_of, stacked, vertical
from annotator.gui.widgets.empty_state import EmptyState
from annotator.gui.widgets.plain_area import PlainArea


def state(row: SetStatus) -> str:
    if row.set.locked_at is not None:
        return f"locked {row.set.locked_at:%d %b %Y}"
    return f"{counted(len(row.lacking), 'share')} of work open" if row.lacking else "complete: lock it"


def _look(row: SetStatus) -> tuple[str, str] | None:
    if row.locked:
        return ("lock", "state-agreed")
    return ("clock", "text-muted") if row.lacking else ("check", "state-unconfirmed")


SETS: Sequence[Column[SetStatus]] = (
    Column("Set", lambda row: row.set.name, 150),
    Column("What", lambda row: row.title, 120),
    Column("Responses", lambda row: f"{len(row.set.content.responses):,}", 84, number=True),
    Column(
        "People",
        lambda row: ", ".join(row.raters),
        110,
        tip=lambda row: "\n".join(f"{alias}: {counted(many, 'item')}" for alias, many in row.raters.items()),
    ),
    Column(
        "Labels",
        state,
        178,
        tip=lambda row: "\n".join(row.lacking[:30]) or "Nothing is missing.",
        look=_look,
        firm=True,
    ),
    Column(
        "Test views",
        lambda row: f"{len(row.openings):,}" if row.locked else "–",
        84,
        number=True,
        about="Number of times the test part was viewed. It is shown on every card.",
    ),
)


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


LEFT = (
    Command("new_set", "Draw a set", "plus", "Draw reports at random for people to label blind"),
    Command("labels_in", "Labels from files", "import", "Import labels given elsewhere"),
    Command(
        "labels_out",
        "Save labels",
        "export",
        "Write people's labels as CSV, JSON or in a benchmark's own layout",
    ),
)
RIGHT = (
    Command("see_figures", "See the figures", hint="Judges beside people on the chosen set"),
    Command(
        "lock_set",
        "Lock the labels",
        hint="Freeze the labels: from now on they are the metric",
    ),
    Command("submit", "Draw and deal", role="primary"),
)
NONE_YET = (
    "A validation set defines the reports on which judges are compared with people: drawn at random, "
    "labelled by two or more people who know neither judge nor system, and locked before any judge is shown."
)
FORM, VIEW, FILES = range(3)


class SetsPart(PagePart):
    """Sets on the left; the chosen one, a new one, or label files on the right."""

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk, ActsBar(LEFT, RIGHT))
        self.model = CellsModel[SetStatus](SETS, self)
        self.table = CellsTable("Validation sets", self.model, stretched=0)
        self.form, self.view, self.files = SetForm(desk), SetView(desk), LabelsIn(desk)
        self._fits = self._ready = False
        self._wanted = ""
        self.acts = {
            "new_set": self._begin,
            "labels_in": self._begin_files,
            "labels_out": self._save_labels,
            "lock_set": self._lock,
            "see_figures": self._see,
            "submit": self._submit,
        }
        self.table.selectionModel().currentRowChanged.connect(lambda *_: self._turn())
        self.table.clicked.connect(lambda _: self._turn())
        self.table.activated.connect(lambda _: self._see())
        self.form.looked_at.connect(self._looked)
        self.files.ready.connect(self._files_ready)
        self.files.taken.connect(self._taken)
        self.lay_out(self._body())

    def _body(self) -> QWidget:
        self.nothing = EmptyState("validate", "No validation set yet", NONE_YET)
        self.list = stacked(self.table, self.nothing)
        self.side = stacked(
            self._drawing(), _scrolled("The set", self.view), _scrolled("Labels from files", self.files)
        )
        return Splitter("validate/sets", parts=(self.list, self.side), sizes=(640, 450), stretch=(3, 2))

    def _drawing(self) -> QWidget:
        """A new set: its form, and below it what would be drawn, which stays in view."""
        fields = column_of(PlainLabel("A new set", "subtitle"), self.form, StretchSpace(1), spacing=8)
        drawing = column_of((_scrolled("A new set", fields), 1), self.form.told, spacing=8)
        self.form.told.setContentsMargins(12, 0, 8, 4)
        return drawing

    def fill(self) -> None:
        """Read the sets again; the chosen one stays chosen."""
        self.form.fill()
        self.desk.ask_later(self._show, set_status.standings)

    def _show(self, found: list[SetStatus]) -> None:
        if self.stopped:
            return
        kept = self._wanted or (self.chosen.set.name if self.chosen else "")
        self._wanted = ""
        self.model.show(found)
        self.list.setCurrentIndex(0 if found else 1)
        place = self.model.place_of(lambda row: row.set.name == kept)
        if kept and place >= 0:
            self.table.selectRow(place)
        elif found and self.side.currentIndex() == VIEW:
            self.table.selectRow(0)
        elif not found and self.side.currentIndex() == VIEW:
            self.side.setCurrentIndex(FORM)
        self._turn(stay=True)

    @property
    def chosen(self) -> SetStatus | None:
        return self.model.at(self.table.currentIndex().row())

    def go(self, place: Mapping[str, Any]) -> None:
        self._wanted = str(place.get("set", ""))
        if self._wanted:
            self.side.setCurrentIndex(VIEW)
            self.fill()

    def focus_first(self) -> None:
        """Work begins in the list, or with a first set."""
        if self.model.rowCount():
            self.table.setFocus()
        else:
            self.form.focus_first()

    def _turn(self, *, stay: bool = False) -> None:
        row = self.chosen
        if row is not None and (not stay or self.side.currentIndex() == VIEW):
            self.view.show_set(row)
            self.side.setCurrentIndex(VIEW)
        self._offer()

    def _offer(self) -> None:
        row, writable, side = self.chosen, not self.desk.project.readonly, self.side.currentIndex()
        viewed = row is not None and side == VIEW
        for act in ("new_set", "labels_in"):
            self.bar.enable(act, writable)
        lockable = viewed and row is not None and not row.locked and not row.lacking
        self.bar.enable("lock_set", writable and lockable)
        self.bar.enable("see_figures", viewed and row is not None and row.locked)
        # What belongs to another side of the part would only stand in the way of words.
        for act, there in (("see_figures", viewed), ("lock_set", viewed), ("submit", side != VIEW)):
            self.bar.offer(act, there=there)
        self.bar.buttons["submit"].set_words("Import them" if side == FILES else "Draw and deal")
        self.bar.enable(
            "submit", writable and (self._ready if side == FILES else side == FORM and self._fits)
        )
        self.bar.fit()

    def _looked(self, fits: bool) -> None:
        self._fits = fits
        self._offer()

    def _files_ready(self, ready: bool) -> None:
        self._ready = ready
        self._offer()

    def _begin(self) -> None:
        self.table.clearSelection()
        self.table.setCurrentIndex(self.model.index(-1, -1))
        self.side.setCurrentIndex(FORM)
        self._offer()
        self.form.focus_first()

    def _begin_files(self) -> None:
        self.files.begin()
        self.side.setCurrentIndex(FILES)
        self._offer()
        self.files.focus_first()

    def _taken(self, words: str) -> None:
        self.answer.show_message("success", "The labels were imported.", words)
        self.desk.tell_end("The labels were imported.", "Validate", self, part="Sets")
        self.fill()

    def _submit(self) -> None:
        if not self.bar.buttons["submit"].isEnabled():
            return
        if self.side.currentIndex() == FILES:
            self.files.take()
            return
        request = self.form.request()
        change = self.desk.do(validation_sets.make, request)
        if change is not None:
            many = counted(int(change.after["responses"]), "response")
            self.form.name.clear()
            self.answer.show_message(
                "success",
                f"Drew \u2068{request.name}\u2069: {many}.",
                "They are on the Label page of the annotators.",
            )
            self.go({"set": request.name})

    def _lock(self) -> None:
        row = self.chosen
        if row is None or not self.bar.buttons["lock_set"].isEnabled():
            return
        if self.desk.do(validation_sets.lock, row.set.name) is not None:
            self.answer.show_message(
                "success",
                f"The labels of \u2068{row.set.name}\u2069 are locked.",
                "Judges may now be compared with them.",
            )
            self.fill()

    def _see(self) -> None:
        row = self.chosen
        if row is not None and row.locked:
            choose = {"protocol": row.set.protocol, "set": row.set.name}
            self.desk.go("Validate", part="Figures", view="judges", choose=choose)

    def _save_labels(self) -> None:
        forms = {words: name for name, words in label_exports.offered().items()}
        name, kind = QFileDialog.getSaveFileName(self, "Save labels", "labels.csv", ";;".join(forms))
        if name:
            self.save_labels(Path(name), forms.get(kind, ""))

    def save_labels(self, path: Path, form: str = "") -> None:
        found = self.desk.ask(label_exports.export, path, form)
        if found is not None:
            self.answer.show_message(
                "success",
                f"Wrote {counted(found.labels, 'label')} of {', '.join(found.raters)}.",
                "\n".join(found.notes),
            )

    def keep(self) -> None:
        """Nothing is kept of a request: a set is drawn as a whole or not at all."""

    def stop(self) -> None:
        super().stop()
        self.form.stop()
        self.files.stop()


def _scrolled(name: str, widget: QWidget) -> PlainArea:
    widget.setContentsMargins(12, 0, 8, 0)
    return PlainArea(name, widget)
