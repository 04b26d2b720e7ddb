"""Permanent ids: random for what is made here, derived for what is imported."""

import uuid
from datetime import UTC, datetime

NAMESPACE = uuid.UUID("9d6d5c0e-57a5-5b7e-9b0a-0f6f3e0d6a11")


def new_id() -> str:
    return str(uuid.uuid4())


def derived_id(*parts: str | int) -> str:
    """The same UUID for the same parts, so that importing a thing twice finds it again."""
    return str(uuid.uuid5(NAMESPACE, "\x1f".join(str(part) for part in parts)))


def now() -> datetime:
    """The present moment, with its zone (UTC): naive times are refused by the store."""
    return datetime.now(UTC)
