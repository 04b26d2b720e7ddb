"""What Goldsmith promises about figures, shown and released."""

import asyncio
import csv
import io
import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from rich.console import ConsoleDimensions
from scipy.stats import binom

from annotator.actions.authoring.comparing import ComparedField, of_pairs
from annotator.actions.imports import imports
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.judges.judges import BASELINE
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_sealing
from annotator.actions.material import extracting
from annotator.actions.papers import paper_tables
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import releases
from annotator.actions.results import result_raters, results, scoring
from annotator.actions.results.result_raters import CONSENSUS, PERSON_KEY
from annotator.actions.results.scoring import Score
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import rubric_views
from annotator.actions.validation import corrected, validation
from annotator.cli import run_command, saying
from annotator.domain.judges.protocol import Level, Material, Over, Protocol, RatedResponse, Scale, numbers
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.material.part import KeyPoint, KeyPoints, ResponsePart
from annotator.domain.texts.estimate import Estimate
from annotator.exchange.release import release, tables_csv
from annotator.protocols import COMPOSITES, PROTOCOLS
from tests.material import drawn_extracts
from tests.projects import adra_project as adra
from tests.projects import generated_project as generated
from tests.projects.labelled_protocols import one_item, reports, seal
from tests.projects.labelling_project import add_report
from tests.projects.pairs_project import work_as
from tests.projects.small_project import small_project
from tests.projects.validation_project import judge_says, person_says, validation_project

PATTERNS, ITEMS = 500, 6
JUDGED = [name for name, protocol in PROTOCOLS.items() if protocol.values and protocol.metrics]


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Project:
    """One item with what every protocol asks for: also nuggets, two texts that people wrote, and works on arXiv."""
    made = one_item(tmp_path_factory.mktemp("figures"))
    (item_id,) = items.ids(made)
    nuggets = (Nugget(text=f"Fact {n}.", importance="vital" if n < 3 else "okay") for n in range(4))
    seal(made, item_id, Nuggets(units=tuple(nuggets)))
    points = (CheckPoint(text=f"Point {share}.", share=share) for share in (0.5, 0.3, 0.2))
    seal(made, item_id, Checklist(units=tuple(points)))
    works = Evidence(
        units=tuple(Reference(text=f"Work {n}", identifier=f"arXiv:2001.0000{n}") for n in range(1, 4))
    )
    for response_id in reports(made):
        drawn_extracts.write(made, response_id, ResponsePart.REFERENCES, works)
        points = (KeyPoint(id=f"k{n}", text=f"Point {n}.", anchor=Anchor(quote="So.")) for n in range(5))
        key_points = KeyPoints(units=tuple(points))
        for part in (ResponsePart.KEYPOINTS, ResponsePart.POOL):
            drawn_extracts.write(made, response_id, part, key_points)
    add_report(made, item_id, "People", "Attribution ties claims to sources.", EXEMPLAR)
    add_report(made, item_id, "Others", "Sources are tied to claims.", EXEMPLAR)
    add_report(made, item_id, "Citing", "Claims have sources [1]. Others too [2]. And [3] says so.")
    asyncio.run(extracting.run(made, RunRequest(BASELINE.name, "deepscholar.sentences")))
    return made


def ordered(level: Level) -> Scale:
    """A scale of 0, 1 and 2."""
    return numbers(0, 2, level=level)


def units_asked(project: Project, protocol: str) -> list[tuple[Material, list[str]]]:
    """Each response of the project, with the units that a rater is asked about under a protocol."""
    definition = PROTOCOLS[protocol]
    result = []
    for at_hand in materials.each(project, materials.for_judging(definition), materials.item_ids(project)):
        for material in at_hand.responses:
            units = [unit.id for case in definition.cases(material) for unit in case.units]
            if units:
                result.append((material, units))
    return result


def answers(
    protocol: Protocol, material: Material, units: list[str], share: float, chance: random.Random
) -> RatedResponse:
    """Values drawn by chance for a response, of which a share is missing."""
    said, back = (
        {unit: chance.choice(protocol.values) for unit in units if chance.random() > share} for _ in range(2)
    )
    return RatedResponse(material, said, back if protocol.paired else {})


