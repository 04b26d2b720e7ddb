"""Work goes out and comes back by file: whole, once, in any order, and nothing of it is ever overwritten.

Labels go out under aliases; what each task would hold, and what lies in the tray.
"""

import json
from collections.abc import Iterator
from contextlib import closing as closing_
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.util import LRUCache

from annotator import __version__
from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.consensus import consensus
from annotator.actions.items import items
from annotator.actions.labelling import board, label_sealing, labels
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import file as project_file, people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.common import canonical_json, now, sha256
from annotator.domain.experts.adjudication import BOTH, Dispute, Reason
from annotator.domain.experts.assignment import ParcelOutcome, Person, Purpose, Role, Stage, TrayState
from annotator.domain.kinds.artifact import Anchor, Kind, State
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.exchange.parcels import packages
from annotator.storage import connection
from annotator.storage.tables import DISPUTE
from tests.common import content_hash, expect_refusal, fixture_of, once
from tests.exchange.parcels.hostile_packages import with_manifest
from tests.exchange.texts.test_rendering import pdf
from tests.projects.pairs_project import (
    annotators,
    coordinated,
    edit_rubric,
    project_in,
    returned,
    second_copy,
    settled,
    task_for,
    write_rubric,
)
from tests.projects.small_projects import SYSTEMS, add_report, labelling_project, units_of
from tests.storage import sql

# Documents, their agreement and their adjudication.
KEPT = " UNION ALL ".join(
    f"SELECT id, {columns}"
    for columns in (
        "state, revision FROM artifact", "sha256, number FROM revision", "sha256, 0 FROM agreement",
        "state, version FROM adjudication", "sha256, position FROM ruling", "sha256, version FROM consensus_version",
    )
)  # fmt: skip


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return coordinated(tmp_path / "home")


def test_nothing_large_that_was_written_stays_in_memory_with_its_statement(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "_COMPILED", LRUCache(2_000))
    large, (ana, _) = "word " * 4_000, annotators(project)
    (tmp_path / "a.pdf").write_bytes(pdf("Rain falls") + b"%" + large.encode())
    (tmp_path / "a.md").write_text(large, "utf-8")
    with closing_(Project.open(project.path)) as ours:
        ours.person = project.person
        for name in ("a.pdf", "a.md"):
            items.add_source(ours, items.ids(ours)[0], tmp_path / name)
        settings.write(ours, Stage.RUBRIC, large)
        came = unpacking.take_in(ours, [returned(ours, ana.id, tmp_path / "ana", "Gold " * 900)])
    assert outcomes(came) == ["new", "new"]
    bound = [bind.value for each in connection._COMPILED.values() for bind in each.binds.values()]
    assert len(bound) > 100
    assert [len(one) for one in bound if isinstance(one, str | bytes) and len(one) > 4_000] == []


def revisions(project: Project) -> list[tuple[str, int, str]]:
    return sql.rows(project, "SELECT artifact_id, number, sha256 FROM revision ORDER BY 1, 2")


def outcomes(arrivals: list) -> list[str]:
    return [piece.outcome.value for arrival in arrivals for piece in arrival.pieces]


@pytest.fixture
def ana(project: Project) -> Person:
    return annotators(project)[0]


def test_work_comes_back_as_it_was_sealed_and_once(project: Project, ana: Person, tmp_path: Path) -> None:
    path = returned(project, ana.id, tmp_path / "ana", "Explains the weight of gold")
    with closing_(Project.open(project_in(tmp_path / "ana"))) as theirs:
        receipt = tray.outlook(theirs).sent[0].receipt
    before = content_hash(project)
    (looked,) = unpacking.preview(project, [path])
    assert (looked.receipt, outcomes([looked]), content_hash(project)) == (receipt, ["new", "new"], before)
    assert [arrival.outcome for arrival in unpacking.take_in(project, [path])] == [ParcelOutcome.NEW]
    sealed = "SELECT count(*) FROM artifact WHERE author_id = ? AND state = 'sealed'"
    assert (sql.first(project, sealed, (ana.id,)), checking.check(project).problems) == ((2,), [])
    before = content_hash(project)
    again = unpacking.take_in(project, [path])
    assert (again[0].outcome, outcomes(again)) == (ParcelOutcome.DUPLICATE, ["duplicate", "duplicate"])
    assert content_hash(project) == before


