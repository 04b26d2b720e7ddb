"""May a judge stand in for people: yes, no, or not yet known, with reasons."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

import numpy as np

from annotator.actions.project.file import Project
from annotator.actions.results import publishing, result_pictures, result_raters
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
    percent,
    text,
)
from annotator.actions.sets import validation_figures, validation_units
from annotator.actions.sets.validation_figures import TITLES, TruthPairs, scoring_of, told
from annotator.actions.sets.validation_ground import TOGETHER, Ground, ValidationRater
from annotator.actions.validation import aims, validation, validation_behind
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.texts.counting import counted
from annotator.domain.texts.estimate import Estimate, of_items
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.stats.validation import alt_test as alternative

DELTA = 0.05
# The alternative annotator test leaves one person out and holds the others against each other.
FEWEST_PEOPLE = 3


class StandInVerdict(StrEnum):
    """The possible conclusions on a judge."""

    YES = "Yes"
    UNKNOWN = "Not yet known"
    NO = "No"


@dataclass(frozen=True, slots=True)
class StandInQuery:
    """The labels, the figure, and the margin below people's agreement that is accepted.

    `figure` is that of the scale unless one is named. `delta` is the margin of the figure, `epsilon` that of the
    alternative annotator test: what a judge's lower cost is worth (the paper takes 0.2 for experts, 0.15 for skilled
    people, 0.1 for a crowd).
    """

    of: validation.ValidationQuery = field(default_factory=validation.ValidationQuery)
    figure: str = ""
    weighted: bool = False
    delta: float = DELTA
    epsilon: float = alternative.EPSILON


@dataclass(frozen=True, slots=True)
class StandInAnswer:
    """May a judge stand in, and why: its agreement with people, and people's with one another.

    The figures are of units that it judged and two people labelled; `items` and `people` count theirs.
    `alt` is the alternative annotator test, None where fewer than three people labelled.
    """

    rater: ValidationRater
    verdict: StandInVerdict
    because: str
    judge: Estimate
    human: Estimate
    difference: Estimate
    alt: alternative.AltTest | None
    items: int
    people: int


@dataclass(frozen=True, slots=True)
class StandInAnswers:
    """The answer on every judge, accepted ones first; `against` says in words whose labels are true."""

    query: StandInQuery
    against: str
    answers: tuple[StandInAnswer, ...]
    scoring: alternative.Scoring = "accuracy"
    repeats: tuple[str, ...] = ()

    def of(self, rater: ValidationRater) -> StandInAnswer:
        """The answer of a judge; KeyError when there is none."""
        return {one.rater.key: one for one in self.answers}[rater.key]


def report(project: Project, query: StandInQuery) -> StandInAnswers:
    """The answer of every judge; Refusal where nobody has labelled, or no judge has judged, what is asked about."""
    refuse_senseless(query)
    found = validation.ground_of(project, query.of)
    if not found.judges():
        raise Refusal("No judge has judged what people labelled.", "Run a judge on these reports first.")
    return of_ground(project, found, query)


def refuse_senseless(query: StandInQuery) -> None:
    """Refusal for margins and figures that there are not."""
    if query.delta < 0 or query.epsilon < 0:
        raise Refusal("A margin must not be negative.", "Give how much worse a judge may be, such as 0.05.")
    if query.figure and query.figure not in TITLES:
        raise Refusal(f"Judges cannot be chosen by “{query.figure}”.", f"Use one of {', '.join(TITLES)}.")


def of_ground(project: Project, found: Ground, query: StandInQuery) -> StandInAnswers:
    """The answers on these labels."""
    limit, order = publishing.limit(project), list(StandInVerdict)
    positive = validation_figures.positive_of(found.shape, query.of.positive)
    named = validation_figures.chosen_figure(found.shape, query.figure, positive, weighted=query.weighted)
    query = replace(query, figure=named)
    answers = [_answer(found, query, rater, limit) for rater in found.judges()]
    answers.sort(
        key=lambda one: (
            order.index(one.verdict),
            one.rater.kind == JudgeKind.BASELINE.value,
            one.rater.name,
        )
    )
    return StandInAnswers(
        query,
        validation.against_words(found),
        tuple(answers),
        scoring_of(found.shape.scale),
        tuple(found.repeats(project, (one.rater for one in answers))),
    )


def _answer(found: Ground, query: StandInQuery, rater: ValidationRater, limit: float) -> StandInAnswer:
    judge, human = _shared(found, query, rater)
    positive = validation_figures.positive_of(found.shape, query.of.positive)
    beside = validation_figures.beside(judge, human, query.figure, positive, found.shape.scale)
    alt = _alt_test(found, query, rater)
    known = int(found.known.sum())
    lacking = sum(found.missing(rater, found.known).values()) / known if known else 0.0
    people, items = len(_people(found)), len(np.unique(human.items))
    ground = _Reasons(query, beside.difference, alt, people, items, lacking if lacking > limit else None)
    verdict, because = ground.verdict(), ground.because()
    return StandInAnswer(
        rater, verdict, because, beside.one, beside.other, beside.difference, alt, items, people
    )


def _people(found: Ground) -> dict[str, dict[validation_units.Key, str | None]]:
    """Those whose labels a judge is compared with; behind a consensus, those who labelled."""
    return dict(found.people if result_raters.CONSENSUS in found.truth else found.truth)


def _shared(found: Ground, query: StandInQuery, rater: ValidationRater) -> tuple[TruthPairs, TruthPairs]:
    """What a judge and what people say of the units that it judged and people can be compared with people on.

    A unit counts as much in either: of three people there are three pairs with a judge, and six with one another.
    """
    judge, human = found.pairs(rater).there(), found.pairs(TOGETHER).there()
    with_judge, many = (np.bincount(pairs.units, minlength=len(found.places)) for pairs in (judge, human))
    judge, human = judge.among(many > 0), human.among(with_judge > 0)
    heavy = human.weights if query.weighted else np.ones(len(human.weights))
    return (
        judge if query.weighted else replace(judge, weights=np.ones(len(judge.weights))),
        replace(human, weights=heavy * with_judge[human.units] / many[human.units]),
    )


def _alt_test(found: Ground, query: StandInQuery, rater: ValidationRater) -> alternative.AltTest | None:
    people, said = _people(found), found.version(rater).said
    if len(people) < FEWEST_PEOPLE:
        return None
    keys = [key for key in found.places if key in said]
    if not keys:
        return None
    named = sorted(((found.aliases[person], own) for person, own in people.items()), key=lambda one: one[0])
    scale = found.shape.scale

    def values(own: Mapping[validation_units.Key, str | None]) -> Sequence[Hashable]:
        given = [own.get(key) for key in keys]
        return (
            given if scoring_of(scale) == "accuracy" else [v if v is None else scale.number(v) for v in given]
        )

    return alternative.alt_test(
        {alias: values(own) for alias, own in named}, values(said), query.epsilon, scoring_of(scale),
        clusters=[found.places[key].item_id for key in keys],
    )  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Reasons:
    """The reasons of an answer: both tests, and the share of missing judgements where it is too high."""

    query: StandInQuery
    difference: Estimate
    alt: alternative.AltTest | None
    people: int
    items: int
    lacking: float | None

    def verdict(self) -> StandInVerdict:
        """The answer of both tests together."""
        low, high, margin = self.difference.low, self.difference.high, -self.query.delta
        if high is not None and high < margin:
            return StandInVerdict.NO
        passed = self.alt is None or self.alt.passed is not False
        shown = low is not None and low >= margin and passed and self.lacking is None
        return StandInVerdict.YES if shown else StandInVerdict.UNKNOWN

    def because(self) -> str:
        """The answer's reasons in words, and what to do where nothing can be said yet."""
        missing = f"{percent(self.lacking, 1)} of its judgements are missing" if self.lacking else ""
        reasons = "; ".join(filter(None, (missing, self._by_margin(), self._by_alt_test())))
        return f"{reasons}.{self._todo()}"

    @property
    def _alone(self) -> bool:
        return self.people < 2 and self.difference.value is None

    def _by_margin(self) -> str:
        """Non-inferiority: what the interval of the difference says beside the margin."""
        found, query = self.difference, self.query
        title = TITLES[query.figure][0] + (", by weight" if query.weighted else "")
        if self._alone:
            return "only one person labelled, so that people's agreement with one another is not known"
        if found.value is None or found.low is None or found.high is None:
            why = of_items(found.note) or "too little is labelled"
            return f"the difference of {title} to people has no interval ({why})"
        margin = f"−{query.delta:g}"
        if found.low >= -query.delta:
            words = f"stays above {margin}, so it is not worse than people with one another"
        elif found.high < -query.delta:
            words = f"stays below {margin}, so it is worse than people with one another"
        else:
            words = (
                f"reaches to both sides of {margin}, so it may be worse than people with one another or not"
            )
        return f"Δ {title} {in_words(found)} {words} (n = {found.n:,}, {counted(self.items, 'item')})"

    def _by_alt_test(self) -> str:
        """The alternative annotator test, or why it cannot be made."""
        alt = self.alt
        if alt is None:
            there = counted(self.people, "person labelled", "people labelled")
            return f"the alternative annotator test takes {FEWEST_PEOPLE} people, and {there}"
        if alt.passed is None or alt.winning_rate.value is None:
            return f"the alternative annotator test cannot be made ({of_items(alt.winning_rate.note)})"
        return (
            f"the alternative annotator test is {'' if alt.passed else 'not '}passed: ω "
            f"{alt.winning_rate.value:.2f} of {alt.winning_rate.n} people, {'at least' if alt.passed else 'below'} "
            f"{alternative.PASSING:g}; ρ {in_words(alt.advantage)}; ε {self.query.epsilon:g}"
        )

    def _todo(self) -> str:
        if self.verdict() is not StandInVerdict.UNKNOWN:
            return ""
        if self._alone:
            return " Have a second person label some of the same reports."
        if self.lacking is not None:
            return " Let it judge what is missing."
        return " Have more items labelled, each by two people or more."


