"""How several units are put to a judge in one call and told apart."""

from dataclasses import dataclass

import pytest

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.kinds.unit import Unit
from annotator.protocols.several import by_id, by_letter, listed, told_apart

UNITS = (Unit(id="one", text="Names\n a."), Unit(id="two", text="Names b."))


@dataclass(frozen=True)
class Told:
    id: str
    value: str


def apart(*said):
    return told_apart(
        by_id(UNITS), [Told(*one) for one in said], ("late",), lambda one: Verdict(value=one.value)
    )


def test_units_are_listed_by_names_of_one_call():
    names = by_letter(UNITS, "g")
    assert [(name, unit.id) for name, unit in names.items()] == [("g1", "one"), ("g2", "two")]
    assert listed(names) == "g1: Names a.\ng2: Names b."


def test_what_is_said_is_known_by_its_name_not_by_its_place():
    found = apart(("two", "no"), ("one", "yes"))
    assert {unit: verdict.value for unit, verdict in found.items()} == {"one": "yes", "two": "no"}


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ([], "The reply leaves this out."),
        ([("two", "no"), ("two", "no")], "The reply answers this more than once."),
        ([("Two", "no")], "The reply leaves this out. It answers for what was not asked."),
    ],
)
def test_a_unit_that_is_not_answered_exactly_once_is_missing_with_its_cause(said, cause):
    found = apart(("one", "yes"), *said)
    assert found["one"].value == "yes"
    missing = found["two"]
    assert (missing.value, missing.status, missing.cause, missing.flags) == (
        None,
        Status.INVALID,
        cause,
        "late",
    )
