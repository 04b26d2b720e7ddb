"""The Reviews page: a draft beside its reviewed version, the review form, and the author's answer."""

from collections.abc import Mapping
from functools import partial
from typing import Any

from PySide6.QtWidgets import QFormLayout

from annotator.actions.assignments import reviewing
from annotator.actions.project import people
from annotator.domain.experts.adjudication import ANSWERS, form_of
from annotator.domain.kinds.artifact import Kind, stage_of
from annotator.gui.review import people_choice
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession, title
from annotator.gui.widgets.bars import wrapping
from annotator.gui.widgets.basics import (
    PlainArea,
    PlainLabel,
    Stack,
    StretchSpace,
    column_of,
    horizontal,
    push_button,
    vertical,
    with_properties,
)
from annotator.gui.widgets.chips import EmptyState
from annotator.gui.widgets.columns import RowsTree
from annotator.gui.widgets.fields import ChoiceBox, LineField, offer
from annotator.gui.widgets.reading.report_view import ReportView
from annotator.gui.widgets.splitter import BESIDE_ONE, Splitter

# People: a second expert who is shown a colleague's draft, and the colleague, who wants to know what became of it.
NOT_BLIND = (
    "Not blind: the reviewer sees the draft and the author the review, so there is no figure of agreement."
)
NOTHING = (
    "When handing out, a stage may be drafted by one person and reviewed by another. The review then stands here: what "
    "it changed unit by unit, its form, and the author’s answer."
)


