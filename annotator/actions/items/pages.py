"""Pages of a project: which are cited, how one is stored, and in what state it was found."""

from itertools import product
from typing import Any

from sqlalchemy import select
from sqlalchemy.engine import Connection

from annotator.actions.items import extracts, materials
from annotator.actions.items.materials import STRETCH, WantedMaterial
from annotator.actions.project.file import Project, record
from annotator.actions.project.hashing import page_hash
from annotator.domain.material.page import Page, PageState
from annotator.domain.material.part import ResponsePart
from annotator.domain.texts.change import Change, derived_id
from annotator.domain.texts.counting import counted
from annotator.exchange.pages.addresses import normal
from annotator.protocols import EXTRACTIONS
from annotator.storage import upserts
from annotator.storage.tables import PAGE

__all__ = ["cited", "given", "normal", "page", "summary", "take_in", "with_text"]


def cited(project: Project) -> dict[str, list[str]]:
    """The addresses that claims cite: normal spelling → the spellings in which they do, one for each claim."""
    found: dict[str, list[str]] = {}
    ids = materials.item_ids(project)
    for start in range(0, len(ids), STRETCH):
        with project.store.read() as db:
            drawn = extracts.standing(db, ids[start : start + STRETCH])
        for (_, response_id), of_kind in sorted(drawn.items()):
            if response_id and ResponsePart.CLAIMS.value in of_kind:
                for claim in of_kind[ResponsePart.CLAIMS.value].document.units:
                    if claim.url.strip():
                        found.setdefault(normal(claim.url), []).append(claim.url.strip())
    return found


def given(project: Project) -> dict[str, list[str]]:
    """The addresses from whose pages something is drawn, cited by a claim or not, as reports give them."""
    readers = [one.cites for one in EXTRACTIONS.values() if one.cites]
    found: dict[str, list[str]] = {}
    for at_hand in materials.each(project, WantedMaterial(()), materials.item_ids(project)):
        for cites, report in product(readers, at_hand.responses):
            found |= {address: [address] for address in cites(report)}
    return found


def page(project: Project, url: str) -> Page | None:
    """The snapshot of the page that an address leads to; None when it was never taken."""
    with project.store.read() as db:
        return materials.pages_at(db, [normal(url)]).get(normal(url))


def with_text(project: Project) -> set[str]:
    """The addresses of the pages that were read and whose texts are here."""
    there = (PAGE.c.state == PageState.OK.value, PAGE.c.text != "")
    with project.store.read() as db:
        return set(db.execute(select(PAGE.c.url).where(*there)).scalars())


def take_in(project: Project, found: Page, verb: str = "fetch page") -> Change | None:
    """Keep the snapshot of a page in the place of an earlier one; None where the earlier one was kept instead.

    A page of which there is no text never takes the place of one that was read: what was judged by stays.
    """
    row = found.model_dump() | {"state": found.state.value, "sha256": page_hash(found.text)}
    with project.store.write() as db:
        before = _row(db, found.url)
        was_read = before is not None and before["state"] == PageState.OK.value
        if was_read and not (found.state is PageState.OK and found.text):
            return None
        upserts.put(db, PAGE, row)
        subject = derived_id("page", found.url)
        return record(project, db, Change("page", subject, verb, _image(before), _image(row)))


def add(project: Project, db: Connection, found: Page) -> None:
    """Keep the snapshot of a work that a search found, where none with a text is there yet."""
    before = _row(db, found.url)
    if before is None or not before["text"]:
        row = found.model_dump() | {"state": found.state.value, "sha256": page_hash(found.text)}
        upserts.put(db, PAGE, row)
        subject = derived_id("page", found.url)
        record(project, db, Change("page", subject, "found work", _image(before), _image(row)))


def summary(by_state: dict[str, int]) -> str:
    """How many pages are in which state, in a sentence."""
    total = sum(by_state.values())
    if not total:
        return "No pages stored yet."
    named = ", ".join(
        f"{by_state[state.value]:,} {WORDS[state]}" for state in PageState if by_state.get(state.value)
    )
    return f"{counted(total, 'page')}: {named}."


WORDS = {
    PageState.OK: "read",
    PageState.PAYWALL: "behind a paywall",
    PageState.FORBIDDEN: "not shown to programs",
    PageState.DEAD: "not there",
    PageState.NOT_TEXT: "without text",
    PageState.TOO_LONG: "too long",
}


def _row(db: Connection, url: str) -> dict[str, Any] | None:
    row = db.execute(select(PAGE).where(PAGE.c.url == url)).mappings().first()
    return dict(row) if row is not None else None


def _image(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """A page as the audit keeps it: all but the text, for which its hash stands."""
    if row is None:
        return None
    kept = {name: value for name, value in row.items() if name not in ("text", "fetched_at")}
    return kept | {"fetched_at": row["fetched_at"].isoformat()}
