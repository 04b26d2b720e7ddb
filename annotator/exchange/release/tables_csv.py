"""Release tables as CSV: one file per thing, for spreadsheets and pandas.

The files start with a byte order mark: without it Excel takes UTF-8 for the local code page, and pandas skips it.
Reports' texts stay in the JSON files, because Excel cuts a cell at 32 767 characters.
"""

import io
from collections.abc import Iterable, Iterator, Mapping
from csv import writer
from math import isnan
from typing import Any

from annotator.domain.common import canonical_json
from annotator.domain.experts.adjudication import Figure
from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.exchange.folders import AT_ONCE, Content, stretches
from annotator.exchange.release.bundle import CONTEST, Bundle, laid_aside, trees
from annotator.exchange.release.records import AdjudicationRecord, AgreementRecord, ArtifactRecord
from annotator.exchange.release.release import ordered

Names = Mapping[str, str]

# Characters that make a spreadsheet run a cell as a formula (OWASP, CSV injection); some accept the full-width ones,
# too.
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
UNIT_HEAD = ("item_key", "item_id", "artifact_id", "author", "state", "revision", "position")
ANCHORS = ("anchor", "more_anchors")
RESPONSE_HEAD = (
    "id", "item_key", "system", "trial", "mode", "characters", "latency_s", "tokens", "cost_usd", "run_tokens",
    "cost_part_usd",
)  # fmt: skip
PLAIN = ("items", "systems", "judges", "runs", "scores", *CONTEST)

Rows = list[dict[str, Any]]


def files(bundle: Bundle) -> dict[str, Content]:
    """Every table by file name; empty ones are left out. Same content, same bytes."""
    bundle = ordered(bundle)
    tables: dict[str, Rows] = {thing: _even([*map(_flat, trees(getattr(bundle, thing)))]) for thing in PLAIN}
    tables["responses"] = list(_responses(bundle))
    for kind, spec in KINDS.items():
        tables[spec.table] = list(_units(bundle, kind))
    tables |= pair_tables(bundle)
    made: dict[str, Content] = {f"{name}.csv": csv(rows) for name, rows in tables.items() if rows}
    if bundle.judgements:
        made["judgements.csv"] = laid_aside(_pieces(map(_flat, trees(bundle.judgements))), "judgements")
    return made


def csv(rows: Rows) -> bytes:
    """Rows of equal keys as a CSV file's bytes: no cell is a formula, numbers stay numbers, nothing is rounded."""
    return b"".join(_pieces(rows))


