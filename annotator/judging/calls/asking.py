"""From question to answer: stored calls first, then the endpoint; or the size of what would be asked."""

import asyncio
import json
import time
from collections.abc import Awaitable, Callable, Container, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Protocol, TypeVar

from pydantic import BaseModel

from annotator.domain.judges.judge import Call, Status
from annotator.domain.judges.protocol import Answer, Ask, Case
from annotator.domain.texts.canonical import canonical_json, sha256
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
        self._plain = reply_parts.is_plain(question.reply)

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
    """The parameters with a larger cap than a reply was cut at, by the name under which the endpoint took it."""
    sent = json.loads(cut.call.parameters)
    name = next((cap for tree in (parameters, sent) for cap in CAPS if cap in tree), CAPS[-1])
    cap = parameters.get(name, sent.get(name, cut.outcome.usage.output))
    return {**parameters, name: max(LARGER_AT_LEAST, LARGER * cap if isinstance(cap, int) else 0)}


R = TypeVar("R", bound=BaseModel)


@dataclass
class ReplayAsk:
    """An ask that reads the first of some stored calls that can be read; `read` is that call.

    A case that asks a second question gets no answer to it: only one is kept with a judgement.
    """

    calls: Sequence[Call]
    read: Call | None = None
    flags: set[str] = field(default_factory=set)

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        flags = messages_module.flags(tuple(fields[name] for name in fenced))
        self.flags.update(flags)
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
    """The SHA-256 of everything that could change the answer; messages carry the stand-in delimiter."""
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
    """What names the judgements of a case within a run: response, unit, trial."""
    return tuple((case.response.id, unit.id, case.trial) for unit in case.units)


def subjects_of(case: Case) -> tuple[str, ...]:
    """What a case is about: its report, or its item where there is none, then its units."""
    return f"{case.item.id}/{case.response.id}", *(unit.id for unit in case.units)


class CallJournal(Protocol):
    """The finished calls, as a store keeps them."""

    def find(self, cache_key: str) -> Call | None:
        """The latest call of that key whose status is ok; an error is never served again."""
        ...

    def finished(self, run: str) -> Container[Key]:
        """The judgements that need not be asked for again in a run."""
        ...


# Why a model that answers, by the name it gives, may not; empty when it may.
Refused = Callable[[str], str]
# An answered call, and the reply read from it.
Known = tuple[Call, BaseModel]
# Far more than are answered between two commits.
_AT_HAND = 2_000


class Asker:
    """An endpoint judge: gives each case its own `ask`.

    `prompts` take the place of the shipped ones of their names. `fresh` passes the cache over. `delimiter` names the
    fences of each call; a run that pays for prompts may give one code for the whole run, so that a provider's prompt
    cache recognizes the same report again. `refused` is asked of every model that answers: the first that may not ends
    the run. `notes` has each call on disk as it goes out and comes back.
    """

    def __init__(
        self,
        sender: Sender,
        judge_id: str,
        *,
        run_id: str | None = None,
        journal: CallJournal | None = None,
        fresh: bool = False,
        folder: Path | None = None,
        prompts: Mapping[str, Prompt] | None = None,
        delimiter: Callable[[], str] = fresh_delimiter,
        refused: Refused = lambda _: "",
        notes: CallNotes | None = None,
    ) -> None:
        endpoint = sender.client.endpoint
        if sender.budget.limit_usd is not None and sender.prices.of(endpoint.model) is None:
            raise unpriced(endpoint.model)
        self.sender = sender
        self.judge_id, self.run_id = judge_id, run_id
        self.delimiter, self.refused, self.notes = delimiter, refused, notes
        self._journal = None if fresh else journal
        self._folder = folder
        self._prompts = dict(prompts or {})
        self._put: dict[str, asyncio.Future[Known | None]] = {}

    def __call__(self, case: Case) -> "CaseAsk":
        return CaseAsk(self, case.trial, subjects_of(case))

    async def stored(self) -> None:
        if self.notes is not None:
            await self.notes.flush()

    @property
    def opened(self) -> asyncio.Event:
        """Set with the first usable answer of the endpoint, be it a journalled one."""
        return self.sender.limits.opened

    def failing(self, case: Case) -> bool:
        """Whether the last questions came to nothing, one of them on the report or a unit of this case."""
        return not self.sender.limits.breaker.failing.isdisjoint(subjects_of(case))

    def waiting_until(self) -> datetime | None:
        """The moment the endpoint may be called again, when it may not now."""
        return self.sender.limits.waiting_until()

    def prompt(self, name: str) -> Prompt:
        """A prompt as it was when this run first used it."""
        if name not in self._prompts:
            self._prompts[name] = load(name, self._folder)
        return self._prompts[name]

    def cached(self, key: str, reply: type[BaseModel]) -> Known | None:
        """A journalled call that answers the same question, read again; None when there is none."""
        call = self._journal.find(key) if self._journal else None
        if call is None or call.status is not Status.OK or self.refused(call.returned_model):
            return None
        try:
            return call, reread(call, reply)
        except UnreadableReply:
            return None

    def journalled(self, call: Call) -> tuple[Call, str]:
        """A call as it is journalled, and why the run must end: of a model that may not answer, none is used."""
        why = self.refused(call.returned_model)
        return (call.model_copy(update={"status": Status.SKIPPED, "cause": why}) if why else call), why

    async def elsewhere(self, key: str) -> Known | None:
        """What comes of the same question where another case has just put it; None when none has, or nothing comes."""
        while key in self._put:
            coming = self._put[key]
            await asyncio.wait({coming})
            result = coming.result()
            if result is not None:
                return result
        return None

    @contextmanager
    def putting(self, key: str) -> Iterator[Callable[[Known], None]]:
        """While a question is put, callers with the same one wait; what is given is called with what came of it."""
        coming: asyncio.Future[Known | None] = asyncio.get_running_loop().create_future()
        if self._journal is not None:
            self._put[key] = coming
        try:
            yield coming.set_result
        finally:
            if coming.done():
                while len(self._put) > _AT_HAND and next(iter(self._put.values())).done():
                    del self._put[next(iter(self._put))]
            else:
                self._put.pop(key, None)
                coming.set_result(None)


