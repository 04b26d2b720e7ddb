"""How an older project becomes a newer one, and that nothing is lost when that fails."""

import gzip
import shutil
import sqlite3
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext

from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.releases import checking
from annotator.domain.texts.refusal import Refusal
from annotator.storage import migrating, witness
from annotator.storage.connection import engine_over, raw_connection
from annotator.storage.migrating import SCRIPTS, bring_up_to_date
from annotator.storage.opening import SCHEMA
from annotator.storage.tables import metadata
from tests.storage import sql
from tests.storage.test_witness import beside, noticed

GOLDEN = Path(__file__).parents[1] / "golden"
NEXT = SCHEMA + 1
HEAD = f'''"""Schema {NEXT}: planted."""

import sqlalchemy as sa
from alembic import op

revision = "{NEXT:04d}"
down_revision = "{SCHEMA:04d}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Change the artifacts' table, which others point at, in the way that can empty them."""
'''
STEPS = (
    'op.add_column("person", sa.Column("orcid", sa.String(), nullable=True))',
    'op.create_table("tag", sa.Column("id", sa.String(36), primary_key=True))',
    'with op.batch_alter_table("artifact") as batch: batch.add_column(sa.Column("pace", sa.Integer()))',
    "op.execute(\"INSERT INTO tag VALUES ('t1')\")",
    "op.execute(\"UPDATE artifact SET pace = 3 WHERE state = 'draft'\")",
)


_QUERY = '{"remark": "", "units": [{"id": "w", "text": "How do cells age?"}]}'
OLD_ROWS = (
    *(
        "INSERT INTO item (id, key, dataset, question, question_type, subject, language, position, retired, sha256) "
        f"VALUES ('{name}', '{name}', '', '{question}', '', '', 'en', 0, 0, '')"
        for name, question in (("i1", "Ageing"), ("i2", "Sleep"))
    ),
    "INSERT INTO system (id, name, notes) VALUES ('s', 'S', '')",
    "INSERT INTO response (id, item_id, system_id, text, trial, mode, sha256) VALUES ('r', 'i1', 's', 'A', 1, '', '')",
    *(
        f"INSERT INTO artifact (id, item_id, kind, author_id, state, revision) "
        f"VALUES ('{name}', '{item}', 'query', 'p', '{state}', 1)"
        for name, item, state in (("a1", "i1", "consensus"), ("a2", "i2", "sealed"))
    ),
    *(
        "INSERT INTO revision "
        "(id, artifact_id, number, content, sha256, chain, sealed, reason, guideline, verb, by, at) "
        f"VALUES ('r{name}', '{name}', 1, '{_QUERY}', '', '', 1, '', '1', 'seal', 'p', '2026-01-01')"
        for name in ("a1", "a2")
    ),
)


def scripts_with(folder: Path, *steps: str) -> Path:
    shutil.copytree(SCRIPTS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    body = "".join(f"    {step}\n" for step in steps)
    (folder / "versions" / f"{NEXT:04d}_planted.py").write_text(HEAD + body, "utf-8")
    return folder


def digest(path: Path) -> str:
    return sha256(path.read_bytes()).hexdigest()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir() if path.suffix in (".goldsmith", ".migrating", ".part")}


def value(path: Path, question: str) -> object:
    with closing(sqlite3.connect(path)) as raw:
        return raw.execute(question).fetchone()[0]


def test_the_scripts_make_exactly_the_tables_that_the_models_say(project: Project) -> None:
    engine = engine_over(sql.connection(project))

    def ours(_: object, name: str | None, kind: str, *__: object) -> bool:
        return not (kind == "table" and str(name).startswith("item_words"))

    with engine.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"include_object": ours, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []


def test_a_project_of_the_present_format_is_left_alone(closed: Path) -> None:
    before = digest(closed)
    assert bring_up_to_date(closed) is False
    assert digest(closed) == before


def test_an_older_project_is_brought_up_to_date_and_its_old_file_kept(closed: Path, tmp_path: Path) -> None:
    before = digest(closed)
    assert bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS)) is True
    kept = closed.with_name(f"small.before-format-{NEXT}.goldsmith")
    assert names(tmp_path) == {closed.name, kept.name}
    assert digest(kept) == before
    assert value(closed, "PRAGMA user_version") == NEXT
    assert value(closed, "SELECT pace FROM artifact WHERE state = 'draft'") == 3
    assert value(closed, "SELECT count(*) FROM revision") == value(kept, "SELECT count(*) FROM revision")
    assert noticed(closed) == []


def test_an_earlier_kept_file_is_not_overwritten(closed: Path, tmp_path: Path) -> None:
    earlier = closed.with_name(f"small.before-format-{NEXT}.goldsmith")
    earlier.write_text("precious", "utf-8")
    bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS))
    assert earlier.read_text("utf-8") == "precious"
    assert closed.with_name(f"small.before-format-{NEXT}-2.goldsmith").exists()


@pytest.mark.parametrize("failing", range(len(STEPS) + 1))
def test_a_migration_that_fails_at_any_step_leaves_the_old_file(
    closed: Path, tmp_path: Path, failing: int
) -> None:
    before, content = digest(closed), value(closed, "SELECT count(*) FROM revision")
    steps = (*STEPS[:failing], 'op.execute("INSERT INTO nowhere VALUES (1)")', *STEPS[failing:])
    with pytest.raises(Refusal, match=r"could not be brought up to date: no such table.*unchanged"):
        bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *steps))
    assert digest(closed) == before
    assert names(tmp_path) == {closed.name}
    opened = Project.open(closed)
    assert sql.first(opened, "SELECT count(*) FROM revision")[0] == content
    opened.close()


