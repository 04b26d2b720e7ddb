"""What is said of documents while they are written: of units, lists, plans, queries and rubrics."""

import json
from collections import Counter
from pathlib import Path

import pytest

from annotator.actions.imports import samples
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint, shared_rest
from annotator.domain.kinds.diagnostics import Aspect, Diagnostics, Statement
from annotator.domain.kinds.documents import DOCUMENTS, KINDS, WRITTEN, Query, Wording, lint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Criterion, Rubric, weight_shares
from annotator.domain.kinds.selection import DimensionRating, Selection


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


def test_errors_come_before_warnings():
    document = Rubric(units=(Criterion(text="Various things"), Criterion(text="")))
    levels = [finding.level for finding in lint(document)]
    assert levels == sorted(levels)
    assert set(levels) == {"error", "warning"}


def test_the_same_document_gives_the_same_findings():
    document = Rubric(units=(Criterion(text="Various things"), Criterion(text="Good and/or nice")))
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
    document = Rubric(units=(Criterion(text=text, weight=3),))
    assert lint(document, language=language) == []


def test_english_rules_are_silent_when_the_item_is_in_another_language():
    document = Rubric(units=(Criterion(text="The various good methods and how to use them", weight=3),))
    assert lint(document, language="fr") == []
    assert lint(document, language="en-GB")


def test_a_plan_in_chinese_is_measured_in_characters():
    units = tuple(Subtask(text=text) for text in (CHINESE + "。", "太短。", CHINESE * 3 + "。"))
    lengths = [(f.unit_id, f.message) for f in lint(Plan(units=units), language="zh") if f.rule == "length"]
    assert lengths == [
        (units[1].id, "2 characters; the guideline asks for 8 to 40."),
        (units[2].id, "60 characters; the guideline asks for 8 to 40."),
    ]


def test_thai_is_not_measured_at_all():
    document = Plan(units=(Subtask(text="อธิบายว่าการค้นคืนช่วยลดข้อผิดพลาดในคำตอบทางการแพทย์ได้อย่างไรบ้างในระบบจริง"),))
    assert "length" not in {finding.rule for finding in lint(document, language="th")}


def test_a_unit_that_repeats_an_earlier_one_is_named():
    texts = (
        "Explains why retrieval lowers hallucination rates",
        "Outlines costs",
        "Explains why retrieval lowers hallucinations",
    )
    document = Rubric(units=tuple(Criterion(text=text) for text in texts))
    (finding,) = [f for f in lint(document) if f.rule == "near-duplicate"]
    assert finding.unit_id == document.units[2].id
    assert "criterion 1" in finding.message


def test_a_unit_that_repeats_the_question_is_named():
    question = "How does retrieval lower hallucination rates in medicine?"
    document = Rubric(
        units=(Criterion(text="Explains how retrieval lowers hallucination rates in medicine"),)
    )
    assert "echo" in {finding.rule for finding in lint(document, question)}
    assert "echo" not in {finding.rule for finding in lint(document, "What is attention?")}


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


FACTS = ("Glaciers lose mass in every decade", "Neurons fire in bursts", "Alloys corrode in salt water")


def rules(document):
    return {finding.rule for finding in lint(document)}


def evidence(*pairs):
    return Evidence(units=tuple(Reference(text=title, identifier=identifier) for title, identifier in pairs))


def checklist(*shares):
    points = (
        "Depth of analysis",
        "Use of sources",
        "Clear argument",
        "Novel ideas",
        "Feasible plan",
        "Risks",
        "Cost",
    )
    return Checklist(units=tuple(CheckPoint(text=t, share=s) for t, s in zip(points, shares, strict=False)))


def test_references_with_a_title_and_an_identifier_are_left_in_peace():
    assert lint(evidence(("Graph Attention", "10.1000/182"), ("On Alloys", "arXiv:2301.12345"))) == []


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


def test_a_checklist_whose_shares_sum_to_one_is_left_in_peace():
    assert lint(checklist(0.45, 0.30, 0.15, 0.10)) == []
    assert lint(checklist(0.33, 0.32, 0.34)) == []


def test_equal_shares_over_all_points_are_told():
    assert rules(checklist(0.33, 0.33, 0.33)) == {"equal"}


@pytest.mark.parametrize(("shares", "total"), [((0.5, 0.3, 0.1), "0.90"), ((0.5, 0.5, 0.5), "1.50")])
def test_shares_that_do_not_sum_to_one_are_an_error(shares, total):
    (finding,) = lint(checklist(*shares))
    assert (finding.rule, finding.level, finding.field) == ("sum", "error", "share")
    assert total in finding.message