@pytest.mark.parametrize("protocol", JUDGED)
def test_no_pattern_of_missing_judgements_puts_a_value_outside_its_bounds(
    protocol: str, project: Project
) -> None:
    definition, chance = PROTOCOLS[protocol], random.Random(protocol)
    asked = units_asked(project, protocol)
    assert asked
    widened = 0
    for _ in range(PATTERNS):
        share = chance.random()
        said = [answers(definition, *chance.choice(asked), share, chance) for _ in range(ITEMS)]
        for metric in (one for one in definition.metrics if one.over is Over.RESPONSE):
            result = [metric.score(scored, True) for scored in said]
            scores = [
                Score(str(item), "s", metric.name, (), one, "", 1, "", 0) for item, one in enumerate(result)
            ]
            (shown,) = results.estimates(scores, ["s"], metric.within)
            if shown.value is not None:
                assert shown.floor is not None
                assert shown.ceiling is not None
                assert shown.floor <= shown.value <= shown.ceiling, (metric.name, shown)
                widened += shown.floor < shown.value < shown.ceiling
    assert widened


@pytest.mark.parametrize("protocol", JUDGED)
def test_a_value_that_no_scale_has_is_refused_instead_of_counted(protocol: str, project: Project) -> None:
    (metric, *_), (material, units) = PROTOCOLS[protocol].metrics, units_asked(project, protocol)[0]
    foreign = dict.fromkeys(units, "perhaps")
    with pytest.raises(ValueError, match="perhaps"):
        metric.score(RatedResponse(material, foreign, foreign), True)


