"""Prompts: the wording in which judges are asked one kind of question, kept version by version."""

from datetime import datetime

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.texts.canonical import Text, sha256

# What the program ships is version 1 of every prompt; the first that a coordinator writes is version 2.
SHIPPED = 1


class PromptVersion(BaseModel):
    """One version of one prompt; versions are only ever added. The shipped one has no author and no moment."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    name: str = Field(max_length=120)
    version: int = Field(ge=SHIPPED)
    text: Text = Field(
        min_length=1, max_length=100_000, description="Markdown: a part “# system”, a part “# user”"
    )
    note: Text = Field(default="", max_length=2_000, description="Why it was written")
    by: str = Field(default="", max_length=36)
    at: datetime | None = None

    @property
    def sha256(self) -> str:
        """The hash that goes into the key of every answer given to it."""
        return sha256(self.text)
