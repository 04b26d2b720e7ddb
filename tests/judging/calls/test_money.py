"""What calls cost, and that a budget is kept."""

import asyncio
import json
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import genai_prices
import pytest

from annotator.domain.judges.judge import Judge, Price
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls.budget import Budget, BudgetSpent
from annotator.judging.calls.outcome import Usage
from annotator.judging.calls.prices import FILE, DatedPrice, Prices, PriceTable, prices, tokens_in

TABLE = PriceTable(
    as_of="2026-01-01", models={"m": Price(input=2, output=10, cached=0.5), "n": Price(input=1, output=1)}
)


def test_cached_tokens_cost_their_own_price() -> None:
    # 600k at 2, 400k cached at 0.5, 100k out at 10 dollars per million: 1.2 + 0.2 + 1.0
    assert Prices(TABLE).cost("m", 1_000_000, 100_000, 400_000) == pytest.approx(2.4)
    assert Prices(TABLE).cost("n", 1_000_000, 0, 400_000) == pytest.approx(1.0)


def test_an_unknown_price_or_count_is_unknown_never_zero() -> None:
    assert Prices(TABLE).cost("other", 1, 1) is None
    assert Prices(TABLE).cost("m", None, 1) is None
    assert Prices(TABLE).cost("m", 1, None) is None


def test_a_bill_goes_by_the_first_name_that_has_a_price() -> None:
    # 1M in at 2, 10k out at 10: 2.0 + 0.1
    usage = Usage(input=1_000_000, output=10_000)
    assert Prices(TABLE).bill(usage, "alias", "m") == pytest.approx(2.1)
    assert Prices(TABLE).bill(usage, "alias", "other") is None
    assert Prices(TABLE).bill(Usage(input=1_000_000), "m") is None


@pytest.mark.parametrize(
    "name", ["m", "provider/m", "m-2026-03-01", "provider/m-20260301", "m-0613", "m-latest"]
)
def test_a_model_is_known_by_its_name_without_provider_or_snapshot(name: str) -> None:
    assert Prices(TABLE).of(name) is not None


@pytest.mark.parametrize("name", ["m-mini", "mm", "", "m-2026"[:-1]])
def test_another_models_price_is_not_borrowed(name: str) -> None:
    assert Prices(TABLE).of(name) is None


def judge(model: str, base_url: str = "https://api.openai.com/v1", **asking: Any) -> Judge:
    return Judge(id="j", name="j", model=model, base_url=base_url, asking=json.dumps(asking))


def test_a_judges_own_price_goes_before_the_persons_file_and_that_before_the_listed_one(
    tmp_path: Path,
) -> None:
    asked = judge("gpt-4o-mini")
    listed = prices(asked, tmp_path).of("gpt-4o-mini")
    assert listed is not None
    assert (listed.price.input, listed.price.output, listed.price.cached) == (0.15, 0.6, 0.075)
    assert listed.table.startswith("genai-prices ")
    assert "2026-06-01" < listed.as_of <= f"{datetime.now(UTC):%Y-%m-%d}"
    file = '{"as_of": "2030-01-01", "models": {"gpt-4o-mini": {"input": 7, "output": 8}}}'
    (tmp_path / FILE).write_text(file, encoding="utf-8")
    of_file = prices(asked, tmp_path).of("gpt-4o-mini")
    assert of_file == DatedPrice(Price(input=7, output=8), "2030-01-01", FILE)
    own = judge("gpt-4o-mini", price={"input": 1, "output": 2})
    assert prices(own, tmp_path).of("gpt-4o-mini") == DatedPrice(Price(input=1, output=2))


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
    found = prices(judge(model, base_url), tmp_path).cost(model, tokens, 500, tokens // 4)
    assert found == pytest.approx(float(wanted))


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
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.split() == ["False", "True"]


@pytest.mark.parametrize(
    "text",
    ["{", "[]", '{"as_of": "soon", "models": {}}', '{"as_of": "2030-01-01", "models": {"m": {"input": -1}}}'],
)
def test_a_price_file_that_cannot_be_read_is_named(tmp_path: Path, text: str) -> None:
    (tmp_path / FILE).write_text(text, encoding="utf-8")
    with pytest.raises(Refusal, match=r"prices\.json"):
        prices(None, tmp_path)


def test_tokens_are_counted_roughly_in_any_script() -> None:
    assert tokens_in("") == 0
    assert tokens_in("abcdefgh") == 2
    assert tokens_in("漢字漢字") == 4
    assert tokens_in("ab漢字") == 3


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
    budget.heard(20, within=True)

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
