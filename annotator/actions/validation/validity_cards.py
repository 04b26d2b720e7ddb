"""Making a validity card: one judge under one prompt, with every finding and its source."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from functools import partial, wraps
from itertools import compress
from pathlib import Path
from typing import Any

from sqlalchemy import select, true

from annotator import __version__, files
from annotator.actions.attacks import attack_figures
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges
from annotator.actions.judging.derived_judges import harmless
from annotator.actions.project.file import Project, cached, known
from annotator.actions.results import results
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetLine,
    ViewChoice,
    columns,
    figure,
    percent,
    text,
)
from annotator.actions.sets import reviews, validation_figures, validation_ground, validation_sets
from annotator.actions.sets.validation_figures import TITLES, there
from annotator.actions.sets.validation_ground import PEOPLE, PERSON, Ground, ValidationRater
from annotator.actions.studies.result_views import ResultView
from annotator.actions.validation import corrected, stand_in, validation, validation_views
from annotator.actions.validation.validation import Validation
from annotator.domain.common import Refusal, canonical_json, counted, grouped, now, required, sha256
from annotator.domain.judges.judge import JudgeKind, RaterKind
from annotator.domain.judges.protocol import WORDS, uncrossed
from annotator.domain.judges.validation import (
    Attacked,
    Confused,
    Corrected,
    CorrectedSystem,
    Definition,
    Figure,
    Labeller,
    Labels,
    Line,
    Reviews,
    Split,
    ValidityCard,
)
from annotator.domain.texts.estimate import Estimate
from annotator.domain.texts.redaction import held, looks_like_key
from annotator.exchange import card_pages
from annotator.judging.attacks import TARGETS
from annotator.protocols import USUAL
from annotator.stats.validation.comparison import Named
from annotator.storage.tables import ATTACK_TEST, JUDGEMENT, RUN

# The groupings of figures on a card; single criteria are too many.
GROUPED = tuple(by for by in validation_figures.BY if by != "criterion")
SHOWN = 8
# The choice of prompt for verdicts that came without one.
NO_PROMPT = "none"


@dataclass(frozen=True, slots=True)
class CardQuery(validation.ValidationQuery):
    """The judge and labels of a card. `prompt` is the beginning of a prompt's hash if there are several."""

    prompt: str = ""


def card(project: Project, query: CardQuery, made_at: datetime | None = None) -> ValidityCard:
    """The card of a judge as it stands now; nothing is stored.

    Raises Refusal if the judge has judged nothing that people labelled, judged by several prompts of which none is
    named, or with settings that changed meanwhile.
    """
    ground = validation.ground_of(project, query)
    rater = _rater(ground, query)
    result = [
        validation.of_ground(project, ground, replace(query, by=by), partial(_is_listed, rater, by))
        for by in GROUPED
    ]
    more = {
        "labels": _labels(project, query, ground), "made_at": made_at or now(),
        "cost": Figure.of(validation_ground.cost_per_question(project, rater, query.protocol)),
        "reviews": _reviews(project, query), "corrected": _corrected(project, query, ground),
        "attacks": _attacked(project, query.protocol, query.judge, rater.prompt),
        "notes": (_answer(project, ground, query, rater), *_notes(ground, query, result[0])),
    }  # fmt: skip
    lines = [(one.query.by, line) for one in result for line in one.lines]
    return _made(project, query, ground, rater, result[0].positive, lines, **more).sealed()


def sketch(project: Project, query: CardQuery) -> ValidityCard:
    """The quick part of a card: its judge and labels, and the figures of the judge and of people.

    Unsealed and not to be stored. Raises Refusal as `card` does.
    """
    ground = validation.ground_of(project, query)
    rater = _rater(ground, query)
    positive = validation_figures.positive_of(ground.protocol, query.positive)
    lines = [
        validation.line(ground, positive, validation_figures.ALL, one, ground.known)
        for one in (rater, *ground.humans()[:1])
    ]
    return _made(project, query, ground, rater, positive, [(validation_figures.ALL, line) for line in lines])


def _made(
    project: Project, query: CardQuery, ground: Ground, rater: ValidationRater, positive: str,
    lines: Sequence[tuple[str, validation.RaterFigures]], **more: Any,
) -> ValidityCard:  # fmt: skip
    """A card with these lines, each with its grouping; `more` are the fields that a sketch lacks."""
    judge, protocol, title = judges.named(project, query.judge), ground.protocol, str(project.title)
    content: dict[str, Any] = dict(
        app_version=__version__, made_at=now(), project=harmless(title), name=harmless(judge.name, judge),
        protocol_title=protocol.title, citation=protocol.citation, reach=derived_judges.reach(judge),
        judge=derived_judges.as_judged(project, judge, protocol, rater.prompt), labels=_labelled(ground),
        positive=positive, definitions=_definitions([figures for _, figures in lines]),
        lines=tuple(_line(figures, by, () if uncrossed(protocol.scale) else protocol.values) for by, figures in lines),
        cost=Figure.of(Estimate(None)), missing_limit=results.limit(project),
    )  # fmt: skip
    return ValidityCard.model_validate(content | more)


