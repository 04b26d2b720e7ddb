"""The Material page: reports, extracts, sources, cited pages and transcripts; how they come and are corrected."""

import asyncio
import json
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QTextCursor

from annotator.actions.imports import imports
from annotator.actions.items import extracts, items, materials, pages
from annotator.actions.judges import judges
from annotator.actions.material import extracting, responding
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.experts.assignment import Role
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import PageState
from annotator.domain.material.transcript import LEFT_OUT
from annotator.gui.pages.material import writing_form
from annotator.gui.pages.material.parts_view import Drawable
from tests.exchange.pages.page_server import Given, PageServer, article, serving
from tests.judging.odd_server import OddServer, completion, error
from tests.material import drawn_extracts, labelled_sections as key_points
from tests.material.labelled_sections import CLAIM as FIRST, OTHER_CLAIM as SECOND, keep_claims, subject
from tests.projects.small_projects import small_project
from tests.servers.writing_server import (
    answering,
    asking_project,
    research_project,
    write_corpus,
    writing,
    written,
)
from tests.windows.using import Typed, focus, press, type_words


@pytest.fixture
def pages_server() -> Iterator[PageServer]:
    with serving() as running:
        running.pages |= {"/a": article("A study"), "/b": Given(status=404)}
        yield running


@pytest.fixture
def writer() -> Iterator[OddServer]:
    with writing() as server:
        yield server


@pytest.fixture
def project(tmp_path) -> Project:
    """Items “1” and “2”, systems Alpha and Beta, four reports; two claims of the first."""
    made = small_project(tmp_path)
    keep_claims(made, "https://a.example/x", "")
    return made


@pytest.fixture
def show(page_over, qtbot):
    """The page at one of its parts, once it has read what is there."""

    def make(over: Project, part: str, **place: object):
        page = page_over(over, "Material", part=part, **place)
        qtbot.waitUntil(lambda: not page.session._tasks_behind)
        return page

    return make


@pytest.fixture
def page(project, show, qtbot):
    page = show(project, "Extracts")
    qtbot.waitUntil(lambda: page.parts.editor.extract is not None)
    return page


def texts(project, part: ResponsePart = ResponsePart.CLAIMS) -> list[str]:
    result = extracting.of(project, subject(project), part)
    return [unit.text for unit in result.document.units] if result else []


def standing(project, part: ResponsePart = ResponsePart.CLAIMS) -> str:
    return extracts.standing_parts(project)[subject(project)][part.value].standing.value


def marked(page) -> str:
    view = page.parts.text.view
    return " ".join(view.text()[mark.start : mark.end] for mark in view.marks("evidence"))


def test_each_report_says_how_far_its_claims_are_and_marks_the_chosen_ones_place(page, project):
    cells = [[page.parts.model.index(row, column).data() for column in (1, 3)] for row in range(4)]
    assert cells == [
        ["Alpha", "to confirm"], ["Beta", "not extracted"], ["Alpha", "not extracted"], ["Beta", "not extracted"],
    ]  # fmt: skip
    editor = page.parts.editor
    for row, words in ((1, "compares the stability of training"), (0, "explains residual connections")):
        editor.list.setCurrentIndex(editor.model.index(row, 1))
        assert marked(page) == words
    # Looking makes no version of it.
    page.leave()
    assert (standing(project), len(drawn_extracts.all_of(project, subject(project)[1]))) == ("drawn", 1)


def test_claims_are_corrected_added_and_removed_and_undo_brings_them_back(page, project, qtbot):
    editor = page.parts.editor
    editor.fields.fields["url"].setFocus()
    editor.fields.fields["url"].setText("https://b.example/y")
    press("Alt+Return")
    result = extracting.of(project, subject(project), ResponsePart.CLAIMS)
    assert [(unit.id, unit.url) for unit in result.document.units] == [
        ("c0", "https://b.example/y"),
        ("c1", ""),
    ]
    assert standing(project) == "edited"
    editor.fields.fields["text"].setPlainText("Worded anew.")
    editor.list.setCurrentIndex(editor.model.index(1, 1))
    assert (texts(project), editor.unit.text) == (["Worded anew.", SECOND], SECOND)
    editor.list.setCurrentIndex(editor.model.index(0, 1))
    press("Ctrl+N", at=editor.list)
    assert focus() is editor.fields.fields["text"]
    press(Typed("Between."), "Alt+Return")
    assert texts(project) == ["Worded anew.", "Between.", SECOND]
    press("Ctrl+Backspace")
    assert texts(project) == ["Worded anew.", SECOND]
    page.session.undo()
    qtbot.waitUntil(lambda: editor.model.rowCount() == 3)
    assert texts(project) == ["Worded anew.", "Between.", SECOND]


