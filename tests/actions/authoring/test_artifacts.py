"""What experts do to artifacts, revision by revision; units that are merged, types of questions, and guidelines.

Which question is asked, which document reports are judged by, and what is known of drafts.
"""

import asyncio
import json
import zipfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import insert

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.imports import imports
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.material import model_drafts, responding
from annotator.actions.parcels import tasking, tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project, wording_hash
from annotator.actions.releases import checking, releases
from annotator.actions.results import overview
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.undo import history
from annotator.domain.common import canonical_json, counted, now, sha256
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import FORM, Person, Role, Stage
from annotator.domain.kinds.artifact import Anchor, DraftSource, Kind, State, chain
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.documents import Query, Wording
from annotator.domain.kinds.inspirations import Inspiration, Inspirations
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.gui.pages.authoring.form import fresh
from annotator.places import resources
from annotator.storage.tables import ARTIFACT, REVISION
from tests.common import expect_refusal, fixture_of
from tests.judging.odd_server import OddServer
from tests.material.bundles import change_json, found, without_manifest
from tests.projects import pairs_project as pairs
from tests.projects.adra_project import adra_project, answer
from tests.projects.pairs_project import (
    annotators,
    coordinated,
    item,
    letter_of,
    opened,
    pairs_project,
    person,
    rubrics_project,
    task_for,
    work_as,
)
from tests.projects.small_projects import PAPER, rubric as criteria
from tests.servers.writing_server import DRAFTER as JUDGE, drafting, writing
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Project:
    project = people.new_project(tmp_path / "p.goldsmith")
    items.add(project, "How do catalysts split water?")
    return project


@pytest.fixture
def rubric(project: Project) -> str:
    rubric = Rubric(units=tuple(Criterion(id=name, text=f"Explains {name}") for name in "abc"))
    return artifacts.start(project, items.ids(project)[0], Kind.RUBRIC, rubric).subject


def order(project: Project, rubric: str) -> str:
    return "".join(unit.id for unit in artifacts.read(project, rubric).document.units)


def text_of(project: Project, rubric: str, unit: str) -> str:
    return artifacts.read(project, rubric).document.unit(unit).text


def kept_drafts(project: Project) -> list[tuple[str, str]]:
    return sql.rows(project, "SELECT person_id, text FROM draft ORDER BY text")


def another(project: Project, role: Role, *more: Role) -> Person:
    added = people.known(project, people.add_person(project, "Other", (role, *more)).subject)
    project.work_as(added)
    return added


def test_a_document_is_read_back_and_one_of_a_kind(project: Project, rubric: str) -> None:
    with pytest.raises(KeyError):
        artifacts.read(project, "none")
    read = artifacts.read(project, rubric).document
    assert (type(read), read.units[0].weight) == (Rubric, 2)
    expect_refusal("already have a rubric", artifacts.start, project, items.ids(project)[0], Kind.RUBRIC)
    artifacts.start(project, items.ids(project)[0], Kind.PLAN)
    unchanged = (
        artifacts.change_unit(project, rubric, "a", text="Explains a"),
        artifacts.move_unit(project, rubric, "a", -1),
        artifacts.change_whole(project, rubric, remark=""),
    )
    assert [(change.seq, change.undoable) for change in unchanged] == [(0, False)] * 3
    assert len(artifacts.revisions(project, rubric)) == 1


def test_units_are_added_and_gone_but_stay_in_earlier_revisions(project: Project, rubric: str) -> None:
    artifacts.add_unit(project, rubric, after="a", id="x")
    artifacts.add_unit(project, rubric, id="y")
    assert order(project, rubric) == "axbcy"
    artifacts.remove_unit(project, rubric, "b")
    expect_refusal("no longer exists", artifacts.change_unit, project, rubric, "b", text="late")
    assert order(project, rubric) == "axcy"
    newest, *_, first = artifacts.revisions(project, rubric)
    assert ([unit["id"] for unit in first.content["units"]], newest.verb) == (["a", "b", "c"], "delete unit")


@pytest.mark.parametrize(("by", "wanted"), [(1, "acb"), (-1, "bac"), (99, "acb"), (-99, "bac")])
def test_a_unit_moves_no_further_than_the_ends(project: Project, rubric: str, by: int, wanted: str) -> None:
    artifacts.move_unit(project, rubric, "b", by)
    assert order(project, rubric) == wanted


