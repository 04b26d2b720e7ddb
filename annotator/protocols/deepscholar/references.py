"""References of a report compared with those of the exemplar: which important ones it names, and how often its own
are cited.

DeepScholar-Bench: reference coverage and document importance, §8.3.2. No judge is needed.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import inf
from statistics import median
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, Field

from annotator.domain.common import counted, grouped
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import (
    Aim,
    Ask,
    Case,
    Level,
    Material,
    Metric,
    Presentation,
    Protocol,
    RatedResponse,
    Scale,
    Value,
    Verdicts,
)
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import EXEMPLAR, Page, PageState
from annotator.domain.texts.estimate import Basis, Estimate
from annotator.domain.texts.identifier import normal_title, work_named
from annotator.domain.texts.words import terms
from annotator.protocols.several import ValueReply, mean_of_known, of_one

# The state of a work without abstract and text in the project, in place of a page's state.
ABSENT = "absent"
BY_PEOPLE = "The section that people wrote"
# A line break within a paragraph of an abstract from arXiv.
_BROKEN = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")
UNKNOWN_SET = "the references of this response are not known"
NAMES_NOTHING = "the report names no work on arXiv"


@dataclass(frozen=True, slots=True)
class RetrievedWork:
    """A work that a report names, with its project data; `page` holds its title and abstract."""

    reference: Reference
    address: str
    page: Page | None

    @property
    def abstract(self) -> str:
        """Its abstract; empty if it was never fetched or could not be read."""
        return _words(self.page)

    @property
    def title(self) -> str:
        return (self.page.title if self.page else "") or self.reference.text


def retrieved(material: Material) -> list[RetrievedWork] | None:
    """S, each work once; None while the references of the response are unknown, empty if it names none."""
    if ResponsePart.REFERENCES not in material.parts:
        return None
    works = by_work(filter(on_arxiv, material.units(ResponsePart.REFERENCES)))
    return [RetrievedWork(same[0], address, material.pages.get(address)) for address, same in works.items()]


def abstract_at(material: Material, address: str) -> str:
    """The abstract of the work at a normalised address; empty if it was never fetched or could not be read."""
    return _words(material.pages.get(address))


def work_fields(address: str, abstract: str) -> dict[str, str]:
    """The fields of a case about a work; one without an abstract says so."""
    return {"address": address, "page": _BROKEN.sub(" ", abstract)} | (
        {} if abstract else {"page_state": ABSENT}
    )


def _words(page: Page | None) -> str:
    return page.text.strip() if page and page.state is PageState.OK else ""


NAME = "deepscholar.references"
UNMARKED = "nobody has said which references are important"
MARKING = (
    "Mark them on the Author page under Evidence, or take a judge's labels over. Run: goldsmith judge run FILE --judge "
    "NAME --protocol deepscholar.reference_importance, then goldsmith labels into-gold FILE "
    "deepscholar.reference_importance --rater NAME"
)
COVERAGE_METHOD = "|E ∩ S| / |E|"
IMPORTANCE_METHOD = "min(median citations of S / median citations of S*, 1)"
POOLED_METHOD = "the same, each median over all reports of the system"
RELEASED_METHOD = "median citations of S"
DEPARTURES = (
    "A reference is found by its arXiv id, its DOI or its whole title. The public code takes titles that are alike in "
    "more than .8 of their letters, so that surveys with similar names are one.",
    "An item in which no reference on arXiv is important has no reference coverage; the public code gives it 0.",
    "Document importance is taken item by item and then averaged, and ends at 1; works whose citations are not known "
    "are left out of the medians and counted. The public code gives the median itself, without the exemplar's, which "
    "is a reading, as are two medians over all reports at once.",
    "Counts of citations grow: a figure tells the days of the first and the last count behind it.",
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
is 0. Counts grow, so the days on which they were made are told; more than 30 days between them are pointed out.
"""
COVERAGE_ALL = """\
The same over every important reference, whether it is on arXiv or not, and over all works that the report names.
Undefined where nobody has said which references are important, or none is.
"""
IMPORTANCE_POOLED = """\
The same with two medians in all: one over the works of all reports of the system, the other over the references on
arXiv of these items' exemplars. Undefined as the other is.
"""
IMPORTANCE_RELEASED = """\
The median number of citations of the works on arXiv that a report names, beside nothing, as the public code gives it. 0
for a report that names none. Undefined while no count is known.
"""


