"""Whether a judge may stand in for people, with reasons; and which judge is the cheapest that is good enough."""

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from annotator.actions.project.file import Project, cached
from annotator.actions.results import result_raters, results
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    columns,
    count,
    figure,
    in_words,
    or_why,
    percent,
    picture,
    text,
)
from annotator.actions.sets import validation_figures, validation_ground, validation_sets
from annotator.actions.sets.validation_figures import (
    TITLES,
    JudgeDifference,
    RaterResult,
    TruthPairs,
    figure_cell,
    remark,
    scoring_of,
)
from annotator.actions.sets.validation_ground import PEOPLE, TOGETHER, Ground, ValidationRater
from annotator.actions.validation import validation
from annotator.actions.validation.validation import RaterFigures, held
from annotator.domain.common import Refusal, counted, refuse_other, required
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.estimate import ROUGH, Estimate, of_items, without_width
from annotator.exchange import pictures
from annotator.protocols import PROTOCOLS
from annotator.stats.intervals.clustered import holm
from annotator.stats.validation import comparison
from annotator.stats.validation.comparison import Named
from annotator.stats.validation.duels import standings

DELTA = 0.05
# The largest p of a Yes or No. A judge at the margin gets either in at most 3 of 100 projects: at 20 items, chance
# gives it a fifth more than p says (`benchmarks.standing_in`).
ERROR = 0.02
# If more than this share of labels are the same, agreement beyond chance rests on very few.
PREVAILING = 0.9
# The alternative annotator test leaves out each person in turn and compares the others with one another.
FEWEST_PEOPLE = 3


class StandInVerdict(StrEnum):
    YES = "Yes"
    UNKNOWN = "Not yet known"
    NO = "No"


@dataclass(frozen=True, slots=True)
class StandInQuery:
    """The labels, the figure, and the accepted margin below people's agreement.

    `figure` is that of the scale by default. `delta` is the margin of the figure, `epsilon` that of the alternative
    annotator test: the worth of a judge's lower cost (the paper takes 0.2 for experts, 0.15 for skilled people, 0.1 for
    a crowd). `least` is the agreement beyond chance that a judge must be shown to exceed.
    """

    of: validation.ValidationQuery = field(default_factory=validation.ValidationQuery)
    figure: str = ""
    weighted: bool = False
    delta: float = DELTA
    epsilon: float = comparison.EPSILON
    least: float = 0.0


