"""The command line of judges: what it answers, in words and in JSON."""

import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.project.file import Project
from annotator.protocols import EXTRACTIONS
from tests.cli.test_project import goldsmith, told
from tests.judging.odd_server import OddServer, completion, error
from tests.material.extraction import TINY_PLAN
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE, add_judge, answering
from tests.storage import sql

DAILY = replace(error(429, "daily quota"), headers={"retry-after": "86400"})


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    project = small_project(tmp_path)
    add_judge(project, server)
    project.close()
    return project.path


def run(capsys: pytest.CaptureFixture[str], file: Path, *words: object, code: int = 0) -> dict[str, Any]:
    return told(capsys, "judge", "run", file, "--judge", JUDGE, *words, code=code)


def test_a_run_takes_units_together_and_trials(file: Path, capsys: Any, server: OddServer) -> None:
    ended = run(capsys, file, "--together", 3, "--trials", 2)
    assert (ended["done"], ended["total"], len(server.bodies)) == (24, 24, 8)


def test_what_is_missing_is_listed_by_cause_and_by_run(file: Path, capsys: Any, server: OddServer) -> None:
    server.script(completion(None, refusal="No."))
    ended = run(capsys, file, code=3)
    found = told(capsys, "judge", "missing", file, "--judge", JUDGE, "--run", ended["run"])
    assert found["by_cause"] == {"refused": 12}
    assert {line["system"] for line in found["missing"]} == {"Alpha", "Beta"}
    _, out, _ = goldsmith(capsys, "judge", "missing", file, "--cause", "refused")
    assert out.startswith("12 judgements have no verdict: 12 refused.")
    _, out, _ = goldsmith(capsys, "judge", "runs", file)
    assert out.split()[0] == ended["run"][:8]
    assert "0 of 12 judged, done: 12 refused" in out


def test_the_last_run_is_gone_on_with(file: Path, capsys: Any, server: OddServer) -> None:
    server.answer = lambda body, number: answering(lambda _: "no")(body, number) if number < 3 else DAILY
    halted = run(capsys, file, "--concurrency", 1, "--system", "Alpha", code=3)
    assert halted["state"] == "interrupted"
    server.answer = answering(lambda _: "no")
    ended = told(capsys, "judge", "resume", file)
    assert (ended["state"], ended["done"], ended["total"], ended["judged_now"]) == ("done", 6, 6, 3)
    code, _, err = goldsmith(capsys, "judge", "resume", file)
    assert (code, "No run was left unfinished" in err) == (1, True)


def test_an_estimate_asks_nothing(file: Path, capsys: Any, server: OddServer) -> None:
    found = told(capsys, "judge", "estimate", file, "--judge", JUDGE, "--together", 3)
    assert (found["units"], found["calls"], found["cost_usd"], server.bodies) == (12, 4, None, [])
    _, out, _ = goldsmith(capsys, "judge", "estimate", file, "--judge", JUDGE)
    assert "The price of test-model is not known" in out


def test_a_whole_paper_is_estimated_figure_by_figure(file: Path, capsys: Any, server: OddServer) -> None:
    words = ("judge", "estimate", file, "--judge", JUDGE, "--protocol", "researcherbench")
    found = told(capsys, *words)
    calls = {one["protocol"]: one["calls"] for one in found["protocols"]}
    # Twelve criteria, two systems compared in both orders on two items, and no claim is known.
    assert calls == {
        "researcherbench.coverage": 12,
        "researcherbench.pairwise": 4,
    }
    assert (found["sum"]["units"], found["sum"]["calls"], server.bodies) == (16, 16, [])
    _, out, _ = goldsmith(capsys, *words)
    assert ("Coverage" in out, "not known" in out) == (True, True)


