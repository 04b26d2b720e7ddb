"""Views of rubrics: which criteria separate systems, and rubric sets beside one another."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING

from pydantic import ValidationError
from sqlalchemy import select

from annotator import files
from annotator.actions.authoring import annotating, settings
from annotator.actions.authoring.artifacts import artifact_of
from annotator.actions.items import extracts, materials
from annotator.actions.project import people
from annotator.actions.project.file import Project, change_setting, record
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_raters import CONSENSUS, PEOPLE, PERSON_KEY, ResultRater
from annotator.actions.results.result_sheets import (
    ITEM_COLUMN,
    SYSTEM_COLUMN,
    UNDEFINED,
    FigureSource,
    ResultSheet,
    SheetCell,
    SheetLine,
    SheetPicture,
    ViewChoice,
    columns,
    count,
    figure,
    in_words,
    key_of,
    missing,
    or_why,
    percent,
    picture,
    share,
    text,
)
from annotator.domain.common import (
    Change,
    Refusal,
    counted,
    derived_id,
    grouped,
    nested,
    new_id,
    one_of,
    refuse_other,
)
from annotator.domain.judges.judge import YES
from annotator.domain.judges.protocol import Material, RatedResponse
from annotator.domain.kinds.artifact import Kind, State
from annotator.domain.kinds.rubric import EXPERT_WEIGHT_SHARES, Criterion, Rubric
from annotator.domain.material.item import SET, Item, Response, by_set
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import pictures
from annotator.exchange.folders import read_json
from annotator.exchange.table_files import read_table
from annotator.protocols import PAPER_TITLES, USUAL_OF
from annotator.stats.validation.rubrics import (
    DEPARTURES,
    OF_SETS,
    Beside,
    CriterionAgreement,
    CriterionReach,
    CriterionVote,
    Discrimination,
    RubricSet,
    criterion_agreement,
    discrimination,
    gap,
    side_by_side,
    weight_shares,
)
from annotator.storage.tables import ARTIFACT, EXTRACT, ITEM, RESPONSE

if TYPE_CHECKING:
    from annotator.stats.validation.comparison import Named

JUDGED_BY = USUAL_OF[Kind.RUBRIC]
PAPER = PAPER_TITLES[JUDGED_BY.name]
# A response's id and the name of its system.
Answer = tuple[str, str]
# Rater → response → criterion → value.
VerdictsByUnit = Mapping[str, Mapping[str, Mapping[str, str]]]


@dataclass(frozen=True, slots=True)
class Piloted:
    """A criterion with the statistics of its votes; `agreement` is None without two raters."""

    item: Item
    unit: Criterion
    discrimination: Discrimination
    agreement: CriterionAgreement | None


def pilot_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the rater whose votes count, and of the two raters for κ: those who share most first."""
    names = _names(project)
    pairs = tuple((f"{names[a]} and {names[b]}", f"{a},{b}") for a, b in _pairs(_verdicts_by_rater(project)))
    return (
        results.rater_choice(project, JUDGED_BY.name),
        ViewChoice("between", "κ between", pairs or (("no two raters", ""),)),
        *results.cut_choices(project),
    )


