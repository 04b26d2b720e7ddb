"""The Release page: content preview, layout and folder; past releases; and the final pass."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QRadioButton,
    QWidget,
)

from annotator import files
from annotator.actions.agreement import final_pass
from annotator.actions.agreement.final_pass import ItemPass
from annotator.actions.items import items
from annotator.actions.items.items import LeftOut
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.domain.common import counted
from annotator.domain.experts.publication import CHECKS, CheckState, SplitAccess
from annotator.gui.pages.home import NextCard, replaced
from annotator.gui.parts import holds
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.page import Page
from annotator.gui.session.session import ANY, Pane, ProjectSession, day
from annotator.gui.widgets.bars import Fold, Tabs, wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    choose_folder,
    column_of,
    horizontal,
    push_button,
    show_folder,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import RowsTree
from annotator.gui.widgets.fields import ChoiceBox, LineField, choose, label_of, offer
from annotator.gui.widgets.message_bar import MessageBar, ProgressRow

if TYPE_CHECKING:
    from annotator.actions.home import NextStep
    from annotator.actions.releases.releases import NumberedRelease

# People: coordinators who publish, and readers who must be able to trust a file. What annoys them elsewhere:
# exports without raters, rationale or revision, and two exports of the same thing that differ.
# Optional contents: an argument of `releases.export` each, its label, and an explanation.
WISHES = {
    "page_texts": (
        "Include the texts of cited pages",
        "They belong to others and should not be passed on without permission. If excluded, each page is still "
        "listed with its address, title, state, date and checksum.",
    ),
    "addresses": (
        "Include the addresses of the judges' endpoints",
        "They may reveal internal hosts. Keys are never exported.",
    ),
    "parquet": (
        "Also write Parquet files",
        "The same rows as the JSON Lines, for large tables. Needs pyarrow.",
    ),
    "eval_records": (
        "Also write the scores as Every Eval Ever records",
        "A file for each system, as the evaluations of several benchmarks are collected. Needs no package.",
    ),
}
TEST_ITEMS = {
    SplitAccess.AS_IS: "As they are",
    SplitAccess.ENCRYPTED: "Encrypted",
    SplitAccess.LEFT_OUT: "Left out",
}
ABOUT_TEST_ITEMS = (
    "Encrypted keeps their texts out of crawls and training sets; anyone can read them with the key and the "
    "decoder in the folder. Left out keeps them to yourself; the scores still count them."
)
ABOUT_RELEASE = (
    "Submitted documents and the consensus are released; drafts are not. People appear under their alias only. The "
    "same content always gives the same bytes."
)
# The maximum number of releases listed, and of changes shown.
SHOWN, CHANGES = 8, 40


class ReleasePage(Page):
    NAME = "Release"
    HEARS = (ANY,)

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._folder: Path | None = None
        self.summary = PlainLabel(wrap=True)
        self._steps: Sequence[NextStep] | None = None
        self._marked = False
        self.points = QWidget()
        self.progress = ProgressRow()
        self.past = PastReleases(session)
        self.test_items = ChoiceBox(accessibleName="Test items")
        offer(self.test_items, [(words, access.value) for access, words in TEST_ITEMS.items()])
        self.group = QButtonGroup(self)
        self.wishes = {name: QCheckBox(words) for name, (words, _) in WISHES.items()}
        self._formats = {name: self._format(name, *words) for name, words in releases.offered().items()}
        self._used = column_of(spacing=4)
        self.about_tested = PlainLabel("", "hint", wrap=True)
        self._more = Fold(
            "More",
            *(_explained(box, WISHES[name][1]) for name, box in self.wishes.items()),
            hint="What may leave too, and the formats of other benchmarks",
        )
        frame = with_properties(QFrame(), role="card")
        vertical(
            self._used,
            column_of(
                wrapping(label_of(self.test_items, "Test items"), self.test_items),
                self.about_tested,
                spacing=4,
            ),
            self._more,
            on=frame,
            spacing=8,
        )
        self.inside = column_of(
            PlainLabel("Before a release", "subtitle"), self.points, PlainLabel("Content", "subtitle"), self.summary,
            PlainLabel(ABOUT_RELEASE, "hint", wrap=True), frame, self.past, StretchSpace(1), spacing=12,
        )  # fmt: skip
        self.answer = PlainLabel(wrap=True)
        self.look = push_button("Open the folder", lambda: show_folder(self._folder), visible=False)
        self.write = push_button("Write the release…", self._choose, "primary")
        vertical(
            PlainLabel("Release", "title"),
            (PlainArea("Content of the release", self.inside), 1),
            self.progress,
            horizontal((self.answer, 1), self.look, self.write),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=12,
        )
        self.focus_on = self.group.buttons()[0]

    def _format(self, name: str, words: str, about: str) -> QWidget:
        button = with_properties(QRadioButton(words), profile=name)
        if name == releases.GOLDSMITH:
            button.setChecked(True)
            for choice in (*self.wishes.values(), self.test_items):
                button.toggled.connect(choice.setEnabled)
        self.group.addButton(button)
        return _explained(button, about)

    def navigate(self, place: dict[str, Any]) -> None:
        self._offer()
        self._count()
        test_ids, marked = self.session.ask(releases.tested) or (set(), False)
        many = counted(len(test_ids), "item")
        whose = f"{many} marked as test" if marked else f"All {many}: none is marked by a column “split”"
        self.about_tested.setText(f"{whose}. {ABOUT_TEST_ITEMS}")
        if marked and not self._marked:
            choose(self.test_items, SplitAccess.ENCRYPTED.value)
        self._marked = marked

    def _offer(self) -> None:
        """Offer the formats of what the project uses; the others are behind a button."""
        used = self.session.ask(releases.in_use) or ()
        for name, part in self._formats.items():
            if (layout := (self._used if name in used else self._more.body).layout()) is not None:
                layout.addWidget(part)

    def _count(self) -> None:
        result = self.session.ask(items.content_counts)
        if result is None:
            return
        spread = ", ".join(
            f"{count} of weight {weight}" for weight, count in result["criterion_weights"].items()
        )
        criteria = f"{counted(result['criteria'], 'criterion', 'criteria')} ({spread})"
        documents = counted(sum(result["artifacts"].values()), "document")
        self.summary.setText(
            f"{counted(result['items'], 'item')}{items.words(result['roles'])} · "
            f"{criteria if spread else documents}\n"
            f"{counted(result['responses'] - result['left_out'], 'report')} of "
            f"{counted(result['systems'], 'system')} · "
            f"{counted(result['labels'], 'label')} of people · "
            f"{counted(result['judgements'] - result['labels'], 'judgement')} of judges\n"
            f"{LeftOut(reports=result['left_out']).not_counted}".rstrip()
        )
        self.session.ask_newest(self._show_points, _readiness)
        self.past.show_releases(self.session.ask(releases.written) or [])
        self.write.setEnabled(result["items"] > 0 and not self.session.project.readonly)
        self.write.setToolTip("" if result["items"] else "There are no items yet.")

    def _show_points(self, steps: "Sequence[NextStep]") -> None:
        """Show what readers would miss, and where to fix it, before anything is written."""
        if steps == self._steps:
            return
        held, self._steps = holds(self.points), steps
        card = NextCard(self.session, steps, "Nothing is missing.", leads=False)
        self.points = replaced(self.inside, self.points, card)
        if held:
            self.focus_first()

    def _choose(self) -> None:
        here = self.session.project.path
        choose_folder(
            self,
            "Folder for the release",
            lambda folder: self.write_to(folder / f"{here.stem}-{self._profile()}"),
            str(here.parent),
        )

    def write_to(self, folder: Path) -> None:
        """Write the selected layout into a folder, on another thread."""
        self._folder = folder
        self.write.setEnabled(False)
        self.progress.show()
        self.session.do_later(
            self._written,
            self.progress.show_progress,
            releases.export,
            folder,
            self._profile(),
            **{name: box.isEnabled() and box.isChecked() for name, box in self.wishes.items()},
            test_items=SplitAccess(self.test_items.currentData()) if self.test_items.isEnabled() else None,
        )

    def _profile(self) -> str:
        chosen = self.group.checkedButton()
        return str(chosen.property("profile")) if chosen else releases.GOLDSMITH

    def _written(self, report: Any) -> None:
        self.progress.hide()
        self.write.setEnabled(True)
        if report is None or self._folder is None:
            return
        self._count()
        self.answer.setText(
            f"Wrote {counted(len(report.files), 'file')} with {counted(report.records, 'record')} to {self._folder}"
        )
        self.look.show()
        self.session.tell_end("The release was written.", "Release", self)


class PastReleases(Pane):
    """The releases written so far, the newest first; each can be compared with the project, or withdrawn."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._number, self._compared = 0, 0
        self._releases: Sequence[NumberedRelease] | None = None
        self.rows = QWidget()
        self.reason = LineField(
            placeholderText="Why, in a sentence: it stands in the card of later releases",
            returnPressed=self._withdraw,
        )
        self.withdraw = push_button("Withdraw it", self._withdraw, "primary")
        self._question = PlainLabel("", wrap=True)
        cancel = push_button("Cancel", self._hide_question)
        self.question = column_of(
            self._question, horizontal((self.reason, 1), self.withdraw, cancel), spacing=6
        )
        self.changes = PlainLabel(
            "", wrap=True, textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse
        )
        self._body = column_of(
            PlainLabel("Releases", "subtitle"), self.rows, self.question, self.changes, spacing=8
        )
        vertical(self._body, on=self, margins=0)
        for part in (self, self.question, self.changes):
            part.hide()

    def show_releases(self, written: "Sequence[NumberedRelease]") -> None:
        if written != self._releases:
            self._releases = written
            rows = column_of(*(self._row(release) for release in written[:SHOWN]), spacing=4)
            self.rows = replaced(self._body, self.rows, rows)
            self.setVisible(bool(written))

    def _row(self, release: "NumberedRelease") -> QHBoxLayout:
        words = PlainLabel(
            release.words, wrap=True, textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse
        )
        compare = push_button(
            "Compare…",
            partial(self._compare, release.number),
            "quiet",
            accessibleName=f"Compare release {release.number}",
            toolTip="What is different in the project now; asks for the folder of the release.",
        )
        withdraw = push_button(
            "Withdraw…",
            partial(self._ask, release.number),
            "quiet",
            accessibleName=f"Withdraw release {release.number}",
            enabled=not release.withdrawn and not self.session.project.readonly,
        )
        return horizontal((words, 1), compare, withdraw, spacing=6)

    def _ask(self, number: int) -> None:
        self._number = number
        self._question.setText(
            f"Withdraw release {number}? Later releases say so and why, and its number is not used again. Files that "
            "were passed on stay where they are."
        )
        self.question.show()
        self.reason.setFocus()

    def _hide_question(self) -> None:
        self.reason.clear()
        self.question.hide()

    def _withdraw(self) -> None:
        if self.session.do(releases.withdraw, self._number, self.reason.text()) is not None:
            self._hide_question()

    def _compare(self, number: int) -> None:
        if name := QFileDialog.getExistingDirectory(
            self, f"Folder of release {number}", str(self.session.project.path.parent)
        ):
            self._compared = number
            self.changes.show_words("Comparing…")
            self.session.ask_newest(self._show_changes, releases.changes_since, Path(name))

    def _show_changes(self, result: tuple[int, dict[str, list[str]]] | None) -> None:
        if result is None:
            self.changes.show_words("")
            return
        number, changes = result
        if number != self._compared:
            self.changes.show_words(f"That folder holds release {number}, not {self._compared}.")
            return
        lines = [
            f"{kind.capitalize()}: {words}" for kind, sentences in changes.items() for words in sentences
        ]
        more = len(lines) - CHANGES
        rest = [f"And {more:,} more."] * (more > 0)
        head = f"Different in the project since release {number}:"
        same = f"Items, gold, judgements and scores are those of release {number}."
        self.changes.show_words("\n".join([head, *lines[:CHANGES], *rest] if lines else [same]))


