"""Imports, of tasks made elsewhere too: without a trace, whole or not at all, never twice, never over what is there.

The sample: the same whenever it is made, sound, and with something open on every page.
"""

import csv
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select

from annotator.actions.adjudication import adjudicating, feedback
from annotator.actions.agreement import agreement_report, final_pass
from annotator.actions.assignments import assignments, reviewing
from annotator.actions.authoring import annotating, artifacts, settings
from annotator.actions.contests import contest_standings
from annotator.actions.imports import imports, samples
from annotator.actions.items import items, pages
from annotator.actions.judges import judges
from annotator.actions.labelling import board, label_cases, label_sealing, labels
from annotator.actions.parcels import packing, tray, unpacking, waiting
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project, item_hash, response_hash
from annotator.actions.project.incoming import ImportCount
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_raters
from annotator.actions.runs import judge_cases, run_records
from annotator.actions.studies import result_views
from annotator.actions.undo import history
from annotator.actions.validation import disagreements, stand_in, validation
from annotator.domain.common import Refusal, now
from annotator.domain.experts.assignment import ParcelOutcome, Role, Stage, stage_of
from annotator.domain.kinds.artifact import Kind, State, chain
from annotator.domain.kinds.documents import DOCUMENTS
from annotator.places import resources
from annotator.protocols import PROTOCOLS, USUAL
from annotator.storage.tables import ITEM, RESPONSE, REVISION
from tests.actions.releases.released_pairs import paired_project, released, taken_in
from tests.common import content_hash, expect_refusal
from tests.material.bundles import (
    change_json,
    found,
    peer_files,
    without_manifest,
    write_peer,
    write_release,
)
from tests.projects.pairs_project import item
from tests.projects.small_projects import small_sample
from tests.storage import sql

PEER, OURS = "researcherbench", "goldsmith"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return people.new_project(tmp_path / "project.goldsmith", "T")


def take(project: Project, format: str, folder: Path, **more: Any) -> Any:  # noqa: A002
    return imports.run(project, format, [folder], warm=False, **more)[1]


def counted(report: Any) -> dict[str, ImportCount]:
    return {thing: count for thing, count in report.counts.items() if count != ImportCount()}


def test_a_mode_has_one_spelling_and_an_unknown_one_is_refused_with_those_there_are(
    project: Project, tmp_path: Path
) -> None:
    path = tmp_path / "reports.csv"
    head = "key,question,system,mode,report\n"
    path.write_text(f"{head}q1,Why?,A,Gold_plan-Injection,One.\nq1,Why?,A,,Two.\n", "utf-8")
    assert not take(project, "tables", path).problems
    path.write_text(f"{head}q1,Why?,A,half gold,Three.\n", "utf-8")
    (problem,) = imports.preview(project, "tables", [path]).problems
    assert (
        "there is no mode “half gold”; there are: end-to-end, isolated, gold-plan injection" in problem.reason
    )
    expect_refusal("", take, project, "tables", path)
    assert sql.rows(project, "SELECT mode FROM response ORDER BY mode") == [
        ("end-to-end",),
        ("gold-plan injection",),
    ]
    bundle, _ = releases.gather(project)
    # A report that says how it was asked for may be of a mode of its own.
    until = {"mode": "until May", "settings": "Until May."}
    bundle.responses = [response.model_copy(update=until) for response in bundle.responses[:1]]
    assert not take(
        people.new_project(tmp_path / "other.goldsmith", "O"),
        OURS,
        write_release(tmp_path / "release", bundle),
    ).problems


def test_a_preview_writes_nothing_and_an_import_is_one_change(project: Project, tmp_path: Path) -> None:
    before = project.path.read_bytes()
    assert counted(imports.preview(project, PEER, [write_peer(tmp_path / "in")])) == {
        "items": ImportCount(new=2),
        "systems": ImportCount(new=1),
        "responses": ImportCount(new=2),
        "artifacts": ImportCount(new=2),
    }
    assert project.path.read_bytes() == before
    change, report = imports.run(project, PEER, [write_peer(tmp_path / "in")], warm=False)
    assert (
        sql.rows(project, "SELECT kind FROM audit WHERE seq >= ?", [change.seq]),
        change.undoable,
        change.by,
    ) == ([("import",)], False, project.by)
    assert change.after["new"] == {"items": 2, "systems": 1, "responses": 2, "artifacts": 2}
    assert str(report) == "2 items, 1 system, 2 responses, 2 artifacts, 4 units"


def test_what_came_in_can_be_found_edited_and_checked(project: Project, tmp_path: Path) -> None:
    take(project, PEER, write_peer(tmp_path / "in"))
    (second,) = items.ids(project, items.Filter(words="who"))
    assert items.read(project, second).key == "2"
    with project.store.read() as db:
        revision, response, item = (
            db.execute(select(table)).mappings().first() for table in (REVISION, RESPONSE, ITEM)
        )
    assert (revision["number"], revision["verb"], revision["chain"]) == (
        1, "import", chain("", revision["sha256"]),
    )  # fmt: skip
    assert (response["sha256"], item["sha256"]) == (response_hash(response["text"]), item_hash(item))
    artifact = artifacts.read(project, revision["artifact_id"])
    assert (artifact.state, artifact.author_id) == (State.CONSENSUS, "")
    assignments.reopen(project, artifact.id)
    artifacts.change_unit(project, artifact.id, artifact.document.units[0].id, weight=3)
    assert artifacts.read(project, artifact.id).revision == 3