def _rater(ground: Ground, query: CardQuery) -> ValidationRater:
    judged = required(
        ground.judges(),
        f"“{query.judge}” has no judgements on units labelled here.",
        "Run it on these reports first.",
    )
    chosen = [
        rater for rater in judged
        if (not rater.prompt if query.prompt == NO_PROMPT else rater.prompt.startswith(query.prompt))
    ]  # fmt: skip
    if len(chosen) == 1:
        return chosen[0]
    hashes = ", ".join(rater.prompt[:SHOWN] or NO_PROMPT for rater in judged)
    what = (
        f"no prompt that begins with {query.prompt}"
        if query.prompt and not chosen
        else f"{len(chosen):,} prompts"
    )
    raise Refusal(
        f"“{query.judge}” judged with {what}, and a card covers one.", f"Choose one of its prompts: {hashes}."
    )


def _labelled(ground: Ground) -> Labels:
    known = list(compress(ground.places.values(), ground.known))
    return Labels(
        source="submitted", labels_sha256="", against=validation.against_words(ground),
        labellers=tuple(_labellers(ground)), units=len(known), items=len({one.item_id for one in known}),
        responses=len({one.response_id for one in known}), systems=len({one.system_id for one in known}),
    )  # fmt: skip


def _labels(project: Project, query: CardQuery, ground: Ground) -> Labels:
    rows = sorted(
        [who, *key, value]
        for who, own in ground.truth.items()
        for key, value in own.items()
        if key in ground.places
    )
    common = _labelled(ground).model_copy(update={"labels_sha256": sha256(canonical_json(rows))})
    if not query.set_name:
        return common
    result = validation_sets.named(project, query.set_name)
    counter = Counter(response.split for response in result.content.responses)
    opened = tuple(opening.at for opening in validation_sets.openings(project, result.id))
    more = {
        "source": "set", "set_name": harmless(result.name), "part": query.part or Split.DEV.value,
        "draw": result.content.draw, "drawn_at": result.at, "locked_at": result.locked_at,
        "locked_sha256": result.labels_sha256, "opened_at": opened, "set_responses": dict(counter),
    }  # fmt: skip
    return common.model_copy(update=more)


def _labellers(ground: Ground) -> list[Labeller]:
    """The people whose labels count as true; for a consensus, also those who labelled."""
    labelled = {*ground.people, CONSENSUS} if CONSENSUS in ground.truth else ground.truth
    result = [
        Labeller(alias=harmless(ground.aliases.get(who, who)), labels=int(there(ground.column(who)[0]).sum()))
        for who in labelled
    ]
    return sorted(result, key=lambda labeller: (labeller.alias == CONSENSUS, labeller.alias))


def _definitions(lines: Iterable[validation.RaterFigures]) -> tuple[Definition, ...]:
    present = {name for line in lines for name in line.result.plain}
    return tuple(
        Definition(name=name, title=title, words=words)
        for name, (title, words) in TITLES.items()
        if name in present
    )


def _is_listed(rater: ValidationRater, by: str, of: ValidationRater) -> bool:
    """Whether a rater has lines: the judge and people always, each person only if nothing is broken down."""
    return of.key == rater.key or of.id == PEOPLE or (of.kind == PERSON and by == validation_figures.ALL)


def _line(line: validation.RaterFigures, by: str, values: tuple[str, ...]) -> Line:
    rater, result = line.rater, line.result
    return Line(
        by=by, group=harmless(line.group), who="judge" if rater.is_judge else PEOPLE if rater.id == PEOPLE else PERSON,
        name=harmless(rater.name), units=line.units, plain=_figures(result.plain), weighted=_figures(result.weighted),
        confusion=tuple(
            Confused(
                truth=true, said=predicted, units=result.confusion.get((true, predicted), 0),
                weight=result.confusion_weighted.get((true, predicted), 0),
            )
            for true in values for predicted in values
        ),
        missing=line.missing,
    )  # fmt: skip


def _figures(named: Named) -> dict[str, Figure]:
    return {name: Figure.of(estimate) for name, estimate in named.items()}


def _reviews(project: Project, query: CardQuery) -> Reviews | None:
    for rate in reviews.report(project, query.protocol, query.judge):
        return Reviews(
            accepted=Figure.of(rate.accepted),
            said=dict(rate.said),
            reasons=dict(rate.reasons),
            outdated=rate.outdated,
        )
    return None