@dataclass(frozen=True, slots=True)
class StandInAnswer:
    """Whether a judge may stand in, and why: its agreement with people, and people's with one another.

    The figures are over units that it judged and two people labelled; `items` and `people` count theirs. A rater that
    always gives the same value has 0 in the scale's main figure (κ, quadratic κ or ICC), but may have nearly 1 in AC1:
    `from_chance` compares the main ones. `alt` is the alternative annotator test, None if fewer than three people
    labelled. `p` and `worse` are the one-sided p-values for a judge not better, and not worse, than the margin,
    adjusted for all judges and looks (Holm), which `family` counts. `lacking` is the share of missing judgements if it
    is too high. `remarks` are what a reader must know before trusting the figures.
    """

    rater: ValidationRater
    query: StandInQuery
    judge: Estimate
    human: Estimate
    difference: Estimate
    from_chance: comparison.GroupDifference
    alt: comparison.AltTest | None
    items: int
    people: int
    p: float | None
    worse: float | None
    lacking: float | None
    remarks: tuple[str, ...]
    family: str = ""

    @property
    def verdict(self) -> StandInVerdict:
        """The answer; above a limit of missing judgements there is no Yes."""
        if self._rough:
            return StandInVerdict.UNKNOWN
        if self.worse is not None and self.worse <= ERROR:
            return StandInVerdict.NO
        passed = self.alt is None or self.alt.passed is not False
        better = self.p is not None and self.p <= ERROR
        shown = better and passed and self.lacking is None and not self._chance()
        return StandInVerdict.YES if shown else StandInVerdict.UNKNOWN

    @property
    def because(self) -> str:
        """The reasons in words, what to do if it is not yet known, and the remarks."""
        missing = f"{percent(self.lacking, 1)} of its judgements are missing" if self.lacking else ""
        reasons = "; ".join(filter(None, (missing, self._by_margin(), self._chance(), self._by_alt_test())))
        return " ".join((f"{reasons}.{self._todo()}", *self.remarks))

    @property
    def _alone(self) -> bool:
        return self.people < 2 and self.difference.value is None

    @property
    def _rough(self) -> bool:
        """Whether the interval is of too few items or has no width: then nothing follows from it."""
        return ROUGH in self.difference.note or without_width(self.difference)

    def _chance(self) -> str:
        """Why agreement beyond chance is not shown, of the judge or of people; empty if it is."""
        judge, people, least = self.from_chance.one, self.from_chance.other, self.query.least
        if self._alone:
            return ""
        if people.low is None or people.low <= 0:
            beyond = "not known yet" if people.low is None else "not shown"
            return f"people are no reference: their agreement beyond chance is {beyond} ({or_why(people)})"
        if judge.low is None or judge.low <= least:
            return f"its own agreement beyond chance is not shown to be above {least:g} ({or_why(judge)})"
        return ""

    def _by_margin(self) -> str:
        result, query = self.difference, self.query
        title = TITLES[query.figure][0] + (", by weight" if query.weighted else "")
        if self._alone:
            return "only one person labelled, so that people's agreement with one another is not known"
        if result.value is None or result.low is None or result.high is None:
            why = of_items(result.note) or "too little is labelled"
            return f"the difference of {title} to people has no interval ({why})"
        margin = f"−{query.delta:g}"
        if self._rough:
            words = f"says too little ({of_items(result.note)})"
        elif result.low >= -query.delta:
            words = f"stays above {margin}, so it is not worse than people with one another"
            if self.p is None or self.p > ERROR:
                words = f"stays above {margin} by itself, which may be chance"
        elif result.high < -query.delta:
            words = f"stays below {margin}, so it is worse than people with one another"
            if self.worse is None or self.worse > ERROR:
                words = f"stays below {margin} by itself, which may be chance"
        else:
            words = (
                f"reaches to both sides of {margin}, so it may be worse than people with one another or not"
            )
        of = f", of {self.family}" if self.family else ""
        shown = self.worse if result.high < -query.delta else self.p
        p = "" if shown is None else f", p {shown:.3f}{of}"
        return f"Δ {title} {in_words(result)} {words} (n = {result.n:,}, {counted(self.items, 'item')}{p})"

    def _by_alt_test(self) -> str:
        alt = self.alt
        if alt is None:
            who = counted(self.people, "person labelled", "people labelled")
            return f"the alternative annotator test takes {FEWEST_PEOPLE} people, and {who}"
        if alt.passed is None or alt.winning_rate.value is None:
            return f"the alternative annotator test cannot be made ({of_items(alt.winning_rate.note)})"
        return (
            f"the alternative annotator test is {'' if alt.passed else 'not '}passed: ω "
            f"{alt.winning_rate.value:.2f} of {alt.winning_rate.n} people, {'at least' if alt.passed else 'below'} "
            f"{comparison.PASSING:g}; ρ {in_words(alt.advantage)}; ε {self.query.epsilon:g}"
        )

    def _todo(self) -> str:
        if self.verdict is not StandInVerdict.UNKNOWN:
            return ""
        if self._alone:
            return " Have a second person label some of the same reports."
        if self.lacking is not None:
            return " Let it judge what is missing."
        return " Have more items labelled, each by two people or more."


@dataclass(frozen=True, slots=True)
class StandInAnswers:
    """The answer on every judge, accepted ones first; `against` names in words whose labels are true.

    `notes` apply to all of them: how several trials count, how often the test part was viewed.
    """

    query: StandInQuery
    against: str
    answers: tuple[StandInAnswer, ...]
    notes: tuple[str, ...] = ()

    def of(self, rater: ValidationRater) -> StandInAnswer:
        """The answer of a judge; raises KeyError if there is none."""
        return {answer.rater.key: answer for answer in self.answers}[rater.key]


@cached
def report(project: Project, query: StandInQuery) -> StandInAnswers:
    """The answer of every judge; raises Refusal if nobody has labelled, or no judge has judged, these units."""
    refuse_senseless(query)
    result = validation.ground_of(project, query.of)
    if not result.judges():
        raise Refusal("No judge has judged what people labelled.", "Run a judge on these reports first.")
    return of_ground(project, result, query)


def refuse_senseless(query: StandInQuery) -> None:
    """Raise Refusal for invalid margins and unknown figures."""
    if query.delta < 0 or query.epsilon < 0:
        raise Refusal("A margin must not be negative.", "Give how much worse a judge may be, such as 0.05.")
    if not 0 <= query.least < 1:
        raise Refusal("The least agreement must be 0 or more and below 1.", "Give another, such as 0.4.")
    if query.figure and query.figure not in TITLES:
        raise Refusal(f"Judges cannot be chosen by “{query.figure}”.", f"Use one of {', '.join(TITLES)}.")