@dataclass(frozen=True, slots=True)
class ImportantWorks:
    """E: the keys of the important works, each work once; and of those not yet marked as important or not."""

    groups: Sequence[set[str]]
    open_: Sequence[set[str]]


def important(material: Material, *, everywhere: bool = False) -> ImportantWorks | None:
    """E of an item, on arXiv or `everywhere`; None if no reference of it is marked as important or not."""
    units = material.units(Kind.EVIDENCE)
    if not any(unit.importance for unit in units):
        return None
    works = by_work(unit for unit in units if everywhere or on_arxiv(unit))
    importances = [
        ({unit.importance for unit in of}, set().union(*(_keys(unit.identifier, unit.text) for unit in of)))
        for of in works.values()
    ]
    important_keys = [keys for how, keys in importances if "important" in how]
    return ImportantWorks(important_keys, [keys for how, keys in importances if how == {""}])


def by_work(references: Iterable[Reference]) -> dict[str, list[Reference]]:
    """References by the work that they name: its address, or its title if it has none."""
    return grouped((_address(one) or f"title {normal_title(one.text)}", one) for one in references)


def reference_coverage(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """RC of one report; `n` counts the important references."""
    named = retrieved(scored.material) or ()
    known = set[str]().union(*(_keys(work.address, work.title, work.reference.text) for work in named))
    return _covered(scored.material, important(scored.material), known, over_valid, " on arXiv")


def reference_coverage_of_all(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """The same over all important references and all works that the report names."""
    material = scored.material
    pages = [(unit, material.pages.get(_address(unit))) for unit in material.units(ResponsePart.REFERENCES)]
    known = set[str]().union(
        *(_keys(one.identifier, one.text, page.title if page else "") for one, page in pages)
    )
    return _covered(material, important(material, everywhere=True), known, over_valid, "")


def _covered(
    material: Material, works: ImportantWorks | None, known: set[str], over_valid: bool, where: str
) -> Estimate:
    """The share of the important works that are named; works not yet marked widen the range."""
    if ResponsePart.REFERENCES not in material.parts:
        return Estimate(None, method=COVERAGE_METHOD, note=UNKNOWN_SET)
    if works is None:
        return Estimate(None, method=COVERAGE_METHOD, note=UNMARKED)
    n, result = len(works.groups), sum(bool(keys & known) for keys in works.groups)
    gaps, more = len(works.open_), sum(bool(keys & known) for keys in works.open_)
    notes = [
        "" if known else NAMES_NOTHING,
        f"{result:,} of {n:,} named" if n and known else "",
        "" if n else f"no reference{where} is important",
        f"of {counted(gaps, 'reference')} nobody has said whether they are important" if gaps else "",
    ]
    # In the worst case exactly the unnamed ones are important, in the best case exactly the named ones.
    worst, best = n + gaps - more, n + more
    usable = n and (over_valid or not gaps)
    note = "; ".join(filter(None, notes))
    return Estimate(
        result / n if usable else None, n=n, missing=gaps, method=COVERAGE_METHOD, note=note,
        floor=result / worst if worst else 1.0 if gaps else None,
        ceiling=(result + more) / best if best else 0.0 if gaps else None,
    )  # fmt: skip


def document_importance(scored: RatedResponse, _: bool = False) -> Estimate:
    """DI of one report; `n` counts the works of S with known citation counts."""
    return _beside([scored.material], IMPORTANCE_METHOD)


def document_importance_pooled(scored: Sequence[RatedResponse], _: bool = False) -> Estimate:
    """The same over all reports of a system."""
    return _beside([response.material for response in scored], POOLED_METHOD)


def document_importance_released(scored: RatedResponse, _: bool = False) -> Estimate:
    """The median citation count of the works that a report names, as the public code computes it."""
    named = retrieved(scored.material)
    if named is None:
        return Estimate(None, method=RELEASED_METHOD, note=UNKNOWN_SET)
    ours = _known(scored.material, [work.address for work in named])
    if named and not ours:
        return Estimate(None, method=RELEASED_METHOD, note="its works' citations are not known")
    value, note = (float(median(map(_count, ours))), "") if named else (0.0, NAMES_NOTHING)
    result = Estimate(value, n=len(ours), floor=value, ceiling=value, method=RELEASED_METHOD, note=note)
    return result.based(_days(ours))


def _beside(materials: Sequence[Material], method: str) -> Estimate:
    """The median citation count of the reports' works relative to that of their exemplars' works."""
    of = [(material, result) for material in materials if (result := retrieved(material)) is not None]
    if not of:
        return Estimate(None, method=method, note=UNKNOWN_SET)
    own = [(one, work.address) for one, works in of for work in works]
    cited = [
        (one, address)
        for one, _ in of
        for address in dict.fromkeys(map(_address, filter(on_arxiv, one.units(Kind.EVIDENCE))))
    ]
    theirs = [page for one, address in cited for page in _known(one, [address])]
    if not theirs:
        return Estimate(None, method=method, note="no citations of the exemplar's references are known")
    if not own:
        return Estimate(0.0, floor=0.0, ceiling=0.0, method=method, note=NAMES_NOTHING)
    ours = [page for one, address in own for page in _known(one, [address])]
    ratio, unknown = _ratio(ours, theirs, len(own) - len(ours), method), len(cited) - len(theirs)
    noted = ratio.remarked(f"{unknown} of the exemplar's not known" if unknown else "")
    return noted.based(_days([*ours, *theirs]))


def _ratio(ours: Sequence[Page], theirs: Sequence[Page], unknown: int, method: str) -> Estimate:
    beside = median(map(_count, theirs))
    if not ours or beside == 0:
        note = "its works' citations are not known" if not ours else "the exemplar's median is 0"
        return Estimate(None, method=method, note=note)
    own = median(map(_count, ours))
    value = min(own / beside, 1.0)
    note = f"medians {own:g} and {beside:g}" + (f"; {unknown} not known" if unknown else "")
    return Estimate(value, n=len(ours), floor=value, ceiling=value, method=method, note=note)


def _known(material: Material, addresses: Sequence[str]) -> list[Page]:
    pages = map(material.pages.get, addresses)
    return [page for page in pages if page is not None and page.citations is not None]


def _count(page: Page) -> int:
    return page.citations or 0


def _days(pages: Iterable[Page]) -> Basis | None:
    """The first and last day of these citation counts, which grow over time; None if unknown."""
    days = [page.citations_on for page in pages if page.citations_on is not None]
    return Basis(days=(min(days), max(days))) if days else None


def _address(reference: Reference) -> str:
    return str(work_named(reference.identifier) or "")


def on_arxiv(reference: Reference) -> bool:
    named = work_named(reference.identifier)
    return named is not None and named.scheme == "arxiv"


def _keys(identifier: str, *titles: str) -> set[str]:
    """The keys of a work: its arXiv id or DOI, and its whole title."""
    named = work_named(identifier)
    result = {str(named)} if named is not None and named.scheme in ("arxiv", "doi") else set()
    return result | {f"title {key}" for title in titles if (key := normal_title(title))}


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
            "reference_coverage.all",
            "Reference coverage (on arXiv or not)",
            COVERAGE_ALL,
            reference_coverage_of_all,
            parts=(ResponsePart.REFERENCES,),
        ),
        Metric(
            "document_importance",
            "Document importance",
            IMPORTANCE,
            document_importance,
            parts=(ResponsePart.REFERENCES,),
        ),
        Metric(
            "document_importance.pooled",
            "Document importance (over all reports)",
            IMPORTANCE_POOLED,
            parts=(ResponsePart.REFERENCES,),
            pooled=document_importance_pooled,
        ),
        Metric(
            "document_importance.released",
            "Document importance (as released)",
            IMPORTANCE_RELEASED,
            document_importance_released,
            unit="citations",
            parts=(ResponsePart.REFERENCES,),
            within=(0.0, inf),
        ),
    ),
    departures=DEPARTURES,
    steps={UNMARKED: MARKING},
)


