"""Assigned documents of each item: kinds, due dates, and where to resume."""

from collections.abc import Sequence

from annotator.actions.adjudication import feedback
from annotator.actions.assignments import assignments
from annotator.actions.items import items, roles
from annotator.domain.experts.assignment import Stage, stage_of
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.kinds.documents import WRITTEN
from annotator.domain.material.item import FOLLOWS, ItemRole
from annotator.gui.desk.assigned import AUTHORING, due_of_items
from annotator.gui.desk.desk import Desk
from annotator.gui.pages.authoring.work_status import next_open

Place = tuple[str, Kind]


class AssignedKinds:
    """Read when the page is shown and when assignments change.

    Anyone who has no assignment at all is offered every item and every kind.
    """

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._offered: dict[str, set[Stage]] | None = None
        self._due: dict[str, str] = {}

    def refresh(self) -> None:
        self._offered = self._desk.ask(assignments.offered)
        self._due = due_of_items(self._desk, AUTHORING) if self._offered is not None else {}

    def items(self) -> list[str]:
        return self._desk.ask(items.ids, items.Filter(mine=True, stages=AUTHORING)) or []

    def something_else(self) -> bool:
        """Whether there are items, all of them someone else's to write for."""
        return self._offered is not None and bool(self._desk.ask(items.count))

    def kinds(self, item_id: str) -> frozenset[Kind] | None:
        """The kinds the person is asked to write for an item; None where everything is open to them."""
        if self._offered is None:
            return None
        stages = self._offered.get(item_id, set())
        return frozenset(kind for kind in WRITTEN if stage_of(kind) in stages)

    def of_role(self, item_id: str) -> list[Kind]:
        """The kinds that are written for items of its role."""
        role = self._desk.ask(roles.of, item_id) or ItemRole.QUESTION
        return [kind for kind in WRITTEN if kind in FOLLOWS[role].kinds]

    def fitting(self, item_id: str, kind: Kind) -> Kind | None:
        """A kind where it is written for an item; None where another is to be chosen."""
        return kind if kind in self.of_role(item_id) else None

    def due(self, item_id: str) -> str:
        """By when, in words; empty when there is no date or nothing is left to hand in."""
        return self._due.get(item_id, "")

    def settled(self, item_id: str) -> bool:
        """Whether the person can see what happened to their work on an item."""
        digest = self._desk.ask(feedback.digest, item_id)
        return digest is not None and bool(digest.stages)

    def likely(self, item_id: str, found: Sequence[Artifact], present: Kind) -> Kind:
        """The kind that work on an item resumes: one's own draft, else what is asked for, else what is there."""
        me = self._desk.project.by
        mine = {each.kind: each for each in found if each.author_id == me}
        drafts = [kind for kind, each in mine.items() if each.state is State.DRAFT]
        asked = self.kinds(item_id) or frozenset()
        open_ = [kind for kind in asked if kind not in mine]
        for kinds in (drafts, open_, [*mine, *asked], [each.kind for each in found]):
            if present in kinds:
                return present
            if kinds:
                return min(kinds, key=WRITTEN.index)
        return self.fitting(item_id, present) or self.of_role(item_id)[0]

    def what_waits(self) -> str:
        """What waits for this person where no other document does: as the counts beside the pages say."""
        from annotator.actions.parcels import waiting

        left = self._desk.ask(waiting.counts) or {}
        own, rest = left.pop("Author", 0), [f"{page} {count:,}" for page, count in left.items() if count]
        here = (
            "No other open documents; this one is not submitted yet."
            if own
            else "Everything is submitted here."
        )
        if rest:
            return f"{here} Waiting on other pages: {', '.join(rest)}."
        return here if own else "Nothing else to do: every item is submitted."

    def next(self, item_id: str, kind: Kind) -> Place | None:
        """Where work goes on after a kind of an item; None when nothing else waits."""
        if self._offered is None:
            return self._desk.ask(next_open, item_id, kind)
        waiting = [place for place in self._open() if place != (item_id, kind)]
        here = [place for place in waiting if place[0] == item_id]
        if here:
            return _around(here, WRITTEN.index(kind))
        ids = self.items()
        start = ids.index(item_id) if item_id in ids else -1
        order = [*ids[start + 1 :], *ids[: start + 1]]
        goal = next((each for each in order if any(place[0] == each for place in waiting)), "")
        there = [place for place in waiting if place[0] == goal]
        return next((place for place in there if place[1] is kind), there[0]) if there else None

    def _open(self) -> list[Place]:
        """The pieces that are not handed in, item by item, by kind."""
        found = self._desk.ask(assignments.of_person, self._desk.project.by) or []
        open_ = [one for one in found if one.trial == 1 and one.submitted_at is None]
        places = [
            (one.item_id, kind) for one in open_ if (kind := one.stage.kind) in WRITTEN and kind is not None
        ]
        return sorted(places, key=lambda place: WRITTEN.index(place[1]))


def _around(places: Sequence[Place], after: int) -> Place:
    """The first place whose kind comes after another, or the first of all."""
    return next((place for place in places if WRITTEN.index(place[1]) > after), places[0])
