"""The retrieved set of a report: the works on arXiv that it names itself.

DeepScholar-Bench: the retrieved set S, §8.3.2; works on arXiv alone, §8.6.1.
"""

import re
from dataclasses import dataclass

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.evidence import Reference
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.identifier import work_named

# The state of a work of which neither abstract nor text is in the project, as that of a page.
ABSENT = "absent"
BY_PEOPLE = "The section that people wrote"
# A line of an abstract as arXiv breaks it, within a paragraph.
_BROKEN = re.compile(r"(?<=\S)[ \t]*\n[ \t]*(?=\S)")
UNKNOWN_SET = "the references of this response are not known"
NAMES_NOTHING = "the report names no work on arXiv"


@dataclass(frozen=True, slots=True)
class RetrievedWork:
    """A work that a report names, and what is known of it; `page` holds its title and abstract."""

    reference: Reference
    address: str
    page: Page | None

    @property
    def abstract(self) -> str:
        """Its abstract; empty where it was never fetched or could not be read."""
        return _words(self.page)

    @property
    def title(self) -> str:
        """Its title, as arXiv or the report gives it."""
        return (self.page.title if self.page else "") or self.reference.text


def retrieved(material: Material) -> list[RetrievedWork] | None:
    """S, each work once; None while the references of the response are not known, empty where it names none."""
    if ResponsePart.REFERENCES not in material.parts:
        return None
    found: dict[str, RetrievedWork] = {}
    for reference in material.units(ResponsePart.REFERENCES):
        named = work_named(reference.identifier)
        if named is not None and named.scheme == "arxiv" and str(named) not in found:
            found[str(named)] = RetrievedWork(reference, str(named), material.pages.get(str(named)))
    return list(found.values())


def abstract_at(material: Material, address: str) -> str:
    """The abstract of the work at a normal address; empty where it was never fetched or could not be read."""
    return _words(material.pages.get(address))


def work_fields(address: str, abstract: str) -> dict[str, str]:
    """What a case is given of a work; one without an abstract says so."""
    words = _BROKEN.sub(" ", abstract)
    return {"address": address, "page": words} | ({} if abstract else {"page_state": ABSENT})


def _words(page: Page | None) -> str:
    return page.text.strip() if page and page.state is PageState.OK else ""
