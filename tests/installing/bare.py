"""A bare Debian to install in, and screens to look at: whether what is shown has letters, or boxes in their place."""

import json
import os
import shutil
import signal
import struct
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from scipy import ndimage

TOOLS = ("debootstrap", "dpkg-deb", "chroot", "unshare", "Xvfb", "xdotool", "weston", "weston-screenshooter")
PERSON = "ann"
# Boxes come in a size or two for each font's size; letters in many shapes.
MOST_BOXES, FEWEST_LETTERS = 40, 60
PATIENCE_S = 90.0


def missing() -> str:
    """Why nothing can be installed here; nothing where it can."""
    bundle = os.environ.get("GOLDSMITH_BUNDLE", "")
    if not (Path(bundle) / "goldsmith").is_file():
        return "GOLDSMITH_BUNDLE names no folder that build.spec made"
    absent = [tool for tool in TOOLS if shutil.which(tool) is None]
    if absent:
        return f"missing here: {', '.join(absent)}"
    return "" if os.geteuid() == 0 else "only root makes a bare Debian"


class Debian:
    """A folder with a small Debian in it."""

    def __init__(self, root: Path) -> None:
        self.root = root
        subprocess.run(
            ["debootstrap", "--variant=minbase", "bookworm", root], check=True, capture_output=True
        )
        for settings in ("etc/resolv.conf", "etc/apt/apt.conf.d"):
            source, place = Path("/") / settings, root / settings
            if source.is_dir():
                shutil.copytree(source, place, dirs_exist_ok=True)
            elif source.exists():
                shutil.copy(source, place)
        self.does("apt-get update -qq")
        self.does(f"useradd -m {PERSON}")
        self.home = root / "home" / PERSON

    def does(self, words: str) -> str:
        """What a command of root's says; CalledProcessError when it fails."""
        return subprocess.run(
            self._inside(["sh", "-c", words]), capture_output=True, encoding="utf-8", check=True
        ).stdout

    def says(self, words: str, **settings: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            self._person(words, settings), capture_output=True, encoding="utf-8", check=False
        )

    @contextmanager
    def running(self, words: str, **settings: str) -> Iterator[None]:
        process = subprocess.Popen(
            self._person(words, settings),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(PATIENCE_S)

    def install(self, *packages: str) -> None:
        words = f"apt-get install -y -qq --no-install-recommends {' '.join(packages)}"
        self.does(f"DEBIAN_FRONTEND=noninteractive {words}")

    def parts(self, **settings: str) -> dict[str, dict[str, Any]]:
        said = self.says("goldsmith --selftest", **settings).stdout
        return {part["name"]: part for part in json.loads(said)["parts"]}

    def _inside(self, command: list[str]) -> list[str]:
        """A command in the folder; its mounts are gone when it ends."""
        mounts = 'mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" && exec chroot "$0" "$@"'
        return [
            "unshare",
            "--mount",
            "--pid",
            "--fork",
            "--kill-child",
            "sh",
            "-c",
            mounts,
            str(self.root),
            *command,
        ]

    def _person(self, words: str, settings: dict[str, str]) -> list[str]:
        given = [f"{name}={value}" for name, value in settings.items()]
        person = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "env", "-i"]
        own = ["PATH=/usr/bin:/bin", f"HOME=/home/{PERSON}", "LANG=C.UTF-8", *given]
        return self._inside([*person, *own, "sh", "-c", f"cd && {words}"])


