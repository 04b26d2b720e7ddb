"""What holds of all code: alike on every system and Python, the glossary's words, owners of parts, and its size."""

import ast
import os
import re
import subprocess
import tomllib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import shiboken6
import typer
from PySide6.QtCore import QSettings
from PySide6.QtWidgets import QPushButton, QWidget

from annotator.cli import saying
from annotator.gui.parts import below, focused
from annotator.places import user_data
from tests.house import reading

# Where the mode stands among the arguments of what opens a file as text unless it says "b".
MODES = {"open": 1, "fdopen": 1, "TemporaryFile": 0, "NamedTemporaryFile": 0}
# What is looked at among the arguments with a name.
READ = ("mode", "text", "universal_newlines")
TEXT = re.compile(r"[rwaxt+]+")
# A source with a call that leaves the encoding to the system has one of these, written as the formatter does.
GUESSING = re.compile(
    r'(?<!Project\.)\b(?:fd)?open\(|TemporaryFile\(|read_text\((?!"utf-8"|encoding=)|write_text\(|text=True|universal_newlines=True'
)
# Before Python 3.11.5 a group that is repeated possessively may match less than it should (gh-106052).
POSSESSIVE_GROUP = re.compile(r"(?<!\\)\)(?:[*+?]|\{\d*,?\d*\})\+")


def calls(source: str, *needed: str) -> Iterator[ast.Call]:
    """Every call of a source; none where it has none of the words that a call looked for needs."""
    if not needed or any(word in source for word in needed):
        yield from (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))


def guesses_encoding(call: ast.Call) -> bool:
    """Whether a call leaves the encoding of a text to the system: UTF-8 on Linux, a code page on Windows."""
    if {"encoding", None} & {word.arg for word in call.keywords}:
        return False
    given = {word.arg: ast.unparse(word.value) for word in call.keywords if word.arg in READ}
    method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    if method in ("read_text", "write_text"):
        return len(call.args) <= (method == "write_text")
    if "True" in (given.get("text"), given.get("universal_newlines")):
        return True
    name = method or getattr(call.func, "id", "")
    if name not in MODES:
        return False
    if not method and name == "open" and len(call.args) == 1 and "mode" not in given:
        return True
    place = 0 if method == "open" and ast.unparse(call.func) != "io.open" else MODES[name]
    modes = [ast.unparse(arg) for arg in call.args[place : place + 1]] + [given.get("mode", "")]
    return any(TEXT.fullmatch(mode.strip("'")) for mode in modes)


def asks_for_local_time(call: ast.Call) -> bool:
    """Whether a call asks for a moment in local time, which Windows does not know before 1970."""
    bare = isinstance(call.func, ast.Attribute) and call.func.attr == "astimezone" and not call.args
    return bare and not ast.unparse(call.func).startswith("datetime.now(")


def test_every_text_is_read_and_written_in_an_encoding_that_is_named() -> None:
    files = [
        *reading.files("annotator", "benchmarks", "tests"),
        reading.HERE / "start.py",
        reading.HERE / "conftest.py",
    ]
    assert [
        f"{reading.name(path)}:{call.lineno}"
        for path in files
        if GUESSING.search(source := path.read_text("utf-8"))
        for call in calls(source)
        if guesses_encoding(call)
    ] == []


def test_local_time_is_asked_for_in_one_place() -> None:
    assert [
        reading.name(path)
        for path in reading.files("annotator")
        for call in calls(path.read_text("utf-8"), "astimezone")
        if asks_for_local_time(call)
    ] == ["annotator/domain/common.py"]


def test_a_temporary_folder_that_a_scanner_holds_for_a_moment_ends_nothing() -> None:
    made = [
        (reading.name(path), call)
        for path in reading.files("annotator")
        for call in calls(path.read_text("utf-8"), "TemporaryDirectory")
        if ast.unparse(call.func).endswith("TemporaryDirectory")
    ]
    assert len(made) > 3
    assert [name for name, call in made if "ignore_cleanup_errors=True" not in ast.unparse(call)] == []


def test_windows_is_not_asked_what_machine_this_is() -> None:
    """`platform` asks Windows' management service, which takes seconds or hangs (cpython 112278)."""
    asked = re.compile(r"platform\.(node|uname|machine|system|version|release|platform|processor)$")
    assert [
        f"{reading.name(path)}:{call.lineno}"
        for path in [*reading.files("annotator"), reading.HERE / "start.py"]
        for call in calls(path.read_text("utf-8"), "platform.")
        if asked.search(ast.unparse(call.func))
    ] == []


def test_a_second_command_opens_the_window_without_a_console() -> None:
    project = tomllib.loads((reading.HERE / "pyproject.toml").read_text("utf-8"))["project"]
    assert set(project["gui-scripts"].values()) == set(project["scripts"].values())
    assert not project["gui-scripts"].keys() & project["scripts"].keys()


