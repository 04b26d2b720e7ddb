"""Decompression of fetched pages, piece by piece and never beyond the limit."""

import zlib
from collections.abc import Iterator

from annotator.domain.material.page import PageState
from annotator.exchange.pages.states import UnreadablePage

ACCEPTED = "gzip, deflate"
_PIECE = 256 * 1024
_MEMBER = b"\x1f"
_RAW, _EITHER = -zlib.MAX_WBITS, zlib.MAX_WBITS | 32


class PageBody:
    """The bytes of a body as they come in; raises UnreadablePage beyond `most`."""

    def __init__(self, packing: str, most: int) -> None:
        """`packing` is the Content-Encoding; Unreadable when it is one that was not accepted."""
        self._packing = packing.strip().lower()
        self._most = most
        self._content = bytearray()
        self._unpack = zlib.decompressobj(_EITHER)
        self._begun = self._ended = False
        if self._packing not in ("", "identity", "gzip", "x-gzip", "deflate"):
            raise UnreadablePage(PageState.NOT_TEXT, "It was sent packed in a way that was not asked for.")

    def add(self, chunk: bytes) -> None:
        """Take in what has come; Unreadable when it is too much or damaged."""
        if self._packing in ("", "identity"):
            self._keep(chunk)
            return
        try:
            for piece in self._unpacked(chunk):
                self._keep(piece)
        except zlib.error:
            raise UnreadablePage(
                PageState.DEAD, "It came damaged: what was sent packed cannot be unpacked."
            ) from None

    def content(self) -> bytes:
        """All that came; Unreadable when it is not whole."""
        if self._begun and not self._ended:
            raise UnreadablePage(PageState.DEAD, "The server broke off in the middle of it.")
        return bytes(self._content)

    def _keep(self, piece: bytes) -> None:
        self._content += piece
        if len(self._content) > self._most:
            raise too_large(self._most)

    def _unpacked(self, chunk: bytes) -> Iterator[bytes]:
        more = False
        while chunk or more:
            if self._ended:
                # A gzip file may have several members; what else follows the last is no part of it.
                if not chunk.startswith(_MEMBER):
                    return
                self._unpack, self._ended = zlib.decompressobj(_EITHER), False
            piece = self._decompressed(chunk)
            yield piece
            self._begun, self._ended = True, self._unpack.eof
            chunk = self._unpack.unused_data if self._ended else self._unpack.unconsumed_tail
            # All may have been imported while some of it has not yet come out.
            more = len(piece) == _PIECE and not self._ended

    def _decompressed(self, chunk: bytes) -> bytes:
        try:
            return self._unpack.decompress(chunk, _PIECE)
        except zlib.error:
            if self._begun or self._packing != "deflate":
                raise
            # Some servers send deflate without the two bytes that the standard asks for.
            self._unpack = zlib.decompressobj(_RAW)
            return self._unpack.decompress(chunk, _PIECE)


def too_large(most: int) -> UnreadablePage:
    """What is said of a body of more than `most` bytes."""
    return UnreadablePage(PageState.TOO_LONG, f"It is larger than {most // 2**20} MB.")
