"""Two whole projects by commands alone: seminars to a release of ranked tasks, and related work of two papers."""

import csv
import json
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from annotator.actions.judges import judges
from annotator.actions.project.file import Project
from annotator.cli import run_command
from annotator.protocols import papers
from annotator.protocols.deepscholar.overall import METRICS
from tests.judging.odd_server import OddServer, at_work
from tests.material import related_work
from tests.servers import rule_model
from tests.servers.served import CountingServer

UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}")
# What of a release is not the same when it comes from the project that imported it: the title, and what follows.
APART = {"SHA256SUMS", "README.md", "manifest.json"}
TALKS = {
    "quakes.vtt": """WEBVTT

00:00:01.000 --> 00:00:06.000
<v Ann>Good morning to all of you, we begin with what the networks miss.

00:00:06.500 --> 00:00:14.000
<v Ben>The blind zone around the epicentre is still an unsolved problem for every network of stations.

00:00:14.500 --> 00:00:22.000
<v Ann>We propose a framework that listens to the motion sensors of telephones near the fault.
""",
    "heat.srt": """1
00:00:01,000 --> 00:00:05,000
林老师: 各位早上好，今天谈城市的夏天。

2
00:00:05,500 --> 00:00:12,000
王老师: 行道树在夜间怎样影响街道温度，至今仍是未解决的问题。

3
00:00:12,500 --> 00:00:20,000
林老师: 我们提出一种方法，用公交车上的传感器测量街道温度。

4
00:00:20,500 --> 00:00:24,000
王老师: 谢谢各位，下次再谈。
""",
}
PAGES = {
    "en": "The framework listens to motion sensors of telephones. Nobody builds stations in deserts anymore.",
    "zh": "公交车上的传感器测量街道温度。行道树在夜间影响街道温度。沙漠里没有车站。",
}
PEOPLE = {"Ada": "annotator", "Ben": "annotator", "Cleo": "adjudicator"}
POINTS = """item,checkpoint,weight
heat-t01,来源：列出每项研究的出处,0.5
heat-t01,表格：按要求给出一张表格,0.3
heat-t01,空白：指出尚未研究的问题,0.2
heat-t02,数据：每年的数量有来源,0.5
heat-t02,图表：提交一幅图表,0.3
heat-t02,解释：说明趋势的原因,0.2
"""
BY_PEOPLE = """first,second,winner,confidence,rater
heat-t02,heat-t03,heat-t02,0.95,Ada
heat-t01,heat-t04,heat-t01,0.9,Ada
quakes-t02,quakes-t03,quakes-t02,0.8,Ada
quakes-t04,quakes-t05,quakes-t04,0.7,Ben
heat-t05,heat-t03,heat-t05,0.85,Ben
"""
PLAIN = {
    "heat-t01": "# 报告\n\n传感器测量街道温度。[1]\n\n[1] https://b.example/phones\n",
    "quakes-t02": "# Report\n\nZones are wide, says a survey [1].\n\n[1] https://a.example/zones\n",
}


