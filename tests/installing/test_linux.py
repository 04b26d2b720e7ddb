"""Packages for Linux, made of a stand-in: what they hold, bring, leave alone and take away."""

import hashlib
import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from installers import linux
from installers.payload import Payload, file_kinds, stand_in


def needs(*tools: str) -> pytest.MarkDecorator:
    missing = [tool for tool in tools if shutil.which(tool) is None]
    return pytest.mark.skipif(bool(missing), reason=f"missing here: {', '.join(missing)}")


def said(*command: object, **more: str) -> str:
    result = subprocess.run(
        list(map(str, command)), capture_output=True, encoding="utf-8", check=True, env=os.environ | more
    )
    return result.stdout


def made_of(folder: Path, name: str, **more: object) -> Payload:
    return Payload(stand_in(folder / name), **more)


def sums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }


def packed(payload: Payload, folder: Path) -> Path:
    folder.mkdir()
    return linux.deb(payload, folder)


def unpacked(package: Path, root: Path) -> Path:
    said("dpkg-deb", "-x", package, root)
    return root


@needs("dpkg-deb")
def test_two_debs_of_one_folder_are_the_same_to_the_byte(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "1790000000")
    one = made_of(tmp_path, "one")
    shutil.copytree(one.folder, tmp_path / "two", symlinks=True)
    for path in (tmp_path / "two").rglob("*"):
        if not path.is_symlink():
            path.chmod(0o700 if path.is_dir() or os.access(path, os.X_OK) else 0o600)
            os.utime(path, (1, 1))
    first, second = packed(one, tmp_path / "a"), packed(Payload(tmp_path / "two"), tmp_path / "b")
    assert first.name == second.name
    assert first.read_bytes() == second.read_bytes()


@needs("dpkg-deb")
def test_a_deb_asks_for_what_the_window_needs_and_runs_nothing_of_its_own(tmp_path: Path) -> None:
    package = packed(made_of(tmp_path, "built", version="0.2.0rc1", machine="x86_64"), tmp_path / "to")
    assert package.name == "Goldsmith-0.2.0rc1-linux-x86_64.deb"
    fields = dict(
        line.split(": ", 1) for line in said("dpkg-deb", "-f", package).splitlines() if ": " in line
    )
    assert (fields["Package"], fields["Version"], fields["Architecture"]) == (
        "goldsmith",
        "0.2.0~rc1",
        "amd64",
    )
    for one in (
        "libc6 (>= 2.34)",
        "ca-certificates",
        "libegl1",
        "fontconfig-config",
        "libwayland-cursor0",
        "xkb-data",
    ):
        assert one in fields["Depends"]
    assert "fonts-noto-cjk" in fields["Recommends"]
    control = tmp_path / "control"
    said("dpkg-deb", "-e", package, control)
    assert {path.name for path in control.iterdir()} == {"control", "md5sums"}
    said(
        "sh",
        "-c",
        f"cd '{unpacked(package, tmp_path / 'root')}' && md5sum --quiet --check '{control}/md5sums'",
    )
    listed = said("dpkg-deb", "-c", package).splitlines()
    assert all(" root/root " in line for line in listed)
    assert not any(re.match(r".....w|........w", line) for line in listed if not line.startswith("l"))


@needs("dpkg-deb")
def test_a_deb_brings_the_command_the_menu_entry_and_all_kinds_of_file(tmp_path: Path) -> None:
    root = unpacked(packed(made_of(tmp_path, "built"), tmp_path / "to"), tmp_path / "root")
    assert said(root / "usr/bin/goldsmith", "a.goldsmith") == "opened: a.goldsmith\n"
    entry = (root / "usr/share/applications/goldsmith.desktop").read_text("utf-8")
    types = (root / "usr/share/mime/packages/goldsmith.xml").read_text("utf-8")
    assert [kind.short for kind in file_kinds()] == ["project", "task", "work"]
    for kind in file_kinds():
        assert f"{kind.mime};" in entry
        assert f'"*{kind.ending}"' in types
    assert (root / "usr/share/icons/hicolor/scalable/apps/goldsmith.svg").is_file()


@needs("dpkg-deb")
def test_a_second_version_lies_beside_the_first_and_leaves_it_the_files(tmp_path: Path) -> None:
    first = unpacked(packed(made_of(tmp_path, "one"), tmp_path / "a"), tmp_path / "first")
    payload = made_of(tmp_path, "two", version="0.3.0", beside=True)
    package = packed(payload, tmp_path / "b")
    second = unpacked(package, tmp_path / "second")
    assert not sums(first).keys() & sums(second).keys()
    assert said("dpkg-deb", "-f", package, "Package") == "goldsmith-0.3.0\n"
    assert said(second / "usr/bin/goldsmith-0.3.0", "x") == "opened: x\n"
    entry = (second / "usr/share/applications/goldsmith-0.3.0.desktop").read_text("utf-8")
    assert "Name=Goldsmith 0.3.0" in entry
    assert "Exec=goldsmith-0.3.0 %f" in entry
    assert "MimeType" not in entry
    assert not (second / "usr/share/mime").exists()


