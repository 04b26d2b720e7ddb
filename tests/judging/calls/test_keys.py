"""Where keys are found, and that they are seen nowhere; what calls cost."""

import asyncio
import json
import logging
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

import genai_prices
import keyring
import keyring.backends.fail
import keyring.errors
import pytest

from annotator.actions.judges import kept_keys
from annotator.domain.judges.judge import Judge, Price, RunState
from annotator.domain.texts.redaction import redact, without_keys
from annotator.judging.batches.batch_results import BatchFileWriter, BatchLimits
from annotator.judging.batches.batching import BatchProgress
from annotator.judging.calls.asking import KeyedQuestion
from annotator.judging.calls.client import Client, Endpoint, Sender
from annotator.judging.calls.keys import (
    GRANTS,
    KeyPlace,
    Keys,
    LocatedKey,
    address_of,
    all_grants,
    decide,
    guard,
    handing_over,
)
from annotator.judging.calls.limits import Limits
from annotator.judging.calls.outcome import Usage
from annotator.judging.calls.prices import (
    FILE,
    Budget,
    BudgetSpent,
    DatedPrice,
    Prices,
    PriceTable,
    prices,
    tokens_in,
)
from annotator.judging.messages import Prompt
from annotator.places import user_config
from tests.common import expect_refusal, posix
from tests.judging.odd_server import (
    YES_JSON,
    BatchServer,
    LogLines,
    Odd,
    Reply,
    Results,
    Shelf,
    answered,
    batched,
    completion,
    prices as price_list,
    stopped,
)

KEY = "sk-abcdef-123456"


class Ring:
    def __init__(self) -> None:
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, name: str) -> str | None:
        return self.kept.get((service, name))

    def set_password(self, service: str, name: str, key: str) -> None:
        self.kept[service, name] = key

    def delete_password(self, service: str, name: str) -> None:
        del self.kept[service, name]


class NoRing:
    """What the keyring package does on a machine without one."""

    def __init__(self, error: type[Exception] = keyring.errors.NoKeyringError) -> None:
        self.error = error

    def get_password(self, service: str, name: str) -> str | None:
        raise self.error("no ring")

    def set_password(self, service: str, name: str, key: str) -> None:
        raise self.error("no ring")


class NullRing(Ring):
    """A ring that takes every key and keeps none."""

    def set_password(self, service: str, name: str, key: str) -> None:
        pass


def test_the_keyring_comes_before_the_environment() -> None:
    keys = Keys({"MY_KEY": "from-environment"}, Ring())
    decide("MY_KEY", "judge", True)
    keys.keep("judge", KEY)
    assert keys.look("judge", "MY_KEY")[0] == LocatedKey(KEY, KeyPlace.KEYRING)
    keys.forget("judge")
    assert keys.look("judge", "MY_KEY")[0] == LocatedKey("from-environment", KeyPlace.ENVIRONMENT)


@pytest.mark.parametrize(
    "ring",
    [NoRing(), NoRing(keyring.errors.KeyringLocked), NoRing(RuntimeError), NoRing(OSError), NullRing()],
    ids=["none", "locked", "runtime", "bus", "null"],
)
def test_without_a_keyring_a_key_lives_in_this_session_only(ring: object) -> None:
    keys = Keys({}, ring)
    assert keys.keep("judge", f"  {KEY}\n") is KeyPlace.SESSION
    assert keys.look("judge")[0] == LocatedKey(KEY, KeyPlace.SESSION)
    assert Keys({}, ring).look("judge")[0] is None


def test_the_real_keyring_package_without_a_ring_is_lived_with() -> None:
    before = keyring.get_keyring()
    keyring.set_keyring(keyring.backends.fail.Keyring())
    try:
        keys = Keys({})
        assert (keys.look("judge")[0], keys.keep("judge", KEY)) == (None, KeyPlace.SESSION)
        keys.forget("judge")
        assert keys.look("judge")[0] is None
    finally:
        keyring.set_keyring(before)


