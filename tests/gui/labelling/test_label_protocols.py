"""The label page under every protocol: the choice of it, claims with their pages, pairs, a matrix, statements."""

import pytest
from PySide6.QtWidgets import QPushButton

from annotator.actions.items import items
from annotator.actions.labelling import label_tasks, second_looks
from annotator.gui.pages.labelling import LabelPage
from annotator.gui.widgets.basics import PlainLabel
from annotator.protocols import PROTOCOLS, USUAL
from tests.projects.labelled_protocols import ALL, CLAIMS, PAIRS, PLAN, PREFERENCE, REASONING, kept, one_item
from tests.projects.labelling_project import SYSTEMS, add_report, labelling_project, project_with
from tests.windows.labelling_keys import focus, press

PROJECT = one_item


@pytest.fixture
def show(project, page_over):
    def make(protocol: str, **place: object) -> LabelPage:
        return page_over(project, "Label", protocol=protocol, **place)

    return make


def test_a_project_with_one_protocol_shows_no_choice(tmp_path, page_over):
    folder = tmp_path / "plain"
    folder.mkdir()
    assert not page_over(labelling_project(folder, reports=1), "Label").tabs.isVisible()


def test_every_offered_protocol_has_its_tab_and_keys_go_round(show):
    page = show(USUAL)
    assert [page.tabs.tabs.tabText(n) for n in range(page.tabs.tabs.count())] == [
        PROTOCOLS[name].presentation.tab for name in ALL
    ]
    met = []
    for _ in ALL:
        press("Ctrl+Tab")
        met.append(page.bench.protocol)
    assert met == [*ALL[1:], ALL[0]]
    press("Ctrl+Shift+Tab")
    assert page.bench.protocol == PREFERENCE


def test_the_place_under_each_protocol_is_kept(show):
    page = show(REASONING)
    press("Ctrl+PgDown")
    press("Down")
    there = (page.bench.task_id, page.bench.unit_id)
    press("Ctrl+Tab")
    press("Ctrl+Shift+Tab")
    assert (page.bench.task_id, page.bench.unit_id) == there
    assert page.criteria.isAncestorOf(focus())


def test_the_protocol_is_remembered(show):
    again = LabelPage(show(PLAN).desk)
    again.arrive({})
    assert again.bench.protocol == PLAN


def test_gaps_are_said_with_the_way_to_mend_them(show, qtbot):
    page = show(CLAIMS)
    assert page.tabs.gap.text() == "No claims are drawn from 1 of 2 reports yet."
    page.desk.wanted.disconnect()
    with qtbot.waitSignal(page.desk.wanted) as wanted:
        page.tabs.mend.click()
    assert wanted.args == ["Material", {"part": "Extracts"}]
    page.criteria.take_focus()
    press("Ctrl+Tab")
    assert (page.bench.protocol, page.tabs.gap.text(), page.tabs.mend.isVisible()) == (PAIRS, "", False)


def test_what_is_lacking_is_said_and_the_tabs_stay(tmp_path, page_over, qtbot):
    folder = tmp_path / "bare"
    folder.mkdir()
    project = project_with(folder)
    item_id = items.add(project, "A question").subject
    for system in SYSTEMS[:2]:
        add_report(project, item_id, system)
    page = page_over(project, "Label")
    # It opens on what there is something to label by; the tab of what is lacking says so.
    assert (page.bench.protocol, page.whole.currentWidget() is page.labelling) == (PAIRS, True)
    page.arrive({"protocol": USUAL})
    whole = page.whole.currentWidget()
    assert whole.findChildren(PlainLabel)[0].text() == "No rubric to label by"
    assert page.tabs.isVisible()
    press("Ctrl+Tab")
    assert (page.bench.protocol, page.whole.currentWidget() is page.labelling) == (PAIRS, True)


