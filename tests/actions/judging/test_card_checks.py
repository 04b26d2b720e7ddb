"""Cards held against a project: each pinned part changed in turn, judges to be defined, judges bound to a card."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.validation import PINNED, Identity, Reach, ValidityCard, differences
from annotator.domain.texts.canonical import now
from tests.judging.odd_server import OddServer
from tests.projects.carded_project import card_of, carded_project, judged
from tests.projects.made_card import IDENTITY, made_card
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.projects.validation_project import person
from tests.servers.served import JUDGE, add_judge

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


def run_by(project: Project, statement: str, *values: str) -> None:
    with project.store.write() as db:
        db.exec_driver_sql(statement, values)


def learn(project: Project) -> None:
    judge = judges.named(project, JUDGE)
    known = {"dropped": [], "renamed": {}, "form": "text", "since": now().isoformat()}
    project.set(kept_keys.SETTING, {f"{judge.base_url} {judge.model}": known})


CHANGES: dict[str, Callable[[Project], None]] = {
    "model": lambda project: run_by(project, "UPDATE judge SET model = ?", "another-model"),
    "request parameters": lambda project: change(project, parameters='{"temperature": 1}'),
    "prompt": reword,
    "told what units weigh": lambda project: change(project, asking='{"weights_shown": true}'),
    "units in one call": lambda project: change(project, asking='{"together": 3}'),
    "form of its answers": learn,
    "model that answers": lambda project: run_by(project, "UPDATE call SET returned_model = ?", "newer"),
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
    assert refused.details == (one.words(),)
    assert len(server.bodies) == asked


OTHERS: dict[str, Any] = {
    "kind": JudgeKind.BASELINE, "model": "o4", "parameters": {}, "protocol": "adra.plan", "values": ("relevant", "not"),
    "weighting": "alike", "prompt_sha256": "cd" * 32, "together": 5, "weights_shown": True, "forms": ("text",),
    "returned_models": ("o3-mini-2026-05-01",), "program": "0.9", "over": "judges", "members": (IDENTITY,),
}  # fmt: skip


def test_identities_are_compared_part_by_part() -> None:
    assert OTHERS.keys() == PINNED.keys() == Identity.model_fields.keys() - {"prompts"}
    assert differences(IDENTITY, IDENTITY) == ()
    seen = IDENTITY.model_copy(update={"forms": (), "returned_models": ()})
    assert differences(IDENTITY, seen) == ()
    assert differences(seen, IDENTITY) == ()
    vote = Identity(
        kind=JudgeKind.DERIVED, protocol=COVERAGE, values=("yes", "no"), weighting="by weight", over="judges",
        members=(IDENTITY, IDENTITY),
    )  # fmt: skip
    swapped = vote.model_copy(update={"members": (IDENTITY, IDENTITY.model_copy(update={"model": "o4"}))})
    assert [
        (difference.part, difference.on_card, difference.now) for difference in differences(vote, swapped)
    ] == [("member 2, model", "o3-mini", "o4")]


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
    away = card_of(project).model_copy(update=elsewhere).sealed()
    result = derived_judges.check(project, away)
    assert result.holds
    assert any("not publishable: too many verdicts are missing" in remark for remark in result.remarks)
    assert any("on this machine, that of the card on the internet" in remark for remark in result.remarks)
    assert any("made with Goldsmith 0.0.1" in remark for remark in result.remarks)
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
    assert any("not known yet in which form" in remark for remark in result.remarks)
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
    run_by(project, "UPDATE run SET prompt_sha256 = ?", "ff" * 32)
    expect_refusal("prompt", derived_judges.refuse_verdicts, project, card, JUDGE, COVERAGE)


def test_a_judge_bound_to_its_card_does_not_judge_as_another(project: Project, server: OddServer) -> None:
    card = card_of(project)
    derived_judges.bind(project, card, JUDGE)
    judge_id = judges.named(project, JUDGE).id
    assert [(one.judge_id, one.sha256) for one in derived_judges.bound(project)] == [(judge_id, card.sha256)]
    run_by(project, "DELETE FROM judgement WHERE rater_kind = ?", "judge")
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
    run_by(project, "DELETE FROM judgement WHERE rater_kind = ?", "judge")
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
