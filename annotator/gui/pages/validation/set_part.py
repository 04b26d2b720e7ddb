"""Sets tab: validation sets, a new draw, and labels from files."""

import json
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QCheckBox,
    QComboBox,
    QFileDialog,
    QListWidget,
    QPlainTextEdit,
    QSizePolicy,
    QWidget,
)

from annotator.actions.imports import label_files, label_matching
from annotator.actions.imports.label_files import LabelImportOptions, LabelImportPreview
from annotator.actions.judging.judge_runs import title
from annotator.actions.labelling import label_cases
from annotator.actions.labelling.label_rows import USUAL, submits
from annotator.actions.project import people
from annotator.actions.runs import judge_cases
from annotator.actions.sets import validation_sets
from annotator.actions.sets.validation_sets import SetPreview, SetRequest, SetStatus
from annotator.domain.common import Change, Refusal, counted
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.validation import Draw, Split
from annotator.gui import theme
from annotator.gui.review.people_choice import PeopleChoice
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import when
from annotator.gui.session.page import PagePart
from annotator.gui.session.session import Pane, ProjectSession, in_order, named, or_refusal
from annotator.gui.widgets.bars import ActsBar, Command, Fold
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    later,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.fields import (
    AmountBox,
    ChoiceBox,
    FormRow,
    LineField,
    NumberBox,
    beside,
    form_of,
    offer,
    when_changed,
)
from annotator.gui.widgets.message_bar import ProgressRow
from annotator.gui.widgets.splitter import Splitter

LABELS_ABOUT = (
    "Tables (CSV, JSON) with item, system, unit, rater and value, or {files}. Nothing is changed before you "
    "import them; either all are imported, or none. They are finished work: they count immediately, and "
    "name their file."
)
SYSTEM = "System that wrote the reports, if the files do not say"
SHOWN_PROBLEMS = 500


