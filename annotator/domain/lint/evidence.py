"""What the guideline objects to in gold evidence (ADRA §4.4)."""

from collections.abc import Iterator, Sequence

from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.lint.finding import Finding, warning
from annotator.domain.lint.wording import Context
from annotator.domain.texts.identifier import normal_title, work_named


def findings(evidence: Evidence, _context: Context) -> Iterator[Finding]:
    """Every remark on a list of references; a title that is missing is an error of any empty text."""
    for unit in evidence.units:
        yield from _identifier(unit)
    yield from _duplicates(evidence.units)


def _identifier(unit: Reference) -> Iterator[Finding]:
    if not unit.identifier.strip():
        yield warning(
            "no-identifier",
            "Without an identifier the work can be found by its title only.",
            "Add a DOI, arXiv id, ISBN or address if there is one.",
            unit.id,
            "identifier",
        )
    elif not work_named(unit.identifier):
        yield warning(
            "identifier",
            "This is no DOI, arXiv id, ISBN or address that we can read.",
            "Compare it with the source, e.g. 10.1000/182, arXiv:2301.00001, 978-…, https://….",
            unit.id,
            "identifier",
        )


def _duplicates(units: Sequence[Reference]) -> Iterator[Finding]:
    seen: dict[object, int] = {}
    for number, unit in enumerate(units, start=1):
        keys = [key for key in (work_named(unit.identifier), normal_title(unit.text)) if key]
        earlier = next((seen[key] for key in keys if key in seen), None)
        if earlier is not None:
            yield warning(
                "duplicate", f"This is reference {earlier} again.", "Remove one of the two.", unit.id
            )
        seen |= {key: number for key in keys if key not in seen}
