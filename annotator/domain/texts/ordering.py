"""The sort order of names and keys that contain numbers."""

import re

_DIGITS = re.compile(r"(\d+)")


def natural(name: str) -> tuple[tuple[int, str], ...]:
    """What puts names in the order people expect: R2 before R10, whatever their case."""
    parts = _DIGITS.split(name.casefold())
    return tuple((int(part), "") if part.isdecimal() else (-1, part) for part in parts)
