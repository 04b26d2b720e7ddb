"""Works that a search finds: by what they are known, and whether they are old enough."""

from datetime import date

import pytest

from annotator.domain.material.work import CatalogueWork

DAY = date(2025, 6, 3)


@pytest.mark.parametrize(
    ("published", "older"),
    [
        ("2025-06-02", True),
        ("2025-06-03", False),
        ("2025-05", True),
        ("2025-06", False),
        ("2024", True),
        ("2025", False),
        ("", False),
        ("soon", False),
        ("2025-02-30", False),
    ],
)
def test_only_what_surely_appeared_before_a_day_is_older(published: str, older: bool) -> None:
    assert CatalogueWork("", "On oak", published=published).is_older(DAY) is older


def test_a_work_is_known_by_its_identifier_or_its_whole_title() -> None:
    same = (
        "https://arxiv.org/abs/2401.00001v3",
        "arXiv:2401.00001",
        "https://doi.org/10.48550/arXiv.2401.00001",
    )
    assert {CatalogueWork(one, "On oak").key for one in same} == {"arxiv:2401.00001"}
    assert CatalogueWork("", "On  Oak!").key == CatalogueWork("", "on oak").key == "title on oak"