def test_a_key_that_windows_ring_does_not_take_is_kept_for_this_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pywintypes = ModuleType("win32ctypes.pywin32.pywintypes")
    pywintypes.error = type("error", (Exception,), {})  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, pywintypes.__name__, pywintypes)
    keys = Keys({"MY_KEY": "from-environment"}, NoRing(pywintypes.error))
    decide("MY_KEY", "judge", True)
    assert keys.look("judge", "MY_KEY")[0] == LocatedKey("from-environment", KeyPlace.ENVIRONMENT)
    assert keys.keep("judge", "k" * 1300) is KeyPlace.SESSION
    assert keys.look("judge")[0] == LocatedKey("k" * 1300, KeyPlace.SESSION)


def test_a_keyring_that_will_not_let_go_says_so() -> None:
    class Stubborn(Ring):
        def delete_password(self, service: str, name: str) -> None:
            raise keyring.errors.PasswordDeleteError

    keys = Keys({}, Stubborn())
    keys.keep("judge", KEY)
    expect_refusal("keyring", keys.forget, "judge")


def test_only_the_variable_a_judge_names_is_read_and_only_for_the_address_it_is_allowed_for() -> None:
    keys = Keys({"OPENAI_API_KEY": KEY}, NoRing())
    decide("OPENAI_API_KEY", "judge", True)
    assert keys.look("judge")[0] is None
    assert keys.look("judge", "OPENAI_API_KEY")[0] is not None
    assert keys.look("other", "OPENAI_API_KEY")[0] is None
    assert keys.look("other", "OPENAI_API_KEY", "") == (None, "OPENAI_API_KEY")


@pytest.mark.parametrize("content", ["", "[]", "{}", '{"keys": 1}', '{"keys": [{"key": 1}]}', "\xff"])
def test_what_cannot_be_read_of_the_allowed_keys_allows_nothing_and_is_refused_in_words(content: str) -> None:
    keys = Keys({"MY_KEY": KEY}, NoRing())
    decide("MY_KEY", "judge", True)
    (user_config() / GRANTS).write_text(content, "latin-1")
    expect_refusal(r"keys\.json cannot be read.*No key was sent", keys.look, "judge", "MY_KEY")


def test_the_allowed_keys_are_read_although_another_process_puts_them_in_place(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys, held = Keys({"MY_KEY": KEY}, NoRing()), [True, True]
    decide("MY_KEY", "judge", True)
    read_text = Path.read_text

    def read(place: Path, *how: str) -> str:
        if place.name == GRANTS and held:
            held.pop()
            raise PermissionError(13, "The process cannot access the file")
        return read_text(place, *how)

    monkeypatch.setattr(Path, "read_text", read)
    assert keys.look("judge", "MY_KEY")[0] is not None


@posix
def test_what_is_allowed_is_for_its_owner_alone_and_no_word_is_lost_when_two_allow_at_once() -> None:
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda number: decide(f"KEY_{number}", "judge", True), range(20)))
    assert {one.key for one in all_grants()} == {f"KEY_{number}" for number in range(20)}
    assert (user_config() / GRANTS).stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("base_url", "is_its"),
    [
        ("https://host.example:443", True),
        ("https://Host.example/other/", True),
        ("http://host.example/v1", False),
        ("https://host.example:8443/v1", False),
        ("https://other.example/v1", False),
    ],
)
def test_a_key_that_was_handed_over_goes_to_scheme_host_and_port_and_to_no_other_address(
    base_url: str, is_its: bool
) -> None:
    keys = Keys(handing_over("https://host.example/v1", KEY), NoRing())
    handed = LocatedKey(KEY, KeyPlace.ENVIRONMENT) if is_its else None
    assert keys.look(address_of(base_url), "UNSET")[0] == handed


@pytest.mark.parametrize(
    "base_url", ["https://host.example/v1", "http://[::1]:8000/v1", "http://[fd00::1]/v1"]
)
def test_an_address_is_allowed_as_it_is_shown(base_url: str) -> None:
    shown = address_of(base_url)
    assert shown == address_of(shown)
    kept_keys.allow("MY_KEY", shown)
    assert Keys({"MY_KEY": KEY}, NoRing()).look(shown, "MY_KEY")[0] == LocatedKey(KEY, KeyPlace.ENVIRONMENT)


