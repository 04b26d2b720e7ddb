"""How many acts the ways of a day take (clicks, drops, keys, fields typed), and a newcomer's first minute."""

import re
import shutil
from contextlib import closing

import pytest
from PySide6.QtCore import QSettings, Qt, QTimer
from PySide6.QtGui import QDragEnterEvent, QDropEvent, QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractButton,
    QApplication,
    QFileDialog,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QPushButton,
    QWidget,
)

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import final_pass
from annotator.actions.assignments import assignments
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.contests import contest_standings
from annotator.actions.items import items
from annotator.actions.parcels import tasking, tray
from annotator.actions.project import people
from annotator.actions.releases import releases
from annotator.actions.runs import run_records
from annotator.domain.experts.publication import CHECKS, NEEDED
from annotator.domain.kinds.kind import Kind, Reason, Role, Stage, State
from annotator.gui.shell.start import Goldsmith
from annotator.gui.shell.window import Window
from annotator.places import resources
from tests import common
from tests.gui.authoring.test_author_typing import dragged
from tests.material.bundles import found
from tests.projects.pairs_project import annotators, coordinated, returned
from tests.projects.small_projects import labelling_project
from tests.servers.rule_model import going_by_rules
from tests.storage import sql
from tests.windows.judges_window import choose
from tests.windows.using import Typed, be_active, drop, in_view, press, settle

SOURCE = "Shade lowers what people feel by ten degrees.\n\nThe air itself is hardly one degree cooler.\n"
CRITERIA = (
    ("Explains that people feel the shade, not cooler air", 3),
    ("States by how many degrees shade lowers what is felt", 3),
    ("Says how little the air itself cools down", 2),
    ("Names what a tree needs to keep cooling", 2),
    ("Mentions what the planting costs", 1),
)

# Of each talk what nobody knows, and what is proposed.
TALKS = (
    ("how often song detectors fail in the rain of early spring", "listens twice to the same hour of dawn"),
    ("why night trains lose an hour at the same border", "counts sleepers by the weight of a carriage"),
    ("which street trees survive a third dry summer", "waters one tree in four from a roof"),
    ("where old batteries of buses end after ten winters", "reads a battery through its charging noise"),
    ("when river gauges drift after a flood", "lets two gauges check one another by radio"),
    ("whom school bells wake on Saturdays", "asks pupils to note the first sound of a day"),
)


class Hands:
    """Keys, clicks and typing, each counted as one act."""

    def __init__(self) -> None:
        self.acts = 0

    def press(self, *keys: str | int) -> None:
        press(*keys)
        self.acts += sum(key - 1 if isinstance(key, int) else 1 for key in keys)

    def does(self, act, *given) -> None:
        act(*given)
        self.acts += 1


@pytest.fixture
def program(qapp, qtbot, tmp_path, monkeypatch):
    qapp.setOrganizationName("goldsmith")
    qapp.setApplicationName("goldsmith-acts")
    QSettings().clear()
    monkeypatch.setattr("annotator.gui.shell.navigation.user_data", lambda: tmp_path)
    goldsmith = Goldsmith(qapp)
    be_active(goldsmith.show(None), qtbot)
    yield goldsmith
    goldsmith.close()
    QSettings().clear()


@pytest.fixture
def opened(qapp, qtbot):
    def opens(project, page):
        window = Window(project, page)
        window.show()
        return be_active(window, qtbot)

    return opens


def test_a_professor_writes_five_criteria_with_weights_and_a_quote(program, qtbot, tmp_path):
    hands = Hands()
    window = _begun(program, hands, qtbot, "climate")
    hands.press("Ctrl+1", "Ctrl+N", Typed("How far do street trees lower summer heat?"), "Ctrl+Return")
    hands.press("Ctrl+2")
    page = window.page
    qtbot.waitUntil(lambda: page.item is not None)
    (tmp_path / "shade.md").write_text(SOURCE, "utf-8")
    dragged(page.source, QDragEnterEvent, tmp_path / "shade.md")
    hands.does(dragged, page.source, QDropEvent, tmp_path / "shade.md")
    for number, (words, weight) in enumerate(CRITERIA):
        if number == 0:
            hands.press("Ctrl+N")
        hands.press(Typed(words))
        if weight != 2:
            hands.press(f"Alt+{weight}")
        if number < len(CRITERIA) - 1:
            hands.press("Return")
    hands.press("Ctrl+F", Typed("ten degrees"), "Return", "Esc", "Ctrl+E")
    (document,) = artifacts_of(window.session.project, items.ids(window.session.project)[0])
    units = document.document.units
    assert [(unit.text, unit.weight) for unit in units] == list(CRITERIA)
    assert [unit.anchor.quote for unit in units if unit.anchor] == ["ten degrees"]
    assert hands.acts <= 30


