"""The size of a run without asking: each question's length and its cache key."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Any, TypeVar

from pydantic import BaseModel

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Answer, Ask, Case
from annotator.judging.calls import reply_parts
from annotator.judging.calls.asking import question_key
from annotator.judging.calls.client import Endpoint, cap_of
from annotator.judging.calls.prices import tokens_in, tokens_of
from annotator.judging.calls.reply_parts import ReplyForm
from annotator.judging.messages import Prompt, load, render

R = TypeVar("R", bound=BaseModel)
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
