"""Projects on which judges are validated: reports of several systems, people who label them, judges that judged."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.actions.project.people import new_project
from annotator.domain.experts.assignment import Person, Role
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.judges.protocol import Scale
from annotator.domain.kinds.artifact import Kind, Unit
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import derived_id, now
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench import coverage
from annotator.storage.tables import JUDGEMENT, RUN
from tests.projects.labelling_project import add_report
from tests.templates import once

COVERAGE = "researcherbench.coverage"
TYPES = ("Technical Details", "Literature Review", "Open Consulting")
# A response's item (from 1), its system and a unit's place in the rubric, from 1.
At = tuple[int, str, int]
Says = Callable[[At], str]


def ann(at: At) -> str:
    """Yes of Alpha alone."""
    return "yes" if at[1] == "Alpha" else "no"


def nearly_ann(at: At) -> str:
    """As Ann, but no of Alpha's heavy criterion on item 1, and yes of Beta's light ones on items 1 and 2."""
    if at == (1, "Alpha", 1):
        return "no"
    return "yes" if at in ((1, "Beta", 2), (2, "Beta", 2)) else ann(at)


def strict(at: At) -> str:
    """As Ann, but no of the light criteria: of her eight yes four remain."""
    return "no" if at[2] == 2 else ann(at)


@once
def validation_project(
    path: Path,
    questions: int = 4,
    systems: tuple[str, ...] = ("Alpha", "Beta"),
    weights: tuple[int, ...] = (3, 1),
) -> Project:
    """Items of the three types in turn with a rubric of these weights; longer reports on later items; R1, R2, R3.

    R1 is the coordinator and works; the report of a later system is longer.
    """
    project = new_project(path / "validation.goldsmith", "Validation")
    people.someone(project)
    for name in ("Ann", "Ben"):
        people.add_person(project, name, (Role.ANNOTATOR,))
    for number in range(1, questions + 1):
        item_id = items.add(project, f"Question {number}?", TYPES[(number - 1) % 3], "").subject
        units = tuple(
            Criterion(id=f"i{number}c{n}", text=f"Criterion {n} of {number}", weight=weight)  # type: ignore[arg-type]
            for n, weight in enumerate(weights, 1)
        )
        assignments.seal(project, artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject)
        for place, system in enumerate(systems):
            add_report(project, item_id, system, "x" * (100 * number + 10 * place))
    return project


def negative(monkeypatch: pytest.MonkeyPatch, which: int = 1) -> None:
    """Criteria of one weight have its negative: they say what a report must not do."""

    def signed(unit: Unit) -> float:
        weight = coverage.COVERAGE.weight(unit)
        return -weight if weight == which else weight

    monkeypatch.setattr(coverage, "weight", signed)
    monkeypatch.setitem(PROTOCOLS, COVERAGE, replace(PROTOCOLS[COVERAGE], weight=signed))


def rated(monkeypatch: pytest.MonkeyPatch, scale: Scale) -> None:
    monkeypatch.setitem(PROTOCOLS, COVERAGE, replace(PROTOCOLS[COVERAGE], scale=scale, metrics=()))


def person(project: Project, alias: str) -> Person:
    return people.known(project, alias)


def places(project: Project) -> dict[At, tuple[str, str, str]]:
    """Where what stands: (item, system, criterion) → item's id, response's id, unit's id."""
    result = {}
    with project.store.read() as db:
        rows = db.exec_driver_sql(
            "SELECT i.position, i.id, s.name, r.id FROM response r JOIN item i ON i.id = r.item_id "
            "JOIN system s ON s.id = r.system_id"
        ).all()
        count = db.exec_driver_sql("SELECT content FROM revision LIMIT 1").scalar_one().count('"weight"')
    numbers = {item_id: n for n, item_id in enumerate(items.ids(project), 1)}
    for _, item_id, system, response_id in rows:
        for n in range(1, count + 1):
            number = numbers[item_id]
            result[number, system, n] = (item_id, response_id, f"i{number}c{n}")
    return dict(sorted(result.items()))


def person_says(project: Project, alias: str, says: Says | Mapping[At, str], *, submit: bool = True) -> None:
    """What a person says of everything dealt to them (“-” for nothing), submitted unless told otherwise."""
    before, told = project.person, says if callable(says) else says.__getitem__
    project.work_as(person(project, alias))
    where = {(response, unit): at for at, (_, response, unit) in places(project).items()}
    with project.store.write():
        for task in labels.queue(project):
            for unit in labels.sheet(project, task.response_id).units:
                value = told(where[task.response_id, unit.id])
                if value != "-":
                    labels.set_label(project, task.response_id, unit.id, value)
    if submit:
        for item_id in dict.fromkeys(task.item_id for task in labels.queue(project)):
            label_sealing.submit(project, item_id)
    assert before is not None
    project.work_as(before)


def judge_says(
    project: Project, name: str, says: Says | Mapping[At, str], *, prompt: str = "p1", trial: int = 1
) -> str:
    """What a judge says of every unit: a value, “-” for an invalid judgement, nothing where it was not asked."""
    if name not in {one.name for one in judges.all_of(project)}:
        judges.add(project, name, base_url="http://127.0.0.1:1/v1", model="m")
    judge_id = judges.named(project, name).id
    run_id = derived_id("run", name, prompt)
    with project.store.write() as db:
        db.execute(
            insert(RUN).prefix_with("OR IGNORE").values(
                id=run_id, judge_id=judge_id, protocol=COVERAGE, state="done", prompt_sha256=prompt, total=0, done=0,
                started_at=now(), by="",
            )
        )  # fmt: skip
        rubrics = dict(db.exec_driver_sql("SELECT item_id, id FROM artifact WHERE kind = 'rubric'").all())
        told = says if callable(says) else lambda at: says.get(at, "")
        rows = []
        for at, (item_id, response_id, unit_id) in places(project).items():
            if value := told(at):
                row = Judgement(
                    id=derived_id(name, response_id, unit_id, *range(1, trial)), protocol=COVERAGE, item_id=item_id,
                    response_id=response_id, unit_id=unit_id, rater_kind=RaterKind.JUDGE, rater_id=judge_id,
                    run_id=run_id, trial=trial, at=now(), value=value if value != "-" else None,
                    status=Status.OK if value != "-" else Status.INVALID, artifact_id=rubrics[item_id],
                ).model_dump(mode="python")  # fmt: skip
                rows.append({**row, "sha256": judgement_hash(row)})
        if rows:
            db.execute(insert(JUDGEMENT), rows)
    return judge_id


def noisy(project: Project, errs: float, seed: int) -> Says:
    """Says what is true by one truth for all, and the other of yes and no so often."""
    chance, truth = Random(seed), Random(0)
    said = {at: truth.choice(("yes", "no")) for at in places(project)}
    wrong = {at for at in said if chance.random() < errs}
    return lambda at: {"yes": "no", "no": "yes"}[said[at]] if at in wrong else said[at]
