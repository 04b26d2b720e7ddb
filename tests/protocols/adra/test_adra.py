"""ADRA's paper: its protocols, entries, preference, efficiency and plans."""

import asyncio
from itertools import product

import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.judges.contest import FIRST, SECOND, TIE
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Case, Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, Unit, cell_id
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import Item, Response
from annotator.judging.calls.reply_parts import ReplyForm, UnreadableReply, parse
from annotator.judging.messages import load
from annotator.places import resources
from annotator.protocols import EXTRACTIONS, PROTOCOLS
from annotator.protocols.adra.efficiency import EFFICIENCY
from annotator.protocols.adra.plan import (
    PLAN,
    Cell,
    DrawnPlan,
    Row,
    Step,
    any_match,
    baseline as plan_baseline,
    extract,
    headings_as_plan,
    judge as plan_judge,
    one_to_one,
)
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
from tests.common import ScriptedAsk, stands_in
from tests.protocols.adra.test_retrieval import (
    ITEM,
    Ask,
    material,
    metric,
    plan,
    plans,
    response,
    run,
    scored_matrix,
)

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
        # What cannot be a title is none.
        ("", ""),
        ("12", ""),
        ("source", ""),
        ("arxiv.org", ""),
        ("here it is", ""),
        ("https://a.org/a long path", ""),
        ("Teddy Lazebnik' 2025-01-30", ""),
        ("Smith et al., 2024", ""),
        ("深度", ""),
    ],
)
def test_a_title_loses_its_marks(text, title):
    assert as_title(text) == title


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
    result = Preferred.from_text(
        "FACTUALITY: first\nCOMPREHENSIVENESS: second\nCOHERENCE: tie\nBETTER: second\nWHY: It covers more."
    )
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


FIGURES = ("precision", "recall", "f1", "jaccard")
CELLS = st.sampled_from([True, False, None])
ORACLE = [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]]


def scores(rows, prefix="plan", over_valid=False, gold=None):
    scored = scored_matrix(rows, gold)
    return [metric(PLAN, f"{prefix}.{name}").score(scored, over_valid) for name in FIGURES]


def plan_values(*args, **kwargs):
    return [result.value for result in scores(*args, **kwargs)]


@pytest.mark.parametrize(
    ("rows", "one_to_one", "any_match"),
    [
        # The oracle of the protocols page, 3 predicted, 4 gold, matching 3. TP 3, FP 0, FN 1: P 3/3, R 3/4, F1 6/7,
        # J 3/4; any: all three rows have a match, columns 1, 2 and 4 have one.
        (ORACLE, [1, 3 / 4, 6 / 7, 3 / 4], [1, 3 / 4, 6 / 7, 3 / 4]),
        # Two sub-tasks do one work, both rows match only the first of three columns: matching 1, P 1/2, R 1/3, F1 2/5,
        # J 1/4; any: both rows are right, one column found: P 1, R 1/3, F1 1/2, J 1 / (1 + 0 + 2).
        ([[1, 0, 0], [1, 0, 0]], [1 / 2, 1 / 3, 2 / 5, 1 / 4], [1, 1 / 3, 1 / 2, 1 / 3]),
        # One broad sub-task matches three columns: TP 1, FN 2; any: P 1, R 1, F1 1, J 1.
        ([[1, 1, 1]], [1, 1 / 3, 2 / 4, 1 / 3], [1, 1, 1, 1]),
        ([[0, 0], [0, 0], [0, 0]], [0, 0, 0, 0], [0, 0, 0, 0]),
        ([[1, 0], [0, 1]], [1, 1, 1, 1], [1, 1, 1, 1]),
    ],
)
def test_both_readings_of_a_plan_by_hand(rows, one_to_one, any_match):
    assert (plan_values(rows), plan_values(rows, "plan_any")) == (one_to_one, pytest.approx(any_match))


@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_an_empty_plan_finds_nothing(prefix):
    result = scores([], prefix, gold=3)
    assert ([one.value for one in result], result[0].note) == ([None, 0, 0, 0], "nothing was predicted")
    assert (result[1].floor, result[1].ceiling, result[1].missing) == (0, 0, 0)


