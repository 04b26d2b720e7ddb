"""Inspirations that a model extracts from a seminar's transcript, piece by piece, and tasks that it writes from them.

DeepResearch Arena: inspiration extraction of MAHTG, and its prompt in appendix D. People accept those they confirm.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import ClassVar, Self

from pydantic import Field

from annotator.domain.common import grouped
from annotator.domain.judges.judge import Status
from annotator.domain.judges.protocol import Ask, Extracted, Extraction, Material, NoReply, extracting
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.inspirations import (
    MOST,
    REQUIRED,
    Inspiration,
    Inspirations,
    InspirationType,
    Quality,
)
from annotator.domain.kinds.tasks import COUNT, Difficulty, Family, Phase, Task, Tasks
from annotator.domain.material.extract import Piece, pieces
from annotator.domain.material.item import Source
from annotator.domain.texts.words import word_count
from annotator.protocols.reports import NO_SOURCE, anchored, placed, sentences, with_text
from annotator.protocols.several import BARS, QUOTE_MISSING, ModelReply, blocks, by_letter

NAME = "arena.inspirations"
MISSING = "Not found in the transcript: “{}”"
DEPARTURES = (
    "The paper's reply holds text and type alone. Here it adds the qualities and the quotations, so that both can be "
    "checked; a quotation that the transcript does not hold is named in the note, and the draft is flagged.",
    "The paper does not say how a transcript of an hour is handed over, and its number of tasks cannot come from one "
    "call for each. Here it is read in pieces of about 1,500 words, cut where turns end; at most ten inspirations "
    "come from each piece, and a reply with more is refused.",
    "Its table says transdisciplinarity where its prompt says transdisciplinary: they are one type.",
    "A draft is a proposal: what a person takes of it is theirs, and every unit that was taken is marked.",
)


class DrawnInspiration(ModelReply):
    """An inspiration as the model drew it: first what it rests on."""

    quotes: list[str] = Field(description="Passages that it rests on, copied exactly")
    text: str = Field(min_length=1, max_length=4000, description="The inspiration in four or five sentences")
    type: InspirationType = Field(description="Its one type")
    qualities: list[Quality] = Field(description="The qualities that the text shows")


class DrawnInspirations(ModelReply, again="Give the same list again."):
    """The inspirations of one piece."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each inspiration write four lines that begin with QUOTES: (|| between two), TEXT:, "
        "TYPE: and QUALITIES: (commas between them), and leave one empty line before the next."
    )
    inspirations: list[DrawnInspiration] = Field(description="At most ten; none where the piece holds none")

    @classmethod
    def from_text(cls, text: str) -> Self:
        inspirations = [
            block
            | {
                "quotes": [one.strip() for one in block["quotes"].split(BARS.strip()) if one.strip()],
                "qualities": [one.strip() for one in block["qualities"].split(",") if one.strip()],
            }
            for block in blocks(text, quotes="QUOTES", text="TEXT", type="TYPE", qualities="QUALITIES")
        ]
        return cls.model_validate({"inspirations": inspirations})


@extracting
async def draw(material: Material, ask: Ask) -> Extracted:
    """The inspirations of an item's sources; every piece is asked about, and one that fails spoils the draft."""
    read = list(read_in_pieces(material))
    if not read:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    answers = [
        await ask(
            NAME,
            {
                "seminar": material.item.question,
                "place": f"piece {piece.number:,} of {len(read):,}",
                "transcript": piece.text,
            },
            DrawnInspirations,
            fenced=("seminar", "transcript"),
        )
        for _, piece in read
    ]
    units, flags = list[Inspiration](), list[str]()
    for (source, piece), answer in zip(read, answers, strict=True):
        inspirations: list[DrawnInspiration] = answer.needed().inspirations
        if len(inspirations) > MOST:
            cause = (
                f"The reply on piece {piece.number} has {len(inspirations):,} inspirations; "
                f"a piece gives at most {MOST}."
            )
            raise NoReply(replace(answer, status=Status.INVALID, cause=cause))
        flags += answer.flags
        units += (
            _unit(inspiration, source, piece) for inspiration in inspirations if inspiration.text.strip()
        )
    if not units:
        return Extracted(None, Status.UNCLEAR, "The model found no inspiration.", tuple(flags))
    flags += [QUOTE_MISSING] * any(unit.note or not unit.anchors for unit in units)
    return Extracted(Inspirations(units=tuple(units)), flags=tuple(dict.fromkeys(flags)))


def read_in_pieces(material: Material) -> Iterator[tuple[Source, Piece]]:
    """Every piece of the sources with text, numbered consecutively."""
    number = 0
    for source in with_text(material):
        for piece in pieces(source, material.piece_words):
            number += 1
            yield source, piece._replace(number=number)


def _unit(inspiration: DrawnInspiration, source: Source, piece: Piece) -> Inspiration:
    result = {quote: anchored([source], quote, piece.start) for quote in inspiration.quotes if quote.strip()}
    anchors = list(dict.fromkeys(anchor for anchor in result.values() if anchor is not None))
    return Inspiration(
        text=inspiration.text.strip(),
        type=inspiration.type,
        qualities=tuple(dict.fromkeys(inspiration.qualities)),
        piece=piece.number,
        anchor=anchors[0] if anchors else None,
        more_anchors=tuple(anchors[1:100]),
        note="\n".join(MISSING.format(quote) for quote, anchor in result.items() if anchor is None)[:20_000],
    )


