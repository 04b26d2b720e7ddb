"""Tasks that a model writes from the inspirations of a seminar.

DeepResearch Arena: task generation of MAHTG, and its prompt in appendix D. People take what they confirm.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.inspirations import Inspiration, InspirationType
from annotator.domain.kinds.tasks import COUNT, Difficulty, Family, Phase, Task, Tasks
from annotator.protocols.several import ModelReply, blocks, by_letter

NAME = "arena.tasks"
NO_INSPIRATIONS = "The item has no inspirations that you may see."
FEW, UNKNOWN = "task_count", "inspiration_unknown"
DEPARTURES = (
    "The paper says that tasks can be traced to their inspirations, but its reply does not hold them. Here each task "
    "names them; a name that was not given is left out, and the draft is flagged.",
    "Tasks are written piece by piece, from the inspirations of one piece, as the pieces were read.",
    "More than eight tasks of one piece, and a family that is not on the menu, are refused; fewer than five are "
    "flagged and kept.",
    "A draft is a proposal: what a person takes of it is theirs, and every unit that was taken is marked.",
)


class WrittenTask(ModelReply):
    """A task as the model wrote it: first what it is made of."""

    inspirations: list[str] = Field(
        description="The names of the inspirations that it is made of, such as i1"
    )
    phase: Phase = Field(description="synthesize, design or evaluate")
    family: str = Field(description="A family of the menu, copied exactly")
    difficulty: Difficulty = Field(description="basic or advanced")
    task: str = Field(min_length=1, max_length=4000, description="The task, at most 100 words")


class WrittenTasks(ModelReply):
    """The tasks of one piece."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each task write five lines that begin with INSPIRATIONS: (commas between them), "
        "PHASE:, FAMILY:, DIFFICULTY: and TASK:, and leave one empty line before the next."
    )
    AGAIN: ClassVar[str] = "Give the same tasks again."
    tasks: list[WrittenTask] = Field(description="Five to eight tasks")

    @classmethod
    def from_text(cls, text: str) -> Self:
        tasks = [
            block | {"inspirations": [one.strip() for one in block["inspirations"].split(",") if one.strip()]}
            for block in blocks(
                text,
                inspirations="INSPIRATIONS",
                phase="PHASE",
                family="FAMILY",
                difficulty="DIFFICULTY",
                task="TASK",
            )
        ]
        return cls.model_validate({"tasks": tasks})


async def write(material: Material, ask: Ask) -> Extracted:
    """Tasks from the item's inspirations, piece by piece; a piece that fails spoils the draft."""
    units, flags, failed = list[Task](), list[str](), None
    for piece, inspirations in _by_piece(material).items():
        names = by_letter(inspirations, "i")
        answer = await ask(
            NAME,
            {
                "inspirations": "\n".join(
                    f"{name} ({unit.type or 'no type'}): {' '.join(unit.text.split())}"
                    for name, unit in names.items()
                    if isinstance(unit, Inspiration)
                )
            },
            WrittenTasks,
            fenced=("inspirations",),
        )
        flags += answer.flags
        if answer.status is not Status.OK:
            failed = failed or Extracted(None, answer.status, answer.cause, answer.flags)
            continue
        written: list[WrittenTask] = answer.reply.tasks
        if fault := _fault(written, piece):
            failed = failed or Extracted(None, Status.INVALID, fault, answer.flags)
            continue
        flags += [FEW] * (len(written) < COUNT[0])
        flags += [UNKNOWN] * any(set(task.inspirations) - set(names) for task in written)
        units += (
            Task(
                text=task.task.strip(),
                phase=task.phase,
                family=Family(task.family),
                difficulty=task.difficulty,
                inspirations=tuple(
                    dict.fromkeys(names[name].id for name in task.inspirations if name in names)
                ),
                piece=piece,
            )
            for task in written
        )
    if failed is not None:
        return failed
    if not units:
        return Extracted(None, Status.SKIPPED, NO_INSPIRATIONS)
    return Extracted(Tasks(units=tuple(units)), flags=tuple(dict.fromkeys(flags)))


