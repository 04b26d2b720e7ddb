"""Releases: whole, numbered by content, byte for byte the same again, and without what must not leave.

A release for others: what is asked before it, files that other programs load, versions, encrypted test items. The work
in pairs in it, and what judges paired: under pseudonyms, and back again."""

import asyncio
import csv
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from sqlalchemy import update

from annotator.actions.agreement import agreement_report, assisting, final_pass
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.sets import reviews, validation_sets
from annotator.actions.validation import disagreements, validation
from annotator.cli import run_command
from annotator.domain.common import new_id
from annotator.domain.experts.publication import CHECKS, SplitAccess
from annotator.domain.judges.judge import InformedRuling, RaterKind, Review
from annotator.domain.kinds.documents import UNSURE
from annotator.domain.kinds.tasks import Task
from annotator.exchange.release import encryption
from annotator.places import schemas
from annotator.storage.tables import JUDGE as JUDGES, PERSON
from tests import common
from tests.actions.contests.contest_project import add_seminar, contest_project
from tests.actions.releases.released_pairs import CANARY, paired_project, released
from tests.cli.commands import printed, refused, told
from tests.common import expect_refusal
from tests.material.bundles import (
    ANSWERS,
    REAL,
    change_json,
    found,
    tree,
    without_manifest,
    write_peer,
    write_release,
)
from tests.projects.pairs_project import AGREEMENT, F1, assisted_project, item, pairing, person
from tests.projects.small_projects import small_project
from tests.projects.validation_project import (
    judge_says,
    labelled_set,
    places,
    validation_project,
)
from tests.promises.test_releases import without_inspect
from tests.servers.served import JUDGE, add_judge


def project_of(folder: Path, name: str, source: Path, kind: str = "goldsmith") -> Project:
    project = people.new_project(folder / f"{name}.goldsmith", "T")
    imports.run(project, kind, [source], warm=False)
    return project


@pytest.mark.skipif(not REAL.is_dir(), reason="the public ResearcherBench data is not there")
def test_the_published_benchmark_goes_through_a_project_unchanged(tmp_path: Path) -> None:
    project = project_of(tmp_path, "first", REAL, "researcherbench")
    releases.export(project, tmp_path / "out", "researcherbench")
    for path in ("questions.json", "rubric.json", "responses/OpenAI.json"):
        before, after = tree(REAL, path), tree(tmp_path / "out", path)
        # Three responses of the public files repeat their question in another wording; the question's own is kept.
        assert [{**entry, "question": ""} for entry in after] == [
            {**entry, "question": ""} for entry in before
        ]
    again = imports.run(project, "researcherbench", [tmp_path / "out"], warm=False)[1]
    assert (str(again), again.problems, again.notes) == ("nothing new", (), ())


def test_a_read_only_project_can_be_released(tmp_path: Path) -> None:
    assert (
        releases.export(Project.open(small_project(tmp_path).path, readonly=True), tmp_path / "out").number
        == 1
    )
    assert tree(tmp_path / "out", "manifest.json")["counts"]["items"] == 2


@pytest.mark.usefixtures("small_cases")
def test_judgements_on_units_that_stay_are_left_out_and_counted(tmp_path: Path) -> None:
    project = project_of(tmp_path, "a", write_release(tmp_path / "in"))
    assignments.reopen(project, "rubric-1")
    artifacts.remove_unit(project, "rubric-1", "c1")
    open_again, notes = releases.gather(project)
    assert [
        len(artifact.document["units"]) for artifact in open_again.artifacts if artifact.id == "rubric-1"
    ] == [2]
    assert notes == ["Reopened, and released and scored as last sealed: the rubric of item one (revision 2)."]
    assignments.seal(project, "rubric-1")
    bundle, notes = releases.gather(project)
    assert [j.unit_id for j in bundle.judgements] == ["c2"]
    assert notes == ["Left out: 2 judgements on units that are not part of the release."]


def test_every_profile_bears_one_number_people_leave_by_alias_and_no_key_at_all(tmp_path: Path) -> None:
    project = project_of(tmp_path, "a", write_release(tmp_path / "in"))
    with project.store.write() as db:
        db.execute(update(PERSON).where(PERSON.c.id == "person-1").values(name="CANARY-Ada"))
        secret = {"base_url": "https://me:CANARY-1@host:8080/v1?key=CANARY-2#CANARY-3", "key_env": "CANARY_4"}
        db.execute(update(JUDGES).values(**secret))
    for profile in releases.PROFILES:
        assert releases.export(project, tmp_path / profile, profile).number == 1
        assert all(b"CANARY" not in content for content in found(tmp_path / profile).values())
    assert (tmp_path / "csv" / "criteria.csv").read_bytes()[:3] == b"\xef\xbb\xbf"
    assert tree(tmp_path / "goldsmith", "judges.json")[0]["base_url"] == ""
    releases.export(project, tmp_path / "addressed", addresses=True)
    assert all(b"CANARY" not in content for content in found(tmp_path / "addressed").values())
    assert tree(tmp_path / "addressed", "judges.json")[0]["base_url"] == "https://host:8080/v1"
    assert [p["alias"] for p in tree(tmp_path / "goldsmith", "people.json")] == ["R1", "R2"]
    assert people.someone(project).id not in (tmp_path / "goldsmith" / "people.json").read_text("utf-8")


def test_a_score_of_which_too_much_is_missing_says_that_it_is_unfit(tmp_path: Path) -> None:
    releases.export(project_of(tmp_path, "a", write_release(tmp_path / "in")), tmp_path / "out")
    told = tree(tmp_path / "out", "scores.json")
    # Of the judge's two judgements on Alpha one did not come.
    (judged,) = [
        one
        for one in told
        if (one["metric"], one["rater"], one["system"]) == ("coverage", "J", "Alpha")
        and one["group"] == "all"
    ]
    assert judged["unfit"].startswith("50.0 % of the judgements are missing")
    assert all(score["unfit"] == "" for score in told if not score["missing"])


