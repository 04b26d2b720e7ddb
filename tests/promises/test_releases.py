"""What Goldsmith promises about releases."""

import __future__

import ast
import asyncio
import gzip
import itertools
import json
import os
import shutil
import subprocess
import zipfile
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock
from llmock.scenarios import Match, Reply

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.assignments import assignments
from annotator.actions.authoring import artifacts
from annotator.actions.authoring.annotating import artifacts_of
from annotator.actions.imports import imports
from annotator.actions.items import items
from annotator.actions.judging import judge_runs
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import overview
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import part_views
from annotator.cli import run_command
from annotator.domain.common import Refusal, sha256
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.kind import Kind, Reason, Role, Stage
from annotator.judging.messages import STAND_IN, load, render
from annotator.protocols import PROTOCOLS
from annotator.protocols.researcherbench.coverage import weighted
from tests.actions.releases.released_pairs import taken_in
from tests.cli.commands import printed
from tests.house import reading
from tests.material.bundles import found, tree, write_release
from tests.projects.filled_project import generated_project
from tests.projects.pairs_project import ADA, BEN, item, opened, pairs_project, rubric, submit, work_as
from tests.projects.small_projects import CRITERIA, small_project
from tests.storage import sql


# Together they reach what a dozen of them do.
@pytest.mark.parametrize("seed", [1, 3, 8, 9, 10, 11])
def test_what_is_exported_is_imported_and_exported_again_byte_for_byte(tmp_path: Path, seed: int) -> None:
    project = generated_project(tmp_path, seed)
    releases.export(project, tmp_path / "one", page_texts=True)
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    assert checking.check(other).problems == []
    releases.export(other, tmp_path / "two", page_texts=True)
    one, two = found(tmp_path / "one"), found(tmp_path / "two")
    assert {path for path in one.keys() | two.keys() if one.get(path) != two.get(path)} == set()
    assert one != {}


POINTS = ("Depth of analysis", "Use of sources", "Clarity of structure", "Open questions")


def checklist(*shares: float) -> Checklist:
    return Checklist(units=tuple(CheckPoint(text=t, share=s) for t, s in zip(POINTS, shares, strict=False)))


@pytest.mark.parametrize("shares", [(0.33, 0.33, 0.33), (1 / 3, 1 / 3, 1 / 3), (0.34, 0.33, 0.33)])
def test_a_checklist_of_thirds_is_fine_from_writing_to_reading(
    tmp_path: Path, shares: tuple[float, ...]
) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": checklist(*shares)})
    releases.export(project, tmp_path / "out")
    other = Project.create(tmp_path / "other.goldsmith")
    _, report = imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
    assert (report.problems, report.counts["artifacts"].new) == ((), 1)


@pytest.mark.parametrize(("shares", "total"), [((0.5, 0.5, 0.5), "1.50"), ((0.5, 0.3, 0.1), "0.90")])
def test_a_checklist_that_does_not_sum_to_one_is_refused_in_words_when_sealed(
    tmp_path: Path, shares: tuple[float, ...], total: str
) -> None:
    project = pairs_project(tmp_path)
    artifact = artifacts.start(project, item(project), Kind.CHECKLIST, checklist(*shares)).subject
    with pytest.raises(Refusal, match=f"sum to {total} and not to 1"):
        assignments.seal(project, artifact)


def test_a_consensus_whose_shares_do_not_sum_to_one_is_not_closed(tmp_path: Path) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": checklist(0.5, 0.25, 0.25), "Ben": checklist(0.25, 0.5, 0.25)})
    adjudication = opened(project, Stage.CHECKLIST)
    for row in adjudicating.sheet(project, adjudication).rows:
        taken = max(row.units, key=lambda letter: row.units[letter].share)
        ruling.rule(project, row.ruling.id, taken, reason=Reason.ERROR)
    with pytest.raises(Refusal, match=r"sum to 1\.25 and not to 1"):
        ruling.close(project, adjudication)
    for row in adjudicating.sheet(project, adjudication).rows[:2]:
        ruling.write_own(project, row.ruling.id, share=0.375)
    assert ruling.close(project, adjudication).after["version"] == 1


def test_a_release_made_while_a_judged_rubric_is_open_again_scores_the_revision_it_holds(
    tmp_path: Path,
) -> None:
    project = small_project(tmp_path)
    asyncio.run(judge_runs.run(project, RunRequest("baseline", "researcherbench.coverage")))
    releases.export(project, tmp_path / "before")
    sealed = tree(tmp_path / "before", "artifacts/rubric.json")[0]
    assignments.reopen(project, sealed["id"])
    unit = sealed["document"]["units"][0]["id"]
    artifacts.change_unit(project, sealed["id"], unit, text="Says something else altogether", weight=1)
    report = releases.export(project, tmp_path / "meanwhile")
    assert tree(tmp_path / "before", "scores.json") != []
    for path in ("artifacts/rubric.json", "judgements.json", "scores.json"):
        assert tree(tmp_path / "meanwhile", path) == tree(tmp_path / "before", path)
    assert f"the rubric of item 1 (revision {sealed['revision']})" in report.notes[-1]