def test_revisions_follow_every_change_and_are_chained(project: Project, rubric: str) -> None:
    change = artifacts.change_unit(project, rubric, "a", text="Compares a", weight=3)
    newest, first = artifacts.revisions(project, rubric)
    assert (change.before, change.after, change.by, newest.by, newest.verb) == (
        {"revision": 1, "sha256": first.sha256}, {"revision": 2, "sha256": newest.sha256},
        project.by, project.by, "change text, weight",
    )  # fmt: skip
    artifacts.change_unit(project, rubric, "a", text="Compares a")
    artifacts.remove_unit(project, rubric, "b")
    whole, lines = artifacts.revisions(project, rubric), artifacts.revision_lines(project, rubric)
    told = [(one.id, one.number, one.sealed, one.by, one.at, one.verb) for one in whole]
    assert told == [(line.id, line.number, line.sealed, line.by, line.at, line.verb) for line in lines]
    assert artifacts.revisions(project, rubric, (2,)) == [one for one in whole if one.number == 2]
    artifacts.change_unit(project, rubric, "a", text="Compares a")
    assignments.seal(project, rubric)
    link = ""
    for revision in reversed(artifacts.revisions(project, rubric)):
        assert revision.sha256 == sha256(canonical_json(revision.content))
        link = chain(link, revision.sha256)
        assert revision.chain == link


def test_a_value_that_does_not_fit_is_refused_and_nothing_written(project: Project, rubric: str) -> None:
    for fields, told in (
        ({"weight": 4}, "The weight does not fit"),
        ({"text": "x" * 20_001}, "The text does not fit"),
        ({"text": "nul \0"}, "The text does not fit"),
        ({"colour": "red"}, "The colour does not fit"),
        ({"id": "z"}, "id never changes"),
    ):
        expect_refusal(told, artifacts.change_unit, project, rubric, "a", **fields)
    assert len(artifacts.revisions(project, rubric)) == 1


def test_an_artifact_is_sealed_and_reopened(project: Project, rubric: str) -> None:
    expect_refusal("Only a submitted document", assignments.reopen, project, rubric)
    sealed = assignments.seal(project, rubric, reason="the list is short on purpose")
    expect_refusal("is submitted", artifacts.change_unit, project, rubric, "a", text="late")
    assignments.reopen(project, rubric)
    artifacts.change_unit(project, rubric, "a", text="in time")
    kept = next(r for r in artifacts.revisions(project, rubric) if r.sealed)
    assert (kept.number, kept.content["units"][0]["text"]) == (sealed.after["revision"], "Explains a")
    expect_refusal(
        "still empty",
        assignments.seal,
        project,
        artifacts.start(project, items.ids(project)[0], Kind.PLAN).subject,
    )


def test_a_consensus_is_changed_only_between_opening_and_sealing_it(project: Project, rubric: str) -> None:
    sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    before = artifacts.read(project, rubric)
    closed = "Edit consensus"
    for verb, *told in (
        (artifacts.add_unit,), (artifacts.remove_unit, "a"), (artifacts.move_unit, "a", 1), (assignments.seal,),
    ):  # fmt: skip
        expect_refusal(closed, verb, project, rubric, *told)
    expect_refusal(closed, artifacts.change_unit, project, rubric, "a", text="by a stray key")
    expect_refusal(closed, artifacts.change_whole, project, rubric, remark="hm")
    assert artifacts.read(project, rubric) == before
    assert assignments.reopen(project, rubric).verb == "edit consensus"
    artifacts.change_unit(project, rubric, "a", text="on purpose")
    assignments.seal(project, rubric)
    assert artifacts.read(project, rubric).state is State.CONSENSUS
    assert artifacts.revisions(project, rubric)[0].sealed
    expect_refusal(closed, artifacts.change_unit, project, rubric, "a", text="late")
    expect_refusal(closed, history.undo, project)
    assert text_of(project, rubric, "a") == "on purpose"


def test_a_consensus_may_be_edited_by_an_adjudicator_but_not_by_an_annotator(
    project: Project, rubric: str
) -> None:
    another(project, Role.ANNOTATOR, Role.COORDINATOR)
    expect_refusal("someone else's", artifacts.change_unit, project, rubric, "a", text="mine now")
    artifacts.start(project, items.ids(project)[0], Kind.RUBRIC)
    sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = '' WHERE id = ?", [rubric])
    another(project, Role.ANNOTATOR)
    expect_refusal("someone else's", assignments.reopen, project, rubric)
    another(project, Role.ADJUDICATOR)
    assignments.reopen(project, rubric)
    artifacts.change_unit(project, rubric, "a", text="settled")
    another(project, Role.ANNOTATOR)
    expect_refusal("someone else's", artifacts.change_unit, project, rubric, "a", text="unsettled")


