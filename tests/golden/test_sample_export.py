"""The release of the sample's shipped part is the one that is committed, byte for byte."""

from pathlib import Path

from annotator.actions.imports import samples
from annotator.actions.releases import releases

COMMITTED = Path(__file__).parents[2] / "exports" / "sample"


def content(folder: Path) -> dict[str, bytes]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }


def test_what_the_sample_ships_is_released_as_it_was_committed(tmp_path):
    project = samples.create(tmp_path / "sample.goldsmith", to_work_in=False)
    releases.export(project, tmp_path / "release")
    project.close()
    assert content(tmp_path / "release") == content(COMMITTED)
