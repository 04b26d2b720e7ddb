"""From a drawn sample to a validity card: two people label, a model judges, cases are ruled, scores are corrected."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from PySide6.QtWidgets import QFileDialog

from annotator.actions.judges import judges, prompts
from annotator.actions.judging import derived_judges
from annotator.actions.project.file import Project
from annotator.actions.sets import validation_sets
from annotator.actions.validation import disagreements, validity_cards
from annotator.actions.validation.validation import ValidationQuery
from annotator.gui.shell.window import Window
from tests.gui.results.conftest import at, cells, go, heads
from tests.projects.validation_project import COVERAGE, At, places, validation_project
from tests.storage import sql
from tests.windows.judges_window import choose
from tests.windows.story_hands import window_of
from tests.windows.using import all_words, press, settle, type_words

NAME, JUDGE = "Spring validation", "mock"
WEIGHTS = (3, 1)
REPLY = '{{"quote": "", "rationale": "So.", "covered": "{}"}}'


def ann(at: At) -> str:
    """Alpha covers everything, Beta the first criterion of odd items."""
    item, system, criterion = at
    return "yes" if system == "Alpha" or (criterion == 1 and item % 2) else "no"


def ben(at: At) -> str:
    """As Ann says, but for the light criterion of Alpha's first report."""
    return "no" if at == (1, "Alpha", 2) else ann(at)


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """Four items, Alpha's and Beta's reports, two criteria each: sixteen units. R2 and R3 label."""
    return validation_project(tmp_path, weights=WEIGHTS)


def part(window: Window, name: str, **place: Any) -> Any:
    window.show_page("Validate", part=name, **place)
    settle(window.page)
    window.page.focus_first()
    return window.page


def draw(window: Window) -> None:
    """A set of all eight reports, dealt to both who label."""
    page = part(window, "Sets")
    type_words(NAME)
    page.sets.form.reports.setValue(8)
    page.sets.form.test.setValue(0)
    settle(page)
    press("Ctrl+Return")
    settle(page)
    assert page.sets.view.lines.count() == 8


def label(window: Window, says: Callable[[At], str]) -> None:
    """Everything that was dealt, by keyboard alone and without a system's name, until it is submitted."""
    result = {(response, unit): at for at, (_, response, unit) in places(window.session.project).items()}
    press("Ctrl+3")
    page = window.page
    assert len(page.queue.lines) == 8
    for _ in range(8):
        told = [says(at) for (response, _), at in result.items() if response == page.bench.response_id]
        assert len(told) == len(WEIGHTS)
        press(*("1" if value == "yes" else "2" for value in told), "Ctrl+Return")
    assert page.done.isVisible()


def judge(window: Window, qtbot: Any, llmock: LLMock, replies: list[str]) -> None:
    """A model behind a server judges from the window, one call after the other."""
    for value in replies:
        llmock.reply(REPLY.format(value))
    window.show_page("Judges", part="Runs")
    page = settle(window.page)
    choose(page.running.form.judge, JUDGE)
    choose(page.running.form.what, COVERAGE)
    page.running.form.concurrency.setValue(1)
    settle(page)
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+Return")
    settle(page)


def verdicts(project: Project) -> dict[At, str]:
    """What the model came to say of each unit, as a second look into the file finds it."""
    question = "SELECT response_id, unit_id, value FROM judgement WHERE rater_kind = 'judge'"
    said = {(r, u): value for r, u, value in sql.rows(Project.open(project.path, readonly=True), question)}
    return {at: said[response, unit] for at, (_, response, unit) in places(project).items()}


def column(viewer: Any, row: int, title: str) -> str:
    return str(cells(viewer, row)[heads(viewer).index(title)])


def row_of(viewer: Any, name: str) -> int:
    return next(row for row in range(viewer.view.model.rowCount()) if name in cells(viewer, row))