def test_a_draft_without_a_place_is_kept_and_the_others_recovered(project: Project, rubric: str) -> None:
    # The id of a unit may hold the sign that parts a place.
    artifacts.add_unit(project, rubric, id="q|1", text="Old")
    artifacts.save_draft(project, rubric, "q|1", "text", "New")
    artifacts.save_draft(project, rubric, "a", "text", "Orphaned words")
    artifacts.save_draft(project, "no artifact", "a", "text", "Other orphan")
    artifacts.remove_unit(project, rubric, "a")
    assert len(history.recover(project)) == 1
    assert (text_of(project, rubric, "q|1"), [text for _, text in kept_drafts(project)]) == (
        "New", ["Orphaned words", "Other orphan"],
    )  # fmt: skip


def test_saving_a_field_drops_only_ones_own_draft_of_it(project: Project, rubric: str) -> None:
    sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    first = project.by
    artifacts.save_draft(project, rubric, "a", "text", "First's words")
    another(project, Role.ADJUDICATOR)
    assignments.reopen(project, rubric)
    artifacts.save_draft(project, rubric, "a", "text", "Second's words")
    artifacts.change_unit(project, rubric, "a", text="Second's words")
    assert kept_drafts(project) == [(first, "First's words")]


def test_drafts_are_kept_recovered_and_dropped(project: Project, rubric: str) -> None:
    cut = "a", "text", "cut \ud83d"
    expect_refusal("half of a surrogate pair", artifacts.save_draft, project, rubric, *cut)
    artifacts.save_draft(project, rubric, "a", "text", "never mind")
    artifacts.forget_draft(project, rubric, "a", "text")
    assert kept_drafts(project) == []
    artifacts.save_draft(project, rubric, "a", "text", "Explains a")
    assert history.recover(project) == []
    assert (kept_drafts(project), len(artifacts.revisions(project, rubric))) == ([], 1)
    artifacts.save_draft(project, rubric, "", "remark", "On the whole")
    artifacts.save_draft(project, rubric, "a", "text", "Explains alm")
    artifacts.save_draft(project, rubric, "a", "text", "Explains almost")
    reopened = Project.open(project.path)
    assert {change.verb for change in history.recover(reopened)} == {"change text", "note"}
    assert artifacts.read(reopened, rubric).document.remark == "On the whole"
    assert (text_of(reopened, rubric, "a"), kept_drafts(reopened)) == ("Explains almost", [])


def test_any_text_is_kept_letter_by_letter(project: Project, rubric: str) -> None:
    for text in ("سؤال بحثي", "水素を分解する", "e\u0301 é", "a\r\nb\u2028c", "👩‍🔬 " * 50):
        artifacts.change_unit(project, rubric, "a", text=text)
        assert text_of(project, rubric, "a") == text


LEAD, MORE = Anchor(quote="an open problem"), Anchor(quote="nobody knows")
DRAFT = DraftSource("d1", "judge", "model-x")
UPPER = Inspiration(
    id="a", text="It is open.", type="limitation", qualities=("challenge",), anchor=LEAD, note="one"
)
LOWER = Inspiration(
    id="b", text="Nobody knows.", type="hypothesis", qualities=("explorability", "challenge"), anchor=MORE,
    more_anchors=(LEAD,), note="two", piece=3,
)  # fmt: skip


@pytest.fixture
def merging(tmp_path: Path) -> Project:
    return pairs.work_as(pairs.pairs_project(tmp_path), "Ada")


@pytest.fixture
def own(merging: Project) -> str:
    return artifacts.start(
        merging, pairs.item(merging), Kind.INSPIRATIONS, Inspirations(units=(UPPER, LOWER))
    ).subject


def units(merging: Project, own: str) -> tuple[Inspiration, ...]:
    return artifacts.read(merging, own).document.units


def drafted_units(merging: Project, own: str) -> dict[str, DraftSource]:
    with merging.store.read() as db:
        return artifacts.of_artifacts(db, [own])[own]


def test_a_unit_joins_the_one_above_with_all_it_has(merging: Project, own: str) -> None:
    artifacts.merge_unit(merging, own, "b")
    (unit,) = units(merging, own)
    assert (unit.id, unit.text, unit.note) == ("a", "It is open. Nobody knows.", "one\ntwo")
    assert (unit.type, unit.qualities, unit.piece, unit.anchors) == (
        "limitation", ("challenge", "explorability"), 3, (LEAD, MORE),
    )  # fmt: skip
    history.undo(merging)
    assert units(merging, own) == (UPPER, LOWER)
    expect_refusal("no unit above", artifacts.merge_unit, merging, own, "a")


def test_a_point_that_joins_one_with_a_title_keeps_its_own_in_its_words(merging: Project) -> None:
    points = (
        CheckPoint(id="a", title="Rigour", text="Is it sound?"),
        CheckPoint(id="b", title="Wit", text="Is it?"),
    )
    begun = artifacts.start(merging, pairs.item(merging), Kind.CHECKLIST, Checklist(units=points)).subject
    artifacts.merge_unit(merging, begun, "b")
    (point,) = artifacts.read(merging, begun).document.units
    assert (point.title, point.text) == ("Rigour", "Is it sound? Wit: Is it?")


