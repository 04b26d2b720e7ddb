"""The parts of a reply (the model's thinking, its text, the sources that a server found) and its strict parsing.

Servers send thinking in the text, between tags or channels of a dozen kinds, or in a field beside it, and sources
only beside it. A stored reply holds all three in one text: thinking in tags, the text as it came, the sources in a
block at the end. `parted` is the only place that separates them again.
"""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import islice
from typing import Any, NoReturn, TypeVar

from pydantic import BaseModel, ValidationError

from annotator.domain.common import Refusal, checked_text, checked_tree, escaped
from annotator.domain.judges.judge import Call
from annotator.domain.judges.protocol import CitedSource
from annotator.judging.messages import Messages, schema_name, strict_schema

# The parameter that requests a response format.
FORMAT = "response_format"
# Byte order marks and zero-width characters, which no JSON parser takes for whitespace.
UNSEEN = "\ufeff\u200b\u200c\u200d\u2060 \t\r\n\x0b\x0c\x85\xa0\u2028\u2029\u3000"
_NAMES = r"(?:\w{1,12}:)?(?:think(?:ing)?|thought|reason(?:ing)?|reflection|scratchpad|cot_budget_reflect)"
_TAG = re.compile(
    rf"(?i:<(?P<end>/?)(?P<name>{_NAMES})[ \t]*>|◁(?P<end_3>/?)think▷|<\|(?:begin|(?P<end_4>end))_of_thought\|>)"
    r"|\[(?P<end_2>/?)THINK\]"
)
_CODE = re.compile(
    r"^[ \t>]*(?P<fence>`{3,}|~{3,})[^`\n]*\n(?:.*\n){0,300}?[ \t>]*(?P=fence)[`~]*[ \t]*$"
    r"|(?<!`)(?P<tick>`+)(?!`)(?:(?!\n[ \t]*\n)[\s\S])*?(?<!`)(?P=tick)(?!`)",
    re.MULTILINE,
)
_TOKEN = re.compile(f"(?P<code>{_CODE.pattern})|{_TAG.pattern}", re.MULTILINE)
# Prose that mentions a tag, not a model that thinks.
_MENTIONED = re.compile(
    r"[ \t]*[.,;:!?)\"'”’»/]|[ \t]+(?:(?:start|end|opening|closing)?[ \t]?(?:tags?|tokens?|blocks?|elements?|markers?"
    r"|delimiters?|sections?)|and|or|to|is|are|was|were|then|before|after|which|that|when)\b"
)
_FINAL = re.compile(
    r"(?:<\|end\|>)?(?:<\|start\|>\w+)?<\|channel\|>\s*final\b[^<]*(?:<\|constrain\|>[^<]*)?<\|message\|>"
    r"|(?<=[.!?…\s])assistantfinal(?=\S)"
)
_CHANNEL = re.compile(
    r"\s*(?:<\|start\|>\w+)?(?:<\|channel\|>\s*)?(?:analysis|commentary)\b[^<]*<\|message\|>|analysis(?=[A-Z])"
)
_CHANNEL_END = re.compile(r"<\|(?:return|end|call)\|>")
_SPOKEN = "assistantfinal"
_CLOSING = "</sources-beside>"
_SOURCES = re.compile(r"\n\n<sources-beside>\n(\[.*\])\n</sources-beside>\Z")
_MARKER = re.compile(r"\[(\d{1,3})\]")
# Fields that a server may send beside the text: sources, also beside the message, and thinking.
_LISTED = ("citations", "search_results", "annotations")
_THOUGHTS = ("reasoning_content", "reasoning", "thinking")
_BESIDE = (*_LISTED, *_THOUGHTS, "reasoning_details")
_MARKS = ("<", "THINK]", "◁", _SPOKEN)
_LONGEST_TITLE, _LONGEST_URL, _MOST_SOURCES = 300, 2_000, 500
# No reply has as many tags of thinking; searching for the ends of more takes too long.
_MOST_TAGS = 200


@dataclass(frozen=True, slots=True)
class ReplyParts:
    """Thinking, text and sources of a reply. `before` is the text before an end of thinking that has no beginning."""

    text: str
    thinking: str = ""
    sources: tuple[CitedSource, ...] = ()
    before: str = ""


def parted(content: str) -> ReplyParts:
    """The parts of a reply. Tags quoted in code, in JSON or in prose are text; all others delimit thinking."""
    text, sources = _apart(content)
    spans, before = _thoughts(text) if any(mark in text for mark in _MARKS) else ([], "")
    thinking = "\n\n".join(text[start:end].strip() for start, end in spans)
    places = [0, *(place for span in spans for place in span), len(text)]
    visible = "".join(text[start:end] for start, end in zip(places[::2], places[1::2], strict=True))
    return ReplyParts(visible.strip(UNSEEN), thinking, sources, before)


