"""What tests of attacks on judges share: projects with verdicts of a judge, and servers that obey or stand firm."""

import asyncio
import json
from pathlib import Path
from typing import Any

from sqlalchemy import update

from annotator.actions.attacks import attacking
from annotator.actions.attacks.attacking import run
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import AttackRequest, RunRequest
from annotator.storage.tables import JUDGE as JUDGE_TABLE
from tests.judging.odd_server import Odd, OddServer, completion
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, add_judge, asked_about, serving
from tests.templates import once


def said(verdict: str, body: dict[str, Any]) -> Odd:
    asked = asked_about(body)
    replies = [
        {"quote": "", "rationale": "So.", "covered": verdict} | ({"id": name} if name else {})
        for name, _ in asked
    ]
    return completion(json.dumps(replies[0] if not asked[0][0] else {"answers": replies}))


def gullible(body: dict[str, Any], _number: int) -> Odd:
    """No, unless the report says anything of a yes."""
    report = str(body["messages"][1]["content"]).split("<<<BEGIN report ", 1)[1]
    return said("yes" if "yes" in report else "no", body)


def firm(body: dict[str, Any], _number: int) -> Odd:
    return said("no", body)


def judged(project: Project, name: str = JUDGE, **how: Any) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(name, **how)))


def judged_project(folder: Path, server: OddServer, verdict: str) -> Project:
    """The small project, of which the judge behind the server says this throughout; the server was not asked yet."""
    project = _judged_project(folder, verdict)
    # As no verb does: a judge that has judged keeps its endpoint.
    with project.store.write() as db:
        db.execute(update(JUDGE_TABLE).values(base_url=server.url).where(JUDGE_TABLE.c.base_url != ""))
    return project


@once
def _judged_project(folder: Path, verdict: str) -> Project:
    project = small_project(folder)
    with serving() as server:
        server.answer = lambda body, _number: said(verdict, body)
        add_judge(project, server)
        judged(project)
    return project


def attacked(project: Project, name: str = JUDGE, *attacks: str, **request: Any) -> dict[str, Any]:
    """The judge put to the test; the last line."""
    heard = {key: request.pop(key) for key in ("tell", "listen") if key in request}
    how = {key: request.pop(key) for key in ("concurrency", "budget_usd") if key in request}
    order = attacking.order(AttackRequest(name, attacks=attacks, **request), **how)
    return asyncio.run(run(project, order, **heard))
