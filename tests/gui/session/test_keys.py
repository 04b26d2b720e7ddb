"""The session of pages: keys, and what is done on another thread or by a child process while the window lives on."""

import io
import json
import os
import re
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import cycle, islice
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtCore import QObject, QSettings, Qt, QThread
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit, QPushButton, QWidget
from shiboken6 import delete

from annotator.actions.authoring import annotating
from annotator.actions.contests import contest_rows
from annotator.actions.items import items
from annotator.actions.judges import judges, kept_keys
from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.orders import orders
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs.judge_cases import RunRequest
from annotator.cli.project import NICENESS
from annotator.domain.common import Refusal
from annotator.domain.judges.protocol import Level, ValueLook
from annotator.domain.kinds.artifact import Kind
from annotator.gui import keys
from annotator.gui.forms import forms
from annotator.gui.pages.labelling.unit_card import VerdictButtons
from annotator.gui.review.run_panel import RunPanel
from annotator.gui.review.verdict_words import places
from annotator.gui.session.page import Page
from annotator.gui.session.run import BackgroundRun, Child, OrderEstimate, command
from annotator.gui.session.session import ANY, ProjectSession
from annotator.gui.shell import menus
from annotator.gui.shell.navigation import PAGES
from annotator.gui.views import view_pane
from annotator.gui.widgets.bars import KeyButton
from annotator.places import resources
from annotator.protocols import PROTOCOLS
from tests.actions.contests.contest_project import add_seminar, task
from tests.gui.shell.test_window import EVERY_PAGE, entries, unseen
from tests.projects import pairs_project
from tests.windows.using import Typed, be_active, focus, owned, press


def test_every_act_is_bound_once_and_no_key_as_shipped_clashes_or_is_a_letter_that_means_opposites():
    acts = [binding.act for binding in keys.BINDINGS]
    assert len(acts) == len(set(acts))
    for binding in keys.BINDINGS:
        assert [keys.clash(binding.act, key) for key in binding.keys] == [None] * len(binding.keys)
        assert not {"I", "U", "R", "E", "Space"} & set(binding.keys), binding.act


def test_bindings_belong_to_pages_there_are():
    assert {binding.page for binding in keys.BINDINGS} <= {keys.EVERYWHERE, *PAGES}


def test_a_taken_key_is_refused_with_the_name_of_what_has_it_and_a_free_one_taken_over():
    assert (keys.rebind("flag", "Ctrl+M").title, keys.shown("flag")) == ("Note", "Ctrl+G")
    assert (keys.rebind("flag", "Ctrl+Alt+G"), keys.shown("flag")) == (None, "Ctrl+Alt+G")
    keys.restore_all()
    assert keys.shown("flag") == "Ctrl+G"


def printed(window) -> set[str]:
    """All that the window says in words, hints and prompts, on every page that was made."""
    return {
        f"{type(each).__name__}.{name}: {words}"
        for each in window.findChildren(QObject)
        for name in ("text", "toolTip", "placeholderText", "accessibleName")
        if isinstance(words := each.property(name), str) and words
    }


def test_keys_stand_in_tooltips_which_follow_a_change_and_on_buttons_only_as_digits_of_answers(
    sample, window_over, qtbot
):
    window = window_over(sample)

    for name in EVERY_PAGE:
        if name != "Keys":
            window.show_page(name)
            window.session.wait()
            qtbot.wait(20)
    # These are said of other things too.
    old = {keys.shown(binding.act) for binding in keys.BINDINGS} - {*"0123456789ASDF=-", "Up", "Down", "F1"}
    named = re.compile(rf"(?<![\w+])({'|'.join(map(re.escape, sorted(old)))})(?![\w+])")
    assert any(named.search(words) for words in printed(window))
    a_key = re.compile(rf"{named.pattern}|\b(Esc|Enter|Del)\b|↵")
    assert [b.text() for b in window.findChildren(QAbstractButton) if a_key.search(b.text())] == []
    bound = [button for button in window.findChildren(KeyButton) if button.key]
    assert len(bound) > 50
    assert [button.text() for button in bound if f"({button.key})" not in button.toolTip()] == []
    for binding in keys.BINDINGS:
        QSettings().setValue(f"keys/{binding.act}", "Ctrl+Alt+F35")
    window.bar.show_help(("What the help says of items", ""))
    window.rebind()
    assert window.bar.help.toolTip() == "What the help says of items"
    assert "\n".join(sorted(words for words in printed(window) if named.search(words))) == ""
    assert sum("Ctrl+Alt+F35" in button.toolTip() for button in window.findChildren(KeyButton)) > 50


