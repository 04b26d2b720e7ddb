"""Batch output files: each question is read once, and every irregular line has a stated outcome."""

import asyncio
import json
import random
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, Protocol, TypeVar

import orjson
from pydantic import BaseModel, Field

from annotator.domain.common import Refusal, canonical_json, checked_text, derived_id, escaped, new_id
from annotator.domain.judges.judge import Call, Status
from annotator.domain.texts.redaction import redact, without_keys
from annotator.judging.calls import reply_parts
from annotator.judging.calls.asking import CallJournal, KeyedQuestion
from annotator.judging.calls.client import Client, Sender, root_words
from annotator.judging.calls.limits import RunHalt, backoff
from annotator.judging.calls.noting import call_of
from annotator.judging.calls.outcome import PASSING, CallOutcome, CallTrouble, Usage, read
from annotator.judging.calls.prices import Prices

if TYPE_CHECKING:
    from openai.types import Batch

# Providers take custom ids of up to 64 characters; 224 bits of the key are as good as 256.
_KEY_CHARACTERS = 56


def custom_id(cache_key: str, trial: int) -> str:
    """The id of a question in a batch; it stays the same after a restart."""
    return f"{cache_key[:_KEY_CHARACTERS]}-{trial}"


class BatchStage(StrEnum):
    FILED = "filed"
    """Its questions are chosen; whether the provider has it is unknown."""
    SENT = "sent"
    """The provider has it."""
    SETTLED = "settled"
    """Its results are journalled."""


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """One question of a batch: its cache key, the index of its prompt in the batch's list, the maximum cost of its
    answer.
    """

    key: str
    prompt: Annotated[int, Field(ge=0)]
    most_usd: Annotated[float, Field(ge=0)] = 0.0


class BatchState(BaseModel, frozen=True, extra="forbid", defer_build=True):
    """The state that must outlive the program while a provider works on a batch. It holds no text and no key.

    `parameters` is the JSON object that each request carries beside model and messages, with the response format by
    the name of its rung. `status` is the provider's word.
    """

    id: str
    run_id: str | None
    judge_id: str
    model: str
    rung: reply_parts.ReplyForm
    parameters: str
    prompts: tuple[str, ...]
    entries: dict[str, BatchEntry]
    stage: BatchStage = BatchStage.FILED
    input_file: str = ""
    batch: str = ""
    status: str = ""
    output_file: str = ""
    error_file: str = ""
    expires_at: datetime | None = None
    cause: str = ""

    @property
    def most_usd(self) -> float:
        """The maximum cost of all its answers together."""
        return sum(entry.most_usd for entry in self.entries.values())

    @property
    def keys(self) -> set[str]:
        return {entry.key for entry in self.entries.values()}


class Shelf(CallJournal, Protocol):
    """The store of one run's batches beside its calls; each method commits before it returns."""

    def batches(self) -> list[BatchState]:
        """The batches that are not settled."""
        ...

    def keep_batch(self, state: BatchState) -> None:
        """Store a batch's present state in place of the earlier one."""
        ...

    def keep_calls(self, calls: list[Call]) -> None:
        """Journal calls; a call whose id exists stays as it is."""
        ...

    def declined(self) -> list[Call]:
        """The run's calls that need not be repeated, by their status: refused, filtered, too_long."""
        ...


# Batches cost half of the listed prices.
SHARE = 0.5
# Repeating the request is of no use; people or a second judge must decide.
DECLINED = frozenset({Status.REFUSED, Status.FILTERED, Status.TOO_LONG})
_LONGEST_LINE = 4_000_000
_AGAIN = "the batch answers this question more than once"


