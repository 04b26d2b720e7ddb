"""Pictures of figures, and files of validity cards: the same bytes each time, nothing that was tampered with."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from annotator import places
from annotator.actions.results import result_pictures
from annotator.domain.experts.adjudication import Figure
from annotator.domain.judges.validation import tree_sha256
from annotator.domain.texts.estimate import Estimate
from annotator.exchange import card_pages, pictures
from annotator.exchange.pictures import (
    MOST_PANELS,
    PRINTED,
    PlottedRater,
    Section,
    beside,
    by_group,
    by_week,
    confusions,
    differences,
    intervals,
    short,
)
from tests.common import expect_refusal
from tests.projects.made_card import HOSTILE, made_card


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


def test_a_group_is_a_dot():
    axes = drawn(by_group([("A and B", kappa(0.5, 0.25, 0.75)), ("A and C", kappa(0.9))], "κ", "κ"))
    assert dots(axes) == [(0.5, 0), (0.9, 1)]
    assert [label.get_text() for label in axes.get_yticklabels()] == ["A and B", "A and C"]
    spans = [tuple(x for x, _ in span) for lines in axes.collections for span in lines.get_segments()]
    assert (spans, words(axes)) == ([(0.25, 0.75)], ["0.50  n = 12", "0.90  n = 12"])
    axes = drawn(by_group([(f"item {n}", kappa(0.5)) for n in range(pictures.MOST_GROUPS + 5)], "κ", "κ"))
    assert (len(dots(axes)), axes.get_xlabel()) == (pictures.MOST_GROUPS, "κ; 5 more are not drawn")


def test_undefined_figures_are_said_and_the_axis_reaches_to_the_lowest():
    axes = drawn(by_group([("A", kappa(None)), ("B", kappa(0.2))], "κ", "κ"))
    assert (dots(axes), sorted(words(axes))) == ([(0.2, 1)], ["0.20  n = 12", "undefined"])
    axes = drawn(by_group([("A", kappa(None)), ("B", kappa(None))], "κ", "κ"))
    assert (dots(axes), words(axes)) == ([], ["undefined", "undefined"])
    assert drawn(by_group([("A", kappa(0.1, 0.0, 0.3))], "κ", "κ")).get_xlim()[0] > -0.1
    axes = drawn(by_group([("A", kappa(-0.3, -0.45, 0.1))], "κ", "κ"))
    assert axes.get_xlim()[0] < -0.45
    assert words(axes) == ["−0.30  n = 12"]


def test_long_names_of_any_script_leave_room_for_the_figures():
    names = ["word " * 40, "証拠の帰属を評価する" * 9, "كيف تُنسب الأدلة في الإجابات الطويلة " * 4]
    sheet = by_group([(name, kappa(0.5)) for name in names], "κ", "κ")
    # As narrow as the window lets the picture become.
    sheet.set_size_inches(3.2, 2)
    axes = drawn(sheet)
    shown = [label.get_text() for label in axes.get_yticklabels()]
    assert all(text.endswith("…") and len(text) <= pictures.WIDEST_GROUP for text in shown)
    # A wide letter takes the room of two.
    assert len(shown[1]) <= pictures.WIDEST_GROUP / 2 + 1


def test_weeks_stand_apart_and_the_line_breaks():
    points = [("2026-W52", kappa(0.5)), ("2026-W53", kappa(0.6)), ("2027-W02", kappa(0.7))]
    axes = drawn(by_week(points, "κ", "κ"))
    days = [x for x, _ in dots(axes)]
    assert (days[1] - days[0], days[2] - days[1]) == (7, 14)
    assert [label.get_text() for label in axes.get_xticklabels()] == [
        "2026-W52\nn = 12", "W53\nn = 12", "2027-W02\nn = 12",
    ]  # fmt: skip
    values = (0.5, 0.6, None, 0.7, 0.8)
    axes = drawn(by_week([(f"2026-W{10 + n}", kappa(value)) for n, value in enumerate(values)], "κ", "κ"))
    runs = [list(line.get_ydata()) for line in axes.lines if line.get_marker() != "o"]
    assert (runs, words(axes)) == ([[0.5, 0.6], [0.7, 0.8]], ["undefined"])
    points = [(f"2026-W{n:02}", kappa(0.5)) for n in range(1, 53)]
    assert len(drawn(by_week(points, "κ", "κ")).get_xticks()) <= pictures.SPELT_WEEKS


NAMES = ("Alpha $x_1$", "深度研究智能体", "باحث عميق")
FOUND = Estimate(0.5, 0.4, 0.6, n=3)
GAPS = Estimate(0.4, 0.3, 0.5, n=3, missing=2, floor=0.35, ceiling=0.55)
NONE = Estimate(None, note="nobody judged")
MATRIX: Any = [[True, None], [False, True]]


PAIRS = list(zip(NAMES, (FOUND, GAPS, NONE), strict=True))
OF_PAIRS = {(row, column): 0.5 for row in NAMES for column in NAMES if row != column}
POINTS = [pictures.PicturePoint(name, n, n, n > 0, 0, 1) for n, name in enumerate(NAMES)]
CLOUDS = {name: [(1.0, 0.5), (2.0, 0.6)] for name in NAMES}
LINES = {name: [(1, FOUND), (2, GAPS), (3, NONE)] for name in NAMES}
BARS = {"here": [0.5, None, 0.0], "there": [1.0, 2.0, 3.0]}
KINDS: dict[str, Callable[[], Any]] = {
    "intervals": lambda: intervals("Title", PAIRS, "axis"),
    "heat": lambda: pictures.heat("Title", NAMES, NAMES, OF_PAIRS, (0.0, 1.0)),
    "plane": lambda: pictures.plane("Title", POINTS, "x", "y", front=True),
    "clouds": lambda: pictures.clouds("Title", CLOUDS, "x", "y"),
    "lines": lambda: pictures.lines("Title", LINES, "k", "y"),
    "bars": lambda: pictures.bars("Title", NAMES, BARS, "share"),
    "pairs": lambda: pictures.pairs(
        "Title", [(name, FOUND, GAPS) for name in NAMES], ("one", "other"), "score"
    ),
    "matrix": lambda: pictures.matrix("Title", NAMES[:2], NAMES[1:], MATRIX, [(0, 0)]),
}


def result_words(figure: Any) -> list[str]:
    from matplotlib.text import Text

    return [label.get_text() for label in figure.findobj(Text)]


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_saved_with_the_names_in_it(kind: str, tmp_path) -> None:
    figure = KINDS[kind]()
    assert NAMES[1] in result_words(figure)
    for ending, start in (("svg", b"<?xml"), ("png", b"\x89PNG")):
        assert result_pictures.save(figure, tmp_path / f"{kind}.{ending}").read_bytes().startswith(start)


def test_the_same_picture_gives_the_same_bytes(tmp_path) -> None:
    for ending in ("svg", "png"):
        one, two = (result_pictures.save(KINDS["heat"](), tmp_path / f"{n}.{ending}") for n in "ab")
        assert one.read_bytes() == two.read_bytes()


def test_maps_say_what_is_not_there() -> None:
    assert result_words(KINDS["heat"]()).count("–") == len(NAMES)
    assert "no value yet" in result_words(KINDS["intervals"]())
    values = {("a", "low"): 0.0, ("a", "high"): 1.0}
    figure = pictures.heat("Title", ["a"], ["low", "high"], values, (0.0, 1.0))
    colours = {label.get_text(): label.get_color() for label in figure.axes[0].texts}
    assert colours == {"0.00": PRINTED.text, "1.00": PRINTED.paper}
    figure = pictures.heat("Title", [str(n) for n in range(pictures.MOST_ROWS + 5)], ["a"], {}, None)
    assert "5 more are not drawn" in result_words(figure)


def test_axes_run_between_the_bounds_of_their_figure() -> None:
    figure = intervals(
        "Latency", [("a", Estimate(300.0, 250, 340))], "s", within=None, higher_is_better=False
    )
    assert figure.axes[0].get_xlim()[1] > 300
    rated = intervals("Rating", [("a", Estimate(7.5))], "", within=(0.0, 10.0)).axes[0]
    assert rated.get_xlim() == (0.0, pytest.approx(11.2))
    assert rated.get_xticks().tolist() == [0, 2, 4, 6, 8, 10]
    assert intervals("Coverage", [("a", Estimate(-0.25))], "").axes[0].get_xlim()[0] == -0.25
    figure = pictures.lines("Title", {"one": [(0, Estimate(1.0)), (1, Estimate(1.0))]}, "x", "y")
    assert figure.axes[0].get_ylim()[0] == 0


@pytest.mark.parametrize(
    ("name", "said"),
    [("short", "short"), ("x" * 31, "x" * 29 + "…"), ("深" * 16, "深" * 14 + "…"), ("a\n b", "a b")],
)
def test_a_long_name_is_cut_wide_letters_counting_two(name: str, said: str) -> None:
    assert short(name) == said


JUDGE_FIGURES, BELOW = Estimate(0.5, 0.4, 0.6, n=3), Estimate(-0.2, -0.6, 0.1, n=3)
NO_FIGURES = Estimate(None, note="one class")
COUNTS = {("yes", "yes"): 8.0, ("yes", "no"): 2.0}


def written(figure: Any) -> list[str]:
    figure.canvas.draw()
    texts = [text.get_text() for axes in figure.axes for text in axes.texts]
    return texts + [label.get_text() for axes in figure.axes for label in axes.get_yticklabels()]


def section(title: str = "all", human: Estimate | None = JUDGE_FIGURES) -> Section:
    raters = [
        PlottedRater(name, one, name != NAMES[2])
        for name, one in zip(NAMES, (JUDGE_FIGURES, BELOW, NO_FIGURES), strict=True)
    ]
    return Section(title, raters, human)


def test_judges_and_people_stand_on_one_axis_with_the_band_across() -> None:
    figure = beside("Title", [section()], "axis")
    (axes,) = figure.axes
    assert {*NAMES, "0.500", "−0.200", "undefined"} <= set(written(figure))
    # A value below 0 has room; the band reaches over all three raters.
    assert axes.get_xlim()[0] <= -0.6
    band = axes.patches[0].get_xy()
    assert (*band.min(axis=0), *band.max(axis=0)) == (0.4, -0.5, 0.6, 2.5)
    legend = [text.get_text() for text in figure.legends[0].get_texts()]
    assert legend == ["judge", "people", "people with one another"]


def test_groups_have_names_and_a_band_only_with_people() -> None:
    assert not beside("Title", [section(human=None)], "axis").axes[0].patches
    one = Section("all", [PlottedRater("a", Estimate(1.0, 1.0, 1.0, n=8), True, "one class only")], None)
    assert "1.000  one class only" in written(beside("Title", [one], "axis"))
    figure = beside("Title", [section(f"group {n}") for n in range(40)], "axis")
    assert {"group 3", "group 39"} & set(written(figure)) == {"group 3"}
    assert "20 more are not drawn" in figure.axes[0].get_xlabel()


def test_a_confusion_shows_counts_and_too_many_raters_are_counted() -> None:
    figure = confusions("Title", [(name, COUNTS) for name in NAMES], ("yes", "no"))
    assert len(figure.axes) == 3
    # Nothing is truly “no”: a count of 0, and no share of nothing.
    assert [text.get_text() for text in figure.axes[0].texts] == ["8\n80 %", "2\n20 %", "0", "0"]
    assert [axes.get_title() for axes in figure.axes] == list(NAMES)
    figure = confusions("Title", [(str(n), COUNTS) for n in range(MOST_PANELS + 2)], ("yes", "no"))
    assert len(figure.axes) == MOST_PANELS
    assert "2 more are not drawn" in figure.get_supxlabel()


def test_a_difference_that_spans_zero_is_hollow() -> None:
    apart, open_ = Estimate(0.3, 0.1, 0.5, n=8), Estimate(0.1, -0.2, 0.4, n=8)
    (axes,) = differences("Title", [("a − b", apart), ("a − c", open_), ("b − c", NO_FIGURES)], "axis").axes
    marks = [line for line in axes.lines if line.get_marker() == "o"]
    assert [mark.get_markerfacecolor() for mark in marks] == [PRINTED.mark, PRINTED.paper]
    assert axes.get_xlim()[0] == -axes.get_xlim()[1]
    assert "undefined" in [text.get_text() for text in axes.texts]


CARD = made_card()


def kept(folder: Path, content: bytes, name: str = "card.json") -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def changed(**more: Any) -> dict[str, Any]:
    tree = {**CARD.tree(), **more}
    return {**tree, "sha256": tree_sha256(tree)}


def test_the_json_fits_its_schema_and_comes_back_from_a_page(tmp_path: Path) -> None:
    first = card_pages.content(CARD, ".json")
    page = card_pages.content(card_pages.read(kept(tmp_path, first)), ".html")
    again = card_pages.read(kept(tmp_path, page, "card.html"))
    assert (again, card_pages.content(again, ".json"), card_pages.content(again, ".html")) == (
        CARD,
        first,
        page,
    )
    schema = json.loads((places.schemas() / "validity_card.json").read_bytes())
    validator, tree = jsonschema.Draft202012Validator(schema), json.loads(first)
    # It sees a field too many, one too few, and a figure in words.
    for changed_tree, rules in (
        (tree, []),
        (tree | {"mood": "good"}, ["additionalProperties"]),
        ({name: value for name, value in tree.items() if name != "judge"}, ["required"]),
        (tree | {"missing_limit": "a few"}, ["type"]),
    ):
        assert [fault.validator for fault in validator.iter_errors(changed_tree)] == rules


def test_a_page_survives_other_line_ends_and_a_mark(tmp_path: Path) -> None:
    page = card_pages.content(CARD, ".html").replace(b"\n", b"\r\n")
    assert card_pages.read(kept(tmp_path, b"\xef\xbb\xbf" + page, "card.html")) == CARD


class Seen(HTMLParser):
    """What a browser would load or run, and what it would show."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.addresses: list[str] = []
        self.words = ""

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.addresses += [
            value or "" for name, value in attrs if name in ("src", "href", "action", "data", "poster")
        ]
        assert not [name for name, _ in attrs if name.startswith("on")]

    def handle_data(self, data: str) -> None:
        self.words += data


