"""Batch answers handed to the ordinary run, and the questions that still need a batch."""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TypeVar

from pydantic import BaseModel

from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Case
from annotator.judging.batches.batch_results import DECLINED, QuestionFate
from annotator.judging.batches.batch_state import Shelf
from annotator.judging.calls.asking import Asker, CaseAsk
from annotator.judging.calls.breaker import RunHalt
from annotator.judging.calls.cache import keys_of, subjects_of
from annotator.judging.calls.replies import UnreadableReply, reread
from annotator.judging.calls.settling import KeyedQuestion

R = TypeVar("R", bound=BaseModel)


@dataclass
class Batched:
    """What came of the batches, as the ordinary run takes it: it gives each case an ask of its own.

    `live` holds the keys of the questions that the batches left over, `open` marks the cases that wait for an answer.
    With a `halt` nothing is asked live any more.
    """

    asker: Asker
    shelf: Shelf
    answered: set[str] = field(default_factory=set)
    declined: dict[str, Call] = field(default_factory=dict)
    live: set[str] = field(default_factory=set)
    open: set[int] = field(default_factory=set)
    fates: Counter[QuestionFate] = field(default_factory=Counter)
    spent_usd: float = 0.0
    halt: RunHalt | None = None

    def __call__(self, case: Case) -> "BatchedAsk":
        """The `ask` of one case."""
        return BatchedAsk(self.asker, case.trial, subjects_of(case), batched=self)

    @property
    def opened(self) -> asyncio.Event:
        """Set with the first usable answer of the endpoint."""
        return self.asker.opened

    def failing(self, case: Case) -> bool:
        """Whether the last questions came to nothing, one of them on the report or a unit of this case."""
        return self.asker.failing(case)

    def waiting_until(self) -> datetime | None:
        """The moment the endpoint may be called again, when it may not now."""
        return self.asker.waiting_until()

    def in_order(self, cases: Callable[[], Iterable[Case]]) -> Iterator[Case]:
        """All cases, those that wait for an answer last: a run that is halted has judged the others by then."""
        yield from (case for case in cases() if hash(keys_of(case)) not in self.open)
        yield from (case for case in cases() if hash(keys_of(case)) in self.open)

    def settled(self, key: str) -> bool:
        """Whether nothing more is to be sent about a question."""
        return key in self.answered or key in self.declined or key in self.live

    def heard(self, call: Call) -> None:
        """Learn of a journalled call."""
        if call.status is Status.OK:
            self.answered.add(call.cache_key)
        elif call.status in DECLINED:
            self.declined[call.cache_key] = call

    def known(self, question: KeyedQuestion) -> tuple[Call, BaseModel | None] | None:
        """The call a batch brought on a question, and the reply in it; None when it brought none to use."""
        declined = self.declined.get(question.key)
        if declined is not None:
            return declined, None
        call = self.shelf.find(question.key) if question.key in self.answered else None
        if call is None:
            return None
        try:
            return call, reread(call, question.reply)
        except UnreadableReply:
            return None


@dataclass
class BatchedAsk(CaseAsk):
    """The `Ask` of one case, answered from the batches where they brought something, and live otherwise."""

    batched: Batched | None = None

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        """Ask once; raises Halt when only asking live would help and the run must end."""
        if self.batched is not None:
            question = self._question(self.asker.prompt(prompt), fields, reply, fenced)
            answer = self._from_batch(question)
            if answer is not None:
                return replace(answer, flags=self.raised(fields, fenced))
            if self.batched.halt is not None and self.asker.cached(question.key, reply) is None:
                raise self.batched.halt
        return await super().__call__(prompt, fields, reply, fenced)

    def _from_batch(self, question: KeyedQuestion) -> Answer | None:
        known = self.batched.known(question) if self.batched else None
        if known is None:
            return None
        call, reply = known
        self._keep(call)
        return Answer(call.status, reply, call.raw, call.cause)


@dataclass
class DeferringAsk(BatchedAsk):
    """An ask that notes what is not answered yet and says that it was not asked."""

    noted: list[KeyedQuestion] = field(default_factory=list)

    def _keep(self, call: Call) -> None:
        """Nothing is used yet, whichever model gave it."""

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        """The answer where there is one; a question that hangs on one still to come is not heard of yet."""
        question = self._question(self.asker.prompt(prompt), fields, reply, fenced)
        answer = self._from_batch(question)
        if answer is not None:
            return answer
        cached = self.asker.cached(question.key, reply)
        if cached is not None:
            return Answer(Status.OK, cached[1], cached[0].raw)
        self.noted.append(question)
        return Answer(Status.SKIPPED, cause="It waits for a batch.")
