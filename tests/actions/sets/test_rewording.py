"""Criteria worded anew: only they are judged again, what was said of the old words no longer counts, ids stay."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.adjudication import closing, ruling
from annotator.actions.adjudication.adjudication_sheets import sheet
from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import judged_artifact
from annotator.actions.items import materials
from annotator.actions.judging import judge_queue, judge_runs, missing
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import gathering
from annotator.actions.results import result_raters
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.sets import rejudging, rewording, validation_values
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Artifact, Kind, State
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import PROTOCOLS
from tests.judging.odd_server import OddServer
from tests.projects import pairs_project
from tests.projects.small_project import CRITERIA, small_project
from tests.projects.verdicts_project import PLAN, protocols_project
from tests.servers.served import JUDGE, add_judge, asked_about

COVERAGE = "researcherbench.coverage"
OLD, NEW = CRITERIA[1][0], "Compares how stable training is with and without them"


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    """A judge has judged all twelve; then nothing was asked any more."""
    project = small_project(tmp_path)
    add_judge(project, server)
    run(project)
    server.bodies.clear()
    yield project
    project.close()


def run(project: Project, order: RunRequest | None = None) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(project, order or RunRequest(JUDGE)))


def rubric(project: Project, place: int = 0) -> Artifact:
    with project.store.read() as db:
        found = judged_artifact(db, materials.item_ids(project)[place], Kind.RUBRIC)
    assert found is not None
    return found


def word(project: Project, text: str = NEW) -> None:
    of = rubric(project)
    rewording.word(project, COVERAGE, of.item_id, of.document.units[1].id, text)


def came(project: Project) -> int:
    judge = result_raters.raters(project)[0]
    return len(list(result_raters.spoken(project, PROTOCOLS[COVERAGE], judge.id)))


def test_a_new_version_is_sealed_in_which_only_these_words_differ(project: Project) -> None:
    before = rubric(project)
    word(project)
    after = rubric(project)
    assert [unit.text for unit in after.document.units] == [CRITERIA[0][0], NEW, CRITERIA[2][0]]
    assert [unit.id for unit in after.document.units] == [unit.id for unit in before.document.units]
    assert (after.id, after.state) == (before.id, State.SEALED)


def test_only_what_was_worded_anew_is_asked_again(project: Project, server: OddServer) -> None:
    word(project)
    (again,) = rejudging.waiting(project)
    assert (again.judgements, again.units, again.order.items) == (2, 1, ("1",))
    ended = run(project, again.order)
    assert (ended["judged_now"], ended["total"]) == (2, 6)
    assert [words for body in server.bodies for _, words in asked_about(body)] == [NEW, NEW]
    assert rejudging.waiting(project) == []
    with pytest.raises(Refusal, match="current wording"):
        rejudging.order(project, JUDGE, COVERAGE)


def test_an_ordinary_run_finds_the_same_to_do(project: Project, server: OddServer) -> None:
    word(project)
    assert judge_runs.plan(project, RunRequest(JUDGE)).to_do == 2
    run(project)
    assert [words for body in server.bodies for _, words in asked_about(body)] == [NEW, NEW]
    assert judge_runs.plan(project, RunRequest(JUDGE)).to_do == 0


def test_what_was_said_of_the_old_words_is_missing_and_says_why(project: Project) -> None:
    assert came(project) == 12
    word(project)
    assert came(project) == 10
    (version,) = validation_values.of_judges(project, PROTOCOLS[COVERAGE])
    assert (len(version.said), set(version.missing.values())) == (10, {"reworded"})
    listed = missing.lines(project, status="reworded")
    assert [(line.item, line.status) for line in listed] == [("1", "reworded")] * 2
    rows = result_raters.judgements(project, PROTOCOLS[COVERAGE], version.judge.id, rubric(project).item_id)
    assert sorted(row["status"].value if row["value"] is None else "ok" for row in rows) == [
        "ok", "ok", "ok", "ok", "skipped", "skipped",
    ]  # fmt: skip


def test_a_release_leaves_out_what_was_said_of_the_old_words(project: Project) -> None:
    word(project)
    with project.store.read() as db:
        bundle, notes = gathering.gather(db)
    assert len(bundle.judgements) == 10
    assert notes == ["2 judgements on units that were reworded since were left out."]


def test_words_that_are_put_back_count_again(project: Project) -> None:
    word(project)
    word(project, OLD)
    assert (came(project), rejudging.waiting(project)) == (12, [])


def test_a_weight_is_no_wording(project: Project) -> None:
    of = rubric(project)
    submitting.reopen(project, of.id)
    artifacts.change_unit(project, of.id, of.document.units[1].id, weight=3)
    submitting.seal(project, of.id)
    assert came(project) == 12


def test_a_reply_about_words_that_changed_while_it_was_asked_for_is_no_verdict(
    project: Project, server: OddServer
) -> None:
    word(project)
    answer = server.answer

    def meanwhile(body: dict[str, Any], number: int) -> Any:
        if not reworded:
            reworded.append(True)
            other = Project.open(project.path)
            people.someone(other)
            word(other, "Compares something else again")
            other.close()
        return answer(body, number)

    reworded: list[bool] = []
    server.answer = meanwhile
    run(project, RunRequest(JUDGE, systems=("Alpha",), items=("1",), concurrency=1))
    assert came(project) == 10
    (version,) = validation_values.of_judges(project, PROTOCOLS[COVERAGE])[:1]
    assert "skipped" in version.missing.values() or "reworded" in version.missing.values()


def test_the_order_waits_in_the_queue_once(project: Project) -> None:
    word(project)
    rejudging.queue_up(project, JUDGE, COVERAGE)
    assert [one.order.items for one in judge_queue.waiting(project)] == [("1",)]
    with pytest.raises(Refusal, match="is already queued"):
        rejudging.queue_up(project, JUDGE, COVERAGE)


def test_words_that_do_not_change_make_no_version(project: Project) -> None:
    for text in (OLD, "  "):
        with pytest.raises(Refusal, match="its current wording"):
            word(project, text)
    assert rubric(project).revision == 2


def test_who_did_not_write_a_rubric_is_told_whom_to_ask(project: Project) -> None:
    of = rubric(project)
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE artifact SET author_id = 'gone' WHERE id = ?", (of.id,))
    way = rewording.way(project, COVERAGE, of.item_id, of.document.units[0].id)
    assert (way.page, "wrote this rubric" in way.refused) == ("Author", True)
    with pytest.raises(Refusal, match="wrote this rubric"):
        word(project)


def test_a_gold_sub_task_is_worded_anew_through_any_of_its_cells(tmp_path: Path) -> None:
    project = protocols_project(tmp_path)
    shape = PROTOCOLS[PLAN]
    (version,) = validation_values.of_judges(project, shape)
    cell = next(unit for _, unit in version.said)
    rewording.word(project, PLAN, materials.item_ids(project)[0], cell, "Gather every report there is.")
    (version,) = validation_values.of_judges(project, shape)
    # Two sub-tasks of the system stand against the one that changed, and against two that did not.
    assert (list(version.missing.values()), len(version.said)) == (["reworded"] * 2, 4)
    project.close()


# A consensus


@pytest.fixture
def settled(tmp_path: Path) -> Iterator[Project]:
    """A consensus of two rubrics, closed by Cleo, who coordinates too."""
    project = pairs_project.rubrics_project(tmp_path)
    found = pairs_project.opened(project)
    for row in sheet(project, found).rows:
        letter = "A" if "A" in row.ruling.members else "B"
        if row.ruling.open:
            ruling.rule(project, row.ruling.id, letter, reason="scope")
    closing.close(project, found)
    project.work_as(pairs_project.person(project, "Cora"))
    cleo = pairs_project.person(project, "Cleo")
    people.set_roles(project, cleo.id, (Role.COORDINATOR, Role.ADJUDICATOR))
    pairs_project.work_as(project, "Cleo")
    yield project
    project.close()


def test_a_consensus_is_reopened_and_closed_as_its_next_version(settled: Project) -> None:
    before = rubric(settled)
    unit = before.document.units[2]
    rewording.word(settled, COVERAGE, before.item_id, unit.id, "Names two datasets", "Ruled unclear twice.")
    after = rubric(settled)
    assert [one.id for one in after.document.units] == [one.id for one in before.document.units]
    changed = [
        (a.text, b.text) for a, b in zip(before.document.units, after.document.units, strict=True) if a != b
    ]
    assert changed == [(unit.text, "Names two datasets")]
    assert rewording.way(settled, COVERAGE, before.item_id, unit.id).page == "Adjudicate"


def test_who_may_not_adjudicate_is_told_so_and_nothing_changes(settled: Project) -> None:
    pairs_project.work_as(settled, "Cora")
    of = rubric(settled)
    assert rewording.way(settled, COVERAGE, of.item_id, of.document.units[0].id).refused
    with pytest.raises(Refusal, match="omeone else"):
        rewording.word(settled, COVERAGE, of.item_id, of.document.units[0].id, "Other words")
    assert rubric(settled) == of
