"""The manual's pictures can be made again, and are those that it shows."""

import re

import pytest
from PySide6.QtGui import QImage

from annotator.gui import theme
from tests.house import reading
from tests.windows import readme_pictures


def test_the_manual_shows_every_picture_that_is_made() -> None:
    text = (reading.HERE / "docs/tour.md").read_text("utf-8")
    assert sorted(re.findall(r"pictures/(\w+)\.png", text)) == sorted(readme_pictures.PICTURES)


@pytest.mark.slow
@pytest.mark.usefixtures("sample_at_once")
@pytest.mark.qt_log_ignore("This plugin does not support")
def test_pictures_are_made_in_their_size(qtbot, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(theme.current(), "choice", "light")
    # What is in them is looked at by nobody here.
    monkeypatch.setattr(readme_pictures, "SETTLE_MS", 50)
    # The usual place, where the strip leads, an act before, a judge's place.
    some = {name: readme_pictures.PICTURES[name] for name in ("home", "label", "adjudicate", "judges")}
    monkeypatch.setattr(readme_pictures, "PICTURES", some)
    made = readme_pictures.make(tmp_path)
    assert [path.stem for path in made] == list(some)
    sizes = {(image.width(), image.height()) for image in map(QImage, map(str, made))}
    assert (sizes, len({path.read_bytes() for path in made})) == ({readme_pictures.SIZE}, len(made))
