"""What a model drafts for a person: rubrics, reference material, and type and subject of an item."""

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.imports import imports
from annotator.actions.items import extracts, items, materials
from annotator.actions.judges import judges
from annotator.actions.material import model_drafts
from annotator.actions.material.model_drafts import Proposal, proposals, take
from annotator.actions.parcels import packing, tasking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.experts.assignment import Person, Stage
from annotator.domain.kinds.artifact import Artifact, Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import WriterAid
from annotator.domain.material.item import Source
from tests.common import expect_refusal
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.servers.writing_server import (
    ADDED,
    CRITERIA,
    DRAFTER as JUDGE,
    FILED,
    REASON,
    SAID,
    STATEMENTS,
    ben,
    drafting,
    drafting_project,
    first_item,
)
from tests.storage import sql

TEXTS = [text for text, _, _ in CRITERIA]


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return drafting_project(tmp_path, server)


def ask(project: Project, kind: Kind = Kind.RUBRIC, judge: str = JUDGE, **how: Any) -> dict[str, Any]:
    return asyncio.run(
        model_drafts.run(
            project,
            RunRequest(judge, model_drafts.protocol_name(kind), **{"items": ("1",), "timeout_s": 5.0, **how}),
        )
    )


def draft(project: Project, kind: Kind = Kind.RUBRIC) -> Proposal:
    (result,) = proposals(project, first_item(project), kind)
    return result


@pytest.fixture
def drafted(project: Project) -> Proposal:
    ask(project)
    return draft(project)


def own(project: Project, kind: Kind = Kind.RUBRIC) -> Artifact | None:
    mine = (a for a in annotating.artifacts_of(project, first_item(project)) if a.author_id == project.by)
    return next((a for a in mine if a.kind is kind), None)


def texts(project: Project) -> list[str]:
    artifact = own(project)
    return [unit.text for unit in artifact.document.units] if artifact else []


def test_a_draft_is_a_proposal_of_its_own(project: Project, server: OddServer) -> None:
    ended = ask(project)
    assert (ended["state"], ended["done"], ended["total"], ended["failed"]) == ("done", 1, 1, [])
    result = draft(project)
    assert [unit.text for unit in result.left] == TEXTS
    assert (result.source.judge, result.source.model, result.taken) == (JUDGE, "test-model", frozenset())
    assert annotating.artifacts_of(project, first_item(project)) == []
    state, flags = sql.first(project, "SELECT state, flags FROM extract")
    assert (state, flags) == ("proposed", "draft quote_missing")
    assert checking.check(project).problems == []
    ask(project)
    assert (ask(project)["judged_now"], len(server.bodies)) == (0, 1)
    model_drafts.refuse(project, draft(project).id)
    # A second one is another one, not the first from the journal.
    assert (ask(project)["reused"], len(server.bodies), len(proposals(project))) == (0, 2, 1)


def test_diagnostics_and_insights_are_drafted_too(project: Project) -> None:
    ask(project, Kind.DIAGNOSTICS)
    assert [(unit.text, unit.label) for unit in draft(project, Kind.DIAGNOSTICS).left] == list(STATEMENTS)
    ask(project, Kind.INSIGHTS, "baseline")
    result = draft(project, Kind.INSIGHTS)
    assert {unit.note for unit in result.left} == {"baseline: quoted from the source"}
    assert (result.source.judge, result.source.model, result.source.name) == ("baseline", "", "baseline")


def test_nobody_but_whoever_asked_is_shown_it_or_served_the_same(
    project: Project, server: OddServer, drafted: Proposal
) -> None:
    project.work_as(ben(project))
    assert proposals(project) == []
    for act in (take, model_drafts.refuse, model_drafts.confirm):
        expect_refusal("no longer exists", act, project, drafted.id)
    assert (ask(project)["reused"], len(server.bodies)) == (0, 2)
    assert sql.first(project, "SELECT count(DISTINCT origin) FROM extract") == (2,)


def test_a_draft_rests_on_what_the_person_may_see_and_on_nothing_of_a_partners(
    project: Project, server: OddServer
) -> None:
    item = first_item(project)
    secret = Insights(units=(Insight(text="Ben's secret insight."),))
    me = people.someone(project)
    project.work_as(ben(project))
    assignments.seal(project, artifacts.start(project, item, Kind.INSIGHTS, secret).subject)
    project.work_as(me)
    ask(project)
    assert "secret" not in json.dumps(server.bodies)
    model_drafts.refuse(project, draft(project).id)
    artifacts.start(project, item, Kind.INSIGHTS, Insights(units=(Insight(text="My own insight."),)))
    ask(project)
    assert "1. My own insight." in server.bodies[-1]["messages"][1]["content"]


