"""A rater's place under each protocol, remembered and restored."""

from collections.abc import Mapping
from typing import Any

from annotator.gui.pages.labelling.bench import LabellingBench
from annotator.gui.pages.labelling.label_queue import LabelQueue

Place = tuple[str, str]
NOWHERE: Place = ("", "")


class KeptPlaces:
    """Keeps a person's place in every kind of question."""

    def __init__(self, queue: LabelQueue, bench: LabellingBench) -> None:
        self._queue, self._bench = queue, bench
        self._left: dict[str, Place] = {}

    def now(self) -> dict[str, str]:
        """What is at hand, in the words of `wanted`; empty where nothing is."""
        sheet = self._bench.sheet
        if sheet is None:
            return {}
        at = {"protocol": self._bench.protocol, "unit_id": self._bench.unit_id}
        return at | {"response_id": sheet.response_id, "other_id": sheet.other_id}

    def leave(self) -> None:
        self._left[self._bench.protocol] = (self._bench.task_id, self._bench.unit_id)

    def wanted(self, place: Mapping[str, Any]) -> str | None:
        """The line a place on the page speaks of: by its report's id, or the first open one of an item."""
        if place.get("response_id"):
            response_id = str(place["response_id"])
            task = self._queue.about(response_id, str(place.get("other_id", "")))
            return task.id if task else response_id
        tasks = [task for task in self._queue.tasks if task.item_id == place.get("item_id")]
        waiting = [task for task in tasks if task.labelled < task.units]
        chosen = next(iter(waiting or tasks), None)
        return chosen.id if chosen else None

    def first(self) -> str:
        """The line that was open, or was left under this protocol, or the first that waits, or the first of all."""
        for task_id in (self._bench.task_id, self._was[0]):
            if self._queue.task(task_id):
                return task_id
        waiting = self._queue.next_open("")
        return (waiting or self._queue.tasks[0]).id

    def unit_of(self, task_id: str) -> str:
        """The unit at which a line was left, if it was."""
        return self._was[1] if self._was[0] == task_id else ""

    @property
    def _was(self) -> Place:
        return self._left.get(self._bench.protocol, NOWHERE)
