"""Table of the pairs of frozen values behind a figure."""

from collections.abc import Callable

from annotator.actions.agreement import agreement_words as words
from annotator.actions.agreement.agreement_behind import LineBehind, LinesBehind, RaterSide, value_words
from annotator.actions.agreement.agreement_figures import UNITS
from annotator.actions.agreement.agreement_report import AgreementReport
from annotator.gui.tables.cells import Column

SAME, DIFFERS = ("check", "state-agreed"), ("cross", "state-disagree")
# Whether both said the same: word, icon and colour. A value that is missing is no disagreement.
VERDICTS = {
    True: ("same", SAME),
    False: ("differs", DIFFERS),
    None: ("missing", ("minus", "state-missing")),
}
# A column of no width shares what the others leave.
FREE = 0
SIDES: tuple[Callable[[LineBehind], RaterSide], ...] = (lambda line: line.a, lambda line: line.b)


def columns(report: AgreementReport, found: LinesBehind) -> list[Column[LineBehind]]:
    """What is shown of each pair; what no line has is left out."""
    lines, units = found.lines, found.row.field == UNITS
    about, likeness = any(line.about for line in lines), any(line.likeness is not None for line in lines)
    worded = about or any(side(line).words for line in lines for side in SIDES)
    made: list[Column[LineBehind]] = [
        Column("Item", lambda line: line.item_key, 90, tip=lambda line: line.question)
    ]
    if any(line.report for line in lines):
        made.append(Column("Report of", lambda line: line.report, 130))
    if about:
        made.append(Column("Judged by", lambda line: line.about, FREE))
    for side in SIDES:
        made.append(Column("Rater", _who(report, side), 70 if worded else FREE))
        if any(side(line).words for line in lines):
            made.append(Column("wrote", _words(side), FREE))
        made.append(Column("No." if units else words.field(found.row), _value(side, units), 90))
    if likeness:
        made.append(Column("Similarity", _likeness, 80))
    verdict = _matched if units else _same
    made.append(Column("", lambda line: verdict(line)[0], 110, look=lambda line: verdict(line)[1]))
    return made if lines else []


def _who(report: AgreementReport, side: Callable[[LineBehind], RaterSide]) -> Callable[[LineBehind], str]:
    return lambda line: report.alias(side(line).who)


def _words(side: Callable[[LineBehind], RaterSide]) -> Callable[[LineBehind], str]:
    return lambda line: side(line).words or "–"


def _value(side: Callable[[LineBehind], RaterSide], units: bool) -> Callable[[LineBehind], str]:
    return lambda line: "–" if units and side(line).value is None else value_words(side(line).value)


def _likeness(line: LineBehind) -> str:
    return "" if line.likeness is None else f"{line.likeness:.2f}"


def _matched(line: LineBehind) -> tuple[str, tuple[str, str]]:
    both = line.a.value is not None and line.b.value is not None
    return ("matched", SAME) if both else ("only one", DIFFERS)


def _same(line: LineBehind) -> tuple[str, tuple[str, str]]:
    return VERDICTS[line.same]
