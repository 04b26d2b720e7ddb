"""Scores of the same system at different times, and on either side of a cut-off by the items' sources."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.items import items, metadata, sources
from annotator.actions.items.metadata import Thing
from annotator.actions.labelling import label_tasks, labels
from annotator.actions.material import lookups
from annotator.actions.project.file import Project
from annotator.actions.studies import result_views
from tests.projects.labelling_project import submit_labels
from tests.projects.small_project import small_project, units_of


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    """Alpha covers all of item 1 and nothing of item 2."""
    with closing(small_project(tmp_path)) as project:
        first, _ = items.ids(project)
        for task in label_tasks.queue(project):
            for unit in units_of(project, task.item_id):
                labels.set_label(project, task.response_id, unit, "yes" if task.item_id == first else "no")
        submit_labels(project)
        yield project


def rows(project: Project, view: str, **chosen: str) -> list[list[Any]]:
    (sheet,) = result_views.show(project, view, chosen).sheets
    return [[cell.value for cell in line.cells] for line in sheet.lines]


def test_letter_11_a_system_is_compared_with_itself_over_time(project: Project) -> None:
    for item, day, version in (("1", "2025-03-24", "o3"), ("2", "2025-07-02", "o4")):
        (report,) = metadata.responses_of(project, "Alpha", items=[item])
        metadata.describe(
            project, Thing.RESPONSE, {report: {"collected_on": day, "product_version": version}}
        )
    assert [row[:4] for row in rows(project, "over-time")] == [
        ["Alpha", "2025-03", 1, 1.0], ["Alpha", "2025-07", 1, 0.0], ["Beta", "not known", 2, 0.5],
    ]  # fmt: skip
    assert [row[1] for row in rows(project, "over-time", period="version")] == ["o3", "o4", "not known"]
    assert rows(project, "over-time", period="day")[0][1] == "2025-03-24"


def test_letter_8_scores_are_cut_by_date_and_by_citations(project: Project, tmp_path: Path) -> None:
    for item_id, published, citations in zip(
        items.ids(project), ("2024-05", "2025-03-10"), (40, 3), strict=True
    ):
        (path := tmp_path / f"{citations}.md").write_text("Words.", "utf-8")
        source = sources.add_source(project, item_id, path).subject
        metadata.describe(project, Thing.SOURCE, {source: {"published": published, "citations": citations}})
    assert rows(project, "cut-off", at="2025-03") == [
        [name, 0.5, 0.0, 1, 1.0, 1] for name in ("Alpha", "Beta")
    ]
    assert rows(project, "cut-off", at="10")[0][1:] == [0.5, 1.0, 1, 0.0, 1]


def test_letter_8_a_year_alone_leaves_open_on_which_side_of_a_month_it_lies(
    project: Project, tmp_path: Path
) -> None:
    for item_id, published in zip(items.ids(project), ("2025", "2025-03"), strict=True):
        (path := tmp_path / f"{published}.md").write_text("Words.", "utf-8")
        source = sources.add_source(project, item_id, path).subject
        metadata.describe(project, Thing.SOURCE, {source: {"published": published}})
    found = result_views.show(project, "cut-off", {"at": "2025-03"})
    assert [cell.value for cell in found.sheets[0].lines[0].cells][3::2] == [1, 0]
    assert found.sheets[0].told[0].endswith("of 1 item this is not known.")


def test_letter_8_what_a_file_says_of_sources_is_taken_with_its_day(project: Project, tmp_path: Path) -> None:
    first = items.ids(project)[0]
    (path := tmp_path / "a.md").write_text("Words.", "utf-8")
    source = sources.add_source(project, first, path).subject
    metadata.describe(project, Thing.SOURCE, {source: {"identifier": "10.1234/a", "venue": "Old"}})
    told = {
        "doi": "https://doi.org/10.1234/a",
        "type": "review",
        "publication_date": "2024-05-01",
        "cited_by_count": 7,
    }
    (file := tmp_path / "openalex.json").write_text(json.dumps({"results": [told]}), "utf-8")
    found = lookups.in_file(file)
    lookups.describe_sources(project, items.ids(project), found)
    (one,) = sources.sources(project, first)
    assert (one.kind, one.published, one.venue, one.citations) == ("review", "2024-05-01", "Old", 7)
    assert one.citations_on is not None