@pytest.mark.parametrize(
    ("predicted", "gold", "note"),
    [(3, 0, "the item has no gold plan"), (None, 3, "the plan of this response is not known")],
)
@pytest.mark.parametrize("over_valid", [False, True])
def test_where_a_plan_is_not_known_nothing_is_defined(predicted, gold, note, over_valid):
    result = metric(PLAN, "plan.f1").score(RatedResponse(plans(predicted, gold), {}), over_valid)
    assert (result.value, result.floor, result.ceiling, result.note) == (None, None, None, note)


# Missing cells


def test_a_missing_cell_leaves_a_range_and_over_valid_its_sub_task_out():
    # Not: matching 1 of 2 and 2; relevant: 2. F1 2/4 … 4/4.
    f1 = scores([[1, 0], [0, None]])[2]
    assert (f1.value, f1.floor, f1.ceiling, f1.n, f1.missing) == (None, 1 / 2, 1, 3, 1)
    assert f1.note == "1 of 4 judgements are missing"
    # Of the first row alone: TP 1, FP 0, FN 1: P 1, R 1/2, F1 2/3, J 1/2.
    result = scores([[1, 0], [0, None]], over_valid=True)
    assert [one.value for one in result] == [1, 1 / 2, 2 / 3, 1 / 2]
    assert (result[0].floor, result[0].ceiling) == (1 / 2, 1)
    assert "over 1 of 2 predicted sub-tasks only" in result[0].note


@pytest.mark.parametrize("over_valid", [False, True])
def test_with_nothing_judged_anything_is_possible(over_valid):
    for result in scores([[None, None], [None, None]], over_valid=over_valid):
        assert (result.value, result.floor, result.ceiling, result.n, result.missing) == (None, 0, 1, 0, 4)


@settings(max_examples=60)
@given(
    st.integers(1, 3).flatmap(
        lambda gold: st.lists(st.lists(CELLS, min_size=gold, max_size=gold), min_size=1, max_size=3)
    )
)
@pytest.mark.parametrize("prefix", ["plan", "plan_any"])
def test_the_range_is_that_of_all_ways_to_fill_what_is_missing(prefix, rows):
    places = [(i, j) for i, row in enumerate(rows) for j, cell in enumerate(row) if cell is None]
    could_be = [[] for _ in FIGURES]
    for filling in product([True, False], repeat=len(places)):
        full = [list(row) for row in rows]
        for (i, j), cell in zip(places, filling, strict=True):
            full[i][j] = cell
        for own, value in zip(could_be, plan_values(full, prefix), strict=True):
            own.append(value)
    for own, result in zip(could_be, scores(rows, prefix), strict=True):
        assert (result.floor, result.ceiling) == (min(own), max(own))


def test_the_readings_count_a_missing_cell_as_no_match():
    cells = ((None, True), (None, None))
    assert (one_to_one(cells, 2).right, any_match(cells, 2).right, any_match(cells, 2).found) == (1, 1, 1)


# Cases


@pytest.mark.parametrize(("predicted", "gold"), [(None, 2), (0, 2), (2, 0)])
def test_where_a_plan_is_lacking_there_is_nothing_to_ask(predicted, gold):
    assert list(PLAN.cases(plans(predicted, gold))) == []


def test_ids_of_cells_fit_whatever_the_ids_of_sub_tasks():
    uuid, long = "9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11", "x" * 80
    assert cell_id(uuid, uuid) == f"{uuid}~{uuid}"
    assert len(cell_id(long, long)) <= 80
    assert len({cell_id(long, "a"), cell_id(long[1:], "a"), cell_id("a", long)}) == 3
    assert cell_id("a~b", "c") != cell_id("a", "b~c")


