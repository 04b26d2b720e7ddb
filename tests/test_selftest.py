"""How a checkout starts, with its environment made once and mended when it broke; and the self-test of what is here."""

import importlib.util
import json
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from annotator import selftest
from annotator.domain.common import Refusal
from tests.common import failing
from tests.windows import children


@pytest.mark.slow
def test_every_part_works_here() -> None:
    words = children.started("--selftest")
    result = subprocess.run(words, capture_output=True, encoding="utf-8", check=False)
    report = json.loads(result.stdout)
    assert {part["name"]: part["detail"] for part in report["parts"] if not part["ok"]} == {}
    assert (result.returncode, report["ok"], report["frozen"]) == (0, True, False)


def test_a_part_that_fails_is_reported_beside_those_that_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        selftest, "PARTS", (("broken", failing(Refusal("The disk is full."))), ("whole", lambda: "fine"))
    )
    report = selftest.run()
    failed, works = report["parts"]
    assert (report["ok"], failed["ok"], works["ok"]) == (False, False, True)
    assert "The disk is full." in failed["detail"]


def test_missing_files_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    monkeypatch.setattr(selftest.places, "resources", lambda: tmp_path)
    with pytest.raises(AssertionError, match="missing: guidelines, help"):
        selftest._files()


def part(name: str) -> tuple[bool, str]:
    result = selftest._tried(name, dict(selftest.PARTS)[name])
    return bool(result["ok"]), str(result["detail"])


CERTIFICATES = "This machine has no certificates; install ca-certificates."


@pytest.mark.parametrize(
    ("name", "place", "value", "words"),
    [
        ("certificates", "places.no_certificates", lambda: CERTIFICATES, CERTIFICATES),
        ("fonts", "gui.shell.menus.seen", lambda: "", "no font; install fonts-dejavu-core"),
        ("project file", "selftest.OLDEST_SQLITE", (9, 0), "is too old"),
        # An order that knows neither accents nor numbers.
        ("languages", "gui.shell.window_trial.in_order", sorted, "names are sorted"),
    ],
)
def test_what_is_missing_here_is_told(
    name: str, place: str, value: object, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(f"annotator.{place}", value)
    works, detail = part(name)
    assert (works, words in detail) == (False, True)


def test_a_folder_that_cannot_be_written_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setattr(selftest.places, "user_data", lambda: tmp_path / "file" / "goldsmith")
    works, detail = part("writing")
    assert (works, detail.startswith(f"{tmp_path / 'file' / 'goldsmith'} cannot be written")) == (False, True)


def test_what_is_written_beside_a_project_is_taken_away_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path
) -> None:
    monkeypatch.setattr(selftest.places, "user_data", lambda: tmp_path)
    assert (part("writing")[0], list(tmp_path.iterdir())) == (True, [])


