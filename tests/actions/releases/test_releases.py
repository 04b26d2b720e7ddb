"""Releases: whole, numbered by content, byte for byte the same again, and without what must not leave."""

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from sqlalchemy import update

from annotator.actions.agreement import final_pass
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.contests import contest_rows, contest_standings
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.releases.gathering import without_secrets
from annotator.actions.sets import reviews, validation_sets
from annotator.actions.validation import disagreements, validation
from annotator.domain.experts.publication import CHECKS
from annotator.domain.judges.judge import InformedRuling, RaterKind, Review
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.tasks import Task
from annotator.domain.texts.canonical import new_id
from annotator.exchange.formats import researcherbench
from annotator.exchange.release import release
from annotator.places import schemas
from annotator.storage.tables import JUDGE, PERSON, RESPONSE
from tests.actions.contests.contest_project import add_seminar, contest_project
from tests.material.bundles import ANSWERS, REAL, found, rich_bundle, tree, write_peer, write_release
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.projects.validation_project import (
    labelled_set,
    places,
)


def project_of(folder: Path, name: str, source: Path, kind: str = "goldsmith") -> Project:
    project = people.new_project(folder / f"{name}.goldsmith", "T")
    imports.run(project, kind, [source], warm=False)
    return project


def test_a_release_comes_back_byte_for_byte(tmp_path: Path) -> None:
    source = write_release(tmp_path / "in")
    releases.export(project_of(tmp_path, "first", source), tmp_path / "one")
    releases.export(project_of(tmp_path, "second", tmp_path / "one"), tmp_path / "two")
    assert found(tmp_path / "one") == found(tmp_path / "two") != {}
    same = (
        "items.json",
        "people.json",
        "judgements.json",
        "artifacts/rubric.json",
        "responses/alpha.json",
        "runs.json",
    )
    assert all((tmp_path / "one" / path).read_bytes() == (source / path).read_bytes() for path in same)


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


