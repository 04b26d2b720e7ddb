"""The .deb in a bare Debian: what it says where something is missing, how it opens files, and what it leaves behind.

Takes minutes, and needs root, a network and a bundle: `GOLDSMITH_BUNDLE=dist/goldsmith pytest tests/installing`;
GOLDSMITH_PICTURES=FOLDER keeps what the screens showed.
"""

import hashlib
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from installers import linux
from installers.payload import Payload, file_kinds, stand_in
from tests.installing import bare
from tests.installing.bare import FEWEST_LETTERS, MOST_BOXES, Debian
from tests.material.sent_apart import annotators, coordinated, returned, task_for

# Work that came back is offered to its project, and changes nothing by itself.
OPENED = {"project": "Study of gold — Goldsmith", "task": "Study of gold — Goldsmith", "work": "Goldsmith"}
pytestmark = [pytest.mark.slow, pytest.mark.timeout(1_800)]


@pytest.fixture(scope="module")
def debian(tmp_path_factory: pytest.TempPathFactory) -> Debian:
    """A bare Debian with the program, a second version beside it, and nothing that is only recommended."""
    why = bare.missing()
    if why:
        pytest.skip(why)
    folder = tmp_path_factory.mktemp("bare")
    made = Debian(folder / "root")
    first = Payload(Path(os.environ["GOLDSMITH_BUNDLE"]).resolve())
    second = Payload(stand_in(folder / "stand-in"), version="9.9", beside=True)
    for payload in (first, second):
        to = folder / payload.slug
        to.mkdir()
        # Packed as tightly as what is shipped it would take minutes.
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("DPKG_DEB_COMPRESSOR_LEVEL", "1")
            shutil.copy(linux.deb(payload, to), made.root / "tmp" / f"{payload.slug}.deb")
        shutil.rmtree(to)
    made.install("/tmp/goldsmith.deb", "/tmp/goldsmith-9.9.deb")
    return made


@pytest.fixture(scope="module")
def files(debian: Debian, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A project, a task and returned work in the person's home, by their kind."""
    folder = tmp_path_factory.mktemp("study")
    project = coordinated(folder)
    person = annotators(project)[0].id
    made = {
        "project": folder / "study.goldsmith",
        "task": task_for(project, person, folder / "task"),
        "work": returned(project, person, folder / "work"),
    }
    project.close()
    place = debian.home / "work"
    place.mkdir()
    for kind in file_kinds():
        shutil.copy(made[kind.short], place / f"{kind.short}{kind.ending}")
    debian.does(f"chown -R {bare.PERSON}: /home/{bare.PERSON}")
    return {kind.short: f"work/{kind.short}{kind.ending}" for kind in file_kinds()}


@contextmanager
def away(debian: Debian, *places: str) -> Iterator[None]:
    for place in places:
        (debian.root / place).rename(debian.root / f"{place}.away")
    try:
        yield
    finally:
        for place in places:
            (debian.root / f"{place}.away").rename(debian.root / place)


def test_what_it_depends_on_is_enough(debian: Debian) -> None:
    parts = debian.parts()
    assert {name: part["detail"] for name, part in parts.items() if not part["ok"]} == {}
    assert (
        "none for Chinese, Japanese or Korean. Install the package fonts-noto-cjk" in parts["fonts"]["detail"]
    )
    assert parts["display"]["detail"] == "no screen here"


def test_without_fonts_it_brings_its_own_and_without_certificates_it_says_so(
    debian: Debian, files: dict[str, str], tmp_path: Path
) -> None:
    with away(debian, "usr/share/fonts", "etc/ssl/certs"):
        parts = debian.parts()
        assert [name for name, part in parts.items() if not part["ok"]] == ["certificates"]
        assert parts["certificates"]["detail"] == "This machine has no certificates; install ca-certificates."
        assert parts["fonts"]["detail"].startswith("DejaVu Sans; none for")
        with bare.x11(tmp_path) as screen, debian.running(f"goldsmith {files['project']}", **screen.settings):
            assert screen.wait(FEWEST_LETTERS) >= FEWEST_LETTERS
            screen.keep("no-fonts")


def test_a_screen_is_tried_where_there_is_one(debian: Debian, tmp_path: Path) -> None:
    with bare.x11(tmp_path) as screen:
        assert debian.parts(**screen.settings)["display"] == {
            "name": "display",
            "ok": True,
            "detail": "a screen",
        }


@pytest.mark.parametrize("kind", [kind.short for kind in file_kinds()])
@pytest.mark.parametrize("server", ["x11", "wayland"])
def test_each_kind_of_file_opens_by_its_type_with_letters(
    debian: Debian, files: dict[str, str], tmp_path: Path, kind: str, server: str
) -> None:
    debian.install("fonts-noto-cjk", "shared-mime-info", "desktop-file-utils", "libglib2.0-bin")
    name = files[kind]
    assert (
        f"application/x-goldsmith{'' if kind == 'project' else '-' + kind}\n"
        in debian.says(f"gio info -a standard::content-type {name}").stdout
    )
    with bare.x11(tmp_path) if server == "x11" else bare.wayland(debian.root) as screen:
        assert bare.shapes(screen.pixels()) <= MOST_BOXES
        with debian.running(f"gio open {name} && sleep 600", **screen.settings):
            assert screen.wait(FEWEST_LETTERS) >= FEWEST_LETTERS
            if server == "x11":
                bare.until(lambda: OPENED[kind] in screen.titles().splitlines(), OPENED[kind])
            if kind == "task":
                bare.until(
                    lambda: list((debian.home / "work").glob("Study*.goldsmith")), "the task's project"
                )
            screen.keep(f"{kind}-{server}")


def test_removing_one_leaves_the_other_and_every_file_of_the_person(
    debian: Debian, files: dict[str, str]
) -> None:
    assert debian.says("goldsmith-9.9 x").stdout == "opened: x\n"
    before = sums(debian.home)
    assert len(before) > len(files)
    debian.does("apt-get purge -y -qq goldsmith")
    assert not (debian.root / "opt/goldsmith").exists()
    assert not (debian.root / "usr/bin/goldsmith").is_symlink()
    assert not (debian.root / "usr/share/mime/packages/goldsmith.xml").exists()
    assert debian.says("goldsmith-9.9 x").stdout == "opened: x\n"
    debian.does("apt-get purge -y -qq goldsmith-9.9")
    assert list((debian.root / "opt").glob("*")) == []
    assert sums(debian.home) == before


def sums(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in folder.rglob("*")
        if path.is_file() and not path.is_symlink()
    }