@pytest.mark.skipif(sys.platform != "linux", reason="other systems always have a screen")
def test_a_screen_that_takes_no_window_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("QT_QPA_PLATFORM", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    monkeypatch.setenv("DISPLAY", ":7771")
    works, detail = part("display")
    assert (works, detail.startswith("no window can be shown:")) == (False, True)


HERE = Path(__file__).parents[1]


class Calls(list[list[str]]):
    """Stands in for the processes that are started; each succeeds unless its words hold what must fail."""

    def __init__(self) -> None:
        super().__init__()
        self.failing = ""
        self.settings: list[dict[str, object]] = []

    def run(self, command: list[str], **settings: object) -> subprocess.CompletedProcess[bytes]:
        self.append(command[1:])
        self.settings.append(settings)
        return subprocess.CompletedProcess(command, int(bool(self.failing) and self.failing in command))

    def installs(self) -> int:
        return sum("install" in command for command in self)


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> Calls:
    made = Calls()
    monkeypatch.setattr(subprocess, "run", made.run)
    return made


@pytest.fixture
def start(tmp_path: Path, calls: Calls, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The starting script in a checkout whose path has a space and a letter beyond ASCII, without a network."""
    (home := tmp_path / "my checkout é").mkdir()
    for name in ("start.py", "pyproject.toml"):
        (home / name).write_bytes((HERE / name).read_bytes())
    spec = importlib.util.spec_from_file_location("start_of_a_checkout", home / "start.py")
    assert spec is not None
    assert spec.loader is not None
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)

    def create(folder: Path, **_: object) -> None:
        script.PYTHON.parent.mkdir(parents=True, exist_ok=True)
        script.PYTHON.touch()
        calls.run(["", "made", str(folder)])

    monkeypatch.setattr("venv.create", create)
    return script


@pytest.mark.parametrize(
    ("words", "command"),
    [
        ([], ["-m", "annotator", "--sample"]),
        (["info", "my file.goldsmith"], ["-m", "annotator", "info", "my file.goldsmith"]),
        (["test"], ["-m", "pytest", "-n", "auto", "--dist", "worksteal"]),
        (["test", "-k", "rubric"], ["-m", "pytest", "-k", "rubric"]),
    ],
)
def test_words_go_to_the_command_line_or_to_pytest(
    start: ModuleType, calls: Calls, words: list[str], command: list[str]
) -> None:
    assert (start.main(words), calls[-1]) == (0, command)


def test_commands_stay_where_they_were_said_and_tests_run_offscreen_within_the_checkout(
    start: ModuleType, calls: Calls
) -> None:
    start.main(["info"])
    assert calls.settings[-1]["cwd"] is None
    start.main(["test"])
    settings = calls.settings[-1]
    assert (settings["cwd"], settings["env"]["QT_QPA_PLATFORM"]) == (start.HERE, "offscreen")
    assert any(".[dev]" in command for command in calls)


@pytest.mark.parametrize(
    ("first", "second", "installed"), [([], [], 1), (["test"], [], 1), ([], ["test"], 2)], ids=str
)
def test_only_what_is_missing_is_installed(
    start: ModuleType, calls: Calls, first: list[str], second: list[str], installed: int
) -> None:
    start.main(first)
    start.main(second)
    assert calls.installs() == installed


def test_an_interrupted_installation_is_done_again_and_changed_requirements_are_installed(
    start: ModuleType, calls: Calls
) -> None:
    calls.failing = "install"
    with pytest.raises(SystemExit, match="run the same command again"):
        start.main([])
    calls.failing = ""
    start.main([])
    assert calls.installs() == 2
    (start.HERE / "pyproject.toml").write_text("# changed\n", "utf-8")
    start.main([])
    assert calls.installs() == 3


def test_an_environment_without_pip_is_made_anew(start: ModuleType, calls: Calls) -> None:
    start.PYTHON.parent.mkdir(parents=True)
    start.PYTHON.touch()
    calls.failing = "--version"
    start.main([])
    assert ["made", str(start.ENVIRONMENT)] in calls


def test_a_python_without_venv_is_told_what_to_install(
    start: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("venv.create", failing(subprocess.CalledProcessError(1, "ensurepip")))
    with pytest.raises(SystemExit, match="apt install python3-venv"):
        start.main([])


@pytest.mark.parametrize(("allowed", "stops"), [(259, True), (4000, False)])
def test_windows_says_that_the_checkout_lies_too_deep_unless_long_paths_are_allowed(
    start: ModuleType, calls: Calls, monkeypatch: pytest.MonkeyPatch, allowed: int, stops: bool
) -> None:
    touch = Path.touch

    def refuse_long(path: Path) -> None:
        if len(str(path)) > allowed:
            raise FileNotFoundError(2, "No such file or directory")
        touch(path)

    (folder := start.HERE / ("d" * 80)).mkdir()
    monkeypatch.setattr(start, "HERE", folder)
    monkeypatch.setattr(start, "WINDOWS", True)
    monkeypatch.setattr(Path, "touch", refuse_long)
    if stops:
        with pytest.raises(SystemExit, match="path of this folder is too long"):
            start.prepare("")
        assert not calls.installs()
    else:
        (folder / "pyproject.toml").write_bytes(b"")
        start.prepare("")
        assert calls.installs() == 1
    assert not [path for path in folder.iterdir() if path.name.startswith("x")]


def test_an_old_python_is_refused(start: ModuleType, monkeypatch: pytest.MonkeyPatch, capsys) -> None:
    monkeypatch.setattr(start, "OLDEST", (99, 0))
    assert start.main([]) == 1
    assert "needs Python" in capsys.readouterr().out


def test_what_it_prints_fits_every_console() -> None:
    assert (HERE / "start.py").read_bytes().isascii()


def test_the_readme_begins_with_the_two_commands_and_ci_runs_the_second() -> None:
    readme = (HERE / "README.md").read_text("utf-8")
    said = re.findall(r"^(python3 .*)$", readme, re.MULTILINE)
    assert said[:2] == ["python3 start.py", "python3 start.py test"]
    assert (HERE / ".ci/run").read_text("utf-8").splitlines()[-1] == said[1]
