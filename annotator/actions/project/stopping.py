"""Orderly stop of long work: by Ctrl+C, a termination signal, a closed terminal or a line “cancel”."""

import asyncio
import os
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TextIO


@contextmanager
def stoppable(
    cancel: asyncio.Event, listen: TextIO | None = None, going: asyncio.Event | None = None
) -> Iterator[None]:
    """Set `cancel` when one of them comes; afterwards signals mean again what they meant before.

    The lines “pause” and “resume” clear and set `going`, where the work can be held.
    """
    loop = asyncio.get_running_loop()
    in_main_thread = threading.current_thread() is threading.main_thread()
    heeded = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP] if os.name == "posix" and in_main_thread else []
    before = {number: signal.getsignal(number) for number in heeded}
    for number in heeded:
        loop.add_signal_handler(number, cancel.set)
    if listen is not None:
        words = {"cancel": cancel.set}
        if going is not None:
            words |= {"pause": going.clear, "resume": going.set}
        threading.Thread(target=_hear, args=(listen, loop, words), daemon=True).start()
    try:
        yield
    finally:
        for number in heeded:
            loop.remove_signal_handler(number)
            signal.signal(number, before[number])


def _hear(listen: TextIO, loop: asyncio.AbstractEventLoop, words: Mapping[str, Callable[[], None]]) -> None:
    for line in listen:
        word = line.strip()
        if word in words and not loop.is_closed():
            loop.call_soon_threadsafe(words[word])
        if word == "cancel":
            return
