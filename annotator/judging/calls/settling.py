"""One question asked until its reply can be read, or until there is a cause why not."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel

from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.judging.calls import ladder
from annotator.judging.calls.ladder import ReplyForm
from annotator.judging.calls.noting import CallNotes, CallTrail
from annotator.judging.calls.outcome import CallOutcome, CallTrouble
from annotator.judging.calls.parameters import CAPS, FORMAT
from annotator.judging.calls.replies import UnreadableReply, parse
from annotator.judging.calls.reply_parts import parted
from annotator.judging.calls.sending import Sender, SentCall
from annotator.judging.prompts.messages import Messages, Prompt

DOUBTFUL_TRIES = 2
LARGER = 4
LARGER_AT_LEAST = 4_096
_UNEXPLAINED = {
    (CallTrouble.REJECTED, 400),
    (CallTrouble.REJECTED, 422),
    (CallTrouble.SERVER, 500),
    (CallTrouble.SERVER, 501),
}


@dataclass(frozen=True, slots=True)
class KeyedQuestion:
    """A question, the class its answer must fit, and its cache key."""

    prompt: Prompt
    messages: Messages
    reply: type[BaseModel]
    key: str
    judge_id: str
    run_id: str | None = None


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A finished call with its parsed reply, or with the fault that prevented it."""

    call: Call
    outcome: CallOutcome
    reply: Any = None
    fault: str = ""


class QuestionSettling:
    """One question asked in ever simpler formats; every finished call is handed to `keep`."""

    def __init__(
        self,
        question: KeyedQuestion,
        sender: Sender,
        keep: Callable[[Call], None],
        notes: CallNotes | None = None,
        went: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._question = question
        self._sender = sender
        self._notes, self._went = notes, went
        self._steps = sender.ladder
        self._keep = keep
        self._plain = ladder.is_plain(question.reply)

    async def settle(self) -> ReadReply:
        """Ask; a cut reply is asked for again with a larger cap, an unreadable one in the right form, once each."""
        parameters = self._sender.client.endpoint.parameters
        reading = await self._request(parameters)
        if reading.call.status is Status.TRUNCATED:
            larger = _larger(parameters, reading)
            if not set(larger) & self._sender.learned.dropped:
                reading = await self._request(parameters := larger)
        if reading.call.status is Status.INVALID:
            reading = await self._request(parameters, unread=reading)
        return reading

    async def _request(self, parameters: Mapping[str, Any], unread: ReadReply | None = None) -> ReadReply:
        trail = self._trail(repaired=unread is not None)
        sent, rung, attempts = await self._descend(parameters, unread, trail)
        outcome, found, fault = sent.outcome, None, ""
        if outcome.trouble is CallTrouble.TRUNCATED and ladder.ends_at_cap(self._question.reply):
            outcome = replace(outcome, trouble=CallTrouble.NONE, message="")
        if outcome.trouble is CallTrouble.NONE:
            try:
                found = parse(outcome.content, self._question.reply, rung)
            except UnreadableReply as error:
                fault = str(error)
            if not self._plain:
                self._steps.parsed(rung, well=not fault)
        told = {**sent.parameters, FORMAT: rung.value}
        call = trail.call(outcome, fault, told, attempts=attempts, cost_usd=sent.cost_usd)
        if call.status is not Status.OK and outcome.answered:
            self._sender.limits.breaker.unread()
        trail.came(call)
        self._keep(call)
        return ReadReply(call, outcome, found, fault)

    def _trail(self, *, repaired: bool) -> CallTrail:
        question = self._question
        trail = CallTrail(
            self._notes,
            run_id=question.run_id,
            judge_id=question.judge_id,
            cache_key=question.key,
            requested_model=self._sender.client.endpoint.model,
            prompt_sha256=question.prompt.sha256,
            repaired=repaired,
        )
        trail.went = self._went
        return trail

    async def _descend(
        self, parameters: Mapping[str, Any], unread: ReadReply | None, trail: CallTrail
    ) -> tuple[SentCall, ReplyForm, int]:
        """Send on the highest rung that holds, one down for each the server turns down or seems to stumble over."""
        rung, attempts = ReplyForm.TEXT if self._plain else self._steps.top, 0
        while True:
            doubtful = self._steps.doubtful(rung)
            form = ladder.response_format(self._question.reply, rung)
            messages = self._messages(rung, unread)
            tries = DOUBTFUL_TRIES if doubtful else 0
            likely = ladder.likely_tokens(self._question.reply)
            sent = await self._sender.send(messages, form, parameters, tries, likely, trail)
            attempts += sent.attempts
            lower = None
            if sent.form_rejected:
                lower = self._steps.rejected(rung)
            elif doubtful and (sent.outcome.trouble, sent.outcome.http) in _UNEXPLAINED:
                lower = ladder.below(rung)
            if lower is None:
                break
            rung = lower
        if sent.outcome.trouble in (CallTrouble.NONE, CallTrouble.TRUNCATED) and not self._plain:
            self._steps.answered(rung)
        return sent, rung, attempts

    def _messages(self, rung: ReplyForm, unread: ReadReply | None) -> Messages:
        reply = self._question.reply
        messages = ladder.asked_for(self._question.messages, reply, rung)
        if unread is None:
            return messages
        return ladder.repair(messages, parted(unread.outcome.content).text, unread.fault, reply, rung)


def _larger(parameters: Mapping[str, Any], cut: ReadReply) -> dict[str, Any]:
    """The parameters with a larger cap than a reply was cut at, by the name under which the endpoint took it."""
    sent = json.loads(cut.call.parameters)
    name = next((cap for tree in (parameters, sent) for cap in CAPS if cap in tree), CAPS[-1])
    cap = parameters.get(name, sent.get(name, cut.outcome.usage.output))
    return {**parameters, name: max(LARGER_AT_LEAST, LARGER * cap if isinstance(cap, int) else 0)}
