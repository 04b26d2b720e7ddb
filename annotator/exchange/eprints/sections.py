"""The section of a paper that reviews related work: where it begins and where it ends."""

import re
from dataclasses import dataclass

from annotator.domain.material.collected import RefusalStage
from annotator.exchange.eprints.archives import Unfit
from annotator.exchange.texts.latex import masked, without_comments

SHORTEST, LONGEST, LONGEST_TITLE = 100, 200_000, 1_000
_LEVELS = {"part": 0, "chapter": 0, "section": 1, "subsection": 2}
_HEADING = re.compile(r"\\(part|chapter|section|subsection)\b\s*\*?\s*(?:\[[^\[\]]*\]\s*)?\{")
_APPENDIX = re.compile(r"\\appendix\b|\\begin\s*\{appendices\}")
_ENDS = re.compile(
    r"\\appendix\b|\\begin\s*\{appendices\}|\\bibliography\s*\{|\\printbibliography\b"
    r"|\\begin\s*\{thebibliography\}|\\end\s*\{document\}"
)
_PLAIN_TITLE = re.compile(r"\\texorpdfstring\s*\{(?:[^{}]|\{[^{}]*\})*\}|\\label\s*\{[^{}]*\}|\\[A-Za-z]+\*?")
_WANTED = re.compile(r"\brelated\s+works?\b")


@dataclass(frozen=True, slots=True)
class FoundSection:
    """A section's LaTeX without its heading; `note` tells what is unusual about it."""

    text: str
    note: str = ""


def related_work(text: str) -> FoundSection:
    """The section, or else the subsection, on related work; the main text comes before the appendix."""
    said = masked(text)
    appendix = found.start() if (found := _APPENDIX.search(said)) else len(said)
    headings = [(_LEVELS[one[1]], one.start(), *_title(said, one.end())) for one in _HEADING.finditer(said)]
    wanted = [one for one in headings if one[0] > 0 and _WANTED.search(one[3])]
    if not wanted:
        raise Unfit(RefusalStage.SECTION, "It has no section on related work.")
    level, at, begin, _ = min(wanted, key=lambda one: (one[1] > appendix, one[0], one[1]))
    after = [start for other, start, _, _ in headings if start > at and other <= level]
    ends = [one.start() for one in _ENDS.finditer(said, begin)][:1]
    section = text[begin : min([*after, *ends, len(text)])].strip()
    if len(" ".join(without_comments(section).split())) < SHORTEST:
        raise Unfit(
            RefusalStage.SECTION, f"Its section on related work has fewer than {SHORTEST} characters."
        )
    if len(section) > LONGEST:
        raise Unfit(RefusalStage.CLEAN, f"Its section has more than {LONGEST:,} characters of LaTeX.")
    notes = ["a subsection serves as the section"] * (level > 1) + ["it stands in the appendix"] * (
        at > appendix
    )
    return FoundSection(section, "; ".join(notes))


def _title(said: str, start: int) -> tuple[int, str]:
    """Where the braces of a title end, and its words in lower case."""
    depth, end = 1, start
    for found in re.compile(r"\\.|[{}]", re.DOTALL).finditer(said, start, start + LONGEST_TITLE):
        depth += {"{": 1, "}": -1}.get(found[0], 0)
        if depth == 0:
            end = found.end()
            break
    words = _PLAIN_TITLE.sub(" ", said[start : end - 1])
    return end or start, " ".join(re.sub(r"[^a-z]+", " ", words.lower()).split())
