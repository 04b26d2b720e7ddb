"""Pictures of a validation: every figure of judges and people on one axis, and what each rater confuses."""

from collections.abc import Iterable, Iterator
from functools import partial

from annotator.actions.results import result_pictures
from annotator.actions.sets.validation_figures import TITLES, Named
from annotator.actions.sets.validation_ground import PEOPLE, Rater
from annotator.actions.sheets.result_sheets import Picture
from annotator.actions.sheets.validation_cells import remark
from annotator.actions.validation.validation import ALL, Line, Validation
from annotator.domain.texts.estimate import Estimate

AXIS = "95 % interval over items; the band is people with one another"
FIRST = ("kappa", "accuracy")
# Hash signs that tell two wordings of one judge apart.
SIGNS = 4


def names(found: Validation) -> dict[str, str]:
    """Each rater by key: its name, with the first signs of its prompt where one judge judged by several."""
    raters = {line.rater.key: line.rater for line in found.lines}
    many = [rater.name for rater in raters.values()]
    return {key: _named(rater, many.count(rater.name) > 1) for key, rater in raters.items()}


def _named(rater: Rater, several: bool) -> str:
    return f"{rater.name} ({rater.prompt[:SIGNS]})" if several and rater.prompt else rater.name


def side(line: Line, weighted: bool) -> Named:
    """A line's figures, plainly or by weight."""
    return line.told.weighted if weighted else line.told.plain


def of_figures(found: Validation, weighted: bool) -> tuple[Picture, ...]:
    """A picture for each figure that anybody has, κ and accuracy first."""
    present = [name for name in TITLES if any(name in side(line, weighted) for line in found.lines)]
    ordered = sorted(present, key=lambda name: FIRST.index(name) if name in FIRST else len(FIRST))
    return tuple(_of_figure(found, name, weighted) for name in ordered)


def _of_figure(found: Validation, name: str, weighted: bool) -> Picture:
    called, sections = names(found), []
    for group, lines in by_group(found.lines):
        rated = [
            _rated(called[line.rater.key], side(line, weighted)[name], line.rater)
            for line in lines
            if name in side(line, weighted)
        ]
        human = next((side(line, weighted).get(name) for line in lines if line.rater.id == PEOPLE), None)
        sections.append(result_pictures.Section(group, _ordered(rated), human))
    words = f"{TITLES[name][0]}, by weight" if weighted else TITLES[name][0]
    apart = "" if found.wish.by == ALL else f", by {found.wish.by}"
    title = f"{words}: judges and people held against {found.against}{apart}"
    return Picture(
        name, f"{words}{apart}", partial(result_pictures.beside, title, sections, f"{words}: {AXIS}")
    )


def _rated(called: str, found: Estimate, rater: Rater) -> result_pictures.Rated:
    return result_pictures.Rated(called, found, rater.is_judge, remark(found))


def by_group(lines: Iterable[Line]) -> Iterator[tuple[str, list[Line]]]:
    """The lines of each group, in the order of the groups."""
    found: dict[str, list[Line]] = {}
    for line in lines:
        found.setdefault(line.group, []).append(line)
    yield from found.items()


def _ordered(rated: list[result_pictures.Rated]) -> list[result_pictures.Rated]:
    """Judges by height, then people as they stand."""
    judged = [one for one in rated if one.judge]
    judged.sort(key=lambda one: (one.estimate.value is None, -(one.estimate.value or 0.0), one.name))
    return [*judged, *(one for one in rated if not one.judge)]


def of_contrasts(found: Validation) -> tuple[Picture, ...]:
    """The differences of every two judges, figure by figure."""
    called, made = names(found), []
    for name in found.contrasts[0].gap.plain:
        rows = [
            (f"{called[one.first.key]} − {called[one.second.key]}", one.gap.plain[name])
            for one in found.contrasts
        ]
        title = f"{TITLES[name][0]}: the first judge less the second"
        axis = (
            f"Difference of {TITLES[name][0]}, 95 % interval over items; across 0 they are indistinguishable"
        )
        draw = partial(result_pictures.differences, title, rows, axis)
        made.append(Picture(f"gap/{name}", f"Difference of {TITLES[name][0]}", draw))
    return tuple(made)


def of_confusion(found: Validation) -> tuple[Picture, ...]:
    """The matrices of all raters side by side, group by group."""
    called = names(found)
    made = []
    for group, lines in by_group(found.lines):
        matrices = [(called[line.rater.key], line.told.confusion) for line in lines]
        apart = "" if group == ALL else f", {group}"
        title = f"Confusion{apart}: {found.against} down, what was said across"
        made.append(
            Picture(
                f"confusion/{group}", f"Confusion{apart}",
                partial(result_pictures.confusions, title, matrices, found.shape.values),
            )
        )  # fmt: skip
    return tuple(made)
