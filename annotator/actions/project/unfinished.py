"""Detection of projects whose creation was interrupted, as earlier versions could leave them."""

import json
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from sqlalchemy import text

from annotator.storage.glancing import UnreadableProject, glance

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
    with suppress(UnreadableProject, ValueError), glance(path) as db:
        return bool(cut_short(lambda question: db.execute(text(question)).all()))
    return False


def cut_short(ask: Callable[[str], Iterable[Any]]) -> str:
    """What says that the file that is asked was never finished, in words; empty when it was."""
    stored = ask("SELECT key, value FROM meta")
    settings = {key: json.loads(value) for key, value in stored}
    if "id" not in settings:
        return "Creating this project was interrupted: it has no identity."
    if SAMPLE in settings or not is_sample(settings):
        return ""
    if any(True for _ in ask(f"SELECT 1 FROM audit WHERE verb = '{LAST_VERB}' LIMIT 1")):  # noqa: S608
        return ""
    return "Creating this sample was interrupted: a part of it is missing."
