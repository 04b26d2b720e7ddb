"""Packages for Windows, compiled here from a stand-in: what is put is taken away, and no administrator is asked."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from installers import windows
from installers.payload import Payload, file_kinds, stand_in, version


@pytest.fixture
def payload(tmp_path: Path) -> Payload:
    return Payload(stand_in(tmp_path / "goldsmith"), version="0.1.0", machine="x86_64")


@pytest.fixture
def script(payload: Payload, tmp_path: Path) -> str:
    return windows.nsis_script(payload, tmp_path / "made.exe")


def put(script: str) -> list[str]:
    """The files that a script puts down."""
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
    deleted = re.findall(r'Delete "\$INSTDIR\\(.+)"', removal)
    assert deleted == [*put(script), "uninstall.exe"]
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
    second = Payload(stand_in(tmp_path / "two"), version="0.3.0", beside=True)
    script = windows.nsis_script(second, tmp_path / "made.exe")
    assert "Software\\Classes" not in script
    assert 'InstallDir "$LOCALAPPDATA\\Programs\\Goldsmith 0.3.0"' in script
    assert "Uninstall\\Goldsmith 0.3.0" in script


@pytest.mark.skipif(shutil.which("makensis") is None, reason="makensis is not here (nsis)")
def test_setup_compiles(payload: Payload, tmp_path: Path) -> None:
    made = windows.nsis(payload, tmp_path)
    assert made.name == "Goldsmith-0.1.0-windows-x64-setup.exe"
    assert made.read_bytes()[:2] == b"MZ"
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
    if shutil.which("wixl") is None or shutil.which("msiinfo") is None:
        pytest.skip("wixl and msiinfo are not here (wixl, msitools)")
    return windows.msi(payload, tmp_path)


def table(msi: Path, name: str) -> list[dict[str, str]]:
    """The rows of a table of an .msi: heads, their types, the key, then the rows."""
    words = subprocess.run(
        ["msiinfo", "export", str(msi), name], capture_output=True, encoding="utf-8", check=True
    ).stdout
    heads, _, _, *rows = [line.split("\t") for line in words.replace("\r", "").splitlines()]
    return [dict(zip(heads, row, strict=True)) for row in rows]


def test_an_msi_holds_every_file_and_part_and_empties_every_folder(msi: Path, payload: Payload) -> None:
    assert msi.name == "Goldsmith-0.1.0-windows-x64.msi"
    assert sorted(row["FileName"] for row in table(msi, "File")) == sorted(
        name.rpartition("/")[2] for name in payload.files
    )
    emptied = table(msi, "RemoveFile")
    assert [row["FileName"] for row in emptied] == [""] * (len(payload.folders) + 1)
    parts = {row["Component"] for row in table(msi, "Component")}
    assert {row["Component_"] for row in table(msi, "FeatureComponents")} == parts
    assert [(row["Name"], row["Component_"]) for row in table(msi, "Shortcut")] == [("Goldsmith", "menu")]


def test_an_msi_is_for_one_person_and_replaces_earlier_versions(msi: Path) -> None:
    """It asks for no administrator, and names the kinds of file."""
    registry = table(msi, "Registry")
    assert {row["Root"] for row in registry} == {"1"}
    words = subprocess.run(
        ["msiinfo", "suminfo", str(msi)], capture_output=True, encoding="utf-8", check=True
    ).stdout
    (flags,) = re.findall(r"^Source: (\d+)", words, re.MULTILINE)
    # The fourth bit: no elevated rights are needed.
    assert int(flags) & 8
    assert "ALLUSERS" not in {row["Property"] for row in table(msi, "Property")}
    told = {row["Key"]: row["Value"] for row in registry}
    for kind in file_kinds():
        assert told[f"Software\\Classes\\{kind.ending}"] == kind.name
        assert told[f"Software\\Classes\\{kind.name}\\shell\\open\\command"].endswith('goldsmith.exe" "%1"')
    assert {row["ActionProperty"] for row in table(msi, "Upgrade")} >= {"WIX_UPGRADE_DETECTED"}
    assert "RemoveExistingProducts" in {row["Action"] for row in table(msi, "InstallExecuteSequence")}