def test_what_is_typed_goes_on_when_the_page_is_filled_again_behind_it(page, qtbot):
    field = page.parts.editor.fields.fields["context"]

    def fill() -> None:
        page.parts.fill()
        qtbot.waitUntil(lambda: not len(page.session._tasks_behind))
        qtbot.wait(20)

    field.setFocus()
    field.moveCursor(QTextCursor.MoveOperation.End)
    before = field.toPlainText()
    fill()
    type_words(" and")
    fill()
    type_words(" more")
    assert (field.toPlainText(), focus()) == (f"{before} and more", field)


def test_the_judges_replies_are_shown_in_the_place_of_the_report(project, writer, show, qtbot):
    def answer(*_: object):
        return completion(json.dumps({"claims": [{"context": "", "text": "It explains.", "url": ""}]}))

    writer.answer = answer
    judges.add(project, "reader", base_url=writer.url, model="test-model")
    order = RunRequest("reader", "researcherbench.claims.extract", ("Beta",), timeout_s=5.0)
    asyncio.run(extracting.run(project, order))
    item_id, response_id = subject(project, 2)
    page = show(project, "Extracts", item_id=item_id, response_id=response_id, kind="claims")
    qtbot.waitUntil(lambda: page.parts.editor.line is not None)
    press("F4")
    assert "It explains." in page.parts.text.view.text()
    press("F4")
    assert page.parts.text.heading.text() == "Beta on item 1"


def test_points_are_accepted_one_after_the_other_beside_the_words_of_their_page(tmp_path, show, qtbot):
    points = key_points.points_project(tmp_path)
    page = show(points, "Extracts")
    page.parts.kinds.hold(Drawable.KEYPOINTS)
    editor, view = page.parts.editor, page.parts.text.view
    qtbot.waitUntil(lambda: editor.extract is not None)
    assert marked(page) == key_points.COOLER
    editor.list.setCurrentIndex(editor.model.index(2, 1))
    assert view.text() == key_points.TEXTS[key_points.TWO]
    editor.list.setCurrentIndex(editor.model.index(0, 1))
    editor.list.setFocus()

    def accepted() -> dict[str, bool]:
        result = extracting.of(points, subject(points), ResponsePart.KEYPOINTS)
        return {unit.id: unit.accepted for unit in result.document.units}

    press("Alt+K", "Alt+K")
    assert (accepted(), editor.unit.id) == ({"k1": True, "k2": True, "k3": False}, "k3")
    page.parts.kinds.hold(Drawable.CLAIMS)
    assert view.text() not in key_points.TEXTS.values()


@pytest.fixture
def asking(tmp_path, writer):
    made = asking_project(tmp_path)
    judges.add(made, "pen", base_url=writer.url, model="test-model")
    return made


@pytest.fixture
def asking_page(asking, show):
    return show(asking, "Reports")


def order(asking_page, system: str = "Scribe", **more: int) -> None:
    asking_page.reports.writing.open()
    asking_page.reports.form.system.setText(system)
    asking_page.reports.form.trials.setValue(more.get("trials", 1))


def ended(asking_page, qtbot, start) -> None:
    with qtbot.waitSignal(asking_page.reports.form.came):
        start()
    settled(asking_page, qtbot)


def test_a_model_writes_reports_and_letter_21_is_asked_for_prompt_cut_off_and_mode_name(
    asking_page, asking, writer, qtbot
):
    order(asking_page, trials=2)
    # What it would take is said before anything is asked.
    qtbot.waitUntil(lambda: "4 reports by 4 calls" in asking_page.reports.form.estimate.text())
    assert writer.bodies == []
    order(asking_page)
    ended(asking_page, qtbot, lambda: press("Ctrl+Shift+Return"))
    result = materials.reports(asking)
    assert (result.columns, result.count) == ((("Scribe", "end-to-end"),), 2)
    assert "Written here by test-model" in asking_page.reports.about.text()
    form = asking_page.reports.form
    order(asking_page)
    form.condition.setCurrentIndex(1)
    form.filed_as.setText("high context")
    form.cutoff.setText("March")
    assert not form.begin.isEnabled()
    form.cutoff.setText("2025-03-24")
    assert form.order().protocol == "respond.end-to-end|by=researcherbench|until=2025-03-24|as=high context"


def test_what_failed_is_listed_by_cause_and_asked_for_again(asking_page, asking, writer, qtbot):
    writer.answer = answering(lambda *_: error(400, "No."))
    order(asking_page)
    ended(asking_page, qtbot, asking_page.reports.form.start)
    lacking = asking_page.reports.lacking
    assert "Scribe: 2 × endpoint failed" in lacking.tree.topLevelItem(0).text(0)
    writer.answer = answering(written)
    ended(asking_page, qtbot, lacking.again.click)
    assert (responding.lacking(asking), lacking.isHidden(), materials.reports(asking).count) == ([], True, 2)


