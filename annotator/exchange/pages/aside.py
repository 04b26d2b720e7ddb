"""Blocking calls beside the event loop, abandoned when their result is no longer needed."""

import asyncio
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")


async def aside(call: Callable[[], T]) -> T:
    """The result of a blocking call, made in a thread of its own; raises what it raises of the world's errors.

    Not in the loop's executor: that one is waited for at the end of a program, however long a call still takes.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[T] = loop.create_future()
    threading.Thread(target=_work, args=(call, loop, done), daemon=True).start()
    return await done


def _work(call: Callable[[], T], loop: asyncio.AbstractEventLoop, done: "asyncio.Future[T]") -> None:
    found: list[T] = []
    error: BaseException = RuntimeError("A call broke off; its traceback was printed.")
    try:
        found.append(call())
    except (OSError, EOFError, UnicodeError) as caught:
        error = caught
    finally:
        with suppress(RuntimeError):  # the loop is closed: nobody waits
            loop.call_soon_threadsafe(_deliver, done, found, error)


def _deliver(done: "asyncio.Future[T]", found: list[T], error: BaseException) -> None:
    if done.done():
        return
    if found:
        done.set_result(found[0])
    else:
        done.set_exception(error)
