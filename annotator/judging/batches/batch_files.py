"""Batch input files: one request per line, up to the provider's limits."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import new_id
from annotator.judging.batches.batch_desk import PATH
from annotator.judging.batches.batch_results import SHARE
from annotator.judging.batches.batch_state import BatchEntry, BatchState, custom_id
from annotator.judging.calls import ladder
from annotator.judging.calls.parameters import FORMAT
from annotator.judging.calls.sending import Sender
from annotator.judging.calls.settling import KeyedQuestion


@dataclass(frozen=True, slots=True)
class BatchLimits:
    """The most one batch may hold: requests and bytes, a little below what providers take (50 000 and 200 MB).

    No more than `out` questions are with the provider at a time, all of which are held in memory.
    """

    requests: int = 50_000
    bytes: int = 195_000_000
    out: int = 400_000


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """A question as a line of a batch, and the most its answer may cost."""

    name: str
    question: KeyedQuestion
    line: bytes
    most_usd: float


@dataclass
class BatchFileWriter:
    """A file of requests as it is written. All its lines are asked in one form, which is remembered with it."""

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
        """A question as it would stand in this file."""
        messages = self.sender.learned.arranged(
            ladder.asked_for(question.messages, question.reply, self._rung)
        )
        form = ladder.response_format(question.reply, self._rung)
        likely = ladder.likely_tokens(question.reply)
        self._parameters = self.sender.fitted(self.sender.client.endpoint.parameters, likely)
        body = {"model": self._model, "messages": messages, **self._parameters} | (
            {FORMAT: form} if form else {}
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
        """Whether a request still goes into this file; one too large for any file fits none."""
        return len(self.entries) < self.sizes.requests and self.size + len(request.line) <= self.sizes.bytes

    def add(self, request: BatchRequest) -> None:
        """Write a request."""
        question = request.question
        prompt = self.prompts.setdefault(question.prompt.sha256, len(self.prompts))
        self.entries[request.name] = BatchEntry(key=question.key, prompt=prompt, most_usd=request.most_usd)
        with self.path.open("ab") as file:
            file.write(request.line)
        self.size += len(request.line)
        self.most_usd += request.most_usd

    def state(self, run_id: str | None, judge_id: str) -> BatchState:
        """The batch that this file is to become."""
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
