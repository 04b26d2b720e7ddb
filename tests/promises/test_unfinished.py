"""Nothing unfinished moves a figure: what is submitted counts until something newer is submitted."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import assignments, planning
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.papers import paper_tables
from annotator.actions.parcels import tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import gathering, releases
from annotator.actions.results import overview, results
from annotator.actions.results.result_raters import EACH, PEOPLE
from annotator.actions.studies import question_views, rubric_views
from annotator.actions.undo import history
from annotator.actions.validation import judge_comparing, validation
from annotator.actions.validation.validation import ValidationQuery
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Person, Role, Stage
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.canonical import canonical_json
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS, TAXONOMIES
from tests.material.rated_tasks import rated_tasks
from tests.material.sent_apart import returned
from tests.projects import adra_project as adra
from tests.projects.generated_project import KINDS, WORDS, document, generated_project, responses
from tests.projects.labelled_protocols import one_item, reports
from tests.projects.pairs_project import (
    ADA,
    BEN,
    add_report,
    item,
    pairs_project,
    person,
    rubric,
    submit,
    work_as,
)
from tests.storage import sql

SEEDS, ACTS = range(4), 40
JUDGED = ("researcherbench.coverage", "adra.reasoning", "adra.plan")
PEOPLE_HERE = ("Ada", "Ben", "Dan", "Eve", "Cora")


def figures(project: Project) -> dict[str, Any]:
    """Every figure of a project as it is shown, exported and released."""
    work_as(project, "Cora")
    result: dict[str, Any] = {}
    for rater in ("", EACH, PEOPLE):
        rows = overview.everything(project, rater)
        result[f"results by {rater}"] = [results.plain(row) for row in rows]
    for name in paper_tables.TABLES:
        sheets = _or_why(lambda name=name: paper_tables.report(project, name, EACH))
        result[name] = (
            sheets
            if isinstance(sheets, str)
            else [
                (sheet.key, [[cell.words for cell in line.cells] for line in sheet.lines], sheet.told)
                for sheet in sheets
            ]
        )
    for protocol in JUDGED:
        for what, asked in (
            ("compare", judge_comparing.compare),
            (
                "validation",
                lambda project, name: validation.report(project, ValidationQuery(name)),
            ),
        ):
            result[f"{what} {protocol}"] = _or_why(
                lambda asked=asked, name=protocol: repr(asked(project, name))
            )
    result["agreement"] = repr(agreement_report.report(project).rows)
    result["selection"] = repr(question_views.selection_report(project).chosen)
    with project.store.read() as db:
        bundle, _ = gathering.gather(db)
        result["released judgements"] = [
            (
                judgement.protocol,
                judgement.response_id,
                judgement.unit_id,
                judgement.rater_id,
                judgement.value,
                judgement.status,
                tuple(judgement.flags),
            )
            for judgement in bundle.judgements
        ]
        result["released documents"] = [
            (artifact.id, artifact.revision, artifact.sha256) for artifact in bundle.artifacts
        ]
    result["released scores"] = [results.plain(row) for row in overview.released(project)]
    return result


def _or_why(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except Refusal as refusal:
        return refusal.happened


def _one(rng: Random, project: Project, where: str) -> str:
    question = f"SELECT id FROM artifact WHERE kind != 'labels' AND {where} ORDER BY rowid"
    result = sql.rows(project, question, (project.by,) * where.count("?"))
    if not result:
        raise Refusal("There is none.")
    return str(rng.choice(result)[0])


def _begin(rng: Random, project: Project) -> None:
    kind = rng.choice(KINDS)
    artifacts.start(project, rng.choice(items.ids(project)), kind, rng.choice((None, document(rng, kind))))


def _type(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, project, "author_id = ? AND state != 'sealed'")
    units = artifacts.read(project, artifact_id).document.units
    if not units or rng.random() < 0.3:
        artifacts.add_unit(project, artifact_id, text=rng.choice(WORDS))
    else:
        artifacts.save_draft(project, artifact_id, units[0].id, "text", "Half a sent")
        artifacts.change_unit(project, artifact_id, rng.choice(units).id, text=rng.choice(WORDS))


def _empty(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, project, "author_id = ? AND state != 'sealed'")
    for unit in artifacts.read(project, artifact_id).document.units:
        artifacts.remove_unit(project, artifact_id, unit.id)


def _reopen(rng: Random, project: Project) -> None:
    assignments.reopen(project, _one(rng, project, "author_id = ? AND state = 'sealed'"))


def _edit_gold(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, work_as(project, "Cora"), "(author_id = '' OR state = 'consensus')")
    assignments.reopen(project, artifact_id)
    unit = rng.choice(artifacts.read(project, artifact_id).document.units)
    artifacts.change_unit(project, artifact_id, unit.id, text=rng.choice(WORDS))


def _rule_again(rng: Random, project: Project) -> None:
    result = sql.rows(project, "SELECT id FROM adjudication WHERE state = 'closed' ORDER BY rowid")
    if result:
        ruling.reopen(
            work_as(project, "Cleo"), adjudication := str(rng.choice(result)[0]), "It may be otherwise."
        )
        row = rng.choice(adjudicating.sheet(project, adjudication).rows)
        ruling.rule(project, row.ruling.id, "drop", reason=rng.choice(list(Reason)))


def _unit(rng: Random, project: Project) -> tuple[str, str, str]:
    """A unit that the person working is asked about: protocol, report and unit."""
    protocol, (_, response_id) = rng.choice(JUDGED), rng.choice(responses(project) or [("", "")])
    return protocol, response_id, rng.choice(labels.sheet(project, response_id, protocol).units).id


def _label(rng: Random, project: Project) -> None:
    protocol, response_id, unit_id = _unit(rng, project)
    value = rng.choice((*PROTOCOLS[protocol].values, "unsure"))
    labels.set_label(project, response_id, unit_id, value, protocol=protocol)


def _write_beside(rng: Random, project: Project) -> None:
    protocol, response_id, unit_id = _unit(rng, project)
    labels.set_note(project, response_id, unit_id, "As I read it", protocol)
    labels.set_flag(project, response_id, unit_id, rng.random() < 0.5, protocol)
    labels.set_evidence(project, response_id, unit_id, "half", None, None, protocol)


def _give_kind(rng: Random, project: Project) -> None:
    protocol, response_id, unit_id = _unit(rng, project)
    of = [one for one in TAXONOMIES.values() if one.of == protocol]
    one = rng.choice(of or list(TAXONOMIES.values()))
    label_sealing.give(project, response_id, unit_id, one.name, rng.choice(("", *one.values)))


def _reopen_labels(rng: Random, project: Project) -> None:
    label_sealing.reopen(project, rng.choice(items.ids(project)))


def _take_back(_: Random, project: Project) -> None:
    """Undo; a correction of what was drawn from a report is whole as it is made, and its undo alike."""
    standing = "before IS NOT NULL AND NOT undone AND undoes IS NULL"
    question = f"SELECT kind FROM audit WHERE by = ? AND {standing} ORDER BY seq"
    if [row[0] for row in sql.rows(project, question, (project.by,))][-1] != "extract":
        history.undo(project)


UNFINISHED = (
    _begin, _type, _type, _empty, _reopen, _edit_gold, _rule_again, _label, _label, _write_beside, _give_kind,
    _reopen_labels, _take_back, _take_back,
)  # fmt: skip


def from_its_release(source: Project, folder: Path) -> Project:
    """The project made anew of what it releases, its people known by their names."""
    releases.export(source, folder / "release")
    project = Project.create(folder / "again.goldsmith")
    imports.run(project, "goldsmith", [folder / "release"])
    for one in people.people(source):
        if not sql.alter(project, "UPDATE person SET name = ? WHERE id = ?", [one.name, one.id]):
            people.add_person(project, one.name, map(Role, one.roles.split()))
    return project


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_unfinished_moves_a_figure(tmp_path: Path, seed: int) -> None:
    """Of every second project the labels came with a release, and of the later ones they are handed out anew."""
    project, rng = generated_project(tmp_path, seed), Random(seed)
    whose = [person.id for person in people.people(work_as(project, "Cora"))]
    label_sealing.submit_all(project, whose, partial=True)
    if seed % 2:
        project = from_its_release(project, tmp_path)
    before, done, asked = figures(project), list[str](), list[str]()
    for item_id, name in product(items.ids(project), PEOPLE_HERE) if seed > 1 else ():
        with suppress(Refusal):
            to_label = item_id, person(project, name).id, Stage.LABELLING
            asked.append(assignments.assign_one(project, *to_label, protocols=JUDGED).subject)
    for _ in range(ACTS):
        act, name = rng.choice(UNFINISHED), rng.choice(PEOPLE_HERE)
        try:
            act(rng, work_as(project, name))
            done.append(f"{name} {act.__name__}")
        except (Refusal, IndexError):
            continue
    assert len(done) > ACTS / 5
    for withdrawn in (False, True):
        after = figures(project)
        assert {name: after[name] for name in before if after[name] != before[name]} == {}, (done, withdrawn)
        with suppress(Refusal):
            assignments.withdraw_all(project, asked)


def test_an_empty_checklist_of_somebody_else_leaves_a_tasks_score(tmp_path: Path) -> None:
    project = rated_tasks(tmp_path)
    people.add_person(project, "Ada", (Role.ANNOTATOR,), alias="Ada")
    before = [results.plain(row) for row in results.rows(project, PEOPLE, "arena.checklist")]
    project.work_as(next(one for one in people.people(project) if one.alias == "Ada"))
    for item_id in items.ids(project):
        artifacts.start(project, item_id, Kind.CHECKLIST)
    assert [results.plain(row) for row in results.rows(project, PEOPLE, "arena.checklist")] == before != []


def test_one_rater_stands_in_a_table_unless_all_are_asked_for(tmp_path: Path) -> None:
    """A judge compared plans, people alone said which statements are true."""
    project = one_item(tmp_path)
    response_id = reports(project)[0]
    judges.add(project, "small", base_url="http://127.0.0.1:1/v1", model="m")
    item_id, judge_id = items.ids(project)[0], judges.named(project, "small").id
    adra.say(project, "researcherbench.coverage", item_id, response_id, {"c": "yes"}, rater_id=judge_id)
    labels.set_label(project, response_id, "s1", "true", protocol="adra.reasoning")
    label_sealing.submit(project, item_id, "adra.reasoning", partial=True)

    def raters(judge: str) -> set[str]:
        rows = overview.everything(project, judge)
        return {row.rater for row in rows} - {"computed"}

    assert raters("") == {"small"}
    assert raters(EACH) == {"small", "people"}
    (told,) = (words for words in overview.sheets(overview.report(project))[0].told if "Left out" in words)
    assert "(people)" in told


def _hand_out(project: Project) -> str:
    plan = AssignmentPlan((Stage.RUBRIC,), 2, tuple(person(project, name).id for name in ("Ada", "Ben")))
    plan = replace(plan, items=tuple(items.ids(project)))
    said = " ".join(planning.preview(work_as(project, "Cora"), plan).notes)
    assignments.assign(project, plan)
    return said


def second(project: Project) -> Person:
    """The one of two who has written nothing yet."""
    authors = {str(row[0]) for row in sql.rows(project, "SELECT author_id FROM artifact")}
    return next(one for name in ("Ada", "Ben") if (one := person(project, name)).id not in authors)


def _write_too(project: Project) -> str:
    project.work_as(second(project))
    document_id = artifacts.start(project, item(project), Kind.RUBRIC, rubric(BEN, "b")).subject
    said = annotating.consequence(project, artifacts.read(project, document_id))
    assignments.seal(project, document_id)
    return said


def _come_back(project: Project) -> str:
    """Work that was begun before its assignment was withdrawn."""
    whom = second(project).id
    asked = assignments.assign_one(project, item(project), whom, Stage.RUBRIC).subject
    paths = [returned(project, whom, project.path.parent / "theirs")]
    assignments.withdraw_all(project, [asked])
    said = unpacking.words(unpacking.preview(project, paths)[0])
    unpacking.take_in(project, paths)
    return " ".join(said)


def _take_from_tray(project: Project) -> str:
    content = canonical_json(rubric(BEN, "b").tree()).decode()
    with project.store.write() as db:
        of = {"item_id": item(project), "stage": Stage.RUBRIC}
        tray.put(db, ParcelOutcome.LATE, second(project).id, content, **of)
    (entry,) = tray.sheets(project)
    said = tray.sheet(project, entry).consequence
    tray.accept(project, entry.entry.id)
    return said


def _write_again(project: Project) -> str:
    (artifact_id,) = sql.rows(project, "SELECT id FROM artifact")[0]
    assignments.reopen(work_as(project, "Ada"), str(artifact_id))
    said = annotating.consequence(project, artifacts.read(project, str(artifact_id)))
    artifacts.change_unit(project, str(artifact_id), "a1", weight=1)
    assignments.seal(project, str(artifact_id))
    return said


TOLD_FIRST = {
    "a second author is asked": (
        _hand_out,
        "takes the scores of these items away until they are adjudicated: 1.",
    ),
    "a second author submits": (_write_too, annotating.SECOND),
    "a second author's work comes back": (_come_back, annotating.TAKES_SCORES),
    "a second author's work is taken from the tray": (_take_from_tray, annotating.TAKES_SCORES),
    "what was submitted is submitted again": (_write_again, annotating.AGAIN),
}


def scored(tmp_path: Path, author: str) -> Project:
    """One item with one author's rubric, by which a judge judged a report; another rubric is kept by a name."""
    project = pairs_project(tmp_path)
    submit(project, {author: rubric(ADA, "a")})
    response_id = add_report(work_as(project, "Cora"))
    rubric_views.keep_set(project, "lax", {"1": rubric(BEN, "b")})
    values = {f"a{n}": "yes" if n < 3 else "no" for n in range(1, len(ADA) + 1)}
    adra.say(project, "researcherbench.coverage", item(project), response_id, values)
    adra.add_judge(project)
    return project


