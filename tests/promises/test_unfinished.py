"""Nothing unfinished moves a figure: what is submitted counts until something newer is submitted."""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from typer.testing import CliRunner

from annotator.actions.adjudication import adjudication_sheets, closing, ruling
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import assignments, planning, submitting
from annotator.actions.authoring import artifacts, gold
from annotator.actions.imports import imports, samples
from annotator.actions.items import items, named_rubrics
from annotator.actions.judges import judges
from annotator.actions.labelling import label_sealing, labels, second_looks
from annotator.actions.papers import paper_tables
from annotator.actions.project import drafts, people
from annotator.actions.project.file import Project
from annotator.actions.releases import gathering, releases
from annotator.actions.results import composites, overview, results
from annotator.actions.results.result_raters import EACH, PEOPLE
from annotator.actions.studies import selection_ratings
from annotator.actions.undo import history
from annotator.actions.validation import judge_comparing, validation
from annotator.actions.validation.validation import ValidationQuery
from annotator.cli import drafting
from annotator.cli import items as item_commands
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Role
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.kinds.artifact import Kind
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS, TAXONOMIES
from tests.material.rated_tasks import rated_tasks
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
    found: dict[str, Any] = {}
    for rater in ("", EACH, PEOPLE):
        rows = composites.everything(project, rater, resamples=0)
        found[f"results by {rater}"] = [results.plain(row) for row in rows]
    for name in paper_tables.TABLES:
        sheets = _or_why(lambda name=name: paper_tables.report(project, name, EACH))
        found[name] = (
            sheets
            if isinstance(sheets, str)
            else [
                (one.key, [[cell.words for cell in line.cells] for line in one.lines], one.told)
                for one in sheets
            ]
        )
    for protocol in JUDGED:
        for what, asked in (
            ("compare", judge_comparing.compare),
            (
                "validation",
                lambda project, name: validation.report(project, ValidationQuery(name, resamples=10)),
            ),
        ):
            found[f"{what} {protocol}"] = _or_why(
                lambda asked=asked, name=protocol: repr(asked(project, name))
            )
    found["agreement"] = repr(agreement_report.report(project).rows)
    found["selection"] = repr(selection_ratings.report(project).chosen)
    with project.store.read() as db:
        bundle, _ = gathering.gather(db)
        found["released judgements"] = [
            (
                one.protocol,
                one.response_id,
                one.unit_id,
                one.rater_id,
                one.value,
                one.status,
                tuple(one.flags),
            )
            for one in bundle.judgements
        ]
        found["released documents"] = [(one.id, one.revision, one.sha256) for one in bundle.artifacts]
    judged = {(one[0], one[3]) for one in found["released judgements"]}
    found["released scores"] = [results.plain(row) for row in composites.released(project, judged)]
    return found


def _or_why(question: Callable[[], Any]) -> Any:
    try:
        return question()
    except Refusal as refusal:
        return refusal.happened


def _one(rng: Random, project: Project, where: str) -> str:
    question = f"SELECT id FROM artifact WHERE kind != 'labels' AND {where} ORDER BY rowid"
    found = sql.rows(project, question, (project.by,) * where.count("?"))
    if not found:
        raise Refusal("There is none.")
    return str(rng.choice(found)[0])


def _begin(rng: Random, project: Project) -> None:
    kind = rng.choice(KINDS)
    artifacts.start(project, rng.choice(items.ids(project)), kind, rng.choice((None, document(rng, kind))))


def _type(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, project, "author_id = ? AND state != 'sealed'")
    units = artifacts.read(project, artifact_id).document.units
    if not units or rng.random() < 0.3:
        artifacts.add_unit(project, artifact_id, text=rng.choice(WORDS))
    else:
        drafts.save(project, artifact_id, units[0].id, "text", "Half a sent")
        artifacts.change_unit(project, artifact_id, rng.choice(units).id, text=rng.choice(WORDS))


