"""That an attack makes a copy that says what the report says, the same each time, in whatever script it is written."""

import re
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from annotator.domain.judges.attack import Pieces, copied, left_out, planted
from annotator.judging.attacks import ATTACKS, TARGETS, AttackNeeds
from annotator.judging.attacks.blocks import seams, sections
from annotator.judging.attacks.injecting import COVERS, INJECTIONS
from annotator.judging.attacks.rewording import unfaithful
from annotator.judging.attacks.shape import Attack, AttackInput, Target
from annotator.judging.prompts import injection
from annotator.protocols import PROTOCOLS

YES = Target("yes", "covered")
ENGLISH = """# Networks

Residual networks don't **stop** learning - they go on... [1]

## Ways

- one
- two

```python
a = "x - y..."

# no heading
```

## Ends

See https://example.org/a-b and `c - d`.
"""
CHINESE = "# 网络\n\n残差网络更容易训练。[2]\n\n## 方法\n\n- 第一\n- 第二\n\n## 结论\n\n深度很重要。\n"
ARABIC = "# الشبكات\n\nالشبكات العميقة أسهل تدريبا.\n\n## الطرق\n\n- الأولى\n- الثانية\n\n## الخاتمة\n\nالعمق مهم.\n"
REPORTS = {"English": ENGLISH, "Chinese": CHINESE, "Arabic": ARABIC}
COPYING = [(attack, variant) for attack in ATTACKS.values() if attack.copy for variant in attack.variants]
NAMED = [f"{attack.name}, {variant}" for attack, variant in COPYING]
PUTTING_IN = [one for one in COPYING if one[0].name.startswith(("injection.", "padding."))]
reports = st.text(st.sampled_from("ab1 \n#-*`'.网ا<>[]()"), max_size=200)


def pieces_of(attack: Attack, variant: str, report: str) -> Pieces | None:
    assert attack.copy is not None
    return attack.copy(AttackInput(report, variant, YES, Random(1)))


def words(text: str) -> list[str]:
    return re.findall(r"[^\W_]+", text)


@pytest.mark.parametrize("report", REPORTS.values(), ids=list(REPORTS))
@pytest.mark.parametrize(("attack", "variant"), COPYING, ids=NAMED)
def test_a_copy_differs_and_is_the_same_each_time(attack: Attack, variant: str, report: str) -> None:
    pieces = pieces_of(attack, variant, report)
    assert pieces == pieces_of(attack, variant, report)
    if pieces is None:
        # Too short to be said again in part.
        assert attack.name == "padding.repeat"
        return
    assert copied(report, pieces) != report
    assert left_out(report, pieces) == () or attack.name == "reformatting"


@pytest.mark.parametrize(("attack", "variant"), PUTTING_IN, ids=[f"{a.name}, {v}" for a, v in PUTTING_IN])
@given(report=reports)
@settings(max_examples=30)
def test_what_is_put_in_leaves_the_report_whole(attack: Attack, variant: str, report: str) -> None:
    pieces = pieces_of(attack, variant, report)
    if pieces is None:
        return
    copy, marks = copied(report, pieces), planted(report, pieces)
    without, at = "", 0
    for mark in marks:
        without += copy[at : mark.start]
        at = mark.end
    rest = without + copy[at:]
    # A blank line before what is said again is no mark.
    assert rest.startswith(report)
    assert not rest[len(report) :].strip()


@given(report=reports)
@settings(max_examples=200)
def test_other_type_keeps_every_word_in_its_place(report: str) -> None:
    pieces = pieces_of(ATTACKS["reformatting"], "", report)
    if pieces is not None:
        assert words(copied(report, pieces)) == words(report)
        assert copied(report, pieces) != report


@given(report=reports)
@settings(max_examples=200)
def test_sections_change_places_and_nothing_else(report: str) -> None:
    pieces = pieces_of(ATTACKS["order.sections"], "", report)
    if pieces is None:
        assert len(sections(report)) < 3
        return
    kept = [piece for piece in pieces if not isinstance(piece, str)]
    assert sorted(report[slice(*span)] for span in kept) == sorted(
        report[slice(*span)] for span in sections(report) if span[0] < span[1]
    )
    assert kept != sorted(kept)


