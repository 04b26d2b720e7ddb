"""Judges, their cards, and what people and judges agree on, from the command line; and a judge at work."""

import csv
import io
import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console

from annotator.actions.items import items
from annotator.actions.judges import judges, kept_keys
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.cli import results
from annotator.protocols import EXTRACTIONS
from tests.cli.commands import goldsmith, printed, refused, told
from tests.conftest import opened_projects
from tests.judging.odd_server import OddServer, completion, error
from tests.material.labelled_sections import TINY_PLAN
from tests.projects import adra_project as adra, pairs_project as pairs
from tests.projects.small_projects import small_project
from tests.projects.validation_project import (
    JUDGE as SMALL,
    ann,
    judge_says,
    person_says,
    strict,
    validation_project,
    verdicts_project,
)
from tests.servers.served import (
    JUDGE,
    add_judge,
    answering,
    carded_project,
    file_with_judge,
    firm,
    gullible,
    judged,
    serving_batches,
)
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
    words = ("judge", "missing", file, "--judge", JUDGE, "--run", ended["run"], "--cause", "refused")
    assert told(capsys, *words)["by_cause"] == {"refused": 12}
    assert "0 of 12 judged, done: 12 refused" in printed(capsys, "judge", "runs", file)


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
    result = told(capsys, "judge", "estimate", file, "--judge", JUDGE, "--protocol", "researcherbench")
    calls = {one["protocol"]: one["calls"] for one in result["protocols"]}
    # Twelve criteria, two systems compared in both orders on two items, and no claim is known.
    assert calls == {"researcherbench.coverage": 12, "researcherbench.pairwise": 4}
    assert (result["sum"]["units"], result["sum"]["calls"], server.bodies) == (16, 16, [])


def test_a_judge_is_added_and_retired_and_its_verdicts_stay(
    file: Path, capsys: Any, server: OddServer
) -> None:
    words = ("judge", "add", file, "--name", "w", "--base-url", server.url, "--model", "m", "--show-weight")
    printed(capsys, *words)
    listed = {judge["name"]: judge["asking"] for judge in told(capsys, "judge", "list", file)["judges"]}
    assert json.loads(listed["w"]) == {"together": 0, "weights_shown": True}
    run(capsys, file)
    printed(capsys, "judge", "retire", file, JUDGE)
    assert JUDGE not in [one["name"] for one in told(capsys, "judge", "list", file)["judges"]]
    assert sql.rows(Project.open(file), "SELECT count(*) FROM judgement") == [(12,)]


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


def cancelled(once: Callable[[dict[str, Any]], bool], *words: object) -> dict[str, Any]:
    """How `judge …` ends that the window starts, and cancels once a line of it says so."""
    command, pipe = children.started("judge", *words, "--progress", "json"), subprocess.PIPE
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, encoding="utf-8") as child:
        assert child.stdin
        assert child.stdout
        lines = map(json.loads, child.stdout)
        assert any(map(once, lines))
        child.stdin.write("cancel\n")
        child.stdin.flush()
        *_, last = lines
    assert child.returncode == 3
    return dict(last)


def test_batches_are_withdrawn_by_name_or_given_up(tmp_path: Path, capsys: Any) -> None:
    with serving_batches() as provider:
        provider.looks = 10**9
        file = file_with_judge(tmp_path, provider)
        ended = cancelled(lambda line: bool(line.get("batches")), "run", file, "--judge", JUDGE, "--batch")
        assert ended["state"] == "cancelled"
        assert told(capsys, "judge", "batches", file, "--judge", JUDGE, "--withdraw")["stopped"] == 1
        assert "11 questions, cancelling" in printed(capsys, "judge", "batches", file)
        assert told(capsys, "judge", "batches", file, "--forget")["forgotten"] == 1


def test_a_judges_own_rate_goes_for_all_its_runs(file: Path, server: OddServer, capsys: Any) -> None:
    words = ("judge", "add", file, "--name", "slow", "--base-url", server.url, "--model", "m", "--rpm", 2)
    printed(capsys, *words)
    ended = cancelled(lambda line: line.get("calls") == 2, "run", file, "--judge", "slow")
    assert (ended["state"], len(server.bodies)) == ("cancelled", 2)


