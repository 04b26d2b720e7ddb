"""Model replies on one unit or several of a case: their classes, parsing, and the verdicts made from them."""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import attrgetter
from typing import Any, ClassVar, Self, TypedDict, Unpack, get_args

from pydantic import BaseModel, BeforeValidator, Field

from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import Answer, Ask, Case, Material, Verdicts, missing_verdicts
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Response
from annotator.domain.texts.difference import find
from annotator.domain.texts.estimate import Estimate

QUOTE_MISSING = "quote_missing"
BARS = " || "
_IN_QUOTES = re.compile(r"[\"“„«](?P<words>[^\"”“«»]{3,})[\"”»]")


def _plain(value: object) -> object:
    return re.sub(r"[\s_]", "-", value.strip().lower()) if isinstance(value, str) else value


# A field of one word of a few: capitals, surrounding blanks and a blank or _ for its hyphen do not matter.
Word = BeforeValidator(_plain)


class ReplyTraits(TypedDict, total=False):
    """The keyword arguments of a reply's class; `judging/calls/reply_parts.py` describes each."""

    again: str
    tokens: int
    longest: int
    plain: bool
    ends_at_cap: bool
    value: str
    unquoted: tuple[str, ...]


class ModelReply(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """A model's reply: the fields of a class and no others.

    `from_text` parses a reply in the plain text form that `TEXT_FORM` requests; ValueError on anything else.
    `assumed` returns the reply that an estimate continues with, to include the questions after it.
    """

    def __init_subclass__(cls, **traits: Unpack[ReplyTraits]) -> None:
        super().__init_subclass__()
        for name, trait in traits.items():
            setattr(cls, name.upper(), trait)


class ValueReply(ModelReply):
    """A reply of one value of a few and its `rationale`, with a `quote` if the class has that field.

    `value` in the head of its class names the field of the value. In plain text the value is alone on the first line,
    the others are below it.
    """

    VALUE: ClassVar[str]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The reply in the plain text form; ValueError on anything else."""
        word, rest = sole_value(text, *get_args(cls.model_fields[cls.VALUE].annotation))
        quote = {"quote": longest_quote(rest)} if "quote" in cls.model_fields else {}
        return cls.model_validate({cls.VALUE: word, "rationale": rest} | quote)


class QuotingReply(ValueReply):
    """A value reply about a report that quotes it, unless the value is one of those `unquoted`."""

    UNQUOTED: ClassVar[tuple[str, ...]] = ()
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")

    def as_verdict(self, case: Case, flags: tuple[str, ...]) -> Verdict:
        value, owed = getattr(self, self.VALUE), getattr(self, self.VALUE) not in self.UNQUOTED
        return with_quote(value, self.rationale, self.quote, case.response.text, flags, owed=owed)


def sole_value(text: str, *values: str) -> tuple[str, str]:
    """The value that is alone on the first line of a reply, and the lines after it.

    A label such as “Verdict:”, Markdown marks, quotation marks and one final stop may be around it. ValueError on any
    other first line, and if a later line gives another value.
    """
    first, *rest = _lines(text)
    result = _fits(_alone(values), first)
    if result is None:
        raise ValueError(f"the first line is not {' or '.join(values)} and nothing else")
    _refuse_another(rest, _spelled(result), values)
    return _spelled(result), "\n".join(rest).strip()


def values_by_name(text: str, name: str, *values: str) -> list[tuple[str, str, str]]:
    """Name, value and the lines after it, for each line “name: value” of a reply about several things.

    `name` is the pattern of a name. ValueError on a reply that begins with another line, on a line that has more than
    a value behind a name with a number in it, and if a later line gives another value.
    """
    form, named = _alone(values, name), _named(name)
    entries: list[tuple[str, str, list[str]]] = []
    for line in _lines(text):
        result = _fits(form, line)
        if result is not None:
            entries.append((result["name"], _spelled(result), []))
        elif not entries or named.match(line):
            expected = f"a name, a colon, {' or '.join(values)}, and nothing else"
            raise ValueError(f"a line is not {expected}: {line[:80]!r}")
        else:
            entries[-1][2].append(line)
    for _, value, rest in entries:
        _refuse_another(rest, value, values)
    return [(named_as, value, "\n".join(rest).strip()) for named_as, value, rest in entries]


_QUOTATION = "\"'“”‘’„«»「」『』"
# Characters around a value without a meaning of their own.
_MARKS = r"[\s*_`()\[\]【】#>•" + _QUOTATION + "-]*"
_LABEL = (
    r"(?:(?:final|overall|my|the)\s+)*(?:verdict|answer|decision|judge?ment|conclusion|result|value|rating|label"
    r"|choice|winner|better|covered|supported|(?:最终)?(?:结论|结果|判断|判定|答案|裁定|回答))"
)
# A line with a value alone is short; the patterns take the square of a line's length at worst.
_LONGEST_LINE = 200
_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:text|txt|plain|plaintext|markdown|md)?[ \t]*$", re.MULTILINE)

_REASONING_ENDS = re.compile(
    r"^\s*</(?:think(?:ing)?|thought|reason(?:ing)?|reflection|scratchpad)>", re.M | re.I
)


def _lines(text: str) -> list[str]:
    """The lines of a text, without those that only open or close a code fence; one empty line if there are none.

    ValueError if reasoning ends within it: the text before that end is no answer.
    """
    if _REASONING_ENDS.search(text):
        raise ValueError("the reasoning is not separated from the answer")
    return _FENCE.sub("", text).strip().splitlines() or [""]


def _fits(form: re.Pattern[str], line: str) -> re.Match[str] | None:
    return form.fullmatch(line) if len(line) <= _LONGEST_LINE else None


def _spelled(match: re.Match[str]) -> str:
    return re.sub(r"[\s_]", "-", match["value"].lower())


@lru_cache(maxsize=32)
def _alone(values: tuple[str, ...], name: str = "") -> re.Pattern[str]:
    """The pattern of a line with one of the values alone, behind a name if one is wanted, else perhaps behind a
    label.
    """
    label = f"{_LABEL}{_MARKS}[:：]{_MARKS}"
    before = f"(?!{label})(?P<name>{name}){_MARKS}[:：.)–—-]{_MARKS}" if name else f"(?:{label})?"
    return re.compile(f"{_MARKS}{before}{_either(values)}{_MARKS}[.。．｡]?{_MARKS}", re.IGNORECASE)


@lru_cache(maxsize=32)
def _begun(values: tuple[str, ...]) -> re.Pattern[str]:
    """The pattern of a line that gives one of the values: as its first clause, unless quoted, or behind a label."""
    return re.compile(
        rf"(?:(?![\s*_`>#-]*[{_QUOTATION}]){_MARKS}(?:(?:and|or|but)(?:\s+rather)?\s+)?|.*?{_LABEL}{_MARKS}[:：]{_MARKS})"
        rf"{_either(values)}{_MARKS}(?:$|[.,:;!?…。．，、：；！？–—])",
        re.IGNORECASE,
    )


@lru_cache(maxsize=32)
def _named(name: str) -> re.Pattern[str]:
    """The pattern of a line that begins with a name in which there is a number."""
    return re.compile(rf"{_MARKS}(?=[\w~-]*\d)(?:{name}){_MARKS}[:：]", re.IGNORECASE)


def _either(values: tuple[str, ...]) -> str:
    return f"(?P<value>{'|'.join(value.replace('-', '[-_ ]') for value in values)})"


def _refuse_another(rest: list[str], value: str, values: tuple[str, ...]) -> None:
    """ValueError if a line after the value begins with another of the values, or holds one alone."""
    for line in rest:
        result = _fits(_alone(values), line) or _begun(values).match(line[:_LONGEST_LINE])
        if result and _spelled(result) != value:
            raise ValueError("a later line gives another value than the first")


def longest_quote(text: str) -> str:
    """The longest passage between double quotes; empty if there is none."""
    return max((result["words"].strip() for result in _IN_QUOTES.finditer(text)), key=len, default="")


def fields(text: str, count: int) -> list[list[str]]:
    """The lines of a reply, each split into `count` fields at two bars; ValueError if one has more or fewer."""
    rows = [[field.strip() for field in line.split(BARS)] for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != count for row in rows):
        raise ValueError(f"a line has not {count} fields with two bars between them")
    return rows


def blocks(text: str, /, **labels: str) -> list[dict[str, str]]:
    """The text after each field's label, block by block, by field.

    Blocks are separated by empty lines. ValueError names a block that is not one line for each label in order.
    """
    form = re.compile("\n".join(f"{label}:(.*)" for label in labels.values()))
    result = []
    for number, block in enumerate(re.split(r"\n\s*\n", text.strip()), start=1):
        match = form.fullmatch(block.strip())
        if match is None:
            raise ValueError(f"block {number} is not the lines {', '.join(labels.values())}")
        result.append({field: words.strip() for field, words in zip(labels, match.groups(), strict=True)})
    return result


def whole(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def with_quote(
    value: str, rationale: str, quote: str, text: str, flags: tuple[str, ...], *, owed: bool
) -> Verdict:
    """A verdict whose quote, if the text contains it, is the text's own wording with its span.

    It is flagged if a quote is `owed` and the text does not contain it; the verdict stays.
    """
    span = find(text, quote)
    if span is None and owed:
        flags = (*flags, QUOTE_MISSING)
    return Verdict(
        value=value,
        rationale=rationale,
        quote=text[span[0] : span[1]] if span else quote,
        quote_start=span[0] if span else None,
        quote_end=span[1] if span else None,
        flags=" ".join(flags),
    )


# Makes the verdict from the reply on one unit of a case, with the flags of the call.
Read = Callable[[Any, Case, tuple[str, ...]], Verdict]
# The prefix of a unit's name in a prompt.
ID = "id: "


def of_empty(case: Case, value: str) -> dict[str, Verdict]:
    """The verdict on every unit of an empty report, for which nobody need be asked; empty for any other report."""
    if case.response.text.strip():
        return {}
    return {unit.id: Verdict(value=value, rationale="The report is empty.") for unit in case.units}


def of_one(case: Case, answer: Answer, read: Read) -> Verdicts:
    """The verdict on the only unit of a case; a missing one, with its cause, if no reply came."""
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    return {case.unit.id: read(answer.reply, case, answer.flags)}


def by_id(units: Sequence[Unit]) -> dict[str, Unit]:
    return {unit.id: unit for unit in units}


def by_letter(units: Sequence[Unit], letter: str) -> dict[str, Unit]:
    """The units by short names for one call: an id of 36 characters costs tokens and is copied wrongly."""
    return {f"{letter}{number}": unit for number, unit in enumerate(units, start=1)}


def listed(names: Mapping[str, Unit]) -> str:
    return "\n".join(f"{name}: {' '.join(unit.text.split())}" for name, unit in names.items())


def numbered(texts: Iterable[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))


def of_several(case: Case, names: Mapping[str, Unit], answer: Answer, read: Read) -> Verdicts:
    """A verdict on each unit that is named exactly once; for the others an invalid one, with its cause.

    The reply's `answers` each have the `id` of a unit in the call; none is matched by its position or by similarity.
    """
    if answer.status is not Status.OK:
        return missing_verdicts(case, answer)
    answers = answer.reply.answers
    beside = " It answers for what was not asked." if {one.id for one in answers} - set(names) else ""
    result = {}
    for name, unit in names.items():
        own = [one for one in answers if one.id == name]
        if len(own) == 1:
            result[unit.id] = read(own[0], case, answer.flags)
            continue
        cause = "The reply answers this more than once." if own else "The reply leaves this out."
        result[unit.id] = Verdict(status=Status.INVALID, cause=cause + beside, flags=" ".join(answer.flags))
    return result


def question(case: Case) -> dict[str, str]:
    return {"question": case.item.question}


@dataclass(frozen=True, slots=True)
class UnitQuestion:
    """The question that a judge is asked about the units of a report, one in a call or several together."""

    prompts: tuple[str, str]
    """For one unit, and for several; likewise `replies` and `names`."""
    replies: tuple[type[QuotingReply], type[ModelReply]]
    names: tuple[str, str]
    """The prompt field in which the units are shown."""
    shown: Callable[[Case], dict[str, str]] = question
    """The fields shown beside them and the report."""
    fenced: tuple[str, ...] = ()
    """The fields that hold foreign text; all of them if none is named."""
    letter: str = ""
    """Several units have short names of this letter and a number in their call; without it they have their ids."""
    empty: str = ""
    """The value of each unit of an empty report, about which nothing is asked."""
    words: Callable[[Case, Unit], str] = lambda _, unit: unit.text

    async def judge(self, case: Case, ask: Ask) -> Verdicts:
        if self.empty and (empty := of_empty(case, self.empty)):
            return empty
        return of_one(case, await self._answer(case, ask, 0, self.words(case, case.unit)), _as_verdict)

    async def judge_together(self, case: Case, ask: Ask) -> Verdicts:
        """Judge several units in one call, in the order of the case; answers are matched by name alone."""
        if self.empty and (empty := of_empty(case, self.empty)):
            return empty
        names = by_letter(case.units, self.letter) if self.letter else by_id(case.units)
        described = (f"{ID}{name}\n{self.words(case, unit)}" for name, unit in names.items())
        words = listed(names) if self.letter else "\n\n".join(described)
        return of_several(case, names, await self._answer(case, ask, 1, words), _as_verdict)

    def _answer(self, case: Case, ask: Ask, number: int, words: str) -> Awaitable[Answer]:
        fields = {**self.shown(case), self.names[number]: words, "report": case.response.text}
        return ask(self.prompts[number], fields, self.replies[number], fenced=self.fenced or tuple(fields))


def _as_verdict(reply: Any, case: Case, flags: tuple[str, ...]) -> Verdict:
    verdict: Verdict = reply.as_verdict(case, flags)
    return verdict


def with_rivals(protocol: str, material: Material) -> Iterator[Case]:
    """One case for each rival, this response shown first; the other order comes at the rival's turn.

    The unit of a case has the rival's id.
    """
    yield from _pairs(protocol, material, material.rivals(protocol))


def with_exemplars(protocol: str, material: Material) -> Iterator[Case]:
    """One case for each exemplar beside this response, or for each response beside this exemplar."""
    yield from _pairs(protocol, material, material.facing)


def _pairs(protocol: str, material: Material, others: Sequence[Response]) -> Iterator[Case]:
    for other in others:
        yield Case(protocol, material.item, material.response, "", (Unit(id=other.id),), other=other)


def both_texts(case: Case) -> tuple[str, str]:
    """The two reports in the order of the case; ValueError for a case without a second one."""
    if case.other is None:
        raise ValueError("a comparison needs a second report")
    return case.response.text, case.other.text


async def judged(
    prompt: str, protocol: type, case: Case, ask: Ask, reason: Callable[[Any], str] = attrgetter("rationale")
) -> Verdicts:
    """Ask with the question and both reports, without names; the reply, of class `protocol`, names one as `better`."""
    first, second = both_texts(case)
    fields = {"question": case.item.question, "first": first, "second": second}
    answer = await ask(prompt, fields, protocol, fenced=tuple(fields))
    return of_one(
        case,
        answer,
        lambda reply, _, flags: Verdict(value=reply.better, rationale=reason(reply), flags=" ".join(flags)),
    )


def missing_notes(
    missing: int, of: int, valued: bool, what: str = "judgements are missing", over: str = "the others"
) -> list[str]:
    """The notes on missing values of a figure, `valued` if it was computed from the others; empty if none
    is missing.
    """
    if not missing:
        return []
    return [f"{missing:,} of {of:,} {what}", *[f"over {over} only"] * valued]


def mean_of_known(
    worth: float, known: int, missing: int, over_valid: bool, what: str, method: str
) -> Estimate:
    """The mean over `known` values from 0 to 1, `worth` being their sum; `n` counts them.

    With anything missing the value is None unless `over_valid`; floor and ceiling assume all missing to be 0, then 1.
    """
    valued = bool(known) and (over_valid or not missing)
    return Estimate(
        worth / known if valued else None,
        n=known,
        missing=missing,
        floor=worth / (known + missing),
        ceiling=(worth + missing) / (known + missing),
        method=method,
        note="; ".join(missing_notes(missing, known + missing, valued, what)),
    )