def pilot(
    project: Project, judge: str = "", between: str = "", mode: str = "", among: str = ""
) -> tuple[ResultSheet, ...]:
    """The criteria of all settled rubrics with the pass rate of each system, those that distinguish nothing first.

    By one rater's votes; people's are pooled. Responses of one mode count, by default the one that counts in the
    results. κ is between two raters on the same responses, by default those who share most judgements, people first;
    without two such raters no agreement is shown. Then the weights beside those of the paper's experts.
    """
    rater = result_raters.chosen(result_raters.everybody(project, JUDGED_BY.name), judge)
    if rater is None:
        return ()
    verdicts, names = _verdicts_by_rater(project), _names(project)
    pairs = _pairs(verdicts)
    if rater.id == CONSENSUS:
        verdicts |= _verdicts_by(project, CONSENSUS)
    first, _, second = between.partition(",")
    two = (first, second) if second else next(iter(pairs), None)
    criteria: list[Piloted] = []
    rubrics: list[Rubric] = []
    for at_hand, answers in _answered(project, mode, among):
        rubric = at_hand.own.documents.get(Kind.RUBRIC)
        if isinstance(rubric, Rubric):
            rubrics.append(rubric)
            criteria += _piloted(at_hand.item, rubric, answers, verdicts, rater, two)
    if not criteria:
        return ()
    criteria.sort(key=lambda one: _place(one.discrimination))
    systems = sorted({system for line in criteria for system in line.discrimination.rates})
    reach, weights = Counter(line.discrimination.reach for line in criteria), weight_shares(rubrics)
    raters = " and ".join(names[one] for one in two or ())
    metric = JUDGED_BY.metrics[0].name
    means = results.system_means(results.of_metric(project, metric, rater.id, among), mode)
    apart = gap({system: mean.value for system, mean in means.items()})
    by_weight = ", ".join(
        f"weight {weight} {percent(share.value or 0.0)}{_of_experts(weight)}"
        for weight, share in weights.items()
    )
    return (
        ResultSheet(
            "criteria",
            "Criteria",
            columns(
                ITEM_COLUMN, ("criterion", "Criterion"), ("weight", "Weight"),
                ("reach", "Reach", "Whether it separates systems: a ceiling is met by all, a floor by none"),
                ("spread", "Spread", "Standard deviation of the pass rate over systems; 0.5 at most"),
                *((
                    ("kappa", "κ", f"Cohen's κ of {raters}"),
                    ("agreement", "Agreement", "Share of responses on which the two raters say the same"),
                ) if two else ()),
                *((key_of("system", system), system, f"Share of the responses of {system} that meet the criterion")
                  for system in systems),
            ),
            tuple(_line(criterion, systems, rater.id, two is not None) for criterion in criteria),
            (
                f"By the votes of {rater.name}, {reach[CriterionReach.APART]:,} of {len(criteria):,} criteria tell "
                f"systems apart; {reach[CriterionReach.CEILING]:,} are met by all, {reach[CriterionReach.FLOOR]:,} by "
                f"none, {reach[CriterionReach.OPEN]:,} are open.",
                f"Weights: {by_weight}.",
                f"Gap between systems: {in_words(apart)} ({apart.note}).",
                *([f"κ is that of {raters}, criterion by criterion."] if two else []),
            ),
            tuple(_pictures(weights, reach)),
            DEPARTURES,
            metrics=(metric,),
            rater=rater,
        ),
        _weights(weights),
    )  # fmt: skip


def _answered(
    project: Project, mode: str, among: str
) -> Iterator[tuple[materials.MaterialAtHand, list[Answer]]]:
    systems, mode = results.systems_named(project), mode or scoring.main_mode(project)
    for at_hand in materials.each(
        project, materials.for_counting(JUDGED_BY), list(results.items_named(project, among))
    ):
        responses = (material.response for material in at_hand.responses)
        yield (
            at_hand,
            [(response.id, systems[response.system_id]) for response in responses if response.mode == mode],
        )


def _piloted(
    item: Item,
    rubric: Rubric,
    answers: Sequence[Answer],
    verdicts: VerdictsByUnit,
    rater: ResultRater,
    two: tuple[str, str] | None,
) -> Iterator[Piloted]:
    units = {unit.id: unit for unit in rubric.units}
    agreed = criterion_agreement(*(_own(rubric, answers, verdicts, one) for one in two)) if two else {}
    for result in discrimination(_votes(rubric, answers, verdicts, rater)):
        unit = units[result.criterion_id]
        yield Piloted(item, unit, result, agreed.get(unit.id))


def _votes(
    rubric: Rubric, answers: Sequence[Answer], verdicts: VerdictsByUnit, rater: ResultRater
) -> Iterator[CriterionVote]:
    """Every criterion on every response: each vote of the people who labelled it, or the missing one."""
    for unit in rubric.units:
        for response_id, system in answers:
            voters = [rater.id]
            if rater.id == PEOPLE:
                voters = [
                    who for who, of in verdicts.items() if who.startswith(PERSON_KEY) and response_id in of
                ]
            for voter in voters or [""]:
                value = verdicts.get(voter, {}).get(response_id, {}).get(unit.id)
                yield CriterionVote(unit.id, system, response_id, value)


def _own(
    rubric: Rubric, answers: Sequence[Answer], verdicts: VerdictsByUnit, rater: str
) -> Iterator[CriterionVote]:
    """One rater's votes, on the responses they judged at all."""
    for response_id, system in answers:
        values = verdicts.get(rater, {}).get(response_id)
        for unit in rubric.units if values is not None else ():
            yield CriterionVote(unit.id, system, response_id, values.get(unit.id) if values else None)


def _verdicts_by_rater(project: Project) -> dict[str, dict[str, dict[str, str]]]:
    raters = result_raters.raters(project, JUDGED_BY.name)
    return {who: own for rater in raters for who, own in _verdicts_by(project, rater.id).items()}


def _verdicts_by(project: Project, rater_id: str) -> dict[str, dict[str, dict[str, str]]]:
    """A rater's verdicts; people's separately for each person."""
    prefix = PERSON_KEY if rater_id == PEOPLE else ""
    by_rater = grouped(
        (f"{prefix}{who}", (response_id, unit_id, value))
        for response_id, who, unit_id, value in result_raters.spoken(project, JUDGED_BY, rater_id)
    )
    return {who: nested(own) for who, own in by_rater.items()}


