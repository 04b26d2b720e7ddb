"""Agreement as tables: a row for each group and field, a column for each figure."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from annotator.actions.agreement import agreement_figures, agreement_report, assisted
from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_figures import FigureRow
from annotator.actions.agreement.agreement_groups import BY
from annotator.actions.agreement.agreement_inputs import refuse_others
from annotator.actions.agreement.agreement_report import (
    BY_ADJUDICATOR,
    BY_MODEL,
    AgreementReport,
    SecondFigures,
)
from annotator.actions.project.file import Project
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetColumn,
    SheetLine,
    SheetPicture,
    ViewChoice,
    count,
    text,
)
from annotator.domain.experts.agreement import Figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.texts.estimate import of_items

SECTIONS = (
    ("rows", "Between raters"),
    ("self_agreement", "With themselves"),
    ("first_votes", "Seniors' first votes"),
)
# No row has two of these, so that they share a column where several are shown.
RARE = ("jaccard", "order_tau", "pearson")
STAGE = SheetColumn("stage", "Stage", "Stage that was written or judged")
FIELD = SheetColumn(
    "field",
    "Compared",
    "Basis of comparison: whether raters have the same units, or a field of matched units",
)
N = SheetColumn("n", "n", "Pairs of values given by both raters; number of items where units are compared")
ITEMS = SheetColumn("items", "Items", "Number of items behind the figures")
ALSO = SheetColumn("also", "Also", "Overlap of references, order of sub-tasks, or correlation of ratings")
SECONDS = {
    BY_ADJUDICATOR: SheetColumn(
        BY_ADJUDICATOR,
        "By the adjudicator's pairing",
        "A second figure, over adjudicated items, with units paired by the adjudicator. It never replaces "
        "the frozen one.",
    ),
    BY_MODEL: SheetColumn(
        BY_MODEL,
        "Model-assisted",
        "A second figure, over items with a judge's reply, with units paired by meaning by a model after "
        "the figures were frozen. It never replaces the frozen one.",
    ),
}
GROUPINGS = dict(
    zip(
        BY,
        ("Stage", "Pair of raters", "Person", "Criterion", "Item", "Week", "Guideline version"),
        strict=True,
    )
)
HEADS = {
    "stage": "Stage",
    "pair": "Raters",
    "person": "Rater",
    "criterion": "Criterion",
    "item": "Item",
    "week": "Week frozen",
    "guideline": "Guideline",
    agreement_figures.SELF: "Rater",
    agreement_report.VOTES: "Stage",
}
ASSISTED = (
    "A judge with an endpoint pairs units by meaning; these figures are reported separately. No call is "
    "made until you start it."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class RowLine(SheetLine):
    """A line of the table, with its row of figures."""

    report: AgreementReport
    row: FigureRow


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """What figures are grouped by, of which stage they are, and who pairs by meaning beside the fixed matcher.

    Refusal for anyone who does not coordinate.
    """
    refuse_others(project)
    stages = (
        ("All stages", ""),
        *((one.value.capitalize(), one.value) for one in agreement_report.stages(project)),
    )
    judges = assisted.offered(project)
    paired = [(name, name) for name, lists in judges if lists]
    others = [(name, name) for name, lists in judges if not lists]
    return (
        ViewChoice("by", "By", tuple((said, by) for by, said in GROUPINGS.items())),
        ViewChoice("stage", "Stage", stages),
        ViewChoice("assisted_by", "Assisted by", (*paired, ("nobody", ""), *others), tip=ASSISTED),
    )


def report(project: Project, by: str = "stage", stage: str = "", assisted_by: str = "") -> AgreementReport:
    """What is to be seen by these choices; Refusal for anyone who does not coordinate."""
    return agreement_report.report(project, by, Stage(stage) if stage else None, assisted_by)


def sheets(report: AgreementReport) -> tuple[ResultSheet, ...]:
    """A table for each section that has rows, the one between raters first."""
    sections = zip(SECTIONS, (report.rows, report.repeats, report.votes), strict=True)
    return tuple(_sheet(*named, report, rows) for named, rows in sections if rows)


def _sheet(key: str, title: str, report: AgreementReport, rows: Sequence[FigureRow]) -> ResultSheet:
    figures = [name for name in words.TITLES if any(row.figure(name) for row in rows)]
    rare = [name for name in figures if name in RARE]
    shared = rare if len(rare) > 1 else []
    alone = [name for name in figures if name not in shared]
    seconds = [one for one in report.seconds if any(one.of(row) for row in rows)]
    by_stage = rows[0].by in ("stage", agreement_report.VOTES)
    several = len({row.stage for row in rows}) > 1 and not by_stage
    items = any(len(row.items) != 1 for row in rows)
    columns = [
        SheetColumn("group", HEADS[rows[0].by]),
        *([STAGE] if several else []),
        FIELD,
        N,
        *([ITEMS] if items else []),
    ]
    columns += [SheetColumn(name, words.titles(rows, name), words.ABOUT[name]) for name in alone]
    columns += [*([ALSO] if shared else []), *(SECONDS[one.name] for one in seconds)]
    lines = []
    for place, row in enumerate(rows):
        alias = words.group(report, row)
        group = f"{alias}  {words.names(report, row)}".rstrip()
        # Names of people stay in the project.
        cells = [SheetCell(group, float(place), group, value=alias)]
        cells += [text(row.stage.value)] if several else []
        cells += [text(words.field(row)), count(row.n)]
        cells += [count(len(row.items))] if items else []
        cells += [
            _figure(
                row, found, f"{words.title(found)} " if found and " / " in words.titles(rows, name) else ""
            )
            for name in alone
            for found in [row.figure(name)]
        ]
        if shared:
            found = next(filter(None, map(row.figure, shared)), None)
            cells.append(_figure(row, found, f"{words.title(found)} " if found else ""))
        cells += [_second(one, row) for one in seconds]
        picture = _picture_name(row, words.main(row).name)
        lines.append(RowLine(tuple(cells), picture=picture, report=report, row=row))
    undefined = sum(found.value is None for row in rows for found in row.figures)
    told = (f"{undefined:,} undefined, with the reason in the place of the figure.",) if undefined else ()
    return ResultSheet(key, title, tuple(columns), tuple(lines), told, _pictures(report, rows))


def _figure(row: FigureRow, found: Figure | None, before: str = "") -> SheetCell:
    """A figure in words; why it is undefined in its place, and what it is based on in its tip."""
    if found is None:
        return SheetCell("")
    number = words.number(found, 3) if found.value is not None else ""
    parts = (
        words.reason(found),
        number,
        f"n = {found.n:,}",
        of_items(found.method),
        *words.remarks(found),
    )
    tip = "\n".join(part for part in parts if part)
    return SheetCell(before + words.said(found), found.value, tip, picture=_picture_name(row, found.name))


def _second(one: SecondFigures, row: FigureRow) -> SheetCell:
    pair, said = one.of(row), words.second(one, row)
    return SheetCell(said, words.main(pair[0]).value if pair else None, said)


def _picture_name(row: FigureRow, figure: str) -> str:
    return figure if row.by in words.WHOLE else f"{row.stage.value}/{row.field}/{figure}"


def _pictures(report: AgreementReport, rows: Sequence[FigureRow]) -> tuple[SheetPicture, ...]:
    """A picture for each figure, and where rows are of several fields, for each of these."""
    made: dict[str, SheetPicture] = {}
    for row in rows:
        for found in row.figures:
            name = _picture_name(row, found.name)
            if name not in made:
                drawn = words.drawn(rows, row, found.name)
                draw = partial(words.picture, report, drawn, found.name)
                made[name] = SheetPicture(name, words.picture_title(row, found.name), draw)
    return tuple(made.values())
