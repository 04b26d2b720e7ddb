"""Transcripts corrected: words, speakers, passages left out; with history, undo, and quotations that go with them."""

from pathlib import Path

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items, sources
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.transcripts import correcting, seminars
from annotator.actions.undo import history, undo_places
from annotator.domain.experts.person import Role
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.pieces import pieces
from annotator.domain.material.transcript import LEFT_OUT, of_source
from annotator.domain.texts.refusal import Refusal

VTT = """WEBVTT

00:01.000 --> 00:02.000
<v Ann Lee>Salt is very old.

00:02.000 --> 00:04.000
<v Bob>Off the record, my boss is a fool.

00:05.000 --> 00:06.000
<v ann lee>Salt is cheap.
"""
TEXT = "Ann Lee: Salt is very old.\n\nBob: Off the record, my boss is a fool.\n\nann lee: Salt is cheap."
SECRET = "my boss is a fool"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = Project.create(tmp_path / "p.goldsmith")
    (tmp_path / "salt.vtt").write_text(VTT, "utf-8")
    imports.run(project, imports.TRANSCRIPTS, [tmp_path / "salt.vtt"])
    return project


def working_as(project: Project, name: str, role: Role) -> None:
    people.add_person(project, name, (role,))
    project.person = next(one for one in people.people(project) if one.name == name)


def source_id(project: Project) -> str:
    (line,) = correcting.lines(project)
    return line.source_id


def text(project: Project) -> str:
    return correcting.opened(project, source_id(project)).source.text


def span(words: str, within: str = TEXT) -> tuple[int, int]:
    return within.index(words), within.index(words) + len(words)


def test_a_corrected_word_keeps_the_original_in_the_history(project: Project) -> None:
    correcting.correct(project, source_id(project), *span("very"), "terribly")
    assert text(project) == TEXT.replace("very", "terribly")
    (act,) = correcting.opened(project, source_id(project)).history
    assert (act.verb, act.before, act.after) == (
        "correct words",
        "Salt is very old.",
        "Salt is terribly old.",
    )
    assert checking.check(project).problems == []
    history.undo(project)
    assert text(project) == TEXT
    assert correcting.opened(project, source_id(project)).history[0].undone
    history.redo(project)
    assert text(project) == TEXT.replace("very", "terribly")


def test_what_is_left_out_is_nowhere_but_here(project: Project, tmp_path: Path) -> None:
    correcting.leave_out(project, source_id(project), *span(SECRET))
    (source,) = sources.sources(project, items.ids(project)[0])
    assert source.text == TEXT.replace(f"{SECRET}.", f"{LEFT_OUT}.")
    assert all(SECRET not in piece.text and LEFT_OUT not in piece.text for piece in pieces(source))
    releases.export(project, tmp_path / "out", "goldsmith")
    released = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert SECRET.encode() not in released
    assert LEFT_OUT.encode() in released


def test_a_passage_is_taken_back_after_other_corrections(project: Project) -> None:
    correcting.leave_out(project, source_id(project), *span(SECRET))
    correcting.correct(project, source_id(project), *span("very"), "terribly")
    with pytest.raises(Refusal, match="Nothing is left out here"):
        correcting.take_back(project, source_id(project), 0)
    correcting.take_back(project, source_id(project), text(project).index(LEFT_OUT))
    assert text(project) == TEXT.replace("very", "terribly")
    verbs = [act.verb for act in correcting.opened(project, source_id(project)).history]
    assert verbs == ["take passage back", "correct words", "leave out passage"]


def test_speakers_are_merged_and_named_anew(project: Project) -> None:
    correcting.rename(project, source_id(project), {"ann lee": "Ann Lee"})
    assert text(project) == TEXT.replace("ann lee", "Ann Lee")
    correcting.pseudonyms(project, source_id(project))
    assert text(project) == TEXT.replace("ann lee", "S1").replace("Ann Lee", "S1").replace("Bob", "S2")
    assert project.get(seminars.NAMES + source_id(project)) == {"S1": "Ann Lee", "S2": "Bob"}
    history.undo(project)
    history.undo(project)
    assert text(project) == TEXT
    with pytest.raises(Refusal, match="cannot be a speaker's name"):
        correcting.rename(project, source_id(project), {"Bob": "Bob: x"})


def quoting(project: Project, *quotes: str) -> None:
    item_id, source = items.ids(project)[0], source_id(project)
    units = tuple(Insight(text=f"about {one}", anchor=Anchor.at(TEXT, *span(one), source)) for one in quotes)
    artifacts.start(project, item_id, Kind.INSIGHTS, Insights(units=units))


def test_quotations_that_no_longer_stand_are_named(project: Project) -> None:
    working_as(project, "Ida", Role.COORDINATOR)
    quoting(project, "Salt is cheap", "the record, my boss")
    kept = correcting.correct(project, source_id(project), *span("very"), "terribly, awfully")
    assert kept.after["lost"] == []
    lost = correcting.leave_out(project, source_id(project), *span(SECRET, text(project)))
    assert lost.after["lost"] == ["the record, my boss"]


def test_a_change_that_was_overtaken_is_not_undone(project: Project) -> None:
    correcting.correct(project, source_id(project), *span("very"), "terribly")
    other = Project.open(project.path)
    working_as(other, "Ida", Role.COORDINATOR)
    correcting.correct(other, source_id(other), *span("terribly", text(other)), "awfully")
    with pytest.raises(Refusal, match="changed since"):
        history.undo(project)
    assert text(project) == TEXT.replace("very", "awfully")


def test_only_a_coordinator_corrects(project: Project) -> None:
    working_as(project, "Ann", Role.ANNOTATOR)
    for act in (
        lambda: correcting.correct(project, "x", 0, 1, "x"),
        lambda: correcting.lines(project),
        lambda: correcting.pseudonyms(project, "x"),
    ):
        with pytest.raises(Refusal, match="Only a coordinator"):
            act()


def test_a_source_that_is_gone_is_told(project: Project) -> None:
    with pytest.raises(Refusal, match="There is no such transcript"):
        correcting.opened(project, "gone")


def test_an_undone_correction_is_told_with_its_place(project: Project) -> None:
    correcting.correct(project, source_id(project), *span("very"), "terribly")
    seen = undo_places.seen(project, history.undo(project))
    assert (seen.words, seen.page, seen.place) == ("correct words", "Material", {"part": "Transcripts"})


def test_the_segments_follow_the_text(project: Project) -> None:
    correcting.correct(project, source_id(project), *span("very"), "terribly")
    found = correcting.opened(project, source_id(project))
    assert of_source(found.source) == found.transcript
    said = [found.source.text[one.first : one.last] for one in found.transcript.segments]
    assert said == ["Salt is terribly old.", "Off the record, my boss is a fool.", "Salt is cheap."]
