"""The client, its parameters, the probe of a server; limits, waits and resilience of calls."""

import asyncio
import gc
import json
import logging
import re
import socket
import ssl
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from annotator import places
from annotator.domain.judges.judge import Judge, Status
from annotator.domain.judges.protocol import Answer
from annotator.judging.calls import client
from annotator.judging.calls.asking import Asker, CaseAsk
from annotator.judging.calls.client import Client, Endpoint, Learned, checked_url, of_judge, rejected_part
from annotator.judging.calls.keys import guard
from annotator.judging.calls.limits import Breaker, Limits, MinuteWindow, RunHalt, backoff
from annotator.judging.calls.outcome import NOT_SENT, CallOutcome, CallTrouble, duration, retry_after
from annotator.judging.calls.probe import Probe, probe
from annotator.judging.calls.reply_parts import ReplyForm
from tests.common import expect_refusal
from tests.judging.odd_server import (
    KEY,
    YES_JSON,
    BatchServer,
    LogLines,
    Odd,
    OddServer,
    Reply,
    Shelf,
    asker,
    case,
    completion,
    error,
    prices,
)

pytestmark = pytest.mark.anyio


BODY = {"model": "m", "messages": [{"role": "user", "content": "q"}]}


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def attempted_at(talk: Talk, tls: ssl.SSLContext | None = None) -> CallOutcome:
    server = await asyncio.start_server(talk, "127.0.0.1", 0, ssl=tls)
    async with server:
        port = server.sockets[0].getsockname()[1]
        return await attempt(f"{'https' if tls else 'http'}://127.0.0.1:{port}/v1")


async def attempt(url: str, timeout_s: float = 5.0) -> CallOutcome:
    async with Client(Endpoint(url, "m", KEY, timeout_s=timeout_s)) as opened:
        return await opened.attempt(BODY)


async def test_the_body_is_sent_as_it_is_with_the_key_in_its_header(odd: OddServer) -> None:
    outcome = await attempt(odd.url)
    assert (outcome.content, odd.bodies) == (YES_JSON, [BODY])
    assert odd.headers[0]["authorization"] == f"Bearer {KEY}"
    assert outcome.latency_s > 0


async def test_a_server_that_hangs_is_timed_out(odd: OddServer) -> None:
    odd.script(Odd("{}", held=True))
    outcome = await attempt(odd.url, timeout_s=0.2)
    assert outcome.trouble is CallTrouble.TIMEOUT
    assert "0.2 seconds" in outcome.message


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_redirect_is_told_with_its_target_and_never_followed(
    odd: OddServer, provider: BatchServer, status: int
) -> None:
    odd.script(Odd("", status, {"location": f"{provider.url}/chat/completions?key={KEY}"}))
    outcome = await attempt(odd.url)
    assert (len(odd.headers), provider.headers) == (1, [])
    assert (outcome.trouble, outcome.status) == (CallTrouble.REDIRECT, Status.API_ERROR)
    assert f"{provider.url}/chat/completions" in outcome.message
    assert KEY not in repr(outcome)


