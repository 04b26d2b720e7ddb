"""Parallel tasks whose errors reach callers one by one, not in groups."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager


@asynccontextmanager
async def side_by_side() -> AsyncIterator[asyncio.TaskGroup]:
    """A group of tasks; when some fail, the others are cancelled and the first error is raised by itself.

    Callers catch the store's and the domain's own errors, not groups of them.
    """
    try:
        async with asyncio.TaskGroup() as group:
            yield group
    except ExceptionGroup as errors:
        raise errors.exceptions[0] from None
