"""The list of judges: what each came to, its settings, its key, and what a test of it shows."""

import asyncio
import re

import pytest
from PySide6.QtWidgets import QPushButton

from annotator.actions.judges import judges, kept_keys
from annotator.actions.judging import derived_judges, judge_runs
from annotator.actions.project import people
from annotator.actions.runs import judge_cases
from annotator.domain.experts.person import Role
from annotator.gui import keys
from tests.judging.odd_server import KEY, completion, error
from tests.servers.served import JUDGE
from tests.storage import sql
from tests.windows.judges_window import cells, said_in, tick
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle


def test_the_baseline_is_there_from_the_start(small, show):
    page = show(small)
    assert cells(page.roster.table, 0) == ["baseline"]
    assert page.roster.came.isHidden()
    assert "lower bound" in page.roster.side.about.text()


def test_what_came_and_what_did_not_is_counted_apart(served, show):
    asyncio.run(judge_runs.run(served, judge_cases.RunRequest(JUDGE)))
    page = show(served)
    row = cells(page.roster.table, 0).index(JUDGE)
    assert [page.roster.model.index(row, column).data() for column in (4, 5, 6)] == ["8", "4", "not known"]
    page.roster.table.selectRow(row)
    assert cells(page.roster.came, 3) == ["4 × model refused"]
    assert cells(page.roster.came, 4) == ["4"]


def test_a_judge_is_added_by_the_keyboard_alone(small, show):
    page = show(small)
    press("Ctrl+N")
    for words, tabs in (("near", 1), ("http://127.0.0.1:9/v1", 2), ("tiny", 1)):
        type_words(words)
        press("Tab", tabs)
    press("Ctrl+Return")
    added = judges.named(small, "near")
    assert (added.base_url, added.model, added.parameters) == ("http://127.0.0.1:9/v1", "tiny", "{}")
    assert page.roster.judge() == added


def test_a_key_is_kept_outside_the_project_and_shown_to_nobody(small, show):
    page = show(small)
    page.roster.acts["new_judge"]()
    form = page.roster.side.endpoint
    for name, words in {"name": "near", "base_url": "http://127.0.0.1:9/v1", "model": "tiny"}.items():
        form.fields[name].setText(words)
    form.key.setText("sk-canary-77aa88bb99cc")
    form.keep.setCurrentIndex(form.keep.findData("session"))
    page.roster.acts["submit"]()
    assert b"sk-canary-77aa88bb99cc" not in small.path.read_bytes()
    assert form.key.text() == ""
    assert form.place.text() == "The key is kept until Goldsmith is closed."
    form.forget.click()
    assert form.place.text().startswith("No key is stored")


def test_a_provider_is_proposed_with_what_it_wants_and_no_key_goes_to_it(small, show):
    page = show(small)
    page.roster.acts["new_judge"]()
    form = page.roster.side.endpoint
    azure = next(
        act for act in form.usual.menu().actions() if act.text().startswith("Azure OpenAI by deployment")
    )
    azure.trigger()
    assert (form.key_env.text(), "AZURE_OPENAI_API_KEY" in form.place.text()) == ("", True)
    form.fields["name"].setText("azure")
    form.fields["model"].setText("gpt")
    page.roster.acts["submit"]()
    assert "still has RESOURCE in it" in page.window().messages.text()
    form.fields["base_url"].setText("https://mine.openai.azure.com/openai/deployments/gpt/chat/completions")
    for wrong in ("api-key: x", '["x"]', '{"api-key": "9f8e7d6c5b4a3f2e"}', '{"x": 1}'):
        form.sent["headers"].setText(wrong)
        page.roster.acts["submit"]()
        assert [judge.name for judge in judges.all_of(small)] == ["baseline"]
    form.sent["headers"].setText('{"api-key": "{key}", "x-gateway": "{GATEWAY}"}')
    page.roster.acts["submit"]()
    added = judges.named(small, "azure")
    assert added.base_url == "https://mine.openai.azure.com/openai/deployments/gpt"
    assert added.asked.headers == {"api-key": "{key}", "x-gateway": "{GATEWAY}"}
    assert added.asked.query == {"api-version": "2024-10-21"}
    # What the person has typed beside the address may go there, and nothing else.
    assert [one.key for one in kept_keys.grants()] == ["GATEWAY"]
    assert form.sent["query"].text() == '{"api-version": "2024-10-21"}'
    form.sent["headers"].setText('{"api-key": "{key}", "x-gateway": "{OTHER}"}')
    page.roster.acts["submit"]()
    assert [one.key for one in kept_keys.grants()] == ["GATEWAY", "OTHER"]


