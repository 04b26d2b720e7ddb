"""A project: made, opened, closed; its settings, rows, hashes, people and uses; what is kept of what was counted.

Backups are made, listed, looked into and put back."""

import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from threading import Thread

import pytest

from annotator import __version__
from annotator.actions.authoring import artifacts
from annotator.actions.items import items, materials
from annotator.actions.labelling import labels
from annotator.actions.project import backups, file, people
from annotator.actions.project.file import USES, Project, cached, known, record, row_hash
from annotator.actions.project.profile import choose, extractions, kinds, profile, protocols, stages
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.domain.common import Change, Refusal
from annotator.domain.kinds.kind import ItemRole, Kind, Role, Stage
from annotator.domain.stored import ItemFields, JudgementFields
from annotator.exchange.texts import rendering
from annotator.protocols import PROTOCOLS, profiles
from annotator.storage.opening import Busy, Damaged
from annotator.storage.store import ProjectHold
from tests.common import expect_refusal, fixture_of
from tests.projects.filled_project import filled_project
from tests.projects.small_projects import (
    empty_project,
    labelling_project,
    project_with,
)
from tests.storage import sql


def test_a_new_project_has_a_name_and_a_folder(tmp_path: Path) -> None:
    project = people.new_project(tmp_path / "a study")
    assert project.path == tmp_path / "a study.goldsmith"
    assert (project.title, project.get("made_with"), len(project.get("id"))) == ("a study", __version__, 36)
    project = people.new_project(tmp_path / "v1.2")
    assert (project.path.name, project.title) == ("v1.2.goldsmith", "v1.2")
    people.new_project(tmp_path / "new" / "folder" / "p.goldsmith").close()
    assert (tmp_path / "new" / "folder" / "p.goldsmith").exists()
    (tmp_path / "file").write_text("x", "utf-8")
    expect_refusal("could not be created", people.new_project, tmp_path / "file" / "p.goldsmith")


def test_settings_outlive_the_program_and_a_reader_changes_none(tmp_path: Path) -> None:
    project = people.new_project(tmp_path / "p.goldsmith", "标题")
    project.set("zoom", {"authoring": 1.5})
    project.close()
    with closing(Project.open(project.path, readonly=True)) as again:
        assert (again.title, again.get("zoom"), again.get("none", 7)) == ("标题", {"authoring": 1.5}, 7)
        assert again.readonly
        expect_refusal("is read-only", again.set, "title", "new")


def test_a_setting_that_is_no_json_is_damage_and_the_file_is_given_back(tmp_path: Path) -> None:
    project = people.new_project(tmp_path / "p.goldsmith")
    project.close()
    sql.beside(project.path, "UPDATE meta SET value = '\"ti' WHERE key = 'title'")
    with pytest.raises(Damaged, match="is damaged"):
        Project.open(project.path)


def test_every_change_is_audited_with_a_hash_that_the_stored_row_still_has(tmp_path: Path) -> None:
    project = people.new_project(tmp_path / "p.goldsmith")
    with project.store.write() as db:
        change = record(project, db, Change("x", "s", "do", {"n": 1}, {"n": 2.5, "é": None}))
    names = sql.rows(project, "SELECT name FROM pragma_table_info('audit')")
    kept = sql.first(project, "SELECT * FROM audit WHERE seq = ?", [change.seq])
    row = {name: value for (name,), value in zip(names, kept, strict=True)}
    assert (row["sha256"], json.loads(row["after"])) == (row_hash(row), {"n": 2.5, "é": None})
    assert row["sha256"] != row_hash(row | {"after": "{}"})


def fields(**more: object) -> JudgementFields:
    values = {
        "protocol": "p", "item_id": "i", "response_id": "r", "unit_id": "u", "rater_kind": "person", "rater_id": "me",
        "value": "yes", "seconds": 3, "at": datetime(2025, 1, 1, tzinfo=UTC),
    }  # fmt: skip
    return JudgementFields.model_validate(values | more)


def test_hashes_cover_every_value() -> None:
    item = ItemFields(key="k", question="Why?")
    assert file.item_hash(item) == file.item_hash(item.model_dump() | {"position": 9, "retired": True})
    for name in ("dataset", "key", "question", "question_type", "subject", "language"):
        assert file.item_hash(item) != file.item_hash(item.model_dump() | {name: "other"})
    # SHA-256 of "abc", FIPS 180-4 example.
    expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    assert file.source_hash("abc") == file.response_hash("abc") == expected
    first = file.judgement_hash(fields())
    for name, value in (
        ("value", "no"),
        ("rationale", "x"),
        ("seconds", 4),
        ("trial", 2),
        ("rater_kind", "judge"),
    ):
        assert file.judgement_hash(fields(**{name: value})) != first
    east = datetime(2025, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))
    assert file.judgement_hash(fields(at=east)) == file.judgement_hash(fields())