def test_a_script_with_a_bug_leaves_the_old_file_and_is_told_as_a_bug(closed: Path, tmp_path: Path) -> None:
    before = digest(closed)
    with pytest.raises(ZeroDivisionError):
        bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS, "1 / 0"))
    assert digest(closed) == before
    assert names(tmp_path) == {closed.name}


LOSSES = {
    "a row": ('op.execute("DELETE FROM judgement WHERE rowid = 2")', "1 rows of judgement"),
    "a letter": ('op.execute("UPDATE item SET question = question || 1 WHERE key = 2")', "1 rows of item"),
    "a column": ('with op.batch_alter_table("person") as batch: batch.drop_column("roles")', "person.roles"),
    "a table": ('op.drop_table("time_spent")', "time_spent.id is gone"),
    "one for another": (
        "op.execute(\"UPDATE time_spent SET id = 'another'\")",
        "1 rows of time_spent are missing or changed",
    ),
}


@pytest.mark.parametrize("what", LOSSES)
def test_a_migration_that_loses_something_is_stopped(closed: Path, tmp_path: Path, what: str) -> None:
    before, (step, told) = digest(closed), LOSSES[what]
    with pytest.raises(Refusal, match="would have lost something") as stopped:
        bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS, step))
    assert any(told in detail for detail in stopped.value.details)
    assert digest(closed) == before
    assert names(tmp_path) == {closed.name}


def test_a_link_that_breaks_is_stopped(closed: Path, tmp_path: Path) -> None:
    step = (
        "op.execute(\"INSERT INTO artifact VALUES ('x', 'no item', 'plan', 'me', 'draft', 1, NULL, NULL)\")"
    )
    with pytest.raises(Refusal, match="would have lost") as stopped:
        bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS, step))
    assert any("broken link: ('artifact'" in detail for detail in stopped.value.details)


def test_a_damaged_project_is_not_brought_up_to_date(closed: Path, tmp_path: Path) -> None:
    # Hashing its rows anew would hide the damage for ever.
    beside(closed, "UPDATE person SET name = 'flipped'")
    with pytest.raises(Refusal, match="damaged and was not brought up to date"):
        bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS))
    assert value(closed, "PRAGMA user_version") == SCHEMA


def test_a_full_disk_during_a_migration_leaves_the_old_file(
    closed: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = digest(closed)

    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(migrating, "_migrate_copy", full)
    with pytest.raises(Refusal, match=r"disk is full.*unchanged"):
        bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS))
    assert digest(closed) == before
    assert names(tmp_path) == {closed.name}


def test_an_older_project_that_may_only_be_read_is_shown_as_a_copy(tmp_path: Path) -> None:
    path = tmp_path / "old.goldsmith"
    path.write_bytes(gzip.decompress((GOLDEN / "format-1.goldsmith.gz").read_bytes()))
    before = digest(path)
    opened = Project.open(path, readonly=True)
    with pytest.raises(Refusal, match="older format"):
        opened.set("title", "changed")
    assert (opened.title, value(opened.path, "PRAGMA user_version")) == ("small", SCHEMA)
    opened.close()
    assert not opened.path.exists()
    assert digest(path) == before
    assert names(tmp_path) == {"old.goldsmith"}


def test_a_project_that_could_not_be_made_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(migrating, "_upgrade", full)
    with pytest.raises(Refusal, match="could not be created: database or disk is full"):
        new_project(tmp_path / "new.goldsmith")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_file_is_never_replaced_by_a_new_project(closed: Path) -> None:
    before = digest(closed)
    with pytest.raises(Refusal, match="already exists"):
        new_project(closed)
    assert digest(closed) == before


def test_foreign_keys_are_on_again_after_a_migration(closed: Path, tmp_path: Path) -> None:
    bring_up_to_date(closed, NEXT, scripts_with(tmp_path / "scripts", *STEPS))
    with closing(raw_connection(closed)) as raw, pytest.raises(sqlite3.IntegrityError):
        raw.execute("DELETE FROM artifact")


def test_letter_1_a_query_settled_before_is_asked_after_the_migration(tmp_path: Path) -> None:
    path = tmp_path / "old.goldsmith"
    with migrating.created(path) as unfinished:
        unfinished.unlink()
        with closing(sqlite3.connect(unfinished)) as raw:
            raw.isolation_level = None
            migrating._upgrade(raw, 0, 5)
            raw.execute("PRAGMA user_version=5")
            for step in OLD_ROWS:
                raw.execute(step)
            witness.renew(raw)
            raw.commit()
    assert bring_up_to_date(path) is True
    assert value(path, "SELECT question FROM item WHERE id = 'i1'") == "How do cells age?"
    assert value(path, "SELECT working_title FROM item WHERE id = 'i1'") == "Ageing"
    assert value(path, "SELECT question || working_title FROM item WHERE id = 'i2'") == "Sleep"
    assert value(path, "SELECT asked FROM response") == sha256(b"Ageing").hexdigest()
    with closing(Project.open(path, unchecked=True)) as project:
        assert [p for p in checking.check(project).problems if p.subject == "i1"] == []
