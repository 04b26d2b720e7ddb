"""Judges made from others: asked several units together, or what most of several judges or trials of one say."""

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import insert, select

from annotator.actions.judges import judges
from annotator.actions.labelling import wordings
from annotator.actions.labelling.label_rows import come_to
from annotator.actions.project.file import Project, record
from annotator.actions.runs.judge_cases import RunRequest, units_a_call
from annotator.domain.judges.judge import Asking, Judge, JudgeFields, JudgeKind
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Case, Verdicts
from annotator.domain.judges.scale import Level, Scale
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.change import Change, derived_id, new_id
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from annotator.storage.tables import JUDGE, JUDGEMENT

_ROOM_FOR_A_NAME = 100


def asked(project: Project, order: RunRequest) -> Judge:
    """The judge of an order; Refusal where it cannot be asked that way. It need not be in the file yet."""
    judge = judges.named(project, order.judge)
    if judge.kind != JudgeKind.ENDPOINT and (order.together > 1 or order.trials > 1):
        raise Refusal(
            f"“{judge.name}” calls no model: it always gives the same verdict, unit by unit.",
            "Choose a judge with an endpoint.",
        )
    units = units_a_call(judge, order.protocol)
    # What was stored before a judge could be asked as usual has 1 for “as the judge is set”.
    if order.together in (0, units) or (order.together == 1 and judge.asked.together):
        return judge
    if judge.asked.of:
        raise Refusal(
            f"“{judge.name}” is asked {units} together.",
            "Use the judge that it derives from.",
        )
    return together(judge, order.together)


def together(judge: Judge, units: int) -> Judge:
    """The same model asked so many units in one call: a judge of its own, so that the two can be compared."""
    asking = judge.asked.model_copy(update={"together": units, "of": judge.id})
    return Judge(
        **judge.model_dump(exclude={"id", "name", "asking"}),
        id=derived_id("judge", judge.id, "together", units),
        name=f"{judge.name[:_ROOM_FOR_A_NAME]}, {units} together",
        asking=Asking.model_dump_json(asking, exclude_defaults=True),
    )


JUDGES, TRIALS = "judges", "trials"
# As long as any judge's name may be.
LONGEST_NAME = 120


@dataclass(frozen=True, slots=True)
class MemberVote:
    """One member's, or one trial's, value on a unit; without a value it abstained."""

    who: str
    value: str | None
    quote: str = ""
    quote_start: int | None = None
    quote_end: int | None = None

    def words(self) -> str:
        return f"{self.who} {self.value or 'nothing'}"


def add(project: Project, name: str, members: Sequence[str]) -> Change:
    """A judge that is the majority of several (by name), or of the trials of one; of ordered values their median."""
    known = [judges.named(project, member) for member in dict.fromkeys(members)]
    if not known:
        raise Refusal("A vote needs members.", "Name one judge for its trials, or several for a panel.")
    if any(judge.kind == JudgeKind.DERIVED for judge in known):
        raise Refusal("A vote counts judges, not other votes.", "Name the judges themselves.")
    if not 0 < len(name.strip()) <= LONGEST_NAME:
        raise Refusal("A vote needs a name of one line at most.", "Give it another; nothing was added.")
    judges.refuse_taken(project, name)
    over = JUDGES if len(known) > 1 else TRIALS
    tree = {"members": [judge.id for judge in known], "over": over}
    parameters = canonical_json(tree).decode()
    fields = JudgeFields.model_validate({"name": name, "kind": JudgeKind.DERIVED, "parameters": parameters})
    judge = Judge(id=new_id(), **fields.model_dump())
    with project.store.write() as db:
        for member in known:
            judges.kept(project, member)
        db.execute(insert(JUDGE).values(**judge.model_dump()))
        after = judge.model_dump(mode="json")
        return record(project, db, Change("judge", judge.id, "add judge", None, after))


def members(project: Project, judge: Judge) -> list[str]:
    """The names of those whose verdicts a vote counts; a single one is counted over its trials."""
    ids: list[str] = json.loads(judge.parameters)["members"]
    with project.store.read() as db:
        names = {
            row.id: row.name
            for row in db.execute(select(JUDGE.c.id, JUDGE.c.name).where(JUDGE.c.id.in_(ids)))
        }
    return [names.get(member, "a judge that is not here") for member in ids]


