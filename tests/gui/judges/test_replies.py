"""Replies: judgement by judgement, what was made of each beside what came and what was sent."""

import asyncio
import json

import pytest
from PySide6.QtWidgets import QPushButton

from annotator.actions.judges import prompts
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.runs.run_judgements import FLAGGED, NO_VERDICT
from tests.judging.odd_server import completion, error
from tests.servers.served import JUDGE, answering
from tests.storage import sql
from tests.windows.judges_window import QUOTE, cells, choose
from tests.windows.labelling_keys import press
from tests.windows.settling import settle


def run(project, **how) -> str:
    return str(asyncio.run(judge_runs.run(project, RunRequest(JUDGE, **how)))["run"])


@pytest.fixture
def replies(served, show):
    """The replies of a run of twelve judgements: four refused, four with a quote that is nowhere."""
    return show(served, "Replies", run_id=run(served)).replies


def go_to(part, unit: str) -> None:
    """Choose the first judgement about a unit."""
    part.list.selectRow(next(row for row, words in enumerate(cells(part.list, 2)) if words.startswith(unit)))
    settle(part)


def test_missing_judgements_are_told_from_a_no(replies):
    assert replies.lines.rowCount() == 12
    assert "4 without a verdict; these never count as “no”" in replies.count.text()
    assert cells(replies.list, 3).count("Model refused") == 4
    go_to(replies, "Names")
    assert "Missing, not “no”." in replies.detail.made.toPlainText()


def test_the_list_is_narrowed_by_sort_flag_cause_system_and_words(replies):
    choose(replies.filters.which, NO_VERDICT)
    settle(replies)
    assert set(cells(replies.list, 2)) == {"Names one dataset"}
    choose(replies.filters.cause, "refused")
    choose(replies.filters.system, "Beta")
    settle(replies)
    assert cells(replies.list, 1) == ["Beta", "Beta"]
    replies.show_all.click()
    choose(replies.filters.which, FLAGGED)
    choose(replies.filters.flag, "quote_missing")
    settle(replies)
    assert set(cells(replies.list, 4)) == {"Quote not found"}
    replies.show_all.click()
    replies.filters.search.setText("STABILITY of training")
    settle(replies)
    assert set(cells(replies.list, 2)) == {"Compares training stability"}


def test_a_cause_that_another_run_has_not_narrows_it_no_more(served, server, show):
    first = run(served, systems=("Alpha",))
    server.answer = answering(lambda words: "no")
    second = run(served, systems=("Beta",))
    part = show(served, "Replies", run_id=first).replies
    choose(part.filters.cause, "refused")
    settle(part)
    assert part.lines.rowCount() == 2
    choose(part.filters.source, f"run {second}")
    settle(part)
    assert part.lines.rowCount() == 6


def test_what_matches_nothing_says_so_and_leads_back(replies):
    replies.filters.search.setText("nowhere to be found")
    settle(replies)
    assert replies.lists.currentWidget() is replies.nothing
    assert replies.detail.made.toPlainText() == ""
    replies.show_all.click()
    settle(replies)
    assert replies.lines.rowCount() == 12


def test_a_quote_is_shown_in_its_place_or_said_to_be_nowhere(replies):
    go_to(replies, "Compares")
    assert "Found in the report" in replies.detail.made.toPlainText()
    assert QUOTE in replies.detail.made.toPlainText()
    go_to(replies, "Explains")
    assert "stand nowhere in the report" in replies.detail.made.toPlainText()
    assert "Quote not found" in replies.detail.made.toPlainText()


def test_the_reply_stands_beside_what_it_took(replies):
    go_to(replies, "Compares")
    assert json.loads(replies.detail.raw.toPlainText())["quote"] == QUOTE
    facts = replies.detail.facts.text()
    for words in (
        "asked test-model, answered as test-model-2026",
        "tokens 100 in, 20 out",
        "40 of it cached",
    ):
        assert words in facts
    for words in ("5 for reasoning", "cost not known", "1 attempt", "ended by stop", "fingerprint fp_1"):
        assert words in facts


def test_the_prompt_is_shown_as_it_was_sent(replies):
    go_to(replies, "Compares")
    replies.detail.tabs.setCurrentIndex(1)
    settle(replies)
    assert "exactly what was sent" in replies.detail.sure.text()
    assert replies.detail.sure.text().startswith("researcherbench.coverage, version 1.")
    assert "Compares training stability" in replies.detail.prompt.toPlainText()
    assert "<<<BEGIN report" in replies.detail.prompt.toPlainText()