def broken_disk(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_release_that_cannot_be_written_leaves_no_trace(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    before = project.path.read_bytes()
    monkeypatch.setattr(f"annotator.exchange.folders.os.{call}", broken_disk)
    expect_refusal("No space left", releases.export, project, tmp_path / "out" / "deep")
    monkeypatch.undo()
    assert (project.path.read_bytes(), found(tmp_path / "out")) == (before, {})
    assert releases.export(project, tmp_path / "out" / "deep").number == 1


@pytest.mark.parametrize(
    ("spoil", "profile", "reason"),
    [
        (
            lambda p, _: [items.change(p, i, retired=True) for i in items.ids(p)],
            "goldsmith",
            "nothing to release",
        ),
        (lambda _, out: write_peer(out), "goldsmith", "not an unchanged former release"),
        (lambda *_: None, "xlsx", "not a profile"),
    ],
)
def test_what_cannot_be_released_is_refused(
    project: Project, tmp_path: Path, spoil: Callable[[Project, Path], Any], profile: str, reason: str
) -> None:
    spoil(project, tmp_path / "out")
    expect_refusal(reason, releases.export, project, tmp_path / "out", profile)


class FullFile(io.BytesIO):
    def flush(self) -> None:
        broken_disk()


def test_a_full_temporary_folder_is_refused_in_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("annotator.exchange.release.bundle.tempfile.TemporaryFile", FullFile)
    refusal = expect_refusal("laid aside", releases.export, small_project(tmp_path), tmp_path / "out")
    assert "temporary folder" in str(refusal)
    assert not (tmp_path / "out").exists()


MATCHES = (
    "t01,t02,t01,0.8,gpt", "t03,t04,t03,0.9,gpt", "t07,t08,t07,0.7,gpt", "t01,t03,t01,0.6,gpt", "t03,t07,t07,1,gpt",
    "t01,t02,t01,0.7,R1", "t02,t03,t02,0.8,R1", "t01,t02,t02,0.6,R2", "t07,t08,t07,0.95,R2",
)  # fmt: skip


def contested(folder: Path) -> Project:
    """A contest with a judge elsewhere and two people, two tasks kept, two held back, and a pair that nobody saw."""
    project = contest_project(folder)
    people.add_person(project, "Bo")
    (folder / "m.csv").write_text("\n".join(("first,second,winner,confidence,rater", *MATCHES)), "utf-8")
    contest_rows.import_matches(project, folder / "m.csv")
    contest_standings.hold(project, "t07", "Needs a licence", 2)
    shown = contest_standings.report(project, "gpt", "3", 10)
    chosen = contest_standings.chosen(
        shown.ranking, shown.tasks, 2, contest_standings.quotas(1), shown.decided
    )
    contest_standings.keep_tasks(project, chosen, shown.tasks)
    planned = contest_rows.planned("gpt", RaterKind.JUDGE, 9, [("t05", "t06")], both=True)
    with project.store.write() as db:
        contest_rows.add(db, planned)
    return project


def standing(project: Project) -> list[Any]:
    """All that is known of a contest: what each was shown and said, how it rates the tasks, what was decided."""
    raters = [rater.name for rater in contest_rows.raters(project)] + ["people"]
    reports = [contest_standings.report(project, name, "3", 50) for name in raters]
    said = [contest_rows.showings(project, report.rater.id) for report in reports]
    return [said, [report.tree() for report in reports], contest_standings.decisions(project)]


def test_a_contest_leaves_in_a_release_and_comes_back(tmp_path: Path) -> None:
    project = contested(tmp_path)
    releases.export(project, tmp_path / "out")
    names = [f"contest_{name}.json" for name in ("matches", "ratings", "decisions")]
    matches, ratings, decisions = (tree(tmp_path / "out", name) for name in names)
    assert len(matches) == 11
    assert [(match["first_key"], match["value"], match["confidence"]) for match in matches][:2] == [
        ("s1-t01", "first", 0.7),
        ("s1-t02", "first", 0.8),
    ]
    assert Counter(rating["rater"] for rating in ratings) == {"R1": 12, "R2": 12, "gpt": 12, "people": 12}
    first = next(rating for rating in ratings if rating["rater"] == "gpt" and rating["rank"] == 1)
    assert (first["task"], first["k"], first["elo"] > 1200, first["note"] != "") == ("s2-t01", 2, True, True)
    told = {decision["task"]: (decision["kept"], decision["reason"]) for decision in decisions}
    assert told["s2-t01"] == (False, "Needs a licence")
    for name in names:
        jsonschema.validate(tree(tmp_path / "out", name), json.loads((schemas() / name).read_text("utf-8")))
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    assert imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)[1].problems == ()
    for known in (other, project):
        assert str(imports.run(known, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
    assert (standing(other), checking.check(other).problems) == (standing(project), [])
    releases.export(other, tmp_path / "again")
    assert found(tmp_path / "again") == found(tmp_path / "out")


def test_a_match_that_does_not_fit_is_refused_by_name(tmp_path: Path) -> None:
    out = tmp_path / "out"
    releases.export(contested(tmp_path), out)
    (out / "manifest.json").unlink()
    matches = tree(out, "contest_matches.json")
    other = Project.create(tmp_path / "other.goldsmith", "Other")
    for change, words in (
        ({"confidence": 0.3}, "a confidence from 0.5 to 1"),
        ({"value": None}, "with a value and a confidence"),
        ({"second": "t99"}, "its task t99 was not imported"),
        ({"second": "t02", "first": "t02"}, "a match is of two tasks"),
        ({"rater": "nobody"}, "its person nobody was not imported"),
    ):
        (out / "contest_matches.json").write_text(json.dumps([matches[0] | change, *matches[1:]]), "utf-8")
        reason = rf"contest_matches\.json\[0\]: .*{re.escape(words)}"
        expect_refusal(reason, imports.run, other, "goldsmith", [out], warm=False)
    assert contest_rows.raters(other) == []


def test_arena_tasks_tell_which_were_kept_and_records_are_counted(tmp_path: Path) -> None:
    project = contested(tmp_path)
    add_seminar(project, "s9", (Task(id=new_id(), text="Map the wells of the valley and deliver a table."),))
    made = releases.export(project, tmp_path / "arena", "arena")
    lines = [json.loads(one) for one in (tmp_path / "arena" / "tasks.jsonl").read_text("utf-8").splitlines()]
    told = {line["id"]: [line.get(name) for name in ("kept", "rank", "reason")] for line in lines}
    assert made.records == len(lines) == 13
    assert [told[name] for name in ("t01", "t07", "t12", "s9-t01")] == [
        [True, 2, None], [False, 1, "Needs a licence"], [False, None, None], [False, None, None],
    ]  # fmt: skip
    tables = releases.export(project, tmp_path / "csv", "csv")
    rows = [
        list(csv.reader(path.read_text("utf-8-sig").splitlines(keepends=True)))
        for path in sorted((tmp_path / "csv").glob("*.csv"))
    ]
    assert tables.records == sum(map(len, rows)) - len(rows)
    assert {"matches.csv", "ratings.csv", "decisions.csv"} <= set(tables.files)


OPEN = [
    "Description", "Licence", "Authors", "Contact", "Qualification, pay and consent", "Use cases",
    "Personal or sensitive data", "Collection", "Annotators", "Limits", "Biases", "Social impact", "Maintenance",
]  # fmt: skip


def test_what_is_open_is_told_before_a_release_and_refused_when_strict(
    project: Project, tmp_path: Path
) -> None:
    bare = items.add(project, "Why is the sky blue?", "", "", "en", {"key": "sky"}).subject
    told = releases.export(project, tmp_path / "told").notes
    assert [note.split(":")[0] for note in told] == [
        "The final pass is not signed for 3 items (1, 2, sky)",
        "There is no settled gold for 1 item (sky)",
        "Readers will ask 13 questions (Description, Licence, Authors and 10 more)",
    ]
    refused = expect_refusal(
        r"not signed for 3 items .*Nothing was released",
        releases.export,
        project,
        tmp_path / "strict",
        strict=True,
    )
    questions = tuple(releases.open_questions(project))
    assert (refused.details, (tmp_path / "strict").exists()) == ((*told, *questions), False)
    assert [words.partition(":")[0] for words in questions] == OPEN
    items.change(project, bare, retired=True)
    releases.describe(project, ANSWERS)
    for item_id in items.ids(project):
        for check in CHECKS:
            final_pass.sign(project, item_id, check, "passed")
    assert releases.export(project, tmp_path / "strict", strict=True).notes == ()
    final_pass.sign(project, items.ids(project)[0], "links", "problem", "Page 2 is gone.")
    assert [note.split(":")[0] for note in releases.open_points(project)] == [
        "The final pass is not signed for 1 item (1)"
    ]


set_drawn = common.fixture_of(labelled_set)


def validated(set_drawn: Project) -> None:
    """A locked set of which the test part was looked at, a review, and a ruling."""
    validation_sets.lock(set_drawn, "Spring")
    validation_sets.open_test(set_drawn, "Spring", ["small"])
    _, response, unit = places(set_drawn)[1, "Alpha", 1]
    reviews.review(set_drawn, "small", response, unit, Review.AGREE, note="As page 2 has it.")
    disagreements.rule(
        set_drawn,
        disagreements.queue(set_drawn, validation.ValidationQuery(against=("R2",)))[0],
        InformedRuling.UNCLEAR,
    )


def test_what_was_validated_leaves_by_its_schema_and_comes_back_byte_for_byte(
    set_drawn: Project, tmp_path: Path
) -> None:
    validated(set_drawn)
    releases.export(set_drawn, tmp_path / "one")
    (left,) = tree(tmp_path / "one", "validation_sets.json")
    assert (left["name"], len(left["first_labels"]), left["looks"][0]["judges"]) == (
        "Spring",
        32,
        ["small"],
    )
    assert [one["kind"] for one in tree(tmp_path / "one", "informed.json")] == ["review", "ruling"]
    for name in ("validation_sets", "informed"):
        jsonschema.validate(
            tree(tmp_path / "one", f"{name}.json"),
            json.loads((schemas() / f"{name}.json").read_text("utf-8")),
        )
    other = Project.create(tmp_path / "other.goldsmith", set_drawn.title)
    assert imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)[1].problems == ()
    assert str(imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)[1]) == "nothing new"
    assert validation_sets.named(other, "Spring").openings == 1
    releases.export(other, tmp_path / "two")
    assert found(tmp_path / "one") == found(tmp_path / "two")


def test_a_set_whose_labels_are_not_locked_stays(set_drawn: Project, tmp_path: Path) -> None:
    releases.export(set_drawn, tmp_path / "one")
    assert not (tmp_path / "one" / "validation_sets.json").exists()
    assert tree(tmp_path / "one", "manifest.json")["counts"]["validation_sets"] == 0


def test_first_labels_that_were_touched_are_not_taken_in(set_drawn: Project, tmp_path: Path) -> None:
    validated(set_drawn)
    releases.export(set_drawn, tmp_path / "one")
    for name in ("manifest.json", "SHA256SUMS"):
        (tmp_path / "one" / name).unlink()
    (found,) = tree(tmp_path / "one", "validation_sets.json")
    found["first_labels"][0]["value"] = "no" if found["first_labels"][0]["value"] == "yes" else "yes"
    (tmp_path / "one" / "validation_sets.json").write_text(json.dumps([found]), "utf-8")
    other = Project.create(tmp_path / "other.goldsmith")
    expect_refusal(
        "first labels are not those their checksum was made of",
        imports.run,
        other,
        "goldsmith",
        [tmp_path / "one"],
        warm=False,
    )


# A Python with the packages of Hugging Face and Croissant, which are too large to be installed for every run.
HUB = Path(os.environ.get("GOLDSMITH_HUB_PYTHON", "/nowhere"))


@pytest.fixture
def judged(tmp_path: Path) -> Project:
    """Four items, two systems, a judge's verdicts, and every question answered."""
    project = validation_project(tmp_path)
    judge_says(project, "small", lambda at: "yes" if at[1] == "Alpha" else "no")
    releases.describe(project, ANSWERS)
    return project


def rows(folder: Path, name: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in (folder / "data" / f"{name}.jsonl").read_text("utf-8").splitlines()]


def test_an_answer_that_does_not_fit_is_refused_in_words_and_nothing_changes(judged: Project) -> None:
    before = releases.metadata(judged)
    for name, words, reason in (
        ("authors", "Ada, 0000-0002-1825-0098", "0000-0002-1825-0098 is no orcid"),
        ("version", "1.0", "for example 1.0.0"),
        ("homepage", "example", "for example https://example.org"),
        ("published", "31.5.2026", "The published does not fit"),
        ("languages", "en, not a language", "for example en or zh-hans"),
    ):
        expect_refusal(reason, releases.describe, judged, {name: words})
    assert releases.metadata(judged) == before
    assert (before.licence, before.text("authors")) == ("CC-BY-4.0", ANSWERS["authors"])


def test_what_is_proposed_is_in_no_release_before_it_is_confirmed(tmp_path: Path, capsys: Any) -> None:
    project = validation_project(tmp_path)
    path, proposed = project.path, releases.proposals(project)["annotators"]
    assert proposed == "1 person wrote gold."
    releases.export(project, tmp_path / "out")
    assert proposed not in (tmp_path / "out" / "README.md").read_text("utf-8")
    assert told(capsys, "release", "describe", path)["answers"] == {}
    after = told(capsys, "release", "describe", path, "--confirm", "--tags", "a; b")["answers"]
    assert (after["annotators"], after["tags"], after["languages"]) == (proposed, ["a", "b"], ["en"])
    assert f"Annotators: {proposed}" in printed(capsys, "release", "describe", path)


def test_every_row_says_what_it_is_of_and_bears_the_canary(judged: Project, tmp_path: Path) -> None:
    for name in ("out", "again"):
        releases.export(judged, tmp_path / name)
    files = found(tmp_path / "out")
    assert files == found(tmp_path / "again")
    units = {one["unit_id"]: (one["criterion"], one["weight"]) for one in rows(tmp_path / "out", "criteria")}
    records, judgements = json.loads(files["judgements.json"]), rows(tmp_path / "out", "judgements")
    assert [(one["criterion"], one["weight"]) for one in judgements] == [
        units[record["unit_id"]] for record in records
    ]
    assert [(one["system"], one["rater"], one["rater_kind"]) for one in judgements] == [
        ("Alpha" if record["value"] == "yes" else "Beta", "small", "judge") for record in records
    ]
    canary = releases.published(judged).canary
    flat = [Path(path).stem for path in files if path.startswith("data/")]
    assert {one["canary"] for name in flat for one in rows(tmp_path / "out", name)} == {canary}
    assert canary.encode() not in files["judgements.json"]


def test_the_cards_carry_every_answer(judged: Project, tmp_path: Path) -> None:
    releases.describe(judged, {"version": "1.2.0"})
    releases.export(judged, tmp_path / "out")
    files = found(tmp_path / "out")
    _, front, card = files["README.md"].decode().split("---\n", 2)
    head, cff = yaml.safe_load(front), yaml.safe_load(files["CITATION.cff"])
    assert (head["license"], head["size_categories"]) == ("cc-by-4.0", ["n<1K"])
    flat = {path for path in files if path.startswith("data/")}
    assert {one["data_files"][0]["path"] for one in head["configs"]} == flat
    answers = {
        ANSWERS[name] for name in ("collection", "uses", "limits", "biases", "personal", "maintenance")
    }
    assert [words for words in answers if words not in card] == []
    assert answers <= {
        value for value in json.loads(files["croissant.json"]).values() if isinstance(value, str)
    }
    assert (cff["authors"][0]["family-names"], cff["license"], cff["version"]) == (
        "Lovelace",
        "CC-BY-4.0",
        "1.2.0",
    )
    assert "https://creativecommons.org/licenses/by/4.0/" in files["LICENSE"].decode()


def test_what_a_system_under_test_must_not_read_is_listed(judged: Project, tmp_path: Path) -> None:
    releases.export(judged, tmp_path / "none")
    assert "blocked_sources.txt" not in found(tmp_path / "none")
    releases.describe(
        judged,
        {"homepage": "https://example.org/bench/", "blocked_sources": "doi.org/10.1/x\n*.gold.example"},
    )
    releases.export(judged, tmp_path / "out")
    lines = (tmp_path / "out" / "blocked_sources.txt").read_text("utf-8").splitlines()
    assert lines == ["example.org/bench", "example.org/bench/*", "doi.org/10.1/x", "*.gold.example"]


def test_what_it_says_comes_back_with_it_and_a_copy_is_recognised(judged: Project, tmp_path: Path) -> None:
    releases.add_erratum(judged, "A typing mistake.")
    releases.export(judged, tmp_path / "one")
    other = Project.create(tmp_path / "other.goldsmith", judged.title)
    report = imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)[1]
    assert "is release 1 of a benchmark, which is for testing" in str(report.notes[-1])
    releases.export(other, tmp_path / "two")
    assert found(tmp_path / "one") == found(tmp_path / "two")
    assert "is release 1 of this project" in str(
        imports.preview(other, "goldsmith", [tmp_path / "one"]).notes[-1]
    )
    bare = Project.create(tmp_path / "bare.goldsmith")
    notes = imports.run(bare, "tables", [tmp_path / "one" / "data" / "items.jsonl"], warm=False)[1].notes
    assert "is from a release of a benchmark, which is for testing" in str(notes)
    assert not any("canary" in items.read(bare, own).traits for own in items.ids(bare))


