"""What the journal of calls remembers: answers, not errors, from one start to the next and within one."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs.journal import KnownKeys, RunJournal
from annotator.domain.judges.judge import Call
from annotator.domain.judges.judgement import Status, Verdict
from annotator.domain.judges.protocol import Case
from annotator.domain.kinds.artifact import Unit
from annotator.domain.material.response import Response
from annotator.judging.runs.progress import Finished
from tests.projects.small_project import small_project
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = small_project(tmp_path)
    judges.kept(project, judges.BASELINE)
    yield project
    project.close()


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


def test_an_answer_is_found_in_the_same_start_and_in_the_next(project: Project) -> None:
    kept = journal(project)
    assert kept.find("a") is None
    kept.record([finished(project, "u1", (call("a"),))])
    for found in (kept.find("a"), journal(project).find("a")):
        assert found is not None
        assert (found.id, found.status) == ("call-a-ok", Status.OK)


def test_an_error_is_never_found(project: Project) -> None:
    kept = journal(project)
    kept.record([finished(project, "u1", (call("a", Status.TIMEOUT),))])
    assert kept.find("a") is journal(project).find("a") is None
    kept.record([finished(project, "u1", (call("a"),))])
    assert kept.find("a") is not None


def test_a_judgement_never_rests_on_a_call_that_is_not_there(project: Project) -> None:
    shared = call("a")
    journal(project).record([finished(project, "u1", reused=(shared,))])
    assert calls_in(project) == {shared.id: "ok"}
    journal(project).record([finished(project, "u2", (shared,))])
    assert calls_in(project) == {shared.id: "ok"}


def test_a_call_that_turns_out_to_leave_a_unit_out_is_not_found_again(project: Project) -> None:
    kept = journal(project)
    kept.record_calls([call("a", name="c-1")])
    spoilt = call("a", Status.INVALID, "c-1").model_copy(update={"cause": "It says nothing of u2."})
    kept.record([finished(project, "u1", (spoilt,))])
    assert calls_in(project) == {"c-1": "invalid"}
    assert kept.find("a") is journal(project).find("a") is None


def test_a_fresh_question_asks_no_file(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = journal(project)
    kept.record_calls([call("a")])

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
