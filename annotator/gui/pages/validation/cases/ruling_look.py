"""Query of the Disagreements tab: choices, cases, figures, unclear criteria."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from annotator.actions.judging.judge_offers import title
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import rejudging, reviews, set_looks, validation_sets
from annotator.actions.sets.rejudging import StaleJudgements
from annotator.actions.sets.set_looks import SetLook
from annotator.actions.validation import disagreements
from annotator.actions.validation.disagreements import (
    Disagreement,
    DisagreementList,
    RuledJudge,
    UnclearCriterion,
)
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.judges.validation import Split
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.pages.validation.cases.verdict_cases import (
    NO_CASES,
    PERSON,
    Cases,
    CaseVoice,
    Key,
    VerdictCase,
)
from annotator.gui.pages.validation.looking import CountedLook

EVERY = "*"
NOTHING = DisagreementList((), 0, False)
# Words and value of something that can be chosen.
Option = tuple[str, str]


@dataclass(frozen=True, slots=True)
class RulingChoice:
    """The choice of protocol, labels as “set|part” (empty: all submitted), judge, and raters."""

    protocol: str = ""
    labels: str = ""
    judge: str = ""
    person: str = EVERY

    @property
    def set_name(self) -> str:
        return self.labels.rpartition("|")[0]

    @property
    def part(self) -> str:
        return self.labels.rpartition("|")[2]

    def query(self, opening: str = "") -> ValidationQuery:
        judge = "" if self.judge == EVERY else self.judge
        against = () if self.person == EVERY else (self.person,)
        return ValidationQuery(self.protocol, self.set_name, self.part, against, judge, opening=opening)


@dataclass(frozen=True, slots=True)
class RulingLook:
    """The result of the query. `closed` is an unopened test part; `refusal` says why nothing can be shown.

    `ruled` are the figures, None until they are counted.
    """

    choice: RulingChoice
    options: Mapping[str, Sequence[Option]]
    opening: str = ""
    outlook: DisagreementList = NOTHING
    cases: Cases = NO_CASES
    ruled: Sequence[RuledJudge] | None = None
    unclear: Sequence[UnclearCriterion] = ()
    again: Sequence[StaleJudgements] = ()
    refusal: Refusal | None = None
    closed: SetLook | None = None
    details: Mapping[str, str] = field(default_factory=dict)


def look(project: Project, choice: RulingChoice, looks: Mapping[str, CountedLook]) -> RulingLook:
    """All but the figures for a choice, fitted to what there is; a refusal is an answer."""
    try:
        people.refuse_others(project, "is shown judges beside people")
        choice, options = _fitted(project, choice)
        found = RulingLook(choice, options)
        if not choice.protocol:
            return found
        found = replace(
            found,
            unclear=disagreements.unclear(project, choice.protocol),
            again=rejudging.waiting(project, choice.protocol),
        )
    except Refusal as refusal:
        return RulingLook(choice, {}, refusal=refusal)
    try:
        if set_looks.is_closed(choice.set_name, choice.part):
            seen = set_looks.seen(project, choice.set_name)
            opened = looks.get(seen.set_id)
            if opened is None or not set_looks.covers(opened.seen, seen):
                return replace(found, closed=seen)
            found = replace(found, opening=opened.opening)
        query = choice.query(found.opening)
        outlook = disagreements.outlook(project, query)
        return replace(found, outlook=outlook, cases=cases(outlook.shown, choice.protocol))
    except Refusal as refusal:
        return replace(found, refusal=refusal)


def _fitted(project: Project, choice: RulingChoice) -> tuple[RulingChoice, dict[str, Sequence[Option]]]:
    """The choice where it can be had, otherwise what comes first; with all that can be chosen."""
    offers = reviews.offers(project)
    protocols = [(title(name), name) for name in dict.fromkeys(one.protocol for one in offers)]
    protocol = _held(choice.protocol, protocols)
    judges = [(one.judge, one.judge) for one in offers if one.protocol == protocol]
    judges += [("All judges", EVERY)] if len(judges) > 1 else []
    labels: list[Option] = [("All submitted labels", "")]
    for one in validation_sets.sets(project):
        if one.protocol == protocol and one.locked_at is not None:
            looks = counted(one.openings, "look")
            labels.append((f"{one.name} · dev part", f"{one.name}|{Split.DEV}"))
            labels.append((f"{one.name} · test part, {looks}", f"{one.name}|{Split.TEST}"))
    persons = [
        ("Everybody", EVERY),
        *((one.alias, one.alias) for one in people.people(project) if one.active),
        ("The consensus", CONSENSUS),
    ]
    fitted = RulingChoice(
        protocol, _held(choice.labels, labels), _held(choice.judge, judges), _held(choice.person, persons)
    )
    return fitted, {"protocol": protocols, "labels": labels, "judge": judges, "person": persons}


def _held(value: str, options: Sequence[Option]) -> str:
    known = [one for _, one in options]
    return value if value in known else next(iter(known), "")


def figures(project: Project, query: ValidationQuery) -> Sequence[RuledJudge]:
    """The figures of a choice; nothing where they cannot be had any more."""
    try:
        return disagreements.report(project, query)
    except Refusal:
        return ()


def cases(found: Sequence[Disagreement], protocol: str) -> Cases:
    numbers: dict[Key, int] = {one.case: number for number, one in enumerate(found)}
    return Cases(
        found,
        [one.ruling for one in found],
        lambda key: numbers.get(key),
        lambda number: found[number].place,
        partial(_case_of, protocol),
    )


def _case_of(protocol: str, one: Disagreement) -> VerdictCase:
    voices = (
        CaseVoice(one.judge.name, one.judge.id, one.judge_value),
        CaseVoice(one.alias, one.person_id, one.label_value, PERSON),
    )
    return VerdictCase(one.case, protocol, one.place, voices, one.ruling, one.reason, one.note)