@pytest.fixture
def numbered(tmp_path: Path) -> Project:
    made = project_with(tmp_path)
    for question, subject in (
        ("What is entropy?", "物理"),
        ("Why 100 % sure?", "Logic"),
        ("What is a_b?", "Logic"),
    ):
        items.add(made, question, subject=subject)
    return made


def found(numbered: Project, words: str) -> list[str]:
    return [line.key for line in items.lines_at(numbered, items.numbers(numbered, items.Filter(words=words)))]


def test_numbers_stand_for_items_in_order_and_words_are_found_in_any_script(numbered: Project) -> None:
    assert list(items.numbers(numbered, most=2)) == list(items.numbers(numbered))[:2]
    assert [line.key for line in items.lines_at(numbered, items.numbers(numbered)[::-1])] == ["3", "2", "1"]
    assert items.number(numbered, items.ids(numbered)[-1]) == items.numbers(numbered)[-1]
    assert items.number(numbered, "nowhere") == 0
    assert (found(numbered, "物"), found(numbered, "HA")) == (["1"], ["1", "3"])
    assert found(numbered, "ha 物理 ent") == ["1"]
    assert (found(numbered, "%"), found(numbered, "_b"), found(numbered, "0 %")) == (["2"], ["3"], ["2"])
    first = items.ids(numbered)[0]
    items.change(numbered, first, retired=True)
    assert items.number(numbered, first) not in items.numbers(numbered)
    assert list(items.numbers(numbered, items.Filter(retired=True))) == [items.number(numbered, first)]


peopled = fixture_of(empty_project)


def names(peopled: Project) -> list[tuple[str, str]]:
    return [(person.name, person.alias) for person in people.people(peopled)]


def test_one_coordinator_and_aliases_in_turn(peopled: Project) -> None:
    me = people.someone(peopled)
    assert (me.name, me.alias, me.roles) == ("Me", "R1", "annotator coordinator")
    assert names(peopled) == [("Me", "R1")]
    expect_refusal("“R1” is already someone's", people.add_person, peopled, "Ada", alias="R1")
    people.add_person(peopled, "Ada", alias="R3")
    people.add_person(peopled, "Ben")
    people.add_person(peopled, "Cai")
    assert names(peopled) == [("Me", "R1"), ("Ben", "R2"), ("Ada", "R3"), ("Cai", "R4")]


def test_a_name_that_does_not_fit_is_refused(peopled: Project) -> None:
    for name in (
        "",
        "   ",
        "x" * 201,
        "nul\0",
    ):
        before = names(peopled)
        expect_refusal("name does not fit", people.add_person, peopled, name)
        expect_refusal("name does not fit", people.rename_person, peopled, peopled.by, name)
        assert names(peopled) == before


def test_people_are_found_and_renamed(peopled: Project) -> None:
    me = people.someone(peopled)
    people.rename_person(peopled, me.id, " Dr. Me ")
    assert peopled.person
    assert (peopled.person.id, peopled.person.name) == (me.id, "Dr. Me")
    history.undo(peopled)
    assert peopled.person.name == "Me"
    history.redo(peopled)
    assert names(peopled) == [("Dr. Me", "R1")]
    added = people.add_person(peopled, "Ada", (Role.ANNOTATOR, Role.ADJUDICATOR)).subject
    peopled.work_as(next(person for person in people.people(peopled) if person.id == added))
    assert people.someone(Project.open(peopled.path)).id == added


def test_the_first_to_work_in_an_empty_project_becomes_its_coordinator_and_a_reader_is_a_visitor(
    tmp_path: Path,
) -> None:
    peopled = Project.create(tmp_path / "empty.goldsmith")
    looked = Project.open(peopled.path, readonly=True)
    assert (people.someone(looked), people.people(looked)) == (people.VISITOR, [])
    assert people.someone(peopled).has(Role.COORDINATOR)
    assert (people.someone(peopled), len(people.people(peopled))) == (people.someone(peopled), 1)


def added(peopled: Project, name: str, *roles: Role) -> str:
    return people.add_person(peopled, name, roles or (Role.ANNOTATOR,)).subject


