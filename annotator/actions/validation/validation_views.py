"""Views of validation: their content, choices, and advice when there is nothing to show."""

from collections.abc import Sequence

from annotator.actions.attacks import biases
from annotator.actions.judges import judges
from annotator.actions.judging import drift
from annotator.actions.project.file import Project, cached
from annotator.actions.results import result_raters
from annotator.actions.results.result_sheets import ViewChoice
from annotator.actions.results.scoring import USUAL_METRIC
from annotator.actions.sets import reviews, validation_figures, validation_ground, validation_sets
from annotator.actions.studies.result_views import BESIDE, SEVERAL_JUDGES, ResultView
from annotator.actions.validation import corrected, disagreements, stand_in, validation
from annotator.domain.common import grouped
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.validation import Split
from annotator.protocols import PROTOCOLS, USUAL

JUDGES = "Judges beside people"
ANY, WEIGHTED = "", "weighted"
# Figures of a positive value are offered; which value that is, is chosen beside them.
ANY_POSITIVE = "any"
PARTS = (
    (Split.DEV.value, Split.DEV.value),
    ("test (views are counted)", Split.TEST.value),
    ("whole (views are counted)", validation_ground.WHOLE),
)
Condition = tuple[str, tuple[str, ...]] | None
MARGINS = ("0.05", "0.02", "0.1", "0.2")
EPSILONS = (("0.2 (experts)", "0.2"), ("0.15 (skilled annotators)", "0.15"), ("0.1 (a crowd)", "0.1"))
WIDTHS = ("0.1", "0.05", "0.2", "0.3")
NOBODY = "Let people label reports and submit their labels, and run a judge on the same reports."


def choices(project: Project) -> tuple[ViewChoice, ...]:
    """The choices of protocol, labels, people to compare judges with, and breakdown."""
    return (
        *_labels(project),
        ViewChoice("by", "Break down by", tuple((name, name) for name in validation_figures.BY)),
    )


def _of(protocol: str, name: str, part: str, against: str, **more: str) -> validation.ValidationQuery:
    """The query of these choices; without a name to compare with, everybody counts."""
    return validation.ValidationQuery(protocol, name, part, (against,) if against else (), **more)


def report(
    project: Project, protocol: str = USUAL, set: str = "", part: str = "", against: str = "",  # noqa: A002
    by: str = validation_figures.ALL, positive: str = "", opening: str = "",
) -> validation.Validation:  # fmt: skip
    """The validation of these choices; `opening` is the id of a counted look if the test part is shown."""
    return validation.report(
        project, _of(protocol, set, part, against, positive=positive, by=by, opening=opening)
    )


def answers(
    project: Project, protocol: str = USUAL, set: str = "", part: str = "", against: str = "",  # noqa: A002
    figure: str = "", counting: str = ANY, delta: str = MARGINS[0], epsilon: str = EPSILONS[0][1],
    positive: str = "", opening: str = "",
) -> stand_in.StandInAnswers:  # fmt: skip
    """Whether each judge may stand in for people."""
    of = _of(protocol, set, part, against, positive=positive, opening=opening)
    return stand_in.report(
        project,
        stand_in.StandInQuery(of, figure, counting == WEIGHTED, float(delta), float(epsilon)),
    )


def choice_of_judge(
    project: Project, protocol: str = USUAL, set: str = "", part: str = "", against: str = "",  # noqa: A002
    figure: str = "", counting: str = ANY, reference: str = validation_ground.PEOPLE, delta: str = MARGINS[0],
    positive: str = "", opening: str = "",
) -> stand_in.JudgeChoice:  # fmt: skip
    """The cheapest judge that is not worse than the reference by more than `delta`."""
    of = _of(protocol, set, part, against, positive=positive, opening=opening)
    return stand_in.choose(
        project,
        stand_in.JudgeChoiceQuery(of, figure, counting == WEIGHTED, float(delta), reference=reference),
    )


