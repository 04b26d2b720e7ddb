"""Validity cards: the judge as it judged, where the labels come from, every figure with its ceiling, and no secret."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from annotator.actions.judges import judges, prompts
from annotator.actions.project.file import Project
from annotator.actions.runs import run_records
from annotator.actions.runs.judge_cases import protocol_of
from annotator.actions.sets import reviews, validation_sets
from annotator.actions.validation import validation, validity_cards
from annotator.domain.judges.judge import Review
from annotator.domain.judges.validation import Figure, Reach
from tests.judging.odd_server import OddServer
from tests.projects.attacked_project import attacked
from tests.projects.carded_project import KEY, MODEL, PLANTED, card_of, carded_project, judged
from tests.projects.refusals import expect_refusal
from tests.projects.validation_project import (
    ann,
    judge_says,
    person,
    person_says,
    strict,
    validation_project,
)
from tests.servers.served import JUDGE
from tests.storage import sql
from tests.templates import once

COVERAGE = "researcherbench.coverage"
AT = datetime(2026, 10, 2, 9, 30, tzinfo=UTC)


@once
def labelled_units(tmp_path: Path) -> Project:
    """Sixteen units; Ann says yes of Alpha, Ben too but for one, the judge misses Alpha's light criteria."""
    project = validation_project(tmp_path)
    person_says(project, "R2", ann)
    person_says(project, "R3", lambda at: "no" if at == (1, "Alpha", 2) else ann(at))
    judge_says(project, "small", strict)
    return project


PROJECT = labelled_units


def test_a_card_says_what_the_judge_was_when_it_judged(tmp_path: Path, server: OddServer) -> None:
    project = carded_project(tmp_path, server, parameters='{"temperature": 0}')
    card = card_of(project)
    judge = card.judge
    assert (card.name, judge.kind, judge.model, judge.parameters) == (
        JUDGE,
        "endpoint",
        "test-model",
        {"temperature": 0},
    )
    assert (judge.protocol, judge.values, judge.weighting) == (COVERAGE, ("yes", "no"), "by weight")
    assert (judge.together, judge.weights_shown, judge.forms) == (1, False, ("json_schema",))
    assert judge.prompt_sha256 == run_records.prompts_hash(project, protocol_of(COVERAGE).prompts)
    assert [(prompt.name, prompt.version) for prompt in judge.prompts] == [
        ("researcherbench.coverage", 1), ("researcherbench.coverage.together", 1),
    ]  # fmt: skip
    assert card.reach is Reach.HERE


def test_figures_are_those_of_the_validation_beside_the_human_ceiling_and_told_apart(
    project: Project,
) -> None:
    card = card_of(project, "small", against=("R2",))
    judge, people = card.of("judge"), card.of("people")
    # Of Alpha's eight yes four are found, nothing of Beta's is called so; Ben differs from Ann in one of sixteen.
    assert (judge.plain["recall"].value, judge.plain["precision"].value) == (0.5, 1.0)
    assert people.plain["accuracy"].value == 15 / 16
    # Alpha's heavy criteria weigh 3, its light ones 1.
    assert judge.weighted["recall"].value == 0.75
    result = validation.report(project, validation.ValidationQuery(judge="small", against=("R2",))).of(
        "small"
    )
    assert judge.plain == {name: Figure.of(one) for name, one in result.result.plain.items()}
    assert {definition.name for definition in card.definitions} == set(judge.plain)
    assert {line.by for line in card.lines} == {"all", "type", "weight", "system", "length"}
    heavy, light = (card.of("judge", "weight", f"weight {weight}") for weight in (3, 1))
    assert (heavy.plain["accuracy"].value, light.plain["accuracy"].value) == (1.0, 0.5)
    # Everything of Beta's is no: where nobody says yes, recall is undefined and says why.
    beta = card.of("judge", "system", "Beta")
    assert beta.plain["recall"].value is None
    assert beta.plain["recall"].note != ""


