"""A seminar by keyboard, from its transcript to a leaderboard and a release, judged by a model server."""

import asyncio
import csv
import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.authoring import annotating
from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.imports import imports
from annotator.actions.items import items, pages
from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.results import overview
from annotator.cli import run_command
from annotator.domain.kinds.artifact import Kind, stage_of
from annotator.gui.pages.material.parts_view import Drawable
from annotator.gui.shell.window import Window
from tests.projects import pairs_project as pairs
from tests.projects.labelling_project import add_report
from tests.storage import sql
from tests.windows.judges_window import choose
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle as wait
from tests.windows.story_hands import opened, settle, submit, window_of

MODEL = "mock"
OPEN = "The blind zone around the epicentre is still an unsolved problem for every network."
NEW = "We propose a new framework that listens to the motion sensors of phones near the fault."
TALK = (
    "WEBVTT\n\n00:00:01.000 --> 00:00:06.000\n<v Ann>Good morning to all of you on this fine day.\n\n"
    f"00:00:06.500 --> 00:00:14.000\n<v Ben>{OPEN}\n\n00:00:14.500 --> 00:00:22.000\n<v Ann>{NEW}\n"
)
LEADS = (
    ("Every network of stations leaves a blind zone around the epicentre.", "Alt+1"),
    ("Phones near the fault can listen with their motion sensors.", "Alt+2"),
)
FAMILIES = ("Literature Survey", "Trend", "Hypothesis", "Prototype", "Comparative")
TASK = "Write a {} of blind zones near epicentres and deliver a table with its sources."
ADDRESS = {"Pendrel": "https://a.example/zones", "Quarrow": "https://b.example/phones"}
PAGE = {
    "Pendrel": "The blind zone has a radius of thirty kilometres. Denser stations shrink the blind zone.",
    "Quarrow": "Phones near epicentres fill the blind zones with noise. Phones hear motion within seconds.",
}
REPORT = {
    "Pendrel": "# Zones\n\nThe blind zone has a radius of thirty kilometres [1].\n\n[1] https://a.example/zones\n",
    "Quarrow": "# Phones\n\nNothing is known of it [1].\n\n[1] https://b.example/phones\n",
}
POINTS = (("Coverage of stations", 5), ("Role of phones", 3), ("Limits of warnings", 2))
SCORES = {"clarity": 4, "actionability": 4, "novelty": 3, "depth_fit": 4, "consistency": 5}
LEAD = {"quotes": [OPEN], "text": OPEN, "type": "limitation", "qualities": ["challenge", "explorability"]}
JUDGED = {"quote": "", "rationale": "So."}
SAYS: dict[str, Any] = {
    "inspirations": {"inspirations": [LEAD]},
    "contest": {
        "first": SCORES, "second": {**SCORES, "novelty": 1}, "reason": "So.", "better": "first", "confidence": 0.8,
    },
    "arena.keypoints.extract": {
        "points": [{"spans": ["Denser stations shrink the blind zone."], "text": "Denser stations shrink it."}]
    },
    "arena.keypoints": {**JUDGED, "aspects": [], "relation": "contradicts", "confidence": 0.9},
    "arena.keypoints.common": {**JUDGED, "aspects": [], "relation": "omits", "confidence": 0.9},
    "arena.checklist": {**JUDGED, "rating": 6},
}  # fmt: skip


class Story:
    """A project on disk, and who stands in for the models."""

    def __init__(self, path: Path, judge: str, server: LLMock, qtbot: Any) -> None:
        self.path, self.judge, self.server, self.qtbot = path, judge, server, qtbot

    def will_say(self, what: str) -> None:
        self.server.reset()
        self.server.reply(json.dumps(SAYS[what]), times=None)

    def item(self, key: str) -> str:
        with opened(self.path, "Cora") as project:
            return items.ids_of(project, [key])[0]


@pytest.fixture
def story(tmp_path: Path, qtbot, llmock: LLMock) -> Story:
    project = pairs.pairs_project(tmp_path, 0)
    judges.add(project, MODEL, base_url=llmock.base_url(), model="gpt-4o-mini")
    project.close()
    return Story(project.path, MODEL, llmock, qtbot)