def test_tests_keep_to_folders_of_their_own_on_every_system() -> None:
    own = Path(os.environ["XDG_DATA_HOME"]).parent
    assert Path(QSettings("goldsmith", "goldsmith").fileName()).is_relative_to(own)
    assert user_data().is_relative_to(own)


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ("path.read_text()", True), ("path.read_text('utf-8')", False), ("path.write_text(words)", True),
        ("path.write_text(words, 'utf-8')", False), ("run(words, text=True)", True),
        ("run(words, encoding='utf-8')", False), ("run(words, text=text)", False), ("open(path)", True),
        ("open(path, 'rb')", False), ("open(path, 'w', encoding='utf-8')", False), ("path.open('a')", True),
        ("path.open('rb+')", False), ("Project.open(path)", False), ("TemporaryFile('w+')", True),
        ("tempfile.TemporaryFile()", False), ("os.fdopen(number, 'r')", True), ("run(words, **settings)", False),
    ],
)  # fmt: skip
def test_the_search_finds_what_was_planted(source: str, found: bool) -> None:
    assert [guesses_encoding(call) for call in calls(source)] == [found]
    assert not found or GUESSING.search(source)


def test_no_group_is_repeated_possessively() -> None:
    assert [
        f"{reading.name(path)}: {line.strip()}"
        for path in reading.files("annotator")
        for line in path.read_text(encoding="utf-8").splitlines()
        if POSSESSIVE_GROUP.search(line)
    ] == []


# A paper is named by its package, by its name, or by the id of one of its protocols; one that is to come, too.
PAPER = re.compile(r"researcherbench|\badra|adra\b|deepscholar|\barena\b", re.IGNORECASE)
# What may name one: its own room, and the layouts in which its files come and go.
OWN = ("annotator/protocols/", "annotator/exchange/formats/")
# Systems that share a paper's name: a file, and the word there that tells a system's developer.
SYSTEMS = {("annotator/domain/judges/judge.py", "deepscholar")}


def test_no_other_file_names_a_paper() -> None:
    """To cite one in a docstring is welcome."""
    assert {
        reading.name(path)
        for path in reading.files("annotator")
        if not reading.name(path).startswith(OWN) and PAPER.search(path.read_text("utf-8"))
        for words in reading.said_in_code(path.read_text("utf-8"))
        if PAPER.search(words) and (reading.name(path), words) not in SYSTEMS
    } == set(), "say it in the paper's package"


@pytest.mark.parametrize(
    ("source", "named"),
    [
        ("NAME = 'adra.plan'", True), ("from annotator.protocols import adra", True), ("of.RESEARCHERBENCH", True),
        ("import deepscholar as it", True), ("f'{n} of ResearcherBench'", True), ("'''ADRA, §3.'''", False),
        ("x = 1  # ResearcherBench", False), ("x = 1\n'''As ADRA has it.'''", False), ("quadrant = 'arenas'", False),
    ],
)  # fmt: skip
def test_a_paper_is_named_by_code_and_not_by_citing_it(source: str, named: bool) -> None:
    assert any(PAPER.search(words) for words in reading.said_in_code(source)) is named


def test_nothing_outside_storage_takes_a_bare_connection() -> None:
    storage, ours = reading.HERE / "annotator/storage", reading.HERE / "tests/storage/sql.py"
    takers = {
        path
        for path in reading.files("annotator", "tests")
        if re.search(r"(?<!self)(?<=[\w)\]])\._raw\b", path.read_text("utf-8"))
    }
    assert ours in takers
    assert [path for path in takers - {ours} if not path.is_relative_to(storage)] == []


HELP = reading.HERE / "resources" / "help"
GLOSSARY = HELP / "glossary.md"
# Verbs of a project's history, keys of tables and notes of cards: what is stored stays as it was.
STORED = {"take in", "likeness", "Likeness", "nobody to be held against", "baseline: likeness "}
# What people read; what is written into schemas and prompts stays as it was.
SHOWN = (
    "annotator/gui", "annotator/actions", "annotator/cli", "annotator/domain/kinds", "annotator/exchange",
    "annotator/judging/attacks.py", "annotator/judging/batches", "annotator/protocols", "annotator/stats",
)  # fmt: skip


def avoided(glossary: str) -> list[str]:
    """The words to avoid: the last cell of each line of the glossary's tables, at commas."""
    lines = [line.strip().strip("|").split("|") for line in glossary.splitlines() if line.startswith("|")]
    cells = [cells[-1].strip() for cells in lines if not set(cells[-1].strip()) <= {"-"}]
    heads = ("do not use", "do not say")
    return [word.strip() for cell in cells if cell not in heads for word in cell.split(",")]


WORDS = sorted(avoided(GLOSSARY.read_text("utf-8")), key=len, reverse=True)
PATTERN = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, WORDS))})(?![\w-])", re.IGNORECASE)
# What a source has if a string of it has a word to avoid; a string may be written in pieces.
IN_CODE = re.compile("|".join(map(re.escape, map(str.lower, WORDS))).replace(r"\ ", r"[\s\"'fr]+"))


def found_in(words: str) -> list[str]:
    return PATTERN.findall(" ".join(words.split()))


