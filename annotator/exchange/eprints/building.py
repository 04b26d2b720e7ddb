"""Papers built from a folder of collected files, without network; every refusal names its stage and reason."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from annotator.domain.common import Refusal
from annotator.domain.material.extract import CitedEntry, CollectedPaper, Funnel, RefusalStage, RefusedPaper
from annotator.domain.texts.words import COMMON
from annotator.exchange.eprints.assembling import Unfit, assembled, entries, files_of
from annotator.exchange.eprints.folder import Collection, KnownWorks, ListedPaper
from annotator.exchange.texts import latex

LEAST_COMMON = 0.15
_ACCEPTED = re.compile(r"\baccepted\b|\bto appear\b|\bpublished\b", re.IGNORECASE)
_PENDING = re.compile(
    r"\bsubmitted\b|\bunder (?:peer )?review\b|\brejected\b|\bnot accepted\b", re.IGNORECASE
)
_WITHDRAWN = re.compile(r"\bwithdrawn\b|\bretracted\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Rules:
    """The requirements for a paper. `h_indices` are those of authors by name; with `least_h` one author must reach
    it.
    """

    any_version: bool = False
    journal_counts: bool = False
    any_comment: bool = False
    most_words: int = 1000
    least_references: int = 5
    least_h: int = 0
    h_indices: Mapping[str, int] = field(default_factory=dict)

    def against(self, paper: ListedPaper) -> str:
        """Why a candidate is left out, by its entry in the feed; empty if it is not."""
        if _WITHDRAWN.search(paper.comment):
            return "Its comment says that it is withdrawn."
        if paper.version > 1 and not self.any_version:
            return f"Version {paper.version} is the latest; only papers with a single version count."
        if not self.any_comment and (unsure := self._unaccepted(paper)):
            return unsure
        if not is_english(paper.abstract):
            return "Its abstract is not in English."
        indices = (self.h_indices.get(name.casefold(), 0) for name in paper.authors)
        if self.least_h and max(indices, default=0) < self.least_h:
            return f"No author is known to have an h-index of {self.least_h}."
        return ""

    def _unaccepted(self, paper: ListedPaper) -> str:
        if self.journal_counts and paper.journal:
            return ""
        if not paper.comment:
            return "It has no comment that says that it was accepted."
        if pending := _PENDING.search(paper.comment):
            return f"Its comment says “{pending[0]}”."
        if not _ACCEPTED.search(paper.comment):
            return "Its comment does not say that it was accepted."
        return ""


def is_english(text: str) -> bool:
    words = re.findall(r"[^\W\d_]+", text.lower())
    return sum(word in COMMON for word in words) >= LEAST_COMMON * len(words) > 0


SHORTEST, LONGEST, LONGEST_TITLE = 100, 200_000, 1_000
_LEVELS = {"part": 0, "chapter": 0, "section": 1, "subsection": 2}
_HEADING = re.compile(r"\\(part|chapter|section|subsection)\b\s*\*?\s*(?:\[[^\[\]]*\]\s*)?\{")
_APPENDIX = re.compile(r"\\appendix\b|\\begin\s*\{appendices\}")
_ENDS = re.compile(
    r"\\appendix\b|\\begin\s*\{appendices\}|\\bibliography\s*\{|\\printbibliography\b"
    r"|\\begin\s*\{thebibliography\}|\\end\s*\{document\}"
)
_PLAIN_TITLE = re.compile(r"\\texorpdfstring\s*\{(?:[^{}]|\{[^{}]*\})*\}|\\label\s*\{[^{}]*\}|\\[A-Za-z]+\*?")
_RELATED_WORK = re.compile(r"\brelated\s+works?\b")

Tell = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class ReadSection:
    """A section as extracted, with the entry of each work that it cites in the paper's own bibliographies."""

    latex: str
    cited: tuple[CitedEntry, ...]
    note: str = ""


