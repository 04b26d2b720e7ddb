"""How fast a bulk import writes: its insert path beside `session.add_all` of the same rows, timed in one run.

    python -m tests.benchmarks.bulk_import [--quick]

Goal 8: at least 8 times as fast. Timed up to the commit, which is the same for both.
"""

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from sqlalchemy.engine import Connection
from sqlalchemy.orm import Session, registry

from annotator.actions.hashing import item_hash, judgement_hash, response_hash
from annotator.actions.imports import write_rows
from annotator.actions.project import Project
from annotator.domain.identity import derived_id
from annotator.domain.item import ItemFields
from annotator.domain.judgement import JudgementFields, RaterKind
from annotator.domain.response import ResponseFields
from annotator.storage.tables import ItemRow, JudgementRow, ResponseRow, SystemRow, table

GOAL = 8.0
ROWS = {"item": ItemRow, "system": SystemRow, "response": ResponseRow, "judgement": JudgementRow}


def entities() -> dict[str, Callable[..., object]]:
    """A mapped class for each table: the program itself maps none."""
    mapper, found = registry(), {}
    for name, row in ROWS.items():
        found[name] = type(name, (), {"__init__": mapper.constructor})
        mapper.map_imperatively(found[name], table(row))
    return found


def made_rows(items: int, criteria: int) -> dict[str, list[dict[str, object]]]:
    """One response to each item, and a judgement of every criterion of it."""
    rows: dict[str, list[dict[str, object]]] = {"system": [{"id": "s", "name": "system", "notes": ""}]}
    at = datetime(2025, 1, 1, tzinfo=UTC)
    for n in range(items):
        item = ItemFields(key=str(n), question=f"What is known about subject {n}?", position=n).model_dump()
        item_id, response_id = derived_id("item", n), derived_id("response", n)
        rows.setdefault("item", []).append({"id": item_id, **item, "sha256": item_hash(item)})
        response = ResponseFields(
            item_id=item_id, system_id="s", text=f"A report on subject {n}. " * 20
        ).model_dump()
        digest = response_hash(str(response["text"]))
        rows.setdefault("response", []).append({"id": response_id, **response, "sha256": digest})
        for c in range(criteria):
            judgement = JudgementFields(
                protocol="researcherbench.coverage", item_id=item_id, response_id=response_id, unit_id=f"{n}-{c}",
                rater_kind=RaterKind.JUDGE, rater_id="j", value="yes", at=at,
            ).model_dump(mode="json") | {"at": at}  # fmt: skip
            row = {"id": derived_id("judgement", n, c), **judgement, "sha256": judgement_hash(judgement)}
            rows.setdefault("judgement", []).append(row)
    return rows


def in_fresh_project(write: Callable[[Connection], None]) -> float:
    """The seconds that writing takes in a new project."""
    with tempfile.TemporaryDirectory() as folder:
        project = Project.create(Path(folder) / "bench.goldsmith")
        with project.store.write() as db:
            started = time.perf_counter()
            write(db)
            seconds = time.perf_counter() - started
        project.close()
    return seconds


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=500)
    parser.add_argument("--criteria", type=int, default=15)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="few rows, once")
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.items, arguments.rounds = 20, 1
    rows = made_rows(arguments.items, arguments.criteria)

    def ours(db: Connection) -> None:
        write_rows(db, rows, lambda *_: None)

    def add_all(db: Connection) -> None:
        with Session(db) as session:
            for name, those in rows.items():
                session.add_all([classes[name](**row) for row in those])
                session.flush()

    classes = entities()
    count = sum(len(those) for those in rows.values())
    # In turns, so that whatever else the machine does meets both; the shortest of each counts.
    timed = [(in_fresh_project(ours), in_fresh_project(add_all)) for _ in range(arguments.rounds)]
    best = {"ours": min(pair[0] for pair in timed), "add_all": min(pair[1] for pair in timed)}
    ratio = best["add_all"] / best["ours"]
    print(f"{count} rows: insert path {best['ours']:.3f} s, session.add_all {best['add_all']:.3f} s")
    print(f"ratio {ratio:.1f} (goal: at least {GOAL:.0f})")
    return 0 if ratio >= GOAL else 1


if __name__ == "__main__":
    sys.exit(main())
