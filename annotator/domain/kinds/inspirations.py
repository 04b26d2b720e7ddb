"""Inspirations: leads for research in a seminar's transcript, each of one type and with its qualities."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Self

from pydantic import Field

from annotator.domain.common import counted
from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    error,
    near_duplicates,
    warning,
    word_band,
)

WORDS, SENTENCES, MOST = 300, (4, 5), 10
_END = re.compile(r"[.!?…]+(?=\s|$)|[。！？]+")
# Two texts are near duplicates from this similarity of their terms on.
ALIKE = 0.8


class InspirationType(StrEnum):
    """What an inspiration is about (DeepResearch Arena, Table 2)."""

    LIMITATION = "limitation"
    METHODOLOGY = "methodology"
    TRANSDISCIPLINARY = "transdisciplinary"
    HYPOTHESIS = "hypothesis"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """The type, in any case; the paper's table says transdisciplinarity, unlike its prompt."""
        plain = str(value).strip().lower().replace("disciplinarity", "disciplinary")
        return next((self for self in cls if self.value == plain), None)


class AnyCase(StrEnum):
    """A choice that is recognised in any case."""

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        plain = str(value).strip().lower()
        return next((self for self in cls if self.value == plain), None)


class Quality(AnyCase):
    """A quality that makes an inspiration worth a task."""

    NOVELTY = "novelty"
    EXPLORABILITY = "explorability"
    CHALLENGE = "challenge"
    VERIFIABILITY = "verifiability"


# The qualities each type needs; they imply that there are two of the four, and explorability among them.
REQUIRED: Mapping[InspirationType, tuple[Quality, Quality]] = {
    InspirationType.LIMITATION: (Quality.CHALLENGE, Quality.EXPLORABILITY),
    InspirationType.METHODOLOGY: (Quality.NOVELTY, Quality.EXPLORABILITY),
    InspirationType.TRANSDISCIPLINARY: (Quality.NOVELTY, Quality.EXPLORABILITY),
    InspirationType.HYPOTHESIS: (Quality.VERIFIABILITY, Quality.EXPLORABILITY),
}


def none_given(value: object) -> bool:
    """Whether a field is empty, and left out of the output."""
    return value is None


class Inspiration(Unit):
    """One lead for research, faithful to what was said."""

    type: InspirationType | None = Field(default=None, description="Empty while not yet decided")
    qualities: tuple[Quality, ...] = Field(default=(), description="Which of the four qualities it has")
    piece: int | None = Field(
        default=None,
        ge=1,
        exclude_if=none_given,
        description="The piece of the transcript that it was drawn from; left out where it was written by hand",
    )


class Inspirations(Document[Inspiration], kind=Kind.INSPIRATIONS):
    """The inspirations of one seminar (DeepResearch Arena, MAHTG)."""

    def fault(self) -> str:
        return next(
            (
                f"Piece {piece} has {count} inspirations, and a piece gives at most {MOST}."
                for piece, count in Counter(unit.piece for unit in self.units).items()
                if piece is not None and count > MOST
            ),
            "",
        )


def findings(inspirations: Inspirations, _context: Context) -> Iterator[Finding]:
    """Every finding on inspirations (DeepResearch Arena, appendix D)."""
    units = [unit for unit in inspirations.units if unit.text.strip()]
    if fault := inspirations.fault():
        yield error("piece-count", fault, "Merge or delete the weakest of that piece.")
    for unit in units:
        yield from word_band(unit, 1, WORDS)
        yield from _sentences(unit)
        yield from _type(unit)
        if not unit.anchors:
            yield warning(
                "no-quote",
                "No passage of the transcript is quoted.",
                "Select the words it rests on, and quote them.",
                unit.id,
            )
    yield from near_duplicates(units, "inspiration", ALIKE)


def _sentences(unit: Inspiration) -> Iterator[Finding]:
    """A warning on an inspiration with fewer or more sentences than the paper asks for; text after the last stop is
    one.
    """
    ends = list(_END.finditer(text := unit.text.strip()))
    count = len(ends) + (not ends or ends[-1].end() < len(text))
    if not SENTENCES[0] <= count <= SENTENCES[1]:
        yield warning(
            "sentences",
            f"{counted(count, 'sentence')}; {SENTENCES[0]} or {SENTENCES[1]} are asked for.",
            "Say what is open, why it matters and where one could begin, or shorten it.",
            unit.id,
        )


def _type(unit: Inspiration) -> Iterator[Finding]:
    if unit.type is None:
        yield error("no-type", "Which type is it?", "Choose one of the four.", unit.id, "type")
        return
    lacking = [quality for quality in REQUIRED[unit.type] if quality not in unit.qualities]
    if lacking:
        needed = " and ".join(REQUIRED[unit.type])
        yield warning(
            "traits",
            f"A {unit.type} inspiration has {needed}; {' and '.join(lacking)} is not marked.",
            "Mark it if the text shows it; otherwise choose another type, or delete it.",
            unit.id,
            "qualities",
        )


def _summary(inspirations: Inspirations, _bar: float) -> str:
    counts = Counter(unit.type for unit in inspirations.units if unit.type)
    return ", ".join(f"{counts[one]} {one}" for one in InspirationType if counts[one])


SPEC = KindSpec(
    Inspirations,
    title="Inspirations",
    unit="inspiration",
    units="inspirations",
    what="Inspirations are leads for research that a seminar holds: each of one type, with the passage it rests on.",
    prompt="One lead for research in four or five sentences, faithful to what was said.",
    table="inspirations",
    fields=(
        UnitField(
            "type",
            "Type",
            (
                (InspirationType.LIMITATION, "Limitation", "An open problem or missing evidence"),
                (InspirationType.METHODOLOGY, "Methodology", "A new or adapted approach, pipeline or tool"),
                (
                    InspirationType.TRANSDISCIPLINARY,
                    "Transdisciplinary",
                    "Ideas of one field used in another",
                ),
                (
                    InspirationType.HYPOTHESIS,
                    "Hypothesis",
                    "A causal or quantitative claim that can be tested",
                ),
            ),
            level="nominal",
        ),
        UnitField(
            "qualities",
            "Qualities",
            (
                (Quality.NOVELTY, "Novelty", "Brings a new idea, method or view"),
                (Quality.EXPLORABILITY, "Explorability", "Gives a starting point for further work"),
                (Quality.CHALLENGE, "Challenge", "Shows a limit, bottleneck or open issue"),
                (Quality.VERIFIABILITY, "Verifiability", "Can be confirmed or refuted in the end"),
            ),
            several=True,
            same=lambda a, b: set(a) == set(b),
        ),
    ),
    lint=findings,
    summary=_summary,
)
