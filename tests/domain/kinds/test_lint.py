"""What is said of documents while they are written: of units, lists, plans, queries and rubrics."""

import json
from collections import Counter
from itertools import cycle
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from annotator.actions.imports import samples
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint, shared_rest
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import DOCUMENTS, KINDS, WRITTEN, Query, Wording, lint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.inspirations import Inspiration, Inspirations, InspirationType
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Criterion, Rubric, weight_shares
from annotator.domain.kinds.selection import DimensionRating, Selection
from annotator.domain.kinds.tasks import Difficulty, Family, Phase, Task, Tasks


@pytest.mark.parametrize("kind", Kind)
def test_a_kind_says_what_it_is_and_names_fields_that_its_units_have(kind):
    spec = KINDS[kind]
    assert all((spec.title, spec.unit, spec.units, spec.what, spec.table))
    assert {spec.says, *(field.name for field in spec.fields)} <= set(spec.document.UNIT.model_fields)
    for field in spec.fields:
        for value, words, _ in field.options:
            given = (value,) if field.several else value
            assert getattr(spec.document.UNIT.model_validate({field.name: given}), field.name) == given
            assert words


def test_no_two_kinds_have_the_same_table_or_title():
    for name in ("table", "title"):
        assert len({getattr(spec, name) for spec in KINDS.values()}) == len(Kind)


@pytest.mark.parametrize("kind", WRITTEN)
def test_an_artifact_without_units_cannot_be_submitted(kind):
    (finding,) = [f for f in lint(DOCUMENTS[kind]()) if f.level == "error"]
    assert (finding.rule, finding.unit_id, finding.field) == ("no-units", "", "units")
    assert KINDS[kind].unit in finding.message


@pytest.mark.parametrize("kind", WRITTEN)
def test_an_empty_text_is_an_error_on_its_unit(kind):
    document = DOCUMENTS[kind](units=(DOCUMENTS[kind].UNIT(id="u1", text=" \n"),))
    assert ("empty", "u1", "text") in [
        (f.rule, f.unit_id, f.field) for f in lint(document) if f.level == "error"
    ]


def rules(document, **more):
    return {finding.rule for finding in lint(document, **more)}


def test_errors_come_first_and_the_same_document_gives_the_same_findings():
    document = Rubric(units=(Criterion(text="Various things"), Criterion(text="")))
    levels = [finding.level for finding in lint(document)]
    assert (levels, set(levels)) == (sorted(levels), {"error", "warning"})
    assert lint(document) == lint(document)


CHINESE = "解释检索增强生成如何减少医疗问答中的幻觉"
ARABIC = "يشرح كيف يقلل الاسترجاع من الهلوسة في الأسئلة الطبية"
GERMAN = (
    "Erklärt, wie das Nachschlagen in Quellen erfundene Antworten bei medizinischen Fragen seltener macht."
)
FRENCH = (
    "Explique comment la recherche documentaire réduit les erreurs dans les réponses médicales des modèles."
)


@pytest.mark.parametrize("text", [CHINESE, ARABIC, GERMAN, FRENCH])
@pytest.mark.parametrize("language", ["en", "zh", "de"])
def test_english_rules_never_nag_in_another_language(text, language):
    assert rules(Rubric(units=(Criterion(text=text, weight=3),)), language=language) == set()


def test_english_rules_are_silent_when_the_item_is_in_another_language():
    document = Rubric(units=(Criterion(text="The various good methods and how to use them", weight=3),))
    assert lint(document, language="fr") == []
    assert lint(document, language="en-GB")


def test_a_plan_in_chinese_is_measured_in_characters_and_one_in_thai_not_at_all():
    units = tuple(Subtask(text=text) for text in (CHINESE + "。", "太短。", CHINESE * 3 + "。"))
    assert [(f.unit_id, f.message) for f in lint(Plan(units=units), language="zh") if f.rule == "length"] == [
        (units[1].id, "2 characters; the guideline asks for 8 to 40."),
        (units[2].id, "60 characters; the guideline asks for 8 to 40."),
    ]
    thai = plan("อธิบายว่าการค้นคืนช่วยลดข้อผิดพลาดในคำตอบทางการแพทย์ได้อย่างไรบ้างในระบบจริง")
    assert "length" not in rules(thai, language="th")