def of_ground(project: Project, ground: Ground, query: StandInQuery) -> StandInAnswers:
    """The answers on these labels; a judge named alone is still adjusted for all that judged the same."""
    whole = validation.ground_of(project, replace(query.of, judge="")) if query.of.judge else ground
    looks = validation_sets.looks(project, query.of.set_name, query.of.part)
    of_all, asked_about = decided(whole, query, results.limit(project), looks), ground.judges()
    keys = {rater.key for rater in asked_about}
    answers = tuple(answer for answer in of_all.answers if answer.rater.key in keys)
    notes = *ground.repeats(project, asked_about), *validation_sets.viewed(project, query.of.set_name)
    return replace(of_all, answers=answers, notes=notes)


def decided(
    ground: Ground, query: StandInQuery, limit: float = results.USUAL_DRAWING, looks: int = 0
) -> StandInAnswers:
    """The answers on all judges; above a share of `limit` missing judgements there is no Yes.

    All judges are one family, in as many `looks` at the test part as there were: p-values are Holm's, times the looks.
    """
    order = list(StandInVerdict)
    positive = validation_figures.positive_of(ground.protocol, query.of.positive)
    named = validation_figures.chosen_figure(ground.protocol, query.figure, positive, weighted=query.weighted)
    query, raters = replace(query, figure=named), ground.judges()
    alone = [_answer(ground, query, rater, positive, limit) for rater in raters]
    better, worse = (
        [None if p is None else min(1.0, p * max(1, looks)) for p in holm(ps)]
        for ps in ([one.p for one in alone], [one.worse for one in alone])
    )
    several = (counted(many, one) for many, one in ((len(raters), "judge"), (looks, "look")) if many > 1)
    family = " and ".join(several)
    answers = [
        replace(one, p=p, worse=q, family=family) for one, p, q in zip(alone, better, worse, strict=True)
    ]
    answers.sort(
        key=lambda answer: (
            order.index(answer.verdict),
            answer.rater.kind == JudgeKind.BASELINE.value,
            answer.rater.name,
        )
    )
    return StandInAnswers(query, validation.against_words(ground), tuple(answers))


def _answer(
    ground: Ground, query: StandInQuery, rater: ValidationRater, positive: str, limit: float
) -> StandInAnswer:
    """The answer on a judge with p-values that are not adjusted yet."""
    judge, human = _shared(ground, query, rater)
    scale = ground.protocol.scale
    beside, from_chance = (
        validation_figures.beside(judge, human, figure, positive, scale, -query.delta)
        for figure in (query.figure, validation_figures.main_of(scale))
    )
    other = validation_figures.scotts({"": beside.other})[""] if ground.both_ways else beside.other
    known = int(ground.known.sum())
    lacking = sum(ground.missing(rater, ground.known).values()) / known if known else 0.0
    return StandInAnswer(
        rater, query, beside.one, other, beside.difference, from_chance, _alt_test(ground, query, rater),
        len(np.unique(human.items)), len(_people(ground)), beside.p_above, beside.p_below,
        lacking if lacking > limit else None, tuple(_remarks(ground, rater, judge, from_chance.other)),
    )  # fmt: skip


def _remarks(ground: Ground, rater: ValidationRater, judge: TruthPairs, ceiling: Estimate) -> Iterator[str]:
    true = judge.truth.tolist()
    value, count = Counter(true).most_common(1)[0] if true else ("", 0)
    if count > PREVAILING * len(true):
        yield (
            f"{percent(count / len(true))} of people's labels are “{value}”: agreement beyond chance rests on the "
            "few others."
        )
    people = _people(ground)
    if len(people) < 2 or ceiling.value is None:
        return
    scale = ground.protocol.scale
    for person in sorted(people, key=ground.aliases.__getitem__):
        pairs = ground.pairs_with(rater, person).there()
        if not len(pairs.truth):
            continue
        own = validation_figures.beside(pairs, pairs, validation_figures.main_of(scale), "", scale).one
        # With independent errors, a perfect judge agrees with a person to the root of people's agreement.
        if own.low is not None and own.low > max(0.0, ceiling.value) ** 0.5:
            yield (
                f"It agrees with {ground.aliases[person]} ({in_words(own)}) further than a judge without errors would, "
                f"as people agree with one another ({in_words(ceiling)}): it may have been tuned on, or copied from, "
                "those labels."
            )


