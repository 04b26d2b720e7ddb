"""What the journal of calls remembers, and what is said of a run while it goes and when it ends."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import KnownKeys, RunJournal
from annotator.domain.judges.judge import Call, RunState, Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.item import Response
from annotator.judging.batches.batch_results import QuestionFate
from annotator.judging.batches.batching import BatchProgress
from annotator.judging.runner import Finished, ProgressTally, RunEnd
from tests.judging.odd_server import case
from tests.projects.small_projects import small_project
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = small_project(tmp_path)
    judges.stored(project, judges.BASELINE)
    return project


def journal(project: Project) -> RunJournal:
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
    kept = journal(project)
    kept.record([finished(project, "u1", (call("a", Status.TIMEOUT),))])
    assert kept.find("a") is journal(project).find("a") is None
    kept.record([finished(project, "u1", (call("a"),))])
    assert [(one.find("a").id, one.find("a").status) for one in (kept, journal(project))] == [
        ("call-a-ok", Status.OK)
    ] * 2


def test_a_judgement_never_rests_on_a_call_that_is_not_there(project: Project) -> None:
    shared = call("a")
    for unit, calls in (("u1", {"reused": (shared,)}), ("u2", {"calls": (shared,)})):
        journal(project).record([finished(project, unit, **calls)])
        assert calls_in(project) == {shared.id: "ok"}


def test_a_call_that_turns_out_to_leave_a_unit_out_is_not_found_again(project: Project) -> None:
    kept = journal(project)
    kept.keep_calls([call("a", name="c-1")])
    spoilt = call("a", Status.INVALID, "c-1").model_copy(update={"cause": "It says nothing of u2."})
    kept.record([finished(project, "u1", (spoilt,))])
    assert calls_in(project) == {"c-1": "invalid"}
    assert kept.find("a") is journal(project).find("a") is None


def test_a_fresh_question_asks_no_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = journal(project)
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
    return run_records.ended_line(
        "run-1", "criteria judged", RunEnd(state, tally.progress((), None), cause), 3, 20
    )


def test_a_model_that_changes_within_a_run_is_warned_of() -> None:
    one, two = (
        ended(*(finished_case(n, returned_model=f"m-2026-0{of}") for n, of in enumerate(models)))
        for models in ((1, 1), (1, 2))
    )
    assert not any("more than one model" in sentence for sentence in run_records.words(one))
    assert two["models"] == ["m-2026-01", "m-2026-02"]
    assert "The endpoint answered as more than one model: m-2026-01, m-2026-02." in run_records.words(two)


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
    said = run_records.words(line)
    assert said[0].startswith("4 of 20 criteria judged, 13 not asked (interrupted")
    assert any("Without a verdict: 1 refused, 2 timeout." in sentence for sentence in said)
    assert said[-1] == "Reason for stopping: The account's credit is used up."


def test_what_earlier_sessions_left_missing_counts_too() -> None:
    tally = ProgressTally()
    tally.count(finished_case(1))
    told = RunEnd(RunState.DONE, tally.progress((), None))
    line = run_records.ended_line("run-1", "criteria judged", told, 19, 20, {"timeout": 2})
    assert (line["judged"], line["without"], line["not_asked"], line["missing"]) == (
        18,
        {"timeout": 2},
        0,
        {},
    )
    assert run_records.words(line)[:2] == [
        f"18 of 20 criteria judged (done, {line['seconds']} s).",
        "Without a verdict: 2 timeout. Run the same command again to retry.",
    ]


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
    told = BatchProgress(2, 500, 120, 3, {QuestionFate.ANSWERED: 40, QuestionFate.FAILED: 1}, 0.5, NOON)
    line = run_records.batch_line("run-1", "criteria judged", told, 3, 600)
    assert line["paused"] == (
        "The provider has answered 120 of 500 questions, by 2026-03-01 12:00 UTC at the latest"
    )
    assert (line["done"], line["total"], line["cost_usd"]) == (3, 600, 0.5)
    assert line["batches"] == {
        "out": 2, "questions": 500, "done": 120, "failed": 3, "fates": {"answered": 40, "failed": 1},
        "until": NOON.isoformat(),
    }  # fmt: skip
