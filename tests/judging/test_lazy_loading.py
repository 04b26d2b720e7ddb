"""That loading this room costs nothing but this room."""

import subprocess
import sys

HEAVY = (
    "openai",
    "aiohttp",
    "httpx2",
    "keyring",
    "PySide6",
    "sqlalchemy.dialects.sqlite",
    "annotator.storage",
)
ROOM = (
    "asking, batching, budget, cache, client, injection, keys, ladder, limits, prices, probe, prompts, runner, "
    "sending"
)


def test_importing_the_room_loads_no_client_no_keyring_and_no_other_room() -> None:
    code = (
        f"import sys\nfrom annotator.judging import {ROOM}\nprint([m for m in {HEAVY!r} if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