# Relevance rate: how relevant the works are that a report names. DeepScholar-Bench: relevance rate, §8.3.2; the
# judge's question, Box 2.

RELEVANCE_NAME = "deepscholar.relevance"
METHOD, MEAN_RATING = "RR = Σ rel / (2 · |S|)", "Σ rel / |S|"
GRADES = ("0", "1", "2")
# The name of the field with the section that people wrote.
SECTION = "exemplar"
NO_ABSTRACT = "Title and abstract of this work are not in this project; fetch them first."
RELEVANCE_DEPARTURES = (
    "Works are rated 0, 1 or 2, as the formula and Table 3 have it; Box 2 asks for 0 or 1.",
    "The sum is divided by twice the number of works; the public code leaves the 2 out, so that its figure reaches 2.",
    "A report that names no work on arXiv has a relevance rate of 0 and says so; a work whose abstract is not at hand "
    "is missing. The public code drops such works, and averages the second of two trials.",
)
DEFINITION = """\
$$RR = \\frac{\\sum_{s \\in S} rel(s)}{2\\,|S|}, \\qquad rel \\in \\{0, 1, 2\\}$$

How relevant the works on arXiv are that a report names (§8.3.2): 2 for the same problem or method, 1 for a related
area, 0 for off topic. Each work counts once, whatever its version. 0 for a report that names none. Undefined while the
references of the response are not known. With ratings missing it is over the others, and the range is given in which it
lies.
"""


