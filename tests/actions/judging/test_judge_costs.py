"""That what judging has cost is shared out among what rests on it, and adds up."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from annotator.actions.items import items
from annotator.actions.judging import judge_costs
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import call_hash
from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status
from annotator.domain.texts.change import now
from annotator.domain.texts.refusal import Refusal
from annotator.storage.tables import CALL, JudgeRow, RunRow, table
from tests.projects.filled_project import add_judgement
from tests.projects.small_project import small_project, units_of
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Item 1: two criteria together in one call of 0.04, after one that failed and cost 0.02. Item 2: 0.01 and unknown.

    A second judge has used the first one's answer on item 2's first criterion.
    """
    project = small_project(tmp_path)
    judge = {
        "kind": "endpoint",
        "base_url": "",
        "model": "m",
        "key_env": "",
        "parameters": "{}",
        "asking": "{}",
    }
    with project.store.write() as db:
        for number in (1, 2):
            named = {"id": f"judge-{number}", "name": f"judge {number}", "retired": False}
            db.execute(insert(table(JudgeRow)).values(**judge, **named))
        db.execute(
            insert(table(RunRow)).values(
                id="run-1", judge_id="judge-1", protocol="researcherbench.coverage", state="done", scope="{}",
                snapshot="{}", prompt_sha256="", total=0, done=0, started_at=now(), by="",
            )
        )  # fmt: skip
    call(project, "c-0", "k-1", 0.02, Status.API_ERROR)
    call(project, "c-1", "k-1", 0.04)
    call(project, "c-2", "k-2", 0.01)
    call(project, "c-3", "k-3", None)
    first, second = items.ids(project)
    judged(project, first, 0, "c-1")
    judged(project, first, 1, "c-1")
    judged(project, second, 0, "c-2")
    judged(project, second, 0, "c-2", "judge-2")
    judged(project, second, 1, "c-3")
    yield project
    project.close()


def call(
    project: Project,
    name: str,
    key: str,
    cost: float | None,
    status: Status = Status.OK,
    tokens: int | None = 5,
) -> None:
    row = Call(
        id=name, run_id="run-1", judge_id="judge-1", cache_key=key, status=status, cost_usd=cost,
        tokens_output=tokens,
    )  # fmt: skip
    tree = row.model_dump(mode="json")
    with project.store.write() as db:
        db.execute(insert(CALL).values(**tree, at=now(), sha256=call_hash(tree)))


def judged(project: Project, item: str, place: int, call_id: str, judge: str = "judge-1") -> None:
    question = (
        "SELECT r.id FROM response r JOIN system s ON s.id = r.system_id WHERE item_id = ? AND name = 'Alpha'"
    )
    (response,) = sql.first(project, question, [item])
    unit = units_of(project, item)[place]
    # The row's id is made of what is judged; a second judge's needs another.
    named: dict[str, Any] = {"rater_id": judge, "trial": int(judge[-1])}
    add_judgement(
        project, item_id=item, response_id=response, unit_id=unit, call_id=call_id, artifact_id="", **named
    )


def by(project: Project, what: str, **only: str) -> dict[str, tuple[int, float | None, int]]:
    found = judge_costs.costs(project, what, **only)
    return {one.name: (one.judgements, one.cost_usd, one.unpriced) for one in found}


def test_by_judge_whoever_asked_has_paid(project: Project) -> None:
    assert by(project, "judge") == {"judge 1": (4, pytest.approx(0.07), 1)}


def test_by_run_and_by_purpose_the_same_is_told(project: Project) -> None:
    assert by(project, "run") == {"run-1": (5, pytest.approx(0.07), 1)}
    assert by(project, "purpose") == {"judging": (4, pytest.approx(0.07), 1)}


def test_what_no_judgement_rests_on_is_a_line_of_its_own(project: Project) -> None:
    call(project, "c-9", "k-9", 0.5)
    for what in ("question", "system", "criterion"):
        assert by(project, what)[""] == (0, pytest.approx(0.5), 0)


def test_a_request_without_an_answer_counts_at_the_usual_cost_of_its_run(project: Project) -> None:
    call(project, "c-9", "k-9", 9.0, Status.SKIPPED, None)
    (found,) = judge_costs.costs(project, "judge")
    # Three that were answered cost 0.07 together.
    assert found.cost_usd == pytest.approx(0.07 + 0.07 / 3)
    assert (found.calls, found.guessed) == (5, 1)
    assert "1 without an answer at the usual cost" in found.remark()


def test_an_answer_without_counts_of_tokens_is_of_unknown_cost(project: Project) -> None:
    before = judge_costs.costs(project, "judge")[0]
    call(project, "c-9", "k-9", 9.0, tokens=None)
    (found,) = judge_costs.costs(project, "judge")
    assert (found.cost_usd, found.unpriced, found.guessed) == (before.cost_usd, before.unpriced + 1, 0)


def test_by_question_calls_that_failed_are_counted_in(project: Project) -> None:
    assert by(project, "question") == {"1": (2, pytest.approx(0.06), 0), "2": (3, pytest.approx(0.01), 1)}


def test_by_criterion_units_asked_together_share_their_call(project: Project) -> None:
    first, second = items.ids(project)
    found = judge_costs.costs(project, "criterion")
    units = {(one.item, one.name): one.cost_usd for one in found}
    assert units == {
        ("1", units_of(project, first)[0]): pytest.approx(0.03),
        ("1", units_of(project, first)[1]): pytest.approx(0.03),
        ("2", units_of(project, second)[0]): pytest.approx(0.01),
        ("2", units_of(project, second)[1]): None,
    }


def test_of_one_judge_only_its_share_is_told(project: Project) -> None:
    assert by(project, "system", judge="judge 2") == {"Alpha": (1, pytest.approx(0.005), 0)}


def test_the_units_have_their_words(project: Project) -> None:
    found = judge_costs.costs(project, "criterion")
    words = judge_costs.asked_about(project, found)
    said = {(one.item, words[one.item, one.protocol, one.name]) for one in found}
    assert len(said) == 4
    assert ("1", "Explains residual connections") in said


def test_costs_are_told_by_nothing_else(project: Project) -> None:
    with pytest.raises(Refusal, match="purpose, judge, run, question, system, criterion"):
        judge_costs.costs(project, "moon")
