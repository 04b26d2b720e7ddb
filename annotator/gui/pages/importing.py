"""The Import page: choose or drop files, see what their columns hold, import."""

from collections.abc import Callable, Sequence
from enum import Enum
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QPoint, QSize, Qt
from PySide6.QtGui import QPainter
from PySide6.QtWidgets import (
    QAbstractScrollArea,
    QFileDialog,
    QMenu,
    QPushButton,
    QSizePolicy,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from annotator.actions.imports import imports
from annotator.actions.imports.imports import ImportLook, ImportOptions, Refused, TableMatch
from annotator.actions.project.people import people as everybody
from annotator.domain.common import counted
from annotator.domain.material.extract import CollectedPaper, Funnel, RefusalStage, RefusedPaper
from annotator.gui import theme
from annotator.gui.review.sheets import CellsModel, CellsTable, Column, Index
from annotator.gui.review.source_pane import TextPane
from annotator.gui.session.page import Page
from annotator.gui.session.session import Pane, ProjectSession, in_order
from annotator.gui.widgets.bars import FlowRow, KeyButton, wrapping
from annotator.gui.widgets.basics import (
    ElidedLabel,
    PlainLabel,
    StretchSpace,
    check_box,
    column_of,
    direction_of,
    horizontal,
    open_file,
    path_button,
    push_button,
    save_file,
    vertical,
    with_properties,
)
from annotator.gui.widgets.columns import FilterRow, LinesTable, RowsTree, column_needs
from annotator.gui.widgets.fields import ChoiceBox, GrowingEdit, LineField, offer
from annotator.gui.widgets.message_bar import ProgressRow
from annotator.gui.widgets.reading.report_view import RawText
from annotator.gui.widgets.splitter import Splitter

# The row of the model that holds the choices; all others are rows of the table.
CHOICES = -1
# The maximum width of a column, the width of a choice's arrow, and the minimum height of the table.
WIDEST, ARROW, LEAST = 300, 26, 126
FILES = "Mappings (*.json)"


class ChoiceDelegate(QStyledItemDelegate):
    """Paints the first row as combo boxes: hundreds of real ones are slow."""

    def __init__(self, view: LinesTable) -> None:
        super().__init__(view)
        self._box = ChoiceBox(parent=view)
        self._box.addItem("")
        self._box.hide()

    def initStyleOption(self, option: QStyleOptionViewItem, index: Index) -> None:
        super().initStyleOption(option, index)
        if direction_of(option.text) == Qt.LayoutDirection.RightToLeft:
            option.direction = Qt.LayoutDirection.RightToLeft

    def paint(self, painter: QPainter, option: QStyleOptionViewItem, index: Index) -> None:
        super().paint(painter, option, index)
        if index.row() == 0:
            self._box.setItemText(0, index.data())
            self._box.resize(option.rect.size() - QSize(4, 2))
            painter.drawPixmap(option.rect.topLeft() + QPoint(2, 1), self._box.grab())


class MatchTable(LinesTable):
    """The rows of a table, as high as they are; Enter or a click on a choice opens it."""

    def __init__(self, rows: CellsModel[int]) -> None:
        super().__init__("First rows", rows, cells=True)
        self.rows = rows
        self.setItemDelegate(ChoiceDelegate(self))
        self.setSizeAdjustPolicy(QAbstractScrollArea.SizeAdjustPolicy.AdjustToContents)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Maximum)

    def fit(self) -> None:
        header, px, widths = self.horizontalHeader(), theme.current().px, dict(column_needs(self).widths)
        # The choices and a row or two stay in view.
        self.setMinimumHeight(px(LEAST))
        for place, width in widths.items():
            header.resizeSection(
                place, min(max(header.sectionSizeHint(place), width + px(ARROW)), px(WIDEST))
            )
        if widths and (left := self.viewport().width() - header.length()) > 0:
            widest = max(widths, key=lambda place: widths[place])
            header.resizeSection(widest, header.sectionSize(widest) + left)