_CUES: Mapping[InspirationType, re.Pattern[str]] = {
    kind: re.compile(pattern, re.IGNORECASE)
    for kind, pattern in (
        (InspirationType.HYPOTHESIS, r"\b(?:leads? to|causes?|because of|predicts?|hypothes\w+|would (?:increase|"
         r"reduce|improve)|the more\b.*\bthe (?:more|less)|depends? on)\b|导致|假设|预测"),
        (InspirationType.TRANSDISCIPLINARY, r"\b(?:appl(?:y|ies|ied) .{3,60} to|bridg\w+|borrow\w* from|another "
         r"field|other fields|interdisciplinary|combin\w+ .{3,60} with)\b|跨学科|借鉴"),
        (InspirationType.METHODOLOGY, r"\b(?:we (?:propose|introduce|develop\w*|built|designed)|new (?:method|"
         r"approach|framework|model|tool)|our (?:method|approach|framework))\b|提出|新方法"),
        (InspirationType.LIMITATION, r"\b(?:unsolved|open (?:problem|question)|bottleneck|lack of|limit\w*|nobody|"
         r"no one|still (?:not|no|unknown)|cannot|unclear|remains?)\b|瓶颈|缺乏|尚未|不足"),
    )
}  # fmt: skip
_LONGEST_MERGED = 100
# The speaker's name before a turn: no inspiration is attributed to a person.
_SPEAKER = re.compile(r"^[^\s:.][^:.\n]{0,40}:\s+", re.MULTILINE)


def baseline(material: Material) -> Extracted:
    """Sentences with cue words, by words alone; neighbours of one type become one inspiration of up to 100 words."""
    read = list(read_in_pieces(material))
    if not read:
        return Extracted(None, Status.SKIPPED, NO_SOURCE)
    cued = [unit for source, piece in read for unit in _cued(source, piece)[:MOST]]
    # A turn in two pieces belongs to the first.
    units = {unit.anchor: unit for unit in reversed(cued)}
    if not units:
        return Extracted(None, Status.UNCLEAR, "No sentence holds a cue word.")
    return Extracted(Inspirations(units=tuple(reversed(units.values()))))


def _cued(source: Source, piece: Piece) -> list[Inspiration]:
    """The spans of a piece whose sentences hold a cue word, joined if they follow one another."""
    spans: list[tuple[InspirationType, int, int, int]] = []
    places = [(a, b) for _, a, b in sentences([source]) if piece.start <= a and b <= piece.end]
    for place, (start, end) in enumerate(places):
        passage = source.text[start:end]
        kind = next((kind for kind, cue in _CUES.items() if cue.search(passage)), None)
        if kind is None:
            continue
        last = spans[-1] if spans else None
        if (
            last
            and (last[0], last[3]) == (kind, place - 1)
            and (word_count(source.text[last[1] : end]) <= _LONGEST_MERGED)
        ):
            spans[-1] = (kind, last[1], end, place)
        else:
            spans.append((kind, start, end, place))
    return [
        Inspiration(
            text=" ".join(_SPEAKER.sub("", source.text[start:end]).split()),
            type=kind,
            qualities=REQUIRED[kind],
            piece=piece.number,
            note="baseline: found by cue words",
            anchor=placed(source, start, end),
        )
        for kind, start, end, _ in spans
    ]


INSPIRATIONS_DRAWN = Extraction(
    name=NAME,
    title="Inspirations of a seminar",
    citation="DeepResearch Arena, MAHTG and appendix D",
    makes=Kind.INSPIRATIONS,
    prompts=(NAME,),
    extract=draw,
    baseline=baseline,
    departures=DEPARTURES,
)


# Tasks that a model writes from the inspirations of a seminar. DeepResearch Arena: task generation of MAHTG, and its
# prompt in appendix D. People accept those they confirm.

TASKS_NAME = "arena.tasks"
NO_INSPIRATIONS = "The item has no inspirations that you may see."
FEW, UNKNOWN = "task_count", "inspiration_unknown"
TASKS_DEPARTURES = (
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


class WrittenTasks(ModelReply, again="Give the same tasks again."):
    """The tasks of one piece."""

    TEXT_FORM: ClassVar[str] = (
        "Reply in plain text. For each task write five lines that begin with INSPIRATIONS: (commas between them), "
        "PHASE:, FAMILY:, DIFFICULTY: and TASK:, and leave one empty line before the next."
    )
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


@extracting
async def write(material: Material, ask: Ask) -> Extracted:
    """Tasks from the item's inspirations, piece by piece; a piece that fails spoils the draft."""
    pieces_named = {piece: by_letter(own, "i") for piece, own in _by_piece(material).items()}
    answers = [
        await ask(
            TASKS_NAME,
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
        for names in pieces_named.values()
    ]
    units, flags = list[Task](), list[str]()
    for (piece, names), answer in zip(pieces_named.items(), answers, strict=True):
        written: list[WrittenTask] = answer.needed().tasks
        if fault := _fault(written, piece):
            raise NoReply(replace(answer, status=Status.INVALID, cause=fault))
        flags += [*answer.flags, *[FEW] * (len(written) < COUNT[0])]
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
    if not units:
        return Extracted(None, Status.SKIPPED, NO_INSPIRATIONS)
    return Extracted(Tasks(units=tuple(units)), flags=tuple(dict.fromkeys(flags)))


def _by_piece(material: Material) -> dict[int | None, list[Inspiration]]:
    units = material.units(Kind.INSPIRATIONS)
    return grouped((unit.piece, unit) for unit in units if unit.text.strip())


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


def fixed_sentences(material: Material) -> Extracted:
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
    """A task of a family from an inspiration of its type, or of another if there is none."""
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
    name=TASKS_NAME,
    title="Tasks of a seminar",
    citation="DeepResearch Arena, MAHTG and appendix D",
    makes=Kind.TASKS,
    prompts=(TASKS_NAME,),
    extract=write,
    baseline=fixed_sentences,
    needs=(Kind.INSPIRATIONS,),
    sources=False,
    departures=TASKS_DEPARTURES,
)
