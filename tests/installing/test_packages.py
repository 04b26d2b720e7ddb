"""Packages of the program: what they hold, bring and take away, what they are built of, and by which workflow."""

import hashlib
import os
import plistlib
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import PySide6
import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from PySide6.QtGui import QImageReader

from installers import command, gates, icons, linux, lock, macos, release, windows
from installers.lock import LOCK, SYSTEMS, Wheel
from installers.payload import ICNS, ICO, Payload, Refused, file_kinds, stand_in, version
from tests.house.reading import HERE


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
    assert (first.name, first.read_bytes()) == (second.name, second.read_bytes())


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
    depends = set(fields["Depends"].split(", "))
    assert depends >= {
        "libc6 (>= 2.34)", "ca-certificates", "libegl1", "fontconfig-config", "libwayland-cursor0", "xkb-data",
    }  # fmt: skip
    assert "fonts-noto-cjk" in fields["Recommends"]
    said("dpkg-deb", "-e", package, control := tmp_path / "control")
    assert {path.name for path in control.iterdir()} == {"control", "md5sums"}
    root = unpacked(package, tmp_path / "root")
    said("sh", "-c", f"cd '{root}' && md5sum --quiet --check '{control}/md5sums'")
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
    package = packed(made_of(tmp_path, "two", version="0.3.0", beside=True), tmp_path / "b")
    second = unpacked(package, tmp_path / "second")
    assert not sums(first).keys() & sums(second).keys()
    assert said("dpkg-deb", "-f", package, "Package") == "goldsmith-0.3.0\n"
    assert said(second / "usr/bin/goldsmith-0.3.0", "x") == "opened: x\n"
    entry = (second / "usr/share/applications/goldsmith-0.3.0.desktop").read_text("utf-8")
    assert {"Name=Goldsmith 0.3.0", "Exec=goldsmith-0.3.0 %f"} <= set(entry.splitlines())
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
    for left in (
        "bin/goldsmith",
        "share/applications/goldsmith.desktop",
        "share/mime/packages/goldsmith.xml",
    ):
        assert not os.path.lexists(home / ".local" / left)
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
    assert (entry.exists(), said(home / ".local/bin/goldsmith", "x")) == (True, "opened: x\n")


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


@needs("dpkg-deb")
def test_start_py_packs_a_stand_in_with_its_sum(tmp_path: Path) -> None:
    start, out = str(HERE / "start.py"), str(tmp_path / "out")
    packing = [sys.executable, start, "package", "deb", "--stand-in", "--to", out]
    done = subprocess.run(packing, capture_output=True, encoding="utf-8", check=False)
    (package,) = (tmp_path / "out").glob("*.deb")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {package.name, "SHA256SUMS"}
    assert done.stdout.strip() == str(package)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "out", check=True)


def test_a_folder_without_the_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = command.main(["deb", "--from", str(tmp_path), "--to", str(tmp_path / "out")])
    assert (refused, (tmp_path / "out").exists()) == (1, False)
    assert "pyinstaller build.spec" in capsys.readouterr().err


def test_a_missing_tool_is_named_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    refused = command.main(["nsis", "--stand-in", "--to", str(tmp_path / "out")])
    assert (refused, list((tmp_path / "out").iterdir())) == (1, [])
    assert "makensis is missing; install nsis." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("machine", "ending", "name"),
    [
        ("x86_64", ".deb", "Goldsmith-0.1.0-linux-x86_64.deb"),
        ("aarch64", ".run", "Goldsmith-0.1.0-linux-aarch64.run"),
        ("amd64", "-setup.exe", "Goldsmith-0.1.0-windows-x64-setup.exe"),
        ("arm64", ".msi", "Goldsmith-0.1.0-windows-arm64.msi"),
    ],
)
def test_names_say_version_system_and_machine(machine: str, ending: str, name: str, tmp_path: Path) -> None:
    assert Payload(tmp_path, version="0.1.0", machine=machine).file_name(ending) == name


def test_too_large_a_folder_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = stand_in(tmp_path / "goldsmith")
    (folder / "library").write_bytes(bytes(3_000_000))
    refused = command.main(["check", "--from", str(folder), "--most", "2"])
    assert (refused, "more than 2" in capsys.readouterr().err) == (1, True)
    assert command.main(["check", "--from", str(folder), "--most", "4"]) == 0


