"""ADRA's paper: its protocols, entries, preference and efficiency."""

import asyncio

import pytest

from annotator.domain.judges.contest import FIRST, SECOND, TIE
from annotator.domain.judges.protocol import Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Item, Response
from annotator.judging.calls.reply_parts import ReplyForm, UnreadableReply, parse
from annotator.judging.messages import load
from annotator.places import resources
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.protocols.adra.efficiency import EFFICIENCY
from annotator.protocols.adra.plan import Cell, DrawnPlan, Row, Step
from annotator.protocols.adra.preference import (
    ASPECTS,
    NAME,
    PREFERENCE,
    RESPECTS,
    Preferred,
    baseline,
    judge,
)
from annotator.protocols.adra.reading import as_title, read_entry
from annotator.protocols.adra.reasoning import OneTold, Together, Told
from annotator.protocols.adra.retrieval import Listed, References
from tests.protocols.adra.adra_material import ITEM, metric, response
from tests.servers.scripted_ask import ScriptedAsk

# Prompt, the fields it is filled with, the reply it asks for, and the classes whose fields it explains.
PROMPTS = (
    ("adra.plan", {"question", "subtask", "list"}, Row, (Cell,)),
    ("adra.plan.draw", {"question", "report"}, DrawnPlan, (Step,)),
    ("adra.preference", {"question", "first", "second"}, Preferred, (Preferred,)),
    ("adra.reasoning", {"statement", "report"}, Told, (Told,)),
    ("adra.reasoning.together", {"statements", "report"}, Together, (Told,)),
    ("adra.references", {"report"}, References, (Listed,)),
)
OURS = [protocol for name, protocol in PROTOCOLS.items() if name.startswith("adra.")]
DRAWN = [extraction for name, extraction in EXTRACTIONS.items() if name.startswith("adra.")]
METRICS = [metric for protocol in OURS for metric in protocol.metrics]


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_definition_names_its_section_and_when_it_is_undefined(metric):
    assert "(ADRA " in metric.definition
    assert "ndefined" in metric.definition
    assert metric.title


def test_every_prompt_is_used_and_every_prompt_used_is_there():
    used = {name for protocol in (*OURS, *DRAWN) for name in protocol.prompts}
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


NAMES = ("latency", "tokens", "tokens_per_s", "cost")


def values(**fields):
    scored = RatedResponse(Material(ITEM, response("A report.", **fields)), {})
    return [metric(EFFICIENCY, name).score(scored, False).value for name in NAMES]


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        # 13 000 tokens in 650 s: 20 tokens/s.
        ({"latency_s": 650.0, "tokens": 13_000, "cost_usd": 0.36}, [650, 13_000, 20, 0.36]),
        ({}, [None, None, None, None]),
        ({"tokens": 100}, [None, 100, None, None]),
        ({"latency_s": 5.0}, [5, None, None, None]),
        ({"latency_s": 0.0, "tokens": 0, "cost_usd": 0.0}, [0, 0, None, 0]),
    ],
)
def test_what_is_known_of_a_response_is_told_and_what_is_not_is_never_nought(fields, told):
    assert values(**fields) == told


def test_what_is_not_known_says_so():
    result = metric(EFFICIENCY, "cost").score(RatedResponse(Material(ITEM, response()), {}), True)
    unknown = (0, 0, None, "not known for this response")
    assert (result.n, result.missing, result.floor, result.note) == unknown


def test_less_is_better_but_for_throughput_and_a_response_is_all_that_is_needed():
    facts = [(metric(EFFICIENCY, name).higher_is_better, metric(EFFICIENCY, name).unit) for name in NAMES]
    assert facts == [(False, "s"), (False, "tokens"), (True, "tokens/s"), (False, "US$")]
    assert (EFFICIENCY.lacks({}, 1, ()), EFFICIENCY.lacks({}, 0, ())) == ([], ["a response"])


def test_a_report_is_no_run_and_a_known_part_of_a_cost_is_told():
    of = RatedResponse(Material(ITEM, response("A.", tokens=9, run_tokens=700, cost_part_usd=0.027)), {})
    told = [metric(EFFICIENCY, name).score(of, False) for name in ("tokens", "run_tokens", "cost")]
    assert [one.value for one in told] == [9, 700, None]
    assert (told[2].floor, told[2].note) == (0.027, "at least US$ 0.027: the rest has no price")


