"""Imported before any test: heavy imports in order, an offscreen window, files in memory, nobody's own settings."""

import atexit
import gc
import json
import os
import shutil
import sys
import tempfile

# What a test leaves is collected after it (`tests/conftest`); what twelve thousand are collected into is not garbage.
gc.disable()
MEMORY, ENOUGH = "/dev/shm", 2 * 1024**3
HERE = os.path.dirname(os.path.abspath(__file__))
if os.path.splitdrive(HERE)[0].lower() != os.path.splitdrive(tempfile.gettempdir())[0].lower():
    # Qt takes no colon in the name of the file that describes the screen: without one it lies on the drive at hand.
    tempfile.tempdir = os.environ["TEMP"] = os.environ["TMP"] = os.path.join(HERE, ".pytest_cache", "tmp")
    os.makedirs(tempfile.tempdir, exist_ok=True)
elif os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    # Thousands of small projects are synced to the disk otherwise.
    tempfile.tempdir = os.environ.setdefault("TMPDIR", MEMORY)
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Hundreds of child processes would each compile the program anew; nothing is written beside the sources.
    cache = os.path.join(HERE, ".pytest_cache", "pycache")
    sys.dont_write_bytecode, sys.pycache_prefix = False, cache
    os.environ["PYTHONPYCACHEPREFIX"] = cache
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_OWN = tempfile.mkdtemp(prefix="goldsmith-tests-")
atexit.register(shutil.rmtree, _OWN, ignore_errors=True)
# Where one worker puts what it makes for all of them.
os.environ.setdefault("GOLDSMITH_TESTS", _OWN)
for place in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLCONFIGDIR"):
    os.environ[place] = os.path.join(_OWN, place)
    os.makedirs(os.environ[place])
# Windows knows a person's folder by another name, and draws offscreen with no fonts but those it is told of.
os.environ["WIN_PD_OVERRIDE_LOCAL_APPDATA"] = os.environ["XDG_DATA_HOME"]
if os.name == "nt":
    os.environ.setdefault("QT_QPA_FONTDIR", os.path.join(os.environ.get("WINDIR", r"C:\Windows"), "Fonts"))
# The screen in memory is as large as one on a session: by itself it would have 800 by 800.
SCREEN = {"name": "session", "x": 0, "y": 0, "width": 1920, "height": 1200}
with open(os.path.join(_OWN, "screen.json"), "w", encoding="utf-8") as _file:
    json.dump({"screens": [SCREEN | {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}]}, _file)
if os.environ.setdefault("QT_QPA_PLATFORM", "offscreen") == "offscreen":
    os.environ["QT_QPA_PLATFORM"] = "offscreen:configfile=" + os.path.splitdrive(_file.name)[1].replace(
        "\\", "/"
    )
# A keyring of the machine must neither be read nor written by a test.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

# Before any other module brings Qt, whose hook on importing reads the source of whatever comes after it.
import annotator.gui  # noqa: E402, F401


def pytest_xdist_auto_num_workers() -> int:
    """Three tests on two processors: a third of the time a test waits for a child, a server or a clock."""
    return (os.cpu_count() or 1) * 3 // 2 or 1