class QuestionFate(StrEnum):
    """The outcome of a question, or the kind of a line that belongs to no question."""

    ANSWERED = "answered"
    """The reply is readable: journalled, and used."""
    DECLINED = "declined"
    """Refused, filtered or too long: journalled, and not asked again."""
    SPOILED = "spoiled"
    """The reply is unreadable or truncated: journalled, and asked live."""
    FAILED = "failed"
    """An error in place of a reply: journalled, and asked live."""
    EXPIRED = "expired"
    """The batch's day ended before its turn: asked live."""
    WITHDRAWN = "withdrawn"
    """The batch was cancelled before its turn: not asked."""
    MISSING = "missing"
    """In neither file: asked live."""
    CHANGED = "changed"
    """Answered, but no longer asked: the answer is journalled for its cost and not used."""
    DUPLICATE = "duplicate"
    """A further line for a question. With two replies to one question neither counts: both are stored, and it is
    asked live.
    """
    UNKNOWN = "unknown"
    """A line for a question that this batch does not hold: ignored."""
    DAMAGED = "damaged"
    """A line that is truncated or no JSON: ignored; its question then counts as missing."""


LIVE = frozenset({QuestionFate.SPOILED, QuestionFate.FAILED, QuestionFate.EXPIRED, QuestionFate.MISSING})
# What became of questions without a line, by the batch's status, and of those with an error, by its code.
_LEFT = {
    "cancelled": QuestionFate.WITHDRAWN,
    "cancelling": QuestionFate.WITHDRAWN,
    "expired": QuestionFate.EXPIRED,
}
_CODES = {
    "batch_expired": QuestionFate.EXPIRED,
    "batch_cancelled": QuestionFate.WITHDRAWN,
    "request_cancelled": QuestionFate.WITHDRAWN,
}


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A line of a results file: the question's id, the outcome of the request, and the question's fate if there was
    no reply.
    """

    custom_id: str
    outcome: CallOutcome
    fate: QuestionFate = QuestionFate.FAILED


class BatchReading:
    """Reads one batch's files: the calls to journal, one at a time, and the totals once all are read.

    `replies` gives the class that the answer to a question must fit, by cache key, for the questions still asked.
    `settled` is the outcome of each question; `fates` counts them, and the irregular lines as well. `cost_usd` includes
    the maximum cost of answers whose bill is unknown.
    """

    def __init__(
        self,
        state: BatchState,
        replies: Mapping[str, type[BaseModel]],
        prices: Prices,
        secrets: tuple[str, ...],
        record_usage: Callable[[Usage, Call], None],
    ) -> None:
        """`record_usage` is called with each answer's usage, as the server counted it, and its call."""
        self.fates, self.settled = Counter[QuestionFate](), dict[str, QuestionFate]()
        self.cost_usd = self.spent_usd = 0.0
        self._record_usage = record_usage
        self._state = state
        self._replies = replies
        self._prices = prices
        self._secrets = secrets
        self._again: dict[str, list[str]] = {}
        self._parameters = canonical_json(
            {**json.loads(state.parameters), reply_parts.FORMAT: state.rung.value, "batch": state.batch}
        ).decode()

    def calls(self, files: Iterable[Path]) -> Iterator[Call]:
        """Read the output file, then the error file; each question gives one call, or none if no request was made."""
        files, errors = tuple(files), dict[str, ResultLine]()
        self._again = _answered_again(files)
        for file in files:
            for line in lines(file):
                odd = self._odd(line, errors)
                if odd is not None:
                    self.fates[odd] += 1
                elif line and line.outcome.answered:
                    yield self._call(line)
                elif line:
                    errors[line.custom_id] = line
        for line in errors.values():
            if line.custom_id in self.settled:
                self.fates[QuestionFate.DUPLICATE] += 1
            elif line.fate is QuestionFate.FAILED:
                yield self._call(line)
            else:
                self._settle(line.custom_id, line.fate)
        left = _LEFT.get(self._state.status, QuestionFate.MISSING)
        for name in self._state.entries:
            if name not in self.settled:
                self._settle(name, left)

    def _odd(self, line: ResultLine | None, errors: Mapping[str, ResultLine]) -> QuestionFate | None:
        """Why a line does not count; None if it does."""
        if line is None:
            return QuestionFate.DAMAGED
        if line.custom_id not in self._state.entries:
            return QuestionFate.UNKNOWN
        second = line.custom_id in errors and not line.outcome.answered
        return QuestionFate.DUPLICATE if second or line.custom_id in self.settled else None

    def _call(self, line: ResultLine) -> Call:
        state, name, outcome = self._state, line.custom_id, line.outcome
        entry = state.entries[name]
        fault, fate = self._read(entry.key, outcome)
        if name in self._again and outcome.answered:
            fault, fate = _AGAIN, QuestionFate.SPOILED
            outcome = replace(outcome, content="\n\n".join([f"({_AGAIN})", *self._again[name]]))
        cost = self._cost(outcome, entry.most_usd)
        self.cost_usd += cost or 0.0
        self._settle(name, fate)
        call = call_of(
            outcome.without(self._secrets),
            fault,
            # The same line read twice, after an interruption, gives the same call.
            id=derived_id("batch", state.batch, name),
            run_id=state.run_id,
            judge_id=state.judge_id,
            cache_key=entry.key,
            requested_model=state.model,
            parameters=self._parameters,
            prompt_sha256=state.prompts[entry.prompt],
            latency_s=None,
            cost_usd=cost,
        )
        self.spent_usd += call.bill_usd or 0.0
        if outcome.answered:
            self._record_usage(outcome.usage, call)
        if fate is QuestionFate.CHANGED:
            words = "The question was changed while the batch was out."
            return call.model_copy(update={"status": Status.SKIPPED, "cause": words})
        return call

    def _read(self, key: str, outcome: CallOutcome) -> tuple[str, QuestionFate]:
        """The fault of an unreadable reply, empty if there is none, and the fate of its question."""
        if not outcome.answered:
            return "", QuestionFate.DECLINED if outcome.status in DECLINED else QuestionFate.FAILED
        if key not in self._replies:
            return "", QuestionFate.CHANGED
        if outcome.trouble is not CallTrouble.NONE:
            return "", QuestionFate.DECLINED if outcome.status in DECLINED else QuestionFate.SPOILED
        try:
            reply_parts.parse(outcome.content, self._replies[key], self._state.rung)
        except reply_parts.UnreadableReply as error:
            return str(error), QuestionFate.SPOILED
        return "", QuestionFate.ANSWERED

    def _settle(self, name: str, fate: QuestionFate) -> None:
        self.settled[name] = fate
        self.fates[fate] += 1

    def _cost(self, outcome: CallOutcome, most_usd: float) -> float | None:
        """The cost of an answer in USD: its maximum if the bill is unknown, None if the price is unknown too."""
        if not outcome.answered:
            return 0.0
        cost = self._prices.bill(outcome.usage, self._state.model, outcome.model, share=SHARE)
        return (most_usd or None) if cost is None else cost


