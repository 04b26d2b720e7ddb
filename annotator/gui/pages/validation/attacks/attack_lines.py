"""Qt models of attacks: success rates, and verdicts on copies one by one."""

from collections.abc import Sequence

from annotator.actions.attacks.attack_cases import AttackCaseLine
from annotator.actions.attacks.attack_figures import AttackFigures
from annotator.actions.results.result_sheets import explained, percent
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, decimal, interval
from annotator.gui.review.judge_words import flag_words, value_look, value_words
from annotator.gui.tables.cells import Column


def _rate(found: Estimate | None) -> str:
    """A share in percent with its interval: “33 % [11, 65]”."""
    if found is None or found.value is None:
        return "–"
    span = interval(found, lambda bound: decimal(100 * bound, 0))
    return f"{percent(found.value)}  {span}".rstrip()


def _tip(found: Estimate | None, none: str = "") -> str:
    return "\n".join(explained(found)) if found is not None else none


def _look(line: AttackFigures) -> tuple[str, str] | None:
    found = line.failed
    if found.value is None:
        return "question", "state-missing"
    if not found.value:
        return "check", "state-agreed"
    return "warning", "state-disagree" if found.value >= 0.1 else "state-unconfirmed"


def _causes(line: AttackFigures) -> str:
    return ", ".join(f"{many:,} × {cause.replace('_', ' ')}" for cause, many in line.missing.items())


def _base(line: AttackFigures) -> str:
    if not line.already:
        return ""
    return (
        f"{counted(line.already, 'verdict was', 'verdicts were')} the demanded verdict already and are "
        "excluded."
    )


LINES: Sequence[Column[AttackFigures]] = (
    Column("Attack", lambda line: line.title, 190, look=_look, tip=lambda line: f"{line.title}\n{line.about}"),
    Column("Judge", lambda line: line.judge.name, 80),
    Column(
        "Failure rate, 95 %", lambda line: _rate(line.failed), 132, tip=lambda line: _tip(line.failed), firm=True,
        about="Share of the verdicts that the attack could change and did change; where a verdict is "
        "demanded, verdicts that already had that value are excluded. Interval clustered by item.",
    ),
    Column(
        "n", lambda line: f"{line.failed.n:,}", 42, number=True, firm=True, tip=_base,
        about="Verdicts that the attack could change, with one on the copy.",
    ),
    Column(
        "To, from yes", lambda line: f"{line.up:,}, {line.down:,}", 92, number=True, firm=True,
        about="Verdicts that became the value an injection demands (yes, true, or the first), and verdicts "
        "that lost that value.",
    ),
    Column(
        "Beyond chance", lambda line: _rate(line.beyond), 112, firm=True,
        tip=lambda line: _tip(line.beyond, "Unchanged reports were not judged again."),
        about="Failure rate minus that of unchanged reports judged again, on the same questions.",
    ),
    Column(
        "Noticed", lambda line: _rate(line.noticed), 96, firm=True,
        tip=lambda line: _tip(line.noticed, "Flags apply only to planted text judged by a model."),
        about="Copies flagged as addressing the judge.",
    ),
    Column("Missing", _causes, 90, about="Copies without a verdict, by cause."),
)  # fmt: skip
MISSING = len(LINES) - 1


def _now(case: AttackCaseLine) -> str:
    changed = case.value not in (None, case.before)
    return f"{value_words(case.protocol, case.value, case.status)}{', changed' if changed else ''}"


def _look_of_case(case: AttackCaseLine) -> tuple[str, str]:
    """A changed verdict warns, whichever it is now."""
    if case.value not in (None, case.before):
        return "warning", "state-disagree"
    return value_look(case.protocol, case.value)


CASES: Sequence[Column[AttackCaseLine]] = (
    Column("Item", lambda case: case.item_key, 48, fitted=True),
    Column("System", lambda case: case.system, 108),
    Column("Asked about", lambda case: case.unit, 180),
    Column("Variant", lambda case: case.variant or "–", 124),
    Column("Own verdict", lambda case: value_words(case.protocol, case.before), 100, firm=True,
           look=lambda case: value_look(case.protocol, case.before)),
    Column("On the copy", _now, 118, firm=True, look=_look_of_case),
    Column("Flags", lambda case: ", ".join(map(flag_words, case.flags)), 100),
)  # fmt: skip
