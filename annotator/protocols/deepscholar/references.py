"""References of a report beside those of the exemplar: which important ones it names, and how well known its own are.

DeepScholar-Bench: reference coverage and document importance, §8.3.2. No judge is needed.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from statistics import median

from annotator.domain.judges.protocol import Material, Metric, Protocol, RatedResponse
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.protocols.deepscholar.retrieved import NAMES_NOTHING, UNKNOWN_SET, RetrievedWork, retrieved

NAME = "deepscholar.references"
# In days: counts of citations that were made further apart are not the same count.
FAR_APART = 30
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
that the report names itself. A work counts once. Undefined where nobody has said which references are important, or
none on arXiv is; where it was said of some alone, the others leave a range.
"""
IMPORTANCE = """\
$$DI = min(\\frac{m_S}{m_E}, 1)$$

How often the works that a report names have been cited, beside those on arXiv that the exemplar cites (§8.3.2), each by
its median; an even number averages the middle two. Undefined while no count is known, or where the exemplar's median
is 0.
"""


@dataclass(frozen=True, slots=True)
class ImportantWorks:
    """E: what the important works on arXiv are known by, each work once; and those of which nobody has said it yet."""

    wanted: Sequence[set[str]]
    open_: Sequence[set[str]]


def important(material: Material) -> ImportantWorks | None:
    """E of an item; None where nobody has said which references are important."""
    units = material.units(Kind.EVIDENCE)
    if not any(unit.importance for unit in units):
        return None
    works: dict[str, list[Reference]] = defaultdict(list)
    for unit in filter(_on_arxiv, units):
        works[_address(unit)].append(unit)
    said = [({unit.importance for unit in of}, _of_all(of)) for of in works.values()]
    wanted = [keys for how, keys in said if "important" in how]
    return ImportantWorks(wanted, [keys for how, keys in said if how == {""}])


def _of_all(references: Iterable[Reference]) -> set[str]:
    """By what a work is known that these references name."""
    return set().union(*(_keys(one.identifier, one.text) for one in references))


def reference_coverage(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """RC of one report; `n` counts the important references."""
    works, named = important(scored.material), retrieved(scored.material)
    if named is None:
        return Estimate(None, method=COVERAGE_METHOD, note=UNKNOWN_SET)
    if works is None:
        note = "nobody has said which references are important"
        return Estimate(None, method=COVERAGE_METHOD, note=note)
    return _covered(
        works, set().union(*(_keys(one.address, one.title, one.reference.text) for one in named)), over_valid
    )


def _covered(works: ImportantWorks, known: set[str], over_valid: bool) -> Estimate:
    """The share of the important works that are named; one that may yet be important moves what it could."""
    n, found = len(works.wanted), sum(bool(keys & known) for keys in works.wanted)
    gaps, more = len(works.open_), sum(bool(keys & known) for keys in works.open_)
    notes = ["" if known else NAMES_NOTHING, f"{found} of {n} named" if n and known else ""]
    notes += ["" if n else "no reference on arXiv is important"]
    notes += [f"of {counted(gaps, 'reference')} nobody has said whether they are important" if gaps else ""]
    ends = (
        (
            found / (n + gaps - more) if n + gaps - more else 1.0,
            (found + more) / (n + more) if n + more else 0.0,
        )
        if n or gaps
        else (None, None)
    )
    usable = n and (over_valid or not gaps)
    note = "; ".join(filter(None, notes))
    return Estimate(
        found / n if usable else None,
        n=n, missing=gaps, floor=ends[0], ceiling=ends[1], method=COVERAGE_METHOD, note=note,
    )  # fmt: skip


def document_importance(scored: RatedResponse, _: bool = False) -> Estimate:
    """DI of one report; `n` counts the works of S whose citations are known."""
    named = retrieved(scored.material)
    if named is None:
        return Estimate(None, method=IMPORTANCE_METHOD, note=UNKNOWN_SET)
    cited = list(dict.fromkeys(map(_address, filter(_on_arxiv, scored.material.units(Kind.EVIDENCE)))))
    theirs = _counts(scored.material, cited)
    if not theirs:
        note = "no citations of the exemplar's references are known"
        return Estimate(None, method=IMPORTANCE_METHOD, note=note)
    if not named:
        return Estimate(0.0, floor=0.0, ceiling=0.0, method=IMPORTANCE_METHOD, note=NAMES_NOTHING)
    own = [work.address for work in named]
    found, unknown = _beside(named, _counts(scored.material, own), median(theirs)), len(cited) - len(theirs)
    notes = [f"{unknown} of the exemplar's not known" if unknown else "", *_days(scored.material, own, cited)]
    return found.remarked(*notes)


def _days(material: Material, *of: Iterable[str]) -> Iterator[str]:
    """When citations were counted, which grow: a comparison over many days is flagged."""
    pages = (material.pages.get(address) for address in chain(*of))
    days = {page.citations_on for page in pages if page and page.citations is not None}
    known = sorted(day for day in days if day is not None)
    if known:
        yield f"counted on {known[0]}" if len(known) == 1 else f"counted from {known[0]} to {known[-1]}"
        if (known[-1] - known[0]).days > FAR_APART:
            yield f"counts are more than {FAR_APART} days apart"


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
