"""From question to answer: stored calls first, then the endpoint; or the size of the questions without asking."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field, replace
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar
from weakref import WeakValueDictionary

from pydantic import BaseModel

from annotator.domain.common import canonical_json, sha256
from annotator.domain.judges.judge import Call, Status
from annotator.domain.judges.protocol import Answer, Ask, Case
from annotator.judging import messages as messages_module
from annotator.judging.calls import reply_parts
from annotator.judging.calls.client import CAPS, Endpoint, Sender, SentCall, cap_of
from annotator.judging.calls.limits import RunHalt
from annotator.judging.calls.noting import CallNotes, CallTrail
from annotator.judging.calls.outcome import CallOutcome, CallTrouble
from annotator.judging.calls.prices import tokens_in, tokens_of, unpriced
from annotator.judging.calls.reply_parts import FORMAT, ReplyForm, UnreadableReply, parse, parted, reread
from annotator.judging.messages import Messages, Prompt, fresh_delimiter, load, render, strict_schema

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


@dataclass(frozen=True, slots=True)
class ReadReply:
    """A finished call with its parsed reply, or with the fault that prevented it."""

    call: Call
    outcome: CallOutcome
    reply: Any = None
    fault: str = ""


class QuestionSettling:
    """One question, asked in ever simpler response formats; every finished call is passed to `keep`."""

    def __init__(
        self,
        asker: "Asker",
        question: KeyedQuestion,
        keep: Callable[[Call], None],
        went: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._asker, self._question, self._keep, self._went = asker, question, keep, went
        self._sender, self._steps = asker.sender, asker.sender.ladder
        self._plain = reply_parts.is_plain(question.reply)

    async def settle(self) -> ReadReply:
        """Ask; a truncated reply is requested again with a larger cap, an unreadable one with a reminder of the form,
        once each.
        """
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
        trail = CallTrail(
            self._asker.notes,
            self._went,
            run_id=self._asker.run_id,
            judge_id=self._asker.judge_id,
            cache_key=self._question.key,
            requested_model=self._sender.client.endpoint.model,
            prompt_sha256=self._question.prompt.sha256,
            repaired=unread is not None,
        )
        sent, rung, attempts = await self._descend(parameters, unread, trail)
        outcome, result, fault = sent.outcome, None, ""
        if outcome.trouble is CallTrouble.TRUNCATED and reply_parts.ends_at_cap(self._question.reply):
            outcome = replace(outcome, trouble=CallTrouble.NONE, message="")
        if outcome.trouble is CallTrouble.NONE:
            try:
                result = parse(outcome.content, self._question.reply, rung)
            except UnreadableReply as error:
                fault = str(error)
            if not self._plain:
                self._steps.parsed(rung, well=not fault)
        sent_with = {**sent.parameters, FORMAT: rung.value}
        call = trail.call(outcome, fault, sent_with, attempts=attempts, cost_usd=sent.cost_usd)
        if call.status is not Status.OK and outcome.answered:
            self._sender.limits.breaker.unread()
        trail.came(call)
        self._keep(call)
        return ReadReply(call, outcome, result, fault)

    async def _descend(
        self, parameters: Mapping[str, Any], unread: ReadReply | None, trail: CallTrail
    ) -> tuple[SentCall, ReplyForm, int]:
        """Send on the highest rung possible, one lower for each that the server rejects or seems to fail on."""
        rung, attempts = ReplyForm.TEXT if self._plain else self._steps.top, 0
        while True:
            doubtful = self._steps.doubtful(rung)
            form = reply_parts.response_format(self._question.reply, rung)
            messages = self._messages(rung, unread)
            tries = DOUBTFUL_TRIES if doubtful else 0
            likely = reply_parts.likely_tokens(self._question.reply)
            sent = await self._sender.send(messages, form, parameters, tries, likely, trail)
            attempts += sent.attempts
            lower = None
            if sent.form_rejected:
                lower = self._steps.rejected(rung)
            elif doubtful and (sent.outcome.trouble, sent.outcome.http) in _UNEXPLAINED:
                lower = reply_parts.below(rung)
            if lower is None:
                break
            rung = lower
        if sent.outcome.trouble in (CallTrouble.NONE, CallTrouble.TRUNCATED) and not self._plain:
            self._steps.answered(rung)
        return sent, rung, attempts

    def _messages(self, rung: ReplyForm, unread: ReadReply | None) -> Messages:
        reply = self._question.reply
        messages = reply_parts.with_form(self._question.messages, reply, rung)
        if unread is None:
            return messages
        return reply_parts.repair(messages, parted(unread.outcome.content).text, unread.fault, reply, rung)


def _larger(parameters: Mapping[str, Any], cut: ReadReply) -> dict[str, Any]:
    """The parameters with a larger cap than the one a reply was cut at, under the name that the endpoint accepted."""
    sent = json.loads(cut.call.parameters)
    name = next((cap for tree in (parameters, sent) for cap in CAPS if cap in tree), CAPS[-1])
    cap = parameters.get(name, sent.get(name, cut.outcome.usage.output))
    return {**parameters, name: max(LARGER_AT_LEAST, LARGER * cap if isinstance(cap, int) else 0)}


R = TypeVar("R", bound=BaseModel)


@dataclass
class ReplayAsk:
    """An ask that answers with the first readable of some stored calls; `read` is that call.

    A second question of the case gets no answer: only one call is stored with a judgement.
    """

    calls: Sequence[Call]
    read: Call | None = None

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        flags = messages_module.flags(tuple(fields[name] for name in fenced))
        fault = "No reply is kept."
        for call in self.calls if self.read is None else ():
            try:
                result = reread(call, reply)
            except UnreadableReply as error:
                fault = f"The reply could not be used: {error}."
                continue
            self.read = call
            return Answer(Status.OK, result, call.raw, flags=flags)
        return Answer(Status.INVALID, cause=fault, flags=flags)


Key = tuple[str, str, int]


def cache_key(
    endpoint: str,
    model: str,
    params: Mapping[str, Any],
    prompt_sha256: str,
    messages: Sequence[Mapping[str, str]],
    schema: Mapping[str, Any],
    trial: int,
) -> str:
    """The SHA-256 of everything that could change the answer; messages carry the placeholder delimiter."""
    tree = {
        "endpoint": endpoint,
        "model": model,
        "params": dict(params),
        "prompt": prompt_sha256,
        "messages": [dict(message) for message in messages],
        "schema": dict(schema),
        "trial": trial,
    }
    return sha256(canonical_json(tree))


def keys_of(case: Case) -> tuple[Key, ...]:
    """The keys of a case's judgements within a run: response, unit, trial."""
    return tuple((case.response.id, unit.id, case.trial) for unit in case.units)


