"""The Judges page: who judges, runs and their queue, replies, comparisons, costs, prompts; runs are real processes."""

import asyncio
import json
import re
from dataclasses import replace
from functools import partial

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton

from annotator.actions.judges import judges, kept_keys, prompts
from annotator.actions.judging import judge_runs
from annotator.actions.material import extracting
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.journal import FLAGGED, NO_VERDICT
from annotator.actions.runs.judge_cases import RunRequest
from annotator.domain.kinds.documents import Label
from annotator.domain.kinds.kind import Kind, Role
from annotator.gui.pages.feedback import field_words
from annotator.gui.pages.material.parts_view import Drawable, PartFilter
from annotator.gui.review.field_chips import field_chips
from annotator.gui.review.sheets import CellsModel, CellsTable, Column
from annotator.gui.review.verdict_words import doing, value_look, value_words
from annotator.gui.session.run import Child
from annotator.judging.calls.prices import FILE
from annotator.protocols import PROTOCOLS, USUAL
from tests.judging.odd_server import KEY, Odd, OddServer, completion, error
from tests.servers.served import JUDGE, QUOTE, add_judge, answering, replies
from tests.storage import sql
from tests.windows.judges_window import cells, choose, paused_and_resumed, said_in, tick
from tests.windows.using import Typed, owned, press, settle


@pytest.fixture
def server(server: OddServer) -> OddServer:
    server.answer = replies
    return server


@pytest.fixture
def served(small: Project, server: OddServer) -> Project:
    add_judge(small, server)
    return small


@pytest.fixture
def show(page_at_rest):
    return partial(page_at_rest, page="Judges", part="Judges")


NAME = "researcherbench.coverage"


@pytest.fixture
def priced(tmp_path, monkeypatch):
    (folder := tmp_path / "data" / "goldsmith").mkdir(parents=True)
    price = {"test-model": {"input": 1000, "output": 2000}}
    (folder / FILE).write_text(json.dumps({"as_of": "2026-05-01", "models": price}), "utf-8")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))


def test_what_is_ordered_is_shown_in_questions_tokens_money_and_time_before_the_start(
    served, priced, show, qtbot
):
    page = show(served, part="Runs")
    choose(page.running.form.judge, JUDGE)
    form, forecast = page.running.form, page.running.forecast
    qtbot.waitUntil(lambda: "12 for 12 judgements\nCached\nnone\n" in said_in(forecast))
    for words in ("at prices of 2026-05-01", "known once it has answered", "12 questions, about $"):
        assert words in said_in(forecast)
    form.budget.setValue(0.0004)
    qtbot.waitUntil(lambda: "A budget of $0.0004 asks nothing. Give $" in said_in(forecast))
    form.budget.setValue(1.5)
    qtbot.waitUntil(lambda: "asks nothing" not in said_in(forecast))
    assert (form.systems.ticked(), form.order().systems) == (form.systems.values(), ())
    tick(form.systems)
    assert (form.order(), form.wrong.text().startswith("No system is ticked.")) == (None, True)
    tick(form.systems, "Beta")
    form.items.setText("2")
    form.together.setValue(3)
    form.trials.setValue(2)
    assert form.order() == RunRequest(
        JUDGE, NAME, ("Beta",), ("2",), concurrency=8, timeout_s=120, budget_usd=1.5, together=3, trials=2
    )


def test_an_estimate_of_what_is_no_longer_ordered_is_not_shown(served, show_runs, monkeypatch):
    monkeypatch.setattr(Child, "start", lambda *_, **__: True)
    page = show_runs()
    forecast = page.running.forecast
    child, before = forecast.findChild(Child), judge_runs.look(served, page.running.form.order())
    other = replace(before, order=replace(before.order, together=2))
    for look, words in ((other, "Counting the questions…"), (before, "one for each")):
        forecast.show_look(look, asks=True)
        child.ended.emit({"error": "one for each"})
        assert forecast.state.text() == words