def test_what_was_not_drafted_is_told_with_its_cause(project: Project, server: OddServer) -> None:
    assert ask(project, items=("2",))["failed"] == [
        {"item": "2", "status": "skipped", "cause": "The item has no source with text."}
    ]
    server.script(error(400, "No."))
    assert ask(project)["failed"][0]["cause"] == "The server answered 400: No."
    server.script(completion('{"criteria": []}'))
    assert ask(project)["failed"][0] == {
        "item": "1",
        "status": "unclear",
        "cause": "The model drafted nothing.",
    }
    assert proposals(project) == []


def test_what_cannot_be_drafted_is_refused(project: Project, server: OddServer) -> None:
    for how, words in (
        ({"items": ()}, "No items are given"),
        ({"judge": "baseline"}, "A model is needed to draft a rubric"),
        ({"items": ("9",)}, "no item “9”"),
        ({"kind": Kind.PLAN}, "Models do not draft a plan"),
        ({"kind": Kind.INSPIRATIONS, "piece_words": 5}, "Pieces have 100 to"),
    ):
        expect_refusal(words, ask, project, **how)
    expect_refusal(
        "cannot be drafted",
        asyncio.run,
        model_drafts.run(project, RunRequest(JUDGE, "researcherbench.insights", items=("1",))),
    )
    judges.add(project, "keyed", base_url=server.url, model="m", key_env="NOT_SET_ANYWHERE")
    expect_refusal(r"NOT_SET_ANYWHERE.*is not set", ask, project, judge="keyed")
    assert not server.bodies


def test_units_are_taken_into_a_document_of_ones_own_as_they_are_chosen(
    project: Project, drafted: Proposal
) -> None:
    first, second, third = drafted.document.units
    take(project, drafted.id, [second.id])
    assert texts(project) == [TEXTS[1]]
    again = draft(project)
    assert (again.taken, [unit.id for unit in again.left]) == ({second.id}, [first.id, third.id])
    take(project, drafted.id)
    history.undo(project)
    assert (texts(project), draft(project)) == ([TEXTS[1]], again)
    history.redo(project)
    assert proposals(project) == []
    units = own(project).document.units  # type: ignore[union-attr]
    assert [(unit.text, unit.weight) for unit in units] == [(TEXTS[1], 2), (TEXTS[0], 3), (TEXTS[2], 1)]
    assert units[1].anchor.quote == "Deep plain networks train badly."


def test_they_come_below_the_unit_at_the_cursor_and_a_blank_one_gives_way(
    project: Project, drafted: Proposal
) -> None:
    blank = Rubric(units=(Criterion(id="blank"),))
    artifact = artifacts.start(project, first_item(project), Kind.RUBRIC, blank).subject
    take(project, drafted.id, [drafted.document.units[0].id], after="blank")
    assert texts(project) == TEXTS[:1]
    artifacts.add_unit(project, artifact, text="Mine.")
    take(project, drafted.id, after=own(project).document.units[0].id)  # type: ignore[union-attr]
    assert texts(project) == [*TEXTS, "Mine."]


def test_a_unit_is_not_taken_twice_unless_it_was_retired(project: Project, drafted: Proposal) -> None:
    unit = drafted.document.units[0].id
    take(project, drafted.id, [unit])
    expect_refusal("in your rubric already", take, project, drafted.id, [unit])
    artifact = own(project)
    artifacts.remove_unit(project, artifact.id, artifact.document.units[0].id)
    take(project, drafted.id, [unit])
    assert texts(project) == TEXTS[:1]
    expect_refusal("has no unit “other”", take, project, drafted.id, ["other"])


def test_the_history_names_the_model_and_the_draft_for_ever(project: Project, drafted: Proposal) -> None:
    take(project, drafted.id, [drafted.document.units[0].id])
    artifact = own(project)
    (unit,) = artifact.document.units
    artifacts.change_unit(project, artifact.id, unit.id, text="Explains it in my words.")
    assignments.seal(project, artifact.id)
    verbs = [revision.verb for revision in artifacts.revisions(project, artifact.id)]
    assert verbs == ["seal", "change text", f"from a model's draft: test-model {drafted.id[:8]}", "start"]
    with project.store.read() as db:
        assert artifacts.of_artifacts(db, [artifact.id])[artifact.id] == {unit.id: drafted.source}
    expect_refusal("is submitted", take, project, drafted.id)
    assert texts(project) == ["Explains it in my words."]