def test_a_page_stands_alone_and_reads_nothing_as_markup() -> None:
    text = card_pages.content(CARD, ".html").decode()
    seen = Seen()
    seen.feed(text)
    assert seen.addresses == []
    assert not seen.tags & {"script", "link", "img", "iframe", "object", "form", "base"}
    assert not any(part in text for part in ("url(", "@import", HOSTILE))
    assert seen.words.count(HOSTILE) >= 4
    # Foreign words keep their own direction.
    assert "<bdi>\u2068קל وسريع\u2069</bdi>" in text
    assert "text-align: start" in text


def test_a_page_tells_every_figure_with_its_interval_n_and_reason() -> None:
    body = re.sub(r"<[^>]+>", " ", card_pages.content(CARD, ".html").decode().split("<details>")[0])
    for words in (
        "0.750", "[0.500, 0.900]", "n\u00a016", "undefined: both used one value", "mean over units", "US$ 0.0021",
        "by question type", "not asked", "o3-mini", "json_schema", CARD.sha256, "R2 and R3", "Not publishable",
    ):  # fmt: skip
        assert words.casefold() in body.casefold()
    assert not re.search(r"\b(nan|inf)\b", body, re.IGNORECASE)


def test_a_page_without_people_reviews_or_attacks_says_so() -> None:
    lines = tuple(line for line in CARD.lines if line.who == "judge")
    text = card_pages.content(made_card(lines=lines, reviews=None, attacks=()), ".html").decode()
    for words in ("nobody to be held against", "Nobody reviewed its verdicts", "tells of no attack"):
        assert words in text


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"{", "line 1"),
        (b"[]", "is no validity card"),
        (b'{"format": "goldsmith"}', "is no validity card"),
        (b"<html><body>Hello</body></html>", "carries no validity card"),
    ],
)
def test_what_is_no_card_is_refused(tmp_path: Path, content: bytes, said: str) -> None:
    expect_refusal(said, card_pages.read, kept(tmp_path, content))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("lines", 0, "plain", "accuracy", "value"), 0.99),
        (("judge", "model"), "o4"),
        (("labels", "units"), 17),
        (("made_at",), "2027-01-01T00:00:00Z"),
        (("sha256",), "cd" * 32),
    ],
)
def test_a_card_that_was_changed_is_refused(tmp_path: Path, path: tuple[Any, ...], value: object) -> None:
    tree = CARD.tree()
    part = tree
    for step in path[:-1]:
        part = part[step]
    part[path[-1]] = value
    expect_refusal(
        "was changed since it was written", card_pages.read, kept(tmp_path, json.dumps(tree).encode())
    )


