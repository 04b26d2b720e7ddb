"""Citation precision: three ways to count one set of verdicts, and what becomes of marks that lead nowhere."""

import pytest

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer, Material, RatedResponse
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.deepscholar import precision
from annotator.protocols.deepscholar.entailment import NO_TEXT, Entailed
from annotator.protocols.deepscholar.precision import CITATION, READINGS, RELEASED, SENTENCE
from tests.protocols.deepscholar.related_work_material import EXEMPLARS, ITEM, report
from tests.protocols.deepscholar.sentence_material import cited, cut, said, sentence

FOUR = (sentence("s", "abc"), sentence("t", "d"), sentence("u"), sentence("v", "e"))
VERDICTS = said(s_a="yes", s_b="yes", s_c="no", t_d="yes", v_e="no")


def figure(
    reading: precision.PrecisionReading, material: Material, values: dict[str, str], over_valid: bool = False
) -> Estimate:
    return precision.precision(reading, RatedResponse(material, values), over_valid)


@pytest.mark.parametrize(
    ("reading", "value"), [(CITATION, 3 / 5), (SENTENCE, (2 / 3 + 1 + 0) / 3), (RELEASED, (2 / 3 + 1) / 4)]
)
def test_one_set_of_verdicts_is_counted_in_three_ways(reading, value):
    found = figure(reading, cut(FOUR), VERDICTS)
    assert (found.value, found.floor, found.ceiling) == pytest.approx((value, value, value))
    assert round(found.value, 4) in (0.6, 0.5556, 0.4167)


def test_a_mark_that_leads_nowhere_is_wrong_and_passed_over_as_released():
    material = cut([sentence("s", "a", dangling=1)])
    values = [figure(one, material, said(s_a="yes")).value for one in READINGS]
    assert values == [1 / 2, 1 / 2, 1.0]
    assert "1 mark leads to nothing" in figure(CITATION, material, said(s_a="yes")).note


def test_as_released_of_a_mark_with_two_numbers_the_first_counts():
    material = cut([sentence("s", "ab", later="b")])
    values = [figure(one, material, said(s_a="no", s_b="yes")).value for one in READINGS]
    assert values == [1 / 2, 1 / 2, 0.0]


def test_as_released_short_sentences_are_passed_over():
    material = cut([sentence("s", "a", text="Trees cool."), sentence("t", "b")])
    assert figure(RELEASED, material, said(s_a="no", t_b="yes")).value == 1.0
    short = cut([sentence("s", "a", text="Trees cool.")])
    assert figure(RELEASED, short, said(s_a="no")).value is None


@pytest.mark.parametrize(("listed", "note"), [("", "names no source"), ("x", "names sources and cites none")])
def test_a_report_that_cites_nothing_is_0_and_says_so(listed, note):
    found = figure(CITATION, cut([sentence("s")], listed=listed), {})
    assert found.value == 0.0
    assert note in found.note


def test_nothing_is_told_without_sentences_or_of_what_people_wrote():
    assert figure(CITATION, cut([]), {}).value is None
    assert "not been drawn" in figure(CITATION, Material(ITEM, report()), {}).note
    own = Material(ITEM, EXEMPLARS, parts=cut(FOUR).parts)
    assert figure(CITATION, own, VERDICTS).value is None
    assert list(precision.cases(own)) == []


def test_a_missing_verdict_bounds_every_reading():
    values = {unit: value for unit, value in VERDICTS.items() if unit != cited("s", "c")}
    found = [figure(one, cut(FOUR), values) for one in READINGS]
    assert [(one.value, one.missing) for one in found] == [(None, 1)] * 3
    floors = [3 / 5, 5 / 9, 5 / 12]
    assert [one.floor for one in found] == pytest.approx(floors)
    assert [one.ceiling for one in found] == pytest.approx([4 / 5, 2 / 3, 1 / 2])
    assert figure(CITATION, cut(FOUR), values, over_valid=True).value == 3 / 4


def test_another_verdict_is_refused():
    with pytest.raises(ValueError, match="yes or no"):
        figure(CITATION, cut(FOUR), said(s_a="maybe"))


@pytest.mark.anyio
async def test_the_judge_sees_the_sentence_and_one_source():
    (case,) = precision.cases(cut([sentence("s", "a")], texts="a"))

    async def answer(prompt, fields, reply, fenced=()):
        assert fields == {"sentence": case.unit.text, "source": "Title a\n\nAbstract a."}
        assert set(fenced) == set(fields)
        return Answer(Status.OK, Entailed(quote="Abstract a.", rationale="r", supported="yes"))

    (verdict,) = (await precision.judge(case, answer)).values()
    assert (verdict.value, verdict.quote, verdict.quote_start) == ("yes", "Abstract a.", None)


@pytest.mark.anyio
async def test_a_source_without_its_abstract_is_missing_without_a_call():
    async def never(*_args, **_more):
        raise AssertionError("nobody need be asked")

    (case,) = precision.cases(cut([sentence("s", "a")]))
    for verdicts in (await precision.judge(case, never), precision.baseline(case)):
        (verdict,) = verdicts.values()
        assert (verdict.status, verdict.cause) == (Status.SKIPPED, NO_TEXT)


def test_the_baseline_goes_by_the_sentences_words():
    near, far = (
        sentence("s", "a", text="Abstract titles"),
        sentence("t", "a", text="Quarks and gluons collide"),
    )
    values = [
        one.value
        for case in precision.cases(cut([near, far], texts="a"))
        for one in precision.baseline(case).values()
    ]
    assert values == ["yes", "no"]


@pytest.mark.parametrize(("text", "value"), [('yes\n"Its words" say so.', "yes"), ("Yes, surely.", None)])
def test_a_reply_in_words_is_yes_or_no_alone(text, value):
    if value:
        found = Entailed.from_text(text)
        assert (found.supported, found.quote) == (value, "Its words")
    else:
        with pytest.raises(ValueError, match="line"):
            Entailed.from_text(text)


def test_a_reading_is_not_open_where_only_what_it_passes_over_is_missing():
    found = {
        one: figure(one, cut([sentence("s", "ab", later="b")]), said(s_a="yes"))
        for one in (RELEASED, CITATION)
    }
    assert (found[RELEASED].value, found[RELEASED].missing) == (1.0, 0)
    assert (found[RELEASED].floor, found[RELEASED].ceiling) == (1.0, 1.0)
    assert (found[CITATION].value, found[CITATION].missing) == (None, 1)