def _names(project: Project) -> dict[str, str]:
    """The raters by key: people by alias, judges by name."""
    named = {f"{PERSON_KEY}{person.id}": person.alias for person in people.people(project)}
    return named | {rater.id: rater.name for rater in result_raters.raters(project, JUDGED_BY.name)}


def _pairs(verdicts: VerdictsByUnit) -> list[tuple[str, str]]:
    """Every two raters who judged the same, two people before others; those who share most first."""
    shared = {
        (a, b): sum(
            len(verdicts[a][response].keys() & verdicts[b][response].keys())
            for response in verdicts[a]
            if response in verdicts[b]
        )
        for a, b in combinations(sorted(verdicts, key=lambda key: (not key.startswith(PERSON_KEY), key)), 2)
    }
    order = sorted(
        shared, key=lambda pair: (-sum(one.startswith(PERSON_KEY) for one in pair), -shared[pair], pair)
    )
    return [pair for pair in order if shared[pair]]


REACHED = {
    CriterionReach.CEILING: ("every system always meets it", "flat"),
    CriterionReach.FLOOR: ("no system ever meets it", "flat"),
    CriterionReach.APART: ("tells systems apart", ""),
    CriterionReach.OPEN: ("open: votes are missing", "incomplete"),
}


def _weights(weights: Mapping[int | float, Estimate]) -> ResultSheet:
    """The distribution of weights beside that of the paper's experts."""
    heads = columns(
        ("weight", "Weight"), ("criteria", "Criteria", "Of this weight"), ("share", "Share", "Of all criteria"),
        ("experts_share", PAPER, "Share of its experts' weights (Table 10): for comparison, not a norm"),
        ("difference", "Difference", "Of the two shares"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            count(weight, form="g"), count(None if own.value is None else round(own.value * own.n)), share(own.value),
            share(norm), _points(own.value, norm),
        ))
        for weight, own in weights.items()
        for norm in [EXPERT_WEIGHT_SHARES.get(weight)]
    )  # fmt: skip
    return ResultSheet("weights", "Weights", heads, lines)


def _points(value: float | None, norm: float | None) -> SheetCell:
    if value is None or norm is None:
        return SheetCell(UNDEFINED)
    apart = value - norm
    return SheetCell(f"{100 * apart:+.1f} points".replace("-", "−"), apart, value=apart)


def _pictures(
    weights: Mapping[int | float, Estimate], reach: Mapping[CriterionReach, int]
) -> Iterator[SheetPicture]:
    yield picture(
        "weights",
        "Weights beside the experts' of the paper",
        pictures.bars,
        [f"weight {weight}" for weight in weights],
        {
            "here": [share.value for share in weights.values()],
            "experts (Table 10)": [EXPERT_WEIGHT_SHARES.get(weight) for weight in weights],
        },
        "share of criteria",
    )
    whole = sum(reach.values())
    yield picture(
        "reach",
        f"What {counted(whole, 'criterion tells', 'criteria tell')}",
        pictures.bars,
        [words for words, _ in REACHED.values()],
        {"share of criteria": [reach.get(one, 0) / whole for one in REACHED]},
        "share of criteria",
    )


def _place(discrimination: Discrimination) -> tuple[int, float]:
    order = (CriterionReach.CEILING, CriterionReach.FLOOR, CriterionReach.OPEN, CriterionReach.APART)
    return order.index(discrimination.reach), discrimination.spread.value or 0.0


def _line(one: Piloted, systems: Sequence[str], rater_id: str, for_two: bool) -> SheetLine:
    unit, result, agreed = one.unit, one.discrimination, one.agreement
    words, state = REACHED[result.reach]
    cells = (
        text(one.item.key), text(unit.text, tip=unit.text), count(unit.weight, form="g"), text(words, state=state),
        figure(result.spread),
        *((figure(agreed.kappa), _bare(agreed.percent)) if agreed else (SheetCell(""),) * (2 if for_two else 0)),
        *(share(result.rates.get(system), 0, "No vote came") for system in systems),
    )  # fmt: skip
    more = (("Criterion", unit.text), *_account(result, agreed))
    source = FigureSource(JUDGED_BY.name, rater_id, item_id=one.item.id, unit_id=unit.id)
    return SheetLine(cells, one.item.id, unit.id, Kind.RUBRIC.value, more=more, source=source)