def test_a_long_name_of_a_model_is_cut_to_what_a_verb_may_hold() -> None:
    verb = artifacts.verb(artifacts.DraftSource("0123456789abcdef", "judge", "m" * 200))
    assert (len(verb), verb[-10:]) == (60, "… 01234567")


@pytest.mark.parametrize(
    ("act", "state"), [(model_drafts.refuse, "refused"), (model_drafts.confirm, "confirmed")]
)
def test_a_draft_that_was_dealt_with_is_kept_and_no_longer_shown(
    project: Project, drafted: Proposal, act: Any, state: str
) -> None:
    act(project, drafted.id)
    assert (proposals(project), sql.first(project, "SELECT state FROM extract")) == ([], (state,))
    history.undo(project)
    assert draft(project) == drafted


def test_a_part_that_a_person_confirmed_is_no_draft_of_theirs(project: Project) -> None:
    drawn = (
        (first_item(project), ""),
        Kind.INSIGHTS,
        Insights(units=(Insight(text="Drawn for everybody."),)),
        "judge:some",
    )
    extracts.confirm(project, drawn_extracts.keep(project, *drawn).subject)
    assert proposals(project) == []


def test_a_source_that_comes_later_can_be_drafted_from(project: Project, tmp_path: Path) -> None:
    paper = tmp_path / "later.md"
    paper.write_text("残差块把输入加到输出上。", "utf-8")
    ask(project, items=("2",))
    items.add_source(project, sql.first(project, "SELECT id FROM item WHERE key = '2'")[0], paper)
    assert ask(project, items=("2",))["failed"] == []
    assert [proposal.kind for proposal in proposals(project)] == [Kind.RUBRIC]


@pytest.fixture
def begun(tmp_path: Path, server: OddServer) -> Project:
    begun = drafting_project(tmp_path, server)
    mine = Insights(units=(Insight(text="A block adds its input."),))
    artifacts.start(begun, first_item(begun), Kind.INSIGHTS, mine)
    return begun


def ask_reference(begun: Project, judge: str = JUDGE, item: str = "1") -> dict[str, Any]:
    return asyncio.run(
        model_drafts.run(
            begun,
            RunRequest(judge, model_drafts.protocol_name(WriterAid.REFERENCE), items=(item,), timeout_s=5.0),
        )
    )


def asked(begun: Project) -> str:
    assert ask_reference(begun)["failed"] == []
    return model_drafts.waiting(begun, first_item(begun)).proposal.id


def beside(begun: Project) -> list[tuple[str, str]]:
    return [(source.title, source.text) for source in items.sources(begun, first_item(begun))][1:]


def hand_out(begun: Project) -> Person:
    assignments.assign_one(begun, first_item(begun), ben(begun).id, Stage.RUBRIC)
    return people.someone(begun)


def test_a_draft_is_no_source_until_its_owner_confirms_it_once_for_everybody(
    begun: Project, server: OddServer
) -> None:
    draft, me = asked(begun), people.someone(begun)
    sent = server.bodies[-1]["messages"][1]["content"]
    assert "1. A block adds its input." in sent
    assert "Deep plain networks train badly." in sent
    for act in (model_drafts.take, model_drafts.confirm):
        expect_refusal("not a list of units", act, begun, draft)
    assert [artifact.kind for artifact in annotating.artifacts_of(begun, first_item(begun))] == [
        Kind.INSIGHTS
    ]
    begun.work_as(ben(begun))
    assert model_drafts.waiting(begun, first_item(begun)) is None
    expect_refusal("no longer exists", model_drafts.confirm_material, begun, draft)
    assert (beside(begun), checking.check(begun).problems) == ([], [])
    begun.work_as(me)
    model_drafts.confirm_material(begun, draft)
    expect_refusal("no longer exists", model_drafts.confirm_material, begun, draft)
    assert model_drafts.proposals(begun) == []
    assert "; confirmed by" in items.sources(begun, first_item(begun))[-1].drafted
    begun.work_as(ben(begun))
    assert beside(begun) == [
        ("Reference material", f"## From the sources\n\n{SAID}\n\n## Beyond the sources\n\n{ADDED}")
    ]
    assert checking.check(begun).problems == []