def test_a_unit_is_split_where_the_cursor_stands(merging: Project, own: str) -> None:
    artifacts.merge_unit(merging, own, "b")
    artifacts.split_unit(merging, own, "a", len("It is open."))
    first, second = units(merging, own)
    assert (first.id, first.text, second.text) == ("a", "It is open.", "Nobody knows.")
    assert second.id not in ("a", "b")
    assert second.qualities == first.qualities
    for at in (0, 11, 99):
        expect_refusal("half would be empty", artifacts.split_unit, merging, own, "a", at)


def test_what_was_drafted_stays_known_in_the_unit_it_joins_and_in_both_halves(
    merging: Project, own: str
) -> None:
    with merging.store.write() as db:
        artifacts.remember(merging, db, own, {"b": DRAFT})
    artifacts.merge_unit(merging, own, "b")
    assert drafted_units(merging, own)["a"] == DRAFT
    artifacts.split_unit(merging, own, "a", len("It is open."))
    assert {unit.id for unit in units(merging, own)} <= drafted_units(merging, own).keys()


FORECAST = """
## Question type: Forecast

The question asks what will be the case at a named date.

### Resolvability

Whether it will be clear at that date who was right.

- **5** – one figure of a named source decides
- **4** – a named source decides, with a little judgement
- **3** – most experts would agree
- **2** – experts would quarrel
- **1** – nobody could ever tell

### Key insights

- base rates, and what speaks for leaving them
"""


typed = fixture_of(pairs_project, 0)


def publish(typed: Project, more: str) -> None:
    settings.write(typed, Stage.SELECTION, settings.shipped(Stage.SELECTION) + more)


def test_letter_3_three_types_come_with_definitions_dimensions_and_five_anchors_each() -> None:
    result = settings.shipped_types()
    assert [len(one.dimensions) for one in result] == [4, 3, 4]
    assert all(one.definition and len(one.focus) >= 5 for one in result)
    anchors = [words for one in result for each in one.dimensions for words in each.anchors.values()]
    assert len(anchors) == len(set(anchors)) == 11 * 5


def test_letter_3_a_type_that_could_not_be_rated_is_not_published(typed: Project) -> None:
    for cut, more, why in (
        ("- **3** – most experts would agree\n", "", "lacks its definition, or one of the points"),
        ("The question asks what will be the case at a named date.", "", "without a name or a def"),
        ("Forecast", "Literature Review", "there twice"),
        (FORECAST, "\n## Question type: Riddle\n\nIt has an answer.\n", "no dimension to rate it on"),
    ):
        expect_refusal(why, publish, typed, FORECAST.replace(cut, more))
        assert settings.current(typed, Stage.SELECTION) is None


