"""Functions of papers for use elsewhere: a system, a ranking, extractors of works and their lists; importing loads
the papers.
"""

from annotator.protocols.adra.reading import (
    MARKER as LIST_MARKER,
    begins_with_names,
    divided as divided_list,
    entries_of as list_entries,
    is_list_heading,
    is_names,
    references as works_referred_to,
)
from annotator.protocols.arena import leakage
from annotator.protocols.arena.ranking import RANKING, read as ranked_value
from annotator.protocols.deepscholar import system as reference_system
from annotator.protocols.deepscholar.sentences import CitedWork, ReportFigures, cited_works, report_figures

__all__ = [
    "LIST_MARKER", "RANKING", "CitedWork", "ReportFigures", "begins_with_names", "cited_works",
    "divided_list", "is_list_heading", "is_names", "leakage", "list_entries", "ranked_value",
    "reference_system", "report_figures", "works_referred_to",
]  # fmt: skip
