"""First votes: what a senior thinks before seeing A and B, and how far it agrees with the raters."""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, replace

from annotator.actions.adjudication import adjudication_sheets
from annotator.actions.assignments import adjudicators
from annotator.actions.authoring import criterion_weights
from annotator.actions.authoring.comparing import by_scale, field_named, measured
from annotator.actions.authoring.value_figures import of_pairs
from annotator.actions.consensus import consensus, letters, ruling_rows
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.domain.experts.adjudication import Adjudication, AdjudicationState, Ruling
from annotator.domain.experts.agreement import Figure, figure
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.labels import Label
from annotator.domain.kinds.weights import Weights
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal, RoleNeeded

# Protocol, vote, a rater's value, item.
Said = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Ballot:
    """A contested row for a first vote: its subject and the possible values, without anyone's answer.

    `words` are the dimension, the words a report is judged by, or one letter's wording of the unit.
    """

    ruling_id: str
    number: int
    words: str
    values: tuple[str, ...]
    vote: str = ""
    protocol: str = ""
    report: str = ""
    response_id: str = ""


@dataclass(frozen=True, slots=True)
class Votes:
    """Agreement of seniors' first votes on a stage with the raters' values."""

    stage: Stage
    field: str
    votes: int
    items: tuple[str, ...]
    figures: tuple[Figure, ...]


def ballots(project: Project, adjudication_id: str) -> list[Ballot]:
    """The contested rows that can still be voted on blindly; none of kinds that hold no value to vote on."""
    with project.store.read() as db:
        found = ruling_rows.adjudication(db, adjudication_id)
        adjudicators.refuse_others(project, db, found)
        kind, documents = letters.kind_of(found), letters.documents(db, found)
        headings, reports = (
            adjudication_sheets.about(project, db, found.item_id) if kind is Kind.LABELS else ({}, {})
        )
        rows = ruling_rows.rulings(db, found.id)
    made = []
    for number, row in enumerate(rows, start=1):
        unit = next(iter(consensus.members(row, documents).values()), None)
        values = letters.values(kind, unit, criterion_weights.allowed(project))
        if unit is None or not values or not _votable(found, row):
            continue
        ballot = Ballot(row.id, number, unit.text, values, row.first_vote)
        if isinstance(unit, Label):
            ballot = replace(
                ballot,
                words=headings.get(unit.unit_id, ""),
                report=reports.get(unit.response_id, ""),
                response_id=unit.response_id,
                protocol=unit.protocol,
            )
        made.append(ballot)
    return made


def _votable(found: Adjudication, row: Ruling) -> bool:
    # Anyone who reopens has seen both.
    return row.open and not row.unanimous and found.state is AdjudicationState.OPEN


def vote(project: Project, ruling_id: str, value: str) -> Change:
    """Say a value before seeing A and B; an empty one takes the vote back.

    Refusal once the row is ruled on or its adjudication was closed before: the person who decided has seen both.
    """
    with project.store.write() as db:
        row = ruling_rows.ruling(db, ruling_id)
        found = ruling_rows.working(project, db, row.adjudication_id)
        if not _votable(found, row):
            raise Refusal("It is too late for a first vote on this row.", "Vote before you rule.")
        unit = next(iter(consensus.members(row, letters.documents(db, found)).values()), None)
        known = letters.values(letters.kind_of(found), unit, criterion_weights.allowed(project))
        if not known:
            raise Refusal("There is no value to vote on here.", "Rule on the row instead.")
        if value and value not in known:
            raise Refusal(f"“{value}” is not a valid value here.", f"Use one of {', '.join(known)}.")
        voted = row.model_copy(update={"first_vote": value})
        return ruling_rows.replace(project, db, row.id, "vote", [row], [voted])


def votes(project: Project) -> list[Votes]:
    """How far first votes agree with the raters, stage by stage, over adjudications that have been closed.

    Percent agreement, κ and what else the stage's values have; intervals are over items. Refusal for anyone who
    neither coordinates nor adjudicates.
    """
    person = people.someone(project)
    if not (person.has(Role.COORDINATOR) or person.has(Role.ADJUDICATOR)):
        happened = "First votes are shown to coordinators and adjudicators."
        raise RoleNeeded(happened, "Ask one of them.", Role.COORDINATOR, Role.ADJUDICATOR)
    by_stage: defaultdict[Stage, list[tuple[str, list[Said]]]] = defaultdict(list)
    with project.store.read() as db:
        rulings = ruling_rows.all_rulings(db)
        for found in ruling_rows.adjudications(db):
            voted = [row for row in rulings.get(found.id, ()) if row.first_vote]
            if not found.version or not voted:
                continue
            documents = letters.documents(db, found)
            for row in voted:
                units = consensus.members(row, documents).values()
                by_stage[found.stage].append((found.item_id, [_said(found, row, unit) for unit in units]))
    weights = criterion_weights.allowed(project)
    return [each for stage in Stage if stage in by_stage for each in _pooled(stage, by_stage[stage], weights)]


def _said(found: Adjudication, row: Ruling, unit: Unit) -> Said:
    protocol = unit.protocol if isinstance(unit, Label) else ""
    return protocol, row.first_vote, letters.said(letters.kind_of(found), unit), found.item_id


def _pooled(stage: Stage, voted: list[tuple[str, list[Said]]], weights: Weights) -> Iterator[Votes]:
    """The figures of what was voted on, and of each protocol whose values are ordered."""
    kind = letters.kind_of_stage(stage)
    asked = KINDS[kind].voted
    name = asked.name if asked else ""
    field = next(each for each in measured(kind) if each.name == name)
    field = replace(field, categories=letters.values(kind, None, weights) or None)
    for each in by_scale(field, [_values(name, voted)]):
        rows = [row for row in voted if any(field_named(name, one[0]) == each.name for one in row[1])]
        said = [one for _, of_row in rows for one in of_row]
        pairs = _values(name, rows)[name]
        figures = tuple(
            figure(*one) for one in of_pairs(each, pairs, [one[-1] for one in said], several=True)
        )
        yield Votes(stage, each.name, len(rows), tuple(sorted({item_id for item_id, _ in rows})), figures)


def _values(name: str, voted: list[tuple[str, list[Said]]]) -> dict[str, tuple[tuple[str, str | None], ...]]:
    """Votes beside what each rater said, as values of a field."""
    said = [one for _, of_row in voted for one in of_row]
    pairs = tuple((mine, theirs or None) for _, mine, theirs, _ in said)
    return {"protocol": tuple((one[0], one[0]) for one in said), name: pairs}
