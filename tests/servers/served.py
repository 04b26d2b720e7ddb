"""A project with a judge behind a real server on loopback, which answers for coverage one by one or together."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from annotator.actions.judges import judges
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.judging.calls.prices import tokens_in
from tests.judging.batch_server import BatchServer, Results, answered
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.projects.small_projects import small_project

JUDGE, QUOTE = "distant", "compares the stability of training"


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


def file_with_judge(folder: Path, server: OddServer) -> Path:
    project = small_project(folder)
    add_judge(project, server)
    return project.path


def replies(body: dict[str, Any], _number: int) -> Odd:
    """A yes with a quote of the report, a yes with one of its own making, and a refusal."""
    words = asked_about(body)[0][1]
    if words.startswith("Names"):
        return completion(None, refusal="I would rather not.")
    quote = QUOTE if words.startswith("Compares") else "It never says this."
    return completion(json.dumps({"quote": quote, "rationale": "So.", "covered": "yes"}))


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


# How units are named in prompts: a line “id: name”, a line “x1: words”, or JSON.
_NAMED = re.compile(r'^id: (\S+)$|^([a-z]\d+): |"id": "([^"]+)"', re.MULTILINE)
LISTED, FIXED = "listed", "fixed"
_SAID = "That is what the second part says of it."


class Told(NamedTuple):
    """The tokens of one call, as the server counts them."""

    asked: int
    said: int


class CountingServer(OddServer):
    """Answers whatever is asked by the schema of its reply, by chance that a prompt decides, and counts the tokens.

    The count is by the program's own rule: four ASCII characters make a token, any other character is one. Of a list
    whose length is the model's to choose, there are as many as `listed` says.
    """

    def __init__(self) -> None:
        super().__init__()
        self.told: list[Told] = []
        self.listed = 12
        # What some fields of a reply hold, by name.
        self.fixed: dict[str, str | float] = {}
        self.answer = self._counted

    def _counted(self, body: dict[str, Any], number: int) -> Odd:
        text = by_schema(body, self.listed, self.fixed)
        tokens = Told(sum(tokens_in(one["content"]) for one in body["messages"]), tokens_in(text))
        self.told.append(tokens)
        tree = json.loads(str(completion(text).body))
        tree["usage"] = {"prompt_tokens": tokens.asked, "completion_tokens": tokens.said}
        return Odd(json.dumps(tree))


def by_schema(body: dict[str, Any], listed: int = 1, fixed: Mapping[str, str | float] | None = None) -> str:
    """A reply to a request that brings the schema of one."""
    asked, schema = body["messages"][-1]["content"], body["response_format"]["json_schema"]["schema"]
    return json.dumps(filled(schema, schema.get("$defs", {}) | {LISTED: listed, FIXED: fixed or {}}, asked))


def filled(schema: dict[str, Any], known: dict[str, Any], asked: str, place: str = "") -> Any:
    """A reply that fits a schema; what is listed by id answers for each unit that the prompt names."""
    schema = known[schema["$ref"].rpartition("/")[2]] if "$ref" in schema else schema
    if "anyOf" in schema:
        return filled(schema["anyOf"][0], known, asked, place)
    if choices := schema.get("enum"):
        return choices[int(sha256(f"{place} {asked}".encode()).hexdigest(), 16) % len(choices)]
    if schema["type"] == "object":
        rest = {name: one for name, one in schema["properties"].items() if name not in known[FIXED]}
        given = {name: one for name, one in known[FIXED].items() if name in schema["properties"]}
        return {name: filled(one, known, asked, place + name) for name, one in rest.items()} | given
    if schema["type"] == "array":
        one = schema["items"]
        one = known[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
        if "id" not in one.get("properties", {}):
            return [filled(one, known, asked, f"{place}{n} ") for n in range(known[LISTED])]
        names = ["".join(result) for result in _NAMED.findall(asked)]
        return [filled(one, known, asked, place + name) | {"id": name} for name in names]
    usual = {"integer": 5, "number": 0.7, "boolean": True}
    return usual.get(schema["type"], "" if "quote" in place else f"{_SAID} {place}")


async def near(project: Project, server: CountingServer, *parts: RunRequest, measured: bool = True) -> None:
    """Each part of an order takes what its estimate says, within a fifth; by the last, replies are `measured`."""
    for order in parts:
        before, result = len(server.told), await orders.foreseen(project, order)
        assert len(server.told) == before
        assert (await orders.carry_out(project, order))["state"] == "done"
        calls = server.told[before:]
        assert isinstance(result, CostEstimate)
        if result.at_most:
            assert result.calls >= len(calls)
            continue
        assert result.calls == pytest.approx(len(calls), rel=0.2)
        assert result.tokens_input == pytest.approx(sum(call.asked for call in calls), rel=0.2)
        if not result.assumed:
            assert result.tokens_output == pytest.approx(sum(call.said for call in calls), rel=0.2)
    assert calls
    assert isinstance(result, CostEstimate)
    assert (result.assumed, result.at_most) == (not measured, False)