def test_reference_material_is_asked_for_by_a_model(begun: Project, server: OddServer) -> None:
    second = items.ids(begun)[1]
    assert model_drafts.lacks(begun, first_item(begun)) == ""
    assert model_drafts.lacks(begun, second) == model_drafts.NO_SOURCE
    assert ask_reference(begun, item="2")["failed"][0]["cause"] == "The item has no source with text."
    begun.work_as(ben(begun))
    assert model_drafts.lacks(begun, first_item(begun)) == model_drafts.NO_INSIGHTS
    assert ask_reference(begun)["failed"][0]["cause"] == "There are no insights yet."
    assert server.bodies == []
    expect_refusal("A model is needed to draft reference material", ask_reference, begun, "baseline")


def test_the_mark_and_the_history_say_which_model_and_who(begun: Project) -> None:
    draft = asked(begun)
    model_drafts.confirm_material(begun, draft, SAID, "")
    made = items.sources(begun, first_item(begun))[-1]
    me = people.someone(begun)
    assert made.drafted.startswith(f"Drafted by test-model; edited and confirmed by {me.alias} on 20")
    verb, by, after = sql.first(
        begun, "SELECT verb, by, after FROM audit WHERE kind = 'source' AND subject = ?", [made.id]
    )
    assert (verb, by) == (f"from a model's draft: test-model {draft[:8]}", me.id)
    assert json.loads(after)["from_draft"] == {
        "draft": draft, "judge": JUDGE, "model": "test-model", "units": {made.id: draft},
    }  # fmt: skip


def test_what_is_typed_is_kept_until_it_is_confirmed(begun: Project) -> None:
    draft = asked(begun)
    model_drafts.edit(begun, draft, "text", "在我自己的话里。")
    model_drafts.edit(begun, draft, "beyond", "")
    assert history.recover(begun) == []
    waiting = model_drafts.waiting(begun, first_item(begun))
    assert (waiting.from_sources, waiting.beyond, waiting.edited) == ("在我自己的话里。", "", True)
    assert checking.check(begun).problems == []
    model_drafts.confirm_material(begun, draft)
    assert beside(begun) == [("Reference material", "## From the sources\n\n在我自己的话里。")]
    assert sql.first(begun, "SELECT count(*) FROM draft") == (0,)


def test_refused_it_is_kept_aside_and_a_second_one_is_another(begun: Project, server: OddServer) -> None:
    draft = asked(begun)
    model_drafts.refuse(begun, draft)
    expect_refusal("no longer exists", model_drafts.confirm_material, begun, draft)
    assert sql.first(begun, "SELECT state FROM extract") == ("refused",)
    model_drafts.confirm_material(begun, asked(begun))
    model_drafts.confirm_material(begun, asked(begun))
    assert [title for title, _ in beside(begun)] == ["Reference material", "Reference material 2"]
    # Neither of the later ones was written from an earlier one.
    assert not any(SAID in body["messages"][1]["content"] for body in server.bodies)


@pytest.mark.parametrize(("text", "why"), [("  \n", "text is empty"), ("a\x00b", "The text")])
def test_an_empty_or_broken_text_is_not_confirmed(begun: Project, text: str, why: str) -> None:
    expect_refusal(why, model_drafts.confirm_material, begun, asked(begun), text, "")
    assert (beside(begun), len(model_drafts.proposals(begun))) == ([], 1)


def test_where_work_is_handed_out_only_a_coordinator_confirms(begun: Project) -> None:
    cora = hand_out(begun)
    begun.work_as(ben(begun))
    artifacts.start(begun, first_item(begun), Kind.INSIGHTS, Insights(units=(Insight(text="Ben's own."),)))
    assert not model_drafts.may_confirm(begun)
    refusal = "Only a coordinator can add reference material to an item"
    expect_refusal(refusal, model_drafts.confirm_material, begun, asked(begun))
    begun.work_as(cora)
    model_drafts.confirm_material(begun, asked(begun))
    assert len(beside(begun)) == 1


