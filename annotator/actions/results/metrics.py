"""Definitions of the metrics: the paper each comes from, and where we depart from it."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from html import escape
from math import isfinite

from annotator.actions.project.file import Project
from annotator.actions.results import result_raters
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Composite, Metric, Over, Protocol
from annotator.domain.texts.estimate import SHARE
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import COMPOSITES, PROTOCOLS, USUAL

# The metric that is meant where none is named.
USUAL_METRIC = PROTOCOLS[USUAL].metrics[0].name
# What stands on the axis of a figure, and above its column.
RANGES = {
    Over.RESPONSE: "mean over items",
    Over.SYSTEM: "of all reports of a system together",
    Over.PROJECT: "of the whole project",
}


@dataclass(frozen=True, slots=True)
class MetricInfo:
    """A metric with its protocol, or a figure `of` others with its paper; `definition` is Markdown with formulas.

    `judged` tells whether a rater's verdicts enter, `over` what it ranges over, `within` between what it lies.
    """

    name: str
    title: str
    unit: str
    higher_is_better: bool
    definition: str
    protocol: str
    protocol_title: str
    citation: str
    departures: tuple[str, ...]
    judged: bool
    over: Over
    within: tuple[float, float]
    cost: bool = False
    of: tuple[str, ...] = ()

    @property
    def share(self) -> bool:
        """Whether it lies between 0 and 1."""
        return self.within == SHARE

    @property
    def axis(self) -> tuple[float, float] | None:
        """Between what its pictures are drawn; None for a figure without end."""
        return self.within if all(map(isfinite, self.within)) else None

    @property
    def ranging(self) -> str:
        return RANGES[self.over]


def described() -> list[MetricInfo]:
    """All metrics, protocol by protocol, then what papers make of them."""
    of_protocols = [_info(shape, metric) for shape in PROTOCOLS.values() for metric in shape.metrics]
    judged = {info.name for info in of_protocols if info.judged}
    return of_protocols + [_made_of(paper, one, judged) for paper, one in COMPOSITES.values()]


def _info(shape: Protocol, metric: Metric) -> MetricInfo:
    return MetricInfo(
        metric.name,
        metric.title,
        metric.unit,
        metric.higher_is_better,
        metric.definition,
        shape.name,
        shape.title,
        shape.citation,
        shape.departures,
        bool(shape.values),
        metric.over,
        metric.within,
        metric.cost,
    )


def _made_of(paper: Paper, made: Composite, judged: set[str]) -> MetricInfo:
    return MetricInfo(
        made.name,
        made.title,
        made.unit,
        made.higher_is_better,
        made.definition,
        paper.name,
        paper.title,
        paper.title,
        made.departures,
        not judged.isdisjoint(made.of),
        Over.SYSTEM,
        made.within,
        of=made.of,
    )


def named(name: str) -> MetricInfo:
    """The metric of that name; Refusal lists the names there are."""
    for info in described():
        if info.name == name:
            return info
    names = ", ".join(info.name for info in described())
    raise Refusal(f"There is no metric “{name}”.", f"Available: {names}.")


def departures(names: Iterable[str]) -> tuple[str, ...]:
    """Where these metrics differ from their papers, each difference once."""
    wanted = set(names)
    return tuple(dict.fromkeys(one for info in described() if info.name in wanted for one in info.departures))


def qualities(project: Project) -> list[MetricInfo]:
    """The metrics of how good a report is, of which something can be known here, the usual one first."""
    there = {name for name, found in result_raters.raters_under(project).items() if found}
    return [
        info
        for info in described()
        if info.protocol in there and info.over is Over.RESPONSE and not info.cost
    ]


def known(project: Project) -> list[MetricInfo]:
    """The figures of which something can be known here; of those made of others, where it can of one of these."""
    there = {name for name, found in result_raters.raters_under(project).items() if found}
    parts = {info.name for info in described() if info.protocol in there}
    return [info for info in described() if info.name in parts or not parts.isdisjoint(info.of)]


_FORMULA = re.compile(r"\$\$(.+?)\$\$", re.DOTALL)
_BLOCK = "<p>{}</p>"
_SIGNS = {
    r"\sum": "Σ", r"\in": "∈", r"\{": "{", r"\}": "}", r"\qquad": "&emsp; ", r"\,": " ", r"\ ": " ", r"\cdot": "·",
    r"\cup": "∪", r"\cap": "∩", r"\le": "≤", r"\ge": "≥", r"\times": "×",
}  # fmt: skip
_BRACED = r"\{((?:[^{}]|\{[^{}]*\})*)\}"


def html(definition: str) -> str:
    """A definition as HTML, its formulas in one line each."""
    return "".join(_blocks(definition))


def _blocks(definition: str) -> Iterator[str]:
    for place, part in enumerate(_FORMULA.split(definition)):
        if place % 2:
            yield _BLOCK.format(f"<b>{formula(part)}</b>")
        else:
            yield from (_BLOCK.format(_prose(each)) for each in part.split("\n\n") if each.strip())


def _prose(words: str) -> str:
    coded = re.sub(r"`([^`]+)`", r"<b>\1</b>", escape(" ".join(words.split()), quote=False))
    return re.sub(r"\*([^*]+)\*", r"<i>\1</i>", coded)


def formula(latex: str) -> str:
    """A formula of the definitions in one line of HTML: fractions by a slash, indices below the line."""
    line = escape(" ".join(latex.split()), quote=False)
    line = re.sub(rf"\\text{_BRACED}", r"\1", line)
    # From the inside out: a numerator may hold a fraction of its own.
    while (found := re.search(rf"\\frac{_BRACED}{_BRACED}", line)) is not None:
        line = line[: found.start()] + f"{_part(found[1])} / {_part(found[2])}" + line[found.end() :]
    line = re.sub(rf"_(?:{_BRACED}|(\w))", lambda index: f"<sub>{index[1] or index[2]}</sub>", line)
    for sign in sorted(_SIGNS, key=len, reverse=True):
        line = line.replace(sign, _SIGNS[sign])
    return line


def _part(term: str) -> str:
    """A numerator or a denominator, in brackets where it has several terms."""
    return f"({term})" if re.search(r"[+∪−-]", term) else term