@pytest.mark.parametrize(
    ("text", "title", "authors", "year"),
    [
        (
            'Z. Chen et al., "Graphs for Tuning," arXiv preprint arXiv:2505.20416, 2025.',
            "Graphs for Tuning",
            "Z. Chen et al",
            2025,
        ),
        (
            "Smith, J., & Doe, A. (2024). Trees of thought. *Journal of Trees*, 3.",
            "Trees of thought",
            "Smith, J., & Doe, A",
            2024,
        ),
        (
            "Lee, J. *et al.* (2019). *BioBERT: a model*. – Beats others.",
            "BioBERT: a model",
            "Lee, J. et al",
            2019,
        ),
        (
            "OpenAI (2022). *Findings of a Study* – Shows that it helps.",
            "Findings of a Study",
            "OpenAI",
            2022,
        ),
        (
            "Xu et al., 2024 – *Stronger Models Teach* ([on](https://a.org))",
            "Stronger Models Teach",
            "Xu et al., 2024",
            2024,
        ),
        (
            "Silver et al., *“Mastering the game,”* **Nature**, 2016",
            "Mastering the game",
            "Silver et al",
            2016,
        ),
        (
            "J. Smith, A. B. van Lee, and C. Doe. Attention in long texts. In Proc. of X, 2021.",
            "Attention in long texts",
            "J. Smith, A. B. van Lee, and C. Doe",
            2021,
        ),
        (
            "S. Schneider, Artificial You and the Mind, Princeton, 2019.",
            "Artificial You and the Mind, Princeton",
            "S. Schneider",
            2019,
        ),
        ("Attention in long texts. Smith and Doe. 2021.", "Attention in long texts", "", 2021),
        ("Smith et al. Attention in long texts. 2021", "Attention in long texts", "Smith et al", 2021),
        ("Attention in long texts: https://a.org/2019/x", "Attention in long texts", "", None),
        (
            '"The Future of X," Blog. Available: https://a.org. [Accessed: 2-Jul-2025]',
            "The Future of X",
            "",
            None,
        ),
        ("王伟. 深度学习综述. 2020", "深度学习综述", "王伟", 2020),
        # What is in italics after a sentence is the journal, and an address alone says nothing.
        ("Attention in long texts. *Journal of Learning*, 2020.", "Attention in long texts", "", 2020),
        ("https://a.org/x", "", "", None),
        ("", "", "", None),
        (
            "Alice Smith, Bob van den Berg, Chen Liu, Dana O’Neil, Émile Xu, Farid García Márquez, et al. "
            "Deep rivers of the north. In Advances in Water, 33:1877–1901, 2020.",
            "Deep rivers of the north",
            "Alice Smith, Bob van den Berg, Chen Liu, Dana O’Neil, Émile Xu, Farid García Márquez, et al",
            2020,
        ),
        (
            "Smith, A., Kaiser, Ł., and Lee, K.-H. Deep rivers of the north. In Proc. of Water, pp. 1–2, 2017.",
            "Deep rivers of the north",
            "Smith, A., Kaiser, Ł., and Lee, K.-H",
            2017,
        ),
        (
            "Baek, J.; Jauhar, S. K.; and Hwang, S. J. 2024a. Deep rivers of the north. In *Proceedings of Water*.",
            "Deep rivers of the north",
            "Baek, J.; Jauhar, S. K.; and Hwang, S. J",
            2024,
        ),
        (
            "Jane Doe and John Roe. 2020. Are rivers deep? In Proceedings of Water (2020), 1–5.",
            "Are rivers deep?",
            "Jane Doe and John Roe",
            2020,
        ),
        (
            "Smith J, Doe AB, Roe C. Deep rivers of the north. J Water. 2020;3:1-2.",
            "Deep rivers of the north",
            "Smith J, Doe AB, Roe C",
            2020,
        ),
        (
            "J. Smith, A. Doe, Deep rivers of the north, J. Water 3 (2020) 100–105, Article 12.",
            "Deep rivers of the north",
            "J. Smith, A. Doe",
            2020,
        ),
        (
            "Smith, J., Doe, A.: Deep rivers of the north. In: Proc. of Water, pp. 1–2. Springer (2019).",
            "Deep rivers of the north",
            "Smith, J., Doe, A",
            2019,
        ),
        (
            "Jane Doe. Deep rivers of the north, 2021. URL https://a.org/x.",
            "Deep rivers of the north",
            "Jane Doe",
            2021,
        ),
    ],
)
def test_an_entry_is_read_by_its_marks_or_its_order(text, title, authors, year):
    assert read_entry(text) == (title, authors, year)


