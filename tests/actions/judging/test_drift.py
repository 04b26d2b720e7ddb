"""That a judge that has changed is noticed: a frozen anchor set is judged anew, once, and compared."""

import asyncio
import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judging import drift, judge_offers, judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from annotator.protocols import USUAL
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge, answering

# Two items with three criteria, two systems.
ALL = 12
DATASET = "Names one dataset"


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    """A project in which the judge has said yes to everything, and all of it is frozen."""
    project = small_project(tmp_path)
    add_judge(project, server)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    drift.anchor(project, JUDGE)
    server.bodies.clear()
    yield project
    project.close()


def check(project: Project, **how: Any) -> dict[str, Any]:
    return asyncio.run(drift.check(project, RunRequest(JUDGE, **how)))


def changed_its_mind(about: str) -> Callable[[dict[str, Any], int], Odd]:
    return answering(lambda criterion: "no" if criterion == about else "yes")


def test_a_judge_that_stayed_the_same_agrees_with_itself(project: Project, server: OddServer) -> None:
    found = check(project)["drift"]
    assert (found["units"], found["compared"], found["agreement"]["value"]) == (ALL, ALL, 1.0)
    assert (found["changed"], found["differences"], found["missing"]) == ((), {}, {})
    assert len(server.bodies) == ALL


def test_what_changed_is_listed_and_the_agreement_told(project: Project, server: OddServer) -> None:
    server.answer = changed_its_mind(DATASET)
    check(project)
    (found,) = drift.reports(project, JUDGE)
    # One of the three criteria of each of four reports.
    assert found.agreement.value == pytest.approx(8 / 12)
    assert {(one.item, one.system, one.before, one.after) for one in found.changed} == {
        (item, system, "yes", "no") for item in "12" for system in ("Alpha", "Beta")
    }
    assert "4 verdicts changed." in found.words()[0]


def test_no_result_is_made_of_a_check(project: Project, server: OddServer) -> None:
    before = [results.plain(row) for row in results.rows(project)]
    server.answer = changed_its_mind(DATASET)
    check(project)
    assert [results.plain(row) for row in results.rows(project)] == before


def test_another_model_behind_the_same_name_is_named(project: Project, server: OddServer) -> None:
    yes = answering(lambda criterion: "yes")

    def renewed(body: dict[str, Any], number: int) -> Odd:
        odd = yes(body, number)
        tree = json.loads(odd.body) | {"model": "test-model-2", "system_fingerprint": "fp-2"}
        return replace(odd, body=json.dumps(tree))

    server.answer = renewed
    found = check(project)["drift"]
    assert found["differences"]["returned_model"][1] == ("test-model-2",)
    assert found["agreement"]["value"] == 1.0


def test_what_does_not_come_again_is_counted_by_cause(project: Project, server: OddServer) -> None:
    server.answer = lambda body, number: completion(None, refusal="No.")
    found = check(project)["drift"]
    assert (found["compared"], found["missing"]) == (0, {"refused": ALL})
    assert found["agreement"]["value"] is None


