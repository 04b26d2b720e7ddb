"""Who works in a project."""

from pathlib import Path

import pytest

from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.undo import history
from annotator.domain.experts.person import Role
from annotator.domain.texts.refusal import Refusal
from tests.projects.small_project import empty_project

PROJECT = empty_project


def names(project: Project) -> list[tuple[str, str]]:
    return [(person.name, person.alias) for person in people.people(project)]


def test_a_new_project_has_one_coordinator(project: Project) -> None:
    me = people.someone(project)
    assert (me.name, me.alias, me.roles) == ("Me", "R1", "annotator coordinator")
    assert names(project) == [("Me", "R1")]


def test_aliases_are_dealt_in_turn_around_those_that_are_taken(project: Project) -> None:
    people.add_person(project, "Ada", alias="R3")
    people.add_person(project, "Ben")
    people.add_person(project, "Cai")
    assert names(project) == [("Me", "R1"), ("Ben", "R2"), ("Ada", "R3"), ("Cai", "R4")]


def test_an_alias_that_is_taken_is_refused(project: Project) -> None:
    with pytest.raises(Refusal, match="“R1” is already someone's"):
        people.add_person(project, "Ada", alias="R1")


@pytest.mark.parametrize("name", ["", "   ", "x" * 201, "nul\0"])
def test_a_name_that_does_not_fit_is_refused(project: Project, name: str) -> None:
    before = names(project)
    with pytest.raises(Refusal, match="name does not fit"):
        people.add_person(project, name)
    with pytest.raises(Refusal, match="name does not fit"):
        people.rename_person(project, project.by, name)
    assert names(project) == before


def test_a_renamed_person_is_the_same_person_and_shown_at_once(project: Project) -> None:
    me = people.someone(project)
    people.rename_person(project, me.id, " Dr. Me ")
    assert project.person
    assert (project.person.id, project.person.name) == (me.id, "Dr. Me")
    history.undo(project)
    assert project.person.name == "Me"
    history.redo(project)
    assert names(project) == [("Dr. Me", "R1")]


def test_the_window_works_as_the_same_person_after_a_restart(project: Project) -> None:
    added = people.add_person(project, "Ada", (Role.ANNOTATOR, Role.ADJUDICATOR)).subject
    project.work_as(next(person for person in people.people(project) if person.id == added))
    again = Project.open(project.path)
    assert people.someone(again).id == added
    again.close()


def test_a_file_nobody_works_in_that_may_only_be_read_is_looked_at_by_a_visitor(tmp_path: Path) -> None:
    made = Project.create(tmp_path / "empty.goldsmith")
    made.close()
    looked = Project.open(made.path, readonly=True)
    assert people.someone(looked) == people.VISITOR
    assert people.people(looked) == []
    looked.close()


def test_the_first_to_work_in_an_empty_project_becomes_its_coordinator(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "empty.goldsmith")
    assert people.people(project) == []
    assert people.someone(project).has(Role.COORDINATOR)
    assert people.someone(project) == people.someone(project)
    assert len(people.people(project)) == 1
    project.close()


def added(project: Project, name: str, *roles: Role) -> str:
    return people.add_person(project, name, roles or (Role.ANNOTATOR,)).subject


def test_roles_are_set_anew_and_can_be_undone(project: Project) -> None:
    ada = added(project, "Ada")
    people.set_roles(project, ada, (Role.COORDINATOR, Role.ADJUDICATOR))
    assert people.known(project, ada).roles == "adjudicator coordinator"
    people.set_roles(project, ada, ())
    assert people.known(project, ada).roles == ""
    history.undo(project)
    history.undo(project)
    assert people.known(project, ada).roles == "annotator"


def test_who_left_is_kept_and_can_come_back(project: Project) -> None:
    ada = added(project, "Ada")
    people.deactivate(project, ada)
    assert not people.known(project, ada).active
    assert ("Ada", "R2") in names(project)
    people.reactivate(project, ada)
    assert people.known(project, ada).active
    history.undo(project)
    assert not people.known(project, ada).active


def test_the_person_working_cannot_leave(project: Project) -> None:
    added(project, "Ada", Role.COORDINATOR)
    with pytest.raises(Refusal, match="working as this person"):
        people.deactivate(project, project.by)


def test_the_last_active_coordinator_stays_one(project: Project) -> None:
    me, ada = project.by, added(project, "Ada", Role.COORDINATOR)
    people.deactivate(project, ada)
    with pytest.raises(Refusal, match="No active coordinator"):
        people.set_roles(project, me, (Role.ANNOTATOR,))
    ben = added(project, "Ben")
    project.work_as(people.known(project, ben))
    with pytest.raises(Refusal, match="No active coordinator"):
        people.deactivate(project, me)
    assert people.known(project, me).has(Role.COORDINATOR)
    assert people.known(project, me).active


def test_undoing_does_not_take_the_last_coordinator_either(project: Project) -> None:
    me, ada = people.someone(project), added(project, "Ada")
    people.set_roles(project, ada, (Role.COORDINATOR,))
    project.work_as(people.known(project, ada))
    people.deactivate(project, me.id)
    project.work_as(me)
    with pytest.raises(Refusal, match="No active coordinator"):
        history.undo(project)


def test_a_file_without_a_coordinator_may_still_rename_its_annotator(tmp_path: Path) -> None:
    project = Project.create(tmp_path / "task.goldsmith")
    ada = added(project, "Ada")
    people.rename_person(project, ada, "Dr. Ada")
    assert names(project) == [("Dr. Ada", "R1")]
    project.close()


def test_a_person_is_found_by_id_or_alias_and_never_by_name(project: Project) -> None:
    ada, ben = added(project, "Ada"), people.add_person(project, "Ben", alias="r2x").subject
    assert people.known(project, ada).name == "Ada"
    assert people.known(project, "r2").id == ada
    assert people.known(project, "R2X").id == ben
    with pytest.raises(Refusal, match="“Ada” is not an id or alias") as refused:
        people.known(project, "Ada")
    assert refused.value.details == ("R1", "R2", "r2x")


def test_aliases_that_differ_only_in_capitals_are_told_apart(project: Project) -> None:
    small, large = (people.add_person(project, "Ada", alias=alias).subject for alias in ("x1", "X1"))
    assert [people.known(project, alias).id for alias in ("x1", "X1")] == [small, large]


def test_the_roles_of_the_person_working_count_at_once(project: Project) -> None:
    added(project, "Ada", Role.COORDINATOR)
    people.set_roles(project, project.by, (Role.ADJUDICATOR,))
    assert people.someone(project).has(Role.ADJUDICATOR)
    assert not people.someone(project).has(Role.COORDINATOR)