@pytest.mark.parametrize(
    "host", ["\u0430pi.example", "a\u03c1i.example", "ap\u0131.example", "api\u200d.example"]
)
def test_no_letter_of_an_address_passes_for_another(host: str) -> None:
    assert address_of("https://fa\u00df.example/v1") != address_of("https://fass.example/v1")
    assert address_of(f"https://{host}/v1") != address_of("https://api.example/v1")
    assert address_of(f"https://{host}/v1").isascii()


@pytest.mark.parametrize("key", ["", "  ", "two words", "schlüssel", "line\nbreak"])
def test_what_cannot_be_a_key_is_refused(key: str) -> None:
    expect_refusal("", Keys({}, NoRing()).keep, "judge", key)


def test_a_found_key_does_not_print_itself() -> None:
    assert KEY not in repr(LocatedKey(KEY, KeyPlace.SESSION))


@pytest.mark.parametrize(
    "text",
    [
        f"Incorrect API key provided: {KEY}.",
        f"Authorization: Bearer {KEY}",
        f"{{'authorization': 'Bearer {KEY}'}}",
        f"X-API-Key: {KEY}",
        f"https://host/v1?api_key={KEY}&x=1",
        f"bearer {KEY}",
        "Cannot connect to proxy http://someone:abcdef@proxy:8080",
        f"the key {KEY[:-2]}**",
    ],
)
def test_a_key_is_redacted_even_when_it_is_not_known(text: str) -> None:
    assert "abcdef" not in redact(text)


def test_a_known_key_of_any_shape_is_redacted() -> None:
    assert redact("refused hunter2hunter2!", ("hunter2hunter2",)) == "refused [key removed]!"


def test_a_reply_loses_the_key_and_nothing_else() -> None:
    text = f"The paper writes Authorization: Bearer tokens, sk-learn and {KEY}"
    assert without_keys(text, (KEY,)) == text.replace(KEY, "[key removed]")


def test_log_lines_arguments_and_tracebacks_are_redacted() -> None:
    handler = LogLines()
    guard([handler], ["hunter2hunter2"])
    logger = logging.getLogger("test.keys.child")
    logger.addHandler(handler)
    try:
        raise ValueError("401 for hunter2hunter2")
    except ValueError:
        logger.exception("header %s", {"Authorization": f"Bearer {KEY}"})
    logger.removeHandler(handler)
    (line,) = handler.lines
    assert "ValueError: 401 for [key removed]" in line
    assert not re.search(f"hunter2|{KEY}", line)


def test_where_no_grant_can_be_kept_it_is_said_in_words(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "config").write_text("a file where the folder should be", "utf-8")
    monkeypatch.setattr("annotator.judging.calls.keys.user_config", lambda: tmp_path / "config")
    expect_refusal("no key was sent", kept_keys.allow, "MY_KEY", "https://host.example/v1")


pytestmark = pytest.mark.anyio


TABLE = PriceTable(
    as_of="2026-01-01", models={"m": Price(input=2, output=10, cached=0.5), "n": Price(input=1, output=1)}
)


@pytest.mark.parametrize(
    ("call", "cost"),
    [
        # 600k at 2, 400k cached at 0.5, 100k out at 10 dollars per million: 1.2 + 0.2 + 1.0
        (("m", 1_000_000, 100_000, 400_000), 2.4),
        (("n", 1_000_000, 0, 400_000), 1.0),
        # What is unknown is never zero.
        (("other", 1, 1), None),
        (("m", None, 1), None),
        (("m", 1, None), None),
    ],
)
def test_cached_tokens_cost_their_own_price_and_an_unknown_price_or_count_is_unknown(
    call: tuple[Any, ...], cost: float | None
) -> None:
    assert Prices(TABLE).cost(*call) == pytest.approx(cost)