def test_a_task_is_the_same_bytes_for_one_person(project: Project, tmp_path: Path) -> None:
    ana, ming = annotators(project)
    first = task_for(project, ana.id, tmp_path / "a").read_bytes()
    assert task_for(project, ana.id, tmp_path / "b").read_bytes() == first
    assert task_for(project, ming.id, tmp_path / "b").read_bytes() != first
    expect_refusal(
        "Nothing is assigned", packing.task, project, people.add_person(project, "Idle").subject, tmp_path
    )


def test_a_later_revision_goes_in_beside_the_earlier_one_and_agreement_is_over_the_first_seals(
    project: Project, tmp_path: Path
) -> None:
    ana, ming = annotators(project)
    unpacking.take_in(project, [returned(project, ana.id, tmp_path / "ana")])
    with closing_(Project.open(project_in(tmp_path / "ana"))) as theirs:
        edit_rubric(theirs, items.ids(theirs)[0], "Compares the weight of gold with lead")
        second = tray.work(theirs, tmp_path / "second.goldsmith-work").path
    before = revisions(project)
    came = unpacking.take_in(project, [second])
    assert sorted(outcomes(came)) == ["duplicate", "duplicate", "newer"]
    (newer,) = (piece for one in came for piece in one.pieces if piece.outcome is ParcelOutcome.NEWER)
    assert newer.words == "It will be added after the earlier revision, which stays."
    assert set(before) < set(revisions(project))
    unpacking.take_in(project, [returned(project, ming.id, tmp_path / "ming")])
    frozen = assignments.of_item(project, items.ids(project)[0])[0]
    lowest = sql.first(project,
        "SELECT min(number) FROM revision JOIN artifact a ON a.id = artifact_id "
        "WHERE a.item_id = ? AND a.author_id = ?", (frozen.item_id, ana.id),
    )[0]  # fmt: skip
    assert (
        next(one for one in frozen.inputs if one.person_id == ana.id).revision,
        frozen.pairs[0].figures[0].value,
    ) == (lowest, 1.0)


def test_work_of_another_project_is_kept_apart(project: Project, tmp_path: Path) -> None:
    other = coordinated(tmp_path / "other")
    path = returned(other, annotators(other)[0].id, tmp_path / "stranger")
    before = revisions(project)
    assert unpacking.take_in(project, [path])[0].outcome is ParcelOutcome.FOREIGN
    assert revisions(project) == before
    expect_refusal("another project", tray.accept, project, tray.entries(project)[0].id)


def test_work_that_was_not_asked_for_waits_in_the_tray_until_it_is_accepted(
    project: Project, ana: Person, tmp_path: Path
) -> None:
    path = returned(project, ana.id, tmp_path / "ana")
    withdrawn = assignments.of_person(project, ana.id)[0]
    assignments.withdraw_all(project, [withdrawn.id])
    assert sorted(outcomes(unpacking.take_in(project, [path]))) == ["foreign", "new"]
    entry = tray.entries(project)[0]
    assert (entry.reason, entry.item_id) == (ParcelOutcome.FOREIGN, withdrawn.item_id)
    tray.accept(project, entry.id)
    assert (tray.entries(project), tray.entries(project, None)[0].state) == ([], TrayState.ACCEPTED)
    assert checking.check(project).problems == []


def with_senior(project: Project, folder: Path) -> str:
    for place, person in enumerate(annotators(project)):
        unpacking.take_in(
            project, [returned(project, person.id, folder / str(place), f"Says {place} of gold")]
        )
    return people.add_person(project, "Sue", (Role.ADJUDICATOR,)).subject


def rule_and_close(project: Project, take: str) -> None:
    line = adjudicating.queue(project)[0]
    if line.closed:
        ruling.reopen(project, line.adjudication_id, "A second look.")
    result = adjudicating.open_(project, line.item_id, line.stage)
    for row in adjudicating.sheet(project, result.id).rows:
        ruling.rule(project, row.ruling.id, take, reason=Reason.WORDING)
    consensus.remark(project, result.id, f"I took {take}.")
    ruling.close(project, result.id)


