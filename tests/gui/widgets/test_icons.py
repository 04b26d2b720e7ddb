import pytest
from PySide6.QtGui import QColor, QIcon
from PySide6.QtWidgets import QPushButton

from annotator.gui import theme
from annotator.gui.widgets import icons


def inks(picture) -> set[str]:
    image = picture.toImage()
    points = ((x, y) for x in range(image.width()) for y in range(image.height()))
    return {QColor(image.pixelColor(x, y)).name() for x, y in points if image.pixelColor(x, y).alpha() == 255}


@pytest.mark.parametrize("name", icons.names())
def test_every_icon_draws_something_in_its_colour(name, qapp):
    drawn = inks(icons.pixmap(name, 48, "accent"))
    assert drawn
    if name != "logo":
        assert drawn == {theme.token("accent").name()}


def test_an_unknown_icon_is_a_bug(qapp):
    with pytest.raises(KeyError):
        icons.icon("no such icon")


def test_a_disabled_icon_is_paler(qapp):
    icon = icons.icon("check", 24)
    assert inks(icon.pixmap(24, QIcon.Mode.Disabled)) != inks(icon.pixmap(24, QIcon.Mode.Normal))


def test_a_put_icon_takes_the_colours_of_another_scheme(qtbot):
    button = QPushButton()
    qtbot.addWidget(button)
    button.show()
    icons.put(button, "stop", 24)
    button.show()
    theme.choose("light")
    light = inks(button.icon().pixmap(24))
    theme.choose("dark")
    assert inks(button.icon().pixmap(24)) != light


def test_every_state_has_an_icon_of_its_own(qapp):
    assert len(set(icons.STATE_ICONS.values())) == len(icons.STATE_ICONS) == 5
    assert set(icons.STATE_ICONS.values()) <= set(icons.names())