@pytest.mark.parametrize("format", [PEER, OURS])
def test_a_repeated_import_adds_nothing_and_says_so(project: Project, tmp_path: Path, format: str) -> None:  # noqa: A002
    folder = write_peer(tmp_path / "in") if format == PEER else write_release(tmp_path / "in")
    take(project, format, folder)
    before = project.path.read_bytes()
    change, report = imports.run(project, format, [folder])
    assert (str(report), report.new, report.problems, change.verb) == ("nothing new", 0, (), "nothing new")
    assert all(count.new == count.changed == 0 for count in report.counts.values())
    assert project.path.read_bytes() == before


def test_content_that_differs_is_reported_and_never_overwritten(project: Project, tmp_path: Path) -> None:
    folder = write_peer(tmp_path / "in")
    take(project, PEER, folder)
    change_json(folder / "rubric.json", lambda t: t[0]["rubric"][0].update(weight=3))
    change_json(folder / "responses" / "Sys.json", lambda t: t[1].update(response="Better"))
    before = project.path.read_bytes()
    told = r"responses/Sys.json\[1\]: differs from what the project holds"
    expect_refusal(told, take, project, PEER, folder)
    counts = take(project, PEER, folder, skip_bad=True).counts
    assert counts["artifacts"] == counts["responses"] == ImportCount(same=1, changed=1)
    assert project.path.read_bytes() == before


def test_own_changes_are_kept_when_the_same_files_come_again(project: Project, tmp_path: Path) -> None:
    folder = write_peer(tmp_path / "in")
    take(project, PEER, folder)
    (artifact_id,) = sql.first(project, "SELECT artifact_id FROM revision")
    unit = artifacts.read(project, artifact_id).document.units[0].id
    assignments.reopen(project, artifact_id)
    artifacts.change_unit(project, artifact_id, unit, note="my remark")
    assert str(take(project, PEER, folder)) == "nothing new"
    artifacts.change_unit(project, artifact_id, unit, text="My own words")
    assert take(project, PEER, folder, skip_bad=True).counts["artifacts"] == ImportCount(same=1, changed=1)


def test_one_bad_entry_keeps_everything_out_unless_it_is_skipped(project: Project, tmp_path: Path) -> None:
    files = peer_files()
    files["questions.json"][1]["question"] = ""
    folder = write_peer(tmp_path / "in", files)
    before = project.path.read_bytes()
    refused = expect_refusal(
        r"^questions\.json\[1\]: \(id 2\) “question” is empty", take, project, PEER, folder
    )
    assert (len(refused.details), project.path.read_bytes()) == (3, before)
    report = take(project, PEER, folder, skip_bad=True)
    assert (report.counts["items"].new, report.counts["responses"].new, len(report.problems)) == (1, 1, 3)


@pytest.mark.parametrize(
    ("allowed", "weights", "skipped"),
    [
        ("", (2, 1), {}),
        ("-8 to 9", (9, 5, -8), {}),
        ("0 to 1 by 0.25", (0.25, 1.0), {}),
        ("", (9, 2, -8), {0: "has weight 9; this project allows 1 to 3, and so 1 criterion more", 2: ""}),
        ("-8, 5, 9", (9, 0.5), {1: "has weight 0.5; this project allows -8, 5, 9"}),
        ("", (1, "3", True, 2), {1: "criterion 2: “weight” should", 2: "criterion 3: “weight” should"}),
        ("", (7, 8), {0: "has weight 7", 1: ""}),
        ("", (1, 5000), {1: "criterion 2: “weight” should"}),
    ],
)
def test_criteria_come_in_with_the_weights_that_the_project_allows_and_others_are_asked_about_once(
    project: Project, tmp_path: Path, allowed: str, weights: tuple[Any, ...], skipped: dict[int, str]
) -> None:
    files = peer_files()
    files["rubric.json"][1:] = []
    files["rubric.json"][0]["rubric"] = [{"point": f"P{n}", "weight": w} for n, w in enumerate(weights)]
    folder = write_peer(tmp_path / "in", files)
    settings.allow(project, allowed)
    if skipped:
        assert expect_refusal("", take, project, PEER, folder).happened.startswith("rubric.json[0]: ")
    report = take(project, PEER, folder, skip_bad=True)
    reasons = [reason for reason in skipped.values() if reason]
    for reason, problem in zip(reasons, report.problems, strict=True):
        assert reason in problem.reason
        assert bool(report.weights_to_allow) == ("this project allows" in problem.reason)
    kept = [
        (unit["text"], unit["weight"])
        for one in releases.gather(project)[0].artifacts
        for unit in one.document["units"]
    ]
    assert kept == [(f"P{n}", w) for n, w in enumerate(weights) if n not in skipped]
    assert (len(items.ids(project)), report.counts["responses"].new) == (2, 2)


def test_weights_that_are_allowed_when_asked_about_let_the_file_in(project: Project, tmp_path: Path) -> None:
    files = peer_files()
    files["rubric.json"][1]["rubric"][0]["weight"] = -8
    folder = write_peer(tmp_path / "in", files)
    assert "Allow -8 to 3 in this project" in expect_refusal("", take, project, PEER, folder).happened
    assert (
        imports.run(project, PEER, [folder], imports.ImportOptions(allow_weights=True), warm=False)[1]
        .counts["artifacts"]
        .new
        == 2
    )
    assert settings.allowed(project).text == "-8 to 3"


