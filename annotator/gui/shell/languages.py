"""Qt's language settings: sort order, caret steps, date words."""

from PySide6.QtCore import QCollator, QDateTime, QLocale, QTextBoundaryFinder, QTimeZone


def in_order(names: list[str]) -> list[str]:
    """Names as a dialog for files lists them: accents beside their letters, numbers by their value."""
    collator = QCollator(QLocale("de"))
    collator.setNumericMode(True)
    return sorted(names, key=collator.sortKey)


def steps(text: str) -> int:
    """How often a caret has to move to get through a text."""
    finder = QTextBoundaryFinder(QTextBoundaryFinder.BoundaryType.Grapheme, text)
    moved = 0
    while finder.toNextBoundary() != -1:
        moved += 1
    return moved


def dated(seconds: int, language: str) -> str:
    """The month and year of a moment, given in seconds since 1970, in the words of a language."""
    return QLocale(language).toString(QDateTime.fromSecsSinceEpoch(seconds, QTimeZone.utc()), "MMMM yyyy")
