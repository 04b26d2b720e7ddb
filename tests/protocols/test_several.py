"""How several units are put to a judge in one call and told apart."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import pytest

from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Answer, Case
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Item
from annotator.domain.material.response import Response
from annotator.protocols.several import by_id, by_letter, listed, of_empty, of_one, of_several

UNITS = (Unit(id="one", text="Names\n a."), Unit(id="two", text="Names b."))


@dataclass(frozen=True)
class Told:
    id: str
    value: str


CASE = Case(
    "some",
    Item(id="i", key="k", question="Q?"),
    Response(id="r", item_id="i", system_id="s", text=" \n"),
    "",
    UNITS,
)


def apart(*said):
    reply = SimpleNamespace(answers=[Told(*one) for one in said])
    answer = Answer(Status.OK, reply, flags=("late",))
    return of_several(CASE, by_id(UNITS), answer, lambda one, *_: Verdict(value=one.value))


def test_where_no_reply_came_every_unit_is_missing_with_its_cause():
    lost = Answer(Status.TIMEOUT, cause="no answer within 60 s")
    found = of_several(CASE, by_id(UNITS), lost, lambda *_: Verdict(value="yes"))
    assert {(one.value, one.status, one.cause) for one in found.values()} == {
        (None, Status.TIMEOUT, lost.cause)
    }
    alone = replace(CASE, units=UNITS[:1])
    assert of_one(alone, lost, lambda *_: Verdict(value="yes")) == {"one": found["one"]}


def test_of_an_empty_report_alone_the_verdict_is_known():
    assert {unit: one.value for unit, one in of_empty(CASE, "no").items()} == {"one": "no", "two": "no"}
    written = CASE.response.model_copy(update={"text": "A report."})
    assert of_empty(replace(CASE, response=written), "no") == {}


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
