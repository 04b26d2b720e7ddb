"""Quotations and passages on the Author page: quote, show, step through."""

from collections.abc import Callable

from annotator.domain.kinds.unit import Anchor
from annotator.gui import keys
from annotator.gui.pages.authoring.sheet import AuthoringSheet
from annotator.gui.pages.authoring.side_panel import SidePanel
from annotator.gui.review.source_pane import SourcePane


class AuthoringHand:
    """Connects what is read with what is written."""

    def __init__(self, source: SourcePane, sheet: AuthoringSheet, side: SidePanel) -> None:
        self._source, self._sheet, self._side = source, sheet, side
        sheet.form.entered.connect(lambda _: self.show_quoted())
        source.stepped.connect(sheet.form.reveal)

    def reading(self, act: Callable[..., None]) -> Callable[[], None]:
        """The act, done with the source in view."""

        def do() -> None:
            self._read()
            act()

        return do

    def _read(self) -> None:
        """Where there is no room for both, what stands at the right is closed."""
        if self._source.isHidden():
            self._side.close_button.click()
            self._source.show()

    def quote(self) -> None:
        """Lean the unit at the cursor on the words selected or found in the source."""
        self._read()
        anchor = self._source.quote()
        if anchor is None:
            self._sheet.say("info", f"Select words in the source first, then press {keys.shown('evidence')}.")
        elif not self._sheet.acts.quote(anchor):
            self._sheet.say("info", "No unit here can take a quotation.")
        else:
            self._source.forget_selection()
            self._source.show_anchor(anchor)
            self._sheet.enter_current()

    def show_quoted(self) -> None:
        """Mark all that the document in hand quotes; what the unit at the cursor quotes stands out."""
        artifact, current = self._sheet.artifact, self._sheet.form.current
        units = artifact.document.units if artifact else ()
        quoted = [(unit.id, anchor) for unit in units for anchor in unit.anchors]
        self._source.show_quoted(quoted, current.unit_id if current else "")

    def show_quote(self, anchor: Anchor) -> None:
        """Bring a quotation into view, or say that its words are there no more."""
        self._read()
        if not self._source.show_anchor(anchor):
            self._sheet.say("info", "These words are no longer in the source; the quotation is kept.")
