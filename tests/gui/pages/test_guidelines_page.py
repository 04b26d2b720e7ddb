"""Guidelines: what is in force, the next version, whose answers are older, what stands beside the work."""

from functools import partial

import pytest

from annotator.actions.authoring import artifacts, settings
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.studies import rubric_views
from annotator.domain.experts.assignment import Stage
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui.pages.guidelines import NOW, THEN
from tests.projects import pairs_project as pairs
from tests.projects.small_projects import labelling_project
from tests.windows.using import focus, press

OURS = "# Our rubrics\n\nOne claim per criterion, and a verb at the front.\n"


@pytest.fixture
def project(tmp_path) -> Project:
    """Cora coordinates; Ada has sealed a rubric and begun a plan."""
    project = pairs.pairs_project(tmp_path, 2)
    pairs.submit(project, {"Ada": pairs.rubric(pairs.ADA, "a")})
    artifacts.start(project, items.ids(project)[0], Kind.PLAN)
    return pairs.work_as(project, "Cora")


@pytest.fixture
def show(project, page_over):
    return partial(page_over, project, "Guidelines", stage=Stage.RUBRIC.value)


def older(page) -> list[tuple[str, str, str]]:
    model = page.older
    return [
        tuple(model.index(row, column).data() for column in (0, THEN, NOW)) for row in range(model.rowCount())
    ]


def test_a_draft_stays_made_safe_until_it_is_discarded_or_published_as_the_next_version(
    project, show, qtmodeltester
):
    page = show()
    draft = "**bold** <script>alert(1)</script><img src='https://example.org/x.png'>"
    page.writing.edit.setPlainText(draft)
    press("Ctrl+P")
    shown = page.writing.look.toHtml()
    assert "bold" in page.writing.look.text()
    assert "<script" not in shown
    assert "<img" not in shown
    page.window().show_page("Items")
    page.window().show_page("Guidelines", stage="plan")
    assert page.writing.text() == settings.shipped(Stage.PLAN)
    page.window().show_page("Guidelines", stage="rubric")
    assert (page.writing.text(), settings.current(project, Stage.RUBRIC)) == (draft, None)
    page.writing.discard.click()
    assert not page.writing.changed()
    page.writing.edit.setPlainText(OURS)
    assert page.publish.text().startswith("Publish as version 2")
    press("Ctrl+Return")
    assert settings.text_in_force(project, Stage.RUBRIC) == OURS
    assert "Version 2 of “Rubric” is in force." in page.answer.text()
    assert "keep the version they were given under" in page.answer.text()
    assert older(page) == [("1", "version 1", "version 2")]
    qtmodeltester.check(page.older)
    assert page.publish.text().startswith("Publish as version 3")
    page.session.do(settings.write, Stage.RUBRIC, "# Third\n")
    page.navigate({"stage": Stage.RUBRIC.value})
    assert page.reading.versions.count() == 3
    page.reading.versions.setCurrentIndex(1)
    assert "verb at the front" in page.reading.text.text()
    page.reading.take_up.click()
    assert page.writing.text() == OURS
    press("Ctrl+Return")
    assert [each.text for each in settings.versions(project, Stage.RUBRIC)] == [OURS, "# Third\n", OURS]


def test_the_next_key_goes_on_to_answers_of_other_stages_and_enter_to_the_item(project, show):
    settings.write(project, Stage.RUBRIC, OURS)
    settings.write(project, Stage.PLAN, OURS)
    page = show(stage=Stage.QUERY.value)
    press("Ctrl+J")
    assert (page.stage, focus()) == (Stage.PLAN, page.table)
    press("Ctrl+J")
    assert page.stage is Stage.RUBRIC
    window = page.window()
    press("Return")
    assert (window.page.NAME, window.page.sheet.kind) == ("Author", Kind.RUBRIC)


def test_an_annotator_reads_and_sees_their_own_older_answers_alone(project, show):
    pairs.submit(project, {"Ben": pairs.rubric(pairs.BEN, "b")})
    pairs.work_as(project, "Cora")
    settings.write(project, Stage.RUBRIC, OURS)
    pairs.work_as(project, "Ben")
    page = show()
    assert (page.writing.isVisible(), page.publish.isVisible()) == (False, False)
    assert [page.older.at(row).person_id for row in range(page.older.rowCount())] == [project.by]
    press("Ctrl+Return")
    assert len(settings.versions(project, Stage.RUBRIC)) == 1


def test_letter_18_people_weigh_a_rubric_set_in_a_file_and_it_is_kept_as_another(project, show, tmp_path):
    page = show()
    rubric_views.keep_set(project, "plain", {"1": Rubric(units=(Criterion(text="Is a report", weight=1),))})
    rubric_views.use(project, "plain")
    page.rubrics.more.setChecked(True)
    sets, path = page.rubrics.drafting, tmp_path / "plain weighed.csv"
    sets.write_file("plain", path)
    assert sets.bar.answer.text() == "Saved 1 criterion of “plain” to plain weighed.csv."
    path.write_text(path.read_text("utf-8-sig").replace(",1", ",3"), "utf-8")
    sets.import_file(path)
    (unit,) = rubric_views.named_sets(project)["plain weighed"]["1"].units
    assert (unit.text, unit.weight) == ("Is a report", 3)
    assert page.rubrics.box.findData("plain weighed") > 0


WRITTEN = "# Our rubrics\n\nOur house rule.\n\n## weight\n\nThree only for what decides.\n"


def test_the_author_page_shows_the_coordinators_text_and_its_part_on_the_field(tmp_path, page_over):
    project = labelling_project(tmp_path, questions=1)
    settings.write(project, Stage.RUBRIC, WRITTEN)
    page = page_over(project, "Author", kind="rubric")
    press("F2")
    assert "Our house rule." in page.side.text.text()
    assert "One claim per criterion" not in page.side.text.text()
    page.side.follow(page.sheet.kind, "weight")
    assert "Three only for what decides." in page.side.text.text()
