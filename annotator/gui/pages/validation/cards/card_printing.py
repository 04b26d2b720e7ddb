"""Printing a validity card, or saving it as PDF, in black on white."""

from pathlib import Path

from PySide6.QtCore import QBuffer, QIODevice, QMarginsF
from PySide6.QtGui import QFont, QFontDatabase, QPageSize, QPdfWriter, QTextDocument
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QWidget

from annotator import files

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
code { font-size: 6.5pt; }
.warn { font-weight: 700; }
"""


def document(body: str, title: str) -> QTextDocument:
    """A card's page as it is printed."""
    made = QTextDocument()
    font = QFont()
    font.setPointSizeF(POINTS)
    made.setDefaultFont(font)
    made.setDocumentMargin(0)
    fixed = QFontDatabase.systemFont(QFontDatabase.SystemFont.FixedFont).family()
    made.setDefaultStyleSheet(f'{STYLE}code {{ font-family: "{fixed}"; }}')
    made.setMetaInformation(QTextDocument.MetaInformation.DocumentTitle, title)
    made.setHtml(f"<body>{body}</body>")
    return made


def to_pdf(body: str, title: str, path: Path) -> Path:
    """Write a card's page as PDF; whole or not at all."""
    # Qt says nothing of a disk that it cannot write to.
    page = QBuffer()
    page.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(page)
    writer.setTitle(title)
    writer.setCreator("Goldsmith")
    writer.setResolution(DOTS_PER_INCH)
    writer.setPageSize(QPageSize(QPageSize.PageSizeId.A4))
    # A document of Qt leaves two centimetres by itself.
    writer.setPageMargins(QMarginsF(0, 0, 0, 0))
    document(body, title).print_(writer)
    del writer
    return files.save(path, bytes(page.data().data()))


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
