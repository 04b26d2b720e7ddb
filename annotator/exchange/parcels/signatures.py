"""Package signatures: Ed25519 keys (RFC 8032), and the words by which two people compare a key."""

import hashlib

from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

WORDS = 6
# Letters that are distinguished when they are read out over a telephone.
CONSONANTS, VOWELS = "bdfghklmnprstvwz", "aeio"


def new_key() -> bytes:
    """A private key from the system's random source: 32 bytes, which never leave the file of their owner."""
    return bytes(SigningKey.generate())


def public_key(private: bytes) -> str:
    """The public key that belongs to a private one, in hexadecimal."""
    return bytes(SigningKey(private).verify_key).hex()


def sign(content: bytes, private: bytes) -> str:
    """The signature of bytes in hexadecimal; the same each time."""
    return SigningKey(private).sign(content).signature.hex()


def is_signed_by(content: bytes, signature: str, public: str) -> bool:
    """Whether the owner of a public key signed exactly these bytes."""
    try:
        VerifyKey(bytes.fromhex(public)).verify(content, bytes.fromhex(signature))
    except (BadSignatureError, ValueError):
        return False
    return True


def fingerprint(public: str) -> str:
    """Six words that stand for a public key: the first 96 bits of its SHA-256, 16 bits a word."""
    digest = hashlib.sha256(b"goldsmith key\n" + bytes.fromhex(public)).digest()
    return " ".join(_word(int.from_bytes(digest[2 * place : 2 * place + 2])) for place in range(WORDS))


def _word(number: int) -> str:
    """Five letters for 16 bits: consonant, vowel, consonant, vowel, consonant."""
    letters = []
    for alphabet in (CONSONANTS, VOWELS, CONSONANTS, VOWELS, CONSONANTS):
        number, place = divmod(number, len(alphabet))
        letters.append(alphabet[place])
    return "".join(letters)