class ReviewsPage(Page):
    """The Reviews page: reviews on the left; on the right the units of one, its form and its answer."""

    NAME = "Reviews"
    HEARS = ("review", "artifact", "assignment", "parcel", "person")

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self._lines: list[reviewing.ReviewLine] = []
        self.list = RowsTree(
            "Reviews of drafts", ("Item", "Document", "State"), (90, 80, 110), 2, moved=self._show
        )
        self.about = PlainLabel("", "strong", wrap=True)
        self.units = with_properties(ReportView(), accessibleName="Units of the draft and of the review")
        self.form, self.boxes = QFormLayout(), dict[str, tuple[ChoiceBox, LineField]]()
        self._requested: tuple[str, Kind, bool] | None = None
        self.begin, self.edit = (
            push_button("Begin the review", self._begin, "primary"),
            push_button("Edit on the Author page", self._edit),
        )
        self.words = LineField(
            placeholderText="Your answer; needed to disagree", accessibleName="Answer to the review"
        )
        self.agree, self.disagree = (
            push_button("Agree and settle", lambda _=False: self._answer(True)),
            push_button("Disagree", lambda _=False: self._answer(False)),
        )
        inside = column_of(
            self.about,
            (self.units, 1),
            self.form,
            horizontal(self.begin, self.edit, StretchSpace(1), spacing=8),
            wrapping(self.words, self.agree, self.disagree),
            StretchSpace(0),
            margins=(8, 0, 0, 0),
            spacing=8,
        )
        area = PlainArea("Review", inside)
        parts = Splitter(
            "reviews", parts=(self.list, area), sizes=(320, 780), stretch=(0, 1), least=(200, 300)
        )
        parts.grow(self.list, 320, BESIDE_ONE)
        self.body = Stack(EmptyState("eye", "No reviews", NOTHING), parts)
        heads = (PlainLabel("Reviews of drafts", "title"), PlainLabel(NOT_BLIND, "hint", wrap=True))
        vertical(*heads, (self.body, 1), on=self, margins=(20, 16, 20, 12), spacing=8)
        self.focus_on = self.list

    def navigate(self, place: dict[str, Any]) -> None:
        """Show the reviews that concern the person working; `item_id` selects one."""
        self._fill()
        ids = [each.item_id for each in self._lines]
        if place.get("item_id") in ids:
            self.list.choose(ids.index(place["item_id"]))

    def _fill(self) -> None:
        row, self._lines = max(0, self.list.row()), self.session.ask(reviewing.lines) or []
        self.body.setCurrentIndex(1 if self._lines else 0)
        self.list.show_lines(
            [(each.item_key, title(stage_of(each.kind)), each.state) for each in self._lines],
            min(row, len(self._lines) - 1),
        )
        self._show()

    @property
    def _line(self) -> reviewing.ReviewLine | None:
        return self.list.line_of(self._lines)

    def _show(self) -> None:
        line = self._line
        if line is None:
            return
        me, review = people.someone(self.session.project), line.review
        mine, readonly = line.reviewer_id == me.id, self.session.project.readonly
        self.about.setText(f"Drafted by {line.author or '–'}, reviewed by {line.reviewer}: {line.state}.")
        result = (self.session.ask(reviewing.units, line.review) or []) if line.review else []
        commented = any(unit.comment for unit in result)
        rows = [(unit.before, unit.after, *([unit.comment] if commented else [])) for unit in result]
        heads = ("Draft", "Review", *(["Comment"] if commented else []))
        self.units.show_html(people_choice.table(heads, rows, new_is_left=False) if result else "")
        self.units.setVisible(bool(result))
        writing = mine and review is not None and line.state == reviewing.UNDER_REVIEW and not readonly
        self._show_form(line, writable=writing)
        self.begin.setVisible(mine and review is None and not readonly)
        if self.begin.isVisibleTo(self):
            self.about.setText(f"{self.about.text()} Begin to see the draft unit by unit.")
        self.edit.setVisible(writing)
        answerable = review is not None and me.id != line.reviewer_id and review.author in (me.id, me.alias)
        for part in (self.words, self.agree, self.disagree):
            part.setVisible(
                answerable and line.state not in (reviewing.UNDER_REVIEW, reviewing.AGREED) and not readonly
            )
        self.words.setText(review.answer if review is not None else "")

    def _show_form(self, line: reviewing.ReviewLine, *, writable: bool) -> None:
        review = line.review
        form_key = line.item_id, line.kind, review is not None
        if form_key != self._requested:
            self._requested = form_key
            self._ask(form_of(line.kind) if review else {})
        if review is None:
            return
        for name, (box, remark) in self.boxes.items():
            box.setCurrentIndex(max(0, box.findData(review.form.get(name, ""))))
            if not remark.hasFocus():
                remark.setText(review.words.get(name, ""))
            for field in (box, remark):
                field.setEnabled(writable)

    def _ask(self, questions: Mapping[str, str]) -> None:
        """Build the fields of a form; they stay while it is answered, so that the focus does, too."""
        while self.form.rowCount():
            self.form.removeRow(0)
        self.boxes = {}
        for name, words in questions.items():
            box, remark = ChoiceBox(), LineField(placeholderText="Remark")
            offer(box, [("Not answered", ""), *((answer.capitalize(), answer) for answer in ANSWERS)])
            for field in (box, remark):
                field.setAccessibleName(words)
            box.activated.connect(lambda _, name=name: self._fill_in(name))
            remark.editingFinished.connect(partial(self._fill_in, name))
            self.boxes[name] = box, remark
            self.form.addRow(words, horizontal(box, (remark, 1), spacing=8))

    def _fill_in(self, name: str) -> None:
        line, (box, remark) = self._line, self.boxes[name]
        if line is None or line.review is None or not box.currentData():
            return
        answer = str(box.currentData()), remark.text().strip()
        review = self.session.ask(reviewing.of_artifact, line.review.artifact_id)
        if review is not None and answer != (review.form.get(name), review.words.get(name, "")):
            self.session.do(reviewing.fill_in, line.review.artifact_id, name, *answer)

    def _begin(self) -> None:
        line = self._line
        if line is not None and self.session.do(reviewing.begin, line.item_id, line.kind) is not None:
            self._edit()

    def _edit(self) -> None:
        if (line := self._line) is not None:
            self.session.go("Author", item_id=line.item_id, kind=line.kind.value)

    def _answer(self, agreed: bool) -> None:
        line = self._line
        if line is not None and line.review is not None:
            self.session.do(reviewing.answer, line.review.artifact_id, agreed, self.words.text())
            self._fill()
