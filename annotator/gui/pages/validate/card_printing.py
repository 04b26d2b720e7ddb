"""How a validity card comes onto paper: on a printer, or as a PDF, in black on white whatever the window's colours."""

import os
from pathlib import Path

from PySide6.QtCore import QMarginsF
from PySide6.QtGui import QFont, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QWidget

from annotator.domain.refusal import Refusal

POINTS, DOTS_PER_INCH = 8.5, 600
# Lengths in pt: a document of Qt knows no millimetres.
STYLE = """
body { color: #000000; }
h1 { font-size: 15pt; margin-bottom: 2pt; }
h2 { font-size: 11pt; margin-top: 12pt; margin-bottom: 3pt; }
h3 { font-size: 9.5pt; margin-top: 8pt; margin-bottom: 2pt; }
p { margin-top: 2pt; margin-bottom: 3pt; }
table { border-collapse: collapse; border-style: solid; border-color: #555555; margin-bottom: 6pt; }
th, td { vertical-align: top; }
th { font-weight: 600; text-align: left; }
small { font-size: 7pt; }
code { font-family: monospace; font-size: 6.5pt; }
.warn { font-weight: 700; }
"""


def document(body: str, title: str) -> QTextDocument:
    """A card's page as it is printed."""
    made = QTextDocument()
    font = QFont()
    font.setPointSizeF(POINTS)
    made.setDefaultFont(font)
    made.setDocumentMargin(0)
    made.setDefaultStyleSheet(STYLE)
    made.setMetaInformation(QTextDocument.MetaInformation.DocumentTitle, title)
    made.setHtml(f"<body>{body}</body>")
    return made


def to_pdf(body: str, title: str, path: Path) -> Path:
    """Write a card's page as PDF; whole or not at all."""
    part = path.with_name(f".{path.name}.part")
    try:
        # Qt writes where it cannot write without a word: the place is tried first.
        part.write_bytes(b"")
        writer = QPdfWriter(str(part))
        writer.setTitle(title)
        writer.setCreator("Goldsmith")
        writer.setResolution(DOTS_PER_INCH)
        writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
        # A document of Qt leaves two centimetres by itself.
        writer.setPageMargins(QMarginsF(0, 0, 0, 0))
        document(body, title).print_(writer)
        del writer
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise Refusal(f"The card could not be written: {error.strerror}.", "Choose another folder.") from None
    return path


def print_it(body: str, title: str, parent: QWidget) -> bool:
    """Ask for a printer and print; False where nobody wanted to after all."""
    printer = QPrinter(QPrinter.PrinterMode.HighResolution)
    printer.setDocName(title)
    dialog = QPrintDialog(printer, parent)
    dialog.setWindowTitle("Print the card")
    if not dialog.exec():
        return False
    document(body, title).print_(printer)
    return True