def test_an_address_that_is_none_is_refused_in_words(small, show):
    page = show(small)
    page.roster.acts["new_judge"]()
    for name, words in {"name": "odd", "base_url": "ftp://somewhere", "model": "m"}.items():
        page.roster.side.endpoint.fields[name].setText(words)
    page.roster.acts["submit"]()
    assert "not an http address" in page.window().messages.text()
    assert len(judges.all_of(small)) == 1
    assert page.roster.side.endpoint.fields["name"].text() == "odd"


def test_a_judge_that_has_judged_keeps_its_model(served, show):
    asyncio.run(judge_runs.run(served, judge_cases.RunRequest(JUDGE)))
    page = show(served, judge=JUDGE)
    form = page.roster.side.endpoint
    assert form.fields["model"].isReadOnly()
    assert not form.fields["parameters"].isReadOnly()
    assert "add another judge" in form.locked.text()


def test_what_a_unit_weighs_is_told_where_that_is_wanted(served, show):
    page = show(served, judge=JUDGE)
    page.roster.side.endpoint.weights.setChecked(True)
    assert page.roster.bar.buttons["submit"].isEnabled()
    press("Ctrl+Return")
    assert judges.named(served, JUDGE).asked.weights_shown
    assert not page.roster.bar.buttons["submit"].isEnabled()


def test_limits_of_the_endpoint_are_kept_with_the_judge(served, show):
    page = show(served, judge=JUDGE)
    page.roster.side.endpoint.calls.setValue(30)
    page.roster.side.endpoint.tokens.setValue(40_000)
    press("Ctrl+Return")
    asked = judges.named(served, JUDGE).asked
    assert (asked.requests_per_minute, asked.tokens_per_minute) == (30, 40_000)
    assert not page.roster.side.dirty


@pytest.mark.usefixtures("real_children")
def test_a_test_shows_all_that_the_endpoint_can_do(served, server, show, qtbot):
    def answer(body, _number):
        said = body["messages"][-1]["content"]
        first, last = re.findall(r"(?:amber|cobalt)-[0-9a-f]{6}", said)
        return completion(f'{{"first_word": "{first}", "last_word": "{last}"}}')

    server.answer = answer
    page = show(served, judge=JUDGE)
    press("Ctrl+T")
    assert not page.roster.bar.buttons["test_judge"].isEnabled()
    probe = page.roster.side.probe
    qtbot.waitUntil(lambda: probe.state.words() not in ([], ["Asking…"]))
    assert probe.state.words() == ["Answers"]
    for words in ("JSON with a schema", "both ends arrive", "test-model-2026", "100 tokens", "not known"):
        assert words in said_in(probe)
    assert "first_word" in probe.raw.toPlainText()
    assert page.roster.bar.buttons["test_judge"].isEnabled()


def test_a_judge_that_does_not_answer_says_why_and_never_its_key(small, server, show, qtbot):
    server.script(error(401, f"Wrong key {KEY}."))
    judges.add(small, "locked", base_url=server.url, model="tiny", key_env="GOLDSMITH_TEST_KEY")
    kept_keys.remember_key(small, "locked", KEY, session_only=True)
    page = show(small, judge="locked")
    page.roster.acts["test_judge"]()
    probe = page.roster.side.probe
    qtbot.waitUntil(lambda: probe.state.words() not in ([], ["Asking…"]))
    assert probe.state.words() == ["Not usable like this"]
    assert "Traceback" not in said_in(probe)
    assert KEY not in said_in(probe) + probe.raw.toPlainText()
    kept_keys.forget_key(small, "locked")


def test_a_vote_is_made_of_those_that_are_ticked(served, show):
    page = show(served)
    press("Ctrl+Shift+V")
    type_words("panel")
    tick(page.roster.side.vote.members, "baseline", JUDGE)
    assert "2 judges" in page.roster.side.vote.words.text()
    press("Ctrl+Return")
    assert derived_judges.members(served, judges.named(served, "panel")) == ["baseline", JUDGE]
    assert "baseline, distant" in page.roster.side.about.text()


