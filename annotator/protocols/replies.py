"""A model's reply for any paper: its class, and how values, fields, blocks and quotations are read from its text."""

import re
from functools import lru_cache
from typing import ClassVar, Self, get_args

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from annotator.domain.judges.judgement import Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.texts.quotation import find

QUOTE_MISSING = "quote_missing"
BARS = " || "
_IN_QUOTES = re.compile(r"[\"“„«](?P<words>[^\"”“«»]{3,})[\"”»]")


def _plain(value: object) -> object:
    return re.sub(r"[\s_]", "-", value.strip().lower()) if isinstance(value, str) else value


Word = BeforeValidator(_plain)
"""Of a field that holds one word of a few: capitals, blanks around it and a blank or _ for its hyphen are no matter."""


class ModelReply(BaseModel):
    """What a model replies: the fields of a class and no others."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)


class ValueReply(ModelReply):
    """A reply of one value of a few and its `rationale`, with a `quote` where the class has that field.

    `VALUE` is the field of the value. In plain text the value stands alone on the first line, the others below it.
    """

    VALUE: ClassVar[str]

    @classmethod
    def from_text(cls, text: str) -> Self:
        """The plain text form; ValueError on anything else."""
        said, rest = sole_value(text, *get_args(cls.model_fields[cls.VALUE].annotation))
        quote = {"quote": longest_quote(rest)} if "quote" in cls.model_fields else {}
        return cls.model_validate({cls.VALUE: said, "rationale": rest} | quote)


class QuotingReply(ValueReply):
    """A value reply about a report that quotes it, except where the value is one of `UNQUOTED`."""

    UNQUOTED: ClassVar[tuple[str, ...]] = ()
    quote: str = Field(
        description="The report's own words that decide it, copied exactly; empty if there are none"
    )
    rationale: str = Field(description="Why, in one or two sentences")

    def as_verdict(self, case: Case, flags: tuple[str, ...]) -> Verdict:
        """The reply as a verdict, with the flags of the call."""
        value, owed = getattr(self, self.VALUE), getattr(self, self.VALUE) not in self.UNQUOTED
        return with_quote(value, self.rationale, self.quote, case.response.text, flags, owed=owed)


def sole_value(text: str, *values: str) -> tuple[str, str]:
    """The value that the first line of a reply holds and nothing else, and the lines after it.

    A label such as “Verdict:”, marks of Markdown, quotation marks and one final stop may stand around it. ValueError
    on any other first line, and where a later line gives another value.
    """
    first, *rest = _lines(text)
    found = _fits(_alone(values), first)
    if found is None:
        raise ValueError(f"the first line is not {' or '.join(values)} and nothing else")
    _refuse_another(rest, _spelled(found), values)
    return _spelled(found), "\n".join(rest).strip()


def values_by_name(text: str, name: str, *values: str) -> list[tuple[str, str, str]]:
    """Of a reply about several things: name, value and the lines after it, for each line “name: value”.

    `name` is the pattern of a name. ValueError on a reply that begins with another line, on a line that has more than
    a value behind a name with a number in it, and where a later line gives another value.
    """
    form, named = _alone(values, name), _named(name)
    told: list[tuple[str, str, list[str]]] = []
    for line in _lines(text):
        found = _fits(form, line)
        if found is not None:
            told.append((found["name"], _spelled(found), []))
        elif not told or named.match(line):
            wanted = f"a name, a colon, {' or '.join(values)}, and nothing else"
            raise ValueError(f"a line is not {wanted}: {line[:80]!r}")
        else:
            told[-1][2].append(line)
    for _, value, rest in told:
        _refuse_another(rest, value, values)
    return [(named_as, value, "\n".join(rest).strip()) for named_as, value, rest in told]


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


def _spelled(found: re.Match[str]) -> str:
    """The value that was found, as the values are written."""
    return re.sub(r"[\s_]", "-", found["value"].lower())


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
        found = _fits(_alone(values), line) or _begun(values).match(line[:_LONGEST_LINE])
        if found and _spelled(found) != value:
            raise ValueError("a later line gives another value than the first")


def longest_quote(text: str) -> str:
    """The longest passage that stands between double quotes; empty when there is none."""
    return max((found["words"].strip() for found in _IN_QUOTES.finditer(text)), key=len, default="")


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
    found = []
    for number, block in enumerate(re.split(r"\n\s*\n", text.strip()), start=1):
        match = form.fullmatch(block.strip())
        if match is None:
            raise ValueError(f"block {number} is not the lines {', '.join(labels.values())}")
        found.append({field: words.strip() for field, words in zip(labels, match.groups(), strict=True)})
    return found


def whole(text: str) -> int | str:
    """A whole number where the text is one."""
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
