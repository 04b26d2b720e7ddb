"""The figures of the house are counted as they are said."""

import pytest

from tests.house import figures, reading


@pytest.mark.slow
def test_there_is_no_circle_and_every_figure_is_told() -> None:
    table = figures.table()
    assert table["packages with a circle"] == "0"
    assert all(table.values())


def test_a_paper_is_named_by_its_name_or_package() -> None:
    assert figures.PAPER.search("from annotator.protocols.adra import counts")
    assert figures.PAPER.search("ResearcherBench's questions")
    assert not figures.PAPER.search("quadratic weights")


def test_the_fullest_folder_is_found() -> None:
    count, folder = figures.largest("annotator/actions")
    held = [path for path in (reading.HERE / folder).glob("*.py") if path.name != "__init__.py"]
    assert len(held) == count <= 15
