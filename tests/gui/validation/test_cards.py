"""Cards and attacks in the window: what a judge is worth, saved and held against it; costs said first, cases read."""

from functools import partial
from pathlib import Path
from typing import Any

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest

from annotator.actions.judges import judges
from annotator.actions.judging import derived_judges
from annotator.actions.project.file import Project
from annotator.actions.validation import validity_cards
from annotator.domain.judges.validation import PlantedText, ValidityCard
from annotator.gui import theme
from annotator.gui.pages.validation.attack_part import READER, WORK, ShownPlaces
from tests.gui.pages.test_open_task import drop
from tests.judging.odd_server import OddServer
from tests.projects.attacked_project import attacked, firm, gullible, judged
from tests.projects.carded_project import card_of, carded_project
from tests.projects.small_projects import small_project
from tests.projects.validation_project import validation_project
from tests.servers.served import JUDGE, add_judge
from tests.storage import sql
from tests.windows.judges_window import cells
from tests.windows.run_keys import run_panel
from tests.windows.using import focus, inks, settle


@pytest.fixture
def project(tmp_path: Path, server: OddServer) -> Project:
    return carded_project(tmp_path / "one", server)


@pytest.fixture
def show(page_at_rest):
    return partial(page_at_rest, page="Validate", part="Cards")


def kept(folder: Path, card: ValidityCard, **more: object) -> Path:
    judge = card.judge.model_copy(update=more)
    return validity_cards.save(card.model_copy(update={"judge": judge}).sealed(), folder / "held.json")


def test_the_card_is_seen_as_it_would_leave_a_dropped_one_can_be_read_and_one_that_holds_binds_its_judge(
    project, show, tmp_path
):
    page = show(project)
    part = page.cards
    text = part.view.page.toPlainText()
    for words in (f"Validity card: \u2068{JUDGE}\u2069", "test-model", "Cohen's κ", part.view.card.sha256):
        assert words in text
    assert part.view.card.judge.model == "test-model"
    assert part.view.choosers.lists["judge"].currentData() == JUDGE
    # Everything has a name for those who do not see it.
    widgets = (
        part.view.page, part.check.table, part.check.judge, part.check.bound, part.check.define.name,
        part.check.define.address, part.check.define.variable, *part.view.choosers.lists.values(),
    )  # fmt: skip
    assert all(widget.accessibleName() for widget in widgets)
    said = []
    page.session.refused.connect(lambda refusal: said.append(refusal.happened))
    for ending in ("json", "html"):
        part.save(tmp_path / "nowhere" / f"card.{ending}")
    assert ["could not be written" in one for one in said] == [True, True]
    drop(part.check, kept(tmp_path, card_of(project).model_copy(update={"name": "from afar"})))
    settle(page)
    part.check.look.click()
    assert "from afar" in part.view.page.toPlainText()
    assert part.view.back.isVisible()
    part.view.back.click()
    settle(page)
    assert part.view.card.name == JUDGE
    path = kept(tmp_path, card_of(project))
    page.window().show_page("Validate", part="Cards", card=str(path))
    settle(page)
    check = page.cards.check
    assert check.verdict.text() == f"The card “{JUDGE}” matches “{JUDGE}”."
    assert not check.table.isVisible()
    assert page.cards.bar.buttons["bind_card"].isEnabled()
    page.cards.acts["bind_card"]()
    settle(page)
    assert [one.sha256 for one in derived_judges.bound(project)] == [check.checked.card.sha256]
    assert check.bound.count() == 1
    check.release.click()
    assert derived_judges.bound(project) == []
    assert not check.bound.isVisible()


def test_a_judge_that_is_not_here_is_defined_from_its_card(project, show, tmp_path, server):
    path = kept(tmp_path, card_of(project))
    (tmp_path / "other").mkdir()
    other = small_project(tmp_path / "other")
    page = show(other)
    page.cards.check.look_at(path)
    settle(page)
    check = page.cards.check
    assert check.define.isVisible()
    assert check.define.name.text() == JUDGE
    check.define.address.setText(server.url)
    QTest.keyClick(check.define.address, Qt.Key.Key_Return)
    settle(page)
    assert judges.named(other, JUDGE).model == "test-model"
    assert check.verdict.text() == f"The card “{JUDGE}” matches “{JUDGE}”."
    assert not check.define.isVisible()


VERDICTS = 12


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = firm
    return server


@pytest.fixture
def judged_here(small: Project, server: OddServer) -> Project:
    add_judge(small, server)
    judged(small)
    server.bodies.clear()
    return small


