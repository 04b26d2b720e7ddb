"""How a project signs what it sends out and recognises what comes back: one secret, from which all others follow.

The secret never leaves the coordinator's file; a person's own is derived from it and travels in their task, so that
returned work shows whether it was changed by hand. It keeps out mistakes, not a determined expert.
"""

import hashlib
import hmac
import json
import secrets
import uuid

from annotator.actions.project import Project

SECRET = "exchange_secret"


def of_person(project: Project, person_id: str) -> bytes:
    """The secret that a person's tasks and work are signed with."""
    return _derived(project, f"person/{person_id}")


def alias_of(project: Project, person_id: str, what: str) -> str:
    """What a thing is called in one person's task: a UUID that tells nothing to whoever lacks the secret."""
    return str(uuid.UUID(bytes=_derived(project, f"alias/{person_id}/{what}")[:16], version=4))


def _derived(project: Project, purpose: str) -> bytes:
    return hmac.new(_root(project), purpose.encode(), hashlib.sha256).digest()


def _root(project: Project) -> bytes:
    """The secret as the file has it: another connection may have made it, or a preview taken it back."""
    with project.store.read():
        row = project.store.raw.execute("SELECT value FROM meta WHERE key = ?", [SECRET]).fetchone()
    if row is not None:
        return bytes.fromhex(json.loads(row[0]))
    made = secrets.token_bytes(32)
    project.set(SECRET, made.hex())
    return made
