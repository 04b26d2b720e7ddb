"""Cards in the window: made of a choice, saved, held against judges, bound to them, defined from them."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QFileDialog

from annotator.actions.judges import judges
from annotator.actions.judging import card_checks
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.actions.validation import cards
from annotator.domain.judges.validity_card import ValidityCard
from tests.judging.odd_server import OddServer
from tests.projects.carded_project import card_of, carded_project
from tests.projects.small_project import small_project
from tests.projects.validation_project import judge_says, person, person_says, validation_project
from tests.servers.served import JUDGE
from tests.windows.judges_window import cells, choose
from tests.windows.settling import settle


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return carded_project(tmp_path / "one", server)


@pytest.fixture
def show(page_over):

    def make(project: Project, **place: object):
        page = page_over(project, "Validate", part="Cards", **place)
        settle(page)
        page.focus_first()
        return page

    return make


def kept(folder: Path, card: ValidityCard, **more: object) -> Path:
    judge = card.judge.model_copy(update=more)
    return cards.save(card.model_copy(update={"judge": judge}).sealed(), folder / "held.json")


def held_up(page, path: Path):
    page.cards.check.look_at(path)
    settle(page)
    return page.cards.check


def test_the_card_is_seen_as_it_would_leave(project, show):
    part = show(project).cards
    text = part.view.page.toPlainText()
    for words in (f"Validity card: \u2068{JUDGE}\u2069", "test-model", "Cohen's κ", part.view.card.sha256):
        assert words in text
    assert part.view.card.judge.model == "test-model"
    assert part.view.choosers.lists["judge"].currentData() == JUDGE


def test_without_verdicts_the_page_says_what_must_happen_first(tmp_path, show):
    part = show(small_project(tmp_path)).cards
    assert part.view.card is None
    assert part.view.body.currentWidget() is part.view.empty
    assert "Run a judge on these reports first" in part.view.empty._words.text()
    assert not part.bar.buttons["submit"].isEnabled()


def test_another_choice_makes_another_card(project, show):
    page = show(project)
    before = page.cards.view.card
    choose(page.cards.view.choosers.lists["against"], person(project, "R2").id)
    settle(page)
    assert [one.alias for one in page.cards.view.card.labels.labellers] == ["R2"]
    assert page.cards.view.card.sha256 != before.sha256


def test_a_card_is_read_on_where_its_sketch_was_and_another_from_its_head(project, show):
    page = show(project)
    view = page.cards.view
    bar, loaded = view.page.verticalScrollBar(), []
    bar.setValue(120)
    view.page.loaded.connect(lambda: loaded.append(bar.value()) or len(loaded) != 1 or bar.setValue(80))
    choose(view.choosers.lists["against"], person(project, "R2").id)
    settle(page)
    # First the sketch, then the card.
    assert loaded == [0, 80]
    assert bar.value() == 80


@pytest.mark.parametrize("ending", [".json", ".html"])
def test_what_is_seen_is_what_is_saved_by_keyboard(project, show, tmp_path, monkeypatch, ending):
    page = show(project)
    path = tmp_path / f"card{ending}"
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
    QTest.keyClick(page.window(), Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    settle(page)
    assert cards.read(path) == page.cards.view.card
    assert f"Wrote \u2068{path.name}\u2069." in page.cards.answer.text()


def test_a_name_without_ending_becomes_a_page(project, show, tmp_path, monkeypatch):
    page = show(project)
    name = str(tmp_path / "card v1.2")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (name, "JSON (*.json)"))
    page.cards.acts["submit"]()
    assert (tmp_path / "card v1.2.json").is_file()


def test_a_place_that_cannot_be_written_is_said(project, show, tmp_path):
    page = show(project)
    said = []
    page.desk.refused.connect(lambda refusal: said.append(refusal.happened))
    for ending in ("json", "html"):
        page.cards.save(tmp_path / "nowhere" / f"card.{ending}")
    assert ["could not be written" in one for one in said] == [True, True]


def test_a_card_that_holds_can_bind_its_judge(project, show, tmp_path):
    path = kept(tmp_path, card_of(project))
    page = show(project, card=str(path))
    check = page.cards.check
    assert check.verdict.text() == f"The card “{JUDGE}” matches “{JUDGE}”."
    assert not check.table.isVisible()
    assert page.cards.bar.buttons["bind_card"].isEnabled()
    page.cards.acts["bind_card"]()
    settle(page)
    assert [one.sha256 for one in card_checks.bound(project)] == [check.found.card.sha256]
    assert check.bound.count() == 1
    check.release.click()
    assert card_checks.bound(project) == []
    assert not check.bound.isVisible()


def test_each_difference_is_listed_with_what_to_do(project, show, tmp_path):
    path = kept(tmp_path, card_of(project), parameters={"temperature": 0}, together=1, weights_shown=True)
    page = show(project)
    check = held_up(page, path)
    assert "differs from the card" in check.verdict.text()
    assert cells(check.table, 0) == ["request parameters", "told what units weigh"]
    assert cells(check.table, 1) == ['{"temperature":0}', "yes"]
    assert cells(check.table, 2) == ["{}", "no"]
    check.table.selectRow(1)
    assert check.todo.text() == "Change that in the judge's settings, or validate it again."
    assert not page.cards.bar.buttons["bind_card"].isEnabled()


def test_what_was_changed_meanwhile_is_seen_at_once(project, show, tmp_path):
    page = show(project)
    check = held_up(page, kept(tmp_path, card_of(project)))
    page.desk.do(judges.change, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})
    page.cards.fill()
    settle(page)
    assert cells(check.table, 2) == ['{"temperature":1}']


def test_a_judge_that_is_not_here_is_defined_from_its_card(project, show, tmp_path, server):
    path = kept(tmp_path, card_of(project))
    (tmp_path / "other").mkdir()
    other = small_project(tmp_path / "other")
    page = show(other)
    check = held_up(page, path)
    assert check.define.isVisible()
    assert check.define.name.text() == JUDGE
    check.define.address.setText(server.url)
    QTest.keyClick(check.define.address, Qt.Key.Key_Return)
    settle(page)
    assert judges.named(other, JUDGE).model == "test-model"
    assert check.verdict.text() == f"The card “{JUDGE}” matches “{JUDGE}”."
    assert not check.define.isVisible()


def test_what_is_no_card_is_said_in_its_place(project, show, tmp_path):
    path = tmp_path / "card.json"
    path.write_text("{}", encoding="utf-8")
    check = held_up(show(project), path)
    assert check.verdict.text().startswith("“card.json” is no validity card.")
    assert not check.look.isVisible()


def test_a_card_that_was_dropped_can_be_read(project, show, tmp_path):
    path = kept(tmp_path, card_of(project).model_copy(update={"name": "from afar"}))
    page = show(project)
    mime = QMimeData()
    mime.setUrls([QUrl.fromLocalFile(str(path))])
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        mime,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    page.cards.check.dropEvent(event)
    settle(page)
    page.cards.check.look.click()
    assert "from afar" in page.cards.view.page.toPlainText()
    assert page.cards.view.back.isVisible()
    page.cards.view.back.click()
    settle(page)
    assert page.cards.view.card.name == JUDGE


def test_the_test_part_is_opened_on_purpose_only(tmp_path, show):
    project = validation_project(tmp_path)
    whose = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", whose, size=8))
    for alias in ("R2", "R3"):
        person_says(project, alias, lambda at: "yes" if at[2] == 1 else "no")
    judge_says(project, "small", lambda at: "yes")
    validation_sets.lock(project, "Spring")
    page = show(project, choose={"set": "Spring", "part": "test"})
    view = page.cards.view
    assert view.body.currentWidget() is view.gate
    assert view.card is None
    assert validation_sets.named(project, "Spring").openings == 0
    view.gate.open.click()
    settle(page)
    assert (view.card.labels.part, len(view.card.labels.opened_at)) == ("test", 1)
    choose(view.choosers.lists["against"], person(project, "R2").id)
    settle(page)
    # The same look covers it.
    assert len(view.card.labels.opened_at) == 1


def test_everything_has_a_name_for_those_who_do_not_see_it(project, show):
    part = show(project).cards
    widgets = (
        part.view.page, part.check.table, part.check.judge, part.check.bound, part.check.define.name,
        part.check.define.address, part.check.define.variable, *part.view.choosers.lists.values(),
    )  # fmt: skip
    assert all(widget.accessibleName() for widget in widgets)
