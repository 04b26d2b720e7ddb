"""The keys of people, pinned with their first file and replaced only on purpose; this file's own key; and files
encrypted for one key.
"""

import hashlib
import hmac
import json
import secrets
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nacl.exceptions import CryptoError
from nacl.public import SealedBox
from nacl.signing import SigningKey, VerifyKey
from sqlalchemy import Connection, delete, insert, select

from annotator.actions.project import people
from annotator.actions.project.file import Project, record
from annotator.domain.common import Change, Refusal
from annotator.domain.experts.assignment import Person, Signed
from annotator.exchange.parcels import packages
from annotator.storage.tables import META, PERSON

PINNED = "key_of:"
SECRET, SIGNING_KEY = "exchange_secret", "signing_key"


class OtherKey(Refusal):
    """The work is signed with another key than the one known for its person."""


def words_of(project: Project, person_id: str) -> str:
    """The six words of the key pinned for a person; empty before their first signed file."""
    person_id = people.known(project, person_id).id
    with project.store.read() as db:
        pinned = _pinned(db).get(person_id, "")
    return packages.fingerprint(pinned) if pinned else ""


def pinned(project: Project) -> dict[str, str]:
    """The pinned public keys, by person."""
    with project.store.read() as db:
        return _pinned(db)


def checked(project: Project, db: Connection, package: packages.Package, person: Person) -> Signed:
    """Whether and how a person's work is signed, pinning their first key; raises Refusal if it is not theirs."""
    pinned = _pinned(db)
    own = pinned.get(person.id)
    if not package.signer:
        packages.refuse_forged(package, of_person(project, person.id))
        if own is not None:
            raise Refusal(
                f"“{package.name}” has an older format without a personal signature, and {person.name} has a "
                "key.",
                "Nothing was imported. Ask them to write the file again with their present Goldsmith.",
            )
        return Signed.NOBODY
    if own == package.signer:
        return Signed.KNOWN
    owner = next((one for one, key in pinned.items() if key == package.signer), None)
    if owner is not None:
        name = db.execute(select(PERSON.c.name).where(PERSON.c.id == owner)).scalar()
        raise Refusal(
            f"“{package.name}” is under the name of {person.name}, but signed by {name}.",
            "Nothing was imported. Each person sends work from the project made of their own task.",
        )
    if own is not None:
        raise OtherKey(
            f"“{package.name}” is signed with a different key than earlier work of {person.name}: "
            f"“{packages.fingerprint(package.signer)}”, not “{packages.fingerprint(own)}”.",
            f"Nothing was imported. Ask {person.name} which six words their Send page shows; only if they "
            "are the first ones, replace the key and import the file again.",
        )
    _pin(db, person.id, package.signer)
    record(project, db, _change(person.id, "pin", None, package.signer))
    return Signed.FIRST


@dataclass(frozen=True, slots=True)
class Replacement:
    """A key that would replace the trusted one: both in six words, and the consequences."""

    words: str
    before: str
    meaning: str
    make: Callable[[Project], Change]


def replacement(project: Project, path: Path, person_id: str) -> Replacement:
    """The key that signed a file of a person's work, to replace theirs; nothing is changed before `make`."""
    person, package = people.known(project, person_id), packages.read_package(path, packages.WORK)
    if not package.signer or package.manifest.person_id != person.id:
        raise Refusal(f"“{package.name}” is not signed in the name of {person.name}.", "Choose their file.")
    return replacement_by(project, person.id, package.signer)


def replacement_by(project: Project, person_id: str, key: str) -> Replacement:
    """The same for a public key in hexadecimal, as an arrival shows it."""
    person, before, words = (
        people.known(project, person_id),
        words_of(project, person_id),
        packages.fingerprint(key),
    )
    instead = f", instead of “{before}”" if before else ""
    return Replacement(words, before, (
        f"From now on work under the name of {person.name} is imported only if it is signed with "
        f"“{words}”{instead}. Earlier work stays unchanged. Anyone with that key counts as {person.name}, "
        "so ask them for these six words, by telephone or in person, and not by answering the mail that "
        "brought the file."
    ), lambda project: replace(project, person.id, key))  # fmt: skip


