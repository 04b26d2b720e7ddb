"""What the guidelines object to, whatever the kind."""

import pytest

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import DOCUMENTS, KINDS, WRITTEN, lint
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.kinds.rubric import Criterion, Rubric


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
