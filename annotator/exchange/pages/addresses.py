"""Addresses that may be fetched: the cited address and the machine behind it are checked before any request."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from annotator.domain.material.page import PageState
from annotator.domain.texts import identifier
from annotator.exchange.pages.aside import aside
from annotator.exchange.pages.states import UnreadablePage

if TYPE_CHECKING:
    from yarl import URL

IP = ipaddress.IPv4Address | ipaddress.IPv6Address
LookUp = Callable[[str, int], Awaitable[Sequence[str]]]
"""Host and port → the numeric addresses of the host. Raises OSError when it has none."""

LONGEST = 2000
LOOK_UP_S = 10.0
PORTS = frozenset({80, 443, 8080, 8443})
PRIVATE = "It lies on this machine or in a private network, which is fetched only when that is allowed."
NEVER = "It is an address of the network itself, which is never fetched."
_NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
# Beside the link-local ones: where a machine's own provider answers, and what is kept for the network's use.
_INNER = tuple(
    ipaddress.ip_network(net)
    for net in (
        "100.100.100.200/32",
        "168.63.129.16/32",
        "192.0.0.0/24",
        "64:ff9b:1::/48",
        "fd00:ec2::254/128",
        "fec0::/10",
    )
)


@dataclass(frozen=True, slots=True)
class AddressRules:
    """Rules for fetching. `allow_private` permits loopback and private networks, and any port there.

    Link-local addresses, among them those at which clouds hand out their machines' keys, stay out in any case.
    """

    allow_private: bool = False


def normal(cited: str) -> str:
    """The one spelling under which the page of a citation is kept; what is no identifier stays as it is."""
    found = identifier.parse(cited)
    return str(found) if found else cited.strip()


def is_address(text: str) -> bool:
    """Whether a text leads to a page: an address, a DOI or an arXiv id."""
    found = identifier.parse(text)
    return found.scheme != "isbn" if found else text.strip().lower().startswith(("http://", "https://"))


def target(cited: str) -> str:
    """The address to open for what is cited: of a DOI its resolver's, of an arXiv id the paper's PDF.

    Raises Unreadable for what cannot be opened at all.
    """
    cited = cited.strip().strip("<>")
    found = identifier.parse(cited)
    if found and found.scheme == "doi":
        return f"https://doi.org/{found.value}"
    if found and found.scheme == "arxiv":
        return f"https://arxiv.org/pdf/{found.value}"
    if found and found.scheme == "isbn":
        raise UnreadablePage(PageState.NOT_TEXT, "A book's number is no address of a page.")
    return cited.partition("#")[0]


def checked(address: str, rules: AddressRules) -> "URL":
    """The address as the client will use it; raises Unreadable unless its form may be fetched.

    The client's own parser reads it, so that nothing is checked here and understood otherwise there.
    """
    from yarl import URL

    if len(address) > LONGEST:
        raise UnreadablePage(PageState.FORBIDDEN, f"Its address is longer than {LONGEST:,} characters.")
    try:
        url = URL(address)
        host, port = url.raw_host, url.port
    except ValueError:
        raise UnreadablePage(PageState.DEAD, "This is no address that could be opened.") from None
    if url.scheme not in ("http", "https"):
        known = f"An address of the kind “{url.scheme[:20]}:” is not fetched." if url.scheme else ""
        raise UnreadablePage(
            PageState.FORBIDDEN if known else PageState.DEAD, known or "This is no web address."
        )
    if not host or any(character.isspace() for character in host):
        raise UnreadablePage(PageState.DEAD, "This is no address that could be opened.")
    if url.raw_user is not None or url.raw_password is not None:
        raise UnreadablePage(PageState.FORBIDDEN, "Its address holds a name or a password.")
    if port not in PORTS and not rules.allow_private:
        raise UnreadablePage(PageState.FORBIDDEN, f"Port {port} is not one of the web.")
    return url.with_fragment(None)


async def pinned(url: "URL", rules: AddressRules, look_up: LookUp | None = None) -> tuple[str, ...]:
    """The numeric addresses that the host has now, all of which may be connected to: connect to these and no others.

    Raises Unreadable when there is none, or when one of them may not be fetched.
    """
    host = url.raw_host or ""
    try:
        async with asyncio.timeout(LOOK_UP_S):
            found = await (look_up or system_look_up)(host, url.port or 0)
    except TimeoutError:
        raise UnreadablePage(PageState.DEAD, f"The name {host} could not be looked up in time.") from None
    except (OSError, UnicodeError) as error:
        if getattr(error, "errno", None) == socket.EAI_AGAIN:
            raise UnreadablePage(PageState.DEAD, f"The name {host} cannot be looked up now.") from None
        raise UnreadablePage(PageState.DEAD, f"There is no machine of the name {host}.") from None
    for number in found:
        cause = barred(number, rules)
        if cause:
            raise UnreadablePage(PageState.FORBIDDEN, cause)
    if not found:
        raise UnreadablePage(PageState.DEAD, f"There is no machine of the name {host}.")
    return tuple(dict.fromkeys(found))


def barred(number: str, rules: AddressRules) -> str:
    """Why a numeric address may not be connected to, as a sentence; empty when it may."""
    try:
        written = ipaddress.ip_address(number)
    except ValueError:
        return NEVER
    ip = _carried(written) or written
    if ip.is_loopback:
        return "" if rules.allow_private else PRIVATE
    if ip.is_link_local or ip.is_multicast or ip.is_unspecified or ip.is_reserved:
        return NEVER
    if any(ip.version == net.version and ip in net for net in _INNER):
        return NEVER
    return "" if ip.is_global or rules.allow_private else PRIVATE


def _carried(ip: IP) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for, where it is a way to write or to reach one."""
    if isinstance(ip, ipaddress.IPv4Address):
        return None
    low = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    return ip.ipv4_mapped or ip.sixtofour or (low if ip in _NAT64 else None)


async def system_look_up(host: str, port: int) -> Sequence[str]:
    """The numeric addresses that this machine's own resolver knows of a host."""
    found = await aside(lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    return [str(where[0]) for *_, where in found]
