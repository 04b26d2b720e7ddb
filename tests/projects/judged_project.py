"""Projects as large as one likes: items with rubrics, reports of several systems, and verdicts of many judges."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from typing import Any

from annotator.actions.imports import imports
from annotator.actions.judges import judges
from annotator.actions.labelling.label_rows import IMPORTED
from annotator.actions.project import people
from annotator.actions.project.file import Project, insert_rows, judgement_hash
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Judge, JudgementFields, RaterKind, RunState, Status
from annotator.domain.texts.canonical import derived_id
from annotator.storage.tables import JUDGEMENT, RUN
from tests.storage import sql

COVERAGE = "researcherbench.coverage"
TYPES = ("Technical Details", "Literature Review", "Open Consulting")
AT = datetime(2090, 1, 1, tzinfo=UTC)
BATCH = 20_000
WHY = "The report says so in its second part, where it speaks of this point at some length."
# An item's id, a report's, the rubric's and a criterion's.
Place = tuple[str, str, str, str]


def peer_folder(folder: Path, items: int, criteria: int, systems: int, letters: int = 2_000) -> Path:
    """Questions, rubrics and reports in ResearcherBench's layout."""
    questions = [
        {"id": n, "category": TYPES[n % 3], "Subject": "AI", "question": f"What is known of matter {n}?"}
        for n in range(1, items + 1)
    ]
    rubrics = [
        {
            "id": q["id"],
            "question": q["question"],
            "rubric": [
                {"point": f"Explains point {c} of matter {q['id']}", "weight": c % 3 + 1}
                for c in range(criteria)
            ],
        }
        for q in questions
    ]
    (folder / "responses").mkdir(parents=True)
    (folder / "questions.json").write_text(json.dumps(questions), encoding="utf-8")
    (folder / "rubric.json").write_text(json.dumps(rubrics), encoding="utf-8")
    for system in range(systems):
        reports = [
            {
                "id": q["id"],
                "question": q["question"],
                "response": (f"System {system} on it: {q['question']} " * (letters // 50 + 1)),
            }
            for q in questions
        ]
        (folder / "responses" / f"system-{system}.json").write_text(json.dumps(reports), encoding="utf-8")
    return folder


def imported(path: Path, source: Path) -> Project:
    project = people.new_project(path, "Judged")
    imports.run(project, "researcherbench", [source], warm=False)
    return project


def places(project: Project) -> list[Place]:
    rubrics = {
        item_id: (artifact_id, [unit["id"] for unit in json.loads(content)["units"]])
        for item_id, artifact_id, content in sql.rows(
            project,
            "SELECT a.item_id, a.id, r.content FROM artifact a JOIN revision r ON r.artifact_id = a.id "
            "AND r.number = a.revision WHERE a.kind = 'rubric'",
        )
    }
    reports = sql.rows(project, "SELECT item_id, id FROM response ORDER BY item_id, id")
    return [
        (item_id, response_id, rubrics[item_id][0], unit)
        for item_id, response_id in reports
        for unit in rubrics[item_id][1]
    ]


def judge_everything(project: Project, count: int, limit: int | None = None) -> int:
    """Verdicts of so many judges on every criterion of every report, or the first so many; how many there are now."""
    rows = _verdicts(project, count)
    written, batch = 0, list[dict[str, Any]]()
    for row in rows:
        if limit is not None and written + len(batch) == limit:
            break
        batch.append(row)
        if len(batch) == BATCH:
            written += _write(project, batch)
            batch = []
    return written + _write(project, batch)


def _write(project: Project, rows: list[dict[str, Any]]) -> int:
    with project.store.write() as db:
        insert_rows(db, JUDGEMENT, rows, lambda *_: None)
    return len(rows)


def _verdicts(project: Project, count: int) -> Iterator[dict[str, Any]]:
    where, rng = places(project), Random(7)
    for number in range(count):
        judge_id, run_id = _judge(project, number, len(where))
        for place in where:
            value = "yes" if rng.random() < 0.6 else "no"
            yield _row(
                place, judge_id, run_id=run_id, value=value, rater_kind=RaterKind.JUDGE.value, rationale=WHY
            )


def _judge(project: Project, number: int, asked: int) -> tuple[str, str]:
    name = f"judge {number:03}"
    judge = Judge(id=derived_id("judge", name), name=name, base_url="http://127.0.0.1:1/v1", model="m")
    judges.stored(project, judge)
    run = {
        "id": derived_id("run", name), "judge_id": judge.id, "protocol": COVERAGE, "state": RunState.DONE.value,
        "prompt_sha256": "p1", "total": asked, "done": asked, "started_at": AT, "by": "",
    }  # fmt: skip
    with project.store.write() as db:
        db.execute(RUN.insert().values(**run))
    return judge.id, str(run["id"])


def _row(place: Place, rater_id: str, **said: Any) -> dict[str, Any]:
    item_id, response_id, artifact_id, unit_id = place
    made = JudgementFields.model_construct(
        protocol=COVERAGE, item_id=item_id, response_id=response_id, artifact_id=artifact_id, unit_id=unit_id,
        rater_id=rater_id, status=Status.OK.value, at=AT, **said,
    ).model_dump(warnings=False)  # fmt: skip
    return {**made, "id": derived_id(rater_id, response_id, unit_id), "sha256": judgement_hash(made)}


def label_everything(project: Project, name: str, share: float, alike: float) -> int:
    """What a new annotator says of that share of what a judge judged, and how much of it is as the judge has it.

    The labels came in by a file and count; how many there are.
    """
    person_id, rng = people.add_person(project, name, (Role.ANNOTATOR,)).subject, Random(name)
    said = {
        (response_id, unit_id): value
        for response_id, unit_id, value in sql.rows(
            project,
            "SELECT response_id, unit_id, value FROM judgement WHERE rater_kind = 'judge' ORDER BY id",
        )
    }
    rows = []
    for place in places(project):
        judged = said.get((place[1], place[3]))
        if judged is not None and rng.random() < share:
            value = judged if rng.random() < alike else {"yes": "no", "no": "yes"}[judged]
            rows.append(
                _row(
                    place,
                    person_id,
                    value=value,
                    run_id=None,
                    rater_kind=RaterKind.PERSON.value,
                    flags=IMPORTED,
                )
            )
    return _write(project, rows)
