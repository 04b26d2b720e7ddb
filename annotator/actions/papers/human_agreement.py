"""Agreement of judges with people, by kind of label, and people's reviews of key points."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sqlalchemy import select

from annotator.actions.items import extracts, materials
from annotator.actions.judges import judges
from annotator.actions.project import people
from annotator.actions.project.file import Project, cached
from annotator.actions.results import result_raters, results
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    ViewChoice,
    columns,
    count,
    figure,
    no_choices,
    text,
)
from annotator.actions.runs import judge_cases
from annotator.actions.sets import validation_figures
from annotator.actions.studies import result_views
from annotator.actions.validation import validation
from annotator.domain.common import Change, Refusal, counted, grouped
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Aim, Protocol
from annotator.domain.material.extract import Extract, KeyPoint, KeyPoints, ResponsePart
from annotator.domain.material.item import ExtractState
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import papers
from annotator.protocols.merging import merged as merged_points
from annotator.storage.tables import EXTRACT, ITEM

SHARE = "accuracy"
EVERY = ""
NO_JUDGE = "No judge has judged these units."
DEPARTURES = (
    "Agreement is the share of units on which judge and person say the same, as in the paper; beside it stand n, an "
    "interval over items, and κ, for ordered values with quadratic weights. The paper gives none of these.",
    "Of a pair the judge is asked in both orders: where they differ it counts as a tie. One order alone is missing.",
    "A unit without a verdict of the judge is left out, and never a disagreement.",
)


@dataclass(frozen=True, slots=True)
class KindAgreement:
    """One judge on one kind of label; without a `line` there is nothing to compare, and `lacks` is the reason."""

    protocol: Protocol
    line: validation.RaterFigures | None = None
    lacks: str = ""

    def figure(self, name: str) -> Estimate:
        nothing = Estimate(None, note=self.lacks)
        return self.line.result.plain.get(name, nothing) if self.line is not None else nothing


def published(protocol: Protocol) -> Aim | None:
    return next((aim for aim in protocol.aims if aim.judge and aim.figure == SHARE), None)


def _papers(project: Project) -> list[Paper]:
    """The papers that print such a share, that with the most kinds judged here first."""
    kinds = {paper.name: list(filter(published, paper.protocols)) for paper in papers()}
    judged = {
        name: sum(bool(result_raters.judges_of(project, protocol.name)) for protocol in of)
        for name, of in kinds.items()
    }
    return sorted((paper for paper in papers() if kinds[paper.name]), key=lambda paper: -judged[paper.name])


def choices(project: Project) -> tuple[ViewChoice, ...]:
    named = tuple((judge.name, judge.name) for judge in judges.all_of(project))
    return (
        ViewChoice(
            "paper", "Kinds of labels", tuple((paper.title, paper.name) for paper in _papers(project))
        ),
        ViewChoice("judge", "Judge", (("every judge", EVERY), *named)),
    )


def report(project: Project, paper: str = "", judge: str = EVERY) -> list[KindAgreement]:
    """Each kind that the paper prints a share for, with each judge that judged it; unjudged kinds are included."""
    known = _papers(project)
    of = next((one for one in known if one.name == paper), known[0])
    protocols = [protocol for protocol in of.protocols if published(protocol)]
    return [agreement for protocol in protocols for agreement in _of_kind(project, protocol, judge)]


def _of_kind(project: Project, protocol: Protocol, judge: str) -> Iterator[KindAgreement]:
    query = validation.ValidationQuery(protocol.name)
    try:
        ground = validation.ground_of(project, query)
    except Refusal as refusal:
        yield KindAgreement(protocol, lacks=refusal.happened)
        return
    if protocol.paired:
        both = validation_figures.of_judges(project, protocol, together=True)
        ground = replace(
            ground, versions=[version for version in both if version.verdicts or version.missing]
        )
    result = validation.of_ground(
        project, ground, query, lambda rater: rater.is_judge and judge in (EVERY, rater.name)
    )
    for line in result.lines:
        yield KindAgreement(protocol, line)
    if not result.lines:
        yield KindAgreement(protocol, lacks=NO_JUDGE)


def departures(protocols: Iterable[Protocol]) -> tuple[str, ...]:
    """The departures of this table from the paper, with those of kinds that no other figure shows."""
    return (
        *DEPARTURES,
        *dict.fromkeys(
            words for protocol in protocols if not protocol.metrics for words in protocol.departures
        ),
    )


def sheets(agreements: list[KindAgreement]) -> tuple[ResultSheet, ...]:
    """The table; empty while no label can be compared with a judge."""
    if not any(agreement.line for agreement in agreements):
        return ()
    heads = columns(
        ("kind", "Kind of label"), ("labels", "Labels"), ("judge", "Judge"),
        ("n", "n", "Pairs of a person's label and the judge's verdict"),
        ("agreement", "Agreement", validation_figures.TITLES[SHARE][1]),
        ("kappa", "κ", "Agreement beyond chance; of ordered values with quadratic weights"),
        ("published", "Published", "The paper's agreement of its own judge with people"),
        ("place", "Place", "Where the paper prints it"),
    )  # fmt: skip
    about = (
        "All submitted labels, each judge and wording beside people. Intervals are over items.",
        *(
            f"{agreement.protocol.presentation.tab}: {agreement.lacks}"
            for agreement in agreements
            if agreement.line is None
        ),
        *dict.fromkeys(
            words
            for agreement in agreements
            if agreement.line is not None
            for words in results.floor_notes(agreement.line.rater.kind, [agreement.protocol.name])
        ),
    )
    lines = tuple(map(_line, agreements))
    differs = departures(agreement.protocol for agreement in agreements)
    return (ResultSheet("human_agreement", "Agreement with people", heads, lines, about, (), differs),)


def _line(agreement: KindAgreement) -> SheetLine:
    aim = published(agreement.protocol)
    rater = agreement.line.rater if agreement.line else None
    cells = (
        text(agreement.protocol.presentation.tab, tip=agreement.protocol.title),
        text(" / ".join(value.words.lower() for value in agreement.protocol.scale.values)),
        text(rater.name if rater else "–", tip=rater.prompt if rater else agreement.lacks),
        count(sum(agreement.line.result.confusion.values()) if agreement.line else 0, form=",.0f"),
        _cell(agreement.figure(SHARE)), _cell(agreement.figure(validation_figures.main_of(agreement.protocol.scale))),
        count(aim.value if aim else None, form=".2f", tip=f"{aim.judge} with people" if aim else ""),
        text(aim.place if aim else "–"),
    )  # fmt: skip
    behind = None
    if agreement.line is not None and rater is not None and not agreement.protocol.paired:
        behind = validation.held(
            validation.ValidationQuery(agreement.protocol.name),
            rater,
            validation_figures.ALL,
            f"{rater.name}: {agreement.protocol.title}",
        )
    return SheetLine(cells, source=behind)


def _cell(estimate: Estimate) -> SheetCell:
    return (
        validation_figures.figure_cell(estimate)
        if estimate.value is not None
        else text("–", tip=estimate.note)
    )


VIEW = result_views.ResultView(
    "human-agreement",
    "Kinds of labels",
    "Papers",
    "How far judges agree with people, kind by kind, beside the agreement that a paper prints.",
    "Let people label reports and submit their labels, and run a judge on the same reports.",
    choices,
    cached(report),
    sheets,
    "Label",
    command="goldsmith assign FILE --stage labelling",
    rests_on=(result_views.BESIDE,),
)


KIND = ResponsePart.KEYPOINTS.value


@dataclass(frozen=True, slots=True)
class FrozenPools:
    """The frozen pools: their items and points, and the reports without any accepted point."""

    items: int
    points: int
    before: int
    without: int
    changes: tuple[Change, ...] = ()

    def words(self) -> str:
        out = (
            f"{'has' if self.without == 1 else 'have'} no accepted key point: nothing of theirs is in a pool."
        )
        sentences = (
            f"{counted(self.items, 'common pool')} frozen, with {counted(self.points, 'key point')}.",
            f"{counted(self.before, 'item')} had one before; it stays as it is." if self.before else "",
            f"{counted(self.without, 'report')} {out}" if self.without else "",
        )
        return " ".join(filter(None, sentences))


def accepted(extract: Extract | None) -> tuple[KeyPoint, ...]:
    """The accepted key points of a version: all if confirmed unchanged, otherwise the individually accepted ones."""
    if extract is None or extract.state is not ExtractState.CONFIRMED:
        return ()
    own = extract.origin.startswith("person:")
    return tuple(unit for unit in extract.document.units if unit.counts and (unit.accepted or not own))


@people.for_coordinators(materials.DOES)
def freeze(project: Project, items: Sequence[str] = ()) -> FrozenPools:
    """Freeze the accepted key points of each item, or of those named by key, without duplicates, in one transaction.

    Existing pools stay. Raises Refusal if no item has an accepted key point.
    """
    judge_cases.checked_scope(project, judge_cases.RunRequest("", items=tuple(items)))
    points = before = without = 0
    changes: list[Change] = []
    with project.store.write() as db:
        for item_id in materials.item_ids(project, items):
            extractses = extracts.standing(db, [item_id])
            if ResponsePart.POOL.value in extractses.get((item_id, ""), {}):
                before += 1
                continue
            of = [
                accepted(of_kind.get(KIND)) for (_, report), of_kind in sorted(extractses.items()) if report
            ]
            without += of.count(())
            if units := merged_points(point for result in of for point in result):
                changes.append(
                    extracts.write_own(project, (item_id, ""), ResponsePart.POOL, KeyPoints(units=units))
                )
                points += len(units)
        if not changes and not before:
            raise Refusal(
                "No key point was accepted yet.",
                "Draw key points from the reports and accept them, then freeze.",
            )
    return FrozenPools(len(changes), points, before, without, tuple(changes))


@dataclass(frozen=True, slots=True)
class PointReview:
    """The decisions on the key points that a judge extracted from one report, point by point."""

    judge_id: str
    item_id: str
    accepted: int
    edited: int
    rejected: int
    waiting: int


def reviews(project: Project) -> Iterator[PointReview]:
    """People's decisions on each judge's key points, report by report; a rejected one is not in their version."""
    used = select(ITEM.c.id).where(ITEM.c.retired.is_(False))
    rows = project.query(
        select(EXTRACT).where(EXTRACT.c.kind == KIND, EXTRACT.c.item_id.in_(used))
    ).mappings()
    versions = grouped((row["response_id"], extracts.read(row)) for row in sorted(rows, key=extracts.rank))
    for of_report in versions.values():
        extract = next((one for one in of_report if one.origin.startswith("judge:")), None)
        if extract is not None:
            yield _review(extract, of_report[0])


def _review(extract: Extract, current: Extract) -> PointReview:
    now = {unit.id: unit for unit in _all(current.document.units)}
    accepted_ids = {unit.id for unit in _all(accepted(current))}
    units = extract.document.units
    accepted_units = [unit for unit in units if unit.id in accepted_ids]
    return PointReview(
        judge_id=extract.origin.partition(":")[2],
        item_id=extract.item_id,
        accepted=len(accepted_units),
        edited=sum(unit.text != now[unit.id].text for unit in accepted_units),
        rejected=sum(unit.id not in now for unit in units),
        waiting=sum(unit.id in now and unit.id not in accepted_ids for unit in units),
    )


def _all(units: Iterable[KeyPoint]) -> Iterator[KeyPoint]:
    for unit in units:
        yield from unit.parted()


def reviews_report(project: Project) -> dict[str, list[PointReview]]:
    """People's decisions on each judge's key points, report by report; only reports with a decision."""
    names = {judge.id: judge.name for judge in judges.all_of(project)}
    result = grouped(
        (names.get(review.judge_id, review.judge_id), review)
        for review in reviews(project)
        if review.accepted or review.rejected
    )
    return dict(sorted(result.items()))


def precision(reviews: list[PointReview]) -> Estimate:
    """The share of accepted points among those decided; the interval is clustered by item."""
    from annotator.stats.intervals.clustered import clustered_wilson

    holds = [
        float(value) for review in reviews for value in [True] * review.accepted + [False] * review.rejected
    ]
    return clustered_wilson(
        holds, [review.item_id for review in reviews for _ in range(review.accepted + review.rejected)]
    )


def reviews_sheets(reviews: dict[str, list[PointReview]]) -> tuple[ResultSheet, ...]:
    """A row for each judge that extracted key points; empty while nobody has decided anything."""
    if not reviews:
        return ()
    heads = columns(
        JUDGE_COLUMN, ("precision", "Precision", "Accepted key points, of all that were accepted or rejected"),
        ("accepted", "Accepted", "As drawn, or edited"), ("edited", "Edited", "Of the accepted, those reworded"),
        ("rejected", "Rejected", "Taken out of the list"), ("waiting", "Open", "Nobody has decided yet"),
        ("reports", "Reports", "Reports of which key points were decided"),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(name), figure(precision(of)), count(sum(review.accepted for review in of)),
            count(sum(review.edited for review in of)), count(sum(review.rejected for review in of)),
            count(sum(review.waiting for review in of)), count(len(of)),
        ))
        for name, of in reviews.items()
    ]  # fmt: skip
    return (
        ResultSheet(
            "key_points",
            "Key points that people accepted",
            heads,
            tuple(lines),
            (
                "Points of reports that nobody has begun to review are not counted; open ones enter no precision.",
            ),
        ),
    )


REVIEWS_VIEW = result_views.ResultView(
    "key-points",
    "Key points accepted",
    result_views.AGREEMENT,
    "How many of the key points that a judge drew from cited pages people accepted.",
    "Have key points drawn from the pages that reports give, then accept, edit or remove them under Items → Reports.",
    no_choices,
    reviews_report,
    reviews_sheets,
    page="Material",
    command=result_views.drawing(ResponsePart.KEYPOINTS),
    rests_on=(ResponsePart.KEYPOINTS.extraction,),
)