def test_a_bill_goes_by_the_first_name_that_has_a_price() -> None:
    # 1M in at 2, 10k out at 10: 2.0 + 0.1
    usage = Usage(input=1_000_000, output=10_000)
    assert Prices(TABLE).bill(usage, "alias", "m") == pytest.approx(2.1)
    assert Prices(TABLE).bill(usage, "alias", "other") is None
    assert Prices(TABLE).bill(Usage(input=1_000_000), "m") is None


@pytest.mark.parametrize(
    ("names", "known"),
    [
        (["m", "provider/m", "m-2026-03-01", "provider/m-20260301", "m-0613", "m-latest"], True),
        # Another model's price is not borrowed.
        (["m-mini", "mm", "", "m-202"], False),
    ],
)
def test_a_model_is_known_by_its_name_without_provider_or_snapshot(names: list[str], known: bool) -> None:
    assert [Prices(TABLE).of(name) is not None for name in names] == [known] * len(names)


def judge(model: str, base_url: str = "https://api.openai.com/v1", **asking: Any) -> Judge:
    return Judge(id="j", name="j", model=model, base_url=base_url, asking=json.dumps(asking))


def test_a_judges_own_price_goes_before_the_persons_file_and_that_before_the_listed_one(
    tmp_path: Path,
) -> None:
    asked = judge("gpt-4o-mini")
    listed = prices(asked, tmp_path).of("gpt-4o-mini")
    assert listed is not None
    assert listed.price == Price(input=0.15, output=0.6, cached=0.075)
    assert listed.table.startswith("genai-prices ")
    assert "2026-06-01" < listed.as_of <= f"{datetime.now(UTC):%Y-%m-%d}"
    file = '{"as_of": "2030-01-01", "models": {"gpt-4o-mini": {"input": 7, "output": 8}}}'
    (tmp_path / FILE).write_text(file, encoding="utf-8")
    assert prices(asked, tmp_path).of("gpt-4o-mini") == DatedPrice(
        Price(input=7, output=8), "2030-01-01", FILE
    )
    assert prices(judge("gpt-4o-mini", price={"input": 1, "output": 2}), tmp_path).of(
        "gpt-4o-mini"
    ) == DatedPrice(Price(input=1, output=2))


GOOGLE = "https://generativelanguage.googleapis.com/v1beta/openai"


@pytest.mark.parametrize(
    ("model", "base_url", "known"),
    [
        ("gpt-4o-mini-2024-07-18", "https://api.openai.com/v1", True),
        ("mistral-large-latest", "https://api.mistral.ai/v1", True),
        ("deepseek-chat", "https://api.deepseek.com", True),
        ("gemini-2.5-pro", GOOGLE, True),
        ("openai/gpt-4o-mini", "https://openrouter.ai/api/v1", True),
        ("openai/gpt-4o-mini", "https://gateway.example/v1", True),
        ("gpt-4o-mini", "http://127.0.0.1:4000/v1", True),
        # What a model of a like name costs elsewhere is not what this one costs here.
        ("deepseek-r1:7b", "http://127.0.0.1:11434/v1", False),
        ("gpt-4o-mini-of-ours", "http://127.0.0.1:11434/v1", False),
        ("claude-sonnet-4-5", "https://api.openai.com/v1", False),
        # Each of its calls costs something beside its tokens.
        ("sonar", "https://api.perplexity.ai", False),
        ("nobody-knows-it", "https://gateway.example/v1", False),
    ],
)
def test_a_listed_price_is_that_of_the_endpoint_or_of_the_very_name(
    tmp_path: Path, model: str, base_url: str, known: bool
) -> None:
    assert (prices(judge(model, base_url), tmp_path).of(model) is not None) is known


