"""Due dates in words: the day, and how near or overdue it is."""

from datetime import UTC, datetime

from PySide6.QtCore import QDate, QDateTime, QLocale, QTime

from annotator.domain.texts.moments import local

# A date this many days away or nearer is also told as a distance.
NEAR = 7


def day(at: datetime) -> str:
    """A day in local time, its year only where it is not this one."""
    date = local(at).date()
    this_year = date.year == datetime.now().astimezone().year
    return QLocale().toString(QDate(date.year, date.month, date.day), "d MMM" if this_year else "d MMM yyyy")


def due_words(due: datetime, *, overdue: bool | None = None) -> str:
    """A due date in words: “12 May, in 3 days”, “today”, “12 May, 2 days late”.

    Work that is handed in is never late: then `overdue` is False; None leaves it to the clock.
    """
    now = datetime.now().astimezone()
    days = (local(due).date() - now.date()).days
    if overdue if overdue is not None else due < now:
        return f"{day(due)}, {late_words(due)}"
    if overdue is False or not 0 <= days <= NEAR:
        return day(due)
    return ("today", "tomorrow")[days] if days < 2 else f"{day(due)}, in {_days(days)}"


def late_words(due: datetime) -> str:
    """How late something is: “3 days late”."""
    days = (datetime.now().astimezone().date() - local(due).date()).days
    return f"{_days(days)} late" if days else "late since today"


def end_of_day(date: QDate) -> datetime:
    """The last minute of a local day: what is due on a day may be handed in until it is over."""
    return datetime.fromtimestamp(QDateTime(date, QTime(23, 59)).toSecsSinceEpoch(), UTC)


def _days(number: int) -> str:
    return "1 day" if number == 1 else f"{number} days"