@pytest.mark.parametrize(("n", "warned"), [(2, True), (3, False), (6, False), (7, True)])
def test_a_checklist_has_three_to_six_points(n, warned):
    assert ("count" in rules(checklist(*[1 / n] * n))) is warned


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
    assert point.words == " It holds. "
    assert set(point.model_dump()) == {"id", "text", "note", "anchor", "share"}
    titled = point.model_copy(update={"title": "Rigour "})
    assert titled.words == "Rigour: It holds."
    assert titled.model_dump()["title"] == "Rigour "
    with pytest.raises(ValueError, match="200"):
        CheckPoint(title="x" * 201)


def test_a_point_that_counts_for_nothing_is_named():
    assert "weightless" in rules(checklist(0.5, 0.5, 0.0))


def test_points_alike_are_named():
    points = tuple(CheckPoint(text=text, share=0.5) for text in ("Depth of analysis", "Analysis depth"))
    assert "near-duplicate" in rules(Checklist(units=points))


def test_nuggets_should_hold_something_vital():
    nuggets = [Nugget(text=fact) for fact in FACTS]
    assert rules(Nuggets(units=tuple(nuggets))) == {"no-vital"}
    nuggets[0] = Nugget(text=FACTS[0], importance="vital")
    assert rules(Nuggets(units=tuple(nuggets))) == set()


def test_insights_alike_are_named():
    assert "near-duplicate" not in rules(Insights(units=tuple(Insight(text=fact) for fact in FACTS)))
    assert "near-duplicate" in rules(Insights(units=(Insight(text=FACTS[0]), Insight(text=FACTS[0].lower()))))


@pytest.mark.parametrize(("many", "warned"), [(7, True), (8, False), (15, False), (16, True)])
def test_letter_6_eight_to_fifteen_insights_are_asked_for(many, warned):
    units = tuple(Insight(text=f"Chamber {chr(ord('A') + at)} holds {at} litres.") for at in range(many))
    assert ("count" in rules(Insights(units=units))) is warned


def test_a_dimension_without_a_rating_is_an_error():
    units = (
        DimensionRating(text="Technical specificity", rating=4, note="Named."),
        DimensionRating(text="Application value"),
    )
    (finding,) = lint(Selection(units=units))
    assert (finding.level, finding.unit_id, finding.field) == ("error", units[1].id, "rating")


def rating(mean: int, **whole: object) -> Selection:
    units = tuple(DimensionRating(text=name, rating=mean, note="So.") for name in ("Depth", "Reach"))
    return Selection(units=units, **whole)


def test_letter_4_a_rating_without_a_reason_and_a_question_without_a_recommendation_are_remarked_on():
    bare = Selection(units=(DimensionRating(text="Depth", rating=5),))
    assert [f.rule for f in lint(bare)] == ["no-reason", "no-recommendation"]


def test_letter_4_a_recommendation_against_the_bar_is_remarked_on():
    assert rules(rating(5, recommendation="keep")) == set()
    assert rules(rating(4, recommendation="keep")) == {"recommendation"}
    assert [f.rule for f in lint(rating(4, recommendation="keep"), bar=4.0)] == []
    assert rules(rating(4, recommendation="rework")) == {"no-improvement"}
    assert rules(rating(4, recommendation="rework", improve="Name the field.")) == set()


def test_letter_4_what_is_not_said_is_not_written():
    assert rating(5).tree().keys() == {"units", "remark"}
    assert rating(5, recommendation="drop", improve="x").tree()["recommendation"] == "drop"


GOOD = (
    "Establish why long documents remain a challenge for current retrieval systems.",
    "Review earlier approaches to splitting documents and their known weaknesses.",
    "Describe a method that scores passages within their surrounding context.",
    "Evaluate the method against strong baselines on public collections of questions.",
    "Draw conclusions on where the approach helps and what remains open.",
)


def plan(*texts):
    return Plan(units=tuple(Subtask(text=text) for text in texts))


def plan_rules(*texts):
    return {finding.rule for finding in lint(plan(*texts))}


def test_a_good_plan_is_left_in_peace():
    assert lint(plan(*GOOD)) == []


@pytest.mark.parametrize(("n", "warned"), [(4, True), (5, False), (10, False), (11, True)])
def test_a_plan_has_five_to_ten_subtasks(n, warned):
    assert ("count" in plan_rules(*[GOOD[i % 5] for i in range(n)])) is warned