def test_roles_are_set_anew_count_at_once_and_can_be_undone(peopled: Project) -> None:
    ada = added(peopled, "Ada")
    people.set_roles(peopled, ada, (Role.COORDINATOR, Role.ADJUDICATOR))
    assert people.known(peopled, ada).roles == "adjudicator coordinator"
    people.set_roles(peopled, ada, ())
    assert people.known(peopled, ada).roles == ""
    history.undo(peopled)
    people.set_roles(peopled, peopled.by, (Role.ADJUDICATOR,))
    assert people.someone(peopled).roles == "adjudicator"
    for _ in range(2):
        history.undo(peopled)
    assert people.known(peopled, ada).roles == "annotator"


def test_people_leave_and_come_back(peopled: Project) -> None:
    added(peopled, "Ada", Role.COORDINATOR)
    expect_refusal("working as this person", people.deactivate, peopled, peopled.by)
    ada = added(peopled, "Ada")
    people.deactivate(peopled, ada)
    assert not people.known(peopled, ada).active
    assert ("Ada", "R2") in names(peopled)
    people.reactivate(peopled, ada)
    assert people.known(peopled, ada).active
    history.undo(peopled)
    assert not people.known(peopled, ada).active


def test_the_last_active_coordinator_stays_one_also_when_undoing(peopled: Project) -> None:
    me, ada = people.someone(peopled), added(peopled, "Ada")
    people.set_roles(peopled, ada, (Role.COORDINATOR,))
    peopled.work_as(people.known(peopled, ada))
    people.deactivate(peopled, me.id)
    peopled.work_as(me)
    expect_refusal("No active coordinator", history.undo, peopled)
    peopled.work_as(people.known(peopled, added(peopled, "Ben")))
    expect_refusal("No active coordinator", people.deactivate, peopled, ada)
    expect_refusal("No active coordinator", people.set_roles, peopled, ada, (Role.ANNOTATOR,))
    assert people.known(peopled, ada).has(Role.COORDINATOR)
    assert people.known(peopled, ada).active


def test_a_file_without_a_coordinator_may_still_rename_its_annotator(tmp_path: Path) -> None:
    peopled = Project.create(tmp_path / "task.goldsmith")
    people.rename_person(peopled, added(peopled, "Ada"), "Dr. Ada")
    assert names(peopled) == [("Dr. Ada", "R1")]


def test_a_person_is_found_by_id_or_alias_and_never_by_name(peopled: Project) -> None:
    ada, ben = added(peopled, "Ada"), people.add_person(peopled, "Ben", alias="r2x").subject
    assert (people.known(peopled, ada).name, people.known(peopled, "r2").id) == ("Ada", ada)
    assert people.known(peopled, "R2X").id == ben
    assert expect_refusal("“Ada” is not an id or alias", people.known, peopled, "Ada").details == (
        "R1",
        "R2",
        "r2x",
    )
    large = people.add_person(peopled, "Ada", alias="R2X").subject
    assert [people.known(peopled, alias).id for alias in ("r2x", "R2X")] == [ben, large]


def test_every_choice_names_protocols_that_there_are_with_the_kinds_that_they_need():
    for choice in profiles.CHOICES:
        used = profiles.parsed(choice.name)
        assert used.protocols <= PROTOCOLS.keys()
        assert {kind for name in used.protocols for kind in PROTOCOLS[name].needs} <= used.kinds


def test_a_kind_brings_what_judges_by_it_and_a_protocol_what_it_needs():
    usual, chosen = profiles.parsed(profiles.USUAL), profiles.parsed("nuggets, adra.plan")
    assert (usual.kinds, usual.judges("adra.plan")) == ({Kind.RUBRIC}, False)
    assert chosen.kinds == {Kind.NUGGETS, Kind.PLAN}
    assert chosen.judges("deepscholar.nuggets")
    assert chosen.judges("adra.plan")
    assert "related-work" in expect_refusal("poems", profiles.parsed, "rubrics, poems").todo


def test_what_a_project_holds_stays_in_use(tmp_path):
    project = people.new_project(tmp_path / "p.goldsmith", uses="rubrics")
    assert profile(project) is profile(project)
    artifacts.start(project, items.add(project, "Why?").subject, Kind.PLAN)
    assert (profile(project).kinds, kinds(project)) == ({Kind.RUBRIC, Kind.PLAN}, (Kind.PLAN, Kind.RUBRIC))
    assert kinds(project, ItemRole.SEMINAR) == (Kind.INSPIRATIONS, Kind.TASKS)
    assert {"adra.plan", "adra.efficiency"} <= set(protocols(project))
    choose(project, "related-work")
    assert profile(project).kinds == {Kind.NUGGETS, Kind.EVIDENCE, Kind.PLAN}


