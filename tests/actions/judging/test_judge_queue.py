"""Runs that wait for their turn."""

import pytest

from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_queue
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal

ALPHA = RunRequest("baseline", systems=("Alpha",), items=("1",), budget_usd=2.5)
BETA = RunRequest("baseline", systems=("Beta",))
DRAWING = "researcherbench.claims.extract"


def test_orders_wait_in_turn_and_outlive_the_window(project: Project) -> None:
    for order in (ALPHA, BETA):
        judge_queue.add(project, order)
    again = Project.open(project.path)
    assert [judge_queue.take(again), judge_queue.take(again), judge_queue.take(again)] == [ALPHA, BETA, None]
    again.close()


def test_the_same_order_waits_once_whatever_its_budget(project: Project) -> None:
    judge_queue.add(project, ALPHA)
    with pytest.raises(Refusal, match="is already queued"):
        judge_queue.add(project, RunRequest("baseline", systems=("Alpha",), items=("1",)))


def test_an_order_changes_places_and_can_be_taken_out(project: Project) -> None:
    first, second = judge_queue.add(project, ALPHA), judge_queue.add(project, BETA)
    judge_queue.move(project, second.id, -1)
    judge_queue.move(project, second.id, -1)
    assert [one.order for one in judge_queue.waiting(project)] == [BETA, ALPHA]
    judge_queue.remove(project, second.id)
    assert judge_queue.waiting(project) == [first]
    with pytest.raises(Refusal, match="is no longer queued"):
        judge_queue.remove(project, second.id)


@pytest.mark.parametrize(
    ("order", "words"),
    [
        (RunRequest("nobody"), "There is no judge “nobody”"),
        (RunRequest("baseline", systems=("Gamma",)), "There is no system “Gamma”"),
        (RunRequest("baseline", "adra.efficiency"), "is computed"),
        (RunRequest("baseline", DRAWING, systems=("Gamma",)), "There is no system “Gamma”"),
        (RunRequest("vote", DRAWING), "A vote cannot extract"),
    ],
)
def test_what_cannot_be_carried_out_does_not_wait(project: Project, order: RunRequest, words: str) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    with pytest.raises(Refusal, match=words):
        judge_queue.add(project, order)
    assert judge_queue.waiting(project) == []


def test_an_extraction_may_wait_too(project: Project) -> None:
    judge_queue.add(project, RunRequest("baseline", DRAWING))
    assert len(judge_queue.waiting(project)) == 1


def test_orders_of_a_judge_that_is_held_back_wait_on(project: Project) -> None:
    judges.add(project, "far", base_url="http://127.0.0.1:9/v1", model="tiny")
    far = RunRequest("far")
    for order in (far, BETA):
        judge_queue.add(project, order)
    assert judge_queue.take(project, without={"far"}) == BETA
    assert judge_queue.take(project, without={"far"}) is None
    assert judge_queue.take(project) == far
