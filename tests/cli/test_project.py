"""The command line: what it answers, in words and in JSON, and its exit codes."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from annotator.actions.project.file import Project
from annotator.cli import run_command
from tests.cli.commands import goldsmith, refused, told

HERE = Path(__file__).parents[2]


@pytest.fixture
def sample(whole_sample: Project) -> Path:
    whole_sample.close()
    return whole_sample.path


def test_the_sample_has_something_for_every_page_and_its_backup_checks_out(tmp_path, capsys):
    sample = tmp_path / "sample.goldsmith"
    assert goldsmith(capsys, "sample", sample)[0] == 0
    result = told(capsys, "info", sample)
    assert (result["items"], result["systems"], result["responses"], result["people"]) == (10, 3, 23, 4)
    assert result["labels"] > 0
    assert result["runs"] == 10
    assert (result["assignments"], result["agreements"], result["adjudications"]) == (85, 29, 12)
    assert {row["rater"] for row in told(capsys, "results", sample)["rows"]} == {"baseline"}
    result = told(capsys, "backup", sample)
    assert told(capsys, "check", (sample.parent / result["folder"] / result["backup"]))["problems"] == []
    assert told(capsys, "check", sample)["problems"] == []


def test_a_dry_run_of_an_import_changes_nothing(tmp_path, sample, capsys):
    release, file = tmp_path / "release", tmp_path / "other.goldsmith"
    told(capsys, "export", sample, "--to", release)
    goldsmith(capsys, "new", file)
    assert told(capsys, "import", file, release, "--dry-run")["new"] > 0
    assert told(capsys, "info", file)["items"] == 0


def test_the_weights_of_criteria_are_shown_and_set(tmp_path, capsys):
    file = tmp_path / "new.goldsmith"
    assert goldsmith(capsys, "new", file)[0] == 0
    assert told(capsys, "weights", file) == {"weights": "1 to 3", "values": [1, 2, 3]}
    assert told(capsys, "weights", file, "--allow", "-5, 1, 3")["values"] == [-5, 1, 3]
    assert goldsmith(capsys, "weights", file)[1] == "Criteria may have these weights: -5, 1, 3\n"
    assert "does not say which weights are allowed" in refused(capsys, "weights", file, "--allow", "heavy")


@pytest.mark.parametrize("profile", ["researcherbench", "csv"])
def test_the_other_profiles_are_written(profile, tmp_path, sample, capsys):
    result = told(capsys, "export", sample, "--to", tmp_path / profile, "--profile", profile)
    assert result["profile"] == profile
    assert any((tmp_path / profile).iterdir())


@pytest.mark.parametrize(
    "words",
    [
        ("info", "nowhere.goldsmith"),
        ("judge", "run", "nowhere.goldsmith", "--judge", "baseline"),
        ("export", "nowhere.goldsmith", "--to", "x"),
    ],
)
def test_a_refusal_is_one_plain_sentence_and_exit_code_1(words, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    code, out, err = goldsmith(capsys, *words)
    assert (code, out) == (1, "")
    assert err.startswith("There is no file “nowhere.goldsmith”")
    assert "Traceback" not in err


def test_wrong_usage_is_exit_code_2(capsys):
    assert goldsmith(capsys, "judge", "run")[0] == 2


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["results", "FILE", "--json"], "水资源工程"),
        (["agreement", "FILE"], "κ"),
        (["validate", "--help"], "│"),
    ],
)
def test_what_is_piped_is_utf_8_whatever_the_code_page_is(sample, words, said):
    command = [
        sys.executable,
        "-m",
        "annotator",
        *(str(sample) if word == "FILE" else word for word in words),
    ]
    alike = os.environ | {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = subprocess.run(command, capture_output=True, env=alike, cwd=HERE, check=False)
    assert (done.returncode, done.stderr.decode()) == (0, "")
    assert said in done.stdout.decode()


def test_the_sample_of_related_work_is_judged_as_far_as_words_go(tmp_path, capsys):
    file = str(tmp_path / "related.goldsmith")
    assert run_command(["sample", file, "--related-work"]) == 0
    assert run_command(["sample", file, "--related-work", "--reset"]) == 1
    assert run_command(["check", file]) == 0
    table, *_ = told(capsys, "results", file, "--view", "deepscholar")["sheets"]
    figures = {(row["system"], row["metric"]): row for row in table["rows"]}
    # Of the four important works one system names every one, the other the Transformer alone.
    assert figures["larkmoor", "reference_coverage"]["value"] == 1
    assert figures["quarrow", "reference_coverage"]["value"] == 0.25
    assert figures["larkmoor", "nugget_coverage"]["value"] > figures["quarrow", "nugget_coverage"]["value"]
    assert figures["larkmoor", "document_importance"]["value"] is not None
    # Without a protocol it gives what there is; asked for figures that nobody made, it names those there are.
    assert "larkmoor" in goldsmith(capsys, "results", file)[1]
    other = goldsmith(capsys, "results", file, "--protocol", "researcherbench.coverage")[1]
    assert "Choose another --protocol: deepscholar.organization, deepscholar.nuggets, " in other
    # The tables of the papers open on one that has figures.
    assert told(capsys, "results", file, "--view", "tables")["chosen"]["table"] == "deepscholar"


def test_the_sample_of_a_seminar_opens_on_its_table(tmp_path, capsys):
    file = str(tmp_path / "seminar.goldsmith")
    assert run_command(["sample", file, "--seminar", "--related-work"]) == 1
    assert run_command(["sample", file, "--seminar"]) == 0
    result = told(capsys, "results", file, "--view", "tables")
    assert result["chosen"]["table"] == "arena"
    ace = {row["system"]: row["en_ace"] for row in result["sheets"][0]["rows"]}
    # One report answers all four points of the checklist, the other hardly any.
    assert ace["Pendrel"] > ace["Quarrow"]


def test_a_strict_export_refuses_what_is_open_and_a_usual_one_tells_it(sample, capsys, tmp_path):
    notes = told(capsys, "export", sample, "--to", tmp_path / "told")["notes"]
    assert "The final pass is not signed for 10 items" in notes[0]
    code, _, err = goldsmith(capsys, "export", sample, "--to", tmp_path / "strict", "--strict")
    assert (code, (tmp_path / "strict").exists()) == (1, False)
    assert "Nothing was released" in " ".join(err.split())