def test_a_unit_that_repeats_an_earlier_one_is_named():
    document = rubric(
        "Explains why retrieval lowers hallucination rates",
        "Outlines costs",
        "Explains why retrieval lowers hallucinations",
    )
    (finding,) = [f for f in lint(document) if f.rule == "near-duplicate"]
    assert (finding.unit_id, "criterion 1" in finding.message) == (document.units[2].id, True)


def test_a_unit_that_repeats_the_question_is_named():
    document = rubric("Explains how retrieval lowers hallucination rates in medicine")
    assert "echo" in rules(document, question="How does retrieval lower hallucination rates in medicine?")
    assert "echo" not in rules(document, question="What is attention?")


# What is said of one unit

QUERY = "How can the memory needs of language models be lowered when they read long documents?"
SOURCE = """FlashRead: Reading Long Documents with Less Memory
Maria Lindqvist, Tomas P. Okafor
Department of Linguistics, University of Oslo

Abstract
We present FlashRead, a reader for long documents. Work at a university department of linguistics used LLM readers.
We further introduce a cache called KVFold (KVF) that folds old states."""
DOCUMENT_OF = {Criterion: Rubric, Statement: Diagnostics, Subtask: Plan, Wording: Query}


def remarks(kind, text, source=SOURCE):
    unit = kind(text=text, **({"label": True, "aspect": Aspect.RESULTS} if kind is Statement else {}))
    findings = lint(DOCUMENT_OF[kind](units=(unit,)), source_text=source)
    return {finding.rule for finding in findings if finding.unit_id == unit.id and finding.level == "warning"}


