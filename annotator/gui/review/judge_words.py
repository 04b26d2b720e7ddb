"""Judges, verdicts, money and times in words on the Judges page."""

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from annotator.domain.judges.judge import Judge, JudgeKind
from annotator.domain.texts.counting import counted, usd
from annotator.domain.texts.moments import local

if TYPE_CHECKING:
    from annotator.gui.review.verdicts import Face

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


def _face(value: str, protocol: str) -> "Face":
    # What shows a run alone need not load all of labelling.
    from annotator.gui.review.verdicts import face

    return face(value, protocol)


def value_words(protocol: str, value: str | None, status: str = "ok") -> str:
    """A verdict in the words of its protocol; the cause where there is none."""
    if value is None:
        return STATUS_WORDS.get(status, status.replace("_", " ").capitalize())
    return _face(value, protocol).words


def value_look(protocol: str, value: str | None) -> tuple[str, str]:
    """A verdict's icon and colour; missing is grey, never that of a no."""
    if value is None:
        return "question", "state-missing"
    shown = _face(value, protocol)
    return shown.icon, f"state-{shown.state}"


def flag_words(flag: str) -> str:
    if flag.startswith("page_"):
        return f"Page: {flag.removeprefix('page_').replace('_', ' ')}"
    return FLAG_WORDS.get(flag, flag.replace("_", " ").capitalize())


def causes_words(missing: Mapping[str, int]) -> str:
    """How many did not come for which cause; empty when all came."""
    return ", ".join(f"{count:,} × {status_words(name)}" for name, count in missing.items())


def status_words(status: str) -> str:
    return STATUS_WORDS.get(status, status.replace("_", " ")).lower()


def doing(line: Mapping[str, Any], usual: str) -> str:
    """What a run does by a line of its progress: why it stands still, or what it `usual`ly does."""
    return str(line.get("paused") or ("Paused; no further questions are sent" if line.get("held") else usual))


def spent(amount: float | None, calls: int, unpriced: int = 0) -> str:
    """What calls have cost; what nobody knows is never said to be nothing."""
    if not calls:
        return "–"
    if amount is None:
        return "not known"
    return f"≥ {usd(amount)}" if unpriced else usd(amount)


def spent_tip(amount: float | None, calls: int, unpriced: int) -> str:
    """The same in a sentence."""
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
