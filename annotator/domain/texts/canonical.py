"""The canonical bytes of a text or document that is hashed, the same on every machine."""

import hashlib
import math
from typing import Annotated, Any

import orjson
from pydantic import AfterValidator

from annotator.domain.texts.refusal import Refusal

# What SQLite and the canonical JSON both hold.
_LARGEST = 2**63 - 1


def checked_text(text: str) -> str:
    """The text itself, unchanged.

    Raises ValueError on NUL or a lone surrogate: SQLite would store them, UTF-8 could not.
    """
    if "\x00" in text:
        raise ValueError("contains a NUL character")
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"contains half of a surrogate pair at position {error.start}") from None
    return text


def storable(text: str) -> str:
    """The text without what may not be stored: it comes from fonts without a proper encoding, and by being pasted."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode("utf-8")


def escaped(text: str) -> str:
    """The text with NUL and halves of surrogate pairs written out as escapes: what a server sent, fit to be stored."""
    if text.isascii() and "\x00" not in text:
        return text
    return text.replace("\x00", "\\x00").encode("utf-8", "backslashreplace").decode("utf-8")


Text = Annotated[str, AfterValidator(checked_text)]


def checked_tree(value: Any, path: str = "") -> Any:
    """A JSON tree whose every string and number may be stored; Refusal names the place of the first that may not."""
    try:
        if isinstance(value, str):
            checked_text(value)
        elif isinstance(value, float) and not math.isfinite(value):
            raise ValueError("is not a finite number")
        elif isinstance(value, int) and not -_LARGEST <= value <= _LARGEST:
            raise ValueError("is a number of more than 64 bits")
        elif isinstance(value, dict):
            for key, part in value.items():
                checked_tree(key, f"{path}.{key!a}")
                checked_tree(part, f"{path}.{key}")
        elif isinstance(value, list):
            for index, part in enumerate(value):
                checked_tree(part, f"{path}[{index}]")
    except ValueError as error:
        raise Refusal(
            f"The value at {path or 'the top'} {error}.", "Correct the file and try again."
        ) from None
    return value


def canonical_json(tree: Any) -> bytes:
    """A JSON tree as UTF-8 bytes with sorted keys and no spare space: what is hashed and signed."""
    return orjson.dumps(tree, option=orjson.OPT_SORT_KEYS)


def sha256(content: bytes | str) -> str:
    """The SHA-256 of bytes, or of a text's UTF-8, in hexadecimal."""
    return hashlib.sha256(content.encode("utf-8") if isinstance(content, str) else content).hexdigest()
