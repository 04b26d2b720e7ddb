"""The command that packs: names, sums, gates, refusals; icons and what a Mac is told."""

import plistlib
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import PySide6
import pytest

from installers import command, gates, icons, macos
from installers.payload import ICNS, ICO, Payload, Refused, file_kinds, stand_in
from tests.house.reading import HERE


def test_start_py_packs_a_stand_in_with_its_sum(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, HERE / "start.py", "package", "deb", "--stand-in", "--to", tmp_path / "out"],
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    if shutil.which("dpkg-deb") is None:
        assert (done.returncode, done.stderr) == (1, "dpkg-deb is missing; install dpkg.\n")
        return
    (package,) = (tmp_path / "out").glob("*.deb")
    assert {path.name for path in (tmp_path / "out").iterdir()} == {package.name, "SHA256SUMS"}
    assert done.stdout.strip() == str(package)
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=tmp_path / "out", check=True)


def test_a_folder_without_the_program_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["deb", "--from", str(tmp_path), "--to", str(tmp_path / "out")]) == 1
    assert "pyinstaller build.spec" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_a_missing_tool_is_named_and_nothing_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert command.main(["nsis", "--stand-in", "--to", str(tmp_path / "out")]) == 1
    assert "makensis is missing; install nsis." in capsys.readouterr().err
    assert list((tmp_path / "out").iterdir()) == []


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
    assert command.main(["check", "--from", str(folder), "--most", "2"]) == 1
    assert "more than 2" in capsys.readouterr().err
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


def sizes_of_ico(content: bytes) -> list[int]:
    """The widths in an icon's directory, each with a PNG of that width where it says."""
    _, kind, count = struct.unpack_from("<HHH", content)
    assert kind == 1
    result = []
    for place in range(count):
        width, *_, length, at = struct.unpack_from("<BBBBHHII", content, 6 + 16 * place)
        assert content[at : at + 8] == b"\x89PNG\r\n\x1a\n"
        assert struct.unpack_from(">I", content, at + 16) == (width or 256,)
        assert at + length <= len(content)
        result.append(width or 256)
    return result


def kinds_of_icns(content: bytes) -> dict[bytes, int]:
    """Each picture's kind and width."""
    assert (content[:4], struct.unpack_from(">I", content, 4)) == (b"icns", (len(content),))
    result, at = {}, 8
    while at < len(content):
        kind, length = struct.unpack_from(">4sI", content, at)
        (result[kind],) = struct.unpack_from(">I", content, at + 8 + 16)
        at += length
    return result


def test_icons_have_every_size_and_the_script_draws_them_again(tmp_path: Path) -> None:
    icons.write(tmp_path / "i.ico", tmp_path / "i.icns")
    for ico in (ICO, tmp_path / "i.ico"):
        assert sizes_of_ico(ico.read_bytes()) == list(icons.ICO_SIZES)
    for icns in (ICNS, tmp_path / "i.icns"):
        assert kinds_of_icns(icns.read_bytes()) == icons.ICNS_KINDS


def test_a_mac_is_told_of_every_kind_of_file() -> None:
    told = plistlib.loads(plistlib.dumps(macos.info()))
    declared = {
        one["UTTypeIdentifier"]: one["UTTypeTagSpecification"]["public.filename-extension"]
        for one in told["UTExportedTypeDeclarations"]
    }
    assert sorted(declared.values()) == [["goldsmith"], ["goldsmith-task"], ["goldsmith-work"]]
    opened = [kind for one in told["CFBundleDocumentTypes"] for kind in one["LSItemContentTypes"]]
    assert opened == list(declared)
    assert len(opened) == len(file_kinds())
