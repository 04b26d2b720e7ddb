"""Release tables as CSV: one file per thing, for spreadsheets and pandas.

The files start with a byte order mark: without it Excel takes UTF-8 for the local code page, and pandas skips it.
Reports' texts stay in the JSON files, because Excel cuts a cell at 32 767 characters.
"""

import io
from collections.abc import Iterable, Iterator
from csv import writer
from math import isnan
from typing import Any

from annotator.domain.kinds.artifact import Kind
from annotator.domain.kinds.documents import KINDS
from annotator.domain.texts.canonical import canonical_json
from annotator.exchange.folders import Content, Pieces, stretches
from annotator.exchange.release import pair_tables
from annotator.exchange.release.bundle import Bundle
from annotator.exchange.release.records import ArtifactRecord, Record
from annotator.exchange.release.release import ordered

# What a spreadsheet would run as a formula (OWASP, CSV injection).
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r")
UNIT_HEAD = ("item_key", "item_id", "artifact_id", "author", "state", "revision", "position")
# So many lines are made at a time.
AT_ONCE = 1_000
ANCHORS = ("anchor", "more_anchors")
RESPONSE_HEAD = ("id", "item_key", "system", "trial", "mode", "characters", "latency_s", "tokens", "cost_usd")
PLAIN = ("items", "systems", "judges", "runs", "scores")

Rows = list[dict[str, Any]]


def files(bundle: Bundle) -> dict[str, Content]:
    """Every table by file name; things of which there are none have no table. Same content, same bytes."""
    bundle = ordered(bundle)
    tables: dict[str, Rows] = {
        thing: _even([_flat(record) for record in getattr(bundle, thing)]) for thing in PLAIN
    }
    tables["responses"] = list(_responses(bundle))
    for kind, spec in KINDS.items():
        tables[spec.table] = list(_units(bundle, kind))
    tables |= pair_tables.tables(bundle)
    made: dict[str, Content] = {f"{name}.csv": csv(rows) for name, rows in tables.items() if rows}
    if bundle.judgements:
        made["judgements.csv"] = Pieces(lambda: _pieces(map(_flat, bundle.judgements)))
    return made


def csv(rows: Rows) -> bytes:
    """Rows of equal keys as a CSV file's bytes: no cell is a formula, numbers stay numbers, nothing is rounded."""
    return b"".join(_pieces(rows))


def _pieces(rows: Iterable[dict[str, Any]]) -> Iterator[bytes]:
    """The same a few rows at a time; the first piece has the byte order mark and the heads."""
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
    """What stands in a cell: nothing for a number that is none."""
    return None if isinstance(value, float) and isnan(value) else guard(value)


def guard(value: Any) -> Any:
    """The value, with an apostrophe before a text that a spreadsheet would take for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA_STARTS) else value


def _even(rows: Rows) -> Rows:
    """The rows with equal keys: what one leaves out is empty there."""
    heads = {name: None for row in rows for name in row}
    return [heads | row for row in rows] if any(len(row) < len(heads) for row in rows) else rows


def _flat(record: Record) -> dict[str, Any]:
    return {name: _cell(value) for name, value in record.model_dump(mode="json").items()}


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
        yield {name: values[name] for name in RESPONSE_HEAD}


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