def test_a_page_whose_words_were_changed_is_refused(tmp_path: Path) -> None:
    page = card_pages.content(CARD, ".html").replace(b"<b>0.750</b>", b"<b>0.990</b>", 1)
    expect_refusal("the page is another", card_pages.read, kept(tmp_path, page, "card.html"))


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"format_version": "1.1"}, "needs a newer Goldsmith"),
        ({"format_version": "2.0"}, "needs a newer Goldsmith"),
        ({"format_version": "new"}, "of an unknown format"),
        ({"mood": "good"}, "“mood” is not a field of this format"),
        ({"lines": "none"}, "no whole validity card"),
    ],
)
def test_a_card_of_another_make_is_refused_in_words(tmp_path: Path, more: dict[str, Any], said: str) -> None:
    expect_refusal(said, card_pages.read, kept(tmp_path, json.dumps(changed(**more)).encode()))


def test_a_card_with_something_left_out_is_refused(tmp_path: Path) -> None:
    tree = {name: value for name, value in CARD.tree().items() if name != "reviews"}
    tree["sha256"] = tree_sha256(tree)
    expect_refusal("something is left out", card_pages.read, kept(tmp_path, json.dumps(tree).encode()))


def test_other_endings_and_a_file_that_is_not_there_are_refused(tmp_path: Path) -> None:
    for ending in (".pdf", "", ".txt"):
        expect_refusal(r"Use one of \.json, \.html", card_pages.content, CARD, ending)
    expect_refusal("There is no file", card_pages.read, tmp_path / "card.json")