def _apart(content: str) -> tuple[str, tuple[CitedSource, ...]]:
    """A stored reply without its block of sources, and these; a model's own block that looks like one is text."""
    result = _SOURCES.search(content) if content.endswith(_CLOSING) else None
    try:
        sources = tuple(CitedSource(*load) for load in json.loads(result[1])) if result else ()
    except (ValueError, TypeError, RecursionError):
        return content, ()
    if not result or not all(map(_is_source, sources)):
        return content, ()
    return content[: result.start()], sources


def _is_source(one: CitedSource) -> bool:
    known = one.number is None or type(one.number) is int
    return known and isinstance(one.title, str) and _source(one._asdict()) == (one.url, one.title)


def _thoughts(text: str) -> tuple[list[tuple[int, int]], str]:
    """The spans of thinking in a text, and the text before an end of thinking that has no beginning."""
    code = [result.span() for result in _CODE.finditer(text)] if _FINAL.search(text) else []
    final = [
        result
        for result in _FINAL.finditer(text)
        if not any(start <= result.start() < end for start, end in code)
        and (result[0] != _SPOKEN or text.startswith("analysis"))
    ]
    if final:
        end = _CHANNEL_END.search(text, final[-1].end())
        return [(0, final[-1].end()), *([(end.start(), len(text))] if end else [])], ""
    count = sum(1 for _ in islice(_TAG.finditer(text), _MOST_TAGS))
    if _CHANNEL.match(text) or count == _MOST_TAGS:
        return [(0, len(text))], ""
    return _tagged(text) if count else ([], "")


def _tagged(text: str) -> tuple[list[tuple[int, int]], str]:
    spans, at, open_words, before = list[tuple[int, int]](), 0, 0, ""
    while not (at == (spans[-1][1] if spans else 0) and _json(text[at:])) and (
        token := _TOKEN.search(text, at)
    ):
        at = token.end()
        if token["code"] is not None:
            continue
        if _opens(token):
            end = 0 if _mentioned(text, token) else _end_of(text, token)
            if end:
                spans.append((token.start(), at := end))
            else:
                open_words += 1
        elif open_words or _mentioned(text, token):
            open_words = max(0, open_words - 1)
        elif text[at:].strip(UNSEEN) or not spans:
            spans, before = [(0, at)], text[: token.start()]
        else:
            spans.append(token.span())
    return spans, before


def _json(text: str) -> bool:
    text = text.strip(UNSEEN)
    try:
        return text[:1] == "{" and isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


def _opens(tag: re.Match[str]) -> bool:
    return not any(tag[name] for name in ("end", "end_2", "end_3", "end_4"))


def _mentioned(text: str, tag: re.Match[str]) -> bool:
    line = text[text.rfind("\n", 0, tag.start()) + 1 : tag.start()].strip(UNSEEN)
    return bool(line and (_MENTIONED.match(text, tag.end()) or line[-1] in "\"'“‘«("))


def _end_of(text: str, opening: re.Match[str]) -> int:
    """Where a span of thinking ends; 0 for an inline tag that is never closed, which is a word of the text."""
    last = 0
    for tokens in (_TOKEN, _TAG):
        depth = 1
        for tag in tokens.finditer(text, opening.end()):
            if tokens is _TOKEN and tag["code"] is not None:
                continue
            depth += 1 if _opens(tag) else -1
            last = last if _opens(tag) else tag.end()
            if not depth:
                return last
        if last:
            return last
    begins = not text[: opening.start()].strip(UNSEEN)
    alone = re.search(r"(?:\A|\n)[ \t]*\Z", text[: opening.start()]) and re.match(
        r"[ \t]*(?:\n|\Z)", text[opening.end() :]
    )
    return len(text) if begins or alone else 0


