"""How far judges agree with people, kind by kind of label, beside the agreement that a paper prints."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.project.keeping import kept
from annotator.actions.results import publishing, result_raters
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetLine,
    ViewChoice,
    columns,
    count,
    text,
)
from annotator.actions.sets import validation_figures, validation_values
from annotator.actions.sets.validation_figures import TITLES, told
from annotator.actions.sets.validation_units import ALL
from annotator.actions.studies.result_views import BESIDE, ResultView
from annotator.actions.validation import validation
from annotator.actions.validation.validation import RaterFigures, ValidationQuery
from annotator.actions.validation.validation_behind import held
from annotator.domain.judges.paper import Paper
from annotator.domain.judges.protocol import Protocol
from annotator.domain.judges.published import Aim
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import papers

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
    """One judge on one kind of label; without a `line` there is nothing to compare, and `lacks` says why."""

    shape: Protocol
    line: RaterFigures | None = None
    lacks: str = ""

    def figure(self, name: str) -> Estimate:
        """A figure of the judge, or why there is none."""
        nothing = Estimate(None, note=self.lacks)
        return self.line.told.plain.get(name, nothing) if self.line is not None else nothing


def published(shape: Protocol) -> Aim | None:
    """The printed share of labels on which a judge and people say the same."""
    return next((aim for aim in shape.aims if aim.judge and aim.figure == SHARE), None)


def _papers(project: Project) -> list[Paper]:
    """The papers that print such a share, that of which most kinds were judged here first."""
    kinds = {paper.name: list(filter(published, paper.protocols)) for paper in papers()}
    judged = {
        name: sum(bool(result_raters.judges_of(project, one.name)) for one in of)
        for name, of in kinds.items()
    }
    return sorted((paper for paper in papers() if kinds[paper.name]), key=lambda paper: -judged[paper.name])


def choices(project: Project) -> tuple[ViewChoice, ...]:
    named = tuple((one.name, one.name) for one in judges.all_of(project))
    return (
        ViewChoice(
            "paper", "Kinds of labels", tuple((paper.title, paper.name) for paper in _papers(project))
        ),
        ViewChoice("judge", "Judge", (("every judge", EVERY), *named)),
    )


def report(project: Project, paper: str = "", judge: str = EVERY) -> list[KindAgreement]:
    """Each kind that the paper prints a share for, with each judge that judged it; every kind is there."""
    known = _papers(project)
    of = next((one for one in known if one.name == paper), known[0])
    shapes = [shape for shape in of.protocols if published(shape)]
    return [one for shape in shapes for one in _of_kind(project, shape, judge)]


def _of_kind(project: Project, shape: Protocol, judge: str) -> Iterator[KindAgreement]:
    query = ValidationQuery(shape.name)
    try:
        ground = validation.ground_of(project, query)
    except Refusal as refusal:
        yield KindAgreement(shape, lacks=refusal.happened)
        return
    if shape.paired:
        both = validation_values.of_judges(project, shape, together=True)
        ground = replace(ground, versions=[one for one in both if one.said or one.missing])
    found = validation.of_ground(
        project, ground, query, lambda one: one.is_judge and judge in (EVERY, one.name)
    )
    for line in found.lines:
        yield KindAgreement(shape, line)
    if not found.lines:
        yield KindAgreement(shape, lacks=NO_JUDGE)


def departures(shapes: Iterable[Protocol]) -> tuple[str, ...]:
    """Where this table differs from the paper, with what is said of kinds that no other figure shows."""
    return (
        *DEPARTURES,
        *dict.fromkeys(words for one in shapes if not one.metrics for words in one.departures),
    )


def sheets(found: list[KindAgreement]) -> tuple[ResultSheet, ...]:
    """The table; none while nobody labelled anything that a judge judged."""
    if not any(one.line for one in found):
        return ()
    heads = columns(
        ("kind", "Kind of label"), ("labels", "Labels"), ("judge", "Judge"),
        ("n", "n", "Pairs of a person's label and the judge's verdict"),
        ("agreement", "Agreement", TITLES[SHARE][1]),
        ("kappa", "κ", "Agreement beyond chance; of ordered values with quadratic weights"),
        ("published", "Published", "The paper's agreement of its own judge with people"),
        ("place", "Place", "Where the paper prints it"),
    )  # fmt: skip
    about = (
        "All submitted labels, each judge and wording beside people. Intervals are over items.",
        *(f"{one.shape.presentation.tab}: {one.lacks}" for one in found if one.line is None),
        *dict.fromkeys(
            words
            for one in found
            if one.line is not None
            for words in publishing.floor_told(one.line.rater.kind, [one.shape.name])
        ),
    )
    lines = tuple(map(_line, found))
    differs = departures(one.shape for one in found)
    return (ResultSheet("human_agreement", "Agreement with people", heads, lines, about, (), differs),)


def _line(one: KindAgreement) -> SheetLine:
    aim, values = published(one.shape), one.shape.scale.values
    share, kappa = one.figure(SHARE), one.figure(validation_figures.main_of(one.shape.scale))
    rater = one.line.rater if one.line else None
    cells = (
        text(one.shape.presentation.tab, tip=one.shape.title),
        text(" / ".join(value.words.lower() for value in values)),
        text(rater.name if rater else "–", tip=rater.prompt if rater else one.lacks),
        count(sum(one.line.told.confusion.values()) if one.line else 0, form=",.0f"),
        _told(share), _told(kappa),
        count(aim.value if aim else None, form=".2f", tip=f"{aim.judge} with people" if aim else ""),
        text(aim.place if aim else "–"),
    )  # fmt: skip
    behind = None
    if one.line is not None and rater is not None and not one.shape.paired:
        behind = held(ValidationQuery(one.shape.name), rater, ALL, f"{rater.name}: {one.shape.title}")
    return SheetLine(cells, source=behind)


def _told(found: Estimate) -> SheetCell:
    return told(found) if found.value is not None else text("–", tip=found.note)


VIEW = ResultView(
    "human-agreement",
    "Kinds of labels",
    "Papers",
    "How far judges agree with people, kind by kind, beside the agreement that a paper prints.",
    "Let people label reports and submit their labels, and run a judge on the same reports.",
    choices,
    kept(report),
    sheets,
    "Label",
    command="goldsmith assign FILE --stage labelling",
    rests_on=(BESIDE,),
)