def test_what_is_written_here_leaves_in_a_peers_layout_and_enters_elsewhere(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    report = releases.export(project, tmp_path / "out", "researcherbench")
    assert (report.number, list(report.notes)) == (1, releases.open_points(project))
    bundle, problems = researcherbench.read([tmp_path / "out"])
    assert not problems
    assert [item.key for item in bundle.items] == ["1", "2"]
    assert [[(u["text"], u["weight"]) for u in a.document["units"]] for a in bundle.artifacts] == [
        [("Explains residual connections", 3), ("Compares training stability", 2), ("Names one dataset", 1)]
    ] * 2
    assert len(bundle.responses) == 4


def test_the_same_content_has_the_same_number_and_bytes_and_other_content_the_next(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    numbers = [releases.export(project, tmp_path / name).number for name in ("one", "two")]
    items.change(project, items.ids(project)[0], subject="Statistics")
    numbers += [releases.export(project, tmp_path / name).number for name in ("three", "one")]
    assert numbers == [1, 1, 2, 2]
    assert found(tmp_path / "one") == found(tmp_path / "three") != found(tmp_path / "two")
    assert tree(tmp_path / "two", "manifest.json")["number"] == 1


def test_a_read_only_project_can_be_released(tmp_path: Path) -> None:
    project = Project.open(small_project(tmp_path).path, readonly=True)
    assert releases.export(project, tmp_path / "out").number == 1
    assert tree(tmp_path / "out", "manifest.json")["counts"]["items"] == 2


def test_drafts_and_retired_items_stay(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    first, second = items.ids(project)
    artifacts.start(project, first, Kind.PLAN)
    items.change(project, second, retired=True)
    bundle, _ = releases.gather(project)
    assert [item.id for item in bundle.items] == [first]
    assert [(a.item_id, a.kind) for a in bundle.artifacts] == [(first, Kind.RUBRIC)]
    assert {response.item_id for response in bundle.responses} == {first}


def test_of_a_reopened_artifact_the_sealed_revision_leaves(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    before = releases.gather(project)[0].artifacts
    first = before[0]
    assignments.reopen(project, first.id)
    artifacts.change_unit(project, first.id, first.document["units"][0]["id"], text="Not yet agreed")
    assert releases.gather(project)[0].artifacts == before


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
        db.execute(update(JUDGE).values(**secret))
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


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("", ""),
        ("http://127.0.0.1:11434/v1", "http://127.0.0.1:11434/v1"),
        ("https://u@h/?a#b", "https://h/"),
    ],
)
def test_an_address_keeps_host_and_path_only(address: str, expected: str) -> None:
    assert without_secrets(address) == expected


def test_scores_are_those_of_the_results_page(tmp_path: Path) -> None:
    report = releases.export(project_of(tmp_path, "a", write_release(tmp_path / "in")), tmp_path / "out")
    told = tree(tmp_path / "out", "scores.json")
    scores = {(s["rater"], s["group"], s["system"]): s for s in told if s["metric"] == "coverage"}
    # The judge says no to the criterion of weight 3 and nothing on that of weight 1: 0 of 3, and 1 of 4 open.
    judged, labelled = scores["J", "all", "Alpha"], scores["people", "all", "Alpha"]
    assert (judged["value"], judged["n"], judged["missing"]) == (0.0, 1, 1)
    assert labelled["value"] == 1.0
    # One of two judgements did not come.
    assert judged["unfit"].startswith("50.0 % of the judgements are missing")
    assert all(score["unfit"] == "" for score in told if not score["missing"])
    # With each of the two artifacts goes its revision, and with the judge what it was asked by.
    prompts = tree(tmp_path / "out", "prompts.json")
    described = tree(tmp_path / "out", "metrics.json")
    whole = sum(rich_bundle().counts().values()) + 2 + len(told) + len(prompts) + len(described)
    assert report.records == whole


def broken_disk(*_: object) -> None:
    raise OSError(28, "No space left on device")


@pytest.mark.parametrize("call", ["fsync", "replace"])
def test_a_release_that_cannot_be_written_leaves_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    project = small_project(tmp_path)
    before = project.path.read_bytes()
    monkeypatch.setattr(f"annotator.exchange.folders.os.{call}", broken_disk)
    expect_refusal("No space left", releases.export, project, tmp_path / "out" / "deep")
    monkeypatch.undo()
    assert project.path.read_bytes() == before
    assert found(tmp_path / "out") == {}
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
    tmp_path: Path, spoil: Callable[[Project, Path], Any], profile: str, reason: str
) -> None:
    project = small_project(tmp_path)
    spoil(project, tmp_path / "out")
    expect_refusal(reason, releases.export, project, tmp_path / "out", profile)


def test_a_project_with_an_altered_row_is_not_released(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with project.store.write() as db:
        db.execute(update(RESPONSE).values(text=RESPONSE.c.text + "."))
    refused = expect_refusal(
        r"was altered\. Nothing was released", releases.export, project, tmp_path / "out"
    )
    assert len(refused.details) == 4
    assert not (tmp_path / "out").exists()


def test_a_written_release_is_read_without_a_word(tmp_path: Path) -> None:
    releases.export(small_project(tmp_path), tmp_path / "out")
    bundle, problems = release.read([tmp_path / "out"])
    assert problems == []
    assert bundle.counts()["artifacts"] == 2


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
    limits = contest_standings.quotas(1)
    chosen = contest_standings.chosen(shown.ranking, shown.tasks, 2, limits, shown.decided)
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
    card = (tmp_path / "out" / "README.md").read_text("utf-8")
    assert "| held back: Needs a licence | 1 |\n| kept | 2 |" in card
    assert "Contest of tasks:" in card.split("## Differences from the papers")[1]
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    assert imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)[1].problems == ()
    for known in (other, project):
        assert str(imports.run(known, "goldsmith", [tmp_path / "out"], warm=False)[1]) == "nothing new"
    assert standing(other) == standing(project)
    assert checking.check(other).problems == []
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
        changed = [matches[0] | change, *matches[1:]]
        (out / "contest_matches.json").write_text(json.dumps(changed), "utf-8")
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
    files = sorted((tmp_path / "csv").glob("*.csv"))
    rows = [list(csv.reader(path.read_text("utf-8-sig").splitlines(keepends=True))) for path in files]
    assert tables.records == sum(map(len, rows)) - len(rows)
    assert {"matches.csv", "ratings.csv", "decisions.csv"} <= set(tables.files)


OPEN = [
    "Description", "Licence", "Authors", "Contact", "Qualification, pay and consent", "Use cases",
    "Personal or sensitive data", "Collection", "Annotators", "Limits", "Biases", "Social impact", "Maintenance",
]  # fmt: skip


def test_what_is_open_is_told_before_a_release_and_refused_when_strict(tmp_path: Path) -> None:
    project = small_project(tmp_path)
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


@pytest.fixture
def set_drawn(tmp_path: Path) -> Project:
    return labelled_set(tmp_path)


def validated(set_drawn: Project) -> None:
    """A locked set of which the test part was looked at, a review, and a ruling."""
    validation_sets.lock(set_drawn, "Spring")
    validation_sets.open_test(set_drawn, "Spring", ["small"])
    _, response, unit = places(set_drawn)[1, "Alpha", 1]
    reviews.review(set_drawn, "small", response, unit, Review.AGREE, note="As page 2 has it.")
    query = validation.ValidationQuery(against=("R2",))
    disagreements.rule(set_drawn, disagreements.queue(set_drawn, query)[0], InformedRuling.UNCLEAR)


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
