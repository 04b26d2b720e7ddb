"""Schema 7: what is known of items as they are curated, and which wording of a question a response answers."""

import json

import sqlalchemy as sa
from alembic import op

from annotator.domain.texts.canonical import canonical_json, sha256

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

# Queries that stand: a consensus, or what was imported as gold. What is being edited counts as it was before.
_SETTLED = """
SELECT a.item_id, r.content FROM artifact a JOIN revision r ON r.artifact_id = a.id
WHERE a.kind = 'query' AND (a.state = 'consensus' OR (a.author_id = '' AND a.state = 'sealed'))
AND r.number = coalesce(
  (SELECT min(o.number) - 1 FROM revision o WHERE o.artifact_id = a.id AND o.verb = 'edit consensus'
   AND o.number > (SELECT coalesce(max(s.number), 0) FROM revision s WHERE s.artifact_id = a.id AND s.sealed)),
  a.revision)
ORDER BY a.state = 'consensus', a.author_id <> '', a.id
"""
_WORDS = ("dataset", "key", "question", "question_type", "subject", "language")


def upgrade() -> None:
    """Add the fields, and make the first wording of each settled query its item's question."""
    for name, longest in (
        ("working_title", 200_000),
        ("origin", 200),
        ("contributor", 120),
        ("collected", 10),
    ):
        op.add_column("item", sa.Column(name, sa.String(longest), nullable=False, server_default=""))
    op.add_column("response", sa.Column("asked", sa.String(64), nullable=False, server_default=""))
    db = op.get_bind()
    settled = {item_id: _first_wording(content) for item_id, content in db.execute(sa.text(_SETTLED))}
    for item_id, wording in settled.items():
        row = db.execute(sa.text("SELECT * FROM item WHERE id = :id"), {"id": item_id}).mappings().one()
        if wording and wording != row["question"].strip():
            _ask(db, dict(row), wording)


def _first_wording(content: str) -> str:
    units = json.loads(content)["units"]
    return str(units[0]["text"]).strip() if units else ""


def _ask(db: sa.Connection, row: dict[str, str], wording: str) -> None:
    """Ask an item's settled wording; its responses so far answer what it asked before."""
    values = {"id": row["id"], "question": wording, "working_title": row["question"]}
    tree = {name: row[name] for name in _WORDS} | {"question": wording, "working_title": row["question"]}
    values["sha256"] = sha256(canonical_json(tree))
    changed = "UPDATE item SET question = :question, working_title = :working_title, sha256 = :sha256 WHERE id = :id"
    db.execute(sa.text(changed), values)
    answers = "UPDATE response SET asked = :asked WHERE item_id = :id"
    db.execute(sa.text(answers), {"id": row["id"], "asked": sha256(row["question"].strip())})