def _by_piece(material: Material) -> dict[int | None, list[Inspiration]]:
    result: dict[int | None, list[Inspiration]] = defaultdict(list)
    for unit in material.units(Kind.INSPIRATIONS):
        if unit.text.strip():
            result[unit.piece].append(unit)
    return result


def _fault(written: Sequence[WrittenTask], piece: int | None) -> str:
    of = f" on piece {piece}" if piece else ""
    if len(written) > COUNT[1]:
        return f"The reply{of} has {len(written):,} tasks; {COUNT[0]} to {COUNT[1]} are asked for."
    for task in written:
        try:
            family = Family(task.family)
        except ValueError:
            return f"“{task.family[:60]}” is no family of the menu."
        if family.phase is not task.phase:
            return f"{family.value} belongs to the phase {family.phase.value}, not {task.phase.value}."
    return ""


_FITTING: Mapping[Family, tuple[InspirationType, str]] = {
    Family.SURVEY: (
        InspirationType.LIMITATION,
        "Survey published work of the last ten years on the following problem and list the gaps that are left: {}. "
        "Deliver a table with one row for each work, its method, its finding and the gap.",
    ),
    Family.BLUEPRINT: (
        InspirationType.METHODOLOGY,
        "Design an experiment that puts the following idea to the test: {}. Deliver a protocol with data, steps, "
        "controls and the measure of success.",
    ),
    Family.SPECIFICATION: (
        InspirationType.TRANSDISCIPLINARY,
        "Specify a prototype that carries the following idea from one field into the other: {}. Deliver a "
        "specification with its parts, inputs, outputs and limits.",
    ),
    Family.TEST: (
        InspirationType.HYPOTHESIS,
        "Test the following claim with public data or a simulation: {}. Deliver the code, a table of results and a "
        "statement of how certain they are.",
    ),
    Family.COMPARISON: (
        InspirationType.LIMITATION,
        "Compare three existing ways to deal with the following: {}. Deliver a matrix of their strengths, costs and "
        "conditions, and a recommendation.",
    ),
}  # fmt: skip
_SHOWN_WORDS = 40


def baseline(material: Material) -> Extracted:
    """Five tasks of each piece by words alone: the beginning of an inspiration within a fixed sentence."""
    units = [
        _filled(family, kind, words, inspirations, place, piece)
        for piece, inspirations in _by_piece(material).items()
        for place, (family, (kind, words)) in enumerate(_FITTING.items())
    ]
    if not units:
        return Extracted(None, Status.SKIPPED, NO_INSPIRATIONS)
    return Extracted(Tasks(units=tuple(units)))


def _filled(
    family: Family,
    kind: InspirationType,
    words: str,
    among: Sequence[Inspiration],
    place: int,
    piece: int | None,
) -> Task:
    """A task of a family from an inspiration of its type; from another where there is none."""
    fitting = [inspiration for inspiration in among if inspiration.type is kind] or among
    chosen = fitting[place % len(fitting)]
    return Task(
        text=words.format(" ".join(chosen.text.split()[:_SHOWN_WORDS]).rstrip(".!?。！？,;:")[:300]),
        phase=family.phase,
        family=family,
        difficulty=Difficulty.ADVANCED if family is Family.TEST else Difficulty.BASIC,
        inspirations=(chosen.id,),
        piece=piece,
        note="baseline: a fixed sentence",
    )


TASKS_WRITTEN = Extraction(
    name=NAME,
    title="Tasks of a seminar",
    citation="DeepResearch Arena, MAHTG and appendix D",
    makes=Kind.TASKS,
    prompts=(NAME,),
    extract=write,
    baseline=baseline,
    needs=(Kind.INSPIRATIONS,),
    sources=False,
    departures=DEPARTURES,
)
