"""Dates and times in local time, with the month as a word."""

from datetime import datetime

from PySide6.QtCore import QDateTime, QLocale

FORMAT = "d MMM yyyy, HH:mm"


def moment(at: datetime) -> str:
    return QLocale().toString(QDateTime.fromSecsSinceEpoch(int(at.timestamp())), FORMAT)