def test_two_releases_are_compared_and_a_withdrawn_number_stays_withdrawn(
    judged: Project, tmp_path: Path, capsys: Any
) -> None:
    releases.export(judged, tmp_path / "one")
    first, second, *_ = items.ids(judged)
    rubric = next(one for one in releases.gather(judged)[0].artifacts if one.item_id == first)
    unit, path, key = rubric.document["units"][0], judged.path, items.read(judged, second).key
    assignments.reopen(judged, rubric.id)
    artifacts.change_unit(judged, rubric.id, unit["id"], text="Reworded.", weight=1)
    assignments.seal(judged, rubric.id)
    items.change(judged, second, retired=True)
    changes = told(capsys, "release", "diff", tmp_path / "one", path)["changes"]
    assert changes["items"] == [f"Item {key} was retired."]
    assert [words.partition(": ")[2] for words in changes["criteria"][:2]] == [
        f"the criterion “{unit['text']}” was reworded: “Reworded.”.",
        "the criterion “Reworded.”: weight changed from 3 to 1.",
    ]
    # Of both items: two criteria, two systems; those of the reworded criterion no longer count.
    assert changes["judgements"] == ["6 judgements were removed (researcherbench.coverage, by a judge)."]
    reason, since = "Criterion 1 named the wrong work.", ("--since", tmp_path / "one")
    assert told(capsys, "release", "correct", path, "--reason", reason, *since)["since"] == 1
    printed(capsys, "release", "withdraw", path, "1", "--reason", "Item 2 leaks.")
    assert told(capsys, "export", path, "--to", tmp_path / "two")["number"] == 2
    for name in ("CHANGELOG.md", "README.md"):
        text = (tmp_path / "two" / name).read_text("utf-8")
        assert "**Release 1 was withdrawn**" in text
        assert f"{reason} Since release 1:\n\n- Item {key} was retired." in text
    assert [
        (one["number"], one["withdrawn"]) for one in told(capsys, "release", "list", path)["releases"]
    ] == [(2, ""), (1, "Item 2 leaks.")]
    other = Project.create(tmp_path / "other.goldsmith")
    imports.run(other, "goldsmith", [tmp_path / "two"], warm=False)
    assert releases.export(other, tmp_path / "three").number == 2


