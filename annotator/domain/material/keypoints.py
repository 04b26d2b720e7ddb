"""Key points: what cited pages say that helps to answer the question, with the pages' own words for it."""

from typing import ClassVar

from pydantic import BaseModel, ConfigDict, Field

from annotator.domain.kinds.artifact import Anchor, Document, Unit
from annotator.domain.material.page import PageState
from annotator.domain.texts.canonical import Text


class KeyPoint(Unit):
    """One point; each of its quotations has the page's normal address as its `source_id`.

    `merged` are points that say the same, from this page or others, as they were drawn.
    """

    merged: tuple[Unit, ...] = ()
    vital: bool = Field(default=False, description="Whether an answer without it would fail the task")
    accepted: bool = Field(default=False, description="Whether a person looked at it and let it stand")

    @property
    def kept(self) -> bool:
        """Whether it counts: what has no words of a page is no key point."""
        return bool(self.text.strip() and self.anchor)

    @property
    def spans(self) -> str:
        """Its own quotations as people read and type them, one a line."""
        return "\n".join(" ".join(anchor.quote.split()) for anchor in self.anchors)

    @property
    def found(self) -> tuple[Anchor, ...]:
        return tuple(anchor for one in (self, *self.merged) for anchor in one.anchors)

    @property
    def addresses(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(anchor.source_id for anchor in self.found))

    def with_merged(self, other: "KeyPoint") -> "KeyPoint":
        """The same with another point, and what that holds, merged into it."""
        bare = Unit(**other.model_dump(include=set(Unit.model_fields)))
        merged = (*self.merged, bare, *other.merged)
        return self.model_copy(update={"merged": merged, "vital": self.vital or other.vital})

    def parted(self) -> tuple["KeyPoint", ...]:
        """The point alone, then each that was merged into it."""
        marks = {"vital": self.vital, "accepted": self.accepted}
        others = (KeyPoint(**one.model_dump(), **marks) for one in self.merged)
        return (self.model_copy(update={"merged": ()}), *others)


class ReadPage(BaseModel):
    """A page that a report gives, by its normal address, and what was drawn there that is no key point."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)
    address: Text = Field(max_length=2000)
    state: PageState
    lost: tuple[Text, ...] = Field(default=(), description="Points none of whose spans stand in the page")


class KeyPoints(Document[KeyPoint]):
    """The key points of the pages that one report gives, or of the reports on one item (DeepResearch Arena, KAE)."""

    UNIT: ClassVar[type[Unit]] = KeyPoint
    pages: tuple[ReadPage, ...] = Field(default=(), description="All pages, read or not")

    @property
    def read(self) -> int:
        return sum(one.state is PageState.OK for one in self.pages)
