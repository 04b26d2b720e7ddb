"""Transcripts come in as seminars: previewed, whole or not at all, once, with names kept at home. A seminar is a
source: what systems once wrote on one stays in the file and enters nothing.
"""

import asyncio
import json
from pathlib import Path

import pytest

from annotator.actions.imports import imports, samples
from annotator.actions.imports.imports import TRANSCRIPTS, ImportOptions
from annotator.actions.items import items, roles, sources
from annotator.actions.judging import judge_offers, judge_planning
from annotator.actions.labelling import label_offers, label_tasks
from annotator.actions.orders import orders
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.transcripts import seminars
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind
from annotator.domain.material.source import Source, SourceFormat
from annotator.domain.texts.refusal import Refusal
from tests.projects.labelling_project import add_report
from tests.storage import sql

VTT = """WEBVTT

00:01.000 --> 00:02.000
<v Ann Lee>Salt is old.

00:02.000 --> 00:04.000
<v Bob>Thank you, Ann Lee.
"""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project.create(tmp_path / "p.goldsmith")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "talks" / "salt 1.vtt"
    path.parent.mkdir()
    path.write_text(VTT, "utf-8")
    return path


def sources_of(project: Project) -> list[Source]:
    return [source for item in items.ids(project) for source in sources.sources(project, item)]


def test_a_seminar_is_an_item_with_its_transcript(project: Project, file: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file])
    (item_id,) = items.ids(project)
    item = items.read(project, item_id)
    assert (item.key, item.dataset, item.question) == ("salt 1", seminars.DATASET, "salt 1")
    (source,) = sources.sources(project, item_id)
    assert source.format is SourceFormat.TRANSCRIPT
    assert source.text == "Ann Lee: Salt is old.\n\nBob: Thank you, Ann Lee."
    assert checking.check(project).problems == []


def test_a_second_import_adds_nothing_whatever_was_changed_since(project: Project, file: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file.parent])
    (item_id,) = items.ids(project)
    items.change(project, item_id, subject="Chemistry")
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


def test_a_release_brings_the_times_along(project: Project, file: Path, tmp_path: Path) -> None:
    imports.run(project, TRANSCRIPTS, [file])
    releases.export(project, tmp_path / "out", "goldsmith")
    other = Project.create(tmp_path / "other.goldsmith")
    imports.run(other, imports.GOLDSMITH, [tmp_path / "out"])
    assert sources_of(other) == sources_of(project)


def test_bad_lines_keep_everything_out_unless_skipped(project: Project, file: Path) -> None:
    (file.parent / "b.vtt").write_text(VTT.replace("00:02.000 -->", "soon -->"), "utf-8")
    (file.parent / "c.json").write_text("{", "utf-8")
    (file.parent / "salt 1.srt").write_bytes(b"")
    with pytest.raises(Refusal) as refused:
        imports.run(project, TRANSCRIPTS, [file.parent])
    told = {one.split(": ")[0] for one in refused.value.details}
    assert told == {"b.vtt", "c.json", "salt 1.srt"}
    assert any("line 6: “soon” is not a time" in one for one in refused.value.details)
    assert items.ids(project) == []
    imports.run(project, TRANSCRIPTS, [file, file.parent / "b.vtt"], skip_bad=True)
    assert sorted(source.text for source in sources_of(project)) == [
        "Ann Lee: Salt is old.", "Ann Lee: Salt is old.\n\nBob: Thank you, Ann Lee.",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.vtt", b""),
        ("a.docx", b"PK\x03\x04"),
        ("a.pdf", b"no pdf"),
        ("a.txt", b"\x00\x01\x02"),
        ("a.exe", b"MZ"),
    ],
)
def test_hostile_files_leave_nothing(project: Project, tmp_path: Path, name: str, content: bytes) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(Refusal, match="Nothing was imported"):
        imports.run(project, TRANSCRIPTS, [tmp_path / name])
    assert items.ids(project) == []


def test_a_folder_without_transcripts_is_refused(project: Project, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(Refusal, match="There is no transcript"):
        imports.preview(project, TRANSCRIPTS, [tmp_path / "empty"])


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
LEFT_OUT = "1 report on a seminar is left out: a seminar is what tasks are made of, and no task itself."


@pytest.fixture
def answered(tmp_path: Path) -> Project:
    """The sample of a seminar, on which a system wrote and was judged before it was known for one."""
    project = samples.create_small(tmp_path / "s.goldsmith", samples.SEMINAR)
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
    assert [roles.of(project, one) for one in items.ids(project)] == ["seminar", "question", "paper", "task"]
    for key, kind in (("salt 1", Kind.CHECKLIST), ("t", Kind.TASKS)):
        with pytest.raises(Refusal, match=f"Item {key} is a (seminar|task): “{kind.title()}” is not written"):
            roles.refuse_kind(project, [key], kind)


def test_reports_on_a_seminar_are_kept_and_told_and_enter_nothing(
    answered: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def told(project: Project, *words: str) -> dict:
        run_command([words[0], str(project.path), *words[1:], "--json"])
        return json.loads(capsys.readouterr().out)

    with_it, without = (
        told(one, "results", "--view", "arena")["sheets"][0]["rows"]
        for one in (answered, samples.create_small(tmp_path / "fresh.goldsmith", samples.SEMINAR))
    )
    assert with_it != without
    items.change(answered, items.ids(answered)[0], dataset=seminars.DATASET)
    (after,), counted = told(answered, "results", "--view", "arena")["sheets"], told(answered, "info")
    assert after["rows"] == without
    assert after["told"].count(LEFT_OUT) == told(answered, "results")["told"].count(LEFT_OUT) == 1
    assert (counted["roles"], counted["responses"], counted["left_out"]) == ({"seminar": 1, "task": 1}, 3, 1)
    assert [(one.role, one.responses) for one in items.lines(answered, items.ids(answered))] == [
        ("seminar", 0), ("task", 2),
    ]  # fmt: skip
    assert LEFT_OUT in releases.export(answered, tmp_path / "out").notes
    assert f"| seminar | 1 | 50.0 % |\n| task | 1 | 50.0 % |\n\n{LEFT_OUT}" in (
        tmp_path / "out" / "data_card.md"
    ).read_text("utf-8")


def test_nothing_about_a_seminar_is_judged_or_labelled(answered: Project) -> None:
    assert judge_planning.look(answered, KAE).total > 12
    items.change(answered, items.ids(answered)[0], dataset=seminars.DATASET)
    plan, estimate = judge_planning.look(answered, KAE), asyncio.run(orders.foreseen(answered, KAE))
    assert (plan.total, plan.words.endswith(LEFT_OUT), estimate.total, estimate.words()[-1]) == (
        12, True, 12, LEFT_OUT,
    )  # fmt: skip
    assert judge_planning.look(
        answered, RunRequest("baseline", KAE.protocol, items=("listening-to-birds",))
    ).words.startswith("Item listening-to-birds is a seminar: a ")
    assert {one.items for one in judge_offers.offers(answered)} == {1}
    assert len(label_tasks.queue(answered, KAE.protocol)) == 2
    sql.alter(answered, "DELETE FROM extract WHERE item_id = ?", items.ids(answered)[1:])
    assert KAE.protocol not in label_offers.offered(answered)