class Shell:
    """What a person types at a terminal, on one project; no word of it may be a random id."""

    def __init__(self, folder: Path, url: str, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder, self.url, self.capsys = folder, url, capsys
        self.file = folder / "first" / "project.goldsmith"
        self.file.parent.mkdir()

    def __call__(self, line: str, *more: object, code: int = 0, file: Path | None = None) -> str:
        verb, _, rest = line.partition(" FILE")
        words = [*verb.split(), str(file or self.file), *rest.split(), *map(str, more)]
        assert not any(UUID.search(word.removeprefix(str(self.folder))) for word in words)
        ended = run_command(words)
        out, err = self.capsys.readouterr()
        assert ended == code, out + err
        return out + err

    def tree(self, line: str, *more: object, file: Path | None = None) -> Any:
        return json.loads(self(line, *more, "--json", file=file))

    def write(self, name: str, text: str) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        return path

    def released(self, name: str, file: Path | None = None) -> Path:
        self("export FILE --with-pages --description Invented. --to", self.folder / name, file=file)
        return self.folder / name

    def comes_back_equal(self, *views: str) -> Path:
        """The release, which a new project of the same name takes in, shows alike and releases again.

        Scores are in both releases: only views of what is not among them are shown.
        """
        out, other = self.released("out"), self.folder / "other" / "project.goldsmith"
        other.parent.mkdir()
        self("import FILE", out, file=other)
        again = self.released("again", other)
        one, two = (
            {path.relative_to(each): path.read_bytes() for path in each.rglob("*") if path.is_file()}
            for each in (out, again)
        )
        assert one.keys() == two.keys()
        assert {str(name) for name in one if one[name] != two[name]} <= APART
        for view in views:
            shown = (self("results FILE --view", view, "--json", file=each) for each in (self.file, other))
            assert len(set(shown)) == 1
        return out


@pytest.fixture
def server() -> Iterator[OddServer]:
    with rule_model.going_by_rules() as server:
        yield server


@pytest.fixture
def goldsmith(tmp_path: Path, server: OddServer, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, server.url, capsys)


def people_come(goldsmith: Shell) -> None:
    goldsmith("judge add FILE --name model --model careful --base-url", goldsmith.url)
    for name, role in PEOPLE.items():
        goldsmith(f"people add FILE --name {name} --alias {name} --role {role}")


def seminars_become_tasks(goldsmith: Shell) -> None:
    """Ada and Ben each take what the model drafts, blind; where both have the same, Cleo confirms it."""
    for name, talk in TALKS.items():
        goldsmith.write(f"talks/{name}", talk)
    assert "2 items, 2 sources" in goldsmith("import FILE --pseudonyms", goldsmith.folder / "talks")
    people_come(goldsmith)
    by = "--annotator Ada --annotator Ben --adjudicator Cleo"
    goldsmith(f"assign FILE --stage inspirations --stage tasks {by}")
    for kind in ("inspirations", "tasks"):
        for name in ("Ada", "Ben"):
            goldsmith(f"draft ask FILE --judge model --kind {kind} --item quakes --item heat --as {name}")
            assert f"{kind} of item quakes" in goldsmith(f"draft list FILE --as {name}")
            for key in ("quakes", "heat"):
                goldsmith(f"draft take FILE {key} --as {name}")
            goldsmith(f"authoring submit FILE --as {name}")
        goldsmith("adjudicate FILE --auto-unanimous --share 0 --as Cleo")
    assert "Nothing waits for you" in goldsmith("adjudicate FILE --as Ada")


def tasks_are_ranked(goldsmith: Shell) -> None:
    """The ratings are those that anyone computes of the exported matches."""
    assert "40 calls" in goldsmith("contest run FILE --judge model --rounds 4 --estimate")
    goldsmith("contest run FILE --judge model --rounds 4")
    goldsmith("contest import FILE", goldsmith.write("people.csv", BY_PEOPLE))
    matches = goldsmith.folder / "matches.csv"
    goldsmith("contest export FILE --rater model --to", matches)
    elo: dict[str, float] = {}
    with matches.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            one, two = (elo.get(row[name], 1200.0) for name in ("first", "second"))
            sure = float(row["confidence"])
            won = sure if row["winner"] == row["first"] else 1 - sure
            gain = 32 * (won - 1 / (1 + 10 ** ((two - one) / 400)))
            elo |= {row["first"]: one + gain, row["second"]: two - gain}
    shown = goldsmith.tree("contest standings FILE --rater model")["standings"]
    assert {one["key"]: one["elo"] for one in shown} == pytest.approx(elo, abs=0.001)
    assert goldsmith.tree("contest standings FILE --rater people")["matches"] == 5
    goldsmith("contest hold FILE quakes-t01 --reason", "Is answered already.")
    kept = goldsmith.tree("contest keep FILE --top 4 --per-seminar 2 --rater people")
    assert (
        sorted(kept["items"]) == sorted(kept["kept"]) == ["heat-t01", "heat-t02", "quakes-t02", "quakes-t04"]
    )
    assert kept["held_back"]["heat-t05"] == "2 of the seminar heat are kept already"


def checklists_are_settled(goldsmith: Shell) -> None:
    """Two are typed into tables by Ada and Ben, who differ in one point; two are drafted by the model."""
    by = "--annotator Ada --annotator Ben --adjudicator Cleo"
    items = "--item heat-t01 --item heat-t02 --item quakes-t02 --item quakes-t04"
    goldsmith(f"assign FILE --stage checklist {items} {by}")
    for name, points in (("Ada", POINTS), ("Ben", POINTS.replace("原因", "起因"))):
        goldsmith(f"import FILE --author {name}", goldsmith.write(f"{name}.csv", points))
        goldsmith(
            f"draft ask FILE --judge model --kind checklist --as {name} --item quakes-t02 --item quakes-t04"
        )
        goldsmith(f"draft take FILE quakes-t02 --as {name}")
        goldsmith(f"draft take FILE quakes-t04 --as {name}")
        goldsmith(f"authoring submit FILE --as {name}")
    goldsmith("adjudicate FILE --auto-unanimous --share 0 --as Cleo")
    shown = goldsmith("adjudicate FILE --item heat-t02 --as Cleo")
    assert re.search(r"3\. undecided\n  A: 解释：说明趋势的.因\n  B: 解释：说明趋势的.因", shown)
    said = goldsmith("adjudicate FILE --item heat-t02 --take A --as Cleo", code=1)
    assert "Row 3 needs a reason." in said
    said = goldsmith("adjudicate FILE --item heat-t02 --take 4=A --as Cleo", code=1)
    assert "There is no row 4" in said
    goldsmith("adjudicate FILE --item heat-t02 --take A --reason wording --as Cleo")
    assert "consensus (4 items)" in goldsmith("gold FILE")


def systems_answer(goldsmith: Shell) -> None:
    for system in ("careful", "hasty"):
        goldsmith(f"respond FILE --system {system} --model {system} --base-url", goldsmith.url)
    for key, text in PLAIN.items():
        goldsmith.write(f"reports/plain/{key}.md", text)
    goldsmith("import FILE", goldsmith.folder / "reports")
    # The careful model has seen these tasks.
    for one in goldsmith.tree("items list FILE")["items"]:
        for at, mark in enumerate(one["question"]):
            if mark in ".,:。，：":
                rule_model.REST[one["question"][:at]] = one["question"][at:]
    for system in ("careful", "hasty"):
        goldsmith(f"respond FILE --system {system} --mode continuation")
    pages = goldsmith.tree("sources list FILE --every")["pages"]
    assert [page["url"] for page in pages if page["state"] == "not fetched"] == sorted(
        rule_model.ADDRESS.values()
    )
    lines = ["url,file", *(f"{rule_model.ADDRESS[of]},{of}.txt" for of in PAGES)]
    goldsmith.write("pages/pages.csv", "\n".join(lines))
    for of, text in PAGES.items():
        goldsmith.write(f"pages/{of}.txt", text)
    goldsmith("sources import FILE", goldsmith.folder / "pages")


def test_seminars_become_a_release_of_ranked_tasks_and_their_scores(goldsmith: Shell) -> None:
    seminars_become_tasks(goldsmith)
    tasks_are_ranked(goldsmith)
    checklists_are_settled(goldsmith)
    systems_answer(goldsmith)
    goldsmith("judge extract FILE --judge model --extraction arena.keypoints.extract")
    goldsmith("judge confirm FILE --extraction arena.keypoints.extract")
    goldsmith("judge pool FILE")
    for protocol in ("arena.keypoints", "arena.keypoints.common", "arena.checklist"):
        goldsmith(f"judge run FILE --judge model --protocol {protocol}")
    out = goldsmith.comes_back_equal("contest", "leakage")
    reports = {
        path.stem: [load for load in json.loads(path.read_text("utf-8")) if load["mode"] == "end-to-end"]
        for path in (out / "responses").glob("*.json")
    }
    figures = {
        (row["metric"], row["system"]): row["value"]
        for protocol in ("arena.checklist", "arena.keypoints")
        for row in goldsmith.tree(f"results FILE --by all --protocol {protocol}")["rows"]
    }
    for system, texts in reports.items():
        assert figures["ace", system] == pytest.approx(fmean(rule_model.rating(one["text"]) for one in texts))
        for metric, relation in (("ksr", "supports"), ("kcr", "contradicts"), ("kor", "omits")):
            shares = []
            for text in (one["text"] for one in texts):
                points = rule_model.sentences(PAGES["en" if rule_model.ADDRESS["en"] in text else "zh"])
                shares.append(fmean(rule_model.related(point, text) == relation for point in points))
            assert figures[metric, system] == pytest.approx(fmean(shares))
    assert min(figures["ksr", "careful"], figures["kcr", "hasty"]) > 0
    leaks = {
        one["system"]: one["leakage_leaked"]
        for one in goldsmith.tree("results FILE --view leakage")["sheets"][0]["rows"]
    }
    assert (leaks["careful"], leaks["hasty"]) == (1, 0)
    ratings, matches, decisions = (
        json.loads((out / f"contest_{name}.json").read_text("utf-8"))
        for name in ("ratings", "matches", "decisions")
    )
    assert len(matches) == 20 * 2 + 5
    assert {rating["rater"] for rating in ratings} >= {"Ada", "Ben", "people"}
    assert {decision["task"]: decision["reason"] for decision in decisions}[
        "quakes-t01"
    ] == "Is answered already."


def longer_than_exemplars(release: Path, system: str) -> float:
    """In how many of its reports a system writes more than people did on the same paper."""
    reports = {
        (path.stem, one["item_id"]): one["text"]
        for path in (release / "responses").glob("*.json")
        for one in json.loads(path.read_text("utf-8"))
    }
    people = {item: text for (name, item), text in reports.items() if "xemplar" in name}
    mine = {item: text for (name, item), text in reports.items() if name == system}
    return fmean(len(text) > len(people[item]) for item, text in mine.items())


def test_papers_become_a_release_of_related_work_and_its_table(goldsmith: Shell) -> None:
    goldsmith("import FILE --format deepscholar", related_work.write(goldsmith.folder / "benchmark"))
    goldsmith(f"judge add FILE --name model --model careful --base-url {goldsmith.url}")
    goldsmith("people add FILE --name Ada --alias Ada --role annotator")
    goldsmith("people add FILE --name Cora --alias Cora --role coordinator")
    _, second = sorted(one["key"] for one in goldsmith.tree("items list FILE")["items"])
    goldsmith(f"draft ask FILE --judge model --kind nuggets --item {second} --as Ada")
    goldsmith(f"draft take FILE {second} --as Ada")
    goldsmith(f"authoring submit FILE {second} --as Ada")
    goldsmith("respond FILE --system writer --judge model")
    counts = "identifier,title,cited_by_count,counted_on\narXiv:2001.00001,Oaks,7,2026-01-02\n"
    goldsmith("sources works FILE --from", goldsmith.write("works.csv", counts))
    for name in ("deepscholar.sentences", "adra.references"):
        goldsmith(f"judge extract FILE --judge baseline --extraction {name}")
    protocols = [protocol for protocol in papers()[2].protocols if protocol.judge]
    for protocol in sorted(protocols, key=lambda protocol: not protocol.name.endswith("_importance")):
        goldsmith(f"judge run FILE --judge model --protocol {protocol.name}")
        if protocol.name.endswith("reference_importance"):
            goldsmith(f"labels into-gold FILE {protocol.name} --rater model --as Cora")
    rows = goldsmith.tree("results FILE --view deepscholar")["sheets"][0]["rows"]
    result = {(row["system"], row["metric"]): row["value"] for row in rows}
    # It cites the one important reference of each paper, and no other; the longer section is the better organized.
    assert {result["writer", name] for name in ("reference_coverage", "relevance_rate")} == {1}
    told = goldsmith.tree("results FILE --by all --protocol deepscholar.organization")["rows"]
    organized = {row["system"]: row["value"] for row in told if row["metric"] == "organization"}
    out = goldsmith.comes_back_equal("deepscholar")
    for system in ("writer", "base"):
        assert organized[system] == longer_than_exemplars(out, system)
    assert result["writer", "document_importance"] is not None
    assert "0 judgements have no verdict" in goldsmith("judge missing FILE")


(PAPER,) = (paper for paper in papers() if paper.name == "deepscholar")
HERE = [
    name
    for name in METRICS
    if any(name == one.name for protocol in PAPER.protocols for one in protocol.metrics)
]
HUMAN, JUDGE = "Human-written exemplar", "distant"
Figures = dict[tuple[str, str], dict[str, Any]]


def told(capsys: pytest.CaptureFixture[str], *words: object) -> Any:
    assert run_command([*map(str, words), "--json"]) in (0, 3)
    return json.loads(capsys.readouterr().out)


def draw_all(capsys: pytest.CaptureFixture[str], file: Path) -> None:
    for one in PAPER.extractions:
        if one.baseline is not None:
            told(capsys, "judge", "extract", file, "--judge", "baseline", "--extraction", one.name)


def benchmark(folder: Path) -> Path:
    """The made benchmark with who is important, so that every figure can be computed."""
    related_work.write(folder)
    related_work.table(folder / "important_citations.csv", related_work.CITATIONS[:1])
    return folder


def counted(folder: Path, file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"identifier": "arXiv:2001.00001", "title": "Oaks", "cited_by_count": "7", "counted_on": "2026-01-02"}
    ]
    related_work.table(folder / "works.csv", rows)
    told(capsys, "sources", "works", file, "--from", folder / "works.csv")