def leaderboard(
    project: Project, judge: str = "", set: str = "", part: str = "", against: str = "",  # noqa: A002
    width: str = WIDTHS[0], opening: str = "", metric: str = USUAL_METRIC,
) -> corrected.CorrectedLeaderboard:  # fmt: skip
    return corrected.report(
        project,
        corrected.CorrectionQuery(
            set_name=set,
            part=part,
            against=(against,) if against else (),
            judge=judge,
            opening=opening,
            width=float(width),
            metric=metric,
        ),
    )


def rulings(
    project: Project, protocol: str = USUAL, set: str = "", part: str = "", against: str = "",  # noqa: A002
    positive: str = "", opening: str = "",
) -> Sequence[disagreements.RuledJudge]:  # fmt: skip
    return disagreements.report(
        project, _of(protocol, set, part, against, positive=positive, opening=opening)
    )


@cached
def _labels(project: Project) -> tuple[ViewChoice, ...]:
    """The choices of protocol and, for each, a locked set and its part, people, and the positive value of several."""
    locked_protocols = {one.protocol for one in validation_sets.sets(project) if one.locked_at}
    judged = [
        name
        for name, protocol in PROTOCOLS.items()
        if protocol.values and (name in locked_protocols or result_raters.judges_of(project, name))
    ]
    names = judged or [USUAL]
    return (
        ViewChoice("protocol", "What was judged", tuple((PROTOCOLS[name].title, name) for name in names)),
        *(choice for name in names for choice in _within(project, name, ("protocol", (name,)))),
    )


def _within(project: Project, protocol: str, only_if: Condition) -> tuple[ViewChoice, ...]:
    locked = [one for one in validation_sets.sets(project) if one.protocol == protocol and one.locked_at]
    set_names, values = tuple((one.name, one.name) for one in locked), PROTOCOLS[protocol].values
    of_set = (
        ViewChoice("set", "Labels", (("all that were submitted", ANY), *set_names), only_if),
        # The test part is opened only on purpose, so the dev part comes first.
        ViewChoice("part", "Part", PARTS, ("set", tuple(name for name, _ in set_names))),
    )
    persons = ("all people", ANY), *result_raters.named_people(project, protocol)
    positives = ("none", ANY), *((value.replace("_", " "), value) for value in values)
    return (
        *(of_set if set_names else ()),
        ViewChoice("against", "Compared with", persons, only_if),
        *((ViewChoice("positive", "Positive", positives, only_if),) if len(values) > 2 else ()),
    )


def _by(protocol: ViewChoice) -> tuple[ViewChoice, ...]:
    """The choice of figures by which a judge is compared with people, fitting the values of the protocol."""
    of_level = grouped(
        (validation_figures.choosable(PROTOCOLS[name].scale, ANY_POSITIVE), name)
        for _, name in protocol.values
    )
    figures = (
        ViewChoice(
            "figure", "Agreement", tuple((validation_figures.TITLES[name][0], name) for name in _main_first(names)),
            ("protocol", tuple(protocols)) if of_level.keys() - {names} else None,
        )
        for names, protocols in of_level.items()
    )  # fmt: skip
    return (
        *figures,
        ViewChoice("counting", "Each unit counts", (("one", ANY), ("its weight", WEIGHTED))),
    )


def _main_first(names: tuple[str, ...]) -> list[str]:
    return sorted(names, key=lambda name: (name != names[0], list(validation_figures.TITLES).index(name)))


def _of_answers(project: Project) -> tuple[ViewChoice, ...]:
    return (
        *(labels := _labels(project)),
        *_by(labels[0]),
        ViewChoice("delta", "Worse by δ at most", tuple((margin, margin) for margin in MARGINS)),
        ViewChoice("epsilon", "Alt-test's ε", EPSILONS),
    )


def _of_choice(project: Project) -> tuple[ViewChoice, ...]:
    labels = _labels(project)
    references = (("people", validation_ground.PEOPLE), ("the best judge", stand_in.BEST))
    return (
        *labels,
        *_by(labels[0]),
        *(
            ViewChoice(
                "reference", "Not worse than", (*references, *((name, name) for name in _judges(project, protocol))),
                ("protocol", (protocol,)),
            )
            for _, protocol in labels[0].values
        ),
        ViewChoice("delta", "By more than δ", tuple((margin, margin) for margin in MARGINS)),
    )  # fmt: skip


