"""Projects on which judges are validated: people who label, judges that judged, and what both said and marked."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.project import people
from annotator.actions.project.file import Project, judgement_hash
from annotator.actions.sets import validation_sets
from annotator.actions.sets.validation_figures import in_order
from annotator.domain.common import derived_id, now
from annotator.domain.experts.assignment import Person, Role
from annotator.domain.judges.judge import Judgement, RaterKind, Status
from annotator.domain.judges.protocol import Scale
from annotator.domain.kinds.artifact import Kind, State, Unit
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench import coverage
from annotator.storage.tables import ARTIFACT, JUDGEMENT, RUN
from tests.common import COVERAGE, once
from tests.projects.small_projects import (
    CLAIMS,
    PAIRS,
    PLAN,
    REASONING,
    add_report,
    one_item,
    submit_labels,
)
from tests.storage import sql

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
    project = people.new_project(path / "validation.goldsmith", "Validation")
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
    said: dict[str, dict[str, list[str]]] = {}
    with project.store.write():
        dealt = {task.response_id for task in labels.queue(project)}
        for at, (_, response_id, unit_id) in places(project).items():
            if response_id in dealt and told(at) != "-":
                said.setdefault(response_id, {}).setdefault(told(at), []).append(unit_id)
        for response_id, by_value in said.items():
            for value, unit_ids in by_value.items():
                labels.set_labels(project, response_id, unit_ids, value)
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


@once
def labelled_set(folder: Path) -> Project:
    """A set of all reports, half of them its test part, labelled by both as Ann does; a judge says yes to all."""
    project = validation_project(folder)
    both = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", both, size=8))
    for alias in ("R2", "R3"):
        person_says(project, alias, ann)
    judge_says(project, "small", lambda _: "yes")
    return project


def noisy(project: Project, errs: float, seed: int) -> Says:
    """Says what is true by one truth for all, and the other of yes and no so often."""
    chance, truth = Random(seed), Random(0)
    said = {at: truth.choice(("yes", "no")) for at in places(project)}
    wrong = {at for at in said if chance.random() < errs}
    return lambda at: {"yes": "no", "no": "yes"}[said[at]] if at in wrong else said[at]


JUDGE, OTHER = "small-judge", "other-judge"
ENGLISH = (
    "Residual connections keep gradients from vanishing, so that very deep networks can be trained at all."
)
CHINESE = "残差连接让梯度得以直接传回较浅的层，因此非常深的网络也能训练。"
ARABIC = "تحافظ الوصلات المتبقية على التدرجات من التلاشي، فيمكن تدريب الشبكات العميقة جدا."
FILLING = (
    "The authors then turn to other matters, which take some room and decide nothing of what is asked here. "
)
# Of each item: its question, its criteria with their weights, and the sentence that decides.
ITEMS = (
    (
        "What do residual connections do, and how are they justified in the literature of the last ten years?",
        (
            ("Explains why residual connections keep gradients from vanishing", 3),
            ("Compares the stability of training with and without them, with figures", 2),
            ("Names one dataset", 1),
        ),
        ENGLISH,
    ),
    ("残差连接有什么作用？", (("解释残差连接为何能防止梯度消失", 3), ("比较有无残差连接时训练的稳定性", 2)), CHINESE),
    (
        "ما فائدة الوصلات المتبقية؟",
        (("يشرح لماذا تمنع الوصلات المتبقية تلاشي التدرجات", 3), ("يذكر مجموعة بيانات", 1)),
        ARABIC,
    ),
)  # fmt: skip


@once
def verdicts_project(folder: Path, filling: int = 6, label: bool = True) -> Project:
    """R1 coordinates; R2 has labelled everything, R3 nothing; two judges have judged it, differing from R2 here and
    there. With `filling` the reports are so many times as long; without `label` R2 is only asked.
    """
    project = people.new_project(folder / "verdicts.goldsmith", "Verdicts")
    people.someone(project)
    for name in ("Ann", "Ben"):
        people.add_person(project, name, (Role.ANNOTATOR,))
    for number, (question, criteria, sentence) in enumerate(ITEMS, 1):
        item_id = items.add(project, question, "Technical Details", "").subject
        units = tuple(
            Criterion(id=f"i{number}c{n}", text=text, weight=weight)  # type: ignore[arg-type]
            for n, (text, weight) in enumerate(criteria, 1)
        )
        assignments.seal(project, artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject)
        for system in ("Canary-Alpha", "Canary-Beta"):
            body = (
                f"# What was found\n\n{FILLING * filling}\n\n## Answer\n\n{sentence}\n\n{FILLING * filling}"
            )
            add_report(project, item_id, system, f"{body}\n\n{system[-5:]} has nothing more to say.")
    for name in (JUDGE, OTHER):
        _judge(project, name)
    if label:
        _label(project)
    return project


def _judge(project: Project, name: str) -> None:
    """Yes of every first criterion and of the second of the first item, no of the rest; the other the contrary."""
    judges.add(project, name, base_url="http://127.0.0.1:1/v1", model="m")
    judge_id, run_id = judges.named(project, name).id, derived_id("run", name)
    run = {"id": run_id, "judge_id": judge_id, "protocol": COVERAGE, "state": "done", "prompt_sha256": "p1",
           "total": 0, "done": 0, "started_at": now(), "by": ""}  # fmt: skip
    with project.store.write() as db:
        db.execute(insert(RUN).values(**run))
        rubrics = dict(db.exec_driver_sql("SELECT item_id, id FROM artifact WHERE kind = 'rubric'").all())
        for item_id, response_id, unit_id, sentence in _places(project):
            first = unit_id.endswith("c1") or unit_id == "i1c2"
            yes = first if name == JUDGE else not first
            at = sentence[1].find(sentence[0])
            quote = sentence[0] if yes else ""
            row = Judgement(
                id=derived_id(name, response_id, unit_id), protocol=COVERAGE, item_id=item_id,
                artifact_id=rubrics[item_id], response_id=response_id, unit_id=unit_id, at=now(), run_id=run_id,
                rater_kind=RaterKind.JUDGE, rater_id=judge_id, value="yes" if yes else "no",
                rationale="The report says so in its answer." if yes else "The report does not come to this.",
                quote=quote, quote_start=at if quote else None, quote_end=at + len(quote) if quote else None,
            ).model_dump(mode="python")  # fmt: skip
            db.execute(insert(JUDGEMENT).values(**row, sha256=judgement_hash(row)))


def _label(project: Project) -> None:
    """R2 says no of the first criterion of each item's second report, yes of all others, and marks half a sentence."""
    project.work_as(people.known(project, "R2"))
    seen: set[str] = set()
    for item_id, response_id, unit_id, (sentence, report) in _places(project):
        later = unit_id.endswith("c1") and item_id in seen
        seen |= {item_id} if unit_id.endswith("c1") else set()
        labels.set_label(project, response_id, unit_id, "no" if later else "yes")
        start = report.find(sentence) + len(sentence) // 2
        end = report.find(sentence) + len(sentence)
        labels.set_evidence(project, response_id, unit_id, report[start:end], start, end)
        labels.set_note(project, response_id, unit_id, "Only half of it is there." if later else "")
    for item_id in items.ids(project):
        label_sealing.submit(project, item_id)
    project.work_as(people.known(project, "R1"))