def test_letter_3_a_fourth_type_is_a_section_shown_rated_drafted_by_and_released(
    typed: Project, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    settings.write(typed, Stage.SELECTION, "# Selection\n\nBe strict.")
    # A guideline without types leaves those that are shipped.
    assert settings.types(typed) == settings.shipped_types()
    publish(typed, FORECAST)
    forecast = settings.types(typed)[-1]
    assert (forecast.name, forecast.focus) == ("Forecast", ("base rates, and what speaks for leaving them",))
    assert [unit.text for unit in fresh(Kind.SELECTION, forecast).units] == ["Resolvability"]
    item = items.add(typed, "How many will there be in 2030?", "Forecast").subject
    (tmp_path / "almanac.md").write_text("There were nine.", "utf-8")
    items.add_source(typed, item, tmp_path / "almanac.md")
    (at_hand,) = materials.each(typed, materials.MaterialRequest((), sources=True), [item])
    assert (at_hand.item.question_type, at_hand.own.types[-1]) == ("Forecast", forecast)
    releases.export(typed, tmp_path / "release")
    with closing(people.new_project(tmp_path / "again.goldsmith")) as again:
        imports.run(again, "goldsmith", [tmp_path / "release"])
        assert settings.types(again)[-1] == forecast


@pytest.fixture
def guided(tmp_path: Path) -> Project:
    guided = people.new_project(tmp_path / "p.goldsmith")
    for number in range(2):
        items.add(guided, f"Question {number}")
    return guided


def stamps(guided: Project, artifact_id: str) -> list[tuple[str, str]]:
    question = "SELECT guideline, form FROM revision WHERE artifact_id = ? ORDER BY number"
    return sql.rows(guided, question, [artifact_id])


def written(guided: Project, item: int, kind: Kind = Kind.RUBRIC) -> str:
    item_id = items.ids(guided)[item]
    return artifacts.start(
        guided, item_id, kind, (criteria(item_id, 2) if kind is Kind.RUBRIC else None)
    ).subject


def test_at_first_the_shipped_text_of_each_stage_is_in_force(guided: Project) -> None:
    for stage in (stage for stage in Stage if stage is not Stage.ADJUDICATION):
        shipped = (resources() / "guidelines" / f"{stage.value}.md").read_text("utf-8")
        assert (settings.text_in_force(guided, stage), settings.current(guided, stage)) == (shipped, None)
        with guided.store.read() as db:
            assert settings.version_in_force(db, stage) == "1"


def test_guidelines_have_versions(guided: Project) -> None:
    assert settings.text_in_force(guided, Stage.ADJUDICATION) == ""
    expect_refusal(
        "already the current", settings.write, guided, Stage.RUBRIC, settings.shipped(Stage.RUBRIC)
    )
    settings.write(guided, Stage.RUBRIC, "One claim each.")
    change = settings.write(guided, Stage.RUBRIC, "One claim each. 不要含糊")
    assert (change.kind, change.after["version"], change.undoable) == ("guideline", 3, False)
    versions = settings.versions(guided, Stage.RUBRIC)
    assert [(one.version, one.text, one.by) for one in versions] == [
        (2, "One claim each.", guided.by),
        (3, "One claim each. 不要含糊", guided.by),
    ]
    assert (settings.current(guided, Stage.RUBRIC), settings.text_in_force(guided, Stage.RUBRIC)) == (
        versions[-1], "One claim each. 不要含糊",
    )  # fmt: skip
    assert settings.current(guided, Stage.PLAN) is None


def test_a_text_that_does_not_fit_is_refused(guided: Project) -> None:
    for text, told in (
        ("", "empty"), (" \n", "empty"), ("nul \0", "does not fit"), ("x" * 200_001, "does not fit"),
    ):  # fmt: skip
        expect_refusal(told, settings.write, guided, Stage.RUBRIC, text)
    assert settings.versions(guided, Stage.RUBRIC) == []


def test_every_revision_bears_the_version_of_its_stage_in_force_then(guided: Project) -> None:
    artifact_id = written(guided, 0)
    # Another opening of the file counts at once.
    settings.write(Project.open(guided.path), Stage.RUBRIC, "Two claims each.")
    artifacts.change_unit(guided, artifact_id, f"{items.ids(guided)[0]}/c1", text="Explains it anew")
    assert (stamps(guided, artifact_id), stamps(guided, written(guided, 0, Kind.PLAN))) == (
        [("1", FORM), ("2", FORM)],
        [("1", FORM)],
    )


def test_answers_given_under_older_text_are_listed_until_they_are_given_again(guided: Project) -> None:
    coordinator = people.someone(guided)
    sealed, draft = written(guided, 0), written(guided, 1)
    assignments.seal(guided, sealed)
    ada = another(guided, Role.ANNOTATOR)
    written(guided, 1)
    assert settings.stale(guided) == []
    guided.work_as(coordinator)
    settings.write(guided, Stage.RUBRIC, "New text.")
    result = [(one.item_key, one.stage, one.state, one.then, one.now) for one in settings.stale(guided)]
    assert result == [
        ("1", Stage.RUBRIC, State.SEALED, "1", "2"),
        *[("2", Stage.RUBRIC, State.DRAFT, "1", "2")] * 2,
    ]
    # Annotators are told of their own answers alone.
    guided.work_as(ada)
    assert [one.person_id for one in settings.stale(guided)] == [ada.id]
    guided.work_as(coordinator)
    assignments.seal(guided, draft)
    assignments.reopen(guided, sealed)
    assert [one.person_id for one in settings.stale(guided)] == [ada.id]
    sql.alter(guided, "UPDATE revision SET form = '0' WHERE artifact_id = ?", [draft])
    old = next(one for one in settings.stale(guided) if one.artifact_id == draft)
    assert (old.form_then, old.form_now, old.then, old.now) == ("0", FORM, "2", "2")


def test_imported_gold_and_consensus_and_items_set_aside_are_not_listed(guided: Project) -> None:
    imported, agreed = written(guided, 0), written(guided, 1)
    settings.write(guided, Stage.RUBRIC, "New text.")
    sql.alter(guided, "UPDATE artifact SET author_id = '' WHERE id = ?", [imported])
    items.change(guided, items.ids(guided)[1], retired=True)
    assert settings.stale(guided) == []
    history.undo(guided)
    sql.alter(guided, "UPDATE artifact SET state = 'consensus' WHERE id = ?", [agreed])
    assert settings.stale(guided) == []


TITLE = "Question 1: how is evidence attributed?"
FIRST = "How do long answers say which passage bears out which claim?"
SECOND = "Which ways of attributing evidence do experts trust, and why?"


def query(*wordings: str, prefix: str) -> Query:
    return Query(units=tuple(Wording(id=f"{prefix}{n}", text=text) for n, text in enumerate(wordings)))


@pytest.fixture
def asked(tmp_path: Path) -> Project:
    """One item that a report was written on before both experts put its query."""
    asked = pairs.pairs_project(tmp_path)
    pairs.add_report(asked)
    pairs.submit(asked, {"Ada": query(FIRST, prefix="a"), "Ben": query(SECOND, prefix="b")})
    return asked


def settle(asked: Project, keep: str) -> None:
    stage = pairs.opened(asked, Stage.QUERY)
    for row in adjudicating.sheet(asked, stage).rows:
        letter = next((letter for letter, unit in row.units.items() if unit.text == keep), None)
        ruling.rule(asked, row.ruling.id, letter or "drop", reason=Reason.WORDING)
    ruling.close(asked, stage)
    pairs.work_as(asked, "Cora")


def test_letter_1_a_settled_query_is_the_question_and_another_keeps_the_working_title(
    asked: Project,
) -> None:
    result = items.read(asked, pairs.item(asked))
    assert (result.question, result.working_title) == (TITLE, "")
    assert annotating.answered_otherwise(asked) == []
    settle(asked, FIRST)
    ruling.reopen(asked, pairs.opened(asked, Stage.QUERY), "The other is broader.")
    settle(asked, SECOND)
    result = items.read(asked, pairs.item(asked))
    assert (result.question, result.working_title) == (SECOND, TITLE)
    assert sql.rows(asked, "SELECT asked FROM response") == [(wording_hash(TITLE),)]
    assert items.ids(asked, items.Filter(words="trust")) == [result.id]
    assert checking.check(asked).problems == []
    expect_refusal("query of item 1 is settled", items.change, asked, result.id, question="Something else?")


def test_letter_1_a_response_to_another_wording_is_flagged_in_the_results(tmp_path: Path) -> None:
    with closing(adra_project(tmp_path, questions=2)) as asked:
        answer(asked, items.ids(asked)[0], "Beta", latency_s=2.0)
        items.change(asked, items.ids(asked)[1], question="What do reports leave out?")
        told = [words for sheet in overview.sheets(overview.report(asked)) for words in sheet.notes]
        assert [words for words in told if "another wording" in words] == [
            "1 response to another wording of the question than is asked now: item 2 (Alpha)."
        ]
        history.undo(asked)
        assert annotating.answered_otherwise(asked) == []


def test_letter_1_a_model_is_sent_the_settled_wording_and_its_report_says_so(asked: Project) -> None:
    settle(asked, SECOND)
    with writing() as server:
        writer = judges.prepared(
            asked, "Scribe", judges.WriterSettings(base_url=server.url, model="test-model")
        )
        asyncio.run(
            responding.run(
                asked, RunRequest(writer.name, responding.protocol_name(), systems=("Scribe",), timeout_s=5.0)
            )
        )
        sent = str(server.bodies[0]["messages"])
    assert [words in sent for words in (SECOND, TITLE)] == [True, False]
    of_system = "SELECT asked FROM response r JOIN system s ON s.id = r.system_id WHERE s.name = 'Scribe'"
    assert sql.rows(asked, of_system) == [(wording_hash(SECOND),)]
    assert {system for _, system in annotating.answered_otherwise(asked)} == {"Canary-System-9000"}


def test_letter_1_a_release_asks_the_wording_and_comes_back_to_the_byte(
    asked: Project, tmp_path: Path
) -> None:
    settle(asked, SECOND)
    releases.export(asked, tmp_path / "one")
    path = tmp_path / "one" / "items.json"
    (item,) = json.loads(path.read_text("utf-8"))
    assert (item["question"], item["working_title"]) == (SECOND, TITLE)
    imports.run(asked, "goldsmith", [tmp_path / "one"])
    with closing(people.new_project(tmp_path / "again.goldsmith", asked.title)) as again:
        imports.run(again, "goldsmith", [tmp_path / "one"])
        releases.export(again, tmp_path / "two")
        assert len(annotating.answered_otherwise(again)) == 1
    assert found(tmp_path / "one") == found(tmp_path / "two")
    # An older release with a settled query has the working title for its question.
    without_manifest(tmp_path / "one")
    change_json(path, lambda tree: tree[0].update(question=TITLE, working_title=""))
    with closing(people.new_project(tmp_path / "older.goldsmith")) as older:
        imports.run(older, "goldsmith", [tmp_path / "one"])
        (result,) = (items.read(older, item_id) for item_id in items.ids(older))
    assert (result.question, result.working_title) == (SECOND, TITLE)


CANARY = "Canary of a draft"


@pytest.fixture
def server() -> Iterator[OddServer]:
    with drafting() as server:
        yield server


@pytest.fixture
def asking(tmp_path: Path, server: OddServer) -> Project:
    """Ada and Ben may write the rubric of an item with a source; Cora works."""
    asking = work_as(pairs_project(tmp_path), "Cora")
    add_source(asking, tmp_path)
    judges.add(asking, JUDGE, base_url=server.url, model="test-model")
    return asking


def add_source(asking: Project, folder: Path) -> None:
    paper = folder / "paper.md"
    paper.write_text(PAPER, "utf-8")
    items.add_source(asking, items.ids(asking)[0], paper)


def drafted(asking: Project, units: int, kind: Kind = Kind.RUBRIC, judge: str = JUDGE) -> str:
    """Whoever works asks for a draft of the first item and takes so many units of it; the document's id."""
    key = items.read(asking, items.ids(asking)[0]).key
    asyncio.run(model_drafts.run(asking, RunRequest(judge, model_drafts.protocol_name(kind), items=(key,))))
    result = model_drafts.proposals(asking, items.ids(asking)[0], kind)[0]
    return model_drafts.take(asking, result.id, [unit.id for unit in result.document.units[:units]]).subject


def both_submit(asking: Project, ada: int = 2, ben: int = 1) -> None:
    made = {name: drafted(work_as(asking, name), units) for name, units in (("Ada", ada), ("Ben", ben))}
    for name, artifact_id in made.items():
        artifacts.add_unit(
            work_as(asking, name), artifact_id, text=f"Discusses what {name} alone has thought of."
        )
        assignments.seal(asking, artifact_id)
    work_as(asking, "Cora")


def test_agreement_says_when_one_model_drafted_for_both_and_the_adjudicator_is_not_told(
    asking: Project,
) -> None:
    both_submit(asking)
    # Ada is A or B as her id happens to be lower or not.
    a, b = (2, 1) if person(asking, "Ada").id < person(asking, "Ben").id else (1, 2)
    words = f"{counted(a, 'unit')} of A and {b} of B came from one model's drafts (test-model)"
    (agreement,) = assignments.of_item(asking, item(asking))
    assert all(one.note.endswith(words) for pair in agreement.pairs for one in pair.figures)
    told = repr(adjudicating.sheet(asking, opened(asking)))
    assert not [words for words in (artifacts.COMMON, "test-model") if words in told]


@pytest.mark.parametrize(
    ("a", "b", "words"),
    [
        ({}, {"u": DraftSource("d", "j", "m")}, ""),
        ({"t": DraftSource("d1", "j", "m1")}, {"u": DraftSource("d2", "k", "m2")}, ""),
        (
            {"t": DraftSource("d", "j", "m")},
            {"u": DraftSource("d", "j", "m"), "v": DraftSource("e", "j", "m")},
            "1 unit of A and 1 of B came from one model's draft, the same for both",
        ),
        (
            {"t": DraftSource("d1", "j", "")},
            {"u": DraftSource("d2", "j", "")},
            "1 unit of A and 1 of B came from one model's drafts (j)",
        ),
    ],
    ids=["one side", "two models", "one draft", "the baseline"],
)
def test_the_note_tells_one_draft_from_two_of_one_model(
    a: dict[str, DraftSource], b: dict[str, DraftSource], words: str
) -> None:
    assert artifacts.note(a, b) == words


def test_a_release_says_how_many_units_of_each_document_were_drafted(asking: Project, tmp_path: Path) -> None:
    both_submit(asking)
    adjudication = opened(asking)
    ada = letter_of(asking, adjudication, "Ada")
    for row in adjudicating.sheet(asking, adjudication).rows:
        said = "both" if row.ruling.unanimous else ada if ada in row.units else "drop"
        ruling.rule(asking, row.ruling.id, said, reason=Reason.SCOPE, rationale="So.")
    ruling.close(asking, adjudication)
    releases.export(work_as(asking, "Cora"), tmp_path / "out")
    of = {
        one["id"]: (one["state"], len(one["document"]["units"]))
        for one in json.loads((tmp_path / "out/artifacts/rubric.json").read_text("utf-8"))
    }
    counts = json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))["drafted"]
    # Ada took 2 of her 3, Ben 1 of his 2; the consensus has the one both took and Ada's other two.
    assert {of[name]: count for name, count in counts.items()} == {
        ("consensus", 3): 2,
        ("sealed", 2): 1,
        ("sealed", 3): 2,
    }
    assert "| rubric | consensus | 2 | 3 |" in (tmp_path / "out/README.md").read_text("utf-8")


