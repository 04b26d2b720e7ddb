"""Details of the chosen judge, and the result of its test."""

from typing import Any

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QWidget

from annotator.actions.judges import endpoint_memory
from annotator.actions.judging import derived_judges
from annotator.actions.judging.judge_probes import ProbeRequest
from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.gui.desk.child import Child
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.judges.roster.endpoint_form import AllowedKeys, EndpointForm
from annotator.gui.pages.judges.roster.probe_view import ProbeView
from annotator.gui.pages.judges.roster.vote_form import VoteForm
from annotator.gui.widgets.basics import PlainLabel, StretchSpace, column_of, vertical
from annotator.gui.widgets.chips import Chip
from annotator.gui.widgets.plain_area import PlainArea

BASELINE_WORDS = (
    "The baseline needs no key and no network, and always gives the same verdict. It counts the words that "
    "a unit shares with the report and understands nothing. It is a lower bound that every real judge "
    "should clearly beat, not a judge to trust."
)
VOTE_WORDS = (
    "A vote makes no calls. Its verdict is the majority of its members, or of one judge's repeated trials "
    "(of ordered values their median); "
    "without a majority, its judgement is missing and lists the votes. Count it again when its members have "
    "judged more."
)


class JudgeSide(QWidget):
    """A form for a judge behind an endpoint, one for a new vote, or a text about other judges."""

    saved = Signal(str)
    """The name of the judge that was saved."""
    edited = Signal()

    def __init__(self, desk: Desk) -> None:
        super().__init__()
        self._desk = desk
        self._judge: Judge | None = None
        self._child = Child(desk, self)
        self._child.ended.connect(self._tested)
        self.beginning = self.voting = False
        self.title, self.about = PlainLabel("", "subtitle", wrap=True), PlainLabel("", wrap=True)
        self.endpoint, self.vote, self.probe = EndpointForm(desk), VoteForm(desk), ProbeView()
        self.allowed = AllowedKeys(desk)
        self.endpoint.edited.connect(self.edited)
        self.endpoint.allowed.connect(self.allowed.fill)
        self.allowed.withdrawn.connect(self.endpoint.show_place)
        self.vote.edited.connect(self.edited)
        self.probe.accepted.connect(self._accept)
        self._shown: QWidget = self.about
        inner = column_of(
            self.title,
            self.about,
            self.endpoint,
            self.vote,
            self.probe,
            self.allowed,
            StretchSpace(1),
            margins=(10, 0, 6, 0),
            spacing=10,
        )
        area = PlainArea("The chosen judge", inner)
        area.setMinimumWidth(340)
        vertical(area, on=self, margins=0)
        self._show(self.about)

    @property
    def dirty(self) -> bool:
        """Whether there is something to save."""
        form = self._shown
        return isinstance(form, EndpointForm | VoteForm) and form.dirty

    @property
    def testing(self) -> bool:
        """Whether a test is in progress."""
        return self._child.running

    def show_judge(self, judge: Judge) -> None:
        """Show a judge; what was typed and not saved stays while it is the same one."""
        same = not self.beginning and self._judge is not None and self._judge.id == judge.id
        if same and (self.dirty or judge == self._judge):
            return
        if not same:
            self.probe.clear()
        self._judge, self.beginning, self.voting = judge, False, False
        self.allowed.fill()
        self.title.setText(judge.name)
        if judge.kind == JudgeKind.ENDPOINT:
            self.endpoint.show_judge(judge)
            self._show(self.endpoint)
        else:
            self.about.setText(self._words(judge))
            self._show(self.about)
        self.edited.emit()

    def _words(self, judge: Judge) -> str:
        if judge.kind == JudgeKind.BASELINE:
            return BASELINE_WORDS
        names = self._desk.ask(derived_judges.members, judge) or []
        whom = f"It counts the trials of {names[0]}." if len(names) == 1 else f"It counts {', '.join(names)}."
        return f"{whom}\n\n{VOTE_WORDS}"

    def begin(self) -> None:
        self._judge, self.beginning, self.voting = None, True, False
        self.title.setText("A new judge")
        self.endpoint.begin()
        self._show_new(self.endpoint)

    def begin_vote(self, known: list[Judge]) -> None:
        self._judge, self.beginning, self.voting = None, True, True
        self.title.setText("A new vote")
        self.vote.begin([judge for judge in known if judge.kind != JudgeKind.DERIVED])
        self._show_new(self.vote)

    def _show_new(self, form: EndpointForm | VoteForm) -> None:
        self.probe.clear()
        self._show(form)
        form.focus_first()

    def _show(self, shown: QWidget) -> None:
        self._shown = shown
        for form in (self.about, self.endpoint, self.vote):
            form.setVisible(form is shown)

    def focus_first(self) -> None:
        form = self._shown
        if isinstance(form, EndpointForm | VoteForm):
            form.focus_first()

    def save(self) -> bool:
        """Keep the settings; whether that was done."""
        form = self._shown
        if not isinstance(form, EndpointForm | VoteForm) or not form.dirty:
            return False
        name = form.save()
        if name:
            self.beginning = self.voting = False
            self._judge = None
            self.saved.emit(name)
        return bool(name)

    def test(self) -> None:
        """One call to the endpoint, of the settings as they are saved now."""
        if self.testing or self.voting or (self.dirty and not self.save()) or self._judge is None:
            return
        if self._judge.kind != JudgeKind.ENDPOINT:
            return
        if self._child.start(ProbeRequest(self._judge.name)):
            self.probe.wait()
            # Its key may have been allowed where the test was refused before.
            self.endpoint.show_place()
            self.allowed.fill()
        self.edited.emit()

    def _tested(self, found: dict[str, Any]) -> None:
        if "error" in found:
            found = {"ok": False, "words": f"{found['error']} {found['todo']}".strip()}
        self.probe.show_found(found)
        self.edited.emit()
        self._desk.tell_end("The endpoint has been tested.", "Judges", self, part="Judges")

    def _accept(self) -> None:
        if self._judge is not None and self._desk.do(endpoint_memory.accept, self._judge) is not None:
            self.probe.accept.hide()
            self.probe.state.show_chips([Chip("Failed its test; used all the same", "warning", "incomplete")])

    def stop(self) -> None:
        self._child.stop_now()