STATES = {StandInVerdict.YES: "agreed", StandInVerdict.NO: "disagree", StandInVerdict.UNKNOWN: "incomplete"}

SCORED: Mapping[alternative.Scoring, str] = {"accuracy": "", "neg_rmse": ", by root mean squared distance"}
NO_TEST = Estimate(None, note="Fewer than three people labelled.")
HASH_SHOWN = 8


def sheets(found: StandInAnswers) -> tuple[ResultSheet, ...]:
    """An answer for each judge with the picture of how far it lies from people, then the test person by person."""
    return tuple(sheet for sheet in (_answers(found), _by_person(found)) if sheet.lines)


def _answers(found: StandInAnswers) -> ResultSheet:
    title = TITLES[found.query.figure][0]
    heads = columns(
        JUDGE_COLUMN,
        ("answer", "May it stand in?", "Yes: shown not to be worse than people with one another by more than the "
        "margin, and passes the alternative annotator test if three people labelled. No: shown to be worse. "
        "Otherwise not yet known"),
        ("prompt", "Prompt", "First characters of its hash"),
        ("difference", f"Δ {title}",
         "Its agreement with people minus people's agreement with one another, on units with "
        "both, with the 95 % interval over items"),
        ("judge_with_people", f"{title} with people", TITLES[found.query.figure][1]),
        ("people", "People with one another", "The same figure for people, each compared with every other"),
        ("winning_rate", "ω",
         "Winning rate: the share of people than whom the judge is at least as close to the others, at margin ε"),
        ("advantage", "ρ",
         "Advantage probability: how often the judge is at least as close to the others as a person is"),
        ("items", "Items", "With units that it judged and two people labelled"),
        ("labelled_by", "People", "Those who labelled"),
    )  # fmt: skip
    lines = tuple(_line(found, one) for one in found.answers)
    return ResultSheet("answers", "May a judge stand in for people?", heads, lines, _told(found), (_picture(found),),
                 alternative.DEPARTURES, len(found.answers))  # fmt: skip