def test_a_release_without_drafts_says_nothing_and_none_leaves(asking: Project, tmp_path: Path) -> None:
    releases.export(asking, tmp_path / "out")
    assert "drafted" not in json.loads((tmp_path / "out/manifest.json").read_text("utf-8"))
    assignments.seal(asking, drafted(work_as(asking, "Ada"), 1))
    releases.export(work_as(asking, "Cora"), tmp_path / "out")
    left = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"Explains why deep plain networks" in left
    # The units that nobody took.
    assert b"adds to its output" not in left


def held(path: Path) -> bytes:
    """All that a package holds, unpacked and as it lies in the file."""
    with zipfile.ZipFile(path) as package:
        return b"".join(package.read(name) for name in package.namelist()) + path.read_bytes()


def test_a_task_holds_no_draft_of_anybodys(tmp_path: Path, server: OddServer) -> None:
    asking = coordinated(tmp_path / "home")
    add_source(asking, tmp_path)
    judges.add(asking, JUDGE, base_url=server.url, model=CANARY)
    coordinator, raters = asking.person, annotators(asking)
    for whoever in (coordinator, *raters):
        asking.work_as(whoever)
        drafted(asking, 1)
    asking.work_as(coordinator)
    for one in raters:
        content = held(task_for(asking, one.id, tmp_path / one.alias)).decode("utf-8", "replace")
        assert PAPER.splitlines()[0] in content
        assert not [
            words for words in (CANARY, "Explains why deep plain", "残差连接如何") if words in content
        ]