def composed(tree: Mapping[str, Any], message: Mapping[str, Any]) -> str:
    """The content of a server's message as it is stored."""
    parts = message.get("content")
    if isinstance(parts, str) and not any(map(message.get, _BESIDE)) and not any(map(tree.get, _LISTED)):
        return parts
    pieces = parts if isinstance(parts, list) else [{"text": parts}]
    thoughts = [
        part for part in pieces if isinstance(part, dict) and part.get("type") in ("thinking", "reasoning")
    ]
    text = "".join(_texts([part for part in pieces if part not in thoughts]))
    named = (message.get(name) for name in _THOUGHTS)
    beside = dict.fromkeys("".join(_texts(one)) for one in (*named, thoughts))
    if not any(beside):
        beside = dict.fromkeys(["".join(_texts(message.get("reasoning_details")))])
    thinking = "\n\n".join(filter(None, beside))
    # No tag within the thinking may end it.
    thinking = _TAG.sub(lambda tag: tag[0].replace("<", "‹").replace("[", "［").replace("◁", "‹"), thinking)
    sources = _sources(tree, message, text)
    block = (
        f"\n\n<sources-beside>\n{json.dumps(sources, ensure_ascii=False)}\n</sources-beside>"
        if sources
        else ""
    )
    return (f"<think>\n{thinking}\n</think>\n" if thinking.strip() else "") + text + block


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    for part in value if isinstance(value, list) else [value]:
        for name in ("text", "summary", "thinking") if isinstance(part, dict) else ():
            yield from _texts(part.get(name))


def _sources(
    tree: Mapping[str, Any], message: Mapping[str, Any], text: str
) -> list[tuple[int | None, str, str]]:
    """The sources beside a reply as (number, title, address), numbered as the markers in the text refer to them."""

    def listed(name: str) -> list[Any]:
        result = next((one for one in (tree.get(name), message.get(name)) if isinstance(one, list)), [])
        return result[:_MOST_SOURCES]

    titles = dict(
        reversed([(url, title) for url, title in map(_source, listed("search_results")) if url and title])
    )
    listing = listed("citations") or listed("search_results")
    result: list[tuple[int | None, str, str]] = [
        (number, *_source(one)) for number, one in enumerate(listing, 1)
    ]
    if not any(url for _, url, _ in result):
        result = _annotated(listed("annotations"), text)
    return [(number, title or titles.get(url, ""), url) for number, url, title in result if url]


def _annotated(annotations: list[Any], text: str) -> list[tuple[int | None, str, str]]:
    """Each address of the annotations in the text once: by the number at its place, else by its place in the list.

    If the text refers to more sources than there are, the assignment is unknown: they have no numbers then.
    """
    markers: dict[str, tuple[int | None, str]] = {}
    for annotation in annotations:
        inner = annotation.get("url_citation", annotation) if isinstance(annotation, dict) else None
        url, title = _source(inner)
        if url and isinstance(inner, dict):
            start, end = inner.get("start_index"), inner.get("end_index")
            whole = type(start) is int and type(end) is int
            marker = _MARKER.fullmatch(text[start:end].strip()) if whole else None
            number, before = markers.get(url, (None, ""))
            markers[url] = number or (int(marker[1]) if marker else None), before or title
    if any(number for number, _ in markers.values()):
        return sorted(
            ((number, url, title) for url, (number, title) in markers.items()),
            key=lambda one: one[0] or 1_000,
        )
    known = all(int(marker) <= len(markers) for marker in _MARKER.findall(text))
    return [
        (place if known else None, url, title) for place, (url, (_, title)) in enumerate(markers.items(), 1)
    ]


def _source(one: Any) -> tuple[str, str]:
    """The address and title of a source, in one line each; empty if there is none fit to be stored."""
    given = one if isinstance(one, dict) else {"url": one}
    url = next(
        (given[name] for name in ("url", "link", "uri") if isinstance(given.get(name), str)), ""
    ).strip()
    title = given.get("title")
    try:
        fits = re.fullmatch(r"https?://\S+", checked_text(url)) and len(url) <= _LONGEST_URL
    except ValueError:
        fits = None
    if not fits:
        return "", ""
    return url, escaped(" ".join(title.split())[:_LONGEST_TITLE]) if isinstance(title, str) else ""


STRIKES = 3
YES_NO = (
    "Reply in plain text. The first line must be yes or no, in exactly those letters, and nothing else; on the next "
    "line, give your reason in one or two sentences."
)
AGAIN = "Give the same decision again."
_QUOTED = 4_000


class ReplyForm(StrEnum):
    """A response format, from the strictest down."""

    SCHEMA = "json_schema"
    OBJECT = "json_object"
    TEXT = "text"


_ORDER = list(ReplyForm)


def below(rung: ReplyForm) -> ReplyForm | None:
    """The next rung down; None at the bottom."""
    place = _ORDER.index(rung) + 1
    return _ORDER[place] if place < len(_ORDER) else None


