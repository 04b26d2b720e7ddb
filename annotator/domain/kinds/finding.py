"""Findings: a remark of the guideline on an artifact, with what to do about it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from annotator.domain.kinds.artifact import Unit


@dataclass(frozen=True, slots=True)
class Finding:
    """An error must be fixed before submitting; a warning may be overridden with a reason.

    `unit_id` is empty when the whole document is meant. `field` names the field under which it is shown: the
    text of a unit and the list of units unless another is at fault.
    """

    level: Literal["error", "warning"]
    rule: str
    unit_id: str
    field: str
    message: str
    advice: str

    def words(self, name: str, units: Sequence[Unit]) -> str:
        """With its place before it: the unit's number, after what a unit is called."""
        number = next((n for n, unit in enumerate(units, start=1) if unit.id == self.unit_id), 0)
        place = f"{name.capitalize()} {number}" if number else "Whole document"
        return f"{place}: {self.message} {self.advice}"


def hinders(findings: Sequence[Finding], reason: str) -> bool:
    """Whether a document may not be submitted: nothing overrides an error, and only a reason a warning."""
    return any(finding.level == "error" for finding in findings) or (bool(findings) and not reason)


def error(rule: str, message: str, advice: str, unit_id: str = "", field: str = "") -> Finding:
    return Finding("error", rule, unit_id, field or _usual(unit_id), message, advice)


def warning(rule: str, message: str, advice: str, unit_id: str = "", field: str = "") -> Finding:
    """Something to look at; it may stay, with a reason."""
    return Finding("warning", rule, unit_id, field or _usual(unit_id), message, advice)


def _usual(unit_id: str) -> str:
    return "text" if unit_id else "units"