@pytest.mark.parametrize(("n", "warned"), [(7, True), (8, False), (20, False), (21, True)])
def test_a_subtask_has_eight_to_twenty_words(n, warned):
    assert ("length" in plan_rules(" ".join(["Word"] * n) + ".")) is warned


@pytest.mark.parametrize(
    "text",
    [
        "Show that accuracy rises by 12% when passages are scored in their context.",
        "Train the model with a learning rate of 0.001 on the public collections.",
        "Use 64 passages for each question in the evaluation of the method.",
    ],
)
def test_low_level_numbers_are_named(text):
    assert "low-level-number" in plan_rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "Compare the approach with GPT-4 and with other models published since 2023.",
        "Describe how CO2 uptake and 3D structure depend on the temperature of synthesis.",
        "Review the effects of COVID-19 on supply chains between 2020–2022 in Europe.",
    ],
)
def test_names_and_years_are_not_low_level_numbers(text):
    assert "low-level-number" not in plan_rules(text)


@pytest.mark.parametrize(
    "text",
    [
        "describe how passages are scored in their context here.",
        "Scores of passages in their surrounding context and more",
    ],
)
def test_an_incomplete_sentence_is_named(text):
    assert "sentence" in plan_rules(text)


def test_a_plan_should_run_from_motivation_to_conclusion():
    middle = "Train a ranker on pairs of passages taken from public collections."
    odd = [middle.replace("ranker", word) for word in ("ranker", "reader")]
    assert "no-motivation" in plan_rules(*odd, *GOOD[2:])
    assert "no-conclusion" in plan_rules(*GOOD[:3], *odd)


def test_the_course_of_a_short_draft_is_not_judged():
    assert plan_rules(GOOD[3]) == {"count"}


QUERY = "How can the memory needs of language models be lowered when they read long documents?"
SOURCE = """FlashRead: Reading Long Documents with Less Memory
Maria Lindqvist, Tomas P. Okafor
Department of Linguistics, University of Oslo

Abstract
We present FlashRead, a reader for long documents. Work at a university department of linguistics used LLM readers.
We further introduce a cache called KVFold (KVF) that folds old states."""


def found(text, source_text=""):
    return {(f.rule, f.level) for f in lint(Query(units=(Wording(text=text),)), source_text=source_text)}


@pytest.mark.parametrize(
    ("text", "source"),
    [
        (QUERY, SOURCE),
        (QUERY.replace("language models", "LLM readers at a university"), SOURCE),
        ("Does caching help, and how far?", SOURCE),
        # Words of the head that the text writes small are no names; without the source its names are unknown.
        ("How does Linguistics as a field read long documents?", SOURCE),
        ("How does FlashRead by Okafor lower memory needs?", ""),
    ],
)
def test_a_good_query_is_left_in_peace(text, source):
    assert found(text, source) == set()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("How does the method of Okafor lower memory needs?", "author"),
        ("How do Lindqvist et al. lower memory needs?", "author"),
        ("How did Vaswani (2017) change the field of translation?", "author"),
        ("How does FlashRead lower memory needs?", "acronym"),
        ("How does folding as in KVF lower memory needs?", "acronym"),
        ("Is memory a limit for models of long documents?", "closed"),
        ("What limits does the paper report for long documents?", "paper-in-hand"),
        ("What do the values in Table 3 mean for long documents?", "paper-in-hand"),
    ],
)
def test_what_the_guideline_of_queries_objects_to_is_named(text, rule):
    assert (rule, "warning") in found(text, SOURCE)


def test_every_wording_is_checked():
    document = Query(units=(Wording(text=QUERY), Wording(text="Is it so?")))
    assert {finding.unit_id for finding in lint(document)} == {document.units[1].id}


PUBLIC = Path(__file__).parents[3] / "../shared/data/researcherbench/rubric.json"
CRITERION = "Explains how retrieval of sources lowers the rate of invented answers."


def rubric_rules(*texts):
    document = Rubric(units=tuple(Criterion(text=text) for text in (*texts, CRITERION)))
    return {finding.rule for finding in lint(document) if finding.unit_id == document.units[0].id}


def of_weights(*weights):
    texts = (
        "Explains alpha",
        "Describes beta",
        "Compares gamma",
        "Outlines delta",
        "Identifies epsilon",
        "Lists zeta",
    )
    return Rubric(
        units=tuple(Criterion(text=texts[i % 6] * (1 + i), weight=w) for i, w in enumerate(weights))
    )


