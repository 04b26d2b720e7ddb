"""How fast a bulk import writes: its insert path beside `session.add_all` of the same rows, timed in one run, and
labels of people in CSV from the files to the commit.

    python -m benchmarks.bulk_import [--quick]

Goal 8: at least 8 times as fast as SQLModel entities of the program's own fields. Timed up to the commit, which
is the same for both. Goal 9: a million rows of labels in at most 60 s and 1 GB of memory, the whole process.
"""

import resource
import sys
import tempfile
from collections.abc import Callable
from contextlib import closing
from datetime import UTC, datetime
from itertools import islice, product
from pathlib import Path

from sqlalchemy.engine import Connection
from sqlalchemy.orm import registry
from sqlmodel import Field, Session, SQLModel

from annotator.actions.imports import imports
from annotator.actions.project.file import item_hash, judgement_hash, response_hash
from annotator.actions.project.people import new_project
from annotator.domain.common import derived_id
from annotator.domain.stored import ItemFields, JudgementFields, RaterKind, ResponseFields, SystemFields
from benchmarks.measuring import parser, timed, verdict

GOAL = 8.0


class Entity(SQLModel, registry=registry()):
    """What SQLModel maps: the program's own rows are values, which it has no need to map."""

    id: str = Field(primary_key=True)


class Hashed(Entity):
    """An entity with the hash of its content."""

    sha256: str


def mapped(name: str, fields: type[SQLModel], entity: type[Entity] = Hashed) -> type[SQLModel]:
    own = {"__module__": __name__, "__tablename__": name}
    return type(SQLModel)(name, (fields, entity), own, table=True)


def made_rows(items: int, criteria: int) -> dict[str, list[dict[str, object]]]:
    """One response to each item, and a judgement of every criterion of it."""
    rows: dict[str, list[dict[str, object]]] = {
        "system": [{"id": "s", **SystemFields(name="system").model_dump()}]
    }
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
    with tempfile.TemporaryDirectory() as folder:
        project = new_project(Path(folder) / "bench.goldsmith")
        with project.store.write() as db:
            _, seconds = timed(lambda: write(db))
        project.close()
    return seconds


def import_labels(folder: Path, many: int) -> float:
    """Import so many labels, 2,000 an item (10 systems, 20 criteria, 10 raters), and tell the seconds it took."""
    count = max(1, many // 2000)
    criteria = [[f"Names cause {c} of subject {n}" for c in range(20)] for n in range(count)]
    tables = {
        "questions": ("id,question", [f"{n},What is known about subject {n}?" for n in range(count)]),
        "reports": ("item,system,report", [f"{n},S{s},On {n}." for n in range(count) for s in range(10)]),
        "criteria": ("item,criterion,weight", [f"{n},{c},2" for n in range(count) for c in criteria[n]]),
    }
    for name, (head, lines) in tables.items():
        (folder / f"{name}.csv").write_text("\n".join((head, *lines)), "utf-8")
    rows = product(range(count), range(10), range(20), range(10))
    labels = [folder / f"labels {part}.csv" for part in range(2)]
    for path in labels:
        with path.open("w", encoding="utf-8") as file:
            file.write("item,system,criterion,rater,value\n")
            for n, s, c, r in islice(rows, count * 1000):
                file.write(f"{n},S{s},{criteria[n][c]},R{r + 1},{'yes' if (n + s * c + r) % 3 else 'no'}\n")
    with closing(new_project(folder / "bench.goldsmith")) as project:
        imports.run(project, "", [folder / f"{name}.csv" for name in tables], warm=False)
        reports = []
        _, seconds = timed(lambda: reports.append(imports.run(project, "", labels, warm=False)[1]))
    if reports[0].counts["labels"].new != count * 2000:
        raise SystemExit(f"{reports[0].counts['labels'].new} labels came in")
    return seconds


def main() -> int:
    """Both ways to write, and labels; exit code 1 when a goal is missed."""
    options = parser(
        __doc__, items=(500, 20), criteria=(15, 2), rounds=(5, 1), labels=(1_000_000, 2_000)
    ).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        label_seconds = import_labels(Path(folder), options.labels)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (2**20 if sys.platform == "darwin" else 2**10)
    print(f"{options.labels:,} rows of labels: {label_seconds:.1f} s, at most {most:.0f} MB")
    rows = made_rows(options.items, options.criteria)

    def ours(db: Connection) -> None:
        imports.write_rows(db, rows, lambda *_: None)

    def add_all(db: Connection) -> None:
        with Session(db) as session:
            for name, those in rows.items():
                session.add_all([classes[name](**row) for row in those])
                session.flush()

    classes = {
        "item": mapped("item", ItemFields),
        "system": mapped("system", SystemFields, Entity),
        "response": mapped("response", ResponseFields),
        "judgement": mapped("judgement", JudgementFields),
    }
    count = sum(len(those) for those in rows.values())
    # In turns, so that whatever else the machine does meets both; the shortest of each counts.
    times = [(in_fresh_project(ours), in_fresh_project(add_all)) for _ in range(options.rounds)]
    best = {"ours": min(pair[0] for pair in times), "add_all": min(pair[1] for pair in times)}
    ratio = best["add_all"] / best["ours"]
    print(f"{count} rows: insert path {best['ours']:.3f} s, session.add_all {best['add_all']:.3f} s")
    print(f"ratio {ratio:.1f} (goal: at least {GOAL:.0f})")
    return verdict(options, {"goal 8": ratio >= GOAL, "goal 9": label_seconds <= 60 and most <= 1000})


if __name__ == "__main__":
    sys.exit(main())
