"""Cards held against a project: each pinned part changed in turn, judges to be defined, judges bound to a card."""

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import endpoint_memory, judges, prompts
from annotator.actions.judging import card_checks, derived_judges, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import JudgeKind
from annotator.domain.judges.validity_card import PINNED, Identity, Reach, ValidityCard, differences
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from tests.judging.odd_server import OddServer
from tests.projects.carded_project import card_of, carded_project, judged
from tests.projects.made_card import IDENTITY, made_card
from tests.projects.small_project import small_project
from tests.projects.validation_project import person
from tests.servers.served import JUDGE, add_judge

COVERAGE = "researcherbench.coverage"


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Iterator[Project]:
    project = carded_project(tmp_path / "one", server)
    yield project
    project.close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Project]:
    (tmp_path / "other").mkdir()
    project = small_project(tmp_path / "other")
    yield project
    project.close()


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
    project.set(endpoint_memory.SETTING, {f"{judge.base_url} {judge.model}": known})


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
    assert card_checks.check(project, card, JUDGE).holds
    CHANGES[part](project)
    found = card_checks.check(project, card, JUDGE)
    assert [one.part for one in found.differences] == [part]
    (one,) = found.differences
    assert one.on_card != one.now
    assert one.todo
    asked = len(server.bodies)
    with pytest.raises(Refusal, match=f"is not the judge of the card “{JUDGE}”: {part}") as refused:
        card_checks.refuse_order(project, card, RunRequest(JUDGE))
    assert refused.value.details == (one.words(),)
    assert len(server.bodies) == asked


OTHERS: dict[str, Any] = {
    "kind": JudgeKind.BASELINE, "model": "o4", "parameters": {}, "protocol": "adra.plan", "values": ("relevant", "not"),
    "weighting": "alike", "prompt_sha256": "cd" * 32, "together": 5, "weights_shown": True, "forms": ("text",),
    "returned_models": ("o3-mini-2026-05-01",), "program": "0.9", "over": "judges", "members": (IDENTITY,),
}  # fmt: skip


def test_nothing_that_is_pinned_is_forgotten() -> None:
    assert OTHERS.keys() == PINNED.keys() == Identity.model_fields.keys() - {"prompts"}


@pytest.mark.parametrize("part", PINNED)
def test_every_part_alone_makes_another_judge(part: str) -> None:
    (one,) = differences(IDENTITY, IDENTITY.model_copy(update={part: OTHERS[part]}))
    assert (one.part, one.todo) == PINNED[part]
    assert one.on_card != one.now


def test_of_votes_the_members_are_compared_one_by_one() -> None:
    vote = Identity(
        kind=JudgeKind.DERIVED, protocol=COVERAGE, values=("yes", "no"), weighting="by weight", over="judges",
        members=(IDENTITY, IDENTITY),
    )  # fmt: skip
    swapped = vote.model_copy(update={"members": (IDENTITY, IDENTITY.model_copy(update={"model": "o4"}))})
    assert [(one.part, one.on_card, one.now) for one in differences(vote, swapped)] == [
        ("member 2, model", "o3-mini", "o4")
    ]


def test_the_same_judge_again_does_not_differ() -> None:
    assert differences(IDENTITY, IDENTITY) == ()
    seen = IDENTITY.model_copy(update={"forms": (), "returned_models": ()})
    assert differences(IDENTITY, seen) == ()
    assert differences(seen, IDENTITY) == ()


def test_another_protocol_is_refused_for_an_order(project: Project) -> None:
    with pytest.raises(Refusal, match="protocol"):
        card_checks.refuse_order(project, card_of(project), RunRequest(JUDGE, "researcherbench.claims"))


def test_a_card_of_several_together_is_for_those(project: Project) -> None:
    judged(project, together=3)
    card = card_of(project, f"{JUDGE}, 3 together")
    assert card.judge.together == 3
    card_checks.refuse_order(project, card, RunRequest(JUDGE, together=3))
    with pytest.raises(Refusal, match="units in one call"):
        card_checks.refuse_order(project, card, RunRequest(JUDGE))
    assert card_checks.check(project, card).judge == f"{JUDGE}, 3 together"


def test_in_another_project_the_judge_is_to_be_defined(
    project: Project, other: Project, server: OddServer
) -> None:
    card = card_of(project)
    found = card_checks.check(other, card)
    assert (found.judge, found.holds, found.differences) == ("", False, ())
    assert found.words()[-1].startswith("Define a judge that asks for “test-model” with no parameters")
    add_judge(other, server, "under another name")
    found = card_checks.check(other, card)
    assert (found.judge, found.holds) == ("under another name", True)
    assert any("not known yet in which form" in remark for remark in found.remarks)


def test_the_judge_that_is_most_like_the_card_is_shown(
    project: Project, other: Project, server: OddServer
) -> None:
    card = card_of(project)
    add_judge(other, server, JUDGE, parameters='{"temperature": 1}', asking='{"weights_shown": true}')
    add_judge(other, server, "closer", parameters='{"temperature": 1}')
    assert card_checks.check(other, card).judge == "closer"
    assert len(card_checks.check(other, card, JUDGE).differences) == 2


def test_what_makes_no_other_judge_is_remarked(project: Project) -> None:
    card = card_of(project)
    away = card.model_copy(update={"reach": Reach.FAR, "app_version": "0.0.1"}).sealed()
    found = card_checks.check(project, away)
    assert found.holds
    assert any("on this machine, that of the card on the internet" in remark for remark in found.remarks)
    assert any("made with Goldsmith 0.0.1" in remark for remark in found.remarks)