def _corrected(project: Project, query: CardQuery, ground: Ground) -> Corrected:
    """The corrected leaderboard on the same labels, if a metric is made of the single verdicts."""
    named = [name for name, (protocol, _) in corrected.credited().items() if protocol.name == query.protocol]
    if not named:
        return Corrected(notes=("Scores are corrected where they are made of single verdicts.",))
    if len(ground.versions) > 1:
        return Corrected(
            notes=("Scores count all that a judge said, and this card is of one of its prompts.",)
        )
    of = corrected.CorrectionQuery(
        set_name=query.set_name,
        part=query.part,
        against=query.against,
        judge=query.judge,
        opening=query.opening,
        metric=named[0],
    )
    try:
        result = corrected.report(project, of)
    except Refusal as refusal:
        return Corrected(notes=(refusal.happened,))
    scores = result.standings.scores
    systems = tuple(
        CorrectedSystem(
            system=harmless(name), raw=Figure.of(scores[name].raw), corrected=Figure.of(scores[name].corrected),
            tuning=scores[name].tuning, labels=result.labelled[name], units=result.units[name],
        )
        for name in corrected.in_order(result)
    )  # fmt: skip
    return Corrected(systems=systems, notes=tuple(map(harmless, result.notes)))


def _answer(project: Project, ground: Ground, query: CardQuery, rater: ValidationRater) -> str:
    result = stand_in.of_ground(project, ground, stand_in.StandInQuery(query)).of(rater)
    return f"May it stand in for people? {result.verdict}, because {result.because}"


def _notes(ground: Ground, query: CardQuery, validation: Validation) -> tuple[str, ...]:
    no_ceiling = "There is no human ceiling: no two people labelled the same units here."
    tuned = "These are not the figures of the test part alone: what was tuned on it may look too good."
    return (
        "Intervals are at 95 %, over items. Of repeated questions what most trials say counts.",
        *validation.notes,
        *([] if ground.humans() else [no_ceiling]),
        *([tuned] if query.set_name and query.part != Split.TEST.value else []),
    )


def _attacked(project: Project, protocol: str, judge: str, prompt: str) -> tuple[Attacked, ...]:
    """Each attack of its newest test; tests under another wording of the prompt do not count for this judge."""
    if protocol not in TARGETS:
        return ()
    # The baseline has no prompt.
    endpoint = judges.named(project, judge).kind == JudgeKind.ENDPOINT
    question = select(ATTACK_TEST.c.id).join(RUN, RUN.c.id == ATTACK_TEST.c.run_id)
    question = question.where(RUN.c.prompt_sha256 == prompt if endpoint else true())
    same = set(project.query(question).scalars())
    result = attack_figures.report(project, protocol, judge)
    return tuple(_of_attack(line) for line in result if line.test.id in same)


def _of_attack(line: attack_figures.AttackFigures) -> Attacked:
    base = (
        "" if line.already is None else f"; {line.already:,} were that already, and are no part of the rate"
    )
    moved = f"{line.up:,} towards what it aims at, {line.down:,} away from it, {line.aside:,} aside{base}"
    return Attacked(name=line.attack, title=line.title, failures=Figure.of(line.failed), note=moved)


MAIN = ("kappa", "ac1", *WORDS, "accuracy", "precision", "recall", "f1")


def brief(card: ValidityCard) -> ResultSheet:
    """A short form for a terminal: the judge beside people, unweighted and by weight."""
    titles = {definition.name: (definition.title, definition.words) for definition in card.definitions}
    heads = columns(
        ("figure", "Figure"), JUDGE_COLUMN, ("people", "People"),
        ("judge_by_weight", "Judge, by weight", "Each unit counts its weight"),
        ("people_by_weight", "People, by weight"),
    )  # fmt: skip
    judge, people = card.of("judge"), card.of("people")
    lines = tuple(
        SheetLine((
            text(titles[name][0], titles[name][1]),
            *(
                figure(_estimate(getattr(line, side).get(name) if line else None))
                for side in ("plain", "weighted") for line in (judge, people)
            ),
        ))
        for name in MAIN if name in titles
    )  # fmt: skip
    return ResultSheet("card", f"Card of “{card.name}”", heads, lines, _summary(card))


def _estimate(figure: Figure | None) -> Estimate:
    return (
        Estimate(None, note="nobody to be held against")
        if figure is None
        else Estimate(**figure.model_dump())
    )


