"""What Goldsmith promises about money and secrets."""

import asyncio
import io
import json
import sqlite3
import subprocess
import sys
import threading
import zlib
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest

from annotator.actions.attacks import attacking
from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges, drift, forecasts, judge_runs
from annotator.actions.material import extracting
from annotator.actions.orders.orders import ChildRequest
from annotator.actions.project.file import Project, record
from annotator.actions.releases import releases
from annotator.actions.runs.judge_cases import AttackRequest, RunRequest
from annotator.cli import project as project_module, run_command
from annotator.domain.common import Change, Refusal
from annotator.exchange.pages.worker import ReadingProcess
from annotator.judging.calls.keys import SERVICE, address_of
from annotator.judging.calls.prices import Budget
from annotator.judging.runner import run
from annotator.protocols import EXTRACTIONS
from tests.actions.contests.contest_project import add_seminar, task
from tests.common import expect_refusal
from tests.judging.calls.test_client import codes
from tests.judging.calls.test_keys import Ring
from tests.judging.odd_server import (
    TINY,
    WAYS_OF_TELLING,
    YES_JSON,
    BatchServer,
    Odd,
    OddServer,
    Results,
    Shelf,
    Used,
    answered,
    asker,
    at_work,
    batched,
    case,
    completion,
    error,
)
from tests.material.labelled_sections import TINY_PLAN
from tests.projects.small_projects import small_project
from tests.servers.served import JUDGE, asked_about, serving_batches
from tests.servers.writing_server import write_corpus
from tests.storage import sql
from tests.windows import children

pytestmark = pytest.mark.anyio