def found_in_code(source: str) -> list[tuple[int, str]]:
    """The words to avoid, with their lines, in strings that may be shown: no docstrings, nothing that is stored."""
    if not IN_CODE.search(source.lower()):
        return []
    tree = ast.parse(source)
    alone = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    return [
        (node.lineno, word)
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in alone
        if node.value not in STORED
        for word in found_in(node.value)
    ]


def _helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for option in command.params:
        yield f"{name} {option.name}", getattr(option, "help", None) or ""
    for inner in [command.get_command(None, one) for one in getattr(command, "commands", ())]:
        yield from _helps(inner, f"{name} {inner.name}")


def test_no_screen_says_a_word_to_avoid() -> None:
    found = {reading.name(path): found_in_code(path.read_text("utf-8")) for path in reading.files(*SHOWN)}
    assert {name: words for name, words in found.items() if words} == {}


def test_no_page_of_help_and_no_help_of_a_command_says_a_word_to_avoid() -> None:
    told = dict(_helps(typer.main.get_command(saying.app), "goldsmith"))
    told |= {page.name: page.read_text("utf-8") for page in HELP.glob("*.md") if page != GLOSSARY}
    assert len(told) > 100
    assert {name: found_in(words) for name, words in told.items() if found_in(words)} == {}


def test_a_planted_word_is_found() -> None:
    assert found_in_code(
        'def page(n):\n    """Worded anew."""\n    return f"{n} files were taken " "in; the rest waits"\n'
    ) == [(3, "taken in")]
    assert found_in("Judge the units ANEW, whoever asks; draw --each-stage-anew") == ["ANEW", "whoever"]


CHILDREN = "verticalScrollBar|horizontalScrollBar|horizontalHeader|verticalHeader|header|viewport"
KEPT_CHILD = re.compile(rf"self\.\w+(, self\.\w+)* = [\w.]*\b({CHILDREN})\(\)(?!\.)")


def test_no_attribute_keeps_a_child_that_qt_made() -> None:
    """Python's hold on such a child may end before the child does: its owner is asked for it each time."""
    assert [
        reading.name(path)
        for path in reading.files("annotator/gui")
        if KEPT_CHILD.search(path.read_text("utf-8"))
    ] == []


ADOPTING = re.compile(r"\.findChild(ren)?\(|InFocusChain\(|(?<!QApplication)\.focusWidget\(")


def test_no_part_is_found_by_a_search_that_adopts_it() -> None:
    """PySide makes what such calls find a child of the object asked: `annotator.gui.parts` looks without that."""
    assert [
        reading.name(path)
        for path in reading.files("annotator/gui")
        if path.name != "parts.py" and ADOPTING.search(path.read_text("utf-8"))
    ] == []


def test_parts_are_found_in_the_order_of_qt_and_are_not_adopted(qapp) -> None:
    whole = QWidget()
    inner = QWidget(whole)
    deep, beside = QPushButton(inner), QPushButton(whole)
    before = shiboken6.dump(whole)
    assert list(below(whole, QPushButton)) == [deep, beside]
    assert shiboken6.dump(whole) == before


def test_what_has_the_focus_is_told_and_stays_with_its_own_parent(qapp) -> None:
    whole = QWidget()
    inner = QWidget(whole)
    deep = QPushButton(inner)
    assert focused(whole) is None
    deep.setFocus()
    before = shiboken6.dump(whole)
    assert focused(whole) is deep
    assert shiboken6.dump(whole) == before


RATCHET = reading.HERE / "tests/house/size.toml"


def measured() -> dict[str, dict[str, int]]:
    """Statements and modules of every tracked Python file: of the program, its tests, the rest, and in all."""
    statements: Counter[str] = Counter()
    modules: Counter[str] = Counter()
    listed = ["git", "ls-files", "-z", "--", "*.py"]
    names = subprocess.run(listed, cwd=reading.HERE, capture_output=True, check=True).stdout.decode()
    for path in (reading.HERE / name for name in names.split("\0") if name):
        # A file that was moved or removed, but not committed yet.
        if path.is_file():
            room = reading.name(path).partition("/")[0]
            room = room if room in ("annotator", "tests") else "rest"
            nodes = reading.statements(path.read_text("utf-8"))
            count = sum(isinstance(node, ast.stmt) for node in nodes)
            for key in (room, "all"):
                statements[key] += count
                modules[key] += 1
    return {"statements": dict(statements), "modules": dict(modules)}


def test_the_house_only_becomes_smaller() -> None:
    most, now = tomllib.loads(RATCHET.read_text("utf-8")), measured()
    pairs = [(now[kind][room], most[kind][room]) for kind in now for room in now[kind]]
    new = "\n".join(f"[{kind}]\n" + "".join(f"{k} = {n}\n" for k, n in now[kind].items()) for kind in now)
    if all(count < limit for count, limit in pairs):
        print(f"All sizes are lower than in {reading.name(RATCHET)}; the new ones:\n{new}")
    assert [pair for pair in pairs if pair[0] > pair[1]] == [], (
        f"larger than {reading.name(RATCHET)} allows (now, most); the sizes now:\n{new}"
    )
