"""Departures from papers are told wherever a figure goes; commands end as they say, and wrong words are answered."""

import csv
import importlib
import json
import os
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator, Sequence
from html import unescape
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import settings

from annotator import __version__, cli
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_cases
from annotator.actions.material import model_drafts
from annotator.actions.papers import human_agreement, paper_tables
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import result_pictures, result_raters, scoring
from annotator.actions.results.result_sheets import ResultSheet
from annotator.actions.studies import result_views
from annotator.cli import project as project_module, run_command, saying
from annotator.domain.common import Refusal
from annotator.domain.kinds.evidence import Reference
from annotator.gui.views.view_pane import account
from annotator.judging.calls import limits
from annotator.protocols import COMPOSITES, EXTRACTIONS, PROTOCOLS, TAXONOMIES, papers
from annotator.protocols.adra.reading import references
from annotator.protocols.adra.retrieval import compare
from annotator.protocols.registry import RANKING
from annotator.stats.validation import comparison
from tests.cli.commands import printed, told
from tests.house import reading
from tests.judging.odd_server import OddServer, at_work, completion, error
from tests.material.labelled_sections import rated_tasks
from tests.projects.adra_project import printed_project
from tests.projects.small_projects import small_project, small_sample
from tests.storage import sql

JUDGED = {protocol.name for paper in papers() if paper.tables for protocol in paper.protocols}


def constants() -> dict[str, tuple[str, ...]]:
    files = [path for path in reading.files("annotator") if "\nDEPARTURES = (" in path.read_text("utf-8")]
    names = [".".join(path.relative_to(reading.HERE).with_suffix("").parts) for path in files]
    return {name: importlib.import_module(name).DEPARTURES for name in names}


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    project = printed_project(tmp_path_factory.mktemp("departures"))
    yield project
    project.close()


# The views whose tables tell all of it, of all raters in the first.
TELLING = ("overview", "runs", "score-agreement", "tables", "errors", "pilot", "selection")


def told_by(projects: Sequence[Project]) -> set[str]:
    told: set[str] = set()
    for name, project in product(TELLING, projects):
        for sheet in shown(project, name, {"judge": result_raters.EACH} if name == "overview" else {}):
            told |= {*result_pictures.as_tree(sheet)["departures"]}
    return told


def shown(project: Project, name: str, chosen: dict[str, str]) -> tuple[ResultSheet, ...]:
    """The tables of a view; none where it says what it lacks."""
    try:
        return result_views.show(project, name, chosen, among=paper_tables.VIEWS).sheets
    except Refusal:
        return ()


@pytest.mark.slow
def test_letter_20_every_departure_is_told_beside_a_figure_or_a_draft(
    made: Project, sample: Project, tmp_path: Path
) -> None:
    # What no project here is judged by is told by its metrics, as that of others is.
    told = {*scoring.departures(info.name for info in scoring.described() if info.protocol not in JUDGED)}
    told |= {*human_agreement.departures(PROTOCOLS.values()), *comparison.DEPARTURES}
    told |= {
        words for one in (*EXTRACTIONS.values(), *model_drafts.OFFERED.values()) for words in one.departures
    }
    standings, *_ = result_views.show(small_sample(tmp_path, "seminar"), "contest", {}).sheets
    told |= {*standings.departures}
    said = {name: words for name, words in constants().items() if not name.endswith("validation_sheets")}
    related, rated = small_sample(tmp_path, "related-work"), rated_tasks(tmp_path)
    told |= told_by((made, sample, related, rated))
    assert {name: untold for name, words in said.items() if (untold := {*words} - told)} == {}


def test_letter_20_no_constant_stands_unused() -> None:
    """Each belongs to a protocol, an extraction, a figure or a table of views; every protocol has some."""
    assert [one.name for one in (*PROTOCOLS.values(), *EXTRACTIONS.values()) if not one.departures] == []
    carried: set[str] = set()
    extractions = (*EXTRACTIONS.values(), *model_drafts.OFFERED.values())
    carriers: tuple[object, ...] = (
        *PROTOCOLS.values(), RANKING, *TAXONOMIES.values(), *extractions, *(one for _, one in COMPOSITES.values()),
        *(table for paper in papers() for table in paper.tables),
    )  # fmt: skip
    for carrier in carriers:
        carried |= set(carrier.departures)  # type: ignore[attr-defined]
    for name, said in constants().items():
        if ".protocols." in name:
            assert set(said) <= carried, name