def test_a_coordinator_goes_from_files_to_written_tasks_with_three_people_added(
    program, tmp_path, qtbot, monkeypatch
):
    """A new project, twenty questions as a table and two systems' reports on each, to the files of two annotators.

    The adjudicator is asked as well: that task can be written once something is frozen.
    """
    questions = [f"q{n},How is the air of town {n} measured?" for n in range(20)]
    (tmp_path / "questions.csv").write_text("\n".join(["id,question", *questions]), "utf-8")
    for system in ("Alpha", "Beta"):
        (tmp_path / "reports" / system).mkdir(parents=True)
        for n in range(20):
            (tmp_path / f"reports/{system}/q{n}.md").write_text(
                f"# Town {n}\n\nBy {n + 2} stations.\n", "utf-8"
            )
    hands = Hands()
    window = _begun(program, hands, qtbot, "air")
    hands.does(drop, window, tmp_path / "questions.csv")
    hands.does(drop, window, tmp_path / "reports")
    settle(window.page)
    hands.press("Ctrl+Return")
    qtbot.waitUntil(lambda: "The import is done" in window.messages.text())
    hands.does(_button(window.page, "Assign", qtbot).click)
    hands.press(Typed("Ana Silva; Li Wei"), "Tab", Typed("Kofi Mensah"))
    out = window.page.out
    (tmp_path / "tasks").mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path / "tasks"))
    hands.press("Ctrl+Return", 2)
    hands.acts += 1
    qtbot.waitUntil(lambda: len(list((tmp_path / "tasks").iterdir())) == 2)
    assert "60 pieces of work" in out.assigned.text()
    assert hands.acts <= 13


def test_a_coordinator_goes_from_returned_files_to_a_release(tmp_path, opened, qtbot, monkeypatch):
    """Two annotators' work comes in, the adjudicator's task goes out and comes back, and a release is written."""
    study = coordinated(tmp_path / "study")
    work = [
        returned(study, person.id, tmp_path / person.alias, f"Explains what gold is to {person.alias}")
        for person in annotators(study)
    ]
    kofi = people.add_person(study, "Kofi", (Role.ADJUDICATOR,)).subject
    for item_id in items.ids(study):
        assignments.assign_one(study, item_id, kofi, Stage.ADJUDICATION)
    window, hands, out = opened(study, "Home"), Hands(), tmp_path / "out"
    out.mkdir()
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(out))

    hands.does(drop, window, *work)
    _taken_in(window, hands, qtbot)
    hands.press("Alt+Home")
    hands.does(_button(window.page, "Send the task", qtbot).click)
    hands.does(window.page.out.all.click)
    hands.acts += 1
    qtbot.waitUntil(lambda: len(list(out.iterdir())) == 3)
    (task,) = out.glob("*Kofi*")

    with closing(tasking.take_task(task, tmp_path / "kofi.goldsmith").project) as theirs:
        for item_id in items.ids(theirs):
            adjudication = adjudicating.open_(theirs, item_id, Stage.RUBRIC).id
            for row in adjudicating.sheet(theirs, adjudication).rows:
                ruling.rule(theirs, row.ruling.id, next(iter(row.units)), reason=Reason.WORDING)
            ruling.close(theirs, adjudication)
        rulings = tray.work(theirs).path

    hands.does(drop, window, rulings)
    _taken_in(window, hands, qtbot)
    hands.press("Ctrl+9")
    page = window.page
    qtbot.waitUntil(page.write.isEnabled)
    hands.does(page.write.click)
    hands.acts += 1
    qtbot.waitUntil(lambda: (out / "study-goldsmith/manifest.json").is_file())
    assert len((out / "study-goldsmith/data/criteria.jsonl").read_text("utf-8").splitlines()) == 2
    assert hands.acts <= 20


# What a project cannot know, in the order in which it is asked.
ANSWERED = (
    "Reports on five questions, with the criteria that experts hold them to.",
    "CC-BY-4.0",
    "Ada Lovelace, 0000-0002-1825-0097, Analytical Society",
    "ada@example.org",
    "Both hold a doctorate, were paid by the hour, and consented in writing.",
    "To compare systems that write reports.",
    "No personal or sensitive data.",
)


