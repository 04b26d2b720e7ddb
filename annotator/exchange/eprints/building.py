"""Papers built from a folder of what was collected, without a socket; every refusal says its stage and reason."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.material.collected import CitedEntry, CollectedPaper, Funnel, RefusalStage, RefusedPaper
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints import archives, assembling
from annotator.exchange.eprints.archives import Unfit
from annotator.exchange.eprints.entries import entries
from annotator.exchange.eprints.feeds import ListedPaper
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.eprints.known_works import KnownWorks
from annotator.exchange.eprints.rules import Rules, is_english
from annotator.exchange.texts import latex
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

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section as it was found, with what its own bibliographies say of each work that it cites."""

    latex: str
    cited: tuple[CitedEntry, ...]
    note: str = ""


def build(path: Path, rules: Rules, tell: Tell) -> Funnel:
    """The papers of a folder that the rules keep, and what became of the others."""
    collection = Collection.at(path)
    candidates, works = collection.candidates(), collection.works()
    kept: list[CollectedPaper] = []
    refused: list[RefusedPaper] = []
    for number, paper in enumerate(candidates, 1):
        tell("reading papers", number, len(candidates))
        try:
            kept.append(_resolved(paper, read_section(collection, paper, rules), works))
        except Unfit as why:
            refused.append(RefusedPaper(paper.key, why.stage, why.reason, paper.title))
    return Funnel(len(candidates), tuple(kept), tuple(refused))


def read_section(collection: Collection, paper: ListedPaper, rules: Rules) -> ReadSection:
    """The section of a candidate; Unfit at the first stage that refuses it."""
    if reason := rules.against(paper):
        raise Unfit(RefusalStage.FILTER, reason)
    files = archives.files_of(collection.eprint(paper))
    whole = assembling.assembled(files)
    section = related_work(whole.text)
    text = latex.without_floats(section.text)
    try:
        words, keys = latex.markdown(text, lambda _: ""), latex.cited_keys(text)
    except Refusal as refusal:
        raise Unfit(RefusalStage.CLEAN, refusal.happened) from None
    many = len(words.split())
    if many > rules.most_words:
        raise Unfit(RefusalStage.CLEAN, f"Its section has {many:,} words, more than {rules.most_words:,}.")
    if not is_english(words):
        raise Unfit(RefusalStage.CLEAN, "Its section is not in English.")
    if len(keys) < rules.least_references:
        raise Unfit(
            RefusalStage.CITE, f"Its section cites {len(keys):,} works, fewer than {rules.least_references}."
        )
    return ReadSection(text, tuple(entries(keys, files, whole).values()), section.note)


def _resolved(paper: ListedPaper, section: ReadSection, works: KnownWorks) -> CollectedPaper:
    """The paper with its works; notes tell of keys without an entry and of works that came too late."""
    day = paper.published[:10]
    found = [works.resolved(entry, day, paper.id) for entry in section.cited]
    unknown = [one.key for one in section.cited if one == CitedEntry(one.key)]
    notes = [section.note] if section.note else []
    notes += [f"“{key}” stands in no bibliography; its key serves as title" for key in unknown]
    notes += [f"“{one.entry.key}”: {one.note}" for one in found if one.note]
    cited = tuple(one.entry for one in found)
    return CollectedPaper(
        paper.key,
        paper.title,
        paper.abstract,
        paper.published,
        paper.category,
        section.latex,
        cited,
        tuple(notes),
    )


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
