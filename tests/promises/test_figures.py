"""What Goldsmith promises about figures."""

import random

import pytest

from annotator.actions import materials, results
from annotator.actions.project import Project
from annotator.actions.scoring import Score
from annotator.domain.protocol import Material, Protocol, Scored
from annotator.protocols import PROTOCOLS
from tests.labelled_protocols import one_item

PATTERNS, ITEMS = 2_000, 6
JUDGED = [name for name, shape in PROTOCOLS.items() if shape.values]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    return one_item(tmp_path_factory.mktemp("figures"))


def units_asked(project: Project, protocol: str) -> list[tuple[Material, list[str]]]:
    """Each response of the project, with the units that a rater is asked about under a protocol."""
    shape = PROTOCOLS[protocol]
    found = []
    for at_hand in materials.each(project, materials.for_judging(shape), materials.item_ids(project)):
        for material in at_hand.responses:
            units = [unit.id for case in shape.cases(material) for unit in case.units]
            if units:
                found.append((material, units))
    return found


def answers(
    shape: Protocol, material: Material, units: list[str], share: float, chance: random.Random
) -> Scored:
    """Values drawn by chance for a response, of which a share is missing."""
    said, back = (
        {unit: chance.choice(shape.values) for unit in units if chance.random() > share} for _ in range(2)
    )
    return Scored(material, said, back if shape.paired else {})


@pytest.mark.parametrize("protocol", JUDGED)
def test_no_pattern_of_missing_judgements_puts_a_value_outside_its_bounds(
    protocol: str, project: Project
) -> None:
    shape, chance = PROTOCOLS[protocol], random.Random(protocol)
    asked = units_asked(project, protocol)
    assert asked
    widened = 0
    for _ in range(PATTERNS):
        share = chance.random()
        said = [answers(shape, *chance.choice(asked), share, chance) for _ in range(ITEMS)]
        for metric in shape.metrics:
            found = [metric.score(scored, True) for scored in said]
            scores = [
                Score(str(item), "s", metric.name, (), one, "", 1, "", 0) for item, one in enumerate(found)
            ]
            (shown,) = results.estimates(scores, ["s"], 2)
            if shown.value is not None:
                assert shown.floor is not None
                assert shown.ceiling is not None
                assert shown.floor <= shown.value <= shown.ceiling, (metric.name, shown)
                widened += shown.floor < shown.value < shown.ceiling
    assert widened