def test_what_lacks_is_said_and_leads_to_what_draws_it(small, show):
    page = show(small, part="Runs")
    choose(page.running.form.what, "researcherbench.claims")
    settle(page)
    assert "4 of 4 reports are without their claims." in page.running.ready.lacks.text()
    page.running.ready.drawing_wanted.emit(CLAIMS)
    settle(page)
    assert page.running.form.what.currentData() == CLAIMS


@pytest.fixture
def show_runs(served, show):
    """The page at its runs, with the judge chosen and so many questions at a time."""

    def make(at_once: int = 8):
        page = show(served, part="Runs")
        choose(page.running.form.judge, JUDGE)
        page.running.form.concurrency.setValue(at_once)
        return settle(page)

    return make


def test_a_run_shows_every_call_keeps_what_is_finished_when_cancelled_and_a_key_goes_on(
    served, server, show_runs, qtbot
):
    # All questions but the first are under way until the test is over.
    server.answer = lambda body, number: Odd(held=True) if number else replies(body, number)
    page = show_runs(2)
    page.running.acts["submit"]()
    live = page.running.live
    qtbot.waitUntil(lambda: live.calls.rowCount() == 2 and live.parts.rowCount() > 0)
    qtbot.waitUntil(lambda: "…" not in cells(live.asking, 3))
    assert set(cells(live.asking, 1)) <= {"1", "2"}
    assert set(cells(live.asking, 2)) <= {"Alpha", "Beta"}
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+.")
    settle(page)
    (run,) = run_records.runs(served)
    assert (run.state, run.done, run.total) == ("cancelled", 1, 12)
    assert page.running.bar.buttons["run_again"].text().startswith("Resume it")
    server.answer, before = answering(lambda words: "no"), len(server.bodies)
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+R")
    assert (len(server.bodies) - before, run_records.runs(served)[0].state) == (11, "done")


def test_a_run_is_held_and_goes_on(served, server, show_runs, qtbot):
    page = show_runs(1)
    paused_and_resumed(page, qtbot, server, page.driver, page.running.acts["submit"])
    assert run_records.runs(served)[0].state == "done"


def test_runs_wait_in_a_queue_follow_one_another_and_stand_still_after_a_cancelled_one(
    served, server, show, qtbot
):
    server.answer = answering(lambda words: "yes")
    page = show(served, part="Runs")
    press("Ctrl+U")
    choose(page.running.form.judge, JUDGE)
    settle(page)
    page.running.acts["queue_run"]()
    assert cells(page.running.past.waiting, 0) == ["baseline", JUDGE]
    with qtbot.waitSignals([page.driver.ended, page.driver.ended]):
        press("Ctrl+Shift+U")
    settle(page)
    assert [run.judge for run in run_records.runs(served)] == [JUDGE, "baseline"]
    assert (judge_runs.waiting(served), page.running.past.queued.isHidden()) == ([], True)
    server.answer = lambda body, number: Odd(held=True)
    for order in (RunRequest(JUDGE, trials=2), RunRequest("baseline")):
        judge_runs.add(served, order)
    with qtbot.waitSignal(page.driver.progressed):
        page.running.acts["start_queue"]()
    with qtbot.waitSignal(page.driver.ended):
        press("Ctrl+.")
    settle(page)
    assert [one.order.judge for one in judge_runs.waiting(served)] == ["baseline"]


