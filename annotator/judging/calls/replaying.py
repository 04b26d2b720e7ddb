"""Stored replies read again by today's rules, without a call."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls.replies import UnreadableReply, reread
from annotator.judging.prompts import injection

R = TypeVar("R", bound=BaseModel)


@dataclass
class ReplayAsk:
    """An ask that reads the first of some stored calls that can be read; `read` is that call.

    A case that asks a second question gets no answer to it: only one is kept with a judgement.
    """

    calls: Sequence[Call]
    read: Call | None = None
    flags: set[str] = field(default_factory=set)

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        flags = injection.flags(tuple(fields[name] for name in fenced))
        self.flags.update(flags)
        fault = "No reply is kept."
        for call in self.calls if self.read is None else ():
            try:
                found = reread(call, reply)
            except UnreadableReply as error:
                fault = f"The reply could not be used: {error}."
                continue
            self.read = call
            return Answer(Status.OK, found, call.raw, flags=flags)
        return Answer(Status.INVALID, cause=fault, flags=flags)
