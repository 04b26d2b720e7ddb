"""Renderings: foreign Markdown as safe HTML, or the reason why it is shown as plain text."""

import base64
import binascii
import re
import zlib
from dataclasses import dataclass

# To be raised with every change of the output: it is part of the key under which renderings are cached.
RENDERER_VERSION = 5
# Marks where a long document may be split and shown piece by piece; no sanitised text can hold a comment.
CUT = "<!---->"
LONGEST_RUN = 20_000
BREAK_EVERY = 2_000
BREAK = "\u200b"
_RUN, _WHITE = re.compile(r"[^ \t\n\r\f\v]+"), re.compile(r"[ \t\n\r\f\v]")
_STEP = re.compile(rf".{{{BREAK_EVERY}}}", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Rendered:
    """Safe HTML in pieces joined by `CUT`; or, if `plain`, no HTML and in `reason` why, in one sentence.

    With HTML, `reason` says which parts are shown as written; empty if none are. `unfinished`: with more time more of
    it would have been rendered.
    """

    html: str
    plain: bool = False
    reason: str = ""
    unfinished: bool = False


def with_breaks(text: str, longest: int = LONGEST_RUN) -> str:
    """The text with a zero-width space every 2 000 characters of any run of `longest` without white space.

    Without them a layout engine needs seconds for one line.
    """
    if not any(_in_run(text, at, longest) for at in range(0, len(text), longest)):
        return text
    step = rf"\g<0>{BREAK}"
    return _RUN.sub(lambda run: _STEP.sub(step, run[0]) if len(run[0]) >= longest else run[0], text)


def _in_run(text: str, at: int, longest: int) -> bool:
    """Whether an offset lies in a run of so many characters: every such run includes one of the offsets tested."""
    least = max(0, at - longest)
    start = max(text.rfind(white, least, at) for white in " \t\n\r\f\v") + 1 or least
    ended = _WHITE.search(text, at, at + longest)
    return (ended.start() if ended else min(len(text), at + longest)) - start >= longest


SCHEME = "formula"
# Units per em.
EM = 1_000
# A longer outline is not painted.
LONGEST_PATH = 400_000
# Three numbers precede the outline.
_LONGEST = LONGEST_PATH + 100


@dataclass(frozen=True, slots=True)
class Formula:
    """Sizes in thousandths of an em; `path` is an outline of M, L, Q, C and Z as in SVG, y growing downwards."""

    width: int
    ascent: int
    descent: int
    path: str

    def address(self) -> str:
        words = f"{self.width} {self.ascent} {self.descent} {self.path}".encode("ascii")
        return f"{SCHEME}:{base64.urlsafe_b64encode(zlib.compress(words, 9)).decode('ascii')}"

    @classmethod
    def at(cls, address: str) -> "Formula | None":
        scheme, _, packed = address.partition(":")
        if scheme != SCHEME:
            return None
        try:
            unpacker = zlib.decompressobj()
            content = unpacker.decompress(base64.urlsafe_b64decode(packed), _LONGEST)
            if not unpacker.eof:
                return None
            width, ascent, descent, path = content.decode("ascii").split(" ", 3)
            return cls(int(width), int(ascent), int(descent), path)
        except (ValueError, binascii.Error, zlib.error):
            return None