# What the schema 0.2.2 of Every Eval Ever requires of what is written, in the words of its documentation.
TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
MODEL = {"type": "object", "required": ["name", "id"]}
OF_METRIC = {
    "type": "object",
    "required": ["lower_is_better"],
    "properties": {
        "lower_is_better": {"type": "boolean"},
        "llm_scoring": {
            "required": ["judges", "input_prompt"],
            "properties": {"judges": {"minItems": 1, "items": {"properties": {"model_info": MODEL}}}},
        },
    },
    "dependentRequired": {"score_type": ["min_score", "max_score"]},
}
OF_SCORE = {
    "required": ["score"],
    "properties": {
        "score": {"type": "number"},
        "details": TEXTS,
        "uncertainty": {
            "properties": {
                "num_samples": {"type": "integer"},
                "confidence_interval": {
                    "required": ["lower", "upper"],
                    "properties": {
                        name: {"type": "number"} for name in ("lower", "upper", "confidence_level")
                    },
                },
            }
        },
    },
}
EVAL_RECORD = {
    "type": "object",
    "additionalProperties": False,
    "required": [
        "schema_version", "evaluation_id", "retrieved_timestamp", "source_metadata", "model_info", "eval_library",
        "evaluation_results",
    ],
    "properties": {
        **{name: {"type": "string"} for name in ("schema_version", "evaluation_id", "retrieved_timestamp")},
        "source_metadata": {
            "required": ["source_type", "source_organization_name", "evaluator_relationship"],
            "properties": {
                "source_type": {"enum": ["documentation", "evaluation_run"]},
                "evaluator_relationship": {"enum": ["first_party", "third_party", "collaborative", "other"]},
            },
        },
        "eval_library": {"required": ["name", "version"]},
        "model_info": MODEL,
        "evaluation_results": {
            "type": "array",
            "items": {
                "required": ["evaluation_name", "source_data", "metric_config", "score_details"],
                "properties": {
                    "source_data": {"required": ["dataset_name", "source_type"]},
                    "metric_config": OF_METRIC,
                    "score_details": OF_SCORE,
                },
            },
        },
    },
}  # fmt: skip


