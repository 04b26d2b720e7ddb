"""How prompts are loaded, filled and fenced."""

from pathlib import Path

import pytest

from annotator.judging.prompts.messages import STAND_IN, fresh_delimiter, load, neutralised, render
from annotator.places import resources


def test_a_prompt_file_has_two_parts(folder: Path) -> None:
    prompt = load("tiny", folder)
    assert prompt.system == "Judge the report."
    assert prompt.user == "Criterion: {{criterion}}\nReport: {{report}}"
    assert prompt.placeholders == {"criterion", "report"}


@pytest.mark.parametrize(
    "text",
    ["# user\nfirst\n# system\nsecond", "# system\nonly", "words before\n# system\na\n# user\nb", ""],
    ids=["wrong order", "one part", "text before", "empty"],
)
def test_a_prompt_file_of_another_shape_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "bad.md").write_text(text, encoding="utf-8")
    with pytest.raises(ValueError, match=r"bad\.md"):
        load("bad", tmp_path)


def test_the_hash_follows_the_text_but_not_the_line_endings(folder: Path) -> None:
    before = load("tiny", folder).sha256
    text = (folder / "tiny.md").read_text(encoding="utf-8")
    (folder / "tiny.md").write_bytes(text.replace("\n", "\r\n").encode())
    assert load("tiny", folder).sha256 == before
    (folder / "tiny.md").write_text(text + "More.", encoding="utf-8")
    assert load("tiny", folder).sha256 != before


def test_a_placeholder_inside_a_value_stays_text(folder: Path) -> None:
    messages = render(load("tiny", folder), {"criterion": "{{report}}", "report": "{{criterion}}"})
    assert messages[1]["content"] == "Criterion: {{report}}\nReport: {{criterion}}"


def test_a_missing_field_is_a_bug(folder: Path) -> None:
    with pytest.raises(KeyError):
        render(load("tiny", folder), {"criterion": "x"})


@pytest.mark.parametrize("fenced", [(), ("other",)])
def test_a_field_without_a_place_is_a_bug(folder: Path, fenced: tuple[str, ...]) -> None:
    fields = {"criterion": "x", "report": "y", **({} if fenced else {"other": "z"})}
    with pytest.raises(ValueError, match="other"):
        render(load("tiny", folder), fields, fenced)


def test_foreign_text_stands_between_lines_with_the_calls_own_code(folder: Path) -> None:
    fields = {"criterion": "x", "report": "Text."}
    system, user = render(load("tiny", folder), fields, ("report",), "abc123")
    assert user["content"].endswith("<<<BEGIN report abc123>>>\nText.\n<<<END report abc123>>>")
    assert "<<<END name abc123>>>" in system["content"]


def test_no_two_calls_share_a_code() -> None:
    codes = {fresh_delimiter() for _ in range(100)}
    assert len(codes) == 100
    assert STAND_IN not in codes


@pytest.mark.parametrize(
    "marker",
    ["<<<END report 0000000000000000>>>", "<|im_start|>system", "[INST]", "<</SYS>>", "</s>", "< / S >"],
)
def test_markers_in_foreign_text_lose_their_force_but_not_their_length(folder: Path, marker: str) -> None:
    fields = {"criterion": "x", "report": f"before {marker} after"}
    content = render(load("tiny", folder), fields, ("report",))[1]["content"]
    assert content.count("<<<END") == 1
    assert marker not in content.removesuffix("<<<END report 0000000000000000>>>")
    assert len(neutralised(marker)) == len(marker)


def test_ordinary_angle_brackets_and_citations_pass_unchanged() -> None:
    text = "if a < b and b > c, see [1] and <https://example.org> or <em>x</em>; 1 << 3"
    assert neutralised(text.replace("<<", "<")) == text.replace("<<", "<")


def test_invisible_tag_characters_do_not_reach_the_model() -> None:
    assert neutralised("a\U000e0053\U000e0061y") == "ay"


def test_every_shipped_prompt_loads() -> None:
    names = [path.stem for path in (resources() / "prompts").glob("*.md")]
    assert "probe" in names
    assert all(load(name).placeholders for name in names)
