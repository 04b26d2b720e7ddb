"""What an installed Goldsmith brings along."""

import subprocess
import sys
import zipfile

import pytest

from tests.house.reading import HERE


@pytest.fixture(scope="module")
def names(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    """The names in the wheel, built without a network."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    result = subprocess.run(command, cwd=HERE, capture_output=True, encoding="utf-8", check=False)
    assert result.returncode == 0, result.stderr
    (wheel,) = folder.glob("goldsmith-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        return set(archive.namelist())


def shipped(folder: str) -> set[str]:
    """The files of a folder of the checkout, as they are called inside the package."""
    return {
        f"annotator/{path.relative_to(HERE).as_posix()}"
        for path in (HERE / folder).rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


@pytest.mark.parametrize("folder", ["resources", "schemas"])
def test_the_wheel_holds_every_shipped_file(names: set[str], folder: str) -> None:
    wanted = shipped(folder)
    assert wanted
    assert wanted <= names


def test_the_wheel_holds_every_module_and_migration(names: set[str]) -> None:
    modules = {path.relative_to(HERE).as_posix() for path in (HERE / "annotator").rglob("*.py")}
    assert "annotator/storage/migrations.py" in modules
    assert modules <= names


def test_the_wheel_leaves_tests_and_databases_out(names: set[str]) -> None:
    assert not [name for name in names if name.startswith("tests/") or name.endswith(".goldsmith")]
