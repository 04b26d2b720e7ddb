"""Pictures of results: what is written in them, that none is empty, and that any name can be drawn."""

from typing import Any

import pytest

from annotator.actions.results import result_pictures
from annotator.domain.texts.estimate import Estimate
from annotator.exchange.pictures import result_pictures as pictures
from annotator.exchange.pictures.figures import PRINTED, intervals, short

NAMES = ("Alpha $x_1$", "深度研究智能体", "باحث عميق")
FOUND = Estimate(0.5, 0.4, 0.6, n=3)
GAPS = Estimate(0.4, 0.3, 0.5, n=3, missing=2, floor=0.35, ceiling=0.55)
NONE = Estimate(None, note="nobody judged")
MATRIX: Any = [[True, None], [False, True]]


def drawn() -> dict[str, Any]:
    pairs = list(zip(NAMES, (FOUND, GAPS, NONE), strict=True))
    values = {(row, column): 0.5 for row in NAMES for column in NAMES if row != column}
    return {
        "intervals": intervals(pairs, "Title", "axis"),
        "heat": pictures.heat("Title", NAMES, NAMES, values, (0.0, 1.0)),
        "plane": pictures.plane(
            "Title",
            [pictures.PicturePoint(name, n, n, n > 0, 0, 1) for n, name in enumerate(NAMES)],
            "x",
            "y",
            front=True,
        ),
        "clouds": pictures.clouds("Title", {name: [(1.0, 0.5), (2.0, 0.6)] for name in NAMES}, "x", "y"),
        "lines": pictures.lines(
            "Title", {name: [(1, FOUND), (2, GAPS), (3, NONE)] for name in NAMES}, "k", "y"
        ),
        "bars": pictures.bars("Title", NAMES, {"here": [0.5, None, 0.0], "there": [1.0, 2.0, 3.0]}, "share"),
        "pairs": pictures.pairs("Title", [(name, FOUND, GAPS) for name in NAMES], ("one", "other"), "score"),
        "matrix": pictures.matrix("Title", NAMES[:2], NAMES[1:], MATRIX, [(0, 0)]),
    }


def words(figure: Any) -> list[str]:
    from matplotlib.text import Text

    return [label.get_text() for label in figure.findobj(Text)]


KINDS = ("intervals", "heat", "plane", "clouds", "lines", "bars", "pairs", "matrix")


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_saved_with_the_names_in_it(kind: str, tmp_path) -> None:
    figure = drawn()[kind]
    assert NAMES[1] in words(figure)
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        path = result_pictures.save(figure, tmp_path / f"{kind}.{ending}")
        assert path.read_bytes().startswith(start)


def test_the_same_picture_gives_the_same_bytes(tmp_path) -> None:
    for ending in ("svg", "png"):
        one, two = (result_pictures.save(drawn()["heat"], tmp_path / f"{n}.{ending}") for n in "ab")
        assert one.read_bytes() == two.read_bytes()


def test_a_value_that_is_not_there_is_a_dash_and_no_zero() -> None:
    found = words(drawn()["heat"])
    assert found.count("–") == len(NAMES)
    assert "no value yet" in words(drawn()["intervals"])


def test_letters_are_read_on_any_ground() -> None:
    values = {("a", "low"): 0.0, ("a", "high"): 1.0}
    figure = pictures.heat("Title", ["a"], ["low", "high"], values, (0.0, 1.0))
    colours = {label.get_text(): label.get_color() for label in figure.axes[0].texts}
    assert colours == {"0.00": PRINTED.text, "1.00": PRINTED.paper}


def test_a_heat_map_says_what_it_left_out() -> None:
    rows = [str(n) for n in range(pictures.MOST_ROWS + 5)]
    figure = pictures.heat("Title", rows, ["a"], {}, None)
    assert "5 more are not drawn" in words(figure)


def test_a_figure_that_is_no_share_has_an_axis_of_its_own() -> None:
    figure = intervals(
        [("a", Estimate(300.0, 250, 340))], "Latency", "s", within=None, higher_is_better=False
    )
    assert figure.axes[0].get_xlim()[1] > 300


@pytest.mark.parametrize(
    ("name", "said"),
    [("short", "short"), ("x" * 31, "x" * 29 + "…"), ("深" * 16, "深" * 14 + "…"), ("a\n b", "a b")],
)
def test_a_long_name_is_cut_wide_letters_counting_two(name: str, said: str) -> None:
    assert short(name) == said


def test_an_axis_runs_between_the_bounds_of_the_figure_and_lower_where_a_figure_lies_lower() -> None:
    rated = intervals([("a", Estimate(7.5))], "Rating", "", within=(0.0, 10.0)).axes[0]
    assert rated.get_xlim() == (0.0, pytest.approx(11.2))
    assert rated.get_xticks().tolist() == [0, 2, 4, 6, 8, 10]
    assert intervals([("a", Estimate(-0.25))], "Coverage", "").axes[0].get_xlim()[0] == -0.25


def test_lines_of_shares_run_from_zero() -> None:
    figure = pictures.lines("Title", {"one": [(0, Estimate(1.0)), (1, Estimate(1.0))]}, "x", "y")
    assert figure.axes[0].get_ylim()[0] == 0
