"""Imported before any test: heavy imports in order, an offscreen window, files in memory, nobody's own settings."""

import atexit
import json
import os
import shutil
import sys
import tempfile

MEMORY, ENOUGH = "/dev/shm", 2 * 1024**3
if os.access(MEMORY, os.W_OK) and shutil.disk_usage(MEMORY).free > ENOUGH:
    # Thousands of small projects are synced to the disk otherwise.
    tempfile.tempdir = os.environ.setdefault("TMPDIR", MEMORY)
if os.environ.pop("PYTHONDONTWRITEBYTECODE", ""):
    # Hundreds of child processes would each compile the program anew; nothing is written beside the sources.
    cache = os.path.join(os.path.dirname(__file__), ".pytest_cache", "pycache")
    sys.dont_write_bytecode, sys.pycache_prefix = False, cache
    os.environ["PYTHONPYCACHEPREFIX"] = cache
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
_OWN = tempfile.mkdtemp(prefix="goldsmith-tests-")
atexit.register(shutil.rmtree, _OWN, ignore_errors=True)
for place in ("XDG_CONFIG_HOME", "XDG_DATA_HOME", "MPLCONFIGDIR"):
    os.environ[place] = os.path.join(_OWN, place)
    os.makedirs(os.environ[place])
# The screen in memory is as large as one on a desk: by itself it would have 800 by 800.
SCREEN = {"name": "desk", "x": 0, "y": 0, "width": 1920, "height": 1200}
with open(os.path.join(_OWN, "screen.json"), "w", encoding="utf-8") as _file:
    json.dump({"screens": [SCREEN | {"logicalDpi": 96, "logicalBaseDpi": 96, "dpr": 1}]}, _file)
if os.environ.setdefault("QT_QPA_PLATFORM", "offscreen") == "offscreen" and os.name == "posix":
    os.environ["QT_QPA_PLATFORM"] = f"offscreen:configfile={_file.name}"
# A keyring of the machine must neither be read nor written by a test.
os.environ["PYTHON_KEYRING_BACKEND"] = "keyring.backends.null.Keyring"

import sqlmodel  # noqa: E402, F401


def pytest_xdist_auto_num_workers() -> int:
    """Three tests on two processors: a third of the time a test waits for a child, a server or a clock."""
    return (os.cpu_count() or 1) * 3 // 2 or 1