def counting(project: Project, judge: Judge, protocol: str) -> Callable[[Case], Verdicts]:
    """What gives each unit of a case the verdict of the majority, from the votes as they stand now.

    Where values are ordered, it is their median.
    """
    scale = PROTOCOLS[protocol].scale
    votes = _votes(project, judge, protocol)
    panel = json.loads(judge.parameters)
    size = len(panel["members"]) if panel["over"] == JUDGES else 0

    def count(case: Case) -> Verdicts:
        cast = {unit.id: votes.get((case.response.id, unit.id), ()) for unit in case.units}
        return {unit_id: _counted(found, max(size, len(found)), scale) for unit_id, found in cast.items()}

    return count


def _counted(votes: Sequence[MemberVote], members: int, scale: Scale) -> Verdict:
    return majority(votes, members) if scale.level is Level.NOMINAL else middle(votes, members, scale)


def middle(votes: Sequence[MemberVote], members: int, scale: Scale) -> Verdict:
    """The median of the votes, given that more than half of the members voted; otherwise unclear.

    Of an even number whose middle two differ it is their mean where values are numbers and it is one of them;
    otherwise unclear.
    """
    given = [vote for vote in votes if vote.value in scale.names]
    if lack := _lack(votes, given, members):
        return lack
    words = ", ".join(vote.words() for vote in votes)
    value = scale.agreed([str(vote.value) for vote in given])
    if value is None:
        names = sorted((str(vote.value) for vote in given), key=scale.number)
        low, high = names[(len(names) - 1) // 2], names[len(names) // 2]
        return Verdict(status=Status.UNCLEAR, cause=f"The middle lies between {low} and {high}: {words}.")
    return _by_votes(value, given, f"median of {len(given):,}: {words}")


def majority(votes: Sequence[MemberVote], members: int) -> Verdict:
    """The value of more than half of the votes, given that more than half of the members voted; otherwise unclear."""
    given = [vote for vote in votes if vote.value is not None]
    if lack := _lack(votes, given, members):
        return lack
    words = ", ".join(vote.words() for vote in votes)
    (value, most), *others = Counter(vote.value for vote in given).most_common()
    if 2 * most <= len(given):
        tied = bool(others) and others[0][1] == most
        return Verdict(status=Status.UNCLEAR, cause=f"{'A tie' if tied else 'No majority'}: {words}.")
    return _by_votes(str(value), given, f"{most:,} of {len(given):,}: {words}")


def _lack(votes: Sequence[MemberVote], given: Sequence[MemberVote], members: int) -> Verdict | None:
    """Why too few have voted for a verdict; None where enough have."""
    if not given:
        return Verdict(status=Status.SKIPPED, cause="No member has given a verdict.")
    if 2 * len(given) > members:
        return None
    words = ", ".join(vote.words() for vote in votes)
    return Verdict(
        status=Status.UNCLEAR, cause=f"Only {len(given):,} of {members:,} members gave a verdict: {words}."
    )


def _by_votes(value: str, given: Sequence[MemberVote], rationale: str) -> Verdict:
    """The verdict with the passage of the first who voted so, if any did."""
    first = next((vote for vote in given if vote.value == value), MemberVote("", value))
    return Verdict(
        value=value,
        rationale=rationale,
        quote=first.quote,
        quote_start=first.quote_start,
        quote_end=first.quote_end,
    )


def _votes(project: Project, judge: Judge, protocol: str) -> Mapping[tuple[str, str], list[MemberVote]]:
    """(response, unit) → the votes, in the order of the members or of the trials."""
    panel = json.loads(judge.parameters)
    members: list[str] = panel["members"]
    over_trials = panel["over"] == TRIALS
    question = select(JUDGEMENT).where(JUDGEMENT.c.rater_id.in_(members), JUDGEMENT.c.protocol == protocol)
    cast: dict[tuple[str, str, int], list[Any]] = defaultdict(list)
    found: dict[tuple[str, str], list[MemberVote]] = defaultdict(list)
    with project.store.read() as db:
        names: dict[str, str] = dict(
            db.execute(select(JUDGE.c.id, JUDGE.c.name).where(JUDGE.c.id.in_(members))).all()
        )
        of_members = (JUDGEMENT.c.rater_id.in_(members), JUDGEMENT.c.protocol == protocol)
        gone = wordings.outdated(db, *of_members)
        for row in (row for row in db.execute(question.order_by(JUDGEMENT.c.trial)) if row.id not in gone):
            place = row.trial if over_trials else members.index(row.rater_id)
            cast[row.response_id, row.unit_id, place].append(row)
    for (response_id, unit_id, place), rows in sorted(cast.items()):
        who = f"trial {place}" if over_trials else names[rows[0].rater_id]
        value, row = come_to(PROTOCOLS[protocol].scale, rows)
        vote = MemberVote(who, value, row.quote, row.quote_start, row.quote_end)
        found[response_id, unit_id].append(vote)
    return found
