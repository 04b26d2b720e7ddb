"""Receipts: short, forgiving about how they are typed, and unforgiving about slips."""

from itertools import combinations

import pytest

from annotator.domain.texts.canonical import sha256
from annotator.exchange.parcels.receipts import ALPHABET, receipt_code, receipt_holds, same_receipt

CODES = [receipt_code(sha256(str(number))) for number in range(40)]


@pytest.mark.parametrize(
    ("digest", "code"),
    [
        # The first 35 bits are 0, 1, 16 and 32; the check is 2·1, then 2·16 = 32 ≡ 5, then 4·1 modulo x⁵ + x² + 1.
        ("0" * 64, "0000-0000"),
        ("000000002" + "f" * 55, "0000-0012"),
        ("000000020" + "f" * 55, "0000-00G5"),
        ("000000041" + "f" * 55, "0000-0104"),
    ],
)
def test_a_receipt_is_the_first_35_bits_and_a_check_character(digest: str, code: str) -> None:
    assert receipt_code(digest) == code
    assert receipt_holds(code)


def test_a_receipt_has_two_groups_of_four_letters_that_cannot_be_mistaken() -> None:
    for code in CODES:
        assert len(code) == 9
        assert code[4] == "-"
        assert not set("ILOU") & set(code)
    assert len(set(CODES)) == len(CODES)


def test_every_single_slip_is_seen() -> None:
    for code in CODES[:10]:
        for place in {*range(9)} - {4}:
            for letter in set(ALPHABET) - {code[place]}:
                assert not receipt_holds(code[:place] + letter + code[place + 1 :])


def test_every_swap_of_two_characters_is_seen() -> None:
    for code in CODES:
        for a, b in combinations([0, 1, 2, 3, 5, 6, 7, 8], 2):
            swapped = list(code)
            swapped[a], swapped[b] = code[b], code[a]
            assert code[a] == code[b] or not receipt_holds("".join(swapped))


def test_receipts_are_the_same_however_they_are_typed() -> None:
    assert same_receipt("0000-0012", "oooo ooi2")
    assert same_receipt("0000-0012", " 0O0o–00L2\n")
    assert same_receipt("0000-00G5", "００００-００ｇ５")
    assert not same_receipt("0000-0012", "0000-00G5")


@pytest.mark.parametrize("text", ["", "0000-001", "0000-00122", "0000-0013", "0000-00U2", "½000-0012"])
def test_what_is_no_receipt_is_the_same_as_nothing(text: str) -> None:
    assert not receipt_holds(text)
    assert not same_receipt(text, text)


def test_a_hash_cut_short_has_no_receipt() -> None:
    with pytest.raises(ValueError, match="too short"):
        receipt_code("abc")
