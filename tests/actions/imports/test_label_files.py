"""Labels in files: taken in whole or not at all and as whose; final ones leave, as ResearcherBench counts them."""

import csv
import io
import json
from collections import Counter
from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports, label_files, label_matching
from annotator.actions.imports.label_matching import Exported, LabelImportOptions, LabelSelection, export
from annotator.actions.items import items
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.parcels import tray
from annotator.actions.project import backups, people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking
from annotator.actions.undo import history
from annotator.domain.common import derived_id, new_id
from annotator.domain.kinds.documents import Label, Labels, label_id
from annotator.domain.kinds.kind import Kind, Role
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.stats.validation.comparison import both_ways
from annotator.storage.tables import ARTIFACT
from tests.common import expect_refusal
from tests.material.bundles import (
    ANN,
    FIRST,
    SECOND,
    THIRD,
    TOLD,
    ann,
    ann_says,
    every,
    look,
    me,
    project_of_two,
    refused,
    report_of,
    stored,
    take,
    unit_of,
    write_peer,
    written,
)
from tests.projects.small_projects import CLAIMS, PAIRS, PLAN, answer, one_item, small_project
from tests.servers.served import say
from tests.storage import sql

PROJECT = project_of_two


def test_labels_become_judgements_of_the_person_they_are_said_to_be_of(
    project: Project, tmp_path: Path
) -> None:
    quote = "compares the stability"
    given = {"value": "Yes ", "quote": quote, "note": "well"}, {"unit": SECOND, "value": "unsure"}
    report = take(project, written(tmp_path, *given))
    assert (report.new, report.problems) == (2, ())
    first, second = sorted(stored(project), key=lambda row: row["status"])
    assert (first["value"], first["status"], first["note"], first["flags"]) == (
        "yes", "ok", "well", "imported",
    )  # fmt: skip
    assert (first["rater_id"], first["rater_kind"]) == (people.known(project, ANN).id, "person")
    assert (
        labels.sheet(project, first["response_id"]).report[first["quote_start"] : first["quote_end"]] == quote
    )
    assert (second["value"], second["status"], second["cause"]) == (None, "unclear", "the rater is unsure")


def test_labels_are_previewed_imported_once_and_stand_where_the_person_would_have_put_them(
    project: Project, tmp_path: Path
) -> None:
    path, before = written(tmp_path, *every(note="so")), project.path.read_bytes()
    assert look(project, path).new == 12
    assert project.path.read_bytes() == before
    copies = len(backups.listing(project.path))
    change, _ = label_files.run(project, [path], TOLD)
    assert change.verb == "import labels"
    assert change.after == {
        "format": "labels", "files": ["labels.csv"], "raters": {"Ann": ANN}, "new": 12, "filled": 0, "replaced": 0,
        "sources": ["labels.csv"], "at": stored(project)[0]["at"].astimezone(UTC).isoformat(),
    }  # fmt: skip
    after = project.path.read_bytes()
    report = take(project, path)
    assert (report.new, report.filled, report.same, project.path.read_bytes()) == (0, 0, 12, after)
    assert len(backups.listing(project.path)) == copies + 1
    ann(project)
    assert all(task.labelled == task.units == 3 for task in labels.queue(project))
    label_sealing.submit(project, items.ids(project)[0])
    assert not checking.check(project).problems