class MatchingView(Pane):
    def __init__(self, session: ProjectSession, matched: Callable[[Any], object]) -> None:
        """`matched` takes the mapping whenever it has changed."""
        super().__init__(session)
        self._matched = matched
        self._refused: set[tuple[str, str]] = set()
        self.tables: list[TableMatch] = []
        self.which = ChoiceBox(self._show, letters=24, accessibleName="Table")
        self.constants = LineField(
            placeholderText="The same in every row: System = Alder; Language = en",
            accessibleName="The same in every row",
            editingFinished=self._take_constants,
        )
        self.mapping = QPushButton("Mapping")
        menu = QMenu(self.mapping)
        menu.addAction("Save mapping…", self._save)
        menu.addAction("Load mapping…", self._choose)
        for name in imports.shipped():
            menu.addAction(f"Load {name}", partial(self.load, Path(name)))
        self.mapping.setMenu(menu)
        self.table = MatchTable(CellsModel([], self))
        for instance in (self.table.pressed, self.table.activated):
            instance.connect(self._open)
        vertical(
            wrapping(self.which, self.constants, self.mapping, gap=10),
            self.table,
            on=self,
            margins=0,
            spacing=8,
        )

    def show_tables(self, tables: Sequence[TableMatch], refused: Sequence[Refused]) -> None:
        self.tables, self._refused = [*tables], {(file, row) for file, row, _ in refused}
        offer(self.which, [(f"{table.table.name} · {table.size}", table.table.name) for table in tables])
        self.which.setVisible(len(tables) > 1)
        self._show()

    @property
    def _shown(self) -> TableMatch:
        return self.tables[self.which.currentIndex()]

    def _show(self) -> None:
        if not self.tables:
            return
        shown, rows = self._shown, self.table.rows
        self.constants.setText(shown.constants)
        if tuple(rows.columns) == shown.paths and len(rows.rows) == len(shown.table.rows) + 1:
            # Keep the scroll position.
            rows.tell_all()
            self.table.fit()
            return
        columns = [
            Column(path, partial(self._words, path), look=partial(self._look, path), about=path)
            for path in shown.paths
        ]
        rows.show([CHOICES, *range(len(shown.table.rows))], columns)
        self.table.setCurrentIndex(rows.index(0, 0))

    def _words(self, path: str, row: int) -> str:
        return self._shown.words(path) if row == CHOICES else self._shown.cell(row, path)

    def _look(self, path: str, row: int) -> tuple[str, str]:
        left_out = self._shown.words(path) == imports.LEFT_OUT
        refused = (self._shown.table.name, self._shown.table.place(row)) in self._refused
        return "", "level-error" if refused else "text-muted" if left_out else "text"

    def _open(self, index: Index) -> None:
        """Offer the fields a column may hold, below its choice."""
        if index.row() == 0:
            path, menu = self._shown.paths[index.column()], QMenu(self.table)
            menu.aboutToHide.connect(menu.deleteLater)
            for field, words in {"": self._shown.unmatched(path), **imports.WORDS}.items():
                menu.addAction(words, partial(self.match, path, field))
            menu.popup(self.table.viewport().mapToGlobal(self.table.visualRect(index).bottomLeft()))

    def match(self, path: str, field: str) -> None:
        self._replace(self._shown.match(path, field))

    def _take_constants(self) -> None:
        if self.tables and (typed := self.constants.text()) != self._shown.constants:
            self._replace(self.session.attempt(lambda: self._shown.with_constants(typed)) or self._shown)

    def _replace(self, table: TableMatch) -> None:
        self.tables[self.which.currentIndex()] = table
        self._show()
        self._matched(imports.exactly(self.tables))

    def _save(self) -> None:
        save_file(
            self,
            "Save mapping",
            "mapping.json",
            FILES,
            lambda path: self.session.attempt(partial(imports.save_mapping, path, self.tables)),
        )

    def _choose(self) -> None:
        open_file(self, "Load mapping", FILES, self.load)

    def load(self, path: Path) -> None:
        if (mapping := self.session.attempt(partial(imports.load_mapping, path))) is not None:
            self._matched(mapping)


# People: whoever makes a new edition of a benchmark from papers. What annoys them elsewhere: scrapers that drop papers
# without a word, and exemplars of which nobody sees what the cleaning took away.
LEAST_TEXT, LEAST_LIST = 130, 90
COLUMNS = ("Paper", "Title", "What came of it")


class CollectedFilter(Enum):
    KEPT = "Kept"
    FILTER = "By the list"
    SOURCE = "No source"
    ASSEMBLE = "Not assembled"
    SECTION = "No section"
    CLEAN = "Unfit section"
    CITE = "Few references"


