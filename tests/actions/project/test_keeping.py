"""What was counted is kept until somebody writes: how long, for whom, and through what."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from annotator.actions.items import materials
from annotator.actions.project import file, people
from annotator.actions.project.file import Project, kept, known
from annotator.actions.project.people import new_project
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.texts import rendering
from tests.projects.refusals import expect_refusal

COUNTED: list[str] = []


@kept
def titled(project: Project, words: str) -> str:
    COUNTED.append(words)
    return f"{words} {len(people.people(project))}"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    COUNTED.clear()
    project = new_project(tmp_path / "kept.goldsmith")
    yield project
    file.forget(project.path)
    project.close()


def by_another_process(project: Project) -> None:
    """A write that leaves no trace in the audit, nor a byte more in the file."""
    with closing(sqlite3.connect(project.path, isolation_level=None)) as other:
        other.execute("UPDATE person SET name = name || 'x'")


def test_what_was_asked_before_is_not_counted_again(project: Project) -> None:
    assert known(titled, project, "people:") is None
    assert titled(project, "people:") == titled(project, "people:") == known(titled, project, "people:")
    assert COUNTED == ["people:"]


@pytest.mark.parametrize("watched", [True, False])
def test_every_write_makes_it_counted_anew(project: Project, watched: bool) -> None:
    if watched:
        file.watch(project.path)
    titled(project, "a")
    people.add_person(project, "Ann")
    assert titled(project, "a") == "a 2"
    by_another_process(project)
    assert known(titled, project, "a") is None


def test_a_watched_file_is_known_to_every_connection(project: Project) -> None:
    file.watch(project.path)
    titled(project, "a")
    with closing(Project.open(project.path, readonly=True)) as other:
        other.person = project.person
        assert titled(other, "a") == "a 1"
    assert COUNTED == ["a"]


def test_each_person_is_answered_on_their_own(project: Project) -> None:
    people.add_person(project, "Ann")
    titled(project, "a")
    project.person = people.people(project)[1]
    assert known(titled, project, "a") is None


@pytest.mark.parametrize("watched", [True, False])
def test_a_report_that_is_rendered_moves_no_answer(project: Project, watched: bool) -> None:
    if watched:
        file.watch(project.path)
    titled(project, "a")
    materials.html(project, "# A report")
    assert known(titled, project, "a") == "a 1"


def test_a_report_for_whose_formulas_time_ran_out_is_drawn_anew(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as hurried:
        hurried.setattr(rendering, "MAX_DRAWING_S", -1.0)
        first = materials.html(project, "Here $x$ stands.")
    assert ("<img" in first.html, first.unfinished) == (False, True)
    second = materials.html(project, "Here $x$ stands.")
    assert ("<img" in second.html, second.unfinished, second.reason) == (True, False, "")


@pytest.mark.parametrize("watched", [True, False])
def test_what_another_writes_meanwhile_is_seen(project: Project, watched: bool) -> None:
    if watched:
        file.watch(project.path)
    titled(project, "a")
    with file.unmoved(project):
        by_another_process(project)
    assert known(titled, project, "a") is None


def test_what_another_thread_writes_through_the_same_connection_is_seen(project: Project) -> None:
    titled(project, "a")
    writer = Thread(target=people.add_person, args=(project, "Ann"))
    with file.unmoved(project):
        writer.start()
        # It waits until this has ended; if it did not, its person would be overlooked.
        writer.join(0.3)
    writer.join()
    assert known(titled, project, "a") is None


def test_where_another_program_holds_the_file_nothing_is_known_and_a_write_is_refused_in_words(
    project: Project,
) -> None:
    with closing(Project.open(project.path, busy_seconds=0)) as first:
        titled(first, "a")
        with closing(sqlite3.connect(project.path, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            assert known(titled, first, "a") is None
            with pytest.raises(Refusal, match="in use by another program"), file.unmoved(first):
                people.add_person(first, "Ann")
            other.execute("ROLLBACK")
        assert known(titled, first, "a") == "a 1"


def test_a_write_may_move_some_answers_alone(project: Project) -> None:
    @kept
    def another(project: Project) -> int:
        return len(people.people(project))

    titled(project, "a")
    another(project)
    with file.unmoved(project, titled):
        people.add_person(project, "Ann")
    assert (known(titled, project, "a"), known(another, project)) == ("a 1", None)


def test_nothing_is_kept_of_what_was_written_while_it_was_counted(project: Project) -> None:
    @kept
    def slow(project: Project) -> int:
        by_another_process(project)
        return 1

    slow(project)
    assert known(slow, project) is None


def test_of_large_projects_fewer_answers_are_kept(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(file, "ROOM", 2)
    for words in ("a", "b", "c"):
        titled(project, words)
    assert [bool(known(titled, project, words)) for words in ("a", "b", "c")] == [False, True, True]


@pytest.mark.parametrize("watched", [True, False])
def test_nothing_is_known_of_a_closed_project_and_whoever_asks_is_refused(
    project: Project, watched: bool
) -> None:
    if watched:
        file.watch(project.path)
    titled(project, "a")
    project.close()
    file.forget(project.path)
    assert known(titled, project, "a") is None
    expect_refusal("is closed", titled, project, "a")