@needs("desktop-file-validate")
@pytest.mark.parametrize("beside", [False, True])
def test_menu_entries_are_valid(tmp_path: Path, beside: bool) -> None:
    linux.told(Payload(stand_in(tmp_path / "built"), beside=beside), tmp_path / "share", "goldsmith")
    (entry,) = (tmp_path / "share/applications").iterdir()
    assert "error" not in said("desktop-file-validate", entry)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home whose name has what often goes wrong in it, with a project and settings."""
    made = tmp_path / "home é 界"
    (made / "work").mkdir(parents=True)
    (made / "work/mine.goldsmith").write_bytes(b"a project")
    (made / ".config").mkdir()
    (made / ".config/goldsmith.conf").write_bytes(b"[theme]\n")
    return made


def installed(home: Path, folder: Path, payload: Payload) -> Path:
    folder.mkdir()
    said(linux.run(payload, folder), HOME=str(home), XDG_DATA_HOME=str(home / ".local/share"))
    return home / ".local/lib" / payload.slug


def removed(home: Path, program: Path) -> str:
    return said("sh", program / "uninstall.sh", HOME=str(home), XDG_DATA_HOME=str(home / ".local/share"))


@needs("makeself")
def test_a_run_installs_for_one_person_and_its_uninstaller_leaves_everything_else(
    tmp_path: Path, home: Path
) -> None:
    before, payload = sums(home), made_of(tmp_path, "built")
    program = installed(home, tmp_path / "to", payload)
    assert set(payload.files) <= {path.relative_to(program).as_posix() for path in program.rglob("*")}
    assert said(home / ".local/bin/goldsmith", "a.goldsmith") == "opened: a.goldsmith\n"
    entry = (home / ".local/share/applications/goldsmith.desktop").read_text("utf-8")
    assert f'Exec="{program}/goldsmith" %f' in entry
    assert (home / ".local/share/mime/packages/goldsmith.xml").is_file()
    # Somebody keeps a project beside the program, and in one of its folders.
    kept = [program / "kept.goldsmith", program / "_internal/kept.goldsmith"]
    for path in kept:
        path.write_bytes(b"another project")
    assert "is still there" in removed(home, program)
    assert sorted(path for path in program.rglob("*") if not path.is_dir()) == sorted(kept)
    assert not (home / ".local/bin/goldsmith").is_symlink()
    assert not (home / ".local/share/applications/goldsmith.desktop").exists()
    assert not (home / ".local/share/mime/packages/goldsmith.xml").exists()
    assert sums(home).items() >= before.items()


@needs("makeself")
def test_a_later_run_takes_away_what_the_earlier_brought(tmp_path: Path, home: Path) -> None:
    old = made_of(tmp_path, "old")
    (old.folder / "_internal/old library.so").write_bytes(b"old")
    program = installed(home, tmp_path / "a", Payload(old.folder))
    assert (program / "_internal/old library.so").is_file()
    installed(home, tmp_path / "b", made_of(tmp_path, "new"))
    assert not (program / "_internal/old library.so").exists()
    assert "Projects and settings" in removed(home, program)
    assert not program.exists()


@needs("makeself")
def test_a_run_writes_over_nothing_that_it_did_not_bring(tmp_path: Path, home: Path) -> None:
    foreign = home / ".local/lib/goldsmith/goldsmith"
    foreign.parent.mkdir(parents=True)
    foreign.write_bytes(b"somebody's own")
    before = sums(home)
    with pytest.raises(subprocess.CalledProcessError) as told:
        installed(home, tmp_path / "to", made_of(tmp_path, "built"))
    assert "Nothing was installed" in told.value.stderr
    assert sums(home) == before


@needs("makeself")
def test_removing_one_version_leaves_the_file_types_to_the_other(tmp_path: Path, home: Path) -> None:
    program = installed(home, tmp_path / "a", made_of(tmp_path, "one"))
    other = installed(home, tmp_path / "b", made_of(tmp_path, "two", version="0.3.0", beside=True))
    entry = home / ".local/share/applications/goldsmith.desktop"
    assert f'"{program}/goldsmith"' in entry.read_text("utf-8")
    removed(home, other)
    assert entry.exists()
    assert said(home / ".local/bin/goldsmith", "x") == "opened: x\n"


def test_a_link_to_an_appdir_starts_the_program(tmp_path: Path) -> None:
    (tmp_path / "to").mkdir()
    made = linux.appdir(made_of(tmp_path, "built", version="0.1.0", machine="x86_64"), tmp_path / "to")
    assert made.name == "Goldsmith-0.1.0-linux-x86_64.AppDir"
    (tmp_path / "link").symlink_to(made / "AppRun")
    assert said(tmp_path / "link", "a b.goldsmith") == "opened: a b.goldsmith\n"
    # What a maker of AppImages looks for in the folder itself.
    assert "Icon=goldsmith\n" in (made / "goldsmith.desktop").read_text("utf-8")
    assert (made / "goldsmith.svg").read_bytes() == (made / ".DirIcon").read_bytes()


@needs("dpkg-deb", "objdump")
def test_a_deb_asks_for_the_newest_c_library_that_its_files_ask_for(tmp_path, monkeypatch):
    payload = made_of(tmp_path, "new")
    shutil.copy(shutil.which("true"), payload.folder / "_internal/library.so")
    monkeypatch.setattr(linux.gates, "newest", lambda path: (2, 39))
    assert "libc6 (>= 2.39)" in said("dpkg-deb", "--field", packed(payload, tmp_path / "to"), "Depends")
