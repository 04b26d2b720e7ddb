"""Qt model of pairs of judges: shared units and agreement."""

from collections.abc import Sequence

from annotator.actions.agreement import agreement_words as words
from annotator.actions.validation.judge_comparing import ComparedRater, JudgeComparison, RaterPair
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import of_items
from annotator.gui.tables.cells import Column


def whose(rater: ComparedRater) -> str:
    """A rater by name, the baseline as the floor that it is."""
    return f"{rater.name} (a floor)" if rater.baseline else rater.name


def second(one: RaterPair) -> str:
    """Whom the first of a pairing is compared with."""
    return "one another" if one.a is one.b else whose(one.b)


def _figure(name: str, head: str, width: int) -> Column[RaterPair]:
    def tip(one: RaterPair) -> str:
        found = one.figure(name)
        parts = [words.reason(found), f"n = {found.n:,}", of_items(found.method), *words.remarks(found)]
        return "\n".join(part for part in parts if part)

    return Column(head, lambda one: words.number(one.figure(name)), width, tip=tip, about=words.ABOUT[name])


WHO: Sequence[Column[RaterPair]] = (
    Column("Who", lambda one: whose(one.a), 140),
    Column("With", second, 140),
    Column(
        "Units",
        lambda one: f"{one.units:,}",
        62,
        number=True,
        about="Units that both judged, at the first trial.",
    ),
)
PAIRINGS: Sequence[Column[RaterPair]] = (
    *WHO,
    _figure("agreement", "Agreement [95 %]", 172),
    _figure("kappa", "κ [95 %]", 142),
    _figure("ac1", "AC1 [95 %]", 142),
)


def pairings(found: Sequence[RaterPair]) -> Sequence[Column[RaterPair]]:
    """The columns of these pairings: the figures that fit the values that were given."""
    if not found or any(each.name == "kappa" for each in found[0].figures):
        return PAIRINGS
    names = [each.name for each in found[0].figures]
    return (*WHO, *(_figure(name, f"{words.TITLES[name]} [95 %]", 142) for name in names))


def account(one: RaterPair, comparison: JudgeComparison) -> str:
    """What the figures of a pairing stand on, and what must be known of them."""
    said = [
        f"{counted(one.units, 'unit')} that both judged"
        + (f", {counted(one.pairs, 'pair')} of values" if one.pairs != one.units else "")
    ]
    if comparison.shared is not None:
        said.append(
            f"{counted(comparison.shared, 'unit was', 'units were')} judged by all that are ticked; nothing else counts"
        )
    found = next(each for name in words.MAIN for each in one.figures if each.name == name)
    said += [*filter(None, [words.reason(found)]), *words.remarks(found)]
    if one.a.baseline or one.b.baseline:
        said.append("the baseline is a floor, not a judge")
    return " ".join(
        f"{part[:1].upper() if part[0].isascii() else part[0]}{part[1:]}." for part in said if part
    )
