"""Which developer a name gives away."""

import pytest

from annotator.domain.judges.families import family_of


@pytest.mark.parametrize(
    ("name", "family"),
    [
        ("gpt-4o-mini", "OpenAI"),
        ("o3-2025-04-16", "OpenAI"),
        ("OpenAI Deep Research", "OpenAI"),
        ("anthropic/claude-sonnet-4", "Anthropic"),
        ("Gemini Deep Research", "Google"),
        ("meta-llama/Llama-3.1-8B", "Meta"),
        ("Perplexity: Sonar Reasoning Pro", "Perplexity"),
        ("Qwen2.5-72B", "Alibaba"),
        ("nvidia/Llama-3.1-Nemotron-70B", "NVIDIA"),
        ("Grok3 Deeper Search", "xAI"),
        ("yi-34b", "01.AI"),
        ("phi4", "Microsoft"),
        ("Yield model", ""),
        ("Philadelphia", ""),
        ("Metaphor search", ""),
        ("Commander", ""),
        ("DeepScholar-ref (GPT-4.1, o3)", "Stanford"),
        ("our pipeline", ""),
        ("", ""),
    ],
)
def test_a_family_is_told_from_a_name(name: str, family: str) -> None:
    assert family_of(name) == family
