"""ADRA retrieval: the references of a report compared with the gold evidence (§3.2, appendix G).

No judge is needed: two references are the same work if a key is equal.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.protocol import (
    Ask,
    Extracted,
    Extraction,
    Material,
    Metric,
    Protocol,
    RatedResponse,
    extracting,
)
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.extract import Matching, ResponsePart, RetrievalComparison, RetrievalMatch
from annotator.domain.material.item import Response
from annotator.domain.texts.difference import find
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.identifier import Identifier, different_works, normal_title, parse, work_named
from annotator.protocols.adra import counts
from annotator.protocols.adra.counts import F1, JACCARD, RECALL, CountFigure, CountTally
from annotator.protocols.adra.reading import (
    LONGEST_QUOTE,
    NAME as EXTRACTION_NAME,
    ReferenceEntry,
    WorkMention,
    as_reference,
    references,
)
from annotator.protocols.citations import LONGEST_IDENTIFIER
from annotator.protocols.several import QUOTE_MISSING, ModelReply, fields

NAME = "adra.retrieval"

DEPARTURES = (
    "Section 3.2 of the paper matches by DOI, appendix G by the first 20 characters of the title. Both are used, in "
    "this order: DOI, arXiv id without its version, title.",
    "A title of fewer than 20 normal characters matches only an equal title: its beginning says too little.",
    "For research papers, whose one gold source is the paper itself, the paper prints only an accuracy. Being found "
    "or not is reported as hit; the Jaccard index of the same report is far lower and stands beside it. Accuracy is "
    "hit where one source is gold and the Jaccard index where several are.",
    "A report that cites nothing has precision 0, as its recall and F1 are 0; the paper does not say. Precision of "
    "reports that cite is the other reading, which leaves it out.",
    "An equal address alone is no match: neither section names it as a key. An address that gives a DOI or an arXiv id "
    "away (a publisher's page, the ACL Anthology, arXiv's mirrors) counts as that, in the gold evidence as in reports.",
    "Two different DOIs, or two different arXiv ids, are never one work, however alike the titles: the paper does not "
    "say so. Such pairs are listed.",
    "Of a reference that a model reads out of a report, words, title and identifier must stand there; what it adds "
    "from memory is left out and flagged.",
)

# Appendix G: matching references.


def compare(retrieved: Sequence[Reference], gold: Sequence[Reference]) -> RetrievalComparison:
    """Every match, one to one, with its reason; by equal DOI, then arXiv id, then title, the first with the first."""
    pairs = _pairs(_named(retrieved), _named(gold))
    ours, theirs = {i for i, _ in pairs}, {j for _, j in pairs}
    superfluous = tuple(reference for i, reference in enumerate(retrieved) if i not in ours)
    lacking = tuple(reference for j, reference in enumerate(gold) if j not in theirs)
    matches = tuple(_match(retrieved[i], gold[j]) for i, j in pairs)
    return RetrievalComparison(matches, superfluous, lacking, _conflicts(superfluous, lacking))


def _conflicts(
    retrieved: Sequence[Reference], gold: Sequence[Reference]
) -> tuple[tuple[Reference, Reference], ...]:
    """Pairs that match by title but have conflicting identifiers."""
    from annotator.stats.matching.matching import ReferencedWork, alike_by_title

    works = ([ReferencedWork(*name) for name in _named(side)] for side in (retrieved, gold))
    alike = [(retrieved[i], gold[j]) for i, j in alike_by_title(*works)]
    return tuple(
        pair for pair in alike if different_works(*(work_named(reference.identifier) for reference in pair))
    )


# The keys of references: identifier and title, as written.
Names = tuple[tuple[str, str], ...]


def _named(references: Sequence[Reference]) -> Names:
    return tuple((reference.identifier, reference.text) for reference in references)


@lru_cache(maxsize=1024)
def _pairs(retrieved: Names, gold: Names) -> tuple[tuple[int, int], ...]:
    """The positions of matching references; cached, since all figures of a response use them."""
    from annotator.stats.matching.matching import ReferencedWork, align_references

    result = align_references(
        [ReferencedWork(*name) for name in retrieved], [ReferencedWork(*name) for name in gold]
    )
    return tuple((i, j) for i, j, _ in result.pairs)


def tally(retrieved: Sequence[Reference], gold: Sequence[Reference]) -> CountTally:
    """The counts of retrieved, gold, and matched references."""
    result = len(_pairs(_named(retrieved), _named(gold)))
    return CountTally(len(retrieved), result, len(gold), result)


def _match(retrieved: Reference, gold: Reference) -> RetrievalMatch:
    from annotator.stats.matching.matching import TITLE_KEY

    identifier, other = work_named(retrieved.identifier), work_named(gold.identifier)
    if identifier is not None and identifier == other and identifier.scheme in ("doi", "arxiv"):
        return RetrievalMatch(
            retrieved, gold, "doi" if identifier.scheme == "doi" else "arxiv", identifier.value
        )
    return RetrievalMatch(retrieved, gold, "title", normal_title(gold.text)[:TITLE_KEY])


# Appendix F: the figures of these counts.


def hit(tally: CountTally) -> float | None:
    """Whether the one gold source was found; None if there are several."""
    return float(tally.found) if tally.gold == 1 else None


# 0 if nothing was retrieved, as recall and F1 are.
PRECISION = replace(counts.PRECISION, of=lambda tally: counts.precision(tally) or 0.0)
CITING = replace(counts.PRECISION, name="precision.citing", title="precision (of reports that cite)")
HIT = CountFigure(
    "hit", "hit", "1 if the one gold source is among them, else 0", hit, "there are several gold sources"
)


def accuracy(tally: CountTally) -> float | None:
    """The accuracy of the paper's tables: hit if one source is gold, the Jaccard index if several are."""
    return hit(tally) if tally.gold == 1 else JACCARD.of(tally)


