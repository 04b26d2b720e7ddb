"""What is said of systems, reports and sources beside their words."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import items, metadata, report_lines, sources
from annotator.actions.items.metadata import Thing
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.studies import result_views
from annotator.actions.undo import history
from annotator.domain.texts.refusal import Refusal
from tests.projects.small_project import empty_project, small_project


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = small_project(tmp_path)
    yield project
    project.close()


def group_of(project: Project, name: str) -> str:
    return next(row["group"] for row in metadata.systems(project) if row["name"] == name)


def test_letter_11_systems_have_a_group_and_a_footnote_in_one_act(project: Project) -> None:
    ids = [metadata.system_named(project, name) for name in ("Alpha", "Beta")]
    metadata.describe(
        project, Thing.SYSTEM, {key: {"group": "deep research", "footnote": "in July"} for key in ids}
    )
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["deep research"] * 2
    assert metadata.group_names(metadata.systems(project))[:2] == ["deep research", "LLM + search"]
    history.undo(project)
    assert [group_of(project, name) for name in ("Alpha", "Beta")] == ["", ""]
    history.redo(project)
    assert group_of(project, "Beta") == "deep research"


def test_letter_11_a_release_carries_groups_and_is_read_back(project: Project, tmp_path: Path) -> None:
    alpha = metadata.system_named(project, "Alpha")
    metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM + search"}})
    releases.export(project, tmp_path / "release")
    (other := tmp_path / "other").mkdir()
    with closing(empty_project(other)) as fresh:
        imports.run(fresh, "goldsmith", [tmp_path / "release"])
        assert (group_of(fresh, "Alpha"), group_of(fresh, "Beta")) == ("LLM + search", "")


def test_letter_11_a_value_that_does_not_fit_changes_nothing(project: Project) -> None:
    alpha = metadata.system_named(project, "Alpha")
    with pytest.raises(Refusal, match=r"group .* does not fit"):
        metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "x" * 121}})
    with pytest.raises(Refusal, match="no “name” that can be changed"):
        metadata.describe(project, Thing.SYSTEM, {alpha: {"name": "Omega"}})
    assert group_of(project, "Alpha") == ""


def test_letter_11_what_is_said_already_is_no_change(project: Project) -> None:
    alpha = metadata.system_named(project, "Alpha")
    metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}})
    assert not metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}}).after


def test_letter_11_a_group_changed_meanwhile_is_not_undone(project: Project) -> None:
    alpha = metadata.system_named(project, "Alpha")
    change = metadata.describe(project, Thing.SYSTEM, {alpha: {"group": "LLM"}})
    with project.store.write() as db, pytest.raises(Refusal, match="changed elsewhere"):
        metadata.restore(project, db, Thing.SYSTEM, {alpha: {"group": "other"}}, change.before)


def dated(project: Project, days: dict[tuple[str, str], str]) -> None:
    """Give the report of each system on each item its day of collection."""
    for (system, item), day in days.items():
        (report,) = metadata.responses_of(project, system, items=[item])
        metadata.describe(project, Thing.RESPONSE, {report: {"collected_on": day}})


def test_letter_11_responses_know_where_they_come_from(project: Project, tmp_path: Path) -> None:
    told = {
        "collected_on": "2025-03-24", "product_version": "o3", "settings": "defaults", "collected_by": "R1",
        "cutoff": "2025-02-28",
    }  # fmt: skip
    reports = metadata.responses_of(project, "Alpha")
    metadata.describe(project, Thing.RESPONSE, {one: told for one in reports})
    releases.export(project, tmp_path / "release")
    (found,) = [path for path in (tmp_path / "release" / "responses").iterdir() if "lpha" in path.name]
    assert [{name: one[name] for name in told} for one in json.loads(found.read_text("utf-8"))] == [told] * 2
    history.undo(project)
    assert report_lines.reports(project).lines
    assert {line.collected_on for line in each_line(project)} == {None}
    with pytest.raises(Refusal, match="collected on “March” does not fit"):
        metadata.describe(project, Thing.RESPONSE, {reports[0]: {"collected_on": "March"}})
    with pytest.raises(Refusal, match="no such reports"):
        metadata.responses_of(project, "Alpha", trial=7)


def each_line(project: Project) -> list[report_lines.ReportLine]:
    return [line for lines in report_lines.reports(project).lines.values() for line in lines]


def test_letter_11_the_collection_table_has_a_line_for_each_system(project: Project) -> None:
    dated(project, {("Alpha", "1"): "2025-04-29", ("Alpha", "2"): "2025-03-24", ("Beta", "1"): "2024-12-30"})
    beta = metadata.system_named(project, "Beta")
    metadata.describe(
        project, Thing.SYSTEM, {beta: {"group": "LLM + search", "footnote": "Search size: high."}}
    )
    (sheet,) = result_views.show(project, "collection", {}).sheets
    rows = [[cell.words for cell in line.cells[:5]] for line in sheet.lines]
    assert rows == [
        ["Beta", "30 December 2024", "2", "1", "LLM + search"], ["Alpha", "24 March – 29 April 2025", "2", "0", ""],
    ]  # fmt: skip
    assert sheet.lines[1].cells[1].value == "2025-03-24/2025-04-29"
    assert sheet.told == ("Beta: Search size: high.",)
    (printed,) = result_views.show(project, *paper_tables.found_as("r5"), among=paper_tables.VIEWS).sheets
    assert [column.title for column in printed.columns] == ["DARS", "Data collection timeframe"]
    assert [line.cells[0].words for line in printed.lines] == ["Beta", "Alpha"]


def test_letter_8_sources_have_kind_date_venue_and_citations(project: Project, tmp_path: Path) -> None:
    (path := tmp_path / "Rivers.md").write_text("Words.", "utf-8")
    source = sources.add_source(project, items.ids(project)[0], path).subject
    told = {
        "kind": "review",
        "published": "2024-05",
        "venue": "Water",
        "citations": 0,
        "citations_on": "2025-01-01",
    }
    metadata.describe(project, Thing.SOURCE, {source: told})
    releases.export(project, tmp_path / "release")
    (record,) = json.loads((tmp_path / "release" / "sources.json").read_text("utf-8"))
    assert {name: record[name] for name in told} == told
    for value in ("May 2024", "2024-13", "24"):
        with pytest.raises(Refusal, match=f"published “{value}” does not fit"):
            metadata.describe(project, Thing.SOURCE, {source: {"published": value}})


def sourced(project: Project, folder: Path, told: dict[str, str | int], item: int) -> None:
    (path := folder / f"source {item}.md").write_text("Words.", "utf-8")
    source = sources.add_source(project, items.ids(project)[item], path).subject
    metadata.describe(project, Thing.SOURCE, {source: told})


def test_letter_8_the_balance_says_what_is_lacking(project: Project, tmp_path: Path) -> None:
    sourced(project, tmp_path, {"kind": "research", "published": "2024-05", "citations": 12}, 0)
    sourced(project, tmp_path, {"kind": "review", "published": "2023", "citations": 3}, 1)

    def cells(**chosen: str) -> list[str]:
        sheet, _ = result_views.show(project, "sources", chosen).sheets
        return [cell.words for cell in sheet.lines[0].cells]

    assert cells() == ["Deep learning", "1", "1", "0", "0", "0"]
    assert cells(target="5") == ["Deep learning", "1", "1", "0", "4", "4"]
    assert cells(since="2024", least="10") == ["Deep learning", "1", "0", "1", "0", "1"]
    unmet = result_views.show(project, "sources", {"since": "2024", "least": "10"}).sheets[1]
    assert [line.cells[-1].words for line in unmet.lines if line.cells[-1].words] == [
        "published before 2024, fewer than 10 citations"
    ]