def test_a_queued_run_whose_key_is_not_allowed_waits_and_keeps_no_other_from_its_turn(
    served, server, show, qtbot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("THEIR_KEY", "sk-canary-1234567890")
    sql.alter(served, "UPDATE judge SET key_env = 'THEIR_KEY' WHERE name = ?", [JUDGE])
    for name in (JUDGE, "baseline"):
        judge_runs.add(served, RunRequest(name))
    page = show(served, part="Runs")
    with qtbot.waitSignal(page.driver.ended):
        page.running.acts["start_queue"]()
    settle(page)
    assert ([one.order.judge for one in judge_runs.waiting(served)], server.headers) == ([JUDGE], [])


def test_a_judge_is_added_by_the_keyboard_alone(small, show):
    page = show(small)
    press("Ctrl+N")
    for words, tabs in (("near", 1), ("http://127.0.0.1:9/v1", 2), ("tiny", 1)):
        press(Typed(words), "Tab", tabs)
    press("Ctrl+Return")
    assert page.roster.judge() == judges.named(small, "near")
    settle(page)
    # Once added, its run is one press away, and is its own.
    page.roster.begin_run.click()
    settle(page)
    assert (page.part_name(), page.running.form.judge.currentText()) == ("Runs", "near · tiny")


def test_a_key_is_kept_outside_the_project_and_what_is_too_long_to_be_stored_is_refused(small, show):
    page = show(small)
    page.roster.acts["new_judge"]()
    form = page.roster.side.endpoint
    form.key.setText("sk-canary-77aa88bb99cc")
    form.keep.setCurrentIndex(form.keep.findData("session"))
    for model in ("x" * 401, "tiny"):
        assert [judge.name for judge in judges.all_of(small)] == ["baseline"]
        for name, words in {"name": "near", "base_url": "http://127.0.0.1:9/v1", "model": model}.items():
            form.fields[name].setText(words)
        page.roster.acts["submit"]()
    assert b"sk-canary-77aa88bb99cc" not in small.path.read_bytes()
    assert (form.key.text(), form.place.text()) == ("", "The key is kept until Goldsmith is closed.")
    form.forget.click()
    assert form.place.text().startswith("No key is stored")


def test_a_provider_is_proposed_with_what_it_wants_and_no_key_goes_to_it(small, show):
    page = show(small)
    page.roster.acts["new_judge"]()
    form = page.roster.side.endpoint
    offered = form.usual.menu().actions()
    next(act for act in offered if act.text().startswith("Azure OpenAI by deployment")).trigger()
    assert (form.key_env.text(), "AZURE_OPENAI_API_KEY" in form.place.text()) == ("", True)
    form.fields["name"].setText("azure")
    form.fields["model"].setText("gpt")
    page.roster.acts["submit"]()
    assert "still has RESOURCE in it" in page.window().messages.text()
    form.fields["base_url"].setText("https://mine.openai.azure.com/openai/deployments/gpt/chat/completions")
    for wrong in ("api-key: x", '["x"]', '{"api-key": "9f8e7d6c5b4a3f2e"}', '{"x": 1}'):
        form.fields["headers"].setText(wrong)
        page.roster.acts["submit"]()
        assert [judge.name for judge in judges.all_of(small)] == ["baseline"]
    # What the person has typed beside the address may go there, and nothing else.
    for variable, granted in (("GATEWAY", ["GATEWAY"]), ("OTHER", ["GATEWAY", "OTHER"])):
        form.fields["headers"].setText(
            json.dumps(sent := {"api-key": "{key}", "x-gateway": f"{{{variable}}}"})
        )
        page.roster.acts["submit"]()
        assert judges.named(small, "azure").settings.headers == sent
        assert [grant.key for grant in kept_keys.grants()] == granted
    assert judges.named(small, "azure").settings.query == {"api-version": "2024-10-21"}


@pytest.mark.usefixtures("real_children")
def test_a_test_shows_all_that_the_endpoint_can_do(served, server, show, qtbot):
    def answer(body, _number):
        first, last = re.findall(r"(?:amber|cobalt)-[0-9a-f]{6}", body["messages"][-1]["content"])
        return completion(f'{{"first_word": "{first}", "last_word": "{last}"}}')

    server.answer = answer
    page = show(served, judge=JUDGE)
    press("Ctrl+T")
    assert not page.roster.bar.buttons["test_judge"].isEnabled()
    probe = page.roster.side.probe
    qtbot.waitUntil(lambda: probe.state.words() == ["Answers"])
    for words in ("JSON with a schema", "both ends arrive", "test-model-2026", "100 tokens", "not known"):
        assert words in said_in(probe)
    assert page.roster.bar.buttons["test_judge"].isEnabled()


def test_a_judge_that_does_not_answer_says_why_and_never_its_key(small, server, show, qtbot):
    server.script(error(401, f"Wrong key {KEY}."))
    judges.add(small, "locked", base_url=server.url, model="tiny", key_env="GOLDSMITH_TEST_KEY")
    locked = judges.named(small, "locked")
    kept_keys.remember_key(small, locked, KEY, session_only=True)
    page = show(small, judge="locked")
    page.roster.acts["test_judge"]()
    probe = page.roster.side.probe
    qtbot.waitUntil(lambda: probe.state.words() == ["Not usable like this"])
    assert "Traceback" not in said_in(probe)
    assert KEY not in said_in(probe) + probe.raw.toPlainText()
    # That it failed was written by the child: the window knows of it, and may let the judge run all the same.
    probe.accept.click()
    assert probe.state.words() == ["Failed its test; used all the same"]
    kept_keys.refuse_failed(small, locked)
    kept_keys.forget_key(small, "locked")


def test_a_retired_judge_can_be_brought_back(served, show):
    page = show(served, judge=JUDGE)
    press("Ctrl+Backspace")
    assert cells(page.roster.table, 0) == ["baseline"]
    page.roster.answer._act.click()
    assert cells(page.roster.table, 0) == ["baseline", JUDGE]


def test_whoever_labels_blind_is_shown_no_judge(small, show):
    people.add_person(small, "Ada", (Role.ANNOTATOR,))
    small.work_as(people.people(small)[1])
    page = show(small)
    press("Alt+3")
    settle(page)
    assert page.body.currentWidget() is page.denied
    assert page.made == {}, "no part is made for whoever may not see it"


def test_a_key_that_a_file_names_is_shown_with_its_address_allowed_and_withdrawn(
    served, server, show, qtbot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_SECRET", KEY)
    sql.alter(served, "UPDATE judge SET key_env = 'AWS_SECRET' WHERE name = ?", [JUDGE])
    page = show(served, judge=JUDGE)
    side, messages = page.roster.side, page.window().messages
    for word in ("AWS_SECRET", server.url.removesuffix("/v1"), "not allowed"):
        assert word in side.endpoint.place.text()
    page.roster.acts["test_judge"]()
    assert f"keys allow AWS_SECRET {server.url.removesuffix('/v1')}" in messages.text()
    assert server.headers == []
    messages._act.click()
    page.roster.acts["test_judge"]()
    qtbot.waitUntil(lambda: not side.testing and bool(server.headers))
    assert KEY in str(server.headers)
    side.allowed.fill()
    settle(page)
    (withdraw,) = (button for button in side.allowed.findChildren(QPushButton) if button.isVisible())
    withdraw.click()
    assert (kept_keys.grants(), side.allowed.isHidden()) == ([], True)
    side.endpoint.allow.click()
    assert (kept_keys.key_to_ask_with(served, judges.named(served, JUDGE)), side.allowed.isHidden()) == (
        KEY,
        False,
    )


def test_differences_stand_side_by_side_and_open_the_reply_of_the_side_that_is_chosen(served, server, show):
    server.answer = answering(lambda words: "no")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    asyncio.run(judge_runs.run(served, RunRequest("baseline")))
    page = show(served, part="Compare")
    viewer = page.comparing
    assert "(a lower bound)" in cells(viewer.view.table, 0)[0]
    viewer.view.table.activated.emit(viewer.view.model.index(0, 0))
    settle(page)
    behind = viewer.behind
    assert [set(cells(behind.table, column)) for column in (3, 5, 6)] == [{"Met"}, {"Not met"}, {"So."}]
    behind.table.setFocus()
    behind.table.setCurrentIndex(behind.apart.index(0, 5))
    unit = cells(behind.table, 2)[0]
    press("Return")
    settle(page)
    assert page.part is page.replies
    assert f"Asked about {unit}" in page.replies.detail.made.toPlainText()
    assert page.replies.filters.query().judge_id == judges.named(served, JUDGE).id
    assert '"covered"' in page.replies.detail.raw.toPlainText()


@pytest.mark.usefixtures("priced")
def test_behind_a_criterion_stand_its_judgements_and_no_others(served, server, show):
    server.answer = answering(lambda criterion: "yes")
    asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))
    page = show(served, part="Costs")
    table, titles = page.costing.view.table, list(page.costing.view.model.columns)
    row = cells(table, titles.index("Asked about")).index("Names one dataset")
    item = cells(table, titles.index("Item"))[row]
    table.setCurrentIndex(table.model().index(row, 4))
    press("Return")
    settle(page)
    assert (page.part, set(cells(page.replies.list, 2))) == (page.replies, {"Names one dataset"})
    assert (cells(page.replies.list, 0), page.replies.filters.place.isVisible()) == ([item] * 2, True)
    page.replies.filters.clear()
    settle(page)
    assert page.replies.lines.rowCount() == 12


