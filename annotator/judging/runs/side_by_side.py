"""Parallel tasks whose errors reach callers one by one, not in groups."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from annotator.domain.texts.refusal import Refusal


@asynccontextmanager
async def side_by_side() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of tasks; when some fail, the others are cancelled and one error is raised by itself.

    Callers catch the store's and the domain's own errors, not groups of them. Of several, an error of the program comes
    before a refusal, which would hide it; the group of all stays its cause, so that a report tells the others too.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as errors:
        first, *others = sorted(errors.exceptions, key=lambda error: isinstance(error, Refusal))
        raise first from (errors if others else None)