def subjects_of(case: Case) -> tuple[str, ...]:
    """The subjects of a case: its report, or its item if it has none, then its units."""
    return f"{case.item.id}/{case.response.id}", *(unit.id for unit in case.units)


class CallJournal(Protocol):
    """The finished calls in a store."""

    def find(self, cache_key: str) -> Call | None:
        """The latest call of that key whose status is ok; an error is never served again."""
        ...


# Why a model, by the name it returned, may not answer; empty if it may.
Refused = Callable[[str], str]
# An answered call with its parsed reply.
Known = tuple[Call, BaseModel]
# Far more than the answers between two commits.
_AT_HAND = 2_000


class Asker:
    """An endpoint judge: gives each case its own `ask`.

    `prompts` replace the shipped ones of the same names. `refused` is called with every model that answers: the first
    that may not answer ends the run. `notes` stores each call as it goes out and comes back.
    """

    def __init__(
        self,
        sender: Sender,
        judge_id: str,
        *,
        run_id: str | None = None,
        journal: CallJournal | None = None,
        folder: Path | None = None,
        prompts: Mapping[str, Prompt] | None = None,
        refused: Refused = lambda _: "",
        notes: CallNotes | None = None,
    ) -> None:
        endpoint = sender.client.endpoint
        if sender.budget.limit_usd is not None and sender.prices.of(endpoint.model) is None:
            raise unpriced(endpoint.model)
        self.sender, self.limits = sender, sender.limits
        self.judge_id, self.run_id = judge_id, run_id
        self.refused, self.notes = refused, notes
        self._journal, self._folder = journal, folder
        self._prompts = dict(prompts or {})
        self._turns = WeakValueDictionary[str, asyncio.Lock]()
        self._lately: dict[str, Known] = {}

    def __call__(self, case: Case) -> "CaseAsk":
        return CaseAsk(self, case.trial, subjects_of(case))

    async def stored(self) -> None:
        """Wait until the returned calls, on which verdicts rest, are on disk."""
        if self.notes is not None:
            await self.notes.flush()

    def failing(self, case: Case) -> bool:
        """Whether the latest questions failed, at least one of them about the report or a unit of this case."""
        return not self.limits.breaker.failing.isdisjoint(subjects_of(case))

    def prompt(self, name: str) -> Prompt:
        """A prompt as it was when this run first used it."""
        if name not in self._prompts:
            self._prompts[name] = load(name, self._folder)
        return self._prompts[name]

    def cached(self, key: str, reply: type[BaseModel]) -> Known | None:
        """A call that answers the same question, shared or journalled, with its parsed reply; None if there is none."""
        if key in self._lately:
            return self._lately[key]
        call = self._journal.find(key) if self._journal else None
        if call is None or call.status is not Status.OK or self.refused(call.returned_model):
            return None
        try:
            return call, reread(call, reply)
        except UnreadableReply:
            return None

    def journalled(self, call: Call) -> tuple[Call, str]:
        """A call as it is journalled, and why the run must end, empty if it need not. The reply of a refused model is
        not used.
        """
        why = self.refused(call.returned_model)
        return (call.model_copy(update={"status": Status.SKIPPED, "cause": why}) if why else call), why

    def turn(self, key: str) -> AbstractAsyncContextManager[Any]:
        """The turn of a case to ask a question: others with the same one then find the answer to it."""
        return nullcontext() if self._journal is None else self._turns.setdefault(key, asyncio.Lock())

    def share(self, key: str, known: Known) -> None:
        """Hold an answer for other cases with the same question, until it is surely journalled."""
        if self._journal is not None:
            self._lately[key] = known
        if len(self._lately) > _AT_HAND:
            del self._lately[next(iter(self._lately))]


