"""Receipts: short, and in letters that cannot be mistaken."""

import pytest

from annotator.domain.texts.canonical import sha256
from annotator.exchange.parcels.packages import receipt_code

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


def test_a_receipt_has_two_groups_of_four_letters_that_cannot_be_mistaken() -> None:
    for code in CODES:
        assert len(code) == 9
        assert code[4] == "-"
        assert not set("ILOU") & set(code)
    assert len(set(CODES)) == len(CODES)


def test_a_hash_cut_short_has_no_receipt() -> None:
    with pytest.raises(ValueError, match="too short"):
        receipt_code("abc")
