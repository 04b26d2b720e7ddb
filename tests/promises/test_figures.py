"""What Goldsmith promises about figures, shown and released."""

import asyncio
import csv
import io
import json
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from contextlib import redirect_stdout, suppress
from dataclasses import replace
from itertools import product
from pathlib import Path
from random import Random
from typing import Any

import pytest
from rich.console import ConsoleDimensions
from scipy.stats import binom

from annotator.actions.adjudication import adjudicating, ruling
from annotator.actions.agreement import agreement_report
from annotator.actions.assignments import assignments, planning
from annotator.actions.authoring import annotating, artifacts
from annotator.actions.authoring.comparing import ComparedField, of_pairs
from annotator.actions.imports import imports
from annotator.actions.items import items, materials
from annotator.actions.judges import judges
from annotator.actions.judging import judge_runs
from annotator.actions.labelling import label_sealing, labels
from annotator.actions.material import extracting
from annotator.actions.papers import paper_tables
from annotator.actions.parcels import tray, unpacking
from annotator.actions.project import people
from annotator.actions.project.file import Project
from annotator.actions.releases import gathering, releases
from annotator.actions.results import overview, result_raters, results, scoring
from annotator.actions.results.result_raters import CONSENSUS, EACH, PEOPLE, PERSON_KEY
from annotator.actions.runs.judge_cases import RunRequest
from annotator.actions.studies import question_views, rubric_views
from annotator.actions.undo import history
from annotator.actions.validation import corrected, disagreements, validation
from annotator.cli import run_command, saying
from annotator.domain.common import Refusal, canonical_json
from annotator.domain.experts.adjudication import Reason
from annotator.domain.experts.assignment import ParcelOutcome, Person, Role, Stage
from annotator.domain.experts.sharing import AssignmentPlan
from annotator.domain.judges.protocol import Level, Material, Over, Protocol, RatedResponse, numbers
from annotator.domain.kinds.artifact import Anchor, Kind
from annotator.domain.kinds.checklist import Checklist, CheckPoint
from annotator.domain.kinds.evidence import Evidence, Reference
from annotator.domain.kinds.nuggets import Nugget, Nuggets
from annotator.domain.kinds.rubric import Criterion, Rubric
from annotator.domain.material.extract import KeyPoint, KeyPoints, ResponsePart
from annotator.domain.material.item import EXEMPLAR
from annotator.domain.texts.estimate import Estimate
from annotator.exchange.release import release, tables_csv
from annotator.protocols import COMPOSITES, PROTOCOLS, TAXONOMIES
from tests.material import drawn_extracts
from tests.material.labelled_sections import rated_tasks
from tests.projects import adra_project as adra, small_projects as labelling
from tests.projects.filled_project import KINDS, WORDS, document, generated_project, responses
from tests.projects.pairs_project import (
    ADA,
    BEN,
    COVERAGE,
    add_report,
    item,
    pairs_project,
    person,
    returned,
    rubric,
    submit,
    work_as,
)
from tests.projects.small_projects import one_item, reports, seal, small_project
from tests.projects.validation_project import judge_says, labelled_at_once, validation_project
from tests.storage import sql