def transcript_comes_in(story: Story, talk: Path) -> None:
    with window_of(story.path, "Cora", story.qtbot) as window:
        page = window.show_page("Import")
        choose(page.format, imports.TRANSCRIPTS)
        page.look_at([talk])
        story.qtbot.waitUntil(page.go.isEnabled)
        page.go.setFocus()
        press("Space")
        story.qtbot.waitUntil(lambda: "The import is done" in window.messages.text())


def leads_are_drafted(story: Story, seminar: str) -> None:
    """Ada takes what the judge drafts; nothing enters before a key takes it."""
    story.will_say("inspirations")
    with window_of(story.path, "Ada", story.qtbot) as window:
        page = window.show_page("Author", item_id=seminar, kind=Kind.INSPIRATIONS.value)
        press("F8")
        panel = page.side.draft
        choose(panel.asking.judge, story.judge)
        with story.qtbot.waitSignal(panel.asking.came, timeout=30_000):
            press("Ctrl+Shift+D")
        assert len(panel.cards) == 1
        press("Ctrl+T")
        submit(page)


def leads_are_written(story: Story, seminar: str) -> None:
    with window_of(story.path, "Ben", story.qtbot) as window:
        page = window.show_page("Author", item_id=seminar, kind=Kind.INSPIRATIONS.value)
        press("Space")
        for number, (words, kind) in enumerate(LEADS):
            if number:
                press("Ctrl+N")
            type_words(words)
            press(kind)
        submit(page)


def tasks_are_written(story: Story, seminar: str) -> None:
    """Both write one task of each of five families; the words of the last differ."""
    for name in ("Ada", "Ben"):
        with window_of(story.path, name, story.qtbot) as window:
            page = window.show_page("Author", item_id=seminar, kind=Kind.TASKS.value)
            press("Space")
            for number, family in enumerate(FAMILIES):
                if number:
                    press("Ctrl+N")
                last = f" For {name}." if number == len(FAMILIES) - 1 else ""
                type_words(TASK.format(family.lower()) + last)
                fields = page.sheet.form.current.fields
                fields["family"].enter()
                type_words(family)
                press("Return")
                fields["difficulty"].enter()
                press("1")
                fields["inspirations"].menu().actions()[0].trigger()
            submit(page)


def contest_is_held(story: Story) -> None:
    """The judge compares two rounds; Ada prefers the first of each pair that she is shown, and takes one back."""
    story.will_say("contest")
    with window_of(story.path, "Cora", story.qtbot) as window:
        page = window.show_page("Contest", part="Compare")
        part = page.comparing
        choose(part.judge, judges.named(window.session.project, story.judge).id)
        with story.qtbot.waitSignal(part.run.ended, timeout=60_000):
            press("Ctrl+Shift+Return")
        wait(page)
        assert "All rounds are held" in part.answer.text()
    with window_of(story.path, "Ada", story.qtbot) as window:
        page = window.show_page("Contest")
        page.focus_first()
        press("4")
        press("Ctrl+Backspace")
        while page.ranking.told.isHidden() and page.ranking.stack.currentIndex() == 0:
            press("4")
        assert not any(map(page.tabs.isTabVisible, (1, 2)))
    with opened(story.path, "Cora") as project:
        tasks = {task.id for one in contest_standings.settled(project).values() for task in one}
        judge, ada = contest_rows.raters(project)
        assert contest_rows.pairs(project, tasks, rater=judge.id) == contest_rows.pairs(
            project, tasks, rater=ada.id
        )
        for rater in (judge, ada):
            ranking = contest_standings.report(project, rater.name, "1", 10).ranking
            assert sum(row.elo for row in ranking.rows) == pytest.approx(1200 * len(FAMILIES), abs=1e-9)


def best_is_kept(story: Story) -> str:
    """Cora keeps the first of the standings and holds the second back; the key of the new item."""
    with window_of(story.path, "Cora", story.qtbot) as window:
        page = window.show_page("Contest", part="Keep")
        wait(page)
        page.focus_first()
        for key in ("Ctrl+T", "Down", "Ctrl+L"):
            press(key)
        type_words("Needs a licence")
        press("Return")
        project = window.session.project
        best, second, *_ = page.keeping.found.ranking.rows
        decided = page.keeping.found.decided
        assert (decided[best.id].kept, decided[second.id].reason) == (True, "Needs a licence")
        ((task, item_id),) = contest_standings.made(project).items()
        made = items.read(project, item_id)
        assert (task, made.made_from, made.origin, made.dataset) == (best.id, best.id, "s012", "")
        assert items.count(project) == 2
        return made.key