def _answered_again(files: tuple[Path, ...]) -> dict[str, list[str]]:
    def replies() -> Iterator[tuple[str, str]]:
        every = (line for file in files for line in lines(file))
        return ((line.custom_id, line.outcome.content) for line in every if line and line.outcome.answered)

    result = {
        name: list[str]() for name, count in Counter(name for name, _ in replies()).items() if count > 1
    }
    for name, content in replies() if result else ():
        if name in result:
            result[name].append(content)
    return result


def lines(file: Path) -> Iterator[ResultLine | None]:
    """The lines of a results file; None for a line that is truncated, no JSON, or names no question."""
    with file.open("rb") as source:
        while raw := source.readline(_LONGEST_LINE):
            if raw.strip():
                yield _line(raw)


def _line(raw: bytes) -> ResultLine | None:
    try:
        tree = json.loads(raw)
    except (ValueError, RecursionError):
        return None
    name = tree.get("custom_id") if isinstance(tree, dict) else None
    if not isinstance(name, str):
        return None
    response, error = tree.get("response"), tree.get("error")
    if isinstance(response, dict):
        http = response.get("status_code")
        body = json.dumps(response.get("body"), ensure_ascii=False)
        return ResultLine(name, read(http if type(http) is int else 200, {}, body))
    code = str(error.get("code") or "") if isinstance(error, dict) else ""
    outcome = read(
        200, {}, json.dumps({"error": error or "neither a reply nor an error"}, ensure_ascii=False)
    )
    words = outcome.message.partition(": ")[2]
    return ResultLine(
        name,
        replace(outcome, message=f"The batch holds no reply: {words}"),
        _CODES.get(code, QuestionFate.FAILED),
    )


