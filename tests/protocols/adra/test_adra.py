"""ADRA as a whole: its tables, its prompts, its words."""

import subprocess
import sys

import pytest

from annotator.judging.calls.ladder import ReplyForm
from annotator.judging.calls.replies import UnreadableReply, parse
from annotator.judging.prompts.messages import load
from annotator.judging.prompts.schema import strict_schema
from annotator.places import resources
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.protocols.adra.drawn_plan import DrawnPlan, Step
from annotator.protocols.adra.drawn_references import Listed, References
from annotator.protocols.adra.plan import Cell, Row
from annotator.protocols.adra.preference import Preferred
from annotator.protocols.adra.reasoning import OneTold, Together, Told

# Prompt, the fields it is filled with, the reply it asks for, and the classes whose fields it explains.
PROMPTS = (
    ("adra.plan", {"question", "subtask", "list"}, Row, (Cell,)),
    ("adra.plan.draw", {"question", "report"}, DrawnPlan, (Step,)),
    ("adra.preference", {"question", "first", "second"}, Preferred, (Preferred,)),
    ("adra.reasoning", {"statement", "report"}, Told, (Told,)),
    ("adra.reasoning.together", {"statements", "report"}, Together, (Told,)),
    ("adra.references", {"report"}, References, (Listed,)),
)
OURS = [shape for name, shape in PROTOCOLS.items() if name.startswith("adra.")]
DRAWN = [extraction for name, extraction in EXTRACTIONS.items() if name.startswith("adra.")]
METRICS = [metric for protocol in OURS for metric in protocol.metrics]


def test_the_protocols_and_their_metrics_have_their_names():
    assert [protocol.name for protocol in OURS] == [
        "adra.plan",
        "adra.retrieval",
        "adra.reasoning",
        "adra.efficiency",
        "adra.preference",
    ]
    four = ("precision", "recall", "f1", "jaccard")
    assert [metric.name for metric in METRICS] == [
        *(f"plan.{name}" for name in four),
        *(f"plan_any.{name}" for name in four),
        *(
            f"retrieval.{name}"
            for name in ("jaccard", "precision", "recall", "f1", "hit", "accuracy", "precision.citing")
        ),
        *(f"reasoning.{name}" for name in ("accuracy", "precision", "recall", "f1")),
        "reasoning_silence.accuracy",
        *("latency", "tokens", "tokens_per_s", "run_tokens", "cost"),
        "preference",
    ]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_definition_names_its_section_and_when_it_is_undefined(metric):
    assert "(ADRA " in metric.definition
    assert "ndefined" in metric.definition
    assert metric.title


def test_every_prompt_is_used_and_every_prompt_used_is_there():
    used = {name for shape in (*OURS, *DRAWN) for name in shape.prompts}
    shipped = {path.stem for path in (resources() / "prompts").glob("adra.*.md")}
    assert used == shipped == {name for name, *_ in PROMPTS}


@pytest.mark.parametrize(("name", "fields", "reply", "parts"), PROMPTS, ids=[name for name, *_ in PROMPTS])
def test_a_prompt_has_a_place_for_every_field_and_explains_the_reply(name, fields, reply, parts):
    prompt = load(name)
    assert prompt.placeholders == fields
    assert not prompt.system.count("{{")
    for part in parts:
        assert all(f"- {field}: " in prompt.system for field in part.model_fields)
    assert all(
        field in prompt.system for field in (*reply.model_fields, *OneTold.model_fields) if reply is Together
    )


@pytest.mark.parametrize("name", [name for name, *_ in PROMPTS])
def test_a_prompt_tells_neither_gold_nor_where_it_comes_from(name):
    text = (resources() / "prompts" / f"{name}.md").read_text(encoding="utf-8").lower()
    assert not [
        word for word in ("gold", "expert", "benchmark", "adra", "label", "system under test") if word in text
    ]


@pytest.mark.parametrize("reply", [reply for _, _, reply, _ in PROMPTS], ids=lambda reply: reply.__name__)
def test_a_reply_fits_strict_servers(reply):
    assert strict_schema(reply)["additionalProperties"] is False


def test_a_reply_says_its_evidence_before_its_verdict():
    assert list(Told.model_fields) == ["quote", "rationale", "verdict"]
    assert list(Cell.model_fields) == ["id", "reason", "verdict"]
    assert list(Step.model_fields) == ["passage", "text"]


@pytest.mark.parametrize(
    ("reply", "content"),
    [
        (Row, '{"cells": [{"id": "g1", "reason": "No.", "verdict": "not"}]}'),
        (DrawnPlan, '{"subtasks": [{"passage": "Costs", "text": "Weigh costs."}]}'),
        (Told, '{"quote": "", "rationale": "Silent.", "verdict": "cannot-tell"}'),
        (
            Together,
            '{"answers": [{"id": "s1", "told": {"quote": "x", "rationale": "y", "verdict": "true"}}]}',
        ),
        (
            References,
            '{"references": [{"quote": "x", "title": "", "identifier": "", "authors": "", "year": null}]}',
        ),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_a_reply_is_read_as_any_judge_sends_it(reply, content):
    assert isinstance(parse(content, reply, ReplyForm.SCHEMA), reply)
    with pytest.raises(UnreadableReply):
        parse(content[:-1] + ', "more": 1}', reply, ReplyForm.SCHEMA)


def test_loading_it_does_not_load_numpy():
    words = "import sys; import annotator.protocols.adra; print('numpy' in sys.modules)"
    found = subprocess.run([sys.executable, "-c", words], capture_output=True, encoding="utf-8", check=True)
    assert found.stdout.strip() == "False"
