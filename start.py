"""Start Goldsmith from a checkout: `python start.py` opens the window, `python start.py test` runs the tests.

Needs nothing but Python 3.11 or newer. The first call makes an environment in `.venv` and installs what is needed
into it; later calls start at once. Any other words are handed to the command line: `python start.py info FILE`, and
words after `test` to pytest: `python start.py test -k rubric`. `python start.py package` makes installers.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ENVIRONMENT = HERE / ".venv"
WINDOWS = os.name == "nt"
PYTHON = ENVIRONMENT / ("Scripts/python.exe" if WINDOWS else "bin/python")
MARK = ENVIRONMENT / "installed"
OLDEST = (3, 11)
NO_PIP = """\
Python's own venv module is incomplete here, so no environment could be made.
On Debian or Ubuntu run: apt install python3-venv
Elsewhere install Python from python.org. Then run the same command again."""
# So many characters has the longest path below the checkout of what is installed.
LONGEST = 175
TOO_DEEP = f"""\
The path of this folder is too long: {HERE}
Windows allows 259 characters in a path, and some files that Goldsmith needs would have more.
Move the folder to a path of at most {259 - LONGEST - 1} characters, such as C:\\goldsmith, or allow long paths in
Windows (LongPathsEnabled). Then run the same command again."""
NO_INSTALL = "Installing failed; pip says why above. Check the network and run the same command again."


def main(words: list[str]) -> int:
    """Prepare the environment, then open the window, run the tests, or run a command."""
    if sys.version_info < OLDEST:
        print(f"Goldsmith needs Python 3.11 or newer; this is {sys.version.split()[0]}.")
        return 1
    if words[:1] == ["package"]:
        sys.path.insert(0, str(HERE))
        from installers import command

        return command.main(words[1:])
    if words[:1] == ["test"]:
        prepare("dev")
        return run(
            ["-m", "pytest", *(words[1:] or ["-n", "auto", "--dist", "worksteal"])],
            HERE,
            QT_QPA_PLATFORM="offscreen",
        )
    prepare("")
    # The safe path keeps a folder of the same name, where the person happens to be, from being taken for the program.
    return run(["-m", "annotator", *(words or ["--sample"])], None, PYTHONSAFEPATH="1")


def prepare(extra: str) -> None:
    """Make the environment and install what pyproject.toml asks for, unless that was done before."""
    if PYTHON.exists() and installed() in (f"{wanted()} {extra}", f"{wanted()} dev"):
        return
    if WINDOWS and too_deep():
        sys.exit(TOO_DEEP)
    if not works():
        make()
    print("Installing what Goldsmith needs, once ...", flush=True)
    MARK.unlink(missing_ok=True)
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--editable"]
    # From within, so that no sign in the folder's own name is taken for a part of the requirement.
    if subprocess.run([*pip, f".[{extra}]" if extra else "."], cwd=HERE, check=False).returncode:
        sys.exit(NO_INSTALL)
    # Once and by all processors, and not as it is opened first, or by each worker of the tests.
    subprocess.run([str(PYTHON), "-m", "compileall", "-q", "-j", "0", "annotator"], cwd=HERE, check=False)
    MARK.write_text(f"{wanted()} {extra}", "utf-8")


def installed() -> str:
    """What was installed last, to its end."""
    return MARK.read_text("utf-8") if MARK.is_file() else ""


def wanted() -> str:
    """What an installation depends on: the requirements, and where the checkout lies."""
    place = str(HERE).encode("utf-8", "surrogateescape")
    return hashlib.sha256((HERE / "pyproject.toml").read_bytes() + place).hexdigest()


def too_deep() -> bool:
    """Whether a file with a path as long as the longest one to be installed cannot be made here."""
    probe = HERE / ("x" * LONGEST)
    try:
        probe.touch()
        probe.unlink()
    except OSError:
        return len(str(probe)) > 259
    return False


def works() -> bool:
    """Whether the environment's Python starts and has pip: a half-made or moved one does not."""
    if not PYTHON.exists():
        return False
    return not subprocess.run(
        [str(PYTHON), "-m", "pip", "--version"], capture_output=True, check=False
    ).returncode


def make() -> None:
    """Make the environment anew in place of what is left of an old one."""
    print("Making an environment in .venv ...", flush=True)
    try:
        import venv

        venv.create(ENVIRONMENT, clear=True, with_pip=True)
    except (ImportError, subprocess.CalledProcessError):
        sys.exit(NO_PIP)
    except OSError as error:
        sys.exit(f"No environment could be made in {ENVIRONMENT}: {error}")


def run(words: list[str], folder: Path | None, **settings: str) -> int:
    """Run the environment's Python and hand on its exit code."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1"} | settings
    return subprocess.run([str(PYTHON), *words], cwd=folder, env=environment, check=False).returncode


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
