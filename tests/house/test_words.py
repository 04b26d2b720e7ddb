"""The words that the glossary tells us to avoid are on no screen, in no help page and in no help of a command."""

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import typer

from annotator.cli import saying
from tests.house import reading

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


@cache
def _words() -> str:
    return "|".join(map(re.escape, sorted(avoided(GLOSSARY.read_text("utf-8")), key=len, reverse=True)))


@cache
def _pattern() -> re.Pattern[str]:
    return re.compile(rf"(?<![\w-])(?:{_words()})(?![\w-])", re.IGNORECASE)


@cache
def _pattern_in_code() -> re.Pattern[str]:
    """What a source in small letters has if a string of it has a word to avoid; a string may be written in pieces."""
    return re.compile(_words().lower().replace(r"\ ", r"[\s\"'fr]+"))


def found_in(words: str) -> list[str]:
    return _pattern().findall(" ".join(words.split()))


def shown(source: str) -> Iterator[tuple[int, str]]:
    """The strings of a module that may be shown: none of them a docstring, none of them stored."""
    tree = ast.parse(source)
    documented = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documented:
            continue
        if node.value not in STORED:
            yield node.lineno, node.value


def _in_modules(paths: Iterable[Path], below: Path = reading.HERE) -> list[str]:
    return [
        f"{path.relative_to(below).as_posix()}:{line}: {word}"
        for path in paths
        if _pattern_in_code().search((source := path.read_text("utf-8")).lower())
        for line, words in shown(source)
        for word in found_in(words)
    ]


def _helps(command: Any, name: str) -> Iterator[tuple[str, str]]:
    yield name, command.help or ""
    for option in command.params:
        yield f"{name} {option.name}", getattr(option, "help", None) or ""
    for below in getattr(command, "commands", {}).values():
        yield from _helps(below, f"{name} {below.name}")


def test_the_glossary_is_a_topic_of_help_and_names_words_to_avoid() -> None:
    words = avoided(GLOSSARY.read_text("utf-8"))
    assert len(words) > 30
    assert {"worded anew", "whoever", "merged version"} <= set(words)
    assert "do not use" not in words


def test_no_screen_says_a_word_to_avoid() -> None:
    assert _in_modules(path for path in reading.files(*SHOWN)) == []


def test_no_page_of_help_says_a_word_to_avoid() -> None:
    pages = [page for page in HELP.glob("*.md") if page != GLOSSARY]
    result = {page.name: found_in(page.read_text("utf-8")) for page in pages}
    assert {name: words for name, words in result.items() if words} == {}


def test_no_help_of_a_command_says_a_word_to_avoid() -> None:
    helps = list(_helps(typer.main.get_command(saying.app), "goldsmith"))
    assert len(helps) > 100
    assert [(name, word) for name, words in helps for word in found_in(words)] == []


def test_a_planted_word_is_found(tmp_path: Path) -> None:
    planted = (
        'def page(n):\n    """Worded anew."""\n    return f"{n} files were taken " "in; the rest waits"\n'
    )
    (tmp_path / "planted.py").write_text(planted, "utf-8")
    assert _in_modules([tmp_path / "planted.py"], tmp_path) == ["planted.py:3: taken in"]
    assert found_in("Judge the units ANEW, whoever asks") == ["ANEW", "whoever"]
    assert found_in("draw --each-stage-anew") == []