def scores(project: Project) -> list[Any]:
    rows = results.rows(work_as(project, "Cora"), "", "researcherbench.coverage")
    return [(row.system, row.metric, row.group, row.estimate.value, row.estimate.n) for row in rows]


@pytest.mark.parametrize("name", TOLD_FIRST)
def test_an_act_that_changes_a_score_says_so_first(tmp_path: Path, name: str) -> None:
    project = scored(tmp_path, "Ada")
    before, (act, words) = scores(project), TOLD_FIRST[name]
    assert words in act(work_as(project, "Cora"))
    assert scores(project) != before != []


@pytest.mark.parametrize("arrive", [_hand_out, _write_too, _come_back, _take_from_tray])
def test_where_one_scores_a_second_author_of_a_lower_alias_changes_nothing(
    tmp_path: Path, arrive: Callable[[Project], str]
) -> None:
    project = scored(tmp_path, "Ben")
    annotating.count_unadjudicated(project, True)
    before = scores(project)
    assert "scores" not in arrive(work_as(project, "Cora"))
    assert scores(project) == before != []


def test_where_a_second_author_changes_no_score_nothing_is_said(tmp_path: Path) -> None:
    project = pairs_project(tmp_path)
    assert "scores" not in _hand_out(project)
    submit(project, {"Ada": rubric(ADA, "a")})
    assert _write_too(project) == ""
