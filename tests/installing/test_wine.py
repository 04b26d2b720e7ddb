"""The setup program and the .msi of a stand-in, run under Wine: what they bring, tell the system and take away.

Wine is not Windows, but its own reading of it: no SmartScreen, no rights, no real desktop. GOLDSMITH_WINE=1
asks for it: its Windows takes 700 MB for a minute.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from installers import windows
from installers.payload import Payload, file_kinds, stand_in

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
NEEDED = ("wine", "wineserver", "makensis", "wixl")
PATIENCE_S = 240
OURS = "AppData/Local/Programs"
MENU = "AppData/Roaming/Microsoft/Windows/Start Menu/Programs"


class Wine:
    """A Windows of Wine's, in a folder of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        quiet = {
            "WINEDEBUG": "-all",
            "WINEDLLOVERRIDES": "mscoree,mshtml,winemenubuilder.exe=",
            "DISPLAY": "",
            "LC_ALL": "C.UTF-8",
        }
        own = {"WINEPREFIX": str(folder), "WINEARCH": "win64", "HOME": str(folder)}
        self._settings = os.environ | quiet | own
        self.runs("wineboot", "--init")
        (self.home,) = [path for path in (folder / "drive_c/users").iterdir() if path.name != "Public"]

    def runs(self, *words: object) -> None:
        """Run a program and wait until everything that it started has ended, too."""
        for command in (["wine", *map(str, words)], ["wineserver", "--wait"]):
            subprocess.run(command, env=self._settings, check=True, capture_output=True, timeout=PATIENCE_S)

    def inside(self, path: Path) -> str:
        return "C:\\" + str(path.relative_to(self.folder / "drive_c")).replace("/", "\\")

    def files(self, place: str = "") -> set[str]:
        """The files of the person's; what waits in Temp is deleted at Windows' next start."""
        top = self.home / place
        result = {path.relative_to(top).as_posix() for path in top.rglob("*") if path.is_file()}
        return {name for name in result if not name.startswith(("Temp/", "AppData/Local/Temp/"))}

    def registry(self, name: str = "user") -> dict[str, dict[str, str]]:
        """The values of a part of the registry by key, without what is Wine's own."""
        result: dict[str, dict[str, str]] = {}
        words = (self.folder / f"{name}.reg").read_text("utf-8")
        for key, lines in re.findall(r"(?m)^\[(.+)\] \d+$\n((?:.+\n)*)", words):
            values = re.findall(r'(?m)^(@|".*?")="((?:[^"\\]|\\.)*)"$', lines)
            if values and not key.startswith(r"Software\\Wine"):
                result[_plain(key)] = {_plain(one.strip('"')): _plain(value) for one, value in values}
        return result


def _plain(words: str) -> str:
    return re.sub(r"\\(.)", r"\1", words)


@pytest.fixture(scope="module")
def wine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wine]:
    if "GOLDSMITH_WINE" not in os.environ:
        pytest.skip("GOLDSMITH_WINE asks for it")
    absent = [tool for tool in NEEDED if shutil.which(tool) is None]
    if absent:
        pytest.skip(f"missing here: {', '.join(absent)}")
    folder = tmp_path_factory.mktemp("wine")
    yield Wine(folder)
    shutil.rmtree(folder)


def setup(payload: Payload, folder: Path) -> Path:
    """The setup program for 64 bits: Debian's Wine runs no other, and what is shipped is for 32."""
    folder.mkdir()
    script, made = folder / "goldsmith.nsi", folder / payload.file_name("-setup.exe")
    script.write_text("Target amd64-unicode\n" + windows.nsis_script(payload, made), "utf-8-sig")
    subprocess.run(["makensis", "-V1", "-WX", script], check=True)
    return made


def removed(wine: Wine, program: Path) -> None:
    wine.runs(wine.inside(program / "uninstall.exe"), "/S")


