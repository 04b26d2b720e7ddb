"""One verdict on an attacked copy: report and copy side by side, changes marked, both verdicts."""

from html import escape

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QTextBrowser, QWidget

from annotator.actions.attacks.attack_cases import AttackCase
from annotator.domain.judges.attack import PlantedText
from annotator.domain.judges.judgement import Verdict
from annotator.domain.texts.rendered import BREAK
from annotator.gui import theme
from annotator.gui.review.judge_words import flag_words, value_look, value_words
from annotator.gui.widgets.bars.splitter import Splitter
from annotator.gui.widgets.basics import PlainLabel, column_of, vertical
from annotator.gui.widgets.reading import report_style
from annotator.gui.widgets.reading.report_view import ReportView

PUT_IN, MOVED, LACKING = "judge", "other", "evidence"
LEGEND = {PUT_IN: "inserted in the copy", MOVED: "moved in the report", LACKING: "not in the copy"}


class AttackReader(QWidget):
    """The change above; below it report and copy as plain text, each with its verdict."""

    def __init__(self) -> None:
        super().__init__()
        self._told: AttackCase | None = None
        self.head, self.done = PlainLabel("", "subtitle", wrap=True), PlainLabel("", wrap=True)
        self.about, self.unit = PlainLabel("", "hint", wrap=True), PlainLabel("", wrap=True)
        for label in (self.head, self.done, self.unit):
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.legend = QLabel()
        self.legend.setTextFormat(Qt.TextFormat.RichText)
        self.report, self.copy = ReportView(), ReportView()
        self._first: dict[ReportView, tuple[int, int]] = {}
        self.report.setAccessibleName("The original report")
        self.copy.setAccessibleName("The attacked copy")
        self.own, self.again = (
            _verdict_view("The judge's own verdict"),
            _verdict_view("Its verdict on the copy"),
        )
        texts = Splitter("validate/attack texts")
        for words, verdict, view in (
            ("The original report", self.own, self.report),
            ("The attacked copy", self.again, self.copy),
        ):
            pane = column_of(PlainLabel(words, "strong"), verdict, (view, 1), spacing=4)
            texts.addWidget(pane)
        vertical(
            self.head,
            self.unit,
            self.done,
            self.about,
            self.legend,
            (texts, 1),
            on=self,
            margins=0,
            spacing=5,
        )
        theme.watch(self, self._dress)

    def show_told(self, told: AttackCase) -> None:
        """Show a case, both texts where something was done to them."""
        self._told = told
        way = f" · {told.variant}" if told.variant else ""
        self.head.setText(f"{told.title}{way} · {told.judge}")
        self.unit.setText(
            f"Item {told.item_key} · {told.system} · asked about: {told.unit or 'a unit that is gone'}"
        )
        self.done.setText(" ".join(told.done))
        self.about.setText(told.about)
        self._show(self.report, told.report, told.gaps, LACKING)
        self._show(self.copy, told.copy, told.marks, PUT_IN)
        self._dress()

    def _show(self, view: ReportView, text: str, marks: tuple[PlantedText, ...], kind: str) -> None:
        view.show_plain(text)
        shown = ShownPlaces(text, view.text())
        view.clear_marks()
        for moved in (False, True):
            spans = [shown.span(mark) for mark in marks if mark.moved is moved]
            view.set_marks(MOVED if moved else kind, spans)
        self._first[view] = shown.span(marks[0]) if marks else (0, 0)

    def reveal(self) -> None:
        """Bring what was done first into view, in both texts; only what is in view itself can be scrolled."""
        for view, span in self._first.items():
            view.reveal(*span)

    def _dress(self) -> None:
        told = self._told
        if told is None:
            return
        changed = told.again.value not in (None, told.own.value)
        self.own.setHtml(_verdict(told.protocol, told.own))
        self.again.setHtml(_verdict(told.protocol, told.again, changed=changed))
        kinds = [MOVED if mark.moved else PUT_IN for mark in told.marks] + [LACKING for _ in told.gaps]
        swatches = "\u2003".join(_swatch(kind) for kind in dict.fromkeys(kinds))
        self.legend.setText(
            f"Marked: {swatches}" if swatches else "Nothing is marked: both texts are the same."
        )
        self.legend.setAccessibleName(
            ", ".join(LEGEND[kind] for kind in dict.fromkeys(kinds)) or "Nothing is marked"
        )


class ShownPlaces:
    """Maps offsets of a text to those shown, after normalising line ends and breaking long lines."""

    def __init__(self, text: str, shown: str) -> None:
        self._same = text == shown
        self._places: list[int] = []
        at = 0
        for letter in () if self._same else text:
            while at < len(shown) and shown[at] == BREAK and letter != BREAK:
                at += 1
            self._places.append(at)
            at += not (
                letter == "\r" and at < len(shown) and shown[at] == "\n" and self._before_newline(text)
            )
        self._places.append(len(shown) if not self._same else len(text))

    def _before_newline(self, text: str) -> bool:
        place = len(self._places)
        return place < len(text) and text[place] == "\n"

    def span(self, mark: PlantedText) -> tuple[int, int]:
        if self._same:
            return mark.start, mark.end
        return self._places[mark.start], self._places[mark.end]


def _verdict_view(name: str) -> QTextBrowser:
    made = QTextBrowser()
    made.setProperty("role", "side")
    made.setAccessibleName(name)
    made.setOpenLinks(False)
    theme.scale(made.setFixedHeight, 84)
    return made


def _verdict(protocol: str, found: Verdict, *, changed: bool = False) -> str:
    """A verdict with its grounds, as HTML."""
    colour = theme.token(value_look(protocol, found.value)[1]).name()
    parts = [f"<b style='color:{colour}'>{escape(value_words(protocol, found.value, found.status))}</b>"]
    if changed:
        parts.append(f"<b style='color:{theme.token('state-disagree').name()}'> · ⚠ another verdict</b>")
    if found.flags:
        named = ", ".join(flag_words(flag) for flag in found.flags.split())
        parts.append(
            f"<span style='color:{theme.token('state-unconfirmed').name()}'> · ⚑ {escape(named)}</span>"
        )
    said = found.cause if found.value is None else found.rationale
    parts.append(f"<p dir='auto'>{escape(said)}</p>" if said else "")
    parts.append(f"<p dir='auto'><b>Quote</b> {escape(found.quote)}</p>" if found.quote else "")
    return "".join(parts)


def _swatch(kind: str) -> str:
    ground, ink = theme.token(report_style.MARKS[kind][0]).name(), theme.token("on-mark").name()
    style = f"background-color:{ground};color:{ink};text-decoration:underline"
    return f"<span style='{style}'>&nbsp;{escape(LEGEND[kind])}&nbsp;</span>"
