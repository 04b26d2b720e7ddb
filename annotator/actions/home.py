"""Home: a benchmark's steps as counts, at most five sentences on what comes next, and what happened lately."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sized
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

from sqlalchemy import Connection, Select, and_, exists, func, or_, select

from annotator.actions.adjudication import adjudicating
from annotator.actions.items import items
from annotator.actions.parcels import waiting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.profile import profile
from annotator.actions.releases import releases
from annotator.domain.common import counted, grouped, local, natural, now
from annotator.domain.experts.adjudication import AdjudicationState
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.kinds.documents import KINDS
from annotator.domain.kinds.kind import FOLLOWS, ItemRole, Kind, State
from annotator.protocols import PROTOCOLS, profiles
from annotator.storage.tables import (
    ADJUDICATION,
    AGREEMENT,
    ARTIFACT,
    ASSIGNMENT,
    ITEM,
    JUDGE,
    JUDGEMENT,
    PARCEL,
    PERSON,
    RELEASE,
    RESPONSE,
    RUN,
    TIME,
)

MOST = 5
LATELY = 3
# What awaits a person on a page, in the singular and plural.
WAITING = {
    "Author": ("item for you to write", "items for you to write"),
    "Label": ("report for you to label", "reports for you to label"),
    "Adjudicate": ("conflict for you to adjudicate", "conflicts for you to adjudicate"),
}
# Of more people only the number is shown.
NAMED = 3
Place = dict[str, str]


@dataclass(frozen=True, slots=True)
class HomeStep:
    """A step of the benchmark: how much is done, of how much if known, and where."""

    title: str
    done: int | None
    page: str
    total: int | None = None
    note: str = ""
    place: Place = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class NextStep:
    """What is to be done next, the text of its button, and where; or a text to copy."""

    words: str
    button: str
    page: str = ""
    place: Place = field(default_factory=dict)
    copied: str = ""


@dataclass(frozen=True, slots=True)
class HomeReport:
    title: str
    about: str
    steps: tuple[HomeStep, ...]
    next: tuple[NextStep, ...]
    lately: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class _Counts:
    """The counts for the steps of a whole benchmark."""

    roles: Mapping[str, int]
    reports: int
    systems: int
    written: int
    begun: Counter[Kind]
    provided: Mapping[str, int]
    frozen: int
    adjudicated: int
    conflicts: Counter[str]
    labelled: int
    to_label: int
    judged: tuple[int, int]
    releases: int

    @property
    def items(self) -> int:
        return sum(self.roles.values())

    @property
    def answered(self) -> int:
        return sum(many for role, many in self.roles.items() if FOLLOWS[ItemRole(role)].answered)

    def takes(self, kind: Kind) -> dict[str, int]:
        """The number of items by role for which a kind of document is written."""
        return {role: many for role, many in self.roles.items() if kind in FOLLOWS[ItemRole(role)].kinds}


def report(project: Project) -> HomeReport:
    me = people.someone(project)
    everybody = {person.id: person for person in people.people(project)}
    # Queried before a transaction begins, so that the cached answers are used.
    own, used = waiting.counts(project), profile(project)
    conflicts = adjudicating.conflicts(project) if me.has(Role.COORDINATOR) else Counter[str]()
    with project.store.read() as db:
        if project.from_task or not me.has(Role.COORDINATOR):
            steps = tuple(_own_steps(db, me))
            following = _own_next(db, me, own)
            about = "Your part of the work"
            lately: tuple[str, ...] = ()
        else:
            counts = _counted(db, used, conflicts)
            steps = tuple(_steps(counts, used, me.id))
            following = _next(project, db, counts, used, everybody, own)
            about = _about(counts, used, everybody)
            lately = tuple(_lately(db))
        # Lazily: what is not shown is not counted.
        return HomeReport(project.title, about, steps, tuple(islice(following, MOST)), lately)


def _counted(db: Connection, used: profiles.Profile, conflicts: Counter[str]) -> _Counts:
    def one(question: Any) -> int:
        return int(db.execute(question).scalar_one() or 0)

    a = ARTIFACT.c
    gone, sealed = select(ITEM.c.id).where(ITEM.c.retired), a.state == State.SEALED.value
    of_kinds = select(a.item_id).where(sealed, a.kind.in_(kind.value for kind in used.kinds))
    by_two = (
        of_kinds.group_by(a.item_id, a.kind).having(func.min(a.author_id) < func.max(a.author_id)).subquery()
    )
    begun = db.execute(select(a.kind, func.count(a.item_id.distinct())).group_by(a.kind)).all()
    # A stage has the name of the kind of document that it makes.
    asked = select(ASSIGNMENT.c.stage, ASSIGNMENT.c.item_id).where(ASSIGNMENT.c.item_id.not_in(gone))
    either = select(a.kind, a.item_id).where(a.item_id.not_in(gone)).union(asked).subquery()
    provided = db.execute(select(either.c.kind, func.count()).group_by(either.c.kind)).all()
    labelled = select(func.count(a.item_id.distinct())).where(
        a.kind == Kind.LABELS.value, sealed, a.item_id.not_in(gone)
    )
    assigned = select(func.count(ASSIGNMENT.c.item_id.distinct())).where(
        ASSIGNMENT.c.stage == Stage.LABELLING.value
    )
    newest = select(RUN.c.protocol, RUN.c.done, RUN.c.total).order_by(RUN.c.started_at)
    judged = {name: (done, total) for name, done, total in db.execute(newest) if used.judges(name)}
    closed = ADJUDICATION.c.state == AdjudicationState.CLOSED.value
    # Item roles are slow to query, and matter only if tasks are made of seminars.
    roles = {ItemRole.QUESTION.value: one(select(func.count()).where(ITEM.c.retired.is_(False)))}
    if Kind.INSPIRATIONS in used.kinds:
        roles = items.counts(db)
    return _Counts(
        roles=roles,
        reports=one(select(func.count(RESPONSE.c.id))),
        systems=one(select(func.count(RESPONSE.c.system_id.distinct()))),
        written=one(select(func.count()).where(by_two.c.item_id.not_in(gone))),
        begun=Counter({Kind(kind): count for kind, count in begun}),
        provided=dict(provided),
        frozen=one(select(func.count(AGREEMENT.c.id))),
        adjudicated=one(select(func.count(ADJUDICATION.c.id)).where(closed)),
        conflicts=conflicts,
        labelled=one(labelled),
        to_label=one(assigned),
        judged=(sum(done for done, _ in judged.values()), sum(total for _, total in judged.values())),
        releases=one(select(func.max(RELEASE.c.number))),
    )


def _about(counts: _Counts, used: profiles.Profile, everybody: dict[str, Person]) -> str:
    choice = next((choice.title for choice in profiles.CHOICES if choice.name == used.text), "")
    active = [person for person in everybody.values() if person.active]
    annotators = sum(person.has(Role.ANNOTATOR) for person in active)
    adjudicators = sum(person.has(Role.ADJUDICATOR) for person in active)
    people_ = [counted(annotators, "annotator"), counted(adjudicators, "adjudicator")]
    what = [
        counted(many, "item" if role == ItemRole.QUESTION else role) for role, many in counts.roles.items()
    ]
    parts = [choice, ", ".join(what), counted(counts.systems, "system"), ", ".join(people_)]
    return " · ".join(part for part in parts if part)


def _steps(counts: _Counts, used: profiles.Profile, me: str) -> Iterator[HomeStep]:
    assign, in_reports = {"part": "Hand out"}, {"part": "Reports"}
    seminars = Kind.INSPIRATIONS in used.kinds
    tasks = counts.roles.get(ItemRole.TASK, 0)
    if seminars:
        yield HomeStep("Seminars", counts.items - tasks, "Items")
        yield HomeStep("Tasks kept", tasks, "Contest", place={"part": "Keep"})
    else:
        of_papers = used.kinds <= {Kind.EVIDENCE, Kind.NUGGETS} and Kind.NUGGETS in used.kinds
        yield HomeStep("Papers" if of_papers else "Questions", counts.items, "Items")
    if Kind.NUGGETS in used.kinds:
        papers = sum(counts.takes(Kind.NUGGETS).values())
        yield HomeStep("Nuggets", counts.begun[Kind.NUGGETS], "Author", papers)
    if seminars:
        yield HomeStep("Checklists", counts.begun[Kind.CHECKLIST], "Author", tasks)
    due = sum(many for kind in used.kinds for many in counts.takes(kind).values())
    yield HomeStep("Written by two", counts.written, "People", due, place=assign)
    yield HomeStep("Agreement", counts.frozen, "Agreement", max(counts.frozen, counts.written))
    own, waits = counts.conflicts[me], counts.conflicts.total()
    note = f"{own:,} for you" if own else f"{waits:,} wait" if waits else ""
    yield HomeStep("Adjudicated", counts.adjudicated, "Adjudicate", counts.frozen, note)
    cells = counts.answered * counts.systems
    yield HomeStep("Reports", counts.reports, "Material", max(cells, counts.reports), place=in_reports)
    yield HomeStep("Labelled", counts.labelled, "Label", max(counts.to_label, counts.labelled))
    done, total = counts.judged
    yield HomeStep("Judged", done, "Judges", total, "" if total else "no run yet", {"part": "Runs"})
    yield HomeStep("Release", counts.releases or None, "Release")


def _next(
    project: Project, db: Connection, counts: _Counts, used: profiles.Profile, everybody: dict[str, Person],
    own: Mapping[str, int],
) -> Iterator[NextStep]:  # fmt: skip
    if not counts.items:
        things = next(_steps(counts, used, people.someone(project).id)).title.lower()
        yield NextStep(f"This project has no {things} yet", "Import…", "Import")
        yield NextStep("Or write the first one yourself", "Add an item", "Items", {"new": "item"})
        return
    if tray := own["People"]:
        words = f"{counted(tray, 'returned piece')} of work {'needs' if tray == 1 else 'need'} attention"
        yield NextStep(words, "Look", "Exchange", {"part": "Tray"})
    yield from _conflicts(counts.conflicts, everybody, people.someone(project).id)
    yield from _late(project, db, everybody)
    unfinished = (
        select(JUDGE.c.name, RUN.c.protocol, RUN.c.total - RUN.c.done)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
        .where(RUN.c.done < RUN.c.total)
        .order_by(RUN.c.started_at.desc())
        .limit(1)
    )
    for judge, _, left in db.execute(unfinished):
        yield NextStep(
            f"The run of {judge} left {left:,} unanswered", "Ask again", "Judges", {"part": "Runs"}
        )
    yield from _waiting(own, ("Author", "Label"))
    yield from _awaited(db, everybody, people.someone(project).id)
    for kind, spec in KINDS.items():
        takes = counts.takes(kind) if kind in used.kinds else {}
        lacks = sum(takes.values()) - counts.provided.get(kind, 0)
        if lacks > 0:
            named = takes.keys() - {ItemRole.QUESTION.value}
            things = f"{next(iter(named))}s" if len(takes) == len(named) == 1 else "items"
            words = f"{lacks:,} of {sum(takes.values()):,} {things} have no {spec.title.lower()}"
            yield NextStep(words, "Assign", "People", {"part": "Hand out"})
    if counts.begun[Kind.TASKS] and not counts.roles.get(ItemRole.TASK):
        yield NextStep("No task is kept yet", "Keep tasks", "Contest", {"part": "Keep"})
    if not counts.reports:
        yield NextStep("There are no reports yet", "Import…", "Import")
    elif not counts.judged[1]:
        yield NextStep("No judge has judged the reports yet", "Judge", "Judges", {"part": "Runs"})
    yield from _lacking(project, used)


def readiness(project: Project) -> tuple[NextStep, ...]:
    """What a reader of a release would miss, each with the place to fix it."""
    return tuple(_lacking(project, profile(project)))


def _lacking(project: Project, used: profiles.Profile) -> Iterator[NextStep]:
    unsigned, without = releases.open_items(project)
    if without:
        words = f"{_items(without)} no settled gold"
        yield NextStep(words, "Write", "Author", {"item_id": next(iter(without))})
    if many := adjudicating.unsettled(project):
        words = (
            f"{counted(many, 'document')} that several wrote {'is' if many == 1 else 'are'} not adjudicated"
        )
        yield NextStep(words, "Adjudicate", "Adjudicate")
    if unsigned:
        words = f"{_items(unsigned)} no signed final pass"
        yield NextStep(words, "Sign", "Final pass")
    known = [row for row in project.query(_UNCHECKED) if row[1] in PROTOCOLS and used.judges(row[1])]
    unchecked = ((judge, PROTOCOLS[name].title) for judge, name in known if PROTOCOLS[name].values)
    for judge, titles in grouped(unchecked).items():
        words = f"Nobody has labelled what {judge} judged, so it is not validated: {', '.join(titles)}"
        yield NextStep(words, "Draw a sample", "Validate", {"part": "Sets"})
    if unanswered := releases.unanswered(project):
        yield NextStep(
            f"Readers of a release will ask {unanswered}", "Answer", "Project", {"part": "questions"}
        )


def _items(of: Sized) -> str:
    return f"{counted(len(of), 'item')} {'has' if len(of) == 1 else 'have'}"


def _unchecked() -> Select[str, str]:
    """Judges with a protocol by which they judged something of which nobody labelled anything."""
    judged, labelled = JUDGEMENT.alias(), JUDGEMENT.alias()
    same = (labelled.c[name] == judged.c[name] for name in ("protocol", "response_id", "unit_id"))
    both = labelled.join(judged, and_(*same, judged.c.rater_id == RUN.c.judge_id))
    people_ = labelled.c.protocol == RUN.c.protocol, labelled.c.rater_id.in_(select(PERSON.c.id))
    shared = exists(select(labelled.c.id).select_from(both).where(*people_).correlate(RUN))
    question = select(JUDGE.c.name, RUN.c.protocol).join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
    return question.where(RUN.c.done > 0, ~shared).distinct().order_by(JUDGE.c.name, RUN.c.protocol)


_UNCHECKED = _unchecked()


def _conflicts(conflicts: Counter[str], everybody: dict[str, Person], me: str) -> Iterator[NextStep]:
    """Conflicts by the person who is to settle them, this person's own first."""
    for person_id, many in sorted(conflicts.items(), key=lambda one: (one[0] != me, -one[1])):
        words = f"{counted(many, 'conflict')} {'waits' if many == 1 else 'wait'} for"
        if person_id == me:
            yield NextStep(f"{words} you to adjudicate", "Adjudicate", "Adjudicate")
        elif person := everybody.get(person_id):
            yield NextStep(
                f"{words} {person.alias} to adjudicate",
                "Send the task",
                "Exchange",
                {"part": "Hand out", "person": person_id},
            )
        else:
            yield NextStep(f"{words} an adjudicator", "Assign", "People", {"part": "Hand out"})


