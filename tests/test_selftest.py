"""The self-test: every part works here, and a part that fails is reported and not raised."""

import json
import subprocess
import sys

import pytest

from annotator import selftest
from annotator.domain.texts.refusal import Refusal
from tests.windows import children


@pytest.mark.slow
def test_every_part_works_here() -> None:
    words = children.started("--selftest")
    result = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    report = json.loads(result.stdout)
    assert {part["name"]: part["detail"] for part in report["parts"] if not part["ok"]} == {}
    assert (result.returncode, report["ok"], report["frozen"]) == (0, True, False)


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


def part(name: str) -> dict[str, object]:
    (result,) = [selftest._tried(name, part) for named, part in selftest.PARTS if named == name]
    return result


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
    result = part(name)
    assert not result["ok"]
    assert words in str(result["detail"])


def test_a_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(selftest.places, "user_data", lambda: tmp_path / "file" / "goldsmith")
    result = part("writing")
    assert not result["ok"]
    assert str(result["detail"]).startswith(f"{tmp_path / 'file' / 'goldsmith'} cannot be written")


def test_what_is_written_beside_a_project_is_taken_away_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setattr(selftest.places, "user_data", lambda: tmp_path)
    assert part("writing")["ok"]
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_a_screen_that_takes_no_window_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":7771")
    result = part("display")
    assert not result["ok"]
    assert str(result["detail"]).startswith("no window can be shown:")