def test_a_check_that_was_stopped_is_gone_on_with_and_asks_nothing_twice(
    project: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    yes = answering(lambda criterion: "yes")
    server.answer = lambda body, number: yes(body, number) if len(server.bodies) <= 5 else daily
    stopped = check(project, concurrency=1)
    assert (stopped["state"], "drift" in stopped) == ("interrupted", False)
    assert drift.reports(project) == []
    server.answer, asked = yes, len(server.bodies)
    ended = asyncio.run(orders.carry_out(project, orders.unfinished(project, JUDGE)))
    assert ended["drift"]["compared"] == ALL
    assert len(server.bodies) - asked == ALL - 5


def test_each_check_asks_afresh(project: Project, server: OddServer) -> None:
    check(project)
    check(project)
    assert len(server.bodies) == 2 * ALL
    assert len(drift.reports(project)) == 2


def test_an_anchor_set_is_frozen_until_it_is_said_otherwise(project: Project) -> None:
    before = drift.anchored(project, JUDGE)
    with pytest.raises(Refusal, match="has an anchor set"):
        drift.anchor(project, JUDGE, size=3)
    assert drift.anchored(project, JUDGE) == before
    drift.anchor(project, JUDGE, size=3, again=True)
    now = drift.anchored(project, JUDGE)
    assert now is not None
    assert len(now.units) == 3


def test_only_anchored_units_are_asked(project: Project, server: OddServer) -> None:
    drift.anchor(project, JUDGE, size=4, again=True)
    found = check(project)["drift"]
    assert (found["units"], found["compared"], len(server.bodies)) == (4, 4, 4)


def test_of_chosen_systems_and_items_alone_verdicts_are_frozen(project: Project) -> None:
    drift.anchor(project, JUDGE, again=True, systems=["Beta"], items=["2"])
    frozen = drift.anchored(project, JUDGE)
    assert frozen is not None
    assert (len(frozen.units), len({unit.item_id for unit in frozen.units})) == (3, 1)


def test_what_is_not_there_cannot_be_frozen(project: Project) -> None:
    with pytest.raises(Refusal, match="no system “Gamma”"):
        drift.anchor(project, JUDGE, again=True, systems=["Gamma"])
    with pytest.raises(Refusal, match="no item “9”"):
        drift.anchor(project, JUDGE, again=True, items=["9"])


def test_a_check_is_priced_before_it_starts_without_a_call(project: Project, server: OddServer) -> None:
    drift.anchor(project, JUDGE, size=4, again=True)
    found = asyncio.run(orders.foreseen(project, RunRequest(JUDGE, drift.PREFIX + USUAL)))
    assert (found.units, found.calls, found.in_journal, found.calls_afresh) == (4, 4, 0, 4)
    assert server.bodies == []


def test_of_a_check_that_was_stopped_only_the_rest_is_priced(project: Project, server: OddServer) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    yes = answering(lambda criterion: "yes")
    server.answer = lambda body, number: yes(body, number) if len(server.bodies) <= 5 else daily
    check(project, concurrency=1)
    found = asyncio.run(orders.foreseen(project, RunRequest(JUDGE, drift.PREFIX + USUAL)))
    assert (found.calls, found.in_journal) == (ALL - 5, 5)


def test_checks_are_a_view_with_what_changed_then_and_now(project: Project, server: OddServer) -> None:
    assert not drift.sheets(drift.report(project))
    server.answer = changed_its_mind(DATASET)
    check(project)
    drift.anchor(project, JUDGE, again=True)
    check(project)
    whole, changed = (
        [[cell.words for cell in line.cells] for line in sheet.lines]
        for sheet in drift.sheets(drift.report(project, judge=JUDGE))
    )
    assert [(line[1], line[5:9]) for line in whole] == 2 * [(JUDGE, ["4", "12", "none", "nothing"])]
    assert {tuple(line[4:]) for line in changed} == {(DATASET, "yes", "no")}
    assert len(changed) == 8


def test_a_check_is_called_by_what_it_checks() -> None:
    assert judge_offers.title(drift.PREFIX + USUAL) == "Drift check: Coverage of expert criteria"


def test_of_a_judge_asked_several_together_whole_reports_are_frozen(
    project: Project, server: OddServer
) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, together=3)))
    name = f"{JUDGE}, 3 together"
    frozen = drift.anchor(project, name, size=4).after
    assert len(frozen["units"]) == 6
    server.bodies.clear()
    found = asyncio.run(drift.check(project, RunRequest(name)))["drift"]
    assert (found["compared"], len(server.bodies)) == (6, 2)


@pytest.mark.parametrize(("judge", "words"), [("baseline", "calls no model"), ("new", "has no verdicts")])
def test_there_is_nothing_to_freeze(project: Project, server: OddServer, judge: str, words: str) -> None:
    add_judge(project, server, "new")
    with pytest.raises(Refusal, match=words):
        drift.anchor(project, judge)


def test_without_an_anchor_set_nothing_is_asked(project: Project, server: OddServer) -> None:
    add_judge(project, server, "new")
    with pytest.raises(Refusal, match="has no anchor set"):
        asyncio.run(drift.check(project, RunRequest("new")))
    assert server.bodies == []