def reports_come_in(story: Story, item_id: str, folder: Path) -> None:
    with opened(story.path, "Cora") as project:
        for system, text in REPORT.items():
            add_report(project, item_id, system, text)
        folder.mkdir()
        lines = [("url", "file")]
        for system, text in PAGE.items():
            (folder / f"{system}.txt").write_text(text, "utf-8")
            lines.append((ADDRESS[system], f"{system}.txt"))
        with (folder / "pages.csv").open("w", encoding="utf-8", newline="") as file:
            csv.writer(file).writerows(lines)
        assert set(pages.given(project)) == set(ADDRESS.values())
        asyncio.run(pages.import_folder(project, folder))


def checklist_is_written(story: Story, item_id: str) -> None:
    with window_of(story.path, "Cora", story.qtbot) as window:
        page = window.show_page("Author", item_id=item_id, kind=Kind.CHECKLIST.value)
        press("Space")
        for number, (words, _) in enumerate(POINTS):
            if number:
                press("Ctrl+N")
            type_words(words)
        for editor, (_, tenths) in zip(page.sheet.form.editors, POINTS, strict=True):
            editor.fields["share"].enter()
            press("Ctrl+A")
            type_words(f"0.{tenths}")
        submit(page)


def judged(story: Story, window: Window, what: str) -> None:
    """On the Judges page: choose who judges and what, and start by key."""
    story.will_say(what)
    page = window.show_page("Judges", part="Runs")
    wait(page)
    choose(page.running.form.judge, story.judge)
    choose(page.running.form.what, what)
    wait(page)
    with story.qtbot.waitSignal(page.driver.ended, timeout=60_000):
        press("Ctrl+Return")
    wait(page)


def points_are_accepted(story: Story, item_id: str) -> None:
    """Every key point of both reports is accepted by its key, and their common pool is frozen."""
    with window_of(story.path, "Cora", story.qtbot) as window:
        page = window.show_page("Material", part="Extracts")
        wait(page)
        page.parts.kinds.hold(Drawable.KEYPOINTS)
        wait(page)
        assert page.parts.model.rowCount() == len(REPORT)
        for row in range(len(REPORT)):
            page.parts.list.setFocus()
            press("Down", min(row, 1))
            wait(page)
            press("Alt+C")
            wait(page)
        page.parts.kinds.hold(Drawable.POOL)
        wait(page)
        page.parts.list.setFocus()
        press("Down")
        wait(page)
        press("Alt+C")
        wait(page)
        assert page.parts.editor.model.rowCount() >= 1


def said(project: Project, protocol: str) -> dict[str, Counter[str]]:
    """What the stored verdicts say, counted by system; of a checklist's points each by its share."""
    rows = sql.rows(
        project,
        "SELECT s.name, j.unit_id, j.value FROM judgement j JOIN response r ON r.id = j.response_id "
        f"JOIN system s ON s.id = r.system_id WHERE j.protocol = '{protocol}'",
    )
    points = next(
        one.document.units
        for item_id in contest_standings.made(project).values()
        for one in annotating.artifacts_of(project, item_id)
        if one.kind is Kind.CHECKLIST
    )
    shares = {unit.id: share / 10 for unit, (_, share) in zip(points, POINTS, strict=True)}
    result: dict[str, Counter[str]] = {system: Counter() for system in REPORT}
    for system, unit, value in rows:
        result[system][value] += shares.get(unit, 1)
    return result


def counted(project: Project) -> dict[tuple[str, str], float | None]:
    """The figures by hand: shares of relations, and ratings weighted by the shares of their points."""
    result: dict[tuple[str, str], float | None] = {}
    for ending, protocol in (("", "arena.keypoints"), (".common", "arena.keypoints.common")):
        for system, of in said(project, protocol).items():
            for name, relation in (("ksr", "supports"), ("kcr", "contradicts"), ("kor", "omits")):
                result[name + ending, system] = of[relation] / of.total() if of else None
    for system, of in said(project, "arena.checklist").items():
        result["ace", system] = sum(int(value) * share for value, share in of.items())
    return result


