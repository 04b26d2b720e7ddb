"""Row classes describe their tables and are never mapped."""

import pytest
from sqlalchemy import ForeignKeyConstraint, UniqueConstraint, inspect
from sqlalchemy.exc import NoInspectionAvailable

from annotator.storage.tables import ItemRow, ResponseRow, WitnessRow, table


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
