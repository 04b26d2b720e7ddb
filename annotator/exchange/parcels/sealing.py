"""Sealed packages: files in a shared folder that only the owner of one key can read."""

import hashlib

from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey

from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels.packages import LARGEST_FILE

SUFFIX = ".goldsmith-sealed"
MAGIC = b"goldsmith sealed 1\n"
DIGEST, LENGTH = 32, 8
# Contents are padded to a multiple, so that the size of a file reveals little about the submission.
PADDED = 64 * 1024
LARGEST = LARGEST_FILE + 2 * PADDED


def sealed(content: bytes, public: str) -> bytes:
    """The content encrypted for the owner of a public signing key; anyone can check that it is complete."""
    try:
        box = SealedBox(VerifyKey(bytes.fromhex(public)).to_curve25519_public_key())
    except CryptoError:
        raise Refusal("That key cannot be encrypted to.", "Ask for a new file of its owner.") from None
    framed = len(content).to_bytes(LENGTH, "big") + content
    body = box.encrypt(framed.ljust(-len(framed) % PADDED + len(framed), b"\0"))
    return MAGIC + hashlib.sha256(body).digest() + body


def is_whole(content: bytes) -> bool:
    """Whether a sealed file arrived to its last byte, whoever it is for."""
    body = content[len(MAGIC) + DIGEST :]
    return content.startswith(MAGIC) and hashlib.sha256(body).digest() == content[len(MAGIC) :][:DIGEST]


def unsealed(content: bytes, private: bytes) -> bytes | None:
    """The content of a whole sealed file; None if it is for another key."""
    try:
        box = SealedBox(SigningKey(private).to_curve25519_private_key())
        framed = box.decrypt(content[len(MAGIC) + DIGEST :])
    except CryptoError:
        return None
    return framed[LENGTH:][: int.from_bytes(framed[:LENGTH], "big")]
