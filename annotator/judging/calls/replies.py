"""Strict reading of a reply: whole and without guessing; what does not fit is invalid, with the cause."""

import json
import re
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from annotator.domain.judges.judge import Call
from annotator.domain.texts.canonical import checked_text, checked_tree
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.client import FORMAT
from annotator.judging.calls.reply_parts import UNSEEN, ReplyForm, is_plain, parted, reads_text

LONGEST = 200_000
_FENCED = re.compile(r"\A```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)


R = TypeVar("R", bound=BaseModel)


class UnreadableReply(ValueError):
    """A reply that is no valid answer, with the cause in words."""


def parse(content: str, reply: type[R], rung: ReplyForm) -> R:
    """The reply a content holds, in the form asked for on this rung; raises UnreadableReply otherwise.

    JSON counts only when it is the whole content or the whole of one fence around it: a verdict quoted in
    prose is not a verdict. Thinking is none of it, and sources beside it count for what lists its references.
    """
    parts = parted(content)
    if not parts.text:
        raise UnreadableReply("the reply is only thinking" if parts.thinking else "the reply is empty")
    if len(parts.text) > getattr(reply, "LONGEST", LONGEST):
        raise UnreadableReply(
            f"the reply is too long to be what was asked for ({len(parts.text):,} characters)"
        )
    if parts.before and not is_plain(reply) and _reads(parts.before.strip(UNSEEN), reply, rung):
        raise UnreadableReply("the thinking is not separated from the answer")
    read = _read(parts.text, reply, rung)
    return read.with_sources(parts.sources) if parts.sources and hasattr(read, "with_sources") else read


def _reads(text: str, reply: type[R], rung: ReplyForm) -> bool:
    try:
        return bool(text) and _read(text, reply, rung) is not None
    except UnreadableReply:
        return False


def _read(text: str, reply: type[R], rung: ReplyForm) -> R:
    result: R = _from_text(text, reply) if reads_text(reply, rung) else _from_json(text, reply)
    return result


def reread(call: Call, reply: type[R]) -> R:
    """The reply in a finished call, in the form it was asked for in; raises UnreadableReply where there is none."""
    return parse(call.raw, reply, ReplyForm(json.loads(call.parameters).get(FORMAT, ReplyForm.TEXT)))


def _from_text(text: str, reply: Any) -> Any:
    try:
        return reply.from_text(checked_text(text))
    except ValidationError as error:
        raise UnreadableReply(_first_fault(error)) from None
    except ValueError as error:
        raise UnreadableReply(str(error)) from None


def _from_json(text: str, reply: type[R]) -> R:
    fenced = _FENCED.match(text)
    text = fenced[1].strip(UNSEEN) if fenced else text
    try:
        tree = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        checked_tree(tree)
    except Refusal as refusal:
        raise UnreadableReply(refusal.happened) from None
    except UnreadableReply:
        raise
    except (ValueError, RecursionError):
        raise UnreadableReply("the reply is not one JSON object and nothing else") from None
    if not isinstance(tree, dict):
        raise UnreadableReply("the reply is JSON, but not an object")
    try:
        return reply.model_validate_json(text, strict=True, extra="forbid")
    except ValidationError as error:
        raise UnreadableReply(_first_fault(error)) from None


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    tree = dict(pairs)
    if len(tree) != len(pairs):
        raise UnreadableReply("the reply gives the same key twice")
    return tree


def _no_constant(name: str) -> NoReturn:
    raise UnreadableReply(f"the reply holds {name}, which is not a number")


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in fault["loc"])
    return f"the reply does not fit: {place + ': ' if place else ''}{fault['msg']}"
