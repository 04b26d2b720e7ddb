"""The Release page: content preview, layout and folder."""

from pathlib import Path
from typing import Any

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import (
    QButtonGroup,
    QCheckBox,
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QRadioButton,
    QVBoxLayout,
)

from annotator.actions.items import roles, summaries
from annotator.actions.items.roles import LeftOut
from annotator.actions.releases import releases
from annotator.domain.texts.counting import counted
from annotator.domain.texts.moments import local
from annotator.gui.desk.desk import ANY, Desk
from annotator.gui.desk.page import Page
from annotator.gui.widgets.bars.progress_row import ProgressRow
from annotator.gui.widgets.basics import (
    PlainLabel,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
)
from annotator.gui.widgets.plain_area import PlainArea

# People: coordinators who publish, and readers who must be able to trust a file. What annoys them elsewhere:
# exports without raters, rationale or revision, and two exports of the same thing that differ.
ABOUT_PAGES = (
    "They belong to others and should not be passed on without permission. If excluded, each page is still "
    "listed with its address, title, state, date and checksum."
)
ABOUT_ADDRESSES = "They may reveal internal hosts. Keys are never exported."


class ReleasePage(Page):
    """A choice of layouts, a summary, and one button."""

    NAME = "Release"
    ICON = "release"
    HEARS = (ANY,)

    def __init__(self, desk: Desk) -> None:
        super().__init__(desk)
        self._folder: Path | None = None
        title = PlainLabel("Release", "title")
        hint = PlainLabel(
            "Sealed and consensus artifacts are released; drafts are not. People appear under their alias "
            "only. The same content always gives the same bytes.",
            "hint",
            wrap=True,
        )
        self.summary = PlainLabel(wrap=True)
        card = QFrame()
        card.setProperty("role", "card")
        self.points = PlainLabel(role="hint", wrap=True)
        vertical(self.summary, self.points, on=card)
        self.progress = ProgressRow()
        self.progress.hide()
        self.past_title, self.past = QLabel("Releases"), QLabel()
        self.past_title.setProperty("role", "subtitle")
        self.past.setTextFormat(Qt.TextFormat.PlainText)
        self.past.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        inside = column_of(
            hint, card, self._profiles(), self.past_title, self.past, StretchSpace(1), spacing=12
        )
        vertical(
            title,
            (PlainArea("Content of the release", inside), 1),
            self.progress,
            self._foot(),
            on=self,
            margins=(20, 16, 20, 12),
            spacing=12,
        )

    def _profiles(self) -> QFrame:
        frame = QFrame()
        frame.setProperty("role", "card")
        self.group = QButtonGroup(self)
        column = vertical(on=frame, spacing=4)
        for name, (words, about) in releases.offered().items():
            button = QRadioButton(words)
            button.setProperty("profile", name)
            button.setChecked(name == releases.GOLDSMITH)
            self.group.addButton(button)
            said = PlainLabel(about, "hint", wrap=True)
            said.setContentsMargins(26, 0, 0, 8)
            column.addWidget(button)
            column.addWidget(said)
            if name == releases.GOLDSMITH:
                column.addLayout(self._wishes())
                button.toggled.connect(self.with_pages.setEnabled)
                button.toggled.connect(self.with_addresses.setEnabled)
        return frame

    def _wishes(self) -> QVBoxLayout:
        """What leaves only when it is asked for."""
        self.with_pages = QCheckBox("Include the texts of cited pages")
        self.with_addresses = QCheckBox("Include the addresses of the judges' endpoints")
        column = vertical(margins=(26, 0, 0, 0), spacing=4)
        for box, about in ((self.with_pages, ABOUT_PAGES), (self.with_addresses, ABOUT_ADDRESSES)):
            said = PlainLabel(about, "hint", wrap=True)
            said.setContentsMargins(26, 0, 0, 8)
            column.addWidget(box)
            column.addWidget(said)
        return column

    def _foot(self) -> QHBoxLayout:
        self.answer = PlainLabel(wrap=True)
        self.look = push_button("Open the folder", self._open_folder)
        self.look.hide()
        self.write = push_button("Write the release…", self._choose, "primary")
        return horizontal((self.answer, 1), self.look, self.write)

    def arrive(self, place: dict[str, Any]) -> None:
        self._count()

    def focus_first(self) -> None:
        self.group.buttons()[0].setFocus()

    def _count(self) -> None:
        found = self.desk.ask(summaries.counts)
        if found is None:
            return
        spread = ", ".join(
            f"{count} of weight {weight}" for weight, count in found["criterion_weights"].items()
        )
        self.summary.setText(
            f"{counted(found['items'], 'item')}{roles.words(found['roles'])} · "
            f"{counted(found['criteria'], 'criterion', 'criteria')}{f' ({spread})' if spread else ''}\n"
            f"{counted(found['responses'] - found['left_out'], 'report')} of {counted(found['systems'], 'system')} · "
            f"{counted(found['labels'], 'label')} of people · "
            f"{counted(found['judgements'] - found['labels'], 'judgement')} of judges\n"
            f"{LeftOut(reports=found['left_out']).not_counted}".rstrip()
        )
        self.desk.ask_later(self._tell_open, releases.open_points)
        past = self.desk.ask(releases.written) or []
        for label in (self.past_title, self.past):
            label.setVisible(bool(past))
        self.past.setText("\n".join(_told(release) for release in past[:8]))
        self.write.setEnabled(found["items"] > 0 and not self.desk.project.readonly)
        self.write.setToolTip("" if found["items"] else "There are no items yet.")

    def _tell_open(self, points: list[str]) -> None:
        """Before anything is written, what its readers would miss."""
        self.points.setText("\n".join(f"Open: {point}" for point in points))
        self.points.setVisible(bool(points))

    def _choose(self) -> None:
        name = QFileDialog.getExistingDirectory(
            self, "Folder for the release", str(self.desk.project.path.parent)
        )
        if name:
            self.write_to(Path(name) / f"{self.desk.project.path.stem}-{self._profile()}")

    def write_to(self, folder: Path) -> None:
        """Write the chosen layout into a folder, on another thread."""
        self._folder = folder
        self.write.setEnabled(False)
        self.progress.show()
        self.desk.do_later(
            self._written,
            self.progress.show_progress,
            releases.export,
            folder,
            self._profile(),
            page_texts=self.with_pages.isEnabled() and self.with_pages.isChecked(),
            addresses=self.with_addresses.isEnabled() and self.with_addresses.isChecked(),
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
        self.desk.tell_end("The release was written.", "Release", self)

    def _open_folder(self) -> None:
        if self._folder is not None:
            QDesktopServices.openUrl(QUrl.fromLocalFile(str(self._folder)))


def _told(release: releases.NumberedRelease) -> str:
    when = f"{local(release.at):%Y-%m-%d %H:%M}"
    return f"Release {release.number}   {when}   {release.profile}   content {release.manifest_sha256[:12]}"
