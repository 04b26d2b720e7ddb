"""Unpacking: every usual packing comes out whole, and a bomb is stopped before it fills anything."""

import gzip
import tracemalloc
import zlib

import pytest

from annotator.domain.material.page import PageState
from annotator.exchange.pages.states import UnreadablePage
from annotator.exchange.pages.unpacking import PageBody
from tests.material.eprint_folder import compressed

WORDS = b"Residual connections. " * 100_000


def raw_deflate(content: bytes) -> bytes:
    packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return packer.compress(content) + packer.flush()


def unpacked(packing: str, content: bytes, chunk: int, most: int = 10_000_000) -> bytes:
    body = PageBody(packing, most)
    for start in range(0, len(content), chunk):
        body.add(content[start : start + chunk])
    return body.content()


@pytest.mark.parametrize("chunk", [7, 65_536, 10_000_000])
@pytest.mark.parametrize(
    ("packing", "content"),
    [
        ("", WORDS),
        ("identity", WORDS),
        ("gzip", compressed(WORDS)),
        ("X-GZIP", compressed(WORDS)),
        ("deflate", zlib.compress(WORDS)),
        ("deflate", raw_deflate(WORDS)),
        ("gzip", compressed(WORDS[:999]) + compressed(WORDS[999:])),
        ("gzip", compressed(WORDS) + b"\0" * 20),
    ],
)
def test_what_was_packed_comes_out_whole(packing: str, content: bytes, chunk: int) -> None:
    assert unpacked(packing, content, chunk if packing else 65_536) == WORDS


def test_what_is_taken_in_but_not_yet_given_out_is_waited_for() -> None:
    # Deflate's longest copy is 258 bytes (RFC 1951, 3.2.5): up to that much may stay behind a full piece.
    for length in range(256 * 1024, 256 * 1024 + 260):
        assert len(unpacked("deflate", raw_deflate(b"\0" * length), 10_000_000)) == length


@pytest.mark.parametrize("pack", [gzip.compress, zlib.compress])
def test_a_bomb_is_stopped_at_the_bound(pack) -> None:
    bomb = pack(b"\0" * 300_000_000)
    tracemalloc.start()
    with pytest.raises(UnreadablePage) as why:
        unpacked("gzip" if pack is gzip.compress else "deflate", bomb, 65_536, most=4 * 2**20)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert (why.value.state, why.value.cause) == (PageState.TOO_LONG, "It is larger than 4 MB.")
    assert peak < 12 * 2**20


@pytest.mark.parametrize("packing", ["br", "zstd", "compress", "gzip, gzip"])
def test_a_packing_that_was_not_asked_for_is_not_text(packing: str) -> None:
    with pytest.raises(UnreadablePage) as why:
        PageBody(packing, 100)
    assert why.value.state is PageState.NOT_TEXT


def test_damage_and_a_missing_end_are_seen() -> None:
    whole = compressed(WORDS)
    with pytest.raises(UnreadablePage, match="damaged"):
        unpacked("gzip", b"no gzip at all", 100)
    with pytest.raises(UnreadablePage, match="broke off"):
        unpacked("gzip", whole[:-20], 65_536)


def test_an_empty_body_stays_empty() -> None:
    assert unpacked("gzip", b"", 10) == b""
