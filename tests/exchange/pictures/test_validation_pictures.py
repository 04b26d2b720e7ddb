"""Pictures of validation: what is written in them, the human band, and that any name can be drawn."""

from typing import Any

from annotator.domain.texts.estimate import Estimate
from annotator.exchange.pictures.figures import PRINTED
from annotator.exchange.pictures.validation_pictures import (
    MOST_PANELS,
    PlottedRater,
    Section,
    beside,
    confusions,
    differences,
)

NAMES = ("Alpha $x_1$", "深度研究智能体", "باحث عميق")
FOUND, BELOW = Estimate(0.5, 0.4, 0.6, n=3), Estimate(-0.2, -0.6, 0.1, n=3)
NONE = Estimate(None, note="one class")
COUNTS = {("yes", "yes"): 8.0, ("yes", "no"): 2.0}


def written(figure: Any) -> list[str]:
    figure.canvas.draw()
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    labels = [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]
    return texts + labels


def section(title: str = "all", human: Estimate | None = FOUND) -> Section:
    raters = [
        PlottedRater(name, one, name != NAMES[2])
        for name, one in zip(NAMES, (FOUND, BELOW, NONE), strict=True)
    ]
    return Section(title, raters, human)


def test_judges_and_people_stand_on_one_axis_with_the_band_across() -> None:
    figure = beside("Title", [section()], "axis")
    (axes,) = figure.axes
    assert {*NAMES, "0.500", "−0.200", "undefined"} <= set(written(figure))
    # A value below 0 has room; the band reaches over all three raters.
    assert axes.get_xlim()[0] <= -0.6
    band = axes.patches[0].get_xy()
    assert (band[:, 0].min(), band[:, 0].max()) == (0.4, 0.6)
    assert (band[:, 1].min(), band[:, 1].max()) == (-0.5, 2.5)
    assert [text.get_text() for text in figure.legends[0].get_texts()] == [
        "judge",
        "people",
        "people with one another",
    ]


def test_without_people_there_is_no_band() -> None:
    assert not beside("Title", [section(human=None)], "axis").axes[0].patches


def test_a_value_that_tells_little_says_so() -> None:
    one = Section("all", [PlottedRater("a", Estimate(1.0, 1.0, 1.0, n=8), True, "one class only")], None)
    assert "1.000  one class only" in written(beside("Title", [one], "axis"))


def test_groups_have_their_names_and_too_many_are_counted() -> None:
    figure = beside("Title", [section(f"group {n}") for n in range(40)], "axis")
    assert "group 3" in written(figure)
    assert "group 39" not in written(figure)
    assert "20 more are not drawn" in figure.axes[0].get_xlabel()


def test_a_confusion_shows_counts_and_shares_of_the_row() -> None:
    figure = confusions("Title", [(name, COUNTS) for name in NAMES], ("yes", "no"))
    assert len(figure.axes) == 3
    # Nothing is truly “no”: a count of 0, and no share of nothing.
    assert [text.get_text() for text in figure.axes[0].texts] == ["8\n80 %", "2\n20 %", "0", "0"]
    assert [axes.get_title() for axes in figure.axes] == list(NAMES)


def test_more_raters_than_fit_are_counted() -> None:
    figure = confusions("Title", [(str(n), COUNTS) for n in range(MOST_PANELS + 2)], ("yes", "no"))
    assert len(figure.axes) == MOST_PANELS
    assert "2 more are not drawn" in figure.get_supxlabel()


def test_a_difference_that_spans_zero_is_hollow() -> None:
    apart, open_ = Estimate(0.3, 0.1, 0.5, n=8), Estimate(0.1, -0.2, 0.4, n=8)
    (axes,) = differences("Title", [("a − b", apart), ("a − c", open_), ("b − c", NONE)], "axis").axes
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [mark.get_markerfacecolor() for mark in marks] == [PRINTED.mark, PRINTED.paper]
    assert axes.get_xlim()[0] == -axes.get_xlim()[1]
    assert "undefined" in [text.get_text() for text in axes.texts]
