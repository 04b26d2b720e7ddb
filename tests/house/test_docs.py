"""README, the pages under docs/ and the contributor's guide: one manual, commands that run, names that are there."""

import os
import re
import shlex
import subprocess
import sys
import tomllib
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from annotator import __version__
from tests.common import posix
from tests.house import reading
from tests.judging.odd_server import OddServer, at_work
from tests.promises.test_departures import COMMANDS
from tests.promises.test_hostile_endpoints import good
from tests.windows import children

GUIDE = reading.HERE / "CONTRIBUTING.md"
ROOTS = (reading.HERE, reading.HERE / "annotator")
HELP = sorted((reading.HERE / "resources/help").glob("*.md"))
PAGES = sorted((reading.HERE / "docs").glob("*.md"))
BESIDE = sorted(reading.HERE.glob("*.md"))
# A block of commands, and what it needs beyond an empty folder where its title says so.
BLOCK = re.compile(r'^```bash(?: title="(needs [^"\n]+)")?\n(.*?)^```$', re.MULTILINE | re.DOTALL)


@posix
@pytest.mark.slow
@pytest.mark.timeout(900)
@pytest.mark.parametrize("page", [reading.HERE / "README.md", *PAGES], ids=lambda page: page.stem)
def test_every_command_runs_as_it_is_written_and_the_others_are_commands(
    page: Path, whole_sample_file: Path, tmp_path: Path
) -> None:
    """The page for everybody makes the sample; on the others a copy stands for it."""
    text = page.read_text("utf-8")
    blocks = BLOCK.findall(text)
    assert len(blocks) == text.count("```bash")
    program, work = tmp_path / "goldsmith", tmp_path / "work"
    work.mkdir()
    made = "" if page.stem == "README" else f'[ "$1 $#" = "sample 2" ] && exec cp {whole_sample_file} "$2"\n'
    program.write_text(f'#!/bin/sh\n{made}exec {shlex.join(children.started())} "$@"\n', "utf-8")
    program.chmod(0o755)
    alone = {name: str(tmp_path / name) for name in ("HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME")}
    alone |= {"PATH": f"{tmp_path}:{os.environ['PATH']}", "PYTHONPATH": str(reading.HERE)}
    here = "\n".join(block for needs, block in blocks if not needs)
    with at_work(OddServer()) as server:
        server.answer = lambda body, number: good(body)
        for options, script in (("-n", "\n".join(block for _, block in blocks)), ("-eux", here)):
            done = subprocess.run(
                ["bash", options, "-o", "pipefail", "-c", script], cwd=work, check=False, encoding="utf-8",
                env=os.environ | alone | {"ENDPOINT": server.url}, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
            )  # fmt: skip
            assert done.returncode == 0, done.stdout


def test_the_page_of_commands_names_every_command_and_no_option_that_there_is_not() -> None:
    text = (reading.HERE / "docs/commands.md").read_text("utf-8").replace("\\|", "|")
    named = set[str]()
    for words in re.findall(r"`goldsmith ([^`]+)`", text):
        first, second, *_ = [*words.split(), ""]
        commands = {first, *(f"{first} {name}" for name in second.split("|"))} & set(COMMANDS)
        options = {name for command in commands for one in COMMANDS[command].params for name in one.opts}
        assert set(re.findall(r"--[a-z][a-z-]+", words)) <= options | {"--help"}, words
        named |= commands
    assert set(COMMANDS) - named == {"child"}


@pytest.mark.parametrize("page", [*BESIDE, *PAGES, *HELP], ids=lambda page: page.stem)
def test_every_file_and_picture_that_a_page_leads_to_is_there(page: Path) -> None:
    places = re.findall(r"\]\((?!https:)([^)#\s]+)", page.read_text("utf-8"))
    assert [place for place in places if not (page.parent / place).is_file()] == []


@pytest.mark.slow
@pytest.mark.skipif(
    not find_spec("material"), reason="mkdocs-material is missing; python start.py test installs it"
)
def test_the_manual_builds_without_a_broken_link(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(tmp_path)],
        cwd=reading.HERE, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    pages = {f"manual/{page.stem}.html" for page in HELP} | {f"{page.stem}.html" for page in PAGES}
    assert sorted(page for page in pages if not (tmp_path / page).is_file()) == []


def test_the_version_is_one_wherever_it_stands() -> None:
    project = tomllib.loads((reading.HERE / "pyproject.toml").read_text("utf-8"))["project"]
    cited = yaml.safe_load((reading.HERE / "CITATION.cff").read_text("utf-8"))
    latest = re.findall(
        r"^## \[(\d\S*)\] - (\S+)$", (reading.HERE / "CHANGELOG.md").read_text("utf-8"), re.M
    )[0]
    assert latest == (__version__, cited["date-released"].isoformat())
    assert {project["version"], cited["version"]} == {__version__}
    assert {"cff-version", "message", "title", "authors"} <= set(cited)


def test_every_file_that_the_pages_and_the_guide_name_is_there() -> None:
    named = set(re.findall(r"[\w/]+/\w+\.py", "".join(page.read_text("utf-8") for page in (GUIDE, *PAGES))))
    gone = {name for name in named if not any((root / name).is_file() for root in ROOTS)}
    # What its readers are to write themselves, and the kind that a test writes as they would.
    assert {name for name in gone if "yours" not in name} == {"annotator/domain/kinds/motives.py"}
    assert len(named) > 10


def test_every_name_that_the_walks_give_with_a_file_is_defined_in_it() -> None:
    walks = re.findall(r"`([\w/]+/\w+\.py)`\s+\(`([\w.]+)`", GUIDE.read_text("utf-8"))
    assert len(walks) > 30
    for file, name in walks:
        text = next(root / file for root in ROOTS if (root / file).is_file()).read_text("utf-8")
        assert re.search(rf"^ *(?:class |def |async def |){name}\b", text, re.MULTILINE), (
            f"{name} is not in {file}"
        )


def test_every_name_that_a_protocol_of_ones_own_is_told_of_is_in_the_code() -> None:
    _, _, told = (
        (reading.HERE / "docs/extending.md").read_text("utf-8").partition("## A protocol of your own\n")
    )
    told, _, _ = told.partition("\n## ")
    named = {
        part
        for words in re.findall(r"`(\w+(?:[.=(]\w+)*\)?)`", told)
        for part in re.findall(r"[A-Za-z_]{4,}", words)
    }
    code = "\n".join(
        path.read_text("utf-8")
        for path in reading.files("annotator/domain", "annotator/protocols", "annotator/exchange/formats")
    )
    assert {"RatedResponse", "of_several", "ORDINAL", "pooled"} <= named
    made = set(re.findall(r"\b(?:class|def) (\w+)|^ +(\w+) ?[:=]|(\w+): \w", code, re.MULTILINE))
    assert named - {name for result in made for name in result} == {"True"}
