"""A release for others: what is asked before it, files that other programs load, versions, encrypted test items."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from annotator.actions.agreement import final_pass
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.cli import run_command
from annotator.domain.experts.publication import SplitAccess
from annotator.exchange.release import encryption
from tests import templates
from tests.cli.commands import printed, refused, told
from tests.material.bundles import ANSWERS, found, tree
from tests.projects.refusals import expect_refusal
from tests.projects.small_projects import small_project
from tests.projects.validation_project import judge_says, validation_project
from tests.promises.test_releases import without_inspect

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
    assert "`blocked_sources.txt` lists 4 patterns" in (tmp_path / "out" / "README.md").read_text("utf-8")


def test_what_it_says_comes_back_with_it_and_a_copy_is_recognised(judged: Project, tmp_path: Path) -> None:
    releases.add_erratum(judged, "A typing mistake.")
    releases.export(judged, tmp_path / "one")
    other = Project.create(tmp_path / "other.goldsmith", judged.title)
    report = imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)[1]
    assert "is release 1 of a benchmark, which is for testing" in str(report.notes[-1])
    releases.export(other, tmp_path / "two")
    assert found(tmp_path / "one") == found(tmp_path / "two")
    again = imports.preview(other, "goldsmith", [tmp_path / "one"])
    assert "is release 1 of this project" in str(again.notes[-1])
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
    assert "There is no release 7" in refused(capsys, "release", "withdraw", path, "7", "--reason", "No.")
    assert told(capsys, "export", path, "--to", tmp_path / "two")["number"] == 2
    for name in ("CHANGELOG.md", "README.md"):
        text = (tmp_path / "two" / name).read_text("utf-8")
        assert "**Release 1 was withdrawn**" in text
        assert f"{reason} Since release 1:\n\n- Item {key} was retired." in text
    assert [
        (one["number"], one["withdrawn"]) for one in told(capsys, "release", "list", path)["releases"]
    ] == [(2, ""), (1, "Item 2 leaks.")]
    assert reason in printed(capsys, "release", "show", path, "1")
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
    table = parquet.read_table(tmp_path / "out" / "parquet" / "criteria.parquet")
    assert table.to_pylist() == rows(tmp_path / "out", "criteria")


# What says that the texts are encrypted, and how they are decoded.
TOLD = {"README.md", "SHA256SUMS"}


@pytest.fixture(scope="module")
def sample(sample_file: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the sample project with an encrypted and a plain release of the same number."""
    folder = tmp_path_factory.mktemp("encrypted")
    for name, access in (("one", SplitAccess.ENCRYPTED), ("other", SplitAccess.AS_IS)):
        project = templates.opened(shutil.copyfile(sample_file, folder / f"{name}.goldsmith"))
        releases.export(project, folder / access.value, test_items=access)
        project.close()
    return folder


def test_the_decoder_in_the_folder_gives_the_plain_release_byte_for_byte(
    sample: Path, tmp_path: Path
) -> None:
    # Without this project's packages.
    run = [sys.executable, "-I", sample / "encrypted" / "decode.py", tmp_path / "decoded"]
    subprocess.run(run, check=True, capture_output=True)
    decoded, plain = found(tmp_path / "decoded"), found(sample / "as-is")
    assert {path for path in decoded | plain if decoded.get(path) != plain.get(path)} == TOLD
    sums = subprocess.run(["sha256sum", "-c", "--quiet", "SHA256SUMS"], cwd=tmp_path / "decoded", check=False)
    assert sums.returncode == 0
    again = subprocess.run(run, check=False, capture_output=True, encoding="utf-8")
    assert (again.returncode, "is there already" in again.stderr) == (1, True)


