"""What Goldsmith promises about what judges leave open: totals, batches, cards, estimates, votes."""

import asyncio
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judging import card_checks, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.judging.batches import batching
from tests.cli.test_project import goldsmith, told
from tests.judging.batch_server import Results, answered
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.carded_project import card_of, carded_project
from tests.projects.material_project import keep_claims
from tests.projects.small_project import small_project
from tests.servers.said_by_judges import say, two_judges
from tests.servers.served import JUDGE, add_judge, answering, serving_batches
from tests.storage import sql


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    project = small_project(tmp_path)
    add_judge(project, server)
    project.close()
    return project.path


def asked_of(file: Path, question: str) -> list[Any]:
    project = Project.open(file, readonly=True)
    rows = sql.rows(project, question)
    project.close()
    return rows


# A run that did not come to its end, and a judge that is another than it was.

HALT = replace(error(429, "daily quota"), headers={"retry-after": "86400"})


def halted_after(file: Path, capsys: Any, server: OddServer, number: int) -> None:
    """A run of twelve that is halted after so many answers, the second of which is a refusal."""
    refusal = completion(None, refusal="I will not.")
    good = answering(lambda _: "no")
    server.answer = lambda body, asked: (
        HALT if asked >= number else refusal if asked == 1 else good(body, asked)
    )
    goldsmith(capsys, "judge", "run", file, "--judge", JUDGE, "--concurrency", 1)


def test_a_halted_run_says_what_is_judged_missing_and_not_asked(
    file: Path, capsys: Any, server: OddServer
) -> None:
    halted_after(file, capsys, server, 5)
    _, out, _ = goldsmith(capsys, "judge", "missing", file)
    assert out.startswith("8 judgements have no verdict: 7 not asked, 1 refused."), out
    found = told(capsys, "judge", "missing", file, "--cause", "not_asked")
    assert {(line["judge"], line["status"]) for line in found["missing"]} == {(JUDGE, "not_asked")}
    assert len({(line["item"], line["system"], line["unit_id"]) for line in found["missing"]}) == 7
    _, out, _ = goldsmith(capsys, "judge", "runs", file)
    assert "4 of 12 judged, interrupted: 1 refused, 7 not asked" in out


def test_a_resumed_run_counts_what_its_earlier_session_left_missing(
    file: Path, capsys: Any, server: OddServer
) -> None:
    halted_after(file, capsys, server, 5)
    server.answer = answering(lambda _: "no")
    _, out, _ = goldsmith(capsys, "judge", "resume", file)
    assert out.startswith("11 of 12 criteria judged (done")
    assert "Without a verdict: 1 refused." in out
    assert told(capsys, "judge", "missing", file)["by_cause"] == {"refused": 1}


@pytest.mark.parametrize("second", ["yes", "no"])
def test_two_answers_of_a_batch_to_one_question_are_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: str
) -> None:
    monkeypatch.setattr(batching, "FIRST_LOOK_S", 0.01)
    said = {word: answering(lambda _, word=word: word) for word in ("yes", "no")}
    with serving_batches() as provider:
        provider.work = lambda requests: Results(
            [answered(each["custom_id"], said["yes"](each["body"], 0)) for each in requests]
            + [answered(requests[0]["custom_id"], said[second](requests[0]["body"], 0))]
        )
        provider.answer = said["no"]
        project = small_project(tmp_path)
        add_judge(project, provider)
        asyncio.run(judge_runs.run(project, RunRequest(JUDGE, batch=True)))
        asked = len(provider.bodies)
        rows = sql.rows(project, "SELECT value, count(*) FROM judgement GROUP BY value")
        causes = sql.rows(project, "SELECT cause FROM call WHERE status = 'invalid'")
        project.close()
    # The first question of all and the one that was answered twice were asked live.
    assert (asked, dict(rows)) == (2, {"no": 2, "yes": 10})
    assert [cause for (cause,) in causes] == [
        "The reply could not be used: the batch answers this question more than once."
    ]


def by_another_model(answer: Odd, model: str = "zzz-9") -> Odd:
    return replace(answer, body=json.dumps(json.loads(answer.body) | {"model": model}))


@pytest.fixture
def bound(tmp_path: Path, server: OddServer) -> Project:
    """A project whose judge is bound to its card, and has nothing left of what it said."""
    project = carded_project(tmp_path / "carded", server)
    card_checks.bind(project, card_of(project), JUDGE)
    with project.store.write() as db:
        for table in ("judgement WHERE rater_kind = 'judge'", "call"):
            db.exec_driver_sql(f"DELETE FROM {table}")
    project.close()
    return project


