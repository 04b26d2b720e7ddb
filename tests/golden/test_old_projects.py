"""A real file of every format that ever left the house still opens, with every row where it was."""

import gzip
import json
import sqlite3
import zipfile
from contextlib import closing
from pathlib import Path

import pytest

from annotator.actions.imports import imports
from annotator.actions.project.file import Project
from annotator.actions.releases import checking, releases
from annotator.actions.results import result_raters, results, scoring
from annotator.exchange.release import release
from tests.material.bundles import found

# Filled by hand, with an agreement and a version of a consensus that say nothing.
HOLLOW = {"format-3.goldsmith.gz": [("agreement", "agreement-1"), ("consensus_version", "version-1")]}
HERE = Path(__file__).parent
FILES = sorted(
    HERE.glob("format-*.goldsmith.gz"), key=lambda path: int(path.name.split("-")[1].split(".")[0])
)
# What the versions that wrote formats 5 to 11 printed of the same made-up content: value, n, missing, floor, ceiling.
FIGURES = json.loads((HERE / "figures.json").read_text("utf-8"))
PRINTED = ("value", "n", "missing", "floor", "ceiling")


def rows(path: Path) -> dict[str, int]:
    with closing(sqlite3.connect(path)) as raw:
        names = [n for (n,) in raw.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        kept = [n for n in names if not n.startswith(("sqlite_", "item_words", "witness", "alembic"))]
        return {name: raw.execute(f'SELECT count(*) FROM "{name}"').fetchone()[0] for name in kept}


@pytest.mark.parametrize("packed", FILES, ids=lambda path: path.name)
def test_a_project_of_an_old_format_opens_whole_with_the_figures_that_its_own_version_printed(
    packed: Path, tmp_path: Path
) -> None:
    path = tmp_path / "old.goldsmith"
    path.write_bytes(gzip.decompress(packed.read_bytes()))
    before = rows(path)
    assert before["item"] > 0
    with closing(Project.open(path, unchecked=packed.name in HOLLOW)) as project:
        told = [(finding.table, finding.subject) for finding in checking.check(project).problems]
        assert told == HOLLOW.get(packed.name, [])
        assert {name: count for name, count in rows(path).items() if name in before} == before
        if packed in FILES[-7:]:
            assert {metric: printed(project, metric) for metric in FIGURES} == FIGURES


def printed(project: Project, metric: str) -> dict[str, list[float | int | None]]:
    """A metric of every system over all items, as a command prints it."""
    named = scoring.named(metric)
    counted = results.rows(project, protocol=named.protocol or result_raters.first_judged(project))
    shown = [results.plain(one) for one in counted if (one.metric, one.group_by) == (metric, scoring.ALL)]
    return {one["system"]: [one[name] for name in PRINTED] for one in shown}


RELEASES = sorted(HERE.glob("release-*.zip"))


@pytest.mark.parametrize("packed", RELEASES, ids=lambda path: path.name)
def test_an_old_release_comes_in_whole_and_leaves_in_the_layout_of_today(
    packed: Path, tmp_path: Path
) -> None:
    with zipfile.ZipFile(packed) as archive:
        archive.extractall(tmp_path / "in")
    (folder,) = (tmp_path / "in").iterdir()
    bundle, problems = release.read([folder])
    assert (problems, len(bundle.items)) == ([], 3)
    with closing(Project.create(tmp_path / "p.goldsmith", "Sample")) as project:
        report = imports.run(project, "goldsmith", [folder], warm=False)[1]
        assert (report.new, report.problems) == (sum(bundle.counts().values()) - len(bundle.scores), ())
        assert str(imports.run(project, "goldsmith", [folder], warm=False)[1]) == "nothing new"
        assert checking.check(project).problems == []
        releases.export(project, tmp_path / "out")
    again, _ = release.read([tmp_path / "out"])
    assert (again.artifacts, again.judgements, again.people) == (
        bundle.artifacts, bundle.judgements, bundle.people,
    )  # fmt: skip


def test_what_the_sample_ships_is_released_as_it_was_committed(sample, tmp_path):
    releases.export(sample, tmp_path / "release")
    assert found(tmp_path / "release") == found(HERE.parents[1] / "exports" / "sample")
