"""Tasks for a research system, made from the inspirations of a seminar."""

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from typing import Self

from pydantic import Field

from annotator.domain.common import Refusal
from annotator.domain.kinds.artifact import (
    Context,
    Document,
    Finding,
    Kind,
    KindSpec,
    Unit,
    UnitField,
    error,
    marked,
    near_duplicates,
    phrases,
    warning,
    word_band,
)
from annotator.domain.kinds.inspirations import ALIKE, AnyCase, none_given

WORDS, COUNT, MOST_OF_FAMILY = 100, (5, 8), 2


_WORD = re.compile(r"[a-z]+")


def _words(name: object) -> frozenset[str]:
    """The words of a name: their separators vary in the paper."""
    return frozenset(_WORD.findall(str(name).lower())) - {"and", "or"}


def task_key(seminar: str, place: int) -> str:
    """The key of a task for people and files: the key of its seminar and its position in the list, from 1."""
    return f"{seminar}-t{place:02}"


class Phase(StrEnum):
    """A phase of research (DeepResearch Arena, Table 2)."""

    SYNTHESIZE = "synthesize"
    DESIGN = "design"
    EVALUATE = "evaluate"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """The phase, in any case, or by its noun: synthesis, evaluation."""
        plain = str(value).strip().lower()
        return next((self for self in cls if len(plain) >= 6 and plain[:6] == self.value[:6]), None)


class Family(StrEnum):
    """A family of tasks; the menu is closed (DeepResearch Arena, appendix D)."""

    SURVEY = "Literature Survey"
    SCAN = "Trend / Market Scan"
    NEEDS = "Requirements Gathering / Needs Analysis"
    HYPOTHESIS = "Hypothesis Generation"
    BLUEPRINT = "Method / Experiment Blueprint"
    SPECIFICATION = "Prototype / System Specification"
    METRIC = "Evaluation Metric Design"
    TEST = "Empirical / Simulation Test"
    REVIEW = "Replicability & Bias Review"
    COMPARISON = "Comparative Analysis"

    @classmethod
    def _missing_(cls, value: object) -> Self | None:
        """The family, in any case, or by two or more words that are its alone, such as trend scan."""
        result = [self for self in cls if len(_words(value)) > 1 and _words(value) <= _words(self)]
        return result[0] if len(result) == 1 else None

    @property
    def phase(self) -> Phase:
        return next(phase for phase, families in MENU.items() if self in families)


MENU: Mapping[Phase, tuple[Family, ...]] = {
    Phase.SYNTHESIZE: (Family.SURVEY, Family.SCAN, Family.NEEDS),
    Phase.DESIGN: (Family.HYPOTHESIS, Family.BLUEPRINT, Family.SPECIFICATION, Family.METRIC),
    Phase.EVALUATE: (Family.TEST, Family.REVIEW, Family.COMPARISON),
}


class Split(StrEnum):
    """The part of a benchmark that an item belongs to."""

    TRAIN = "train"
    DEV = "dev"
    TEST = "test"


class Difficulty(AnyCase):
    """How much a task takes: public data and three hours, or new data, tools or reasoning."""

    BASIC = "basic"
    ADVANCED = "advanced"


class Task(Unit):
    """One task, which stands by itself."""

    phase: Phase | None = None
    family: Family | None = None
    difficulty: Difficulty | None = None
    inspirations: tuple[str, ...] = Field(
        default=(), max_length=99, description="Ids of the inspirations that it is made of"
    )
    piece: int | None = Field(
        default=None,
        ge=1,
        exclude_if=none_given,
        description="The piece of the transcript whose inspirations it was drafted from",
    )

    @property
    def traits(self) -> dict[str, str]:
        return {name: str(value) for name in TRAITS if (value := getattr(self, name))}


TRAITS = ("phase", "difficulty")
CHOICES: Mapping[str, type[StrEnum]] = {"phase": Phase, "difficulty": Difficulty, "split": Split}


def checked_traits(traits: Mapping[str, str]) -> dict[str, str]:
    """Phase, difficulty and split in their canonical spelling, empty if not given; Refusal for any other."""
    result = {}
    for name, value in traits.items():
        choice = CHOICES[name]
        try:
            result[name] = choice(value).value if value.strip() else ""
        except ValueError:
            raise Refusal(f"“{value}” is no {name}.", f"Choose {', '.join(choice)}.") from None
    return result


class Tasks(Document[Task], kind=Kind.TASKS):
    """The tasks of one seminar (DeepResearch Arena, MAHTG)."""


