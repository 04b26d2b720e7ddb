"""Model families: the developer behind a model or system, as its name tells."""

import re
from functools import lru_cache

# By developer, the words in names of its models and products; the longest that is found holds.
STEMS: dict[str, tuple[str, ...]] = {
    "OpenAI": ("openai", "gpt", "chatgpt", "o1", "o3", "o4", "davinci"),
    "Anthropic": ("anthropic", "claude"),
    "Google": ("google", "gemini", "gemma", "palm", "bard", "notebooklm"),
    "Meta": ("meta", "llama", "codellama"),
    "Mistral AI": ("mistral", "mixtral", "ministral", "magistral", "codestral", "pixtral", "devstral"),
    "DeepSeek": ("deepseek",),
    "Alibaba": ("alibaba", "qwen", "qwq", "tongyi"),
    "xAI": ("xai", "grok"),
    "Moonshot AI": ("moonshot", "moonshotai", "kimi"),
    "Zhipu AI": ("zhipu", "glm", "chatglm", "zai"),
    "Microsoft": ("microsoft", "phi"),
    "Cohere": ("cohere", "command"),
    "Amazon": ("amazon", "nova"),
    "Perplexity": ("perplexity", "sonar"),
    "Tencent": ("tencent", "hunyuan"),
    "ByteDance": ("bytedance", "doubao", "seed"),
    "Baidu": ("baidu", "ernie"),
    "MiniMax": ("minimax", "abab"),
    "StepFun": ("stepfun", "step"),
    "01.AI": ("yi",),
    "IBM": ("ibm", "granite"),
    "NVIDIA": ("nvidia", "nemotron"),
    "Allen AI": ("allenai", "olmo", "tulu", "openscholar"),
    "Technology Innovation Institute": ("falcon",),
    "AI21 Labs": ("ai21", "jamba"),
    "Hugging Face": ("huggingface", "smollm", "zephyr"),
    "Stanford": ("deepscholar", "storm"),
}
_BETWEEN = re.compile(r"[\W_]+")


@lru_cache(maxsize=1024)
def family_of(name: str) -> str:
    """The developer whom a word of the name tells of; empty where none does."""
    words = [word.casefold() for word in _BETWEEN.split(name) if word]
    found = (
        (len(stem), family)
        for word in words
        for family, stems in STEMS.items()
        for stem in stems
        if _begins(word, stem)
    )
    return max(found, default=(0, ""))[1]


def _begins(word: str, stem: str) -> bool:
    """Whether a word is the stem or the stem with a number: “grok3”, “o3”, but neither “metaphor” nor “o30”."""
    rest = word.removeprefix(stem)
    return word.startswith(stem) and (not rest or (rest[0].isdigit() and not stem[-1].isdigit()))
