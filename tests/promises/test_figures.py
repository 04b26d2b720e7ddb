"""What Goldsmith promises about figures."""

import asyncio
import json
import random
import re
from pathlib import Path

import pytest
from rich.console import ConsoleDimensions
from scipy.stats import binom

from annotator.actions.authoring.value_figures import ComparedField, of_pairs
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.judges.judges import BASELINE
from annotator.actions.material import extracting
from annotator.actions.papers import paper_tables
from annotator.actions.project.file import Project
from annotator.actions.results import results, scoring
from annotator.actions.results.scoring import Score
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.validation import corrected_sheets, validation
from annotator.cli import run_command, saying
from annotator.domain.judges.protocol import Material, Over, Protocol, RatedResponse
from annotator.domain.judges.scale import Level, Scale, numbers
from annotator.domain.kinds.artifact import Anchor
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.material.keypoints import KeyPoint, KeyPoints
from annotator.domain.material.part import ResponsePart
from annotator.domain.material.response import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.protocols import PROTOCOLS
from tests.material import drawn_extracts
from tests.projects import adra_project as adra
from tests.projects.labelled_protocols import one_item, reports, seal
from tests.projects.labelling_project import add_report
from tests.projects.validation_project import judge_says, person_says, validation_project

PATTERNS, ITEMS = 500, 6
JUDGED = [name for name, shape in PROTOCOLS.items() if shape.values and shape.metrics]


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
    shape = PROTOCOLS[protocol]
    found = []
    for at_hand in materials.each(project, materials.for_judging(shape), materials.item_ids(project)):
        for material in at_hand.responses:
            units = [unit.id for case in shape.cases(material) for unit in case.units]
            if units:
                found.append((material, units))
    return found


def answers(
    shape: Protocol, material: Material, units: list[str], share: float, chance: random.Random
) -> RatedResponse:
    """Values drawn by chance for a response, of which a share is missing."""
    said, back = (
        {unit: chance.choice(shape.values) for unit in units if chance.random() > share} for _ in range(2)
    )
    return RatedResponse(material, said, back if shape.paired else {})


@pytest.mark.parametrize("protocol", JUDGED)
def test_no_pattern_of_missing_judgements_puts_a_value_outside_its_bounds(
    protocol: str, project: Project
) -> None:
    shape, chance = PROTOCOLS[protocol], random.Random(protocol)
    asked = units_asked(project, protocol)
    assert asked
    widened = 0
    for _ in range(PATTERNS):
        share = chance.random()
        said = [answers(shape, *chance.choice(asked), share, chance) for _ in range(ITEMS)]
        for metric in (one for one in shape.metrics if one.over is Over.RESPONSE):
            found = [metric.score(scored, True) for scored in said]
            scores = [
                Score(str(item), "s", metric.name, (), one, "", 1, "", 0) for item, one in enumerate(found)
            ]
            (shown,) = results.estimates(scores, ["s"], metric.within)
            if shown.value is not None:
                assert shown.floor is not None
                assert shown.ceiling is not None
                assert shown.floor <= shown.value <= shown.ceiling, (metric.name, shown)
                widened += shown.floor < shown.value < shown.ceiling
    assert widened


@pytest.mark.parametrize(
    "protocol", [name for name in JUDGED if any(one.pooled for one in PROTOCOLS[name].metrics)]
)
def test_no_pattern_of_missing_judgements_puts_a_pooled_value_outside_its_bounds(
    protocol: str, project: Project
) -> None:
    shape, chance = PROTOCOLS[protocol], random.Random(protocol)
    asked = units_asked(project, protocol)
    for _ in range(PATTERNS // 3):
        share = chance.random()
        pools = [
            [answers(shape, *chance.choice(asked), share, chance) for _ in range(ITEMS)] for _ in range(2)
        ]
        for metric in (one for one in shape.metrics if one.pooled is not None):
            found = scoring.mean_of_raters(
                {str(place): metric.pooled(pool, True) for place, pool in enumerate(pools)}
            )
            assert found.value is not None or found.note
            if found.value is not None and found.floor is not None and found.ceiling is not None:
                assert found.floor <= found.value <= found.ceiling, (metric.name, found)


def measured(folder: Path, count: int) -> str:
    """A project of so many items, on every second of which the system's plan finds all."""
    made = adra.adra_project(folder, count)
    for place, item in enumerate(items.ids(made)):
        row = [1, 1, 1, 1] if place % 2 else [0, 0, 0, 0]
        adra.fill_matrix(made, item, adra.response_of(item), [row, row, row])
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
    found = BOUNDS.findall(words)
    assert "±" not in words
    assert bool(found) == (rough is not None), words
    for low, high, mark in found:
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
    for name, found in of_pairs(field, pairs, [str(n % apart) for n in range(36)]):
        if name == "pearson":
            assert (found.low is None) == (apart == 2)
            assert sort in found.note
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
    assert corrected_sheets.rank(Estimate(5.0, 1.0, 5.0, n=5)).words == "5 (1–5)"
    assert corrected_sheets.rank(Estimate(2.5, n=5, note="few")).words == "2.5"