def _people(ground: Ground) -> dict[str, dict[validation_figures.Key, str | None]]:
    """The people whose labels a judge is compared with; for a consensus, those who labelled."""
    return dict(ground.people if result_raters.CONSENSUS in ground.truth else ground.truth)


def _shared(ground: Ground, query: StandInQuery, rater: ValidationRater) -> tuple[TruthPairs, TruthPairs]:
    """The pairs of a judge with people, and of people with one another, on the units that both have.

    A unit counts the same in both: of three people there are three pairs with a judge, and six with one another.
    """
    judge, human = ground.pairs(rater).there(), ground.pairs(TOGETHER).there()
    with_judge, many = (np.bincount(pairs.units, minlength=len(ground.places)) for pairs in (judge, human))
    judge, human = judge.among(many > 0), human.among(with_judge > 0)
    heavy = human.weights if query.weighted else np.ones(len(human.weights))
    return (
        judge if query.weighted else replace(judge, weights=np.ones(len(judge.weights))),
        replace(human, weights=heavy * with_judge[human.units] / many[human.units]),
    )


def _alt_test(ground: Ground, query: StandInQuery, rater: ValidationRater) -> comparison.AltTest | None:
    people, judged = _people(ground), ground.version(rater).verdicts
    if len(people) < FEWEST_PEOPLE:
        return None
    keys = [key for key in ground.places if key in judged]
    if not keys:
        return None
    named = sorted(((ground.aliases[person], own) for person, own in people.items()), key=lambda one: one[0])
    scale = ground.protocol.scale

    def values(own: Mapping[validation_figures.Key, str | None]) -> Sequence[Hashable]:
        given = [own.get(key) for key in keys]
        return (
            given if scoring_of(scale) == "accuracy" else [v if v is None else scale.number(v) for v in given]
        )

    return comparison.alt_test(
        {alias: values(own) for alias, own in named}, values(judged), query.epsilon, scoring_of(scale),
        clusters=[ground.places[key].item_id for key in keys],
    )  # fmt: skip


STATES = {StandInVerdict.YES: "agreed", StandInVerdict.NO: "disagree", StandInVerdict.UNKNOWN: "incomplete"}

SCORED: Mapping[comparison.Scoring, str] = {"accuracy": "", "neg_rmse": ", by root mean squared distance"}
NO_TEST = Estimate(None, note="Fewer than three people labelled.")
HASH_SHOWN = 8


def sheets(answers: StandInAnswers) -> tuple[ResultSheet, ...]:
    """The answer for each judge with a picture of its difference to people, then the test person by person."""
    return tuple(sheet for sheet in (_answers(answers), _by_person(answers)) if sheet.lines)


def _answers(answers: StandInAnswers) -> ResultSheet:
    title = TITLES[answers.query.figure][0]
    heads = columns(
        JUDGE_COLUMN,
        ("answer", "May it stand in?", "Yes: shown not to be worse than people with one another by more than the "
        "margin, and passes the alternative annotator test if three people labelled. No: shown to be worse. "
        "Otherwise not yet known"),
        ("prompt", "Prompt", "First characters of its hash"),
        ("difference", f"Δ {title}",
         "Its agreement with people minus people's agreement with one another, on units with "
         "both, with the 95 % interval over items; of Cohen's κ with people, Scott's π of people with one another is "
         "taken away"),
        ("judge_with_people", f"{title} with people, on units of two", TITLES[answers.query.figure][1]),
        ("people", "People with one another, there", "The same figure for people, each compared with every other; "
         "in both directions κ is Scott's π"),
        ("winning_rate", "ω",
         "Winning rate: the share of people than whom the judge is at least as close to the others, at margin ε"),
        ("advantage", "ρ",
         "Advantage probability: how often the judge is at least as close to the others as a person is"),
        ("items", "Items", "With units that it judged and two people labelled"),
        ("labelled_by", "People", "Those who labelled"),
    )  # fmt: skip
    lines = tuple(_line(answers, answer) for answer in answers.answers)
    return ResultSheet("answers", "May a judge stand in for people?", heads, lines, _notes(answers),
                 (_picture(answers),),
                 comparison.DEPARTURES, len(answers.answers))  # fmt: skip