async def test_a_proxy_of_the_environment_is_asked(odd: OddServer, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("HTTP_PROXY", "http_proxy"):
        monkeypatch.setenv(name, odd.url.removesuffix("/v1"))
    assert (await attempt("http://host.invalid/v1")).content == YES_JSON
    assert odd.headers[0]["host"] == "host.invalid"


async def test_an_address_nobody_listens_on_is_told_with_its_cause() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    outcome = await attempt(f"http://127.0.0.1:{port}/v1")
    assert outcome.trouble is CallTrouble.CONNECTION
    assert str(port) in outcome.message


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n"


@pytest.mark.parametrize("begun", [b"", HEAD + b'c\r\n{"choices": [\r\n'], ids=["nothing", "a first block"])
async def test_a_request_that_was_read_and_not_answered_to_the_end_has_been_sent(begun: bytes) -> None:
    async def begin(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(begun)
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    outcome = await attempted_at(begin)
    assert outcome.trouble is CallTrouble.CONNECTION
    assert outcome.code != NOT_SENT


async def test_a_certificate_nobody_vouches_for_is_told_and_nothing_is_sent(tmp_path: Path) -> None:
    pytest.importorskip("cryptography", reason="makes the certificate of the one who listens in")
    received: list[bytes] = []

    async def listen_in(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        received.append(await reader.read())

    outcome = await attempted_at(listen_in, self_signed(tmp_path))
    assert outcome.trouble is CallTrouble.CONNECTION
    assert "certificate" in outcome.message.lower()
    assert received == []


async def test_a_stale_certificate_path_is_an_outcome(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    outcome = await attempt("https://127.0.0.1:9/v1")
    assert outcome.trouble is CallTrouble.CONNECTION
    assert outcome.message


async def test_a_machine_without_certificates_says_so_and_still_asks_its_own_servers(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, odd: OddServer
) -> None:
    bare = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    monkeypatch.setattr(places, "trusted", lambda: bare)
    monkeypatch.setattr(client, "trusted", lambda: bare)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: SimpleNamespace(capath=None))

    async def silent(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.close()

    outcome = await attempted_at(silent, self_signed(tmp_path))
    words = "The connection failed: This machine has no certificates; install ca-certificates."
    assert (outcome.trouble, outcome.message) == (CallTrouble.CONNECTION, words)
    odd.script(completion("yes"))
    assert (await attempt(odd.url)).content == "yes"


async def test_a_certificate_file_that_is_gone_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "gone.pem"))
    places.trusted.cache_clear()
    try:
        assert places.no_certificates() == f"SSL_CERT_FILE names {tmp_path / 'gone.pem'}, which is not there."
    finally:
        places.trusted.cache_clear()


@pytest.mark.parametrize("encoding", [b"\xff\xfe{}", b"\xc3\x28"])
async def test_bytes_that_are_no_text_are_malformed(odd: OddServer, encoding: bytes) -> None:
    odd.script(Odd(encoding))
    assert (await attempt(odd.url)).trouble is CallTrouble.MALFORMED


async def test_a_body_that_claims_to_be_compressed_is_an_outcome(odd: OddServer) -> None:
    odd.script(Odd("not gzip", headers={"content-encoding": "gzip"}))
    assert (await attempt(odd.url)).trouble in (CallTrouble.CONNECTION, CallTrouble.MALFORMED)


async def test_a_body_without_end_is_given_up_and_not_kept(
    odd: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(client, "LONGEST_BODY", 2_000_000)
    odd.script(completion("x" * 2_100_000))
    outcome = await attempt(odd.url)
    assert (outcome.trouble, outcome.content, outcome.body) == (CallTrouble.MALFORMED, "", "")
    assert "more than 2 MB" in outcome.message


async def test_an_echoed_key_is_nowhere(odd: OddServer) -> None:
    handler, root = LogLines(), logging.getLogger()
    guard([handler], [KEY])
    root.addHandler(handler)
    level = root.level
    root.setLevel(logging.DEBUG)
    odd.script(
        error(401, f"Incorrect API key provided: {KEY}", code=KEY, param=KEY), completion(f"key {KEY}")
    )
    try:
        seen = [await attempt(odd.url), await attempt(odd.url)]
    finally:
        root.removeHandler(handler)
        root.setLevel(level)
    assert [outcome.trouble for outcome in seen] == [CallTrouble.KEY, CallTrouble.NONE]
    assert KEY not in repr(seen) + "".join(handler.lines)
    assert seen[1].content == "key [key removed]"


async def test_no_log_holds_what_was_judged(odd: OddServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    odd.script(completion("SECRET VERDICT"))
    async with Client(Endpoint(odd.url, "m", KEY)) as opened:
        await opened.attempt({"model": "m", "messages": [{"role": "user", "content": "SECRET REPORT"}]})
    assert "SECRET" not in caplog.text


async def test_cancelling_ends_a_hanging_call_and_leaves_nothing_open(odd: OddServer) -> None:
    odd.script(Odd("{}", held=True))
    task = asyncio.ensure_future(attempt(odd.url))
    while not odd.bodies:
        await asyncio.sleep(0.01)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gc.collect()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "host/v1",
        "ftp://host",
        "http://",
        "https://name:word@host/v1",
        "https://host/v1?key=word",
        "https://host/v1#word",
        "file:///v1",
    ],
)
def test_an_address_that_cannot_be_used_is_refused(url: str) -> None:
    expect_refusal("", Endpoint.of, Judge(id="j", name="j", model="m", base_url=url))


@pytest.mark.parametrize(
    "url",
    [
        "https://h/v1",
        "https://h/v1/",
        " https://h/v1/chat/completions ",
        "https://h/v1/models/",
        "https://h/v1//",
    ],
)
def test_an_address_with_the_whole_path_is_corrected(url: str) -> None:
    assert checked_url(url) == "https://h/v1"


@pytest.mark.parametrize(
    "odd_one",
    [error(404, "no route"), Odd("<html>", 200), error(200, "Unexpected endpoint or method."), Odd("", 405)],
)
async def test_an_address_without_its_version_is_told(odd: OddServer, odd_one: Odd) -> None:
    odd.script(odd_one)
    base = odd.url.removesuffix("/v1")
    assert (await attempt(base)).message.endswith(f"The address has no /v1: perhaps it is {odd.url}.")
    assert "has no /v1" not in (await attempt(odd.url)).message


def test_an_endpoint_is_made_of_a_judges_settings_and_hides_its_key() -> None:
    judge = Judge(id="j", name="j", model="m", base_url=" http://host/v1/ ", parameters='{"seed": 1}')
    endpoint = Endpoint.of(judge, KEY)
    assert (endpoint.base_url, endpoint.parameters) == ("http://host/v1", {"seed": 1})
    assert of_judge(Judge(id="j", name="j")) == {}
    assert KEY not in repr(endpoint)


def test_a_judge_without_a_model_is_refused() -> None:
    expect_refusal("model", Endpoint.of, Judge(id="j", name="j", base_url="http://host/v1"))


def self_signed(folder: Path) -> ssl.SSLContext:
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key, name = ec.generate_private_key(ec.SECP256R1()), x509.Name([])
    begin = datetime(2020, 1, 1, tzinfo=UTC)
    host = x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))])
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, begin, begin + timedelta(days=36_500), [])
    certificate = made.add_extension(host, critical=True).sign(key, hashes.SHA256())
    plain = serialization.NoEncryption()
    form = serialization.PrivateFormat.PKCS8
    path = folder / "self-signed.pem"
    path.write_bytes(
        key.private_bytes(serialization.Encoding.PEM, form, plain)
        + certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context


SENT = {"temperature": 0, "max_tokens": 50, "response_format": {"type": "json_object"}}


@pytest.mark.parametrize(
    "text",
    [
        "[1]",
        "{",
        '"x"',
        '{"seed": 99999999999999999999}',
        '{"user": "\\ud800"}',
        '{"temperature": NaN}',
        '{"stream": true}',
        '{"model": "m"}',
    ],
)
def test_parameters_the_program_cannot_send_are_refused(text: str) -> None:
    expect_refusal("", of_judge, Judge(id="j", name="j", parameters=text))


@pytest.mark.parametrize(
    ("message", "parameter", "trouble", "part"),
    [
        ("x", "temperature", CallTrouble.REJECTED, "temperature"),
        ("Unsupported value: 'temperature' does not support 0", "", CallTrouble.REJECTED, "temperature"),
        ("x", "response_format.json_schema", CallTrouble.REJECTED, "response_format"),
        ("This model does not support structured outputs", "", CallTrouble.REJECTED, "response_format"),
        ("'max_tokens' is too large", "max_tokens", CallTrouble.TOO_LONG, "max_tokens"),
        # Nothing that was sent is named.
        ("Bad request", "", CallTrouble.REJECTED, None),
        ("x", "messages", CallTrouble.REJECTED, None),
        ("unknown field top_p", "", CallTrouble.REJECTED, None),
        ("temperature sensor failed", "", CallTrouble.SERVER, None),
        ("temperature", "", CallTrouble.RATE, None),
    ],
)
def test_the_rejected_parameter_is_the_one_the_server_names(
    message: str, parameter: str, trouble: CallTrouble, part: str | None
) -> None:
    assert rejected_part(CallOutcome(trouble, message=message, parameter=parameter), SENT) == part


def test_a_token_cap_takes_the_name_the_server_asks_for_and_no_third() -> None:
    learned = Learned()
    learned.reject("max_tokens", "Use 'max_completion_tokens' instead.")
    assert learned.fit({"max_tokens": 50}) == {"max_completion_tokens": 50}
    learned.reject("max_completion_tokens", "Use max_tokens instead.")
    assert learned.fit({"max_tokens": 50}) == {}


async def probed(odd: OddServer, **parameters: Any) -> Probe:
    return await probe(Endpoint(odd.url, "test-model", KEY, parameters, timeout_s=5), prices())


def codes(body: dict[str, Any], window: int | None = None) -> dict[str, str]:
    """The code words a model would see that reads only the last `window` characters of the page."""
    page = body["messages"][1]["content"][-window if window else 0 :]
    result = {
        end: re.search(rf"code word at the {end} is ([a-z]+-[0-9a-f]+)", page) for end in ("beginning", "end")
    }
    return {
        "first_word": result["beginning"][1] if result["beginning"] else "none",
        "last_word": result["end"][1] if result["end"] else "none",
    }


async def test_a_good_endpoint_shows_all_it_can_in_one_call(odd: OddServer) -> None:
    odd.answer = lambda body, number: completion(json.dumps(codes(body)))
    shown = await probed(odd)
    assert (shown.ok, shown.form, shown.enforced) == (True, ReplyForm.SCHEMA, True)
    assert (shown.first_arrived, shown.last_arrived) == (True, True)
    assert shown.returned_model == "test-model-2026"
    assert shown.cost_usd == pytest.approx(0.104)
    assert shown.latency_s is not None
    (body,) = odd.bodies
    assert len(body["messages"][1]["content"]) > 40_000
    assert "JSON Schema" in shown.sentence


async def test_a_context_that_is_cut_in_silence_is_found_out(odd: OddServer) -> None:
    odd.answer = lambda body, number: completion(json.dumps(codes(body, window=16_000)))
    shown = await probed(odd)
    assert (shown.ok, shown.status) == (False, Status.OK)
    assert (shown.first_arrived, shown.last_arrived) == (False, True)
    assert "beginning of a long prompt did not reach it" in shown.sentence


async def test_an_endpoint_with_plain_text_only_is_usable(odd: OddServer) -> None:
    odd.answer = lambda body, number: (
        error(400, "response_format is unknown")
        if "response_format" in body
        else completion(" ".join(codes(body).values()))
    )
    shown = await probed(odd)
    assert (shown.ok, shown.form) == (True, ReplyForm.TEXT)
    assert "plain text only" in shown.sentence


async def test_parameters_an_endpoint_turns_down_are_named(odd: OddServer) -> None:
    odd.answer = lambda body, number: (
        error(400, "temperature?") if "temperature" in body else completion(json.dumps(codes(body)))
    )
    shown = await probed(odd, temperature=0)
    assert (shown.ok, shown.rejected) == (True, ("temperature",))


@pytest.mark.parametrize(
    ("trouble", "words"),
    [
        (error(401, f"Incorrect API key provided: {KEY}"), "401"),
        (error(404, "The model does not exist"), "does not exist"),
        (error(400, "context length is 2048"), "context length"),
        (Odd("<html>A web page</html>"), "not a chat completion"),
    ],
)
async def test_a_failure_is_said_in_a_sentence_without_the_key(
    odd: OddServer, trouble: Odd, words: str
) -> None:
    odd.script(trouble)
    shown = await probed(odd)
    assert not shown.ok
    assert words in shown.sentence
    assert KEY not in repr(shown)


async def test_a_quota_that_is_spent_is_not_waited_for(odd: OddServer) -> None:
    odd.script(Odd("{}", 429, {"retry-after": "3600"}))
    shown = await probed(odd)
    assert len(odd.bodies) == 1
    assert "asks to wait until" in shown.sentence


ANSWER = CallOutcome(CallTrouble.NONE)


class Clock:
    """A clock that only sleeping moves, by the longest of those who sleep at once."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        wakes = self.now + seconds
        await asyncio.sleep(0)
        self.now = max(self.now, wakes)


@pytest.fixture
def clock() -> Clock:
    return Clock()


def limits(clock: Clock, concurrency: int = 4, **rest: object) -> Limits:
    return Limits(concurrency, clock=clock, sleep=clock.sleep, chance=lambda: 0.5, **rest)  # type: ignore[arg-type]


def rate(wait: float | None = None) -> CallOutcome:
    return CallOutcome(CallTrouble.RATE, retry_after=wait)


def test_back_off_doubles_up_to_its_cap_and_is_spread_by_a_fifth() -> None:
    assert [backoff(n, 0.5) for n in (1, 2, 3, 10)] == [0.5, 1.0, 2.0, 30.0]
    assert [backoff(1, chance) for chance in (0.0, 1.0)] == pytest.approx([0.4, 0.6])


async def test_no_more_run_at_once_than_asked(clock: Clock) -> None:
    gate, most = limits(clock, 3), 0

    async def call() -> None:
        nonlocal most
        async with gate.slot():
            most = max(most, gate.active)
            await asyncio.sleep(0)

    await asyncio.gather(*(call() for _ in range(20)))
    assert (most, gate.active) == (3, 0)


async def test_a_429_halves_once_for_all_that_were_out_and_answers_win_it_back(clock: Clock) -> None:
    gate = limits(clock, 8)
    for _ in range(5):
        gate.record_outcome(rate(), clock.now - 1)
    assert gate.allowed == 4
    for allowed in (2, 1, 1):
        gate.record_outcome(rate(), clock.now)
        assert gate.allowed == allowed
        clock.now += 1
    gate.settled(1, Status.OK, 200, "", [""])
    for _ in range(200):
        gate.record_outcome(ANSWER, clock.now)
    assert gate.allowed == 8


@pytest.mark.parametrize("trouble", [CallTrouble.RATE, CallTrouble.SERVER])
async def test_retry_after_holds_back_every_call_for_that_long(trouble: CallTrouble, clock: Clock) -> None:
    gate = limits(clock)
    gate.record_outcome(CallOutcome(trouble, retry_after=7.5), clock.now)
    assert gate.waiting_until() is not None
    async with gate.slot() as granted:
        assert granted == pytest.approx(1007.5)
    assert gate.waiting_until() is None


async def test_a_quota_of_a_day_halts_with_the_moment_it_ends(clock: Clock) -> None:
    gate = limits(clock)
    with pytest.raises(RunHalt) as caught:
        gate.record_outcome(rate(86_400), clock.now)
    assert caught.value.until is not None
    with pytest.raises(RunHalt):
        async with gate.slot():
            pass
    assert gate.active == 0


async def test_an_endpoint_that_says_nothing_but_429_is_given_up_after_half_an_hour(clock: Clock) -> None:
    gate = limits(clock)
    for minute in range(31):
        clock.now = 1000.0 + 60 * minute
        gate.record_outcome(rate(), clock.now)
    clock.now += 60
    with pytest.raises(RunHalt, match="31 minutes"):
        gate.record_outcome(rate(), clock.now)


async def test_one_answer_in_between_restores_the_patience(clock: Clock) -> None:
    gate = limits(clock)
    for _ in range(6):
        gate.record_outcome(rate(), clock.now)
        clock.now += 1200
        gate.record_outcome(ANSWER, clock.now)
    assert gate.waiting_until() is None


async def test_those_who_wait_are_told_of_a_halt(clock: Clock) -> None:
    gate = limits(clock)
    gate.record_outcome(rate(600), clock.now)
    waiting = asyncio.ensure_future(gate.back_off(20))
    await asyncio.sleep(0)
    with pytest.raises(RunHalt):
        gate.record_outcome(rate(86_400), clock.now)
    with pytest.raises(RunHalt):
        await waiting


async def test_a_cancelled_waiter_passes_its_turn_on() -> None:
    gate = Limits(1)
    order: list[str] = []

    async def call(name: str) -> None:
        async with gate.slot():
            order.append(name)
            await asyncio.sleep(0.01)

    tasks = [asyncio.ensure_future(call(name)) for name in "abc"]
    await asyncio.sleep(0)
    tasks[1].cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    assert order == ["a", "c"]


async def test_requests_per_minute_are_kept_in_every_minute(clock: Clock) -> None:
    gate, granted = limits(clock, requests_per_minute=3), []
    for _ in range(7):
        async with gate.slot() as moment:
            granted.append(moment - 1000)
    assert granted == pytest.approx([0, 0, 0, 60, 60, 60, 120])


async def test_tokens_per_minute_are_kept_and_one_too_large_goes_alone(clock: Clock) -> None:
    gate, granted = limits(clock, tokens_per_minute=100), []
    for tokens in (60, 30, 20, 500, 10):
        async with gate.slot(tokens) as moment:
            granted.append(moment - 1000)
    assert granted == pytest.approx([0, 0, 60, 120, 180])


def test_a_window_without_a_limit_never_waits() -> None:
    window = MinuteWindow(None)
    window.add(0, 1e9)
    assert window.delay(0, 1e9) == 0


DOWN = CallOutcome(CallTrouble.CONNECTION, message="The connection failed: refused")


def halts_at(number: int, outcome: CallOutcome, words: str | None = None) -> None:
    """A run is given up at the so many-th outcome of a kind, and not before it."""
    breaker = Breaker(threshold=3)
    for _ in range(number - 1):
        breaker.record_outcome(outcome, 0, 0)
    with pytest.raises(RunHalt, match=words):
        breaker.record_outcome(outcome, 0, 0)


def test_an_endpoint_that_never_answered_is_given_up_at_once() -> None:
    halts_at(3, DOWN, "refused")


def test_an_endpoint_that_has_answered_is_left_to_rest_longer_each_time() -> None:
    breaker = Breaker(threshold=4, rest_s=30, rests=2)
    breaker.record_outcome(ANSWER, 0, 0)
    breaker.record_outcome(DOWN, 0, 0)
    assert breaker.delay(0) == 0
    breaker.record_outcome(DOWN, 0, 0)
    assert (breaker.delay(0), breaker.delay(30), breaker.delay(30)) == (30, 0, 30)
    breaker.record_outcome(DOWN, 30, 31)
    assert breaker.delay(31) == 60
    with pytest.raises(RunHalt):
        breaker.record_outcome(DOWN, 91, 91)


def test_one_good_trial_ends_the_rest() -> None:
    breaker = Breaker(threshold=2, rest_s=30)
    breaker.record_outcome(ANSWER, 0, 0)
    breaker.record_outcome(DOWN, 0, 0)
    assert (breaker.delay(0), breaker.delay(30)) == (30, 0)
    breaker.record_outcome(ANSWER, 30, 31)
    assert (breaker.delay(31), breaker.delay(31)) == (0, 0)


def test_what_was_under_way_when_the_rest_began_does_not_lengthen_it() -> None:
    breaker = Breaker(threshold=2, rest_s=30)
    breaker.record_outcome(ANSWER, 0, 0)
    breaker.record_outcome(DOWN, 5, 10)
    breaker.record_outcome(DOWN, 5, 11)
    assert breaker.rests_until == 40


@pytest.mark.parametrize(
    "outcome",
    [CallOutcome(CallTrouble.KEY), CallOutcome(CallTrouble.REJECTED, http=404)],
    ids=["key", "model"],
)
def test_what_every_call_would_meet_ends_the_run_after_three(outcome: CallOutcome) -> None:
    halts_at(3, outcome)


def test_an_account_that_is_used_up_ends_the_run_at_once() -> None:
    halts_at(1, CallOutcome(CallTrouble.QUOTA), "used up")


def test_an_answer_between_refusals_keeps_the_run_going() -> None:
    breaker = Breaker()
    for _ in range(9):
        breaker.settled(1, Status.OK, 200, "", [""])
        breaker.record_outcome(CallOutcome(CallTrouble.KEY), 0, 0)
        breaker.record_outcome(ANSWER, 0, 0)
    assert breaker.delay(0) == 0


NOW = datetime(2026, 3, 1, 12, 0, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({}, None),
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "9"}, 0.25),
        ({"retry-after": "Sun, 01 Mar 2026 12:01:30 GMT"}, 90.0),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:00 GMT"}, 86_400.0),
        ({"retry-after": "Sun, 01 Mar 2026 11:00:00 GMT"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-3"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e300"}, 366 * 86_400.0),
        ({"retry-after": "Mon, 02 Mar 2026 12:00:00 +" + "9" * 30}, None),
    ],
)
def test_retry_after_is_read_as_seconds_or_a_date(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(headers, NOW) == seconds


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("6m0s", 360.0), ("20ms", 0.02), ("1s", 1.0), ("2m59.56s", 179.56), ("1h30m", 5400.0),
        ("1.5 seconds", 1.5), ("7 minutes", 420.0), ("1d", 86_400.0), ("12", None), ("", None), ("soon", None),
        ("3 samples", None), ("9" * 400 + " days", 366 * 86_400.0),
    ],
)  # fmt: skip
def test_a_span_of_time_is_read_with_its_unit_only(text: str, seconds: float | None) -> None:
    assert duration(text) == (None if seconds is None else pytest.approx(seconds))


async def verdicts(llmock: LLMock, folder: Path, cases: int = 1, **rest: object) -> list[Status]:
    async with asker(llmock.base_url(), folder, **rest) as factory:  # type: ignore[arg-type]
        fields = [{"criterion": f"Criterion {n}", "report": "Text."} for n in range(cases)]
        answers = await asyncio.gather(*(factory(case())("tiny", each, Reply) for each in fields))
    return [answer.status for answer in answers]


async def test_retry_after_holds_back_the_calls_beside_it(llmock: LLMock, folder: Path) -> None:
    llmock.rate_limit(times=3, retry_after=0.3)
    assert await verdicts(llmock, folder, 12, concurrency=4) == [Status.OK] * 12
    llmock.assert_resilient(strict=True)


async def test_real_quotas_are_lived_with(llmock: LLMock, folder: Path) -> None:
    llmock.limits(rpm=600)
    gate = Limits(8, backoff_s=0.06, requests_per_minute=10_000)
    assert await verdicts(llmock, folder, 30, limits=gate) == [Status.OK] * 30
    llmock.assert_resilient()


@pytest.mark.parametrize("status", [500, 502, 503])
async def test_server_errors_are_retried_with_growing_waits(
    llmock: LLMock, folder: Path, status: int
) -> None:
    # The first answer proves the schema, so that the errors after it cannot be the schema's fault.
    async with asker(llmock.base_url(), folder) as factory:
        await factory(case())("tiny", {"criterion": "first", "report": "Text."}, Reply)
        llmock.fail(status, times=3, retry_after=0.05 if status == 503 else None)
        answer = await factory(case())("tiny", {"criterion": "second", "report": "Text."}, Reply)
    assert answer.status is Status.OK
    llmock.assert_resilient(strict=True)


FIELDS = {"criterion": "Explains it", "report": "It is explained."}


async def put(factory: Asker) -> tuple[Answer, CaseAsk]:
    ask = CaseAsk(factory, 1)
    return await ask("tiny", FIELDS, Reply, fenced=("report",)), ask


# In these tests the journal has nothing yet: calls are still on their way to the file.


async def test_the_same_question_at_the_same_time_is_asked_once(odd: OddServer, folder: Path) -> None:
    odd.answer = lambda body, number: Odd(completion(YES_JSON).body, delay=0.1)
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        result = await asyncio.gather(*(put(factory) for _ in range(5)))
    assert (len(odd.bodies), {answer.status for answer, _ in result}) == (1, {Status.OK})
    assert len({ask.call_id for _, ask in result}) == 1
    assert sorted(len(ask.calls) for _, ask in result) == [0, 0, 0, 0, 1]
    assert sorted(len(ask.reused) for _, ask in result) == [0, 1, 1, 1, 1]


async def test_an_answer_is_at_hand_before_the_journal_has_it(odd: OddServer, folder: Path) -> None:
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        await put(factory)
        answer, ask = await put(factory)
    assert (len(odd.bodies), answer.status, len(ask.reused)) == (1, Status.OK, 1)


async def test_what_failed_for_one_is_asked_by_the_next(odd: OddServer, folder: Path) -> None:
    odd.script(completion(None, refusal="No."), completion(YES_JSON))
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        result = await asyncio.gather(*(put(factory) for _ in range(3)))
    assert len(odd.bodies) == 2
    assert sorted(answer.status for answer, _ in result) == [Status.OK, Status.OK, Status.REFUSED]


async def test_whoever_waits_goes_on_when_the_one_who_asks_is_cancelled(odd: OddServer, folder: Path) -> None:
    odd.script(Odd("{}", held=True), completion(YES_JSON))
    async with asker(odd.url, folder, journal=Shelf()) as factory:
        first = asyncio.ensure_future(put(factory))
        while not odd.bodies:
            await asyncio.sleep(0.01)
        second = asyncio.ensure_future(put(factory))
        await asyncio.sleep(0.01)
        first.cancel()
        answer, _ = await second
    assert (answer.status, len(odd.bodies)) == (Status.OK, 2)
