"""From the judges to what was drawn and waits for a person."""

import asyncio

from annotator.actions.items import drawn_parts, extracts
from annotator.actions.material import extracting
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.pages.material.parts_view import Drawable, PartFilter
from tests.windows.labelling_keys import press
from tests.windows.settling import settle

CLAIMS = "researcherbench.claims.extract"


def drawn(project) -> None:
    """The baseline draws the claims of four reports, and nobody has looked at them."""
    asyncio.run(extracting.run(project, RunRequest("baseline", CLAIMS)))


def test_where_nothing_waits_there_is_no_button(small, show):
    assert show(small).waiting.isHidden()


def test_what_waits_is_counted_and_one_key_leads_there(small, show):
    drawn(small)
    page = show(small)
    assert page.waiting.text().startswith("4 extracts to confirm")
    assert page.waiting.accessibleName().startswith("4 extracts to confirm, key ")
    press("Ctrl+Shift+J")
    material = page.window().page
    settle(material)
    assert material.tabs.currentWidget() is material.parts
    assert (material.parts.kinds.held, material.parts.wanted.held) == (Drawable.CLAIMS, PartFilter.OPEN)
    assert material.parts.model.rowCount() == 4


def test_what_was_confirmed_waits_no_longer(small, show):
    drawn(small)
    page = show(small)
    for each in drawn_parts.standing(small).values():
        page.desk.do(extracts.confirm, each["claims"].extract_id)
    settle(page)
    assert page.waiting.isHidden()