def test_a_retired_judge_can_be_brought_back(served, show):
    page = show(served, judge=JUDGE)
    press("Ctrl+Backspace")
    assert cells(page.roster.table, 0) == ["baseline"]
    page.roster.answer._act.click()
    assert cells(page.roster.table, 0) == ["baseline", JUDGE]


def test_the_baseline_cannot_be_retired(small, show):
    page = show(small)
    press("Ctrl+Backspace")
    assert not page.roster.bar.buttons["retire_judge"].isEnabled()
    assert cells(page.roster.table, 0) == ["baseline"]


def test_names_in_any_script_are_shown_as_they_are(small, show):
    names = ["حكم طويل الاسم جدا", "評価者・研究報告書の基準を一つずつ確かめる者", "<b>bold</b>"]
    for name in names:
        judges.add(small, name, base_url="http://127.0.0.1:9/v1", model="m")
    page = show(small, judge="<b>bold</b>")
    assert set(cells(page.roster.table, 0)) == {"baseline", *names}
    assert page.roster.side.title.text() == "<b>bold</b>"


def test_whoever_labels_blind_is_shown_no_judge(small, show):
    people.add_person(small, "Ada", (Role.ANNOTATOR,))
    small.work_as(people.people(small)[1])
    page = show(small)
    assert page.body.currentWidget() is page.denied
    press("Alt+3")
    settle(page)
    assert page.body.currentWidget() is page.denied
    assert page.made == {}, "no part is made for whoever may not see it"


def test_the_parts_are_reached_by_keys_and_keys_are_listed(served, show):
    page = show(served)
    for key, name in (("Alt+2", "Runs"), ("Alt+5", "Prompts"), ("Alt+3", "Replies"), ("F6", "Compare")):
        press(key)
        settle(page)
        assert page.tabs.tabText(page.tabs.currentIndex()) == name
    press("F1")
    assert page.window().page.NAME == "Keys"


def test_the_key_that_retires_deletes_a_word_in_a_field(served, show):
    page = show(served, judge=JUDGE)
    page.roster.side.endpoint.fields["parameters"].setText("two words")
    page.roster.side.endpoint.fields["parameters"].setFocus()
    press("Ctrl+Backspace")
    assert page.roster.side.endpoint.fields["parameters"].text() == "two "
    assert JUDGE in cells(page.roster.table, 0)


def test_where_to_order_a_run_is_said_with_the_key_as_it_is(small, show):
    page = show(small)
    assert "(Alt+2)" in page.roster.nothing.text()
    keys.rebind("judges_runs", "Ctrl+Alt+2")
    page.rebind()
    assert "(Ctrl+Alt+2)" in page.roster.nothing.text()
    keys.restore_all()


def test_a_key_that_a_file_names_is_shown_with_its_address_allowed_and_withdrawn(
    served, server, show, qtbot, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("AWS_SECRET", KEY)
    with served.store.write():
        sql.alter(served, "UPDATE judge SET key_env = 'AWS_SECRET' WHERE name = ?", [JUDGE])
    page = show(served, judge=JUDGE)
    side, messages = page.roster.side, page.window().messages
    for word in ("AWS_SECRET", server.url.removesuffix("/v1"), "not allowed"):
        assert word in side.endpoint.place.text()
    page.roster.acts["test_judge"]()
    assert not side.testing
    assert f"keys allow AWS_SECRET {server.url.removesuffix('/v1')}" in messages.text()
    assert server.headers == []
    messages._act.click()
    page.roster.acts["test_judge"]()
    qtbot.waitUntil(lambda: not side.testing and bool(server.headers))
    assert KEY in str(server.headers)
    side.endpoint.show_place()
    assert "in the environment variable AWS_SECRET" in side.endpoint.place.text()
    side.allowed.fill()
    settle(page)
    (withdraw,) = (button for button in side.allowed.findChildren(QPushButton) if button.isVisible())
    withdraw.click()
    assert "not allowed" in side.endpoint.place.text()
    assert kept_keys.grants() == []
    assert side.allowed.isHidden()
    side.endpoint.allow.click()
    assert kept_keys.key_of(served, judges.named(served, JUDGE)) == KEY
    assert not side.allowed.isHidden()
