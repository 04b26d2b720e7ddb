"""What would be asked: an ask that notes each question and says that it was not put."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from annotator.domain.judges.judgement import Status
from annotator.domain.judges.protocol import Answer

R = TypeVar("R", bound=BaseModel)


@dataclass(frozen=True, slots=True)
class Noted:
    """A question: by which prompt, filled with what, which of it is foreign text, and the class of its answer."""

    prompt: str
    fields: Mapping[str, str]
    reply: type[BaseModel]
    fenced: Sequence[str]


@dataclass
class Noting:
    """An `Ask` that asks nobody; of questions that hang on an answer it hears nothing."""

    questions: list[Noted] = field(default_factory=list)

    async def __call__(
        self, prompt: str, fields: Mapping[str, str], reply: type[R], fenced: Sequence[str] = ()
    ) -> Answer:
        self.questions.append(Noted(prompt, fields, reply, fenced))
        return Answer(Status.SKIPPED, cause="It was not asked.")