def _account(discrimination: Discrimination, agreed: CriterionAgreement | None) -> Iterator[tuple[str, str]]:
    yield "Reach", REACHED[discrimination.reach][0]
    yield (
        "Spread",
        f"{in_words(discrimination.spread)} "
        f"({'; '.join(filter(None, (discrimination.spread.method, discrimination.spread.note)))})",
    )
    if agreed:
        for head, estimate in (("κ", agreed.kappa), ("Agreement", agreed.percent)):
            yield (
                head,
                f"{in_words(estimate)}, n = {estimate.n}{'. ' if estimate.note else ''}{estimate.note}",
            )


def _bare(estimate: Estimate) -> SheetCell:
    """A figure without its interval and method, for which a column of shares has no room."""
    return figure(Estimate(estimate.value, n=estimate.n, missing=estimate.missing, note=estimate.note))


def _of_experts(weight: float) -> str:
    norm = EXPERT_WEIGHT_SHARES.get(weight)
    return "" if norm is None else f" ({PAPER}'s experts {percent(norm)})"


LONGEST = 60
OWN = "settled"


def named_sets(project: Project) -> dict[str, dict[str, Rubric]]:
    question = (
        select(EXTRACT, ITEM.c.key)
        .join(ITEM, ITEM.c.id == EXTRACT.c.item_id)
        .where(EXTRACT.c.origin.like(f"{SET}%"), ITEM.c.retired.is_(False))
        .order_by(EXTRACT.c.origin, ITEM.c.position, ITEM.c.key)
    )
    return nested(
        (row["origin"].removeprefix(SET), row["key"], document)
        for row in project.query(question).mappings()
        if isinstance(document := extracts.read(row).document, Rubric)
    )


def settled(project: Project) -> dict[str, Rubric]:
    """The experts' rubrics that reports are judged by while no set is in force, by item key."""
    with project.store.read() as db:
        keys = dict(db.execute(select(ITEM.c.id, ITEM.c.key).where(ITEM.c.retired.is_(False))).all())
        rows = annotating.judged_rows(db, Kind.RUBRIC, list(keys), own=True)
    documents = {keys[item_id]: artifact_of(row).document for item_id, row in rows.items()}
    return {
        key: document
        for key, document in documents.items()
        if isinstance(document, Rubric) and document.units
    }


def in_force(project: Project) -> str:
    """The set that reports are judged by now; empty for the experts' own rubrics."""
    return str(project.get(annotating.RUBRIC_SET, ""))


@people.for_coordinators("can choose by which rubrics reports are judged")
def use(project: Project, name: str) -> Change:
    """Have reports judged, labelled and scored by a named set from now on; by the experts' own for an empty name.

    Judgements by other rubrics stay, and count again once these are in force again.
    """
    name = "" if name == OWN else name
    if name and name not in (known := named_sets(project)):
        raise Refusal(f"There is no rubric set “{name}”.", f"There are: {', '.join([OWN, *known])}.")
    return change_setting(
        project, annotating.RUBRIC_SET, "choose the rubrics to judge by", in_force(project), name
    )


@people.for_coordinators("can keep a rubric set")
def keep_set(project: Project, name: str, rubrics: Mapping[str, Rubric]) -> Change:
    """Store rubrics by item key as a named set; those of an item replace its former ones.

    Only words and weights of the criteria are stored. Raises Refusal for an unknown item, or a weight that is not
    allowed.
    """
    name = name.strip()
    if not name or len(name) > LONGEST or name == OWN or ":" in name:
        raise Refusal(f"“{name[:LONGEST]}” cannot name a rubric set.", "Give a short name without a colon.")
    with project.store.write() as db:
        ids = {key: item_id for key, item_id in db.execute(select(ITEM.c.key, ITEM.c.id))}
        if unknown := sorted(set(rubrics) - set(ids)):
            raise Refusal(f"There is no item {unknown[0]}.", "Nothing was kept.")
        for key, rubric in rubrics.items():
            apart = _apart(name, key, rubric)
            if odd := apart.fault() or settings.outside(project, apart):
                raise Refusal(f"The rubric of item {key} does not fit. {odd}", "Nothing was kept.")
            extracts.keep_row(db, (ids[key], ""), Kind.RUBRIC, apart, by_set(name), by=project.by)
        after = {"name": name, "items": len(rubrics)}
        return record(project, db, Change("rubric set", new_id(), "keep a rubric set", None, after))


def _apart(name: str, key: str, rubric: Rubric) -> Rubric:
    """The same criteria under ids of their own, which are stable while their words are."""
    times = Counter[str]()
    units = []
    for unit in rubric.units:
        times[unit.text] += 1
        own = derived_id("criterion", name, key, unit.text, times[unit.text])
        units.append(type(unit)(id=own, text=unit.text, weight=unit.weight))
    return Rubric(units=tuple(units))


