"""Server-requested waiting times, in every header in which servers state them."""

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_COME_BACK = re.compile(
    r"(?:try again|retry|wait)(?:ing)? (?:in|after|for) (?:about )?|retryDelay\W+", re.IGNORECASE
)
_DURATION = re.compile(
    r"\s*(\d+(?:\.\d+)?)\s*(ms|milliseconds?|s|secs?|seconds?|m|mins?|minutes?|h|hours?|d|days?)(?![a-z])",
    re.IGNORECASE,
)
# A longer wait is none that anybody sits out, nor one that a date can hold.
_LONGEST_S = 366 * 86_400.0
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86_400.0}


def retry_after(headers: Mapping[str, str], now: datetime) -> float | None:
    """Seconds the server asks to wait, from `retry-after-ms` or Retry-After as a number or a date; None if unsaid."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    wanted = headers.get("retry-after", "").strip()
    seconds = _number(wanted)
    if seconds is not None or not wanted:
        return seconds
    try:
        moment = parsedate_to_datetime(wanted)
    except (ValueError, OverflowError):
        return None
    until = (moment.replace(tzinfo=moment.tzinfo or UTC) - now).total_seconds()
    return min(max(0.0, until), _LONGEST_S)


def hinted_wait(headers: Mapping[str, str], text: str) -> float | None:
    """Seconds a server that is asked too much hints at otherwise: when what is used up comes back, or in words."""
    used_up = [kind for kind in ("requests", "tokens") if headers.get(f"x-ratelimit-remaining-{kind}") == "0"]
    waits = [duration(headers.get(f"x-ratelimit-reset-{kind}", "")) for kind in used_up]
    said = _COME_BACK.search(text)
    waits.append(duration(text[said.end() :]) if said else None)
    return max((wait for wait in waits if wait is not None), default=None)


def duration(text: str) -> float | None:
    """Seconds that a text begins with, like 6m0s, 20ms or 1.5 seconds; None without a unit."""
    total, place, found = 0.0, 0, None
    while (found_now := _DURATION.match(text, place)) is not None:
        found, place = found_now, found_now.end()
        unit = found[2].lower()
        total += float(found[1]) * _SECONDS["ms" if unit.startswith(("ms", "milli")) else unit[0]]
    return min(total, _LONGEST_S) if found else None


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return min(number, _LONGEST_S) if math.isfinite(number) and number >= 0 else None