def rules_of_rubric(rubric):
    return {finding.rule for finding in lint(rubric) if not finding.unit_id}


@pytest.mark.parametrize(
    "text",
    [
        CRITERION,
        "Discuss the limits of supervised fine-tuning on long documents.",
        "Clearly sets out where planning differs from acting in such programs.",
        "The report identifies the main cause of the drift in the sensor.",
        "Analyses the cost of training, with at least two figures.",
        "Gives one earlier technology that grew in the same way (e.g., UNIX, TeX, HTML).",
        "Compares and contrasts the memory needs of both methods.",
    ],
)
def test_a_good_criterion_is_left_in_peace(text):
    assert rubric_rules(text) == set()


def test_the_samples_own_criteria_are_accepted():
    for criteria in (samples.DRAFTED, samples.OTHERS, samples.AGREED, samples.ONE, samples.OTHER):
        for text, _ in criteria:
            assert rubric_rules(text) == set(), text
    assert rubric_rules("Tells how much water the plant would use in a year.") == set()


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("Retrieval of sources lowers the rate of invented answers.", "opening-verb"),
        ("Data with explicit constraints are needed for training.", "opening-verb"),
        ("Explains the memory and/or the time that training takes.", "several-claims"),
        ("Explains how retrieval works in practice and discusses its cost at scale.", "several-claims"),
        ("Explains the role of memory; names the cost of each step.", "several-claims"),
        ("Explains the role of memory. Names the cost of each step.", "several-claims"),
        ("Explains the role of memory, bandwidth, latency, and heat in training.", "several-claims"),
        ("Explains various methods of retrieval in the field.", "vague"),
        ("Provides a comprehensive overview of the methods in the field.", "vague"),
        ("Explains the result, ideally with a figure for each.", "optional"),
        ("Provides text that is well-structured and of use to the reader.", "surface"),
        ("Discusses formatting and layout of the report for readability.", "surface"),
        ("Shows how four tricks (MoE, MLA, FP8, RL) cut the cost of training.", "rigid-list"),
        ("Does it explain how retrieval works in the clinic?", "question"),
        ("Explains attention.", "length"),
        ("Explains " + "how one more thing follows from the last " * 6, "length"),
    ],
)
def test_what_the_guideline_of_rubrics_objects_to_is_named(text, rule):
    assert rule in rubric_rules(text)


def test_names_given_as_examples_are_not_too_rigid():
    assert "rigid-list" not in rubric_rules(
        "Describes one of the known benchmarks, such as GAIA, BRIGHT, and MMLU."
    )
    assert "rigid-list" not in rubric_rules(
        "Describes how GAIA, BRIGHT, or MMLU measures the quality of an agent."
    )


def test_a_list_of_examples_is_no_list_of_claims():
    assert rubric_rules("Gives reasons for the cost, such as memory, bandwidth, latency, and heat.") == set()


def test_the_wording_found_is_shown():
    document = Rubric(units=(Criterion(text="Explains several methods of retrieval and their use"),))
    (finding,) = [f for f in lint(document) if f.rule == "vague"]
    assert "“several”" in finding.message


def test_weight_shares_are_counted_over_all_criteria():
    assert weight_shares(of_weights(1, 1, 2, 3)) == {1: 0.5, 2: 0.25, 3: 0.25}
    assert weight_shares(Rubric()) == {}


def test_a_rubric_without_a_core_criterion_is_warned_about():
    assert "no-core" in rules_of_rubric(of_weights(1, 2, 2, 1))
    assert "no-core" not in rules_of_rubric(of_weights(1, 2, 2, 3))


def test_letter_6_no_spread_of_weights_is_held_against_what_others_found():
    assert rules_of_rubric(of_weights(*[3] * 10)) == rules_of_rubric(of_weights(1, 1, 1, 2, 2, 2, 2, 2, 3, 3))


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
    for weight, share in weight_shares(together).items():
        assert share == pytest.approx(EXPERT_WEIGHT_SHARES[weight], abs=5e-5)


def test_experts_criteria_are_seldom_warned_about(experts):
    found = Counter(f.rule for rubric in experts for f in lint(rubric) if f.unit_id)
    assert sum(found.values()) < 0.06 * 931
    assert all(count < 0.03 * 931 for count in found.values()), found


def test_experts_work_has_no_errors(experts):
    assert not [f for rubric in experts for f in lint(rubric) if f.level == "error"]