def test_a_disk_that_fails_half_way_leaves_nothing(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = project.path.read_bytes()

    def fail(*_: object) -> None:
        raise Refusal("The disk is full; the change was not saved.")

    monkeypatch.setattr(imports.store, "index", fail)
    expect_refusal("disk is full", take, project, PEER, write_peer(tmp_path / "in"))
    assert project.path.read_bytes() == before


def test_what_calls_of_a_judge_cost_and_send_hinders_no_import(project: Project, tmp_path: Path) -> None:
    priced = '{"price": {"input": 1, "output": 2}, "headers": {"X-Team": "gold"}}'
    judges.add(project, "priced", base_url="http://127.0.0.1:1/v1", model="m", asking=priced)
    assert counted(take(project, PEER, write_peer(tmp_path / "in")))["items"].new == 2


def aliases(project: Project) -> dict[str, str]:
    return {person.id: person.alias for person in people.people(project)}


def test_who_has_worked_keeps_the_alias_and_who_has_not_makes_room(project: Project, tmp_path: Path) -> None:
    folder, me = write_release(tmp_path / "in"), people.someone(project)
    take(project, OURS, folder)
    assert aliases(project) == {"person-1": "R1", "person-2": "R2", me.id: "R3"}
    busy = people.new_project(tmp_path / "busy.goldsmith", "B")
    me = people.someone(busy)
    artifacts.start(busy, items.add(busy, "Why?").subject, Kind.RUBRIC)
    report = take(busy, OURS, folder)
    assert aliases(busy) == {me.id: "R1", "person-1": "R3", "person-2": "R2"}
    assert [str(note) for note in report.notes] == ["people.json[0]: the alias R1 is taken; it becomes R3"]
    assert str(take(busy, OURS, folder)) == "nothing new"


BAD_LINKS: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "unknown criterion": (
        "judgements.json",
        lambda t: t[0].update(unit_id="c9"),
        "artifact of item one has no unit c9",
    ),
    "unknown response": (
        "judgements.json",
        lambda t: t[0].update(response_id="r9"),
        "its response r9 was not imported",
    ),
    "another item's response": (
        "judgements.json",
        lambda t: t[0].update(response_id="response-2"),
        "does not belong to item one",
    ),
    "unknown rater": (
        "judgements.json",
        lambda t: t[0].update(rater_id="x"),
        "was not imported and is not in the project",
    ),
    "unknown run": ("judgements.json", lambda t: t[0].update(run_id="x"), "its run x was not imported"),
    "repeated judgement": (
        "judgements.json",
        lambda t: t.append(t[0]),
        "stands in these files more than once",
    ),
    "unknown item": ("sources.json", lambda t: t[0].update(item_id="x"), "its item x was not imported"),
    "unknown author": (
        "artifacts/diagnostics.json",
        lambda t: t[0].update(author_id="x"),
        "its person x was not",
    ),
    "repeated key": (
        "items.json",
        lambda t: t[1].update(key="one", dataset=""),
        "stands in these files more than once",
    ),
    "long id": ("sources.json", lambda t: t[0].update(id="x" * 37), "should be 1 to 36 plain letters"),
    "id with an invisible character": (
        "sources.json",
        lambda t: t[0].update(id="item\u200b"),
        "should be 1 to 36 plain letters",
    ),
    "position out of reach": (
        "items.json",
        lambda t: t[1].update(position=2**62),
        "“position” should be at most",
    ),
    "unknown role": ("people.json", lambda t: t[0].update(roles=["king"]), "“king” is not a role"),
    "long key": ("items.json", lambda t: t[0].update(key="k" * 121), "“key” "),
    "trial 0": (
        "responses/nul_.json",
        lambda t: t[0].update(trial=0),
        "“trial” should be greater than or equal to 1",
    ),
    "unknown judge": ("runs.json", lambda t: t[0].update(judge_id="x"), "its judge x was not imported"),
}


def test_a_record_that_does_not_fit_is_refused_by_name(project: Project, tmp_path: Path) -> None:
    folder, before = without_manifest(write_release(tmp_path / "in")), project.path.read_bytes()
    for name, (path, spoil, reason) in BAD_LINKS.items():
        sound = (folder / path).read_bytes()
        change_json(folder / path, spoil)
        refused = expect_refusal("", take, project, OURS, folder)
        assert refused.happened.startswith(f"{path}["), name
        assert reason in refused.happened
        (folder / path).write_bytes(sound)
    assert project.path.read_bytes() == before


def test_what_hangs_on_a_changed_report_is_not_attached_to_the_kept_one(
    project: Project, tmp_path: Path
) -> None:
    folder = without_manifest(write_release(tmp_path / "in"))
    take(project, OURS, folder)
    sql.alter(project, "DELETE FROM judgement")
    sql.alter(project, "UPDATE response SET sha256 = ? WHERE id = 'response-1'", [response_hash("other")])
    report = take(project, OURS, folder, skip_bad=True)
    assert (report.counts["responses"].changed, report.counts["judgements"].new) == (1, 0)
    assert sql.first(project, "SELECT count(*) FROM judgement") == (0,)