def test_a_publisher_goes_from_a_finished_project_to_a_folder_to_upload(
    tmp_path, sample_file, opened, qtbot, monkeypatch
):
    study = common.opened(shutil.copyfile(sample_file, tmp_path / "study.goldsmith"))
    for item_id in items.ids(study):
        for check in CHECKS:
            final_pass.sign(study, item_id, check, "passed")
    window, hands = opened(study, "Home"), Hands()
    hands.press("Ctrl+9")
    hands.does(_button(window.page, "Answer", qtbot).click)
    for place, words in enumerate(ANSWERED):
        if place:
            hands.press("Tab")
        hands.press(Typed(words))
    use = window.page.metadata.use_all
    qtbot.waitUntil(use.isVisible)
    hands.does(use.click)
    assert releases.open_questions(study) == []
    hands.press("Ctrl+9")
    page = window.page
    qtbot.waitUntil(page.write.isEnabled)
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: str(tmp_path))
    hands.does(page.write.click)
    hands.acts += 1
    out = tmp_path / "study-goldsmith"
    qtbot.waitUntil(lambda: (out / "SHA256SUMS").is_file())
    assert hands.acts <= 20
    assert (len(NEEDED), len(ANSWERED)) == (13, 7)
    # The same once more, refused if anything were open.
    assert releases.export(study, tmp_path / "again", strict=True).number == 1
    assert found(out) == found(tmp_path / "again")


def test_an_endpoint_of_unknown_price_becomes_a_run_within_a_budget(opened, server, qtbot, tmp_path):
    window = opened(labelling_project(tmp_path, criteria=3, reports=2, questions=1), "Items")
    project, hands = window.session.project, Hands()
    _add_endpoint(window, hands, server.url)
    window.page.roster.side.endpoint.prices[0].setFocus()
    hands.acts += 1
    for price in ("0.4", "1.6"):
        hands.press(Typed(price), "Tab")
    hands.press("Ctrl+Return")
    hands.does(window.show_part, "Judges", "Runs")
    running = window.page.running
    settle(window.page)
    hands.does(choose, running.form.judge, "near")
    hands.does(running.form.budget.setValue, 0.5)
    settle(window.page)
    hands.press("Ctrl+Return")
    qtbot.waitUntil(lambda: any(run.state == "done" for run in run_records.runs(project)))
    (run,) = run_records.runs(project)
    assert (run.judged, run.missing) == (6, {})
    assert 0 < run.cost_usd < 0.5
    assert hands.acts <= 20


def test_six_transcripts_become_kept_tasks_with_checklists(tmp_path, opened, qtbot):
    """One person alone: a model drafts, they take or leave each unit; the model ranks, and the best six are kept."""
    talks = [tmp_path / f"talk{n}.txt" for n in range(6)]
    for talk, (open_, new) in zip(talks, TALKS, strict=True):
        talk.write_text(f"Ben: It is unsolved {open_}.\n\nAnn: We propose a method that {new}.\n", "utf-8")
    window, hands = opened(people.new_project(tmp_path / "talks.goldsmith", uses="seminars"), "Home"), Hands()
    project = window.session.project
    with going_by_rules() as server:
        _imported(window, hands, qtbot, *talks)
        _add_endpoint(window, hands, server.url)
        hands.press("Ctrl+2", "F8")
        for step in ("Ctrl+PgDown", "Ctrl+PgUp"):
            _drafted(window, hands, qtbot, len(talks), step)
            hands.press("Ctrl+Tab")
        hands.does(window.show_part, "Contest", "Compare")
        with qtbot.waitSignal(window.page.comparing.run.ended, timeout=120_000):
            hands.press("Ctrl+Shift+Return")
        hands.press("Alt+Home")
        hands.does(_button(window.page, "Keep tasks", qtbot).click)
        settle(window.page)
        hands.does(window.page.keeping.top.setValue, 6)
        hands.does(window.page.keeping.of_one.setValue, 1)
        settle(window.page)
        hands.press("Ctrl+Shift+K")
        qtbot.waitUntil(lambda: len(contest_standings.made(project)) == 6)
        hands.does(_button(window.page, "Write for them", qtbot).click)
        settle(window.page)
        _drafted(window, hands, qtbot, 6, "Ctrl+PgDown")
    made = [artifacts_of(project, item_id) for item_id in contest_standings.made(project).values()]
    assert [[(one.kind, one.state) for one in of_task] for of_task in made] == [
        [(Kind.CHECKLIST, State.SEALED)]
    ] * 6
    assert hands.acts <= 135