def test_it_is_packed_into_tasks_with_its_mark(begun: Project, tmp_path: Path) -> None:
    def sources_in(name: str) -> list[Source]:
        path = packing.task(begun, ben(begun).id, tmp_path / f"{name}.goldsmith-task").path
        with closing(tasking.take_task(path, tmp_path / name).project) as task:
            return items.sources(task, first_item(task))[1:]

    hand_out(begun)
    draft = asked(begun)
    assert sources_in("before") == []
    model_drafts.confirm_material(begun, draft)
    materials.describe(
        begun,
        materials.Thing.SOURCE,
        {items.sources(begun, first_item(begun))[-1].id: {"kind": "research", "published": "2024-05"}},
    )
    assert sources_in("after") == items.sources(begun, first_item(begun))[1:] != []


def test_it_leaves_with_a_release_and_comes_back_with_its_mark(begun: Project, tmp_path: Path) -> None:
    model_drafts.confirm_material(begun, asked(begun))
    releases.export(begun, tmp_path / "out")
    assert [
        "drafted" in one for one in json.loads((tmp_path / "out" / "sources.json").read_text("utf-8"))
    ] == [False, True]
    assert "1 source was drafted by a model" in (tmp_path / "out" / "README.md").read_text("utf-8")
    with closing(Project.create(tmp_path / "taken.goldsmith", "taken")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        assert items.sources(taken, first_item(begun)) == items.sources(begun, first_item(begun))


@pytest.fixture
def unfiled(tmp_path: Path, server: OddServer) -> Project:
    unfiled = drafting_project(tmp_path, server)
    items.change_all(unfiled, {item: {"question_type": "", "subject": ""} for item in items.ids(unfiled)})
    items.change(unfiled, items.ids(unfiled)[1], subject="Scaling")
    return unfiled


def ask_class(unfiled: Project, judge: str = JUDGE, item: str = "1") -> list[dict[str, Any]]:
    order = RunRequest(
        judge, model_drafts.protocol_name(WriterAid.CLASSIFICATION), items=(item,), timeout_s=5.0
    )
    return list(asyncio.run(model_drafts.run(unfiled, order))["failed"])


def filed(unfiled: Project) -> tuple[str, str]:
    item = items.read(unfiled, first_item(unfiled))
    return item.question_type, item.subject


def waiting(unfiled: Project) -> str:
    return model_drafts.unconfirmed_classes(unfiled, first_item(unfiled)).id


def test_letter_3_a_class_is_drafted_confirmed_and_undone(unfiled: Project, server: OddServer) -> None:
    expect_refusal("A model is needed to draft a classification", ask_class, unfiled, "baseline")
    assert ask_class(unfiled) == []
    drawn = model_drafts.proposed_class(model_drafts.unconfirmed_classes(unfiled, first_item(unfiled)))
    assert (drawn.question_type, drawn.subject, drawn.text) == (*FILED, REASON)
    assert filed(unfiled) == ("", "")
    sent = server.bodies[-1]["messages"][1]["content"]
    assert "- Literature Review: The question asks what has been written" in sent
    assert "- Scaling" in sent
    change = model_drafts.confirm_class(unfiled, waiting(unfiled))
    assert (filed(unfiled), change.verb.partition(":")[0]) == (FILED, "from a model's draft")
    assert model_drafts.unconfirmed_classes(unfiled, first_item(unfiled)) is None
    history.undo(unfiled)
    assert filed(unfiled) == ("", "")


def test_letter_3_a_person_may_confirm_another_type(unfiled: Project) -> None:
    ask_class(unfiled)
    model_drafts.confirm_class(unfiled, draft := waiting(unfiled), {"question_type": "Open Consulting"})
    assert filed(unfiled) == ("Open Consulting", FILED[1])
    expect_refusal("no longer exists", model_drafts.confirm_class, unfiled, draft)


def test_letter_3_only_who_may_change_items_confirms(unfiled: Project) -> None:
    unfiled.work_as(ben(unfiled))
    ask_class(unfiled)
    expect_refusal("change items", model_drafts.confirm_class, unfiled, waiting(unfiled))
    assert (filed(unfiled), bool(waiting(unfiled))) == (("", ""), True)


def test_letter_3_a_type_that_the_project_does_not_have_is_no_draft(
    unfiled: Project, server: OddServer
) -> None:
    server.answer = lambda *_: completion(
        '{"reason": "It is one.", "question_type": "Riddle", "subject": "Sphinx"}'
    )
    (failed,) = ask_class(unfiled)
    assert (failed["status"], "“Riddle”" in failed["cause"]) == ("unclear", True)
    assert model_drafts.unconfirmed_classes(unfiled, first_item(unfiled)) is None