def opens_with(wine: Wine) -> dict[str, str]:
    known = wine.registry()
    return {
        kind.ending: known[rf"Software\Classes\{known[ending]['@']}\shell\open\command"]["@"]
        for kind in file_kinds()
        if (ending := rf"Software\Classes\{kind.ending}") in known
    }


@pytest.mark.parametrize("kind", ["setup", "msi"])
def test_what_is_installed_for_one_person_goes_again_and_what_was_added_stays(
    wine: Wine, tmp_path: Path, kind: str
) -> None:
    payload = Payload(stand_in(tmp_path / "goldsmith"), version="0.1.0", machine="x86_64")
    program = wine.home / OURS / "Goldsmith"
    files, registry, machine = wine.files(), wine.registry(), wine.registry("system")
    if kind == "setup":
        wine.runs(setup(payload, tmp_path / "to"), "/S")
    else:
        (tmp_path / "to").mkdir()
        package = windows.msi(payload, tmp_path / "to")
        wine.runs("msiexec", "/i", package, "/qn")
    brought = {path.relative_to(program).as_posix() for path in program.rglob("*") if path.is_file()}
    assert brought == {*payload.files, *(["uninstall.exe"] if kind == "setup" else [])}
    assert wine.files(MENU) == {"Goldsmith.lnk"}
    command = rf'"{wine.inside(program)}\goldsmith.exe" "%1"'
    assert opens_with(wine) == {file_kind.ending: command for file_kind in file_kinds()}
    # For the whole machine nothing, but for the books that Windows Installer keeps of each person; Wine's own keeps
    # its list of programs there as well.
    new = wine.registry("system").keys() - machine.keys()
    books = r"CurrentVersion\Installer", r"CurrentVersion\Uninstall\{"
    assert {key for key in new if kind == "setup" or not any(book in key for book in books)} == set()
    kept = {f"{OURS}/Goldsmith/kept.goldsmith", f"{OURS}/Goldsmith/_internal/a folder/kept.goldsmith"}
    for name in kept:
        (wine.home / name).write_bytes(b"somebody's project")
    if kind == "setup":
        removed(wine, program)
    else:
        wine.runs("msiexec", "/x", package, "/qn")
    assert wine.files() == files | kept
    assert wine.registry() == registry
    shutil.rmtree(program)


def test_a_later_setup_takes_away_what_the_earlier_brought(wine: Wine, tmp_path: Path) -> None:
    old = stand_in(tmp_path / "old")
    (old / "_internal/old.dll").write_bytes(b"old")
    wine.runs(setup(Payload(old), tmp_path / "a"), "/S")
    program = wine.home / OURS / "Goldsmith"
    (program / "kept.goldsmith").write_bytes(b"somebody's project")
    assert (program / "_internal/old.dll").exists()
    new = Payload(stand_in(tmp_path / "new"))
    wine.runs(setup(new, tmp_path / "b"), "/S")
    assert wine.files(f"{OURS}/Goldsmith") == {*new.files, "uninstall.exe", "kept.goldsmith"}
    removed(wine, program)
    assert wine.files(f"{OURS}/Goldsmith") == {"kept.goldsmith"}
    shutil.rmtree(program)


def test_a_second_version_in_a_folder_of_another_script_leaves_the_files_to_the_first(
    wine: Wine, tmp_path: Path
) -> None:
    registry = wine.registry()
    wine.runs(setup(Payload(stand_in(tmp_path / "one")), tmp_path / "a"), "/S")
    told = opens_with(wine)
    second = Payload(stand_in(tmp_path / "two"), version="0.3.0", beside=True)
    place = wine.folder / "drive_c/study-é界/Goldsmith"
    wine.runs(setup(second, tmp_path / "b"), "/S", f"/D={wine.inside(place)}")
    assert (place / "_internal/a folder/deeper/a name & more.txt").is_file()
    assert wine.files(MENU) == {"Goldsmith.lnk", "Goldsmith 0.3.0.lnk"}
    removed(wine, place)
    assert not place.exists()
    assert opens_with(wine) == told
    removed(wine, wine.home / OURS / "Goldsmith")
    assert wine.registry() == registry