def test_labels_are_told_by_alias_with_a_hash_and_what_is_missing_makes_a_card_unfit(
    project: Project,
) -> None:
    small = card_of(project, "small")
    labels = small.labels
    assert (labels.source, labels.units, labels.responses, labels.items, labels.systems) == (
        "submitted",
        16,
        8,
        4,
        2,
    )
    assert [(labeller.alias, labeller.labels) for labeller in labels.labellers] == [("R2", 16), ("R3", 16)]
    assert labels.labels_sha256 != card_of(project, "small", against=("R2",)).labels.labels_sha256
    judge_says(project, "broken", lambda at: "-" if at[0] == 1 else "" if at[0] == 2 else ann(at))
    card = card_of(project, "broken")
    line = card.of("judge")
    assert (line.missing, line.missing_rate, card.unfit) == ({"invalid": 4, "not asked": 4}, 0.5, True)
    assert not small.unfit


def test_a_set_is_told_with_its_draw_its_lock_and_every_look(tmp_path: Path) -> None:
    project = validation_project(tmp_path)
    whose = (person(project, "R2").id, person(project, "R3").id)
    validation_sets.make(project, validation_sets.SetRequest("Spring", whose, size=8, seed=7))
    for alias in ("R2", "R3"):
        person_says(project, alias, ann)
    judge_says(project, "small", strict)
    validation_sets.lock(project, "Spring")
    dev = card_of(project, "small", set_name="Spring")
    assert (dev.labels.part, dev.labels.opened_at) == ("dev", ())
    assert any("not the figures of the test part" in note for note in dev.notes)
    assert dev.notes[0].startswith("May it stand in for people? ")
    assert "the alternative annotator test takes 3 people, and 2 people labelled" in dev.notes[0]
    opening = validation_sets.open_test(project, "Spring", ["small"])
    labels = card_of(project, "small", set_name="Spring", part="test", opening=opening.id).labels
    result = validation_sets.named(project, "Spring")
    assert (labels.set_name, labels.part, labels.opened_at) == ("Spring", "test", (opening.at,))
    assert (labels.draw.seed, labels.locked_at, labels.locked_sha256) == (
        7,
        result.locked_at,
        result.labels_sha256,
    )
    assert sum(labels.set_responses.values()) == 8
    expect_refusal("opened explicitly", card_of, project, "small", set_name="Spring", part="test")


def test_no_key_no_address_and_no_path_is_on_a_card(tmp_path: Path, server: OddServer) -> None:
    # What an earlier version let into its parameters; today it is refused on entry.
    project = carded_project(tmp_path, server)
    sql.alter(project, "UPDATE judge SET parameters = ?, key_env = 'PLANTED_KEY'", (PLANTED,))
    plant = "UPDATE run SET snapshot = json_set(snapshot, '$.parameters', ?, '$.key_env', 'PLANTED_KEY')"
    sql.alter(project, plant, (PLANTED,))
    sql.alter(project, "UPDATE judge SET model = ?", (MODEL,))
    sql.alter(project, "UPDATE run SET snapshot = replace(snapshot, 'test-model', ?)", (MODEL,))
    sql.alter(project, "UPDATE call SET returned_model = ?", (MODEL,))
    card = card_of(project)
    assert card.judge.parameters["temperature"] == 0
    assert (card.judge.model, card.judge.returned_models) == ("judge-7b.gguf", ("judge-7b.gguf",))
    for ending in (".json", ".html"):
        text = validity_cards.save(card, tmp_path / f"card{ending}").read_text("utf-8")
        for secret in (
            KEY,
            "secret.example",
            "abcd1234efgh",
            "/home/",
            "/srv/",
            "127.0.0.1",
            "PLANTED_KEY",
            str(tmp_path),
        ):
            assert secret not in text


