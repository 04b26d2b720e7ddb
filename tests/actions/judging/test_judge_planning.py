"""What an order comes to at a glance, and the keys that a person writes."""

import asyncio

import pytest

from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges, judge_planning, judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_totals, run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.texts.refusal import Refusal
from tests.servers.said_by_judges import say
from tests.storage import sql


def test_an_order_is_looked_at_before_and_after_it_is_carried_out(project: Project) -> None:
    before = judge_planning.look(project, RunRequest("baseline"))
    assert (before.total, before.to_do, before.refused) == (12, 12, False)
    asyncio.run(judge_runs.run(project, RunRequest("baseline")))
    after = judge_planning.look(project, RunRequest("baseline"))
    assert (after.to_do, after.words) == (0, "All 12 criteria of 4 reports are judged.")


def test_an_extraction_is_looked_at_too(project: Project) -> None:
    found = judge_planning.look(project, RunRequest("baseline", "researcherbench.claims.extract"))
    assert found.words == "4 of 4 reports are not processed yet."


def test_what_cannot_be_carried_out_is_told_in_words(project: Project) -> None:
    found = judge_planning.look(project, RunRequest("baseline", "adra.efficiency"))
    assert found.refused
    assert "computed" in found.words
    trials = judge_planning.look(project, RunRequest("baseline", trials=3))
    assert trials.refused
    assert "calls no model" in trials.words


@pytest.mark.parametrize(
    ("words", "keys"),
    [
        ("", ()),
        (" 2 ", ("2",)),
        ("2, 1,2", ("2", "1")),
        ("1–3", ("1", "2", "3")),
        ("1-2、4-a", ("1", "2", "4-a")),
        ("2 .. 3；1", None),
    ],
)
def test_items_are_named_by_keys_and_stretches(
    project: Project, words: str, keys: tuple[str, ...] | None
) -> None:
    items.add(project, "A third?")
    fourth = items.add(project, "A fourth?").subject
    with project.store.write():
        sql.alter(project, "UPDATE item SET key = '4-a' WHERE id = ?", [fourth])
    if keys is None:
        with pytest.raises(Refusal, match="There is no item"):
            judge_planning.keys_of(project, words)
    else:
        assert judge_planning.keys_of(project, words) == keys


def test_a_stretch_that_runs_backwards_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="2–1"):
        judge_planning.keys_of(project, "2–1")


def test_what_a_judge_came_to_is_summed_over_all_it_was_asked(project: Project) -> None:
    judges.add(project, "a", base_url="http://127.0.0.1:1/v1", model="m")
    say(project, "a", "yyn---")
    whole = judge_totals.summed(judge_totals.totals(project), judges.named(project, "a").id)
    assert (whole.verdicts, dict(whole.missing), whole.spent_usd) == (3, {"invalid": 3}, None)
    assert judges.has_judged(project, whole.judge_id)
    assert not judges.has_judged(project, judges.BASELINE.id)


def test_the_members_of_a_vote_are_named(project: Project) -> None:
    derived_judges.add(project, "vote", ["baseline"])
    assert derived_judges.members(project, judges.named(project, "vote")) == ["baseline"]


def test_whether_a_run_goes_on_is_told_by_its_lock(project: Project) -> None:
    assert not run_records.under_way(project)
    with run_records.alone(project):
        assert run_records.under_way(project)
    assert not run_records.under_way(project)
