"""Work goes out and comes back by file: whole, once, in any order, and nothing of it is ever overwritten."""

import json
from collections.abc import Iterator
from contextlib import closing as closing_
from pathlib import Path

import pytest
from sqlalchemy import insert
from sqlalchemy.util import LRUCache

from annotator import __version__
from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts, settings
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.consensus import consensus
from annotator.actions.items import items, materials
from annotator.actions.parcels import packing, tasking, tray, unpacking
from annotator.actions.project import file as project_file, people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.domain.experts.adjudication import BOTH, Dispute, Reason
from annotator.domain.experts.assignment import ParcelOutcome, Role, Stage, TrayState
from annotator.domain.kinds.artifact import State
from annotator.domain.texts.canonical import canonical_json, now, sha256
from annotator.exchange.parcels import packages
from annotator.storage import connection
from annotator.storage.tables import DISPUTE
from tests.cli.commands import printed
from tests.exchange.parcels.hand_made_zip import with_manifest
from tests.exchange.parcels.hostile_packages import HOSTILE
from tests.exchange.texts.test_rendering import pdf
from tests.material.content_hash import content_hash
from tests.material.sent_apart import (
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
from tests.projects.refusals import expect_refusal
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


def test_work_comes_back_as_it_was_sealed_and_once(project: Project, tmp_path: Path) -> None:
    ana = annotators(project)[0]
    path = returned(project, ana.id, tmp_path / "ana", "Explains the weight of gold")
    with closing_(Project.open(project_in(tmp_path / "ana"))) as theirs:
        receipt = tray.outlook(theirs).sent[0].receipt
    before = content_hash(project)
    (looked,) = unpacking.preview(project, [path])
    assert (looked.receipt, outcomes([looked])) == (receipt, ["new", "new"])
    assert content_hash(project) == before
    assert [arrival.outcome for arrival in unpacking.take_in(project, [path])] == [ParcelOutcome.NEW]
    written = sql.first(
        project, "SELECT count(*) FROM artifact WHERE author_id = ? AND state = 'sealed'", (ana.id,)
    )
    assert written == (2,)
    assert checking.check(project).problems == []
    before = content_hash(project)
    again = unpacking.take_in(project, [path])
    assert (again[0].outcome, outcomes(again)) == (ParcelOutcome.DUPLICATE, ["duplicate", "duplicate"])
    assert content_hash(project) == before


def test_a_task_is_the_same_bytes_for_one_person(project: Project, tmp_path: Path) -> None:
    ana = annotators(project)[0]
    first = task_for(project, ana.id, tmp_path / "a").read_bytes()
    assert task_for(project, ana.id, tmp_path / "b").read_bytes() == first
    ana, ming = annotators(project)
    ours = task_for(project, ana.id, tmp_path / "a").read_bytes()
    assert task_for(project, ming.id, tmp_path / "b").read_bytes() != ours
    idle = people.add_person(project, "Idle").subject
    expect_refusal("Nothing is assigned", packing.task, project, idle, tmp_path)


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
    mine = next(one for one in frozen.inputs if one.person_id == ana.id)
    assert (mine.revision, frozen.pairs[0].figures[0].value) == (lowest, 1.0)


def test_work_of_another_project_is_kept_apart(project: Project, tmp_path: Path) -> None:
    other = coordinated(tmp_path / "other")
    path = returned(other, annotators(other)[0].id, tmp_path / "stranger")
    before = revisions(project)
    assert unpacking.take_in(project, [path])[0].outcome is ParcelOutcome.FOREIGN
    assert revisions(project) == before
    expect_refusal("another project", tray.accept, project, tray.entries(project)[0].id)


def test_work_that_was_not_asked_for_waits_in_the_tray_until_it_is_accepted(
    project: Project, tmp_path: Path
) -> None:
    ana = annotators(project)[0]
    path = returned(project, ana.id, tmp_path / "ana")
    withdrawn = assignments.of_person(project, ana.id)[0]
    assignments.withdraw_all(project, [withdrawn.id])
    assert sorted(outcomes(unpacking.take_in(project, [path]))) == ["foreign", "new"]
    entry = tray.entries(project)[0]
    assert (entry.reason, entry.item_id) == (ParcelOutcome.FOREIGN, withdrawn.item_id)
    tray.accept(project, entry.id)
    assert tray.entries(project) == []
    assert tray.entries(project, None)[0].state is TrayState.ACCEPTED
    assert checking.check(project).problems == []


def test_a_manifest_changed_by_hand_is_refused_whole(project: Project, tmp_path: Path) -> None:
    path = returned(project, annotators(project)[0].id, tmp_path / "ana")
    path.write_bytes(with_manifest(path.read_bytes(), person_id=annotators(project)[1].id))
    before = content_hash(project)
    arrival = unpacking.take_in(project, [path])[0]
    assert (arrival.outcome, "signature" in arrival.reason) == (ParcelOutcome.DAMAGED, True)
    assert content_hash(project) == before


def test_the_same_revision_from_a_second_computer_waits_in_the_tray(project: Project, tmp_path: Path) -> None:
    ana = annotators(project)[0]
    laptop = tasking.take_task(task_for(project, ana.id, tmp_path / "ana"), tmp_path / "laptop").project
    office = second_copy(project, ana.id, laptop.path, tmp_path / "office")
    works = []
    for place, theirs in (("laptop", laptop), ("office", office)):
        write_rubric(theirs, items.ids(theirs)[0], f"Explains what was seen at the {place}")
        works.append(tray.work(theirs, tmp_path / f"{place}.goldsmith-work").path)
        theirs.close()
    assert outcomes(unpacking.take_in(project, works[:1])) == ["new"]
    before = revisions(project)
    came = unpacking.take_in(project, works[1:])
    assert outcomes(came) == ["conflicting"]
    assert came[0].pieces[0].words == "A different text arrived for the same revision; both are kept."
    assert revisions(project) == before
    tray.accept(project, tray.entries(project)[0].id)
    assert len(revisions(project)) == len(before) + 1
    assert checking.check(project).problems == []


def with_senior(project: Project, folder: Path) -> str:
    """Sue, once both annotators have returned what they wrote of every item; her id."""
    for place, person in enumerate(annotators(project)):
        unpacking.take_in(
            project, [returned(project, person.id, folder / str(place), f"Says {place} of gold")]
        )
    return people.add_person(project, "Sue", (Role.ADJUDICATOR,)).subject


def rule_and_close(project: Project, take: str) -> None:
    """Every row of what waits first, or is closed, ruled so, with a reason and a note, and closed."""
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


def adjudicated(project: Project, tmp_path: Path) -> str:
    """The first item's rubric, brought to a consensus by an adjudicator; the item's id."""
    with_senior(project, tmp_path)
    rule_at_home(project, "A")
    return items.ids(project)[0]


def test_work_after_the_consensus_is_late_and_leaves_it_alone(project: Project, tmp_path: Path) -> None:
    item_id = adjudicated(project, tmp_path)
    theirs = Project.open(next((tmp_path / "0").glob("*.goldsmith")))
    edit_rubric(theirs, item_id, "Explains the weight of gold once more")
    work = tray.work(theirs, tmp_path / "late.goldsmith-work").path
    consensus = [a for a in artifacts_of(project, item_id) if a.state is State.CONSENSUS]
    assert "late" in outcomes(unpacking.take_in(project, [work]))
    assert [a for a in artifacts_of(project, item_id) if a.state is State.CONSENSUS] == consensus
    assert [entry.reason for entry in tray.entries(project)] == [ParcelOutcome.LATE]


def test_an_objection_to_no_consensus_is_refused_in_words_and_the_rest_comes_in(
    project: Project, tmp_path: Path
) -> None:
    ana = annotators(project)[0]
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


def test_an_adjudicator_of_an_item_cannot_return_work_on_it(project: Project, tmp_path: Path) -> None:
    ana = annotators(project)[0]
    path = returned(project, ana.id, tmp_path / "ana")
    for one in assignments.of_person(project, ana.id):
        assignments.withdraw_all(project, [one.id])
    people.set_roles(project, ana.id, (Role.ANNOTATOR, Role.ADJUDICATOR))
    assignments.assign_one(project, items.ids(project)[0], ana.id, Stage.ADJUDICATION)
    pieces = unpacking.take_in(project, [path])[0].pieces
    assert {piece.outcome for piece in pieces} == {ParcelOutcome.FOREIGN}


@pytest.fixture
def senior(project: Project, tmp_path: Path) -> Iterator[Project]:
    """The project of Sue, who adjudicates the first item elsewhere."""
    sue = with_senior(project, tmp_path)
    assignments.assign_one(project, items.ids(project)[0], sue, Stage.ADJUDICATION)
    with closing_(tasking.take_task(task_for(project, sue, tmp_path / "sue")).project) as theirs:
        yield theirs


def freeze_again(project: Project) -> None:
    """The first item's agreement as another version of the program would have computed it."""
    content = sql.first(project, "SELECT content FROM agreement WHERE item_id = ?", (items.ids(project)[0],))[
        0
    ]
    again = canonical_json(json.loads(content) | {"program": "9.9"})
    with project.store.write() as db:
        values = again.decode(), sha256(again), content
        db.exec_driver_sql("UPDATE agreement SET content = ?, sha256 = ? WHERE content = ?", values)


def change_a_document(project: Project) -> None:
    with project.store.write() as db:
        db.exec_driver_sql("UPDATE revision SET content = replace(content, 'of gold', 'of lead')")


def withdraw(project: Project) -> None:
    assignments.withdraw_open(project, people.people(project)[-1].id)


def test_an_adjudication_comes_back_as_it_was_ruled_and_once(
    project: Project, senior: Project, tmp_path: Path
) -> None:
    rule_and_close(senior, "A")
    first, work = settled(senior), tray.work(senior).path
    assert outcomes(unpacking.take_in(project, [work])) == ["new"]
    assert (settled(project), len(first)) == (first, 1)
    said = "SELECT v.by, version, text FROM consensus_version v JOIN remark ON person_id = v.by"
    assert sql.rows(project, said) == [(senior.by, 1, "I took A.")]
    before = content_hash(project)
    assert outcomes(unpacking.take_in(project, [work])) == ["duplicate"]
    (forged := tmp_path / "forged.goldsmith-work").write_bytes(
        with_manifest(work.read_bytes(), packages.new_key())
    )
    assert unpacking.take_in(project, [forged])[0].outcome is ParcelOutcome.OTHER_KEY
    assert content_hash(project) == before
    rule_and_close(senior, "B")
    second = tray.work(senior, tmp_path / "second.goldsmith-work").path
    came = [outcomes(unpacking.take_in(project, [one])) for one in (second, work)]
    assert (came, settled(project)) == ([["newer"], ["duplicate"]], settled(senior))
    assert {*settled(project), *first} == {"Says 0 of gold", "Says 1 of gold"}
    assert [checking.check(one).problems for one in (project, senior)] == [[], []]


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
    project: Project, senior: Project, before, meanwhile, outcome: str, words: str
) -> None:
    for act, where in ((before, senior), (rule_and_close, senior), (meanwhile, project)):
        if act is not None:
            act(where, "A") if act is rule_and_close else act(where)
    there, here, work = sql.rows(project, KEPT), settled(project), tray.work(senior).path
    came = [unpacking.take_in(project, [work])[0].pieces[0] for _ in range(2)]
    assert [piece.outcome.value for piece in came] == [outcome, "duplicate"]
    assert sql.rows(project, KEPT) == there
    shown = tray.sheet(project, tray.sheets(project)[0])
    stands = "here stands version 1 by Sue" if here else "nothing is adjudicated here"
    assert all(part in shown.consequence for part in (words, stands, "Version 1 of"))
    assert checking.check(project).problems == []
    if not here:
        expect_refusal(words, tray.accept, project, shown.entry.id)
        return
    tray.accept(project, shown.entry.id)
    assert settled(project) == [unit.text for unit in shown.came.units] != here