def test_a_link_gives_the_title_where_nothing_else_does():
    text = "[Attention in long texts](https://a.org/x), 2021"
    assert read_entry(text, "Attention in long texts") == ("Attention in long texts", "", 2021)


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("**Attention** in `long` texts.", "Attention in long texts"),
        ("2305.20050\\] Attention in long texts", "Attention in long texts"),
        ("(PDF) Attention in long texts", "Attention in long texts"),
        ("snake_case stays in titles", "snake_case stays in titles"),
        ("深度学习综述", "深度学习综述"),
    ],
)
def test_a_title_loses_its_marks(text, title):
    assert as_title(text) == title


@pytest.mark.parametrize(
    "text",
    [
        "",
        "12",
        "source",
        "arxiv.org",
        "here it is",
        "https://a.org/a long path",
        "Teddy Lazebnik' 2025-01-30",
        "Smith et al., 2024",
        "深度",
    ],
)
def test_what_cannot_be_a_title_is_none(text):
    assert as_title(text) == ""


def test_a_very_long_entry_is_read_by_its_beginning():
    result = read_entry('A. Lee, "Attention in long texts," 2020. ' + "word " * 100_000 + "2021")
    assert (result.title, result.year) == ("Attention in long texts", 2020)


REPLY = {
    "rationale": "The first cites what it says.", "factuality": "first", "comprehensiveness": "second",
    "coherence": "tie", "better": "first",
}  # fmt: skip


def case(first="One.", second="Another."):
    item = Item(id="i", key="1", question="How does retrieval help?")
    reports = [
        Response(id=name, item_id="i", system_id=name, text=text)
        for name, text in (("a", first), ("b", second))
    ]
    return Case(NAME, item, reports[0], "", (Unit(id="b"),), other=reports[1])


def test_letter_17_a_judge_names_three_respects_before_the_whole():
    ask = ScriptedAsk(REPLY)
    verdict = asyncio.run(judge(case(), ask))["b"]
    assert verdict.value == FIRST
    assert verdict.rationale.endswith("(factuality: first, comprehensiveness: second, coherence: tie)")
    (prompt, fields, fenced, words) = ask.asked[0]
    assert (prompt, set(fields), set(fenced)) == (
        NAME,
        {"question", "first", "second"},
        {"question", "first", "second"},
    )
    assert all(name in words for name in ASPECTS)
    assert list(Preferred.model_fields) == ["rationale", *ASPECTS, "better"]


def test_the_plain_text_form_is_five_lines():
    text = (
        "FACTUALITY: first\nCOMPREHENSIVENESS: second\nCOHERENCE: tie\nBETTER: second\nWHY: It covers more."
    )
    result = Preferred.from_text(text)
    assert (result.factuality, result.better, result.rationale) == ("first", "second", "It covers more.")
    with pytest.raises(ValueError, match="block 1"):
        Preferred.from_text("BETTER: first")


def test_the_floor_counts_marks_of_sources():
    cited, bare = "See https://a.org and [1].", "Nothing."
    result = [baseline(case(*both))["b"].value for both in ((cited, bare), (bare, cited), (bare, bare))]
    assert result == [FIRST, SECOND, TIE]


def test_letter_17_people_are_asked_the_same_respects_beside_the_whole():
    assert [(one.title.lower(), one.of, one.values) for one in RESPECTS] == [
        (name, PREFERENCE.name, (FIRST, SECOND, TIE)) for name in ASPECTS
    ]
