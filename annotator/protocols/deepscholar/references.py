"""References of a report beside those of the exemplar: which important ones it names, and how well known its own are.

DeepScholar-Bench: reference coverage and document importance, §8.3.2. No judge is needed.
"""

from collections.abc import Iterable, Sequence
from statistics import median

from annotator.domain.judges.protocol import Material, Metric, Protocol, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.protocols.deepscholar.retrieved import NAMES_NOTHING, UNKNOWN_SET, RetrievedWork, retrieved

NAME = "deepscholar.references"
COVERAGE_METHOD = "|E ∩ S| / |E|"
IMPORTANCE_METHOD = "min(median citations of S / median citations of S*, 1)"
DEPARTURES = (
    "A reference is found by its arXiv id, its DOI or its whole title. The public code takes titles that are alike in "
    "more than .8 of their letters, so that surveys with similar names are one.",
    "An item in which no reference on arXiv is important has no reference coverage; the public code gives it 0.",
    "Document importance is taken item by item and then averaged, and ends at 1; works whose citations are not known "
    "are left out of the medians and counted. The public code gives the median itself, without the exemplar's.",
    "A report that names no work on arXiv has 0 in both.",
)
COVERAGE = """\
$$RC = \\frac{|E \\cap S|}{|E|}$$

Of the important references E of the exemplar that are on arXiv, the share that the report names (§8.3.2). A reference
is important when a good section on the paper must have it; who says so stands in the gold evidence. S are the works
that the report names itself. Undefined where nobody has said which references are important, or none on arXiv is.
"""
IMPORTANCE = """\
$$DI = min(\\frac{m_S}{m_E}, 1)$$

How often the works that a report names have been cited, beside those on arXiv that the exemplar cites (§8.3.2), each by
its median; an even number averages the middle two. Undefined while no count is known, or where the exemplar's median
is 0.
"""


def important(material: Material) -> list[Reference] | None:
    """E: the important references on arXiv; None where nobody has said which are important."""
    units = material.units(Kind.EVIDENCE)
    if not any(unit.importance for unit in units):
        return None
    return [unit for unit in units if unit.importance == "important" and _on_arxiv(unit)]


def reference_coverage(scored: RatedResponse, _: bool = False) -> Estimate:
    """RC of one report; `n` counts the important references."""
    wanted, named = important(scored.material), retrieved(scored.material)
    if named is None:
        return Estimate(None, method=COVERAGE_METHOD, note=UNKNOWN_SET)
    if wanted is None:
        note = "nobody has said which references are important"
        return Estimate(None, method=COVERAGE_METHOD, note=note)
    if not wanted:
        return Estimate(None, method=COVERAGE_METHOD, note="no reference on arXiv is important")
    known = set().union(*(_keys(work.address, work.title, work.reference.text) for work in named))
    found = sum(bool(_keys(one.identifier, one.text) & known) for one in wanted)
    value = found / len(wanted)
    note = NAMES_NOTHING if not named else f"{found} of {len(wanted)} named"
    return Estimate(value, n=len(wanted), floor=value, ceiling=value, method=COVERAGE_METHOD, note=note)


def document_importance(scored: RatedResponse, _: bool = False) -> Estimate:
    """DI of one report; `n` counts the works of S whose citations are known."""
    named = retrieved(scored.material)
    if named is None:
        return Estimate(None, method=IMPORTANCE_METHOD, note=UNKNOWN_SET)
    theirs = _counts(scored.material, map(_address, filter(_on_arxiv, scored.material.units(Kind.EVIDENCE))))
    if not theirs:
        note = "no citations of the exemplar's references are known"
        return Estimate(None, method=IMPORTANCE_METHOD, note=note)
    if not named:
        return Estimate(0.0, floor=0.0, ceiling=0.0, method=IMPORTANCE_METHOD, note=NAMES_NOTHING)
    return _beside(named, _counts(scored.material, (work.address for work in named)), median(theirs))


def _beside(named: Sequence[RetrievedWork], ours: Sequence[int], theirs: float) -> Estimate:
    unknown = len(named) - len(ours)
    if not ours or theirs == 0:
        note = "its works' citations are not known" if not ours else "the exemplar's median is 0"
        return Estimate(None, method=IMPORTANCE_METHOD, note=note)
    value = min(median(ours) / theirs, 1.0)
    note = f"medians {median(ours):g} and {theirs:g}" + (f"; {unknown} not known" if unknown else "")
    return Estimate(value, n=len(ours), floor=value, ceiling=value, method=IMPORTANCE_METHOD, note=note)


def _counts(material: Material, addresses: Iterable[str]) -> list[int]:
    """The citations of works, each once, where they are known."""
    pages = [material.pages.get(address) for address in dict.fromkeys(addresses)]
    return [page.citations for page in pages if page is not None and page.citations is not None]


def _address(reference: Reference) -> str:
    return str(work_named(reference.identifier))


def _on_arxiv(reference: Reference) -> bool:
    named = work_named(reference.identifier) if reference.identifier else None
    return named is not None and named.scheme == "arxiv"


def _keys(identifier: str, *titles: str) -> set[str]:
    """By what a work is known: its arXiv id or DOI, and its whole title."""
    named = work_named(identifier) if identifier else None
    found = {str(named)} if named is not None and named.scheme in ("arxiv", "doi") else set()
    return found | {f"title {key}" for title in titles if (key := normal_title(title))}


REFERENCES = Protocol(
    name=NAME,
    title="References beside the exemplar's",
    citation="DeepScholar-Bench, §8.3.2",
    needs=(Kind.EVIDENCE,),
    parts=(ResponsePart.REFERENCES,),
    metrics=(
        Metric(
            "reference_coverage",
            "Reference coverage",
            COVERAGE,
            reference_coverage,
            parts=(ResponsePart.REFERENCES,),
        ),
        Metric(
            "document_importance",
            "Document importance",
            IMPORTANCE,
            document_importance,
            parts=(ResponsePart.REFERENCES,),
        ),
    ),
    departures=DEPARTURES,
)