def test_an_older_project_uses_what_it_holds(tmp_path):
    project = empty_project(tmp_path)
    project.set(USES, None)
    assert profile(project).kinds == {Kind.RUBRIC}


def test_labels_and_runs_of_another_protocol_are_in_use(tmp_path):
    project = labelling_project(tmp_path)
    project.set(USES, "nuggets")
    assert "researcherbench.coverage" in protocols(project)
    assert "researcherbench.pairwise" not in protocols(project)
    first = labels.queue(project)[0]
    labels.set_label(project, first.response_id, f"{first.item_id}/c1", "yes")
    assert "researcherbench.coverage" in profile(project).protocols
    assert "researcherbench.claims.extract" not in extractions(project)
    assert stages(project) == (Stage.RUBRIC, Stage.NUGGETS, Stage.LABELLING)


COUNTED: list[str] = []


@cached
def titled(project: Project, words: str) -> str:
    COUNTED.append(words)
    return f"{words} {len(people.people(project))}"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    COUNTED.clear()
    project = people.new_project(tmp_path / "kept.goldsmith")
    yield project
    file.forget(project.path)


def by_another_process(project: Project) -> None:
    """A write that leaves no trace in the audit, nor a byte more in the file."""
    sql.beside(project.path, "UPDATE person SET name = name || 'x'")


def test_what_was_asked_before_is_not_counted_again_for_the_same_person(project: Project) -> None:
    assert known(titled, project, "people:") is None
    assert titled(project, "people:") == titled(project, "people:") == known(titled, project, "people:")
    assert COUNTED == ["people:"]
    people.add_person(project, "Ann")
    project.person = people.people(project)[1]
    assert known(titled, project, "people:") is None


@pytest.fixture(params=[True, False], ids=["watched", "not watched"])
def watched(project: Project, request: pytest.FixtureRequest) -> None:
    if request.param:
        file.watch(project.path)


@pytest.mark.usefixtures("watched")
def test_every_write_makes_it_counted_anew_also_what_another_writes_meanwhile(project: Project) -> None:
    titled(project, "a")
    people.add_person(project, "Ann")
    assert titled(project, "a") == "a 2"
    by_another_process(project)
    assert known(titled, project, "a") is None
    titled(project, "a")
    with file.unmoved(project):
        by_another_process(project)
    assert known(titled, project, "a") is None


def test_a_watched_file_is_known_to_every_connection(project: Project) -> None:
    file.watch(project.path)
    titled(project, "a")
    with closing(Project.open(project.path, readonly=True)) as other:
        other.person = project.person
        assert titled(other, "a") == "a 1"
    assert COUNTED == ["a"]


@pytest.mark.usefixtures("watched")
def test_a_report_that_is_rendered_moves_no_answer(project: Project) -> None:
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
    @cached
    def another(project: Project) -> int:
        return len(people.people(project))

    titled(project, "a")
    another(project)
    with file.unmoved(project, titled):
        people.add_person(project, "Ann")
    assert (known(titled, project, "a"), known(another, project)) == ("a 1", None)


def test_nothing_is_kept_of_what_was_written_while_it_was_counted(project: Project) -> None:
    @cached
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


@pytest.mark.usefixtures("watched")
def test_nothing_is_known_of_a_closed_project_and_whoever_asks_is_refused(project: Project) -> None:
    titled(project, "a")
    project.close()
    file.forget(project.path)
    assert known(titled, project, "a") is None
    expect_refusal("is closed", titled, project, "a")


filled = fixture_of(filled_project)


def titles(path: Path) -> str:
    return Project.open(path).title


def due_after(filled: Project, minutes: int) -> bool:
    """Whether a backup is due, were all changes so old."""
    sql.alter(
        filled,
        "UPDATE audit SET at = ?",
        [(datetime.now(UTC) - timedelta(minutes=minutes)).strftime("%Y-%m-%d %H:%M:%S.%f")],
    )
    return backups.due(filled)


def test_a_backup_is_listed_and_looked_into(filled: Project) -> None:
    path = backups.make(filled, "before an import")
    (listed,) = backups.listing(filled.path)
    assert (listed.path, listed.why, listed.ok) == (path, "before an import", True)
    last = sql.first(filled, "SELECT at FROM audit ORDER BY seq DESC LIMIT 1")[0]
    path = backups.make(filled, "to look at")
    items.add(filled, "Added later?")
    before = sql.digest(path)
    summary = backups.peek(path)
    assert (summary.title, summary.items, summary.artifacts, summary.judgements) == ("small", 2, 2, 3)
    assert summary.last_change == datetime.fromisoformat(f"{last}+00:00")
    assert (summary.why, summary.problem, sql.digest(path)) == ("to look at", "", before)


