"""The index of items: in step with them, and quickly brought back into step."""

from sqlalchemy import insert

from annotator.actions.items import items
from annotator.actions.items.items import Filter
from annotator.actions.project.file import Project
from annotator.domain.material.item import Item
from annotator.storage import search
from annotator.storage.tables import ItemRow, table
from tests.storage import sql


def found(project: Project, words: str) -> int:
    return len(items.ids(project, Filter(words=words)))


def test_a_changed_item_is_found_by_its_new_words_only(project: Project) -> None:
    items.change(project, items.ids(project)[0], question="What do attention heads do?")
    assert (found(project, "attention"), found(project, "residual")) == (1, 0)
    assert search.out_of_step(sql.connection(project)) == []


def test_an_item_that_was_not_indexed_is_out_of_step_until_the_index_is_made_anew(project: Project) -> None:
    item = Item(id="i-9", key="9", question="Unindexed words?")
    with project.store.write() as db:
        db.execute(insert(table(ItemRow)).values(**item.model_dump(), sha256=""))
    assert search.out_of_step(sql.connection(project)) == ["i-9"]
    with project.store.write() as db:
        search.rebuild(db)
    assert search.out_of_step(sql.connection(project)) == []
    assert found(project, "unindexed") == 1


def test_an_entry_without_an_item_is_out_of_step(project: Project) -> None:
    with project.store.write():
        sql.alter(project, "INSERT INTO item_words(item_id, words) VALUES ('gone', 'ghost')")
    assert search.out_of_step(sql.connection(project)) == ["gone"]


def test_indexing_an_item_twice_keeps_one_entry(project: Project) -> None:
    item = items.read(project, items.ids(project)[0])
    with project.store.write() as db:
        search.index(db, [item, item])
    assert sql.first(project, "SELECT count(*) FROM item_words") == (2,)
