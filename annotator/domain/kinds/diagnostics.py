"""Diagnostics: true or false statements about a paper, each with its gold label and aspect."""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum

from pydantic import Field

from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    count_band,
    error,
    marked,
    near_duplicates,
    phrases,
    questions,
    warning,
)


class Aspect(StrEnum):
    """The five parts of a paper that diagnostics must cover (ADRA §4)."""

    BACKGROUND = "background"
    PROBLEM = "problem"
    METHODOLOGY = "methodology"
    RESULTS = "results"
    FUTURE = "future directions"


class Statement(Unit):
    """A declarative sentence that the source supports (True) or does not (False)."""

    label: bool | None = Field(default=None, description="Gold label; empty while not yet decided")
    aspect: Aspect | None = None


class Diagnostics(Document[Statement], kind=Kind.DIAGNOSTICS):
    """15 to 20 statements over all five aspects (ADRA §4)."""


STATEMENTS = (15, 20)
# Outside this range, giving every statement the same label is right four times in five.
TRUE_BAND = (0.2, 0.8)
_NEGATION = r"not|no|never|none|nor|neither|cannot|without|\w+n['’]t|fail(?:s|ed)? to|lacks?|unable to|nothing|nowhere"
_HEDGE = (
    r"may|might|could|possibly|perhaps|probably|presumably|likely|seems?|appears? to|suggests? that|tends? to|"
    r"generally|usually|often|sometimes|somewhat|relatively|arguably|to some extent|in some cases"
)
_GIVEAWAY = (
    r"always|only|solely|exclusively|completely|entirely|all cases|every case|absolutely|under no circumstances|"
    r"in no way|guarantees?|perfectly|incorrectly|wrongly|falsely|it is (?:true|false) that|"
    r"contrary to|obviously|of course"
)
_NUMBERED = re.compile(
    r"^\s*(?:[\[(]?(?:[A-Za-z]{0,2}\d{1,3}|[a-z])[\])]|[A-Za-z]{0,2}\d{1,3}\s*[.:](?!\d)|#\d+|[-*•])\s"
)
_LABELLED = re.compile(
    r"^\s*[\[(]?(?:true|false)\b\s*[\])]?\s*[:–-]|[\[(](?:true|false|t|f)[\])]\s*$", re.IGNORECASE
)
_POINTING = re.compile(
    r"^\s*(?:(?:as|in) )?(?:table|fig(?:ure|\.)|section|eq(?:uation|\.)|appendix)\s*\w*\d|^[^.]{0,40}\bet al\b",
    re.IGNORECASE,
)


def findings(diagnostics: Diagnostics, context: Context) -> Iterator[Finding]:
    """Every remark on diagnostics (ADRA §4.5 and appendix H.1)."""
    units = [unit for unit in diagnostics.units if unit.text.strip()]
    for unit in units:
        if unit.label is None:
            yield error(
                "no-label", "True or false?", "Choose the label the source supports.", unit.id, "label"
            )
        if unit.aspect is None:
            yield error(
                "no-aspect", "Which part of the paper is this about?", "Choose one.", unit.id, "aspect"
            )
    yield from count_band(units, *STATEMENTS, "statements")
    absent = [aspect.value for aspect in Aspect if aspect not in {unit.aspect for unit in units}]
    if units and absent:
        yield warning(
            "aspects",
            f"Nothing yet on {', '.join(absent)}.",
            "Write at least one statement on each of the five parts.",
            field="aspect",
        )
    yield from _balance(units)
    yield from marked(
        "numbered", _NUMBERED, units, "The statement opens with “{found}”.", "Leave the numbering out."
    )
    yield from marked(
        "giveaway", _LABELLED, units, "“{found}” gives the label away.", "Leave it to the label field."
    )
    yield from marked(
        "pointing",
        _POINTING,
        units,
        "“{found}” points into the paper.",
        "State what is found there: the judge sees only the report.",
    )
    yield from questions(units, "State it as a fact.")
    if context.english:
        yield from marked(
            "negation",
            phrases(_NEGATION),
            units,
            "“{found}” negates the statement.",
            "Put it positively and set the label.",
        )
        yield from marked(
            "hedge", phrases(_HEDGE), units, "“{found}” makes it hard to call false.", "State it plainly."
        )
        yield from marked(
            "giveaway",
            phrases(_GIVEAWAY),
            units,
            "“{found}” gives the label away.",
            "Word it as neutrally as a true statement.",
        )
    yield from near_duplicates(units, "statement")


def _balance(units: Sequence[Statement]) -> Iterator[Finding]:
    labels = [unit.label for unit in units if unit.label is not None]
    if len(labels) < STATEMENTS[0] // 2:
        return
    share = labels.count(True) / len(labels)
    if not TRUE_BAND[0] <= share <= TRUE_BAND[1]:
        more = "false" if share > TRUE_BAND[1] else "true"
        message = f"{share:.0%} are true: the same label for all would nearly always be right."
        yield warning("balance", message, f"Write a few more {more} ones.", field="label")


def _summary(diagnostics: Diagnostics, _bar: float) -> str:
    labels = [unit.label for unit in diagnostics.units]
    parts = [f"{labels.count(True)} true", f"{labels.count(False)} false"]
    parts += [f"{labels.count(None)} undecided"] if None in labels else []
    return ", ".join(parts)


SPEC = KindSpec(
    Diagnostics,
    title="Diagnostics",
    unit="statement",
    units="statements",
    what="Diagnostics are statements about the source, each true or false, that show whether a report has "
    "understood it.",
    prompt="A declarative sentence that the source supports or contradicts.",
    table="statements",
    fields=(
        UnitField(
            "label",
            "Gold label",
            ((True, "True", "The source supports it"), (False, "False", "The source does not support it")),
            level="nominal",
        ),
        UnitField(
            "aspect",
            "Part of the paper",
            tuple((one.value, one.value.capitalize(), "") for one in Aspect),
            asks="Which part of the paper?",
            level="nominal",
        ),
    ),
    lint=findings,
    summary=_summary,
    # Appendix H.1: 2 200 of 3 400. Their distribution is no target for others.
)
