"""Material of one paper: reports, an exemplar, nuggets and works, as tests put it together."""

from datetime import UTC, datetime

from annotator.domain.judges.protocol import Material
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.extract import ResponsePart
from annotator.domain.material.item import EXEMPLAR, Item, Page, PageState, Response

ITEM = Item(
    id="i", key="2506.00001v1", question="Write the related-work section. Abstract: trees cool streets"
)
EXEMPLARS = Response(id="people", item_id="i", system_id="x", text="Trees cool.", mode=EXEMPLAR)


def report(text: str = "Trees cool streets [1].") -> Response:
    return Response(id="r", item_id="i", system_id="s", text=text)


def with_nuggets(*nuggets: tuple[str, str], support: str = "", text: str = "Trees cool.") -> Material:
    """A report on an item with nuggets, each given by its id and importance."""
    units = tuple(
        Nugget.model_validate(
            {"id": name, "text": f"{name} fact", "importance": importance, "support": support}
        )
        for name, importance in nuggets
    )
    return Material(ITEM, report(text), {Kind.NUGGETS: Nuggets(units=units)}, {Kind.NUGGETS: "a"})


def with_works(*works: tuple[str, str], abstracts: dict[str, str] | None = None) -> Material:
    """A report that names works, each given by its id and address; `abstracts` by normal address."""
    units = tuple(Reference(id=name, text=name, identifier=address) for name, address in works)
    pages = {
        url: Page(
            url=url, state=PageState.OK, text=text, title="T", fetched_at=datetime(2026, 1, 1, tzinfo=UTC)
        )
        for url, text in (abstracts or {}).items()
    }
    return Material(
        ITEM,
        report(),
        parts={ResponsePart.REFERENCES: Evidence(units=units)},
        part_ids={ResponsePart.REFERENCES: "e"},
        pages=pages,
        facing=(EXEMPLARS,),
    )
