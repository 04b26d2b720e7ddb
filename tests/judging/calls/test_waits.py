"""How long a server asks to be left alone."""

from datetime import UTC, datetime

import pytest

from annotator.judging.calls.outcome import duration, retry_after

NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:00 GMT"}, 86_400.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e300"}, 366 * 86_400.0),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:00 +" + "9" * 30}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0), ("20ms", 0.02), ("1s", 1.0), ("2m59.56s", 179.56), ("1h30m", 5400.0),
        ("1.5 seconds", 1.5), ("7 minutes", 420.0), ("1d", 86_400.0), ("12", None), ("", None), ("soon", None),
        ("3 samples", None), ("9" * 400 + " days", 366 * 86_400.0),
    ],
)  # fmt: skip
def test_a_span_of_time_is_read_with_its_unit_only(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))