def coverage(says: list[Callable[[At], str]], system: str) -> float:
    """The mean over items of Σ w·b / Σ w, b being the share of people who say yes."""
    items = range(1, 5)
    shares = {
        (item, n): sum(say((item, system, n)) == "yes" for say in says) / len(says)
        for item in items
        for n in (1, 2)
    }
    return sum(sum(w * shares[i, n] for n, w in enumerate(WEIGHTS, 1)) / sum(WEIGHTS) for i in items) / 4


def lock(window: Window, qtbot: Any) -> None:
    """Before the labels are locked no judge is shown on them."""
    page = part(window, "Figures")
    assert not any(JUDGE in words for words in all_words(at(page.figures, qtbot, "empty")))
    page = part(window, "Sets", set=NAME)
    press("Ctrl+L")
    settle(page)
    assert validation_sets.named(window.session.project, NAME).locked_at is not None


def compare(window: Window, qtbot: Any, right: int) -> None:
    """Judge and people beneath one another; what the test counted is what the page says."""
    viewer = at(part(window, "Figures").figures, qtbot)
    go(viewer, qtbot, "judges", set=NAME)
    assert column(viewer, row_of(viewer, JUDGE), "Accuracy").startswith(f"{right / 32:.3f}")
    assert column(viewer, row_of(viewer, "people"), "Accuracy").startswith(f"{15 / 16:.3f}")


def rule(window: Window, right: int) -> None:
    """Every disagreement is ruled on by one key; first labels stay the metric."""
    page = part(window, "Disagreements")
    press(*("123"[place % 3] for place in range(32 - right)))
    settle(page)
    (ruled,) = disagreements.report(window.session.project, ValidationQuery(set_name=NAME))
    assert (ruled.open, sum(ruled.rulings.values())) == (0, 32 - right)
    assert ruled.first.plain["accuracy"].value == pytest.approx(right / 32)
    assert ruled.ruled.plain["accuracy"].value > right / 32


def correct(window: Window, qtbot: Any) -> None:
    viewer = at(part(window, "Figures").figures, qtbot)
    go(viewer, qtbot, "corrected", set=NAME, judge=JUDGE)
    for system in ("Alpha", "Beta"):
        told = column(viewer, row_of(viewer, system), "Corrected")
        assert told.startswith(f"{coverage([ann, ben], system):.3f}")


def save_card(window: Window, path: Path, right: int) -> None:
    """The card says all of it, and holds for this judge until a pinned part of it is another."""
    page = part(window, "Cards", choose={"set": NAME, "judge": JUDGE})
    press("Ctrl+Return")
    settle(page)
    card, project = validity_cards.read(path), window.session.project
    assert (card.judge.model, card.labels.source, card.labels.set_name) == ("gpt-4o-mini", "set", NAME)
    (own,) = [line for line in card.lines if (line.who, line.by) == ("judge", "all")]
    assert own.plain["accuracy"].value == pytest.approx(right / 32)
    assert derived_judges.check(project, card, JUDGE).holds
    prompts.write(project, COVERAGE, prompts.shipped(COVERAGE).replace("# user", "Be strict.\n\n# user"))
    assert [difference.part for difference in derived_judges.check(project, card, JUDGE).differences] == [
        "prompt"
    ]


def test_from_a_sample_to_a_card(
    project: Project, qtbot: Any, llmock: LLMock, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judges.add(project, JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
    with window_of(project.path, "Me", qtbot) as window:
        draw(window)
    for name, says in (("Ann", ann), ("Ben", ben)):
        with window_of(project.path, name, qtbot) as window:
            label(window, says)
    with window_of(project.path, "Me", qtbot) as window:
        judge(window, qtbot, llmock, ["yes", "yes", "no", "yes"] * 4)
        said = verdicts(project)
        assert sorted(said.values()) == ["no"] * 4 + ["yes"] * 12
        right = sum(said[one] == says(one) for one in said for says in (ann, ben))
        lock(window, qtbot)
        compare(window, qtbot, right)
        rule(window, right)
        correct(window, qtbot)
        path = tmp_path / "card.html"
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path), ""))
        save_card(window, path, right)