class Meter:
    """Answers of any length, cut where a request says so, and what they come to by the server's own count.

    What is thought is cut as well only where it is told of as a part of what is written.
    """

    def __init__(self, seed: int, way: str = WAYS_OF_TELLING[0]) -> None:
        self._chance, self._way = Random(seed), way
        self.bills: list[float] = []

    def answer(self, body: dict[str, Any], number: int = 0, share: float = 1.0) -> Odd:
        wanted = int(10 ** self._chance.uniform(1, 4.5))
        cap = body.get("max_completion_tokens", body.get("max_tokens", wanted))
        asked, least = len(json.dumps(body)) // 3, int(self._way in Used.UNTOLD)
        thought = self._chance.choice((least, 1, wanted // 2))
        inside = not self._way.startswith(("thinking beside", "thinking in the total"))
        said = min(wanted, cap - min(thought, cap // 2) if inside else cap)
        used = Used(asked, asked // 4, said, min(thought, cap // 2) if inside else thought)
        tree = json.loads(str(completion(YES_JSON).body))
        tree["usage"] = used.told[self._way]
        self.bills.append(share * used.cost_usd)
        return Odd(json.dumps(tree), delay=0.002)

    def keeps(self, budget_usd: float) -> bool:
        return sum(self.bills) <= budget_usd + max(self.bills)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    words = "# system\nJudge the report.\n\n# user\nCriterion: {{criterion}}\nReport: {{report}}\n"
    (tmp_path / "tiny.md").write_text(words, encoding="utf-8")
    return tmp_path


@pytest.mark.parametrize(
    ("way", "budget_usd", "at_once"),
    [
        *((way, 30.0, 64) for way in WAYS_OF_TELLING),
        *(
            (way, *sizes)
            for way in ("thinking inside", "thinking beside")
            for sizes in ((0.1, 8), (0.6, 2), (30.0, 1), (90.0, 16))
        ),
    ],
)
async def test_a_bill_is_right_or_unknown_and_no_budget_is_passed_by_more_than_one_call(
    folder: Path, way: str, budget_usd: float, at_once: int
) -> None:
    meter = Meter(at_once, way)
    with at_work(OddServer()) as server:
        server.answer = meter.answer
        async with asker(server.url, folder, concurrency=at_once, budget=Budget(budget_usd)) as asks:
            ended = await run(TINY, map(case, range(60)), asks, concurrency=at_once, record=lambda _: None)
    assert bool(meter.bills) is (budget_usd > 0.5)
    assert not meter.bills or meter.keeps(budget_usd)
    told = ended.progress
    if way in Used.UNTOLD:
        assert (told.spent_usd, told.unpriced) == (0, told.calls)
    else:
        assert (told.spent_usd, told.unpriced) == (pytest.approx(sum(meter.bills)), 0)


@pytest.mark.parametrize(
    ("way", "budget_usd"),
    [("thinking inside", 400.0), ("cached at the top", 400.0), ("thinking beside", 2_000.0)],
)
async def test_calls_go_side_by_side_while_the_end_of_a_budget_is_far(
    folder: Path, way: str, budget_usd: float
) -> None:
    # By their caps alone each may cost some 9 dollars, with thinking on top some 75.
    meter, out = Meter(3, way), list[int]()
    with at_work(OddServer()) as server:
        async with asker(server.url, folder, concurrency=16, budget=Budget(budget_usd)) as asks:

            def answer(body: dict[str, Any], number: int) -> Odd:
                out.append(asks.sender.limits.active)
                return meter.answer(body)

            server.answer = answer
            await run(TINY, map(case, range(40)), asks, concurrency=16, record=lambda _: None)
    assert max(out[20:]) >= 8


@pytest.mark.parametrize(
    ("budget_usd", "way"),
    [
        *((30.0, way) for way in WAYS_OF_TELLING),
        *((budget, "thinking beside") for budget in (10.0, 90.0, 400.0)),
    ],
)
async def test_a_budget_is_never_passed_by_more_than_one_call_in_a_batch(
    folder: Path, budget_usd: float, way: str
) -> None:
    meter = Meter(7, way)
    with at_work(BatchServer()) as server:
        server.answer = meter.answer
        server.work = lambda requests: Results(
            [answered(request["custom_id"], meter.answer(request["body"], share=0.5)) for request in requests]
        )
        await batched(server, folder, Shelf(), cases=60, budget=Budget(budget_usd))
    assert meter.bills
    assert meter.keeps(budget_usd)


class Till:
    """A server that counts what it charges: for all that it answers, be the answer cut or never fetched."""

    # At 0.15 and 0.60 dollars per million tokens in and out.
    CALL_USD = 100_000 * 0.15e-6 + 1_000 * 0.60e-6

    def __init__(self) -> None:
        self.charged = 0
        self.holds = False
        self.held = threading.Semaphore(0)

    def answer(self, body: dict[str, Any], number: int) -> Odd:
        if number == 0:
            return error(500, "try again")
        self.charged += 1
        if self.holds and number % 3:
            self.held.release()
            return Odd(held=True)
        return replace(self._said(body, number), delay=0.03, cut=number == 2)

    def _said(self, body: dict[str, Any], number: int) -> Odd:
        fields = body["response_format"]["json_schema"]["schema"]["properties"]
        said: dict[str, Any] = {"quote": "", "rationale": "So.", "covered": "yes"}
        if "step" in fields:
            said = {"step": "It looks"}
        tree = json.loads(str(completion("{" if number == 4 else json.dumps(said)).body))
        tree["usage"] = {"prompt_tokens": 100_000, "completion_tokens": 1_000}
        return Odd(json.dumps(tree))


@pytest.fixture
def paid(tmp_path: Path) -> Any:
    project, till = small_project(tmp_path), Till()
    with at_work(OddServer()) as server:
        server.answer = till.answer
        judges.add(project, JUDGE, base_url=server.url, model="gpt-4o-mini")
        yield project, till
    project.close()


@pytest.mark.slow
def test_costs_equal_the_servers_own_count(
    paid: tuple[Project, Till], monkeypatch: pytest.MonkeyPatch
) -> None:
    project, till = paid
    monkeypatch.setitem(EXTRACTIONS, TINY_PLAN.name, TINY_PLAN)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=("Alpha",))))
    _killed_halfway(project, till)
    asyncio.run(judge_runs.run(project, RunRequest(JUDGE, systems=("Beta",))))
    drift.anchor(project, JUDGE, size=4)
    asyncio.run(drift.check(project, RunRequest(JUDGE)))
    asyncio.run(attacking.run(project, attacking.order(AttackRequest(JUDGE, attacks=("padding",), size=4))))
    asyncio.run(extracting.run(project, RunRequest(JUDGE, TINY_PLAN.name)))
    asyncio.run(derived_judges.test(project, JUDGE))
    wanted = till.charged * till.CALL_USD
    for by in forecasts.BY:
        result = [cost.cost_usd for cost in forecasts.costs(project, by) if cost.cost_usd]
        assert sum(result) == pytest.approx(wanted, abs=0.005), by
    purposes = {cost.name for cost in forecasts.costs(project, "purpose")}
    assert purposes == {"judging", "drift checks", "attacks", "drawing", "test calls"}


def _killed_halfway(project: Project, till: Till) -> None:
    till.holds = True
    words = ("judge", "run", str(project.path), "--judge", JUDGE, "--system", "Beta", "--concurrency", "4")
    child = subprocess.Popen(children.started(*words), stdout=subprocess.DEVNULL)
    for _ in range(4):
        assert till.held.acquire(timeout=60)
    child.kill()
    child.wait()
    till.holds = False


@pytest.mark.parametrize("at_once", [1, 16])
def test_what_has_arrived_is_on_disk_before_the_next_answer_is_awaited(tmp_path: Path, at_once: int) -> None:
    project, behind = small_project(tmp_path), list[int]()

    def answer(body: dict[str, Any], number: int) -> Odd:
        with sqlite3.connect(project.path, timeout=30) as file:
            (kept,) = file.execute("SELECT count(*) FROM call WHERE status = 'ok'").fetchone()
        file.close()
        # With this one no more than so many are under way; every other answer has arrived.
        behind.append(number + 1 - at_once - kept)
        said = {"quote": "", "rationale": asked_about(body)[0][1], "covered": "yes"}
        return replace(completion(json.dumps(said)), delay=0.03)

    with at_work(OddServer()) as server:
        server.answer = answer
        judges.add(project, JUDGE, base_url=server.url, model="test-model")
        asyncio.run(judge_runs.run(project, RunRequest(JUDGE, trials=4, concurrency=at_once)))
    project.close()
    assert len(behind) == 48
    assert max(behind) <= 0


def test_a_variable_that_is_named_and_not_set_is_told_before_anything_is_sent(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        judges.add(project, "j", base_url=server.url, model="m", key_env="GOLDSMITH_NOT_SET")
        with pytest.raises(Refusal, match="GOLDSMITH_NOT_SET"):
            asyncio.run(judge_runs.run(project, RunRequest("j")))
    assert server.bodies == []


KEY, VARIABLE = "sk-live-9f8e7d6c5b4a3f2e1d0c", "AWS_SECRET_ACCESS_KEY"


@pytest.fixture
def ring(monkeypatch: pytest.MonkeyPatch) -> Ring:
    result = Ring()
    monkeypatch.setattr(kept_keys._keys(), "_ring", result)
    monkeypatch.setattr(kept_keys._keys(), "_session", {})
    return result


def by_its_variable(project: Project, ring: Ring) -> str:
    """A variable that the judge's row names, and every entry that the file's own history can hold."""
    sql.alter(project, "UPDATE judge SET key_env = ? WHERE name = 'gpt-4o'", [VARIABLE])
    told = judges.named(project, "gpt-4o")
    for verb in ("add judge", "set writer", "change judge", "give key", "allow key"):
        with project.store.write() as db:
            record(project, db, Change("judge", told.id, verb, None, told.model_dump(mode="json")))
    return VARIABLE


def by_another_judge(project: Project, ring: Ring) -> str:
    """The variable of a judge that this one is said to be made from."""
    other = judges.add(project, "other", base_url=judges.named(project, "gpt-4o").base_url, model="m").subject
    sql.alter(project, "UPDATE judge SET key_env = ? WHERE id = ?", [VARIABLE, other])
    sql.alter(project, "UPDATE judge SET asking = json_object('of', ?) WHERE name = 'gpt-4o'", [other])
    return VARIABLE


def by_its_name(project: Project, ring: Ring) -> str:
    """The keyring's entry of an earlier version, under a name that many judges have."""
    ring.kept[SERVICE, "gpt-4o"] = KEY
    return "keyring:gpt-4o"


def by_its_address(project: Project, ring: Ring) -> str:
    """An entry of the keyring for the address, which nobody has confirmed on this machine."""
    address = address_of(judges.named(project, "gpt-4o").base_url)
    ring.kept[SERVICE, address] = KEY
    return f"keyring:{address}"


def by_its_header(project: Project, ring: Ring) -> str:
    asking = json.dumps({"headers": {"x-gateway": f"Bearer {{{VARIABLE}}}"}})
    sql.alter(project, "UPDATE judge SET asking = ? WHERE name = 'gpt-4o'", [asking])
    return VARIABLE


RUNS = (
    "judge test FILE gpt-4o",
    "judge run FILE --judge gpt-4o --trials 2 --protocol researcherbench.coverage",
    "judge run FILE --judge gpt-4o --trials 3 --batch --protocol researcherbench.coverage",
    "judge extract FILE --judge gpt-4o --extraction researcherbench.claims.extract",
    "respond FILE --system SYSTEM --judge gpt-4o --item 1",
    "draft ask FILE --judge gpt-4o --kind classification --item 1",
    "contest run FILE --judge gpt-4o",
    "attack FILE --judge gpt-4o --attack injection --protocol researcherbench.coverage",
    "research write FILE --judge gpt-4o --system Searcher",
    "child",
)


@pytest.mark.slow
@pytest.mark.parametrize(
    "named", [by_its_variable, by_another_judge, by_its_header, by_its_name, by_its_address]
)
def test_a_project_from_somebody_else_draws_no_key_until_it_is_allowed_on_this_machine(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    named: Callable[[Project, Ring], str],
) -> None:  # fmt: skip
    """Whatever the file says, however its judge is asked: no key goes out, and the command that allows it is told."""
    monkeypatch.setenv(VARIABLE, KEY)
    monkeypatch.setattr(project_module, "stand_back", lambda: None)
    with serving_batches() as server:
        covered = server.answer
        # The judge passes its test, so that it runs whenever it was tested.
        server.answer = lambda body, number: (
            covered(body, number) if "criterion:" in str(body) else completion(json.dumps(codes(body)))
        )
        project = small_project(tmp_path)
        settings = json.dumps({"user": f"${{{VARIABLE}}}", "metadata": {"a": f"${VARIABLE}"}})
        judges.add(project, "gpt-4o", base_url=server.url, model="test-model", parameters=settings)
        asyncio.run(judge_runs.run(project, RunRequest("gpt-4o")))
        drift.anchor(project, "gpt-4o")
        add_seminar(project, "s1", tuple(task(number) for number in range(1, 5)))
        with project.store.write():
            key = named(project, ring)
        address, host = address_of(server.url), server.url.rpartition(":")[2].removesuffix("/v1")
        for other in (f"https://127.0.0.1:{host}", f"http://localhost:{host}", "http://127.0.0.1:1"):
            kept_keys.allow(key, other)
        kept_keys.allow("OTHER_VARIABLE", address)
        order = RunRequest("gpt-4o", protocol=drift.PREFIX + "researcherbench.coverage")
        child = ChildRequest(project.path, order, project.by).line()
        project.close()

        def asked(run: str, system: str) -> str:
            server.headers.clear()
            monkeypatch.setattr(sys, "stdin", io.StringIO(child + "\n"))
            places = {"FILE": str(project.path), "SYSTEM": system}
            words = [places.get(word, word) for word in run.split()]
            if words[0] == "research":
                words += ["--corpus", str(write_corpus(tmp_path / "corpus"))]
            code = run_command(words)
            out, err = capsys.readouterr()
            return f"{code} {out} {err}"

        for run in RUNS:
            told = asked(run, "One")
            assert KEY not in str(server.headers) + str(server.bodies), run
            assert told.startswith("1 "), (run, told)
            assert f"goldsmith keys allow {key} {address}" in told, run
        assert run_command(["keys", "allow", key, server.url]) == 0
        # What is sent once it is allowed hangs on the command, not on how the key was named.
        for run in RUNS if named is by_its_variable else RUNS[:1]:
            told = asked(run, "Two")
            assert f"Bearer {KEY}" in str(server.headers), (run, told)
            assert KEY not in str(server.bodies) + told
        capsys.readouterr()
        assert run_command(["keys", "list", "--json"]) == 0
        listed = json.loads(capsys.readouterr().out)["keys"]
        assert {"key": key, "address": address, "allowed": True} in listed
        assert run_command(["keys", "withdraw", key, address]) == 0
        assert asked(RUNS[0], "Three").startswith("1 ")
        assert server.headers == []


def test_a_person_who_types_both_the_address_and_the_variable_has_confirmed_them(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, KEY)
    project = small_project(tmp_path)
    one, two = "https://one.example/v1", "https://two.example/v1"
    judges.add(project, "mine", base_url=one, model="m", key_env=VARIABLE)
    assert kept_keys.key_to_ask_with(project, judges.named(project, "mine")) == KEY
    judges.change(project, judges.named(project, "mine").id, {"base_url": two})
    expect_refusal("not allowed", kept_keys.key_to_ask_with, project, judges.named(project, "mine"))
    writer = judges.prepared(project, "S", judges.WriterSettings(base_url=two, model="m"))
    judges.prepared(project, "S", judges.WriterSettings(key_env=VARIABLE))
    expect_refusal("not allowed", kept_keys.key_to_ask_with, project, judges.named(project, "mine"))
    writer = judges.prepared(project, "S", judges.WriterSettings(base_url=two, model="m", key_env=VARIABLE))
    assert kept_keys.key_to_ask_with(project, writer) == KEY


class Seat(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(("answer", "sent"), [("y", [True]), ("n", [])])
def test_at_a_terminal_a_key_is_asked_about_once_with_its_name_and_its_address(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str],
    answer: str, sent: list[bool],
) -> None:  # fmt: skip
    monkeypatch.setenv(VARIABLE, KEY)
    with at_work(OddServer()) as server:
        project = small_project(tmp_path)
        name = "their \u202ejudge\x1b[2J"
        judges.add(project, "gpt-4o", base_url=server.url, model="m")
        with project.store.write():
            by_its_variable(project, ring)
            sql.alter(project, "UPDATE judge SET name = ?", [name])
        project.close()
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        told = []
        for _ in range(2):
            monkeypatch.setattr(sys, "stdin", Seat(f"{answer}\n"))
            run_command(["judge", "test", str(project.path), name])
            told.append(capsys.readouterr().err)
    assert VARIABLE in told[0]
    assert address_of(server.url) in told[0]
    assert [VARIABLE in one for one in told] == [True, answer == "n"]
    assert not any(mark in "".join(told) for mark in ("\x1b", "\u202e"))
    assert [KEY in str(header) for header in server.headers[:1]] == sent
    assert all(KEY in str(header) for header in server.headers)


@pytest.mark.parametrize(
    "settings",
    [
        {"parameters": json.dumps({"api_key": "local-1234"})},
        {"parameters": json.dumps({"extra_headers": {"Authorization": "Bearer abc123def456ghi789"}})},
        {"parameters": json.dumps({"user": KEY})},
        {"key_env": KEY},
        {"base_url": f"https://host.example/{KEY}/v1"},
        {"model": KEY},
    ],
)
def test_a_key_among_a_judges_settings_is_refused_on_entry(tmp_path: Path, settings: dict[str, str]) -> None:
    project = small_project(tmp_path)
    with pytest.raises(Refusal) as refused:
        judges.add(project, "j", **{"base_url": "https://host.example/v1", "model": "m"} | settings)
    assert KEY not in str(refused.value)


@pytest.mark.parametrize(
    ("key", "named"),
    [
        (KEY, {"key_env": VARIABLE}),
        ("none-of-the-usual-forms", {"key_env": VARIABLE}),
        ("none-of-the-usual-forms", {"asking": json.dumps({"headers": {"X-Team": f"{{{VARIABLE}}}"}})}),
    ],
)
def test_a_release_is_refused_that_would_hold_a_key(
    tmp_path: Path, ring: Ring, monkeypatch: pytest.MonkeyPatch, key: str, named: dict[str, str]
) -> None:
    """Also one of no known form that is at hand, and that nobody has allowed for the judge's address."""
    monkeypatch.setenv(VARIABLE, key)
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        judges.add(project, "j", base_url=server.url, model="m")
        asyncio.run(judge_runs.run(project, RunRequest("j")))
    with project.store.write():
        for column, value in {"parameters": json.dumps({"user": key}), **named}.items():
            sql.alter(project, f"UPDATE judge SET {column} = ?", [value])
    with pytest.raises(Refusal, match=r"judges\.json"):
        releases.export(project, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_addresses_of_endpoints_stay_unless_they_are_asked_for(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        host = server.url.removeprefix("http://").removesuffix("/v1")
        server.script(error(400, f"upstream http://{host}/v1 says no"))
        judges.add(project, "j", base_url=server.url, model="m")
        asyncio.run(judge_runs.run(project, RunRequest("j")))
    releases.export(project, tmp_path / "out")
    files = [path.read_text(encoding="utf-8") for path in (tmp_path / "out").rglob("*") if path.is_file()]
    assert any('"judge_id"' in text for text in files)
    assert not any(host in text for text in files)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="measured where the system tells")
async def test_a_page_is_read_within_512_megabytes() -> None:
    most = [0]

    async def watch(worker: ReadingProcess) -> None:
        while True:
            with suppress(OSError, AttributeError, ValueError):
                told = Path(f"/proc/{worker._process.pid}/status").read_text("utf-8")  # type: ignore[union-attr]
                most.append(int(told.split("VmHWM:")[1].split()[0]) * 1024)
            await asyncio.sleep(0.01)

    async with ReadingProcess() as worker:
        await worker.read(b"<p>Words.</p>", "text/html")
        watching = asyncio.ensure_future(watch(worker))
        result = await worker.read(_bomb(900), "application/pdf")
        watching.cancel()
    assert result.unreadable
    assert 0 < max(most) <= 512 * 2**20


def _bomb(megabytes: int) -> bytes:
    """A PDF of a few kilobytes whose only page unpacks to so much."""
    packer, blank, check = zlib.compressobj(1), b" " * 2**20, 1
    # Flushed behind each, all but the first are packed alike.
    first, other = (packer.compress(blank) + packer.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    for _ in range(megabytes):
        check = zlib.adler32(blank, check)
    stream = zlib.compress(first + other * (megabytes - 1) + b"\3\0" + check.to_bytes(4, "big"))
    parts = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        b"<< /Type /Pages /Kids [3 0 R] /Count 1 >>",
        b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] /Contents 4 0 R >>",
        b"<< /Filter [/FlateDecode /FlateDecode] /Length %d >>\nstream\n%s\nendstream"
        % (len(stream), stream),
    ]
    body = b"".join(b"%d 0 obj\n%s\nendobj\n" % (number, part) for number, part in enumerate(parts, 1))
    return b"%PDF-1.4\n" + body + b"trailer\n<< /Root 1 0 R /Size 5 >>\n%%EOF"
