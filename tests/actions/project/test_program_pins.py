"""Tasks that ask for versions of the program: only shown by others, lifted by a newer task, told in returned work."""

import gzip
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import pytest

from annotator import __version__
from annotator.actions.items import items
from annotator.actions.parcels import returning, tasking, unpacking
from annotator.actions.project import program_pins, recording
from annotator.actions.project.file import ORIGIN, PROGRAM, Project
from annotator.actions.undo import history
from annotator.cli import run_command
from annotator.domain.experts import program_pin
from annotator.domain.experts.parcel import ParcelOutcome
from annotator.domain.texts.refusal import Refusal
from annotator.exchange.parcels import packages
from annotator.storage import witness
from tests.exchange.parcels.hand_made_zip import with_manifest
from tests.material.sent_apart import annotators, coordinated, project_in, returned, task_for, write_rubric

GOLDEN = Path(__file__).parents[2] / "golden"
OTHER = ">=7.3,<7.4"
SETUP, SUM = "Goldsmith-7.3.1-windows-x64-setup.exe", "ab" * 32


@pytest.fixture
def home(tmp_path: Path) -> Iterator[Project]:
    """A coordinator's project in which two people each write two rubrics."""
    project = coordinated(tmp_path / "home")
    yield project
    project.close()


def pinned_task(home: Project, folder: Path, versions: str = OTHER, *, name: str = SETUP) -> Path:
    """Ana's task, which asks for these versions and names an installer."""
    program_pins.pin(home, versions, {name: SUM} if versions else {})
    return task_for(home, annotators(home)[0].id, folder)


def content(folder: Path) -> dict[str, str]:
    """What lies in a folder, byte for byte."""
    return {path.name: sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}


def be_version(monkeypatch: pytest.MonkeyPatch, version: str) -> None:
    """Let the program be of another version, wherever it asks itself."""
    for module in (program_pin, recording, returning):
        monkeypatch.setattr(module, "__version__", version)


@pytest.mark.parametrize(
    ("text", "version", "fits"),
    [
        (">=0.3, <0.4", "0.3.0", True),
        (">=0.3,<0.4", "0.4.0", False),
        (">=0.3,<0.4", "0.2.9", False),
        ("~=0.3.1", "0.3.7", True),
        ("==0.3.*", "0.3.7", True),
        (">=0.3,<0.4", "0.3.2rc1", True),
        (">=0.3", "not a version", False),
        ("  ", "0.1", True),
    ],
)
def test_a_pin_allows_the_versions_it_names(text: str, version: str, fits: bool) -> None:
    assert program_pin.read(text).allows(version) is fits


@pytest.mark.parametrize(
    "text", ["newest", "0.3", ">=0.3 <0.4", ">=0.3;", "===0.3", "https://x.org", f">=0.{'1' * 200}"]
)
def test_what_names_no_versions_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(Refusal, match=r"names no versions of Goldsmith.*>=0\.1,<0\.2"):
        program_pin.read(text)


@pytest.mark.parametrize(
    ("name", "digest"),
    [
        ("https://x.org/a.exe", SUM),
        ("../a.exe", SUM),
        ("a\nb.exe", SUM),
        ("a.exe", "ab"),
        ("\u202eexe.a", SUM),
    ],
)
def test_an_installer_is_a_file_name_and_a_sum_and_nothing_else(name: str, digest: str) -> None:
    with pytest.raises(Refusal, match="not an installer's name"):
        program_pin.read(OTHER, {name: digest})
    with pytest.raises(Refusal, match="named for no version"):
        program_pin.read("", {"a.exe": SUM})
    with pytest.raises(Refusal, match="more than 20"):
        program_pin.read(OTHER, {f"{number}.exe": SUM for number in range(21)})


def test_the_version_offered_is_its_own_line() -> None:
    assert [program_pin.offered(version) for version in ("0.1.0", "1.9.3", "2")] == [
        ">=0.1,<0.2",
        ">=1.9,<1.10",
        ">=2.0,<2.1",
    ]
    assert program_pin.read(program_pin.offered()).allows()


