"""What did not come: the list behind the counts, and replies read again without a call."""

import asyncio
import json
from typing import Any

import pytest
from pydantic import BaseModel

from annotator.actions.judging import judge_runs, missing, reparse
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.judges.judge import Call
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.replies import reread
from tests.judging.odd_server import OddServer, completion
from tests.projects.small_project import CRITERIA
from tests.servers.served import JUDGE, answering, asked_about
from tests.storage import sql

pytestmark = pytest.mark.usefixtures("distant_judge")
FIRST, SECOND, THIRD = (text for text, _ in CRITERIA)


def run(project: Project, **how: Any) -> dict[str, Any]:
    return asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))


def mixed(body: dict[str, Any], number: int) -> Any:
    """A yes for the first criterion, a refusal for the second, “covered” for the third."""
    ((_, words),) = asked_about(body)
    if words == SECOND:
        return completion(None, refusal="I will not judge this.")
    return answering(lambda _: "covered" if words == THIRD else "yes")(body, number)


def again(project: Project, **how: Any) -> reparse.RereadReport:
    return asyncio.run(reparse.again(project, JUDGE, **how))


def test_what_did_not_come_is_listed_with_its_cause(project: Project, server: OddServer) -> None:
    server.answer = mixed
    ended = run(project)
    found = missing.lines(project)
    assert missing.by_cause(found) == ended["missing"] == {"invalid": 4, "refused": 4}
    line = next(line for line in found if line.status == "refused")
    assert (line.judge, line.item, line.system, line.run_id) == (JUDGE, "1", "Alpha", ended["run"])
    assert "refused" in line.cause


def test_the_list_is_narrowed_to_a_judge_a_run_or_a_cause(project: Project, server: OddServer) -> None:
    server.answer = mixed
    ended = run(project)
    assert len(missing.lines(project, status="refused")) == 4
    assert len(missing.lines(project, run=ended["run"][:8])) == 8
    assert missing.lines(project, judge="baseline") == []


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({"judge": "nobody"}, "There is no judge"),
        ({"run": "zzz"}, "No run begins"),
        ({"status": "ok"}, "is not a cause"),
    ],
)
def test_what_is_not_there_to_narrow_by_is_refused(project: Project, how: dict[str, str], words: str) -> None:
    with pytest.raises(Refusal, match=words):
        missing.lines(project, **how)


# Read again


def test_a_reply_that_can_be_read_today_becomes_a_verdict_without_a_call(
    project: Project, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.answer = mixed
    run(project)
    asked = len(server.bodies)
    assert again(project) == reparse.RereadReport(JUDGE, read=4, won=0, changed=0, unread=4)

    def lenient(call: Call, reply: type[BaseModel]) -> BaseModel:
        raw = call.raw.replace('"covered": "covered"', '"covered": "yes"')
        return reread(call.model_copy(update={"raw": raw}), reply)

    monkeypatch.setattr("annotator.judging.calls.replaying.reread", lenient)
    assert again(project) == reparse.RereadReport(JUDGE, 4, 4, 4)
    assert len(server.bodies) == asked
    assert missing.by_cause(missing.lines(project)) == {"refused": 4}
    assert checking.check(project).problems == []


def test_reading_everything_again_changes_nothing_that_was_read_well(
    project: Project, server: OddServer
) -> None:
    run(project)
    before = sql.rows(project, "SELECT * FROM judgement ORDER BY id")
    assert again(project, everything=True) == reparse.RereadReport(JUDGE, 12, 0, 0)
    assert sql.rows(project, "SELECT * FROM judgement ORDER BY id") == before


def test_units_of_one_reply_are_read_together(project: Project, server: OddServer) -> None:
    def forgetful(body: dict[str, Any], number: int) -> Any:
        said = json.loads(answering(lambda words: "no")(body, number).body)["choices"][0]["message"][
            "content"
        ]
        return completion(json.dumps({"answers": json.loads(said)["answers"][:2]}))

    server.answer = forgetful
    run(project, together=3)
    found = asyncio.run(reparse.again(project, f"{JUDGE}, 3 together"))
    # The replies are readable, and still leave one unit of three out.
    assert (found.read, found.won, found.changed, found.unread) == (12, 0, 0, 4)


def test_the_reply_to_the_request_for_repair_is_the_one_that_counts(
    project: Project, server: OddServer
) -> None:
    prose, good = completion("It is covered, I think."), answering(lambda words: "yes")
    server.answer = lambda body, number: prose if len(body["messages"]) == 2 else good(body, number)
    run(project, systems=("Alpha",), items=("1",))
    assert again(project, everything=True) == reparse.RereadReport(JUDGE, 3, 0, 0)