def test_costs_replies_and_drift_are_told_of_one_run(
    file: Path, server: OddServer, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "judge", "run", file, "--judge", JUDGE)
    assert len(told(capsys, "judge", "costs", file, "--by", "criterion")["costs"]) == 6
    assert printed(capsys, "judge", "costs", file, "--by", "question").startswith(
        "1, researcherbench.coverage: an unknown amount for 6 judgements, 6 of unknown cost"
    )
    printed(capsys, "judge", "anchor", file, "--judge", JUDGE, "--size", 5)
    server.answer = answering(lambda _: "no")
    assert "yes → no" in printed(capsys, "judge", "drift", file, "--judge", JUDGE)
    (check,) = told(capsys, "judge", "drift", file, "--judge", JUDGE, "--show")["checks"]
    assert (check["agreement"]["value"], len(server.bodies)) == (0.0, 12 + 5)
    # A window is told so, too.
    monkeypatch.setattr("sys.stdin", io.StringIO())
    *_, last = printed(capsys, "judge", "drift", file, "--judge", JUDGE, "--progress", "json").splitlines()
    assert json.loads(last)["drift"]["compared"] == 5


def test_a_model_of_unknown_price_is_run_within_a_budget_by_commands_alone(
    tmp_path: Path, capsys: Any, server: OddServer
) -> None:
    file = small_project(tmp_path).path
    words = ("judge", "add", file, "--name", "near", "--base-url", server.url, "--model", "nobody-knows-it")
    printed(capsys, *words)
    run = ("judge", "run", file, "--judge", "near", "--budget")
    assert "judge price" in refused(capsys, *run, 1)
    assert told(capsys, "judge", "runs", file)["runs"] == []
    assert "The price cannot be read" in refused(capsys, "judge", "price", file, "near", "--input-price", "1")
    printed(capsys, "judge", "price", file, "near", "--input-price", 1000, "--output-price", 2000)
    assert "asks nothing" in refused(capsys, *run, 0.01)
    assert (told(capsys, *run, 100)["state"], len(server.bodies)) == ("done", 12)
    # Each call has 100 tokens in and 20 out.
    (cost,) = told(capsys, "judge", "costs", file)["costs"]
    assert cost["cost_usd"] == pytest.approx(12 * 0.14)


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
    server.answer = gullible
    told(capsys, "attack", judged_file, "--judge", JUDGE, "--attack", "injection", "--attack", "padding")
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
    assert "Nothing was written" in printed(capsys, "card", carded, "--judge", JUDGE)
    result = told(capsys, "card", carded, "--judge", JUDGE, "--to", str(tmp_path / "card.json"))
    assert result["files"] == ["card.json"]
    assert json.loads((tmp_path / "card.json").read_bytes()) == result["card"]
    printed(capsys, "card", carded, "--judge", JUDGE, "--to", str(tmp_path / "card.html"))
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
    validated: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told(capsys, "sets", "draw", validated, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    filled(validated, "R2", "R3")
    told(capsys, "sets", "lock", validated, "Spring")
    words = ("card", validated, "--judge", "small", "--set", "Spring")
    told(capsys, *words)
    # Where no card could be written, nobody has looked.
    refused(capsys, *words, "--part", "test", "--to", tmp_path / "card.txt")
    assert validation_sets.named(Project.open(Path(validated)), "Spring").openings == 0
    labels = told(capsys, *words, "--part", "test")["card"]["labels"]
    assert (labels["part"], len(labels["opened_at"])) == ("test", 1)


def test_a_card_is_held_against_the_judge_and_binds_it(
    carded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.html")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    result = told(capsys, "card", carded, "--check", path, "--bind")
    assert result.items() >= {"judge": JUDGE, "holds": True, "differences": [], "bound": True}.items()
    warmer(carded)
    assert "request parameters" in refused(capsys, "judge", "run", carded, "--judge", JUDGE, "--trials", "2")
    assert told(capsys, "card", carded, "--check", path, "--bind", code=1)["bound"] is False
    assert "request parameters: {} on the card" in printed(capsys, "card", carded, "--check", path, code=1)


def test_runs_and_corrections_are_refused_under_the_card_of_another(
    carded: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(tmp_path / "card.json")
    told(capsys, "card", carded, "--judge", JUDGE, "--to", path)
    warmer(carded)
    assert "is not the judge of the card" in refused(
        capsys, "judge", "run", carded, "--judge", JUDGE, "--trials", "2", "--card", path
    )
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
    assert told(capsys, "card", str(other.path), "--check", path, "--define-at", server.url)["holds"]


@pytest.fixture
def validated(tmp_path: Path) -> str:
    return str(validation_project(tmp_path).path)


def filled(validated: str, *people: str) -> None:
    project = Project.open(Path(validated))
    for alias in people:
        person_says(project, alias, ann)
    judge_says(project, "good", ann)
    judge_says(project, "small", strict)


def test_a_set_is_drawn_labelled_locked_and_validated_on(
    validated: str, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ("sets", "draw", validated, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    looked = told(capsys, *words, "--dry-run")
    assert (looked["dry_run"], looked["units"], len(looked["responses"])) == (True, 16, 8)
    assert told(capsys, *words)["responses"] == looked["responses"]
    assert "are missing" in refused(capsys, "sets", "lock", validated, "Spring")
    filled(validated, "R2", "R3")
    assert "until then no judge is shown" in refused(capsys, "validate", validated, "--set", "Spring")
    assert told(capsys, "sets", "lock", validated, "Spring")["labels"] == 32
    told(capsys, "validate", validated, "--set", "Spring", "--part", "test")
    (result,) = told(capsys, "sets", "list", validated)["sets"]
    assert (result["openings"], result["lacking"]) == (1, [])


def test_a_set_is_compared_by_its_own_protocol(
    validated: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    told(capsys, "sets", "draw", validated, "Spring", "--person", "R2", "--person", "R3", "--size", "8")
    filled(validated, "R2", "R3")
    told(capsys, "sets", "lock", validated, "Spring")
    monkeypatch.setattr(label_cases, "usual", lambda _: "adra.plan")
    for command in ("validate", "choose-judge", "rule", "card --judge good"):
        name, *options = command.split()
        printed(capsys, name, validated, *options, "--set", "Spring")
        refused(capsys, name, validated, *options)


def test_what_there_is_not_is_refused_in_words(validated: str, capsys: pytest.CaptureFixture[str]) -> None:
    filled(validated, "R2")
    for option, value, said in (
        ("--by", "mood", "cannot be broken down by “mood”"),
        ("--judge", "nobody", "nobody"),
        ("--against", "R9", "“R9” is not an id or alias"),
        ("--positive", "perhaps", "is not a value"),
        ("--set", "Autumn", "There is no validation set “Autumn”"),
    ):
        assert said in refused(capsys, "validate", validated, option, value)


def test_a_judge_is_chosen_scores_are_corrected_and_tables_written(
    validated: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    filled(validated, "R2")
    # What judging cost is not known, so that nothing is the cheapest.
    assert told(capsys, "choose-judge", validated, "--figure", "accuracy", "--delta", "0.5")["chosen"] is None
    assert "cannot be chosen by “beauty”" in refused(capsys, "choose-judge", validated, "--figure", "beauty")
    # The judge misses a light criterion of every item of Alpha's: 3/4 raw, and by people everything.
    rows = told(capsys, "correct", validated, "--judge", "small")["sheets"][0]["rows"]
    assert [(row["raw"], row["corrected"]) for row in rows if row["system"] == "Alpha"] == [(0.75, 1.0)]
    told(capsys, "validate", validated, "--judge", "small", "--against", "R2", "--to", tmp_path / "v.csv")
    (row,) = csv.DictReader((tmp_path / "v-weighted.csv").read_text("utf-8-sig").splitlines())
    assert (row["rater"], row["accuracy"], row["accuracy_n"]) == ("small", "0.875", "16")


@pytest.fixture
def ruled(tmp_path: Path) -> str:
    return str(verdicts_project(tmp_path, filling=1).path)


def test_a_file_rules_on_all_of_it_or_on_nothing(ruled: str, tmp_path: Path, capsys: Any) -> None:
    cases = [one["case"] for one in told(capsys, "rule", ruled, "--judge", SMALL)["disagreements"]]
    listed = [{"case": case, "say": "person wrong"} for case in cases[:2]]
    path = tmp_path / "rulings.json"
    path.write_text(json.dumps([*listed, {"case": cases[2], "say": "nobody"}]), "utf-8")
    assert "“nobody” is not a valid value here." in refused(
        capsys, "rule", ruled, "--judge", SMALL, "--from", str(path)
    )
    assert told(capsys, "rule", ruled, "--judge", SMALL)["ruled"] == 0
    path.write_text(json.dumps(listed), "utf-8")
    assert told(capsys, "rule", ruled, "--judge", SMALL, "--from", str(path))["ruled"] == 2


@pytest.mark.parametrize(
    "text", ["{}", "[1]", '[{"case": "a"}]', '[{"case": "a", "say": "b", "x": ""}]', "?"]
)
def test_a_file_that_does_not_fit_is_refused(ruled: str, tmp_path: Path, text: str, capsys: Any) -> None:
    path = tmp_path / "rulings.json"
    path.write_text(text, "utf-8")
    refused(capsys, "rule", ruled, "--from", path)


def test_verdicts_are_reviewed_by_an_expert(ruled: str, capsys: Any) -> None:
    result = told(capsys, "review", ruled, "--judge", SMALL, "--as", "R3", "--order", "weight")
    assert (result["of"], result["blind"]) == (14, 0)
    assert "Canary" not in json.dumps(result)
    case = result["verdicts"][0]["case"]
    given = ("--case", case, "--say", "disagree", "--reason", "other")
    verdicts = told(capsys, "review", ruled, "--judge", SMALL, "--as", "R3", *given)["verdicts"]
    assert [(one["said"], one["reason"]) for one in verdicts if one["said"]] == [("disagree", "other")]
    assert "given together" in refused(capsys, "review", ruled, "--judge", SMALL, "--case", case)


def test_an_unclear_criterion_is_worded_anew_and_queued(ruled: str, capsys: Any) -> None:
    case = told(capsys, "rule", ruled, "--judge", SMALL)["disagreements"][0]["case"]
    told(capsys, "rule", ruled, "--case", case, "--say", "criterion unclear")
    (unclear,) = told(capsys, "rulings", "unclear", ruled)["unclear"]
    assert (unclear["criterion"], unclear["item"], unclear["times"]) == ("i1c1", "1", 1)
    after = told(capsys, "rulings", "reword", ruled, "i1c1", "Explains what the identity path is for")
    assert [one["judge"] for one in after["to_judge"]] == ["other-judge", SMALL]
    queued = told(capsys, "rulings", "again", ruled, "--judge", SMALL, "--queue")
    assert (queued["queued"], len(queued["again"])) == (True, 1)


def test_disagreements_are_told_in_words_and_ruled_on(ruled: str, capsys: Any) -> None:
    assert f"{SMALL} says yes, R2 says no: open" in printed(capsys, "rule", ruled, "--judge", SMALL)
    first = told(capsys, "rule", ruled, "--judge", SMALL)["disagreements"][0]
    after = told(capsys,
        "rule", ruled, "--judge", SMALL, "--case", first["case"], "--say", "judge wrong", "--reason", "too lenient",
        "--note", "See page 2.", "--open",
    )  # fmt: skip
    assert (after["ruled"], len(after["disagreements"])) == (1, 8)


def test_letter_15_errors_are_named_on_a_drawn_sample_of_a_judges_verdicts(ruled: str, capsys: Any) -> None:
    drawn = told(capsys, "error-sample", ruled, "--per-system", "1", "--seed", "3", "--as", "R1")
    assert told(capsys, "error-sample", ruled) == drawn
    looked = ("review", ruled, "--judge", SMALL, "--as", "R3", "--order", "errors")
    verdicts = told(capsys, *looked)["verdicts"]
    # Each report has one criterion of which this judge says no.
    assert [(verdict["value"], verdict["case"].split("/")[0] in drawn["responses"]) for verdict in verdicts] == [
        ("no", True), ("no", True),
    ]  # fmt: skip
    case, other = (verdict["case"] for verdict in verdicts)
    refused(capsys, *looked, "--case", case, "--say", "disagree", "--kind", "incompleteness")
    assert "Use one of incompleteness, partial_missing" in refused(
        capsys, *looked, "--case", case, "--say", "agree", "--kind", "retrieval"
    )
    told(capsys, *looked, "--case", case, "--say", "agree", "--kind", "partial_missing")
    told(capsys, *looked, "--case", other, "--say", "disagree")
    sheets = told(capsys, "results", ruled, "--view", "errors", "--judge", SMALL)["sheets"]
    (row,) = next(one["rows"] for one in sheets if one["title"] == "Uncovered criteria")
    # Of two reports one lacks a part; the verdict on the other was rejected.
    assert (row["responses"], row["partial_missing"], row["subtotal"]) == (2, 0.5, 0.5)


ADA = (("Explains how carbon is priced", 1), ("Names a court that ruled on it", 2))
BEN = (("Explains how carbon is priced", 3), ("Lists species of moss", 2))


@pytest.fixture
def frozen(tmp_path: Path) -> Path:
    """One item with rubrics of both and labels of both, where everybody says yes; Cora worked last."""
    project = pairs.pairs_project(tmp_path)
    pairs.submit(project, {"Ada": pairs.rubric(ADA, "a"), "Ben": pairs.rubric(BEN, "b")})
    labels = pairs.labels(pairs.add_report(project), {"a1": "yes", "a2": "yes"})
    pairs.submit(project, {"Ada": labels, "Ben": labels})
    pairs.work_as(project, "Cora").close()
    return project.path


def test_agreement_is_told_in_rows_and_words_and_the_file_only_read(
    frozen: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = frozen.read_bytes()
    assert [(row["stage"], row["field"], row["n"]) for row in told(capsys, "agreement", frozen)["rows"]] == [
        ("rubric", "units", 1), ("rubric", "weight", 1), ("labelling", "value", 2),
    ]  # fmt: skip
    assert {row["by"] for row in told(capsys, "agreement", frozen, "--by", "person")["rows"]} == {"person"}
    monkeypatch.setenv("COLUMNS", "80")
    out = printed(capsys, "agreement", frozen)
    assert "–  both raters used one" in out
    assert not re.search("…|nan", out, re.IGNORECASE)
    assert frozen.read_bytes() == before


def test_nothing_frozen_says_what_must_happen_first(tmp_path: Path, capsys: Any) -> None:
    assert "No agreement is frozen yet" in printed(capsys, "agreement", pairs.pairs_project(tmp_path).path)


@pytest.fixture
def matrices(tmp_path: Path) -> str:
    """A plan that finds 3 of 4 and one that finds 1 of 4 with a missing cell; both systems on two items."""
    project = adra.adra_project(tmp_path, 2, ("Alpha", "深度"))
    for item in items.ids(project):
        adra.fill_matrix(project, item, adra.response_of(item), [[1, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1]])
        adra.fill_matrix(project, item, adra.response_of(item, "深度"), [[1, 0, 0, 0], [0, 0, 0, None]])
    return str(tmp_path / "adra.goldsmith")


def test_one_metric_is_told_by_rater_with_what_is_not_publishable(matrices, capsys):
    rows = told(capsys, "results", matrices, "--metric", "plan.recall", "--by", "all")["rows"]
    figures = ("system", "value", "n", "missing", "publishable")
    assert [tuple(row[name] for name in figures) for row in rows] == [
        ("Alpha", 0.75, 2, 0, True), ("深度", 0.25, 2, 2, False),
    ]  # fmt: skip
    assert "0.2500 (!)" in printed(capsys, "results", matrices, "--metric", "plan.recall", "--by", "all")
    assert "Judges with verdicts: tested." in refused(
        capsys, "results", matrices, "--metric", "plan.f1", "--rater", "me"
    )


def test_an_empty_table_says_what_to_do_and_an_unknown_one_what_there_is(matrices, capsys):
    wanted = {
        "time-limit": "goldsmith respond FILE --cutoff",
        "recent-sources": "goldsmith sources describe FILE --item KEY --published",
        "isolated-planning": "goldsmith respond FILE --mode isolated",
        "r3": "goldsmith judge extract FILE --judge NAME --extraction researcherbench.claims.extract",
        "wins-table": "goldsmith judge run FILE --judge NAME --protocol researcherbench.pairwise",
        "windows": "goldsmith judge run FILE --judge baseline",
    }
    for name, command in wanted.items():
        assert command in " ".join(printed(capsys, "results", matrices, "--view", name).split()), name
    words = " ".join(refused(capsys, "results", matrices, "--view", "nonsense").split())
    assert re.search(r"overview, items, wins.*time-limit \(a6\)", words)


def test_empty_subjects_are_said_to_be_empty(matrices, capsys):
    project = Project.open(Path(matrices))
    items.change_all(project, {item: {"subject": ""} for item in items.ids(project)})
    for how in (
        ("--metric", "plan.recall", "--by", "subject"),
        ("--view", "domains", "--metric", "plan.recall"),
    ):
        out = " ".join(printed(capsys, "results", matrices, *how).split())
        assert "has a subject yet. Run: goldsmith items edit" in out
        assert "Choose another" not in out


def test_a_view_is_chosen_told_and_written(matrices, capsys, tmp_path):
    result = told(capsys, "results", matrices, "--view", "items", "--choose", "metric=Plan F1 (one-to-one)")
    assert result["chosen"]["metric"] == "plan.f1"
    assert "Its choices are: metric, judge, among." in refused(
        capsys, "results", matrices, "--view", "items", "--choose", "x=y"
    )
    assert "Write it as NAME=VALUE" in refused(
        capsys, "results", matrices, "--view", "items", "--choose", "x"
    )
    assert "plan.csv, plan-matrix.csv" in printed(
        capsys, "results", matrices, "--view", "plan", "--to", str(tmp_path / "plan.csv")
    )
    rows = list(csv.DictReader((tmp_path / "plan.csv").read_text("utf-8-sig").splitlines()))
    assert [row["system"] for row in rows] == ["Alpha", "深度"] * 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--by", "weather"], "Use one of all, type, subject, phase, difficulty, aspect, mode."),
        (["--view", "weather"], "There is no view “weather”."),
        (["--metric", "weather"], "There is no metric “weather”."),
        (["--protocol", "weather"], "There is no protocol “weather”."),
    ],
)
def test_what_there_is_not_is_refused_with_what_there_is(matrices, capsys, words, said):
    assert said in refused(capsys, "results", matrices, *words)


def test_without_judgements_the_command_says_what_to_run(tmp_path, capsys):
    adra.adra_project(tmp_path).close()
    assert "goldsmith judge run" in printed(capsys, "results", str(tmp_path / "adra.goldsmith"))


HEADS = [
    "Module",
    "System",
    "Technical details: accuracy",
    "Precision (one-to-one)",
    "Recall (one-to-one)",
    "F1",
]
ROWS = [
    ["Planning", "Larkmoor", "0.571 missing", "0.615", "0.889", "0.727"],
    ["Reasoning", "Pendrel", "–", "1", "1", "1"],
]


def table_printed(monkeypatch: pytest.MonkeyPatch, width: int, stay: int) -> str:
    console = Console(width=width)
    monkeypatch.setattr(results, "console", console)
    with console.capture() as captured:
        results.print_table("Title", HEADS, ROWS, stay=stay)
    return captured.get()


@pytest.mark.parametrize("width", [60, 80, 120, 300])
def test_no_word_is_cut_and_no_cell_is_lost(monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    words = table_printed(monkeypatch, width, 2).split()
    for text in (*HEADS, *(cell for row in ROWS for cell in row)):
        assert set(text.split()) <= set(words)


@pytest.mark.parametrize(("width", "tables_there"), [(300, 1), (60, 2)])
def test_further_columns_stand_behind_those_that_name_a_line(
    monkeypatch: pytest.MonkeyPatch, width: int, tables_there: int
) -> None:
    said = table_printed(monkeypatch, width, 2)
    assert said.count("Module") == said.count("Larkmoor") == said.count("Pendrel") == tables_there
    assert said.count("Title") == 1