def _empty(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, project, "author_id = ? AND state != 'sealed'")
    for unit in artifacts.read(project, artifact_id).document.units:
        artifacts.remove_unit(project, artifact_id, unit.id)


def _reopen(rng: Random, project: Project) -> None:
    submitting.reopen(project, _one(rng, project, "author_id = ? AND state = 'sealed'"))


def _edit_gold(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, work_as(project, "Cora"), "(author_id = '' OR state = 'consensus')")
    submitting.reopen(project, artifact_id)
    unit = rng.choice(artifacts.read(project, artifact_id).document.units)
    artifacts.change_unit(project, artifact_id, unit.id, text=rng.choice(WORDS))


def _rule_again(rng: Random, project: Project) -> None:
    found = sql.rows(project, "SELECT id FROM adjudication WHERE state = 'closed' ORDER BY rowid")
    if found:
        closing.reopen(
            work_as(project, "Cleo"), adjudication := str(rng.choice(found)[0]), "It may be otherwise."
        )
        row = rng.choice(adjudication_sheets.sheet(project, adjudication).rows)
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
    second_looks.give(project, response_id, unit_id, one.name, rng.choice(("", *one.values)))


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


def act_unfinished(rng: Random, project: Project) -> list[str]:
    """Acts that submit nothing, each by somebody; those that could be done."""
    done = list[str]()
    for _ in range(ACTS):
        act, name = rng.choice(UNFINISHED), rng.choice(PEOPLE_HERE)
        try:
            act(rng, work_as(project, name))
            done.append(f"{name} {act.__name__}")
        except (Refusal, IndexError):
            continue
    assert len(done) > ACTS / 5
    return done


def moved(project: Project, before: dict[str, Any]) -> dict[str, Any]:
    after = figures(project)
    return {name: after[name] for name in before if after[name] != before[name]}


def submitted(tmp_path: Path, seed: int) -> Project:
    """A generated project in which nobody's labels wait to be submitted."""
    project = generated_project(tmp_path, seed)
    whose = [person.id for person in people.people(work_as(project, "Cora"))]
    label_sealing.submit_all(project, whose, partial=True)
    return project


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_unfinished_moves_a_figure(tmp_path: Path, seed: int) -> None:
    project = submitted(tmp_path, seed)
    before = figures(project)
    done = act_unfinished(Random(seed), project)
    assert moved(project, before) == {}, done


@pytest.mark.parametrize("seed", range(2))
def test_labels_of_a_release_count_on_while_they_are_handed_out_and_given_anew(
    tmp_path: Path, seed: int
) -> None:
    source = submitted(tmp_path, seed)
    releases.export(source, tmp_path / "release")
    project = Project.create(tmp_path / "again.goldsmith")
    imports.run(project, "goldsmith", [tmp_path / "release"])
    there = {one.id for one in people.people(project)}
    for one in people.people(source):
        if one.id in there:
            sql.alter(project, "UPDATE person SET name = ? WHERE id = ?", [one.name, one.id])
        else:
            people.add_person(project, one.name, map(Role, one.roles.split()))
    before = figures(project)
    asked = list[str]()
    for item_id in items.ids(project):
        for name in PEOPLE_HERE:
            with suppress(Refusal):
                whom = person(project, name).id
                change = assignments.assign_one(project, item_id, whom, Stage.LABELLING, protocols=JUDGED)
                asked.append(change.subject)
    assert moved(project, before) == {}
    done = act_unfinished(Random(seed), project)
    assert moved(project, before) == {}, done
    assignments.withdraw_all(project, asked)
    assert moved(project, before) == {}, done