def test_a_case_is_a_predicted_sub_task_and_a_unit_a_gold_one():
    drawn, gold = plan("p", ["Do this.", "Do that."]), plan("g", ["One.", "Two.", "Three."])
    first, second = PLAN.cases(material(documents={Kind.PLAN: gold}, parts={ResponsePart.PLAN: drawn}))
    assert (first.given, second.given) == (
        {"predicted sub-task": "Do this."},
        {"predicted sub-task": "Do that."},
    )
    assert {unit.id: unit.text for unit in second.units} == {
        "p2~g1": "One.",
        "p2~g2": "Two.",
        "p2~g3": "Three.",
    }
    assert (first.artifact_id, PLAN.unit_kind) == ("artifact of plan", Kind.PLAN)
    assert PLAN.lacks({}, 1, ()) == ["a plan", "the plan of a response"]


GOLD = ["Review what is known of retrieval.", "Measure the rate of invented answers.", "Compare costs."]
TASK = "Measure how often answers are invented with and without retrieval."


def plan_case(task=TASK, gold=GOLD):
    (result,) = PLAN.cases(
        material(documents={Kind.PLAN: plan("g", gold)}, parts={ResponsePart.PLAN: plan("p", [task])})
    )
    return result


def reply(*cells):
    return Row(cells=[Cell(id=name, reason="Because.", verdict=verdict) for name, verdict in cells])


def judged(*cells, flags=()):
    return run(plan_judge(plan_case(), Ask(reply(*cells), flags=flags)))


def test_the_judge_sees_one_sub_task_and_all_gold_ones_by_short_names():
    ask = Ask(reply(("g1", "not"), ("g2", "relevant"), ("g3", "not")))
    run(plan_judge(plan_case(gold=["Two\nlines.", "Another."]), ask))
    ((prompt, fields, form, fenced),) = ask.asked
    assert (prompt, form, fenced) == ("adra.plan", Row, ("question", "subtask"))
    assert fields == {
        "question": "How does retrieval help?",
        "subtask": TASK,
        "list": "g1: Two lines.\ng2: Another.",
    }


def test_replies_are_matched_by_name_and_not_by_order():
    result = judged(("g3", "not"), ("g1", "not"), ("g2", "relevant"), flags=("injection",))
    assert {unit: verdict.value for unit, verdict in result.items()} == {
        "p1~g1": "not",
        "p1~g2": "relevant",
        "p1~g3": "not",
    }
    assert {(verdict.rationale, verdict.flags) for verdict in result.values()} == {("Because.", "injection")}


# The plain text form


@pytest.mark.parametrize(
    ("line", "verdict", "reason"),
    [
        ("g2: not\nIt is about costs.", "not", "It is about costs."),
        ("- **G2**: relevant.\n  Both measure.", "relevant", "Both measure."),
        ("g2: not\nNot relevant: another aim.", "not", "Not relevant: another aim."),
        ("g2. relevant", "relevant", ""),
    ],
)
def test_a_line_is_a_name_and_a_verdict(line, verdict, reason):
    (cell,) = Row.from_text(f"\n{line}\n").cells
    assert (cell.id, cell.verdict, cell.reason) == ("g2", verdict, reason)


def test_json_verdicts_are_read_whatever_their_case_and_nothing_else_is():
    assert Cell.model_validate({"id": " G1", "reason": "", "verdict": "Relevant"}).id == "g1"
    with pytest.raises(ValueError, match="verdict"):
        Cell(id="g1", reason="", verdict="partly")


# The baseline


def test_the_baseline_sees_the_same_sub_task_in_other_words():
    result = plan_baseline(plan_case())
    assert {unit: verdict.value for unit, verdict in result.items()} == {
        "p1~g1": "not",
        "p1~g2": "relevant",
        "p1~g3": "not",
    }
    assert all(verdict.rationale.startswith("baseline: likeness ") for verdict in result.values())
    assert result == plan_baseline(plan_case())


def test_the_baseline_abstains_where_there_are_no_words():
    result = plan_baseline(plan_case(gold=["Compare costs.", "…"]))
    assert (result["p1~g2"].value, result["p1~g2"].status) == (None, Status.UNCLEAR)
    assert result["p1~g1"].value == "not"
    assert {verdict.status for verdict in plan_baseline(plan_case(task="?")).values()} == {Status.UNCLEAR}