class Screen:
    """A screen in memory: how programs reach it, and what is on it."""

    def __init__(self, settings: dict[str, str], picture: Path) -> None:
        self.settings = settings
        self._picture = picture

    def pixels(self) -> Any:
        """What is shown."""
        if "WAYLAND_DISPLAY" not in self.settings:
            return _dumped((self._picture / "Xvfb_screen0").read_bytes())
        from PIL import Image

        for old in self._picture.glob("*.png"):
            old.unlink()
        environment = os.environ | self.settings | {"XDG_RUNTIME_DIR": str(self._picture)}
        subprocess.run(
            ["weston-screenshooter"], cwd=self._picture, env=environment, check=True, capture_output=True
        )
        (made,) = self._picture.glob("*.png")
        return np.asarray(Image.open(made).convert("RGB"))

    def keep(self, name: str) -> None:
        """Keep a picture of what is shown where GOLDSMITH_PICTURES names a folder for people to look at."""
        folder = os.environ.get("GOLDSMITH_PICTURES")
        if folder:
            from PIL import Image

            # X keeps its pixels blue first.
            order = slice(None) if "WAYLAND_DISPLAY" in self.settings else slice(None, None, -1)
            Path(folder).mkdir(parents=True, exist_ok=True)
            Image.fromarray(self.pixels()[:, :, order].copy()).save(Path(folder) / f"{name}.png")

    def titles(self) -> str:
        """The titles of the windows; X11 alone tells them."""
        words = "xdotool search --onlyvisible --name . | xargs -r -n1 xdotool getwindowname"
        return subprocess.run(
            ["sh", "-c", words],
            env=os.environ | self.settings,
            capture_output=True,
            encoding="utf-8",
            check=False,
        ).stdout

    def wait(self, at_least: int) -> int:
        """How many shapes of letters there are, as soon as they are so many, or at the end of patience."""
        until = time.monotonic() + PATIENCE_S
        while (result := protocols(self.pixels())) < at_least and time.monotonic() < until:
            time.sleep(1)
        return result


@contextmanager
def x11(folder: Path) -> Iterator[Screen]:
    """An X server of its own."""
    told, tells = os.pipe()
    command = ["Xvfb", "-displayfd", str(tells), "-screen", "0", "1280x800x24", "-fbdir", folder]
    server = subprocess.Popen(command, stderr=subprocess.DEVNULL, pass_fds=[tells])
    os.close(tells)
    try:
        with os.fdopen(told) as number:
            yield Screen({"DISPLAY": f":{number.readline().strip()}"}, folder)
    finally:
        server.terminate()
        server.wait(PATIENCE_S)


@contextmanager
def wayland(root: Path) -> Iterator[Screen]:
    """A Wayland compositor of its own, whose socket lies in a bare Debian."""
    folder = root / "tmp/wayland"
    folder.mkdir()
    folder.chmod(0o700)
    os.chown(folder, 1000, 1000)
    command = [
        "weston",
        "--backend=headless-backend.so",
        "--use-pixman",
        "--debug",
        "--socket=screen",
        "--idle-time=0",
    ]
    server = subprocess.Popen(
        [*command, "--width=1280", "--height=800"],
        env=os.environ | {"XDG_RUNTIME_DIR": str(folder)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until((folder / "screen").exists, "the screen")
        (folder / "screen").chmod(0o777)
        settings = {
            "XDG_RUNTIME_DIR": "/tmp/wayland",
            "WAYLAND_DISPLAY": "screen",
            "QT_QPA_PLATFORM": "wayland",
        }
        yield Screen(settings, folder)
    finally:
        server.terminate()
        server.wait(PATIENCE_S)
        shutil.rmtree(folder)


def until(there: Callable[[], object], what: str) -> None:
    """Wait for something, and fail by its name at the end of patience."""
    last = time.monotonic() + PATIENCE_S
    while not there():
        assert time.monotonic() < last, f"{what} did not come"
        time.sleep(0.2)


def _dumped(raw: bytes) -> Any:
    """The pixels of a dump in X's own format: a header of 25 numbers, a palette, and lines of four bytes a pixel."""
    head = struct.unpack_from(">25I", raw)
    size, width, height, line, colours = head[0], head[4], head[5], head[12], head[19]
    pixels = np.frombuffer(raw, np.uint8, count=line * height, offset=size + 12 * colours)
    return pixels.reshape(height, line // 4, 4)[:, :width, :3]


def protocols(pixels: Any) -> int:
    """How many different shapes of a letter's size there are, dark on light."""
    labels, _ = ndimage.label(pixels.mean(axis=2) < 120, np.ones((3, 3)))
    result = set()
    for number, place in enumerate(ndimage.find_objects(labels), start=1):
        height, width = labels[place].protocol
        if 5 <= height <= 16 and 3 <= width <= 16:
            result.add((height, (labels[place] == number).tobytes()))
    return len(result)