def test_scores_that_are_fit_to_be_published_leave_as_records_of_every_eval_ever(
    judged: Project, tmp_path: Path
) -> None:
    releases.export(judged, tmp_path / "out", eval_records=True)
    files = found(tmp_path / "out")
    records = {
        path: json.loads(content) for path, content in files.items() if path.startswith("every_eval_ever/")
    }
    assert records.keys() == {"every_eval_ever/alpha.json", "every_eval_ever/beta.json"}
    for record in records.values():
        jsonschema.Draft202012Validator(EVAL_RECORD).validate(record)
    scores = {
        (one["system"], one["protocol"], one["metric"], one["rater"]): one["value"]
        for one in json.loads(files["scores.json"])
        if one["group"] == "all" and one["system"] and one["value"] is not None and not one["unfit"]
    }
    assert {
        (record["model_info"]["name"], *one["evaluation_result_id"].split("/")): one["score_details"]["score"]
        for record in records.values()
        for one in record["evaluation_results"]
    } == scores
    assert scores["Alpha", "researcherbench.coverage", "coverage", "small"] == 1
    (first, *_) = records["every_eval_ever/alpha.json"]["evaluation_results"]
    asked = first["metric_config"]["llm_scoring"]
    assert asked["judges"] == [{"model_info": {"name": "small", "id": "m"}}]
    # The prompt for one criterion at a time comes first.
    assert asked["input_prompt"].startswith(files["grader.md"].decode())
    releases.export(judged, tmp_path / "again", eval_records=True)
    assert found(tmp_path / "again") == files


LOADED = """
import json, sys
import mlcroissant
from datasets import get_dataset_config_names, load_dataset
folder = sys.argv[1]
loaded = {name: load_dataset(folder, name, split="test") for name in get_dataset_config_names(folder)}
croissant = mlcroissant.Dataset(f"{folder}/croissant.json")
read = {one.name: sum(1 for _ in croissant.records(one.name)) for one in croissant.metadata.record_sets}
counts = {name: rows.num_rows for name, rows in loaded.items()}
criteria = [*loaded["criteria"]]
print(json.dumps([counts, read, criteria, [*croissant.metadata.issues.errors]]))
"""


