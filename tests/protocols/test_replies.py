"""What protocols share: replies read and asked for again, tables under their own names, and no name for two things."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, TypeAdapter

from annotator.actions.results import scoring
from annotator.actions.validation import corrected
from annotator.domain.common import Refusal
from annotator.domain.judges.judge import Status, Verdict
from annotator.domain.judges.protocol import Answer, Case, Material, Metric, Over, RatedResponse
from annotator.domain.kinds.artifact import Anchor, Unit
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.domain.material.extract import KeyPoints
from annotator.domain.material.item import Item, Response
from annotator.domain.texts.estimate import SHARE
from annotator.judging.calls.reply_parts import ReplyForm, UnreadableReply, parse
from annotator.judging.messages import load
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, USUAL, papers
from annotator.protocols.merging import Pairs, paired
from annotator.protocols.several import (
    QUOTE_MISSING,
    Word,
    blocks,
    by_id,
    by_letter,
    fields,
    listed,
    longest_quote,
    mean_of_known,
    missing_notes,
    of_empty,
    of_one,
    of_several,
    sole_value,
    values_by_name,
    with_quote,
)

REPORT = "Costs rise slowly.\nDemand falls."
NAME = r"[\w~-]{1,80}"


@pytest.mark.parametrize(
    ("text", "word", "rest"),
    [
        ("Yes.\nIt names both.", "yes", "It names both."),
        ("\n**No**\n\nNothing of it.", "no", "Nothing of it."),
        ("“yes”", "yes", ""),
        ("> no\nIt is silent.", "no", "It is silent."),
        ("cannot tell\nBoth are there.", "cannot-tell", "Both are there."),
        ("CANNOT_TELL.", "cannot-tell", ""),
        ("**Final verdict:** `no`.\nSo.", "no", "So."),
        ("最终答案：yes。\n报告写明了。", "yes", "报告写明了。"),
        ("```\nyes\n```\nIt does.", "yes", "It does."),
        ("no\nNo part of it is there.", "no", "No part of it is there."),
        ("yes\nNo part of it is missing.", "yes", "No part of it is missing."),
        ('yes\n"No, it falls" is what it says.', "yes", '"No, it falls" is what it says.'),
        ("yes\nVerdict: yes", "yes", "Verdict: yes"),
    ],
)
def test_a_reply_is_read_by_the_value_that_its_first_line_holds(text, word, rest):
    assert sole_value(text, "yes", "no", "cannot-tell") == (word, rest)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Bayesian methods are named.",
        "Nothing of it.",
        "no-one says so",
        "yes/no",
        "Yes and no.",
        "no, or cannot say",
        "I say yes.",
        "No idea: I cannot tell",
        "No opinion",
        "No doubt: it is covered",
        "Yes (or no)",
        "yes|no",
        "Yes. It names both.",
        "Yes, it names both.",
        "no?",
        "no...",
        "Not sure: no",
        "Verdict: no idea",
        "Verdict:\nyes",
        "```json\nyes\n```",
        "yes" + " " * 500,
        "是",
    ],
)
def test_a_first_line_with_more_than_a_value_is_refused(text):
    with pytest.raises(ValueError, match="the first line is not yes or no or cannot-tell and nothing else"):
        sole_value(text + "\nSo.", "yes", "no", "cannot-tell")


@pytest.mark.parametrize(
    "later",
    ["No", "**No.**", "Or no.", "No, wait: it is not.", "Final verdict: no", "结论：no，因为没有", '"no"'],
)
def test_a_later_line_with_another_value_leaves_none(later):
    for text in (f"Yes\n{later}", f"Yes\n\nIt is there.\n{later}\n"):
        with pytest.raises(ValueError, match="a later line gives another value"):
            sole_value(text, "yes", "no")


def test_reasoning_that_was_not_cut_off_is_no_answer():
    with pytest.raises(ValueError, match="the reasoning is not separated"):
        sole_value("yes\n</think>\nno idea", "yes", "no")


@pytest.mark.parametrize("value", ["cannot-tell", " Cannot_Tell ", "CANNOT TELL\n"])
def test_the_spelling_of_a_word_is_no_matter(value):
    assert TypeAdapter(Annotated[Literal["cannot-tell"], Word]).validate_python(value) == "cannot-tell"


def test_the_longest_passage_between_quotes_is_the_quote():
    assert longest_quote("It says “costs” and then «costs rise slowly», so yes.") == "costs rise slowly"
    assert longest_quote("It quotes nothing.") == ""


def test_of_several_things_each_value_stands_behind_its_name_and_nothing_behind_the_value():
    text = "a1: yes\nIt is there.\nReason: no more is asked.\n\n- **a2**: No.\n"
    assert values_by_name(text, NAME, "yes", "no") == [
        ("a1", "yes", "It is there.\nReason: no more is asked."),
        ("a2", "no", ""),
    ]


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a1: yes\na2: no idea", "'a2: no idea'"),
        ("a1: yes, it is there", "'a1: yes, it is there'"),
        ("Here:\na1: yes", "'Here:'"),
        ("yes", "'yes'"),
        (" \n", "''"),
    ],
)
def test_the_first_line_that_says_more_or_less_is_shown(text, shown):
    with pytest.raises(ValueError, match=f"a name, a colon, yes or no, and nothing else: {re.escape(shown)}"):
        values_by_name(text, NAME, "yes", "no")


def test_of_several_things_none_has_two_values():
    with pytest.raises(ValueError, match="a later line gives another value"):
        values_by_name("a1: yes\nno\na2: no", NAME, "yes", "no")


@pytest.mark.parametrize("text", ["*" * 199_999 + "x", "yes\n" + ("*" * 200 + "\n") * 990, "a-" * 99_999])
def test_a_hostile_reply_is_refused_at_once(text):
    """The suite's time limit would end a pattern that takes the square of such a text's length."""
    for read in (lambda: sole_value(text, "no"), lambda: values_by_name(text, NAME, "yes", "no")):
        with pytest.raises(ValueError, match="nothing else"):
            read()


def test_fields_stand_between_two_bars():
    assert fields("a || b \n\n c || || d", 2) == [["a", "b"], ["c", "|| d"]]
    for text in ("", "a", "a || b || c", "a || b\nc"):
        with pytest.raises(ValueError, match="2 fields"):
            fields(text, 2)


def test_blocks_have_a_line_for_each_label():
    assert blocks("A: x\nB:\n \n\nA:\nB: y: z\n", a="A", text="B") == [
        {"a": "x", "text": ""}, {"a": "", "text": "y: z"},
    ]  # fmt: skip
    for text in ("", "A: x", "B: x\nA: y", "A: x\nB: y\nC: z", "Here:\nA: x\nB: y"):
        with pytest.raises(ValueError, match="block 1 is not the lines A, B"):
            blocks(text, a="A", text="B")


def test_a_quote_is_given_in_the_texts_own_words_with_its_place():
    result = with_quote("yes", "So.", "costs  rise SLOWLY", REPORT, ("late",), owed=True)
    assert (result.quote, result.quote_start, result.quote_end) == ("Costs rise slowly", 0, 17)
    assert (result.value, result.rationale, result.flags) == ("yes", "So.", "late")


@pytest.mark.parametrize(("owed", "flags"), [(True, f"late {QUOTE_MISSING}"), (False, "late")])
def test_a_quote_that_is_owed_and_not_found_is_flagged_and_the_verdict_stands(owed, flags):
    result = with_quote("yes", "So.", "Prices fall", REPORT, ("late",), owed=owed)
    assert (result.value, result.status, result.flags) == ("yes", Status.OK, flags)
    assert (result.quote, result.quote_start, result.quote_end) == ("Prices fall", None, None)


def test_missing_judgements_are_spoken_of():
    assert missing_notes(0, 9, valued=True) == []
    assert missing_notes(2, 9, valued=False) == ["2 of 9 judgements are missing"]
    assert missing_notes(2, 9, valued=True) == ["2 of 9 judgements are missing", "over the others only"]


@pytest.mark.parametrize(
    ("total", "known", "missing", "over_valid", "value", "bounds", "note"),
    [
        # Two of four came, worth 1 and 1/2; the others are worth 0 to 1 each.
        (1.5, 2, 2, False, None, (0.375, 0.875), "2 of 4 labels are missing"),
        (1.5, 2, 2, True, 0.75, (0.375, 0.875), "2 of 4 labels are missing; over the others only"),
        (1.5, 2, 0, False, 0.75, (0.75, 0.75), ""),
        (0, 0, 3, True, None, (0.0, 1.0), "3 of 3 labels are missing"),
    ],
)
def test_a_mean_is_open_between_all_that_is_missing_as_nothing_and_as_whole(
    total, known, missing, over_valid, value, bounds, note
):
    result = mean_of_known(total, known, missing, over_valid, "labels are missing", "m")
    assert (result.value, (result.floor, result.ceiling)) == (value, bounds)
    assert (result.n, result.missing, result.note) == (known, missing, note)


UNITS = (Unit(id="one", text="Names\n a."), Unit(id="two", text="Names b."))


@dataclass(frozen=True)
class Told:
    id: str
    value: str


CASE = Case(
    "some",
    Item(id="i", key="k", question="Q?"),
    Response(id="r", item_id="i", system_id="s", text=" \n"),
    "",
    UNITS,
)


def apart(*said):
    answer = Answer(Status.OK, SimpleNamespace(answers=[Told(*one) for one in said]), flags=("late",))
    return of_several(CASE, by_id(UNITS), answer, lambda one, *_: Verdict(value=one.value))


def test_where_no_reply_came_every_unit_is_missing_with_its_cause():
    lost = Answer(Status.TIMEOUT, cause="no answer within 60 s")
    result = of_several(CASE, by_id(UNITS), lost, lambda *_: Verdict(value="yes"))
    assert {(one.value, one.status, one.cause) for one in result.values()} == {
        (None, Status.TIMEOUT, lost.cause)
    }
    assert of_one(replace(CASE, units=UNITS[:1]), lost, lambda *_: Verdict(value="yes")) == {
        "one": result["one"]
    }


def test_of_an_empty_report_alone_the_verdict_is_known():
    assert {unit: one.value for unit, one in of_empty(CASE, "no").items()} == {"one": "no", "two": "no"}
    assert (
        of_empty(replace(CASE, response=CASE.response.model_copy(update={"text": "A report."})), "no") == {}
    )


def test_units_are_listed_by_names_of_one_call():
    names = by_letter(UNITS, "g")
    assert [(name, unit.id) for name, unit in names.items()] == [("g1", "one"), ("g2", "two")]
    assert listed(names) == "g1: Names a.\ng2: Names b."


@pytest.mark.parametrize(
    ("said", "cause"),
    [
        ([], "The reply leaves this out."),
        ([("two", "no"), ("two", "no")], "The reply answers this more than once."),
        ([("Two", "no")], "The reply leaves this out. It answers for what was not asked."),
        # What is said is known by its name, not by its place.
        ([("two", "no")], ""),
    ],
)
def test_a_unit_that_is_not_answered_exactly_once_is_missing_with_its_cause(said, cause):
    one, two = (apart(*said, ("one", "yes"))[name] for name in ("one", "two"))
    expected = (None, Status.INVALID, cause, "late") if cause else ("no", Status.OK, "", "")
    assert (one.value, (two.value, two.status, two.cause, two.flags)) == ("yes", expected)


FIRST, SECOND = ("One", "Two\n lines", "Three"), ("Eins", "Zwei")


def answered(*pairs: tuple[int, int]) -> tuple[Answer, dict[str, str]]:
    """What comes of a reply with these numbers, and what was filled into the prompt."""
    filled: dict[str, str] = {}

    async def ask(
        prompt: str, fields: Mapping[str, str], reply: type[BaseModel], fenced: Sequence[str] = ()
    ) -> Answer:
        filled.update(fields)
        assert set(fenced) == fields.keys()
        said = {"pairs": [{"first": first, "second": second} for first, second in pairs]}
        return Answer(Status.OK, reply.model_validate(said), raw="{}")

    return asyncio.run(paired("Which?", FIRST, SECOND, ask)), filled


def test_both_lists_are_numbered_line_by_line() -> None:
    filled = answered()[1]
    assert (filled["first"], filled["second"]) == ("1. One\n2. Two lines\n3. Three", "1. Eins\n2. Zwei")


@pytest.mark.parametrize("pairs", [(), ((3, 1),), ((1, 2), (2, 1))])
def test_pairs_of_numbers_are_pairs_of_places(pairs: tuple[tuple[int, int], ...]) -> None:
    answer, _ = answered(*pairs)
    assert (answer.status, answer.reply) == (Status.OK, [(a - 1, b - 1) for a, b in pairs])


@pytest.mark.parametrize(
    ("pairs", "cause"),
    [
        (((4, 1),), "Of the first list the reply names number 4, and it has 3."),
        (((1, 3),), "Of the second list the reply names number 3, and it has 2."),
        (((0, 1),), "Of the first list the reply names number 0, and it has 3."),
        (((1, 1), (1, 2)), "Of the first list the reply uses number 1 twice."),
        (((1, 2), (3, 2)), "Of the second list the reply uses number 2 twice."),
        (((1, 1), (1, 1)), "Of the first list the reply uses number 1 twice."),
    ],
)
def test_a_number_that_is_strange_or_used_twice_spoils_the_reply(
    pairs: tuple[tuple[int, int], ...], cause: str
) -> None:
    answer, _ = answered(*pairs)
    assert (answer.status, answer.reply, answer.cause) == (Status.INVALID, None, cause)


@pytest.mark.parametrize(
    ("text", "found"), [("1 = 2\n\n 3=1 ", [(1, 2), (3, 1)]), ("none", []), ("None\n", [])]
)
def test_the_plain_text_form_is_a_line_for_each_pair(text: str, found: list[tuple[int, int]]) -> None:
    assert [(pair.first, pair.second) for pair in parse(text, Pairs, ReplyForm.TEXT).pairs] == found


@pytest.mark.parametrize(
    ("content", "form", "words"),
    [
        ("1 = 2, I think", ReplyForm.TEXT, "not two numbers"),
        ("1 and 2", ReplyForm.TEXT, "not two numbers"),
        ("none of them", ReplyForm.TEXT, "not two numbers"),
        ("1 = 2\nThese agree.", ReplyForm.TEXT, "not two numbers"),
        ("-1 = 2", ReplyForm.TEXT, "not two numbers"),
        ('{"pairs": [{"first": "1", "second": 2}]}', ReplyForm.SCHEMA, "pairs"),
        ('{"pairs": [{"first": 1}]}', ReplyForm.SCHEMA, "pairs"),
        ('{"pairs": [[1, 2]]}', ReplyForm.SCHEMA, "pairs"),
    ],
)
def test_what_is_no_pair_of_numbers_is_not_read(content: str, form: ReplyForm, words: str) -> None:
    with pytest.raises(UnreadableReply, match=words):
        parse(content, Pairs, form)


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
