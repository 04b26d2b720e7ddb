"""Drawn formulas: an outline and its extent about the baseline, in an address that HTML can carry."""

import base64
import binascii
import zlib
from dataclasses import dataclass

SCHEME = "formula"
# So many units are one em.
EM = 1_000
# A longer outline is not drawn.
LONGEST_PATH = 400_000
# Before the outline three numbers stand.
_LONGEST = LONGEST_PATH + 100


@dataclass(frozen=True, slots=True)
class Formula:
    """Sizes in thousandths of an em; `path` is an outline of M, L, Q, C and Z as SVG writes it, y growing downwards."""

    width: int
    ascent: int
    descent: int
    path: str

    def address(self) -> str:
        words = f"{self.width} {self.ascent} {self.descent} {self.path}".encode("ascii")
        return f"{SCHEME}:{base64.urlsafe_b64encode(zlib.compress(words, 9)).decode('ascii')}"

    @classmethod
    def at(cls, address: str) -> "Formula | None":
        """The formula of an address; None where that holds none."""
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