def test_whoever_has_another_version_is_told_the_installer_of_their_own_system() -> None:
    linux = {"Goldsmith-7.3.1-linux-x86_64.deb": "cd" * 32, "Goldsmith-7.3.1-linux-x86_64.run": "ef" * 32}
    pin = program_pin.read(OTHER, {SETUP: SUM, **linux})
    told = {system: str(pin.refusal(system)) for system in ("win32", "linux", "darwin")}
    assert (SETUP in told["win32"], SUM in told["win32"], ".deb" in told["win32"]) == (True, True, False)
    assert all(name in told["linux"] and digest in told["linux"] for name, digest in linux.items())
    assert SETUP not in told["linux"]
    # Where none fits, all are told.
    assert all(name in told["darwin"] for name in pin.installers)
    assert "Goldsmith 7.3 or newer, older than 7.4; this is " + __version__ in told["win32"]
    assert "Install Goldsmith 7.3 or newer, older than 7.4, from" in str(program_pin.read(OTHER).refusal())
    assert program_pin.read("").refusal() is None


def test_a_bad_pin_is_refused_when_the_task_is_made_and_nothing_is_written(
    home: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ana = annotators(home)[0]
    words = ["pack", str(home.path), "--person", ana.alias, "--to", str(tmp_path / "ana.goldsmith-task")]
    assert run_command([*words, "--program", "newest"]) == 1
    assert "names no versions of Goldsmith" in capsys.readouterr().err
    assert run_command([*words, "--program", OTHER, "--installer", str(tmp_path / "none.exe")]) == 1
    assert not (tmp_path / "ana.goldsmith-task").exists()
    with closing(Project.open(home.path)) as again:
        assert program_pins.pinned(again) == program_pin.ProgramPin()


def test_the_command_pins_and_names_installers_by_file_or_by_a_list_of_sums(
    home: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "a b.run").write_bytes(b"\xffinstaller")
    (tmp_path / "SHA256SUMS").write_text(f"{SUM}  {SETUP}\n{SUM.upper()} *Goldsmith-7.3.1.dmg\n", "utf-8")
    files = [word for name in ("a b.run", "SHA256SUMS") for word in ("--installer", str(tmp_path / name))]
    words = ["pack", str(home.path), "--all", "--to", str(tmp_path / "tasks/")]
    assert run_command([*words, "--program", ">=7.3, <7.4", *files]) == 0
    assert (
        f"asks for Goldsmith 7.3 or newer, older than 7.4; this is {__version__}" in capsys.readouterr().out
    )
    expected = {
        "a b.run": sha256(b"\xffinstaller").hexdigest(), SETUP: SUM, "Goldsmith-7.3.1.dmg": SUM,
    }  # fmt: skip
    for task in (tmp_path / "tasks").iterdir():
        extra = packages.read_package(task, packages.TASK).manifest.extra
        assert (extra["program"], extra["installers"]) == (OTHER, expected)
    assert run_command(words) == 0
    with closing(Project.open(home.path)) as again:
        assert program_pins.pinned(again) == program_pin.ProgramPin(OTHER, expected)
    assert run_command([*words, "--program", ""]) == 0
    assert "program" not in packages.read_package(task, packages.TASK).manifest.extra


def test_a_task_for_another_version_is_only_shown_and_nothing_is_kept(home: Project, tmp_path: Path) -> None:
    task = pinned_task(home, tmp_path / "ana")
    before = content(task.parent)
    opened = tasking.take_task(task)
    with closing(opened.project) as shown:
        assert (items.count(shown), shown.person.name) == (2, "Ana Silva")
        with pytest.raises(Refusal, match=r"7\.3 or newer, older than 7\.4") as why:
            write_rubric(shown, items.ids(shown)[0], "Explains the weight of gold")
        assert (SETUP in why.value.todo, SUM in why.value.todo) == (True, True)
        with pytest.raises(Refusal, match="read-only"):
            returning.work(shown)
        told = tasking.shown_only(opened)
        assert told is not None
        assert f"signed with “{opened.words}”: ask the coordinator" in told.todo
    assert content(task.parent) == before


def test_the_command_that_opens_a_task_refuses_one_for_another_version(
    home: Project, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    task = pinned_task(home, tmp_path / "ana")
    assert run_command(["unpack", str(tmp_path / "ana.goldsmith"), str(task)]) == 1
    said = capsys.readouterr().err
    assert (SETUP in said, "six words" in said) == (True, True)
    assert not (tmp_path / "ana.goldsmith").exists()


def test_the_right_version_takes_the_task_and_others_only_read_the_project(
    home: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = pinned_task(home, tmp_path / "ana")
    with monkeypatch.context() as installed:
        be_version(installed, "7.3.1")
        with closing(tasking.take_task(task).project) as theirs:
            assert theirs.why_readonly is None
            write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    path = project_in(task.parent)
    before = content(task.parent)
    with closing(Project.open(path)) as theirs, pytest.raises(Refusal, match="this is " + __version__):
        theirs.set("title", "changed")
    assert content(task.parent) == before


def test_a_lifted_pin_is_a_newer_task_that_opens_the_project_again(
    home: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "ana"
    pinned = pinned_task(home, folder)
    with monkeypatch.context() as installed:
        be_version(installed, "7.3.1")
        tasking.take_task(pinned).project.close()
    old = pinned.rename(folder / "older.goldsmith-task")
    program_pins.pin(home, "")
    newer = task_for(home, annotators(home)[0].id, folder)
    numbers = [packages.read_package(task, packages.TASK).manifest.extra["number"] for task in (old, newer)]
    assert numbers == [1, 2]
    opened = tasking.take_task(newer)
    with closing(opened.project) as theirs:
        assert (opened.made, theirs.path, theirs.why_readonly) == (False, project_in(folder), None)
        write_rubric(theirs, items.ids(theirs)[0], "Explains the weight of gold")
    with closing(Project.open(project_in(folder))) as theirs:
        assert theirs.why_readonly is None
    # The earlier task cannot bring the pin back.
    with pytest.raises(Refusal, match="older than the newest task"):
        tasking.take_task(old)


def test_a_pinned_task_leaves_the_project_that_is_there_as_it_is(home: Project, tmp_path: Path) -> None:
    folder = tmp_path / "ana"
    with closing(tasking.take_task(task_for(home, annotators(home)[0].id, folder)).project) as theirs:
        path, item_id = theirs.path, items.ids(theirs)[0]
    task = pinned_task(home, folder)
    before = content(folder)
    with closing(tasking.take_task(task).project) as shown:
        assert shown.path != path
    assert content(folder) == before
    with closing(Project.open(path)) as theirs:
        write_rubric(theirs, item_id, "Explains the weight of gold")


def test_a_stranger_cannot_tell_an_annotator_which_installer_to_take(home: Project, tmp_path: Path) -> None:
    folder = tmp_path / "ana"
    tasking.take_task(task_for(home, annotators(home)[0].id, folder)).project.close()
    task = pinned_task(home, folder)
    task.write_bytes(with_manifest(task.read_bytes(), packages.new_key()))
    with pytest.raises(Refusal, match="signed with a different key"):
        tasking.take_task(task)


@pytest.mark.parametrize(
    "changed", [{"program": "newest"}, {"installers": {"http://x.org": SUM}}, {"program": 3}]
)
def test_a_task_whose_pin_cannot_be_read_is_refused(home: Project, tmp_path: Path, changed: dict) -> None:
    task = pinned_task(home, tmp_path / "ana")
    extra = packages.read_package(task, packages.TASK).manifest.extra | changed
    task.write_bytes(with_manifest(task.read_bytes(), packages.new_key(), extra=extra))
    with pytest.raises(Refusal, match="ask for the file again"):
        tasking.take_task(task)
    assert [path.name for path in task.parent.iterdir()] == [task.name]


def test_a_pinned_project_of_an_older_format_is_shown_as_a_copy_and_keeps_its_format(tmp_path: Path) -> None:
    path = tmp_path / "old.goldsmith"
    path.write_bytes(gzip.decompress((GOLDEN / "format-1.goldsmith.gz").read_bytes()))
    settings = {ORIGIN: {"project": "p", "person": "a"}, PROGRAM: {"program": OTHER}}
    with closing(sqlite3.connect(path)) as raw, raw:
        rows = [(key, json.dumps(value)) for key, value in settings.items()]
        raw.executemany("INSERT INTO meta (key, value) VALUES (?, ?)", rows)
        witness.renew(raw)
    before = content(tmp_path)
    with closing(Project.open(path)) as shown:
        assert "7.3 or newer" in str(shown.why_readonly)
    assert content(tmp_path) == before


def test_returned_work_tells_every_version_that_changed_it_and_whether_another_was_asked_for(
    home: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ana, li = annotators(home)
    with monkeypatch.context() as installed:
        be_version(installed, "0.0.9")
        returned(home, ana.id, tmp_path / "ana")
    with closing(Project.open(project_in(tmp_path / "ana"))) as theirs:
        work = returning.work(theirs).path
        assert returning.work(theirs, tmp_path / "again").path.read_bytes() == work.read_bytes()
    assert packages.read_package(work, packages.WORK).programs == ("0.0.9", __version__)
    program_pins.pin(home, f"=={__version__}")
    first, second = unpacking.take_in(home, [work, returned(home, li.id, tmp_path / "li")])
    assert (first.outcome, first.program) == (ParcelOutcome.NEW, f"0.0.9, {__version__}")
    assert (first.asked, second.asked) == (f"{__version__} alone", "")
    assert f"Made with Goldsmith 0.0.9, {__version__}; the tasks ask for" in "\n".join(unpacking.words(first))
    assert program_pins.used(home) == {ana.id: f"0.0.9, {__version__}", li.id: __version__}
    assert run_command(["status", str(home.path)]) == 0
    assert f"Ana Silva works with Goldsmith 0.0.9, {__version__}" in capsys.readouterr().out


@pytest.mark.parametrize("told", [7, ["<b>", 3, None], "0.1.0", ["9" * 60]])
def test_what_returned_work_says_of_its_versions_is_kept_only_where_it_is_sound(
    home: Project, tmp_path: Path, told: object
) -> None:
    work = returned(home, annotators(home)[0].id, tmp_path / "ana")
    work.write_bytes(with_manifest(work.read_bytes(), packages.new_key(), extra={"programs": told}))
    assert unpacking.preview(home, [work])[0].program == __version__


def test_pinning_is_the_coordinators_recorded_and_taken_back(home: Project, tmp_path: Path) -> None:
    program_pins.pin(home, OTHER, {SETUP: SUM})
    # The same versions keep their installers, others name none.
    assert program_pins.pin(home, OTHER).after == {"program": OTHER, "installers": {SETUP: SUM}}
    program_pins.pin(home, ">=8")
    assert program_pins.pinned(home) == program_pin.ProgramPin(">=8")
    history.undo(home)
    assert program_pins.pinned(home).versions == OTHER
    assert home.why_readonly is None
    with closing(
        tasking.take_task(pinned_task(home, tmp_path / "a", program_pin.offered())).project
    ) as theirs:
        assert theirs.why_readonly is None
        with pytest.raises(Refusal, match="came with the task"):
            program_pins.pin(theirs, "")
    home.work_as(annotators(home)[0])
    with pytest.raises(Refusal, match="Only a coordinator can say which version"):
        program_pins.pin(home, "")


def test_what_a_newer_version_keeps_in_a_project_stays(home: Project) -> None:
    home.set("a newer version's", {"kept": [1, 2]})
    program_pins.pin(home, OTHER)
    with closing(Project.open(home.path)) as again:
        again.set("title", "Gold")
    with closing(Project.open(home.path)) as again:
        assert again.get("a newer version's") == {"kept": [1, 2]}
