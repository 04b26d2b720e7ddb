"""The transcripts' tab: doubtful passages, corrections, speakers, by keyboard, with history and undo."""

import json

import pytest

from annotator.actions.imports import imports
from annotator.actions.project.people import new_project
from annotator.domain.material.transcript import LEFT_OUT
from tests.windows.using import press

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
def project(tmp_path):
    made = new_project(tmp_path / "p.goldsmith")
    (tmp_path / "salt.json").write_text(json.dumps({"segments": SEGMENTS}), "utf-8")
    imports.run(made, imports.TRANSCRIPTS, [tmp_path / "salt.json"])
    return made


@pytest.fixture
def view(project, show, qtbot):
    page = show(project, "Transcripts")
    qtbot.waitUntil(lambda: page.transcripts._opened is not None)
    return page.transcripts


def select(view, words):
    start = view.text.text().index(words)
    view.text.select(start, start + len(words))


def settled(view, qtbot, words):
    qtbot.waitUntil(lambda: words in view.text.text())
    qtbot.waitUntil(lambda: not view.session._tasks_behind)


def test_doubtful_passages_are_corrected_or_left_out_and_speakers_merged_and_hidden(view, qtbot):
    assert view.text.text() == TEXT
    assert [view.text.text()[mark.start : mark.end] for mark in view.text.marks("kept")] == [
        "Thank you for watching.", "Subscribe.",
    ]  # fmt: skip
    assert view.facts.text() == "until 1:10 · 3 speakers · 4 lines · 2 doubtful (dash-dotted)"
    assert not view.side.correct.isEnabled()
    view.acts["next_evidence"]()
    assert view.side.place.text() == "0:04 · Ann · probably silence"
    assert view.side.words.toPlainText() == "Thank you for watching."
    view.acts["next_evidence"]()
    assert view.side.place.text() == "1:10 · bob · recognized with little confidence"
    select(view, "very old")
    assert not view.side.correct.isEnabled()
    view.side.words.setPlainText("terribly old")
    view.side.save()
    settled(view, qtbot, "Salt is terribly old.")
    assert view.side.acts.item(0).text().startswith("correct words\n")
    assert "Salt is very old." in view.side.acts.item(0).toolTip()
    view.text.setFocus()
    press("Ctrl+Z")
    settled(view, qtbot, "Salt is very old.")
    assert view.side.acts.item(0).text().startswith("correct words, undone")
    select(view, "he is a fool")
    view.side.turn()
    settled(view, qtbot, LEFT_OUT)
    assert "fool" not in view.text.text()
    assert "1 left out (dotted)" in view.facts.text()
    select(view, LEFT_OUT)
    assert view.side.leave.text().startswith("Take back")
    assert not view.side.correct.isEnabled()
    view.side.turn()
    settled(view, qtbot, "he is a fool")
    assert view.text.text() == TEXT
    view.text.setFocus()
    press("Alt+PgDown")
    assert view.side.words.toPlainText() == "Thank you for watching."
    press("Ctrl+Backspace")
    settled(view, qtbot, LEFT_OUT)
    assert view.text.text() == TEXT.replace("Thank you for watching.", LEFT_OUT)
    side = view.side
    side.speaker.setCurrentIndex(side.speaker.findData("bob"))
    side.name.setText("Bob")
    side.rename.click()
    settled(view, qtbot, "Bob: Subscribe.")
    assert [side.speaker.itemText(n) for n in range(side.speaker.count())] == ["Ann", "Bob"]
    side.hide_names.click()
    settled(view, qtbot, "S2: Subscribe.")
    assert side.known.text() == "S1 is Ann; only this project knows."


def test_a_quotation_tells_when_it_was_said(project, page_over, qtbot):
    page = page_over(project, "Author", kind="rubric")
    source = page.source
    start = TEXT.index("Off the record")
    source.text.select(start, start + len("Off the record"))
    anchor = source.quote()
    assert (anchor.said, anchor.place) == ("1:05", " — 1:05")
    assert page.source.hint.text() == "2 passages dotted: speech recognition may have invented them."
    doubted = [source.text.text()[mark.start : mark.end] for mark in source.text.marks("other")]
    assert doubted == ["Thank you for watching.", "Subscribe."]
