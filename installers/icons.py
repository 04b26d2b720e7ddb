"""Icons for Windows and macOS, drawn from goldsmith.svg: `python -m installers.icons` writes both files anew."""

from __future__ import annotations

import os
import struct
from pathlib import Path

from installers.payload import ICNS, ICO, PICTURE

ICO_SIZES = (16, 20, 24, 32, 40, 48, 64, 128, 256)
# By Apple's names, as sizes in points and for screens of twice as many pixels.
ICNS_KINDS = {
    b"icp4": 16, b"ic11": 32, b"icp5": 32, b"ic12": 64, b"ic07": 128, b"ic13": 256, b"ic08": 256, b"ic14": 512,
    b"ic09": 512, b"ic10": 1024,
}  # fmt: skip


def drawn(size: int, margin: float = 0.0) -> bytes:
    """The picture as a PNG of so many pixels a side, with a margin as a part of them."""
    from PySide6.QtCore import QBuffer, QByteArray, QIODevice, QRectF
    from PySide6.QtGui import QImage, QPainter
    from PySide6.QtSvg import QSvgRenderer

    image = QImage(size, size, QImage.Format.Format_ARGB32)
    image.fill(0)
    painter = QPainter(image)
    edge = size * margin
    QSvgRenderer(QByteArray(PICTURE.read_bytes())).render(
        painter, QRectF(edge, edge, size - 2 * edge, size - 2 * edge)
    )
    painter.end()
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    image.save(buffer, "PNG")  # type: ignore[call-overload]
    return bytes(buffer.data().data())


def ico(pictures: dict[int, bytes]) -> bytes:
    """An icon file of Windows: a directory of sizes, then the pictures."""
    at = 6 + 16 * len(pictures)
    head, body = struct.pack("<HHH", 0, 1, len(pictures)), b""
    for size, png in pictures.items():
        head += struct.pack("<BBBBHHII", size % 256, size % 256, 0, 0, 1, 32, len(png), at + len(body))
        body += png
    return head + body


def icns(pictures: dict[bytes, bytes]) -> bytes:
    """An icon file of macOS: pictures one after the other, each with its kind and length."""
    body = b"".join(kind + struct.pack(">I", 8 + len(png)) + png for kind, png in pictures.items())
    return b"icns" + struct.pack(">I", 8 + len(body)) + body


def write(ico_file: Path = ICO, icns_file: Path = ICNS) -> None:
    """Write both files."""
    ico_file.parent.mkdir(exist_ok=True)
    ico_file.write_bytes(ico({size: drawn(size) for size in ICO_SIZES}))
    # On a Mac icons leave a tenth around them.
    icns_file.write_bytes(icns({kind: drawn(size, 0.1) for kind, size in ICNS_KINDS.items()}))


if __name__ == "__main__":
    os.environ.setdefault("QT_QPA_PLATFORM", "offscreen")
    write()