_DELIVERABLE = (
    r"(?:deliver|produc|provid|submit|present|writ|prepar|creat|compil|draft|draw up|return|report|output|build|"
    r"construct|publish|propos|specif|summari[sz])(?:e|es|ing|y)?\b[^.;]{0,90}?\b(?:table|matrix|map|report|taxonomy|"
    r"protocol|specification|spec|plan|blueprint|figure|chart|plot|dataset|data set|code|script|notebook|prototype|"
    r"memo|brief|paper|review|survey|summary|list|catalogue?|inventory|timeline|framework|model|design|diagram|"
    r"formula|metric|score|rubric|checklist|dashboard|hypothes[ei]s|analysis|analyses|comparison|results?|"
    r"recommendations?|guidelines?|bibliography|database|simulation|ranking|statement|slides?|roadmap|proposal)s?"
)
_SEMINAR = (
    r"(?:the|this|our) (?:seminar|talk|lecture|speakers?|presenters?|panel(?:l?ists?)?|transcript|discussion|"
    r"session|inspirations?)",
    r"as (?:was )?(?:discussed|mentioned|noted|said|stated) (?:in|by|during|earlier|above|before)",
    r"(?:speaker|presenter)s?\b",
)
_SEMINAR_ELSEWHERE = re.compile(r"(?:研讨会|讲座|演讲者|报告人|本次讨论|ゼミ|講演者)")


def findings(tasks: Tasks, context: Context) -> Iterator[Finding]:
    """Every finding on tasks (DeepResearch Arena, appendix D)."""
    units = [unit for unit in tasks.units if unit.text.strip()]
    for unit in units:
        yield from word_band(unit, 1, WORDS)
        yield from _choices(unit)
    if context.english:
        for unit in units:
            if not phrases(_DELIVERABLE).search(unit.text):
                yield warning(
                    "deliverable",
                    "No deliverable is named.",
                    "Say what is to be handed in, such as “deliver a table of …”.",
                    unit.id,
                )
    for pattern in (phrases(*_SEMINAR), _SEMINAR_ELSEWHERE):
        yield from marked(
            "seminar",
            pattern,
            units,
            "“{found}” points back at the seminar.",
            "Say what is meant: a task stands alone.",
        )
    yield from _together(units)
    yield from near_duplicates(units, "task", ALIKE)


def _choices(unit: Task) -> Iterator[Finding]:
    for name, words in (
        ("phase", "Which phase?"),
        ("family", "Which family?"),
        ("difficulty", "How difficult?"),
    ):
        if getattr(unit, name) is None:
            yield error(f"no-{name}", words, "Choose one.", unit.id, name)
    if unit.family and unit.phase and unit.family.phase is not unit.phase:
        message = (
            f"{unit.family.value} belongs to the phase {unit.family.phase.value}, not {unit.phase.value}."
        )
        yield error("family", message, "Choose another family, or that phase.", unit.id, "family")
    if not unit.inspirations:
        yield warning(
            "untied", "It is tied to no inspiration.", "Choose those it is made of.", unit.id, "inspirations"
        )


def _together(units: Sequence[Task]) -> Iterator[Finding]:
    """Warnings on the tasks as a set; with several pieces each may have its own."""
    pieces = max(1, len({unit.piece for unit in units if unit.piece}))
    least, most = COUNT[0] * pieces, COUNT[1] * pieces
    if not least <= len(units) <= most:
        advice = "Write what is missing." if len(units) < least else "Merge or delete the weakest."
        of = f" for {pieces} pieces" if pieces > 1 else ""
        yield warning("count", f"{len(units):,} tasks; {least} to {most} are asked for{of}.", advice)
    absent = [phase.value for phase in Phase if phase not in {unit.phase for unit in units}]
    if units and absent:
        yield warning(
            "phases", f"No task yet to {', '.join(absent)}.", "Write one for each phase.", field="phase"
        )
    for family, count in Counter(unit.family for unit in units).items():
        if family and count > MOST_OF_FAMILY * pieces:
            yield warning(
                "family-count",
                f"{count} tasks are of the family {family.value}; at most {MOST_OF_FAMILY * pieces} may be.",
                "Choose another family for some, or delete them.",
                field="family",
            )


def _summary(tasks: Tasks, _bar: float) -> str:
    counts = Counter(unit.phase for unit in tasks.units if unit.phase)
    return ", ".join(f"{counts[phase]} {phase}" for phase in Phase if counts[phase])


SPEC = KindSpec(
    Tasks,
    title="Tasks",
    unit="task",
    units="tasks",
    what="Tasks ask a system for research: each of one family, made of inspirations, with something to hand in.",
    prompt="One task of at most 100 words that stands alone and says what to hand in.",
    table="tasks",
    fields=(
        UnitField(
            "phase",
            "Phase",
            (
                (Phase.SYNTHESIZE, "Synthesize", "Collect and order what is known"),
                (Phase.DESIGN, "Design", "Plan a method, experiment or system"),
                (Phase.EVALUATE, "Evaluate", "Test, check or compare"),
            ),
            level="nominal",
        ),
        UnitField(
            "family",
            "Family",
            tuple(
                (family.value, family.value, phase.capitalize())
                for phase, own in MENU.items()
                for family in own
            ),
            asks="Which family?",
            level="nominal",
        ),
        UnitField(
            "difficulty",
            "Difficulty",
            (
                (Difficulty.BASIC, "Basic", "Public data, up to three hours"),
                (Difficulty.ADVANCED, "Advanced", "New data, tools or reasoning"),
            ),
            level="nominal",
        ),
        UnitField("inspirations", "Inspirations", shown=False, counted=False),
    ),
    lint=findings,
    summary=_summary,
    made_of=("inspirations", Kind.INSPIRATIONS),
)