def rule_at_home(project: Project, take: str = BOTH) -> None:
    me = people.someone(project)
    project.work_as(next(one for one in people.people(project) if one.name == "Sue"))
    rule_and_close(project, take)
    project.work_as(me)


def test_work_after_the_consensus_is_late_and_leaves_it_alone(project: Project, tmp_path: Path) -> None:
    with_senior(project, tmp_path)
    rule_at_home(project, "A")
    item_id = items.ids(project)[0]
    theirs = Project.open(next((tmp_path / "0").glob("*.goldsmith")))
    edit_rubric(theirs, item_id, "Explains the weight of gold once more")
    work = tray.work(theirs, tmp_path / "late.goldsmith-work").path
    consensus = [a for a in annotating.artifacts_of(project, item_id) if a.state is State.CONSENSUS]
    assert "late" in outcomes(unpacking.take_in(project, [work]))
    assert [a for a in annotating.artifacts_of(project, item_id) if a.state is State.CONSENSUS] == consensus
    assert [entry.reason for entry in tray.entries(project)] == [ParcelOutcome.LATE]


def test_an_objection_to_no_consensus_is_refused_in_words_and_the_rest_comes_in(
    project: Project, ana: Person, tmp_path: Path
) -> None:
    returned(project, ana.id, tmp_path / "ana").unlink()
    theirs = Project.open(next((tmp_path / "ana").glob("*.goldsmith")))
    objection = Dispute(
        id="d", item_id=items.ids(theirs)[0], person_id=ana.id, stage=Stage.RUBRIC, text="Too early", at=now()
    )
    with theirs.store.write() as db:
        db.execute(insert(DISPUTE).values(**objection.model_dump()))
    (came,) = unpacking.take_in(project, [tray.work(theirs, tmp_path / "objecting.goldsmith-work").path])
    assert sorted(piece.outcome.value for piece in came.pieces) == ["foreign", "new", "new"]
    (refused,) = (piece for piece in came.pieces if piece.outcome is ParcelOutcome.FOREIGN)
    assert refused.words == "It objects to a consensus that there is not; it was not imported."
    assert sql.rows(project, "SELECT * FROM dispute") == []


def test_an_adjudicator_of_an_item_cannot_return_work_on_it(
    project: Project, ana: Person, tmp_path: Path
) -> None:
    path = returned(project, ana.id, tmp_path / "ana")
    for one in assignments.of_person(project, ana.id):
        assignments.withdraw_all(project, [one.id])
    people.set_roles(project, ana.id, (Role.ANNOTATOR, Role.ADJUDICATOR))
    assignments.assign_one(project, items.ids(project)[0], ana.id, Stage.ADJUDICATION)
    assert {piece.outcome for piece in unpacking.take_in(project, [path])[0].pieces} == {
        ParcelOutcome.FOREIGN
    }


@once
def returned_project(folder: Path) -> Project:
    project = coordinated(folder)
    sue = with_senior(project, folder)
    assignments.assign_one(project, items.ids(project)[0], sue, Stage.ADJUDICATION)
    return project


@pytest.fixture
def at_home(tmp_path: Path) -> Project:
    return returned_project(tmp_path / "home")


@pytest.fixture
def senior(at_home: Project, tmp_path: Path) -> Iterator[Project]:
    with closing_(
        tasking.take_task(task_for(at_home, people.known(at_home, "R4").id, tmp_path / "sue")).project
    ) as theirs:
        yield theirs


def freeze_again(project: Project) -> None:
    (content,) = sql.first(project, "SELECT content FROM agreement WHERE item_id = ?", items.ids(project)[:1])
    again = canonical_json(json.loads(content) | {"program": "9.9"})
    sql.alter(
        project,
        "UPDATE agreement SET content = ?, sha256 = ? WHERE content = ?",
        (again.decode(), sha256(again), content),
    )