def test_every_reply_to_a_question_can_be_read(served, server, show):
    run(served)
    server.answer = lambda body, number: error(403, "Blocked.", code="content_filter")
    part = show(served, "Replies", run_id=run(served)).replies
    choose(part.filters.which, NO_VERDICT)
    settle(part)
    assert part.detail.which.count() == 2
    assert "blocked by a filter · the verdict was read from it" in part.detail.which.itemText(0)
    assert "model refused" in part.detail.which.itemText(1)


def test_a_judgement_is_reached_from_the_list_of_judges_and_of_runs(served, show):
    run(served)
    page = show(served, "Judges", judge=JUDGE)
    press("Ctrl+L")
    settle(page)
    assert page.part is page.replies
    assert page.replies.filters.chosen().judge_id
    assert page.replies.lines.rowCount() == 12
    press("Alt+2")
    settle(page)
    page.running.past.table.setFocus()
    press("Return")
    settle(page)
    assert page.replies.run() is not None


def test_the_keys_walk_from_missing_to_missing(replies):
    missing = [row for row, line in enumerate(replies.lines.rows) if line.value is None]
    replies.list.selectRow(missing[-1])
    seen = []
    for _ in range(5):
        replies.acts["next_open"]()
        seen.append(replies.list.currentIndex().row())
    assert seen == [*missing, missing[0]]


def test_what_is_missing_here_is_asked_for_again(served, server, show, qtbot):
    page = show(served, "Replies", run_id=run(served, systems=("Alpha",)))
    server.answer = lambda body, _: completion('{"quote": "", "rationale": "", "covered": "no"}')
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+R")
    settle(page)
    assert page.part is page.running
    assert run_records.runs(served)[0].missing == {}


def test_kept_replies_are_read_again_without_a_call(served, server, show, qtbot):
    server.script(completion("What a question!"))
    source = run(served)
    with served.store.write():
        sql.alter(served, "UPDATE call SET raw = ?", ['{"quote": "", "rationale": "So.", "covered": "no"}'])
    page = show(served, "Replies", run_id=source)
    asked = len(server.bodies)
    page.replies.acts["reread"]()
    qtbot.waitUntil(lambda: "parsed again" in page.replies.answer.text())
    (again,) = run_records.runs(served)
    won = again.judged
    assert won > 0
    assert f"{won} judgements gained a verdict" in page.replies.answer.text()
    assert len(server.bodies) == asked


def test_verdicts_that_their_replies_do_not_hold_are_taken_back_when_that_is_chosen(served, show, qtbot):
    source = run(served)
    with served.store.write():
        sql.alter(
            served,
            "UPDATE call SET raw = 'No idea: I cannot tell.', parameters = ?",
            ['{"response_format":"text"}'],
        )
    page = show(served, "Replies", run_id=source)
    page.replies.acts["reread"]()
    qtbot.waitUntil(lambda: "8 verdicts would change" in page.replies.answer.text())
    (before,) = run_records.runs(served)
    assert before.missing == {"refused": 4}
    offer = next(
        one for one in page.replies.answer.findChildren(QPushButton) if one.text() == "Change verdicts"
    )
    offer.click()
    qtbot.waitUntil(lambda: "8 verdicts were removed" in page.replies.answer.text())
    (after,) = run_records.runs(served)
    assert after.missing == {"invalid": 8, "refused": 4}


def test_what_an_extraction_asked_can_be_read(served, server, show):
    server.script(error(400, "The context is too long.", code="context_length_exceeded"))
    order = RunRequest(JUDGE, "researcherbench.claims.extract", systems=("Alpha",), items=("1",))
    source = str(asyncio.run(extracting.run(served, order))["run"])
    part = show(served, "Replies", run_id=source).replies
    assert cells(part.asked, 1) == ["Report too long"]
    assert "context is too long" in part.detail.made.toPlainText()
    assert not part.filters.which.isEnabled()


def test_a_judge_that_asks_nobody_has_no_reply(small, show):
    source = str(asyncio.run(judge_runs.run(small, RunRequest("baseline")))["run"])
    part = show(small, "Replies", run_id=source).replies
    assert "No call was made" in part.detail.facts.text()
    assert part.detail.raw.isHidden()
    part.detail.tabs.setCurrentIndex(1)
    settle(part)
    assert "no call was made" in part.detail.sure.text()


def test_an_empty_project_says_what_to_do(small, show):
    part = show(small, "Replies").replies
    assert part.body.currentWidget() is part.empty


def test_a_prompt_of_before_is_shown_for_what_was_asked_by_it(served, show):
    source = run(served)
    prompts.write(
        served, "researcherbench.coverage", "# system\nNew.\n\n# user\n{{question}}{{criterion}}{{report}}"
    )
    part = show(served, "Replies", run_id=source).replies
    go_to(part, "Compares")
    part.detail.tabs.setCurrentIndex(1)
    settle(part)
    assert ", version 1." in part.detail.sure.text()
    assert "New." not in part.detail.prompt.toPlainText()