@people.for_coordinators("can replace keys")
def replace(project: Project, person_id: str, key: str) -> Change:
    """Replace a person's key with this one, in hexadecimal: from now on other signers are refused; old work stays."""
    person = people.known(project, person_id)
    with project.store.write() as db:
        pinned = _pinned(db)
        if key in pinned.values():
            raise Refusal("That key is someone's already.", "Nothing was changed.")
        _pin(db, person.id, key)
        return record(project, db, _change(person.id, "replace", pinned.get(person.id), key))


def _pinned(db: Connection) -> dict[str, str]:
    rows = db.execute(select(META.c.key, META.c.value).where(META.c.key.startswith(PINNED, autoescape=True)))
    return {key.removeprefix(PINNED): json.loads(value) for key, value in rows}


def _pin(db: Connection, person_id: str, key: str) -> None:
    # Not by Project.set, which caches values that a preview rolls back.
    name = f"{PINNED}{person_id}"
    db.execute(delete(META).where(META.c.key == name))
    db.execute(insert(META).values(key=name, value=json.dumps(key)))


def _change(person_id: str, verb: str, before: str | None, after: str) -> Change:
    # Without an image to restore: a key is never restored by an accidental undo.
    return Change("key", person_id, verb, after={"key": after, "instead_of": before})


def signing_key(project: Project) -> bytes:
    """The private key of this file, created when first needed."""
    return _stored(project, SIGNING_KEY, packages.new_key)


def own_words(project: Project) -> str:
    """The six words of this file's key; empty before the first package was signed here."""
    result = _secret(project, SIGNING_KEY)
    return packages.fingerprint(packages.public_key(result)) if result else ""


def of_person(project: Project, person_id: str) -> bytes:
    """The secret in a person's tasks and work in packages of format 1."""
    return _derived(project, f"person/{person_id}")


def alias_of(project: Project, person_id: str, what: str) -> str:
    """The alias of a thing in one person's task: a UUID that reveals nothing without the secret."""
    return str(uuid.UUID(bytes=_derived(project, f"alias/{person_id}/{what}")[:16], version=4))


def _derived(project: Project, purpose: str) -> bytes:
    root = _stored(project, SECRET, lambda: secrets.token_bytes(32))
    return hmac.new(root, purpose.encode(), hashlib.sha256).digest()


def _stored(project: Project, name: str, make: Callable[[], bytes]) -> bytes:
    result = _secret(project, name)
    if result is None:
        result = make()
        project.set(name, result.hex())
    return result


def _secret(project: Project, name: str) -> bytes | None:
    """A secret as stored in the file: another connection may have created it, or a preview rolled it back."""
    stored = project.query(select(META.c.value).where(META.c.key == name)).scalar()
    return None if stored is None else bytes.fromhex(json.loads(stored))


SEALED_SUFFIX = ".goldsmith-sealed"
SEALED_MAGIC = b"goldsmith sealed 1\n"
_DIGEST, LENGTH = 32, 8
# Contents are padded to a multiple, so that the size of a file reveals little about the submission.
PADDED = 64 * 1024
LARGEST_SEALED = packages.LARGEST_FILE + 2 * PADDED


def sealed(content: bytes, public: str) -> bytes:
    """The content encrypted for the owner of a public signing key; anyone can check that it is complete."""
    try:
        box = SealedBox(VerifyKey(bytes.fromhex(public)).to_curve25519_public_key())
    except CryptoError:
        raise Refusal("That key cannot be encrypted to.", "Ask for a new file of its owner.") from None
    framed = len(content).to_bytes(LENGTH, "big") + content
    body = box.encrypt(framed.ljust(-len(framed) % PADDED + len(framed), b"\0"))
    return SEALED_MAGIC + hashlib.sha256(body).digest() + body


def is_whole(content: bytes) -> bool:
    """Whether a sealed file arrived to its last byte, whoever it is for."""
    body = content[len(SEALED_MAGIC) + _DIGEST :]
    return (
        content.startswith(SEALED_MAGIC)
        and hashlib.sha256(body).digest() == content[len(SEALED_MAGIC) :][:_DIGEST]
    )


def unsealed(content: bytes, private: bytes) -> bytes | None:
    """The content of a whole sealed file; None if it is for another key."""
    try:
        box = SealedBox(SigningKey(private).to_curve25519_private_key())
        framed = box.decrypt(content[len(SEALED_MAGIC) + _DIGEST :])
    except CryptoError:
        return None
    return framed[LENGTH:][: int.from_bytes(framed[:LENGTH], "big")]