@pytest.mark.parametrize(
    ("kind", "text", "rule"),
    [
        (Statement, "The alloy does not corrode in salt water.", "negation"),
        (Statement, "The alloy doesn’t corrode in salt water.", "negation"),
        (Statement, "The method works without labels.", "negation"),
        (Statement, "The alloy may corrode in salt water.", "hedge"),
        (Statement, "The results suggest that the alloy corrodes.", "hedge"),
        (Statement, "The alloy always corrodes in salt water.", "giveaway"),
        (Statement, "The authors wrongly assume a linear response.", "giveaway"),
        (Statement, "True: the alloy corrodes in salt water.", "giveaway"),
        (Statement, "The alloy corrodes in salt water (False)", "giveaway"),
        (Statement, "S12. The alloy corrodes in salt water.", "numbered"),
        (Statement, "(3) The alloy corrodes in salt water.", "numbered"),
        (Statement, "Table 2 shows that the alloy corrodes.", "pointing"),
        (Statement, "Smith et al. find that the alloy corrodes.", "pointing"),
        (Statement, "Is the alloy corroded by salt water?", "question"),
        (Subtask, "Show that accuracy rises by 12% when passages are scored in context.", "low-level-number"),
        (Subtask, "Train the model with a learning rate of 0.001 on public collections.", "low-level-number"),
        (Subtask, "Use 64 passages for each question in the evaluation of the method.", "low-level-number"),
        (Subtask, "describe how passages are scored in their context here.", "sentence"),
        (Subtask, "Scores of passages in their surrounding context and more", "sentence"),
        (Subtask, " ".join(["Word"] * 7) + ".", "length"),
        (Subtask, " ".join(["Word"] * 21) + ".", "length"),
        (Wording, "How does the method of Okafor lower memory needs?", "author"),
        (Wording, "How do Lindqvist et al. lower memory needs?", "author"),
        (Wording, "How did Vaswani (2017) change the field of translation?", "author"),
        (Wording, "How does FlashRead lower memory needs?", "acronym"),
        (Wording, "How does folding as in KVF lower memory needs?", "acronym"),
        (Wording, "Is memory a limit for models of long documents?", "closed"),
        (Wording, "What limits does the paper report for long documents?", "paper-in-hand"),
        (Wording, "What do the values in Table 3 mean for long documents?", "paper-in-hand"),
        (Criterion, "Retrieval of sources lowers the rate of invented answers.", "opening-verb"),
        (Criterion, "Data with explicit constraints are needed for training.", "opening-verb"),
        (Criterion, "Explains the memory and/or the time that training takes.", "several-claims"),
        (Criterion, "Explains how retrieval works in practice and discusses its cost.", "several-claims"),
        (Criterion, "Explains the role of memory; names the cost of each step.", "several-claims"),
        (Criterion, "Explains the role of memory. Names the cost of each step.", "several-claims"),
        (Criterion, "Explains the role of memory, bandwidth, latency, and heat.", "several-claims"),
        (Criterion, "Explains various methods of retrieval in the field.", "vague"),
        (Criterion, "Provides a comprehensive overview of the methods in the field.", "vague"),
        (Criterion, "Explains the result, ideally with a figure for each.", "optional"),
        (Criterion, "Provides text that is well-structured and of use to the reader.", "surface"),
        (Criterion, "Discusses formatting and layout of the report for readability.", "surface"),
        (Criterion, "Shows how four tricks (MoE, MLA, FP8, RL) cut the cost of training.", "rigid-list"),
        (Criterion, "Does it explain how retrieval works in the clinic?", "question"),
        (Criterion, "Explains attention.", "length"),
        (Criterion, "Explains " + "how one more thing follows from the last " * 6, "length"),
    ],
)
def test_what_the_guideline_objects_to_is_named(kind, text, rule):
    assert rule in remarks(kind, text)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (Statement, "The alloy corrodes in salt water within 3.5 days."),
        (Statement, "2D materials conduct better than bulk ones."),
        (Statement, "A true random source drives the sampling of keys."),
        (Statement, "X-ray data were taken at 300 K."),
        (Statement, "Notation follows the earlier work on graphs."),
        (Subtask, "Compare the approach with GPT-4 and with other models published since 2023."),
        (Subtask, "Describe how CO2 uptake and 3D structure depend on the temperature of synthesis."),
        (Subtask, "Review the effects of COVID-19 on supply chains between 2020–2022 in Europe."),
        (Subtask, " ".join(["Word"] * 8) + "."),
        (Subtask, " ".join(["Word"] * 20) + "."),
        (Wording, QUERY),
        (Wording, QUERY.replace("language models", "LLM readers at a university")),
        (Wording, "Does caching help, and how far?"),
        # Words of the head that the text writes small are no names.
        (Wording, "How does Linguistics as a field read long documents?"),
        (Criterion, "Explains how retrieval of sources lowers the rate of invented answers."),
        (Criterion, "Discuss the limits of supervised fine-tuning on long documents."),
        (Criterion, "Clearly sets out where planning differs from acting in such programs."),
        (Criterion, "The report identifies the main cause of the drift in the sensor."),
        (Criterion, "Analyses the cost of training, with at least two figures."),
        (Criterion, "Gives one earlier technology that grew in the same way (e.g., UNIX, TeX, HTML)."),
        (Criterion, "Compares and contrasts the memory needs of both methods."),
        (Criterion, "Tells how much water the plant would use in a year."),
        # A list of examples is no list of claims, and no rigid one.
        (Criterion, "Gives reasons for the cost, such as memory, bandwidth, latency, and heat."),
        (Criterion, "Describes one of the known benchmarks, such as GAIA, BRIGHT, and MMLU."),
        (Criterion, "Describes how GAIA, BRIGHT, or MMLU measures the quality of an agent."),
    ],
)
def test_what_the_guideline_accepts_is_left_in_peace(kind, text):
    assert remarks(kind, text) == set()


def test_without_the_source_its_names_are_unknown():
    assert remarks(Wording, "How does FlashRead by Okafor lower memory needs?", source="") == set()


def test_the_samples_own_criteria_are_accepted():
    for criteria in (samples.DRAFTED, samples.OTHERS, samples.AGREED, samples.ONE, samples.OTHER):
        assert {text: remarks(Criterion, text) for text, _ in criteria if remarks(Criterion, text)} == {}


def test_every_wording_is_checked():
    document = Query(units=(Wording(text=QUERY), Wording(text="Is it so?")))
    assert {finding.unit_id for finding in lint(document)} == {document.units[1].id}