def _late(project: Project, db: Connection, everybody: dict[str, Person]) -> Iterator[NextStep]:
    """The people who are late, longest first, with a reminder to copy into a mail."""
    moment = now()
    rows = db.execute(
        select(ASSIGNMENT.c.person_id, func.count(), func.min(ASSIGNMENT.c.due))
        .join(ITEM, ITEM.c.id == ASSIGNMENT.c.item_id)
        .where(ASSIGNMENT.c.submitted_at.is_(None), ASSIGNMENT.c.due < moment, ITEM.c.retired.is_(False))
        .group_by(ASSIGNMENT.c.person_id)
        .order_by(func.min(ASSIGNMENT.c.due))
    )
    for person_id, many, due in rows:
        person = everybody[person_id]
        late = f"{counted(max(1, (local(moment).date() - local(due).date()).days), 'day')} late"
        pieces = counted(many, "piece")
        copied = (
            f"Dear {person.name},\n\n{pieces} of your work for “{project.title}” "
            f"{'was' if many == 1 else 'were'} due on {local(due):%d %B %Y}. "
            "When will it be ready? If something is in your way, tell me."
        )
        yield NextStep(
            f"{person.alias} is {late} with {pieces} of work", "Copy a reminder", "People", {}, copied
        )


def _awaited(db: Connection, everybody: dict[str, Person], me: str) -> Iterator[NextStep]:
    """What others have not handed in yet, without what is late and without conflicts, which are named elsewhere."""
    a = ASSIGNMENT.c
    rows = db.execute(
        select(a.person_id, func.count())
        .join(ITEM, ITEM.c.id == a.item_id)
        .where(a.submitted_at.is_(None), a.stage != Stage.ADJUDICATION.value, a.person_id != me)
        .where(or_(a.due.is_(None), a.due >= now()), ITEM.c.retired.is_(False))
        .group_by(a.person_id)
    ).all()
    if rows:
        many = sum(count for _, count in rows)
        names = sorted((everybody[person_id].alias for person_id, _ in rows), key=natural)
        whom = ", ".join(names) if len(names) <= NAMED else counted(len(names), "person", "people")
        words = f"{counted(many, 'piece')} of work {'is' if many == 1 else 'are'} with {whom}"
        yield NextStep(words, "See progress", "People", {"part": "Progress"})