def test_what_cannot_be_taken_is_named_with_its_row(project: Project, tmp_path: Path) -> None:
    for row, trouble, reason in (
        ({"item": "9"}, "unknown item", "there is no item “9”"),
        ({"item_id": "nothing"}, "unknown item", "there is no item “1”"),
        ({"dataset": "other"}, "unknown item", "there is no item “1” of “other”"),
        ({"system": "Gamma"}, "unknown system", "there is no system “Gamma”"),
        ({"system": ""}, "unknown system", "does not say which system's report"),
        ({"trial": "2"}, "unknown system", "“Alpha” has no such report on this item"),
        ({"mode": "isolated"}, "unknown system", "“Alpha” has no such report on this item"),
        ({"unit": "Explains residual"}, "unknown unit", "nothing that is asked about this report reads"),
        ({"unit_id": "c1"}, "unknown unit", "nothing with the id “c1”"),
        ({"unit": "", "number": "1"}, "unknown unit", "a number alone names nothing"),
        ({"protocol": "arena.kae"}, "unknown unit", "nothing to label by under “arena.kae”"),
        ({"protocol": "adra.efficiency"}, "unknown unit", "nothing to label by under “adra.efficiency”"),
        ({"rater": "Bob"}, "unknown rater", "choose who that is"),
        ({"value": "covered"}, "bad value", "use one of yes, no, unsure"),
        ({"value": "2"}, "bad value", "“2” is not a valid value here"),
        ({"value": "no, yes"}, "bad value", "is not a valid value here"),
    ):  # fmt: skip
        path = written(tmp_path, {"unit": SECOND}, row)
        (finding,) = look(project, path).problems
        assert (finding.trouble, finding.row) == (trouble, 3), row
        assert reason in finding.reason
        assert str(finding) in refused(project, path)


# `exchange/formats/test_label_files` reads every form of file.
@pytest.mark.parametrize(
    ("yes", "no"),
    [("TRUE", "False"), ("1", "0"), ("1.0", "0.0"), ("Yes", "NO"), ("yes", "n"), (True, False), (1, 0.0)],
)
def test_labels_come_in_as_other_tools_write_them_and_units_by_words_or_id(
    project: Project, tmp_path: Path, yes: Any, no: Any
) -> None:
    first, second = (unit_of(project, report_of(project), words) for words in (FIRST, SECOND))
    usual = {"item": "1", "system": "Alpha", "rater": "Ann"}
    (tmp_path / "labels.json").write_text(
        json.dumps([usual | {"unit": FIRST, "value": yes}, usual | {"unit": second, "value": no}]), "utf-8"
    )
    assert take(project, tmp_path / "labels.json").new == 2
    assert {row["unit_id"]: row["value"] for row in stored(project)} == {first: "yes", second: "no"}


def test_a_label_that_a_person_gave_otherwise_is_kept_and_the_good_goes_in(
    project: Project, tmp_path: Path
) -> None:
    ann_says(project, "no")
    assert "R2 said “no” here, the file says “yes”" in refused(project, written(tmp_path, {}))
    path = written(tmp_path, {}, {"unit": SECOND}, {"item": "9"}, {"unit": THIRD, "value": "perhaps"})
    report = take(project, path, LabelImportOptions({"Ann": ANN}, skip_bad=True))
    assert (report.new, report.counts) == (1, {"conflict": 1, "unknown item": 1, "bad value": 1})
    assert sorted(row["value"] for row in stored(project)) == ["no", "yes"]


def test_a_label_is_replaced_where_that_is_asked_for_and_can_be_put_back(
    project: Project, tmp_path: Path
) -> None:
    ann_says(project, "no", note="half of it")
    before = stored(project)
    replace = LabelImportOptions({"Ann": ANN}, replace=True)
    (told,) = take(project, written(tmp_path, {"value": "unsure"}), replace).replaced
    assert str(told) == "labels.csv, row 2: R2 said “no” here, the file says “unsure”"
    (row,) = stored(project)
    assert (row["id"], row["status"], row["note"], row["flags"]) == (
        before[0]["id"], "unclear", "", "imported",
    )  # fmt: skip
    history.undo(project)
    assert stored(project) == before


def test_what_a_person_left_open_is_filled_and_what_they_wrote_stays(
    project: Project, tmp_path: Path
) -> None:
    ann(project)
    response_id = report_of(project)
    labels.set_note(project, response_id, unit_of(project, response_id), "look again")
    labels.set_flag(project, response_id, unit_of(project, response_id), True)
    me(project)
    report = take(project, written(tmp_path, {}))
    assert (report.new, report.filled) == (0, 1)
    (row,) = stored(project)
    assert (row["value"], row["note"], row["flags"]) == ("yes", "look again", "imported flagged")


def test_a_note_is_added_beside_the_same_label_and_never_put_over_another(
    project: Project, tmp_path: Path
) -> None:
    ann_says(project, "yes")
    assert take(project, written(tmp_path, {"note": "so"})).filled == 1
    assert [row["note"] for row in stored(project)] == ["so"]
    assert "the note that R2 left here is another" in refused(project, written(tmp_path, {"note": "not so"}))


