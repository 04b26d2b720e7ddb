"""What the answers look like: their words, icons, colours and keys, protocol by protocol in the order of the keys."""

from dataclasses import dataclass

from annotator.actions.labelling import labels
from annotator.actions.labelling.label_rows import UNSURE, USUAL
from annotator.domain.judges.judgement import Judgement, Status
from annotator.domain.judges.taxonomy import Taxonomy


@dataclass(frozen=True, slots=True)
class Face:
    """How an answer, or its absence, is shown. `state` is a colour of the theme, `hint` says what the answer means."""

    words: str
    icon: str
    state: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class Kept:
    """What is kept about a unit: its label, of what kind it is and by what that is asked, what was said of the
    unit when its words were others, and the file that the label came from where it was given elsewhere.
    """

    label: Judgement | None = None
    asked: Taxonomy | None = None
    kind: str = ""
    outdated: str = ""
    origin: str = ""


OPEN = Face("Open", "new", "missing")
WORDED_ANEW = Face("Worded anew", "author", "unconfirmed")
_UNSURE = Face("Unsure", "question", "unconfirmed", "You cannot decide: it counts as missing, never as a no")
_PAIR = {
    "first": Face("First", "left", "agreed", "The first report is better"),
    "second": Face("Second", "right", "agreed", "The second report is better"),
    "tie": Face("Tie", "minus", "incomplete", "You would be content with either"),
    UNSURE: _UNSURE,
}
FACES: dict[str, dict[str, Face]] = {
    "researcherbench.coverage": {
        "yes": Face("Met", "check", "agreed"),
        "no": Face("Not met", "cross", "disagree"),
        UNSURE: Face("Unsure", "question", "unconfirmed"),
    },
    "researcherbench.claims": {
        "yes": Face("Supported", "check", "agreed", "The page says what the claim says"),
        "no": Face(
            "Not supported", "cross", "disagree", "The page can be read, and does not say it or denies it"
        ),
        "unknown": Face(
            "Not known", "minus", "incomplete", "The page cannot tell: it has no words of its own"
        ),
        UNSURE: _UNSURE,
    },
    "researcherbench.pairwise": _PAIR,
    "adra.plan": {
        "relevant": Face("Relevant", "check", "agreed", "It does the work that the gold sub-task asks for"),
        "not": Face("Not relevant", "cross", "missing", "It does other work"),
        UNSURE: _UNSURE,
    },
    "adra.reasoning": {
        "true": Face("True", "check", "agreed", "Going by the report alone, it is true"),
        "false": Face("False", "cross", "disagree", "Going by the report alone, it is false"),
        "cannot-tell": Face(
            "Cannot tell", "minus", "incomplete", "The report is silent on it, or leaves it open"
        ),
        UNSURE: _UNSURE,
    },
    "adra.preference": _PAIR,
}
# The acts of the key table whose keys give answers, in the order of the answers.
ACTS = ("met", "not_met", "unsure", "fourth")


def said(label: Judgement | None) -> str:
    """What a label says: a value of the protocol, “unsure”, or nothing while it is open."""
    if label is None or label.status not in (Status.OK, Status.UNCLEAR):
        return ""
    return UNSURE if label.status is Status.UNCLEAR else label.value or ""


def is_flagged(label: Judgement | None) -> bool:
    """Whether a person flagged it themselves; other marks are the page's."""
    return label is not None and labels.FLAGGED in label.flags.split()


def faces(protocol: str) -> tuple[Face, ...]:
    """How the answers to a protocol's questions are shown, in the order of their keys; “unsure” is the last."""
    return tuple(FACES[protocol].values())


def answers(protocol: str) -> tuple[str, ...]:
    """The answers themselves, in the same order."""
    return tuple(FACES[protocol])


def face(value: str, protocol: str = USUAL) -> Face:
    """How an answer is shown; an open one where there is none."""
    return FACES[protocol].get(value, OPEN)
