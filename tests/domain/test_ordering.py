"""Names with numbers stand as people count."""

from annotator.domain.texts.counting import counted
from annotator.domain.texts.ordering import natural


def test_numbers_inside_names_are_counted():
    assert sorted(["R10", "r9", "R2", "Ada", "²", "1"], key=natural) == ["1", "Ada", "R2", "r9", "R10", "²"]


def test_one_and_many():
    assert [counted(n, "item") for n in (0, 1, 1200)] == ["0 items", "1 item", "1,200 items"]
    assert counted(2, "query", "queries") == "2 queries"