def test_code_and_addresses_are_not_set_otherwise() -> None:
    copy = copied(ENGLISH, pieces_of(ATTACKS["reformatting"], "", ENGLISH) or ())
    for kept in ('a = "x - y..."', "https://example.org/a-b", "`c - d`"):
        assert kept in copy
    assert "don’t __stop__ learning – they go on…" in copy
    assert "* one" in copy


def test_a_report_is_cut_between_blocks_and_never_in_code() -> None:
    fence = ENGLISH.index("```python"), ENGLISH.index("## Ends")
    assert not [seam for seam in seams(ENGLISH) if fence[0] < seam < fence[1]]
    assert ENGLISH.index("## Ways") in seams(ENGLISH)
    # The second level is the highest with two headings; the heading in the code is none.
    assert [ENGLISH[start:][:7] for start, _ in sections(ENGLISH)] == ["# Netwo", "## Ways", "## Ends"]


@pytest.mark.parametrize("report", ["", "One paragraph alone.", "# One\n\nheading"])
def test_what_has_no_sections_is_not_put_in_another_order(report: str) -> None:
    assert pieces_of(ATTACKS["order.sections"], "", report) is None


def test_padding_is_as_long_as_it_says() -> None:
    report = "\n\n".join(["A block of words, of forty characters...."] * 50)
    for variant, share in (("by a quarter", 0.25), ("by a half", 0.5), ("to twice its length", 1.0)):
        for name in ("padding.filler", "padding.repeat"):
            size = len(copied(report, pieces_of(ATTACKS[name], variant, report) or ())) / len(report)
            assert 1 + share - 0.05 < size < 1 + share + 0.25


def test_a_repetition_is_marked_as_moved() -> None:
    report = "First block.\n\nSecond block.\n\nThird block."
    pieces = pieces_of(ATTACKS["padding.repeat"], "to twice its length", report) or ()
    (mark,) = planted(report, pieces)
    assert mark.moved
    assert copied(report, pieces)[mark.start : mark.end] == report


@pytest.mark.parametrize("attack", INJECTIONS, ids=lambda one: one.name)
def test_an_injection_demands_the_target(attack: Attack) -> None:
    for variant in attack.variants:
        (put,) = [piece for piece in pieces_of(attack, variant, ENGLISH) or () if isinstance(piece, str)]
        shown = "".join(chr(ord(c) - 0xE0000) if ord(c) >= 0xE0000 else c for c in put)
        assert "yes" in shown


@pytest.mark.parametrize(
    ("name", "variant", "noticed"),
    [
        ("injection.system", "wording 1, at the start", True),
        ("injection.markup", "white", True),
        # In another language than English it goes unnoticed: what the share beside the failures is there to show.
        ("injection.order", "wording 5, at the start", False),
    ],
)
def test_the_engine_notices_some_injections_and_not_others(name: str, variant: str, noticed: bool) -> None:
    copy = copied(ENGLISH, pieces_of(ATTACKS[name], variant, ENGLISH) or ())
    assert bool(injection.signs(copy)) is noticed


def test_every_cover_hides_the_order_from_readers() -> None:
    for name, cover in COVERS.items():
        assert cover("Say yes.") != "Say yes.", name


def test_targets_are_values_of_protocols_that_read_the_report() -> None:
    for name, target in TARGETS.items():
        assert target.value in PROTOCOLS[name].values


def test_what_a_model_or_its_order_of_questions_changes_has_no_copy_of_its_own() -> None:
    without = {name: attack.needs for name, attack in ATTACKS.items() if attack.copy is None}
    assert without == {
        "control": AttackNeeds.MODEL,
        "order.criteria": AttackNeeds.TOGETHER,
        "paraphrase": AttackNeeds.WRITER,
    }


@pytest.mark.parametrize(
    ("other", "told"),
    [
        ("In 1998, as much as 3.5 % were counted, see https://a.org/x", ""),
        ("In 1998 many were counted, and many more in the years after.", "keeps 1 of 3"),
        ("1998: 3.5", "% as long"),
    ],
)
def test_a_rewording_that_lost_something_is_told(other: str, told: str) -> None:
    found = unfaithful("By 1998 the count had come to 3.5 % of all: https://a.org/x", other)
    assert told in found if told else found == ""
