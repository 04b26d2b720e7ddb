"""Inspirations and tasks: what they hold, what is read as what, and every remark on them."""

from typing import Any

import pytest
from pydantic import ValidationError

from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.documents import lint
from annotator.domain.kinds.inspirations import Inspiration, Inspirations, InspirationType
from annotator.domain.kinds.tasks import Difficulty, Family, Phase, Task, Tasks

QUOTED = Anchor(quote="nobody has measured it")


def rules(document: Any, language: str = "en") -> set[str]:
    return {finding.rule for finding in lint(document, language=language)}


def inspiration(**fields: Any) -> Inspirations:
    given = {
        "text": "Stations near the epicentre get no warning. Why is open. It costs lives. Phones could help.",
        "type": "limitation",
        "qualities": ("challenge", "explorability"),
        "anchor": QUOTED,
    }
    return Inspirations(units=(Inspiration(**given | fields),))


def task(text: str, **fields: Any) -> Task:
    given = {
        "phase": "design",
        "family": "Hypothesis Generation",
        "difficulty": "basic",
        "inspirations": ("i1",),
    }
    return Task(text=text, **given | fields)


SET = (
    task("Survey published layouts of warning stations; deliver a table of spacing.", phase="synthesize",
         family="Literature Survey"),
    task("Scan vendors of seismometers for sale today and deliver a ranked list.", phase="synthesize",
         family="Trend / Market Scan"),
    task("Propose one hypothesis on blind zones and write a protocol to test it."),
    task("Write a specification of a phone alert that works offline.", family="Prototype / System Specification"),
    task("Simulate twenty earthquakes under two layouts and deliver the code.", phase="evaluate",
         family="Empirical / Simulation Test"),
)  # fmt: skip


COMPARED = "Compare two alert services and deliver a matrix of delays."


@pytest.mark.parametrize("said", ["transdisciplinary", "Transdisciplinarity", " TRANSDISCIPLINARY "])
def test_the_type_of_two_spellings_is_one(said: str) -> None:
    assert Inspiration(type=said).type is InspirationType.TRANSDISCIPLINARY  # type: ignore[arg-type]
    assert (
        Inspirations.model_validate_json(f'{{"units": [{{"type": "{said}"}}]}}').units[0].type
        == "transdisciplinary"
    )


def test_a_type_that_is_none_is_refused() -> None:
    with pytest.raises(ValidationError):
        Inspiration(type="idea")  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("kind", "qualities", "fits"),
    [
        ("limitation", ("challenge", "explorability"), True),
        ("limitation", ("novelty", "explorability"), False),
        ("methodology", ("explorability", "novelty"), True),
        ("methodology", ("explorability", "verifiability"), False),
        ("transdisciplinary", ("novelty", "explorability", "challenge"), True),
        ("hypothesis", ("verifiability", "explorability"), True),
        ("hypothesis", ("verifiability", "challenge"), False),
    ],
)
def test_each_type_needs_its_traits(kind: str, qualities: tuple[str, ...], fits: bool) -> None:
    assert ("traits" not in rules(inspiration(type=kind, qualities=qualities))) is fits


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({}, set()),
        ({"type": None}, {"no-type"}),
        ({"anchor": None}, {"no-quote"}),
        ({"text": "word. " * 3 + "word " * 298}, {"length"}),
        ({"text": "word. " * 3 + "word " * 297}, set()),
        # Four or five sentences are asked for.
        ({"text": "One. Two. Three."}, {"sentences"}),
        ({"text": "One. Two. Three. Four"}, set()),
        ({"text": "One is 2.5 m. Two? Three! Four … Five."}, set()),
        ({"text": "One. Two. Three. Four. Five. Six."}, {"sentences"}),
        ({"text": "一。二！三？四。"}, set()),
        ({"text": "一。二。"}, {"sentences"}),
    ],
)
def test_remarks_on_an_inspiration(fields: dict[str, Any], expected: set[str]) -> None:
    assert rules(inspiration(**fields)) == expected


def test_inspirations_alike_are_named() -> None:
    twice = Inspirations(units=inspiration().units + inspiration().units)
    assert rules(twice) == {"near-duplicate"}