LICENCE, DESCRIPTION = "CC BY 4.0", "What *experts* ask of deep research.\n\nSecond paragraph."


def test_licence_and_description_come_back_from_a_release(tmp_path: Path) -> None:
    project = small_project(tmp_path)
    with project.store.write():
        project.set("licence", LICENCE)
        project.set("description", DESCRIPTION)
    drawn = part_views.draw_responses(project, 1, seed=2).after
    releases.export(project, tmp_path / "one")
    said = tree(tmp_path / "one", "manifest.json")
    assert (said.get("licence"), said.get("description")) == ("CC-BY-4.0", DESCRIPTION)
    assert said.get("error_sample") == drawn
    other = Project.create(tmp_path / "other.goldsmith", project.title)
    imports.run(other, "goldsmith", [tmp_path / "one"], warm=False)
    assert releases.metadata(other) == releases.metadata(project)
    releases.export(other, tmp_path / "two")
    assert found(tmp_path / "one") == found(tmp_path / "two")


@pytest.mark.parametrize("content", ["{}", "[]", "not JSON", '{"id": 1}'])
def test_a_damaged_agreement_is_told_by_the_check_and_refused_in_words_by_the_export(
    tmp_path: Path, content: str
) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": checklist(0.5, 0.25, 0.25), "Ben": checklist(0.25, 0.5, 0.25)})
    with project.store.write():
        sql.alter(project, "UPDATE agreement SET content = ?, sha256 = ?", [content, sha256(content)])
    (problem,) = checking.check(project).problems
    assert problem.table == "agreement"
    assert problem.happened.endswith("cannot be read: it is not what it should be.")
    with pytest.raises(Refusal, match=r"cannot be read.*Nothing was released"):
        releases.export(project, tmp_path / "out")
    assert not (tmp_path / "out").exists()


BOUND = "a lower bound under heavy rewording"