def test_programs_that_know_no_adjudications_refuse_them_in_words(
    project: Project, senior: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    rule_and_close(senior, "A")
    assert (
        packages.read_package(next((project.path.parents[1] / "0").glob("*-task"))).manifest.format_version
        == "2.1"
    )
    monkeypatch.setattr(packages, "MAJOR", 2)
    for path in (next(senior.path.parent.glob("*R4*.goldsmith-task")), tray.work(senior).path):
        expect_refusal("it has format 3.0, and this program reads 2.x", packages.read_package, path)


def test_a_later_task_adds_to_the_same_project_and_touches_no_work(project: Project, tmp_path: Path) -> None:
    ana = annotators(project)[0]
    theirs = tasking.take_task(task_for(project, ana.id, tmp_path / "ana")).project
    own = write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    before = artifacts.revisions(theirs, own)
    theirs.close()
    assignments.assign_one(project, items.add(project, "Why is gold dense?").subject, ana.id, Stage.RUBRIC)
    again = tasking.take_task(task_for(project, ana.id, tmp_path / "ana")).project
    assert (again.path, len(items.ids(again))) == (theirs.path, 3)
    assert artifacts.revisions(again, own) == before


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Project, bytes]]:
    """A coordinator's project and a good package for it: what is refused leaves both as they are."""
    folder = tmp_path_factory.mktemp("hostile")
    project = coordinated(folder / "home")
    yield project, returned(project, annotators(project)[0].id, folder / "ana").read_bytes()
    project.close()


