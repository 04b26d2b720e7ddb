"""Stored replies under ResearcherBench's published rule: what changes and by how much, counted by hand.

Weights are 3, 2 and 1, so a report's coverage is a number of sixths.
"""

import asyncio
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.runs.journal import CALL
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import result_views
from annotator.actions.validation import rule_replay
from annotator.actions.validation.rule_readings import NO_REPLY, PLAIN, STRUCTURED
from annotator.actions.validation.rule_replay import RuleReplay, replay
from annotator.actions.validation.validation_views import VIEWS
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from annotator.protocols.researcherbench.public_rule import RulePart
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.small_project import CRITERIA, small_project
from tests.servers.served import JUDGE, asked_about

pytestmark = pytest.mark.usefixtures("distant_judge")
FIRST, SECOND, THIRD = (text for text, _ in CRITERIA)
BAYES = "No\nThe report never mentions the Bayesian analysis"


def in_words(said: Callable[[str, str], Odd]) -> Callable[[dict[str, Any], int], Odd]:
    """A server that knows plain text alone, and answers by criterion and report."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        if "response_format" in body:
            return error(400, "response_format is not supported", param="response_format")
        system = "Alpha" if "# Alpha" in body["messages"][1]["content"] else "Beta"
        return said(asked_about(body)[0][1], system)

    return answer


def judged(project: Project, **how: Any) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))


def bayesian(criterion: str, system: str) -> Odd:
    """Of Alpha: no to the first, in words that hold y-e-s; yes to the rest. Of Beta: yes to all."""
    return completion(BAYES if (criterion, system) == (FIRST, "Alpha") else "yes\nIt does.")


def coverage(found: RuleReplay) -> dict[str, tuple[float | None, float | None]]:
    return {line.system: (line.ours.value, line.theirs.value) for line in found.systems}


def test_a_no_about_the_bayesian_analysis_becomes_a_yes(project: Project, server: OddServer) -> None:
    server.answer = in_words(bayesian)
    judged(project)
    found = replay(project)
    assert found.directions == {"no → yes": 2}
    assert found.replies == {PLAIN: 12}
    one = found.changed[0]
    assert (one.item, one.system, one.unit, one.weight) == ("1", "Alpha", FIRST, 3.0)
    assert (one.ours, one.theirs, one.shown, one.how) == (
        "no",
        "yes",
        "Ba-yes-ian",
        RulePart.YES_INSIDE.value,
    )
    assert one.raw == BAYES


def test_the_scores_of_both_rules_stand_beside_their_difference(project: Project, server: OddServer) -> None:
    server.answer = in_words(bayesian)
    judged(project)
    found = replay(project)
    # Without the criterion of weight 3 half the weight is covered.
    assert coverage(found) == {"Alpha": (0.5, 1.0), "Beta": (1.0, 1.0)}
    alpha = next(line for line in found.systems if line.system == "Alpha")
    assert (alpha.difference.value, alpha.difference.n, alpha.changed) == (0.5, 2, 2)
    assert (alpha.place, alpha.place_theirs) == (2, 1)
    assert [(line.item, line.system, line.difference.value) for line in found.reports] == [
        ("1", "Alpha", 0.5),
        ("2", "Alpha", 0.5),
    ]


def test_our_scores_are_those_of_the_results(project: Project, server: OddServer) -> None:
    server.answer = in_words(bayesian)
    judged(project)
    shown = {row.system: row.estimate for row in results.rows(project) if row.group == "all"}
    for line in replay(project).systems:
        assert line.ours == shown[line.system]


def test_what_is_missing_here_counts_as_not_covered_there(project: Project, server: OddServer) -> None:
    def refusing(criterion: str, system: str) -> Odd:
        if criterion == SECOND:
            return completion(None, refusal="I would rather not say yes.")
        return completion("yes\nIt does.")

    server.answer = in_words(refusing)
    judged(project)
    found = replay(project)
    assert found.directions == {"missing → no": 4}
    assert {one.how for one in found.changed} == {RulePart.FAILED.value}
    assert {one.status for one in found.changed} == {"refused"}
    # Ours over the judgements that came, as the results have it; theirs without the weight of 2.
    assert coverage(found)["Alpha"] == (1.0, pytest.approx(4 / 6))
    assert found.replies == {PLAIN: 8, NO_REPLY: 4}


def test_the_body_of_an_error_is_no_reply(project: Project, server: OddServer) -> None:
    server.answer = in_words(lambda criterion, system: completion("no\nNothing."))
    judged(project)
    with project.store.write() as db:
        db.execute(update(CALL).values(status="api_error", raw="yes, this key is yesterday's"))
    assert replay(project).replies == {NO_REPLY: 12}
    assert not replay(project).changed


def test_an_unreadable_reply_is_read_as_it_first_came(project: Project, server: OddServer) -> None:
    """A repair is asked for here; the evaluator asks for none."""

    def unclear(criterion: str, system: str) -> Odd:
        asked_again = len(server.bodies[-1]["messages"]) > 2
        return completion("no\nIt does not." if asked_again else "Covered, yes.")

    server.answer = in_words(unclear)
    judged(project, systems=("Alpha",), items=("1",))
    found = replay(project)
    assert found.directions == {"no → yes": 3}
    assert {one.raw for one in found.changed} == {"Covered, yes."}


def test_an_empty_reply_holds_neither(project: Project, server: OddServer) -> None:
    server.answer = in_words(lambda criterion, system: completion(""))
    judged(project, systems=("Alpha",), items=("1",))
    found = replay(project)
    assert found.directions == {"missing → no": 3}
    assert {one.how for one in found.changed} == {RulePart.NEITHER.value}


def test_replies_in_json_are_told_apart(project: Project, server: OddServer) -> None:
    words = {"quote": "", "rationale": "Nothing since yesterday.", "covered": "no"}
    server.answer = lambda body, number: completion(json.dumps(words))
    judged(project)
    found = replay(project)
    assert found.replies == {STRUCTURED: 12}
    assert found.directions == {"no → yes": 12}
    assert any("0 of these are replies in plain text" in line for line in found.words())


def test_a_judgement_without_a_kept_call_counts_as_it_does_here(project: Project, server: OddServer) -> None:
    server.answer = in_words(bayesian)
    judged(project)
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE judgement SET call_id = NULL WHERE value = 'no'")
    found = replay(project)
    assert (found.unread, found.changed) == (2, ())
    assert coverage(found) == {"Alpha": (0.5, 0.5), "Beta": (1.0, 1.0)}


def test_nothing_is_written_and_nobody_is_called(project: Project, server: OddServer) -> None:
    server.answer = in_words(bayesian)
    judged(project)
    before, calls = project.path.read_bytes(), len(server.bodies)
    replay(project)
    assert (project.path.read_bytes(), len(server.bodies)) == (before, calls)


def test_the_report_is_json_as_it_stands(project: Project, server: OddServer) -> None:
    server.answer = in_words(bayesian)
    judged(project)
    tree = json.loads(json.dumps(replay(project).tree(), allow_nan=False))
    assert tree["changed"][0]["direction"] == "no → yes"
    assert tree["systems"][0]["difference"]["method"].startswith("mean over items")


def test_a_judge_that_asks_no_model_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="No judge behind an endpoint"):
        replay(project)
    with pytest.raises(Refusal, match="asks no model"):
        replay(project, "baseline")
    derived_judges.add(project, "vote", [JUDGE])
    with pytest.raises(Refusal, match="asks no model"):
        replay(project, "vote")
    with pytest.raises(Refusal, match="No call of “distant”"):
        replay(project, JUDGE)


def test_a_judge_that_is_asked_together_is_refused(project: Project) -> None:
    judged(project, together=3)
    together = next(judge.name for judge in judges.all_of(project) if judge.asked.together == 3)
    with pytest.raises(Refusal, match="several criteria in one call"):
        replay(project, together)


def test_whoever_may_have_to_judge_blind_is_told_nothing(project: Project, server: OddServer) -> None:
    judged(project)
    project.work_as(people.known(project, people.add_person(project, "Ann", (Role.ANNOTATOR,)).subject))
    with pytest.raises(Refusal, match="Only a coordinator"):
        rule_replay.replay(project)


@pytest.fixture
def sheets(project: Project, server: OddServer, distant_judge: None) -> tuple[ResultSheet, ...]:
    server.answer = in_words(bayesian)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    return result_views.show(project, "replay", {}, among=VIEWS).sheets


def test_systems_reports_and_verdicts_are_told_apart(sheets: tuple[ResultSheet, ...]) -> None:
    assert [(sheet.title, len(sheet.lines)) for sheet in sheets] == [
        ("Systems", 2), ("Reports whose score changes", 2), ("Verdicts that change", 2),
    ]  # fmt: skip
    assert all(len(line.cells) == len(sheet.columns) for sheet in sheets for line in sheet.lines)


def test_a_system_stands_with_both_scores_and_both_places(sheets: tuple[ResultSheet, ...]) -> None:
    alpha = next(line for line in sheets[0].lines if line.cells[0].words == "Alpha")
    assert [alpha.cells[n].value for n in (1, 2, 3)] == [0.5, 1.0, 0.5]
    assert [alpha.cells[n].words for n in (4, 5)] == ["2", "1, was 2"]
    assert "read by the rule of" in sheets[0].told[0]


def test_a_verdict_stands_with_the_reply_that_decided_it(sheets: tuple[ResultSheet, ...]) -> None:
    line = sheets[2].lines[0]
    assert [line.cells[n].words for n in (2, 4, 5, 7)] == [FIRST, "no", "yes", "Ba-yes-ian"]
    assert line.more == (("The raw reply", BAYES),)
    assert line.source is not None
    assert line.source.unit_id


def test_without_replies_the_view_says_so(tmp_path: Path) -> None:
    project: Project = small_project(tmp_path / "no_judge")
    with pytest.raises(Refusal, match="No judge behind an endpoint"):
        result_views.show(project, "replay", {}, among=VIEWS)
    project.close()
