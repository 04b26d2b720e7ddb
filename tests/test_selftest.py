"""The self-test: every part works here, and a part that fails is reported and not raised."""

import json
import subprocess
import sys

import pytest

from annotator import selftest
from annotator.domain.texts.refusal import Refusal
from tests.systems import failing
from tests.windows import children


@pytest.mark.slow
def test_every_part_works_here() -> None:
    words = children.started("--selftest")
    result = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    report = json.loads(result.stdout)
    assert {part["name"]: part["detail"] for part in report["parts"] if not part["ok"]} == {}
    assert (result.returncode, report["ok"], report["frozen"]) == (0, True, False)


def test_a_part_that_fails_is_reported_beside_those_that_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        selftest, "PARTS", (("broken", failing(Refusal("The disk is full."))), ("whole", lambda: "fine"))
    )
    report = selftest.run()
    failed, works = report["parts"]
    assert (report["ok"], failed["ok"], works["ok"]) == (False, False, True)
    assert "The disk is full." in failed["detail"]


def test_missing_files_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(selftest.places, "resources", lambda: tmp_path)
    with pytest.raises(AssertionError, match="missing: guidelines, help"):
        selftest._files()


def part(name: str) -> tuple[bool, str]:
    """Whether a part of the self-test works, and what it tells."""
    result = selftest._tried(name, dict(selftest.PARTS)[name])
    return bool(result["ok"]), str(result["detail"])


CERTIFICATES = "This machine has no certificates; install ca-certificates."


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("certificates", "places.no_certificates", lambda: CERTIFICATES, CERTIFICATES),
        ("fonts", "gui.shell.menus.seen", lambda: "", "no font; install fonts-dejavu-core"),
        ("project file", "selftest.OLDEST_SQLITE", (9, 0), "is too old"),
        # An order that knows neither accents nor numbers.
        ("languages", "gui.shell.menus.in_order", sorted, "names are sorted"),
    ],
)
def test_what_is_missing_here_is_told(
    name: str, place: str, value: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"annotator.{place}", value)
    works, detail = part(name)
    assert (works, words in detail) == (False, True)


def test_a_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(selftest.places, "user_data", lambda: tmp_path / "file" / "goldsmith")
    works, detail = part("writing")
    assert (works, detail.startswith(f"{tmp_path / 'file' / 'goldsmith'} cannot be written")) == (False, True)


def test_what_is_written_beside_a_project_is_taken_away_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setattr(selftest.places, "user_data", lambda: tmp_path)
    assert (part("writing")[0], list(tmp_path.iterdir())) == (True, [])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_a_screen_that_takes_no_window_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":7771")
    works, detail = part("display")
    assert (works, detail.startswith("no window can be shown:")) == (False, True)