@pytest.mark.parametrize("case", sorted(HOSTILE))
def test_every_hostile_package_is_refused_and_the_project_is_unharmed(
    case: str, home: tuple[Project, bytes], tmp_path: Path
) -> None:
    project, good = home
    path = tmp_path / "work.goldsmith-work"
    path.write_bytes(HOSTILE[case](good))
    before, work = content_hash(project), revisions(project)
    arrival = unpacking.take_in(project, [path])[0]
    assert (bool(arrival.reason), revisions(project)) == (True, work)
    assert arrival.outcome is ParcelOutcome.DAMAGED
    assert content_hash(project) == before


def test_letter_8_a_task_says_what_its_sources_are(project: Project, tmp_path: Path) -> None:
    (path := tmp_path / "Rivers.md").write_text("Words.", "utf-8")
    with closing_(Project.open(project.path)) as ours:
        ours.person = project.person
        added = [items.add_source(ours, item_id, path).subject for item_id in items.ids(ours)]
        told = {"kind": "research", "published": "2024-05"}
        materials.describe(ours, materials.Thing.SOURCE, {source: told for source in added})
        theirs = tasking.take_task(task_for(ours, annotators(ours)[0].id, tmp_path / "ana")).project
    with closing_(theirs):
        result = [one for item_id in items.ids(theirs) for one in items.sources(theirs, item_id)]
    assert {(one.kind, one.published) for one in result if one.title == "Rivers"} == {("research", "2024-05")}


