"""A section whose numbers stand for works: false numbers out, and the list of references appended."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.material.work import CatalogueWork
from annotator.domain.texts.identifier import work_named

HEADING = "## References"
# A formula or a piece of code, which may hold numbers in brackets of its own; or a mark, with a link that it may have.
_MARK = re.compile(
    r"(?P<other>\$[^$\n]+\$|`[^`\n]+`)|(?P<before>[ \t]?)\[(?P<numbers>\d+(?:\s*[,;–-]\s*\d+)*)\](?:\(\S*?\))?"
)
_NUMBER = re.compile(r"(\d+)(?:\s*[–-]\s*(\d+))?")
_OWN_LIST = re.compile(
    r"^[ \t]*(?:#{1,6}[ \t]*)?\**(?:References|Bibliography)\**:?\**[ \t]*$", re.IGNORECASE | re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class NumberedSection:
    """A section with its list of references; `removed` counts the numbers that stood for no given work."""

    text: str
    works: tuple[CatalogueWork, ...]
    removed: int = 0

    def references(self) -> Evidence:
        """The works of its list, each with its mark in the note."""
        units = [
            Reference(text=work.title[:20_000], note=f"[{number}]", identifier=_address(work))
            for number, work in enumerate(self.works, start=1)
        ]
        return Evidence(units=tuple(units))


def numbered(written: str, works: Sequence[CatalogueWork]) -> NumberedSection:
    """A section as the model wrote it, with its marks checked and the list of all given works below it.

    A list of the model's own is left out.
    """
    body, removed = _OWN_LIST.split(written, maxsplit=1)[0].strip(), 0

    def checked(mark: re.Match[str]) -> str:
        nonlocal removed
        if mark["other"]:
            return mark[0]
        named = list(_numbers(mark["numbers"]))
        right = [number for number in named if 1 <= number <= len(works)]
        removed += len(named) - len(right)
        return f"{mark['before']}[{', '.join(map(str, right))}]" if right else ""

    text = _MARK.sub(checked, body)
    listed = [f"[{number}] {_entry(work)}" for number, work in enumerate(works, start=1)]
    return NumberedSection("\n\n".join([text, HEADING, *listed]), tuple(works), removed)


def _numbers(said: str) -> Iterator[int]:
    """The numbers of a mark; the ends alone of a range that is wider than any list."""
    for found in _NUMBER.finditer(said):
        first, last = int(found[1][:9]), int((found[2] or found[1])[:9])
        yield from range(first, last + 1) if 0 <= last - first < 1_000 else dict.fromkeys((first, last))


def _entry(work: CatalogueWork) -> str:
    parts = (work.authors, work.title, work.published[:4], _address(work))
    return ". ".join(part.rstrip(".") for part in parts if part)


def _address(work: CatalogueWork) -> str:
    """Its identifier as readers look for it: arXiv:2401.00001, a DOI, an address."""
    named = work_named(work.identifier)
    if named is None:
        return work.identifier
    return f"arXiv:{named.value}" if named.scheme == "arxiv" else str(named)
