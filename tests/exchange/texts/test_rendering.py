import re

import pytest

from annotator.domain.texts import quotation
from annotator.domain.texts.rendered import CUT
from annotator.exchange.texts.rendering import render


def test_markdown_becomes_the_tags_that_rich_text_knows():
    html = render("# A\n\nb **c** *d* `e` ~~f~~\n\n> g\n\n- h\n\n3. i\n").html
    for tag in (
        "<h1>A</h1>",
        "<strong>c</strong>",
        "<em>d</em>",
        "<code>e</code>",
        "<s>f</s>",
        "<blockquote>",
    ):
        assert tag in html
    assert '<ol start="3">' in html


def test_a_table_says_how_its_cells_are_aligned():
    html = render("|a|b|\n|:-:|--:|\n|1|2|\n").html
    assert '<td align="center">1</td>' in html
    assert '<td align="right">2</td>' in html
    assert "style" not in html


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [("![a *plot*](https://x.y/z.png)", "[image: a plot]"), ("![](/dev/zero)", "[image]")],
)
def test_an_image_is_only_its_words(markdown, shown):
    html = render(markdown).html
    assert shown in html
    assert "<img" not in html
    assert "zero" not in html


@pytest.mark.parametrize(
    "url",
    ["javascript:alert(1)", "vbscript:x", "file:///etc/passwd", "data:text/html,x", "//host/share", "a.md", "ftp://x/y",
     "mailto:a@b.c", "JaVaScRiPt:alert(1)", "\\\\\\\\host\\\\x"],
)  # fmt: skip
def test_only_links_to_the_web_can_be_followed(url):
    assert "href" not in render(f"[words]({url}) <{url}>").html


@pytest.mark.parametrize(
    "url", ["file:///x", "javascript:x", "data:image/png;base64," + "A" * 5_000, "/dev/zero"]
)
def test_no_image_or_link_is_left_as_raw_markdown(url):
    html = render(f"![a]({url}) and [b]({url})").html
    assert html.strip() == "<p><em>[image: a]</em> and <a>b</a></p>"


def test_a_link_to_the_web_keeps_its_address():
    html = render('[words](https://example.org/a?b=1&c=2 "title") <http://x.org>').html
    assert '<a href="https://example.org/a?b=1&amp;c=2">words</a>' in html
    assert '<a href="http://x.org">http://x.org</a>' in html
    assert "title" not in html


@pytest.mark.parametrize(
    ("text", "url"),
    [
        ("see https://example.org/a_b.", "https://example.org/a_b"),
        ("(https://example.org/x)", "https://example.org/x"),
        ("https://en.example.org/Gold_(metal), too", "https://en.example.org/Gold_(metal)"),
    ],
)
def test_an_address_in_the_text_is_a_link_without_the_full_stop(text, url):
    assert f'<a href="{url}">{url}</a>' in render(text).html


def test_an_address_inside_a_link_is_not_linked_twice():
    assert render("[https://a.org](https://b.org)").html.count("<a ") == 1


@pytest.mark.parametrize(
    "html", ["<script>alert(1)</script>", "<img src=x onerror=y>", "<!-- c -->", "<b>x</b>", "<table><tr>"]
)
def test_markup_in_the_text_is_shown_as_text(html):
    rendered = render(f"before {html} after\n\n{html}\n").html
    assert set(re.findall(r"</?(\w+)", rendered)) <= {"p"}
    assert rendered.count("&lt;") >= 2


def test_a_long_report_is_cut_before_paragraphs_and_headings():
    markdown = "\n\n".join(f"## Part {n}\n\n{'word ' * 300}\n\n|a|b|\n|-|-|\n|1|2|" for n in range(40))
    pieces = render(markdown).html.split(CUT)
    assert len(pieces) > 5
    assert all(piece.startswith(("<h2", "<p")) for piece in pieces)
    for piece in pieces:
        assert piece.count("<table") == piece.count("</table>")


def test_a_table_is_cut_only_behind_a_table():
    pieces = render("words " * 2_000 + "\n\n|n|\n|-|\n" + "|word word word|\n" * 480).html.split(CUT)
    assert [piece.lstrip()[:6] for piece in pieces] == ["<p>wor", "<table", "<table"]
    assert all(piece.rstrip().endswith("</table>") for piece in pieces)


def test_a_cut_cannot_be_forged():
    assert CUT not in render(f"a {CUT} [b](https://x/{CUT}) `{CUT}`\n\n{CUT}\n").html


def test_a_large_table_is_cut_into_tables_with_the_same_head():
    html = render("|n|m|\n|-|-|\n" + "".join(f"|{n}|x|\n" for n in range(400))).html
    assert html.count("<table") == html.count(">n</th>") == 6
    assert re.findall(r'<td width="50%">(\d+)</td>', html) == [str(n) for n in range(400)]


def test_bidirectional_marks_are_kept_and_end_with_their_paragraph():
    override = "\u202eevil\n\nnext \u2067isolated\n\n| \u202ea | b |\n|-|-|\n"
    html = render(override).html
    assert "<p>\u202eevil</p>" in html
    assert "<p>next \u2067isolated</p>" in html
    assert "<th>\u202ea</th>" in html


def test_a_long_run_is_broken_even_across_marks():
    markdown = "**" + "a" * 15_000 + "**" + "b" * 15_000
    seen = re.sub("<[^>]+>", "", render(markdown).html).strip()
    assert max(len(run) for run in seen.split("\u200b")) <= 2_000
    assert seen.replace("\u200b", "") == "a" * 15_000 + "b" * 15_000


def test_characters_that_qt_keeps_for_frames_are_replaced():
    assert render("a\ufdd0b\ufdd1c\uffff").html.strip() == "<p>a\ufffdb\ufffdc\ufffd</p>"


def test_rendering_twice_gives_the_same():
    markdown = "# A\n\n|a|\n|-|\n|b|\n\n[c](https://d.e)\n"
    assert render(markdown) == render(markdown)


def test_a_picture_is_a_place_with_its_name_and_its_address() -> None:
    address = "https://example.org/chart.png"
    assert render(f"![A chart]({address})").html.strip() == (
        f'<p><a href="{address}" title="{address}"><em>[image: A chart]</em></a></p>'
    )
    assert render(f"[![A chart]({address})](https://example.org)").html.count("<a ") == 1
    assert "<a" not in render("![A chart](file:///etc/passwd)").html


def test_footnotes_are_raised_marks_and_their_words_stay_in_view() -> None:
    text = "Rain[^1] falls.[^b]\n\n[^1]: https://example.org\n[^b]: Said by $x$ and **others**."
    html = render(text).html
    assert "Rain<sup>1</sup> falls.<sup>b</sup>" in html
    assert '<p><sup>1</sup>: <a href="https://example.org">https://example.org</a></p>' in html
    assert "<strong>others</strong>" in html
    assert html.count("<p>") == 3
    shown = "Rain1 falls.b\n1: https://example.org\nb: Said by $x$ and others."
    for words in ("falls.b", "Said by", "Rain1 falls"):
        start = shown.index(words)
        span = quotation.locate(text, shown, start, start + len(words))
        assert span is not None
        assert text[slice(*span)].replace("[^", "").replace("]", "").startswith(words[:5])


def test_a_mark_with_an_address_is_still_a_link() -> None:
    assert '<a href="https://example.org">^1</a>' in render("[^1](https://example.org)").html
