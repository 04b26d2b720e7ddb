"""Sets of labels: everything one rater said about the reports of one item, sealed as one document."""

from pydantic import Field

from annotator.domain.kinds.artifact import AlignmentRule, Document, Kind, KindSpec, Unit, UnitField
from annotator.domain.texts.canonical import Text, derived_id

UNSURE = "unsure"
# What a label is about is frozen beside its value: without it, figures by criterion would need the live documents.
ABOUT = ("protocol", "response_id", "unit_id")


class Label(Unit):
    """One rater's value on one unit of one report; `text` is left empty, `note` never counts as disagreement."""

    protocol: str = Field(max_length=80)
    response_id: str
    unit_id: str = Field(max_length=80, description="The unit of the artifact that the report was judged by")
    value: str = Field(max_length=200, description="A value of the protocol, or “unsure”")
    quote: Text = Field(default="", description="Evidence quoted from the report")
    flags: str = ""


class Labels(Document[Label], kind=Kind.LABELS):
    """The labels of one item, in the order of its reports and their units."""


def label_id(protocol: str, response_id: str, unit_id: str) -> str:
    """The id of a label: the same for every rater, so that labels of two raters meet without any matching."""
    return derived_id("label", protocol, response_id, unit_id)


SPEC = KindSpec(
    Labels,
    title="Labels",
    unit="label",
    units="labels",
    what="A label says what a report does of a criterion.",
    prompt="",
    table="consensus_labels",
    fields=(UnitField("value", "Label", level="nominal", always_ac1=True),),
    says="value",
    aligned=AlignmentRule.ID,
    overlap=(),
    given=frozenset({*ABOUT, "text"}),
    frozen_fields=ABOUT,
)
