"""What a run came to, judgement by judgement, with the replies behind each; a real server gives them."""

import asyncio
import json
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.judges import judges, prompts
from annotator.actions.judging import filled_prompts, judge_runs
from annotator.actions.material import extracting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import journal, run_records
from annotator.actions.runs.journal import ALL, FLAGGED, NO_VERDICT, JudgementQuery, JudgementSource
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.assignment import Role
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import CRITERIA, units_of
from tests.servers.served import JUDGE, QUOTE, answering, replies
from tests.storage import sql

pytestmark = pytest.mark.usefixtures("distant_judge")
OURS = "# system\nBe brief.\n\n# user\n{{question}}\nThe criterion:\n\n{{criterion}}\n\nThe report:\n{{report}}\n"


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = replies
    return server


def run(project: Project, **how: Any) -> str:
    return str(asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))["run"])


def test_the_list_begins_with_what_has_no_verdict_and_is_narrowed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = JudgementSource(run(project))
    result = journal.lines(project, source)
    assert {(line.unit, line.value, line.status) for line in result.lines} == {
        ("Names one dataset", None, "refused")
    }
    assert [(line.item_key, line.system) for line in result.lines] == [
        ("1", "Alpha"), ("1", "Beta"), ("2", "Alpha"), ("2", "Beta"),
    ]  # fmt: skip
    assert dict(result.counts) == {NO_VERDICT: 4, FLAGGED: 4, ALL: 12}
    assert dict(result.causes) == {"refused": 4}
    unit = units_of(project, items.ids(project)[1])[0]
    for query, number, units in (
        ({"which": FLAGGED}, 4, {"Explains residual connections"}),
        ({"which": ALL}, 12, {text for text, _ in CRITERIA}),
        ({"which": ALL, "system": "Alpha"}, 6, {text for text, _ in CRITERIA}),
        ({"cause": "timeout"}, 0, set()),
        ({"which": ALL, "item": "2"}, 6, {text for text, _ in CRITERIA}),
        ({"which": ALL, "item": "2", "unit": unit}, 2, {"Explains residual connections"}),
        ({"which": ALL, "flag": "quote_missing"}, 4, {"Explains residual connections"}),
        ({"which": ALL, "flag": "quote"}, 0, set()),
        ({"which": ALL, "words": "IT NEVER SAYS"}, 4, {"Explains residual connections"}),
        ({"which": ALL, "words": "%"}, 0, set()),
    ):
        lines = journal.lines(project, source, JudgementQuery(**query)).lines
        assert (len(lines), {line.unit for line in lines}) == (number, units), query
        assert {line.item_key for line in lines} <= ({"2"} if "item" in query else {"1", "2"})
    assert dict(journal.lines(project, source, JudgementQuery(ALL)).flags) == {"quote_missing": 4}
    monkeypatch.setattr(journal, "MOST", 5)
    result = journal.lines(project, source, JudgementQuery(ALL))
    assert (len(result.lines), result.left_off) == (5, 7)


def the(project: Project, run_id: str, unit: str) -> journal.JudgementDetail:
    lines = journal.lines(project, JudgementSource(run_id), JudgementQuery(ALL)).lines
    return journal.judgement_detail(project, next(line.id for line in lines if line.unit.startswith(unit)))


def test_a_verdict_is_shown_with_its_quote_in_its_place_and_its_reply_as_it_came(project: Project) -> None:
    told = the(project, run_id := run(project), "Compares")
    assert (told.line.value, told.quote, told.quote_found) == ("yes", QUOTE, True)
    assert told.before.endswith("residual connections, and ")
    assert told.after == "."
    (reply,) = told.replies
    assert reply.own
    assert json.loads(reply.call.raw) == {"quote": QUOTE, "rationale": "So.", "covered": "yes"}
    assert (reply.call.returned_model, reply.call.tokens_input) == ("test-model-2026", 100)
    nowhere = the(project, run_id, "Explains")
    assert (nowhere.line.value, nowhere.quote_found, nowhere.line.flags) == ("yes", False, ("quote_missing",))


def test_every_reply_to_a_question_is_kept_over_runs(project: Project, server: OddServer) -> None:
    line = journal.lines(project, JudgementSource(run(project))).lines[0]
    server.answer = lambda body, number: error(403, "Blocked.", code="content_filter")
    again = run(project)
    replies = the(project, again, "Names").replies
    assert [(reply.call.run_id == again, reply.own) for reply in replies] == [(True, True), (False, False)]
    # What was judged anew is not looked for in vain.
    expect_refusal("replaced", journal.judgement_detail, project, line.id)


def test_a_baseline_has_no_replies(project: Project) -> None:
    run_id = str(asyncio.run(judge_runs.run(project, RunRequest("baseline")))["run"])
    told = the(project, run_id, "Explains")
    assert (told.line.value, told.quote_found, told.replies) == ("yes", True, ())
    assert filled_prompts.sent(project, told.line.id) is None