def figures(project: Project) -> dict[tuple[str, str], float | None]:
    rows = overview.everything(project)
    return {(row.metric, row.system): row.estimate.value for row in rows if row.group == "all"}


def leaderboard_is_read(
    story: Story, capsys: pytest.CaptureFixture[str]
) -> dict[tuple[str, str], float | None]:
    """The figures in the window, of the program and by hand are the same."""
    with window_of(story.path, "Cora", story.qtbot) as window:
        window.show_page("Results", view="overview")
        page = window.page.viewer
        story.qtbot.waitUntil(lambda: page.body.currentWidget() is page.view)
        wait(window.page)
        heads = [column.title for column in page.view.model.whole.columns]
        assert {"ACE", "KSR", "KSR (common pool)", "References"} <= set(heads)
        assert not [head for head in heads if "eak" in head or "Coverage" in head]
        project = window.session.project
        result, by_hand = figures(project), counted(project)
        for place, value in by_hand.items():
            assert result[place] == (None if value is None else pytest.approx(value)), place
        rates = [value for (name, _), value in by_hand.items() if name != "ace"]
        assert all(0 <= value <= 1 for value in rates if value is not None)
        ace = heads.index("ACE")
        shown = {line.cells[0].words: line.cells[ace].value for line in page.view.model.whole.lines}
        assert shown == {system: pytest.approx(by_hand["ace", system]) for system in REPORT}
    capsys.readouterr()
    assert run_command(["results", str(story.path), "--view", "arena", "--json"]) == 0
    (table, *_) = json.loads(capsys.readouterr().out)["sheets"]
    assert {row["system"] for row in table["rows"]} == set(REPORT)
    return by_hand


def release_leaves_and_comes_back(story: Story, key: str, folder: Path) -> None:
    """The release has the kept task with where it is from; a new project made of it has the same figures."""
    with window_of(story.path, "Cora", story.qtbot) as window:
        page = window.show_page("Release")
        page.with_pages.setChecked(True)
        page.write_to(folder / "out")
        story.qtbot.waitUntil(lambda: "Wrote" in page.answer.text())
        mine, made = figures(window.session.project), contest_standings.made(window.session.project)
    released = {load["key"]: load for load in json.loads((folder / "out" / "items.json").read_text("utf-8"))}
    (task,) = made
    assert (released[key]["made_from"], released[key]["origin"]) == (task, "s012")
    tasks = json.loads((folder / "out" / "artifacts" / "tasks.json").read_text("utf-8"))
    assert any(unit["id"] == task for one in tasks for unit in one["document"]["units"])
    other = new_project(folder / "other.goldsmith")
    imports.run(other, "goldsmith", [folder / "out"])
    assert contest_standings.made(other) == made
    assert figures(other) == mine
    other.close()


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_seminar_becomes_a_leaderboard(
    story: Story, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    talk = tmp_path / "s012.vtt"
    talk.write_text(TALK, "utf-8")
    transcript_comes_in(story, talk)
    seminar = story.item("s012")
    leads_are_drafted(story, seminar)
    leads_are_written(story, seminar)
    with window_of(story.path, "Cleo", story.qtbot) as window:
        settle(window, seminar, stage_of(Kind.INSPIRATIONS), story.qtbot)
    tasks_are_written(story, seminar)
    with window_of(story.path, "Cleo", story.qtbot) as window:
        settle(window, seminar, stage_of(Kind.TASKS), story.qtbot)
    with opened(story.path, "Cora") as project:
        assert len(contest_standings.settled(project)[seminar]) == len(FAMILIES)
    contest_is_held(story)
    key = best_is_kept(story)
    item_id = story.item(key)
    reports_come_in(story, item_id, tmp_path / "pages")
    checklist_is_written(story, item_id)
    with window_of(story.path, "Cora", story.qtbot) as window:
        judged(story, window, "arena.keypoints.extract")
    points_are_accepted(story, item_id)
    with window_of(story.path, "Cora", story.qtbot) as window:
        for what in ("arena.keypoints", "arena.keypoints.common", "arena.checklist"):
            judged(story, window, what)
    by_hand = leaderboard_is_read(story, capsys)
    assert {system: by_hand["ksr", system] for system in REPORT} == {"Pendrel": 0.0, "Quarrow": None}
    release_leaves_and_comes_back(story, key, tmp_path)