def test_a_judge_bound_to_a_card_stops_at_the_first_answer_of_another_model(
    bound: Project, capsys: Any, server: OddServer
) -> None:
    good, before = server.answer, len(server.bodies)
    server.answer = lambda body, number: (
        good(body, number) if number < before + 3 else by_another_model(good(body, number))
    )
    code, out, _ = goldsmith(
        capsys, "judge", "run", bound.path, "--judge", JUDGE, "--trials", 2, "--concurrency", 1
    )
    assert code == 3
    assert len(server.bodies) == before + 4
    assert "answered as “zzz-9”" in out
    assert out.startswith("3 of 24 criteria judged, 21 not asked (interrupted")
    kept = asked_of(bound.path, "SELECT status, cause, raw FROM call WHERE returned_model = 'zzz-9'")
    assert [(status, "answered as “zzz-9”" in cause, bool(raw)) for status, cause, raw in kept] == [
        ("skipped", True, True)
    ]
    # When the card's model is back, the run goes on, and what the other one said is of no use to it.
    server.answer = good
    ended = told(capsys, "judge", "resume", bound.path)
    assert (ended["judged"], ended["state"]) == (24, "done")
    assert len(server.bodies) == before + 4 + 21


def test_every_trial_is_held_against_the_card(tmp_path: Path, server: OddServer) -> None:
    project = carded_project(tmp_path / "carded", server)
    card, good = card_of(project), server.answer
    assert card_checks.check(project, card, JUDGE).holds
    server.answer = lambda body, number: by_another_model(good(body, number))
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, trials=2)))
    found = card_checks.check(project, card, JUDGE)
    with pytest.raises(Refusal, match="model that answers"):
        card_checks.refuse_verdicts(project, card, JUDGE, "researcherbench.coverage")
    project.close()
    assert [one.part for one in found.differences] == ["model that answers"]


# What an estimate, a vote and a drawn part say on the command line.


@pytest.fixture
def drawn(tmp_path: Path, server: OddServer) -> Path:
    """A project with the claims of one report drawn, not confirmed, and no page fetched."""
    project = small_project(tmp_path)
    add_judge(project, server)
    keep_claims(project, "https://a.example/1", "https://a.example/2")
    project.close()
    return project.path


def test_an_estimate_of_nothing_says_why(drawn: Path, capsys: Any) -> None:
    words = ("judge", "estimate", drawn, "--judge", JUDGE, "--protocol", "researcherbench.claims")
    _, out, _ = goldsmith(capsys, *words)
    assert out.startswith("There is nothing to ask yet.")
    assert "2 claims cannot be labelled: the cited page was never fetched." in out


def test_an_estimate_tells_the_time_that_a_test_measured(file: Path, capsys: Any, server: OddServer) -> None:
    estimate = ("judge", "estimate", file, "--judge", JUDGE, "--concurrency", 1)
    assert "going by its test call" not in goldsmith(capsys, *estimate)[1]
    server.answer = read_well
    goldsmith(capsys, "judge", "test", file, JUDGE)
    found = told(capsys, *estimate)
    assert found["seconds"] > 0
    assert "going by its test call" in goldsmith(capsys, *estimate)[1]


def read_well(body: dict[str, Any], number: int) -> Odd:
    """What a model says that has seen both ends of the long page of a test."""
    first, last = (re.search(rf"{word}-[0-9a-f]+", str(body))[0] for word in ("amber", "cobalt"))  # type: ignore[index]
    return completion(json.dumps({"first_word": first, "last_word": last}))


def test_a_drawn_part_is_confirmed_on_the_command_line(drawn: Path, capsys: Any) -> None:
    words = ("judge", "confirm", drawn, "--extraction", "researcherbench.claims.extract")
    assert goldsmith(capsys, *words, "--system", "Beta")[0] == 1
    assert told(capsys, *words, "--system", "Alpha") == {"confirmed": 1}
    assert asked_of(drawn, "SELECT state FROM extract") == [("confirmed",)]
    code, _, err = goldsmith(capsys, *words)
    assert (code, "Nothing to confirm: claims." in err) == (1, True)


def test_a_tie_is_not_to_be_asked_for_again(tmp_path: Path, capsys: Any) -> None:
    project = two_judges(tmp_path)
    say(project, "a", "yyyyyy")
    say(project, "b", "nnnnnn")
    project.close()
    goldsmith(capsys, "judge", "vote", project.path, "--name", "vote", "--of", "a", "--of", "b")
    _, out, _ = goldsmith(capsys, "judge", "run", project.path, "--judge", "vote", "--system", "Alpha")
    assert "Without a verdict: 6 unclear." in out
    assert "Run the same command again" not in out
    assert "vote with one more member" in out


def test_what_a_test_of_a_judge_showed_is_told_in_words(file: Path, capsys: Any, server: OddServer) -> None:
    server.answer = read_well
    _, out, _ = goldsmith(capsys, "judge", "test", file, JUDGE)
    assert "Replies in: " in out
    assert "Long prompts: both ends arrive" in out
    assert not {"enforced", "latency", "first arrived", "raw"} & {
        line.partition(":")[0] for line in out.splitlines()
    }
