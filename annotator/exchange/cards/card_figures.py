"""Validity card page: the judge compared with people, overall and group by group."""

from collections.abc import Iterator
from itertools import groupby

from annotator.domain.judges.validity_card import Figure, Line, ValidityCard
from annotator.domain.texts.counting import counted
from annotator.exchange.cards.card_parts import Reasons, cell, listed, plain, say, table

GROUPS = {
    "type": "By question type",
    "weight": "By weight",
    "system": "By system",
    "length": "By length of the report, in quarters from the shortest",
}
# So many figures stand side by side that their titles have no room.
SHORT = {
    "accuracy": "Acc.", "precision": "Prec.", "recall": "Rec.", "f1": "F1", "specificity": "Spec.",
    "balanced_accuracy": "Bal. acc.", "kappa": "κ", "ac1": "AC1", "mcc": "MCC",
}  # fmt: skip
ALIKE = "; "


def figures(card: ValidityCard) -> str:
    """Every figure of the judge and of people, each counting units alike and by weight, with what it is."""
    judge, people = card.of("judge"), card.of("people")
    if judge is None:
        return "<p>There are no figures.</p>\n"
    reasons, rows = Reasons(), []
    for one in card.definitions:
        cells = [plain(one.title)]
        for side in ("plain", "weighted"):
            for line in (judge, people):
                figure = getattr(line, side).get(one.name) if line else None
                cells.append(cell(figure, reasons, count=True))
        rows.append(cells)
    heads = ("Figure", "Judge", "People", "Judge, by weight", "People, by weight")
    about = f", “{card.positive}” being positive" if card.positive else ""
    told = f"<p>Compared with {say(card.labels.against)}{plain(about)}. People: everybody against everybody else.</p>\n"
    persons = [line for line in card.lines if line.who == "person"]
    return (
        told + table(heads, rows, "The judge beside people") + reasons.html() + _meant(card, judge)
        + _lines("Each person beside the others", persons, card)
    )  # fmt: skip


def _meant(card: ValidityCard, judge: Line) -> str:
    """What each figure is and how its interval came about; what holds of all of them is said once."""
    there = [one for one in card.definitions if one.name in judge.plain]
    how = {judge.plain[one.name].method.partition(ALIKE)[2] for one in there}
    shared = how.pop() if len(how) == 1 else ""
    said = [f"{one.title}: {one.words}." for one in there]
    if not shared:
        methods = (judge.plain[one.name].method for one in there)
        said = [f"{one} {method}.".removesuffix(" .") for one, method in zip(said, methods, strict=True)]
    return listed([*said, f"Intervals of all of these: {shared}."] if shared else said)


def confusion(card: ValidityCard) -> str:
    """True values against what the judge says."""
    judge = card.of("judge")
    if judge is None or not judge.confusion:
        return ""
    there = {(one.truth, one.said): one for one in judge.confusion}
    values = card.judge.values
    rows = [
        [plain(true), *(_confused(there[true, said].units, there[true, said].weight) for said in values)]
        for true in values
        if all((true, said) in there for said in values)
    ]
    heads = ("By people", *(plain(f"Judge: {said}") for said in values))
    return "<h3>What is taken for what: units, and what they weigh</h3>\n" + table(heads, rows, "Confusion")


def _confused(units: float, weight: float) -> str:
    return f"{units:,.0f}<br><small>{weight:,g}</small>"


def groups(card: ValidityCard) -> Iterator[str]:
    """The same by type, weight, system and length."""
    for by, title in GROUPS.items():
        lines = [line for line in card.lines if line.by == by]
        yield _lines(title, lines, card, weighted=by != "weight")


def _lines(title: str, lines: list[Line], card: ValidityCard, *, weighted: bool = True) -> str:
    """Lines with all their figures, each below itself by weight."""
    if not lines:
        return ""
    shown = [one for one in card.definitions if any(one.name in line.plain for line in lines)]
    reasons = Reasons()
    names = [one.name for one in shown]
    sides = ("plain", "weighted") if weighted else ("plain",)
    rows: list[list[str]] = []
    for group, of_group in groupby(lines, key=_of):
        rows.append([group])
        rows += [_row(line, side, names, reasons) for line in of_group for side in sides]
    heads = ("Who", *(plain(SHORT.get(one.name, one.title)) for one in shown))
    return f"<h3>{plain(title)}</h3>\n" + table(heads, rows, title) + reasons.html()


def _row(line: Line, side: str, names: list[str], reasons: Reasons) -> list[str]:
    found: dict[str, Figure] = getattr(line, side)
    who = "units alike" if line.who == "person" else line.who
    if side == "weighted":
        first = "by weight" if line.who == "person" else f"{who}, by weight"
    else:
        first = f"{who}<br><small>{plain(_counts(line))}</small>"
    return [first, *(cell(found.get(name), reasons, places=2) for name in names)]


def _of(line: Line) -> str:
    """What a line is about: a group or a person, with how many units have a true value."""
    name = line.name if line.who == "person" else line.group
    return f"{say(name)} <small>{plain(counted(line.units, 'unit'))}</small>"


def _counts(line: Line) -> str:
    n = next((f"n\u00a0{found.n:,}" for found in line.plain.values()), "")
    return n + (f", {sum(line.missing.values()):,} missing" if line.who == "judge" else "")