def tree(answer: StandInAnswer) -> dict[str, Any]:
    alt = answer.alt
    figures = {
        "difference": answer.difference, "judge_with_people": answer.judge, "people": answer.human,
        "winning_rate": alt.winning_rate if alt else NO_TEST, "advantage": alt.advantage if alt else NO_TEST,
    }  # fmt: skip
    return {
        "judge": answer.rater.name, "prompt_sha256": answer.rater.prompt, "answer": str(answer.verdict),
        "because": answer.because,
        "items": answer.items, "labelled_by": answer.people, "p": answer.p, "remarks": list(answer.remarks),
        **{name: asdict(result) for name, result in figures.items()},
        "persons": [asdict(person) for person in alt.people] if alt else [],
    }  # fmt: skip


def _line(answers: StandInAnswers, answer: StandInAnswer) -> SheetLine:
    words = f"{answer.rater.name}: {answer.verdict}, because {answer.because}"
    cells: tuple[SheetCell, ...] = (
        text(answer.rater.name), text(answer.verdict, tip=words, state=STATES[answer.verdict]),
        text(answer.rater.prompt[:HASH_SHOWN], tip=answer.rater.prompt), figure_cell(answer.difference),
        figure_cell(answer.judge),
        figure_cell(answer.human), _wins(answer),
        figure(answer.alt.advantage if answer.alt else NO_TEST), count(answer.items), count(answer.people),
    )  # fmt: skip
    return SheetLine(
        cells,
        source=validation.held(
            answers.query.of, answer.rater, validation_figures.ALL, f"{answer.rater.name}: units"
        ),
        more=((f"{answer.verdict}, because", answer.because),),
    )


def _wins(answer: StandInAnswer) -> SheetCell:
    """The number of people against whom the judge wins, of those who could be tested."""
    rate = answer.alt.winning_rate if answer.alt else NO_TEST
    if answer.alt is None or rate.value is None:
        return figure(rate)
    wins = sum(person.beaten for person in answer.alt.people)
    return replace(figure(rate), words=f"{wins:,} of {rate.n:,}")


def _notes(answers: StandInAnswers) -> tuple[str, ...]:
    query, protocol = answers.query, PROTOCOLS[answers.query.of.protocol]
    return (
        *(f"“{answer.rater.name}”: {answer.verdict}, because {answer.because}" for answer in answers.answers),
        f"Compared with {answers.against}, with a margin of {query.delta:g} for {TITLES[query.figure][0]} and ε = "
        f"{query.epsilon:g} for the alternative annotator test (Calderon, Reichart & Dror 2025)"
        f"{SCORED[scoring_of(protocol.scale)]}. Yes and No need p ≤ {ERROR:g}, raised for all judges and looks (Holm).",
        *answers.notes,
        validation_figures.published(protocol),
    )


def _picture(answers: StandInAnswers) -> SheetPicture:
    names = [answer.rater.name for answer in answers.answers]
    return picture(
        "difference",
        f"{TITLES[answers.query.figure][0]} with people less people's with one another",
        pictures.differences,
        [
            (
                f"{answer.rater.name} ({answer.rater.prompt[:4]})"
                if names.count(answer.rater.name) > 1 and answer.rater.prompt
                else answer.rater.name,
                answer.difference,
            )
            for answer in answers.answers
        ],
        f"Difference, 95 % interval over items; dashed: −{answers.query.delta:g}",
        margin=answers.query.delta,
    )


def _by_person(answers: StandInAnswers) -> ResultSheet:
    heads = columns(
        JUDGE_COLUMN, ("person", "Person", "Person left out and compared with the others, like the judge"),
        ("judge_as_close", "Judge as close",
         "Of the units, those on which the judge is at least as close to the others"),
        ("person_as_close", "Person as close", "Of the units, those on which the person is"), ("n", "n", "Units"),
        ("p", "p", "Of the person's lead being ε or more, by a one-sided t test over items"),
        ("judge_wins", "Judge wins",
         f"False discoveries among all people kept below {comparison.FALSE_DISCOVERIES:g} (Benjamini & Yekutieli)"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(answer.rater.name), text(str(person.person)), count(person.judge, form=".3f"),
            count(person.own, form=".3f"), count(person.n), count(person.p, form=".4f"),
            text("yes" if person.beaten else "no", state="agreed" if person.beaten else ""),
        ))
        for answer in answers.answers if answer.alt for person in answer.alt.people
    )  # fmt: skip
    return ResultSheet("persons", "Person by person", heads, lines, ("The alternative annotator test.",),
                 departures=comparison.DEPARTURES)  # fmt: skip


