"""The workflows: valid, pinned, with few rights, and with commands that there are."""

import re
import shlex
from pathlib import Path
from typing import Any

import pytest
import yaml

from installers import command, release
from installers.payload import Refused, version
from tests.house.reading import HERE

FILE = HERE / ".github/workflows/package.yml"
TEXT = FILE.read_text("utf-8")
FLOW: dict[Any, Any] = yaml.safe_load(TEXT)
JOBS: dict[str, dict[str, Any]] = FLOW["jobs"]
STEPS = [(name, step) for name, job in JOBS.items() for step in job["steps"]]
# YAML 1.1 reads the word `on` as true.
WHEN = FLOW[True]
OURS = re.compile(r"^\s*python3? start\.py (.+)$", re.M)


def test_it_runs_for_tags_and_by_hand_and_never_with_rights_for_a_strangers_change() -> None:
    assert WHEN == {"push": {"tags": ["v*"]}, "workflow_dispatch": None}


def test_every_action_is_pinned_by_its_commit_and_says_its_version() -> None:
    used = re.findall(r"uses: (\S+)(.*)", TEXT)
    assert len(used) == sum("uses" in step for _, step in STEPS) > 20
    pinned = re.compile(r"[\w.-]+/[\w.-]+@[0-9a-f]{40} # v\d+(\.\d+)*")
    assert [one for one in used if not pinned.fullmatch("".join(one))] == []
    # Nor does a system float.
    assert not re.search(r":latest|-latest", TEXT)
    # One action, one commit.
    assert len({action.split("@")[0] for action, _ in used}) == len({action for action, _ in used})


def test_only_the_last_job_may_write() -> None:
    assert FLOW["permissions"] == {"contents": "read"}
    writing = {
        name: {what for what, right in job.get("permissions", {}).items() if right == "write"}
        for name, job in JOBS.items()
    }
    assert {name: rights for name, rights in writing.items() if rights} == {
        "publish": {"contents", "id-token", "attestations"}
    }
    assert list(JOBS)[-1] == "publish"
    checkouts = [step for _, step in STEPS if "checkout@" in step.get("uses", "")]
    assert all(step["with"] == {"persist-credentials": False} for step in checkouts)


def test_secrets_are_seen_by_the_job_that_signs_and_stand_nowhere() -> None:
    told = {name: set(re.findall(r"secrets\.([A-Z_]+)", yaml.safe_dump(job))) for name, job in JOBS.items()}
    assert {name for name, secrets in told.items() if secrets} == {"sign"}
    assert JOBS["sign"]["environment"] == "release"
    assert [name for name, job in JOBS.items() if "environment" in job] == ["sign"]
    # Given to steps as variables: a secret in a script would stand in its log where it holds a quote.
    assert "secrets." not in "\n".join(step.get("run", "") for _, step in STEPS)
    # What might be a key or a certificate: long runs of letters and digits that are no action's commit.
    left = re.sub(r"uses: \S+", "", TEXT)
    for secret in (
        r"BEGIN [A-Z ]+|[A-Za-z0-9+/=_-]{40,}",
        r"(?im)(?:password|token|secret)\s*[:=]\s*[\"']?(?![\"'$ ]|write$|$)\w+",
    ):
        assert re.findall(secret, left) == []


def test_what_strangers_can_name_is_in_no_script() -> None:
    runs = [step["run"] for _, step in STEPS if "run" in step]
    assert [run for run in runs if re.search(r"\$\{\{\s*(github|inputs|steps|secrets|vars)\.", run)] == []


def test_it_needs_no_secret_to_make_everything() -> None:
    asks, *others = [step for name, step in STEPS if name == "sign" and "secrets." in yaml.safe_dump(step)]
    assert (asks["id"], len(others)) == ("signing", 4)
    assert all("steps.signing.outputs.there == 'yes'" in step["if"] for step in others)
    assert any("-unsigned" in step.get("run", "") for name, step in STEPS if name == "sign")


def test_every_job_ends_and_nothing_is_published_before_all_were_tried() -> None:
    assert set(JOBS["publish"]["needs"]) == set(JOBS) - {"build", "publish"}
    assert all(job["strategy"]["fail-fast"] is False for job in JOBS.values() if "strategy" in job)
    assert all("timeout-minutes" in job for job in JOBS.values())


def test_nothing_is_published_without_a_person() -> None:
    (made,) = [
        step["run"] for name, step in STEPS if name == "publish" and "gh release" in step.get("run", "")
    ]
    assert "--draft --verify-tag" in made
    assert JOBS["publish"]["if"] == "startsWith(github.ref, 'refs/tags/v')"


def test_every_command_of_ours_that_it_calls_is_there_with_its_options() -> None:
    called = [words for _, step in STEPS for words in OURS.findall(step.get("run", ""))]
    kinds = set()
    for words in called:
        first, *others = shlex.split(re.sub(r"\$\{\{.*?\}\}", "200", words))
        assert first in ("package", "test"), words
        if first == "package":
            kinds.add(command._parser().parse_args(others).kind)
    assert kinds == {"check", "deb", "run", "nsis", "msi"}
    assert set(re.findall(r"python3? -m (installers\.\w+)", TEXT)) == {"installers.release"}
    named = re.findall(r"(?:sh |bash |-r |cp )((?:installers|\.ci)/[\w./-]+)", TEXT)
    assert set(named) == {
        "installers/smoke.sh", "installers/lock.txt", "installers/templates/unsigned-macos.txt", ".ci/run"
    }  # fmt: skip
    assert [name for name in named if not (HERE / name).is_file()] == []


CHANGES = "# Changes\n\n## {}\n\n- New.\n\n## 0.0.1\n\n- Old.\n"


def test_a_release_has_the_tag_of_the_version_and_its_part_of_the_change_log() -> None:
    assert release.notes(f"v{version()}", CHANGES.format(f"[{version()}] - 2026-11-22")) == "- New.\n"
    with pytest.raises(Refused, match=r"not v\d"):
        release.notes("v99.1", CHANGES.format("99.1"))
    for changes in (
        CHANGES.format("Next"),
        CHANGES.format(f"{version()}1"),
        f"## {version()}\n\n## 0.0.1\n- Old.\n",
    ):
        with pytest.raises(Refused, match="no part"):
            release.notes(f"v{version()}", changes)


def test_the_tag_is_looked_at_before_anything_is_built(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (looked,) = [
        step for name, step in STEPS if name == "check" and "installers.release" in step.get("run", "")
    ]
    assert (looked["if"], JOBS["build"]["needs"]) == ("startsWith(github.ref, 'refs/tags/')", "check")
    assert (release.main(["v99.1"]), "not v" in capsys.readouterr().err) == (1, True)
    (tmp_path / "CHANGELOG.md").write_text(CHANGES.format(version()), "utf-8")
    monkeypatch.setattr(release, "CHECKOUT", tmp_path)
    assert (release.main([f"v{version()}"]), capsys.readouterr().out) == (0, "- New.\n")
