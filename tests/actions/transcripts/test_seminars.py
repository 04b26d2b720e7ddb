"""Transcripts come in as seminars and are corrected; what systems once wrote on one enters nothing."""

import asyncio
import json
import shutil
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.imports.imports import TRANSCRIPTS, ImportOptions
from annotator.actions.items import items, seminars
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_cases, labels
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history, undo_places
from annotator.cli import run_command
from annotator.domain.experts.assignment import Role
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.insights import Insight, Insights
from annotator.domain.material.extract import pieces
from annotator.domain.material.item import Source, SourceFormat
from annotator.domain.material.transcript import LEFT_OUT, of_source
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import add_report, small_sample
from tests.storage import sql
from tests.templates import fixture_of

VTT = """WEBVTT

00:01.000 --> 00:02.000
<v Ann Lee>Salt is old.

00:02.000 --> 00:04.000
<v Bob>Thank you, Ann Lee.
"""


@fixture_of
def project(folder: Path) -> Project:
    return Project.create(folder / "p.goldsmith")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talks" / "salt 1.vtt"
    path.parent.mkdir()
    path.write_text(VTT, "utf-8")
    return path


def sources_of(project: Project) -> list[Source]:
    return [source for item in items.ids(project) for source in items.sources(project, item)]


def test_a_seminar_is_an_item_and_comes_back_with_its_times(
    project: Project, file: Path, tmp_path: Path
) -> None:
    imports.run(project, TRANSCRIPTS, [file])
    (item_id,) = items.ids(project)
    item = items.read(project, item_id)
    assert (item.key, item.dataset, item.question) == ("salt 1", seminars.DATASET, "salt 1")
    (source,) = items.sources(project, item_id)
    assert source.format is SourceFormat.TRANSCRIPT
    assert source.text == "Ann Lee: Salt is old.\n\nBob: Thank you, Ann Lee."
    assert checking.check(project).problems == []
    releases.export(project, tmp_path / "out", "goldsmith")
    other = Project.create(tmp_path / "other.goldsmith")
    imports.run(other, imports.GOLDSMITH, [tmp_path / "out"])
    assert sources_of(other) == sources_of(project)
    (tmp_path / "empty").mkdir()
    expect_refusal("There is no transcript", imports.preview, project, TRANSCRIPTS, [tmp_path / "empty"])


def test_a_second_import_adds_nothing_whatever_was_changed_since(project: Project, file: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file.parent])
    items.change(project, items.ids(project)[0], subject="Chemistry")
    _, report = imports.run(project, TRANSCRIPTS, [file.parent], ImportOptions(pseudonyms=True))
    assert (report.new, report.counts["sources"].same, report.problems) == (0, 1, ())
    file.write_text(VTT.replace("old", "new"), "utf-8")
    (problem,) = imports.preview(project, TRANSCRIPTS, [file]).problems
    assert "imported from a file with other content" in str(problem)


def test_pseudonyms_stay_with_the_project(project: Project, file: Path, tmp_path: Path) -> None:
    _, report = imports.run(project, TRANSCRIPTS, [file], ImportOptions(pseudonyms=True))
    (source,) = sources_of(project)
    assert source.text == "S1: Salt is old.\n\nS2: Thank you, Ann Lee."
    assert project.get(seminars.NAMES + source.id) == {"S1": "Ann Lee", "S2": "Bob"}
    assert "1 speaker named in what is said too" in str(report.notes[-1])
    releases.export(project, tmp_path / "out", "goldsmith")
    released = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"Bob" not in released


def test_bad_lines_keep_everything_out_unless_skipped(project: Project, file: Path) -> None:
    (file.parent / "b.vtt").write_text(VTT.replace("00:02.000 -->", "soon -->"), "utf-8")
    (file.parent / "c.json").write_text("{", "utf-8")
    (file.parent / "salt 1.srt").write_bytes(b"")
    refused = expect_refusal("", imports.run, project, TRANSCRIPTS, [file.parent])
    assert {detail.split(": ")[0] for detail in refused.details} == {"b.vtt", "c.json", "salt 1.srt"}
    assert any("line 6: “soon” is not a time" in detail for detail in refused.details)
    assert items.ids(project) == []
    imports.run(project, TRANSCRIPTS, [file, file.parent / "b.vtt"], skip_bad=True)
    assert sorted(source.text for source in sources_of(project)) == [
        "Ann Lee: Salt is old.", "Ann Lee: Salt is old.\n\nBob: Thank you, Ann Lee.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("words", "language"),
    [
        ("Salt is old.", "en"),
        ("我们想知道为什么检索在长文档上失败。", "zh"),
        ("私たちはなぜ検索が失敗するのかを知りたい。", "ja"),
        ("검색이 왜 실패하는지 알고 싶습니다.", "und"),
    ],
)
def test_the_language_is_that_of_the_script(
    project: Project, tmp_path: Path, words: str, language: str
) -> None:
    (tmp_path / "talk.txt").write_text(f"A: {words}\n\nB: {words}\n", "utf-8")
    imports.run(project, TRANSCRIPTS, [tmp_path / "talk.txt"])
    (item_id,) = items.ids(project)
    assert items.read(project, item_id).language == language