def test_the_wording_found_is_shown():
    (finding,) = [f for f in lint(rubric("Explains several methods of retrieval")) if f.rule == "vague"]
    assert "“several”" in finding.message


# What is said of a whole document

FACTS = ("Glaciers lose mass in every decade", "Neurons fire in bursts", "Alloys corrode in salt water")
WORDS = """
    alloys glaciers neurons markets polymers enzymes batteries bridges forests vaccines
    rivers satellites catalysts genomes turbines sensors proteins aerosols
    comets orchids volcanoes
"""
GOOD = (
    "Establish why long documents remain a challenge for current retrieval systems.",
    "Review earlier approaches to splitting documents and their known weaknesses.",
    "Describe a method that scores passages within their surrounding context.",
    "Evaluate the method against strong baselines on public collections of questions.",
    "Draw conclusions on where the approach helps and what remains open.",
)
ODD = (
    "Train a ranker on pairs of passages of collections.",
    "Train a reader on pairs of passages of collections.",
)
POINTS = (
    "Depth of analysis",
    "Use of sources",
    "Clear argument",
    "Novel ideas",
    "Feasible plan",
    "Risks",
    "Cost",
)


def statements(true=12, false=6, aspects=tuple(Aspect)):
    labels = [True] * true + [False] * false
    units = (
        Statement(text=f"The work measures {subject}.", label=label, aspect=aspect)
        for subject, label, aspect in zip(WORDS.split(), labels, cycle(aspects), strict=False)
    )
    return Diagnostics(units=tuple(units))


def evidence(*pairs):
    return Evidence(units=tuple(Reference(text=title, identifier=identifier) for title, identifier in pairs))


def checklist(*shares):
    return Checklist(units=tuple(CheckPoint(text=t, share=s) for t, s in zip(POINTS, shares, strict=False)))


def plan(*texts):
    return Plan(units=tuple(Subtask(text=text) for text in texts))


def rubric(*texts):
    return Rubric(units=tuple(Criterion(text=text) for text in texts))


def weighed(*weights):
    verbs = (
        "Explains alpha",
        "Describes beta",
        "Compares gamma",
        "Outlines delta",
        "Identifies epsilon",
        "Lists zeta",
    )
    return Rubric(
        units=tuple(Criterion(text=verbs[i % 6] * (1 + i), weight=w) for i, w in enumerate(weights))
    )


def nuggets(importance):
    first, *others = FACTS
    return Nuggets(units=(Nugget(text=first, importance=importance), *(Nugget(text=fact) for fact in others)))


def insights(*texts):
    return Insights(units=tuple(Insight(text=text) for text in texts))


def chambers(many):
    return insights(*(f"Chamber {chr(ord('A') + at)} holds {at} litres." for at in range(many)))


def rating(mean: int, **whole: object) -> Selection:
    units = tuple(DimensionRating(text=name, rating=mean, note="So.") for name in ("Depth", "Reach"))
    return Selection(units=units, **whole)


@pytest.mark.parametrize(
    "document",
    [
        statements(),
        evidence(("Graph Attention", "10.1000/182"), ("On Alloys", "arXiv:2301.12345")),
        checklist(0.45, 0.30, 0.15, 0.10),
        checklist(0.33, 0.32, 0.34),
        plan(*GOOD),
        nuggets("vital"),
        rating(5, recommendation="keep"),
        rating(4, recommendation="rework", improve="Name the field."),
    ],
    ids=lambda document: type(document).__name__,
)
def test_a_document_as_the_guideline_asks_for_it_is_left_in_peace(document):
    assert lint(document) == []