def test_what_waits_is_counted_and_one_key_leads_there(small, show):
    asyncio.run(extracting.run(small, RunRequest("baseline", CLAIMS)))
    page = show(small, part="Runs")
    page.running.bar.more.menu().aboutToShow.emit()
    assert "4 extracts to confirm" in str(
        [action.text() for action in page.running.bar.more.menu().actions()]
    )
    press("Ctrl+Shift+J")
    material = settle(page.window().page)
    assert (material.part, material.parts.model.rowCount()) == (material.parts, 4)
    assert (material.parts.kinds.held, material.parts.filter.held) == (Drawable.CLAIMS, PartFilter.OPEN)


CLAIMS = "researcherbench.claims.extract"
OURS = "# system\nBe brief.\n\n# user\n{{question}}\nThe criterion:\n\n{{criterion}}\n\nThe report:\n{{report}}\n"


def write(part, text: str) -> None:
    part.edit.field.setPlainText(text)
    settle(part)


def test_a_wording_is_a_draft_that_outlives_the_page_is_previewed_on_real_units_and_put_in_force_with_a_note(
    small, show, window_over
):
    page = show(small, part="Prompts")
    write(page.prompting, OURS)
    page.leave()
    assert prompts.in_force(small, NAME).version == 1
    part = settle(window_over(small, "Judges", part="Prompts").page.prompting)
    assert part.edit.text() == OURS
    part.edit.discard.click()
    settle(part)
    assert part.edit.text() == prompts.shipped(NAME)
    write(part, OURS.replace("{{report}}", ""))
    assert part.edit.note.text().startswith("It lacks the placeholder  {{report}}.")
    press("Ctrl+Return")
    assert prompts.in_force(small, NAME).version == 1
    write(part, OURS)
    for key, words in (("Ctrl+PgDown", "Compares training"), ("Ctrl+PgUp", "Explains residual")):
        press(key)
        settle(part)
        assert words in part.look.sent.toPlainText()
    part.note.setText("Shorter.")
    press("Ctrl+Return", at=part.edit.field)
    settle(part)
    version = prompts.in_force(small, NAME)
    assert (version.version, version.text, version.note, version.by) == (2, OURS, "Shorter.", small.by)
    assert (cells(part.table, 1)[0], cells(part.look.table, 3)) == ("2 · ours", ["Shorter.", "–"])


