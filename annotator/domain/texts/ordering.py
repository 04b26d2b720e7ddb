"""The order in which names and keys with numbers in them stand."""

import re

_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """What puts names in the order people expect: R2 before R10, whatever their case."""
    parts = _DIGITS.split(name.casefold())
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