@pytest.mark.skipif(shutil.which("objdump") is None, reason="objdump is not here (binutils)")
def test_a_library_of_too_new_a_system_is_refused_where_the_system_is_old_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    python = Path(sys.executable).resolve()
    asked = gates.newest(python)
    assert asked > (2, 0)
    folder = stand_in(tmp_path / "goldsmith")
    shutil.copy(python, folder / "_internal/python.so")
    monkeypatch.setattr(gates, "GLIBC", asked)
    assert gates.too_new(folder) is None
    monkeypatch.setattr(gates, "GLIBC", (2, 0))
    monkeypatch.setattr(gates.platform, "libc_ver", lambda: ("glibc", "2.0"))
    with pytest.raises(Refused, match=r"_internal/python\.so"):
        command.check(folder, 200)
    # Here nothing older could be built: that is said, and not taken for a fault.
    monkeypatch.setattr(gates.platform, "libc_ver", lambda: ("glibc", "2.99"))
    assert gates.too_new(folder) is None
    assert "not judged, because this system has 2.99" in capsys.readouterr().out


@pytest.mark.skipif(
    shutil.which("objdump") is None or sys.platform != "linux", reason="objdump is not here (binutils)"
)
def test_a_library_that_the_building_machine_lacked_is_named(tmp_path: Path) -> None:
    folder = stand_in(tmp_path / "goldsmith")
    assert gates.left_behind(folder) is None
    window = folder / "_internal/PySide6/Qt/plugins/platforms/libqxcb.so"
    window.parent.mkdir(parents=True)
    shutil.copy(Path(PySide6.__file__).parent / "Qt/plugins/platforms/libqxcb.so", window)
    with pytest.raises(
        Refused, match=r"left behind .*libQt6XcbQpa\.so\.6 for _internal/.*/libqxcb\.so"
    ) as told:
        command.check(folder, 200)
    assert "libc.so" not in str(told.value)
    for library in re.findall(r"(\S+\.so\S*) for", str(told.value)):
        (window.parent / library).touch()
    assert gates.left_behind(folder) is None


def test_libraries_that_a_system_has_to_bring_are_those_of_packages_that_a_deb_depends_on() -> None:
    control = (HERE / "installers/templates/control").read_text("utf-8")
    depends = re.sub(r"\(.*?\)", "", control.partition("Depends: ")[2].partition("\n")[0])
    packages = {name.strip() for name in depends.split(",")}
    assert set(gates.PROMISED) == {name for name in packages if name.startswith("lib")}


def widths(icon: Path) -> list[int]:
    reader, result = QImageReader(str(icon)), []
    for place in range(reader.imageCount()):
        reader.jumpToImage(place)
        result.append(reader.read().width())
    return result


def test_icons_have_every_size_and_the_script_draws_them_again(tmp_path: Path) -> None:
    icons.write(tmp_path / "i.ico", tmp_path / "i.icns")
    for ico in (ICO, tmp_path / "i.ico"):
        assert widths(ico) == list(icons.ICO_SIZES)
    for icns in (ICNS, tmp_path / "i.icns"):
        assert widths(icns) == list(icons.ICNS_KINDS.values())
        assert all(icns.read_bytes().count(kind) == 1 for kind in icons.ICNS_KINDS)


def test_a_mac_is_told_of_every_kind_of_file() -> None:
    told = plistlib.loads(plistlib.dumps(macos.info()))
    declared = {
        one["UTTypeIdentifier"]: one["UTTypeTagSpecification"]["public.filename-extension"]
        for one in told["UTExportedTypeDeclarations"]
    }
    assert sorted(declared.values()) == [["goldsmith"], ["goldsmith-task"], ["goldsmith-work"]]
    opened = [kind for one in told["CFBundleDocumentTypes"] for kind in one["LSItemContentTypes"]]
    assert (opened, len(opened)) == (list(declared), len(file_kinds()))


@pytest.fixture
def payload(tmp_path: Path) -> Payload:
    return Payload(stand_in(tmp_path / "goldsmith"), version="0.1.0", machine="x86_64")


@pytest.fixture
def script(payload: Payload, tmp_path: Path) -> str:
    return windows.nsis_script(payload, tmp_path / "made.exe")