KAE = RunRequest("baseline", "arena.keypoints")
REPORT = "# Audits\n\nSong detectors are audited by hour [1].\n\n1. https://listening.example/audit-2024"
ONE_LEFT_OUT = "1 report on a seminar is left out: a seminar is what tasks are made of, and no task itself."


@pytest.fixture
def answered(tmp_path: Path) -> Project:
    """The sample of a seminar, on which a system wrote and was judged before it was known for one."""
    project = small_sample(tmp_path, "seminar")
    with closing(project):
        shutil.copyfile(project.path, tmp_path / "fresh.goldsmith")
    project = Project.open(project.path)
    items.change(project, items.ids(project)[0], dataset="", question="How are song detectors audited?")
    add_report(project, items.ids(project)[0], "Pendrel", REPORT)
    for order in (RunRequest("baseline", f"{KAE.protocol}.extract"), KAE):
        asyncio.run(orders.carry_out(project, order))
    return project


def test_a_role_is_what_the_file_tells(project: Project, file: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file])
    for more in ({"dataset": seminars.DATASET}, {}, {"key": "t", "made_from": "t1"}):
        items.add(project, "What is salt?", more=more)
    add_report(project, items.ids(project)[2], "Written by people", mode="exemplar")
    assert [items.of(project, one) for one in items.ids(project)] == ["seminar", "question", "paper", "task"]
    for key, kind in (("salt 1", Kind.CHECKLIST), ("t", Kind.TASKS)):
        expect_refusal(
            f"Item {key} is a (seminar|task): “{kind.title()}” is not written",
            items.refuse_kind,
            project,
            [key],
            kind,
        )


