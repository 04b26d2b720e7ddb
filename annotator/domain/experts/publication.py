"""The metadata of a release: who made it, on which terms, what was corrected, and who checked it."""

import re
from collections.abc import Callable, Mapping
from datetime import date
from enum import StrEnum
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    SerializerFunctionWrapHandler,
    model_serializer,
)

from annotator.domain.common import FrozenRecord, Text, derived_id

# The usual licences of data sets, by SPDX identifier, the commonest first, each with the address of its text.
LICENCES: Mapping[str, str] = {
    "CC-BY-4.0": "https://creativecommons.org/licenses/by/4.0/",
    "CC0-1.0": "https://creativecommons.org/publicdomain/zero/1.0/",
    "CC-BY-SA-4.0": "https://creativecommons.org/licenses/by-sa/4.0/",
    "CC-BY-NC-4.0": "https://creativecommons.org/licenses/by-nc/4.0/",
    "CC-BY-NC-SA-4.0": "https://creativecommons.org/licenses/by-nc-sa/4.0/",
    "CC-BY-ND-4.0": "https://creativecommons.org/licenses/by-nd/4.0/",
    "CC-BY-NC-ND-4.0": "https://creativecommons.org/licenses/by-nc-nd/4.0/",
    "ODC-By-1.0": "https://opendatacommons.org/licenses/by/1-0/",
    "ODbL-1.0": "https://opendatacommons.org/licenses/odbl/1-0/",
    "CDLA-Permissive-2.0": "https://cdla.dev/permissive-2-0/",
    "MIT": "https://spdx.org/licenses/MIT.html",
    "Apache-2.0": "https://spdx.org/licenses/Apache-2.0.html",
}
# The settings of a project that hold the metadata of its releases.
METADATA, CANARY, ERRATA, WITHDRAWN = "release metadata", "canary", "errata", "withdrawn releases"
# The prefix of every canary, of whichever project.
CANARY_MARK = "goldsmith-canary:"
_ORCID = re.compile(r"(?:https?://orcid\.org/)?(\d{4}-\d{4}-\d{4}-\d{3}[\dXx])")
_VERSION = re.compile(r"(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?")
_LANGUAGE = re.compile(r"[A-Za-z]{2,3}(?:-[A-Za-z0-9]{1,8})*")


def canary_of(name: str) -> str:
    return f"{CANARY_MARK}{derived_id(CANARY, name)}"


class SplitAccess(StrEnum):
    """How the test items of a release can be read."""

    AS_IS = "as-is"
    ENCRYPTED = "encrypted"
    LEFT_OUT = "left-out"


class SparseRecord(FrozenRecord):
    """A record that leaves empty fields out of its JSON."""

    @model_serializer(mode="wrap")
    def _without_empty(self, whole: SerializerFunctionWrapHandler) -> dict[str, Any]:
        tree: dict[str, Any] = whole(self)
        return {name: value for name, value in tree.items() if value}


class Author(SparseRecord):
    """One who made the benchmark."""

    name: Text = Field(min_length=1)
    orcid: str = ""
    affiliation: Text = ""

    def __str__(self) -> str:
        return ", ".join(filter(None, (self.name, self.orcid, self.affiliation)))


def _author(words: Any) -> Any:
    """An author from one line with commas: name, ORCID and affiliation."""
    if isinstance(words, dict):
        return Author(**words)
    if not isinstance(words, str):
        return words
    name, *more = (part.strip() for part in words.split(","))
    orcids = [match[1].upper() for part in more if (match := _ORCID.fullmatch(part))]
    if not all(map(_orcid_holds, orcids)):
        raise ValueError(f"{orcids[0]} is no ORCID: its last character does not fit the others")
    affiliation = [part for part in more if not _ORCID.fullmatch(part)]
    return Author(name=name, orcid="".join(orcids[:1]), affiliation=", ".join(affiliation))


def _orcid_holds(orcid: str) -> bool:
    """Whether the last character is the check digit of ISO 7064 (11-2) for the others."""
    total = 0
    for digit in orcid.replace("-", "")[:-1]:
        total = (total + int(digit)) * 2
    return "0123456789X"[(12 - total % 11) % 11] == orcid[-1]


def _parted(marks: str) -> Callable[[Any], Any]:
    """A validator that splits text at these marks and at line breaks into its parts."""

    def part(value: Any) -> Any:
        parts = re.split(f"[{marks}\n]", value) if isinstance(value, str) else value
        stripped = (each.strip() if isinstance(each, str) else each for each in parts)
        return tuple(each for each in stripped if each)

    return part


def _matching(pattern: re.Pattern[str], example: str) -> AfterValidator:
    def check(text: str) -> str:
        if text and not pattern.fullmatch(text):
            raise ValueError(f"“{text[:40]}” is none; write for example {example}")
        return text

    return AfterValidator(check)


def _day(text: str) -> str:
    return date.fromisoformat(text).isoformat() if text else ""


def _licence(text: str) -> str:
    """The SPDX identifier of a usual licence, however it is written; any other text as it is."""
    plain = re.sub(r"[\s_-]+", "-", text.strip()).lower()
    return next((known for known in LICENCES if known.lower() == plain), text.strip())


Line = Annotated[Text, AfterValidator(str.strip), Field(max_length=2_000)]
Answer = Annotated[Text, AfterValidator(str.strip), Field(max_length=20_000)]