def _pieces(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """The same a few rows at a time; the first piece has the byte order mark and the column names."""
    for place, some in enumerate(stretches(rows, AT_ONCE)):
        yield _lines_of(some, heads=not place).encode("utf-8" if place else "utf-8-sig")


def _lines_of(rows: Rows, *, heads: bool) -> str:
    written = io.StringIO(newline="")
    lines = writer(written, lineterminator="\r\n")
    if heads:
        lines.writerow(rows[0])
    lines.writerows([_shown(row.get(name)) for name in rows[0]] for row in rows)
    return written.getvalue()


def _shown(value: Any) -> Any:
    """The content of a cell: empty for NaN."""
    return None if isinstance(value, float) and isnan(value) else guard(value)


def guard(value: Any) -> Any:
    """The value, with an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _even(rows: Rows) -> Rows:
    """The rows with equal keys: a missing value is empty."""
    heads = {name: None for row in rows for name in row}
    return [heads | row for row in rows] if any(len(row) < len(heads) for row in rows) else rows


def _flat(tree: Mapping[str, Any]) -> dict[str, Any]:
    return {name: _cell(value) for name, value in tree.items()}


def _cell(value: Any) -> Any:
    if isinstance(value, list):
        return " ".join(value)
    return canonical_json(value).decode() if isinstance(value, dict) else value


def _responses(bundle: Bundle) -> Iterator[dict[str, Any]]:
    keys = {item.id: item.key for item in bundle.items}
    systems = {system.id: system.name for system in bundle.systems}
    for response in bundle.responses:
        values = response.model_dump(mode="json")
        values |= {
            "item_key": keys[response.item_id],
            "system": systems[response.system_id],
            "characters": len(response.text),
        }
        yield {name: values.get(name) for name in RESPONSE_HEAD}


def _units(bundle: Bundle, kind: Kind) -> Iterator[dict[str, Any]]:
    keys = {item.id: item.key for item in bundle.items}
    aliases = {person.id: person.alias for person in bundle.people}
    names = [name for name in KINDS[kind].document.UNIT.model_fields if name not in ANCHORS]
    for artifact in bundle.artifacts:
        if artifact.kind is kind:
            yield from _lines(artifact, keys[artifact.item_id], aliases.get(artifact.author_id, ""), names)


def _lines(artifact: ArtifactRecord, key: str, author: str, names: Iterable[str]) -> Iterator[dict[str, Any]]:
    head = (key, artifact.item_id, artifact.id, author, artifact.state.value, artifact.revision)
    for position, unit in enumerate(artifact.document["units"]):
        yield {
            **dict(zip(UNIT_HEAD, (*head, position), strict=True)),
            **{name: unit.get(name, "") for name in names},
            "quote": "\n".join(
                one["quote"] for one in (unit["anchor"], *unit.get("more_anchors", ())) if one
            ),
        }


def pair_tables(bundle: Bundle) -> dict[str, Rows]:
    """The tables by name, in the order of the bundle; people by alias, items by key as well."""
    keys = {item.id: item.key for item in bundle.items}
    aliases = {person.id: person.alias for person in bundle.people}
    return {
        "agreement": [line for record in bundle.agreements for line in _figures(record, keys, aliases)],
        "provenance": [
            line for record in bundle.adjudications for line in _provenance(record, keys, aliases)
        ],
        "disputes": [line for record in bundle.adjudications for line in _disputes(record, keys, aliases)],
    }


def _figures(record: AgreementRecord, keys: Names, aliases: Names) -> Iterator[dict[str, Any]]:
    """The figures of each pair of raters, then those over all raters, with empty raters."""
    head = {"item_key": keys[record.item_id], "item_id": record.item_id, "stage": record.stage.value}
    versions = record.model_dump(mode="json", include={"matcher", "program", "frozen_at"})
    result: list[tuple[str, str, tuple[Figure, ...]]] = [
        (pair.a, pair.b, pair.figures) for pair in record.pairs
    ]
    for a, b, figures in [*result, ("", "", record.figures)]:
        raters = {"rater_a": aliases.get(a, ""), "rater_b": aliases.get(b, "")}
        for figure in figures:
            values = figure.model_dump()
            yield {**head, **raters, "figure": values.pop("name"), **values, **versions}


def _provenance(record: AdjudicationRecord, keys: Names, aliases: Names) -> Iterator[dict[str, Any]]:
    for unit in record.provenance:
        values = unit.model_dump(mode="json", exclude={"sources", "wording_of"})
        yield {
            **_head(record, keys), "artifact_id": record.artifact_id, "revision": record.revision,
            "adjudicator": aliases.get(record.adjudicator_id, ""), "wording_of": aliases.get(unit.wording_of, ""),
            "written_by": " and ".join(sorted(aliases.get(person, person) for person in unit.sources)), **values,
        }  # fmt: skip


def _disputes(record: AdjudicationRecord, keys: Names, aliases: Names) -> Iterator[dict[str, Any]]:
    for dispute in record.disputes:
        values = dispute.model_dump(mode="json", exclude={"person_id"})
        yield {**_head(record, keys), "person": aliases.get(dispute.person_id, ""), **values}


def _head(record: AdjudicationRecord, keys: Names) -> dict[str, Any]:
    about = {"item_key": keys[record.item_id], "item_id": record.item_id, "stage": record.stage.value}
    return {**about, "version": record.version}
