"""What a report consists of."""

import csv
from statistics import fmean

import pytest

from annotator.domain.judges.protocol import Material
from annotator.protocols.deepscholar.statistics import ReportFigures, report_figures
from tests.material.related_work import SHARED
from tests.protocols.deepscholar.related_work_material import ITEM, report


def counted(text: str) -> ReportFigures:
    return report_figures(Material(ITEM, report(text)))


def test_a_report_is_counted_by_hand():
    body = "Trees cool [1, 2]. Roofs heat [1].\n\n| a [2] |\n\n"
    # A list of references is no part of it, its heading neither.
    text = f"{body}## References\n\n[1] http://a.org/x\n[2] http://b.org/y"
    assert counted(text) == ReportFigures(len(body), 11, 2, 2, 4)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the public DeepScholar-Bench data is not there")
def test_the_sections_that_people_wrote_are_as_long_as_is_told():
    with (SHARED / "papers_with_related_works.csv").open(encoding="utf-8", newline="") as file:
        found = [counted(row["clean_latex_related_works"]) for row in csv.DictReader(file)]
    assert len(found) == 32
    assert round(fmean(one.characters for one in found), 1) == 3974.4
    assert round(fmean(one.words for one in found), 1) == 448.2