@pytest.fixture
def mac(monkeypatch):
    """The keys as macOS has them; Qt still writes them as on this system."""
    monkeypatch.setattr(keys, "MAC", True)


# What the system does there, whatever program is in front, and what Qt leaves to the menu that it makes by itself.
OF_MACOS = {
    "Ctrl+Tab", "Ctrl+Shift+Tab", "Ctrl+H", "Ctrl+Alt+H", "Ctrl+Alt+D", "Ctrl+Space", "Ctrl+Alt+Esc", "Ctrl+Shift+Q",
    "Ctrl+Shift+3", "Ctrl+Shift+4", "Ctrl+Shift+5", "Meta+Up", "Meta+Down", "Meta+Left", "Meta+Right", "Meta+Space",
}  # fmt: skip


def test_on_macos_no_key_clashes_belongs_to_the_system_or_types_a_character(mac):
    for binding in keys.BINDINGS:
        for sequence in keys.sequences(binding.act):
            key = sequence.toString()
            assert keys.clash(binding.act, key) is None
            assert key not in OF_MACOS
            # In a text the Control key with a letter moves the cursor or deletes.
            assert not re.fullmatch(r"Alt\+(Shift\+)?.|Meta\+[A-Z]", key)


def test_macos_has_other_keys_for_what_would_type_or_belongs_to_it(mac):
    wanted = {
        "weight_1": "Meta+1", "sure_high": "Meta+Shift+3", "accept_work": "Ctrl+Alt+A", "next_kind": "Meta+Tab",
        "hold_run": "Ctrl+Shift+H", "unit_up": "Alt+Up", "submit": "Ctrl+Return",
    }  # fmt: skip
    assert {act: keys.sequences(act)[0].toString() for act in wanted} == wanted


def test_a_key_that_a_person_chose_is_left_as_chosen_on_macos(mac):
    assert (keys.rebind("flag", "Alt+Y"), keys.shown("flag")) == (None, "Alt+Y")
    # As on the buttons, and on the key itself.
    assert keys.shown("submit").endswith("Enter")


def test_help_names_the_keys_of_the_system(mac, monkeypatch):
    symbols = {"Ctrl": "⌘", "Meta": "⌃", "Alt": "⌥", "Shift": "⇧"}

    def native(key) -> str:
        return re.sub(r"(Ctrl|Meta|Alt|Shift)\+", lambda one: symbols[one[1]], QKeySequence(key).toString())

    monkeypatch.setattr(keys, "written", native)
    words = "Use Alt+1 to Alt+4, right after; Ctrl+Enter, Ctrl+PgDown, Ctrl+Z, Ctrl+H · Ctrl+. and Ctrl+Tab. F1 lists."
    there = "Use ⌃1 to ⌃4, right after; ⌘Return, ⌘PgDown, ⌘Z, ⌘⇧H · ⌘. and ⌃Tab. F1 lists."
    assert keys.in_words(words) == there
    monkeypatch.setattr(keys, "MAC", False)
    assert keys.in_words(words) == words


def test_every_key_in_the_help_texts_is_one_that_qt_knows(mac):
    paths = (resources() / "help").glob("*.md")
    named = {key for path in paths for key in keys._IN_WORDS.findall(path.read_text("utf-8"))}
    assert {"Ctrl+Enter", "Alt+1", "Ctrl+."} <= named
    assert [key for key in named if "Unknown" in keys.in_words(key) or not keys.in_words(key)] == []


class OnePage(Page):
    """A page of one field, on which Alt+1 and Ctrl+Backspace do something."""

    def __init__(self, session: ProjectSession) -> None:
        super().__init__(session)
        self.done: list[str] = []
        self.field = QLineEdit("two words", self)
        for act in ("weight_1", "retire_unit"):
            self.bind(act, lambda act=act: self.done.append(act) or True)


