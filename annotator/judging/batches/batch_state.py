"""The state of a batch: the questions it holds, and how far the provider is."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Annotated, Protocol

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.judges.judge import Call
from annotator.judging.calls.reply_parts import ReplyForm

# Providers take custom ids of up to 64 characters; 224 bits of the key are as good as 256.
_KEY_CHARACTERS = 56


def custom_id(cache_key: str, trial: int) -> str:
    """What names a question in a batch: the same question has the same name after a restart."""
    return f"{cache_key[:_KEY_CHARACTERS]}-{trial}"


class BatchStage(StrEnum):
    """How far a batch is."""

    FILED = "filed"
    """Its questions are chosen; the provider may or may not have it."""
    SENT = "sent"
    """The provider has it."""
    SETTLED = "settled"
    """What came of it is journalled."""


@dataclass(frozen=True, slots=True)
class BatchEntry:
    """One question of a batch: its cache key, its prompt's place in the batch's list, the most its answer may cost."""

    key: str
    prompt: Annotated[int, Field(ge=0)]
    most_usd: Annotated[float, Field(ge=0)] = 0.0


class BatchState(BaseModel):
    """All that must outlive the program while a provider works on a batch. It holds no text and no key.

    `parameters` is the JSON object that each request carries beside model and messages, its response format by the
    name of its rung. `status` is the provider's word.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    id: str
    run_id: str | None
    judge_id: str
    model: str
    rung: ReplyForm
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
        """The most its answers may cost together."""
        return sum(entry.most_usd for entry in self.entries.values())

    @property
    def keys(self) -> set[str]:
        """The cache keys of its questions."""
        return {entry.key for entry in self.entries.values()}


class Shelf(Protocol):
    """Where the batches of one run are kept; each method commits before it returns."""

    def batches(self) -> list[BatchState]:
        """Those that are not settled."""
        ...

    def keep_batch(self, state: BatchState) -> None:
        """Keep a batch as it stands now, in place of how it stood before."""
        ...

    def keep_calls(self, calls: list[Call]) -> None:
        """Journal calls; one whose id is there already is left as it is."""
        ...

    def find(self, cache_key: str) -> Call | None:
        """The latest call of that key whose status is ok."""
        ...

    def declined(self) -> list[Call]:
        """The run's calls whose status says that asking again is no use: refused, filtered, too_long."""
        ...