def only(part: Any, *names: str) -> None:
    for row in range(part.form.attacks.count()):
        entry = part.form.attacks.item(row)
        if entry.flags() & Qt.ItemFlag.ItemIsUserCheckable:
            wanted = entry.data(Qt.ItemDataRole.UserRole) in names
            entry.setCheckState(Qt.CheckState.Checked if wanted else Qt.CheckState.Unchecked)


def test_a_run_whose_cost_is_said_before_ends_in_rates_and_cases(
    judged_here: Project, server: OddServer, page_at_rest, qtbot
) -> None:
    server.answer = gullible
    part = page_at_rest(judged_here, "Validate", part="Attacks").attacking
    qtbot.waitUntil(lambda: "Counting" not in part.form.cost.text() and bool(part.form.summary.text()))
    calls = 3 * VERDICTS
    assert part.form.cost.text() == f"{calls} verdicts on copies by {calls} calls; at an unknown price."
    assert "each is used for 3 attacks" in part.form.summary.text()
    assert server.bodies == []
    assert part.bar.buttons["submit"].isEnabled()
    only(part, "injection", "padding.filler")
    part.start()
    assert run_panel(part.window().page, part.run).isVisible()
    qtbot.waitUntil(lambda: not part.run.running)
    settle(part.window().page)
    assert cells(part.rates, 0) == ["An order to the judge", "Padding by sentences on nothing"]
    assert [words.split(" [")[0] for words in cells(part.rates, 2)] == ["100 %", "0 %"]
    qtbot.waitUntil(lambda: part.cases.rowCount() == VERDICTS)
    settle(part.window().page)
    assert part.count.text() == "An order to the judge, distant: 12 of 12 verdicts changed"
    assert set(cells(part.list, 5)) == {"Met, changed"}


def test_a_case_is_read_beside_its_report_and_an_attack_that_cannot_be_made_is_grey_in_every_scheme(
    judged_here: Project, server: OddServer, page_at_rest
) -> None:
    server.answer = gullible
    attacked(judged_here, JUDGE, "injection")
    part = page_at_rest(judged_here, "Validate", part="Attacks").attacking
    part.list.setFocus()
    QTest.keyClick(part.list, Qt.Key.Key_R, Qt.KeyboardModifier.ControlModifier)
    settle(part.window().page)
    assert part.body.currentIndex() == READER
    reader = part.reader
    (mark,) = reader.copy.marks()
    copy = reader.copy.text()
    assert copy[: mark.start] + copy[mark.end :] == reader.report.text()
    assert "yes" in copy[mark.start : mark.end]
    assert "It demands the verdict “yes”." in reader.done.text()
    assert "another verdict" in reader.again.toPlainText()
    assert "inserted in the copy" in reader.legend.text()
    before = reader.head.text()
    part.acts["next_item"]()
    settle(part.window().page)
    assert reader.head.text() != before
    part.acts["attack_back"]()
    assert part.body.currentIndex() == WORK
    attacks = part.form.attacks
    lines = [attacks.item(row) for row in range(attacks.count())]
    area = attacks.visualItemRect(
        next(line for line in lines if not line.flags() & Qt.ItemFlag.ItemIsEnabled)
    )
    for scheme in ("light", "dark"):
        theme.choose(scheme)
        assert theme.token("text-disabled").name() in inks(attacks.viewport().grab(area)), scheme


def test_from_the_families_one_comes_back_to_the_settings_before_anything_was_attacked(
    judged_here: Project, page_at_rest
) -> None:
    part = page_at_rest(judged_here, "Validate", part="Attacks").attacking
    part.show_families()
    part.back()
    assert focus() is part.form.judge


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("abc", "abc"),
        ("a\r\nb\r\nc", "a\nb\nc"),
        ("ab\u200bc", "ab\u200bc"),
        ("abcd", "ab\u200bcd"),
        ("a\rb", "a\nb"),
    ],
)
def test_marks_stand_where_their_words_are_shown(text: str, shown: str) -> None:
    places = ShownPlaces(text, shown)
    for place, letter in enumerate(text):
        start, end = places.span(PlantedText(place, place + 1))
        if letter not in "\r\n":
            assert shown[start:end].strip("\u200b") in (letter, "") or letter == "\u200b"


def test_a_file_that_holds_no_labels_is_refused_in_its_place(page_at_rest, tmp_path):
    project, file = validation_project(tmp_path), tmp_path / "labels.csv"
    file.write_text("nothing\n", "utf-8")
    page = page_at_rest(project, "Validate", part="Sets")
    page.sets.acts["labels_in"]()
    page.sets.files.look_at([file])
    settle(page)
    assert page.sets.files.preview.toPlainText()
    assert not page.sets.bar.buttons["submit"].isEnabled()
    assert sql.first(project, "SELECT count(*) FROM judgement")[0] == 0
