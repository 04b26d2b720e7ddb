"""Papers built from a folder of what was collected, without a socket; every refusal says its stage and reason."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from annotator.domain.material.collected import CitedEntry, CollectedPaper, Funnel, RefusalStage, RefusedPaper
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.eprints import archives, assembling, sections
from annotator.exchange.eprints.archives import Unfit
from annotator.exchange.eprints.entries import entries
from annotator.exchange.eprints.feeds import ListedPaper
from annotator.exchange.eprints.folder import Collection
from annotator.exchange.eprints.known_works import KnownWorks
from annotator.exchange.eprints.rules import Rules, is_english
from annotator.exchange.texts import latex

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
    section = sections.related_work(whole.text)
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