def test_a_key_of_the_environment_is_taken_out_wherever_it_stands(
    tmp_path: Path, server: OddServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_KEY", "quite-plain-words")
    planted = '{"user": "quite-plain-words, 127.0.0.1"}'
    project = carded_project(tmp_path, server, key_env="PLANTED_KEY", parameters=planted)
    told = str(card_of(project).judge.parameters)
    assert [secret in told for secret in ("quite-plain", "127.0.0.1")] == [False, False]


def test_the_same_content_gives_the_same_card_and_the_hash_covers_all_of_it(project: Project) -> None:
    query = validity_cards.CardQuery(judge="small")
    one, other = (validity_cards.card(project, query, made_at=AT) for _ in range(2))
    later = validity_cards.card(project, query)
    assert (one == other, one.sha256 == later.sha256) == (True, False)
    assert {**later.tree(), "made_at": 0, "sha256": 0} == {**one.tree(), "made_at": 0, "sha256": 0}
    labels = one.labels.model_copy(update={"units": 1})
    for update in ({"notes": ()}, {"app_version": "0"}, {"labels": labels}):
        assert one.model_copy(update=update).sealed().sha256 != one.sha256


def test_settings_changed_after_judging_leave_the_card_as_it_was_and_on_the_way_make_none(
    tmp_path: Path, server: OddServer
) -> None:
    project = carded_project(tmp_path, server)
    before = card_of(project).judge
    judges.change(project, judges.named(project, JUDGE).id, {"parameters": '{"temperature": 1}'})
    assert card_of(project).judge == before
    sql.alter(
        project, "DELETE FROM judgement WHERE rater_kind = 'judge' AND item_id = (SELECT min(id) FROM item)"
    )
    judged(project)
    refused = expect_refusal("different settings: request parameters", card_of, project)
    assert refused.details == ('request parameters: {}; later {"temperature":1}',)


@pytest.mark.parametrize(("first", "named"), [("p1", "p1"), ("", "none")])
def test_a_judge_that_judged_by_two_wordings_needs_one_named(
    project: Project, first: str, named: str
) -> None:
    judge_says(project, "two", lambda at: ann(at) if at[0] < 3 else "", prompt=first)
    judge_says(project, "two", lambda at: ann(at) if at[0] > 2 else "", prompt="q2")
    expect_refusal(
        rf"judged with 2 prompts, and a card covers one\. Choose one of its prompts: {named}, q2\.",
        card_of,
        project,
        "two",
    )
    card = card_of(project, "two", prompt="q")
    assert (card.judge.prompt_sha256, card.of("judge").missing) == ("q2", {"not asked": 8})
    assert card_of(project, "two", prompt=named).judge.prompt_sha256 == first
    expect_refusal("no prompt that begins with z", card_of, project, "two", prompt="z")
    (offered,) = [choice.values for choice in validity_cards.choices(project) if choice.name == "prompt"]
    assert [value for _, value in offered] == [named, "q2"]


def test_reviews_stand_apart_and_corrected_scores_beside(project: Project) -> None:
    assert card_of(project, "small").reviews is None
    waiting = reviews.queue(project, "small")[0]
    reviews.review(project, "small", waiting.place.response_id, waiting.place.unit_id, Review.AGREE)
    card = card_of(project, "small", against=("R2",))
    assert (card.reviews.accepted.value, card.reviews.said) == (1.0, {"agree": 1})
    systems = {system.system: system for system in card.corrected.systems}
    # The judge misses a light criterion of each of Alpha's items: 3/4 raw, by people everything.
    assert (systems["Alpha"].raw.value, systems["Alpha"].corrected.value) == (0.75, 1.0)


def test_a_card_tells_of_the_attacks_that_its_judge_was_put_to(sample: Project) -> None:
    query = validity_cards.CardQuery(judge="baseline")
    assert validity_cards.card(sample, query).attacks == ()
    attacked(sample, "baseline", "padding", size=6)
    (told,) = validity_cards.card(sample, query).attacks
    assert (told.name, told.failures.n) == ("padding.filler", 6)


def test_without_labels_or_verdicts_there_is_no_card_and_none_but_for_a_coordinator(project: Project) -> None:
    expect_refusal("has no judgements of this kind", card_of, project, "baseline")
    expect_refusal("There is no judge “nobody”", card_of, project, "nobody")
    project.work_as(person(project, "R2"))
    expect_refusal("Only a coordinator", card_of, project, "small")


def test_a_wording_of_ours_is_told_by_its_version(tmp_path: Path, server: OddServer) -> None:
    project = carded_project(tmp_path, server)
    prompts.write(project, COVERAGE, prompts.shipped(COVERAGE).replace("# user", "Be strict.\n\n# user"))
    sql.alter(project, "DELETE FROM judgement WHERE rater_kind = 'judge'")
    judged(project)
    (ours, shipped) = card_of(project).judge.prompts
    assert (ours.name, ours.version, shipped.version) == (COVERAGE, 2, 1)
