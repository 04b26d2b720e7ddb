"""What a test needs of the system that it runs on; where that is missing it is skipped, and says why."""

import os
import tempfile
from pathlib import Path

import pytest


def _can_link() -> bool:
    with tempfile.TemporaryDirectory() as folder:
        try:
            (Path(folder) / "link").symlink_to(folder, target_is_directory=True)
        except OSError:
            return False
    return True


posix = pytest.mark.skipif(os.name != "posix", reason="paths, signals, open files and rights as on POSIX")
links = pytest.mark.skipif(not _can_link(), reason="this account may make no symbolic links")