ACCURACY = CountFigure(
    "accuracy",
    "accuracy",
    "hit where one source is gold, TP / (TP + FP + FN) where several are",
    accuracy,
    JACCARD.undefined,
)


def score(figure: CountFigure, scored: RatedResponse, _over_valid: bool = False) -> Estimate:
    """A figure of the references of one response; `n` counts the gold references."""
    gold = scored.material.units(Kind.EVIDENCE)
    if not gold:
        return Estimate(None, method=figure.formula, note="the item has no gold evidence")
    if ResponsePart.REFERENCES not in scored.material.parts:
        note = "the references of this response are not known"
        return Estimate(None, method=figure.formula, note=note)
    counted = tally(scored.material.units(ResponsePart.REFERENCES), gold)
    value = figure.of(counted)
    result = f"{counted.found} found of {counted.gold}, {counted.predicted} retrieved"
    note = figure.undefined if value is None else result
    return Estimate(value, n=len(gold), floor=value, ceiling=value, method=figure.formula, note=note)


_MEANING = {
    JACCARD: "The paper calls it accuracy. 0 for a response without references.",
    PRECISION: "0 for a response without references, as recall and F1 are; `retrieval.precision.citing` leaves it out.",
    CITING: "Undefined for a response without references, which so is out of a system's mean while recall and F1 count "
    "it as 0; `retrieval.precision` counts it as 0 too.",
    RECALL: "0 for a response without references.",
    F1: "0 for a response without references.",
    ACCURACY: "What the paper's tables show: hit for research papers, the Jaccard index for reviews, and the mean of "
    "both as average. 0 for a response without references.",
    HIT: "This is what the paper's accuracy for research papers shows. Undefined for items with several gold sources.",
}


def _metric(figure: CountFigure) -> Metric:
    definition = (
        f"`{figure.formula}` over the references of one report (ADRA §3.2, appendices F and G). TP is the number of "
        "retrieved references that are gold ones, one to one, by equal DOI, equal arXiv id without its version or "
        "equal first 20 characters of the normal title, in this order; two DOIs or arXiv ids that differ are never one "
        "work. FP are the other retrieved ones, FN the gold ones not found. "
        f"{_MEANING[figure]} Undefined without gold evidence, and while the references of the response are not known."
    )
    title = f"Retrieval {figure.title}"
    return Metric(
        f"retrieval.{figure.name}",
        title,
        definition,
        partial(score, figure),
        parts=(ResponsePart.REFERENCES,),
    )


METRICS = tuple(_metric(figure) for figure in (JACCARD, PRECISION, RECALL, F1, HIT, ACCURACY, CITING))

RETRIEVAL = Protocol(
    name=NAME,
    title="References against the gold evidence",
    citation="ADRA, §3.2, §4.4 and appendices F and G",
    needs=(Kind.EVIDENCE,),
    parts=(ResponsePart.REFERENCES,),
    metrics=METRICS,
    matching=Matching(
        compare,
        "Matched one to one, by equal DOI, then equal arXiv id without its version, then equal first 20 characters of "
        "the normal title. An equal address alone is no match, and neither is an equal title where two DOIs or two "
        "arXiv ids differ; such pairs are listed beside the references they consist of.",
    ),
    departures=DEPARTURES,
)


