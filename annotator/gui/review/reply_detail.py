"""One judgement in full: its value above, the reply and the sent prompt below."""

import json
from collections.abc import Sequence
from html import escape

from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QTextBrowser, QWidget

from annotator.actions.judging import filled_prompts
from annotator.actions.judging.judge_runs import title
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import JudgementDetail, Reply
from annotator.domain.common import lasting
from annotator.domain.judges.judge import Call
from annotator.gui import theme
from annotator.gui.review.people_choice import column
from annotator.gui.review.verdict_words import STATUS_WORDS, flag_words, spent, value_look, value_words, when
from annotator.gui.session.session import ProjectSession
from annotator.gui.widgets.bars import Tabs
from annotator.gui.widgets.basics import PlainLabel, horizontal, push_button, with_properties
from annotator.gui.widgets.fields import ChoiceBox, offer
from annotator.gui.widgets.reading.report_view import RawText
from annotator.gui.widgets.splitter import Splitter

NOBODY = "No call was made: this judge matches words, or counts other verdicts."
NO_PROMPT = "The prompt is not stored: no call was made, or its wording or unit is no longer in this project."


class ReplyDetail(Splitter):
    """The judgement above; the reply and the prompt in two tabs below."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__("judges/reply", Qt.Orientation.Vertical)
        self._session = session
        self._detail: JudgementDetail | None = None
        self._replies: Sequence[Reply] = ()
        self.made = with_properties(QTextBrowser(), role="side", accessibleName="Verdict from the reply")
        self.which = ChoiceBox(self._show_raw, accessibleName="Reply to show")
        self.raw, self.prompt = RawText("The reply as it came"), RawText("The prompt as it was sent")
        self.sure = PlainLabel("", "hint", wrap=True)
        self.facts = with_properties(
            PlainLabel("", "hint", wrap=True),
            textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
        )
        self.tabs = Tabs("The reply and the prompt")
        self.tabs.addTab(self._raw_pane(), "The reply as it came")
        self.tabs.addTab(column(self.sure, self.prompt, grows=self.prompt, above=6), "The prompt as sent")
        self.tabs.currentChanged.connect(lambda _: self._show_prompt())
        self.addWidget(self.made)
        self.addWidget(self.tabs)
        self.setSizes([330, 270])
        theme.watch(self, self._restyle)

    def _raw_pane(self) -> QWidget:
        self.copy = push_button("Copy", self._copy, "quiet")
        return column(horizontal((self.which, 1), self.copy), self.facts, self.raw, grows=self.raw, above=6)

    def _copy(self) -> None:
        place = self.which.currentIndex()
        if 0 <= place < len(self._replies):
            QGuiApplication.clipboard().setText(self._replies[place].call.raw)

    def clear(self) -> None:
        self._show(None, (), "")

    def show_detail(self, detail: JudgementDetail) -> None:
        same = self._detail is not None and self._detail.line.id == detail.line.id
        self._show(detail, detail.replies, made_of(detail), same=same)

    def show_reply(self, reply: Reply) -> None:
        """Show a call of an extraction, for which nothing but the reply is stored."""
        call = reply.call
        word = "It could be read." if call.status == "ok" else STATUS_WORDS.get(call.status, call.status)
        self._show(None, (reply,), f"<h3>{escape(word)}</h3><p dir='auto'>{escape(call.cause)}</p>")

    def _show(
        self, detail: JudgementDetail | None, replies: Sequence[Reply], made: str, *, same: bool = False
    ) -> None:
        """Show what was made of replies, and the replies; of the `same` judgement the chosen reply stays."""
        self._detail, self._replies = detail, replies
        self.made.setHtml(made)
        if not same:
            self.which.clear()
        self._offer_replies()
        self._show_prompt()

    def _offer_replies(self) -> None:
        offer(self.which, [(_named(reply), reply.call.id) for reply in self._replies])
        own = next((place for place, reply in enumerate(self._replies) if reply.own), 0)
        if self._replies and self.which.currentIndex() < 1:
            self.which.setCurrentIndex(own)
        self.which.setEnabled(len(self._replies) > 1)
        self._show_raw()

    def _show_raw(self) -> None:
        place = self.which.currentIndex()
        reply = self._replies[place] if 0 <= place < len(self._replies) else None
        for widget in (self.which, self.copy, self.raw):
            widget.setVisible(reply is not None)
        if reply is None:
            self.raw.setPlainText("")
            self.facts.setText(NOBODY if self._detail is not None else "")
            return
        self.raw.setPlainText(pretty(reply.call.raw) or "(the reply was empty)")
        self.facts.setText(facts(reply.call))

    def _show_prompt(self) -> None:
        if self.tabs.currentIndex() != 1:
            return
        if self._detail is None:
            self._show_sent((None, ""))
            return
        self.sure.setText("Assembling the prompt…")
        self._session.ask_later(self._show_sent, _sent, self._detail.line.id)

    def _show_sent(self, answer: tuple[filled_prompts.SentPrompt | None, str]) -> None:
        sent, judgement_id = answer
        if judgement_id != (self._detail.line.id if self._detail is not None else ""):
            return
        if sent is None:
            self.sure.setText(NO_PROMPT)
            self.prompt.setPlainText("")
        else:
            self.sure.setText(f"{sent.prompt}, version {sent.version}. {sent.words}")
            self.prompt.setPlainText(f"# system\n\n{sent.system_part}\n\n# user\n\n{sent.user_part}")

    def _restyle(self) -> None:
        if self._detail is not None:
            self.made.setHtml(made_of(self._detail))


def _sent(project: Project, judgement_id: str) -> tuple[filled_prompts.SentPrompt | None, str]:
    return filled_prompts.sent(project, judgement_id), judgement_id


def _named(reply: Reply) -> str:
    read = " · the verdict was read from it" if reply.own else ""
    came = (
        ""
        if reply.call.status == "ok"
        else f" · {STATUS_WORDS.get(reply.call.status, reply.call.status).lower()}"
    )
    return f"{when(reply.at)}{came}{read}"


def pretty(raw: str) -> str:
    """A JSON reply, indented; any other unchanged."""
    try:
        tree = json.loads(raw)
    except ValueError:
        return raw
    return json.dumps(tree, ensure_ascii=False, indent=2) if isinstance(tree, dict | list) else raw


def facts(call: Call) -> str:
    """The settings and the usage of a call; values the server did not report are called unknown."""
    requested = f"asked {call.requested_model or 'an unnamed model'}"
    other = call.returned_model and call.returned_model != call.requested_model
    came = f", answered as {call.returned_model}" if other else ""
    tokens = " in, ".join(
        "unknown" if n is None else f"{n:,}" for n in (call.tokens_input, call.tokens_output)
    )
    more = [f"{call.tokens_cached:,} of it cached"] if call.tokens_cached else []
    more += [f"{call.tokens_reasoning:,} for reasoning"] if call.tokens_reasoning else []
    parts = [
        requested + came,
        f"tokens {tokens} out{''.join(f', {one}' for one in more)}",
        f"cost {spent(call.bill_usd, 1)}",
        lasting(call.latency_s) if call.latency_s is not None else "",
        f"{call.attempts} attempts" if call.attempts > 1 else "1 attempt",
        "asked to repair it" if call.repaired else "",
        f"ended by {call.finish_reason}" if call.finish_reason else "",
        f"sent {call.parameters}" if call.parameters != "{}" else "",
        f"fingerprint {call.fingerprint}" if call.fingerprint else "",
        call.cause,
    ]
    return " · ".join(part for part in parts if part)


def made_of(detail: JudgementDetail) -> str:
    """The parsed judgement as HTML: verdict, reasons, quotation in context, flags."""
    line, muted = detail.line, theme.token("text-muted").name()
    colour = theme.token(value_look(line.protocol, line.value)[1]).name()
    where = f"item {line.item_key} · {line.system} · {title(line.protocol)}"
    where += f" · trial {line.trial}" if line.trial > 1 else ""
    parts = [
        f"<p style='color:{muted}'>{escape(where)}</p>",
        f"<h3 style='color:{colour}'>{escape(value_words(line.protocol, line.value, line.status))}</h3>",
    ]
    if line.value is None:
        parts.append(f"<p dir='auto'><b>Missing, not “no”.</b> {escape(line.cause)}</p>")
    parts.append(
        f"<p dir='auto'><b>Asked about</b> {escape(line.unit or 'a unit that is there no more')}</p>"
    )
    if detail.rationale:
        parts.append(f"<p dir='auto'><b>Why</b> {escape(detail.rationale)}</p>")
    parts += _quote(detail)
    if line.flags:
        bad = theme.token("state-unconfirmed").name()
        named = ", ".join(escape(flag_words(flag)) for flag in line.flags)
        parts.append(f"<p style='color:{bad}'><b>⚑ {named}</b></p>")
    parts.append(f"<p dir='auto' style='color:{muted}'><b>The item</b> {escape(detail.question)}</p>")
    return "".join(parts)


def _quote(detail: JudgementDetail) -> list[str]:
    if not detail.quote:
        return []
    place = "the cited page" if detail.address else "the report"
    quote = escape(detail.quote)
    if detail.quote_found is None:
        return [f"<p dir='auto'><b>Quote</b> {quote}</p>"]
    if not detail.quote_found:
        bad = theme.token("state-disagree").name()
        return [
            f"<p dir='auto'><b>Quote</b> {quote}</p>"
            f"<p style='color:{bad}'><b>✗ These words stand nowhere in {place}.</b></p>"
        ]
    good, soft = theme.token("state-agreed").name(), theme.token("mark-judge").name()
    ink = theme.token("on-mark").name()
    return [
        f"<p style='color:{good}'><b>✓ Found in {place}</b></p>"
        f"<p dir='auto'>…{escape(detail.before)}<span style='background:{soft};color:{ink}'>{quote}</span>"
        f"{escape(detail.after)}…</p>"
    ]
