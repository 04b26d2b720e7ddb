"""Works that a search finds: what names one, its title and abstract, and when it was published."""

from calendar import monthrange
from dataclasses import dataclass
from datetime import date

from annotator.domain.texts.identifier import normal_title, work_named


@dataclass(frozen=True, slots=True)
class CatalogueWork:
    """A work as a catalogue describes it; `published` is a day, a month or a year, empty where nobody says it."""

    identifier: str
    title: str
    abstract: str = ""
    published: str = ""
    authors: str = ""

    @property
    def year(self) -> int | None:
        return int(self.published[:4]) if self.published[:4].isdecimal() else None

    @property
    def key(self) -> str:
        """By what it is known: its identifier in its normal spelling, or its whole title."""
        named = work_named(self.identifier)
        return str(named) if named else f"title {normal_title(self.title)}"

    def is_older(self, day: date) -> bool:
        """Whether it is certain that it appeared before a day; never where its date is not known."""
        last = self._last_day()
        return last is not None and last < day

    def _last_day(self) -> date | None:
        """The last day on which it may have appeared."""
        try:
            year, month, day = (*map(int, self.published.split("-")), 0, 0)[:3]
            month = month or 12
            return date(year, month, day or monthrange(year, month)[1])
        except ValueError:
            return None