TIPS = {
    CollectedFilter.KEPT: "Papers that become items",
    CollectedFilter.FILTER: "Refused by what arXiv's list says: version, comment, withdrawn, language",
    CollectedFilter.SOURCE: "Refused because no LaTeX source could be read",
    CollectedFilter.ASSEMBLE: "Refused because its files make no whole text",
    CollectedFilter.SECTION: "Refused because there is no section on related work, or nearly nothing in it",
    CollectedFilter.CLEAN: "Refused because the section is too long, in another language, or cannot be read",
    CollectedFilter.CITE: "Refused because the section cites too few works",
}


class CollectedView(QWidget):
    def __init__(self, session: ProjectSession) -> None:
        super().__init__()
        self._funnel = Funnel(0)
        self.stages = PlainLabel(role="strong", wrap=True)
        self.shown = FilterRow(CollectedFilter, CollectedFilter.KEPT)
        self.shown.show_tips(TIPS)
        self.shown.chosen.connect(self._fill)
        self.papers = with_properties(
            RowsTree("Papers", COLUMNS, (130, 300, 320), stretched=1, firm=(0,), moved=self._show_paper),
            minimumHeight=LEAST_LIST,
        )
        self.notes = PlainLabel(role="hint", wrap=True)
        self.latex, self.exemplar = RawText("LaTeX of the section"), TextPane(session)
        self.exemplar.entitle("As the exemplar")
        source = column_of(PlainLabel("In LaTeX", "strong"), (self.latex, 1), spacing=6)
        for part in (source, self.exemplar):
            part.setMinimumHeight(LEAST_TEXT)
        self.texts = column_of(
            self.notes,
            (Splitter("collected paper", parts=(source, self.exemplar), sizes=(1, 1)), 1),
            spacing=6,
        )
        self.halves = Splitter(
            "collected papers", Qt.Orientation.Vertical, parts=(self.papers, self.texts), sizes=(200, 300)
        )
        vertical(self.stages, self.shown, (self.halves, 1), on=self, margins=0, spacing=8)

    def show_funnel(self, funnel: Funnel) -> None:
        self._funnel = funnel
        refused = [paper.stage for paper in funnel.refused]
        left = [
            f"{many:,} after {STAGES[stage]}" for stage, many in funnel.left().items() if stage in refused
        ]
        words = [counted(funnel.candidates, "candidate"), *left, f"{len(funnel.passed):,} kept"]
        self.stages.setText(" → ".join(words))
        counts: dict[CollectedFilter, int] = {
            one: len(self._refused(one)) for one in list(CollectedFilter)[1:]
        }
        self.shown.show_counts({CollectedFilter.KEPT: len(funnel.passed), **counts})
        self.shown.hold(CollectedFilter.KEPT if funnel.passed else max(counts, key=lambda one: counts[one]))

    def _fill(self) -> None:
        stored = self.shown.held is CollectedFilter.KEPT
        if stored:
            lines = [(paper.arxiv_id, paper.title, _worth(paper)) for paper in self._funnel.passed]
        else:
            lines = [(paper.id, paper.title, paper.reason) for paper in self._refused(self.shown.held)]
        self.papers.show_lines(lines, 0)
        self.texts.setVisible(stored and bool(lines))
        self._show_paper()

    def _refused(self, held: CollectedFilter) -> list[RefusedPaper]:
        return [paper for paper in self._funnel.refused if paper.stage.name == held.name]

    def _show_paper(self) -> None:
        paper = self.papers.line_of(self._funnel.passed)
        if paper is None or self.shown.held is not CollectedFilter.KEPT:
            return
        self.notes.show_words(". ".join(paper.notes))
        self.latex.setPlainText(paper.section)
        self.exemplar.show_report(self._funnel.exemplars.get(paper.arxiv_id, ""), "exemplar")


STAGES = {
    RefusalStage.FILTER: "the list",
    RefusalStage.SOURCE: "the source",
    RefusalStage.ASSEMBLE: "assembling",
    RefusalStage.SECTION: "the section",
    RefusalStage.CLEAN: "cleaning",
    RefusalStage.CITE: "the references",
}


def _worth(paper: CollectedPaper) -> str:
    """What a paper contributes: the works it cites, those on arXiv, and those with an abstract."""
    on_arxiv = sum(bool(entry.link) for entry in paper.cited)
    abstracts = sum(bool(entry.abstract) for entry in paper.cited)
    return f"{counted(len(paper.cited), 'reference')}, {on_arxiv} on arXiv, {counted(abstracts, 'abstract')}"