def relevance_rate(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """RR of one report by one rater's ratings; `n` counts the works rated."""
    works = retrieved(scored.material)
    if works is None:
        return Estimate(None, method=METHOD, note=UNKNOWN_SET)
    if not works:
        return Estimate(0.0, floor=0.0, ceiling=0.0, method=METHOD, note=NAMES_NOTHING)
    grades = [scored.values.get(work.reference.id) for work in works]
    if odd := {value for value in grades if value is not None} - set(GRADES):
        raise ValueError(f"a relevance is 0, 1 or 2, not {odd.pop()!r}")
    known = [int(value) for value in grades if value is not None]
    missing = len(grades) - len(known)
    return mean_of_known(sum(known) / 2, len(known), missing, over_valid, "ratings are missing", METHOD)


def released_rate(scored: RatedResponse, over_valid: bool = False) -> Estimate:
    """The mean rating of one report, from 0 to 2, as the public code computes it."""
    result = relevance_rate(scored, over_valid)
    return replace(
        result,
        value=_twice(result.value),
        floor=_twice(result.floor),
        ceiling=_twice(result.ceiling),
        method=MEAN_RATING,
    )


def _twice(value: float | None) -> float | None:
    return None if value is None else 2 * value


def cases(material: Material) -> Iterator[Case]:
    """One case for each work that the report names, with its abstract and the section people wrote on the
    same paper.
    """
    own = (material.response,) if material.response.mode == EXEMPLAR else material.facing
    exemplar = next((response.text for response in own), "")
    for work in (retrieved(material) or ()) if own else ():
        named = Unit(id=work.reference.id, text=work.title)
        given = work_fields(work.address, work.abstract) | {SECTION: exemplar}
        yield material.case(RELEVANCE_NAME, ResponsePart.REFERENCES, named, given=given)


AS_RELEASED = """\
The mean rating of the works on arXiv that a report names, from 0 to 2: the public code leaves out the 2 that divides.
0 for a report that names none. Undefined as the other is.
"""


class Relevance(ValueReply, value="relevance"):
    """What a judge replies about one work. The ground comes first, so that the rating follows from it."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. The first line must be 0, 1 or 2 and nothing else. On the next line give your reason in "
        "one sentence."
    )
    rationale: str = Field(description="Why, in one sentence")
    relevance: Annotated[Literal["0", "1", "2"], BeforeValidator(str)] = Field(
        description="2 same problem or method, 1 related area, 0 off topic"
    )


async def judge(case: Case, ask: Ask) -> Verdicts:
    """Task, exemplar, and title and abstract of the work are shown; nothing of the report, so that its rating is the
    same wherever it is named.
    """
    if not case.given["page"]:
        return {case.unit.id: Verdict(status=Status.SKIPPED, cause=NO_ABSTRACT)}
    fields = {
        "question": case.item.question,
        "exemplar": case.given[SECTION],
        "title": case.unit.text,
        "abstract": case.given["page"],
    }
    answer = await ask(
        RELEVANCE_NAME, fields, Relevance, fenced=("question", "exemplar", "title", "abstract")
    )
    return of_one(
        case,
        answer,
        lambda reply, _, flags: Verdict(
            value=reply.relevance, rationale=reply.rationale, flags=" ".join(flags)
        ),
    )


# No network: the share of the work's own terms that the task uses; not fitted to anything.
BASELINE_SAME, BASELINE_RELATED = 0.3, 0.15


def baseline(case: Case) -> Verdicts:
    """A rating by the share of the terms of title and abstract that also occur in the task."""
    if not case.given["page"]:
        return {case.unit.id: Verdict(status=Status.SKIPPED, cause=NO_ABSTRACT)}
    own = terms(f"{case.unit.text} {case.given['page']}")
    share = len(own & terms(case.item.question)) / len(own) if own else 0.0
    rating = "2" if share >= BASELINE_SAME else "1" if share >= BASELINE_RELATED else "0"
    return {
        case.unit.id: Verdict(value=rating, rationale=f"baseline: {share:.2f} of its terms are the task's")
    }


RELEVANCE = Protocol(
    name=RELEVANCE_NAME,
    title="Relevance of the works that a report names",
    citation="DeepScholar-Bench, §8.3.2 and Box 2",
    needs=(),
    exemplar=True,
    parts=(ResponsePart.REFERENCES,),
    metrics=(
        Metric(
            "relevance_rate", "Relevance rate", DEFINITION, relevance_rate, parts=(ResponsePart.REFERENCES,)
        ),
        Metric(
            "relevance_rate.released",
            "Relevance rate (as released)",
            AS_RELEASED,
            released_rate,
            unit="of 2",
            parts=(ResponsePart.REFERENCES,),
            within=(0.0, 2.0),
        ),
    ),
    scale=Scale(
        Level.ORDINAL,
        (
            Value("0", "Off topic", "0: it deals with something else"),
            Value("1", "Related", "1: a related area"),
            Value("2", "Same problem", "2: the same problem or method"),
        ),
        of_numbers=True,
    ),
    presentation=Presentation(
        "Relevance",
        "How relevant is each work that a report names? (DeepScholar-Bench)",
        "work",
        "works",
        read="abstract",
        text=SECTION,
        called=BY_PEOPLE,
        waits="its abstract was never fetched",
        lacking=(
            "No works yet",
            "A report can be labelled once its references are known and its item has an exemplar.",
        ),
    ),
    cases=cases,
    judge=judge,
    baseline=baseline,
    prompts=(RELEVANCE_NAME,),
    aims=(Aim("accuracy", 0.70, "Table 3", "GPT-4o"),),
    departures=RELEVANCE_DEPARTURES,
)