# The form and the options of the command are generated from it.
class ReleaseMetadata(SparseRecord):
    """What readers ask of a benchmark before they use it."""

    title: Line = Field("", title="Title", description="What is the benchmark called?")
    version: Annotated[Line, _matching(_VERSION, "1.0.0")] = Field(
        "",
        title="Version",
        description="Which version will this be? The first number changes when scores are no longer comparable, the "
        "second when something is added, the third when something is corrected.",
    )
    description: Answer = Field(
        "", title="Description", description="What is it, and what does it test? Two or three sentences."
    )
    licence: Annotated[Line, AfterValidator(_licence)] = Field(
        "",
        title="Licence",
        description="Under which licence may others use the files? CC-BY-4.0 asks that you are named, CC0-1.0 for "
        "nothing; NC forbids commercial use, ND changes, and SA wants the same licence for what is made of it.",
    )
    authors: Annotated[
        tuple[Annotated[Author, BeforeValidator(_author)], ...], BeforeValidator(_parted(";"))
    ] = Field(
        (),
        title="Authors",
        description="Who made it? One on a line: name, ORCID, affiliation.",
    )
    contact: Line = Field("", title="Contact", description="Where are questions answered? A mail address.")
    citation: Answer = Field("", title="Citation", description="How should it be cited? Text or BibTeX.")
    funding: Line = Field("", title="Funding", description="Who paid for it?")
    homepage: Annotated[Line, _matching(re.compile(r"https?://\S+"), "https://example.org")] = Field(
        "", title="Homepage", description="At which address is it described?"
    )
    published: Annotated[Line, AfterValidator(_day)] = Field(
        "", title="Published on", description="On which day is it published? Year, month and day: 2026-05-31."
    )
    languages: Annotated[
        tuple[Annotated[Line, _matching(_LANGUAGE, "en or zh-Hans")], ...], BeforeValidator(_parted(",;"))
    ] = Field((), title="Languages", description="In which languages are questions and gold?")
    tags: Annotated[tuple[Line, ...], BeforeValidator(_parted(",;"))] = Field(
        (), title="Tags", description="Under which words should it be found?"
    )
    collection: Answer = Field(
        "", title="Collection", description="How were the questions, the gold and the reports collected?"
    )
    annotators: Answer = Field(
        "",
        title="Annotators",
        description="Who wrote and labelled, and how many were they?",
    )
    consent: Answer = Field(
        "",
        title="Qualification, pay and consent",
        description="What qualified those who wrote and labelled, how were they paid, and did they consent?",
    )
    uses: Answer = Field("", title="Use cases", description="What should it be used for?")
    out_of_scope: Answer = Field("", title="Out of scope", description="What should it not be used for?")
    limits: Answer = Field("", title="Limits", description="What do its figures not show?")
    biases: Answer = Field(
        "",
        title="Biases",
        description="Whose questions, views, languages or systems are over- or underrepresented?",
    )
    personal: Answer = Field(
        "",
        title="Personal or sensitive data",
        description="Do the files hold personal or sensitive data? If so, which, and how is it protected?",
    )
    social_impact: Answer = Field(
        "", title="Social impact", description="Whom may its use help, whom may it harm?"
    )
    maintenance: Answer = Field(
        "", title="Maintenance", description="Who corrects mistakes, until when, and how are they reported?"
    )
    blocked_sources: Annotated[tuple[Line, ...], BeforeValidator(_parted(""))] = Field(
        (),
        title="Blocked sources",
        description="Which pages must a system under test not read, since questions or gold stand there? One address "
        "or host on a line, with * for any letters: example.org/gold/*. The homepage is among them by itself.",
    )

    def text(self, name: str) -> str:
        """A field's value as a person types it."""
        value = getattr(self, name)
        between = "\n" if name in ("authors", "blocked_sources") else ", "
        return value if isinstance(value, str) else between.join(map(str, value))


# The fields that a strict release may not lack: those that only people know, and those that a project can propose.
QUESTIONS = ("description", "licence", "authors", "contact", "consent", "uses", "personal")
PROPOSED = ("collection", "annotators", "limits", "biases", "social_impact", "maintenance")
NEEDED = (*QUESTIONS, *PROPOSED)
# The fields answered in sentences, in the order of the card.
RESPONSIBLE_USE = (
    "collection", "annotators", "consent", "uses", "out_of_scope", "limits", "biases", "personal", "social_impact",
    "maintenance",
)  # fmt: skip


class Erratum(SparseRecord):
    """A correction: since which release, why, and what it changed."""

    at: str
    reason: Text = Field(min_length=1, max_length=2_000)
    version: str = ""
    since: int = Field(default=0, description="The number of the release before it; 0 where none was named")
    changes: tuple[Text, ...] = ()


class Withdrawal(SparseRecord):
    """Why and when a release was withdrawn."""

    at: str
    reason: Text = Field(min_length=1, max_length=2_000)


class Publication(SparseRecord):
    """What a release says of itself; `canary` is in every flat record, by which copies are recognised."""

    # An instance made here would build its validator whenever this module is loaded.
    metadata: ReleaseMetadata = Field(default_factory=ReleaseMetadata, json_schema_extra={"default": {}})
    canary: str = Field(default="", max_length=200)
    errata: tuple[Erratum, ...] = ()
    withdrawn: dict[int, Withdrawal] = Field(
        default_factory=dict, description="A release's number → why it was withdrawn"
    )


def open_questions(metadata: ReleaseMetadata) -> list[str]:
    """The open questions of a reader of the release, each as a sentence."""
    fields = ReleaseMetadata.model_fields
    return [
        f"{fields[name].title}: {fields[name].description}" for name in NEEDED if not getattr(metadata, name)
    ]


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


class FinalCheck(FrozenRecord):
    """What was found of one thing, who signed it by alias, and when."""

    state: CheckState
    signed: Text = Field(max_length=200, description="Alias of who looked")
    at: str = Field(max_length=40)
    note: Text = Field(default="", max_length=2000)


# Check → its finding.
ItemChecks = dict[str, FinalCheck]