def test_a_try_asks_for_the_item_at_the_cursor_alone(project, show, writer, qtbot):
    judges.add(project, "pen", base_url=writer.url, model="test-model")
    asking_page = show(project, "Reports")
    asking_page.reports.grid.setCurrentIndex(asking_page.reports.model.index(1, 1))
    asking_page.reports.fill()
    qtbot.waitUntil(lambda: asking_page.reports.form.items.findData("chosen") >= 0)
    asking_page.reports.form.items.setCurrentIndex(asking_page.reports.form.items.findData("chosen"))
    order(asking_page)
    assert asking_page.reports.form.order().items == ("2",)


def test_whoever_judges_blind_does_not_see_the_page(project, page_over):
    people.add_person(project, "Ana", (Role.ANNOTATOR,), "R2")
    project.work_as(people.known(project, "R2"))
    asking_page = page_over(project, "Material")
    assert asking_page.body.currentWidget() is asking_page.denied
    assert asking_page.reports.model.rowCount() == 0


def test_a_seminar_is_no_row_and_all_items_are_all_but_it(asking, show, tmp_path):
    (tmp_path / "talk.txt").write_text("Ann: Salt is old.\n\nBen: It is cheap, too.\n", "utf-8")
    imports.run(asking, imports.TRANSCRIPTS, [tmp_path / "talk.txt"])
    view = show(asking, "Reports").reports
    assert view.form.items.itemText(0) == "all items but 1 seminar (2)"
    assert [row.key for row in view._reports.items] == ["1", "2"]


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
    form.fields["group"].setText("deep research")
    form.save_button.click()
    assert [row["group"] for row in materials.systems(project)] == ["deep research", ""]
    form = page.reports.of_reports
    form.fields["collected_on"].setText("2025-03-24")
    form.save()
    assert collected(project) == [("Alpha", ""), ("Alpha", "2025-03-24"), ("Beta", ""), ("Beta", "")]
    settled(page, qtbot)
    page.reports.all_reports.setChecked(True)
    form.fields["collected_on"].setText("2025-04-01")
    form.save()
    assert collected(project)[:2] == [("Alpha", "2025-04-01")] * 2


def test_letter_8_the_kind_of_a_source_is_chosen_in_the_list_of_sources(project, show, qtbot, tmp_path):
    for item_id, name in zip(items.ids(project), ("Rivers", "Lakes"), strict=True):
        (path := tmp_path / f"{name}.md").write_text("Words.", "utf-8")
        items.add_source(project, item_id, path)
    page = show(project, "Sources")
    view = page.sources
    qtbot.waitUntil(lambda: view.model.rowCount() == 2)
    view.form.fields["kind"].setCurrentIndex(2)
    view.form.fields["published"].setText("2024-05")
    view.form.save()
    settled(page, qtbot)
    assert [view.model.index(0, column).data() for column in (1, 2, 3)] == ["Rivers", "review", "2024-05"]
    view.search.setText("lakes")
    assert view.model.rowCount() == 1


def choose(form, wanted: str) -> None:
    form.mode.setCurrentIndex(form.mode.findData(wanted))


def test_a_report_is_asked_for_from_a_corpus(tmp_path, show):
    form = show(research_project(tmp_path, "http://127.0.0.1:1/v1"), "Reports").reports.form
    form.system.setText("Searcher")
    choose(form, writing_form.SEARCHES)
    # What cannot be searched is said before the start.
    for place in ("/nowhere at all", "x" * 3000, "a\x00b"):
        form.research.corpus.setText(place)
        assert not form.begin.isEnabled()
    corpus = str(write_corpus(tmp_path / "corpus"))
    form.research.corpus.setText(corpus)
    form.research.rounds.setValue(1)
    form.research.keep.setValue(3)
    assert (form.order().protocol, form.order().corpus) == ("respond.research|rounds=1|keep=3", corpus)
    choose(form, writing_form.ALL_IMPORTANT)
    assert form.order().protocol == "respond.research|oracle=all"
    choose(form, writing_form.SEARCHES)
    form.research.corpus.clear()
    assert form.order().corpus == ""
    form.judge.setCurrentIndex(1)
    assert form.order() is None


@pytest.fixture
def cited_page(project, pages_server, show, qtbot):
    # Each under another name of loopback, so that none waits for the other.
    keep_claims(project, pages_server.url("/a"), pages_server.url("/b", "localhost"))
    page = show(project, "Cited pages")
    qtbot.waitUntil(lambda: page.pages.model.rowCount() == 2)
    return page