@pytest.mark.parametrize("replace", [False, True])
def test_what_is_submitted_never_changes(project: Project, tmp_path: Path, replace: bool) -> None:
    take(project, written(tmp_path, *every()))
    ann(project)
    label_sealing.submit(project, items.ids(project)[0])
    me(project)
    options = LabelImportOptions({"Ann": ANN}, replace=replace)
    assert "R2 has submitted the labels of this item" in refused(
        project, written(tmp_path, {"value": "no"}), options
    )
    assert take(project, written(tmp_path, *every()), options).same == 12


def test_files_that_contradict_themselves_say_nothing(project: Project, tmp_path: Path) -> None:
    report = take(
        project,
        written(tmp_path, {}, {"value": "no"}, {}, {"unit": SECOND}, {"unit": SECOND}),
        LabelImportOptions({"Ann": ANN}, skip_bad=True),
    )
    assert ([(problem.trouble, problem.row) for problem in report.problems], report.new) == (
        [("repeated", n) for n in (2, 3, 4)],
        1,
    )
    assert "Found more than once in the files, and alike: 1 label" in report.notes


def test_thousands_of_labels_go_in_at_once(project: Project, tmp_path: Path) -> None:
    for number in range(3, 30):
        people.add_person(project, f"Rater {number}", (Role.ANNOTATOR,))
    aliases = [person.alias for person in people.people(project)]
    for number in range(28):
        answer(project, f"System {number}")
    rows = [
        {"item": item, "system": f"System {n}", "unit": unit, "rater": alias, "value": "no"}
        for item in "12" for n in range(28) for unit in (FIRST, SECOND, THIRD) for alias in aliases
    ]  # fmt: skip
    report = take(project, written(tmp_path, *rows), LabelImportOptions({alias: alias for alias in aliases}))
    assert sql.first(project, "SELECT count(*) FROM judgement") == (report.new,) == (len(rows),)


def test_drafts_become_finished_and_drafts_again_by_the_file_that_says_so(
    project: Project, tmp_path: Path
) -> None:
    path, replace = written(tmp_path, *every()), LabelImportOptions({"Ann": ANN}, replace=True)
    assert take(project, path, LabelImportOptions({"Ann": ANN}, drafts=True)).new == 12
    again = take(project, path)
    assert again.same == 12
    assert "12 labels that are there alike are drafts" in again.notes[0]
    assert {row["flags"] for row in stored(project)} == {"unsubmitted"}
    assert (len(take(project, path, replace).replaced), {row["flags"] for row in stored(project)}) == (
        12, {"imported"},
    )  # fmt: skip
    take(project, path, LabelImportOptions({"Ann": ANN}, replace=True, drafts=True))
    # What counted goes on counting until the draft is submitted.
    assert {row["flags"] for row in stored(project)} == {"until:yes"}


def origins(project: Project) -> Counter[str]:
    with project.store.read() as db:
        origins = labels.Origins(db)
        return Counter(origins.of(row["flags"], row["at"]) for row in stored(project))


def test_each_label_names_the_one_of_several_files_that_it_came_from(
    project: Project, tmp_path: Path
) -> None:
    rows = every()
    label_files.run(
        project,
        [written(tmp_path, *rows[:5], name="b.csv"), written(tmp_path, *rows[5:], name="a.csv")],
        TOLD,
    )
    assert origins(project) == {"given elsewhere, file b.csv": 5, "given elsewhere, file a.csv": 7}
    # An import of an older program told no file apart.
    sql.alter(
        project,
        "UPDATE audit SET after = ? WHERE verb = 'import labels'",
        [json.dumps({"files": ["a.csv", "b.csv", "c.csv", "d.csv"]})],
    )
    assert origins(project) == {"given elsewhere, files a.csv, b.csv, c.csv and 1 more": 12}