def test_a_look_into_a_broken_backup_is_refused(filled: Project) -> None:
    path = backups.make(filled, "")
    path.write_bytes(path.read_bytes()[:9000])
    with pytest.raises(Damaged):
        backups.peek(path)


def test_a_backup_is_due_half_an_hour_after_a_change_that_none_holds(filled: Project) -> None:
    assert [due_after(filled, minutes) for minutes in (29, 31)] == [False, True]
    backups.make(filled, "due")
    assert due_after(filled, 3 * 24 * 60) is False
    items.add(filled, "New?")
    assert backups.due(filled) is False
    # A clock set back makes one due too.
    assert [due_after(filled, minutes) for minutes in (40, -365 * 24 * 60)] == [True, True]


def test_a_backup_of_altered_rows_does_not_stay_due(filled: Project) -> None:
    sql.beside(filled.path, "UPDATE person SET name = 'flipped'")
    backups.make(filled, "as it is")
    assert (due_after(filled, 40), backups.listing(filled.path)[0].ok) == (False, False)


@pytest.fixture
def backup(filled: Project) -> Path:
    return backups.make(filled, "good")


def test_putting_a_backup_back_sets_the_present_file_aside(filled: Project, backup: Path) -> None:
    filled.set("title", "worse")
    filled.close()
    present = sql.digest(filled.path)
    aside = backups.restore(filled.path, backup)
    assert (sql.digest(aside), backup.exists()) == (present, True)
    assert aside.name.startswith("small.set-aside-20")
    restored = Project.open(filled.path)
    assert (restored.title, checking.check(restored).problems) == ("small", [])
    assert len(history.recover(restored)) == 1


@pytest.mark.parametrize("content", [b"", b"garbage" * 999, None])
def test_a_backup_replaces_a_project_that_is_broken_or_gone(
    filled: Project, backup: Path, content: bytes | None
) -> None:
    filled.close()
    if content is None:
        filled.path.unlink()
    else:
        filled.path.write_bytes(content)
    (listed,) = backups.listing(filled.path)
    aside = backups.restore(filled.path, listed.path)
    assert (backup, titles(filled.path)) == (listed.path, "small")
    assert (aside.read_bytes() if aside.exists() else None) == content


def test_a_journal_that_was_left_alone_is_not_played_back_into_the_backup(
    filled: Project, backup: Path
) -> None:
    filled.close()
    filled.path.unlink()
    Path(f"{filled.path}-journal").write_bytes(b"a journal that must not be played back")
    aside = backups.restore(filled.path, backup)
    assert titles(filled.path) == "small"
    assert Path(f"{aside}-journal").read_bytes() == b"a journal that must not be played back"


def test_a_damaged_backup_is_not_put_back(filled: Project, backup: Path) -> None:
    sql.beside(backup, "UPDATE person SET name = 'flipped'")
    filled.close()
    before = sql.digest(filled.path)
    with pytest.raises(Damaged, match="This backup is incomplete:  Row 1 of “person”"):
        backups.restore(filled.path, backup)
    assert (sql.digest(filled.path), list(filled.path.parent.glob("*aside*"))) == (before, [])


def test_a_project_that_is_open_in_a_window_is_not_replaced(filled: Project, backup: Path) -> None:
    filled.hold()
    with pytest.raises(Busy):
        backups.restore(filled.path, backup)
    assert list(filled.path.parent.glob("*aside*")) == []


def test_a_full_disk_while_putting_back_leaves_the_project_in_its_place(
    filled: Project, backup: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    filled.close()
    before = sql.digest(filled.path)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(backups.files, "put_in_place", full)
    expect_refusal("could not be replaced", backups.restore, filled.path, backup)
    assert sql.digest(filled.path) == before
    assert [path.name for path in filled.path.parent.glob("*.goldsmith")] == ["small.goldsmith"]
    ProjectHold.take(filled.path).release()


def test_a_copy_is_saved_and_old_backups_go(filled: Project) -> None:
    copy = backups.save_copy(filled, filled.path.with_name("copy.goldsmith"))
    assert titles(copy) == "small"
    expect_refusal("already exists", backups.save_copy, filled, copy)
    first = backups.make(filled, "")
    days = [first.with_name(f"small-20200101-1{hour}0000.goldsmith") for hour in range(3)]
    for day in days:
        day.write_bytes(first.read_bytes())
    backups.make(filled, "")
    assert [day.exists() for day in days] == [False, False, False]
    assert len(backups.listing(filled.path)) == 2