BEST = "best"
IS_REFERENCE = "it is the reference"


@dataclass(frozen=True, slots=True)
class JudgeChoiceQuery(StandInQuery):
    """The figure by which judges are chosen, and the margin to the reference.

    `reference` is “people” for people with one another, a judge's name, or “best” for the judge with the highest
    figure. `delta` is the margin δ, in the figure's own unit.
    """

    reference: str = PEOPLE


@dataclass(frozen=True, slots=True)
class JudgeCandidate:
    """A judge: agreement, cost per question, whether it is on the front, comparison with the reference.

    `fits` is whether it may stand in for people or, with a judge as reference, whether it is not worse by more than δ:
    the lower bound of the difference is at least −δ. `why_not` says in words why it does not fit or cannot be chosen.
    `answer` is whether it may stand in; None if the reference is a judge.
    """

    rater: ValidationRater
    agreement: Estimate
    cost: Estimate
    on_front: bool
    difference: Estimate
    why_not: str
    answer: StandInAnswer | None = None

    @property
    def fits(self) -> bool:
        return not self.why_not


@dataclass(frozen=True, slots=True)
class JudgeChoice:
    """All judges with the human band, and the cheapest that fits; `reason` explains it in sentences."""

    query: JudgeChoiceQuery
    against: str
    offers: tuple[JudgeCandidate, ...]
    human: Estimate | None
    reference: str
    chosen: ValidationRater | None
    reason: tuple[str, ...]


def choose(project: Project, query: JudgeChoiceQuery) -> JudgeChoice:
    """The cheapest judge that may stand in for people, or that is not worse than another judge by more than δ.

    Raises Refusal if nobody has labelled, or no judge has judged, these units.
    """
    refuse_senseless(query)
    ground = validation.ground_of(project, query.of)
    positive = validation_figures.positive_of(ground.protocol, query.of.positive)
    raters = required(
        ground.judges() if ground.known.any() else [],
        "No judge has judged what people labelled.",
        "Run a judge on these reports first.",
    )
    named_figure = validation_figures.chosen_figure(
        ground.protocol, query.figure, positive, weighted=query.weighted
    )
    query = replace(query, figure=named_figure)
    line_of = partial(validation.line, ground, positive, validation_figures.ALL)
    judged = [line_of(rater, ground.known) for rater in raters]
    refuse_other(
        query.figure, _side(query, judged[0].result), f"Judges cannot be chosen by “{query.figure}”."
    )
    human = next((_agreement(query, line_of(one, ground.known)) for one in ground.humans()[:1]), None)
    reference = _reference(query, judged)
    answers = None if reference else of_ground(project, ground, query)
    offers = _offers(project, ground, query, positive, judged, reference, answers)
    chosen = min(
        [offer for offer in offers if offer.fits],
        key=lambda candidate: (
            candidate.cost.value or 0.0,
            -_height(candidate.agreement),
            candidate.rater.name,
        ),
        default=None,
    )
    named = reference.rater.name if reference else PEOPLE
    return JudgeChoice(
        query, validation.against_words(ground), tuple(offers), human, named,
        chosen.rater if chosen else None,
        (
            *_reason(query, offers, chosen, named), *ground.repeats(project, ground.judges()),
            *validation_sets.viewed(project, query.of.set_name),
        ),
    )  # fmt: skip


def _side(query: JudgeChoiceQuery, of: RaterResult | JudgeDifference) -> Named:
    return of.weighted if query.weighted else of.plain


def _agreement(query: JudgeChoiceQuery, line: RaterFigures) -> Estimate:
    return _side(query, line.result)[query.figure]


def _reference(query: JudgeChoiceQuery, judged: list[RaterFigures]) -> RaterFigures | None:
    """The judge that others are compared with; None for people."""
    if query.reference == PEOPLE:
        return None
    if query.reference == BEST:
        return max(judged, key=lambda line: _height(_agreement(query, line)))
    named = [line for line in judged if line.rater.name == query.reference]
    if not named:
        names = ", ".join(sorted({line.rater.name for line in judged}))
        raise Refusal(f"“{query.reference}” has no judgements on this.", f"Those who have: {names}.")
    return max(named, key=lambda line: _height(_agreement(query, line)))


def _height(estimate: Estimate) -> float:
    return float("-inf") if estimate.value is None else estimate.value


