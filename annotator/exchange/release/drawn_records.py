"""Release records that let scores be recomputed: extracts, cited pages and prompts."""

import re
from datetime import date, datetime
from typing import Any, ClassVar

import orjson
from pydantic import Field

from annotator.domain.material.extract import SET, ExtractState, class_of
from annotator.domain.material.page import PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.canonical import Text, sha256
from annotator.exchange.release.records import (
    DecisionRecord,
    LaterFields,
    MatchRecord,
    MetricRecord,
    RatingRecord,
    Record,
)


class ExtractRecord(Record):
    """What somebody drew from a response before it was judged: its plan, its references, or the claims it makes."""

    FILE: ClassVar[str] = "extracts.json"
    id: str
    item_id: str
    response_id: str
    kind: str
    origin: str = Field(
        description="judge:<id>, person:<id> or import; a person's version counts before the others. set:<name> of the "
        "rubrics of a named set, which are of an item and of no response"
    )
    state: ExtractState
    flags: list[str] = Field(default_factory=list)
    run_id: str | None = None
    by: str = ""
    at: datetime
    sha256: str = Field(description="SHA-256 of the document's canonical JSON")
    document: dict[str, Any]


class PageRecord(LaterFields):
    """The snapshot of a page that a claim or a reference cites: its text as judges read it, or why there is none.

    The text is its owner's: a release holds it only where that was asked for, and its hash in any case.
    """

    FILE: ClassVar[str] = "pages.json"
    url: Text = Field(description="The normal spelling of the address")
    state: PageState
    text: Text = Field(
        default="", description="Empty too where the text of a page that was read stayed behind"
    )
    title: Text = ""
    final_url: Text = ""
    content_type: str = ""
    cause: Text = ""
    fetched_at: datetime
    by_reader: str = ""
    citations: int | None = None
    citations_on: date | None = None
    sha256: str = Field(
        description="SHA-256 of the text as judges read it, also where the text stayed behind"
    )

    @property
    def without_text(self) -> bool:
        """Whether the page was read and its text stayed behind."""
        return self.state is PageState.OK and not self.text


class WordingRecord(Record):
    """One version of a prompt. The first is as the program shipped it."""

    FILE: ClassVar[str] = ""
    version: int = Field(ge=1)
    text: Text
    note: Text = ""
    at: datetime | None = None
    sha256: str = Field(description="SHA-256 of the text; runs name it")


class PromptRecord(Record):
    """A prompt by which something was judged or drawn, in all its versions; the last was in force."""

    FILE: ClassVar[str] = "prompts.json"
    name: str
    versions: list[WordingRecord] = Field(min_length=1)


_SHA256 = re.compile("[0-9a-f]{64}")
# A release without them is as it was before they were known.
LEFT_OUT_EMPTY = tuple(
    record.FILE
    for record in (
        ExtractRecord,
        PageRecord,
        PromptRecord,
        MetricRecord,
        MatchRecord,
        RatingRecord,
        DecisionRecord,
    )
)


def check(record: Record) -> None:
    """ValueError when a record is not what its checksum was made of, or its document does not fit its kind."""
    if isinstance(record, ExtractRecord):
        of_item = record.origin.startswith(SET) or record.kind == ResponsePart.POOL
        if not record.response_id and not of_item:
            raise ValueError("it does not say which response it was drawn from")
        cls = class_of(record.kind, record.response_id)
        document = cls.model_validate_json(orjson.dumps(record.document), strict=True)
        if len({unit.id for unit in document.units}) != len(document.units):
            raise ValueError("two units have the same id")
        if document.sha256() != record.sha256:
            raise ValueError("the document is not the one its checksum was made of")
    elif isinstance(record, PageRecord):
        _check_page(record)
    elif isinstance(record, PromptRecord):
        if any(sha256(one.text) != one.sha256 for one in record.versions):
            raise ValueError("a wording is not the one its checksum was made of")
        if [one.version for one in record.versions] != list(range(1, len(record.versions) + 1)):
            raise ValueError("its versions are not counted from 1 on")


def _check_page(record: PageRecord) -> None:
    if record.without_text:
        if not _SHA256.fullmatch(record.sha256):
            raise ValueError("“sha256” should be the checksum of the text that stayed behind")
    elif sha256(record.text) != record.sha256:
        raise ValueError("the text is not the one its checksum was made of")
