"""The tables of protocols and extractions: each under its own name, and no name for two things."""

import pytest

from annotator.actions.results import scoring
from annotator.actions.validation import corrected
from annotator.domain.judges.protocol import Material, Metric, Over, RatedResponse
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.material.extract import KeyPoints
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.estimate import SHARE
from annotator.domain.texts.refusal import Refusal
from annotator.judging.messages import load
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, USUAL, papers


@pytest.mark.parametrize("table", [PROTOCOLS, EXTRACTIONS])
def test_a_table_names_each_by_its_own_name(table) -> None:
    assert [entry.name for entry in table.values()] == list(table)


def test_an_order_names_a_protocol_or_an_extraction_and_never_both() -> None:
    assert PROTOCOLS.keys().isdisjoint(EXTRACTIONS)


def test_every_paper_is_in_the_table_once_and_the_first_protocol_is_the_usual_one() -> None:
    assert len({paper.name for paper in papers()}) == len(papers())
    assert [protocol.name for paper in papers() for protocol in paper.protocols] == list(PROTOCOLS)
    assert next(iter(PROTOCOLS)) == USUAL


def test_no_metric_has_the_name_of_another() -> None:
    names = [metric.name for protocol in PROTOCOLS.values() for metric in protocol.metrics]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("name", [*PROTOCOLS, *EXTRACTIONS])
def test_every_prompt_that_is_named_is_shipped(name: str) -> None:
    entry = PROTOCOLS.get(name) or EXTRACTIONS[name]
    assert [load(prompt).name for prompt in entry.prompts] == list(entry.prompts)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))
def test_what_is_judged_has_values_and_cases_and_what_is_computed_has_no_judge(protocol) -> None:
    judged = bool(protocol.values) and not protocol.by_people
    assert (protocol.judge is not None) is judged
    assert (protocol.baseline is not None) is judged
    assert all(metric.definition.strip() for metric in protocol.metrics)


def test_what_is_labelled_is_called_something() -> None:
    shown = [protocol.presentation for protocol in PROTOCOLS.values() if protocol.values]
    assert all(one.tab and one.about and one.one and one.many for one in shown)
    assert len({one.tab for one in shown}) == len(shown)


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))
def test_what_is_said_of_values_names_values_that_there_are(protocol) -> None:
    scale = protocol.scale
    named = {protocol.presentation.rest, scale.positive, *scale.mirrored, *scale.mirrored.values()}
    assert named - {""} <= set(protocol.values)
    assert bool(scale.mirrored) is protocol.paired


def test_nothing_is_asked_of_people_alone() -> None:
    assert [name for name, protocol in PROTOCOLS.items() if protocol.by_people] == []


@pytest.mark.parametrize("protocol", PROTOCOLS.values(), ids=list(PROTOCOLS))
def test_a_metric_is_of_one_response_of_a_system_or_of_the_project(protocol) -> None:
    for metric in protocol.metrics:
        given = [metric.score is not Metric.score, metric.pooled is not None, metric.table is not None]
        assert given.count(True) == 1, metric.name
        assert metric.resampled is None or metric.pooled is not None
        assert not metric.unit or metric.within != SHARE, f"say between what {metric.name} lies"


def test_the_metric_that_is_meant_where_none_is_named_is_of_single_responses() -> None:
    assert scoring.named(scoring.USUAL_METRIC).over is Over.RESPONSE


def test_a_figure_made_of_others_is_of_metrics_of_its_paper() -> None:
    names = {metric.name for protocol in PROTOCOLS.values() for metric in protocol.metrics}
    for paper, made in COMPOSITES.values():
        own = {metric.name for protocol in paper.protocols for metric in protocol.metrics}
        # What cannot be made yet is named where it lacks.
        assert own & set(made.of)
        assert set(made.of) & names <= own
        assert made.name not in names


def test_an_unknown_protocol_is_refused_in_words_and_is_not_in_the_table() -> None:
    with pytest.raises(Refusal) as refused:
        PROTOCOLS["adra.dreams"]
    assert str(refused.value).startswith("There is no protocol “adra.dreams”. Available: ")
    assert PROTOCOLS.get("adra.dreams") is None


@pytest.mark.parametrize("name", corrected.credited())
def test_a_score_with_credit_is_the_credit_of_verdicts_by_weight(name: str) -> None:
    protocol, metric = corrected.credited()[name]
    kind, (part, *_) = protocol.unit_kind, (*metric.parts, None)
    document = DOCUMENTS[kind] if kind is not None else KeyPoints
    count = len(protocol.values) + 2
    weighed = {"share": 1 / count} if "share" in document.UNIT.model_fields else {}
    weighed |= {} if kind is not None else {"anchor": Anchor(quote="So.")}
    units = tuple(document.UNIT(id=f"u{n}", text=f"Unit {n}", **weighed) for n in range(count))
    values = {unit.id: protocol.values[n % len(protocol.values)] for n, unit in enumerate(units)}
    item, response = (
        Item(id="i", key="i", question="?"),
        Response(id="r", item_id="i", system_id="s", text="x"),
    )
    made = document(units=units)
    there = {"documents": {kind: made}} if kind is not None else {"parts": {part: made}}
    result = metric.score(RatedResponse(Material(item, response, **there), values), False)
    weights = {unit.id: protocol.weight(unit) for unit in units}
    credit = sum(weights[unit] * metric.credit(value) for unit, value in values.items()) / sum(
        weights.values()
    )
    assert result.value == pytest.approx(credit)