# References extracted from a report, by a model or by rule (ADRA §3.2, appendix G).

IDENTIFIER_MISSING, TITLE_MISSING = "identifier_missing", "title_missing"
# The maximum lengths of a reference's fields.
LONGEST_TITLE, LONGEST_AUTHORS = 20_000, 2_000
YEARS = range(1000, 2201)


class Listed(ModelReply):
    """One reference as a model read it. The report's words come first."""

    quote: str = Field(description="The words of the report that name the work, copied exactly")
    title: str = Field(description="The title of the work as the report gives it; empty if it gives none")
    identifier: str = Field(
        description="DOI, arXiv id, ISBN or address, as in the report; empty if it gives none"
    )
    authors: str = Field(description="Its authors as the report gives them; empty if it gives none")
    year: int | None = Field(description="Its year; null if the report gives none")


class References(ModelReply):
    """The works that a report refers to."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text, one line for each work and nothing else, in four fields with || between spaces from "
        "field to field: the words of the report that name it, its title, its DOI, arXiv id or address, and its "
        "authors. Put a single - into a field that the report does not fill."
    )
    references: list[Listed] = Field(description="The works, each once; empty if there are none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        lines = [["" if field == "-" else field for field in line] for line in fields(text, 4)]
        return cls(
            references=[
                Listed(quote=quote, title=title, identifier=identifier, authors=authors, year=None)
                for quote, title, identifier, authors in lines
            ]
        )


@extracting
async def extract(material: Material, ask: Ask) -> Extracted:
    """The references that a model extracts from a report; whatever the report does not contain is left out and
    flagged.
    """
    answer = await ask(EXTRACTION_NAME, {"report": material.response.text}, References, fenced=("report",))
    flags = list(answer.flags)
    units: dict[str, Reference] = {}
    for unit in _checked(answer.needed().references, material.response, flags):
        units.setdefault(unit.id, unit)
    return Extracted(Evidence(units=tuple(units.values())), flags=tuple(dict.fromkeys(flags)))


def _checked(listed: list[Listed], response: Response, flags: list[str]) -> Iterator[Reference]:
    """The references whose words are in the report, without identifiers and titles that are not; adds to the flags.

    A model knows the titles of many works: one added from memory would count in the system's favour.
    """
    for one in listed:
        span = find(response.text, one.quote)
        if span is None:
            flags.append(QUOTE_MISSING)
            continue
        identifier, title = _identifier(one, response.text, flags), _title(one, response.text, flags)
        authors = one.authors.strip()[:LONGEST_AUTHORS]
        year = one.year if one.year in YEARS else None
        if not (title or identifier):
            continue
        anchor = Anchor.at(response.text, span[0], min(span[1], span[0] + LONGEST_QUOTE), response.id)
        yield as_reference(WorkMention(identifier, ReferenceEntry(title, authors, year), *span), anchor)


def _identifier(one: Listed, report: str, flags: list[str]) -> Identifier | None:
    if one.identifier.strip() and not _held(one.identifier, report):
        flags.append(IDENTIFIER_MISSING)
        return None
    identifier = parse(one.identifier)
    return identifier if len(str(identifier)) <= LONGEST_IDENTIFIER else None


def _title(one: Listed, report: str, flags: list[str]) -> str:
    title = " ".join(one.title.split())[:LONGEST_TITLE]
    if title and find(report, title) is None:
        flags.append(TITLE_MISSING)
        return ""
    return title


def _held(identifier: str, report: str) -> bool:
    """Whether the report contains an identifier, as given or in its normal form."""
    result, low = parse(identifier), report.lower()
    spellings = [identifier.strip()] + ([result.value] if result else [])
    return any(spelling.lower() in low for spelling in spellings)


def baseline(material: Material) -> Extracted:
    """The references read by rule: lists, links, DOIs and arXiv ids; an empty list if there are none."""
    evidence = references(material.response.text, material.response.id)
    remark = "baseline: read by rule from lists of references, links, DOIs and arXiv ids"
    return Extracted(evidence.model_copy(update={"remark": remark}))


EXTRACTION_DEPARTURES = (
    "The paper takes the citations that a system returns. Where only its report is at hand, a model reads them out of "
    "it, or a rule does: what does not stand in the report is left out.",
)
EXTRACTION = Extraction(
    name=EXTRACTION_NAME,
    title="References of a report",
    citation="ADRA, §3.2 and appendix G",
    makes=ResponsePart.REFERENCES,
    prompts=(EXTRACTION_NAME,),
    extract=extract,
    baseline=baseline,
    departures=EXTRACTION_DEPARTURES,
)
