"""Papers: what each one defines, by which the program knows it."""

from dataclasses import dataclass

from annotator.domain.judges.paper_table import PaperTable, Unprinted
from annotator.domain.judges.protocol import Composite, Extraction, Protocol
from annotator.domain.judges.published import ScoreAim
from annotator.domain.judges.taxonomy import Taxonomy


@dataclass(frozen=True)
class PaperSample:
    """A small sample of a paper: the folder that ships it, its project's title, and the layout it is in."""

    name: str
    title: str
    layout: str


@dataclass(frozen=True)
class Paper:
    """A paper: its protocols, extractions, drafts, figures, second looks, tables, published agreement and sample.

    `tables_about` says in Markdown what holds of its tables.
    """

    name: str
    title: str
    protocols: tuple[Protocol, ...]
    extractions: tuple[Extraction, ...] = ()
    drafts: tuple[Extraction, ...] = ()
    composites: tuple[Composite, ...] = ()
    taxonomies: tuple[Taxonomy, ...] = ()
    tables: tuple[PaperTable, ...] = ()
    score_aims: tuple[ScoreAim, ...] = ()
    sample: PaperSample | None = None
    unprinted: tuple[Unprinted, ...] = ()
    tables_about: str = ""
