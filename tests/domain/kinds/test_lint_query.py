"""What the guideline objects to in a query."""

import pytest

from annotator.domain.kinds.documents import Query, Wording, lint

GOOD = "How can the memory needs of language models be lowered when they read long documents?"
SOURCE = """FlashRead: Reading Long Documents with Less Memory
Maria Lindqvist, Tomas P. Okafor
Department of Linguistics, University of Oslo

Abstract
We present FlashRead, a reader for long documents. Work at a university department of linguistics used LLM readers.
We further introduce a cache called KVFold (KVF) that folds old states."""


def found(text, source_text=""):
    return {(f.rule, f.level) for f in lint(Query(units=(Wording(text=text),)), source_text=source_text)}


@pytest.mark.parametrize(
    "text",
    [GOOD, GOOD.replace("language models", "LLM readers at a university"), "Does caching help, and how far?"],
)
def test_a_good_query_is_left_in_peace(text):
    assert found(text, SOURCE) == set()


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
def test_what_the_guideline_objects_to_is_named(text, rule):
    assert (rule, "warning") in found(text, SOURCE)


def test_without_the_source_its_names_are_unknown():
    assert found("How does FlashRead by Okafor lower memory needs?") == set()


def test_words_of_the_head_that_the_text_writes_small_are_no_names():
    assert found("How does Linguistics as a field read long documents?", SOURCE) == set()


def test_every_wording_is_checked():
    document = Query(units=(Wording(text=GOOD), Wording(text="Is it so?")))
    assert {finding.unit_id for finding in lint(document)} == {document.units[1].id}
