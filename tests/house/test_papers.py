"""What is known of a paper stands with the paper: nothing new outside its own places may name one."""

import pytest

from tests.house import figures, reading
from tests.house.test_lazy_imports import said

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
    naming = [reading.name(path) for path in figures.naming_a_paper()]
    assert naming == [], "say it in the paper's package"


def test_the_usual_protocol_is_said_once() -> None:
    assert said(NAMED_BY_DEFAULT) == "", "let it default to `protocols.USUAL` or `metrics.USUAL_METRIC`"


@pytest.mark.parametrize(
    "source",
    ["NAME = 'adra.plan'", "from annotator.protocols import adra", "import deepscholar as it", "of.RESEARCHERBENCH",
     "f'{n} of ResearcherBench'"],
)  # fmt: skip
def test_a_paper_is_named_by_code(source: str) -> None:
    assert any(figures.PAPER.search(words) for words in reading.said_in_code(source))


@pytest.mark.parametrize(
    "source",
    ["'''ADRA, §3.'''", "x = 1  # ResearcherBench", "x = 1\n'''As ADRA has it.'''", "quadrant = 'arenas'"],
)
def test_citing_a_paper_is_not_naming_it(source: str) -> None:
    assert not any(figures.PAPER.search(words) for words in reading.said_in_code(source))
