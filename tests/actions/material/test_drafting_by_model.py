"""What a model drafts for a person: theirs alone, taken unit by unit, and known for what it is for ever."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts, draft_provenance
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.items import extracts, sources
from annotator.actions.judges import judges
from annotator.actions.material import draft_runs, drafting_by_model
from annotator.actions.material.drafting_by_model import Proposal, proposals, take
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.kinds.artifact import Artifact, Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts
from tests.servers.drafting_server import (
    CRITERIA,
    JUDGE,
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
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    project = drafting_project(tmp_path, server)
    yield project
    project.close()


def ask(project: Project, kind: Kind = Kind.RUBRIC, judge: str = JUDGE, **how: Any) -> dict[str, Any]:
    order = RunRequest(judge, draft_runs.protocol_name(kind), **{"items": ("1",), "timeout_s": 5.0, **how})
    return asyncio.run(draft_runs.run(project, order))


def draft(project: Project, kind: Kind = Kind.RUBRIC) -> Proposal:
    (found,) = proposals(project, first_item(project), kind)
    return found


def own(project: Project, kind: Kind = Kind.RUBRIC) -> Artifact | None:
    mine = (a for a in artifacts_of(project, first_item(project)) if a.author_id == project.by)
    return next((a for a in mine if a.kind is kind), None)


def texts(project: Project) -> list[str]:
    artifact = own(project)
    return [unit.text for unit in artifact.document.units] if artifact else []


# Asking


def test_a_draft_is_a_proposal_and_no_document_of_anybodys(project: Project) -> None:
    ended = ask(project)
    assert (ended["state"], ended["done"], ended["total"], ended["failed"]) == ("done", 1, 1, [])
    found = draft(project)
    assert [unit.text for unit in found.left] == TEXTS
    assert (found.source.judge, found.source.model, found.taken) == (JUDGE, "test-model", frozenset())
    assert artifacts_of(project, first_item(project)) == []
    state, flags = sql.first(project, "SELECT state, flags FROM extract")
    assert (state, flags) == ("proposed", "draft quote_missing")
    assert checking.check(project).problems == []


def test_diagnostics_and_insights_are_drafted_too(project: Project) -> None:
    ask(project, Kind.DIAGNOSTICS)
    assert [(unit.text, unit.label) for unit in draft(project, Kind.DIAGNOSTICS).left] == list(STATEMENTS)
    ask(project, Kind.INSIGHTS, "baseline")
    found = draft(project, Kind.INSIGHTS)
    assert {unit.note for unit in found.left} == {"baseline: quoted from the source"}
    assert (found.source.judge, found.source.model, found.source.name) == ("baseline", "", "baseline")


def test_nobody_but_whoever_asked_is_shown_it(project: Project) -> None:
    me = people.someone(project)
    ask(project)
    project.work_as(ben(project))
    assert proposals(project) == []
    project.work_as(me)
    mine = draft(project)
    project.work_as(ben(project))
    for act in (take, drafting_by_model.refuse, drafting_by_model.confirm):
        with pytest.raises(Refusal, match="no longer exists"):
            act(project, mine.id)


def test_another_who_asks_is_not_served_the_same_from_the_journal(
    project: Project, server: OddServer
) -> None:
    ask(project)
    project.work_as(ben(project))
    ended = ask(project)
    assert (ended["reused"], len(server.bodies)) == (0, 2)
    assert sql.first(project, "SELECT count(DISTINCT origin) FROM extract") == (2,)


def test_a_draft_rests_on_what_the_person_may_see_and_on_nothing_of_a_partners(
    project: Project, server: OddServer
) -> None:
    item = first_item(project)
    secret = Insights(units=(Insight(text="Ben's secret insight."),))
    me = people.someone(project)
    project.work_as(ben(project))
    submitting.seal(project, artifacts.start(project, item, Kind.INSIGHTS, secret).subject)
    project.work_as(me)
    ask(project)
    assert "secret" not in json.dumps(server.bodies)
    drafting_by_model.refuse(project, draft(project).id)
    mine = Insights(units=(Insight(text="My own insight."),))
    artifacts.start(project, item, Kind.INSIGHTS, mine)
    ask(project)
    assert "1. My own insight." in server.bodies[-1]["messages"][1]["content"]


def test_a_draft_that_was_not_dealt_with_is_not_asked_for_again(project: Project, server: OddServer) -> None:
    ask(project)
    assert (ask(project)["judged_now"], len(server.bodies)) == (0, 1)
    drafting_by_model.refuse(project, draft(project).id)
    # A second one is another one, not the first from the journal.
    assert (ask(project)["reused"], len(server.bodies), len(proposals(project))) == (0, 2, 1)


def test_what_was_not_drafted_is_told_with_its_cause(project: Project, server: OddServer) -> None:
    ended = ask(project, items=("2",))
    assert ended["failed"] == [
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
    assert any("Item 1: unclear." in line for line in draft_runs.DraftRun.words(ask(project)))


def test_what_cannot_be_drafted_is_refused(project: Project) -> None:
    for how, words in (
        ({"items": ()}, "No items are given"),
        ({"judge": "baseline"}, "A model is needed to draft a rubric"),
        ({"items": ("9",)}, "no item “9”"),
        ({"kind": Kind.PLAN}, "Models do not draft a plan"),
    ):
        with pytest.raises(Refusal, match=words):
            ask(project, **how)
    with pytest.raises(Refusal, match="cannot be drafted"):
        asyncio.run(draft_runs.run(project, RunRequest(JUDGE, "researcherbench.insights", items=("1",))))


# Taking


def test_units_are_taken_into_a_document_of_ones_own_as_they_are_chosen(project: Project) -> None:
    ask(project)
    found = draft(project)
    first, second, third = found.document.units
    take(project, found.id, [second.id])
    assert texts(project) == [TEXTS[1]]
    again = draft(project)
    assert (again.taken, [unit.id for unit in again.left]) == ({second.id}, [first.id, third.id])
    take(project, found.id)
    assert texts(project) == [TEXTS[1], TEXTS[0], TEXTS[2]]
    assert proposals(project) == []
    document = own(project).document  # type: ignore[union-attr]
    assert [unit.weight for unit in document.units] == [2, 3, 1]
    assert document.units[1].anchor.quote == "Deep plain networks train badly."


def test_they_come_below_the_unit_at_the_cursor_and_a_blank_one_gives_way(project: Project) -> None:
    item = first_item(project)
    artifact = artifacts.start(project, item, Kind.RUBRIC, Rubric(units=(Criterion(id="blank"),))).subject
    ask(project)
    found = draft(project)
    take(project, found.id, [found.document.units[0].id], after="blank")
    assert texts(project) == TEXTS[:1]
    artifacts.add_unit(project, artifact, text="Mine.")
    take(project, found.id, after=own(project).document.units[0].id)  # type: ignore[union-attr]
    assert texts(project) == [TEXTS[0], TEXTS[1], TEXTS[2], "Mine."]


def test_a_unit_is_not_taken_twice_unless_it_was_retired(project: Project) -> None:
    ask(project)
    found = draft(project)
    unit = found.document.units[0].id
    take(project, found.id, [unit])
    with pytest.raises(Refusal, match="in your rubric already"):
        take(project, found.id, [unit])
    artifact = own(project)
    assert artifact is not None
    artifacts.remove_unit(project, artifact.id, artifact.document.units[0].id)
    take(project, found.id, [unit])
    assert texts(project) == TEXTS[:1]
    with pytest.raises(Refusal, match="has no unit “other”"):
        take(project, found.id, ["other"])


def test_the_history_names_the_model_and_the_draft_for_ever(project: Project) -> None:
    ask(project)
    found = draft(project)
    take(project, found.id)
    artifact = own(project)
    assert artifact is not None
    artifacts.change_unit(
        project, artifact.id, artifact.document.units[0].id, text="Explains it in my words."
    )
    submitting.seal(project, artifact.id)
    verbs = [revision.verb for revision in artifacts.revisions(project, artifact.id)]
    assert verbs == ["seal", "change text", f"from a model's draft: test-model {found.id[:8]}", "start"]
    with project.store.read() as db:
        drafted = draft_provenance.of_artifacts(db, [artifact.id])[artifact.id]
    assert set(drafted) == {unit.id for unit in artifact.document.units}
    assert set(drafted.values()) == {found.source}


def test_a_long_name_of_a_model_is_cut_to_what_a_verb_may_hold() -> None:
    source = draft_provenance.DraftSource("0123456789abcdef", "judge", "m" * 200)
    verb = draft_provenance.verb(source)
    assert len(verb) == 60
    assert verb.startswith("from a model's draft: mmm")
    assert verb.endswith("m… 01234567")


def test_taking_is_undone_and_done_again(project: Project) -> None:
    ask(project)
    take(project, draft(project).id)
    history.undo(project)
    assert (texts(project), len(draft(project).left)) == ([], 3)
    history.redo(project)
    assert texts(project) == TEXTS


def test_nothing_goes_into_what_is_sealed(project: Project) -> None:
    ask(project)
    found = draft(project)
    take(project, found.id, [found.document.units[0].id])
    submitting.seal(project, own(project).id)  # type: ignore[union-attr]
    with pytest.raises(Refusal, match="is sealed"):
        take(project, found.id)
    assert texts(project) == TEXTS[:1]


# Refusing and confirming


@pytest.mark.parametrize("act", [drafting_by_model.refuse, drafting_by_model.confirm])
def test_a_draft_that_was_dealt_with_is_kept_and_no_longer_shown(project: Project, act: Any) -> None:
    ask(project)
    found = draft(project)
    act(project, found.id)
    assert proposals(project) == []
    (state,) = sql.first(project, "SELECT state FROM extract")
    assert state == {"refuse": "refused", "confirm": "confirmed"}[act.__name__]
    history.undo(project)
    assert draft(project) == found


def test_a_part_that_a_person_confirmed_is_no_draft_of_theirs(project: Project) -> None:
    item = first_item(project)
    insights = Insights(units=(Insight(text="Drawn for everybody."),))
    drawn = extracts.NewExtract(item, "", Kind.INSIGHTS, insights, "judge:some")
    extracts.confirm(project, drawn_extracts.keep(project, drawn).subject)
    assert proposals(project) == []


def test_a_source_that_comes_later_can_be_drafted_from(project: Project, tmp_path: Path) -> None:
    paper = tmp_path / "later.md"
    paper.write_text("残差块把输入加到输出上。", "utf-8")
    ask(project, items=("2",))
    sources.add_source(project, sql.first(project, "SELECT id FROM item WHERE key = '2'")[0], paper)
    assert ask(project, items=("2",))["failed"] == []
    assert [one.kind for one in proposals(project)] == [Kind.RUBRIC]


def test_a_judge_whose_key_nobody_set_is_asked_for_no_draft(project: Project, server: OddServer) -> None:
    judges.add(project, "keyed", base_url=server.url, model="m", key_env="NOT_SET_ANYWHERE")
    with pytest.raises(Refusal, match=r"NOT_SET_ANYWHERE.*is not set"):
        ask(project, judge="keyed")
    assert not server.bodies