# For scoring, only the verdicts on a response matter here.
NO_ITEM, NO_RESPONSE = Item(id="", key="-", question="-"), Response(id="", item_id="", system_id="", text="")
SETTLED, IMPORTED, DRAFTED = OWN, "imported", "drafted"
# In place of a second set: every set but those of single authors.
EVERY = "every"
ONE_SET = (
    "Scores and criteria are shown once there is a second set. Run: goldsmith rubrics write, or rubrics keep."
)
# A mode and a cut of the items, as `cut_choices` offers them.
Cut = tuple[str, str]
# By item key, so that items of another project can be matched.
Rubrics = dict[str, Rubric]


@dataclass(frozen=True, slots=True)
class RubricSetsReport:
    """Sets by name, their totals side by side, their criteria by item, and a judge's agreement with people by each.

    `left_out` are sets by which this rater judged nothing; `validity` is None if no unit has both.
    """

    names: tuple[str, ...]
    beside: Beside
    rubrics: tuple[Mapping[str, Rubric], ...]
    validity: tuple["tuple[Named, Named] | None", ...]
    left_out: tuple[str, ...] = ()


def sets(project: Project) -> dict[str, Rubrics]:
    """The rubric sets of a project by name: the settled, named and imported ones, each author's, and drafts."""
    result: dict[str, Rubrics] = {SETTLED: settled(project), **named_sets(project)}
    keys = {item_id: item.key for item_id, item in results.items_named(project).items()}
    aliases = {person.id: person.alias for person in people.people(project)}
    question = annotating.submitted_revisions().where(ARTIFACT.c.kind == Kind.RUBRIC.value).order_by(None)
    with project.store.read() as db:
        artifacts = [artifact_of(row) for row in db.execute(question)]
        drafts = extracts.standing(db, keys)
    for artifact in artifacts:
        name = aliases.get(artifact.author_id, IMPORTED)
        if (
            artifact.state is State.SEALED
            and artifact.item_id in keys
            and isinstance(artifact.document, Rubric)
        ):
            result.setdefault(name, {})[keys[artifact.item_id]] = artifact.document
    for (item_id, response_id), of in drafts.items():
        drafted = of.get(Kind.RUBRIC.value)
        if not response_id and drafted is not None and isinstance(drafted.document, Rubric):
            result.setdefault(DRAFTED, {})[keys[item_id]] = drafted.document
    return {name: rubrics for name, rubrics in result.items() if rubrics}


def sets_choices(project: Project) -> tuple[ViewChoice, ...]:
    """Choices of the sets, and of the rater. Only a coordinator can distinguish one person's from another's."""
    names = tuple(
        (name.capitalize() if name in (SETTLED, IMPORTED, DRAFTED) else name, name) for name in sets(project)
    )
    other = (*((("All others", EVERY),) if named_sets(project) else ()), *names[1:], *names[:1])
    return (
        ViewChoice("one", "Set", names),
        ViewChoice("other", "Beside", other),
        results.rater_choice(project, JUDGED_BY.name, single=True),
        *results.cut_choices(project),
    )


@people.for_coordinators("can compare one person's rubrics with another's")
def sets_report(
    project: Project, one: str = "", other: str = "", judge: str = "", file: str = "", mode: str = "", among: str = ""
) -> RubricSetsReport:  # fmt: skip
    """Sets of a project, all or two, or one of them beside the settled set of another project's file.

    Without a second name, all sets but single authors' are compared, if there are named ones. Items are matched by key,
    responses by item and system, first run. For another project, the last judge counts, or the one of the same name.
    """
    # People are taken one by one: several people's values of a criterion are not one verdict.
    raters = result_raters.everybody(project, JUDGED_BY.name)
    rater = result_raters.chosen((one for one in raters if one.id != result_raters.PEOPLE), judge)
    available, cut = sets(project), (mode, among)
    names = [name for name in (one, other) if name in available]
    names += [name for name in available if name not in names]
    names = names or [SETTLED]

    def of(name: str) -> RubricSet:
        return RubricSet(
            name, available.get(name, {}), _verdicts(project, available.get(name, {}), rater, cut)
        )

    if file:
        beside, theirs = _of_file(Path(file), rater)
        return _report(project, [of(names[0]), beside], [rater, theirs], (), cut)
    known = named_sets(project)
    if other == EVERY or (known and not other):
        apart = {names[0], SETTLED, DRAFTED, *known}
        rubric_sets = [of(name) for name in names if name in apart]
        judged = [one for one in rubric_sets if one.verdicts]
        chosen = judged if len(judged) > 1 else rubric_sets[:2]
        left = tuple(one.name for one in rubric_sets if one not in chosen)
    else:
        chosen, left = [of(names[0]), of(names[1] if len(names) > 1 else names[0])], ()
    chosen = chosen if len(chosen) > 1 else chosen * 2
    return _report(project, chosen, [rater] * len(chosen), left, cut)


