"""Being killed at random moments loses nothing that was acknowledged.

`GOLDSMITH_KILLS=200 python -m pytest -s tests/stories/test_crash.py` kills so many times, and prints what came of it.
"""

import os
from pathlib import Path

import pytest

from tests.crashes import crash

KILLS = int(os.environ.get("GOLDSMITH_KILLS", "8"))


@pytest.mark.slow
def test_no_kill_loses_anything(tmp_path: Path) -> None:
    tally = crash.run(KILLS, tmp_path, seed=11)
    print(tally)
    assert (tally.kills, tally.lost, tally.corrupt) == (KILLS, [], [])
    # Work was going on: otherwise nothing could have been lost.
    assert tally.acknowledged > 2 * KILLS


def test_an_edit_that_is_not_there_is_called_lost(tmp_path: Path) -> None:
    tally = crash.Tally()
    path = crash.prepare(tmp_path)
    crash.look(path, [{"seq": 9999, "verb": "change text", "words": "x"}, {"trial": 77}], tally)
    assert (len(tally.lost), tally.corrupt) == (2, [])
