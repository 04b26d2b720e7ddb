"""Well-signed work with anything changed in it: it is taken in or refused in words, and never ends an intake."""

import json
import random
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.authoring import guidelines
from annotator.actions.parcels import parcel_secrets, tasking, unpacking
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.experts.assignment import Stage
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.texts.refusal import Refusal
from tests.exchange.parcels.hand_made_zip import forged
from tests.material.sent_apart import annotators, coordinated, project_in, returned

ROUNDS = 150
ODD: tuple[Any, ...] = (
    None, True, -1, 0, 2**62, 1e308, "", "x" * 5000, "\u202e", [], {}, [[]], {"a": 1}, "2026-02-30T00:00:00Z",
    "2026-01-01T00:00:00", "0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00", "rubric", "labelling", "0" * 64,
)  # fmt: skip


def places(tree: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    parts = tree.items() if isinstance(tree, dict) else enumerate(tree) if isinstance(tree, list) else ()
    for key, part in parts:
        yield (*path, key)
        yield from places(part, (*path, key))


def spoiled(tree: Any, chance: random.Random) -> Any:
    """The tree with one value changed, taken away, or put in twice."""
    *way, last = chance.choice(list(places(tree)))
    parent = tree
    for key in way:
        parent = parent[key]
    act = chance.randrange(3)
    if act == 0:
        del parent[last]
    elif act == 1 and isinstance(parent, list):
        parent.append(parent[last])
    else:
        parent[last] = chance.choice(ODD)
    return tree


def spoil(good: bytes, key: bytes, entry: str, chance: random.Random) -> bytes:

    def change(entries: dict[str, bytes]) -> None:
        entries[entry] = json.dumps(spoiled(json.loads(entries[entry]), chance)).encode()

    return forged(good, key, change)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, Path]]:
    """A coordinator's project, and the folder in which Ana has hers and what she sent."""
    folder = tmp_path_factory.mktemp("malformed")
    project = coordinated(folder / "home")
    guidelines.write(project, Stage.RUBRIC, "One claim each.")
    returned(project, annotators(project)[0].id, folder / "ana")
    yield project, folder / "ana"
    project.close()


def test_no_change_of_a_value_ends_an_intake(home: tuple[Project, Path], tmp_path: Path) -> None:
    project, folder = home
    with closing(Project.open(project_in(folder))) as theirs:
        key = parcel_secrets.signing_key(theirs)
    good, chance = next(folder.glob("*.goldsmith-work")).read_bytes(), random.Random(23)
    paths = []
    for number in range(ROUNDS):
        paths.append(tmp_path / f"{number}.goldsmith-work")
        paths[-1].write_bytes(spoil(good, key, "artifacts.json", chance))
    found = unpacking.take_in(project, paths)
    outcomes = {arrival.outcome for arrival in found}
    assert (len(found), ParcelOutcome.DAMAGED in outcomes, ParcelOutcome.OTHER_KEY in outcomes) == (
        ROUNDS,
        True,
        False,
    )
    assert checking.check(project).problems == []


@pytest.mark.parametrize("entry", ["person.json", "items.json", "assignments.json", "guidelines.json"])
def test_no_change_of_a_value_leaves_a_task_half_taken(
    entry: str, home: tuple[Project, Path], tmp_path: Path
) -> None:
    project, folder = home
    task, key = next(folder.glob("*.goldsmith-task")), parcel_secrets.signing_key(project)
    chance, good = random.Random(entry), task.read_bytes()
    for number in range(20):
        bad = tmp_path / f"{number}.goldsmith-task"
        bad.write_bytes(spoil(good, key, entry, chance))
        try:
            theirs = tasking.take_task(bad, tmp_path / f"{number}.goldsmith").project
        except Refusal:
            assert not (tmp_path / f"{number}.goldsmith").exists()
            continue
        assert checking.check(theirs).problems == []
        theirs.close()
