"""Receipts: a short code, easy to read aloud, that shows that two people hold the same package."""

from collections.abc import Iterable

# Crockford's base 32 (https://www.crockford.com/base32.html): no I, L, O or U.
ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
DIGITS = 7


def receipt_code(digest: str) -> str:
    """The receipt of a SHA-256 in hexadecimal, such as “K7QF-2M9D”: its first 35 bits and a check character.

    The check character tells every single slip and every swap of two characters. ValueError on anything shorter.
    """
    if len(digest) < 9:
        raise ValueError("too short for a hash")
    number = int(digest[:9], 16) >> 1
    values = [number >> 5 * place & 31 for place in reversed(range(DIGITS))]
    code = "".join(ALPHABET[value] for value in [*values, _residue([*values, 0])])
    return f"{code[:4]}-{code[4:]}"


def _residue(values: Iterable[int]) -> int:
    """The polynomial with these coefficients at the generator of GF(32), x⁵ + x² + 1; 0 for a sound receipt.

    The generator's powers differ, so that a change of one value, or a swap of two, cannot go unseen.
    """
    residue = 0
    for value in values:
        residue <<= 1
        residue ^= (0b100101 if residue & 32 else 0) ^ value
    return residue