class LabelsIn(Pane):
    """The import of labels: files, raters, system, the preview, and entries that cannot be imported."""

    ready = Signal(bool)
    taken = Signal(str)
    """A message about what was imported."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._paths: list[Path] = []
        self._taking: list[Path] = []
        self._raters: dict[str, QComboBox] = {}
        self.choose = push_button("Choose files…", self._choose)
        self.chosen = PlainLabel("Nothing chosen yet", "hint", wrap=True)
        self.system = ChoiceBox()
        self.skip = QCheckBox("Skip invalid labels and import the rest")
        self.replace = QCheckBox("Replace existing labels of the same person")
        self.drafts = QCheckBox("As drafts: they count once their rater has submitted them")
        self.preview = with_properties(
            QPlainTextEdit(readOnly=True), accessibleName="To be imported", maximumHeight=130
        )
        self.problems = with_properties(QListWidget(), accessibleName="Invalid labels")
        self.progress = ProgressRow()
        self.form = form_of([("Reports of", self.system, self.system, SYSTEM, "")])
        vertical(
            PlainLabel("Labels from files", "subtitle"),
            PlainLabel(LABELS_ABOUT.format(files=label_matching.known_files()), "hint", wrap=True),
            (self.choose, 0, Qt.AlignmentFlag.AlignLeft),
            self.chosen,
            self.form,
            self.skip,
            self.replace,
            self.drafts,
            self.preview,
            self.problems,
            self.progress,
            StretchSpace(1),
            on=self,
            margins=0,
            spacing=8,
        )
        when_changed(self._look, self.system, self.skip, self.replace, self.drafts)
        self.begin()

    def begin(self) -> None:
        self._paths = []
        self.chosen.setText("Nothing chosen yet")
        self._forget_raters()
        for widget in (
            self.preview, self.problems, self.progress, self.skip, self.replace, self.drafts, self.system
        ):  # fmt: skip
            widget.hide()
        self.form.setRowVisible(0, False)
        self.ready.emit(False)

    def focus_first(self) -> None:
        self.choose.setFocus()

    def look_at(self, paths: Sequence[Path]) -> None:
        self._paths = list(paths)
        names = ", ".join(path.name for path in paths[:4])
        self.chosen.setText(names + (f" and {len(paths) - 4:,} more" if len(paths) > 4 else ""))
        systems = [(name, name) for name in self.session.ask(judge_cases.systems) or ()]
        offer(self.system, [("as the files say", ""), *systems])
        self.form.setRowVisible(0, True)
        self.system.show()
        self._forget_raters()
        self._look()

    def _choose(self) -> None:
        names, _ = QFileDialog.getOpenFileNames(
            self, "Files of labels", "", "Labels (*.csv *.json *.jsonl);;All files (*)"
        )
        if names:
            self.look_at([Path(name) for name in names])

    def options(self) -> LabelImportOptions:
        raters = {
            name: str(combo.currentData()) for name, combo in self._raters.items() if combo.currentData()
        }
        return LabelImportOptions(
            raters, str(self.system.currentData() or ""), skip_bad=self.skip.isChecked(),
            replace=self.replace.isChecked(), drafts=self.drafts.isChecked(),
        )  # fmt: skip

    def _look(self) -> None:
        if not self._paths:
            return
        self.ready.emit(False)
        self.session.ask_newest(
            self._show, or_refusal, label_files.preview, list(self._paths), self.options()
        )

    def _show(self, outcome: LabelImportPreview | Refusal) -> None:
        self.preview.show()
        self.problems.clear()
        for widget in (self.skip, self.replace, self.drafts):
            widget.setVisible(isinstance(outcome, LabelImportPreview))
        if isinstance(outcome, Refusal):
            self.problems.hide()
            self.preview.setPlainText(f"{outcome.happened}\n{outcome.todo}")
            return
        self.preview.setPlainText("\n".join(outcome.words()))
        self.problems.setVisible(bool(outcome.problems))
        # Raters are identified in the rows above, not by an option of the command line.
        self.problems.addItems(
            [str(problem).partition(", as in --as")[0] for problem in outcome.problems[:SHOWN_PROBLEMS]]
        )
        if len(outcome.problems) > SHOWN_PROBLEMS:
            self.problems.addItem(f"… and {len(outcome.problems) - SHOWN_PROBLEMS:,} more")
        self._ask_whose(outcome.strangers)
        anything = outcome.new or outcome.filled or outcome.replaced
        self.ready.emit(bool(anything) and (not outcome.problems or self.skip.isChecked()))

    def _ask_whose(self, names: Sequence[str]) -> None:
        """Add a row for each rater name not yet identified; existing rows stay."""
        everybody = in_order(people.people(self.session.project))
        for name in names:
            if name in self._raters:
                continue
            combo = ChoiceBox(self._look, accessibleName=f"Who {name} is")
            offer(combo, [
                ("choose who that is", ""),
                *((named(person.alias, person.name), person.id) for person in everybody),
                (f"a new person, {name[:40]}", name),
            ])  # fmt: skip
            self._raters[name] = combo
            label = PlainLabel(f"“{name[:40]}” is")
            label.setBuddy(combo)
            self.form.addRow(label, combo)

    def _forget_raters(self) -> None:
        while self.form.rowCount() > 1:
            self.form.removeRow(1)
        self._raters.clear()

    def take(self) -> None:
        self.ready.emit(False)
        self.progress.show()
        self._taking = list(self._paths)
        self.session.do_later(
            self._taken, self.progress.show_progress, label_files.run, list(self._paths), self.options()
        )

    def _taken(self, result: tuple[Change, LabelImportPreview] | None) -> None:
        self.progress.hide()
        if result is None:
            self._look()
            return
        words = "; ".join(result[1].words()[:3])
        if self._paths == self._taking:
            self.begin()
        self.taken.emit(words)


PAUSE_MS = 300
ABOUT = (
    "Responses are drawn at random, stratified by question type, system and length, and assigned to people "
    "blind to judge and system. No judge is shown on them before their labels are locked."
)
WIDTH = "Target width of the 95 % interval of a share, such as an agreement"
SHARE = "The agreement you expect; 0.5 needs the most labels"
LIKENESS = "Correlation of units within an item: 0 none, 1 identical. The higher, the more labels are needed"
TEST = "Items of the test part are for the figures you report: choose and tune judges on the others"


class SetForm(Pane):
    """The form for a new validation set, with a preview of the draw.

    `looked_at` emits whether the set can be drawn as requested.
    """

    looked_at = Signal(bool)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._stale = True
        self.name = LineField(placeholderText="e.g. Spring validation", clearButtonEnabled=True)
        self.what, self.people = (
            ChoiceBox(self._chosen),
            PeopleChoice("People", "Nobody has the role of annotator."),
        )
        self.raters = NumberBox(minimum=2, maximum=20, value=2)
        self.reports = NumberBox(minimum=0, maximum=100_000, specialValueText="as many as the interval needs")
        self.interval = AmountBox(
            minimum=0.01, maximum=0.9, decimals=2, singleStep=0.01, value=0.1, suffix=" wide"
        )
        self.share = AmountBox(minimum=0, maximum=1, decimals=2, singleStep=0.05, value=0.5)
        self.likeness = AmountBox(minimum=0, maximum=1, decimals=2, singleStep=0.05, value=0.1)
        self.test = NumberBox(minimum=0, maximum=100, value=50, suffix=" % of items")
        self.seed = NumberBox(minimum=0, maximum=999_999, value=1)
        self.apart = QCheckBox("Hand out as assignments, to label apart and submit")
        self.preview = PlainLabel("", wrap=True)
        self._later = later(self, self._look, PAUSE_MS)
        self.what.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        numbers: list[FormRow] = [
            (words, beside(box), box, name, tip)
            for words, box, name, tip in (
                ("Interval", self.interval, "Width of the interval", WIDTH),
                ("Expected agreement", self.share, "Expected agreement", SHARE),
                ("Intra-item ICC", self.likeness, "Intra-item correlation (ICC)", LIKENESS),
                ("People per item", self.raters, "People per item", ""),
                ("Test part", self.test, "Share of items in the test part, per cent", TEST),
                ("Seed", self.seed, "Seed of the draw", "The same seed draws the same set"),
            )
        ]
        self.options = Fold("Options", form_of(numbers), self.apart)
        rows: tuple[FormRow, ...] = (
            ("&Name", self.name, self.name, "Name of the set", ""),
            ("&What", self.what, self.what, "Protocol", ""),
            ("", self.people, self.people, "People", ""),
            ("Sam&ple size", beside(self.reports), self.reports, "Number of reports", ""),
        )
        about = PlainLabel(ABOUT, "hint", wrap=True)
        vertical(about, form_of(rows), self.options, on=self, margins=0, spacing=10)
        fields = (self.name, self.reports, self.interval, self.share, self.likeness)
        when_changed(self._look_soon, *fields, self.raters, self.test, self.seed)
        self.people.changed.connect(self._look_soon)

    def _chosen(self) -> None:
        always = submits(str(self.what.currentData() or USUAL))
        self.apart.setChecked(always or self.apart.isChecked())
        self.apart.setEnabled(not always)
        self._look_soon()

    def fill(self) -> None:
        """Offer the current people and protocols; the selection stays."""
        active = [
            person
            for person in people.people(self.session.project)
            if person.active and person.has(Role.ANNOTATOR)
        ]
        usual = [person for person in active if not person.has(Role.COORDINATOR)] or active
        self.people.fill(in_order(active), frozenset(person.id for person in usual))
        offer(self.what, [(title(name), name) for name in self.session.ask(label_cases.offered) or ()])
        self._chosen()

    def request(self) -> SetRequest:
        return SetRequest(
            name=self.name.text().strip(),
            people=self.people.chosen(),
            protocol=str(self.what.currentData() or USUAL),
            width=round(self.interval.value(), 4),
            share=round(self.share.value(), 4),
            likeness=round(self.likeness.value(), 4),
            size=self.reports.value() or None,
            test_share=self.test.value() / 100,
            raters=self.raters.value(),
            seed=self.seed.value(),
            apart=self.apart.isChecked(),
        )

    def focus_first(self) -> None:
        self.name.setFocus()

    def _look_soon(self) -> None:
        self._stale = True
        if self.isVisible():
            self._later.start()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        if self._stale:
            self._later.start()

    def _look(self) -> None:
        self._stale = False
        self.session.ask_newest(self._show, or_refusal, validation_sets.preview, self.request())

    def _show(self, outcome: SetPreview | Refusal) -> None:
        refused = isinstance(outcome, Refusal)
        words = (
            f"{outcome.happened} {outcome.todo}"
            if isinstance(outcome, Refusal)
            else "\n".join(outcome.sentences)
        )
        words = words if self.name.text().strip() else "Name the set to see what would be drawn."
        self.preview.setText(words)
        theme.set_role(self.preview, role="hint" if refused else "")
        self.looked_at.emit(not refused)


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
        room=560,
        number=True,
        about="Number of times the test part was viewed. It is shown on every card.",
    ),
)


WAITING = "No judge is shown on these reports before their labels are locked."
LOCKED = (
    "These first labels stay the metric: no ruling or later label changes them. Figures are on the dev "
    "part; each view of the test part is counted."
)


class SetView(Pane):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
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
        aliases = {person.id: person.alias for person in people.people(self.session.project)}
        return [
            f"{when(opening.at)}, {aliases.get(opening.by, 'somebody')}: "
            f"{', '.join(json.loads(opening.judges)) or 'all judges'}"
            for opening in row.openings
        ]


def _about(row: SetStatus) -> str:
    content = row.set.content
    test = [response for response in content.responses if response.split is Split.TEST]
    tested = len({one.item_id for one in test})
    types = ", ".join(f"{name} {many}" for name, many in row.types.items())
    labels, at = counted(len(row.set.first_labels), "label"), row.set.locked_at
    locked = [f"Locked {when(at)}: {labels}, SHA-256 {row.set.labels_sha256[:12]}…"] if at is not None else []
    return "\n".join([
        f"{row.title}: {counted(len(content.responses), 'response')} of {counted(len(content.dealt), 'item')} "
        f"({types}).",
        f"Test part: {counted(len(test), 'response')} of {counted(tested, 'item')}. {_draw(content.draw)}",
        f"Drawn {when(row.set.at)}, labelled by {', '.join(row.raters)}.",
        *locked,
    ])  # fmt: skip


def _draw(draw: Draw) -> str:
    if draw.width is None:
        return f"Drawn with seed {draw.seed}, {draw.raters} people per item."
    effect = f"{draw.effect:.2f}" if draw.effect is not None else "not known"
    return (
        f"Drawn with seed {draw.seed}, {draw.raters} people per item, for an interval {draw.width:g} wide "
        "about "
        f"{draw.share:g} (design effect {effect})."
    )


LEFT = (Command("new_set", "Draw a set", "plus", "Draw reports at random for people to label blind"),)
REST = (
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
    Command("submit", "Create and assign", role="primary"),
)
NONE_YET = (
    "A validation set defines the reports on which judges are compared with people: drawn at random, "
    "labelled by two or more people who know neither judge nor system, and locked before any judge is shown."
)
FORM, VIEW, FILES = range(3)


class SetsPart(PagePart):
    """The Sets tab: sets on the left; the selected one, a new one, or label files on the right."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session, ActsBar(LEFT, RIGHT, REST))
        self.model = CellsModel[SetStatus](SETS, self)
        self.table = CellsTable(
            "Validation sets", self.model, stretched=0, moved=self._turn, opened=lambda _: self._see()
        )
        self.form, self.view, self.files = SetForm(session), SetView(session), LabelsIn(session)
        self._able = {FORM: False, FILES: False}
        """Whether the form, or the files, can be submitted as they are."""
        self._requested = ""
        self.acts = {
            "new_set": self._begin,
            "labels_in": self._begin_files,
            "labels_out": self._save_labels,
            "lock_set": self._lock,
            "see_figures": self._see,
            "submit": self._submit,
        }
        self.table.clicked.connect(lambda _: self._turn())
        self.form.looked_at.connect(partial(self._looked, FORM))
        self.files.ready.connect(partial(self._looked, FILES))
        self.files.taken.connect(self._taken)
        self.nothing = EmptyState("validate", "No validation set yet", NONE_YET)
        self.list = Stack(self.table, self.nothing)
        fields = column_of(PlainLabel("A new set", "subtitle"), self.form, StretchSpace(1), spacing=8)
        drawing = column_of((_scrolled("A new set", fields), 1), self.form.preview, spacing=8)
        self.form.preview.setContentsMargins(12, 0, 8, 4)
        self.side = Stack(
            drawing, _scrolled("The set", self.view), _scrolled("Labels from files", self.files)
        )
        self.lay_out(
            Splitter("validate/sets", parts=(self.list, self.side), sizes=(640, 450), stretch=(3, 2))
        )

    def fill(self) -> None:
        self.form.fill()
        self.session.ask_later(self._show, validation_sets.standings)

    def _show(self, statuses: list[SetStatus]) -> None:
        set_name = self._requested or (self.chosen.set.name if self.chosen else "")
        self._requested = ""
        self.model.show(statuses)
        self.list.setCurrentIndex(0 if statuses else 1)
        place = self.model.place_of(lambda row: row.set.name == set_name)
        if set_name and place >= 0:
            self.table.selectRow(place)
        elif statuses and self.side.currentIndex() == VIEW:
            self.table.selectRow(0)
        elif not statuses and self.side.currentIndex() == VIEW:
            self.side.setCurrentIndex(FORM)
        self._turn(stay=True)

    @property
    def chosen(self) -> SetStatus | None:
        return self.model.at(self.table.currentIndex().row())

    def go(self, place: Mapping[str, Any]) -> None:
        self._requested = str(place.get("set", ""))
        if self._requested:
            self.side.setCurrentIndex(VIEW)
            self.fill()

    def focus_first(self) -> None:
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
        row, writable, side = self.chosen, not self.session.project.readonly, self.side.currentIndex()
        viewed = row is not None and side == VIEW
        lockable = viewed and row is not None and not row.locked and not row.lacking
        self.bar.enable_all(
            {
                "new_set": writable,
                "labels_in": writable,
                "lock_set": writable and lockable,
                "see_figures": viewed and row is not None and row.locked,
            }
        )
        # Commands of the other sides would only take space.
        for act, there in (("see_figures", viewed), ("lock_set", viewed), ("submit", side != VIEW)):
            self.bar.offer(act, there=there)
        self.bar.set_words("submit", "Import them" if side == FILES else "Create and assign")
        self.bar.enable("submit", writable and self._able.get(side, False))
        self.bar.refit()

    def _looked(self, side: int, able: bool) -> None:
        self._able[side] = able
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
        self.session.tell_end("The labels were imported.", "Validate", self, part="Sets")
        self.fill()

    def _submit(self) -> None:
        if not self.bar.buttons["submit"].isEnabled():
            return
        if self.side.currentIndex() == FILES:
            self.files.take()
            return
        request = self.form.request()
        if (change := self.session.do(validation_sets.make, request)) is not None:
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
        if self.session.do(validation_sets.lock, row.set.name) is not None:
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
            self.session.go("Validate", part="Figures", view="judges", choose=choose)

    def _save_labels(self) -> None:
        forms = {words: name for name, words in label_matching.offered().items()}
        name, kind = QFileDialog.getSaveFileName(self, "Save labels", "labels.csv", ";;".join(forms))
        form = forms.get(kind, "")
        if name and (result := self.session.ask(label_matching.export, Path(name), form)) is not None:
            self.answer.show_message(
                "success",
                f"Wrote {counted(result.labels, 'label')} of {', '.join(result.raters)}.",
                "\n".join(result.notes),
            )


def _scrolled(name: str, widget: QWidget) -> PlainArea:
    widget.setContentsMargins(12, 0, 8, 0)
    return PlainArea(name, widget)
