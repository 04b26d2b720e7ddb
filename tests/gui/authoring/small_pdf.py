"""PDFs written by hand for the tests: pages of lines in Helvetica, and one that asks for a password."""

from collections.abc import Sequence

LOCK = b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <" + b"41" * 32 + b"> /U <" + b"42" * 32 + b"> >>"


def pdf(pages: Sequence[Sequence[str]], locked: bool = False, rotate: int = 0) -> bytes:
    """A PDF with these lines on its pages, 20 points apart from the top left."""
    kids = " ".join(f"{4 + 2 * place} 0 R" for place in range(len(pages)))
    objects = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for place, lines in enumerate(pages):
        shown = "".join(f"1 0 0 1 50 {780 - 20 * row} Tm ({line}) Tj\n" for row, line in enumerate(lines))
        stream = f"BT /F1 12 Tf\n{shown}ET".encode()
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Rotate {rotate} /Contents {5 + 2 * place} 0 R "
            "/Resources << /Font << /F1 3 0 R >> >> >>".encode()
        )
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(stream), stream))
    return _file(objects, locked)


def _file(objects: list[bytes], locked: bool) -> bytes:
    written, places = b"%PDF-1.4\n", []
    if locked:
        objects = [*objects, LOCK]
    for number, body in enumerate(objects, start=1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    table = b"".join(b"%010d 00000 n \n" % place for place in places)
    extra = b" /Encrypt %d 0 R /ID [<00> <00>]" % len(objects) if locked else b""
    size = len(objects) + 1
    return (
        written
        + b"xref\n0 %d\n0000000000 65535 f \n%s" % (size, table)
        + b"trailer << /Size %d /Root 1 0 R%s >>\nstartxref\n%d\n%%%%EOF" % (size, extra, len(written))
    )
