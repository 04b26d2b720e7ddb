"""What two files hold the same: one hash over all that people made, whenever and in whatever order it came."""

from sqlalchemy import select

from annotator.actions.project.file import Project
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.storage.tables import metadata

# By table, the columns that say what was made. Moments of receipt, orders of arrival and caches are left out.
MADE: dict[str, tuple[str, ...]] = {
    "person": ("id", "alias", "roles", "active"),
    "item": ("id", "sha256", "retired"),
    "source": ("id", "sha256"),
    "source_file": ("source_id", "sha256"),
    "system": ("id", "name"),
    "response": ("id", "sha256"),
    "artifact": ("id", "item_id", "kind", "author_id", "state", "revision"),
    "revision": ("artifact_id", "number", "sha256", "chain", "sealed", "guideline", "form", "reason"),
    "judgement": ("id", "sha256"),
    "assignment": ("item_id", "person_id", "stage", "trial", "purpose", "submitted_at"),
    "agreement": ("id", "sha256"),
    "adjudication": ("id", "adjudicator_id", "seed", "letters", "state", "version"),
    "ruling": ("id", "sha256"),
    "consensus_version": ("id", "sha256"),
    "dispute": ("item_id", "person_id", "stage", "text", "state", "answer"),
    "guideline": ("stage", "version", "text"),
    "tray": ("id", "reason", "sha256", "state"),
    "time_spent": ("person_id", "subject", "seconds"),
    "extract": ("item_id", "response_id", "kind", "origin", "state", "sha256"),
    "page": ("url", "state", "sha256"),
}


def content_hash(project: Project) -> str:
    """The SHA-256 of the project's content: equal for two projects in which the same was made."""
    with project.store.read() as db:
        tree = {}
        for name, columns in MADE.items():
            table = metadata.tables[name]
            rows = db.execute(select(*(table.c[column] for column in columns)))
            tree[name] = sorted(
                sha256(
                    canonical_json(
                        [value.isoformat() if hasattr(value, "isoformat") else value for value in row]
                    )
                )
                for row in rows
            )
    return sha256(canonical_json(tree))
