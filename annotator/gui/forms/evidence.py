"""Form for gold evidence: works with their identifiers, checked as they are typed."""

from collections.abc import Collection

from PySide6.QtWidgets import QGridLayout, QLabel

from annotator.domain.kinds.artifact import Unit
from annotator.domain.kinds.finding import Finding
from annotator.domain.texts.identifier import work_named
from annotator.gui.forms import standard
from annotator.gui.forms.fields import TextLine, YearField
from annotator.gui.forms.unit_editor import UnitEditor

SCHEMES = {"doi": "DOI", "arxiv": "arXiv", "isbn": "ISBN", "url": "Address"}


class ReferenceEditor(UnitEditor):
    """A reference: title, identifier, authors, year, importance."""

    def build(self) -> None:
        """Identifier with what it was read as, authors, year, importance."""
        self.identifier = TextLine("Identifier", "DOI, arXiv id, ISBN or address")
        self.year, authors = YearField(), TextLine("Authors", "Authors")
        self.read_as = QLabel()
        self.read_as.setProperty("role", "hint")
        grid = QGridLayout()
        grid.setColumnStretch(0, 1)
        grid.addWidget(self.identifier, 0, 0)
        grid.addWidget(self.read_as, 0, 1)
        grid.addWidget(authors, 1, 0)
        grid.addWidget(self.year, 1, 1)
        self.row.addLayout(grid, 1)
        self.importance = standard.made(self.words.fields[-1], keyed=True)
        grid.addWidget(self.importance, 2, 0, 1, 2)
        self.add_field("identifier", self.identifier)
        self.add_field("authors", authors)
        self.add_field("year", self.year)
        self.add_field("importance", self.importance)
        self.identifier.stirred.connect(self.refresh)

    def show_unit(self, unit: Unit, number: int, typing: Collection[str] = ()) -> None:
        """Show a reference; what stood in the year of another goes."""
        if unit.id != self.unit_id:
            self.year.clear()
        super().show_unit(unit, number, typing)

    def refresh(self) -> None:
        found = work_named(self.identifier.text())
        self.read_as.setText(f"✓ {SCHEMES[found.scheme]}" if found else "")
        self.read_as.setToolTip(f"Read as {found}" if found else "")

    def unfit(self) -> list[Finding]:
        if not self.year.unfit():
            return []
        message = f"“{self.year.text()}” is not a year."
        return [Finding("error", "year", self.unit_id, "year", message, "Write four digits, such as 2021.")]
