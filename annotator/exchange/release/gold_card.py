"""The data card's account of the gold: who wrote it, how far they agreed, and how it was settled."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from annotator.domain.experts.adjudication import DROP, DisputeState, Origin, Reason
from annotator.domain.experts.agreement import Figure, bound_of
from annotator.domain.judges.judgement import RaterKind
from annotator.domain.kinds.artifact import State
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import decimal, interval
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.markdown_tables import line, shares, table
from annotator.exchange.release.pair_records import AdjudicationRecord, RulingRecord
from annotator.exchange.release.spool import tally

ORIGINS = {
    Origin.ONE: "one person's words",
    Origin.BOTH: "what all of them wrote",
    Origin.EDITED: "reworded by the adjudicator",
    Origin.NEW: "added by the adjudicator",
}
ALONE = "No two people's work on the same stage of an item was compared for this release."


@dataclass(frozen=True, slots=True)
class StageFigure:
    """A figure over all items of one stage; `pairing` says whose pairing of units it is over, if not the matcher's."""

    stage: str
    field: str
    items: int
    figure: Figure
    pairing: str = ""


@dataclass(frozen=True, slots=True)
class Drafted:
    """The number of an artifact's units from models' drafts, the total, and the models."""

    artifact_id: str
    kind: str
    author: str
    units: int
    of: int
    models: tuple[str, ...]


def text(bundle: Bundle, figures: Sequence[StageFigure], drafted: Sequence[Drafted] = ()) -> str:
    """The section as Markdown: a table of who wrote how much and what models drafted, agreement, adjudication."""
    parts = [_people(bundle), *_drafts(drafted), *_material(bundle)]
    if not bundle.agreements:
        return "\n\n".join([*parts, ALONE])
    parts += [_agreement(bundle), _figures(figures)]
    last = {one.adjudication_id: one for one in sorted(bundle.adjudications, key=lambda one: one.version)}
    return "\n\n".join([*parts, *_adjudication(bundle, list(last.values()))])


def _people(bundle: Bundle) -> str:
    documents, units, settled = Counter[str](), Counter[str](), Counter[str]()
    for artifact in bundle.artifacts:
        if artifact.state is State.CONSENSUS:
            settled[artifact.author_id] += 1
            continue
        documents[artifact.author_id] += 1
        units[artifact.author_id] += len(artifact.document["units"])
    labels = Counter[str]()
    for (_, kind, rater, _), many in tally(bundle.judgements).items():
        labels[rater] += many * (kind is RaterKind.PERSON)
    counts = (documents, units, labels, settled)
    rows = [(one.alias, *(str(count[one.id]) for count in counts)) for one in bundle.people]
    head = ("person", "documents written", "units in them", "labels given", "consensus made")
    return table(head, rows) if rows else "Nobody's work is in it."


def _drafts(drafted: Sequence[Drafted]) -> Iterator[str]:
    """Nothing where no model drafted; otherwise how much of each author's documents of a kind came from a draft."""
    if not drafted:
        return
    units = sum(one.units for one in drafted)
    models = sorted({model for one in drafted for model in one.models})
    yield (
        f"{counted(units, 'unit')} of {counted(len(drafted), 'document')} came from a model's draft: it was shown to "
        "one person alone, who took each of these units and answers for it. What was changed afterwards still counts. "
        f"Models: {', '.join(line(model) for model in models)}. `manifest.json` says under `drafted` how many units of "
        "each document they are."
    )
    groups = sorted({(one.kind, one.author) for one in drafted})
    rows = []
    for group in groups:
        those = [one for one in drafted if (one.kind, one.author) == group]
        rows.append(
            (*group, *(str(sum(n)) for n in zip(*((one.units, one.of) for one in those), strict=True)))
        )
    yield table(("kind", "by", "units from a draft", "of units"), rows)


def _material(bundle: Bundle) -> Iterator[str]:
    """Nothing where no model wrote for the experts."""
    drafted = [source for source in bundle.sources if source.drafted]
    if drafted:
        yield (
            f"{counted(len(drafted), 'source')} {_were(len(drafted))} drafted by a model as reference material for the "
            "experts, and confirmed by a person before anybody was shown it; `drafted` in `sources.json` says by which "
            "model, by whom and when."
        )