@pytest.mark.parametrize("tokens", [1_000, 200_000, 200_001, 900_000])
@pytest.mark.parametrize(
    ("model", "base_url"), [("gemini-2.5-pro", GOOGLE), ("claude-sonnet-4-5", "https://api.anthropic.com/v1")]
)
def test_long_calls_cost_what_the_table_itself_reckons(
    tmp_path: Path, model: str, base_url: str, tokens: int
) -> None:
    usage = genai_prices.Usage(input_tokens=tokens, cache_read_tokens=tokens // 4, output_tokens=500)
    wanted = genai_prices.calc_price(usage, model, provider_api_url=base_url).total_price
    assert prices(judge(model, base_url), tmp_path).cost(model, tokens, 500, tokens // 4) == pytest.approx(
        float(wanted)
    )


def test_looking_a_price_up_asks_no_network(tmp_path: Path) -> None:
    code = f"""
import sys
def watch(event, _):
    assert event not in ("socket.connect", "socket.getaddrinfo"), "a network was asked"
sys.addaudithook(watch)
from pathlib import Path
from annotator.domain.judges.judge import Judge
from annotator.judging.calls.prices import prices
before = "genai_prices" in sys.modules
asked = Judge(id="j", name="j", model="gpt-4o", base_url="https://api.openai.com/v1")
print(before, prices(asked, Path({str(tmp_path)!r})).of("gpt-4o") is not None)
"""
    assert subprocess.run(
        [sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True
    ).stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"as_of": "soon", "models": {}}', '{"as_of": "2030-01-01", "models": {"m": {"input": -1}}}'],
)
def test_a_price_file_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    expect_refusal(r"prices\.json", prices, None, tmp_path)


@pytest.mark.parametrize(("text", "tokens"), [("", 0), ("abcdefgh", 2), ("漢字漢字", 4), ("ab漢字", 3)])
def test_tokens_are_counted_roughly_in_any_script(text: str, tokens: int) -> None:
    assert tokens_in(text) == tokens


@pytest.mark.anyio
async def test_a_call_that_is_likely_to_exceed_the_budget_is_not_made() -> None:
    budget = Budget(1.0)
    async with budget.reserve(0.6, lambda: 9.0) as bill:
        bill.cost_usd = 0.5
    assert budget.spent_usd == 0.5
    with pytest.raises(BudgetSpent):
        async with budget.reserve(0.6, lambda: 0.6):
            pass
    async with budget.reserve(0.5, lambda: 9.0):
        pass


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("likely", "most", "side_by_side"), [(0.1, 0.4, True), (0.6, 0.6, False), (0.1, 1.1, False)]
)
async def test_calls_in_flight_count_until_their_bill_is_known(
    likely: float, most: float, side_by_side: bool
) -> None:
    budget, order = Budget(1.0), []
    budget.record_usage(20, within=True)

    async def call(name: str, cost: float) -> None:
        async with budget.reserve(likely, lambda: most) as bill:
            order.append(f"{name} out")
            await asyncio.sleep(0.01)
            order.append(f"{name} back")
            bill.cost_usd = cost

    await asyncio.gather(call("a", 0.1), call("b", 0.1))
    assert (order[:2] == ["a out", "b out"]) is side_by_side
    assert budget.spent_usd == pytest.approx(0.2)


@pytest.mark.anyio
async def test_an_unknown_bill_is_charged_at_the_most_it_could_be() -> None:
    budget = Budget(1.0)
    async with budget.reserve(0.1, lambda: 0.4):
        pass
    assert budget.spent_usd == 0.4


async def test_an_answer_costs_half_the_price_and_is_recorded_with_its_batch(
    provider: BatchServer, folder: Path
) -> None:
    shelf = Shelf()
    result, _, _ = await batched(provider, folder, shelf, cases=3)
    # 60 tokens at 1 000, 40 cached at 100, 20 out at 2 000 dollars per million are 0.104; half of it is 0.052.
    assert result.spent_usd == pytest.approx(2 * 0.052)
    live, *others = sorted(shelf.calls.values(), key=lambda call: -(call.cost_usd or 0))
    assert [call.cost_usd for call in (live, *others)] == pytest.approx([0.104, 0.052, 0.052])
    assert json.loads(others[0].parameters) == {"response_format": "json_schema", "batch": "batch_1"}
    assert (others[0].run_id, others[0].judge_id, others[0].latency_s) == ("run-1", "judge-1", None)
    assert (others[0].returned_model, others[0].tokens_reasoning) == ("test-model-2026", 5)


