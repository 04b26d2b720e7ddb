"""Judges compared, what they cost, what waits for a person, and the prompts that they are asked by."""

import asyncio
import json

import pytest

from annotator.actions.judges import judges, prompts
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.runs.judge_cases import RunRequest
from annotator.gui.pages.material.parts_view import Drawable, PartFilter
from annotator.judging.calls.prices import FILE
from tests.servers.said_by_judges import say
from tests.servers.served import JUDGE, answering
from tests.windows.judges_window import cells
from tests.windows.labelling_keys import press
from tests.windows.settling import settle


@pytest.fixture
def two(small):
    for name in ("a", "b"):
        judges.add(small, name, base_url="http://127.0.0.1:1/v1", model="m")
    say(small, "a", "yyynny", rationale="It says so.")
    say(small, "b", "yynnyy", rationale="Nothing on it.")
    return small


def differences(page):
    """What lies behind the first pair."""
    viewer = page.comparing.viewer
    viewer.view.table.activated.emit(viewer.view.model.index(0, 0))
    settle(page)
    return viewer.behind


def test_where_they_differ_is_listed_with_both_grounds(two, show):
    behind = differences(show(two, "Compare"))
    assert behind.title.text() == "2 differ: first a, second b"
    assert cells(behind.table, 3) == ["Met", "Not met"]
    assert cells(behind.table, 5) == ["Not met", "Met"]
    assert set(cells(behind.table, 4)) == {"It says so."}
    assert set(cells(behind.table, 6)) == {"Nothing on it."}


def test_a_difference_opens_the_reply_of_the_side_that_is_chosen(served, server, show):
    server.answer = answering(lambda words: "no")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    asyncio.run(judge_runs.run(served, RunRequest("baseline")))
    page = show(served, "Compare")
    assert "(a floor)" in cells(page.comparing.viewer.view.table, 0)[0]
    behind = differences(page)
    behind.table.setFocus()
    behind.table.setCurrentIndex(behind.apart.index(0, 5))
    unit = cells(behind.table, 2)[0]
    press("Return")
    settle(page)
    assert page.part is page.replies
    assert f"Asked about {unit}" in page.replies.detail.made.toPlainText()
    assert page.replies.filters.chosen().judge_id == judges.named(served, JUDGE).id
    assert '"covered"' in page.replies.detail.raw.toPlainText()


DATASET = "Names one dataset"


@pytest.fixture
def priced(tmp_path, monkeypatch):
    """1,000 dollars for a million tokens in, 2,000 for a million out."""
    table = {"as_of": "2026-05-01", "models": {"test-model": {"input": 1000, "output": 2000}}}
    (tmp_path / FILE).write_text(json.dumps(table), "utf-8")
    monkeypatch.setattr("annotator.judging.calls.prices.user_data", lambda: tmp_path)


@pytest.fixture
def paid(priced, served, server):
    """Twelve judgements, each by a call of 100 tokens in and 20 out: 14 cents."""
    server.answer = answering(lambda criterion: "yes")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    return served


def column(part, title: str) -> list[str]:
    return cells(part.view.table, list(part.view.model.columns).index(title))


def test_behind_a_criterion_stand_its_judgements_and_no_others(paid, show):
    page = show(paid, "Costs")
    part = page.costing.viewer
    row = column(part, "Asked about").index(DATASET)
    item = column(part, "Item")[row]
    part.view.table.setCurrentIndex(part.view.model.index(row, 4))
    press("Return")
    settle(page)
    assert page.part is page.replies
    assert set(cells(page.replies.list, 2)) == {DATASET}
    assert cells(page.replies.list, 0) == [item] * 2
    assert page.replies.filters.place.isVisible()
    page.replies.filters.clear()
    settle(page)
    assert page.replies.lines.rowCount() == 12


CLAIMS = "researcherbench.claims.extract"


def drawn(project) -> None:
    """The baseline draws the claims of four reports, and nobody has looked at them."""
    asyncio.run(extracting.run(project, RunRequest("baseline", CLAIMS)))


def test_what_waits_is_counted_and_one_key_leads_there(small, show):
    drawn(small)
    page = show(small, "Runs")
    page.running.bar.more.menu().aboutToShow.emit()
    offered = [action.text().split("\t")[0] for action in page.running.bar.more.menu().actions()]
    assert "4 extracts to confirm" in offered
    press("Ctrl+Shift+J")
    material = page.window().page
    settle(material)
    assert material.tabs.currentWidget() is material.parts
    assert (material.parts.kinds.held, material.parts.wanted.held) == (Drawable.CLAIMS, PartFilter.OPEN)
    assert material.parts.model.rowCount() == 4


NAME = "researcherbench.coverage"
OURS = "# system\nBe brief.\n\n# user\n{{question}}\nThe criterion:\n\n{{criterion}}\n\nThe report:\n{{report}}\n"


@pytest.fixture
def part(small, show):
    """The prompts of the small project, at the first."""
    return show(small, "Prompts").prompting


def write(part, text: str) -> None:
    part.edit.field.setPlainText(text)
    settle(part)


def test_a_wording_is_put_in_force_with_a_note(small, part):
    write(part, OURS)
    part.note.setText("Shorter.")
    part.edit.field.setFocus()
    press("Ctrl+Return")
    settle(part)
    version = prompts.in_force(small, NAME)
    assert (version.version, version.text, version.note, version.by) == (2, OURS, "Shorter.", small.by)
    assert cells(part.table, 1)[0] == "2 · ours"
    assert cells(part.look.table, 3) == ["Shorter.", "–"]
    assert cells(part.look.table, 2)[0] == small.person.name
    assert part.note.text() == ""


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        (OURS.replace("{{report}}", ""), "It lacks the placeholder  {{report}}."),
        (
            OURS + "{{weight}}",
            "Unknown placeholder {{weight}}; available: {{criterion}}, {{question}}, {{report}}.",
        ),
        ("# user\nAll in one.", "It must contain a line “# system”"),
    ],
)
def test_what_a_wording_lacks_is_said_and_it_cannot_be_put_in_force(small, part, text, fault):
    write(part, text)
    assert part.edit.answer.words() == ["Not usable"]
    assert part.edit.said.text().startswith(fault)
    assert "until it is fixed" in part.look.sent.toPlainText()
    press("Ctrl+Return")
    assert prompts.in_force(small, NAME).version == 1


def test_the_preview_is_filled_from_real_units_and_walks_through_them(part):
    write(part, OURS)
    assert part.look.sent.toPlainText().startswith("# system\n\nBe brief.")
    assert "Explains residual connections" in part.look.sent.toPlainText()
    assert "item 1 · Alpha" in part.look.about.text()
    press("Ctrl+PgDown")
    settle(part)
    assert "Compares training stability" in part.look.sent.toPlainText()
    press("Ctrl+PgUp")
    settle(part)
    assert "Explains residual connections" in part.look.sent.toPlainText()


def test_a_draft_outlives_the_page_and_touches_nobody(small, show, window_over):
    page = show(small, "Prompts")
    write(page.prompting, OURS)
    page.leave()
    assert prompts.in_force(small, NAME).version == 1
    again = window_over(small, "Judges", part="Prompts").page.prompting
    settle(again)
    assert again.edit.text() == OURS
    again.edit.discard.click()
    settle(again)
    assert again.edit.text() == prompts.shipped(NAME)