def test_an_encrypted_release_leaks_nothing_and_comes_back_whole(
    sample: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project = Project.open(sample / "other.goldsmith")
    plain = checking.find_copies(project, [sample / "as-is"])
    assert len(plain.copies) == plain.texts - plain.short > 100
    # They are found in what is encrypted, too; in the texts as they lie there are none.
    assert len(checking.find_copies(project, [sample / "encrypted"]).copies) == len(plain.copies)
    with monkeypatch.context() as without:
        without.setattr(checking, "plain_text", lambda text, _canaries: text)
        assert checking.find_copies(project, [sample / "encrypted"]).copies == ()
    card = (sample / "encrypted" / "README.md").read_text("utf-8")
    assert all(words in card for words in ("3 test items are encrypted", "It is no secret", "decode.py"))
    other = Project.create(tmp_path / "back.goldsmith", project.title)
    imports.run(other, "goldsmith", [sample / "encrypted"], warm=False)
    releases.export(other, tmp_path / "again")
    assert found(tmp_path / "again") == found(sample / "as-is")
    releases.export(other, tmp_path / "repeat", test_items=SplitAccess.ENCRYPTED)
    assert found(tmp_path / "repeat")["data/items.jsonl"] == found(sample / "encrypted")["data/items.jsonl"]
    bare = Project.create(tmp_path / "bare.goldsmith")
    rows = sample / "encrypted" / "data" / "items.jsonl"
    expect_refusal("import the whole folder", imports.run, bare, "tables", [rows], warm=False)


@pytest.mark.parametrize(("path", "reader"), [("inspect_task.py", "samples"), ("lm_eval/utils.py", "rows")])
def test_a_harness_does_not_ask_about_encrypted_texts(sample: Path, path: str, reader: str) -> None:
    task = without_inspect(sample / "encrypted" / path)
    given = (task["SAMPLES"],) if "SAMPLES" in task else ()
    with pytest.raises(ValueError, match=r"python decode\.py FOLDER"):
        task[reader](*given)


def marked(folder: Path) -> tuple[Project, str]:
    """Two items with criteria and reports, the second marked as test."""
    project = small_project(folder)
    second = items.read(project, items.ids(project)[1])
    assert run_command(["items", "edit", str(project.path), second.key, "--split", "test"]) == 0
    return project, second.question


def questions(folder: Path) -> list[str]:
    return [item["question"] for item in tree(folder, "items.json")]


def test_items_that_are_marked_as_test_are_encrypted_without_being_asked_for(
    tmp_path: Path, capsys: Any
) -> None:
    project, question = marked(tmp_path)
    releases.export(project, tmp_path / "out")
    first, second = questions(tmp_path / "out")
    assert (first, second[:20]) == ("What do residual connections do?", "goldsmith-encrypted:")
    assert encryption.plain_text(second, [releases.published(project).canary]) == question
    others = encryption.Encryption((), "another canary").value("é" * 40)
    assert encryption.plain_text(others, [releases.published(project).canary]) == others
    assert tree(tmp_path / "out", "manifest.json")["test_items"] == "encrypted"
    assert "can be read by everybody" in str(releases.export(project, tmp_path / "csv", "csv").notes)
    expect_refusal(
        "cannot hold encrypted",
        releases.export,
        project,
        tmp_path / "no",
        "csv",
        test_items=SplitAccess.ENCRYPTED,
    )
    path = project.path
    plain = told(capsys, "export", path, "--to", tmp_path / "plain", "--test-items", "as-is")
    assert (questions(tmp_path / "plain")[1], plain["number"]) == (question, 2)
    assert "decode.py" not in plain["files"]


def test_what_corrections_and_signatures_say_of_a_test_item_is_encrypted_too(tmp_path: Path) -> None:
    project, _ = marked(tmp_path)
    _, second = items.ids(project)
    releases.export(project, tmp_path / "before", test_items=SplitAccess.AS_IS)
    items.change(project, second, question="Which of them was the last to leave?")
    releases.add_erratum(project, "A question was unclear.", tmp_path / "before")
    final_pass.sign(project, second, "leak", "passed", "Nobody wrote that it was the last to leave.")
    releases.export(project, tmp_path / "out")
    files = found(tmp_path / "out")
    assert [path for path, content in files.items() if b"the last to leave" in content] == []
    assert b"A question was unclear." in files["CHANGELOG.md"]
    other = Project.create(tmp_path / "back.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
    assert "the last to leave" in str(releases.published(other).errata)
    assert releases.published(other) == releases.published(project)
    assert final_pass.of_item(other, second) == final_pass.of_item(project, second)


def test_items_that_are_left_out_are_in_no_file_and_their_scores_stay(tmp_path: Path, capsys: Any) -> None:
    project, question = marked(tmp_path)
    _, second = items.ids(project)
    releases.add_erratum(project, "A typing mistake.")
    for name, access in (("whole", SplitAccess.AS_IS), ("part", SplitAccess.LEFT_OUT)):
        releases.export(project, tmp_path / name, test_items=access)
    whole, part = (found(tmp_path / name) for name in ("whole", "part"))
    assert [path for path, content in whole.items() if second.encode() in content] != []
    assert [path for path, content in part.items() if second.encode() in content] == []
    assert part["scores.json"] == whole["scores.json"]
    assert b"1 test item and all that belongs to them are left out" in part["README.md"].replace(b"\n", b" ")
    items.change(project, second, traits={})
    path = project.path
    nothing = refused(capsys, "export", path, "--to", tmp_path / "no", "--test-items", "left-out")
    assert "Every item is a test item" in nothing
    assert not (tmp_path / "no").exists()
    assert json.loads(part["items.json"])[0]["question"] != question
