"""Figures with replies read by ResearcherBench's published rule, counted by hand.

Weights are 3, 2 and 1, so a report's coverage is a number of sixths.
"""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import update

from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.results import overview
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.storage.tables import CALL
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.small_project import CRITERIA
from tests.servers.served import JUDGE, asked_about

pytestmark = pytest.mark.usefixtures("distant_judge")
FIRST, SECOND, _ = (text for text, _ in CRITERIA)


def reply(criterion: str, alpha: bool, repair: bool) -> Odd:
    """Of Alpha: no to the first, in words that hold y-e-s; yes to the rest. Of Beta: yes to all."""
    return completion(
        "No\nNothing on Bayesian analysis." if alpha and criterion == FIRST else "yes\nIt does."
    )


def refused(criterion: str, alpha: bool, repair: bool) -> Odd:
    if criterion == SECOND:
        return completion(None, refusal="I would rather not say yes.")
    return completion("yes\nIt does.")


def unclear(criterion: str, alpha: bool, repair: bool) -> Odd:
    """A repair is asked for here; the evaluator asks for none."""
    return completion("no\nIt does not." if repair else "Covered, yes.")


def judged(project: Project, server: OddServer, said: Callable[[str, bool, bool], Odd], **how: Any) -> None:
    """Have a server that knows plain text alone judge all reports."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        if "response_format" in body:
            return error(400, "response_format is not supported", param="response_format")
        messages = body["messages"]
        return said(asked_about(body)[0][1], "# Alpha" in messages[1]["content"], len(messages) > 2)

    server.answer = answer
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))


def coverage(project: Project, reading: str = "") -> dict[str, float | None]:
    rows = overview.report(project, reading=reading).rows
    return {row.system: row.estimate.value for row in rows if (row.metric, row.group) == ("coverage", "all")}


@pytest.mark.parametrize(
    ("said", "here", "by_rule"),
    [
        (reply, (0.5, 1), (1, 1)),
        # Ours over the judgements that came; theirs without the weight of 2.
        (refused, (1, 1), (4 / 6, 4 / 6)),
        (unclear, (0, 0), (1, 1)),
        (lambda *_: completion(""), (None, None), (0, 0)),
    ],
    ids=["letters inside", "refused", "before the repair", "empty"],
)
def test_coverage_is_also_computed_by_the_published_rule_where_that_is_chosen(
    project: Project, server: OddServer, said: Any, here: Any, by_rule: Any
) -> None:
    for _ in range(2):
        # A run that gets nowhere stops before its end; the second one goes on from there.
        judged(project, server, said)
    calls = len(server.bodies)
    assert tuple(coverage(project).values()) == pytest.approx(here)
    assert tuple(coverage(project, overview.PUBLIC).values()) == pytest.approx(by_rule)
    assert tuple(coverage(project).values()) == pytest.approx(here)
    assert len(server.bodies) == calls


@pytest.mark.parametrize(
    ("statement", "by_rule"),
    [
        (update(CALL).values(status="api_error", raw="yes, this key is yesterday's"), (0, 0)),
        ("UPDATE judgement SET call_id = NULL", (0.5, 1)),
    ],
    ids=["the body of an error is no reply", "no call is stored"],
)
def test_what_brought_no_reply_is_read_as_the_evaluator_would(
    project: Project, server: OddServer, statement: Any, by_rule: Any
) -> None:
    judged(project, server, reply)
    with project.store.write() as db:
        db.exec_driver_sql(statement) if isinstance(statement, str) else db.execute(statement)
    assert tuple(coverage(project, overview.PUBLIC).values()) == pytest.approx(by_rule)


def test_the_choice_is_offered_where_replies_can_be_read_and_says_what_it_did(
    project: Project, server: OddServer
) -> None:
    assert "reading" not in {choice.name for choice in overview.choices(project)}
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    assert "reading" not in {choice.name for choice in overview.choices(project)}
    judged(project, server, reply)
    shown = result_views.show(project, "overview", {"reading": overview.PUBLIC, "metric": "coverage"})
    assert any("read by the rule of ResearcherBench" in words for words in shown.sheets[0].told)
    baseline = overview.report(project, judges.named(project, "baseline").id, reading=overview.PUBLIC)
    (sheet,) = overview.sheets(baseline, "coverage")
    assert any("the rule cannot read what baseline said" in words for words in sheet.told)


def test_a_judge_that_is_asked_several_criteria_in_one_call_cannot_be_read(
    project: Project, server: OddServer
) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, together=3)))
    assert "reading" not in {choice.name for choice in overview.choices(project)}
    assert overview.everything(project, reading="public") == overview.everything(project)
