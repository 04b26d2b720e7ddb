"""What is known of a paper stands with the paper, and a bare connection with the store; nothing else names them."""

import re

import pytest

from tests.house import reading
from tests.house.test_lazy_imports import said

# A paper is named by its package, by its name, or by the id of one of its protocols; one that is to come, too.
PAPER = re.compile(r"researcherbench|\badra|adra\b|deepscholar|\barena\b", re.IGNORECASE)
# What may name one: its own room, and the layouts in which its files come and go.
OWN = ("annotator/protocols/", "annotator/exchange/formats/")
# Systems that share a paper's name: a file, and the word there that tells a system's developer.
SYSTEMS = {("annotator/domain/judges/judge.py", "deepscholar")}
# Each default of a function or a wish below the window that stays when another protocol is the usual one.
NAMED_BY_DEFAULT = """
import inspect, pkgutil
from dataclasses import is_dataclass
from importlib import import_module

import annotator
from annotator import protocols

protocols.USUAL = "adra.plan"
for room in ("actions", "cli"):
    folder = import_module(f"annotator.{room}")
    for module in pkgutil.walk_packages(folder.__path__, f"annotator.{room}."):
        for name, one in vars(import_module(module.name)).items():
            dataclassed = inspect.isclass(one) and is_dataclass(one)
            if (dataclassed or inspect.isfunction(one)) and one.__module__ == module.name:
                for default in inspect.signature(one).parameters.values():
                    if default.default in ("researcherbench.coverage", "coverage"):
                        print(module.name, name, default.name)
"""


def test_no_other_file_names_a_paper() -> None:
    """To cite one in a docstring is welcome."""
    naming = {
        reading.name(path)
        for path in reading.files("annotator")
        if not reading.name(path).startswith(OWN) and PAPER.search(path.read_text("utf-8"))
        for words in reading.said_in_code(path.read_text("utf-8"))
        if PAPER.search(words) and (reading.name(path), words) not in SYSTEMS
    }
    assert naming == set(), "say it in the paper's package"


def test_the_usual_protocol_is_said_once() -> None:
    assert said(NAMED_BY_DEFAULT) == "", "let it default to `protocols.USUAL` or `metrics.USUAL_METRIC`"


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