@dataclass
class CaseAsk:
    """The `Ask` of one case, and its record: calls made, calls reused, flags raised."""

    asker: Asker
    trial: int = 1
    subjects: tuple[str, ...] = ("",)
    calls: list[Call] = field(default_factory=list)
    reused: list[Call] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    call_id: str | None = None
    asking_since: float | None = None
    """When a request of the case went out (monotonic seconds); None while there is none."""
    _out: int = 0

    def went(self, by: int) -> None:
        self._out += by
        self.asking_since = (self.asking_since or time.monotonic()) if self._out else None

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        """Ask once; a failure is in the answer's status and cause. Raises RunHalt if the run must end."""
        flags = self.raised(fields, fenced)
        question = self._question(self.asker.prompt(prompt), fields, reply, fenced)
        limits = self.asker.limits
        async with self.asker.turn(question.key):
            known = self.asker.cached(question.key, reply)
            if known is not None:
                call, result = known
                self.reused.append(call)
                self.call_id = call.id
                limits.opened.set()
                return Answer(Status.OK, result, call.raw, flags=flags)
            async with limits.question() as number:
                reading = await QuestionSettling(self.asker, question, self._keep, self.went).settle()
                call = reading.call
                if call.status is Status.OK:
                    self.asker.share(question.key, (call, reading.reply))
                limits.settled(number, call.status, reading.outcome.http, call.cause, self.subjects)
        return Answer(call.status, reading.reply, call.raw, call.cause, flags)

    def raised(self, fields: Mapping[str, str], fenced: Sequence[str]) -> tuple[str, ...]:
        """The flags that the fenced text of a question raises; they are added to the case's."""
        flags = messages_module.flags(tuple(fields[name] for name in fenced))
        self.flags.update(flags)
        return flags

    def _keep(self, call: Call) -> None:
        stored, why = self.asker.journalled(call)
        self.calls.append(stored)
        self.call_id = call.id
        if why:
            raise RunHalt(why)

    def _question(
        self, prompt: Prompt, fields: Mapping[str, str], reply: type[BaseModel], fenced: Sequence[str]
    ) -> KeyedQuestion:
        key = question_key(self.asker.sender.client.endpoint, prompt, fields, reply, fenced, self.trial)
        messages = render(prompt, fields, fenced, fresh_delimiter())
        return KeyedQuestion(prompt, messages, reply, key)


