"""How a validity card is set out in a table: the main figures, with what they stand on."""

from annotator.actions.sheets.result_sheets import Line, Sheet, columns, figure, percent, text
from annotator.domain.judges.validity_card import Figure, ValidityCard
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate

MAIN = ("kappa", "ac1", "accuracy", "precision", "recall", "f1")


def brief(card: ValidityCard) -> Sheet:
    """What fits a terminal: the judge beside people, plainly and by weight."""
    titles = {one.name: (one.title, one.words) for one in card.definitions}
    heads = columns(
        "Figure", "Judge", "People", ("Judge, by weight", "Each unit counts its weight"), "People, by weight"
    )
    judge, people = card.of("judge"), card.of("people")
    lines = tuple(
        Line((
            text(titles[name][0], titles[name][1]),
            *(
                figure(_estimate(getattr(line, side).get(name) if line else None))
                for side in ("plain", "weighted") for line in (judge, people)
            ),
        ))
        for name in MAIN if name in titles
    )  # fmt: skip
    return Sheet(f"Card of “{card.name}”", heads, lines, _told(card))


def _estimate(found: Figure | None) -> Estimate:
    return (
        Estimate(None, note="nobody to be held against") if found is None else Estimate(**found.model_dump())
    )


def _told(card: ValidityCard) -> tuple[str, ...]:
    judge, labels = card.of("judge"), card.labels
    where = f"“{labels.set_name}”, {labels.part} part" if labels.set_name else "all submitted labels"
    said = [
        f"{card.protocol_title}: held against {labels.against} on {where}, {counted(labels.units, 'unit')} of "
        f"{counted(labels.items, 'item')}."
    ]
    if labels.set_name:
        said.append(f"The test part was looked at {counted(len(labels.opened_at), 'time')}.")
    if judge is not None and judge.missing_rate is not None:
        said.append(f"{percent(judge.missing_rate, 1)} of its verdicts are missing.")
    if card.unfit:
        said.append("Not publishable: too many verdicts are missing.")
    return (*said, f"SHA-256 {card.sha256}")
