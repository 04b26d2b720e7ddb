"""Hashes of rows: the same from an object and from its row, different when a word differs."""

from datetime import UTC, datetime, timedelta, timezone

from sqlalchemy import insert, select

from annotator.actions.project import hashing
from annotator.domain.judges.judgement import JudgementFields, RaterKind
from annotator.domain.material.item import ItemFields
from annotator.storage.tables import JudgementRow, table
from tests.projects.small_project import small_project, units_of


def fields(**more: object) -> JudgementFields:
    values = {
        "protocol": "p", "item_id": "i", "response_id": "r", "unit_id": "u", "rater_kind": "person", "rater_id": "me",
        "value": "yes", "seconds": 3, "at": datetime(2025, 1, 1, tzinfo=UTC),
    }  # fmt: skip
    return JudgementFields.model_validate(values | more)


def test_an_item_is_hashed_by_its_words_not_by_its_place() -> None:
    item = ItemFields(key="k", question="Why?")
    assert hashing.item_hash(item) == hashing.item_hash(item.model_dump() | {"position": 9, "retired": True})
    for name in ("dataset", "key", "question", "question_type", "subject", "language"):
        assert hashing.item_hash(item) != hashing.item_hash(item.model_dump() | {name: "other"})


def test_texts_are_hashed_by_their_bytes() -> None:
    # SHA-256 of "abc", FIPS 180-4 example.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert hashing.source_hash("abc") == hashing.response_hash("abc") == expected


def test_every_value_of_a_judgement_counts() -> None:
    first = hashing.judgement_hash(fields())
    for name, value in (
        ("value", "no"),
        ("rationale", "x"),
        ("seconds", 4),
        ("trial", 2),
        ("rater_kind", "judge"),
    ):
        assert hashing.judgement_hash(fields(**{name: value})) != first


def test_a_moment_is_the_same_in_every_zone() -> None:
    east = datetime(2025, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert hashing.judgement_hash(fields(at=east)) == hashing.judgement_hash(fields())


def test_a_row_read_back_has_the_hash_it_was_written_with(tmp_path) -> None:  # type: ignore[no-untyped-def]
    project = small_project(tmp_path)
    row = table(JudgementRow)
    with project.store.write() as db:
        response_id, item_id = db.exec_driver_sql("SELECT id, item_id FROM response").fetchone()
        values = fields(
            item_id=item_id, response_id=response_id, unit_id=units_of(project, item_id)[0]
        ).model_dump()
        values["rater_kind"] = RaterKind.PERSON
        digest = hashing.judgement_hash(values)
        db.execute(insert(row).values(id="j", **values, sha256=digest))
        found = db.execute(select(row)).mappings().one()
    assert hashing.judgement_hash(found) == found["sha256"] == digest