def _places(project: Project) -> list[tuple[str, str, str, tuple[str, str]]]:
    """(item, response, unit, (the sentence that decides, the report)), in the order of items and systems."""
    result = []
    for number, item_id in enumerate(items.ids(project), 1):
        rows = sql.rows(
            project,
            "SELECT r.id, r.text FROM response r JOIN system s ON s.id = r.system_id WHERE r.item_id = ? "
            "ORDER BY s.name",
            (item_id,),
        )
        _, criteria, sentence = ITEMS[number - 1]
        for response_id, text in rows:
            result += [
                (item_id, response_id, f"i{number}c{n}", (sentence, text))
                for n in range(1, len(criteria) + 1)
            ]
    return result


@once
def protocols_project(folder: Path) -> Project:
    """One item under every protocol that people answer: they and the judge differ on each unit, and quote its words."""
    project = one_item(folder)
    judges.add(project, JUDGE, base_url="http://127.0.0.1:1/v1", model="m")
    judge_id = judges.named(project, JUDGE).id
    for name in (CLAIMS, PAIRS, PLAN, REASONING):
        protocol = PROTOCOLS[name]
        for task in labels.queue(project, name):
            sheet = labels.sheet(project, task.response_id, name, task.other_id)
            for group in sheet.groups:
                for unit in group.units:
                    labels.set_label(project, task.response_id, unit.id, group.values[0], protocol=name)
                    page = group.given.get("page", "")
                    _differ(project, judge_id, sheet, unit.id, protocol.values[1], page.partition(".")[0])
    submit_labels(project)
    return project


def _differ(project: Project, judge_id: str, sheet: Any, unit_id: str, value: str, quote: str) -> None:
    response_id = sheet.response_id
    if sheet.other_id and not in_order(response_id, unit_id):
        # Of a pair only one order is compared: the same report is better, shown second instead of first.
        response_id, unit_id, value = unit_id, response_id, PROTOCOLS[sheet.protocol].values[0]
    row = Judgement(
        id=derived_id(judge_id, response_id, unit_id), protocol=sheet.protocol, item_id=sheet.item.id,
        artifact_id=sheet.artifact_id, response_id=response_id, unit_id=unit_id, at=now(),
        rater_kind=RaterKind.JUDGE, rater_id=judge_id, value=value, rationale="It reads otherwise.", quote=quote,
    ).model_dump(mode="python")  # fmt: skip
    with project.store.write() as db:
        db.execute(insert(JUDGEMENT).values(**row, sha256=judgement_hash(row)))


def labelled_at_once(
    project: Project, alias: str, says: Callable[[At], str], where: Collection[At] | None = None
) -> None:
    """What a person says, everywhere or there; their labels of every item are submitted."""
    who, every = person(project, alias).id, places(project)
    with project.store.write() as db:
        rubrics = dict(db.exec_driver_sql("SELECT item_id, id FROM artifact WHERE kind = 'rubric'").all())
        for item_id in rubrics:
            sealed = {
                "id": derived_id(who, item_id), "item_id": item_id, "kind": Kind.LABELS.value, "author_id": who,
                "state": State.SEALED.value, "revision": 1, "sealed_at": now(),
            }  # fmt: skip
            db.execute(insert(ARTIFACT).prefix_with("OR IGNORE").values(sealed))
        rows = []
        for at in every if where is None else where:
            item_id, response_id, unit_id = every[at]
            row = Judgement(
                id=derived_id(who, response_id, unit_id), protocol=COVERAGE, item_id=item_id,
                response_id=response_id, unit_id=unit_id, rater_kind=RaterKind.PERSON, rater_id=who, run_id=None,
                at=now(), value=says(at), status=Status.OK, artifact_id=rubrics[item_id],
            ).model_dump(mode="python")  # fmt: skip
            rows.append({**row, "sha256": judgement_hash(row)})
        db.execute(insert(JUDGEMENT), rows)