@pytest.mark.parametrize(
    "asked",
    [
        {"program": ">=7.3,<7.4", "installers": {"Goldsmith-7.3.1-setup.exe": "ab" * 32}},
        {"program": "newest", "installers": {"http://x.org": ""}},
        {"program": 3, "installers": []},
    ],
)
def test_a_task_that_asks_for_another_version_of_the_program_is_worked_on_all_the_same(
    project: Project, tmp_path: Path, asked: dict
) -> None:
    project.set("program", asked)
    ana, _ = annotators(project)
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
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
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
    assert f"  Made with Goldsmith 0.0.9, {__version__}." in unpacking.words(first)
    assert people.programs(project) == {ana.id: f"0.0.9, {__version__}", li.id: __version__}
    assert f"Ana Silva works with Goldsmith 0.0.9, {__version__}" in printed(
        capsys, "status", str(project.path)
    )


@pytest.mark.parametrize("told", [7, ["<b>", 3, None], "0.1.0", ["9" * 60]])
def test_what_returned_work_says_of_its_versions_is_kept_only_where_it_is_sound(
    project: Project, tmp_path: Path, told: object
) -> None:
    work = returned(project, annotators(project)[0].id, tmp_path / "ana")
    work.write_bytes(with_manifest(work.read_bytes(), packages.new_key(), extra={"programs": told}))
    assert unpacking.preview(project, [work])[0].program == __version__
