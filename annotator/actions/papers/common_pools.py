"""Key points that people accepted: how many of what a judge drew, and one frozen pool of all for each item."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import select

from annotator.actions.items import extracts, materials
from annotator.actions.items.report_lines import DOES
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.material.extract import Extract, ExtractState
from annotator.domain.material.keypoints import KeyPoint, KeyPoints
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.change import Change
from annotator.domain.texts.counting import counted
from annotator.domain.texts.refusal import Refusal
from annotator.protocols.merging import merged as merged_points
from annotator.storage.tables import EXTRACT, ITEM

KIND = ResponsePart.KEYPOINTS.value


@dataclass(frozen=True, slots=True)
class FrozenPools:
    """What was frozen: items, their points, and the reports of which nobody has accepted a point."""

    items: int
    points: int
    before: int
    without: int
    changes: tuple[Change, ...] = ()

    def words(self) -> str:
        """What was done, in sentences."""
        said = [f"{counted(self.items, 'common pool')} frozen, with {counted(self.points, 'key point')}."]
        said += [f"{counted(self.before, 'item')} had one before; it stays as it is."] * bool(self.before)
        out = "no accepted key point: nothing of theirs is in a pool."
        said += [f"{counted(self.without, 'report')} {'has' if self.without == 1 else 'have'} {out}"] * bool(
            self.without
        )
        return " ".join(said)


def accepted(found: Extract | None) -> tuple[KeyPoint, ...]:
    """The key points of a version that a person accepted: all of one confirmed as it was, else each by itself."""
    if found is None or found.state is not ExtractState.CONFIRMED:
        return ()
    own = found.origin.startswith("person:")
    return tuple(unit for unit in found.document.units if unit.kept and (unit.accepted or not own))


def freeze(project: Project, items: Sequence[str] = ()) -> FrozenPools:
    """Freeze for each item, or those named by key, the key points that people accepted, each once, in one act.

    A pool that is there stays. Refusal where no item has an accepted key point.
    """
    people.refuse_others(project, DOES)
    judge_cases.checked_scope(project, RunRequest("", items=tuple(items)))
    points = before = without = 0
    changes: list[Change] = []
    with project.store.write() as db:
        for item_id in materials.item_ids(project, items):
            drawn = extracts.standing(db, [item_id])
            if ResponsePart.POOL.value in drawn.get((item_id, ""), {}):
                before += 1
                continue
            of = [accepted(of_kind.get(KIND)) for (_, report), of_kind in sorted(drawn.items()) if report]
            without += of.count(())
            if units := merged_points(point for found in of for point in found):
                pool = KeyPoints(units=units)
                changes.append(extracts.write_own(project, (item_id, ""), ResponsePart.POOL, pool))
                points += len(units)
        if not changes and not before:
            raise Refusal(
                "No key point was accepted yet.",
                "Draw key points from the reports and accept them, then freeze.",
            )
    return FrozenPools(len(changes), points, before, without, tuple(changes))


@dataclass(frozen=True, slots=True)
class PointReview:
    """What became of the key points that a judge drew from one report, point by point."""

    judge_id: str
    item_id: str
    accepted: int
    edited: int
    rejected: int
    waiting: int


def reviews(project: Project) -> Iterator[PointReview]:
    """Report by report what people made of a judge's key points; a rejected one is not in their version."""
    with project.store.read() as db:
        used = select(ITEM.c.id).where(ITEM.c.retired.is_(False))
        rows = db.execute(
            select(EXTRACT).where(EXTRACT.c.kind == KIND, EXTRACT.c.item_id.in_(used))
        ).mappings()
        versions: dict[str, list[Extract]] = {}
        for row in sorted(rows, key=extracts.rank):
            versions.setdefault(row["response_id"], []).append(extracts.read(row))
    for of_report in versions.values():
        drawn = next((one for one in of_report if one.origin.startswith("judge:")), None)
        if drawn is not None:
            yield _review(drawn, of_report[0])


def _review(drawn: Extract, stands: Extract) -> PointReview:
    now = {unit.id: unit for unit in _all(stands.document.units)}
    kept = {unit.id for unit in _all(accepted(stands))}
    units = drawn.document.units
    came = [unit for unit in units if unit.id in kept]
    return PointReview(
        judge_id=drawn.origin.partition(":")[2],
        item_id=drawn.item_id,
        accepted=len(came),
        edited=sum(unit.text != now[unit.id].text for unit in came),
        rejected=sum(unit.id not in now for unit in units),
        waiting=sum(unit.id in now and unit.id not in kept for unit in units),
    )


def _all(units: Iterable[KeyPoint]) -> Iterator[KeyPoint]:
    for unit in units:
        yield from unit.parted()
