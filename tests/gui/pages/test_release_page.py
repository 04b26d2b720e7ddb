"""The page of releases: the texts of cited pages leave only where that was asked for."""

import json

import pytest

from annotator.actions.releases import releases
from tests.projects.small_project import small_project


@pytest.fixture
def page(tmp_path, page_over):
    return page_over(small_project(tmp_path), "Release")


@pytest.mark.parametrize("box", ["with_pages", "with_addresses"])
@pytest.mark.parametrize("wanted", [False, True])
def test_texts_of_cited_pages_and_addresses_leave_only_when_ticked(
    page, qtbot, tmp_path, monkeypatch, wanted, box
):
    asked = []
    monkeypatch.setattr(
        releases, "gather", lambda project, **how: asked.append(how) or GATHER(project, **how)
    )
    assert not getattr(page, box).isChecked()
    getattr(page, box).setChecked(wanted)
    page.write_to(tmp_path / "out")
    qtbot.waitUntil(lambda: "Wrote" in page.answer.text())
    named = {"with_pages": "page_texts", "with_addresses": "addresses"}[box]
    assert asked == [{"page_texts": False, "addresses": False} | {named: wanted}]
    assert json.loads((tmp_path / "out" / "manifest.json").read_text("utf-8"))["number"] == 1


def test_other_layouts_have_no_pages_to_include(page):
    page.with_pages.setChecked(True)
    page.group.buttons()[2].setChecked(True)
    assert not page.with_pages.isEnabled()


def test_what_is_open_stands_there_before_anything_is_written(page, qtbot):
    qtbot.waitUntil(lambda: page.points.text() != "")
    assert [line.split(":")[1] for line in page.points.text().splitlines()] == [
        " The final pass is not signed for 2 items (1, 2)",
        " The description is empty",
    ]
    page.desk.do(releases.state, "description", "Two questions.")
    page.arrive({})
    qtbot.waitUntil(lambda: "description" not in page.points.text())


GATHER = releases.gather
