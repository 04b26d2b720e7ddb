"""Queries: the question as an expert would put it to a deep-research system."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import ClassVar

from annotator.domain.kinds.artifact import Document, Kind
from annotator.domain.kinds.checks import Context, marked, phrases
from annotator.domain.kinds.finding import Finding, warning
from annotator.domain.kinds.spec import KindSpec
from annotator.domain.kinds.unit import Unit


class Wording(Unit):
    """One wording of the query; the first is the one that is asked."""


class Query(Document[Wording]):
    """The query of one item, with alternatives if any (ADRA §4)."""

    KIND: ClassVar[Kind] = Kind.QUERY
    UNIT: ClassVar[type[Unit]] = Wording


_CITED = re.compile(
    r"(?<![\w'’-])[A-Z][\w'’-]++ (?:et al\b|(?:and|&) [A-Z][\w'’-]+,? \(?(?:19|20)\d\d|\((?:19|20)\d\d[a-z]?\))"
)
_CLOSED = re.compile(
    r"^\W*(?:is|are|was|were|does|do|did|has|have|can|could|will|would|should)\b(?!.*\b(?:how|why|what|which|extent)\b)",
    re.IGNORECASE | re.DOTALL,
)
_IN_HAND = phrases(
    r"(?:the|this|their|our) (?:paper|article|manuscript|authors?|present study)",
    r"(?:the|this|their|our) proposed (?:method|approach|model|framework)",
    r"this (?:study|work|review|survey)",
    r"(?:table|figure|fig\.|section|appendix|equation) \d+",
    "(?:mentioned|described|shown|listed) (?:above|below|here)",
    "the above",
)
_ACRONYM = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Za-z][\w]*(?:[-+][\w]+)*")
# What a paper names itself: "we propose NAME", "called NAME", or the NAME that opens its title before a colon.
_COINED = re.compile(
    r"(?:\bwe (?:\w+ ){0,2}?(?:propose|present|introduce|develop|design|release|call|name|term|dub|construct|build)"
    r"|\b(?:called|named|termed|dubbed|coined))\b(?P<after>[^.;]{1,120})",
    re.IGNORECASE,
)
_WELL_KNOWN_NAMES = """
    AI AGI LLM LLMs VLM VLMs NLP ML RL RAG GPU GPUs CPU CPUs API APIs QA IR HCI IoT DNA RNA mRNA PCR CRISPR MRI fMRI CT
    EEG ECG HIV COVID COVID-19 SARS WHO UN EU USA US UK NASA OECD GDP ESG CO2 pH UV IR NMR XRD SEM TEM DFT GIS LCA PV
    HVAC BIM PhD arXiv GitHub PyTorch TensorFlow Wikipedia GPT GPT-3 GPT-4 BERT CNN CNNs RNN RNNs LSTM GAN GANs SVM
"""
_WELL_KNOWN = frozenset(_WELL_KNOWN_NAMES.split())
_TITLE_NAME = re.compile(r"^[#\s]*(?P<name>[\w+-]+(?: [\w+-]+)?):\s")
_FULL_NAME = re.compile(
    r"\b[A-Z][a-zà-ÿ'’-]+(?: [A-Z]\.)* (?P<last>[A-Z][a-zà-ÿ]+(?:[-'’][A-Z][a-zà-ÿ]+)?)\b"
)
_ABSTRACT = re.compile(
    r"^\W*(?:abstract|summary|1\.? introduction|introduction)\b", re.IGNORECASE | re.MULTILINE
)
_HEAD = 1500


def findings(query: Query, context: Context) -> Iterator[Finding]:
    """Every remark on a query's wordings (ADRA §4.2)."""
    units = [unit for unit in query.units if unit.text.strip()]
    yield from marked(
        "author",
        _CITED,
        units,
        "“{found}” names an author.",
        "Ask about the topic, not about its authors.",
    )
    yield from _of_the_source(units, context.source_text)
    if context.english:
        yield from marked(
            "closed",
            _CLOSED,
            units,
            "This can be answered with yes or no.",
            "Ask how, why or to what extent.",
        )
        yield from marked(
            "paper-in-hand",
            _IN_HAND,
            units,
            "“{found}” refers to the paper itself.",
            "Ask so that someone who has not read it understands.",
        )


def _of_the_source(units: Sequence[Unit], source_text: str) -> Iterator[Finding]:
    """Warnings on names that only the source's readers know: its authors, and the methods it coined."""
    names, coined = _authors(source_text), _coinages(source_text)
    for unit in units:
        words = set(re.findall(r"[\w'’+-]+", unit.text))
        for name in sorted(names & words):
            yield warning("author", f"“{name}” is an author of the source.", "Leave names out.", unit.id)
        for name in sorted(coined & words):
            yield warning(
                "acronym", f"“{name}” is the source's own name for it.", "Describe the idea instead.", unit.id
            )


@lru_cache(maxsize=16)
def _coinages(source_text: str) -> frozenset[str]:
    """The acronyms and CamelCase names that the source introduces as its own."""
    title = _TITLE_NAME.match(source_text)
    stretches = [found["after"] for found in _COINED.finditer(source_text)] + [title["name"] if title else ""]
    return frozenset(name for stretch in stretches for name in _ACRONYM.findall(stretch)) - _WELL_KNOWN


@lru_cache(maxsize=16)
def _authors(source_text: str) -> frozenset[str]:
    """The last names between the source's title and its abstract; none when no abstract ends them."""
    abstract = _ABSTRACT.search(source_text, 0, _HEAD)
    title_end = source_text.find("\n")
    if not abstract or title_end < 0:
        return frozenset()
    names = {found["last"] for found in _FULL_NAME.finditer(source_text, title_end, abstract.start())}
    # What the running text writes small is a word, not a name: university, research, green.
    words = set(re.findall(r"\b[a-z]+\b", source_text[abstract.end() :]))
    return frozenset(name for name in names if name.lower() not in words)


SPEC = KindSpec(
    Query,
    title="Query",
    unit="wording",
    units="wordings",
    what="The query is the question as you would put it to a deep-research system: open-ended, and answerable "
    "without the source in hand. Once it is settled, its first wording is the item's question.",
    prompt="Ask the question as you would ask a well-read colleague.",
    table="wordings",
    lint=findings,
    hints=(
        "This wording is asked once the query is settled.",
        "An alternative; move it to the top to ask it.",
    ),
    ordered=True,
)
