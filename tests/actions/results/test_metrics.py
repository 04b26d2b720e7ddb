"""What each metric is, in words that people read."""

import pytest

from annotator.actions.results import metrics
from annotator.domain.texts.refusal import Refusal


@pytest.mark.parametrize("info", metrics.described(), ids=lambda info: info.name)
def test_every_metric_says_what_it_is_and_where_it_comes_from(info: metrics.MetricInfo) -> None:
    shown = metrics.html(info.definition)
    assert "ndefined" in shown
    assert info.citation
    assert not {"$$", "\\frac", "\\text", "`"} & set(shown.split())
    assert "\\" not in shown


def test_a_formula_is_set_in_one_line() -> None:
    assert metrics.formula(r"\frac{\sum_i w_i b_i}{\sum_i w_i}") == (
        "Σ<sub>i</sub> w<sub>i</sub> b<sub>i</sub> / Σ<sub>i</sub> w<sub>i</sub>"
    )
    assert metrics.formula(r"\frac{TP}{TP + FP}") == "TP / (TP + FP)"


def test_foreign_signs_are_not_read_as_markup() -> None:
    assert "&lt;b&gt;" in metrics.html("a <b> sign")


def test_an_unknown_metric_is_refused_with_those_there_are() -> None:
    with pytest.raises(Refusal, match="no metric “speed”") as refused:
        metrics.named("speed")
    assert "coverage" in refused.value.todo
