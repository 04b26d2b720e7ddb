"""Submission of a document: missing content is listed, warnings can be overridden with a reason."""

from PySide6.QtCore import QObject, Signal

from annotator.actions.assignments import submitting
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.finding import Finding, hinders
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.authoring.checking import Checking
from annotator.gui.pages.authoring.form import UnitsForm
from annotator.gui.pages.authoring.saving import Saving
from annotator.gui.pages.authoring.submit_panel import SubmitPanel


class Submission(QObject):
    """The way from a draft to a sealed revision."""

    sealed = Signal(object)
    """The Artifact that was submitted just now."""

    def __init__(
        self,
        desk: Desk,
        form: UnitsForm,
        saving: Saving,
        checking: Checking,
        panel: SubmitPanel,
        parent: QObject,
    ) -> None:
        super().__init__(parent)
        self._desk, self._form, self._saving = desk, form, saving
        self._checking, self._panel = checking, panel
        panel.jumped.connect(self._jump)
        panel.overridden.connect(self.seal)
        checking.found.connect(self._follow)

    def submit(self) -> None:
        """Seal the document, or list what stands in the way."""
        if not self._saving.editable or not self._saving.keep():
            return
        self._form.complain()
        if findings := self._checking.check():
            self._list(findings)
            self._panel.enter()
        else:
            self.seal()

    def show_remarks(self) -> None:
        self._form.complain()
        self._list(self._checking.check())
        self._panel.enter()

    def seal(self, reason: str = "") -> None:
        """Submit; `reason` says why warnings were overridden. Errors are listed instead."""
        artifact = self._saving.artifact
        if artifact is None or not self._saving.keep():
            return
        findings = self._checking.check()
        if hinders(findings, reason):
            self._list(findings)
            self._panel.enter()
        elif self._desk.do(submitting.seal, artifact.id, reason) is not None:
            self._panel.hide()
            self.sealed.emit(self._saving.artifact)

    def _follow(self, findings: list[Finding]) -> None:
        if self._panel.isVisible():
            self._list(findings)

    def _list(self, findings: list[Finding]) -> None:
        artifact = self._saving.artifact
        if artifact is not None:
            self._panel.show_findings(findings, artifact.document.units, KINDS[artifact.kind])

    def _jump(self, unit_id: str, field: str) -> None:
        current = self._form.current
        if goal := unit_id or (current.unit_id if current else ""):
            self._form.go(goal, field if unit_id else "text")
