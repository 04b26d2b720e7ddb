"""That loading this room costs nothing but this room."""

import subprocess
import sys

HEAVY = (
    "openai",
    "aiohttp",
    "genai_prices",
    "httpx2",
    "keyring",
    "PySide6",
    "sqlalchemy.dialects.sqlite",
    "annotator.storage",
)
ROOM = {
    "calls": "asking, budget, cache, client, keys, ladder, limits, prices, probe, sending",
    "batches": "batching",
    "prompts": "injection, messages",
    "runs": "runner",
}


def test_importing_the_room_loads_no_client_no_keyring_and_no_other_room() -> None:
    imports = "".join(f"from annotator.judging.{part} import {names}\n" for part, names in ROOM.items())
    code = f"import sys\n{imports}print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, encoding="utf-8", check=True)
    assert done.stdout.strip() == "[]"
