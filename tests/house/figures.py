"""How large the house is, how it hangs together, and how far a key is from the disk.

`python -m tests.house.figures` prints it; what a new protocol or kind touches is said by `test_planted.py`.
"""

import ast
import re
from pathlib import Path

import grimp

from tests.house import reading
from tests.windows import walks

# A paper is named by its package, by its name, or by the id of one of its protocols; one that is to come, too.
PAPER = re.compile(r"researcherbench|\badra|adra\b|deepscholar|\barena\b", re.IGNORECASE)
# What may name one: its own room, and the layouts in which its files come and go.
OWN = ("annotator/protocols/", "annotator/exchange/formats/")
# Systems that share a paper's name: a file, and the word there that tells a system's developer.
SYSTEMS = {("annotator/domain/judges/families.py", "deepscholar")}


def statements() -> int:
    nodes = (reading.statements(path.read_text("utf-8")) for path in reading.files("annotator"))
    return sum(isinstance(node, ast.stmt) for found in nodes for node in found)


def circles() -> int:
    """How many packages have modules or packages that import each other, however far round; types are not counted."""
    graph = grimp.build_graph("annotator", exclude_type_checking_imports=True, cache_dir=None)
    packages = ["annotator", *graph.find_descendants("annotator")]
    return sum(bool(graph.nominate_cycle_breakers(package)) for package in packages)


def naming_a_paper() -> list[Path]:
    """Files outside the papers' own places whose code names one; to cite one in a docstring is welcome."""
    return [
        path
        for path in reading.files("annotator")
        if not reading.name(path).startswith(OWN)
        and PAPER.search(path.read_text("utf-8"))
        and any(
            PAPER.search(words) and (reading.name(path), words) not in SYSTEMS
            for words in reading.said_in_code(path.read_text("utf-8"))
        )
    ]


def table() -> dict[str, str]:
    files = list(reading.files("annotator"))
    return {
        "statements": f"{statements():,}",
        "lines": f"{sum(map(reading.lines, files)):,}",
        "files": f"{len(files):,}",
        "packages with a circle": f"{circles()}",
        "files that name a paper elsewhere": f"{len(naming_a_paper())}",
    }


if __name__ == "__main__":
    for name, words in table().items():
        print(f"{name:36}{words}")
    print(*walks.told(), sep="\n")
