"""Addresses: what is cited becomes what is opened, and nothing inside a network is opened by mistake."""

import socket

import pytest

from annotator.domain.material.page import PageState
from annotator.exchange.pages import addresses
from annotator.exchange.pages.addresses import (
    NEVER,
    PRIVATE,
    AddressRules,
    barred,
    checked,
    normal,
    pinned,
    target,
)
from annotator.exchange.pages.states import UnreadablePage
from tests.exchange.pages.page_server import Names

OPEN, CLOSED = AddressRules(allow_private=True), AddressRules()
pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    ("cited", "opened"),
    [
        ("https://example.org/a/?q=1#part", "https://example.org/a/?q=1"),
        ("doi:10.1000/XYZ", "https://doi.org/10.1000/xyz"),
        ("https://www.publisher.org/doi/full/10.1000/xyz", "https://doi.org/10.1000/xyz"),
        ("https://arxiv.org/abs/2401.01234v2", "https://arxiv.org/pdf/2401.01234"),
        ("<https://example.org/x>", "https://example.org/x"),
        (" http://localhost:8080/x#y ", "http://localhost:8080/x"),
    ],
)
def test_what_is_cited_becomes_what_is_opened(cited: str, opened: str) -> None:
    assert target(cited) == opened


def test_a_book_has_no_page() -> None:
    with pytest.raises(UnreadablePage) as why:
        target("ISBN 978-0-306-40615-7")
    assert why.value.state is PageState.NOT_TEXT


def test_the_normal_address_is_the_identifiers_or_the_text_itself() -> None:
    assert normal("https://arxiv.org/pdf/2401.01234v3") == normal("arXiv:2401.01234") == "arxiv:2401.01234"
    assert normal("HTTPS://Example.org:443/a/#b") == "https://example.org/a"
    assert normal("  Smith 2020 ") == "Smith 2020"


@pytest.mark.parametrize(
    ("address", "state"),
    [
        ("ftp://example.org/x", PageState.FORBIDDEN),
        ("file:///etc/passwd", PageState.FORBIDDEN),
        ("javascript:alert(1)", PageState.FORBIDDEN),
        ("data:text/html,x", PageState.FORBIDDEN),
        ("https://user:secret@example.org/", PageState.FORBIDDEN),
        ("https://nature.com@evil.example/", PageState.FORBIDDEN),
        ("http://example.org:22/", PageState.FORBIDDEN),
        ("http://example.org:6379/", PageState.FORBIDDEN),
        ("https://example.org/" + "a" * 2000, PageState.FORBIDDEN),
        ("http://example.org:99999/", PageState.DEAD),
        ("http://example.org\\@evil.example/", PageState.DEAD),
        ("https:///nowhere", PageState.DEAD),
        ("http://a b.example/", PageState.DEAD),
        ("Smith 2020", PageState.DEAD),
        ("", PageState.DEAD),
    ],
)
def test_what_is_no_address_of_the_web_is_refused(address: str, state: PageState) -> None:
    with pytest.raises(UnreadablePage) as why:
        checked(address, CLOSED)
    assert why.value.state is state
    assert why.value.cause.endswith(".")


def test_a_refusal_repeats_no_password() -> None:
    with pytest.raises(UnreadablePage) as why:
        checked("https://user:secret@example.org/", OPEN)
    assert "secret" not in why.value.cause


def test_an_international_name_is_asked_for_in_its_ascii_form() -> None:
    # “bücher” in Punycode: RFC 3492's algorithm as in RFC 5891's registries.
    url = checked("https://bücher.example/ü?q=ä#x", CLOSED)
    assert (url.raw_host, str(url)) == (
        "xn--bcher-kva.example",
        "https://xn--bcher-kva.example/%C3%BC?q=%C3%A4",
    )


@pytest.mark.parametrize(
    "number",
    [
        "127.0.0.1", "127.9.9.9", "::1", "10.0.0.1", "172.16.0.1", "172.31.255.255", "192.168.1.1",
        "100.64.0.1", "198.18.0.1", "192.0.2.1", "fd00::1", "fc00::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
        "2002:7f00:1::", "64:ff9b::7f00:1", "64:ff9b::a00:1", "2001:db8::1",
    ],
)  # fmt: skip
def test_private_and_loopback_numbers_are_kept_out_unless_allowed(number: str) -> None:
    assert barred(number, CLOSED) == PRIVATE
    assert barred(number, OPEN) == ""


@pytest.mark.parametrize(
    "number",
    [
        "169.254.169.254", "169.254.0.1", "fe80::1", "fe80::1%eth0", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe",
        "2002:a9fe:a9fe::", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "192.0.0.192", "0.0.0.0", "::",
        "224.0.0.1", "239.255.255.250", "ff02::1", "255.255.255.255", "240.0.0.1", "::ffff:0.0.0.0", "fec0::1",
        "64:ff9b:1::a00:1", "not a number", "127.1",
    ],
)  # fmt: skip
def test_link_local_and_metadata_numbers_are_never_connected_to(number: str) -> None:
    assert barred(number, CLOSED) == barred(number, OPEN) == NEVER


@pytest.mark.parametrize(
    "number", ["93.184.215.14", "1.1.1.1", "2606:4700::1111", "64:ff9b::5db8:d70e", "::ffff:1.1.1.1"]
)
def test_public_numbers_may_be_connected_to(number: str) -> None:
    assert barred(number, CLOSED) == ""


async def test_a_name_is_pinned_to_all_its_numbers() -> None:
    names = Names(paper_example=[["1.1.1.1", "2606:4700::1111", "1.1.1.1"]])
    assert await pinned(checked("https://paper.example/", CLOSED), CLOSED, names) == (
        "1.1.1.1",
        "2606:4700::1111",
    )


async def test_one_private_number_among_public_ones_keeps_the_name_out() -> None:
    names = Names(paper_example=[["1.1.1.1", "10.0.0.1"]])
    with pytest.raises(UnreadablePage, match="private network"):
        await pinned(checked("https://paper.example/", CLOSED), CLOSED, names)


@pytest.mark.parametrize(
    "host",
    [
        "127.0.0.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "127.1",
        "①②⑦.⓪.⓪.①",
        "[::1]",
        "[::ffff:7f00:1]",
        "localhost",
    ],
)
async def test_every_way_to_write_loopback_is_seen_through(host: str) -> None:
    # The system's own resolver reads the odd spellings, without asking anybody.
    with pytest.raises(UnreadablePage, match=r"private network|could be opened|no machine"):
        await pinned(checked(f"http://{host}/", CLOSED), CLOSED)


async def test_names_without_a_machine_and_without_an_answer_are_told_apart(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    url = checked("https://nowhere.example/", CLOSED)

    async def silent(host: str, port: int) -> list[str]:
        raise socket.gaierror(socket.EAI_AGAIN, "try again")

    with pytest.raises(UnreadablePage, match="no machine of the name"):
        await pinned(url, CLOSED, Names())
    with pytest.raises(UnreadablePage, match="cannot be looked up now"):
        await pinned(url, CLOSED, silent)

    async def hanging(host: str, port: int) -> list[str]:
        import asyncio

        await asyncio.Event().wait()
        return []

    monkeypatch.setattr(addresses, "LOOK_UP_S", 0.01)
    with pytest.raises(UnreadablePage, match="in time"):
        await pinned(url, CLOSED, hanging)
