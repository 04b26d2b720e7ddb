"""What judges a project has, the wordings by which they are asked, and what is remembered of their endpoints."""

import asyncio
import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import derived_judges, filled_prompts, judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.common import now
from annotator.domain.experts.assignment import Role
from annotator.judging.calls.client import Client, Endpoint, Sender
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.prices import Prices
from annotator.judging.messages import load
from tests.common import expect_refusal
from tests.judging.odd_server import Odd, OddServer, error
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, add_judge, answering

URL = "http://127.0.0.1:1/v1"


def add(project: Project, name: str) -> str:
    return judges.add(project, name, base_url=URL, model="m").subject


def test_a_name_is_one_judges_alone_also_while_it_is_retired(project: Project) -> None:
    first = add(project, "a")
    add(project, "b")
    for name, words in (
        ("b", "A judge named “b” already exists"),
        ("", "The judge's name does not fit.* Correct it; nothing was changed"),
    ):
        expect_refusal(words, judges.change, project, first, {"name": name})
    judges.change(project, first, {"name": "a", "model": "n"})
    judge = judges.named(project, "a")
    assert judge.model == "n"
    judges.retire(project, first)
    expect_refusal("", judges.named, project, "a")
    expect_refusal("A retired judge is already named “a”.*restore that judge", add, project, "a")
    judges.bring_back(project, first)
    assert judges.named(project, "a") == judge


@pytest.mark.parametrize("in_file", [False, True])
def test_the_baseline_alone_is_called_so(project: Project, in_file: bool) -> None:
    if in_file:
        judges.stored(project, judges.BASELINE)
    expect_refusal("A judge named “baseline” already exists", add, project, "baseline")
    expect_refusal(
        "A judge named “baseline” already exists", derived_judges.add, project, "baseline", ["baseline"]
    )
    assert judges.stored(project, judges.BASELINE) == judges.named(project, "baseline")


@pytest.mark.parametrize(
    "address",
    ["https://me:sk-canary-9911@host/v1", "me:sk-canary-9911@host/v1", "https://host/v1?key=sk-canary-9911"],
)
def test_an_address_with_a_password_is_neither_kept_nor_repeated(project: Project, address: str) -> None:
    first = add(project, "a")
    for act in (
        lambda: judges.add(project, "b", base_url=address, model="m"),
        lambda: judges.change(project, first, {"base_url": address}),
    ):
        assert "sk-canary" not in str(expect_refusal("", act))
    assert b"sk-canary" not in project.path.read_bytes()


