"""Batch output files: each question read once, and a stated outcome for every odd line."""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import derived_id
from annotator.judging.batches.batch_state import BatchState
from annotator.judging.calls.noting import call_of
from annotator.judging.calls.outcome import CallOutcome, CallTrouble, Usage, read
from annotator.judging.calls.parameters import FORMAT
from annotator.judging.calls.prices import Prices
from annotator.judging.calls.replies import UnreadableReply, parse

# Batches cost half of the table's prices.
SHARE = 0.5
# Asking the same again is of no use: to people, or to a second judge.
DECLINED = frozenset({Status.REFUSED, Status.FILTERED, Status.TOO_LONG})
_LONGEST_LINE = 4_000_000
_AGAIN = "the batch answers this question more than once"


class QuestionFate(StrEnum):
    """What happened to a question, or what a line was that is no question's."""

    ANSWERED = "answered"
    """A reply that could be read: journalled, and used."""
    DECLINED = "declined"
    """Refused, filtered or too long: journalled, and not asked again."""
    SPOILED = "spoiled"
    """A reply that could not be read, or was cut: journalled, and asked live."""
    FAILED = "failed"
    """An error in place of a reply: journalled, and asked live."""
    EXPIRED = "expired"
    """The day was over before its turn came: asked live."""
    WITHDRAWN = "withdrawn"
    """The batch was cancelled before its turn came: not asked."""
    MISSING = "missing"
    """In neither file: asked live."""
    CHANGED = "changed"
    """Answered, but no longer asked: the answer is journalled for its cost and not used."""
    DUPLICATE = "duplicate"
    """A further line on a question. Two replies to one are none: both are kept, and it is asked live."""
    UNKNOWN = "unknown"
    """A line on a question that this batch does not hold: left aside."""
    DAMAGED = "damaged"
    """A line that is cut or no JSON: left aside; its question is missing, then."""


LIVE = frozenset({QuestionFate.SPOILED, QuestionFate.FAILED, QuestionFate.EXPIRED, QuestionFate.MISSING})
_CODES = {
    "batch_expired": QuestionFate.EXPIRED,
    "batch_cancelled": QuestionFate.WITHDRAWN,
    "request_cancelled": QuestionFate.WITHDRAWN,
}


@dataclass(frozen=True, slots=True)
class ResultLine:
    """A line of a results file: the question it names, what came of it, and its fate where there was no reply."""

    custom_id: str
    outcome: CallOutcome
    fate: QuestionFate = QuestionFate.FAILED


@dataclass
class Reconciled:
    """What came of a batch, question by question. `fates` counts questions, and odd lines beside them."""

    fates: Counter[QuestionFate] = field(default_factory=Counter)
    settled: dict[str, QuestionFate] = field(default_factory=dict)
    cost_usd: float = 0.0
    """With the most that answers of unknown bill may have cost."""
    spent_usd: float = 0.0