def trees(found: StandInAnswers) -> list[dict[str, Any]]:
    return [tree(one) for one in found.answers]


def tree(one: StandInAnswer) -> dict[str, Any]:
    alt = one.alt
    figures = {
        "difference": one.difference, "judge_with_people": one.judge, "people": one.human,
        "winning_rate": alt.winning_rate if alt else NO_TEST, "advantage": alt.advantage if alt else NO_TEST,
    }  # fmt: skip
    return {
        "judge": one.rater.name, "prompt_sha256": one.rater.prompt, "answer": str(one.verdict), "because": one.because,
        "items": one.items, "labelled_by": one.people, **{name: asdict(found) for name, found in figures.items()},
        "persons": [asdict(person) for person in alt.people] if alt else [],
    }  # fmt: skip


def _line(found: StandInAnswers, one: StandInAnswer) -> SheetLine:
    words = f"{one.rater.name}: {one.verdict}, because {one.because}"
    cells: tuple[SheetCell, ...] = (
        text(one.rater.name), text(one.verdict, tip=words, state=STATES[one.verdict]),
        text(one.rater.prompt[:HASH_SHOWN], tip=one.rater.prompt), told(one.difference), told(one.judge),
        told(one.human), _wins(one),
        figure(one.alt.advantage if one.alt else NO_TEST), count(one.items), count(one.people),
    )  # fmt: skip
    more = ((f"{one.verdict}, because", one.because),)
    return SheetLine(
        cells,
        source=validation_behind.held(
            found.query.of, one.rater, validation_units.ALL, f"{one.rater.name}: units"
        ),
        more=more,
    )


