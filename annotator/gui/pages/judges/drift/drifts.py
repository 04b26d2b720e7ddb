"""Qt models of drift checks: judges, checks, changed verdicts."""

from collections.abc import Sequence
from datetime import datetime

from annotator.actions.agreement import agreement_words
from annotator.actions.judging.drift import DriftStatus, TurnedVerdict
from annotator.actions.judging.drift_reports import TRAITS, DriftReport
from annotator.actions.judging.judge_offers import title
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, decimal, interval, of_items
from annotator.gui.review.judge_words import causes_words, day, value_look, value_words, when
from annotator.gui.tables.cells import Column

AGREEMENT = (
    "Share of anchored verdicts that stayed the same, of those that arrived, with Wilson's 95 % interval over items. "
    "Even an unchanged judge does not always repeat itself: compare with its flip rate over repeated trials before "
    "calling it drift."
)


def share(found: Estimate) -> str:
    """A share in per cent with its interval; “–” where it is undefined."""
    if found.value is None:
        return "–"
    return f"{100 * found.value:.1f} % {interval(found, lambda bound: decimal(100 * bound, 1))}".rstrip()


def kappa(found: Estimate) -> str:
    """κ with its interval; “–” where it is undefined."""
    if found.value is None:
        return "–"
    return f"{decimal(found.value, 2)} {interval(found, lambda bound: decimal(bound, 2))}".rstrip()


def explained(found: Estimate) -> str:
    """What a figure is based on: its n, its method, and why there is none or what else must be known."""
    parts = (f"n = {found.n:,}", found.method, found.note)
    return "\n".join(of_items(part) for part in parts if part)


def at(moment: str) -> datetime:
    """A moment as it is kept with a check."""
    return datetime.fromisoformat(moment)


def _last(one: DriftStatus) -> str:
    if one.stopped is not None:
        return f"stopped at {one.stopped.done:,} of {one.stopped.total:,}"
    return day(at(one.last.checked_at)) if one.last else "–"


def _changes_look(check: DriftReport | None) -> tuple[str, str] | None:
    if check is None:
        return None
    if check.changed or check.differences:
        return "warning", "state-unconfirmed"
    return ("check", "state-agreed") if check.compared else ("minus", "state-missing")


def changes(check: DriftReport) -> str:
    """How many verdicts changed, of how many that came again."""
    return f"{len(check.changed):,} of {check.compared:,}"


STANDINGS: Sequence[Column[DriftStatus]] = (
    Column("Judge", lambda one: one.judge, 110),
    Column("What it judged", lambda one: title(one.protocol), 124, firm=True),
    Column(
        "Frozen",
        lambda one: f"{one.frozen:,}" if one.frozen_at else "none",
        62,
        firm=True,
        tip=lambda one: (
            f"{counted(one.frozen, 'verdict')}, frozen on {when(one.frozen_at)}"
            if one.frozen_at
            else f"Not frozen yet: {counted(one.verdicts, 'verdict')}."
        ),
        number=True,
        about="Verdicts of the anchor set used for the check.",
    ),
    Column("Last check", _last, 100, firm=True),
    Column(
        "Changed",
        lambda one: changes(one.last) if one.last else "–",
        84,
        firm=True,
        look=lambda one: _changes_look(one.last),
        number=True,
        about="Verdicts that differed at the last check against the current anchor set.",
    ),
)


def _else(check: DriftReport) -> str:
    return ", ".join(TRAITS[name].removeprefix("the ") for name in check.differences) or "nothing"


def _else_tip(check: DriftReport) -> str:
    same = "The same model, fingerprint, prompt and parameters, where reported."
    return "\n".join(differences(check)) or same


def differences(check: DriftReport) -> list[str]:
    """What else is another than when the set was frozen, each in a sentence."""
    return [
        f"Changed: {TRAITS[name]}, now {_listed(now)}, before {_listed(before)}."
        for name, (before, now) in check.differences.items()
    ]


def _listed(seen: Sequence[str]) -> str:
    return ", ".join(one if len(one) < 60 else f"{one[:12]}…" for one in seen)


CHECKS: Sequence[Column[DriftReport]] = (
    Column(
        "Checked",
        lambda one: day(at(one.checked_at)),
        98,
        tip=lambda one: when(at(one.checked_at)),
        firm=True,
    ),
    Column("Changed", changes, 84, look=_changes_look, number=True, about="Of those that arrived."),
    Column(
        "The same [95 %]",
        lambda one: share(one.agreement),
        164,
        firm=True,
        tip=lambda one: explained(one.agreement),
        about=AGREEMENT,
    ),
    Column(
        "κ",
        lambda one: kappa(one.kappa).partition(" [")[0],
        48,
        tip=lambda one: f"{kappa(one.kappa)}\n{explained(one.kappa)}",
        number=True,
        about=agreement_words.ABOUT["kappa"],
    ),
    Column(
        "Missing",
        lambda one: f"{one.units - one.compared:,}",
        62,
        tip=lambda one: causes_words(one.missing) or "All were judged again.",
        look=lambda one: ("warning", "state-unconfirmed") if one.missing else None,
        number=True,
        about="Anchored units without a verdict now. They count neither as changed nor as the same.",
    ),
    Column(
        "Else", _else, 120, tip=_else_tip, about="Other changes at the endpoint, as far as it reports them."
    ),
)
CHANGED: Sequence[Column[TurnedVerdict]] = (
    Column("Item", lambda one: one.changed.item, 48, fitted=True),
    Column("System", lambda one: one.changed.system, 104),
    Column("Asked about", lambda one: one.unit or one.changed.unit_id, 200),
    Column(
        "Then",
        lambda one: value_words(one.protocol, one.changed.before),
        84,
        look=lambda one: value_look(one.protocol, one.changed.before),
    ),
    Column(
        "Now",
        lambda one: value_words(one.protocol, one.changed.after),
        84,
        look=lambda one: value_look(one.protocol, one.changed.after),
    ),
    Column(
        "Since",
        lambda one: day(one.since),
        98,
        tip=lambda one: f"First seen at the check of {when(one.since)}.",
        firm=True,
        about="First check with the current verdict.",
    ),
)


def account(check: DriftReport, *, stands: bool) -> str:
    """A check in sentences: how many came, since when they are compared, what is missing and what else changed."""
    frozen = when(at(check.anchored_at))
    said = [
        f"{check.compared:,} of {counted(check.units, 'anchored unit')} judged again, compared with the set frozen on "
        f"{frozen}{'' if stands else ', in whose place there is another now'}."
    ]
    if check.agreement.value is None:
        said.append(f"Agreement is undefined: {of_items(check.agreement.note)}.")
    elif check.kappa.value is None:
        said.append(f"κ is undefined: {of_items(check.kappa.note.partition('; ')[0])}.")
    else:
        said.append(f"κ is {kappa(check.kappa)}.")
    if check.missing:
        said.append(f"Without a verdict now: {causes_words(check.missing)}.")
    said += differences(check)
    if not check.differences and check.compared:
        said.append("No other changes at the endpoint are known.")
    return " ".join(said)
