"""Presentation of a protocol on the Label page: its names and its layout."""

from dataclasses import dataclass
from enum import StrEnum

from annotator.domain.texts.counting import counted

# What evidence is quoted from: what a system wrote, or what it cites.
REPORT, CITED_PAGE = "report", "page"


class CaseLayout(StrEnum):
    """How what is asked stands on the page: one below the other, gold against drawn units, or below two reports."""

    LIST = "list"
    MATRIX = "matrix"
    PAIR = "pair"


@dataclass(frozen=True, slots=True)
class Presentation:
    """The names and the layout of a protocol on the Label page.

    `tab` names it, `about` says what is asked, `one` and `many` are its units. `ask` is the question where units have
    no words, `heading` stands over them, `line` is what a line of the queue is, `read` what evidence is quoted from,
    `text` the name of what is given that people read in the place of the report, `called` what stands over a text that
    is no report, and `rest` the value that may be given to all that is open at once. `waits` says why some units cannot
    be asked about yet; `lacking` is the headline and sentence where none can, `mended_on` the page where that is made
    good.
    """

    tab: str
    about: str
    one: str
    many: str
    ask: str = ""
    heading: str = ""
    line: str = REPORT
    layout: CaseLayout = CaseLayout.LIST
    read: str = REPORT
    text: str = ""
    called: str = ""
    rest: str = ""
    waits: str = "not all is there that the question needs"
    lacking: tuple[str, str] = ("Nothing can be asked yet", "No report has anything that this asks about.")
    mended_on: str = "Material"

    @property
    def title(self) -> str:
        return self.heading or self.ask or self.many.capitalize()

    def counted(self, number: int) -> str:
        return counted(number, self.one, self.many)


# Of what people are not asked.
UNSHOWN = Presentation("", "", "unit", "units")