def test_reports_on_a_seminar_are_kept_and_told_and_enter_nothing(
    answered: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(project: Project, *words: str) -> dict:
        run_command([words[0], str(project.path), *words[1:], "--json"])
        return json.loads(capsys.readouterr().out)

    with_it, without = (
        told(one, "results", "--view", "arena")["sheets"][0]["rows"]
        for one in (answered, Project.open(tmp_path / "fresh.goldsmith"))
    )
    assert with_it != without
    items.change(answered, items.ids(answered)[0], dataset=seminars.DATASET)
    (after,), counted = told(answered, "results", "--view", "arena")["sheets"], told(answered, "info")
    assert after["rows"] == without
    assert after["told"].count(ONE_LEFT_OUT) == told(answered, "results")["told"].count(ONE_LEFT_OUT) == 1
    assert (counted["roles"], counted["responses"], counted["left_out"]) == ({"seminar": 1, "task": 5}, 11, 1)
    assert [(line.role, line.responses) for line in items.lines(answered, items.ids(answered))] == [
        ("seminar", 0), *[("task", 2)] * 5,
    ]  # fmt: skip
    assert ONE_LEFT_OUT in releases.export(answered, tmp_path / "out").notes
    assert f"| seminar | 1 | 16.7 % |\n| task | 5 | 83.3 % |\n\n{ONE_LEFT_OUT}" in (
        tmp_path / "out" / "README.md"
    ).read_text("utf-8")


def test_nothing_about_a_seminar_is_judged_or_labelled(answered: Project) -> None:
    assert judge_runs.look(answered, KAE).total > 45
    items.change(answered, items.ids(answered)[0], dataset=seminars.DATASET)
    plan, estimate = judge_runs.look(answered, KAE), asyncio.run(orders.foreseen(answered, KAE))
    assert (plan.total, plan.words.endswith(ONE_LEFT_OUT), estimate.total, estimate.words()[-1]) == (
        45, True, 45, ONE_LEFT_OUT,
    )  # fmt: skip
    assert judge_runs.look(
        answered, RunRequest("baseline", KAE.protocol, items=("listening-to-birds",))
    ).words.startswith("Item listening-to-birds is a seminar: a ")
    assert {offer.items for offer in judge_runs.offers(answered)} == {5}
    assert len(labels.queue(answered, KAE.protocol)) == 10
    sql.alter(answered, "DELETE FROM extract WHERE item_id != ?", items.ids(answered)[:1])
    assert KAE.protocol not in label_cases.offered(answered)


TALK = """WEBVTT

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
def salted(tmp_path: Path) -> Project:
    salted = Project.create(tmp_path / "p.goldsmith")
    (tmp_path / "salt.vtt").write_text(TALK, "utf-8")
    imports.run(salted, imports.TRANSCRIPTS, [tmp_path / "salt.vtt"])
    return salted


def working_as(salted: Project, name: str, role: Role) -> None:
    salted.person = people.known(salted, people.add_person(salted, name, (role,)).subject)


def source_id(salted: Project) -> str:
    (line,) = seminars.lines(salted)
    return line.source_id


def text_of(salted: Project) -> str:
    return seminars.opened(salted, source_id(salted)).source.text


def span(words: str, within: str = TEXT) -> tuple[int, int]:
    return within.index(words), within.index(words) + len(words)


def test_a_corrected_word_keeps_the_original_in_the_history_and_segments_follow_it(salted: Project) -> None:
    seminars.correct(salted, source_id(salted), *span("very"), "terribly")
    result = seminars.opened(salted, source_id(salted))
    assert result.source.text == TEXT.replace("very", "terribly")
    assert of_source(result.source) == result.transcript
    said = [result.source.text[segment.first : segment.last] for segment in result.transcript.segments]
    assert said == ["Salt is terribly old.", "Off the record, my boss is a fool.", "Salt is cheap."]
    (act,) = result.history
    assert (act.verb, act.before, act.after) == (
        "correct words",
        "Salt is very old.",
        "Salt is terribly old.",
    )
    assert checking.check(salted).problems == []
    seen = undo_places.seen(salted, history.undo(salted))
    assert (seen.words, seen.page, seen.place) == ("correct words", "Material", {"part": "Transcripts"})
    assert text_of(salted) == TEXT
    assert seminars.opened(salted, source_id(salted)).history[0].undone
    history.redo(salted)
    assert text_of(salted) == TEXT.replace("very", "terribly")
    expect_refusal("There is no such transcript", seminars.opened, salted, "gone")


def test_what_is_left_out_is_nowhere_but_here(salted: Project, tmp_path: Path) -> None:
    seminars.leave_out(salted, source_id(salted), *span(SECRET))
    (source,) = items.sources(salted, items.ids(salted)[0])
    assert source.text == TEXT.replace(f"{SECRET}.", f"{LEFT_OUT}.")
    assert all(SECRET not in piece.text and LEFT_OUT not in piece.text for piece in pieces(source))
    releases.export(salted, tmp_path / "out", "goldsmith")
    released = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert SECRET.encode() not in released
    assert LEFT_OUT.encode() in released


def test_a_passage_is_taken_back_after_other_corrections(salted: Project) -> None:
    seminars.leave_out(salted, source_id(salted), *span(SECRET))
    seminars.correct(salted, source_id(salted), *span("very"), "terribly")
    expect_refusal("Nothing is left out here", seminars.take_back, salted, source_id(salted), 0)
    seminars.take_back(salted, source_id(salted), text_of(salted).index(LEFT_OUT))
    assert text_of(salted) == TEXT.replace("very", "terribly")
    verbs = [act.verb for act in seminars.opened(salted, source_id(salted)).history]
    assert verbs == ["take passage back", "correct words", "leave out passage"]


def test_speakers_are_merged_and_named_anew(salted: Project) -> None:
    seminars.rename(salted, source_id(salted), {"ann lee": "Ann Lee"})
    assert text_of(salted) == TEXT.replace("ann lee", "Ann Lee")
    seminars.pseudonyms(salted, source_id(salted))
    assert text_of(salted) == TEXT.replace("ann lee", "S1").replace("Ann Lee", "S1").replace("Bob", "S2")
    assert salted.get(seminars.NAMES + source_id(salted)) == {"S1": "Ann Lee", "S2": "Bob"}
    history.undo(salted)
    history.undo(salted)
    assert text_of(salted) == TEXT
    expect_refusal(
        "cannot be a speaker's name", seminars.rename, salted, source_id(salted), {"Bob": "Bob: x"}
    )


def quoting(salted: Project, *quotes: str) -> None:
    item_id, source = items.ids(salted)[0], source_id(salted)
    units = tuple(
        Insight(text=f"about {quote}", anchor=Anchor.at(TEXT, *span(quote), source)) for quote in quotes
    )
    artifacts.start(salted, item_id, Kind.INSIGHTS, Insights(units=units))


def test_quotations_that_no_longer_stand_are_named(salted: Project) -> None:
    working_as(salted, "Ida", Role.COORDINATOR)
    quoting(salted, "Salt is cheap", "the record, my boss")
    kept = seminars.correct(salted, source_id(salted), *span("very"), "terribly, awfully")
    assert kept.after["lost"] == []
    lost = seminars.leave_out(salted, source_id(salted), *span(SECRET, text_of(salted)))
    assert lost.after["lost"] == ["the record, my boss"]


def test_a_change_that_was_overtaken_is_not_undone(salted: Project) -> None:
    seminars.correct(salted, source_id(salted), *span("very"), "terribly")
    other = Project.open(salted.path)
    working_as(other, "Ida", Role.COORDINATOR)
    seminars.correct(other, source_id(other), *span("terribly", text_of(other)), "awfully")
    expect_refusal("changed since", history.undo, salted)
    assert text_of(salted) == TEXT.replace("very", "awfully")


def test_only_a_coordinator_corrects(salted: Project) -> None:
    working_as(salted, "Ann", Role.ANNOTATOR)
    for act in (
        lambda: seminars.correct(salted, "x", 0, 1, "x"),
        lambda: seminars.lines(salted),
        lambda: seminars.pseudonyms(salted, "x"),
    ):
        expect_refusal("Only a coordinator", act)