@dataclass
class ResponseFormats:
    """The response formats that one endpoint and model have shown they can produce; shared by all calls to them."""

    top: ReplyForm = ReplyForm.SCHEMA
    accepted: set[ReplyForm] = field(default_factory=set)
    read: set[ReplyForm] = field(default_factory=set)
    strikes: int = 0

    def answered(self, rung: ReplyForm) -> None:
        """Record an answer on this rung: the rungs above that have no answer yet are given up."""
        self.accepted.add(rung)
        if _ORDER.index(rung) > _ORDER.index(self.top) and self.top not in self.accepted:
            self.top = rung

    def rejected(self, rung: ReplyForm) -> ReplyForm | None:
        """The rung to try after the server rejected this one by name; None if there is none."""
        if rung is self.top:
            self.top = below(rung) or rung
        return below(rung)

    def doubtful(self, rung: ReplyForm) -> bool:
        """Whether the format may have caused an unexplained failure on this rung."""
        return rung not in self.accepted and below(rung) is not None

    def parsed(self, rung: ReplyForm, *, well: bool) -> None:
        """Record whether a reply was readable. Some servers accept a schema and ignore it: after three faults, a rung
        down.
        """
        if well:
            self.read.add(rung)
            self.strikes = 0
        elif rung is self.top and rung not in self.read:
            self.strikes += 1
            if self.strikes >= STRIKES:
                self.top, self.strikes = below(rung) or rung, 0


@lru_cache(maxsize=64)
def response_format(reply: type[BaseModel], rung: ReplyForm) -> dict[str, Any] | None:
    """The request's response_format on a rung; None if none is sent."""
    if rung is ReplyForm.SCHEMA:
        form = {"name": schema_name(reply), "strict": True, "schema": strict_schema(reply)}
        return {"type": "json_schema", "json_schema": form}
    return {"type": "json_object"} if rung is ReplyForm.OBJECT else None


def is_plain(reply: type[BaseModel]) -> bool:
    """Whether the reply is plain text by design, so that its result says nothing about JSON."""
    return bool(getattr(reply, "PLAIN", False))


def ends_at_cap(reply: type[BaseModel]) -> bool:
    """Whether a reply cut at the token limit is as intended."""
    return bool(getattr(reply, "ENDS_AT_CAP", False))


def likely_tokens(reply: type[BaseModel]) -> int:
    """The likely length of such a reply in tokens, before any has been seen; 0 if its class does not state it."""
    return int(getattr(reply, "TOKENS", 0))


def reads_text(reply: type[BaseModel], rung: ReplyForm) -> bool:
    """Whether the reply on this rung is in the class's own plain text form."""
    return rung is ReplyForm.TEXT and hasattr(reply, "from_text")


@lru_cache(maxsize=64)
def in_words(reply: type[BaseModel], rung: ReplyForm) -> str:
    """The words that tell the model the form, for servers that are not trusted to enforce it."""
    if reads_text(reply, rung):
        return str(getattr(reply, "TEXT_FORM", YES_NO))
    schema = json.dumps(strict_schema(reply), ensure_ascii=False)
    return f"Reply with one JSON object and nothing else, without a code fence. It must fit this JSON Schema: {schema}"


def with_form(messages: Messages, reply: type[BaseModel], rung: ReplyForm) -> Messages:
    """The messages with the form stated in words, unless a schema is sent along."""
    if rung is ReplyForm.SCHEMA:
        return messages
    first, *rest = messages
    return [{**first, "content": f"{first['content']}\n\n{in_words(reply, rung)}"}, *rest]


def repair(messages: Messages, content: str, fault: str, reply: type[BaseModel], rung: ReplyForm) -> Messages:
    again = getattr(reply, "AGAIN", AGAIN)
    return [
        *messages,
        {"role": "assistant", "content": escaped(content[:_QUOTED]) or "(nothing)"},
        {
            "role": "user",
            "content": f"Your reply could not be read: {fault}. {again} {in_words(reply, rung)}",
        },
    ]


# Strict parsing of a reply: whole and without guessing; anything else is invalid, with the cause.

LONGEST = 200_000
_FENCED = re.compile(r"\A```(?:json|JSON)?[ \t]*\n(.*)\n[ \t]*```\Z", re.DOTALL)


R = TypeVar("R", bound=BaseModel)


class UnreadableReply(ValueError):
    """A reply that is no valid answer, with the cause in words."""


def parse(content: str, reply: type[R], rung: ReplyForm) -> R:
    """The reply that a content holds, in the form requested on this rung; raises UnreadableReply otherwise.

    JSON counts only if it is the whole content or the whole of one fence around it: a verdict quoted in prose is not
    a verdict. Thinking does not count, and sources beside the text count for classes that list its references.
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
    """The reply in a finished call, parsed in the form it was requested in; raises UnreadableReply if there is none."""
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