@pytest.mark.parametrize(
    ("rule", "named", "others"),
    [
        ("count", [statements(9, 5), statements(15, 6)], [statements(10, 5), statements(13, 7)]),
        # The share of true ones is not held against what others found.
        (
            "balance",
            [statements(18, 0), statements(3, 15)],
            [statements(10, 8), statements(5, 13), statements(9, 9), statements(12, 6), statements(14, 4)],
        ),
        ("count", [checklist(*[1 / n] * n) for n in (2, 7)], [checklist(*[1 / n] * n) for n in (3, 6)]),
        ("equal", [checklist(0.33, 0.33, 0.33)], [checklist(0.33, 0.32, 0.34)]),
        ("weightless", [checklist(0.5, 0.5, 0.0)], [checklist(0.4, 0.3, 0.3)]),
        (
            "near-duplicate",
            [Checklist(units=(CheckPoint(text="Analysis depth", share=0.5), *checklist(0.5).units))],
            [checklist(0.5, 0.5)],
        ),
        ("near-duplicate", [insights(FACTS[0], FACTS[0].lower())], [insights(*FACTS)]),
        ("count", [chambers(7), chambers(16)], [chambers(8), chambers(15)]),
        ("no-vital", [nuggets("okay")], [nuggets("vital")]),
        ("count", [plan(*GOOD[:4]), plan(*GOOD, *GOOD, ODD[0])], [plan(*GOOD), plan(*GOOD, *GOOD)]),
        # The course of a short draft is not judged.
        ("no-motivation", [plan(*ODD, *GOOD[2:])], [plan(*GOOD), plan(GOOD[3])]),
        ("no-conclusion", [plan(*GOOD[:3], *ODD)], [plan(*GOOD), plan(GOOD[3])]),
        ("no-core", [weighed(1, 2, 2, 1)], [weighed(1, 2, 2, 3)]),
        ("recommendation", [rating(4, recommendation="keep")], [rating(5, recommendation="keep")]),
        (
            "no-improvement",
            [rating(4, recommendation="rework")],
            [rating(4, recommendation="rework", improve="Name the field.")],
        ),
    ],
)
def test_what_the_guideline_asks_of_a_whole_document_is_told_at_its_bounds(rule, named, others):
    assert ([rule in rules(one) for one in named], [rule in rules(one) for one in others]) == (
        [True] * len(named),
        [False] * len(others),
    )


def test_an_absent_aspect_is_named():
    (finding,) = [f for f in lint(statements(aspects=[Aspect.RESULTS])) if f.rule == "aspects"]
    assert "background, problem, methodology, future directions" in finding.message


def test_a_statement_needs_its_label_and_its_aspect():
    document = Diagnostics(units=(Statement(text="The work measures glaciers under load."),))
    errors = {(f.rule, f.field) for f in lint(document) if f.level == "error"}
    assert errors == {("no-label", "label"), ("no-aspect", "aspect")}


@pytest.mark.parametrize(
    ("identifier", "rule"),
    [("see page 12", "identifier"), ("978-0-306-40615-8", "identifier"), ("", "no-identifier")],
)
def test_an_identifier_that_cannot_be_read_is_named(identifier, rule):
    (finding,) = lint(evidence(("Graph Attention", identifier)))
    assert (finding.rule, finding.field, finding.level) == (rule, "identifier", "warning")


@pytest.mark.parametrize(
    "second",
    [("Other words", "https://doi.org/10.1000/182"), ("GRAPH ATTENTION.", "10.1000/999")],
)
def test_a_reference_given_twice_is_named(second):
    document = evidence(("On Alloys", "10.1000/7"), ("Graph Attention", "10.1000/182"), second)
    (finding,) = lint(document)
    assert (finding.rule, finding.unit_id) == ("duplicate", document.units[2].id)
    assert "reference 2" in finding.message


def test_a_missing_title_is_an_error():
    (finding,) = [f for f in lint(evidence(("", ""))) if f.level == "error"]
    assert finding.message == "The title is missing."


@pytest.mark.parametrize(("shares", "total"), [((0.5, 0.3, 0.1), "0.90"), ((0.5, 0.5, 0.5), "1.50")])
def test_shares_that_do_not_sum_to_one_are_an_error(shares, total):
    (finding,) = lint(checklist(*shares))
    assert (finding.rule, finding.level, finding.field) == ("sum", "error", "share")
    assert total in finding.message