def test_what_another_process_wrote_meanwhile_is_not_written_twice(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = write_peer(tmp_path / "in")
    items.add(project, "Why?")

    def meanwhile(_project: Project, _why: str) -> None:
        monkeypatch.undo()
        other = Project.open(project.path)
        take(other, PEER, folder)
        other.close()

    monkeypatch.setattr(imports.backups, "make", meanwhile)
    assert counted(take(project, PEER, folder)) == {
        "items": ImportCount(same=2), "systems": ImportCount(same=1), "responses": ImportCount(same=2),
        "artifacts": ImportCount(same=2),
    }  # fmt: skip
    assert items.count(project) == 3


def test_imports_refuse_unknown_formats_and_tell_progress(project: Project, tmp_path: Path) -> None:
    expect_refusal("not a format", imports.preview, project, "xml", [tmp_path])
    expect_refusal("There is no “absent”", imports.preview, project, PEER, [tmp_path / "absent"])
    told: list[tuple[str, int, int]] = []
    imports.run(project, PEER, [write_peer(tmp_path / "in")], progress=lambda *step: told.append(step))
    assert ("writing responses", 2, 2) in told
    assert told[-1][0] == "rendering reports"
    assert backups.listing(project.path) == []
    # Further systems join the items that are there, of which there is a copy from before.
    (tmp_path / "New.json").write_text(json.dumps(peer_files()["responses/Sys.json"]), "utf-8")
    assert counted(take(project, PEER, tmp_path / "New.json")) == {
        "systems": ImportCount(new=1),
        "responses": ImportCount(new=2),
    }
    assert len(backups.listing(project.path)) == 1


FIRST = {
    "id": "t1", "task": "Survey layouts; deliver a table.", "phase": "Synthesize", "family": "literature survey",
    "difficulty": "Basic", "seminar": "s012", "subject": "Seismology",
}  # fmt: skip
SECOND = {"id": "t2", "task": "Write a protocol.", "task_type": "Method Blueprint", "seminar": "s012"}
LOOSE = {
    "id": "t3",
    "task": "比较两种预警方法，并提交表格。",
    "phase": "evaluation",
    "family": "Comparative Analysis",
}


def lines(path: Path, *entries: Any) -> Path:
    path.write_text(
        "".join(f"{entry if isinstance(entry, str) else json.dumps(entry)}\n" for entry in entries), "utf-8"
    )
    return path


def tasks_in(project: Project, folder: Path, *entries: Any) -> Any:
    return imports.run(project, "arena", [lines(folder / "tasks.jsonl", *entries)])[1]


def test_tasks_come_in_under_their_seminars_and_are_settled(project: Project, tmp_path: Path) -> None:
    early = items.add(
        project,
        "Early warning of earthquakes",
        subject="Geology",
        more={"key": "s013", "dataset": "seminars"},
    ).subject
    report = tasks_in(project, tmp_path, FIRST, "", LOOSE, SECOND, FIRST | {"id": "t4", "seminar": "s013"})
    assert not report.problems
    assert [note.reason for note in report.notes] == ["2 tasks without difficulty"]
    same, seminar, elsewhere = (items.read(project, item_id) for item_id in items.ids(project))
    assert (seminar.key, seminar.dataset, seminar.subject) == ("s012", "seminars", "Seismology")
    assert (elsewhere.key, elsewhere.question) == ("tasks", "Tasks of no known seminar")
    assert (same.id, same.question) == (early, "Early warning of earthquakes")
    settled = contest_standings.settled(project)
    assert [(one.id, one.phase, one.family) for one in settled[seminar.id]] == [
        ("t1", "synthesize", "Literature Survey"),
        ("t2", "design", "Method / Experiment Blueprint"),
    ]
    assert [(one.text, one.phase) for one in settled[elsewhere.id]] == [(LOOSE["task"], "evaluate")]
    assert [task.id for task in settled[early]] == ["t4"]
    item = items.read(project, contest_standings.keep(project, seminar.id, "t2").subject)
    assert (item.key, item.traits) == ("s012-t02", {"phase": "design"})
    assert checking.check(project).problems == []


def test_a_second_import_adds_nothing_and_an_export_is_the_same_again(
    project: Project, tmp_path: Path
) -> None:
    tasks_in(project, tmp_path, FIRST, SECOND, LOOSE)
    assert str(tasks_in(project, tmp_path, FIRST, SECOND, LOOSE)) == "nothing new"
    assert items.count(project) == 2
    releases.export(project, tmp_path / "out", "arena")
    written = tmp_path / "out" / "tasks.jsonl"
    told = [json.loads(line) for line in written.read_text("utf-8").splitlines()]
    assert [one["id"] for one in told] == ["t1", "t2", "t3"]
    assert told[0] == FIRST | {"phase": "synthesize", "family": "Literature Survey", "difficulty": "basic"}
    other = people.new_project(tmp_path / "other.goldsmith", "T")
    imports.run(other, "arena", [written])
    releases.export(other, tmp_path / "again", "arena")
    assert (tmp_path / "again" / "tasks.jsonl").read_bytes() == written.read_bytes()
    # A release keeps what an item was made from.
    contest_standings.keep(project, items.ids(project)[0], "t1")
    releases.export(project, tmp_path / "release")
    third = people.new_project(tmp_path / "third.goldsmith", "T")
    imports.run(third, OURS, [tmp_path / "release"])
    (made,) = (one for one in (items.read(third, each) for each in items.ids(third)) if one.made_from)
    assert (made.key, made.made_from, made.traits) == (
        "s012-t01", "t1", {"phase": "synthesize", "difficulty": "basic"},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (
            FIRST | {"family": "Essay Writing"},
            "line 2: “Essay Writing” is no family; there are: Literature Survey",
        ),
        (FIRST | {"phase": "plan"}, "line 2: “plan” is no phase; there are: synthesize, design, evaluate"),
        (
            FIRST | {"phase": "design"},
            "line 2: Literature Survey belongs to the phase synthesize, not design",
        ),
        (FIRST | {"task": " "}, "line 2: there is no task"),
        (FIRST | {"task": ["a"]}, "line 2: “task” is not a text"),
        ([1], "line 2: no object with fields"),
        ("{broken", "line 2: "),
        (LOOSE, "line 2: the id t3 stands before, in tasks.jsonl, line 1"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_reason(
    project: Project, tmp_path: Path, entry: Any, reason: str
) -> None:
    file = lines(tmp_path / "tasks.jsonl", LOOSE, entry, SECOND)
    assert f"tasks.jsonl: {reason}" in str(expect_refusal("", imports.run, project, "arena", [file]))
    assert items.count(project) == 0
    imports.run(project, "arena", [file], skip_bad=True)
    assert sorted(len(tasks) for tasks in contest_standings.settled(project).values()) == [1, 1]


def test_tables_and_long_tasks_are_read(project: Project, tmp_path: Path) -> None:
    with (tmp_path / "tasks.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, FIRST)
        table.writeheader()
        table.writerows([FIRST, FIRST | {"id": "t9", "task": "word " * 101}])
    _, report = imports.run(project, "arena", [tmp_path / "tasks.csv"])
    assert [note.reason for note in report.notes] == ["row 3: 101 words; at most 100 are asked for"]
    ((_, tasks),) = contest_standings.settled(project).items()
    assert len(tasks) == 2


def test_an_id_is_one_task_whatever_the_seminar(project: Project, tmp_path: Path) -> None:
    tasks_in(project, tmp_path, FIRST, SECOND)
    elsewhere = FIRST | {"seminar": "s013"}, SECOND | {"id": "t9", "seminar": "s014"}
    other = lines(tmp_path / "other.jsonl", *elsewhere)
    (problem,) = imports.preview(project, "arena", [other]).problems
    assert problem.reason == "its task t1 is another one of seminar s012 here: give it another id"
    expect_refusal("Nothing was imported", imports.run, project, "arena", [other])
    imports.run(project, "arena", [other], skip_bad=True)
    settled = [task.id for tasks in contest_standings.settled(project).values() for task in tasks]
    assert sorted(settled) == ["t1", "t2", "t9"]
    assert not imports.preview(project, "arena", [tmp_path / "tasks.jsonl"]).problems


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("pairs")
    return released(paired_project(folder), folder / "release")


def by_hand(release: Path, folder: Path, name: str, spoil: Callable[[Any], Any]) -> Path:
    shutil.copytree(release, folder)
    change_json(folder / name, spoil)
    return without_manifest(folder)


def work_as(project: Project, alias: str) -> Project:
    project.work_as(people.known(project, alias))
    return project


def test_a_release_of_pairs_comes_back_once(release, tmp_path):
    project = taken_in(tmp_path, release)
    assert found(released(project, tmp_path / "again")) == found(release)
    assert checking.check(project).problems == []
    counted = items.content_counts(project)
    assert [counted[name] for name in ("assignments", "agreements", "adjudications")] == [0, 3, 1]
    labelled = assignments.of_item(project, item(project))[-1]
    sealed = [artifacts.read(project, given.artifact_id) for given in labelled.inputs]
    assert [(one.kind, one.state, one.revision) for one in sealed] == [(Kind.LABELS, State.SEALED, 2)] * 2
    before = project.path.read_bytes()
    change, report = imports.run(project, "goldsmith", [release])
    assert (str(report), report.problems, change.verb, report.counts["adjudications"]) == (
        "nothing new", (), "nothing new", ImportCount(same=2),
    )  # fmt: skip
    assert project.path.read_bytes() == before
    # No answer is taken for one under an older guideline.
    people.add_person(project, "Me", (Role.COORDINATOR,), "M")
    assert [one.version for one in settings.versions(work_as(project, "M"), Stage.RUBRIC)] == [2]
    assert settings.stale(project) == []


def test_an_imported_adjudication_has_all_its_rows(release, tmp_path):
    project = work_as(taken_in(tmp_path, release), "R4")
    (closed,) = (line for line in adjudicating.queue(project) if line.state == "closed")
    sheet = adjudicating.sheet(project, closed.adjudication_id)
    assert (sheet.version, sum(len(row.made) for row in sheet.rows), len(sheet.rows)) == (2, 7, 7)


def test_what_was_sealed_keeps_its_chain_when_it_goes_on(release, tmp_path):
    project = work_as(taken_in(tmp_path, release), "R2")
    (artifact_id,) = sql.first(project, "SELECT artifact_id FROM revision WHERE reason = 'meant so'")
    assert [one.number for one in artifacts.revisions(project, artifact_id)] == [5, 2]
    assignments.reopen(project, artifact_id)
    assignments.seal(project, artifact_id)
    assert (artifacts.read(project, artifact_id).revision, checking.check(project).problems) == (7, [])
    assert len(assignments.of_item(project, item(project))) == 3


def test_an_adjudication_that_was_opened_here_is_kept(release, tmp_path):
    project = work_as(
        taken_in(
            tmp_path, by_hand(release, tmp_path / "in", "adjudications.json", lambda tree: tree.clear())
        ),
        "R4",
    )
    opened = adjudicating.open_(project, item(project), Stage.RUBRIC)
    report = imports.run(project, "goldsmith", [release], skip_bad=True, warm=False)[1]
    assert report.counts["adjudications"].new == 0
    assert "which is kept as it is" in str(report.problems[0])
    assert sql.rows(project, "SELECT id, state FROM adjudication") == [(opened.id, "open")]


def test_what_a_consensus_leads_back_to_comes_in_with_it_or_not_at_all(release, tmp_path):
    folder = by_hand(release, tmp_path / "in", "agreement.json", lambda tree: tree.clear())
    project = Project.create(tmp_path / "p.goldsmith", "T")
    report = imports.run(project, "goldsmith", [folder], skip_bad=True, warm=False)[1]
    assert (report.counts["artifacts"].new, report.counts["adjudications"].new) == (5, 0)
    assert (sql.first(project, "SELECT * FROM dispute"), checking.check(project).problems) == (None, [])


def test_an_adjudicator_who_answered_something_else_of_the_item_is_named(release, tmp_path):
    (report,) = json.loads((release / "responses" / "canary-system-9000.json").read_text("utf-8"))
    adjudications = json.loads((release / "adjudications.json").read_text("utf-8"))
    label = {
        "protocol": "researcherbench.coverage", "item_id": report["item_id"], "response_id": report["id"],
        "unit_id": "a1", "rater_kind": "person", "rater_id": adjudications[0]["adjudicator_id"], "value": "yes",
        "status": "ok", "at": "2026-01-01T00:00:00Z",
    }  # fmt: skip
    folder = by_hand(release, tmp_path / "in", "judgements.json", lambda tree: tree.append(label))
    report = imports.run(
        people.new_project(tmp_path / "p.goldsmith", "T"), "goldsmith", [folder], warm=False
    )[1]
    assert (report.counts["adjudications"].new, report.problems) == (2, ())
    assert "its adjudicator has answered something else of the item" in {note.reason for note in report.notes}


def rulings(tree: Any) -> Any:
    return tree[0]["rulings"]


def adas(tree: Any) -> tuple[Any, Any]:
    """The two revisions of Ada's rubric: what agreement rests on, and what she sealed later."""
    later = next(one for one in tree if one["reason"] == "meant so")
    return next(one for one in tree if one["artifact_id"] == later["artifact_id"] and one is not later), later


SPOILT: dict[str, tuple[str, Callable[[Any], Any], str]] = {
    "a broken chain": ("revisions.json", lambda t: adas(t)[1].update(chain="0" * 64), "does not follow from the one"),
    "a gap in a chain": ("revisions.json", lambda t: adas(t)[1].update(skipped=[]), "does not follow from the one"),
    "no document": ("revisions.json", lambda t: adas(t)[0].update(document=None), "has no document"),
    "no hash": ("revisions.json", lambda t: adas(t)[1].update(skipped=["x y", "z"]), "are no hashes"),
    "another document": (
        "revisions.json",
        lambda t: adas(t)[0]["document"]["units"][0].update(text="Mine"),
        "not the one its checksum",
    ),
    "another end": ("revisions.json", lambda t: t.remove(adas(t)[1]), "does not end with the document that is here"),
    "labels without a person": ("revisions.json", lambda t: t[2].update(author_id="x"), "its person x was not"),
    "one rater": ("agreement.json", lambda t: t[0]["inputs"].pop(), "not between two raters"),
    "a forgotten unit": ("agreement.json", lambda t: t[2]["pairs"][0]["only_a"].pop(), "not over all units"),
    "a lost value": (
        "agreement.json",
        lambda t: t[2]["pairs"][0]["values"]["weight"].pop(),
        "not those of its matched units",
    ),
    "another input": ("agreement.json", lambda t: t[0]["inputs"][0].update(sha256="0"), "is not what it was made of"),
    "a list as value": (
        "agreement.json",
        lambda t: t[2]["pairs"][0]["values"]["weight"].__setitem__(0, [[1], 2]),
        "not single values",
    ),
    "labels of nothing": (
        "agreement.json",
        lambda t: t[1]["pairs"][0]["values"].pop("unit_id"),
        "does not say what its labels are about",
    ),
    "a rater as adjudicator": (
        "adjudications.json",
        lambda t: [one.update(adjudicator_id=one["letters"]["A"]) for one in t],
        "its adjudicator is one of the raters",
    ),
    "a letter too many": (
        "adjudications.json",
        lambda t: [one["letters"].update(C=one["letters"]["A"]) for one in t],
        "do not stand for the raters",
    ),
    "a unit of nobody": (
        "adjudications.json",
        lambda t: [
            row["members"].update(dict.fromkeys(row["members"], "x")) for one in t for row in one["rulings"][1:2]
        ],
        "speaks of a unit that nobody wrote",
    ),
    "a stranger's wording": (
        "adjudications.json",
        lambda t: rulings(t)[1]["members"].update(x="a1"),
        "not one of its raters",
    ),
    "a take of nothing": ("adjudications.json", lambda t: rulings(t)[0].update(take="Z"), "takes what nobody wrote"),
    "an own wording that does not fit": (
        "adjudications.json",
        lambda t: next(row for row in rulings(t[1:]) if row["own"])["own"].update(weight=9999),
        "“weight” should",
    ),
    "a missing version": ("adjudications.json", lambda t: t.pop(0), "do not count from 1 on"),
    "contradiction": ("adjudications.json", lambda t: t[0].update(seed=7), "contradict one another"),
    "a unit from nowhere": ("adjudications.json", lambda t: t[0]["provenance"].pop(), "does not say of every unit"),
    "an objection of a stranger": (
        "adjudications.json",
        lambda t: t[0]["disputes"][0].update(person_id=t[0]["adjudicator_id"]),
        "somebody objects who answered nothing",
    ),
    "two objections": (
        "adjudications.json",
        lambda t: t[0]["disputes"].append({**t[0]["disputes"][0], "id": "other"}),
        "objects to this item more than once",
    ),
    "the same id twice": (
        "adjudications.json",
        lambda t: rulings(t)[1].update(id=rulings(t)[0]["id"]),
        "have no ids of their own",
    ),
    "another artifact": (
        "adjudications.json",
        lambda t: [one.update(revision=one["revision"] + 7) for one in t],
        "was not imported and is not in the project",
    ),
    "a guideline of version 1": ("guidelines.json", lambda t: t[0].update(version=1), "“version” should"),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_what_does_not_hang_together_is_refused_by_name_and_what_is_left_is_sound(release, tmp_path, name):
    path, spoil, reason = SPOILT[name]
    folder = by_hand(release, tmp_path / "in", path, spoil)
    project = Project.create(tmp_path / "p.goldsmith", "T")
    before = project.path.read_bytes()
    assert reason in "\n".join(
        expect_refusal("", imports.run, project, "goldsmith", [folder], warm=False).details
    )
    assert project.path.read_bytes() == before
    imports.run(project, "goldsmith", [folder], skip_bad=True, warm=False)
    assert checking.check(project).problems == []
    for person in people.people(project):
        project.work_as(person)
        for line in adjudicating.queue(project):
            if line.adjudication_id:
                assert adjudicating.sheet(project, line.adjudication_id).rows
        assert feedback.items_with_digest(project) is not None


SAMPLE = resources() / "sample"


def keys(project: Project) -> dict[str, str]:
    return {items.read(project, item_id).key: item_id for item_id in items.ids(project)}


def test_it_holds_the_same_content_whenever_it_is_made(sample, tmp_path):
    again = samples.create(tmp_path / "again.goldsmith", to_work_in=False)
    assert (content_hash(again), checking.check(again).problems) == (content_hash(sample), [])


def test_its_shipped_part_has_something_open_for_everybody_on_every_page(sample):
    me = people.someone(sample)
    assert (me.alias, me.has(Role.COORDINATOR), me.has(Role.ANNOTATOR)) == ("Annotator A", True, True)
    counts = waiting.counts(sample)
    assert (counts["Author"], counts["Adjudicate"]) == (1, 6)
    both = ["norm-placement", "early-warning"]
    assert {task.item_key for task in labels.queue(sample)} == set(both)
    assert [line.item_key for line in feedback.items_with_digest(sample)] == both
    assert len(agreement_report.report(sample).stages) == 8
    assert result_raters.raters(sample)
    (stale,) = settings.stale(sample)
    assert (stale.item_key, stale.stage) == ("early-warning", Stage.DIAGNOSTICS)
    lines = board.board(sample)
    assert {line.state for line in lines} == {*board.STATES} - {board.DISPUTED}
    assert {line.alias for line in lines if line.due} == {one.alias for one in people.people(sample)}
    assert [line.alias for line in lines if line.trial == 2] == ["Annotator B"]
    (result,) = tray.sheets(sample)
    sheet = tray.sheet(sample, result)
    assert (result.entry.reason, result.item_key) == (ParcelOutcome.LATE, "norm-placement")
    assert sum(came.text != here.text for came, here in sheet.rows) == 1
    (arrival,) = unpacking.received(sample)
    assert [piece.outcome for piece in arrival.pieces] == [ParcelOutcome.NEW, ParcelOutcome.LATE]
    first, second = (label_sealing.submission(sample, keys(sample)[key]) for key in both)
    assert (first.state, second, label_sealing.missing(sample, keys(sample)[both[1]])) == ("sealed", None, [])
    warning = keys(sample)["early-warning"]
    label_sealing.submit(sample, warning)
    assert Stage.LABELLING in {one.stage for one in assignments.of_item(sample, warning)}


def test_the_adjudicator_has_conflicts_one_half_done_and_closed_ones_with_their_origin(sample):
    sample.work_as(people.known(sample, "Adjudicator"))
    lines = adjudicating.queue(sample)
    assert sum(line.conflict for line in lines) == 6
    (begun,) = [line for line in lines if line.state == "open"]
    assert (begun.item_key, begun.stage, begun.decided, begun.rows) == ("early-warning", Stage.PLAN, 3, 12)
    closed = [line for line in lines if line.closed]
    assert len(closed) == 6
    assert all(
        provenance.sources
        for row in adjudicating.sheet(sample, closed[0].adjudication_id).rows
        for _, provenance in row.made
    )


def test_the_sample_is_worked_in_by_the_right_people(sample, tmp_path):
    wanted = [holding.person.id for holding in packing.holdings(sample)]
    assert [task.problem for task in packing.write_tasks(sample, wanted, tmp_path)] == [None] * 4
    for act in (history.undo, history.redo):
        expect_refusal("There is nothing", act, sample)
    queues = {}
    for person in people.people(sample):
        sample.work_as(person)
        queues[person.alias] = {line.item_key for line in adjudicating.queue(sample)}
    assert {alias: keys for alias, keys in queues.items() if keys} == {
        "Annotator A": {"desalination-plan"}, "Adjudicator": {"norm-placement", "early-warning"},
    }  # fmt: skip


def rounded(tree: Any) -> Any:
    """The tree with numbers to nine places: the last bits may differ from machine to machine."""
    if isinstance(tree, dict):
        return {name: rounded(value) for name, value in tree.items()}
    if isinstance(tree, list | tuple):
        return [rounded(value) for value in tree]
    return round(tree, 9) if isinstance(tree, float) else tree


def test_the_frozen_figures_are_those_that_the_program_computes(tmp_path):
    """But for the versions of the program and of its matcher: a record says which they were."""
    folder = shutil.copytree(SAMPLE, tmp_path / "in", ignore=shutil.ignore_patterns("*.md"))
    for name in ("agreement.json", "adjudications.json"):
        change_json(folder / name, lambda tree: tree.clear())
    shipped, anew = taken_in(tmp_path / "a", SAMPLE), taken_in(tmp_path / "b", folder)
    with anew.store.write() as db:
        for item_id in items.ids(anew):
            for kind in DOCUMENTS:
                assignments.freeze_when_ready(anew, db, item_id, stage_of(kind))
    wanted, computed = (
        [rounded(one.model_dump(exclude={"program", "matcher"})) for one in assignments.all_frozen(project)]
        for project in (shipped, anew)
    )
    assert (computed, len(wanted)) == (wanted, 19)


@pytest.mark.parametrize("protocol", ["researcherbench.pairwise", "adra.plan", "adra.reasoning"])
def test_the_stored_verdicts_of_every_protocol_are_those_the_baseline_gives(
    sample: Project, protocol: str
) -> None:
    stored = "SELECT response_id, unit_id, value FROM judgement WHERE protocol = ?"
    given = [
        (case.response.id, unit_id, verdict.value)
        for case in judge_cases.cases(sample, judge_cases.RunRequest("baseline", protocol))
        for unit_id, verdict in PROTOCOLS[protocol].baseline(case).items()
    ]
    assert sorted(sql.rows(sample, stored, [protocol])) == sorted(given)


def test_a_report_that_nothing_can_be_drawn_from_fails_instead_of_being_left_out(tmp_path, monkeypatch):
    monkeypatch.setattr(samples.materials, "of_response", lambda *_: None)
    with pytest.raises(ValueError, match="nothing was drawn from the report"):
        samples.create(tmp_path / "sample.goldsmith")


def test_the_sample_keeps_work_open_in_english_on_each_page(whole_sample):
    lines = items.lines(whole_sample, items.ids(whole_sample))
    assert [line.key for line in lines[:3]] == [samples.WRITE, samples.LABEL, samples.RULE]
    assert {line.language for line in lines[:3]} == {"en"}
    assert whole_sample.is_sample
    assert checking.check(whole_sample).problems == []
    assert waiting.counts(whole_sample) == {"Author": 3, "Label": 2, "Adjudicate": 1, "People": 1}
    begun = board.board(whole_sample)
    assert (any(line.overdue for line in begun), min(line.due for line in begun) > now()) == (False, True)
    # To write, with a passage to go by.
    (result,) = annotating.artifacts_of(whole_sample, keys(whole_sample)[samples.WRITE])
    assert (result.kind, result.state.value) == (Kind.RUBRIC, "draft")
    assert [unit.anchor is not None for unit in result.document.units] == [True, False]
    # To review.
    (line,) = reviewing.lines(whole_sample)
    assert (line.item_key, line.kind, line.author) == (samples.LABEL, Kind.PLAN, "Annotator B")
    assert "2 of 2 pieces of work handed in" in final_pass.summary(whole_sample)
    # To label, by rubric and by the claims of cited pages.
    mine = [task for task in labels.queue(whole_sample) if task.item_key == samples.LABEL]
    assert [(task.labelled, task.units) for task in mine] == [(3, 6), (0, 6)]
    assert [page.claims for page in pages.cited_states(whole_sample).pages if page.is_here] == [3, 2]
    claims = "researcherbench.claims"
    assert claims in label_cases.offered(whole_sample)
    task = next(one for one in labels.queue(whole_sample, claims) if one.item_key == samples.LABEL)
    assert any(group.given for group in labels.sheet(whole_sample, task.response_id, claims).groups)
    # To adjudicate.
    conflicts = [line for line in adjudicating.queue(whole_sample) if line.conflict]
    assert [(line.item_key, line.rows, line.contested) for line in conflicts] == [(samples.RULE, 4, 4)]
    # To judge, from where a run was left.
    newest = run_records.runs(whole_sample)[0]
    assert (newest.protocol, newest.judged, newest.left, newest.order().items) == (
        USUAL, samples.JUDGED, 4, (samples.LABEL,),
    )  # fmt: skip
    me, other = whole_sample.person, people.known(whole_sample, "Annotator B")
    for person, tries in ((me, True), (other, False), (me, True)):
        whole_sample.work_as(person)
        assert bool(samples.tries(whole_sample)) is tries
    samples.stop_trying(whole_sample)
    assert samples.tries(whole_sample) == []


def test_the_sample_has_intervals_an_answer_disagreements_and_costs(whole_sample):
    funnel = {sheet.key: sheet for sheet in result_views.show(whole_sample, "selection", {}).sheets}["funnel"]
    assert {line.cells[0].words for line in funnel.lines} >= {
        "forums",
        "interviews",
        "laboratory discussions",
    }
    sheet = result_views.show(whole_sample, "overview", {"judge": samples.RECORDED}).sheets[0]
    assert len(sheet.lines) == 3
    assert all(line.cells[1].estimate.low < line.cells[1].estimate.high for line in sheet.lines)
    answers = stand_in.report(whole_sample, stand_in.StandInQuery()).answers
    assert [answer.rater.name for answer in answers] == [samples.RECORDED, "baseline"]
    assert all(answer.difference.low < answer.difference.high for answer in answers)
    judge = judges.named(whole_sample, samples.RECORDED)
    assert len(disagreements.queue(whole_sample, validation.ValidationQuery(judge=judge.name))) >= 5
    (total,) = (one for one in run_records.totals(whole_sample) if one.judge_id == judge.id)
    assert total.spent_usd > 0


@pytest.mark.parametrize(
    ("name", "protocol"),
    [(samples.RELATED_WORK, "deepscholar.nuggets"), (samples.SEMINAR, "arena.checklist")],
)
def test_a_small_sample_has_intervals_two_judges_beside_two_people_and_disagreements(
    name, protocol, tmp_path
):
    made = small_sample(tmp_path, name)
    sheets = result_views.show(made, "overview", {"judge": samples.RECORDED}).sheets
    estimates = [cell.estimate for line in sheets[0].lines for cell in line.cells if cell.estimate]
    assert [one for one in estimates if one.low is not None and one.low < one.high]
    asked = validation.ValidationQuery(protocol=protocol)
    answers = stand_in.report(made, stand_in.StandInQuery(asked)).answers
    assert {answer.rater.name for answer in answers} == {samples.RECORDED, "baseline"}
    assert all(answer.difference.low < answer.difference.high for answer in answers)
    assert disagreements.queue(made, replace(asked, judge=samples.RECORDED))
    assert checking.check(made).problems == []