def test_labels_of_the_sample_that_are_not_submitted_count_nowhere_until_they_are(tmp_path: Path) -> None:
    project = samples.create(tmp_path / "sample.goldsmith", to_work_in=False)
    labelled = "FROM judgement JOIN item ON item.id = item_id WHERE rater_id = ? AND key = 'early-warning'"
    mine, item_id = sql.first(project, f"SELECT count(*), item_id {labelled}", (project.by,))
    assert mine == 33

    def counted() -> int:
        with project.store.read() as db:
            bundle, _ = gathering.gather(db)
        return sum((one.item_id, one.rater_id) == (item_id, project.by) for one in bundle.judgements)

    assert counted() == 0
    label_sealing.submit(project, str(item_id))
    assert counted() == mine
    label_sealing.reopen(project, str(item_id))
    assert counted() == mine


def test_an_empty_checklist_of_somebody_else_leaves_a_tasks_score(tmp_path: Path) -> None:
    project = rated_tasks(tmp_path)
    people.add_person(project, "Ada", (Role.ANNOTATOR,), alias="Ada")
    before = [results.plain(row) for row in results.rows(project, PEOPLE, "arena.checklist", 0)]
    project.work_as(next(one for one in people.people(project) if one.alias == "Ada"))
    for item_id in items.ids(project):
        artifacts.start(project, item_id, Kind.CHECKLIST)
    assert [results.plain(row) for row in results.rows(project, PEOPLE, "arena.checklist", 0)] == before != []


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
        rows = composites.everything(project, judge, resamples=0)
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


def _write_too(project: Project) -> str:
    document_id = artifacts.start(
        work_as(project, "Ben"), item(project), Kind.RUBRIC, rubric(BEN, "b")
    ).subject
    said = gold.consequence(project, artifacts.read(project, document_id))
    submitting.seal(project, document_id)
    return said


def _write_again(project: Project) -> str:
    (artifact_id,) = sql.rows(project, "SELECT id FROM artifact")[0]
    submitting.reopen(work_as(project, "Ada"), str(artifact_id))
    said = gold.consequence(project, artifacts.read(project, str(artifact_id)))
    artifacts.change_unit(project, str(artifact_id), "a1", weight=1)
    submitting.seal(project, str(artifact_id))
    return said


def _retire(project: Project) -> str:
    items.change_all(project, {item(project): {"retired": True}})
    return " ".join(CliRunner().invoke(item_commands.app, ["retire", "--help"]).output.split())


def _use(project: Project) -> str:
    named_rubrics.use(project, "lax")
    return " ".join(CliRunner().invoke(drafting.rubrics_app, ["use", "--help"]).output.split())


TOLD_FIRST = {
    "a second author is asked": (
        _hand_out,
        "takes the scores of these items away until they are adjudicated: 1.",
    ),
    "a second author submits": (_write_too, gold.SECOND),
    "what was submitted is submitted again": (_write_again, gold.AGAIN),
    "an item is retired": (_retire, "no longer handed out, judged, scored"),
    "other rubrics are used": (_use, "scored by a set from now on"),
}


@pytest.mark.parametrize("name", TOLD_FIRST)
def test_an_act_that_changes_a_score_says_so_first(tmp_path: Path, name: str) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a")})
    response_id = add_report(work_as(project, "Cora"))
    named_rubrics.keep(project, "lax", {"1": rubric(BEN, "b")})
    values = {f"a{n}": "yes" if n < 3 else "no" for n in range(1, len(ADA) + 1)}
    adra.say(project, "researcherbench.coverage", item(project), response_id, values)
    adra.add_judge(project)

    def scores() -> list[Any]:
        rows = results.rows(work_as(project, "Cora"), "", "researcherbench.coverage", 0)
        return [results.plain(row) for row in rows]

    before, (act, words) = scores(), TOLD_FIRST[name]
    assert words in act(work_as(project, "Cora"))
    assert scores() != before != []


def test_where_a_second_author_changes_no_score_nothing_is_said(tmp_path: Path) -> None:
    project = pairs_project(tmp_path)
    assert "scores" not in _hand_out(project)
    submit(project, {"Ada": rubric(ADA, "a")})
    assert _write_too(project) == ""
