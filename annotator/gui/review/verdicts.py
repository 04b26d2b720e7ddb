"""Words, icons, colours and keys of the answers."""

from dataclasses import dataclass

from annotator.actions.labelling.label_cases import scale_of
from annotator.actions.labelling.label_rows import FLAGGED, UNSURE
from annotator.domain.judges.judgement import Judgement, Status
from annotator.domain.judges.scale import ValueLook
from annotator.domain.judges.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Face:
    """The look of an answer, or of a missing one.

    `icon` may be empty, `state` is a colour of the theme, `hint` says what the answer means.
    """

    words: str
    icon: str
    state: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class UnitLabel:
    """What is kept about a unit: its label, of what kind it is and by what that is asked, what was said of the
    unit when its words were others, and the file that the label came from where it was given elsewhere. `more` is what
    else is asked beside the label, each with what was said.
    """

    label: Judgement | None = None
    asked: Taxonomy | None = None
    kind: str = ""
    outdated: str = ""
    origin: str = ""
    more: tuple[tuple[Taxonomy, str], ...] = ()


OPEN = Face("Open", "new", "missing")
REWORDED = Face("Reworded", "author", "unconfirmed")
_UNSURE = Face(
    "Unsure", "question", "unconfirmed", "You cannot decide: it counts as missing, never as an answer"
)
# What a value stands for → its icon and its colour.
LOOKS: dict[ValueLook, tuple[str, str]] = {
    ValueLook.GOOD: ("check", "agreed"),
    ValueLook.BAD: ("cross", "disagree"),
    ValueLook.NEITHER: ("minus", "incomplete"),
    ValueLook.NONE: ("cross", "missing"),
    ValueLook.FIRST: ("left", "agreed"),
    ValueLook.SECOND: ("right", "agreed"),
    ValueLook.STEP: ("", "incomplete"),
}
# The acts of the key table whose keys give answers, in the order of the answers, and those beside the digits.
ACTS = ("met", "not_met", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
ZERO, OTHERS = "say_rest", ("ten", UNSURE)


def said(label: Judgement | None) -> str:
    """What a label says: a value of the protocol, “unsure”, or nothing while it is open."""
    if label is None or label.status not in (Status.OK, Status.UNCLEAR):
        return ""
    return UNSURE if label.status is Status.UNCLEAR else label.value or ""


def is_flagged(label: Judgement | None) -> bool:
    """Whether a person flagged it themselves; other marks are the page's."""
    return label is not None and FLAGGED in label.flags.split()


def faces(protocol: str) -> tuple[Face, ...]:
    """How the answers to a protocol's questions are shown, in the order of their keys; “unsure” is the last."""
    return tuple(face(value, protocol) for value in answers(protocol))


def answers(protocol: str) -> tuple[str, ...]:
    return (*scale_of(protocol).best_first, UNSURE)


def places(protocol: str) -> dict[str, int]:
    """Act → the place of the answer that its key gives: digit by digit from the best, of numbers each by its
    own digit; unsure is one key everywhere.
    """
    known = answers(protocol)
    if not scale_of(protocol).of_numbers:
        return {act: place for place, act in enumerate(ACTS[: len(known) - 1])} | {UNSURE: len(known) - 1}
    named = {ZERO: "0", **dict(zip(ACTS, "123456789", strict=True)), "ten": "10", UNSURE: UNSURE}
    return {act: known.index(value) for act, value in named.items() if value in known}


def face(said: str, protocol: str) -> Face:
    """How an answer is shown; an open one where there is none."""
    if said == UNSURE:
        return _UNSURE
    value = scale_of(protocol).value(said)
    return Face(value.words, *LOOKS[value.look], value.hint) if said else OPEN
