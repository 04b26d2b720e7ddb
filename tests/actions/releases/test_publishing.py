"""A release for others: what is asked before it, the files that other programs load, its versions and corrections."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.domain.experts.publication import SplitAccess
from tests.cli.commands import printed, refused, told
from tests.material.bundles import ANSWERS, found
from tests.projects.refusals import expect_refusal
from tests.projects.validation_project import judge_says, validation_project

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


@pytest.mark.parametrize(
    ("name", "words", "reason"),
    [
        ("authors", "Ada, 0000-0002-1825-0098", "0000-0002-1825-0098 is no orcid"),
        ("version", "1.0", "for example 1.0.0"),
        ("homepage", "example", "for example https://example.org"),
        ("published", "31.5.2026", "The published does not fit"),
        ("languages", "en, not a language", "for example en or zh-hans"),
    ],
)
def test_an_answer_that_does_not_fit_is_refused_in_words_and_nothing_changes(
    judged: Project, name: str, words: str, reason: str
) -> None:
    before = releases.metadata(judged)
    expect_refusal(reason, releases.describe, judged, {name: words})
    assert releases.metadata(judged) == before
    assert (before.licence, before.text("authors")) == ("CC-BY-4.0", ANSWERS["authors"])


def test_what_is_proposed_is_in_no_release_before_it_is_confirmed(tmp_path: Path, capsys: Any) -> None:
    project = validation_project(tmp_path)
    path, proposed = project.path, releases.proposals(project)["annotators"]
    assert proposed == "1 person wrote gold."
    releases.export(project, tmp_path / "out")
    assert proposed not in (tmp_path / "out" / "README.md").read_text("utf-8")
    project.close()
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
    judged.close()
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
