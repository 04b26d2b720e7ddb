"""References extracted from a report, by a model or by rule (ADRA §3.2, appendix G)."""

from collections.abc import Iterator
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.item import Response
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.difference import find
from annotator.domain.texts.identifier import Identifier, parse
from annotator.protocols.adra.reading import (
    LONGEST_QUOTE,
    NAME,
    ReferenceEntry,
    WorkMention,
    as_reference,
    references,
)
from annotator.protocols.citations import LONGEST_IDENTIFIER
from annotator.protocols.several import QUOTE_MISSING, ModelReply, fields

IDENTIFIER_MISSING, TITLE_MISSING = "identifier_missing", "title_missing"
# As much as a reference may hold.
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


async def extract(material: Material, ask: Ask) -> Extracted:
    """The references that a model finds in a report; what the report does not hold is left out and flagged."""
    answer = await ask(NAME, {"report": material.response.text}, References, fenced=("report",))
    if answer.status is not Status.OK:
        return Extracted(None, answer.status, answer.cause, answer.flags)
    flags = list(answer.flags)
    units: dict[str, Reference] = {}
    for unit in _checked(answer.reply.references, material.response, flags):
        units.setdefault(unit.id, unit)
    return Extracted(Evidence(units=tuple(units.values())), flags=tuple(dict.fromkeys(flags)))


def _checked(listed: list[Listed], response: Response, flags: list[str]) -> Iterator[Reference]:
    """The references whose words stand in the report, without identifiers and titles that do not; adds to the flags.

    A model knows the titles of many works: one that it adds from memory would be found for the system.
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
    """Whether the report holds an identifier, in the spelling given or in the normal one."""
    result, low = parse(identifier), report.lower()
    spellings = [identifier.strip()] + ([result.value] if result else [])
    return any(spelling.lower() in low for spelling in spellings)


def baseline(material: Material) -> Extracted:
    """The references read by rule: lists, links, DOIs and arXiv ids; an empty list when there are none."""
    evidence = references(material.response.text, material.response.id)
    remark = "baseline: read by rule from lists of references, links, DOIs and arXiv ids"
    return Extracted(evidence.model_copy(update={"remark": remark}))


DEPARTURES = (
    "The paper takes the citations that a system returns. Where only its report is at hand, a model reads them out of "
    "it, or a rule does: what does not stand in the report is left out.",
)
EXTRACTION = Extraction(
    name=NAME,
    title="References of a report",
    citation="ADRA, §3.2 and appendix G",
    makes=ResponsePart.REFERENCES,
    prompts=(NAME,),
    extract=extract,
    baseline=baseline,
    departures=DEPARTURES,
)