@pytest.fixture
def run_replies(served, show):
    """The replies of a run of twelve judgements: four refused, four with a quote that is nowhere."""
    run = asyncio.run(judge_runs.run(served, RunRequest(JUDGE)))["run"]
    return show(served, part="Replies", run_id=str(run)).replies


def go_to(part, unit: str) -> None:
    part.list.selectRow(next(row for row, words in enumerate(cells(part.list, 2)) if words.startswith(unit)))
    settle(part)


def test_a_reply_stands_beside_what_was_made_of_it_and_the_list_is_narrowed(run_replies):
    detail = run_replies.detail
    go_to(run_replies, "Names")
    assert "Missing, not “no”." in detail.made.toPlainText()
    go_to(run_replies, "Explains")
    assert "stand nowhere in the report" in detail.made.toPlainText()
    go_to(run_replies, "Compares")
    assert "Found in the report" in detail.made.toPlainText()
    assert json.loads(detail.raw.toPlainText())["quote"] == QUOTE
    detail.tabs.setCurrentIndex(1)
    settle(run_replies)
    assert "Compares training stability" in detail.prompt.toPlainText()
    assert (run_replies.lines.rowCount(), cells(run_replies.list, 3).count("Model refused")) == (12, 4)
    assert "4 without a verdict; these never count as “no”" in run_replies.count.text()
    missing = [row for row, line in enumerate(run_replies.lines.rows) if line.value is None]
    run_replies.list.selectRow(missing[-1])
    for row in (*missing, missing[0]):
        run_replies.acts["next_open"]()
        assert run_replies.list.currentIndex().row() == row
    choose(run_replies.filters.which, NO_VERDICT)
    choose(run_replies.filters.which, "cause:refused")
    choose(run_replies.filters.system, "Beta")
    settle(run_replies)
    assert cells(run_replies.list, 1) == ["Beta", "Beta"]
    run_replies.show_all.click()
    choose(run_replies.filters.which, FLAGGED)
    choose(run_replies.filters.which, "flag:quote_missing")
    settle(run_replies)
    assert set(cells(run_replies.list, 4)) == {"Quote not found"}
    run_replies.show_all.click()
    run_replies.filters.search.setText("STABILITY of training")
    settle(run_replies)
    assert set(cells(run_replies.list, 2)) == {"Compares training stability"}