def _summary(card: ValidityCard) -> tuple[str, ...]:
    judge, labels = card.of("judge"), card.labels
    where = f"“{labels.set_name}”, {labels.part} part" if labels.set_name else "all submitted labels"
    rate = judge.missing_rate if judge is not None else None
    return (
        f"{card.protocol_title}: compared with {labels.against} on {where}, {counted(labels.units, 'unit')} of "
        f"{counted(labels.items, 'item')}.",
        *([f"The test part was viewed {counted(len(labels.opened_at), 'time')}."] if labels.set_name else []),
        *([] if rate is None else [f"{percent(rate, 1)} of its verdicts are missing."]),
        *(["Not publishable: too many verdicts are missing."] if card.unfit else []),
        f"SHA-256 {card.sha256}",
    )


NAME = "card"
ENDINGS, read, body, sketch_of = card_pages.ENDINGS, card_pages.read, card_pages.body, card_pages.sketch


@cached
def choices(project: Project) -> tuple[ViewChoice, ...]:
    """The choices of protocol, judge, prompt if there are several, and labels."""
    labels = [one for one in validation_views.choices(project) if one.name != "by"]
    protocols = [value for one in labels if one.name == "protocol" for _, value in one.values]
    judged = [choice for protocol in protocols for choice in _judges(project, protocol)]
    first = [label for label in labels if label.name == "protocol"]
    return (*first, *judged, *(label for label in labels if label.name != "protocol"))


@cached
def report(
    project: Project, judge: str = "", protocol: str = USUAL, prompt: str = "", set: str = "", part: str = "",  # noqa: A002
    against: str = "", positive: str = "", opening: str = "",
) -> ValidityCard:  # fmt: skip
    """The card of these choices; `opening` is the id of a counted look if the test part is shown."""
    return card(project, _wish(judge, protocol, prompt, set, part, against, positive, opening))


# For its choices, its signature is that of `report`.
@wraps(report, assigned=())
def at_once(project: Project, **chosen: str) -> ValidityCard:
    """The card of these choices if it is cached, otherwise its sketch."""
    card = known(report, project, **chosen)
    return card if card is not None else sketch(project, _wish(**chosen))


def _wish(
    judge: str = "", protocol: str = USUAL, prompt: str = "", set: str = "", part: str = "", against: str = "",  # noqa: A002
    positive: str = "", opening: str = "",
) -> CardQuery:  # fmt: skip
    if not judge:
        raise Refusal("No judge has judged anything of this kind yet.", "Run a judge on these reports first.")
    return CardQuery(
        protocol, set, part, (against,) if against else (), judge, positive, opening=opening, prompt=prompt
    )


def _judges(project: Project, protocol: str) -> list[ViewChoice]:
    """The choice of judges, the baseline last, and of the prompts of each that judged by several."""
    j = JUDGEMENT.c
    question = (
        select(j.rater_id, RUN.c.prompt_sha256)
        .outerjoin(RUN, RUN.c.id == j.run_id)
        .where(j.protocol == protocol, j.rater_kind == RaterKind.JUDGE.value)
        .distinct()
    )
    wordings = grouped((judge_id, prompt or "") for judge_id, prompt in project.query(question))
    listed_judges = sorted(
        (one for one in judges.all_of(project) if one.id in wordings),
        key=lambda one: one.kind == JudgeKind.BASELINE.value,
    )
    names = tuple((one.name, one.name) for one in listed_judges)
    prompts = {
        one.name: [prompt or NO_PROMPT for prompt in sorted(wordings[one.id])] for one in listed_judges
    }
    return [
        *([ViewChoice("judge", "Judge", names, ("protocol", (protocol,)))] if names else []),
        *(
            ViewChoice("prompt", "Prompt", tuple((one[:SHOWN], one) for one in own), ("judge", (name,)))
            for name, own in prompts.items()
            if len(own) > 1
        ),
    ]


VIEW = ResultView(
    NAME,
    "Card",
    "Cards",
    "One judge under one wording, with all that is known of it, in one file.",
    validation_views.NOBODY,
    choices,
    report,
    lambda card: (brief(card),),
    "Label",
)
AT_ONCE = replace(VIEW, report=at_once)


def refuse_place(path: Path) -> None:
    """Raise Refusal if no card could be written, before a look at the test part is counted."""
    card_pages.refuse_ending(path.suffix)
    if not path.parent.is_dir():
        raise Refusal(f"There is no folder “{path.parent.name}” for the card.", "Choose another folder.")


def save(card: ValidityCard, path: Path) -> Path:
    """Write a card as JSON or as a page, by the extension of `path`; atomically."""
    content = card_pages.content(card, path.suffix)
    text = content.decode("utf-8", "replace")
    if looks_like_key(text) or any(key in text for key in held()):
        raise Refusal("The card would contain a key.", "Remove it from the judge's settings first.")
    return files.save(path, content)
