"""A project with a judge behind a real server on loopback, which answers for coverage one by one or together."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from tests.judging.batch_server import BatchServer, Results, answered
from tests.judging.odd_server import Odd, OddServer, at_work, completion

JUDGE = "distant"


@contextmanager
def serving() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        server.answer = answering(lambda criterion: "yes")
        yield server


@contextmanager
def serving_batches() -> Iterator[BatchServer]:
    with at_work(BatchServer()) as server:
        server.answer = answering(lambda criterion: "yes")
        server.work = lambda requests: Results(
            [answered(each["custom_id"], server.answer(each["body"], 0)) for each in requests]
        )
        yield server


def add_judge(project: Project, server: OddServer, name: str = JUDGE, **settings: str) -> None:
    judges.add(project, name, base_url=server.url, model="test-model", **settings)


def answering(verdict: Callable[[str], str]) -> Callable[[dict[str, Any], int], Odd]:
    """What a server replies to a question of coverage, by the words of each criterion."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        asked = asked_about(body)
        said = [
            {"quote": "", "rationale": "So.", "covered": verdict(words)} | ({"id": name} if name else {})
            for name, words in asked
        ]
        return completion(json.dumps(said[0] if not asked[0][0] else {"answers": said}))

    return answer


def asked_about(body: dict[str, Any]) -> list[tuple[str, str]]:
    """The criteria of a question, each with its id where several are asked together."""
    text = body["messages"][1]["content"]
    if "The criteria:" not in text:
        return [("", text.split("The criterion:\n\n")[1].split("\n\nThe report:")[0])]
    part = text.split("The criteria:\n\n")[1].split("\n\nThe report:")[0]
    return re.findall(r"^id: (.+)\n(.+)$", part, re.MULTILINE)