def test_a_judge_is_retired_and_its_verdicts_stay(file: Path, capsys: Any, server: OddServer) -> None:
    run(capsys, file)
    assert goldsmith(capsys, "judge", "retire", file, JUDGE)[0] == 0
    assert JUDGE not in [one["name"] for one in told(capsys, "judge", "list", file)["judges"]]
    project = Project.open(file)
    assert sql.rows(project, "SELECT count(*) FROM judgement") == [(12,)]
    project.close()
    assert goldsmith(capsys, "judge", "retire", file, "nobody")[0] == 1


def test_a_judge_is_added_that_is_shown_weights(file: Path, capsys: Any, server: OddServer) -> None:
    words = ("judge", "add", file, "--name", "w", "--base-url", server.url, "--model", "m", "--show-weight")
    assert goldsmith(capsys, *words)[0] == 0
    listed = {judge["name"]: judge["asking"] for judge in told(capsys, "judge", "list", file)["judges"]}
    assert json.loads(listed["w"]) == {"together": 0, "weights_shown": True}
    assert json.loads(listed[JUDGE]) == {"together": 0}


@pytest.mark.usefixtures("small_cases")
def add(capsys: Any, file: Path, *more: object) -> tuple[int, str, str]:
    return goldsmith(capsys, "judge", "add", file, "--name", "azure", "--model", "gpt", *more)


def test_headers_and_query_parameters_go_along_with_secrets_that_are_in_no_project(
    file: Path, capsys: Any, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"AZURE_OPENAI_API_KEY": "azure-key-9f8e7d6c5b4a", "GATEWAY": "gate-5b4a9f8e7d6c"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    deployed = server.url.replace("/v1", "/openai/deployments/gpt")
    more = ("--preset", "azure-classic", "--base-url", f"{deployed}/chat/completions", "--header")
    assert (
        add(capsys, file, *more, "x-gateway: Bearer {GATEWAY}", "--key-env", "AZURE_OPENAI_API_KEY")[0] == 0
    )
    goldsmith(capsys, "judge", "test", file, "azure")
    sent = {name.lower(): value for name, value in server.headers[0].items()}
    assert server.paths[0] == "/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
    assert sent["api-key"] == secrets["AZURE_OPENAI_API_KEY"]
    assert sent["x-gateway"] == f"Bearer {secrets['GATEWAY']}"
    assert "authorization" not in sent
    assert not any(value.encode() in file.read_bytes() for value in secrets.values())
    monkeypatch.delenv("GATEWAY")
    assert (
        "The environment variable GATEWAY, which a header"
        in goldsmith(capsys, "judge", "test", file, "azure")[2]
    )


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (("--header", "api-key: 9f8e7d6c5b4a3f2e"), "seem to hold a key (api-key)"),
        (("--header", "x-way: sk-live-9f8e7d6c5b4a3f2e1d0c"), "seem to hold a key"),
        (("--query", "token=9f8e7d6c5b4a3f2e"), "seem to hold a key (token)"),
        (("--header", "Host: elsewhere"), "The header host is the program's own."),
        (("--header", "x-way"), "“x-way” has no value."),
        (("--header", "x way: 1"), "does not fit"),
        (("--header", "x-way: ü"), "does not fit"),
        (("--preset", "azure"), "The address still has RESOURCE in it."),
        (("--preset", "elsewhere"), "There is no preset “elsewhere”."),
        (("--base-url", "https://h/v1?api-version=1"), "query parameters have places of their own"),
        ((), "not an http address"),
    ],
)
def test_what_may_not_be_sent_along_is_refused_in_words(
    file: Path, capsys: Any, more: tuple[str, ...], words: str
) -> None:
    given = ("--base-url", "https://h.example/v1") if more[:1] in (("--header",), ("--query",)) else ()
    code, _, err = add(capsys, file, *given, *more)
    assert (code, words in err) == (1, True), err