def _lately(db: Connection) -> list[str]:
    came = (
        select(PARCEL.c.at, func.coalesce(PERSON.c.alias, "Somebody"))
        .outerjoin(PERSON, PERSON.c.id == PARCEL.c.person_id)
        .where(PARCEL.c.direction == "in")
    )
    frozen = select(AGREEMENT.c.frozen_at, ITEM.c.key).join(ITEM, ITEM.c.id == AGREEMENT.c.item_id)
    ended = (
        select(RUN.c.ended_at, JUDGE.c.name)
        .join(JUDGE, JUDGE.c.id == RUN.c.judge_id)
        .where(RUN.c.ended_at.is_not(None))
    )
    events = [
        (at, words.format(name))
        for question, moment, words in (
            (came, PARCEL.c.at, "{} returned work"),
            (frozen, AGREEMENT.c.frozen_at, "Agreement on {} is frozen"),
            (ended, RUN.c.ended_at, "{} finished a run"),
        )
        for at, name in db.execute(question.order_by(moment.desc()).limit(LATELY))
    ]
    events.sort(key=lambda event: event[0], reverse=True)
    return [f"{words} · {local(at):%d %b, %H:%M}" for at, words in events[:LATELY]]


def _own_steps(db: Connection, me: Person) -> Iterator[HomeStep]:
    """A person's own work: what is submitted of what was assigned."""
    pages = {Stage.LABELLING: "Label", Stage.ADJUDICATION: "Adjudicate"}
    work = grouped(
        (pages.get(Stage(stage), "Author"), submitted is not None) for stage, submitted in _own(db, me)
    )
    for page, title in (("Author", "Written"), ("Label", "Labelled"), ("Adjudicate", "Adjudicated")):
        if page in work:
            yield HomeStep(title, sum(work[page]), page, len(work[page]))