# People: coordinators with files of their lab's or of another tool, once a month, who do not know our words. What
# annoys them elsewhere: half-imported files, rows dropped without a word, not knowing whether importing again makes
# everything double, a format to be named before the program has looked, columns to be renamed in the file first, and
# the same matching done anew every month.
# At least this many letters of a layout are shown if space is short.
LETTERS = 20
TRANSCRIPTS = f"Transcripts (*{' *'.join(imports.TRANSCRIPT_ENDINGS)})"


class ImportPage(Page):
    """The Import page: a preview first; then everything or nothing, unless refused rows are left out knowingly."""

    NAME = "Import"

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._paths: list[Path] = []
        self._taking: list[Path] = []
        self._mapping: Any = None
        self._preview_look: ImportLook | None = None
        title = PlainLabel("Import", "title")
        self.hint = PlainLabel(
            "Nothing is changed until you press Import. Existing records are recognised and not added "
            "twice; differences are listed and left unchanged. Imported gold counts at once.",
            "hint",
            wrap=True,
        )
        self.chosen = ElidedLabel("", "hint")
        self.preview = GrowingEdit(
            least=2,
            most=5,
            readOnly=True,
            accessibleName="To be imported",
            horizontalScrollBarPolicy=Qt.ScrollBarPolicy.ScrollBarAlwaysOff,
        )
        self.progress = ProgressRow()
        self.collected = CollectedView(session)
        self.matching = MatchingView(session, self._match)
        self._column = vertical(
            title, self._choosing(session), self.hint, self.chosen, self.matching, self.preview, (self.collected, 1),
            (self._wrong(), 1), self.progress, self._foot(), StretchSpace(1), on=self, margins=(20, 16, 20, 12),
            spacing=10,
        )  # fmt: skip
        self.bind("submit", self.go.click)
        session.refused.connect(self._stay)
        self._begin()
        self.focus_on = self.files

    def _choosing(self, session: ProjectSession) -> FlowRow:
        self.format = ChoiceBox(letters=LETTERS, accessibleName="Layout of the files")
        self.format.addItem("Recognise the layout", "")
        for name, words in imports.offered(session.project).items():
            self.format.addItem(words, name)
        self.format.currentIndexChanged.connect(lambda _: self.add([]))
        self.pseudonyms = check_box(
            "Call speakers S1, S2 …",
            self._look,
            toolTip="Names are left out of the text; who is who stays in this project",
        )
        self.folder = path_button("Choose a folder…", "Folder to import", lambda path: self.add([path]))
        self.files = push_button("Choose files…", self._choose_files)
        self.clear = push_button("Clear", lambda: self.look_at([]))
        return wrapping(self.files, self.folder, self.clear, self.format, self.pseudonyms, gap=10)

    def _wrong(self) -> QWidget:
        columns: list[Column[Refused]] = [
            Column("File", lambda one: one[0], 160),
            Column("Row", lambda one: one[1], 90),
            Column("Reason", lambda one: one[2], 300),
        ]
        self.refused: CellsModel[Refused] = CellsModel(columns, self)
        self.problems = CellsTable("Problems", self.refused, stretched=2)
        self.problem_title = PlainLabel("Problems", "subtitle")
        above = horizontal(
            self.problem_title, StretchSpace(1), push_button("Save as CSV…", self._save_problems)
        )
        self.wrong = column_of(above, (self.problems, 1), spacing=6)
        return self.wrong

    def _foot(self) -> Any:
        self.skip = check_box("", self._enable)
        # Only this page asks about weights that the project does not allow yet.
        self.weights = check_box("", self._look)
        self.author = ChoiceBox(
            accessibleName="Whose criteria and other gold these are", activated=lambda _: self._look()
        )
        self.go = KeyButton("Import", act="submit", role="primary", press=self._import)
        return horizontal((wrapping(self.author, self.weights, self.skip, gap=16), 1), self.go)

    def navigate(self, place: dict[str, Any]) -> None:
        if "files" in place:
            self.add(place["files"])

    def look_at(self, paths: list[Path]) -> None:
        self._paths, self._mapping = [], None
        self.add(paths)

    def add(self, paths: list[Path]) -> None:
        self._paths = list(dict.fromkeys([*self._paths, *paths]))
        self._begin()
        self._look()

    def _choose_files(self) -> None:
        offered = f"Tables (*{' *'.join(imports.ENDINGS)});;{TRANSCRIPTS};;All files (*)"
        names, _ = QFileDialog.getOpenFileNames(self, "Files to import", "", offered)
        if names:
            self.add([Path(name) for name in names])

    def _match(self, mapping: Any) -> None:
        self._mapping = mapping
        self._look()

    def _options(self) -> ImportOptions:
        return ImportOptions(
            pseudonyms=self.pseudonyms.isChecked(),
            mapping=self._mapping,
            allow_weights=self.weights.isChecked(),
            author=str(self.author.currentData() or ""),
        )

    def _look(self) -> None:
        if not self._paths:
            return
        self._preview_look = None
        self._enable()
        self.chosen.setText("Reading…")
        self.session.ask_later(
            self._show, imports.look, self.format.currentData(), self._paths, self._options()
        )

    def _show(self, look: ImportLook) -> None:
        if look.paths is not self._paths:
            return
        self._preview_look, funnel, many = look, look.preview.funnel, len(look.refused)
        self.chosen.setText(f"Recognised: {imports.offered()[look.format]} — {self._names()}")
        # Its rows query the tables as soon as they are visible.
        self.matching.show_tables(look.tables, look.refused)
        for widget, shown in (
            (self.pseudonyms, look.format == imports.TRANSCRIPTS),
            (self.matching, bool(look.tables)),
            (self.preview, funnel is None),
            (self.collected, funnel is not None),
            (self.wrong, bool(many)),
            (self.skip, bool(many and look.preview.new)),
            (self.author, bool(look.tables and look.preview.units)),
        ):
            widget.setVisible(shown)
        people = in_order(self.session.ask(everybody) or ())
        drafts = [(f"Drafts of {person.alias}", person.id) for person in people if person.active]
        offer(self.author, [("Gold from outside", ""), *drafts])
        self.preview.setPlainText("\n".join(look.preview.words()))
        if funnel is not None:
            self.collected.show_funnel(funnel)
        # If there is a list, it gets the rest of the page.
        self._column.setStretch(self._column.count() - 1, int(funnel is None and not many))
        self.refused.show(look.refused)
        self.problem_title.setText(f"Problems ({many:,})")
        self.skip.setChecked(False)
        # A row that is refused for two reasons counts once.
        self.skip.setText(
            f"Import the rest without "
            f"{counted(len({one[:2] if one[1] else one for one in look.refused}), 'refused row')}"
        )
        if odd := look.preview.weights_to_allow:
            self.weights.setText(f"Allow weights {odd} in this project")
        self.weights.setVisible(bool(odd) or self.weights.isChecked())
        self._enable()

    def _names(self) -> str:
        return ", ".join(path.name for path in self._paths)

    def _begin(self) -> None:
        self._preview_look = None
        self.chosen.setText(
            "Choose files and folders, or drop them anywhere in this window: several come in together."
        )
        self.hint.setVisible(not self._paths)
        self.clear.setVisible(bool(self._paths))
        self.weights.setChecked(False)
        for widget in (
            self.matching, self.preview, self.collected, self.wrong, self.skip, self.weights, self.author,
            self.pseudonyms,
        ):  # fmt: skip
            widget.hide()
        self._column.setStretch(self._column.count() - 1, 1)
        self._enable()

    def _stay(self, _refusal: Any) -> None:
        if self._paths and self._preview_look is None:
            self.chosen.setText(f"Not read: {self._names()}")

    def _enable(self) -> None:
        self.go.setEnabled(
            self._preview_look is not None
            and self._preview_look.preview.new > 0
            and (not self._preview_look.refused or self.skip.isChecked())
            and not self.session.project.readonly
        )

    def _save_problems(self) -> None:
        save_file(
            self,
            "Save problems",
            "problems.csv",
            "Tables (*.csv)",
            lambda path: self.session.attempt(partial(imports.save_problems, path, self.refused.rows)),
        )

    def _import(self) -> None:
        self.go.setEnabled(False)
        self._taking = self._paths
        self.progress.show()
        self.session.do_later(
            self._imported,
            self.progress.show_progress,
            imports.run,
            self._preview_look.format if self._preview_look else "",
            self._paths,
            self._options(),
            skip_bad=self.skip.isChecked(),
        )

    def _imported(self, result: Any) -> None:
        self.progress.hide()
        if result is None:
            self._enable()
            return
        if self._paths == self._taking:
            self.look_at([])
            if self.isVisible():
                self.session.go("Home")
        self.session.tell_end(f"The import is done: {result[1]}.", "Items")