REPORT = """# Retrieval in **practice**

## 1. Why answers are *invented*
Because.

## 2. How retrieval helps
### 2.1 Details
It does.

## 3. What it costs

## References
[1] https://a.org
"""


def drawn(*steps, flags=()):
    reply = DrawnPlan(subtasks=[Step(passage=passage, text=text) for passage, text in steps])
    return run(extract(material(REPORT), Ask(reply, flags=flags)))


def headings(report):
    result = headings_as_plan(material(report))
    return [unit.text for unit in result.document.units] if result.document else result.cause


def test_the_model_sees_question_and_report_behind_fences():
    ask = Ask(DrawnPlan(subtasks=[]))
    run(extract(material(REPORT), ask))
    fields = {"question": "How does retrieval help?", "report": REPORT}
    assert ask.asked == [("adra.plan.draw", fields, DrawnPlan, ("question", "report"))]


def test_the_sub_tasks_keep_their_order_and_their_place_in_the_report():
    result = drawn(("How retrieval helps", "Explain how it helps."), ("What it costs", "Weigh\nits costs."))
    assert [unit.text for unit in result.document.units] == ["Explain how it helps.", "Weigh its costs."]
    assert all(stands_in(unit.anchor, REPORT) for unit in result.document.units)
    assert (result.status, result.flags) == (Status.OK, ())


def test_a_passage_that_is_not_in_the_report_is_flagged_and_the_sub_task_stays():
    result = drawn(("Never said", "Explain how it helps."), flags=("injection",))
    assert result.document.units[0].anchor is None
    assert result.flags == ("injection", "quote_missing")


def test_ids_follow_from_the_words():
    one, again = (drawn(("a", "Do it."), ("b", "Do it."), ("c", "Do more.")).document for _ in range(2))
    assert one == again
    assert len({unit.id for unit in one.units}) == 3
    assert drawn(("x", "Do more.")).document.units[0].id == one.units[2].id


@pytest.mark.parametrize("steps", [(), (("a", "  "),)])
def test_a_report_that_shows_no_work_has_no_plan(steps):
    result, cause = drawn(*steps), "the report shows no sub-tasks"
    assert (result.document, result.status, result.cause) == (None, Status.UNCLEAR, cause)


def test_the_plain_text_form_is_a_passage_and_a_sub_task_a_line():
    result = DrawnPlan.from_text("How it helps || Explain how it helps.\n\nCosts || Weigh costs.")
    assert [(step.passage, step.text) for step in result.subtasks] == [
        ("How it helps", "Explain how it helps."),
        ("Costs", "Weigh costs."),
    ]
    for text in ("", "Explain how it helps.", "a || b || c"):
        with pytest.raises(ValueError, match="two bars"):
            DrawnPlan.from_text(text)


# The baseline


def test_the_headings_of_a_report_are_its_plan():
    assert headings(REPORT) == ["Why answers are invented", "How retrieval helps", "What it costs"]
    result = headings_as_plan(material(REPORT))
    assert result.document.remark == "baseline: the headings of the report"
    assert all(stands_in(unit.anchor, REPORT) for unit in result.document.units)


@pytest.mark.parametrize(
    ("report", "wanted"),
    [
        # Lines in bold are headings, by the depth of their numbers.
        (
            "**1. One**\nx\n**1.1 Inner**\nx\n**2. Two**\nx\n**3. Three**\n\n**References**\n",
            ["One", "Two", "Three"],
        ),
        # Where there are few, all are taken.
        ("# One\n\n## Two\n", ["One", "Two"]),
        ("Only text.\n\n## References\n", "baseline: the report has no headings"),
        ("", "baseline: the report has no headings"),
    ],
)
def test_the_highest_headings_are_the_plan_and_without_any_there_is_a_cause(report, wanted):
    assert headings(report) == wanted
