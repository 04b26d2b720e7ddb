"""What is said of a run while it goes and when it ends."""

from datetime import UTC, datetime

import pytest

from annotator.actions.runs import run_lines
from annotator.domain.judges.judge import Call, RunState
from annotator.domain.judges.judgement import Status, Verdict
from annotator.judging.batches.batch_results import QuestionFate
from annotator.judging.batches.batching import BatchProgress
from annotator.judging.runs.progress import Finished, ProgressTally
from annotator.judging.runs.runner import RunEnd
from tests.judging.odd_server import case

NOON = datetime(2026, 3, 1, 12, 0, tzinfo=UTC)


def finished(number: int, status: Status = Status.OK, **told: object) -> Finished:
    call = Call(id=f"c{number}", judge_id="j", cache_key=f"k{number}", status=status, **told)
    verdict = Verdict(value="yes") if status is Status.OK else Verdict(status=status, cause="So.")
    return Finished(case(number), {"c1": verdict}, (call,), call_id=call.id)


def ended(*found: Finished, state: RunState = RunState.DONE, cause: str = "") -> run_lines.RunEvent:
    tally = ProgressTally()
    for one in found:
        tally.count(one)
    return run_lines.ended_line("run-1", "criteria judged", RunEnd(state, tally.told((), None), cause), 3, 20)


def test_a_model_that_changes_within_a_run_is_warned_of() -> None:
    one = ended(finished(1, returned_model="m-2026-01"), finished(2, returned_model="m-2026-01"))
    assert not any("more than one model" in sentence for sentence in run_lines.words(one))
    two = ended(finished(1, returned_model="m-2026-01"), finished(2, returned_model="m-2026-02"))
    assert two["models"] == ["m-2026-01", "m-2026-02"]
    assert "The endpoint answered as more than one model: m-2026-01, m-2026-02." in run_lines.words(two)


def test_what_did_not_come_is_counted_by_cause_and_never_as_done_well() -> None:
    line = ended(
        finished(1), finished(2, Status.REFUSED), finished(3, Status.TIMEOUT), finished(4, Status.TIMEOUT)
    )
    assert (line["done"], line["total"], line["missing"]) == (3 + 4, 20, {"refused": 1, "timeout": 2})
    assert any("Without a verdict: 1 refused, 2 timeout." in sentence for sentence in run_lines.words(line))


def test_judged_missing_and_not_asked_are_together_the_total() -> None:
    line = ended(finished(1), finished(2, Status.REFUSED), state=RunState.INTERRUPTED)
    # Three were there before, none of them missing.
    assert (line["judged"], line["without"], line["not_asked"]) == (4, {"refused": 1}, 15)
    assert run_lines.words(line)[0].startswith("4 of 20 criteria judged, 15 not asked (interrupted")


def test_what_earlier_sessions_left_missing_counts_too() -> None:
    tally = ProgressTally()
    tally.count(finished(1))
    told = RunEnd(RunState.DONE, tally.told((), None))
    line = run_lines.ended_line("run-1", "criteria judged", told, 19, 20, {"timeout": 2})
    assert (line["judged"], line["without"], line["not_asked"], line["missing"]) == (
        18,
        {"timeout": 2},
        0,
        {},
    )
    assert run_lines.words(line)[:2] == [
        f"18 of 20 criteria judged (done, {line['seconds']} s).",
        "Without a verdict: 2 timeout. Run the same command again to retry.",
    ]


@pytest.mark.parametrize(
    ("kind", "advice"), [("derived", "A vote makes no calls"), ("baseline", "list of missing judgements")]
)
def test_whom_asking_again_does_not_help_is_not_advised_to(kind: str, advice: str) -> None:
    _, said = run_lines.words(ended(finished(1, Status.UNCLEAR)) | {"kind": kind, "calls": 0})
    assert advice in said
    assert "Run the same command again" not in said


def test_a_cost_that_nobody_knows_is_not_told_as_nothing() -> None:
    assert ended(finished(1))["cost_usd"] is None
    assert "the whole run cost an unknown amount" in " ".join(run_lines.words(ended(finished(1))))
    assert ended(finished(1, cost_usd=0.25), finished(2))["cost_usd"] is None
    both = ended(finished(1, cost_usd=0.25, tokens_output=1), finished(2, cost_usd=0.5, tokens_output=1))
    assert both["cost_usd"] == 0.75


def test_why_a_run_stopped_is_said() -> None:
    line = ended(state=RunState.INTERRUPTED, cause="The account's credit is used up.")
    assert run_lines.words(line)[-1] == "Reason for stopping: The account's credit is used up."


def test_a_run_that_waits_for_batches_says_how_far_the_provider_is() -> None:
    told = BatchProgress(2, 500, 120, 3, {QuestionFate.ANSWERED: 40, QuestionFate.FAILED: 1}, 0.5, NOON)
    line = run_lines.batch_line("run-1", "criteria judged", told, 3, 600)
    assert line["paused"] == (
        "The provider has answered 120 of 500 questions, by 2026-03-01 12:00 UTC at the latest"
    )
    assert (line["done"], line["total"], line["cost_usd"]) == (3, 600, 0.5)
    assert line["batches"] == {
        "out": 2, "questions": 500, "done": 120, "failed": 3, "fates": {"answered": 40, "failed": 1},
        "until": NOON.isoformat(),
    }  # fmt: skip