def put(script: str) -> list[str]:
    result, folder = [], ""
    for line in script.splitlines():
        if place := re.fullmatch(r'  SetOutPath "\$INSTDIR\\?(.*)"', line):
            folder = place[1]
        elif file := re.fullmatch(r'  File "/oname=(.+?)" "(.+)"', line):
            result.append(f"{folder}\\{file[1]}".lstrip("\\"))
    return result


def test_setup_takes_away_exactly_what_it_put_and_no_folder_with_all_that_is_in_it(
    script: str, payload: Payload
) -> None:
    assert put(script) == [name.replace("/", "\\") for name in payload.files]
    removal = script.partition("Section Uninstall")[2]
    assert re.findall(r'Delete "\$INSTDIR\\(.+)"', removal) == [*put(script), "uninstall.exe"]
    folders = re.findall(r'RMDir "\$INSTDIR\\(.+)"', removal)
    assert sorted(folders) == [name.replace("/", "\\") for name in payload.folders]
    assert folders.index("_internal") == len(folders) - 1
    assert not re.search(r"RMDir\s+/r|Delete[^\n]*\*", script)


def test_setup_asks_for_no_administrator_and_writes_for_one_person_only(script: str) -> None:
    assert re.findall(r"RequestExecutionLevel (\w+)", script) == ["user"]
    assert not re.search(r"HKLM|HKEY_LOCAL|SHCTX|SetShellVarContext|PROGRAMFILES", script)
    assert 'InstallDir "$LOCALAPPDATA\\Programs\\Goldsmith"' in script


def test_each_kind_of_file_is_registered_and_taken_back(script: str) -> None:
    before, _, after = script.partition("Section Uninstall")
    for kind in file_kinds():
        assert f'WriteRegStr HKCU "Software\\Classes\\{kind.ending}" "" "{kind.name}"' in before
        assert f'DeleteRegKey HKCU "Software\\Classes\\{kind.name}"' in after
        assert f'DeleteRegValue HKCU "Software\\Classes\\{kind.ending}" ""' in after
    assert {kind.name for kind in file_kinds()} == {"Goldsmith.Project", "Goldsmith.Task", "Goldsmith.Work"}


def test_a_second_version_beside_leaves_files_and_folder_to_the_first(tmp_path: Path) -> None:
    script = windows.nsis_script(
        Payload(stand_in(tmp_path / "two"), version="0.3.0", beside=True), tmp_path / "made.exe"
    )
    assert "Software\\Classes" not in script
    assert 'InstallDir "$LOCALAPPDATA\\Programs\\Goldsmith 0.3.0"' in script
    assert "Uninstall\\Goldsmith 0.3.0" in script


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not here (nsis)")
def test_setup_compiles(payload: Payload, tmp_path: Path) -> None:
    made = windows.nsis(payload, tmp_path)
    assert (made.name, made.read_bytes()[:2]) == ("Goldsmith-0.1.0-windows-x64-setup.exe", b"MZ")
    assert b'requestedExecutionLevel level="asInvoker"' in made.read_bytes()


def test_properties_tell_the_version_of_the_programs_and_of_the_setup(script: str) -> None:
    names = "VSVersionInfo FixedFileInfo StringFileInfo StringTable StringStruct VarFileInfo VarStruct"
    read = {name: lambda *found, **named: (*found, named) for name in names.split()}
    fixed, (strings, languages) = eval(windows.told("goldsmith-cli.exe"), read)[0].values()  # noqa: S307
    assert fixed[0]["filevers"] == (*map(int, version().split(".")), 0)
    told = dict(pair[:2] for pair in strings[0][0][1])
    assert (told["FileVersion"], told["OriginalFilename"]) == (version(), "goldsmith-cli.exe")
    assert languages[0][0][:2] == ("Translation", [1033, 1200])
    assert 'VIProductVersion "0.1.0.0"' in script
    assert re.findall(r'VIAddVersionKey "ProductVersion" "(.+)"', script) == ["0.1.0"]


@pytest.fixture
def msi(payload: Payload, tmp_path: Path) -> Path:
    return windows.msi(payload, tmp_path)


def table(msi: Path, name: str) -> list[dict[str, str]]:
    """The rows of a table of an .msi: heads, their types, the key, then the rows."""
    words = said("msiinfo", "export", msi, name)
    heads, _, _, *rows = [line.split("\t") for line in words.replace("\r", "").splitlines()]
    return [dict(zip(heads, row, strict=True)) for row in rows]