def _offers(
    project: Project, ground: Ground, query: JudgeChoiceQuery, positive: str, judged: list[RaterFigures],
    reference: RaterFigures | None, answers: StandInAnswers | None,
) -> list[JudgeCandidate]:  # fmt: skip
    agreements = [_agreement(query, line) for line in judged]
    costs = [validation_ground.cost_per_question(project, line.rater, query.of.protocol) for line in judged]
    front = standings(
        [
            (line.rater.key, one.low, cost.value)
            for line, one, cost in zip(judged, agreements, costs, strict=True)
        ]
    )
    made = []
    for line, agreement, cost, point in zip(judged, agreements, costs, front, strict=True):
        answer = answers.of(line.rater) if answers else None
        difference = answer.difference if answer else _difference(ground, query, positive, line, reference)
        why_not = _unfit(answer) if answer else _worse(query, results.limit(project), line, difference)
        if line.rater.kind == JudgeKind.BASELINE.value:
            why_not = results.FLOOR
        if not why_not and cost.value is None:
            why_not = "its cost is not known"
        made.append(JudgeCandidate(line.rater, agreement, cost, point.on_front, difference, why_not, answer))
    return made


def _unfit(answer: StandInAnswer) -> str:
    """Why a judge may not stand in for people; empty if it may."""
    return (
        ""
        if answer.verdict is StandInVerdict.YES
        else f"{answer.verdict}, because {answer.because}".rstrip(".")
    )


def _difference(
    ground: Ground, query: JudgeChoiceQuery, positive: str, line: RaterFigures, reference: RaterFigures | None
) -> Estimate:
    """The difference of a judge to the reference judge on the same units; undefined for the reference itself."""
    method = "difference to the reference"
    if reference is None or line.rater.key == reference.rater.key:
        return Estimate(None, method=method, note=IS_REFERENCE)
    # In the order of the table of two judges, of whose difference this is the same to the last digit.
    order = [rater.key for rater in ground.judges()]
    first, second = sorted((line.rater, reference.rater), key=lambda rater: order.index(rater.key))
    gaps = validation_figures.gap(ground.pairs(first), ground.pairs(second), positive, ground.protocol.scale)
    lacking = Estimate(None, method=method, note="it has no difference of two judges")
    gap = _side(query, gaps).get(query.figure, lacking)
    if first is line.rater or gap.value is None:
        return gap
    low, high = (None if bound is None else -bound for bound in (gap.high, gap.low))
    return replace(gap, value=-gap.value, low=low, high=high)


def _worse(query: JudgeChoiceQuery, limit: float, line: RaterFigures, difference: Estimate) -> str:
    """Why a judge is not shown to be as good as another; empty if it is."""
    rate, agreement = line.missing_rate or 0.0, _agreement(query, line)
    if difference.note == IS_REFERENCE:
        return IS_REFERENCE
    if rate > limit:
        return f"{percent(rate, 1)} of its judgements are missing, more than {percent(limit, 1)}"
    if agreement.value is None:
        return f"its {_title(query)} is undefined: {of_items(agreement.note)}"
    if difference.low is None:
        return f"its difference has no interval: {of_items(difference.note)}"
    return f"it may be {-difference.low:.3f} worse" if difference.low < -query.delta else ""


def _title(query: JudgeChoiceQuery) -> str:
    return TITLES[query.figure][0] + (", weighted" if query.weighted else "")


def _reason(
    query: JudgeChoiceQuery, offers: list[JudgeCandidate], chosen: JudgeCandidate | None, reference: str
) -> Iterator[str]:
    people = reference == PEOPLE and query.reference == PEOPLE
    allowed = f"δ = {query.delta:g}"
    if chosen is None:
        yield _nobody(query, offers, reference, people)
    else:
        cost, that = in_words(chosen.cost, "USD"), f"is not worse than “{reference}” by more than {allowed}"
        yield (
            f"“{chosen.rater.name}” is the cheapest judge, at {cost} a question, that "
            f"{'may stand in for people' if people else that}: its {_title(query)} is {in_words(chosen.agreement)}."
        )
        if chosen.answer is not None:
            yield f"“{chosen.rater.name}”: {chosen.answer.verdict}, because {chosen.answer.because}"
        else:
            yield f"Its difference to “{reference}” is {in_words(chosen.difference)}, which {allowed} allows."
    dearest = chosen.cost.value if chosen else None
    for offer in offers:
        cheaper = dearest is None or offer.cost.value is None or offer.cost.value < dearest
        if offer.why_not and offer.why_not != IS_REFERENCE and cheaper:
            yield f"“{offer.rater.name}” is not chosen: {offer.why_not}."


