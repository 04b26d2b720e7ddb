"""Strict reading of a reply: whole and without guessing; what does not fit is invalid, with the cause."""

import json
import re
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from annotator.domain.judges.judge import Call
from annotator.domain.texts.canonical import checked_text, checked_tree
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.ladder import ReplyForm, reads_text
from annotator.judging.calls.parameters import FORMAT

LONGEST = 200_000
_THOUGHT = re.compile(
    r"\A(?:\s*<(?P<tag>think(?:ing)?|thought|reason(?:ing)?|reflection|scratchpad)>.*?</(?P=tag)>)+",
    re.DOTALL | re.IGNORECASE,
)
_FENCED = re.compile(r"\A```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)


R = TypeVar("R", bound=BaseModel)


class UnreadableReply(ValueError):
    """A reply that is no valid answer, with the cause in words."""


def parse(content: str, reply: type[R], rung: ReplyForm) -> R:
    """The reply a content holds, in the form asked for on this rung; raises Unreadable otherwise.

    JSON counts only when it is the whole content or the whole of one fence around it: a verdict quoted in
    prose is not a verdict.
    """
    thought = _THOUGHT.match(content)
    text = (content[thought.end() :] if thought else content).strip()
    if not text:
        raise UnreadableReply("the reply is empty")
    if len(text) > getattr(reply, "LONGEST", LONGEST):
        raise UnreadableReply(f"the reply is too long to be what was asked for ({len(text):,} characters)")
    return _from_text(text, reply) if reads_text(reply, rung) else _from_json(text, reply)


def reread(call: Call, reply: type[R]) -> R:
    """The reply in a finished call, in the form it was asked for in; raises Unreadable where there is none."""
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
    text = fenced[1].strip() if fenced else text
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