class BatchReading:
    """The reading of one batch's files: the calls to journal, one at a time, and the reckoning when all are read.

    `replies` gives the class that the answer to a question must fit, by cache key, for the questions still asked.
    """

    def __init__(
        self,
        state: BatchState,
        replies: Mapping[str, type[BaseModel]],
        prices: Prices,
        secrets: tuple[str, ...],
        hear: Callable[[Usage, Call], None],
    ) -> None:
        """`hear` is called with the tokens of each answer, as the server counted them."""
        self.found, self._hear = Reconciled(), hear
        self._state = state
        self._replies = replies
        self._prices = prices
        self._secrets = secrets
        self._again: dict[str, list[str]] = {}
        self._parameters = canonical_json(
            {**json.loads(state.parameters), FORMAT: state.rung.value, "batch": state.batch}
        ).decode()

    def calls(self, files: Iterable[Path]) -> Iterator[Call]:
        """Read the output file, then the error file; each question gives one call, or none where none was made."""
        files, errors = tuple(files), dict[str, ResultLine]()
        self._again = _answered_again(files)
        for file in files:
            for line in lines(file):
                odd = self._odd(line, errors)
                if odd is not None:
                    self.found.fates[odd] += 1
                elif line and line.outcome.answered:
                    yield self._call(line)
                elif line:
                    errors[line.custom_id] = line
        for line in errors.values():
            if line.custom_id in self.found.settled:
                self.found.fates[QuestionFate.DUPLICATE] += 1
            elif line.fate is QuestionFate.FAILED:
                yield self._call(line)
            else:
                self._settle(line.custom_id, line.fate)
        self._rest()

    def _odd(self, line: ResultLine | None, errors: Mapping[str, ResultLine]) -> QuestionFate | None:
        """Why a line does not count; None when it does."""
        if line is None:
            return QuestionFate.DAMAGED
        if line.custom_id not in self._state.entries:
            return QuestionFate.UNKNOWN
        second = line.custom_id in errors and not line.outcome.answered
        return QuestionFate.DUPLICATE if second or line.custom_id in self.found.settled else None

    def _call(self, line: ResultLine) -> Call:
        state, name, outcome = self._state, line.custom_id, line.outcome
        entry = state.entries[name]
        fault, fate = self._read(entry.key, outcome)
        if name in self._again and outcome.answered:
            fault, fate = _AGAIN, QuestionFate.SPOILED
            outcome = replace(outcome, content="\n\n".join([f"({_AGAIN})", *self._again[name]]))
        cost = self._cost(outcome, entry.most_usd)
        self.found.cost_usd += cost or 0.0
        self._settle(name, fate)
        call = call_of(
            outcome.without(self._secrets),
            fault,
            # The same line read twice, after a stop in the middle, is the same call.
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
        self.found.spent_usd += call.bill_usd or 0.0
        if outcome.answered:
            self._hear(outcome.usage, call)
        if fate is QuestionFate.CHANGED:
            words = "The question was changed while the batch was out."
            return call.model_copy(update={"status": Status.SKIPPED, "cause": words})
        return call

    def _read(self, key: str, outcome: CallOutcome) -> tuple[str, QuestionFate]:
        """The fault of a reply that cannot be read, empty if none, and what becomes of its question."""
        if not outcome.answered:
            return "", QuestionFate.DECLINED if outcome.status in DECLINED else QuestionFate.FAILED
        if key not in self._replies:
            return "", QuestionFate.CHANGED
        if outcome.trouble is not CallTrouble.NONE:
            return "", QuestionFate.DECLINED if outcome.status in DECLINED else QuestionFate.SPOILED
        try:
            parse(outcome.content, self._replies[key], self._state.rung)
        except UnreadableReply as error:
            return str(error), QuestionFate.SPOILED
        return "", QuestionFate.ANSWERED

    def _rest(self) -> None:
        left = (
            QuestionFate.WITHDRAWN
            if self._state.status in ("cancelled", "cancelling")
            else QuestionFate.MISSING
        )
        left = QuestionFate.EXPIRED if self._state.status == "expired" else left
        for name in self._state.entries:
            if name not in self.found.settled:
                self._settle(name, left)

    def _settle(self, name: str, fate: QuestionFate) -> None:
        self.found.settled[name] = fate
        self.found.fates[fate] += 1

    def _cost(self, outcome: CallOutcome, most_usd: float) -> float | None:
        """What an answer cost: the most it may have where nobody told; None where no price is known."""
        if not outcome.answered:
            return 0.0
        cost = self._prices.bill(outcome.usage, self._state.model, outcome.model, share=SHARE)
        return (most_usd or None) if cost is None else cost


def _answered_again(files: tuple[Path, ...]) -> dict[str, list[str]]:
    """All replies to each question that has more than one."""

    def replies() -> Iterator[tuple[str, str]]:
        every = (line for file in files for line in lines(file))
        return ((line.custom_id, line.outcome.content) for line in every if line and line.outcome.answered)

    found = {name: list[str]() for name, count in Counter(name for name, _ in replies()).items() if count > 1}
    for name, content in replies() if found else ():
        if name in found:
            found[name].append(content)
    return found


def lines(file: Path) -> Iterator[ResultLine | None]:
    """The lines of a results file; None for one that is cut, no JSON, or names no question."""
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
        return ResultLine(name, _outcome(response))
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


def _outcome(response: Mapping[str, Any]) -> CallOutcome:
    http = response.get("status_code")
    body = json.dumps(response.get("body"), ensure_ascii=False)
    return read(http if type(http) is int else 200, {}, body)