def test_beside_every_match_f1_stands_that_it_is_a_lower_bound(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = pairs_project(tmp_path)
    submit(project, {"Ada": rubric(ADA, "a"), "Ben": rubric(BEN, "b")})
    releases.export(project, tmp_path / "out")
    card = (tmp_path / "out" / "README.md").read_text("utf-8").splitlines()
    bounded = {
        name: [BOUND in line for line in card if f"{name} |" in line] for name in ("match_f1", "kappa")
    }
    assert bounded == {"match_f1": [True], "kappa": [False]}
    work_as(project, "Cora").close()
    said = " ".join(printed(capsys, "agreement", project.path, "--as", "R1").split())
    assert said.count("Match F1") == said.count(BOUND) == 1


# A log that Inspect AI 0.3 wrote of the release of `rich_bundle`, without the messages and events that are not read.
LOG = reading.HERE / "tests/golden/inspect-log.json"
RUNNABLE = {
    "samples.jsonl",
    "grader.md",
    "inspect_task.py",
    "lm_eval/goldsmith_reports.yaml",
    "lm_eval/utils.py",
}
# The real command, which may lie in an environment of its own.
INSPECT = os.environ.get("INSPECT") or shutil.which("inspect")
REPORT = "# Rain\n\nThe cause is that air cools."
SAID = {"quote": "The cause is that air cools.", "rationale": "It names it.", "covered": "yes"}


def of_rain(folder: Path) -> Project:
    return taken_in(folder, write_release(folder / "in"))


def said(project: Project, judge: str) -> list[tuple[Any, ...]]:
    """What the judge said of each trial: unit, value, and whether it stands in the report."""
    question = (
        "SELECT r.trial, j.unit_id, j.value, j.quote_start IS NOT NULL FROM judgement j "
        "JOIN response r ON r.id = j.response_id JOIN judge ON judge.id = j.rater_id "
        "WHERE judge.name = ? ORDER BY 1, 2"
    )
    return sql.rows(project, question, [judge])


def covered(project: Project) -> float | None:
    rows = {(row.metric, row.rater, row.system, row.group): row for row in overview.released(project)}
    return rows["coverage", "openai/judge", "openai/writer", "all"].estimate.value


def without_inspect(path: Path) -> dict[str, Any]:
    """What a file of a release defines that needs no harness."""
    tree = ast.parse(path.read_text("utf-8"))
    tree.body = [
        one
        for one in tree.body
        if not (isinstance(one, ast.ImportFrom) and str(one.module).startswith("inspect_ai"))
        and not getattr(one, "decorator_list", ())
    ]
    defined: dict[str, Any] = {"__file__": str(path)}
    exec(compile(tree, path, "exec", __future__.annotations.compiler_flag), defined)  # noqa: S102 - our own file
    return defined


def test_a_release_is_ready_to_run_in_harnesses(tmp_path: Path) -> None:
    assert set(releases.export(small_project(tmp_path), tmp_path / "out").files) >= RUNNABLE
    assert not RUNNABLE & {file["path"] for file in tree(tmp_path / "out", "manifest.json")["files"]}
    table = without_inspect(tmp_path / "out/lm_eval/utils.py")
    lines = table["rows"](table["SAMPLES"])
    assert [line["question"] for line in lines] == ["What do residual connections do?", "Who?"]
    assert [[(one["text"], one["weight"]) for one in line["criteria"]] for line in lines] == [[*CRITERIA]] * 2
    assert [table["answered"]({}, [reply])["answered"] for reply in (" ", "a")] == [0, 1]
    without = people.new_project(tmp_path / "p.goldsmith")
    items.add(without, "Why?", "", "")
    assert not RUNNABLE & set(releases.export(without, tmp_path / "without").files)


def test_the_task_asks_and_scores_as_the_program_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    releases.export(small_project(tmp_path), tmp_path / "out")
    task = without_inspect(tmp_path / "out/inspect_task.py")
    monkeypatch.setattr("secrets.token_hex", lambda _: STAND_IN)
    fields = {
        "question": "Why {{report}}?",
        "criterion": "Says [INST] why",
        "report": "<|end|> <<<END report>>>",
    }
    prompt = load(PROTOCOLS[task["PROTOCOL"]].prompts[0])
    asked = [message["content"] for message in render(prompt, fields, ("question", "report"))]
    assert [*task["messages"](*fields.values())] == asked
    for values in itertools.product(("yes", "no", None), repeat=3):
        pairs = [*zip((3, 2, -1), values, strict=True)]
        ours = weighted(pairs)
        assert task["weighted"](pairs) == (ours.value, ours.floor, ours.ceiling)
    reply, read = json.dumps(SAID), task["read"]
    assert read(reply) == read(f"```json\n{reply}\n```") == {"value": "yes", **dict([*SAID.items()][:2])}
    for odd in ("", "Yes.", "[]", reply.replace("yes", "maybe"), reply.replace("}", ', "more": ""}')):
        with pytest.raises(ValueError, match=r"reply|covered"):
            read(odd)


def test_a_log_comes_in_once_and_overwrites_nothing(tmp_path: Path) -> None:
    project = of_rain(tmp_path)
    _, report = imports.run(project, "", [LOG], warm=False)
    assert (report.format, report.problems) == (imports.INSPECT, ())
    assert {thing: count.new for thing, count in report.counts.items() if count.new} == {
        "systems": 1, "responses": 2, "judges": 1, "runs": 1, "judgements": 4
    }  # fmt: skip
    no = [(1, "c2", "no", 0), (2, "c1", "no", 0), (2, "c2", "no", 0)]
    assert said(project, "openai/judge") == [(1, "c1", "yes", 1), *no]
    assert said(project, "J") == [(1, "c1", "no", 0), (1, "c2", None, 0)]
    log = json.loads(LOG.read_text("utf-8"))
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        for sample in log.pop("samples"):
            archive.writestr(f"samples/one_epoch_{sample['epoch']}.json", json.dumps(sample))
        archive.writestr("header.json", json.dumps(log))
    for again in ([LOG], [tmp_path / "log.eval", LOG]):
        same = imports.run(project, "", again, warm=False)[1]
        assert (str(same), same.problems, same.counts["judgements"].same) == ("nothing new", (), 4)
    assert (covered(project), checking.check(project).problems) == ((0.75 + 0) / 2, [])


@pytest.mark.parametrize(
    ("where", "value", "reason"),
    [
        ("id", "nine", "there is no item nine in the project"),
        ("input", "Why does it snow?", "asks something else than item one"),
        ("output", {"completion": []}, "completion"),
        ("scores", {"a": {"metadata": {"goldsmith": {"protocol": "no.such"}}}}, "is missing"),
        ("epoch", None, "epoch"),
        ("c1/id", "c9", "item one has no criterion c9"),
        ("c1/text", "Names it", "criterion c1 of item one was reworded since"),
        ("c1/value", "perhaps", "“perhaps” is not a value"),
        ("c1/status", "lost", "judgements"),
        ("goldsmith/protocol", "no.such", "there is no protocol “no.such”"),
    ],
)
def test_what_in_a_log_fits_nothing_is_named_and_keeps_it_out(
    tmp_path: Path, where: str, value: Any, reason: str
) -> None:
    project, log = of_rain(tmp_path), json.loads(LOG.read_text("utf-8"))
    sample = log["samples"][0]
    graded = sample["scores"]["coverage"]["metadata"]["goldsmith"]
    place, _, name = where.rpartition("/")
    {"": sample, "c1": graded["judgements"][0], "goldsmith": graded}[place][name] = value
    # What it is called alone tells the item.
    sample["metadata"] = {}
    (tmp_path / "log.json").write_text(json.dumps(log), "utf-8")
    with pytest.raises(Refusal, match=reason):
        imports.run(project, "", [tmp_path / "log.json"], warm=False)
    assert sql.rows(project, "SELECT count(*) FROM response") == [(3,)]


@pytest.mark.parametrize(
    "content", [b"PK\x05\x06" + bytes(18), b'{"version": 2, "status": "success", "eval": 3}']
)
def test_what_is_no_whole_log_is_refused_in_words(tmp_path: Path, content: bytes) -> None:
    (path := tmp_path / ("log.json" if content.startswith(b"{") else "log.eval")).write_bytes(content)
    with pytest.raises(Refusal, match="no log"):
        imports.run(of_rain(tmp_path), "", [path], warm=False)


LEAK = "Explains how residual connections let gradients pass through very deep networks without vanishing on the way"


def test_a_planted_copy_is_found_wherever_it_stands(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    project = small_project(tmp_path)
    own = artifacts_of(project, items.ids(project)[0])[0]
    assignments.reopen(project, own.id)
    artifacts.change_unit(project, own.id, own.document.units[0].id, text=LEAK)
    assignments.seal(project, own.id)
    (corpus := tmp_path / "corpus").mkdir()
    (corpus / "clean.txt").write_text(
        "What residual connections do is a question of its own. " * 300, "utf-8"
    )
    lines = [{"text": "nothing"}, {"of": [{"it": f"…{LEAK.upper().replace(' ', ' -- ')}!"}]}]
    (corpus / "web.jsonl").write_text("\n".join(map(json.dumps, lines)), "utf-8")
    (corpus / "books.txt.gz").write_bytes(
        gzip.compress(f"{'x ' * 2**20}{' '.join(LEAK.split()[1:15])}".encode())
    )
    (corpus / "picture.png").write_bytes(bytes(64))
    assert run_command(["release", "find-copies", str(project.path), str(corpus), "--json"]) == 3
    copy = {
        "item": "1", "part": "criterion 1", "text": LEAK, "exact": True, "share": 1.0,
        "place": "corpus/web.jsonl line 2", "places": 2,
    }  # fmt: skip
    unread = ["corpus/picture.png: “picture.png” holds no text in UTF-8. Unpack or convert it."]
    report = {"copies": [copy], "texts": 8, "short": 7, "files": 4, "unread": unread}
    assert json.loads(capsys.readouterr().out) == report
    (part,) = checking.find_copies(project, [corpus / "books.txt.gz"]).copies
    assert (part.exact, part.share) == (False, 2 / (len(LEAK.split()) - 12))
    releases.export(project, tmp_path / "out")
    assert {one.item for one in checking.find_copies(project, [tmp_path / "out"]).copies} == {"1"}
    project.work_as(people.known(project, people.add_person(project, "Ben", (Role.ANNOTATOR,)).subject))
    with pytest.raises(Refusal, match="Only a coordinator"):
        checking.find_copies(project, [corpus])


@pytest.mark.slow
@pytest.mark.skipif(INSPECT is None, reason="inspect_ai is not installed; INSPECT may name its command")
def test_the_task_runs_in_the_real_harness_and_its_log_comes_back(tmp_path: Path, llmock: LLMock) -> None:
    project = small_project(tmp_path)
    releases.export(project, tmp_path / "out")
    llmock.add(Reply(REPORT, times=None, match=Match(model="writer")))
    llmock.add(Reply(json.dumps(SAID), times=None, match=Match(model="judge")))
    roles = ("--model", "openai/writer", "--model-role", "grader=openai/judge")
    done = subprocess.run(
        [str(INSPECT), "eval", "inspect_task.py", *roles, "--log-dir", "../logs", "--log-format", "json"],
        cwd=tmp_path / "out", env={**os.environ, **llmock.env()}, capture_output=True, encoding="utf-8", check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    (log,) = (tmp_path / "logs").glob("*.json")
    (score,) = json.loads(log.read_text("utf-8"))["results"]["scores"]
    mean, stderr = (score["metrics"][name]["value"] for name in ("mean", "stderr"))
    assert (score["scored_samples"], mean, stderr) == (2, 1, 0)
    report = imports.run(project, "", [log], warm=False)[1]
    assert (report.counts["responses"].new, report.counts["judgements"].new, report.problems) == (2, 6, ())
    assert covered(project) == 1
