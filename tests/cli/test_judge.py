"""The command line of judges: what it answers in words and in JSON, and a judge at work."""

import io
import json
import re
import subprocess
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer

from annotator.actions.judges import judges, kept_keys
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.judging.batches import batching
from annotator.protocols import EXTRACTIONS
from tests.actions.contests.contest_project import two_tasks
from tests.cli.commands import goldsmith, printed, refused, told
from tests.conftest import opened_projects
from tests.judging.batch_server import BatchServer
from tests.judging.odd_server import OddServer, completion, error
from tests.material.extraction import TINY_PLAN
from tests.projects.attacked_project import firm, gullible, judged
from tests.projects.carded_project import carded_project
from tests.projects.small_projects import small_project
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.servers.served import JUDGE, add_judge, answering, file_with_judge, serving_batches
from tests.storage import sql
from tests.windows import children

DAILY = replace(error(429, "daily quota"), headers={"retry-after": "86400"})


@pytest.fixture
def file(tmp_path: Path, server: OddServer) -> Path:
    return file_with_judge(tmp_path, server)


def run(capsys: pytest.CaptureFixture[str], file: Path, *words: object, code: int = 0) -> dict[str, Any]:
    return told(capsys, "judge", "run", file, "--judge", JUDGE, *words, code=code)


def test_a_run_takes_units_together_and_trials(file: Path, capsys: Any, server: OddServer) -> None:
    ended = run(capsys, file, "--together", 3, "--trials", 2)
    assert (ended["done"], ended["total"], len(server.bodies)) == (24, 24, 8)


def test_what_is_missing_is_listed_by_cause_and_by_run(file: Path, capsys: Any, server: OddServer) -> None:
    server.script(completion(None, refusal="No."))
    ended = run(capsys, file, code=3)
    result = told(capsys, "judge", "missing", file, "--judge", JUDGE, "--run", ended["run"])
    assert result["by_cause"] == {"refused": 12}
    assert {line["system"] for line in result["missing"]} == {"Alpha", "Beta"}
    missing = printed(capsys, "judge", "missing", file, "--cause", "refused")
    assert missing.startswith("12 judgements have no verdict: 12 refused.")
    runs = printed(capsys, "judge", "runs", file)
    assert runs.startswith(ended["run"][:8])
    assert "0 of 12 judged, done: 12 refused" in runs


def test_the_last_run_is_gone_on_with(file: Path, capsys: Any, server: OddServer) -> None:
    server.answer = lambda body, number: answering(lambda _: "no")(body, number) if number < 3 else DAILY
    assert run(capsys, file, "--concurrency", 1, "--system", "Alpha", code=3)["state"] == "interrupted"
    server.answer = answering(lambda _: "no")
    ended = told(capsys, "judge", "resume", file)
    assert (ended["state"], ended["done"], ended["total"], ended["judged_now"]) == ("done", 6, 6, 3)
    assert "No run was left unfinished" in refused(capsys, "judge", "resume", file)


def test_an_estimate_asks_nothing_and_a_whole_paper_is_told_by_figure(
    file: Path, capsys: Any, server: OddServer
) -> None:
    result = told(capsys, "judge", "estimate", file, "--judge", JUDGE, "--together", 3)
    assert (result["units"], result["calls"], result["cost_usd"], server.bodies) == (12, 4, None, [])
    assert "The price of test-model is not known" in printed(
        capsys, "judge", "estimate", file, "--judge", JUDGE
    )
    words = ("judge", "estimate", file, "--judge", JUDGE, "--protocol", "researcherbench")
    result = told(capsys, *words)
    calls = {one["protocol"]: one["calls"] for one in result["protocols"]}
    # Twelve criteria, two systems compared in both orders on two items, and no claim is known.
    assert calls == {"researcherbench.coverage": 12, "researcherbench.pairwise": 4}
    assert (result["sum"]["units"], result["sum"]["calls"], server.bodies) == (16, 16, [])
    assert re.search("Coverage.*not known", printed(capsys, *words), re.DOTALL)


