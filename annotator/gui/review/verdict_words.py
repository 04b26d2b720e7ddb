"""Judges, verdicts, costs and times in words, and the icon, colour and key of each verdict."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from annotator.actions.labelling.label_cases import scale_of
from annotator.actions.labelling.label_rows import FLAGGED, UNSURE
from annotator.domain.common import counted, local, usd
from annotator.domain.judges.judge import Judge, JudgeKind, Judgement, Status
from annotator.domain.judges.paper import Taxonomy
from annotator.domain.judges.protocol import ValueLook

KIND_WORDS = {
    JudgeKind.BASELINE: "Baseline",
    JudgeKind.ENDPOINT: "Endpoint",
    JudgeKind.DERIVED: "Vote",
}
STATUS_WORDS = {
    "unclear": "Unsure",
    "invalid": "Reply not readable",
    "refused": "Model refused",
    "filtered": "Blocked by a filter",
    "truncated": "Reply cut off",
    "too_long": "Report too long",
    "timeout": "No answer in time",
    "api_error": "Endpoint failed",
    "skipped": "Not judged",
    "not_needed": "Not needed",
    "reworded": "Reworded since",
    "not_asked": "Not asked",
    "not_done": "Not done",
}
FLAG_WORDS = {
    "quote_missing": "Quote not found",
    "identifier_missing": "Identifier not found",
    "title_missing": "Title not found",
    "injection": "Addresses the judge",
    "insight_count": "Unusual number",
}
STATE_LOOKS = {
    "done": ("check", "state-agreed"),
    "running": ("play", "accent"),
    "interrupted": ("warning", "state-unconfirmed"),
    "cancelled": ("stop", "state-missing"),
}


def kind_of(judge: Judge) -> str:
    return KIND_WORDS.get(judge.kind, str(judge.kind))


def with_network(judge: Judge) -> str:
    """A judge's name; the baseline's with a note that it uses no network."""
    return f"{judge.name} (no network)" if judge.kind == JudgeKind.BASELINE else judge.name


def value_words(protocol: str, value: str | None, status: str = "ok") -> str:
    """A verdict in the words of its protocol; if it is missing, the cause."""
    if value is None:
        return STATUS_WORDS.get(status, status.replace("_", " ").capitalize())
    return face(value, protocol).words


def value_look(protocol: str, value: str | None) -> tuple[str, str]:
    """A verdict's icon and colour; a missing one is grey, never in the colour of a no."""
    if value is None:
        return "question", "state-missing"
    shown = face(value, protocol)
    return shown.icon, f"state-{shown.state}"


def flag_words(flag: str) -> str:
    if flag.startswith("page_"):
        return f"Page: {flag.removeprefix('page_').replace('_', ' ')}"
    return FLAG_WORDS.get(flag, flag.replace("_", " ").capitalize())


def causes_words(missing: Mapping[str, int]) -> str:
    """The number of missing judgements by cause; empty if none is missing."""
    return ", ".join(f"{count:,} × {status_words(name)}" for name, count in missing.items())


def status_words(status: str) -> str:
    return STATUS_WORDS.get(status, status.replace("_", " ")).lower()


def doing(line: Mapping[str, Any], usual: str) -> str:
    """The activity in a run's line of progress: why it is paused, or `usual`."""
    return str(line.get("paused") or ("Paused; no further questions are sent" if line.get("held") else usual))


def spent(amount: float | None, calls: int, unpriced: int = 0) -> str:
    """The cost of calls; an unknown one is never shown as zero."""
    if not calls:
        return "–"
    if amount is None:
        return "not known"
    return f"≥ {usd(amount)}" if unpriced else usd(amount)


def spent_tip(amount: float | None, calls: int, unpriced: int) -> str:
    if not calls:
        return "No call was made."
    if amount is None:
        return f"{counted(calls, 'call')}, whose cost is not known."
    rest = (
        f" {counted(unpriced, 'more has', 'more have')} no known cost: no price, or no count of tokens."
        if unpriced
        else ""
    )
    return f"{usd(amount)} for {counted(calls - unpriced, 'call')}.{rest}"


def when(moment: datetime) -> str:
    return f"{local(moment):%Y-%m-%d %H:%M}"


def day(moment: datetime) -> str:
    return f"{local(moment):%d %b, %H:%M}"


@dataclass(frozen=True, slots=True)
class Face:
    """The look of an answer, or of a missing one.

    `icon` may be empty, `state` is a colour of the theme, `hint` explains the answer.
    """

    words: str
    icon: str
    state: str
    hint: str = ""


@dataclass(frozen=True, slots=True)
class UnitLabel:
    """A unit's label, with the taxonomy and the kind chosen from it; `outdated` is the label of an earlier wording,
    `origin` the file an imported label came from, and `more` the other taxonomies asked about, each with its answer.
    """

    label: Judgement | None = None
    taxonomy: Taxonomy | None = None
    kind: str = ""
    outdated: str = ""
    origin: str = ""
    more: tuple[tuple[Taxonomy, str], ...] = ()


OPEN = Face("Open", "new", "missing")
REWORDED = Face("Reworded", "author", "unconfirmed")
_UNSURE = Face(
    "Unsure", "question", "unconfirmed", "You cannot decide: it counts as missing, never as an answer"
)
# The icon and colour of each kind of value.
LOOKS: dict[ValueLook, tuple[str, str]] = {
    ValueLook.GOOD: ("check", "agreed"),
    ValueLook.BAD: ("cross", "disagree"),
    ValueLook.NEITHER: ("minus", "incomplete"),
    ValueLook.NONE: ("cross", "missing"),
    ValueLook.FIRST: ("left", "agreed"),
    ValueLook.SECOND: ("right", "agreed"),
    ValueLook.STEP: ("", "incomplete"),
}
# The acts whose keys give answers, in the order of the answers, and those not on the digits 1 to 9.
ACTS = ("met", "not_met", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth")
ZERO, OTHERS = "say_rest", ("ten", UNSURE)


def label_value(label: Judgement | None) -> str:
    """The answer of a label: a value of the protocol, “unsure”, or empty while it is open."""
    if label is None or label.status not in (Status.OK, Status.UNCLEAR):
        return ""
    return UNSURE if label.status is Status.UNCLEAR else label.value or ""


def is_flagged(label: Judgement | None) -> bool:
    """Whether a person flagged it; other flags are set by the page."""
    return label is not None and FLAGGED in label.flags.split()


def faces(protocol: str) -> tuple[Face, ...]:
    """The faces of a protocol's answers, in the order of their keys; “unsure” is the last."""
    return tuple(face(value, protocol) for value in answers(protocol))


def answers(protocol: str) -> tuple[str, ...]:
    return (*scale_of(protocol).best_first, UNSURE)


def places(protocol: str) -> dict[str, int]:
    """Act → the index of the answer its key gives: digits in order from the best answer, or for numbers the number's
    own digit; “unsure” has the same key everywhere.
    """
    known = answers(protocol)
    if not scale_of(protocol).of_numbers:
        return {act: place for place, act in enumerate(ACTS[: len(known) - 1])} | {UNSURE: len(known) - 1}
    named = {ZERO: "0", **dict(zip(ACTS, "123456789", strict=True)), "ten": "10", UNSURE: UNSURE}
    return {act: known.index(value) for act, value in named.items() if value in known}


def face(value_name: str, protocol: str) -> Face:
    """The face of an answer; that of an open one if `value_name` is empty."""
    if value_name == UNSURE:
        return _UNSURE
    value = scale_of(protocol).value(value_name)
    return Face(value.words, *LOOKS[value.look], value.hint) if value_name else OPEN