@pytest.mark.parametrize(
    "protocol", [name for name in JUDGED if any(one.pooled for one in PROTOCOLS[name].metrics)]
)
def test_no_pattern_of_missing_judgements_puts_a_pooled_value_outside_its_bounds(
    protocol: str, project: Project
) -> None:
    definition, chance = PROTOCOLS[protocol], random.Random(protocol)
    asked = units_asked(project, protocol)
    for _ in range(PATTERNS // 3):
        share = chance.random()
        pools = [
            [answers(definition, *chance.choice(asked), share, chance) for _ in range(ITEMS)]
            for _ in range(2)
        ]
        for metric in (one for one in definition.metrics if one.pooled is not None):
            result = scoring.mean_of_raters(
                {str(place): metric.pooled(pool, True) for place, pool in enumerate(pools)}
            )
            assert result.value is not None or result.note
            if result.value is not None and result.floor is not None and result.ceiling is not None:
                assert result.floor <= result.value <= result.ceiling, (metric.name, result)


def measured(folder: Path, count: int) -> str:
    """A project of so many items, on every second of which the system's plan finds all."""
    made = adra.adra_project(folder, count)
    for place, question in enumerate(items.ids(made)):
        row = [1, 1, 1, 1] if place % 2 else [0, 0, 0, 0]
        adra.fill_matrix(made, question, adra.response_of(question), [row, row, row])
    made.close()
    return str(folder / "adra.goldsmith")


def said(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    assert run_command(list(words)) == 0
    return capsys.readouterr().out


BOUNDS = re.compile(r"\[(−?\d\.\d+), (−?\d\.\d+)\]( rough)?")


@pytest.mark.parametrize(("count", "rough"), [(2, None), (4, None), (5, True), (9, True), (10, False)])
@pytest.mark.parametrize("view", ["", "overview", "domains"])
def test_an_interval_is_absent_below_five_items_and_rough_below_ten(
    view, count, rough, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(saying.said, "size", ConsoleDimensions(200, 50))
    file = measured(tmp_path, count)
    chosen = ["--view", view] if view else ["--by", "all"]
    chosen += ["--choose", "by=question_type"] if view == "domains" else []
    words = said(capsys, "results", file, "--metric", "plan.recall", *chosen)
    result = BOUNDS.findall(words)
    assert "±" not in words
    assert bool(result) == (rough is not None), words
    for low, high, mark in result:
        assert 0 <= float(low.replace("−", "-")) <= float(high.replace("−", "-")) <= 1
        assert bool(mark) == rough, words


def test_the_papers_offsets_are_an_option_of_files(tmp_path: Path, capsys) -> None:
    file, to = measured(tmp_path, 10), tmp_path / "figures.json"
    words = ("results", file, "--view", "domains", "--metric", "plan.recall", "--to", str(to))
    said(capsys, *words)
    assert ", minus" not in to.read_text("utf-8")
    said(capsys, *words, "--offsets")
    row = json.loads(to.read_text("utf-8"))["rows"][0]
    value, low, minus = row["system_alpha"], row["system_alpha_low"], row["system_alpha_minus"]
    assert minus == pytest.approx(low - value)


def test_a_table_as_printed_has_the_papers_interval_and_says_so(tmp_path: Path) -> None:
    made = validation_project(tmp_path, questions=12)
    judge_says(made, "dear", lambda at: "yes" if at[0] < 10 else "no")
    judge = judges.named(made, "dear").id
    (sheet,) = paper_tables.report(made, "systems", judge)
    printed = next(cell.estimate for cell in sheet.lines[0].cells if cell.estimate is not None)
    own = next(row.estimate for row in results.rows(made, judge, "researcherbench.coverage"))
    assert printed.value == own.value == 9 / 12
    # A mean of twelve scores, nine of which are 1 and three 0, is a binomial share when it is drawn anew.
    assert (
        (printed.low, printed.high) == tuple(binom.ppf((0.025, 0.975), 12, 0.75) / 12) != (own.low, own.high)
    )
    assert "percentiles of 10,000 bootstrap means" in printed.method + " ".join(sheet.told)


def test_where_labels_of_several_people_are_pooled_n_counts_units(tmp_path: Path) -> None:
    made = validation_project(tmp_path, questions=10)
    for alias in ("R1", "R2", "R3"):
        person_says(made, alias, lambda _: "yes")
    judge_says(made, "dear", lambda at: "yes" if at[2] == 1 else "no")
    line = validation.report(made, validation.ValidationQuery()).of("dear")
    # Ten items, two systems and two criteria; each unit has three people's labels.
    assert line.units == line.told.plain["accuracy"].n == 40
    assert "120 pairs of values on 40 units" in line.told.plain["accuracy"].note


@pytest.mark.parametrize(
    "field",
    [
        ComparedField("share", Level.INTERVAL),
        ComparedField("rating", Level.ORDINAL, (0, 1, 2, 3, 4), correlated=True),
    ],
)
@pytest.mark.parametrize(("apart", "sort"), [(2, "too few"), (6, "rough"), (12, "")])
def test_a_correlation_of_pairs_has_an_interval_only_over_enough_items(
    field: ComparedField, apart: int, sort: str
) -> None:
    pairs = [(n % 5, (n + n % 3) % 5) for n in range(36)]
    for name, result in of_pairs(field, pairs, [str(n % apart) for n in range(36)]):
        if name == "pearson":
            assert (result.low is None) == (apart == 2)
            assert sort in result.note
    alone = dict(of_pairs(field, pairs))["pearson"]
    assert alone.low is not None


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(
    "field",
    [
        ComparedField("type", Level.NOMINAL, ("a", "b", "c"), always_ac1=True),
        ComparedField("rating", Level.ORDINAL, ("0", "1", "2"), correlated=True),
        ComparedField("share", Level.INTERVAL),
        ComparedField("0–2", Level.ORDINAL, ("0", "1", "2"), scale=ordered(Level.ORDINAL)),
        ComparedField("0–2", Level.INTERVAL, ("0", "1", "2"), scale=ordered(Level.INTERVAL)),
    ],
    ids=str,
)
def test_figures_pooled_over_several_raters_do_not_hang_on_who_is_named_first(field: ComparedField) -> None:
    chance = random.Random(1)
    values = field.categories or (0.1, 0.2, 0.7)
    for many in (1, 2, 3, 8, 20):
        drawn = [(chance.choice((*values, None)), values[chance.random() < 0.3]) for _ in range(many)]
        pairs = [
            tuple(
                float(x) if field.level is Level.INTERVAL and not field.scale and x is not None else x
                for x in of
            )
            for of in drawn
        ]
        turned = [(b, a) if chance.random() < 0.5 else (a, b) for a, b in pairs]
        where = [str(place % 6) for place in range(many)]
        one, other = (dict(of_pairs(field, of, where, several=True)) for of in (pairs, turned))
        for name in one:
            for end in ("value", "low", "high"):
                ends = getattr(one[name], end), getattr(other[name], end)
                assert ends[0] == pytest.approx(ends[1], abs=1e-9), (name, many, one[name], other[name])
            assert one[name].n == other[name].n <= many
            assert one[name].value is not None or one[name].note


def test_a_rank_is_written_as_a_rank_among_ranks() -> None:
    assert corrected.rank(Estimate(5.0, 1.0, 5.0, n=5)).words == "5 (1–5)"
    assert corrected.rank(Estimate(2.5, n=5, note="few")).words == "2.5"


COVERAGE = "researcherbench.coverage"
# What a figure is by, and what must be the same of it wherever it stands.
NAMED = ("protocol", "metric", "rater", "system", "group")
SAME = ("value", "low", "high", "n", "missing", "floor", "ceiling", "method", "note", "gold")
Figures = dict[tuple[str, ...], dict[str, Any]]


def differences(project: Project, folder: Path) -> Iterator[str]:
    """Every figure that Results, `scores.json` and `scores.csv` do not say alike; Refusal where nothing is released."""
    releases.export(project, folder / "release")
    scores = _scores(folder / "release")
    bundle, _ = release.read([folder / "release"])
    if scores:
        lines = csv.DictReader(tables_csv.files(bundle)["scores.csv"].decode("utf-8-sig").splitlines())
        yield from _apart("scores.csv", _by_name(scores), _by_name(map(_typed, lines)))
    there = result_raters.everybody_under(project)
    whose = {
        name: [one.name for one in of if one.id != CONSENSUS and not one.id.startswith(PERSON_KEY)]
        for name, of in there.items()
    }
    parts = {one.name: one.of for _, one in COMPOSITES.values()}
    asked = [("--protocol", name, rater) for name, of in whose.items() for rater in of]
    protocol_of = {
        metric.name: protocol.name for protocol in PROTOCOLS.values() for metric in protocol.metrics
    }
    asked += [("--metric", name, rater) for name, of in parts.items() for rater in whose[protocol_of[of[0]]]]
    shown = [row for option, name, rater in asked for row in _shown(project, option, name, rater)]
    yield from _apart("scores.json", _by_name(shown), _by_name(scores))


def _shown(project: Project, option: str, name: str, rater: str) -> list[dict[str, Any]]:
    with redirect_stdout(io.StringIO()) as out:
        assert run_command(["results", str(project.path), option, name, "--rater", rater, "--json"]) == 0
    return json.loads(out.getvalue())["rows"]


def _typed(line: dict[str, str]) -> dict[str, Any]:
    """A line of a table with its numbers, as JSON has them."""
    return {
        name: value if name not in SAME[:7] else float(value) if value else None
        for name, value in line.items()
    }


def _by_name(rows: Iterable[dict[str, Any]]) -> Figures:
    """Figures by what they are called; groups by two things may have one name, and nothing missing leaves no bounds."""
    listed = list(rows)
    alike = defaultdict(set)
    for row in listed:
        alike[tuple(row[name] for name in NAMED)].add(row.get("group_by"))
    result: Figures = {}
    for row in listed:
        name = tuple(row[name] for name in NAMED)
        by = row.get("group_by") if len(alike[name]) > 1 else ""
        bounds = {} if row["missing"] else {"floor": None, "ceiling": None}
        said = {part: row.get(part) for part in SAME} | bounds
        result[*name, by] = {part: None if value == "" else value for part, value in said.items()}
    return result


def _apart(where: str, one: Figures, other: Figures) -> Iterator[str]:
    for name in one.keys() | other.keys():
        if one.get(name) != other.get(name):
            yield f"{where}, {name}: {one.get(name)} and {other.get(name)}"


@pytest.mark.parametrize("seed", range(6))
def test_a_release_says_what_results_say_in_any_state(tmp_path: Path, seed: int) -> None:
    project = generated.generated_project(tmp_path, seed)
    whose = [person.id for person in people.people(work_as(project, "Cora"))]
    label_sealing.submit_all(project, whose, partial=True)
    assert list(differences(project, tmp_path)) == []
    assert _scores(tmp_path / "release") != []
    project.close()


def test_a_release_counts_the_chosen_rubric_set_and_says_so_here_and_where_it_is_imported(
    tmp_path: Path,
) -> None:
    project = small_project(tmp_path)
    rubric_views.keep_set(project, "lax", {"1": Rubric(units=(Criterion(text="Is a report", weight=1),))})
    rubric_views.use(project, "lax")
    asyncio.run(judge_runs.run(project, RunRequest("baseline", COVERAGE)))
    releases.export(project, tmp_path / "out")
    scores = [
        row for row in _scores(tmp_path / "out") if (row["metric"], row["group"]) == ("coverage", "all")
    ]
    assert {row["n"] for row in scores} == {1}
    assert {row["gold"] for row in scores} == {"Rubric: rubric set “lax” (1 item)"}
    assert json.loads((tmp_path / "out" / "manifest.json").read_bytes())["rubric_set"] == "lax"
    assert "the rubric set “lax”" in (tmp_path / "out" / "README.md").read_text("utf-8")
    for here, chosen in (("empty", "lax"), ("begun", "")):
        other = Project.create(tmp_path / f"{here}.goldsmith")
        if here == "begun":
            items.add(other, "A question of one's own?")
        imports.run(other, "goldsmith", [tmp_path / "out"], warm=False)
        assert rubric_views.in_force(other) == chosen
        other.close()
    note = releases.export(project, tmp_path / "papers", "researcherbench").notes[-1]
    assert "not the set “lax”" in note
    releases.export(project, tmp_path / "tables", "csv")
    lines = csv.DictReader((tmp_path / "tables" / "scores.csv").read_text("utf-8-sig").splitlines())
    assert list(_apart("scores.csv", _by_name(_scores(tmp_path / "out")), _by_name(map(_typed, lines)))) == []


def _scores(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "scores.json").read_bytes())
