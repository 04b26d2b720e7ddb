"""Moments in local time, also where a system has none for them."""

from datetime import UTC, datetime, timedelta, tzinfo

import pytest

from annotator.domain.texts.moments import local


class OnWindows(datetime):
    """A moment before 1970 as Windows treats it."""

    def astimezone(self, tz: tzinfo | None = None) -> datetime:
        if tz is None or self.tzinfo is None:
            raise OSError(22, "Invalid argument")
        return super().astimezone(tz)


def test_a_moment_is_shown_in_local_time() -> None:
    at = datetime(2026, 5, 1, 12, tzinfo=UTC)
    assert local(at) == at
    assert local(at).utcoffset() == at.astimezone().utcoffset()


@pytest.mark.parametrize("zone", [UTC, None])
def test_where_the_system_has_no_local_time_it_is_shown_in_utc(zone: tzinfo | None) -> None:
    found = local(OnWindows(1955, 4, 18, 6, tzinfo=zone))
    assert (found.isoformat(), found.utcoffset()) == ("1955-04-18T06:00:00+00:00", timedelta(0))