def test_what_an_extraction_asked_and_drew_can_be_read(project: Project, server: OddServer) -> None:
    server.script(error(400, "The context is too long.", code="context_length_exceeded"))
    order = RunRequest(JUDGE, "researcherbench.claims.extract", systems=("Alpha",), items=("1",))
    run_id = str(asyncio.run(extracting.run(project, order))["run"])
    (reply,) = journal.calls(project, run_id).rows
    assert reply.call.status == "too_long"
    assert run_records.by_system(project, run_id, order.protocol) == []
    order = RunRequest("baseline", "researcherbench.claims.extract", systems=("Beta",))
    run_id = str(asyncio.run(extracting.run(project, order))["run"])
    (result,) = run_records.by_system(project, run_id, order.protocol)
    assert (result.system, result.came) == ("Beta", 2)


def test_systems_are_counted_apart_and_add_up_to_the_order(project: Project) -> None:
    result = run_records.by_system(project, run(project), "researcherbench.coverage")
    assert [(one.system, one.came, dict(one.missing), one.done) for one in result] == [
        ("Alpha", 4, {"refused": 2}, 6), ("Beta", 4, {"refused": 2}, 6),
    ]  # fmt: skip
    assert run_records.requested(project, RunRequest(JUDGE, trials=2)) == {"Alpha": 12, "Beta": 12}
    # Two items, one rival each: of a pair only the order that shows the system first is its own.
    assert run_records.requested(project, RunRequest(JUDGE, "researcherbench.pairwise")) == {
        "Alpha": 2,
        "Beta": 2,
    }


def test_a_judge_is_summed_up_with_what_it_spent_and_listed_over_its_runs(project: Project) -> None:
    run(project, systems=("Alpha",))
    judge_id = judges.named(project, JUDGE).id
    (total,) = run_records.totals(project, judge_id)
    assert (total.verdicts, dict(total.missing), total.quotes_missing, total.items) == (
        4,
        {"refused": 2},
        2,
        2,
    )
    # The price of this model is not known, and so nothing is said of the money.
    assert (total.calls, total.unpriced, total.spent_usd, total.afresh_usd) == (6, 6, None, None)
    run(project, systems=("Beta",))
    mine = JudgementSource(judge_id=judge_id, protocol="researcherbench.coverage")
    assert dict(journal.lines(project, mine).counts) == {NO_VERDICT: 4, FLAGGED: 4, ALL: 12}


def test_what_was_sent_is_put_together_again_and_what_changed_since_is_told(
    project: Project, server: OddServer
) -> None:
    judged = the(project, run(project), "Compares").line.id
    result = filled_prompts.sent(project, judged)
    assert (result.prompt, result.version, result.same) == ("researcherbench.coverage", 1, True)
    asked = [body["messages"][1]["content"] for body in server.bodies]
    of_alpha = next(said for said in asked if "The criterion:\n\nCompares" in said and "# Alpha" in said)
    assert result.user_part == of_alpha.replace(of_alpha.split("<<<BEGIN report ")[1][:16], "0" * 16)
    # A former wording is shown as it was.
    prompts.write(project, "researcherbench.coverage", OURS)
    assert filled_prompts.sent(project, judged) == result
    judges.change(project, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})
    changed = filled_prompts.sent(project, judged)
    assert (changed.same, changed.words) == (False, filled_prompts.CHANGED)


def test_units_asked_together_are_shown_together(project: Project, server: OddServer) -> None:
    server.answer = answering(lambda words: "yes")
    result = filled_prompts.sent(project, the(project, run(project, together=2), "Compares").line.id)
    assert (result.prompt, result.same) == ("researcherbench.coverage.together", True)


def test_a_run_goes_by_the_wording_in_force(project: Project, server: OddServer) -> None:
    prompts.write(project, "researcherbench.coverage", OURS, "shorter")
    server.script(completion('{"quote": "", "rationale": "", "covered": "no"}'))
    result = filled_prompts.sent(project, the(project, run(project), "Compares").line.id)
    assert all(body["messages"][0]["content"].startswith("Be brief.") for body in server.bodies)
    assert (result.version, result.same) == (2, True)


def test_the_list_is_long_and_annotators_read_nothing(project: Project) -> None:
    source = JudgementSource(run_id := run(project))
    line = journal.lines(project, source, JudgementQuery(ALL)).lines[0]
    place = sql.first(project, "SELECT response_id, unit_id FROM judgement WHERE id = ?", [line.id])
    result = run_records.named(project, "researcherbench.coverage", [place])
    assert result == {place: run_records.CallSubject("1", "Alpha", line.unit)}
    project.work_as(people.known(project, people.add_person(project, "Ada", (Role.ANNOTATOR,)).subject))
    for question in (journal.calls, journal.judgement_detail, filled_prompts.sent):
        expect_refusal("Only a coordinator", question, project, run_id)
    expect_refusal("Only a coordinator", journal.lines, project, source)


def test_a_run_tells_what_it_is_asking(project: Project, server: OddServer) -> None:
    told: list[dict[str, Any]] = []
    server.answer = lambda body, number: Odd(replies(body, number).body, delay=1.3 if number < 2 else 0.0)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, items=("1",), concurrency=2), tell=told.append))
    (first, *_) = (line["under_way"] for line in told if line["under_way"])
    assert (len(first), {call["trial"] for call in first}) == (2, {1})
    assert all(len(call["units"]) == 1 and call["seconds"] > 0 for call in first)
