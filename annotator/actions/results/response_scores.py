"""Scores of every response on a metric, with the names of its item and system."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, and_, func, select

from annotator.actions.items import roles
from annotator.actions.project.file import Project
from annotator.actions.results import metrics, result_raters, results, scoring
from annotator.actions.results.metrics import MetricInfo
from annotator.actions.results.result_raters import ResultRater
from annotator.actions.results.result_sheets import ViewChoice
from annotator.actions.results.scoring import ALL, Score
from annotator.domain.kinds.tasks import TRAITS
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import ITEM, RESPONSE, SYSTEM

ONE, LAST_OF_EACH = "One for all", "The last of each"
# By which of an item's fields figures are cut, and what each is called.
CUTS = {"question_type": "type", "subject": "subject", **dict(zip(TRAITS, TRAITS, strict=True))}


@dataclass(frozen=True, slots=True)
class ItemName:
    """The name and the groups of an item."""

    key: str
    question: str
    question_type: str
    subject: str
    language: str = ""
    traits: Mapping[str, str] = field(default_factory=dict)

    def filed(self, by: str) -> str:
        """What the item is filed under by one of its fields or traits."""
        return self.traits.get(by, "") if by in TRAITS else str(getattr(self, by))


@dataclass(frozen=True, slots=True)
class Scores:
    """All responses' scores on a metric; `items` and `systems` map ids to names, in the project's order."""

    metric: MetricInfo
    rater: ResultRater | None
    scores: tuple[Score, ...] = field(repr=False)
    items: Mapping[str, ItemName] = field(repr=False)
    systems: Mapping[str, str] = field(repr=False)

    def of_mode(self, mode: str = "") -> list[Score]:
        """The scores of one mode; by default of the one that counts in the results."""
        if mode:
            return [score for score in self.scores if score.mode == mode]
        return [score for score in self.scores if (ALL, ALL) in score.groups]


def of_metric(project: Project, metric: str, rater_id: str = "", among: str = "") -> Scores:
    """The scores on a metric by a rater, or by the one that judged last; none where that rater has not judged it.

    `among` narrows to the items of a cut, as `cut_choices` offers them.
    """
    info = metrics.named(metric)
    found = result_raters.everybody(project, info.protocol)
    rater = result_raters.chosen(found, rater_id if info.judged else "")
    scores = scoring.scores(project, PROTOCOLS[info.protocol], rater.id) if rater else ()
    items = items_named(project, among)
    of = tuple(
        score for score in scores if score.metric == metric and score.item_id in items and not is_part(score)
    )
    return Scores(info, rater, of, items, systems_named(project))


def is_part(score: Score) -> bool:
    """Whether a score is that of one facet of a report."""
    return any(by == scoring.FACET for by, _ in score.groups)


def items_named(project: Project, among: str = "") -> dict[str, ItemName]:
    """The items in use that systems answer by id, in the project's order; those of one cut, where one is named."""
    i = ITEM.c
    columns = (i.id, i.key, i.question, i.question_type, i.subject, i.language, i.traits)
    question = select(*columns).where(in_use(among))
    with project.store.read() as db:
        rows = db.execute(question.order_by(i.position, i.key, i.id)).all()
    return {row[0]: ItemName(*row[1:]) for row in rows}


def in_use(among: str = "") -> ColumnElement[bool]:
    """Whether an item is in use and answered by systems, and one of a cut, where one is named."""
    by, _, group = among.partition(":")
    used = and_(ITEM.c.retired.is_(False), roles.ANSWERED)
    if not among:
        return used
    return and_(used, (ITEM.c.traits[by].as_string() if by in TRAITS else ITEM.c[by]) == group)


def systems_named(project: Project) -> dict[str, str]:
    with project.store.read() as db:
        return dict(db.execute(select(SYSTEM.c.id, SYSTEM.c.name).order_by(SYSTEM.c.name)).all())


def mean_lengths(project: Project, mode: str = "", among: str = "") -> dict[str, float]:
    """Each system's mean report length in characters, by name; by default of the mode that counts in the results."""
    question = (
        select(SYSTEM.c.name, func.avg(func.length(RESPONSE.c.text)))
        .join(RESPONSE, RESPONSE.c.system_id == SYSTEM.c.id)
        .join(ITEM, ITEM.c.id == RESPONSE.c.item_id)
        .where(in_use(among), RESPONSE.c.mode.in_(scoring.counted_modes(project, mode)))
        .group_by(SYSTEM.c.name)
    )
    with project.store.read() as db:
        return {name: float(mean) for name, mean in db.execute(question)}


def by_item(scores: Iterable[Score]) -> dict[str, dict[str, list[Score]]]:
    """System → item → the scores of its runs, in order of trial."""
    found: dict[str, dict[str, list[Score]]] = defaultdict(lambda: defaultdict(list))
    for score in sorted(scores, key=lambda one: one.trial):
        found[score.system_id][score.item_id].append(score)
    return found


def mean_of_runs(runs: list[Score]) -> Estimate:
    """What a system scores on an item: the mean of its runs, undefined ones left out."""
    return scoring.mean_of_runs([run.estimate for run in runs], f"mean of {len(runs):,} runs")


def system_means(found: Scores, mode: str = "") -> dict[str, Estimate]:
    """Each system's mean over items with the interval that the results give it, by its name."""
    scores = found.of_mode(mode)
    there = {score.system_id for score in scores}
    names = {system_id: name for system_id, name in found.systems.items() if system_id in there}
    means = results.estimates(scores, list(names), found.metric.within)
    return dict(zip(names.values(), means, strict=True))


def score_choices(project: Project) -> tuple[ViewChoice, ...]:
    return metric_choice(project), rater_choice(project)


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """Which score, by whose judgements, in which mode and of which items."""
    return (*score_choices(project), *cut_choices(project))


def cut_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Of which mode responses count, and of which items; each is asked only where there are several."""
    modes, items = scoring.modes_of(project), items_named(project).values()
    groups = [
        (f"{group} ({word})", f"{by}:{group}")
        for by, word in CUTS.items()
        for group in sorted({item.filed(by) for item in items} - {""})
    ]
    mode = ViewChoice(
        "mode", "Mode", tuple((one, one) for one in modes), tip="The first counts in the results"
    )
    among = ViewChoice("among", "Items", (("All", ""), *groups))
    return tuple(one for one, several in ((mode, len(modes) > 1), (among, len(groups) > 1)) if several)


def metric_choice(project: Project) -> ViewChoice:
    there = metrics.qualities(project)
    return ViewChoice("metric", "Metric", tuple((info.title, info.name) for info in there))


def rater_choice(project: Project, protocol: str = "") -> ViewChoice:
    """Whose judgements are looked at: those under one protocol, or under any."""
    if protocol:
        found = result_raters.everybody(project, protocol)
        return ViewChoice("judge", "Judged by", tuple((f"{r.name} ({r.judgements:,})", r.id) for r in found))
    names: dict[str, str] = {}
    judged = [name for name, shape in PROTOCOLS.items() if shape.values]
    for found in result_raters.everybody_under(project, judged).values():
        for rater in found:
            if rater.id != result_raters.COMPUTED:
                names.setdefault(rater.id, rater.name)
    return ViewChoice(
        "judge",
        "Judged by",
        ((ONE, ""), (LAST_OF_EACH, result_raters.EACH), *((name, id_) for id_, name in names.items())),
    )
