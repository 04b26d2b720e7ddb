"""That no published figure is left out: every entry of the oracle file is asked for by a test of this room."""

import json
import re
from pathlib import Path

from tests.stats.agreement_oracles import PATH, needs_oracles

# Of figures that no page shows: Fleiss' κ, Student's paired t, the prediction-powered mean of independent units, the
# accelerated bootstrap; and of McNemar's test, which is computed no more.
NOT_SHOWN = {
    "fleiss_1971",
    "mcnemar",
    "fleiss_wikipedia",
    "student_sleep_1908",
    "ppi_mean_cross_check",
    "bca_efron_tibshirani_1993_spatial_A",
}


@needs_oracles
def test_every_entry_is_asked_for() -> None:
    asked = "".join(path.read_text("utf-8") for path in Path(__file__).parent.rglob("test_*.py"))
    entries = {name for name in json.loads(PATH.read_text("utf-8")) if not name.startswith("_")} - NOT_SHOWN
    assert {name for name in entries if not re.search(rf'"{re.escape(name)}"', asked)} == set()
