"""What judges can be let draw, counted over reports that were read before."""

from annotator.actions.items.report_lines import Reports
from annotator.actions.judging import judge_offers
from annotator.actions.judging.judge_offers import Drawing
from annotator.protocols import EXTRACTIONS


def drawings(found: Reports) -> list[Drawing]:
    """Every extraction, with how many reports (or items with a source) have nothing drawn yet."""
    reports = [line.parts for of_cell in found.lines.values() for line in of_cell]
    items = [item.parts for item in found.items if item.sources]
    return [judge_offers.drawing(extraction, reports, items) for extraction in EXTRACTIONS.values()]
