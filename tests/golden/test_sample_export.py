"""The release of the sample's shipped part is the one that is committed, byte for byte."""

from pathlib import Path

from annotator.actions.imports import samples
from annotator.actions.releases import releases
from tests.material.bundles import found

COMMITTED = Path(__file__).parents[2] / "exports" / "sample"


def test_what_the_sample_ships_is_released_as_it_was_committed(tmp_path):
    project = samples.create(tmp_path / "sample.goldsmith", to_work_in=False)
    releases.export(project, tmp_path / "release")
    project.close()
    assert found(tmp_path / "release") == found(COMMITTED)
