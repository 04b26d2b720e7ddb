"""What a run came to, judgement by judgement, with the replies behind each, and what the journal remembers of them.

What is said of a run while it goes and when it ends; and that a run by way of a provider's batches outlives the
program, is paid for once, and can be withdrawn.
"""

import asyncio
import json
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.judges import judges, prompts
from annotator.actions.judging import filled_prompts, judge_runs
from annotator.actions.material import extracting
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import journal, run_kind, run_records
from annotator.actions.runs.journal import (
    ALL,
    FLAGGED,
    NO_VERDICT,
    JudgementQuery,
    KnownKeys,
    RunJournal,
)
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.judge import Call, RunState, Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Response
from annotator.judging.batches import batching
from annotator.judging.batches.batch_results import QuestionFate
from annotator.judging.runner import Finished, ProgressTally, RunEnd
from tests.common import expect_refusal
from tests.judging.odd_server import (
    BatchServer,
    Odd,
    OddServer,
    Results,
    answered,
    case,
    completion,
    error,
    failed,
)
from tests.projects.small_projects import CRITERIA, units_of
from tests.servers.served import JUDGE, QUOTE, add_judge, answering, replies, serving_batches
from tests.storage import sql

OURS = "# system\nBe brief.\n\n# user\n{{question}}\nThe criterion:\n\n{{criterion}}\n\nThe report:\n{{report}}\n"


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = replies
    return server


@pytest.fixture
def asked(project: Project, distant_judge: None) -> Project:
    return project


def run(asked: Project, **how: Any) -> str:
    return str(asyncio.run(judge_runs.run(asked, RunRequest(JUDGE, **how)))["run"])