@pytest.fixture
def one_page(small, qtbot):
    page = be_active(owned(qtbot, OnePage(ProjectSession(small)), 400, 300), qtbot)
    page.field.setFocus()
    return page


@pytest.mark.parametrize(("on_mac", "done"), [(True, []), (False, ["retire_unit"])])
def test_on_macos_the_key_that_deletes_a_line_retires_nothing_from_within_a_field(
    one_page, monkeypatch, on_mac, done
):
    monkeypatch.setattr(keys, "MAC", on_mac)
    monkeypatch.setattr(OnePage, "keeps_words", lambda *_: False)
    page = one_page
    QTest.keyClick(page.field, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert page.done == done


@pytest.mark.parametrize(
    ("windows", "pad", "done"), [(True, True, []), (True, False, ["weight_1"]), (False, True, ["weight_1"])]
)
def test_on_windows_the_number_pad_under_alt_types_a_code_into_a_field_and_does_nothing_else(
    one_page, monkeypatch, windows, pad, done
):
    monkeypatch.setattr("annotator.gui.session.page.WINDOWS", windows)
    page = one_page
    keypad = Qt.KeyboardModifier.KeypadModifier if pad else Qt.KeyboardModifier.NoModifier
    QTest.keyClick(page.field, Qt.Key.Key_1, Qt.KeyboardModifier.AltModifier | keypad)
    QTest.keyClick(page.field, Qt.Key.Key_Backspace, Qt.KeyboardModifier.ControlModifier)
    assert (page.done, page.field.text().startswith("two words")) == (done, False)


@pytest.mark.parametrize(("key", "asked"), [(Qt.Key.Key_Down, "next"), (Qt.Key.Key_Up, "previous")])
def test_arrows_go_from_unit_to_unit_also_where_they_belong_to_the_number_pad(qtbot, key, asked):
    editor = be_active(owned(qtbot, forms.editor(Kind.PLAN), 400, 300), qtbot)
    editor.setFocus()
    with qtbot.waitSignal(editor.asked) as told:
        QTest.keyClick(editor, key, Qt.KeyboardModifier.KeypadModifier)
    assert told.args[1] == asked


HELP = Path(__file__).parents[3] / "resources" / "help" / "labelling.md"


def test_digits_at_any_speed_rank_as_many_pairs_each_as_it_was_shown(tmp_path: Path, page_over: Any) -> None:
    project, wanted = pairs_project.pairs_project(tmp_path), {}
    for seminar in range(3):
        add_seminar(project, f"s{seminar}", tuple(task(seminar * 20 + n) for n in range(20)))
    page = page_over(project, "Contest")
    for number, key in enumerate(islice(cycle("1638052749"), 12)):
        pair = page.ranking._pair
        # From the first nearly certainly, by 1, down to the second nearly certainly, by 0.
        side, sure = divmod((int(key) - 1) % 10, 5)
        steps = (0.95, 0.8, 0.7, 0.6, 0.5) if side == 0 else (0.5, 0.6, 0.7, 0.8, 0.95)
        wanted[pair.first.id, pair.second.id] = ("first", "second")[side], steps[sure]
        # Most come without a pause, each third one after the page has come to rest.
        if number % 3 == 2:
            QTest.qWait(20)
        press(key)
    ranked = contest_rows.showings(project, people.someone(project).id)
    assert {(each.first, each.second): (each.value, each.confidence) for each in ranked} == wanted
    assert len(wanted) == 12


@pytest.mark.parametrize(
    "name", [name for name, one in PROTOCOLS.items() if one.values and one.presentation.tab]
)
def test_1_is_the_best_answer_and_buttons_keys_f1_and_help_say_the_same(
    qapp: Any, qtbot: Any, name: str
) -> None:
    scale, tab = PROTOCOLS[name].scale, PROTOCOLS[name].presentation.tab
    known = {binding.act: binding for binding in keys.BINDINGS}
    offered = [*scale.best_first, UNSURE]
    buttons = owned(qtbot, VerdictButtons(cast(Any, SimpleNamespace(protocol=name)), offered, "", ""))
    said = [*(scale.value(each).words for each in scale.best_first), "Unsure"]
    digits = scale.best_first if scale.of_numbers else map(str, range(1, len(offered)))
    pressed = [*("=" if key == "10" else key for key in digits), "-"]
    assert [button.words for button in buttons.buttons] == said
    assert [button._key for button in buttons.buttons] == pressed
    acts = {place: act for act, place in places(name).items()}
    assert [known[acts[place]].keys[0] for place in range(len(offered))] == pressed
    rows = [line for line in HELP.read_text(encoding="utf-8").splitlines() if f"**{tab}**" in line]
    values = f"{said[0]} to {said[-2]}" if scale.level is Level.INTERVAL else ", ".join(said[:-1]).lower()
    assert any(f"| {values} |" in row for row in rows), (
        f"{HELP.name} needs a row | **{tab}** | {values} | … |"
    )
    if not scale.of_numbers:
        assert scale.value(scale.best_first[0]).look in (ValueLook.GOOD, ValueLook.FIRST)
        assert all(
            word in known[acts[place]].title
            for place, word in zip(
                range(len(offered) - 1), ("first", "second", "third", "fourth"), strict=False
            )
        )
    if scale.level is Level.ORDINAL and not scale.of_numbers:
        falling = [scale.number(each) for each in scale.best_first]
        assert falling == sorted(falling, reverse=True)


class Asker(QObject):
    """Asks, and may be gone by the time the answer comes."""

    def __init__(self) -> None:
        super().__init__()
        self.answers: list[object] = []

    def take(self, answer: object) -> None:
        self.answers.append(answer)


@pytest.fixture
def session(small, window_over):
    return window_over(small).session


@pytest.fixture
def home(qtbot):
    return lambda session: qtbot.waitUntil(lambda: not session._tasks_behind)


def test_a_refused_verb_answers_none_and_the_refusal_is_told(session, home):
    answers, told = [], []
    session.refused.connect(told.append)
    session.do_later(answers.append, lambda *_: None, lambda _project, progress: refuse())
    home(session)
    assert (answers, told) == ([None], [SAID])


def test_an_answer_that_comes_too_late_is_told_to_nobody(session, home):
    asker = Asker()
    answers = asker.answers
    for question in (people.people, items.count):
        session.ask_newest(asker.take, question)
    home(session)
    assert answers == [items.count(session.project)]
    for leave in (session.forget, delete):
        session.ask_later(asker.take, items.count)
        session.wait()
        leave(asker)
        home(session)
    assert len(answers) == 1


def test_nothing_is_asked_once_the_window_is_closed(small, window_over):
    session = window_over(small).session
    session.end()
    assert (session.ask(items.count), session.do(items.add, "A third question?")) == (None, None)
    session.ask_later(lambda _: None, items.count)
    assert not session._tasks_behind


def test_what_pages_began_that_are_taken_down_is_told_to_everyone_but_them(session, home):
    answers, told = [], []
    session.listen(told.append, (ANY,))
    session.do_later(
        answers.append,
        answers.append,
        lambda project, progress: progress("", 1, 1) or items.add(project, "A third question?"),
    )
    session.wait()
    session.forget_pages()
    home(session)
    assert (answers, [change.kind for change in told]) == ([], ["item"])


def test_another_person_may_take_over_while_results_are_counted(small, window_over, home, qtbot, monkeypatch):
    go_on, shown = threading.Event(), view_pane.shown
    people.add_person(small, "Second reader")
    monkeypatch.setattr(view_pane, "shown", lambda *args: go_on.wait(20) and shown(*args))
    window = window_over(small, "Results")
    window.choose_person(people.people(small)[-1].id)
    qtbot.wait(10)
    go_on.set()
    home(window.session)
    assert window.page.viewer.hint.text() != "Counting…"


def test_an_errand_that_is_over_keeps_nothing_alive(session, home):
    asked = Asker()
    gone = weakref.ref(asked)
    session.ask_later(lambda _: None, lambda project, _: items.count(project), asked)
    # The last one is kept until the next is home: it may still be on its way out of its thread.
    session.ask_later(lambda _: None, items.count)
    home(session)
    del asked
    assert gone() is None


def test_a_fault_in_an_errand_shows_its_page_on_the_windows_own_thread(session, qtbot, monkeypatch, capsys):
    monkeypatch.setattr(menus, "_shown", [])
    monkeypatch.setattr(sys, "excepthook", menus.report)
    session.ask_later(lambda _: None, lambda project: 1 / 0)
    qtbot.waitUntil(lambda: bool(menus._shown))
    (page,) = menus._shown
    qtbot.addWidget(page)
    assert page.thread() == QThread.currentThread()
    assert "ZeroDivisionError" in capsys.readouterr().err
    # It is shown though the error stream was closed.
    monkeypatch.setattr(menus, "_shown", [])
    monkeypatch.setattr(sys, "stderr", closed := io.StringIO())
    closed.close()
    menus.report(ZeroDivisionError, ZeroDivisionError("x"), None)
    (page,) = menus._shown
    qtbot.addWidget(page)
    assert page.isVisible()


SAID = Refusal("It cannot be done.", "Do something else.")


def refuse(*_: object) -> None:
    raise SAID


@pytest.mark.slow
def test_in_a_locked_project_the_focus_is_seen_and_every_entry_and_key_of_every_page_tells_a_refusal(
    small, window_over, qtbot, monkeypatch
):
    table, bind = menus.menus, Page.bind

    def refusing(window):
        return [(title, [each and (each[0], each[1], refuse) for each in of]) for title, of in table(window)]

    monkeypatch.setattr(menus, "menus", refusing)
    monkeypatch.setattr(
        Page, "bind", lambda page, act, slot, widget=None: bind(page, act, partial(refuse, slot), widget)
    )
    small.close()
    window = be_active(window_over(Project.open(small.path, readonly=True)), qtbot)
    assert [*unseen(window)] == []

    def tells(act) -> bool:
        window.messages.clear()
        with qtbot.captureExceptions() as raised:
            act()
        return raised == [] and window.messages.text() == str(SAID)

    told = {entry.text(): tells(entry.trigger) for entry in entries(window) if entry.text()}
    assert len(told) == 20
    for name in EVERY_PAGE:
        for act, shortcuts in window.show_page(name)._shortcuts.items():
            told |= {(name, act, place): tells(each.activated.emit) for place, each in enumerate(shortcuts)}
    assert len(told) > 120
    assert [where for where, so in told.items() if not so] == []


def test_a_refusal_that_nobody_caught_is_told_in_the_window_and_is_no_fault(
    small, window_over, qtbot, monkeypatch
):
    monkeypatch.setattr(menus, "_shown", [])
    window = be_active(window_over(small), qtbot)
    menus.report(Refusal, SAID, None)
    assert (window.messages.text(), menus._shown) == (str(SAID), [])


class Job:
    """Writes one item, then goes on until it is let go or stopped."""

    ended = ""

    def __init__(self) -> None:
        self.go_on = Event()

    def __call__(self, project, progress):
        try:
            with project.store.write():
                items.add(project, "Written by a job?")
                while not self.go_on.wait(0.01):
                    progress("writing what was asked for", 2, 3)
            self.ended = "done"
        finally:
            self.ended = self.ended or "stopped"


@pytest.fixture
def at_work(small, window_over, qtbot):
    window, job = window_over(small), Job()
    window.session.do_later(lambda _: None, lambda *_: None, job)
    qtbot.waitUntil(lambda: "2 of 3" in window.session.job)
    yield window, job
    job.go_on.set()
    qtbot.waitUntil(lambda: bool(job.ended))


def test_it_says_what_it_waits_for_and_closes_when_the_job_has_ended(at_work, qtbot):
    window, job = at_work
    path = window.session.project.path
    # Nor is a project replaced in the middle of a job.
    window.reset_sample()
    assert "Still in progress: Writing what was asked for, 2 of 3." in window.messages.text()
    assert not window.close()
    assert "closes when this has finished: Writing what was asked for, 2 of 3." in window.messages.text()
    # No other message takes the closing back, or the way to stay away.
    window.session.ended.emit("The cards are printed.", "Items", {})
    assert window.messages._other.isVisible()
    window.messages.show_message("success", "Something else.")
    window.messages.clear()
    assert job.ended == ""
    with qtbot.waitSignal(window.closed):
        job.go_on.set()
    assert (job.ended, items.count(Project.open(path))) == ("done", 3)


def test_stop_and_close_stops_the_job_and_takes_back_what_it_had_begun_and_stay_closes_nothing(
    at_work, qtbot
):
    window, job = at_work
    path = window.session.project.path
    window.close()
    window.messages._other.click()
    assert (window.messages.text(), window._ends._closing) == ("", False)
    window.close()
    with qtbot.waitSignal(window.closed):
        window.messages._act.click()
    assert (job.ended, items.count(Project.open(path))) == ("stopped", 2)


def test_what_is_typed_is_kept_when_closing_has_to_wait_and_why_a_job_was_refused_is_read(
    small, window_over, qtbot
):
    new = items.add(small, "How deep is the ocean?").subject
    window, go_on = be_active(window_over(small, "Author", item_id=new), qtbot), Event()
    press("Return", Typed("States the depth"))

    def fails(project, progress):
        go_on.wait(5)
        raise Refusal("The disk is full.", "Make room.")

    window.session.do_later(lambda _: None, lambda *_: None, fails)
    assert not window.close()
    (begun,) = annotating.artifacts_of(small, new)
    assert [unit.text for unit in begun.document.units] == ["States the depth"]
    go_on.set()
    qtbot.waitUntil(lambda: not window.session.job)
    qtbot.wait(20)
    assert (window.isVisible(), "The disk is full." in window.messages.text()) == (True, True)


def test_neither_an_answer_that_comes_late_nor_a_process_that_ends_takes_the_focus(
    window, qtbot, monkeypatch
):
    child_says(monkeypatch, """print('{"event": "progress"}')""")
    search, table, child = window.page.search, window.page.table, Child(window.session, window)
    search.setFocus()
    window.session.ask_later(lambda _: table.setFocus(), items.count)
    qtbot.waitUntil(lambda: not window.session._tasks_behind)
    assert focus() is search
    child.progressed.connect(lambda _: table.setFocus())
    child.ended.connect(lambda *_: table.setFocus())
    with qtbot.waitSignal(child.ended):
        child.start(RunRequest("baseline"))
    assert focus() is search


def test_a_button_out_of_use_for_a_job_has_the_keyboard_back_unless_somebody_went_on(window, qtbot):
    search, table, button = window.page.search, window.page.table, QPushButton("Do it", window.page)
    button.show()

    def work_out(then: Callable[[], object], meanwhile: Callable[[], object]) -> QWidget:
        """What has the keyboard when a job that the button began has ended with `then`."""
        button.setEnabled(True)
        button.setFocus()
        button.setEnabled(False)
        window.session.do_later(
            lambda _: then(), lambda *_: None, lambda _project, progress: progress("", 0, 0)
        )
        assert focus() not in (button, table)
        meanwhile()
        qtbot.waitUntil(lambda: not window.session._tasks_behind)
        return focus()

    assert work_out(table.setFocus, lambda: None) is table
    assert work_out(lambda: button.setEnabled(True), lambda: None) is button
    assert work_out(table.setFocus, search.setFocus) is search


def test_the_end_of_a_job_is_said_with_a_way_to_it(window):
    window.session.tell_end("It is done.", "Release")
    assert (window.page.NAME, window.messages.text()) == ("Items", "It is done.")
    window.messages._act.click()
    assert (window.page.NAME, window.messages.text()) == ("Release", "")


PROGRESS = {
    "event": "progress", "done": 412, "total": 1_931, "rate": 3.14, "left_s": 185.0, "calls": 400, "running": 8,
    "judged_now": 412, "cost_usd": 1.5, "missing": {"timeout": 2}, "models": ["m"],
}  # fmt: skip
ORDER = RunRequest("baseline")


@pytest.fixture
def run_window(small, window_over, qtbot, monkeypatch: pytest.MonkeyPatch):
    """Over a child that tells one line of progress and waits until it is to stop."""
    line = f"import sys; sys.stdin.readline(); print({json.dumps(PROGRESS)!r}, flush=True); "
    child_says(monkeypatch, f"{line}any('cancel' in line for line in sys.stdin)")
    return be_active(window_over(small), qtbot)


def child_says(monkeypatch: pytest.MonkeyPatch, program: str) -> None:
    monkeypatch.setattr("annotator.gui.session.run.command", lambda: (sys.executable, ["-c", program]))


def shown(
    window, what: str = "The run", page: str = "Judges", **place: str
) -> tuple[BackgroundRun, RunPanel]:
    owner = QWidget(window.page)
    run = BackgroundRun(window.session, what, page, owner, **place)
    panel = RunPanel(run)
    panel.setParent(owner)
    owner.setGeometry(100, 100, 700, 200)
    panel.setGeometry(0, 0, 700, 200)
    owner.show()
    return run, panel


def test_panel_and_status_line_tell_every_run_how_far_it_is_and_what_it_came_to(run_window, qtbot):
    first, panel = shown(run_window, "Pairing", "Agreement")
    second, _ = shown(run_window, "Judge run", part="Runs")
    assert panel.isHidden()
    with qtbot.waitSignal(first.progressed):
        assert first.start(ORDER)
        assert panel.chips.words() == ["Starting"]
    assert panel.title.text() == "Pairing · \u2068baseline\u2069"
    assert panel.chips.words() == [
        "400 calls", "$1.50 spent", "410 came now", "missing: 2 × no answer in time",
    ]  # fmt: skip
    with qtbot.waitSignal(second.progressed):
        second.start(ORDER)
    lines = [button.text() for button in run_window.status.runs.values()]
    assert lines == ["Pairing · 412 of 1,931 · $1.50", "Judge run · 412 of 1,931 · $1.50"]
    run_window.status.runs[second].click()
    assert (run_window.page.NAME, run_window.page.part) == ("Judges", run_window.page.running)
    first.stop()
    assert [*run_window.status.runs] == [second]
    # Closing the window ends every run.
    run_window.close()
    assert not second.running


def test_keys_pause_resume_and_stop_the_run_in_view_else_the_last_one(run_window, qtbot):
    run, panel = shown(run_window)
    with qtbot.waitSignal(run.progressed):
        run.start(ORDER)
    other = BackgroundRun(run_window.session, "Another", "Items", QWidget(run_window.page))
    with qtbot.waitSignal(other.progressed):
        other.start(ORDER)
    press("Ctrl+H")
    assert (run.held, other.held) == (True, False)
    assert panel.hold.text().startswith("Resume")
    run_window.show_page("People")
    press("Ctrl+H")
    assert (run.held, other.held) == (True, True)
    press("Ctrl+H")
    assert not other.held
    press("Ctrl+.")
    assert (run.stopping, other.stopping) == (False, True)


def test_the_end_is_told_only_where_it_is_not_seen_and_one_that_breaks_off_is_refused(
    run_window, qtbot, monkeypatch
):
    run, panel = shown(run_window, "Pairing")
    # Stopped before it has begun.
    child_says(monkeypatch, "import sys; sys.stdin.readline(), sys.stdin.readline()")
    with qtbot.waitSignal(run.ended) as ended, qtbot.assertNotEmitted(run_window.session.refused):
        run.start(ORDER)
        run.cancel()
    assert ended.args[0]["state"] == "cancelled"
    child_says(monkeypatch, "import sys; sys.stdin.readline()")
    with qtbot.waitSignal(run_window.session.refused) as broken:
        run.start(ORDER)
    assert (panel.isHidden(), "stopped unexpectedly" in broken.args[0].happened) == (True, True)
    child_says(monkeypatch, 'import sys; sys.stdin.readline(); print(\'{"event": "ended"}\', flush=True)')
    for page, message in (("Items", ""), ("People", "Pairing has ended.")):
        run_window.show_page(page)
        with qtbot.waitSignal(run.ended), qtbot.assertNotEmitted(run_window.session.refused):
            run.start(ORDER)
        assert (run.running, panel.isHidden(), run_window.messages.text()) == (False, True, message)


class Form(QWidget):
    """Gives an order, and keeps what is asked about it, so that it can be answered late."""

    def __init__(self) -> None:
        super().__init__()
        self.order, self.asked, self.seen = ORDER, [], []
        self.estimate = OrderEstimate(self, self, lambda: self.order, self.seen.append)

    def ask_later(self, then, question, order):
        assert question is orders.forecast
        self.asked.append((then, order))

    def answered(self):
        for then, order in self.asked:
            then(f"of {','.join(order.items)}")
        return self.seen


@pytest.fixture
def form(qtbot):
    return owned(qtbot, Form(), 100, 100)


def test_an_estimate_is_told_of_what_the_fields_say_now_whatever_their_budget(form):
    form.estimate.count()
    form.order = replace(ORDER, items=("1", "2"))
    form.estimate.count()
    form.order = replace(form.order, budget_usd=3.0)
    assert form.answered() == ["of 1,2"]
    form.order = None
    assert form.answered() == ["of 1,2"]


def test_nothing_is_asked_unseen_or_told_once_it_has_stopped(form):
    form.estimate.count()
    form.estimate.stop()
    assert form.answered() == []
    form.hide()
    form.estimate.count()
    assert len(form.asked) == 1


JUDGE_ORDER = RunRequest("distant", systems=("Alpha",), items=("1", "2"), budget_usd=0.5)
KEY = "sk-a-key-that-nobody-may-see"
# What the command line's own child does first, and what it then has as standard input.
FIRST_WORDS = """
import os, subprocess, sys
from annotator.cli.project import own_input, stand_back
stand_back()
said = own_input()
look = "import sys; print(repr(sys.stdin.read()))"
print(ascii(said.readline()))
print(subprocess.run([sys.executable, "-c", look], capture_output=True).stdout.decode().strip())
print(os.getpriority(os.PRIO_PROCESS, 0) if os.name == "posix" else "unknown")
print(said.readline().strip())
"""


def test_a_child_lowers_its_priority_and_keeps_what_the_window_says_to_itself() -> None:
    # A process of its own would wait for the pipe, or take the window's lines, were it inherited.
    command = [sys.executable, "-u", "-c", FIRST_WORDS]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, encoding="utf-8"
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write("order 水\n")
        process.stdin.flush()
        assert [process.stdout.readline() for _ in range(2)] == [f"{'order 水' + chr(10)!a}\n", "''\n"]
        told = process.stdout.readline().strip()
        rest, _ = process.communicate("cancel\n")
    assert rest == "cancel\n"
    if os.name == "posix":
        assert int(told) == min(19, os.getpriority(os.PRIO_PROCESS, 0) + NICENESS)


@pytest.mark.parametrize("program", ["pythonw.exe", "python.exe"])
def test_on_windows_a_child_is_started_by_the_python_that_has_streams(
    monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    monkeypatch.setattr("annotator.gui.session.run.os", SimpleNamespace(name="nt"))
    monkeypatch.setattr(sys, "executable", rf"C:\Users\pythonw\venv\Scripts\{program}")
    assert command() == (r"C:\Users\pythonw\venv\Scripts\python.exe", ["-m", "annotator"])


@pytest.fixture
def child(small, qtbot, monkeypatch: pytest.MonkeyPatch) -> Child:
    """A child that says which words it was started with, and which lines it was given."""
    child_says(
        monkeypatch,
        "import json, sys\n"
        "told = {'words': sys.argv, 'given': [sys.stdin.readline() for _ in range(2)]}\n"
        "print(json.dumps({'event': 'ended'} | told), flush=True)",
    )
    judges.add(small, "distant", base_url="http://127.0.0.1:9/v1", model="m")
    kept_keys.remember_key(small, judges.named(small, "distant"), KEY, session_only=True)
    return Child(ProjectSession(small))


def test_an_order_goes_in_as_a_line_and_a_key_only_through_the_environment(child, small, qtbot) -> None:
    with qtbot.waitSignal(child._session.refused) as told:
        assert not child.start(RunRequest("nobody"))
    assert "nobody" in told.args[0].happened
    assert not child.running
    for estimate in (False, True):
        with qtbot.waitSignal(child.ended) as ended:
            assert child.start(JUDGE_ORDER, estimate=estimate)
            child.say("pause")
        told = ended.args[0]
        assert (told["words"], told["given"][1]) == (["-c", "child"], "pause\n")
        request = orders.ChildRequest(small.path, JUDGE_ORDER, small.by, estimate=estimate, readonly=estimate)
        assert (orders.read(told["given"][0]), KEY in str(told)) == (request, False)
        # One that only counts is given none.
        assert (KEY in str(child.process.processEnvironment().toStringList())) is not estimate
