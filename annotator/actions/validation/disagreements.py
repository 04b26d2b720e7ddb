"""Disagreements of judges and people: both sides, rulings, and their effect on the figures."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import product
from typing import NamedTuple

import numpy as np

from annotator.actions.labelling import label_cases
from annotator.actions.project import people
from annotator.actions.project.file import Project, cached
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.results.result_sheets import (
    JUDGE_COLUMN,
    ResultSheet,
    SheetLine,
    SheetPicture,
    columns,
    count,
    key_of,
    text,
)
from annotator.actions.sets import reviews, validation_figures, validation_ground
from annotator.actions.sets.validation_figures import ALL, TITLES, RaterResult, UnitPlace, figure_cell, there
from annotator.actions.validation.validation import ValidationQuery, ground_of, held
from annotator.domain.judges.judge import Fault, InformedFields, InformedKind, InformedRuling
from annotator.domain.texts.canonical import Change, now, well_formed
from annotator.domain.texts.refusal import Refusal
from annotator.exchange import pictures
from annotator.protocols import USUAL
from annotator.storage.tables import INFORMED

# What stands for a ruling where there is none yet.
OPEN = ""
# A judge, a unit, and whose label it is.
Case = tuple[str, str, str, str]


class Disagreement(NamedTuple):
    """A unit on which a judge and a person differ, with both values; `ruling` is empty while it is open.

    The person is known by alias, “consensus” where that is compared with; the cited page by `case_of` of the unit.
    """

    place: UnitPlace
    judge: validation_ground.ValidationRater
    person_id: str
    alias: str
    judge_value: str
    label_value: str
    ruling: str = OPEN
    reason: str = ""
    note: str = ""

    @property
    def case(self) -> Case:
        return (self.judge.id, self.place.response_id, self.place.unit_id, self.person_id)


@dataclass(frozen=True, slots=True)
class RuledJudge:
    """A judge's figures by first labels, which stay the metric, and after rulings.

    After the rulings a person's label that was ruled wrong counts as the judge has it, and a unit whose criterion is
    unclear counts for nothing. `open` disagreements are not ruled on yet.
    """

    rater: validation_ground.ValidationRater
    first: RaterResult
    ruled: RaterResult
    rulings: Mapping[str, int]
    open: int
    query: ValidationQuery = field(default_factory=ValidationQuery)


@dataclass(frozen=True, slots=True)
class UnclearCriterion:
    item_id: str
    item_key: str
    unit_id: str
    words: str
    times: int


class DisagreementList(NamedTuple):
    """Disagreements in order, how many this person is not shown yet, and whether a judge judged these labels."""

    shown: Sequence[Disagreement]
    withheld: int
    judged: bool


def queue(project: Project, query: ValidationQuery) -> Sequence[Disagreement]:
    """Every unit on which a judge and a person differ, those not ruled on first, the heaviest first.

    On the same labels as the validation of this query, and refused as that is. What this person is still to label
    blind is not among them.
    """
    return outlook(project, query).shown


@cached
def outlook(project: Project, query: ValidationQuery) -> DisagreementList:
    """The same, and how many are left out because the person asking is still to label their items blind."""
    result, ruled = ground_of(project, query), _rulings(project, query.protocol)
    blind = reviews.still_blind(project, people.someone(project).id)
    made, keys = list[Disagreement](), list(result.places)
    for rater, source in product(result.judges(), result.truth):
        values, true = result.column(rater.key)[0], result.column(source)[0]
        alias = result.aliases.get(source, CONSENSUS)
        for at in np.flatnonzero(there(values) & there(true) & (values != true)).tolist():
            one = Disagreement(result.places[keys[at]], rater, source, alias, values[at], true[at])
            by = ruled.get(one.case)
            # A ruling on other values says nothing of these.
            same = by is not None and (by.judge_value, by.label_value) == (one.judge_value, one.label_value)
            made.append(one._replace(ruling=by.said, reason=by.reason, note=by.note) if by and same else one)
    shown = [one for one in made if one.place.item_id not in blind]
    shown.sort(key=lambda one: (bool(one.ruling), -abs(one.place.weight), one.place.item_key, one.case))
    return DisagreementList(shown, len(made) - len(shown), bool(result.versions))


@people.for_coordinators("can rule on disagreements between judges and people")
def rule(
    project: Project, one: Disagreement, ruling: InformedRuling, *, reason: str = "", note: str = "",
    protocol: str = USUAL,
) -> Change:  # fmt: skip
    """Say who is wrong; a later ruling on the same takes the place of this one. First labels never change."""
    if reason and reason not in list(Fault):
        raise Refusal(f"“{reason}” is not a valid reason.", f"Use one of {', '.join(Fault)}.")
    fields = well_formed(InformedFields, dict(
        kind=InformedKind.RULING, protocol=protocol, item_id=one.place.item_id, response_id=one.place.response_id,
        unit_id=one.place.unit_id, judge_id=one.judge.id, judge_value=one.judge_value, label_of=one.person_id,
        label_value=one.label_value, said=ruling.value, reason=reason, note=note,
        by=people.someone(project).id, at=now(),
    ))  # fmt: skip
    return reviews.say(project, fields, "rule")


@cached
def report(project: Project, query: ValidationQuery) -> list[RuledJudge]:
    """Each judge by first labels and after the rulings, on the same labels as the validation of this query."""
    result = ground_of(project, query)
    positive = validation_figures.positive_of(result.protocol, query.positive)
    ruled = _rulings(project, query.protocol)
    return [_ruled(result, rater, query, positive, ruled) for rater in result.judges()]


@people.for_coordinators("can see criteria ruled unclear")
def unclear(project: Project, protocol: str = USUAL) -> list[UnclearCriterion]:
    """The criteria that were ruled unclear and not reworded since, the most often ruled first."""
    places = validation_figures.places(project, label_cases.protocol_of(project, protocol))
    counts = Counter(
        (places[key].item_id, places[key].item_key, places[key].unit_id, places[key].words)
        for one in reviews.standing(
            project, InformedKind.RULING, protocol, INFORMED.c.said == InformedRuling.UNCLEAR.value
        )
        if (key := (one.response_id, one.unit_id)) in places
    )
    return [
        UnclearCriterion(*about, times)
        for about, times in sorted(counts.items(), key=lambda e: (-e[1], e[0]))
    ]


def _rulings(project: Project, protocol: str) -> dict[Case, InformedFields]:
    """The rulings that stand, by what they are on; one on another wording does not."""
    return {
        (one.judge_id, one.response_id, one.unit_id, one.label_of): one
        for one in reviews.standing(project, InformedKind.RULING, protocol)
    }


def _ruled(
    ground: validation_ground.Ground,
    rater: validation_ground.ValidationRater,
    query: ValidationQuery,
    positive: str,
    ruled: Mapping[Case, InformedFields],
) -> RuledJudge:
    judged, counts = ground.version(rater).verdicts, Counter[str]()
    truth = {source: dict(own) for source, own in ground.truth.items()}
    for (judge_id, response_id, unit_id, source), ruling in ruled.items():
        key, own = (response_id, unit_id), truth.get(source, {})
        same = (judged.get(key), own.get(key)) == (ruling.judge_value, ruling.label_value)
        if judge_id == rater.id and same and key in ground.places:
            counts[ruling.said] += 1
            if ruling.said == InformedRuling.PERSON_WRONG.value:
                own[key] = ruling.judge_value
            elif ruling.said == InformedRuling.UNCLEAR.value:
                del own[key]
    first = ground.pairs(rater)
    differ = int((there(first.verdicts) & (first.verdicts != first.truth)).sum())
    each = (first, replace(ground, truth=truth).pairs(rater)) if counts else (first,)
    told_of = [validation_figures.figures(pairs, positive, ground.protocol.scale) for pairs in each]
    return RuledJudge(
        rater, told_of[0], told_of[-1], dict(counts.most_common()), differ - counts.total(), query
    )  # fmt: skip


def sheets(judges: Sequence[RuledJudge]) -> tuple[ResultSheet, ...]:
    """A row for each judge and figure: by first labels, and after the rulings."""
    heads = columns(
        JUDGE_COLUMN, ("figure", "Figure"),
        ("first_labels", "First labels", "The metric: blind labels as they were given"),
        ("after_rulings", "After rulings", "Labels ruled wrong take the judge's value; unclear criteria are excluded"),
        *((key_of(ruling.value), ruling.value.capitalize()) for ruling in InformedRuling),
        ("not_ruled", "Not ruled", "Disagreements without a ruling"),
    )  # fmt: skip
    lines = tuple(
        SheetLine((
            text(judge.rater.name), text(TITLES[name][0], tip=TITLES[name][1]), figure_cell(first),
            figure_cell(judge.ruled.plain[name]),
            *(count(judge.rulings.get(ruling.value, 0)) for ruling in InformedRuling), count(judge.open),
        ), source=held(judge.query, judge.rater, ALL, f"{judge.rater.name}: first labels"), picture=name)
        for judge in judges for name, first in judge.first.plain.items()
    )  # fmt: skip
    return (
        (
            ResultSheet(
                "rulings",
                "First labels and rulings",
                heads,
                lines,
                (
                    "First labels stay the metric. Only disagreements are ruled on, so rulings can only raise "
                    "agreement: errors shared by both sides are never reviewed.",
                ),
                _pictures(judges),
            ),
        )
        if lines
        else ()
    )


def _pictures(judges: Sequence[RuledJudge]) -> tuple[SheetPicture, ...]:
    return tuple(
        SheetPicture(
            name,
            TITLES[name][0],
            partial(
                pictures.pairs,
                f"{TITLES[name][0]}: first labels, and after rulings",
                [(judge.rater.name, judge.first.plain[name], judge.ruled.plain[name]) for judge in judges],
                ("first labels, the metric", "after rulings"),
                f"{TITLES[name][0]}, 95 % interval over items",
            ),
        )
        for name in judges[0].first.plain
    )
