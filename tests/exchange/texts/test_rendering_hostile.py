"""Texts made to cost a renderer minutes: each is shown as plain text, or rendered within its time."""

import json
from pathlib import Path

import pytest

from annotator.exchange.texts import rendering
from annotator.exchange.texts.rendering import render

TABLE = "|a|b|c|d|e|\n|-|-|-|-|-|\n"
PLAIN = {
    "1 MB without a space": "a" * 1_000_000,
    "10 MB report": "words of it " * 870_000,
    "50k opening brackets": "[" * 50_000,
    "60k stars": "a " + "*" * 60_000,
    "60k stars and letters": "*a " * 20_000,
    "700 runs of backticks": " ".join("`" * n for n in range(1, 700)),
    "50k fences": "```\n" * 50_000,
    "10k quotation marks": ">" * 10_000,
    "10k quotation marks with spaces": "> " * 10_000 + "a",
    "2,000-deep list": "\n".join("  " * n + "- a" for n in range(2_000)),
    "2,000-deep list on one line": "- " * 2_000 + "a",
    "11-deep list": "\n".join("  " * n + "- a" for n in range(11)),
    "20k × 5 table": TABLE + "|1|2|3|4|5|\n" * 20_000,
    "501-row table": TABLE + "|1|2|3|4|5|\n" * 501,
    "20k columns": "|" + "a|" * 20_000 + "\n|" + "-|" * 20_000 + "\n",
    "one long link repeated": "[a]: http://x/" + "b" * 1_900 + "\n\n" + "[a]\n\n" * 4_000,
    "many short paragraphs of brackets": ("[" * 199 + "\n\n") * 1_400,
    "deep quotations side by side": "\n\n".join(">" * 19 + " a" for _ in range(4_900)),
    "300 kB on one line": "a b " * 75_000,
    "bidi override × 50k": "\u202ea b" * 50_000,
}
RENDERED = {
    "line of stars": "*" * 60_000,
    "20k <div>": "\n\n".join("<div>" * 50 for _ in range(100)),
    "colspan, font and width": '<td colspan="1000000"><font size="99999pt"><table width="2000000000">',
    "run of 59k": "a" * 59_000,
    "500-row table": TABLE + "|1|2|3|4|5|\n" * 499,
    "9-deep lists": ("\n".join("  " * n + "- a" for n in range(9)) + "\n\n\n") * 400,
    "marks just below the bound": ("*a " * 199 + "\n\n") * 90,
    "zalgo": "a" + "\u0301" * 50_000,
    "half a surrogate": "a \ud800 b",
    "9,000 lines in one quotation": ">" * 9 + "a\n" + "a\n" * 9_000,
    "definitions": "".join(f"[a{n}]: b\n" for n in range(9_000)) + "\nwords",
}


@pytest.mark.parametrize("name", PLAIN)
@pytest.mark.timeout(20)
def test_a_hostile_report_is_shown_as_plain_text_with_the_reason(name):
    made = render(PLAIN[name])
    assert made.plain
    assert made.html == ""
    assert made.reason.endswith(".")


@pytest.mark.parametrize("name", RENDERED)
@pytest.mark.timeout(20)
def test_what_keeps_the_bounds_is_rendered(name):
    made = render(RENDERED[name])
    assert not made.plain, made.reason
    assert made.html


def test_the_parser_gives_up_when_its_time_is_over(monkeypatch):
    monkeypatch.setattr(rendering, "MAX_SECONDS", -1.0)
    made = render("# Title\n\nwords")
    assert made.plain
    assert "seconds" in made.reason


def test_nothing_of_a_nested_list_within_the_bound_is_lost():
    html = render("\n".join("  " * n + f"- depth{n}" for n in range(9))).html
    assert all(f"depth{n}" in html for n in range(9))


def test_every_published_report_keeps_the_bounds():
    folder = Path(__file__).parents[3] / "../shared/data/researcherbench/responses"
    if not folder.is_dir():
        pytest.skip("the published reports are not here")
    for path in sorted(folder.glob("*.json"))[:3]:
        for record in json.loads(path.read_text("utf-8"))[::5]:
            assert not render(record["response"]).plain