def _agreement(bundle: Bundle) -> str:
    items = {one.item_id for one in bundle.agreements}
    raters = {given.person_id for one in bundle.agreements for given in one.inputs}
    matchers, programs, guidelines = (
        ", ".join(sorted(found))
        for found in (
            {one.matcher for one in bundle.agreements},
            {one.program for one in bundle.agreements},
            {f"{one.stage.value} {given.guideline}" for one in bundle.agreements for given in one.inputs},
        )
    )
    stages = len(bundle.agreements)
    return (
        f"{counted(stages, 'stage')} on {counted(len(items), 'item')} {_were(stages)} answered by two or more of "
        f"{counted(len(raters), 'person', 'people')} without sight of one another's work. How far they agreed was "
        "computed once, from the first documents that all of them had submitted, and before anybody adjudicated: "
        "an automatic matcher paired their units without knowing who wrote them. Nothing that happened later has "
        f"changed these figures; `agreement.json` holds them with their inputs. Matcher: {matchers}. Program: "
        f"{programs}. Guidelines by version: {guidelines}. `–` stands for a figure that is undefined; the remark "
        "says why."
    )


def _figures(figures: Iterable[StageFigure]) -> str:
    head = ("stage", "of", "pairing", "items", "n", "figure", "value", "95 % interval", "remark")
    return table(head, (_line(one) for one in figures))


def _line(one: StageFigure) -> tuple[str, ...]:
    found = one.figure
    span = interval(found, lambda bound: decimal(bound, 2)) or "–"
    value = "–" if found.value is None else decimal(found.value, 2)
    head = (one.stage, one.field, one.pairing or "automatic", str(one.items), str(found.n))
    remarks = (found.note, "" if one.pairing else bound_of(found))
    return (*head, found.name, value, span, "; ".join(filter(None, remarks)))


def _adjudication(bundle: Bundle, last: Sequence[AdjudicationRecord]) -> Iterator[str]:
    if not last:
        yield "None of it has been adjudicated yet."
        return
    rows = [row for one in last for row in one.rulings]
    unanimous = sum(row.unanimous for row in rows)
    dropped = sum(row.take == DROP for row in rows)
    yield (
        f"{len(last):,} of these {len(bundle.agreements):,} {_were(len(last))} adjudicated by somebody who was none "
        f"of the raters and saw their answers under letters. Of {counted(len(rows), 'row')}, {unanimous:,} "
        f"({100 * unanimous / max(1, len(rows)):.0f} %) {_were(unanimous)} unanimous and {dropped:,} {_were(dropped)} "
        f"dropped. {_checked(last)} {_gaps(rows)} {_disputes(bundle)} `adjudications.json` says of every unit of a "
        "consensus where it comes from and why."
    )
    origins = Counter(ORIGINS[unit.origin] for one in last for unit in one.provenance)
    yield table(("origin of a consensus unit", "units", "share"), shares(origins))
    reasons = Counter(row.reason.value for row in rows if row.reason is not None)
    if reasons:
        yield table(("reason for departing from an answer", "rows", "share"), shares(reasons))


def _checked(last: Sequence[AdjudicationRecord]) -> str:
    drawn = sum(one.spot_check for one in last)
    if not drawn:
        return "None of them was drawn for a spot check."
    return f"{counted(drawn, 'unanimous stage')} {_were(drawn)} drawn for a spot check and looked at all the same."


def _gaps(rows: Sequence[RulingRecord]) -> str:
    gaps = sum(bool(row.gap) or row.reason is Reason.GUIDELINE_GAP for row in rows)
    return (
        f"{counted(gaps, 'row')} showed a gap in the guideline."
        if gaps
        else "No row showed a gap in the guideline."
    )


def _disputes(bundle: Bundle) -> str:
    disputes = [each for one in bundle.adjudications for each in one.disputes]
    if not disputes:
        return "Nobody has objected."
    answered = sum(each.state is DisputeState.ANSWERED for each in disputes)
    return f"{counted(len(disputes), 'objection')} came back from annotators; {answered} {_were(answered)} answered."


def _were(count: int) -> str:
    return "was" if count == 1 else "were"