def _explained(button: QAbstractButton, about: str) -> QWidget:
    words = PlainLabel(about, "hint", wrap=True)
    words.setContentsMargins(26, 0, 0, 8)
    return column_of(button, words, spacing=4)


def _readiness(project: Project) -> "tuple[NextStep, ...]":
    """Run on the other thread, where the modules that count work are loaded."""
    from annotator.actions import home

    return home.readiness(project)


# People: whoever answers for a release, going through its items once more with a list in hand.
ABOUT = "What is checked in each item before a release. Signed checks are part of the release."
PILOT = "Agreement, time, remarks and guidelines of the pilot items that were handed out."
NO_PILOT = "No pilot items were handed out yet. Choose some under People → Assign."
OPEN = "open"
# At least this many letters of a check are shown if space is short.
LETTERS = 12


class FinalPassPage(Page):
    """The Final pass page: items with their checks; below them the signatures of the selected one."""

    NAME = "Final pass"
    HEARS = ("setting", "item", "artifact", "page", "import", "assignment")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._items: list[ItemPass] = []
        self.list = RowsTree(
            "Items and what was looked for",
            ("Item", *map(str.capitalize, CHECKS)),
            (60, *[110] * 5),
            0,
            moved=self._show,
        )
        self.check = ChoiceBox(self._show, accessibleName="Check", minimumContentsLength=LETTERS)
        self.state = ChoiceBox(accessibleName="What was found")
        self.note = LineField(placeholderText="Note", accessibleName="Note")
        offer(self.check, [(words, name) for name, words in CHECKS.items()])
        offer(
            self.state,
            [(state.value.capitalize(), state.value) for state in CheckState] + [("Open again", OPEN)],
        )
        self.signature, self.hint = PlainLabel("", wrap=True), PlainLabel("", "hint", wrap=True)
        self.sign = push_button("Sign", self._sign, "primary")
        self.pilot, self.save = TextPane(session), push_button("Save the summary…", self._save)
        self.pilot.report.setAccessibleName("Summary of the pilot")
        self.answer = MessageBar()
        checks = column_of(
            PlainLabel(ABOUT, "hint", wrap=True),
            (self.list, 1),
            self.hint,
            self.signature,
            wrapping(self.check, self.state, self.note, self.sign),
            margins=(0, 10, 0, 0),
            spacing=8,
        )
        pilot = column_of(
            PlainLabel(PILOT, "hint", wrap=True),
            (self.pilot, 1),
            horizontal(StretchSpace(1), self.save),
            margins=(0, 10, 0, 0),
            spacing=8,
        )
        self.checks = Stack(
            checks, EmptyState("items", "No items yet", "Each item is checked here before a release.")
        )
        self.parts = Tabs()
        self.parts.addTab(self.checks, "Final pass")
        self.parts.addTab(pilot, "Pilot")
        vertical(
            PlainLabel("Pilot and final pass", "title"),
            (self.parts, 1),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=6,
        )
        self.answer.float_over(self.parts)
        self.focus_on = self.list

    def navigate(self, place: dict[str, Any]) -> None:
        """Show every item; `part` selects one of the two parts."""
        if place.get("part") == "Pilot":
            self.parts.setCurrentIndex(1)
        self._fill()

    def _fill(self) -> None:
        row, self._items = max(0, self.list.row()), self.session.ask(final_pass.overview) or []
        lines = [(item.key, *(_state(item, name) for name in CHECKS)) for item in self._items]
        self.list.show_lines(lines, min(row, len(lines) - 1))
        self.checks.setCurrentIndex(0 if lines else 1)
        self._show()
        handed_out = final_pass.is_handed_out(self.session.project)
        summary = (self.session.ask(final_pass.summary) or "") if handed_out else NO_PILOT
        # Keep the scroll position of an unchanged text.
        if summary != self.pilot.text:
            self.pilot.show_report(summary, "summary")
        self.save.setEnabled(handed_out)

    def _show(self) -> None:
        one, name = self.list.line_of(self._items), str(self.check.currentData())
        signed = one.checks.get(name) if one else None
        state = (
            f"{signed.state.value}, signed by {signed.signed} on {day(datetime.fromisoformat(signed.at))}"
            if signed
            else "not signed"
        )
        self.signature.setText(
            f"{CHECKS[name]}: {state}{f' — {signed.note}' if signed and signed.note else ''}."
        )
        self.hint.setText(f"Noticed: {one.hints[name]}" if one and name in one.hints else "")
        self.sign.setEnabled(one is not None and not self.session.project.readonly)

    def _sign(self) -> None:
        if (one := self.list.line_of(self._items)) is not None:
            values = str(self.check.currentData()), str(self.state.currentData()), self.note.text()
            if self.session.do(final_pass.sign, one.item_id, *values) is not None:
                self.note.clear()
                self._fill()

    def _save(self) -> None:
        name, _ = QFileDialog.getSaveFileName(self, "Summary of the pilot", "pilot.md", "Markdown (*.md)")
        content = self.pilot.text.encode()
        if name and self.session.attempt(lambda: files.save(Path(name), content)) is not None:
            self.answer.show_message("success", f"Saved as {Path(name).name}.")


def _state(one: ItemPass, name: str) -> str:
    if name in one.checks:
        return one.checks[name].state.value
    return "open, noticed" if name in one.hints else OPEN