@dataclass
class CaseAsk:
    """The `Ask` of one case, and what it has seen: calls made, calls reused, flags raised."""

    asker: Asker
    trial: int = 1
    subjects: tuple[str, ...] = ("",)
    calls: list[Call] = field(default_factory=list)
    reused: list[Call] = field(default_factory=list)
    flags: set[str] = field(default_factory=set)
    call_id: str | None = None
    asking_since: float | None = None
    """Since when a request of it is out; None while none is."""
    _out: int = 0

    def went(self, by: int) -> None:
        self._out += by
        self.asking_since = (self.asking_since or time.monotonic()) if self._out else None

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        """Ask once; what goes wrong is the answer's status and cause. Raises Halt when the run must end."""
        flags = self.raised(fields, fenced)
        question = self._question(self.asker.prompt(prompt), fields, reply, fenced)
        known = self.asker.cached(question.key, reply) or await self.asker.elsewhere(question.key)
        if known is not None:
            call, result = known
            self.reused.append(call)
            self.call_id = call.id
            self.asker.opened.set()
            return Answer(Status.OK, result, call.raw, flags=flags)
        limits = self.asker.sender.limits
        with self.asker.putting(question.key) as came:
            async with limits.question() as number:
                reading = await QuestionSettling(
                    question, self.asker.sender, self._keep, self.asker.notes, self.went
                ).settle()
                call = reading.call
                if call.status is Status.OK:
                    came((call, reading.reply))
                limits.settled(number, call.status, reading.outcome.http, call.cause, self.subjects)
        return Answer(call.status, reading.reply, call.raw, call.cause, flags)

    def raised(self, fields: Mapping[str, str], fenced: Sequence[str]) -> tuple[str, ...]:
        """The flags that the foreign text of a question raises; they are the case's from now on."""
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
        messages = render(prompt, fields, fenced, self.asker.delimiter())
        return KeyedQuestion(prompt, messages, reply, key, self.asker.judge_id, self.asker.run_id)


def question_key(
    endpoint: Endpoint,
    prompt: Prompt,
    fields: Mapping[str, str],
    reply: type[BaseModel],
    fenced: Sequence[str],
    trial: int,
) -> str:
    """Under what a question to an endpoint is remembered, whatever delimiter its fences have."""
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

    In the form that the endpoint is known to take, its words are among the tokens; `more` are those of another form.
    """

    key: str
    tokens: int
    more: int
    reply: type[BaseModel]
    cap: int | None

    def likely(self, output_tokens: int) -> tuple[int, int]:
        """The most tokens that it and its reply are likely to have, if a reply is told to have so many."""
        output = reply_parts.likely_tokens(self.reply) or output_tokens
        return self.tokens + self.more, output if self.cap is None else min(self.cap, output)


@dataclass
class _Weighing:
    """An ask that records the question without asking it."""

    endpoint: Endpoint
    trial: int
    prompts: Mapping[str, Prompt]
    form: ReplyForm
    noted: list[WeighedQuestion] = field(default_factory=list)

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        result = self.prompts.get(prompt) or _prompt(prompt)
        key = question_key(self.endpoint, result, fields, reply, fenced, self.trial)
        form = ReplyForm.TEXT if reply_parts.is_plain(reply) else self.form
        tokens = tokens_of(reply_parts.with_form(render(result, fields, fenced), reply, form))
        more = tokens_in(reply_parts.in_words(reply, ReplyForm.OBJECT)) if form is ReplyForm.SCHEMA else 0
        self.noted.append(WeighedQuestion(key, tokens, more, reply, cap_of(self.endpoint.parameters)))
        assumed = getattr(reply, "assumed", None)
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
    """The questions that a judge would put to an endpoint for a case; of those that hang on an answer, none.

    A reply's class may say by `assumed` which answer to go by, and the questions after it are weighed too.
    `prompts` take the place of the shipped ones of their names; `form` is that in which the endpoint answers, if known.
    """
    ask = _Weighing(endpoint, case.trial, prompts, ReplyForm(form or ReplyForm.SCHEMA))
    await judge(case, ask)
    return ask.noted