def change_a_document(project: Project) -> None:
    sql.alter(project, "UPDATE revision SET content = replace(content, 'of gold', 'of lead')")


def withdraw(project: Project) -> None:
    assignments.withdraw_open(project, people.people(project)[-1].id)


def test_an_adjudication_comes_back_as_it_was_ruled_and_once(
    at_home: Project, senior: Project, tmp_path: Path
) -> None:
    rule_and_close(senior, "A")
    first, work = settled(senior), tray.work(senior).path
    assert outcomes(unpacking.take_in(at_home, [work])) == ["new"]
    assert (settled(at_home), len(first)) == (first, 1)
    said = "SELECT v.by, version, text FROM consensus_version v JOIN remark ON person_id = v.by"
    assert sql.rows(at_home, said) == [(senior.by, 1, "I took A.")]
    before = content_hash(at_home)
    assert outcomes(unpacking.take_in(at_home, [work])) == ["duplicate"]
    (forged := tmp_path / "forged.goldsmith-work").write_bytes(
        with_manifest(work.read_bytes(), packages.new_key())
    )
    assert unpacking.take_in(at_home, [forged])[0].outcome is ParcelOutcome.OTHER_KEY
    assert content_hash(at_home) == before
    rule_and_close(senior, "B")
    second = tray.work(senior, tmp_path / "second.goldsmith-work").path
    came = [outcomes(unpacking.take_in(at_home, [one])) for one in (second, work)]
    assert (came, settled(at_home)) == ([["newer"], ["duplicate"]], settled(senior))
    assert {*settled(at_home), *first} == {"Says 0 of gold", "Says 1 of gold"}
    assert [checking.check(one).problems for one in (at_home, senior)] == [[], []]


@pytest.mark.parametrize(
    ("before", "meanwhile", "outcome", "words"),
    [
        (change_a_document, None, "conflicting", "A document it rules on is not the one that was sent."),
        (None, freeze_again, "conflicting", "The agreement was frozen again since it was sent."),
        (None, withdraw, "foreign", "This person is not the one who adjudicates the item."),
        (None, rule_at_home, "conflicting", "The item was adjudicated here meanwhile."),
    ],
    ids=["another document", "another agreement", "another adjudicator", "adjudicated meanwhile"],
)
def test_an_adjudication_that_does_not_fit_waits_and_overwrites_nothing(
    at_home: Project, senior: Project, before, meanwhile, outcome: str, words: str
) -> None:
    for act, where in ((before, senior), (rule_and_close, senior), (meanwhile, at_home)):
        if act is not None:
            act(where, "A") if act is rule_and_close else act(where)
    there, here, work = sql.rows(at_home, KEPT), settled(at_home), tray.work(senior).path
    came = [unpacking.take_in(at_home, [work])[0].pieces[0] for _ in range(2)]
    assert [piece.outcome.value for piece in came] == [outcome, "duplicate"]
    assert sql.rows(at_home, KEPT) == there
    shown = tray.sheet(at_home, tray.sheets(at_home)[0])
    stands = "here stands version 1 by Sue" if here else "nothing is adjudicated here"
    assert all(part in shown.consequence for part in (words, stands, "Version 1 of"))
    assert checking.check(at_home).problems == []
    if not here:
        expect_refusal(words, tray.accept, at_home, shown.entry.id)
        return
    tray.accept(at_home, shown.entry.id)
    assert settled(at_home) == [unit.text for unit in shown.came.units] != here