def question_key(
    endpoint: Endpoint,
    prompt: Prompt,
    fields: Mapping[str, str],
    reply: type[BaseModel],
    fenced: Sequence[str],
    trial: int,
) -> str:
    """The cache key of a question to an endpoint, whatever the delimiter of its fences."""
    return cache_key(
        endpoint.base_url,
        endpoint.model,
        endpoint.parameters,
        prompt.sha256,
        render(prompt, fields, fenced),
        strict_schema(reply),
        trial,
    )


# The size of a run without asking: each question's length and its cache key.

Judge = Callable[[Case, Ask], Awaitable[Any]]
_prompt = lru_cache(maxsize=64)(load)


@dataclass(frozen=True, slots=True)
class WeighedQuestion:
    """A question that was not asked: its key, its approximate tokens, and the class and cap of its reply.

    `tokens` include the words that request the response format the endpoint is known to take; `more` are those of
    another format.
    """

    key: str
    tokens: int
    more: int
    reply: type[BaseModel]
    cap: int | None

    def likely(self, output_tokens: int) -> tuple[int, int]:
        """The maximum likely tokens of the question and of its reply, if replies are limited to `output_tokens` by
        default.
        """
        output = reply_parts.likely_tokens(self.reply) or output_tokens
        return self.tokens + self.more, output if self.cap is None else min(self.cap, output)


@dataclass(frozen=True, slots=True)
class CollectedQuestion:
    prompt: str
    fields: Mapping[str, str]
    reply: type[BaseModel]
    fenced: Sequence[str]


@dataclass
class CollectingAsk:
    """An `Ask` that only collects the questions, except those that depend on an answer.

    If it is `assuming`, a reply class may state by `assumed` which answer to continue with; the questions after it are
    then included.
    """

    assuming: bool = False
    questions: list[CollectedQuestion] = field(default_factory=list)

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        self.questions.append(CollectedQuestion(prompt, fields, reply, fenced))
        assumed = getattr(reply, "assumed", None) if self.assuming else None
        if assumed is not None:
            return Answer(Status.OK, assumed(fields))
        return Answer(Status.SKIPPED, cause="It was not asked.")


async def weighed(
    judge: Judge,
    case: Case,
    endpoint: Endpoint,
    prompts: Mapping[str, Prompt] = MappingProxyType({}),
    form: str = "",
) -> list[WeighedQuestion]:
    """The questions that a judge would ask an endpoint about a case, as `CollectingAsk` collects them, assuming.

    `prompts` replace the shipped ones of the same names; `form` is the response format of the endpoint, if known.
    """
    ask, top = CollectingAsk(assuming=True), ReplyForm(form or ReplyForm.SCHEMA)
    await judge(case, ask)
    return [
        _weighed(
            question, endpoint, prompts.get(question.prompt) or _prompt(question.prompt), top, case.trial
        )
        for question in ask.questions
    ]


def _weighed(
    question: CollectedQuestion, endpoint: Endpoint, prompt: Prompt, top: ReplyForm, trial: int
) -> WeighedQuestion:
    fields, reply, fenced = question.fields, question.reply, question.fenced
    key = question_key(endpoint, prompt, fields, reply, fenced, trial)
    form = ReplyForm.TEXT if reply_parts.is_plain(reply) else top
    tokens = tokens_of(reply_parts.with_form(render(prompt, fields, fenced), reply, form))
    more = tokens_in(reply_parts.in_words(reply, ReplyForm.OBJECT)) if form is ReplyForm.SCHEMA else 0
    return WeighedQuestion(key, tokens, more, reply, cap_of(endpoint.parameters))