PATTERNS, ITEMS, SEEDS = 200, 6, (0, 1, 3)
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
    labelling.add_report(made, item_id, "People", "Attribution ties claims to sources.", EXEMPLAR)
    labelling.add_report(made, item_id, "Others", "Sources are tied to claims.", EXEMPLAR)
    labelling.add_report(made, item_id, "Citing", "Claims have sources [1]. Others too [2]. And [3] says so.")
    asyncio.run(extracting.run(made, RunRequest(judges.BASELINE.name, "deepscholar.sentences")))
    return made


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
                scoring.Score(str(item), "s", metric.name, (), one, "", 1, "", 0)
                for item, one in enumerate(result)
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
    for _ in range(PATTERNS // 2):
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
def test_an_interval_is_absent_below_five_items_and_rough_below_ten(
    count, rough, tmp_path, capsys, monkeypatch
) -> None:
    monkeypatch.setattr(saying.console, "size", ConsoleDimensions(200, 50))
    file = measured(tmp_path, count)
    for shown in ("--by all", "--view overview", "--view domains --choose by=question_type"):
        words = said(capsys, "results", file, "--metric", "plan.recall", *shown.split())
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
    assert "percentiles of 10,000 bootstrap means" in printed.method + " ".join(sheet.notes)


def test_where_labels_of_several_people_are_pooled_n_counts_units(tmp_path: Path) -> None:
    made = validation_project(tmp_path, questions=10)
    for alias in ("R1", "R2", "R3"):
        labelled_at_once(made, alias, lambda _: "yes")
    judge_says(made, "dear", lambda at: "yes" if at[2] == 1 else "no")
    line = validation.report(made, validation.ValidationQuery()).of("dear")
    # Ten items, two systems and two criteria; each unit has three people's labels.
    assert line.units == line.result.plain["accuracy"].n == 40
    assert "120 pairs of values on 40 units" in line.result.plain["accuracy"].note


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
    assert dict(of_pairs(field, pairs))["pearson"].low is not None


@pytest.mark.usefixtures("small_cases")
@pytest.mark.parametrize(
    "field",
    [
        ComparedField("type", Level.NOMINAL, ("a", "b", "c"), always_ac1=True),
        ComparedField("rating", Level.ORDINAL, ("0", "1", "2"), correlated=True),
        ComparedField("share", Level.INTERVAL),
        ComparedField("0–2", Level.ORDINAL, ("0", "1", "2"), scale=numbers(0, 2, level=Level.ORDINAL)),
        ComparedField("0–2", Level.INTERVAL, ("0", "1", "2"), scale=numbers(0, 2, level=Level.INTERVAL)),
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


@pytest.mark.parametrize(
    ("estimate", "words"),
    [(Estimate(5.0, 1.0, 5.0, n=5), "5 (1–5)"), (Estimate(2.5, n=5, note="few"), "2.5")],
)
def test_a_rank_is_written_as_a_rank_among_ranks(estimate: Estimate, words: str) -> None:
    assert corrected.rank(estimate).words == words


def test_where_a_second_author_changes_no_score_nothing_is_said(tmp_path: Path) -> None:
    project = pairs_project(tmp_path)
    assert "scores" not in _hand_out(project)
    submit(project, {"Ada": rubric(ADA, "a")})
    assert _write_too(project) == ""


def tables_of(project: Project, name: str) -> list[Any]:
    return [
        (sheet.key, [[cell.words for cell in line.cells] for line in sheet.lines], sheet.notes)
        for sheet in paper_tables.report(project, name, EACH)
    ]


def figures(project: Project) -> dict[str, Any]:
    work_as(project, "Cora")
    result: dict[str, Any] = {
        f"results by {rater}": [results.plain(row) for row in overview.everything(project, rater)]
        for rater in ("", EACH, PEOPLE)
    }
    for name in paper_tables.TABLES:
        result[name] = _or_why(tables_of, project, name)
    for protocol in ANSWERED:
        query = validation.ValidationQuery(protocol)
        result[f"compare {protocol}"] = repr(_or_why(disagreements.compare, project, protocol))
        result[f"validation {protocol}"] = repr(_or_why(validation.report, project, query))
    result["agreement"] = repr(agreement_report.report(project).rows)
    result["selection"] = repr(question_views.selection_report(project).chosen)
    result["released scores"] = [results.plain(row) for row in overview.released(project)]
    with project.store.read() as db:
        bundle, _ = gathering.gather(db)
        result["released judgements"] = [
            (
                one.protocol,
                one.response_id,
                one.unit_id,
                one.rater_id,
                one.value,
                one.status,
                tuple(one.flags),
            )
            for one in bundle.judgements
        ]
        result["released documents"] = [(one.id, one.revision, one.sha256) for one in bundle.artifacts]
    return result


def _or_why(question: Callable[..., Any], *given: object) -> Any:
    try:
        return question(*given)
    except Refusal as refusal:
        return refusal.happened


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


@pytest.mark.parametrize("seed", SEEDS)
def test_a_release_says_what_results_say_in_any_state(tmp_path: Path, seed: int) -> None:
    project = generated_project(tmp_path, seed)
    whose = [person.id for person in people.people(work_as(project, "Cora"))]
    label_sealing.submit_all(project, whose, partial=True)
    assert list(differences(project, tmp_path)) == []
    assert _scores(tmp_path / "release") != []


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
    assert "not the set “lax”" in releases.export(project, tmp_path / "papers", "researcherbench").notes[-1]
    releases.export(project, tmp_path / "tables", "csv")
    lines = csv.DictReader((tmp_path / "tables" / "scores.csv").read_text("utf-8-sig").splitlines())
    assert list(_apart("scores.csv", _by_name(_scores(tmp_path / "out")), _by_name(map(_typed, lines)))) == []


def _scores(folder: Path) -> list[dict[str, Any]]:
    return json.loads((folder / "scores.json").read_bytes())


ACTS = 40
ANSWERED = ("researcherbench.coverage", "adra.reasoning", "adra.plan")
PEOPLE_HERE = ("Ada", "Ben", "Dan", "Eve", "Cora")


def _one(rng: Random, project: Project, where: str) -> str:
    question = f"SELECT id FROM artifact WHERE kind != 'labels' AND {where} ORDER BY rowid"
    result = sql.rows(project, question, (project.by,) * where.count("?"))
    if not result:
        raise Refusal("There is none.")
    return str(rng.choice(result)[0])


def _begin(rng: Random, project: Project) -> None:
    kind = rng.choice(KINDS)
    artifacts.start(project, rng.choice(items.ids(project)), kind, rng.choice((None, document(rng, kind))))


def _type(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, project, "author_id = ? AND state != 'sealed'")
    units = artifacts.read(project, artifact_id).document.units
    if not units or rng.random() < 0.3:
        artifacts.add_unit(project, artifact_id, text=rng.choice(WORDS))
    else:
        artifacts.save_draft(project, artifact_id, units[0].id, "text", "Half a sent")
        artifacts.change_unit(project, artifact_id, rng.choice(units).id, text=rng.choice(WORDS))


def _empty(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, project, "author_id = ? AND state != 'sealed'")
    for unit in artifacts.read(project, artifact_id).document.units:
        artifacts.remove_unit(project, artifact_id, unit.id)


def _reopen(rng: Random, project: Project) -> None:
    assignments.reopen(project, _one(rng, project, "author_id = ? AND state = 'sealed'"))


def _edit_gold(rng: Random, project: Project) -> None:
    artifact_id = _one(rng, work_as(project, "Cora"), "(author_id = '' OR state = 'consensus')")
    assignments.reopen(project, artifact_id)
    unit = rng.choice(artifacts.read(project, artifact_id).document.units)
    artifacts.change_unit(project, artifact_id, unit.id, text=rng.choice(WORDS))


def _rule_again(rng: Random, project: Project) -> None:
    result = sql.rows(project, "SELECT id FROM adjudication WHERE state = 'closed' ORDER BY rowid")
    if result:
        ruling.reopen(
            work_as(project, "Cleo"), adjudication := str(rng.choice(result)[0]), "It may be otherwise."
        )
        row = rng.choice(adjudicating.sheet(project, adjudication).rows)
        ruling.rule(project, row.ruling.id, "drop", reason=rng.choice(list(Reason)))


def _unit(rng: Random, project: Project) -> tuple[str, str, str]:
    protocol, (_, response_id) = rng.choice(ANSWERED), rng.choice(responses(project) or [("", "")])
    return protocol, response_id, rng.choice(labels.sheet(project, response_id, protocol).units).id


def _label(rng: Random, project: Project) -> None:
    protocol, response_id, unit_id = _unit(rng, project)
    value = rng.choice((*PROTOCOLS[protocol].values, "unsure"))
    labels.set_label(project, response_id, unit_id, value, protocol=protocol)


def _write_beside(rng: Random, project: Project) -> None:
    protocol, response_id, unit_id = _unit(rng, project)
    labels.set_note(project, response_id, unit_id, "As I read it", protocol)
    labels.set_flag(project, response_id, unit_id, rng.random() < 0.5, protocol)
    labels.set_evidence(project, response_id, unit_id, "half", None, None, protocol)


def _give_kind(rng: Random, project: Project) -> None:
    protocol, response_id, unit_id = _unit(rng, project)
    one = rng.choice([one for one in TAXONOMIES.values() if one.of == protocol] or list(TAXONOMIES.values()))
    label_sealing.give(project, response_id, unit_id, one.name, rng.choice(("", *one.values)))


def _reopen_labels(rng: Random, project: Project) -> None:
    label_sealing.reopen(project, rng.choice(items.ids(project)))


def _take_back(_: Random, project: Project) -> None:
    """Undo; a correction of what was drawn from a report is whole as it is made, and its undo alike."""
    standing = "before IS NOT NULL AND NOT undone AND undoes IS NULL"
    question = f"SELECT kind FROM audit WHERE by = ? AND {standing} ORDER BY seq"
    if [row[0] for row in sql.rows(project, question, (project.by,))][-1] != "extract":
        history.undo(project)


UNFINISHED = (
    _begin, _type, _type, _empty, _reopen, _edit_gold, _rule_again, _label, _label, _write_beside, _give_kind,
    _reopen_labels, _take_back, _take_back,
)  # fmt: skip


def from_its_release(source: Project, folder: Path) -> Project:
    """The project made anew of what it releases, its people known by their names."""
    releases.export(source, folder / "release")
    project = Project.create(folder / "again.goldsmith")
    imports.run(project, "goldsmith", [folder / "release"])
    for one in people.people(source):
        if not sql.alter(project, "UPDATE person SET name = ? WHERE id = ?", [one.name, one.id]):
            people.add_person(project, one.name, map(Role, one.roles.split()))
    return project


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_unfinished_moves_a_figure(tmp_path: Path, seed: int) -> None:
    """Of every second project the labels came with a release, and of the last they are handed out anew."""
    project, rng = generated_project(tmp_path, seed), Random(seed)
    whose = [person.id for person in people.people(work_as(project, "Cora"))]
    label_sealing.submit_all(project, whose, partial=True)
    if seed % 2:
        project = from_its_release(project, tmp_path)
    before, done, asked = figures(project), list[str](), list[str]()
    for item_id, name in product(items.ids(project), PEOPLE_HERE) if seed > 1 else ():
        with suppress(Refusal):
            to_label = item_id, person(project, name).id, Stage.LABELLING
            asked.append(assignments.assign_one(project, *to_label, protocols=ANSWERED).subject)
    for _ in range(ACTS):
        act, name = rng.choice(UNFINISHED), rng.choice(PEOPLE_HERE)
        try:
            act(rng, work_as(project, name))
            done.append(f"{name} {act.__name__}")
        except (Refusal, IndexError):
            continue
    assert len(done) > ACTS / 5
    for withdrawn in (False, True) if asked else (False,):
        after = figures(project)
        assert {name: after[name] for name in before if after[name] != before[name]} == {}, (done, withdrawn)
        with suppress(Refusal):
            assignments.withdraw_all(project, asked)


def test_an_empty_checklist_of_somebody_else_leaves_a_tasks_score(tmp_path: Path) -> None:
    project = rated_tasks(tmp_path)
    people.add_person(project, "Ada", (Role.ANNOTATOR,), alias="Ada")
    before = [results.plain(row) for row in results.rows(project, PEOPLE, "arena.checklist")]
    project.work_as(next(one for one in people.people(project) if one.alias == "Ada"))
    for item_id in items.ids(project):
        artifacts.start(project, item_id, Kind.CHECKLIST)
    assert [results.plain(row) for row in results.rows(project, PEOPLE, "arena.checklist")] == before != []


def test_one_rater_stands_in_a_table_unless_all_are_asked_for(tmp_path: Path) -> None:
    """A judge compared plans, people alone said which statements are true."""
    project = one_item(tmp_path)
    response_id = reports(project)[0]
    judges.add(project, "small", base_url="http://127.0.0.1:1/v1", model="m")
    item_id, judge_id = items.ids(project)[0], judges.named(project, "small").id
    adra.say(project, "researcherbench.coverage", item_id, response_id, {"c": "yes"}, rater_id=judge_id)
    labels.set_label(project, response_id, "s1", "true", protocol="adra.reasoning")
    label_sealing.submit(project, item_id, "adra.reasoning", partial=True)

    def raters(judge: str) -> set[str]:
        return {row.rater for row in overview.everything(project, judge)} - {"computed"}

    assert (raters(""), raters(EACH)) == ({"small"}, {"small", "people"})
    (told,) = (words for words in overview.sheets(overview.report(project))[0].notes if "Left out" in words)
    assert "(people)" in told


def _hand_out(project: Project) -> str:
    plan = AssignmentPlan((Stage.RUBRIC,), 2, tuple(person(project, name).id for name in ("Ada", "Ben")))
    plan = replace(plan, items=tuple(items.ids(project)))
    said = " ".join(planning.preview(work_as(project, "Cora"), plan).notes)
    assignments.assign(project, plan)
    return said


def second(project: Project) -> Person:
    """The one of two who has written nothing yet."""
    authors = {str(row[0]) for row in sql.rows(project, "SELECT author_id FROM artifact")}
    return next(one for name in ("Ada", "Ben") if (one := person(project, name)).id not in authors)


def _write_too(project: Project) -> str:
    project.work_as(second(project))
    document_id = artifacts.start(project, item(project), Kind.RUBRIC, rubric(BEN, "b")).subject
    said = annotating.consequence(project, artifacts.read(project, document_id))
    assignments.seal(project, document_id)
    return said


def _come_back(project: Project) -> str:
    """Work that was begun before its assignment was withdrawn."""
    whom = second(project).id
    asked = assignments.assign_one(project, item(project), whom, Stage.RUBRIC).subject
    paths = [returned(project, whom, project.path.parent / "theirs")]
    assignments.withdraw_all(project, [asked])
    said = unpacking.words(unpacking.preview(project, paths)[0])
    unpacking.take_in(project, paths)
    return " ".join(said)


def _take_from_tray(project: Project) -> str:
    content = canonical_json(rubric(BEN, "b").tree()).decode()
    with project.store.write() as db:
        of = {"item_id": item(project), "stage": Stage.RUBRIC}
        tray.put(db, ParcelOutcome.LATE, second(project).id, content, **of)
    (entry,) = tray.sheets(project)
    said = tray.sheet(project, entry).consequence
    tray.accept(project, entry.entry.id)
    return said


def _write_again(project: Project) -> str:
    (artifact_id,) = sql.rows(project, "SELECT id FROM artifact")[0]
    assignments.reopen(work_as(project, "Ada"), str(artifact_id))
    said = annotating.consequence(project, artifacts.read(project, str(artifact_id)))
    artifacts.change_unit(project, str(artifact_id), "a1", weight=1)
    assignments.seal(project, str(artifact_id))
    return said


TOLD_FIRST = {
    "a second author is asked": (
        _hand_out,
        "takes the scores of these items away until they are adjudicated: 1.",
    ),
    "a second author submits": (_write_too, annotating.SECOND),
    "a second author's work comes back": (_come_back, annotating.TAKES_SCORES),
    "a second author's work is taken from the tray": (_take_from_tray, annotating.TAKES_SCORES),
    "what was submitted is submitted again": (_write_again, annotating.AGAIN),
}


def scored(tmp_path: Path, author: str) -> Project:
    """One item with one author's rubric, by which a judge judged a report; another rubric is kept by a name."""
    project = pairs_project(tmp_path)
    submit(project, {author: rubric(ADA, "a")})
    response_id = add_report(work_as(project, "Cora"))
    rubric_views.keep_set(project, "lax", {"1": rubric(BEN, "b")})
    values = {f"a{n}": "yes" if n < 3 else "no" for n in range(1, len(ADA) + 1)}
    adra.say(project, "researcherbench.coverage", item(project), response_id, values)
    adra.add_judge(project)
    return project


def scores(project: Project) -> list[Any]:
    rows = results.rows(work_as(project, "Cora"), "", "researcherbench.coverage")
    return [(row.system, row.metric, row.group, row.estimate.value, row.estimate.n) for row in rows]


@pytest.mark.parametrize("name", TOLD_FIRST)
def test_an_act_that_changes_a_score_says_so_first(tmp_path: Path, name: str) -> None:
    project = scored(tmp_path, "Ada")
    before, (act, words) = scores(project), TOLD_FIRST[name]
    assert words in act(work_as(project, "Cora"))
    assert scores(project) != before != []


@pytest.mark.parametrize("arrive", [_hand_out, _write_too, _come_back, _take_from_tray])
def test_where_one_scores_a_second_author_of_a_lower_alias_changes_nothing(
    tmp_path: Path, arrive: Callable[[Project], str]
) -> None:
    project = scored(tmp_path, "Ben")
    annotating.count_unadjudicated(project, True)
    before = scores(project)
    assert "scores" not in arrive(work_as(project, "Cora"))
    assert scores(project) == before != []
