"""The ratchet: the program and its tests only become smaller."""

import ast
import subprocess
import tomllib
from collections import Counter

from tests.house import reading

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
    larger = [pair for pair in pairs if pair[0] > pair[1]]
    assert larger == [], f"larger than {reading.name(RATCHET)} allows (now, most); the sizes now:\n{new}"
