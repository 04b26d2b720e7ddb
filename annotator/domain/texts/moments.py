"""Moments as the clock on the wall shows them."""

from datetime import UTC, datetime


def local(at: datetime) -> datetime:
    """A moment in local time; in UTC where the system has none for it, as Windows has not before 1970."""
    try:
        return at.astimezone()
    except (OSError, OverflowError, ValueError):
        return at.replace(tzinfo=at.tzinfo or UTC).astimezone(UTC)