def _waiting(own: Mapping[str, int], pages: Iterable[str]) -> list[NextStep]:
    return [NextStep(counted(own[page], *WAITING[page]), "Open", page) for page in pages if own.get(page)]


def _own_next(db: Connection, me: Person, own: Mapping[str, int]) -> Iterator[NextStep]:
    yield from _waiting(own, WAITING)
    rows = _own(db, me)
    seconds = db.execute(select(func.sum(TIME.c.seconds)).where(TIME.c.person_id == me.id)).scalar() or 0
    done = sum(submitted is not None for _, submitted in rows)
    if done and seconds and (left := len(rows) - done):
        minutes = max(1, round(seconds / done * left / 60))
        words = f"{minutes:,} min" if minutes < 100 else f"{round(minutes / 60):,} h"
        yield NextStep(f"About {words} of work left at your own pace", "See progress", "People")
    if own.get("Send"):
        yield NextStep(f"{counted(own['Send'], 'piece')} of work to send", "Send", "Send")


def _own(db: Connection, me: Person) -> list[Any]:
    question = (
        select(ASSIGNMENT.c.stage, ASSIGNMENT.c.submitted_at)
        .join(ITEM, ITEM.c.id == ASSIGNMENT.c.item_id)
        .where(ASSIGNMENT.c.person_id == me.id, ITEM.c.retired.is_(False))
    )
    return list(db.execute(question).all())