def table(capsys: pytest.CaptureFixture[str], file: Path, *words: str) -> Figures:
    sheet = told(capsys, "results", file, "--view", "deepscholar", *words)["sheets"][0]
    assert sheet["departures"]
    return {(row["system"], row["metric"]): row for row in sheet["rows"]}


def test_offline_the_baseline_fills_all_that_can_be_told_by_words(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "project.goldsmith"
    told(capsys, "import", file, "--format", "deepscholar", benchmark(tmp_path / "benchmark"))
    counted(tmp_path, file, capsys)
    draw_all(capsys, file)
    for protocol in PAPER.protocols:
        if protocol.baseline is not None:
            ended = told(capsys, "judge", "run", file, "--judge", "baseline", "--protocol", protocol.name)
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
    printed = capsys.readouterr().out
    assert "Differences from the paper:" in printed
    assert "Overall is undefined" in printed
    assert "counted on 2026-01-02" in result["base", "document_importance"]["value_note"]


def test_a_whole_paper_is_one_order_with_one_estimate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "project.goldsmith"
    told(capsys, "import", file, "--format", "deepscholar", benchmark(tmp_path / "benchmark"))
    of = ("--judge", JUDGE, "--protocol", PAPER.name)
    with at_work(CountingServer()) as server:
        judges.add(project := Project.open(file), JUDGE, base_url=server.url, model="test-model")
        project.close()
        before = told(capsys, "judge", "estimate", file, *of)
        # Sentences are not drawn yet.
        assert "Sentences that their sources bear out (" in before["left_out"]
        draw_all(capsys, file)
        foreseen = told(capsys, "judge", "estimate", file, *of)
        assert foreseen["left_out"] == ""
        assert server.told == []
        ended = told(capsys, "judge", "run", file, *of)
    each = [one["protocol"] for one in foreseen["protocols"]]
    assert each == [one.name for one in PAPER.protocols if one.judge]
    assert (ended["state"], ended["done"], ended["not_asked"]) == ("done", foreseen["sum"]["units"], 0)
    assert len(server.told) == ended["calls"] <= foreseen["sum"]["calls"]
    assert ended["calls"] == pytest.approx(foreseen["sum"]["calls"], rel=0.2)
    assert sum(one.asked for one in server.told) == pytest.approx(foreseen["sum"]["tokens_input"], rel=0.2)
    runs = told(capsys, "judge", "runs", file)["runs"]
    assert [one["protocol"] for one in runs if one["judge"] == JUDGE][::-1] == each
