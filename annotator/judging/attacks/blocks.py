"""Places where a report can be cut safely: between its blocks, and at its headings."""

import re
from itertools import pairwise

_LINE = re.compile(r"[^\n]*\n|[^\n]+\Z")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+\S")
Span = tuple[int, int]


def lines(report: str) -> list[tuple[int, str, bool]]:
    """Each line with where it starts and whether it is code: between fences, or a fence itself."""
    found, fence = [], ""
    for match in _LINE.finditer(report):
        line = match[0]
        mark = _FENCE.match(line)
        code = bool(fence) or mark is not None
        if mark is not None:
            opens = mark[1][:3]
            fence = "" if fence == opens else fence or opens
        found.append((match.start(), line, code))
    return found


def seams(report: str) -> list[int]:
    """Where a block ends and something could follow: after blank lines outside code, at the start and at the end."""
    found, blank = {0, len(report)}, False
    for start, line, code in lines(report):
        if blank and line.strip():
            found.add(start)
        blank = not code and not line.strip()
    return sorted(found)


def sections(report: str) -> list[Span]:
    """The report cut at the headings of the highest level it has twice; what stands before the first comes first.

    Empty where no level has two headings.
    """
    heads = [
        (start, len(mark[1]))
        for start, line, code in lines(report)
        if not code and (mark := _HEADING.match(line))
    ]
    levels = [level for _, level in heads]
    several = [level for level in sorted(set(levels)) if levels.count(level) > 1]
    if not several:
        return []
    cuts = [start for start, level in heads if level == several[0]]
    return list(pairwise([0, *cuts, len(report)]))
