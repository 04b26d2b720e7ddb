"""Details of the chosen cell: figure, n, method, gaps, and definition of the metric."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from html import escape

from annotator.actions.results import metrics, result_exports
from annotator.actions.results.metrics import MetricInfo
from annotator.actions.results.result_sheets import ResultSheet, SheetCell, SheetLine, explained
from annotator.domain.texts.estimate import interval
from annotator.gui import theme

NOT = "not publishable"


def account(
    sheet: ResultSheet, line: SheetLine | None, cell: SheetCell | None, column: int, metric: str
) -> str:
    """The account of a cell as HTML, every foreign word escaped; `metric` is what the view is about."""
    parts: list[str] = []
    if line is not None and cell is not None:
        parts += _of_cell(sheet, line, cell, column)
    name = (cell.metric if cell is not None else "") or metric
    info = next((one for one in metrics.described() if one.name == name), None)
    if info is not None:
        parts += _definition(info)
    parts += _departures(result_exports.departures(replace(sheet, lines=(), metrics=(name,))))
    return "".join(parts)


def _of_cell(sheet: ResultSheet, line: SheetLine, cell: SheetCell, column: int) -> Iterator[str]:
    head = sheet.columns[column]
    unit = next((one.unit for one in metrics.described() if one.name == cell.metric), "")
    yield f"<p dir='auto' style='font-size:large'><b>{escape(head.title)}</b><br>{_apart(cell.words)}</p>"
    if cell.estimate is not None:
        found = cell.estimate
        said = [_muted(escape(part)) for part in explained(found, unit)]
        span = interval(found, lambda bound: f"{bound + 0.0:.4g}".replace("-", "−"))
        low_high = f"95 % interval {span}<br>" if span else ""
        value = "undefined" if found.value is None else f"{found.value:.6g}".replace("-", "−")
        yield f"<p>value {value} {escape(unit)}<br>{low_high}{'<br>'.join(said)}</p>"
        known = explained(found, unit)
        # The first line names the figure, which stands above.
        rest = [part for part in cell.tip.splitlines()[1:] if part not in known and not part.startswith(NOT)]
        if rest:
            yield f"<p>{'<br>'.join(map(escape, rest))}</p>"
    elif cell.tip and cell.tip != cell.words:
        yield f"<p dir='auto'>{_lines(cell.tip)}</p>"
    if cell.state == "unfit":
        yield f"<p><b>Not publishable</b>{_lines(cell.tip.splitlines()[-1].removeprefix(NOT))}.</p>"
    if head.tip:
        yield f"<p>{_muted(_lines(head.tip))}</p>"
    for title, words in line.more:
        yield f"<p dir='auto'><b>{escape(title)}</b> {_lines(words)}</p>"


def _definition(info: MetricInfo) -> Iterator[str]:
    yield f"<hr><p style='font-size:large'><b>What {escape(info.title)} is</b></p>"
    yield metrics.html(info.definition)
    better = "Higher is better." if info.higher_is_better else "Lower is better."
    yield f"<p>{better} {_muted(escape(f'{info.protocol_title}. {info.citation}.'))}</p>"


def _departures(known: Sequence[str]) -> Iterator[str]:
    if known:
        listed = "".join(f"<li>{escape(one)}</li>" for one in known)
        yield f"<p><b>Differences from the paper</b></p><ul>{listed}</ul>"


def _apart(words: str) -> str:
    """The words of a cell: HTML would run the figure, its interval and its marks together."""
    return escape(" · ".join(part.strip() for part in words.split("  ") if part.strip())) or "–"


def _lines(words: str) -> str:
    return escape(words).replace("\n", "<br>")


def _muted(html: str) -> str:
    return f"<span style='color:{theme.token('text-muted').name()}'>{html}</span>"
