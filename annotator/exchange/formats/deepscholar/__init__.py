"""DeepScholar-Bench's files: papers, citations, nuggets, and the folders of systems."""

from annotator.exchange.formats.deepscholar.reader import of_papers, read
from annotator.exchange.formats.deepscholar.tables import DATASET, files

__all__ = ["DATASET", "files", "of_papers", "read"]
