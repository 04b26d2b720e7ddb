"""The words that the glossary tells us to avoid are on no screen, in no help page and in no help of a command."""

import ast
import re
from collections.abc import Iterator
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
    for below in getattr(command, "commands", {}).values():
        yield from _helps(below, f"{name} {below.name}")


def test_no_screen_says_a_word_to_avoid() -> None:
    found = {reading.name(path): found_in_code(path.read_text("utf-8")) for path in reading.files(*SHOWN)}
    assert {name: words for name, words in found.items() if words} == {}


def test_no_page_of_help_and_no_help_of_a_command_says_a_word_to_avoid() -> None:
    told = dict(_helps(typer.main.get_command(saying.app), "goldsmith"))
    told |= {page.name: page.read_text("utf-8") for page in HELP.glob("*.md") if page != GLOSSARY}
    assert len(told) > 100
    assert {name: found_in(words) for name, words in told.items() if found_in(words)} == {}


def test_a_planted_word_is_found() -> None:
    planted = (
        'def page(n):\n    """Worded anew."""\n    return f"{n} files were taken " "in; the rest waits"\n'
    )
    assert found_in_code(planted) == [(3, "taken in")]
    assert found_in("Judge the units ANEW, whoever asks; draw --each-stage-anew") == ["ANEW", "whoever"]
