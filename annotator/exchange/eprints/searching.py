"""Search of arXiv by words: what is asked, and the works that a reply lists."""

from datetime import date, timedelta
from urllib.parse import urlencode

from annotator.domain.material.work import CatalogueWork
from annotator.exchange.eprints import feeds

API = "https://export.arxiv.org/api/query"
# The day of arXiv's first paper.
FIRST = date(1991, 8, 1)


def plain_words(title: str) -> str:
    """A title as arXiv's search takes it: its words, without signs of its own grammar."""
    return " ".join("".join(c if c.isalnum() else " " for c in title).split())[:300]


def address(api: str, query: str, count: int, before: date | None) -> str:
    """Where so many works are asked for that share words with a query, the best first, older than a day."""
    sought = " OR ".join(f"all:{word}" for word in plain_words(query).split())
    if before is not None:
        days = f"[{FIRST:%Y%m%d}0000 TO {before - timedelta(days=1):%Y%m%d}2359]"
        sought = f"({sought}) AND submittedDate:{days}"
    return f"{api}?{urlencode({'search_query': sought, 'max_results': count, 'sortBy': 'relevance'})}"


def works_of(content: bytes) -> list[CatalogueWork]:
    """The works of a reply, in its order; Refusal when it is none."""
    return [paper.work for paper in feeds.read(content, "arXiv's reply").papers]