PATH: Literal["/v1/chat/completions"] = "/v1/chat/completions"
TOKEN = "goldsmith"
LONGEST_NAP_S = 300.0
CALL_S = 60.0
TRANSFER_S = 3600.0
# The status codes of a request for an unknown file or batch.
_UNKNOWN = (404, 410)
# The status codes of a server without a batch interface.
_NO_INTERFACE = (404, 405, 501)
_PAGES = 20
# A batch still to be sent can be sent another day; one already sent is waited for.
_TRIES = 8
_MALFORMED_TRIES = 5

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch as the provider reports it; counts are None if it gives none."""

    batch: str
    status: str
    output_file: str = ""
    error_file: str = ""
    expires_at: datetime | None = None
    completed: int | None = None
    failed: int | None = None
    errors: tuple[tuple[str, str], ...] = ()

    @property
    def cause(self) -> str:
        return "; ".join(dict.fromkeys(f"{words} ({code})" for code, words in self.errors))[:1000]


class BatchGone(Exception):
    """The provider no longer knows the file or the batch."""


class BatchSession:
    """One endpoint's Files and Batches interfaces, through the openai package.

    Transient errors (a lost connection, a 429, a 500) are retried with growing waits: for some minutes before a batch
    is created, without limit once it is. Permanent ones raise RunHalt, without the key. Tests pass `nap`.
    """

    def __init__(self, client: Client, nap: Callable[[float], Awaitable[None]] = asyncio.sleep) -> None:
        self._openai = client.package()
        self._secrets = client.endpoint.secrets
        self._nap = nap

    async def upload(self, path: Path, name: str) -> str:
        """Upload a file of requests and return its id; Refusal if the endpoint has no batch interface."""

        async def send() -> str:
            with path.open("rb") as file:
                made = await self._openai.files.create(
                    file=(name, file, "application/jsonl"), purpose="batch", timeout=TRANSFER_S
                )
            return _named(made, "file")

        return await self._steadily(send, making=True)

    async def create(self, state: BatchState) -> BatchStatus:
        """Create a batch from an uploaded file, once: before a retry, a batch made by a request that did arrive is
        looked for.
        """
        tried = False

        async def send() -> BatchStatus:
            nonlocal tried
            result = await self._look_for(state) if tried else None
            tried = True
            return result or self._seen(
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
        try:
            return await self._steadily(lambda: self._look_for(state))
        except BatchGone:
            return None

    async def look(self, batch: str) -> BatchStatus:
        """The state of a batch; BatchGone if the provider does not know it."""

        async def send() -> BatchStatus:
            return self._seen(await self._openai.batches.retrieve(batch, timeout=CALL_S))

        return await self._steadily(send)

    async def withdraw(self, batch: str) -> BatchStatus:
        """Cancel a batch and return its state; what it has answered by then can still be downloaded."""

        async def send() -> BatchStatus:
            return self._seen(await self._openai.batches.cancel(batch, timeout=CALL_S))

        # Rejected if the batch has ended meanwhile, which its state shows.
        with suppress(RunHalt, BatchGone):
            return await self._steadily(send, tries=3)
        return await self.look(batch)

    async def download(self, file: str, path: Path) -> None:
        """Download a results file to a path, whole; BatchGone if the provider does not have it."""

        async def send() -> None:
            async with self._openai.files.with_streaming_response.content(file, timeout=TRANSFER_S) as got:
                with path.open("wb") as out:
                    async for block in got.iter_bytes():
                        out.write(block)

        await self._steadily(send)

    async def clear(self, file: str) -> None:
        """Delete a file that is no longer needed; a failure is ignored."""

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
        if making and outcome.http in _NO_INTERFACE:
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
            # A body that is no JSON, or JSON of another schema.
            return CallOutcome(CallTrouble.MALFORMED, message=f"The server sent something else: {error}")

    def _seen(self, batch: "Batch") -> BatchStatus:
        errors, keys = getattr(batch.errors, "data", None) or (), self._secrets
        return BatchStatus(
            batch=_named(batch, "batch"),
            status=without_keys(_word(batch, "status"), keys),
            output_file=_word(batch, "output_file_id"),
            error_file=_word(batch, "error_file_id"),
            expires_at=_moment(batch.expires_at),
            completed=_count(batch.request_counts, "completed"),
            failed=_count(batch.request_counts, "failed"),
            errors=tuple(
                (redact(_word(error, "code"), keys), redact(_word(error, "message"), keys))
                for error in errors
            ),
        )


def _named(made: Any, what: str) -> str:
    """The id of an object that the provider has created; ValueError if it has none."""
    result = getattr(made, "id", None)
    if not isinstance(result, str) or not result:
        raise ValueError(f"a {what} without an id")
    return checked_text(result)


def _count(counts: Any, name: str) -> int | None:
    result = getattr(counts, name, None)
    return result if type(result) is int else None


def _word(error: Any, name: str) -> str:
    result = getattr(error, name, None)
    return escaped(result) if isinstance(result, str) else ""


def _moment(seconds: Any) -> datetime | None:
    try:
        return datetime.fromtimestamp(seconds, UTC)
    except (TypeError, ValueError, OverflowError, OSError):
        return None


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The limits of one batch, in requests and bytes, a little below the providers' own (50 000 and 200 MB).

    At most `out` questions are with the provider at a time, all of which are held in memory.
    """

    requests: int = 50_000
    bytes: int = 195_000_000
    out: int = 400_000


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A question as a line of a batch, and the maximum cost of its answer."""

    name: str
    question: KeyedQuestion
    line: bytes
    most_usd: float


@dataclass
class BatchFileWriter:
    """A file of requests being written. All its lines ask for one response format, which is stored with the batch."""

    path: Path
    sizes: BatchLimits
    sender: Sender
    entries: dict[str, BatchEntry] = field(default_factory=dict)
    prompts: dict[str, int] = field(default_factory=dict)
    size: int = 0
    most_usd: float = 0.0

    def __post_init__(self) -> None:
        endpoint = self.sender.client.endpoint
        self._model = endpoint.model
        self._rung = self.sender.ladder.top
        self._parameters: dict[str, Any] = self.sender.fitted(endpoint.parameters)
        self.path.write_bytes(b"")

    def request(self, question: KeyedQuestion, trial: int) -> BatchRequest:
        messages = self.sender.learned.arranged(
            reply_parts.with_form(question.messages, question.reply, self._rung)
        )
        form = reply_parts.response_format(question.reply, self._rung)
        likely = reply_parts.likely_tokens(question.reply)
        self._parameters = self.sender.fitted(self.sender.client.endpoint.parameters, likely)
        body = {"model": self._model, "messages": messages, **self._parameters} | (
            {reply_parts.FORMAT: form} if form else {}
        )
        name = custom_id(question.key, trial)
        tree = {
            "custom_id": name,
            "method": "POST",
            "url": PATH,
            "body": body,
        }
        return BatchRequest(
            name, question, orjson.dumps(tree) + b"\n", (self.sender.most_usd(body, likely) or 0.0) * SHARE
        )

    def fits(self, request: BatchRequest) -> bool:
        """Whether a request still fits into this file; one too large for any file never does."""
        return len(self.entries) < self.sizes.requests and self.size + len(request.line) <= self.sizes.bytes

    def add(self, request: BatchRequest) -> None:
        question = request.question
        prompt = self.prompts.setdefault(question.prompt.sha256, len(self.prompts))
        self.entries[request.name] = BatchEntry(key=question.key, prompt=prompt, most_usd=request.most_usd)
        with self.path.open("ab") as file:
            file.write(request.line)
        self.size += len(request.line)
        self.most_usd += request.most_usd

    def state(self, run_id: str | None, judge_id: str) -> BatchState:
        return BatchState(
            id=new_id(),
            run_id=run_id,
            judge_id=judge_id,
            model=self._model,
            rung=self._rung,
            parameters=canonical_json(self._parameters).decode(),
            prompts=tuple(self.prompts),
            entries=self.entries,
        )
