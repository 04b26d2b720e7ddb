"""Reference material: drafted by a model from insights and sources, and a source only once a person confirmed it."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.imports import imports
from annotator.actions.items import items, sources
from annotator.actions.material import draft_runs, drafting_by_model, reference_material
from annotator.actions.parcels import packing, tasking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import recovering
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.person import Person, Role
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.writer_aid import WriterAid
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer
from tests.servers.drafting_server import ADDED, JUDGE, SAID, ben, drafting, drafting_project, first_item
from tests.storage import sql

WHOLE = f"## From the sources\n\n{SAID}\n\n## Beyond the sources\n\n{ADDED}"


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    """The person's own insights are begun on item “1”."""
    project = drafting_project(tmp_path, server)
    mine = Insights(units=(Insight(text="A block adds its input."),))
    artifacts.start(project, first_item(project), Kind.INSIGHTS, mine)
    yield project
    project.close()


def ask(project: Project, judge: str = JUDGE, item: str = "1") -> dict[str, Any]:
    order = RunRequest(judge, draft_runs.protocol_name(WriterAid.REFERENCE), items=(item,), timeout_s=5.0)
    return asyncio.run(draft_runs.run(project, order))


def asked(project: Project) -> str:
    assert ask(project)["failed"] == []
    waiting = reference_material.waiting(project, first_item(project))
    assert waiting is not None
    return waiting.proposal.id


def beside(project: Project) -> list[tuple[str, str]]:
    return [(one.title, one.text) for one in sources.sources(project, first_item(project))][1:]


def hand_out(project: Project) -> Person:
    """Ben has the rubric of the first item to write; the coordinator's person."""
    assignments.assign_one(project, first_item(project), ben(project).id, Stage.RUBRIC)
    return people.someone(project)


# Asking


def test_a_draft_of_it_is_no_source_and_no_document(project: Project, server: OddServer) -> None:
    asked(project)
    assert beside(project) == []
    assert [one.kind for one in artifacts_of(project, first_item(project))] == [Kind.INSIGHTS]
    sent = server.bodies[-1]["messages"][1]["content"]
    assert "1. A block adds its input." in sent
    assert "Deep plain networks train badly." in sent
    assert checking.check(project).problems == []


def test_without_insights_or_a_source_nothing_is_asked(project: Project, server: OddServer) -> None:
    second = items.ids(project)[1]
    assert reference_material.lacks(project, first_item(project)) == ""
    assert reference_material.lacks(project, second) == reference_material.NO_SOURCE
    assert ask(project, item="2")["failed"][0]["cause"] == "The item has no source with text."
    project.work_as(ben(project))
    assert reference_material.lacks(project, first_item(project)) == reference_material.NO_INSIGHTS
    assert ask(project)["failed"][0]["cause"] == "There are no insights yet."
    assert server.bodies == []


def test_nobody_drafts_it_without_a_model(project: Project) -> None:
    with pytest.raises(Refusal, match="A model is needed to draft reference material"):
        ask(project, "baseline")


def test_only_whoever_asked_sees_and_confirms_a_draft(project: Project) -> None:
    draft = asked(project)
    project.work_as(ben(project))
    assert reference_material.waiting(project, first_item(project)) is None
    with pytest.raises(Refusal, match="no longer exists"):
        reference_material.confirm(project, draft)
    assert beside(project) == []


# Confirming


def test_confirmed_it_lies_beside_the_item_for_everybody(project: Project) -> None:
    reference_material.confirm(project, asked(project))
    assert beside(project) == [("Reference material", WHOLE)]
    project.work_as(ben(project))
    assert beside(project) == [("Reference material", WHOLE)]
    assert checking.check(project).problems == []


def test_the_mark_and_the_history_say_which_model_and_who(project: Project) -> None:
    draft = asked(project)
    reference_material.confirm(project, draft, SAID, "")
    made = sources.sources(project, first_item(project))[-1]
    me = people.someone(project)
    assert made.drafted.startswith(f"Drafted by test-model; edited and confirmed by {me.alias} on 20")
    verb, by, after = sql.first(
        project, "SELECT verb, by, after FROM audit WHERE kind = 'source' AND subject = ?", [made.id]
    )
    assert (verb, by) == (f"from a model's draft: test-model {draft[:8]}", me.id)
    assert json.loads(after)["from_draft"] == {
        "draft": draft, "judge": JUDGE, "model": "test-model", "units": {made.id: draft},
    }  # fmt: skip


def test_unedited_it_is_not_called_edited(project: Project) -> None:
    reference_material.confirm(project, asked(project))
    assert "; confirmed by" in sources.sources(project, first_item(project))[-1].drafted


