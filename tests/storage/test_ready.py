"""Statements kept ready do what SQLAlchemy would do with them."""

import sqlite3
from datetime import UTC, datetime, timedelta, timezone

import pytest
from sqlalchemy import bindparam, insert, select, update

from annotator.storage.ready import PreparedStatement
from annotator.storage.tables import ArtifactRow, AuditRow, ReleaseRow, RevisionRow, table
from tests.storage import sql

RELEASE, ARTIFACT, REVISION = table(ReleaseRow), table(ArtifactRow), table(RevisionRow)
ADD = PreparedStatement(insert(RELEASE))
FIND = PreparedStatement(select(RELEASE).where(RELEASE.c.number == bindparam("wanted")))


def release(number: int, at: datetime) -> dict[str, object]:
    return {"number": number, "manifest_sha256": "a" * 64, "profile": "goldsmith", "by": "me", "at": at}


def test_a_row_reads_the_same_here_and_through_sqlalchemy(project):
    moment = datetime(2026, 3, 4, 12, 30, tzinfo=timezone(timedelta(hours=2)))
    with project.store.write() as db:
        ADD.run(db, release(7, moment))
        found = FIND.first(db, {"wanted": 7})
        row = db.execute(select(RELEASE).where(RELEASE.c.number == 7)).mappings().one()
    assert found == dict(row)
    assert found["at"] == datetime(2026, 3, 4, 10, 30, tzinfo=UTC)
    assert found["at"].utcoffset() == timedelta(0)


def test_what_is_not_there_is_none(project):
    with project.store.read() as db:
        assert FIND.first(db, {"wanted": 99}) is None


def test_values_fixed_in_the_statement_need_no_name(project):
    wanted = select(RELEASE).where(RELEASE.c.profile == "goldsmith", RELEASE.c.number == bindparam("wanted"))
    other = select(RELEASE).where(RELEASE.c.profile == "other", RELEASE.c.number == bindparam("wanted"))
    with project.store.write() as db:
        ADD.run(db, release(7, datetime.now(UTC)))
        assert (PreparedStatement(wanted).first(db, {"wanted": 7}) or {})["number"] == 7
        assert PreparedStatement(other).first(db, {"wanted": 7}) is None


def test_columns_that_are_not_named_take_their_defaults(project):
    artifact = sql.first(project, "SELECT id FROM artifact LIMIT 1")[0]
    named = {
        "id": "r-1", "artifact_id": artifact, "number": 90, "content": "{}", "sha256": "a", "chain": "b",
        "verb": "try", "by": "me", "at": datetime.now(UTC),
    }  # fmt: skip
    with project.store.write() as db:
        PreparedStatement(insert(REVISION)).run(db, named)
        row = db.execute(select(REVISION).where(REVISION.c.id == "r-1")).one()
    assert (row.sealed, row.reason, row.guideline) == (False, "", "1")


def test_the_same_statement_serves_other_columns(project):
    adding = PreparedStatement(insert(table(AuditRow)))
    row = {"kind": "k", "subject": "s", "verb": "v", "by": "me", "at": datetime.now(UTC), "sha256": "a"}
    with project.store.write() as db:
        first = adding.add(db, row)
        second = adding.add(db, {**row, "before": "{}"})
        found = db.execute(select(table(AuditRow)).where(table(AuditRow).c.seq >= first)).all()
    assert [(row.seq, row.before) for row in found] == [(first, None), (second, "{}")]


def test_a_value_left_out_is_a_bug(project):
    with pytest.raises(KeyError, match="number"), project.store.write() as db:
        PreparedStatement(update(ARTIFACT).values(revision=bindparam("number"))).run(db, {})


def test_what_it_wrote_goes_with_its_transaction(project):
    def twice() -> None:
        with project.store.write() as db:
            ADD.run(db, release(7, datetime.now(UTC)))
            ADD.run(db, release(7, datetime.now(UTC)))

    with pytest.raises(sqlite3.IntegrityError):
        twice()
    with project.store.read() as db:
        assert FIND.first(db, {"wanted": 7}) is None
