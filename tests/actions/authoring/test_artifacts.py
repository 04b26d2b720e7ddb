"""What experts do to artifacts, revision by revision."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from annotator.actions.assignments import submitting
from annotator.actions.authoring import artifacts
from annotator.actions.items import items
from annotator.actions.project import drafts, people
from annotator.actions.project.file import Project
from annotator.actions.project.people import new_project
from annotator.actions.undo import history, recovering
from annotator.domain.experts.person import Person, Role
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.texts.canonical import canonical_json, sha256
from annotator.domain.texts.change import Change
from annotator.domain.texts.refusal import Refusal
from tests.storage import sql


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    project = new_project(tmp_path / "p.goldsmith")
    items.add(project, "How do catalysts split water?")
    yield project
    project.close()


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


def another(project: Project, *roles: Role) -> Person:
    added = people.add_person(project, "Other", roles or (Role.ANNOTATOR,)).subject
    other = next(person for person in people.people(project) if person.id == added)
    project.work_as(other)
    return other


def test_a_document_read_back_is_of_its_own_class(project: Project, rubric: str) -> None:
    read = artifacts.read(project, rubric)
    assert isinstance(read.document, Rubric)
    assert read.document.units[0].weight == 2


def test_an_artifact_that_is_not_there_is_a_key_error(project: Project) -> None:
    with pytest.raises(KeyError):
        artifacts.read(project, "none")


def test_a_second_artifact_of_a_kind_for_an_item_is_refused(project: Project, rubric: str) -> None:
    with pytest.raises(Refusal, match="already have a rubric"):
        artifacts.start(project, items.ids(project)[0], Kind.RUBRIC)
    artifacts.start(project, items.ids(project)[0], Kind.PLAN)


def test_units_are_added_below_another_or_at_the_end(project: Project, rubric: str) -> None:
    artifacts.add_unit(project, rubric, after="a", id="x")
    artifacts.add_unit(project, rubric, id="y")
    assert order(project, rubric) == "axbcy"


@pytest.mark.parametrize(("by", "wanted"), [(1, "acb"), (-1, "bac"), (99, "acb"), (-99, "bac")])
def test_a_unit_moves_no_further_than_the_ends(project: Project, rubric: str, by: int, wanted: str) -> None:
    artifacts.move_unit(project, rubric, "b", by)
    assert order(project, rubric) == wanted


def test_a_removed_unit_stays_in_earlier_revisions(project: Project, rubric: str) -> None:
    artifacts.remove_unit(project, rubric, "b")
    newest, first = artifacts.revisions(project, rubric)
    assert order(project, rubric) == "ac"
    assert [unit["id"] for unit in first.content["units"]] == ["a", "b", "c"]
    assert newest.verb == "retire unit"


def test_a_change_tells_the_revision_before_and_after(project: Project, rubric: str) -> None:
    change = artifacts.change_unit(project, rubric, "a", text="Compares a", weight=3)
    newest, first = artifacts.revisions(project, rubric)
    assert change.before == {"revision": 1, "sha256": first.sha256}
    assert change.after == {"revision": 2, "sha256": newest.sha256}
    assert (change.by, newest.by, newest.verb) == (project.by, project.by, "change text, weight")


def test_a_list_of_revisions_needs_no_document_and_one_document_no_other(
    project: Project, rubric: str
) -> None:
    artifacts.change_unit(project, rubric, "a", text="Compares a")
    artifacts.remove_unit(project, rubric, "b")
    whole, lines = artifacts.revisions(project, rubric), artifacts.revision_lines(project, rubric)
    told = [(one.id, one.number, one.sealed, one.by, one.at, one.verb) for one in whole]
    assert told == [(one.id, one.number, one.sealed, one.by, one.at, one.verb) for one in lines]
    assert artifacts.revisions(project, rubric, (2,)) == [one for one in whole if one.number == 2]


def test_revisions_are_chained_from_the_first(project: Project, rubric: str) -> None:
    artifacts.change_unit(project, rubric, "a", text="Compares a")
    submitting.seal(project, rubric)
    link = ""
    for revision in reversed(artifacts.revisions(project, rubric)):
        assert revision.sha256 == sha256(canonical_json(revision.content))
        link = chain(link, revision.sha256)
        assert revision.chain == link


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"weight": 4}, "The weight does not fit"),
        ({"text": "x" * 20_001}, "The text does not fit"),
        ({"text": "nul \0"}, "The text does not fit"),
        ({"colour": "red"}, "The colour does not fit"),
        ({"id": "z"}, "id never changes"),
    ],
)
def test_a_value_that_does_not_fit_is_refused_and_nothing_written(
    project: Project, rubric: str, fields: dict[str, object], told: str
) -> None:
    with pytest.raises(Refusal, match=told):
        artifacts.change_unit(project, rubric, "a", **fields)
    assert len(artifacts.revisions(project, rubric)) == 1


def test_a_unit_that_is_gone_cannot_be_changed(project: Project, rubric: str) -> None:
    artifacts.remove_unit(project, rubric, "a")
    with pytest.raises(Refusal, match="no longer exists"):
        artifacts.change_unit(project, rubric, "a", text="late")


def no_changes(project: Project, rubric: str) -> list[Change]:
    return [
        artifacts.change_unit(project, rubric, "a", text="Explains a"),
        artifacts.move_unit(project, rubric, "a", -1),
        artifacts.change_whole(project, rubric, remark=""),
    ]


def test_what_changes_nothing_makes_no_revision_and_cannot_be_undone(project: Project, rubric: str) -> None:
    assert [(change.seq, change.undoable) for change in no_changes(project, rubric)] == [(0, False)] * 3
    assert len(artifacts.revisions(project, rubric)) == 1


def test_a_sealed_artifact_is_edited_only_after_reopening_it(project: Project, rubric: str) -> None:
    sealed = submitting.seal(project, rubric, reason="the list is short on purpose")
    with pytest.raises(Refusal, match="is sealed"):
        artifacts.change_unit(project, rubric, "a", text="late")
    submitting.reopen(project, rubric)
    artifacts.change_unit(project, rubric, "a", text="in time")
    kept = next(r for r in artifacts.revisions(project, rubric) if r.sealed)
    assert kept.number == sealed.after["revision"]
    assert kept.content["units"][0]["text"] == "Explains a"


def test_an_empty_artifact_cannot_be_sealed(project: Project) -> None:
    plan = artifacts.start(project, items.ids(project)[0], Kind.PLAN).subject
    with pytest.raises(Refusal, match="still empty"):
        submitting.seal(project, plan)


def test_only_a_sealed_artifact_is_reopened(project: Project, rubric: str) -> None:
    with pytest.raises(Refusal, match="Only a sealed artifact"):
        submitting.reopen(project, rubric)


def test_sealing_a_consensus_leaves_it_the_consensus(project: Project, rubric: str) -> None:
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    submitting.reopen(project, rubric)
    submitting.seal(project, rubric)
    assert artifacts.read(project, rubric).state is State.CONSENSUS
    assert artifacts.revisions(project, rubric)[0].sealed


def test_a_consensus_is_changed_only_between_opening_and_sealing_it(project: Project, rubric: str) -> None:
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    before = artifacts.read(project, rubric)
    closed = "Edit consensus"
    for verb in (
        lambda: artifacts.change_unit(project, rubric, "a", text="by a stray key"),
        lambda: artifacts.add_unit(project, rubric),
        lambda: artifacts.remove_unit(project, rubric, "a"),
        lambda: artifacts.move_unit(project, rubric, "a", 1),
        lambda: artifacts.change_whole(project, rubric, remark="hm"),
        lambda: submitting.seal(project, rubric),
    ):
        with pytest.raises(Refusal, match=closed):
            verb()
    assert artifacts.read(project, rubric) == before
    assert submitting.reopen(project, rubric).verb == "edit consensus"
    artifacts.change_unit(project, rubric, "a", text="on purpose")
    submitting.seal(project, rubric)
    with pytest.raises(Refusal, match=closed):
        artifacts.change_unit(project, rubric, "a", text="late")
    with pytest.raises(Refusal, match=closed):
        history.undo(project)
    assert text_of(project, rubric, "a") == "on purpose"


def test_another_annotator_may_not_touch_it(project: Project, rubric: str) -> None:
    another(project, Role.ANNOTATOR, Role.COORDINATOR)
    with pytest.raises(Refusal, match="someone else's"):
        artifacts.change_unit(project, rubric, "a", text="mine now")
    artifacts.start(project, items.ids(project)[0], Kind.RUBRIC)


def test_a_consensus_may_be_edited_by_an_adjudicator_but_not_by_an_annotator(
    project: Project, rubric: str
) -> None:
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    another(project, Role.ANNOTATOR)
    with pytest.raises(Refusal, match="someone else's"):
        submitting.reopen(project, rubric)
    another(project, Role.ADJUDICATOR)
    submitting.reopen(project, rubric)
    artifacts.change_unit(project, rubric, "a", text="settled")
    another(project, Role.ANNOTATOR)
    with pytest.raises(Refusal, match="someone else's"):
        artifacts.change_unit(project, rubric, "a", text="unsettled")


def test_a_draft_outlives_the_program_and_becomes_a_revision(project: Project, rubric: str) -> None:
    drafts.save(project, rubric, "a", "text", "Explains alm")
    drafts.save(project, rubric, "a", "text", "Explains almost")
    reopened = Project.open(project.path)
    (change,) = recovering.recover(reopened)
    assert change.verb == "change text"
    assert text_of(reopened, rubric, "a") == "Explains almost"
    assert kept_drafts(reopened) == []
    reopened.close()


def test_a_draft_of_the_remark_is_recovered_too(project: Project, rubric: str) -> None:
    drafts.save(project, rubric, "", "remark", "On the whole")
    recovering.recover(project)
    assert artifacts.read(project, rubric).document.remark == "On the whole"
    assert kept_drafts(project) == []


def test_a_draft_that_says_what_is_there_already_is_dropped_without_a_revision(
    project: Project, rubric: str
) -> None:
    drafts.save(project, rubric, "a", "text", "Explains a")
    assert recovering.recover(project) == []
    assert kept_drafts(project) == []
    assert len(artifacts.revisions(project, rubric)) == 1


def test_a_draft_without_a_place_is_kept_and_the_others_recovered(project: Project, rubric: str) -> None:
    drafts.save(project, rubric, "b", "text", "Explains b better")
    drafts.save(project, rubric, "a", "text", "Orphaned words")
    drafts.save(project, "no artifact", "a", "text", "Other orphan")
    artifacts.remove_unit(project, rubric, "a")
    assert len(recovering.recover(project)) == 1
    assert [text for _, text in kept_drafts(project)] == ["Orphaned words", "Other orphan"]


def test_a_unit_id_may_hold_the_sign_that_parts_a_place(project: Project, rubric: str) -> None:
    artifacts.add_unit(project, rubric, id="q|1", text="Old")
    drafts.save(project, rubric, "q|1", "text", "New")
    recovering.recover(project)
    assert text_of(project, rubric, "q|1") == "New"


def test_saving_a_field_drops_only_ones_own_draft_of_it(project: Project, rubric: str) -> None:
    with project.store.write():
        sql.alter(project, "UPDATE artifact SET state = 'consensus', author_id = ''")
    first = project.by
    drafts.save(project, rubric, "a", "text", "First's words")
    second = another(project, Role.ADJUDICATOR)
    submitting.reopen(project, rubric)
    drafts.save(project, rubric, "a", "text", "Second's words")
    artifacts.change_unit(project, rubric, "a", text="Second's words")
    assert kept_drafts(project) == [(first, "First's words")]
    assert second.id != first


def test_a_draft_that_is_no_text_is_refused(project: Project, rubric: str) -> None:
    with pytest.raises(Refusal, match="half of a surrogate pair"):
        drafts.save(project, rubric, "a", "text", "cut \ud83d")


def test_a_dropped_draft_is_gone(project: Project, rubric: str) -> None:
    drafts.save(project, rubric, "a", "text", "never mind")
    drafts.forget(project, rubric, "a", "text")
    assert kept_drafts(project) == []


@pytest.mark.parametrize("text", ["سؤال بحثي", "水素を分解する", "e\u0301 é", "a\r\nb\u2028c", "👩‍🔬 " * 50])
def test_any_text_is_kept_letter_by_letter(project: Project, rubric: str, text: str) -> None:
    artifacts.change_unit(project, rubric, "a", text=text)
    assert text_of(project, rubric, "a") == text