@pytest.mark.usefixtures("real_children")
def test_pages_are_fetched_by_key_and_read_as_plain_text(cited_page, project, qtbot):
    cited_page.pages.fold.open()
    cited_page.pages.fetching.private.setChecked(True)
    with qtbot.waitSignal(cited_page.pages.fetching.run.ended):
        press("Ctrl+Shift+Return")
    settled(cited_page, qtbot)
    states = {one.url.rsplit("/", 1)[1]: one for one in pages.cited_states(project).pages}
    assert [states[name].state for name in "ab"] == [PageState.OK, PageState.DEAD]
    cited_page.pages.go({"url": states["a"].url})
    assert "Residual connections let gradients pass" in cited_page.pages.text.text()


def test_a_claim_that_cites_the_page_is_shown_in_its_report(cited_page, qtbot):
    cited_page.pages.claims.setCurrentItem(cited_page.pages.claims.topLevelItem(0))
    cited_page.pages._ask_claim()
    qtbot.waitUntil(lambda: cited_page.parts.editor.unit is not None)
    assert (cited_page.part, cited_page.parts.editor.unit.text) == (cited_page.parts, FIRST)


SEGMENTS = [
    {"start": 0, "end": 4, "text": "Salt is very old.", "speaker": "Ann"},
    {"start": 4, "end": 5, "text": "Thank you for watching.", "speaker": "Ann", "no_speech_prob": 0.9},
    {"start": 65, "end": 70, "text": "Off the record, he is a fool.", "speaker": "Bob"},
    {"start": 70, "end": 71, "text": "Subscribe.", "speaker": "bob", "avg_logprob": -1.5},
]
TEXT = (
    "Ann: Salt is very old. Thank you for watching.\n\nBob: Off the record, he is a fool.\n\nbob: Subscribe."
)


@pytest.fixture
def transcribed(tmp_path):
    made = new_project(tmp_path / "p.goldsmith")
    (tmp_path / "salt.json").write_text(json.dumps({"segments": SEGMENTS}), "utf-8")
    imports.run(made, imports.TRANSCRIPTS, [tmp_path / "salt.json"])
    return made


@pytest.fixture
def view(transcribed, show, qtbot):
    page = show(transcribed, "Transcripts")
    qtbot.waitUntil(lambda: page.transcripts._opened is not None)
    return page.transcripts


def select(view, words):
    start = view.text.text().index(words)
    view.text.select(start, start + len(words))


def wait_for_words(view, qtbot, words):
    qtbot.waitUntil(lambda: words in view.text.text())
    qtbot.waitUntil(lambda: not view.session._tasks_behind)


def test_doubtful_passages_are_corrected_or_left_out_and_speakers_merged_and_hidden(view, qtbot):
    assert view.text.text() == TEXT
    assert [view.text.text()[mark.start : mark.end] for mark in view.text.marks("kept")] == [
        "Thank you for watching.", "Subscribe.",
    ]  # fmt: skip
    for place in ("0:04 · Ann · probably silence", "1:10 · bob · recognized with little confidence"):
        view.acts["next_evidence"]()
        assert view.side.place.text() == place
    select(view, "very old")
    assert not view.side.correct.isEnabled()
    view.side.words.setPlainText("terribly old")
    view.side.save()
    wait_for_words(view, qtbot, "Salt is terribly old.")
    assert view.side.acts.item(0).text().startswith("correct words\n")
    press("Ctrl+Z", at=view.text)
    wait_for_words(view, qtbot, "Salt is very old.")
    assert view.side.acts.item(0).text().startswith("correct words, undone")
    select(view, "he is a fool")
    view.side.turn()
    wait_for_words(view, qtbot, LEFT_OUT)
    assert "fool" not in view.text.text()
    select(view, LEFT_OUT)
    view.side.turn()
    wait_for_words(view, qtbot, "he is a fool")
    assert view.text.text() == TEXT
    press("Alt+PgDown", "Ctrl+Backspace", at=view.text)
    wait_for_words(view, qtbot, LEFT_OUT)
    assert view.text.text() == TEXT.replace("Thank you for watching.", LEFT_OUT)
    side = view.side
    side.speaker.setCurrentIndex(side.speaker.findData("bob"))
    side.name.setText("Bob")
    side.rename.click()
    wait_for_words(view, qtbot, "Bob: Subscribe.")
    assert [side.speaker.itemText(n) for n in range(side.speaker.count())] == ["Ann", "Bob"]
    side.hide_names.click()
    wait_for_words(view, qtbot, "S2: Subscribe.")
    assert side.known.text() == "S1 is Ann; only this project knows."


def test_a_quotation_tells_when_it_was_said(transcribed, page_over, qtbot):
    source = page_over(transcribed, "Author", kind="rubric").source
    start = TEXT.index("Off the record")
    source.text.select(start, start + len("Off the record"))
    anchor = source.quote()
    assert (anchor.said, anchor.place) == ("1:05", " — 1:05")
    doubted = [source.text.text()[mark.start : mark.end] for mark in source.text.marks("other")]
    assert doubted == ["Thank you for watching.", "Subscribe."]
