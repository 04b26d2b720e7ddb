"""What the guideline objects to in diagnostics."""

import pytest

from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import lint

ASPECTS = list(Aspect)
WORDS = """
    alloys glaciers neurons markets polymers enzymes batteries bridges forests vaccines
    rivers satellites catalysts genomes turbines sensors proteins aerosols
"""
SUBJECTS = WORDS.split()


def statements(true=12, false=6):
    labels = [True] * true + [False] * false
    return Diagnostics(
        units=tuple(
            Statement(text=f"The work measures {subject}.", label=label, aspect=ASPECTS[i % 5])
            for i, (subject, label) in enumerate(zip(SUBJECTS, labels, strict=False))
        )
    )


def rules_of(text, **fields):
    unit = Statement(text=text, **({"label": True, "aspect": Aspect.RESULTS} | fields))
    return {finding.rule for finding in lint(Diagnostics(units=(unit,))) if finding.unit_id == unit.id}


def document_rules(document):
    return {finding.rule for finding in lint(document) if not finding.unit_id}


def test_eighteen_sober_statements_are_left_in_peace():
    assert lint(statements()) == []


@pytest.mark.parametrize(("n", "warned"), [(14, True), (15, False), (18, False)])
def test_there_are_fifteen_to_twenty_statements(n, warned):
    assert ("count" in document_rules(statements(true=n - 5, false=5))) is warned


def test_more_than_twenty_statements_are_warned_about():
    document = statements()
    doubled = Diagnostics(
        units=document.units + tuple(u.model_copy(update={"id": u.id + "x"}) for u in document.units)
    )
    assert "count" in document_rules(doubled)


def test_an_absent_aspect_is_named():
    units = tuple(u.model_copy(update={"aspect": Aspect.RESULTS}) for u in statements().units)
    (finding,) = [f for f in lint(Diagnostics(units=units)) if f.rule == "aspects"]
    assert "background, problem, methodology, future directions" in finding.message


@pytest.mark.parametrize(
    ("true", "false", "warned"), [(18, 0, True), (12, 6, False), (10, 8, False), (3, 15, True)]
)
def test_true_and_false_should_be_in_balance(true, false, warned):
    assert ("balance" in document_rules(statements(true, false))) is warned


@pytest.mark.parametrize("true", [5, 9, 12, 14])
def test_letter_6_the_share_of_true_ones_is_not_held_against_what_others_found(true):
    assert "balance" not in document_rules(statements(true, 18 - true))


def test_a_statement_needs_its_label_and_its_aspect():
    unit = Statement(text="The work measures glaciers under load.")
    errors = {(f.rule, f.field) for f in lint(Diagnostics(units=(unit,))) if f.level == "error"}
    assert errors == {("no-label", "label"), ("no-aspect", "aspect")}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("The alloy does not corrode in salt water.", "negation"),
        ("The alloy doesn’t corrode in salt water.", "negation"),
        ("The method works without labels.", "negation"),
        ("The alloy may corrode in salt water.", "hedge"),
        ("The results suggest that the alloy corrodes.", "hedge"),
        ("The alloy always corrodes in salt water.", "giveaway"),
        ("The authors wrongly assume a linear response.", "giveaway"),
        ("True: the alloy corrodes in salt water.", "giveaway"),
        ("The alloy corrodes in salt water (False)", "giveaway"),
        ("S12. The alloy corrodes in salt water.", "numbered"),
        ("(3) The alloy corrodes in salt water.", "numbered"),
        ("Table 2 shows that the alloy corrodes.", "pointing"),
        ("Smith et al. find that the alloy corrodes.", "pointing"),
        ("Is the alloy corroded by salt water?", "question"),
    ],
)
def test_what_the_guideline_objects_to_is_named(text, rule):
    assert rule in rules_of(text)


@pytest.mark.parametrize(
    "text",
    [
        "The alloy corrodes in salt water within 3.5 days.",
        "2D materials conduct better than bulk ones.",
        "A true random source drives the sampling of keys.",
        "X-ray data were taken at 300 K.",
        "Notation follows the earlier work on graphs.",
    ],
)
def test_a_plain_statement_is_left_in_peace(text):
    assert rules_of(text) == set()