def test_the_list_begins_with_what_has_no_verdict_and_is_narrowed(
    asked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = run(asked)
    result = journal.lines(asked, JudgementQuery(source))
    assert {(line.unit, line.value, line.status) for line in result.lines} == {
        ("Names one dataset", None, "refused")
    }
    assert [(line.item_key, line.system) for line in result.lines] == [
        ("1", "Alpha"), ("1", "Beta"), ("2", "Alpha"), ("2", "Beta"),
    ]  # fmt: skip
    assert dict(result.counts) == {NO_VERDICT: 4, FLAGGED: 4, ALL: 12}
    assert dict(result.causes) == {"refused": 4}
    unit = units_of(asked, items.ids(asked)[1])[0]
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
        lines = journal.lines(asked, JudgementQuery(source, **query)).lines
        assert (len(lines), {line.unit for line in lines}) == (number, units), query
        assert {line.item_key for line in lines} <= ({"2"} if "item" in query else {"1", "2"})
    assert dict(journal.lines(asked, JudgementQuery(source, which=ALL)).flags) == {"quote_missing": 4}
    monkeypatch.setattr(journal, "MOST", 5)
    result = journal.lines(asked, JudgementQuery(source, which=ALL))
    assert (len(result.lines), result.left_off) == (5, 7)


def the(asked: Project, run_id: str, unit: str) -> journal.JudgementDetail:
    lines = journal.lines(asked, JudgementQuery(run_id, which=ALL)).lines
    return journal.judgement_detail(asked, next(line.id for line in lines if line.unit.startswith(unit)))


def test_a_verdict_is_shown_with_its_quote_in_its_place_and_its_reply_as_it_came(asked: Project) -> None:
    told = the(asked, run_id := run(asked), "Compares")
    assert (told.line.value, told.quote, told.quote_found) == ("yes", QUOTE, True)
    assert told.before.endswith("residual connections, and ")
    assert told.after == "."
    (reply,) = told.replies
    assert reply.own
    assert json.loads(reply.call.raw) == {"quote": QUOTE, "rationale": "So.", "covered": "yes"}
    assert (reply.call.returned_model, reply.call.tokens_input) == ("test-model-2026", 100)
    nowhere = the(asked, run_id, "Explains")
    assert (nowhere.line.value, nowhere.quote_found, nowhere.line.flags) == ("yes", False, ("quote_missing",))


def test_every_reply_to_a_question_is_kept_over_runs(asked: Project, server: OddServer) -> None:
    line = journal.lines(asked, JudgementQuery(run(asked))).lines[0]
    server.answer = lambda body, number: error(403, "Blocked.", code="content_filter")
    again = run(asked)
    assert [(reply.call.run_id == again, reply.own) for reply in the(asked, again, "Names").replies] == [
        (True, True),
        (False, False),
    ]
    # What was judged anew is not looked for in vain.
    expect_refusal("replaced", journal.judgement_detail, asked, line.id)


def test_a_baseline_has_no_replies(asked: Project) -> None:
    told = the(asked, str(asyncio.run(judge_runs.run(asked, RunRequest("baseline")))["run"]), "Explains")
    assert (told.line.value, told.quote_found, told.replies) == ("yes", True, ())
    assert filled_prompts.sent(asked, told.line.id) is None


def test_what_an_extraction_asked_and_drew_can_be_read(asked: Project, server: OddServer) -> None:
    server.script(error(400, "The context is too long.", code="context_length_exceeded"))
    order = RunRequest(JUDGE, "researcherbench.claims.extract", systems=("Alpha",), items=("1",))
    run_id = str(asyncio.run(extracting.run(asked, order))["run"])
    (reply,) = journal.calls(asked, run_id).rows
    assert reply.call.status == "too_long"
    assert run_records.by_system(asked, run_id, order.protocol) == []
    order = RunRequest("baseline", "researcherbench.claims.extract", systems=("Beta",))
    run_id = str(asyncio.run(extracting.run(asked, order))["run"])
    (result,) = run_records.by_system(asked, run_id, order.protocol)
    assert (result.system, result.came) == ("Beta", 2)


def test_systems_are_counted_apart_and_add_up_to_the_order(asked: Project) -> None:
    result = run_records.by_system(asked, run(asked), "researcherbench.coverage")
    assert [(one.system, one.came, dict(one.missing)) for one in result] == [
        ("Alpha", 4, {"refused": 2}), ("Beta", 4, {"refused": 2}),
    ]  # fmt: skip
    assert run_records.requested(asked, RunRequest(JUDGE, trials=2)) == {"Alpha": 12, "Beta": 12}
    # Two items, one rival each: of a pair only the order that shows the system first is its own.
    assert run_records.requested(asked, RunRequest(JUDGE, "researcherbench.pairwise")) == {
        "Alpha": 2,
        "Beta": 2,
    }


def test_a_judge_is_summed_up_with_what_it_spent_and_listed_over_its_runs(asked: Project) -> None:
    run(asked, systems=("Alpha",))
    judge_id = judges.named(asked, JUDGE).id
    (total,) = (one for one in run_records.totals(asked) if one.judge_id == judge_id)
    assert (total.verdicts, dict(total.missing), total.quotes_missing, total.items) == (
        4,
        {"refused": 2},
        2,
        2,
    )
    # The price of this model is not known, and so nothing is said of the money.
    assert (total.calls, total.unpriced, total.spent_usd, total.afresh_usd) == (6, 6, None, None)
    run(asked, systems=("Beta",))
    mine = JudgementQuery(judge_id=judge_id, protocol="researcherbench.coverage")
    assert dict(journal.lines(asked, mine).counts) == {NO_VERDICT: 4, FLAGGED: 4, ALL: 12}


def test_what_was_sent_is_put_together_again_and_what_changed_since_is_told(
    asked: Project, server: OddServer
) -> None:
    judged = the(asked, run(asked), "Compares").line.id
    result = filled_prompts.sent(asked, judged)
    assert (result.prompt, result.version, result.same) == ("researcherbench.coverage", 1, True)
    sent = [body["messages"][1]["content"] for body in server.bodies]
    of_alpha = next(said for said in sent if "The criterion:\n\nCompares" in said and "# Alpha" in said)
    assert result.user_part == of_alpha.replace(of_alpha.split("<<<BEGIN report ")[1][:16], "0" * 16)
    # A former wording is shown as it was.
    prompts.write(asked, "researcherbench.coverage", OURS)
    assert filled_prompts.sent(asked, judged) == result
    judges.change(asked, judges.named(asked, JUDGE).id, {"parameters": '{"temperature": 1}'})
    changed = filled_prompts.sent(asked, judged)
    assert (changed.same, changed.words) == (False, filled_prompts.CHANGED)


def test_units_asked_together_are_shown_together(asked: Project, server: OddServer) -> None:
    server.answer = answering(lambda words: "yes")
    result = filled_prompts.sent(asked, the(asked, run(asked, together=2), "Compares").line.id)
    assert (result.prompt, result.same) == ("researcherbench.coverage.together", True)


def test_the_list_is_long_and_annotators_read_nothing(asked: Project) -> None:
    run_id = run(asked)
    line = journal.lines(asked, JudgementQuery(run_id, which=ALL)).lines[0]
    place = sql.first(asked, "SELECT response_id, unit_id FROM judgement WHERE id = ?", [line.id])
    assert run_records.named(asked, "researcherbench.coverage", [place]) == {
        place: run_records.CallSubject("1", "Alpha", line.unit)
    }
    asked.work_as(people.known(asked, people.add_person(asked, "Ada", (Role.ANNOTATOR,)).subject))
    for question in (journal.calls, journal.judgement_detail, filled_prompts.sent):
        expect_refusal("Only a coordinator", question, asked, run_id)
    expect_refusal("Only a coordinator", journal.lines, asked, JudgementQuery(run_id))


def test_a_run_tells_what_it_is_asking(asked: Project, server: OddServer) -> None:
    told: list[dict[str, Any]] = []
    server.answer = lambda body, number: Odd(replies(body, number).body, delay=1.3 if number < 2 else 0.0)
    asyncio.run(judge_runs.run(asked, RunRequest(JUDGE, items=("1",), concurrency=2), tell=told.append))
    (first, *_) = (line["under_way"] for line in told if line["under_way"])
    assert (len(first), {call["trial"] for call in first}) == (2, {1})
    assert all(len(call["units"]) == 1 and call["seconds"] > 0 for call in first)


def journal_of(project: Project) -> RunJournal:
    judges.stored(project, judges.BASELINE)
    return RunJournal(project, "run-1", judges.BASELINE.id, "researcherbench.coverage")


def call(key: str, status: Status = Status.OK, name: str = "") -> Call:
    named = name or f"call-{key}-{status.value}"
    return Call(
        id=named, run_id="run-1", judge_id=judges.BASELINE.id, cache_key=key, status=status, raw=named
    )


def finished(
    project: Project, unit: str, calls: tuple[Call, ...] = (), reused: tuple[Call, ...] = ()
) -> Finished:
    row = sql.first(project, "SELECT id, item_id FROM response ORDER BY id LIMIT 1")
    case = Case(
        "p",
        items.read(project, row[1]),
        Response(id=row[0], item_id=row[1], system_id="s", text=""),
        "",
        (Unit(id=unit),),
    )
    return Finished(case, {unit: Verdict(value="yes")}, calls, reused, (calls or reused)[-1].id)


def calls_in(project: Project) -> dict[str, str]:
    return dict(sql.rows(project, "SELECT id, status FROM call"))


def test_an_answer_is_found_in_the_same_start_and_in_the_next_and_an_error_never(project: Project) -> None:
    kept = journal_of(project)
    kept.record([finished(project, "u1", (call("a", Status.TIMEOUT),))])
    assert kept.find("a") is journal_of(project).find("a") is None
    kept.record([finished(project, "u1", (call("a"),))])
    assert [(one.find("a").id, one.find("a").status) for one in (kept, journal_of(project))] == [
        ("call-a-ok", Status.OK)
    ] * 2


def test_a_judgement_never_rests_on_a_call_that_is_not_there(project: Project) -> None:
    shared = call("a")
    for unit, calls in (("u1", {"reused": (shared,)}), ("u2", {"calls": (shared,)})):
        journal_of(project).record([finished(project, unit, **calls)])
        assert calls_in(project) == {shared.id: "ok"}


def test_a_call_that_turns_out_to_leave_a_unit_out_is_not_found_again(project: Project) -> None:
    kept = journal_of(project)
    kept.keep_calls([call("a", name="c-1")])
    spoilt = call("a", Status.INVALID, "c-1").model_copy(update={"cause": "It says nothing of u2."})
    kept.record([finished(project, "u1", (spoilt,))])
    assert calls_in(project) == {"c-1": "invalid"}
    assert kept.find("a") is journal_of(project).find("a") is None


def test_a_fresh_question_asks_no_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = journal_of(project)
    kept.keep_calls([call("a")])

    def read() -> Any:
        raise AssertionError("the file was asked")

    monkeypatch.setattr(project.store, "read", read)
    assert kept.find("another") is None
    with pytest.raises(AssertionError, match="the file was asked"):
        kept.find("a")


@pytest.mark.slow
def test_keys_are_known_whether_they_were_there_or_come() -> None:
    known = KnownKeys(f"key {number}" for number in range(1000))
    known.add("new")
    assert all(f"key {number}" in known for number in range(1000))
    assert "new" in known
    assert not any(f"other {number}" in known for number in range(1000))
    assert "x" not in KnownKeys()


NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def finished_case(number: int, status: Status = Status.OK, **told: object) -> Finished:
    call = Call(id=f"c{number}", judge_id="j", cache_key=f"k{number}", status=status, **told)
    verdict = Verdict(value="yes") if status is Status.OK else Verdict(status=status, cause="So.")
    return Finished(case(number), {"c1": verdict}, (call,), call_id=call.id)


def ended(*found: Finished, state: RunState = RunState.DONE, cause: str = "") -> run_records.RunEvent:
    tally = ProgressTally()
    for one in found:
        tally.count(one)
    return run_records.ended_line("run-1", "criteria judged", RunEnd(state, tally.progress(), cause), 3, 20)


def test_a_model_that_changes_within_a_run_is_warned_of() -> None:
    one, two = (
        ended(*(finished_case(n, returned_model=f"m-2026-0{of}") for n, of in enumerate(models)))
        for models in ((1, 1), (1, 2))
    )
    said = [
        [words for words in run_records.words(line) if "more than one model" in words] for line in (one, two)
    ]
    assert said == [[], ["The endpoint answered as more than one model: m-2026-01, m-2026-02."]]


def test_judged_missing_by_cause_and_not_asked_are_together_the_total() -> None:
    line = ended(
        finished_case(1),
        finished_case(2, Status.REFUSED),
        finished_case(3, Status.TIMEOUT),
        finished_case(4, Status.TIMEOUT),
        state=RunState.INTERRUPTED,
        cause="The account's credit is used up.",
    )
    # Three were there before, none of them missing.
    missing = {"refused": 1, "timeout": 2}
    assert (line["done"], line["total"], line["missing"]) == (3 + 4, 20, missing)
    assert (line["judged"], line["without"], line["not_asked"]) == (4, missing, 13)


def test_what_earlier_sessions_left_missing_counts_too() -> None:
    tally = ProgressTally()
    tally.count(finished_case(1))
    line = run_records.ended_line(
        "run-1", "criteria judged", RunEnd(RunState.DONE, tally.progress()), 19, 20, {"timeout": 2}
    )
    assert (line["judged"], line["without"], line["not_asked"], line["missing"]) == (
        18,
        {"timeout": 2},
        0,
        {},
    )


@pytest.mark.parametrize(
    ("kind", "advice"), [("derived", "A vote makes no calls"), ("baseline", "list of missing judgements")]
)
def test_whom_asking_again_does_not_help_is_not_advised_to(kind: str, advice: str) -> None:
    _, said = run_records.words(ended(finished_case(1, Status.UNCLEAR)) | {"kind": kind, "calls": 0})
    assert advice in said
    assert "Run the same command again" not in said


def test_a_cost_that_nobody_knows_is_not_told_as_nothing() -> None:
    assert ended(finished_case(1))["cost_usd"] is None
    assert "the whole run cost an unknown amount" in " ".join(run_records.words(ended(finished_case(1))))
    assert ended(finished_case(1, cost_usd=0.25), finished_case(2))["cost_usd"] is None
    both = ended(
        finished_case(1, cost_usd=0.25, tokens_output=1), finished_case(2, cost_usd=0.5, tokens_output=1)
    )
    assert both["cost_usd"] == 0.75


def test_a_run_that_waits_for_batches_says_how_far_the_provider_is() -> None:
    told = batching.BatchProgress(
        2, 500, 120, 3, {QuestionFate.ANSWERED: 40, QuestionFate.FAILED: 1}, 0.5, NOON
    )
    line = run_records.batch_line("run-1", "criteria judged", told, 3, 600)
    assert line["paused"] == (
        "The provider has answered 120 of 500 questions, by 2026-03-01 12:00 UTC at the latest"
    )
    assert (line["done"], line["total"], line["cost_usd"]) == (3, 600, 0.5)
    assert line["batches"] == {
        "out": 2, "questions": 500, "done": 120, "failed": 3, "fates": {"answered": 40, "failed": 1},
        "until": NOON.isoformat(),
    }  # fmt: skip


# Two items with three criteria, two systems.
TOTAL = 12


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(batching, "FIRST_LOOK_S", 0.01)
    with serving_batches() as provider:
        yield provider


@pytest.fixture
def remote(project: Project, provider: BatchServer) -> Project:
    add_judge(project, provider)
    return project


def batched(remote: Project, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(remote, RunRequest(JUDGE, **{"batch": True} | how)))


def left_with_the_provider(remote: Project, provider: BatchServer) -> dict[str, Any]:
    """A run that is cancelled as soon as its batch is out and was looked at."""

    def lines() -> Iterator[str]:
        while not (provider.posts("batches") > 0 and provider.seen[-1][0] == "GET"):
            time.sleep(0.005)
        yield "cancel\n"

    provider.looks = 10**9
    ended = asyncio.run(judge_runs.run(remote, RunRequest(JUDGE, batch=True), listen=lines()))
    provider.looks = 0
    return ended


def statuses(remote: Project) -> dict[str, int]:
    return dict(sql.rows(remote, "SELECT status, count(*) FROM judgement GROUP BY status"))


def test_a_run_goes_by_one_batch_but_for_its_first_question_and_is_told_line_by_line(
    remote: Project, provider: BatchServer
) -> None:
    provider.looks, told = 3, list[dict[str, Any]]()
    ended = asyncio.run(judge_runs.run(remote, RunRequest(JUDGE, batch=True), tell=told.append))
    assert (ended["state"], ended["done"], ended["total"], ended["missing"]) == ("done", TOTAL, TOTAL, {})
    assert (len(provider.bodies), len(provider.made), len(provider.named())) == (1, 1, TOTAL - 1)
    assert (statuses(remote), run_kind.out(remote)) == ({"ok": TOTAL}, [])
    waiting = [line for line in told if "batches" in line]
    assert (waiting[0]["batches"]["out"], waiting[0]["batches"]["questions"]) == (1, TOTAL - 1)
    assert waiting[-1]["batches"]["fates"] == {"answered": TOTAL - 1}
    assert {line["event"] for line in waiting} == {"progress"}


def test_a_batch_that_is_out_is_listed_not_asked_live_beside_and_fetched_by_the_next_start(
    remote: Project, provider: BatchServer
) -> None:
    assert left_with_the_provider(remote, provider)["state"] == "cancelled"
    (out,) = run_kind.out(remote)
    assert (out.judge, out.questions, out.stage, out.status) == (JUDGE, TOTAL - 1, "sent", "validating")
    expect_refusal("still with the provider", batched, remote, batch=False)
    expect_refusal("still with the provider", batched, remote, systems=("Alpha",))
    ended = asyncio.run(orders.carry_out(remote, orders.unfinished(remote)))
    assert (ended["state"], ended["done"], len(provider.made), len(provider.bodies)) == ("done", TOTAL, 1, 1)
    assert statuses(remote) == {"ok": TOTAL}


def test_what_a_batch_leaves_over_is_asked_live(remote: Project, provider: BatchServer) -> None:
    provider.work = lambda requests: Results(
        [answered(each["custom_id"], provider.answer(each["body"], 0)) for each in requests[3:]],
        [failed(requests[0]["custom_id"]), failed(requests[1]["custom_id"], "batch_expired")],
    )
    ended = batched(remote)
    assert (ended["done"], ended["missing"]) == (TOTAL, {})
    # The first question, one that failed, one that expired, one that is in neither file.
    assert (len(provider.bodies), statuses(remote)) == (4, {"ok": TOTAL})


def test_a_withdrawn_batch_gives_what_it_has_and_the_rest_stays_unjudged(
    remote: Project, provider: BatchServer
) -> None:
    left_with_the_provider(remote, provider)
    provider.looks = 2
    provider.work = lambda requests: Results(
        [answered(requests[0]["custom_id"], provider.answer(requests[0]["body"], 0))]
    )
    assert asyncio.run(run_kind.withdraw(remote, JUDGE)) == 1
    ended = asyncio.run(orders.carry_out(remote, orders.unfinished(remote)))
    assert (ended["state"], len(provider.bodies), "cancelled" in ended["cause"]) == ("interrupted", 1, True)
    assert statuses(remote) == {"ok": 2}
    assert asyncio.run(orders.carry_out(remote, orders.unfinished(remote)))["done"] == TOTAL


def test_a_unit_that_a_batched_reply_leaves_out_is_not_served_from_it_again(
    remote: Project, provider: BatchServer
) -> None:
    whole = provider.answer
    provider.work = lambda requests: Results(
        [answered(each["custom_id"], completion('{"answers": []}')) for each in requests]
    )
    assert batched(remote, together=3)["missing"] == {"invalid": TOTAL - 3}
    provider.work = lambda requests: Results(
        [answered(each["custom_id"], whole(each["body"], 0)) for each in requests]
    )
    assert batched(remote, together=3)["missing"] == {}
    assert statuses(remote) == {"ok": TOTAL}


def test_batches_of_a_provider_that_is_gone_are_given_up_and_asked_anew(
    remote: Project, provider: BatchServer
) -> None:
    left_with_the_provider(remote, provider)
    provider.fault = lambda method, path, number: error(401, "no such account")
    expect_refusal("cannot be reached or used", asyncio.run, run_kind.withdraw(remote))
    assert run_kind.forget(remote, JUDGE) == 1
    assert run_kind.out(remote) == []
    assert batched(remote, batch=False)["done"] == TOTAL


def test_what_takes_no_batches_says_so_and_the_run_can_be_begun_again(
    remote: Project, provider: BatchServer
) -> None:
    expect_refusal("asks no model", asyncio.run, judge_runs.run(remote, RunRequest("baseline", batch=True)))
    assert run_records.runs(remote) == []

    def no_session(method: str, path: str, number: int) -> Odd | None:
        return error(404, "no such path") if path == "/v1/files" else None

    provider.fault = no_session
    expect_refusal("takes no batches", batched, remote)
    assert [line.state for line in run_records.runs(remote)] == ["interrupted"]
    assert (batched(remote, batch=False)["done"], len(provider.bodies)) == (TOTAL, TOTAL)