def build(path: Path, rules: Rules, tell: Tell) -> Funnel:
    """The papers of a folder that meet the rules, and the reasons against the others."""
    collection = Collection.at(path)
    candidates, works = collection.candidates(), collection.works()
    papers: list[CollectedPaper] = []
    refused: list[RefusedPaper] = []
    for number, paper in enumerate(candidates, 1):
        tell("reading papers", number, len(candidates))
        try:
            papers.append(_resolved(paper, read_section(collection, paper, rules), works))
        except Unfit as why:
            refused.append(RefusedPaper(paper.key, why.stage, why.reason, paper.title))
    return Funnel(len(candidates), tuple(papers), tuple(refused))


def read_section(collection: Collection, paper: ListedPaper, rules: Rules) -> ReadSection:
    """The section of a candidate; Unfit at the first stage that refuses it."""
    if reason := rules.against(paper):
        raise Unfit(RefusalStage.FILTER, reason)
    files = files_of(collection.eprint(paper))
    whole = assembled(files)
    section, note = related_work(whole.text)
    text = latex.without_floats(section)
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
    return ReadSection(text, tuple(entries(keys, files, whole).values()), note)


def _resolved(paper: ListedPaper, section: ReadSection, works: KnownWorks) -> CollectedPaper:
    """The paper with its works; notes name keys without an entry and works that appeared too late."""
    day = paper.published[:10]
    result = [works.resolved(entry, day, paper.id) for entry in section.cited]
    unknown = [one.key for one in section.cited if one == CitedEntry(one.key)]
    notes = [
        *([section.note] if section.note else []),
        *(f"“{key}” stands in no bibliography; its key serves as title" for key in unknown),
        *(f"“{entry.key}”: {note}" for entry, note in result if note),
    ]
    return CollectedPaper(
        paper.key,
        paper.title,
        paper.abstract,
        paper.published,
        paper.category,
        section.latex,
        tuple(entry for entry, _ in result),
        tuple(notes),
    )


def related_work(text: str) -> tuple[str, str]:
    """The LaTeX of the section, or else the subsection, on related work, and anything unusual about it.

    Those in the main text come before those in the appendix.
    """
    visible = latex.masked(text)
    appendix = result.start() if (result := _APPENDIX.search(visible)) else len(visible)
    headings = [
        (_LEVELS[match[1]], match.start(), *_title(visible, match.end()))
        for match in _HEADING.finditer(visible)
    ]
    matching = [heading for heading in headings if heading[0] > 0 and _RELATED_WORK.search(heading[3])]
    if not matching:
        raise Unfit(RefusalStage.SECTION, "It has no section on related work.")
    level, at, begin, _ = min(matching, key=lambda one: (one[1] > appendix, one[0], one[1]))
    after = [start for other, start, _, _ in headings if start > at and other <= level]
    ends = [one.start() for one in _ENDS.finditer(visible, begin)][:1]
    section = text[begin : min([*after, *ends, len(text)])].strip()
    if len(" ".join(latex.without_comments(section).split())) < SHORTEST:
        raise Unfit(
            RefusalStage.SECTION, f"Its section on related work has fewer than {SHORTEST} characters."
        )
    if len(section) > LONGEST:
        raise Unfit(RefusalStage.CLEAN, f"Its section has more than {LONGEST:,} characters of LaTeX.")
    notes = ["a subsection serves as the section"] * (level > 1) + ["it stands in the appendix"] * (
        at > appendix
    )
    return section, "; ".join(notes)


def _title(visible: str, start: int) -> tuple[int, str]:
    """The offset at which the braces of a title end, and its words in lower case."""
    end = latex.closing(visible, start, LONGEST_TITLE, depth=1)
    words = _PLAIN_TITLE.sub(" ", visible[start:end])
    return end + 1 if end else start, " ".join(re.sub(r"[^a-z]+", " ", words.lower()).split())