def test_ten_papers_become_the_table_of_deepscholar(tmp_path, opened, qtbot, monkeypatch):
    folder = _ten_papers(tmp_path / "papers")
    window, hands = (
        opened(people.new_project(tmp_path / "papers.goldsmith", uses="related-work"), "Home"),
        Hands(),
    )
    _imported(window, hands, qtbot, folder / "deepscholar")
    hands.does(window.show_part, "Material", "Sources")
    works = window.page.sources.works
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(folder / "works.csv"), ""))
    with going_by_rules() as server:
        hands.does(works.file.click)
        hands.acts += 2
        settle(window.page)
        _add_endpoint(window, hands, server.url)
        hands.does(window.show_part, "Judges", "Runs")
        form = window.page.running.form
        settle(window.page)
        hands.does(choose, form.judge, "near")
        settle(window.page)
        for what in ("deepscholar.sentences", "deepscholar"):
            hands.does(choose, form.what, what)
            settle(window.page)
            with qtbot.waitSignal(window.page.driver.ended, timeout=120_000):
                hands.press("Ctrl+Return")
            settle(window.page)
    hands.press("Ctrl+7")
    viewer = window.page.viewer
    qtbot.waitUntil(lambda: viewer.body.currentWidget() is viewer.view)
    figures = {line.cells[0].words: line.cells[1:] for line in viewer.view.model.whole.lines}
    assert {len(figures[system]) for system in ("larkmoor", "quarrow")} == {8}
    assert all(cell.estimate.n for system in ("larkmoor", "quarrow") for cell in figures[system][:-1])
    assert hands.acts <= 23


def _begun(program, hands, qtbot, name):
    """The window over a new project, from the start page."""

    def answer() -> None:
        if dialog := QApplication.activeModalWidget():
            waiting.stop()
            hands.does(dialog.name.setText, name)
            hands.does(dialog.create_button.click)

    waiting = QTimer(timeout=answer, interval=20)
    waiting.start()
    hands.does(_button(program.shown(), "New project", qtbot).click)
    qtbot.waitUntil(lambda: isinstance(program.shown(), Window))
    window = program.shown()
    be_active(window, qtbot)
    return window


def _imported(window, hands, qtbot, *paths):
    hands.does(drop, window, *paths)
    settle(window.page)
    hands.does(window.page.go.click)
    qtbot.waitUntil(lambda: "The import is done" in window.messages.text())


def _add_endpoint(window, hands, url):
    hands.press("Ctrl+5", "Ctrl+N")
    for words, tabs in (("near", 1), (url, 2), ("test-model", 1)):
        hands.press(Typed(words), "Tab", tabs)
    hands.press("Ctrl+Return")
    settle(window.page)


def _drafted(window, hands, qtbot, many, step):
    """The documents of so many items, drafted by the model, taken unit by unit and submitted."""
    page = window.page
    for number in range(many):
        settle(page)
        with qtbot.waitSignal(page.side.draft.asking.came, timeout=60_000):
            hands.press("Ctrl+Shift+D")
        settle(page)
        hands.press("Ctrl+T", len(page.side.draft.cards), "Ctrl+Return")
        if page.sheet.panel.isVisible():
            hands.press("Tab", Typed("It is as it should be."), "Return")
        if number < many - 1:
            hands.press(step)


def _ten_papers(folder):
    """The papers of the sample in their authors' layout, and again under other numbers."""
    shutil.copytree(resources() / "related-work", folder)
    base = folder / "deepscholar"
    for path in base.glob("*.csv"):
        head, rows = path.read_text("utf-8").split("\n", 1)
        path.write_text(f"{head}\n{rows}{rows.replace('.00000v1', '.00001v1')}", "utf-8")
    for path in [*base.glob("nuggets/?"), *base.glob("systems/*/?")]:
        other = path.with_name(f"{int(path.name) + 5}")
        shutil.copytree(path, other)
        for file in other.iterdir():
            file.write_text(file.read_text("utf-8").replace(".00000v1", ".00001v1"), "utf-8")
    return folder


