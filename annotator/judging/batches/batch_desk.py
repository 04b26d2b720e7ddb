"""A provider's batch interface: files uploaded and downloaded, batches created, polled and cancelled."""

import asyncio
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from annotator.domain.texts.canonical import checked_text, escaped
from annotator.domain.texts.redaction import redact, without_keys
from annotator.domain.texts.refusal import Refusal
from annotator.judging.batches.batch_state import BatchState
from annotator.judging.calls.breaker import RunHalt
from annotator.judging.calls.client import Client, root_words
from annotator.judging.calls.limits import backoff
from annotator.judging.calls.outcome import PASSING, CallOutcome, CallTrouble, read

if TYPE_CHECKING:
    from openai.types import Batch

PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
TOKEN = "goldsmith"
LONGEST_NAP_S = 300.0
CALL_S = 60.0
TRANSFER_S = 3600.0
# No file or batch goes by that name: what a request for it is answered with.
_UNKNOWN = (404, 410)
# What a server answers that has no such desk at all.
_NO_DESK = (404, 405, 501)
_PAGES = 20
# What is still to be sent can be sent another day; what is out is waited for.
_TRIES = 8
_MALFORMED_TRIES = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch as the provider shows it; counts are None where it gives none."""

    batch: str
    status: str
    output_file: str = ""
    error_file: str = ""
    expires_at: datetime | None = None
    total: int | None = None
    completed: int | None = None
    failed: int | None = None
    errors: tuple[tuple[str, str], ...] = ()

    @property
    def cause(self) -> str:
        """Why the provider turned the batch down, in its words."""
        return "; ".join(dict.fromkeys(f"{words} ({code})" for code, words in self.errors))[:1000]


class BatchGone(Exception):
    """The provider does not know the file or the batch any more."""


class BatchDesk:
    """One endpoint's Files and Batches interfaces, through the openai package.

    What passes (a lost connection, a 429, a 500) is sat out with growing waits: some minutes before a batch is made,
    however long it lasts once it is. What does not pass raises Halt, without the key. `nap` is given by tests.
    """

    def __init__(self, client: Client, nap: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._openai = client.package()
        self._secrets = client.endpoint.secrets
        self._nap = nap

    async def upload(self, path: Path, name: str) -> str:
        """Send a file of requests; its id. Refusal when the endpoint has no such desk."""

        async def send() -> str:
            with path.open("rb") as file:
                made = await self._openai.files.create(
                    file=(name, file, "application/jsonl"), purpose="batch", timeout=TRANSFER_S
                )
            return _named(made, "file")

        return await self._steadily(send, making=True)

    async def create(self, state: BatchState) -> BatchStatus:
        """Have a batch made of an uploaded file, once: a request that may have arrived is looked for before another."""
        tried = False

        async def send() -> BatchStatus:
            nonlocal tried
            found = await self._look_for(state) if tried else None
            tried = True
            return found or self._seen(
                await self._openai.batches.create(
                    input_file_id=state.input_file,
                    endpoint=PATH,
                    completion_window="24h",
                    metadata={TOKEN: state.id},
                    timeout=CALL_S,
                )
            )

        return await self._steadily(send, making=True)

    async def find(self, state: BatchState) -> BatchStatus | None:
        """The batch that was made of this file, if one was."""
        try:
            return await self._steadily(lambda: self._look_for(state))
        except BatchGone:
            return None

    async def look(self, batch: str) -> BatchStatus:
        """How far a batch is; Gone when the provider does not know it."""

        async def send() -> BatchStatus:
            return self._seen(await self._openai.batches.retrieve(batch, timeout=CALL_S))

        return await self._steadily(send)

    async def withdraw(self, batch: str) -> BatchStatus:
        """Ask the provider to stop, and look; what it has answered by then is still to be had."""

        async def send() -> BatchStatus:
            return self._seen(await self._openai.batches.cancel(batch, timeout=CALL_S))

        # Turned down where the batch has ended meanwhile, which a look tells.
        with suppress(RunHalt, BatchGone):
            return await self._steadily(send, tries=3)
        return await self.look(batch)

    async def download(self, file: str, path: Path) -> None:
        """Write a file of results to a path, whole; Gone when the provider does not have it."""

        async def send() -> None:
            response = self._openai.files.with_streaming_response.content(file, timeout=TRANSFER_S)
            async with response as got:
                with path.open("wb") as out:
                    async for block in got.iter_bytes():
                        out.write(block)

        await self._steadily(send)

    async def clear(self, file: str) -> None:
        """Have a file deleted that is no longer needed; it is no matter when that fails."""

        async def send() -> None:
            await self._openai.files.delete(file, timeout=CALL_S)

        await self._tried(send)

    async def _look_for(self, state: BatchState) -> BatchStatus | None:
        page = await self._openai.batches.list(limit=100, timeout=CALL_S)
        for _ in range(_PAGES):
            for batch in page.data:
                if (batch.metadata or {}).get(TOKEN) == state.id or batch.input_file_id == state.input_file:
                    return self._seen(batch)
            if not page.data or not page.has_next_page():
                break
            page = await page.get_next_page()
        return None

    async def _steadily(
        self, send: Callable[[], Awaitable[T]], *, making: bool = False, tries: int | None = None
    ) -> T:
        troubles: Counter[CallTrouble] = Counter()
        most = _TRIES if making else tries
        while True:
            outcome = await self._tried(send)
            if not isinstance(outcome, CallOutcome):
                return outcome
            troubles[outcome.trouble] += 1
            given_up = troubles[CallTrouble.MALFORMED] >= _MALFORMED_TRIES or troubles.total() == most
            if given_up or outcome.trouble not in PASSING:
                raise self._verdict(outcome, making=making)
            wait = backoff(troubles.total(), random.random(), base=1.0, cap=LONGEST_NAP_S)
            await self._nap(max(wait, outcome.retry_after or 0.0))

    def _verdict(self, outcome: CallOutcome, *, making: bool) -> Exception:
        words = redact(outcome.message, self._secrets)
        if making and outcome.http in _NO_DESK:
            return Refusal(f"This endpoint takes no batches. {words}", "Run the judge without batches.")
        if outcome.http in _UNKNOWN:
            return BatchGone(words)
        return RunHalt(f"The provider's batches cannot be reached or used. {words}")

    async def _tried(self, send: Callable[[], Awaitable[T]]) -> T | CallOutcome:
        import openai
        from aiohttp import ClientError
        from httpx2 import HTTPError

        try:
            return await send()
        except openai.APIStatusError as error:
            response = error.response
            return read(response.status_code, response.headers, response.text, datetime.now(UTC))
        except (openai.APIConnectionError, HTTPError, ClientError) as error:
            return CallOutcome(CallTrouble.CONNECTION, message=f"The connection failed: {root_words(error)}")
        except (openai.OpenAIError, ValueError, TypeError, AttributeError) as error:
            # A body that is no JSON, or JSON of another shape.
            return CallOutcome(CallTrouble.MALFORMED, message=f"The server sent something else: {error}")

    def _seen(self, batch: "Batch") -> BatchStatus:
        return _shown(batch, self._secrets)


def _shown(batch: "Batch", keys: Iterable[str]) -> BatchStatus:
    errors = getattr(batch.errors, "data", None) or ()
    return BatchStatus(
        batch=_named(batch, "batch"),
        status=without_keys(_word(batch, "status"), keys),
        output_file=_word(batch, "output_file_id"),
        error_file=_word(batch, "error_file_id"),
        expires_at=_moment(batch.expires_at),
        total=_count(batch.request_counts, "total"),
        completed=_count(batch.request_counts, "completed"),
        failed=_count(batch.request_counts, "failed"),
        errors=tuple(
            (redact(_word(one, "code"), keys), redact(_word(one, "message"), keys)) for one in errors
        ),
    )


def _named(made: Any, what: str) -> str:
    """The id of what the provider says it has made; ValueError when it names none."""
    found = getattr(made, "id", None)
    if not isinstance(found, str) or not found:
        raise ValueError(f"a {what} without an id")
    return checked_text(found)


def _count(counts: Any, name: str) -> int | None:
    found = getattr(counts, name, None)
    return found if type(found) is int else None


def _word(error: Any, name: str) -> str:
    found = getattr(error, name, None)
    return escaped(found) if isinstance(found, str) else ""


def _moment(seconds: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None
