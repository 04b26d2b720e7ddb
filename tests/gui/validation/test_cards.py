"""Cards in the window: made of a choice, saved, held against judges, bound to them, defined from them."""

from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent
from PySide6.QtTest import QTest

from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges
from annotator.actions.project.file import Project
from annotator.actions.validation import validity_cards
from annotator.domain.judges.validation import ValidityCard
from tests.judging.odd_server import OddServer
from tests.projects.carded_project import card_of, carded_project
from tests.projects.small_project import small_project
from tests.servers.served import JUDGE
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
    return validity_cards.save(card.model_copy(update={"judge": judge}).sealed(), folder / "held.json")


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


def test_a_place_that_cannot_be_written_is_said(project, show, tmp_path):
    page = show(project)
    said = []
    page.session.refused.connect(lambda refusal: said.append(refusal.happened))
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
    assert [one.sha256 for one in derived_judges.bound(project)] == [check.found.card.sha256]
    assert check.bound.count() == 1
    check.release.click()
    assert derived_judges.bound(project) == []
    assert not check.bound.isVisible()


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


def test_everything_has_a_name_for_those_who_do_not_see_it(project, show):
    part = show(project).cards
    widgets = (
        part.view.page, part.check.table, part.check.judge, part.check.bound, part.check.define.name,
        part.check.define.address, part.check.define.variable, *part.view.choosers.lists.values(),
    )  # fmt: skip
    assert all(widget.accessibleName() for widget in widgets)