def test_an_eleventh_inspiration_of_a_piece_is_refused_by_name() -> None:
    ten = tuple(Inspiration(text=f"lead {place}", piece=2) for place in range(10))
    assert Inspirations(units=ten).fault() == ""
    assert Inspirations(units=(*ten, Inspiration(text="own"))).fault() == ""
    one_more = Inspirations(units=(*ten, Inspiration(text="lead eleven", piece=2)))
    assert one_more.fault() == "Piece 2 has 11 inspirations, and a piece gives at most 10."
    assert "piece-count" in rules(one_more)


@pytest.mark.parametrize(
    ("said", "family"),
    [
        ("literature survey", Family.SURVEY),
        ("Trend Scan", Family.SCAN),
        ("trend/market scan", Family.SCAN),
        ("Requirements Analysis", Family.NEEDS),
        ("Requirements / Needs Analysis", Family.NEEDS),
        ("Method Blueprint", Family.BLUEPRINT),
        ("Prototype Specification", Family.SPECIFICATION),
        ("Empirical Test", Family.TEST),
        ("Replicability and Bias Review", Family.REVIEW),
        ("Replicability Review", Family.REVIEW),
    ],
)
def test_families_are_read_as_the_paper_prints_them(said: str, family: Family) -> None:
    assert Family(said) is family


@pytest.mark.parametrize("said", ["Essay Writing", "Analysis", "", "Survey of everything"])
def test_a_family_that_is_not_on_the_menu_is_refused(said: str) -> None:
    with pytest.raises(ValueError, match="is not a valid Family"):
        Family(said)


def test_each_family_belongs_to_one_phase() -> None:
    counts = [sum(family.phase is phase for family in Family) for phase in Phase]
    assert counts == [3, 4, 3]


def test_phases_and_difficulties_are_read_in_other_letters() -> None:
    assert [Phase(said) for said in ("Synthesis", "DESIGN", "Evaluation")] == list(Phase)
    assert Difficulty("Advanced") is Difficulty.ADVANCED
    with pytest.raises(ValueError, match="is not a valid Phase"):
        Phase("Plan")


def copies(*, piece: int | None = None, **fields: Any) -> tuple[Task, ...]:
    """The set again, under ids of its own."""
    return tuple(
        one.model_copy(update={"piece": piece, "id": f"{piece} {place}"} | fields)
        for place, one in enumerate(SET)
    )


@pytest.mark.parametrize(
    ("units", "expected"),
    [
        (SET, set()),
        (SET[:4], {"count", "phases"}),
        ((*SET, *SET[:4]), {"count", "near-duplicate"}),
        (copies(family=Family.HYPOTHESIS, phase=Phase.DESIGN)[:3], {"count", "phases", "family-count"}),
        ((*SET, copies()[0]), {"near-duplicate"}),
        # A seminar of two pieces may have twice as many.
        (copies(piece=1) + copies(piece=2), {"near-duplicate"}),
    ],
)
def test_remarks_on_a_set(units: tuple[Task, ...], expected: set[str]) -> None:
    assert rules(Tasks(units=units)) == expected


@pytest.mark.parametrize(
    ("text", "fields", "expected"),
    [
        (COMPARED, {}, set()),
        (COMPARED, {"inspirations": ()}, {"untied"}),
        (COMPARED, {"phase": None}, {"no-phase", "phases"}),
        (COMPARED, {"difficulty": None}, {"no-difficulty"}),
        (COMPARED, {"family": None}, {"no-family"}),
        (COMPARED, {"family": "Literature Survey"}, {"family"}),
        ("Think about alert services.", {}, {"deliverable"}),
        ("Compare what the speaker said and deliver a table.", {}, {"seminar"}),
        ("As discussed in the talk, deliver a table of delays.", {}, {"seminar"}),
        ("deliver a table " * 34, {}, {"length"}),
    ],
)
def test_remarks_on_a_task(text: str, fields: dict[str, Any], expected: set[str]) -> None:
    last = task(text, **{"phase": "evaluate", "family": "Comparative Analysis"} | fields)
    assert rules(Tasks(units=(*SET[:4], last))) == expected


def test_chinese_tasks_are_counted_in_characters_and_may_not_name_the_seminar() -> None:
    units = (task("根据讲座内容比较两种方法并提交表格。"),)
    assert "seminar" in rules(Tasks(units=units), "zh")
    assert "deliverable" not in rules(Tasks(units=units), "zh")
    assert "length" in rules(Tasks(units=(task("比较方法" * 51),)), "zh")
    assert "length" not in rules(Tasks(units=(task("比较方法" * 50),)), "zh")