def _report(
    project: Project, chosen: Sequence[RubricSet], raters: Sequence[ResultRater | None], left: tuple[str, ...], cut: Cut
) -> RubricSetsReport:  # fmt: skip
    return RubricSetsReport(
        tuple(one.name for one in chosen),
        side_by_side(chosen, _score),
        tuple(one.rubrics for one in chosen),
        tuple(_validity(project, one, rater, cut) for one, rater in zip(chosen, raters, strict=True)),
        left,
    )


def _validity(
    project: Project, own: RubricSet, rater: ResultRater | None, cut: Cut
) -> "tuple[Named, Named] | None":
    """A judge's agreement with people's labels by the criteria of a set; each label of a person is one pair."""
    if rater is None or result_raters.are_people(rater.id):
        return None
    from annotator.stats.validation.comparison import both_ways

    weights = {(key, unit.id): unit.weight for key, rubric in own.rubrics.items() for unit in rubric.units}
    places, pairs = dict(_places(project, cut)), list[tuple[str, str, float, str]]()
    for response_id, _, unit_id, value in result_raters.spoken(project, JUDGED_BY, result_raters.PEOPLE):
        place = places.get(response_id, ("", ""))
        verdict = own.verdicts.get(place, {}).get(unit_id)
        if verdict is not None and (place[0], unit_id) in weights:
            pairs.append((value, verdict, abs(float(weights[place[0], unit_id])), place[0]))
    if not pairs:
        return None
    truth, verdicts, heavy, items = zip(*pairs, strict=True)
    return both_ways(truth, verdicts, YES, heavy, items)


def keep(project: Project, name: str, of: str) -> Change:
    """Store a set of the project under a name of its own, as it is now; raises Refusal if there is no such set."""
    return keep_set(project, name, one_of(of, sets(project), f"There is no rubric set “{of}”.", "There are:"))


def _score(rubric: Rubric, verdicts: Mapping[str, str]) -> float | None:
    """The score of a response by a rubric and the verdicts on its criteria."""
    material = Material(NO_ITEM, NO_RESPONSE, {Kind.RUBRIC: rubric})
    return JUDGED_BY.metrics[0].score(RatedResponse(material, verdicts), False).value


def _of_file(path: Path, rater: ResultRater | None) -> tuple[RubricSet, ResultRater | None]:
    project = Project.open(path, readonly=True)
    try:
        raters = result_raters.raters(project, JUDGED_BY.name)
        same = next((one for one in raters if rater is not None and one.name == rater.name), None)
        theirs = same or next(iter(raters), None)
        rubrics = settled(project)
        return RubricSet(path.stem, rubrics, _verdicts(project, rubrics, theirs)), theirs
    finally:
        project.close()


def _verdicts(
    project: Project, rubrics: Rubrics, rater: ResultRater | None, cut: Cut = ("", "")
) -> dict[tuple[str, str], dict[str, str]]:
    """Item and system → criterion → value, by these rubrics; without responses that nobody judged by them."""
    if rater is None:
        return {}
    places = dict(_places(project, cut))
    units = {key: {unit.id for unit in rubric.units} for key, rubric in rubrics.items()}
    return nested(
        (places[response_id], unit_id, value)
        for response_id, _, unit_id, value in result_raters.spoken(project, JUDGED_BY, rater.id)
        if response_id in places and unit_id in units.get(places[response_id][0], ())
    )


def _places(project: Project, cut: Cut) -> Iterator[tuple[str, tuple[str, str]]]:
    mode, among = cut
    items, systems = results.items_named(project, among), results.systems_named(project)
    r, counts = RESPONSE.c, mode or scoring.main_mode(project)
    question = select(r.id, r.item_id, r.system_id).where(r.mode == counts, r.trial == 1)
    with project.store.read() as db:
        for response_id, item_id, system_id in db.execute(question):
            if item_id in items:
                yield response_id, (items[item_id].key, systems[system_id])


def sets_sheets(report: RubricSetsReport) -> tuple[ResultSheet, ...]:
    """Scores under both sets, weights of both, and their criteria side by side; for a single set its weights only."""
    if not report.beside.items:
        return ()
    if report.names[0] == report.names[1]:
        own = replace(report.beside, weights=report.beside.weights[:1])
        return (
            replace(
                _rubric_sets_weights(replace(report, names=report.names[:1], beside=own)), notes=(ONE_SET,)
            ),
        )
    rest = (_rubric_sets_weights(report), _alignment(report))
    if not report.beside.scores:
        return (replace(rest[0], notes=tuple(_rubric_set_notes(report))), rest[1])
    return (_scores(report), *([_validities(report)] if any(report.validity) else []), *rest)


