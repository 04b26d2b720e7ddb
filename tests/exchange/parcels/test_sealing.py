"""Sealed files: read by one key alone, known to be whole by anyone."""

import pytest

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages, sealing

KEY = packages.new_key()
CONTENT = b"Explains the weight of gold. " * 9
SEALED = sealing.sealed(CONTENT, packages.public_key(KEY))


def test_only_the_owner_of_the_key_reads_it() -> None:
    assert sealing.unsealed(SEALED, KEY) == CONTENT
    assert sealing.unsealed(SEALED, packages.new_key()) is None
    assert b"gold" not in SEALED.removeprefix(sealing.MAGIC)
    assert sealing.sealed(CONTENT, packages.public_key(KEY)) != SEALED


@pytest.mark.parametrize("size", [0, 1, sealing.PADDED - sealing.LENGTH, sealing.PADDED, 3 * sealing.PADDED])
def test_any_content_comes_back_and_sizes_tell_little(size: int) -> None:
    made = sealing.sealed(b"x" * size, packages.public_key(KEY))
    assert sealing.unsealed(made, KEY) == b"x" * size
    assert len(made) % sealing.PADDED == len(SEALED) % sealing.PADDED


def test_anyone_sees_whether_a_file_is_whole() -> None:
    assert sealing.is_whole(SEALED)
    flipped = SEALED[:-1] + bytes([SEALED[-1] ^ 1])
    half = [SEALED[:length] for length in (0, 9, len(sealing.MAGIC), 40, len(SEALED) // 2, len(SEALED) - 1)]
    zeros = SEALED[: len(SEALED) // 2].ljust(len(SEALED), b"\0")
    assert not any(map(sealing.is_whole, [*half, flipped, zeros, SEALED + b"\0", b"x" + SEALED]))


@pytest.mark.parametrize("key", ["00" * 32, "01" + "00" * 31, "ff" * 32])
def test_a_key_that_is_no_point_is_refused(key: str) -> None:
    with pytest.raises(Refusal, match="cannot be encrypted to"):
        sealing.sealed(CONTENT, key)
