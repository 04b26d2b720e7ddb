"""Prompts: versions with who, when and why, a preview on a real unit, and no wording that nobody could be asked by."""

import asyncio

import pytest

from annotator.actions.judges import prompts
from annotator.actions.judging import judge_runs
from annotator.actions.orders import orders
from annotator.actions.runs.judge_cases import RunRequest
from tests.servers.served import JUDGE, answering
from tests.windows.judges_window import cells
from tests.windows.labelling_keys import press
from tests.windows.settling import settle

NAME = "researcherbench.coverage"
OURS = "# system\nBe brief.\n\n# user\n{{question}}\nThe criterion:\n\n{{criterion}}\n\nThe report:\n{{report}}\n"


@pytest.fixture
def part(small, show):
    """The prompts of the small project, at the first."""
    return show(small, "Prompts").prompting


def write(part, text: str) -> None:
    part.edit.field.setPlainText(text)
    settle(part)


def test_every_prompt_is_listed_with_its_version(part):
    assert part.name == NAME
    assert set(cells(part.table, 1)) == {"1"}
    titles = cells(part.table, 0)
    assert len(set(titles)) == len(titles)
    assert not part.bar.buttons["submit"].isEnabled()


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


def test_the_preview_stops_at_the_last_unit(part, qtbot):
    for _ in range(13):
        part.look.step(1)
    settle(part)
    assert part.look.about.text().startswith("12:")


def test_what_changes_is_marked(small, part):
    write(part, OURS)
    part.look.turn()
    settle(part)
    html = part.look.changes.toHtml()
    assert "line-through" in html
    assert "underline" in html
    assert "Be brief." in part.look.changes.toPlainText()


def test_versions_are_compared_with_what_is_written(small, show):
    prompts.write(small, NAME, OURS)
    part = show(small, "Prompts").prompting
    part.look.setCurrentIndex(2)
    part.look.table.selectRow(1)
    part.look._compare_since()
    assert part.look.old.currentText() == "version 1, as shipped"
    assert "Be brief." in part.look.changes.toPlainText()


def test_the_shipped_wording_can_be_restored(small, show):
    prompts.write(small, NAME, OURS)
    part = show(small, "Prompts").prompting
    part.edit.back.click()
    settle(part)
    part.acts["submit"]()
    settle(part)
    assert [one.version for one in prompts.versions(small, NAME)] == [1, 2, 3]
    assert prompts.edited(small) == {}
    assert cells(part.table, 1)[0] == "3"


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


def test_another_prompt_does_not_take_the_draft_along(part):
    write(part, OURS)
    part.table.selectRow(1)
    settle(part)
    assert part.edit.text() == prompts.shipped(part.name)
    part.table.selectRow(0)
    settle(part)
    assert part.edit.text() == OURS


def test_the_next_run_goes_by_the_wording_in_force(served, server, show, qtbot):
    server.answer = answering(lambda words: "yes")
    part = show(served, "Prompts").prompting
    write(part, OURS)
    part.acts["submit"]()
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    assert {body["messages"][0]["content"][:9] for body in server.bodies} == {"Be brief."}
    assert asyncio.run(orders.foreseen(served, RunRequest(JUDGE))).units == 0


def test_a_wording_of_any_script_and_with_markup_is_shown_as_it_is(small, part):
    words = OURS.replace("Be brief.", "<b>简短</b> أجب بإيجاز")
    write(part, words)
    assert "<b>简短</b> أجب بإيجاز" in part.look.sent.toPlainText()
    part.look.turn()
    assert "<b>简短</b> أجب بإيجاز" in part.look.changes.toPlainText()


def test_a_wording_that_cannot_be_asked_by_keeps_the_place_among_the_units(part):
    press("Ctrl+PgDown")
    settle(part)
    write(part, "# system\nNothing.\n\n# user\nNothing.\n")
    assert "until it is fixed" in part.look.sent.toPlainText()
    write(part, OURS)
    assert part.look.about.text().startswith("2:")
    assert "Compares training stability" in part.look.sent.toPlainText()