def _taken_in(window, hands, qtbot):
    """The files that were dropped are imported, with one key."""
    qtbot.waitUntil(lambda: window.page.NAME == "Exchange" and window.page.intake.bring_in.isEnabled())
    hands.press("Ctrl+Return")
    qtbot.waitUntil(lambda: "Imported" in window.page.intake.answer.text())


def _button(part, words, qtbot):
    def fitting():
        return [button for button in part.findChildren(QPushButton) if words in button.text()]

    qtbot.waitUntil(lambda: bool(fitting()))
    return fitting()[0]


def test_two_hundred_criteria_are_labelled_with_little_more_than_a_key_each(opened, qtbot, tmp_path):
    window = opened(labelling_project(tmp_path, criteria=100, reports=2, questions=1), "Items")
    hands = Hands()
    hands.press("Ctrl+3")
    page = window.page
    for _ in range(2):
        hands.press("1", 100, "Ctrl+Return")
    qtbot.waitUntil(page.done.isVisible)
    assert sql.first(window.session.project, "SELECT count(*) FROM judgement") == (200,)
    assert hands.acts <= 205


KEY = re.compile(r"[\u2003(]((?:Ctrl|Alt|Shift|\+)*(?:F?\d+|[A-Z]|Enter))\)?(?:$|<)")


class Newcomer:
    """Reads what is shown, presses what it says, and types."""

    def __init__(self, program: Goldsmith, qtbot) -> None:
        self._program, self._qtbot = program, qtbot
        self.keys = 0

    @property
    def window(self) -> QWidget:
        return self._program.shown()

    def reads(self) -> list[str]:
        seen = list(in_view(self.window))
        texts = [one.text() for one in seen if isinstance(one, QAbstractButton | QLabel | QLineEdit)]
        return [*texts, *(one.toPlainText() for one in seen if isinstance(one, QPlainTextEdit))]

    def waits_to_read(self, words: str) -> None:
        self._qtbot.waitUntil(lambda: any(words in text for text in self.reads()))

    def button(self, words: str) -> QAbstractButton:
        self.waits_to_read(words)
        buttons = (one for one in in_view(self.window) if isinstance(one, QAbstractButton))
        return next(one for one in buttons if one.isEnabled() and words in one.text())

    def clicks(self, words: str) -> None:
        QTest.mouseClick(self.button(words), Qt.MouseButton.LeftButton)
        if self.window.isVisible():
            be_active(self.window, self._qtbot)

    def presses_the_key_of(self, words: str) -> None:
        """The digit that an answer shows, or the key in the tooltip of any other button."""
        self.waits_to_read(words)
        shown = [one for one in in_view(self.window) if isinstance(one, QAbstractButton)]
        texts = (
            text for one in shown if one.text().startswith(words) for text in (one.text(), one.toolTip())
        )
        self.presses(next(match[1] for text in texts if (match := KEY.search(text))))

    def presses_the_key_in_the_menu_at(self, words: str) -> None:
        acts = [act for title in self.window.menuBar().actions() for act in title.menu().actions()]
        self.presses(next(act.text() for act in acts if act.text().startswith(words)).split("\t")[1])

    def presses(self, key: str) -> None:
        stroke = QKeySequence(key)[0]
        QTest.keyClick(self._focused(), stroke.key(), stroke.keyboardModifiers())
        self.keys += 1

    def types(self, words: str) -> None:
        QTest.keyClicks(self._focused(), words)

    def _focused(self) -> QWidget:
        return QApplication.focusWidget() or self.window


@pytest.fixture
def newcomer(program, qtbot) -> Newcomer:
    return Newcomer(program, qtbot)


def test_a_newcomer_writes_quotes_labels_and_rules_by_what_the_screen_says(newcomer):
    newcomer.clicks("Open the sample project")
    newcomer.waits_to_read("Try this:")

    newcomer.clicks("Write a criterion")
    newcomer.presses_the_key_of("New criterion")
    newcomer.types("Explains how much open soil a tree needs to keep cooling")

    # Whoever goes on has written it.
    newcomer.clicks("Quote the source")
    newcomer.presses_the_key_in_the_menu_at("Find on this page")
    newcomer.types("twelve square metres")
    newcomer.presses("Enter")
    newcomer.presses("Esc")
    newcomer.presses_the_key_of("Quote")
    newcomer.waits_to_read("“twelve square metres”")

    newcomer.clicks("Label a report")
    newcomer.presses_the_key_of("Not met")

    newcomer.clicks("Settle a conflict")
    newcomer.presses_the_key_of("Take A")
    assert newcomer.keys <= 7