def test_a_judge_is_added_and_retired_and_its_verdicts_stay(
    file: Path, capsys: Any, server: OddServer
) -> None:
    words = ("judge", "add", file, "--name", "w", "--base-url", server.url, "--model", "m", "--show-weight")
    printed(capsys, *words)
    listed = {judge["name"]: judge["asking"] for judge in told(capsys, "judge", "list", file)["judges"]}
    assert json.loads(listed["w"]) == {"together": 0, "weights_shown": True}
    assert json.loads(listed[JUDGE]) == {"together": 0}
    run(capsys, file)
    printed(capsys, "judge", "retire", file, JUDGE)
    assert JUDGE not in [one["name"] for one in told(capsys, "judge", "list", file)["judges"]]
    assert sql.rows(Project.open(file), "SELECT count(*) FROM judgement") == [(12,)]
    refused(capsys, "judge", "retire", file, "nobody")


ADDED = ("judge", "add", "--name", "azure", "--model", "gpt")


def test_headers_and_query_parameters_go_along_with_secrets_that_are_in_no_project(
    file: Path, capsys: Any, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    secrets = {"AZURE_OPENAI_API_KEY": "azure-key-9f8e7d6c5b4a", "GATEWAY": "gate-5b4a9f8e7d6c"}
    for name, value in secrets.items():
        monkeypatch.setenv(name, value)
    deployed = server.url.replace("/v1", "/openai/deployments/gpt")
    more = ("--preset", "azure-classic", "--base-url", f"{deployed}/chat/completions", "--header")
    printed(capsys, *ADDED, file, *more, "x-gateway: Bearer {GATEWAY}", "--key-env", "AZURE_OPENAI_API_KEY")
    goldsmith(capsys, "judge", "test", file, "azure")
    assert server.paths[0] == "/openai/deployments/gpt/chat/completions?api-version=2024-10-21"
    sent = [server.headers[0].get(name) for name in ("api-key", "x-gateway", "authorization")]
    assert sent == [secrets["AZURE_OPENAI_API_KEY"], f"Bearer {secrets['GATEWAY']}", None]
    assert not any(value.encode() in file.read_bytes() for value in secrets.values())
    monkeypatch.delenv("GATEWAY")
    why = refused(capsys, "judge", "test", file, "azure")
    assert "The environment variable GATEWAY, which a header" in why


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
    assert words in refused(capsys, *ADDED, file, *given, *more)


def test_presets_propose_an_address_and_let_no_key_go(file: Path, capsys: Any) -> None:
    result = told(capsys, "judge", "presets")["presets"]
    for one in result:
        address = one["base_url"].replace("RESOURCE", "mine").replace("DEPLOYMENT", "gpt")
        words = printed(
            capsys, "judge", "add", file, "--name", one["name"], "--model", "m", "--preset", one["name"],
            *(("--base-url", address) if address != one["base_url"] else ()),
        )  # fmt: skip
        assert bool(one["variable"]) == ("Its key is usually in" in words)
    added = {judge["name"]: judge["key_env"] for judge in told(capsys, "judge", "list", file)["judges"]}
    assert added.items() >= {one["name"]: "" for one in result}.items()
    assert told(capsys, "keys", "list")["keys"] == []


def test_a_vote_is_added_and_counted_and_judges_are_compared(
    file: Path, capsys: Any, server: OddServer
) -> None:
    run(capsys, file, "--trials", 3)
    printed(capsys, "judge", "vote", file, "--name", "vote", "--of", JUDGE)
    ended = told(capsys, "judge", "run", file, "--judge", "vote")
    assert (ended["done"], ended["missing"], ended["calls"]) == (12, {}, 0)
    within = told(capsys, "judge", "consistency", file, "--judge", JUDGE)
    assert (within["units"], within["flips"]["value"]) == (12, 0.0)
    compared = printed(capsys, "judge", "consistency", file, "--judge", JUDGE, "--with", "vote")
    assert re.search(r"agreement: 1\.000.*kappa: undefined \(", compared, re.DOTALL)


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
    lines = printed(capsys, "judge", "run", file, "--judge", "baseline", "--progress", "json").splitlines()
    last = json.loads(lines[-1])
    assert (last["event"], last["state"]) == ("ended", "done")
    code, out, _ = goldsmith(capsys, "judge", "resume", file, "--progress", "json")
    assert (code, json.loads(out)["event"]) == (1, "refused")


@pytest.mark.parametrize("name", ["proposal.draft.rubric", "respond.end-to-end"])
def test_reports_and_drafts_are_not_asked_for_as_verdicts(name: str, file: Path, capsys: Any) -> None:
    for command in ("run", "estimate"):
        why = refused(capsys, "judge", command, file, "--judge", JUDGE, "--protocol", name)
        assert f"“{name}” is not a protocol to judge by" in why


class Child:
    """`judge …` as the window starts it: lines of JSON out, words in."""

    def __init__(self, *words: object) -> None:
        command, pipe = children.started("judge", *words, "--progress", "json"), subprocess.PIPE
        self.process = subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8")
        self.lines: list[dict[str, Any]] = []
        self._reader = threading.Thread(target=self._read)
        self._reader.start()

    def say(self, word: str) -> None:
        assert self.process.stdin
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def ended(self) -> dict[str, Any]:
        code, last = self._over(), self.lines[-1]
        whole = last["state"] == "done" and not last["missing"]
        assert code == (0 if whole else 3)
        return last

    def kill(self) -> None:
        self.process.kill()
        self._over()

    def _over(self) -> int:
        code = self.process.wait(60)
        self._reader.join(60)
        for stream in (self.process.stdin, self.process.stdout):
            assert stream
            stream.close()
        return code

    def _read(self) -> None:
        assert self.process.stdout
        self.lines += (json.loads(line) for line in self.process.stdout)


def until(true: Any) -> None:
    end = time.monotonic() + 120
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.fixture
def provider(monkeypatch: pytest.MonkeyPatch) -> Iterator[BatchServer]:
    monkeypatch.setattr(batching, "FIRST_LOOK_S", 0.01)
    with serving_batches() as server:
        yield server


def test_a_batch_is_paid_once_though_the_program_was_killed_while_it_was_out(
    tmp_path: Path, provider: BatchServer, capsys: Any
) -> None:
    provider.looks = 10**9
    file = file_with_judge(tmp_path, provider)
    child = Child("run", file, "--judge", JUDGE, "--batch")
    until(lambda: child.lines and child.lines[-1].get("batches"))
    child.kill()
    (out,) = told(capsys, "judge", "batches", file)["batches"]
    assert (out["questions"], out["stage"]) == (11, "sent")
    provider.looks = 0
    ended = told(capsys, "judge", "resume", file)
    assert (ended["state"], ended["done"], ended["missing"]) == ("done", 12, {})
    assert (len(provider.made), len(provider.bodies)) == (1, 1)
    assert told(capsys, "judge", "batches", file)["batches"] == []


def test_batches_are_withdrawn_by_name_or_given_up(
    tmp_path: Path, provider: BatchServer, capsys: Any
) -> None:
    provider.looks = 10**9
    file = file_with_judge(tmp_path, provider)
    child = Child("run", file, "--judge", JUDGE, "--batch")
    until(lambda: child.lines and child.lines[-1].get("batches"))
    child.say("cancel")
    assert child.ended()["state"] == "cancelled"
    assert told(capsys, "judge", "batches", file, "--judge", JUDGE, "--withdraw")["stopped"] == 1
    assert "11 questions, cancelling" in printed(capsys, "judge", "batches", file)
    assert told(capsys, "judge", "batches", file, "--forget")["forgotten"] == 1
    assert printed(capsys, "judge", "batches", file) == "No open batches.\n"


def test_a_judges_own_rate_goes_for_all_its_runs(file: Path, server: OddServer, capsys: Any) -> None:
    words = ("judge", "add", file, "--name", "slow", "--base-url", server.url, "--model", "m", "--rpm", 2)
    printed(capsys, *words)
    child = Child("run", file, "--judge", "slow")
    until(lambda: any(line.get("calls") == 2 for line in child.lines))
    child.say("cancel")
    assert (child.ended()["state"], len(server.bodies)) == ("cancelled", 2)


def test_costs_replies_and_drift_are_told_of_one_run(file: Path, server: OddServer, capsys: Any) -> None:
    assert goldsmith(capsys, "judge", "costs", file)[1] == "No costs yet.\n"
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    (cost,) = told(capsys, "judge", "costs", file)["costs"]
    assert (cost["name"], cost["judgements"], cost["cost_usd"], cost["unpriced"]) == (JUDGE, 12, None, 12)
    assert len(told(capsys, "judge", "costs", file, "--by", "criterion")["costs"]) == 6
    assert printed(capsys, "judge", "costs", file, "--by", "question").startswith(
        "1, researcherbench.coverage: an unknown amount for 6 judgements, 6 of unknown cost"
    )
    refused(capsys, "judge", "costs", file, "--by", "moon")
    run(capsys, file)
    asked = len(server.bodies)
    result = told(capsys, "judge", "reread", file, "--judge", JUDGE, "--all")
    assert (result["read"], result["won"], result["changed"], len(server.bodies)) == (12, 0, 0, asked)
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    assert printed(capsys, "judge", "anchor", file, "--judge", JUDGE, "--size", 5).startswith(
        "5 verdicts are frozen."
    )
    server.answer = answering(lambda _: "no")
    drift = printed(capsys, "judge", "drift", file, "--judge", JUDGE)
    assert "5 of 5 anchored units judged again; 5 verdicts changed." in drift
    assert "yes → no" in drift
    (check,) = told(capsys, "judge", "drift", file, "--judge", JUDGE, "--show")["checks"]
    assert (check["agreement"]["value"], len(server.bodies)) == (0.0, 12 + 5)


def test_a_check_is_told_to_a_window_too(file: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    goldsmith(capsys, "judge", "anchor", file, "--judge", JUDGE)
    monkeypatch.setattr("sys.stdin", io.StringIO())
    lines = printed(capsys, "judge", "drift", file, "--judge", JUDGE, "--progress", "json").splitlines()
    last = json.loads(lines[-1])
    assert (last["event"], last["drift"]["compared"]) == ("ended", 12)


def test_a_model_of_unknown_price_is_run_within_a_budget_by_commands_alone(
    tmp_path: Path, capsys: Any, server: OddServer
) -> None:
    file = small_project(tmp_path).path
    words = ("judge", "add", file, "--name", "near", "--base-url", server.url, "--model", "nobody-knows-it")
    printed(capsys, *words)
    run = ("judge", "run", file, "--judge", "near", "--budget")
    assert "judge price" in refused(capsys, *run, 1)
    assert told(capsys, "judge", "runs", file)["runs"] == []
    prices = ("--input-price", 1000, "--output-price", 2000)
    assert "$1000 in, $2000 out" in printed(capsys, "judge", "price", file, "near", *prices)
    assert "The price cannot be read" in refused(capsys, "judge", "price", file, "near", "--input-price", "1")
    result = told(capsys, "judge", "estimate", file, "--judge", "near")
    assert "asks nothing" in refused(capsys, *run, result["smallest_usd"] / 2)
    assert server.bodies == []
    some = told(capsys, *run, result["smallest_usd"], code=3)
    assert (some["state"], 0 < some["judged"] < 12) == ("interrupted", True)
    assert (told(capsys, *run, result["cost_usd"])["state"], len(server.bodies)) == ("done", 12)
    # Each call has 100 tokens in and 20 out.
    costs = [cost["cost_usd"] for cost in told(capsys, "judge", "costs", file)["costs"]]
    assert result["cost_usd"] >= sum(costs) == pytest.approx(12 * 0.14)


def test_a_key_is_asked_for_while_its_project_is_closed(
    file: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with opened_projects() as opened:
        monkeypatch.setattr(typer, "prompt", lambda *_, **__: [one.store.closed for one in opened])
        monkeypatch.setattr(kept_keys, "remember_key", lambda _project, judge, key: f"{judge.name}: {key}")
        assert printed(capsys, "judge", "key", file, JUDGE) == f"{JUDGE}: [True]\n"


VERDICTS = 12


@pytest.fixture
def judged_file(tmp_path: Path, server: OddServer) -> str:
    """A project in which the judge has said no to everything."""
    server.answer = firm
    project = small_project(tmp_path)
    add_judge(project, server)
    judged(project)
    judged(project, "baseline")
    server.bodies.clear()
    return str(tmp_path / "small.goldsmith")


def test_a_judge_is_attacked_after_an_estimate_and_its_rates_told(
    judged_file: str, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    result = told(capsys, "attack", judged_file, "--judge", JUDGE, "--attack", "injection", "--estimate")
    assert (result["judging"]["calls"], result["drawn"], server.bodies) == (VERDICTS, VERDICTS, [])
    assert "12 verdicts of 12 on 2 items" in printed(
        capsys, "attack", judged_file, "--judge", JUDGE, "--estimate"
    )
    server.answer = gullible
    ended = told(
        capsys, "attack", judged_file, "--judge", JUDGE, "--attack", "injection", "--attack", "padding"
    )
    assert (ended["state"], ended["done"]) == ("done", 2 * VERDICTS)
    sheets = {
        sheet["key"]: sheet["rows"] for sheet in told(capsys, "bias", judged_file, "--judge", JUDGE)["sheets"]
    }
    assert {row["attack"]: row["failure_rate"] for row in sheets["attacks"]} == {
        "An order to the judge": 1.0, "Padding by sentences on nothing": 0.0,
    }  # fmt: skip


def test_families_are_told_and_kept_and_tables_written(
    judged_file: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "bias", judged_file, "--family", "Alpha=Anthropic")
    assert "“Nobody”" in refused(
        capsys, "bias", judged_file, "--family", "Alpha=OpenAI", "--family", "Nobody=OpenAI"
    )
    result = told(capsys, "bias", judged_file, "--to", tmp_path / "bias.csv")
    rows = next(sheet["rows"] for sheet in result["sheets"] if sheet["key"] == "families")
    assert {row["name"]: row["family"] for row in rows}["Alpha"] == "Anthropic"
    assert result["files"][0] == "bias.csv"


@pytest.fixture
def carded(tmp_path: Path, server: OddServer) -> str:
    return str(carded_project(tmp_path, server).path)


def warmer(carded: str) -> None:
    project = Project.open(Path(carded))
    judges.change(project, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})


def test_a_card_is_shown_and_written_as_json_and_as_a_page(
    carded: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    out = printed(capsys, "card", carded, "--judge", JUDGE)
    assert "Cohen's κ" in out
    assert "Nothing was written" in out
    result = told(capsys, "card", carded, "--judge", JUDGE, "--to", str(tmp_path / "card.json"))
    assert result["files"] == ["card.json"]
    assert json.loads((tmp_path / "card.json").read_bytes()) == result["card"]
    # Everybody says yes of the first criterion; the second person of the second too, on which the judge says no.
    (line,) = [one for one in result["card"]["lines"] if (one["who"], one["by"]) == ("judge", "all")]
    assert (line["plain"]["precision"]["value"], line["plain"]["recall"]["value"]) == (1.0, 8 / 12)
    assert "Wrote card.html" in printed(
        capsys, "card", carded, "--judge", JUDGE, "--to", str(tmp_path / "card.html")
    )
    assert (tmp_path / "card.html").read_text("utf-8").startswith("<!DOCTYPE html>")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "A card describes one judge"),
        (("--judge", "nobody"), "There is no judge “nobody”"),
        (("--judge", JUDGE, "--to", "card.pdf"), "A card is not written as “.pdf”"),
        (("--judge", JUDGE, "--to", "nowhere/card.json"), "There is no folder “nowhere”"),
        (("--judge", JUDGE, "--set", "Autumn"), "There is no validation set “Autumn”"),
        (("--check", "nothing.json"), "There is no file “nothing.json”"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    carded: str, capsys: pytest.CaptureFixture[str], words: tuple[str, ...], said: str
) -> None:
    assert said in refused(capsys, "card", carded, *words)


def test_a_look_at_the_test_part_is_counted_and_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = validation_project(tmp_path)
    whose = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", whose, size=8))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes" if at[2] == 1 else "no")
    judge_says(project, "small", lambda at: "yes")
    validation_sets.lock(project, "Spring")
    words = ("card", str(project.path), "--judge", "small", "--set", "Spring")
    assert told(capsys, *words)["card"]["labels"]["opened_at"] == []
    # Where no card could be written, nobody has looked.
    refused(capsys, *words, "--part", "test", "--to", tmp_path / "card.txt")
    assert validation_sets.named(project, "Spring").openings == 0
    labels = told(capsys, *words, "--part", "test")["card"]["labels"]
    assert (labels["part"], len(labels["opened_at"])) == ("test", 1)
    assert validation_sets.named(project, "Spring").openings == 1


def test_a_card_is_held_against_the_judge_and_binds_it(
    carded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.html")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    result = told(capsys, "card", carded, "--check", path, "--bind")
    assert result.items() >= {"judge": JUDGE, "holds": True, "differences": [], "bound": True}.items()
    warmer(carded)
    assert "request parameters" in refused(capsys, "judge", "run", carded, "--judge", JUDGE, "--trials", "2")
    result = told(capsys, "card", carded, "--check", path, "--bind", code=1)
    assert result["bound"] is False
    assert [(one["part"], one["on_card"], one["now"]) for one in result["differences"]] == [
        ("request parameters", "{}", '{"temperature":1}')
    ]
    out = printed(capsys, "card", carded, "--check", path, code=1)
    assert "differs from the card" in out
    assert "request parameters: {} on the card" in out


def test_runs_and_corrections_are_refused_under_the_card_of_another(
    carded: str, tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    printed(capsys, "judge", "run", carded, "--judge", JUDGE, "--card", path)
    printed(capsys, "correct", carded, "--card", path)
    asked = len(server.bodies)
    warmer(carded)
    assert "is not the judge of the card" in refused(
        capsys, "judge", "run", carded, "--judge", JUDGE, "--trials", "2", "--card", path
    )
    assert len(server.bodies) == asked
    # The verdicts at hand were given by the judge of the card; those of the baseline were not.
    printed(capsys, "correct", carded, "--card", path)
    printed(capsys, "judge", "run", carded, "--judge", "baseline")
    assert "kind of judge" in refused(capsys, "correct", carded, "--judge", "baseline", "--card", path)


def test_the_judge_of_a_card_is_added_elsewhere(
    carded: str, tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    (tmp_path / "other").mkdir()
    other = small_project(tmp_path / "other")
    out = printed(capsys, "card", other.path, "--check", path, code=1)
    assert "Define a judge that asks for “test-model”" in out
    result = told(capsys, "card", str(other.path), "--check", path, "--define-at", server.url)
    assert (result["judge"], result["holds"]) == (JUDGE, True)


def test_matches_are_imported_and_their_standings_told(tmp_path: Path, capsys: Any) -> None:
    project, matches = two_tasks(tmp_path), tmp_path / "matches.csv"
    matches.write_text("first,second,winner,confidence,rater\nt01,t02,t01,0.8,gpt\n", "utf-8")
    assert told(capsys, "contest", "import", project.path, matches) == {
        "matches": 1, "raters": {"gpt": 1}, "again": False,
    }  # fmt: skip
    result = told(capsys, "contest", "standings", project.path, "--top", "1")
    first, second = result["standings"]
    assert (first["task_id"], first["key"], first["elo"], second["elo"]) == ("t01", "s1-t01", 1209.6, 1190.4)
    assert (first["low"], first["high"], first["p_top_k"]) == (None, None, None)
    assert first["note"] == "1 match is too few for an interval, which takes 5"
    assert (result["rater"], result["rounds"], result["matches"], result["told"]) == ("gpt", 1, 1, [])
    out = printed(capsys, "contest", "standings", project.path, "--departures")
    assert "of the top 1 are certain" in out
    assert "Differences from the paper:" in out
    matches.write_text("first,second,winner,confidence,rater\nt01,t02,t01,.3,gpt\n", "utf-8")
    out = refused(capsys, "contest", "import", project.path, matches)
    assert "row 2: A confidence of 0.3" in " ".join(out.split())