def _nobody(query: JudgeChoiceQuery, offers: list[JudgeCandidate], reference: str, people: bool) -> str:
    if people:
        return f"No judge is shown to be at most {query.delta:g} worse than people with one another, at a known cost."
    if len(offers) == 1:
        return (
            f"“{reference}” is the only judge here and cannot be compared with itself. Compare it with "
            "people, or run another judge on the same reports."
        )
    return (
        f"No other judge is shown to be at most {query.delta:g} worse than “{reference}”, at a known cost: "
        f"“{reference}” is the best choice among judges; this says nothing about people."
    )


def choice_sheets(choice: JudgeChoice) -> tuple[ResultSheet, ...]:
    """A row for each judge and one for people, with the picture of agreement against cost."""
    title = _title(choice.query)
    heads = columns(
        JUDGE_COLUMN, ("prompt", "Prompt", "First characters of its hash"),
        (choice.query.figure, title, TITLES[choice.query.figure][1]),
        ("lower_bound", "Lower bound", "Of its 95 % interval over items"), ("n", "n", "Pairs of values"),
        ("cost", "Cost per question", "Mean, US dollars"),
        ("on_front", "On the front", "No other judge has a higher lower bound for less"),
        ("to_reference", f"To {choice.reference}", "Difference to the reference: of another judge on the same units, of"
         " people with one another on those that two people labelled"),
        ("fit", "May stand in" if choice.query.reference == PEOPLE else "Not worse",
         f"Not worse than {choice.reference} by more than {choice.query.delta:g}"),
    )  # fmt: skip
    lines = [
        SheetLine((
            text(offer.rater.name), text(offer.rater.prompt[:8], tip=offer.rater.prompt), figure_cell(offer.agreement),
            _bound(offer.agreement), count(offer.agreement.n), figure(offer.cost, "USD"),
            text("yes" if offer.on_front else "no"),
            text(IS_REFERENCE) if offer.difference.note == IS_REFERENCE else figure_cell(offer.difference),
            _fit(offer, choice.chosen),
        ), source=held(choice.query.of, offer.rater, validation_figures.ALL, f"{offer.rater.name}: {title}"))
        for offer in choice.offers
    ]  # fmt: skip
    if choice.human is not None:
        people = (
            text(PEOPLE),
            text("–"),
            figure_cell(choice.human),
            _bound(choice.human),
            count(choice.human.n),
            *(text("–") for _ in range(4)),
        )
        lines.append(SheetLine(people))
    return (
        ResultSheet(
            "choice",
            "Agreement against cost",
            heads,
            tuple(lines),
            (*choice.reason, f"Compared with {choice.against}; people are compared with one another."),
            _pictures(choice, title),
        ),
    )


def _bound(estimate: Estimate) -> SheetCell:
    why = remark(estimate)
    cell = figure(
        Estimate(estimate.low, n=estimate.n, method=f"lower bound; {estimate.method}", note=estimate.note)
    )
    return (
        replace(cell, words=f"{cell.words}  {why}", state="flat")
        if why and estimate.low is not None
        else cell
    )


def _fit(candidate: JudgeCandidate, chosen: ValidationRater | None) -> SheetCell:
    if chosen is not None and candidate.rater.key == chosen.key:
        return text("chosen", state="agreed")
    if candidate.why_not == IS_REFERENCE:
        return text(IS_REFERENCE)
    return text(
        candidate.answer.verdict.lower() if candidate.answer else "no" if candidate.why_not else "yes",
        tip=candidate.why_not,
    )


def _pictures(choice: JudgeChoice, title: str) -> tuple[SheetPicture, ...]:
    points = [
        pictures.PicturePoint(
            offer.rater.name,
            offer.cost.value,
            offer.agreement.low,
            offer.on_front,
            offer.agreement.low,
            offer.agreement.high,
        )
        for offer in choice.offers
        if offer.cost.value is not None and offer.agreement.low is not None
    ]
    if not points:
        return ()
    human = choice.human
    band = (human.low, human.high) if human and human.low is not None and human.high is not None else None
    level = human.value if human else None
    of_people = "the band is people" if band else "the dotted line is people" if level is not None else ""
    heading = ", ".join(filter(None, (f"{title} against cost: the front is full", of_people)))
    draw = partial(
        pictures.plane, heading, points, "US dollars a question", f"{title}, lower bound", front=True,
        band=band, level=level,
    )  # fmt: skip
    return (SheetPicture("choice", heading, draw),)