def _judges(project: Project, protocol: str) -> list[str]:
    judge_ids = result_raters.judges_of(project, protocol)
    result = [judge for judge in judges.all_of(project) if judge.id in judge_ids]
    return [one.name for one in sorted(result, key=lambda judge: judge.kind == JudgeKind.BASELINE.value)]


def _of_leaderboard(project: Project) -> tuple[ViewChoice, ...]:
    metrics = corrected.offered(project)
    made = (
        [ViewChoice("metric", "Metric", tuple((one.title, one.name) for one in metrics))]
        if metrics[1:]
        else []
    )
    for info in metrics:
        only_if = ("metric", (info.name,)) if metrics[1:] else None
        names = tuple((name, name) for name in _judges(project, info.protocol))
        made += [ViewChoice("judge", "Judge", names, only_if)] if names else []
        made += [each for each in _within(project, info.protocol, only_if) if each.name != "positive"]
    return (*made, ViewChoice("width", "Wanted width", tuple((width, width) for width in WIDTHS)))


def _of_judges(project: Project) -> tuple[ViewChoice, ...]:
    return _labels(project)[:1]


def _of_reviews(project: Project) -> tuple[ViewChoice, ...]:
    return _labels(project)[0], ViewChoice("by", "Break down by", tuple((name, name) for name in reviews.BY))


VIEWS: tuple[ResultView, ...] = (
    ResultView(
        "answer",
        "May a judge stand in?",
        JUDGES,
        "Yes, no or not yet known, and why.",
        NOBODY,
        _of_answers,
        cached(answers),
        stand_in.sheets,
        "Label",
    ),
    ResultView(
        "judges",
        "Agreement",
        JUDGES,
        "Each judge and wording compared with people, beside people compared with one another.",
        NOBODY,
        choices,
        cached(report),
        validation.sheets,
        "Label",
        rests_on=(BESIDE,),
    ),
    ResultView(
        "choice",
        "Choose a judge",
        JUDGES,
        "Agreement against cost, and the cheapest judge that is not worse than you need.",
        NOBODY,
        _of_choice,
        cached(choice_of_judge),
        stand_in.choice_sheets,
        "Label",
    ),
    ResultView(
        "corrected",
        "Corrected leaderboard",
        JUDGES,
        "Scores raw and corrected by people's labels, certainty of the ranking, and what to label next.",
        NOBODY,
        _of_leaderboard,
        cached(leaderboard),
        corrected.sheets,
        "Label",
    ),
    ResultView(
        "between",
        "Judges beside each other",
        JUDGES,
        "How often two judges say the same, and how far that varies from run to run.",
        "Run two judges on the same reports.",
        _of_judges,
        cached(biases.consistency),
        page="Judges",
        rests_on=(SEVERAL_JUDGES,),
    ),
    ResultView(
        "again",
        "Runs compared",
        JUDGES,
        "Which verdicts a judge gave otherwise when it was asked for them again, and what else changed.",
        "Select a run under Judges → Runs, and choose Run again and compare.",
        drift.choices,
        cached(drift.report),
        drift.sheets,
        "Judges",
    ),
    ResultView(
        "rulings",
        "First labels and rulings",
        JUDGES,
        "Effect of rulings on agreement; first labels stay the metric.",
        NOBODY,
        _labels,
        cached(rulings),
        disagreements.sheets,
        "Label",
    ),
    ResultView(
        "reviews",
        "Reviews",
        JUDGES,
        "How much of a judge experts accept when they see its verdicts; kept apart from blind labels.",
        "Have experts review the verdicts of a judge.",
        _of_reviews,
        cached(reviews.report),
        reviews.sheets,
        "Label",
    ),
    ResultView(
        "bias",
        "Bias",
        JUDGES,
        "How often attacks on copies of reports change verdicts, and judges' position, length and family "
        "bias.",
        "Run a judge on some reports (the baseline judge needs no network), then test it under Attacks.",
        biases.choices,
        cached(biases.panel),
        page="Judges",
    ),
)
