"""Pictures of agreement: dots with intervals by group, a line over weeks, nothing drawn where there is no value."""

from matplotlib.backends.backend_agg import FigureCanvasAgg

from annotator.domain.experts.agreement import Figure
from annotator.exchange.pictures import agreement_pictures as pictures
from annotator.exchange.pictures.agreement_pictures import by_group, by_week


def kappa(value: float | None, low: float | None = None, high: float | None = None, n: int = 12) -> Figure:
    return Figure(name="kappa", value=value, low=low, high=high, n=n)


def drawn(sheet):
    """The axes of a picture that has been laid out and painted: what does not fit warns, and a warning fails."""
    FigureCanvasAgg(sheet).draw()
    (axes,) = sheet.axes
    return axes


def dots(axes):
    return [(x, y) for line in axes.lines if line.get_marker() == "o" for x, y in line.get_xydata()]


def words(axes):
    return [text.get_text() for text in axes.texts]


def test_each_group_is_a_dot_with_its_interval_in_the_order_given():
    axes = drawn(by_group([("A and B", kappa(0.5, 0.25, 0.75)), ("A and C", kappa(0.9))], "κ", "κ"))
    assert dots(axes) == [(0.5, 0), (0.9, 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A and B", "A and C"]
    spans = [tuple(x for x, _ in span) for lines in axes.collections for span in lines.get_segments()]
    assert spans == [(0.25, 0.75)]
    assert words(axes) == ["0.50  n = 12", "0.90  n = 12"]


def test_an_undefined_figure_is_said_and_not_drawn():
    axes = drawn(by_group([("A", kappa(None)), ("B", kappa(0.2))], "κ", "κ"))
    assert dots(axes) == [(0.2, 1)]
    assert sorted(words(axes)) == ["0.20  n = 12", "undefined"]


def test_nothing_but_undefined_figures_is_a_picture_too():
    axes = drawn(by_group([("A", kappa(None)), ("B", kappa(None))], "κ", "κ"))
    assert (dots(axes), words(axes)) == ([], ["undefined", "undefined"])


def test_the_axis_reaches_below_zero_only_where_a_figure_does():
    assert drawn(by_group([("A", kappa(0.1, 0.0, 0.3))], "κ", "κ")).get_xlim()[0] > -0.1
    axes = drawn(by_group([("A", kappa(-0.3, -0.45, 0.1))], "κ", "κ"))
    assert axes.get_xlim()[0] < -0.45
    assert words(axes) == ["−0.30  n = 12"]


def test_a_picture_of_very_many_groups_counts_the_rest():
    points = [(f"item {n}", kappa(0.5)) for n in range(pictures.MOST_GROUPS + 5)]
    axes = drawn(by_group(points, "κ", "κ"))
    assert len(dots(axes)) == pictures.MOST_GROUPS
    assert axes.get_xlabel() == "κ; 5 more are not drawn"


def test_long_names_of_any_script_leave_room_for_the_figures():
    names = ["word " * 40, "証拠の帰属を評価する" * 9, "كيف تُنسب الأدلة في الإجابات الطويلة " * 4]
    sheet = by_group([(name, kappa(0.5)) for name in names], "κ", "κ")
    # As narrow as the window lets the picture become.
    sheet.set_size_inches(3.2, 2)
    axes = drawn(sheet)
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert all(text.endswith("…") and len(text) <= pictures.WIDEST_NAME for text in shown)
    # A wide letter takes the room of two.
    assert len(shown[1]) <= pictures.WIDEST_NAME / 2 + 1


def test_weeks_stand_as_far_apart_as_they_are():
    points = [("2026-W52", kappa(0.5)), ("2026-W53", kappa(0.6)), ("2027-W02", kappa(0.7))]
    axes = drawn(by_week(points, "κ", "κ"))
    days = [x for x, _ in dots(axes)]
    assert (days[1] - days[0], days[2] - days[1]) == (7, 14)
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "2026-W52\nn = 12", "W53\nn = 12", "2027-W02\nn = 12",
    ]  # fmt: skip


def test_the_line_breaks_at_a_week_without_a_figure():
    values = (0.5, 0.6, None, 0.7, 0.8)
    axes = drawn(by_week([(f"2026-W{10 + n}", kappa(value)) for n, value in enumerate(values)], "κ", "κ"))
    runs = [list(line.get_ydata()) for line in axes.lines if line.get_marker() != "o"]
    assert runs == [[0.5, 0.6], [0.7, 0.8]]
    assert words(axes) == ["undefined"]


def test_many_weeks_are_not_all_spelt():
    points = [(f"2026-W{n:02}", kappa(0.5)) for n in range(1, 53)]
    assert len(drawn(by_week(points, "κ", "κ")).get_xticks()) <= pictures.SPELT_WEEKS
