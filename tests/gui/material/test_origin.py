"""Where reports and sources come from: said in forms beside their lists, and taken back as anything else."""

import json
from pathlib import Path

import pytest

from annotator.actions.items import items, metadata, report_lines, sources


def collected(project) -> list[tuple[str, str]]:
    lines = [line for own in report_lines.reports(project).lines.values() for line in own]
    return sorted((line.system, str(line.collected_on or "")) for line in lines)


def settled(page, qtbot) -> None:
    qtbot.waitUntil(lambda: not page.desk._errands and not page._later.isActive())


def test_letter_11_the_group_of_a_system_is_said_in_its_form(project, show, qtbot):
    page = show(project, "Reports")
    form = page.reports.of_system
    assert not form.save_button.isEnabled()
    form.fields["group"].setText("deep research")
    form.save_button.click()
    assert [row["group"] for row in metadata.systems(project)] == ["deep research", ""]
    page.desk.undo()
    settled(page, qtbot)
    assert (metadata.systems(project)[0]["group"], form.fields["group"].text()) == ("", "")


def test_letter_11_one_report_or_all_of_a_system_get_their_day(project, show, qtbot):
    page = show(project, "Reports")
    form = page.reports.of_reports
    form.fields["collected_on"].setText("2025-03-24")
    form.save()
    assert collected(project) == [("Alpha", ""), ("Alpha", "2025-03-24"), ("Beta", ""), ("Beta", "")]
    settled(page, qtbot)
    page.reports.all_reports.setChecked(True)
    form.fields["collected_on"].setText("2025-04-01")
    form.save()
    assert collected(project)[:2] == [("Alpha", "2025-04-01")] * 2


def test_letter_11_a_day_that_is_none_is_refused_and_nothing_changes(project, show, qtbot):
    page = show(project, "Reports")
    form = page.reports.of_reports
    form.fields["collected_on"].setText("in March")
    with qtbot.waitSignal(page.desk.refused) as refused:
        form.save()
    assert "Days are written as 2025-03-24" in refused.args[0].todo
    assert form.fields["collected_on"].text() == "in March"
    assert {day for _, day in collected(project)} == {""}


@pytest.fixture
def sourced(project, tmp_path: Path):
    for item_id, name in zip(items.ids(project), ("Rivers", "Lakes"), strict=True):
        (path := tmp_path / f"{name}.md").write_text("Words.", "utf-8")
        sources.add_source(project, item_id, path)
    return project


def test_letter_8_the_kind_of_a_source_is_chosen_in_the_list_of_sources(sourced, show, qtbot):
    page = show(sourced, "Sources")
    view = page.sources
    qtbot.waitUntil(lambda: view.model.rowCount() == 2)
    view.form.fields["kind"].setCurrentIndex(2)
    view.form.fields["published"].setText("2024-05")
    view.form.fields["identifier"].setText("10.1234/a")
    view.form.save()
    settled(page, qtbot)
    (one,) = sources.sources(sourced, items.ids(sourced)[0])
    assert (one.kind, one.published) == ("review", "2024-05")
    assert [view.model.index(0, column).data() for column in (1, 2, 3)] == ["Rivers", "review", "2024-05"]
    view.search.setText("lakes")
    assert view.model.rowCount() == 1


def test_letter_8_replies_from_a_file_say_what_sources_are(sourced, show, qtbot, tmp_path: Path):
    (first,) = sources.sources(sourced, items.ids(sourced)[0])
    metadata.describe(sourced, metadata.Thing.SOURCE, {first.id: {"identifier": "10.1234/a"}})
    told = {"doi": "10.1234/a", "type": "review", "cited_by_count": 7}
    (file := tmp_path / "replies.json").write_text(json.dumps(told), "utf-8")
    page = show(sourced, "Sources")
    qtbot.waitUntil(lambda: page.sources.model.rowCount() == 2)
    page.sources.read_file(file)
    settled(page, qtbot)
    assert page.sources.form.fields["citations"].text() == "7"
    page.sources.form.fields["citations"].clear()
    page.sources.form.save()
    assert sources.sources(sourced, items.ids(sourced)[0])[0].citations is None