def _wins(one: StandInAnswer) -> SheetCell:
    """How many people the judge wins against, of those who could be tested."""
    rate = one.alt.winning_rate if one.alt else NO_TEST
    if one.alt is None or rate.value is None:
        return figure(rate)
    wins = sum(person.beaten for person in one.alt.people)
    return replace(figure(rate), words=f"{wins:,} of {rate.n:,}")


def _told(found: StandInAnswers) -> tuple[str, ...]:
    query = found.query
    return (
        *(f"“{one.rater.name}”: {one.verdict}, because {one.because}" for one in found.answers),
        f"Compared with {found.against}, with a margin of {query.delta:g} for {TITLES[query.figure][0]} and ε = "
        f"{query.epsilon:g} for the alternative annotator test (Calderon, Reichart & Dror 2025)"
        f"{SCORED[found.scoring]}.",
        *found.repeats,
        aims.words(PROTOCOLS[query.of.protocol]),
    )


def _picture(found: StandInAnswers) -> SheetPicture:
    title = f"{TITLES[found.query.figure][0]} with people less people's with one another"
    names = [one.rater.name for one in found.answers]
    rows = [
        (
            f"{one.rater.name} ({one.rater.prompt[:4]})"
            if names.count(one.rater.name) > 1 and one.rater.prompt
            else one.rater.name,
            one.difference,
        )
        for one in found.answers
    ]
    axis = f"Difference, 95 % interval over items; dashed: −{found.query.delta:g}"
    draw = partial(result_pictures.differences, title, rows, axis, margin=found.query.delta)
    return SheetPicture("difference", title, draw)


def _by_person(found: StandInAnswers) -> ResultSheet:
    heads = columns(
        JUDGE_COLUMN, ("person", "Person", "Person left out and compared with the others, like the judge"),
        ("judge_as_close", "Judge as close",
         "Of the units, those on which the judge is at least as close to the others"),
        ("person_as_close", "Person as close", "Of the units, those on which the person is"), ("n", "n", "Units"),
        ("p", "p", "Of the person's lead being ε or more, by a one-sided t test over items"),
        ("judge_wins", "Judge wins",
         f"False discoveries among all people kept below {alternative.FALSE_DISCOVERIES:g} (Benjamini & Yekutieli)"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(one.rater.name), text(str(person.person)), count(person.judge, form=".3f"),
            count(person.own, form=".3f"), count(person.n), count(person.p, form=".4f"),
            text("yes" if person.beaten else "no", state="agreed" if person.beaten else ""),
        ))
        for one in found.answers if one.alt for person in one.alt.people
    )  # fmt: skip
    return ResultSheet("persons", "Person by person", heads, lines, ("The alternative annotator test.",),
                 departures=alternative.DEPARTURES)  # fmt: skip
