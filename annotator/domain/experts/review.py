"""Reviews: a draft that another person refines with its author's name before them, and the author's answer."""

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.canonical import Text

FormAnswer = Literal["yes", "partly", "no"]
ANSWERS: tuple[FormAnswer, ...] = ("yes", "partly", "no")
_OF_LISTS = {
    "completeness": "Do they cover together what the answer needs?",
    "clarity": "Can each be read in one way only?",
    "independence": "Does each ask for something that no other does?",
    "discrimination": "Will good answers meet them and weak ones not?",
}
_OF_PLANS = {
    "feasibility": "Can each sub-task be carried out as it stands?",
    "order": "Does each come after what it builds on?",
    "level": "Are they at one level, neither too coarse nor too fine?",
}
_OF_OTHERS = {"completeness": "Is anything lacking?", "clarity": "Can it be read in one way only?"}
FORMS: Mapping[Kind, Mapping[str, str]] = {
    Kind.RUBRIC: _OF_LISTS,
    Kind.INSIGHTS: _OF_LISTS,
    Kind.PLAN: _OF_PLANS,
}


def form_of(kind: Kind) -> Mapping[str, str]:
    """The questions of the review form of a kind, by name."""
    return FORMS.get(kind, _OF_OTHERS)


class DraftReview(BaseModel):
    """A review as it is kept: the draft it began with, the answers to its form, and what the author answered."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    artifact_id: Text = Field(max_length=36, description="The reviewer's document")
    item_id: Text = Field(max_length=36)
    kind: Kind
    author: Text = Field(description="The author's id; in a project made from a task their alias")
    revision: int = Field(ge=1, description="The author's sealed revision that was reviewed")
    draft: dict[str, Any]
    form: dict[str, FormAnswer] = Field(default_factory=dict)
    words: dict[str, Text] = Field(default_factory=dict)
    agreed: bool | None = Field(
        default=None, description="Whether the author agrees; empty before they answer"
    )
    answer: Text = ""
    answered_at: Text = ""

    @property
    def open_questions(self) -> list[str]:
        return [name for name in form_of(self.kind) if name not in self.form]