def test_programs_that_know_no_adjudications_refuse_them_in_words(
    at_home: Project, senior: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_and_close(senior, "A")
    assert (
        packages.read_package(next((at_home.path.parent / "0").glob("*-task"))).manifest.format_version
        == "2.1"
    )
    monkeypatch.setattr(packages, "MAJOR", 2)
    for path in (next(senior.path.parent.glob("*R4*.goldsmith-task")), tray.work(senior).path):
        expect_refusal("it has format 3.0, and this program reads 2.x", packages.read_package, path)


def test_a_later_task_adds_to_the_same_project_and_touches_no_work(
    project: Project, ana: Person, tmp_path: Path
) -> None:
    theirs = tasking.take_task(task_for(project, ana.id, tmp_path / "ana")).project
    own = write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    before = artifacts.revisions(theirs, own)
    theirs.close()
    assignments.assign_one(project, items.add(project, "Why is gold dense?").subject, ana.id, Stage.RUBRIC)
    again = tasking.take_task(task_for(project, ana.id, tmp_path / "ana")).project
    assert (again.path, len(items.ids(again)), artifacts.revisions(again, own)) == (theirs.path, 3, before)


@pytest.mark.parametrize(
    "asked",
    [
        {"program": ">=7.3,<7.4", "installers": {"Goldsmith-7.3.1-setup.exe": "ab" * 32}},
        {"program": "newest", "installers": {"http://x.org": ""}},
        {"program": 3, "installers": []},
    ],
)
def test_a_task_that_asks_for_another_version_of_the_program_is_worked_on_all_the_same(
    project: Project, ana: Person, tmp_path: Path, asked: dict
) -> None:
    project.set("program", asked)
    task = task_for(project, ana.id, tmp_path / "ana")
    extra = packages.read_package(task, packages.TASK).manifest.extra
    assert "program" not in extra
    task.write_bytes(with_manifest(task.read_bytes(), packages.new_key(), extra=extra | asked))
    with closing_(tasking.take_task(task).project) as theirs:
        # As the versions that knew such a condition kept it.
        theirs.set("program", asked)
    with closing_(Project.open(project_in(task.parent))) as theirs:
        write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
        (came,) = unpacking.take_in(project, [tray.work(theirs).path])
    assert outcomes([came]) == ["new"]
    older = json.dumps(came.model_dump(mode="json") | {"asked": "7.3 or newer"})
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE parcel SET content = ? WHERE direction = 'in'", (older,))
    assert outcomes(unpacking.received(project)) == ["new"]
    assert [result.table for result in checking.check(project).problems] == []


def test_returned_work_tells_every_version_that_changed_it(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ana, li = annotators(project)
    with monkeypatch.context() as installed:
        for module in (project_file, tray):
            installed.setattr(module, "__version__", "0.0.9")
        returned(project, ana.id, tmp_path / "ana")
    with closing_(Project.open(project_in(tmp_path / "ana"))) as theirs:
        work = tray.work(theirs).path
        assert tray.work(theirs, tmp_path / "again").path.read_bytes() == work.read_bytes()
    assert packages.read_package(work, packages.WORK).programs == ("0.0.9", __version__)
    first, _ = unpacking.take_in(project, [work, returned(project, li.id, tmp_path / "li")])
    assert (first.outcome, first.program) == (ParcelOutcome.NEW, f"0.0.9, {__version__}")
    assert people.programs(project) == {ana.id: f"0.0.9, {__version__}", li.id: __version__}


def test_what_returned_work_says_of_its_versions_is_kept_only_where_it_is_sound(
    project: Project, tmp_path: Path
) -> None:
    work = returned(project, annotators(project)[0].id, tmp_path / "ana")
    for told in (7, ["<b>", 3, None], "0.1.0", ["9" * 60]):
        work.write_bytes(with_manifest(work.read_bytes(), packages.new_key(), extra={"programs": told}))
        assert unpacking.preview(project, [work])[0].program == __version__, told


def three_reports(folder: Path) -> Project:
    """Two items with settled rubrics, three reports each that differ in their words; a coordinator works."""
    folder.mkdir()
    to_label = labelling_project(folder, reports=0)
    for item_id in items.ids(to_label):
        for number, system in enumerate(SYSTEMS):
            add_report(to_label, item_id, system, f"Report number {number} measures accuracy.")
    settle(to_label, "", "consensus")
    return to_label


def settle(to_label: Project, author: str, state: str) -> None:
    sql.alter(to_label, "UPDATE artifact SET author_id = ?, state = ?", (author, state))


@pytest.fixture
def to_label(tmp_path: Path) -> Project:
    to_label = three_reports(tmp_path / "home")
    person = people.add_person(to_label, "Ada", alias="Z1").subject
    assignments.assign_one(to_label, items.ids(to_label)[0], person, Stage.LABELLING)
    return to_label


def ada(to_label: Project) -> str:
    return people.known(to_label, "Z1").id


def label_all(to_label: Project, yes: str) -> None:
    for task in labels.queue(to_label):
        shown = labels.sheet(to_label, task.response_id)
        for unit in shown.units:
            labels.set_label(to_label, task.response_id, unit.id, "yes" if yes in shown.report else "no")
            labels.set_evidence(to_label, task.response_id, unit.id, shown.report[2:6], 2, 6)
    for item_id in {task.item_id for task in labels.queue(to_label)}:
        label_sealing.submit(to_label, item_id)


def judged(to_label: Project, trial: int) -> set[tuple[str, str, str]]:
    rows = sql.rows(to_label,
        "SELECT s.name, j.unit_id, j.value FROM judgement j JOIN response r ON r.id = j.response_id "
        "JOIN system s ON s.id = r.system_id WHERE j.rater_id = ? AND j.trial = ?", (ada(to_label), trial),
    )  # fmt: skip
    return set(rows)


def test_labels_come_back_on_the_reports_they_were_given_for(to_label: Project, tmp_path: Path) -> None:
    theirs = tasking.take_task(packing.task(to_label, ada(to_label), tmp_path).path).project
    first = items.ids(to_label)[0]
    report = sql.first(
        to_label,
        "SELECT r.text, s.name FROM response r JOIN system s ON s.id = r.system_id WHERE r.item_id = ? LIMIT 1",
        (first,),
    )
    label_all(theirs, report[0])
    unpacking.take_in(to_label, [tray.work(theirs).path])
    assert judged(to_label, 1) == {
        (name, unit, "yes" if name == report[1] else "no")
        for name in SYSTEMS
        for unit in units_of(to_label, first)
    }
    evidence = "SELECT DISTINCT quote_start, quote_end FROM judgement WHERE rater_id = ?"
    assert sql.rows(to_label, evidence, (ada(to_label),)) == [(2, 6)]
    for blinded in ("SELECT name FROM system", "SELECT id FROM response"):
        assert not {*sql.rows(theirs, blinded)} & {*sql.rows(to_label, blinded)}


def test_what_they_said_here_under_other_protocols_stays_when_their_labels_come_back(
    to_label: Project, tmp_path: Path
) -> None:
    me = people.someone(to_label)
    to_label.work_as(people.known(to_label, "Z1"))
    task = labels.queue(to_label, "researcherbench.pairwise")[0]
    labels.set_label(to_label, task.response_id, task.other_id, "tie", protocol="researcherbench.pairwise")
    to_label.work_as(me)
    theirs = tasking.take_task(packing.task(to_label, ada(to_label), tmp_path).path).project
    label_all(theirs, "nothing")
    unpacking.take_in(to_label, [tray.work(theirs).path])
    values = [value for _, _, value in judged(to_label, 1)]
    assert (values.count("tie"), "no" in values) == (1, True)


def test_a_repeat_looks_like_another_item_and_comes_back_as_a_second_trial(
    to_label: Project, tmp_path: Path
) -> None:
    repeat(to_label, datetime(2026, 1, 1, tzinfo=UTC))
    theirs = tasking.take_task(packing.task(to_label, ada(to_label), tmp_path).path).project
    assert len({*sql.rows(theirs, "SELECT key FROM item")}) == len(items.ids(theirs)) == 2
    label_all(theirs, "nothing")
    work = tray.work(theirs).path
    unpacking.take_in(to_label, [work])
    assert (len(judged(to_label, 1)), judged(to_label, 2)) == (len(judged(to_label, 2)), judged(to_label, 1))
    before = sql.first(to_label, "SELECT count(*) FROM judgement")
    unpacking.take_in(to_label, [work])
    assert sql.first(to_label, "SELECT count(*) FROM judgement") == before


def repeat(to_label: Project, not_before: datetime) -> None:
    more = {"purpose": Purpose.REPEAT, "trial": 2, "not_before": not_before}
    assignments.assign_one(to_label, items.ids(to_label)[0], ada(to_label), Stage.LABELLING, **more)


def test_a_repeat_is_not_served_before_its_day(to_label: Project, tmp_path: Path) -> None:
    repeat(to_label, datetime(2099, 1, 1, tzinfo=UTC))
    packed = packing.task(to_label, ada(to_label), tmp_path)
    assert (packed.items, packed.notes) == (1, ("1 repeat is not served before their date.",))


def test_reports_are_labelled_by_what_is_settled_never_by_a_partners_rubric(
    to_label: Project, tmp_path: Path
) -> None:
    settle(to_label, people.add_person(to_label, "Somebody").subject, "sealed")
    expect_refusal("no settled rubric", packing.task, to_label, ada(to_label), tmp_path)


def test_no_quotation_of_its_authors_reaches_those_who_label_by_a_document():
    anchors = (Anchor(quote="CANARY 1"), Anchor(quote="CANARY 2"))
    served = packing._for_raters(
        Kind.RUBRIC,
        Rubric(units=(Criterion(text="Explains it", anchor=anchors[0], more_anchors=anchors[1:]),)).tree(),
    )
    assert ("CANARY" in str(served), [unit["text"] for unit in served["units"]]) == (False, ["Explains it"])


def clashing(to_label: Project, folder: Path, *texts: str) -> tray.TraySheet:
    """Work on the first item from a second copy of Ana's task, taken in after that of the first."""
    ana = annotators(to_label)[0]
    unpacking.take_in(to_label, [returned(to_label, ana.id, folder / "one")])
    theirs = second_copy(to_label, ana.id, project_in(folder / "one"), folder / "two")
    write_rubric(theirs, items.ids(theirs)[0], *texts)
    path = tray.work(theirs).path
    theirs.close()
    unpacking.take_in(to_label, [path])
    return only(to_label)


def only(to_label: Project) -> tray.TraySheet:
    (result,) = tray.sheets(to_label)
    return tray.sheet(to_label, result)


def words(sheet: tray.TraySheet) -> list[tuple[str, str]]:
    return [(came.text if came else "", here.text if here else "") for came, here in sheet.rows]


copied = fixture_of(coordinated)


def test_the_same_revision_from_a_second_computer_waits_in_the_tray(copied: Project, tmp_path: Path) -> None:
    sheet, before = clashing(copied, tmp_path, "Explains what was seen at the office"), revisions(copied)
    (piece,) = (
        piece for one in unpacking.received(copied) for piece in one.pieces if piece.outcome == "conflicting"
    )
    assert piece.words == "A different text arrived for the same revision; both are kept."
    tray.accept(copied, sheet.entry.id)
    # The one that waited was not among them.
    assert len(revisions(copied)) == len(before) + 1
    assert checking.check(copied).problems == []


def test_units_of_two_copies_are_paired_by_likeness(copied: Project, tmp_path: Path) -> None:
    sheet = clashing(copied, tmp_path, "Names a mine in Peru", "Explains the weight of pure gold")
    assert words(sheet) == [
        ("Names a mine in Peru", ""),
        ("Explains the weight of pure gold", "Explains the weight of gold"),
    ]
    assert sheet.here_revision == 2


def test_what_is_here_only_stands_last_and_an_entry_may_be_accepted_until_it_is(
    copied: Project, tmp_path: Path
) -> None:
    sheet = clashing(copied, tmp_path, "Names a mine in Peru")
    assert words(sheet) == [("Names a mine in Peru", ""), ("", "Explains the weight of gold")]
    tray.set_aside(copied, sheet.entry.id)
    (aside,) = tray.sheets(copied, TrayState.SET_ASIDE)
    assert aside.may_be_accepted
    tray.accept(copied, sheet.entry.id)
    (accepted,) = tray.sheets(copied, TrayState.ACCEPTED)
    assert not accepted.may_be_accepted


def test_the_adjudicator_of_an_item_decides_without_seeing_its_annotators_work(
    copied: Project, tmp_path: Path
) -> None:
    people.add_person(copied, "Senior", (Role.ADJUDICATOR, Role.COORDINATOR), "S")
    senior = next(one for one in people.people(copied) if one.alias == "S")
    assignments.assign_one(copied, items.ids(copied)[0], senior.id, Stage.ADJUDICATION)
    clashing(copied, tmp_path, "Names a mine in Peru")
    copied.work_as(senior)
    sheet = only(copied)
    assert "You adjudicate this item" in sheet.withheld
    assert (sheet.came, sheet.here, sheet.rows) == (None, None, ())
    tray.accept(copied, sheet.entry.id)
    assert tray.sheets(copied) == []


def test_labels_are_told_by_criterion_and_report_number_never_by_system(
    to_label: Project, tmp_path: Path
) -> None:
    theirs = tasking.take_task(
        packing.task(to_label, ada(to_label), tmp_path).path, tmp_path / "first.goldsmith"
    ).project
    for copy, yes in (
        (theirs, "Report"),
        (second_copy(to_label, ada(to_label), theirs.path, tmp_path / "two"), "nothing"),
    ):
        label_all(copy, yes)
        unpacking.take_in(to_label, [tray.work(copy).path])
        copy.close()
    sheet = only(to_label)
    assert sorted(sheet.reports.values()) == [1, 2, 3]
    assert {came.unit_id for came, _ in sheet.rows if came} <= set(sheet.headings)
    assert {(came.value, here.value) for came, here in sheet.rows if came and here} == {("no", "yes")}
    assert "Canary" not in repr(sheet)


def test_a_holding_counts_what_a_person_can_do_now(tmp_path: Path) -> None:
    to_label = coordinated(tmp_path, ["Ana"])
    ana, (first, second) = annotators(to_label)[0], items.ids(to_label)
    for item_id, day in ((first, 9), (second, 4)):
        due = datetime(2030, 5, day, tzinfo=UTC)
        assignments.assign_one(to_label, item_id, ana.id, Stage.PLAN, due=due)
    assignments.assign_one(to_label, first, ana.id, Stage.LABELLING)
    (holding,) = packing.holdings(to_label)
    assert (
        holding.items, holding.pieces, holding.due, sum(each.handed_in for each in board.board(to_label)),
    ) == (2, 4, due, 0)  # fmt: skip
    # Labelling waits until the own document of the item is handed in, a repeat for its day; it counts as an item.
    assert holding.stages == ((Stage.PLAN, 2), (Stage.RUBRIC, 2))
    unpacking.take_in(to_label, [returned(to_label, ana.id, tmp_path / "ana")])
    for item_id, days in ((first, 10), (second, -1)):
        assignments.assign_one(
            to_label, item_id, ana.id, Stage.LABELLING, trial=2, purpose=Purpose.REPEAT,
            not_before=now() + timedelta(days=days),
        )  # fmt: skip
    (holding,) = packing.holdings(to_label)
    assert (holding.items, board.per_person(board.board(to_label))[0].handed_in) == (3, 2)
    assert holding.stages == ((Stage.PLAN, 2), (Stage.RUBRIC, 2), (Stage.LABELLING, 2))
    assert holding.written_at is not None


def test_who_only_adjudicates_gets_no_task(tmp_path: Path) -> None:
    to_label = coordinated(tmp_path, [])
    people.add_person(to_label, "Senior", (Role.ADJUDICATOR,))
    assignments.assign_one(to_label, items.ids(to_label)[0], annotators(to_label)[0].id, Stage.ADJUDICATION)
    assert packing.holdings(to_label) == []


def test_a_task_that_cannot_be_written_keeps_no_other_back(copied: Project, tmp_path: Path) -> None:
    ana, li = annotators(copied)
    unpacking.take_in(copied, [returned(copied, ana.id, tmp_path / "ana")])
    assignments.assign_one(copied, items.ids(copied)[0], ana.id, Stage.LABELLING)
    told: list[tuple[str, int, int]] = []
    done = packing.write_tasks(copied, [ana.id, li.id], tmp_path, progress=lambda *words: told.append(words))
    assert [one.packed is not None for one in done] == [False, True]
    assert "no settled rubric" in str(done[0].problem)
    assert [words[1:] for words in told] == [(0, 2), (1, 2)]