def test_what_is_typed_is_kept_until_it_is_confirmed(project: Project) -> None:
    draft = asked(project)
    reference_material.edit(project, draft, "text", "在我自己的话里。")
    reference_material.edit(project, draft, "beyond", "")
    assert recovering.recover(project) == []
    waiting = reference_material.waiting(project, first_item(project))
    assert waiting is not None
    assert (waiting.from_sources, waiting.beyond, waiting.edited) == ("在我自己的话里。", "", True)
    assert checking.check(project).problems == []
    reference_material.confirm(project, draft)
    assert beside(project) == [("Reference material", "## From the sources\n\n在我自己的话里。")]
    assert sql.first(project, "SELECT count(*) FROM draft") == (0,)


def test_it_is_confirmed_once_and_not_taken_back_unnoticed(project: Project) -> None:
    draft = asked(project)
    reference_material.confirm(project, draft)
    for _ in range(2):
        with pytest.raises(Refusal, match="no longer exists"):
            reference_material.confirm(project, draft)
    assert drafting_by_model.proposals(project) == []
    assert len(beside(project)) == 1


def test_refused_it_is_kept_aside_and_a_second_one_is_another(project: Project, server: OddServer) -> None:
    draft = asked(project)
    drafting_by_model.refuse(project, draft)
    with pytest.raises(Refusal, match="no longer exists"):
        reference_material.confirm(project, draft)
    assert sql.first(project, "SELECT state FROM extract") == ("refused",)
    reference_material.confirm(project, asked(project))
    reference_material.confirm(project, asked(project))
    assert [title for title, _ in beside(project)] == ["Reference material", "Reference material 2"]
    # Neither of the later ones was written from an earlier one.
    assert not any(SAID in body["messages"][1]["content"] for body in server.bodies)


@pytest.mark.parametrize(("text", "why"), [("  \n", "text is empty"), ("a\x00b", "The text")])
def test_an_empty_or_broken_text_is_not_confirmed(project: Project, text: str, why: str) -> None:
    draft = asked(project)
    with pytest.raises(Refusal, match=why):
        reference_material.confirm(project, draft, text, "")
    assert beside(project) == []
    assert len(drafting_by_model.proposals(project)) == 1


def test_it_is_not_taken_unit_by_unit(project: Project) -> None:
    draft = asked(project)
    for act in (drafting_by_model.take, drafting_by_model.confirm):
        with pytest.raises(Refusal, match="not a list of units"):
            act(project, draft)
    assert len(artifacts_of(project, first_item(project))) == 1


def test_where_work_is_handed_out_only_a_coordinator_confirms(project: Project) -> None:
    cora = hand_out(project)
    assert cora.has(Role.COORDINATOR)
    project.work_as(ben(project))
    insights = Insights(units=(Insight(text="Ben's own."),))
    artifacts.start(project, first_item(project), Kind.INSIGHTS, insights)
    draft = asked(project)
    assert not reference_material.may_confirm(project)
    with pytest.raises(Refusal, match="Only a coordinator can add reference material to an item"):
        reference_material.confirm(project, draft)
    project.work_as(cora)
    reference_material.confirm(project, asked(project))
    assert len(beside(project)) == 1


# Travelling


def test_it_is_packed_into_tasks_with_its_mark(project: Project, tmp_path: Path) -> None:
    hand_out(project)
    draft = asked(project)
    packing.task(project, ben(project).id, tmp_path / "before.goldsmith-task")
    reference_material.confirm(project, draft)
    packing.task(project, ben(project).id, tmp_path / "after.goldsmith-task")
    with closing(tasking.take_task(tmp_path / "before.goldsmith-task", tmp_path / "before").project) as task:
        assert beside(task) == []
    with closing(tasking.take_task(tmp_path / "after.goldsmith-task", tmp_path / "after").project) as task:
        (made,) = [one for one in sources.sources(task, first_item(task)) if one.drafted]
        assert made == sources.sources(project, first_item(project))[-1]


def test_it_leaves_with_a_release_and_comes_back_with_its_mark(project: Project, tmp_path: Path) -> None:
    reference_material.confirm(project, asked(project))
    releases.export(project, tmp_path / "out")
    written = json.loads((tmp_path / "out" / "sources.json").read_text("utf-8"))
    assert ["drafted" in one for one in written] == [False, True]
    assert "1 source was drafted by a model" in (tmp_path / "out" / "data_card.md").read_text("utf-8")
    with closing(Project.create(tmp_path / "taken.goldsmith", "taken")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        assert sources.sources(taken, first_item(project)) == sources.sources(project, first_item(project))