def _sides(report: RubricSetsReport) -> list[tuple[str, str]]:
    return [(key_of("set", name), name) for name in report.names]


def _scores(report: RubricSetsReport) -> ResultSheet:
    two = len(report.names) == 2
    apart = [("difference", "Difference", f"{report.names[1]} less {report.names[0]}")] * two
    heads = columns(
        SYSTEM_COLUMN, *_sides(report), *apart, ("items", "Items", "Judged completely under all these sets"),
    )  # fmt: skip
    lines = []
    for system, scores in report.beside.scores.items():
        cells = [text(system), *map(figure, scores)]
        cells += [count(_difference(*scores), form="+.3f")] if two else []
        lines.append(SheetLine((*cells, count(scores[0].n))))
    what = JUDGED_BY.metrics[0].title
    title = f"{what} under {' and under '.join(f'“{name}”' for name in report.names)}"
    by_set = zip(*report.beside.scores.values(), strict=True)
    shown = (
        picture(
            "scores", title, pictures.pairs,
            [(system, *pair) for system, pair in report.beside.scores.items()], report.names,
            f"{what.lower()}, mean over items judged under all, 95 % interval",
        )
        if two
        else picture(
            "scores", title, pictures.bars, list(report.beside.scores),
            {name: [score.value for score in of] for name, of in zip(report.names, by_set, strict=True)},
            what.lower(),
        )
    )  # fmt: skip
    return ResultSheet(
        "scores", "Scores", heads, tuple(lines), tuple(_rubric_set_notes(report)), (shown,), OF_SETS,
        metrics=(JUDGED_BY.metrics[0].name,),
    )  # fmt: skip


def _difference(estimate: Estimate, other: Estimate) -> float | None:
    return None if estimate.value is None or other.value is None else other.value - estimate.value


# Table 9, and the gap given in the text beside Table 8.
_FIGURES = ("accuracy", "precision", "recall", "f1")


def _validities(report: RubricSetsReport) -> ResultSheet:
    names = [(name, name.upper() if name == "f1" else name.capitalize()) for name in _FIGURES]
    heads = columns(
        ("set", "Set"),
        ("gap", "Gap", "Best system less worst"),
        *((name, words, "Of the judge against people, covered is positive") for name, words in names),
        *((f"weighted_{name}", f"{words}, weighted", "A pair counts as its criterion weighs") for name, words in names),
        ("pairs", "Pairs", "Labels of people that the judge has a verdict beside"),
    )  # fmt: skip
    lines = []
    for name, apart, both in zip(report.names, report.beside.gaps, report.validity, strict=True):
        estimates = [way[one] for way in both or () for one in _FIGURES]
        cells = list(map(figure, estimates)) or [missing("Nobody labelled by these criteria")] * (
            2 * len(_FIGURES)
        )
        pairs = both[0]["accuracy"].n if both else 0
        lines.append(SheetLine((text(name), figure(apart), *cells, count(pairs))))
    return ResultSheet("validity", "Agreement with people", heads, tuple(lines))


def _rubric_set_notes(report: RubricSetsReport) -> Iterator[str]:
    beside, all_of = report.beside, "both" if len(report.names) == 2 else f"all {len(report.names):,}"
    first = (
        "their" if len(report.names) == 2 else f"the criteria of “{report.names[0]}” and “{report.names[1]}”"
    )
    yield (
        f"{counted(len(beside.items), 'item has', 'items have')} {all_of} sets; {in_words(beside.matched)} of {first} "
        f"{'criteria ' if len(report.names) == 2 else ''}say the same (F1, {beside.matched.note})."
    )
    if report.left_out:
        yield f"Nothing was judged by {', '.join(f'“{name}”' for name in report.left_out)}, left out here."
    for name, apart in zip(report.names, beside.gaps, strict=True):
        yield f"Gap between the best and the worst system under “{name}”: {or_why(apart, f' ({apart.note})')}."
    if not beside.scores:
        named = " and ".join(f"“{name}”" for name in report.names)
        both = "both " * (len(report.names) == 2)
        yield f"No report was judged by {both}{named}: only weights and criteria can be compared."


def _rubric_sets_weights(report: RubricSetsReport) -> ResultSheet:
    theirs = "experts", PAPER, "Weights by its experts (Table 10): for comparison, not a norm"
    weights = sorted({one for own in report.beside.weights for one in own})
    norms = [EXPERT_WEIGHT_SHARES.get(weight) for weight in weights]
    shares = [[_share(own, weight) for weight in weights] for own in report.beside.weights]
    return ResultSheet(
        "weights",
        "Weights",
        columns(("weight", "Weight"), *_sides(report), theirs),
        tuple(
            SheetLine((count(weight, form="g"), *(share(own[place]) for own in shares), share(norms[place])))
            for place, weight in enumerate(weights)
        ),
        (),
        (
            picture(
                "weights",
                "Weights of the sets",
                pictures.bars,
                [f"weight {one}" for one in weights],
                dict(zip(report.names, shares, strict=True)) | {"experts (Table 10)": norms},
                "share of criteria",
            ),
        ),
    )


