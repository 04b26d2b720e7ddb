"""The self-test: every part works here, and a part that fails is reported and not raised."""

import json
import subprocess
import sys

import pytest

from annotator import selftest
from annotator.domain.texts.refusal import Refusal


@pytest.mark.slow
def test_every_part_works_here() -> None:
    found = subprocess.run(
        [sys.executable, "-m", "annotator", "--selftest"], capture_output=True, encoding="utf-8", check=False
    )
    report = json.loads(found.stdout)
    assert {part["name"]: part["detail"] for part in report["parts"] if not part["ok"]} == {}
    assert (found.returncode, report["ok"], report["frozen"]) == (0, True, False)


def broken() -> str:
    raise Refusal("The disk is full.", "Free some space.")


def test_a_part_that_fails_is_reported_beside_those_that_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(selftest, "PARTS", (("broken", broken), ("whole", lambda: "fine")))
    report = selftest.run()
    assert not report["ok"]
    assert [part["ok"] for part in report["parts"]] == [False, True]
    assert "The disk is full." in report["parts"][0]["detail"]


def test_missing_files_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(selftest.places, "resources", lambda: tmp_path)
    with pytest.raises(AssertionError, match="missing: guidelines, help"):
        selftest._files()


def test_an_order_that_knows_neither_accents_nor_numbers_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.gui.shell.languages.in_order", sorted)
    (part,) = [selftest._tried(name, part) for name, part in selftest.PARTS if name == "languages"]
    assert not part["ok"]
    assert "names are sorted" in part["detail"]
