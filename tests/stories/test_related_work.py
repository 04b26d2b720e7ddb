"""A benchmark of related-work sections from an empty project to its printed table, offline and with a model server."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.protocols import papers
from annotator.protocols.deepscholar.overall import METRICS
from tests.judging.odd_server import at_work
from tests.material import related_work as made
from tests.servers.served import CountingServer

(PAPER,) = (paper for paper in papers() if paper.name == "deepscholar")
HERE = [
    name
    for name in METRICS
    if any(name == one.name for protocol in PAPER.protocols for one in protocol.metrics)
]
HUMAN, JUDGE = "Human-written exemplar", "distant"
Figures = dict[tuple[str, str], dict[str, Any]]


def goldsmith(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    """What a command prints as JSON; some judgements may be missing."""
    assert run_command([*map(str, words), "--json"]) in (0, 3)
    return json.loads(capsys.readouterr().out)


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
    draw_all(capsys, file)
    for protocol in PAPER.protocols:
        if protocol.baseline is not None:
            ended = goldsmith(
                capsys, "judge", "run", file, "--judge", "baseline", "--protocol", protocol.name
            )
            assert (ended["state"], ended["done"]) == ("done", ended["total"])
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
