"""What the bundle is built of: every package to its version and hash, for each system, from nowhere in particular."""

import re
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from installers import lock
from installers.lock import LOCK, SYSTEMS, Wheel

TEXT = LOCK.read_text("utf-8")
LINES = [line for line in TEXT.replace(" \\\n", "").splitlines() if not line.startswith("#")]


def locked() -> dict[str, Requirement]:
    result = [Requirement(line.split(" --hash")[0].strip()) for line in LINES]
    return {canonicalize_name(one.name): one for one in result}


def test_every_line_has_one_version_and_hashes_and_no_address() -> None:
    line = re.compile(r"[a-z0-9-]+==[\w.+!-]+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+")
    assert [one for one in LINES if not line.fullmatch(one)] == []
    assert "://" not in TEXT
    assert list(locked()) == sorted(locked())
    assert len(locked()) == len(LINES) > 50


@pytest.mark.parametrize("system", SYSTEMS, ids=lambda one: f"{one.sys_platform}-{one.machine}")
def test_what_the_project_asks_for_is_locked_for_every_system(system: lock.System) -> None:
    """Where this fails, a requirement was changed: `python -m installers.lock` makes the lock again."""
    asked = [one for one in lock.asked() if one.marker is None or one.marker.evaluate(system.environment)]
    known = locked()
    for one in asked:
        result = known[canonicalize_name(one.name)]
        (pinned,) = result.specifier
        assert one.specifier.contains(pinned.version, prereleases=True), f"{one} is locked as {result}"
        assert result.marker is None or result.marker.evaluate(system.environment), (
            f"{one} is not for this system"
        )


def test_conditions_are_read_for_the_system_that_is_asked_for() -> None:
    linux, windows = SYSTEMS[0], next(one for one in SYSTEMS if one.sys_platform == "win32")
    names = {canonicalize_name(one.name) for one in lock.asked() if one.marker is None}
    wheels = {name: Wheel("1", "a" * 64, ()) for name in names}
    wheels["typer"] = Wheel("1", "a" * 64, ("colorama>=2; sys_platform == 'win32'", "odd; extra == 'all'"))
    wheels["openai"] = Wheel("1", "a" * 64, ("httpx-aiohttp; extra == 'aiohttp'", "aiohttp"))
    assert lock.needed(linux, wheels) == (names, ["httpx-aiohttp"])
    assert lock.needed(windows, wheels) == (names, ["colorama>=2", "httpx-aiohttp", "tzdata"])


def test_the_lock_tells_where_a_package_is_needed_and_each_systems_hash() -> None:
    linux, arm = SYSTEMS[:2]
    told = lock.written({
        linux: {"b": Wheel("1", "c" * 64, ()), "a": Wheel("2", "d" * 64, ())},
        arm: {"b": Wheel("1", "e" * 64, ())},
    })  # fmt: skip
    assert told.splitlines()[1:] == [
        "a==2 ; sys_platform == 'linux' and platform_machine == 'x86_64' \\",
        f"    --hash=sha256:{'d' * 64}",
        "b==1 \\",
        f"    --hash=sha256:{'c' * 64} \\",
        f"    --hash=sha256:{'e' * 64}",
    ]


def test_a_set_that_pip_does_not_find_leaves_the_lock_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pip").mkdir()
    (tmp_path / "pip/__init__.py").touch()
    (tmp_path / "pip/__main__.py").write_text("raise SystemExit('nothing found')", "utf-8")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(lock, "LOCK", tmp_path / "lock.txt")
    assert lock.main() == 1
    assert "pip finds no set of wheels for manylinux_2_34_x86_64" in capfd.readouterr().err
    assert not (tmp_path / "lock.txt").exists()
