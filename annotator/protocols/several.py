"""What a judge's reply on one unit or several of a case comes to, and how those of several are separated."""

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


# Of a field that holds one word of a few: capitals, blanks around it and a blank or _ for its hyphen are no matter.
Word = BeforeValidator(_plain)


class ReplyTraits(TypedDict, total=False):
    """What the head of a reply's class may say of it; `judging/calls/reply_parts.py` says what each means."""

    again: str
    tokens: int
    longest: int
    plain: bool
    ends_at_cap: bool
    value: str
    unquoted: tuple[str, ...]


class ModelReply(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """What a model replies: the fields of a class and no others.

    `from_text` reads a reply in the plain text form that `TEXT_FORM` asks for; ValueError on anything else. What
    `assumed` gives is what an estimate goes by: the questions after such a reply are weighed too.
    """

    def __init_subclass__(cls, **traits: Unpack[ReplyTraits]) -> None:
        super().__init_subclass__()
        for name, trait in traits.items():
            setattr(cls, name.upper(), trait)


class ValueReply(ModelReply):
    """A reply of one value of a few and its `rationale`, with a `quote` where the class has that field.

    `value` in the head of its class is the field of the value. In plain text the value stands alone on the first line,
    the others below it.
    """

    VALUE: ClassVar[str]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form; ValueError on anything else."""
        word, rest = sole_value(text, *get_args(cls.model_fields[cls.VALUE].annotation))
        quote = {"quote": longest_quote(rest)} if "quote" in cls.model_fields else {}
        return cls.model_validate({cls.VALUE: word, "rationale": rest} | quote)


class QuotingReply(ValueReply):
    """A value reply about a report that quotes it, except where the value is one of those `unquoted`."""

    UNQUOTED: ClassVar[tuple[str, ...]] = ()
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")

    def as_verdict(self, case: Case, flags: tuple[str, ...]) -> Verdict:
        value, owed = getattr(self, self.VALUE), getattr(self, self.VALUE) not in self.UNQUOTED
        return with_quote(value, self.rationale, self.quote, case.response.text, flags, owed=owed)


def sole_value(text: str, *values: str) -> tuple[str, str]:
    """The value that the first line of a reply holds and nothing else, and the lines after it.

    A label such as “Verdict:”, marks of Markdown, quotation marks and one final stop may stand around it. ValueError
    on any other first line, and where a later line gives another value.
    """
    first, *rest = _lines(text)
    result = _fits(_alone(values), first)
    if result is None:
        raise ValueError(f"the first line is not {' or '.join(values)} and nothing else")
    _refuse_another(rest, _spelled(result), values)
    return _spelled(result), "\n".join(rest).strip()


def values_by_name(text: str, name: str, *values: str) -> list[tuple[str, str, str]]:
    """Of a reply about several things: name, value and the lines after it, for each line “name: value”.

    `name` is the pattern of a name. ValueError on a reply that begins with another line, on a line that has more than
    a value behind a name with a number in it, and where a later line gives another value.
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
# Around a value these say nothing of their own.
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
    """The lines of a text, without those that only open or close a code fence; one that is empty when there is none.

    ValueError where reasoning ends within it: what stands before that end is no answer.
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
    """A line that holds one of the values alone, behind a name where one is wanted, else perhaps behind a label."""
    label = f"{_LABEL}{_MARKS}[:：]{_MARKS}"
    before = f"(?!{label})(?P<name>{name}){_MARKS}[:：.)–—-]{_MARKS}" if name else f"(?:{label})?"
    return re.compile(f"{_MARKS}{before}{_either(values)}{_MARKS}[.。．｡]?{_MARKS}", re.IGNORECASE)


@lru_cache(maxsize=32)
def _begun(values: tuple[str, ...]) -> re.Pattern[str]:
    """A line that gives one of the values: as the clause it begins with, unless that is quoted, or behind a label."""
    return re.compile(
        rf"(?:(?![\s*_`>#-]*[{_QUOTATION}]){_MARKS}(?:(?:and|or|but)(?:\s+rather)?\s+)?|.*?{_LABEL}{_MARKS}[:：]{_MARKS})"
        rf"{_either(values)}{_MARKS}(?:$|[.,:;!?…。．，、：；！？–—])",
        re.IGNORECASE,
    )


@lru_cache(maxsize=32)
def _named(name: str) -> re.Pattern[str]:
    """A line that begins with a name in which there is a number."""
    return re.compile(rf"{_MARKS}(?=[\w~-]*\d)(?:{name}){_MARKS}[:：]", re.IGNORECASE)


def _either(values: tuple[str, ...]) -> str:
    return f"(?P<value>{'|'.join(value.replace('-', '[-_ ]') for value in values)})"


def _refuse_another(rest: list[str], value: str, values: tuple[str, ...]) -> None:
    """ValueError where a line after the value begins with another of the values, or holds one alone."""
    for line in rest:
        result = _fits(_alone(values), line) or _begun(values).match(line[:_LONGEST_LINE])
        if result and _spelled(result) != value:
            raise ValueError("a later line gives another value than the first")


def longest_quote(text: str) -> str:
    """The longest passage that stands between double quotes; empty when there is none."""
    return max((result["words"].strip() for result in _IN_QUOTES.finditer(text)), key=len, default="")


def fields(text: str, count: int) -> list[list[str]]:
    """The lines of a reply as so many fields with two bars between them; ValueError when one has more or fewer."""
    rows = [[field.strip() for field in line.split(BARS)] for line in text.splitlines() if line.strip()]
    if not rows or any(len(row) != count for row in rows):
        raise ValueError(f"a line has not {count} fields with two bars between them")
    return rows


def blocks(text: str, /, **labels: str) -> list[dict[str, str]]:
    """What stands behind the labels of fields, block by block, by field.

    Empty lines stand between blocks. ValueError names a block that is not one line for each label in order.
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
    """A verdict whose quote, where the text has it, is the text's own wording with its place.

    It is flagged when a quote is owed and the text does not have it; the verdict stands.
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


# The verdict that the reply on one unit of a case comes to, with the flags of the call.
Read = Callable[[Any, Case, tuple[str, ...]], Verdict]
# What stands before a unit's name in a prompt.
ID = "id: "


def of_empty(case: Case, value: str) -> dict[str, Verdict]:
    """Of an empty report every unit's verdict, which nobody need be asked for; empty for any other report."""
    if case.response.text.strip():
        return {}
    return {unit.id: Verdict(value=value, rationale="The report is empty.") for unit in case.units}


def of_one(case: Case, answer: Answer, read: Read) -> Verdicts:
    """The verdict on the only unit of a case; a missing one, with its cause, where no reply came."""
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
    """A verdict of each unit that is named exactly once; of the others an invalid one, with its cause.

    The reply's `answers` each have the `id` of a unit in the call; none is matched by its place or by similarity.
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
    """What a judge is asked about the units of a report, one in a call or several together."""

    prompts: tuple[str, str]
    """Of one unit, and of several; so are `replies` and `names`."""
    replies: tuple[type[QuotingReply], type[ModelReply]]
    names: tuple[str, str]
    """The field of the prompt in which they are shown."""
    shown: Callable[[Case], dict[str, str]] = question
    """What is shown beside them and the report."""
    fenced: tuple[str, ...] = ()
    """The fields that hold foreign text; all of them where none is named."""
    letter: str = ""
    """Several have short names of this letter and a number in their call; without it they have their ids."""
    empty: str = ""
    """The value of each unit of an empty report, about which nothing is asked."""
    words: Callable[[Case, Unit], str] = lambda _, unit: unit.text

    async def judge(self, case: Case, ask: Ask) -> Verdicts:
        if self.empty and (empty := of_empty(case, self.empty)):
            return empty
        return of_one(case, await self._answer(case, ask, 0, self.words(case, case.unit)), _as_verdict)

    async def judge_together(self, case: Case, ask: Ask) -> Verdicts:
        """Several units in one call, in the order of the case; what is answered on each is known by its name alone."""
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
    """One case for each rival, this response shown first; the other order comes when it is the rival's turn.

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
    """Question and both reports are shown, no name; the reply has the shape, and names one as `better`."""
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
    """What must be said beside a figure, `valued` where it was made of what came; nothing where all came."""
    if not missing:
        return []
    return [f"{missing:,} of {of:,} {what}", *[f"over {over} only"] * valued]


def mean_of_known(
    worth: float, known: int, missing: int, over_valid: bool, what: str, method: str
) -> Estimate:
    """The mean of what is `known`, each worth from 0 to 1 and `worth` all together; `n` counts it.

    With anything missing the value is None unless `over_valid`; floor and ceiling take all of that as 0, then as 1.
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
