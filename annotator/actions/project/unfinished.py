"""Whether the making of a project was cut short, as earlier versions could leave it."""

import json
import sqlite3
from collections.abc import Mapping
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from annotator.storage.connection import raw_connection

# The setting that a whole sample has.
SAMPLE = "sample"
TITLE = "Sample: three questions, three systems"
# What the making of a sample did last before there was that setting.
LAST_VERB = "remark"


def is_sample(settings: Mapping[str, Any]) -> bool:
    """Whether these are the settings of the sample, whole or not."""
    return bool(settings.get(SAMPLE)) or settings.get("title") == TITLE


def is_cut_short(path: Path) -> bool:
    """Whether a file that can be read was never finished."""
    with suppress(sqlite3.Error, ValueError), closing(raw_connection(path, readonly=True)) as raw:
        return bool(cut_short(raw))
    return False


def cut_short(raw: sqlite3.Connection) -> str:
    """What says that this file was never finished, in words; empty when it was."""
    stored = raw.execute("SELECT key, value FROM meta").fetchall()
    settings = {key: json.loads(value) for key, value in stored}
    if "id" not in settings:
        return "The making of this project was cut short: it has no identity."
    if SAMPLE in settings or not is_sample(settings):
        return ""
    if raw.execute("SELECT 1 FROM audit WHERE verb = ?", [LAST_VERB]).fetchone():
        return ""
    return "The making of this sample was cut short: a part of it is missing."
