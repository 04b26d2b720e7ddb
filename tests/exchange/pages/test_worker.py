"""The worker: what hangs, fills or breaks down takes only its own process with it."""

import asyncio
import os
import signal
import time
from multiprocessing.connection import Connection

import pytest

from annotator.exchange.pages.worker import READY, ReadingProcess

pytestmark = pytest.mark.anyio
PAGE = b"<p>Words on a page."


def answers_by_word(line: Connection) -> None:
    """Hangs, breaks down or answers with its process's number, as the document says."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    line.send_bytes(READY)
    while True:
        try:
            line.recv_bytes()
            word = line.recv_bytes()
        except EOFError:
            return
        if word == b"hang":
            time.sleep(3600)
        if word == b"crash":
            os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
        line.send_bytes(b'{"text": "%d"}' % os.getpid())


def never_starts(line: Connection) -> None:
    line.close()


async def test_one_process_reads_one_document_after_the_other() -> None:
    async with ReadingProcess(serve=answers_by_word) as worker:
        first, second = await asyncio.gather(worker.read(b"a", ""), worker.read(b"b", ""))
    assert first.text == second.text != str(os.getpid())


async def test_the_real_process_reads_html() -> None:
    async with ReadingProcess() as worker:
        assert (await worker.read(PAGE, "text/html")).text == "Words on a page."


@pytest.mark.slow
async def test_a_document_that_hangs_is_given_up_and_the_next_is_read() -> None:
    async with ReadingProcess(3.0, answers_by_word) as worker:
        before = await worker.read(b"a", "")
        async with asyncio.timeout(60.0):
            hung = await worker.read(b"hang", "")
        after = await worker.read(b"b", "")
    assert (hung.too_much, hung.unreadable) == (True, "Reading it took longer than 3 s.")
    assert after.text not in ("", before.text)


@pytest.mark.slow
async def test_html_that_would_take_hours_is_given_up() -> None:
    # The standard looks through all open elements at each of them: 300,000 nested ones are 45 thousand million steps.
    async with ReadingProcess(5.0) as worker:
        assert (await worker.read(b"<div>" * 300_000, "text/html")).too_much
        assert (await worker.read(PAGE, "text/html")).text == "Words on a page."


async def test_a_document_that_breaks_the_process_down_is_only_unreadable() -> None:
    async with ReadingProcess(5.0, answers_by_word) as worker:
        broken = await worker.read(b"crash", "")
        after = await worker.read(b"a", "")
    assert "broke down" in broken.unreadable
    assert after.text


async def test_a_process_that_does_not_start_is_no_error_of_the_loop() -> None:
    async with ReadingProcess(serve=never_starts) as worker:
        assert "broke down" in (await worker.read(PAGE, "")).unreadable


async def test_an_answer_nobody_waited_for_is_not_given_to_the_next() -> None:
    async with ReadingProcess(5.0, answers_by_word) as worker:
        await worker.read(b"a", "")
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await worker.read(b"hang", "")
        assert (await worker.read(b"b", "")).text
