"""Validity card page: missing verdicts, reviews, corrected scores, attacks."""

from annotator.domain.judges.validity_card import Corrected, Reviews, ValidityCard
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import decimal
from annotator.exchange.cards.card_parts import (
    Reasons,
    brief,
    cell,
    dollars,
    facts,
    listed,
    lost,
    plain,
    say,
    table,
)


def missing(card: ValidityCard) -> str:
    """What is missing, by cause, and what a question costs."""
    judge = card.of("judge")
    rows = [
        (
            plain(cause.replace("_", " ")),
            f"{many:,}",
            f"{100 * many / max(1, judge.units if judge else 1):.1f} %",
        )
        for cause, many in (judge.missing.items() if judge else ())
    ]
    told = f"<p>Missing: {plain(lost(card))}</p>\n<p>Cost per question: {dollars(card.cost)}</p>\n"
    return told + (table(("Cause", "Units", "Share"), rows, "Missing by cause") if rows else "")


def reviews(found: Reviews | None) -> str:
    """What experts said of verdicts that they saw."""
    if found is None:
        return "<p>Nobody reviewed its verdicts.</p>\n"
    faults = ", ".join(f"{reason} {many:,}" for reason, many in found.reasons.items())
    rows = [
        ("Accepted", brief(found.accepted)),
        ("Said", plain(", ".join(f"{said} {many:,}" for said, many in sorted(found.said.items())))),
        ("Faults", plain(faults)),
        ("Outdated", plain(counted(found.outdated, "review")) if found.outdated else ""),
    ]
    told = "<p>Experts saw the verdict, its reasons and its quote.</p>\n"
    return told + facts(rows, "Reviews")


def corrected(found: Corrected) -> str:
    """Scores, raw and corrected."""
    reasons = Reasons()
    rows = [
        (
            say(one.system), cell(one.raw, reasons), cell(one.corrected, reasons),
            "–" if one.tuning is None else decimal(one.tuning, 2), f"{one.labels:,} of {one.units:,}",
        )
        for one in found.systems
    ]  # fmt: skip
    heads = ("System", "Coverage by the judge", "Corrected", "λ", "Labelled units")
    shown = table(heads, rows, "Corrected scores") + reasons.html() if rows else ""
    return shown + listed(found.notes)


def attacks(card: ValidityCard) -> str:
    """How often it fell for attacks, where it was put to any."""
    if not card.attacks:
        return "<p>This card tells of no attack.</p>\n"
    reasons = Reasons()
    rows = [
        (say(one.title), cell(one.failures, reasons, count=True), say(one.note) if one.note else "")
        for one in card.attacks
    ]
    return table(("Attack", "Share it fell for", "Note"), rows, "Attacks") + reasons.html()
