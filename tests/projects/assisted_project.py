"""Rubrics of Ada and Ben that share no word, and a judge on loopback that knows which criteria mean the same."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from annotator.actions.project.file import Project
from tests.judging.odd_server import Odd, OddServer, at_work, completion
from tests.projects import pairs_project as pairs
from tests.servers.served import add_judge

# Item by item: Ada's list, Ben's list. Criteria with the same letter mean the same.
ADA = (
    (("Explains attribution of claims", 3), ("Names datasets", 2), ("Prices human labour", 1)),
    (("Discusses multilingual evaluation", 1), ("Outlines retrieval failures", 2)),
)
BEN = (
    (("Says where money goes", 2), ("Ties sentences to passages", 3), ("Lists corpora", 1), ("Cites law", 2)),
    (("Shows why search goes wrong", 2), ("Covers several languages", 1)),
)
# Of the first item two of three and four are paired, F1 4/7; of the second both, F1 1.
SAME = {
    "Explains attribution of claims": "Ties sentences to passages",
    "Names datasets": "Lists corpora",
    "Discusses multilingual evaluation": "Covers several languages",
    "Outlines retrieval failures": "Shows why search goes wrong",
}
F1 = (4 / 7, 1.0)
# Weights of those pairs, Ada's first: 3 3, 2 1; 1 1, 2 2. Three of four agree.
AGREEMENT = 3 / 4


def assisted_project(folder: Path, server: OddServer, items: int = 2) -> Project:
    """So many items with both rubrics sealed and their agreement frozen; Cora works, and has a judge."""
    project = pairs.pairs_project(folder, items)
    for place in range(items):
        first, second = (each[place] for each in (ADA, BEN))
        pairs.submit(project, {"Ada": pairs.rubric(first, "a"), "Ben": pairs.rubric(second, "b")}, place)
    pairs.work_as(project, "Cora")
    add_judge(project, server)
    return project


@contextmanager
def pairing(otherwise: Callable[[set[str]], str] = lambda _: "") -> Iterator[OddServer]:
    """A server that pairs what means the same; `otherwise` may say another thing of some entries."""
    with at_work(OddServer()) as server:
        server.answer = knowing(otherwise)
        yield server


def knowing(otherwise: Callable[[set[str]], str]) -> Callable[[dict[str, Any], int], Odd]:
    """What such a server replies."""

    def answer(body: dict[str, Any], number: int) -> Odd:
        first, second = listed(body)
        said = otherwise({*first, *second})
        both = SAME | {there: here for here, there in SAME.items()}
        result = [
            {"first": place, "second": second.index(both[words]) + 1}
            for place, words in enumerate(first, start=1)
            if both.get(words) in second
        ]
        return completion(said or json.dumps({"pairs": result}))

    return answer


def listed(body: dict[str, Any]) -> tuple[list[str], list[str]]:
    first, _, second = body["messages"][1]["content"].partition("The second list:")
    entry = re.compile(r"^\d+\. (.+)$", re.MULTILINE)
    return entry.findall(first), entry.findall(second)
