"""What a paper publishes of agreement, beside the agreement that judges and people reach here."""

from collections.abc import Iterator
from itertools import groupby

from annotator.actions.results.result_sheets import ResultSheet, SheetLine, columns, count, text
from annotator.actions.sets.validation_figures import TITLES, told
from annotator.actions.sets.validation_ground import PEOPLE
from annotator.actions.sets.validation_units import ALL
from annotator.actions.validation.validation import RaterFigures, Validation
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.published import Aim
from annotator.domain.texts.estimate import Estimate

NOT_HERE = Estimate(None, note="Nothing to compare with here.")


def words(shape: Protocol) -> str:
    """What is published of agreement under a protocol, in a sentence."""
    if not shape.aims:
        return (
            f"No published aim: no agreement with people is printed for “{shape.title}” ({shape.citation})."
        )
    each = (
        f"{', '.join(f'{TITLES[one.figure][0]} {one.value:.2f}' for one in those)} of {whose} ({place})"
        for (whose, place), those in groupby(shape.aims, lambda one: (one.whose, one.place))
    )
    return f"Published aim: {'; '.join(each)}."


def sheet(found: Validation) -> ResultSheet:
    """A line for each published figure and the person who it is an aim for, where figures are not broken down."""
    heads = columns(
        ("figure", "Figure"), ("published_for", "Published for", "Between whom the published agreement is"),
        ("published", "Published"), ("place", "Place", "Where the paper prints it"),
        ("rater", "Rater", "Who is measured against it here"),
        ("here", "Here", "The same figure on the labels of this project"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(TITLES[aim.figure][0], tip=TITLES[aim.figure][1]), text(aim.whose), count(aim.value, form=".2f"),
            text(aim.place), text(name), told(here),
        ))
        for aim in found.shape.aims if found.query.by == ALL for name, here in _reached(found, aim)
    )  # fmt: skip
    return ResultSheet("aims", "Published aim", heads, lines)


def _reached(found: Validation, aim: Aim) -> Iterator[tuple[str, Estimate]]:
    there = [line for line in found.lines if _is_for(aim, line)]
    for line in there:
        yield line.rater.name, line.told.plain.get(aim.figure, NOT_HERE)
    if not there:
        yield "–", NOT_HERE


def _is_for(aim: Aim, line: RaterFigures) -> bool:
    return line.rater.is_judge if aim.judge else line.rater.id == PEOPLE
