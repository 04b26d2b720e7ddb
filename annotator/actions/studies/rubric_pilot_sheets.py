"""How a pilot of the rubrics is set out: its criteria, those first that tell nothing apart."""

from collections.abc import Iterator, Sequence
from functools import partial

from annotator.actions.results import result_pictures
from annotator.actions.runs.judge_cases import COVERAGE
from annotator.actions.sheets.result_sheets import (
    UNDEFINED,
    Cell,
    Line,
    Picture,
    Sheet,
    Source,
    columns,
    count,
    figure,
    in_words,
    percent,
    share,
    text,
)
from annotator.actions.studies.rubric_pilots import Piloted, Report
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols.researcherbench.rubric_pilot import (
    DEPARTURES,
    CriterionAgreement,
    Discrimination,
    Reach,
)

REACHED = {
    Reach.CEILING: ("every system always meets it", "flat"),
    Reach.FLOOR: ("no system ever meets it", "flat"),
    Reach.APART: ("tells systems apart", ""),
    Reach.OPEN: ("open: votes are missing", "incomplete"),
}


def sheets(found: Report) -> tuple[Sheet, ...]:
    """The criteria with the pass rate of each system; those that tell nothing apart first."""
    if not found.criteria:
        return ()
    heads = columns(
        "Item", "Criterion", "Weight",
        ("Reach", "Whether it tells systems apart: a ceiling is met by all, a floor by none"),
        ("Spread", "Standard deviation of the pass rate over systems; 0.5 at most"),
        *_agreement_heads(found),
        *((system, f"Share of the responses of {system} that meet the criterion") for system in found.systems),
    )  # fmt: skip
    ordered = sorted(found.criteria, key=lambda one: _place(one.discrimination))
    rater_id = found.rater.id if found.rater else ""
    lines = tuple(_line(one, found.systems, rater_id, bool(found.raters)) for one in ordered)
    criteria = Sheet("Criteria", heads, lines, tuple(_told(found)), tuple(_pictures(found)), DEPARTURES)
    return (criteria, _weights(found))


def _weights(found: Report) -> Sheet:
    """The spread of weights beside the paper's experts'."""
    heads = columns(
        "Weight", ("Criteria", "Of this weight"), ("Share", "Of all criteria"),
        ("Experts' share", "ResearcherBench, Table 10"), ("Difference", "Of the two shares"),
    )  # fmt: skip
    lines = []
    for weight, own in found.weights.items():
        norm, value = EXPERT_WEIGHT_SHARES[weight], own.value
        there = None if value is None else round(value * own.n)
        apart = None if value is None else value - norm
        cells = (
            count(weight), count(there), share(value), share(norm),
            _points(apart),
        )  # fmt: skip
        lines.append(Line(cells))
    return Sheet("Weights", heads, tuple(lines))


def _points(apart: float | None) -> Cell:
    if apart is None:
        return Cell(UNDEFINED)
    return Cell(f"{100 * apart:+.1f} points".replace("-", "−"), apart, value=apart)


def _pictures(found: Report) -> Iterator[Picture]:
    title = "Weights beside the experts' of the paper"
    rows = [f"weight {weight}" for weight in found.weights]
    series: dict[str, list[float | None]] = {
        "here": [share.value for share in found.weights.values()],
        "experts (Table 10)": [EXPERT_WEIGHT_SHARES[weight] for weight in found.weights],
    }
    yield Picture("weights", title, partial(result_pictures.bars, title, rows, series, "share of criteria"))
    whole = len(found.criteria)
    title = f"What {counted(whole, 'criterion tells', 'criteria tell')}"
    rows = [words for words, _ in REACHED.values()]
    shares: dict[str, list[float | None]] = {
        "share of criteria": [found.reach.get(reach, 0) / whole for reach in REACHED]
    }
    yield Picture("reach", title, partial(result_pictures.bars, title, rows, shares, "share of criteria"))


def _agreement_heads(found: Report) -> tuple[tuple[str, str], ...]:
    """Where no two raters judged the same responses, nothing is said of agreement."""
    if not found.raters:
        return ()
    return (
        ("κ", f"Cohen's κ of {' and '.join(found.raters)}"),
        ("Agreement", "Share of responses on which the two raters say the same"),
    )


def _place(found: Discrimination) -> tuple[int, float]:
    order = (Reach.CEILING, Reach.FLOOR, Reach.OPEN, Reach.APART)
    return order.index(found.reach), found.spread.value or 0.0


def _line(one: Piloted, systems: Sequence[str], rater_id: str, found_by_two: bool) -> Line:
    found, agreed = one.discrimination, one.agreement
    words, state = REACHED[found.reach]
    cells = (
        text(one.item_key), text(one.text, tip=one.text), count(one.weight), text(words, state=state),
        figure(found.spread),
        *((figure(agreed.kappa), _bare(agreed.percent)) if agreed else (Cell(""), Cell("")) if found_by_two else ()),
        *(share(found.rates.get(system), 0, "No vote came") for system in systems),
    )  # fmt: skip
    more = (("Criterion", one.text), *_account(found, agreed))
    source = Source(COVERAGE, rater_id, item_id=one.item_id, unit_id=one.unit_id)
    return Line(cells, one.item_id, one.unit_id, Kind.RUBRIC.value, more=more, source=source)


def _account(found: Discrimination, agreed: CriterionAgreement | None) -> Iterator[tuple[str, str]]:
    yield "Reach", REACHED[found.reach][0]
    yield (
        "Spread",
        f"{in_words(found.spread)} ({found.spread.method}{'; ' if found.spread.note else ''}{found.spread.note})",
    )
    if agreed:
        for head, estimate in (("κ", agreed.kappa), ("Agreement", agreed.percent)):
            yield (
                head,
                f"{in_words(estimate)}, n = {estimate.n}{'. ' if estimate.note else ''}{estimate.note}",
            )


def _bare(estimate: Estimate) -> Cell:
    """A figure without its interval and method, for which a column of shares has no room."""
    return figure(Estimate(estimate.value, n=estimate.n, missing=estimate.missing, note=estimate.note))


def _told(found: Report) -> Iterator[str]:
    whole = len(found.criteria)
    by_name = found.rater.name if found.rater else ""
    flat = found.reach.get(Reach.CEILING, 0), found.reach.get(Reach.FLOOR, 0)
    yield (
        f"By the votes of {by_name}, {found.reach.get(Reach.APART, 0):,} of {whole:,} criteria tell systems apart; "
        f"{flat[0]:,} are met by all, {flat[1]:,} by none, {found.reach.get(Reach.OPEN, 0):,} are open."
    )
    spread = ", ".join(
        f"weight {weight} {percent(share.value or 0.0)} (the paper's experts {percent(EXPERT_WEIGHT_SHARES[weight])})"
        for weight, share in found.weights.items()
    )
    yield f"Weights: {spread}."
    yield f"Gap between systems: {in_words(found.gap)} ({found.gap.note})."
    if found.raters:
        yield f"κ is that of {found.raters[0]} and {found.raters[1]}, criterion by criterion."
