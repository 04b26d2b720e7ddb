"""The client, its parameters, and the probe of a server."""

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

from annotator import places
from annotator.domain.judges.judge import Judge, Status
from annotator.judging.calls import client
from annotator.judging.calls.client import Client, Endpoint, Learned, checked_url, of_judge, rejected_part
from annotator.judging.calls.keys import guard
from annotator.judging.calls.outcome import NOT_SENT, CallOutcome, CallTrouble
from annotator.judging.calls.probe import Probe, probe
from annotator.judging.calls.reply_parts import ReplyForm
from tests.judging.batch_server import BatchServer
from tests.judging.odd_server import KEY, YES_JSON, LogLines, Odd, OddServer, completion, error, prices
from tests.projects.refusals import expect_refusal

pytestmark = pytest.mark.anyio


BODY = {"model": "m", "messages": [{"role": "user", "content": "q"}]}


Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


async def attempted_at(talk: Talk, tls: ssl.SSLContext | None = None) -> CallOutcome:
    """What comes of a call to a server that talks as it likes."""
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
    target = f"{provider.url}/chat/completions?key={KEY}"
    odd.script(Odd("", status, {"location": target}))
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
    """The TLS settings of a server with a certificate it has made for itself."""
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
    assert None not in (shown.price, shown.latency_s)
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
