"""Folders in which files are cleared away."""

import tempfile
from pathlib import Path

import pytest

from annotator.storage.opening import is_passing


@pytest.fixture(autouse=True)
def elsewhere(monkeypatch, tmp_path):
    """The system's folder of temporary files lies elsewhere than the tests."""
    monkeypatch.setattr(tempfile, "gettempdir", lambda: str(tmp_path / "system"))
    monkeypatch.setattr("os.access", lambda *_: True)


@pytest.mark.parametrize(
    "folder",
    [
        "Users/ana/AppData/Local/Microsoft/Windows/INetCache/Content.Outlook/X1",
        "Users/ana/Library/Containers/com.apple.mail/Data/Library/Mail Downloads/1",
        "home/ana/.cache/evolution",
        "tmp/mozilla_ana0",
    ],
)
def test_where_mail_programs_put_attachments_nothing_lasts(folder):
    assert is_passing(Path("/") / folder)


@pytest.mark.parametrize("folder", ["home/ana/Downloads", "Users/ana/Desktop", "home/ana/template"])
def test_a_persons_own_folders_last(folder):
    assert not is_passing(Path("/") / folder)


def test_the_systems_own_temporary_folder_does_not_last(tmp_path):
    assert is_passing(tmp_path / "system" / "deep" / "down")


def test_a_folder_that_cannot_be_written_to_holds_no_project(monkeypatch):
    monkeypatch.setattr("os.access", lambda *_: False)
    assert is_passing(Path("/media/disc"))