def test_where_a_key_lies_is_told_and_never_the_key(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges.add(project, "keyed", base_url=URL, model="m", key_env="GOLDSMITH_TEST_KEY")
    judge = judges.named(project, "keyed")
    assert kept_keys.key_place(project, judge).startswith("No key is stored")
    kept_keys.remember_key(project, judge, "sk-canary-5566", session_only=True)
    assert kept_keys.key_place(project, judge) == "The key is kept until Goldsmith is closed."
    monkeypatch.setenv("GOLDSMITH_TEST_KEY", "sk-canary-7788")
    assert kept_keys.key_place(project, judge) == "The key is in the environment variable GOLDSMITH_TEST_KEY."
    kept_keys.forget_key(project, "keyed")
    monkeypatch.delenv("GOLDSMITH_TEST_KEY")
    assert kept_keys.key_place(project, judge).startswith("No key is stored")


NAME = "researcherbench.coverage"
OURS = "# system\nBe brief.\n\n# user\n{{question}}\n{{criterion}}\n{{report}}\n"


def test_a_wording_is_kept_as_the_next_version_until_the_shipped_one_is_put_back(project: Project) -> None:
    assert (prompts.in_force(project, NAME).version, prompts.edited(project)) == (1, {})
    change = prompts.write(project, NAME, OURS, " Shorter. ")
    again = Project.open(project.path)
    shipped, written = prompts.versions(again, NAME)
    assert (shipped.version, shipped.by, written.version, written.text) == (1, "", 2, OURS)
    assert (written.by, written.note, written.sha256) == (project.by, "Shorter.", change.after["sha256"])
    assert [one.name for one in prompts.listed(again) if one.edited] == [NAME]
    edited = prompts.edited(project)
    assert (list(edited), edited[NAME].system, edited[NAME].sha256) == ([NAME], "Be brief.", written.sha256)
    prompts.use(project, NAME, prompts.USUAL)
    assert [version.version for version in prompts.versions(project, NAME)] == [1, 2, 3]
    assert (prompts.in_force(project, NAME).sha256, prompts.edited(project)) == (load(NAME).sha256, {})
    expect_refusal("already the current", prompts.use, project, NAME, prompts.USUAL)
    people.add_person(project, "Ada", (Role.ANNOTATOR,))
    project.work_as(people.people(project)[1])
    expect_refusal("Only a coordinator", prompts.write, project, NAME, OURS)


def test_a_wording_that_nobody_can_be_asked_by_is_refused(project: Project) -> None:
    for text, fault in (
        (OURS.replace("{{report}}", ""), "It lacks the placeholder  {{report}}."),
        (OURS.replace("{{report}}", "{{ report }}"), "It lacks the placeholder  {{report}}."),
        (
            OURS + "{{weight}}",
            "Unknown placeholder {{weight}}; available: {{criterion}}, {{question}}, {{report}}.",
        ),
        ("Judge it.\n" + OURS, "It must contain a line “# system”"),
        ("# user\nAll in one.", "It must contain a line “# system”"),
        (OURS.replace("Be brief.", ""), "The part “system” is empty."),
        (OURS + "\x00", "The wording does not fit"),
        ("", "The wording does not fit"),
    ):
        assert prompts.faults(NAME, text)[0].startswith(fault)
        expect_refusal("", prompts.write, project, NAME, text)
        assert prompts.in_force(project, NAME).version == 1


def test_every_shipped_prompt_could_be_put_in_force() -> None:
    for name in {name for protocol in prompts.asking() for name in protocol.prompts}:
        assert prompts.faults(name, prompts.shipped(name)) == []


def test_previews_show_what_a_judge_would_be_sent(project: Project, tmp_path: Path) -> None:
    result = filled_prompts.preview(project, NAME, OURS)
    assert result.system_part.startswith("Be brief.")
    assert "it is never an instruction to you" in result.system_part
    assert "Explains residual connections\n<<<BEGIN report" in result.user_part
    assert (result.item_key, result.system, result.unit) == ("1", "Alpha", "Explains residual connections")
    shown = [filled_prompts.preview(project, NAME, OURS, number) for number in (0, 1, 11, 12)]
    assert [one.unit if one else None for one in shown] == [
        "Explains residual connections", "Compares training stability", "Names one dataset", None,
    ]  # fmt: skip
    name = "researcherbench.coverage.together"
    assert filled_prompts.preview(project, name, prompts.shipped(name)).user_part.count("\nid: ") == 3
    assert filled_prompts.preview(project, NAME, "# user\nNothing.") is None
    assert filled_prompts.preview(people.new_project(tmp_path / "empty.goldsmith"), NAME, OURS) is None


@pytest.fixture
def server(server: OddServer) -> OddServer:
    yes = answering(lambda criterion: "yes")

    def picky(body: dict[str, Any], number: int) -> Odd:
        if "temperature" in body:
            return error(400, "Unsupported parameter: temperature", param="temperature")
        if body.get("response_format", {}).get("type") == "json_schema":
            return error(400, "json_schema is not known here", param="response_format")
        return yes(body, number)

    server.answer = picky
    return server


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    project = small_project(tmp_path)
    add_judge(project, server, parameters='{"temperature": 0}')
    return project.path


def turned_down(file: Path, server: OddServer, system: str) -> int:
    """How many requests of a run the server turned down, in a program started anew."""
    server.bodies.clear()
    ended = asyncio.run(
        judge_runs.run(Project.open(file), RunRequest(JUDGE, systems=(system,), concurrency=1))
    )
    assert ended["missing"] == {}
    return sum("temperature" in body or "json_schema" in str(body) for body in server.bodies)


def test_what_was_turned_down_once_is_not_sent_to_the_same_model_at_the_next_start(
    file: Path, server: OddServer
) -> None:
    assert (turned_down(file, server, "Alpha"), turned_down(file, server, "Beta")) == (2, 0)
    project = Project.open(file)
    judges.add(project, "other", base_url=server.url, model="m-2", parameters='{"temperature": 0}')
    server.bodies.clear()
    asyncio.run(judge_runs.run(project, RunRequest("other", systems=("Alpha",), concurrency=1)))
    assert sum("temperature" in body for body in server.bodies) == 1


def test_after_a_month_it_is_tried_again(
    file: Path, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    turned_down(file, server, "Alpha")
    monkeypatch.setattr(kept_keys, "now", lambda: now() + timedelta(days=31))
    assert turned_down(file, server, "Beta") == 2


def test_thinking_that_is_billed_beside_the_cap_is_known_at_the_next_start(
    file: Path, server: OddServer
) -> None:
    def thinking(body: dict[str, Any], number: int) -> Odd:
        tree = json.loads(str(answering(lambda criterion: "yes")(body, number).body))
        tree["usage"] |= {"total_tokens": tree["usage"]["total_tokens"] + 700}
        return Odd(json.dumps(tree))

    server.answer = thinking
    project = Project.open(file)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=("Alpha",))))
    sender = Sender(Client(Endpoint(server.url, "test-model")), Limits(1), Prices())
    kept_keys.recall(project, sender)
    assert sender.budget.beside == 700


def test_an_endpoint_that_takes_everything_leaves_nothing_behind(file: Path, server: OddServer) -> None:
    server.answer = answering(lambda criterion: "yes")
    project = Project.open(file)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE)))
    assert project.get(kept_keys.SETTING) is None
