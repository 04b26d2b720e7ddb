"""Projects with a judge behind a real server on loopback: judged, attacked, carded, or as judges are made to say."""

import asyncio
import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from sqlalchemy import insert, update

from annotator.actions.attacks import attacking
from annotator.actions.items import items
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.judging.forecasts import CostEstimate
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import AttackRequest, RunRequest
from annotator.actions.validation import validity_cards
from annotator.domain.common import derived_id, now
from annotator.domain.experts.assignment import Role
from annotator.domain.judges.validation import ValidityCard
from annotator.judging.calls.prices import tokens_in
from annotator.storage import tables
from tests.common import COVERAGE, once
from tests.judging.odd_server import BatchServer, Odd, OddServer, Results, answered, at_work, completion
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


def verdict_for_all(verdict: str, body: dict[str, Any]) -> Odd:
    return answering(lambda words: verdict)(body, 0)


def gullible(body: dict[str, Any], _number: int) -> Odd:
    """No, unless the report says anything of a yes."""
    report = str(body["messages"][1]["content"]).split("<<<BEGIN report ", 1)[1]
    return verdict_for_all("yes" if "yes" in report else "no", body)


def firm(body: dict[str, Any], _number: int) -> Odd:
    return verdict_for_all("no", body)


def judged(project: Project, name: str = JUDGE, **how: Any) -> None:
    asyncio.run(judge_runs.run(project, RunRequest(name, **how)))


def judged_project(folder: Path, server: OddServer, verdict: str) -> Project:
    """The small project, of which the judge behind the server says this throughout; the server was not asked yet."""
    return behind(server, _judged_project(folder, verdict))


def behind(server: OddServer, project: Project) -> Project:
    # As no verb does: a judge that has judged keeps its endpoint.
    with project.store.write() as db:
        db.execute(update(tables.JUDGE).values(base_url=server.url).where(tables.JUDGE.c.base_url != ""))
    return project


@once
def _judged_project(folder: Path, verdict: str) -> Project:
    project = small_project(folder)
    with serving() as server:
        server.answer = lambda body, _number: verdict_for_all(verdict, body)
        add_judge(project, server)
        judged(project)
    return project


def attacked(project: Project, name: str = JUDGE, *attacks: str, **request: Any) -> dict[str, Any]:
    """The judge put to the test; the last line."""
    heard = {key: request.pop(key) for key in ("tell", "listen") if key in request}
    how = {key: request.pop(key) for key in ("concurrency", "budget_usd") if key in request}
    order = attacking.order(AttackRequest(name, attacks=attacks, **request), **how)
    return asyncio.run(attacking.run(project, order, **heard))


PLANTED_KEY = "sk-planted-0123456789abcdef"
# What a careless hand may have put among the parameters.
PLANTED = (
    '{"temperature": 0, "user": "http://secret.example/v1?key=hidden", "extra": {"api_key": "abcd1234efgh"}, '
    f'"note": "{PLANTED_KEY}", "template": "/home/ann/secret place/judge.jinja"}}'
)
MODEL = "/srv/models of ann/judge-7b.gguf"


def residual(words: str) -> str:
    return "yes" if "residual" in words else "no"


def carded_project(path: Path, server: OddServer, **settings: str) -> Project:
    """Everything of the small project judged by a judge that says yes of one criterion in three; labelled by two.

    The judge is behind the test's own server, though another answered when the first of these projects was made.
    """
    path.mkdir(exist_ok=True)
    server.answer = answering(residual)
    return behind(server, _carded(path, **settings))


@once
def _carded(path: Path, **settings: str) -> Project:
    project = small_project(path)
    for name in ("Ann", "Ben"):
        people.add_person(project, name, (Role.ANNOTATOR,))
    with serving() as server:
        server.answer = answering(residual)
        add_judge(project, server, **settings)
        judged(project)
    before = project.person
    assert before is not None
    for alias in ("R2", "R3"):
        project.work_as(people.known(project, alias))
        for task in labels.queue(project):
            for place, unit in enumerate(labels.sheet(project, task.response_id).units):
                wrong = alias == "R3" and place == 1
                labels.set_label(project, task.response_id, unit.id, "yes" if place == 0 or wrong else "no")
        for item_id in dict.fromkeys(task.item_id for task in labels.queue(project)):
            label_sealing.submit(project, item_id)
    project.work_as(before)
    return project


def card_of(project: Project, judge: str = JUDGE, **more: object) -> ValidityCard:
    return validity_cards.card(project, validity_cards.CardQuery(judge=judge, **more))  # type: ignore[arg-type]


WORDS = {"y": "yes", "n": "no"}


def two_judges(folder: Path) -> Project:
    project = small_project(folder)
    for name in ("a", "b"):
        judges.add(project, name, base_url="http://127.0.0.1:1/v1", model="m")
    return project


def places(project: Project, system: str = "Alpha") -> list[tuple[str, str, str]]:
    """(item, response, unit) of every criterion of a system's reports, in their order."""
    order = RunRequest("baseline", systems=(system,))
    return [(case.item.id, case.response.id, case.unit.id) for case in judge_cases.cases(project, order)]


def say(project: Project, judge: str, values: str, *, trial: int = 1, **more: str) -> None:
    """What a judge says of the criteria of Alpha's reports, one sign each: y, n, another value, or - for nothing."""
    rows = []
    for place, value in zip(places(project), values, strict=True):
        item, response, unit = place
        row = {
            "id": derived_id(judge, trial, response, unit), "protocol": COVERAGE, "item_id": item,
            "response_id": response, "unit_id": unit, "rater_kind": "judge",
            "rater_id": judges.named(project, judge).id, "trial": trial, "at": now(), "sha256": "h",
            "value": None if value == "-" else WORDS.get(value, value), "status": "invalid" if value == "-" else "ok",
            **more,
        }  # fmt: skip
        rows.append(row)
    with project.store.write() as db:
        db.execute(insert(tables.JUDGEMENT), rows)


def label(project: Project, values: str) -> None:
    """What whoever works says of the same criteria, and “yes” of all others."""
    wanted = dict(zip(places(project), values, strict=True))
    said: Mapping[tuple[str, str, str], str] = {
        place: wanted.get(place, "y") for system in ("Alpha", "Beta") for place in places(project, system)
    }
    for (_, response, unit), value in said.items():
        labels.set_label(project, response, unit, WORDS.get(value, "unsure"))


def submit(project: Project) -> None:
    for item in items.ids(project):
        label_sealing.submit(project, item)
