"""What the desk of disagreements is asked for at once: its choices, the cases, the figures, and what is unclear."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from annotator.actions.judging.judge_offers import title
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results.result_raters import CONSENSUS
from annotator.actions.sets import rejudging, reviews, validation_looks, validation_sets
from annotator.actions.sets.rejudging import Again
from annotator.actions.sets.validation_looks import Seen
from annotator.actions.validation import disagreements
from annotator.actions.validation.disagreements import Disagreement, Outlook, Ruled, Unclear
from annotator.actions.validation.validation import Wish
from annotator.domain.judges.validation import Split
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.gui.pages.validation.cases.verdict_cases import (
    NO_CASES,
    PERSON,
    Cases,
    Key,
    VerdictCase,
    Voice,
)
from annotator.gui.pages.validation.looking import Look

# So many resamples are enough for a strip that is counted anew while one rules.
RESAMPLES = 400
EVERY = "*"
NOTHING = Outlook((), 0, False)
# Words and value of something that can be chosen.
Option = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Choice:
    """What was chosen: a protocol, labels as “set|part” (empty: all that were submitted), a judge, whose labels."""

    protocol: str = ""
    labels: str = ""
    judge: str = ""
    person: str = EVERY

    @property
    def set_name(self) -> str:
        """The name of the set, if one was chosen."""
        return self.labels.rpartition("|")[0]

    @property
    def part(self) -> str:
        """Its part."""
        return self.labels.rpartition("|")[2]

    def wish(self, opening: str = "") -> Wish:
        """The same as a validation is asked for."""
        judge = "" if self.judge == EVERY else self.judge
        against = () if self.person == EVERY else (self.person,)
        return Wish(
            self.protocol, self.set_name, self.part, against, judge, opening=opening, resamples=RESAMPLES
        )


@dataclass(frozen=True, slots=True)
class Looked:
    """What was found. `closed` is a test part that nobody asked to open; `refusal` says why nothing can be shown.

    `ruled` are the figures, None until they are counted.
    """

    choice: Choice
    options: Mapping[str, Sequence[Option]]
    opening: str = ""
    outlook: Outlook = NOTHING
    cases: Cases = NO_CASES
    ruled: Sequence[Ruled] | None = None
    unclear: Sequence[Unclear] = ()
    again: Sequence[Again] = ()
    refusal: Refusal | None = None
    closed: Seen | None = None
    details: Mapping[str, str] = field(default_factory=dict)


def look(project: Project, choice: Choice, looks: Mapping[str, Look]) -> Looked:
    """All but the figures for a choice, fitted to what there is; a refusal is an answer."""
    try:
        people.refuse_others(project, "is shown judges beside people")
        choice, options = _fitted(project, choice)
        found = Looked(choice, options)
        if not choice.protocol:
            return found
        found = replace(
            found,
            unclear=disagreements.unclear(project, choice.protocol),
            again=rejudging.waiting(project, choice.protocol),
        )
    except Refusal as refusal:
        return Looked(choice, {}, refusal=refusal)
    try:
        if validation_looks.is_closed(choice.set_name, choice.part):
            seen = validation_looks.seen(project, choice.set_name)
            opened = looks.get(seen.set_id)
            if opened is None or not validation_looks.covers(opened.seen, seen):
                return replace(found, closed=seen)
            found = replace(found, opening=opened.opening)
        wish = choice.wish(found.opening)
        outlook = disagreements.outlook(project, wish)
        return replace(found, outlook=outlook, cases=cases(outlook.shown, choice.protocol))
    except Refusal as refusal:
        return replace(found, refusal=refusal)


def _fitted(project: Project, choice: Choice) -> tuple[Choice, dict[str, Sequence[Option]]]:
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
    fitted = Choice(
        protocol, _held(choice.labels, labels), _held(choice.judge, judges), _held(choice.person, persons)
    )
    return fitted, {"protocol": protocols, "labels": labels, "judge": judges, "person": persons}


def _held(value: str, options: Sequence[Option]) -> str:
    known = [one for _, one in options]
    return value if value in known else next(iter(known), "")


def figures(project: Project, wish: Wish) -> Sequence[Ruled]:
    """The figures of a choice; nothing where they cannot be had any more."""
    try:
        return disagreements.report(project, wish)
    except Refusal:
        return ()


def cases(found: Sequence[Disagreement], protocol: str) -> Cases:
    """The disagreements as the bench shows them."""
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
        Voice(one.judge.name, one.judge.id, one.judge_value),
        Voice(one.alias, one.person_id, one.label_value, PERSON),
    )
    return VerdictCase(one.case, protocol, one.place, voices, one.ruling, one.reason, one.note)