def test_letter_20_the_command_line_says_them_in_words_and_as_json(
    made: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ("results", made.path, "--metric", "reasoning.accuracy")
    wanted = scoring.departures(["reasoning.accuracy"])
    assert told(capsys, *command)["departures"] == list(wanted)
    for more in ([], ["--view", "overview"]):
        out = printed(capsys, *command, *more)
        assert out.count("from the paper: --departures") == 1
        assert not any(words in out for words in wanted)
    assert "Differences from the paper:" in printed(capsys, *command, "--departures")
    out = " ".join(printed(capsys, *command, "--view", "overview", "--departures").split())
    assert all(" ".join(words.split()) in out for words in wanted)


def test_letter_20_saved_tables_and_pictures_carry_them(made: Project, tmp_path: Path) -> None:
    sheet = result_views.show(made, "domains", {"metric": "coverage"}).sheets[0]
    wanted = scoring.departures(["coverage"])
    result_pictures.save_exports(sheet, tmp_path / "table.csv")
    first, *rest = csv.DictReader((tmp_path / "table.csv").read_text("utf-8-sig").splitlines())
    assert all(words in first["departures"] for words in wanted)
    assert [row["departures"] for row in rest] == [""] * len(rest)
    result_pictures.save_exports(sheet, tmp_path / "table.json")
    assert set(wanted) <= set(json.loads((tmp_path / "table.json").read_text("utf-8"))["departures"])
    differs = result_pictures.departures(sheet)
    caption = " ".join(result_pictures.printed(sheet.pictures[0], differs).texts[-1].get_text().split())
    assert all(words in caption for words in wanted)
    bare, whole = (
        result_pictures.save(result_pictures.printed(sheet.pictures[0], own), tmp_path / name).stat().st_size
        for own, name in (((), "bare.png"), (differs, "whole.png"))
    )
    assert whole > bare


def test_letter_20_the_page_shows_them_beside_the_figure_and_the_order(made: Project) -> None:
    sheet = result_views.show(made, "wins", {}).sheets[0]
    words_shown = unescape(account(sheet, sheet.lines[0], sheet.lines[0].cells[1], 1, ""))
    assert all(words in words_shown for words in scoring.departures(["win_rate"]))
    offered = {offer.name: offer.departures for offer in judge_runs.drawings(made)}
    assert offered == {name: one.departures for name, one in EXTRACTIONS.items()}


def test_letter_20_a_release_says_them_of_every_score(sample: Project, tmp_path: Path) -> None:
    releases.export(sample, tmp_path / "release")
    described, scores = (
        json.loads((tmp_path / "release" / name).read_text("utf-8"))
        for name in ("metrics.json", "scores.json")
    )
    said = {one["metric"]: tuple(one["departures"]) for one in described}
    assert said == {one["metric"]: scoring.named(one["metric"]).departures for one in scores}
    card = " ".join((tmp_path / "release" / "README.md").read_text("utf-8").split())
    assert "## Differences from the papers" in card
    assert [words for departures in said.values() for words in departures if words not in card] == []


def found(gold: Reference, report: str) -> bool:
    return len(compare(references(report).units, [gold]).matches) == 1


@pytest.mark.parametrize(
    ("typed", "in_report"),
    [
        ("https://aclanthology.org/2020.acl-main.747/", "https://doi.org/10.18653/v1/2020.acl-main.747"),
        ("https://aclanthology.org/2020.acl-main.747.pdf", "https://aclanthology.org/2020.acl-main.747"),
        ("https://aclanthology.org/P19-1001", "10.18653/v1/P19-1001"),
        ("https://www.aclweb.org/anthology/P19-1001.pdf", "https://aclanthology.org/P19-1001/"),
        ("https://www.nature.com/articles/nature14539", "https://doi.org/10.1038/nature14539"),
        ("https://link.springer.com/article/10.1007/s11263-015-0816-y", "10.1007/s11263-015-0816-y"),
        ("dl.acm.org/doi/10.1145/3292500.3330701", "https://dl.acm.org/doi/pdf/10.1145/3292500.3330701"),
        (
            "https://journals.plos.org/plosone/article?id=10.1371/journal.pone.0000217",
            "10.1371/journal.pone.0000217",
        ),
        ("https://www.biorxiv.org/content/10.1101/2020.01.01.123456v2.full", "10.1101/2020.01.01.123456"),
        ("https://huggingface.co/papers/2301.00001", "arXiv:2301.00001"),
        ("https://www.alphaxiv.org/abs/2301.00001v2", "https://arxiv.org/abs/2301.00001"),
        ("https://ar5iv.labs.arxiv.org/html/2301.00001", "https://arxiv.org/pdf/2301.00001v3"),
        ("arXiv:2301.00001 [cs.CL]", "https://arxiv.org/abs/2301.00001"),
        ("arXiv preprint arXiv:2301.00001v2.", "https://huggingface.co/papers/2301.00001"),
        ("DOI: https://doi.org/10.1000/182", "10.1000/182"),
        ("doi: 10.1000/182.", "https://doi.org/10.1000/182"),
        ("info:doi/10.1000/182", "https://doi.org/10.1000/182"),
        ("https://doi.org/10.1000/182.", "10.1000/182"),
    ],
)
def test_a_gold_reference_is_found_however_its_identifier_was_typed(typed: str, in_report: str) -> None:
    gold = Reference(text="Something that shares no word with it", identifier=typed)
    assert found(gold, f"# Report\n\nAs shown before.\n\n## References\n\n1. {in_report}\n")
    assert not found(gold, "# Report\n\n## References\n\n1. https://doi.org/10.9999/another\n")


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("Łukasz and the Øresund: a study", "Lukasz and the Oresund: a study"),
        ("Ægir, þing and Đakovo revisited again", "Aegir, thing and Dakovo revisited again"),
        ("Straße und Höhe: Messungen im Tal", "Strasse und Hohe: Messungen im Tal"),
        ("GPT-4 in the classroom of today", "GPT4 in the classroom of today"),
        ("GPT\u20114 in the classroom of today", "GPT-4 in the classroom of today"),
        ("Re\u00adtrieval with long con\u200btexts measured", "Retrieval with long contexts measured"),
        ("\ufb01ne-tuning of large models, at length", "Fine-tuning of large models, at length"),
        ("Depth – breadth and the limits of both", "Depth-breadth and the limits of both"),
        ("Short Ł", "short l"),
    ],
)
def test_titles_are_the_same_as_unicode_folds_them(typed: str, written: str) -> None:
    comparison = compare([Reference(text=written)], [Reference(text=typed)])
    assert [match.by for match in comparison.matches] == ["title"]


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
    for name, one in [(name, group.get_command(None, name)) for name in group.commands]:
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
