"""Import of items: those the project already has, and the key of each new one."""

import itertools
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.engine import Connection

from annotator.actions.items.items import ITEM
from annotator.actions.project import hashing
from annotator.actions.project.incoming import ExistingRecords, ImportPlan, Incoming, Row
from annotator.domain.material.item import ItemFields, free_key
from annotator.exchange.formats.layout import FileLayout
from annotator.exchange.release.records import ItemRecord

# Leaves room to count on from there in the whole numbers of any database.
LAST_POSITION = 10**9
# A key is how one project calls an item, so that it may differ from project to project.
COMPARED = tuple(name for name in hashing.ITEM_WORDS if name != "key")
PEER_COMPARED = ("question", "question_type", "subject")


class ItemIntake:
    """The comparison of a bundle's items with the project's.

    `layout`: the items are of a benchmark's own files, which know them by their numbers.
    """

    def __init__(self, db: Connection, incoming: Incoming, layout: FileLayout | None) -> None:
        self.db = db
        self.incoming = incoming
        self.layout, self.peer = layout, layout is not None
        self.rows = db.execute(select(ITEM)).all()
        self.keys = {row.id: row.key for row in self.rows}
        self.taken = set(self.keys.values())
        self.coming = {item.key for item in incoming.bundle.items}

    def items(self) -> ImportPlan:
        """How items are imported: each id once, each key once over all datasets."""
        self._say_other_keys()
        first = int(self.db.execute(select(func.max(ITEM.c.position) + 1)).scalar() or 0)
        following = itertools.count(first)

        def row(record: ItemRecord) -> dict[str, Row]:
            if record.position > LAST_POSITION:
                raise ValueError(f"“position” should be at most {LAST_POSITION}")
            values = record.model_dump(exclude={"id"}) | {"key": self._key(record)}
            fields = ItemFields.model_validate(values).model_dump()
            fields["position"] = next(following) if first else record.position
            return {"item": {"id": record.id, **fields, "sha256": hashing.item_hash(fields)}}

        return ImportPlan("items", self._existing(), _called, self._content, lambda _: (), row, self.peer)

    def _existing(self) -> ExistingRecords:
        prints = {row.id: self._content(row) for row in self.rows}
        return ExistingRecords(prints, self._known_by_key(self.layout) if self.layout else {})

    def _known_by_key(self, layout: FileLayout) -> dict[tuple[str, str], str]:
        known = {_called(row): row.id for row in self.rows if row.dataset != layout.name}
        known |= {(layout.name, str(number)): found for found, number in layout.numbers(self.rows).items()}
        return known | {_called(item): item.id for item in self.incoming.bundle.items if item.id in self.keys}

    def _content(self, of: Any) -> tuple[str, ...]:
        """What is compared; the question as it was first asked, which a settled query does not change."""
        first = {"question": of.working_title or of.question}
        return tuple(
            first.get(name) or getattr(of, name) for name in (PEER_COMPARED if self.peer else COMPARED)
        )

    def _key(self, record: ItemRecord) -> str:
        """The record's own key, unless another item has it: then the next one that nobody has or brings."""
        key = record.key
        if key in self.taken:
            key = free_key(key, self.taken | self.coming)
            self.incoming.note("items", record.id, f"the key {record.key} is taken; it becomes {key}")
        self.taken.add(key)
        return key

    def _say_other_keys(self) -> None:
        for item in self.incoming.bundle.items:
            here = self.keys.get(item.id, item.key)
            if here != item.key:
                self.incoming.note("items", item.id, f"item {item.key} of the files is item {here} here")


def _called(of: Any) -> tuple[str, str]:
    return of.dataset, of.key
