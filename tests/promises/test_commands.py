"""What Goldsmith promises about its commands: how each of them ends, and what a wrong word is answered with."""

import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import settings

from annotator import __version__, cli
from annotator.actions.judges import judges
from annotator.actions.labelling import label_cases
from annotator.actions.project.file import Project
from annotator.cli import project as project_module, run_command, saying
from annotator.domain.texts.refusal import Refusal
from annotator.judging.calls import limits
from tests.judging.odd_server import OddServer, at_work, completion, error
from tests.projects.small_projects import small_project
from tests.storage import sql

JUDGE, DEAD = "distant", "http://127.0.0.1:1/v1"
# Numbers out of every range, texts that are no JSON, no size, no date and no name.
JUNK = (
    "",
    "-1",
    "9" * 30,
    "1e400",
    "nan",
    "{",
    "[]",
    "\ud800",
    "../../..",
    "a=b=c",
    "a\0b",
    "x" * 5000,
)
# Nothing, what is not there, a folder, a file of another kind, and a name that is too long.
FILES = ("", "missing/x.goldsmith", ".", "labels.csv", "x" * 300)
# What makes a project or tries every part has no value that could be wrong but its file's.
SLOW = {"sample", "selftest"}
# What is needed beside the value that is wrong, by parameter.
GOOD = {
    "to": "out", "judge": JUDGE, "name": "other", "base_url": DEAD, "model": "m", "paths": "labels.csv", "of": JUDGE,
    "protocol": "researcherbench.coverage", "extraction": "researcherbench.claims", "person": "R1", "kind": "rubric",
    "item": "1", "system": "Alpha", "folder": "pages", "draft": "abc", "people": "R1", "draw": "Spring", "title": "T",
}  # fmt: skip


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A small project in the folder that commands are run in, with files for them to read; three folders up is all."""
    project = small_project(tmp_path / "a" / "folder" / "within")
    judges.add(project, JUDGE, base_url=DEAD, model="m")
    project.close()
    (project.path.parent / "labels.csv").write_text("item,system,unit,rater,value\n", "utf-8")
    (project.path.parent / "pages").mkdir()
    monkeypatch.chdir(project.path.parent)
    # Nobody answers there: the pauses between two tries are a clock's.
    monkeypatch.setattr(limits, "backoff", lambda *_, **__: 0.0)
    # What the window's child does in a process of its own would slow this one down for all tests that follow.
    monkeypatch.setattr(project_module, "stand_back", lambda: None)
    return project.path.name


def leaves(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, one in group.commands.items():
        if hasattr(one, "commands"):
            yield from leaves(one, (*path, name))
        else:
            yield (*path, name), one


COMMANDS = {" ".join(path): command for path, command in leaves(typer.main.get_command(saying.app))}


def parameters(path: str) -> list[str]:
    return [one.name for one in COMMANDS[path].params]


def app_of(place: str) -> typer.Typer:
    module, _, name = place.rpartition(".")
    result: typer.Typer = getattr(import_module(f"annotator.cli.{module}"), name)
    return result


def with_those_in_it(app: typer.Typer) -> Iterator[typer.Typer]:
    yield app
    for one in app.registered_groups:
        if one.typer_instance is not None:
            yield from with_those_in_it(one.typer_instance)


@pytest.mark.parametrize("place", sorted(set(saying.APPS.values())))
def test_the_table_names_the_commands_of_an_app_or_the_group_that_it_is(place: str) -> None:
    names = [name for name, app in saying.APPS.items() if app == place]
    held = list(typer.main.get_group(app_of(place)).commands)
    assert held
    assert sorted(names) == sorted(held) or (len(names) == 1 and names[0] not in held)


def test_the_table_leaves_no_app_out() -> None:
    modules = [import_module(one.name) for one in pkgutil.walk_packages(cli.__path__, "annotator.cli.")]
    made = {id(app) for module in modules for app in vars(module).values() if isinstance(app, typer.Typer)}
    placed = {id(app) for place in saying.APPS.values() for app in with_those_in_it(app_of(place))}
    assert made - placed == {id(saying.app)}


def called(file: str, path: str, command: Any, wrong: str, junk: str) -> list[str]:
    """The command with one value that is wrong, and what else it needs."""
    words, options = path.split(), list[str]()
    for one in command.params:
        value = junk if one.name == wrong else file if one.name == "file" else GOOD.get(one.name, "1")
        if one.param_type_name == "argument":
            words.append(value)
        elif one.name == wrong or one.required:
            options += [one.opts[0], value]
    return [*words, *options]


def in_turn(values: tuple[str, ...], place: int, share: int) -> tuple[str, ...]:
    """One of so many, from another one on for each place; all of them with `--hypothesis-profile=search`."""
    return values if settings.get_current_profile_name() == "search" else values[place % share :: share]


def wrong_values(path: str) -> Iterator[tuple[str, str]]:
    """Junk for each parameter: a quarter for the first command with one of its name, a piece for each other."""
    before = sorted(COMMANDS)[: sorted(COMMANDS).index(path)]
    for place, one in enumerate(COMMANDS[path].params if path not in SLOW else (), len(before)):
        if one.name != "file" and not getattr(one, "is_flag", False):
            first = all(one.name not in parameters(other) for other in before)
            yield from ((one.name, junk) for junk in in_turn(JUNK, place, 4 if first else len(JUNK)))
    # A project that is made may be missing.
    if "file" in parameters(path) and path not in SLOW | {"new"}:
        yield from (("file", file) for file in in_turn(FILES, len(before), len(FILES)))


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(COMMANDS))
def test_no_wrong_value_ends_in_a_traceback(path: str, file: str, capfd: pytest.CaptureFixture[str]) -> None:
    for name, value in wrong_values(path):
        words = called(file, path, COMMANDS[path], name, value)
        assert run_command(words) in ((1, 2) if name == "file" or "\0" in value else (0, 1, 2, 3)), words
    assert "Traceback" not in "".join(capfd.readouterr())


FOLLOWING = sorted(
    path for path, command in COMMANDS.items() for one in command.params if "--protocol" in one.opts
)
# They look for a protocol that has figures, another published rule, or pairs to draw; or take several.
BY_THEMSELVES = {"results", "labels pairs", "labels export", "assign"}


@pytest.mark.parametrize("path", sorted(set(FOLLOWING) - BY_THEMSELVES))
def test_a_command_without_a_protocol_asks_the_project_for_one(
    path: str, file: str, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def asked(_project: Project) -> str:
        raise Refusal("The project was asked.", "")

    monkeypatch.setattr(label_cases, "usual", asked)
    words = called(file, path, COMMANDS[path], "", "")
    if "--judge" not in words and any("--judge" in one.opts for one in COMMANDS[path].params):
        words += ["--judge", JUDGE]
    assert run_command(words) == 1
    assert "The project was asked." in capfd.readouterr().err


def test_a_command_that_writes_says_that_a_project_lies_on_a_network_disk(
    file: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        Project, "warning_about", staticmethod(lambda path: f"{path.name} lies on a network disk.")
    )
    assert run_command(["backup", file]) == 0
    assert "lies on a network disk" in capsys.readouterr().err
    assert run_command(["info", file]) == 0
    assert "network disk" not in capsys.readouterr().err


def test_the_version_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["--version"]) == 0
    assert capsys.readouterr().out.strip() == __version__


@pytest.mark.skipif(os.name != "posix", reason="signals as on POSIX")
@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_command_that_is_ended_says_so_and_leaves_its_project_whole(
    file: str, tmp_path: Path, name: str
) -> None:
    code = (
        "import os, signal, sys\n"
        "from annotator.cli import run_command, project\n"
        "from annotator.actions.project import backups\n"
        f"backups.make = lambda *_: os.kill(os.getpid(), signal.{name}) or signal.pause()\n"
        "sys.exit(run_command(['backup', sys.argv[1]]))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, file], check=False, capture_output=True, encoding="utf-8", timeout=60
    )
    assert (done.returncode, "Traceback" in done.stderr) == (3, False)
    assert "Everything finished" in done.stderr
    assert run_command(["check", file]) == 0


HOSTILE = "a\x1b[2J\x1b]0;b\x07\x9b31m\x7f\x08\r\u202ec\u2066d\u2028"
SHOWN = (
    "info FILE", "items list FILE", "systems list FILE", "people list FILE", "status FILE", "judge list FILE",
    "judge runs FILE", "judge missing FILE", "judge test FILE JUDGE", "results FILE", "gold FILE",
    "judge run FILE --judge no", "judge run FILE --judge JUDGE", "judge estimate FILE --judge JUDGE",
)  # fmt: skip


@pytest.mark.parametrize("json_", [False, True])
def test_names_and_servers_messages_do_nothing_to_a_terminal(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], json_: bool
) -> None:
    project = small_project(tmp_path)
    with at_work(OddServer()) as server:
        server.script(error(400, HOSTILE, code=HOSTILE), completion(HOSTILE), error(403, HOSTILE))
        judges.add(project, JUDGE, base_url=server.url, model="m")
        sql.alter(project, "UPDATE judge SET name = ?, model = ?", [HOSTILE, HOSTILE])
        sql.alter(project, "UPDATE person SET name = ?", [HOSTILE])
        sql.alter(project, "UPDATE system SET name = ? WHERE name = 'Alpha'", [HOSTILE])
        sql.alter(project, "UPDATE item SET question = ?, key = ? || key, subject = ?", [HOSTILE] * 3)
        project.close()
        told = {}
        for words in SHOWN:
            places = {"FILE": str(project.path), "JUDGE": HOSTILE}
            asked = [places.get(word, word) for word in words.split()]
            run_command([*asked, "--json"] if json_ else asked)
            told[words] = "".join(capfd.readouterr())
    acting = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066\u2067]")
    assert {words: acting.findall(out) for words, out in told.items() if acting.search(out)} == {}
    assert sum(("\\u202e" if json_ else "⟨U+202E⟩") in out for out in told.values()) > 5