def _share(own: Mapping[int | float, Estimate], weight: float) -> float | None:
    """The share of a weight in one of the sets; 0 if only the other has it."""
    return (
        own[weight].value if weight in own else 0.0 if any(estimate.n for estimate in own.values()) else None
    )


def _alignment(report: RubricSetsReport) -> ResultSheet:
    heads = columns(
        ITEM_COLUMN, *_sides(report)[:2],
        ("likeness", "Likeness", "Of the two wordings, 1 for equal ones; pairs below 0.36 are not matched"),
        ("weights", "Weights", "Of both criteria"),
    )  # fmt: skip
    return ResultSheet(
        "criteria",
        "Criteria",
        heads,
        tuple(line for item in report.beside.items for line in _lines(report, item)),
    )


def _lines(report: RubricSetsReport, item: str) -> Iterator[SheetLine]:
    a, b = (own[item].units for own in report.rubrics[:2])
    alignment = report.beside.alignments[item]
    for i, j, alike in alignment.pairs:
        yield _row(item, a[i].text, b[j].text, alike, f"{a[i].weight} and {b[j].weight}")
    for i in alignment.only_a:
        yield _row(item, a[i].text, "", None, f"{a[i].weight} and –")
    for j in alignment.only_b:
        yield _row(item, "", b[j].text, None, f"– and {b[j].weight}")


def _row(item: str, one: str, other: str, alike: float | None, weights: str) -> SheetLine:
    likeness = (
        SheetCell("only one has it")
        if alike is None
        else SheetCell(f"{alike:.2f}", alike, state="agreed", value=alike)
    )
    return SheetLine((text(item), text(one, tip=one), text(other, tip=other), likeness, text(weights)))


COLUMNS = ITEM_FIELD, CRITERION, WEIGHT = "item", "criterion", "weight"
FILE_COLUMNS = (
    "Give a table with the columns item, criterion and weight, or JSON: item key → list of {text, weight}."
)


def write_set(project: Project, name: str, path: Path) -> int:
    """Write a set as JSON or CSV, by the file's extension; return its number of criteria; raises Refusal if unknown."""
    from annotator.exchange.formats.label_files import guarded
    from annotator.exchange.release.tables_csv import csv

    people.refuse_others(project, "can save a rubric set")
    available = sets(project)
    refuse_other(name, available, f"There is no rubric set “{name}”.", "There are:")
    tree = {
        key: [{"text": unit.text, "weight": unit.weight} for unit in rubric.units]
        for key, rubric in available[name].items()
    }
    rows = [
        {ITEM_FIELD: guarded(key), CRITERION: guarded(unit["text"]), WEIGHT: unit["weight"]}
        for key, units in tree.items()
        for unit in units
    ]
    as_json = path.suffix.lower() == ".json"
    files.save(path, json.dumps(tree, ensure_ascii=False, indent=2).encode() if as_json else csv(rows))
    return len(rows)


def keep_file(project: Project, name: str, path: Path) -> Change:
    """Store a file's rubrics as a named set; raises Refusal if it has none."""
    return keep_set(project, name, read_set(path))


def read_set(path: Path) -> dict[str, Rubric]:
    try:
        tree = read_json(path) if path.suffix.lower() == ".json" else None
        units_of = tree if isinstance(tree, dict) else _table(path)
        result = {str(key): Rubric.model_validate({"units": units}) for key, units in units_of.items()}
    except (ValueError, ValidationError) as error:
        words = str(error).splitlines()[0]
        raise Refusal(f"“{path.name}” cannot be read as rubrics: {words}.", FILE_COLUMNS) from None
    if not any(rubric.units for rubric in result.values()):
        raise Refusal(f"“{path.name}” holds no criterion.", FILE_COLUMNS)
    return result


def _table(path: Path) -> Mapping[str, list[dict[str, str | float]]]:
    from annotator.exchange.formats.label_files import unguarded

    result: dict[str, list[dict[str, str | float]]] = {}
    for row in read_table(path, COLUMNS).rows:
        try:
            weight = float(row[WEIGHT])
        except ValueError:
            raise ValueError(f"“{row[WEIGHT]}” is no weight") from None
        result.setdefault(unguarded(row[ITEM_FIELD]), []).append(
            {"text": unguarded(row[CRITERION]), "weight": weight}
        )
    return result