@pytest.mark.parametrize(
    ("given", "shares"),
    [
        ((0, 0, 0, 0), (0.25, 0.25, 0.25, 0.25)),
        ((0.45, 0.3, 0, 0), (0.45, 0.3, 0.125, 0.125)),
        ((0.5, 0.3, 0.2, 0), (0.5, 0.3, 0.2, 0)),
        ((0.33, 0.33, 0.339, 0), (0.33, 0.33, 0.339, 0)),
        ((0.9, 0.4, 0, 0), (0.9, 0.4, 0, 0)),
        ((0.5, 0.2), (0.5, 0.2)),
        ((), ()),
    ],
)
def test_points_without_a_share_have_equal_parts_of_the_rest(given, shares):
    assert [point.share for point in shared_rest(checklist(*given).units)] == pytest.approx(list(shares))


def test_a_point_has_a_title_before_its_words_and_one_without_reads_as_it_did():
    (point,) = Checklist.model_validate({"units": [{"id": "a", "text": " It holds. ", "share": 1}]}).units
    assert (point.words, set(point.model_dump())) == (
        " It holds. ",
        {"id", "text", "note", "anchor", "share"},
    )
    titled = point.model_copy(update={"title": "Rigour "})
    assert (titled.words, titled.model_dump()["title"]) == ("Rigour: It holds.", "Rigour ")
    with pytest.raises(ValueError, match="200"):
        CheckPoint(title="x" * 201)


def test_a_dimension_without_a_rating_is_an_error():
    units = (
        DimensionRating(text="Technical specificity", rating=4, note="Named."),
        DimensionRating(text="Application value"),
    )
    (finding,) = lint(Selection(units=units))
    assert (finding.level, finding.unit_id, finding.field) == ("error", units[1].id, "rating")


def test_letter_4_a_rating_without_a_reason_and_a_question_without_a_recommendation_are_remarked_on():
    bare = Selection(units=(DimensionRating(text="Depth", rating=5),))
    assert [f.rule for f in lint(bare)] == ["no-reason", "no-recommendation"]
    assert lint(rating(4, recommendation="keep"), bar=4.0) == []


def test_letter_4_what_is_not_said_is_not_written():
    assert rating(5).tree().keys() == {"units", "remark"}
    assert rating(5, recommendation="drop", improve="x").tree()["recommendation"] == "drop"


def test_weight_shares_are_counted_over_all_criteria():
    assert weight_shares(weighed(1, 1, 2, 3)) == {1: 0.5, 2: 0.25, 3: 0.25}
    assert weight_shares(Rubric()) == {}


def test_letter_6_no_spread_of_weights_is_held_against_what_others_found():
    assert rules(weighed(*[3] * 10)) == rules(weighed(1, 1, 1, 2, 2, 2, 2, 2, 3, 3))


# What seminars give: inspirations and tasks

QUOTED = Anchor(quote="nobody has measured it")


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
    assert rules(Inspirations(units=inspiration().units + inspiration().units)) == {"near-duplicate"}


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
    assert "seminar" in rules(Tasks(units=units), language="zh")
    assert "deliverable" not in rules(Tasks(units=units), language="zh")
    assert "length" in rules(Tasks(units=(task("比较方法" * 51),)), language="zh")
    assert "length" not in rules(Tasks(units=(task("比较方法" * 50),)), language="zh")


PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"


@pytest.fixture
def experts():
    if not PUBLIC.exists():
        pytest.skip("the public rubrics of ResearcherBench are not beside this checkout")
    return [
        Rubric(units=tuple(Criterion(text=line["point"], weight=line["weight"]) for line in entry["rubric"]))
        for entry in json.loads(PUBLIC.read_text(encoding="utf-8"))
    ]


def test_the_experts_weights_are_those_of_the_papers_table_10(experts):
    together = Rubric(units=tuple(unit for rubric in experts for unit in rubric.units))
    assert len(together.units) == 931
    assert weight_shares(together) == pytest.approx(EXPERT_WEIGHT_SHARES, abs=5e-5)


def test_experts_criteria_are_seldom_warned_about_and_have_no_errors(experts):
    findings = [finding for rubric in experts for finding in lint(rubric)]
    assert [f for f in findings if f.level == "error"] == []
    counts = Counter(f.rule for f in findings if f.unit_id)
    assert counts.total() < 0.06 * 931
    assert all(count < 0.03 * 931 for count in counts.values()), counts
