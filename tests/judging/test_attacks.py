"""Attacks on judges; judging is loaded late."""

from random import Random

import pytest
from hypothesis import given, settings, strategies as st

from annotator.domain.judges.validation import Pieces, copied, left_out, planted
from annotator.judging import messages
from annotator.judging.attacks import ATTACKS, KNOWN_ATTACKS, SHARES, TARGETS, Attack, AttackInput, seams
from annotator.protocols import PROTOCOLS

ENGLISH = """# Networks

Residual networks don't **stop** learning - they go on... [1]

## Ways

```python
a = "x - y..."

# no heading
```

## Ends

See https://example.org/a-b and `c - d`.
"""
COPYING = [(attack, variant) for attack in ATTACKS.values() if attack.copy for variant in attack.variants]
NAMED = [f"{attack.name}, {variant}" for attack, variant in COPYING]
reports = st.text(st.sampled_from("ab1 \n#-*`'.网ا<>[]()"), max_size=200)


def pieces_of(attack: Attack, variant: str, report: str) -> Pieces:
    assert attack.copy is not None
    return attack.copy(AttackInput(report, variant, TARGETS["researcherbench.coverage"], Random(1)))


@pytest.mark.parametrize(("attack", "variant"), COPYING, ids=NAMED)
@given(report=reports)
@settings(max_examples=30)
def test_a_copy_is_the_whole_report_with_something_put_in(attack: Attack, variant: str, report: str) -> None:
    pieces = pieces_of(attack, variant, report)
    assert pieces == pieces_of(attack, variant, report)
    copy, without, at = copied(report, pieces), "", 0
    assert copy != report
    assert left_out(report, pieces) == ()
    for mark in planted(report, pieces):
        without += copy[at : mark.start]
        at = mark.end
    assert without + copy[at:] == report


def test_a_report_is_cut_between_blocks_and_never_in_code() -> None:
    fence = ENGLISH.index("```python"), ENGLISH.index("## Ends")
    assert not [seam for seam in seams(ENGLISH) if fence[0] < seam < fence[1]]
    assert ENGLISH.index("## Ways") in seams(ENGLISH)


def test_padding_is_as_long_as_it_says() -> None:
    report = "\n\n".join(["A block of words, of forty characters...."] * 50)
    for variant, share in SHARES.items():
        size = len(copied(report, pieces_of(ATTACKS["padding.filler"], variant, report))) / len(report)
        assert 1 + share - 0.05 < size < 1 + share + 0.25


def test_an_order_demands_the_target_where_the_engine_can_notice_it() -> None:
    attack = ATTACKS["injection"]
    for variant in attack.variants:
        (put,) = [piece for piece in pieces_of(attack, variant, ENGLISH) if isinstance(piece, str)]
        assert "answer yes." in put
        assert messages.signs(put)


def test_targets_are_values_of_protocols_that_read_the_report() -> None:
    for name, target in TARGETS.items():
        assert target.value in PROTOCOLS[name].values


def test_of_attacks_of_earlier_versions_no_copy_is_made() -> None:
    assert not [name for name in KNOWN_ATTACKS.keys() - ATTACKS if KNOWN_ATTACKS[name].copy]
