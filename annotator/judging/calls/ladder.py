"""Reply formats, from strict to lenient: JSON by schema, JSON by words, or plain text.

A reply class is a pydantic model. On the first two rungs it is asked for as JSON. On the last it is asked for as
JSON in words too, unless it has a plain text form of its own: a class method `from_text(text) -> Self` that raises
ValueError on anything else, and a class attribute TEXT_FORM that states the form to the model (YES_NO by default).
One whose class attribute PLAIN is true is a text by nature, and never asked for as JSON; AGAIN states how it is asked
for once more, TOKENS how long it may well be, LONGEST how many characters it may have, and ENDS_AT_CAP that one cut at
the token limit is whole.
"""

import json
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any

from pydantic import BaseModel

from annotator.domain.texts.canonical import escaped
from annotator.judging.prompts.messages import Messages
from annotator.judging.prompts.schema import schema_name, strict_schema

STRIKES = 3
YES_NO = (
    "Reply in plain text. The first line must be yes or no, in exactly those letters, and nothing else; on the next "
    "line, give your reason in one or two sentences."
)
AGAIN = "Give the same decision again."
_QUOTED = 4_000


class ReplyForm(StrEnum):
    """A form of asking, from the strictest down."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TEXT = "text"


_ORDER = list(ReplyForm)


def below(rung: ReplyForm) -> ReplyForm | None:
    """The next rung down; None at the foot."""
    place = _ORDER.index(rung) + 1
    return _ORDER[place] if place < len(_ORDER) else None


@dataclass
class Ladder:
    """What one endpoint and model have shown they can do; shared by all calls to them."""

    top: ReplyForm = ReplyForm.SCHEMA
    accepted: set[ReplyForm] = field(default_factory=set)
    read: set[ReplyForm] = field(default_factory=set)
    strikes: int = 0

    def answered(self, rung: ReplyForm) -> None:
        """A model answered on this rung: those above, which it had not answered on, are given up."""
        self.accepted.add(rung)
        if _ORDER.index(rung) > _ORDER.index(self.top) and self.top not in self.accepted:
            self.top = rung

    def rejected(self, rung: ReplyForm) -> ReplyForm | None:
        """The server turned this form down by name; the rung to try instead, None when there is none."""
        if rung is self.top:
            self.top = below(rung) or rung
        return below(rung)

    def doubtful(self, rung: ReplyForm) -> bool:
        """Whether an unexplained failure on this rung may be the form's fault."""
        return rung not in self.accepted and below(rung) is not None

    def parsed(self, rung: ReplyForm, *, well: bool) -> None:
        """A reply could be read or not. Some servers take a schema and pay it no heed: three strikes, a rung down."""
        if well:
            self.read.add(rung)
            self.strikes = 0
        elif rung is self.top and rung not in self.read:
            self.strikes += 1
            if self.strikes >= STRIKES:
                self.top, self.strikes = below(rung) or rung, 0


@lru_cache(maxsize=64)
def response_format(reply: type[BaseModel], rung: ReplyForm) -> dict[str, Any] | None:
    """The request's response_format on a rung; None where none is sent."""
    if rung is ReplyForm.SCHEMA:
        form = {"name": schema_name(reply), "strict": True, "schema": strict_schema(reply)}
        return {"type": "json_schema", "json_schema": form}
    return {"type": "json_object"} if rung is ReplyForm.OBJECT else None


def is_plain(reply: type[BaseModel]) -> bool:
    """Whether the reply is a text by nature: what comes of asking for it says nothing of JSON."""
    return bool(getattr(reply, "PLAIN", False))


def ends_at_cap(reply: type[BaseModel]) -> bool:
    """Whether a reply that is cut at the token limit is as it was wanted."""
    return bool(getattr(reply, "ENDS_AT_CAP", False))


def likely_tokens(reply: type[BaseModel]) -> int:
    """How long such a reply may well be, before any has been seen; 0 where its class does not say."""
    return int(getattr(reply, "TOKENS", 0))


def reads_text(reply: type[BaseModel], rung: ReplyForm) -> bool:
    """Whether on this rung the reply comes in the class's own plain text form."""
    return rung is ReplyForm.TEXT and hasattr(reply, "from_text")


@lru_cache(maxsize=64)
def in_words(reply: type[BaseModel], rung: ReplyForm) -> str:
    """What tells the model the form in words, where the server is not trusted to enforce it."""
    if reads_text(reply, rung):
        return str(getattr(reply, "TEXT_FORM", YES_NO))
    schema = json.dumps(strict_schema(reply), ensure_ascii=False)
    return f"Reply with one JSON object and nothing else, without a code fence. It must fit this JSON Schema: {schema}"


def asked_for(messages: Messages, reply: type[BaseModel], rung: ReplyForm) -> Messages:
    """The messages with the form stated in words, except where a schema is sent along."""
    if rung is ReplyForm.SCHEMA:
        return messages
    first, *rest = messages
    return [{**first, "content": f"{first['content']}\n\n{in_words(reply, rung)}"}, *rest]


def repair(messages: Messages, content: str, fault: str, reply: type[BaseModel], rung: ReplyForm) -> Messages:
    """The one request to say the same again in the right form."""
    again = getattr(reply, "AGAIN", AGAIN)
    ask = f"Your reply could not be read: {fault}. {again} {in_words(reply, rung)}"
    return [
        *messages,
        {"role": "assistant", "content": escaped(content[:_QUOTED]) or "(nothing)"},
        {"role": "user", "content": ask},
    ]