@needs("wixl", "msiinfo")
def test_an_msi_holds_every_file_and_part_and_empties_every_folder(msi: Path, payload: Payload) -> None:
    assert msi.name == "Goldsmith-0.1.0-windows-x64.msi"
    assert sorted(row["FileName"] for row in table(msi, "File")) == sorted(
        name.rpartition("/")[2] for name in payload.files
    )
    assert [row["FileName"] for row in table(msi, "RemoveFile")] == [""] * (len(payload.folders) + 1)
    parts = {row["Component"] for row in table(msi, "Component")}
    assert {row["Component_"] for row in table(msi, "FeatureComponents")} == parts
    assert [(row["Name"], row["Component_"]) for row in table(msi, "Shortcut")] == [("Goldsmith", "menu")]


@needs("wixl", "msiinfo")
def test_an_msi_is_for_one_person_and_replaces_earlier_versions(msi: Path) -> None:
    registry = table(msi, "Registry")
    assert {row["Root"] for row in registry} == {"1"}
    (flags,) = re.findall(r"^Source: (\d+)", said("msiinfo", "suminfo", msi), re.MULTILINE)
    # The fourth bit: no elevated rights are needed.
    assert int(flags) & 8
    assert "ALLUSERS" not in {row["Property"] for row in table(msi, "Property")}
    told = {row["Key"]: row["Value"] for row in registry}
    for kind in file_kinds():
        assert told[f"Software\\Classes\\{kind.ending}"] == kind.name
        assert told[f"Software\\Classes\\{kind.name}\\shell\\open\\command"].endswith('goldsmith.exe" "%1"')
    assert {row["ActionProperty"] for row in table(msi, "Upgrade")} >= {"WIX_UPGRADE_DETECTED"}
    assert "RemoveExistingProducts" in {row["Action"] for row in table(msi, "InstallExecuteSequence")}


LOCKED = LOCK.read_text("utf-8")
LINES = [line for line in LOCKED.replace(" \\\n", "").splitlines() if not line.startswith("#")]


def locked() -> dict[str, Requirement]:
    result = [Requirement(line.split(" --hash")[0].strip()) for line in LINES]
    return {canonicalize_name(one.name): one for one in result}


def test_every_line_has_one_version_and_hashes_and_no_address() -> None:
    line = re.compile(r"[a-z0-9-]+==[\w.+!-]+( ; [^#]+?)?(\s+--hash=sha256:[0-9a-f]{64})+")
    assert [one for one in LINES if not line.fullmatch(one)] == []
    assert "://" not in LOCKED
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


FILE = HERE / ".github/workflows/package.yml"
TEXT = FILE.read_text("utf-8")
FLOW: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, dict[str, Any]] = FLOW["jobs"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
# YAML 1.1 reads the word `on` as true.
WHEN = FLOW[True]
OURS = re.compile(r"^\s*python3? start\.py (.+)$", re.M)


def test_it_runs_for_tags_and_by_hand_and_never_with_rights_for_a_strangers_change() -> None:
    assert WHEN == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}


def test_every_action_is_pinned_by_its_commit_and_says_its_version() -> None:
    used = re.findall(r"uses: (\S+)(.*)", TEXT)
    assert len(used) == sum("uses" in step for _, step in STEPS) > 20
    pinned = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
    assert [one for one in used if not pinned.fullmatch("".join(one))] == []
    # Nor does a system float.
    assert not re.search(r":latest|-latest", TEXT)
    # One action, one commit.
    assert len({action.split("@")[0] for action, _ in used}) == len({action for action, _ in used})


def test_only_the_last_job_may_write() -> None:
    assert FLOW["permissions"] == {"contents": "read"}
    writing = {
        name: {what for what, right in job.get("permissions", {}).items() if right == "write"}
        for name, job in JOBS.items()
    }
    assert {name: rights for name, rights in writing.items() if rights} == {
        "publish": {"contents", "id-token", "attestations"}
    }
    assert list(JOBS)[-1] == "publish"
    checkouts = [step for _, step in STEPS if "checkout@" in step.get("uses", "")]
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_secrets_are_seen_by_the_job_that_signs_and_stand_nowhere() -> None:
    told = {name: set(re.findall(r"secrets\.([A-Z_]+)", yaml.safe_dump(job))) for name, job in JOBS.items()}
    assert {name for name, secrets in told.items() if secrets} == {"sign"}
    assert JOBS["sign"]["environment"] == "release"
    assert [name for name, job in JOBS.items() if "environment" in job] == ["sign"]
    # Given to steps as variables: a secret in a script would stand in its log where it holds a quote.
    assert "secrets." not in "\n".join(step.get("run", "") for _, step in STEPS)
    # What might be a key or a certificate: long runs of letters and digits that are no action's commit.
    left = re.sub(r"uses: \S+", "", TEXT)
    for secret in (
        r"BEGIN [A-Z ]+|[A-Za-z0-9+/=_-]{40,}",
        r"(?im)(?:password|token|secret)\s*[:=]\s*[\"']?(?![\"'$ ]|write$|$)\w+",
    ):
        assert re.findall(secret, left) == []