@pytest.mark.slow
@pytest.mark.skipif(
    not HUB.is_file(),
    reason="GOLDSMITH_HUB_PYTHON names no Python with the packages datasets and mlcroissant",
)
@pytest.mark.parametrize("access", [SplitAccess.AS_IS, SplitAccess.ENCRYPTED])
def test_every_configuration_is_loaded_by_datasets_and_read_by_mlcroissant(
    judged: Project, tmp_path: Path, access: SplitAccess
) -> None:
    out = tmp_path / "out"
    releases.export(judged, out, test_items=access)
    lines = {path.stem: path.read_text("utf-8").count("\n") for path in (out / "data").iterdir()}
    home = {**os.environ, "HF_HOME": str(tmp_path / "home"), "HF_HUB_OFFLINE": "1"}
    ran = subprocess.run(
        [HUB, "-c", LOADED, out], capture_output=True, encoding="utf-8", check=True, env=home
    )
    assert json.loads(ran.stdout.splitlines()[-1]) == [lines, lines, rows(out, "criteria"), []]
    valid = [HUB.with_name("mlcroissant"), "validate", "--jsonld", out / "croissant.json"]
    assert subprocess.run(valid, capture_output=True, check=False).returncode == 0


def test_parquet_holds_the_same_rows_and_is_refused_in_words_where_pyarrow_is_not_there(
    judged: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as without:
        without.setitem(sys.modules, "pyarrow", None)
        expect_refusal("need pyarrow", releases.export, judged, tmp_path / "out", parquet=True)
    parquet = pytest.importorskip("pyarrow.parquet")
    releases.export(judged, tmp_path / "out", parquet=True)
    assert parquet.read_table(tmp_path / "out" / "parquet" / "criteria.parquet").to_pylist() == rows(
        tmp_path / "out", "criteria"
    )


# What says that the texts are encrypted, and how they are decoded.
TOLD = {"README.md", "SHA256SUMS"}


@pytest.fixture(scope="module")
def published(sample_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample project with an encrypted and a plain release of the same number."""
    folder = tmp_path_factory.mktemp("encrypted")
    for name, access in (("one", SplitAccess.ENCRYPTED), ("other", SplitAccess.AS_IS)):
        project = common.opened(shutil.copyfile(sample_file, folder / f"{name}.goldsmith"))
        releases.export(project, folder / access.value, test_items=access)
        project.close()
    return folder


def test_the_decoder_in_the_folder_gives_the_plain_release_byte_for_byte(
    published: Path, tmp_path: Path
) -> None:
    # Without this project's packages.
    run = [sys.executable, "-I", published / "encrypted" / "decode.py", tmp_path / "decoded"]
    subprocess.run(run, check=True, capture_output=True)
    decoded, plain = found(tmp_path / "decoded"), found(published / "as-is")
    assert {path for path in decoded | plain if decoded.get(path) != plain.get(path)} == TOLD
    sums = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=tmp_path / "decoded", check=False)
    assert sums.returncode == 0
    again = subprocess.run(run, check=False, capture_output=True, encoding="utf-8")
    assert (again.returncode, "is there already" in again.stderr) == (1, True)


def test_an_encrypted_release_leaks_nothing_and_comes_back_whole(
    published: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.open(published / "other.goldsmith")
    plain = checking.find_copies(project, [published / "as-is"])
    assert len(plain.copies) == plain.texts - plain.short > 100
    # They are found in what is encrypted, too; in the texts as they lie there are none.
    assert len(checking.find_copies(project, [published / "encrypted"]).copies) == len(plain.copies)
    with monkeypatch.context() as without:
        without.setattr(checking, "plain_text", lambda text, _canaries: text)
        assert checking.find_copies(project, [published / "encrypted"]).copies == ()
    other = Project.create(tmp_path / "back.goldsmith", project.title)
    imports.run(other, "goldsmith", [published / "encrypted"], warm=False)
    releases.export(other, tmp_path / "again")
    assert found(tmp_path / "again") == found(published / "as-is")
    releases.export(other, tmp_path / "repeat", test_items=SplitAccess.ENCRYPTED)
    assert (
        found(tmp_path / "repeat")["data/items.jsonl"] == found(published / "encrypted")["data/items.jsonl"]
    )
    bare = Project.create(tmp_path / "bare.goldsmith")
    rows = published / "encrypted" / "data" / "items.jsonl"
    expect_refusal("import the whole folder", imports.run, bare, "tables", [rows], warm=False)


@pytest.mark.parametrize(("path", "reader"), [("inspect_task.py", "samples"), ("lm_eval/utils.py", "rows")])
def test_a_harness_does_not_ask_about_encrypted_texts(published: Path, path: str, reader: str) -> None:
    task = without_inspect(published / "encrypted" / path)
    given = (task["SAMPLES"],) if "SAMPLES" in task else ()
    with pytest.raises(ValueError, match=r"python decode\.py FOLDER"):
        task[reader](*given)


@common.fixture_of
def marked(folder: Path) -> Project:
    """Two items with criteria and reports, the second marked as test."""
    project = small_project(folder)
    second = items.read(project, items.ids(project)[1])
    assert run_command(["items", "edit", str(project.path), second.key, "--split", "test"]) == 0
    return project


def questions(folder: Path) -> list[str]:
    return [item["question"] for item in tree(folder, "items.json")]


def test_items_that_are_marked_as_test_are_encrypted_without_being_asked_for(
    marked: Project, tmp_path: Path, capsys: Any
) -> None:
    question = items.read(marked, items.ids(marked)[1]).question
    releases.export(marked, tmp_path / "out")
    first, second = questions(tmp_path / "out")
    canary = releases.published(marked).canary
    assert (first, second[:20]) == ("What do residual connections do?", "goldsmith-encrypted:")
    assert encryption.plain_text(second, [canary]) == question
    others = encryption.Encryption((), "another canary").value("é" * 40)
    assert encryption.plain_text(others, [canary]) == others
    assert tree(tmp_path / "out", "manifest.json")["test_items"] == "encrypted"
    assert "can be read by everybody" in str(releases.export(marked, tmp_path / "csv", "csv").notes)
    no = marked, tmp_path / "no", "csv"
    expect_refusal("cannot hold encrypted", releases.export, *no, test_items=SplitAccess.ENCRYPTED)
    plain = told(capsys, "export", marked.path, "--to", tmp_path / "plain", "--test-items", "as-is")
    assert (questions(tmp_path / "plain")[1], plain["number"]) == (question, 2)
    assert "decode.py" not in plain["files"]


def test_what_corrections_and_signatures_say_of_a_test_item_is_encrypted_too(
    marked: Project, tmp_path: Path
) -> None:
    _, second = items.ids(marked)
    releases.export(marked, tmp_path / "before", test_items=SplitAccess.AS_IS)
    items.change(marked, second, question="Which of them was the last to leave?")
    releases.add_erratum(marked, "A question was unclear.", tmp_path / "before")
    final_pass.sign(marked, second, "leak", "passed", "Nobody wrote that it was the last to leave.")
    releases.export(marked, tmp_path / "out")
    files = found(tmp_path / "out")
    assert [path for path, content in files.items() if b"the last to leave" in content] == []
    assert b"A question was unclear." in files["CHANGELOG.md"]
    other = Project.create(tmp_path / "back.goldsmith", marked.title)
    imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
    assert "the last to leave" in str(releases.published(other).errata)
    assert releases.published(other) == releases.published(marked)
    assert final_pass.of_item(other, second) == final_pass.of_item(marked, second)


def test_items_that_are_left_out_are_in_no_file_and_their_scores_stay(
    marked: Project, tmp_path: Path, capsys: Any
) -> None:
    _, second = items.ids(marked)
    releases.add_erratum(marked, "A typing mistake.")
    for name, access in (("whole", SplitAccess.AS_IS), ("part", SplitAccess.LEFT_OUT)):
        releases.export(marked, tmp_path / name, test_items=access)
    whole, part = (found(tmp_path / name) for name in ("whole", "part"))
    assert any(second.encode() in content for content in whole.values())
    assert [path for path, content in part.items() if second.encode() in content] == []
    assert (part["scores.json"], len(json.loads(part["items.json"]))) == (whole["scores.json"], 1)
    items.change(marked, second, traits={})
    nothing = refused(capsys, "export", marked.path, "--to", tmp_path / "no", "--test-items", "left-out")
    assert ("Every item is a test item" in nothing, (tmp_path / "no").exists()) == (True, False)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, Path]:
    """The project and a release of it; nothing of either is changed."""
    folder = tmp_path_factory.mktemp("pairs")
    project = paired_project(folder)
    return project, released(project, folder / "release")


def whose(project: Project, name: str) -> str:
    return person(project, f"{CANARY}-{name}").id


def test_agreement_leaves_as_it_was_frozen_with_people_by_alias_and_labels_as_judgements(made):
    assert all(CANARY.encode() not in path.read_bytes() for path in made[1].rglob("*") if path.is_file())
    aliases = {one["id"]: one["alias"] for one in tree(made[1], "people.json")}
    assert aliases == {whose(made[0], "Ada"): "R2", whose(made[0], "Ben"): "R3", whose(made[0], "Cleo"): "R4"}
    result = {one["stage"]: one for one in tree(made[1], "agreement.json")}
    assert result.keys() == {"rubric", "diagnostics", "labelling"}
    frozen = {one.stage.value: one for one in assignments.of_item(made[0], item(made[0]))}
    assert {stage: one.model_dump(mode="json") for stage, one in frozen.items()} == result
    assert {given["guideline"] for given in result["rubric"]["inputs"]} == {"2"}
    assert not (made[1] / "artifacts" / "labels.json").exists()
    kept = [one for one in tree(made[1], "revisions.json") if one["kind"] == "labels"]
    assert [len(one["document"]["units"]) for one in kept] == [2, 2]
    assert UNSURE in {unit["value"] for one in kept for unit in one["document"]["units"]}


def test_every_version_of_a_consensus_says_where_its_units_come_from(made):
    ada, ben = (whose(made[0], name) for name in ("Ada", "Ben"))
    first, second = tree(made[1], "adjudications.json")
    both = first["provenance"][0]
    edited = next(one for one in second["provenance"] if one["origin"] == "edited")
    dropped = next(one for one in first["rulings"] if one["take"] == "drop")
    assert (both["origin"], both["sources"], both["wording_of"]) == ("both", {ada: "a1", ben: "b1"}, "")
    assert (edited["origin"], edited["sources"], edited["gap"]) == (
        "edited", {ada: "a5"}, "Whether costs count is left open.",
    )  # fmt: skip
    assert {one["wording_of"] for one in first["provenance"][1:]} == {ben}
    assert dropped["members"] == {ada: "a5"}
    assert {(one["reason"], one["rationale"], one["confidence"]) for one in first["provenance"]} == {
        ("wording", "Said better.", "high")
    }


def test_a_second_figure_an_objection_and_a_guideline_leave(made):
    (frozen,) = (one for one in tree(made[1], "agreement.json") if one["stage"] == "rubric")
    names = {figure["name"] for figure in frozen["pairs"][0]["figures"]}
    assert {figure["name"] for figure in tree(made[1], "adjudications.json")[0]["repaired"]} == {
        f"repaired_{name}" for name in names
    }
    first, second = tree(made[1], "adjudications.json")
    (dispute,) = first["disputes"]
    assert (second["disputes"], dispute["text"]) == ([], "The cost of checking is missing.")
    (guideline,) = tree(made[1], "guidelines.json")
    assert (guideline["version"], guideline["text"]) == (2, "One claim in each criterion.")


def test_nothing_of_an_item_that_is_set_aside_leaves(tmp_path):
    project = paired_project(tmp_path)
    items.change(project, item(project), retired=True)
    bundle, _ = releases.gather(project)
    assert (bundle.agreements, bundle.adjudications, bundle.revisions, bundle.people) == ([], [], [], [])
    assert len(bundle.guidelines) == 1


def test_the_card_tells_how_the_gold_came_about(made):
    card = (made[1] / "README.md").read_text("utf-8")
    # Ada wrote 5 criteria and 3 statements, Ben 6 and 3; the first version of 6 units has become one of 7.
    for line in (
        "| R2 | 2 | 8 | 0 | 0 |",
        "| R3 | 2 | 9 | 0 | 0 |",
        "| R4 | 0 | 0 | 0 | 1 |",
        "| reworded by the adjudicator | 1 | 14.3 % |",
        "| wording | 7 | 100.0 % |",
    ):
        assert line in card.splitlines()
    # 4 pairs of 5 and 6 criteria.
    assert "| rubric | units | automatic | 1 | 1 | match_f1 | 0.73 | – |" in card


@pytest.fixture(scope="module")
def paired(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a project, and its release before and after a judge paired what it holds."""
    folder = tmp_path_factory.mktemp("assisted")
    with pairing() as server, closing(assisted_project(folder, server)) as project:
        releases.export(project, folder / "before")
        asyncio.run(assisting.PairingRun.run(project, assisting.order(JUDGE)))
        releases.export(project, folder / "release")
    return folder


def taken_in(folder: Path, source: Path) -> Project:
    project = people.new_project(folder / "taken.goldsmith", "pairs")
    imports.run(project, "goldsmith", [source], warm=False)
    return project


def test_it_has_a_field_of_its_own_and_what_was_frozen_leaves_as_before(paired: Path) -> None:
    before, after = (tree(paired / name, "agreement.json") for name in ("before", "release"))
    assert all("assisted" not in one for one in before)
    assisted = [one.pop("assisted") for one in after]
    assert after == before
    result = [{each["name"]: each["value"] for each in one["figures"]} for (one,) in assisted]
    assert sorted(one["assisted_match_f1"] for one in result) == pytest.approx(sorted(F1))
    assert all(name.startswith("assisted_") for one in result for name in one)
    assert {(one["model"], one["answered_by"], len(one["prompt_sha256"])) for (one,) in assisted} == {
        ("test-model", "test-model-2026", 64)
    }
    (judge,) = tree(paired / "release", "judges.json")
    assert {one["judge_id"] for (one,) in assisted} == {judge["id"]}


def test_the_data_card_tells_it_after_the_frozen_figures_under_its_own_name(paired: Path) -> None:
    card = (paired / "release" / "README.md").read_text("utf-8")
    lines = [line for line in card.splitlines() if "match_f1" in line]
    assert [("automatic" in line, "model-assisted: test-model, prompt" in line) for line in lines] == [
        (True, False), (False, True),
    ]  # fmt: skip
    assert "| 0.79 |" in lines[1]
    assert ("lower bound" in lines[0], "lower bound" in lines[1]) == (True, False)
    shares = [line for line in card.splitlines() if "| agreement |" in line and "model-assisted" in line]
    assert [f"| {AGREEMENT:.2f} |" in line for line in shares] == [True]


def test_two_judges_of_one_model_are_told_apart_in_the_data_card(tmp_path: Path) -> None:
    with pairing() as server, closing(assisted_project(tmp_path, server, 1)) as project:
        add_judge(project, server, "near")
        for name in (JUDGE, "near"):
            asyncio.run(assisting.PairingRun.run(project, assisting.order(name)))
        releases.export(project, tmp_path / "release")
    card = (tmp_path / "release" / "README.md").read_text("utf-8")
    lines = [
        line for line in card.splitlines() if "match_f1" in line and "model-assisted: test-model" in line
    ]
    assert sorted([name for name in (JUDGE, "near") if f"judge “{name}”" in line] for line in lines) == [
        [JUDGE], ["near"],
    ]  # fmt: skip


def test_it_is_read_back_and_leaves_again_byte_for_byte(paired: Path, tmp_path: Path) -> None:
    with closing(taken_in(tmp_path, paired / "release")) as project:
        assert checking.check(project).problems == []
        releases.export(project, tmp_path / "again")
        given = agreement_report.report(project, assisted_by=JUDGE).assistance
        assert (given.lists, given.there) == (2, 2)
        assert str(imports.run(project, "goldsmith", [paired / "release"], warm=False)[1]) == "nothing new"
    one, two = found(paired / "release"), found(tmp_path / "again")
    # It was the first project's second release.
    assert [json.loads(each.pop("manifest.json")).pop("number") for each in (one, two)] == [2, 1]
    assert one.pop("SHA256SUMS") != two.pop("SHA256SUMS")
    assert one == two


def test_a_project_that_has_the_agreement_learns_what_was_paired_since(paired: Path, tmp_path: Path) -> None:
    with closing(taken_in(tmp_path, paired / "before")) as project:
        report = imports.run(project, "goldsmith", [paired / "release"], warm=False)[1]
        assert (report.problems, report.counts["pairings"].new, report.counts["agreements"].new) == ((), 2, 0)
        assert agreement_report.report(project, assisted_by=JUDGE).assistance.there == 2  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda one: one["only_a"].append("strange"), "not over all units of its raters"),
        (lambda one: one.update(b=one["a"]), "not of two raters of its agreement"),
        (lambda one: one.update(judge_id="nobody"), "its judge nobody was not imported"),
        (lambda one: one.pop("prompt_sha256"), "“assisted.0.prompt_sha256” is missing"),
    ],
)
def test_what_does_not_fit_is_refused_with_its_place(
    spoil: Callable[[dict[str, Any]], Any], why: str, paired: Path, tmp_path: Path
) -> None:
    folder = without_manifest(shutil.copytree(paired / "release", tmp_path / "in"))
    change_json(folder / "agreement.json", lambda tree: spoil(tree[0]["assisted"][0]))
    with closing(Project.create(tmp_path / "p.goldsmith")) as project:
        problems = imports.preview(project, "goldsmith", [folder]).problems
    (told,) = [str(problem) for problem in problems if why in problem.reason]
    assert told.startswith("agreement.json[0]: ")
