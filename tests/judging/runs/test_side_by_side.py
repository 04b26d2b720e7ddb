"""Tasks side by side, and the one error that their caller meets."""

import asyncio

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.judging.runs.side_by_side import side_by_side

pytestmark = pytest.mark.anyio


class Full(Exception):
    """A disk is."""


async def test_the_first_error_is_raised_by_itself_and_ends_the_others() -> None:
    ended: list[str] = []

    async def waits() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("waits")

    async def fails() -> None:
        await asyncio.sleep(0)
        raise Full

    async def both() -> None:
        async with side_by_side() as group:
            group.create_task(waits())
            group.create_task(fails())

    with pytest.raises(Full):
        await both()
    assert ended == ["waits"]


async def test_a_refusal_does_not_hide_an_error_of_the_program() -> None:
    together = asyncio.Event()

    async def fails(error: Exception) -> None:
        await together.wait()
        raise error

    async def both() -> None:
        async with side_by_side() as group:
            for error in (Refusal("No."), KeyError("a bug"), Full()):
                group.create_task(fails(error))
            await asyncio.sleep(0)
            together.set()

    with pytest.raises(KeyError) as raised:
        await both()
    group = raised.value.__cause__
    assert isinstance(group, ExceptionGroup)
    assert [type(error) for error in group.exceptions] == [Refusal, KeyError, Full]


async def test_those_who_end_well_are_waited_for() -> None:
    done: list[int] = []

    async def works(number: int) -> None:
        await asyncio.sleep(0)
        done.append(number)

    async with side_by_side() as group:
        for number in range(3):
            group.create_task(works(number))
    assert done == [0, 1, 2]
