"""Gold evidence: the references that a good report must find."""

import operator
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field

from annotator.domain.common import Text
from annotator.domain.kinds.artifact import (
    AlignmentRule,
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    warning,
)
from annotator.domain.texts.identifier import normal_title, work_named

IMPORTANT, NOT_IMPORTANT = "important", "not_important"
COUNTED = (IMPORTANT, "important"), (NOT_IMPORTANT, "not important"), ("", "not marked")
MARK = "Mark it as important or not important."


class Reference(Unit):
    """A work to be found; `text` is its title."""

    identifier: Text = Field(default="", max_length=1000, description="DOI, arXiv id, ISBN or address")
    authors: Text = Field(default="", max_length=2000)
    year: int | None = Field(default=None, ge=1000, le=2200)
    # Left out if unknown.
    importance: Literal["", "important", "not_important"] = Field(default="", exclude_if=operator.not_)
    # Further identifiers of the work, such as its DOI beside its page on arXiv.
    other_identifiers: tuple[Annotated[Text, Field(max_length=1000)], ...] = Field(
        default=(), max_length=20, exclude_if=operator.not_
    )
    # The passage that a system was shown, if it came with the report.
    passage: Text = Field(default="", max_length=20_000, exclude_if=operator.not_)


class Evidence(Document[Reference], kind=Kind.EVIDENCE):
    """The gold references of one item (ADRA §4)."""


def findings(evidence: Evidence, context: Context) -> Iterator[Finding]:
    """Every finding on a list of references (ADRA §4.4): an identifier or a title may be missing, not both.

    For items with an exemplar each is marked as important or not (DeepScholar-Bench, §8.3.2); for others only once
    one is.
    """
    some = any(unit.importance for unit in evidence.units)
    if context.exemplar and evidence.units and not some:
        message = "Nobody has said which references are important, so reference coverage has no value."
        yield warning("no-importance", message, MARK, field="importance")
    for unit in evidence.units:
        if not unit.text.strip() and unit.identifier.strip():
            yield warning(
                "no-title",
                "Without its title the work is found by this identifier only.",
                "Look the title up, or write it.",
                unit.id,
            )
        yield from _identifier(unit)
        if some and not unit.importance:
            yield warning("unmarked", "Its importance is not marked.", MARK, unit.id, "importance")
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
            "This is not a recognised DOI, arXiv id, ISBN or address.",
            "Compare it with the source, e.g. 10.1000/182, arXiv:2301.00001, 978-…, https://….",
            unit.id,
            "identifier",
        )


def work_keys(unit: Reference) -> list[object]:
    """The keys that identify a reference's work: its identifier, and its title."""
    return [key for key in (work_named(unit.identifier), normal_title(unit.text)) if key]


def _duplicates(units: Sequence[Reference]) -> Iterator[Finding]:
    seen: dict[object, int] = {}
    for number, unit in enumerate(units, start=1):
        keys = work_keys(unit)
        earlier = next((seen[key] for key in keys if key in seen), None)
        if earlier is not None:
            yield warning(
                "duplicate", f"This repeats reference {earlier}.", "Remove one of the two.", unit.id
            )
        seen |= {key: number for key in keys if key not in seen}


def _same_work(a: str, b: str) -> bool:
    return (work_named(a) or a.strip()) == (work_named(b) or b.strip())


def _summary(evidence: Evidence, _bar: float) -> str:
    counts = Counter[str](unit.importance for unit in evidence.units)
    return (
        ", ".join(f"{counts[value]} {words}" for value, words in COUNTED if counts[value])
        if set(counts) - {""}
        else ""
    )


SPEC = KindSpec(
    Evidence,
    title="Evidence",
    unit="reference",
    units="references",
    what="Gold evidence is the list of works that a good report must find.",
    prompt="Title of the work",
    table="references",
    fields=(
        UnitField("identifier", "Identifier", same=_same_work),
        UnitField("authors", "Authors", counted=False),
        UnitField("year", "Year", counted=False),
        UnitField(
            "importance",
            "Importance",
            (
                (IMPORTANT, "Important", "A good section must cite it"),
                (NOT_IMPORTANT, "Not important", "It could be left out, or another work in its place"),
            ),
            level="nominal",
            optional=True,
        ),
    ),
    lint=findings,
    summary=_summary,
    text="title",
    aligned=AlignmentRule.WORK,
    overlap=("jaccard", "match_f1"),
    instead="identifier",
)
