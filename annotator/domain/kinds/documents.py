"""Labels, queries, and the table of all document kinds: how each is parsed, and the checks of its guideline."""

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from pydantic import Field

from annotator.domain.common import Text, derived_id
from annotator.domain.kinds import (
    checklist,
    diagnostics,
    evidence,
    insights,
    inspirations,
    nuggets,
    plan,
    rubric,
    selection,
    tasks,
)
from annotator.domain.kinds.artifact import (
    USUAL,
    AlignmentRule,
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    Weights,
    english,
    error,
    marked,
    phrases,
    warning,
)
from annotator.domain.kinds.question_types import BAR

UNSURE = "unsure"
# The subject of a label is frozen beside its value: without it, figures by criterion would need the live documents.
ABOUT = ("protocol", "response_id", "unit_id")


class Label(Unit):
    """One rater's value on one unit of one report; `text` is left empty, `note` never counts as disagreement."""

    protocol: str = Field(max_length=80)
    response_id: str
    unit_id: str = Field(max_length=80, description="The unit of the artifact that the report was judged by")
    value: str = Field(max_length=200, description="A value of the protocol, or “unsure”")
    quote: Text = Field(default="", description="Evidence quoted from the report")
    flags: str = ""


class Labels(Document[Label], kind=Kind.LABELS):
    """The labels of one item, in the order of its reports and their units."""


def label_id(protocol: str, response_id: str, unit_id: str) -> str:
    """The id of a label: the same for every rater, so that labels of two raters match without alignment."""
    return derived_id("label", protocol, response_id, unit_id)


LABELS = KindSpec(
    Labels,
    title="Labels",
    unit="label",
    units="labels",
    what="A label says what a report does of a criterion.",
    prompt="",
    table="consensus_labels",
    fields=(UnitField("value", "Label", level="nominal", always_ac1=True),),
    says="value",
    aligned=AlignmentRule.ID,
    overlap=(),
    given=frozenset({*ABOUT, "text"}),
    frozen_fields=ABOUT,
)


class Wording(Unit):
    """One wording of the query; the first is the one that is asked."""


class Query(Document[Wording], kind=Kind.QUERY):
    """The query of one item, with alternatives if any (ADRA §4)."""


_CITED = re.compile(
    r"(?<![\w'’-])[A-Z][\w'’-]++ (?:et al\b|(?:and|&) [A-Z][\w'’-]+,? \(?(?:19|20)\d\d|\((?:19|20)\d\d[a-z]?\))"
)
_CLOSED = re.compile(
    r"^\W*(?:is|are|was|were|does|do|did|has|have|can|could|will|would|should)\b(?!.*\b(?:how|why|what|which|extent)\b)",
    re.IGNORECASE | re.DOTALL,
)
_IN_HAND = (
    r"(?:the|this|their|our) (?:paper|article|manuscript|authors?|present study)",
    r"(?:the|this|their|our) proposed (?:method|approach|model|framework)",
    r"this (?:study|work|review|survey)",
    r"(?:table|figure|fig\.|section|appendix|equation) \d+",
    "(?:mentioned|described|shown|listed) (?:above|below|here)",
    "the above",
)
_ACRONYM = re.compile(r"\b(?=\w*[A-Z]\w*[A-Z])[A-Za-z][\w]*(?:[-+][\w]+)*")
# A paper's own names: "we propose NAME", "called NAME", or the NAME that opens its title before a colon.
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
    """Every finding on a query's wordings (ADRA §4.2)."""
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
            phrases(*_IN_HAND),
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
    stretches = [result["after"] for result in _COINED.finditer(source_text)] + [
        title["name"] if title else ""
    ]
    return frozenset(name for stretch in stretches for name in _ACRONYM.findall(stretch)) - _WELL_KNOWN


@lru_cache(maxsize=16)
def _authors(source_text: str) -> frozenset[str]:
    """The last names between the source's title and its abstract; empty if there is no abstract after them."""
    abstract = _ABSTRACT.search(source_text, 0, _HEAD)
    title_end = source_text.find("\n")
    if not abstract or title_end < 0:
        return frozenset()
    names = {result["last"] for result in _FULL_NAME.finditer(source_text, title_end, abstract.start())}
    # A word in lower case in the running text is no name: university, research, green.
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


# In the order in which the papers have experts write them.
KINDS: dict[Kind, KindSpec] = {
    spec.kind: spec
    for spec in (
        SPEC,
        insights.SPEC,
        inspirations.SPEC,
        tasks.SPEC,
        plan.SPEC,
        evidence.SPEC,
        diagnostics.SPEC,
        rubric.SPEC,
        checklist.SPEC,
        nuggets.SPEC,
        selection.SPEC,
        LABELS,
    )
}
DOCUMENTS: dict[Kind, type[Document[Any]]] = {kind: spec.document for kind, spec in KINDS.items()}
# The kinds that experts write; labels judge reports by them.
WRITTEN = tuple(kind for kind in KINDS if kind is not Kind.LABELS)


def document_of(kind: Kind, tree: Any) -> Document[Any]:
    """The typed document of a JSON tree; pydantic's ValidationError names what does not fit."""
    return DOCUMENTS[kind].model_validate(tree)


def lint(
    document: Document[Any],
    question: str = "",
    source_text: str = "",
    language: str = "en",
    weights: Weights = USUAL,
    bar: float = BAR,
    *,
    exemplar: bool = False,
) -> list[Finding]:
    """The guideline's findings on an artifact, errors first; pure, and fast enough to run at every keystroke.

    `language` is the BCP 47 tag of the item: checks for English are silent for any other, and for text that is
    plainly not English. `weights` are those that the project allows, `bar` is the mean at which it keeps a question;
    `exemplar` tells whether the item has one.
    """
    spec = KINDS[document.KIND]
    context = Context(
        question,
        source_text,
        english(language, (unit.text for unit in document.units)),
        weights,
        bar,
        exemplar,
    )
    result = [*_empty(spec, document), *spec.lint(document, context)]
    return sorted(result, key=lambda finding: finding.level != "error")


def _empty(spec: KindSpec, document: Document[Any]) -> Iterator[Finding]:
    if not document.units:
        yield error("no-units", f"There is no {spec.unit} yet.", f"Add the first {spec.unit}.")
    for unit in document.units:
        if not unit.text.strip() and not getattr(unit, spec.instead or "text").strip():
            yield error(
                "empty", f"The {spec.text} is missing.", f"Write it, or remove the {spec.unit}.", unit.id
            )
