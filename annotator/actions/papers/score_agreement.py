"""How scores by judges go with people's scores of the same responses, metric by metric."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from annotator.actions.project.file import Project
from annotator.actions.results import metrics, publishing, result_raters, scoring
from annotator.actions.results.result_raters import PEOPLE, ResultRater
from annotator.actions.results.result_sheets import (
    ResultSheet,
    SheetCell,
    SheetLine,
    columns,
    count,
    figure,
    no_choices,
    text,
)
from annotator.actions.results.scoring import ALL
from annotator.actions.studies.result_views import BESIDE, ResultView
from annotator.domain.judges.protocol import Metric, Over, Protocol
from annotator.domain.judges.published import ScoreAim
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS, papers
from annotator.stats.agreement.alpha import krippendorff_alpha
from annotator.stats.agreement.clustered_correlation import MEASURES, over_items, within_items

AIMS: dict[str, ScoreAim] = {aim.metric: aim for paper in papers() for aim in paper.score_aims}
# So many people rate each response in the paper.
WANTED = 3
DEPARTURES = (
    "Rates are correlated one by one, those of which less is better as 1 − rate: the paper does not say which of its "
    "three rates stands for KAE, nor n, the sample, the scale that people rated on, or how far they agreed.",
    "ρ is r of mean ranks and τ is τ-b, so that ties count; Eq. 16 holds only where there are none. Intervals are over "
    "items. Within items ρ tells whether systems are ranked alike on one task, whatever the spread between tasks.",
)


@dataclass(frozen=True, slots=True)
class ScoreAgreement:
    """One metric by one judge beside people: the scores of each response that both have, and its item."""

    shape: Protocol
    metric: Metric
    judge: ResultRater
    items: Sequence[str]
    by_judge: Sequence[float]
    by_people: Sequence[Mapping[str, float]]
    left_out: int = 0
    """Responses that both judged of which one has no whole score."""

    @property
    def title(self) -> str:
        return self.metric.title if self.metric.higher_is_better else f"1 − {self.metric.title}"

    @property
    def raters(self) -> Sequence[int]:
        return [len(of) for of in self.by_people]

    def over(self, name: str) -> Estimate:
        return over_items(name, self.by_judge, self._means(), self.items)

    def within(self) -> Estimate:
        return within_items(self.by_judge, self._means(), self.items)

    def alpha(self) -> Estimate:
        """How far people agree with one another on the score."""
        people = sorted({rater for of in self.by_people for rater in of})
        rows = [[of.get(rater) for of in self.by_people] for rater in people]
        return krippendorff_alpha(rows, "interval", clusters=list(self.items))

    def _means(self) -> list[float]:
        return [fmean(of.values()) for of in self.by_people]


def report(project: Project) -> list[ScoreAgreement]:
    """Every metric of quality that a judge and people scored the same responses by."""
    known = {info.name for info in metrics.qualities(project)}
    found = []
    for shape in PROTOCOLS.values():
        own = [one for one in shape.metrics if one.name in known and one.over is Over.RESPONSE]
        raters = result_raters.raters(project, shape.name) if own and shape.values else []
        if PEOPLE not in {one.id for one in raters}:
            continue
        people, labelled = _scores(project, shape, own, PEOPLE)
        for judge in (one for one in raters if one.id != PEOPLE):
            theirs, judged = _scores(project, shape, own, judge.id)
            for metric in own:
                lines = [
                    (item, next(iter(of.values())), people[metric.name][item, response])
                    for (item, response), of in theirs[metric.name].items()
                    if (item, response) in people[metric.name]
                ]
                if lines:
                    of_items, by_judge, by_people = zip(*lines, strict=True)
                    out = len(labelled & judged) - len(lines)
                    found.append(ScoreAgreement(shape, metric, judge, of_items, by_judge, by_people, out))
    return found


Place = tuple[str, str]
Scored = dict[Place, dict[str, float]]


def _scores(
    project: Project, shape: Protocol, own: Sequence[Metric], rater: str
) -> tuple[dict[str, Scored], set[Place]]:
    """Metric → (item, response) → rater → score, more being better; and of which responses anything was said.

    Incomplete scores are left out.
    """
    heard: set[Place] = set()
    found: dict[str, Scored] = {metric.name: defaultdict(dict) for metric in own}
    for one in scoring.heard(project, shape, rater):
        if (ALL, ALL) not in one.groups:
            continue
        place = one.material.item.id, one.material.response.id
        for who, scored in one.said.items():
            if scored.values or scored.reverse:
                heard.add(place)
            for metric in own:
                value = metric.score(scored, False).value
                if value is not None:
                    found[metric.name][place][who] = (
                        value if metric.higher_is_better else sum(metric.within) - value
                    )
    return found, heard


def sheets(found: list[ScoreAgreement]) -> tuple[ResultSheet, ...]:
    """A row for each metric and judge."""
    if not found:
        return ()
    heads = columns(
        ("metric", "Score"), ("judge", "Judge"), ("responses", "Responses"), ("items", "Items"),
        ("raters", "People a response"),
        *((name, title) for name, (_, _, title) in MEASURES.items()),
        ("within", "ρ within items", "Spearman's ρ within each item, averaged over items"),
        ("alpha", "α of people", "Krippendorff's α between people, of the score, by squared differences"),
        *((f"published_{name}", f"Published {title}") for name, (_, _, title) in MEASURES.items()),
        ("place", "Place", "Where the paper prints it"),
    )  # fmt: skip
    told = ["People's scores of a response are averaged. Intervals are over items."]
    told += [
        f"{one.title}, {one.judge.name}: {sum(n < WANTED for n in one.raters):,} of {len(one.raters):,} responses were "
        f"rated by fewer than {WANTED} people."
        for one in found
        if min(one.raters) < WANTED
    ]
    told += [
        f"{one.title}, {one.judge.name}: {counted(one.left_out, 'response')} left out, of which a judgement is missing "
        "or the score is undefined."
        for one in found
        if one.left_out
    ]
    floors = (words for one in found for words in publishing.floor_told(one.judge.kind, [one.shape.name]))
    told += dict.fromkeys(floors)
    told += dict.fromkeys(one.judge.remark for one in found if one.judge.remark)
    lines = tuple(SheetLine(tuple(_cells(one))) for one in found)
    return (
        ResultSheet(
            "score_agreement", "Scores beside people's", heads, lines, tuple(told), departures=DEPARTURES
        ),
    )


def _cells(one: ScoreAgreement) -> Iterator[SheetCell]:
    aim, least, most = AIMS.get(one.metric.name), min(one.raters), max(one.raters)
    yield text(one.title, tip=one.shape.title)
    yield text(one.judge.name)
    yield from (count(len(one.items)), count(len(set(one.items))))
    yield text(f"{least}" if least == most else f"{least}–{most}")
    yield from (figure(one.over(name)) for name in MEASURES)
    yield from (figure(one.within()), figure(one.alpha()))
    yield from (count(getattr(aim, name, None), form=".2f") for name in MEASURES)
    yield text(aim.place if aim else "–")


VIEW = ResultView(
    "score-agreement",
    "Scores beside people's",
    "Papers",
    "Whether a judge's scores of responses rise and fall with those that people give.",
    "Let people label reports, three of them each report where you can, and have a judge judge the same ones.",
    no_choices,
    report,
    sheets,
    "Label",
    command="goldsmith assign FILE --stage labelling",
    rests_on=(BESIDE,),
)
