"""State of a document: its author, whether it can be changed, and other views of it."""

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QFrame, QLabel, QPushButton

from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.documents import KINDS
from annotator.gui import keys, theme
from annotator.gui.pages.authoring.work_status import standing_of
from annotator.gui.review.moments import moment
from annotator.gui.widgets import icons
from annotator.gui.widgets.bars.key_button import KeyButton
from annotator.gui.widgets.basics import horizontal
from annotator.gui.widgets.elided_label import ElidedLabel
from annotator.gui.widgets.fields.choices import ChoiceBox

REOPEN, EDIT = "Reopen", "Edit consensus"
BY_MODEL = "Ask a model for a draft to take units from; visible to you only"
IN_BULK = "Take references from a list, a file or the item's sources"


class StateStrip(QFrame):
    """The line above the units."""

    version_wanted = Signal(str)
    """Another artifact of the same kind was chosen, by its id."""
    reopen_wanted = Signal()
    copy_wanted = Signal()
    history_wanted = Signal()
    guideline_wanted = Signal()
    draft_wanted = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.icon, self.words, self.versions = QLabel(), ElidedLabel(), ChoiceBox()
        self.versions.setAccessibleName("Document to show")
        self.versions.activated.connect(lambda _: self.version_wanted.emit(self.versions.currentData()))
        self.reopen = KeyButton(REOPEN, keys.shown("reopen_document"), "quiet")
        self.reopen.set_hint("Continue in a new revision; the submitted one counts until you submit again")
        self.copy = self._button(
            "Copy to my own", "Start your own with the same text; this one stays unchanged"
        )
        self.history = self._button("History", "Show every revision")
        self.guideline = KeyButton("Guideline", keys.shown("guideline"), "quiet")
        self.draft = KeyButton("Model", keys.shown("model_draft"), "quiet")
        self.draft.setCheckable(True)
        self.history.setCheckable(True)
        self.guideline.setCheckable(True)
        for button, told in (
            (self.reopen, self.reopen_wanted),
            (self.copy, self.copy_wanted),
            (self.history, self.history_wanted),
            (self.guideline, self.guideline_wanted),
            (self.draft, self.draft_wanted),
        ):
            button.clicked.connect(told)
        self._picture, self._more = ("", ""), ("", "")
        self._mine = self._editable = False
        row = horizontal(self.icon, (self.words, 1), on=self, margins=(12, 4, 8, 4), spacing=6)
        for part in (self.versions, self.reopen, self.copy, self.draft, self.history, self.guideline):
            row.addWidget(part)
        theme.watch(self, self._dress)

    def _button(self, words: str, hint: str) -> QPushButton:
        button = QPushButton(words)
        button.setToolTip(hint)
        button.setProperty("role", "quiet")
        return button

    def show_nothing(self, words: str) -> None:
        """There is no document of the kind yet."""
        self._picture = ("", "")
        self.words.setText(words)
        for part in (self.versions, self.reopen, self.copy, self.history, self.draft):
            part.hide()
        self._dress()

    def show_artifact(
        self,
        artifact: Artifact,
        versions: Sequence[Artifact],
        me: str,
        *,
        editable: bool,
        readonly: bool,
        drafted: bool,
        reopens: bool,
        consequence: str = "",
    ) -> None:
        """Show the state of an artifact; `versions` are all of its kind that may be seen, `readonly` the file is.

        One that is `drafted` may be asked of a model; one that `reopens` is closed and may be opened again;
        `consequence` says what submitting it changes in scores.
        """
        standing, mine = standing_of(artifact), artifact.author_id == me
        self._picture, self._mine, self._editable = (standing.icon, standing.colour), mine, editable
        self._more = consequence, "this file is read-only" if readonly else ""
        self.show_revision(artifact)
        self.reopen.setVisible(reopens)
        self.reopen.set_words(EDIT if artifact.state is State.CONSENSUS else REOPEN)
        has_own = any(version.author_id == me for version in versions)
        self.copy.setVisible(not has_own and not readonly)
        self.draft.setVisible(drafted and mine and editable)
        in_bulk = artifact.kind is Kind.EVIDENCE
        self.draft.set_words("References" if in_bulk else "Model")
        self.draft.set_hint(IN_BULK if in_bulk else BY_MODEL)
        self.history.show()
        self.versions.setVisible(len(versions) > 1)
        self.versions.clear()
        for version in versions:
            self.versions.addItem(_version_words(version, me), version.id)
        self.versions.setCurrentIndex(self.versions.findData(artifact.id))
        self._dress()

    def show_revision(self, artifact: Artifact) -> None:
        """Say which revision the artifact shown has now."""
        words = _state_words(artifact, mine=self._mine, editable=self._editable)
        self.words.setText(" · ".join(filter(None, (words, *self._more))))

    def show_side(self, *, guideline: bool, history: bool, draft: bool) -> None:
        """Press the button of what stands in the side panel."""
        self.guideline.setChecked(guideline)
        self.history.setChecked(history)
        self.draft.setChecked(draft)

    def rebind(self) -> None:
        self.reopen.set_key(keys.shown("reopen_document"))
        self.guideline.set_key(keys.shown("guideline"))
        self.draft.set_key(keys.shown("model_draft"))

    def _dress(self) -> None:
        picture, colour = self._picture
        size = theme.current().px(16)
        self.icon.setVisible(bool(picture))
        if picture:
            self.icon.setPixmap(icons.pixmap(picture, size, colour, self.devicePixelRatio()))


def _state_words(artifact: Artifact, *, mine: bool, editable: bool) -> str:
    name = KINDS[artifact.kind].title.lower()
    if artifact.state is State.SEALED:
        when = f" on {moment(artifact.sealed_at)}" if artifact.sealed_at else ""
        return f"Sealed as revision {artifact.revision}{when}"
    if artifact.state is State.CONSENSUS:
        how = "being edited" if editable else "read only"
        return f"Consensus, {how}"
    if mine:
        return f"Your {name}, draft · revision {artifact.revision}"
    return f"Imported{'' if editable else ', read only'} · revision {artifact.revision}"


def _version_words(artifact: Artifact, me: str) -> str:
    if artifact.author_id == me:
        return "Mine"
    return "Consensus" if artifact.state is State.CONSENSUS else "Imported"