async def test_what_is_out_counts_against_the_budget(provider: BatchServer, folder: Path) -> None:
    # The first question, live, is set aside at some 9 dollars (a cap of 4 096 tokens out at 0.002, and no more tokens
    # in than its some 810 bytes) and costs 0.104; in a batch each is set aside at some 4.5 and costs 0.052. Three
    # fit into the first batch within 15 dollars, and three more into each after it.
    shelf, seen = Shelf(), []
    budget = Budget(15.0)

    def tell(progress: BatchProgress) -> None:
        seen.append((progress.questions, budget.room_usd))

    _, ended, _ = await batched(provider, folder, shelf, cases=9, budget=budget, tell=tell)
    assert [len(made.requests) for made in provider.made.values()] == [3, 3, 2]
    assert all(room < 4.5 for questions, room in seen if questions == 3)
    assert ended.progress.by_status == {"ok": 9}
    assert budget.spent_usd == pytest.approx(0.104 + 8 * 0.052)


async def test_a_batch_still_out_after_a_restart_counts_against_the_new_budget(
    provider: BatchServer, folder: Path
) -> None:
    shelf, budget, rooms = Shelf(), Budget(30.0), list[float]()
    await stopped(provider, folder, shelf, cases=4, budget=Budget(30.0))
    await batched(
        provider, folder, shelf, cases=4, budget=budget, tell=lambda told: rooms.append(budget.room_usd)
    )
    assert rooms[0] == pytest.approx(30.0 - 3 * 4.5, abs=0.1)
    assert budget.spent_usd == pytest.approx(3 * 0.052)


async def test_a_budget_that_holds_no_more_batch_is_used_up_by_single_calls_and_leaves_the_rest_unjudged(
    provider: BatchServer, folder: Path
) -> None:
    budget = Budget(0.95)
    result, ended, _ = await batched(
        provider, folder, Shelf(), cases=14, budget=budget, parameters={"max_tokens": 50}
    )
    # Nothing is left that another call could be had for: it costs 0.104.
    assert 0.95 - 0.2 < budget.spent_usd <= 0.95
    assert (result.halt, ended.state, "budget" in ended.cause) == (None, RunState.INTERRUPTED, True)
    assert 1 < ended.progress.done < 14


async def test_an_answer_without_counts_of_tokens_is_charged_at_the_most(
    provider: BatchServer, folder: Path
) -> None:
    tree = json.loads(str(completion(YES_JSON).body))
    del tree["usage"]
    provider.work = lambda requests: Results(
        [answered(request["custom_id"], Odd(json.dumps(tree))) for request in requests]
    )
    shelf, budget = Shelf(), Budget(15.0)
    await batched(provider, folder, shelf, cases=2, budget=budget)
    assert [call.cost_usd for call in shelf.calls.values()] == pytest.approx([0.104, 4.5], abs=0.02)
    assert budget.spent_usd == pytest.approx(0.104 + 4.5, abs=0.02)


class Long(Reply):
    """A kind of reply that says how long it may be."""

    TOKENS: ClassVar[int] = 5_000


async def test_a_long_kind_of_reply_is_set_aside_at_its_length(folder: Path) -> None:
    sender = Sender(Client(Endpoint("http://localhost/v1", "test-model")), Limits(1), price_list())
    messages = [{"role": "system", "content": ""}, {"role": "user", "content": ""}]
    question = KeyedQuestion(Prompt("p", "", "", "0" * 64), messages, Long, "k" * 64)
    request = BatchFileWriter(folder / "requests.jsonl", BatchLimits(), sender).request(question, trial=1)
    # 5 000 tokens out at 2 000 dollars per million are 10, and its bytes at 1 000 at most; half of it in a batch.
    assert request.most_usd == pytest.approx(5.0 + len(request.line) / 2_000, abs=0.1)