def test_frozen_agreement_is_not_moved_by_an_import(project: Project, tmp_path: Path) -> None:
    ben = people.known(project, people.add_person(project, "Ben").subject)
    for person, value in ((people.known(project, ANN), "yes"), (ben, "no")):
        project.work_as(person)
        for task in labels.queue(project)[:2]:
            for unit in labels.sheet(project, task.response_id).units:
                labels.set_label(project, task.response_id, unit.id, value)
        label_sealing.submit(project, items.ids(project)[0])
    me(project)
    before = assignments.all_frozen(project)
    take(project, written(tmp_path, *every(rater="Zoe")), LabelImportOptions({"Zoe": "Z1"}))
    assert before
    assert assignments.all_frozen(project) == before


def test_work_that_comes_back_keeps_what_was_given_elsewhere_of_other_reports(
    project: Project, tmp_path: Path
) -> None:
    take(project, written(tmp_path, *every()))
    item_id, rater = items.ids(project)[0], people.known(project, ANN).id
    response_id = report_of(project, "Beta")
    unit_id, artifact_id = unit_of(project, response_id), new_id()
    label = Label(
        id=label_id("researcherbench.coverage", response_id, unit_id), protocol="researcherbench.coverage",
        response_id=response_id, unit_id=unit_id, value="no", text="",
    )  # fmt: skip
    # A sealed document of the person's labels, as it comes back in a package.
    row = {"id": artifact_id, "item_id": item_id, "kind": "labels", "author_id": rater, "state": "sealed"}
    with project.store.write() as db:
        db.execute(insert(ARTIFACT).values(**row, revision=0))
        artifacts.write_revision(
            project, db, artifact_id, Labels(units=(label,)), "seal", number=1, sealed=True
        )
        tray.write(db, rater, item_id, artifact_id)
    values = {(row["response_id"], row["unit_id"]): row["value"] for row in stored(project)}
    assert (len(values), values[response_id, unit_id], list(values.values()).count("yes")) == (12, "no", 11)


def test_an_alias_that_nobody_has_makes_a_person(project: Project, tmp_path: Path) -> None:
    # Two names may be one new person.
    report = take(
        project,
        written(tmp_path, {}, {"rater": "A. Other", "unit": SECOND}),
        LabelImportOptions({"Ann": "Expert A", "A. Other": "Expert A"}),
    )
    assert {(rater.person.alias, rater.new) for rater in report.raters} == {("Expert A", True)}
    made = people.known(project, "Expert A")
    assert (made.name, made.roles) == ("Ann", "annotator")
    assert {row["rater_id"] for row in stored(project)} == {made.id}
    # The same words mean the same person the next time.
    assert take(project, written(tmp_path, *every()), LabelImportOptions({"Ann": "expert a"})).new == 10
    assert len(people.people(project)) == 3


def test_an_id_makes_a_person_or_is_that_of_one(project: Project, tmp_path: Path) -> None:
    known = people.known(project, ANN)
    rows = [
        {"rater": "whoever", "rater_id": known.id},
        {"rater": "R1", "rater_id": "theirs-1"},
        {"rater": "R9", "rater_id": "theirs-2"},
    ]
    report = take(project, written(tmp_path, *rows), LabelImportOptions())
    assert {rater.person.id: rater.new for rater in report.raters} == {
        known.id: False, "theirs-1": True, "theirs-2": True,
    }  # fmt: skip
    # R1 is somebody else here.
    aliases = {person.id: person.alias for person in people.people(project)}
    assert (aliases["theirs-1"], aliases["theirs-2"]) == ("R3", "R9")


def test_what_can_be_nobodys_id_is_refused(project: Project, tmp_path: Path) -> None:
    for rater_id in (
        "x" * 37,
        "a b",
        "\u200b",
        "é",
    ):
        assert "no id of a person" in refused(
            project, written(tmp_path, {"rater_id": rater_id, "rater": "X"}), LabelImportOptions()
        )


