"""Where reports, sources and works come from, and what the reference system is asked for."""

from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.items import items, materials
from annotator.actions.project.people import new_project
from annotator.gui.pages.material import writing_form
from tests.material import related_work as made
from tests.servers.research_server import research_project, researching, write_corpus


def collected(project) -> list[tuple[str, str]]:
    lines = [line for own in materials.reports(project).lines.values() for line in own]
    return sorted((line.system, str(line.collected_on or "")) for line in lines)


def settled(page, qtbot) -> None:
    qtbot.waitUntil(lambda: not page.session._tasks_behind and not page._later.isActive())


def test_letter_11_the_group_of_a_system_and_the_day_of_its_reports_are_said_in_their_forms(
    project, show, qtbot
):
    page = show(project, "Reports")
    form = page.reports.of_system
    assert not form.save_button.isEnabled()
    form.fields["group"].setText("deep research")
    form.save_button.click()
    assert [row["group"] for row in materials.systems(project)] == ["deep research", ""]
    page.session.undo()
    settled(page, qtbot)
    assert (materials.systems(project)[0]["group"], form.fields["group"].text()) == ("", "")
    form = page.reports.of_reports
    form.fields["collected_on"].setText("2025-03-24")
    form.save()
    assert collected(project) == [("Alpha", ""), ("Alpha", "2025-03-24"), ("Beta", ""), ("Beta", "")]
    settled(page, qtbot)
    page.reports.all_reports.setChecked(True)
    form.fields["collected_on"].setText("2025-04-01")
    form.save()
    assert collected(project)[:2] == [("Alpha", "2025-04-01")] * 2


@pytest.fixture
def sourced(project, tmp_path: Path):
    for item_id, name in zip(items.ids(project), ("Rivers", "Lakes"), strict=True):
        (path := tmp_path / f"{name}.md").write_text("Words.", "utf-8")
        items.add_source(project, item_id, path)
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
    (one,) = items.sources(sourced, items.ids(sourced)[0])
    assert (one.kind, one.published) == ("review", "2024-05")
    assert [view.model.index(0, column).data() for column in (1, 2, 3)] == ["Rivers", "review", "2024-05"]
    view.search.setText("lakes")
    assert view.model.rowCount() == 1


def test_works_are_counted_and_completed_from_a_file(tmp_path, show, qtbot):
    project = new_project(tmp_path / "related.goldsmith", "T")
    imports.run(project, "deepscholar", [made.write(tmp_path / "benchmark")], warm=False)
    page = show(project, "Sources")
    card = page.sources.works
    assert card.words.text().endswith(
        "2 works named by reports and gold: 1 without an abstract, 2 without citations."
    )
    assert card.look.isEnabled()
    row = {
        "identifier": "10.1000/elm",
        "abstract": "Of elms.",
        "cited_by_count": "3",
        "counted_on": "2026-01-02",
    }
    made.table(tmp_path / "works.csv", [row])
    card.take(tmp_path / "works.csv")
    qtbot.waitUntil(lambda: "0 without an abstract, 1 without citations" in card.words.text())
    assert page.sources.answer.isVisible()
    # A file of something else changes nothing, and the buttons are there again.
    (tmp_path / "other.csv").write_text("a,b\n1,2\n", encoding="utf-8")
    card.take(tmp_path / "other.csv")
    qtbot.waitUntil(card.file.isEnabled)
    assert "0 without an abstract" in card.words.text()


@pytest.fixture
def server():
    with researching() as server:
        yield server


def choose(form, wanted: str) -> None:
    form.mode.setCurrentIndex(form.mode.findData(wanted))


def test_a_report_is_written_from_a_corpus(tmp_path, server, show, qtbot):
    project = research_project(tmp_path, server.url)
    form = show(project, "Reports").reports.form
    form.system.setText("Searcher")
    choose(form, writing_form.SEARCHES)
    # What cannot be searched is said before the start.
    for place in ("/nowhere at all", "x" * 3000, "a\x00b"):
        form.research.corpus.setText(place)
        assert form.words.text() == "There is no such file or folder of works."
        assert not form.begin.isEnabled()
    corpus = str(write_corpus(tmp_path / "corpus"))
    form.research.corpus.setText(corpus)
    form.research.rounds.setValue(1)
    form.research.keep.setValue(3)
    assert form.order().protocol == "respond.research|rounds=1|keep=3"
    assert form.order().corpus == corpus
    with qtbot.waitSignal(form.came, timeout=60_000):
        form.start()
    assert "1 of 1 reports are there" in form.answer.text()
    assert materials.reports(project).columns == (("Searcher", "end-to-end"),)
    choose(form, writing_form.ALL_IMPORTANT)
    assert form.order().protocol == "respond.research|oracle=all"
    choose(form, writing_form.SEARCHES)
    form.research.corpus.clear()
    assert form.order().corpus == ""
    form.judge.setCurrentIndex(1)
    assert "asks nobody" in form.words.text()
    assert form.order() is None
