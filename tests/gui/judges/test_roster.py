"""The list of judges: what each came to, its settings, its key, and what a test of it shows."""

import re

import pytest
from PySide6.QtWidgets import QPushButton

from annotator.actions.judges import judges, kept_keys
from annotator.actions.project import people
from annotator.domain.experts.assignment import Role
from tests.judging.odd_server import KEY, completion, error
from tests.servers.served import JUDGE
from tests.storage import sql
from tests.windows.judges_window import cells, said_in
from tests.windows.labelling_keys import press, type_words
from tests.windows.settling import settle


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
    settle(page)
    # Nobody knows what it costs.
    prices = page.roster.side.endpoint.priced
    assert prices.isVisible()
    page.roster.acts["new_judge"]()
    assert not prices.isVisible()
    page.roster.side.endpoint.options.open()
    assert prices.isVisible()


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
    assert [grant.key for grant in kept_keys.grants()] == ["GATEWAY"]
    assert form.sent["query"].text() == '{"api-version": "2024-10-21"}'
    form.sent["headers"].setText('{"api-key": "{key}", "x-gateway": "{OTHER}"}')
    page.roster.acts["submit"]()
    assert [grant.key for grant in kept_keys.grants()] == ["GATEWAY", "OTHER"]


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
    assert page.body.currentWidget() is page.denied
    press("Alt+3")
    settle(page)
    assert page.body.currentWidget() is page.denied
    assert page.made == {}, "no part is made for whoever may not see it"


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
