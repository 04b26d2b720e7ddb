"""The final pass: what somebody looks for in each item before it is released, and who signed that they did."""

from collections.abc import Mapping
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.texts.canonical import Text

CHECKS: Mapping[str, str] = {
    "links": "Its links resolve",
    "identifiers": "Its identifiers exist and name the right works",
    "content": "It holds no offensive and no personal content",
    "leak": "Nothing in the question gives its answer away",
    "corrigenda": "Corrections and retractions of its sources were looked for",
}


class CheckState(StrEnum):
    """What somebody found."""

    PASSED = "passed"
    PROBLEM = "problem"
    NOT_APPLICABLE = "not applicable"


class FinalCheck(BaseModel):
    """What was found of one thing, who signed it by alias, and when."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    state: CheckState
    signed: Text = Field(max_length=200, description="Alias of who looked")
    at: str = Field(max_length=40)
    note: Text = Field(default="", max_length=2000)


# Check → what was found.
ItemChecks = dict[str, FinalCheck]