def test_what_was_drafted_on_an_annotators_computer_is_known_when_it_comes_back(
    tmp_path: Path, server: OddServer
) -> None:
    asking = coordinated(tmp_path / "home")
    add_source(asking, tmp_path)
    ana, _ = annotators(asking)
    theirs = tasking.take_task(task_for(asking, ana.id, tmp_path / "ana")).project
    judges.add(theirs, JUDGE, base_url=server.url, model="test-model")
    assignments.seal(theirs, drafted(theirs, 2))
    path = tray.work(theirs).path
    theirs.close()
    # What she did not take stays with her.
    content = held(path).decode("utf-8", "replace")
    assert [words in content for words in ("Explains why deep plain", "残差连接如何")] == [True, False]
    for _ in range(2):
        unpacking.take_in(asking, [path])
    with asking.store.read() as db:
        (units,) = artifacts.of_artifacts(db).values()
    assert sorted(source.model for source in units.values()) == ["test-model", "test-model"]
    assert sql.first(asking, "SELECT count(*) FROM audit WHERE verb LIKE 'from a model%'") == (1,)


def import_rubric(asked: Project, state: State, words: str) -> str:
    """A rubric of nobody's for the first item, as an import leaves it; its id sorts before any other."""
    document = pairs.rubric(((words, 3),), "i")
    content, digest = canonical_json(document.tree()).decode(), document.sha256()
    with asked.store.write() as db:
        db.execute(
            insert(ARTIFACT).values(
                id="0", item_id=item(asked), kind="rubric", author_id="", state=state.value, revision=1
            )
        )
        db.execute(
            insert(REVISION).values(
                id="0", artifact_id="0", number=1, content=content, sha256=digest, chain=chain("", digest),
                verb="import", by="", at=now(),
            )
        )  # fmt: skip
    return words


def judged(asked: Project) -> str:
    """The words of the first criterion that the first item's reports are judged by."""
    with asked.store.read() as db:
        row = annotating.judged_rows(db, Kind.RUBRIC)[item(asked)]
    return str(json.loads(row.content)["units"][0]["text"])


def test_the_consensus_of_an_adjudicator_is_judged_by_before_one_that_was_imported(tmp_path: Path) -> None:
    asked = rubrics_project(tmp_path)
    own = "Explains how attribution ties each claim to a source"
    asked.set(annotating.UNADJUDICATED, True)
    assert judged(asked) == own
    imported = import_rubric(asked, State.SEALED, "Names what was imported")
    assert judged(asked) == imported
    asked.set(annotating.UNADJUDICATED, False)
    sql.alter(asked, "UPDATE artifact SET state = 'consensus' WHERE id = '0'")
    assert judged(asked) == imported
    adjudication = opened(asked)
    for row in adjudicating.sheet(asked, adjudication).rows:
        ruling.rule(asked, row.ruling.id, min(row.units), reason=Reason.WORDING)
    ruling.close(asked, adjudication)
    assert judged(asked) == own
