"""What judges can be let draw, counted over reports that were read before."""

from annotator.actions.judge_offers import Drawing
from annotator.actions.report_lines import Reports
from annotator.domain.part import Part
from annotator.protocols import EXTRACTIONS


def drawings(found: Reports) -> list[Drawing]:
    """Every extraction, with how many reports (or items with a source) have nothing drawn yet."""
    lines = [line for of_cell in found.lines.values() for line in of_cell]
    made = []
    for extraction in EXTRACTIONS.values():
        of_reports = isinstance(extraction.makes, Part)
        subjects = lines if of_reports else [item for item in found.items if item.sources]
        lacks = "No report is there yet." if of_reports else "No item has a source with its text yet."
        made.append(
            Drawing(
                name=extraction.name,
                title=extraction.title,
                citation=extraction.citation,
                makes=extraction.makes.value,
                things="report" if of_reports else "item",
                total=len(subjects),
                without=sum(extraction.makes.value not in subject.parts for subject in subjects),
                alone=extraction.baseline is not None,
                prompts=extraction.prompts,
                lacks="" if subjects else lacks,
            )
        )
    return made
