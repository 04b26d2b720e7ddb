"""From question to answer: stored calls first, then the endpoint, with a record of every call."""

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Case
from annotator.judging.calls.breaker import RunHalt
from annotator.judging.calls.cache import CallJournal, cache_key, subjects_of
from annotator.judging.calls.client import Endpoint
from annotator.judging.calls.noting import CallNotes
from annotator.judging.calls.prices import unpriced
from annotator.judging.calls.replies import UnreadableReply, reread
from annotator.judging.calls.sending import Sender
from annotator.judging.calls.settling import KeyedQuestion, QuestionSettling
from annotator.judging.prompts import injection
from annotator.judging.prompts.messages import Prompt, fresh_delimiter, load, render
from annotator.judging.prompts.schema import strict_schema

R = TypeVar("R", bound=BaseModel)
Refused = Callable[[str], str]
"""Why a model that answers, by the name it gives, may not; empty when it may."""
Known = tuple[Call, BaseModel]
"""An answered call, and the reply read from it."""
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
        """The `ask` of one case."""
        return CaseAsk(self, case.trial, subjects_of(case))

    async def stored(self) -> None:
        """Wait until the calls that came back are on disk."""
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

    def kept(self, call: Call) -> tuple[Call, str]:
        """A call as it is journalled, and why the run must end: of a model that may not answer, none is used."""
        why = self.refused(call.returned_model)
        return (call.model_copy(update={"status": Status.SKIPPED, "cause": why}) if why else call), why

    async def elsewhere(self, key: str) -> Known | None:
        """What comes of the same question where another case has just put it; None when none has, or nothing comes."""
        while key in self._put:
            coming = self._put[key]
            await asyncio.wait({coming})
            found = coming.result()
            if found is not None:
                return found
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
                self._forget_the_oldest()
            else:
                self._put.pop(key, None)
                coming.set_result(None)

    def _forget_the_oldest(self) -> None:
        """An answer is at hand here until the journal surely has it."""
        while len(self._put) > _AT_HAND and next(iter(self._put.values())).done():
            del self._put[next(iter(self._put))]


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
        """Count its requests that are out."""
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
            call, found = known
            self.reused.append(call)
            self.call_id = call.id
            self.asker.opened.set()
            return Answer(Status.OK, found, call.raw, flags=flags)
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
        flags = injection.flags(tuple(fields[name] for name in fenced))
        self.flags.update(flags)
        return flags

    def _keep(self, call: Call) -> None:
        kept, why = self.asker.kept(call)
        self.calls.append(kept)
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