ASKED = {name: protocol for name, protocol in PROTOCOLS.items() if protocol.values}


@pytest.mark.parametrize("name", ASKED)
def test_a_verdict_is_called_the_same_on_every_page(name):
    for value in ASKED[name].scale.values:
        label = Label(id="l1", protocol=name, response_id="r1", unit_id="c1", value=value.name)
        chips = field_chips(Kind.LABELS, label)
        chips += field_words(Kind.LABELS, label, label.model_copy(update={"value": "another"}), given_up=True)
        assert [value_words(name, value.name), *(chip.words for chip in chips)] == [value.words] * 3


def test_a_verdict_of_a_later_version_is_shown_as_it_is_stored():
    assert value_words("unheard.of", "half-met") == value_words(USUAL, "half-met") == "half-met"


def test_what_did_not_come_is_said_by_its_cause_and_is_no_no():
    assert value_words(USUAL, None, "timeout") == "No answer in time"
    assert value_look(USUAL, None) != value_look(USUAL, "no")


def test_a_run_says_why_it_stands_still():
    words = [doing(line, "2 a second") for line in ({}, {"held": True}, {"paused": "Rests"})]
    assert words == ["2 a second", "Paused; no further questions are sent", "Rests"]


COLUMNS = (
    Column("Word", lambda word: word, 60),
    Column("Length", lambda word: str(len(word)), 60, number=True, tip=lambda word: f"{len(word)} letters"),
    Column("Upper", str.upper, 60, look=lambda word: ("check", "state-agreed") if word.isupper() else None),
)


def test_cells_show_words_tips_and_looks():
    model = CellsModel[str](COLUMNS)
    model.show(["one\ntwo", "B"])
    assert [model.index(0, column).data() for column in range(3)] == ["one two", "7", "ONE TWO"]
    assert "7 letters" in model.index(0, 1).data(Qt.ItemDataRole.ToolTipRole)
    icons = [model.index(row, 2).data(Qt.ItemDataRole.DecorationRole) for row in (0, 1)]
    assert [icon is None for icon in icons] == [True, False]


def test_as_many_rows_as_before_leave_the_choice_alone(qtbot):
    model = CellsModel[str](COLUMNS)
    model.show(["a", "b"])
    view = owned(qtbot, CellsTable("Words", model, stretched=2))
    view.selectRow(1)
    model.show(["c", "d"])
    assert (view.currentIndex().data(), model.place_of(lambda word: word == "d")) == ("d", 1)