def test_names_of_raters_are_asked_for(project: Project, tmp_path: Path) -> None:
    path = written(tmp_path, {})
    assert (
        "no rater in the files is called “Anne”"
        in look(project, path, LabelImportOptions({"Ann": ANN, "Anne": ANN})).notes
    )
    people.add_person(project, "Ann Other")
    several = written(tmp_path, *every(rater="Ann Other"), name="several.csv")
    (finding,) = look(project, several, LabelImportOptions()).problems
    assert (finding.labels, finding.row) == (12, 2)
    assert "which 2 people here are called" in refused(project, several, LabelImportOptions())
    ann(project)
    for act in (label_files.preview, label_files.run):
        expect_refusal("Only a coordinator", act, project, [path], TOLD)


@pytest.mark.parametrize("words", [["A"], ["=R1"], ["A="], ["A=R1", "A=R2"]], ids=str)
def test_who_is_whom_is_said_clearly(words: list[str]) -> None:
    expect_refusal("", label_matching.aliases_of, words)


@pytest.mark.parametrize("name", ["R2", "r2", "Ann Other", "ann other"])
def test_a_name_or_alias_of_the_project_says_who_a_rater_is(
    project: Project, tmp_path: Path, name: str
) -> None:
    assert [
        (rater.person.alias, rater.new)
        for rater in take(project, written(tmp_path, {"rater": name}), LabelImportOptions()).raters
    ] == [("R2", False)]


def test_a_number_decides_between_equal_words_and_never_by_itself(project: Project, tmp_path: Path) -> None:
    item_id = items.add(project, "Twice?").subject
    units = (Criterion(id="a", text="Both"), Criterion(id="b", text="Other"), Criterion(id="c", text="Both"))
    assignments.seal(project, artifacts.start(project, item_id, Kind.RUBRIC, Rubric(units=units)).subject)
    answer(project, "Gamma")
    one = {"item": "3", "system": "Gamma", "unit": "Both"}
    take(project, written(tmp_path, one | {"number": "3"}))
    assert [row["unit_id"] for row in stored(project)] == ["c"]
    for number in ("", "2"):
        assert "2 units read “Both”" in refused(
            project, written(tmp_path, one | {"number": number, "value": "no"})
        )
    # Where the words stand once, a number from another order of the rubric does no harm.
    assert take(project, written(tmp_path, one | {"unit": "Other", "number": "1"})).new == 1


def test_an_id_with_the_words_of_another_unit_is_refused(project: Project, tmp_path: Path) -> None:
    unit_id = unit_of(project, report_of(project))
    assert "not those of the unit" in refused(
        project, written(tmp_path, {"unit_id": unit_id, "unit": SECOND})
    )
    assert take(project, written(tmp_path, {"unit_id": unit_id})).new == 1
    # Words may differ in case and white space alone.
    assert take(project, written(tmp_path, {"unit": "explains  residual\nconnections."})).same == 1


def test_items_of_one_key_are_told_apart_by_their_dataset(project: Project, tmp_path: Path) -> None:
    imports.run(project, "researcherbench", [write_peer(tmp_path / "peer")], warm=False)
    question, told = derived_id("researcherbench", 1), {"system": "Sys", "unit": "Point 1"}
    # A question is known by its number in its dataset, and by its key here, as its own was taken.
    both = written(tmp_path, told | {"item": "1", "dataset": "researcherbench"}, name="both.csv")
    assert take(project, both).new == 1
    assert take(project, written(tmp_path, told | {"item": items.read(project, question).key})).same == 1
    # As projects of older programs have them.
    items.change(project, question, key="1")
    assert "2 items are called “1”: say of which dataset" in refused(project, written(tmp_path, {}))
    assert take(project, both).same == 1


def human(folder: Path, number: int, annotator: str, *points: tuple[str, bool]) -> None:
    folder.mkdir(exist_ok=True)
    lines = [{"point": point, "covered": covered} for point, covered in points]
    (folder / f"Q{number}_result_{annotator}.json").write_text(json.dumps({"rubric_eval": lines}), "utf-8")


@pytest.fixture
def peer(tmp_path: Path) -> Project:
    folder = write_peer(tmp_path / "peer")
    (folder / "responses/Other.json").write_bytes((folder / "responses/Sys.json").read_bytes())
    project = people.new_project(tmp_path / "peer.goldsmith")
    people.someone(project)
    imports.run(project, "researcherbench", [folder], warm=False)
    return project


