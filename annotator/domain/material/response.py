"""Systems and responses: who answered an item, and the report they gave."""

import re
from datetime import date

from pydantic import ConfigDict
from sqlmodel import Field, SQLModel

from annotator.domain.material.fields import later_text
from annotator.domain.texts.canonical import Text

# In which way a system was asked: alone, with gold given for one step, or with a gold plan.
END_TO_END, ISOLATED, INJECTION = MODES = ("end-to-end", "isolated", "gold-plan injection")
# What people wrote that systems are to match; no system made it.
EXEMPLAR = "exemplar"
# What a model wrote after the first half of a task: no report, and counted nowhere but by who asks for it.
CONTINUATION = "continuation"
KNOWN_MODES = (*MODES, EXEMPLAR, CONTINUATION)
# What a system's group is called as a rule; a project may say anything else.
GROUPS = ("deep research", "LLM + search", "LLM", "open-source LLM")


def spelled(mode: str) -> str:
    """A known mode, however its words are joined and whatever the case; any other as it is."""

    def folded(words: str) -> str:
        return re.sub(r"[\W_]+", "", words).casefold()

    return next((known for known in KNOWN_MODES if folded(known) == folded(mode)), mode.strip())


class SystemFields(SQLModel):
    """A system under test. Raters never see its name while they label."""

    name: Text = Field(min_length=1, max_length=200)
    notes: Text = Field(default="", max_length=20_000)
    group: Text = later_text(120, "Kind of system, e.g. deep research")
    footnote: Text = later_text(2000, "What tables say of it below them")


class ResponseFields(SQLModel):
    """A system's report on one item; `None` means not known, never zero."""

    item_id: str = Field(index=True, foreign_key="item.id", ondelete="RESTRICT")
    system_id: str = Field(index=True, foreign_key="system.id", ondelete="RESTRICT")
    text: Text = Field(description="The report, as Markdown")
    trial: int = Field(default=1, ge=1, description="Which run of the system on this item")
    mode: str = Field(
        default=END_TO_END, max_length=40, description="end-to-end, isolated or gold-plan injection"
    )
    latency_s: float | None = Field(default=None, ge=0, description="Seconds the system took")
    tokens: int | None = Field(default=None, ge=0, description="Tokens of the report")
    cost_usd: float | None = Field(default=None, ge=0, description="US dollars the report cost")
    run_tokens: int | None = Field(default=None, ge=0, description="Tokens of all calls that made the report")
    cost_part_usd: float | None = Field(
        default=None, ge=0, description="US dollars of the calls that have a price, where others have none"
    )
    collected_on: date | None = Field(default=None, description="Day on which the report was collected")
    product_version: Text = later_text(200, "Version of the product or model that answered")
    settings: Text = later_text(2000, "How it was asked: modes, options, standard replies")
    collected_by: Text = later_text(200, "Who collected the report")
    cutoff: date | None = Field(
        default=None, description="Last day of publication that the system was asked to keep to"
    )
    asked: str = later_text(
        64, "SHA-256 of the question's wording that it answers; empty for the item's present one"
    )


class Response(ResponseFields):
    """A response as it travels between rooms."""

    model_config = ConfigDict(frozen=True)  # type: ignore[assignment]
    id: str
