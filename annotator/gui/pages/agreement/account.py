"""Details of a row of figures: each number with its method, values and records."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from html import escape
from typing import Any

from annotator import __version__
from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_behind import value_words
from annotator.actions.agreement.agreement_figures import SELF, UNITS, FigureRow
from annotator.actions.agreement.agreement_report import (
    BY_MODEL,
    VOTES,
    AgreementReport,
    RowBasis,
    SecondFigures,
    provenance,
)
from annotator.domain.experts.agreement import Figure
from annotator.domain.judges.level_figures import uncrossed
from annotator.domain.texts.estimate import of_items
from annotator.gui import theme

# A table of more values than this is not read, and of fractions it says nothing; a scale says so itself.
MOST_VALUES = 6
LISTED_ITEMS = 80
# How units were paired: by an adjudicator, or by a model.
PAIRED = (
    "Units paired by the adjudicator, who saw both answers.",
    "Units paired by meaning by a model that saw both lists without names.",
)
Said = Mapping[tuple[Any, Any], int]


def account(report: AgreementReport, row: FigureRow) -> str:
    """A row's account as HTML, every foreign word escaped."""
    found = provenance(report, row)
    figures = _in_order(row)
    parts = [_head(report, row), *map(_figure, figures), _remarks(figures)]
    if found is not None:
        parts.append(_values(report, row, found))
    parts += [*(_second(one, row) for one in report.seconds), _source(report, row, found), _meanings(figures)]
    return "".join(part for part in parts if part)


def _in_order(row: FigureRow) -> list[Figure]:
    return [found for name in words.TITLES if (found := row.figure(name))]


def _head(report: AgreementReport, row: FigureRow) -> str:
    title = f"{row.stage.value}: {words.field(row)}"
    group = "" if row.by in ("stage", VOTES) else words.group(report, row)
    lines = [f"<b>{escape(title.capitalize())}</b>", escape(group), escape(words.names(report, row))]
    return f"<p style='font-size:large'>{'<br>'.join(line for line in lines if line)}</p>"


def _figure(found: Figure) -> str:
    title = words.title(found)
    if found.value is None:
        lines = [f"<b>{title} –</b> no figure: {escape(words.reason(found))}."]
    else:
        lines = [f"<b>{title} {words.number(found, 3)}</b>"]
    lines.append(_muted(f"n = {found.n:,} · {of_items(found.method)}"))
    return f"<p>{'<br>'.join(lines)}</p>"


def _remarks(figures: list[Figure]) -> str:
    """What must be known, each remark once, with the figures it is about where it is not about all."""
    about: dict[str, list[str]] = {}
    for each in figures:
        for remark in words.remarks(each):
            about.setdefault(remark, []).append(words.title(each))
    lines = []
    for remark, titles in about.items():
        of = "" if len(titles) == len(figures) else f" ({', '.join(titles)})"
        lines.append(f"{escape(_sentence(remark))}{of}")
    return f"<p>{'<br>'.join(lines)}</p>" if lines else ""


def _meanings(figures: list[Figure]) -> str:
    lines = (f"<b>{words.title(each)}</b> {escape(words.ABOUT[each.name])}" for each in figures)
    return "".join(f"<p>{line}</p>" for line in lines)


def _values(report: AgreementReport, row: FigureRow, found: RowBasis) -> str:
    """What the raters said: a table of both where that tells more than a count, and the share of each value."""
    if row.field == UNITS:
        both, either = found.said.get((1, 1), 0), sum(found.said.values())
        return f"<p><b>Units</b><br>{both:,} matched, {either - both:,} that only one of the two has.</p>"
    scale = words.scale_of(row)
    if why := uncrossed(scale):
        return f"<p><b>Values given</b><br>{escape(why)}</p>"
    order = _order(scale.names)
    used = {value for pair in found.said for value in pair if value is not None}
    listed = sorted(used.union(scale.names), key=order)
    many = not scale.names and len(listed) > MOST_VALUES
    if not used or many or any(isinstance(value, float) for value in listed):
        return ""
    ordered = row.by in ("pair", "person") or len(found.raters) == 2
    return f"<p><b>Values given</b><br>{_shares(found.said, order)}</p>{_table(report, row, found, listed, ordered)}"


def _order(scale: Sequence[str]) -> Callable[[Any], tuple[bool, int, str]]:
    """By what values are sorted: those of a scale in its order, then others, “unsure” last."""
    places = {value: place for place, value in enumerate(scale)}
    return lambda value: (value == "unsure", places.get(value, len(places)), str(value))


