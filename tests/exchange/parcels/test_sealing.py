"""Sealed files: read by one key alone, known to be whole by anyone."""

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages

KEY = packages.new_key()
CONTENT = b"Explains the weight of gold. " * 9
SEALED = packages.sealed(CONTENT, packages.public_key(KEY))


def test_only_the_owner_of_the_key_reads_it() -> None:
    assert packages.unsealed(SEALED, KEY) == CONTENT
    assert packages.unsealed(SEALED, packages.new_key()) is None
    assert b"gold" not in SEALED.removeprefix(packages.MAGIC)
    assert packages.sealed(CONTENT, packages.public_key(KEY)) != SEALED


@pytest.mark.parametrize(
    "size", [0, 1, packages.PADDED - packages.LENGTH, packages.PADDED, 3 * packages.PADDED]
)
def test_any_content_comes_back_and_sizes_tell_little(size: int) -> None:
    made = packages.sealed(b"x" * size, packages.public_key(KEY))
    assert packages.unsealed(made, KEY) == b"x" * size
    assert len(made) % packages.PADDED == len(SEALED) % packages.PADDED


def test_anyone_sees_whether_a_file_is_whole() -> None:
    assert packages.is_whole(SEALED)
    flipped = SEALED[:-1] + bytes([SEALED[-1] ^ 1])
    half = [SEALED[:length] for length in (0, 9, len(packages.MAGIC), 40, len(SEALED) // 2, len(SEALED) - 1)]
    zeros = SEALED[: len(SEALED) // 2].ljust(len(SEALED), b"\0")
    assert not any(map(packages.is_whole, [*half, flipped, zeros, SEALED + b"\0", b"x" + SEALED]))


@pytest.mark.parametrize("key", ["00" * 32, "01" + "00" * 31, "ff" * 32])
def test_a_key_that_is_no_point_is_refused(key: str) -> None:
    with pytest.raises(Refusal, match="cannot be encrypted to"):
        packages.sealed(CONTENT, key)