def test_what_strangers_can_name_is_in_no_script() -> None:
    runs = [step["run"] for _, step in STEPS if "run" in step]
    assert [run for run in runs if re.search(r"\$\{\{\s*(github|inputs|steps|secrets|vars)\.", run)] == []


def test_it_needs_no_secret_to_make_everything() -> None:
    asks, *others = [step for name, step in STEPS if name == "sign" and "secrets." in yaml.safe_dump(step)]
    assert (asks["id"], len(others)) == ("signing", 4)
    assert all("steps.signing.outputs.there == 'yes'" in step["if"] for step in others)
    assert any("-unsigned" in step.get("run", "") for name, step in STEPS if name == "sign")


def test_every_job_ends_and_nothing_is_published_before_all_were_tried() -> None:
    assert set(JOBS["publish"]["needs"]) == set(JOBS) - {"build", "publish"}
    assert all(job["strategy"]["fail-fast"] is False for job in JOBS.values() if "strategy" in job)
    assert all("timeout-minutes" in job for job in JOBS.values())


def test_nothing_is_published_without_a_person() -> None:
    (made,) = [
        step["run"] for name, step in STEPS if name == "publish" and "gh release" in step.get("run", "")
    ]
    assert "--draft --verify-tag" in made
    assert JOBS["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"


def test_every_command_of_ours_that_it_calls_is_there_with_its_options() -> None:
    called = [words for _, step in STEPS for words in OURS.findall(step.get("run", ""))]
    kinds = set()
    for words in called:
        first, *others = shlex.split(re.sub(r"\$\{\{.*?\}\}", "200", words))
        assert first in ("package", "test"), words
        if first == "package":
            kinds.add(command._parser().parse_args(others).kind)
    assert kinds == {"check", "deb", "run", "nsis", "msi"}
    assert set(re.findall(r"python3? -m (installers\.\w+)", TEXT)) == {"installers.release"}
    named = re.findall(r"(?:sh |bash |-r |cp )((?:installers|\.ci)/[\w./-]+)", TEXT)
    assert set(named) == {
        "installers/smoke.sh", "installers/lock.txt", "installers/templates/unsigned-macos.txt", ".ci/run"
    }  # fmt: skip
    assert [name for name in named if not (HERE / name).is_file()] == []


CHANGES = "# Changes\n\n## {}\n\n- New.\n\n## 0.0.1\n\n- Old.\n"


def test_a_release_has_the_tag_of_the_version_and_its_part_of_the_change_log() -> None:
    assert release.notes(f"v{version()}", CHANGES.format(f"[{version()}] - 2026-11-22")) == "- New.\n"
    with pytest.raises(Refused, match=r"not v\d"):
        release.notes("v99.1", CHANGES.format("99.1"))
    for changes in (
        CHANGES.format("Next"),
        CHANGES.format(f"{version()}1"),
        f"## {version()}\n\n## 0.0.1\n- Old.\n",
    ):
        with pytest.raises(Refused, match="no part"):
            release.notes(f"v{version()}", changes)


def test_the_tag_is_looked_at_before_anything_is_built(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (looked,) = [
        step for name, step in STEPS if name == "check" and "installers.release" in step.get("run", "")
    ]
    assert (looked["if"], JOBS["build"]["needs"]) == ("startsWith(github.ref, 'refs/tags/')", "check")
    assert (release.main(["v99.1"]), "not v" in capsys.readouterr().err) == (1, True)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.format(version()), "utf-8")
    monkeypatch.setattr(release, "CHECKOUT", tmp_path)
    assert (release.main([f"v{version()}"]), capsys.readouterr().out) == (0, "- New.\n")
