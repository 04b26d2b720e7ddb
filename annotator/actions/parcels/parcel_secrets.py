"""Secrets of a project file: its private signing key, and the seed of aliases in its tasks.

Neither ever leaves the file. Anyone who holds a coordinator's file can sign as the project and resolve every alias.
"""

import hashlib
import hmac
import json
import secrets
import uuid
from collections.abc import Callable

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.exchange.parcels import packages
from annotator.storage.tables import META

SECRET, SIGNING_KEY = "exchange_secret", "signing_key"


def signing_key(project: Project) -> bytes:
    """The private key of this file, made when it is first asked for."""
    return _kept(project, SIGNING_KEY, packages.new_key)


def own_words(project: Project) -> str:
    """The six words of this file's key; empty before the first package was signed here."""
    found = _found(project, SIGNING_KEY)
    return packages.fingerprint(packages.public_key(found)) if found else ""


def of_person(project: Project, person_id: str) -> bytes:
    """The secret that a person's tasks and work carried in packages of format 1."""
    return _derived(project, f"person/{person_id}")


def alias_of(project: Project, person_id: str, what: str) -> str:
    """What a thing is called in one person's task: a UUID that tells nothing to anyone who lacks the secret."""
    return str(uuid.UUID(bytes=_derived(project, f"alias/{person_id}/{what}")[:16], version=4))


def _derived(project: Project, purpose: str) -> bytes:
    root = _kept(project, SECRET, lambda: secrets.token_bytes(32))
    return hmac.new(root, purpose.encode(), hashlib.sha256).digest()


def _kept(project: Project, name: str, make: Callable[[], bytes]) -> bytes:
    found = _found(project, name)
    if found is None:
        found = make()
        project.set(name, found.hex())
    return found


def _found(project: Project, name: str) -> bytes | None:
    """A secret as the file has it: another connection may have made it, or a preview taken it back."""
    with project.store.read() as db:
        kept = db.execute(select(META.c.value).where(META.c.key == name)).scalar()
    return None if kept is None else bytes.fromhex(json.loads(kept))
