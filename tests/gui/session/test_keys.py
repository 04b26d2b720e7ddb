"""The bindings: unique, changed by the person, never in each other's way; and digits typed at any speed."""

import re
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest
from PySide6.QtCore import QObject, QSettings, Qt
from PySide6.QtGui import QKeySequence
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QLineEdit

from annotator.actions.contests import contest_rows
from annotator.actions.labelling.label_rows import UNSURE
from annotator.actions.project import people
from annotator.domain.judges.protocol import Level, ValueLook
from annotator.domain.kinds.artifact import Kind
from annotator.gui import keys
from annotator.gui.forms import forms
from annotator.gui.pages.labelling.unit_card import VerdictButtons
from annotator.gui.review.verdict_words import places
from annotator.gui.session.page import Page
from annotator.gui.session.session import ProjectSession
from annotator.gui.shell.navigation import PAGES
from annotator.gui.widgets.bars import KeyButton
from annotator.places import resources
from annotator.protocols import PROTOCOLS
from tests.actions.contests.contest_project import add_seminar, task
from tests.gui.shell.test_window import EVERY_PAGE
from tests.projects import pairs_project
from tests.storage import sql
from tests.windows.using import be_active, owned, press


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
    keys.restore_all()


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


MANY, PAUSE_MS = 12, 20
HELP = Path(__file__).parents[3] / "resources" / "help" / "labelling.md"
# What was answered, by subject in the order typed.
Answers = dict[Any, Any]


def typed(keys: str) -> Iterator[str]:
    return islice(cycle(keys), MANY)


def strike(number: int, key: str) -> None:
    """Press a key: most without a pause, each third one after the page has come to rest."""
    if number % 3 == 2:
        QTest.qWait(PAUSE_MS)
    press(key)


def adjudicate(folder: Path, page_over: Any) -> tuple[Answers, Answers]:
    """Two items; half of the rows both have worded, so that a ruling needs a reason, which none is given here."""
    project, takes = pairs_project.pairs_project(folder, 2), {"0": "drop", "1": "A", "2": "B"}
    words = [f"Names {n} of the {n * 7} causes in its {n * 13}th table" for n in range(MANY // 2)]
    for place in range(2):
        pairs_project.submit(project, {
            "Ada": pairs_project.rubric(tuple((one, 1 + n % 2) for n, one in enumerate(words)), "a"),
            "Ben": pairs_project.rubric(tuple((one, 3) for one in words[::2]), "b"),
        }, place)  # fmt: skip
    page = page_over(pairs_project.work_as(project, "Cleo"), "Adjudicate")
    page.frame.beginning.begin.click()
    keys, wanted = typed("0112"), {}
    for _ in range(2):
        here = {}
        for row, key in zip(page.bench.rows.values(), keys, strict=False):
            here[row.ruling.id] = "drop" if key == "0" or takes[key] not in row.units else takes[key]
        for number, take in enumerate(here.values()):
            strike(number, next(key for key, each in takes.items() if each == take))
        press("Ctrl+PgDown")
        wanted |= here
    return wanted, dict(sql.rows(project, "SELECT id, json_extract(content, '$.take') FROM ruling"))


def rank(folder: Path, page_over: Any) -> tuple[Answers, Answers]:
    project = pairs_project.pairs_project(folder)
    for seminar in range(3):
        add_seminar(project, f"s{seminar}", tuple(task(seminar * 20 + n) for n in range(20)))
    page = page_over(project, "Contest")
    wanted = {}
    for number, key in enumerate(typed("1638052749")):
        pair = page.ranking._pair
        # From the first nearly certainly, by 1, down to the second nearly certainly, by 0.
        side, sure = divmod((int(key) - 1) % 10, 5)
        steps = (0.95, 0.8, 0.7, 0.6, 0.5) if side == 0 else (0.5, 0.6, 0.7, 0.8, 0.95)
        wanted[pair.first.id, pair.second.id] = ("first", "second")[side], steps[sure]
        strike(number, key)
    ranked = contest_rows.showings(project, people.someone(project).id)
    return wanted, {(each.first, each.second): (each.value, each.confidence) for each in ranked}


@pytest.mark.parametrize("page", [adjudicate, rank], ids=lambda page: page.__name__)
def test_digits_at_any_speed_are_as_many_labels_each_where_it_belongs(
    page: Any, tmp_path: Path, page_over: Any
) -> None:
    wanted, result = page(tmp_path, page_over)
    assert (len(wanted), result) == (MANY, wanted)


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
