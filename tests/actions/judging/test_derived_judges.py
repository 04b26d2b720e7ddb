"""How a majority judges: over judges, over trials, and where it does not."""

import asyncio
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_probes, judge_runs
from annotator.actions.judging.derived_judges import MemberVote, majority, middle
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judgement import Status
from annotator.domain.judges.scale import Level, Scale, Value, numbers
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer, completion
from tests.projects.small_project import CRITERIA
from tests.servers.served import add_judge, answering
from tests.storage import sql


def run(project: Project, judge: str, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(project, RunRequest(judge, **how)))


def cast(*values: str | None) -> list[MemberVote]:
    return [MemberVote(f"m{n}", value) for n, value in enumerate(values, 1)]


@pytest.mark.parametrize(
    ("values", "members", "value"),
    [
        (("yes", "yes", "no"), 3, "yes"),
        (("no", "no", None), 3, "no"),
        (("first", "first", "first", "second", "tie"), 5, "first"),
    ],
)
def test_the_value_of_more_than_half_of_the_votes_is_the_verdict(
    values: tuple[str, ...], members: int, value: str
) -> None:
    found = majority(cast(*values), members)
    assert (found.value, found.status) == (value, Status.OK)
    assert all(vote.words() in found.rationale for vote in cast(*values))


@pytest.mark.parametrize(
    ("values", "members", "cause"),
    [
        (("yes", "no"), 2, "A tie: m1 yes, m2 no."),
        (("first", "first", "second", "tie"), 4, "No majority"),
        (("first", "second", "tie"), 3, "A tie"),
        (("yes", None, None), 3, "Only 1 of 3 members gave a verdict: m1 yes, m2 nothing, m3 nothing."),
        (("yes",), 2, "Only 1 of 2"),
    ],
)
def test_what_has_no_majority_is_unclear_with_its_cause(
    values: tuple[str | None, ...], members: int, cause: str
) -> None:
    found = majority(cast(*values), members)
    assert (found.value, found.status) == (None, Status.UNCLEAR)
    assert found.cause.startswith(cause)


ORDINAL, NUMBER = numbers(0, 10, level=Level.ORDINAL), numbers(0, 10)


@pytest.mark.parametrize(
    ("scale", "values", "value"),
    [
        (ORDINAL, ("10", "2", "9"), "9"),
        (ORDINAL, ("2", "10", "10", "3"), None),
        (ORDINAL, ("2", "7", "7", "9"), "7"),
        (NUMBER, ("2", "10", None, "9"), "9"),
        (NUMBER, ("4", "6"), "5"),
        (NUMBER, ("4", "5"), None),
        (
            Scale(Level.ORDINAL, (Value("low", ""), Value("middle", ""), Value("high", ""))),
            ("high", "low", "middle"),
            "middle",
        ),
    ],
)
def test_the_median_of_ordered_votes_is_the_verdict(
    scale: Scale, values: tuple[str | None, ...], value: str | None
) -> None:
    found = middle(cast(*values), len(values), scale)
    assert (found.value, found.status) == (value, Status.OK if value else Status.UNCLEAR)
    assert ("the middle lies between" in found.cause.casefold()) is (value is None)
    assert all(vote.words() in found.rationale + found.cause for vote in cast(*values))


def test_a_median_takes_more_than_half_of_the_members() -> None:
    assert middle(cast("3", None, None), 3, NUMBER).cause.startswith("Only 1 of 3 members")
    assert middle([], 3, NUMBER).status is Status.SKIPPED


def test_without_any_vote_nothing_is_said() -> None:
    assert majority([], 3).status is Status.SKIPPED
    assert majority(cast(None, None), 2).status is Status.SKIPPED


def test_a_panel_counts_its_members_and_is_a_rater_like_any_other(
    project: Project, server: OddServer
) -> None:
    first, second, third = (text for text, _ in CRITERIA)
    for name, said in (("a", {first, second}), ("b", {first, third}), ("c", {first})):
        server.answer = answering(lambda words, said=said: "yes" if words in said else "no")
        add_judge(project, server, name, parameters=f'{{"user": "{name}"}}')
        run(project, name)
    asked = len(server.bodies)
    derived_judges.add(project, "panel", ["a", "b", "c"])
    ended = run(project, "panel")
    assert (ended["done"], ended["calls"], len(server.bodies)) == (12, 0, asked)
    rows = [row for row in results.rows(project, judges.named(project, "panel").id) if row.group == "all"]
    # Of the weights 3, 2 and 1 only the first is covered by a majority.
    assert [row.estimate.value for row in rows] == [0.5, 0.5]
    (rationale,) = sql.first(
        project, "SELECT rationale FROM judgement WHERE rationale LIKE '2 of 3%' ORDER BY rationale LIMIT 1"
    )
    assert rationale in ("2 of 3: a no, b yes, c no", "2 of 3: a yes, b no, c no")


def test_a_vote_is_counted_anew_when_its_members_have_said_more(project: Project, server: OddServer) -> None:
    for name in ("a", "b", "c"):
        add_judge(project, server, name)
    derived_judges.add(project, "panel", ["a", "b", "c"])
    run(project, "a")
    assert run(project, "panel")["missing"] == {"unclear": 12}
    run(project, "b")
    assert run(project, "panel")["missing"] == {}
    assert sql.first(project, "SELECT count(*) FROM judgement")[0] == 36


def test_the_trials_of_one_judge_vote_too(project: Project, server: OddServer) -> None:
    said = iter(["yes", "no", "yes"] * 12)
    server.answer = lambda body, number: answering(lambda words: next(said))(body, number)
    add_judge(project, server, "a")
    run(project, "a", trials=3, concurrency=1, systems=("Alpha",), items=("1",))
    derived_judges.add(project, "a, majority", ["a"])
    run(project, "a, majority", systems=("Alpha",), items=("1",))
    found = sql.rows(project, "SELECT value, rationale FROM judgement WHERE rationale LIKE '%trial%'")
    assert len(found) == 3
    assert all(words.count("trial") == 3 for _, words in found)


def test_a_vote_quotes_what_the_first_of_the_majority_quoted(project: Project, server: OddServer) -> None:
    quote = "compares the stability of training"
    server.script(completion(f'{{"quote": "{quote}", "rationale": "So.", "covered": "yes"}}'))
    for name in ("a", "b"):
        add_judge(project, server, name)
        run(project, name)
    derived_judges.add(project, "panel", ["a", "b"])
    run(project, "panel")
    question = "SELECT DISTINCT quote, quote_start FROM judgement WHERE rationale LIKE '2 of 2%'"
    assert [row[0] for row in sql.rows(project, question)] == [quote, quote]


@pytest.mark.parametrize(
    ("members", "words"),
    [([], "needs members"), (["nobody"], "There is no judge"), (["baseline", "vote"], "not other votes")],
)
def test_a_vote_that_cannot_be_counted_is_refused(project: Project, members: list[str], words: str) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    with pytest.raises(Refusal, match=words):
        derived_judges.add(project, "panel", members)
    with pytest.raises(Refusal, match="already exists"):
        derived_judges.add(project, "vote", ["baseline"])
    with pytest.raises(Refusal, match="calls no model"):
        run(project, "vote", trials=2)


def test_a_vote_needs_no_endpoint_to_be_tested(project: Project) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    assert asyncio.run(judge_probes.test(project, "vote"))["ok"]
    with pytest.raises(Refusal, match="no endpoint settings"):
        judges.change(project, judges.named(project, "vote").id, {"name": "x"})