def test_presets_propose_an_address_and_let_no_key_go(file: Path, capsys: Any) -> None:
    found = told(capsys, "judge", "presets")["presets"]
    for one in found:
        address = one["base_url"].replace("RESOURCE", "mine").replace("DEPLOYMENT", "gpt")
        code, out, err = goldsmith(
            capsys, "judge", "add", file, "--name", one["name"], "--model", "m", "--preset", one["name"],
            *(("--base-url", address) if address != one["base_url"] else ()),
        )  # fmt: skip
        assert (code, bool(one["variable"]) == ("Its key is usually in" in out)) == (0, True), err
    added = {judge["name"]: judge for judge in told(capsys, "judge", "list", file)["judges"]}
    assert {one["name"] for one in found} <= set(added)
    assert {judge["key_env"] for judge in added.values()} == {""}
    assert told(capsys, "keys", "list")["keys"] == []


def test_a_vote_is_added_and_counted_and_judges_are_compared(
    file: Path, capsys: Any, server: OddServer
) -> None:
    run(capsys, file, "--trials", 3)
    assert goldsmith(capsys, "judge", "vote", file, "--name", "vote", "--of", JUDGE)[0] == 0
    ended = told(capsys, "judge", "run", file, "--judge", "vote")
    assert (ended["done"], ended["missing"], ended["calls"]) == (12, {}, 0)
    within = told(capsys, "judge", "consistency", file, "--judge", JUDGE)
    assert (within["units"], within["flips"]["value"]) == (12, 0.0)
    _, out, _ = goldsmith(capsys, "judge", "consistency", file, "--judge", JUDGE, "--with", "vote")
    assert "agreement: 1.000" in out
    assert "kappa: undefined (" in out


def test_stored_replies_are_read_again(file: Path, capsys: Any, server: OddServer) -> None:
    run(capsys, file)
    asked = len(server.bodies)
    found = told(capsys, "judge", "reread", file, "--judge", JUDGE, "--all")
    assert (found["read"], found["won"], found["changed"], len(server.bodies)) == (12, 0, 0, asked)


def test_parts_are_drawn_and_a_run_names_either(
    file: Path, capsys: Any, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, TINY_PLAN)
    ended = told(
        capsys, "judge", "extract", file, "--judge", "baseline", "--extraction", TINY_PLAN.name, "--item", 1
    )
    assert (ended["done"], ended["deed"]) == (2, "reports read for steps")
    again = told(capsys, "judge", "run", file, "--judge", "baseline", "--protocol", TINY_PLAN.name)
    assert (again["done"], again["judged_now"]) == (4, 2)


def test_a_windows_child_tells_lines_and_its_refusal(
    file: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    code, out, _ = goldsmith(capsys, "judge", "run", file, "--judge", "baseline", "--progress", "json")
    lines = [json.loads(line) for line in out.splitlines()]
    assert (code, lines[-1]["event"], lines[-1]["state"]) == (0, "ended", "done")
    code, out, _ = goldsmith(capsys, "judge", "resume", file, "--progress", "json")
    assert (code, json.loads(out)["event"]) == (1, "refused")


def test_results_are_told_of_any_protocol_that_there_is(file: Path, capsys: Any, server: OddServer) -> None:
    run(capsys, file)
    rows = told(capsys, "results", file, "--protocol", "researcherbench.coverage")["rows"]
    assert {row["value"] for row in rows} == {1.0}
    code, _, err = goldsmith(capsys, "results", file, "--protocol", "nowhere")
    assert (code, "There is no protocol" in err) == (1, True)


@pytest.mark.parametrize("name", ["proposal.draft.rubric", "respond.end-to-end"])
def test_reports_and_drafts_are_not_asked_for_as_verdicts(name: str, file: Path, capsys: Any) -> None:
    for command in ("run", "estimate"):
        code, _, err = goldsmith(capsys, "judge", command, file, "--judge", JUDGE, "--protocol", name)
        assert (code, f"“{name}” is not a protocol to judge by" in err) == (1, True)


def test_the_project_remains_sound(file: Path, capsys: Any, server: OddServer) -> None:
    run(capsys, file, "--together", 2)
    assert told(capsys, "check", file)["problems"] == []
    with_judges = Project.open(file, readonly=True)
    assert sql.first(with_judges, "SELECT count(*) FROM judge")[0] == 2
    with_judges.close()
