"""A benchmark of related-work sections from an empty project to its printed table, offline and with a model server."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from llmock.pytest_plugin import LLMock

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.actions.runs import judge_cases
from annotator.actions.runs.judge_cases import RunRequest
from annotator.cli import run_command
from annotator.domain.texts.canonical import canonical_json
from annotator.protocols import papers
from annotator.protocols.deepscholar.overall import METRICS
from tests.judging.odd_server import OddServer, at_work
from tests.material import related_work as made
from tests.servers.served import CountingServer

(PAPER,) = (paper for paper in papers() if paper.name == "deepscholar")
HERE = [
    name
    for name in METRICS
    if any(name == one.name for protocol in PAPER.protocols for one in protocol.metrics)
]
HUMAN, JUDGE = "Human-written exemplar", "distant"
# What the server replies to whatever a protocol asks.
SAYS = {
    "deepscholar.organization": {"rationale": "So.", "better": "first"},
    "deepscholar.nuggets": {"quote": "", "rationale": "So.", "support": "support"},
    "deepscholar.relevance": {"rationale": "So.", "relevance": "2"},
    "deepscholar.precision": {"quote": "", "rationale": "So.", "supported": "yes"},
    "deepscholar.coverage": {"quote": "", "rationale": "So.", "supported": "yes"},
    "deepscholar.nugget_importance": {"rationale": "So.", "importance": "vital"},
    "deepscholar.reference_importance": {"rationale": "So.", "importance": "important"},
}
Figures = dict[tuple[str, str], dict[str, Any]]


@pytest.fixture
def server() -> Iterator[OddServer]:
    with at_work(OddServer()) as server:
        yield server


def goldsmith(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """What a command prints as JSON; some judgements may be missing."""
    assert run_command([*map(str, words), "--json"]) in (0, 3)
    return json.loads(capsys.readouterr().out)


def judge_all(capsys: pytest.CaptureFixture[str], file: Path, name: str) -> None:
    draw_all(capsys, file)
    for protocol in PAPER.protocols:
        if (protocol.judge if name == JUDGE else protocol.baseline) is not None:
            ended = goldsmith(capsys, "judge", "run", file, "--judge", name, "--protocol", protocol.name)
            assert (ended["state"], ended["done"]) == ("done", ended["total"])


def draw_all(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    for one in PAPER.extractions:
        if one.baseline is not None:
            goldsmith(capsys, "judge", "extract", file, "--judge", "baseline", "--extraction", one.name)


def benchmark(folder: Path) -> Path:
    """The made benchmark with who is important, so that every figure can be computed."""
    made.write(folder)
    made.table(folder / "important_citations.csv", made.CITATIONS[:1])
    return folder


def counted(folder: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"identifier": "arXiv:2001.00001", "title": "Oaks", "cited_by_count": "7", "counted_on": "2026-01-02"}
    ]
    made.table(folder / "works.csv", rows)
    goldsmith(capsys, "sources", "works", file, "--from", folder / "works.csv")


def imported(capsys: pytest.CaptureFixture[str], file: Path, *paths: Path) -> None:
    assert run_command(["new", str(file)]) == 0
    capsys.readouterr()
    goldsmith(capsys, "import", file, "--format", "deepscholar", *paths)


def table(capsys: pytest.CaptureFixture[str], file: Path, *words: str) -> Figures:
    sheet = goldsmith(capsys, "results", file, "--view", "deepscholar", *words)["sheets"][0]
    assert sheet["departures"]
    return {(row["system"], row["metric"]): row for row in sheet["rows"]}


def test_offline_the_baseline_fills_all_that_can_be_told_by_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "project.goldsmith"
    imported(capsys, file, benchmark(tmp_path / "benchmark"))
    counted(tmp_path, file, capsys)
    judge_all(capsys, file, "baseline")
    assert run_command(["judge", "estimate", str(file), "--judge", "baseline", "--protocol", PAPER.name]) == 0
    assert "What it would take" in capsys.readouterr().out
    result = table(capsys, file)
    assert {metric for _, metric in result} == {*HERE, "overall"}
    assert {system for system, _ in result} == {HUMAN, "base", "storm", "search", "scholar", "research"}
    # The exemplar's organization is known by definition; of the others the longer section is preferred.
    assert result[HUMAN, "organization"]["value"] == 0.5
    assert {result[system, "organization"]["value"] for system in ("base", "storm")} <= {0.0, 1.0}
    assert "Organization" not in result["base", "overall"]["reason"]
    assert result["base", "reference_coverage"]["value"] == 1.0
    assert result["scholar", "reference_coverage"]["value"] == 0.0
    assert all(
        (row["value"] is None) is bool(row["reason"]) for row in result.values() if not row["value_note"]
    )
    assert run_command(["results", str(file), "--view", "deepscholar", "--departures"]) == 0
    told = capsys.readouterr().out
    assert "Differences from the paper:" in told
    assert "Overall is undefined" in told
    assert "counted on 2026-01-02" in result["base", "document_importance"]["value_note"]


def test_every_figure_comes_from_real_calls_and_makes_the_overall(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], llmock: LLMock
) -> None:
    file = tmp_path / "project.goldsmith"
    imported(capsys, file, benchmark(tmp_path / "benchmark"))
    counted(tmp_path, file, capsys)
    asked_of(file, llmock)
    draw_all(capsys, file)
    foreseen = goldsmith(capsys, "judge", "estimate", file, "--judge", JUDGE, "--protocol", PAPER.name)
    assert [one["protocol"] for one in foreseen["protocols"]] == [
        one.name for one in PAPER.protocols if one.judge
    ]
    assert not llmock.requests
    bodies: list[str] = []
    project = Project.open(file)
    asked = judge_cases.cases(project, RunRequest(JUDGE, "deepscholar.nuggets"))
    ids = list(dict.fromkeys(case.unit.id for case in asked))
    project.close()
    for protocol in PAPER.protocols:
        if protocol.judge is not None:
            always(llmock, protocol.name, nuggets=ids)
            ended = goldsmith(capsys, "judge", "run", file, "--judge", JUDGE, "--protocol", protocol.name)
            assert (ended["state"], ended["done"]) == ("done", ended["total"])
            bodies += [canonical_json(one.body) for one in llmock.requests]
    # A question that others spare is not asked, and none is asked twice.
    assert 0 < len(bodies) <= foreseen["sum"]["calls"] < foreseen["sum"]["units"] * 2
    assert len(bodies) == len(set(bodies))
    result = table(capsys, file)
    figures = [result["base", metric]["value"] for metric in HERE]
    # The first of two is always preferred, so each order decides against the other; all else is the best there is.
    assert figures[:5] == [0.5, 1.0, 1.0, 1.0, 1.0]
    lacking = [metric for metric in METRICS if metric not in HERE]
    assert result["base", "overall"]["value"] == (None if lacking else pytest.approx(0.5 ** (1 / 7)))
    assert all(metric in result["base", "overall"]["reason"] for metric in lacking)
    assert result[HUMAN, "overall"]["value"] == pytest.approx(0.5**0.2)
    # Nothing on arXiv is named there.
    assert result["scholar", "relevance_rate"]["value"] == 0.0
    released = table(capsys, file, "--choose", "reading=released")
    assert released["base", "relevance_rate.released"]["value"] == 2.0
    assert released[HUMAN, "overall"]["value"] is not None


def test_a_whole_paper_is_one_order_with_one_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "project.goldsmith"
    imported(capsys, file, benchmark(tmp_path / "benchmark"))
    of = ("--judge", JUDGE, "--protocol", PAPER.name)
    with at_work(CountingServer()) as server:
        judges.add(project := Project.open(file), JUDGE, base_url=server.url, model="test-model")
        project.close()
        before = goldsmith(capsys, "judge", "estimate", file, *of)
        # Sentences are not drawn yet.
        assert "Sentences that their sources bear out (" in before["left_out"]
        draw_all(capsys, file)
        foreseen = goldsmith(capsys, "judge", "estimate", file, *of)
        assert foreseen["left_out"] == ""
        assert server.told == []
        ended = goldsmith(capsys, "judge", "run", file, *of)
    each = [one["protocol"] for one in foreseen["protocols"]]
    assert each == [one.name for one in PAPER.protocols if one.judge]
    assert (ended["state"], ended["done"], ended["not_asked"]) == ("done", foreseen["sum"]["units"], 0)
    assert len(server.told) == ended["calls"] <= foreseen["sum"]["calls"]
    assert ended["calls"] == pytest.approx(foreseen["sum"]["calls"], rel=0.2)
    assert sum(one.asked for one in server.told) == pytest.approx(foreseen["sum"]["tokens_input"], rel=0.2)
    runs = goldsmith(capsys, "judge", "runs", file)["runs"]
    assert [one["protocol"] for one in runs if one["judge"] == JUDGE][::-1] == each


def asked_of(file: Path, llmock: LLMock) -> None:
    judges.add(project := Project.open(file), JUDGE, base_url=llmock.base_url(), model="gpt-4o-mini")
    project.close()


def always(llmock: LLMock, protocol: str, nuggets: Sequence[str] = ()) -> None:
    """The server says the same to whatever a protocol asks, and forgets what it was asked before.

    Of `nuggets`, by their ids, it says the same of each.
    """
    llmock.reset()
    told: dict[str, Any] = SAYS[protocol]
    if nuggets and protocol == "deepscholar.nuggets":
        told = {"answers": [told | {"id": one} for one in nuggets]}
    llmock.reply(json.dumps(told), times=None)