@pytest.mark.parametrize(
    ("lacking", "headline", "way"),
    [
        ("drawn plan", "No plan is drawn", ["Material", {"part": "Extracts"}]),
        ("drawn claims", "No claims are drawn", ["Material", {"part": "Extracts"}]),
        ("citations", "No claim cites", ["Material", {"part": "Extracts"}]),
        ("pages", "No cited page", ["Material", {"part": "Cited pages"}]),
        ("checklist", "No checklist to label by", ["Author", {}]),
        ("nothing asked", "No statement has its gold label", ["Author", {}]),
        ("writing", "First write your own", ["Author", {}]),
        ("rivals", "No two reports", ["Import", {}]),
    ],
)
def test_everything_that_can_be_lacking_has_words_and_a_way(
    project, page_over, monkeypatch, qtbot, lacking, headline, way
):
    monkeypatch.setattr(label_tasks, "lacking", lambda project, protocol: lacking)
    monkeypatch.setattr(label_tasks, "outlook", lambda project, protocol: label_tasks.LabelTasks([]))
    page = page_over(project, "Label", protocol=REASONING)
    empty = page.whole.currentWidget()
    assert empty.findChildren(PlainLabel)[0].text().startswith(headline)
    page.desk.wanted.disconnect()
    with qtbot.waitSignal(page.desk.wanted) as wanted:
        empty.findChildren(QPushButton)[0].click()
    assert wanted.args == way


class TestStatements:
    def test_keys_say_true_false_cannot_tell(self, show):
        page = show(REASONING)
        press("1")
        press("2")
        press("3")
        assert kept(page) == {"s1": "true", "s2": "false", "s3": "cannot-tell"}
        assert "All 3 statements of this report are labelled." in page.messages.text()

    def test_the_guideline_is_the_protocols_own(self, show):
        page = show(REASONING)
        press("F2")
        assert "Cannot tell" in page.guideline.text.toPlainText()
        press("Ctrl+Shift+Tab")
        assert "Relevant" in page.guideline.text.toPlainText()


def test_undo_of_a_label_under_another_protocol_leads_back_to_it(show):
    page = show(REASONING)
    unit = page.bench.unit_id
    press("1")
    press("Ctrl+Tab")
    assert page.bench.protocol == PREFERENCE
    press("Ctrl+Z")
    assert (page.bench.protocol, page.bench.unit_id, kept(page)) == (REASONING, unit, {})


def test_arabic_and_chinese_sub_tasks_stand_on_their_own_side(tmp_path, page_over):
    from annotator.gui.widgets.reading.marked_text import lay_out

    folder = tmp_path / "scripts"
    folder.mkdir()
    project = one_item(folder)
    font = page_over(project, "Label", protocol=PLAN).font()
    # A line lives no longer than its layout.
    arabic, chinese = lay_out("كيف يُنسب الدليل؟", font, 400), lay_out("证据如何归因？", font, 400)
    assert arabic.lineAt(0).naturalTextRect().left() > 100
    assert chinese.lineAt(0).naturalTextRect().left() == 0


def test_letter_17_three_respects_are_chosen_beside_the_whole(show):
    page = show(PREFERENCE)
    details = page.criteria.details
    assert [row.isVisible() for row in details.kind_rows] == [False] * 3
    page.flow.waits_for_kinds = True
    press("1")
    rows = page.criteria.details.kind_rows
    assert [row.head.text() for row in rows if row.isVisible()] == [
        "Factuality",
        "Comprehensiveness",
        "Coherence",
    ]
    press("Alt+2")
    press("Alt+4")
    rows[2].buttons[2].click()
    project, response_id = page.desk.project, page.bench.response_id
    unit = page.bench.units[0].id
    found = {
        one.title: second_looks.of_report(project, response_id, one.name)
        for one in second_looks.TAXONOMIES.values()
    }
    assert [found[name] for name in ("Factuality", "Comprehensiveness", "Coherence")] == [
        {unit: "second"}, {unit: "first"}, {unit: "tie"},
    ]  # fmt: skip
