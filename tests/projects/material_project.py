"""What is drawn from the reports of the small project: claims with the words they stand in and what they cite."""

from annotator.actions.items.extracts import NewExtract, Subject
from annotator.actions.project.file import Project
from annotator.domain.material.extract import Claim, Claims, ResponsePart, by_judge
from tests.material import drawn_extracts
from tests.storage import sql

FIRST = "It explains residual connections."
SECOND = "It compares the stability of training."


def subject(project: Project, number: int = 0) -> Subject:
    item_id, response_id = sql.rows(project, "SELECT item_id, id FROM response ORDER BY rowid")[number]
    return item_id, response_id


def keep_claims(project: Project, *urls: str, number: int = 0) -> str:
    """Two claims of the n-th report, as a judge drew them, citing these addresses."""
    units = (
        Claim(id="c0", text=FIRST, context="explains residual connections", url=urls[0]),
        Claim(id="c1", text=SECOND, context="compares the stability of training\n", url=urls[1]),
    )
    drawn = NewExtract(
        *subject(project, number), ResponsePart.CLAIMS, Claims(units=units), by_judge("judge-1")
    )
    return drawn_extracts.keep(project, drawn).subject