def test_its_human_files_come_in_by_number_and_words(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both", True), ("Point 1", False))
    human(tmp_path / "h", 2, "A", ("Point 2", True))
    human(tmp_path / "h", 2, "B", ("Point 2", False))
    assert "does not say which system's report" in refused(
        peer, tmp_path / "h", LabelImportOptions({"A": "E1", "B": "E2"})
    )
    assert "choose who that is" in refused(peer, tmp_path / "h", LabelImportOptions(system="Sys"))
    report = take(peer, tmp_path / "h", LabelImportOptions({"A": "E1", "B": "E2"}, system="Sys"))
    assert (report.new, report.problems) == (4, ())
    assert Counter(row["value"] for row in stored(peer)) == {"yes": 2, "no": 2}


def test_each_question_may_be_of_another_system(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both", True))
    human(tmp_path / "h", 2, "A", ("Both", False))
    take(peer, tmp_path / "h", LabelImportOptions({"A": "E1"}, systems={"1": "Sys", "2": "Other"}))
    question = (
        "SELECT s.name, j.value FROM judgement j JOIN response r ON r.id = j.response_id "
        "JOIN system s ON s.id = r.system_id"
    )
    assert set(sql.rows(peer, question)) == {("Sys", "yes"), ("Other", "no")}


def test_its_points_are_never_matched_by_place_or_likeness(peer: Project, tmp_path: Path) -> None:
    human(tmp_path / "h", 1, "A", ("Both of them", True), ("Point 2", True))
    report = look(peer, tmp_path / "h", LabelImportOptions({"A": "E1"}, system="Sys"))
    assert [problem.trouble for problem in report.problems] == ["unknown unit", "unknown unit"]


def test_labels_of_other_protocols_find_their_units_leave_and_come_back(tmp_path: Path) -> None:
    project = one_item(tmp_path)
    cell = "Collect the reports of every system. → Gather reports from all systems."
    usual = {"system": "Canary-Alpha-9000"}
    matrix, pair = ({"protocol": PLAN, "unit": cell}, {"protocol": PAIRS, "unit": "Canary-Beta-9000"})
    claim, unread = ({"protocol": CLAIMS, "unit": words} for words in ("Cost doubled.", "Nobody reads it."))
    # Yes and no answer no such question, and a page that could not be read supports nothing.
    for row, value, why in (
        (matrix, "TRUE", "is not a valid value here: use one of"),
        (pair, "1", "is not a valid value here: use one of"),
        (unread, "yes", "use one of unknown, unsure"),
    ):
        assert why in refused(project, written(tmp_path, usual | row | {"value": value}))
    said = (matrix, "relevant"), (claim, "no"), (pair, "first"), (unread, "unknown")
    take(project, written(tmp_path, *(usual | row | {"value": value} for row, value in said)))
    flags = {(row["protocol"], row["unit_id"]): row["flags"] for row in stored(project)}
    assert flags.keys() >= {(PLAN, "p1~g1"), (CLAIMS, "c2")}
    assert sorted(flags.values()) == ["imported"] * 3 + ["page_dead imported"]
    assert written_to(project, tmp_path / "out.csv").labels == 4
    assert {(row["protocol"], row["unit"]) for row in rows(tmp_path / "out.csv")} == {
        (each["protocol"], each["unit"]) for each in (matrix, claim, pair, unread)
    }
    assert label_files.run(project, [tmp_path / "out.csv"])[1].same == 4


# Alpha's reports on items 1 and 2, three criteria each of weights 3, 2 and 1.
PEOPLE, JUDGE = "yynnyn", "ynnyyn"


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def tree(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))


def written_to(project: Project, path: Path, choice: LabelSelection | None = None) -> Exported:
    return export(project, path, choice=choice or LabelSelection())


def test_labels_leave_when_they_are_submitted_or_came_in_by_a_file(project: Project, tmp_path: Path) -> None:
    ann_says(project, "yes")
    expect_refusal("1 label left out: not yet submitted", written_to, project, tmp_path / "out.csv")
    assert written_to(project, tmp_path / "out.csv", LabelSelection(everything=True)).labels == 1
    (row,) = rows(tmp_path / "out.csv")
    assert (row["rater"], row["value"], row["state"], row["unit"]) == ("R2", "yes", "open", FIRST)
    assert "Ann Other" not in (tmp_path / "out.csv").read_text("utf-8")
    take(project, written(tmp_path, *every()))
    ann(project)
    label_sealing.submit(project, items.ids(project)[0])
    me(project)
    take(project, written(tmp_path, {"rater": "Ben", "item": "2"}), LabelImportOptions({"Ben": "R3"}))
    written_to(project, tmp_path / "out.csv")
    states = {(row["item"], row["rater"]): row["state"] for row in rows(tmp_path / "out.csv")}
    assert states == {("1", "R2"): "submitted", ("2", "R2"): "imported", ("2", "R3"): "imported"}


@pytest.mark.parametrize("name", ["out.csv", "out.json", "folder"])
def test_what_leaves_comes_back_as_it_was(project: Project, tmp_path: Path, name: str) -> None:
    take(project, written(tmp_path, *every(note="so"), {"system": "Beta", "value": "yes", "note": "so"}))
    written_to(project, tmp_path / name)
    assert label_files.run(project, [tmp_path / name])[1].same == 12


def test_a_table_comes_into_another_project_with_its_raters(project: Project, tmp_path: Path) -> None:
    take(project, written(tmp_path, *every()))
    written_to(project, tmp_path / "out.csv")
    other = small_project(tmp_path / "other")
    text = (tmp_path / "out.csv").read_text("utf-8-sig")
    # Neither its items nor its units have these ids there.
    for row in rows(tmp_path / "out.csv"):
        text = text.replace(row["item_id"], "").replace(row["unit_id"], "")
    (tmp_path / "bare.csv").write_text(text, "utf-8")
    report = label_files.run(other, [tmp_path / "bare.csv"])[1]
    assert (report.new, [rater.person.id for rater in report.raters]) == (12, [people.known(project, ANN).id])


def test_a_choice_of_people_systems_and_protocols(project: Project, tmp_path: Path) -> None:
    raters = LabelImportOptions({"Ann": ANN, "Ben": "R3"})
    take(project, written(tmp_path, *every(), {"rater": "Ben"}), raters)
    assert written_to(project, tmp_path / "a.csv", LabelSelection(people=("r3",))).raters == ("R3",)
    assert written_to(project, tmp_path / "b.csv", LabelSelection(systems=("Beta",))).labels == 6
    for place, wrong, why in (
        ("c.csv", LabelSelection(judge="baseline"), "cannot contain a judge"),
        ("c.csv", LabelSelection(people=("Ann Other",)), ""),
        ("c.csv", LabelSelection(systems=("Gamma",)), ""),
        ("c.csv", LabelSelection(protocols=("arena.kae",)), ""),
        ("c", LabelSelection(protocols=(PAIRS,)), ""),
        ("c", LabelSelection(judge="nobody"), ""),
    ):
        expect_refusal(why, written_to, project, tmp_path / place, wrong)
        assert not (tmp_path / place).exists()


def test_only_a_coordinator_exports_and_nobody_over_a_strangers_folder(
    project: Project, tmp_path: Path
) -> None:
    take(project, written(tmp_path, *every()))
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder/mine.txt").write_text("mine", "utf-8")
    expect_refusal("holds files that are not", written_to, project, tmp_path / "folder")
    expect_refusal("not a format for labels", export, project, tmp_path / "x", "xlsx")
    ann(project)
    expect_refusal("Only a coordinator", written_to, project, tmp_path / "out.csv")
    assert not (tmp_path / "out.csv").exists()


# ResearcherBench's meta-evaluation, §4.3: people and judge on the same points, plain and by weight


def their_figures(folder: Path, annotator: str) -> dict[str, tuple[float, ...]]:
    """Accuracy, precision, recall and F1, as the paper defines them, from the files alone: (plain, weighted).

    Files are found by their names, points of both sides by their words, weights in rubric.json.
    """
    weights = {
        (one["id"], line["point"]): line["weight"]
        for one in tree(folder.parent / "rubric.json")
        for line in one["rubric"]
    }
    judged = {
        (one["id"], line["point"]): line["covered"]
        for one in tree(folder / "meta_eval.json")["detailed_results"]
        for line in one["result"]["coverage_results"]
    }
    cells: list[tuple[bool, bool, int]] = []
    for file in folder.glob("Q*_result_*.json"):
        question, _, whose = file.stem.split("_")
        if whose == annotator:
            for line in tree(file)["rubric_eval"]:
                key = (int(question[1:]), line["point"])
                if key in judged:
                    cells.append((line["covered"], judged[key], weights[key]))
    return {"plain": _figures([(a, b, 1) for a, b, _ in cells]), "weighted": _figures(cells)}


def _figures(cells: list[tuple[bool, bool, int]]) -> tuple[float, ...]:
    both, only_judge, only_people, neither = (
        sum(w for a, b, w in cells if (a, b) == pair)
        for pair in ((True, True), (False, True), (True, False), (False, False))
    )
    precision, recall = both / (both + only_judge), both / (both + only_people)
    accuracy = (both + neither) / (both + neither + only_judge + only_people)
    return accuracy, precision, recall, 2 * precision * recall / (precision + recall)


def test_researcherbench_files_give_its_figures(project: Project, tmp_path: Path) -> None:
    units = [(item, unit) for item in "12" for unit in (FIRST, SECOND, THIRD)]
    values = {"y": "yes", "n": "no"}
    said = [
        {"item": item, "unit": unit, "value": values[letter]}
        for (item, unit), letter in zip(units, PEOPLE, strict=True)
    ]
    take(project, written(tmp_path, *said))
    say(project, "baseline", JUDGE)
    written_to(project, tmp_path / "out", LabelSelection(judge="baseline"))
    result = their_figures(tmp_path / "out" / "Alpha", "R2")
    # Agreed covered: weights 3 and 2; the judge alone 3; people alone 2; agreed uncovered 1 and 1.
    assert result["plain"] == pytest.approx((4 / 6, 2 / 3, 2 / 3, 2 / 3))
    assert result["weighted"] == pytest.approx((7 / 12, 5 / 8, 5 / 7, 2 * 5 / (8 + 7)))
    ours = both_ways(PEOPLE, JUDGE, "y", [3, 2, 1] * 2, [n // 3 for n in range(6)])
    for name, figures in zip(("plain", "weighted"), ours, strict=True):
        assert result[name] == pytest.approx(
            [figures[one].value for one in ("accuracy", "precision", "recall", "f1")]
        )
    written_to(project, tmp_path / "out")
    names = {path.relative_to(tmp_path / "out").as_posix() for path in (tmp_path / "out").rglob("*.json")}
    assert names == {"Alpha/Q1_result_R2.json", "Alpha/Q2_result_R2.json", "goldsmith.json", "rubric.json"}


def test_what_is_unsure_or_of_a_unit_that_is_gone_is_left_out_and_said(
    project: Project, tmp_path: Path
) -> None:
    take(project, written(tmp_path, {}, {"unit": SECOND, "value": "unsure"}))
    assert (
        "1 label left out: unsure, which is neither covered nor not"
        in written_to(project, tmp_path / "out").notes
    )
    assert tree(tmp_path / "out/Alpha/Q1_result_R2.json")["rubric_eval"] == [
        {"point": FIRST, "covered": True}
    ]
    sql.alter(project, "UPDATE judgement SET unit_id = 'gone ' || unit_id")
    assert written_to(project, tmp_path / "out.csv").notes == (
        "2 labels of units that are no longer asked about",
    )
    expect_refusal("has a place in this layout", written_to, project, tmp_path / "out")


def test_the_published_questions_keep_their_numbers(peer: Project, tmp_path: Path) -> None:
    take(
        peer,
        written(tmp_path, {"item": "2", "system": "Sys", "unit": "Point 2"}),
        LabelImportOptions({"Ann": "A"}),
    )
    written_to(peer, tmp_path / "out")
    assert tree(tmp_path / "out/Sys/Q2_result_A.json")["rubric_eval"] == [
        {"point": "Point 2", "covered": True}
    ]
    assert not (tmp_path / "out/goldsmith.json").exists()
