"""Row classes describe their tables and are never mapped."""

from collections.abc import Iterator

import pytest
from sqlalchemy import ForeignKeyConstraint, UniqueConstraint, inspect
from sqlalchemy.exc import NoInspectionAvailable
from sqlmodel import Field, SQLModel

from annotator.storage import describing
from annotator.storage.tables import ItemRow, ResponseRow, WitnessRow, metadata, table


@pytest.fixture
def tried() -> Iterator[str]:
    """The name of a table that is taken away again."""
    yield "tried"
    if "tried" in metadata.tables:
        metadata.remove(metadata.tables["tried"])


def test_no_row_class_is_mapped():
    with pytest.raises(NoInspectionAvailable):
        inspect(ItemRow)


def test_a_table_has_the_columns_of_its_fields_in_their_order():
    columns = table(ResponseRow).columns
    assert columns.keys() == list(ResponseRow.model_fields)
    assert [column.name for column in table(ResponseRow).primary_key] == ["id"]
    assert not columns["text"].nullable


def test_a_table_has_the_links_and_constraints_its_class_names():
    response = table(ResponseRow)
    links = {
        (*constraint.column_keys, constraint.elements[0].target_fullname, constraint.ondelete)
        for constraint in response.constraints
        if isinstance(constraint, ForeignKeyConstraint)
    }
    unique = [
        constraint.columns.keys()
        for constraint in response.constraints
        if isinstance(constraint, UniqueConstraint)
    ]
    assert ("item_id", "item.id", "RESTRICT") in links
    assert unique == [["item_id", "system_id", "trial", "mode"]]
    assert {index.name for index in table(ItemRow).indexes} >= {"ix_item_order"}


def test_a_table_has_the_options_its_class_names():
    assert table(WitnessRow).dialect_options["sqlite"]["with_rowid"] is False


def test_classes_are_noted_only_until_the_tables_are_made(tried):
    describing.begin()

    class Noted(SQLModel, table=True):
        __tablename__ = tried
        id: str = Field(primary_key=True)

    assert tried not in metadata.tables
    describing.make_tables()
    assert list(metadata.tables[tried].columns.keys()) == ["id"]
    assert "__init_subclass__" not in vars(SQLModel)