def _shares(said: Said, order: Callable[[Any], Any]) -> str:
    counted: Counter[Any] = Counter()
    for pair, times in said.items():
        counted.update({value: times for value in set(pair) if value is not None})
        if pair[0] is not None and pair[0] == pair[1]:
            counted[pair[0]] += times
    total = sum(counted.values())
    listed = sorted(counted.items(), key=lambda each: order(each[0]))
    spread = ", ".join(f"{escape(value_words(value))}: {100 * n / total:.0f} %" for value, n in listed)
    return f"{spread} of {total:,} values"


def _table(report: AgreementReport, row: FigureRow, found: RowBasis, listed: list[Any], ordered: bool) -> str:
    said = found.said if ordered else _folded(found.said)
    if ordered:
        first, second = _sides(report, row, found)
        caption = f"{escape(first)} down, {escape(second)} across"
    else:
        caption = "several pairs of raters: pairs of values in either order"
    head = "".join(f"<th>&nbsp;{escape(value_words(value))}&nbsp;</th>" for value in listed)
    lines = [f"<tr><td></td>{head}</tr>"]
    for place, a in enumerate(listed):
        cells = "".join(
            f"<td align='right'>{_times(said, a, b, ordered or listed.index(b) <= place)}&nbsp;</td>"
            for b in listed
        )
        lines.append(f"<tr><th align='left'>{escape(value_words(a))}&nbsp;</th>{cells}</tr>")
    return f"<p>{_muted(caption)}</p><table cellpadding='2'>{''.join(lines)}</table>"


def _sides(report: AgreementReport, row: FigureRow, found: RowBasis) -> tuple[str, str]:
    """Who comes first and who second in the values of a row."""
    if row.by == "person":
        return report.alias(row.group[0]), "the others"
    # The lower id comes first in every record.
    first, second = sorted(found.raters)
    return report.alias(first), report.alias(second)


def _folded(said: Said) -> Counter[tuple[Any, Any]]:
    folded: Counter[tuple[Any, Any]] = Counter()
    for (a, b), times in said.items():
        folded[a, b] += times
        if a != b:
            folded[b, a] += times
    return folded


def _times(said: Said, a: Any, b: Any, shown: bool) -> str:
    # Either way round, the half below the diagonal says it all.
    return f"{said.get((a, b), 0):,}" if shown else ""


def _second(one: SecondFigures, row: FigureRow) -> str:
    pair = one.of(row)
    if pair is None:
        return ""
    again, beside = pair
    title = escape(f"{one.title[:1].upper()}{one.title[1:]}")
    lines = [f"<b>{title}</b> (a second figure; {words.share(again, row)})"]
    for found in _in_order(again):
        frozen = beside.figure(found.name)
        same = f"; frozen, on these lists: {words.number(frozen)}" if frozen else ""
        lines.append(f"{words.title(found)} {escape(words.said(found))}{same}")
    lines.append(_muted(f"{PAIRED[one.name == BY_MODEL]} The frozen figure is unchanged."))
    return f"<p>{'<br>'.join(lines)}</p>"


def _source(report: AgreementReport, row: FigureRow, found: RowBasis | None) -> str:
    items = [report.items.get(item_id, item_id) for item_id in row.items]
    shown = ", ".join(items[:LISTED_ITEMS]) + (" …" if len(items) > LISTED_ITEMS else "")
    lines = [f"<b>Where it comes from</b><br>{_records(report, row, found)}"]
    lines.append(f"Items ({len(items):,}): {escape(shown)}")
    return f"<p>{'<br>'.join(lines)}</p>"


def _records(report: AgreementReport, row: FigureRow, found: RowBasis | None) -> str:
    if row.by == SELF:
        return "Labels given twice to the same reports: the silent repeat compared with the first labels."
    if row.by == VOTES or found is None:
        return (
            "Seniors' votes before they saw A and B, compared with each rater's value; closed adjudications "
            "only."
        )
    span = f"{found.first:%Y-%m-%d}"
    if found.last.date() != found.first.date():
        span += f" to {found.last:%Y-%m-%d}"
    raters = ", ".join(report.alias(person) for person in found.raters)
    return escape(
        f"{found.records:,} frozen agreement{'s' if found.records > 1 else ''} ({span}) of {raters}. "
        f"Each was computed once, from everyone's first submission, and never changes. "
        f"{_versions('Guideline version', found.guidelines)}, {_versions('form', found.forms)}, "
        f"{_versions('matcher', found.matchers)}, frozen by Goldsmith {', '.join(found.programs)}, "
        f"pooled by {__version__}."
    )


def _versions(what: str, found: tuple[str, ...]) -> str:
    return f"{what}{'s' if len(found) > 1 else ''} {', '.join(found)}"


def _sentence(note: str) -> str:
    return f"{note[:1].upper()}{note[1:].rstrip('.')}."


def _muted(text: str) -> str:
    return f"<span style='color:{theme.token('text-muted').name()}'>{escape(text)}</span>"
