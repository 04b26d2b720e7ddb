"""Reference lists of papers: where they stand in a text, and where one entry ends and the next begins."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from annotator.protocols.lent import LIST_MARKER, begins_with_names, is_list_heading

# No entry is set in more lines, and no list leaves out more numbers (a line that the PDF does not give).
MOST_LINES, MOST_SKIPPED = 25, 2
_NUMBER = re.compile(
    r"\s*(?:[-*•]\s+)?(?:\[(\d{1,3})\]|\((\d{1,3})\)(?=\s)|(\d{1,3})\.(?=\s)|(\d{1,3})(?=\s+[^\W\d_]))\s*"
)
_MARKED = re.compile(
    r"\s{0,3}#{1,6}\s+(?P<words>\S.*)|\s*(?:\*\*|__)(?P<bold>[^*_]{1,200})(?:\*\*|__)\s*:?\s*"
)
_LINE_NUMBER = re.compile(r"\s*(?:#+\s*)?(\d{1,4})(?=\s|$)\s*")
# What follows a list where no mark or larger print shows a heading.
_AFTER = re.compile(
    r"\s*(?:(?i:appendi(?:x|ces)\b.{0,60}|supplementa\w*(?: \w+){0,4}|acknowledge?ments?|author contributions?)"
    r"|(?i:(?:neurips )?paper checklist)"
    r"|[A-Z](?:\.\d+)*\.? {1,4}(?!and\b)[A-Z][\w-]+(?: [\w,:&()-]+){0,8}|[A-Z]\.\d+\.? .{3,60})\s*"
)
_FINISHED = re.compile(r"(?:[.\d/)\]]|https?://\S+(?:\s\S+)?)$")
_COMMON = re.compile(
    r"\b(?:we|our|us|is|are|was|were|be|been|has|have|had|can|could|may|must|should|will|would|this|these|those|that"
    r"|which|it|its|they|their|not|than|then|there|if|when|where|also|each|such|both|see)\b",
    re.IGNORECASE,
)
_PARTED = re.compile(r"(\w+)(?:[-\u00ad\ufffe\ufffd\x02]\n\s*|[\ufffe\x02])([a-zß-ÿ]\w*)")
_IN_ADDRESS = re.compile(
    r"((?:https?://|\b10\.\d{4,9}/|arxiv\.org/)\S*[/_.=?&-]|https?:)\n\s*(?=[\w%])", re.IGNORECASE
)
TELLING = re.compile(r"\b(?:19|20)\d\d[a-z]?\b|https?://|\bdoi\b|\barxiv\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class _Line:
    """A line of a list: its words and indent, whether a gap comes before it, its number, whether it is a heading."""

    text: str
    indent: int
    after_gap: bool
    number: int
    heading: bool

    @property
    def mark(self) -> tuple[int, int] | None:
        """The form and the number of the mark at its beginning."""
        found = _NUMBER.match(self.text)
        form = next((at for at in range(1, 5) if found and found[at]), 0)
        return (form, int(found[form])) if found and form else None


@dataclass(frozen=True, slots=True)
class ListedEntry:
    """An entry of a list: its words on one line, the line of the text where it begins, what is odd about its place."""

    words: str
    line: int
    odd: str = ""


def listed_entries(text: str) -> list[ListedEntry]:
    """The entries of the reference lists of a paper; none where there is no heading of one."""
    lines = list(_lines(text))
    heads = [at for at, line in enumerate(lines) if _announces(line)]
    sections = (_without_line_numbers(lines[at:end]) for at, end in pairwise([*heads, len(lines)]))
    lists = [_entries(text, section) for section in sections]
    # A heading such as “Sources” may stand over something else.
    real = [
        one for one in lists if 2 * sum(bool(TELLING.search(entry.words)) for entry in one) >= len(one) > 0
    ]
    first, *others = real or lists or [[]]
    return first + [
        replace(entry, odd="it stands in another list further on in the text")
        for one in others
        for entry in one
    ]


def numbered_entries(text: str) -> list[ListedEntry]:
    """The entries of a text that is a numbered list from its first line to its last; none where it is not."""
    lines = list(_lines(text))
    begins = _numbered(lines)
    if not begins or begins[0] or _end_of_last(lines, begins) < len(lines):
        return []
    return _entries(text, lines)


def is_prose(words: str) -> bool:
    """Whether words read like sentences of a text rather than like an entry."""
    common, counted = len(_COMMON.findall(words)), len(words.split())
    return (common > 2 and common * 9 > counted) or (
        common > 1 and counted > 12 and not TELLING.search(words)
    )


def _entries(text: str, lines: Sequence[_Line]) -> list[ListedEntry]:
    numbered = _numbered(lines)
    begins = [*numbered, _end_of_last(lines, numbered)] if numbered else _starts(lines, "\f" in text)
    found: list[ListedEntry] = []
    for a, b in pairwise(begins):
        words = _joined([line.text for line in lines[a:b] if not line.heading], text)
        if not words:
            continue
        mark, after = lines[a].mark, lines[b].mark if b < begins[-1] else None
        skipped = numbered and mark and after and after[1] - mark[1] > 1
        odd = f"number {mark[1] + 1} is missing after it, so it may hold two" if skipped and mark else ""
        found.append(ListedEntry(words, lines[a].number, odd))
        if not numbered and all(is_prose(one.words) for one in found[-3:]) and len(found) > 2:
            return found[:-3]
    return found


def _lines(text: str) -> Iterator[_Line]:
    """The lines that hold words, without page numbers and what stands at the edge of several pages."""
    pages = [page.split("\n") for page in text.split("\f")]
    spaced = any(not line.strip() for page in pages for line in page[1:-1])
    edges = Counter(key for page in pages for key in {_edge(page[at]) for at in _at_edges(page, spaced)})
    # What goes on with a sentence may stand at the top of two pages by chance.
    heads = {
        key
        for key, count in edges.items()
        if count > 1 and not key[:1].islower() and sum(map(str.isalpha, key)) > 2
    }
    number = 0
    for page in pages:
        ends = _at_edges(page, spaced)
        gap, broken = False, True
        for at, line in enumerate(page):
            number += 1
            words = line.strip()
            numbers_page = len(pages) > 1 and words.isdigit() and len(words) < 5
            gap = gap or bool(numbers_page)
            if numbers_page or (at in ends and _edge(line) in heads):
                continue
            if words:
                marked = bool(_MARKED.fullmatch(line))
                yield _Line(line, len(line) - len(line.lstrip()), gap and not broken, number, marked)
                gap, broken = False, False
            else:
                gap = True
        number -= 1


def _at_edges(page: Sequence[str], spaced: bool) -> list[int]:
    """The lines that may be the head or the foot of a page: up to two, with a gap between them and the text."""
    worded = [at for at, line in enumerate(page) if line.strip()]
    if not spaced:
        return [*worded[:1], *worded[1:][-1:]]
    gaps = [place for place, (a, b) in enumerate(pairwise(worded), start=1) if b - a > 1] or [len(worded)]
    return (
        worded[: gaps[0] if gaps[0] < 3 else 0]
        + worded[gaps[-1] if len(worded) - gaps[-1] < 3 else len(worded) :]
    )


def _edge(line: str) -> str:
    return line.strip(" \t#|·0123456789")


def _without_line_numbers(lines: Sequence[_Line]) -> list[_Line]:
    """The lines below a heading, without the numbers that a manuscript has in its margin."""
    head, *section = lines
    first = _LINE_NUMBER.match(head.text)
    numbers = [int(found[1]) if (found := _LINE_NUMBER.match(line.text)) else 0 for line in section[:60]]
    if not first or 5 * sum(0 < number - int(first[1]) <= len(numbers) for number in numbers) < 4 * len(
        numbers
    ):
        return section
    kept: list[_Line] = []
    gap = False
    for line in section:
        words = _LINE_NUMBER.sub("", line.text, count=1)
        gap = gap or line.after_gap
        if words:
            kept.append(replace(line, text=words, indent=0, after_gap=gap))
        gap = not words
    return kept


def _announces(line: _Line) -> bool:
    """Whether a line is the heading of a list, also in capitals set apart: R EFERENCES."""
    found = _MARKED.fullmatch(line.text)
    words = (found["words"] or found["bold"] if found else line.text).strip()
    return len(words) < 60 and (
        is_list_heading(re.sub(r"^(?:[IVX]+|[A-Z])\.\s+", "", words))
        or re.sub(r"[\W\d]", "", words).casefold() in ("references", "bibliography")
    )


def _numbered(lines: Sequence[_Line]) -> list[int]:
    """The lines at which the entries of a numbered list begin: from its first number on in their order."""
    marks = [(at, mark) for at, line in enumerate(lines) if (mark := line.mark)]
    if not marks or marks[0][0] > 2:
        return []
    chain, (form, number) = [marks[0][0]], marks[0][1]
    while True:
        later = [(at, n) for at, (other, n) in marks if other == form and at > chain[-1]]
        # A figure may stand within an entry; a number that is left out is looked for nearby only.
        reach = {1: 4 * MOST_LINES} | dict.fromkeys(range(2, MOST_SKIPPED + 2), MOST_LINES)
        near = (
            one
            for step in reach
            for one in later
            if one[1] == number + step and one[0] - chain[-1] <= reach[step]
        )
        after = next(near, None)
        if after is None:
            bullets = sum(
                line.text.lstrip()[:2] in ("- ", "* ", "• ", "– ") for line in lines[: chain[-1] + 1]
            )
            return chain if bullets <= len(chain) else []
        chain.append(after[0])
        number = after[1]


def _end_of_last(lines: Sequence[_Line], begins: Sequence[int]) -> int:
    """Where the last entry of a numbered list ends: at a gap or a heading, or when it gets too long."""
    last = begins[-1]
    most = max((b - a for a, b in pairwise(begins)), default=MOST_LINES) + 1
    for at in range(last + 1, len(lines)):
        line, before = lines[at], lines[at - 1].text.strip()
        heads = line.heading or (_FINISHED.search(before) and _AFTER.fullmatch(line.text))
        if heads or line.after_gap or line.mark or at - last >= most:
            return at
    return len(lines)


def _starts(lines: Sequence[_Line], paged: bool) -> list[int]:
    """The lines at which entries without numbers begin, and where the last entry ends.

    They begin by bullets, hanging indents, gaps or names; where there is none of these, each line is one. A heading
    ends the list, but in a PDF only where no entries follow: it may stand at the top of a page.
    """
    inner = lines[: next((at for at in range(len(lines)) if _ends(lines, at, paged)), len(lines))]
    by_mark = 3 * sum(bool(LIST_MARKER.match(line.text)) for line in inner) > len(inner)
    by_indent = 0.2 * len(inner) < sum(line.indent > 1 for line in inner) < len(inner)
    by_gap = 8 * sum(line.after_gap for line in inner) > len(inner)
    begins: list[int] = []
    led, told = False, ""
    for at, line in enumerate(inner):
        leads = bool(_FINISHED.search(told) and TELLING.search(told) and begins_with_names(line.text.strip()))
        led = led or leads
        if by_mark:
            new = line.after_gap or bool(LIST_MARKER.match(line.text))
        elif by_indent:
            new = line.indent <= 1
        else:
            new = leads or (by_gap and line.after_gap)
        if new or not begins:
            begins.append(at)
            told = ""
        told = f"{told} {line.text.strip()}"
    if not (by_mark or by_indent or by_gap or led):
        begins = list(range(len(inner)))
    return [*begins, len(inner)]


def _ends(lines: Sequence[_Line], at: int, paged: bool) -> bool:
    line, before = lines[at], lines[at - 1].text.strip() if at else ""
    if line.heading:
        led = [begins_with_names(one.text.strip()) for one in lines[at + 1 : at + 20]]
        return not paged or not (any(led[:1]) or sum(led) > 2)
    heads = _FINISHED.search(before) and _AFTER.fullmatch(line.text)
    return bool(heads and line.indent <= 1 and (line.text[1:2] == " " or not begins_with_names(line.text)))


def _joined(lines: Sequence[str], text: str) -> str:
    """Lines as one, with the words and addresses that were parted at their ends."""

    def whole(found: re.Match[str]) -> str:
        first, then = found.groups()
        hyphened = f"{first}-{then}" in text and f"{first}{then}" not in text
        return f"{first}-{then}" if hyphened else f"{first}{then}"

    return " ".join(_IN_ADDRESS.sub(r"\1", _PARTED.sub(whole, "\n".join(lines))).split())
