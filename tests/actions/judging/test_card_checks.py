"""Cards held against a project: each pinned part changed in turn, judges to be defined, judges bound to a card.

That a judge that has changed is noticed, and that judges come back from a release as they were.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.imports import imports
from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import derived_judges, drift, judge_runs
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import results
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import now
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.validation import PINNED, Identity, Reach, ValidityCard, differences
from annotator.protocols import USUAL
from tests.common import expect_refusal
from tests.judging.odd_server import Odd, OddServer, completion, error
from tests.projects.made_card import IDENTITY, made_card
from tests.projects.small_projects import small_project
from tests.projects.validation_project import person
from tests.servers.served import JUDGE, add_judge, answering, card_of, carded_project, judged, judged_project
from tests.storage import sql

COVERAGE = "researcherbench.coverage"


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return carded_project(tmp_path / "one", server)


@pytest.fixture
def other(tmp_path: Path) -> Project:
    (tmp_path / "other").mkdir()
    return small_project(tmp_path / "other")


def change(project: Project, **fields: str) -> None:
    judges.change(project, judges.named(project, JUDGE).id, fields)


def reword(project: Project) -> None:
    prompts.write(project, COVERAGE, prompts.shipped(COVERAGE).replace("# user", "Be strict.\n\n# user"))


def learn(project: Project) -> None:
    judge = judges.named(project, JUDGE)
    project.set(
        kept_keys.SETTING,
        {
            f"{judge.base_url} {judge.model}": {
                "dropped": [],
                "renamed": {},
                "form": "text",
                "since": now().isoformat(),
            }
        },
    )


CHANGES: dict[str, Callable[[Project], None]] = {
    "model": lambda project: sql.alter(project, "UPDATE judge SET model = ?", ["another-model"]),
    "request parameters": lambda project: change(project, parameters='{"temperature": 1}'),
    "prompt": reword,
    "told what units weigh": lambda project: change(project, asking='{"weights_shown": true}'),
    "units in one call": lambda project: change(project, asking='{"together": 3}'),
    "form of its answers": learn,
    "model that answers": lambda project: sql.alter(project, "UPDATE call SET returned_model = ?", ["newer"]),
}


@pytest.mark.parametrize("part", CHANGES)
def test_each_pinned_part_that_changes_is_named_and_no_call_is_made(
    project: Project, server: OddServer, part: str
) -> None:
    card = card_of(project)
    assert derived_judges.check(project, card, JUDGE).holds
    CHANGES[part](project)
    result = derived_judges.check(project, card, JUDGE)
    assert [difference.part for difference in result.differences] == [part]
    (one,) = result.differences
    assert one.on_card != one.now
    assert one.todo
    asked = len(server.bodies)
    refused = expect_refusal(
        f"is not the judge of the card “{JUDGE}”: {part}",
        derived_judges.refuse_order,
        project,
        card,
        RunRequest(JUDGE),
    )
    assert (refused.details, len(server.bodies)) == ((one.words(),), asked)


OTHERS: dict[str, Any] = {
    "kind": JudgeKind.BASELINE, "model": "o4", "parameters": {}, "protocol": "adra.plan", "values": ("relevant", "not"),
    "weighting": "alike", "prompt_sha256": "cd" * 32, "together": 5, "weights_shown": True, "forms": ("text",),
    "returned_models": ("o3-mini-2026-05-01",), "program": "0.9", "over": "judges", "members": (IDENTITY,),
}  # fmt: skip


def test_what_only_calls_can_tell_is_not_compared_without_any() -> None:
    assert OTHERS.keys() == PINNED.keys() == Identity.model_fields.keys() - {"prompts"}
    seen = IDENTITY.model_copy(update={"forms": (), "returned_models": ()})
    assert (differences(IDENTITY, seen), differences(seen, IDENTITY)) == ((), ())


@pytest.mark.parametrize("part", PINNED)
def test_every_part_alone_makes_another_judge(part: str) -> None:
    (one,) = differences(IDENTITY, IDENTITY.model_copy(update={part: OTHERS[part]}))
    assert (one.part, one.todo) == PINNED[part]
    assert one.on_card != one.now


def test_a_card_is_for_its_protocol_and_judge(project: Project) -> None:
    expect_refusal(
        "protocol",
        derived_judges.refuse_order,
        project,
        card_of(project),
        RunRequest(JUDGE, "researcherbench.claims"),
    )
    assert derived_judges.check(project, card_of(project)).remarks == ()
    elsewhere = {"reach": Reach.FAR, "app_version": "0.0.1", "missing_limit": -1.0}
    result = derived_judges.check(project, card_of(project).model_copy(update=elsewhere).sealed())
    # Too much is missing on it, it reached the internet, and another program made it.
    assert (result.holds, len(result.remarks)) == (True, 3)
    derived_judges.bind(project, card_of(project), JUDGE)
    assert len(derived_judges.bound(Project.open(project.path, readonly=True))) == 1
    card = card_of(project)
    change(project, parameters='{"temperature": 1}')
    expect_refusal("request parameters", derived_judges.bind, project, card, JUDGE)
    project.work_as(person(project, "R2"))
    expect_refusal("Only a coordinator", derived_judges.bind, project, card, JUDGE)


def test_a_card_of_several_together_is_for_those(project: Project) -> None:
    judged(project, together=3)
    card = card_of(project, f"{JUDGE}, 3 together")
    assert card.judge.together == 3
    derived_judges.refuse_order(project, card, RunRequest(JUDGE, together=3))
    expect_refusal("units in one call", derived_judges.refuse_order, project, card, RunRequest(JUDGE))
    assert derived_judges.check(project, card).judge == f"{JUDGE}, 3 together"


def test_in_another_project_the_judge_most_like_the_card_is_shown_or_is_to_be_defined(
    project: Project, other: Project, server: OddServer
) -> None:
    card = card_of(project)
    result = derived_judges.check(other, card)
    assert (result.judge, result.holds, result.differences) == ("", False, ())
    assert result.words()[-1].startswith("Define a judge that asks for “test-model” with no parameters")
    add_judge(other, server, JUDGE, parameters='{"temperature": 1}', asking='{"weights_shown": true}')
    add_judge(other, server, "closer", parameters='{"temperature": 1}')
    assert derived_judges.check(other, card).judge == "closer"
    assert len(derived_judges.check(other, card, JUDGE).differences) == 2
    add_judge(other, server, "under another name")
    result = derived_judges.check(other, card)
    assert (result.judge, result.holds) == ("under another name", True)
    strange = made_card(judge=IDENTITY.model_copy(update={"protocol": "someone.else"}))
    expect_refusal("a protocol that this Goldsmith does not know", derived_judges.check, other, strange)


def test_new_runs_by_other_settings_are_refused_and_verdicts_are_held_to_how_they_were_given(
    project: Project,
) -> None:
    card: ValidityCard = card_of(project)
    derived_judges.bind(project, card, JUDGE)
    reword(project)
    judge = judges.named(project, JUDGE)
    derived_judges.refuse_unbound(project, judge, "researcherbench.claims")
    expect_refusal("prompt", derived_judges.refuse_unbound, project, judge, COVERAGE)
    # What the judge is now changes nothing of the verdicts that it gave.
    change(project, parameters='{"temperature": 1}')
    derived_judges.refuse_verdicts(project, card, JUDGE, COVERAGE)
    sql.alter(project, "UPDATE run SET prompt_sha256 = ?", ["ff" * 32])
    expect_refusal("prompt", derived_judges.refuse_verdicts, project, card, JUDGE, COVERAGE)


def test_a_judge_bound_to_its_card_does_not_judge_as_another(project: Project, server: OddServer) -> None:
    card = card_of(project)
    derived_judges.bind(project, card, JUDGE)
    judge_id = judges.named(project, JUDGE).id
    assert [(one.judge_id, one.sha256) for one in derived_judges.bound(project)] == [(judge_id, card.sha256)]
    sql.alter(project, "DELETE FROM judgement WHERE rater_kind = ?", ["judge"])
    change(project, parameters='{"temperature": 1}')
    asked = len(server.bodies)
    expect_refusal("request parameters", judged, project)
    assert len(server.bodies) == asked
    change(project, parameters="{}")
    judged(project)
    derived_judges.release(project, judge_id, COVERAGE)
    assert derived_judges.bound(project) == []
    change(project, parameters='{"temperature": 1}')
    judged(project)
    expect_refusal("not bound to a card", derived_judges.release, project, judge_id, COVERAGE)


def test_the_baseline_is_bound_to_the_version_that_it_is_part_of(project: Project) -> None:
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    card = card_of(project, "baseline")
    assert (card.reach, card.judge.prompt_sha256, card.judge.forms) == (Reach.NONE, "", ())
    assert derived_judges.check(project, card).holds
    older = card.model_copy(update={"judge": card.judge.model_copy(update={"program": "0.0.1"})}).sealed()
    assert [difference.part for difference in derived_judges.check(project, older).differences] == [
        "version of the program"
    ]


def test_a_vote_is_known_by_its_members(project: Project, server: OddServer) -> None:
    add_judge(project, server, "second", parameters='{"seed": 7}')
    judged(project, "second")
    derived_judges.add(project, "panel", (JUDGE, "second"))
    judged(project, "panel")
    card = card_of(project, "panel")
    assert (card.judge.over, len(card.judge.members)) == ("judges", 2)
    assert derived_judges.check(project, card).holds
    change(project, parameters='{"temperature": 1}')
    assert [difference.part for difference in derived_judges.check(project, card).differences] == [
        "member 2, request parameters"
    ]


def test_the_judge_of_a_card_is_defined_in_another_project(
    project: Project, other: Project, server: OddServer
) -> None:
    change(project, parameters='{"temperature": 0}', asking='{"weights_shown": true}')
    sql.alter(project, "DELETE FROM judgement WHERE rater_kind = ?", ["judge"])
    judged(project)
    card = card_of(project)
    derived_judges.define(other, card, server.url, "theirs")
    assert derived_judges.check(other, card, "theirs").holds
    expect_refusal(
        "a baseline, not a model",
        derived_judges.define,
        other,
        made_card(judge=IDENTITY.model_copy(update={"kind": JudgeKind.BASELINE})),
        server.url,
    )
    hidden = made_card(judge=IDENTITY.model_copy(update={"parameters": {"api_key": "[key removed]"}}))
    expect_refusal("left out of the card's parameters", derived_judges.define, other, hidden, server.url)


# Two items with three criteria, two systems.
ALL = 12
DATASET = "Names one dataset"


@pytest.fixture
def anchored(tmp_path: Path, server: OddServer) -> Project:
    """A project in which the judge has said yes to everything, and all of it is frozen."""
    anchored = judged_project(tmp_path, server, "yes")
    drift.anchor(anchored, JUDGE)
    return anchored


def checked(anchored: Project, **how: Any) -> dict[str, Any]:
    return asyncio.run(drift.check(anchored, RunRequest(JUDGE, **how)))


def test_changes_are_listed_and_make_no_result(anchored: Project, server: OddServer) -> None:
    assert not drift.sheets(drift.report(anchored))
    before = [results.plain(row) for row in results.rows(anchored)]
    server.answer = answering(lambda criterion: "no" if criterion == DATASET else "yes")
    checked(anchored)
    (result,) = drift.reports(anchored, JUDGE)
    # One of the three criteria of each of four reports.
    assert result.agreement.value == pytest.approx(8 / 12)
    assert {(one.item, one.system, one.before, one.after) for one in result.changed} == {
        (item, system, "yes", "no") for item in "12" for system in ("Alpha", "Beta")
    }
    assert [results.plain(row) for row in results.rows(anchored)] == before
    drift.anchor(anchored, JUDGE, again=True)
    checked(anchored)
    # It is asked afresh each time.
    assert len(server.bodies) == 2 * ALL
    whole, changed = (
        [[cell.words for cell in line.cells] for line in sheet.lines]
        for sheet in drift.sheets(drift.report(anchored, judge=JUDGE))
    )
    assert [(line[1], line[5:9]) for line in whole] == 2 * [(JUDGE, ["4", "12", "none", "nothing"])]
    assert ({tuple(line[4:]) for line in changed}, len(changed)) == ({(DATASET, "yes", "no")}, 8)


def test_another_model_behind_the_same_name_is_named_and_what_does_not_come_again_counted(
    anchored: Project, server: OddServer
) -> None:
    yes = answering(lambda criterion: "yes")

    def renewed(body: dict[str, Any], number: int) -> Odd:
        odd = yes(body, number)
        tree = json.loads(odd.body) | {"model": "test-model-2", "system_fingerprint": "fp-2"}
        return replace(odd, body=json.dumps(tree))

    server.answer = renewed
    result = checked(anchored)["drift"]
    assert (result["differences"]["returned_model"][1], result["agreement"]["value"]) == (
        ("test-model-2",), 1.0,
    )  # fmt: skip
    server.answer = lambda body, number: completion(None, refusal="No.")
    result = checked(anchored)["drift"]
    assert (result["compared"], result["missing"], result["agreement"]["value"]) == (
        0, {"refused": ALL}, None,
    )  # fmt: skip


def test_a_check_that_was_stopped_is_gone_on_with_and_asks_nothing_twice(
    anchored: Project, server: OddServer
) -> None:
    daily = replace(error(429, "daily quota"), headers={"retry-after": "86400"})
    yes = answering(lambda criterion: "yes")
    server.answer = lambda body, number: yes(body, number) if len(server.bodies) <= 5 else daily
    stopped = checked(anchored, concurrency=1)
    assert (stopped["state"], "drift" in stopped, drift.reports(anchored)) == ("interrupted", False, [])
    rest = asyncio.run(orders.foreseen(anchored, RunRequest(JUDGE, drift.PREFIX + USUAL)))
    assert (rest.calls, rest.in_journal) == (ALL - 5, 5)
    server.answer, asked = yes, len(server.bodies)
    ended = asyncio.run(orders.carry_out(anchored, orders.unfinished(anchored, JUDGE)))
    assert (ended["drift"]["compared"], len(server.bodies) - asked) == (ALL, ALL - 5)


def test_anchor_sets_are_frozen_for_what_is_there(anchored: Project) -> None:
    expect_refusal("no system “Gamma”", drift.anchor, anchored, JUDGE, again=True, systems=["Gamma"])
    expect_refusal("no item “9”", drift.anchor, anchored, JUDGE, again=True, items=["9"])
    drift.anchor(anchored, JUDGE, again=True, systems=["Beta"], items=["2"])
    frozen = drift.anchored(anchored, JUDGE)
    assert (len(frozen.units), len({unit.item_id for unit in frozen.units})) == (3, 1)
    before = drift.anchored(anchored, JUDGE)
    expect_refusal("has an anchor set", drift.anchor, anchored, JUDGE, size=3)
    assert drift.anchored(anchored, JUDGE) == before
    drift.anchor(anchored, JUDGE, size=3, again=True)
    assert len(drift.anchored(anchored, JUDGE).units) == 3


def test_only_anchored_units_are_asked_and_priced_and_whole_reports_where_several_are_asked_together(
    anchored: Project, server: OddServer
) -> None:
    drift.anchor(anchored, JUDGE, size=4, again=True)
    result = asyncio.run(orders.foreseen(anchored, RunRequest(JUDGE, drift.PREFIX + USUAL)))
    assert (result.units, result.calls, result.in_journal, result.calls_afresh) == (4, 4, 0, 4)
    assert server.bodies == []
    result = checked(anchored)["drift"]
    assert (result["units"], result["compared"], len(server.bodies)) == (4, 4, 4)
    asyncio.run(judge_runs.run(anchored, RunRequest(JUDGE, together=3)))
    name = f"{JUDGE}, 3 together"
    assert len(drift.anchor(anchored, name, size=4).after["units"]) == 6
    server.bodies.clear()
    result = asyncio.run(drift.check(anchored, RunRequest(name)))["drift"]
    assert (result["compared"], len(server.bodies)) == (6, 2)


def test_without_verdicts_there_is_no_anchor_and_without_an_anchor_nothing_is_asked(
    anchored: Project, server: OddServer
) -> None:
    add_judge(anchored, server, "new")
    expect_refusal("calls no model", drift.anchor, anchored, "baseline")
    expect_refusal("has no verdicts", drift.anchor, anchored, "new")
    expect_refusal("has no anchor set", asyncio.run, drift.check(anchored, RunRequest("new")))
    assert server.bodies == []


def test_judges_come_back_as_they_were_asked(tmp_path: Path, server: OddServer) -> None:
    asked_project = small_project(tmp_path)
    add_judge(asked_project, server, asking='{"weights_shown": true}')
    for order in (RunRequest(JUDGE, trials=3), RunRequest(JUDGE, together=2)):
        asyncio.run(judge_runs.run(asked_project, order))
    derived_judges.add(asked_project, "vote", [JUDGE])
    asyncio.run(judge_runs.run(asked_project, RunRequest("vote")))
    releases.export(asked_project, tmp_path / "out")
    with closing(Project.create(tmp_path / "taken.goldsmith", "small")) as taken:
        imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)
        there, here = (
            {judge.name: (judge.kind, judge.settings, judge.parameters) for judge in judges.all_of(each)}
            for each in (taken, asked_project)
        )
        assert there["distant, 2 together"][1].together == 2
        assert there["vote"][0] == JudgeKind.DERIVED
        assert there == here
        assert str(imports.run(taken, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
        assert len(results.rows(taken, judges.named(taken, "vote").id)) == len(
            results.rows(asked_project, judges.named(asked_project, "vote").id)
        )
