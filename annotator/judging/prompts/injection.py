"""Detection of text that addresses the judge or imitates our format, marked for people."""

import base64
import binascii
import re
import unicodedata
from functools import lru_cache

FLAG = "injection"

_JUDGE = r"(?:judge|grader|evaluator|assessor|rater|reviewer|scorer|ai|llm|model|assistant|language model)"
_RUBRIC = r"(?:rubric|criteri(?:on|a)|guidelines?|checklist|grading|scoring|instructions?|prompts?|rules)"
_VERDICT = r"(?:verdict|score|rating|grade|label|covered|decision|judgement|judgment)"
_KEY = rf"[\"'](?:{_VERDICT}|supported|better|preferred)[\"']\s*:"
_SAID = r"(?:[\"'](?:yes|no|true|false|covered|first|second|tie|relevant)|true|false|\d)"
# Beside its verdict, what a reply of our own form holds.
_BESIDE = r"[\"'](?:quote|rationale|reason(?:ing)?|explanation)[\"']\s*:"
_ORDERS = re.compile(
    "|".join(
        (
            rf"\b(?:ignore|disregard|forget|override|bypass)\b[^.\n]{{0,40}}\b{_RUBRIC}\b",
            rf"\b(?:instructions?|notes?|messages?|orders?) (?:to|for) (?:the |any |all |every )?{_JUDGE}\b",
            rf"\b(?:dear|attention|hey|note to) (?:the )?{_JUDGE}s?\b[ \t]*[:,!]",
            rf"\bas (?:an?|the) {_JUDGE},? you (?:must|should|shall|will|have to|need to)\b",
            rf"\byou (?:must|should|shall|will|have to|are to) (?:now )?(?:answer|reply|respond|output|return|mark"
            rf"|give|score|rate|grade|assign|award)\b[^.\n]{{0,60}}\b(?:yes|covered|true|full|maximum|highest"
            rf"|perfect|\d+ ?(?:/|out of) ?\d+|{_VERDICT})\b",
            r"\b(?:score|rate|grade) (?:this|it|the (?:report|answer|response|text))\b[^.\n]{0,20}"
            r"\b(?:10|100|yes|covered|highest|maximum|perfect)\b",
            rf"\b(?:all|every|each) criteri(?:a|on) (?:are|is|as) (?:met|covered|satisfied)\b"
            rf"[^.\n]{{0,30}}\b{_VERDICT}\b",
            r"\bnew system prompt\b|\byou are now (?:an?|in|the)\b",
        )
    ),
    re.IGNORECASE,
)
_FORMAT = re.compile(
    "|".join(
        (
            r"<<+\s*(?:BEGIN|END)\b",
            r"<\|[a-z_]{2,30}\|>|\[/?INST\]|<</?SYS>>|<(?:start|end)_of_turn>",
            r"^\s{0,3}(?:#{1,6} *|\*\*|\[|<)?(?:system|assistant)(?:\*\*|\]|>)? *: *\S",
            rf"\{{\s*{_KEY}\s*{_SAID}",
            rf"\{{(?=[^{{}}]{{0,4000}}{_BESIDE})[^{{}}]{{0,4000}}?{_KEY}\s*{_SAID}",
        )
    ),
    re.IGNORECASE | re.MULTILINE,
)
_HIDDEN = re.compile(
    r"style\s*=\s*[\"'][^\"'>]*(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0"
    r"|(?<![-\w])color\s*:\s*(?:white|#fff(?:fff)?\b|transparent))",
    re.IGNORECASE,
)
# Flags of England, Scotland and Wales are a black flag followed by tag characters: those hide nothing.
_TAGS = re.compile("(?<![\U0001f3f4\U000e0020-\U000e007e])[\U000e0020-\U000e007e]")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/])[A-Za-z0-9+/]{32,4000}={0,2}(?![A-Za-z0-9+/=])")


@lru_cache(maxsize=512)
def signs(text: str) -> tuple[str, ...]:
    """What in a text seems meant for the judge, in words; empty when nothing. It never changes a verdict."""
    plain = text if text.isascii() else unicodedata.normalize("NFKC", text)
    checks = (
        ("it gives the judge orders", _ORDERS.search(plain)),
        ("it imitates the format of a prompt or of a reply", _FORMAT.search(plain)),
        ("it hides text from readers", _HIDDEN.search(plain) or _TAGS.search(text)),
        ("it holds encoded orders", _encoded_orders(plain)),
    )
    return tuple(words for words, found in checks if found)


def flags(texts: tuple[str, ...]) -> tuple[str, ...]:
    """The flag words of the foreign texts of one question."""
    return (FLAG,) if any(signs(text) for text in texts) else ()


def _encoded_orders(text: str) -> bool:
    return any(_ORDERS.search(_decoded(match[0])) for match in _BASE64.finditer(text))


def _decoded(run: str) -> str:
    try:
        return base64.b64decode(run + "=" * (-len(run) % 4), validate=True).decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return ""