def test_a_protocol_that_nobody_knows_is_refused(other: Project) -> None:
    strange = made_card(judge=IDENTITY.model_copy(update={"protocol": "someone.else"}))
    with pytest.raises(Refusal, match="a protocol that this Goldsmith does not know"):
        card_checks.check(other, strange)


def test_verdicts_by_other_settings_are_not_corrected_under_a_card(project: Project) -> None:
    card = card_of(project)
    card_checks.refuse_verdicts(project, card, JUDGE, COVERAGE)
    # What the judge is now changes nothing of the verdicts that it gave.
    change(project, parameters='{"temperature": 1}')
    card_checks.refuse_verdicts(project, card, JUDGE, COVERAGE)
    run_by(project, "UPDATE run SET prompt_sha256 = ?", "ff" * 32)
    with pytest.raises(Refusal, match="prompt"):
        card_checks.refuse_verdicts(project, card, JUDGE, COVERAGE)


def test_a_judge_bound_to_its_card_does_not_judge_as_another(project: Project, server: OddServer) -> None:
    card = card_of(project)
    card_checks.bind(project, card, JUDGE)
    judge_id = judges.named(project, JUDGE).id
    assert [(one.judge_id, one.sha256) for one in card_checks.bound(project)] == [(judge_id, card.sha256)]
    run_by(project, "DELETE FROM judgement WHERE rater_kind = ?", "judge")
    change(project, parameters='{"temperature": 1}')
    asked = len(server.bodies)
    with pytest.raises(Refusal, match="request parameters"):
        judged(project)
    assert len(server.bodies) == asked
    change(project, parameters="{}")
    judged(project)
    card_checks.release(project, judge_id, COVERAGE)
    assert card_checks.bound(project) == []
    change(project, parameters='{"temperature": 1}')
    judged(project)
    with pytest.raises(Refusal, match="not bound to a card"):
        card_checks.release(project, judge_id, COVERAGE)


def test_only_the_judge_of_a_card_is_bound_to_it(project: Project) -> None:
    card = card_of(project)
    change(project, parameters='{"temperature": 1}')
    with pytest.raises(Refusal, match="request parameters"):
        card_checks.bind(project, card, JUDGE)
    project.work_as(person(project, "R2"))
    with pytest.raises(Refusal, match="Only a coordinator"):
        card_checks.bind(project, card, JUDGE)


def test_a_bound_judge_is_still_bound_when_the_project_is_opened_again(project: Project) -> None:
    card_checks.bind(project, card_of(project), JUDGE)
    again = Project.open(project.path, readonly=True)
    assert len(card_checks.bound(again)) == 1
    again.close()


def test_the_baseline_is_bound_to_the_version_that_it_is_part_of(project: Project) -> None:
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    card = card_of(project, "baseline")
    assert (card.reach, card.judge.prompt_sha256, card.judge.forms) == (Reach.NONE, "", ())
    assert card_checks.check(project, card).holds
    older = card.model_copy(update={"judge": card.judge.model_copy(update={"program": "0.0.1"})}).sealed()
    assert [one.part for one in card_checks.check(project, older).differences] == ["version of the program"]


def test_a_vote_is_known_by_its_members(project: Project, server: OddServer) -> None:
    add_judge(project, server, "second", parameters='{"seed": 7}')
    judged(project, "second")
    derived_judges.add(project, "panel", (JUDGE, "second"))
    judged(project, "panel")
    card = card_of(project, "panel")
    assert (card.judge.over, len(card.judge.members)) == ("judges", 2)
    assert card_checks.check(project, card).holds
    change(project, parameters='{"temperature": 1}')
    assert [one.part for one in card_checks.check(project, card).differences] == [
        "member 2, request parameters"
    ]


def test_only_runs_of_its_own_protocol_are_bound(project: Project) -> None:
    card: ValidityCard = card_of(project)
    card_checks.bind(project, card, JUDGE)
    reword(project)
    judge = judges.named(project, JUDGE)
    card_checks.refuse_unbound(project, judge, "researcherbench.claims")
    with pytest.raises(Refusal, match="prompt"):
        card_checks.refuse_unbound(project, judge, COVERAGE)


def test_the_judge_of_a_card_is_defined_in_another_project(
    project: Project, other: Project, server: OddServer
) -> None:
    change(project, parameters='{"temperature": 0}', asking='{"weights_shown": true}')
    run_by(project, "DELETE FROM judgement WHERE rater_kind = ?", "judge")
    judged(project)
    card = card_of(project)
    card_checks.define(other, card, server.url, "theirs")
    assert card_checks.check(other, card, "theirs").holds
    with pytest.raises(Refusal, match="a baseline, not a model"):
        card_checks.define(
            other, made_card(judge=IDENTITY.model_copy(update={"kind": JudgeKind.BASELINE})), server.url
        )


def test_a_judge_whose_parameters_held_a_secret_is_not_defined_from_its_card(other: Project) -> None:
    hidden = made_card(judge=IDENTITY.model_copy(update={"parameters": {"api_key": "[key removed]"}}))
    with pytest.raises(Refusal, match="left out of the card's parameters"):
        card_checks.define(other, hidden, "http://127.0.0.1:1/v1")
