"""What tests of attacks on judges share: projects with verdicts of a judge, and servers that obey or stand firm."""

import asyncio
import json
from typing import Any

from annotator.actions.attacks import attacking
from annotator.actions.attacks.attacking import run
from annotator.actions.judging import judge_runs
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import AttackRequest, RunRequest
from tests.judging.odd_server import Odd, completion
from tests.servers.served import JUDGE, asked_about


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


def attacked(project: Project, name: str = JUDGE, *attacks: str, **request: Any) -> dict[str, Any]:
    """The judge put to the test; the last line."""
    heard = {key: request.pop(key) for key in ("tell", "listen") if key in request}
    how = {key: request.pop(key) for key in ("concurrency", "budget_usd") if key in request}
    order = attacking.order(AttackRequest(name, attacks=attacks, **request), **how)
    return asyncio.run(run(project, order, **heard))
