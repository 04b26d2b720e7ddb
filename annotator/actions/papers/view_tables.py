"""Tables that papers print and views have: some columns under the paper's titles, or lines turned into columns."""

from collections.abc import Sequence
from dataclasses import replace

from annotator.actions.papers import (
    citation_windows,
    continuations,
    human_agreement,
    report_statistics,
    score_agreement,
)
from annotator.actions.project.file import Project
from annotator.actions.results import scoring
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetColumn,
    SheetLine,
    key_of,
    text,
)
from annotator.actions.studies import result_views
from annotator.actions.studies.result_views import ResultView
from annotator.actions.validation import validation_views
from annotator.domain.judges.paper_table import ViewTable

VIEWS: tuple[ResultView, ...] = (
    *result_views.VIEWS,
    *validation_views.VIEWS,
    human_agreement.VIEW,
    citation_windows.VIEW,
    report_statistics.VIEW,
    report_statistics.EXEMPLARS,
    continuations.VIEW,
    score_agreement.VIEW,
)


def sheet(project: Project, table: ViewTable, judge: str = "") -> ResultSheet | None:
    """The table; None where the view has nothing of it with these choices."""
    wanted = dict(table.chosen)
    if wanted.get("mode") and scoring.modes_of(project) == (wanted["mode"],):
        # Where there is one mode, it is not asked for.
        del wanted["mode"]
    offered = {
        choice.name: {value for _, value in choice.values}
        for choice in result_views.named(table.view, VIEWS).choices(project)
    }
    if any(value not in offered.get(name, ()) for name, value in wanted.items()):
        return None
    whose = {"judge": judge} if judge in offered.get("judge", ()) else {}
    found = result_views.show(project, table.view, {**whose, **wanted}, among=VIEWS)
    whole = next((one for one in found.sheets if one.key == table.sheet), None)
    if whole is None:
        return None
    made = _picked(whole, table.columns)
    made = _turned(made, *table.turned) if table.turned else made
    made = replace(made, title=table.title or made.title)
    return (
        made
        if made.pictures
        else replace(made, pictures=next((one.pictures for one in found.sheets if one.pictures), ()))
    )


def _picked(whole: ResultSheet, columns: Sequence[tuple[str, str]]) -> ResultSheet:
    """Some columns, under other titles; those of figures that the view has for no rater are left out."""
    if not columns:
        return whole
    places = {whole.keys.index(key): title for key, title in columns if key in whole.keys}
    return replace(
        whole,
        columns=tuple(replace(whole.columns[place], title=title) for place, title in places.items()),
        lines=tuple(
            replace(line, cells=tuple(line.cells[place] for place in places)) for line in whole.lines
        ),
    )


def _turned(whole: ResultSheet, title: str, *first: str) -> ResultSheet:
    """Columns down and lines across, each line under what its first cell says, the `first` ones in that order."""
    of = {line.cells[0].words: line for line in whole.lines}
    of = {name: of[name] for name in dict.fromkeys((*first, *of)) if name in of}
    heads = (SheetColumn(key_of(title), title), *(SheetColumn(key_of("of", name), name) for name in of))
    lines = (
        SheetLine((text(column.title, column.tip), *(line.cells[place] for line in of.values())))
        for place, column in enumerate(whole.columns[1:], start=1)
    )
    return replace(whole, columns=heads, lines=tuple(lines))
