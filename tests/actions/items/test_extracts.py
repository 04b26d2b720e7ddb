"""What was drawn from a response: whose version stands, how a person corrects it, and that nothing is lost."""

import pytest

from annotator.actions.items import drawn_parts, extracts, items
from annotator.actions.items.extracts import NewExtract
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.kinds.plan import Plan, Subtask
from annotator.domain.material.extract import ExtractState, by_judge
from annotator.domain.material.part import Claim, Claims, ResponsePart
from annotator.domain.texts.refusal import Refusal
from tests.material import drawn_extracts
from tests.storage import sql

JUDGE, OTHER = by_judge("judge-1"), by_judge("judge-2")


def response(project: Project) -> tuple[str, str]:
    question = "SELECT item_id, id FROM response ORDER BY rowid LIMIT 1"
    return sql.first(project, question)


def plan(*steps: str) -> Plan:
    return Plan(units=tuple(Subtask(id=f"s{n}", text=text) for n, text in enumerate(steps)))


def keep(project: Project, document: Plan, origin: str) -> str:
    return drawn_extracts.keep(
        project, NewExtract(*response(project), ResponsePart.PLAN, document, origin)
    ).subject


def standing(project: Project) -> list[str]:
    found = drawn_extracts.parts_of(project, response(project)[1])[ResponsePart.PLAN]
    return [unit.text for unit in found.document.units]


def test_what_a_judge_drew_is_proposed_and_stands_until_somebody_knows_better(project: Project) -> None:
    keep(project, plan("Search."), JUDGE)
    (found,) = drawn_extracts.all_of(project, response(project)[1])
    assert (found.kind, found.origin, found.state) == ("plan", JUDGE, ExtractState.PROPOSED)
    assert found.document == plan("Search.")
    assert standing(project) == ["Search."]


def test_what_no_person_has_looked_at_waits(project: Project) -> None:
    extract_id = keep(project, plan("Search."), JUDGE)
    assert drawn_parts.waiting(project) == {"plan": 1}
    extracts.confirm(project, extract_id)
    assert drawn_parts.waiting(project) == {}


def test_of_an_item_out_of_use_nothing_waits(project: Project) -> None:
    keep(project, plan("Search."), JUDGE)
    items.change(project, response(project)[0], retired=True)
    assert drawn_parts.waiting(project) == {}


def test_a_persons_version_stands_before_an_imported_one_before_a_judges(project: Project) -> None:
    keep(project, plan("Imported."), "import")
    keep(project, plan("Drawn."), JUDGE)
    assert standing(project) == ["Imported."]
    drawn_extracts.write(project, response(project)[1], ResponsePart.PLAN, plan("Written."))
    assert standing(project) == ["Written."]
    assert [found.origin.split(":")[0] for found in drawn_extracts.all_of(project, response(project)[1])] == [
        "person", "import", "judge",
    ]  # fmt: skip


def test_of_two_judges_the_confirmed_one_stands_then_the_later(project: Project) -> None:
    first = keep(project, plan("First."), JUDGE)
    keep(project, plan("Second."), OTHER)
    assert standing(project) == ["Second."]
    extracts.confirm(project, first)
    assert standing(project) == ["First."]
    (found, _) = drawn_extracts.all_of(project, response(project)[1])
    assert (found.state, found.by) == (ExtractState.CONFIRMED, project.by)


def test_the_same_origin_has_one_version_and_its_row_keeps_its_id(project: Project) -> None:
    first = keep(project, plan("First."), JUDGE)
    assert keep(project, plan("Second."), JUDGE) == first
    assert standing(project) == ["Second."]


def test_writing_is_undone_and_done_again(project: Project) -> None:
    keep(project, plan("Drawn."), JUDGE)
    drawn_extracts.write(project, response(project)[1], ResponsePart.PLAN, plan("Written."))
    drawn_extracts.write(project, response(project)[1], ResponsePart.PLAN, plan("Written better."))
    history.undo(project)
    assert standing(project) == ["Written."]
    history.undo(project)
    assert standing(project) == ["Drawn."]
    history.redo(project)
    assert standing(project) == ["Written."]
    assert checking.check(project).problems == []


def test_what_has_been_judged_by_is_not_taken_back(project: Project) -> None:
    item_id, response_id = response(project)
    written = drawn_extracts.write(project, response_id, ResponsePart.PLAN, plan("Written.")).subject
    sql.alter(
        project,
        "INSERT INTO judgement (id, protocol, item_id, response_id, artifact_id, unit_id, rater_kind, rater_id, trial, "
        "status, rationale, quote, note, flags, cause, at, sha256) "
        "VALUES ('j', 'p', ?, ?, ?, 's0', 'judge', 'r', 1, 'ok', '', '', '', '', '', '2026-01-01', 'x')",
        [item_id, response_id, written],
    )
    with pytest.raises(Refusal, match="judged since"):
        history.undo(project)


def test_a_document_of_another_kind_or_with_an_id_twice_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="cannot be a Claims"):
        keep(project, Claims(units=(Claim(text="x"),)), JUDGE)  # type: ignore[arg-type]
    with pytest.raises(Refusal, match="the same id"):
        keep(project, Plan(units=(Subtask(id="s"), Subtask(id="s"))), JUDGE)
    assert drawn_extracts.parts_of(project, response(project)[1]) == {}


def test_what_is_gone_cannot_be_confirmed(project: Project) -> None:
    with pytest.raises(Refusal, match="no longer exists"):
        extracts.confirm(project, "nothing")


def test_what_is_drawn_from_an_item_is_kept_apart_from_its_responses(project: Project) -> None:
    item_id = items.ids(project)[0]
    found = Insights(units=(Insight(text="Depth helps."),))
    drawn_extracts.keep(project, NewExtract(item_id, "", Kind.INSIGHTS, found, JUDGE))
    assert drawn_extracts.of_item(project, item_id)[Kind.INSIGHTS].document == found
    assert drawn_extracts.parts_of(project, response(project)[1]) == {}
